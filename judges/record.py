"""What the trace keeps about where judges come from, what they are asked, and how advocates search."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from lakatos.traces.digest import Digest, Fingerprint
from lakatos.traces.record import Record

Part = Literal["dev", "confirm", "vault"]
Purpose = Literal["breed", "gate", "report"]
SHARES: Mapping[Part, float] = {"dev": 0.3, "confirm": 0.5, "vault": 0.2}
"""How an anchor set is divided."""


class AnchorTaken(Record):
    """The campaign took an anchor set, or added hard cases to its dev part."""

    kind: Literal["anchor_taken"] = "anchor_taken"
    version: Literal[1] = 1
    anchor: Digest
    """Artifact that holds the anchor set."""
    set: Fingerprint
    """Version of the whole set."""
    confirm: Fingerprint
    """Version of the confirm part."""
    n_items: dict[str, int]
    """Number of items by part; hard cases are counted separately."""
    n_left_out: int
    """Items left out because they share a problem or participants with the campaign."""
    source: str
    """Origin of the anchor set, in words."""


class JudgeBred(Record):
    """A judge was made on the dev part: a program or a rule's table, as data."""

    kind: Literal["judge_bred"] = "judge_bred"
    version: Literal[1] = 1
    slot: str
    epoch: int
    judge: Fingerprint
    """Version of the judge."""
    made: Digest
    """Artifact from which the judge can be restored."""
    parent: Fingerprint | None
    """Version of the incumbent from which it was bred; None for the first of a slot."""
    n_dev: int
    """Number of items on which it was made."""


class PairDescribed(Record):
    """Description of a candidate and the incumbent for judges, derived from responses alone."""

    kind: Literal["pair_described"] = "pair_described"
    version: Literal[1] = 1
    candidate: Digest
    incumbent: Digest
    cycle: int
    submission: Digest
    """Artifact with the submission."""


class StrategyChosen(Record):
    """Only in journals of earlier versions: how the search of a cycle was varied."""

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


class PairRead(Record):
    """Only in journals of earlier versions: a language model compared a candidate with the incumbent."""

    kind: Literal["pair_read"] = "pair_read"
    version: Literal[1] = 1
    candidate: Digest
    incumbent: Digest
    cycle: int
    levels: dict[str, int]
    """By dimension, from all readings; 0 where they contradict each other."""
    evidence: dict[str, str]
    """Words of a reading that has this level."""
    contradicted: tuple[str, ...]
    """Dimensions on which the order decided, or the repeats had no majority."""
    n_readings: int
    """That could be read, of both orders."""
    wording: Fingerprint | None = None
    """Only in records of earlier versions, which had other rubrics than the laboratory's."""


class PairPreferred(Record):
    """Only in journals of earlier versions: a person said which of two theories is more plausible."""

    kind: Literal["pair_preferred"] = "pair_preferred"
    version: Literal[1] = 1
    run: str
    candidate: Digest
    incumbent: Digest
    item: Digest
    """Artifact with the anchor item; its label is whether the candidate was preferred."""
    first: Literal["candidate", "incumbent"]
    """Which of the two was shown first; decided by lot."""


class LabelsExposed(Record):
    """Labels of a part of the anchor set were read."""

    kind: Literal["anchor_exposed"] = "anchor_exposed"
    version: Literal[1] = 1
    anchor: Fingerprint
    """Version of the part."""
    part: Part
    purpose: Purpose
    judges: tuple[Fingerprint, ...]
    """Versions of the judges that were compared with the labels."""
    n_items: int
