"""How often a comparison of two groups would show other numbers, before anybody is asked.

`theories.groups` says after a study whether groups of people differ in their numbers. Here simulated people of both
groups answer the planned trials, and the same rule is applied to them: numbers of each group's own must predict
people, by others, better than one population for all does, by more than two standard errors. Where the two groups
have the same numbers, the share of studies that show a difference is the rate of false alarms.

A theory is asked about `N_POOL` people of each group once; every simulated study draws its people from these and
learns its populations from their likelihoods (`theories.fitting.on_draws`), which takes a few hundredths of a second.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import ceil
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

from lakatos.experiments.power import N_ERRORS, SimulatedStudies
from lakatos.experiments.task import Stimuli
from lakatos.theories.fitting.fit import folds_of_people
from lakatos.theories.fitting.on_draws import DrawnPeople
from lakatos.theories.groups import FEWEST
from lakatos.theories.laboratory import Laboratory
from lakatos.theories.prior import Prior, as_normal, draw_population
from lakatos.theories.scoring.score import ScoreEstimate, advantage
from lakatos.theories.scoring.view import TheoryView
from lakatos.theories.theory import Theory

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
N_LOOKS = 6
"""Sizes that are tried in search of one with enough power."""
LEAST_REACHED = 0.25
"""Standard errors that a gain is taken to have at least, or a first guess would be of any size."""
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
        """In words, for a design."""
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
    alike = _simulated(theory, (people, people), *asked)
    n_false = _n_shown(_gains(alike, max(n_each, FEWEST), n_simulations, rng))
    found = []
    for name, prior in theory.priors.items():
        if prior.idle:
            continue
        other = people | {name: shifted(prior, shift)}
        told = _simulated(theory, (people, other), *asked)
        differs = _in_words(name, people[name], other[name], shift)
        found.append(_power(theory, differs, told, n_false, n_each, n_simulations, rng))
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
    alike = _simulated(form, (groups[0], groups[0]), *asked)
    n_false = _n_shown(_gains(alike, max(n_each, FEWEST), n_simulations, rng))
    told = _simulated(form, groups, *asked)
    return _power(form, differs, told, n_false, n_each, n_simulations, rng)


def _power(
    form: Theory,
    differs: str,
    told: _SimulatedGroups,
    n_false: int,
    n_each: int,
    n_simulations: int,
    rng: np.random.Generator,
) -> GroupPower:
    """Power with people who differ, beside what was found with people who do not."""
    n_each = max(n_each, FEWEST)
    gains = _gains(told, n_each, n_simulations, rng)
    n_needed = _size_needed(told, n_each, gains, rng)
    return GroupPower(form.name, differs, n_each, n_simulations, _n_shown(gains), n_false, n_needed)


@dataclass(frozen=True)
class _SimulatedGroups:
    """People of two groups who answered the planned trials, and how likely their answers are for drawn people."""

    drawn: DrawnPeople
    log_p: Array
    """``(n_draws, 2 n_pool)`` nats, the first group's people first."""
    n_choices: int

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
    return _SimulatedGroups(DrawnPeople(groups, points), log_p, int(answered[0].n_choices[0]))


def _gains(
    groups: _SimulatedGroups, n_each: int, n_simulations: int, rng: np.random.Generator
) -> list[ScoreEstimate]:
    """What numbers of their own gain in each simulated study, nats per choice."""
    return [_gain(groups, n_each, rng) for _ in range(n_simulations)]


def _gain(groups: _SimulatedGroups, n_each: int, rng: np.random.Generator) -> ScoreEstimate:
    """The gain of one study, as `theories.groups.GroupedTheory.gain` has it of real people."""
    first = rng.integers(groups.n_pool, size=n_each)
    second = groups.n_pool + rng.integers(groups.n_pool, size=n_each)
    log_p = groups.log_p[:, np.concatenate([first, second])]
    member = np.arange(2 * n_each) // n_each
    shared = folds_of_people(log_p)
    own = np.concatenate([folds_of_people(log_p[:, member == group]) for group in (0, 1)])
    n_folds = int(shared.max()) + 1
    # A row for each population that somebody is predicted with: all others, and the others of one's own group.
    counted = [shared != fold for fold in range(n_folds)]
    counted += [(own != fold) & (member == group) for group in (0, 1) for fold in range(n_folds)]
    log_weights = groups.drawn.learned(log_p, np.array(counted))
    by_all = logsumexp(log_p + log_weights[shared].T, axis=0)
    by_own = logsumexp(log_p + log_weights[n_folds * (1 + member) + own].T, axis=0)
    return advantage(by_own - by_all, np.full(2 * n_each, float(groups.n_choices)))


def _n_shown(gains: Sequence[ScoreEstimate]) -> int:
    return sum(1 for gain in gains if gain.interval[0] > 0)


def _size_needed(
    groups: _SimulatedGroups, n_each: int, gains: Sequence[ScoreEstimate], rng: np.random.Generator
) -> int | None:
    """People of each group for `POWER`: the normal approximation, then halving between too few and enough.

    The gain of a person rises with their number, since populations are then learned better, so that the approximation
    from few people asks for too many.
    """
    wanted = N_ERRORS + NormalDist().inv_cdf(POWER)
    size, few, enough = n_each, 0, 0
    for _ in range(N_LOOKS):
        if _n_shown(gains) / len(gains) >= POWER:
            enough = size
        else:
            few = size
        if (enough and enough <= NEAR * max(few, FEWEST)) or few >= MOST_EACH:
            break
        if few and enough:
            size = ceil(np.sqrt(few * enough))
        else:
            known = [gain.value / gain.standard_error for gain in gains if gain.is_known]
            reached = max(float(np.mean(known)) if known else 0.0, LEAST_REACHED)
            guess = ceil(size * (wanted / reached) ** 2)
            further = min(guess, ceil(size / GROWTH)) if enough else max(guess, ceil(size * GROWTH))
            size = min(max(further, FEWEST), MOST_EACH)
        gains = _gains(groups, size, len(gains), rng)
    return enough or None


def _in_words(name: str, before: Prior, after: Prior, shift: float) -> str:
    half = np.array([0.5])
    medians = (f"{float(prior.quantile(half)[0]):.3g}" for prior in (before, after))
    return (
        f"{name} by {abs(shift):g} standard deviations of people (median {' and '.join(medians)})"
    )


def text_of_powers(by: str, powers: Sequence[GroupPower]) -> str:
    """All that simulation says of a planned comparison, for a design and its preregistration."""
    if not powers:
        return ""
    first = powers[0]
    low, high = first.false_alarm_interval
    told = "; ".join(item.to_text() for item in powers)
    return (
        f"Groups by {by}: with {first.n_each} people in each of two groups and {first.theory}, a difference "
        f"in numbers would be shown in {first.false_alarms:.2f} of studies ({low:.2f} to {high:.2f}) where there is "
        f"none. Where one parameter differs, {told}."
    )
