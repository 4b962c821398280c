"""What is known of people at hand: whether it changes a theory's numbers, which of them, and by how much."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from lakatos.flows.notebook.answers import PeoplesAnswers
from lakatos.flows.notebook.frames import interval_columns
from lakatos.flows.notebook.groups import also_known, check_known
from lakatos.flows.notebook.theory import TheoryLike, adopted, forms_of, left_out, people_table
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


@dataclass(frozen=True)
class AttributeEffects:
    """What `effects_of` found."""

    by: str
    n_people: int
    """Of whom the attribute is known."""
    theories: Mapping[str, TheoryWithEffects]

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

    def __repr__(self) -> str:
        return f"{self.verdict}\n{self.effects.to_string(index=False)}"


def effects_of(
    answers: PeoplesAnswers | Any,
    theories: TheoryLike | Sequence[TheoryLike] | None = None,
    *,
    by: str,
    parameters: Sequence[str] = (),
    prior_sd: float = PRIOR_SD,
    n_workers: int = 1,
    **adopting: Any,
) -> AttributeEffects:
    """Whether theories' numbers depend on what is known of people, such as their age, group or condition.

    Args:
        answers: As `adopt` returned them, or what `adopt` takes.
        theories: One or several; all published ones of the domain by default.
        by: What is known of people. A number has one effect; groups have one each but the first.
        parameters: Which of a theory's numbers may depend on it; all of them by default.
        prior_sd: Standard deviation of the normal prior of each effect, a share of the parameter's range.
        n_workers: Theories that run at the same time; does not change results.
        adopting: Arguments of `adopt`.

    Raises:
        TrialsError: People cannot be told apart, or the attribute is unknown, or the same for all.
        TheoryError: A theory does not run on these answers. Published ones that do not are left out, with a warning.

    Example:
        >>> print(lakatos.effects_of("answers.csv", ["hyperbolic"], by="age"))  # doctest: +SKIP
    """
    known = adopted(answers, **adopting, **also_known(answers, by))
    check_known(known, by)
    attribute = columns_of([np.array(item[by]) for item in known.people], by)
    found = {}
    with Laboratory(known.domain, n_workers) as laboratory:
        for name, form in forms_of(theories, known, laboratory).items():
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
                left_out(name, error, named=theories is not None)
    if not found:
        raise TheoryError("no theory runs on these answers.")
    return AttributeEffects(by, attribute.n_known, found)
