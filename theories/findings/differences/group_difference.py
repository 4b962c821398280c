"""Whether groups of people differ in a theory's parameters: in which one, by how much, and how sure that is.

That parameters of a group's own predict its people better (`groups`) is the stricter question: a person's own
answers soon tell more of the person than the group does, so that even groups whose centers lie far apart may gain
nothing. Here the groups themselves are compared. What each person's answers tell of each parameter is estimated with
one population for all; whether groups differ in these estimates is decided by exchanging groups among people
(`exchanged_labels`), and what is reported is the same difference of the same estimates, with an interval by Student's
t.

Estimates with one population for all are drawn towards its center, all by about the same share: the reliability, which
is the part of the population's variance that estimates show. Dividing differences by it undoes that (regression
calibration) and leaves the test as it is. That the reliability is estimated itself is not in the interval.

References:
    Carroll, Ruppert, Stefanski & Crainiceanu (2006), Measurement error in nonlinear models, chapter 4.
    Welch (1947), Biometrika 34, 28-35 (degrees of freedom where groups vary unequally).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lakatos.experiments.task import Trials
from lakatos.theories.engine.fitting.on_draws import DrawnPeople
from lakatos.theories.engine.laboratory import Laboratory
from lakatos.theories.engine.scoring.score import (
    UNKNOWN,
    ScoreEstimate,
    UnitScores,
    mean_over_units,
)
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
LEAST_DRAWN = 0.05
"""Of the range: spread of populations from which people are drawn, at least."""
LEAST_RELIABILITY = 1e-9


@dataclass(frozen=True)
class MedianPerson:
    """The median person of a group, with a 95% interval."""

    value: float
    interval: tuple[float, float]


@dataclass(frozen=True)
class ParameterDifference:
    """How groups differ in one parameter."""

    parameter: str
    unit: str
    is_ratio: bool
    """Whether medians are compared by their ratio, as on a logarithmic scale, or by their difference."""
    medians: Mapping[str, MedianPerson]
    """Median participant of each group."""
    p: float | None
    """Probability of so large a difference of any parameter where groups do not differ. None where each experiment has
    one group alone: nothing can be exchanged then, and groups cannot be told from experiments."""
    differences: Mapping[tuple[str, str], MedianPerson]
    """Of each pair of groups: the second group compared with the first one within the experiments that both are in,
    which is what `p` is of. Of several pairs the intervals are corrected for their number."""
    alone: tuple[str, ...] = ()
    """Groups that share no experiment with another one; `p` says nothing of them."""

    @property
    def differs(self) -> bool:
        """Whether the groups differ in it: by exchanged groups, and by the interval of a pair's difference."""
        none = 1.0 if self.is_ratio else 0.0
        intervals = [item.interval for item in self.differences.values()]
        is_clear = any(not low <= none <= high for low, high in intervals)
        return self.p is not None and self.p <= LEVEL and is_clear

    def to_text(self) -> str:
        """The median of each group with its interval, their difference or ratio if there are two, and p."""
        medians = [f"{_in_words(item)} for {name}" for name, item in self.medians.items()]
        unit = f" ({self.unit})" if self.unit else ""
        said = f"median {self.parameter}{unit} {', '.join(medians)}"
        if len(self.differences) == 1:
            ((first, second), found) = next(iter(self.differences.items()))
            compared = (
                f"ratio {second} / {first}" if self.is_ratio else f"difference {second} - {first}"
            )
            said += f"; {compared} {_in_words(found)}"
        return said if self.p is None else f"{said}, {p_in_words(self.p)}"


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
    estimates = estimates_of_people(drawn, log_p).of(kept)
    means = estimates.means
    place = [list(form.priors).index(name) for name in told]
    experiment = np.repeat(np.arange(len(trials)), [item.n_participants for item in trials])[kept]
    alone = groups_alone(members)
    p_values: Sequence[float | None] = [None] * len(place)
    if len(alone) < len(members):
        p_values = permuted_p(means[place], group_columns(group[kept]), experiment, rng).tolist()
    found = [
        _difference(
            prior,
            key,
            names,
            means[row],
            estimates.reliability[row],
            group[kept],
            experiment,
            p,
            alone,
        )
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


@dataclass(frozen=True)
class PeoplesEstimates:
    """What each person's answers tell of each parameter, with one population for all."""

    means: Array
    """``(n_parameters, n_people)`` posterior means of latents."""
    variances: Array
    """``(n_parameters, n_people)`` posterior variances."""

    def of(self, chosen: NDArray[np.bool_]) -> PeoplesEstimates:
        """Those of some people, ``(n_people,)`` true for each of them."""
        return PeoplesEstimates(self.means[:, chosen], self.variances[:, chosen])

    @property
    def reliability(self) -> Array:
        """``(n_parameters,)`` share of the population's variance that the means show (law of total variance)."""
        shown = self.means.var(axis=1)
        whole = shown + self.variances.mean(axis=1)
        return np.asarray(shown / np.maximum(whole, 1e-300))


def estimates_of_people(drawn: DrawnPeople, log_p: Array) -> PeoplesEstimates:
    """Estimates of everybody from ``(n_draws, n_people)`` log likelihoods of their answers on shared draws."""
    log_weights = drawn.learned(log_p, np.ones((1, log_p.shape[1]), dtype=bool))[0]
    log_posterior = log_p + log_weights[:, None]
    posterior = np.exp(log_posterior - log_posterior.max(axis=0))
    posterior /= posterior.sum(axis=0)
    means = drawn.latent @ posterior
    squares = drawn.latent**2 @ posterior
    return PeoplesEstimates(means, np.maximum(squares - means**2, 0.0))


def compare_pair(
    values: Array, first: NDArray[np.bool_], second: NDArray[np.bool_], stratum: Array
) -> ScoreEstimate:
    """How much larger the mean of a second group is, within the strata that both are in (all people, if in none).

    Strata count as in a regression on group and stratum, so that for two groups this is what `permuted_p` is of.

    Args:
        values: ``(n_people,)``.
        first, second: ``(n_people,)`` who belongs to each group.
        stratum: ``(n_people,)`` experiment of each person.
    """
    parts = [stratum == name for name in np.unique(stratum)]
    shared = [part for part in parts if (first & part).any() and (second & part).any()]
    inside = shared or [np.ones(len(values), dtype=bool)]
    sizes = np.array([[(own & part).sum() for part in inside] for own in (first, second)])
    means = np.array([[values[own & part].mean() for part in inside] for own in (first, second)])
    weights = sizes[0] * sizes[1] / sizes.sum(axis=0)
    weights = weights / weights.sum()
    n_people = int(sizes.sum())
    # Of each group: the variance within strata, and that of its weighted mean.
    degrees = sizes.sum(axis=1) - len(inside)
    value = float(weights @ (means[1] - means[0]))
    if (degrees < 1).any():
        return ScoreEstimate(value, UNKNOWN, n_people)
    squares = np.array(
        [
            sum(
                ((values[own & part] - mean) ** 2).sum()
                for part, mean in zip(inside, row, strict=True)
            )
            for own, row in zip((first, second), means, strict=True)
        ]
    )
    variances = squares / degrees * (weights**2 / sizes).sum(axis=1)
    total = float(variances.sum())
    spread = float((variances**2 / degrees).sum())
    return ScoreEstimate(
        value,
        float(np.sqrt(total)),
        n_people,
        total**2 / spread if spread else float(degrees.sum()),
    )


def _difference(
    prior: Prior,
    key: str,
    names: Sequence[str],
    values: Array,
    reliability: float,
    group: Array,
    experiment: Array,
    p: float | None,
    alone: tuple[str, ...],
) -> ParameterDifference:
    """One parameter from the estimates of all people, ``(n_people,)`` latents, their groups and experiments."""
    low_end, high_end = (float(end) for end in prior.latent(np.array([prior.low, prior.high])))
    factor = 1 / max(reliability, LEAST_RELIABILITY)
    grand = float(values.mean())

    def told(latents: Sequence[float]) -> MedianPerson:
        """A latent (or a difference of latents) and the ends of its interval, in the parameter's own unit."""
        value, low, high = np.exp(latents) if prior.is_log else latents
        return MedianPerson(float(value), (float(low), float(high)))

    def median(own: NDArray[np.bool_]) -> MedianPerson:
        found = mean_over_units(UnitScores(values[own] - grand, np.ones(int(own.sum()))))
        value, low, high = (grand + factor * item for item in (found.value, *found.interval))
        # Near an end of the range the whole interval may lie beyond it, where no value is; the mean itself never does.
        plain = grand + found.value
        ends = [value, min(low, plain), max(high, plain)]
        return told(np.clip(ends, low_end, high_end).tolist())

    pairs = list(combinations(range(len(names)), 2))

    def compared(a: int, b: int) -> MedianPerson:
        found = compare_pair(values, group == a, group == b, experiment)
        ends = [factor * item for item in (found.value, *found.interval_of_chosen(len(pairs)))]
        widest = high_end - low_end
        return told(np.clip(ends, -widest, widest).tolist())

    return ParameterDifference(
        parameter=key,
        unit=prior.unit,
        is_ratio=prior.is_log,
        medians={name: median(group == place) for place, name in enumerate(names)},
        p=p,
        differences={(names[a], names[b]): compared(a, b) for a, b in pairs},
        alone=alone,
    )
