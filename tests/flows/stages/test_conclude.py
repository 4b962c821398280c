"""What a verdict may rest on."""

import pytest

from lakatos.experiments.record import SealedOpened
from lakatos.flows.stages.verdict.conclude import LEAST_SEALED, are_few
from lakatos.traces.step import Recorded


@pytest.mark.parametrize(("n_trials", "few"), [(LEAST_SEALED - 1, True), (LEAST_SEALED, False)])
def test_a_handful_of_sealed_trials_shows_nothing_of_others(n_trials: int, few: bool) -> None:
    opened = SealedOpened(
        experiments=("e",), trials=(), n_trials=n_trials, n_responses=8 * n_trials
    )
    assert are_few(Recorded(opened, "a" * 64)) == few
    assert not are_few(None)
