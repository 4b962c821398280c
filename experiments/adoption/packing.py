"""Adopted answers as one artifact of a run."""

from __future__ import annotations

import json
from collections.abc import Sequence

from lakatos.experiments.task import Trials
from lakatos.traces.digest import Digest, canonical_json, digest_bytes


def pack_answers(trials: Sequence[Trials]) -> bytes:
    """Experiments as one artifact; `unpack_answers` reads it."""
    return canonical_json([item.to_json() for item in trials])


def unpack_answers(data: bytes) -> tuple[Trials, ...]:
    """Inverse of `pack_answers`."""
    return tuple(Trials.from_json(value) for value in json.loads(data))


def answers_digest(trials: Sequence[Trials]) -> Digest:
    """Name of the artifact that holds these experiments."""
    return digest_bytes(pack_answers(trials))
