"""Questions to language models that brought no answer, in words for the screen, the report and the exit status."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from lakatos.flows.run.records import RECORD_TYPES
from lakatos.flows.run.run import check_run
from lakatos.theories.discovery.roles.record import RoleAnswered
from lakatos.traces.step import Trace
from lakatos.traces.wording import plural

_SHOWN_REASONS = 3
_OUT_OF_BUDGET = "out_of_budget"
"""Outcome of a question that was not put, as the study chose."""


def failures(answered: Sequence[RoleAnswered]) -> str:
    """How many questions have no answer that could be used, and why; empty where all have one.

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


def silence_in(folder: Path) -> str:
    """The same of the run in a folder.

    Raises:
        RunMissingError: There is no run.
    """
    check_run(folder)
    with Trace.open(folder, RECORD_TYPES, read_only=True) as trace:
        return silence([item.record for item in trace.records(RoleAnswered)])


def _reason(item: RoleAnswered) -> str:
    outcome = item.outcome.replace("_", " ")
    return f"{item.model}: {outcome}, {item.reason}" if item.reason else f"{item.model}: {outcome}"
