"""Tables with a row for each participant whose columns number trials, and responses that repeat an amount."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from reading import bandits, delays, only, read

from lakatos.domains import DOMAINS
from lakatos.experiments.adoption.adopt import adopt_file
from lakatos.experiments.adoption.cell_units import amount_said, dated_amounts
from lakatos.experiments.adoption.describe import describe_table
from lakatos.experiments.adoption.tables import read_answers, table_of_frame
from lakatos.experiments.adoption.wide_rows import guessed_wide, numbered_rows
from lakatos.experiments.errors import TrialsError


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(3)


def test_columns_that_number_trials_are_rows(rng: np.random.Generator) -> None:
    frame = bandits(rng).frame
    wide = frame.pivot(index="subject", columns="trial", values=["choice", "reward"])
    for shape in ("{}_{}", "{}{}", "game.{1}.player.{0}"):
        named = wide.set_axis([shape.format(*column) for column in wide.columns], axis=1)
        found = only(read(named.reset_index()))
        assert found.digest == only(read(frame)).digest
        assert found.n_people == 4


def test_a_price_list_is_asked_for_what_each_row_offered_and_read_back_by_its_columns(
    rng: np.random.Generator, tmp_path: Path
) -> None:
    switch = rng.integers(3, 9, 20)
    choices = {f"player.choice_{n}": np.where(n < switch, "A", "B") for n in range(1, 11)}
    frame = pd.DataFrame({"participant.code": [f"p{n}x" for n in range(20)], **choices})
    frame["player.payoff"] = 0
    found = describe_table(table_of_frame("answers.csv", frame))
    assert found.domain == ""
    assert "write a file with a row for each column (item)" in found.doubts_in_words
    asked = describe_table(table_of_frame("answers.csv", frame), DOMAINS["risky"])
    assert "write a file with a row for each column (item)" in asked.doubts_in_words
    offers = pd.DataFrame({"item": list(choices), "p": np.arange(1, 11) / 10})
    offers = offers.assign(a_hi=2, a_lo=1.6, b_hi=3.85, b_lo=0.1)
    offers.to_csv(tmp_path / "items.csv", index=False)
    frame.to_csv(tmp_path / "answers.csv", index=False)
    parts = {
        "a_amounts": ["a_hi", "a_lo"], "b_amounts": ["b_hi", "b_lo"],
        "a_probabilities": ["p"], "b_probabilities": ["p"],
    }  # fmt: skip
    said = {"wide": "player.choice_*", "items": "items.csv", "item": "item", "stimulus": parts}
    mapping = asked.with_columns(said).mapping
    back = adopt_file(tmp_path / "answers.csv", mapping, DOMAINS["risky"]).read_back
    assert "item = player.choice_1, response = A" in back[0]


def test_numbers_of_columns_are_no_trials_where_participants_have_several_rows() -> None:
    frame = pd.DataFrame(
        {
            "id": ["a", "a"],
            **{f"{name}{place}": ["0", "1"] for name in "xy" for place in range(1, 9)},
        }
    )
    assert guessed_wide(frame, "id", {}) == ""
    one = frame.assign(id=["a", "b"])
    assert guessed_wide(one, "id", {}) == "x#,y#"
    assert guessed_wide(one[["id", *(f"x{place}" for place in range(1, 9))]], "id", {}) == ""
    rows = numbered_rows(one, "x#,y#", {}, "a.csv")
    assert rows.columns.tolist() == ["id", "trial", "x", "y"]
    assert len(rows) == 16
    with pytest.raises(TrialsError, match=r"no columns like 'z#'"):
        numbered_rows(one, "z#", {}, "a.csv")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("Would you prefer $34 today, or $1,035 in 186 days?", [(34.0, 0.0), (1035.0, 186.0)]),
        ("20 € heute oder 25,50 € in 2 Wochen", [(20.0, 0.0), (25.5, 14.0)]),
        ("£30 in 14 days", [(30.0, 14.0)]),
        ("$34 or $35 in 186 days", []),
        ("no money", []),
    ],
)
def test_texts_say_amounts_and_when_they_are_paid(
    text: str, said: list[tuple[float, float]]
) -> None:
    assert dated_amounts(text) == said
    if len(said) == 1:
        assert amount_said(text) == said[0][0]


def test_questions_of_a_questionnaire_say_what_was_offered(tmp_path: Path) -> None:
    offers = [(10 + k, 20 + 2 * k, 7 * (1 + k)) for k in range(8)]
    rng = np.random.default_rng(1)
    rows = []
    for who in range(20):
        later = [rng.random() < 0.7 - 0.06 * k for k in range(8)]
        told = [
            f"${b} in {days} days" if own else f"${a} today"
            for own, (a, b, days) in zip(later, offers, strict=True)
        ]
        rows.append([f"R_{who}x", "EN", *told])
    names = ["ResponseId", "UserLanguage", *(f"DD_{k + 1}" for k in range(8))]
    asked = [
        "Response ID",
        "Language",
        *(f"Would you prefer ${a} today or ${b} in {d} days?" for a, b, d in offers),
    ]
    lines = [names, asked, ['{"ImportId":"x"}'] * 10, *rows]
    file = tmp_path / "q.csv"
    pd.DataFrame(lines[1:], columns=names).to_csv(file, index=False)
    found = describe_table(read_answers(file))
    assert (found.domain, found.mapping.participant) == ("intertemporal", "ResponseId")
    assert found.mapping.response == "DD == amount_2"
    trials = only(read(file))
    assert (trials.n_people, trials.n_responses) == (20, 160)
    assert sorted(trials.stimuli["delays_days"][:, 1]) == [offer[2] for offer in offers]
    chosen = [cell.endswith("days") for row in rows for cell in row[2:]]
    assert np.sort(trials.response).sum() == sum(chosen)


def test_a_response_that_repeats_an_amount_names_its_option(rng: np.random.Generator) -> None:
    frame = delays(rng).frame
    is_later = frame["choice"] == 1
    soon, late = frame["amount_sooner"].astype(str), frame["amount_later"].astype(str)
    texts = "£" + late + " in " + frame["delay_later"].astype(str) + " days"
    for told in (late.where(is_later, soon), texts.where(is_later, "£" + soon + " today")):
        turned = rng.random(len(frame)) < 0.5
        made = frame.assign(
            answer_said=told, left=texts.where(turned, "£" + soon + " today"),
            right=("£" + soon + " today").where(turned, texts),
        ).drop(columns="choice")  # fmt: skip
        mapping = describe_table(table_of_frame("a.csv", made)).mapping
        assert mapping.response == "answer_said == amount_later"
        assert only(read(made)).response.tolist() == only(read(frame)).response.tolist()


def test_advice_for_questions_of_which_nothing_says_what_they_offer_leads_to_trials(
    tmp_path: Path,
) -> None:
    rng = np.random.default_rng(2)
    frame = pd.DataFrame({"ID": [f"S{who}" for who in range(20)]})
    for item in range(1, 9):
        frame[f"MCQ{item}"] = (rng.random(20) < 0.8 - 0.08 * item).astype(int)
    file = tmp_path / "mcq.csv"
    frame.to_csv(file, index=False)
    lines = [f"MCQ{item},10,{20 + item},{7 * item}" for item in range(1, 9)]
    (tmp_path / "items.csv").write_text("\n".join(["item,ss,ll,delay", *lines]) + "\n")
    (advice,) = describe_table(read_answers(file)).doubts
    for option in ("'wide=MCQ*'", "items=FILE", "item=item", "response=response"):
        assert f"--column {option}" in advice
    said = {"wide": "MCQ*", "items": "items.csv", "item": "item", "response": "response"}
    parts = {"amounts": ["ss", "ll"], "delays_days": [0, "delay"]}
    domain = DOMAINS["intertemporal"]
    found = describe_table(read_answers(file), domain).with_columns({**said, "stimulus": parts})
    (trials,) = adopt_file(file, found.mapping, domain).trials
    assert (trials.n_people, trials.n_responses) == (20, 160)


def test_a_participant_with_two_rows_hides_no_questionnaire_of_amounts() -> None:
    frame = pd.DataFrame({"pid": [f"p{k}" for k in range(11)] + ["p3"]})
    for k in range(1, 7):
        frame[f"Q{k}"] = [f"${10 + k} today", f"${20 + k} in {7 * k} days"] * 6
    found = describe_table(table_of_frame("answers.csv", frame), None)
    assert found.domain == "intertemporal"
    assert found.mapping.wide == "Q#"
    assert found.n_rows == 72


def questions(n_people: int = 40) -> pd.DataFrame:
    """Answers of 1 and 2, and a few of 99, to questions that nothing describes."""
    rng = np.random.default_rng(2)
    frame = pd.DataFrame({"ResponseId": [f"R_{who}" for who in range(n_people)]})
    for number in range(1, 10):
        frame[f"MCQ_{number}"] = rng.integers(1, 3, n_people)
    frame.loc[frame.index[:3], "MCQ_5"] = 99
    return frame


def test_marks_of_missing_values_make_no_questionnaire_of_choices() -> None:
    found = describe_table(table_of_frame("a.csv", questions()))
    assert not any("the file is not read" in line for line in found.doubts)
    assert any("--column 'wide=MCQ_*' --column items=FILE" in line for line in found.doubts)
    assert any("--column missing.MCQ_5=99 says so" in line for line in found.odd)


def test_what_is_not_read_has_no_advice_how_to_read_it() -> None:
    scale = questions().replace({99: 4})
    for name in scale.columns[1:]:
        scale[name] = np.resize([1, 2, 3, 4], len(scale))
    found = describe_table(table_of_frame("a.csv", scale))
    assert [line.endswith("the file is not read") for line in found.doubts] == [True]


@pytest.mark.parametrize("marked", ["MCQ_5", "response"])
def test_a_mark_of_a_question_is_missing_in_its_column_and_in_that_of_responses(
    marked: str, tmp_path: Path
) -> None:
    file = tmp_path / "a.csv"
    questions().to_csv(file, index=False)
    rows = [f"MCQ_{number},{number + 10},{number + 20},{7 * number}" for number in range(1, 10)]
    (tmp_path / "items.csv").write_text("\n".join(["item,now,later,days", *rows]) + "\n")
    said = {
        "wide": "MCQ_*", "items": "items.csv", "item": "item", "response": "response",
        "missing": {marked: [99]}, "stimulus": {"amounts": ["now", "later"], "delays_days": [0, "days"]},
    }  # fmt: skip
    domain = DOMAINS["intertemporal"]
    found = describe_table(read_answers(file), domain).with_columns(said)
    assert only(adopt_file(file, found.mapping, domain)).n_responses == 40 * 9 - 3
    assert found.mapping.missing == {marked: ("99",)}


def test_rows_that_r_names_are_participants_whose_columns_number_trials() -> None:
    rng = np.random.default_rng(1)
    cells = {
        f"{name}_{trial}": rng.choice(values, 12)
        for name, values in (("Choice", [1, 2]), ("Win", [50, 100]), ("Loss", [0, -250]))
        for trial in range(1, 9)
    }
    frame = pd.DataFrame({"column 1": [f"Subj_{n}" for n in range(1, 13)], **cells}).astype(str)
    found = describe_table(table_of_frame("igt", frame))
    assert found.mapping.wide == "Choice_#,Win_#,Loss_#"
    assert (found.mapping.participant, found.mapping.response) == ("column 1", "Choice")
    said = found.with_columns({"wide": "Choice_#,Win_#,Loss_#"})
    assert (said.mapping.participant, said.mapping.response) == ("column 1", "Choice")
