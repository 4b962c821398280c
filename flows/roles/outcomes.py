"""What came of the answers of language models, for the bandit that chooses among them.

New data decide wherever they can; what the laboratory refuses by itself, and an answer that cannot be read, is a cost
without an improvement at once. Nothing is credited while it is open.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Final

from lakatos.flows.run.state import RunState
from lakatos.judges.judge import VerdictResolved
from lakatos.language_models.routing import ValidatedAnswer
from lakatos.theories.discovery.roles.record import CaseRead, SuccessorTried, best_drafts
from lakatos.traces.digest import Digest
from lakatos.traces.step import Recorded

UNASKED: Final = ("out_of_budget", "no_answer")
"""Outcomes that say nothing of a model, and that another try could change."""
Spent = Callable[[str, Sequence[Digest]], float]
"""Cost of calls to a model."""


def outcomes_of(state: RunState, spent: Spent) -> Iterator[ValidatedAnswer]:
    """What came of each answer in each role, as far as it is known.

    | role | improved |
    | --- | --- |
    | reviser | new data favoured its theory over the leader of its time |
    | arbiter | records bore out something that it said, and new data favoured a successor written on its reading |
    | advocate | likewise of its case for the loser; simulation bore out the trials that it proposed |
    | auditor | something that it read out of the claim could be tried on the code |

    A judge is no matter of routing: it has a seat, and the gate decides who takes it.

    Args:
        state: Of the run.
        spent: What calls to a model have cost.
    """
    settled = _settled(state)

    def credit(answer: Digest, improved: bool, record: Digest) -> ValidatedAnswer:
        answered = state.roles.answered[answer].record
        return ValidatedAnswer(
            role=answered.role,
            model=answered.model,
            version=answered.served,
            improved=improved,
            cost=spent(answered.model, answered.calls),
            record=record,
        )

    for digest, item in state.roles.answered.items():
        if item.record.answer is None and item.record.outcome not in UNASKED:
            yield credit(digest, False, digest)
    for tried in state.roles.tried:
        if (improved := _favoured(tried.record, settled)) is not None:
            found = settled.get(tried.record.fitted or "")
            yield credit(tried.record.answer, improved, found.digest if found else tried.digest)
    for case in state.roles.cases:
        if (improved := _led_to_improvement(case.record, state, settled)) is not None:
            yield credit(case.record.answer, improved, case.digest)
    for proposed in state.roles.trials_proposed:
        if proposed.record.answer is not None:
            yield credit(proposed.record.answer, proposed.record.passed, proposed.digest)
    for audited in state.roles.audited:
        yield credit(
            audited.record.answer,
            bool(audited.record.held or audited.record.contradicted),
            audited.digest,
        )


def _settled(state: RunState) -> dict[Digest, Recorded[VerdictResolved]]:
    """The first outcome of each candidate in new data."""
    found: dict[Digest, Recorded[VerdictResolved]] = {}
    for item in state.judging.resolved.values():
        if (verdict := state.judging.verdicts.get(item.record.verdict)) is not None:
            found.setdefault(verdict.record.candidate, item)
    return found


def _favoured(
    tried: SuccessorTried, settled: dict[Digest, Recorded[VerdictResolved]]
) -> bool | None:
    """Whether new data favoured a theory; None while nothing is known."""
    if tried.outcome != "submitted":
        return False
    found = settled.get(tried.fitted or "")
    return None if found is None else found.record.favoured


def _led_to_improvement(
    case: CaseRead, state: RunState, settled: dict[Digest, Recorded[VerdictResolved]]
) -> bool | None:
    if not any(item.supported for item in case.statements):
        return False
    known = [
        _favoured(item, settled)
        for item in best_drafts([item.record for item in state.roles.tried])
        if item.cycle == case.cycle and (case.task == "arbiter" or item.lens == case.task)
    ]
    if any(known):
        return True
    return False if known and None not in known else None
