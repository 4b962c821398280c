"""Models of hBayesDM come in as likelihood functions, with the bounds of their description and the program's value."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.integrate import quad
from scipy.special import expit, log_softmax
from scipy.stats import norm
from typer.testing import CliRunner

from lakatos.flows.commands.main import app
from lakatos.theories.engine.sandbox.likelihoods import LikelihoodSandbox, limits_of_calls
from lakatos.theories.errors import TheoryError
from lakatos.theories.findings.exchange.likelihood import (
    Likelihood,
    Said,
    import_likelihood,
    vectors_within,
)
from lakatos.theories.findings.exchange.stan_model import HELPERS, is_stan, read_hbayesdm

DESCRIPTION = """
task_name: {code: igt, desc: Gambling Task}
model_name: {code: toy, desc: Learning by gains}
data_columns:
  subjID: A unique identifier
  choice: 1 to 3
  gain: What was won
  loss: What was lost
parameters:
  A: {desc: learning rate, info: [0, 0.5, 1]}
  lambda: {desc: loss aversion, info: [0, exp(1), Inf]}
additional_args:
- {code: payscale, default: 10, desc: divides gains}
"""
PROGRAM = """
#include /pre/license.stan
functions {
  real worth(real x, real l) { return x >= 0 ? x : -l * fabs(x); }
}
data {
  int<lower=1> N;
  int<lower=1> T;
  int<lower=1, upper=T> Tsubj[N];
  int choice[N, T];
  real outcome[N, T]; // gains less losses
}
transformed data { vector[3] initV; initV = rep_vector(0.0, 3); }
parameters { vector[2] mu_pr; vector[N] A_pr; vector[N] lambda_pr; }
transformed parameters {
  vector<lower=0, upper=1>[N] A;
  vector<lower=0>[N] lambda;
  for (i in 1:N) { A[i] = Phi_approx(mu_pr[1] + A_pr[i]); lambda[i] = exp(mu_pr[2] + lambda_pr[i]); }
}
model { A_pr ~ normal(0, 1); }
generated quantities {
  real<lower=0, upper=1> mu_A;
  real log_lik[N];
  real y_pred[N, T];
  for (i in 1:N) { for (t in 1:T) { y_pred[i, t] = -1; } }
  mu_A = Phi_approx(mu_pr[1]);
  {
    for (i in 1:N) {
      vector[3] ev = initV;
      int n = 0;
      log_lik[i] = 0;
      for (t in 1:(Tsubj[i])) {
        /* the first trial of two has no bonus */
        n += 1;
        log_lik[i] += categorical_logit_lpmf(choice[i, t] | ev + n / 2);
        y_pred[i, t] = categorical_rng(softmax(ev));
        if (t > 1 && choice[i, t] == choice[i, t-1]) { ev[choice[i, t]] *= 0.5; }
        ev[choice[i, t]] += A[i] * (worth(outcome[i, t], lambda[i]) - ev[choice[i, t]]);
        ev[1:2] = ev[1:2] + 0.1^2;
      }
    }
  }
}
"""


@pytest.fixture(scope="module")
def sandbox() -> Iterator[LikelihoodSandbox]:
    with LikelihoodSandbox() as own:
        yield own


@pytest.fixture(scope="module")
def table() -> pd.DataFrame:
    rng = np.random.default_rng(0)
    columns = {
        "subj_id": np.repeat(["a", "b"], 15),
        "Choice": rng.integers(1, 4, 30),
        "gain": rng.integers(0, 100, 30),
        "loss": -rng.integers(0, 100, 30),
    }
    return pd.DataFrame(columns).astype(str)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    (tmp_path / "models").mkdir()
    (tmp_path / "stan_files").mkdir()
    (tmp_path / "models/igt_toy.yml").write_text(DESCRIPTION)
    (tmp_path / "stan_files/igt_toy.stan").write_text(PROGRAM)
    return tmp_path / "models/igt_toy.yml"


def imported(file: Path, table: pd.DataFrame, sandbox: LikelihoodSandbox) -> Likelihood:
    found = read_hbayesdm(file, Path.read_text, table)
    return import_likelihood(
        found.source, table, sandbox, found.said(Said(), [*table.columns])
    ).likelihood


def by_hand(columns: dict[str, np.ndarray], rate: float, aversion: float) -> float:
    """The program's value, written out."""
    ev, total, before = np.zeros(3), 0.0, 0
    for choice, gain, loss in zip(
        *(columns[name] for name in ("choice", "gain", "loss")), strict=True
    ):
        net = (gain - abs(loss)) / 10
        total += log_softmax(ev)[choice - 1]
        if choice == before:
            ev[choice - 1] *= 0.5
        worth = net if net >= 0 else -aversion * abs(net)
        ev[choice - 1] += rate * (worth - ev[choice - 1])
        ev[:2] += 0.01
        before = choice
    return total


def test_a_program_has_the_value_that_its_formulas_have(
    file: Path, table: pd.DataFrame, sandbox: LikelihoodSandbox
) -> None:
    for given in (file, file.parent.parent / "stan_files/igt_toy.stan"):
        item = imported(given, table, sandbox)
        assert item.bounds == {"A": (0.0, 1.0), "lambda_": (0.0, pytest.approx(10 * np.e))}
        assert (item.participant, item.responses) == ("subj_id", ("choice",))
        assert dict(item.columns) == {"choice": "Choice", "gain": "gain", "loss": "loss"}
        people = item.people_in(table)
        vectors = vectors_within(item, 3)
        with sandbox.open_function(item.called, [*people.values()], limits_of_calls()) as session:
            own = item.log_likelihood(session.values(1, vectors))
        expected = [by_hand(people["b"], *vector) for vector in vectors]
        np.testing.assert_allclose(own, expected, rtol=1e-12)


def test_a_parameter_without_an_end_is_cut_and_stated(file: Path, table: pd.DataFrame) -> None:
    (note,) = read_hbayesdm(file, Path.read_text, table).notes
    assert note.startswith("lambda_ has no end in hBayesDM, and is fitted between 0 and 27.18")


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("fabs(x)", "tgamma(x)", r"the Stan program has tgamma\(\.\.\.\) in .*is not read here"),
        ("real outcome", "real surprise[N, T]; real outcome", None),
        ("-l * fabs", "-l' * fabs", r"the Stan program has l' in"),
        ("log_lik", "total", "adds up no log_lik"),
        ("y_pred[i, t] = -1; } }", "y_pred[i, t] = -1; }", "ends in the middle of a statement"),
    ],
)
def test_what_is_not_read_is_named(
    old: str, new: str, message: str | None, file: Path, table: pd.DataFrame
) -> None:
    program = file.parent.parent / "stan_files/igt_toy.stan"
    program.write_text(PROGRAM.replace(old, new))
    if message is None:  # data that the program does not use are no hindrance
        read_hbayesdm(file, Path.read_text, table)
        return
    with pytest.raises(TheoryError, match=message):
        read_hbayesdm(file, Path.read_text, table)


def test_data_that_are_not_computed_here_are_named(file: Path, table: pd.DataFrame) -> None:
    program = file.parent.parent / "stan_files/igt_toy.stan"
    text = PROGRAM.replace("real outcome", "real surprise[N, T]; real outcome")
    program.write_text(text.replace("n / 2", "surprise[i, t]"))
    with pytest.raises(
        TheoryError, match=r"computes 'surprise'.*from columns in a way that is not"
    ):
        read_hbayesdm(file, Path.read_text, table)


def test_a_description_without_its_program_states_where_that_is_expected(
    tmp_path: Path, table: pd.DataFrame
) -> None:
    (tmp_path / "dd.yml").write_text(DESCRIPTION)
    assert is_stan(tmp_path / "dd.yml", DESCRIPTION)
    with pytest.raises(TheoryError, match=r"the formula of dd .*dd\.stan.*stan_files"):
        read_hbayesdm(tmp_path / "dd.yml", Path.read_text, table)


def test_first_passages_are_a_density() -> None:
    made: dict[str, object] = {}
    exec("import numpy as np\n" + HELPERS["_wiener"], made)
    density = made["_wiener"]

    def share(a: float, tau: float, beta: float, delta: float) -> float:
        found, _ = quad(
            lambda t: np.exp(density(t, a, tau, beta, delta)), tau + 1e-6, 60, limit=400
        )
        return float(found)

    for a, tau, beta, delta in ((1.2, 0.2, 0.4, 0.8), (2.5, 0.1, 0.7, -0.5)):
        up, down = share(a, tau, beta, delta), share(a, tau, 1 - beta, -delta)
        assert up + down == pytest.approx(1, abs=1e-6)
        drift = 2 * delta * a
        lower = (np.exp(-drift) - np.exp(-drift * beta)) / (np.exp(-drift) - 1)
        assert down == pytest.approx(lower, abs=1e-6)


def test_the_approximate_normal_distribution_function_is_close() -> None:
    made: dict[str, object] = {}
    exec("from scipy import special\n" + HELPERS["_phi_approx"], made)
    at = np.linspace(-4, 4, 81)
    np.testing.assert_allclose(made["_phi_approx"](at), norm.cdf(at), atol=1.5e-4)
    assert expit(0.0) == made["_phi_approx"](0.0)


def test_the_command_reads_a_description(file: Path, table: pd.DataFrame) -> None:
    table.to_csv(file.parent / "responses.csv", index=False)
    done = CliRunner().invoke(
        app, ["theory", "import", str(file), "--responses", str(file.parent / "responses.csv")]
    )
    assert done.exit_code == 0, done.exception
    assert '"""Learning by gains Gambling Task."""' in done.stdout
    assert "LIKELIHOOD = {'function': 'model'" in done.stdout
