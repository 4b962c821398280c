"""The language models of a run: their connections, their common budget, and the rules pinned to requests."""

from __future__ import annotations

import asyncio
from collections import Counter
from contextlib import AsyncExitStack
from pathlib import Path

from pydantic import BaseModel

from lakatos.flows.errors import FlowError
from lakatos.flows.run.study import CampaignConfig
from lakatos.language_models.call import ModelCaller, RecordedModel
from lakatos.language_models.clients import CLIENTS
from lakatos.language_models.context import count_tokens, request_room
from lakatos.language_models.ledger import Budget, BudgetLedger
from lakatos.language_models.pins import PinnedRule, active
from lakatos.language_models.preflight import ServedModel, preflight
from lakatos.language_models.price_list import LISTED_ON, with_listed_price
from lakatos.language_models.probe import ROLE, probe_request
from lakatos.language_models.settings import ModelSettings
from lakatos.language_models.structured import answer_schema
from lakatos.language_models.withheld import schema_in_words
from lakatos.theories.discovery.roles.answer import (
    Audit,
    CaseReading,
    Reflection,
    SeveralSuccessors,
    Steelman,
    Successor,
)
from lakatos.theories.discovery.roles.prompt import read_prompt
from lakatos.theories.discovery.roles.question import CONTEXT_TOKENS
from lakatos.theories.discovery.roles.record import BudgetRaised, ModelChanged
from lakatos.theories.discovery.roles.rule import pins_of
from lakatos.traces.digest import digest_of
from lakatos.traces.step import Trace

LEAST_DATA_TOKENS = 1500
"""Tokens of data without which a role cannot work: the case, a source, a part of the trials."""
LEAST_WORDS = 4200
"""Words of the first request: more than the shortest context that servers are known to cut prompts to."""
_REAL = 0.7
"""Tokens of a prompt for each that `count_tokens`, which is on the safe side, counts."""
_ROOMY = 1_000_000
"""A context in which everything fits."""
ANSWERS: dict[str, tuple[str, type[BaseModel]]] = {
    "arbiter": ("arbiter", CaseReading),
    "reviser": ("reviser", Successor),
    "advocate": ("steelman", Steelman),
    "auditor": ("auditor", Audit),
    "reflector": ("reflector", Reflection),
}
"""The longest prompt of each role, and the form of its answers."""


class RoleModels:
    """The language models of a run, with its budget and its rules."""

    def __init__(self, config: CampaignConfig, trace: Trace) -> None:
        """Read the budget that is left; no model is asked yet."""
        self.settings: dict[str, ModelSettings] = models_in(trace, config)
        self._config, self._stated = config.roles, config.models
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
        self._n_changes = Counter(item.record.settings.name for item in trace.records(ModelChanged))
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
                earlier=self._versions(trace, name),
            )
            for name, settings in self.settings.items()
        }

    def rules(self, role: str, cycle: int) -> tuple[PinnedRule, ...]:
        """Rules that are pinned to a role's requests."""
        return active(self.pins, role, cycle)

    async def look_for(self, name: str) -> list[str]:
        """Find out whether a model can be asked, and what its server takes; a program of ours can be asked anything.

        Returns:
            What was found, each in a sentence without a full stop.

        Raises:
            LanguageModelError: It cannot.
        """
        model = self.callers[name].model
        if not isinstance(model, ServedModel):
            return []
        roles = [role for role, taken in self._config.named if taken == name]
        needed = {role: self.least_context(role) for role in roles}
        schemas = [answer_schema(self._answer_of(role)) for role in roles]
        largest = max(schemas, key=lambda schema: len(str(schema)), default=None)
        n_words = max(LEAST_WORDS, round(_REAL * max(needed.values()))) if needed else 0
        request = probe_request(largest, n_words, self._config.sampling())
        position = {"changes": self._n_changes[name]} if self._n_changes[name] else None
        recorded = RecordedModel(self.callers[name], role=ROLE, position=position)
        ready = await preflight(
            model,
            least_tokens=min(needed.values(), default=0),
            probe=request,
            ask=recorded.complete,
        )
        context = ready.context_tokens
        self.contexts[name] = context or self.contexts[name]
        if largest is not None and ready.probe and "response_format" in ready.probe.left_out:
            self.contexts[name] -= count_tokens(schema_in_words(largest))  # which prompts then hold
        lines = ready.probe.lines if ready.probe else []
        given, stated = self.settings[name].price, self._stated[name].price
        if given != stated:
            lines.append(
                f"priced as listed on {LISTED_ON}: {given.input:g} for input and {given.output:g} for output, dollars "
                "per million tokens"
            )
        if context is None:
            return lines
        short = [f"{role} ({tokens})" for role, tokens in needed.items() if context < tokens]
        if short:
            lines.append(f"its context of {context} tokens is too short as {', '.join(short)}")
        return lines

    def _versions(self, trace: Trace, name: str) -> tuple[str, ...]:
        """Versions of the models that had a name before the present one, the study's own included."""
        changed = [item.record.settings for item in trace.records(ModelChanged)]
        had = [self._stated[name], *(item for item in changed if item.name == name)]
        return tuple(dict.fromkeys(item.version for item in had))

    def least_context(self, role: str) -> int:
        """Tokens of a role's shortest useful prompt with its answer, roughly."""
        prompt, most = read_prompt(ANSWERS[role][0]).text, self._config.max_tokens
        left = request_room(_ROOMY, most, prompt, self.rules(role, 1))
        return _ROOMY - left + LEAST_DATA_TOKENS

    def _answer_of(self, role: str) -> type[BaseModel]:
        several = role == "reviser" and self._config.further
        return SeveralSuccessors if several else ANSWERS[role][1]

    async def close(self) -> None:
        """Close the connections to all servers, also where a branch asks a model through another one."""
        async with AsyncExitStack() as stack:
            for model in self._models.values():
                if isinstance(model, ServedModel):
                    stack.push_async_callback(model.close)


def models_in(trace: Trace, config: CampaignConfig) -> dict[str, ModelSettings]:
    """The study's models, with the settings that the researcher has changed since, and list prices where none stand."""
    changed = {
        item.record.settings.name: item.record.settings for item in trace.records(ModelChanged)
    }
    return {
        name: with_listed_price(changed.get(name, settings))
        for name, settings in config.models.items()
    }


def budget_in(trace: Trace, study: Budget) -> Budget:
    """The study's budget, or what the researcher has raised it to."""
    raised = [item.record.budget for item in trace.records(BudgetRaised)]
    return raised[-1] if raised else study


def out_of_budget(config: CampaignConfig, folder: Path, error: Exception) -> str:
    """State why no model is used, where the study continues without one.

    Raises:
        FlowError: The study stops where its budget is exhausted.
    """
    if config.roles.exhausted == "stop":
        words = str(error).replace(
            "Raise the budget in the study file and resume, or ask for less.", ""
        )
        raise FlowError(
            f"the budget for language models is exhausted: {words.strip()} Nothing is lost: raise it with "
            f"`lakatos models budget {folder}` and go on with `lakatos resume {folder}`."
        ) from error
    return "the budget does not cover it"
