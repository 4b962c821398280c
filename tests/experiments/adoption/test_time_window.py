"""Between which times responses of a file count."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from reading import DATA_SETS, only, read

from lakatos.domains import DOMAINS, find_domain
from lakatos.domains.attention.task import EDGES, AttentionDomain, edges_within
from lakatos.experiments.adoption.describe import describe_table
from lakatos.experiments.adoption.mapping import AnswerColumns
from lakatos.experiments.adoption.tables import table_of_frame
from lakatos.experiments.errors import TrialsError
from lakatos.flows.operations.adopt import new_study
from lakatos.flows.run.study import load_study
from lakatos.flows.run.task import domain_of
from lakatos.memory.winner_start import BINS
from lakatos.theories.language.family import find_family


def timed() -> pd.DataFrame:
    """Responses of which six took 0.15 s and ten 4.2 s, all of these in incongruent trials."""
    frame = DATA_SETS["conflicts"](np.random.default_rng(2)).frame.astype({"rt": float})
    places = np.flatnonzero(frame["condition"] == "incongruent")[:16]
    frame.loc[places[:6], "rt"], frame.loc[places[6:], "rt"] = 150.0, 4200.0
    return frame


def test_a_study_that_says_nothing_keeps_the_usual_window() -> None:
    found = read(timed())
    assert found.time_window is None
    assert only(found).n_responses == 160 - 16
    assert only(found).n_options == 2 * (len(EDGES) - 1)
    assert "time_window" not in AnswerColumns(participant="a").model_dump()


def test_a_wider_window_takes_the_slow_and_says_what_it_removes_by_condition() -> None:
    frame = timed()
    found = read(frame, time_window=(0.2, 5.0))
    assert only(found).n_responses == 160 - 6
    n_all = int((frame["condition"] == "incongruent").sum())
    told = " ".join(found.about_rows)
    assert (
        "responses count from 0.2 to 5 s (as the mapping says): 6 are faster and 0 slower" in told
    )
    assert (
        f"rows left out by condition: congruent 0 of {160 - n_all}, incongruent 6 of {n_all}"
        in told
    )
    assert only(read(frame, time_window=[0.1, 5])).n_responses == 160


def test_what_is_outside_of_the_usual_window_is_not_told_beside_another_one() -> None:
    usual = describe_table(table_of_frame("answers.csv", timed()))
    assert any("6 below 0.2 s and 10 above 3 s" in line for line in usual.beyond_grid)
    assert usual.with_columns({"time_window": (0.1, 5.0)}).beyond_grid == ()


def test_a_window_from_data_follows_a_stated_rule() -> None:
    frame = timed()
    logs = np.log(frame["rt"] / 1000)
    deviation = 1.4826 * np.median(np.abs(logs - np.median(logs)))
    wanted = [float(f"{np.exp(np.median(logs) + sign * 3 * deviation):.2g}") for sign in (-1, 1)]
    found = read(frame, time_window="from data")
    assert found.time_window == tuple(wanted)
    assert any("three standard deviations around the median of log times" in n for n in found.notes)


def test_where_times_are_no_part_of_responses_rows_outside_are_left_out() -> None:
    frame = DATA_SETS["delays"](np.random.default_rng(2)).frame
    times = np.full(len(frame), 900)
    times[:4], times[4] = 80, 70_000
    frame = frame.assign(rt=times)
    assert only(read(frame)).n_responses == len(frame)
    found = read(frame, time_window=(0.2, 60.0))
    assert only(found).n_responses == len(frame) - 5
    assert found.left_out.kinds[0].reason == "rt is not between 0.2 and 60 s"


@pytest.mark.parametrize(
    ("window", "words"),
    [
        ((3.0, 0.2), "two times in seconds that grow"),
        ((0.2, 0.3), "at least 2 times the first"),
        ((0.01, 3.0), "from 0.05 to 10 s"),
        ((0.2, 99.0), "from 0.05 to 10 s"),
    ],
)
def test_what_is_no_window_is_refused(window: Any, words: str) -> None:
    with pytest.raises(TrialsError, match=words):
        read(timed(), time_window=window)
    without = DATA_SETS["delays"](np.random.default_rng(2)).frame
    with pytest.raises(TrialsError, match=r"time_window: name the column of response times"):
        read(without, time_window=(0.2, 3.0))


def test_bins_of_a_window_are_the_usual_ones_in_it() -> None:
    assert edges_within(0.2, 3.0) == EDGES
    assert AttentionDomain(edges_within(0.2, 3.0)) == DOMAINS["attention"]
    assert edges_within(0.3, 1.0) == (
        0.3, 0.35, 0.4, 0.44, 0.48, 0.52, 0.56, 0.6, 0.64, 0.68, 0.72, 0.76, 0.8, 0.9, 1.0,
    )  # fmt: skip
    assert edges_within(0.1, 5.0)[-4:] == (2.0, 3.0, 4.0, 5.0)
    assert find_domain("attention@0.1-5") == AttentionDomain(edges_within(0.1, 5.0))


def test_a_study_with_a_window_has_its_domain_and_theories(tmp_path: Path) -> None:
    data = tmp_path / "times.csv"
    timed().to_csv(data, index=False)
    said = {"time_window": [0.1, 5.0]}
    study = new_study(tmp_path / "times.toml", data, columns=said).study
    config = load_study(study)
    domain = domain_of(config)
    assert domain == AttentionDomain(edges_within(0.1, 5.0))
    assert config.with_places(config.model_dump(mode="json")).time_window == (0.1, 5.0)
    source = find_family(domain).program("steady").source
    bins = BINS.search(source)
    assert bins is not None
    assert bins[1] == str(list(edges_within(0.1, 5.0)))


def test_no_window_is_found_where_half_of_the_times_are_the_same() -> None:
    frame = timed()
    frame.loc[frame.index[: len(frame) // 2 + 1], "rt"] = 500.0
    with pytest.raises(TrialsError, match=r"half of the times or more in rt are 0\.5 s"):
        read(frame, time_window="from data")
