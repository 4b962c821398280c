"""A task with feedback is guessed where a row holds a participant, a choice and a reward, and nothing else."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from reading import bandits, only, read

from lakatos.domains import DOMAINS
from lakatos.experiments.adoption.adopt import adopt
from lakatos.experiments.adoption.describe import describe_table
from lakatos.experiments.adoption.tables import table_of_frame
from lakatos.experiments.errors import ImplausibleError, TrialsError

STEPS = pd.DataFrame(
    {
        "subject": ["p1"] * 6 + ["p2"] * 6,
        "trial": [*range(1, 7)] * 2,
        "choice": [1, 2, 3, 4, 2, 3] * 2,
    }
)


@pytest.mark.parametrize(
    ("added", "domain", "reward"),
    [
        ({"outcome": [0, 1] * 6}, "learning", "outcome"),
        ({"gain": [50, 100] * 6, "loss": [0, -25] * 6}, "learning", "gain + loss"),
        ({"gain": [50, 100] * 6, "loss": [0, 25] * 6}, "learning", "gain - loss"),
        ({"win": [50, 100] * 6, "lose": [0, -25] * 6}, "learning", "win + lose"),
        ({"win": [50, 100] * 6, "lose": [0, 25] * 6}, "learning", "win - lose"),
        ({"reward": [0, 1] * 6, "gain": [50, 100] * 6, "loss": [0, 25] * 6}, "learning", "reward"),
        ({"outcome": [0, 1] * 6, "block": [1, 2] * 6}, "learning", "outcome"),
        # numbers that may describe the options
        ({"outcome": [0, 1] * 6, "contrast": [3, 5] * 6}, "", ""),
        ({"contrast": [3, 5] * 6}, "", ""),
    ],
)
def test_only_what_has_nothing_else_in_its_rows_is_a_task_with_feedback(
    added: dict[str, list[int]], domain: str, reward: str
) -> None:
    found = describe_table(table_of_frame("steps.csv", STEPS.assign(**added)), None)
    assert found.domain == domain
    assert found.mapping.feedback.get("reward", "") == reward


def test_columns_that_an_expression_computes_with_are_read_and_others_are_not() -> None:
    """A column whose name is a part of another one's is read only if it stands in the expression itself."""
    table = STEPS.assign(gain=[50, 100] * 6, loss=[0, -25] * 6, los=[1] * 12)
    found = read(table)
    assert found.read_back[-1] == "columns that are not read: los"


# What every option paid, and what was lost -----------------------------------------------------


@pytest.mark.parametrize(
    ("response", "cells", "stem"),
    [("choice", ["red", "green"], "outcome_"), ("side", ["left", "right"], "reward_"),
     ("option", ["1", "2"], "feedback")],
)  # fmt: skip
def test_the_reward_is_the_outcome_of_the_option_chosen_where_each_option_has_a_column(
    response: str, cells: list[str], stem: str
) -> None:
    rng = np.random.default_rng(5)
    chosen = rng.integers(2, size=80)
    frame = pd.DataFrame(
        {
            "subject": np.repeat(["p1", "p2"], 40),
            "trial": [*range(1, 41)] * 2,
            response: np.array(cells)[chosen],
            f"{stem}{cells[0]}": rng.integers(2, size=80),
            f"{stem}{cells[1]}": rng.integers(2, size=80),
        }
    )
    said = {"feedback": {"reward": f"{stem}{{{response}}}"}, "response": response}
    found = only(read(frame, DOMAINS["learning"], **(said if response != "choice" else {})))
    paid = frame[[f"{stem}{cell}" for cell in cells]].to_numpy()[np.arange(80), chosen]
    code = chosen if cells != ["red", "green"] else 1 - chosen  # in the order of the alphabet
    assert found.response.tolist() == code.tolist()
    assert found.feedback["reward"].tolist() == paid.tolist()
    if response == "choice":
        return
    with pytest.raises(TrialsError, match=rf"feedback.reward={stem}\{{{response}\}}"):
        read(
            frame, DOMAINS["learning"], response=response, feedback={"reward": f"{stem}{cells[0]}"}
        )


def test_outcomes_of_options_that_no_response_names_are_no_reward_of_all_choices() -> None:
    table = STEPS.assign(choice=[0, 1] * 6, outcome_red=[0, 1, 1] * 4, outcome_blue=[1, 0, 1] * 4)
    with pytest.raises(
        ImplausibleError, match=r"outcome_red and outcome_blue .*outcome_\{COLUMN\}"
    ):
        read(table, DOMAINS["learning"], feedback={"reward": "outcome_red"})
    named = {"choice": {"0": "red", "1": "blue"}}
    found = only(
        read(
            table,
            DOMAINS["learning"],
            recode=named,
            feedback={"reward": "outcome_{choice}"},
            responses={"red": 0, "blue": 1},
        )
    )
    assert found.feedback["reward"].tolist() == [0, 0, 1, 1, 1, 1] * 2
    table = table.rename(columns={"outcome_red": "outcome_chosen", "outcome_blue": "outcome_other"})
    assert only(read(table, DOMAINS["learning"])).feedback["reward"].tolist() == [0, 1, 1] * 4


@pytest.mark.parametrize("name", ["loss", "shock", "punished", "cost", "verlust"])
def test_a_column_of_what_is_lost_is_turned_round(name: str) -> None:
    table = STEPS.assign(**{name: [0, 1] * 6})
    found = only(read(table, DOMAINS["learning"]))
    assert found.feedback["reward"].tolist() == [0, -1] * 6
    with pytest.raises(ImplausibleError, match=f"Say --column feedback.reward=-{name} "):
        read(table, DOMAINS["learning"], feedback={"reward": name})


def test_an_outcome_after_which_choices_are_repeated_less_often_is_asked_about() -> None:
    """1 is a shock: participants keep an option after 0 and leave it after 1."""
    outcome = np.random.default_rng(1).integers(2, size=(4, 30))
    choice = 1 + (np.cumsum(outcome, axis=1) - outcome) % 2
    frame = pd.DataFrame(
        {
            "subject": np.repeat(list("abcd"), 30),
            "choice": choice.ravel(),
            "outcome": outcome.ravel(),
        }
    ).assign(trial=np.tile(np.arange(1, 31), 4))
    with pytest.raises(ImplausibleError, match=r"--column 'feedback\.reward=-outcome'"):
        read(frame)
    assert only(read(frame, feedback={"reward": "-outcome"})).feedback["reward"].min() == -1
    assert only(read(frame, accept=["doubtful_reward"])).feedback["reward"].max() == 1
    assert only(read(frame.assign(outcome=1 - outcome.ravel()))).feedback["reward"].max() == 1


def test_a_reward_that_is_the_same_in_all_rows_is_questioned() -> None:
    frame = bandits(np.random.default_rng(3)).frame
    named = {"feedback": {"reward": "reward"}}
    with pytest.raises(ImplausibleError, match=r"reward is 1 in all of 160 rows"):
        read(frame.assign(reward=1), **named)
    with pytest.raises(ImplausibleError, match=r"reward is 1 in all of \d+ rows"):
        read(frame, **named, missing={"reward": ["0"]})
    accepted = read(frame.assign(reward=1), **named, accept=["doubtful_reward"])
    assert only(accepted).n_responses == 160


def test_what_follows_choices_names_the_kind_of_task() -> None:
    """A gain and a loss in every row may be what a gamble offers; the user says that they are outcomes."""
    frame = bandits(np.random.default_rng(3)).frame
    frame["choice"] += 2 * (np.arange(len(frame)) % 2)  # of four options, as gambles are not
    paid = frame.assign(gain=1 + frame["reward"], loss=-(1 + frame["trial"] % 3) / 4)
    paid = paid.drop(columns="reward")
    table = table_of_frame("answers.csv", paid)
    assert describe_table(table).domain == ""
    found = describe_table(table).with_columns({"feedback": {"reward": "gain + loss"}})
    assert found.domain == "learning"
    assert only(adopt(table, found.mapping, DOMAINS["learning"])).feedback["reward"].max() == 1.0


# Codes of rewards ------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["outcome", "feedback", "won"])
def test_a_reward_of_1_and_2_may_be_a_code_and_is_asked_about(name: str) -> None:
    table = STEPS.assign(**{name: [1, 2] * 6})
    with pytest.raises(ImplausibleError, match=rf"recode.{name}={{1 = 1, 2 = 0}}"):
        read(table)
    found = only(read(table, recode={name: {"1": 1, "2": 0}}))
    assert found.feedback["reward"].tolist() == [1.0, 0.0] * 6
    accepted = only(read(table, accept=["doubtful_reward"]))
    assert accepted.feedback["reward"].tolist() == [0.5, 1.0] * 6


@pytest.mark.parametrize("name", ["points", "reward", "money"])
def test_1_and_2_in_a_column_called_like_amounts_are_amounts(name: str) -> None:
    assert only(read(STEPS.assign(**{name: [1, 2] * 6}))).feedback["reward"].max() == 1.0


def test_a_column_that_is_said_to_be_the_reward_is_not_guessed_to_be_the_response() -> None:
    """Of a column for each step, ``r`` seems to be the response where 9 stands for missed steps."""
    steps = {f"c{k}": [1, 2, 9, 2, 1, 2] for k in range(1, 7)}
    steps |= {f"r{k}": [0, 1, 9, 1, 1, 0] for k in range(1, 7)}
    table = table_of_frame(
        "wide.csv", pd.DataFrame({"subject": [f"p{k}" for k in range(6)], **steps})
    )
    found = describe_table(table, DOMAINS["learning"])
    assert found.mapping.response == "r"
    said = found.with_columns({"feedback": {"reward": "r"}}).mapping
    assert (said.response, said.feedback) == ("?", {"reward": "r"})
    with pytest.raises(TrialsError, match=r"which column.* is response.*mean nothing yet are c"):
        adopt(table, said, DOMAINS["learning"])
    both = found.with_columns({"feedback": {"reward": "r"}, "response": "r"}).mapping
    assert both.response == "r"  # since the user gives it two meanings
