"""Answers of a type: a pydantic class becomes a JSON schema that the server enforces where it can.

What comes back is read as untrusted text all the same. An answer that does not fit gets one more chance: with the
validation error if it could be read, anew (and with more room) if it was cut, empty or ran away. After that there is
an `FailedAnswer` with the reason: a value, not an exception, since a model that cannot answer is a result.
"""

from __future__ import annotations

import json
import re
from collections.abc import Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, Generic, Literal, TypeVar

from pydantic import BaseModel, ValidationError

from lakatos.language_models.call import RecordedCall
from lakatos.language_models.client import ChatMessage, ModelCompletion, ModelRequest
from lakatos.language_models.errors import SchemaRefusedError
from lakatos.language_models.outcome import Outcome, outcome_of
from lakatos.language_models.thinking import after_thinking
from lakatos.language_models.withheld import schema_in_words
from lakatos.traces.digest import Digest

T = TypeVar("T", bound=BaseModel)

Ask = Callable[[ModelRequest, int], Awaitable[RecordedCall]]
"""Makes a call: the request, and which try of this answer it is, for its position in the trace."""

Reason = Literal[
    "truncated",
    "runaway",
    "repetitive",
    "empty",
    "refused",
    "not_json",
    "wrong_form",
    "unprintable",
    "too_long",
]
"""Reason why there is no answer: the outcome of a call, or what is wrong with its text."""

MOST_CHARACTERS: Final = 400_000
_REPEATED: Final = 8_000
_SHOWN_ERRORS: Final = 8
_SHOWN: Final = 300
_UNPRINTABLE: Final = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\U000e0000-\U000e007f]"
)
"""Controls of terminals, marks that turn the order of what is read, tags that nobody sees. No answer needs them.

References:
    Boucher & Anderson (2023), Trojan Source: invisible vulnerabilities, USENIX Security.
"""
NOT_ENFORCEABLE: Final = (
    "multipleOf",
    "uniqueItems",
    "contains",
    "minContains",
    "maxContains",
    "patternProperties",
    "propertyNames",
)
"""Keywords of a JSON schema that vLLM's default backend and hosted providers do not enforce."""
_MOST_BRACES: Final = 200
"""Places in prose at which an object is looked for."""
_FENCE: Final = re.compile(r"```[A-Za-z]*[ \t]*\n(.*?)```", re.DOTALL)


@dataclass(frozen=True)
class TypedAnswer(Generic[T]):
    """A model gave what was asked for."""

    value: T
    calls: tuple[Digest, ...]
    """Records of the calls, the last one gave the answer."""


@dataclass(frozen=True)
class FailedAnswer:
    """A model did not give what was asked for, in two tries."""

    reason: Reason
    """Reason of the last try."""
    detail: str
    """Description of what was wrong, for a reader; it quotes nothing that the model wrote but names of fields."""
    calls: tuple[Digest, ...]
    reasons: tuple[Reason, ...] = ()
    """Reason of each try."""

    @property
    def is_cut(self) -> bool:
        """Whether the answer was never finished, which says nothing about what it would have been."""
        return self.reason in ("truncated", "runaway", "repetitive", "empty", "too_long")


class MisreadAnswerError(Exception):
    """An answer is not of the type."""

    def __init__(self, reason: Reason, detail: str) -> None:
        super().__init__(detail)
        self.reason, self.detail = reason, detail


def answer_schema(answer_type: type[BaseModel]) -> dict[str, Any]:
    """JSON schema of a type as servers enforce it: every field is required and no other is allowed.

    Raises:
        SchemaRefusedError: The type needs what servers cannot enforce.
    """
    schema: dict[str, Any] = _strict(answer_type.model_json_schema())
    if problems := list(_unenforceable(schema, answer_type.__name__)):
        raise SchemaRefusedError(
            f"no server can enforce {answer_type.__name__}: {'; '.join(problems)}. Use plain fields, lists and "
            "choices, and check the rest when the answer is read."
        )
    return schema


def _strict(schema: Any) -> Any:
    if isinstance(schema, list):
        return [_strict(inner) for inner in schema]
    if not isinstance(schema, Mapping):
        return schema
    kept: dict[str, Any] = {}
    for name, inner in schema.items():
        if name in ("properties", "$defs"):
            kept[name] = {field: _strict(part) for field, part in inner.items()}
        elif name in ("enum", "const"):
            kept[name] = inner
        elif name not in ("default", "title"):
            kept[name] = _strict(inner)
    if "properties" in kept:
        kept |= {"required": list(kept["properties"]), "additionalProperties": False}
    return kept


def _unenforceable(schema: Any, path: str) -> Iterator[str]:
    if isinstance(schema, list):
        for place, inner in enumerate(schema):
            yield from _unenforceable(inner, f"{path}[{place}]")
    elif isinstance(schema, Mapping):
        yield from (f"{path} has {word}" for word in NOT_ENFORCEABLE if word in schema)
        if (
            schema.get("type") == "object"
            and schema.get("additionalProperties", False) is not False
        ):
            yield f"{path} has fields of any name"
        for name, inner in schema.items():
            if name in ("properties", "$defs"):
                for field, part in inner.items():
                    yield from _unenforceable(part, f"{path}.{field}")
            elif name not in ("enum", "const", "required"):
                yield from _unenforceable(inner, path)


def parse(completion: ModelCompletion, answer_type: type[T]) -> T:
    """Read a model's answer as a value of the wanted type.

    Raises:
        Misread: It is none of this type.
    """
    outcome: Outcome = outcome_of(completion)
    if outcome == "refused":
        raise MisreadAnswerError("refused", "the model or a filter of its server refused to answer")
    if outcome == "empty":
        raise MisreadAnswerError("empty", "the answer is empty")
    if completion.finish_reason == "length":
        values = {
            "runaway": "went on after it was complete",
            "repetitive": "repeats itself without end",
        }
        problem = values.get(outcome, "was cut at the limit of tokens before it was complete")
        raise MisreadAnswerError(
            "truncated" if outcome == "answered" else outcome, f"the answer {problem}"
        )
    if len(completion.content) > MOST_CHARACTERS:
        raise MisreadAnswerError(
            "too_long",
            f"the answer has {len(completion.content)} characters; at most {MOST_CHARACTERS}",
        )
    try:
        return answer_type.model_validate_json(json.dumps(_value(completion.content)), strict=True)
    except ValidationError as error:
        raise MisreadAnswerError("wrong_form", _problems(error)) from None
    except MisreadAnswerError as problem:
        if outcome == "repetitive":
            raise MisreadAnswerError(
                "repetitive", "the answer repeats itself without end"
            ) from None
        raise problem from None


def _value(content: str) -> Any:
    """The JSON of an answer: all that follows its thinking, the one block in fences, or the one object in prose."""
    text = after_thinking(content).strip()
    try:
        # A schema that is enforced lets line ends and other controls stand in texts as they are.
        value = _DECODER.decode(text) if _is_bare(text) else _one_object(text)
        # Halves of characters and numbers like 1e999 pass until here, but no record could hold them.
        json.dumps(value, ensure_ascii=False, allow_nan=False).encode()
    except json.JSONDecodeError as error:
        raise MisreadAnswerError(
            "not_json", f"not JSON: {error.msg} at character {error.pos}"
        ) from None
    except RecursionError:
        raise MisreadAnswerError(
            "not_json", "not JSON that can be read: nested too deeply"
        ) from None
    except UnicodeEncodeError:
        raise MisreadAnswerError(
            "not_json", "not JSON that can be kept: halves of characters in a text"
        ) from None
    except ValueError as error:
        raise MisreadAnswerError("not_json", f"not JSON: {str(error)[:_SHOWN]}") from None
    if found := next(filter(None, map(_UNPRINTABLE.search, _texts(value))), None):
        raise MisreadAnswerError(
            "unprintable",
            f"the text holds the character U+{ord(found[0]):04X}; leave such characters out",
        )
    return value


def _is_bare(text: str) -> bool:
    """Whether a text is JSON from its first character on, and no prose follows its first value."""
    if not text.startswith(("{", "[")):
        return False
    try:
        return not text[_DECODER.raw_decode(text)[1] :].strip()
    except ValueError:
        return True  # what is wrong with it is found when it is read


def _one_object(text: str) -> Any:
    """The one JSON object that stands in fences or in prose; a text with several is not an answer.

    Raises:
        ValueError: There is none, or there are several.
    """
    if len(blocks := _FENCE.findall(text)) == 1:
        return _DECODER.decode(blocks[0].strip())
    found: list[Any] = []
    at, n_tried = text.find("{"), 0
    while at >= 0 and len(found) < 2 and n_tried < _MOST_BRACES:
        n_tried += 1
        try:
            value, end = _DECODER.raw_decode(text, at)
            found.append(value)
        except json.JSONDecodeError:
            end = at + 1
        at = text.find("{", end)
    if len(found) == 1:
        return found[0]
    if found:
        raise ValueError("several JSON objects; give one")
    return _DECODER.decode(text)


def _texts(value: Any) -> Iterator[str]:
    """All text in a JSON value, names of fields too; without recursion, as it may be nested deeply."""
    rest = [value]
    while rest:
        match rest.pop():
            case str(text):
                yield text
            case dict(fields):
                yield from fields
                rest.extend(fields.values())
            case list(items):
                rest.extend(items)


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is no number of JSON")


def _no_twice(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) < len(pairs):
        raise ValueError("an object has one field twice")
    return value


def _problems(error: ValidationError) -> str:
    """State what does not fit, by field; what the model wrote there is not repeated."""
    found = error.errors(include_url=False, include_input=False, include_context=False)
    problems = []
    for problem in found[:_SHOWN_ERRORS]:
        place = ".".join(str(part) for part in problem["loc"])[:80] or "the whole"
        problems.append(f"{json.dumps(place)}: {problem['msg'][:_SHOWN]}")
    more = f"; and {len(found) - _SHOWN_ERRORS} more" if len(found) > _SHOWN_ERRORS else ""
    return "; ".join(problems) + more


_DECODER: Final = json.JSONDecoder(
    strict=False, parse_constant=_no_constant, object_pairs_hook=_no_twice
)


async def ask_for(
    answer_type: type[T], ask: Ask, request: ModelRequest
) -> TypedAnswer[T] | FailedAnswer:
    """An answer of a type, in at most two calls.

    Args:
        answer_type: What is wanted.
        ask: Makes a call, such as ``lambda request, number: caller.ask(request, role=..., position={"try": number})``.
        request: Without a schema; that of the type is added, for the server to enforce. The prompt holds it for a
            server that refuses to, and in the second try for one whose answer shows that it did not.

    Raises:
        LanguageModelError: A call could not be made.
    """
    schema = answer_schema(answer_type)
    with_schema = request.model_copy(update={"answer_schema": schema})
    calls: list[Digest] = []
    reasons: list[Reason] = []
    while True:
        called = await ask(with_schema, len(calls))
        calls.append(called.digest)
        try:
            return TypedAnswer(parse(called.completion, answer_type), tuple(calls))
        except MisreadAnswerError as problem:
            reasons.append(problem.reason)
            if len(calls) == 2 or problem.reason == "refused":
                return FailedAnswer(problem.reason, problem.detail, tuple(calls), tuple(reasons))
            with_schema = _once_more(with_schema, called.completion, problem, schema)


def _once_more(
    request: ModelRequest,
    completion: ModelCompletion,
    problem: MisreadAnswerError,
    schema: Mapping[str, Any],
) -> ModelRequest:
    """The second try: a repair of what can be read, otherwise the same question with more room."""
    if problem.reason in ("not_json", "wrong_form", "unprintable"):
        # An answer of another form shows that the schema is not enforced, unless the prompt held it already.
        form = "" if "response_format" in completion.withheld else f" {schema_in_words(schema)}"
        repair = (
            ChatMessage(role="assistant", content=_shortened(after_thinking(completion.content))),
            ChatMessage(
                role="user",
                content=f"That answer cannot be used. {problem.detail}. Answer again, as one JSON object that fits the "
                f"schema, and nothing else.{form}",
            ),
        )
        return request.model_copy(update={"messages": (*request.messages, *repair)})
    if problem.reason == "truncated":
        wider = request.sampling.model_copy(update={"max_tokens": 2 * request.sampling.max_tokens})
        return request.model_copy(update={"sampling": wider})
    # Position and so the seed differ; nothing else helps against emptiness and repetition.
    return request


def _shortened(content: str) -> str:
    """Enough of a wrong answer to repair it; a long one would be paid for again."""
    if len(content) <= _REPEATED:
        return content
    half = _REPEATED // 2
    return f"{content[:half]}\n[{len(content) - 2 * half} characters left out]\n{content[-half:]}"
