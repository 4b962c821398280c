"""One cycle of the laboratory: the whole loop on one screen."""

from __future__ import annotations

import numpy as np

from lakatos.flows.roles.remember import look_at_library
from lakatos.flows.run.parts import flow
from lakatos.flows.run.records import CycleClosed
from lakatos.flows.run.run import Run
from lakatos.flows.stages.arbitrate import arbitrate
from lakatos.flows.stages.asked import AnswersAwaited, AskedPeople
from lakatos.flows.stages.close import close_cycle
from lakatos.flows.stages.collect import collect, recruit, standing
from lakatos.flows.stages.consolidate import consolidate, reflect
from lakatos.flows.stages.design import design
from lakatos.flows.stages.exactness import weigh_exactness
from lakatos.flows.stages.judging.judge import judge
from lakatos.flows.stages.preregister import preregister
from lakatos.flows.stages.propose import propose
from lakatos.flows.stages.revise import revise
from lakatos.flows.stages.score import score, settle
from lakatos.traces.step import Recorded


@flow(name="cycle")
async def run_cycle(run: Run, cycle: int) -> Recorded[CycleClosed] | AnswersAwaited:
    """Design, preregister, collect, score, diagnose, revise, judge, learn.

    Every stage is made of steps: what the trace holds already is returned, so that a cycle that was cut short goes on
    where it stopped. Where people have not answered yet, the pass ends here and the next one goes on.
    """
    if run.state.memory.taken is not None:
        await look_at_library(run, cycle)
    stop = ""
    for number in range(1, run.config.design.per_cycle + 1):
        if not run.source.offers(np.random.default_rng(0), 1):
            stop = "the archive is used up"
            break
        recruitment = standing(run, cycle, number) or await ask(run, cycle, number)
        if recruitment is None:
            stop = "no affordable experiment distinguishes the leading theories; the refused design says why"
            break
        collected = await collect(run, cycle, recruitment.plan, recruitment.recruited)
        if isinstance(collected, AnswersAwaited):
            return collected
        await score(run, cycle, list(run.state.theories.checked))
        run.show_leaderboard()
    if not run.state.experiments.collected:
        await reflect(run, cycle)
        return await close_cycle(run, cycle, stop)
    settled = await settle(run, cycle)
    if settled:
        await consolidate(run, cycle, settled)
    diagnosis = await arbitrate(run, cycle)
    weighed = await weigh_exactness(run, cycle)
    if weighed is not None and weighed.record.exact:
        stop = weighed.record.text
    elif cycle < run.config.stop.cycles or run.config.source.is_archive:
        proposed = await propose(run, cycle, diagnosis)
        found = await revise(run, cycle, diagnosis, proposed)
        await judge(run, cycle, found)
        run.show_leaderboard()
    await reflect(run, cycle)
    return await close_cycle(run, cycle, stop)


async def ask(run: Run, cycle: int, number: int) -> AskedPeople | None:
    """Choose an experiment, freeze what the rivals predict, and recruit; None where no design is worth its cost."""
    chosen = await design(run, cycle, number)
    if not chosen.record.accepted:
        run.progress.note(f"design refused: {chosen.record.reason}")
        return None
    plan = await preregister(run, cycle, chosen)
    return AskedPeople(plan, await recruit(run, cycle, plan))
