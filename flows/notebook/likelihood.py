"""Likelihood functions on tables of responses: importing, fitting and scoring them."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import pandas as pd

from lakatos.experiments.adoption.tables import AnswerTable
from lakatos.experiments.answer_scale import scale_of
from lakatos.experiments.task import Domain
from lakatos.flows.argument import Argument
from lakatos.flows.notebook.answers import PeoplesAnswers, table_of
from lakatos.flows.notebook.fitted import TheoryLike
from lakatos.flows.notebook.participants import participants_of
from lakatos.flows.notebook.time_left import TimeLeft
from lakatos.theories.engine.sandbox.likelihoods import Columns, LikelihoodSandbox, limits_of_calls
from lakatos.theories.engine.scoring.score import UnitScores
from lakatos.theories.errors import TheoryError
from lakatos.theories.findings.exchange.hssm_model import is_hssm, read_hssm
from lakatos.theories.findings.exchange.likelihood import (
    ImportedLikelihood,
    Likelihood,
    Said,
    import_likelihood,
    is_likelihood,
    read_likelihood,
)
from lakatos.theories.findings.exchange.pymc_model import is_pymc, read_pymc
from lakatos.theories.findings.exchange.stan_model import is_stan, read_hbayesdm
from lakatos.theories.findings.likelihood_fit import (
    FittedLikelihood,
    ParticipantDraws,
    fit_population,
    represent_participants,
    score_left_out,
)
from lakatos.theories.language.theory_file import read_theory_file
from lakatos.traces.artifact import write_whole
from lakatos.traces.wording import plural

Seconds = Annotated[float, Argument(flag="--seconds", least=0.01)]
NAME_COLUMN = "~name"
"""Attribute by which participants are followed into the order of their content; it sorts after others."""


@dataclass(frozen=True, repr=False)
class FittedFunction:
    """A likelihood function with its population, or the parameters of each participant."""

    fitted: FittedLikelihood
    each: bool = False
    notes: tuple[str, ...] = ()

    def to_frame(self) -> pd.DataFrame:
        """The table that the command prints."""
        return self.fitted.participants if self.each else self.fitted.people

    @property
    def people(self) -> pd.DataFrame:
        """Distribution of each parameter over participants."""
        return self.fitted.people

    @property
    def participants(self) -> pd.DataFrame:
        """A row for each participant."""
        return self.fitted.participants

    @property
    def headline(self) -> str:
        """A sentence with the function and its responses."""
        n_responses = sum(own.n_responses for own in self.fitted.draws)
        n_people = plural(len(self.fitted.names), "participant")
        return f"{self.fitted.likelihood.name}: {plural(n_responses, 'response')} of {n_people}"

    @property
    def text(self) -> str:
        """The headline and the table."""
        return f"{self.headline}\n{self.to_frame().to_string(index=False)}"

    def __repr__(self) -> str:
        return self.text


def imported_likelihood(
    file: Path, source: str, answers: Any, meanings: Said, seconds: float
) -> ImportedLikelihood:
    """Import a likelihood function, or a model of another program as one, and check it on a file of responses."""
    table = table_of(answers).frame
    translated = None
    if is_stan(file, source):
        translated = read_hbayesdm(file, read_theory_file, table)
    elif is_hssm(source):
        translated = read_hssm(source, table)
    elif is_pymc(source):
        translated = read_pymc(source)
    if translated is not None:
        source, meanings = translated.source, translated.said(meanings, [*map(str, table.columns)])
    with LikelihoodSandbox() as sandbox:
        found = import_likelihood(source, table, sandbox, meanings, seconds=seconds)
    notes = translated.notes if translated is not None else ()
    return replace(found, notes=(*found.notes, *notes))


def is_model(file: Path, source: str) -> bool:
    """Return whether a file holds a model of PyMC, HSSM or hBayesDM."""
    return is_stan(file, source) or is_hssm(source) or is_pymc(source)


def code_of_notebook(text: str) -> str:
    """The code cells of a Jupyter notebook, without lines that only a notebook understands.

    Raises:
        TheoryError: The file is not a notebook.
    """
    try:
        cells = [own for own in json.loads(text)["cells"] if own["cell_type"] == "code"]
        code = ["".join(own["source"]) for own in cells]
    except (ValueError, KeyError, TypeError, RecursionError):
        raise TheoryError(
            "the notebook cannot be read; save the function as a file of Python."
        ) from None
    lines = "\n\n".join(own for own in code if not own.startswith("%%")).splitlines()
    return "\n".join(own for own in lines if not re.match(r"\s*[%!?]|.*\?\s*$", own)) + "\n"


def pairs(options: Sequence[str], form: str, *, may_be_empty: bool = False) -> dict[str, str]:
    """Read options of the form NAME=VALUE.

    Raises:
        TheoryError: An option has another form.
    """
    found = {}
    for item in options:
        name, equals, value = item.partition("=")
        if not (name and equals and (value or may_be_empty)):
            raise TheoryError(f"{item!r} is not of the form {form}.")
        found[name] = value
    return found


def bounds_of(options: Sequence[str]) -> dict[str, tuple[float, float]]:
    """Read bounds from options of the form NAME=LOW,HIGH.

    Raises:
        TheoryError: An option has another form.
    """
    form, found = "--bound NAME=LOW,HIGH", {}
    for name, value in pairs(options, form).items():
        try:
            low, high = map(float, value.split(","))
        except ValueError:
            raise TheoryError(f"{name}={value!r} is not of the form {form}.") from None
        found[name] = (low, high)
    return found


def divide_theories(
    theories: TheoryLike | Sequence[TheoryLike] | None,
) -> tuple[list[TheoryLike] | None, dict[str, Likelihood]]:
    """Separate theories of the language from likelihood functions, which are returned by name."""
    if theories is None:
        return None, {}
    several = isinstance(theories, Sequence) and not isinstance(theories, str)
    wanted: list[TheoryLike] = [*theories] if several else [theories]  # type: ignore[misc, list-item]
    rest: list[TheoryLike] = []
    functions: dict[str, Likelihood] = {}
    for item in wanted:
        source = _source_of(item)
        if not is_likelihood(source):
            rest.append(item)
            continue
        found = read_likelihood(source)
        named = found.name if found.name not in functions else f"{found.name} ({len(functions)})"
        functions[named] = found
    return rest, functions


def _source_of(item: TheoryLike) -> str:
    """The text of a file or a source; empty for any other name of a theory."""
    if isinstance(item, str) and "\n" in item:
        return item
    if isinstance(item, str | os.PathLike) and Path(item).suffix == ".py" and Path(item).is_file():
        return read_theory_file(Path(item))
    return ""


def _table_for(answers: Any) -> AnswerTable:
    """The table of responses that a likelihood function reads.

    Raises:
        TheoryError: The responses are not a table.
    """
    if isinstance(answers, PeoplesAnswers):
        if answers.source is None:
            raise TheoryError(
                "a likelihood function reads the columns of a file of responses; name one."
            )
        return table_of(answers.source.data)
    if isinstance(answers, str | os.PathLike) and not Path(answers).exists():
        raise TheoryError(
            f"a likelihood function reads the columns of a file of responses, and there is no file {str(answers)!r}."
        )
    return table_of(answers)


def fit_function(
    item: Likelihood, answers: Any, *, each: bool, simulate: Path | None, seconds: float
) -> FittedFunction:
    """Estimate the parameters of a likelihood function, of each participant and of the population.

    Raises:
        TheoryError: The function fails on these responses, or has no `simulate` where responses are to be simulated.
    """
    table = _table_for(answers)
    people = item.people_in(table.frame)
    done = TimeLeft("participants fitted", len(people))
    with LikelihoodSandbox() as sandbox:
        draws = represent_participants(item, people, sandbox, seconds=seconds, done=done)
        fitted = FittedLikelihood(item, tuple(people), tuple(draws), fit_population(draws))
        notes = table.notes
        if few := fitted.n_with_few_draws:
            notes = (
                *notes,
                f"few effective draws for {few} of {plural(len(people), 'participant')}: their means and intervals "
                "are left empty, and the population is uncertain; the most likely values (_ml) are not affected",
            )
        if simulate is not None:
            simulated = _simulate(item, fitted, people, sandbox, seconds)
            write_whole(Path(simulate), simulated.to_csv(index=False).encode())
            notes = (*notes, f"responses of simulated participants are in {simulate}")
    return FittedFunction(fitted, each or simulate is not None, notes)


def _simulate(
    item: Likelihood,
    fitted: FittedLikelihood,
    people: Mapping[str, Mapping[str, Any]],
    sandbox: LikelihoodSandbox,
    seconds: float,
) -> pd.DataFrame:
    """Responses of simulated participants with the columns and the most likely parameters of the participants."""
    parts = []
    with sandbox.open_function(
        item.called, [*people.values()], limits_of_calls(seconds)
    ) as session:
        for place, (name, columns) in enumerate(people.items()):
            made = session.simulate(place, fitted.draws[place].most_likely, place)
            foreign = [argument for argument in made if argument not in item.columns]
            if foreign:
                raise TheoryError(
                    f"`simulate` returned {foreign[0]!r}; its columns are named by the arguments "
                    f"{', '.join(item.columns)}."
                )
            own = {item.columns[key]: made.get(key, values) for key, values in columns.items()}
            parts.append(pd.DataFrame({item.participant: name, **own}))
    return pd.concat(parts, ignore_index=True).convert_dtypes()


def scores_of_functions(
    functions: Mapping[str, Likelihood],
    answers: Any,
    known: PeoplesAnswers | None,
    seconds: float,
) -> dict[str, list[UnitScores]]:
    """Score likelihood functions: log scores of each participant, with the population of the other participants.

    Args:
        functions: Likelihood functions by name.
        answers: Responses, as the user named them.
        known: The same responses as theories of the language receive them, if these are scored too; they determine
            the order of participants and must have the same number of responses.
        seconds: Processor time of one call.

    Raises:
        TheoryError: A function fails, or predicts other responses than the theories beside it.
    """
    if not functions:
        return {}
    table = _table_for(answers)
    found: dict[str, list[UnitScores]] = {}
    with LikelihoodSandbox() as sandbox:
        for name, item in functions.items():
            people: Mapping[str, Columns] = item.people_in(table.frame)
            if known is not None:
                people = _as_adopted(name, people, known)
            done = TimeLeft("participants fitted", len(people))
            draws: list[ParticipantDraws] = represent_participants(
                item, people, sandbox, seconds=seconds, done=done
            )
            found[name] = [score_left_out(draws)]
    _check_alike(found)
    return found


def check_comparable(names: Iterable[str], domain: Domain) -> None:
    """Refuse functions beside theories that predict probabilities of intervals, because a density has another unit.

    Raises:
        TheoryError: Responses of the domain are numbers or times, and there is a function.
    """
    scale = scale_of(domain)
    if scale is None or not scale.edges:
        return
    for name in names:
        raise TheoryError(
            f"{name} cannot be compared with these theories: they give probabilities of {scale.n_bins} intervals "
            f"between {scale.edges[0]:g} and {scale.edges[-1]:g} {scale.unit}, and a function gives a density, or "
            "says nothing of them. Score it without them."
        )


def _check_alike(found: Mapping[str, Sequence[UnitScores]]) -> None:
    """Refuse to compare functions that predict different responses."""
    sizes = {name: own[0].n_choices for name, own in found.items()}
    first, *others = sizes
    for name in others:
        if not np.array_equal(sizes[first], sizes[name]):
            raise TheoryError(
                f"{first} and {name} are about different responses ({int(sizes[first].sum())} and "
                f"{int(sizes[name].sum())}); import both with the same participants and --skip."
            )


def _as_adopted(
    name: str, people: Mapping[str, Any], known: PeoplesAnswers
) -> dict[str, Mapping[str, Any]]:
    """Participants in the order in which theories of the language are scored on them.

    Raises:
        TheoryError: The two tables hold different responses.
    """
    if len(known.trials) != 1 or known.trials[0].pooled:
        raise TheoryError(
            f"{name} can be compared with theories where the file is one experiment whose participants are known; "
            "score it without them."
        )
    marked = replace(
        known.trials[0],
        attributes={**known.trials[0].attributes, NAME_COLUMN: np.array(participants_of(known, 0))},
    )
    (ordered,) = replace(known, trials=(marked,)).taught([])
    names = [str(own) for own in ordered.attributes[NAME_COLUMN]]
    counts = np.bincount(ordered.participant, weights=ordered.count)
    for who, n_responses in zip(names, counts, strict=True):
        own = people.get(who)
        n_rows = len(next(iter(own.values()))) if own else 0
        if n_rows != n_responses:
            raise TheoryError(
                f"{name} is about {n_rows} responses of participant {who}, and the theories beside it about "
                f"{int(n_responses)}, so that scores cannot be compared. Remove the rows that the theories leave out, "
                "or score the function without them."
            )
    return {who: people[who] for who in names}
