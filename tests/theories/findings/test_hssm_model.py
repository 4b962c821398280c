"""Models of HSSM come in as likelihood functions with its parameters, formulas and closed forms."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.integrate import quad
from typer.testing import CliRunner

from lakatos.domains.kit.outcomes import outcome_helpers
from lakatos.flows.commands.main import app
from lakatos.theories.errors import TheoryError
from lakatos.theories.findings.exchange.hssm_model import is_hssm, read_hssm
from tests.domains.kit.wiener import WIENER

FLOOR = -66.1


@pytest.fixture(scope="module")
def table() -> pd.DataFrame:
    rng, n = np.random.default_rng(0), 40
    return pd.DataFrame(
        {
            "participant_id": np.repeat(["a", "b"], n // 2),
            "rt": rng.uniform(0.5, 2.0, n).round(3),
            "response": rng.choice([-1.0, 1.0], n),
            "stim": rng.choice(["LL", "WL", "WW"], n),
            "theta": rng.normal(size=n).round(3),
        }
    ).astype(str)


def script(call: str) -> str:
    return f"import bambi as bmb\nimport hssm\n\ndata = hssm.load_data('x')\nmodel = {call}\nmodel.sample()\n"


def made(call: str, table: pd.DataFrame) -> dict[str, Any]:
    """Functions and bounds of a model."""
    found: dict[str, Any] = {}
    exec(read_hssm(script(call), table).source, found)
    return found


@pytest.mark.parametrize("spread", [0.0, 1.2])
def test_the_diffusion_has_the_density_of_the_package(table: pd.DataFrame, spread: float) -> None:
    own: dict[str, Any] = {}
    exec(outcome_helpers(WIENER), own)
    name, last = ("ddm_sdv", (spread,)) if spread else ("ddm", ())
    model = made(f"hssm.HSSM(data, model='{name}', p_outlier=None)", table)["model"]
    times = np.array([0.35, 0.5, 0.9, 1.7, 3.0])
    v, a, z, t = 0.8, 0.7, 0.4, 0.3
    bound, spreads = np.array(2 * a), np.array(spread)
    for response, drift, start in ((1, -v, 1 - z), (-1, v, z)):
        wanted = own["wiener"](times - t, np.array(drift), bound, np.array(start), spreads, np)
        found = model(times, np.full(5, response), v, a, z, t, *last)
        np.testing.assert_allclose(np.exp(found), wanted, rtol=1e-9, atol=1e-14)
    assert model(np.array([0.3]), np.array([1]), v, a, z, t, *last) == FLOOR


def test_starts_and_delays_that_hardly_vary_change_nothing(table: pd.DataFrame) -> None:
    full = made("hssm.HSSM(data, model='full_ddm', p_outlier=0)", table)["model"]
    plain = made("hssm.HSSM(data, model='ddm_sdv', p_outlier=0)", table)["model"]
    times, responses = np.array([0.5, 1.0, 2.0]), np.array([1, -1, 1])
    found = full(times, responses, 1.0, 0.8, 0.5, 0.3, 1e-6, 0.5, 1e-6)
    np.testing.assert_allclose(found, plain(times, responses, 1.0, 0.8, 0.5, 0.3, 0.5), rtol=1e-9)
    assert (full(times, responses, 1.0, 0.8, 0.1, 0.3, 0.4, 0.5, 0.1) == FLOOR).all()


@pytest.mark.parametrize(
    ("call", "values"),
    [
        ("model='full_ddm', p_outlier=0", (1.0, 0.8, 0.5, 0.3, 0.2, 0.5, 0.2)),
        ("model='lba2', p_outlier=0", (0.3, 0.6, 0.5, 0.7)),
        ("model='lba3', p_outlier=0", (0.3, 0.6, 0.5, 0.7, 0.4)),
        ("model='ddm'", (1.0, 0.8, 0.5, 0.3)),
    ],
)
def test_densities_of_all_responses_sum_to_one(
    call: str, values: tuple[float, ...], table: pd.DataFrame
) -> None:
    model = made(f"hssm.HSSM(data, {call})", table)["model"]
    options = {"2": [0, 1], "3": [0, 1, 2]}.get(call[call.index("'", 7) - 1], [-1, 1])

    def density(time: float, response: int) -> float:
        return float(np.exp(model(np.array([time]), np.array([response]), *values)[0]))

    total = sum(
        quad(density, low, high, args=(option,), limit=400)[0]
        for option in options
        for low, high in ((0.01, 0.5), (0.5, 3.0), (3.0, 20.0))
    )
    assert total == pytest.approx(1, abs=2e-3 if "model='ddm'" in call else 1e-5)


def test_formulas_are_sums_of_columns_and_group_terms_are_left_out(table: pd.DataFrame) -> None:
    call = (
        "hssm.HSSM(data, include=[{'name': 'v', 'formula': 'v ~ 0 + stim + (1 + theta|participant_id)', "
        "'prior': {'theta': bmb.Prior('Uniform', lower=-1.0, upper=2.0)}}, hssm.Param('a', bounds=(0.5, 3.0))], "
        "z=0.5, p_outlier=0)"
    )
    found = read_hssm(script(call), table)
    assert found.known.participant == "participant_id"
    assert found.known.columns == {
        "rt": "rt",
        "response": "response",
        "stim": "stim",
        "theta": "theta",
    }
    own = made(call, table)
    assert own["BOUNDS"] == {
        "v_Intercept": (-3, 3), "v_stim_WL": (-6, 6), "v_stim_WW": (-6, 6), "v_theta": (-1.0, 2.0),
        "a": (0.5, 3.0), "t": (0, 2),
    }  # fmt: skip
    plain = made("hssm.HSSM(data, p_outlier=0)", table)["model"]
    rt, response = np.array([0.6, 0.9, 1.4]), np.array([1, -1, 1])
    stim, theta = np.array(["LL", "WW", "WL"]), np.array([0.5, -1.0, 2.0])
    values = own["model"](rt, response, stim, theta, 0.2, 0.3, -0.4, 0.1, 1.0, 0.3)
    drift = 0.2 + np.array([0.0, -0.4, 0.3]) + 0.1 * theta
    np.testing.assert_array_equal(values, plain(rt, response, drift, 1.0, 0.5, 0.3))


def test_a_parameter_that_a_formula_brings_out_of_its_ends_has_the_floor(
    table: pd.DataFrame,
) -> None:
    call = "hssm.HSSM(data, include=[{'name': 'a', 'formula': 'a ~ 1 + theta'}], p_outlier=0)"
    model = made(call, table)["model"]
    found = model(np.ones(2), np.ones(2), np.array([0.0, -1.0]), 0.5, 0.5, 1.0, 0.5, 0.3)
    assert found[0] > FLOOR
    assert found[1] == FLOOR


def test_outliers_have_half_of_their_share_for_each_response(table: pd.DataFrame) -> None:
    model = made(
        "hssm.HSSM(data, p_outlier=0.1, lapse=bmb.Prior('Uniform', lower=0.0, upper=10.0))", table
    )["model"]
    found = model(np.array([0.2, 11.0]), np.array([1, 1]), 0.5, 1.0, 0.5, 0.3)
    np.testing.assert_allclose(np.exp(found[0]), 0.1 / 20, rtol=1e-9)
    plain = made("hssm.HSSM(data, p_outlier=0)", table)["model"]
    none = plain(np.array([11.0]), np.array([1]), 0.5, 1.0, 0.5, 0.3)
    np.testing.assert_allclose(found[1], np.log(0.9) + none[0], rtol=1e-9)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        ("hssm.HSSM(data, model='angle')", "the likelihood of angle is a network.*there are ddm, ddm_sdv, full_ddm"),
        ("hssm.HSSM(data, loglik=mine)", "is a network, a simulation or a function of its own"),
        ("hssm.HSSM(data, link_settings='log_logit')", "link_settings is not read"),
        ("hssm.HSSM(data, missing_data=True)", "leave rows without a response out"),
        ("hssm.HSSM(data, theta=1.0)", "ddm has no parameter 'theta'"),
        ("hssm.HSSM(data, include=[dict(name='v', formula='v ~ stim:theta')])", "'v ~ stim:theta' of v is not read"),
        ("hssm.HSSM(data, include=[dict(name='v', formula='v ~ 1 + age')])", "names 'age', which is no column"),
        ("hssm.HSSM(data, include=[dict(name='v', formula='v ~ 1', link='log')])", "the link of v is not read"),
        ("hssm.HSSM(data, lapse=bmb.Prior('Normal', mu=0.0, sigma=1.0))", "lapse is read as a Uniform prior"),
        ("hssm.load_data('y')", "the file has no model of HSSM"),
        ("(hssm.HSSM(data), hssm.HSSM(data))", "the file has 2 models of HSSM"),
    ],
)  # fmt: skip
def test_what_is_not_read_is_named(call: str, message: str, table: pd.DataFrame) -> None:
    with pytest.raises(TheoryError, match=message):
        read_hssm(script(call), table)


def test_the_command_reads_a_script_of_hssm(table: pd.DataFrame, tmp_path: Path) -> None:
    text = script("hssm.HSSM(data, include=[{'name': 'v', 'formula': 'v ~ 1 + stim'}])")
    assert is_hssm(text)
    (tmp_path / "model.py").write_text(text)
    table.to_csv(tmp_path / "responses.csv", index=False)
    done = CliRunner().invoke(
        app, ["theory", "import", str(tmp_path / "model.py"), "--responses", str(tmp_path / "responses.csv")]
    )  # fmt: skip
    assert done.exit_code == 0, done.output
    assert "'responses': ['rt', 'response']" in done.stdout
    assert "one call takes all vectors of parameters" in done.stderr
    assert "outliers have any of the 2 responses; HSSM counts their density for each" in done.stderr
