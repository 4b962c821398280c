"""Stage: score every theory on every experiment that it has no score on, and settle the judges' verdicts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from experiments.task import check_unmixed
from flows.engine import task
from flows.run import Run
from judges.judge import VerdictResolved, resolve
from theories.errors import TheoryError
from theories.laboratory import Scored
from theories.record import ENGINE, TheoryFailed, TheoryScored, Units
from theories.score import paired_difference, proportion_error, telling
from traces.digest import Digest
from traces.step import Recorded, StepContext

POSITION: Final = {"engine": ENGINE}


@task(name="score")
async def score(run: Run, cycle: int, theories: Sequence[Digest]) -> list[Recorded[TheoryScored]]:
    """Score ``theories`` on all experiments; what is recorded already is returned, not computed."""
    run.progress.stage(cycle, "score", f"{len(theories)} theories on {len(run.state.collected)} experiments")
    check_unmixed(map(run.trials, run.state.collected))
    found: list[Recorded[TheoryScored]] = []
    for experiment in run.state.collected:
        together = _Together(run, theories, experiment)
        for theory in theories:
            if theory in run.state.theories and (item := await _score_one(run, theory, together)) is not None:
                found.append(item)  # noqa: PERF401  (each depends on whether the last one failed)
    return found


class _Together:
    """Scores of theories on one experiment: the first that is wanted brings all that are not recorded with it."""

    def __init__(self, run: Run, theories: Sequence[Digest], experiment: str) -> None:
        self.run, self.experiment = run, experiment
        self.collected = run.state.collected[experiment]
        self.wanted = [name for name in theories if name in run.state.theories and self.open(name)]
        self.found: dict[Digest, Scored | TheoryError] = {}

    def inputs(self, name: Digest) -> list[Digest]:
        return [self.run.state.theories[name].digest, self.collected.digest]

    def open(self, name: Digest) -> bool:
        inputs = self.inputs(name)
        done = self.run.trace.recorded("score", inputs, POSITION) or self.run.trace.recorded("fail", inputs)
        return done is None

    def of(self, name: Digest) -> Scored:
        """The scores of one theory.

        Raises:
            TheoryError: It fails.
        """
        if name not in self.found:
            names = self.wanted if name in self.wanted else [name]  # what is on record is made again alone
            run, plan = self.run, self.run.state.preregistrations[self.experiment].record
            rivals = [rival for rival in plan.rivals if rival in names]
            frozen = run.trace.artifacts.get_arrays(plan.predictions) if rivals else {}
            weights = {rival: frozen[f"{rival}:log_weights"] for rival in rivals}
            theories = [run.theory(item) for item in names]
            trials, n_draws = run.trials(self.experiment), run.config.theories.draws
            found = run.laboratory.scores_of(theories, trials, n_draws, weights)
            self.found |= zip(names, found, strict=True)
        found_one = self.found[name]
        if isinstance(found_one, TheoryError):
            raise found_one
        return found_one


async def _score_one(run: Run, name: Digest, together: _Together) -> Recorded[TheoryScored] | None:
    experiment, trials = together.experiment, run.trials(together.experiment)

    def work(context: StepContext) -> TheoryScored:
        scored = together.of(name)
        error, correlation = proportion_error(scored.mean, trials)
        return TheoryScored(
            theory=name,
            experiment=experiment,
            trials=together.collected.record.trials,
            engine=ENGINE,
            n_draws=run.config.theories.draws,
            declared=Units.of(scored.declared),
            learned=None if scored.learned is None else Units.of(scored.learned),
            proportions=tuple(telling(scored.mean).ravel().tolist()),
            error=error,
            correlation=correlation,
            n_options=trials.n_options,
        )

    inputs = together.inputs(name)
    failed = run.trace.recorded("fail", inputs)
    if failed is None:
        try:
            return await run.step("score", work, returns=TheoryScored, inputs=inputs, position=POSITION)
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
