"""A world with answers: compositions are fitted to them, and held against the truth on other trials."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from benchmarks.models.trained.worlds import (
    N_PEOPLE,
    SPACES,
    DrawnTruth,
    ShownAnswers,
    contract_source,
    trial_features,
)
from lakatos.domains import DOMAINS, FAMILIES
from lakatos.experiments.task import Trials, with_random_sides
from lakatos.theories.discovery.grammar_search.advocate import GrammarAdvocate
from lakatos.theories.discovery.grammar_search.proposal import CompositionAttempt
from lakatos.theories.engine.fitted_compositions import FittedCompositions
from lakatos.theories.engine.laboratory import Laboratory
from lakatos.theories.language.grammar import Composition
from lakatos.theories.language.theory import TheoryProgram, read_program

STARTS = {"multiattribute": ["take_the_best", "tallying"], "risky": ["expected_value", "minimax"]}
N_TRIALS, N_OTHER, N_DRAWS = 48, 200, 64


class AnsweredWorld:
    """Answers of people who follow a truth; every composition is fitted to them once."""

    def __init__(self, truth: DrawnTruth, lab: Laboratory, rng: np.random.Generator) -> None:
        self.domain, self.lab = DOMAINS[truth.domain], lab
        self.grammar = FAMILIES[truth.domain].grammar
        source = contract_source(self.grammar, truth.composition, truth.people)
        self.truth = read_program(TheoryProgram(source, "truth"))
        asked, self.other = (
            with_random_sides(
                self.domain, self.domain.candidates(SPACES[truth.domain], rng, n), rng
            )
            for n in (N_TRIALS, N_OTHER)
        )
        (answers,) = lab.simulate([self.truth], asked, N_PEOPLE, rng)
        self.trials: list[Trials] = [replace(answers, experiment="1")]
        told = [self.domain.describe(asked, row) for row in range(len(asked))]
        shares = np.round(answers.proportions[:, 1], 3)
        rows = [
            [*trial_features(truth.domain, words), share]
            for words, share in zip(told, shares, strict=True)
        ]
        self.shown = ShownAnswers(truth.domain, np.array(rows))
        self.advocate = GrammarAdvocate(self.grammar)
        self.fits = FittedCompositions(lab, self.grammar, self.trials, N_DRAWS)
        self._wanted = lab.proportions(self.truth, self.other, N_DRAWS)
        self._distances: dict[object, float] = {}
        seeds = FAMILIES[truth.domain].seeds
        self.start = best_of([self.attempt(seeds[name][1]) for name in STARTS[truth.domain]])
        """The better one of the theories that a campaign starts with."""

    def attempt(self, composition: Composition) -> CompositionAttempt:
        """A composition fitted to the answers, with its criterion."""
        (found,) = self.fits.evaluate([(composition, None)])
        return self.advocate.attempt(composition, None, "", found)

    def distance(self, attempt: CompositionAttempt) -> float:
        """Root mean square difference from what the truth says of other trials; 1 where nothing can be fitted."""
        if attempt.evaluated is None:
            return 1.0
        key = attempt.composition.key
        if key not in self._distances:
            own = self.lab.proportions(attempt.evaluated.theory, self.other, N_DRAWS)
            self._distances[key] = float(np.sqrt(np.mean((own - self._wanted) ** 2)))
        return self._distances[key]


def best_of(attempts: list[CompositionAttempt]) -> CompositionAttempt:
    """The best by the criterion that the search compares candidates with."""
    return max(attempts, key=lambda item: item.criterion)


def paired(first: Any, second: Any) -> tuple[float, float, float]:
    """Mean difference of paired values with its 95% interval."""
    gaps = np.asarray(first, dtype=np.float64) - np.asarray(second, dtype=np.float64)
    half = 1.96 * gaps.std(ddof=1) / np.sqrt(len(gaps)) if len(gaps) > 1 else float("nan")
    return float(gaps.mean()), float(gaps.mean() - half), float(gaps.mean() + half)
