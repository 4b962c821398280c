"""Whether tools that are wrong end at their first wrong call, and what a tool saves a model that costs.

    python benchmarks/run.py memory/tools        # benchmarks/raw/memory/tools.json

*Wrong tools*: fifty validated tools of a library are made wrong, as those of a rival laboratory or of a damaged library
could be, in five ways of ten plans each: another verb, another argument, another result, a call less, a call more.
Signature and text stay those of the right plan. Each is used for values that it was not tried on. Counted are tools
that ended at their first wrong call, wrong calls that were made, and tools that were retired by that use. As a control
all fifty are used unspoiled. A tool that errs only beyond what was tried cannot be written down, as a plan has no
conditions.

*Value*: a model that follows the text decides on every call, which is a request each; one that uses the tool decides
once. Requests and their price are counted on the same plans, with a conversation that grows by each result, at a price
per token of prompt and answer; there is no model in it, so this is what a model that follows the plan would pay.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import Any

from benchmarks.memory.summary import over_seeds, write
from benchmarks.memory.world import VERBS, caller, plan_of
from lakatos.experiments.interval import wilson_interval
from lakatos.memory.errors import ToolFailedError
from lakatos.memory.item import PlanUsed
from lakatos.memory.plan import Plan, PlanStep
from lakatos.memory.signature import canonical_form, follow_form
from lakatos.memory.tool import (
    DIFFERENCE,
    ToolDraft,
    ToolStanding,
    after,
    draft_tool,
    run_tool,
    validate_tool,
)
from lakatos.traces.digest import canonical_json, digest_of

N_PLANS = 10
BYTES_PER_TOKEN = 4
PROMPT_TOKENS, ANSWER_TOKENS = 1500, 60
"""Of a question before any call, and of an answer that makes one."""
PROMPT_PRICE, ANSWER_PRICE = 3.0, 15.0
"""Money per million tokens."""
WAYS = ("another verb", "another argument", "another result", "a call less", "a call more")


def study(number: int, variant: int) -> Plan:
    """One of ten plans with values of its own: rank, draw, attempt, and as many questions as its number says."""
    names = [f"theory {number}.{variant}.{place}" for place in range(2 + number)]
    calls: list[tuple[str, dict[str, Any]]] = [
        ("rank", {"theories": names[:2], "experiment": f"experiment {variant}"}),
        ("draw", {"theories": names[:2], "n_trials": 4 + variant}),
        ("attempt", {"theory": names[0], "design": "<1.design"}),
    ]
    calls += [("describe", {"theory": name, "question": "what now?"}) for name in names[2:]]
    return plan_of(*calls, study=f"study {variant}")


def spoiled(draft: ToolDraft, way: str) -> ToolDraft:
    """The tool with a plan of its own that is wrong in some way; its signature and text are those of the right one."""
    steps = list(draft.steps)
    places = {step.tool: number for number, step in enumerate(steps)}
    rank, attempt = steps[places["rank"]], places["attempt"]
    second = next(item.value[1] for item in rank.arguments if item.name == "theories")
    if way == "another verb":
        steps[attempt] = steps[attempt].model_copy(update={"tool": "publish"})
    elif way == "another argument":
        steps[attempt] = _changed(steps[attempt], "theory", name="rule")
    elif way == "another result":
        elsewhere = {"step": places["rank"], "place": ["lines", 0, "theory"]}
        steps[attempt] = _changed(steps[attempt], "design", value=elsewhere)
    elif way == "a call less":
        del steps[attempt]
    else:
        steps.append(_changed(steps[attempt], "theory", value=second))
    return draft.model_copy(update={"steps": tuple(steps)})


def _changed(step: PlanStep, argument: str, **update: Any) -> PlanStep:
    arguments = tuple(
        item.model_copy(update=update) if item.name == argument else item for item in step.arguments
    )
    return step.model_copy(update={"arguments": arguments})


def use(draft: ToolDraft, plan: Plan) -> dict[str, Any]:
    """One use of a tool beside what its plan says."""
    form, made = canonical_form(plan.steps), []
    right: list[bytes] = []

    def noted(calls: list[bytes]) -> Any:
        def call(name: str, arguments: Any) -> Any:
            calls.append(canonical_json([name, dict(arguments)]))
            return caller()(name, arguments)

        return call

    text = follow_form(form.operations, form.values, noted(right))
    failure, results = "", text
    try:
        results = run_tool(draft, form, noted(made))
    except ToolFailedError as error:
        failure = error.kind
    used = PlanUsed(
        signature=draft.signature,
        study="new",
        tool=draft.name,
        success=not failure,
        failure=failure,
        evidence=(digest_of("use"),),
    )
    return {
        "ended": failure == DIFFERENCE,
        "wrong_calls": sum(own != theirs for own, theirs in zip(made, right, strict=False))
        + max(len(made) - len(right), 0),
        "retired": after(ToolStanding(), used).status == "retired",
        "same": results == text,
        "calls": len(right),
        "bytes": [len(item) for item in right],
    }


def share(flags: list[bool]) -> dict[str, float]:
    """Share with its 95% interval (Wilson)."""
    low, high = wilson_interval(sum(flags), len(flags))
    return {"share": sum(flags) / len(flags), "low": low, "high": high, "n": len(flags)}


def price(n_bytes: list[int], *, by_tool: bool) -> float:
    """Money for one conversation: every request reads the whole of it so far."""
    sizes = [sum(n_bytes)] if by_tool else n_bytes
    prompt, total = float(PROMPT_TOKENS), 0.0
    for size in [*sizes, 0]:  # the last request reads what came last and answers the question
        total += prompt * PROMPT_PRICE + ANSWER_TOKENS * ANSWER_PRICE
        prompt += ANSWER_TOKENS + size / BYTES_PER_TOKEN
    return total / 1e6


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    arguments.add_argument("--out", type=Path)
    given = arguments.parse_args()
    begun = time.monotonic()
    wrong, right = [], []
    for number in range(N_PLANS):
        plans = [study(number, variant) for variant in range(3)]
        tool = validate_tool(draft_tool(plans[0], VERBS), plans, VERBS, caller()).draft
        for place, way in enumerate(WAYS):
            later = study(number, 10 + place)
            wrong.append({"plan": number, "way": way, **use(spoiled(tool, way), later)})
            right.append({"plan": number, **use(tool, later)})
    plain = right[:: len(WAYS)]  # one use of each plan
    saved = {
        "requests": over_seeds([row["calls"] - 1.0 for row in plain]),
        "money_by_text": over_seeds([price(row["bytes"], by_tool=False) for row in plain]),
        "money_by_tool": over_seeds([price(row["bytes"], by_tool=True) for row in plain]),
    }
    result = {
        "wrong": {
            "n": len(wrong),
            "ended_at_first_wrong_call": share([row["ended"] for row in wrong]),
            "wrong_calls_made": sum(row["wrong_calls"] for row in wrong),
            "retired": share([row["retired"] for row in wrong]),
        },
        "control": {
            "ended": share([row["ended"] for row in right]),
            "same_as_text": share([row["same"] for row in right]),
        },
        "value": saved,
        "rows": wrong,
    }
    write("tools", time.monotonic() - begun, result, given.out)
    print(result["wrong"], result["control"], saved, sep="\n")
