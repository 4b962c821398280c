"""Records of challenges, and the rules of a gate that a study can choose."""

from __future__ import annotations

from typing import Any, Final, Literal

from pydantic import BaseModel, ConfigDict, model_validator

from lakatos.traces.digest import Fingerprint
from lakatos.traces.record import Record

Outcome = Literal["replace", "keep", "underpowered", "error"]
Test = Literal["loss", "exact"]


class GateSettings(BaseModel):
    """Rules of a gate, fixed before any challenge."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    test: Test = "exact"
    """Measure of gain: right answers, or Brier score (``loss``). Right answers to items that share nothing are tested
    exactly; everything else by betting on units, the items that share a problem or a person."""
    floor: float = 0.02
    """Least observed gain of an item: share of right answers, or Brier score."""
    target: float = 0.1
    """Gain that a test must be able to detect, in the same unit; with the test ``loss``, the gain of a challenger that
    is calibrated is enough where that is larger."""
    power: float = 0.8
    """Probability with which a test must detect it."""
    margin: float = 0.05
    """Share of right answers that the challenger may lose in a protected stratum."""
    strata: tuple[str, ...] = ("origin",)
    """Names of strata whose values are protected, each."""
    most_excluded: float = 0.02
    """Share of items without an answer from either judge beyond which nothing is decided."""


GATES: Final[dict[Test, GateSettings]] = {
    "loss": GateSettings(test="loss", floor=0.001, target=0.02),
    "exact": GateSettings(),
}
"""All that a study can choose; judges that are near each other in accuracy still differ in their Brier score."""


class ChallengeRecord(Record):
    """What challenges have in common: those of earlier versions were decided by tests that do not hold their level."""

    @model_validator(mode="before")
    @classmethod
    def _held_its_level(cls, value: Any) -> Any:
        if isinstance(value, dict) and value.get("version") == 1:
            raise ValueError(
                "this challenge was decided by a test that does not hold its level, and does not count any more; look "
                "at the run with the version that began it, or begin a new study"
            )
        return value


class GateRegistered(ChallengeRecord):
    """A challenge was registered before any label was read."""

    kind: Literal["gate_registered"] = "gate_registered"
    version: Literal[2] = 2
    slot: str
    epoch: int
    settings: GateSettings
    anchor: Fingerprint
    """Version of the confirm part."""
    incumbent: Fingerprint
    challenger: Fingerprint
    answers: Fingerprint
    """Digest of both judges' answers."""
    number: int
    """Number of the test among all tests of the anchor set."""
    level: float
    """Error probability that the test may use."""
    n_items: int
    n_excluded: int
    n_units: int
    """Number of independent units: single items, or groups of items that share a problem or participant."""
    is_exact: bool
    """Whether right answers are counted exactly; otherwise gains of units are bet on."""
    largest_loss: float
    """The most that any unit can lose, whatever its labels."""
    discordance: float
    """Share of items on which the two judges disagree; needs no label."""
    minimum_detectable: float
    """Smallest true gain per item that is detected with the required power."""
    expected: float
    """Gain in the Brier score if the challenger is calibrated: mean squared difference of the two probabilities."""


class StratumResult(BaseModel):
    """Result of a challenger on one protected stratum of items."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    stratum: str
    n: int
    wins: int
    losses: int
    bound: float
    """Upper 95% bound of the share of right answers lost."""
    safe: bool


class GateDecided(ChallengeRecord):
    """A challenge was decided: the challenger replaces the incumbent or not."""

    kind: Literal["gate_decided"] = "gate_decided"
    version: Literal[2] = 2
    registration: Fingerprint
    """Digest of the `GateRegistered` record."""
    slot: str
    epoch: int
    incumbent: Fingerprint
    challenger: Fingerprint
    verdict: Outcome
    reason: str
    n: int = 0
    """Items that both judges answered; 0 if no label was read."""
    n_excluded: int
    wins: int = 0
    losses: int = 0
    gain: float = 0.0
    """Observed gain, in the unit of the settings' floor."""
    p_value: float | None = None
    e_value: float | None = None
    number: int
    """Number of the test among all tests of the anchor set."""
    level: float
    minimum_detectable: float
    strata: tuple[StratumResult, ...] = ()
