"""Files of participants who learn: what is simulated on them, and how they are fitted."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import lakatos
from lakatos.experiments.errors import TrialsError
from lakatos.flows.notebook.fitted import forms_of
from lakatos.theories.engine.laboratory import Laboratory
from lakatos.theories.findings.differences import cell_posterior
from lakatos.theories.language.family import find_family


def bandit(
    n_people: int = 6, n_steps: int = 40, *, turned: bool = False, full: bool = False
) -> pd.DataFrame:
    """Responses of learners to two options, of which the first pays more often; ``full``: with unchosen outcomes."""
    rng = np.random.default_rng(4)
    rows = []
    shared = rng.random((n_steps, 2)) < (0.8, 0.2)
    for person in range(n_people):
        value = np.full(2, 0.5)
        for step in range(n_steps):
            chosen = int(rng.random() < 1 / (1 + np.exp(-4 * (value[1] - value[0]))))
            better = person % 2 if turned else 0
            paid = float(rng.random() < (0.9 if chosen == better else 0.1))
            paid = float(shared[step, chosen]) if full else paid
            value[chosen] += 0.4 * (paid - value[chosen])
            seen = (float(shared[step, 0]), float(shared[step, 1]))
            rows.append((f"vp{person}", step + 1, "AB"[chosen], paid, *seen))
    names = ["subj_id", "trial", "choice", "reward", "pays_a", "pays_b"]
    return pd.DataFrame(rows, columns=names).drop(columns=[] if full else names[-2:])


FULL = {"stimulus": {"options": 2, "payoff": ["pays_a", "pays_b"]}}


def test_simulated_participants_of_a_file_receive_rewards(tmp_path) -> None:
    answers = lakatos.adopt(bandit(), "learning")
    found = lakatos.fit(answers, "rescorla_wagner", simulate=tmp_path / "new.csv")
    table = pd.read_csv(tmp_path / "new.csv")
    assert list(table) == list(bandit())
    by_option = table.groupby("choice").reward.mean()
    assert by_option["A"] > 0.6
    assert by_option["B"] < 0.4
    assert not [name for name in table if name.startswith("payoff")]
    assert any("estimated from the file" in note for note in found.notes)


@pytest.mark.slow
def test_a_file_whose_rates_differ_between_participants_is_not_simulated(tmp_path) -> None:
    answers = lakatos.adopt(bandit(10, 60, turned=True), "learning")
    with pytest.raises(TrialsError, match=r"differ\s+between participants.*payoff"):
        lakatos.fit(answers, "rescorla_wagner", simulate=tmp_path / "new.csv")
    assert not (tmp_path / "new.csv").exists()


def test_unchosen_outcomes_of_a_file_are_its_schedule() -> None:
    table = bandit(full=True)
    (known,) = lakatos.adopt(table, "learning", FULL).trials
    assert (known.stimuli["payoff"][:, 0] == table.loc[:39, ["pays_a", "pays_b"]].to_numpy()).all()
    with pytest.raises(TrialsError, match="one for each option"):
        lakatos.adopt(table, "learning", {"stimulus": {"options": 2, "payoff": ["pays_a"]}})
    table.loc[3, "reward"] = 1 - table.reward[3]
    with pytest.raises(TrialsError, match="not what payoff says"):
        lakatos.adopt(table, "learning", FULL)


def test_theories_of_two_stages_do_not_compete_on_a_file_with_one() -> None:
    answers = lakatos.adopt(bandit(), "learning")
    known = find_family(answers.domain)
    assert {"hybrid", "model_based", "model_free"} <= set(known.seeds)
    assert not {"hybrid", "model_based", "model_free"} & set(known.without(answers.closed).seeds)
    assert {"rescorla_wagner", "perseveration"} <= set(known.without(answers.closed).seeds)
    assert any("planning over two stages" in note for note in answers.notes)
    table = bandit().assign(
        state=lambda own: own.choice.map({"A": "x", "B": "y"}), then=lambda own: own.choice
    )
    two = {"stimulus": {"options": 2, "second_choice": "then", "state": "state"}}
    assert "second_stage" not in lakatos.adopt(table, "learning", two).closed


def test_the_frame_and_the_table_of_participants_are_named_as_in_the_file() -> None:
    answers = lakatos.adopt(bandit(), "learning")
    assert set(answers.frame.participant_id) == {f"vp{place}" for place in range(6)}
    fitted = lakatos.fit(answers, "rescorla_wagner", each=True)
    assert list(fitted.to_frame().participant) == [f"vp{place}" for place in range(6)]
    with_recovery = replace(fitted, recovery=pd.DataFrame({"parameter": ["rate"]}))
    assert with_recovery.to_frame() is fitted.participants
    assert "recovery:" in with_recovery.text


def test_logarithmic_axes_have_plain_numbers_as_labels() -> None:
    answers = lakatos.adopt(bandit(), "learning")
    figure = lakatos.fit(answers, "rescorla_wagner", each=True).plot()
    figure.canvas.draw()
    axes = next(axes for axes in figure.axes if axes.get_xscale() == "log")
    shown = [label.get_text() for label in axes.get_xticklabels(which="both")]
    assert [float(text) for text in shown if text]


def test_corrections_and_advice_are_the_same_for_describe_and_adopt() -> None:
    table = bandit()
    said = {"stimulus": {"options": 2, "block_start": "first"}}
    told = lakatos.describe(table.assign(first=table.trial == 1), "learning", said)
    assert told.mapping["stimulus"]["block_start"] == "first"
    roles = told.columns.set_index("column")["is read as"]
    assert roles["first"] == "block start"
    with pytest.raises(TrialsError, match=r'columns=\{"participant"') as refused:
        lakatos.adopt(table, "learning", {"response": "subj_id", "stimulus": {"options": 2}})
    assert "--column" not in str(refused.value)
    assert "bad_rows" not in str(refused.value)  # all rows are bad


@pytest.mark.slow
def test_a_theory_from_a_file_is_called_by_its_title(tmp_path) -> None:
    answers = lakatos.adopt(bandit(), "learning")
    program = find_family(answers.domain).program("rescorla_wagner")
    mine = tmp_path / "decay.py"
    mine.write_text(program.source)
    with Laboratory(answers.domain, 1) as laboratory:
        assert list(forms_of([str(mine), "forgetting"], answers, laboratory)) == [
            "Rescorla-Wagner",
            "forgetting",
        ]


@pytest.mark.slow
def test_participants_with_few_effective_draws_have_a_flag_and_no_interval(monkeypatch) -> None:
    monkeypatch.setattr(cell_posterior, "FEW_EFFECTIVE", 10**9)
    fitted = lakatos.fit(
        lakatos.adopt(bandit(), "learning"), "rescorla_wagner", each=True, recovery=True
    )
    told = fitted.participants
    assert told["flags"].str.contains("few effective draws").all()
    assert told[["rate_mean", "rate_low", "rate_high"]].isna().all(axis=None)
    assert told[["rate_ml", "rate_shrunken"]].notna().all(axis=None)
    assert any("few effective draws for 6 of 6 rows" in note for note in fitted.notes)
    assert fitted.recovery is not None
    assert fitted.recovery.covered.isna().all()


def test_the_claim_of_a_fitted_theory_leaves_out_what_no_presented_trial_has() -> None:
    n = 24
    sure = np.arange(n) % 6 + 4
    table = pd.DataFrame(
        {
            "subject": np.repeat(["P1", "P2"], n // 2), "trial": np.tile(np.arange(n // 2), 2),
            "a_x": sure, "a_p": 1.0, "b_x1": 20, "b_p1": 0.5, "b_x2": 0, "b_p2": 0.5,
            "choice": np.arange(n) % 2,
        }
    )  # fmt: skip
    even = lakatos.adopt(table, "risky")
    rare = lakatos.adopt(table.assign(b_p1=0.1, b_p2=0.9), "risky")
    with Laboratory(even.domain, 1) as laboratory:
        (halves,) = forms_of(["cumulative_prospect_theory"], even, laboratory).values()
        (tenths,) = forms_of(["cumulative_prospect_theory"], rare, laboratory).values()
    assert "rare_outcome < 0.36" in halves.lacking
    assert "rare_outcome < 0.36" not in tenths.lacking
