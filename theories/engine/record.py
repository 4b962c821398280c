"""Records of theories."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any, Literal

import numpy as np
from pydantic import Field, model_validator

from lakatos.theories.engine.scoring.score import ScoreEstimate, UnitScores
from lakatos.theories.language.dependence import OwnCenter
from lakatos.theories.language.prior import Prior
from lakatos.traces.digest import Digest
from lakatos.traces.record import Record

ENGINE = "score-2"
"""Version of the scoring engine; part of every score, so that a fixed bug makes old scores stale."""


class TheoryChecked(Record):
    """A program was checked and is a theory, or was refused with the reason."""

    kind: Literal["theory_checked"] = "theory_checked"
    version: Literal[1] = 1
    theory: Digest
    """Artifact that holds the source as UTF-8; equal sources are one theory."""
    passed: bool
    name: str
    claim: str
    author: str
    parents: tuple[Digest, ...]
    """Theories from which it was made."""
    change: str
    """Change of the first parent, in words; empty for published theories."""
    cycle: int
    n_parameters: int
    code_length: int = 0
    """Length of its code, see `theories.engine.checks.complexity.code_length`; 0 if it was not measured."""
    unreadable: str = ""
    """Reason why it predicts but explains nothing; empty for a readable theory."""
    checks: tuple[str, ...]
    """Results of the checks."""
    reason: str
    """Reason of a refusal; empty if it passed."""
    sandbox: tuple[str, ...] = ()
    """Layers of the sandbox, in older runs; now a note of the step, because machines differ in them and results must
    not."""


class TheoryAdmitted(Record):
    """A checked theory entered the pool of rivals."""

    kind: Literal["theory_admitted"] = "theory_admitted"
    version: Literal[1] = 1
    theory: Digest
    cycle: int
    reason: str


class TheoryCompared(Record):
    """A successor with the predictions of pool theories on the trials so far was compared with them on other trials."""

    kind: Literal["theory_compared"] = "theory_compared"
    version: Literal[1] = 1
    theory: Digest
    cycle: int
    near: tuple[Digest, ...]
    """Theories of the pool with which it was compared."""
    twin: Digest | None
    """Theory with the same predictions, with its population and after adaptation."""
    simpler: bool
    """Whether it is simpler than its twin and therefore enters."""
    text: str


class UnitLogPredictives(Record):
    """Log predictive probability per unit (participant, or problem where responses are pooled)."""

    kind: Literal["units"] = "units"
    version: Literal[1] = 1
    log_predictive: tuple[float, ...]
    """Nats."""
    n_choices: tuple[float, ...]
    chance: float = 0.0
    """Monte Carlo error of the mean, nats per choice."""

    @classmethod
    def of(cls, scores: UnitScores) -> UnitLogPredictives:
        """Write scores as a record."""
        return cls(
            log_predictive=tuple(scores.log_predictive.tolist()),
            n_choices=tuple(scores.n_choices.tolist()),
            chance=scores.chance,
        )

    @property
    def scores(self) -> UnitScores:
        """Read the scores back as arrays."""
        return UnitScores(np.asarray(self.log_predictive), np.asarray(self.n_choices), self.chance)


class LearnedCenter(Record):
    """Centers of the distributions of people with known attributes, in shares of a parameter's declared range."""

    kind: Literal["learned_center"] = "learned_center"
    version: Literal[1] = 1
    center: float
    """Center of people without any effect."""
    spread: float
    """Standard deviation of people with the same attributes."""
    effects: tuple[float, ...]
    """Effects of the declared dependences, in their order."""
    errors: tuple[float, ...]
    """Standard errors of the effects."""

    @staticmethod
    def of(learned: Mapping[str, Prior]) -> dict[str, LearnedCenter]:
        """Return the learned centers, by parameter."""
        return {
            name: LearnedCenter(**asdict(prior.own))
            for name, prior in learned.items()
            if prior.own is not None
        }

    @property
    def as_learned(self) -> OwnCenter:
        """The same for a `Prior`."""
        return OwnCenter(self.center, self.spread, self.effects, self.errors)


class LearnedPopulation(Record):
    """The population of a theory, estimated from responses."""

    theory: Digest
    trials: tuple[Digest, ...]
    """Artifacts with the responses, one for each experiment."""
    engine: str
    pooled: bool
    """Whether participants could not be distinguished, so that spreads describe the uncertainty about all of them."""
    people: dict[str, tuple[float, float]]
    """Center and spread of a normal distribution, by parameter, on the scale of the declared prior and within its
    limits; parameters on which no trial depends are excluded."""
    doubts: dict[str, float] = Field(default_factory=dict)
    """Standard error of the logarithm of the spread, by parameter; empty in earlier versions."""
    own_centers: dict[str, LearnedCenter] = Field(default_factory=dict)
    """Parameters that the theory declares to depend on attributes, with the responses behind them; ``people`` then
    describes all participants together."""


class TheoryFitted(LearnedPopulation):
    """The population of a theory, estimated from all open responses: a version of the theory, not a new one."""

    kind: Literal["theory_fitted"] = "theory_fitted"
    version: Literal[1] = 1


class PopulationRelearned(LearnedPopulation):
    """The population of the leading theory, estimated after the verdict from all responses, sealed ones included."""

    kind: Literal["population_relearned"] = "population_relearned"
    version: Literal[1] = 1


class TheoryScored(Record):
    """Score of one theory on one experiment."""

    kind: Literal["theory_scored"] = "theory_scored"
    version: Literal[1, 2] = 2
    theory: Digest
    experiment: str
    trials: Digest
    """Artifact with the responses."""
    engine: str
    n_draws: int
    fit: Digest | None = None
    """Record of the population with which it was scored; none in version 1."""
    left_out: UnitLogPredictives
    """Score with the population estimated from the other experiments (for a single one, from other participants or
    trials; for several data sets, from the other data sets); in version 1 with the declared one."""
    frozen: UnitLogPredictives | None
    """Score with the population frozen in the preregistration; None if the theory had not been preregistered."""
    proportions: tuple[float, ...]
    """``(n_trials,)`` predicted share of the second option with the population estimated from all open responses;
    with more than two options ``(n_trials * n_options,)``, all of the first trial first."""
    error: float
    """Mean squared error of these against the observed shares."""
    correlation: float | None
    n_options: int = 2
    """Number of options of each trial."""

    @model_validator(mode="before")
    @classmethod
    def _read_version_1(cls, body: Any) -> Any:
        if not isinstance(body, dict) or "declared" not in body:
            return body
        rest = {name: value for name, value in body.items() if name not in ("declared", "learned")}
        return {**rest, "left_out": body["declared"], "frozen": body["learned"]}


class GroupScore(Record):
    """Prediction of one group of people by a theory."""

    kind: Literal["group_score"] = "group_score"
    version: Literal[1] = 1
    group: str
    score: float
    """Score of the group's people, predicted by others of the group, nats per choice."""
    interval: tuple[float, float]
    own_numbers: float
    """Gain over the population of all people, nats per choice."""
    own_interval: tuple[float, float]
    people: dict[str, tuple[float, float, float]]
    """Value below which a tenth, half and nine tenths of people lie, by parameter."""


class GroupedScores(Record):
    """One theory in every group."""

    kind: Literal["grouped_scores"] = "grouped_scores"
    version: Literal[1] = 1
    theory: Digest
    gain: float
    """Gain of parameters of each group's own, over all people, nats per choice."""
    gain_interval: tuple[float, float]
    groups: tuple[GroupScore, ...]


class GroupDifference(Record):
    """Differences between groups of people in one parameter of the leading theory."""

    kind: Literal["group_difference"] = "group_difference"
    version: Literal[1, 2] = 2
    parameter: str
    unit: str
    medians: dict[str, tuple[float, float, float]]
    """Value of the median person and the ends of its 95% interval, by group."""
    p: float | None
    """Probability of so large a difference of any parameter where groups do not differ, by exchanged labels. None where
    each experiment has one group alone, so that nothing can be exchanged; version 1 says 1 there."""
    differs: bool


class GroupsCompared(Record):
    """Comparison of the leading theories' parameters between groups of participants."""

    kind: Literal["groups_compared"] = "groups_compared"
    version: Literal[1, 2] = 2
    by: str
    """Attribute that divides participants."""
    n_people: dict[str, int]
    """Number of participants by group."""
    theories: tuple[GroupedScores, ...] = ()
    """Predictions of each group with one population and with its own, by theory; recorded in version 1 only."""
    text: str
    differences: tuple[GroupDifference, ...] = ()
    """Differences by the leading theory (in version 1 by the one that predicts the groups best), the clearest first."""


class ParameterEffect(Record):
    """Dependence of one parameter of a theory on what is known of people."""

    kind: Literal["parameter_effect"] = "parameter_effect"
    version: Literal[1, 2, 3] = 3
    parameter: str
    column: str
    """The attribute, or the group whose effect it is."""
    scale: str = ""
    """Scale of the effect: ``log``, ``logit`` or ``plain``; empty before version 3."""
    effect: float
    """Effect on the scale, for a level beside the first or for a standard deviation of a number. Before version 3:
    share of the parameter's range, for a standard deviation."""
    interval: tuple[float, float]
    """95% interval; before version 3 corrected for the number of effects."""
    gain: float | None = None
    """Gain of the effects on this parameter alone, for held-out people, nats per choice; recorded before version 3
    only."""
    gain_interval: tuple[float, float] | None = None
    p: float | None = None
    """Probability of so strong a connection of any parameter, if what is known means nothing. None in version 1, and
    where what is known is the same for everybody of an experiment."""
    shown: bool
    """Whether ``p`` is 0.05 at most; in version 1, whether both intervals exclude 0, the second upwards."""
    medians: dict[str, float]
    """Median person without and with the effect; before version 3 by group, or one standard deviation below the mean
    of the attribute and above."""


class TheoryEffects(Record):
    """One theory, all of whose numbers may depend on what is known of people."""

    kind: Literal["theory_effects"] = "theory_effects"
    version: Literal[1, 2] = 2
    theory: Digest
    score: float | None = None
    """Score of people, predicted by others with effects, nats per choice; recorded in version 1 only."""
    interval: tuple[float, float] | None = None
    gain: float | None = None
    """Gain of all effects together over one population for all, nats per choice; recorded in version 1 only."""
    gain_interval: tuple[float, float] | None = None
    effects: tuple[ParameterEffect, ...]


class EffectsLearned(Record):
    """Test of the dependence of the leading theories' parameters on an attribute of participants."""

    kind: Literal["effects_learned"] = "effects_learned"
    version: Literal[1] = 1
    by: str
    """Attribute of participants."""
    n_people: int
    """Number of participants with a known value."""
    prior_sd: float
    """Standard deviation of each effect's normal prior, as a share of the parameter's range."""
    theories: tuple[TheoryEffects, ...]
    text: str


class SealedScored(Record):
    """Score of a theory on sealed responses, with the population estimated from all open ones."""

    kind: Literal["sealed_scored"] = "sealed_scored"
    version: Literal[1] = 1
    theory: Digest
    experiments: tuple[str, ...]
    n_draws: int
    scores: tuple[UnitLogPredictives, ...]
    """Scores, one for each experiment."""
    squared: tuple[tuple[float, ...], ...]
    """Squared error of the proportions on each trial with responses; see
    `theories.engine.scoring.score.squared_errors`."""


class TheoryCompleteness(Record):
    """Share that a theory predicts of what a generic learner predicts."""

    kind: Literal["theory_completeness"] = "theory_completeness"
    version: Literal[1] = 1
    name: str
    theory: Digest
    """Artifact that holds its source."""
    score: float
    """Nats per choice, averaged over experiments."""
    score_error: float
    completeness: float | None
    """0 for guessing, 1 for the learner; None where the learner is not clearly better than guessing."""
    completeness_error: float | None
    people: dict[str, tuple[float, float]]
    """Population of a published theory that did not compete, estimated from all open responses as in `TheoryFitted`."""


class LearnerBetter(Record):
    """A trial on which a generic learner predicts people clearly better than the leader."""

    kind: Literal["learner_better"] = "learner_better"
    version: Literal[1] = 1
    experiment: str
    row: int
    """Row of the experiment's stimuli."""
    words: str
    observed: float
    """Share of the responses that were the last option."""
    theory: float
    learner: float
    gain: float
    """Nats per choice."""


class CompletenessMeasured(Record):
    """Comparison of the rivals with published theories and generic learners, all fitted to the same responses."""

    kind: Literal["completeness_measured"] = "completeness_measured"
    version: Literal[1] = 1
    leader: Digest
    basis: str
    """Responses used, in words."""
    experiments: tuple[str, ...]
    guessing: float
    """Score of guessing, nats per choice."""
    learner: tuple[UnitLogPredictives, ...]
    """Score of generic learners for each experiment."""
    ceiling: float
    """Mean score of generic learners, nats per choice."""
    ceiling_error: float
    noise: float | None
    """Score of predictions from other participants' responses to the same trials, nats per choice; None if
    unknown."""
    noise_error: float | None
    theories: tuple[TheoryCompleteness, ...]
    """Scores of theories of the pool, the leader first."""
    published: tuple[TheoryCompleteness, ...]
    """Scores of published theories, the best (the textbook's) first."""
    failed: dict[str, str]
    """Published theories that do not run on these trials, with the reason."""
    ahead: float | None
    """Advantage of the leader over the best other published theory, nats per choice; None if there is none, and in
    earlier versions if the leader was the best one."""
    ahead_error: float | None
    better: tuple[LearnerBetter, ...]
    text: str

    def estimate(self, value: float, standard_error: float) -> ScoreEstimate:
        """One of its numbers with the participants (or problems) that it was estimated from."""
        n_units = sum(len(item.n_choices) for item in self.learner)
        return ScoreEstimate(value, standard_error, n_units, max(n_units - 1, 1))


class TheoriesTold(Record):
    """Names of theories, and the claim of the leader, after all responses were used for estimation."""

    kind: Literal["theories_told"] = "theories_told"
    version: Literal[1] = 1
    leader: Digest
    names: dict[Digest, str]
    """Names by theory; before, they had the names of `TheoryChecked`."""
    published: dict[Digest, str]
    """Titles of published theories, by theories of the campaign that have their form."""
    lacking: tuple[str, ...]
    """Conditions that clauses require and that no presented trial meets."""
    idle: tuple[str, ...]
    """Clauses of the leader without effect on the presented trials."""
    refused: tuple[str, ...]
    """Clauses of the leader that its code contradicts at the estimates."""
    tried: tuple[str, ...]
    """Result of testing each clause, one sentence each."""


class TheoryFailed(Record):
    """A theory that had passed its checks failed on real responses and left the pool."""

    kind: Literal["theory_failed"] = "theory_failed"
    version: Literal[1] = 1
    theory: Digest
    experiment: str
    reason: str


class DrawsLimited(Record):
    """A theory could not be scored with more draws of its population; its score with fewer draws stays."""

    kind: Literal["draws_limited"] = "draws_limited"
    version: Literal[1] = 1
    theory: Digest
    experiment: str
    """Experiment on which it failed."""
    fit: Digest
    """Record of the population; more draws are tried again with another one."""
    n_draws: int
    """Number of draws with which it failed."""
    kept: int
    """Number of draws of the score that stays."""
    reason: str


class DiagnosisClaim(Record):
    """One finding of a diagnosis with the records that carry it: trigger, analysis, recommendation, expected effect."""

    kind: Literal["claim"] = "claim"
    version: Literal[1] = 1
    text: str
    """The analysis, a sentence."""
    feature: str
    """Feature that the pattern follows: a property of the trials, or of people or sequences; empty for an
    illustration."""
    effect: float
    """Size beyond that of the replicas, in the unit that ``text`` names."""
    z: float
    q: float
    """Benjamini-Hochberg adjusted p over all checks."""
    cites: tuple[Digest, ...]
    rule: str = ""
    """The rule that was triggered."""
    trigger: str = ""
    """Trigger in words."""
    interval: tuple[float, float] | None = None
    """95% interval of the effect."""
    confidence: float | None = None
    """Calibrated probability that this, and not something that goes with it, is what is wrong."""
    gain: float | None = None
    """Nats per choice that a theory with the pattern as one more parameter would gain on the same responses."""
    gain_error: float | None = None
    """Standard error of the gain over people (over trials where people cannot be told apart)."""
    recommendation: str = ""
    remedies: tuple[str, ...] = ()
    """``slot:mechanism`` of the grammar that could answer it."""


class Diagnosis(Record):
    """Diagnosis of the losing theory: the trials that it mispredicts and the reasons, with the evidence."""

    kind: Literal["diagnosis"] = "diagnosis"
    version: Literal[1] = 1
    cycle: int
    loser: Digest
    leader: Digest
    difference: float
    """Advantage of the leader, nats per choice."""
    standard_error: float
    tie: bool
    claims: tuple[DiagnosisClaim, ...]
    location: str
    """Trials or participants that it mispredicts, in words."""
    hypothesis: str
    """The likely cause."""
    proposal: str
    """Proposed change."""
    remedies: tuple[str, ...]
    """Mechanisms of the grammar that address the named features, as ``slot:mechanism``."""
    test: str
    """Expected result of a test of the hypothesis."""
    dependencies: str = ""
    """Limits of the conclusion: what is confounded in the data, what could not be checked, what was assumed."""
    confidence: float | None = None
    """Calibrated probability that the first claim names the flaw; None if nothing was found."""
    n_checks: int = 0
    n_replicas: int = 0
    """Number of simulated data sets."""


class SearchFinished(Record):
    """Compositions that the advocates tried in a cycle, and those that they submit."""

    kind: Literal["search_finished"] = "search_finished"
    version: Literal[1] = 1
    cycle: int
    attempts: Digest
    """Artifact with every composition tried and its score, or its error."""
    n_attempts: int
    submissions: tuple[SuccessorSubmitted, ...]
    unspent: str = ""
    """Reason why fewer compositions were tried than the study allows."""
    path: tuple[SizeOnPath, ...] = ()
    """The best theory of every size, the smallest first; empty in earlier versions."""


class SuccessorSubmitted(Record):
    """A successor that an advocate submits."""

    kind: Literal["submitted"] = "submitted"
    version: Literal[1] = 1
    source: Digest
    """Artifact that holds the source."""
    author: str
    parents: tuple[Digest, ...]
    change: str
    criterion: float
    """The search's own score, nats per choice; not comparable with scores on new data."""


class SizeOnPath(Record):
    """The best theory of one size that a search found."""

    kind: Literal["size_on_path"] = "size_on_path"
    version: Literal[1] = 1
    n_clauses: int
    """Mechanisms that say something, without random choices."""
    source: Digest
    """Artifact that holds the source."""
    claim: str
    score: float
    """Nats per choice of participants (or trials) that it was not fitted to, averaged over experiments."""
    score_error: float
    behind: float
    """Nats per choice by which the best theory of the path is ahead."""
    behind_error: float
    """Paired standard error of the difference."""
    chosen: bool
    """Whether it is the smallest within one standard error of the best."""


SearchFinished.model_rebuild()
