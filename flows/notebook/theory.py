"""Theories at hand: find them, score them on answers, fit them, predict with them, try them on other people."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from lakatos.domains import FAMILIES, open_domain
from lakatos.experiments.adoption.adopt import stimuli_of_table
from lakatos.experiments.adoption.describe import describe_table
from lakatos.experiments.errors import TrialsError
from lakatos.experiments.task import Domain, Stimuli
from lakatos.flows.errors import TransferError
from lakatos.flows.notebook.answers import PeoplesAnswers, adopt, table_of
from lakatos.flows.notebook.frames import in_kind, interval_columns
from lakatos.flows.notebook.predictors import are_predictors, scores_of_predictor
from lakatos.theories.engine.laboratory import Laboratory
from lakatos.theories.engine.scoring.score import UnitScores, paired_difference
from lakatos.theories.errors import TheoryError
from lakatos.theories.findings.generic_learners.completeness import mean_score
from lakatos.theories.language.family import Family, find_family
from lakatos.theories.language.prior import Prior
from lakatos.theories.language.theory import Theory, TheoryProgram, read_program
from lakatos.theories.language.theory_file import read_theory_file
from lakatos.traces.wording import did_you_mean

Array = NDArray[np.float64]
N_DRAWS = 512
WALKING_DRAWS = 128
"""Of theories that are walked through answers one by one."""
CHUNK = 2048
"""Trials that are predicted at once."""
PEOPLE = (0.025, 0.5, 0.975)
"""Shares of people below the three numbers by which a distribution over people is shown."""


@dataclass(frozen=True)
class FittedTheory:
    """A theory with the people that answers taught. Made by `fit`, or read from a run."""

    theory: Theory
    domain: Domain

    @property
    def name(self) -> str:
        """What it is called, with these people."""
        return self.theory.name

    @property
    def claim(self) -> str:
        """What it says in words, at these numbers."""
        return self.theory.account().claim

    @property
    def source(self) -> str:
        """The theory's program, as text."""
        return self.theory.program.source

    @cached_property
    def people(self) -> pd.DataFrame:
        """How each parameter is distributed over people: median, and the middle 95% of them."""
        rows = [
            {"parameter": name, **quantiles(prior), "unit": prior.unit, "meaning": prior.meaning}
            for name, prior in self.theory.priors.items()
        ]
        names = ["parameter", "low", "median", "high", "unit", "meaning"]
        return pd.DataFrame(rows, columns=names)

    def __repr__(self) -> str:
        return f"{self.name}: {self.claim}\n{self.people.to_string(index=False)}"


ONLY_PREDICTS = "only predicts"
"""In place of a claim, of rivals that make none."""
TheoryLike = str | os.PathLike[str] | Theory | TheoryProgram | FittedTheory
"""The name of a published theory, the path of a source file, a source, or a theory."""


def published(domain: str | Domain) -> pd.DataFrame:
    """Published theories of a domain: name, title, and claim.

    Args:
        domain: A domain of the package, or a file that declares one.

    Raises:
        TaskFileError: There is no such domain.

    Example:
        >>> lakatos.published("risky")  # doctest: +SKIP
    """
    family = find_family(_domain_of(domain))
    theories = {name: read_program(family.program(name)) for name in family.seeds}
    rows = [
        {"name": name, "title": item.name, "claim": item.claim} for name, item in theories.items()
    ]
    return pd.DataFrame(rows, columns=["name", "title", "claim"])


def score(
    answers: PeoplesAnswers | Any,
    theories: TheoryLike | Sequence[TheoryLike] | None = None,
    *,
    rivals: Mapping[str, Any] | None = None,
    n_workers: int = 2,
    **adopting: Any,
) -> Any:
    """How well theories predict answers that taught them nothing, the best first.

    Each theory's people are learned from other experiments, of a single one from other people (from other trials where
    people cannot be told apart). Scores are log probabilities of the answers given, in nats per choice; ``low`` and
    ``high`` are the ends of 95% intervals, clustered by person.

    Args:
        answers: As `adopt` returned them, or what `adopt` takes.
        theories: One or several; all published ones of the domain by default.
        rivals: Models that only predict, by a name each: estimators of scikit-learn, theorists of AutoRA, or whatever
            has ``fit(numbers shown, options chosen)`` and ``predict_proba`` (or ``predict``, of the second option).
        n_workers: Theories that run at the same time; does not change results.
        adopting: Arguments of `adopt`.

    Returns:
        A frame with a row for each theory; ``behind`` is what the best is ahead by, paired.

    Raises:
        TheoryError: A theory does not run on these answers. Published ones that do not are left out, with a warning.
    """
    known = adopted(answers, **adopting)
    with Laboratory(known.domain, n_workers) as laboratory:
        chosen = forms_of(theories, known, laboratory)
        taught = laboratory.people_of(list(chosen.values()), [{}] * len(chosen), known.trials)
        fitted = {}
        for (name, form), people in zip(chosen.items(), taught, strict=True):
            if isinstance(people, TheoryError):
                left_out(name, people, named=theories is not None)
                continue
            fitted[name] = form.with_people(people, pooled=_is_pooled(known))
        found = laboratory.scores_of(
            list(fitted.values()), known.trials, draws_for(fitted.values(), known.domain)
        )
    scores: dict[str, list[UnitScores]] = {}
    for name, own in zip(fitted, found, strict=True):
        if isinstance(own, TheoryError):
            left_out(name, own, named=theories is not None)
            continue
        scores[name] = [item.left_out for item in own]
    for name, rival in are_predictors(rivals).items():
        scores[name] = scores_of_predictor(name, rival, known.trials)
    return in_kind(_score_table(scores, fitted), answers)


def fit(
    answers: PeoplesAnswers | Any, theory: TheoryLike, *, n_workers: int = 1, **adopting: Any
) -> FittedTheory:
    """Learn who a theory's people are from answers: how each parameter is distributed over them.

    Args:
        answers: As `adopt` returned them, or what `adopt` takes.
        theory: The name of a published theory, a path, a source, or a theory.
        n_workers: Processes.
        adopting: Arguments of `adopt`.

    Raises:
        TheoryError: The theory does not run on these answers.
    """
    known = adopted(answers, **adopting)
    with Laboratory(known.domain, n_workers) as laboratory:
        ((_, form),) = forms_of(theory, known, laboratory).items()
        (people,) = laboratory.people_of([form], [{}], known.trials)
    if isinstance(people, TheoryError):
        raise people
    return FittedTheory(form.with_people(people, pooled=_is_pooled(known)), known.domain)


def predict(
    theory: TheoryLike,
    conditions: PeoplesAnswers | Any,
    *,
    domain: str | Domain = "",
    columns: Mapping[str, Any] | None = None,
    n_draws: int = N_DRAWS,
) -> Any:
    """How many people choose each option in trials that nobody needs to have answered.

    Args:
        theory: Fitted, or with its declared ranges.
        conditions: Trials: a data frame, a path, or answers.
        domain: Of the trials; that of a fitted theory by default.
        columns: Which columns show what, as for `adopt`; only their ``stimulus`` is needed.
        n_draws: People drawn, a power of two.

    Returns:
        The conditions, and for each option the predicted share of people's choices with its spread over people:
        ``low`` and ``high`` are the probabilities of the middle 95% of people.

    Raises:
        TrialsError: The conditions are no trials of this domain; the message names the row.
        TheoryError: The theory does not run on them.
    """
    told, own, drawn = _choices(theory, conditions, domain, columns, n_draws)
    low, _, high = np.quantile(drawn, PEOPLE, axis=0)
    return in_kind(
        _prediction_table(told, np.stack([drawn.mean(axis=0), low, high]), own), conditions
    )


def people_s_choices(
    theory: TheoryLike,
    conditions: PeoplesAnswers | Any,
    *,
    domain: str | Domain = "",
    columns: Mapping[str, Any] | None = None,
    n_draws: int = N_DRAWS,
) -> Array:
    """``(n_draws, n_rows, n_options)`` choice probabilities of people of a theory; arguments as in `predict`."""
    return _choices(theory, conditions, domain, columns, n_draws)[2]


def posterior(
    answers: PeoplesAnswers | Any,
    theory: TheoryLike,
    *,
    draws: int = 500,
    tune: int = 500,
    chains: int | None = None,
    seed: int = 0,
    **adopting: Any,
) -> Any:
    """Fit a theory by hierarchical Bayesian inference with PyMC, in a sandbox; an ArviZ ``InferenceData`` comes back.

    It has the groups ``posterior``, ``sample_stats``, ``log_likelihood``, ``observed_data``, ``constant_data`` and
    ``posterior_predictive``, so that `arviz.plot_ppc`, `arviz.loo` and `arviz.compare` work.

    Args:
        answers: As `adopt` returned them, or what `adopt` takes.
        theory: The name of a published theory, a path, a source, or a theory.
        draws: Of each chain.
        tune: Draws of each chain that are thrown away first.
        chains: At least two, so that they can be compared; by default 4, or 16 without gradients.
        seed: Decides the draws.
        adopting: Arguments of `adopt`.

    Raises:
        PosteriorError: The answers or settings cannot be used.
        TheoryError: The theory fails on them.
    """
    from lakatos.theories.engine.fitting.posterior import fit as fit_posterior
    from lakatos.theories.engine.fitting.posterior_check import posterior_predictive
    from lakatos.theories.engine.sandbox.client import Sandbox

    known = adopted(answers, **adopting)
    with Laboratory(known.domain, 1) as laboratory, Sandbox() as sandbox:
        ((_, form),) = forms_of(theory, known, laboratory).items()
        found = fit_posterior(
            form, known.trials, sandbox, domain=known.domain, draws=draws, tune=tune, chains=chains, seed=seed
        )  # fmt: skip
        found, _ = posterior_predictive(
            found, form, known.trials, sandbox, domain=known.domain, seed=seed
        )
    for problem in found.diagnostics.problems:
        warnings.warn(f"{form.name}: {problem}", stacklevel=2)
    return found.data


def transfer(
    theory: TheoryLike, answers: PeoplesAnswers | Any, *, n_workers: int = 2, n_draws: int = N_DRAWS, **adopting: Any
) -> Any:  # fmt: skip
    """Try a theory on other people, beside all published theories of the domain and generic learners.

    Args:
        theory: Fitted to other answers, or with its declared ranges.
        answers: Of the other people: as `adopt` returned them, or what `adopt` takes.
        n_workers: Theories that run at the same time.
        n_draws: Of each population, a power of two.
        adopting: Arguments of `adopt`.

    Returns:
        A frame with a row for each theory and way of taking it: as it came, rescaled, person by person, relearned;
        ``behind`` is what the best published theory is ahead by.

    Raises:
        TransferError: The theory was fitted in another domain.
        TheoryError: It does not run on these trials.
    """
    from lakatos.theories.findings.transfer import transfer as measure

    known = adopted(answers, **adopting)
    if isinstance(theory, FittedTheory) and theory.domain.name != known.domain.name:
        raise TransferError(
            f"{theory.name!r} is about {theory.domain.name} and the answers are about {known.domain.name}; a theory "
            "can be tried on data of its own domain only."
        )
    family = find_family(known.domain)
    others = {name: read_program(family.program(name)) for name in family.seeds}
    with Laboratory(known.domain, n_workers) as laboratory:
        own = find_theory(theory, known.domain, laboratory)
        form = read_program(own.program)
        result = measure(own, others, known.trials, laboratory, form=form, n_draws=n_draws)
    lines = [("theory", line) for line in result.theory]
    lines += [("published", line) for line in result.published]
    lines += [("learner", result.learner)] + ([("noise", result.noise)] if result.noise else [])
    rows = [
        {"role": role, "name": line.name, "way": line.way, **interval_columns("score", line.score),
         **interval_columns("behind", result.behind_textbook(line)),
         **interval_columns("completeness", result.completeness(line))}
        for role, line in lines
    ]  # fmt: skip
    return in_kind(pd.DataFrame(rows), answers)


def find_theory(theory: TheoryLike, domain: Domain, laboratory: Laboratory) -> Theory:
    """A theory by whatever names it; one that the laboratory does not know passes all checks first.

    Raises:
        TheoryError: There is no such theory, or it is refused; the message says why.
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
    """What people see in trials of a domain: the shape of each array after its trials, in one of its examples."""
    example = domain.probes(np.random.default_rng(0))[0]
    one = {name: np.asarray(array)[:1] for name, array in example.arrays.items()}
    shown = domain.shown(one, {})
    # What follows from earlier choices has an axis of draws before that of trials.
    return {
        name: np.shape(array)[1:] if name in one else np.shape(array)[2:]
        for name, array in shown.items()
    }


def adopted(answers: PeoplesAnswers | Any, **adopting: Any) -> PeoplesAnswers:
    """Answers as `adopt` returns them, whether it was called or not.

    Raises:
        TrialsError: It was called, or they are those of a run, and arguments say how to read them.
    """
    if not isinstance(answers, PeoplesAnswers):
        return adopt(answers, **adopting)
    said = sorted(name for name, value in adopting.items() if value)
    if said:
        named = " and ".join(said)
        raise TrialsError(
            f"{named} cannot be said of answers that have been read already, as those of a run have: which task they "
            f"are of, and what their columns mean, is known. Leave {named} out, or name the file of answers in place "
            "of the run."
        )
    return answers


def _domain_of(domain: str | Domain) -> Domain:
    return open_domain(domain) if isinstance(domain, str) else domain


def forms_of(
    theories: TheoryLike | Sequence[TheoryLike] | None, answers: PeoplesAnswers, laboratory: Laboratory
) -> dict[str, Theory]:  # fmt: skip
    """Theories with their declared ranges, by a name each."""
    wanted: Sequence[TheoryLike]
    if theories is None:
        wanted = list(find_family(answers.domain).seeds)
    elif isinstance(theories, Sequence) and not isinstance(theories, str):
        wanted = theories
    else:
        wanted = [theories]
    found: dict[str, Theory] = {}
    for item in wanted:
        theory = find_theory(item, answers.domain, laboratory)
        name = item if isinstance(item, str) and "\n" not in item else theory.name
        found[name if name not in found else theory.short] = read_program(theory.program)
    return found


def left_out(name: str, error: TheoryError, *, named: bool) -> None:
    """Raise the error of a theory that was asked for; warn of another that cannot be scored here."""
    if named:
        raise error
    warnings.warn(f"{name} is left out: {error}", stacklevel=3)


def _is_pooled(answers: PeoplesAnswers) -> bool:
    return all(item.pooled for item in answers.trials)


def draws_for(theories: Iterable[Theory], domain: Domain) -> int:
    """Draws of a population that some theories can be given."""
    walks = domain.sequential or any(theory.learns for theory in theories)
    return WALKING_DRAWS if walks else N_DRAWS


def _score_table(
    scores: Mapping[str, Sequence[UnitScores]], theories: Mapping[str, Theory]
) -> pd.DataFrame:
    """A row for each theory, the best first."""
    order = sorted(scores, key=lambda name: -mean_score(scores[name]).value)
    rows = [
        {
            "theory": name,
            **interval_columns("score", mean_score(scores[name])),
            **interval_columns("behind", paired_difference(scores[order[0]], scores[name])),
            "parameters": len(theories[name].priors) if name in theories else pd.NA,
            "claim": theories[name].account().claim if name in theories else ONLY_PREDICTS,
        }
        for name in order
    ]
    return pd.DataFrame(rows)


def people_table(
    by: str, told: Iterable[tuple[str, Theory, Mapping[str, Mapping[str, Prior]]]]
) -> pd.DataFrame:
    """A row for each theory, parameter and population: the median person, and the middle 95% of people.

    Args:
        by: Column that names the population.
        told: Names of theories, their forms, and their populations by label.
    """
    rows = [
        {"theory": name, "parameter": key, by: label, **quantiles(people[key])}
        | {"unit": people[key].unit}
        for name, form, populations in told
        for key in form.priors
        for label, people in populations.items()
    ]
    return pd.DataFrame(rows)


def quantiles(prior: Prior) -> dict[str, float]:
    """The median person, and the ends of the middle 95% of people."""
    low, median, high = prior.quantile(np.array(PEOPLE)).tolist()
    return {"low": low, "median": median, "high": high}


def _choices(
    theory: TheoryLike,
    conditions: PeoplesAnswers | Any,
    domain: str | Domain,
    columns: Mapping[str, Any] | None,
    n_draws: int,
) -> tuple[pd.DataFrame, Domain, Array]:
    """The conditions as a table, their domain, and ``(n_draws, n_rows, n_options)`` probabilities of people."""
    own = theory.domain if isinstance(theory, FittedTheory) and not domain else _domain_of(domain)
    if isinstance(conditions, PeoplesAnswers):
        told = conditions.conditions
        parts = [item.stimuli for item in conditions.trials]
        rows = [np.arange(len(item)) for item in parts]
    else:
        table = table_of(conditions)
        mapping = describe_table(table, own).with_columns(columns or {}).mapping
        told = table.frame.reset_index(drop=True)
        stimuli, place = stimuli_of_table(table, mapping, own)
        parts, rows = [stimuli], [place]
    with Laboratory(own, 1) as laboratory:
        found = find_theory(theory, own, laboratory)
        drawn = [
            _drawn(found, item, laboratory, n_draws)[:, at]
            for item, at in zip(parts, rows, strict=True)
        ]
    return told, own, np.concatenate(drawn, axis=1)


def _drawn(theory: Theory, stimuli: Stimuli, laboratory: Laboratory, n_draws: int) -> Array:
    """``(n_draws, n_trials, n_options)`` probabilities of people, asked for in parts that fit into a sandbox."""
    size = len(stimuli) if laboratory.domain.sequential else CHUNK
    found = []
    for start in range(0, len(stimuli), size):
        part = stimuli.take(range(start, min(start + size, len(stimuli))))
        ((answers,),) = laboratory.answers_of([theory], [part], n_draws)
        found.append(answers)
    return np.concatenate(found, axis=1)


def _prediction_table(told: pd.DataFrame, shares: Array, domain: Domain) -> pd.DataFrame:
    labels = [*domain.options, *map(str, range(len(domain.options), shares.shape[2]))]
    columns = {
        f"{label}{ending}": shares[place, :, option]
        for option, label in enumerate(labels[: shares.shape[2]])
        for place, ending in enumerate(("", "_low", "_high"))
    }
    return told.assign(**columns)
