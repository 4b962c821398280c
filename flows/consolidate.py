"""Stage: turn what went wrong into lessons."""

from __future__ import annotations

from flows.engine import task
from flows.epoch import lasting
from flows.run import Run
from judges.judge import VerdictResolved
from memory.library import Pitfall, pitfall_from_overturned
from theories.score import is_tie, paired_difference
from traces.step import Recorded


@task(name="consolidate")
async def consolidate(run: Run, cycle: int, settled: list[Recorded[VerdictResolved]]) -> list[Recorded[Pitfall]]:
    """A successor that was expected to win and clearly lost on new data is a pitfall."""
    learned = []
    for item in settled:
        verdict = run.state.verdicts[item.record.verdict].record
        pair = [run.state.scores[name, item.record.experiment] for name in (verdict.candidate, verdict.incumbent)]
        advantage = paired_difference(*([score.record.declared.scores] for score in pair))
        if verdict.probability < 0.5 or advantage.value > 0 or is_tie(advantage):
            continue
        checked = run.state.theories[verdict.candidate].record
        trigger = next(
            (known.record.location for known in run.state.diagnoses if known.record.cycle == verdict.cycle), ""
        )
        sources = tuple(known.digest for known in run.state.diagnoses if known.record.cycle == verdict.cycle)
        rests_on = lasting(run, verdict.candidate, verdict.cycle, [item.record.verdict, item.digest])
        evidence = (*rests_on, *(score.digest for score in pair))
        lesson = pitfall_from_overturned(
            run.config.domain,
            trigger,
            checked.change,
            verdict.probability,
            advantage.value,
            item.record.experiment,
            evidence,
        )
        learned.append(run.record(lesson, name="lesson", inputs=(*evidence, *sources), position={"cycle": cycle}))
    return learned
