"""Rules by which a state takes records, one for each type, in tables that packages keep beside their records."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, TypeAlias

from lakatos.traces.record import Record
from lakatos.traces.step import Recorded

StateRule: TypeAlias = Callable[[Any, Recorded[Any]], Any]
"""The state after a record; the one before is not changed."""
StateRules: TypeAlias = Mapping[type[Record], StateRule]


def keep_newest(field: str) -> StateRule:
    """A rule: the field holds the newest record."""
    return lambda state, item: replace(state, **{field: item})


def keep_all(field: str) -> StateRule:
    """A rule: the field holds all records, in the order in which they came."""
    return lambda state, item: replace(state, **{field: (*getattr(state, field), item)})


def keep_by(field: str, *keys: str) -> StateRule:
    """A rule: the field holds the newest record for each value of its ``keys``."""

    def keep(state: Any, item: Recorded[Any]) -> Any:
        values = tuple(getattr(item.record, key) for key in keys)
        place = values if len(keys) > 1 else values[0]
        return replace(state, **{field: {**getattr(state, field), place: item}})

    return keep


def keep_by_digest(field: str) -> StateRule:
    """A rule: the field holds each record under its own digest."""
    return lambda state, item: replace(
        state, **{field: {**getattr(state, field), item.digest: item}}
    )


def keep_each(field: str, key: str) -> StateRule:
    """A rule: the field holds all records for each value of ``key``; one that is held already is not repeated."""

    def keep(state: Any, item: Recorded[Any]) -> Any:
        held = getattr(state, field)
        place = getattr(item.record, key)
        own = held.get(place, ())
        if item in own:
            return state
        return replace(state, **{field: {**held, place: (*own, item)}})

    return keep
