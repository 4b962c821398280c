"""The language models of a run: their connections, their common budget, and the rules pinned to requests."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack
from pathlib import Path

from lakatos.flows.errors import FlowError
from lakatos.flows.run.study import CampaignConfig
from lakatos.language_models.call import ModelCaller
from lakatos.language_models.clients import CLIENTS
from lakatos.language_models.ledger import Budget, BudgetLedger
from lakatos.language_models.pins import PinnedRule, active
from lakatos.language_models.preflight import ServedModel, preflight
from lakatos.language_models.settings import ModelSettings
from lakatos.theories.discovery.roles.question import CONTEXT_TOKENS
from lakatos.theories.discovery.roles.record import BudgetRaised
from lakatos.theories.discovery.roles.rule import pins_of
from lakatos.traces.digest import digest_of
from lakatos.traces.step import Trace


class RoleModels:
    """The language models of a run, with its budget and its rules."""

    def __init__(self, config: CampaignConfig, trace: Trace) -> None:
        """Read the budget that is left; no model is asked yet."""
        self.settings: dict[str, ModelSettings] = dict(config.models)
        self.ledger = BudgetLedger.of(budget_in(trace, config.budget), trace.journal.events())
        self.secret = digest_of({"secret": config.seed, "study": config.name})
        self.pins = pins_of(config.roles.rules)
        self.bench = asyncio.Lock()
        """Held while a tool works."""
        self.looked = False
        """Whether the models were looked for in this pass."""
        self.noted: set[tuple[str, str]] = set()
        """Models with the fields without which they are asked, as far as this pass has shown them."""
        self.contexts = {
            name: item.context_tokens or CONTEXT_TOKENS for name, item in self.settings.items()
        }
        self._models = {
            name: CLIENTS[settings.client](settings) for name, settings in self.settings.items()
        }
        self.callers = {
            name: ModelCaller(
                self._models[name],
                trace,
                self.ledger,
                price=settings.price,
                most_in_flight=settings.most_in_flight,
            )
            for name, settings in self.settings.items()
        }

    def rules(self, role: str, cycle: int) -> tuple[PinnedRule, ...]:
        """Rules that are pinned to a role's requests."""
        return active(self.pins, role, cycle)

    async def look_for(self, name: str) -> None:
        """Find out whether a model can be asked, and how much its server lets it see; a program of ours always can.

        Raises:
            LanguageModelError: It cannot.
        """
        model = self.callers[name].model
        if isinstance(model, ServedModel):
            ready = await preflight(model)
            self.contexts[name] = ready.context_tokens or self.contexts[name]

    async def close(self) -> None:
        """Close the connections to all servers, also where a branch asks a model through another one."""
        async with AsyncExitStack() as stack:
            for model in self._models.values():
                if isinstance(model, ServedModel):
                    stack.push_async_callback(model.close)


def budget_in(trace: Trace, study: Budget) -> Budget:
    """The study's budget, or what the researcher has raised it to."""
    raised = [item.record.budget for item in trace.records(BudgetRaised)]
    return raised[-1] if raised else study


def out_of_budget(config: CampaignConfig, folder: Path, error: Exception) -> str:
    """Why no model is asked, where the study goes on without.

    Raises:
        FlowError: The study stops where its budget is exhausted.
    """
    if config.roles.exhausted == "stop":
        said = str(error).replace(
            "Raise the budget in the study file and resume, or ask for less.", ""
        )
        raise FlowError(
            f"the budget for language models is exhausted: {said.strip()} Nothing is lost: raise it with "
            f"`lakatos models budget {folder}` and go on with `lakatos resume {folder}`."
        ) from error
    return "the budget does not cover it"
