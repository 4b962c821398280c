"""How trials of each domain are written as columns of a table, and which columns seem to mean what.

A *part* of a trial is an array of the domain, or what it is made of. In a study file each part is given as a column,
a number that holds for all rows, or a list of these, nested where there are options with several values each::

    [participants.columns.stimulus]
    amounts = ["ss_x", "ll_x"]
    delays_days = ["ss_t", "ll_t"]
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from lakatos.domains.estimation.task import MOST_POINTS, asked
from lakatos.domains.games.task import PLAYERS
from lakatos.domains.offers.task import ATTRIBUTES, N_OFFERS, OffersDomain
from lakatos.domains.risky.space import pairs
from lakatos.experiments.adoption import conflict, group_game
from lakatos.experiments.adoption.names import words_of
from lakatos.experiments.errors import StimuliError, TrialsError
from lakatos.experiments.task import Domain, Stimuli

Array = NDArray[np.float64]
DAYS = {"hours": 1 / 24, "days": 1.0, "weeks": 7.0, "months": 30.4375, "years": 365.25}


@dataclass(frozen=True)
class StimulusLayout:
    """A domain's trials as columns."""

    parts: Mapping[str, str]
    """What each part is, for people to read."""
    needed: tuple[str, ...]
    """Parts without which there is no trial."""
    build: Callable[[Mapping[str, Array]], Stimuli]
    """Trials from the parts, each with first axis ``n_rows``; empty cells are NaN."""
    guess: Callable[[Sequence[str]], dict[str, Any]]
    """Parts that names of columns suggest; nothing where they suggest none."""
    words: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """Parts whose cells are words, which stand for their places among these."""
    ragged: tuple[str, ...] = ()
    """Parts of which a trial may have fewer than there are columns, so that cells may be empty."""
    guess_cells: Callable[[pd.DataFrame], dict[str, Any]] | None = None
    """Used in place of ``guess`` where cells tell more than names."""

    def guessed(self, frame: pd.DataFrame) -> dict[str, Any]:
        """Parts that a table's columns suggest; nothing where they suggest none."""
        names = [str(name) for name in frame.columns]
        return self.guess_cells(frame) if self.guess_cells else self.guess(names)


@runtime_checkable
class HasAttributes(Protocol):
    """A domain whose options are described by attributes, each an array ``(n_trials, n_options)``."""

    options: tuple[str, ...]
    sequential: bool

    def attribute_labels(self) -> Mapping[str, str]:
        """What each attribute is, for people to read."""

    def attribute_words(self) -> Mapping[str, Sequence[str]]:
        """The words of attributes that are categories."""


def layout_of(domain: Domain) -> StimulusLayout | None:
    """How a domain's trials are written as columns; None where there is no way."""
    if not isinstance(domain, HasAttributes):
        return LAYOUTS.get(domain.name)
    labels, options = domain.attribute_labels(), domain.options

    def build(parts: Mapping[str, Array]) -> Stimuli:
        return Stimuli({name: parts[name] for name in labels})

    def guess(names: Sequence[str]) -> dict[str, Any]:
        return _guess_attributes(tuple(labels), options, names)

    parts = {
        name: f"{words}: a column, or a number, for each option" for name, words in labels.items()
    }
    if domain.sequential:
        parts["block_start"] = "column: 1 where a new game begins"
    return StimulusLayout(
        parts,
        tuple(labels),
        build,
        guess,
        domain.attribute_words(),
    )


def known_layout(domain: Domain) -> StimulusLayout:
    """How a domain's trials are written as columns.

    Raises:
        TrialsError: There is no way.
    """
    layout = layout_of(domain)
    if layout is None:
        raise TrialsError(
            f"answers of the domain {domain.name!r} cannot be brought in as a file; there are: "
            f"{', '.join(LAYOUTS)}. A reader in domains/NAME/archives can."
        )
    return layout


# Names of columns -----------------------------------------------------------------------------

SIDES: tuple[tuple[str, str], ...] = (
    ("a", "b"), ("left", "right"), ("l", "r"), ("ss", "ll"), ("sooner", "later"),
    ("now", "later"), ("now", "then"), ("today", "later"), ("soon", "late"), ("early", "late"),
    ("immediate", "delayed"),
    ("first", "second"), ("safe", "risky"), ("sure", "gamble"), ("x", "y"), ("1", "2"), ("0", "1"),
)  # fmt: skip
"""Words for the first and the second option; numbers last, since they may count the outcomes of one option."""
AMOUNTS = [
    "amount", "amt", "amounts", "x", "v", "val", "value",
    "payoff", "outcome", "out", "reward", "money", "gain", "o", "magnitude",
]  # fmt: skip
CHANCES = ["p", "prob", "probs", "probability", "chance", "pr", "likelihood"]
DELAYS = ["t", "d", "delay", "delays", "days", "time", "wait", "weeks", "months"]
NOW = ["now", "today", "immediate"]
"""Words for an option without a delay."""
QUERIES = {"query", "asked", "at", "probe", "test"}
"""Words for the place at which a function is asked for."""
RATINGS = [
    "rating",
    "ratings",
    "expert",
    "cue",
    "star",
    "stars",
    "score",
    "e",
    "c",
    "q",
    "attr",
    "attribute",
]


def by_side(
    names: Sequence[str], kind: Sequence[str], pairs: Sequence[tuple[str, str]] = SIDES
) -> tuple[list[str], list[str]] | None:
    """Columns of a kind for the first and for the second option, each in the order of their numbers.

    The first two words that both name columns of the kind are those of the options, even where one option has more
    columns than the other: another pair of words would then number outcomes, not options.

    Args:
        names: Of all columns.
        kind: Words for what the columns hold.
        pairs: Words that may tell the two options apart, the most telling first.

    Returns:
        None where no pair of words names both options, or where a column's name holds both words.
    """
    found = _words_and_sides(names, kind, pairs)
    return found and found[1]


def _words_and_sides(
    names: Sequence[str], kind: Sequence[str], pairs: Sequence[tuple[str, str]] = SIDES
) -> tuple[tuple[str, str], tuple[list[str], list[str]]] | None:
    """The words that tell the two options apart, and the columns as `by_side` returns them."""
    named = {name: words_of(name) for name in names}
    for pair in pairs:
        first, second = (
            [name for name, words in named.items() if side in words and _is_of(words, side, kind)]
            for side in pair
        )
        if not first or not second:
            continue
        if set(first) & set(second):
            return None
        left, right = (
            sorted(own, key=lambda name: (_number(named[name], side), name))
            for own, side in ((first, pair[0]), (second, pair[1]))
        )
        return pair, (left, right)
    return None


def _is_of(words: Sequence[str], side: str, kind: Sequence[str]) -> bool:
    rest = list(words)
    rest.remove(side)
    return any(word in kind for word in rest)


def _number(words: Sequence[str], side: str) -> int:
    rest = list(words)
    rest.remove(side)
    return next((int(word) for word in rest if word.isdigit()), 0)


def _guess_gambles(names: Sequence[str]) -> dict[str, Any]:
    """Amounts and chances of two gambles, named by the same two words; each amount but the last needs its chance."""
    told = _words_and_sides(names, AMOUNTS)
    if told is None:
        return {}
    pair, amounts = told
    chances = by_side(names, CHANCES, [pair])
    if chances is None:
        return {}
    for side, own_amounts, own_chances in zip(pair, amounts, chances, strict=True):
        places, of = (
            [_number(words_of(name), side) for name in own] for own in (own_amounts, own_chances)
        )
        if of not in (places, places[:-1], [0] * (len(places) - 1)):
            return {}
    return {
        "a_amounts": amounts[0], "a_probabilities": chances[0],
        "b_amounts": amounts[1], "b_probabilities": chances[1],
    }  # fmt: skip


def _guess_dated(names: Sequence[str]) -> dict[str, Any]:
    amounts, delays = by_side(names, AMOUNTS), by_side(names, DELAYS)
    if not amounts or not len(amounts[0]) == len(amounts[1]) == 1:
        return {}
    soon, late = amounts[0][0], amounts[1][0]
    if delays and len(delays[0]) == len(delays[1]) == 1:
        return {"amounts": [soon, late], "delays_days": [delays[0][0], delays[1][0]]}
    # Money now needs no column for its delay.
    waits = [name for name in names if set(words_of(name)) & set(DELAYS)]
    if delays or len(waits) != 1 or not set(words_of(soon)) & set(NOW):
        return {}
    return {"amounts": [soon, late], "delays_days": [0, waits[0]]}


def _guess_rated(names: Sequence[str]) -> dict[str, Any]:
    ratings = by_side(names, RATINGS)
    if not ratings or len(ratings[0]) != len(ratings[1]):
        return {}
    n_cues = len(ratings[0])
    told = sorted(name for name in names if "validity" in words_of(name))
    validities = told if len(told) == n_cues else ["?"] * n_cues
    return {"ratings": [ratings[0], ratings[1]], "validities": validities}


def _guess_steps(names: Sequence[str]) -> dict[str, Any]:
    """A schedule shows nothing; `adopt` looks for the reward."""
    return {}


def _guess_games(names: Sequence[str]) -> dict[str, Any]:
    """Columns whose names hold the player and the cell, as ``own_12`` does; all eight or none."""
    found = {}
    for player in PLAYERS:
        rows = [[_of_cell(names, player, f"{row}{column}") for column in (1, 2)] for row in (1, 2)]
        if not all(name for row in rows for name in row):
            return {}
        found[player] = rows
    return found


def _of_cell(names: Sequence[str], player: str, cell: str) -> str:
    """The column of a player's payoff in a cell; empty where there is none."""
    return next((name for name in names if {player, cell} <= set(words_of(name))), "")


def _guess_points(names: Sequence[str]) -> dict[str, Any]:
    """Columns such as ``x1, x2, ..., y1, y2, ...`` and the place asked for."""
    found = {axis: _numbered(names, axis) for axis in ("x", "y")}
    query = next((name for name in names if set(words_of(name)) & QUERIES), "")
    if not query or len(found["x"]) < 2 or len(found["x"]) != len(found["y"]):
        return {}
    return {"points_x": found["x"], "points_y": found["y"], "query": query}


def _numbered(names: Sequence[str], axis: str) -> list[str]:
    """Columns whose names hold a word and a number, in the order of the numbers."""
    numbers = {}
    for name in names:
        words = words_of(name)
        own = [int(word) for word in words if word.isdigit()]
        if axis in words and len(own) == 1:
            numbers[name] = own[0]
    return sorted(numbers, key=lambda name: numbers[name])


def _guess_offers(names: Sequence[str]) -> dict[str, Any]:
    return _guess_attributes(ATTRIBUTES, OffersDomain.options, names)


def _guess_attributes(
    attributes: Sequence[str], options: Sequence[str], names: Sequence[str]
) -> dict[str, Any]:
    """As many columns as there are options, whose names hold that of the attribute; all of them or none."""
    found = {}
    for attribute in attributes:
        of_attribute = set(attribute.split("_"))
        words = {name: set(words_of(name)) for name in names}
        own = {name: told - of_attribute for name, told in words.items() if of_attribute <= told}
        if len(own) != len(options):
            return {}
        found[attribute] = _by_option(own, options)
    return found


def _by_option(words: Mapping[str, set[str]], options: Sequence[str]) -> list[str]:
    """A column for each option, in the order of the options.

    Their names hold the options' labels, words such as soon and late, or numbers; otherwise they are in the order of
    the alphabet.
    """
    labels = [set(words_of(option)) or {option} for option in options]
    for sides in (labels, *([{first}, {second}] for first, second in SIDES)):
        by_side = [[name for name, told in words.items() if side <= told] for side in sides]
        if len(sides) == len(words) and all(len(own) == 1 for own in by_side):
            return [own[0] for own in by_side]
    numbers = {name: [int(word) for word in told if word.isdigit()] for name, told in words.items()}
    if all(len(own) == 1 for own in numbers.values()):
        return sorted(words, key=lambda name: numbers[name])
    return sorted(words)


# Trials ---------------------------------------------------------------------------------------


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
    amounts = _table(parts[f"{side}_amounts"])
    chances = _table(parts[f"{side}_probabilities"])
    if chances.shape[1] == amounts.shape[1] - 1:
        rest = 1 - np.nansum(chances, axis=1, keepdims=True)
        chances = np.concatenate([chances, np.round(rest, 12)], axis=1)
    if chances.shape != amounts.shape:
        raise TrialsError(
            f"{side}_probabilities has {chances.shape[1]} columns and {side}_amounts {amounts.shape[1]}; "
            "give one for each amount, or for all but the last."
        )
    used = ~np.isnan(amounts) & ~np.isnan(chances)
    return [
        list(zip(amounts[row, used[row]], chances[row, used[row]], strict=True))
        for row in range(len(amounts))
    ]


def _table(values: Array) -> Array:
    return values.reshape(len(values), -1)


def _dated(parts: Mapping[str, Array]) -> Stimuli:
    return Stimuli({"amounts": parts["amounts"], "delays_days": parts["delays_days"]})


def _rated(parts: Mapping[str, Array]) -> Stimuli:
    ratings = parts["ratings"]
    top = parts.get("rating_max", np.full(len(ratings), np.nanmax(ratings, initial=1.0)))
    return Stimuli(
        {"ratings": ratings, "validities": _table(parts["validities"]), "rating_max": top}
    )


def _games(parts: Mapping[str, Array]) -> Stimuli:
    return Stimuli({name: parts[name] for name in PLAYERS})


def _offers(parts: Mapping[str, Array]) -> Stimuli:
    return Stimuli({name: parts[name] for name in ATTRIBUTES})


def _points(parts: Mapping[str, Array]) -> Stimuli:
    """Points of a function; those whose cells are empty are not shown."""
    x, y = _table(parts["points_x"]), _table(parts["points_y"])
    if x.shape != y.shape or x.shape[1] > MOST_POINTS:
        raise TrialsError(
            f"points_x has {x.shape[1]} columns and points_y {y.shape[1]}; give as many of each, up to {MOST_POINTS}."
        )
    shown = ~np.isnan(x)
    for row in np.flatnonzero((shown != ~np.isnan(y)).any(axis=1)):
        raise StimuliError(f"trial {row} of the estimation domain: a point has one number of two.")
    points = [
        list(zip(own_x[there], own_y[there], strict=True))
        for own_x, own_y, there in zip(x, y, shown, strict=True)
    ]
    for row in np.flatnonzero(~shown.any(axis=1)):
        raise StimuliError(f"trial {row} of the estimation domain: no point is shown.")
    return asked(points, parts["query"].tolist())


def _conflict(parts: Mapping[str, Array]) -> Stimuli:
    """Not made row by row; see `experiments.adoption.conflict`."""
    raise TrialsError("trials of attention are made from the order of the answers.")


def _gifts(parts: Mapping[str, Array]) -> Stimuli:
    """Not made row by row; see `experiments.adoption.group_game`."""
    raise TrialsError("trials of public goods games are made from the gifts of whole groups.")


def _steps(parts: Mapping[str, Array]) -> Stimuli:
    """Not made row by row; see `experiments.adoption.adopt`."""
    raise TrialsError("steps of a schedule are made from the order of the answers.")


LAYOUTS: dict[str, StimulusLayout] = {
    "risky": StimulusLayout(
        {
            "a_amounts": "amounts that the first gamble can pay, a list of columns",
            "a_probabilities": "their probabilities; the last may be left out",
            "b_amounts": "likewise of the second gamble",
            "b_probabilities": "likewise of the second gamble",
            "ambiguous": "two columns of 0 and 1: whose probabilities are not shown",
            "correlation": "-1, 0 or 1: of the two payoffs",
        },
        ("a_amounts", "a_probabilities", "b_amounts", "b_probabilities"),
        _gambles,
        _guess_gambles,
        ragged=("a_amounts", "a_probabilities", "b_amounts", "b_probabilities"),
    ),
    "intertemporal": StimulusLayout(
        {
            "amounts": "amount of the first and of the second option",
            "delays_days": "their delays, in days unless delay_unit says otherwise",
            "delay_unit": f"one of {', '.join(DAYS)}",
        },
        ("amounts", "delays_days"),
        _dated,
        _guess_dated,
    ),
    "multiattribute": StimulusLayout(
        {
            "ratings": "two lists of columns: each expert's rating of the first and of the second product",
            "validities": "how often each expert is right, 0.5 to 1: columns or numbers",
            "rating_max": "top of the scale; the highest rating in the file where it is left out",
        },
        ("ratings", "validities"),
        _rated,
        _guess_rated,
    ),
    "offers": StimulusLayout(
        dict.fromkeys(ATTRIBUTES, f"{N_OFFERS} columns, one for each offer"),
        ATTRIBUTES,
        _offers,
        _guess_offers,
    ),
    "games": StimulusLayout(
        {
            "own": "two lists of two columns: what the person gets, by the own row and the other's column",
            "other": "likewise what the other player gets",
        },
        PLAYERS,
        _games,
        _guess_games,
    ),
    "attention": StimulusLayout(
        conflict.PARTS,
        ("congruence",),
        _conflict,
        _guess_steps,
        guess_cells=conflict.guessed_parts,
    ),
    "estimation": StimulusLayout(
        {
            "points_x": f"places of the points that are seen, a list of 2 to {MOST_POINTS} columns; cells may be empty",
            "points_y": "their heights, likewise",
            "query": "column: the place asked for",
            "x_range": "two numbers: what stands for -1 and 1 of places in the file",
            "y_range": "likewise of heights and answers",
        },
        ("points_x", "points_y", "query"),
        _points,
        _guess_points,
        ragged=("points_x", "points_y"),
    ),
    "public_goods": StimulusLayout(
        group_game.PARTS, group_game.NEEDED, _gifts, group_game.guessed_parts
    ),
    "learning": StimulusLayout(
        {
            "options": "number of options",
            "stage": "column: 0 for a first or only stage, 1 for the second",
            "block_start": "column: 1 where a new game begins",
        },
        (),
        _steps,
        _guess_steps,
    ),
}
"""By the name of the domain."""
