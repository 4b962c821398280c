"""The error beyond chance: 0 on average for the truth, the squared distance otherwise, and an interval that holds."""

import numpy as np
import pytest

from lakatos.experiments.task import Stimuli, Trials
from lakatos.theories.engine.scoring.exactness import error_beyond_chance

N_PEOPLE, N_TRIALS, N_ASKED = 12, 10, 2
SHARES = np.linspace(0.1, 0.9, N_TRIALS)
"""Of the second option, averaged over everybody who might be asked."""


def ask(rng, *, n_people=N_PEOPLE, pooled=False) -> Trials:
    """Answers of people who differ, and who choose the second option with these shares on average."""
    lean = rng.uniform(-1, 1, (n_people, 1)) * np.minimum(SHARES, 1 - SHARES)
    chosen = rng.binomial(N_ASKED, SHARES + lean)
    person, trial = (axis.ravel() for axis in np.indices(chosen.shape))
    return Trials(
        experiment="e",
        stimuli=Stimuli({"x": np.arange(float(N_TRIALS))}),
        participant=np.tile(person * (not pooled), 2),
        trial=np.tile(trial, 2),
        response=np.repeat([0, 1], person.size),
        count=np.concatenate([(N_ASKED - chosen).ravel(), chosen.ravel()]),
        pooled=pooled,
    )


@pytest.mark.statistical
@pytest.mark.parametrize("bias", [0.0, 0.05])
def test_the_estimate_is_right_on_average_and_its_interval_holds_the_truth(bias: float) -> None:
    rng = np.random.default_rng(1)
    found = [error_beyond_chance(ask(rng), SHARES[:, None] + bias) for _ in range(300)]
    values = np.array([item.value for item in found if item is not None])
    held = [item.interval[0] <= bias**2 <= item.interval[1] for item in found if item is not None]
    assert abs(values.mean() - bias**2) < 4 * values.std(ddof=1) / np.sqrt(len(values))
    assert np.mean(held) > 0.95 - 4 * np.sqrt(0.05 * 0.95 / len(held))


def test_a_person_who_missed_trials_counts_on_the_others_only() -> None:
    trials = ask(np.random.default_rng(2))
    told = SHARES[:, None] + 0.05
    kept = (trials.participant > 0) | (trials.trial < 5)
    fewer = Trials(
        experiment="e", stimuli=trials.stimuli, participant=trials.participant[kept],
        trial=trials.trial[kept], response=trials.response[kept], count=trials.count[kept],
    )  # fmt: skip
    shares = fewer.counts[..., 1] / np.maximum(fewer.counts.sum(axis=2), 1)
    means = []
    for trial in range(N_TRIALS):
        there = fewer.counts[:, trial].sum(axis=1) > 0
        away = shares[there, trial] - told[trial]
        products = np.outer(away, away)
        means.append(products[~np.eye(len(away), dtype=bool)].mean())
    found = error_beyond_chance(fewer, told)
    assert found is not None
    assert found.value == pytest.approx(np.mean(means), abs=1e-12)


def test_pooled_answers_and_very_few_people_say_nothing() -> None:
    rng = np.random.default_rng(3)
    assert error_beyond_chance(ask(rng, pooled=True), SHARES[:, None]) is None
    assert error_beyond_chance(ask(rng, n_people=4), SHARES[:, None]) is None
