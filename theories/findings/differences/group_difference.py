"""Whether groups of people differ in a theory's numbers: by which parameter, by how much, and how sure that is.

That numbers of a group's own predict its people better (`groups`) is the stricter question: a person's own
answers soon tell more of the person than the group does, so that even groups whose medians lie far apart may gain
nothing. Here the populations themselves are compared: whether they differ is decided by exchanging groups among people
(`exchanged_labels`), and how large a difference is comes from populations learned anew from people drawn again
with replacement. There, people of all groups differ alike, each group around a center of its own: spreads of their own,
learned from a few people each, come out too narrow, and medians too near to one another.

References:
    Efron & Tibshirani (1993), An introduction to the bootstrap (percentile intervals).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lakatos.experiments.task import Trials
from lakatos.theories.engine.fitting.normals import SMALLEST_SPREAD
from lakatos.theories.engine.fitting.on_draws import DrawnPeople
from lakatos.theories.engine.laboratory import Laboratory
from lakatos.theories.engine.scoring.view import TheoryView
from lakatos.theories.findings.differences.exchanged_labels import (
    LEVEL,
    group_columns,
    p_in_words,
    permuted_p,
)
from lakatos.theories.language.prior import Prior, as_normal, draw_population
from lakatos.theories.language.theory import Theory

Array = NDArray[Any]
N_DRAWS, WALKING_DRAWS = 256, 128
"""People drawn from each population, on whom likelihoods are computed; of theories that are walked through answers."""
N_AGAIN = 200
LEAST_DRAWN = 0.05
"""Of the range: spread of populations from which people are drawn, at least."""
TAILS = (0.025, 0.975)


@dataclass(frozen=True)
class MedianPerson:
    """The median person of a group, with a 95% interval."""

    value: float
    interval: tuple[float, float]

    @property
    def other_way_round(self) -> MedianPerson:
        """A difference told from the other side: the median person who has so much less has so much more."""
        low, high = self.interval
        return MedianPerson(-self.value, (-high, -low))


@dataclass(frozen=True)
class ParameterDifference:
    """How groups differ in one parameter."""

    parameter: str
    unit: str
    is_ratio: bool
    """Whether medians are compared by their ratio, as on a logarithmic scale, or by their difference."""
    medians: Mapping[str, MedianPerson]
    """By group."""
    p: float | None
    """Probability of so large a difference of any parameter where groups do not differ. None where each experiment has
    one group alone: nothing can be exchanged then, and groups cannot be told from experiments."""
    differences: Mapping[tuple[str, str], MedianPerson]
    """Of each pair of groups: the second group's median compared with the first one's."""
    alone: tuple[str, ...] = ()
    """Groups that share no experiment with another one; `p` says nothing of them."""

    @property
    def differs(self) -> bool:
        """Whether the groups differ in it."""
        return self.p is not None and self.p <= LEVEL

    def to_text(self) -> str:
        """The medians with their intervals, what one is compared with the other, and how likely that is by chance."""
        told = [f"{_in_words(item)} where it is {name}" for name, item in self.medians.items()]
        unit = f" {self.unit}" if self.unit else ""
        said = f"{self.parameter} has the median{unit} {', '.join(told)}"
        if len(self.differences) == 1:
            ((first, second), found) = next(iter(self.differences.items()))
            said += f"; that of {second} is {self._compared_in_words(found)} that of {first}"
        return said if self.p is None else f"{said} ({p_in_words(self.p)})"

    def _compared_in_words(self, found: MedianPerson) -> str:
        """How one group's median compares with another one's, without a sign that the words contradict."""
        if self.is_ratio:
            return f"{_in_words(found)} times"
        if found.value < 0:
            return f"{_in_words(found.other_way_round)} less than"
        return f"{_in_words(found)} more than"


def _in_words(item: MedianPerson) -> str:
    low, high = item.interval
    return f"{item.value:.3g} ({low:.3g} to {high:.3g})"


def differences_between_groups(
    form: Theory,
    populations: Mapping[str, Mapping[str, Prior]],
    trials: Sequence[Trials],
    members: Mapping[str, Sequence[NDArray[np.bool_]]],
    laboratory: Laboratory,
    rng: np.random.Generator,
) -> tuple[ParameterDifference, ...]:
    """Compare the populations of groups, parameter by parameter.

    Args:
        form: A theory with its declared ranges.
        populations: Learned from everybody (under the empty name) and from each group.
        trials: Experiments whose people can be told apart.
        members: By group, ``(n_participants,)`` of each experiment: who belongs to it.
        laboratory: Where the theory runs.
        rng: For drawn people, exchanged labels and people drawn again.

    Returns:
        One for each parameter of which the answers tell anything, the clearest first; in the order in which they are
        declared where each experiment has one group alone.
    """
    people = [
        {name: _widened(as_normal(prior)) for name, prior in item.items()}
        for item in populations.values()
    ]
    walks = form.learns or laboratory.domain.sequential
    n_draws = WALKING_DRAWS if walks else N_DRAWS
    parts = [draw_population(item, n_draws, rng) for item in people]
    points = {name: np.concatenate([part[name] for part in parts]) for name in form.priors}

    def ask(view: TheoryView) -> Array:
        return view.log_likelihood(points, trials)

    log_p = laboratory.look(form, [item.stimuli for item in trials], ask)
    drawn = DrawnPeople(people, points)
    names = list(members)
    group = _numbers_of_groups(members)
    kept = group >= 0
    told = {name: prior for name, prior in populations[""].items() if not prior.idle}
    means = means_of_people(drawn, log_p)[:, kept]
    place = [list(form.priors).index(name) for name in told]
    experiment = np.repeat(np.arange(len(trials)), [item.n_participants for item in trials])[kept]
    alone = groups_alone(members)
    p_values: Sequence[float | None] = [None] * len(place)
    if len(alone) < len(members):
        p_values = permuted_p(means[place], group_columns(group[kept]), experiment, rng).tolist()
    medians = _medians_again(drawn, log_p[:, kept], group[kept], len(names), rng)
    found = [
        _difference(prior, key, names, medians[:, :, row], p, alone)
        for (key, prior), row, p in zip(told.items(), place, p_values, strict=True)
    ]
    return tuple(sorted(found, key=lambda item: item.p or 0.0))


def groups_alone(members: Mapping[str, Sequence[NDArray[np.bool_]]]) -> tuple[str, ...]:
    """Groups that share no experiment with another one, so that they cannot be told from their experiments."""
    # (n_groups, n_experiments)
    takes_part = np.array([[bool(who.any()) for who in chosen] for chosen in members.values()])
    is_shared = takes_part.sum(axis=0) > 1
    meets_others = (takes_part & is_shared).any(axis=1)
    return tuple(name for name, meets in zip(members, meets_others, strict=True) if not meets)


def _widened(prior: Prior) -> Prior:
    """A population that is as wide as `LEAST_DRAWN`, so that what is learned from people drawn again can move."""
    low, high = prior.latent(np.array([prior.low, prior.high]))
    spread = max(prior.spread, LEAST_DRAWN * float(high - low))
    return prior.narrowed(prior.center, spread)


def _numbers_of_groups(members: Mapping[str, Sequence[NDArray[np.bool_]]]) -> NDArray[np.int64]:
    """``(n_people,)`` place of each person's group, the people of all experiments in turn; -1 for none."""
    columns = [np.concatenate(list(chosen)) for chosen in members.values()]
    group = np.full(len(columns[0]), -1)
    for place, column in enumerate(columns):
        group[column] = place
    return group


def means_of_people(drawn: DrawnPeople, log_p: Array) -> Array:
    """``(n_parameters, n_people)`` what each person's answers say of each latent, with one population for all."""
    log_weights = drawn.learned(log_p, np.ones((1, log_p.shape[1]), dtype=bool))[0]
    log_posterior = log_p + log_weights[:, None]
    posterior = np.exp(log_posterior - log_posterior.max(axis=0))
    return np.asarray(drawn.latent @ (posterior / posterior.sum(axis=0)))


def _medians_again(
    drawn: DrawnPeople, log_p: Array, group: Array, n_groups: int, rng: np.random.Generator
) -> Array:
    """``(1 + N_AGAIN, n_groups, n_parameters)`` medians of populations: of all people, then of people drawn again."""
    order = np.argsort(drawn.latent, axis=1)
    times = np.ones((1 + N_AGAIN, len(group)))
    for place in range(n_groups):
        own = np.flatnonzero(group == place)
        drawn_again = rng.integers(len(own), size=(N_AGAIN, len(own)))
        times[1:, own] = [np.bincount(rows, minlength=len(own)) for rows in drawn_again]
    weights = drawn.learned_alike(log_p, group, times)
    return np.array(
        [[_weighted_medians(drawn.latent, order, own) for own in sample] for sample in weights]
    )


def _weighted_medians(latent: Array, order: Array, weights: Array) -> list[float]:
    """Of each row of latents, the value below which half of the weight lies, between the two draws around it."""
    found = []
    for values, rows in zip(latent, order, strict=True):
        ahead = np.cumsum(weights[rows]) - weights[rows] / 2
        found.append(float(np.interp(0.5 * weights.sum(), ahead, values[rows])))
    return found


def _difference(
    prior: Prior,
    key: str,
    names: Sequence[str],
    medians: Array,
    p: float | None,
    alone: tuple[str, ...],
) -> ParameterDifference:
    """One parameter from the medians, ``(1 + N_AGAIN, n_groups)`` latents, of all people and of people drawn again.

    No population is narrower than `SMALLEST_SPREAD`, so that a median nearer than that to an end of the range cannot be
    told from the end: in intervals it counts as the end.
    """
    low_end, high_end = prior.latent(np.array([prior.low, prior.high]))
    near = SMALLEST_SPREAD * (high_end - low_end)
    again = medians[1:]
    again = np.where(
        again - low_end < near, low_end, np.where(high_end - again < near, high_end, again)
    )
    medians = np.concatenate([medians[:1], again])

    def told(latents: Array) -> MedianPerson:
        values = np.exp(latents) if prior.is_log else latents
        low, high = np.quantile(values[1:], TAILS)
        return MedianPerson(float(values[0]), (float(low), float(high)))

    pairs = [(a, b) for a in range(len(names)) for b in range(a + 1, len(names))]
    return ParameterDifference(
        parameter=key,
        unit=prior.unit,
        is_ratio=prior.is_log,
        medians={name: told(medians[:, place]) for place, name in enumerate(names)},
        p=p,
        differences={(names[a], names[b]): told(medians[:, b] - medians[:, a]) for a, b in pairs},
        alone=alone,
    )
