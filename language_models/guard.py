"""Permissions of a model, decided when it would act, whatever its prompt stated.

A rule's checks are applied to a call before the tool runs and to an answer before anything is made of it. A check that
cannot be carried out (a total that nobody knows, an argument that is not there) forbids.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from lakatos.language_models.fence import folded
from lakatos.language_models.pins import (
    Check,
    ClaimLimited,
    ConfirmationNeeded,
    Effect,
    NumberLimited,
    PinnedRule,
    SupportNeeded,
    TextForbidden,
    ToolsAllowed,
    ToolsForbidden,
    TotalLimited,
)
from lakatos.language_models.quotes import check_answer, sentences
from lakatos.language_models.tool import PreparedCall, ToolUse, call_digest


@dataclass(frozen=True)
class GuardSituation:
    """State of the run that the model cannot change."""

    spent: Mapping[str, float] = field(default_factory=dict)
    """Amounts spent so far, by quantity; a total that a rule limits must be here."""
    confirmed: frozenset[str] = frozenset()
    """`call_digest` of each call that a person confirmed."""
    records: Mapping[str, Any] = field(default_factory=dict)
    """Records that the model was shown beside the results of its calls, by digest."""


@dataclass(frozen=True)
class CallAction:
    """A call about to be made."""

    tool: str
    effects: frozenset[Effect]
    arguments: Mapping[str, Any]
    costs: Mapping[str, float]

    @classmethod
    def of(cls, prepared: PreparedCall) -> CallAction:
        """The call that was prepared."""
        costs = prepared.tool.costs(prepared.arguments)
        return cls(prepared.tool.name, prepared.tool.effects, prepared.values, costs)


@dataclass(frozen=True)
class AnswerAction:
    """An answer about to be used."""

    text: str
    uses: Sequence[ToolUse] = ()


@dataclass(frozen=True)
class RuleBreach:
    """A rule that an action would break."""

    rule_id: str
    reason: str


def breaches(
    rules: Sequence[PinnedRule], action: CallAction | AnswerAction, situation: GuardSituation
) -> tuple[RuleBreach, ...]:
    """The rules that ``action`` would break; none means that it may be done."""
    return tuple(
        RuleBreach(rule.rule_id, reason)
        for rule in rules
        for check in rule.checks
        for reason in (
            _of_call(check, action, situation)
            if isinstance(action, CallAction)
            else _of_answer(check, action, situation)
        )
    )


def explain(found: Sequence[RuleBreach]) -> str:
    """Explain to the model which rules forbid its call."""
    return (
        "not done, by the pinned rules: "
        + "; ".join(f"[{breach.rule_id}] {breach.reason}" for breach in found)
        + "."
    )


def _of_call(check: Check, action: CallAction, situation: GuardSituation) -> Iterator[str]:
    match check:
        case ToolsForbidden() if _concerns(check, action):
            yield f"{action.tool!r} must not be called"
        case ToolsAllowed() if action.tool not in check.tools:
            yield f"{action.tool!r} is not among the tools allowed ({', '.join(check.tools)})"
        case NumberLimited() if check.tool == action.tool:
            yield from _outside(check, _at(action.arguments, check.argument))
        case TextForbidden() if not check.tools or action.tool in check.tools:
            found = next(
                (text for text in _texts(action.arguments) if _matches(check.patterns, text)), None
            )
            if found is not None:
                yield f"the arguments say {found[:80]!r}"
        case TotalLimited():
            yield from _beyond(check, action, situation)
        case ConfirmationNeeded() if _concerns(check, action):
            digest = call_digest(action.tool, action.arguments)
            if digest not in situation.confirmed:
                yield f"a person has to confirm this call of {action.tool!r} first (call {digest[:12]})"
        case _:
            return


def _concerns(check: ToolsForbidden | ConfirmationNeeded, action: CallAction) -> bool:
    return action.tool in check.tools or not action.effects.isdisjoint(check.effects)


def _at(arguments: Mapping[str, Any], path: str) -> Any:
    value: Any = arguments
    for name in path.split("."):
        if not isinstance(value, Mapping) or name not in value:
            return None
        value = value[name]
    return value


def _outside(check: NumberLimited, value: Any) -> Iterator[str]:
    low = -math.inf if check.minimum is None else check.minimum
    high = math.inf if check.maximum is None else check.maximum
    if isinstance(value, bool) or not isinstance(value, int | float):
        yield f"{check.argument!r} of {check.tool!r} must be stated as a number"
    elif not low <= value <= high:
        yield f"{check.argument!r} of {check.tool!r} is {value:g}, allowed is {low:g} to {high:g}"


def _beyond(check: TotalLimited, action: CallAction, situation: GuardSituation) -> Iterator[str]:
    cost = action.costs.get(check.quantity, 0.0)
    if cost == 0:
        return
    spent = situation.spent.get(check.quantity)
    if spent is None or not (math.isfinite(cost) and math.isfinite(spent) and cost > 0):
        yield f"what it would cost in {check.quantity} cannot be told"
    elif spent + cost > check.maximum:
        yield f"{spent:g} {check.quantity} are spent, {cost:g} more would exceed {check.maximum:g}"


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for name, inner in value.items():
            yield str(name)
            yield from _texts(inner)
    elif isinstance(value, Sequence):
        for inner in value:
            yield from _texts(inner)


def _matches(patterns: Sequence[str], text: str) -> bool:
    plain = folded(text)
    return any(re.search(pattern, plain) for pattern in patterns)


def _of_answer(check: Check, action: AnswerAction, situation: GuardSituation) -> Iterator[str]:
    match check:
        case SupportNeeded():
            for finding in check_answer(action.text, action.uses, situation.records):
                yield f"{finding.said!r}: {finding.problem}"
        case ClaimLimited():
            yield from _unsupported(check, action)
        case _:
            return


def _unsupported(check: ClaimLimited, action: AnswerAction) -> Iterator[str]:
    references = [
        use.reference
        for use in action.uses
        if use.outcome == "returned" and use.call.name in check.tools
    ]
    for sentence in sentences(action.text):
        if not _matches(check.patterns, sentence):
            continue
        cited = re.findall(r"#([0-9a-f]{8,64})\b", sentence)
        if not any(reference.startswith(mark) for mark in cited for reference in references):
            needed = (
                f"cites no result of {' or '.join(check.tools)}"
                if check.tools
                else "must not be claimed"
            )
            yield f"{sentence[:80]!r} {needed}"
