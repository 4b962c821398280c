"""One cycle of the laboratory: the whole loop on one screen."""

from __future__ import annotations

import numpy as np

from flows.arbitrate import arbitrate
from flows.close import close_cycle
from flows.collect import collect, recruit
from flows.consolidate import consolidate
from flows.design import design
from flows.engine import flow
from flows.judge import judge
from flows.preregister import preregister
from flows.record import CycleClosed
from flows.revise import revise
from flows.run import Run
from flows.score import score, settle
from traces.step import Recorded


@flow(name="cycle")
async def run_cycle(run: Run, cycle: int) -> Recorded[CycleClosed]:
    """Design, preregister, collect, score, diagnose, revise, judge, learn.

    Every stage is made of steps: what the trace holds already is returned, so that a cycle that was cut short goes on
    where it stopped.
    """
    stop = ""
    for number in range(1, run.config.design.per_cycle + 1):
        if not run.source.offers(np.random.default_rng(0), 1):
            stop = "the archive is used up"
            break
        chosen = await design(run, cycle, number)
        if not chosen.record.accepted:
            run.progress.note(f"design refused: {chosen.record.reason}")
            stop = "no affordable experiment tells the leading theories apart; the refused design says why"
            break
        plan = await preregister(run, cycle, chosen)
        asked = await recruit(run, cycle, plan)
        await collect(run, cycle, plan, asked)
        await score(run, cycle, list(run.state.theories))
        run.show_leaderboard()
    if not run.state.collected:
        return await close_cycle(run, cycle, stop)
    settled = await settle(run, cycle)
    await consolidate(run, cycle, settled)
    diagnosis = await arbitrate(run, cycle)
    if cycle < run.config.stop.cycles or run.config.participants.source == "archival":
        found = await revise(run, cycle, diagnosis)
        await judge(run, cycle, found)
        run.show_leaderboard()
    return await close_cycle(run, cycle, stop)
