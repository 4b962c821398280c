"""What is guessed of files without help: their kind of task and the meaning of their columns."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from reading import bandits, delays, gambles, only, read

from benchmarks.guesses import GIVING, guessed_of_inputs, guessed_of_own, own_files
from lakatos.domains import DOMAINS, open_domain
from lakatos.experiments.adoption.adopt import adopt
from lakatos.experiments.adoption.describe import describe_table
from lakatos.experiments.adoption.expression import ColumnExpression
from lakatos.experiments.adoption.names import column_option, words_of
from lakatos.experiments.adoption.tables import table_of_frame
from lakatos.experiments.errors import ImplausibleError, TrialsError
from lakatos.flows.argument import columns_of_options


def test_ten_files_with_names_of_laboratories_are_guessed_right(tmp_path: Path) -> None:
    assert [item for item in guessed_of_own(tmp_path) if item.wrong] == []


def test_of_small_files_of_others_all_but_one_need_no_help(odd_files: Path) -> None:
    """Units that differ between participants are asked for."""
    found = guessed_of_inputs(odd_files)
    assert all(item.kind for item in found)
    assert [item.name for item in found if not item.columns] == [
        "seconds_and_milliseconds.csv",
    ]


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("opt1hval", ["opt", "1", "h", "val"]),
        ("smag", ["s", "mag"]),
        ("vpnr", ["vp", "nr"]),
        ("subjid", ["subj", "id"]),
        ("smart", ["smart"]),
        ("value", ["value"]),
    ],
)
def test_glued_names_are_divided(name: str, words: list[str]) -> None:
    assert words_of(name) == words


def test_amounts_stand_as_their_chances_do() -> None:
    """A chance of the low amount alone belongs to that amount, whatever the alphabet says."""
    frame = own_files(np.random.default_rng(1))["lotteries.csv"].frame
    turned = frame.assign(
        opt1lprob=(1 - frame["opt1hprob"]).round(3), opt2lprob=(1 - frame["opt2hprob"]).round(3)
    ).drop(columns=["opt1hprob", "opt2hprob"])
    assert only(read(turned)).digest == only(read(frame)).digest


def test_a_prediction_that_came_true_is_the_reward() -> None:
    found = [
        own_files(np.random.default_rng(1))[name].frame
        for name in ("predictions.csv", "vorhersagen.csv")
    ]
    for frame in found:
        trials = only(read(frame))
        came_true = (frame["prediction"] == frame["outcome"]).astype(float)
        assert trials.feedback["reward"].tolist() == came_true.tolist()
    assert any("outcome = " in line for line in read(found[0]).read_back)


def test_gifts_are_read_from_coins_and_what_they_are_worth() -> None:
    frame = own_files(np.random.default_rng(1))["giving.csv"].frame
    trials = only(read(frame, open_domain(str(GIVING))))
    assert sorted(trials.stimuli["other"][:, 10].tolist()) == [10, 20, 30]
    assert trials.stimuli["own"][0].tolist() == list(range(10, -1, -1))
    # A gift of 0 that nobody makes does not move the others.
    some = frame[frame["passed"] > 0]
    assert only(read(some, open_domain(str(GIVING)))).response.tolist() == some["passed"].tolist()


@pytest.mark.parametrize("name", ["passed", "given", "kept"])
def test_a_number_of_the_decision_is_no_gift(name: str) -> None:
    frame = own_files(np.random.default_rng(1))["giving.csv"].frame
    gifts = frame["passed"].to_numpy(int)
    decision = frame.groupby("vp").cumcount() + 1
    said = frame["tokens"].to_numpy(int) - gifts if name == "kept" else gifts
    table = frame[["vp", "tokens", "value"]].assign(**{name: said})
    table.insert(1, "decision", decision)
    found = read(table, open_domain(str(GIVING)))
    assert only(found).response.tolist() == gifts.tolist()
    assert "order" not in found.closed


@pytest.mark.parametrize("name", ["onset_s", "nr"])
def test_rows_sorted_by_the_choice_are_not_taken_for_the_order_of_learning(name: str) -> None:
    frame = bandits(np.random.default_rng(1)).frame
    in_order = only(read(frame, DOMAINS["learning"])).response.tolist()
    frame = frame.rename(columns={"trial": name})
    frame[name] = frame[name] * 4.25 if name == "onset_s" else frame[name]
    by_choice = frame.sort_values(["subject", "choice"], kind="stable")
    named = "nr" if name == "nr" else "COLUMN"
    with pytest.raises(ImplausibleError, match=rf"sorted by choice.*order={named}"):
        read(by_choice, DOMAINS["learning"])
    found = read(by_choice, DOMAINS["learning"], order=name)
    assert only(found).response.tolist() == in_order


def test_rows_that_their_numbers_do_not_follow_are_asked_about_in_learning() -> None:
    frame = bandits(np.random.default_rng(1)).frame.rename(columns={"trial": "nr"})
    read(frame, DOMAINS["learning"])
    shuffled = frame.sample(frac=1, random_state=1)
    with pytest.raises(ImplausibleError, match=r"nr numbers them.*order=nr.*row_order"):
        read(shuffled, DOMAINS["learning"])


@pytest.mark.parametrize(
    ("name", "cells"), [("kind", ("forced", "free")), ("isForced", ("1", "0"))]
)
def test_forced_choices_whose_rewards_were_seen_are_neither_read_nor_left_out(
    name: str, cells: tuple[str, str]
) -> None:
    frame = bandits(np.random.default_rng(1)).frame
    is_forced = frame["trial"] % 10 < 4
    frame[name] = np.where(is_forced, *cells)
    task, free = DOMAINS["learning"], {name: cells[1]}
    for where in ({}, free):
        with pytest.raises(ImplausibleError, match=rf"{name} is {cells[0]} in .*seem to be forced"):
            read(frame, task, where=where)
    assert only(read(frame, task, accept=["forced_choices"])).n_responses == 160
    found = read(frame, task, where=free, accept=["forced_choices"])
    assert only(found).n_responses == 160 - int(is_forced.sum())


@pytest.mark.parametrize(
    ("name", "cells"), [("kind", ("forced", "free")), ("isForced", ("1", "0"))]
)
def test_forced_choices_are_asked_about(name: str, cells: tuple[str, str]) -> None:
    frame = gambles(np.random.default_rng(1)).frame
    is_forced = frame["trial"] % 10 < 4
    frame[name] = np.where(is_forced, *cells)
    with pytest.raises(ImplausibleError, match=rf"forced choices.*where\.{name}={cells[1]}"):
        read(frame)
    assert only(read(frame, accept=["forced_choices"])).n_responses == 120
    assert only(read(frame, where={name: cells[1]})).n_responses == 120 - int(is_forced.sum())


@pytest.mark.parametrize("parts", [("A", "D"), ("R", "D"), ("V", "T"), ("amt", "del")])
def test_sooner_and_later_may_be_written_as_one_word_with_what_they_hold(
    parts: tuple[str, str],
) -> None:
    """``SSD`` beside ``LLD`` is a delay, and no signal to stop."""
    plain = delays(np.random.default_rng(1)).frame
    amount, delay = parts
    glued = {"amount_sooner": f"SS{amount}", "amount_later": f"LL{amount}"}
    glued |= {"delay_sooner": f"SS{delay}", "delay_later": f"LL{delay}"}
    assert only(read(plain.rename(columns=glued))).digest == only(read(plain)).digest


def test_short_names_are_told_by_their_values() -> None:
    frame = own_files(np.random.default_rng(1))["short.csv"].frame
    found = describe_table(table_of_frame("a", frame))
    assert found.domain == "intertemporal"
    assert found.mapping.stimulus["amounts"] == ["V1", "V2"]
    # Where none of the waits is always 0, or less is paid later, nothing is guessed.
    for changed in (frame.assign(W1=3), frame.assign(V2=frame["V1"] - 1)):
        assert describe_table(table_of_frame("a", changed)).domain != "intertemporal"


def test_a_comparison_compares_cells_of_columns() -> None:
    columns = ["a", "b"]
    found = ColumnExpression("a == b", columns)
    cells = {"a": np.array(["x", "y"], dtype=object), "b": np.array(["x", "z"], dtype=object)}
    left, right = found.compared(cells)
    assert (left == right).tolist() == [True, False]
    for wrong in ("a == c", "a != b", "a == b == a", "'x' == a", "a + (a == b)"):
        with pytest.raises(ValueError, match=r"is no column|computes nothing"):
            ColumnExpression(wrong, columns)


def test_german_names_are_read_as_english_ones(tmp_path: Path) -> None:
    assert words_of("Verzögerung_Tage") == ["delay", "days"]
    assert words_of("betragSpaeter") == ["amount", "later"]
    rng = np.random.default_rng(2)
    delays = rng.integers(1, 60, size=80)
    frame = pd.DataFrame(
        {
            "vp": np.repeat(["VP01", "VP02"], 40),
            "hunger": np.tile(["satt", "hungrig"], 40),
            "betrag_sofort": 10,
            "betrag_später": rng.integers(12, 40, size=80),
            "verzögerung_tage": delays,
            "wahl": np.where(rng.random(80) < 0.5 + 0.4 * (delays < 20), "LL", "SS"),
        }
    )
    found = describe_table(table_of_frame("hunger", frame))
    assert found.domain == "intertemporal"
    assert found.mapping.stimulus == {
        "amounts": ["betrag_sofort", "betrag_später"],
        "delays_days": [0, "verzögerung_tage"],
    }


def test_an_order_of_conditions_between_participants_divides_no_experiments() -> None:
    frame = bandits(np.random.default_rng(1)).frame
    order = np.where(frame["subject"].isin(["P00", "P01"]), "AB", "BA")
    for name in ("Condition_Order", "counterbalance_condition"):
        table = table_of_frame("answers.csv", frame.assign(**{name: order}))
        assert describe_table(table).mapping.experiment == ""
    named = table_of_frame("answers.csv", frame.assign(condition=order))
    assert describe_table(named).mapping.experiment == "condition"


def test_rows_left_out_are_named_by_their_own_words_where_these_are_fewer() -> None:
    frame = bandits(np.random.default_rng(1)).frame
    first = frame["trial"] == 1
    kinds = np.where(first, "instructions", np.where(frame["trial"] % 2, "button", "keyboard"))
    (kind,) = read(frame.assign(trial_type=kinds)).left_out.kinds
    assert kind.reason == "trial_type is instructions"
    (kind,) = read(frame.assign(phase=kinds), where={"phase": "button"}).left_out.kinds
    assert kind.reason == "phase is not button"


def test_options_with_spaces_are_printed_in_quotes_and_taken_with_quotes_of_their_own() -> None:
    assert column_option("responses.not sure=1") == "--column 'responses.not sure=1'"
    assert column_option("responses.sure=0") == "--column responses.sure=0"
    for said in ("responses.not sure=1", 'responses."not sure"=1'):
        assert columns_of_options([said]) == {"responses": {"not sure": 1}}


def test_a_condition_within_participants_that_is_not_read_is_named(tmp_path: Path) -> None:
    rng = np.random.default_rng(2)
    delays = rng.integers(1, 60, size=80)
    frame = pd.DataFrame(
        {
            "participant": np.repeat(["p1", "p2"], 40),
            "hunger": np.tile(["sated", "fasted"], 40),
            "sex": np.repeat(["m", "f"], 40),
            "session": np.tile([1, 2], 40),
            "amount_now": 10,
            "amount_later": rng.integers(12, 40, size=80),
            "delay_later_days": delays,
            "chose_later": (rng.random(80) < 0.5 + 0.4 * (delays < 20)).astype(int),
        }
    )
    frame["copied"] = np.where(frame["chose_later"] == 1, "waits", "takes it")
    frame.to_csv(tmp_path / "hunger.csv", index=False)
    notes = [note for note in read(tmp_path / "hunger.csv").notes if "varies within" in note]
    assert len(notes) == 1
    assert notes[0].startswith("hunger (fasted, sated) varies within participants and is not read")
    assert notes[0].count("--by hunger") == 1


def test_each_column_is_described_by_what_it_is_read_as() -> None:
    frame = pd.DataFrame(
        {
            "subject": ["P1"] * 3 + ["P2"] * 3,
            "delay_sooner_weeks": [0.0] * 6,
            "delay_later_weeks": [0.8571428571428571, 2.0, 4.0] * 2,
            "amount_sooner": [10, 12, 14] * 2,
            "amount_later": [20, 25, 30] * 2,
            "choice": [0, 1, 1, 0, 1, 0],
            "mood": ["good", "bad", "good"] * 2,
        }
    )
    found = describe_table(table_of_frame("answers.csv", frame))
    told = {item.name: found.meaning_of(item) for item in found.columns}
    assert told == {
        "subject": "participant",
        "delay_sooner_weeks": "delays (weeks)",
        "delay_later_weeks": "delays (weeks)",
        "amount_sooner": "amounts",
        "amount_later": "amounts",
        "choice": "response",
        "mood": "",
    }
    days = frame.rename(columns={name: name.removesuffix("_weeks") for name in frame}).assign(
        rt=0.9
    )
    usual = describe_table(table_of_frame("answers.csv", days))
    units = {item.name: usual.meaning_of(item) for item in usual.columns}
    assert (units["delay_later"], units["rt"]) == ("delays (days)", "response time (s)")
    (weeks,) = [item for item in found.columns if item.name == "delay_later_weeks"]
    assert weeks.words == "0.8571, 2, 4"


def test_an_open_question_names_a_column_without_a_colon() -> None:
    frame = pd.DataFrame({"subject": ["a", "a"], "x1": [3, 4], "x2": [7, 8]})
    found = describe_table(table_of_frame("t", frame), DOMAINS["public_goods"])
    with pytest.raises(TrialsError, match=r"--column stimulus\.group=COLUMN(?!:)"):
        adopt(table_of_frame("t", frame), found.mapping, DOMAINS["public_goods"])


def test_a_range_that_the_user_states_is_not_asked_for_again() -> None:
    rng = np.random.default_rng(1)
    frame = pd.DataFrame({f"x{place}": rng.integers(0, 101, 40) for place in (1, 2, 3)})
    frame = frame.assign(**{f"y{place}": rng.integers(0, 101, 40) for place in (1, 2, 3)})
    frame = frame.assign(probe_x=rng.integers(0, 101, 40), estimate=rng.integers(0, 101, 40))
    frame.insert(0, "subject", np.repeat(list("abcd"), 10))
    found = describe_table(table_of_frame("t", frame), DOMAINS["estimation"])
    assert any("x_range and y_range" in line for line in found.beyond_grid)
    said = {"stimulus": {"x_range": [0, 100], "y_range": [0, 100]}}
    assert not found.with_columns(said).beyond_grid
