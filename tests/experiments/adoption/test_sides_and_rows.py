"""Where options stood, which rows count, and what advice says: each rule on a small file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from reading import bandits, delays, gambles, only, read

from lakatos.domains import DOMAINS
from lakatos.experiments.adoption.describe import TableDescription, describe_table
from lakatos.experiments.adoption.tables import read_answers, table_of_frame
from lakatos.experiments.adoption.timed_answers import guessed_keys
from lakatos.experiments.errors import ImplausibleError, TrialsError
from lakatos.flows.operations.adopt import how_it_is_read


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(40)


def _described(frame: pd.DataFrame, **said: Any) -> TableDescription:
    return describe_table(table_of_frame("answers.csv", frame)).with_columns(said)


def _at_places(
    frame: pd.DataFrame, rng: np.random.Generator
) -> tuple[pd.DataFrame, np.ndarray, np.ndarray]:
    """The file with places as responses, what was chosen, and whether the second option stood on the left."""
    chose_second = frame["choice"].to_numpy()
    on_left = rng.integers(0, 2, len(frame))
    return frame.assign(choice=chose_second ^ on_left), chose_second, on_left


# Side columns ---------------------------------------------------------------------------------


def test_an_option_that_stood_on_the_left_makes_places_options_where_values_bear_it_out(
    rng: np.random.Generator,
) -> None:
    frame, chosen, on_left = _at_places(delays(rng).frame, rng)
    frame["left_option"] = np.where(on_left == 1, "ll", "ss")
    found = _described(frame)
    assert found.mapping.stimulus["side"] == "left_option"
    assert any("taken for places" in line for line in found.odd)
    read_as = read(frame)
    assert only(read_as).response.tolist() == chosen.tolist()
    assert "sides" in read_as.closed


def test_the_place_of_an_option_makes_keys_options(rng: np.random.Generator) -> None:
    frame, chosen, on_left = _at_places(gambles(rng).frame, rng)
    frame["lado_A"] = np.where(on_left == 1, "derecha", "izquierda")
    frame["choice"] = np.where(frame["choice"] == 1, "l", "a")
    assert only(read(frame)).response.tolist() == chosen.tolist()


@pytest.mark.parametrize(
    ("name", "left", "right"), [("b_on_left", "1", "0"), ("swapped", "TRUE", "FALSE")]
)
def test_a_flag_of_places_is_a_side(
    rng: np.random.Generator, name: str, left: str, right: str
) -> None:
    frame, chosen, on_left = _at_places(gambles(rng).frame, rng)
    frame[name] = np.where(on_left == 1, left, right)
    assert only(read(frame)).response.tolist() == chosen.tolist()


@pytest.mark.parametrize(
    ("name", "cells"), [("left_option", ("ss", "ll")), ("LL_side", ("left", "right"))]
)
def test_options_that_responses_name_are_not_turned_by_a_side(
    rng: np.random.Generator, name: str, cells: tuple[str, str]
) -> None:
    frame = delays(rng).frame
    frame["choice"] = np.where(frame["choice"] == 1, "LL", "SS")
    frame[name] = np.where(rng.integers(0, 2, len(frame)) == 1, *cells)
    with pytest.raises(TrialsError, match="LL and SS, which are options wherever they stood"):
        read(frame, stimulus={"side": name})


def test_options_stay_options_where_the_side_tells_nothing(rng: np.random.Generator) -> None:
    frame = delays(rng).frame
    frame["left_option"] = np.where(rng.integers(0, 2, len(frame)) == 1, "ll", "ss")
    assert "side" not in _described(frame).mapping.stimulus
    assert only(read(frame)).response.tolist() == frame["choice"].tolist()


def test_a_side_is_asked_about_with_a_ready_option_where_values_do_not_tell(
    rng: np.random.Generator,
) -> None:
    frame = delays(rng).frame.assign(choice=rng.integers(0, 2, 120))
    frame["left_option"] = np.where(rng.integers(0, 2, len(frame)) == 1, "ll", "ss")
    for said in ({}, {"condition": "left_option"}):
        with pytest.raises(TrialsError, match=r"--column side=left_option.*responses\.0=0"):
            read(frame, **said)
    later = frame["choice"] ^ (frame["left_option"] == "ll")
    assert only(read(frame, stimulus={"side": "left_option"})).response.tolist() == later.tolist()
    code = {"0": 0, "1": 1}
    assert only(read(frame, responses=code)).response.tolist() == frame["choice"].tolist()
    with pytest.raises(TrialsError, match="not clear which option stood on the left"):
        read(frame, stimulus={"side": "subject"})


def test_keys_at_changing_places_are_not_read_as_options_silently(rng: np.random.Generator) -> None:
    frame, chosen, on_left = _at_places(delays(rng).frame, rng)
    frame["values.leftside"] = np.where(on_left == 1, "LL", "SS")
    missed = np.arange(len(frame)) % 30 == 11
    frame["choice"] = np.where(missed, "0", np.where(frame["choice"] == 1, "23", "18"))
    with pytest.raises(TrialsError, match=r"missing\.choice=0"):
        read(frame)
    without: dict[str, Any] = {"missing": {"choice": ["0"]}, "bad_rows": "leave_out_empty"}
    assert only(read(frame, **without)).response.tolist() == chosen[~missed].tolist()
    with pytest.raises(ImplausibleError, match=r"Say --column side=values\.leftside"):
        read(frame, responses={"18": 0, "23": 1}, **without)


def _read_places(frame: pd.DataFrame) -> None:
    said: dict[str, Any] = {"response": "touche.keys", "feedback": {"reward": "perte"}}
    read(frame, DOMAINS["learning"], **said, stimulus={"shown": ""})


def test_stimuli_at_changing_places_are_offered_as_a_ready_option(rng: np.random.Generator) -> None:
    left = rng.integers(0, 2, 160)
    names = np.array(["carre", "cercle"])
    frame = bandits(rng).frame.drop(columns="choice").rename(columns={"reward": "perte"})
    frame["image_droite"], frame["image_gauche"] = names[1 - left], names[left]
    frame["touche.keys"] = np.where(rng.integers(0, 2, 160) == 1, "left", "right")
    frame["touche.rt"] = rng.uniform(0.4, 0.8, 160)
    shown = 'shown=["image_gauche", "image_droite"]'
    found = _described(frame)
    assert any(shown in line for line in found.doubts)
    assert not any("Stroop" in line for line in found.doubts)
    with pytest.raises(ImplausibleError) as refused:
        _read_places(frame)
    assert shown in str(refused.value)


def test_what_is_said_replaces_a_guess_everywhere(rng: np.random.Generator) -> None:
    frame = delays(rng).frame
    names = {"subject": "pareja", "amount_sooner": "Now", "amount_later": "Later", "choice": "Wait"}
    frame = frame.rename(columns=names)
    frame["jugador"] = frame["pareja"] + np.where(frame["trial"] % 2 == 0, "a", "b")
    found = _described(frame, participant="jugador")
    assert found.mapping.participant == "jugador"
    assert any("8 participants" in line for line in found.facts)
    assert not any("pareja is taken" in line for line in found.odd)
    roles = {item.name: item.meaning for item in found.columns}
    assert (roles["jugador"], roles["pareja"]) == ("participant", "")
    table = table_of_frame("answers.csv", frame.drop(columns=["delay_sooner", "delay_later"]))
    open_parts = describe_table(table, DOMAINS["intertemporal"]).with_columns({"response": "Wait"})
    assert open_parts.mapping.response == "Wait"
    assert open_parts.mapping.stimulus["delays_days"] == "?"


@pytest.mark.parametrize("side", ["left_option", ""])
@pytest.mark.parametrize("cell", ["0", "timeout"])
def test_a_response_that_is_neither_place_is_no_answer(
    rng: np.random.Generator, side: str, cell: str
) -> None:
    frame, chosen, on_left = _at_places(delays(rng).frame, rng)
    keys = np.where(frame["choice"] == 1, "23", "18")
    frame["left_option"] = np.where(on_left == 1, "ll", "ss")
    frame["ll_key"] = np.where(on_left == 1, "18", "23")
    frame["choice"] = np.where(np.arange(len(frame)) % 20 == 7, cell, keys)
    said: dict[str, Any] = (
        {"stimulus": {"side": side}, "responses": {"18": 0, "23": 1}}
        if side
        else {"response": "choice == ll_key"}
    )
    with pytest.raises(TrialsError, match=rf"missing\.choice={cell}"):
        read(frame, **said)
    answered = (frame["choice"] != cell).to_numpy()
    for rule in ({"missing": {"choice": [cell]}}, {"bad_rows": "leave_out"}):
        read_as = only(read(frame, **said, **{"bad_rows": "leave_out_empty"}, **rule)
                       if "missing" in rule else read(frame, **said, **rule))  # fmt: skip
        assert read_as.response.tolist() == chosen[answered].tolist()


def test_a_response_at_neither_place_shows_no_stimulus(rng: np.random.Generator) -> None:
    frame = bandits(rng).frame
    left = rng.integers(0, 2, len(frame))
    frame["pic_left"] = np.where(left == 1, "owl", "fox")
    frame["pic_right"] = np.where(left == 1, "fox", "owl")
    pressed = frame["choice"].to_numpy() ^ left
    missed = np.arange(len(frame)) % 25 == 3
    frame["choice"] = np.where(missed, "0", np.where(pressed == 1, "23", "18"))
    said: dict[str, Any] = {
        "stimulus": {"shown": ["pic_left", "pic_right"]},
        "responses": {"18": 0, "23": 1},
    }
    with pytest.raises(TrialsError, match="'0', which is no option"):
        read(frame, DOMAINS["learning"], **said)
    read_as = only(read(frame, DOMAINS["learning"], **said, bad_rows="leave_out"))
    chose_owl = np.where(pressed == 0, left, 1 - left)[~missed]
    assert read_as.response.tolist() == chose_owl.tolist()


def test_pictures_at_changing_places_are_what_is_learned_about(rng: np.random.Generator) -> None:
    n = 200
    left = rng.integers(0, 2, n)
    pressed = rng.integers(0, 2, n)
    chosen = np.where(pressed == 0, left, 1 - left)
    names = np.array(["owl.png", "fox.png"])
    frame = pd.DataFrame(
        {
            "subject": np.repeat([f"P{k}" for k in range(5)], n // 5),
            "trialnum": np.tile(np.arange(n // 5), 5),
            "leftpic": names[left],
            "rightpic": names[1 - left],
            "response": np.where(pressed == 0, 18, 23),
            "correct": 1 * (chosen == 0),
            "chosenpic": names[chosen],
            "points": rng.integers(0, 2, n),
        }
    )
    found = _described(frame)
    assert found.mapping.response == "chosenpic"
    assert only(read(frame)).response.tolist() == (1 - chosen).tolist()  # fox before owl
    by_key = read(frame.drop(columns="chosenpic"))
    assert only(by_key).response.tolist() == (1 - chosen).tolist()
    assert guessed_keys({"23", "18"}) == {"18": 0, "23": 1}


# Advice ---------------------------------------------------------------------------------------


def test_what_is_computed_from_a_column_has_no_polarity(rng: np.random.Generator) -> None:
    frame = delays(rng).frame.rename(columns={"choice": "chose_now"})
    frame["chose_now"] = 1 - frame["chose_now"]
    later = read(frame, response="1 - chose_now")
    assert only(later).response.tolist() == (1 - frame["chose_now"]).tolist()
    assert only(later).response.tolist() == only(read(frame)).response.tolist()


def test_half_of_the_responses_are_not_called_missed(rng: np.random.Generator) -> None:
    frame = gambles(rng).frame
    frame["choice"] = np.where(frame["choice"] == 1, "l", "a")
    with pytest.raises(TrialsError, match="too many to be missed") as found:
        read(frame)
    assert "missing." not in str(found.value)


def test_a_code_that_fails_both_ways_is_not_turned(rng: np.random.Generator) -> None:
    n = 60
    frame = pd.DataFrame(
        {
            "subject": "P1", "trial": np.arange(n), "a_x": rng.integers(1, 9, n), "a_p": 1.0,
            "b_x": rng.integers(11, 19, n), "b_p": 1.0, "choice": np.tile([0, 1], n // 2),
        }
    )  # fmt: skip
    parts = {"a_amounts": ["a_x"], "a_probabilities": [1], "b_amounts": ["b_x"], "b_probabilities": [1]}  # fmt: skip
    with pytest.raises(ImplausibleError, match="side=COLUMN") as found:
        read(frame, DOMAINS["risky"], stimulus=parts)
    assert "responses." not in str(found.value)
    frame["choice"] = np.where(np.arange(n) % 10 == 0, "R", "L")
    with pytest.raises(ImplausibleError, match=r"responses\.L=1 --column responses\.R=0"):
        read(frame, DOMAINS["risky"], stimulus=parts, responses={"L": 0, "R": 1})


def test_all_that_is_open_is_asked_for_in_one_command(rng: np.random.Generator) -> None:
    frame = delays(rng).frame.rename(
        columns={"amount_sooner": "u1", "amount_later": "u2", "delay_sooner": "u3", "choice": "u4"}
    )
    with pytest.raises(TrialsError) as found:
        read(frame.drop(columns="delay_later"), DOMAINS["intertemporal"])
    words = str(found.value)
    for part in ("amounts", "delays_days"):
        assert f'--column stimulus.{part}=\'["COLUMN", "COLUMN"]\'' in words
    assert "Columns that mean nothing yet are u1, u2, u3" in words


def test_a_part_of_one_kind_of_task_names_the_kind(rng: np.random.Generator) -> None:
    frame = pd.DataFrame(
        {"id": "P1", "t": np.arange(40), "zz": ["same", "other"] * 20, "ok": 1, "ms": 500}
    )
    assert _described(frame).domain == ""
    assert _described(frame, stimulus={"congruence": "zz"}).domain == "attention"
    assert _described(frame, stimulus={"amount_unit": "cents"}).domain == ""


def test_scales_on_which_less_is_better_are_turned_by_one_option(rng: np.random.Generator) -> None:
    n = 120
    grades = rng.integers(1, 7, (n, 2, 3))
    frame = pd.DataFrame({"subject": np.repeat(["P1", "P2", "P3"], n // 3)})
    for cue in range(3):
        frame[f"Note{cue}_A"], frame[f"Note{cue}_B"] = grades[:, 0, cue], grades[:, 1, cue]
    frame["choice"] = np.where(grades[:, 1].sum(axis=1) < grades[:, 0].sum(axis=1), "B", "A")
    with pytest.raises(TrialsError, match=r"stimulus.validities='\[0.7, 0.7, 0.7\]'"):
        read(frame)
    equal = {"validities": [0.7] * 3}
    with pytest.raises(ImplausibleError, match='--column \'ratings=\\[\\["7 - Note0_A"'):
        read(frame, stimulus=equal)
    turned = [[f"7 - Note{cue}_{side}" for cue in range(3)] for side in "AB"]
    found = only(read(frame, stimulus={**equal, "ratings": turned}))
    assert found.response.tolist() == (frame["choice"] == "B").astype(int).tolist()


@pytest.mark.parametrize(
    ("column", "words"),
    [
        ({"lexicaliteit": ["woord", "nonwoord"]}, "lexical decision"),
        ({"coherence": [0.4, 0.2]}, "how coherently dots move"),
        ({"Zone Type": ["response_slider_endValue"]}, "ratings of single items"),
        (
            {"trials": ["[{'rt': 300}]", "[{'rt': 400}, {'rt': 500}]"]},
            "a list of trials in each cell",
        ),
    ],
)
def test_what_is_not_covered_is_named(column: dict[str, list[Any]], words: str) -> None:
    n = 60
    frame = pd.DataFrame(
        {"pp": np.repeat(["P1", "P2"], n // 2), "n": np.tile(np.arange(n // 2), 2), "juist": [1, 0] * (n // 2),
         "rt": np.arange(n) + 400}
    )  # fmt: skip
    told = _described(frame).doubts
    assert any("no column speaks of congruence" in line for line in told)
    assert not any("--column congruence" in line for line in told)
    ((name, cells),) = column.items()
    frame[name] = [cells[k % len(cells)] for k in range(n)]
    assert any(words in line for line in _described(frame).doubts)


def test_sequences_that_were_produced_are_named(rng: np.random.Generator) -> None:
    cells = ["".join(rng.choice(list("KM"), 60)) for _ in range(30)]
    frame = pd.DataFrame({"ppnr": np.arange(30), "reeks": cells})
    assert any("sequences that participants produced" in line for line in _described(frame).doubts)


def test_congruence_is_asked_for_where_columns_speak_of_it(rng: np.random.Generator) -> None:
    frame = _flagged(rng)
    wanted = "--column congruence=COLUMN"
    assert any(wanted in line for line in _described(frame).doubts)
    frame = frame.rename(columns={"discordante": "flag"})
    assert not any(wanted in line for line in _described(frame).doubts)
    frame["Woord"] = rng.choice(["ROOD", "GROEN"], len(frame))
    frame["Kleur"] = rng.choice(["red", "green"], len(frame))
    assert any(wanted in line for line in _described(frame).doubts)


def test_rows_that_the_file_calls_bad_are_named_with_an_option(rng: np.random.Generator) -> None:
    frame = gambles(rng).frame
    frame["VALIDITY"] = np.where(np.arange(len(frame)) % 30 == 4, "BAD", "OK")
    found = _described(frame)
    assert any("VALIDITY is BAD" in line and "where.VALIDITY=OK" in line for line in found.odd)
    assert not any("VALIDITY" in line for line in _described(frame, where={"VALIDITY": "OK"}).odd)
    frame["VALIDITY"] = np.where(np.arange(len(frame)) % 2 == 0, "bad", "good")
    assert not any("VALIDITY is" in line for line in _described(frame).odd)


def test_a_percentage_is_called_one(rng: np.random.Generator) -> None:
    frame = gambles(rng).frame
    frame["p"] = (100 * frame["b_p1"]).astype(int)
    frame = frame.drop(columns=["b_p1", "b_p2", "a_p"])
    parts = {"a_amounts": ["a_x"], "a_probabilities": [1], "b_amounts": ["b_x1", "b_x2"]}
    chances = {"b_probabilities": ["p", "1 - p"]}
    with pytest.raises(TrialsError, match="percentages are divided by 100"):
        read(frame, DOMAINS["risky"], stimulus={**parts, **chances})
    chances = {"b_probabilities": ["p / 100", "1 - p / 100"]}
    assert only(read(frame, DOMAINS["risky"], stimulus={**parts, **chances})).n_responses == 120


# Words in other languages, keys, times --------------------------------------------------------


def _simon(rng: np.random.Generator, n: int = 240) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "sujet": np.repeat([f"S{k}" for k in range(4)], n // 4),
            "essai": np.tile(np.arange(n // 4), 4),
            "compatibilite": rng.choice(["compatible", "incompatible"], n),
            "erreur": 1 * (rng.random(n) < 0.1),
            "TR": rng.uniform(0.3, 0.9, n).round(3),
        }
    )


def test_errors_and_times_are_known_in_other_languages(rng: np.random.Generator) -> None:
    frame = _simon(rng)
    for name in ("erreur", "Fehler", "fout"):
        found = read(frame.rename(columns={"erreur": name}))
        trials = only(found)
        n_right = int((trials.response < trials.n_options // 2).sum())
        assert n_right == int((frame["erreur"] == 0).sum())
        assert any("TR are seconds" in line for line in found.notes)
    said = _described(frame, response_time_unit="s")
    assert not any("below 150 ms" in line for line in said.odd)


def _flagged(rng: np.random.Generator, effect: float = 0.03) -> pd.DataFrame:
    """Rows of 12 participants with a flag whose name says nothing, slower by an effect where it is 1."""
    n = 12 * 60
    flag, right = rng.integers(0, 2, n), rng.integers(0, 2, n)
    is_right = rng.random(n) < 0.95
    missed = np.arange(n) % 50 == 9
    pressed = np.where(is_right, right, 1 - right)
    keys = np.array(["z", "m"])
    return pd.DataFrame(
        {
            "subject_nr": np.repeat(np.arange(12), n // 12),
            "zahl": np.tile(np.arange(n // 12), 12),
            "discordante": flag,
            "correct_response": keys[right],
            "response": np.where(missed, "", keys[pressed]),
            "response_time": (0.5 + effect * flag + rng.normal(0, 0.1, n)).clip(0.25).round(3),
            "correct": 1 * (is_right & ~missed),
        }
    )


def test_the_data_say_which_trials_are_congruent(rng: np.random.Generator) -> None:
    said: dict[str, Any] = {"stimulus": {"congruence": "discordante"}, "response_time_unit": "s"}
    for effect, words in ((0.03, ("congruent", "incongruent")), (-0.03, ("incongruent", "congruent"))):  # fmt: skip
        frame = _flagged(rng, effect)
        code = f'{{0 = "{words[0]}", 1 = "{words[1]}"}}'
        with pytest.raises(TrialsError, match=f"of 12 participants.*recode.discordante={code}"):
            read(frame, DOMAINS["attention"], **said)
        right, wrong = dict(zip("01", words, strict=True)), dict(zip("10", words, strict=True))
        said["bad_rows"] = "leave_out_empty"
        read_as = read(frame, DOMAINS["attention"], **said, recode={"discordante": right})
        assert only(read_as).n_responses == int((frame["response"] != "").sum())
        code = f'{{1 = "{words[1]}", 0 = "{words[0]}"}}'
        with pytest.raises(ImplausibleError, match=f"recode.discordante={code}"):
            read(frame, DOMAINS["attention"], **said, recode={"discordante": wrong})
    with pytest.raises(TrialsError, match=r'do not tell it.*0 = "WORD", 1 = "WORD"'):
        read(_flagged(rng, 0.0), DOMAINS["attention"], **said)


def test_what_is_computed_is_congruent_where_it_holds(rng: np.random.Generator) -> None:
    frame = _flagged(rng)
    said: dict[str, Any] = {"response_time_unit": "s", "bad_rows": "leave_out_empty"}
    read_as = only(read(frame, stimulus={"congruence": "discordante == 0"}, **said))
    answered = (frame["response"] != "").to_numpy()
    congruence = np.asarray(read_as.stimuli["congruence"])[read_as.trial]
    assert sorted(congruence) == sorted(1.0 - 2 * frame["discordante"][answered])
    with pytest.raises(ImplausibleError, match=r"in 1[0-2] of 12 participants"):
        read(frame, stimulus={"congruence": "discordante == 1"}, **said)


def test_a_correction_names_all_cells(rng: np.random.Generator) -> None:
    frame = gambles(rng).frame
    degree = np.where(rng.random(len(frame)) < 0.5, "eher_", "sicher_")
    frame["choice"] = np.char.add(degree, np.where(frame["choice"] == 1, "ja", "nein"))
    code = {"eher_ja": 0, "sicher_ja": 0, "eher_nein": 1, "sicher_nein": 1}
    turned = " ".join(f"--column responses.{cell}={1 - place}" for cell, place in code.items())
    with pytest.raises(ImplausibleError, match=turned):
        read(frame, responses=code)


def test_more_than_three_keys_are_right_or_wrong(rng: np.random.Generator) -> None:
    n = 320
    ink, word, keys = rng.integers(0, 4, n), rng.integers(0, 4, n), np.array(list("dfjk"))
    pressed = np.where(rng.random(n) < 0.1, (ink + 1) % 4, ink)
    colours = np.array(["rood", "groen", "geel", "blauw"])
    frame = pd.DataFrame(
        {
            "Proefpersoon": np.repeat([f"S{k}" for k in range(4)], n // 4),
            "Trial": np.tile(np.arange(n // 4), 4),
            "Woord": np.char.upper(colours[word]),
            "Inktkleur": colours[ink],
            "Toets": keys[pressed],
            "JuisteToets": keys[ink],
            "Reactietijd": rng.integers(400, 900, n),
        }
    )
    trials = only(read(frame))
    n_right = int((trials.response < trials.n_options // 2).sum())
    assert n_right == int((pressed == ink).sum())
    with pytest.raises(TrialsError, match="response=Toets == JuisteToets"):
        read(frame, response="Toets", stimulus={"right_key": "JuisteToets"})


def test_a_missed_response_whose_time_is_0_is_known(rng: np.random.Generator) -> None:
    frame = gambles(rng).frame
    frame["rt"] = rng.integers(400, 900, len(frame))
    frame.loc[[3, 70], ["choice", "rt"]] = [-1, 0]
    assert only(read(frame)).n_responses == len(frame) - 2


def test_rows_that_a_flag_calls_timed_out_are_missed(rng: np.random.Generator) -> None:
    frame = gambles(rng).frame
    frame["player.timed_out"] = 0
    frame.loc[[3, 70, 71], "player.timed_out"] = 1
    found = read(frame)
    assert only(found).n_responses == len(frame) - 3
    assert any("missed responses" in line for line in _described(frame).odd)
    assert only(read(frame, accept="practice_rows")).n_responses == len(frame)
    # Where most rows are flagged, the column says something else.
    frame["player.timed_out"] = 1 * (rng.random(len(frame)) < 0.6)
    assert "where" not in _described(frame).mapping.model_dump(exclude_defaults=True)


# Copies and second visits ---------------------------------------------------------------------


def test_a_participant_who_stands_twice_is_read_once_and_named(rng: np.random.Generator) -> None:
    frame = bandits(rng).frame
    frame["rt"] = rng.integers(400, 900, len(frame))
    who = frame["subject"] == frame["subject"].iloc[-1]
    twice = pd.concat([frame, frame[who]], ignore_index=True)
    found = read(twice)
    assert only(found).n_responses == len(frame)
    name = frame["subject"].iloc[-1]
    assert any(f"1 ({name}: {who.sum()})" in line for line in found.left_out.lines())
    assert any(f"all of {name}" in line for line in _described(twice).odd)


def test_a_second_visit_begins_anew_and_is_named(rng: np.random.Generator) -> None:
    frame = bandits(rng).frame
    frame["Date"] = "03/10/2023"
    last = frame["subject"].iloc[-1]
    again = frame[frame["subject"] == last].assign(Date="17/10/2023")
    again["choice"] = again["choice"].to_numpy()[::-1]
    both = pd.concat([frame, again], ignore_index=True)
    found = _described(both)
    assert found.mapping.stimulus["block_start"] == "Date"
    assert any(line.startswith(f"{last} took part more than once") for line in found.odd)
    n = len(again)
    assert np.flatnonzero(only(read(both)).stimuli["block_start"]).tolist() == [0, n]
    as_one = only(read(both, stimulus={"block_start": ""}))
    assert np.flatnonzero(as_one.stimuli["block_start"]).tolist() == [0]


@pytest.mark.parametrize("name", ["block", "blocks.thisN", "session"])
def test_numbers_that_begin_anew_in_blocks_are_no_second_visit(
    rng: np.random.Generator, name: str
) -> None:
    frame = delays(rng).frame.drop(columns="trial", errors="ignore")
    frame = frame[frame["subject"] == frame["subject"].iloc[0]].head(30)
    frame = frame.assign(**{name: np.repeat([0, 1, 2], 10), "trial": np.tile(range(10), 3)})
    said = {"accept": "one_participant", "participant": "subject"}
    if name == "session":
        with pytest.raises(ImplausibleError, match="taken part more than once"):
            read(frame, DOMAINS["intertemporal"], **said)
    else:
        assert only(read(frame, DOMAINS["intertemporal"], **said)).n_responses == 30


# Questionnaires -------------------------------------------------------------------------------


def test_answers_that_repeat_amounts_and_delays_need_no_file_of_items(
    rng: np.random.Generator,
) -> None:
    later = {"Q4": "$55 in 117 days", "Q5": "$75 in 61 days", "Q6": "$25 in 53 days"}
    later |= {"Q7": "$85 in 7 days", "Q8": "$26 in 19 days", "Q9": "$50 in 160 days"}
    chosen = rng.integers(0, 2, (30, 6))
    chosen[:2] = [[0] * 6, [1] * 6]  # both options of each question occur
    frame = pd.DataFrame({"ResponseId": [f"R_{k:02d}x" for k in range(30)], "Q1": "I agree"})
    for place, (name, cell) in enumerate(later.items()):
        frame[name] = np.where(chosen[:, place] == 1, cell, "$14 today")
    trials = only(read(frame))
    assert trials.n_responses == chosen.size
    assert trials.response.sum() == chosen.sum()
    assert sorted(trials.stimuli["delays_days"][:, 1].tolist()) == [7, 19, 53, 61, 117, 160]


def test_alternatives_that_say_yes_and_no_in_other_languages_are_choices() -> None:
    rows = [("P1", task, alt) for task in range(8) for alt in (1, 2)]
    frame = pd.DataFrame(rows, columns=["vp", "Aufgabe", "Alternative"])
    frame["Preis"] = np.tile([399, 299, 199, 299], 4)
    frame["column 1"] = np.arange(1, 17)  # numbers of rows, as R writes them
    frame["gewaehlt"] = np.tile(["nein", "ja", "ja", "nein"], 4)
    found = _described(frame)
    assert (found.mapping.alternative, found.mapping.choice_set) == ("Alternative", "Aufgabe")
    assert any("task of your own" in line for line in found.doubts)


def test_numbers_with_zeros_before_them_number_columns() -> None:
    frame = pd.DataFrame({"VPNR": [f"V{k}" for k in range(20)]})
    for place in range(1, 7):
        frame[f"DG{place:02d}_M"] = 40 + 10 * place
        frame[f"DG{place:02d}_GEGEBEN"] = [place + k for k in range(20)]
    found = _described(frame)
    assert found.n_rows == 120
    assert any("DG_GEGEBEN seems to be a gift out of DG_M" in line for line in found.doubts)


def test_a_questionnaire_without_choices_is_said_to_hold_none() -> None:
    frame = pd.DataFrame({"CASE": [f"C{k}" for k in range(20)], "BF01_01": np.arange(20) % 5})
    assert any("no column seems to hold choices" in line for line in _described(frame).doubts)


# Noise ----------------------------------------------------------------------------------------


def test_the_event_and_keys_are_no_conditions(rng: np.random.Generator) -> None:
    frame = _simon(rng).assign(touche=rng.choice(["x", "n"], 240), couleur=rng.choice(["r", "v"], 240))  # fmt: skip
    lines = [line for line in read(frame).notes if "varies within participants" in line]
    assert len(lines) == 1
    assert lines[0].startswith("couleur")


def test_probabilities_that_no_column_says_are_told(rng: np.random.Generator) -> None:
    n = 60
    frame = pd.DataFrame(
        {
            "sub": np.repeat([1, 2], n // 2), "onset": np.tile(np.arange(n // 2) * 3.2, 2),
            "gain": rng.integers(10, 40, n), "loss": rng.integers(5, 20, n),
            "PTval": rng.uniform(-5, 17, n).round(1), "respnum": rng.integers(1, 5, n),
        }
    )  # fmt: skip
    frame["respcat"] = 1 * (frame["gain"] > 2 * frame["loss"])
    found = _described(frame)
    assert found.domain == "risky"
    assert any("b_probabilities=[0.5, 0.5]" in line for line in found.odd)
    (back, *_) = [line for line in how_it_is_read(found, None) if line.startswith("read back")]
    assert "with 50%" in back


def test_labels_of_a_file_of_spss_say_which_option_a_code_is(
    rng: np.random.Generator, tmp_path: Path
) -> None:
    pyreadstat = pytest.importorskip("pyreadstat")
    frame = delays(rng).frame
    chosen = frame["choice"].to_numpy()
    frame["choice"] = np.where(chosen == 1, 1.0, 2.0)
    labels = {"choice": {1.0: "später", 2.0: "sofort"}, "trial": {1.0: "first"}}
    file = tmp_path / "answers.sav"
    pyreadstat.write_sav(frame, str(file), variable_value_labels=labels)
    assert only(read(file)).response.tolist() == chosen.tolist()
    found = describe_table(read_answers(file))
    assert "choice: 1 is später, 2 is sofort, as labels of the file say" in found.odd
    labels["choice"] = {1.0: "ganz", 2.0: "halb"}  # these are no words for options
    pyreadstat.write_sav(frame, str(file), variable_value_labels=labels)
    assert not describe_table(read_answers(file)).mapping.recode


def test_words_of_rewards_are_worth_what_a_column_of_sums_says(rng: np.random.Generator) -> None:
    frame = bandits(rng).frame
    won = frame["reward"].to_numpy() > 0
    frame["reward"] = np.where(won, "win", "loss")
    frame["totalpoints"] = pd.Series(np.where(won, 10, -10)).groupby(frame["subject"]).cumsum()
    found = read(frame)
    assert only(found).feedback["reward"].tolist() == np.where(won, 1.0, -1.0).tolist()
    with pytest.raises(TrialsError, match="something lost"):
        read(frame.drop(columns="totalpoints"))


def test_numbered_options_are_rated_and_numbered_items_are_not(rng: np.random.Generator) -> None:
    n = 60
    frame = pd.DataFrame({"id": np.repeat(["P1", "P2"], n // 2)})
    for cue in ("quality", "taste", "price_rating"):
        frame[f"{cue}_1"], frame[f"{cue}_2"] = rng.integers(1, 6, (2, n))
    frame["chosen"] = rng.integers(1, 3, n)
    found = _described(frame)
    assert found.domain == "multiattribute"
    assert [len(side) for side in found.mapping.stimulus["ratings"]] == [3, 3]
    items = pd.DataFrame({f"BF01_{item:02d}": rng.integers(1, 6, 40) for item in range(1, 21)})
    assert _described(items.assign(CASE=range(100, 140))).domain == ""


def test_a_column_that_is_said_to_be_a_condition_divides_no_experiments(
    rng: np.random.Generator,
) -> None:
    frame = delays(rng).frame
    frame["study"] = np.where(rng.integers(0, 2, len(frame)) == 1, "drug", "placebo")
    assert _described(frame).mapping.experiment == "study"
    assert only(read(frame, condition="study")).n_participants == frame["subject"].nunique()
    # What varies within participants and is not called an experiment divides none, whatever is said.
    assert _described(frame.rename(columns={"study": "condition"})).mapping.experiment == ""
