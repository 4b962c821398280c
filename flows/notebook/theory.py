"""Scores and fits of theories on responses, and predictions for new trials."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from lakatos.domains import open_domain
from lakatos.experiments.adoption.adopt import stimuli_of_table
from lakatos.experiments.adoption.describe import describe_table
from lakatos.experiments.task import Domain, Stimuli, Trials
from lakatos.flows.argument import Argument, Columns, RunsFolder, Workers
from lakatos.flows.notebook.answers import PeoplesAnswers, table_of
from lakatos.flows.notebook.asked import Answers, names_run, read_asked
from lakatos.flows.notebook.effects import without_notes_on
from lakatos.flows.notebook.fitted import (
    N_DRAWS,
    PEOPLE,
    FittedTheory,
    NamedTheories,
    NamedTheory,
    TheoryLike,
    draws_for,
    find_theory,
    forms_of,
    is_pooled,
    left_out,
    n_people_of,
)
from lakatos.flows.notebook.frames import in_kind, interval_columns
from lakatos.flows.notebook.likelihood import (
    FittedFunction,
    Seconds,
    check_comparable,
    divide_theories,
    fit_function,
    scores_of_functions,
)
from lakatos.flows.notebook.participants import fit_participants
from lakatos.flows.notebook.predictors import are_predictors, scores_of_predictor
from lakatos.flows.notebook.time_left import TimeLeft
from lakatos.flows.report.plot_style import write_figure
from lakatos.theories.engine.laboratory import Laboratory
from lakatos.theories.engine.sandbox.likelihoods import CALL_SECONDS
from lakatos.theories.engine.scoring.draws import could_change_order, most_draws
from lakatos.theories.engine.scoring.score import (
    UnitScores,
    chance_of_difference,
    mean_score,
    paired_difference,
)
from lakatos.theories.errors import TheoryError
from lakatos.theories.language.family import find_family
from lakatos.theories.language.prior import Prior, n_free_parameters
from lakatos.theories.language.theory import Theory, read_program

Array = NDArray[np.float64]
MOST_PERSON_DRAWS = 2**21
"""Draws times participants of `score`, so that a file of a million rows is scored in one GiB."""
CHUNK = 2048
"""Trials that are predicted at once."""
ONLY_PREDICTS = "only predicts"
"""Text in place of a claim, of rivals that make none."""


def published(domain: str | Domain) -> pd.DataFrame:
    """Published theories of a domain: name, title, and claim.

    Args:
        domain: A domain of the package, or a file that declares one.

    Raises:
        TaskFileError: There is no such domain.

    Examples:
        >>> lakatos.published("risky")  # doctest: +SKIP
    """
    family = find_family(domain_called(domain))
    theories = {name: read_program(family.program(name)) for name in family.seeds}
    rows = [
        {"name": name, "title": item.name, "claim": item.claim} for name, item in theories.items()
    ]
    return pd.DataFrame(rows, columns=["name", "title", "claim"])


def score(
    answers: Answers,
    theories: NamedTheories = None,
    *,
    rivals: Annotated[Mapping[str, Any] | None, Argument(hidden=True)] = None,
    domain: str = "",
    columns: Columns = None,
    runs: RunsFolder = "runs",
    n_workers: Workers = 2,
    seconds: Seconds = CALL_SECONDS,
) -> pd.DataFrame:
    """Score theories on held-out responses, the best first, with intervals.

    The population of each theory is estimated from other experiments, of a single experiment from other participants
    (from other trials if participants are not identified). Scores are log probabilities of the responses given,
    in nats per choice; ``score_low`` and ``score_high`` are the ends of 95% intervals, clustered by participant.
    Theories of learning predict one step ahead: each response, given the participant's earlier responses and
    outcomes. Nothing is simulated.

    Args:
        answers: A file or folder of responses, a study, a published data set, or a run by its name or path; in Python
            also a data frame, or what `adopt` returned.
        theories: Names of published theories, files, or theories of the run; by default all published theories of the
            task, or the leading theory of the run.
        rivals: Models that only predict, by name: estimators of scikit-learn, theorists of AutoRA, or objects with
            ``fit(attributes, chosen options)`` and ``predict_proba`` (or ``predict``, for the second option).
        domain: Kind of task, or the file that declares it; guessed from the columns by default.
        columns: Meaning of a column, with the keys of the section participants.columns of a study, as in
            participant=VP; in Python a mapping, as for `adopt`.
        runs: Folder that holds the runs.
        n_workers: Theories scored at the same time. Does not change results.
        seconds: Limit of processor time in seconds for one call of a theory or likelihood function.

    Returns:
        A frame with a row for each theory; ``behind`` is the paired difference to the best one, with ``behind_low`` and
        ``behind_high``.

    Raises:
        TheoryError: A theory does not run on these responses. Published ones that do not are excluded, with a warning.

    Examples:
        $ lakatos theory score responses.csv hyperbolic exponential
        >>> lakatos.score("responses.csv", ["hyperbolic", "exponential"])  # doctest: +SKIP
    """
    theories, functions = divide_theories(theories)
    if functions and not theories and not rivals:  # any table will do, of whatever task
        scored = scores_of_functions(functions, answers, None, seconds)
        sizes = {name: len(item.bounds) for name, item in functions.items()}
        return in_kind(_score_table(scored, {}, sizes), answers, ())
    request = read_asked(answers, theories, runs=runs, domain=domain, columns=columns)
    known, named = request.answers, request.theories is not None
    check_comparable(functions, known.domain)
    with Laboratory(known.domain, n_workers, seconds=seconds) as laboratory:
        chosen = forms_of(request.theories, known, laboratory)
        starts: list[dict[str, Prior]] = [{}] * len(chosen)
        trials = known.taught(chosen.values())
        done = TimeLeft("theories fitted", len(chosen))
        taught = laboratory.people_of(list(chosen.values()), starts, trials, done)
        fitted = {}
        for (name, form), people in zip(chosen.items(), taught, strict=True):
            if isinstance(people, TheoryError):
                left_out(name, people, named=named)
                continue
            fitted[name] = form.with_people(people, pooled=is_pooled(known))
        scores: dict[str, list[UnitScores]] = {}
        for name, own in scores_with_enough_draws(laboratory, fitted, trials).items():
            if isinstance(own, TheoryError):
                left_out(name, own, named=named)
                continue
            scores[name] = own
    for name, rival in are_predictors(rivals).items():
        scores[name] = scores_of_predictor(name, rival, trials)
    scores |= scores_of_functions(functions, answers, known, seconds)
    sizes = {name: len(item.bounds) for name, item in functions.items()}
    return in_kind(_score_table(scores, fitted, sizes), answers, known.notes)


def fit(
    answers: Answers,
    theory: Annotated[TheoryLike, Argument(kind=str, first=True)],
    *,
    each: bool = False,
    recovery: bool = False,
    simulate: Annotated[str | os.PathLike[str] | None, Argument(kind=Path | None)] = None,
    by: Annotated[str | Sequence[str], Argument(kind=list[str])] = (),
    figure: Annotated[str | os.PathLike[str] | None, Argument(kind=Path | None)] = None,
    domain: str = "",
    columns: Columns = None,
    runs: RunsFolder = "runs",
    n_workers: Workers = 1,
    seconds: Seconds = CALL_SECONDS,
) -> FittedTheory | FittedFunction:
    """Estimate the population distribution of a theory's parameters, or the parameters of each participant.

    Args:
        answers: A file or folder of responses, a study, a published data set, or a run by its name or path; in Python
            also a data frame, or what `adopt` returned.
        theory: The name of a published theory, its file, or its name in the run; in Python also a source or a theory.
        each: Estimate the parameters of each participant: maximum likelihood, posterior mode and posterior mean, with
            intervals.
        recovery: Recover the parameters of simulated participants with the same trials: correlation and bias. If the
            file lacks outcomes of unchosen options, they are estimated (with a note), or the command refuses.
        simulate: File for responses of simulated participants with the same trials, in the columns of the file that
            was read; their true parameters are written beside it, into NAME_parameters.csv. Outcomes are simulated as
            for --recovery.
        by: Column of conditions or groups; several columns define their combinations. Parameters are estimated for
            each participant in each condition, and simulated participants differ between conditions as in the
            responses.
        figure: File for a figure of each participant's parameters.
        domain: Kind of task, or the file that declares it; guessed from the columns by default.
        columns: Meaning of a column, as in participant=VP; in Python a mapping, as for `adopt`.
        runs: Folder that holds the runs.
        n_workers: Processes. Does not change results.
        seconds: Limit of processor time in seconds for one call of a theory or likelihood function.

    Returns:
        The theory with its population; ``people`` is the table of its parameters. With ``each``, a
        `FittedParticipants`: ``participants`` has a row for each participant, ``recovery`` one for each parameter,
        and ``plot()`` draws them.

    Raises:
        TheoryError: The theory does not run on these responses.
        TrialsError: Outcomes that simulated participants receive are neither known nor can be estimated.

    Examples:
        $ lakatos theory fit hyperbolic responses.csv
        $ lakatos theory fit hyperbolic responses.csv --each --out participants.csv
        $ lakatos theory fit hyperbolic responses.csv --recovery --by session
        >>> lakatos.fit("responses.csv", "hyperbolic")  # doctest: +SKIP
    """
    wanted = [by] if isinstance(by, str) else list(by)
    _, functions = divide_theories([theory])
    for item in functions.values():
        if recovery or wanted or figure is not None:
            raise TheoryError(
                "a likelihood function is fitted without --recovery, --by and --figure; leave them out."
            )
        return fit_function(
            item, answers, each=each, simulate=None if simulate is None else Path(simulate), seconds=seconds
        )  # fmt: skip
    request = read_asked(answers, theory, runs=runs, domain=domain, columns=columns, known=wanted)
    known = without_notes_on(request.answers, wanted)
    with Laboratory(known.domain, n_workers, seconds=seconds) as laboratory:
        ((_, form),) = forms_of(request.theories, known, laboratory).items()
        (people,) = laboratory.people_of([form], [{}], known.taught([form]))
    if isinstance(people, TheoryError):
        raise people
    fitted = form.with_people(people, pooled=is_pooled(known))
    if not (each or recovery or simulate or figure or wanted):
        return FittedTheory(fitted, known.domain, known.notes, n_people_of(known))
    estimates = fit_participants(
        fitted, known, recovery=recovery, simulate=None if simulate is None else Path(simulate), by=wanted
    )  # fmt: skip
    if figure is not None:
        write_figure(estimates.plot(), Path(figure))
    return estimates


def predict(
    theory: NamedTheory,
    conditions: Annotated[Any, Argument(kind=str, metavar="trials")],
    *,
    fit_to: Annotated[Any, Argument(kind=str, flag="--fit", required=True)] = None,
    domain: Annotated[str | Domain, Argument(kind=str)] = "",
    columns: Columns = None,
    runs: RunsFolder = "runs",
    n_draws: Annotated[int, Argument(hidden=True)] = N_DRAWS,
) -> pd.DataFrame:
    """Predict choice proportions in a table of trials, which needs no responses.

    Args:
        theory: The name of a published theory or its file; in Python also a fitted theory.
        conditions: A table of trials; in Python also a data frame, or responses.
        fit_to: Responses, or a run, from which the population distribution is estimated (required).
        domain: Kind of task; that of the fitted theory by default.
        columns: Meaning of a column, or the attribute of trials that it holds; in Python a mapping, as
            for `adopt`.
        runs: Folder that holds the runs.
        n_draws: Number of simulated participants per prediction, a power of two.

    Returns:
        The conditions, and for each option the predicted share of choices with its spread over participants: ``low``
        and ``high`` are the probabilities of the middle 95% of participants.

    Raises:
        TrialsError: A row of the conditions is not a trial of this domain; the message names it.
        TheoryError: The theory does not run on them.

    Examples:
        $ lakatos theory predict hyperbolic trials.csv --fit responses.csv
        >>> lakatos.predict(lakatos.fit("responses.csv", "hyperbolic"), "trials.csv")  # doctest: +SKIP
    """
    fitted, notes = theory, tuple[str, ...]()
    if fit_to is not None:
        fitted, notes, columns = _fitted_to(theory, fit_to, domain, columns, runs)
        domain = ""
    frame, own, drawn = _choices(fitted, conditions, domain, columns, n_draws)
    low, _, high = np.quantile(drawn, PEOPLE, axis=0)
    table = _prediction_table(frame, np.stack([drawn.mean(axis=0), low, high]), own)
    return in_kind(table, conditions, notes)


def _fitted_to(
    theory: TheoryLike,
    answers: Any,
    domain: str | Domain,
    columns: Mapping[str, Any] | None,
    runs: str | os.PathLike[str],
) -> tuple[FittedTheory, tuple[str, ...], dict[str, Any]]:
    """Fit a theory to responses; return it with the meanings of columns that are about trials.

    The columns of a run are known, so that all given meanings are about the trials.
    """
    name = domain if isinstance(domain, str) else domain.name
    shown = {key: value for key, value in (columns or {}).items() if key == "stimulus"}
    of_run = isinstance(answers, str | os.PathLike) and names_run(answers, runs)
    fitted = fit(
        answers, theory, domain=name, columns=None if of_run else columns, runs=runs, n_workers=1
    )
    if isinstance(fitted, FittedFunction):
        raise TheoryError("a likelihood function does not predict trials without responses.")
    return fitted, fitted.notes, shown


def domain_called(domain: str | Domain) -> Domain:
    """A domain by its name or the file that declares it."""
    return open_domain(domain) if isinstance(domain, str) else domain


def people_s_choices(
    theory: TheoryLike,
    conditions: PeoplesAnswers | Any,
    *,
    domain: str | Domain = "",
    columns: Mapping[str, Any] | None = None,
    n_draws: int = N_DRAWS,
) -> Array:
    """Choice probabilities of participants drawn from a theory, ``(n_draws, n_rows, n_options)``; see `predict`."""
    return _choices(theory, conditions, domain, columns, n_draws)[2]


def scores_with_enough_draws(
    laboratory: Laboratory, fitted: Mapping[str, Theory], trials: Sequence[Trials]
) -> dict[str, list[UnitScores] | TheoryError]:
    """Score fitted theories in each experiment, with enough draws that their number does not decide the leader.

    Draws are raised for the leader and for those that other draws could put ahead of it. A theory that fails with
    more draws keeps its score with fewer.
    """
    n_draws = draws_for(fitted.values(), laboratory.domain)
    most = most_draws(
        sum(len(item.stimuli) for item in trials),
        sum(item.n_participants for item in trials),
        walks=laboratory.domain.sequential or any(item.learns for item in fitted.values()),
        person_draws=MOST_PERSON_DRAWS,
    )
    scores: dict[str, list[UnitScores] | TheoryError] = {}
    wanted = list(fitted)
    while wanted:
        done = TimeLeft(f"theories scored with {n_draws} draws", len(wanted))
        found = laboratory.scores_of([fitted[name] for name in wanted], trials, n_draws, done)
        for name, own in zip(wanted, found, strict=True):
            if not isinstance(own, TheoryError):
                scores[name] = [item.left_out for item in own]
            else:
                scores.setdefault(name, own)
        known = {name: own for name, own in scores.items() if not isinstance(own, TheoryError)}
        n_draws *= 4
        wanted = decided_by_chance(known) if n_draws <= most else []
    return scores


def decided_by_chance(scores: Mapping[str, Sequence[UnitScores]]) -> list[str]:
    """The leader and the theories whose order with it other draws could change; empty if there are none."""
    if not scores:
        return []
    leader = max(scores, key=lambda name: mean_score(scores[name]).value)
    unclear = [
        name
        for name, own in scores.items()
        if name != leader
        and could_change_order(
            paired_difference(scores[leader], own), chance_of_difference(scores[leader], own)
        )
    ]
    return [leader, *unclear] if unclear else []


def _score_table(
    scores: Mapping[str, Sequence[UnitScores]],
    theories: Mapping[str, Theory],
    n_parameters: Mapping[str, int],
) -> pd.DataFrame:
    """Table with a row for each theory, the best first, and with the number of parameters of likelihood functions."""
    sizes = {name: n_free_parameters(item.priors) for name, item in theories.items()}
    sizes |= n_parameters
    order = sorted(scores, key=lambda name: -mean_score(scores[name]).value)
    rows = [
        {
            "theory": name,
            **interval_columns("score", mean_score(scores[name])),
            **interval_columns("behind", paired_difference(scores[order[0]], scores[name])),
            "parameters": sizes.get(name, pd.NA),
            "claim": theories[name].account().claim if name in theories else ONLY_PREDICTS,
        }
        for name in order
    ]
    return pd.DataFrame(rows)


def _choices(
    theory: TheoryLike,
    conditions: PeoplesAnswers | Any,
    domain: str | Domain,
    columns: Mapping[str, Any] | None,
    n_draws: int,
) -> tuple[pd.DataFrame, Domain, Array]:
    """The conditions as a table, their domain, and probabilities of participants, ``(n_draws, n_rows, n_options)``."""
    own = (
        theory.domain if isinstance(theory, FittedTheory) and not domain else domain_called(domain)
    )
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
    """Probabilities of participants, ``(n_draws, n_trials, n_options)``, computed in parts that fit into a sandbox."""
    size = len(stimuli) if laboratory.domain.sequential else CHUNK
    found = []
    for start in range(0, len(stimuli), size):
        part = stimuli.take(range(start, min(start + size, len(stimuli))))
        ((answers,),) = laboratory.answers_of([theory], [part], n_draws)
        found.append(answers)
    return np.concatenate(found, axis=1)


def _prediction_table(table: pd.DataFrame, shares: Array, domain: Domain) -> pd.DataFrame:
    labels = [*domain.options, *map(str, range(len(domain.options), shares.shape[2]))]
    columns = {
        f"{label}{ending}": shares[place, :, option]
        for option, label in enumerate(labels[: shares.shape[2]])
        for place, ending in enumerate(("", "_low", "_high"))
    }
    return table.assign(**columns)
