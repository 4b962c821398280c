"""Records of where judges come from, what they decide on, and how advocates search."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from lakatos.traces.digest import Digest, Fingerprint
from lakatos.traces.record import Record

Part = Literal["dev", "confirm", "vault"]
Purpose = Literal["breed", "gate", "report"]
SHARES: Mapping[Part, float] = {"dev": 0.3, "confirm": 0.5, "vault": 0.2}
"""Shares into which an anchor set is divided."""


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
