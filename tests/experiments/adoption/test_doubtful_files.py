"""Files that would be read wrongly without a word: each rule on a small file."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from reading import delays, gambles, only, read

from lakatos.domains import DOMAINS
from lakatos.experiments.adoption.describe import TableDescription, describe_table
from lakatos.experiments.adoption.mapping import AnswerColumns
from lakatos.experiments.adoption.option_code import is_negative
from lakatos.experiments.adoption.signatures import table_signature
from lakatos.experiments.adoption.tables import days_of_dates, table_of_frame
from lakatos.experiments.errors import ImplausibleError, TrialsError

N_PEOPLE, N_TRIALS = 6, 40


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(7)


def _described(frame: pd.DataFrame, **said: Any) -> TableDescription:
    return describe_table(table_of_frame("answers.csv", frame)).with_columns(said)


def _rows() -> pd.DataFrame:
    who = np.repeat(np.arange(1, N_PEOPLE + 1), N_TRIALS)
    return pd.DataFrame({"subject": who, "trial": np.tile(np.arange(1, N_TRIALS + 1), N_PEOPLE)})


def _sequences(rng: np.random.Generator) -> pd.DataFrame:
    letters = np.array(["H", "T"])[rng.integers(0, 2, (2, N_PEOPLE * N_TRIALS, 6))]
    first, second = ("".join(row) for row in letters[0]), ("".join(row) for row in letters[1])
    return _rows().assign(seq_top=list(first), seq_bottom=list(second))


def _learned(rng: np.random.Generator) -> pd.DataFrame:
    """Choices of a stimulus, the first of which pays more, repeated after rewards, at places that change."""
    frame = _rows()
    chosen, won = np.zeros((2, len(frame)), dtype=int)
    for row in range(len(frame)):
        is_first = row % N_TRIALS == 0
        stays = not is_first and rng.random() < (0.95 if won[row - 1] else 0.3)
        chosen[row] = chosen[row - 1] if stays else rng.integers(0, 2)
        won[row] = rng.random() < (0.7 if chosen[row] == 0 else 0.3)
    place = rng.integers(0, 2, len(frame))
    sides = np.array(["left", "right"])
    return frame.assign(
        blue_side=sides[place], choice=sides[place ^ chosen], chosen=chosen, reward=won
    )


# Polarity ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "cells"),
    [
        ("looks_less_random", ("top", "bottom")),
        ("weniger_zufällig", ("oben", "unten")),
        ("moins_aleatoire", ("haut", "bas")),
        ("menos_aleatoria", ("arriba", "abajo")),
        ("minder_willekeurig", ("boven", "onder")),
        ("not_random", ("1", "2")),
        ("rejected", ("top", "bottom")),
    ],
)
def test_a_negative_name_of_responses_is_asked_about_with_the_code_of_both_readings(
    name: str, cells: tuple[str, str], rng: np.random.Generator
) -> None:
    chosen = rng.integers(0, 2, N_PEOPLE * N_TRIALS)
    frame = _sequences(rng).assign(**{name: np.array(cells)[chosen]})
    with pytest.raises(TrialsError) as refused:
        read(frame, DOMAINS["sequences"], response=name)
    turned = f"turn it round: --column responses.{cells[0]}=1 --column responses.{cells[1]}=0"
    assert turned in str(refused.value) or (
        f"--column responses.{cells[1]}=0 --column responses.{cells[0]}=1" in str(refused.value)
    )
    code = {cells[0]: 1, cells[1]: 0}
    found = read(frame, DOMAINS["sequences"], response=name, responses=code)
    assert only(found).response.tolist() == (1 - chosen).tolist()


def test_spaces_around_sequences_mean_nothing(rng: np.random.Generator) -> None:
    frame = _sequences(rng).assign(choice=rng.integers(0, 2, N_PEOPLE * N_TRIALS))
    spaced = frame.assign(seq_top=frame["seq_top"] + " ", seq_bottom=" " + frame["seq_bottom"])
    plain, found = (only(read(own, DOMAINS["sequences"])) for own in (frame, spaced))
    assert found.digest == plain.digest


def test_not_before_the_name_of_an_option_names_the_other_one(rng: np.random.Generator) -> None:
    frame = delays(rng).frame
    took_later = frame["choice"].to_numpy()
    assert sorted(set(took_later)) == [0, 1]
    plain = only(read(frame.drop(columns="choice").assign(chose_later=took_later)))
    turned = only(read(frame.drop(columns="choice").assign(not_chose_later=1 - took_later)))
    assert plain.response.tolist() == turned.response.tolist() == took_later.tolist()
    assert not is_negative("accept_or_reject")
    assert is_negative("rejected")


# Places -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("names", [("blue_side", "choice"), ("蓝色位置", "选择")])
def test_places_of_a_stimulus_beside_responses_at_places_are_crossed_with_them(
    names: tuple[str, str], rng: np.random.Generator
) -> None:
    frame = _learned(rng).rename(columns=dict(zip(("blue_side", "choice"), names, strict=True)))
    chosen = frame.pop("chosen").to_numpy()
    said: dict[str, Any] = {"response": names[1], "feedback": {"reward": "reward"}}
    with pytest.raises(ImplausibleError, match=f"response={names[1]} == {names[0]}"):
        read(frame, DOMAINS["learning"], **said)
    crossed = said | {"response": f"{names[1]} == {names[0]}"}
    found = only(read(frame, DOMAINS["learning"], **crossed))
    assert found.response.tolist() in (chosen.tolist(), (1 - chosen).tolist())


def test_images_at_places_refuse_places_and_right_or_wrong_as_options(
    rng: np.random.Generator,
) -> None:
    frame = _learned(rng)
    chosen = frame.pop("chosen").to_numpy()
    is_left = frame.pop("blue_side") == "left"
    images = np.array(["a.png", "b.png"])
    frame["img_left"] = np.where(is_left, *images)
    frame["img_right"] = np.where(is_left, *images[::-1])
    frame = frame.assign(chose_correct=1 - chosen).rename(columns={"choice": "key"})
    said: dict[str, Any] = {"feedback": {"reward": "reward"}}
    shown = ["img_left", "img_right"]
    for response in ("key", "chose_correct"):
        with pytest.raises(ImplausibleError, match=r'shown=."img_left", "img_right".') as refused:
            read(frame, DOMAINS["learning"], **said, response=response, stimulus={"shown": ""})
        assert ("response=key" in str(refused.value)) == (response != "key")
    found = read(
        frame,
        DOMAINS["learning"],
        **said,
        response="key",
        stimulus={"shown": shown},
    )
    assert only(found).response.tolist() == chosen.tolist()


def test_left_and_right_are_no_options_where_columns_name_options_otherwise(
    rng: np.random.Generator,
) -> None:
    frame = gambles(rng).frame
    frame["Button"] = np.where(rng.integers(0, 2, len(frame)) == 1, "R", "L")
    with pytest.raises(TrialsError, match=r"something else.*another column says which option"):
        read(frame, response="Button")


def test_a_column_of_any_name_is_questioned_if_responses_follow_rewards_only_with_it(
    rng: np.random.Generator,
) -> None:
    frame = _learned(rng).drop(columns="chosen")
    codes = {"left": "1", "right": "2"}
    frame = frame.assign(choice=frame["choice"].map(codes), cfg=frame["blue_side"].map(codes))
    frame = frame.drop(columns="blue_side")
    with pytest.raises(ImplausibleError, match=r"response=choice == cfg.*unread_column"):
        read(frame, DOMAINS["learning"])
    noise = frame.assign(cfg=rng.integers(1, 3, len(frame)))
    assert only(read(noise, DOMAINS["learning"])).n_options == 2


def test_a_column_of_any_name_is_questioned_if_responses_follow_offers_only_with_it(
    rng: np.random.Generator,
) -> None:
    frame = delays(rng).frame
    later = frame["choice"].to_numpy()
    cfg = rng.integers(0, 2, len(frame))
    with pytest.raises(ImplausibleError, match=r"response=choice == cfg.*unread_column"):
        read(
            frame.assign(choice=later ^ cfg, cfg=cfg), response="choice", responses={"0": 0, "1": 1}
        )
    assert only(read(frame.assign(cfg=cfg))).response.tolist() == later.tolist()


def test_keys_that_were_exchanged_between_participants_are_questioned_with_the_column_that_says_so(
    rng: np.random.Generator,
) -> None:
    frame = delays(rng).frame
    later = frame["choice"].to_numpy()
    half = pd.factorize(frame["subject"])[0] % 2
    keys = np.array(["f", "j"])[later ^ half]
    pressed = frame.assign(choice=keys, mapping=np.array(["j is later", "f is later"])[half])
    said: dict[str, Any] = {"response": "choice", "responses": {"f": 0, "j": 1}}
    with pytest.raises(ImplausibleError, match=r"opposite way .* in mapping, .*unread_column"):
        read(pressed, **said)
    meant = {"mapping": {"j is later": "j", "f is later": "f"}}
    found = read(pressed, response="choice == mapping", recode=meant)
    assert only(found).response.tolist() == later.tolist()
    groups = frame.assign(choice=np.array(["f", "j"])[later], mapping=half)
    assert only(read(groups, **said)).response.tolist() == later.tolist()


# Rewards in two parts -----------------------------------------------------------------------------


def test_what_was_won_and_lost_are_one_reward(rng: np.random.Generator) -> None:
    frame = _learned(rng)[["subject", "trial", "chosen", "reward"]]
    lost = rng.integers(0, 2, len(frame)) * 10
    frame = frame.assign(points_won=10 * frame.pop("reward"), points_lost=lost)
    frame = frame.rename(columns={"chosen": "choice"})
    assert _described(frame).mapping.feedback == {"reward": "points_won - points_lost"}
    with pytest.raises(ImplausibleError, match=r"feedback.reward=points_won - points_lost"):
        read(frame, DOMAINS["learning"], feedback={"reward": "points_won"})
    with pytest.raises(TrialsError, match=r"in place of reward, say --column 'feedback.reward="):
        read(frame, DOMAINS["learning"], stimulus={"reward": "points_won - points_lost"})


# Rows that do not count, and participants -----------------------------------------------------------


def test_attention_checks_are_left_out_but_not_participants_who_passed_one(
    rng: np.random.Generator,
) -> None:
    frame = delays(rng).frame
    checks = np.arange(len(frame)) % 9 == 4
    for name, cells in (
        ("attention_check", checks.astype(int)),
        ("catch_trial", np.where(checks, "yes", "no")),
        ("trial_type", np.where(checks, "catch", "choice")),
    ):
        found = read(frame.assign(**{name: cells}))
        assert only(found).n_responses == (~checks).sum()
        assert any(
            "attention checks" in line for line in _described(frame.assign(**{name: cells})).odd
        )
    passed = frame.groupby("subject").ngroup() == 0
    assert only(read(frame.assign(attention_check=1 * passed))).n_responses == len(frame)


def test_rows_with_a_word_beside_numbers_of_trials_are_questioned(rng: np.random.Generator) -> None:
    frame = delays(rng).frame
    count = (frame.groupby("subject").cumcount() + 1).astype(str)
    odd = frame.assign(trial_label=count.where(count != "3", "Bonus"))
    odd = odd.rename(columns={"trial_label": "trial_no"}).drop(columns="trial", errors="ignore")
    with pytest.raises(ImplausibleError, match=r"trial_no is Bonus.*no trials"):
        read(odd)


def _with_sites(rng: np.random.Generator) -> pd.DataFrame:
    frame = delays(rng).frame.drop(columns="trial", errors="ignore")
    place = frame.groupby("subject").ngroup()
    n_half = place.nunique() // 2
    frame["site"] = np.where(place < n_half, "Madrid", "Leiden")
    frame["subject"] = place % n_half + 1
    return frame[place < 2 * n_half].assign(
        trial=lambda rows: rows.groupby(["site", "subject"]).cumcount() + 1
    )


def test_identifiers_that_begin_anew_at_each_site_are_asked_about_and_joined(
    rng: np.random.Generator,
) -> None:
    frame = _with_sites(rng)
    with pytest.raises(ImplausibleError, match=r"participant=site & subject"):
        read(frame)
    found = only(read(frame, participant="site & subject"))
    assert found.n_people == 2 * frame["subject"].nunique()
    is_accepted = read(frame, accept=("shared_names",))
    assert only(is_accepted).n_people == frame["subject"].nunique()
    assert AnswerColumns(participant="site & subject").participant == "site & subject"


def test_blocks_and_conditions_with_numbers_that_begin_anew_are_no_sites(
    rng: np.random.Generator,
) -> None:
    for name in ("block", "session", "frame_of_offer"):
        frame = _with_sites(rng).rename(columns={"site": name})
        assert only(read(frame)).n_people == frame["subject"].nunique()


def test_a_participant_with_two_dates_and_trials_that_begin_anew_is_asked_about(
    rng: np.random.Generator,
) -> None:
    frame = delays(rng).frame.drop(columns="trial", errors="ignore")
    place = frame.groupby("subject").ngroup()
    names = np.where(place == 3, "P01", frame["subject"])
    frame = frame.assign(
        started_at=np.where(place == 3, "2024-03-09", "2024-03-01"),
        decision=frame.groupby("subject").cumcount() + 1,
    )
    frame["subject"] = names
    with pytest.raises(ImplausibleError, match=r"for 1 of 3 participants.*shared_names") as refused:
        read(frame)
    assert "P01" not in str(refused.value)
    assert only(read(frame, accept=("shared_names",))).n_people == 3


def test_items_with_one_answer_are_counted_and_not_dropped_quietly() -> None:
    answers = {f"Q_{n}": [f"${20 + n} today", f"${40 + n} in {n} days"] * 3 for n in range(1, 7)}
    answers |= {f"Q_{n}": [f"${20 + n} today"] * 6 for n in range(7, 10)}
    frame = pd.DataFrame({"participant": [f"p{n}" for n in range(6)], **answers})
    with pytest.raises(ImplausibleError, match=r"3 of 9 items .*18 of 54 responses.*items=FILE"):
        read(frame)
    assert only(read(frame, accept=("constant_response",))).n_responses == 36


# Columns that are read as something else --------------------------------------------------------------


def test_columns_of_computed_numbers_describe_no_option() -> None:
    frame = pd.DataFrame(
        {
            "who": ["a"] * 3 + ["b"] * 3,
            "ss_amt": list("123456"),
            "k_est": list("654321"),
            "EV": list("135246"),
        }
    )
    signature = table_signature(frame, {"who": "participant"})
    assert [item.name for item in signature.numbers()] == ["ss_amt"]


def test_a_role_that_nothing_reads_is_questioned_in_games(rng: np.random.Generator) -> None:
    frame = _rows()
    payoffs = {f"{who}_{cell}": rng.integers(0, 10, len(frame)) for who in ("own", "other")
               for cell in ("11", "12", "21", "22")}  # fmt: skip
    chosen = rng.integers(0, 2, len(frame))
    roles = np.where(frame["subject"] % 2 == 0, "row", "column")
    frame = frame.assign(**payoffs, choice=chosen + 1)
    assert only(read(frame, DOMAINS["games"])).n_responses == len(frame)
    read(frame.assign(treatment=roles), DOMAINS["games"])  # no role by its name
    read(frame.assign(role=np.where(chosen == 0, "row", "column")), DOMAINS["games"])
    frame = frame.assign(role=roles)
    with pytest.raises(ImplausibleError, match=r"role \(column, row\).*where\.role=column"):
        read(frame, DOMAINS["games"])
    found = read(frame, DOMAINS["games"], where={"role": "row"})
    assert only(found).response.tolist() == chosen[roles == "row"].tolist()


def test_roles_with_options_of_their_own_are_read_apart(rng: np.random.Generator) -> None:
    frame = _rows()
    payoffs = {f"{who}_{cell}": rng.integers(0, 10, len(frame)) for who in ("row", "col")
               for cell in ("TL", "TR", "BL", "BR")}  # fmt: skip
    is_row = (frame["subject"] % 2 == 0).to_numpy()
    chosen = rng.integers(0, 2, len(frame))
    choice = np.where(is_row, np.array(["T", "B"])[chosen], np.array(["L", "R"])[chosen])
    frame = frame.assign(role=np.where(is_row, "row", "col"), **payoffs, choice=choice)
    own, other = (
        [[f"{who}_TL", f"{who}_TR"], [f"{who}_BL", f"{who}_BR"]] for who in ("row", "col")
    )
    code = {"T": 0, "B": 1, "L": 0, "R": 1}
    with pytest.raises(TrialsError) as refused:
        read(frame, DOMAINS["games"], stimulus={"own": own, "other": other}, responses=code)
    assert "--column where.role=col, or --column where.role=row" in str(refused.value)
    turned = [["col_TL", "col_BL"], ["col_TR", "col_BR"]]
    assert str(turned).replace("'", '"') in str(refused.value)
    found = read(
        frame,
        DOMAINS["games"],
        stimulus={"own": own, "other": other},
        responses={"T": 0, "B": 1},
        where={"role": "row"},
    )
    assert only(found).response.tolist() == chosen[is_row].tolist()


def test_a_response_that_often_equals_the_stimulus_is_not_right_or_wrong(
    rng: np.random.Generator,
) -> None:
    stimulus = rng.integers(0, 2, N_PEOPLE * N_TRIALS)
    is_right = rng.random(len(stimulus)) < 0.8
    frame = _rows().assign(
        Stimulus=stimulus,
        Response=np.where(is_right, stimulus, 1 - stimulus),
        RT=rng.uniform(0.4, 1.5, len(stimulus)).round(3),
    )
    said = {"response": "Response", "response_time": "RT", "response_time_unit": "s"}
    with pytest.raises(ImplausibleError, match=r"right_key=Stimulus"):
        read(frame, DOMAINS["perception"], **said, responses={"1": 0, "0": 1})
    code = {"0": 0, "1": 1}
    found = only(
        read(
            frame, DOMAINS["perception"], **said, responses=code, stimulus={"right_key": "Stimulus"}
        )
    )
    assert found.n_responses == len(frame)


# Times and dates ------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", ["%Y-%m-%dT%H:%M:%SZ", "%d.%m.%Y %H:%M:%S"])
def test_times_of_the_day_say_the_order_of_shuffled_rows(
    form: str, rng: np.random.Generator
) -> None:
    frame = _learned(rng)[["subject", "chosen", "reward"]].rename(columns={"chosen": "choice"})
    wanted = only(read(frame)).response.tolist()
    stamps = pd.date_range("2024-04-29 22:00", periods=len(frame), freq="7min").strftime(form)
    shuffled = frame.assign(timestamp=stamps).sample(frac=1, random_state=3)
    found = read(shuffled)
    trials = only(found)
    by_person = {
        tuple(
            trials.response[trials.participant == who][
                np.argsort(trials.trial[trials.participant == who])
            ]
        )
        for who in range(N_PEOPLE)
    }
    assert by_person == {tuple(wanted[n * N_TRIALS : (n + 1) * N_TRIALS]) for n in range(N_PEOPLE)}
    assert any("timestamp: rows are in the order of these times" in note for note in found.notes)
    named = only(read(shuffled, order="timestamp"))
    assert named.response.tolist() == trials.response.tolist()


def test_dates_with_points_are_days(rng: np.random.Generator) -> None:
    days = days_of_dates(pd.Series(["05.03.2023", "19.3.2023", "", "2023-03-05", "12"]))
    assert days[1] - days[0] == 14
    assert days[3] == days[0]
    assert np.isnan(days[[2, 4]]).all()
    frame = delays(rng).frame
    wanted = only(read(frame)).stimuli["delays_days"]
    later = pd.Timestamp("2023-03-05") + pd.to_timedelta(frame["delay_later"], unit="D")
    dated = frame.drop(columns="delay_later").assign(
        Testdatum="05.03.2023", Datum=later.dt.strftime("%d.%m.%Y")
    )
    parts = {
        "amounts": ["amount_sooner", "amount_later"],
        "delays_days": ["delay_sooner", "Datum - Testdatum"],
    }
    found = read(dated, DOMAINS["intertemporal"], stimulus=parts)
    assert np.allclose(only(found).stimuli["delays_days"], wanted)


def test_a_description_of_counts_names_the_columns_of_shares_and_counts() -> None:
    frame = pd.DataFrame({"n": [10, 12], "share_b": [0.2, 0.5], "left": [1, 2], "right": [3, 4]})
    found = _described(frame, count="n", share="share_b")
    told = {item.name: found.meaning_of(item) for item in found.columns}
    assert (told["n"], told["share_b"]) == ("count", "share")
    counted = replace(found, mapping=AnswerColumns(counts=("left", "right")))
    told = {item.name: counted.meaning_of(item) for item in counted.columns}
    assert (told["left"], told["right"]) == ("count of option 1", "count of option 2")


def test_value_labels_say_which_options_a_column_names_before_it_is_known_as_the_response(
    rng: np.random.Generator,
) -> None:
    frame = delays(rng).frame
    frame["dec"] = np.where(frame.pop("choice") == 1, "1", "2")
    frame.loc[3, "dec"] = "99"
    labels = {"dec": {"1": "later", "2": "sooner", "99": "no answer"}}
    found = describe_table(replace(table_of_frame("answers.sav", frame), labels=labels))
    assert found.mapping.recode == {"dec": {"1": "later", "2": "sooner", "99": ""}}
    assert any("99 is no response" in line for line in found.odd)
