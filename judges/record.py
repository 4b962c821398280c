"""What the trace keeps about where judges come from, what they are asked, and how advocates search."""

from __future__ import annotations

from typing import Literal

from lakatos.traces.digest import Digest, Fingerprint
from lakatos.traces.record import Record


class AnchorTaken(Record):
    """The campaign took an anchor set, or took hard cases into the dev part of the one it has."""

    kind: Literal["anchor_taken"] = "anchor_taken"
    version: Literal[1] = 1
    anchor: Digest
    """Artifact that holds the anchor set."""
    set: Fingerprint
    """Version of the whole set."""
    confirm: Fingerprint
    """Version of the confirm part."""
    n_items: dict[str, int]
    """By part; hard cases by themselves."""
    n_left_out: int
    """Items that share a problem or people with the campaign."""
    source: str
    """Where it comes from, in words."""


class JudgeBred(Record):
    """A judge was made on the dev part: a program or a rule's table, as data."""

    kind: Literal["judge_bred"] = "judge_bred"
    version: Literal[1] = 1
    slot: str
    epoch: int
    judge: Fingerprint
    """Version of the judge."""
    made: Digest
    """Artifact from which the judge is put together again."""
    parent: Fingerprint | None
    """Version of the incumbent it was bred from; None for the first of a slot."""
    n_dev: int
    """Items it was made on."""


class PairDescribed(Record):
    """What judges are shown of a candidate and the incumbent; it rests on answers alone, and outlives all judges."""

    kind: Literal["pair_described"] = "pair_described"
    version: Literal[1] = 1
    candidate: Digest
    incumbent: Digest
    cycle: int
    submission: Digest
    """Artifact."""


class StrategyChosen(Record):
    """How the advocate that composes searches in a cycle."""

    kind: Literal["strategy_chosen"] = "strategy_chosen"
    version: Literal[1] = 1
    cycle: int
    strategy: Fingerprint
    """Version."""
    preferences: dict[str, float]
    prompt: str
    exploration: float
    parents: tuple[Fingerprint, ...]
    """Strategies that it was bred from."""
    credits: dict[str, float]
    """Expected success of every strategy that there was to choose from, by version."""
    n_outcomes: int
    """Outcomes behind them."""
