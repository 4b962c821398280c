"""Tools that are earned against tools that are built at once, on streams of plans whose world changes.

    python benchmarks/memory/gated.py        # benchmarks/results/memory/gated.json

600 tasks call for plans by Zipf's law; at task 300 the world changes for 30% of the plans, and tools for them break. A
plan succeeds in 57.4% from text at cost 1, in 66% by a good tool at cost 0.4, in 18% by a faulty one, half of whose
failures are seen at once. A draft is faulty in 35%; validation finds most of these, so that 8% of admitted tools are
faulty. A success is worth 3, a build costs 3, validation 2, a shadowed use both ways.

Arms: *none* has no memory (52%); *never* follows text alone; *eager* builds at first sight and validates nothing, with
and without retirement; *threshold* builds at the n-th sight, with validation and retirement; *ours* gates with
`memory.recurrence` and retires with `memory.retirement`; the *oracle* knows every task to come and the change, builds
good tools only, at the second sight or, after the change, at the next one, and only where they pay. The *oracle of the
gate* knows what is to come but gets drafts, validation and probation as ours does: what a gate could do at best.

What would make this fail: a text plan so good, or a saving so small, that no tool pays; ours then is text.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT))

import numpy as np  # noqa: E402

from benchmarks.memory.summary import over_seeds, stream, write  # noqa: E402
from lakatos.memory.item import PlanUsed  # noqa: E402
from lakatos.memory.recurrence import (  # noqa: E402
    MARGIN,
    PlanRecurrence,
    ToolEconomy,
    discount_of,
    expected_uses,
    gate,
)
from lakatos.memory.retirement import OFFERED, TextFallback, ToolStanding, after  # noqa: E402
from lakatos.traces.digest import digest_of  # noqa: E402

N_TASKS, N_FAMILIES, EXPONENT, CHANGE, CHANGED = 600, 150, 1.0, 300, 0.3
NONE, TEXT, GOOD, FAULTY = 0.52, 0.574, 0.66, 0.18
TOOL_COST, WORTH, BUILD, VALIDATION = 0.4, 3.0, 3.0, 2.0
DRAFT_FAULTY, FAULTY_PASSES, SEEN_AT_ONCE = 0.35, 0.1615, 0.5
GAIN = (1 - TOOL_COST) + WORTH * (GOOD - TEXT)
"""Of one use of a good tool."""
ECONOMY = ToolEconomy(saving=GAIN, build=BUILD, validation=VALIDATION, p_ok=1 - DRAFT_FAULTY)
ARMS = (
    "none",
    "never",
    "eager",
    "eager, retired",
    "threshold 2",
    "threshold 3",
    "threshold 5",
    "ours",
    "ours, margin 1",
    "oracle of the gate",
    "oracle",
)
ANY = digest_of("record")


def use(tool: str, success: bool, hard: bool = False, shadow: bool | None = None) -> PlanUsed:
    """One use; there are few different ones."""
    key = (tool, success, hard, shadow)
    if key not in _USES:
        _USES[key] = PlanUsed(
            signature=ANY,
            study="any",
            tool=tool,
            success=success,
            hard=hard,
            shadow_matches=shadow,
            evidence=(ANY,),
        )
    return _USES[key]


_USES: dict[tuple[str, bool, bool, bool | None], PlanUsed] = {}


class Family:
    """One plan in one arm."""

    def __init__(self) -> None:
        self.seen: set[int] = set()
        self.n_refused = 0
        self.standing: ToolStanding | None = None
        self.fallback = TextFallback()
        self.faulty = False
        self.built_at = -1
        self.n_uses = 0


def run(arm: str, seed: int) -> dict[str, float]:
    """One arm on one stream; what chance brings to a task is the same for all arms."""
    rng = np.random.default_rng([seed, 50])
    tasks = stream(rng, N_TASKS, N_FAMILIES, EXPONENT)
    changes = rng.random(N_FAMILIES) < CHANGED
    text_luck, tool_luck, hard_luck, draft_luck, pass_luck, match_luck = rng.random((6, N_TASKS))
    families = [Family() for _ in range(N_FAMILIES)]
    totals, counts = np.bincount(tasks, minlength=N_FAMILIES), np.zeros(N_FAMILIES, dtype=np.int64)
    after_change = np.bincount(tasks[CHANGE:], minlength=N_FAMILIES)
    singles = doubles = n_built = n_unused = 0
    success = cost = building = 0.0
    for task, family in enumerate(tasks):
        own = families[family]
        counts[family] += 1
        singles += int(counts[family] == 1) - int(counts[family] == 2)
        doubles += int(counts[family] == 2) - int(counts[family] == 3)
        broken = own.built_at >= 0 and own.built_at < CHANGE <= task and changes[family]
        rate = FAULTY if own.faulty or broken else GOOD
        worked, text_worked = tool_luck[task] < rate, text_luck[task] < TEXT
        hard = not worked and rate == FAULTY and hard_luck[task] < SEEN_AT_ONCE
        offered = own.standing is not None and own.standing.status in OFFERED
        if arm == "oracle" and broken:
            offered = False
        if arm == "none":
            success += text_luck[task] < NONE
            cost += 1.0
        elif offered and own.standing is not None:
            own.n_uses += 1
            shadowed = (
                arm not in ("eager", "eager, retired", "oracle")
                and own.standing.status == "probation"
            )
            if shadowed:  # both are run, and the text's result is taken
                same = rate == GOOD or match_luck[task] < FAULTY
                success += text_worked
                cost += 1 + TOOL_COST
                own.standing = after(own.standing, use("tool", same, not same, same), own.fallback)
                own.fallback = counted(own.fallback, text_worked)
            else:
                cost += TOOL_COST + hard  # a failure that is seen is made good from text
                success += text_worked if hard else worked
                if arm not in ("eager", "oracle"):
                    own.standing = after(
                        own.standing, use("tool", bool(worked), bool(hard)), own.fallback
                    )
                if hard:
                    own.fallback = counted(own.fallback, text_worked)
            if own.standing.status == "retired":
                n_unused += own.n_uses == 0
                own.standing, own.seen, own.built_at = None, set(), -1
        else:
            success += text_worked
            cost += 1.0
            if own.standing is not None:
                own.standing = after(own.standing, use("", bool(text_worked)), own.fallback)
            own.fallback = counted(own.fallback, text_worked)
            own.seen.add(task)
            left = int(totals[family] - counts[family])
            if wants(
                arm,
                own,
                task,
                left,
                int(after_change[family]),
                bool(changes[family]),
                bool(broken),
                singles,
                doubles,
            ):
                careful = arm not in ("eager", "eager, retired")
                building += BUILD + (VALIDATION if careful else 0.0)
                faulty = draft_luck[task] < DRAFT_FAULTY and arm != "oracle"
                if faulty and careful and pass_luck[task] >= FAULTY_PASSES:
                    own.n_refused += 1
                else:
                    n_built += 1
                    n_unused += left == 0 and own.n_uses == 0
                    own.standing = (
                        ToolStanding()
                        if careful and arm != "oracle"
                        else ToolStanding(status="active")
                    )
                    own.faulty, own.built_at, own.n_uses = bool(faulty), task, 0
    unused = sum(1 for own in families if own.standing is not None and own.n_uses == 0)
    return {
        "value": WORTH * success - cost - building,
        "accuracy": success / N_TASKS,
        "execution_cost": cost / N_TASKS,
        "build_cost": building / N_TASKS,
        "built": n_built,
        "never_used": unused / n_built if n_built else 0.0,
    }


def counted(fallback: TextFallback, success: Any) -> TextFallback:
    return TextFallback(fallback.successes + bool(success), fallback.failures + (not success))


def wants(
    arm: str,
    own: Family,
    task: int,
    left: int,
    left_after: int,
    changes: bool,
    broken: bool,
    singles: int,
    doubles: int,
) -> bool:
    """Whether an arm builds now."""
    if own.standing is not None and not (arm == "oracle" and broken):
        return False
    if arm == "never":
        return False
    if arm.startswith("eager"):
        return True
    if arm == "oracle":
        good_uses = left - left_after if changes and task < CHANGE else left
        return (len(own.seen) >= 2 or broken) and good_uses * GAIN > BUILD + VALIDATION
    if arm == "oracle of the gate":
        good_uses = left - left_after if changes and task < CHANGE else left
        return (
            len(own.seen) >= 2 * 2**own.n_refused
            and good_uses * GAIN * (1 - DRAFT_FAULTY) > BUILD + VALIDATION
        )
    if arm.startswith("threshold"):
        return len(own.seen) >= int(arm.split()[1]) * 2**own.n_refused
    seen = PlanRecurrence(ANY, frozenset(map(str, own.seen)), frozenset(map(digest_of, own.seen)))
    uses = expected_uses(seen.count, task + 1, N_TASKS, discount_of(singles, doubles))
    margin = 1.0 if arm.endswith("margin 1") else MARGIN
    return gate(seen, uses, ECONOMY, n_refused=own.n_refused, most=N_FAMILIES, margin=margin).build


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    arguments.add_argument("--seeds", type=int, default=400)
    arguments.add_argument("--out", type=Path)
    given = arguments.parse_args()
    begun = time.monotonic()
    runs = {arm: [run(arm, seed) for seed in range(given.seeds)] for arm in ARMS}
    rows = []
    for arm, found in runs.items():
        row: dict[str, Any] = {"arm": arm}
        row |= {name: over_seeds([item[name] for item in found]) for name in found[0]}
        pairs = list(zip(found, runs["never"], runs["oracle"], strict=True))
        row["value_over_text"] = over_seeds(
            [item["value"] - text["value"] for item, text, _ in pairs]
        )
        row["share_of_oracle"] = float(
            sum(item["value"] for item in found) / sum(best["value"] for _, _, best in pairs)
        )
        rows.append(row)
    levels = np.arange(0.05, 1.0, 0.05)
    ours, text = (
        np.quantile([item["value"] for item in runs[arm]], levels) for arm in ("ours", "never")
    )
    result = {
        "rows": rows,
        "quantiles": levels.round(2).tolist(),
        "ours_over_text_by_quantile": (ours - text).tolist(),
    }
    write("gated", time.monotonic() - begun, result, given.out)
    for row in rows:
        shown = {name: round(row[name]["mean"], 3) for name in runs["ours"][0]}
        print(
            row["arm"],
            shown,
            round(row["value_over_text"]["mean"], 1),
            round(row["share_of_oracle"], 3),
        )
    print("ours over text at the worst quantile from 5% up:", float((ours - text).min()))


if __name__ == "__main__":
    main()
