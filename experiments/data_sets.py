"""Experiments of several published data sets in one study, told apart by their names.

Where a study names several archives, each experiment is called ``data set/experiment`` in it. A data set is then left
out as a whole: what its people answered teaches nothing about who they are.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Final

from lakatos.experiments.domain_lookup import data_set_names
from lakatos.experiments.errors import TrialsError
from lakatos.experiments.task import Trials

SEPARATOR: Final = "/"


def named_by_data_set(data_set: str, trials: Iterable[Trials]) -> tuple[Trials, ...]:
    """The experiments of a data set, each with the name that tells it from those of others."""
    return tuple(
        replace(item, experiment=f"{data_set}{SEPARATOR}{item.experiment}") for item in trials
    )


def data_set_of(experiment: str) -> str:
    """The data set that the name of an experiment begins with; empty where it tells none.

    A study numbers its experiments (``2 risky_cpc18/cpc18``); the number is no part of a data set's name.
    """
    name = experiment.partition(SEPARATOR)[0].rpartition(" ")[2]
    return name if SEPARATOR in experiment and name in data_set_names() else ""


def archive_of(experiment: str) -> str:
    """The archive whose answers a numbered experiment (``2.1 cpc18``) opened; empty where new people answered."""
    return experiment.partition(" ")[2]


def published_name(experiment: str) -> str:
    """Return the name of an experiment in its data set."""
    return experiment.partition(SEPARATOR)[2] if data_set_of(experiment) else experiment


def data_sets_of(experiments: Iterable[str]) -> tuple[str, ...]:
    """The data sets that experiments are of, in order; none unless there are two or more."""
    found = tuple(dict.fromkeys(map(data_set_of, experiments)))
    return found if len(found) > 1 and all(found) else ()


def left_out_with(experiments: Sequence[str]) -> list[str]:
    """List what is held out to predict each experiment: its data set where there are several, else itself."""
    apart = data_sets_of(experiments)
    return [data_set_of(name) if apart else name for name in experiments]


def check_alike(trials: Sequence[Trials]) -> None:
    """Raise `TrialsError` where answers of different data sets cannot stand on one scoreboard."""
    first = trials[0]
    for item in trials[1:]:
        pair = f"{first.experiment} and {item.experiment}"
        if item.n_options != first.n_options:
            raise TrialsError(
                f"{pair} measure different things: people chose among {first.n_options} options in the one and "
                f"{item.n_options} in the other. Name data sets with the same measure, or study them apart."
            )
        if item.pooled != first.pooled:
            raise TrialsError(
                f"{pair} cannot be scored together: of one only counts are known, of the other each person's answers. "
                "Say participants.pooled = true, and counts are used of both."
            )
        if set(item.feedback) != set(first.feedback):
            raise TrialsError(
                f"{pair} measure different things: what followed an answer is {_named(first)} in the one and "
                f"{_named(item)} in the other. Name data sets with the same measure, or study them apart."
            )


def _named(trials: Trials) -> str:
    return ", ".join(sorted(trials.feedback)) or "nothing"
