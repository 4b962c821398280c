"""Effects on parameters: of an age, a group, a condition and a covariate, and what is refused."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import lakatos
from lakatos.experiments.errors import TrialsError
from lakatos.flows.commands.main import app
from lakatos.flows.notebook.effects import LEAST_RESOLVED, flat_in_words, flat_parameters
from lakatos.theories.errors import TheoryError

SHOWN = [
    (soon, soon * more, days) for soon in (5, 20) for more in (1.1, 1.5, 2.2) for days in (7, 90)
]
N_PEOPLE = 40


def aging(slope: float, seed: int = 3) -> pd.DataFrame:
    """People who discount at a rate whose logarithm changes by ``slope`` a year; one age is not known."""
    rng, rows = np.random.default_rng(seed), []
    for person in range(N_PEOPLE):
        age = 20 + person
        rate = 0.02 * np.exp(slope * (person - N_PEOPLE / 2) + rng.normal(0, 0.4))
        for soon, late, wait in SHOWN * 2:
            lead = (soon - late / (1 + rate * wait)) / (0.1 * soon)
            later = rng.random() < 1 / (1 + np.exp(lead))
            known = "" if person == 7 else age
            rows.append((f"p{person}", soon, late, 0, wait, "later" if later else "sooner", known))
    names = ["subject", "ss_amount", "ll_amount", "ss_delay", "ll_delay", "choice", "age"]
    return pd.DataFrame(rows, columns=names)


def within(effect: float, seed: int = 5, n_people: int = 16) -> pd.DataFrame:
    """People whose rate changes by a factor under a drug; each goes through both conditions, in either order."""
    rng, rows = np.random.default_rng(seed), []
    for person in range(n_people):
        own = 0.02 * np.exp(rng.normal(0, 0.6))
        order = ["drug", "placebo"] if person % 2 else ["placebo", "drug"]
        for session in order:
            rate = own * np.exp((effect if session == "drug" else 0.0) + rng.normal(0, 0.1))
            for soon, late, wait in SHOWN * 2:
                lead = (soon - late / (1 + rate * wait)) / (0.1 * soon)
                later = rng.random() < 1 / (1 + np.exp(lead))
                choice = "later" if later else "sooner"
                rows.append((f"p{person}", soon, late, 0, wait, choice, session, rng.normal()))
    names = [
        "subject",
        "ss_amount",
        "ll_amount",
        "ss_delay",
        "ll_delay",
        "choice",
        "session",
        "pupil",
    ]
    return pd.DataFrame(rows, columns=names)


@pytest.fixture(scope="module")
def drugged() -> pd.DataFrame:
    return within(0.9)


@pytest.fixture(scope="module")
def found(drugged: pd.DataFrame) -> lakatos.EffectsOnParameters:
    return lakatos.effects(
        drugged, "hyperbolic", formula="~ session + (session | participant)", seed=1
    )


def test_a_condition_within_participants_is_found_with_its_size(
    found: lakatos.EffectsOnParameters,
) -> None:
    """The first level is the drug, under which the logarithm of the rate is higher by 0.9."""
    table = found.to_frame().set_index("parameter")
    rate = table.loc["discount_rate"]
    assert rate["effect"] == "session[placebo]"
    assert rate["varies"] == "within"
    assert rate["scale"] == "log"
    assert rate["low"] < -0.9 < rate["high"] < 0
    assert rate["p"] <= 0.002
    assert rate["with"] / rate["without"] == pytest.approx(rate["ratio"])
    assert rate["participants"] == 16
    assert "discount_rate" in found.verdict
    assert "is lower with session[placebo]" in found.verdict
    assert "treatment coding; the reference level is drug" in found.text
    assert "permutation test of the estimate in standard errors of the mixed model" in " ".join(
        found.text.split()
    )


def test_a_parameter_of_which_responses_say_little_is_said_to_have_narrow_intervals(
    found: lakatos.EffectsOnParameters,
) -> None:
    (theory,) = found.theories.values()
    names = [scale.name for scale in theory.posteriors.scales]
    resolved = theory.posteriors.reliability()[theory.used].mean(axis=0)
    flat = [name for name, share in zip(names, resolved, strict=True) if share < LEAST_RESOLVED]
    assert list(flat_parameters(theory)) == flat
    assert "discount_rate" not in flat
    spread = theory.posteriors.spread + 10 * theory.posteriors.covariance
    nothing = replace(theory, posteriors=replace(theory.posteriors, spread=spread))
    assert flat_in_words(nothing) == [
        f"† {name} is estimated poorly for single participants (reliability 0.00); its intervals can be too narrow."
        for name in names
    ]
    shown = " ".join(replace(found, theories={"hyperbolic": nothing}).text.split())
    assert "with effect (95%)" in shown
    assert "p is corrected for all parameters of a table" in shown
    assert all(f"{item.parameter}†" in shown for item in nothing.effects)


def test_table_and_test_agree_in_direction_whatever_the_effect(
    found: lakatos.EffectsOnParameters,
) -> None:
    table = found.to_frame()
    for column in ("statistic", "change"):
        assert (np.sign(table[column]) == np.sign(table["estimate"])).all()
    assert (table.low <= table.estimate).all()
    assert (table.estimate <= table.high).all()
    assert not (table.shown & (table.low <= 0) & (table.high >= 0)).any()


def test_estimates_have_a_row_for_each_participant_condition_and_parameter(
    found: lakatos.EffectsOnParameters,
) -> None:
    table = found.estimates
    assert len(table) == 16 * 2 * 3
    assert (table.n_responses == 24).all()
    assert ((table.low <= table.estimate) & (table.estimate <= table.high)).all()
    assert found.plot().axes
    (axes,) = found.plot_people("discount_rate").axes
    assert len(axes.lines) == 17  # one of each participant, and their mean
    with pytest.raises(TrialsError, match="no effects on 'rate' here; there are of discount_rate"):
        found.plot_people("rate")


def test_an_age_is_scaled_and_found(tmp_path: Path) -> None:
    """A year changes the logarithm of the rate by 0.12; one age is not known."""
    aged = lakatos.effects(aging(0.12), "hyperbolic", by="age")
    (rate,) = [
        item for item in aged.theories["hyperbolic"].effects if item.parameter == "discount_rate"
    ]
    sd = float(aged.theories["hyperbolic"].frame.age.std(ddof=0))
    assert rate.kind == "between"
    assert rate.label == "scale(age)"
    assert rate.interval[0] < 0.12 * sd < rate.interval[1]
    assert rate.is_shown
    assert rate.n_people == N_PEOPLE - 1
    assert any("24 responses do not count, because age is empty" in note for note in aged.notes)
    assert any(
        line.startswith("age: scaled; effects are for one standard deviation")
        for line in aged.codings
    )


@pytest.mark.slow
def test_a_number_that_varies_from_response_to_response_is_divided_into_bins(
    drugged: pd.DataFrame,
) -> None:
    found = lakatos.effects(drugged, "hyperbolic", formula="discount_rate ~ pupil")
    (effect,) = [item for item in found.theories["hyperbolic"].effects if item.kind == "within"]
    assert effect.label == "pupil"
    assert any("at most 4 bins" in note for note in found.notes)
    assert len(found.theories["hyperbolic"].frame) == 16 * 4


def test_older_names_go_on_working_with_a_line_that_gives_the_new_one(
    drugged: pd.DataFrame,
) -> None:
    few = drugged[drugged.subject.isin([f"p{n}" for n in range(6)])]
    with pytest.warns(UserWarning, match=r"now called effects: lakatos\.effects"):
        found = lakatos.by_group(few, "hyperbolic", by="session")
    assert found.formula == "~ session + (session | participant)"


def refused(table: pd.DataFrame, formula: str, **more: object) -> None:
    lakatos.effects(table, "hyperbolic", formula=formula, **more)  # type: ignore[arg-type]


def test_what_can_have_no_effect_is_refused_with_what_there_is(drugged: pd.DataFrame) -> None:
    with pytest.raises(
        TrialsError, match=r"there is no column 'sesion'; did you mean 'session'\? There is: "
    ):
        refused(drugged, "discount_rate ~ sesion")
    with pytest.raises(
        TheoryError, match="has no parameter 'rate'; it has discount_rate, sensitivity, lapse"
    ):
        refused(drugged, "rate ~ session")
    older = drugged.assign(group=np.where(drugged.subject.isin(["p1", "p2", "p3"]), "old", "young"))
    with pytest.raises(
        TrialsError, match="group does not vary within participants, so that it can have no random"
    ):
        refused(older, "discount_rate ~ group + (group | participant)")
    with pytest.raises(TrialsError, match="random effects of 'session'; they are of participants"):
        refused(drugged, "discount_rate ~ session + (1 | session)")
    with pytest.raises(TrialsError, match="subject_ is confounded with participants"):
        refused(drugged.assign(subject_=drugged.subject), "discount_rate ~ subject_")
    rare = drugged.assign(group=np.where(drugged.subject == "p1", "rare", "many"))
    with pytest.raises(
        TrialsError, match=r"group is 'rare' for 1 participant; .* \(there are many: 15, rare: 1\)"
    ):
        refused(rare, "discount_rate ~ group")
    with pytest.raises(TrialsError, match="session is drug in all responses"):
        refused(drugged[drugged.session == "drug"], "discount_rate ~ session")
    twice = drugged.assign(again=drugged.session + "!")
    with pytest.raises(TrialsError, match="again cannot be told apart beside session"):
        refused(twice, "discount_rate ~ session + again")
    with pytest.raises(TrialsError, match="say either a formula"):
        refused(drugged, "", by="")
    with pytest.raises(TrialsError, match="leaves out the intercept"):
        refused(drugged, "discount_rate ~ 0 + session")


@pytest.mark.slow
def test_conditions_in_one_order_for_everybody_are_said_to_be_confounded_with_it(
    drugged: pd.DataFrame,
) -> None:
    few = drugged[drugged.subject.isin([f"p{n}" for n in range(6)])]
    sorted_rows = few.sort_values(["subject", "session"], kind="stable")
    found = lakatos.effects(sorted_rows, "hyperbolic", by="session")
    assert any("come in one order, drug, then placebo" in note for note in found.notes)
    mixed = lakatos.effects(few, "hyperbolic", by="session")
    assert not any("come in one order" in note for note in mixed.notes)


@pytest.mark.slow
def test_the_command_prints_the_table_and_writes_figures(
    drugged: pd.DataFrame, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    drugged.to_csv("answers.csv", index=False)
    words = [
        "theory",
        "effects",
        "answers.csv",
        "hyperbolic",
        "--formula",
        "discount_rate ~ session",
    ]
    done = CliRunner().invoke(app, [*words, "--figure", "effects.svg"], env={"COLUMNS": "200"})
    assert done.exit_code == 0, (done.output, done.exception)
    assert "session[placebo]" in done.output
    assert (tmp_path / "effects.svg").exists()
    assert (tmp_path / "effects_people.svg").exists()


def test_power_of_what_cannot_be_planned_is_refused_with_what_there_is(
    drugged: pd.DataFrame,
) -> None:
    with pytest.raises(TheoryError, match="no parameter 'rate'; it has discount_rate"):
        lakatos.effects(drugged, "hyperbolic", by="session", parameters=["rate"], power=True)
    with pytest.raises(TrialsError, match=r"power is of one predictor, .* session and pupil"):
        lakatos.effects(drugged, "hyperbolic", formula="~ session + pupil", power=True)
    with pytest.raises(TrialsError, match="a study of 2 participants with 30 trials each"):
        lakatos.effects(drugged, "hyperbolic", by="session", people=[2], power=True)


def test_sum_coding_and_a_missing_cell_are_no_column_and_no_obstacle(drugged: pd.DataFrame) -> None:
    lacking = drugged[~((drugged.subject == "p3") & (drugged.session == "drug"))]
    found = lakatos.effects(lacking, "hyperbolic", formula="discount_rate ~ C(session,Sum)")
    (effect,) = found.theories["hyperbolic"].effects
    assert effect.label == "C(session, Sum)[drug]"
    assert effect.kind == "within"
    assert effect.estimate > 0
    assert found.codings == (
        "session: sum coding; each level is compared with the mean of drug, placebo.",
    )
