"""How often a comparison of two groups would show other numbers, before anybody is asked.

The verdict decides whether groups differ in a number by exchanging groups among people (`exchanged_labels`).
Here simulated people of both groups answer the planned trials, and the same rule is applied to them. Where the two
groups have the same numbers, the share of studies that show a difference of any is the rate of false alarms.

A theory is asked about `N_POOL` people of each group once; every simulated study draws its people from these and
learns its populations from their likelihoods (`fitting.on_draws`), which takes a few hundredths of a second.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import ceil
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from lakatos.experiments.simulated_studies import SimulatedStudies
from lakatos.experiments.task import Stimuli
from lakatos.theories.engine.fitting.on_draws import DrawnPeople
from lakatos.theories.engine.laboratory import Laboratory
from lakatos.theories.engine.scoring.view import TheoryView
from lakatos.theories.findings.differences.exchanged_labels import (
    LEVEL,
    N_PERMUTATIONS_PLANNED,
    group_columns,
    permuted_p,
)
from lakatos.theories.findings.differences.group_difference import (
    estimates_of_people,
)
from lakatos.theories.findings.differences.groups import FEWEST
from lakatos.theories.language.prior import Prior, as_normal, draw_population
from lakatos.theories.language.theory import Theory

Array = NDArray[np.float64]
People = Mapping[str, Prior]
N_POOL, WALKING_POOL = 512, 128
"""Simulated people of each group, of whom studies draw theirs; of theories that are walked through answers."""
N_DRAWS, WALKING_DRAWS = 256, 128
"""People of each group's population on whom likelihoods are computed."""
N_SIMULATIONS = 100
SHIFT = 0.5
"""Standard deviations of people by which a parameter is taken to differ, where nothing else is said: a medium one."""
POWER = 0.8
MOST_EACH = 500
"""People of a group that are suggested at most."""
LEAST_REACHED = 0.5
"""Standard errors that a difference is taken to reach at least, or a first guess would be of any size."""
N_LOOKS = 6
"""Sizes that are tried in search of one with enough power."""
GROWTH, NEAR = 1.25, 1.15
"""Least change of a size from one look to the next; and times a size that is too small, a suggestion that is kept."""
_GRID = (np.arange(200) + 0.5) / 200


@dataclass(frozen=True)
class GroupPower(SimulatedStudies):
    """What simulation says of a planned comparison of two groups by one theory."""

    theory: str
    differs: str
    """What differs between the groups, in words."""
    n_each: int
    n_simulations: int
    n_shown: int
    """Studies that showed a difference, where there is one."""
    n_false: int
    """Studies that showed one, where there is none."""
    n_needed: int | None
    """People of each group with whom power is `POWER`; None where `MOST_EACH` are not enough."""

    def to_text(self) -> str:
        """The power in words, for the record of a design."""
        low, high = self.interval
        needed = (
            f"about {self.n_needed} in each group would give {POWER:.2f}"
            if self.n_needed
            else f"{MOST_EACH} in each group would not give {POWER:.2f}"
        )
        return f"{self.differs}: power {self.power:.2f} ({low:.2f} to {high:.2f}); {needed}"


def shifted(prior: Prior, n_sds: float) -> Prior:
    """A population whose mean lies some standard deviations of its people higher (below 0: lower), on its own scale.

    The center stays within the declared range, so that the mean of a wide population may move less far; where the mean
    itself would leave the range, it moves the other way.
    """
    before = as_normal(prior)
    latent = before.latent(before.quantile(_GRID))
    low, high = before.latent(np.array([before.low, before.high]))
    step = n_sds * float(latent.std())
    wanted = float(latent.mean()) + step
    if not low < wanted < high:
        wanted = float(latent.mean()) - step
    left, right = float(low), float(high)
    for _ in range(40):  # the mean of a truncated normal rises with its center
        middle = (left + right) / 2
        moved = before.narrowed(middle, before.spread)
        below = float(moved.latent(moved.quantile(_GRID)).mean()) < wanted
        left, right = (middle, right) if below else (left, middle)
    return before.narrowed((left + right) / 2, before.spread)


def power_by_parameter(
    theory: Theory,
    stimuli: Stimuli,
    n_each: int,
    laboratory: Laboratory,
    rng: np.random.Generator,
    *,
    shift: float = SHIFT,
    repetitions: int = 1,
    n_simulations: int = N_SIMULATIONS,
) -> list[GroupPower]:
    """Power to show that one parameter at a time differs between two groups of the theory's people.

    Args:
        theory: With its people, who are the first group.
        stimuli: The planned trials; a schedule where the domain has one.
        n_each: Planned people of each group, at least `FEWEST`.
        laboratory: Where the theory runs.
        rng: For people and their answers.
        shift: By how many standard deviations of people the parameter differs in the second group.
        repetitions: Presentations of each trial.
        n_simulations: Studies with a difference, and as many without.
    """
    people = {name: as_normal(prior) for name, prior in theory.priors.items()}
    asked = (stimuli, laboratory, rng, repetitions)
    n_false = _n_false(_simulated(theory, (people, people), *asked), n_each, n_simulations, rng)
    found = []
    for name, prior in theory.priors.items():
        if prior.idle:
            continue
        other = people | {name: shifted(prior, shift)}
        told = _simulated(theory, (people, other), *asked)
        differs = _in_words(name, people[name], other[name], shift)
        found.append(_power(theory, differs, told, [name], n_false, n_each, n_simulations, rng))
    return found


def power_of_groups(
    form: Theory,
    groups: tuple[People, People],
    stimuli: Stimuli,
    n_each: int,
    laboratory: Laboratory,
    rng: np.random.Generator,
    *,
    repetitions: int = 1,
    n_simulations: int = N_SIMULATIONS,
    differs: str = "the groups' own numbers",
) -> GroupPower:
    """Power to show that two groups differ in their numbers, with people of both drawn from given populations.

    Args:
        form: The theory that all people follow, and by which they are compared.
        groups: Populations of the two, by parameter; without a difference all people are of the first.
        stimuli, n_each, laboratory, rng, repetitions, n_simulations: As in `power_by_parameter`.
        differs: What differs, in words.
    """
    asked = (stimuli, laboratory, rng, repetitions)
    n_false = _n_false(_simulated(form, (groups[0], groups[0]), *asked), n_each, n_simulations, rng)
    told = _simulated(form, groups, *asked)
    return _power(form, differs, told, list(form.priors), n_false, n_each, n_simulations, rng)


def _power(
    form: Theory,
    differs: str,
    told: _SimulatedGroups,
    names: Sequence[str],
    n_false: int,
    n_each: int,
    n_simulations: int,
    rng: np.random.Generator,
) -> GroupPower:
    """Power to show a difference of some parameters, beside what was found with people who do not differ."""
    n_each = max(n_each, FEWEST)
    n_shown = _n_shown(told, names, n_each, n_simulations, rng)
    n_needed = _size_needed(told, names, n_each, n_shown, n_simulations, rng)
    return GroupPower(form.name, differs, n_each, n_simulations, n_shown, n_false, n_needed)


def _n_false(
    alike: _SimulatedGroups, n_each: int, n_simulations: int, rng: np.random.Generator
) -> int:
    """Studies of people who do not differ that show a difference of some parameter."""
    return _n_shown(alike, list(alike.parameters), max(n_each, FEWEST), n_simulations, rng)


@dataclass(frozen=True)
class _SimulatedGroups:
    """People of two groups who answered the planned trials, and how likely their answers are for drawn people."""

    drawn: DrawnPeople
    log_p: Array
    """``(n_draws, 2 n_pool)`` nats, the first group's people first."""
    parameters: tuple[str, ...]
    """Those on which answers depend; others cannot be shown to differ."""
    rows: tuple[int, ...]
    """Their places among all of the theory's."""

    @property
    def n_pool(self) -> int:
        """People of each group."""
        return int(self.log_p.shape[1]) // 2


def _simulated(
    form: Theory,
    groups: Sequence[People],
    stimuli: Stimuli,
    laboratory: Laboratory,
    rng: np.random.Generator,
    repetitions: int,
) -> _SimulatedGroups:
    walks = form.learns or laboratory.domain.sequential
    n_pool, n_draws = (WALKING_POOL, WALKING_DRAWS) if walks else (N_POOL, N_DRAWS)
    theories = [form.with_people(people) for people in groups]
    answered = laboratory.simulate(theories, stimuli, n_pool, rng, repetitions=repetitions)
    parts = [draw_population(people, n_draws, rng) for people in groups]
    points = {name: np.concatenate([part[name] for part in parts]) for name in form.priors}

    def ask(view: TheoryView) -> Array:
        return view.log_likelihood(points, answered)

    log_p = laboratory.look(form, [item.stimuli for item in answered], ask)
    told = {name: row for row, (name, prior) in enumerate(form.priors.items()) if not prior.idle}
    drawn = DrawnPeople(groups, points)
    return _SimulatedGroups(drawn, log_p, tuple(told), tuple(told.values()))


def _n_shown(
    groups: _SimulatedGroups,
    names: Sequence[str],
    n_each: int,
    n_simulations: int,
    rng: np.random.Generator,
) -> int:
    """Simulated studies that show a difference of one of these parameters."""
    asked = np.array([name in names for name in groups.parameters])
    found = (_p_values(groups, n_each, rng) for _ in range(n_simulations))
    return sum(bool((p[asked] <= LEVEL).any()) for p in found)


def _p_values(groups: _SimulatedGroups, n_each: int, rng: np.random.Generator) -> Array:
    """``(n_parameters,)`` of one study, as `theories.findings.differences.group_difference` has them of real people."""
    first = rng.integers(groups.n_pool, size=n_each)
    second = groups.n_pool + rng.integers(groups.n_pool, size=n_each)
    log_p = groups.log_p[:, np.concatenate([first, second])]
    means = estimates_of_people(groups.drawn, log_p).means[list(groups.rows)]
    member = np.arange(2 * n_each) // n_each
    one_experiment = np.zeros(2 * n_each, dtype=int)
    return permuted_p(means, group_columns(member), one_experiment, rng, N_PERMUTATIONS_PLANNED)


def _size_needed(
    groups: _SimulatedGroups,
    names: Sequence[str],
    n_each: int,
    n_shown: int,
    n_simulations: int,
    rng: np.random.Generator,
) -> int | None:
    """People of each group for `POWER`: the normal approximation, then halving between too few and enough."""
    needed = NormalDist().inv_cdf(1 - LEVEL / 2)
    wanted = needed + NormalDist().inv_cdf(POWER)
    size, few, enough = n_each, 0, 0
    for _ in range(N_LOOKS):
        if n_shown / n_simulations >= POWER:
            enough = size
        else:
            few = size
        if (enough and enough <= NEAR * max(few, FEWEST)) or few >= MOST_EACH:
            break
        if few and enough:
            size = ceil(np.sqrt(few * enough))
        else:
            # How far a difference reaches beyond its error, of which power speaks, grows with the root of the size.
            share = min(max(n_shown, 0.5), n_simulations - 0.5) / n_simulations
            reached = max(needed + NormalDist().inv_cdf(share), LEAST_REACHED)
            guess = ceil(size * (wanted / reached) ** 2)
            further = min(guess, ceil(size / GROWTH)) if enough else max(guess, ceil(size * GROWTH))
            size = min(max(further, FEWEST), MOST_EACH)
        n_shown = _n_shown(groups, names, size, n_simulations, rng)
    return enough or None


def _in_words(name: str, before: Prior, after: Prior, shift: float) -> str:
    half = np.array([0.5])
    medians = (f"{float(prior.quantile(half)[0]):.3g}" for prior in (before, after))
    return f"{abs(shift):g} between-participant SD in {name} (medians {' and '.join(medians)})"


def text_of_powers(by: str, powers: Sequence[GroupPower]) -> str:
    """All that simulation says of a planned comparison, for a design and its preregistration."""
    if not powers:
        return ""
    first = powers[0]
    low, high = first.false_alarm_interval
    told = "; ".join(item.to_text() for item in powers)
    return (
        f"Groups by {by}: with {first.n_each} participants in each of two groups and {first.theory}, the false "
        f"positive rate is {first.false_alarms:.2f} ({low:.2f} to {high:.2f}). "
        f"Power for a difference in one parameter: {told}."
    )
