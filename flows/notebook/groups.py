"""Groups of people at hand: whether one theory holds for all of them, and with which numbers."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from lakatos.experiments.errors import TrialsError
from lakatos.flows.notebook.answers import PeoplesAnswers
from lakatos.flows.notebook.frames import interval_columns
from lakatos.flows.notebook.theory import (
    TheoryLike,
    adopted,
    draws_for,
    forms_of,
    left_out,
    quantiles,
)
from lakatos.theories.errors import TheoryError
from lakatos.theories.groups import FEWEST, GroupedTheory, compare_groups
from lakatos.theories.laboratory import Laboratory
from lakatos.theories.scoring.score import ScoreEstimate, paired_difference

MOST_GROUPS = 6
"""Different numbers that are groups as they are."""


@dataclass(frozen=True)
class GroupComparison:
    """What `by_group` found."""

    by: str
    n_people: Mapping[str, int]
    theories: Mapping[str, GroupedTheory]

    @cached_property
    def scores(self) -> pd.DataFrame:
        """A row for each theory and group: how its people are predicted by others of the group, in nats per choice.

        ``own_numbers`` is what they gain over the population of all people; ``behind`` what the theory that is best
        in the group is ahead by. Intervals are two standard errors to each side, clustered by person.
        """
        rows = []
        for group in self.n_people:
            best = self.best(group)
            for name, item in self.theories.items():
                behind = paired_difference(
                    [self.theories[best].scores[group]], [item.scores[group]]
                )
                rows.append(
                    {
                        "theory": name,
                        self.by: group,
                        "people": self.n_people[group],
                        **interval_columns("score", item.score(group)),
                        **interval_columns("own_numbers", item.gain([group])),
                        **interval_columns("behind", behind),
                    }
                )
        return pd.DataFrame(rows)

    @cached_property
    def people(self) -> pd.DataFrame:
        """A row for each theory, parameter and group: the median person, and the middle 95% of people."""
        rows = [
            {
                "theory": name,
                "parameter": key,
                self.by: group,
                **quantiles(prior),
                "unit": prior.unit,
            }
            for name, item in self.theories.items()
            for key in item.form.priors
            for group, prior in [("all", item.shared[key])]
            + [(group, own[key]) for group, own in item.own.items()]
        ]
        return pd.DataFrame(rows)

    def best(self, group: str) -> str:
        """The theory that predicts a group's people best."""
        return max(self.theories, key=lambda name: self.theories[name].score(group).value)

    @property
    def verdict(self) -> str:
        """Whether numbers differ between groups, and whether forms do, in words."""
        whole = {
            name: np.mean([item.score(group).value for group in self.n_people])
            for name, item in self.theories.items()
        }
        name = max(whole, key=lambda key: float(whole[key]))
        gain = self.theories[name].gain()
        said = [f"{name}: {_of_numbers(gain)} ({_interval(gain)})."]
        for group in self.n_people:
            best = self.best(group)
            scores = self.theories[best].scores[group], self.theories[name].scores[group]
            ahead = paired_difference([scores[0]], [scores[1]])
            if best != name and ahead.interval[0] > 0:
                said.append(
                    f"Where {self.by} is {group}, {best} is another form that predicts better ({_interval(ahead)})."
                )
        if len(said) == 1 and len(self.theories) > 1:
            said.append(f"In no group is another of {len(self.theories)} theories clearly better.")
        return " ".join(said)

    def __repr__(self) -> str:
        return f"{self.verdict}\n{self.scores.to_string(index=False)}"


def by_group(
    answers: PeoplesAnswers | Any,
    theories: TheoryLike | Sequence[TheoryLike] | None = None,
    *,
    by: str,
    cuts: Sequence[float] = (),
    n_workers: int = 2,
    **adopting: Any,
) -> GroupComparison:
    """Whether theories hold for several groups of people, with numbers of their own or with the same ones.

    Args:
        answers: As `adopt` returned them, or what `adopt` takes.
        theories: One or several; all published ones of the domain by default.
        by: What is known of people and divides them, such as ``group`` or ``age``.
        cuts: Where ranges of a number begin, as in ``[12, 18]``; by default the lower and the upper half are compared
            where there are more than six values.
        n_workers: Theories that run at the same time; does not change results.
        adopting: Arguments of `adopt`.

    Raises:
        TrialsError: People cannot be told apart, nothing of that name is known of them, or a group is too small.
        TheoryError: A theory does not run on these answers. Published ones that do not are left out, with a warning.

    Example:
        >>> print(lakatos.by_group("answers.csv", ["hyperbolic"], by="age"))  # doctest: +SKIP
    """
    known = adopted(answers, **adopting)
    members = members_of(known, by, cuts)
    compared = {}
    with Laboratory(known.domain, n_workers) as laboratory:
        forms = forms_of(theories, known, laboratory)
        n_draws = draws_for(forms.values(), known.domain)
        for name, form in forms.items():
            try:
                compared[name] = compare_groups(form, known.trials, members, laboratory, n_draws)
            except TheoryError as error:
                left_out(name, error, named=theories is not None)
    n_people = {name: sum(int(who.sum()) for who in chosen) for name, chosen in members.items()}
    return GroupComparison(by, n_people, compared)


def _check_known(answers: PeoplesAnswers, by: str) -> None:
    """Refuse to divide people who cannot be told apart, or by what is not known of them."""
    if any(item.pooled for item in answers.trials):
        raise TrialsError(
            "these are counts of answers: people cannot be told apart, and so no groups."
        )
    if answers.people and all(by in known for known in answers.people):
        return
    there = sorted({name for known in answers.people for name in known})
    advice = 'say columns={"attributes": [...]} to `adopt`.'
    told = f"there is {', '.join(there)}." if there else advice
    raise TrialsError(f"nothing called {by!r} is known of these people; {told}")


def members_of(
    answers: PeoplesAnswers, by: str, cuts: Sequence[float] = ()
) -> dict[str, list[NDArray[np.bool_]]]:
    """Who belongs to which group, in each experiment.

    Raises:
        TrialsError: People cannot be told apart, nothing of that name is known of them, or a group is too small.
    """
    _check_known(answers, by)
    labels = _in_ranges([np.array(known[by]) for known in answers.people], cuts)
    names = sorted({label for column in labels for label in column.tolist()} - {""}, key=_in_order)
    members = {name: [column == name for column in labels] for name in names}
    if len(names) < 2:
        raise TrialsError(
            f"{by} is {', '.join(names) or 'empty'} for everybody; there is nothing to compare."
        )
    for name, chosen in members.items():
        if (n := sum(int(who.sum()) for who in chosen)) < FEWEST:
            raise TrialsError(
                f"{by} is {name!r} for {n} people; a group needs {FEWEST}, as five parts of it are left out in turn."
            )
    return members


def _in_ranges(labels: list[NDArray[Any]], cuts: Sequence[float]) -> list[NDArray[Any]]:
    """Numbers as the range between cuts that they lie in, by default the halves around their median.

    Words, and few different numbers without cuts, stay as they are.
    """
    said = np.concatenate(labels)
    try:
        numbers = said[said != ""].astype(float)
    except ValueError:
        return labels
    if not cuts and len(set(numbers.tolist())) <= MOST_GROUPS:
        return labels
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


def _of_numbers(gain: ScoreEstimate) -> str:
    low, high = gain.interval
    if low > 0:
        return (
            "the groups differ in their numbers; with numbers of its own each is predicted better"
        )
    if high < 0:
        return "one population predicts everybody better than numbers of each group's own"
    return "whether the groups differ in their numbers is not decided"


def _interval(estimate: ScoreEstimate) -> str:
    return f"{estimate.value:+.4f} nats per choice, {estimate.interval_in_words()}"
