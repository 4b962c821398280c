"""What the trace keeps of a verdict and of what it rests on."""

from __future__ import annotations

from typing import Literal

from lakatos.traces.digest import Digest, Fingerprint
from lakatos.traces.record import Record

EXPLORATORY = "all data, which the leader was fitted to: exploratory"
"""Basis of a verdict that claims nothing."""
LEADERBOARD = "the leaderboard: all open answers, each experiment predicted from the others"
"""Basis of a verdict where the leaderboard is stricter than sealed trials or frozen predictions."""


class ExactnessWeighed(Record):
    """Whether the leader's predictions can still be told from the truth, by answers that came after them."""

    kind: Literal["exactness_weighed"] = "exactness_weighed"
    version: Literal[1] = 1
    cycle: int
    leader: Digest
    experiments: tuple[str, ...]
    """Those before which its predictions were frozen."""
    error: float
    """Squared error of choice proportions beyond what chance makes, averaged over these; may be negative by chance."""
    standard_error: float
    allowed: float
    """What the study allows the upper end of the 95% interval to be."""
    n_checks: int
    """Checks of all its people's answers against simulated people of its own."""
    misfits: tuple[str, ...]
    """What those found that count, under false-discovery control."""
    exact: bool
    text: str


class ErrorOnTrials(Record):
    """A theory's mean squared error of choice proportions, in the loop's trials and in the sealed ones."""

    kind: Literal["error_on_trials"] = "error_on_trials"
    version: Literal[1] = 1
    theory: Digest
    open: float
    """On trials that the loop has seen, averaged over experiments."""
    sealed: float | None
    sealed_error: float | None
    """Standard error of ``sealed`` over trials."""
    all: float
    """On all trials, averaged over experiments."""
    sealed_score: float | None
    """Nats per choice on sealed trials."""


class TruthCompared(Record):
    """How close theories came to the hidden rule of simulated people."""

    kind: Literal["truth_compared"] = "truth_compared"
    version: Literal[1] = 1
    hidden: str
    n_trials: int
    """Trials compared: the whole space, or a sample of one too large to list."""
    corrected: dict[str, float]
    """Mean squared error against the rule, by theory; without lapses and answers at random where both sides have
    some."""
    uncorrected: dict[str, float]
    """The same with them, those of the study's ``random_choices`` too: what people do in fact."""
    pool: dict[str, float]
    """Like ``corrected``, for every theory of the pool, on a sample of trials: what choosing among them cost."""
    sequence: dict[str, dict[str, float]]
    """Where the rule or the leader depends on what came before: how often people do the same as in the step before, in
    all, after a reward and after none; for ``hidden`` and by theory."""


class TheoriesMapped(Record):
    """Where the theories of the pool lie by what their declared people choose."""

    kind: Literal["theories_mapped"] = "theories_mapped"
    version: Literal[1] = 1
    theories: tuple[Digest, ...]
    positions: tuple[tuple[float, float], ...]
    """In units of choice proportions: distances are about their root mean square differences."""
    shown: float
    """Share of the variance of distances that two dimensions show."""
    n_trials: int


class FoldFinished(Record):
    """A whole campaign ran with one fold of trials sealed."""

    kind: Literal["fold_finished"] = "fold_finished"
    version: Literal[1] = 1
    fold: int
    run: str
    """Folder of the fold's own run, relative to this one."""
    form: Fingerprint
    """Digest of the canonical form of its journal, which no crash or clock changes."""
    leader_name: str
    claim: str
    rows: tuple[int, ...]
    """Sealed trials."""
    observed: tuple[float, ...]
    """Share of the second option on each; of more than two options all shares of the first trial first, as below."""
    predicted: tuple[float, ...]
    """By the fold's leader."""
    baselines: dict[str, tuple[float, ...]]
    """By each published theory that the fold started from, its ranges fitted to the same open trials."""


class CrossValidated(Record):
    """Error on problems that the whole loop had not seen, over all folds."""

    kind: Literal["cross_validated"] = "cross_validated"
    version: Literal[1] = 1
    name: str
    """``leader`` for the theory that each fold's loop ended with, else a published theory fitted in each fold."""
    error: float
    """Mean squared error of choice proportions over trials."""
    standard_error: float
    """Over trials."""


class ConfirmationFinished(Record):
    """What a preregistered test of the winner's own predictions on new people said."""

    kind: Literal["confirmation_finished"] = "confirmation_finished"
    version: Literal[1] = 1
    winner: Digest
    rival: Digest
    """The best theory that predicted otherwise."""
    outcome: Literal["confirmed", "refuted", "inconclusive"]
    advantage: float | None
    """Of the winner over the rival in nats per choice, on predictions frozen before anybody was asked."""
    advantage_error: float | None
    interval: tuple[float, float] | None
    """95% interval."""
    n_participants: int
    text: str


class ExclusionSensitivity(Record):
    """How the leader stands with the preregistered exclusions and without them."""

    kind: Literal["exclusion_sensitivity"] = "exclusion_sensitivity"
    version: Literal[1] = 1
    experiments: tuple[str, ...]
    """Those in which somebody was excluded."""
    n_excluded: int
    """People who come back without the rules: who answered something, did not take it back and came once."""
    leader: Digest
    leader_without: Digest
    """The theory with the best score on everybody's answers."""
    rival: Digest
    """The second best with the exclusions."""
    advantage: float
    """Of the leader over the rival, nats per choice, averaged over experiments."""
    interval: tuple[float, float]
    """95% interval."""
    advantage_without: float
    interval_without: tuple[float, float]
    scores: dict[Digest, float]
    """Nats per choice by theory."""
    scores_without: dict[Digest, float]
    text: str


class CampaignConcluded(Record):
    """The verdict of a campaign was reached."""

    kind: Literal["concluded"] = "concluded"
    version: Literal[1, 2] = 2
    leader: Digest
    runner_up: Digest | None
    rival: Digest | None = None
    """The first rival of the strictest comparison, which comes closest to the leader. Version 1 does not say."""
    holds: bool
    """Whether the leader is ahead of every first rival beyond its interval, with enough participants: on data that it
    was not fitted to, and on the leaderboard."""
    text: str
    """In plain words, with the uncertainty."""
    stop: str
    advantage: float | None
    """Over ``rival``, nats per choice, on ``basis``."""
    advantage_error: float | None
    interval: tuple[float, float] | None
    """95% interval of the advantage; wider where the leader was chosen among several on the same data."""
    n_compared: int
    """Theories that could have been the leader on the data behind the advantage; 1 where it was chosen without them."""
    n_units: int | None = None
    """Participants (or problems where only counts are known) behind the advantage, each counted once."""
    basis: str
    """Data behind the advantage: sealed trials, frozen predictions, `LEADERBOARD` or `EXPLORATORY`."""
    errors: tuple[ErrorOnTrials, ...]
    cross_validated: tuple[CrossValidated, ...]
