"""Recruit people through the stand-in for Prolific, with everything going wrong that can, and look for broken promises.

    python benchmarks/run.py prolific                # 300 recruitments; benchmarks/raw/prolific.json
    python benchmarks/run.py prolific --minutes 4    # for so long; goes on where it stopped when called again

Each seed has other people (they return, run out of time, come back late, take part twice, forget the code, ...), other
failures (429, 500 before and after the effect, lost answers, odd lists) and one of four readings of what the service's
documentation leaves open. Every third recruitment has a limit of exactly what the plan costs; every fourth is killed at
a random request and begun again from its books.

Counted are people paid twice, people who could be paid and were not, payments beyond the limit, studies published
twice, submissions that are not in the books as they are in truth, and payments in which the two differ.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import httpx
import numpy as np

from benchmarks.provenance import ROOT, provenance
from lakatos.experiments.participants.prolific.money import Money
from lakatos.experiments.participants.prolific.plan import make_plan
from tests.rehearsal.prolific.rehearsal import EXAMPLE, rehearse
from tests.rehearsal.prolific.stand_in import StandIn, serve
from tests.rehearsal.prolific.stand_in_world import ProlificWorld, RequestFaults

PLAN = make_plan(EXAMPLE.model_copy(update={"people": 10}), key="ab" * 12)


class KilledError(BaseException):
    """The program ends here."""


class Killing(httpx.BaseTransport):
    """Ends the program before, or after, the request of a number; counted over all programs of a recruitment."""

    def __init__(self, counter: list[int], at: int, *, after: bool) -> None:
        self.counter, self.at, self.after, self.inner = counter, at, after, httpx.HTTPTransport()

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """Pass the request on, or end here."""
        self.counter[0] += 1
        now = self.counter[0] == self.at
        if now and not self.after:
            raise KilledError
        response = self.inner.handle_request(request)
        if now:
            raise KilledError
        return response

    def close(self) -> None:
        """Give the connections back."""
        self.inner.close()


def bonus(submission: str) -> Money:
    """An amount that depends on the submission alone; for some nothing."""
    return Money(int(submission[:4], 16) % (PLAN.most_bonus.minor + 1))


def recruit(stand_in: StandIn, seed: int) -> dict[str, Any]:
    """One recruitment, and what was wrong with it."""
    rng = np.random.default_rng(seed)
    tight, killed = seed % 3 == 0, seed % 4 == 0
    limit = PLAN.total_cost if tight else PLAN.total_cost * 3
    world = ProlificWorld(
        seed,
        faults=RequestFaults(),
        timed_out_keeps_place=bool(seed & 1),
        approves_timed_out=bool(seed & 2),
    )
    counter, at, after = [0], int(rng.integers(1, 120)) if killed else 0, bool(rng.integers(2))
    begun = time.perf_counter()
    with TemporaryDirectory() as folder:
        done = rehearse(
            PLAN,
            limit,
            stand_in,
            world,
            Path(folder),
            bonus=bonus,
            make_transport=lambda: Killing(counter, at, after=after),
            kill=KilledError,
        )
    paid = [(item.participant, item.kind) for item in world.transfers]
    return {
        "seed": seed,
        "tight": tight,
        "killed": killed and counter[0] >= at,
        "seconds": round(time.perf_counter() - begun, 2),
        "completed": done.books.completed,
        "people": done.n_people,
        "rewards": done.n_paid,
        "bonuses": done.n_bonuses,
        "paid_twice": len(paid) - len(set(paid)),
        "unpaid": done.n_unpaid,
        "paid_minor": done.paid.minor,
        "limit_minor": limit.minor,
        "left_for_a_person": len(done.reviews),
        "asked": done.asked,
        "wrong": list(done.problems),
    }


def summary(runs: list[dict[str, Any]]) -> dict[str, Any]:
    """Totals over all recruitments."""

    def total(name: str) -> int:
        return int(sum(run[name] for run in runs))

    faults = {
        name: sum(run["asked"].get(name, 0) for run in runs) for name in RequestFaults().kinds
    }
    ample = [run for run in runs if not run["tight"]]
    return {
        "n_recruitments": len(runs),
        "n_killed": total("killed"),
        "n_people": total("people"),
        "n_rewards": total("rewards"),
        "n_bonuses": total("bonuses"),
        "n_requests": sum(run["asked"]["requests"] for run in runs),
        "n_faults": faults,
        "n_paid_twice": total("paid_twice"),
        "n_unpaid_within_ample_limits": sum(run["unpaid"] for run in ample),
        "n_unpaid_for_want_of_money": sum(run["unpaid"] for run in runs if run["tight"]),
        "n_beyond_the_limit": sum(run["paid_minor"] > run["limit_minor"] for run in runs),
        "n_with_something_wrong": sum(bool(run["wrong"]) for run in runs),
        "n_short_of_people_within_ample_limits": sum(
            run["completed"] < PLAN.settings.people for run in ample
        ),
        "n_short_of_people_within_tight_limits": sum(
            run["completed"] < PLAN.settings.people for run in runs if run["tight"]
        ),
        "mean_share_replaced": float(
            np.mean([1 - run["completed"] / run["people"] for run in runs])
        ),
    }


def main() -> None:
    """Run the seeds that are missing and write totals and every recruitment."""
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("--seeds", type=int, default=300)
    options.add_argument("--minutes", type=float, default=60.0)
    options.add_argument("--fresh", action="store_true", help="forget earlier runs")
    options.add_argument("--out", type=Path, default=ROOT / "benchmarks" / "raw" / "prolific.json")
    chosen = options.parse_args()
    kept = chosen.out.exists() and not chosen.fresh
    runs: list[dict[str, Any]] = json.loads(chosen.out.read_text())["runs"] if kept else []
    done, until = {run["seed"] for run in runs}, time.monotonic() + 60 * chosen.minutes
    with serve(ProlificWorld(0)) as stand_in:
        for seed in range(chosen.seeds):
            if seed in done:
                continue
            if time.monotonic() > until:
                break
            runs.append(recruit(stand_in, seed))
    runs.sort(key=lambda run: run["seed"])
    result = {**provenance(), **summary(runs), "runs": runs}
    chosen.out.parent.mkdir(parents=True, exist_ok=True)
    chosen.out.write_text(json.dumps(result, indent=1) + "\n")
    print(json.dumps(summary(runs), indent=1))
    sys.exit(
        1
        if result["n_with_something_wrong"]
        or result["n_paid_twice"]
        or result["n_beyond_the_limit"]
        else 0
    )
