"""What became of everything that language models answered in a run."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from lakatos.flows.run.records import RECORD_TYPES
from lakatos.flows.run.run import check_run
from lakatos.judges.record import PairRead
from lakatos.language_models.ledger import spending_of
from lakatos.language_models.record import LanguageModelCalled
from lakatos.theories.record import TheoryAdmitted
from lakatos.theories.roles.record import (
    CaseRead,
    ClaimAudited,
    ModelsChosen,
    RoleAnswered,
    SuccessorTried,
    TrialsProposed,
)
from lakatos.traces.record import Record
from lakatos.traces.step import Trace


def answers_in(folder: Path) -> dict[str, Any]:
    """Counts of a run: calls and answers by prompt and outcome, and what became of what was answered.

    Raises:
        RunMissingError: There is no run.
    """
    check_run(folder)
    with Trace.open(folder, RECORD_TYPES, read_only=True) as trace:

        def all_of(kind: type[Record]) -> list[Any]:
            return [item.record for item in trace.records(kind)]

        admitted = {item.theory for item in all_of(TheoryAdmitted)}
        tried, answered = all_of(SuccessorTried), all_of(RoleAnswered)
        statements = [item for read in all_of(CaseRead) for item in read.statements]
        proposed, audited, read = all_of(TrialsProposed), all_of(ClaimAudited), all_of(PairRead)
        spent = spending_of(trace.journal.events()).total
        calls = all_of(LanguageModelCalled)
        return {
            "calls": {
                "n": len(calls),
                "outcomes": _counted(item.outcome for item in calls),
                "prompt_tokens": sum(item.n_prompt_tokens for item in calls),
                "completion_tokens": sum(item.n_completion_tokens for item in calls),
            },
            "spent": spent.model_dump(),
            "answers": {
                task: _counted(item.outcome for item in answered if item.task == task)
                for task in dict.fromkeys(item.task for item in answered)
            },
            "stages_not_asked": sum(not item.asked for item in all_of(ModelsChosen)),
            "statements": _counted(item.outcome for item in statements),
            "theories": _counted(
                f"{item.outcome}: {_class_of(item.reason)}" if item.reason else item.outcome
                for item in tried
            ),
            "theories_admitted": sum(item.fitted in admitted for item in tried if item.fitted),
            "claims": {
                "held": sum(len(item.held) for item in audited),
                "contradicted": sum(len(item.contradicted) for item in audited),
                "not tried": sum(len(item.not_tried) for item in audited),
            },
            "trials": _counted(
                "asked about" if item.passed else f"refused: {_class_of(item.reason)}"
                for item in proposed
            ),
            "pairs": {
                "read": len(read),
                "dimensions": sum(len(item.levels) for item in read),
                "contradicted by order or repeats": sum(len(item.contradicted) for item in read),
            },
        }


def _counted(values: Iterable[str]) -> dict[str, int]:
    return dict(Counter(values).most_common())


def _class_of(reason: str) -> str:
    """The error at the beginning of a reason, else the first words of it."""
    error = re.match(r"(\w+Error): ", reason)
    return error[1] if error else " ".join(reason.split()[:6])
