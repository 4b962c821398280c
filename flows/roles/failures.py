"""Questions to language models that brought no answer, in words for the screen, the report and the exit status."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from lakatos.flows.run.records import RECORD_TYPES
from lakatos.flows.run.run import check_run
from lakatos.theories.discovery.roles.record import RoleAnswered
from lakatos.theories.discovery.roles.state import RolesState
from lakatos.traces.step import Trace
from lakatos.traces.wording import plural

LEAST_ANSWERS = 4
"""Answers without a readable one after which a model is not asked in a role any more."""
LEAST_DRAFTS = 8
"""Refused drafts without any other after which a model is not asked to write theories any more."""
_ELSEWHERE = ("no_answer", "out_of_budget", "too_long", "unreachable")
"""Outcomes that say nothing about the model."""
_SHOWN_REASONS = 3
_OUT_OF_BUDGET = "out_of_budget"
"""Outcome of a question that was not put, as the study chose."""


def useless(state: RolesState, role: str, cycle: int) -> str:
    """State why a model is not used in a role any more; empty where it is.

    Only earlier cycles count: a cycle ends with the roles with which it began. A model that did not answer because of
    its server, its budget or its context is asked again.

    Args:
        state: Everything that models have said so far.
        role: Role of the question.
        cycle: Cycle of the question.
    """
    lines = [
        item.record
        for item in state.answered.values()
        if item.record.role == role
        and item.record.cycle < cycle
        and item.record.outcome not in _ELSEWHERE
    ]
    if len(lines) >= LEAST_ANSWERS and all(item.answer is None for item in lines):
        return f"none of its {len(lines)} answers could be read"
    drafts = [item.record for item in state.tried if item.record.cycle < cycle]
    refused = all(item.outcome == "refused" for item in drafts)
    if role == "reviser" and len(drafts) >= LEAST_DRAFTS and refused:
        return f"all of its {len(drafts)} drafts were refused"
    return ""


def failures(answered: Sequence[RoleAnswered]) -> str:
    """State how many questions have no usable answer, and why; empty where all have one.

    Questions that the budget did not cover are passed over: the study chose to go on without.
    """
    put = [item for item in answered if item.outcome != _OUT_OF_BUDGET]
    failed = [item for item in put if item.answer is None]
    if not failed:
        return ""
    share = "none" if len(failed) == len(put) else f"{len(put) - len(failed)}"
    reasons = Counter(_reason(item) for item in failed).most_common()
    shown = "; ".join(f"{text} ({n})" for text, n in reasons[:_SHOWN_REASONS])
    more = len(reasons) - _SHOWN_REASONS
    rest = f"; and {plural(more, 'more reason')}" if more > 0 else ""
    return f"{share} of {plural(len(put), 'question')} to language models brought an answer: {shown}{rest}"


def silence(answered: Sequence[RoleAnswered]) -> str:
    """A message that no question of a run was answered, and why; empty if one was, or none was asked."""
    return "" if any(item.answer is not None for item in answered) else failures(answered)


def failures_in(folder: Path) -> tuple[str, bool]:
    """Questions of a run that brought no answer, in words, and whether none brought one.

    Raises:
        RunMissingError: There is no run.
    """
    check_run(folder)
    with Trace.open(folder, RECORD_TYPES, read_only=True) as trace:
        answered = [item.record for item in trace.records(RoleAnswered)]
    return failures(answered), bool(silence(answered))


def _reason(item: RoleAnswered) -> str:
    outcome = item.outcome.replace("_", " ")
    return f"{item.model}: {outcome}, {item.reason}" if item.reason else f"{item.model}: {outcome}"
