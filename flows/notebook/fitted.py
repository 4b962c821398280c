"""Theories by name or file, and theories whose population was estimated from responses."""

from __future__ import annotations

import html
import os
import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Annotated

import numpy as np
import pandas as pd

from lakatos.domains import FAMILIES
from lakatos.experiments.interval import LEAST_UNITS
from lakatos.experiments.task import Domain
from lakatos.flows.argument import Argument
from lakatos.flows.notebook.answers import PeoplesAnswers
from lakatos.theories.engine.laboratory import Laboratory
from lakatos.theories.errors import TheoryError
from lakatos.theories.findings.exchange.likelihood import refuse_likelihood
from lakatos.theories.findings.verdicts.tell import lacking_trials
from lakatos.theories.language.family import Family, find_family
from lakatos.theories.language.prior import Prior
from lakatos.theories.language.theory import Theory, TheoryProgram, read_program
from lakatos.theories.language.theory_file import read_theory_file
from lakatos.traces.wording import did_you_mean, plural

N_DRAWS = 512
WALKING_DRAWS = 128
"""Draws of theories that are walked through responses one by one."""
PEOPLE = (0.025, 0.5, 0.975)
"""Shares of people below the three numbers by which predictions for people are shown."""
QUANTILES = {"percentile_10": 0.1, "median": 0.5, "percentile_90": 0.9}
"""Columns of a table of parameters, with the share of people below them: those between the ends are the middle 80% of
claims."""


@dataclass(frozen=True)
class FittedTheory:
    """A theory with the population that was estimated from responses. Returned by `fit`, or read from a run."""

    theory: Theory
    domain: Domain
    notes: tuple[str, ...] = ()
    """Exclusions and assumptions about the responses."""
    n_people: int | None = None
    """Number of participants behind the estimate; None if only counts are known, or if it is read from a run."""

    @property
    def name(self) -> str:
        """Name of the theory, with this population."""
        return self.theory.name

    @property
    def claim(self) -> str:
        """Claim of the theory in words, at these parameters."""
        return self.theory.account().claim

    @property
    def source(self) -> str:
        """The theory's program, as text."""
        return self.theory.program.source

    @cached_property
    def people(self) -> pd.DataFrame:
        """Distribution of each parameter over participants: median, and limits of their middle 80%."""
        rows = [
            {"parameter": name, **quantiles(prior), "unit": prior.unit, "meaning": prior.meaning}
            for name, prior in self.theory.priors.items()
        ]
        names = ["parameter", *QUANTILES, "unit", "meaning"]
        return pd.DataFrame(rows, columns=names)

    @property
    def headline(self) -> str:
        """The name and the claim, which too few participants cannot support."""
        if self.n_people is not None and self.n_people < LEAST_UNITS:
            few = plural(self.n_people, "participant")
            return (
                f"{self.name}: no claim about people from {few}; at least {LEAST_UNITS} are needed. The population "
                f"distribution, and values that are shrunken towards it, rest on {few} alone."
            )
        return f"{self.name}: {self.claim}"

    def to_frame(self) -> pd.DataFrame:
        """The table `people`."""
        return self.people

    @property
    def text(self) -> str:
        """The name, the claim and the table of parameters."""
        return (
            f"{self.headline}\n{self.people.to_string(index=False, float_format='{:.3g}'.format)}"
        )

    def __repr__(self) -> str:
        return self.text

    def _repr_html_(self) -> str:
        return f"<p>{html.escape(self.headline)}</p>{self.people.to_html(index=False)}"


TheoryLike = str | os.PathLike[str] | Theory | TheoryProgram | FittedTheory
"""The name of a published theory, the path of a source file, a source, or a theory."""
NamedTheory = Annotated[TheoryLike, Argument(kind=str)]
NamedTheories = Annotated[TheoryLike | Sequence[TheoryLike] | None, Argument(kind=list[str] | None)]


def find_theory(theory: TheoryLike, domain: Domain, laboratory: Laboratory) -> Theory:
    """Find a theory by its name, file or source; a theory that is new to the laboratory must pass all checks first.

    Raises:
        TheoryError: There is no such theory, or it is refused; the message states the reason.
    """
    if isinstance(theory, FittedTheory):
        return theory.theory
    if isinstance(theory, Theory):
        return theory
    family = find_family(domain)
    if isinstance(theory, str) and theory in family.seeds:
        return read_program(family.program(theory))
    if isinstance(theory, TheoryProgram):
        return laboratory.check(theory)
    if isinstance(theory, str) and "def choose" in theory:
        return laboratory.check(TheoryProgram(theory, "you"))
    place = Path(theory)
    if not place.is_file():
        raise TheoryError(
            f"there is no theory {str(theory)!r} of {domain.name}{_where_else(str(theory), family)} Give the file of "
            f"one, or the name of a published one: {', '.join(family.seeds)}."
        )
    program = TheoryProgram(read_theory_file(place), "you")
    refuse_likelihood(place, program.source)
    try:
        return laboratory.check(program)
    except TheoryError as error:
        raise TheoryError(
            f"{place} cannot be used as a theory of {domain.name}: {error} `lakatos theory check {place} --domain "
            f"{domain.name}` tries everything that one must prove."
        ) from error


def _where_else(name: str, family: Family) -> str:
    """The end of a sentence that refuses a theory's name: which tasks have one of that name, or the nearest names."""
    others = [task for task, other in FAMILIES.items() if name in other.seeds]
    if others:
        return f"; one of {' and '.join(others)} is called so."
    return did_you_mean(name, family.seeds)


def shapes_of(domain: Domain) -> dict[str, tuple[int, ...]]:
    """Arrays that participants see in an example of a domain, each with its shape without the first axis."""
    example = domain.probes(np.random.default_rng(0))[0]
    one = {name: np.asarray(array)[:1] for name, array in example.arrays.items()}
    shown = domain.shown(one, {})
    # What follows from earlier choices has an axis of draws before that of trials.
    return {
        name: np.shape(array)[1:] if name in one else np.shape(array)[2:]
        for name, array in shown.items()
    }


def forms_of(
    theories: Sequence[TheoryLike] | None, answers: PeoplesAnswers, laboratory: Laboratory
) -> dict[str, Theory]:  # fmt: skip
    """Theories with their declared ranges, by name; the published ones by default.

    A published theory has its short name, another one its title. As in a verdict, claims omit clauses about trials that
    were not presented.
    """
    family = find_family(answers.domain)
    known = family.without(answers.closed).seeds
    wanted = list(known) if theories is None else theories
    found: dict[str, Theory] = {}
    for item in wanted:
        theory = find_theory(item, answers.domain, laboratory)
        name = item if isinstance(item, str) and item in family.seeds else theory.name
        found[name if name not in found else theory.short] = read_program(theory.program)
    clauses = [clause for theory in found.values() for clause in theory.clauses]
    presented = [item.stimuli for item in answers.trials]
    lacking = lacking_trials(clauses, answers.domain, presented)
    return {name: replace(theory, lacking=lacking) for name, theory in found.items()}


def left_out(name: str, error: TheoryError, *, named: bool) -> None:
    """Raise the error of a theory that the user named; warn of another one that cannot be scored here."""
    if named:
        raise error
    warnings.warn(f"{name} is left out: {error}", stacklevel=3)


def is_pooled(answers: PeoplesAnswers) -> bool:
    """Return whether participants are not identified in any experiment."""
    return all(item.pooled for item in answers.trials)


def n_people_of(answers: PeoplesAnswers) -> int | None:
    """The largest number of participants in an experiment; None if only counts are known."""
    if any(item.pooled for item in answers.trials):
        return None
    return max(item.n_participants for item in answers.trials)


def draws_for(theories: Iterable[Theory], domain: Domain) -> int:
    """The number of draws of a population; smaller if a theory predicts from trial to trial."""
    walks = domain.sequential or any(theory.learns for theory in theories)
    return WALKING_DRAWS if walks else N_DRAWS


def quantiles(prior: Prior) -> dict[str, float]:
    """The median participant, and the limits of the middle 80% of participants."""
    values = prior.quantile(np.array([*QUANTILES.values()])).tolist()
    return dict(zip(QUANTILES, values, strict=True))
