"""Which response is which option follows from the trials as a user says them, not from guesses made before."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from reading import delays, only, read

from lakatos.domains import DOMAINS
from lakatos.domains.declared.task import DeclaredDomain
from lakatos.experiments.adoption.describe import describe_table
from lakatos.experiments.adoption.tables import table_of_frame
from lakatos.experiments.errors import TrialsError

TASKS = Path(__file__).parents[3] / "studies" / "tasks"


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(5)


def _mixed(rng: np.random.Generator) -> pd.DataFrame:
    """Gambles of a gain and a loss, taken where the gain is more than one and a half times the loss."""
    gain, loss = rng.integers(10, 40, 60), rng.integers(5, 20, 60)
    people = np.repeat(["p1", "p2", "p3"], 20)
    table = {"subject": people, "trial": [*range(1, 21)] * 3, "gain": gain, "loss": loss}
    return pd.DataFrame(table).assign(accepted=(gain > 1.5 * loss).astype(int))


def test_sides_are_no_options_where_the_user_says_columns_of_kinds(
    rng: np.random.Generator,
) -> None:
    frame = delays(rng).frame
    chose_later = (frame["choice"] == 1).to_numpy()
    right = rng.random(len(frame)) < 0.5
    names = {"amount_sooner": "ss_x", "amount_later": "ll_x", "delay_later": "ll_wait"}
    key = np.where(chose_later == right, "right", "left")
    made = frame.rename(columns=names).drop(columns=["delay_sooner"]).assign(choice=key)
    said = {"amounts": ["ss_x", "ll_x"], "delays_days": [0, "ll_wait"]}
    with pytest.raises(TrialsError, match="left and right, where an option stood"):
        read(made, DOMAINS["intertemporal"], stimulus=said)
    sided = made.assign(ll_side=np.where(right, "right", "left"))
    found = only(read(sided, DOMAINS["intertemporal"], stimulus=said))
    assert found.response.tolist() == chose_later.astype(int).tolist()


def test_words_for_options_are_not_numbered_by_the_alphabet(rng: np.random.Generator) -> None:
    table = {"who": np.repeat([1, 2], 10), "row": np.tile(["Up", "Down"], 10)}
    paid = {name: rng.integers(0, 9, 20) for name in "abcdefgh"}
    said = {"own": [["a", "b"], ["c", "d"]], "other": [["e", "f"], ["g", "h"]]}
    frame, domain = pd.DataFrame({**table, **paid}), DOMAINS["games"]
    told = r"responses\.Down=PLACE --column responses\.Up=PLACE .*listed first .*own: \[\[\"a\", \"b\"\]"
    with pytest.raises(TrialsError, match=told):
        read(frame, domain, participant="who", response="row", stimulus=said)
    code = {"Up": 0, "Down": 1}
    found = read(frame, domain, participant="who", response="row", stimulus=said, responses=code)
    assert only(found).response.tolist() == [0, 1] * 10


def test_degrees_of_accepting_are_of_a_gamble_and_no_deck(rng: np.random.Generator) -> None:
    frame = _mixed(rng)
    degree = np.where(rng.random(60) < 0.5, "weakly_", "strongly_")
    word = np.where(frame["accepted"] == 1, "accept", "reject")
    cells = pd.Series(degree) + pd.Series(word)
    graded = frame.drop(columns="accepted").assign(response=cells)
    assert describe_table(table_of_frame("answers.csv", graded)).domain == "risky"
    code = {cell: int(cell.endswith("accept")) for cell in set(cells)}
    found = only(read(graded, responses=code))
    assert found.response.tolist() == frame["accepted"].tolist()
    numbers = graded.assign(response=rng.integers(1, 5, 60))
    assert describe_table(table_of_frame("answers.csv", numbers)).domain == ""


def test_cells_that_are_said_to_be_one_option_are_one_option_of_a_task_with_feedback() -> None:
    cells = ["red card", "blue card", "crimson card"] * 6
    steps = pd.DataFrame(
        {"subject": ["p1"] * 9 + ["p2"] * 9, "trial": [*range(1, 10)] * 2, "choice": cells}
    ).assign(reward=[0, 1] * 9)
    code = {"red card": 0, "crimson card": 0, "blue card": 1}
    guessed = describe_table(table_of_frame("answers.csv", steps))
    assert guessed.mapping.stimulus["options"] == 3
    assert guessed.with_columns({"responses": code}).mapping.stimulus["options"] == 2


@pytest.mark.parametrize("offered", [0, 1])
@pytest.mark.parametrize("name", ["accepted", "rejected"])
def test_accepting_is_of_what_is_offered_wherever_it_is_said(offered: int, name: str) -> None:
    rows = [(f"p{n // 20}", n, n % 6, int(n % 6 > 2)) for n in range(60)]
    frame = pd.DataFrame(rows, columns=["subject", "trial", "offer", "accepted"])
    took = frame.pop("accepted")
    frame[name] = took if name == "accepted" else 1 - took
    parts = {"own": ["offer", 0], "other": ["10 - offer", 0]}
    said = {key: both if offered == 0 else both[::-1] for key, both in parts.items()}
    domain = DeclaredDomain((TASKS / "fairness.toml").read_text("utf-8"))
    found = only(read(frame, domain, response=name, stimulus=said))
    assert (found.response == offered).astype(int).tolist() == took.tolist()


def test_a_gamble_of_two_columns_is_named_by_its_own_columns(rng: np.random.Generator) -> None:
    chance = rng.choice([0.2, 0.4, 0.6, 0.8], 60)
    frame = pd.DataFrame(
        {"subject": np.repeat(["p1", "p2", "p3"], 20), "trial": [*range(1, 21)] * 3, "p": chance}
    ).assign(safe_x=2.0, safe_y=1.6, risky_x=3.85, risky_y=0.1, chose_risky=(chance > 0.5) * 1)
    chances = ["p", "1 - p"]
    said = {"a_amounts": ["risky_x", "risky_y"], "a_probabilities": chances,
            "b_amounts": ["safe_x", "safe_y"], "b_probabilities": chances}  # fmt: skip
    found = only(read(frame, DOMAINS["risky"], stimulus=said))
    assert (found.response == 0).astype(int).tolist() == frame["chose_risky"].tolist()
