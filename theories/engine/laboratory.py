"""The laboratory: one sandbox for each worker thread, so that several theories run side by side.

Results come back in the order of the questions and do not depend on the number of workers.
"""

from __future__ import annotations

import operator
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import cached_property, partial, wraps
from types import TracebackType
from typing import Any, Self, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

from lakatos.experiments.data_sets import data_set_of, data_sets_of
from lakatos.experiments.participants.simulated import as_trials
from lakatos.experiments.task import Domain, Stimuli, Trials, check_unmixed
from lakatos.theories.engine.checks.check import load_theory
from lakatos.theories.engine.checks.claim import check_claim
from lakatos.theories.engine.checks.claim_exam import check_clauses
from lakatos.theories.engine.checks.clause_check import TriedClause
from lakatos.theories.engine.checks.in_use import check_in_use
from lakatos.theories.engine.checks.prediction import ClaimPrediction, ClaimReport
from lakatos.theories.engine.fitting.evaluate import (
    EvaluatedComposition,
    evaluate,
    evaluate_program,
    glance_at,
)
from lakatos.theories.engine.fitting.fit import (
    FITTING_DRAWS,
    MORE_EXCHANGED,
    N_LATER_ROUNDS,
    N_ROUNDS,
    NOTHING,
    Scored,
    evidence_of_population,
    fitting_draws,
    learn_people,
    score_experiments,
    score_with_people,
)
from lakatos.theories.engine.fitting.screen import SCREEN_DRAWS, score_before_fit
from lakatos.theories.engine.running.behave import behave, orders_of_all, orders_of_asked
from lakatos.theories.engine.sandbox.client import NOTHING_YET, Sandbox
from lakatos.theories.engine.sandbox.limits import USUAL_LIMITS, WALL_PER_PROCESSOR, SandboxLimits
from lakatos.theories.engine.scoring.arrangement import SharedProcess, TrialArrangement
from lakatos.theories.engine.scoring.distance import DuplicateTheory, find_duplicate
from lakatos.theories.engine.scoring.score import ExperimentEvidence, UnitScores, log_predictive
from lakatos.theories.engine.scoring.view import TheoryView
from lakatos.theories.errors import GrammarError, TheoryError
from lakatos.theories.language.family import find_family, own_texts
from lakatos.theories.language.grammar import Composition, Grammar, composition_of
from lakatos.theories.language.prior import Prior
from lakatos.theories.language.theory import Theory, TheoryProgram, read_program
from lakatos.traces.digest import Digest

Array = NDArray[np.float64]
T = TypeVar("T")
LIMITS = SandboxLimits(wall_seconds=WALL_PER_PROCESSOR * USUAL_LIMITS.cpu_seconds)
CHUNK, PART = 4096, 512
"""Trials sent to a theory when only their mean over draws is wanted, and those that it is asked about at once: what it
computes of so many stays in the processor's cache."""


class Laboratory:
    """Sandboxes and the threads that feed them; a context manager."""

    def __init__(
        self,
        domain: Domain,
        n_workers: int = 2,
        *,
        require: frozenset[str] = frozenset(),
        seconds: float = USUAL_LIMITS.cpu_seconds,
    ) -> None:
        """Start nothing yet; a sandbox starts with the first theory of its thread.

        Args:
            domain: Domain of all trials for which theories predict here.
            n_workers: Theories that run at the same time.
            require: Sandbox layers without which no theory may run.
            seconds: Processor time of one call of a theory.
        """
        self.domain = domain
        self.seconds = seconds
        self._require = require
        self._local = threading.local()
        self._sandboxes: list[Sandbox] = []
        self._guard = threading.Lock()
        self._of_answers: dict[str, Any] = {}
        """Results that walks through responses share among all threads."""
        self._pool = ThreadPoolExecutor(n_workers, thread_name_prefix="laboratory")

    @property
    def layers(self) -> tuple[str, ...]:
        """Protection in which theories run here."""
        return self._pool.submit(lambda: self._sandbox().level.layers).result()

    def check(
        self, program: TheoryProgram, stimuli: Stimuli | None = None, n_people: int = 2
    ) -> Theory:
        """The program as a theory that has passed everything in `check_theory`, with what was proved.

        Args:
            program: The text.
            stimuli: The study's own trials, as far as there are any.
            n_people: As many are asked together in an experiment of the study.

        Raises:
            TheoryError: The first check that it fails.
        """

        def work() -> Theory:
            sandbox = self._sandbox()
            return load_theory(
                program, self.domain, sandbox, thorough=True, candidates=stimuli, n_people=n_people
            )

        return self._pool.submit(work).result()

    def with_sandbox(self, work: Callable[[Domain, Sandbox], T]) -> T:
        """Call a function with the domain and a sandbox, in a thread of the pool, and return its result."""
        return self._pool.submit(lambda: work(self.domain, self._sandbox())).result()

    def check_in_use(self, theory: Theory, trials: Sequence[Trials], stimuli: Stimuli) -> None:
        """Refuse a fitted theory that knows trials by heart; see `theories.engine.checks.in_use.check_in_use`."""
        self.with_sandbox(partial(check_in_use, theory, trials=trials, stimuli=stimuli))

    def check_claim(self, theory: Theory, predictions: Sequence[ClaimPrediction]) -> ClaimReport:
        """Try predictions on a theory's code; see `theories.engine.checks.claim.check_claim`."""
        return self.with_sandbox(partial(check_claim, theory, predictions=predictions))

    def check_clauses(self, theory: Theory, trials: Sequence[Stimuli]) -> list[TriedClause]:
        """Try what a theory says at its learned numbers on trials; see `checks.claim_exam.check_clauses`."""
        return self.with_sandbox(partial(check_clauses, theory, trials=trials, numbers=True))

    def duplicate(
        self, candidate: Theory, pool: Sequence[Theory], stimuli: Stimuli
    ) -> DuplicateTheory | None:
        """The first of ``pool`` that predicts as ``candidate`` does once it may adapt; see `find_duplicate`."""
        return self.with_sandbox(partial(find_duplicate, candidate, pool, stimuli, n_workers=1))

    def answers_of(
        self, theories: Sequence[Theory], stimuli: Sequence[Stimuli], n_draws: int
    ) -> list[list[Array]]:
        """Probabilities of every draw of each theory's population, ``(n_draws, n_trials, n_options)`` each.

        Of people who learn, those expected before anybody was asked.
        """

        def one(theory: Theory) -> list[Array]:
            with self._view(theory, stimuli) as view:
                return view.probabilities(theory.population(n_draws))

        return self._map(one, theories)

    def evidence(
        self, theory: Theory, trials: Sequence[Trials], n_draws: int
    ) -> list[ExperimentEvidence]:
        """Compute the likelihood of the responses for every draw of a theory's people, experiment by experiment."""
        return self.evidence_of([theory], trials, n_draws)[0]

    def evidence_of(
        self, theories: Sequence[Theory], trials: Sequence[Trials], n_draws: int
    ) -> list[list[ExperimentEvidence]]:
        """Evidence of several theories, side by side; see `evidence`."""
        check_unmixed(trials)

        def one(theory: Theory) -> list[ExperimentEvidence]:
            with self._scoring_view(theory, [item.stimuli for item in trials]) as view:
                return evidence_of_population(
                    view, theory.priors, theory.population(n_draws), trials
                )

        return self._map(one, theories)

    def predictives_or_error(
        self, theories: Sequence[Theory], trials: Trials, n_draws: int
    ) -> list[UnitScores | TheoryError]:
        """Score each theory on one experiment with the population it has; one that fails yields its error.

        Probabilities of one theory are let go before those of the next: of thousands of trials they take gigabytes.
        """

        def one(theory: Theory) -> UnitScores:
            return log_predictive(self._evidence_of_one(theory, trials, n_draws))

        return self._map(_or_error(one), theories)

    def tell_evidence(
        self,
        theory: Theory,
        trials: Sequence[Trials],
        n_draws: int,
        told: Callable[[ExperimentEvidence], T],
    ) -> list[T]:
        """Apply a function to the evidence on each experiment, which is released before that of the next."""
        check_unmixed(trials)

        def one(item: Trials) -> T:
            return told(self._evidence_of_one(theory, item, n_draws))

        return [self._pool.submit(one, item).result() for item in trials]

    def _evidence_of_one(self, theory: Theory, trials: Trials, n_draws: int) -> ExperimentEvidence:
        """Compute the evidence of one experiment for every draw of a theory's people; for threads of the pool."""
        drawn = theory.population(n_draws)
        with self._scoring_view(theory, [trials.stimuli]) as view:
            (evidence,) = evidence_of_population(view, theory.priors, drawn, [trials])
        return evidence

    def look(
        self, theory: Theory, stimuli: Sequence[Stimuli], question: Callable[[TheoryView], T]
    ) -> T:
        """Answer a ``question`` about a theory that looks at some stimuli."""

        def work() -> T:
            with TheoryView(theory, self.domain, self._sandbox(), stimuli) as view:
                return question(view)

        return self._pool.submit(work).result()

    def people_of(
        self,
        theories: Sequence[Theory],
        starts: Sequence[Mapping[str, Prior]],
        trials: Sequence[Trials],
        done: Callable[[], None] | None = None,
    ) -> list[dict[str, Prior] | TheoryError]:
        """The people of each theory that answers show; see `learn_people`. A theory that fails yields its error.

        Args:
            theories: Theories with their declared ranges.
            starts: What earlier answers taught about each; empty where there were none.
            trials: All experiments.
            done: Called whenever a theory is finished.
        """

        def one(item: tuple[Theory, Mapping[str, Prior]]) -> dict[str, Prior]:
            theory, start = item
            with self._view(theory, [item.stimuli for item in trials]) as view:
                n_rounds = N_LATER_ROUNDS if start else N_ROUNDS
                n_draws = fitting_draws(theory, trials)
                return learn_people(
                    view, trials, start=start, n_draws=n_draws, n_iterations=n_rounds
                )

        return self._map(_or_error(one), list(zip(theories, starts, strict=True)), done)

    def with_people_of(
        self, forms: Mapping[str, Theory], trials: Sequence[Trials]
    ) -> tuple[dict[str, Theory], dict[str, str]]:
        """Theories by name, with the people that answers teach each; and why others do not run on these trials."""
        people = self.people_of(list(forms.values()), [{}] * len(forms), trials)
        pooled = all(item.pooled for item in trials)
        fitted, failed = {}, {}
        for (name, form), found in zip(forms.items(), people, strict=True):
            if isinstance(found, TheoryError):
                failed[name] = f"{type(found).__name__}: {found}"
            else:
                fitted[name] = form.with_people(found, pooled=pooled)
        return fitted, failed

    def scores_of(
        self,
        theories: Sequence[Theory],
        trials: Sequence[Trials],
        n_draws: int,
        done: Callable[[], None] | None = None,
    ) -> list[list[Scored] | TheoryError]:
        """Score each theory on every experiment from the others; one that fails yields its error.

        Where there are several data sets, each is predicted from the others.

        Args:
            theories: Theories with the people that all of the experiments taught; side by side, each by itself.
            trials: All experiments.
            n_draws: Number of draws of each population.
            done: Called whenever a theory is finished.
        """

        def one(theory: Theory) -> list[Scored]:
            elsewhere = self._scores_by_other_data_sets(theory, trials, n_draws)
            with self._scoring_view(theory, [item.stimuli for item in trials]) as view:
                return score_experiments(
                    view, theory.priors, trials, n_draws, by_other_data_sets=elsewhere
                )

        return self._map(_or_error(one), theories, done)

    def _scores_by_other_data_sets(
        self, theory: Theory, trials: Sequence[Trials], n_draws: int
    ) -> list[UnitScores]:
        """Each experiment, predicted with the population that the other data sets teach from nothing.

        Returns:
            One per experiment; none where there are not several data sets.
        """
        form = read_program(theory.program)
        found: dict[int, UnitScores] = {}
        for data_set in data_sets_of(item.experiment for item in trials):
            own = {
                place: item
                for place, item in enumerate(trials)
                if data_set_of(item.experiment) == data_set
            }
            others = [item for place, item in enumerate(trials) if place not in own]
            with TheoryView(
                form, self.domain, self._sandbox(), [item.stimuli for item in others]
            ) as view:
                people = learn_people(view, others, n_draws=fitting_draws(form, others))
            left_out = list(own.values())
            with TheoryView(
                theory, self.domain, self._sandbox(), [item.stimuli for item in left_out]
            ) as view:
                scores = score_with_people(view, people, left_out, n_draws)
            found |= zip(own, scores, strict=True)
        return [found[place] for place in sorted(found)]

    def proportions(
        self,
        theory: Theory,
        stimuli: Stimuli,
        n_draws: int,
        *,
        lapse: bool = True,
        random_choices: float = 0.0,
    ) -> Array:
        """Choice proportions of the population, ``(n_trials, n_options)``, however many trials there are.

        Args:
            theory: Theory with its population.
            stimuli: Trials.
            n_draws: Number of draws of the population.
            lapse: Whether lapses that the theory declares count.
            random_choices: Share of responses given at random, whatever the theory states.
        """
        population = theory.population(n_draws, lapse=lapse)
        whole = self.domain.sequential or theory.learns
        chunks = [stimuli] if self.domain.sequential else _parts(stimuli, CHUNK)

        def one(chunk: Stimuli) -> Array:
            parts = [chunk] if whole else _parts(chunk, PART)
            with self._view(theory, parts) as view:
                found = view.probabilities(population, random_choice_share=random_choices)
            return np.concatenate([own.mean(axis=0) for own in found])

        stated = np.concatenate(self._map(one, chunks))
        n_options: int = stated.shape[-1]
        return np.asarray((1 - random_choices) * stated + random_choices / n_options)

    def simulate(
        self,
        theories: Sequence[Theory],
        stimuli: Stimuli,
        n_people: int,
        rng: np.random.Generator,
        *,
        n_draws: int | None = None,
        repetitions: int = 1,
        asked: NDArray[np.integer[Any]] | None = None,
        random_choices: Sequence[float] = (),
    ) -> list[Trials]:
        """Responses of ``n_people`` of every theory's population.

        Args:
            theories: Each with people of its own.
            stimuli: What people are asked, in the order of a schedule where the domain has one, else in random ones.
            n_people: Per theory; a power of two where all draws of a population are asked.
            rng: Source of the people and their responses.
            n_draws: Number of draws of each population, from which people are drawn by lot.
            repetitions: Presentations of each trial.
            asked: ``(n_people, n_trials)`` presentations to each person, in place of ``repetitions``.
            random_choices: Share of random responses of each theory's people; none by default.
        """
        shares = random_choices or [0.0] * len(theories)
        lengths: NDArray[np.int64] | None
        if asked is not None:
            order, lengths = orders_of_asked(asked, rng)
        else:
            rows = np.tile(np.arange(len(stimuli)), repetitions)
            order = orders_of_all(rows, n_people, rng, shuffled=not self.domain.sequential)
            lengths = None
        n_options = self.domain.n_options(stimuli)
        seeds = rng.spawn(len(theories))

        def people(index: int) -> Trials:
            theory, own = theories[index], seeds[index]
            parameters = theory.population(n_draws or n_people)
            if n_draws:
                drawn = own.choice(n_draws, size=n_people)
                parameters = {name: values[drawn] for name, values in parameters.items()}
            behaviour = behave(
                theory, self.domain, self._sandbox(), parameters, stimuli, order, own, shares[index]
            )
            return as_trials(theory.name, stimuli, order, behaviour, n_options, lengths)

        return self._map(people, range(len(theories)))

    def scores_of_simulated_people(
        self,
        theories: Sequence[Theory],
        n_draws: int,
        stimuli: Stimuli,
        rng: np.random.Generator,
        *,
        repetitions: int = 1,
        n_people: int = 64,
        asked: NDArray[np.integer[Any]] | None = None,
    ) -> Array:
        """People of every theory's population go through the stimuli, and every theory scores their responses.

        Args:
            theories: Each in turn is true.
            n_draws, stimuli, rng, repetitions, n_people, asked: As in `simulate`.

        Returns:
            ``(n_theories, n_people, n_theories)`` log predictive probability of each person's responses, nats.
        """
        simulated = self.simulate(
            theories,
            stimuli,
            n_people,
            rng,
            n_draws=n_draws,
            repetitions=repetitions,
            asked=asked,
        )

        def one(theory: Theory) -> Array:
            with self._view(theory, [item.stimuli for item in simulated]) as view:
                log_p = view.log_likelihood(theory.population(n_draws), simulated)
            mean = logsumexp(log_p, axis=0) - np.log(n_draws)
            return np.asarray(mean).reshape(len(theories), n_people)

        return np.stack(self._map(one, theories), axis=-1)

    def evaluate(
        self,
        grammar: Grammar,
        items: Sequence[tuple[Composition, Digest | None]],
        trials: Sequence[Trials],
        *,
        n_draws: int = FITTING_DRAWS,
    ) -> list[EvaluatedComposition | TheoryError]:
        """Fit and score compositions, each given with its parent; a theory that fails yields its error."""

        def one(item: tuple[Composition, Digest | None]) -> EvaluatedComposition:
            composition, parent = item
            return evaluate(
                grammar,
                composition,
                trials,
                self.domain,
                self._sandbox(),
                parents=() if parent is None else (parent,),
                n_draws=n_draws,
                shared=self._composing([item.stimuli for item in trials]),
            )

        return self._map(_or_error(one), items)

    def glance(
        self,
        grammar: Grammar,
        items: Sequence[tuple[Composition, EvaluatedComposition | None]],
        trials: Sequence[Trials],
    ) -> list[float | TheoryError]:
        """Estimate roughly what compositions would explain, each given with a similar fitted one; see `glance_at`."""

        def one(item: tuple[Composition, EvaluatedComposition | None]) -> float:
            composition, near = item
            shared = self._composing([item.stimuli for item in trials])
            return glance_at(
                grammar, composition, near, trials, self.domain, self._sandbox(), shared=shared
            )

        return self._map(_or_error(one), items)

    def same_predictions(
        self,
        grammar: Grammar,
        whole: Composition,
        parts: Sequence[Composition],
        trials: Sequence[Trials],
    ) -> list[bool]:
        """Mark the compositions, with some of a whole's parameters, that predict for every trial what the whole does.

        Nothing is said so of a theory that learns from trial to trial, or that cannot be run.
        """
        stimuli = [item.stimuli for item in trials]
        theory = read_program(TheoryProgram(grammar.write(Composition(whole.slots)), "grammar"))
        population = theory.population(MORE_EXCHANGED)

        def predicted(composition: Composition) -> Array | None:
            form = Composition(composition.slots)
            source = grammar.write_for(form, stimuli, walks=self.domain.sequential)
            other, shared = grammar.form(form, source), self._composing(stimuli)
            own = {name: population[name] for name in other.priors} or population
            with TheoryView(other, self.domain, self._sandbox(), stimuli, shared, source) as view:
                return None if other.learns else np.concatenate(view.probabilities(own), axis=1)

        first, *others = self._map(_or_error(predicted), [whole, *parts])
        if not isinstance(first, np.ndarray):
            return [False] * len(others)
        return [
            isinstance(other, np.ndarray) and bool(np.abs(other - first).max() <= NOTHING)
            for other in others
        ]

    def evaluate_program(
        self, program: TheoryProgram, trials: Sequence[Trials], *, n_draws: int = FITTING_DRAWS
    ) -> EvaluatedComposition | TheoryError:
        """`evaluate` for a theory that the grammar did not write."""

        def one(item: TheoryProgram) -> EvaluatedComposition:
            return evaluate_program(item, trials, self.domain, self._sandbox(), n_draws=n_draws)

        return self._map(_or_error(one), [program])[0]

    def scores_before_fit(
        self, programs: Sequence[TheoryProgram], trials: Sequence[Trials]
    ) -> list[float | TheoryError]:
        """Score each program on the responses with its declared people; one that cannot be run yields its error."""
        check_unmixed(trials)
        stimuli = [item.stimuli for item in trials]

        def one(program: TheoryProgram) -> float:
            theory = read_program(program)
            with TheoryView(theory, self.domain, self._sandbox(), stimuli) as view:
                return score_before_fit(view.evidence(theory.population(SCREEN_DRAWS), trials))

        return self._map(_or_error(one), programs)

    def close(self) -> None:
        """End all sandboxes and the threads that ask them."""
        self._pool.shutdown(wait=True, cancel_futures=True)
        for sandbox in self._sandboxes:
            sandbox.close()

    def _sandbox(self) -> Sandbox:
        sandbox: Sandbox | None = getattr(self._local, "sandbox", None)
        if sandbox is None:
            limits = replace(
                LIMITS, wall_seconds=WALL_PER_PROCESSOR * self.seconds, cpu_seconds=self.seconds
            )
            sandbox = self._local.sandbox = Sandbox(
                require=self._require, limits=limits, is_own=own_texts(self.domain)
            )
            with self._guard:
                self._sandboxes.append(sandbox)
        return sandbox

    def _view(self, theory: Theory, stimuli: Sequence[Stimuli]) -> TheoryView:
        """A look at a theory, for questions whose answers judge nobody.

        Where the grammar wrote how it learns, its functions are written anew and walk many steps a question, as they
        do in a search; the text that was submitted is not run. All others are asked step by step.
        """
        source = self._quicker_source(theory, stimuli)
        if source is None:
            return TheoryView(theory, self.domain, self._sandbox(), stimuli)
        shared = self._composing(stimuli)
        return TheoryView(theory, self.domain, self._sandbox(), stimuli, shared, source)

    def _scoring_view(self, theory: Theory, stimuli: Sequence[Stimuli]) -> TheoryView:
        """A look at a theory that is judged: `_view`, with the submitted text asked about some people again."""
        source = self._quicker_source(theory, stimuli)
        walker = None if source is None else self._composing(stimuli)
        return TheoryView(
            theory, self.domain, self._sandbox(), stimuli, source=source or "", walker=walker
        )

    def _quicker_source(self, theory: Theory, stimuli: Sequence[Stimuli]) -> str | None:
        """The functions of a theory that learns, written anew for these trials; None where no grammar wrote it."""
        slots, grammar = theory.composition, self._grammar
        if not theory.learns or slots is None or grammar is None:
            return None
        if not grammar.wrote(theory.program.source, slots):
            return None
        return grammar.write_for(composition_of(slots, {}), stimuli)

    @cached_property
    def _grammar(self) -> Grammar | None:
        """The domain's, where there are theories about it."""
        try:
            return find_family(self.domain).grammar
        except GrammarError:
            return None

    def _composing(self, stimuli: Sequence[Stimuli]) -> SharedProcess:
        """This thread's process for what the grammar writes; kept as long as it is asked about the same stimuli."""
        kept: SharedProcess | None = getattr(self._local, "composing", None)
        if kept is not None:
            known = kept.arrangement.stimuli
            same = len(known) == len(stimuli) and all(map(operator.is_, known, stimuli))
            if same and kept.session.is_open:
                return kept
            kept.session.close()
        arrangement = TrialArrangement.of(stimuli, self.domain)
        session = self._sandbox().open_session(
            NOTHING_YET,
            [] if self.domain.sequential else [part.arrays for part in arrangement.parts],
            n_options=self.domain.n_options(stimuli[0]),
            lint=False,
            walks_apart=False,
        )
        session.of_answers = self._of_answers
        process = self._local.composing = SharedProcess(session, arrangement)
        return process

    def _map(
        self,
        function: Callable[..., T],
        items: Sequence[object],
        done: Callable[[], None] | None = None,
    ) -> list[T]:
        found = []
        for one in self._pool.map(function, items):
            found.append(one)
            if done is not None:
                done()
        return found

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()


def _parts(stimuli: Stimuli, size: int) -> list[Stimuli]:
    """Trials in their order, at most ``size`` together."""
    starts = range(0, len(stimuli), size)
    return [stimuli.take(range(start, min(start + size, len(stimuli)))) for start in starts]


def _or_error(function: Callable[..., T]) -> Callable[..., T | TheoryError]:
    """``function``, which gives back the error of a theory that fails instead of raising it."""

    @wraps(function)
    def guarded(item: object) -> T | TheoryError:
        try:
            return function(item)
        except TheoryError as error:
            return error

    return guarded
