"""Moving chosen trials between the levels of their attributes, so that their answers say more about the theories."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lakatos.experiments.design import AnswerWays, TrialSearch
from lakatos.experiments.information import Array, check_rivals
from lakatos.experiments.task import Stimuli


def refine_trials(
    stimuli: Stimuli,
    movable: Sequence[int],
    moves: Callable[[Stimuli, float], tuple[Stimuli, NDArray[Any]]],
    answers: Callable[[Stimuli], Sequence[Array]],
    log_prior: Array,
    *,
    identify: Callable[[Stimuli], Sequence[bytes]],
    rng: np.random.Generator,
    log_weights: Sequence[Array] | None = None,
    steps: Sequence[float] = (0.25, 0.125, 0.0625, 0.03125),
    n_passes: int = 4,
    n_people: int = 512,
) -> tuple[Stimuli, float]:
    """Move chosen trials between the levels of their attributes, one attribute of one trial at a time.

    A pattern search: each trial in turn is replaced by the neighbour whose answers say most about the theory given the
    answers to all other trials, if that is more than the trial itself says; when none is, steps become smaller. By
    the chain rule of information no replacement lowers that of the whole batch, up to the error of simulation.

    Args:
        stimuli: The trials chosen.
        movable: Rows that may be moved; trials drawn at random are better left alone.
        moves: Neighbours of trials at a step, and the row that each came from; see `experiments.variation.HasMoves`.
        answers: Probabilities of the ways to answer trials, per theory ``(n_draws, n_trials, n_outcomes)``.
        log_prior: ``(n_theories,)`` log p(theory), normalised.
        identify: Keys of trials; two trials of a batch never have the same.
        rng: Source of the people and their answers.
        log_weights: Per theory ``(n_draws,)`` normalised log weights of the draws; equal when None.
        steps: Shares of the attributes' ranges.
        n_passes: Times that all trials are tried with one step, at most.
        n_people: Simulated people, shared out among the theories by their prior.

    Returns:
        The trials, and the information gained, in nats, summed over the replacements.

    References:
        Hooke & Jeeves (1961), Journal of the ACM 8(2), 212-229.
    """
    # Rivals with prior probability, their predictions and the weights of their draws.
    now = [np.asarray(p, dtype=np.float64) for p in answers(stimuli)]
    weights = check_rivals(now, log_weights, log_prior=log_prior)
    real = np.flatnonzero(np.exp(log_prior)).tolist()
    prior = np.exp(np.asarray(log_prior, dtype=np.float64))[real]
    own_weights = [weights[t] for t in real]
    people = _SimulatedPeople.drawn(prior, own_weights, n_people, len(stimuli), rng)
    batch = _RefinedBatch(stimuli, [now[t] for t in real], prior, own_weights, people)
    # Hooke and Jeeves: all neighbours at one step; the next, smaller step once nothing improves.
    improved, tried_step = True, float("nan")
    for step in np.repeat(steps, n_passes).tolist():
        if step == tried_step and not improved:
            continue
        tried_step, improved = step, False
        # Neighbours of all movable trials, predicted by every rival in one call.
        proposed, came_from = moves(batch.stimuli.take(movable), step)
        if not len(proposed):
            continue
        origin = np.asarray(movable, dtype=np.intp)[came_from]
        new = [np.asarray(p, dtype=np.float64) for p in answers(proposed)]
        neighbours = _NeighbourTrials(proposed, origin, [new[t] for t in real], identify(proposed))
        # Each trial in turn, against its neighbours that are not in the batch yet.
        taken = list(identify(batch.stimuli))
        for trial in movable:
            row = batch.best_neighbour(neighbours, trial, taken)
            if row is not None:
                improved = True
                batch.replace(trial, neighbours, row)
                taken[trial] = neighbours.keys[row]
    return batch.stimuli, batch.gained


@dataclass(frozen=True)
class _SimulatedPeople:
    """People who would answer any trial: each follows one draw of one theory, and has luck in every place."""

    truth: NDArray[np.intp]
    """``(n_people,)`` theory of each."""
    draw: NDArray[np.intp]
    """``(n_people,)`` which draw of it."""
    luck: Array
    """``(n_people, n_trials)`` even numbers that decide the answer, whatever the trial is replaced by."""

    @classmethod
    def drawn(
        cls,
        prior: Array,
        weights: Sequence[Array],
        n_people: int,
        n_trials: int,
        rng: np.random.Generator,
    ) -> _SimulatedPeople:
        """A theory for each by the prior (stratified), and a draw of it by its weights."""
        strata = (np.arange(n_people) + rng.random()) / n_people
        truth = np.searchsorted(np.cumsum(prior), strata).clip(max=len(prior) - 1)
        draw = np.zeros(n_people, dtype=np.intp)
        for t, w in enumerate(weights):
            mine = truth == t
            chance = rng.random(mine.sum())
            draw[mine] = np.searchsorted(np.cumsum(w), chance).clip(max=len(w) - 1)
        return cls(truth, draw, rng.random((n_people, n_trials)))

    def log_likelihoods(self, outcomes: Sequence[Array], place: int, column: int) -> list[Array]:
        """What people answer in one place of the batch, as each theory sees it.

        Args:
            outcomes: Per theory ``(n_draws, n_trials, n_outcomes)``.
            place: Of the batch, whose luck counts.
            column: The trial that stands there.

        Returns:
            Per theory ``(n_people, n_draws)`` log p(answer | draw).
        """
        followed = zip(self.truth, self.draw, strict=True)
        own = np.stack([outcomes[t][d, column] for t, d in followed])
        level = self.luck[:, place, None] * own.sum(axis=1, keepdims=True)
        answer = (level >= np.cumsum(own, axis=1)[:, :-1]).sum(axis=1)
        return [np.log(np.maximum(p[:, column], 1e-300)).T[answer] for p in outcomes]


@dataclass(frozen=True)
class _NeighbourTrials:
    """Trials that may take the place of those of a batch."""

    stimuli: Stimuli
    origin: NDArray[np.intp]
    """``(n_neighbours,)`` whose place each may take."""
    outcomes: list[Array]
    """Per theory ``(n_draws, n_neighbours, n_outcomes)``."""
    keys: Sequence[bytes]


class _RefinedBatch:
    """Trials that are replaced by their neighbours one by one, and what simulated people answer to them."""

    def __init__(
        self,
        stimuli: Stimuli,
        outcomes: list[Array],
        prior: Array,
        weights: Sequence[Array],
        people: _SimulatedPeople,
    ) -> None:
        """Ask people everything; arguments as in `refine_trials`, of theories with prior probability."""
        self.stimuli, self.outcomes, self.people = stimuli, outcomes, people
        self.prior, self.weights = prior, weights
        self.gained = 0.0
        # Log posterior of each draw given a person's answers to the whole batch, up to a constant:
        # log w(draw) + sum over trials of log p(answer | draw, trial).
        places = range(len(stimuli))
        self.by_trial = [people.log_likelihoods(outcomes, place, place) for place in places]
        self.total = []
        for t, w in enumerate(weights):
            said = np.sum([by_theory[t] for by_theory in self.by_trial], axis=0)
            self.total.append(said + np.log(np.maximum(w, 1e-300)))

    def best_neighbour(
        self, neighbours: _NeighbourTrials, trial: int, taken: Sequence[bytes]
    ) -> int | None:
        """The neighbour whose answers say more than the trial's; None where none does. What it gains is added up."""
        others = {*taken[:trial], *taken[trial + 1 :]}
        own = np.flatnonzero(neighbours.origin == trial).tolist()
        rows = [row for row in own if neighbours.keys[row] not in others]
        if not rows:
            return None
        # I(theory; answer to the trial | answers to all others): the others' log posterior is
        # the whole one less this trial's part. Column 0 is the trial itself.
        parts = zip(self.total, self.by_trial[trial], strict=True)
        ways = AnswerWays.of_people([whole - part for whole, part in parts], self.prior)
        pairs = zip(self.outcomes, neighbours.outcomes, strict=True)
        tried = [np.concatenate([p[:, [trial]], q[:, rows]], axis=1) for p, q in pairs]
        search = TrialSearch.prepare(tried, np.log(self.prior), self.weights, 1)
        gain, _ = search.look(ways, np.arange(1 + len(rows)))
        best = int(np.argmax(gain))
        if gain[best] <= gain[0] + 1e-5:
            return None
        self.gained += float(gain[best] - gain[0])
        return int(rows[best - 1])

    def replace(self, trial: int, neighbours: _NeighbourTrials, row: int) -> None:
        """Put a neighbour in the place of a trial; people answer it with the luck of that place."""
        said = self.people.log_likelihoods(neighbours.outcomes, trial, row)
        for t, (old, fresh) in enumerate(zip(self.by_trial[trial], said, strict=True)):
            self.total[t] = self.total[t] - old + fresh
            self.outcomes[t][:, trial] = neighbours.outcomes[t][:, row]
        self.by_trial[trial] = said
        arrays = {}
        for name, array in self.stimuli.arrays.items():
            new = neighbours.stimuli[name][[row]]
            arrays[name] = np.concatenate([array[:trial], new, array[trial + 1 :]])
        self.stimuli = Stimuli(arrays)
