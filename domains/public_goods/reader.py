"""Trials of `public_goods` from rows of a file: what each member of a group gave, and what all knew before.

A row is one person's gift in one round. What a person knew before it is read off the group's rows of the round before:
so all rows of a group must be in the file, and in each game a person's rounds begin with 1 and leave none out.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from lakatos.domains.public_goods.task import ENDOWMENT, SANCTIONS, SCALE, situations
from lakatos.experiments.adoption.layouts import NeededParts, Reading, StimulusLayout
from lakatos.experiments.adoption.left_out import RowsLeftOut
from lakatos.experiments.adoption.mapping import AnswerColumns
from lakatos.experiments.adoption.names import words_of
from lakatos.experiments.adoption.row_cells import RowCells
from lakatos.experiments.adoption.row_words import rows_named
from lakatos.experiments.adoption.signatures import NEARLY_ALL, SCHEDULES, TableSignature
from lakatos.experiments.adoption.tables import distinct_rows, numbers_of, places_of
from lakatos.experiments.errors import TrialsError
from lakatos.experiments.task import Stimuli

Array = NDArray[Any]
PARTS: Mapping[str, str] = {
    "group": "column: who plays together; another game of the same people is another group",
    "round": "column: number of the round, from 1",
    "group_size": "people in a group when its game begins: a number, or a column",
    "multiplier": "by which the fund is multiplied before it is shared: a number, or a column",
    "endowment": f"coins that everybody has in each round, {ENDOWMENT} if left out: a number",
    "n_rounds": "rounds of a game, where people are told: a number, or a column",
    "all_or_nothing": "1 where only all coins or none may be given: a number, or a column",
    "starts_in_fund": "1 where the coins lie in the public fund to begin with: a number, or a column",
    "talk": "1 where people can talk to one another: a number, or a column",
    "deduction_cost": "coins that a deduction costs: a number, or a column",
    "deduction_effect": "coins that a deduction takes away: a number, or a column",
    "reward_cost": "coins that a reward costs: a number, or a column",
    "reward_effect": "coins that a reward brings: a number, or a column",
    "deducted": "column: coins that others took away from this person after this round's gifts",
    "rewarded": "column: likewise coins that others' rewards brought",
    "gain": "column: coins that this person gained or lost in this round in all; computed from gifts if left out",
}
"""Parts of a trial, for people to read."""
NEEDED = ("group", "round", "group_size", "multiplier")
RULES = ("multiplier", "starts_in_fund", "talk", *SANCTIONS)
"""Parts that are numbers of a trial as they stand."""
GROUPS, ROUNDS = {"group", "team", "groupid"}, {"round", "period", "roundid"}
GIFTS = {"contribution", "contributed", "gift", "contrib", "given"}
"""Words of names of columns."""


@dataclass(frozen=True)
class GiftRows:
    """Rows of a file, ``(n_rows,)`` each; money in endowments."""

    participant: Array
    group: Array
    """Number of the group."""
    round: Array
    gift: Array
    gain: Array
    """Gain of the participant in the round."""
    deducted: Array
    rewarded: Array

    def known(self) -> tuple[dict[str, Array], Array]:
        """Return each person's knowledge of the rounds before, by the domain's numbers; and who is left in the group.

        Returns:
            The numbers that tell of the past, and ``(n_rows,)`` members who gave in the round before (in the first
            round: who give now).
        """
        rows_of: dict[tuple[int, int], list[int]] = {}
        row_of: dict[tuple[int, int, int], int] = {}
        for row, key in enumerate(
            zip(self.group.tolist(), self.round.tolist(), self.participant.tolist(), strict=True)
        ):
            rows_of.setdefault(key[:2], []).append(row)
            row_of[key] = row
        names = (
            "own", "own_average", "others", "others_lowest", "others_highest", "deducted", "rewarded", "ahead",
        )  # fmt: skip
        known = {name: np.zeros(len(self.gift)) for name in names}
        n_members = np.array(
            [
                len(rows_of[key])
                for key in zip(self.group.tolist(), self.round.tolist(), strict=True)
            ]
        )
        given = np.zeros(len(self.gift))
        # Rows by round, so that what was given until the round before is known when a row is looked at.
        for row in np.argsort(self.round, kind="stable").tolist():
            group, number, person = (
                int(self.group[row]),
                int(self.round[row]),
                int(self.participant[row]),
            )
            given[row] = self.gift[row]
            if number == 1:
                continue
            last = row_of[group, number - 1, person]
            others = [item for item in rows_of[group, number - 1] if item != last]
            given[row] += given[last]
            n_members[row] = 1 + len(others)
            known["own"][row] = self.gift[last]
            known["own_average"][row] = round(given[last] / (number - 1), 6)
            known["deducted"][row], known["rewarded"][row] = (
                self.deducted[last],
                self.rewarded[last],
            )
            if others:
                theirs = self.gift[others]
                known["others"][row] = round(float(theirs.mean()), 6)
                known["others_lowest"][row], known["others_highest"][row] = (
                    theirs.min(),
                    theirs.max(),
                )
                known["ahead"][row] = round(float(self.gain[last] - self.gain[others].mean()), 4)
        return known, n_members


def gift_answers(
    cells: RowCells,
    columns: AnswerColumns,
    participant: Array,
    notes: list[str],
    left_out: RowsLeftOut,
) -> tuple[Stimuli, Array, Array, Array]:
    """Gifts with what was known before them.

    Returns:
        Distinct trials; and of each gift the trial, the outcome, and the place of its row. Gifts of people whose group
        has left them alone are left out.

    Raises:
        RowsWrongError: A cell cannot be read, or a gift is more than there is.
        TrialsError: Rows of a group are missing, so that nobody knows what its members knew.
    """
    parts = columns.stimulus
    numbers = {
        name: _numbers(cells, parts[name]) for name in parts if name not in ("group", "endowment")
    }
    coins = _endowment(parts)
    if "endowment" not in parts:
        _check_assumed_endowment(cells, columns, notes)
    gift = _gifts(cells, columns, coins, numbers.get("all_or_nothing"), notes)
    group = pd.factorize(pd.Series(cells.text(str(parts["group"]))))[0].astype(np.int64)
    cells.refuse_empty(cells.text(str(parts["group"])) == "", str(parts["group"]))
    number = numbers["round"]
    _check_whole_games(cells, columns, participant, group, numbers)
    nothing = np.zeros(len(gift))
    rows = GiftRows(
        participant, group, number.astype(np.int64), gift,
        gain=_gains(numbers, coins, group, number, gift),
        deducted=numbers.get("deducted", nothing) / coins,
        rewarded=numbers.get("rewarded", nothing) / coins,
    )  # fmt: skip
    known, n_members = rows.known()
    n_rounds = numbers.get("n_rounds", nothing)
    shown = {
        **{name: numbers.get(name, nothing) for name in RULES},
        **known,
        "round": number,
        "end_known": 1.0 * (n_rounds > 0),
        "rounds_left": np.maximum(n_rounds - number, 0) * (n_rounds > 0),
        "group_size": np.where(number == 1, numbers["group_size"], n_members),
        "all_or_nothing": 1.0 * (numbers.get("all_or_nothing", nothing) == 1),
    }
    kept = np.flatnonzero(n_members > 1)
    alone = np.flatnonzero(n_members <= 1)
    left_out.add(
        "the group had left this person alone", cells.frame.iloc[alone], cells.row_numbers(alone)
    )
    if not len(kept):
        raise TrialsError(
            f"{cells.name}: nobody was in a group with others. Say which column names groups: --column group=COLUMN."
        )
    first, which = distinct_rows(*(values[kept] for values in shown.values()))
    distinct = {name: values[kept][first] for name, values in shown.items()}
    stimuli = situations(distinct, distinct["all_or_nothing"] == 1)
    return (
        stimuli,
        which,
        SCALE.outcomes_of(np.rint(ENDOWMENT * gift[kept]).tolist()),
        kept,
    )


def _numbers(cells: RowCells, value: Any) -> Array:
    """A number for each row: from a column, or the same for all."""
    if isinstance(value, str):
        return cells.numbers(value)
    if not isinstance(value, int | float):
        raise TrialsError(
            f"{value!r} is neither a column nor a number; say --column PART=COLUMN "
            "(participants.columns.stimulus)."
        )
    return np.full(len(cells.frame), float(value))


def _endowment(parts: Mapping[str, Any]) -> float:
    coins = parts.get("endowment", ENDOWMENT)
    if isinstance(coins, bool) or not isinstance(coins, int | float) or coins <= 0:
        raise TrialsError(
            f"endowment is {coins!r}; give the number of coins that everybody has: --column endowment=20 "
            "(participants.columns.stimulus.endowment)."
        )
    return float(coins)


MANY_GIFTS = 20
"""Gifts of which one is likely to be above half of all coins."""


def _check_assumed_endowment(cells: RowCells, columns: AnswerColumns, notes: list[str]) -> None:
    """Note the number of coins that is assumed, as no column says it.

    Raises:
        TrialsError: A column's name says that it holds another number; or of many gifts none is above half of it, so
            that everybody seems to have had fewer coins.
    """
    _check_unread_endowment(cells, columns.response)
    gifts = cells.numbers(columns.response)
    largest = float(gifts.max())
    if len(gifts) >= MANY_GIFTS and 0 < largest <= ENDOWMENT / 2:
        raise TrialsError(
            f"{cells.name}: nobody gave more than {largest:g} ({columns.response}), and nothing says how many coins "
            f"everybody had in each round: --column endowment={largest:g}, or endowment={ENDOWMENT} if it was that "
            "many (participants.columns.stimulus.endowment)."
        )
    notes.append(
        f"everybody is taken to have {ENDOWMENT} coins in each round, of which {largest:g} were given at most; "
        "--column endowment=COINS says another number"
    )


def _check_unread_endowment(cells: RowCells, response: str) -> None:
    for column in map(str, cells.frame.columns):
        if "endowment" not in words_of(column) or column == response:
            continue
        distinct = sorted(set(numbers_of(cells.frame[column]).dropna()))
        if len(distinct) == 1 and distinct[0] != ENDOWMENT:
            raise TrialsError(
                f"{cells.name}: {column} says {distinct[0]:g}, and {ENDOWMENT} coins in each round are assumed. Say "
                f"how many everybody had: --column endowment={distinct[0]:g} or --column endowment={ENDOWMENT} "
                "(participants.columns.stimulus.endowment)."
            )
        if len(distinct) > 1:
            raise TrialsError(
                f"{cells.name}: {column} says {distinct[0]:g} to {distinct[-1]:g}, and all rows must have one number "
                f"of coins. Read one kind of rows: --column where.{column}={distinct[0]:g} --column "
                f"endowment={distinct[0]:g} (participants.columns.where and participants.columns.stimulus.endowment)."
            )


def _gifts(
    cells: RowCells,
    columns: AnswerColumns,
    coins: float,
    all_or_nothing: Array | None,
    notes: list[str],
) -> Array:
    """``(n_rows,)`` shares of the endowment that were given, rounded to one of the domain's outcomes."""
    given = cells.numbers(columns.response)
    cells.refuse(
        (given < 0) | (given > coins), columns.response,
        f"is not from 0 to {coins:g}; --column endowment=COINS says how many coins everybody has",
    )  # fmt: skip
    if all_or_nothing is not None:
        partly = (all_or_nothing == 1) & (given != 0) & (given != coins)
        cells.refuse(
            partly,
            columns.response,
            "is neither all coins nor none, which all_or_nothing says (--column all_or_nothing=COLUMN)",
        )
    exact = ENDOWMENT * given / coins
    rounded = np.rint(exact)
    if moved := int((np.abs(rounded - exact) > 1e-9).sum()):
        notes.append(
            f"{columns.response}: {moved:,} of {len(given):,} gifts are rounded to one of {ENDOWMENT} parts of "
            f"{coins:g} coins, by {np.abs(rounded - exact).max() / ENDOWMENT * coins:.3g} coins at most"
        )
    return np.asarray(rounded / ENDOWMENT)


def _check_whole_games(
    cells: RowCells,
    columns: AnswerColumns,
    participant: Array,
    group: Array,
    numbers: Mapping[str, Array],
) -> None:
    """Refuse games of which rows are missing: what somebody knew would be told wrongly."""
    parts, number = columns.stimulus, numbers["round"]
    cells.refuse(
        (number < 1) | (number != np.round(number)),
        str(parts["round"]),
        "is no whole number from 1; --column round=COLUMN says which column numbers rounds",
    )
    lonely = numbers["group_size"] < 2
    if lonely.any():
        raise TrialsError(
            f"{cells.name}: {rows_named(cells.row_numbers(lonely))}: group_size is "
            f"{numbers['group_size'][lonely][0]:g}, below 2; a group has "
            "others in it. Say --column group_size=COLUMN, or =NUMBER."
        )
    keys = pd.DataFrame({"who": participant, "group": group, "round": number})
    twice = keys.duplicated().to_numpy()
    if twice.any():
        raise TrialsError(
            f"{cells.name}: {rows_named(cells.row_numbers(twice))}: this person has given in this round of "
            f"this group before. Leave games of practice out (--column where.COLUMN=CELL); where numbers of people "
            "or groups begin anew, as in each session, say --column experiment=COLUMN. Where a row is a pair of "
            "participants, write a file with one row for each gift."
        )
    games = keys.groupby(["who", "group"])["round"]
    holes = (games.transform("max") != games.transform("count")).to_numpy()
    if holes.any():
        raise TrialsError(
            f"{cells.name}: {rows_named(cells.row_numbers(holes))}: of this person's rounds some are "
            "missing between the first and the last (or are left out, as they cannot be read), so that "
            "nobody knows what the group knew. Give all rows of a game, or leave the whole group out (--column "
            f"where.{parts['group']}=...)."
        )
    first = number == 1
    size = pd.Series(group[first]).groupby(group[first]).transform("count").to_numpy()
    wrong = np.flatnonzero(size != numbers["group_size"][first])
    if len(wrong):
        rows = np.flatnonzero(first)[wrong]
        anew = [
            name
            for name in map(str, cells.frame.columns)
            for own in [places_of(group, cells.text(name))[first]]
            if name != columns.participant
            and places_of(participant, cells.text(name)).max() == participant.max()
            and (np.bincount(own)[own] == numbers["group_size"][first]).all()
        ]
        way = (
            f"Groups begin anew with {anew[0]}: say --column experiment={anew[0]}."
            if anew
            else f"Give all rows of a group, or leave the whole group out (--column where.{parts['group']}=...)."
        )
        raise TrialsError(
            f"{cells.name}: {rows_named(cells.row_numbers(rows))}: {size[wrong[0]]} people of this group have a first "
            f"round, and group_size says {numbers['group_size'][rows[0]]:g}. {way}"
        )


def _gains(
    numbers: Mapping[str, Array], coins: float, group: Array, number: Array, gift: Array
) -> Array:
    """``(n_rows,)`` what each person gained in the round, in endowments: as told, else from gifts and sanctions."""
    if "gain" in numbers:
        return np.asarray(numbers["gain"] / coins)
    share = pd.Series(gift).groupby([group, number]).transform("mean").to_numpy()
    gain = 1 - gift + numbers["multiplier"] * share
    gain = (
        gain
        - numbers.get("deducted", np.zeros(1)) / coins
        + numbers.get("rewarded", np.zeros(1)) / coins
    )
    return np.asarray(gain)


def guessed_parts(names: Sequence[str]) -> dict[str, Any]:
    """Parts that names of columns suggest; none without a group, a round and a gift."""
    words = {name: set(words_of(name)) for name in names}

    def named(kind: set[str]) -> str:
        return next(
            (
                name
                for name, own_words in words.items()
                if own_words & kind and "size" not in own_words
            ),
            "",
        )

    own = {name: name_words for name, name_words in words.items() if not MEMBER.search(name)}
    group = next(
        (
            name
            for name, name_words in own.items()
            if name_words & GROUPS and not name_words & NO_GROUP
        ),
        "",
    )
    number = named(ROUNDS)
    gifts = [
        name
        for name, name_words in words.items()
        if name_words & GIFTS and not name_words & OF_TIME
    ]
    if not (group and number and gifts):
        return {}
    size = next(
        (
            name
            for name, name_words in words.items()
            if "size" in name_words and name_words & GROUPS
        ),
        "?",
    )
    multiplier = next(
        (name for name, name_words in words.items() if "multiplier" in name_words), "?"
    )
    return {"group": group, "round": number, "group_size": size, "multiplier": multiplier}


MEMBER = re.compile(r"in[_. ]?(group|team)$", re.IGNORECASE)
"""The end of names of columns that number the members of a group, such as ``id_in_group``."""
NO_GROUP = {"size", "total", "sum", "average", "mean", "share", "individual", "others"}
"""Words in names of columns that say something of a group."""
GAINED = {"payoff", "gain", "earnings", "earned", "profit", "income", "payout"}
"""Words in names of columns of what a participant gained in a round."""


def recognise(table: TableSignature) -> Reading | None:
    """Read the size of groups from their rows, and multiplier and coins from sums of gifts and gains.

    What a participant gains is what is kept, and an equal share of the multiplied gifts of the group.
    """
    found = guessed_parts(list(table.columns))
    names = [found.get("group", ""), found.get("round", "")]
    gifts = [
        item for item in table.numbers() if item.words & GIFTS and not item.words & (SUMS | OF_TIME)
    ]
    if len(gifts) != 1 or not all(name in table.columns for name in names):
        return None
    parts = [n for n, own in table.columns.items() if own.words & {*SCHEDULES, "treatment"}]
    number = pd.to_numeric(pd.Series(table.columns[names[1]].cells), errors="coerce")
    parts = [n for n in parts if _has_whole_games(number, table.person, table.columns[n].cells)]
    group = places_of(*(table.columns[name].cells for name in dict.fromkeys([*names, *parts])))
    sizes = np.bincount(group)
    size = int(np.median(sizes))
    if size < 2 or (sizes == size).mean() < NEARLY_ALL:
        return None
    summed = [item for item in table.numbers() if item.words & GROUPS and item.words & SUMS_OF_ALL]
    ends = [pd.Series(item.values).groupby(group).agg(["min", "max"]).dropna() for item in summed]
    if any((own["min"] == own["max"]).mean() < NEARLY_ALL for own in ends):
        return None  # these are the groups of something else
    gift, notes = gifts[0], [f"groups have {size} people, as rows of a group and a round say"]
    stimulus: dict[str, Any] = {**found, "group_size": size}
    total = np.bincount(group, np.nan_to_num(gift.values))[group]
    for gain in [item for item in table.numbers() if item.words & GAINED]:
        known = np.isfinite(gain.values)
        kept = (gain.values + gift.values)[known]
        if np.ptp(total[known]) == 0:
            continue
        slope, coins = np.polyfit(total[known], kept, 1)
        error = np.abs(kept - slope * total[known] - coins).max()
        if error > LARGEST_ROUNDING or not slope > 0 or coins <= 0:
            continue
        stimulus |= {
            "multiplier": round(float(slope) * size, 3),
            "endowment": round(float(coins), 2),
        }
        notes.append(
            f"{gain.name} is {coins:.4g} coins, less the gift, and the group's gifts times {slope * size:.4g} in equal "
            "shares"
        )
        break
    return Reading(stimulus, response=gift.name, notes=tuple(notes))


def _has_whole_games(number: pd.Series, person: Array, part: Array) -> bool:
    """Whether participants play nearly all games, from the first round on, within one part of a study."""
    games = number.groupby(places_of(person, part))
    whole = games.nunique() == games.max() - number.min() + 1
    return bool(whole.mean() >= NEARLY_ALL)


SUMS = {"total", "sum", "group", "average", "mean", "others"}
OF_TIME = {"time", "ok", "rt", "latency", "seconds"}
"""Words in names of columns of times, such as those when a gift was confirmed."""
SUMS_OF_ALL = {"total", "sum"}
LARGEST_ROUNDING = 0.06
"""Coins by which gains are rounded at most."""
INPUTS = {
    "starts_in_fund": ("where coins lie to begin with", "whether people leave them there"),
    "talk": ("whether people could talk", "effects of talk"),
    "deductions": ("what a deduction takes away", "fear of deductions"),
    "rewards": ("what a reward brings", "hopes of rewards"),
    "deducted": ("who lost coins to others", "reactions to deductions"),
    "rewarded": ("who was rewarded", "reactions to rewards"),
    "n_rounds": ("how many rounds a game has", "effects of a known end"),
}
"""Parts that some theories need: what each shows, and what is not considered without it."""
SAID_BY = {"deductions": "deduction_effect", "rewards": "reward_effect"}
"""Parts of these that have another name."""
LAYOUT = StimulusLayout(
    PARTS,
    NEEDED,
    None,
    guessed_parts,
    recognise=recognise,
    kind="gifts to a common fund",
    guess_rank=7,
    from_rows=gift_answers,
    properties=lambda stimuli: {
        name.replace("_", " "): stimuli[name] for name in ("round", "group_size", "multiplier")
    },
    inputs={
        name: NeededParts((SAID_BY.get(name, name),), said, told)
        for name, (said, told) in INPUTS.items()
    },
)
"""The trials of this kind of task as columns; they are made from the gifts of whole groups."""
