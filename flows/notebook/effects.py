"""What is known of people at hand: whether it changes a theory's numbers, which of them, and by how much."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated

import numpy as np
import pandas as pd
from rich.table import Table

from lakatos.flows.argument import Argument, Columns, RunsFolder, Workers
from lakatos.flows.notebook.asked import Answers, read_asked
from lakatos.flows.notebook.fitted import NamedTheories, forms_of, left_out, people_table
from lakatos.flows.notebook.frames import interval_columns, p_in_cell
from lakatos.flows.notebook.groups import check_known
from lakatos.flows.result import Result, Shown
from lakatos.flows.run.console import escape
from lakatos.theories.engine.laboratory import Laboratory
from lakatos.theories.engine.scoring.score import paired_difference
from lakatos.theories.errors import TheoryError
from lakatos.theories.findings.differences.attribute_effects import (
    PRIOR_SD,
    TheoryWithEffects,
    columns_of,
    learn_effects,
    said_of_effects,
)


@dataclass(frozen=True, repr=False)
class AttributeEffects(Result):
    """What `effects_of` found."""

    by: str
    n_people: int
    """Of whom the attribute is known."""
    theories: Mapping[str, TheoryWithEffects]
    notes: tuple[str, ...] = ()

    @cached_property
    def scores(self) -> pd.DataFrame:
        """A row for each theory, the best first: how people are predicted by others with effects, in nats per choice.

        ``effects`` is what they gain over one population for all people; ``behind`` what the best theory is ahead by.
        Intervals are 95%, clustered by person.
        """
        order = sorted(self.theories, key=lambda name: -self.theories[name].score().value)
        best = self.theories[order[0]].scores
        rows = [
            {
                "theory": name,
                "people": self.n_people,
                **interval_columns("score", item.score()),
                **interval_columns("effects", item.gain),
                **interval_columns("behind", paired_difference([best], [item.scores])),
            }
            for name, item in ((name, self.theories[name]) for name in order)
        ]
        return pd.DataFrame(rows)

    @cached_property
    def effects(self) -> pd.DataFrame:
        """A row for each theory, parameter and column: the effect, and what it is worth for people left out.

        Effects are shares of the parameter's range, on the scale of its prior, for a standard deviation of a number
        or, of a group, of belonging to it. ``p`` is the probability of so strong a connection of any parameter, if what
        is known of people is exchanged among them; ``shown`` says whether it is 0.05 at most. An effect ``at_end`` is
        of a parameter that stands at an end of its range, where answers tell nothing of it.
        """
        rows = [
            {
                "theory": name,
                "parameter": effect.parameter,
                self.by: effect.column,
                **interval_columns("effect", effect.estimate),
                **interval_columns("gain", effect.gain),
                "p": effect.p,
                "shown": effect.is_shown,
                "at_end": effect.is_at_end,
            }
            for name, item in self.theories.items()
            for effect in item.effects
        ]
        return pd.DataFrame(rows)

    @cached_property
    def people(self) -> pd.DataFrame:
        """A row for each theory, parameter and place: the median person there, and the middle 95% of people.

        Places of a number are one standard deviation below and above its mean; else they are the groups.
        """
        told = (
            (name, item.form, {"average": item.people, **dict(item.shown)})
            for name, item in self.theories.items()
        )
        return people_table(self.by, told)

    @property
    def verdict(self) -> str:
        """Whether numbers depend on the attribute, and which, in words."""
        return said_of_effects(self.theories)

    @property
    def headline(self) -> str:
        """The verdict, which is printed beside a table."""
        return self.verdict

    def to_frame(self) -> pd.DataFrame:
        """The table `effects`."""
        return self.effects

    def lines(self) -> Iterator[Shown]:
        """The verdict, and how each parameter depends on what is known of participants."""
        yield f"{escape(self.by)} is known of {self.n_people} people."
        yield escape(self.verdict)
        yield self._table()
        yield (
            "Effects are shares of a number's range, for a standard deviation; intervals are 95%; p allows for all "
            "numbers of a theory and decides: it exchanges what is known among people. An interval is of one effect "
            "while others may stand in for it, so that it can hold 0 where p is small. --csv, or `to_frame()` in "
            "Python, has the numbers."
        )

    def _table(self) -> Table:
        """How each number depends on what is known of people: the effect, the median person, what it is worth."""
        first = next(iter(self.theories.values()))
        shown = Table(
            "theory", "number", "effect", "p",
            *(f"median where {escape(self.by)} is {escape(label)}" for label in first.shown),
            "gain of it alone", title=f"Numbers by {escape(self.by)}",
        )  # fmt: skip
        for name, item in self.theories.items():
            for effect in item.effects:
                low, high = effect.estimate.interval
                of = (
                    ""
                    if item.attribute.is_number or effect.n_columns == 1
                    else f" ({effect.column})"
                )
                told = (
                    "at the end of its range" if effect.is_at_end
                    else f"{effect.estimate.value:+.3f} ({low:+.3f} to {high:+.3f})"
                )  # fmt: skip
                medians = [f"{value:.3g}" for value in item.medians_of(effect.parameter).values()]
                low, high = effect.gain.interval
                shown.add_row(
                    escape(name), escape(f"{effect.parameter}{of}"), told, p_in_cell(effect.p), *medians,
                    f"{effect.gain.value:+.4f} ({low:+.4f} to {high:+.4f})",
                )  # fmt: skip
        return shown


def effects_of(
    answers: Answers,
    theories: NamedTheories = None,
    *,
    by: str,
    parameters: Annotated[Sequence[str], Argument(flag="--of")] = (),
    prior_sd: Annotated[float, Argument(least=1e-3, most=10.0)] = PRIOR_SD,
    domain: str = "",
    columns: Columns = None,
    runs: RunsFolder = "runs",
    n_workers: Workers = 1,
) -> AttributeEffects:
    """Ask whether parameters of theories depend on participants' age, group or condition, and which of them.

    Args:
        answers: A file or folder of responses, a study, a published data set, or a run by its name or path; in Python
            also a data frame, or what `adopt` returned.
        theories: Names of published theories, files, or theories of the run; all published ones of the domain by
            default, of a run its leader.
        by: Column that is known of participants, such as age, group or condition. A number has one effect; groups have
            one each but the first.
        parameters: Parameter that may depend on it; may be given again; all by default.
        prior_sd: Standard deviation of the normal prior of each effect, a share of the parameter's range.
        domain: Whose trials the responses are to, or the file that declares them; guessed by default.
        columns: What a column means, with the keys of the section participants.columns of a study, as in
            participant=VP. May be given again.
        runs: Folder that holds the runs.
        n_workers: Theories fitted at the same time. Does not change results.

    Raises:
        TrialsError: People cannot be told apart, or the attribute is unknown, or the same for all.
        TheoryError: A theory does not run on these answers. Published ones that do not are left out, with a warning.

    Examples:
        $ lakatos theory effects responses.csv hyperbolic --by age
        >>> lakatos.effects_of("responses.csv", ["hyperbolic"], by="age")  # doctest: +SKIP
    """
    asked = read_asked(answers, theories, runs=runs, domain=domain, columns=columns, known=(by,))
    known = asked.answers
    check_known(known, by)
    attribute = columns_of([np.array(item[by]) for item in known.people], by)
    found = {}
    with Laboratory(known.domain, n_workers) as laboratory:
        for name, form in forms_of(asked.theories, known, laboratory).items():
            try:
                found[name] = learn_effects(
                    form,
                    known.trials,
                    attribute,
                    laboratory,
                    parameters=parameters,
                    prior_sd=prior_sd,
                )
            except TheoryError as error:
                left_out(name, error, named=asked.theories is not None)
    if not found:
        raise TheoryError("no theory runs on these answers.")
    return AttributeEffects(by, attribute.n_known, found, known.notes)
