"""Equations of AutoRA's synthetic experiments (autora-synthetic 2.2.0), written anew with their default constants.

    python benchmarks/run.py theories/autora_truths  # holds each against the package, where it is installed

Each takes conditions in the package's own columns and units, and returns what the package calls the observation.
`benchmarks.theories.autora_equations` lets simulated people follow them. NumPy alone is needed here.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
TEMPERATURE = 0.1
"""Of choices between lotteries."""


def _logistic(lead: Array) -> Array:
    return np.asarray(1 / (1 + np.exp(-lead)))


def expected_value(conditions: Array) -> Array:
    """P(choose A) of two lotteries, columns V_A, P_A, V_B, P_B in dollars; value is half of the amount."""
    v_a, p_a, v_b, p_b = conditions.T
    return _logistic(0.5 * (v_a * p_a - v_b * p_b) / TEMPERATURE)


def prospect(conditions: Array) -> Array:
    """The same by prospect theory, with the constants of Tversky and Kahneman (1992)."""
    v_a, p_a, v_b, p_b = conditions.T
    return _logistic((_prospect(v_a, p_a) - _prospect(v_b, p_b)) / TEMPERATURE)


def _prospect(amount: Array, probability: Array) -> Array:
    value = np.where(amount > 0, 1.0, -2.25) * np.abs(amount) ** 0.88
    power = np.where(amount >= 0, 0.61, 0.69)
    above, below = probability**power, (1 - probability) ** power
    return np.asarray(value * above / (above + below) ** (1 / power))


def task_switching(conditions: Array) -> Array:
    """P(the cued task is done), columns strength of the cued task, of the other one, and whether the task switches.

    Yeung & Monsell (2003): the task of the trial before is primed by 0.3; control goes to a cued task that is weak.
    """
    cued, other, switch = conditions.T
    cued, other = cued + 0.3 * (1 - switch), other + 0.3 * switch
    control = np.maximum(1 / (2.61541389 * cued / other + 0.7042097), 0.15)
    lead = np.exp(-1.5 * other) - np.exp(-1.5 * (cued + control))
    return _logistic(lead / 0.2)


def luce_choice(conditions: Array) -> Array:
    """P(choose A1), columns similarity to A1, A2, B1, B2; A has 0.8 of the attention (Logan & Gordon, 2001)."""
    strength = conditions * np.array([0.8, 0.8, 0.2, 0.2])
    return np.asarray(strength[:, 0] / strength.sum(axis=1))


def weber_fechner(conditions: Array) -> Array:
    """Sensation of a difference, columns of two intensities: the log of their ratio."""
    return np.log(conditions[:, 1] / conditions[:, 0])


def stevens(conditions: Array) -> Array:
    """Perceived intensity, one column: a power of 0.8."""
    return np.asarray(conditions[:, 0] ** 0.8)


EQUATIONS: dict[str, tuple[Callable[[Array], Array], str, int]] = {
    "expected value theory": (expected_value, "economics.expected_value_theory", 4),
    "prospect theory": (prospect, "economics.prospect_theory", 4),
    "task switching": (task_switching, "neuroscience.task_switching", 3),
    "luce choice ratio": (luce_choice, "psychology.luce_choice_ratio", 4),
    "weber-fechner law": (weber_fechner, "psychophysics.weber_fechner_law", 2),
    "stevens' power law": (stevens, "psychophysics.stevens_power_law", 1),
}
"""Equation, where the package has it, and its columns. Q-learning has no conditions: see `q_learning`."""


def q_learning(rewards: Array, choices: NDArray[np.int64]) -> Array:
    """``(n_trials, n_options)`` probabilities of the next pick: learning rate 0.2, inverse temperature 3."""
    value, found = np.full(rewards.shape[1], 0.5), np.zeros(rewards.shape)
    for trial, pick in enumerate(choices):
        strength = np.exp(3 * value)
        found[trial] = strength / strength.sum()
        value[pick] += 0.2 * (rewards[trial, pick] - value[pick])
    return found


def check() -> None:
    """Hold each equation against the ground truth of the package, on a thousand of its conditions."""
    from importlib import import_module

    rng = np.random.default_rng(0)
    for name, (equation, place, columns) in EQUATIONS.items():
        module: Any = import_module(f"autora.experiment_runner.synthetic.{place}")
        experiment = getattr(module, place.partition(".")[2])()
        variables = experiment.variables.independent_variables
        assert len(variables) == columns
        conditions = np.stack([rng.choice(item.allowed_values, 1000) for item in variables], axis=1)
        told = experiment.run(conditions, added_noise=0.0).iloc[:, -1].to_numpy(dtype=float)
        print(f"{name:24s} largest difference {np.abs(told - equation(conditions)).max():.1e}")
    module = import_module("autora.experiment_runner.synthetic.psychology.q_learning")
    rewards = rng.integers(0, 2, (1000, 2)).astype(float)
    (picked,), (told,) = module.q_learning().run(
        rewards, random_state=0, return_choice_probabilities=True
    )
    gap = np.abs(told - q_learning(rewards, picked.argmax(axis=1))).max()
    print(f"{'q-learning':24s} largest difference {gap:.1e}")


def main() -> None:
    """Hold each equation against the package."""
    check()
