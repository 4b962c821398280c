"""How many participants are drawn in each round of a fit."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from lakatos.domains import FAMILIES
from lakatos.experiments.task import Stimuli, Trials
from lakatos.theories.engine.fitting.fit import (
    FITTING_DRAWS,
    POOLED_DRAWS,
    WALKING_DRAWS,
    fitting_draws,
)
from lakatos.theories.language.theory import read_program

LEARNER = read_program(FAMILIES["learning"].program("rescorla_wagner"))
MEMORYLESS = read_program(FAMILIES["multiattribute"].program("tallying"))
EACH = Trials(
    "e", Stimuli({"x": np.zeros(1)}), *(np.zeros(3, dtype=int),) * 3, count=np.ones(3, dtype=int)
)
COUNTS = replace(EACH, pooled=True)


@pytest.mark.parametrize(
    ("theory", "trials", "n_most", "n_draws"),
    [
        (MEMORYLESS, [EACH], FITTING_DRAWS, FITTING_DRAWS),
        (MEMORYLESS, [EACH], 40, 40),
        (LEARNER, [EACH], FITTING_DRAWS, WALKING_DRAWS),
        (LEARNER, [EACH], 40, 40),
        (MEMORYLESS, [COUNTS], FITTING_DRAWS, POOLED_DRAWS),
        (MEMORYLESS, [COUNTS, EACH], FITTING_DRAWS, FITTING_DRAWS),
        (LEARNER, [COUNTS, COUNTS], 40, 40),
    ],
)
def test_a_theory_that_learns_is_fitted_with_fewer_draws_and_counts_with_fewer_still(
    theory, trials, n_most, n_draws
) -> None:
    assert WALKING_DRAWS < FITTING_DRAWS
    assert fitting_draws(theory, trials, n_most) == n_draws
