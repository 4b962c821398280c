"""State from a journal, and what must be equal between two journals of one run."""

from collections.abc import Callable, Iterable
from functools import reduce
from typing import TypeVar

from lakatos.traces.digest import Digest, canonical_json, digest_bytes
from lakatos.traces.journal import INTENT, Event

State = TypeVar("State")
NO_RESULT = frozenset({INTENT, "analyses_noted", "erased", "rows_erased"})
"""Kinds of events that are not results of a run: intents, what a home knew of other runs, and what was erased."""


def fold(
    events: Iterable[Event], initial: State, reducer: Callable[[State, Event], State]
) -> State:
    """The state after all events; ``reducer`` returns the new state and changes nothing."""
    return reduce(reducer, events, initial)


def canonical_form(events: Iterable[Event]) -> bytes:
    """Results ordered by step key, without times, attempts, numbers and hashes: one line of JSON for each.

    A run that crashed and resumed has the same canonical form as one that did not.
    """
    results = sorted(
        (event for event in events if event.kind not in NO_RESULT), key=lambda event: event.key
    )
    return b"\n".join(
        canonical_json(
            {
                "key": event.key,
                "name": event.name,
                "position": dict(event.position),
                "kind": event.kind,
                "inputs": event.inputs,
                "body": event.body,
            }
        )
        for event in results
    )


def canonical_digest(events: Iterable[Event]) -> Digest:
    """Digest of the canonical form."""
    return digest_bytes(canonical_form(events))
