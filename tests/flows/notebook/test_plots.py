"""Figures in a notebook show the numbers of the results that they are made of."""

from __future__ import annotations

import sys
import tarfile
from collections.abc import Iterator
from pathlib import Path

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.axes import Axes

sys.path.insert(0, str(Path(__file__).parent))
from test_effects import aging

import lakatos
from lakatos.flows.errors import StudyError
from lakatos.flows.report.reader import open_reading

GOLDEN = Path(__file__).parent.parent.parent / "golden" / "format-1.tar.gz"


@pytest.fixture(autouse=True)
def without_windows() -> Iterator[None]:
    """Figures are closed after each test."""
    from matplotlib import pyplot

    pyplot.switch_backend("agg")
    yield
    pyplot.close("all")


def marks_of(axes: Axes) -> list[float]:
    """The values of a figure with a row each: after the line at zero, each has an interval and a mark."""
    return [float(line.get_xdata()[0]) for line in axes.lines[2::2]]


@pytest.fixture
def outcome(tmp_path: Path) -> lakatos.StudyOutcome:
    """The released run with simulated participants."""
    with tarfile.open(GOLDEN) as kept:
        kept.extractall(tmp_path, filter="data")
    return lakatos.read_run(str(tmp_path / "runs" / "simulated"))


def test_the_verdict_shows_every_theory_beside_the_leading_one(
    outcome: lakatos.StudyOutcome,
) -> None:
    axes = lakatos.plot_verdict(outcome)
    board = outcome.leaderboard
    assert marks_of(axes) == pytest.approx(board["behind"].to_numpy())
    assert len(axes.get_yticklabels()) == len(board)
    assert "nats per choice" in axes.get_xlabel()


def test_predictions_show_each_trial_of_the_run(outcome: lakatos.StudyOutcome) -> None:
    axes = lakatos.plot_predictions(outcome)
    points = np.concatenate([np.asarray(part.get_offsets()) for part in axes.collections[1:]])
    with open_reading(outcome.folder) as reading:
        n_trials = sum(
            len(reading.trials(name).stimuli) for name in reading.state.experiments.collected
        )
    assert len(points) == n_trials
    assert axes.get_ylabel().endswith(f"(n = {n_trials})")


def test_figures_are_drawn_on_axes_that_are_given_and_leave_the_settings_alone(
    outcome: lakatos.StudyOutcome,
) -> None:
    from matplotlib import pyplot

    before = dict(mpl.rcParams)
    _, axes = pyplot.subplots()
    assert lakatos.plot_verdict(outcome, ax=axes) is axes
    assert dict(mpl.rcParams) == before


@pytest.mark.slow
def test_effects_show_the_parameters_of_one_theory() -> None:
    effects = lakatos.effects(aging(0.08), "hyperbolic", by="age")
    axes = lakatos.plot_effects(effects)
    assert marks_of(axes) == pytest.approx(effects.to_frame()["estimate"].to_numpy())
    assert "n = " in axes.get_title(loc="left")
    with pytest.raises(StudyError, match="there is no theory 'nothing' among these effects"):
        lakatos.plot_effects(effects, "nothing")
