"""Files with the columns that programs and laboratories usually write are recognised without help."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from reading import only, read

from lakatos.domains import open_domain
from lakatos.experiments.adoption.column_meanings import meanings_of, summary_of
from lakatos.experiments.adoption.describe import TableDescription, describe_table
from lakatos.experiments.adoption.own_tasks import own_task_in_words
from lakatos.experiments.adoption.signatures import table_signature
from lakatos.experiments.adoption.tables import read_answers, table_of_frame
from lakatos.experiments.errors import ImplausibleError, TrialsError

SHARING = Path(__file__).parents[3] / "studies" / "tasks" / "sharing.toml"


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(7)


def _people(n_people: int, n_trials: int) -> pd.DataFrame:
    who = np.repeat(np.arange(n_people), n_trials)
    return pd.DataFrame({"subj_idx": who, "trial": np.tile(np.arange(1, n_trials + 1), n_people)})


def _described(frame: pd.DataFrame) -> TableDescription:
    return describe_table(table_of_frame("answers.csv", frame))


def _own_task(frame: pd.DataFrame) -> str:
    return own_task_in_words(table_signature(frame.astype(str), {}))


# Perception ------------------------------------------------------------------------------------


def _motion(rng: np.random.Generator) -> tuple[pd.DataFrame, np.ndarray]:
    """Directions with their coherence, and whether each response was right."""
    frame = _people(6, 80)
    coh = rng.choice([0.03, 0.06, 0.12, 0.25, 0.5], 480)
    right = rng.random(480) < 0.5 + coh * 0.95
    return frame.assign(
        coh=coh, direction=rng.choice(["left", "right"], 480), rt=rng.uniform(0.3, 1.8, 480).round(3)
    ), right  # fmt: skip


def test_responses_of_minus_1_and_1_beside_directions_are_the_left_and_the_right_one(
    rng: np.random.Generator,
) -> None:
    frame, right = _motion(rng)
    side = np.where(frame["direction"] == "right", 1, -1)
    found = _described(frame.assign(response=np.where(right, side, -side)))
    assert (found.domain, found.mapping.response) == ("perception", "response")
    assert found.mapping.stimulus == {"strength": "coh", "right_key": "direction"}
    assert found.mapping.responses == {"left": 0, "right": 1, "-1": 0, "1": 1}


def test_responses_of_minus_1_and_1_that_do_not_follow_directions_are_no_sides(
    rng: np.random.Generator,
) -> None:
    frame, right = _motion(rng)
    # right in most trials, of which most go to the right
    frame["direction"] = np.where(rng.random(480) < 0.7, "right", "left")
    found = _described(frame.assign(response=np.where(right | (frame["trial"] % 3 > 0), 1, -1)))
    assert "right_key" not in found.mapping.stimulus


def test_a_response_of_hddm_that_is_mostly_1_says_whether_it_was_right(
    rng: np.random.Generator,
) -> None:
    frame = _people(6, 60).drop(columns="trial")
    frame["stim"] = rng.choice(["WL", "LL", "WW"], 360)
    frame["rt"] = rng.uniform(0.3, 1.8, 360).round(3)
    right = (rng.random(360) < 0.8).astype(float)
    found = _described(frame.assign(response=right))
    assert (found.domain, found.mapping.response) == ("perception", "response")
    assert found.mapping.responses == {"1": 0, "0": 1}
    assert any("name the right one: --column right_key=COLUMN" in line for line in found.odd)
    sides = np.tile([0, 1, 1, 0], 90)
    assert _described(frame.assign(response=sides)).domain == ""
    assert _described(frame.assign(response=right, feedback=right)).domain != "perception"


def test_columns_s_and_r_are_stimulus_and_response_as_in_files_of_emc2(
    rng: np.random.Generator,
) -> None:
    frame = _people(6, 80).rename(columns={"subj_idx": "subjects"}).drop(columns="trial")
    frame["S"] = rng.choice(["left", "right"], 480)
    frame["E"] = rng.choice(["speed", "accuracy"], 480)
    other = frame["S"].map({"left": "right", "right": "left"})
    frame["R"] = frame["S"].where(rng.random(480) < 0.8, other)
    frame["rt"] = rng.uniform(0.3, 1.8, 480).round(3)
    found = _described(frame)
    assert (found.domain, found.mapping.participant) == ("perception", "subjects")
    assert (found.mapping.response, found.mapping.stimulus) == ("R", {"right_key": "S"})
    by_chance = frame.assign(R=rng.permutation(frame["R"].to_numpy()))
    assert _described(by_chance).domain == ""


def test_lexicality_says_of_each_row_whether_it_is_a_word(rng: np.random.Generator) -> None:
    frame = _people(6, 80).assign(spelling="x", lexicality=rng.choice(["W", "N"], 480))
    frame["accuracy"] = (rng.random(480) < 0.9).astype(int)
    frame["rt"] = rng.uniform(400, 900, 480).round()
    found = _described(frame)
    assert (found.domain, found.mapping.response) == ("perception", "accuracy")
    assert _described(frame.rename(columns={"lexicality": "colour"})).domain == ""


def test_numbers_that_begin_anew_are_no_games_where_nothing_is_learned(
    rng: np.random.Generator,
) -> None:
    frame, right = _motion(rng)
    frame["trial"] = np.tile(np.arange(1, 41), 12)
    other = frame["direction"].map({"left": "right", "right": "left"})
    found = read(frame.assign(response=frame["direction"].where(right, other)), order="trial")
    (note,) = (line for line in found.notes if "as where it begins anew" in line)
    assert note.endswith("rows are in their order in the file")


# Orders ----------------------------------------------------------------------------------------


def test_of_columns_of_one_word_the_one_that_counts_the_rows_is_the_order(
    rng: np.random.Generator,
) -> None:
    frame = _motion(rng)[0].rename(columns={"trial": "Trial_Nr"})
    frame = frame.assign(response=rng.choice(["left", "right"], 480))
    items = [rng.choice(200, 80, replace=False) for _ in range(6)]
    assert _described(frame.assign(Trial_Id=np.concatenate(items))).mapping.order == "Trial_Nr"
    places = [rng.permutation(80) + 1 for _ in range(6)]  # each item once
    assert _described(frame.assign(Trial_Id=np.concatenate(places))).mapping.order == "Trial_Nr"


# Gains and losses ------------------------------------------------------------------------------


def test_of_several_columns_of_gains_the_one_with_no_other_word_is_the_amount(
    rng: np.random.Generator,
) -> None:
    frame = _people(5, 60)
    gain, loss = rng.integers(5, 20, 300) * 2, rng.integers(5, 20, 300)
    accepted = rng.random(300) < 1 / (1 + np.exp(-0.3 * (gain - 1.5 * loss)))
    frame = frame.assign(
        **{"parametric gain": (gain - 25) / 15, "parametric loss": (loss - 12) / 8},
        gain=gain, loss=loss, respnum=np.where(accepted, 1, 4), respcat=accepted.astype(int),
    )  # fmt: skip
    found = _described(frame)
    assert (found.domain, found.mapping.response) == ("risky", "respcat")
    assert found.mapping.stimulus["b_amounts"] == ["gain", "-loss"]
    assert only(read(frame)).response.tolist() == accepted.astype(int).tolist()


# Learning --------------------------------------------------------------------------------------


def _blocks(rng: np.random.Generator, *, known: bool = False) -> pd.DataFrame:
    """Three keys for four stimuli, of which another one is right in each block; learned unless it is known."""
    rows = []
    for who in range(6):
        for block in range(1, 7):
            right, seen = rng.integers(1, 4, 4), np.zeros(4, dtype=bool)
            for stim in rng.permutation(np.repeat(np.arange(4), 7)):
                choice = right[stim] if seen[stim] or known else rng.integers(1, 4)
                choice = rng.integers(1, 4) if rng.random() < 0.1 else choice
                seen[stim] |= choice == right[stim]
                rows.append((who, block, stim + 1, choice, int(choice == right[stim])))
    frame = pd.DataFrame(rows, columns=["subno", "block", "stim", "choice", "cor"])
    return frame.assign(rt=rng.uniform(0.3, 0.9, len(frame)).round(3))


def test_stimuli_whose_right_response_changes_with_blocks_are_cues_learned_anew(
    rng: np.random.Generator,
) -> None:
    frame = _blocks(rng)
    found = _described(frame)
    assert (found.domain, found.mapping.response) == ("learning", "choice")
    assert found.mapping.feedback == {"reward": "cor"}
    told = {part: found.mapping.stimulus[part] for part in ("cue", "block_start")}
    assert told == {"cue": "stim", "block_start": "block"}
    assert only(read(frame)).feedback["reward"].tolist() == frame["cor"].tolist()


def test_right_responses_that_participants_know_at_first_are_not_learned(
    rng: np.random.Generator,
) -> None:
    assert _described(_blocks(rng, known=True)).domain == ""


def _bandit(rng: np.random.Generator) -> pd.DataFrame:
    """Four options with payoffs that wander; the best so far is chosen mostly."""
    frame = _people(6, 80)
    paid = rng.integers(20, 80, (480, 4))
    choice = np.where(rng.random(480) < 0.3, rng.integers(0, 4, 480), 2)
    for row in range(1, 480):  # a high payoff is followed by the same choice
        if paid[row - 1, choice[row - 1]] > 55:
            choice[row] = choice[row - 1]
    for place in range(4):
        frame[f"reward_c{place + 1}"] = paid[:, place]
    return frame.assign(choice=choice + 1, payoff=paid[np.arange(480), choice])


def test_a_column_that_repeats_what_the_chosen_option_paid_is_the_reward(
    rng: np.random.Generator,
) -> None:
    found = _described(_bandit(rng))
    assert (found.domain, found.mapping.response) == ("learning", "choice")
    assert found.mapping.feedback == {"reward": "payoff"}


def test_screens_without_a_choice_and_a_reward_are_no_steps(rng: np.random.Generator) -> None:
    steps = _bandit(rng)[["subj_idx", "trial", "choice", "payoff"]]
    steps = steps.assign(reward=(steps.pop("payoff") > 50).astype(int), task="bandit", late=0)
    steps["choice"] = np.where(steps["choice"] == 3, "left", "right")
    steps["response"] = steps["choice"].map({"left": "f", "right": "j"})
    screens = steps.assign(choice="", reward="", response="", task="feedback", late="")
    both = pd.concat([steps, screens]).sort_index(kind="stable").reset_index(drop=True)
    found = _described(both)
    assert (found.domain, found.mapping.response) == ("learning", "response")
    assert only(read(both)).n_responses == len(steps)


def test_a_prediction_and_what_came_are_learned_in_several_blocks(
    rng: np.random.Generator,
) -> None:
    frame = _people(6, 80).assign(Block=np.tile(np.repeat([1, 2], 40), 6))
    frame["Outcome"] = rng.choice(["red", "blue"], 480, p=[0.7, 0.3])
    frame["Prediction"] = rng.choice(["red", "blue"], 480, p=[0.7, 0.3])
    found = _described(frame.assign(RT=rng.uniform(0.3, 1.8, 480).round(3)))
    assert found.domain == "learning"
    assert found.mapping.feedback == {"reward": "Prediction == Outcome"}


# Risk and games --------------------------------------------------------------------------------


def _gambles(rng: np.random.Generator) -> pd.DataFrame:
    """The columns of the choice prediction competitions."""
    frame = _people(6, 40)
    of_game = pd.DataFrame({
        "Ha": rng.integers(5, 20, 240), "pHa": rng.choice([0.8, 0.9, 1.0], 240), "La": rng.integers(-5, 5, 240),
        "Hb": rng.integers(20, 60, 240), "pHb": rng.choice([0.25, 0.5], 240), "Lb": rng.integers(-10, 0, 240),
    })  # fmt: skip
    frame = pd.concat([frame, of_game], axis=1)
    for side in "ab":
        is_high = rng.random(240) < frame[f"pH{side}"]
        frame[f"{side.upper()}pay"] = frame[f"H{side}"].where(is_high, frame[f"L{side}"])
    gap = frame["pHb"] * (frame["Hb"] - frame["Lb"]) + frame["Lb"] - frame["pHa"] * frame["Ha"]
    frame["B"] = (rng.random(240) < 1 / (1 + np.exp(-0.3 * gap))).astype(int)
    return frame.assign(Payoff=frame["Bpay"].where(frame["B"] == 1, frame["Apay"]))


def test_what_came_of_gambles_is_no_part_of_them(rng: np.random.Generator) -> None:
    frame = _gambles(rng)
    found = _described(frame)
    assert (found.domain, found.mapping.response) == ("risky", "B")
    assert found.mapping.stimulus == {
        "a_amounts": ["Ha", "La"], "a_probabilities": ["pHa"], "b_amounts": ["Hb", "Lb"], "b_probabilities": ["pHb"],
    }  # fmt: skip
    assert only(read(frame)).response.tolist() == frame["B"].tolist()
    (note,) = (line for line in found.odd if "taken for what came of the gambles" in line)
    assert set(note.partition(":")[0].split(", ")) == {"Apay", "Bpay", "Payoff"}


def test_lotteries_with_more_outcomes_than_columns_are_refused(rng: np.random.Generator) -> None:
    frame = _gambles(rng).assign(LotNumA=1, LotNumB=np.tile([1, 1, 4], 80))
    with pytest.raises(ImplausibleError, match=r"LotNumB says.*more outcomes.*where.LotNumB=1"):
        read(frame)
    assert only(read(frame, where={"LotNumB": "1"})).n_responses == 160
    assert only(read(frame.assign(LotNumB=1))).n_responses == 240


def test_feedback_of_blocks_is_a_condition(rng: np.random.Generator) -> None:
    frame = _gambles(rng).assign(block=np.tile([1, 2], 120))
    for feedback, is_named in ((frame["block"] - 1, True), (rng.integers(0, 2, 240), False)):
        notes = read(frame.assign(Feedback=feedback)).notes
        assert any(note.startswith("Feedback (0, 1) varies") for note in notes) == is_named


def test_a_sum_of_amounts_is_no_other_property(rng: np.random.Generator) -> None:
    gain, loss = rng.integers(5, 20, 300) * 2, rng.integers(5, 20, 300)
    accepted = rng.random(300) < 1 / (1 + np.exp(-0.3 * (gain - 1.5 * loss)))
    frame = _people(5, 60).assign(
        gain=gain, loss=loss, choice=np.where(accepted, "accept", "reject")
    )
    assert only(read(frame.assign(p_value=gain - 2 * loss))).n_responses == 300
    with pytest.raises(ImplausibleError, match=r"p_value .* is that of a property of options"):
        read(frame.assign(p_value=rng.integers(-9, 9, 300)))


def test_t_r_p_and_s_are_payoffs_of_a_dilemma(rng: np.random.Generator) -> None:
    s, p, r = rng.integers(0, 2, 200), rng.integers(2, 5, 200), rng.integers(5, 8, 200)
    frame = _people(5, 40).assign(T=r + rng.integers(1, 4, 200), R=r, P=p, S=s)
    frame["choice"] = rng.choice(["C", "D"], 200)
    found = _described(frame)
    assert found.domain == "games"
    assert found.mapping.responses == {"C": 0, "D": 1}
    trials = only(read(frame))
    own, other = trials.stimuli["own"][trials.trial], trials.stimuli["other"][trials.trial]
    order = np.lexsort([frame["trial"], frame["subj_idx"]])
    assert np.array_equal(own[:, 1, 0], frame["T"].to_numpy()[order])  # defects alone
    assert np.array_equal(own[:, 0, 1], frame["S"].to_numpy()[order])
    assert np.array_equal(other[:, 0, 1], frame["T"].to_numpy()[order])
    assert _described(frame.assign(choice=rng.choice(["x", "y"], 200))).domain != "games"


# Parts that the user names --------------------------------------------------------------------


def test_delays_are_told_beside_amounts_that_the_user_computes(rng: np.random.Generator) -> None:
    base, more = rng.integers(5, 20, 200), rng.integers(1, 20, 200)
    frame = _people(5, 40).assign(base=base, loss=more, delay_days=rng.choice([7, 30, 90], 200))
    frame["choice"] = rng.integers(0, 2, 200)
    said = {"stimulus": {"amounts": ["base", "base + loss"]}}
    found = _described(frame).with_columns(said)
    assert found.domain == "intertemporal"
    assert found.mapping.stimulus == said["stimulus"] | {"delays_days": [0, "delay_days"]}
    both = frame.rename(columns={"delay_days": "delay_later"}).assign(
        delay_sooner=rng.choice([0, 3], 200)
    )
    waits = _described(both).with_columns(said).mapping.stimulus["delays_days"]
    assert waits == ["delay_sooner", "delay_later"]


# Programs --------------------------------------------------------------------------------------


def _labjs(rng: np.random.Generator) -> pd.DataFrame:
    """A Stroop task with a row for each screen."""
    rows = []
    for who in ("a4833f46", "3095cc24", "fe19da5a", "ee6ca721"):
        for _ in range(60):
            word, color = rng.choice(["red", "green", "blue", "orange"], 2)
            said = color if rng.random() < 0.9 else word
            took = round(rng.uniform(350, 900), 2)
            rows += [
                ("Fixation cross", who, 500.2, "timeout", "", word, color, "", ""),
                ("Stroop screen", who, took, "response", said, word, color, color, str(said == color).lower()),
                ("Inter-trial interval", who, 500.0, "timeout", "", word, color, "", ""),
            ]  # fmt: skip
    names = "sender id duration ended_on response word color correctResponse correct"
    return pd.DataFrame(rows, columns=names.split())


def test_screens_of_labjs_without_a_response_are_no_trials(rng: np.random.Generator) -> None:
    frame = _labjs(rng)
    found = _described(frame)
    assert found.domain == "attention"
    assert found.mapping.where == {"sender": "Stroop screen"}
    assert found.mapping.stimulus == {"congruence": ["color", "word"]}
    assert (found.mapping.response, found.mapping.response_time) == ("correct", "duration")
    assert any("left out as screens without a response" in line for line in found.odd)
    assert only(read(frame)).n_responses == 240


def test_observation_and_duration_of_labjs_are_participant_and_time(
    rng: np.random.Generator,
) -> None:
    frame = _labjs(rng).rename(columns={"id": "observation"})
    found = _described(frame)
    assert (found.mapping.participant, found.mapping.response_time) == ("observation", "duration")
    rows = _motion(rng)[0].drop(columns="subj_idx").assign(observation=range(480))
    assert _described(rows).mapping.participant != "observation"  # of other programs


def test_zones_of_gorilla_without_a_response_are_no_trials(rng: np.random.Generator) -> None:
    frame = _labjs(rng).rename(columns={
        "sender": "Zone Type", "id": "Participant Private ID", "duration": "Reaction Time", "response": "Response",
    })  # fmt: skip
    found = _described(frame.drop(columns="ended_on"))
    assert found.mapping.where == {"Zone Type": "Stroop screen"}
    assert any("left out as screens without a response" in line for line in found.odd)


def test_lists_of_one_participant_each_may_have_another_name() -> None:
    frame = _people(4, 10).astype(str)
    summaries = [summary_of(frame, name) for name in frame.columns]
    assert meanings_of(frame, summaries, made=["no longer there"])["subj_idx"] == "participant"
    frame = frame.rename(columns={"subj_idx": "x"})
    summaries = [summary_of(frame, name) for name in frame.columns]
    assert meanings_of(frame, summaries, made=["no longer there"])["x"] == "participant"


def test_a_log_of_events_is_refused_with_the_table_to_write(tmp_path: Path) -> None:
    file = tmp_path / "log.csv"
    rows = ["Subject,Trial,Event Type,Code,Time,TTime"]
    for trial in range(20):
        rows += [
            f"s1,{trial},Picture,con_L,{trial}0000,0", f"s1,{trial},Response,1,{trial}5000,5000",
        ]  # fmt: skip
    file.write_text("\n".join(rows) + "\n")
    with pytest.raises(TrialsError, match=r"one event of a log.*a row for each trial.*TTime / 10"):
        read_answers(file)
    file.write_text("\n".join(rows[:1] + rows[1::2]) + "\n")
    assert len(read_answers(file).frame) == 20


# Tasks that no kind here holds -----------------------------------------------------------------


def test_stated_amounts_and_judgments_of_one_sequence_fit_no_kind(rng: np.random.Generator) -> None:
    stated = pd.DataFrame({
        "subject": np.repeat(range(5), 40), "x1": rng.choice([25, 50, 100], 200),
        "p1": rng.choice([0.1, 0.5], 200), "ce": rng.uniform(0, 60, 200).round(1),
    })  # fmt: skip
    words = _own_task(stated)
    assert words.startswith("ce seems to hold amounts that participants stated")
    assert "no kind of task here fits" in words
    assert "round(ce / LARGEST * 20) * 5" in words
    points = stated.rename(columns={"ce": "indifference_point"}).drop(columns="p1")
    assert _own_task(points).startswith(
        "indifference_point seems to hold amounts that participants stated"
    )
    letters = ["".join(own) for own in rng.choice(["H", "T"], (200, 8))]
    judged = stated[["subject"]].assign(
        sequence=letters, judgment=rng.choice(["random", "not random"], 200)
    )
    words = _own_task(judged)
    assert words.startswith("sequence seems to hold one sequence in each row, and judgment what")
    assert "no kind of task here fits" in words


def test_what_was_sent_back_in_a_trust_game_is_no_gift(rng: np.random.Generator) -> None:
    sent = rng.integers(1, 10, 200)
    frame = _people(20, 10).rename(columns={"trial": "round_number"}).assign(
        payoff=10 + sent, sent_amount=sent, sent_back_amount=(sent * rng.random(200)).astype(int)
    )  # fmt: skip
    words = " ".join(_described(frame).doubts)
    assert "sent_back_amount seems to say what was sent back in a trust game" in words
    assert "a gift out of" not in words


def _budgets(rng: np.random.Generator) -> pd.DataFrame:
    budgets = np.array([(40, 1, 3), (40, 3, 1), (60, 1, 2), (75, 2, 1), (100, 1, 1)])
    rows = budgets[np.tile(np.arange(5), 8)]
    frame = pd.DataFrame(rows, columns=["tokens", "hold_value", "pass_value"])
    frame.insert(0, "subject", np.repeat(range(8), 5))
    return frame.assign(tokens_passed=np.round(rng.random(40) * frame["tokens"]).astype(int))


def test_shares_of_budgets_are_read_to_the_nearest_step(rng: np.random.Generator) -> None:
    frame = _budgets(rng)
    assert "--domain studies/tasks/sharing.toml" in " ".join(_described(frame).doubts)
    trials = only(read(frame, open_domain(str(SHARING))))
    share = frame["tokens_passed"] / frame["tokens"]
    assert trials.response.tolist() == np.round(share * 10).astype(int).tolist()
    own, other = trials.stimuli["own"][trials.trial], trials.stimuli["other"][trials.trial]
    assert np.allclose(own[:, 0], frame["tokens"] * frame["hold_value"])
    assert np.allclose(other[:, 10], frame["tokens"] * frame["pass_value"])
    assert np.allclose(other[:, 3], 0.3 * frame["tokens"] * frame["pass_value"])
    # what is kept, and a single column of worth
    kept = frame.assign(kept=frame["tokens"] - frame["tokens_passed"])
    kept = kept.drop(columns=["tokens_passed", "hold_value"])
    turned = only(read(kept, open_domain(str(SHARING))))
    nearest = 10 - np.round(kept["kept"] / kept["tokens"] * 10)
    assert turned.response.tolist() == nearest.astype(int).tolist()
    assert np.allclose(turned.stimuli["own"][turned.trial][:, 0], frame["tokens"])
