"""Tools that a model may call, and the box that offers them.

What a model asks for is untrusted text: unknown tools and invented arguments are refused with the closest valid ones,
calls made again and again are cut, results are bounded. Refusals are answers to the model, never exceptions.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache
from typing import Any, Final, Literal, NoReturn, Protocol

from pydantic import BaseModel, ValidationError

from lakatos.language_models.client import FrozenPart, ToolCall, ToolOffer
from lakatos.language_models.errors import ToolboxError
from lakatos.language_models.fence import folded
from lakatos.language_models.pins import Effect
from lakatos.traces.digest import canonical_json, digest_of
from lakatos.traces.errors import RecordError

MAX_ARGUMENT_CHARACTERS: Final = 100_000
"""Longer arguments are not parsed."""
MAX_SHOWN_INPUT: Final = 200
"""Characters of a model's own words that a refusal repeats."""


class Tool(Protocol):
    """Something that the laboratory does when a model asks for it."""

    @property
    def name(self) -> str:
        """Name by which it is called: letters, digits, underscores and hyphens, 64 at most."""

    @property
    def description(self) -> str:
        """Description of what it does and gives, for the model."""

    @property
    def arguments(self) -> type[BaseModel]:
        """Pydantic model of its arguments; it and all models inside it forbid fields that they do not know."""

    @property
    def effects(self) -> frozenset[Effect]:
        """All that it does to the world."""

    def costs(self, arguments: Any) -> Mapping[str, float]:
        """The most that a call can cost, by quantity ("pounds", "participants", ...); nothing is the empty mapping."""

    async def call(
        self, arguments: Any
    ) -> BaseModel | Mapping[str, Any] | Sequence[Any] | str | int | float | None:
        """Do it; ``arguments`` is an instance of the class `arguments`.

        Raises:
            ToolError: It cannot be done; the model is told why. Anything else is a bug and stops the run.
        """


class ToolResult(FrozenPart):
    """Result of an admissible call: this is what the trace holds."""

    outcome: Literal["returned", "failed", "blocked"]
    value: Any = None
    """Exactly what the tool returned, as JSON."""
    reason: str = ""
    """Reason for a failure, or the rules that forbid the call."""


class ToolUse(FrozenPart):
    """A call that a model made and what was done about it."""

    call: ToolCall
    arguments: dict[str, Any] | None = None
    """Validated arguments, with defaults filled in; None if they could not be validated."""
    outcome: Literal[
        "returned", "failed", "blocked", "unknown_tool", "bad_arguments", "repeated", "too_many"
    ]
    reference: str = ""
    """Digest under which the trace keeps the result; empty for calls that were refused before anything was done."""
    value: Any = None
    """Exactly what the tool returned."""
    shown: str
    """Text that the model was shown: the result within bounds, or why there is none."""


@dataclass(frozen=True)
class PreparedCall:
    """A call of a tool that exists with arguments that it takes."""

    tool: Tool
    arguments: BaseModel
    values: dict[str, Any]
    """The arguments as JSON, defaults included."""

    @property
    def digest(self) -> str:
        """Names the call, for counting repetitions and for a person's confirmation."""
        return call_digest(self.tool.name, self.values)


def call_digest(name: str, arguments: Mapping[str, Any]) -> str:
    """Digest of a call: tool and arguments with defaults filled in."""
    return digest_of({"tool": name, "arguments": dict(arguments)})


@dataclass(frozen=True)
class CallRefusal:
    """A call that cannot be made."""

    outcome: Literal["unknown_tool", "bad_arguments"]
    reason: str


class Toolbox:
    """The tools that a model may call, by name."""

    def __init__(self, tools: Sequence[Tool]) -> None:
        """Take tools, and refuse names and arguments that models cannot use.

        Raises:
            ToolboxError: Two have one name, a name is not one that servers take, or arguments could be invented.
        """
        self.tools: dict[str, Tool] = {}
        for tool in tools:
            _check_tool(tool, self.tools)
            self.tools[tool.name] = tool

    @property
    def offers(self) -> tuple[ToolOffer, ...]:
        """The tools as they are described to a model."""
        return tuple(
            ToolOffer(
                name=tool.name, description=tool.description, parameters=schema_of(tool.arguments)
            )
            for tool in self.tools.values()
        )

    def prepare(self, call: ToolCall) -> PreparedCall | CallRefusal:
        """The call as it can be made, or why it cannot."""
        tool = self.tools.get(call.name)
        if tool is None:
            return CallRefusal("unknown_tool", _unknown("tool", call.name, list(self.tools)))
        try:
            given = _parse_object(call.arguments)
            # Strict, so that text is not taken for a number, nor 1 for true.
            arguments = tool.arguments.model_validate_json(json.dumps(given), strict=True)
            values = as_json(arguments)
        except ValidationError as error:
            return CallRefusal("bad_arguments", _explain(tool, error))
        except (ValueError, RecursionError, RecordError) as error:
            problem = "it is nested too deeply" if isinstance(error, RecursionError) else str(error)
            return CallRefusal(
                "bad_arguments",
                f"the arguments of {tool.name!r} are not a JSON object: {problem}. Call it again with one.",
            )
        return PreparedCall(tool, arguments, values)


@cache
def schema_of(arguments: type[BaseModel]) -> dict[str, Any]:
    """JSON schema of a tool's arguments; not to be changed."""
    return arguments.model_json_schema()


def _check_tool(tool: Tool, known: Mapping[str, Tool]) -> None:
    if tool.name in known:
        raise ToolboxError(f"two tools are called {tool.name!r}; rename one.")
    if not (
        0 < len(tool.name) <= 64
        and all(c.isascii() and (c.isalnum() or c in "_-") for c in tool.name)
    ):
        raise ToolboxError(
            f"{tool.name!r} cannot name a tool; use up to 64 letters, digits, underscores and hyphens."
        )
    schema = schema_of(tool.arguments)
    for name, part in {tool.arguments.__name__: schema, **schema.get("$defs", {})}.items():
        if part.get("type") == "object" and part.get("additionalProperties") is not False:
            raise ToolboxError(
                f"{name} in the arguments of tool {tool.name!r} takes fields that it does not know, so a model could "
                'invent some without being told; give it `model_config = ConfigDict(extra="forbid")`.'
            )


def _parse_object(text: str) -> dict[str, Any]:
    """Refuse what pydantic would let pass: a key given twice, NaN, text of any length; control characters may stand."""
    if len(text) > MAX_ARGUMENT_CHARACTERS:
        raise ValueError(f"they have {len(text)} characters; {MAX_ARGUMENT_CHARACTERS} are allowed")

    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        if len({name for name, _ in pairs}) < len(pairs):
            raise ValueError("a name is given twice")
        return dict(pairs)

    value = json.loads(
        text, strict=False, object_pairs_hook=unique, parse_constant=_refuse_constant
    )
    if not isinstance(value, dict):
        raise ValueError("it is no object")
    return value


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


def _unknown(what: str, name: str, valid: Sequence[str]) -> str:
    shown = name[:MAX_SHOWN_INPUT]
    close = closest(name, valid)
    hint = (
        f"the closest are {', '.join(close)}"
        if close
        else f"there are {', '.join(valid) or 'none'}"
    )
    return f"there is no {what} {shown!r}; {hint}."


def closest(name: str, valid: Sequence[str], n: int = 3) -> list[str]:
    """The valid names most like ``name``, or like its last part where it is a path; best first."""
    name = name.rsplit(".", 1)[-1]
    plain = {folded(item): item for item in valid}
    return [
        plain[item]
        for item in get_close_matches(folded(name[:MAX_SHOWN_INPUT]), list(plain), n=n, cutoff=0.5)
    ]


def _explain(tool: Tool, error: ValidationError) -> str:
    schema = schema_of(tool.arguments)
    problems = [_problem(schema, dict(item)) for item in error.errors(include_url=False)[:5]]
    return f"the arguments of {tool.name!r} were refused: {' '.join(problems)}"


def _problem(schema: Mapping[str, Any], item: Mapping[str, Any]) -> str:
    place = [part for part in item["loc"] if part is not None]
    where = ".".join(str(part) for part in place) or "the arguments"
    if item["type"] == "extra_forbidden":
        return _unknown("argument", where, _names_at(schema, place[:-1]))
    text = f"{where}: {item['msg']}"
    given = item.get("input")
    if item["type"] in ("literal_error", "enum") and isinstance(given, str):
        valid = [
            word.strip("'\" ")
            for word in str(item["ctx"]["expected"]).replace(" or ", ", ").split(", ")
        ]
        if close := closest(given, valid):
            text += f" (closest to {given[:MAX_SHOWN_INPUT]!r}: {', '.join(close)})"
    return f"{text}."


def _names_at(schema: Mapping[str, Any], place: Sequence[Any]) -> list[str]:
    """Names of the fields of the object at ``place``; those of all objects where a union leaves it open."""

    def resolved(part: Mapping[str, Any]) -> Mapping[str, Any]:
        while "$ref" in part:
            part = schema["$defs"][part["$ref"].rsplit("/", 1)[-1]]
        return part

    part: Mapping[str, Any] = schema
    for step in place:
        part = resolved(part)
        inner = part.get("items") if isinstance(step, int) else part.get("properties", {}).get(step)
        if not isinstance(inner, Mapping):
            break
        part = inner
    names = list(resolved(part).get("properties", {}))
    if not names and place:
        names = [
            name for item in schema.get("$defs", {}).values() for name in item.get("properties", {})
        ]
    return names


def as_json(value: Any) -> Any:
    """Return a tool's result as JSON.

    Raises:
        RecordError: It holds what JSON has no word for, such as NaN.
    """
    plain = value.model_dump(mode="json") if isinstance(value, BaseModel) else value
    return json.loads(canonical_json(plain))


def shown(value: Any, reference: str, max_characters: int) -> str:
    """``value`` as a model is shown it: whole, or cut between words, with a note of what is left out and where it is.

    Never cut inside a number, which would make it another one.
    """
    text = (
        value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, sort_keys=True)
    )
    if len(text) <= max_characters:
        return text
    end = max_characters
    while end > 0 and not (text[end - 1].isspace() or text[end - 1] in ",;{}[]"):
        end -= 1
    if end == 0:  # one endless word
        end = (
            max_characters
            if not any(c.isdigit() for c in text[max_characters - 1 : max_characters + 1])
            else 0
        )
    note = f"... {len(text) - end} of {len(text)} characters left out; the record {mention(reference)} holds all."
    return f"{text[:end]}\n{note}"


def mention(reference: str) -> str:
    """Return the citation of a record in a text: a number sign and the first twelve digits of its digest."""
    return f"#{reference[:12]}"


class ToolRecorder(Protocol):
    """Keeps what came of calls: a step of the trace, so that a recorded call is not made again."""

    async def __call__(
        self, position: int, prepared: PreparedCall, work: Callable[[], Awaitable[ToolResult]]
    ) -> tuple[str, ToolResult]:
        """Digest and content of what came of the call, from the trace or else from ``work``.

        Args:
            position: Number of the call within the conversation, from 0, refused calls included.
            prepared: The call.
            work: Makes it, or finds that a rule forbids it; awaited at most once.
        """
