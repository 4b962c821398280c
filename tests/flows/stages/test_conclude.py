"""What a verdict may rest on."""

import pytest

from lakatos.experiments.record import SealedOpened
from lakatos.experiments.state import ExperimentsState
from lakatos.flows.run.state import RunState
from lakatos.theories.engine.record import SealedScored, TheoryChecked, UnitLogPredictives
from lakatos.theories.engine.scoreboard import LEAST_SEALED
from lakatos.theories.engine.scoring.score import ScoreEstimate
from lakatos.theories.engine.state import TheoriesState
from lakatos.theories.findings.verdicts.conclude import (
    ComparedLeader,
    RivalComparison,
    _nearest_of_all,
    compare_leader,
)
from lakatos.traces.step import Recorded

NAME = "a" * 64


@pytest.mark.parametrize(("n_trials", "decides"), [(LEAST_SEALED - 1, False), (LEAST_SEALED, True)])
def test_a_handful_of_sealed_trials_decides_nothing(n_trials: int, decides: bool) -> None:
    opened = SealedOpened(
        experiments=("e",), trials=(), n_trials=n_trials, n_responses=8 * n_trials
    )
    units = UnitLogPredictives(
        log_predictive=(-1.0,) * LEAST_SEALED, n_choices=(8.0,) * LEAST_SEALED
    )
    scored = SealedScored(
        theory=NAME, experiments=("e",), n_draws=4, scores=(units,), squared=((0.0,),)
    )
    state = RunState(
        experiments=ExperimentsState(sealed=Recorded(opened, NAME)),
        theories=TheoriesState(sealed_scores={NAME: Recorded(scored, NAME)}),
    )
    assert state.decisive_sealed == ({NAME: scored} if decides else {})
    assert RunState().decisive_sealed == {}


@pytest.mark.parametrize(("n_people", "decides"), [(LEAST_SEALED - 1, False), (LEAST_SEALED, True)])
def test_a_handful_of_sealed_participants_decides_nothing(n_people: int, decides: bool) -> None:
    """However many trials they were presented with: there would be no interval."""
    state, name = sealed_state(leader=(-5.0,) * n_people, other=(-6.0,) * n_people)
    assert set(state.decisive_sealed) == (set(name.values()) if decides else set())


def sealed_state(**gains: tuple[float, ...]) -> tuple[RunState, dict[str, str]]:
    """Theories with these log predictive probabilities of people's ten sealed answers each."""
    digests = {name: f"{place:064x}" for place, name in enumerate(gains)}
    opened = SealedOpened(experiments=("e",), trials=(), n_trials=20, n_responses=40)
    scored, checked = {}, {}
    for name, values in gains.items():
        digest = digests[name]
        units = UnitLogPredictives(log_predictive=values, n_choices=(10.0,) * len(values))
        sealed = SealedScored(
            theory=digest, experiments=("e",), n_draws=4, scores=(units,), squared=((0.0,),)
        )
        entered = TheoryChecked(
            theory=digest, passed=True, name=name, claim="", author="", parents=(), change="",
            cycle=1, n_parameters=1, checks=(), reason="",
        )  # fmt: skip
        scored[digest], checked[digest] = Recorded(sealed, digest), Recorded(entered, digest)
    state = RunState(
        experiments=ExperimentsState(sealed=Recorded(opened, NAME)),
        theories=TheoriesState(sealed_scores=scored, checked=checked),
    )
    return state, digests


GAINS = {
    "leader": (-5.0, -5.2, -4.9, -5.1, -5.05),
    "first": (-6.0, -6.4, -6.1, -6.3, -6.2),
    "found": (-5.1, -5.2, -5.1, -5.1, -5.125),
}


def test_the_rival_is_the_first_one_that_comes_closest_whatever_its_place() -> None:
    """Not the one that stands highest on other data, and not one that the campaign found."""
    state, name = sealed_state(**GAINS, near=(-5.4, -5.5, -5.3, -5.5, -5.425))
    first = [name["leader"], name["first"], name["near"]]
    found = compare_leader(state.theories, state.experiments, name["leader"], first)
    assert found.strictest is not None
    assert found.strictest.rival == name["near"]
    assert found.strictest.advantage.value == pytest.approx(0.0375, abs=1e-4)
    alone = compare_leader(state.theories, state.experiments, name["leader"], first[:1])
    assert (alone.strictest, alone.holds) == (None, False)


def test_with_too_few_participants_the_closest_rival_has_the_smallest_advantage() -> None:
    noisy, near = (
        RivalComparison(name, ScoreEstimate(value, error, 2, 1), "sealed trials")
        for name, value, error in (("noisy", 0.3, 2.0), ("near", 0.1, 0.001))
    )
    assert ComparedLeader(NAME, (noisy, near)).strictest == near


class TestNearestOfAll:
    """A verdict names the rival that is hardest to beat, whoever brought it."""

    def test_a_rival_that_the_campaign_found_is_named_where_it_is_closer(self) -> None:
        state, name = sealed_state(**GAINS)
        (sentence,) = _nearest_of_all(
            state.theories, state.experiments, name["leader"], name["first"]
        )
        assert sentence.startswith(
            "Of the other competing theories, found has the best score on the sealed trials; leader minus found is "
            "+0.0075 nats per choice (95% interval -0.0072 to +0.0222, Bonferroni-corrected for selection among 3 "
            "theories)."
        )

    def test_the_rival_told_already_is_not_told_again(self) -> None:
        state, name = sealed_state(**GAINS)
        assert (
            _nearest_of_all(state.theories, state.experiments, name["leader"], name["found"]) == []
        )

    def test_nothing_is_said_without_sealed_answers(self) -> None:
        assert _nearest_of_all(TheoriesState(), ExperimentsState(), NAME, NAME) == []
