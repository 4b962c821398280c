"""Parts of files of learners: games that are named, and sessions in which learning begins anew without a name."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from lakatos.domains import DOMAINS
from lakatos.domains.learning.parts import falls_of_counter, likeness_to_choices_before, p_of_less
from lakatos.experiments.adoption.adopt import AdoptedAnswers, adopt
from lakatos.experiments.adoption.describe import describe_table
from lakatos.experiments.adoption.tables import table_of_frame
from lakatos.experiments.errors import ImplausibleError, TrialsError
from lakatos.experiments.task import Trials

LEARNING = DOMAINS["learning"]


def read(frame: pd.DataFrame, **said: Any) -> AdoptedAnswers:
    rows = table_of_frame("a.csv", frame)
    return adopt(rows, describe_table(rows, LEARNING).with_columns(said).mapping, LEARNING)


def only(found: AdoptedAnswers) -> Trials:
    (trials,) = found.trials
    return trials


def begins(frame: pd.DataFrame, **said: Any) -> list[int]:
    """Steps at which a game begins."""
    return np.flatnonzero(only(read(frame, **said)).stimuli["block_start"]).tolist()


def _runs(missed: tuple[int, ...] = ()) -> pd.DataFrame:
    """Two participants with two runs of ten steps, without some rows."""
    rng = np.random.default_rng(6)
    frame = pd.DataFrame({
        "participant": np.repeat(["a", "b"], 20), "run": np.tile(np.repeat([1, 2], 10), 2),
        "choice": rng.integers(1, 3, 40), "reward": rng.integers(0, 2, 40),
    })  # fmt: skip
    return frame.drop(index=list(missed)).reset_index(drop=True)


def test_games_of_different_lengths_begin_for_each_participant() -> None:
    frame = _runs(missed=(3, 4, 37))
    trials = only(read(frame, stimulus={"block_start": "run"}))
    assert np.flatnonzero(trials.stimuli["block_start"]).tolist() == [0, 10]
    assert trials.trial[trials.participant == 0].tolist() == [*range(8), *range(10, 20)]
    assert trials.trial[trials.participant == 1].tolist() == list(range(19))
    flags = frame.assign(new=1 * (frame.groupby(["participant", "run"]).cumcount() == 0))
    flagged = only(read(flags, stimulus={"block_start": "new"}))
    assert flagged.digest == trials.digest


def test_games_numbered_from_0_are_no_flags_whichever_comes_first() -> None:
    frame = _runs()
    for order in ([0, 1], [1, 0]):
        numbered = frame.assign(run=frame["run"].map({1: order[0], 2: order[1]}))
        trials = only(read(numbered, stimulus={"block_start": "run"}))
        assert np.flatnonzero(trials.stimuli["block_start"]).tolist() == [0, 10]


def test_what_is_learned_goes_on_through_runs_with_a_word() -> None:
    frame = _runs()
    assert any("block_start=run" in line for line in read(frame).told)
    named = read(frame, stimulus={"block_start": "run"})
    assert not any("is taken to go on" in line for line in named.told)


def learners(
    anew: tuple[int, ...] = (),
    reversed_at: tuple[int, ...] = (),
    *,
    n_people: int = 20,
    seed: int = 4,
    rate: float = 0.4,
) -> pd.DataFrame:
    """Learners of 120 steps in parts of 20, with new values and chances at some parts, and turned chances at others."""
    rng = np.random.default_rng(seed)
    rows = []
    for who in range(n_people):
        value, chances = np.zeros(2), np.array([0.8, 0.2])[:: rng.choice((-1, 1))]
        for step in range(120):
            part, within = divmod(step, 20)
            if not within and part in anew:
                value, chances = np.zeros(2), chances[::-1]
            if not within and part in reversed_at:
                chances = chances[::-1]
            choice = int(rng.random() < 1 / (1 + np.exp(4 * (value[0] - value[1]))))
            reward = int(rng.random() < chances[choice])
            value[choice] += rate * (reward - value[choice])
            rows.append((f"p{who}", part, within, step, "ab"[choice], reward))
    return pd.DataFrame(
        rows, columns=["participant", "part", "within", "trial", "choice", "reward"]
    )


def with_part(frame: pd.DataFrame, name: str, cells: list[Any]) -> pd.DataFrame:
    """The file without the numbers of parts, and with a column that has one of six cells in each part."""
    own = [cells[part] for part in frame["part"]]
    return frame.drop(columns=["part", "within"]).assign(**{name: own})


EVEN = (2, 4)
"""Parts at which sessions of two parts begin."""


@pytest.mark.parametrize(
    ("name", "cells"),
    [
        ("session", [1, 1, 2, 2, 3, 3]),
        ("day", [1, 1, 2, 2, 3, 3]),
        ("Sitzung", ["eins", "eins", "zwei", "zwei", "drei", "drei"]),
        ("visit", ["v1", "v1", "v2", "v2", "v1", "v1"]),
        ("date", ["2024-05-01"] * 2 + ["2024-05-08"] * 2 + ["2024-05-15"] * 2),
        ("drug", ["placebo", "placebo", "levodopa", "levodopa", "placebo", "placebo"]),
        ("colour", ["red", "red", "green", "green", "blue", "blue"]),
    ],
)  # fmt: skip
def test_parts_in_which_learning_begins_anew_are_questioned_whatever_their_name(
    name, cells
) -> None:
    frame = with_part(learners(EVEN), name, cells)
    with pytest.raises(
        ImplausibleError, match=rf"after a change of {name} repeat \d+% of the 5"
    ) as found:
        read(frame)
    assert f"--column block_start={name}." in str(found.value)
    assert begins(frame, stimulus={"block_start": name}) == [0, 40, 80]
    assert begins(frame, accept=["goes_on"]) == [0]
    read(with_part(learners(), name, cells))  # learning goes on


def test_of_sessions_and_blocks_the_column_is_named_at_whose_own_changes_learning_begins_anew() -> (
    None
):
    blocks, sessions = [1, 2, 3, 4, 5, 6], [1, 1, 2, 2, 3, 3]
    for anew, name in [(EVEN, "session"), ((1, 2, 3, 4, 5), "block")]:
        frame = with_part(learners(anew), "block", blocks)
        frame["session"] = np.repeat(sessions, 20).tolist() * 20
        with pytest.raises(ImplausibleError, match=f"--column block_start={name}\\."):
            read(frame)


def test_two_columns_that_number_games_only_together_are_named_together() -> None:
    frame = with_part(learners((1, 2, 3, 4, 5)), "block", [1, 2, 2, 1, 1, 2])
    frame["session"] = np.repeat([1, 1, 2, 2, 3, 3], 20).tolist() * 20
    with pytest.raises(ImplausibleError) as found:
        read(frame)
    assert """--column block_start='["session", "block"]'.""" in str(found.value)
    both = begins(frame, stimulus={"block_start": ["session", "block"]})
    assert both == [0, 20, 40, 60, 80, 100]


def test_numbers_of_steps_that_begin_anew_are_games() -> None:
    frame = learners((1, 2, 3, 4, 5)).drop(columns=["part", "trial"])
    with pytest.raises(ImplausibleError, match="--column block_start=within"):
        read(frame)
    assert begins(frame, stimulus={"block_start": "within"}) == [0, 20, 40, 60, 80, 100]


def test_a_counter_rises_from_row_to_row_and_seldom_falls() -> None:
    who = np.repeat([0, 1], 10)
    counter = np.tile([1, 2, 3, 5, 6, 1, 2, 3, 4, 5], 2).astype(float)
    falls = falls_of_counter(counter, who)
    assert falls is not None
    assert np.flatnonzero(falls).tolist() == [5, 15]
    assert falls_of_counter(np.tile([1.0, 2.0], 10), who) is None
    assert falls_of_counter(np.repeat([1.0, 2.0, 3.0, 1.0], 5), who) is None


def test_a_running_count_of_errors_divides_nothing() -> None:
    frame = learners().drop(columns=["part", "within"])
    for seed in range(5):
        frame = learners(seed=seed).drop(columns=["part", "within"])
        errors = (frame["reward"] == 0).groupby(frame["participant"]).cumsum()
        read(frame.assign(n_errors=errors, level=errors // 10))


@pytest.mark.slow
@pytest.mark.statistical
def test_reversals_and_parts_without_a_new_beginning_are_seldom_questioned() -> None:
    """One in a hundred by chance; fast reversals, where only the first choice does not know: one in ten."""
    n_questions = {"none": 0, "slow": 0, "fast": 0}
    for seed in range(20):
        for kind, at, rate in [("none", (), 0.4), ("slow", EVEN, 0.2), ("fast", EVEN, 0.9)]:
            frame = with_part(learners((), at, seed=seed, rate=rate), "block", [1, 1, 2, 2, 3, 3])
            try:
                read(frame)
            except ImplausibleError:
                n_questions[kind] += 1
    assert n_questions["none"] <= 2
    assert n_questions["slow"] <= 2
    assert n_questions["fast"] <= 6  # 0.002 by chance if one in ten


def test_first_choices_of_a_part_are_compared_with_those_before_it() -> None:
    chosen, part = np.array([0] * 8 + [1] * 8), np.array(["1"] * 8 + ["2"] * 8)
    first, later = likeness_to_choices_before(part, np.zeros(16, dtype=int), None, chosen)
    assert (first.tolist(), later.tolist()) == ([0.0], [1.0])
    cue = np.tile([0, 1], 8)  # four choices of each cue before the change are too few
    first, _ = likeness_to_choices_before(part, np.zeros(16, dtype=int), cue, chosen)
    assert np.isnan(first).all()


def test_few_or_equal_differences_question_nothing() -> None:
    assert p_of_less(np.zeros(4), np.ones(4)) == 1
    assert p_of_less(np.zeros(9), np.full(9, 0.5)) == 1
    assert p_of_less(np.array([0.0, 0.2, 0.1, 0.0, 0.1]), np.full(5, 0.8)) < 1e-4


def test_a_column_that_comes_and_goes_numbers_no_games() -> None:
    frame = _runs().assign(pair=np.tile([5, 6], 20))
    with pytest.raises(TrialsError, match="pair comes and goes within participants"):
        read(
            frame,
            stimulus={"block_start": "pair"},
            accept=["one_set_of_options"],
        )
