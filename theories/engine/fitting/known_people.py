"""Populations of people with known attributes: a regression estimated on drawn people, and weights of these draws.

A theory whose source declares that a parameter depends on what is known of people (`dependence`) is fitted
like any other, and then once more with the effects that it declares. Its population describes everybody, so that
designs, power and predictions of shares need no attribute; where people's responses are scored, each person's draws are
weighted by how much more likely they are among people of whom the same is known.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

from lakatos.experiments.task import Trials
from lakatos.theories.engine.fitting.effects import (
    LEAST_SPREAD,
    Bools,
    CenterRegression,
    PeopleOnDraws,
    effect_errors,
    learn_regression,
)
from lakatos.theories.engine.fitting.normals import log_density
from lakatos.theories.engine.fitting.points import latent_limits
from lakatos.theories.engine.scoring.view import TheoryView
from lakatos.theories.language.dependence import OwnCenter
from lakatos.theories.language.prior import Prior, draw_population

Array = NDArray[np.float64]
N_BATCHES = 4
"""Batches of drawn people; those of a batch come from the populations that the batches before showed."""
WIDER = 1.1
"""Times the spread over all people, from which the next batch is drawn."""
N_ROUNDS_WITHOUT = 15
"""Rounds of expectation maximisation without a part of the people."""
FEWEST_KNOWN = 10
"""People of whom all that a theory depends on must be known, or its effects are not learned."""


def learn_on_draws(
    view: TheoryView,
    trials: Sequence[Trials],
    shared: Mapping[str, Prior],
    z: Array,
    free: Bools,
    prior_sd: float,
    n_each: int,
) -> tuple[PeopleOnDraws, CenterRegression]:
    """Draw people in batches, each from what the batches before showed, and learn the regression from all of them.

    Args:
        view: View of the theory, on the stimuli of ``trials``.
        trials: Experiments whose people can be told apart.
        shared: One population for all, to begin with.
        z: ``(n_people, n_columns)`` what is known of each.
        free, prior_sd: As in `learn_regression`.
        n_each: People drawn in a batch.
    """
    taught = [name for name, prior in shared.items() if not prior.idle]
    begun = {name: shared[name] for name in taught}
    low, high = latent_limits(begun)
    found = as_regression(begun, free.shape[1])
    rng = np.random.default_rng(int(view.theory.digest[:16], 16))
    latents: list[Array] = []
    log_p: list[Array] = []
    drawn_from: list[tuple[Array, Array]] = []
    for _ in range(N_BATCHES):
        center, spread = over_everybody(found, z)
        drawn_from.append((center, spread))
        drawn = draw_population(dict(shared) | as_priors(begun, center, spread), n_each, rng)
        log_p.append(view.log_likelihood(drawn, trials))
        latent = np.stack([shared[name].latent(drawn[name]) for name in taught])
        latents.append((latent - low[:, None]) / (high - low)[:, None])
        every = np.concatenate(latents, axis=1)
        centers, spreads = (np.array(part) for part in zip(*drawn_from, strict=True))
        densities = log_density(every, centers, spreads, np.zeros(len(low)), np.ones(len(low)))
        mixture = np.logaddexp.reduce(densities) - np.log(len(densities))
        people = PeopleOnDraws(every, mixture, np.concatenate(log_p), z)
        found = learn_regression(people, found, free, prior_sd)
    return people, found


def as_regression(priors: Mapping[str, Prior], n_columns: int) -> CenterRegression:
    """Populations without effects, in widths of their ranges; none narrower than a regression learns."""
    low, high = latent_limits(priors)
    center = np.array([prior.center for prior in priors.values()])
    spread = np.array([prior.spread for prior in priors.values()])
    # a prior that is uniform is as wide as a normal within its limits can be
    center = np.where(np.isnan(center), 0.5, (center - low) / (high - low))
    spread = np.where(np.isnan(spread), 1.0, spread / (high - low))
    log_spread = np.log(np.clip(spread, LEAST_SPREAD, 1.0))
    return CenterRegression(
        np.clip(center, 0.0, 1.0), np.zeros((len(center), n_columns)), log_spread
    )


def over_everybody(found: CenterRegression, z: Array, wider: float = WIDER) -> tuple[Array, Array]:
    """Center and spread of a normal that is as wide as all people together, times ``wider``."""
    centers = found.centers_of(z)
    spread = np.sqrt(np.exp(2 * found.log_spread) + centers.var(axis=1))
    return centers.mean(axis=1), np.clip(wider * spread, LEAST_SPREAD, 1.0)


def as_priors(priors: Mapping[str, Prior], centers: Array, spreads: Array) -> dict[str, Prior]:
    """Populations with these centers and spreads, given in widths of their ranges."""
    low, high = latent_limits(priors)
    return {
        name: prior.narrowed(
            float(low[j] + (high[j] - low[j]) * centers[j]),
            float((high[j] - low[j]) * spreads[j]),
        )
        for j, (name, prior) in enumerate(priors.items())
    }


def learned_without(
    people: PeopleOnDraws,
    found: CenterRegression,
    free: Bools,
    prior_sd: float,
    groups: NDArray[np.intp],
    counted: Bools | None = None,
) -> Iterator[tuple[Bools, CenterRegression]]:
    """For each group, mark who belongs to it, and estimate the regression from the others.

    Args:
        people, found, free, prior_sd: As in `learn_regression`.
        groups: ``(n_people,)`` number of the group that each belongs to.
        counted: ``(n_people,)`` who can teach; everybody by default.
    """
    for group in np.unique(groups):
        own = groups == group
        teaching = ~own if counted is None else ~own & counted
        yield own, learn_regression(people, found, free, prior_sd, teaching, N_ROUNDS_WITHOUT)


def depends(priors: Mapping[str, Prior]) -> bool:
    """Whether a theory declares that a parameter depends on what is known of people."""
    return any(prior.depends_on for prior in priors.values())


def what_is_known(priors: Mapping[str, Prior], trials: Sequence[Trials]) -> Array:
    """``(n_people, n_columns)`` by which centers of people move, times the effects; NaN where nothing is known.

    A column stands for one dependence of one parameter, in the order of their declaration.
    """
    blocks: list[Array] = []
    for item in trials:
        known = item.attributes_in_words
        unknown = [""] * item.n_participants
        columns = [
            one.values_of(known.get(one.attribute, unknown))
            for prior in priors.values()
            for one in prior.depends_on
        ]
        blocks.append(np.array(columns).reshape(len(columns), item.n_participants).T)
    return np.concatenate(blocks)


def learn_dependences(
    view: TheoryView, trials: Sequence[Trials], shared: Mapping[str, Prior], n_each: int
) -> dict[str, Prior]:
    """The people of a theory that declares dependences: everybody together, and around which centers they lie.

    Args:
        view: View of the theory, on the stimuli of ``trials``.
        trials: All experiments.
        shared: One population for all, as `calibrate` found it.
        n_each: People drawn in each of `N_BATCHES` batches.

    Returns:
        The population, which is ``shared`` where too little is known of people, or where they cannot be told apart.
    """
    if any(item.pooled for item in trials):
        return dict(shared)
    design = _RegressionDesign.of(shared, trials)
    if design.known.sum() < FEWEST_KNOWN or not design.free.any():
        return dict(shared)
    people, found = learn_on_draws(view, trials, shared, design.z, design.free, 1.0, n_each)
    errors = effect_errors(people, found, design.free, 1.0)
    center, spread = over_everybody(found, design.z, 1.0)
    everybody = as_priors(design.taught, center, spread)
    learned: dict[str, Prior] = {}
    for j, (name, prior) in enumerate(everybody.items()):
        columns = design.columns_of(name)
        own = OwnCenter(
            float(found.center[j]),
            float(np.exp(found.log_spread[j])),
            tuple((found.effects[j, columns] * design.sds[columns]).tolist()),
            tuple((errors[j, columns] * design.sds[columns]).tolist()),
        )
        doubt = shared[name].doubt
        learned[name] = replace(prior, doubt=doubt, own=own if prior.depends_on else None)
    return dict(shared) | learned


def weights_by_person(
    people: Mapping[str, Prior], population: Mapping[str, Array], trials: Sequence[Trials]
) -> Array | None:
    """``(n_draws, n_people)`` normalised log weights of everybody's draws among people of whom the same is known.

    Args:
        people: As `learn_dependences` found them.
        population: ``(n_draws,)`` values of each parameter, drawn from them.
        trials: All experiments.

    Returns:
        None where nothing was learned that could tell people apart; even weights for those of whom nothing is known.
    """
    moved = {name: prior for name, prior in people.items() if prior.own is not None}
    if not moved or any(item.pooled for item in trials):
        return None
    low, high = latent_limits(moved)
    found = as_regression(moved, 0)
    latent = np.stack([prior.latent(population[name]) for name, prior in moved.items()])
    place = (latent - low[:, None]) / (high - low)[:, None]
    log_weights = np.zeros((place.shape[1], sum(item.n_participants for item in trials)))
    for j, (name, prior) in enumerate(moved.items()):
        assert prior.own is not None
        z = what_is_known({name: prior}, trials)
        center = np.clip(prior.own.center + z @ np.array(prior.own.effects), 0.0, 1.0)
        own = -0.5 * ((place[j][:, None] - center) / prior.own.spread) ** 2
        everybody = -0.5 * ((place[j] - found.center[j]) / np.exp(found.log_spread[j])) ** 2
        log_weights += np.where(np.isnan(center), 0.0, own - everybody[:, None])
    return np.asarray(log_weights - logsumexp(log_weights, axis=0))


def weights_taught_by_others(
    people: Mapping[str, Prior],
    population: Mapping[str, Array],
    log_p: Array,
    trials: Sequence[Trials],
    groups: NDArray[np.intp],
) -> tuple[Bools, Array]:
    """Weight draws from everybody by what is known of people, with effects that other groups teach.

    Args:
        people: As `learn_dependences` found them.
        population: ``(n_draws,)`` values of each parameter, drawn from them.
        log_p: ``(n_draws, n_people)`` log likelihood of each person's responses, nats.
        trials: All experiments.
        groups: ``(n_people,)`` number of the group that each belongs to, at least two of them.

    Returns:
        ``(n_people,)`` of whom all is known that the theory depends on, and ``(n_draws, n_people)`` normalised log
        weights.
    """
    design = _RegressionDesign.of(people, trials)
    low, high = latent_limits(design.taught)
    begun = as_regression(design.taught, design.z.shape[1])
    latent = np.stack([prior.latent(population[name]) for name, prior in design.taught.items()])
    place = (latent - low[:, None]) / (high - low)[:, None]
    spread = np.exp(begun.log_spread)
    zeros, ones = np.zeros(len(low)), np.ones(len(low))
    drawn_from = log_density(place, begun.center[None], spread[None], zeros, ones)[0]
    on_draws = PeopleOnDraws(place, drawn_from, log_p, design.z)
    found = _as_learned(design, begun)
    log_weights = np.empty_like(log_p)
    for own, learned in learned_without(on_draws, found, design.free, 1.0, groups, design.known):
        log_weights[:, own] = on_draws.log_weights(learned)[:, own]
    return design.known, log_weights


def _as_learned(design: _RegressionDesign, begun: CenterRegression) -> CenterRegression:
    """The regression that all people taught, as their distributions keep it."""
    center, effects, log_spread = begun.center.copy(), begun.effects.copy(), begun.log_spread.copy()
    for j, (name, prior) in enumerate(design.taught.items()):
        if prior.own is None:
            continue
        columns = design.columns_of(name)
        center[j], log_spread[j] = prior.own.center, np.log(prior.own.spread)
        effects[j, columns] = np.array(prior.own.effects) / design.sds[columns]
    return CenterRegression(center, effects, log_spread)


@dataclass(frozen=True)
class _RegressionDesign:
    """Dependences that a theory declares, and what is known of people, for the regression."""

    taught: dict[str, Prior]
    """Parameters on which some answer depends."""
    z: Array
    """``(n_people, n_columns)`` in units in which all effects have a standard deviation of 1; that of an average person
    where nothing is known."""
    known: Bools
    """``(n_people,)`` of whom everything is known that matters."""
    free: Bools
    """``(n_parameters, n_columns)``."""
    sds: Array
    """``(n_columns,)`` of the effects' priors."""
    owners: tuple[str, ...]
    """Parameter of each column."""

    @classmethod
    def of(cls, people: Mapping[str, Prior], trials: Sequence[Trials]) -> _RegressionDesign:
        """Columns of all parameters that some answer depends on."""
        taught = {name: prior for name, prior in people.items() if not prior.idle}
        owners = tuple(name for name, prior in taught.items() for _ in prior.depends_on)
        sds = np.array([one.sd for prior in taught.values() for one in prior.depends_on])
        known = what_is_known(taught, trials)
        whole = np.asarray(~np.isnan(known).any(axis=1))
        average = known[whole].mean(axis=0) if whole.any() else np.zeros(len(owners))
        z = np.where(np.isnan(known), average, known) * sds
        free = np.array([[name == owner for owner in owners] for name in taught]).reshape(
            len(taught), len(owners)
        )
        return cls(taught, z, whole, free, sds, owners)

    def columns_of(self, name: str) -> NDArray[np.intp]:
        """Numbers of the columns of one parameter."""
        return np.flatnonzero([owner == name for owner in self.owners])
