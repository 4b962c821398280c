"""Records of a verdict and of what it rests on."""

from __future__ import annotations

from typing import Literal

from lakatos.theories.engine.scoring.unexplained import ErrorRatio
from lakatos.traces.digest import Digest, Fingerprint
from lakatos.traces.record import Record

EXPLORATORY = "all data, which the leader was fitted to: exploratory"
"""Basis of a verdict that claims nothing."""
LEADERBOARD = "the leaderboard: all open responses, each experiment predicted from the others"
"""Basis of a verdict where the leaderboard is stricter than sealed trials or frozen predictions."""


class ExactnessWeighed(Record):
    """Test of the leader's frozen predictions on later responses."""

    kind: Literal["exactness_weighed"] = "exactness_weighed"
    version: Literal[1] = 1
    cycle: int
    leader: Digest
    experiments: tuple[str, ...]
    """Experiments before which its predictions were frozen."""
    error: float
    """Squared error of choice proportions beyond sampling noise, averaged over these; may be negative by chance."""
    standard_error: float
    allowed: float
    """Limit of the study for the upper end of the 95% interval."""
    n_checks: int
    """Number of checks of all participants' responses against simulated ones."""
    misfits: tuple[str, ...]
    """Misfits found, with control of the false discovery rate."""
    exact: bool
    text: str


class ErrorOnTrials(Record):
    """A theory's mean squared error of choice proportions, in the loop's trials and in the sealed ones."""

    kind: Literal["error_on_trials"] = "error_on_trials"
    version: Literal[1] = 1
    theory: Digest
    open: float
    """Error on trials that the loop has seen, averaged over experiments."""
    sealed: float | None
    sealed_error: float | None
    """Standard error of ``sealed`` over trials."""
    all: float
    """``open`` and ``sealed``, weighted by their numbers of trials, averaged over archived experiments."""
    sealed_score: float | None
    """Nats per choice on sealed trials."""


class TruthCompared(Record):
    """Distance of theories from the hidden rule of simulated participants."""

    kind: Literal["truth_compared"] = "truth_compared"
    version: Literal[1] = 1
    hidden: str
    n_trials: int
    """Trials compared: the whole space, or a sample of one too large to list."""
    corrected: dict[str, float]
    """Mean squared error against the rule, by theory, without lapses and random responses where both have some."""
    uncorrected: dict[str, float]
    """The same with lapses and the study's ``random_choices``."""
    pool: dict[str, float]
    """Value as in ``corrected`` for every theory of the pool, on a sample of trials."""
    sequence: dict[str, dict[str, float]]
    """Frequency with which participants repeat their last choice, overall, after a reward and after none, if the rule
    or the leader depends on the past; for ``hidden`` and by theory."""


class TheoriesMapped(Record):
    """Similarity of the theories of the pool by the choices of their declared populations."""

    kind: Literal["theories_mapped"] = "theories_mapped"
    version: Literal[1] = 1
    theories: tuple[Digest, ...]
    positions: tuple[tuple[float, float], ...]
    """Positions in units of choice proportions: distances approximate root mean square differences."""
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
    """Digest of the canonical form of its journal, which does not depend on interruptions or time."""
    leader_name: str
    claim: str
    rows: tuple[int, ...]
    """Sealed trials."""
    observed: tuple[float, ...]
    """Observed share of the second option on each trial; with more than two options all shares of the first trial
    first, as below."""
    predicted: tuple[float, ...]
    """Shares predicted by the fold's leader."""
    baselines: dict[str, tuple[float, ...]]
    """Shares predicted by each initial published theory, fitted to the same open trials."""


class CrossValidated(Record):
    """Error on problems that the whole loop had not seen, over all folds."""

    kind: Literal["cross_validated"] = "cross_validated"
    version: Literal[1] = 1
    name: str
    """``leader`` for the theory that each fold's loop ended with, else a published theory fitted in each fold."""
    error: float
    """Mean squared error of choice proportions over trials."""
    standard_error: float
    """Standard error over trials."""


class ConfirmationFinished(Record):
    """Result of a preregistered test of the leader's predictions on new participants."""

    kind: Literal["confirmation_finished"] = "confirmation_finished"
    version: Literal[1] = 1
    winner: Digest
    rival: Digest
    """Best theory with other predictions."""
    outcome: Literal["confirmed", "refuted", "inconclusive"]
    advantage: float | None
    """Advantage of the leader over the rival in nats per choice, on predictions frozen before recruitment."""
    advantage_error: float | None
    interval: tuple[float, float] | None
    """95% interval."""
    n_participants: int
    text: str


class ExclusionSensitivity(Record):
    """Comparison of the leader with and without the preregistered exclusions."""

    kind: Literal["exclusion_sensitivity"] = "exclusion_sensitivity"
    version: Literal[1] = 1
    experiments: tuple[str, ...]
    """Experiments with exclusions."""
    n_excluded: int
    """Number of participants that count without the rules."""
    leader: Digest
    leader_without: Digest
    """Theory with the best score on the responses of all participants."""
    rival: Digest
    """Second best theory with the exclusions."""
    advantage: float
    """Advantage of the leader over the rival, nats per choice, averaged over experiments."""
    interval: tuple[float, float]
    """95% interval."""
    advantage_without: float
    interval_without: tuple[float, float]
    scores: dict[Digest, float]
    """Nats per choice by theory."""
    scores_without: dict[Digest, float]
    text: str


class UnexplainedError(Record):
    """Unexplained error of a theory: its misfit ratio on the presented trials."""

    kind: Literal["unexplained_error"] = "unexplained_error"
    version: Literal[1] = 1
    theory: Digest
    ratio: float
    """1 is expected without misfit; see `theories.engine.scoring.unexplained`."""
    low: float
    """Ends of the 90% interval."""
    high: float
    degrees: float
    """Degrees of freedom of the error under the theory."""

    @property
    def known(self) -> ErrorRatio:
        """The same as a value."""
        return ErrorRatio(self.ratio, self.low, self.high, self.degrees)


class CampaignConcluded(Record):
    """The verdict of a campaign was reached."""

    kind: Literal["concluded"] = "concluded"
    version: Literal[1, 2] = 2
    leader: Digest
    runner_up: Digest | None
    rival: Digest | None = None
    """Initial theory of the strictest comparison, closest to the leader; not in version 1."""
    holds: bool
    """Whether the leader is ahead of every initial theory beyond its interval, with enough participants: on data to
    which it was not fitted, and on the leaderboard."""
    verdict: Literal["", "better", "published", "nothing_left"] = ""
    """A new theory is better than every published one; none better than the published one was found; or nothing is
    left that the data can show. Empty in earlier versions."""
    headline: str = ""
    """The verdict in one sentence."""
    unexplained: tuple[UnexplainedError, ...] = ()
    """Misfit ratios of the leading theories, the leader first; only of theories for which they can be measured."""
    marks: tuple[str, ...] = ()
    """Properties of trials and participants that mark what the leader leaves unexplained, if that is beyond chance."""
    text: str
    """The verdict in words, with the uncertainty."""
    stop: str
    advantage: float | None
    """Advantage over ``rival`` on ``basis``, nats per choice."""
    advantage_error: float | None
    interval: tuple[float, float] | None
    """95% interval of the advantage, corrected if the leader was chosen among several on the same data."""
    n_compared: int
    """Number of theories that could have been the leader on these data; 1 if it was chosen without them."""
    n_units: int | None = None
    """Number of participants (or problems, if only counts are known) behind the advantage."""
    basis: str
    """Data behind the advantage: sealed trials, frozen predictions, `LEADERBOARD` or `EXPLORATORY`."""
    errors: tuple[ErrorOnTrials, ...]
    cross_validated: tuple[CrossValidated, ...]

    def left_by(self, theory: Digest) -> ErrorRatio | None:
        """Return what a theory leaves unexplained; None where it was not measured."""
        return next((item.known for item in self.unexplained if item.theory == theory), None)
