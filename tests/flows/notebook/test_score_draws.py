"""`score` raises draws where their number could decide which theory leads, as campaigns do."""

from __future__ import annotations

import numpy as np
import pytest

from lakatos.domains import DOMAINS, FAMILIES
from lakatos.flows.notebook.theory import decided_by_chance, scores_with_enough_draws
from lakatos.theories.engine.laboratory import Laboratory
from lakatos.theories.engine.scoring import draws
from lakatos.theories.engine.scoring.draws import could_change_order, most_draws
from lakatos.theories.engine.scoring.score import ScoreEstimate, UnitScores
from lakatos.theories.language.theory import read_program


def scores(*log_predictive: float, chance: float = 0.0) -> list[UnitScores]:
    """Of participants with one choice each, in one experiment."""
    return [UnitScores(np.array(log_predictive), np.ones(len(log_predictive)), chance)]


def test_draws_are_raised_for_the_leader_and_for_those_that_chance_could_put_ahead() -> None:
    # The difference is 0.1 with a standard error of 0.1; its Monte Carlo error is 0.03 or 0.02.
    leader = scores(-0.5, -0.5, -0.5)
    close = (-0.5, -0.5, -0.8)
    behind = scores(-1.5, -1.5, -1.8, chance=0.03)
    assert decided_by_chance({"a": leader, "b": scores(*close, chance=0.03)}) == ["a", "b"]
    assert decided_by_chance({"a": leader, "b": scores(*close, chance=0.02)}) == []
    assert decided_by_chance({"a": leader, "b": scores(*close, chance=0.03), "c": behind}) == [
        "a",
        "b",
    ]
    assert decided_by_chance({"a": leader}) == []
    assert decided_by_chance({}) == []


def test_scores_are_those_of_the_most_draws_where_chance_is_never_small_enough(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    domain, rng = DOMAINS["intertemporal"], np.random.default_rng(1)
    family = FAMILIES["intertemporal"]
    fitted = {
        name: read_program(family.program(name)) for name in ("hyperbolic", "exponential", "random")
    }
    with Laboratory(domain, 1) as laboratory:
        stimuli = domain.candidates({}, rng, 6)
        trials = laboratory.simulate([fitted["hyperbolic"]], stimuli, 12, rng, n_draws=64)
        usual = laboratory.scores_of([fitted["hyperbolic"]], trials, 512)
        more = laboratory.scores_of([fitted["hyperbolic"]], trials, 2048)
        monkeypatch.setattr(draws, "LARGEST_CHANCE", 0.0)
        monkeypatch.setattr(draws, "CLEAR", np.inf)
        monkeypatch.setattr(draws, "MOST_DRAWS", 2047)
        few = scores_with_enough_draws(laboratory, fitted, trials)
        monkeypatch.setattr(draws, "MOST_DRAWS", 2048)
        many = scores_with_enough_draws(laboratory, fitted, trials)
    assert few["hyperbolic"][0].log_predictive == pytest.approx(usual[0][0].left_out.log_predictive)
    assert many["hyperbolic"][0].log_predictive == pytest.approx(more[0][0].left_out.log_predictive)
    assert few["hyperbolic"][0].log_predictive != pytest.approx(
        many["hyperbolic"][0].log_predictive, abs=1e-12
    )


@pytest.mark.parametrize(
    ("value", "chance", "could"),
    [(0.39, 0.026, True), (0.39, 0.025, False), (0.4, 1.0, False), (-0.39, 0.026, True)],
)
def test_an_order_could_change_within_four_standard_errors_by_a_quarter_of_one(
    value: float, chance: float, could: bool
) -> None:
    assert could_change_order(ScoreEstimate(value, 0.1), chance) is could


def test_so_many_are_drawn_at_most_that_a_response_stays_small() -> None:
    assert most_draws(100, 100, walks=False) == 8192
    assert most_draws(2**12, 100, walks=False) == 2**10
    assert most_draws(100, 2**14, walks=False) == 2**10
    assert most_draws(100, 2**10, walks=False, person_draws=2**20) == 2**10
    assert most_draws(100, 100, walks=True) == 1024
