"""Files of responses to cues, as laboratories keep them: pairs of stimuli, go and no-go, sets of stimuli."""

from __future__ import annotations

import tomllib
from typing import Any

import numpy as np
import pandas as pd
import pytest

from lakatos.domains import DOMAINS
from lakatos.domains.learning.theories import FAMILY
from lakatos.experiments.adoption.adopt import AdoptedAnswers, adopt
from lakatos.experiments.adoption.describe import TableDescription, describe_table
from lakatos.experiments.adoption.tables import table_of_frame
from lakatos.experiments.errors import ImplausibleError, TrialsError

N_PEOPLE, N_TRIALS = 4, 80


def described(frame: pd.DataFrame) -> TableDescription:
    return describe_table(table_of_frame("a.csv", frame))


def read(frame: pd.DataFrame, **said: Any) -> AdoptedAnswers:
    found = described(frame).with_columns(said)
    assert found.source is not None
    return adopt(found.source, found.mapping, DOMAINS[found.domain])


def learners(
    names: list[str], best: list[int], win: list[float], lose: list[float]
) -> pd.DataFrame:
    """People who learn for each cue which of two options pays, each with cues in an order of their own."""
    rng, rows = np.random.default_rng(3), []
    for who in range(N_PEOPLE):
        value = np.zeros((len(names), 2))
        for step, cue in enumerate(rng.permutation(np.arange(N_TRIALS) % len(names))):
            choice = int(rng.random() < 1 / (1 + np.exp(-4 * (value[cue, 1] - value[cue, 0]))))
            won = rng.random() < (0.8 if choice == best[cue] else 0.2)
            reward = win[cue] if won else lose[cue]
            value[cue, choice] += 0.3 * (reward - value[cue, choice])
            rows.append((who + 1, step + 1, names[cue], choice, int(choice == best[cue]), reward))
    columns = ["subjID", "trialNum", "cue", "keyPressed", "success", "outcome"]
    return pd.DataFrame(rows, columns=columns)


@pytest.fixture
def pairs() -> pd.DataFrame:
    frame = learners(["12", "34", "56"], [1, 1, 0], [1, 1, 1], [0, 0, 0])
    names = {"cue": "type", "keyPressed": "choice", "outcome": "reward"}
    return frame.rename(columns=names)[["subjID", "type", "choice", "reward"]]


@pytest.fixture
def go_nogo() -> pd.DataFrame:
    return learners(["1", "2", "3", "4"], [1, 1, 0, 0], [1, 0, 1, 0], [0, -1, 0, -1])


def test_pairs_are_read_as_cues_without_a_mapping(pairs: pd.DataFrame) -> None:
    found = described(pairs)
    assert (found.domain, found.mapping.stimulus["cue"]) == ("learning", "type")
    adopted = read(pairs)
    (trials,) = adopted.trials
    cue = trials.stimuli["cue"][trials.trial]
    assert cue.tolist() == (pairs["type"].astype(int) // 22).tolist()
    assert trials.feedback["reward"].tolist() == pairs["reward"].tolist()
    assert trials.stimuli["position"].tolist() == [*range(N_TRIALS)] * N_PEOPLE
    assert (
        "values are learned apart for each cue: 12 is cue 1, 34 is cue 2, 56 is cue 3"
        in adopted.notes
    )
    assert "step 1, cue " in adopted.read_back[0]
    assert {"pst_q", "pst_gainloss_q", "rlwm"} <= set(FAMILY.without(adopted.closed).seeds)
    assert not {"gng_bias", "hybrid"} & set(FAMILY.without(adopted.closed).seeds)


def test_stimuli_that_come_with_one_cue_only_are_numbered_within_it_as_the_message_advises() -> (
    None
):
    names = ["AB", "CD", "EF"]
    frame = learners(names, [1, 1, 0], [1, 1, 1], [0, 0, 0]).drop(columns="success")
    pressed = frame["keyPressed"]
    frame["keyPressed"] = [cue[key] for cue, key in zip(frame["cue"], pressed, strict=True)]
    with pytest.raises(
        TrialsError, match=r"would be taken to be offered with each\. Number"
    ) as refused:
        read(frame, stimulus={"cue": "cue"})
    code = str(refused.value).split("recode.keyPressed=")[1].split("'")[0]
    assert code == '{"A"="1","B"="2","C"="1","D"="2","E"="1","F"="2"}'
    told = {"keyPressed": tomllib.loads(f"code = {code}")["code"]}
    (trials,) = read(frame, stimulus={"cue": "cue"}, recode=told).trials
    assert trials.n_options == 2
    np.testing.assert_array_equal(np.sort(trials.response), np.sort(pressed))


def test_options_that_come_with_some_cues_only_are_questioned() -> None:
    names = ["AB", "BC", "AC"]
    frame = learners(names, [1, 1, 0], [1, 1, 1], [0, 0, 0]).drop(columns="success")
    frame["keyPressed"] = [
        cue[key] for cue, key in zip(frame["cue"], frame["keyPressed"], strict=True)
    ]
    with pytest.raises(
        TrialsError,
        match=r"options that come with some cues only\. If .* --accept one_set_of_options",
    ):
        read(frame, stimulus={"cue": "cue"})


def test_a_guessed_part_gives_way_to_the_part_that_a_user_gives_its_column(
    pairs: pd.DataFrame,
) -> None:
    guessed = described(pairs)
    column = guessed.mapping.stimulus["cue"]
    found = guessed.with_columns({"stimulus": {"state": column}}).mapping.stimulus
    assert found["state"] == column
    assert "cue" not in found


def test_pressing_or_not_is_read_as_go_or_no_go(go_nogo: pd.DataFrame) -> None:
    found = described(go_nogo)
    assert found.domain == "learning"
    assert (found.mapping.stimulus["cue"], found.mapping.stimulus["go"]) == ("cue", "1")
    assert (found.mapping.response, found.mapping.feedback["reward"]) == ("keyPressed", "outcome")
    adopted = read(go_nogo)
    assert set(adopted.trials[0].stimuli["go"]) == {1.0}
    assert "gng_pavlovian" in FAMILY.without(adopted.closed).seeds
    assert adopted.closed["sides"] == "one option is to withhold a response"
    turned = read(go_nogo, responses={"1": 0, "0": 1}).trials[0]
    assert set(turned.stimuli["go"]) == {-1.0}
    with pytest.raises(TrialsError, match=r"go is '7'; give the cell of keyPressed"):
        read(go_nogo, stimulus={"go": "7"})


@pytest.mark.parametrize("cells", [("1", "0"), ("1", "-1"), ("TRUE", "FALSE"), ("ja", "nein")])
def test_a_column_named_after_pressing_is_the_response_in_any_code(
    go_nogo: pd.DataFrame, cells: tuple[str, str]
) -> None:
    (wanted,) = read(go_nogo).trials
    code = dict(zip((1, 0), cells, strict=True))
    adopted = read(go_nogo.assign(pressed=go_nogo.pop("keyPressed").map(code)))
    (found,) = adopted.trials
    assert found.to_json() == wanted.to_json()
    assert "(respond), reward" in "".join(adopted.read_back)


def test_cells_that_may_mean_pressing_or_not_are_asked_for(go_nogo: pd.DataFrame) -> None:
    frame = go_nogo.assign(pressed=go_nogo.pop("keyPressed").map({1: "b", 0: "a"}))
    with pytest.raises(TrialsError, match=r"is stimulus.go.* --column stimulus.go=CELL"):
        read(frame)
    assert set(read(frame, stimulus={"go": "b"}).trials[0].stimuli["go"]) == {1.0}
    assert "go" not in read(frame, stimulus={"go": ""}).trials[0].stimuli.arrays


def test_a_column_named_cue_is_the_cue_also_where_it_has_the_cells_of_the_response(
    go_nogo: pd.DataFrame,
) -> None:
    frame = go_nogo.assign(cue=(go_nogo["cue"].astype(int) > 2).astype(int))
    assert described(frame).mapping.stimulus["cue"] == "cue"
    with pytest.raises(ImplausibleError, match=r"cue .0, 1. changes from step to step"):
        read(frame, stimulus={"cue": ""})


def test_other_names_of_cues_are_the_same_responses(go_nogo: pd.DataFrame) -> None:
    plain, named = (
        read(frame).trials[0]
        for frame in (go_nogo, go_nogo.replace({"cue": {"1": "d", "2": "b", "3": "a", "4": "c"}}))
    )
    order = np.array([3, 1, 0, 2])
    assert (order[plain.stimuli["cue"].astype(int)] == named.stimuli["cue"]).all()
    assert (plain.trial == named.trial).all()
    assert (plain.response == named.response).all()


def test_equal_orders_of_cues_are_one_schedule(go_nogo: pd.DataFrame) -> None:
    first = go_nogo[go_nogo["subjID"] == 1]["cue"].to_numpy()
    table = table_of_frame("a.csv", go_nogo.assign(cue=np.tile(first, N_PEOPLE)))
    (trials,) = adopt(table, described(go_nogo).mapping, DOMAINS["learning"]).trials
    assert len(trials.stimuli) == N_TRIALS
    assert trials.trial.tolist() == [*range(N_TRIALS)] * N_PEOPLE


def test_stimuli_of_each_block_are_numbered_within_it(pairs: pd.DataFrame) -> None:
    block = np.tile(np.arange(N_TRIALS) // 20, N_PEOPLE)
    own = pairs.assign(
        block=block, type=[f"{b}-{t}" for b, t in zip(block, pairs["type"], strict=True)]
    )
    own["type"] += np.repeat(["a", "b", "c", "d"], N_TRIALS)
    said = {"stimulus": {"cue": "type", "block_start": "block"}}
    (trials,) = read(own, **said).trials
    assert set(trials.stimuli["cue"]) == {0, 1, 2}
    assert trials.stimuli["block_start"].sum() == N_PEOPLE * 4


def test_a_block_whose_cues_a_column_counts_is_a_game(pairs: pd.DataFrame) -> None:
    block = np.tile(np.repeat([1, 2], N_TRIALS // 2), N_PEOPLE)
    step = np.tile(np.arange(N_TRIALS), N_PEOPLE)
    frame = pairs.assign(block=block, type=step % (1 + block) + 1, set_size=1 + block)
    found = described(frame)
    assert "block is taken for a new game with other cues, as set_size" in " ".join(found.odd)
    assert found.mapping.stimulus["block_start"] == "block"
    (trials,) = read(frame).trials
    assert trials.stimuli["block_start"].sum() == 2
    assert set(trials.stimuli["set_size"][:40]) == {2}
    assert set(trials.stimuli["set_size"][40:]) == {3}
    # a number that does not count the cues says nothing of games
    assert "block_start" not in described(frame.assign(set_size=2 + block)).mapping.stimulus


def test_two_columns_make_up_a_cue(pairs: pd.DataFrame) -> None:
    context = np.tile(["home", "work"], len(pairs) // 2)
    frame = pairs.assign(context=context)
    (trials,) = read(frame, stimulus={"cue": ["type", "context"]}).trials
    assert set(trials.stimuli["cue"]) == set(range(6))
    assert set(trials.stimuli["set_size"]) == {6}


def test_a_cue_that_never_repeats_is_refused_with_its_row(pairs: pd.DataFrame) -> None:
    with pytest.raises(
        TrialsError, match=r"rows 2, 3, 4 and 317 more: .*'n0'.* is a cue that comes once"
    ):
        read(pairs.assign(type=[f"n{row}" for row in range(len(pairs))]), stimulus={"cue": "type"})
    once = pairs["type"].mask(pairs.index == 7, "78")
    with pytest.raises(TrialsError, match=r"row 9: .*'78', which is a cue that comes once only"):
        read(pairs.assign(type=once), stimulus={"cue": "type"})
