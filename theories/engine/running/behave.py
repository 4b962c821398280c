"""Simulated people who follow a theory, each with parameters of their own."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from types import TracebackType
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from lakatos.experiments.participants.simulated import SimulatedBehaviour, independent
from lakatos.experiments.task import Domain, Stimuli
from lakatos.theories.engine.running.sequence import simulate
from lakatos.theories.engine.sandbox.client import Sandbox
from lakatos.theories.language.theory import Theory

Array = NDArray[np.float64]
N_ORDERS = 8
"""Random orders shared by simulated people, where any order will do: those with one order are simulated together."""
FEW_ORDERS = 8
"""Orders up to which people with the same one are walked together; beyond, all at once, each on their own way."""


def orders_of_asked(
    rows: NDArray[np.integer[Any]], rng: np.random.Generator
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Each person's own trials in a random order, and how many they are.

    Args:
        asked: ``(n_people, n_trials)`` presentations to each person.
        rng: Generator for the orders.

    Returns:
        ``(n_people, n_steps)`` rows of trials, with the first of them again after a person's last one, and
        ``(n_people,)`` steps of each.
    """
    n_steps = rows.sum(axis=1).astype(np.int64)
    order = np.zeros((len(rows), int(n_steps.max())), dtype=np.int64)
    for own, counts, n_own in zip(order, rows, n_steps, strict=True):
        own[:n_own] = rng.permutation(np.repeat(np.arange(rows.shape[1]), counts))
    return order, n_steps


def orders_of_all(
    rows: NDArray[np.int64], n_people: int, rng: np.random.Generator, *, shuffled: bool
) -> NDArray[np.int64]:
    """``(n_people, n_rows)`` orders in which people see the same rows: one for all, or a few random ones in turn."""
    orders = rng.permuted(np.tile(rows, (N_ORDERS, 1)), axis=1) if shuffled else rows[None]
    return orders[np.arange(n_people) % len(orders)]


class TheoryCrowd:
    """People who all follow one theory; a context manager, for crowd after crowd in one process."""

    def __init__(self, theory: Theory, domain: Domain, sandbox: Sandbox, stimuli: Stimuli) -> None:
        """Start the sandbox process in which the theory's people answer.

        Args:
            theory: Their rule.
            domain: Says what they see and what follows their responses.
            sandbox: Sandbox in which the theory runs.
            stimuli: What they are asked.
        """
        self.domain, self.stimuli = domain, stimuli
        self.walks = theory.learns or domain.sequential
        self._session = sandbox.open_session(
            theory.program.source,
            [] if self.walks else [stimuli.arrays],
            n_options=domain.n_options(stimuli),
        )

    def behave(
        self,
        people: Mapping[str, Array],
        order: NDArray[Any],
        rng: np.random.Generator,
        random_choice_share: float = 0.0,
    ) -> SimulatedBehaviour:
        """Simulate people who go through ``order``; arguments as in `behave`."""
        if not self.walks:
            rule = independent(
                lambda stimuli, rng, n_participants: self._session.probabilities(people)[0]
            )
            return rule(self.stimuli, order, rng, random_choice_share)
        n_people, n_steps = order.shape
        orders, group = np.unique(order, axis=0, return_inverse=True)
        members = [np.flatnonzero(group == number) for number in range(len(orders))]
        uniform = np.empty((n_people, n_steps))  # the same numbers however people are walked
        for alike in members:
            uniform[alike] = rng.random((n_steps, len(alike))).T
        walk = partial(
            simulate,
            self._session,
            self.domain,
            rng=rng,
            stimuli=self.stimuli,
            random_choice_share=random_choice_share,
        )
        if len(orders) > FEW_ORDERS:
            done = walk(people, order=order, paired=True, uniform=uniform[None])
            return SimulatedBehaviour(
                done.response[0], {name: table[0] for name, table in done.feedback.items()}
            )
        response = np.zeros(order.shape, dtype=np.int64)
        feedback: dict[str, NDArray[Any]] = {}
        for rows, alike in zip(orders, members, strict=True):
            own = {name: values[alike] for name, values in people.items()}
            done = walk(own, order=rows[None], uniform=uniform[alike, None])
            response[alike] = done.response[:, 0]
            for name, table in done.feedback.items():
                feedback.setdefault(name, np.zeros(order.shape))[alike] = table[:, 0]
        return SimulatedBehaviour(response, feedback)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._session.close()


def behave(
    theory: Theory,
    domain: Domain,
    sandbox: Sandbox,
    people: Mapping[str, Array],
    stimuli: Stimuli,
    order: NDArray[Any],
    rng: np.random.Generator,
    random_choice_share: float = 0.0,
) -> SimulatedBehaviour:
    """Simulate people who go through ``order``, ``(n_participants, n_steps)`` rows of ``stimuli``.

    Args:
        theory, domain, sandbox, stimuli: As in `TheoryCrowd`.
        people: ``(n_participants,)`` values of each parameter.
        order: Those with the same order are simulated together.
        rng: Decides the responses.
        random_choice_share: Each answer is a random option with this probability.
    """
    with TheoryCrowd(theory, domain, sandbox, stimuli) as crowd:
        return crowd.behave(people, order, rng, random_choice_share)
