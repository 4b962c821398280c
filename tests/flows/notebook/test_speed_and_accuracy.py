"""Random dots under speed and under accuracy: an effect on the bound of a diffusion, within participants.

Responses come from a random walk with small steps, which shares no code with the likelihood.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import lakatos

N_PEOPLE, N_TRIALS, RATIO = 30, 100, 1.4
"""Participants, trials of each instruction, and the bound under accuracy relative to that under speed."""
STEP_S, LONGEST_S = 0.001, 6.0


def dots(seed: int = 11) -> pd.DataFrame:
    """Every participant works under both instructions, half of them under speed first."""
    rng = np.random.default_rng(seed)
    bound = np.exp(np.log(1.1) + rng.normal(0, 0.15, N_PEOPLE))
    ratio = np.exp(np.log(RATIO) + rng.normal(0, 0.1, N_PEOPLE))
    rate = np.exp(np.log(1.6) + rng.normal(0, 0.25, N_PEOPLE))
    delay = 0.3 + rng.normal(0, 0.03, N_PEOPLE)
    blocks = [
        (person, instruction)
        for person in range(N_PEOPLE)
        for instruction in (("speed", "accuracy"), ("accuracy", "speed"))[person % 2]
    ]
    rows = np.repeat(np.arange(len(blocks)), N_TRIALS)
    who = np.array([person for person, _ in blocks])[rows]
    careful = np.array([instruction == "accuracy" for _, instruction in blocks])[rows]
    time_s, is_right = _walk(bound[who] * np.where(careful, ratio[who], 1.0), rate[who], rng)
    correct = rng.integers(2, size=len(rows))
    return pd.DataFrame(
        {
            "subject": [f"s{person:02d}" for person in who],
            "trial": np.tile(np.arange(1, 2 * N_TRIALS + 1), N_PEOPLE),
            "instruction": np.where(careful, "accuracy", "speed"),
            "congruency": np.where(np.arange(len(rows)) % 2, "incongruent", "congruent"),
            "correct_key": np.array(["f", "j"])[correct],
            "key": np.array(["f", "j"])[np.where(is_right, correct, 1 - correct)],
            "rt": np.round(1000 * (time_s + delay[who]), 1),
        }
    )


def _walk(
    bound: np.ndarray, rate: np.ndarray, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Times in seconds until evidence leaves the interval from 0 to the bound, and whether at its upper end."""
    evidence, time_s = bound / 2, np.full(len(bound), LONGEST_S)
    is_right, live = np.zeros(len(bound), dtype=bool), np.arange(len(bound))
    for step in range(1, int(LONGEST_S / STEP_S)):
        noise = np.sqrt(STEP_S) * rng.standard_normal(len(live))
        evidence[live] += rate[live] * STEP_S + noise
        up, down = evidence[live] >= bound[live], evidence[live] <= 0
        time_s[live[up | down]] = step * STEP_S
        is_right[live[up]] = True
        live = live[~(up | down)]
    return time_s, is_right


@pytest.mark.slow
def test_the_bound_is_larger_under_accuracy_in_the_table_and_by_the_test(tmp_path: Path) -> None:
    file = tmp_path / "dots.csv"
    dots().to_csv(file, index=False)
    found = lakatos.effects(file, "steady", by="instruction")
    table = found.to_frame().set_index("parameter")
    bound = table.loc["bound"]
    assert bound.effect == "instruction[speed]"
    assert bound.varies == "within"
    assert bound.p <= 0.001
    assert bound.ratio_low < 1 / RATIO < bound.ratio_high < 1
    assert bound["with"] < bound["without"]
    assert np.sign(bound.statistic) == np.sign(bound.estimate) == -1
    assert list(table.index[table.shown]) == ["bound"]
    assert "bound (distance of the bounds) is lower with instruction[speed]" in found.verdict
    estimates = found.estimates.query("parameter == 'bound'")
    by_person = estimates.pivot(index="participant", columns="instruction", values="estimate")
    assert (by_person.accuracy > by_person.speed).mean() >= 0.9


@pytest.mark.slow
@pytest.mark.parametrize("coded", ["key", "right"])
def test_a_simulated_file_of_choices_with_times_shows_the_effect_again(
    coded: str, tmp_path: Path
) -> None:
    """Keys with their times, or whether they were right, are written as the file has them."""
    table = dots().query("subject < 's10'")
    if coded == "right":
        table = table.assign(accuracy=(table.key == table.correct_key).astype(int))
        table = table.drop(columns=["key", "correct_key"])
    table.to_csv(tmp_path / "dots.csv", index=False)
    lakatos.fit(tmp_path / "dots.csv", "steady", by="instruction", simulate=tmp_path / "new.csv")
    new = pd.read_csv(tmp_path / "new.csv")
    assert list(new) == list(table)
    assert (
        new.groupby("instruction").rt.median()["accuracy"]
        > (new.groupby("instruction").rt.median()["speed"])
    )
    again = lakatos.effects(tmp_path / "new.csv", "steady", by="instruction").to_frame()
    assert again.set_index("parameter").shown["bound"]
