"""Models that only predict: estimators of the kind of scikit-learn, and theorists of AutoRA.

They do not model differences between participants. Each is fitted to other experiments (within a single experiment, to
other participants, or to other trials if participants are not identified) and predicts a probability for each option of
a trial, independently of the participant's other responses. It is scored on the same responses as theories.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from typing import Any, Final, Protocol

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from lakatos.experiments.errors import TrialsError
from lakatos.experiments.participants.file import stimulus_columns
from lakatos.experiments.task import Trials
from lakatos.theories.engine.scoring.score import UnitScores

Array = NDArray[Any]
N_PARTS: Final = 5
"""Parts of the participants, or of the trials, each of which is predicted from the others."""
LEAST: Final = 0.001
"""Probability of any option, at least: an estimator may say 0, and one answer would cost everything."""


class Predictor(Protocol):
    """Estimator with ``fit``, and ``predict_proba`` or ``predict`` (the second option's probability)."""

    def fit(self, conditions: Any, observations: Any) -> Any:
        """Fit to the numerical attributes of trials and the chosen options."""


def scores_of_predictor(
    name: str, predictor: Predictor, trials: Sequence[Trials]
) -> list[UnitScores]:
    """Score an estimator in each experiment, on responses that were held out of its fit.

    Args:
        name: Name for error messages.
        predictor: Estimator, which is copied and not changed.
        trials: Responses of each experiment.

    Raises:
        TrialsError: It cannot be fitted, or its predictions are not probabilities; the message quotes its error.
    """
    shown = _columns_of(trials)
    rows = [np.repeat(np.arange(len(item.trial)), item.count) for item in trials]
    found = []
    for place, item in enumerate(trials):
        part = _parts_of(item, alone=len(trials) == 1)
        probabilities = np.zeros((len(item.trial), item.n_options))
        for number in np.unique(part):
            taught = [
                (shown[other].iloc[own.trial[rows[other]]], own.response[rows[other]])
                for other, own in enumerate(trials)
                if other != place
            ]
            if len(trials) == 1:
                kept = rows[0][part[rows[0]] != number]
                taught = [(shown[0].iloc[item.trial[kept]], item.response[kept])]
            is_own = part == number
            model = _taught(name, predictor, taught)
            shares = _shares(name, model, shown[place], item.n_options)
            probabilities[is_own] = shares[item.trial[is_own]]
        found.append(_by_unit(item, probabilities))
    return found


def _parts_of(item: Trials, *, alone: bool) -> Array:
    """Fold of each response, ``(n_rows,)``: by participant, or by trial if participants are not identified."""
    if not alone:
        return np.zeros(len(item.trial), dtype=np.int64)
    return np.asarray((item.trial if item.pooled else item.participant) % N_PARTS)


def _columns_of(trials: Sequence[Trials]) -> list[pd.DataFrame]:
    """Numerical attributes of the trials of each experiment; a missing column is 0.

    Names are words of a formula (``delays_days_0``), as theorists that search for equations need them.
    """
    tables = [
        pd.DataFrame(stimulus_columns(item.stimuli)).rename(
            columns=lambda name: name.replace(".", "_")
        )
        for item in trials
    ]
    names = sorted({name for table in tables for name in table.columns})
    return [table.reindex(columns=names, fill_value=0.0) for table in tables]


def _taught(name: str, predictor: Predictor, taught: Sequence[tuple[pd.DataFrame, Array]]) -> Any:
    model = copy.deepcopy(predictor)
    conditions = pd.concat([table for table, _ in taught], ignore_index=True)
    observations = np.concatenate([chosen for _, chosen in taught])
    try:
        return model.fit(conditions, observations) or model
    except Exception as error:  # a stranger's code may raise anything
        raise TrialsError(f"{name} cannot be taught: {type(error).__name__}: {error}") from error


def _shares(name: str, model: Any, conditions: pd.DataFrame, n_options: int) -> Array:
    """Predicted probability of each option, ``(n_trials, n_options)``."""
    if hasattr(model, "predict_proba"):
        given = np.asarray(model.predict_proba(conditions), dtype=np.float64)
        classes = np.asarray(getattr(model, "classes_", np.arange(given.shape[1])), dtype=np.int64)
        shares = np.zeros((len(conditions), n_options))
        shares[:, classes] = given
    elif n_options == 2:
        second = np.asarray(model.predict(conditions), dtype=np.float64).reshape(len(conditions))
        shares = np.stack([1 - second, second], axis=1)
    else:
        raise TrialsError(f"{name} has no predict_proba, which {n_options} options need.")
    if not np.isfinite(shares).all() or np.abs(shares).max() > 2:
        raise TrialsError(
            f"{name} predicts {float(np.nanmin(shares)):.3g} to {float(np.nanmax(shares)):.3g}, which are no "
            "probabilities of options."
        )
    shares = np.maximum(shares, LEAST)
    return np.asarray(shares / shares.sum(axis=1, keepdims=True))


def _by_unit(item: Trials, probabilities: Array) -> UnitScores:
    """Log probabilities of responses by participant, or by trial if participants are not identified."""
    log_p = np.log(probabilities[np.arange(len(item.trial)), item.response])
    unit = item.trial if item.pooled else item.participant
    n_choices = np.bincount(unit, weights=item.count).astype(np.float64)
    totals = np.bincount(unit, weights=item.count * log_p).astype(np.float64)
    return UnitScores(totals[n_choices > 0], n_choices[n_choices > 0])


def are_predictors(rivals: Mapping[str, Any] | None) -> Mapping[str, Predictor]:
    """Return the rivals if each has the methods of a `Predictor`; raise `TrialsError` otherwise."""
    for name, item in (rivals or {}).items():
        if not hasattr(item, "fit") or not (
            hasattr(item, "predict") or hasattr(item, "predict_proba")
        ):
            raise TrialsError(f"{name} is a {type(item).__name__}; a rival has fit and predict.")
    return rivals or {}
