"""Models of PyMC come in as likelihood functions with the log density that PyMC computes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from lakatos.flows.commands.main import app
from lakatos.theories.engine.sandbox.likelihoods import LikelihoodSandbox, limits_of_calls
from lakatos.theories.errors import TheoryError
from lakatos.theories.findings.exchange.likelihood import (
    ImportedLikelihood,
    Said,
    import_likelihood,
    vectors_within,
)
from lakatos.theories.findings.exchange.pymc_model import is_pymc, read_pymc

HEAD = (
    "import numpy as np\nimport pandas as pd\nimport pymc as pm\nimport pytensor.tensor as pt\n\n"
)
WITH_DATA = (
    HEAD
    + """
FLOOR = 0.1

def distance(a, b):
    return pt.switch(pt.gt(a, b), pt.log1p(a - b), -pt.log1p(b - a))

with pm.Model() as model:
    left = pm.Data("left", np.zeros(1))
    right = pm.Data("right", np.zeros(1))
    chose = pm.Data("chose_left", np.zeros(1, dtype="int64"))
    slope = pm.Uniform("slope", lower=FLOOR, upper=6.0)
    bias = pm.Normal("bias", 0, 2)
    weights = pm.Dirichlet("weights", a=np.ones(3))
    value = slope * (weights[0] * distance(left, right) + weights[1] * pt.cast(left, "float64") / 9)
    p = pm.Deterministic("p", pm.math.sigmoid(value + weights[2] * bias))
    pm.Bernoulli("response", p=p, observed=chose)

if __name__ == "__main__":
    with model:
        trace = pm.sample()
"""
)
OF_A_TABLE = (
    HEAD
    + """
data = pd.read_csv("anything.csv")

with pm.Model():
    alpha = pm.Beta("alpha", 2, 2)
    spread = pm.HalfNormal("spread", sigma=2)
    shift = data.left.values - data["right"].to_numpy()
    pm.Bernoulli("choice", logit_p=alpha * shift / (spread + 1), observed=data["chose_left"].values)
    trace = pm.sample()
"""
)
OF_A_FUNCTION = (
    HEAD
    + '''
def build(left, right, chosen):
    """Logit."""
    gap = left - right
    with pm.Model() as model:
        k = pm.Exponential("lambda", 2.0)
        both = pt.stack([k * gap, 0 * gap], axis=1)
        pm.Categorical("choice", logit_p=both, observed=chosen)
    return model
'''
)

OF_A_POPULATION = (
    HEAD
    + """
data = pd.read_csv("anything.csv")
who, people = pd.factorize(data["participant"])
gap = (data["left"] - data["right"]).to_numpy()

with pm.Model(coords={"person": people}):
    center = pm.Normal("center", 0, 1)
    spread = pm.HalfNormal("spread", 1)
    slope = pm.LogNormal("slope", center, spread, dims="person")
    bias = pm.Normal("bias", 0, 2, dims="person")
    lapse = pm.Beta("lapse", 1, 9, shape=len(people))
    p = lapse[who] / 2 + (1 - lapse[who]) * pm.math.invlogit(slope[who] * gap + bias[who])
    pm.Bernoulli("choice", p=p, observed=data["chose_left"].values)
"""
)


@pytest.fixture(scope="module")
def sandbox() -> Iterator[LikelihoodSandbox]:
    with LikelihoodSandbox() as own:
        yield own


@pytest.fixture(scope="module")
def table() -> pd.DataFrame:
    rng = np.random.default_rng(0)
    n = 40
    return pd.DataFrame(
        {
            "participant": np.repeat(["a", "b"], n // 2),
            "left": rng.integers(0, 10, n),
            "right": rng.integers(0, 10, n),
            "chose_left": rng.integers(0, 2, n),
        }
    ).astype(str)


def imported(source: str, table: pd.DataFrame, sandbox: LikelihoodSandbox) -> ImportedLikelihood:
    found = read_pymc(source)
    return import_likelihood(found.source, table, sandbox, found.said(Said(), [*table.columns]))


@pytest.mark.slow
def test_the_log_density_is_that_of_pymc(table: pd.DataFrame, sandbox: LikelihoodSandbox) -> None:
    pm = pytest.importorskip("pymc")
    item = imported(WITH_DATA, table, sandbox).likelihood
    assert item.vectorised
    assert item.returns == "log_probabilities"
    columns = item.people_in(table)["a"]
    vectors = vectors_within(item, 3)
    with sandbox.open_function(item.called, [columns], limits_of_calls()) as session:
        own = item.log_likelihood(session.values(0, vectors))
    made: dict[str, object] = {}
    exec(WITH_DATA, made)
    with made["model"]:  # type: ignore[attr-defined]
        pm.set_data(columns)
    for vector, value in zip(vectors, own, strict=True):
        given = dict(zip(item.bounds, vector, strict=True))
        first, second = given["weights_1"], given["weights_2"]
        shares = [first, (1 - first) * second, (1 - first) * (1 - second)]
        at = {"slope": given["slope"], "bias": given["bias"], "weights": np.array(shares)}
        expected = pm.do(made["model"], at).compile_logp()({})
        np.testing.assert_allclose(value, expected, rtol=1e-12)


@pytest.mark.parametrize("named", [True, False])
def test_probabilities_of_large_log_odds_have_the_log_density_of_pymc(
    named: bool, table: pd.DataFrame, sandbox: LikelihoodSandbox
) -> None:
    """In 64 bits 1 - p is 0 beyond log odds of 37; the likelihood of log odds is exact."""
    p, made = 'pm.math.sigmoid(slope * (data["left"] - data["right"]))', ""
    if named:
        p, made = "p", f"p = pm.Deterministic('p', {p})\n    "
    source = f"""{HEAD}
data = pd.read_csv("a.csv")
with pm.Model():
    slope = pm.Uniform("slope", 20, 40)
    {made}pm.Bernoulli("choice", p={p}, observed=data["chose_left"])
"""
    item = imported(source, table, sandbox).likelihood
    columns = item.people_in(table)["a"]
    with sandbox.open_function(item.called, [columns], limits_of_calls()) as session:
        found = item.log_values(session.values(0, np.array([[30.0]])))[0]
    odds = 30.0 * (columns["left"] - columns["right"])
    wanted = -np.logaddexp(0.0, np.where(columns["chose_left"] == 1, -odds, odds))
    assert wanted.min() < -100
    np.testing.assert_allclose(found, wanted, rtol=1e-13)


def test_ends_of_priors_become_bounds_and_unbounded_ones_are_stated() -> None:
    found = read_pymc(WITH_DATA)
    assert "'slope': (0.1, 6.0), 'bias': (-6.18, 6.18)" in found.source
    assert (
        "bias lies between -6.18 and 6.18, which hold all but 0.1% of its Normal prior"
        in found.notes[0]
    )


@pytest.mark.parametrize(
    ("source", "columns", "bounds"),
    [
        (OF_A_TABLE, {"left": "left", "right": "right", "chose_left": "chose_left"}, ("alpha", "spread")),
        (OF_A_FUNCTION, {"left": "left", "right": "right", "chosen": "chose_left"}, ("lambda_",)),
    ],
)  # fmt: skip
def test_columns_of_tables_and_arguments_become_columns(
    source: str,
    columns: dict[str, str],
    bounds: tuple[str, ...],
    table: pd.DataFrame,
    sandbox: LikelihoodSandbox,
) -> None:
    found = read_pymc(source)
    said = found.said(
        Said(columns={"chosen": "chose_left"} if "chosen" in columns else {}), [*table.columns]
    )
    item = import_likelihood(found.source, table, sandbox, said).likelihood
    assert dict(item.columns) == columns
    assert tuple(item.bounds) == bounds
    left, right, chosen = (item.people_in(table)["a"][name].astype(float) for name in columns)
    with sandbox.open_function(
        item.called, [item.people_in(table)["a"]], limits_of_calls()
    ) as session:
        values = vectors_within(item, 1)
        (own,) = item.log_likelihood(session.values(0, values))
    score = values[0, 0] * (left - right) / (1 + values[0, 1] if len(bounds) == 2 else 1)
    second_is_left = chosen == 1 if len(bounds) == 2 else chosen == 0
    np.testing.assert_allclose(own, -np.logaddexp(0, np.where(second_is_left, -score, score)).sum())


def test_parameters_of_participants_are_read_without_the_population_above_them(
    table: pd.DataFrame, sandbox: LikelihoodSandbox
) -> None:
    found = read_pymc(OF_A_POPULATION)
    said = Said(bounds={"slope": (0.01, 9.0)})
    item = import_likelihood(
        found.source, table, sandbox, found.said(said, [*table.columns])
    ).likelihood
    low = pytest.approx(-6.18)
    assert dict(item.bounds) == {
        "lapse": (0.0, 1.0),
        "slope": (0.01, 9.0),
        "bias": (low, -low.expected),
    }
    own = item.people_in(table)["b"]
    held: dict[str, Any] = {}
    exec(item.source, held)
    mine = held["model"](**own, lapse=0.1, slope=0.7, bias=0.3)
    later = 0.05 + 0.9 / (1 + np.exp(-0.7 * (own["left"] - own["right"]) - 0.3))
    np.testing.assert_allclose(mine, np.log(np.where(own["chose_left"] == 1, later, 1 - later)))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("observed=chose", "dims='x'"), r"line \d+: 'response' has several values"),
        (("Bernoulli(\"response\", p=p, observed=chose)", "Potential('x', p)"), r"line \d+: pm.Potential is not read"),
        (("Bernoulli(\"response\", p=p", "Poisson(\"response\", mu=p"), r"pm.Poisson\(mu\) are not read"),
        (("pt.log1p(a - b)", "pt.grad(a, b)"), r"line \d+: the tensor function grad has no counterpart"),
        (("observed=chose", "observed=[0, 1]"), r"observed= of 'response' is no column"),
        (("with pm.Model() as model", "if True"), "the file has no model of PyMC"),
        (("np.ones(3)", "counts"), "how many shares 'weights' has must be written out"),
    ],
)  # fmt: skip
def test_what_is_not_read_is_named_with_its_line(change: tuple[str, str], message: str) -> None:
    assert WITH_DATA.count(change[0]) == 1
    with pytest.raises(TheoryError, match=message):
        read_pymc(WITH_DATA.replace(*change))


def test_the_command_reads_a_model_of_pymc(table: pd.DataFrame, tmp_path: Path) -> None:
    (tmp_path / "model.py").write_text(WITH_DATA)
    table.to_csv(tmp_path / "responses.csv", index=False)
    assert is_pymc(WITH_DATA)
    done = CliRunner().invoke(
        app, ["theory", "import", str(tmp_path / "model.py"), "--responses", str(tmp_path / "responses.csv")]
    )  # fmt: skip
    assert done.exit_code == 0, done.exception
    assert "LIKELIHOOD = {'function': 'model'" in done.stdout
    assert "pymc" not in done.stdout.replace("PyMC", "")
    assert "one call takes all vectors of parameters" in done.stderr
