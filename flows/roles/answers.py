"""Outcomes of everything that language models answered in a run."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from pathlib import Path
from typing import Any, TypeVar

from lakatos.flows.run.records import RECORD_TYPES
from lakatos.flows.run.run import check_run
from lakatos.language_models.ledger import spending_of
from lakatos.language_models.record import LanguageModelCalled
from lakatos.theories.discovery.roles.record import (
    CaseRead,
    ClaimAudited,
    ModelsChosen,
    RoleAnswered,
    SuccessorTried,
)
from lakatos.theories.engine.record import TheoryAdmitted
from lakatos.traces.digest import Digest
from lakatos.traces.record import Record
from lakatos.traces.step import Trace

T = TypeVar("T", bound=Record)


def answers_in(folder: Path) -> dict[str, Any]:
    """Counts of a run: calls and answers by prompt and outcome, and what became of what was answered.

    Raises:
        RunMissingError: There is no run.
    """
    check_run(folder)
    with Trace.open(folder, RECORD_TYPES, read_only=True) as trace:

        def all_of(kind: type[T]) -> list[T]:
            return [item.record for item in trace.records(kind)]

        admitted = {item.theory for item in all_of(TheoryAdmitted)}
        return {
            "calls": _calls(all_of(LanguageModelCalled)),
            "spent": spending_of(trace.journal.events()).total.model_dump(),
            "answers": _answers(all_of(RoleAnswered)),
            "stages_not_asked": sum(not item.asked for item in all_of(ModelsChosen)),
            "statements": _counted(
                item.outcome for read in all_of(CaseRead) for item in read.statements
            ),
            **_theories(all_of(SuccessorTried), admitted),
            "claims": _claims(all_of(ClaimAudited)),
        }


def _calls(calls: Sequence[LanguageModelCalled]) -> dict[str, Any]:
    return {
        "n": len(calls),
        "outcomes": _counted(item.outcome for item in calls),
        "prompt_tokens": sum(item.n_prompt_tokens for item in calls),
        "completion_tokens": sum(item.n_completion_tokens for item in calls),
    }


def _answers(answered: Sequence[RoleAnswered]) -> dict[str, dict[str, int]]:
    tasks = dict.fromkeys(item.task for item in answered)
    return {
        task: _counted(item.outcome for item in answered if item.task == task) for task in tasks
    }


def _theories(tried: Sequence[SuccessorTried], admitted: Collection[Digest]) -> dict[str, Any]:
    outcomes = (
        f"{item.outcome}: {_class_of(item.reason)}" if item.reason else item.outcome
        for item in tried
    )
    return {
        "theories": _counted(outcomes),
        "theories_admitted": sum(item.fitted in admitted for item in tried if item.fitted),
    }


def _claims(audited: Sequence[ClaimAudited]) -> dict[str, int]:
    return {
        "held": sum(len(item.held) for item in audited),
        "contradicted": sum(len(item.contradicted) for item in audited),
        "not tried": sum(len(item.not_tried) for item in audited),
    }


def _counted(values: Iterable[str]) -> dict[str, int]:
    return dict(Counter(values).most_common())


def _class_of(reason: str) -> str:
    """The error at the beginning of a reason, else the first words of it."""
    error = re.match(r"(\w+Error): ", reason)
    return error[1] if error else " ".join(reason.split()[:6])
