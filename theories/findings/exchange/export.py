"""A theory as formulas of the trials of a file, compared with what the laboratory computes for its responses."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from lakatos.experiments.task import Domain, Trials
from lakatos.theories.engine.laboratory import Laboratory
from lakatos.theories.engine.running.sequence import follow
from lakatos.theories.findings.exchange.formula import (
    TheoryFormulas,
    UnwritableError,
    chosen_of,
    columns_of,
    formulas_of,
    value_of,
)
from lakatos.theories.findings.exchange.written import LEAST_PROBABILITY, ExportedTheory
from lakatos.theories.language.theory import Theory

Array = NDArray[Any]
MOST_CHECKED: Final = 40
"""Responses of a participant on which formulas are compared with the theory."""
PARTICIPANTS_CHECKED: Final = 3
"""Participants of the first experiment whose likelihoods are compared."""
CHECKED_AT: Final = (0.5, 0.3, 0.8)
"""Quantiles of the population at which they are compared."""
TOLERANCE: Final = 1e-8
"""Largest difference, in nats, of the log likelihood of all these responses."""


def exported(
    theory: Theory,
    domain: Domain,
    trials: Sequence[Trials],
    names: Sequence[Sequence[str]] = (),
) -> ExportedTheory:
    """A theory as formulas of these trials, with the responses in the columns that the formulas read.

    The code of the theory runs in this process: it must be a text of the package's own grammar.

    Args:
        theory: Theory with the population whose medians a fit starts from.
        domain: Kind of task.
        trials: Responses, in the order of presentation.
        names: Participant's name at each response of each experiment, where it is known.

    Raises:
        UnwritableError: The theory cannot be written as formulas, or they do not give its likelihood.
    """
    order = [np.argsort(item.participant, kind="stable") for item in trials]
    trials = [_of_rows(item, places) for item, places in zip(trials, order, strict=True)]
    tables = [_rows(domain, item) for item in trials]
    if len({tuple(sorted(table)) for table in tables}) > 1:
        raise UnwritableError(
            "the trials of these experiments have different numbers of options or attributes; export the theory for "
            "one experiment at a time."
        )
    rows = {name: np.concatenate([table[name] for table in tables]) for name in tables[0]}
    before = np.cumsum([0, *(item.n_participants for item in trials)])
    rows["participant"] += np.repeat(before[:-1], [len(item.trial) for item in trials])
    shown = [_shown(domain, item) for item in trials]
    functions: dict[str, Any] = {}
    exec(theory.program.source, functions)
    wanted = ("choose", "start", "learn") if theory.learns else ("choose",)
    formulas = formulas_of(
        {name: functions[name] for name in wanted},
        theory.priors,
        {name: np.concatenate([item[name] for item in shown]) for name in shown[0]},
        {
            name: np.concatenate([item.feedback[name] for item in trials])
            for name in trials[0].feedback
        },
    )
    columns = ("participant", "trial", "response", "n", *formulas.columns, *formulas.feedback)
    found = {name: rows[name] for name in columns}
    if len(trials) > 1:
        lengths = [len(item.trial) for item in trials]
        found["experiment"] = np.repeat([item.experiment for item in trials], lengths)
    if names:
        named = zip(names, order, strict=True)
        found["participant_id"] = np.concatenate([np.array(item)[places] for item, places in named])
    n_checked, checked = _compared(theory, domain, trials[0], formulas, found)
    return ExportedTheory(
        theory.name,
        theory.claim,
        formulas,
        theory.priors,
        tuple(_values(theory, CHECKED_AT[0]).values()),
        found,
        n_checked,
        checked,
        any(item.pooled for item in trials),
    )


def _values(theory: Theory, share: float) -> dict[str, float]:
    """The parameters' quantiles in the population."""
    return {
        name: float(prior.quantile(np.array([share]))[0]) for name, prior in theory.priors.items()
    }


def _compared(
    theory: Theory,
    domain: Domain,
    trials: Trials,
    formulas: TheoryFormulas,
    rows: Mapping[str, Array],
) -> tuple[int, float]:
    """Compare formulas with the theory on the responses of some participants.

    Returns:
        How many responses of the first participant were compared, and their log likelihood at the first point.

    Raises:
        UnwritableError: They differ.
    """
    points = [_values(theory, share) for share in CHECKED_AT]
    found: list[tuple[int, float]] = []
    with Laboratory(domain, 1) as laboratory:
        for number in np.unique(trials.participant)[:PARTICIPANTS_CHECKED]:
            places = np.flatnonzero(trials.participant == number)[:MOST_CHECKED]
            here = {name: column[places] for name, column in rows.items()}
            own = [log_likelihood(formulas, values, here) for values in points]
            theirs = _computed(laboratory, theory, domain, _of_rows(trials, places), points)
            for mine, computed in zip(own, theirs, strict=True):
                if not abs(mine - computed) <= TOLERANCE:
                    raise UnwritableError(
                        f"the formulas of {theory.name!r} give a log likelihood of {mine:.9g} on the first "
                        f"{len(places)} responses of participant {number + 1} where the theory itself gives "
                        f"{computed:.9g}; export it as python or json instead."
                    )
            found.append((len(places), own[0]))
    return found[0]


def _of_rows(trials: Trials, rows: Array) -> Trials:
    """Some responses in this order, without what is known of the participants."""
    return replace(
        trials,
        participant=np.asarray(trials.participant)[rows],
        trial=np.asarray(trials.trial)[rows],
        response=np.asarray(trials.response)[rows],
        count=np.asarray(trials.count)[rows],
        feedback={name: np.asarray(column)[rows] for name, column in trials.feedback.items()},
        attributes={},
    )


def _shown(domain: Domain, trials: Trials) -> dict[str, Array]:
    """Return what was shown at each response, ``(n_rows, ...)``."""
    stimuli = {
        name: np.asarray(array)[trials.trial] for name, array in trials.stimuli.arrays.items()
    }
    before: dict[str, Array] = {}
    if trials.feedback:
        n_rows = len(trials.trial)
        first = np.r_[True, trials.participant[1:] != trials.participant[:-1]]
        before = {
            name: np.where(first, 0.0, np.r_[0.0, np.asarray(column)[: n_rows - 1]])[None]
            for name, column in trials.feedback.items()
        }
    shown = {}
    for name, array in domain.shown(stimuli, before).items():
        plain = np.asarray(array)
        shown[name] = plain if name in stimuli else plain[0]
    return shown


def _rows(domain: Domain, trials: Trials) -> dict[str, Array]:
    """Every number of each response's trial, beside who responded, what, and how often."""
    rows: dict[str, Array] = {
        "participant": np.asarray(trials.participant) + 1,
        "trial": _places_within(np.asarray(trials.participant)),
        "response": np.asarray(trials.response) + 1,
        "n": np.asarray(trials.count),
    }
    for name, array in _shown(domain, trials).items():
        rows |= columns_of(name, array)
    return rows | {name: np.asarray(column) for name, column in trials.feedback.items()}


def _places_within(participant: Array) -> Array:
    """Numbers of each participant's rows, from 1; rows stand by participant."""
    _, first, counts = np.unique(participant, return_index=True, return_counts=True)
    return np.arange(len(participant)) - np.repeat(first, counts) + 1


def log_likelihood(
    formulas: TheoryFormulas, values: Mapping[str, float], rows: Mapping[str, Array]
) -> float:
    """Nats of one participant's responses."""
    total, n_options = 0.0, len(formulas.probabilities)
    state = {
        name: value_of(item, values)
        for name, item in zip(formulas.state, formulas.first, strict=True)
    }
    for row in range(len(rows["response"])):
        read = ("n", *formulas.columns, *formulas.feedback)
        here = {name: float(rows[name][row]) for name in read}
        chosen = int(rows["response"][row]) - 1
        picked = {name: float(place == chosen) for place, name in enumerate(chosen_of(n_options))}
        known = {**here, **picked, **values, **state}
        share = value_of(formulas.probabilities[chosen], known)
        total += here["n"] * float(np.log(max(share, LEAST_PROBABILITY)))
        state = {
            name: value_of(item, known)
            for name, item in zip(formulas.state, formulas.updated, strict=True)
        }
    return total


def _computed(
    laboratory: Laboratory,
    theory: Theory,
    domain: Domain,
    trials: Trials,
    points: Sequence[Mapping[str, float]],
) -> list[float]:
    """The same as the theory's own process computes it, for each of several sets of parameters."""
    one = replace(trials, participant=np.zeros(len(trials.trial), dtype=int), n_people=1)
    drawn = {name: np.array([point[name] for point in points]) for name in theory.priors}
    if not drawn:
        drawn = {"": np.zeros(len(points))}  # how many there are
    if theory.learns:
        found = laboratory.look(
            theory, [one.stimuli], lambda view: follow(view._session, domain, drawn, one)
        )
        return [float(item) for item in found.log_likelihood.sum(axis=1)]
    (shares,) = laboratory.look(theory, [one.stimuli], lambda view: view.probabilities(drawn))
    chosen = np.maximum(shares[:, one.trial, one.response], LEAST_PROBABILITY)
    return [float(item) for item in (one.count * np.log(chosen)).sum(axis=1)]


def to_json(theory: Theory, domain: Domain) -> str:
    """A theory as one JSON object: its source, its parameters as declared, and its population."""
    parameters = {
        name: {
            "low": prior.low,
            "high": prior.high,
            "distribution": prior.kind,
            "quantiles": {
                f"{share:g}": float(value)
                for share, value in zip(QUANTILES, prior.quantile(np.array(QUANTILES)), strict=True)
            },
            "unit": prior.unit,
            "meaning": prior.meaning,
        }
        for name, prior in theory.priors.items()
    }
    return json.dumps(
        {
            "format": JSON_FORMAT,
            "name": theory.name,
            "claim": theory.claim,
            "task": domain.name,
            "parameters": parameters,
            "source": theory.program.source,
        },
        indent=1,
        ensure_ascii=False,
    )


QUANTILES: Final = (0.05, 0.25, 0.5, 0.75, 0.95)
JSON_FORMAT: Final = "lakatos-theory-1"


def source_in(text: str) -> str:
    """The source of a theory that `to_json` wrote; empty for another text."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return ""
    is_own = isinstance(value, dict) and value.get("format") == JSON_FORMAT
    return str(value.get("source", "")) if is_own else ""
