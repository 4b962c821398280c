"""AutoRA's cycle with our theorist and our experimentalist in it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from lakatos.experiments.errors import TrialsError
from lakatos.flows.notebook.autora import TheorySearch, sample


def conditions() -> pd.DataFrame:
    """Money now or more money later; with no delay everybody takes more."""
    rows = [(x, x * r, t, 0) for x in (5, 20) for r in (1.1, 1.5, 2.2) for t in (0, 7, 30, 90)]
    return pd.DataFrame(rows, columns=["ss_amount", "ll_amount", "ll_days", "ss_days"])


def asked(chosen: pd.DataFrame, rng: np.random.Generator, n_people: int = 12) -> pd.DataFrame:
    """Answers of people who discount hyperbolically."""
    table = pd.concat([chosen] * n_people, ignore_index=True)
    later = table.ll_amount / (1 + np.exp(rng.normal(-4, 0.3, len(table))) * table.ll_days)
    p = 1 / (1 + np.exp((table.ss_amount - later) / (0.1 * table.ss_amount)))
    return table.assign(choice=(rng.random(len(table)) < p).astype(int))


class SecondOption:
    """A model of another maker that always says the same."""

    def __init__(self, share: float) -> None:
        self.share = share

    def predict(self, table: pd.DataFrame) -> Any:
        return np.full((len(table), 1), self.share)


class RatioOfAmounts:
    """Another one, which looks at amounts only."""

    def predict(self, table: pd.DataFrame) -> Any:
        return (table.ll_amount > 1.4 * table.ss_amount).to_numpy() * 0.8 + 0.1


def test_conditions_are_chosen_where_models_part() -> None:
    table = conditions()
    found = sample(table, [SecondOption(0.9), RatioOfAmounts()], 5, random_state=1)
    assert len(found) == 5
    assert list(found.columns) == list(table.columns)
    assert (found.ll_amount < 1.4 * found.ss_amount).all()  # elsewhere both say 0.9


def test_models_that_cannot_be_compared_are_refused() -> None:
    with pytest.raises(TrialsError, match="1 model is not enough"):
        sample(conditions(), [SecondOption(0.5)])
    with pytest.raises(TrialsError, match=r"SecondOption predicts .* no probabilities"):
        sample(conditions(), [SecondOption(0.5), SecondOption(3.0)])
    with pytest.raises(TrialsError, match="observations have 2 columns"):
        TheorySearch().fit(conditions(), conditions()[["ss_amount", "ll_amount"]])


@pytest.mark.slow
def test_shares_of_choices_are_answers_too() -> None:
    table = asked(conditions(), np.random.default_rng(2))
    names = list(conditions().columns)
    shares = table.groupby(names, as_index=False).choice.mean()
    search = TheorySearch(domain="intertemporal", candidates=2, answers_per_row=12)
    found = search.fit(shares[names], shares[["choice"]])
    assert found.predict(shares[names]).shape == (len(shares), 1)
    assert np.allclose(found.predict_proba(shares[names]).sum(axis=1), 1)


@pytest.mark.slow
def test_a_search_runs_inside_a_cycle_of_autora() -> None:
    state = pytest.importorskip("autora.state", reason="autora-core is not installed")
    variable = pytest.importorskip("autora.variable")
    rng = np.random.default_rng(1)
    pool = conditions()
    variables = variable.VariableCollection(
        independent_variables=[variable.Variable(name) for name in pool.columns],
        dependent_variables=[variable.Variable("choice")],
    )
    ask = state.experiment_runner_on_state(lambda chosen: asked(chosen, rng))
    theorist = state.estimator_on_state(TheorySearch(domain="intertemporal", candidates=8))

    def rivals(models: list[Any]) -> pd.DataFrame:
        return sample(pool, [models[-1], RatioOfAmounts()], 6)

    experimentalist = state.on_state(rivals, output=["conditions"])
    now = state.StandardState(variables=variables, conditions=pool.sample(8, random_state=1))
    for _ in range(2):
        now = experimentalist(theorist(ask(now)))
    assert len(now.models) == 2
    assert len(now.experiment_data) == 12 * (8 + 6)
    assert len(now.conditions) == 6
    later = now.model.predict(pd.DataFrame({"ss_amount": [20, 20], "ll_amount": [44, 44],
                                            "ll_days": [0, 3000], "ss_days": [0, 0]}))  # fmt: skip
    assert later[0, 0] > 0.7 > 0.5 > later[1, 0]
    assert "People" in now.model.theory_.claim


@pytest.mark.parametrize("name", ["choose_A", "choose_sooner", "share_first"])
@pytest.mark.parametrize("n_answers", [0, 12])
def test_observations_called_by_the_first_option_are_refused_with_both_readings(
    name: str, n_answers: int
) -> None:
    values = np.tile([1.0, 0.0], len(conditions()) // 2)
    search = TheorySearch(domain="intertemporal", candidates=2, answers_per_row=n_answers)
    with pytest.raises(
        TrialsError, match=r"If they are of the first, give 1 minus .*; if they are of the second"
    ):
        search.fit(conditions(), pd.DataFrame({name: values}))


@pytest.mark.parametrize(("name", "said"), [("choose_B", {}), ("choose_A", {"0": 1, "1": 0})])
def test_observations_whose_orientation_is_clear_are_read(name: str, said: dict[str, int]) -> None:
    values = np.tile([1, 0], len(conditions()) // 2)
    search = TheorySearch(domain="intertemporal", columns={"responses": said} if said else None)
    answers = search._answers(conditions(), pd.DataFrame({name: values}))
    (trials,) = answers.trials
    assert trials.counts.sum(axis=(0, 1)).tolist() == [12, 12]
    first = trials.counts[0, 0]
    assert first.tolist() == ([1, 0] if said else [0, 1])
