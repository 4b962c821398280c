"""A theory's process as the laboratory uses it: what the theory makes of responses, and of trials nobody has answered.

Theories that learn, and tasks in which steps follow one another, are walked through step by step; all others answer
for a whole set of trials at once.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from types import TracebackType
from typing import Self

import numpy as np
from numpy.typing import NDArray

from lakatos.experiments.task import Domain, Stimuli, Trials, check_unmixed
from lakatos.theories.engine.running.alone import check_people_alone, check_trials_alone
from lakatos.theories.engine.running.sequence import (
    expected,
    follow_all,
    log_likelihood_changed,
    log_likelihood_of_all,
    log_likelihood_of_parts,
)
from lakatos.theories.engine.sandbox.client import Sandbox
from lakatos.theories.engine.scoring.arrangement import SharedProcess
from lakatos.theories.engine.scoring.score import ExperimentEvidence
from lakatos.theories.language.theory import Theory

Array = NDArray[np.float64]
COMMON = 20_260_613
"""Seed of the orders in which people come upon trials that nobody has answered."""


class TheoryView:
    """One theory looking at some experiments; a context manager, for repeated questions with other parameters."""

    def __init__(
        self,
        theory: Theory,
        domain: Domain,
        sandbox: Sandbox,
        stimuli: Sequence[Stimuli],
        shared: SharedProcess | None = None,
        source: str = "",
        walker: SharedProcess | None = None,
    ) -> None:
        """Start the sandbox process that holds the theory.

        Args:
            theory: What is asked.
            domain: Domain of the trials.
            sandbox: Sandbox in which it runs.
            stimuli: Stimuli of each experiment; all with equally many options.
            shared: Process with these stimuli, for theories that the grammar wrote. They need not be kept from one
                another and are not asked again alone; the submitted are checked as a stranger's.
            source: What a shared process is given in place of the theory's own text; see `Grammar.write_for`.
            walker: Process that walks through the responses where the theory is checked as a stranger's all the same,
                with ``source``; some people are predicted again alone with the theory's own text.
        """
        self.theory, self.domain, self.stimuli, self._sandbox = theory, domain, stimuli, sandbox
        self.walks = theory.learns or domain.sequential
        self._shared, self._walker, self._source = shared, walker, source
        self._asked_again = False
        """Whether some predictions were requested again from a process without other requests."""
        if shared is not None:
            shared.session.hold(source or theory.program.source)
            self._session = shared.session
        else:
            self._session = sandbox.open_session(
                theory.program.source,
                [] if self.walks else [item.arrays for item in stimuli],
                n_options=domain.n_options(stimuli[0]),
            )

    def evidence(
        self, parameters: Mapping[str, Array], trials: Sequence[Trials]
    ) -> list[ExperimentEvidence]:
        """Compute the likelihood of the responses to the view's trials for ``(n_draws,)`` values of each parameter.

        Counts do not say in what order people answered; what is expected of people in any order stands for it.

        Raises:
            TrialsError: A language model answered some of the experiments, and people others.
            TheoryProbabilityError: A person, or a trial, alone is answered otherwise; see `running.alone`.
        """
        check_unmixed(trials)
        if not self.walks:
            answers = self._answers(parameters)
            if self._shared is None:
                check_trials_alone(
                    self.theory, self.domain, self._sandbox, parameters, self.stimuli, answers
                )
            self._asked_again = True
            return [
                ExperimentEvidence(item, answer)
                for item, answer in zip(trials, answers, strict=True)
            ]
        if all(item.pooled for item in trials):
            return [
                ExperimentEvidence(item, p)
                for item, p in zip(trials, self.probabilities(parameters), strict=True)
            ]
        walking = self._session
        if self._walker is not None:
            walking = self._walker.session
            walking.hold(self._source)
        followed = follow_all(walking, self.domain, parameters, trials)
        if self._shared is None:
            check_people_alone(self._session, self.domain, parameters, trials, followed)
        return [
            ExperimentEvidence(item, own.probabilities, own.log_likelihood)
            for item, own in zip(trials, followed, strict=True)
        ]

    def log_likelihood(self, parameters: Mapping[str, Array], trials: Sequence[Trials]) -> Array:
        """``(n_draws, n_participants of all experiments)`` nats of single responses; see `evidence`."""
        check_unmixed(trials)
        if self.walks:
            return log_likelihood_of_all(self._session, self.domain, parameters, trials)
        answers = self._answers(parameters)
        found = [
            ExperimentEvidence(item, answer).log_likelihood
            for item, answer in zip(trials, answers, strict=True)
        ]
        return np.concatenate(found, axis=1)

    def log_likelihood_of_parts(
        self,
        parameters: Mapping[str, Array],
        trials: Sequence[Trials],
        parts: Sequence[NDArray[np.int64]],
    ) -> Array:
        """``(n_draws, n_parts of all experiments)`` nats of parts of people's responses; see `sequence`.

        Args:
            parameters: Parameters of each draw.
            trials: Single responses.
            parts: ``(n_rows,)`` of each experiment: the part that each answer belongs to, from 0 on.
        """
        if not self.walks:
            divided = [
                replace(item, participant=part, attributes={})
                for item, part in zip(trials, parts, strict=True)
            ]
            return self.log_likelihood(parameters, divided)
        check_unmixed(trials)
        found = [
            log_likelihood_of_parts(self._session, self.domain, parameters, item, part)
            for item, part in zip(trials, parts, strict=True)
        ]
        return np.concatenate(found, axis=1)

    def log_likelihood_changed(
        self,
        parameters: Mapping[str, Array],
        trials: Sequence[Trials],
        changes: Sequence[Callable[[Array], Array]],
    ) -> Array:
        """Compute ``(n_changes, n_draws, n_participants)`` nats of a theory that walks; see `sequence`."""
        return log_likelihood_changed(self._session, self.domain, parameters, trials, changes)

    def probabilities(
        self, parameters: Mapping[str, Array], *, random_choice_share: float = 0.0
    ) -> list[Array]:
        """``(n_draws, n_trials, n_options)`` for each experiment, expected of people who have not been asked yet.

        Args:
            parameters: Parameters of each draw.
            random_choice_share: Share of earlier responses given at random.
        """
        if not self.walks:
            return self._answers(parameters)
        # The same orders and the same luck for every theory, or two that say the same would differ by chance.
        chances = (np.random.default_rng(COMMON) for _ in self.stimuli)
        pairs = zip(self.stimuli, chances, strict=True)
        return [
            expected(
                self._session,
                self.domain,
                parameters,
                item,
                rng,
                random_choice_share=random_choice_share,
            )
            for item, rng in pairs
        ]

    def _answers(self, parameters: Mapping[str, Array]) -> list[Array]:
        """``(n_draws, n_trials, n_options)`` for each experiment, of a theory without memory."""
        answers = self._session.probabilities(parameters)
        return answers if self._shared is None else self._shared.arrangement.restore(answers)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._shared is not None:
            return
        with self._session:
            if kind is None and not self._asked_again:
                self._session.check_forgetful()
