"""Where theories run: one sandbox for each worker thread, so that several theories run side by side.

Results come back in the order of the questions and do not depend on the number of workers.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from types import TracebackType
from typing import Self, TypeVar

import numpy as np
from cachetools import LRUCache
from numpy.typing import NDArray
from scipy.special import logsumexp

from experiments.participants.simulated import as_trials
from experiments.task import Domain, Stimuli, Trials, check_unmixed
from theories.behave import behave
from theories.check import load_theory
from theories.claim import ClaimReport, Prediction, check_claim
from theories.distance import Duplicate, find_duplicate
from theories.errors import TheoryError
from theories.evaluate import Evaluated, cross_validate, evaluate, evaluate_program
from theories.grammar import Composition, Grammar
from theories.sandbox.client import Limits, Sandbox
from theories.score import Evidence, UnitScores, log_predictive
from theories.theory import Theory, TheoryProgram
from theories.view import View
from traces.digest import Digest

Array = NDArray[np.float64]
T = TypeVar("T")
LIMITS = Limits(wall_seconds=120.0)
"""Processor time decides what is too slow; wall time only ends what hangs, so that a busy machine changes nothing."""
N_ORDERS = 8
"""Random orders shared by simulated people, where any order will do: those with one order are simulated together."""
CHUNK = 4096
"""Trials sent to a theory at once when only their mean over draws is wanted."""
KEPT_BYTES = 2**30
"""Memory, at most, for likelihoods that are wanted again whenever an experiment arrives."""


@dataclass(frozen=True)
class Scored:
    """How well a theory predicts one experiment."""

    declared: UnitScores
    learned: UnitScores | None
    """With the population that earlier experiments taught, where its weights were given."""
    mean: Array
    """``(n_trials, n_options)`` proportions of the declared population."""


class Laboratory:
    """Sandboxes and the threads that feed them; a context manager."""

    def __init__(self, domain: Domain, n_workers: int = 2, *, require: frozenset[str] = frozenset()) -> None:
        """Start nothing yet; a sandbox starts with the first theory of its thread.

        Args:
            domain: Of all trials that theories are asked about here.
            n_workers: Theories that run at the same time.
            require: Sandbox layers without which no theory may run.
        """
        self.domain = domain
        self._require = require
        self._local = threading.local()
        self._sandboxes: list[Sandbox] = []
        self._guard = threading.Lock()
        self._kept: LRUCache[tuple[Digest, Digest, int], Evidence] = LRUCache(
            KEPT_BYTES, getsizeof=lambda item: item.n_bytes
        )
        self._pool = ThreadPoolExecutor(n_workers, thread_name_prefix="laboratory")

    @property
    def layers(self) -> tuple[str, ...]:
        """Protection in which theories run here."""
        return self._pool.submit(lambda: self._sandbox().level.layers).result()

    def check(self, program: TheoryProgram, candidates: Stimuli | None = None) -> Theory:
        """The program as a theory that has passed everything in `check_theory`, with what was proved.

        Args:
            program: The text.
            candidates: Trials of the study's own, tried beside the domain's probes.

        Raises:
            TheoryError: The first check that it fails.
        """
        return self._pool.submit(
            lambda: load_theory(program, self.domain, self._sandbox(), thorough=True, candidates=candidates)
        ).result()

    def check_claim(self, theory: Theory, predictions: Sequence[Prediction]) -> ClaimReport:
        """Try predictions on a theory's code; see `theories.claim.check_claim`."""
        return self._pool.submit(
            lambda: check_claim(theory, self.domain, self._sandbox(), predictions=predictions)
        ).result()

    def duplicate(self, candidate: Theory, pool: Sequence[Theory], stimuli: Stimuli) -> Duplicate | None:
        """The first of ``pool`` that predicts as ``candidate`` does once it may adapt; see `find_duplicate`."""
        found = self._pool.submit(
            lambda: find_duplicate(candidate, pool, stimuli, self.domain, self._sandbox(), n_workers=1)
        )
        return found.result()

    def answers_of(self, theories: Sequence[Theory], stimuli: Sequence[Stimuli], n_draws: int) -> list[list[Array]]:
        """Probabilities of every draw of each theory's declared population, ``(n_draws, n_trials, n_options)`` each.

        Of people who learn, those expected before anybody was asked.
        """

        def one(theory: Theory) -> list[Array]:
            with View(theory, self.domain, self._sandbox(), stimuli) as view:
                return view.probabilities(theory.population(n_draws))

        return self._map(one, theories)

    def evidence(self, theory: Theory, trials: Sequence[Trials], n_draws: int) -> list[Evidence]:
        """What every draw of the declared population makes of the answers, experiment by experiment."""
        return self.evidence_of([theory], trials, n_draws)[0]

    def evidence_of(self, theories: Sequence[Theory], trials: Sequence[Trials], n_draws: int) -> list[list[Evidence]]:
        """`evidence` of several theories."""

        def one(theory: Theory) -> list[Evidence]:
            return self._ask(theory, trials, n_draws)

        found = self._map(one, theories)
        if len(trials) == 1:  # walked together, answers could differ in the last bit
            for theory, own in zip(theories, found, strict=True):
                self._keep(theory, trials[0], n_draws, own[0].condensed())
        return found

    def scores_of(
        self, theories: Sequence[Theory], trials: Trials, n_draws: int, log_weights: Mapping[Digest, Array]
    ) -> list[Scored | TheoryError]:
        """How well each theory predicts an experiment; one that fails yields its error.

        Args:
            theories: Side by side, each by itself.
            trials: The experiment.
            n_draws: Of each declared population.
            log_weights: ``(n_draws,)`` of the learned population, for theories that have one, by digest.
        """

        def one(theory: Theory) -> tuple[Scored, Evidence] | TheoryError:
            try:
                (evidence,) = self._ask(theory, [trials], n_draws)
            except TheoryError as error:
                return error
            mean = evidence.probabilities.mean(axis=0)
            weights = log_weights.get(theory.digest)
            scored = Scored(
                declared=log_predictive(evidence),
                learned=None if weights is None else log_predictive(evidence, weights),
                mean=mean,
            )
            return scored, evidence.condensed()

        found: list[Scored | TheoryError] = []
        for theory, item in zip(theories, self._map(one, theories), strict=True):
            if isinstance(item, TheoryError):
                found.append(item)
                continue
            self._keep(theory, trials, n_draws, item[1])
            found.append(item[0])
        return found

    def likelihoods_of(
        self, theories: Sequence[Theory], trials: Sequence[Trials], n_draws: int
    ) -> list[list[Evidence]]:
        """`evidence_of`, without probabilities where likelihoods say it all; asks about new experiments only."""
        check_unmixed(trials)

        keys = [[(theory.digest, item.digest, n_draws) for item in trials] for theory in theories]
        with self._guard:
            known = {key: self._kept[key] for own in keys for key in own if key in self._kept}
        missing = [[place for place, key in enumerate(own) if key not in known] for own in keys]

        def one(question: tuple[Theory, list[int]]) -> list[Evidence]:
            theory, places = question
            # Walked together, answers could differ in the last bit from those of experiments that came one by one.
            walks = theory.learns or self.domain.sequential
            batches = [[place] for place in places] if walks else [places]
            answers = [self._ask(theory, [trials[place] for place in batch], n_draws) for batch in batches]
            return [answer.condensed() for batch in answers for answer in batch]

        asked = [number for number, places in enumerate(missing) if places]
        for number, answers in zip(
            asked, self._map(one, [(theories[number], missing[number]) for number in asked]), strict=True
        ):
            for place, answer in zip(missing[number], answers, strict=True):
                known[keys[number][place]] = answer
                self._keep(theories[number], trials[place], n_draws, answer)
        return [[known[key] for key in own] for own in keys]

    def _ask(self, theory: Theory, trials: Sequence[Trials], n_draws: int) -> list[Evidence]:
        with View(theory, self.domain, self._sandbox(), [item.stimuli for item in trials]) as view:
            return view.evidence(theory.population(n_draws), trials)

    def _keep(self, theory: Theory, trials: Trials, n_draws: int, condensed: Evidence) -> None:
        if condensed.n_bytes <= KEPT_BYTES:
            with self._guard:
                self._kept[theory.digest, trials.digest, n_draws] = condensed

    def proportions(self, theory: Theory, stimuli: Stimuli, n_draws: int, *, lapse: bool = True) -> Array:
        """Choice proportions of the declared population, ``(n_trials, n_options)``, however many trials there are."""
        population = theory.population(n_draws, lapse=lapse)
        size = len(stimuli) if self.domain.sequential else CHUNK
        parts = [stimuli.take(range(start, min(start + size, len(stimuli)))) for start in range(0, len(stimuli), size)]

        def one(part: Stimuli) -> Array:
            with View(theory, self.domain, self._sandbox(), [part]) as view:
                return np.asarray(view.probabilities(population)[0].mean(axis=0))

        return np.concatenate(self._map(one, parts))

    def simulate(
        self,
        theories: Sequence[Theory],
        stimuli: Stimuli,
        n_people: int,
        rng: np.random.Generator,
        *,
        log_weights: Sequence[Array] | None = None,
        repetitions: int = 1,
    ) -> list[Trials]:
        """Answers of ``n_people`` of every theory's population, learned where weights of its draws are given.

        Args:
            theories: Each with people of its own.
            stimuli: What people are asked, in the order of a schedule where the domain has one, else in random ones.
            n_people: Per theory; a power of two where no weights are given.
            rng: Source of the people and their answers.
            log_weights: ``(n_draws,)`` of each theory's declared population.
            repetitions: Presentations of each trial.
        """
        rows = np.tile(np.arange(len(stimuli)), repetitions)
        orders = rows[None] if self.domain.sequential else rng.permuted(np.tile(rows, (N_ORDERS, 1)), axis=1)
        order = orders[np.arange(n_people) % len(orders)]
        n_options = self.domain.n_options(stimuli)
        seeds = rng.spawn(len(theories))

        def people(index: int) -> Trials:
            theory, own = theories[index], seeds[index]
            if log_weights is None:
                parameters = theory.population(n_people)
            else:
                weights = np.exp(log_weights[index])
                drawn = own.choice(len(weights), size=n_people, p=weights / weights.sum())
                parameters = {name: values[drawn] for name, values in theory.population(len(weights)).items()}
            behaviour = behave(theory, self.domain, self._sandbox(), parameters, stimuli, order, own)
            return as_trials(theory.name, stimuli, order, behaviour, n_options)

        return self._map(people, range(len(theories)))

    def scores_of_simulated_people(
        self,
        theories: Sequence[Theory],
        log_weights: Sequence[Array],
        stimuli: Stimuli,
        rng: np.random.Generator,
        *,
        repetitions: int = 1,
        n_people: int = 64,
    ) -> Array:
        """People of every theory's population go through the stimuli, and every theory scores their answers.

        Args:
            theories: Each in turn is true.
            log_weights, stimuli, rng, repetitions, n_people: As in `simulate`.

        Returns:
            ``(n_theories, n_people, n_theories)`` log predictive probability of each person's answers, nats.
        """
        simulated = self.simulate(theories, stimuli, n_people, rng, log_weights=log_weights, repetitions=repetitions)

        def one(index: int) -> Array:
            theory, weights = theories[index], log_weights[index]
            with View(theory, self.domain, self._sandbox(), [item.stimuli for item in simulated]) as view:
                log_p = view.log_likelihood(theory.population(len(weights)), simulated)
            return np.asarray(logsumexp(log_p + weights[:, None], axis=0)).reshape(len(theories), n_people)

        return np.stack(self._map(one, range(len(theories))), axis=-1)

    def evaluate(
        self,
        grammar: Grammar,
        items: Sequence[tuple[Composition, Digest | None]],
        trials: Sequence[Trials],
        *,
        n_draws: int = 256,
    ) -> list[Evaluated | TheoryError]:
        """Fit and score compositions, each given with its parent; a theory that fails yields its error."""

        def one(item: tuple[Composition, Digest | None]) -> Evaluated | TheoryError:
            try:
                return evaluate(
                    grammar,
                    item[0],
                    trials,
                    self.domain,
                    self._sandbox(),
                    parents=() if item[1] is None else (item[1],),
                    n_draws=n_draws,
                )
            except TheoryError as error:
                return error

        return self._map(one, items)

    def cross_validate(
        self, grammar: Grammar, compositions: Sequence[Composition], trials: Sequence[Trials], *, n_draws: int = 256
    ) -> list[tuple[UnitScores, ...] | TheoryError]:
        """Scores of compositions on people whom they were not fitted to; a theory that fails yields its error."""

        def one(composition: Composition) -> tuple[UnitScores, ...] | TheoryError:
            try:
                return cross_validate(grammar, composition, trials, self.domain, self._sandbox(), n_draws=n_draws)
            except TheoryError as error:
                return error

        return self._map(one, compositions)

    def evaluate_program(
        self, program: TheoryProgram, trials: Sequence[Trials], *, n_draws: int = 256
    ) -> Evaluated | TheoryError:
        """`evaluate` for a theory that the grammar did not write."""

        def one(item: TheoryProgram) -> Evaluated | TheoryError:
            try:
                return evaluate_program(item, trials, self.domain, self._sandbox(), n_draws=n_draws)
            except TheoryError as error:
                return error

        return self._map(one, [program])[0]

    def close(self) -> None:
        """End all sandboxes."""
        self._pool.shutdown(wait=True, cancel_futures=True)
        for sandbox in self._sandboxes:
            sandbox.close()

    def _sandbox(self) -> Sandbox:
        sandbox: Sandbox | None = getattr(self._local, "sandbox", None)
        if sandbox is None:
            sandbox = self._local.sandbox = Sandbox(require=self._require, limits=LIMITS)
            with self._guard:
                self._sandboxes.append(sandbox)
        return sandbox

    def _map(self, function: Callable[..., T], items: Sequence[object]) -> list[T]:
        return list(self._pool.map(function, items))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()
