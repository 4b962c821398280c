"""Stage: score every theory on every experiment that it has no score on, and settle the judges' verdicts."""

from __future__ import annotations

from collections.abc import Sequence

from experiments.task import check_unmixed
from flows.engine import task
from flows.run import Run
from judges.judge import VerdictResolved, resolve
from theories.errors import TheoryError
from theories.record import ENGINE, TheoryFailed, TheoryScored, Units
from theories.score import log_predictive, paired_difference, proportion_error, telling
from traces.digest import Digest
from traces.step import Recorded, StepContext


@task(name="score")
async def score(run: Run, cycle: int, theories: Sequence[Digest]) -> list[Recorded[TheoryScored]]:
    """Score ``theories`` on all experiments; what is recorded already is returned, not computed."""
    run.progress.stage(cycle, "score", f"{len(theories)} theories on {len(run.state.collected)} experiments")
    check_unmixed(map(run.trials, run.state.collected))
    found: list[Recorded[TheoryScored]] = []
    for experiment in run.state.collected:
        for theory in theories:
            if theory in run.state.theories and (item := await _score_one(run, theory, experiment)) is not None:
                found.append(item)  # noqa: PERF401  (each depends on whether the last one failed)
    return found


async def _score_one(run: Run, name: Digest, experiment: str) -> Recorded[TheoryScored] | None:
    collected = run.state.collected[experiment]
    plan = run.state.preregistrations[experiment].record
    trials = run.trials(experiment)

    def work(context: StepContext) -> TheoryScored:
        n_draws = run.config.theories.draws
        theory = run.theory(name)
        (evidence,) = run.laboratory.evidence(theory, [trials], n_draws)
        mean = evidence.probabilities.mean(axis=0)
        error, correlation = proportion_error(mean, trials)
        learned = None
        if name in plan.rivals:
            frozen = context.artifacts.get_arrays(plan.predictions)[f"{name}:log_weights"]
            learned = Units.of(log_predictive(evidence, frozen))
        return TheoryScored(
            theory=name,
            experiment=experiment,
            trials=collected.record.trials,
            engine=ENGINE,
            n_draws=n_draws,
            declared=Units.of(log_predictive(evidence)),
            learned=learned,
            proportions=tuple(telling(mean).ravel().tolist()),
            error=error,
            correlation=correlation,
            n_options=trials.n_options,
        )

    inputs = [run.state.theories[name].digest, collected.digest]
    failed = run.trace.recorded("fail", inputs)
    if failed is None:
        try:
            return await run.step("score", work, returns=TheoryScored, inputs=inputs, position={"engine": ENGINE})
        except TheoryError as error:
            record = TheoryFailed(theory=name, experiment=experiment, reason=f"{type(error).__name__}: {error}")
    else:
        assert isinstance(failed.record, TheoryFailed)
        record = failed.record
    run.progress.note(f"{run.state.name(name)} failed on {experiment} and is out: {record.reason}")
    run.record(record, name="fail", inputs=inputs)
    return None


@task(name="settle")
async def settle(run: Run, cycle: int) -> list[Recorded[VerdictResolved]]:
    """Score the verdicts of earlier cycles on the first experiment collected since."""
    settled = []
    for digest, verdict in list(run.state.verdicts.items()):
        record = verdict.record
        later = [
            name
            for name, item in run.state.designs.items()
            if item.record.cycle > record.cycle and name in run.state.collected
        ]
        pair = (record.candidate, record.incumbent)
        if digest in run.state.resolved or not later or any((name, later[0]) not in run.state.scores for name in pair):
            continue
        candidate, incumbent = (run.state.scores[name, later[0]] for name in pair)
        advantage = paired_difference([candidate.record.declared.scores], [incumbent.record.declared.scores])
        settled.append(
            run.record(
                resolve(record, digest, later[0], advantage.value),
                name="settle",
                inputs=[digest, candidate.digest, incumbent.digest],
                position={"cycle": cycle},
            )
        )
    return settled
