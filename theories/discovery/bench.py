"""The workbench: what can be done with a laboratory's theories and responses, as functions with typed arguments.

Every function takes a `TheoryBench` and its own arguments and returns plain results that can be
written as JSON. What is large (simulated responses, designs) is kept among the artifacts and named by
digest; such a name can be given wherever an experiment or a design is asked for. Chance comes from
the arguments, so that a call made again says the same.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field

from lakatos.experiments.design import choose_trials, design_from_json, design_to_json
from lakatos.experiments.errors import DesignError
from lakatos.experiments.information import information_of_batch, outcome_probabilities
from lakatos.experiments.power import recovery_power
from lakatos.experiments.task import (
    Design,
    Domain,
    Stimuli,
    Trials,
    check_unmixed,
    with_random_sides,
)
from lakatos.theories.discovery.diagnosis import TheoryPredictions, TrialFeatures
from lakatos.theories.discovery.diagnosis.case_file import TheoryExamination, examine
from lakatos.theories.discovery.diagnosis.rule import words
from lakatos.theories.engine.laboratory import Laboratory
from lakatos.theories.engine.scoring.score import (
    average,
    is_tie,
    learn_population,
    log_predictive,
    mean_over_units,
    paired_difference,
)
from lakatos.theories.errors import BenchError
from lakatos.theories.language.argument_kind import DesignName, ExperimentName, TheoryName
from lakatos.theories.language.theory import Theory
from lakatos.traces.digest import Digest, digest_of, is_digest
from lakatos.traces.errors import ArtifactError

Array = NDArray[np.float64]
MOST_SHOWN = 12
"""Rows of a result that can have many."""


class ArtifactShelf(Protocol):
    """Store of large results by digest; `traces.artifact.ArtifactStore` is one."""

    def put_json(self, value: object) -> Digest:
        """Keep a value; its digest."""

    def get_json(self, digest: Digest) -> Any:
        """A value that was kept."""


@dataclass(frozen=True)
class TheoryBench:
    """Laboratory, theories and responses on which the functions work."""

    laboratory: Laboratory
    theories: Mapping[Digest, Theory]
    answers: Mapping[str, Trials]
    """Responses by the name of the experiment."""
    shelf: ArtifactShelf
    space: Mapping[str, Any]
    """Settings of the space of trials, as in a study file."""
    seed: int = 0
    n_draws: int = 256
    """Number of draws of each theory's population; a power of two."""

    @property
    def domain(self) -> Domain:
        """The kind of task that all trials of the bench belong to."""
        return self.laboratory.domain

    def theory(self, name: str) -> Theory:
        """The theory of this name.

        Raises:
            BenchError: There is none, or more than one.
        """
        found = [
            theory
            for digest, theory in self.theories.items()
            if theory.name == name or (len(name) >= 6 and digest.startswith(name))
        ]
        if len(found) != 1:
            known = ", ".join(theory.short for theory in self.theories.values())
            raise BenchError(
                f"{'no theory is' if not found else f'{len(found)} theories are'} called {name[:80]!r}; there are: "
                f"{known or 'none'}. Give a name from the list, or six or more digits of a digest."
            )
        return found[0]

    def trials(self, name: str) -> Trials:
        """Responses of an experiment, or simulated ones by their digest."""
        if name in self.answers:
            return self.answers[name]
        kept = self._kept(name)
        if "participant" not in kept:
            raise BenchError(
                f"{name[:80]!r} names no answers; simulate some, or name one of: {self._known()}."
            )
        return Trials.from_json(kept)

    def design(self, name: str) -> Design:
        """A design that was kept, or the trials of an experiment as one that asks each of them once."""
        if name in self.answers:
            trials = self.answers[name]
            return Design(name, trials.stimuli, 1, max(trials.n_participants, 2))
        kept = self._kept(name)
        if "n_participants" not in kept:
            raise BenchError(
                f"{name[:80]!r} names no design; search one, or name one of: {self._known()}."
            )
        return design_from_json(kept)

    def rng(self, function: str, **arguments: Any) -> np.random.Generator:
        """Random generator of one call: the same call draws the same numbers."""
        return np.random.default_rng(int(digest_of([self.seed, function, arguments])[:16], 16))

    def _kept(self, name: str) -> dict[str, Any]:
        if is_digest(name):
            try:
                kept = self.shelf.get_json(name)
            except ArtifactError:
                kept = None
            if isinstance(kept, dict):
                return kept
        raise BenchError(
            f"there is no experiment, design or simulation {name[:80]!r}; there are: {self._known()}."
        )

    def _known(self) -> str:
        return ", ".join(self.answers) or "none"


class BenchArguments(BaseModel):
    """Arguments of one function of the bench; unknown ones are refused."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class BenchResult(BaseModel):
    """What a function of the bench found."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class SimulateArguments(BenchArguments):
    """Arguments of `simulate`."""

    theory: TheoryName
    design: DesignName
    n_people: int = Field(default=32, ge=2, le=4096)


class Simulated(BenchResult):
    """Responses that a theory's people would give."""

    answers: ExperimentName
    """Digest of them."""
    theory: TheoryName
    n_people: int
    proportions: tuple[float, ...]
    """``(n_trials,)`` share of the last option that any trial offers, for the first trials."""


def simulate(bench: TheoryBench, arguments: SimulateArguments) -> Simulated:
    """Responses of people who follow a theory, for every trial of a design."""
    theory, design = bench.theory(arguments.theory), bench.design(arguments.design)
    rng = bench.rng(
        "simulate",
        theory=theory.digest,
        stimuli=design.stimuli.to_json(),
        n_people=arguments.n_people,
    )
    (trials,) = bench.laboratory.simulate(
        [theory],
        design.stimuli,
        arguments.n_people,
        rng,
        n_draws=bench.n_draws,
        repetitions=design.repetitions,
    )
    option = trials.stimuli.last_available(trials.n_options)
    return Simulated(
        answers=bench.shelf.put_json(trials.to_json()),
        theory=theory.digest,
        n_people=arguments.n_people,
        proportions=tuple(float(value) for value in trials.proportions[:MOST_SHOWN, option]),
    )


class CompareArguments(BenchArguments):
    """Arguments of `compare_predictions`."""

    theories: tuple[TheoryName, ...] = Field(min_length=2, max_length=12)
    design: DesignName


class Distance(BenchResult):
    """How far two theories are apart."""

    first: TheoryName
    second: TheoryName
    distance: float
    """Root mean square difference of choice proportions."""
    furthest: str
    """The trial on which they differ most, in words."""
    first_proportion: float
    second_proportion: float
    """Share of the last option that any trial offers, as the second theory predicts it on the trial in ``furthest``."""


class Compared(BenchResult):
    """Distances of all pairs, the largest first."""

    pairs: tuple[Distance, ...]


def compare_predictions(bench: TheoryBench, arguments: CompareArguments) -> Compared:
    """Compare the predicted choice proportions of theories on a design, and find where they differ most."""
    theories = _distinct(bench, arguments.theories)
    stimuli = bench.design(arguments.design).stimuli
    shares = [bench.laboratory.proportions(theory, stimuli, bench.n_draws) for theory in theories]
    pairs = []
    for second, own in enumerate(shares):
        for first, other in enumerate(shares[:second]):
            row = int(np.abs(own - other).max(axis=-1).argmax())
            option = stimuli.last_available(own.shape[1])
            pairs.append(
                Distance(
                    first=theories[first].digest,
                    second=theories[second].digest,
                    distance=float(np.sqrt(np.mean((own - other) ** 2))),
                    furthest=bench.domain.describe(stimuli, row),
                    first_proportion=float(other[row, option]),
                    second_proportion=float(own[row, option]),
                )
            )
    return Compared(
        pairs=tuple(sorted(pairs, key=lambda pair: (-pair.distance, pair.first, pair.second)))
    )


class ScoreArguments(BenchArguments):
    """Arguments of `score`."""

    theories: tuple[TheoryName, ...] = Field(min_length=1, max_length=12)
    experiments: tuple[ExperimentName, ...] = Field(min_length=1, max_length=32)


class Line(BenchResult):
    """One theory's score."""

    theory: TheoryName
    score: float
    """Nats per choice with its learned people, averaged over experiments."""
    standard_error: float
    behind: float
    """Nats per choice behind the best, paired."""
    behind_error: float
    tied: bool
    """Whether it cannot be distinguished from the best; see `is_tie`."""


class Scored(BenchResult):
    """Scores of theories, the best first."""

    lines: tuple[Line, ...]

    @property
    def best(self) -> str:
        """Digest of the theory with the best score."""
        return self.lines[0].theory


def score(bench: TheoryBench, arguments: ScoreArguments) -> Scored:
    """Log predictive probability of the responses given, and how far each theory is behind the best."""
    theories = _distinct(bench, arguments.theories)
    trials = [bench.trials(name) for name in arguments.experiments]
    check_unmixed(trials)
    for item in trials:
        item.check_comparable()
    own = [
        [log_predictive(item) for item in items]
        for items in bench.laboratory.evidence_of(theories, trials, bench.n_draws)
    ]
    means = [average([mean_over_units(item) for item in items]) for items in own]
    order = sorted(
        range(len(theories)), key=lambda place: (-means[place].value, theories[place].digest)
    )
    lines = []
    for place in order:
        behind = paired_difference(own[order[0]], own[place])
        lines.append(
            Line(
                theory=theories[place].digest,
                score=means[place].value,
                standard_error=means[place].standard_error,
                behind=behind.value,
                behind_error=behind.standard_error,
                tied=place == order[0] or is_tie(behind),
            )
        )
    return Scored(lines=tuple(lines))


class SearchArguments(BenchArguments):
    """Arguments of `search_design`."""

    theories: tuple[TheoryName, ...] = Field(min_length=2, max_length=8)
    n_trials: int = Field(default=8, ge=1, le=256)
    n_people: int = Field(default=32, ge=2, le=4096)
    repetitions: int = Field(default=1, ge=1, le=32)
    n_candidates: int = Field(default=256, ge=2, le=4096)
    random_share: float = Field(default=0.25, ge=0.0, le=1.0)


class Searched(BenchResult):
    """A design that tells theories apart."""

    design: DesignName
    """Digest of it."""
    information: float
    """Expected gain about which theory is right from one person's responses, nats."""
    trials: tuple[str, ...]
    """The first of them in words, the most informative first."""


def search_design(bench: TheoryBench, arguments: SearchArguments) -> Searched:
    """Trials with the largest expected information about which of the theories is right; registers nothing."""
    theories = _distinct(bench, arguments.theories)
    _one_shot(bench, "search_design")
    given = arguments.model_dump(mode="json") | {"theories": [theory.digest for theory in theories]}
    rng = bench.rng("search_design", **given)
    found = bench.domain.candidates(bench.space, rng, arguments.n_candidates)
    candidates = with_random_sides(bench.domain, found, rng)
    n_trials = min(arguments.n_trials, len(candidates))
    answers = [
        outcome_probabilities(own[0], arguments.repetitions)
        for own in bench.laboratory.answers_of(theories, [candidates], bench.n_draws)
    ]
    prior = np.full(len(theories), -np.log(len(theories)))
    chosen = choose_trials(
        answers, prior, n_trials=n_trials, rng=rng, random_share=arguments.random_share
    )
    rows = list(chosen.rows)
    stimuli = candidates.take(rows)
    gain = information_of_batch([own[:, rows] for own in answers], prior, rng=rng, n_people=256)
    name = f"proposed-{digest_of(given)[:8]}"
    design = Design(
        name,
        stimuli,
        arguments.repetitions,
        arguments.n_people,
        chosen.random_rows,
        chosen.information,
    )
    return Searched(
        design=bench.shelf.put_json(design_to_json(design)),
        information=gain.value,
        trials=_described(bench, stimuli),
    )


class RecoverArguments(BenchArguments):
    """Arguments of `recover`."""

    theories: tuple[TheoryName, ...] = Field(min_length=2, max_length=8)
    design: DesignName
    n_simulations: int = Field(default=200, ge=20, le=2000)


class Recovery(BenchResult):
    """How often one theory, being true, is found to beat another."""

    true: TheoryName
    rival: TheoryName
    power: float
    low: float
    high: float
    """95% interval of the simulation."""


class Recovered(BenchResult):
    """All ordered pairs, the weakest first."""

    pairs: tuple[Recovery, ...]


def recover(bench: TheoryBench, arguments: RecoverArguments) -> Recovered:
    """Power of a design to recover each theory against each other one, by simulation."""
    theories = _distinct(bench, arguments.theories)
    _one_shot(bench, "recover")
    design = bench.design(arguments.design)
    given = arguments.model_dump(mode="json") | {"theories": [theory.digest for theory in theories]}
    answers = [
        own[0] for own in bench.laboratory.answers_of(theories, [design.stimuli], bench.n_draws)
    ]
    table = recovery_power(
        answers,
        design.repetitions,
        design.n_participants,
        bench.rng("recover", **given),
        n_simulations=arguments.n_simulations,
    )
    pairs = []
    for true in range(len(theories)):
        for rival in range(len(theories)):
            if true != rival:
                low, high = table.interval(true, rival)
                power = float(table.power[true, rival])
                names = {"true": theories[true].digest, "rival": theories[rival].digest}
                pairs.append(Recovery(**names, power=power, low=low, high=high))
    return Recovered(
        pairs=tuple(sorted(pairs, key=lambda pair: (pair.power, pair.true, pair.rival)))
    )


class ExamineArguments(BenchArguments):
    """Arguments of `analyse_residuals` and `check_predictions`."""

    theory: TheoryName
    experiments: tuple[ExperimentName, ...] = Field(min_length=1, max_length=32)
    n_replicas: int = Field(default=200, ge=50, le=2000)


class Misfit(BenchResult):
    """One property by which a theory's predictions fail."""

    feature: str
    """The property in words."""
    confidence: float
    """Calibrated probability that it names what is wrong."""
    gain: float
    """Nats, all responses together, that a correction would be worth."""
    q: float
    """p value adjusted for all checks that were made."""


class Misfits(BenchResult):
    """Findings, the one worth most first."""

    findings: tuple[Misfit, ...]
    n_checks: int


def analyse_residuals(bench: TheoryBench, arguments: ExamineArguments) -> Misfits:
    """Find what in trials, people or order a theory predicts wrongly, with false-discovery control over all checks."""
    seen = _examined(bench, arguments)
    return Misfits(
        findings=tuple(
            Misfit(
                feature=words(item.check.feature),
                confidence=item.confidence,
                gain=item.gain.total,
                q=item.q,
            )
            for item in seen.found
        ),
        n_checks=len(seen.checks),
    )


class Checked(BenchResult):
    """One statistic against replicas of the theory."""

    rule: str
    feature: str
    z: float
    """Observed less expected value, in standard deviations of the replicas."""
    p: float
    """Two-sided, not adjusted."""


class Checks(BenchResult):
    """The most surprising statistics first."""

    checks: tuple[Checked, ...]
    n_checks: int


def check_predictions(bench: TheoryBench, arguments: ExamineArguments) -> Checks:
    """Predictive checks: statistics of the answers against those of data sets simulated by the theory it is told of."""
    seen = _examined(bench, arguments)
    ranked = sorted(seen.checks, key=lambda item: (item.p, item.rule, item.feature))[:MOST_SHOWN]
    return Checks(
        checks=tuple(
            Checked(
                rule=item.rule,
                feature=words(item.feature),
                z=_finite(item.z),
                p=min(max(item.p, 0.0), 1.0),
            )
            for item in ranked
        ),
        n_checks=len(seen.checks),
    )


def _examined(bench: TheoryBench, arguments: ExamineArguments) -> TheoryExamination:
    theory = bench.theory(arguments.theory)
    trials = [bench.trials(name) for name in arguments.experiments]
    check_unmixed(trials)
    (evidence,) = bench.laboratory.evidence_of([theory], trials, bench.n_draws)
    predictions = TheoryPredictions(
        theory.digest, theory.name, learn_population(evidence), evidence
    )
    residuals = [TrialFeatures(bench.domain.features(item.stimuli), ()) for item in trials]
    rng = bench.rng("examine", theory=theory.digest, trials=[item.digest for item in trials])
    return examine(predictions, [], residuals, rng, n_replicas=arguments.n_replicas)


def _distinct(bench: TheoryBench, names: Sequence[str]) -> list[Theory]:
    """The theories of these names.

    Raises:
        BenchError: One is named twice.
    """
    theories = [bench.theory(name) for name in names]
    if len({theory.digest for theory in theories}) < len(theories):
        raise BenchError(
            f"a theory is named twice among {', '.join(map(repr, names))}; name each once."
        )
    return theories


def _one_shot(bench: TheoryBench, function: str) -> None:
    if bench.domain.sequential:
        raise DesignError(
            f"{function} looks at trials one by one, and those of the {bench.domain.name} domain follow one another; "
            "take a schedule from the design stage instead."
        )


def _described(bench: TheoryBench, stimuli: Stimuli) -> tuple[str, ...]:
    return tuple(
        bench.domain.describe(stimuli, row) for row in range(min(len(stimuli), MOST_SHOWN))
    )


def _finite(value: float) -> float:
    return float(np.clip(np.nan_to_num(value), -1e6, 1e6))
