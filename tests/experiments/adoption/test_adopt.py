"""Columns become experiments; what cannot be read is named by its row."""

from __future__ import annotations

import sys
import tomllib
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from pydantic import ValidationError

sys.path.insert(0, str(Path(__file__).parents[2] / "domains" / "declared"))

from feedback_tasks import BANDIT, WEATHER
from tasks import gifts

from lakatos.domains import DOMAINS
from lakatos.domains.declared.feedback_task import FeedbackDomain
from lakatos.domains.declared.task import DeclaredDomain
from lakatos.domains.published_data import load_archive
from lakatos.experiments.adoption.adopt import MOST_ANSWERS, adopt, check_fits
from lakatos.experiments.adoption.describe import describe_table
from lakatos.experiments.adoption.mapping import AnswerColumns
from lakatos.experiments.adoption.packing import pack_answers, unpack_answers
from lakatos.experiments.adoption.study_text import study_text
from lakatos.experiments.adoption.tables import AnswerTable, n_lines, read_answers
from lakatos.experiments.errors import TrialsError
from lakatos.experiments.task import Trials

DATED: dict[str, Any] = {
    "participant": "who",
    "response": "took",
    "stimulus": {"amounts": ["x1", "x2"], "delays_days": ["t1", "t2"]},
}
ROWS = [
    ("anna", "1", "5", "10", "0", "30"),
    ("anna", "0", "4", "9", "0", "7"),
    ("bea", "1", "4", "9", "0", "7"),
    ("bea", "1", "5", "10", "0", "30"),
]


def table(rows: list[tuple[str, ...]], columns: str = "who took x1 x2 t1 t2") -> AnswerTable:
    frame = pd.DataFrame(rows, columns=columns.split(), index=range(2, len(rows) + 2), dtype=str)
    return AnswerTable("t.csv", frame)


def dated(rows: list[tuple[str, ...]], **changes: Any) -> Trials:
    columns = AnswerColumns(**(DATED | changes))
    (found,) = adopt(table(rows), columns, DOMAINS["intertemporal"]).trials
    return found


def test_equal_rows_are_one_trial_and_people_are_numbered_as_they_come() -> None:
    found = dated(ROWS)
    assert found.stimuli["amounts"].tolist() == [[5, 10], [4, 9]]
    assert found.participant.tolist() == [0, 0, 1, 1]
    assert found.trial.tolist() == [0, 1, 1, 0]
    assert found.response.tolist() == [1, 0, 1, 1]
    assert found.n_people == 2


def test_rows_in_any_order_are_sorted_by_their_place() -> None:
    rows = [(*row, str(place)) for row, place in zip(ROWS, (2, 1, 2, 1), strict=True)]
    columns = AnswerColumns(**DATED, order="n")
    (found,) = adopt(
        table(rows, "who took x1 x2 t1 t2 n"), columns, DOMAINS["intertemporal"]
    ).trials
    assert found.response.tolist() == [0, 1, 1, 1]
    assert found.stimuli["amounts"][found.trial].tolist() == [[4, 9], [5, 10], [5, 10], [4, 9]]


def test_a_unit_of_delays_counts() -> None:
    weeks = dated(ROWS, stimulus={**DATED["stimulus"], "delay_unit": "weeks"})
    assert weeks.stimuli["delays_days"].tolist() == [[0, 210], [0, 49]]


def test_labels_say_which_option() -> None:
    rows = [(row[0], "blue" if row[1] == "1" else "red", *row[2:]) for row in ROWS]
    found = dated(rows, responses={"red": 0, "blue": 1})
    assert found.response.tolist() == [1, 0, 1, 1]
    with pytest.raises(
        TrialsError, match=r"rows 2, .*: took is 'blue' or 'red', which names no option"
    ):
        dated(rows)
    typed = [("cleo", "9", *ROWS[0][2:]), *ROWS]
    with pytest.raises(TrialsError, match=r"row 2: took is '9', which is no option; options are 0"):
        dated(typed)


def test_shares_and_counts_are_the_same_answers() -> None:
    stimulus = {"a_amounts": ["x"], "a_probabilities": [1],
                "b_amounts": ["y", 0], "b_probabilities": ["p"]}  # fmt: skip
    rows = [("3", "4", "0.8", "80", "95", "19", "76"), ("5", "9", "0.5", "60", "10", "4", "6")]
    made = table(rows, "x y p share n a b")
    by_share = AnswerColumns(count="n", share="share", stimulus=stimulus)
    by_counts = AnswerColumns(counts=("a", "b"), stimulus=stimulus)
    (first,), (second,) = (
        adopt(made, columns, DOMAINS["risky"]).trials for columns in (by_share, by_counts)
    )
    assert first.counts.tolist() == second.counts.tolist() == [[[19, 76], [4, 6]]]
    assert first.pooled
    assert first.digest == second.digest
    assert first.stimuli["probabilities"][0, 1, :2].tolist() == pytest.approx([0.2, 0.8])


@pytest.mark.parametrize(("cell", "column"), [(0, "who"), (1, "took"), (2, "x1"), (5, "t2")])
def test_rows_with_an_empty_cell_are_left_out_and_told(cell: int, column: str) -> None:
    rows = [list(row) for row in ROWS]
    rows[2][cell] = ""
    made = table([tuple(row) for row in rows])
    found = adopt(made, AnswerColumns(**DATED), DOMAINS["intertemporal"])
    left_out = [note for note in found.about_rows if "left out" in note]
    assert left_out == [f"1 row is left out: {column} is empty (row 4)"]
    assert found.left_out.n_rows == 1
    rest = dated([row for place, row in enumerate(ROWS) if place != 2])
    assert found.trials[0].digest == rest.digest
    with pytest.raises(
        TrialsError, match=rf"row 4: {column} is empty. .*bad_rows = .leave_out_empty"
    ):
        adopt(made, AnswerColumns(**DATED, bad_rows="refuse"), DOMAINS["intertemporal"])


@pytest.mark.parametrize(
    ("cell", "value", "said"),
    [
        (2, "five", "x1 is no number"),
        (4, "-3", "it shows no such trial: delays_days are [-3.0, 7.0]; give"),
        (1, "2", "took is no option"),
    ],
)
def test_rows_with_a_wrong_cell_are_refused_unless_a_study_leaves_them_out(
    cell: int, value: str, said: str
) -> None:
    rows = [list(row) for row in ROWS]
    rows[2][cell] = value
    made = table([tuple(row) for row in rows])
    columns = {"responses": {"0": 0, "1": 1}} if cell == 1 else {}
    with pytest.raises(TrialsError, match=r'row 4.*bad_rows = "leave_out" in participants.columns'):
        adopt(made, AnswerColumns(**DATED, **columns), DOMAINS["intertemporal"])
    kept = AnswerColumns(**DATED, **columns, bad_rows="leave_out")
    found = adopt(made, kept, DOMAINS["intertemporal"])
    assert sum("left out" in note for note in found.about_rows) == 1
    assert found.about_rows[0].startswith(f"1 row is left out: {said}")
    assert found.about_rows[0].endswith("(row 4)")
    assert found.trials[0].digest == dated([ROWS[0], ROWS[1], ROWS[3]]).digest


def test_a_mapping_that_most_rows_do_not_fit_is_refused_and_not_left_out() -> None:
    rows = [(row[0], row[1], "x", *row[3:]) for row in ROWS[:3]] + [ROWS[3]]
    columns = AnswerColumns(**DATED, bad_rows="leave_out")
    with pytest.raises(
        TrialsError, match=r"3 of 4 rows cannot be read: participants.columns does not fit"
    ):
        adopt(table(rows), columns, DOMAINS["intertemporal"])


def test_a_person_of_whom_no_row_is_left_is_told() -> None:
    rows = [*ROWS, ("cleo", "", "5", "10", "0", "30")]
    found = adopt(table(rows), AnswerColumns(**DATED), DOMAINS["intertemporal"])
    assert "1 person has no row left" in found.notes


def test_copies_of_rows_are_left_out_where_their_time_shows_that_they_are_copies() -> None:
    rows = [(*row, str(400.25 + place)) for place, row in enumerate(ROWS)]
    head = "who took x1 x2 t1 t2 rt"
    made = table([*rows, rows[1]], head)
    timed = AnswerColumns(**DATED, response_time="rt")
    found = adopt(made, timed, DOMAINS["intertemporal"])
    assert found.trials[0].digest == dated(ROWS).digest
    assert found.about_rows[0].startswith(
        "1 row is left out: it equals an earlier one in every cell"
    )
    found = adopt(made, AnswerColumns(**DATED), DOMAINS["intertemporal"])
    assert len(found.trials[0].response) == 5
    assert (
        "1 row equal to an earlier one in every cell (row 6) counted as an answer" in found.notes[0]
    )
    with pytest.raises(TrialsError, match="row 6: equal to an earlier row"):
        adopt(made, timed.model_copy(update={"bad_rows": "refuse"}), DOMAINS["intertemporal"])


@pytest.mark.parametrize("is_counted", [True, False])
def test_a_table_that_stands_twice_is_one_table_though_its_rows_are_numbered(
    is_counted: bool,
) -> None:
    rows = [("anna", "0", "5", str(10 + place), "0", "30") for place in range(10)]
    head = "who took x1 x2 t1 t2" + " row" * is_counted
    twice = [(*row, str(place)) if is_counted else row for place, row in enumerate(rows * 2)]
    found = adopt(table(twice, head), AnswerColumns(**DATED), DOMAINS["intertemporal"])
    assert found.trials[0].digest == dated(rows).digest
    assert "the whole table stands in the file twice" in found.about_rows[0]


def test_whole_milliseconds_that_come_twice_are_no_copies_unless_the_whole_table_is_there_twice() -> (
    None
):
    rows = [(*row, str(400 + place)) for place, row in enumerate(ROWS)]
    head = "who took x1 x2 t1 t2 rt"
    timed = AnswerColumns(**DATED, response_time="rt")
    once = adopt(table([*rows, rows[1]], head), timed, DOMAINS["intertemporal"])
    assert len(once.trials[0].response) == len(ROWS) + 1
    assert "1 row equal to an earlier one" in once.notes[0]
    twice = adopt(table(rows * 2, head), timed, DOMAINS["intertemporal"])
    assert twice.trials[0].digest == dated(ROWS).digest


def test_people_who_may_be_one_are_told_by_their_rows_and_not_by_name() -> None:
    rows = [*ROWS, ("Anna ", *ROWS[2][1:])]
    found = adopt(table(rows), AnswerColumns(**DATED), DOMAINS["intertemporal"])
    assert found.trials[0].n_people == 3
    (told,) = [note for note in found.about_rows if "names of people differ" in note]
    assert "first in rows 2 and 6" in told
    assert "nna" not in told


def test_answers_of_one_experiment_are_numbered_as_those_of_all() -> None:
    rows = [(*row, "a" if row[0] == "bea" else "b") for row in ROWS]
    columns = AnswerColumns(**DATED, experiment="e")
    found = adopt(table(rows, "who took x1 x2 t1 t2 e"), columns, DOMAINS["intertemporal"])
    answers = {item.experiment: item.response.tolist() for item in found.trials}
    assert answers == {"a": [1, 1], "b": [1, 0]}
    with pytest.raises(TrialsError, match="names no option that is known"):
        dated(ROWS[2:])  # nobody knows whether 1 is the first option or the second


def test_what_to_do_with_bad_rows_changes_no_study_that_does_not_say_it() -> None:
    assert "bad_rows" not in AnswerColumns(**DATED).model_dump()
    assert AnswerColumns(**DATED, bad_rows="refuse").model_dump()["bad_rows"] == "refuse"


def test_a_row_a_person_with_questions_in_a_second_file() -> None:
    wide = table([("anna", "1", "0"), ("bea", "", "1")], "who Q1 Q2")
    items = table(
        [("Q1", "5", "10", "0", "30"), ("Q2", "4", "9", "0", "7")], "question x1 x2 t1 t2"
    )
    columns = AnswerColumns(
        participant="who", wide="Q*", items="items.csv", item="question", stimulus=DATED["stimulus"]
    )
    found = adopt(wide, columns, DOMAINS["intertemporal"], items)
    (trials,) = found.trials
    assert trials.participant.tolist() == [0, 0, 1]
    assert trials.response.tolist() == [1, 0, 1]
    assert trials.trial.tolist() == [0, 1, 1]
    assert found.about_rows[0] == "1 row is left out: the response is empty (row 3)"
    told = " ".join(found.notes)
    assert "since a row holds all responses of a participant" in found.closed["order"] + told


def test_steps_of_people_who_learn_are_numbered_in_their_order() -> None:
    rows = [("a", "1", "1"), ("a", "2", "0"), ("b", "2", "1"), ("b", "3", "0")]
    columns = AnswerColumns(
        participant="who", response="arm", stimulus={"options": 3}, feedback={"reward": "won"}
    )
    (found,) = adopt(table(rows, "who arm won"), columns, DOMAINS["learning"]).trials
    assert found.response.tolist() == [0, 1, 1, 2]
    assert found.trial.tolist() == [0, 1, 0, 1]
    assert found.feedback["reward"].tolist() == [1, 0, 1, 0]


GAME = "who row own_11 own_12 own_21 own_22 other_11 other_12 other_21 other_22"


def test_games_come_in_by_the_payoffs_of_their_cells() -> None:
    dilemma = ("30", "1", "45", "10", "30", "45", "1", "10")
    rows = [("a", "2", *dilemma), ("b", "1", *dilemma), ("b", "1", *["7"] * 8)]
    made = table(rows, GAME)
    guessed = describe_table(made)
    assert guessed.domain == "games"
    assert guessed.mapping.stimulus["other"] == [["other_11", "other_12"], ["other_21", "other_22"]]
    columns = AnswerColumns(participant="who", response="row", stimulus=guessed.mapping.stimulus)
    (found,) = adopt(made, columns, DOMAINS["games"]).trials
    assert found.stimuli["own"][0].tolist() == [[30, 1], [45, 10]]
    assert found.stimuli["other"][0].tolist() == [[30, 45], [1, 10]]
    assert found.trial.tolist() == [0, 0, 1]
    assert found.response.tolist() == [1, 0, 0]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"own": ["own_11", "own_12"]}, "has shape"),
        ({"own": [["own_11", "own_12"], ["own_21"]]}, "the lists of own have different lengths"),
    ],
)
def test_a_game_without_all_cells_is_refused(change: dict[str, Any], words: str) -> None:
    rows = [("a", "2", *["5"] * 8), ("b", "1", *["6"] * 8)]
    made = table(rows, GAME)
    stimulus = describe_table(made).mapping.stimulus | change
    columns = AnswerColumns(participant="who", response="row", stimulus=stimulus)
    with pytest.raises(TrialsError, match=words):
        adopt(made, columns, DOMAINS["games"])


def test_answers_to_a_declared_task_with_feedback_name_its_options() -> None:
    rows = [("a", "Red", "10", "1"), ("a", "Blue", "0", "0"), ("b", "Blue", "10", "1")]
    made = table(rows, "who deck points start")
    domain = FeedbackDomain(BANDIT)
    guessed = describe_table(made, domain).mapping
    assert guessed.feedback == {"reward": "points"}
    assert guessed.response == "deck"  # its cells are the labels of the options
    columns = AnswerColumns(
        participant="who",
        response="deck",
        stimulus={"block_start": "start"},
        feedback={"reward": "points"},
    )
    (found,) = adopt(made, columns, domain).trials
    domain.check(found.stimuli)
    assert found.response.tolist() == [0, 1, 1]
    assert found.feedback["reward"].tolist() == [10, 0, 10]
    assert found.stimuli["block_start"].tolist() == [1, 0]


def test_attributes_and_all_outcomes_of_a_declared_task_come_in() -> None:
    rows = [("a", "left", "10", "20", "round", "pointed", "1", "1", "3"),
            ("b", "right", "10", "20", "round", "pointed", "3", "1", "3")]  # fmt: skip
    columns = AnswerColumns(
        participant="who", response="took", stimulus={"height": ["h1", "h2"], "leaf": ["l1", "l2"]},
        feedback={"reward": "got", "outcome_1": "o1", "outcome_2": "o2"},
    )  # fmt: skip
    made, domain = table(rows, "who took h1 h2 l1 l2 got o1 o2"), FeedbackDomain(WEATHER)
    (found,) = adopt(made, columns, domain).trials
    assert found.stimuli["height"].tolist() == [[10, 20]]
    assert found.stimuli["leaf"].tolist() == [[0, 1]]
    assert found.feedback["outcome_2"].tolist() == [3, 3]
    with pytest.raises(
        TrialsError, match=r"say which column holds what .*: --column feedback.outcome_1=COLUMN"
    ):
        adopt(made, columns.model_copy(update={"feedback": {"reward": "got"}}), domain)
    other = [rows[0], (*rows[1][:2], "30", *rows[1][3:])]
    with pytest.raises(TrialsError, match="differs between people at one step"):
        adopt(table(other, "who took h1 h2 l1 l2 got o1 o2"), columns, domain)


def test_experiments_and_rows_that_count() -> None:
    rows = [(*row, name) for row, name in zip(ROWS * 2, ["main"] * 4 + ["pilot"] * 4, strict=True)]
    made = table(rows, "who took x1 x2 t1 t2 part")
    apart = AnswerColumns(**DATED, experiment="part")
    found = adopt(made, apart, DOMAINS["intertemporal"])
    assert [item.experiment for item in found.trials] == ["main", "pilot"]
    some = AnswerColumns(**DATED, where={"part": "main"})
    (main,) = adopt(made, some, DOMAINS["intertemporal"]).trials
    assert main.n_responses == 4
    with pytest.raises(TrialsError, match="no row is as"):
        adopt(made, AnswerColumns(**DATED, where={"part": "x"}), DOMAINS["intertemporal"])


@pytest.mark.parametrize(
    ("cell", "value", "said"),
    [
        (2, "five", r"row 3: x1 is 'five', which is no number"),
        (2, "1e99", r"row 3 shows no such trial"),
        (1, "3", r"rows 2, .*: took is '1' or '3', which names no option"),
        (1, "0.5", r"which names no option"),
        (4, "-3", r"row 3 shows no such trial"),
        (4, "inf", r"row 3: t1 is 'inf', which is no number"),
    ],
)
def test_what_cannot_be_read_is_named_by_its_row(cell: int, value: str, said: str) -> None:
    rows = [list(row) for row in ROWS]
    rows[1][cell] = value
    with pytest.raises(TrialsError, match=said):
        dated([tuple(row) for row in rows])


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"stimulus": {"amounts": ["x1", "x2"]}}, "the part 'delays_days' is missing"),
        ({"stimulus": {**DATED["stimulus"], "price": "x1"}}, "there is no part 'price'"),
        (
            {"stimulus": {**DATED["stimulus"], "amounts": ["x1", "?"]}},
            r"number or cell is stimulus\.amounts\. .*--column st",
        ),
        ({"participant": "whom"}, "did you mean 'who'"),
        ({"response": ""}, "name the columns 'participant' and 'response'"),
    ],
)
def test_a_mapping_that_leaves_something_open_is_refused(
    changes: dict[str, Any], said: str
) -> None:
    with pytest.raises(TrialsError, match=said):
        dated(ROWS, **changes)


@pytest.mark.parametrize(
    "changes",
    [
        {"participant": "who", "count": "n"},
        {"share": "s"},
        {"counts": ["a", "b"], "response": "r"},
        {"items": "x.csv"},
        {"wide": "Q*"},
    ],
)
def test_keys_that_contradict_one_another_are_refused(changes: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        AnswerColumns(**changes)


def test_answers_as_an_artifact_come_back_as_they_were() -> None:
    found = dated(ROWS)
    (back,) = unpack_answers(pack_answers([found]))
    assert back.digest == found.digest


@pytest.mark.parametrize(
    ("head", "delays"),
    [
        ("who took amount_now amount_later delay_now delay_later", ["delay_now", "delay_later"]),
        ("who took amount_now amount_later days delay_later", ["days", "delay_later"]),
        ("who took amount_now amount_later x delay_later", [0, "delay_later"]),
        ("who took amountToday amountLater x delay", [0, "delay"]),
        ("who took sooner_amount later_amount x delay", [0, "delay"]),
        ("who took sooner_amount later_amount x y", None),
    ],
)
def test_money_now_and_later_is_known_by_its_columns_names(head: str, delays: Any) -> None:
    found = describe_table(table(ROWS, head))
    names = head.split()
    if delays is None:
        assert found.domain == ""
    else:
        assert found.mapping.stimulus == {"amounts": names[2:4], "delays_days": delays}


SURE_OR_UNCERTAIN = [
    ("anna", "0", "5", "1", "20", "0.2", "3", "0.3", "0", "0.5"),
    ("anna", "1", "4", "1", "9", "0.5", "1", "0.5", "", ""),
    ("bea", "1", "5", "1", "20", "0.2", "3", "0.3", "0", "0.5"),
]


@pytest.mark.parametrize(
    "head",
    [
        "person choice a_x1 a_p1 b_x1 b_p1 b_x2 b_p2 b_x3 b_p3",
        "person choice safe_v_1 safe_p_1 risky_v_1 risky_p_1 risky_v_2 risky_p_2 risky_v_3 risky_p_3",
        "person choice leftX leftP rightX1 rightP1 rightX2 rightP2 rightX3 rightP3",
        "person choice v_0_a p_0_a v_0_b p_0_b v_1_b p_1_b v_2_b p_2_b",
    ],
)
def test_gambles_with_unequal_numbers_of_outcomes_keep_their_sides(head: str) -> None:
    made = table(SURE_OR_UNCERTAIN, head)
    names, guessed = head.split(), describe_table(made)
    assert guessed.domain == "risky"
    assert guessed.mapping.stimulus == {
        "a_amounts": [names[2]], "a_probabilities": [names[3]],
        "b_amounts": names[4::2], "b_probabilities": names[5::2],
    }  # fmt: skip
    (found,) = adopt(made, guessed.mapping, DOMAINS["risky"]).trials
    assert found.stimuli["outcomes"][:, :, :3].tolist() == [
        [[5, 5, 5], [0, 3, 20]],
        [[4, 4, 4], [1, 9, 9]],
    ]
    assert found.response.tolist() == [0, 1, 1]


@pytest.mark.parametrize(
    "head",
    [
        "person choice a_x1 x b_x1 b_p1 b_x2 b_p2 b_x3 b_p3",  # the chances of one option alone
        "person choice x_1_1 p_1_1 x_1_2 p_1_2 x_2_1 p_2_1 x_2_2 p_2_2",  # which number is the option?
        "person choice a_x1 a_p1 b_x1 z b_x2 b_p2 b_x3 b_p3",  # the first outcome's chance is left out
    ],
)
def test_gambles_whose_columns_tell_no_sides_are_asked_for(head: str) -> None:
    made = table(SURE_OR_UNCERTAIN, head)
    assert describe_table(made).domain == ""
    guessed = describe_table(made, DOMAINS["risky"]).mapping
    with pytest.raises(TrialsError, match=r"nothing says yet which column.* is stimulus.a_amounts"):
        adopt(made, guessed, DOMAINS["risky"])


def test_columns_of_options_are_in_the_order_of_labels_sides_or_numbers_not_of_the_alphabet() -> (
    None
):
    labels = ("yes", "no")
    layouts = [
        (labels, ["pay_no", "pay_yes"], ["pay_yes", "pay_no"]),
        (labels, ["pay_late", "pay_soon"], ["pay_soon", "pay_late"]),
        (tuple("abcdefghijk"), [f"pay_{n}" for n in range(11, 0, -1)], [f"pay_{n}" for n in range(1, 12)]),
    ]  # fmt: skip
    for options, names, ordered in layouts:
        domain = DeclaredDomain(
            f'name = "paid"\nquestion = "Which?"\ninstructions = ["Choose."]\noptions = {list(options)}\n'
            '[attributes.pay]\nkind = "number"\nlabel = "pay"\nfrom = 1\nto = 12\nstep = 1\n'
        )
        found = describe_table(
            table([("1",) * (len(names) + 2)], f"person choice {' '.join(names)}"), domain
        )
        assert found.mapping.stimulus == {"pay": ordered}


def test_one_is_told_in_the_singular() -> None:
    person = ("p1", "ss", "10", "20", "0", "")
    head = "person took x1 x2 t1 t2"
    rows = [person]
    found = describe_table(table([*rows, ("p2", "ss", "10", "20", "0", "30")], head))
    assert "2 participants with 1 row each" in found.facts
    found = describe_table(table(rows, head))
    assert "1 different trial, each in 1.0 rows on average" in found.facts
    assert "t2: 1 empty cell" in found.odd
    twice = describe_table(table([*rows, *rows, *rows, ("p2", *person[1:])], head))
    assert "2 rows equal to an earlier one in every cell (rows 3 and 4)" in twice.odd


@pytest.mark.parametrize(
    "name", ["a\nb.csv", "a\r[stop]\n.csv", "a\x1b[31m.csv", "a\x7f\x00.csv", 'a"b\\.csv']
)
def test_any_name_of_a_file_stays_in_its_comment_and_its_text(name: str) -> None:
    made = describe_table(table(ROWS))
    assert made.domain is not None
    text = study_text("s", "?", DOMAINS[made.domain], name, made.mapping, ["hyperbolic"])
    plain = study_text("s", "?", DOMAINS[made.domain], "a.csv", made.mapping, ["hyperbolic"])
    value, expected = tomllib.loads(text), tomllib.loads(plain)
    assert value["participants"].pop("file") == name
    assert expected["participants"].pop("file") == "a.csv"
    assert value == expected


def test_a_written_study_says_the_guessed_mapping(tmp_path: Path) -> None:
    made = describe_table(table(ROWS))
    assert made.domain == "intertemporal"
    text = study_text(
        "s",
        'A "question"\x07?',
        DOMAINS[made.domain],
        "a b.csv",
        made.mapping,
        ["hyperbolic", "exponential"],
    )
    value = tomllib.loads(text)
    assert value["question"] == 'A "question"\x07?'
    assert AnswerColumns(**value["participants"]["columns"]) == made.mapping


def renamed(data: pd.DataFrame, names: dict[str, str], seed: int) -> pd.DataFrame:
    """The columns that are named, under other names and in another order, with rows of different people mixed."""
    rng = np.random.default_rng(seed)
    frame = data[list(names)].rename(columns=names)
    return frame[list(rng.permutation(list(frame.columns)))]


@pytest.mark.slow
def test_published_answers_adopted_by_file_equal_those_of_the_built_in_reader(
    data_folder: Path, tmp_path: Path
) -> None:
    data = pd.read_csv(data_folder / "intertemporal_ericson2015" / "choices.csv", dtype=str)
    names = {"Subject": "Vp", "Condition": "Bedingung", "X1": "frueh_geld", "X2": "spaet_geld",
             "T1": "frueh_wochen", "T2": "spaet_wochen", "LaterOptionChosen": "Wahl"}  # fmt: skip
    renamed(data, names, 1).to_csv(tmp_path / "own.csv", sep=";", decimal=",", index=False)
    columns = AnswerColumns(
        participant="Vp", response="Wahl", experiment="Bedingung",
        stimulus={"amounts": ["frueh_geld", "spaet_geld"],
                  "delays_days": ["frueh_wochen", "spaet_wochen"], "delay_unit": "weeks"},
    )  # fmt: skip
    found = adopt(read_answers(tmp_path / "own.csv"), columns, DOMAINS["intertemporal"]).trials
    published = {
        item.experiment: item for item in load_archive("intertemporal_ericson2015", data_folder)
    }
    for own in found:
        theirs = published[f"framing-{own.experiment}"]
        assert answers_of(own) == answers_of(theirs)


def answers_of(trials: Trials) -> dict[bytes, list[float]]:
    """Counts of answers by trial, whatever the order of trials."""
    counts = trials.counts.sum(axis=0)
    return {key: counts[row].tolist() for row, key in enumerate(trials.stimuli.keys)}


def test_columns_of_a_declared_task_are_read_words_of_a_category_among_them() -> None:
    domain = DeclaredDomain(gifts())
    columns = "person worth_l worth_r wrapping_l wrapping_r choice"
    rows = [
        ("a", "1", "4", "gold", "plain", "left"),
        ("a", "2", "8", "red", "gold", "right"),
        ("b", "1", "4", "gold", "plain", "right"),
        ("b", "2", "8", "red", "gold", "right"),
    ]
    found = describe_table(table(rows, columns), domain)
    assert found.domain == "gifts"
    assert found.mapping.stimulus == {
        "worth": ["worth_l", "worth_r"],
        "wrapping": ["wrapping_l", "wrapping_r"],
    }
    (trials,) = adopt(table(rows, columns), found.mapping, domain).trials
    assert trials.stimuli["wrapping"].tolist() == [[2, 0], [1, 2]]
    assert trials.stimuli["worth"].tolist() == [[1, 4], [2, 8]]
    assert trials.response.tolist() == [0, 1, 1, 1]
    rows[1] = ("a", "2", "8", " red", "gold ", "right")
    assert adopt(table(rows, columns), found.mapping, domain).trials[0].digest == trials.digest
    rows[1] = ("a", "2", "8", "blue", "gold", "right")
    with pytest.raises(TrialsError, match="row 3: wrapping_l is 'blue', which is none of plain"):
        adopt(table(rows, columns), found.mapping, domain)


def test_more_single_answers_than_a_campaign_takes_are_refused_with_what_to_do(
    tmp_path: Path,
) -> None:
    columns = AnswerColumns(**DATED)
    check_fits(MOST_ANSWERS, "t.csv", columns)
    with pytest.raises(
        TrialsError, match=r"10,000,000 single answers; .* Nothing was begun.*where = "
    ):
        check_fits(10_000_000, "t.csv", columns)
    check_fits(10_000_000, "t.csv", AnswerColumns(count="n", share="s", stimulus=DATED["stimulus"]))
    file = tmp_path / "t.csv"
    file.write_text("a,b\n1,2\n3,4\n")
    assert n_lines(file) == 3
    assert n_lines(tmp_path) == 0
