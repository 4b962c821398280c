"""A campaign ends where the leader's predictions no longer move."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import numpy as np
import pytest

from lakatos.flows.run.records import CycleClosed
from lakatos.flows.run.run import Run, create_run, open_run, started
from lakatos.flows.stages.close import close_cycle
from lakatos.flows.stages.collect import collect, recruit
from lakatos.flows.stages.preregister import preregister
from lakatos.flows.stages.score import score
from lakatos.theories.discovery.rivals import ELSEWHERE, moved
from lakatos.traces.step import Recorded

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).parent.parent))
from small import small_study
from test_score import LEARNER, SETTINGS, admit, choose_design

ADDING = '''"""Adding: People add up ratings."""
PARAMETERS = {"s": {"prior": "uniform", "low": 0.0, "high": 3.0}}
def choose(parameters, trials, xp):
    gap = trials["ratings"][:, 1].sum(axis=-1) - trials["ratings"][:, 0].sum(axis=-1)
    return 1 / (1 + xp.exp(-parameters["s"] * gap))
'''


async def cycles(run: Run, n: int, source: str = ADDING) -> list[Recorded[CycleClosed]]:
    """So many experiments with one theory."""
    run.record(started(run.config), name="start")
    admit(run, source)
    closed = []
    for cycle in range(1, n + 1):
        plan = await preregister(run, cycle, choose_design(run, cycle))
        assert isinstance(
            await collect(run, cycle, plan, await recruit(run, cycle, plan)), Recorded
        )
        await score(run, cycle, list(run.state.theories.checked))
        closed.append(await close_cycle(run, cycle, ""))
    return closed


def closed_with(tmp_path: Path, source: str = ADDING, n: int = 2, **stop: float) -> list[str]:
    """Why each cycle ended the campaign, in a run that goes on all the same."""
    limits = {"cycles": 5, "least_cycles": 2, "patience": 5, **stop}
    with create_run(small_study(**SETTINGS, stop=limits), tmp_path / "run", n_workers=1) as run:
        return [item.record.stop for item in asyncio.run(cycles(run, n, source))]


def test_a_campaign_ends_where_the_leader_moved_by_less_than_the_study_says(tmp_path: Path) -> None:
    first, second = closed_with(tmp_path, moved=0.9)
    assert first == ""
    assert second.startswith("settled: the leader's predictions moved by 0.0")
    assert second.endswith("since the last cycle, less than 0.9")


@pytest.mark.parametrize(
    "stop",
    [
        {"moved": 1e-9},
        pytest.param({"moved": 0.0}, marks=pytest.mark.slow),
        {"moved": 0.9, "least_cycles": 3},
    ],
)
def test_it_goes_on_where_the_leader_moved_more_and_before_the_least_number_of_cycles(
    tmp_path: Path, stop: dict[str, float]
) -> None:
    assert closed_with(tmp_path, **stop) == ["", ""]


@pytest.mark.slow
def test_theories_that_learn_are_not_followed_over_the_space(tmp_path: Path) -> None:
    assert closed_with(tmp_path, LEARNER, moved=0.9) == ["", ""]


def test_the_distance_is_that_of_the_populations_of_both_cycles(tmp_path: Path) -> None:
    limits = {"cycles": 5, "least_cycles": 2, "patience": 5}
    with create_run(small_study(**SETTINGS, stop=limits), tmp_path / "run", n_workers=1) as run:

        async def followed() -> tuple[list, list]:
            shown, theories = [], []
            run.record(started(run.config), name="start")
            leader = admit(run, ADDING)
            rng = np.random.default_rng(run.config.seed)
            sample = run.domain.candidates(run.config.space, rng, ELSEWHERE)
            for cycle in (1, 2):
                plan = await preregister(run, cycle, choose_design(run, cycle))
                await collect(run, cycle, plan, await recruit(run, cycle, plan))
                await score(run, cycle, list(run.state.theories.checked))
                theories.append(run.theory(leader))
                shown.append(run.laboratory.proportions(run.theory(leader), sample, 128))
                await close_cycle(run, cycle, "")
            return shown, theories

        (before, after), (one, other) = asyncio.run(followed())
        assert run.state.campaign.followed is not None
        found = run.state.campaign.followed.record
        assert (found.cycle, found.moved) == (
            2,
            pytest.approx(moved(run.evidence, one, other), abs=1e-6),
        )
        # Another sample of the same trials, other sides and other numbers of draws: about the same distance.
        assert found.moved == pytest.approx(
            np.sqrt(np.mean((before - after) ** 2)), rel=0.3, abs=0.004
        )
        head = run.trace.journal.head
    with open_run(tmp_path / "run", n_workers=1) as later:
        asyncio.run(cycles(later, 2))
        assert later.trace.journal.head == head
