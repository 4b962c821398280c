"""Models of other laboratories are compared with published theories on the same responses."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import minimize
from scipy.special import expit

from lakatos.flows.errors import UnusableError
from lakatos.flows.notebook.peers import compare_with
from tests.conftest import require

STUDIES = Path(__file__).resolve().parent.parent.parent.parent / "studies"
CONFIG = """
task: {name: later}
data:
  path: data/later.csv
  id_column: participant
  input_columns: [choice, amount_soon, amount_late, delay_soon_days, delay_late_days]
  splits: {eval: "[2:6]"}
"""
MODEL = '''
def cognitive_model1(choice, amount_soon, amount_late, delay_soon_days, delay_late_days, parameters):
    """Exponential discounting.

    - rate: [0, 1]
    - beta: [0, 10]
    """
    rate, beta = parameters
    later = amount_late * np.exp(-rate * delay_late_days)
    sooner = amount_soon * np.exp(-rate * delay_soon_days)
    z = beta * (later - sooner)
    return np.logaddexp(0.0, np.where(choice == 1, -z, z)).sum()


def cognitive_model2(choice, parameters):
    """Broken: [0, 1]

    - a: [0, 1]
    """
    a, = parameters
    return np.nan * a
'''


@pytest.fixture
def gecco(tmp_path: Path) -> Path:
    """Files in the places of GeCCo's: two models of responses to delayed amounts."""
    for name in ("config", "data", "results/later/bics", "results/later/models"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "config/later.yaml").write_text(CONFIG)
    (tmp_path / "config/other.yaml").write_text(CONFIG.replace("data/later", "nowhere/later"))
    (tmp_path / "config/outer.yaml").write_text(CONFIG.replace("data/later", "../later"))
    table = pd.read_csv(STUDIES / "responses.csv")
    table = table[table["participant"] <= 8]
    table["choice"] = (table["choice"] == "late").astype(int)
    table.to_csv(tmp_path / "data/later.csv", index=False)
    (tmp_path / "results/later/models/iter0.py").write_text(MODEL)
    stated = [
        {
            "function_name": f"cognitive_model{number}",
            "metric_name": "BIC",
            "metric_value": 40.0 + number,
        }
        for number in (1, 2)
    ]
    (tmp_path / "results/later/bics/iter0.json").write_text(json.dumps(stated))
    return tmp_path


def bic_by_hand(table: pd.DataFrame) -> float:
    """Mean BIC of exponential discounting, fitted here from many starts."""
    found = []
    for _, own in table.groupby("participant"):
        late, soon = (
            own[[f"amount_{end}", f"delay_{end}_days"]].to_numpy() for end in ("late", "soon")
        )

        def value(
            at: np.ndarray,
            late: np.ndarray = late,
            soon: np.ndarray = soon,
            own: pd.DataFrame = own,
        ) -> float:
            z = at[1] * (
                late[:, 0] * np.exp(-at[0] * late[:, 1]) - soon[:, 0] * np.exp(-at[0] * soon[:, 1])
            )
            return float(
                -np.log(np.maximum(expit(np.where(own["choice"] == 1, z, -z)), 1e-300)).sum()
            )

        starts = [(rate, beta) for rate in (0.001, 0.01, 0.05, 0.3) for beta in (0.1, 0.5, 2, 8)]
        bounds = [(0, 1), (0, 10)]
        least = min(
            minimize(value, start, method="Nelder-Mead", bounds=bounds).fun for start in starts
        )
        found.append(2 * np.log(len(own)) + 2 * least)
    return float(np.mean(found))


def test_models_stand_beside_published_theories_with_the_peer_s_own_figure(gecco: Path) -> None:
    found = compare_with("gecco", gecco).set_index("model")
    theirs = found.loc["later/iter0/cognitive_model1"]
    table = pd.read_csv(gecco / "data/later.csv")
    chosen = table[table["participant"].isin([3, 4, 5, 6])]  # the third up to the sixth
    assert (theirs["n_participants"], theirs["n_responses"]) == (4, len(chosen))
    assert (theirs["published"], theirs["note"]) == (41.0, "")
    assert theirs["bic"] == pytest.approx(bic_by_hand(chosen), abs=0.02)
    broken = found.loc["later/iter0/cognitive_model2"]
    assert "returned nan for participant" in broken["refused"]
    assert np.isnan(broken["score"])
    ours = found[found["by"] == "lakatos"]
    assert {"hyperbolic", "exponential"} <= set(ours.index)
    exponential = ours.loc["exponential"]
    assert theirs["score_low"] < exponential["score"] < theirs["score_high"]


@pytest.mark.slow
def test_columns_that_the_peer_gave_in_another_order_are_named(gecco: Path) -> None:
    config = gecco / "config/later.yaml"
    ending = CONFIG.replace("[choice, amount_soon,", "[amount_soon,").replace(
        "late_days]", "late_days, choice]"
    )
    config.write_text(ending)
    found = compare_with("gecco", gecco, model=["model1"]).set_index("model")
    note = found.loc["later/iter0/cognitive_model1", "note"]
    assert (
        note
        == "the peer gave choice the column amount_soon and not choice, so its figure is of other responses"
    )


def test_a_folder_without_the_peer_s_files_and_unknown_models_are_refused(
    gecco: Path, tmp_path: Path
) -> None:
    for peer in ("hbayesdm", "autocog"):
        with pytest.raises(UnusableError, match=f"holds no models of {peer}"):
            compare_with(peer, gecco)  # type: ignore[arg-type]
    with pytest.raises(
        UnusableError, match="no such model; there are later/iter0/cognitive_model1"
    ):
        compare_with("gecco", gecco, model=["none"])


@pytest.mark.parametrize(
    ("kept", "written", "message"),
    [
        ("path: data/", "path: ../data/", "holds no models of gecco"),
        ("name: later", "called: later", "is not as the peer publishes it"),
    ],
)
def test_a_description_that_leads_elsewhere_or_lacks_a_part_is_refused(
    gecco: Path, kept: str, written: str, message: str
) -> None:
    config = gecco / "config/later.yaml"
    text = config.read_text()
    assert kept in text
    config.write_text(text.replace(kept, written))
    with pytest.raises(UnusableError, match=message):
        compare_with("gecco", gecco)


@pytest.mark.slow
def test_models_of_hbayesdm_are_compared_where_its_files_are() -> None:
    place = STUDIES.parent.parent / "hBayesDM"
    require(place.is_dir(), f"no copy of hBayesDM in {place}")
    found = compare_with("hbayesdm", place, model=["dd_hyperbolic", "dd_exp"])
    scores = found[found["by"] == "hbayesdm"].set_index("model")["score"]
    assert scores["dd_hyperbolic"] > -np.log(2)
