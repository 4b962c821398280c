"""Whether anything of a trajectory reaches the codifier, and whether failed trajectories make worse tools.

    python benchmarks/memory/firewall.py     # benchmarks/results/memory/firewall.json

*Canaries*: three studies follow a plan in a world that puts a canary into every result; a later step repeats the result
in its own free text, as people and models do. Counted are canaries in what the codifier is told, in what a language
model would be told, and in the draft. The naive arm tells the codifier the trajectories themselves.

*Failed trajectories*: of a stream's trajectories 0, 50 or 100% did something else than the plan and failed. A codifier
that reads trajectories writes what most of them did (naive); ours reads the plan. Counted are drafts that pass
validation, in the sandbox.

What would make this fail: a plan that is wrong itself. Nothing here checks that a plan is a good one.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT))

import numpy as np  # noqa: E402

from benchmarks.memory.summary import write  # noqa: E402
from benchmarks.memory.world import VERBS, caller, plan_of, study_of  # noqa: E402
from lakatos.experiments.power import wilson_interval  # noqa: E402
from lakatos.memory.codifier import compile_plan, instructions  # noqa: E402
from lakatos.memory.draft import bundle_of  # noqa: E402
from lakatos.memory.errors import ToolRejectedError  # noqa: E402
from lakatos.memory.plan import follow_plan, plan_text  # noqa: E402
from lakatos.memory.runner import ToolSandbox  # noqa: E402
from lakatos.memory.validation import validate_tool  # noqa: E402

SHARES = (0.0, 0.5, 1.0)


def leaks(seed: int) -> tuple[bool, bool]:
    """Whether a canary reached ours, and the naive codifier."""
    rng = np.random.default_rng([seed, 40])
    canary = f"CANARY{rng.integers(10**12):012d}"
    names = [f"theory{number}" for number in rng.permutation(50)]
    plans = [
        plan_of(
            ("describe", {"theory": names[3 * study]}),
            (
                "rank",
                {
                    "theories": [names[3 * study], names[3 * study + 1]],
                    "experiment": f"experiment{study}",
                },
            ),
            ("describe", {"theory": names[3 * study + 1], "question": "<0.text"}),
            study=f"study{study}",
            world=canary,
        )
        for study in range(3)
    ]
    bundle = bundle_of(plans[:2], VERBS)
    seen = f"{bundle!r}{instructions(bundle)}{compile_plan(bundle).model_dump_json()}"
    read = "".join(f"{plan_text(plan)}{follow_plan(plan, caller(canary))}" for plan in plans)
    return canary in seen, canary in read


def valid(seed: int, share: float, sandbox: ToolSandbox) -> tuple[bool, bool]:
    """Whether ours and the naive codifier's drafts pass validation."""
    rng = np.random.default_rng([seed, round(100 * share), 41])
    plans = [
        study_of(f"study{study}", f"a{rng.integers(99)}", f"b{rng.integers(99)}", study + 3)
        for study in range(5)
    ]
    draft = compile_plan(bundle_of(plans[:4], VERBS))
    n_failed = round(share * len(plans))
    followed = draft.source
    if 2 * n_failed > len(plans) or (2 * n_failed == len(plans) and rng.random() < 0.5):
        followed = followed.replace(
            "n_trials=arguments['n_trials']", "n_trials=arguments['n_trials'] + 1"
        )
    found = []
    for source in (draft.source, followed):
        try:
            validate_tool(
                draft.model_copy(update={"source": source}),
                plans[:4],
                plans[4],
                VERBS,
                caller(),
                sandbox,
            )
            found.append(True)
        except ToolRejectedError:
            found.append(False)
    return found[0], found[1]


def share_of(flags: list[bool]) -> dict[str, float]:
    low, high = wilson_interval(sum(flags), len(flags))
    return {
        "share": sum(flags) / len(flags),
        "low": low,
        "high": high,
        "n": len(flags),
        "count": sum(flags),
    }


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    arguments.add_argument("--canaries", type=int, default=300)
    arguments.add_argument("--streams", type=int, default=200)
    arguments.add_argument("--out", type=Path)
    given = arguments.parse_args()
    begun = time.monotonic()
    leaked = [leaks(seed) for seed in range(given.canaries)]
    ours = [own for own, _ in leaked]
    upper = None if any(ours) else 1 - 0.05 ** (1 / given.canaries)
    canaries = {
        "ours": {**share_of(ours), "exact_upper_95": upper},
        "naive: reads trajectories": share_of([naive for _, naive in leaked]),
    }
    rows = []
    with ToolSandbox() as sandbox:
        for share in SHARES:
            found = [valid(seed, share, sandbox) for seed in range(given.streams)]
            rows.append(
                {"failed_share": share, "codifier": "ours", **share_of([ours for ours, _ in found])}
            )
            rows.append(
                {
                    "failed_share": share,
                    "codifier": "naive",
                    **share_of([naive for _, naive in found]),
                }
            )
    write("firewall", time.monotonic() - begun, {"canaries": canaries, "valid": rows}, given.out)
    print(canaries)
    for row in rows:
        print(row)


if __name__ == "__main__":
    main()
