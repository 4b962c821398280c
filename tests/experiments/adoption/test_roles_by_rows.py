"""Columns have the roles that the rows which show trials speak for; what is unclear is asked about."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from reading import bandits, conflicts, only, read

from lakatos.domains import DOMAINS
from lakatos.experiments.adoption.describe import TableDescription, describe_table
from lakatos.experiments.adoption.tables import read_answers, table_of_frame
from lakatos.experiments.errors import ImplausibleError, TrialsError


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(7)


def _described(frame: pd.DataFrame) -> TableDescription:
    return describe_table(table_of_frame("answers.csv", frame))


def test_a_column_that_names_kinds_of_screens_is_no_response(rng: np.random.Generator) -> None:
    n = 96
    made = pd.DataFrame({"subject": np.repeat(np.arange(4), 24), "trial": np.tile(range(24), 4)})
    for option in "AB":
        made[f"{option}_high"] = rng.integers(20, 60, n)
        made[f"{option}_p"] = rng.integers(1, 10, n) / 10
        made[f"{option}_low"] = rng.integers(0, 10, n)
    worth = [
        made[f"{own}_high"] * made[f"{own}_p"] + made[f"{own}_low"] * (1 - made[f"{own}_p"])
        for own in "AB"
    ]
    chose_b = (worth[1] - worth[0] + rng.normal(0, 5, n) > 0).to_numpy()
    shown = made.assign(screen="choice", resp=np.where(chose_b, "B", "A")).astype(str)
    others = [
        pd.DataFrame(
            {"subject": made["subject"].astype(str).unique(), "screen": name, "resp": cell}
        )
        for name, cell in (("instr", "space"), ("survey", "3"), ("survey", "5"))
    ]
    frame = pd.concat([shown, *others]).fillna("").sort_values("subject", kind="stable")
    found = _described(frame)
    assert (found.domain, found.mapping.response) == ("risky", "resp")
    assert only(read(frame)).response.tolist() == chose_b.astype(int).tolist()


def test_two_codes_of_one_response_are_told_apart_and_refused(rng: np.random.Generator) -> None:
    frame = bandits(rng).frame
    frame["choice"] = frame["choice"].where(frame["trial"] % 5 > 0, 2)
    code = frame["choice"].map({0: "rot", 1: "blau", 2: "gelb"})
    frame["session"] = np.where(frame["trial"] <= 20, 1, 2)
    written = frame.assign(choice=code.where(frame["session"] == 1, frame["choice"].astype(str)))
    words = (
        r"words \(blau, gelb, rot\) where session is 1, and numbers \(0, 1, 2\) where session is 2"
    )
    with pytest.raises(TrialsError, match=words):
        read(written, DOMAINS["learning"])
    said = {"rot": 0, "blau": 1, "gelb": 2, "0": 0, "1": 1, "2": 2}
    both = only(read(written, DOMAINS["learning"], responses=said))
    assert both.response.tolist() == frame["choice"].tolist()
    first = only(read(written, DOMAINS["learning"], where={"session": "1"}))
    assert first.n_responses == 80


def test_names_of_files_hold_a_participant_and_a_part(
    rng: np.random.Generator, tmp_path: Path
) -> None:
    frame = conflicts(rng).frame
    for place, (_, own) in enumerate(frame.groupby("subject"), 1):
        for part in (1, 2):
            rows = own[(own["trial"] <= 20) == (part == 1)].drop(columns="subject")
            rows.to_csv(tmp_path / f"P{place}Flanker{part}.csv", index=False)
    table = read_answers(tmp_path)
    assert sorted(set(table.frame["participant"])) == ["P1", "P2", "P3", "P4"]
    assert set(table.frame["part"]) == {"Flanker1", "Flanker2"}
    assert any("--column participant=file" in note for note in table.notes)
    assert only(read(tmp_path)).n_participants == 4


def test_numbers_of_congruence_without_a_known_code_need_a_word_each(
    rng: np.random.Generator,
) -> None:
    frame = conflicts(rng).frame
    numbers = frame.assign(condition=frame["condition"].map({"congruent": 1, "incongruent": 2}))
    said = {"congruence": "condition"}
    words = r"condition holds 1 and 2, .*1 = .WORD., 2 = .WORD."
    with pytest.raises(TrialsError, match=words):
        read(numbers, DOMAINS["attention"], stimulus=said)
    half = {"condition": {"2": "incongruent"}}
    with pytest.raises(TrialsError, match="condition holds 1 beside words"):
        read(numbers, DOMAINS["attention"], stimulus=said, recode=half)
    whole = {"condition": {"1": "congruent", "2": "incongruent"}}
    found = only(read(numbers, DOMAINS["attention"], stimulus=said, recode=whole))
    assert found.response.tolist() == only(read(frame)).response.tolist()


def test_several_columns_that_may_name_participants_are_asked_about() -> None:
    n = 60
    frame = pd.DataFrame(
        {
            "judge_id": np.repeat(np.arange(6), 10),
            "advisor_id": np.arange(n) * 7 % 20,
            "item": np.tile(np.arange(10), 6),
            "initial_estimate": np.arange(n) * 3 % 41,
            "final_estimate": np.arange(n) * 5 % 43,
        }
    )
    found = _described(frame)
    assert found.mapping.participant == "?"
    assert (
        "--column participant=advisor_id or --column participant=judge_id" in found.doubts_in_words
    )
    said = found.with_columns({"participant": "judge_id"})
    assert said.mapping.participant == "judge_id"
    assert "participant=" not in said.doubts_in_words
    task = DOMAINS["estimation"]
    assert describe_table(table_of_frame("a", frame), task).mapping.response == "?"
    # One that tells apart all that the others do is enough.
    nested = frame.assign(advisor_id=frame["judge_id"] // 2)
    assert _described(nested).mapping.participant == "judge_id"


def test_no_response_time_is_negative(rng: np.random.Generator) -> None:
    frame = bandits(rng).frame
    frame["rt"] = np.where(frame["choice"] == 1, -1, rng.integers(300, 900, len(frame)))
    found = _described(frame)
    assert found.mapping.missing == {"rt": ("-1",)}
    assert not [line for line in found.odd if "below 150 ms" in line]
    assert only(read(frame)).n_responses == len(frame)


def test_marks_that_values_tell_stay_beside_those_that_are_said(rng: np.random.Generator) -> None:
    frame = bandits(rng).frame.assign(rt=500)
    frame.loc[::10, "rt"] = -1
    frame["choice"] = frame["choice"].map({0: "circle", 1: "star"})
    frame.loc[::10, "choice"] = "none"
    frame.loc[5, "choice"] = "break"
    found = _described(frame).with_columns({"missing": {"choice": ["break"]}})
    assert found.mapping.missing["rt"] == ("-1",)
    assert found.mapping.missing["choice"][0] == "break"


def _games(rng: np.random.Generator) -> pd.DataFrame:
    n = 48
    payoffs = {
        f"{player}_{row}_{column}": rng.integers(0, 20, n)
        for player in ("yo", "otro")
        for row in ("arriba", "abajo")
        for column in ("izq", "der")
    }
    who = {"sujeto": np.repeat(np.arange(1, 5), 12), "ronda": np.tile(np.arange(1, 13), 4)}
    return pd.DataFrame(who | payoffs).assign(eleccion=rng.choice(["arriba", "abajo"], n))


def test_payoffs_of_two_players_in_words_are_a_game(rng: np.random.Generator) -> None:
    frame = _games(rng)
    found = only(read(frame))
    shown = found.stimuli["own"][found.trial], found.stimuli["other"][found.trial]
    for player, values in zip(("yo", "otro"), shown, strict=True):
        for place, row in enumerate(("arriba", "abajo")):
            for at, column in enumerate(("izq", "der")):
                told = frame[f"{player}_{row}_{column}"].tolist()
                assert values[:, place, at].tolist() == told
    assert found.response.tolist() == (frame["eleccion"] == "abajo").astype(int).tolist()


def test_payoffs_of_two_players_without_a_named_row_are_asked_about(
    rng: np.random.Generator,
) -> None:
    frame = _games(rng).assign(eleccion=lambda rows: (rows["eleccion"] == "abajo").astype(int))
    words = _described(frame).doubts_in_words
    assert "payoffs in games of two players" in words
    assert 'own=[["yo_arriba_izq", "yo_arriba_der"], ["yo_abajo_izq", "yo_abajo_der"]]' in words


def test_gifts_that_stand_in_a_row_for_each_partner_are_named() -> None:
    rows = [
        (who, period, partner, who * period % 7, 0)
        for who in range(1, 5)
        for period in range(1, 7)
        for partner in range(1, 5)
        if partner != who
    ]
    names = ["subjectid", "period", "partnerid", "senderscontribution", "punishment"]
    words = _described(pd.DataFrame(rows, columns=names)).doubts_in_words
    assert "one row for each subjectid and period" in words
    assert "--domain public_goods" in words


def test_two_payoffs_in_a_cell_are_no_decimal_numbers(tmp_path: Path) -> None:
    file = tmp_path / "pairs.csv"
    rows = [(f"{n},{n % 12 + 1}", f"{n % 12 + 1},{n}", f"{n},{n}", f"1,{n}5") for n in range(1, 13)]
    lines = [f"{place};{';'.join(row)}" for place, row in enumerate(rows)]
    file.write_text("\n".join(["who;CD;DC;CC;rt", *lines]))
    frame = read_answers(file).frame
    assert frame.iloc[0].tolist() == ["0", "1,2", "2,1", "1,1", "1.15"]
    quoted = tmp_path / "quoted.csv"
    quoted.write_text('who,left,rt\na,"8,1",1.5\nb,"0,3",2.5\n')
    assert read_answers(quoted).frame["left"].tolist() == ["8,1", "0,3"]
    decimals = tmp_path / "decimals.csv"
    decimals.write_text("who;x;y\na;8,1;1,25\nb;0,3;2,50\n")
    assert read_answers(decimals).frame["x"].tolist() == ["8.1", "0.3"]
    assert read_answers(decimals).frame["y"].tolist() == ["1.25", "2.50"]


@pytest.mark.parametrize(
    ("name", "words"),
    [("StopSignalDelay", "a stop-signal task"), ("response_deg", "angles that were reported")],
)
def test_tasks_that_no_kind_holds_are_named(name: str, words: str) -> None:
    n = 80
    frame = pd.DataFrame(
        {
            "subject": np.repeat(np.arange(4), 20),
            "trial": np.tile(np.arange(20), 4),
            name: np.arange(n) * 37 % 360,
            "correct": np.arange(n) % 2,
            "rt": 400 + np.arange(n) * 7 % 90,
        }
    )
    assert words in _described(frame).doubts_in_words


def test_rows_are_not_ordered_by_what_is_left() -> None:
    """A counter that falls with every trial: rows in its order, from small to large, are in the wrong one."""
    rng = np.random.default_rng(2)
    rows = [
        (f"P{person}", trial, "ab"[rng.integers(2)], int(rng.random() < 0.5))
        for person in range(6)
        for trial in range(40)
    ]
    frame = pd.DataFrame(rows, columns=["subject", "trial", "choice", "reward"])
    named = only(read(frame, DOMAINS["learning"]))
    left = frame.assign(trials_left=39 - frame["trial"]).drop(columns="trial")
    upwards = left.sort_values(["subject", "trials_left"])
    rising = ({"order": "trials_left"}, {"order": "trials_left - 39"})
    for table, said in ((upwards, {}), *((left, own) for own in rising)):
        with pytest.raises(ImplausibleError, match=r"trials_left seems to count what is left"):
            read(table, DOMAINS["learning"], **said)
    falling, computed = {"order": "-trials_left"}, {"order": "39 - trials_left"}
    for table, said in ((left, {}), (left, falling), (upwards, falling), (upwards, computed)):
        found = only(read(table, DOMAINS["learning"], **said))
        assert np.array_equal(found.response, named.response)
        assert np.array_equal(found.feedback["reward"], named.feedback["reward"])
