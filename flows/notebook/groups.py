"""Groups of people at hand: whether one theory holds for all of them, and with which numbers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from rich.table import Table

from lakatos.experiments.errors import TrialsError
from lakatos.flows.argument import Argument, Columns, RunsFolder, Workers
from lakatos.flows.notebook.answers import PeoplesAnswers
from lakatos.flows.notebook.asked import Answers, read_asked
from lakatos.flows.notebook.fitted import NamedTheories, draws_for, forms_of, left_out, people_table
from lakatos.flows.notebook.frames import interval_columns, p_in_cell
from lakatos.flows.result import Result, Shown
from lakatos.flows.run.console import escape
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


@dataclass(frozen=True, repr=False)
class GroupComparison(Result):
    """What `by_group` found."""

    by: str
    n_people: Mapping[str, int]
    theories: Mapping[str, GroupedTheory]
    found: tuple[ParameterDifference, ...] = ()
    """Between groups by the theory that is best overall, the clearest first."""
    notes: tuple[str, ...] = ()

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

    @property
    def headline(self) -> str:
        """The verdict, which is printed beside a table."""
        return self.verdict

    def to_frame(self) -> pd.DataFrame:
        """The table `differences`."""
        return self.differences

    def lines(self) -> Iterator[Shown]:
        """The verdict, the median participant of each group, and how theories predict each group."""
        people = ", ".join(f"{n} where it is {name}" for name, n in self.n_people.items())
        yield f"People by {escape(self.by)}: {escape(people)}."
        yield escape(self.verdict)
        yield self._medians()
        yield self._scores()
        yield "Intervals are 95%; --csv, or `to_frame()` in Python, has the numbers of the first table."

    def _medians(self) -> Table:
        """The median person of each group, parameter by parameter, by the theory that is best overall."""
        shown = Table(
            "parameter", *map(escape, self.n_people), "p", title="Median person of each group"
        )
        for item in self.found:
            cells = [
                f"{median.value:.3g} ({median.interval[0]:.3g} to {median.interval[1]:.3g})"
                for median in item.medians.values()
            ]
            unit = f" [{item.unit}]" if item.unit else ""
            shown.add_row(escape(f"{item.parameter}{unit}"), *cells, p_in_cell(item.p))
        return shown

    def _scores(self) -> Table:
        """How each theory predicts the people of each group, the best first."""
        shown = Table(
            "theory",
            *map(escape, self.n_people),
            title="Nats per choice, predicted by others of the group",
        )
        names = sorted(self.theories, key=lambda name: -self.mean_score(name))
        for name in names:
            scores = [self.theories[name].score(group) for group in self.n_people]
            cells = [f"{item.value:.3f} ± {item.value - item.interval[0]:.3f}" for item in scores]
            shown.add_row(escape(name), *cells)
        return shown


def by_group(
    answers: Answers,
    theories: NamedTheories = None,
    *,
    by: str,
    cuts: Annotated[Sequence[float], Argument(flag="--cut")] = (),
    domain: str = "",
    columns: Columns = None,
    runs: RunsFolder = "runs",
    n_workers: Workers = 2,
    seed: int = 0,
) -> GroupComparison:
    """Ask whether theories hold for several groups of participants, with the same parameters or with their own.

    Args:
        answers: A file or folder of responses, a study, a published data set, or a run by its name or path; in Python
            also a data frame, or what `adopt` returned.
        theories: Names of published theories, files, or theories of the run; all published ones of the domain by
            default, of a run its leader.
        by: Column that divides participants, such as group or age.
        cuts: Where a range of a number begins; may be given again. By default the lower and the upper half are
            compared where there are more than six values.
        domain: Whose trials the responses are to, or the file that declares them; guessed by default.
        columns: What a column means, with the keys of the section participants.columns of a study, as in
            participant=VP. May be given again.
        runs: Folder that holds the runs.
        n_workers: Theories fitted at the same time. Does not change results.
        seed: Of exchanged labels and resampled participants, for intervals and probabilities.

    Raises:
        TrialsError: People cannot be told apart, nothing of that name is known of them, or a group is too small.
        TheoryError: A theory does not run on these answers. Published ones that do not are left out, with a warning.

    Examples:
        $ lakatos theory groups responses.csv hyperbolic --by age --cut 12 --cut 18
        >>> lakatos.by_group("responses.csv", ["hyperbolic"], by="age", cuts=[12, 18])  # doctest: +SKIP
    """
    asked = read_asked(answers, theories, runs=runs, domain=domain, columns=columns, known=(by,))
    known = asked.answers
    members = members_of(known, by, cuts)
    compared = {}
    with Laboratory(known.domain, n_workers) as laboratory:
        forms = forms_of(asked.theories, known, laboratory)
        n_draws = draws_for(forms.values(), known.domain)
        for name, form in forms.items():
            try:
                compared[name] = compare_groups(form, known.trials, members, laboratory, n_draws)
            except TheoryError as error:
                left_out(name, error, named=asked.theories is not None)
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
    return GroupComparison(by, n_people, compared, found, known.notes)


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
