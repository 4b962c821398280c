"""Stage: score every theory on every experiment that it has no score on, and settle the judges' verdicts."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final, Generic, TypeVar

from lakatos.experiments.task import check_unmixed
from lakatos.flows.run.evidence import RunEvidence
from lakatos.flows.run.parts import task
from lakatos.flows.run.run import Run
from lakatos.flows.run.state import RunState
from lakatos.flows.stages.preregister import frozen_theory
from lakatos.flows.stages.verdict.unmeasured import could_have_read
from lakatos.judges.judge import VerdictResolved, resolve
from lakatos.theories.discovery.rivals import trials_of_study
from lakatos.theories.engine.fitting.fit import Scored
from lakatos.theories.engine.record import (
    ENGINE,
    DrawsLimited,
    LearnedCenter,
    LearnedPopulation,
    TheoryFailed,
    TheoryFitted,
    TheoryScored,
    UnitLogPredictives,
)
from lakatos.theories.engine.scoreboard import Scoreboard, advantage_on
from lakatos.theories.engine.scoring import draws
from lakatos.theories.engine.scoring.score import UnitScores, proportion_error, telling
from lakatos.theories.errors import TheoryError
from lakatos.theories.language.prior import Prior, learned_ends
from lakatos.traces.digest import Digest
from lakatos.traces.record import Record
from lakatos.traces.step import Recorded, StepContext
from lakatos.traces.wording import plural

P = TypeVar("P", bound=LearnedPopulation)
POSITION: Final = {"engine": ENGINE}


@task(name="score")
async def score(run: Run, cycle: int, theories: Sequence[Digest]) -> list[Recorded[TheoryScored]]:
    """Learn the people of ``theories`` from all open responses, and score each theory on every experiment.

    What is recorded already is returned, not computed. A theory that fails on responses is out from here on; one that
    fails only with more draws keeps its score with fewer.
    """
    experiments = list(run.state.experiments.collected)
    run.progress.stage(
        cycle,
        "score",
        f"{plural(len(theories), 'theory')} on {plural(len(experiments), 'experiment')}",
    )
    check_unmixed(map(run.trials, experiments))
    await fit(run, theories)
    found = await _score_all(run, theories, run.config.theories.draws)
    while (more := too_few_draws(run.evidence)) is not None:
        found += await _score_all(run, more[1], more[0])
    return found


async def fit(run: Run, theories: Sequence[Digest]) -> None:
    """Record who the people of each theory are, as all open responses show; every theory by the same procedure.

    One whose author could have read responses is out if it knows trials by heart where these place it.
    """
    tables = tuple(item.record.trials for item in run.state.experiments.collected.values())
    stale = [
        name
        for name in theories
        if name in run.state.theories.checked and _trials_of_fit(run.state, name) != tables
    ]
    trials = [run.trials(name) for name in run.state.experiments.collected]

    def learn(names: Sequence[Digest]) -> Sequence[dict[str, Prior] | TheoryError]:
        starts = [
            run.theory(name).priors if name in run.state.theories.fits else {} for name in names
        ]
        return run.laboratory.people_of([run.form(name) for name in names], starts, trials)

    together, pooled = _JointScores(learn, stale), all(item.pooled for item in trials)
    for name in stale:
        last = run.state.theories.fits.get(name)
        inputs = [
            run.state.theories.checked[name].digest,
            *(item.digest for item in run.state.experiments.collected.values()),
        ]
        inputs += [last.digest] if last else []

        def work(context: StepContext, name: Digest = name) -> TheoryFitted:
            learned = together.of(name)
            author = run.state.theories.checked[name].record.author
            if could_have_read(author, is_archive=run.config.source.is_archive):
                fitted = run.form(name).with_people(learned, pooled=pooled)
                stimuli = trials_of_study(run.evidence, run.source)
                run.laboratory.check_in_use(fitted, trials, stimuli)
            return learned_population(TheoryFitted, name, tables, learned, pooled=pooled)

        await step_or_fail(run, name, "fit", work, TheoryFitted, inputs, POSITION)


def learned_population(
    kind: type[P],
    theory: Digest,
    tables: tuple[Digest, ...],
    learned: Mapping[str, Prior],
    *,
    pooled: bool,
) -> P:
    """The record of a population that was learned from the responses in ``tables``."""
    people = learned_ends(learned)
    return kind(
        theory=theory,
        trials=tables,
        engine=ENGINE,
        pooled=pooled,
        people=people,
        doubts={key: learned[key].doubt for key in people},
        own_centers=LearnedCenter.of(learned),
    )


def _trials_of_fit(state: RunState, name: Digest) -> tuple[Digest, ...]:
    last = state.theories.fits.get(name)
    return last.record.trials if last else ()


def too_few_draws(evidence: RunEvidence) -> tuple[int, list[Digest]] | None:
    """Theories whose order chance could change, and how many of their people to draw; None where all is clear.

    Draws are raised for those theories only, and not without end.
    """
    known = evidence.state.theories
    names = [
        name for name in decided_by_chance(evidence.state.board()) if not known.is_limited(name)
    ]
    used = {
        name: min(
            evidence.state.theories.scores[name, item].record.n_draws
            for item in evidence.state.experiments.collected
        )
        for name in names
    }
    n_draws = 4 * min(used.values(), default=0)
    if not names or n_draws > most_draws(evidence, names):
        return None
    return n_draws, [name for name in names if used[name] < n_draws]


def decided_by_chance(board: Scoreboard) -> list[Digest]:
    """The leader and those whose order with it the draws of people could change; empty where all is clear."""
    unclear = [
        line.theory
        for line in board.standings[1:]
        if draws.could_change_order(line.behind, line.chance)
    ]
    return [board.leader.theory, *unclear] if unclear else []


def most_draws(evidence: RunEvidence, names: Sequence[Digest]) -> int:
    """The limit for some theories on the experiments so far."""
    trials = [evidence.trials(name) for name in evidence.state.experiments.collected]
    return draws.most_draws(
        sum(len(item.stimuli) for item in trials),
        sum(item.n_participants for item in trials),
        walks=evidence.domain.sequential or any(evidence.theory(name).learns for name in names),
    )


async def _score_all(
    run: Run, theories: Sequence[Digest], n_draws: int
) -> list[Recorded[TheoryScored]]:
    """Score theories with the people that their newest fits found."""
    names = [name for name in theories if name in run.state.theories.checked]
    experiments = list(run.state.experiments.collected)
    trials = [run.trials(name) for name in experiments]
    left_out = _JointScores(
        lambda wanted: run.laboratory.scores_of(
            [run.theory(name) for name in wanted], trials, n_draws
        ),
        names,
    )

    def foretold(experiment: str) -> _JointScores[UnitScores]:
        return _JointScores(
            lambda wanted: _scores_of_frozen(run.evidence, experiment, n_draws, wanted),
            _foretellers(run.state, experiment, names),
        )

    found = []
    for place, experiment in enumerate(experiments):
        ahead = foretold(experiment)
        for name in names:
            if name not in run.state.theories.checked:  # it failed on an earlier experiment
                continue
            if (
                run.state.theories.is_limited(name)
                and (name, experiment) in run.state.theories.scores
            ):
                found.append(run.state.theories.scores[name, experiment])
                continue
            item = await _score_one(run, name, experiment, n_draws, place, left_out, ahead)
            found += [item] if item else []
    return found


A = TypeVar("A")
R = TypeVar("R", bound=Record)


class _JointScores(Generic[A]):
    """Responses about theories: the first that is wanted brings those of all the others with it."""

    def __init__(
        self, ask: Callable[[Sequence[Digest]], Sequence[A | TheoryError]], names: Sequence[Digest]
    ) -> None:
        self._ask, self._names = ask, list(names)
        self._found: dict[Digest, A | TheoryError] = {}

    def of(self, name: Digest) -> A:
        """The answer about one theory.

        Raises:
            TheoryError: It fails.
        """
        if name not in self._found:
            self._found |= zip(self._names, self._ask(self._names), strict=True)
        found = self._found[name]
        if isinstance(found, TheoryError):
            raise found
        return found


def _foretellers(state: RunState, experiment: str, names: Sequence[Digest]) -> list[Digest]:
    """Theories whose predictions were frozen before an experiment."""
    rivals = state.experiments.preregistrations[experiment].record.rivals
    return [name for name in names if name in rivals]


def _scores_of_frozen(
    evidence: RunEvidence, experiment: str, n_draws: int, names: Sequence[Digest]
) -> Sequence[UnitScores | TheoryError]:
    """Scores with the populations that were frozen before an experiment."""
    frozen = evidence.artifacts.get_arrays(
        evidence.state.experiments.preregistrations[experiment].record.predictions
    )
    theories = [frozen_theory(evidence, name, frozen) for name in names]
    return evidence.laboratory.predictives_or_error(theories, evidence.trials(experiment), n_draws)


async def _score_one(
    run: Run,
    name: Digest,
    experiment: str,
    n_draws: int,
    place: int,
    left_out: _JointScores[list[Scored]],
    ahead: _JointScores[UnitScores],
) -> Recorded[TheoryScored] | None:
    trials, collected = run.trials(experiment), run.state.experiments.collected[experiment]
    fitted, before = (
        run.state.theories.fits[name],
        run.state.theories.scores.get((name, experiment)),
    )
    if (
        before is not None
        and before.record.fit == fitted.digest
        and before.record.n_draws >= n_draws
    ):
        return before
    kept = before if before is not None and before.record.fit == fitted.digest else None
    if before is not None and (
        before.record.trials != collected.record.trials or before.record.n_draws < n_draws
    ):
        before = None  # what was frozen is scored anew

    def work(context: StepContext) -> TheoryScored:
        scored = left_out.of(name)[place]
        error, correlation = proportion_error(scored.mean, trials)
        frozen = before.record.frozen if before else None
        if (
            before is None
            and name in run.state.experiments.preregistrations[experiment].record.rivals
        ):
            frozen = UnitLogPredictives.of(ahead.of(name))
        return TheoryScored(
            theory=name,
            experiment=experiment,
            trials=collected.record.trials,
            engine=ENGINE,
            n_draws=n_draws,
            fit=fitted.digest,
            left_out=UnitLogPredictives.of(scored.left_out),
            frozen=frozen,
            proportions=tuple(telling(scored.mean).ravel().tolist()),
            error=error,
            correlation=correlation,
            n_options=trials.n_options,
        )

    def limited(reason: str) -> DrawsLimited:
        assert kept is not None
        return DrawsLimited(
            theory=name,
            experiment=experiment,
            fit=fitted.digest,
            n_draws=n_draws,
            kept=kept.record.n_draws,
            reason=reason,
        )

    inputs = [fitted.digest, collected.digest, *([before.digest] if before else [])]
    position: dict[str, str | int] = {**POSITION, "draws": n_draws}
    scored = await step_or_fail(
        run, name, "score", work, TheoryScored, inputs, position, limited if kept else None
    )
    return scored or kept


async def step_or_fail(
    run: Run,
    theory: Digest,
    step: str,
    work: Callable[[StepContext], R],
    returns: type[R],
    inputs: Sequence[Digest],
    position: Mapping[str, str | int],
    limited: Callable[[str], DrawsLimited] | None = None,
) -> Recorded[R] | None:
    """Take a step in which a theory runs; where it fails, write that down, and the theory is out.

    Args:
        run, theory: Campaign, and the theory that runs in it.
        step, work, returns, inputs, position: As in `Run.step`.
        limited: Makes the record of the failure from its reason where the theory stays, as it has a score with fewer
            draws.
    """
    place = "limit_draws" if limited else "fail"
    failed = run.trace.recorded(place, inputs, position)
    record: TheoryFailed | DrawsLimited
    if failed is None:
        try:
            return await run.step(step, work, returns=returns, inputs=inputs, position=position)
        except TheoryError as error:
            reason = f"{type(error).__name__}: {error}"
            experiment = list(run.state.experiments.collected)[-1]
            record = (
                limited(reason)
                if limited
                else TheoryFailed(theory=theory, experiment=experiment, reason=reason)
            )
    else:
        assert isinstance(failed.record, TheoryFailed | DrawsLimited)
        record = failed.record
    what = (
        f"failed with {record.n_draws:,} draws and keeps its score with {record.kept:,}"
        if isinstance(record, DrawsLimited)
        else "failed on answers and is out"
    )
    run.progress.note(f"{run.state.theories.name(theory)} {what}: {record.reason}")
    run.record(record, name=place, inputs=inputs, position=position)
    return None


@task(name="settle")
async def settle(run: Run, cycle: int) -> list[Recorded[VerdictResolved]]:
    """Score the verdicts of earlier cycles on the first experiment collected since."""
    settled = []
    for digest, verdict in list(run.state.judging.verdicts.items()):
        experiment = deciding_experiment(run.state, digest)
        if experiment is None:
            continue
        record = verdict.record
        candidate = run.state.theories.scores[record.candidate, experiment]
        incumbent = run.state.theories.scores[record.incumbent, experiment]
        advantage = advantage_on(candidate.record, incumbent.record)
        settled.append(
            run.record(
                resolve(record, digest, experiment, advantage.value),
                name="settle",
                inputs=[digest, candidate.digest, incumbent.digest],
                position={"cycle": cycle},
            )
        )
    return settled


def deciding_experiment(state: RunState, verdict: Digest) -> str | None:
    """The first experiment collected after a verdict, which says whether it was right; None where nothing is to say.

    There is nothing to say of a verdict that was resolved before, and where one of its theories has no score there.
    """
    record = state.judging.verdicts[verdict].record
    later = [
        name
        for name, item in state.experiments.designs.items()
        if item.record.cycle > record.cycle and name in state.experiments.collected
    ]
    if verdict in state.judging.resolved or not later:
        return None
    pair = (record.candidate, record.incumbent)
    return later[0] if all((name, later[0]) in state.theories.scores for name in pair) else None
