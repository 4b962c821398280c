"""Learn who a theory's people are, and score what it predicts for responses that taught nothing about them.

A theory is its form; its people are learned. One procedure serves published theories, the grammar's, induced ones and
those of language models: `learn_people` finds the population within the declared ranges that the open responses show,
and `score_experiments` predicts every experiment with the population that the other experiments would have taught.
Where there are several data sets, each is predicted with the population that the others taught, learned anew.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from lakatos.experiments.task import Trials
from lakatos.theories.engine.fitting.calibrate import calibrate, explained_near, leave_groups_out
from lakatos.theories.engine.fitting.known_people import (
    depends,
    learn_dependences,
    weights_by_person,
    weights_taught_by_others,
)
from lakatos.theories.engine.fitting.pooled import explained_near_of_pooled, leave_one_out
from lakatos.theories.engine.scoring.score import ExperimentEvidence, UnitScores, log_predictive
from lakatos.theories.engine.scoring.view import TheoryView
from lakatos.theories.language.prior import Prior
from lakatos.theories.language.theory import Theory

Array = NDArray[np.float64]
POOLED_DRAWS = 64
WALKING_DRAWS = 128
FITTING_DRAWS = 512
"""People who stand for a population while it is learned: with half as many, fits of nine parameters stop short."""
N_ROUNDS, N_LATER_ROUNDS = 24, 12
"""Most rounds of estimating a population from nothing, and from the population that earlier responses taught."""
WALKED_ROUNDS = 8
"""Most rounds where responses are walked through one by one."""
FEW_EXCHANGED, MORE_EXCHANGED = 4, 64
"""People in whom a parameter is exchanged, to see whether any prediction depends on it."""
NOTHING = 1e-9
"""Change of a probability that is none."""
GLANCE, WALKED_GLANCE, POOLED_GLANCE = (64, 3), (128, 1), (8, 3)
"""Draws and rounds of a glance; the steps of a walk cost the same for few people as for many."""
WIDER, LEAST_WIDTH = 2.0, 0.05
"""Times the spread of a similar theory's people, among whom a glance looks, and its least share of a declared range."""
N_FOLDS = 5
"""Groups of people that are left out in turn where there is one experiment only."""
DECIDING_DIGITS = 9
"""Digits behind the point to which log probabilities decide; the others differ between processors."""


@dataclass(frozen=True)
class Scored:
    """Scores of a theory on one experiment."""

    left_out: UnitScores
    """Scores with the population that the other experiments would have taught; of a single experiment, other people (or
    trials); of several data sets, the other data sets."""
    mean: Array
    """``(n_trials, n_options)`` proportions of the population that all answers taught."""


def fitting_draws(theory: Theory, trials: Sequence[Trials], n_draws: int = FITTING_DRAWS) -> int:
    """People drawn in each round of a fit, at most ``n_draws``."""
    if all(
        item.pooled for item in trials
    ):  # one point is fitted to all people: draws only start the fit
        return min(n_draws, POOLED_DRAWS)
    return min(n_draws, WALKING_DRAWS) if theory.learns else n_draws


def learn_people(
    view: TheoryView,
    trials: Sequence[Trials],
    *,
    start: Mapping[str, Prior] | None = None,
    n_draws: int = FITTING_DRAWS,
    n_iterations: int = N_ROUNDS,
) -> dict[str, Prior]:
    """The population that answers show, within the declared ranges of a theory; see `calibrate`.

    Parameters on which no trial depends stay as they were declared, and are marked. What a theory declares to depend on
    what is known of people is learned after it; see `learn_dependences`.
    """
    # The steps of a walk cost the same for few people as for many, so that it draws more of them in fewer rounds.
    few = view.walks and not all(item.pooled for item in trials)
    learned = calibrate(
        view.theory.priors,
        trials,
        lambda parameters: _predict(view, parameters),
        likelihood=lambda parameters: view.log_likelihood(parameters, trials),
        start=start,
        n_draws=n_draws,
        n_iterations=min(n_iterations, WALKED_ROUNDS) if few else n_iterations,
        n_new=max(n_draws // 2, 1) if few else None,
    )
    declared = view.theory.priors
    idle = idle_parameters(view)
    shared = learned | {name: replace(declared[name], idle=True) for name in sorted(idle)}
    return learn_dependences(view, trials, shared, n_draws) if depends(declared) else shared


def glance(view: TheoryView, near: Mapping[str, Prior], trials: Sequence[Trials]) -> float:
    """Nats per choice that a theory would explain once fitted, roughly, by a look around a similar theory's people.

    Args:
        view: View of the theory, on the stimuli of ``trials``.
        near: People that a similar theory learned from the same responses; parameters of other names or limits are
            looked for in their declared ranges.
        trials: All experiments.
    """
    start = {name: _around(near.get(name), prior) for name, prior in view.theory.priors.items()}
    if all(item.pooled for item in trials):
        n_draws, n_rounds = POOLED_GLANCE
        return explained_near_of_pooled(
            view.theory.priors,
            start,
            trials,
            lambda parameters: _predict(view, parameters),
            n_draws=n_draws,
            n_rounds=n_rounds,
        )
    n_draws, n_rounds = WALKED_GLANCE if view.walks else GLANCE
    return explained_near(
        view.theory.priors,
        start,
        trials,
        lambda parameters: view.log_likelihood(parameters, trials),
        n_draws=n_draws,
        n_rounds=n_rounds,
    )


def _around(learned: Prior | None, declared: Prior) -> Prior:
    """A parameter's people as a similar theory learned them, more widely spread; as declared where it tells nothing."""
    same = learned is not None and (learned.low, learned.high) == (declared.low, declared.high)
    if learned is None or not same or not np.isfinite(learned.center):
        return declared
    low, high = declared.latent(np.array([declared.low, declared.high]))
    return declared.narrowed(
        learned.center, max(WIDER * learned.spread, LEAST_WIDTH * float(high - low))
    )


def idle_parameters(view: TheoryView) -> frozenset[str]:
    """Parameters of which no prediction for the view's trials depends; none of a theory that learns.

    Each parameter in turn is exchanged for another of its range in a few people, and in more where nothing moved.
    """
    found = frozenset() if view.theory.learns else frozenset(view.theory.priors)
    for n_people in (FEW_EXCHANGED, MORE_EXCHANGED):
        if found:
            found = _unmoved(view, sorted(found), n_people)
    return found


def _unmoved(view: TheoryView, names: Sequence[str], n_people: int) -> frozenset[str]:
    """Find the parameters whose exchange among ``n_people`` people changes no prediction."""
    drawn = view.theory.population(2 * n_people)
    own = {name: values[:n_people] for name, values in drawn.items()}
    others = [own | {name: drawn[name][n_people:]} for name in names]
    stacked = {name: np.concatenate([item[name] for item in (own, *others)]) for name in own}
    moved = np.zeros(len(names), dtype=bool)
    for p in view.probabilities(stacked):
        kept, *exchanged = np.split(p, len(names) + 1)
        moved |= [bool(np.abs(item - kept).max(initial=0.0) > NOTHING) for item in exchanged]
    return frozenset(name for name, has_moved in zip(names, moved, strict=True) if not has_moved)


def score_trials(
    view: TheoryView, people: Mapping[str, Prior], trials: Sequence[Trials]
) -> list[UnitScores]:
    """Pooled responses to every trial, predicted from those to all others; see `leave_one_out`."""
    return leave_one_out(people, trials, lambda parameters: _predict(view, parameters))


def score_experiments(
    view: TheoryView,
    people: Mapping[str, Prior],
    trials: Sequence[Trials],
    n_draws: int,
    *,
    by_other_data_sets: Sequence[UnitScores] = (),
) -> list[Scored]:
    """Score a theory on every experiment, predicted from the others.

    Args:
        view: View of the theory, on the stimuli of ``trials``.
        people: The population that all of them taught, as `learn_people` returned it.
        trials: All experiments.
        n_draws: Number of draws of the population.
        by_other_data_sets: Where there are several data sets, each experiment predicted with the people that the other
            data sets taught; see `score_with_people`.
    """
    population = view.theory.with_people(people).population(n_draws)
    evidence = view.evidence(population, trials)
    means = [item.probabilities.mean(axis=0) for item in evidence]
    if by_other_data_sets:
        return [Scored(own, mean) for own, mean in zip(by_other_data_sets, means, strict=True)]
    if all(item.pooled for item in trials):
        scores = leave_one_out(
            people, trials, lambda parameters: _predict(view, parameters), by_experiment=True
        )
        return [Scored(own, mean) for own, mean in zip(scores, means, strict=True)]
    scores = score_left_out(people, population, evidence, by_experiment=len(trials) > 1)
    return [Scored(own, mean) for own, mean in zip(scores, means, strict=True)]


def evidence_of_population(
    view: TheoryView,
    people: Mapping[str, Prior],
    population: Mapping[str, Array],
    trials: Sequence[Trials],
) -> list[ExperimentEvidence]:
    """Compute the evidence of drawn people, and how likely each draw is for each person.

    Draws are of everybody; where the theory's people differ by what is known of them, draws have other weights for each
    person (`ExperimentEvidence.known`).

    Args:
        view: View of the theory, on the stimuli of ``trials``.
        people: People estimated from responses.
        population: ``(n_draws,)`` values of each parameter in people of it.
        trials: All experiments.
    """
    evidence = view.evidence(population, trials)
    known = weights_by_person(people, population, trials)
    if known is None:
        return evidence
    ends = np.cumsum([item.n_participants for item in trials])
    own = np.split(known, ends[:-1], axis=1)
    return [replace(item, known=part) for item, part in zip(evidence, own, strict=True)]


def score_with_people(
    view: TheoryView, people: Mapping[str, Prior], trials: Sequence[Trials], n_draws: int
) -> list[UnitScores]:
    """Answers predicted with a population that others taught.

    Args:
        view: View of the theory, on the stimuli of ``trials``.
        people: People estimated from the others' responses.
        trials: Experiments whose people had no part in that.
        n_draws: Number of draws of the population.
    """
    population = view.theory.with_people(people).population(n_draws)
    return [
        log_predictive(item) for item in evidence_of_population(view, people, population, trials)
    ]


def score_left_out(
    people: Mapping[str, Prior],
    population: Mapping[str, Array],
    evidence: Sequence[ExperimentEvidence],
    *,
    by_experiment: bool = False,
) -> list[UnitScores]:
    """Answers predicted with the population that other people's answers would have taught; nothing is asked again.

    Args:
        people: Population that all answers taught.
        population: ``(n_draws,)`` values of each parameter in people of it.
        evidence: What these make of the responses.
        by_experiment: Whether people are left out together with their experiment, not in `N_FOLDS` groups.
    """
    log_p = np.concatenate([item.log_likelihood for item in evidence], axis=1)
    experiment = np.repeat(
        np.arange(len(evidence)), [item.log_likelihood.shape[1] for item in evidence]
    )
    groups = experiment if by_experiment else folds_of_people(log_p)
    log_weights = leave_groups_out(people, population, log_p, groups)[groups].T
    if any(prior.own for prior in people.values()) and groups.any():
        trials = [item.trials for item in evidence]
        known, by_person = weights_taught_by_others(people, population, log_p, trials, groups)
        log_weights = np.where(known, by_person, log_weights)
    found = []
    for place, item in enumerate(evidence):
        own = log_weights[:, experiment == place]
        found.append(log_predictive(item, own[:, 0] if item.trials.pooled else own))
    return found


def folds_of_people(log_p: Array) -> NDArray[np.intp]:
    """``(n_people,)`` number of a fold, so that each holds easy and hard people, in whatever order they came.

    People who differ by rounding only keep their order, so that processors do not divide them differently.
    """
    rank = np.argsort(np.argsort(np.round(log_p.mean(axis=0), DECIDING_DIGITS), kind="stable"))
    return np.asarray(rank % N_FOLDS)


def _predict(view: TheoryView, parameters: Mapping[str, Array]) -> list[Array]:
    """Probabilities of each experiment; a theory without parameters is asked once."""
    return view.probabilities(parameters or {"": np.zeros(1)})
