"""Groups of people at hand: whether one theory holds for all of them, and with which numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
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
    people_table,
)
from lakatos.theories.engine.laboratory import Laboratory
from lakatos.theories.engine.scoring.score import paired_difference
from lakatos.theories.errors import TheoryError
from lakatos.theories.findings.differences.group_difference import (
    ParameterDifference,
    differences_between_groups,
)
from lakatos.theories.findings.differences.groups import (
    GroupedTheory,
    best_in,
    best_overall,
    compare_groups,
    members_by,
    said_of_groups,
)


@dataclass(frozen=True)
class GroupComparison:
    """What `by_group` found."""

    by: str
    n_people: Mapping[str, int]
    theories: Mapping[str, GroupedTheory]
    found: tuple[ParameterDifference, ...] = ()
    """Between groups by the theory that is best overall, the clearest first."""

    @cached_property
    def differences(self) -> pd.DataFrame:
        """A row for each parameter and group: the median person with its 95% interval, by the best theory.

        ``p`` is the probability of so large a difference of any parameter where groups do not differ, by exchanged
        labels of people; ``compared`` is a group's median beside the first one's, as a ratio or a difference.
        """
        rows = []
        for item in self.found:
            first = next(iter(item.medians))
            for group, median in item.medians.items():
                against = item.differences.get((first, group))
                ends = (np.nan, np.nan) if against is None else against.interval
                rows.append(
                    {
                        "parameter": item.parameter,
                        self.by: group,
                        "median": median.value,
                        "median_low": median.interval[0],
                        "median_high": median.interval[1],
                        "unit": item.unit,
                        "compared_as": "ratio" if item.is_ratio else "difference",
                        "compared": np.nan if against is None else against.value,
                        "compared_low": ends[0],
                        "compared_high": ends[1],
                        "p": item.p,
                        "differs": item.differs,
                    }
                )
        return pd.DataFrame(rows)

    @cached_property
    def scores(self) -> pd.DataFrame:
        """A row for each theory and group: how its people are predicted by others of the group, in nats per choice.

        ``own_numbers`` is what they gain over the population of all people; ``behind`` what the theory that is best
        in the group is ahead by. Intervals are 95%, clustered by person.
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
        told = (
            (name, item.form, {"all": item.shared, **item.own})
            for name, item in self.theories.items()
        )
        return people_table(self.by, told)

    def mean_score(self, theory: str) -> float:
        """Nats per choice of a theory, each group alike."""
        item = self.theories[theory]
        return float(np.mean([item.score(group).value for group in self.n_people]))

    def best(self, group: str) -> str:
        """The theory that predicts a group's people best."""
        return best_in(self.theories, group)

    @property
    def verdict(self) -> str:
        """Whether numbers differ between groups, and whether forms do, in words."""
        return said_of_groups(self.by, self.theories, self.found)

    def __repr__(self) -> str:
        return f"{self.verdict}\n{self.scores.to_string(index=False)}"


def by_group(
    answers: PeoplesAnswers | Any,
    theories: TheoryLike | Sequence[TheoryLike] | None = None,
    *,
    by: str,
    cuts: Sequence[float] = (),
    n_workers: int = 2,
    seed: int = 0,
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
        seed: Of labels that are exchanged and people that are drawn again, for intervals and probabilities.
        adopting: Arguments of `adopt`.

    Raises:
        TrialsError: People cannot be told apart, nothing of that name is known of them, or a group is too small.
        TheoryError: A theory does not run on these answers. Published ones that do not are left out, with a warning.

    Example:
        >>> print(lakatos.by_group("answers.csv", ["hyperbolic"], by="age"))  # doctest: +SKIP
    """
    known = adopted(answers, **adopting, **also_known(answers, by))
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
        found: tuple[ParameterDifference, ...] = ()
        if compared:
            best = compared[best_overall(compared)]
            found = differences_between_groups(
                best.form,
                best.populations,
                known.trials,
                members,
                laboratory,
                np.random.default_rng(seed),
            )
    n_people = {name: sum(int(who.sum()) for who in chosen) for name, chosen in members.items()}
    return GroupComparison(by, n_people, compared, found)


def also_known(answers: PeoplesAnswers | Any, by: str) -> dict[str, Any]:
    """The argument of `adopt` that has it read a column about people; nothing where answers have been read already."""
    return {} if isinstance(answers, PeoplesAnswers) else {"known": (by,)}


def check_known(answers: PeoplesAnswers, by: str) -> None:
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
    check_known(answers, by)
    return members_by([np.array(known[by]) for known in answers.people], by, cuts)
