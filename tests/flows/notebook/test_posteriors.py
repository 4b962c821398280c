"""``theory posterior``: parameters of a file's participants with intervals, and files that ArviZ opens."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import arviz as az
import numpy as np
import pandas as pd
import pytest

from lakatos.domains import DOMAINS
from lakatos.experiments.task import Stimuli, Trials
from lakatos.flows.errors import RunMissingError, StudyError
from lakatos.flows.notebook.answers import PeoplesAnswers
from lakatos.flows.notebook.posterior import posteriors, summary_of, unit_names
from lakatos.theories.engine.fitting.posterior_result import ChainDiagnostics, Posterior
from lakatos.theories.errors import TheoryError

N_PEOPLE, N_TRIALS = 6, 16
SOURCE = """\"\"\"Mine: people choose.\"\"\"
PARAMETERS = {{}}


def choose(parameters, trials, xp):
    {}
"""


def choices() -> pd.DataFrame:
    """Choices between 60 now and 100 later, of participants who discount hyperbolically at different rates."""
    rng = np.random.default_rng(3)
    rows = []
    for person, rate in enumerate(np.geomspace(0.01, 0.05, N_PEOPLE)):
        for trial, delay in enumerate(np.linspace(5, 155, N_TRIALS).round()):
            later = 1 / (1 + np.exp(-0.2 * (100 / (1 + rate * delay) - 60)))
            rows.append((f"P{person}", trial, 60, 0, 100, delay, int(rng.random() < later)))
    names = ["participant", "trial", "amount_sooner", "delay_sooner_days", "amount_later"]
    return pd.DataFrame(rows, columns=[*names, "delay_later_days", "chose_later"])


def of_draws(**draws: Any) -> Posterior:
    nothing = ChainDiagnostics(1.0, 1.0, 1.0, 0, 2, 4)
    dims = {"rate": ["unit"], "population_median": ["parameter"]}
    data = az.from_dict(draws, dims=dims, coords={"parameter": ["rate"]})
    return Posterior("a", "b", "none", "", data, nothing, "c", ())


def test_the_table_has_the_median_of_the_population_and_the_middle_of_participants() -> None:
    people = np.arange(1.0, 12.0) + np.zeros((2, 101, 1))  # 11 participants: 1 to 11 in each draw
    middle = np.tile(np.arange(101.0), (2, 1))[..., None]  # 0 to 100 in each chain
    (row,) = summary_of("mine", of_draws(rate=people, population_median=middle)).itertuples()
    assert (row.theory, row.parameter, row.median, row.low, row.high) == (
        *("mine", "rate", 50.0),
        *np.quantile(middle, (0.025, 0.975)),
    )
    assert (row.people_low, row.people_high) == (2.0, 10.0)


def test_a_participant_alone_has_the_parameter_itself_and_no_others() -> None:
    alone = np.tile(np.arange(101.0), (2, 1))[..., None]
    (row,) = summary_of("mine", of_draws(rate=alone)).itertuples()
    assert (row.parameter, row.median) == ("rate", 50.0)
    assert np.isnan(row.people_low)
    assert np.isnan(row.people_high)


@pytest.mark.slow  # compiling takes half a minute of processor time
def test_a_row_for_each_parameter_with_the_quantiles_of_its_draws(tmp_path: Path) -> None:
    found = posteriors(choices(), ["hyperbolic"], draws=40, tune=60, chains=2, out=tmp_path / "out")
    table = found.to_frame().set_index("parameter")
    kept = az.from_netcdf(found.saved["hyperbolic"]).posterior
    assert list(table.index) == kept["parameter"].to_numpy().tolist()
    for name, row in table.iterrows():
        drawn = kept["population_median"].sel(parameter=name).to_numpy()
        assert (row["median"], row["low"], row["high"]) == pytest.approx(
            np.quantile(drawn, (0.5, 0.025, 0.975))
        )
        people = kept[name].mean(("chain", "draw")).to_numpy()
        assert people.shape == (N_PEOPLE,)
        assert (row["people_low"], row["people_high"]) == pytest.approx(
            np.quantile(people, (0.1, 0.9))
        )
    assert all(str(name) in found.text for name in table.index)
    assert "effective draws" in found.text


def test_a_theory_that_fails_after_another_one_leaves_no_files(tmp_path: Path) -> None:
    even, failing = (tmp_path / name for name in ("even.py", "failing.py"))
    even.write_text(SOURCE.format("return xp.full(trials['amounts'].shape, 0.5)"), encoding="utf-8")
    failing.write_text(SOURCE.format("raise ValueError('I fail')"), encoding="utf-8")
    with pytest.raises(TheoryError, match="I fail"):
        posteriors(choices(), [str(even), str(failing)], out=tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_theory_without_parameters_has_no_rows_and_no_file(tmp_path: Path) -> None:
    even = tmp_path / "even.py"
    even.write_text(SOURCE.format("return xp.full(trials['amounts'].shape, 0.5)"), encoding="utf-8")
    found = posteriors(choices(), [str(even)], out=tmp_path / "out")
    assert (len(found.to_frame()), dict(found.saved)) == (0, {})
    assert "chains of" not in found.text


def test_without_a_theory_nothing_is_estimated_and_one_is_named(tmp_path: Path) -> None:
    with pytest.raises(StudyError, match="name the theories"):
        posteriors(choices(), out=tmp_path / "out")
    with pytest.raises(RunMissingError, match="no responses of nosuch; there are those of"):
        posteriors(choices(), ["hyperbolic"], experiment="nosuch", out=tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_units_of_a_posterior_have_the_names_of_the_file() -> None:
    frame = pd.DataFrame({"who": ["b"] * 2 + ["a"] * 2, "x": [0, 1, 0, 1]})
    items = tuple(
        Trials(
            experiment=name,
            stimuli=Stimuli({"x": np.arange(2.0)}),
            participant=np.array([0, 0, 1, 1]),
            trial=np.array([0, 1, 0, 1]),
            response=np.zeros(4, dtype=int),
            count=np.ones(4, dtype=int),
        )
        for name in ("one", "two")
    )
    beside = {"who": frame["who"].to_numpy()}
    known = PeoplesAnswers(DOMAINS["risky"], items[:1], beside=(beside,))
    assert unit_names(known) == ["b", "a"]
    both = PeoplesAnswers(DOMAINS["risky"], items, beside=(beside, beside))
    assert unit_names(both) == ["one/b", "one/a", "two/b", "two/a"]
    assert unit_names(PeoplesAnswers(DOMAINS["risky"], items[:1])) == ["0", "1"]
