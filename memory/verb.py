"""A verb of the laboratory: a function on something, with typed arguments and results and declared effects.

A verb is bound to what it works on (`LaboratoryVerb.on`) and then is a `language_models.tool.Tool`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, get_args, get_origin

from pydantic import BaseModel, ValidationError

from lakatos.experiments.errors import ExperimentError
from lakatos.language_models.errors import ToolError
from lakatos.language_models.pins import Effect
from lakatos.language_models.tool import as_json
from lakatos.memory.errors import MemoryLibraryError
from lakatos.theories.errors import BenchError, SandboxUnavailableError, TheoryError
from lakatos.theories.language.argument_kind import NamedKind
from lakatos.traces.digest import Digest, digest_of

READING: frozenset[Effect] = frozenset({"reads", "computes"})
"""Effects after which the world is as before: calls with no others can change places."""
FORESEEN = (BenchError, TheoryError, ExperimentError, MemoryLibraryError, SandboxUnavailableError)
"""Errors that say what the caller did wrong or cannot have; all others are bugs."""


@dataclass(frozen=True)
class LaboratoryVerb:
    """A tool of the laboratory."""

    name: str
    description: str
    function: Callable[[Any, Any], BaseModel]
    """Takes what it works on and an instance of ``arguments``, gives one of ``returns``."""
    arguments: type[BaseModel]
    returns: type[BaseModel]
    effects: frozenset[Effect]
    version: int = 1
    """Version, raised whenever the verb answers the same call otherwise: learned tools that call it are then validated
    again."""

    @property
    def reading(self) -> bool:
        """Whether it leaves the world as it is."""
        return self.effects <= READING

    @property
    def digest(self) -> Digest:
        """Names this version of it: what learned tools depend on."""
        schemas = [self.arguments.model_json_schema(), self.returns.model_json_schema()]
        return digest_of([self.name, self.version, sorted(self.effects), *schemas])

    def kinds(self) -> dict[str, str]:
        """Kind of each argument: ``theory``, ``experiment``, ..., with a star for several, else its Python type."""
        return kinds_of(self.arguments)

    def on(self, subject: Any) -> BoundVerb:
        """The verb on what it works on."""
        return BoundVerb(self, subject)

    def run(self, subject: Any, arguments: Mapping[str, Any]) -> Any:
        """One call, arguments and result as JSON.

        Raises:
            ToolError: It cannot be done; the message says why.
        """
        try:
            parsed = self.arguments.model_validate(dict(arguments))
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            place = ".".join(str(part) for part in first["loc"]) or "the arguments"
            raise ToolError(
                f"{self.name} was given the wrong arguments: {place}: {first['msg']}."
            ) from None
        try:
            return as_json(self.function(subject, parsed))
        except FORESEEN as error:
            raise ToolError(f"{self.name} cannot be done: {error}") from error


@dataclass(frozen=True)
class BoundVerb:
    """A verb on what it works on; a `language_models.tool.Tool`."""

    verb: LaboratoryVerb
    subject: Any

    @property
    def name(self) -> str:
        """Name of the verb, as models and plans call it."""
        return self.verb.name

    @property
    def description(self) -> str:
        """Description of the tool for models."""
        return self.verb.description

    @property
    def arguments(self) -> type[BaseModel]:
        """Type of the verb's arguments."""
        return self.verb.arguments

    @property
    def effects(self) -> frozenset[Effect]:
        """Effects of the tool."""
        return self.verb.effects

    def costs(self, arguments: Any) -> Mapping[str, float]:
        """Return nothing that is counted: verbs compute here."""
        return {}

    async def call(self, arguments: Any) -> BaseModel:
        """Run it in a thread; see `language_models.tool.Tool.call`."""
        try:
            return await asyncio.to_thread(self.verb.function, self.subject, arguments)
        except FORESEEN as error:
            raise ToolError(f"{self.name} cannot be done: {error}") from error


def kinds_of(model: type[BaseModel]) -> dict[str, str]:
    """Kind of each field; see `LaboratoryVerb.kinds`."""
    return {
        name: _kind(field.annotation, tuple(field.metadata))
        for name, field in model.model_fields.items()
    }


def _kind(annotation: Any, metadata: tuple[Any, ...]) -> str:
    if get_origin(annotation) is Annotated:
        return _kind(annotation.__origin__, (*metadata, *annotation.__metadata__))
    if named := next((item.name for item in metadata if isinstance(item, NamedKind)), None):
        return named
    members = [member for member in get_args(annotation) if member is not Ellipsis]
    if members and get_origin(annotation) in (tuple, list):
        return _kind(members[0], ()) + "*"
    return getattr(annotation, "__name__", str(annotation))


def values_named(
    value: Any, kind: str, model: type[BaseModel]
) -> Iterator[tuple[tuple[str | int, ...], str]]:
    """Places in a result, written as JSON, at which something of a kind is named, with its name."""
    for name, field in model.model_fields.items():
        yield from _named(value.get(name), kind, field.annotation, tuple(field.metadata), (name,))


def _named(
    value: Any, kind: str, annotation: Any, metadata: tuple[Any, ...], place: tuple[str | int, ...]
) -> Iterator[tuple[tuple[str | int, ...], str]]:
    if get_origin(annotation) is Annotated:
        yield from _named(
            value, kind, annotation.__origin__, (*metadata, *annotation.__metadata__), place
        )
    elif any(isinstance(item, NamedKind) and item.name == kind for item in metadata):
        if isinstance(value, str):
            yield place, value
    elif (
        isinstance(annotation, type)
        and issubclass(annotation, BaseModel)
        and isinstance(value, dict)
    ):
        for inner, found in values_named(value, kind, annotation):
            yield (*place, *inner), found
    elif isinstance(value, list):
        members = [member for member in get_args(annotation) if member is not Ellipsis] or [Any]
        for number, item in enumerate(value):
            yield from _named(item, kind, members[0], (), (*place, number))
