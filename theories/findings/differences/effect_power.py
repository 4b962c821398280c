"""How often an effect of what is known of people would be shown, before anybody is asked.

Simulated people, of whom one number depends on a normal attribute, answer the planned trials. Then the rule of the
verdict is applied to each simulated study: the attribute is exchanged among its people, as in
`exchanged_labels`. As in `group_power`, the theory is asked about many people once, and every study draws its people
from these.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from lakatos.experiments.simulated_studies import SimulatedStudies
from lakatos.experiments.task import Stimuli
from lakatos.theories.engine.fitting.effects import (
    CenterRegression,
    PeopleOnDraws,
    learn_regression,
)
from lakatos.theories.engine.fitting.known_people import (
    FEWEST_KNOWN,
    as_priors,
    as_regression,
    over_everybody,
)
from lakatos.theories.engine.fitting.normals import log_density
from lakatos.theories.engine.fitting.points import latent_limits
from lakatos.theories.engine.laboratory import Laboratory
from lakatos.theories.engine.scoring.view import TheoryView
from lakatos.theories.findings.differences.exchanged_labels import (
    LEVEL,
    N_PERMUTATIONS_PLANNED,
    permuted_p,
)
from lakatos.theories.language.prior import Prior, as_normal, draw_population
from lakatos.theories.language.theory import Theory

Array = NDArray[np.float64]
N_PLACES = 16
"""Values of the attribute that simulated people have: evenly spaced quantiles of a normal."""
N_POOL, WALKING_POOL = 512, 128
"""Simulated people of whom studies draw theirs; of theories that are walked through answers."""
N_DRAWS, WALKING_DRAWS = 256, 128
"""People on whom likelihoods are computed."""
N_SIMULATIONS = 40
N_ROUNDS = 25
"""Of expectation maximisation in a simulated study, at most."""
SIZE = 0.5
"""Standard deviations of people by which a parameter changes for one of the attribute, where nothing else is said."""


@dataclass(frozen=True)
class EffectPower(SimulatedStudies):
    """What simulation says of the effect on one parameter in a planned study."""

    theory: str
    changes: str
    """What depends on the attribute, in words."""
    n_people: int
    n_simulations: int
    n_shown: int
    """Studies that showed the effect, where there is one."""
    n_false: int
    """Studies that showed one of any parameter, where there is none."""

    def to_text(self) -> str:
        """The power in words, for the record of a design."""
        low, high = self.interval
        return f"{self.changes}: power {self.power:.2f} ({low:.2f} to {high:.2f})"


def power_of_effects(
    theory: Theory,
    stimuli: Stimuli,
    n_people: int,
    laboratory: Laboratory,
    rng: np.random.Generator,
    *,
    size: float = SIZE,
    repetitions: int = 1,
    n_simulations: int = N_SIMULATIONS,
) -> list[EffectPower]:
    """Power to show that one parameter at a time depends on an attribute of the theory's people.

    Args:
        theory: With its people, who are those of the mean attribute.
        stimuli: The planned trials; a schedule where the domain has one.
        n_people: Planned people, at least `FEWEST_KNOWN`.
        laboratory: Where the theory runs.
        rng: For people and their answers.
        size: By how many standard deviations of people the parameter changes for one of the attribute.
        repetitions: Presentations of each trial.
        n_simulations: Studies with an effect, and as many without.

    Returns:
        One for each parameter; none of a theory without any.
    """
    people = {name: as_normal(prior) for name, prior in theory.priors.items() if not prior.idle}
    if not people:
        return []
    n_people = max(n_people, FEWEST_KNOWN)
    asked = (stimuli, laboratory, rng, repetitions)
    none = _simulated(theory, people, "", 0.0, *asked)
    n_false = sum(
        bool((_p_values(none, n_people, rng) <= LEVEL).any()) for _ in range(n_simulations)
    )
    found = []
    for place, name in enumerate(people):
        pool = _simulated(theory, people, name, size, *asked)
        shown = [bool(_p_values(pool, n_people, rng)[place] <= LEVEL) for _ in range(n_simulations)]
        changes = f"{abs(size):g} between-participant SD in {name}"
        found.append(
            EffectPower(theory.name, changes, n_people, n_simulations, sum(shown), n_false)
        )
    return found


@dataclass(frozen=True)
class _SimulatedPeople:
    """Many people who answered the planned trials, and what a study sets out from."""

    on_draws: PeopleOnDraws
    start: CenterRegression
    n_choices: int


def _simulated(
    form: Theory,
    people: dict[str, Prior],
    of: str,
    size: float,
    stimuli: Stimuli,
    laboratory: Laboratory,
    rng: np.random.Generator,
    repetitions: int,
) -> _SimulatedPeople:
    """People whose center of ``of`` moves by ``size`` of its spreads for a standard deviation of the attribute."""
    walks = form.learns or laboratory.domain.sequential
    n_pool, n_draws = (WALKING_POOL, WALKING_DRAWS) if walks else (N_POOL, N_DRAWS)
    places = ndtri((np.arange(N_PLACES) + 0.5) / N_PLACES)
    places /= places.std()
    start = as_regression(people, 1)
    low, high = latent_limits(people)
    # people may differ by less than a regression learns
    spreads = np.array([prior.spread for prior in people.values()]) / (high - low)
    effects = size * spreads * np.array([name == of for name in people])
    moved = CenterRegression(start.center, effects[:, None], np.log(spreads))
    centers = moved.centers_of(places[:, None])
    theories = [
        form.with_people(as_priors(people, centers[:, at], spreads)) for at in range(N_PLACES)
    ]
    n_each = n_pool // N_PLACES
    # of a pool each, so that people of one place are no copies of those of another
    answered = laboratory.simulate(
        theories, stimuli, n_each, rng, n_draws=n_pool, repetitions=repetitions
    )
    z = np.repeat(places, n_each)[:, None]
    center, spread = over_everybody(moved, z)
    drawn = draw_population(dict(form.priors) | as_priors(people, center, spread), n_draws, rng)

    def ask(view: TheoryView) -> Array:
        return view.log_likelihood(drawn, answered)

    log_p = laboratory.look(form, [item.stimuli for item in answered], ask)
    latent = np.stack([prior.latent(drawn[name]) for name, prior in people.items()])
    latent = (latent - low[:, None]) / (high - low)[:, None]
    limits = np.zeros(len(people)), np.ones(len(people))
    density = log_density(latent, center[None], spread[None], *limits)[0]
    on_draws = PeopleOnDraws(latent, density, log_p, z)
    return _SimulatedPeople(on_draws, start, int(answered[0].n_choices[0]))


def _p_values(pool: _SimulatedPeople, n_people: int, rng: np.random.Generator) -> Array:
    """``(n_parameters,)`` of one simulated study, as the verdict would find them."""
    every = pool.on_draws
    who = rng.integers(len(every.z), size=n_people)
    people = PeopleOnDraws(every.latent, every.log_density, every.log_p[:, who], every.z[who])
    none = np.zeros(pool.start.effects.shape, dtype=bool)
    shared = learn_regression(people, pool.start, none, 1.0, n_rounds=N_ROUNDS)
    means, _ = people.moments(shared)
    one_experiment = np.zeros(n_people, dtype=int)
    return permuted_p(means, people.z, one_experiment, rng, N_PERMUTATIONS_PLANNED)


def text_of_effect_powers(by: str, powers: Sequence[EffectPower], prior_sd: float) -> str:
    """All that simulation says of planned effects, for a design and its preregistration."""
    if not powers:
        return ""
    first = powers[0]
    low, high = first.false_alarm_interval
    told = "; ".join(item.to_text() for item in powers)
    return (
        f"Effects of {by}: all parameters of a theory may depend linearly on it, each effect with a normal prior of "
        f"standard deviation {prior_sd:g} of the parameter's range. With {first.n_people} participants and "
        f"{first.theory}, the false positive rate is {first.false_alarms:.2f} ({low:.2f} to {high:.2f}). Power for "
        f"a change of one parameter per standard deviation of {by}: {told}."
    )
