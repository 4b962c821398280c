"""Trials of `recognition` from rows of a file: which item was old, and what was responded with which confidence.

A file names the item (old or new, target or lure, signal or noise; numbers of which 0 is noise; or weak and strong
beside new). Responses are old and new, yes and no, ratings of a scale, or right and wrong; a column of confidence may
stand beside them. Categories are counted from "surely new".
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import permutations
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from lakatos.domains.kit.strengths import PLACE_OF, STRENGTHS, read_strengths
from lakatos.domains.kit.timed_rows import MOSTLY_RIGHT, judged_accuracy
from lakatos.domains.recognition.task import MOST, categories_of, recognition_trials
from lakatos.experiments.adoption.layouts import NeededParts, Reading, StimulusLayout
from lakatos.experiments.adoption.left_out import RowsLeftOut
from lakatos.experiments.adoption.mapping import AnswerColumns
from lakatos.experiments.adoption.names import ERRORS, column_option, words_of
from lakatos.experiments.adoption.plausible import (
    FEWEST,
    check_marks,
    question,
)
from lakatos.experiments.adoption.read_back import columns_not_read
from lakatos.experiments.adoption.reversed_people import question_reversed_people
from lakatos.experiments.adoption.row_cells import RowCells, read_part
from lakatos.experiments.adoption.signatures import (
    CLEAR,
    ColumnSignature,
    TableSignature,
    is_function_of,
)
from lakatos.experiments.adoption.tables import NUMBER, by_distinct, distinct_rows, numbers_of
from lakatos.experiments.adoption.timed_answers import (
    OF_RIGHT,
    folded,
    guessed_correctness,
)
from lakatos.experiments.errors import TrialsError
from lakatos.experiments.task import Stimuli
from lakatos.traces.wording import plural

Array = NDArray[Any]
PARTS: Mapping[str, str] = {
    "item": "column: old or new (target or lure, signal or noise, 1 or 0), or weak and strong beside new; numbers of "
    "which 0 is noise",
    "strength": "column: how strong old items were, by numbers or by weak, medium and strong; left out where all are "
    "alike",
    "strongest": "number that counts as strength 1; by default the largest of the file",
    "lure": "column: similar (or 1) where new items are similar to old ones, such as the column of items itself",
    "confidence": "column: how sure the response was; left out where there is none, or where the response says it",
    "categories": "number of categories of the scale, where some were never used",
    "old_share": "column, or number: the share of old items of which participants knew; by default 0.5",
}
"""Parts of a trial, for people to read."""
OLD = {
    "old", "target", "targets", "studied", "signal", "present", "signal present", "seen", "repeat", "repeated", "alt",
    "noise+signal", "signal+noise", "o", "oud", "ancien", "viejo",
}  # fmt: skip
NEW = {
    "new", "foil", "foils", "distractor", "distractors", "unstudied", "nonstudied", "not studied", "noise", "absent",
    "signal absent", "unseen", "novel", "neu", "nieuw", "nouveau", "nuevo", "catch", "blank",
}  # fmt: skip
LURES = {"lure", "lures", "related", "similar", "critical", "critical lure", "related lure"}
"""Cells that name items; lures are new items where nothing else is new."""
YES = {"yes", "y", "ja", "oui", "si", "sí", "1", "1.0", "true"}
NO = {"no", "n", "nein", "nee", "non", "0", "0.0", "false"}
"""Further cells that say that an item was old, or that it was not."""
OUTCOMES = {
    "hit": 1, "hits": 1, "fa": 1, "false alarm": 1, "false_alarm": 1, "falsealarm": 1,
    "miss": 0, "misses": 0, "cr": 0, "correct rejection": 0, "correct_rejection": 0, "correctrejection": 0,
}  # fmt: skip
"""Cells that name item and response together, and whether the response was old."""
ITEMS = {
    "old", "oldnew", "target", "signal", "studied", "item", "isold", "status", "present", "presence", "type",
    "stimulus", "stim", "truth",
}  # fmt: skip
SAID = {
    "response", "resp", "said", "answer", "ans", "judgment", "judgement", "decision", "choice", "reported", "report",
    "key", "antwort", "recognition", "oldnew",
}  # fmt: skip
RATED = {"rating", "confidence", "conf", "certainty", "sure", "sureness", "sicherheit", "konfidenz"}
"""Words in names of columns."""
SURE = (
    ("guess", "guessing", "not sure", "unsure", "not at all"),
    ("low", "maybe", "somewhat", "possibly", "somewhat sure"),
    ("medium", "middle", "probably", "fairly sure"),
    ("high", "sure", "certain", "very sure", "definitely", "very"),
)
"""Words of confidence, the lowest first."""
KNOWN_ITEMS = OLD | NEW | LURES | YES | NO | set(PLACE_OF)
SURENESS = {word: place for place, words in enumerate(SURE) for word in words}
HIGHEST = 100.0
"""Rating."""
LARGEST_REVERSAL = 3.0
"""Standard errors by which old items may have lower responses than new ones."""


def recognition_answers(
    cells: RowCells,
    columns: AnswerColumns,
    participant: Array,
    notes: list[str],
    left_out: RowsLeftOut,
) -> tuple[Stimuli, Array, Array, Array]:
    """Judgements of items.

    Returns:
        Distinct trials; and of each response the trial, the outcome, and the place of its row.

    Raises:
        RowsWrongError: A cell cannot be read.
        TrialsError: The mapping cannot be right.
    """
    old, lure, strength = _items(cells, columns, notes)
    place, n = _categories(cells, columns, old, notes)
    _check_responses(place, n, old, cells, columns, notes)
    _check_people(place, old, cells, columns, participant, notes)
    share = read_part(cells, columns.stimulus.get("old_share", 0.5), "old_share")
    if ((share <= 0) | (share >= 1)).any():
        raise TrialsError(
            f"{cells.name}: old_share is the share of old items, above 0 and below 1; give --column old_share=NUMBER."
        )
    first, which = distinct_rows(old, lure, strength, share)
    stimuli = recognition_trials(
        old[first], strength[first], lure=lure[first], old_share=share[first], categories=n
    )
    outcome = np.flatnonzero(categories_of(n))[place]
    return stimuli, which, outcome, np.arange(len(old))


def _items(cells: RowCells, columns: AnswerColumns, notes: list[str]) -> tuple[Array, Array, Array]:
    """``(n_rows,)`` each: whether items are old, whether they are lures, and how strong they are."""
    column = str(columns.stimulus["item"])
    texts = folded(cells.text(column))
    cells.refuse_empty(texts == "", column)
    if all(NUMBER.fullmatch(cell) for cell in set(texts.tolist())):
        old = 1.0 * (numbers_of(pd.Series(texts)).to_numpy() != 0)
    else:
        cells.refuse(
            ~pd.Series(texts).isin([*KNOWN_ITEMS]).to_numpy(),
            column,
            f'names no item; items are old or new. Say what it means: --column \'recode.{column}={{"CELL" = "old"}}\'',
        )
        old = 1.0 * pd.Series(texts).isin([*OLD, *YES, *PLACE_OF]).to_numpy()
    if old.min() == old.max():
        kind = "old" if old.max() else "new"
        raise TrialsError(
            f"{cells.name}: all items of {column} are {kind}. Old and new items are needed: name the column that tells "
            f'them apart (--column item=COLUMN), or what cells mean: --column \'recode.{column}={{"CELL" = "new"}}\'.'
        )
    lure, strength = np.zeros(len(old)), np.ones(len(old))
    if "lure" in columns.stimulus:
        is_lure = folded(cells.text(str(columns.stimulus["lure"])))
        lure = (1 - old) * pd.Series(is_lure).isin([*LURES, *YES]).to_numpy()
    if "strength" in columns.stimulus:
        cell = folded(cells.text(str(columns.stimulus["strength"])))
        has_one = (old > 0) | by_distinct(pd.Series(cell), _is_strength_cell).astype(bool)
        strength = read_strengths(cells, columns, notes, has_one)
    return old, lure, strength


def _is_strength_cell(cell: str) -> bool:
    return cell in PLACE_OF or bool(NUMBER.fullmatch(cell))


def _categories(
    cells: RowCells, columns: AnswerColumns, old: Array, notes: list[str]
) -> tuple[Array, int]:
    """``(n_rows,)`` category of each response from "surely new", and the number of categories."""
    for column in (columns.response, str(columns.stimulus.get("confidence", ""))):
        if column in cells.frame.columns:
            is_scale = (
                columns.stimulus.get("categories", HIGHEST) > 2 * MOST
            )  # a fine one is guessed
            check_marks(cells, columns, column, notes, is_scale=is_scale)
    texts = folded(cells.text(columns.response))
    code = {cell.strip().casefold(): place for cell, place in columns.responses.items()}
    code = code or _code_of(set(texts.tolist()))
    if _judges(columns.response, set(texts.tolist())) and not columns.responses:
        correct = guessed_correctness(set(texts.tolist()), columns.response)
        is_right = by_distinct(pd.Series(texts), correct.__getitem__).astype(int) == 0
        place, n = np.where(is_right, old, 1 - old).astype(np.int64), 2
        notes.append(f"{columns.response}: right responses call old items old and new items new")
    elif code:
        cells.refuse(
            ~pd.Series(texts).isin(list(code)).to_numpy(),
            columns.response,
            f"is no response; responses are {', '.join(code)}. If it stands for a missed response, say --column "
            f"missing.{columns.response}=CELL",
        )
        place = by_distinct(pd.Series(texts), code.__getitem__).astype(np.int64)
        n = max(2, max(code.values()) + 1)
        if "confidence" not in columns.stimulus and "categories" in columns.stimulus:
            n = max(2, int(columns.stimulus["categories"]))
            cells.refuse(
                place >= n,
                columns.response,
                f"is beyond the {n} categories of the scale. If it stands for a missed response, say --column "
                f"missing.{columns.response}=CELL",
            )
        if n > 2 * MOST:
            raise TrialsError(
                f"{cells.name}: participants.columns.responses counts categories from 0 for surely new to at most "
                f"{2 * MOST - 1} for surely old."
            )
        ordered = ", ".join(sorted(code, key=lambda cell: code[cell]))
        notes.append(f"{columns.response}: from surely new to surely old: {ordered}")
    else:
        n_stated = columns.stimulus.get("categories")
        place, n = _ratings(cells, columns.response, 2 * MOST, notes, n_stated)
    if "confidence" not in columns.stimulus:
        return place, n
    if n != 2:
        raise TrialsError(
            f"{cells.name}: {columns.response} has {n} categories, so that a column of confidence cannot stand beside "
            "it; leave one of them out (--column confidence=)."
        )
    column = str(columns.stimulus["confidence"])
    n_stated = columns.stimulus.get("categories")
    sureness, n_levels = _ratings(cells, column, MOST, notes, n_stated and n_stated / 2)
    _refuse_ratings_as_sureness(sureness, place, cells, columns)
    _check_sureness(sureness, place == old, cells, columns, notes)
    return np.where(place == 1, n_levels + sureness, n_levels - 1 - sureness), 2 * n_levels


def _judges(name: str, distinct: set[str]) -> bool:
    """Whether a column says of responses that they were right or wrong."""
    words = set(words_of(name))
    is_named = bool(words & (OF_RIGHT | ERRORS)) and not words & SAID
    return (is_named or bool(distinct & {"correct", "incorrect"})) and bool(
        guessed_correctness(distinct, name)
    )


def _code_of(distinct: set[str]) -> dict[str, int]:
    """The code of cells that say old and new, or yes and no; empty for others, such as ratings."""
    if distinct <= set(OUTCOMES) and len(distinct) > 2:  # hit and miss alone may judge responses
        return {cell: OUTCOMES[cell] for cell in sorted(distinct)}
    if in_words := _code_of_words(distinct):
        return in_words
    if not distinct <= OLD | NEW | LURES | YES | NO or (
        not distinct & (OLD | NEW) and len(distinct) > 2
    ):
        return {}
    return {cell: int(cell in OLD | YES) for cell in sorted(distinct)}


def _code_of_words(distinct: set[str]) -> dict[str, int]:
    """Categories of cells such as ``sure old`` and ``maybe new``; empty for others."""
    parts = {cell: cell.rpartition(" ") for cell in distinct}
    if not all(kind in OLD | NEW and sure in SURENESS for sure, _, kind in parts.values()):
        return {}
    levels = sorted({SURENESS[sure] for sure, _, _ in parts.values()})
    rank = {cell: levels.index(SURENESS[sure]) for cell, (sure, _, _) in parts.items()}
    n_levels = len(levels)
    return {
        cell: n_levels + rank[cell] if parts[cell][2] in OLD else n_levels - 1 - rank[cell]
        for cell in sorted(distinct)
    }


def _ratings(
    cells: RowCells, column: str, most: int, notes: list[str], n_stated: Any
) -> tuple[Array, int]:
    """``(n_rows,)`` ordered levels of a column from 0, and how many there are; finer ones are joined."""
    texts = folded(cells.text(column))
    cells.refuse_empty(texts == "", column)
    known = set(texts.tolist())
    if known <= set(SURENESS):
        places = sorted({SURENESS[cell] for cell in known})
        rank = {cell: places.index(SURENESS[cell]) for cell in known}
        return by_distinct(pd.Series(texts), rank.__getitem__).astype(np.int64), len(places)
    amount = cells.numbers(column)
    if n_stated is not None:
        low, high = (0.0 if amount.min() == 0 else 1.0), float(n_stated)
        high -= 1.0 if low == 0 else 0.0
        cells.refuse(
            (amount > high) | (amount < low),
            column,
            f"is outside of the scale, {low:g} to {high:g}; --column categories=NUMBER says how many categories it has",
        )
    else:
        low, high = float(amount.min()), float(amount.max())
    is_whole = bool((amount == np.round(amount)).all())
    n_levels = round(high - low) + 1
    if is_whole and n_levels <= most:
        return (amount - low).astype(np.int64), max(n_levels, 2)
    values, rank_of = np.unique(amount, return_inverse=True)
    if n_stated is None and len(values) <= most:
        return rank_of.astype(np.int64), max(len(values), 2)
    width = (high - low + (1 if is_whole else 0)) / most
    notes.append(f"{column}: {low:g} to {high:g} are joined into {most} categories of equal width")
    return np.clip((amount - low) // width, 0, most - 1).astype(np.int64), most


def _check_responses(
    place: Array, n: int, old: Array, cells: RowCells, columns: AnswerColumns, notes: list[str]
) -> None:
    """Question responses that are all the same, or that call new items old more often than old ones."""
    if len(place) < FEWEST:
        return
    if np.ptp(place) == 0:
        question(
            columns,
            notes,
            "constant_response",
            f"{cells.name}: {columns.response} has the same category in all {plural(len(place), 'row')}",
        )
        return
    middle = n / 2 - (
        n == 2 * MOST
    )  # levels of a fine scale are joined, its middle with those below
    if n > 2 and (place.min() >= middle or place.max() < n - middle):
        half = "old" if place.min() >= middle else "new"
        _question_half_a_scale(old, half, cells, columns, notes)
    if _standard_errors(1.0 * place, old) < -LARGEST_REVERSAL:
        means = [float(place[old == kind].mean()) for kind in (1, 0)]
        turned = " ".join(
            column_option(f"responses.{cell}={n - 1 - own}")
            for cell, own in columns.responses.items()
        )
        other = f"--column 'response=NUMBER - {columns.response}' (the lowest and the highest rating together)"
        question(
            columns,
            notes,
            "reversed_code",
            f"{cells.name}: old items have lower responses than new ones (mean category {means[0]:.2f} against "
            f"{means[1]:.2f}, where 0 is surely new), so that false alarms are more frequent than hits and the code "
            f"may be reversed. To turn it round, say {turned or other}",
        )


def _question_half_a_scale(
    old: Array, half: str, cells: RowCells, columns: AnswerColumns, notes: list[str]
) -> None:
    """Question a scale on which all responses mean old, or all new, as where it says how sure a judgment was.

    A column that is not read and whose cells tell old from new items may hold the judgments.
    """
    advice = "--column response=COLUMN"
    for name in columns_not_read(cells.frame, columns):
        texts = pd.Series(folded(cells.text(name)))
        shares = pd.Series(old).groupby(texts).mean()
        is_old = shares > old.mean()
        judged = texts.map(is_old).to_numpy(dtype=float)
        few = 2 <= len(shares) <= MOST_JUDGMENTS
        if few and _standard_errors(judged, old) > LARGEST_REVERSAL and not is_old.all():
            code = {cells.text(name)[texts == cell][0]: int(is_old[cell]) for cell in shares.index}
            own = " ".join(
                column_option(f"responses.{cell}={place}") for cell, place in code.items()
            )
            fewer = " --column categories=" if "categories" in columns.stimulus else ""
            advice = f"--column response={name} {own}{fewer}"
            break
    question(
        columns,
        notes,
        "constant_response",
        f"{cells.name}: all responses ({columns.response}) are in the half of the scale that means {half}, so that "
        f"they may say how sure judgments were that stand in another column. If so, say {advice} "
        f"--column confidence={columns.response}",
    )


MOST_JUDGMENTS = 4
"""Different judgments, such as remember, know, guess and new."""


def _check_people(
    place: Array,
    old: Array,
    cells: RowCells,
    columns: AnswerColumns,
    participant: Array,
    notes: list[str],
) -> None:
    """Question participants whose responses to old items are clearly lower than to new ones."""
    if len(place) < FEWEST or "reversed_code" in columns.accept:
        return
    item = str(columns.stimulus["item"])

    def ways(column: str) -> str:
        if not column:
            return "If these used the scale, or the keys, the other way round, correct their rows in the file"
        cells_of_item = set(columns.recode.get(item, {})) or set(cells.text(item).tolist())
        if set(cells.text(column).tolist()) == cells_of_item:
            return (
                "If an item is old where both columns are the same, say --column "
                f"'stimulus.item={column} == {item}' without recode.{item}"
            )
        return (
            f"Read one kind of rows (--column where.{column}=CELL), or turn the responses of the others round in the "
            "file"
        )

    question_reversed_people(
        cells,
        columns,
        participant,
        lambda rows: _standard_errors(1.0 * place[rows], old[rows]),
        "old items have lower responses than new ones",
        ways,
        notes,
    )


def _refuse_ratings_as_sureness(
    sureness: Array, place: Array, cells: RowCells, columns: AnswerColumns
) -> None:
    """Refuse a scale from surely new to surely old that is read as sureness beside the response that follows from it.

    Raises:
        TrialsError: Each response has levels of its own, all below those of the other one.
    """
    new, old = (np.unique(sureness[place == distinct]) for distinct in (0, 1))
    if min(len(new), len(old)) < 2 or not (new[-1] < old[0] or old[-1] < new[0]):
        return
    column = str(columns.stimulus["confidence"])
    raise TrialsError(
        f"{cells.name}: {columns.response} follows from {column}, whose levels of one response are all below those of "
        f"the other one. So {column} is a scale from surely new to surely old, and no sureness of either response. "
        f"Read it as the response: --column response={column} --column confidence="
    )


def _check_sureness(
    sureness: Array, is_right: Array, cells: RowCells, columns: AnswerColumns, notes: list[str]
) -> None:
    """Note which end of a column counts as sure; question it where surer responses are right less often."""
    column = str(columns.stimulus["confidence"])
    texts = cells.text(column)
    in_words = set(folded(texts).tolist()) <= set(SURENESS)
    order = sureness if in_words else cells.numbers(column)
    least, most = texts[order.argmin()], texts[order.argmax()]
    notes.append(f"{column}: {least} is the least sure and {most} the surest response")
    if in_words or len(order) < FEWEST or _standard_errors(sureness, is_right) >= -LARGEST_REVERSAL:
        return
    ends = order.min() + order.max()
    if "categories" in columns.stimulus:  # which nobody may have used
        ends = columns.stimulus["categories"] / 2 + (1 if order.min() else -1)
    turned = column if column.isidentifier() else f"({column})"
    means = [float(sureness[is_right == kind].mean()) for kind in (True, False)]
    question(
        columns,
        notes,
        "reversed_code",
        f"{cells.name}: surer responses by {column} are less often right (mean level {means[0]:.2f} of right and "
        f"{means[1]:.2f} of wrong responses, where 0 is {least}, the least sure), so that {least} may be the surest. "
        f"To turn it round, say --column 'confidence={ends:g} - {turned}'",
    )


def _standard_errors(place: Array, old: Array) -> float:
    """Compute by how many standard errors the mean of old items (or right responses) is above that of the others."""
    groups = [place[old == kind] for kind in (1, 0)]
    if min(map(len, groups)) < 2:
        return 0.0
    error = np.sqrt(sum(own.var(ddof=1) / len(own) for own in groups))
    return float((groups[0].mean() - groups[1].mean()) / error) if error > 0 else 0.0


# What columns seem to mean -----------------------------------------------------------------------


def recognise(table: TableSignature) -> Reading | None:
    """Read which items were old, and the responses to them: a word, a rating, or right and wrong."""
    called = [name for name, meaning in table.named.items() if meaning == "response"]
    table = table.where_filled([table.response] if table.response in table.columns else called)
    item = _item_column(table)
    if item is None:
        return _of_two_kinds(table)
    old = _is_old(item)
    rest = [own for own in table.free if own is not item and not is_function_of(own, item)]
    decisions = [own for own in rest if _is_decision(own, table)]
    ratings = [own for own in rest if own.words & (RATED | SAID) and _is_scale(own)]
    if any(
        len(own.distinct) == 2 and own.words & SAID - RATED for own in rest if own not in decisions
    ):
        ratings = [own for own in ratings if decisions or not own.words & RATED]
    judged = judged_accuracy(table)
    if judged is not None:
        decisions = [own for own in decisions if own is not judged]
    stimulus: dict[str, Any] = {"item": item.name}
    shown = [item.name]
    named = {cell.casefold() for cell in item.distinct}
    if named & LURES and named & NEW:
        stimulus["lure"] = item.name
    if len(named & set(PLACE_OF)) > 1:
        stimulus["strength"] = item.name
    if "strength" not in stimulus and (strength := _strength_column(table, item)):
        stimulus["strength"] = strength
        shown.append(strength)
    decision = decisions[0] if len(decisions) == 1 else judged if not decisions else None
    rating = next((own for own in ratings if own.name == table.response), None)
    rating = rating or (ratings[0] if len(ratings) == 1 else None)
    if rating is not None and (decision is None or is_function_of(decision, rating)):
        return _rated(rating, old, Reading(stimulus, tuple(shown)))
    if decision is None:
        return None
    if decision is judged and any(_is_other_response(own, item, judged, table) for own in rest):
        return None
    if rating is not None:
        stimulus |= _confidence(rating)
    if decision is judged:
        return Reading(stimulus, tuple(shown), response=decision.name)
    code = _code_of({cell.casefold() for cell in decision.distinct})
    return Reading(stimulus, tuple(shown), response=decision.name, responses=code)


def _of_two_kinds(table: TableSignature) -> Reading | None:
    """Read a stimulus of two kinds, a response with the same two cells, and its confidence: the second kind is old."""
    two = [own for own in table.free if len(own.distinct) == 2]
    pairs = [
        (item, decision)
        for item, decision in permutations(two, 2)
        if decision.words & SAID and not item.words & SAID and set(item.distinct) == set(decision.distinct)
        and (item.cells == decision.cells).mean() >= MOSTLY_RIGHT
    ]  # fmt: skip
    ratings = [own for own in table.free if own.words & RATED and _is_scale(own)]
    if len(pairs) != 1 or len(ratings) != 1:
        return None
    ((item, decision),) = pairs
    new, old = sorted(item.distinct)
    strength = _strength_column(table, item)
    reading = Reading(
        {"item": item.name} | ({"strength": strength} if strength else {}),
        (item.name, *([strength] if strength else [])),
        recode={item.name: {new: "new", old: "old"}},
        notes=(f"{item.name}: {old} counts as old (a signal) and {new} as new (noise)",),
    )
    if is_function_of(decision, ratings[0]):
        return _rated(ratings[0], item.cells == old, reading)
    return replace(
        reading,
        stimulus={**reading.stimulus, **_confidence(ratings[0])},
        response=decision.name,
        responses={new.casefold(): 0, old.casefold(): 1},
    )


def _rated(rating: ColumnSignature, old: Array, reading: Reading) -> Reading:
    """The reading with ratings from surely new to surely old as responses."""
    code, notes = _code_of_ratings(rating, old)
    stimulus = dict(reading.stimulus)
    if not code and rating.is_whole:
        stimulus["categories"] = int(np.nanmax(rating.values) + (np.nanmin(rating.values) == 0))
    return replace(
        reading,
        stimulus=stimulus,
        response=rating.name,
        responses=code,
        notes=(*reading.notes, *notes),
    )


def _item_column(table: TableSignature) -> ColumnSignature | None:
    """The only column that names items as old and new, by words, or by 0 and 1 under such a name."""
    found = []
    for own in table.free:
        if own.words & (SAID - ITEMS | RATED | OF_RIGHT | ERRORS) or own.name == table.response:
            continue
        distinct_cells = {cell.casefold() for cell in own.distinct}
        by_word = distinct_cells <= OLD | NEW | LURES | set(PLACE_OF) and bool(
            distinct_cells & (NEW | LURES)
        )
        by_word = by_word and bool(distinct_cells & (OLD | set(PLACE_OF)))
        by_name = (
            bool(own.words & (ITEMS - {"item", "type", "status"})) and distinct_cells <= YES | NO
        )
        if (by_word or by_name) and len(distinct_cells) > 1:
            found.append((not by_word, own))
    best = [own for is_worse, own in found if is_worse == min(found, key=lambda pair: pair[0])[0]]
    return best[0] if len(best) == 1 else None


def _is_other_response(
    own: ColumnSignature,
    item: ColumnSignature,
    judged: ColumnSignature,
    table: TableSignature,
) -> bool:
    """Whether a response of two cells says neither old nor new: item and correctness do not tell which it was."""
    if own is judged or not own.words & SAID or len(own.distinct) != 2:
        return False
    filled = (own.cells != "").to_numpy()
    known = [
        np.asarray(table.person), item.cells.to_numpy(), judged.cells.to_numpy(), own.cells.to_numpy()
    ]  # fmt: skip
    rows = pd.DataFrame(dict(enumerate(known)))[filled].drop_duplicates()
    return len(rows) > MOST_KEYS_PER_CELL * len(rows.drop(columns=3).drop_duplicates())


MOST_KEYS_PER_CELL = 1.5
"""Different keys for each item and correctness of a participant, beyond which keys do not say old and new."""


def _is_old(item: ColumnSignature) -> Array:
    return np.asarray(item.cells.str.casefold().isin([*OLD, *YES, *PLACE_OF]))


def _is_decision(own: ColumnSignature, table: TableSignature) -> bool:
    """Whether a column says old and new, or yes and no, and is called a response."""
    distinct_cells = {cell.casefold() for cell in own.distinct}
    is_called = bool(own.words & SAID) or own.name == table.response
    if distinct_cells <= set(OUTCOMES) or _code_of_words(distinct_cells):
        return len(distinct_cells) > 2
    return len(distinct_cells) == 2 and bool(_code_of(distinct_cells)) and is_called


def _is_scale(own: ColumnSignature) -> bool:
    """Whether a column holds more than two ordered levels, or two of confidence."""
    distinct_cells = {cell.casefold() for cell in own.distinct}
    is_rated = own.is_whole and (len(distinct_cells) > 2 or bool(own.words & RATED))
    return len(distinct_cells) > 1 and (
        distinct_cells <= set(SURENESS) or (is_rated and own.between(-HIGHEST, HIGHEST))
    )


def _strength_column(table: TableSignature, item: ColumnSignature) -> str:
    """The only other column of strengths; empty where there is none, or several."""
    found = [own.name for own in table.free if own is not item and _is_strength(own)]
    return found[0] if len(found) == 1 else ""


def _is_strength(own: ColumnSignature) -> bool:
    """Whether a column is called a strength and holds numbers, or levels in words."""
    distinct_cells = {cell.casefold() for cell in own.distinct} - NEW - OLD
    if own.words & (RATED | SAID):
        return False
    named = bool(own.words & STRENGTHS) and own.is_number and len(distinct_cells) > 1
    return named or (len(distinct_cells) > 1 and distinct_cells <= set(PLACE_OF))


def _confidence(own: ColumnSignature) -> dict[str, Any]:
    """A column of confidence, and the number of categories that it makes where it counts levels from 1."""
    highest = own.values[np.isfinite(own.values)].max(initial=0)
    counts = own.is_whole and 2 <= highest <= MOST and np.nanmin(own.values) == 1
    return {"confidence": own.name} | ({"categories": 2 * int(highest)} if counts else {})


def _code_of_ratings(rating: ColumnSignature, old: Array) -> tuple[dict[str, int], tuple[str, ...]]:
    """The category of each rating, in the opposite order where old items have lower ones; nothing for finer scales."""
    values = rating.values[np.isfinite(rating.values)]
    if not rating.is_whole or np.ptp(values) >= 2 * MOST:
        return {}, ()
    low, high = int(values.min()), int(values.max())
    is_turned = _standard_errors(values, old[np.isfinite(rating.values)]) < -CLEAR
    places = {cell: int(float(cell)) for cell in sorted(rating.distinct, key=float)}
    code = {cell: high - own if is_turned else own - low for cell, own in places.items()}
    words = (
        f"{low} is read as surely old and {high} as surely new, since old items have lower ratings"
    )
    return code, (f"{rating.name}: {words}",) if is_turned else ()


LAYOUT = StimulusLayout(
    PARTS,
    ("item",),
    None,
    recognise=recognise,
    guess_rank=8,
    from_rows=recognition_answers,
    properties=lambda stimuli: {
        name.replace("_", " "): stimuli[name] for name in ("old", "strength", "old_share")
    },
    inputs={
        "strengths": NeededParts(
            ("strength",), "how strong items were", "how evidence grows with strength"
        ),
        "lures": NeededParts(
            ("lure",), "which new items were similar to old ones", "effects of lures"
        ),
        "base_rates": NeededParts(
            ("old_share",), "which share of items was old", "effects of base rates"
        ),
    },
    kind="judgements of items as old or new, or of signals, with or without confidence",
)
"""The trials of this kind of task as columns."""
