"""When a leader counts as exact: close enough to the responses, and nothing found in which it misses them."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import numpy as np

from lakatos.experiments.design import Design, design_to_json
from lakatos.experiments.record import DesignChosen
from lakatos.flows.run.run import Run, create_run, started
from lakatos.flows.stages.collect import collect, recruit
from lakatos.flows.stages.preregister import preregister
from lakatos.flows.stages.score import score
from lakatos.theories.engine.record import TheoryAdmitted, TheoryChecked
from lakatos.theories.engine.scoring.score import ScoreEstimate
from lakatos.theories.findings.verdicts.exactness import weigh_exactness
from lakatos.theories.language.theory import TheoryProgram, read_program
from lakatos.traces.step import Recorded

sys.path.insert(0, str(Path(__file__).parents[1]))
from small import small_study

FIRST_CUE = '''"""First cue: people choose by the first rating alone."""
PARAMETERS = {"s": {"prior": "uniform", "low": 0.1, "high": 5.0}}
def choose(parameters, trials, xp):
    gap = trials["ratings"][:, 1, 0] - trials["ratings"][:, 0, 0]
    return 1 / (1 + xp.exp(-parameters["s"] * gap))
'''
"""It takes no notice of the other cues, which simulated people weigh."""
N_TRIALS, N_PEOPLE = 40, 60


async def scored(run: Run) -> None:
    """One experiment on which the theory is scored."""
    start = run.record(started(run.config), name="start")
    theory = read_program(TheoryProgram(FIRST_CUE, "test"))
    digest = run.trace.artifacts.put(FIRST_CUE.encode())
    checked = run.record(
        TheoryChecked(
            theory=digest, passed=True, name=theory.name, claim=theory.claim, author="test", parents=(), change="",
            cycle=0, n_parameters=1, checks=(), reason="",
        ),
        name="check", inputs=[start.digest],
    )  # fmt: skip
    admitted = TheoryAdmitted(theory=digest, cycle=0, reason="test")
    item = run.record(admitted, name="admit", inputs=[checked.digest])
    stimuli = run.domain.candidates(run.config.space, np.random.default_rng(1), 300)
    stimuli = stimuli.take(np.random.default_rng(2).permutation(len(stimuli))[:N_TRIALS])
    design = Design("1.1", stimuli, 1, N_PEOPLE, (False,) * len(stimuli), (0.1,) * len(stimuli), "")
    chosen = DesignChosen(
        cycle=1, number=1, experiment="1.1", design=run.trace.artifacts.put_json(design_to_json(design)),
        rivals=(digest,), n_candidates=len(stimuli), n_trials=len(stimuli), repetitions=1,
        n_participants=N_PEOPLE, n_random=0, archive="", information=(), powers=(), accepted=True, reason="",
    )  # fmt: skip
    plan = await preregister(
        run, 1, run.record(chosen, name="design", inputs=[item.digest], position={"cycle": 1})
    )
    assert isinstance(await collect(run, 1, plan, await recruit(run, 1, plan)), Recorded)
    await score(run, 1, [digest])


def test_a_leader_with_a_misfit_is_not_exact_however_small_its_error(tmp_path: Path) -> None:
    with create_run(small_study(theories__draws=64), tmp_path / "run", n_workers=1) as run:
        asyncio.run(scored(run))
        (leader,) = run.state.theories.pool
        found = weigh_exactness(
            run.evidence,
            leader,
            ScoreEstimate(0.0, 0.0),
            np.random.default_rng(3),
            cycle=1,
            allowed=0.01,
        )
    assert found.error == 0.0 < found.allowed
    assert found.misfits
    assert not found.exact
