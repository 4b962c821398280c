"""Which theories an experiment is made for."""

import sys
from pathlib import Path

import numpy as np
import pytest

from lakatos.flows.run.run import open_run, read_state
from lakatos.flows.stages.verdict.confirm import winner_and_rivals
from lakatos.flows.start import run_study
from lakatos.theories.discovery.rivals import DISTINCT, differing, distance, leading_rivals
from lakatos.theories.engine.scoring.apart import answers_apart

sys.path.insert(0, str(Path(__file__).parent))
from small import small_study

SUM = '''"""Sum: people add up the ratings."""
PARAMETERS = {}


def choose(parameters, trials, xp):
    r = trials["ratings"]
    lead = xp.sign((r[:, 1] - r[:, 0]).sum(axis=-1))
    return (0.5 + 0.45 * lead)[None]
'''
BUT = SUM.replace(
    "Sum: people add up the ratings",
    "But: people add up the ratings, unless the best expert praises both",
)
BUT = BUT.replace(
    "    return", "    lead = xp.where(r[:, :, 0].min(axis=-1) == 2, -lead, lead)\n    return"
)


def test_on_a_scale_theories_are_as_far_apart_as_the_share_of_answers_that_differ():
    own = np.full((3, 40), 1 / 40)
    other = own + 0.002 * np.where(np.arange(40) < 20, 1, -1)
    assert answers_apart(own, other) == pytest.approx(0.002)
    assert answers_apart(own.ravel(), other.ravel(), 40) == pytest.approx(0.04)
    # of two options it is the same number
    first, second = np.array([[0.7, 0.3]]), np.array([[0.6, 0.4]])
    assert answers_apart(first[:, 1], second[:, 1]) == pytest.approx(0.1)
    assert answers_apart(first, second, 2) == pytest.approx(0.1)


@pytest.mark.long
@pytest.mark.parametrize("forbidden", [[], ["best_cue_favours == 0"]])
def test_theories_that_part_only_where_nobody_was_asked_but_may_be_are_rivals(
    forbidden: list[str], tmp_path: Path
) -> None:
    study = small_study(
        theories={
            "seeds": ["take_the_best", "tallying"],
            "programs": [SUM, BUT],
            "candidates": 0,
            "successors": 0,
            "draws": 64,
            "rivals": 3,
            "induction": False,
        },
        participants={"source": "simulated", "program": SUM.replace("Sum:", "Hidden:")},
        design={
            "trials": 4,
            "participants": 20,
            "candidates": 60,
            "random_share": 1.0,
            "refused": "cover",
            "forbidden": forbidden,
        },
        stop={"cycles": 1, "least_cycles": 1},
    )
    run_study(study, tmp_path / "run", n_workers=1)
    state, trace = read_state(tmp_path / "run")
    trace.close()
    with open_run(tmp_path / "run", n_workers=1) as run:
        run.state = state
        names = {run.state.theories.name(name): name for name in run.state.theories.pool}
        first, second = names["Sum"], names["But"]
        assert distance(run.evidence, first, second) < DISTINCT  # none of the four trials is such
        differ = differing(run.evidence)
        assert differ(first, second) == (not forbidden)
        assert not differ(first, first)
        assert ({first, second} < set(leading_rivals(run.evidence))) == (not forbidden)
        leader, others = winner_and_rivals(run.evidence)
        assert leader in (first, second)
        assert (others[0] in (first, second)) == (not forbidden)
