"""Records: the typed, frozen values that a journal is made of."""

import types as builtin_types
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Annotated, Any, Final, Literal, Union, get_args, get_origin

from pydantic import BaseModel, ConfigDict, ValidationError

from lakatos.traces.digest import STORED, Digest, Fingerprint, canonical_json, is_digest
from lakatos.traces.errors import RecordError


class Record(BaseModel):
    """Something that happened, as it is written down.

    Each subclass adds ``kind: Literal["..."]`` and ``version: Literal[n]``, both with that value as the default.
    """

    # NaN and infinities would otherwise become null without a word; kept, canonical JSON refuses them.
    model_config = ConfigDict(frozen=True, extra="forbid", ser_json_inf_nan="constants")


class Tombstone(Record):
    """A record no longer holds, nor does anything derived from it. Erasure is final."""

    kind: Literal["tombstone"] = "tombstone"
    version: Literal[1] = 1
    target: Digest
    """The record that no longer holds."""
    reason: str
    """Reason in words for a reader of the audit."""
    decision: Digest | None = None
    """The record of the decision behind it, if there is one."""


class Erased(Record):
    """The body of a record was erased, with the responses that it was derived from."""

    kind: Literal["erased"] = "erased"
    version: Literal[1] = 1
    was: str
    """Kind of the record; empty where the row of the journal was erased with it."""


class RowsErased(Record):
    """Rows of the journal whose content an erasure takes: what they were called and when they were written, too."""

    kind: Literal["rows_erased"] = "rows_erased"
    version: Literal[1] = 1
    rows: tuple[tuple[int, int], ...]
    """First and last number of rows that follow one another."""
    digest: Fingerprint
    """Fingerprint of their place in the chain, which the erasure leaves."""


RecordTypes = Mapping[str, type[Record]]
"""Class that reads each kind of record. Given by the caller; there is no registry."""

OWN_TYPES: Final[RecordTypes] = {
    "tombstone": Tombstone,
    "erased": Erased,
    "rows_erased": RowsErased,
}
"""Records of this package, which every trace understands."""


@cache
def kind_of(record_type: type[Record]) -> str:
    """The kind that records of this class carry.

    Raises:
        RecordError: The class declares no ``kind`` with a default, or no ``version``.
    """
    field = record_type.model_fields.get("kind")
    if (
        field is None
        or not isinstance(field.default, str)
        or "version" not in record_type.model_fields
    ):
        raise RecordError(
            f"{record_type.__name__} cannot be recorded: it has no kind and version. "
            'Declare `kind: Literal["..."] = "..."` and `version: Literal[1] = 1`.'
        )
    if unordered := [
        name for name, part in record_type.model_fields.items() if _has_set(part.annotation)
    ]:
        raise RecordError(
            f"{record_type.__name__} cannot be recorded: sets have no order, so equal records would have different "
            f"digests. Use a sorted tuple for {', '.join(unordered)}."
        )
    return field.default


def _has_set(annotation: Any, seen: frozenset[type[BaseModel]] = frozenset()) -> bool:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        parts = (
            []
            if annotation in seen
            else [part.annotation for part in annotation.model_fields.values()]
        )
        return any(_has_set(part, seen | {annotation}) for part in parts)
    if annotation in (set, frozenset) or get_origin(annotation) in (set, frozenset):
        return True
    return any(_has_set(part, seen) for part in get_args(annotation))


def body_of(record: Record) -> dict[str, Any]:
    """The JSON form of a record, checked to read back as the same record.

    Raises:
        RecordError: The record holds something that JSON does not keep, such as NaN or an infinity.
    """
    body = record.model_dump(mode="json")
    again = parse_record(kind_of(type(record)), body, {kind_of(type(record)): type(record)})
    if again != record:
        raise RecordError(
            f"a {kind_of(type(record))!r} record does not read back from JSON as it was written. "
            "Use types that JSON keeps (text, numbers, tuples, nested records) for its fields."
        )
    return body


def parse_record(kind: str, body: Mapping[str, Any], types: RecordTypes) -> Record:
    """Read the body of an event as the record it is.

    Raises:
        RecordError: The kind is not in ``types``, or the body does not fit its class.
    """
    record_type = types.get(kind)
    if record_type is None:
        known = ", ".join(sorted(types)) or "none"
        raise RecordError(
            f"no record type reads the kind {kind!r} (known: {known}). If another version of the laboratory wrote it, "
            "read it with that version (`campaign_started` names it); else add its class to the table."
        )
    try:
        return record_type.model_validate_json(canonical_json(dict(body)))
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = ".".join(str(part) for part in first["loc"]) or "the body"
        raise RecordError(
            f"a {kind!r} record cannot be read as {record_type.__name__}: {place}: {first['msg']}. "
            "Read it with the version of the class that wrote it."
        ) from error


def digests_in(record: BaseModel) -> Iterator[Digest]:
    """Every digest in the fields of a record that are annotated `Digest`, at any depth."""
    for name, field in type(record).model_fields.items():
        yield from _digests(field.annotation, tuple(field.metadata), getattr(record, name))


def _digests(annotation: Any, metadata: tuple[Any, ...], value: Any) -> Iterator[Digest]:
    if isinstance(value, BaseModel):
        yield from digests_in(value)
    elif STORED in metadata:
        if is_digest(value):
            yield value
    elif get_origin(annotation) is Annotated:
        yield from _digests(annotation.__origin__, annotation.__metadata__, value)
    elif get_origin(annotation) in (Union, builtin_types.UnionType):
        # A value can fit several members of a union; naming it once is enough.
        yield from {
            digest: None
            for member in get_args(annotation)
            for digest in _digests(member, (), value)
        }
    elif isinstance(value, Mapping):
        key_type, value_type = (*get_args(annotation), Any, Any)[:2]
        for key, inner in value.items():
            yield from _digests(key_type, (), key)
            yield from _digests(value_type, (), inner)
    elif isinstance(value, list | tuple | set | frozenset):
        for member, inner in _annotated_items(get_args(annotation) or (Any,), value):
            yield from _digests(member, (), inner)


def _annotated_items(members: tuple[Any, ...], value: Any) -> Iterator[tuple[Any, Any]]:
    """The items of a collection, each with its annotation; a tuple may have one for each place."""
    if isinstance(value, tuple) and len(members) == len(value) and Ellipsis not in members:
        return zip(members, value, strict=True)
    return ((members[0], inner) for inner in value)
