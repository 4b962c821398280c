"""What a verdict may rest on."""

import pytest

from lakatos.experiments.record import SealedOpened
from lakatos.experiments.state import ExperimentsState
from lakatos.flows.run.state import LEAST_SEALED, RunState
from lakatos.theories.record import SealedScored
from lakatos.theories.state import TheoriesState
from lakatos.traces.step import Recorded

NAME = "a" * 64


@pytest.mark.parametrize(("n_trials", "decides"), [(LEAST_SEALED - 1, False), (LEAST_SEALED, True)])
def test_a_handful_of_sealed_trials_decides_nothing(n_trials: int, decides: bool) -> None:
    opened = SealedOpened(
        experiments=("e",), trials=(), n_trials=n_trials, n_responses=8 * n_trials
    )
    scored = SealedScored(theory=NAME, experiments=("e",), n_draws=4, scores=(), squared=((0.0,),))
    state = RunState(
        experiments=ExperimentsState(sealed=Recorded(opened, NAME)),
        theories=TheoriesState(sealed_scores={NAME: Recorded(scored, NAME)}),
    )
    assert state.decisive_sealed == ({NAME: scored} if decides else {})
    assert RunState().decisive_sealed == {}
