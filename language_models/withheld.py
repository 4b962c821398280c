"""Detection of the fields of a request that a server refuses, from the text of its error.

Servers of the OpenAI protocol differ in the fields that they accept, and answer 400 or 422 to a request with any other.
A field is left out only where the error says that the field, or any value of it but the default, is not supported: a
value out of range is a mistake of the study and stays an error.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Mapping
from typing import Any, Final, Literal, get_args

OptionalField = Literal[
    "temperature",
    "top_p",
    "seed",
    "limits",
    "response_format",
    "tool_choice",
    "strict",
    "stream",
    "stream_options",
]
"""Fields without which a request asks for the same answer. ``strict`` stands in the description of each tool;
``limits`` are the keywords of an answer's schema that limit lengths and values, which are checked anyway."""
LIMIT_WORDS: Final = (
    "minLength",
    "maxLength",
    "minItems",
    "maxItems",
    "minimum",
    "maximum",
    "pattern",
)
"""Keywords of a schema that ``limits`` stands for."""
LIMIT_FIELDS: Final = ("max_tokens", "max_completion_tokens")
"""Both names of the most tokens of an answer. One of them is always sent: the budget rests on it."""

_UNSUPPORTED: Final = re.compile(
    r"unsupported|(?:not|n't) (?:be )?(?:supported|support|permitted|allowed|accepted|available)|unavailable"
    r"|deprecated|unknown (?:parameter|name|field|argument)|unrecogni[sz]ed|extra_forbidden|unexpected keyword"
    r"|cannot both be|only the default|may only be set|or unset|not applicable|invalid for this model"
    r"|(?:invalid|not a valid) (?:parameter|field|argument)",
    re.IGNORECASE,
)
_OUT_OF_RANGE: Final = re.compile(
    r"must be (?:between|at (?:least|most)|less|greater|[<>]|in the range)|out of range",
    re.IGNORECASE,
)
_ONE_OF_TWO: Final = re.compile(r"\bboth\b", re.IGNORECASE)
_SCHEMA: Final = ("schema", "grammar", "response_format", "structured")
_SENTENCE: Final = re.compile(r"(?<=[.;])\s+|\n|\\n")
_PLAIN_WORDS: Final = ("stream", "strict")
"""Fields whose names are English words; outside quotes an error may mean the word."""


def refused_fields(error: str, parameter: str | None, body: Mapping[str, Any]) -> tuple[str, ...]:
    """Fields of a request that its server refuses; empty where the error is about something else.

    Args:
        error: Text of the error, with its code.
        parameter: The field that the server names as ``param``, where it does.
        body: What was sent.
    """
    # A model that must call a tool, or may call none, cannot be asked without that.
    kept = "tool_choice" if body.get("tool_choice") != "auto" else ""
    sent = [name for name in optional_fields(body) if name != kept]
    fields = [
        part
        for part in _SENTENCE.split(error)
        if _UNSUPPORTED.search(part) and not _OUT_OF_RANGE.search(part)
    ]
    if "limits" in sent and any(re.search(rf"\b{word}\b", error) for word in LIMIT_WORDS):
        return ("limits",)
    if fields:
        named = _root_of(parameter, sent)
        found = [named] if named else [item for item in sent if _names(fields, item)]
        if len(found) > 1 and any(map(_ONE_OF_TWO.search, fields)):
            # Of two that exclude each other, the first in the order of `OptionalField` is kept.
            found = found[1:]
        if found:
            return tuple(found)
    if any(sign in error.lower() for sign in _SCHEMA):
        return _unenforced(error, sent)
    return ()


def optional_fields(body: Mapping[str, Any]) -> list[str]:
    """Fields of a request that can be left out or renamed, in the order of `OptionalField`."""
    found = [name for name in (*get_args(OptionalField), *LIMIT_FIELDS) if name in body]
    if any("strict" in tool["function"] for tool in body.get("tools") or ()):
        found.append("strict")
    if (
        "response_format" in body
        and _without_limits(body["response_format"]) != body["response_format"]
    ):
        found.insert(found.index("response_format"), "limits")
    return found


def without(body: Mapping[str, Any], fields: Collection[str]) -> dict[str, Any]:
    """The same request without optional fields, its most tokens under the other name where the first is refused."""
    kept = {
        name: value for name, value in body.items() if name not in fields or name in LIMIT_FIELDS
    }
    if "strict" in fields and "tools" in kept:
        kept["tools"] = [
            tool | {"function": {k: v for k, v in tool["function"].items() if k != "strict"}}
            for tool in kept["tools"]
        ]
    if "limits" in fields and "response_format" in kept:
        kept["response_format"] = _without_limits(kept["response_format"])
    refused = [name for name in LIMIT_FIELDS if name in kept and name in fields]
    for name in refused:
        kept[other_limit(name)] = kept.pop(name)
    return kept


def in_words(messages: list[dict[str, Any]], schema: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Messages whose first one also asks for JSON that fits a schema, for servers that do not enforce it."""
    text = f"Answer with one JSON object and nothing else. {schema_in_words(schema)}"
    first, *others = messages
    if first["role"] not in ("system", "user"):
        return [{"role": "system", "content": text}, *messages]
    return [first | {"content": f"{first['content']}\n\n{text}"}, *others]


def schema_in_words(schema: Mapping[str, Any]) -> str:
    """The sentence that states which form an answer must have, with an example of the form."""
    example = json.dumps(example_of(schema, schema))
    form = f"It must fit this JSON schema:\n{json.dumps(schema)}"
    return f"{form}\nAn example of the form, not of the content:\n{example}"


def example_of(schema: Mapping[str, Any], root: Mapping[str, Any]) -> Any:
    """A small value that a schema describes; texts that must match a pattern are those of the laboratory's answers.

    Args:
        schema: Part of ``root``.
        root: The whole schema, which holds the definitions.
    """
    if "$ref" in schema:
        schema = root["$defs"][schema["$ref"].rpartition("/")[2]]
    if "const" in schema or "enum" in schema:
        return schema.get("const", (schema.get("enum") or [""])[0])
    if "anyOf" in schema:
        return example_of(schema["anyOf"][0], root)
    match schema.get("type"):
        case "object":
            parts = schema.get("properties", {})
            return {name: example_of(part, root) for name, part in parts.items()}
        case "array":
            return [example_of(schema["items"], root)] if "items" in schema else []
        case "string":
            return _text_like(schema.get("pattern", ""))
        case "boolean":
            return False
        case "integer" | "number":
            return schema.get("minimum", 1)
    return None


def _text_like(pattern: str) -> str:
    """A text that matches a pattern of the laboratory's answers: a citation, or a number as text."""
    return next((text for text in ("...", "#3fa91c02", "0.5") if re.search(pattern, text)), "...")


def _without_limits(part: Any) -> Any:
    """A schema without the keywords of `LIMIT_WORDS`; names of fields are kept whatever they are."""
    if isinstance(part, list):
        return [_without_limits(item) for item in part]
    if not isinstance(part, Mapping):
        return part
    return {
        name: {field: _without_limits(inner) for field, inner in value.items()}
        if name in ("properties", "$defs")
        else _without_limits(value)
        for name, value in part.items()
        if name not in LIMIT_WORDS
    }


def other_limit(name: str) -> str:
    """The other name of the most tokens of an answer."""
    return LIMIT_FIELDS[1 - LIMIT_FIELDS.index(name)]


def _root_of(parameter: str | None, sent: list[str]) -> str:
    """The field that a server's ``param`` means, such as ``tools[0].function.strict``; empty for none that was sent."""
    parts = re.split(r"[.\[\]]+", parameter or "")
    return next((name for name in sent if name in (parts[0], parts[-1])), "")


def _names(sentences: list[str], field: str) -> bool:
    """Whether one of the sentences is about a field."""
    quoted = rf"[\"'`.]{field}\\*[\"'`]|:\s*{field}\b"
    plain = rf"(?<![\w.]){field}(?!\w)"
    pattern = quoted if field in _PLAIN_WORDS else plain
    return any(re.search(pattern, text) for text in sentences)


def _unenforced(error: str, sent: list[str]) -> tuple[str, ...]:
    """Find what made a server look at a schema that it cannot enforce: that of the answer, or those of the tools."""
    order = (
        ("strict", "limits", "response_format")
        if "function" in error.lower()
        else ("limits", "response_format", "strict")
    )
    return tuple(name for name in order if name in sent)[:1]
