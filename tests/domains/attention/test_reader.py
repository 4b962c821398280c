"""Answers with their times come in as a file, and are the trials that a reader of the same data makes."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest

import lakatos
from lakatos.domains import DOMAINS
from lakatos.domains.attention.archives.busch2024 import (
    FILE,
    NAVON,
    NAVON_READER,
    STROOP,
    STROOP_READER,
    read_record,
)
from lakatos.domains.attention.task import SCALE
from lakatos.domains.kit.packed import gzip_lines
from lakatos.domains.published_data import load_archive
from lakatos.experiments.adoption.adopt import adopt
from lakatos.experiments.adoption.describe import describe_table
from lakatos.experiments.adoption.tables import table_of_frame
from lakatos.experiments.errors import ImplausibleError, TrialsError

SAID = {
    "participant": "VP",
    "order": "Durchgang",
    "response": "Taste",
    "response_time": "Zeit",
    "attributes": ["Alter"],
    "experiment": "Aufgabe",
}


FOUR = {"a": 0, "b": 1, "c": 2, "d": 3}
TWO = ["target", "flanker"]
OTHERS = {"target": list("HSHSHS"), "flanker": list("xxxxxx")}


def renamed(reader: Any, task: Any, folder: Any, unit: float) -> pd.DataFrame:
    """What people did, as somebody would keep it: columns of other names, and rows of each person in any order."""
    rows = []
    for number, line in gzip_lines(folder / reader.name / FILE):
        person = read_record(line, "here", task)
        for place, item in enumerate(person.answers):
            time = round(item.time_s * 1000, 3) / unit
            said = (item.target, item.distractor, item.pressed, item.right, time)
            rows.append((f"p{number}", place, *said, person.age_years, task.name))
    names = ["VP", "Durchgang", "Ziel", "Stoerung", "Taste", "Soll", "Zeit", "Alter", "Aufgabe"]
    frame = pd.DataFrame(rows, columns=names)
    rng = np.random.default_rng(3)
    shuffled = frame.iloc[np.lexsort((rng.random(len(frame)), frame["VP"].str[1:].astype(int)))]
    return shuffled[rng.permutation(names)].reset_index(drop=True)


@pytest.mark.parametrize(
    ("reader", "task", "level", "keys", "unit"),
    [
        (NAVON_READER, NAVON, -1, {"s": 0, "h": 1}, 1.0),
        (STROOP_READER, STROOP, 0, {"left": 0, "down": 1, "right": 2}, 1000.0),
    ],
)
def test_a_renamed_and_shuffled_file_is_what_its_reader_makes(
    reader, task, level, keys, unit, data_folder, require
):
    require((data_folder / reader.name).is_dir(), f"the data set {reader.name} is missing")
    (expected,) = load_archive(reader.name, data_folder)
    frame = renamed(reader, task, data_folder, unit)
    shown = {"congruence": ["Ziel", "Stoerung"], "right_key": "Soll", "level": level}
    time = {"response_time_unit": "ms" if unit == 1 else "s"}
    found = lakatos.adopt(frame, "attention", SAID | time | {"responses": keys, "stimulus": shown})
    (own,) = found.trials
    assert replace(own, attributes={}).digest == replace(expected, attributes={}).digest
    ages = own.attributes["Alter"].astype(float)
    assert ages.tolist() == expected.attributes["age_years"].tolist()
    n_out = len(frame) - expected.n_responses
    (said,) = (note for note in found.notes if "are outside of the bins" in note)
    below, above = counts_said(said)
    assert below + above == n_out


def counts_said(note: str) -> tuple[int, int]:
    """How many times were too short and too long."""
    words = note.split()
    return int(words[words.index("responses,") + 1]), int(words[words.index("and") + 1])


def rows(people: str = "ab", **changes: Any) -> pd.DataFrame:
    """Six trials of one person, whose third answer came too late and fifth never, and the same of another person."""
    table = {
        "congruency": ["congruent", "incongruent", "congruent", "incongruent", "congruent", "neutral"],
        "correct_key": ["f", "j", "j", "f", "f", "j"],
        "key": ["f", "f", "j", "f", "", "j"],
        "rt": [0.5, 0.6, 7.0, 0.45, np.nan, 0.9],
    }  # fmt: skip
    return pd.concat(
        [pd.DataFrame({"subject": who} | table | changes) for who in people], ignore_index=True
    )


def shown(answers: lakatos.PeoplesAnswers, name: str) -> list[float]:
    (trials,) = answers.trials
    values = trials.stimuli[name][trials.trial]
    first, second = (values[trials.participant == who].tolist() for who in (0, 1))
    assert first == second
    return first


def test_columns_are_guessed_and_a_row_that_is_no_answer_tells_what_came_before() -> None:
    found = lakatos.adopt(rows())  # the domain is guessed, too
    assert found.domain.name == "attention"
    (trials,) = found.trials
    labels = [SCALE.labels[outcome] for outcome in trials.response[:4]]
    assert [label.split()[0] for label in labels] == ["right", "wrong", "right", "right"]
    assert shown(found, "congruence") == [1, -1, -1, 0]
    assert shown(found, "side") == [-1, 1, -1, 1]
    assert shown(found, "has_previous") == [0, 1, 1, 1]
    assert shown(found, "previous_congruence") == [0, 1, 1, 1]
    assert shown(found, "previous_error") == [0, 0, 0, 1]
    # f was pressed before the second, whose key is j; j before the fourth, whose key is f; none before the last
    assert shown(found, "repeats") == [0, 0, 0, 0]
    assert any(note.startswith("times in rt are seconds (median 0.6 s)") for note in found.notes)
    assert any("of 10 responses, 0 below 0.2 s and 2 above 3 s are" in note for note in found.notes)
    assert any(n.startswith("key or rt is empty") and "2 (6 and " in n for n in found.notes)


def test_right_and_wrong_are_enough_and_what_cannot_be_known_is_said() -> None:
    frame = rows(accuracy=[1, 0, 1, 1, 0, 1]).drop(columns=["key", "correct_key"])
    found = lakatos.adopt(frame)
    (trials,) = found.trials
    assert (trials.response[:4] >= SCALE.n_outcomes // 2).tolist() == [False, True, False, False]
    assert shown(found, "previous_error") == [0, 0, 0, 1]
    assert set(shown(found, "side")) == {1.0}
    assert shown(found, "repeats") == [0] * 4
    assert any("which key was right is not known" in note for note in found.notes)
    # where a column says on which side the right key was, the key pressed follows for two keys
    frame["side"] = ["left", "right", "right", "left", "left", "right"] * 2
    said = lakatos.adopt(frame, columns={"stimulus": {"congruence": "congruency", "side": "side"}})
    keys = lakatos.adopt(rows())
    assert said.trials[0].digest == keys.trials[0].digest


def test_a_column_of_errors_is_read_as_one() -> None:
    frame = rows(error=[0, 1, 0, 0, 1, 0]).drop(columns=["key", "correct_key"])
    (trials,) = lakatos.adopt(frame).trials
    assert (trials.response[:4] >= SCALE.n_outcomes // 2).tolist() == [False, True, False, False]


def test_a_new_block_begins_with_a_first_trial() -> None:
    parts = {"congruence": "congruency", "right_key": "correct_key", "block": "part"}
    found = lakatos.adopt(rows(part=list("111222")), columns={"stimulus": parts})
    assert shown(found, "has_previous") == [0, 1, 0, 1]


def test_a_distractor_that_is_never_asked_for_suggests_no_answer() -> None:
    frame = rows(target=list("HSHSHS"), flanker=list("HHHHHX")).drop(columns="congruency")
    assert shown(lakatos.adopt(frame), "congruence") == [1, -1, -1, 0]


@pytest.mark.parametrize(
    ("changes", "said", "words"),
    [
        ({"rt": [500, 600, 700, 450, 300, 900]}, {"response_time_unit": "s"}, "Say the unit"),
        ({"congruency": ["congruent"] * 5 + ["odd"]}, {}, "rows 7 and 13: congruency is 'odd', which is none"),
        ({"key": list("ffjffx")}, {"responses": {"f": 0, "j": 1}}, "rows 7 and 13: key is 'x', which is no answer"),
        ({}, {"responses": {"f": 0, "j": 2}}, "keys from the left, from 0"),
        ({"key": list("abcdab"), "correct_key": list("abcdab")}, {"responses": FOUR}, "2 or 3 keys, and these have 4"),
        ({}, {"response_time": ""}, "name the columns"),
        ({}, {"participant": "", "count": "rt"}, "cannot be counted by option"),
        ({"trial": [1, 2, 3] * 2}, {"order": "trial"}, "rows 5, 6, 7 and 3 more: trial says the same"),
        ({"key": ""}, {"responses": {"f": 0, "j": 1}}, "no row has both key and rt"),
        ({}, {"bad_rows": "refuse"}, "key or rt is empty"),
        (OTHERS, {"stimulus": {"congruence": TWO, "right_key": "correct_key"}}, "is never the same as target"),
        ({"rt": [0.01] * 6}, {}, "most are not from 0.2 to 3 s"),
    ],
)  # fmt: skip
def test_what_cannot_be_read_is_refused_with_what_to_do(
    changes: dict[str, Any], said: dict[str, Any], words: str
) -> None:
    parts = {"congruence": "congruency", "right_key": "correct_key"}
    usual = {"participant": "subject", "response": "key", "response_time": "rt"}
    usual |= {"response_time_unit": "s", "responses": {}, "stimulus": parts}
    with pytest.raises(TrialsError, match=words):
        lakatos.adopt(rows(**changes), "attention", usual | said)


def test_a_person_without_any_answer_is_left_out_and_told() -> None:
    never = rows("n", rt=[9.0] * 6)
    found = lakatos.adopt(pd.concat([never, rows()], ignore_index=True))
    assert found.trials[0].n_participants == 2
    assert any("no time of this person can be that of an answer" in note for note in found.notes)
    assert any("1 person has no row left" in note for note in found.notes)


def test_a_description_guesses_keys_as_they_lie_and_says_what_is_open() -> None:
    table = table_of_frame("t", rows())
    found = describe_table(table, DOMAINS["attention"])
    assert found.mapping.responses == {"f": 0, "j": 1}
    assert found.mapping.stimulus == {"congruence": "congruency", "right_key": "correct_key"}
    assert (found.mapping.response, found.mapping.response_time_unit) == ("key", "s")
    nothing = describe_table(
        table_of_frame("t", rows().drop(columns="congruency")), DOMAINS["attention"]
    )
    assert nothing.mapping.stimulus == {"congruence": "?"}


def test_a_key_that_always_comes_at_the_deadline_with_an_error_is_a_missed_response() -> None:
    frame = arrows(LETTERS, ARROWS).drop(columns="arrow")
    frame["accuracy"] = np.where(np.arange(320) % 11, 1, 0)
    frame["response"] = frame["response"].replace({"l": "37", "r": "39"})
    late = np.arange(320) % 22 == 11
    frame.loc[late, ["response", "accuracy", "rt"]] = ["0", 0, 3.0]
    table = table_of_frame("t", frame)
    found = describe_table(table, DOMAINS["attention"])
    assert found.mapping.response == "accuracy"
    with pytest.raises(ImplausibleError, match=r"response is 0 in .*--column missing\.response=0"):
        adopt(table, found.mapping, DOMAINS["attention"])
    said = found.with_columns({"missing": {"response": ["0"]}})
    (kind,) = adopt(table, said.mapping, DOMAINS["attention"]).left_out.kinds
    assert len(kind.rows) == late.sum()


def test_rows_of_a_screen_without_responses_are_asked_about() -> None:
    """They would be missed trials before the next ones."""
    shown = arrows(LETTERS, ARROWS).drop(columns=["arrow", "response"])
    shown = shown.assign(screen="stimulus", accuracy=np.where(np.arange(320) % 11, 1, 0))
    empty = shown.assign(screen="fixation", accuracy="", rt="")
    frame = pd.concat([empty, shown]).sort_index(kind="stable").reset_index(drop=True)
    frame = frame.drop(columns="trial")
    mapping = describe_table(table_of_frame("t", shown), DOMAINS["attention"]).mapping
    mapping = mapping.model_copy(update={"order": ""})
    table = table_of_frame("t", frame)
    with pytest.raises(ImplausibleError, match=r"rows 2, 4, 6 .*'where.screen=stimulus'"):
        adopt(table, mapping, DOMAINS["attention"])
    alone = adopt(table_of_frame("t", shown), mapping, DOMAINS["attention"])
    kept = mapping.model_copy(update={"where": {"screen": "stimulus"}})
    (found,) = adopt(table, kept, DOMAINS["attention"]).trials
    assert found.digest == alone.trials[0].digest


def test_rows_left_out_are_counted_by_the_conditions_that_cells_were_recoded_to() -> None:
    frame = arrows(UPPER, UPPER).replace({"incongruent": "other"})
    frame["phase"] = np.where(frame["trial"] < 5, "practice", "main")
    table = table_of_frame("t", frame)
    said = {
        "stimulus": {"congruence": "congruency"},
        "recode": {"congruency": {"other": "incongruent"}},
    }
    mapping = describe_table(table, DOMAINS["attention"]).with_columns(said).mapping
    (kind,) = adopt(table, mapping, DOMAINS["attention"]).left_out.kinds
    assert kind.reason == "phase is not main"
    assert set(kind.conditions["congruency"]) == {"congruent", "incongruent"}


def test_numbers_of_trials_that_begin_anew_are_not_taken_for_the_order() -> None:
    anew = describe_table(table_of_frame("t", rows(trial=[1, 2, 3] * 2)))
    on = describe_table(table_of_frame("t", rows(trial=[1, 2, 3, 4, 5, 6])))
    assert (anew.mapping.order, on.mapping.order) == ("", "trial")


def arrows(response: dict[str, str], arrow: dict[str, str]) -> pd.DataFrame:
    """Responses of 8 participants to arrows, one in ten of them wrong, in words for left and right."""
    rng = np.random.default_rng(7)
    shown = np.tile(["left", "right", "right", "left", "right"], 64)
    is_right = rng.random(320) > 0.1
    pressed = np.where(is_right, shown, np.where(shown == "left", "right", "left"))
    return pd.DataFrame(
        {
            "subject": np.repeat(np.arange(8), 40),
            "trial": np.tile(np.arange(40), 8),
            "congruency": rng.choice(["congruent", "incongruent"], 320),
            "arrow": [arrow[side] for side in shown],
            "response": [response[side] for side in pressed],
            "rt": rng.uniform(0.3, 0.9, 320).round(3),
        }
    )


UPPER, LETTERS, ARROWS = (
    dict(zip(("left", "right"), own, strict=True)) for own in (("LEFT", "RIGHT"), "lr", "<>")
)


@pytest.mark.parametrize(
    ("response", "arrow"), [(UPPER, UPPER), (LETTERS, LETTERS), (UPPER, ARROWS), (LETTERS, ARROWS)]
)
def test_a_column_of_sides_that_responses_mostly_repeat_is_the_right_key(
    response: dict[str, str], arrow: dict[str, str]
) -> None:
    frame = arrows(response, arrow)
    found = describe_table(table_of_frame("t", frame))
    assert found.domain == "attention"
    assert found.mapping.stimulus == {"congruence": "congruency", "right_key": "arrow"}
    assert found.mapping.response == "response"
    (trials,) = adopt(table_of_frame("t", frame), found.mapping, DOMAINS["attention"]).trials
    n_right = sum(SCALE.in_words(int(code)).startswith("right") for code in trials.response)
    assert n_right == (frame["response"].map(_place) == frame["arrow"].map(_place)).sum()


def _place(cell: str) -> int:
    return int(cell in ("RIGHT", "r", ">"))


def test_a_distractor_that_mostly_agrees_with_the_right_key_is_not_taken_for_it() -> None:
    frame = arrows(UPPER, UPPER)
    is_congruent = np.arange(320) % 4 > 0
    frame["congruency"] = np.where(is_congruent, "congruent", "incongruent")
    other = frame["arrow"].map({"LEFT": "RIGHT", "RIGHT": "LEFT"})
    frame["around"] = frame["arrow"].where(is_congruent, other)
    found = describe_table(table_of_frame("t", frame.drop(columns="arrow"))).mapping
    assert (found.stimulus, found.response) == ({"congruence": "congruency"}, "?")


def test_sides_are_never_read_as_right_and_wrong() -> None:
    frame = arrows(UPPER, UPPER)
    said = {
        "response": "response",
        "responses": {"left": 0, "right": 1},
        "stimulus": {"right_key": ""},
    }
    table = table_of_frame("t", frame)
    mapping = describe_table(table, DOMAINS["attention"]).with_columns(said).mapping
    with pytest.raises(TrialsError, match=r"left and right.*--column right_key=COLUMN"):
        adopt(table, mapping, DOMAINS["attention"])
