"""Groups of people: whether one theory holds for all of them, with the same numbers or with numbers of their own.

A theory is its form, and its people are learned. So "do children and adults choose alike?" is two questions: whether
the same form, fitted to each group by itself, predicts people of that group better than one population for all does;
and whether another form predicts some group better. People are always predicted by others (five parts of them are left
out in turn), so that numbers of one's own must pay for being learned from fewer people.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lakatos.experiments.errors import TrialsError
from lakatos.experiments.task import Trials
from lakatos.theories.engine.fitting.fit import score_left_out
from lakatos.theories.engine.laboratory import Laboratory
from lakatos.theories.engine.scoring.score import (
    ScoreEstimate,
    UnitScores,
    advantage,
    is_tie,
    mean_over_units,
    paired_difference,
)
from lakatos.theories.engine.scoring.view import TheoryView
from lakatos.theories.errors import TheoryError
from lakatos.theories.findings.differences.exchanged_labels import p_in_words
from lakatos.theories.findings.differences.group_difference import ParameterDifference
from lakatos.theories.language.prior import Prior
from lakatos.theories.language.theory import Theory

Members = Mapping[str, Sequence[NDArray[np.bool_]]]
"""For each group, ``(n_participants,)`` of each experiment: whether a participant belongs to it."""
FEWEST = 5
"""People of a group: each of five parts that are left out must hold somebody."""


MOST_GROUPS = 6
"""Different numbers that are groups as they are."""


@dataclass(frozen=True)
class GroupedTheory:
    """A theory with one population for all people, and with one for each group."""

    form: Theory
    shared: Mapping[str, Prior]
    own: Mapping[str, Mapping[str, Prior]]
    """Population distribution of the parameters for each group."""
    scores: Mapping[str, UnitScores]
    """Score for each group, its participants predicted from others of the group."""
    shared_scores: Mapping[str, UnitScores]
    """Score for each group, its participants predicted from others of all groups."""

    @property
    def populations(self) -> Mapping[str, Mapping[str, Prior]]:
        """Learned from everybody, under the empty name, and from each group."""
        return {"": self.shared, **self.own}

    def score(self, group: str) -> ScoreEstimate:
        """Nats per choice of a group's people, by others of the group."""
        return mean_over_units(self.scores[group])

    def gain(self, groups: Sequence[str] = ()) -> ScoreEstimate:
        """Nats per choice by which numbers of their own predict some groups better (all of them by default)."""
        names = list(groups or self.scores)
        own = _together([self.scores[name] for name in names])
        return advantage(
            own.log_predictive
            - _together([self.shared_scores[name] for name in names]).log_predictive,
            own.n_choices,
        )


def compare_groups(
    form: Theory,
    trials: Sequence[Trials],
    members: Members,
    laboratory: Laboratory,
    n_draws: int,
) -> GroupedTheory:
    """Fit a form to all people and to each group, and predict everybody by others.

    Args:
        form: With its declared ranges.
        trials: Experiments whose people can be told apart.
        members: Who belongs to which group; somebody of no group teaches only the population of all.
        laboratory: Where the theory runs.
        n_draws: Of each population, a power of two.

    Raises:
        TheoryError: The theory does not run on these answers.
    """
    parts = {name: _of_group(trials, chosen) for name, chosen in members.items()}
    (shared,) = laboratory.people_of([form], [{}], trials)
    taught = {"": shared} | {
        name: laboratory.people_of([form], [{}], own)[0] for name, own in parts.items()
    }
    for people in taught.values():
        if isinstance(people, TheoryError):
            raise people
    learned = {name: people for name, people in taught.items() if isinstance(people, dict)}
    everybody = _predicted_by_others(form, learned[""], trials, laboratory, n_draws)
    scores, shared_scores = {}, {}
    for name, chosen in members.items():
        own = _predicted_by_others(form, learned[name], parts[name], laboratory, n_draws)
        scores[name] = _together(own)
        kept = [units.of(who) for units, who in zip(everybody, chosen, strict=True) if who.any()]
        shared_scores[name] = _together(kept)
    own_people = {name: learned[name] for name in members}
    return GroupedTheory(form, learned[""], own_people, scores, shared_scores)


def _of_group(trials: Sequence[Trials], chosen: Sequence[NDArray[np.bool_]]) -> list[Trials]:
    pairs = zip(trials, chosen, strict=True)
    return [item.of_people(who) for item, who in pairs if who.any()]


def _predicted_by_others(
    form: Theory,
    people: Mapping[str, Prior],
    trials: Sequence[Trials],
    laboratory: Laboratory,
    n_draws: int,
) -> list[UnitScores]:
    """Everybody's score in each experiment, with the population that people of the other four parts taught."""
    theory = form.with_people(people)
    population = theory.population(n_draws)

    def score(view: TheoryView) -> list[UnitScores]:
        return score_left_out(people, population, view.evidence(population, trials))

    return laboratory.look(theory, [item.stimuli for item in trials], score)


def _together(scores: Sequence[UnitScores]) -> UnitScores:
    """People of several experiments, one after another."""
    return UnitScores(
        np.concatenate([item.log_predictive for item in scores]),
        np.concatenate([item.n_choices for item in scores]),
    )


def members_by(
    labels: Sequence[NDArray[Any]], by: str, cuts: Sequence[float] = ()
) -> dict[str, list[NDArray[np.bool_]]]:
    """Who belongs to which group, in each experiment.

    Args:
        labels: ``(n_participants,)`` of each experiment: what divides people, in words; empty where it is not known.
        by: What it is called.
        cuts: Where ranges of a number begin; by default the halves around the median, where there are many numbers.

    Raises:
        TrialsError: There is one group only, or a group is too small.
    """
    labels = _in_ranges(labels, cuts)
    names = sorted({label for column in labels for label in column.tolist()} - {""}, key=_in_order)
    members = {name: [column == name for column in labels] for name in names}
    if len(names) < 2:
        raise TrialsError(
            f"{by} is {', '.join(names) or 'empty'} for all participants; there is nothing to compare."
        )
    for name, chosen in members.items():
        if (n := sum(int(who.sum()) for who in chosen)) < FEWEST:
            raise TrialsError(
                f"{by} is {name!r} for {n} participants; a group needs {FEWEST}, because it is "
                "cross-validated in five parts."
            )
    return members


def _in_ranges(labels: Sequence[NDArray[Any]], cuts: Sequence[float]) -> list[NDArray[Any]]:
    """Numbers as the range between cuts that they lie in, by default the halves around their median.

    Words, and few different numbers without cuts, stay as they are.
    """
    if not np.isfinite(cuts).all():
        raise TrialsError(
            f"ranges of numbers begin at {', '.join(map(str, cuts))}; give finite numbers."
        )
    said = np.concatenate(labels)
    try:
        numbers = said[said != ""].astype(float)
    except ValueError:
        return list(labels)
    if not cuts and len(set(numbers.tolist())) <= MOST_GROUPS:
        return list(labels)
    at = sorted(cuts) or [float(np.median(numbers))]
    between = [f"{low:g} to below {high:g}" for low, high in pairwise(at)]
    words = [f"below {at[0]:g}", *between, f"{at[-1]:g} and above"]

    def word(cell: str) -> str:
        return words[bisect_right(at, float(cell))] if cell else ""

    return [np.array([word(cell) for cell in column.tolist()]) for column in labels]


def _in_order(label: str) -> tuple[int, float, str]:
    """Numbers and ranges of numbers by size, before words."""
    first = label.split()[0]
    try:
        return 0, -np.inf if first == "below" else float(first), label
    except ValueError:
        return 1, 0.0, label


def best_in(theories: Mapping[str, GroupedTheory], group: str) -> str:
    """The theory that predicts a group's people best, by name."""
    return max(theories, key=lambda name: theories[name].score(group).value)


def best_overall(theories: Mapping[str, GroupedTheory]) -> str:
    """The theory that predicts the people of all groups best, each group alike, by name."""
    return max(
        theories,
        key=lambda name: float(
            np.mean([theories[name].score(group).value for group in theories[name].scores])
        ),
    )


def said_of_groups(
    by: str,
    theories: Mapping[str, GroupedTheory],
    differences: Sequence[ParameterDifference] = (),
) -> str:
    """Whether numbers differ between groups, and whether forms do, in words.

    Args:
        by: What divides people.
        theories: By name.
        differences: Between groups by the theory that is best overall, the clearest first.
    """
    name = best_overall(theories)
    said = [f"{name}: {_of_parameters(differences)}"] if differences else []
    gain = theories[name].gain()
    said.append(f"{'' if differences else f'{name}: '}{_of_numbers(gain)} ({_in_words(gain)}).")
    for group in theories[name].scores:
        best = best_in(theories, group)
        ahead = paired_difference([theories[best].scores[group]], [theories[name].scores[group]])
        if best != name and ahead.is_above_zero():
            said.append(
                f"Where {by} is {group}, another theory, {best}, predicts better ({_in_words(ahead)})."
            )
    if len(said) == 1 + bool(differences) and len(theories) > 1:
        said.append(
            f"In no group does another of the {len(theories)} theories clearly predict better."
        )
    return " ".join(said)


def _of_parameters(differences: Sequence[ParameterDifference]) -> str:
    """The parameters in which groups differ, in words."""
    alone = differences[0].alone
    if len(alone) == len(differences[0].medians):
        return (
            "the groups are confounded with experiments, each of which has one group only, so differences are not "
            "tested and there is no p value."
        )
    return f"{_of_tested(differences)}{_of_alone(alone)}"


def _of_alone(alone: Sequence[str]) -> str:
    """A sentence that groups without a common experiment are not tested; empty if there are none."""
    if not alone:
        return ""
    share = "it shares" if len(alone) == 1 else "they share"
    return f" Differences of {' and '.join(alone)} cannot be tested: {share} no experiment with another group."


def _of_tested(differences: Sequence[ParameterDifference]) -> str:
    """The parameters in which groups of one experiment differ, in words."""
    differ = [item for item in differences if item.differs]
    rest = [item for item in differences if not item.differs]
    if not differ:
        return f"no clear evidence of a difference between the groups; smallest p: {rest[0].to_text()}."
    named = " and ".join(item.parameter for item in differ)
    said = [f"the groups differ in {named}: {'; '.join(item.to_text() for item in differ)}."]
    if rest:
        names = ", ".join(item.parameter for item in rest)
        said.append(f"No clear evidence of a difference in {names}{_from(rest[0])}.")
    return " ".join(said)


def _from(nearest: ParameterDifference) -> str:
    """The least probability of those that show no difference."""
    return "" if nearest.p is None else f" (smallest p: {p_in_words(nearest.p)})"


def _of_numbers(gain: ScoreEstimate) -> str:
    """Whether numbers of each group's own predict better, in words."""
    if gain.is_above_zero():
        return "Separate parameters predict the groups better than one common population"
    if not is_tie(gain):
        return "One common population predicts the groups better than separate parameters"
    return "It is not clear whether separate parameters predict the groups better than one common population"


def _in_words(estimate: ScoreEstimate) -> str:
    return f"{estimate.value:+.4f} nats per choice, {estimate.interval_in_words()}"
