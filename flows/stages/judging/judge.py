"""Stage: check what the advocates submitted, let the judges say what deserves an experiment, and admit it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from lakatos.flows.run.parts import task
from lakatos.flows.run.run import Run
from lakatos.flows.run.study import CampaignConfig
from lakatos.flows.stages.check import check_program
from lakatos.flows.stages.judging.epoch import rescore, turn_epoch
from lakatos.flows.stages.judging.measures import lasting, measure, submission_of
from lakatos.flows.stages.judging.seats import epoch_of, open_epoch
from lakatos.flows.stages.score import score
from lakatos.judges.decision import VERIFY, decide
from lakatos.judges.epoch import rank
from lakatos.judges.judge import Verdict
from lakatos.theories.discovery.rivals import DISTINCT, distance, sample_of_space
from lakatos.theories.engine.checks.complexity import form_of_source
from lakatos.theories.engine.record import (
    SearchFinished,
    SuccessorSubmitted,
    TheoryAdmitted,
    TheoryCompared,
)
from lakatos.theories.engine.scoreboard import left_out_advantage
from lakatos.theories.engine.scoring.score import ScoreEstimate, is_tie
from lakatos.theories.language.theory import TheoryProgram
from lakatos.traces.digest import Digest
from lakatos.traces.step import Recorded, StepContext
from lakatos.traces.wording import plural

COMPARED = 400
"""Trials of the space on which possible duplicates are compared."""


@task(name="judge")
async def judge(run: Run, cycle: int, found: Recorded[SearchFinished]) -> list[Recorded[Verdict]]:
    """Check, score and judge the successors; admit those about which it is worth asking people."""
    n_submitted = len(found.record.submissions)
    run.progress.stage(
        cycle, "judge new theories", plural(n_submitted, "proposed theory", "proposed theories")
    )
    await turn_epoch(run, cycle)
    open_epoch(run)
    await rescore(run, cycle)
    incumbent = run.state.board().leader.theory
    fresh = await _check_submissions(run, cycle, found)
    await score(run, cycle, fresh)
    if run.config.judges.panel == "none":
        unasked = "no judge decides whether a test is worth its cost"
        for name in fresh:
            await _admit(run, cycle, name, unasked, [run.state.theories.checked[name].digest])
        return []
    verdicts = [_judge_one(run, cycle, name, incumbent) for name in fresh]
    by_digest = {verdict.record.candidate: verdict for verdict in verdicts}
    advantages = {
        name: left_out_advantage(run.state.theories, run.state.experiments, name, incumbent)
        for name in by_digest
    }
    placed = _placed(run.config, found.record.submissions, advantages)
    for verdict in rank(item.record for item in verdicts):
        name = verdict.candidate
        decided = run.record(
            decide(
                verdict,
                by_digest[name].digest,
                run.config.judges.testing_cost,
                has_place=name in placed,
            ),
            name="decide",
            inputs=[by_digest[name].digest],
            position={"cycle": cycle, "theory": name},
        )
        if decided.record.action != VERIFY:
            run.progress.note(f"{run.state.theories.name(name)}: {decided.record.text}")
            continue
        reason = (
            f"predicted probability of improvement {verdict.probability:.2f}; {decided.record.text}"
        )
        await _admit(run, cycle, name, reason, lasting(run.state, name, cycle, [decided.digest]))
    return verdicts


async def _check_submissions(run: Run, cycle: int, found: Recorded[SearchFinished]) -> list[Digest]:
    """Successors that pass the checks; one that is a known theory in another form is left out."""
    fresh: list[Digest] = []
    n_known = 0
    forms = {form_of_source(run.form(name).program.source) for name in run.state.theories.checked}
    for submission in found.record.submissions:
        source = run.trace.artifacts.get(submission.source).decode()
        if form_of_source(source) in forms:
            n_known += 1
            continue
        program = TheoryProgram(source, submission.author, submission.parents)
        checked = await check_program(run, cycle, program, submission.change, [found.digest])
        forms.add(form_of_source(source))
        if checked.record.passed:
            fresh.append(program.digest)
        else:
            run.progress.note(f"{checked.record.name} was refused: {checked.record.reason}")
    if n_known:
        run.progress.note(known_in_words(n_known, len(found.record.submissions)))
    return fresh


def known_in_words(n_known: int, n_submitted: int) -> str:
    """State that proposed theories have the form of one that competes already, and so are no new ones."""
    if n_known == n_submitted:
        return "no new theory: what the search found best has the form of a theory that competes already"
    return f"{n_known} of {n_submitted} proposed theories have the form of a theory that competes already"


def _placed(
    config: CampaignConfig,
    submissions: Sequence[SuccessorSubmitted],
    advantages: Mapping[Digest, ScoreEstimate],
) -> list[Digest]:
    """Candidates that are asked about at no cost: an experiment compares several with the leader in any case.

    They are those with the best criterion, which counts left-out responses or the price of what was fitted, among those
    that the responses so far do not speak against.
    """
    open_ = [name for name, ahead in advantages.items() if ahead.value > 0 or is_tie(ahead)]
    criteria = {item.source: item.criterion for item in submissions}
    return sorted(open_, key=lambda name: -criteria[name])[: config.theories.rivals - 1]


async def _admit(run: Run, cycle: int, name: Digest, reason: str, inputs: Sequence[Digest]) -> None:
    """Let a theory into the pool, unless it is a duplicate that is no simpler."""
    if name not in run.state.theories.checked:  # it failed on responses
        return
    compared = await compare(run, cycle, name)
    if compared is not None and compared.record.twin is not None and not compared.record.simpler:
        run.progress.note(
            f"{run.state.theories.name(name)} is a duplicate: it {compared.record.text}"
        )
        return
    run.record(
        TheoryAdmitted(theory=name, cycle=cycle, reason=reason),
        name="admit",
        inputs=[*inputs, *([compared.digest] if compared else [])],
        position={"cycle": cycle},
    )


async def compare(run: Run, cycle: int, candidate: Digest) -> Recorded[TheoryCompared] | None:
    """Find a theory of the pool that predicts the same and as well, over the space and not only on presented trials.

    Those whose people choose alike and which the data do not tell apart are compared, after adaptation as well.
    """
    near = [
        name
        for name in (line.theory for line in run.state.board().standings)
        if name != candidate
        and distance(run.evidence, candidate, name) < DISTINCT
        and is_tie(left_out_advantage(run.state.theories, run.state.experiments, candidate, name))
    ]
    if not near:
        return None

    def work(context: StepContext) -> TheoryCompared:
        stimuli = sample_of_space(run.evidence, context.rng, COMPARED)
        found, twin = None, None
        for group in (near[:1], near[1:]):
            found = found or run.laboratory.duplicate(
                run.theory(candidate), [run.theory(n) for n in group], stimuli
            )
        if found is not None and found.distance.declared < DISTINCT:
            twin = found.theory.digest
        size = {
            name: run.state.theories.checked[name].record.code_length for name in (candidate, *near)
        }
        return TheoryCompared(
            theory=candidate,
            cycle=cycle,
            near=tuple(near),
            twin=twin,
            simpler=twin is not None and size[candidate] < size[twin],
            text=found.sentence
            if found
            else "predicts otherwise on trials that were not presented.",
        )

    inputs = [run.state.theories.checked[name].digest for name in (candidate, *near)]
    inputs += run.state.theories.fit_records((candidate, *near))
    return await run.step(
        "compare", work, returns=TheoryCompared, inputs=inputs, position={"cycle": cycle}
    )


def _judge_one(run: Run, cycle: int, candidate: Digest, incumbent: Digest) -> Recorded[Verdict]:
    submission = submission_of(run.evidence, candidate, incumbent)
    behind = run.state.theories.score_records(
        (candidate, incumbent), run.state.experiments.collected
    )
    return run.record(
        epoch_of(run).judge(submission, cycle),
        name="judge",
        position={"cycle": cycle},
        inputs=[
            run.state.judging.epochs[-1].digest,
            *behind,
            *measure(run, cycle, submission, behind),
        ],
    )
