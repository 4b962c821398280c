"""Answers and theories that are not as they should be, where answers are outcomes of a grid."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray

from lakatos.domains import DOMAINS, FAMILIES
from lakatos.domains.attention.task import SCALE, conflict_trials
from lakatos.domains.estimation.task import SCALE as HEIGHTS
from lakatos.domains.estimation.task import asked
from lakatos.domains.kit.outcomes import CENSORED_NORMAL, outcome_helpers
from lakatos.experiments.task import Trials
from lakatos.theories.engine.checks.check import load_theory
from lakatos.theories.engine.laboratory import Laboratory
from lakatos.theories.engine.sandbox.client import Sandbox
from lakatos.theories.engine.scoring.score import paired_difference
from lakatos.theories.errors import TheoryProbabilityError
from lakatos.theories.language.theory import Theory, TheoryProgram, read_program

ATTENTION = DOMAINS["attention"]
SIDES = [-1.0, 1.0] * 10
TRIALS = conflict_trials({"congruence": [-1.0, -1.0, 1.0, 1.0] * 5, "side": SIDES})
UNEVEN = f'''"""Uneven: people answer in no time in particular."""
PARAMETERS = {{"share": {{"prior": "uniform", "low": 0.2, "high": 0.8}}}}

def choose(parameters, trials, xp):
    even = xp.ones({SCALE.n_outcomes}) / {SCALE.n_outcomes}
    flat = parameters["share"] + 0.0 * trials["congruence"]
    return flat[..., None] * even
'''


@pytest.fixture(scope="module")
def laboratory() -> Iterator[Laboratory]:
    with Laboratory(ATTENTION, 1) as opened:
        yield opened


def test_a_theory_whose_outcomes_do_not_sum_to_one_is_refused_with_the_place() -> None:
    with (
        Sandbox() as sandbox,
        pytest.raises(
            TheoryProbabilityError,
            match=r"no probabilities; the first is 40 numbers from .* with the sum 0\.5 at .* trial 0",
        ),
    ):
        load_theory(TheoryProgram(UNEVEN, "somebody"), ATTENTION, sandbox)


def pressing(laboratory: Laboratory, n_one_key: int) -> tuple[Theory, Trials]:
    """Twenty people of a diffusion, of whom some press the left key after a quarter of a second, whatever they see."""
    form = read_program(FAMILIES["attention"].program("steady"))
    people = {
        "rate": form.priors["rate"].narrowed(np.log(3.0), 0.2),
        "bound": form.priors["bound"].narrowed(np.log(1.2), 0.1),
        "delay": form.priors["delay"].narrowed(0.3, 0.03),
        "delay_spread": form.priors["delay_spread"].narrowed(np.log(0.03), 0.1),
        "lapse": form.priors["lapse"].narrowed(0.01, 0.01),
    }
    rng = np.random.default_rng(2)
    (answered,) = laboratory.simulate(
        [form.with_people(people)], TRIALS, 20, rng, n_draws=64, repetitions=2
    )
    left: NDArray[np.int64] = (np.array(SIDES)[answered.trial] != -1).astype(np.int64)
    outcome = SCALE.outcomes_of([0.25] * len(left), left.tolist())
    response = np.where(answered.participant < n_one_key, outcome, answered.response)
    return form, replace(answered, response=response)


@pytest.mark.slow
def test_people_who_always_press_one_key_are_learned_as_quick_guessers_beside_the_others(
    laboratory: Laboratory,
) -> None:
    scores, drifts = [], []
    for n_one_key in (4, 0):
        form, trials = pressing(laboratory, n_one_key)
        (people,) = laboratory.people_of([form], [{}], [trials])
        assert isinstance(people, dict)
        (scored,) = laboratory.scores_of([form.with_people(people)], [trials], 256)
        assert not isinstance(scored, Exception)
        scores.append(scored[0].left_out.per_choice)
        drifts.append(float(np.exp(people["rate"].center)))
    with_them, without = scores
    assert np.isfinite(with_them).all()
    # they are right half of the time in one bin of time, which no fit can tell from guessing quickly
    assert (with_them[:4] > -np.log(SCALE.n_outcomes)).all()
    # who looks is predicted nearly as well, and has the drift that was simulated
    assert (without[4:] - with_them[4:]).mean() < 0.1
    assert drifts[0] == pytest.approx(3.0, rel=0.3)
    assert drifts[1] == pytest.approx(3.0, rel=0.2)


HEAPED = '''
def heaped(p, values, step, share, xp):
    """Some answers are rounded to multiples of a step: their probability moves to the outcome that is nearest."""
    rounded = xp.round(values / step) * step
    nearest = xp.abs(values[None, :] - rounded[:, None]).argmin(axis=1)
    moved = 1.0 * (nearest[:, None] == xp.arange(len(values)))
    return p + share[..., None] * (xp.matmul(p, moved) - p)
'''
ROUNDED = f'''"""Rounders: people say what the second point shows, some of them in steps of a half."""
{outcome_helpers(CENSORED_NORMAL, HEAPED)}
PARAMETERS = {{
    "sd": {{"prior": "log_uniform", "low": 0.05, "high": 1.0}},
    "rounded": {{"prior": "uniform", "low": 0.0, "high": 1.0}},
}}

def choose(parameters, trials, xp):
    edges, values = xp.array({list(HEIGHTS.edges)}), xp.array({list(HEIGHTS.places)})
    mean = 0.0 * parameters["sd"] + trials["points_y"][:, 1]
    p = censored_normal(mean, parameters["sd"] + 0.0 * mean, edges, xp)
    return heaped(p, values, 0.5, parameters["rounded"] + 0.0 * mean, xp)
'''
EXACT = ROUNDED.replace('parameters["rounded"] + 0.0 * mean', "0.0 * mean")


@pytest.mark.slow
def test_how_many_answers_are_rounded_is_learned_and_who_ignores_it_predicts_worse() -> None:
    heights = np.linspace(-0.9, 0.9, 30)
    shown = asked([[(-0.5, 0.0), (0.5, float(height))] for height in heights], [0.6] * 30)
    form = read_program(TheoryProgram(ROUNDED, "somebody"))
    exact = read_program(TheoryProgram(EXACT, "somebody"))
    people = {
        "sd": form.priors["sd"].narrowed(np.log(0.15), 0.2),
        "rounded": form.priors["rounded"].narrowed(0.6, 0.1),
    }
    with Laboratory(DOMAINS["estimation"], 1) as laboratory:
        rng = np.random.default_rng(5)
        (answered,) = laboratory.simulate([form.with_people(people)], shown, 25, rng, n_draws=64)
        learned, plain = laboratory.people_of([form, exact], [{}, {}], [answered])
        assert isinstance(learned, dict)
        assert isinstance(plain, dict)
        assert learned["rounded"].center == pytest.approx(0.6, abs=0.1)
        theories = [form.with_people(learned), exact.with_people(plain)]
        with_heaps, without = laboratory.scores_of(theories, [answered], 256)
    assert not isinstance(with_heaps, Exception)
    assert not isinstance(without, Exception)
    difference = paired_difference([with_heaps[0].left_out], [without[0].left_out])
    assert difference.interval[0] > 0.1
