"""Raise the budget for language models of a run that has used it up."""

from __future__ import annotations

from pathlib import Path

from lakatos.flows.run.models import budget_in
from lakatos.flows.run.records import RECORD_TYPES
from lakatos.flows.run.run import check_run
from lakatos.language_models.ledger import Budget, SpentAmount, spending_of
from lakatos.theories.discovery.roles.record import BudgetRaised
from lakatos.traces.step import Trace


def raise_budget(folder: Path, budget: Budget) -> None:
    """Give a run another budget for language models, in place of its own, from its next pass on.

    Raises:
        RunMissingError: There is no run.
        LockedError: Another process is writing it.
    """
    check_run(folder)
    with Trace.open(folder, RECORD_TYPES) as trace:
        number = sum(1 for _ in trace.records(BudgetRaised))
        trace.record(BudgetRaised(budget=budget), name="raise_budget", position={"number": number})


def taken(folder: Path) -> tuple[SpentAmount, Budget]:
    """What the language models of a run have taken, and the most that they may.

    Raises:
        RunMissingError: There is no run.
    """
    check_run(folder)
    with Trace.open(folder, RECORD_TYPES, read_only=True) as trace:
        study = Budget.model_validate(trace.journal.meta["study"].get("budget", {}))
        return spending_of(trace.journal.events()).total, budget_in(trace, study)
