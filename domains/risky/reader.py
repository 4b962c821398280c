"""How files of this kind of task look, and how they are read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from lakatos.domains.risky.space import TOLERANCE, dominance, pairs
from lakatos.experiments.adoption.layouts import (
    AMOUNTS,
    CHANCES,
    StimulusLayout,
    as_table,
    by_side,
    number_in,
    words_and_sides,
)
from lakatos.experiments.adoption.names import words_of
from lakatos.experiments.adoption.option_code import ACCEPT, REJECT
from lakatos.experiments.errors import StimuliError, TrialsError
from lakatos.experiments.task import Stimuli

Array = NDArray[np.float64]

HIGH_LOW = ("h", "l")
"""Words for the high and the low amount of a gamble."""
MOST_CODES = 3
"""Different cells of a column of choices between two options, with those of missing ones."""


def _guess_gambles(names: Sequence[str]) -> dict[str, Any]:
    """Amounts and chances of two gambles, named by the same two words; each amount but the last needs its chance."""
    told = words_and_sides(names, AMOUNTS)
    if told is None:
        return {}
    pair, amounts = told
    chances = by_side(names, CHANCES, [pair])
    if chances is None:
        return {}
    for side, own_amounts, own_chances in zip(pair, amounts, chances, strict=True):
        places, of = (
            [number_in(words_of(name), side) for name in own] for own in (own_amounts, own_chances)
        )
        if of not in (places, places[:-1], [0] * (len(places) - 1)):
            return {}
    for own_amounts, own_chances in zip(amounts, chances, strict=True):
        _as_chances_stand(own_amounts, own_chances)
    return {
        "a_amounts": amounts[0], "a_probabilities": chances[0],
        "b_amounts": amounts[1], "b_probabilities": chances[1],
    }  # fmt: skip


def _as_chances_stand(amounts: list[str], chances: list[str]) -> None:
    """Put amounts whose names tell high from low in the order of their chances, as ``lval`` before ``hval``."""

    def mark(name: str) -> str:
        return next((word for word in words_of(name) if word in HIGH_LOW), "")

    marks = [mark(name) for name in chances]
    if all(marks) and {mark(name) for name in amounts} == set(HIGH_LOW):
        amounts.sort(
            key=lambda name: marks.index(mark(name)) if mark(name) in marks else len(marks)
        )


def _gambles(parts: Mapping[str, Array]) -> Stimuli:
    """Pairs of gambles; a probability that is left out is what the others leave."""
    n_rows = len(parts["a_amounts"])
    sides = [_gamble(parts, side) for side in "ab"]
    hidden = parts.get("ambiguous")
    signs = parts.get("correlation")
    return pairs(
        [(sides[0][row], sides[1][row]) for row in range(n_rows)],
        ambiguous=None if hidden is None else [(bool(a), bool(b)) for a, b in hidden],
        correlation=None if signs is None else signs.tolist(),
    )


def _gamble(parts: Mapping[str, Array], side: str) -> list[list[tuple[float, float]]]:
    """Amounts with their probabilities, row by row."""
    amounts = as_table(parts[f"{side}_amounts"])
    chances = as_table(parts[f"{side}_probabilities"])
    if chances.shape[1] == amounts.shape[1] - 1:
        rest = 1 - np.nansum(chances, axis=1, keepdims=True)
        chances = np.concatenate([chances, np.round(rest, 12)], axis=1)
    if chances.shape != amounts.shape:
        raise TrialsError(
            f"{side}_probabilities has {chances.shape[1]} columns and {side}_amounts {amounts.shape[1]}; "
            "give one for each amount, or for all but the last: --column "
            f"{side}_probabilities='[\"COLUMN\", ...]' (participants.columns.stimulus)."
        )
    used = ~np.isnan(amounts) & ~np.isnan(chances)
    _check_sums(np.where(used, chances, 0.0).sum(axis=1), side)
    return [
        list(zip(amounts[row, used[row]], chances[row, used[row]], strict=True))
        for row in range(len(amounts))
    ]


def _check_sums(total: Array, side: str) -> None:
    """Refuse probabilities that do not sum to one, with what may stand in a file instead: raise `StimuliError`."""
    wrong = np.flatnonzero(np.abs(total - 1) > TOLERANCE)
    if not wrong.size:
        return
    row = int(wrong[0])
    advice = (
        f"Where the rest pays nothing, say it as one more amount: --column {side}_amounts='[\"COLUMN\", 0]'"
        if total[row] < 1
        else f"Where they are per cent, say --column {side}_probabilities='[\"COLUMN / 100\"]'"
    )
    raise StimuliError(
        f"trial {row}: the probabilities of a gamble sum to {total[row]:g}, not 1. {advice} "
        f"(participants.columns.stimulus)."
    )


def _for_second(stimuli: Stimuli) -> Array:
    """How much more the second gamble pays on average, as a share of what is at stake."""
    outcomes, probabilities = stimuli["outcomes"], stimuli["probabilities"]
    mean = (outcomes * probabilities).sum(axis=-1)
    stake = np.ptp(outcomes, axis=(1, 2))
    return np.asarray((mean[:, 1] - mean[:, 0]) / np.maximum(stake, 1e-9))


GAINS, LOSSES, SURE = (
    {"gain", "gains", "win"},
    {"loss", "losses", "lose"},
    {"cert", "certain", "sure", "safe"},
)
"""Words of names of columns of a gamble between a gain and a loss, and of what is sure instead."""
CHOICES = {"choice", "choose", "chosen", "response", "resp", "deck", "arm"}


def _is_accepting(responses: pd.Series) -> bool:
    """Whether cells say that an offer was accepted or rejected, in degrees such as ``weakly_accept``."""
    said = [set(words_of(str(cell))) for cell in responses.unique()]
    return all(any(words & kind for words in said) for kind in (ACCEPT, REJECT))


def _guess_mixed(frame: pd.DataFrame) -> dict[str, Any]:
    """Columns of a gamble as in ``gain`` and ``loss``, each with an even chance, against what is sure or nothing."""
    words = {str(name): set(words_of(str(name))) for name in frame.columns}
    told = [[name for name, said in words.items() if said & kind] for kind in (GAINS, LOSSES, SURE)]
    gain, loss, sure = told
    if len(gain) != 1 or len(loss) != 1 or any(said & set(CHANCES) for said in words.values()):
        return {}
    for name, said in words.items():
        if said & CHOICES and frame[name].nunique() > MOST_CODES and not _is_accepting(frame[name]):
            return {}  # more than two options
    is_positive = (pd.to_numeric(frame[loss[0]], errors="coerce").dropna() > 0).any()
    lost = f"-{loss[0]}" if is_positive and loss[0].isidentifier() else loss[0]
    return {
        "a_amounts": sure[:1] or [0], "a_probabilities": [1],
        "b_amounts": [gain[0], lost], "b_probabilities": [0.5, 0.5],
    }  # fmt: skip


def _guess_cells(frame: pd.DataFrame) -> dict[str, Any]:
    return _guess_gambles([str(name) for name in frame.columns]) or _guess_mixed(frame)


def _properties(stimuli: Stimuli) -> Mapping[str, Array]:
    """What gambles are compared by."""
    outcomes, probabilities = stimuli["outcomes"], stimuli["probabilities"]
    mean = (probabilities * outcomes).sum(axis=-1)
    variance = (probabilities * (outcomes - mean[..., None]) ** 2).sum(axis=-1)
    used = probabilities > 0
    best = np.where(used, outcomes, -np.inf).max(axis=-1)
    is_best = used & (outcomes >= best[..., None] - TOLERANCE)
    return {
        "spread of outcomes": np.sqrt(variance),
        "expected value": mean,
        "best amount": best,
        "worst amount": np.where(used, outcomes, np.inf).min(axis=-1),
        "probability of the best amount": (probabilities * is_best).sum(axis=-1),
    }


LAYOUT = StimulusLayout(
    {
        "a_amounts": "amounts that the first gamble can pay, a list of columns",
        "a_probabilities": "their probabilities; the last may be left out",
        "b_amounts": "likewise of the second gamble",
        "b_probabilities": "likewise of the second gamble",
        "ambiguous": "two columns of 0 and 1: whose probabilities are not shown",
        "correlation": "-1, 0 or 1: of the two payoffs",
        "amount_unit": "cents, where amounts are hundredths of the unit of money; left out otherwise",
    },
    ("a_amounts", "a_probabilities", "b_amounts", "b_probabilities"),
    _gambles,
    _guess_gambles,
    ragged=("a_amounts", "a_probabilities", "b_amounts", "b_probabilities"),
    guess_cells=_guess_cells,
    guess_rank=1,
    in_favour=_for_second,
    dominance=dominance,
    properties=_properties,
    always={"spread of outcomes": ("the safer one", "the riskier one")},
)
"""The trials of this kind of task as columns."""
