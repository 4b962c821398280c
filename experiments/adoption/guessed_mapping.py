"""Guess of a mapping from what columns may be: the kind of task, the parts of its trials, rewards, codes and units."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from lakatos.experiments.adoption.column_meanings import (
    ColumnSummary,
    flat,
    may_be_answers,
    without_practice,
)
from lakatos.experiments.adoption.expression import columns_in
from lakatos.experiments.adoption.layouts import (
    DAYS,
    HUNDREDTHS,
    Reading,
    counts_options,
    layout_of,
    layouts_to_guess,
)
from lakatos.experiments.adoption.mapping import OPEN_QUESTION, AnswerColumns, leaves_of
from lakatos.experiments.adoption.names import words_of
from lakatos.experiments.adoption.option_code import (
    PLACES,
    code_of_pair,
    is_negative,
    option_offered,
    rare_zero,
)
from lakatos.experiments.adoption.option_kind import (
    KINDS,
    kind_of_columns,
    names_places,
    side_compared,
)
from lakatos.experiments.adoption.plausible import STIMULUS_WORDS
from lakatos.experiments.adoption.recognised import accepts, code_by_sides, sides_of
from lakatos.experiments.adoption.side_columns import SIDE, guessed_side, has_places
from lakatos.experiments.adoption.signatures import RANKS, ColumnSignature, ranks_rows
from lakatos.experiments.adoption.step_cells import is_loss, outcome_of_choice
from lakatos.experiments.adoption.tables import AnswerTable, numbers_of, places_of
from lakatos.experiments.adoption.timed_answers import (
    folded,
    guessed_correctness,
    guessed_keys,
    guessed_response,
)
from lakatos.experiments.answer_scale import scale_of
from lakatos.experiments.domain_lookup import all_domains
from lakatos.experiments.errors import TrialsError
from lakatos.experiments.outcomes import HasOutcomes
from lakatos.experiments.task import Domain

SUMS = {"total", "balance", "bank"}
"""Words in names of columns of what was won so far."""
PREDICTIONS = {"prediction", "predicted", "predict"}
OUTCOMES = {"outcome", "actual", "event", "occurred", "result"}
"""Words in names of columns of predictions, and of outcomes, which are rewards where they were predicted."""
GAINS, LOSSES = {"gain", "gains", "win", "wins", "won"}, {"loss", "losses", "lose", "lost"}
"""Words in names of columns of what was won and lost at a step."""
SCHEDULE = {"block", "session", "phase", "run"}
"""Words in names of columns that divide the steps of a task with feedback."""
STAGES = ({"1", "first", "a"}, {"2", "second", "b"})
"""Words in names of columns of choices at the two stages of a trial."""
UNITS = {unit: unit for unit in DAYS} | {unit.removesuffix("s"): unit for unit in DAYS}
UNITS |= {
    "hrs": "hours",
    "wks": "weeks",
    "wk": "weeks",
    "mths": "months",
    "yrs": "years",
    "yr": "years",
}
"""Words for units of delays in names of columns."""


def ranked(table: AnswerTable, meanings: Mapping[str, str], mapping: AnswerColumns) -> str:
    """The column that is called a rank and numbers the rows of each participant, where no column counts them."""
    used = {str(leaf) for leaf in leaves_of(mapping.model_dump())}
    named = [
        name for name in table.columns if set(words_of(name)) & RANKS and name not in used
        and meanings.get(name, "order") == "order"
    ]  # fmt: skip
    if len(named) != 1 or mapping.participant not in table.columns:
        return ""
    person = places_of(table.frame[mapping.participant])
    column = ColumnSignature(named[0], table.frame[named[0]].str.strip().reset_index(drop=True))
    return named[0] if ranks_rows(column, person) else ""


def with_reading(mapping: AnswerColumns, reading: Reading, stated: AnswerColumns) -> AnswerColumns:
    """The mapping with what values are recognised as."""
    changes: dict[str, Any] = {}
    is_compared = reading.response != "" and mapping.response.startswith(f"{reading.response} == ")
    if reading.response and not is_compared:
        changes["response"] = reading.response
    elif not reading.response and reading.questions:
        changes["response"] = stated.response or OPEN_QUESTION
    if reading.responses and not is_compared:
        changes["responses"] = dict(reading.responses)
    if reading.feedback:
        changes["feedback"] = dict(reading.feedback)
    if reading.recode:
        changes["recode"] = dict(reading.recode)
    if reading.missing:
        changes["missing"] = dict(reading.missing)
    if reading.order:
        changes["order"] = reading.order
    if reading.time:
        changes["response_time"] = reading.time
    if reading.experiment:
        changes["experiment"] = reading.experiment
    if reading.response and reading.response in (mapping.experiment, mapping.order):
        changes |= {
            key: "" for key in ("experiment", "order") if getattr(mapping, key) == reading.response
        }
    return mapping.model_copy(update=changes)


def with_side(
    table: AnswerTable, mapping: AnswerColumns, domain: Domain | None, stated: AnswerColumns
) -> tuple[AnswerColumns, tuple[str, ...]]:
    """The mapping with the column that says where options stood, where responses follow it, and what to say of it."""
    is_said = stated.responses or SIDE in stated.stimulus or "==" in stated.response
    if domain is None or not has_places(domain) or is_said:
        return mapping, ()
    known = mapping.model_copy(update={"stimulus": {**mapping.stimulus, **stated.stimulus}})
    try:
        name, words = guessed_side(table.frame, known, domain.options)
    except TrialsError:  # a part is open, or names no column of numbers, which the reading says
        return mapping, ()
    if not name:
        return mapping, ()
    stimulus = {**mapping.stimulus, SIDE: name}
    return mapping.model_copy(update={"stimulus": stimulus}), (words,)


def with_times(
    table: AnswerTable, mapping: AnswerColumns, reading: Reading, stated: AnswerColumns
) -> AnswerColumns:
    """The mapping with the user's column of times and its unit, or that of a column that values tell."""
    changes: dict[str, Any] = {}
    if reading.time or stated.response_time:
        changes["response_time"] = time = stated.response_time or reading.time
        changes["response_time_unit"] = _unit(table, time if time in table.columns else "")
    if "response_time_unit" in stated.model_fields_set:
        changes["response_time_unit"] = stated.response_time_unit
    return mapping.model_copy(update=changes)


def with_named_units(mapping: AnswerColumns) -> AnswerColumns:
    """The mapping with the units that names of columns of delays and amounts say, where nothing else says them."""
    return _with_unit_of_amounts(_with_unit_of_delays(mapping))


def _with_unit_of_amounts(mapping: AnswerColumns) -> AnswerColumns:
    """The mapping with cents as the unit of amounts, where the names of all of their columns say so."""
    parts = {part: value for part, value in mapping.stimulus.items() if part.endswith("amounts")}
    names = [leaf for value in parts.values() for leaf in flat(value) if isinstance(leaf, str)]
    is_in_cents = [bool(set(words_of(name)) & HUNDREDTHS) for name in names]
    if "amount_unit" in mapping.stimulus or not any(is_in_cents):
        return mapping
    # Where some names say so and others do not, nobody knows the unit of the others.
    unit = "cents" if all(is_in_cents) else OPEN_QUESTION
    return mapping.model_copy(update={"stimulus": {**mapping.stimulus, "amount_unit": unit}})


def _with_unit_of_delays(mapping: AnswerColumns) -> AnswerColumns:
    """The mapping with the unit that names of columns of delays say, where nothing else says it."""
    if "delay_unit" in mapping.stimulus or "delays_days" not in mapping.stimulus:
        return mapping
    names = [leaf for leaf in flat(mapping.stimulus["delays_days"]) if isinstance(leaf, str)]
    units = {UNITS[word] for name in names for word in words_of(name) if word in UNITS}
    if len(units) != 1 or units == {"days"}:
        return mapping
    stimulus = {**mapping.stimulus, "delay_unit": units.pop()}
    return mapping.model_copy(update={"stimulus": stimulus})


def guessed_stimulus(frame: pd.DataFrame, domain: Domain | None) -> tuple[str, dict[str, Any]]:
    """The domain, and the parts of its trials, that the columns suggest: by their names, else by their values."""
    if domain is not None:
        layout = layout_of(domain)
        if layout is None:
            return domain.name, {}
        return domain.name, layout.guessed(frame) or dict.fromkeys(layout.needed, "?")
    names, layouts = [str(name) for name in frame.columns], layouts_to_guess()
    named = {name: layout for name, layout in layouts.items() if layout.guess(names)}
    for name, layout in (named | layouts).items():
        if found := layout.guessed(frame):
            return name, found
    return "", {}


def mapping_of(
    table: AnswerTable,
    meanings: dict[str, str],
    domain: str,
    stimulus: dict[str, Any],
    stated: AnswerColumns,
) -> AnswerColumns:
    """Guess what the columns mean; the user's own meanings decide which cell is which option."""
    by_meaning = {meaning: name for name, meaning in meanings.items()}
    used = {str(leaf) for value in stimulus.values() for leaf in flat(value)}
    free = {key: name for key, name in by_meaning.items() if name not in used}
    attributes = tuple(
        name for name, meaning in meanings.items() if meaning.startswith("attribute")
    )
    common: dict[str, Any] = {"attributes": attributes}
    if "participant" not in free and "count" in free and len(words_of(free["count"])) <= 2:
        common |= {"count": free["count"], "share": free.get("share", "?")}
        return AnswerColumns(**common, stimulus=stimulus)
    time = free.get("response_time", "")
    common["experiment"] = free.get("experiment", "")
    response = free.get("response", "?")
    shown = stimulus | stated.stimulus
    if SIDE not in stated.stimulus:
        response = side_compared(table.frame, response, shown) or response
    common |= {
        "participant": free.get("participant", "?"),
        "response": response,
        "responses": _guessed_code(table, response, shown),
        "order": free.get("order", ""),
        "response_time": time,
        "response_time_unit": _unit(table, time),
    }
    if domain in all_domains() and counts_options(all_domains()[domain]):
        places = stated.responses.values()
        n_options = max(*places, 1) + 1 if places else _guessed_options(table, response)
        stimulus = {"options": n_options, **stimulus}
        if second := _second_stage(table, response, free.get("order", "")):
            stimulus |= second
        named, both = free.get("reward", ""), won_and_lost(table)
        if both != OPEN_QUESTION and set(words_of(named)) & (GAINS | LOSSES):
            named = ""  # a column of gains is half of the reward where another has the losses
        won = _prediction_came_true(table, response) or _of_choice(table, named, response)
        lost = _lost(table) if both == OPEN_QUESTION else ""
        reward = won or lost or both
        common["feedback"] = {"reward": reward}
    return AnswerColumns(**common, stimulus=stimulus)


def task_with_feedback(table: AnswerTable, meanings: Mapping[str, str]) -> str:
    """The kind of task in which only a choice and its reward stand in each row; empty where rows hold more.

    A column of numbers that means nothing yet may be a property of the options, so nothing is guessed then.
    """
    known = set(meanings.values())
    gains = won_and_lost(table)
    named = next((name for name, meaning in meanings.items() if meaning == "response"), "")
    is_paid = "reward" in known or gains != OPEN_QUESTION or _prediction_came_true(table, named)
    if not {"participant", "response"} <= known or not is_paid:
        return ""
    tasks = [name for name, task in all_domains().items() if counts_options(task)]
    response = next(name for name, meaning in meanings.items() if meaning == "response")
    explained = {*columns_in(gains, table.frame), *_second_stage(table, response, "").values()}
    unexplained = [
        name
        for name in table.columns
        if not meanings.get(name)
        and name not in explained
        and not set(words_of(name)) & (SCHEDULE | STIMULUS_WORDS | OUTCOMES | SUMS)
        and len(np.unique(_numbers(table, name))) > 1
    ]
    return tasks[0] if len(tasks) == 1 and not unexplained else ""


def _numbers(table: AnswerTable, name: str) -> NDArray[np.float64]:
    """The numbers of a column, in whatever unit its cells have them; nothing where some are none."""
    column = ColumnSignature(name, table.frame[name].str.strip())
    return column.values[np.isfinite(column.values)]


def _prediction_came_true(table: AnswerTable, response: str) -> str:
    """The reward as whether a prediction came true, where a column of outcomes has the cells of one of predictions."""
    if response not in table.columns or not set(words_of(response)) & PREDICTIONS:
        return ""
    distinct = set(table.frame[response].str.strip()) - {""}
    came = [
        name
        for name in table.columns
        if name != response
        and set(words_of(name)) & OUTCOMES
        and set(table.frame[name].str.strip()) - {""} <= distinct
    ]
    if len(came) != 1:
        return ""
    return f"{response} == {came[0]}"


def won_and_lost(table: AnswerTable) -> str:
    """The reward as what two columns of gains and losses say together; a question where there are no such columns.

    Where every row has a gain and a loss, they may be what a gamble offers, not what was won and lost.
    """
    of = [[n for n in table.columns if set(words_of(n)) & kind] for kind in (GAINS, LOSSES)]
    if not all(len(names) == 1 for names in of):
        return OPEN_QUESTION
    gain, loss = of[0][0], of[1][0]
    lost = numbers_of(table.frame[loss]).dropna()
    if (lost != 0).all() and (numbers_of(table.frame[gain]).dropna() != 0).all():
        return OPEN_QUESTION
    return f"{gain} - {loss}" if (lost > 0).any() else f"{gain} + {loss}"


def _lost(table: AnswerTable) -> str:
    """The reward as what the only column of losses, shocks or costs says, turned round; empty without any."""
    lost = [n for n in table.columns if is_loss(n, numbers_of(table.frame[n]).to_numpy())]
    return f"-{lost[0]}" if len(lost) == 1 and table.frame[lost[0]].nunique() > 1 else ""


def _of_choice(table: AnswerTable, reward: str, response: str) -> str:
    """The reward as the outcome of the option chosen, where its column is that of one option; else as it is."""
    cells = table.frame[response].unique().tolist() if response in table.columns else ()
    return outcome_of_choice(reward, response, cells, table.columns) or reward


def _second_stage(table: AnswerTable, response: str, order: str) -> dict[str, str]:
    """The choice at the second stage and the state before it, where a row is a trial of two stages."""
    words = set(words_of(response))
    if not words & STAGES[0]:
        return {}
    rest = words - STAGES[0]
    second = [n for n in table.columns if set(words_of(n)) & STAGES[1] and rest <= set(words_of(n))]
    state = [n for n in table.columns if "state" in words_of(n) and n not in second]
    if len(second) != 1:
        return {}
    distinct = set(table.frame[second[0]].str.strip()) - {""}
    if not state and {"1", "2", "3", "4"} <= distinct <= {"0", "1", "2", "3", "4"}:
        # Its options are those of one state or of the other; 0 may be a missed choice.
        state = second
    return {"second_choice": second[0], "state": state[0] if len(state) == 1 else OPEN_QUESTION}


def _guessed_options(table: AnswerTable, response: str) -> int | str:
    """Guess the number of options of steps; a question where 0 is so rare that it may stand for no response."""
    if response not in table.columns:
        return 2
    if rare_zero(table.frame[response].str.strip().tolist()):
        return OPEN_QUESTION
    cells = table.frame[response].str.strip()
    values = cells[cells != ""]
    numbers = numbers_of(values)
    if len(values) and numbers.notna().all():
        return n_options_in_a_row(set(numbers.tolist()))
    return max(int(values.nunique()), 2)


def n_options_in_a_row(codes: Collection[float]) -> int:
    """The number of options that numbers stand for: those in a row from 0 or 1; all of them where none is 0 or 1.

    A number outside of the row, such as -999 or 99, is no option; its rows are refused later.
    """
    first = next((number for number in (0, 1) if number in codes), None)
    if first is None:
        return len(codes)
    last = first
    while last + 1 in codes:
        last += 1
    return max(last - first + 1, 2)


def columns_of_labels(table: AnswerTable, domain: Domain) -> list[str]:
    """Columns whose cells are the labels of a domain's options."""
    labels = {label.lower() for label in domain.options}
    cells = {name: set(table.frame[name].str.strip().str.lower()) - {""} for name in table.columns}
    return [name for name, values in cells.items() if len(values) > 1 and values <= labels]


def with_outcomes(
    mapping: AnswerColumns,
    meanings: Mapping[str, str],
    table: AnswerTable,
    domain: Domain,
) -> AnswerColumns:
    """The mapping with a column for everything that follows a choice in a declared task."""
    assert isinstance(domain, HasOutcomes)
    by_meaning = {meaning: name for name, meaning in meanings.items()}
    names = table.columns
    found = {name: name if name in names else OPEN_QUESTION for name in domain.outcome_names}
    came_true = _prediction_came_true(table, mapping.response)
    if found["reward"] == OPEN_QUESTION:
        named = by_meaning.get("reward", OPEN_QUESTION)
        found["reward"] = came_true or _of_choice(table, named, mapping.response)
    events = _events(table, mapping.response, domain.options) if came_true else []
    for name, event in zip(list(found)[1:], events, strict=False):
        if found[name] == OPEN_QUESTION:  # an option would have paid where it is what came
            found[name] = f"{came_true.partition(' == ')[2]} == {event!r}"
    return mapping.model_copy(update={"feedback": found})


def _events(table: AnswerTable, response: str, options: Sequence[str]) -> list[str]:
    """The cell that stands for each option: its label, or numbers in their order; nothing where that is not known."""
    distinct = sorted(set(table.frame[response].str.strip()) - {""})
    by_label = {cell.casefold(): cell for cell in distinct}
    labels = [by_label.get(label.casefold(), "") for label in options]
    if all(labels):
        return labels
    is_number = len(distinct) == len(options) and all(cell.isdigit() for cell in distinct)
    return sorted(distinct, key=int) if is_number else []


def with_numbers(
    mapping: AnswerColumns,
    table: AnswerTable,
    columns: Sequence[ColumnSummary],
    domain: Domain,
    stated: AnswerColumns,
    recognised_response: str,
) -> AnswerColumns:
    """The mapping with the column that holds numbers, or keys with their times.

    Where the user names the right key, responses are keys, and a column of right and wrong is none.
    """
    scale = scale_of(domain)
    assert scale is not None  # see `describe_table`
    used = {str(leaf) for value in mapping.stimulus.values() for leaf in flat(value)}
    if scale.kind != "timed":
        if recognised_response in table.columns and not stated.response:
            return mapping
        named = [item.name for item in columns if may_be_answers(item) and item.name not in used]
        response = named[0] if len(named) == 1 else OPEN_QUESTION
        return mapping.model_copy(update={"response": response, "responses": {}})
    used |= {mapping.participant, mapping.response_time, mapping.order}
    right_key = str((mapping.stimulus | stated.stimulus).get("right_key", ""))
    has_keys = bool(right_key)
    rows = without_practice(_shown_rows(table.frame, mapping))
    response = stated.response or recognised_response
    if response not in table.columns and "==" not in response:
        response = guessed_response(
            rows, used | {right_key}, mapping.response, has_keys=has_keys, right_key=right_key
        )
    code = {}
    if response in table.columns and (not has_keys or right_key in table.columns):
        found = [response, right_key] if has_keys else [response]
        shown = _shown_rows(table.frame, mapping)
        cells = {str(cell) for name in found for cell in folded(shown[name].unique())} - {""}
        if not has_keys:
            code = guessed_correctness(cells, response)
        elif cells <= {str(cell) for cell in folded(shown[found[1]].unique())} | {""}:
            code = guessed_keys(
                cells
            )  # a key that is never right is asked for when responses are read
    if not code and response == mapping.response:
        code = mapping.responses
    changes = {
        "response": response,
        "responses": code,
        "order": "" if begins_anew(table.frame, mapping) else mapping.order,
        "response_time": mapping.response_time or "?",
    }
    return mapping.model_copy(update=changes)


def _shown_rows(frame: pd.DataFrame, mapping: AnswerColumns) -> pd.DataFrame:
    """The rows in which some column of the trials says something; all where no column is known."""
    named = [leaf for leaf in leaves_of(mapping.stimulus) if leaf in frame.columns]
    return frame[(frame[named] != "").any(axis=1)] if named else frame


def begins_anew(frame: pd.DataFrame, mapping: AnswerColumns) -> bool:
    """Whether numbers of trials occur twice for a person, as where they begin anew in each block; copies aside."""
    named_columns = [mapping.participant, mapping.experiment, mapping.order]
    named = [name for name in named_columns if name in frame.columns]
    if mapping.order not in named:
        return False
    rows = frame[(frame[mapping.order] != "").to_numpy()].drop_duplicates()
    return bool(rows.duplicated(named).any())


def _guessed_code(table: AnswerTable, response: str, stimulus: Mapping[str, Any]) -> dict[str, int]:
    """Guess which cell names which option, where the words for the two are known: left and right, ss and ll.

    Words for places say nothing where columns name options by what they are, nor the other way round.
    """
    if response not in table.columns:
        return {}
    distinct = {cell for cell in table.frame[response].str.strip().unique() if cell}
    if is_negative(response):
        return {}
    code, kind = code_of_pair(distinct), kind_of_columns(stimulus)
    words = {word for cell in distinct for word in words_of(cell)}
    names_kinds = any(words & (less | more) for less, more in KINDS.values())
    is_placed = not words <= PLACES or names_places(stimulus)
    if stimulus and (not is_placed or (names_kinds and not kind)):
        return {}
    column = ColumnSignature(response, table.frame[response].str.strip())
    code = code or code_by_sides(column, sorted(distinct), sides_of(stimulus))
    offered = option_offered(stimulus) if stimulus else None
    if code or offered is None:
        return code
    taken = accepts(column, sorted(distinct))
    return {cell: offered if place else 1 - offered for cell, place in taken.items()}


def _unit(table: AnswerTable, column: str) -> Any:
    """Seconds where half of the times are below 20, else milliseconds."""
    if not column:
        return "ms"
    values = numbers_of(table.frame[column]).dropna()
    return "s" if len(values) and float(values.median()) < 20 else "ms"
