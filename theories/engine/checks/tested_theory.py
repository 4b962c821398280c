"""A theory under examination: its process, trials for it, and its answers to them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from lakatos.experiments.task import Domain, Stimuli
from lakatos.theories.engine.checks.check_report import TheoryCheck
from lakatos.theories.engine.running.sequence import SimulatedSequences, replay
from lakatos.theories.engine.sandbox.client import Sandbox
from lakatos.theories.engine.sandbox.session import TheorySession
from lakatos.theories.errors import TheoryError
from lakatos.theories.language.points import check_points
from lakatos.theories.language.theory import Theory

Array = NDArray[np.float64]
MOST_CANDIDATES = 200
MOST_ALONE = 40
"""Trials of the study that are each asked about alone at all points."""
STUDY = "the study's own trials"
N_SEQUENCES = 2
"""People in each set of given answers, for theories that learn."""


@dataclass(frozen=True)
class TrialSheet:
    """One thing to ask about: trials, and for a theory that learns the sequences and answers that are given."""

    name: str
    stimuli: Stimuli
    order: NDArray[np.int64]
    """``(n_sequences, n_steps)`` rows of the stimuli."""
    done: SimulatedSequences
    """Given answers and what followed them; the same for all draws, or each draw's own."""

    def take(self, unit: int, *, walks: bool) -> TrialSheet:
        """One trial, or one person's sequence, without the others."""
        if not walks:
            return replace(self, stimuli=self.stimuli.take([unit]))
        own = slice(unit, unit + 1)
        feedback = {name: table[:, own] for name, table in self.done.feedback.items()}
        done = SimulatedSequences(
            self.done.response[:, own], self.done.probabilities[:, own], feedback
        )
        return replace(self, order=self.order[own], done=done)


def _answered(
    domain: Domain, stimuli: Stimuli, order: NDArray[np.int64], response: NDArray[np.int64]
) -> SimulatedSequences:
    """Return what follows ``(1, n_sequences, n_steps)`` given responses; there are no probabilities."""
    follows: list[dict[str, Array]] = []
    for step in range(order.shape[1]):
        arrays = stimuli.take(order[:, step]).arrays
        shown = domain.shown(arrays, follows[-1] if follows else {})
        follows.append(domain.feedback(arrays, shown, response[:, :, step]))
    feedback = {name: np.stack([item[name] for item in follows], axis=-1) for name in follows[0]}
    return SimulatedSequences(response, np.zeros((*response.shape, 0)), feedback)


def sheet_of(
    domain: Domain,
    name: str,
    stimuli: Stimuli,
    rng: np.random.Generator,
    n_sequences: int = N_SEQUENCES,
) -> TrialSheet:
    """Trials to ask about, in sequences whose order, unless the task has one, and responses are drawn at random."""
    rows = np.tile(np.arange(len(stimuli)), (n_sequences, 1))
    order = rows if domain.sequential else rng.permuted(rows, axis=1)
    response = rng.integers(0, domain.n_options(stimuli), size=(1, *order.shape))
    return TrialSheet(name, stimuli, order, _answered(domain, stimuli, order, response))


class TestedTheory:
    """A theory on trial: what it is asked, and how."""

    def __init__(
        self,
        theory: Theory,
        domain: Domain,
        sandbox: Sandbox,
        probes: Callable[[np.random.Generator], Sequence[Stimuli]],
        candidates: Stimuli | None,
        seed: int,
        n_people: int = N_SEQUENCES,
    ) -> None:
        self.theory, self.domain, self.sandbox = theory, domain, sandbox
        self.broadcasts = True
        self.candidates: Stimuli | None = None
        self.walks = theory.learns or domain.sequential
        self.rng = np.random.default_rng(seed)
        self.points = check_points(theory.priors, self.rng)
        named = [
            (f"probe {index} of the domain {domain.name!r}", probe)
            for index, probe in enumerate(probes(self.rng))
        ]
        if candidates is not None:
            n_most = len(candidates) if domain.sequential else MOST_CANDIDATES
            self.candidates = candidates.take(np.arange(min(len(candidates), n_most)))
            some = (
                candidates
                if domain.sequential
                else candidates.take(np.arange(min(len(candidates), MOST_ALONE)))
            )
            named.append((STUDY, some))
        self.sheets = [sheet_of(domain, name, stimuli, self.rng) for name, stimuli in named]
        self.at_study_size: TrialSheet | None = None
        if self.candidates is not None:
            self.at_study_size = sheet_of(domain, STUDY, self.candidates, self.rng, n_people)

    @contextmanager
    def asking(
        self, sheets: Sequence[TrialSheet], *, walks_apart: bool = True
    ) -> Iterator[TheoryAsker]:
        """Processes of their own that answer about these sheets; errors describe the trial that they count."""
        numbers = dict.fromkeys(self.domain.n_options(sheet.stimuli) for sheet in sheets)
        stimuli = [] if self.walks else [sheet.stimuli.arrays for sheet in sheets]
        source = self.theory.program.source
        try:
            with ExitStack() as stack:
                opened = {
                    number: stack.enter_context(
                        self.sandbox.open_session(
                            source, stimuli, n_options=number, walks_apart=walks_apart
                        )
                    )
                    for number in numbers
                }
                yield TheoryAsker(self, opened, sheets)
        except TheoryError as error:
            found = re.search(r"stimuli set (\d+), draw \d+.*?, trial (\d+)", str(error))
            if not found:
                raise
            raise type(error)(
                f"{error} The trial: {self.where(sheets[int(found[1])], int(found[2]))}."
            ) from None

    def where(self, sheet: TrialSheet, row: int) -> str:
        """Say in words which trial, and of whom, a row is."""
        if not self.walks:
            return f"{sheet.name}, trial {row} ({self.domain.describe(sheet.stimuli, row)})"
        person, step = divmod(row, sheet.order.shape[1])
        shown = self.domain.describe(sheet.stimuli, int(sheet.order[person, step]))
        return f"{sheet.name}, sequence {person}, step {step} ({shown})"

    def draw(self, index: int, points: Mapping[str, Array] | None = None) -> str:
        """Say in words which parameters a point has."""
        values = ", ".join(
            f"{name}={values[index]:.6g}"
            for name, values in (points or self.points).items()
            if name
        )
        return f"draw {index}" + (f" ({values})" if values else "")


class TheoryAsker:
    """The theory, started, in a process for each number of options."""

    def __init__(
        self,
        trial: TestedTheory,
        sessions: Mapping[int, TheorySession],
        sheets: Sequence[TrialSheet],
    ) -> None:
        self.trial, self.sessions, self.sheets = trial, sessions, sheets

    def __call__(self, parameters: Mapping[str, Array]) -> list[Array]:
        """``(n_draws, n_rows, n_options)`` for each sheet; rows are trials, or steps within sequences."""
        if not self.trial.walks:
            (session,) = self.sessions.values()
            return session.probabilities(parameters)
        answers = [self.replay(parameters, sheet, sheet.done) for sheet in self.sheets]
        return [answer.reshape(len(answer), -1, answer.shape[-1]) for answer in answers]

    def replay(
        self, parameters: Mapping[str, Array], sheet: TrialSheet, done: SimulatedSequences
    ) -> Array:
        """``(n_draws, n_sequences, n_steps, n_options)`` along given answers."""
        return replay(
            self.session(sheet), self.trial.domain, parameters, sheet.stimuli, sheet.order, done
        )

    def session(self, sheet: TrialSheet) -> TheorySession:
        """The process that answers about trials with as many options."""
        return self.sessions[self.trial.domain.n_options(sheet.stimuli)]

    @property
    def broadcasts(self) -> bool:
        """Whether all draws were taken together."""
        return all(session.broadcasts for session in self.sessions.values())

    @property
    def processor_seconds(self) -> float:
        """Processor time that the theory's processes have used so far."""
        return sum(session.processor_seconds for session in self.sessions.values())


def _probabilities(trial: TestedTheory) -> list[TheoryCheck]:
    with trial.asking(trial.sheets) as ask:
        answers = ask(trial.points)  # the sandbox refuses what is no probability
    n_points, n_rows = len(answers[0]), sum(answer.shape[1] for answer in answers)
    low, high = (
        min(float(answer.min()) for answer in answers),
        max(float(answer.max()) for answer in answers),
    )
    return [
        TheoryCheck(
            "probabilities",
            True,
            0.0,
            0.0,
            f"finite, not negative and summing to one at {n_points} points of the declared ranges (middle, each "
            f"extreme alone, corners, random) on {n_rows} {'steps' if trial.walks else 'trials'}; they lie from "
            f"{low:.4g} to {high:.4g}.",
        )
    ]
