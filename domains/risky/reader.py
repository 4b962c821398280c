"""How files of this kind of task look, and how they are read."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from lakatos.domains.risky.space import TOLERANCE, dominance, pairs
from lakatos.experiments.adoption.layouts import (
    AMOUNTS,
    CHANCES,
    Reading,
    StimulusLayout,
    as_table,
    by_side,
    number_in,
    words_and_sides,
)
from lakatos.experiments.adoption.names import words_of
from lakatos.experiments.adoption.option_code import ACCEPT, REJECT
from lakatos.experiments.adoption.recognised import accepts, completed
from lakatos.experiments.adoption.signatures import (
    ITEMS,
    NEARLY_ALL,
    PARTS_OF_NAMES,
    ColumnSignature,
    TableSignature,
    counterparts,
    counts_choices,
    is_below,
    is_clock,
    is_function_of,
    is_not_above,
    is_one_to_one,
    named_amounts,
)
from lakatos.experiments.errors import StimuliError, TrialsError
from lakatos.experiments.task import Stimuli

Array = NDArray[np.float64]

HIGH_LOW = ("h", "l")
"""Words for the high and the low amount of a gamble."""
MOST_CODES = 3
"""Different cells of a column of choices between two options, with those of missing ones."""


def _guess_gambles(names: Sequence[str]) -> dict[str, Any]:
    """Amounts and chances of two gambles, named by the same two words; each amount but the last needs its chance."""
    found = words_and_sides(names, AMOUNTS)
    if found is None:
        return {}
    pair, amounts = found
    chances = by_side(names, CHANCES, [pair])
    if chances is None:
        return {}
    for side, own_amounts, own_chances in zip(pair, amounts, chances, strict=True):
        places, of = (
            [number_in(words_of(name), side) for name in own] for own in (own_amounts, own_chances)
        )
        if of not in (places, places[:-1], [0] * (len(places) - 1)):
            return {}
        if any(_is_of_rest(*pair) for pair in zip(own_chances, own_amounts, strict=False)):
            return {}  # `recognise` reads it as the chance of what the amounts leave
    for own_amounts, own_chances in zip(amounts, chances, strict=True):
        _as_chances_stand(own_amounts, own_chances)
    return {
        "a_amounts": amounts[0], "a_probabilities": chances[0],
        "b_amounts": amounts[1], "b_probabilities": chances[1],
    }  # fmt: skip


def _is_of_rest(chance: str, amount: str) -> bool:
    """Whether a chance is called that of losing, or of nothing, and the amount beside it is not."""
    words = LOSSES | NOT_WON
    return bool(set(words_of(chance)) & words) and not set(words_of(amount)) & words


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
    """Compute how much more the second gamble pays on average, as a share of what is at stake."""
    outcomes, probabilities = stimuli["outcomes"], stimuli["probabilities"]
    mean = (outcomes * probabilities).sum(axis=-1)
    stake = np.ptp(outcomes, axis=(1, 2))
    return np.asarray((mean[:, 1] - mean[:, 0]) / np.maximum(stake, 1e-9))


NOT_WON = {
    "lost", "losing", "nothing", "zero", "none", "no", "not", "fail", "failure", "miss", "blank", "nichts", "niete",
    "rien", "nada", "niets", "niente",
}  # fmt: skip
GAINS, LOSSES, SURE = (
    {"gain", "gains", "win"},
    {"loss", "losses", "lose"},
    {"cert", "certain", "sure", "safe"},
)
"""Words of names of columns of a gamble between a gain and a loss, and of what is sure instead."""
CHOICES = {"choice", "choose", "chosen", "response", "resp", "deck", "arm"}


def _is_accepting(responses: pd.Series) -> bool:
    """Whether cells say that an offer was accepted or rejected, in degrees such as ``weakly_accept``."""
    own_words = [set(words_of(str(cell))) for cell in responses.unique()]
    return all(any(words & kind for words in own_words) for kind in (ACCEPT, REJECT))


def _may_be_chance(cells: pd.Series) -> bool:
    """Whether a column's numbers are none that a probability or a percentage cannot be."""
    numbers = pd.to_numeric(cells, errors="coerce").dropna()
    return bool(numbers.between(0, 100).all())


def _guess_mixed(frame: pd.DataFrame) -> dict[str, Any]:
    """Columns of a gamble as in ``gain`` and ``loss``, each with an even chance, against what is sure or nothing."""
    words = {str(name): set(words_of(str(name))) for name in frame.columns}
    gain, loss, sure = (_called(words, kind) for kind in (GAINS, LOSSES, SURE))
    named = [name for name, own_words in words.items() if own_words & set(CHANCES)]
    if len(gain) != 1 or len(loss) != 1 or any(_may_be_chance(frame[name]) for name in named):
        return {}
    chosen = [frame[name] for name, own_words in words.items() if own_words & CHOICES]
    few = [cells for cells in chosen if cells.nunique() <= MOST_CODES or _is_accepting(cells)]
    if chosen and not few:
        return {}  # more than two options
    is_positive = (pd.to_numeric(frame[loss[0]], errors="coerce").dropna() > 0).any()
    lost = f"-{loss[0]}" if is_positive else loss[0]
    return {
        "a_amounts": sure[:1] or [0], "a_probabilities": [1],
        "b_amounts": [gain[0], lost], "b_probabilities": [0.5, 0.5],
    }  # fmt: skip


def _called(words: Mapping[str, set[str]], kind: set[str]) -> list[str]:
    """Columns in whose names one of some words stands; the only one that has no other word, where there is one."""
    named = [name for name, own_words in words.items() if own_words & kind]
    alone = [name for name in named if words[name] <= kind]
    return alone if len(alone) == 1 else named


def _guess_cells(frame: pd.DataFrame) -> dict[str, Any]:
    found = _guess_gambles([str(name) for name in frame.columns])
    for side in "ab" if found else "":
        amounts, chances = found[f"{side}_amounts"], found[f"{side}_probabilities"]
        is_one = len(amounts) == len(chances) == 1
        if is_one and not _is_certain(frame[chances[0]]):
            return {}  # what the rest pays is found, and said, by `recognise`
    return found or _guess_mixed(frame)


def _is_certain(cells: pd.Series) -> bool:
    """Whether each cell of a column of chances is 1, or 100 per cent."""
    return bool((ColumnSignature("", cells.astype(str).str.strip()).values == 1).all())


CHANCE_WORDS = {*CHANCES, "pct", "percent", "prozent", "odds"}
SURE_WORDS = {*SURE, "fixed", "guaranteed"}
LOW_WORDS = {"low", "lo", "min", "small", "worst", "lose", "loss"}
NOT_HERE = {"ambiguity", "ambig", "ambiguous", "effort", "distance"}
"""Words in names of columns of what plain gambles do not have."""
NO_MONEY = {
    *NOT_HERE, "level", "contrast", "coherence", "angle", "onset", "duration", "latency", "delay",
    "days", "weeks", "months", "rt", "time", "ev", "id", "number", "nr", "age", "score", "correct",
}  # fmt: skip
"""Words in names of columns."""
SUM_OF_SHARES = (1.0, 100.0)


@dataclass(frozen=True)
class _Option:
    """The columns of one gamble."""

    amounts: tuple[ColumnSignature, ...]
    chances: tuple[ColumnSignature, ...]

    def matched(self) -> tuple[list[str | int], list[str | int]] | None:
        """Its amounts with their chances; None where columns do not say which chance is whose."""
        amounts, chances = list(self.amounts), list(self.chances)
        if not chances:
            return ([amounts[0].name], [1]) if len(amounts) == 1 else None
        if len(chances) > len(amounts):
            return None
        own = _chances_of(amounts, chances)
        if own is None:
            return None
        of = {chance: amount for amount, chance in own.items()}
        by_name = {item.name: _as_share(item, of[item.name]) for item in chances}
        first = [item for item in amounts if item.name in own]
        rest = [item for item in amounts if item.name not in own]
        total = np.sum([chance.values for chance in chances], axis=0)
        adds_up = bool(
            np.isclose(total[:, None], SUM_OF_SHARES, atol=1e-6).any(axis=1).mean() > 0.9
        )
        if not rest and not adds_up and len(first) > 1:
            return None
        if not rest and not adds_up:
            return [*(item.name for item in first), 0], [by_name[own[item.name]] for item in first]
        if len(rest) > 1 or (rest and adds_up and len(chances) > 1):
            return None
        return [item.name for item in (*first, *rest)], [by_name[own[item.name]] for item in first]


def _as_share(chance: ColumnSignature, amount: str) -> str:
    """The chance of an amount as a share of one: what a column of chances leaves, where it is that of the rest."""
    share = chance.name if chance.between(0, 1) else f"{chance.name} / 100"
    return f"1 - {share}" if _is_of_rest(chance.name, amount) else share


def _chances_of(
    amounts: Sequence[ColumnSignature], chances: Sequence[ColumnSignature]
) -> dict[str, str] | None:
    """The chance of each amount that has one, by the words that both names share; None where that is not clear."""
    parts = {item.name: set(_letters(item.name)) for item in (*amounts, *chances)}
    found: dict[str, str] = {}
    for chance in chances:
        shared = {item.name: _likeness(item.name, chance.name, parts) for item in amounts}
        best = max(shared.values())
        nearest = [name for name, likeness in shared.items() if likeness == best]
        if len(nearest) > 1 and len(chances) == 1:
            nearest = _higher(amounts)
        if len(nearest) != 1 or nearest[0] in found:
            return None
        found[nearest[0]] = chance.name
    return found


def _letters(name: str) -> list[str]:
    return [part.casefold() for part in PARTS_OF_NAMES.findall(name)]


def _likeness(amount: str, chance: str, parts: Mapping[str, set[str]]) -> float:
    """Count how much of the name of an amount stands in that of a chance."""
    plain = re.sub(r"[^a-z0-9]", "", chance.casefold())
    bare = re.sub(r"^(probability|prob|pr|p)|(probability|prob|pr|p)$", "", plain)
    if bare and bare == re.sub(r"[^a-z0-9]", "", amount.casefold()):
        return 10.0
    return float(len(parts[amount] & parts[chance]))


def _higher(amounts: Sequence[ColumnSignature]) -> list[str]:
    """The amount that is never below the other ones: a single chance is usually that of the best amount."""
    return [
        item.name
        for item in amounts
        if all(is_not_above(other.values, item.values) for other in amounts)
    ]


def recognise(table: TableSignature) -> Reading | None:
    """Two gambles, whose columns differ by the word for the option; or a gamble between a gain and a loss.

    Numbers that are the same in all rows may be those of an option, where the others are not enough.
    """
    if any(item.words & CHANCE_WORDS for item in table.constants()):
        return _recognised(table, [*table.numbers(), *table.constants()])
    found = _recognised(table, table.numbers())
    found = found or _recognised(table, [*table.numbers(), *table.constants()])
    numbers = table.numbers()
    drawn = [item for item in numbers if _is_drawn(item, numbers)]
    if found or not drawn:
        return found
    found = _recognised(table, [item for item in numbers if item not in drawn])
    names = ", ".join(item.name for item in drawn)
    note = (
        f"{names}: taken for what came of the gambles, since each row repeats one of their amounts"
    )
    return found and replace(found, notes=(*found.notes, note))


def _is_drawn(item: ColumnSignature, numbers: Sequence[ColumnSignature]) -> bool:
    """Whether a column repeats one of several others in each row, as what came of gambles does, and follows from none.

    The same columns beside it go with different numbers in it where gambles were played several times.
    """
    if any(is_function_of(item, other) for other in numbers if other is not item):
        return False
    same = [item.values == other.values for other in numbers if other is not item]
    shares = [own.mean() for own in same]
    is_any = np.any(same, axis=0) if same else np.zeros(1, dtype=bool)
    return bool(is_any.mean() >= NEARLY_ALL) and max(shares, default=1.0) < NEARLY_ALL


def _recognised(table: TableSignature, columns: Sequence[ColumnSignature]) -> Reading | None:
    numbers = [item for item in columns if not item.words & NO_MONEY]
    if any(item.words & NOT_HERE for item in table.numbers()):
        return None
    numbers = [item for item in numbers if item.name != table.response]
    numbers = [
        item for item in numbers if item.words & CHANCE_WORDS or not is_clock(item, table.person)
    ]
    chances = _chance_columns(numbers)
    amounts = [
        item
        for item in numbers
        if item not in chances and not _is_code(item) and not _numbers_chances(item, chances)
        if not counts_choices(item, table.person)
    ]
    amounts = named_amounts(amounts, chances)
    if not chances:
        return _recognised_mixed(table, amounts)
    if mixed := _mixed_with_chance(table, amounts, chances):
        return mixed
    found = _by_counterparts(amounts, chances) or _with_sure_amount(amounts, chances)
    if found is None:
        return None
    sides, options = found
    matched = [option.matched() for option in options]
    if None in matched or _dominates(*options):
        return None
    (a_amounts, a_chances), (b_amounts, b_chances) = (item for item in matched if item)
    shown = [item.name for option in options for item in (*option.amounts, *option.chances)]
    if set(shown) != {item.name for item in (*amounts, *chances)}:
        return None
    stimulus = {
        "a_amounts": a_amounts, "a_probabilities": a_chances,
        "b_amounts": b_amounts, "b_probabilities": b_chances,
    }  # fmt: skip
    notes = [
        f"{chance.name}: taken for the probability of {_what_else(chance, found)}"
        for chance in chances
        for found in [_amounts_with(chance, matched)]
        if len(chances) == 1 and found
    ]
    notes += [
        f"{amounts[0]}: taken to be won with the probability {own[0]}, and nothing otherwise"
        for amounts, own in (item for item in matched if item)
        if amounts[1:] == [0]
    ]
    return Reading(stimulus, tuple(dict.fromkeys(shown)), sides, notes=tuple(dict.fromkeys(notes)))


def _what_else(chance: ColumnSignature, amounts: Sequence[str]) -> str:
    """The amounts of a chance, or that it is the chance of anything else."""
    words = " and ".join(amounts)
    return f"not winning {words}" if _is_of_rest(chance.name, amounts[0]) else words


def _amounts_with(chance: ColumnSignature, matched: Sequence[Any]) -> list[str]:
    """Amounts that a column of chances is read beside."""
    return [
        str(amount)
        for amounts, chances in matched
        for amount, own in zip(amounts, chances, strict=False)
        if str(own).removeprefix("1 - ").split(" / ")[0] == chance.name
    ]


def _chance_columns(numbers: Sequence[ColumnSignature]) -> list[ColumnSignature]:
    """Columns of probabilities: by their names or sums and those that are called likewise, else shares of one."""
    named = [item for item in numbers if _is_named_chance(item, numbers)]
    if named:
        own = [item.name for item in named]
        groups = counterparts([item.name for item in numbers]).values()
        alike = {
            name for group in groups for pair in group if set(pair) & set(own) for name in pair
        }
        fits = [item for item in numbers if item.name in alike and item.between(0, 1)]
        return [
            *named,
            *(item for item in fits if item not in named and not item.words & {*AMOUNTS}),
        ]
    return [
        item
        for item in numbers
        if len(item.distinct) > 1
        and item.between(0, 1)
        and bool(((item.values > 0) & (item.values < 1)).any())
    ]


def _is_named_chance(item: ColumnSignature, numbers: Sequence[ColumnSignature]) -> bool:
    """Whether a column's name, or its sum with another one, says that it holds probabilities."""
    if not item.between(0, 100):
        return False
    if item.words & CHANCE_WORDS:
        return True
    if any(
        np.isclose(item.values + other.values, 1).all() for other in numbers if other is not item
    ):
        return True
    names = {other.name.casefold() for other in numbers}
    if item.name.casefold()[:1] == "p" and item.name.casefold()[1:].lstrip("_. ") in names:
        return True
    return any(
        bool((item.values + other.values == 100).all()) for other in numbers if other is not item
    )


def _numbers_chances(item: ColumnSignature, chances: Sequence[ColumnSignature]) -> bool:
    """Whether a column counts the chances of a list of choices, as ``row`` does, and says nothing besides."""
    return bool(item.words & ITEMS) and any(is_one_to_one(item, chance) for chance in chances)


def _is_code(item: ColumnSignature) -> bool:
    """Whether numbers are codes of a response: a few whole ones from 0 or 1, or with a word for choices."""
    known = item.values[np.isfinite(item.values)]
    few = set(known.tolist()) <= {-1.0, 0.0, 1.0, 2.0, 3.0, 4.0, 9.0, 99.0}
    return len(item.distinct) > 1 and few and len(item.distinct) <= MOST_ANSWER_CODES


MOST_ANSWER_CODES = 5


def _by_counterparts(
    amounts: Sequence[ColumnSignature], chances: Sequence[ColumnSignature]
) -> tuple[tuple[str, str], tuple[_Option, _Option]] | None:
    """Two options by the words in which names of their columns differ; chances without a counterpart are shared."""
    by_name = {item.name: item for item in (*amounts, *chances)}
    for sides, alike in counterparts(list(by_name)).items():
        own = [[by_name[pair[place]] for pair in alike] for place in (0, 1)]
        left = [item for item in by_name.values() if item not in own[0] and item not in own[1]]
        if len({item.name for side in own for item in side}) != 2 * len(alike):
            continue
        for item in left:
            own_values = [side in _letters(item.name) for side in sides]
            if own_values[0] != own_values[1]:
                own[own_values.index(True)].append(item)
            elif item in chances:
                for side in own:
                    side.append(item)
            else:
                break
        else:
            options = [
                _Option(
                    tuple(item for item in side if item in amounts),
                    tuple(item for item in side if item in chances),
                )
                for side in own
            ]
            is_shared = any(item in own[0] and item in own[1] for item in left)
            if is_shared and all(len(option.amounts) == 1 for option in options):
                continue  # the chance is of one of them
            fine = all(option.amounts and option.matched() for option in options)
            if fine and not _dominates(*options):
                return sides, (options[0], options[1])
    return None


def _with_sure_amount(
    amounts: Sequence[ColumnSignature], chances: Sequence[ColumnSignature]
) -> tuple[tuple[str, str], tuple[_Option, _Option]] | None:
    """A sure amount against a gamble with one column of chances: the sure one has a word for it, or lies between."""
    if len(chances) != 1 or not 2 <= len(amounts) <= 3:
        return None
    named = [item for item in amounts if item.words & SURE_WORDS]
    sure = named if len(named) == 1 else _between(amounts)
    if len(sure) != 1:
        return None
    others = tuple(item for item in amounts if item is not sure[0])
    if any(item.between(0, 1) and not item.is_whole for item in others):
        return None  # more likely a share of something than an amount
    return ("sure", "gamble"), (_Option((sure[0],), ()), _Option(others, tuple(chances)))


def _between(amounts: Sequence[ColumnSignature]) -> list[ColumnSignature]:
    """Return the smaller of two amounts, or of three the one between the others, where this holds throughout."""
    if len(amounts) == 2:
        return [
            one for one, other in (amounts, amounts[::-1]) if is_below(one.values, other.values)
        ]
    return [
        item
        for item in amounts
        if len({_side(other, item) for other in amounts if other is not item} & {-1, 1}) == 2
    ]


def _side(other: ColumnSignature, item: ColumnSignature) -> int:
    """-1 where a column never lies above another one, 1 where never below it, 0 where neither."""
    if is_not_above(other.values, item.values):
        return -1
    return 1 if is_not_above(item.values, other.values) else 0


def _dominates(one: _Option, other: _Option) -> bool:
    """Whether every amount of one option lies above that of the other: these are outcomes, and no options."""
    both = list(zip(one.amounts, other.amounts, strict=False))
    same_chances = {item.name for item in one.chances} == {item.name for item in other.chances}
    if not same_chances or len(one.amounts) != len(other.amounts) or not one.chances:
        return False
    return all(is_below(a.values, b.values) for a, b in both) or all(
        is_below(b.values, a.values) for a, b in both
    )


def _mixed_with_chance(
    table: TableSignature, amounts: Sequence[ColumnSignature], chances: Sequence[ColumnSignature]
) -> Reading | None:
    """A gain with its chance, else a loss, against nothing."""
    sides = _gain_and_loss(amounts)
    if sides is None or len(chances) != 1:
        return None
    gain, loss, lost = sides
    is_of_loss = bool(chances[0].words & LOSSES)
    of = loss.name if is_of_loss else gain.name
    if not is_of_loss and _is_of_rest(chances[0].name, of):
        return None  # a third outcome, of which nothing says the other two chances
    chance = _as_share(chances[0], chances[0].name)
    stimulus = {
        "a_amounts": [0], "a_probabilities": [1],
        "b_amounts": [lost, gain.name] if is_of_loss else [gain.name, lost], "b_probabilities": [chance],
    }  # fmt: skip
    note = f"{chances[0].name} is taken for the probability of {of}, against nothing"
    shown = (gain.name, loss.name, chances[0].name)
    return _with_acceptance(table, Reading(stimulus, shown, notes=(note,)))


def _gain_and_loss(
    amounts: Sequence[ColumnSignature],
) -> tuple[ColumnSignature, ColumnSignature, str] | None:
    """A column of gains, one of losses by its sign or its name, and the loss as a negative number."""
    if len(amounts) != 2:
        return None
    gains = [item for item in amounts if item.between(0, np.inf)]
    losses = [item for item in amounts if item.between(-np.inf, 0)]
    named = [item for item in amounts if item.words & LOSSES]
    if len(gains) == 2 and len(named) == 1:
        losses, gains = named, [item for item in amounts if item is not named[0]]
    if len(gains) != 1 or len(losses) != 1 or losses[0] is gains[0]:
        return None
    loss = losses[0]
    lost = f"-{loss.name}" if loss.between(0, np.inf) else loss.name
    return gains[0], loss, lost


def _with_acceptance(table: TableSignature, reading: Reading) -> Reading:
    """The reading with which cell of the response takes the gamble, the second option."""
    reading = completed(table, reading)
    if reading.response not in table.columns:
        return reading
    column = table.columns[reading.response]
    missed = reading.missing.get(column.name, ())
    distinct_cells = [cell for cell in column.distinct if cell not in missed]
    return replace(reading, responses=accepts(column, distinct_cells))


def _recognised_mixed(table: TableSignature, amounts: Sequence[ColumnSignature]) -> Reading | None:
    """A gain and a loss, each with an even chance, against nothing: one column never below 0, the other never above."""
    sides = _gain_and_loss([item for item in amounts if len(item.distinct) > 1])
    if sides is None:
        return None
    gain, loss, lost = sides
    if (gain.values == 0).mean() > 0.2 or (loss.values == 0).mean() > 0.2:
        return None  # what was won and lost, where one of them is 0 in many rows
    stimulus = {
        "a_amounts": [0], "a_probabilities": [1],
        "b_amounts": [gain.name, lost], "b_probabilities": [0.5, 0.5],
    }  # fmt: skip
    note = (
        f"{gain.name} and {loss.name} are taken for a gamble with even chances, against nothing; for other chances, or "
        "another sure amount, give --column b_probabilities=... and --column a_amounts=..."
    )
    return _with_acceptance(table, Reading(stimulus, (gain.name, loss.name), notes=(note,)))


def _properties(stimuli: Stimuli) -> Mapping[str, Array]:
    """Return the properties by which gambles are compared."""
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
    recognise=recognise,
    kind="choices between two gambles",
    guess_rank=1,
    in_favour=_for_second,
    dominance=dominance,
    properties=_properties,
    always={"spread of outcomes": ("the safer one", "the riskier one")},
)
"""The trials of this kind of task as columns."""
