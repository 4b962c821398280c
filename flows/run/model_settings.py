"""The parts of a study file about language models: which there are, which roles they take, what they may cost."""

from __future__ import annotations

import difflib
from collections.abc import Iterator
from typing import Annotated, Any, Literal

from pydantic import (
    BeforeValidator,
    Field,
    SerializerFunctionWrapHandler,
    ValidationInfo,
    field_validator,
    model_serializer,
    model_validator,
)

from lakatos.flows.run.gone_keys import without_gone_keys
from lakatos.language_models.client import FrozenPart, TokenSampling
from lakatos.language_models.clients import CLIENTS
from lakatos.language_models.ledger import Budget
from lakatos.language_models.settings import ModelSettings
from lakatos.memory.tools import TOOLS
from lakatos.theories.discovery.roles.lens import LENSES

ROLES = ("arbiter", "reviser", "advocate", "auditor", "reflector")
MOST_RULES = 8


def _one(value: Any) -> Any:
    """Earlier versions wrote the models of a role as a list; `refuse_gone_keys` refuses several in a study file."""
    if not isinstance(value, list | tuple):
        return value
    return value[0] if value else ""


RoleModel = Annotated[str, BeforeValidator(_one, json_schema_input_type=str)]
"""A model of a study by its name; empty for none."""


class RolesConfig(FrozenPart):
    """Models that take roles; a role without a model is left to the search, or not used."""

    arbiter: RoleModel = ""
    """Reads the case of the losing theory and states what is wrong with it, citing records."""
    reviser: RoleModel = ""
    """Writes successors, one under each lens."""
    advocate: RoleModel = ""
    """Makes the strongest case for the losing theory, which the lens ``steelman`` shows a
    reviser."""
    auditor: RoleModel = ""
    """Reads claims of new theories without their code and states what they predict, which is tested
    on the code."""
    reflector: str = ""
    """Writes lessons after each cycle, citing records; unsupported lessons are not kept."""
    lenses: tuple[str, ...] = tuple(LENSES)
    """Lenses under which successors are written."""
    drafts: int = Field(6, ge=1, le=16)
    """Rounds of a reviser under each lens in a cycle, to try drafts and analyse responses; the best
    draft is submitted."""
    further: int = Field(0, ge=0, le=19)
    """Further drafts that a reviser may send in a round. The best fifth by a score before any fit
    is fitted. Useful for models that write cheaply."""
    successors: int = Field(3, ge=0, le=20)
    """Maximum number of theories of language models submitted in a cycle."""
    temperature: float = Field(0.7, ge=0, le=2)
    """Sampling temperature."""
    max_tokens: int = Field(2048, ge=64, le=65536)
    """Maximum number of tokens of a response."""
    tools: tuple[str, ...] = ()
    """Laboratory tools that arbiter, advocate and reviser may call before they answer; none by
    default, because the server must be set up for tool calls."""
    tool_rounds: int = Field(4, ge=2, le=16)
    """Maximum number of turns with tools; none is offered in the last one."""
    exhausted: Literal["stop", "go_on"] = "stop"
    """If the budget does not cover the next stage: stop the run, to be resumed with a larger
    budget, or continue without models."""
    unreachable: Literal["stop", "go_on"] = "stop"
    """If a server gives no answer in all tries: stop the run, to be resumed, or continue without
    that answer."""
    rules: tuple[str, ...] = ()
    """Rules of the study, one plain paragraph each, pinned to every request beside the laboratory's
    own."""

    @model_validator(mode="before")
    @classmethod
    def _without_keys_that_went(cls, value: Any) -> Any:
        return without_gone_keys("roles", value)

    @model_serializer(mode="wrap")
    def _without_later_keys(self, write: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """A key that came later is left out where it says nothing, so that earlier runs stay what they were."""
        value: dict[str, Any] = write(self)
        return {name: item for name, item in value.items() if name != "further" or item}

    @field_validator("lenses", "tools")
    @classmethod
    def _names_exist(cls, names: tuple[str, ...], info: ValidationInfo) -> tuple[str, ...]:
        what, known = ("lens", LENSES) if info.field_name == "lenses" else ("tool", TOOLS)
        for name in names:
            if name not in known:
                near = difflib.get_close_matches(name, known, n=1)
                raise ValueError(
                    f"there is no {what} {name!r}"
                    + (f"; did you mean {near[0]!r}?" if near else f". Known: {', '.join(known)}")
                )
        if len(set(names)) < len(names):
            raise ValueError(f"a {what} is named twice")
        return names

    @field_validator("rules")
    @classmethod
    def _few_plain_rules(cls, rules: tuple[str, ...]) -> tuple[str, ...]:
        if len(rules) > MOST_RULES or any(not text.strip() or "\n" in text for text in rules):
            raise ValueError(
                f"give at most {MOST_RULES} rules, each a plain paragraph without line breaks"
            )
        return rules

    def model_of(self, role: str) -> str:
        """Name of the model that takes a role; empty where the study gives it to nobody."""
        return str(getattr(self, role))

    @property
    def named(self) -> Iterator[tuple[str, str]]:
        """Every role that a model takes, with its name."""
        return ((role, self.model_of(role)) for role in ROLES if self.model_of(role))

    @property
    def used(self) -> bool:
        """Whether any model is asked anything."""
        return any(True for _ in self.named)

    def sampling(self) -> TokenSampling:
        """Return how the tokens of responses are drawn: temperature and most tokens."""
        return TokenSampling(temperature=self.temperature, max_tokens=self.max_tokens)


def with_names(value: Any) -> Any:
    """The tables of ``[models.NAME]`` with their names in them."""
    if not isinstance(value, dict):
        return value
    return {
        name: without_gone_keys("models", {"name": name, **settings})
        if isinstance(settings, dict)
        else settings
        for name, settings in value.items()
    }


def check_models(models: dict[str, ModelSettings], roles: RolesConfig, budget: Budget) -> None:
    """Raise ValueError for a client, or a model of a role, that there is not, and for a budget of people."""
    for name, settings in models.items():
        if settings.name != name:
            raise ValueError(
                f"models.{name}: its name is {settings.name!r}; leave the key `name` out"
            )
        if settings.client not in CLIENTS:
            raise ValueError(
                f"models.{name}.client: there is no client {settings.client!r}. Known: {', '.join(CLIENTS)}"
            )
    for role, model in roles.named:
        if model not in models:
            near = difflib.get_close_matches(model, models, n=1)
            known = (
                f"; did you mean {near[0]!r}?"
                if near
                else f". Described are: {', '.join(models) or 'none'}"
            )
            raise ValueError(
                f"roles.{role}: no model {model!r} is described under [models.{model}]{known}"
            )
    if budget.participants is not None:
        raise ValueError(
            "budget.participants: people are planned in `design` and `stop`, not here; remove it"
        )


__all__ = ["Budget", "ModelSettings", "RolesConfig", "check_models", "with_names"]
