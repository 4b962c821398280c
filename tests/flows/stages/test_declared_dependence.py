"""A theory by hand whose people differ by their age: through the gate, a campaign, its verdict and the audit."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from lakatos.flows.audit.audit import audit
from lakatos.flows.run.run import read_state
from lakatos.flows.run.study import load_study
from lakatos.flows.start import run_study

sys.path.insert(0, str(Path(__file__).parents[2] / "theories" / "language"))
sys.path.insert(0, str(Path(__file__).parents[2] / "flows" / "notebook"))
sys.path.insert(0, str(Path(__file__).parents[2] / "flows" / "stages"))
from test_dependence import AGED, PLAIN
from test_effects import aging
from test_effects_of_people import STUDY


@pytest.mark.slow
def test_it_is_frozen_scored_by_age_told_and_recomputed(tmp_path: Path) -> None:
    aging(0.12).to_csv(tmp_path / "answers.csv", index=False)
    (tmp_path / "plain.py").write_text(PLAIN)
    (tmp_path / "aged.py").write_text(AGED.replace("Waiting:", "Waiting by age:"))
    study = (
        STUDY.replace('seeds = ["hyperbolic", "exponential"]', 'files = ["plain.py", "aged.py"]')
        .replace("candidates = 4", "candidates = 0")
        .replace("trials = 12", "trials = 6")
        .replace("cycles = 1", "cycles = 2")
        .replace('effects = "age"\neffect_size = 1.0\n', "")
    )
    (tmp_path / "study.toml").write_text(study)
    concluded = run_study(load_study(tmp_path / "study.toml"), tmp_path / "run", n_workers=1)
    assert "Waiting by age predicts choices better than Waiting" in concluded.text
    assert "Their rate (discount rate) rises with age" in concluded.text
    state, trace = read_state(tmp_path / "run")
    (aged,) = [
        name for name in state.theories.pool if state.theories.name(name) == "Waiting by age"
    ]
    _, second = [item.record for item in state.experiments.preregistrations.values()]
    frozen = trace.artifacts.get_arrays(second.predictions)
    trace.close()
    # what the first experiment taught of age is frozen before the second, and scores its people
    assert frozen[f"{aged}:center:rate"].shape == (4,)
    assert "by the effects frozen here" in second.analysis
    ahead = state.theories.scores[aged, second.experiment].record.frozen
    assert ahead is not None
    (plain,) = [name for name in state.theories.pool if state.theories.name(name) == "Waiting"]
    other = state.theories.scores[plain, second.experiment].record.frozen
    assert other is not None
    assert sum(ahead.log_predictive) > sum(other.log_predictive)
    report = audit(tmp_path / "run", n_workers=1)
    assert report.passed, report.failures
