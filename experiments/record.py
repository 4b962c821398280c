"""What the trace keeps about experiments, beside the preregistration."""

from __future__ import annotations

from typing import Literal

from traces.digest import Digest
from traces.record import Record


class PairPower(Record):
    """How well a design tells two rivals apart, by simulated recovery."""

    kind: Literal["pair_power"] = "pair_power"
    version: Literal[1] = 1
    first: Digest
    second: Digest
    power_first: float
    """Share of simulations in which the first was true and was recovered."""
    power_second: float
    separable: bool


class DesignChosen(Record):
    """A design search ended."""

    kind: Literal["design_chosen"] = "design_chosen"
    version: Literal[1] = 1
    cycle: int
    number: int
    """Of the experiment within its cycle."""
    experiment: str
    design: Digest
    """Artifact that holds the design."""
    rivals: tuple[Digest, ...]
    n_candidates: int
    """Trials that were looked at."""
    n_trials: int
    repetitions: int
    n_participants: int
    n_random: int
    archive: str
    information: tuple[float, ...]
    """``(n_trials,)`` expected information in nats when each trial was chosen; 0 for random ones."""
    powers: tuple[PairPower, ...]
    accepted: bool
    reason: str


class Recruited(Record):
    """People were asked."""

    kind: Literal["recruited"] = "recruited"
    version: Literal[1] = 1
    experiment: str
    source: str
    n_participants: int


class TrialsCollected(Record):
    """Responses to one preregistered design have arrived."""

    kind: Literal["trials_collected"] = "trials_collected"
    version: Literal[1] = 1
    experiment: str
    preregistration: Digest
    """The predictions that were frozen before collection."""
    trials: Digest
    """Artifact that holds the trial table."""
    n_participants: int
    n_responses: int
    n_people: int
    pooled: bool
    ceiling: float | None
    """Noise ceiling in nats per choice; None where no trial is repeated."""
    ceiling_error: float | None


class SealedOpened(Record):
    """Answers that were hidden from the loop were opened for the verdict."""

    kind: Literal["sealed_opened"] = "sealed_opened"
    version: Literal[1] = 1
    experiments: tuple[str, ...]
    trials: tuple[Digest, ...]
    """Artifacts that hold the trial tables."""
    n_trials: int
    n_responses: int
