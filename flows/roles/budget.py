"""Change the budget and the models of a run that was begun with others."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from lakatos.flows.errors import UnusableError
from lakatos.flows.run.models import budget_in
from lakatos.flows.run.records import RECORD_TYPES
from lakatos.flows.run.run import check_run
from lakatos.flows.run.study import CampaignConfig
from lakatos.language_models.ledger import Budget, SpentAmount, spending_of
from lakatos.language_models.settings import ModelSettings
from lakatos.theories.discovery.roles.record import BudgetRaised, ModelChanged
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


def change_model(folder: Path, name: str, changes: Mapping[str, Any]) -> ModelSettings:
    """Give a model of a run other settings, from the run's next pass on; what it has answered stays.

    Args:
        folder: Folder of the run.
        name: Name of the model in the study.
        changes: New values of keys of ``[models.NAME]``.

    Raises:
        RunMissingError: There is no run.
        UnusableError: The study has no such model, or the settings cannot be used.
        LockedError: Another process is writing it.
    """
    check_run(folder)
    with Trace.open(folder, RECORD_TYPES, read_only=True) as trace:
        study = CampaignConfig.model_validate(trace.journal.meta["study"])
        changed = [item.record.settings for item in trace.records(ModelChanged)]
    models = dict(study.models) | {item.name: item for item in changed}
    if name not in models:
        raise UnusableError(
            f"the run {folder} has no model {name!r}; it has {', '.join(models) or 'none'}."
        )
    try:
        settings = ModelSettings.model_validate(models[name].model_dump() | dict(changes))
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"])) or "the address"
        raise UnusableError(
            f"models.{name}.{where}: {first['msg'].removeprefix('Value error, ')}."
        ) from None
    with Trace.open(folder, RECORD_TYPES) as trace:
        record, place = ModelChanged(settings=settings), {"number": len(changed)}
        trace.record(record, name="change_model", position=place)
    return settings


def taken(folder: Path) -> tuple[SpentAmount, Budget]:
    """Return what the language models of a run have taken, and the most that they may.

    Raises:
        RunMissingError: There is no run.
    """
    check_run(folder)
    with Trace.open(folder, RECORD_TYPES, read_only=True) as trace:
        study = Budget.model_validate(trace.journal.meta["study"].get("budget", {}))
        return spending_of(trace.journal.events()).total, budget_in(trace, study)
