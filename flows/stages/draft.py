"""Revisers at the workbench: drafts are tried and answers analysed in several rounds; the best draft is submitted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from lakatos.experiments.task import Trials
from lakatos.flows.roles.ask import RoleReply, ask_stage
from lakatos.flows.run.evidence import RunEvidence
from lakatos.flows.run.run import Run
from lakatos.flows.run.state import RunState
from lakatos.flows.run.study import CampaignConfig
from lakatos.theories.discovery.grammar_search.advocate import GrammarAdvocate
from lakatos.theories.discovery.rivals import trials_of_study
from lakatos.theories.discovery.roles.analysis import (
    LIMITS,
    AnalysisRefusedError,
    analysis_tables,
    run_analysis,
)
from lakatos.theories.discovery.roles.answer import SeveralSuccessors, Successor
from lakatos.theories.discovery.roles.draft_report import draft_report, likeness, missed_in_words
from lakatos.theories.discovery.roles.exhibit import Exhibit
from lakatos.theories.discovery.roles.lens import LENSES
from lakatos.theories.discovery.roles.overview import predicted_shares
from lakatos.theories.discovery.roles.question import RoleQuestion
from lakatos.theories.discovery.roles.record import AnalysisMade, DraftsScreened, SuccessorTried
from lakatos.theories.discovery.roles.tryout import TriedProgram, program_of, try_program
from lakatos.theories.engine.fitting.screen import worth_fitting
from lakatos.theories.engine.sandbox.programs import ProgramSandbox
from lakatos.theories.errors import TheoryError
from lakatos.theories.language.theory import Theory
from lakatos.traces.artifact import ArtifactStore
from lakatos.traces.digest import Digest
from lakatos.traces.step import Recorded, StepContext

PREDICTED = "predicted"
"""Key of the part of a report that is for analyses, not for reading."""
AGAIN = (
    "What came of your work so far is shown last. Mend what was refused; of what was fitted, look at the trials that "
    "it misses and at parameters that lie at a limit, and write a better draft, or state that you are done."
)
"""Text added to the task in every round but the first, so that the prompt before it stays the same and is read once."""
MOST_FREE = 2
"""Rounds of a lens in a cycle that cost nothing where an analysis failed."""
MOST_DUPLICATES = 2
"""Drafts of a lens that were there already, before its work ends."""


@dataclass(frozen=True)
class WorkbenchState:
    """Work of one lens so far in a cycle."""

    first: RoleQuestion[Successor]
    tried: tuple[Recorded[SuccessorTried], ...] = ()
    screened: tuple[Recorded[DraftsScreened], ...] = ()
    analyses: tuple[Recorded[AnalysisMade], ...] = ()
    n_free: int = 0
    """Rounds that cost nothing, since their analysis failed and they held no draft."""
    is_over: bool = False

    @property
    def best(self) -> Recorded[SuccessorTried] | None:
        """The draft with the best criterion among those that passed."""
        passed = [item for item in self.tried if item.record.outcome == "submitted"]
        return max(passed, key=lambda item: item.record.criterion or 0.0, default=None)


@dataclass(frozen=True)
class DraftCounts:
    """Outcomes of all rounds."""

    tried: tuple[Recorded[SuccessorTried], ...]
    n_asked: int
    n_answered: int


async def write_drafts(
    run: Run, cycle: int, questions: Sequence[RoleQuestion[Successor]]
) -> DraftCounts:
    """Ask every lens, try what it writes, tell it what came of that, and so on; in ``roles.drafts`` rounds at most."""
    lenses = {question.subject: WorkbenchState(question) for question in questions}
    n_asked = n_answered = 0
    tried: list[Recorded[SuccessorTried]] = []
    for number in range(run.config.roles.drafts + MOST_FREE):
        going = {name: item for name, item in lenses.items() if not item.is_over}
        requests = [
            _question(run.config, run.trace.artifacts, item, number - item.n_free)
            for item in going.values()
        ]
        heard = await ask_stage(run, cycle, "write", requests, number)
        if not heard:
            break
        n_asked += len(heard)
        n_answered += sum(reply.value is not None for reply in heard)
        for reply in heard:
            name = reply.question.subject
            lenses[name] = await _work(run, cycle, going[name], reply, number)
            tried += lenses[name].tried[len(going[name].tried) :]
    return DraftCounts(tuple(tried), n_asked, n_answered)


def _question(
    config: CampaignConfig, artifacts: ArtifactStore, item: WorkbenchState, number: int
) -> RoleQuestion[Successor]:
    """The question to a lens in a round: the first one, or the same with the results of its work."""
    left = config.roles.drafts - number
    rounds = f"This is your last round of {config.roles.drafts}."
    if left > 1:
        rounds = f"You have {left} rounds, this one included."
    if config.roles.further:
        rounds += (
            f' Beside "source" you may send up to {config.roles.further} further drafts in "further", each a whole '
            "theory of another kind: a score with the people that each declares, before any fit, says which fifth of "
            "them all is fitted."
        )
    if not (item.tried or item.screened or item.analyses):
        return replace(item.first, task=f"{item.first.task} {rounds}")
    return replace(
        item.first,
        task=f"{item.first.task} {AGAIN} {rounds}",
        last=(*item.first.last, *_own_work(artifacts, item)),
        inputs=(
            *item.first.inputs,
            *(tried.digest for tried in item.tried),
            *(found.digest for found in item.screened),
            *(made.digest for made in item.analyses),
        ),
        tools=False,
    )


def _own_work(artifacts: ArtifactStore, item: WorkbenchState) -> tuple[Exhibit, ...]:
    """The drafts of a lens in this cycle, its best and its last one, with the feedback on them."""
    shown = []
    if item.tried:
        lines = [_line(tried.record) for tried in item.tried]
        shown.append(Exhibit("your drafts so far", lines))
        last, best = item.tried[-1], item.best
        if best is not None and best.digest != last.digest:
            shown += _told(artifacts, best.record, "your best draft")
        shown += _told(artifacts, last.record, "your last draft")
    if lines := [line for found in item.screened for line in _passed_over(found.record)]:
        shown.append(Exhibit("your drafts that were not fitted", lines))
    if len(item.analyses) > 1:
        lines = [
            f"round {made.record.attempt + 1}: {made.record.told}" for made in item.analyses[:-1]
        ]
        shown.append(Exhibit("what your earlier analyses showed", lines))
    if item.analyses:
        made = item.analyses[-1].record
        code = artifacts.get(made.code).decode()
        shown += [
            Exhibit("your last analysis", code),
            Exhibit(
                f"what it {'showed' if made.outcome == 'returned' else 'failed by'}", made.told
            ),
        ]
    return tuple(shown)


def _line(record: SuccessorTried) -> str:
    if record.outcome != "submitted":
        what = f"{record.outcome}: {record.reason}"
    else:
        what = f"fitted: criterion {record.criterion:.4f}, squared error {record.error:.5f}"
    return f"round {record.attempt + 1}, {record.name or 'no name'} ({record.change}): {what}"


def _passed_over(record: DraftsScreened) -> list[str]:
    """The fate of drafts in a response that were not fitted; the first one is draft 1."""
    return [
        f"round {record.attempt + 1}, draft {place + 1}: "
        + (
            f"cannot be run: {reason}"
            if score is None
            else f"before any fit {score:.4f} nats per choice"
        )
        for place, (score, reason) in enumerate(zip(record.scores, record.reasons, strict=True))
        if place not in record.fitted
    ]


def _told(artifacts: ArtifactStore, record: SuccessorTried, title: str) -> list[Exhibit]:
    shown = [Exhibit(title, artifacts.get(record.source).decode())]
    if record.report is not None:
        report = artifacts.get_json(record.report)
        missed = report.pop("missed most")
        del report[PREDICTED]
        shown.append(Exhibit(f"{title}: scores and what was learned", report))
        lines = [missed_in_words(item) for item in missed]
        shown.append(Exhibit(f"{title}: trials that it misses most", lines))
    if record.reason:
        shown.append(Exhibit(f"{title}: the refusal", record.reason))
    return shown


async def _work(
    run: Run, cycle: int, item: WorkbenchState, reply: RoleReply[Successor], number: int
) -> WorkbenchState:
    """Try the draft of a response and make its analysis."""
    answer = reply.value
    drafts = [] if answer is None else drafts_of(answer, run.config.roles.further)
    if answer is None or not (drafts or answer.analysis.strip()):
        return replace(item, is_over=True)
    tried, screened, analyses = item.tried, item.screened, item.analyses
    if len(drafts) == 1:
        tried = (*tried, await _try_one(run, cycle, reply, number, drafts[0]))
    elif drafts:
        found = await _screen(run, cycle, reply, number, drafts)
        screened = (*screened, found)
        for place in found.record.fitted:
            own = (found.digest, place)
            tried = (*tried, await _try_one(run, cycle, reply, number, drafts[place], own))
    if answer.analysis.strip():
        analyses = (*analyses, await _analyse(run, cycle, item, reply, number))
    repeated = sum(found.record.outcome == "duplicate" for found in tried)
    failed = bool(analyses) and analyses[-1].record.outcome == "refused"
    free = answer.analysis.strip() and failed and not drafts and item.n_free < MOST_FREE
    n_free = item.n_free + bool(free)
    used_up = number + 1 - n_free >= run.config.roles.drafts
    over = answer.done or repeated >= MOST_DUPLICATES or used_up
    return WorkbenchState(item.first, tried, screened, analyses, n_free, over)


def drafts_of(answer: Successor, most: int) -> list[Successor]:
    """The drafts that an answer holds, each as a response with one; ``most`` beside the first."""
    if isinstance(answer, SeveralSuccessors):
        return answer.each(most)
    return [answer] if answer.source.strip() else []


async def _screen(
    run: Run,
    cycle: int,
    heard: RoleReply[Successor],
    attempt: int,
    drafts: Sequence[Successor],
) -> Recorded[DraftsScreened]:
    """Score several drafts before any fit, and say which fifth of them is fitted."""
    experiments = list(run.state.experiments.collected)
    programs = [program_of(item, "", ()) for item in drafts]

    def work(context: StepContext) -> DraftsScreened:
        trials = [run.trials(name) for name in experiments]
        found = run.laboratory.scores_before_fit(programs, trials)
        scores = [None if isinstance(item, TheoryError) else round(item, 6) for item in found]
        return DraftsScreened(
            cycle=cycle,
            lens=heard.question.subject,
            attempt=attempt,
            answer=heard.answered.digest,
            sources=tuple(context.artifacts.put(item.source.encode()) for item in programs),
            scores=tuple(scores),
            reasons=tuple(str(item) if isinstance(item, TheoryError) else "" for item in found),
            fitted=worth_fitting(scores),
        )

    collected = [run.state.experiments.collected[name].digest for name in experiments]
    return await run.step(
        "screen",
        work,
        returns=DraftsScreened,
        inputs=[heard.answered.digest, *collected],
        position={"cycle": cycle, "lens": heard.question.subject, "attempt": attempt},
    )


async def _try_one(
    run: Run,
    cycle: int,
    heard: RoleReply[Successor],
    attempt: int,
    answer: Successor,
    screened: tuple[Digest, int] | None = None,
) -> Recorded[SuccessorTried]:
    """Check and fit a draft, one after another, so that the second of two equal sources is a duplicate.

    Args:
        run, cycle, heard, attempt: Run, cycle, earlier answers and attempt of the response.
        answer: The draft, as a response with one.
        screened: Record of the choice among several drafts, and the place of this one.
    """
    answered = heard.answered
    lens = heard.question.subject
    program = program_of(
        answer, f"language model {answered.record.model}", _parents(run.state, lens)
    )
    experiments = list(run.state.experiments.collected)
    known = set(run.state.theories.checked) | {
        digest
        for item in run.state.roles.tried
        for digest in (item.record.source, item.record.fitted)
        if digest is not None
    }

    def work(context: StepContext) -> SuccessorTried:
        trials = [run.trials(name) for name in experiments]
        found = try_program(
            program,
            lambda item: run.laboratory.check(
                item, trials_of_study(run.evidence, run.source), run.evidence.terms.n_people
            ),
            lambda item: run.laboratory.evaluate_program(item, trials),
            GrammarAdvocate(run.family.grammar),
            known,
        )
        report = None if found.theory is None else _report(run.evidence, found.theory, experiments)
        return _tried_record(context, found, heard, cycle, attempt, report)

    position: dict[str, int | str] = {"cycle": cycle, "lens": lens, "attempt": attempt}
    inputs = [
        answered.digest,
        *(run.state.experiments.collected[name].digest for name in experiments),
    ]
    if screened is not None:
        inputs, position = [*inputs, screened[0]], {**position, "draft": screened[1]}
    return await run.step("try", work, returns=SuccessorTried, inputs=inputs, position=position)


def _report(
    evidence: RunEvidence, theory: Theory, experiments: Sequence[str]
) -> dict[str, Any] | None:
    """Feedback to the author of a fitted draft; None if it fails on responses."""
    trials = {name: evidence.trials(name) for name in experiments}
    (scored,) = evidence.laboratory.scores_of(
        [theory], list(trials.values()), evidence.config.theories.draws
    )
    if isinstance(scored, TheoryError):
        return None
    diagnosis = evidence.state.theories.diagnoses[-1].record
    rivals = {
        f"{title} {evidence.state.theories.name(rival)}": [
            evidence.state.theories.scores[rival, name].record.left_out.scores
            for name in experiments
        ]
        for title, rival in (("leader", diagnosis.leader), ("loser", diagnosis.loser))
    }
    report = draft_report(theory, scored, trials, rivals, evidence.domain)
    theories = evidence.state.theories
    pool = {
        theories.name(line.theory): [
            predicted_shares(theories.scores[line.theory, name].record) for name in experiments
        ]
        for line in evidence.state.board().standings
    }
    if alike := likeness([own.mean for own in scored], pool):
        report["predicts most like"] = alike
    shares = {
        name: np.round(own.mean, 4).tolist() for name, own in zip(experiments, scored, strict=True)
    }
    return {**report, PREDICTED: shares}


def _tried_record(
    context: StepContext,
    found: TriedProgram,
    heard: RoleReply[Successor],
    cycle: int,
    attempt: int,
    report: dict[str, Any] | None,
) -> SuccessorTried:
    answered, answer = heard.answered.record, heard.value
    assert answer is not None
    fitted = (
        None
        if found.theory is None
        else context.artifacts.put(found.theory.program.source.encode())
    )
    return SuccessorTried(
        cycle=cycle,
        lens=heard.question.subject,
        attempt=attempt,
        answer=heard.answered.digest,
        model=answered.model,
        outcome=found.outcome,
        reason=found.reason,
        name=found.name,
        source=context.artifacts.put(found.program.source.encode()),
        fitted=fitted,
        parents=found.program.parents,
        change=answer.change,
        criterion=found.criterion,
        error=found.error,
        report=None if report is None else context.artifacts.put_json(report),
    )


def _parents(state: RunState, lens: str) -> tuple[Digest, ...]:
    diagnosis = state.theories.diagnoses[-1].record
    parent = LENSES[lens].parent
    return (
        () if parent == "none" else (diagnosis.leader if parent == "leader" else diagnosis.loser,)
    )


async def _analyse(
    run: Run, cycle: int, item: WorkbenchState, heard: RoleReply[Successor], attempt: int
) -> Recorded[AnalysisMade]:
    """Run the code of a response on the open responses, and on nothing else."""
    answer, lens = heard.value, heard.question.subject
    assert answer is not None
    trials = {name: run.trials(name) for name in run.state.experiments.collected}
    predicted = _predicted(run.state, run.trace.artifacts, item, trials)

    def sandboxed(source: str, arguments: Mapping[str, Any]) -> tuple[Any, str]:
        with ProgramSandbox(limits=LIMITS) as sandbox:
            ran = sandbox.run(source, arguments)
        return ran.returned, ran.failure

    def work(context: StepContext) -> AnalysisMade:
        outcome: Literal["returned", "refused"] = "returned"
        try:
            result = run_analysis(answer.analysis, analysis_tables(trials, predicted), sandboxed)
        except AnalysisRefusedError as error:
            result, outcome = str(error), "refused"
        return AnalysisMade(
            cycle=cycle,
            lens=lens,
            attempt=attempt,
            answer=heard.answered.digest,
            code=context.artifacts.put(answer.analysis.encode()),
            outcome=outcome,
            told=result,
        )

    made = [draft.digest for draft in (item.best,) if draft is not None]
    collected = [known.digest for known in run.state.experiments.collected.values()]
    return await run.step(
        "analyse",
        work,
        returns=AnalysisMade,
        inputs=[heard.answered.digest, *collected, *made],
        position={"cycle": cycle, "lens": lens, "attempt": attempt},
    )


def _predicted(
    state: RunState, artifacts: ArtifactStore, item: WorkbenchState, trials: Mapping[str, Trials]
) -> dict[str, dict[str, Any]]:
    """Shares predicted by leader, loser and the best draft, by experiment."""
    diagnosis = state.theories.diagnoses[-1].record
    found: dict[str, dict[str, Any]] = {
        name: {
            title: predicted_shares(state.theories.scores[rival, name].record)
            for title, rival in (("leader", diagnosis.leader), ("loser", diagnosis.loser))
        }
        for name in trials
    }
    best = item.best
    if best is not None and best.record.report is not None:
        shares = artifacts.get_json(best.record.report)[PREDICTED]
        for name in trials:
            found[name]["draft"] = shares[name]
    return found
