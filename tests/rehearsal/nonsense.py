"""Answers without a model: words, instances of JSON schemas, tokens and their log probabilities, all from an rng."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import numpy as np

from lakatos.language_models.structured import NOT_ENFORCEABLE

_TEXT: Final = (
    "people weigh the larger outcome more than its chance when both options are close and the loss is small but a gain "
    "delayed by days seems worth less so they choose what they saw last or what was best on average across trials"
)
WORDS: Final = _TEXT.split()

_TOKEN = re.compile(r"\s*(?:[A-Za-z]{1,4}|\d|[^A-Za-z\d\s])|\s+")
_PIECE = re.compile(r"(?:\[([^\]]+)\]|\\?(.))(?:\{(\d+)(?:,(\d+))?\})?")
_OPTIONAL = re.compile(r"(?:\([^()]*\)|\[[^\]]+\]|\\?[^\\])\?")
_MOST_ITEMS: Final = 3
_RAW: Final = 0.1
"""Probability that a text holds a control character, which a grammar lets stand as it is."""
_ESCAPED: Final = re.compile(r"\\([ntr])")


class UnsupportedSchemaError(Exception):
    """The schema has a keyword that cannot be enforced."""


def tokens_of(text: str) -> list[str]:
    """Pieces of up to four letters; joined they are the text."""
    return _TOKEN.findall(text)


def sentence(rng: np.random.Generator, n_words: int) -> str:
    """Write words of a fixed list in random order."""
    return " ".join(rng.choice(WORDS, size=n_words))


def check_supported(schema: Any, path: str = "$") -> None:
    """Refuse what vLLM's default backend refuses.

    Raises:
        UnsupportedSchemaError: A keyword cannot be enforced, or this is no schema.
    """
    if isinstance(schema, Mapping):
        if found := [word for word in NOT_ENFORCEABLE if word in schema]:
            raise UnsupportedSchemaError(f"{path}: {', '.join(found)}")
        for name, inner in schema.items():
            # Below `properties` stand names of fields, which may be called anything.
            parts = (
                inner.items()
                if name in ("properties", "$defs") and isinstance(inner, Mapping)
                else [("", inner)]
            )
            for part, value in parts:
                check_supported(value, f"{path}.{name}" + (f".{part}" if part else ""))
    elif isinstance(schema, Sequence) and not isinstance(schema, str):
        for place, inner in enumerate(schema):
            check_supported(inner, f"{path}[{place}]")


def instance_of(
    schema: Mapping[str, Any],
    rng: np.random.Generator,
    root: Mapping[str, Any] | None = None,
    depth: int = 0,
) -> Any:
    """A random value that the schema allows; required fields always, others half of the time."""
    root = schema if root is None else root
    if "$ref" in schema:
        target: Any = root
        for part in str(schema["$ref"]).removeprefix("#/").split("/"):
            target = target[part]
        return instance_of(target, rng, root, depth + 1)
    if "const" in schema:
        return schema["const"]
    if "enum" in schema:
        return schema["enum"][int(rng.integers(len(schema["enum"])))]
    for word in ("anyOf", "oneOf"):
        if word in schema:
            offered = schema[word]
            # Deep down the last one, which is null in what pydantic writes for optional types: recursion ends.
            place = len(offered) - 1 if depth > 6 else int(rng.integers(len(offered)))
            return instance_of(offered[place], rng, root, depth + 1)
    if "allOf" in schema:
        merged: dict[str, Any] = {}
        for part in schema["allOf"]:
            merged |= part
        return instance_of(merged, rng, root, depth + 1)
    kind = schema.get("type", "object" if "properties" in schema else "string")
    if isinstance(kind, list):
        kind = kind[int(rng.integers(len(kind)))]
    match kind:
        case "object":
            return _object_of(schema, rng, root, depth)
        case "array":
            return _array_of(schema, rng, root, depth)
        case "integer":
            return _whole_number_of(schema, rng)
        case "number":
            return _number_of(schema, rng)
        case "boolean":
            return bool(rng.integers(2))
        case "null":
            return None
    return _text_of(schema, rng)


def _object_of(
    schema: Mapping[str, Any], rng: np.random.Generator, root: Mapping[str, Any], depth: int
) -> dict[str, Any]:
    """Required fields always, others half of the time, and none of them deep down."""
    required = set(schema.get("required", ()))
    found = {}
    for name, inner in schema.get("properties", {}).items():
        if name in required or (depth < 6 and rng.random() < 0.5):
            found[name] = instance_of(inner, rng, root, depth + 1)
    return found


def _array_of(
    schema: Mapping[str, Any], rng: np.random.Generator, root: Mapping[str, Any], depth: int
) -> list[Any]:
    """The fixed items, and some free ones."""
    fixed = schema.get("prefixItems", ())
    least = max(schema.get("minItems", 0), len(fixed))
    usual = len(fixed) + (0 if depth > 6 else _MOST_ITEMS)
    most = schema.get("maxItems", max(least, usual))
    size = int(rng.integers(least, most + 1)) if most >= least else least
    inner = schema.get("items", {"type": "string"})
    free = [inner] * (size - len(fixed)) if isinstance(inner, Mapping) else []
    return [instance_of(part, rng, root, depth + 1) for part in (*fixed, *free)]


def _whole_number_of(schema: Mapping[str, Any], rng: np.random.Generator) -> int:
    """A whole number between the ends of a range."""
    least = int(schema.get("minimum", schema.get("exclusiveMinimum", -1) + 1))
    beyond = schema.get("exclusiveMaximum", max(least, 100) + 1)
    most = int(schema.get("maximum", beyond - 1))
    return int(rng.integers(least, most + 1))


def _number_of(schema: Mapping[str, Any], rng: np.random.Generator) -> float:
    """A number well inside a range."""
    low = float(schema.get("minimum", schema.get("exclusiveMinimum", 0.0)))
    high = float(schema.get("maximum", schema.get("exclusiveMaximum", low + 1.0)))
    share = float(rng.uniform(0.01, 0.99))
    return round(low + (high - low) * share, 6)


def _text_of(schema: Mapping[str, Any], rng: np.random.Generator) -> str:
    """A text of a pattern, or a sentence of some words in which a control character may stand."""
    if "pattern" in schema:
        return matching(str(schema["pattern"]), rng)
    text = sentence(rng, int(rng.integers(1, 9)))
    if "maxLength" in schema:
        text = text[: schema["maxLength"]]
    if rng.random() < _RAW:
        control = str(rng.choice(list("\n\t\r")))
        text = text.replace(" ", control, 1)
    return text.ljust(schema.get("minLength", 0), ".")


def matching(pattern: str, rng: np.random.Generator) -> str:
    """A random text for a pattern made of characters, classes of them such as ``[0-9a-f]``, and counts ``{8,64}``.

    What may be there or not (``-?``, ``(...)?``) is left out.
    """
    text, plain = "", _OPTIONAL.sub("", pattern.removeprefix("^").removesuffix("$"))
    for inside, single, least, most in _PIECE.findall(plain):
        choices = [single]
        if inside:
            ranges = re.findall(r"(.)-(.)|(.)", inside)
            choices = [
                chr(code)
                for low, high, one in ranges
                for code in range(ord(low or one), ord(high or one) + 1)
            ]
        size = int(rng.integers(int(least or 1), int(most or least or 1) + 1))
        text += "".join(rng.choice(choices, size=size))
    return text


def wrong_instance(schema: Mapping[str, Any], rng: np.random.Generator) -> Any:
    """JSON that the schema does not allow, as a model writes it: a field lost, renamed or of another type."""
    value = instance_of(schema, rng)
    if not isinstance(value, dict) or not value:
        return {"answer": value}
    name = str(rng.choice(sorted(value)))
    match int(rng.integers(4)):
        case 0:
            return {other: inner for other, inner in value.items() if other != name} | {
                "unasked": True
            }
        case 1:
            return {
                (f"{other}_" if other == name else other): inner for other, inner in value.items()
            }
        case 2:
            return value | {name: {"value": value[name]}}
        case _:
            return [value]


def log_probabilities(
    tokens: Sequence[str], rng: np.random.Generator, n_alternatives: int
) -> Iterator[dict[str, Any]]:
    """Entries of ``logprobs.content``: the token that was drawn, then the likeliest ones of the others."""
    for token in tokens:
        weights = rng.dirichlet(np.full(n_alternatives + 4, 0.4))
        drawn = int(rng.choice(len(weights), p=weights))
        logs = np.log(np.maximum(weights, 1e-9))
        others = [str(word) for word in rng.choice(WORDS, size=n_alternatives)]
        likeliest = np.sort(np.delete(logs, drawn))[::-1]
        own = _entry(token, logs[drawn])
        top = [
            own,
            *(_entry(f" {word}", log) for word, log in zip(others, likeliest, strict=False)),
        ]
        yield own | {"top_logprobs": top[:n_alternatives]}


def _entry(token: str, log: float) -> dict[str, Any]:
    return {"token": token, "logprob": float(log), "bytes": list(token.encode())}


def as_text(value: Any) -> str:
    """JSON as the server's grammar lets it be written: control characters in texts stand as they are."""
    return _ESCAPED.sub(
        lambda found: json.loads(f'"{found[0]}"'), json.dumps(value, ensure_ascii=False)
    )
