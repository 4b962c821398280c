"""Stage: language models read the case file, write successors and mend them; what passes joins the search's own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from lakatos.experiments.task import Trials
from lakatos.flows.roles.ask import RoleReply, ask_stage
from lakatos.flows.roles.brief import (
    MOST_TRIED,
    CycleCase,
    RoleNotebook,
    case_of,
    fate_exhibit,
    notebook,
)
from lakatos.flows.roles.remember import recall_about
from lakatos.flows.roles.tools import call_tool
from lakatos.flows.run.evidence import RunEvidence
from lakatos.flows.run.parts import task
from lakatos.flows.run.run import Run
from lakatos.flows.stages.draft import write_drafts
from lakatos.memory.recall import MOST
from lakatos.memory.record import LessonsRecalled
from lakatos.theories.discovery.roles.analysis import analysis_tables, arrays_in_words
from lakatos.theories.discovery.roles.answer import (
    Audit,
    CaseReading,
    SeveralSuccessors,
    Statement,
    Steelman,
    Successor,
)
from lakatos.theories.discovery.roles.exhibit import (
    Exhibit,
    labels_and_words,
    rounded,
    theory_exhibit,
    trials_exhibit,
    variations_exhibit,
)
from lakatos.theories.discovery.roles.lens import LENSES
from lakatos.theories.discovery.roles.lesson_overview import REWARD
from lakatos.theories.discovery.roles.prompt import read_prompt
from lakatos.theories.discovery.roles.question import RoleQuestion
from lakatos.theories.discovery.roles.record import (
    CaseRead,
    CheckedStatement,
    ClaimAudited,
    SuccessorsProposed,
    SuccessorTried,
    best_drafts,
)
from lakatos.theories.discovery.roles.statement import checked, conjecture
from lakatos.theories.engine.record import Diagnosis, SuccessorSubmitted
from lakatos.theories.errors import TheoryError
from lakatos.theories.language.theory import Theory, TheoryProgram, read_program
from lakatos.traces.artifact import ArtifactStore
from lakatos.traces.step import Recorded, StepContext
from lakatos.traces.wording import plural

ANALYSES_CHARACTERS = 4000
"""Characters of earlier cycles' analyses that revisers are shown."""
MOST_FINDINGS = 6
"""Maximum number of misfits of the leader that are shown."""


@task(name="propose")
async def propose(
    run: Run, cycle: int, diagnosis: Recorded[Diagnosis]
) -> Recorded[SuccessorsProposed] | None:
    """Arbiter and rival's advocate, then revisers under their lenses, one repair each, and the claims' audit.

    Returns:
        What is submitted.
    """
    if not (run.config.roles.arbiter or run.config.roles.reviser):
        return None
    roles = run.config.roles
    run.progress.stage(
        cycle,
        "propose",
        plural(len(roles.lenses), "lens", "lenses") if roles.reviser else "the arbiter reads",
    )
    case = await with_leader_case(run, cycle, case_of(run.evidence, diagnosis))
    read = await _read(run, cycle, case)
    learned = None
    if (
        roles.reviser
    ):  # lessons of situations like this one, also of other studies where they are shared
        lost, kinds = diagnosis.record, ("fact", "pitfall", "theory_won")
        learned = recall_about(run, cycle, "write", lost, lost.location, kinds, MOST)
    requests = []
    if roles.reviser:
        notes = notebook(run.evidence, run.models, "reviser")
        requests = _writing(run.evidence, notes, case, read, learned)
    written = await write_drafts(run, cycle, requests)
    tried = {item.record: item for item in written.tried}
    passed = [tried[best] for best in best_drafts(list(tried))][: roles.successors]
    await _audit(run, cycle, passed)
    for item in written.tried:
        if item.record.outcome != "submitted":
            run.progress.note(
                f"{item.record.name or 'a successor'} ({item.record.lens}) was refused: {item.record.reason}"
            )
    return run.record(
        SuccessorsProposed(
            cycle=cycle,
            n_asked=written.n_asked,
            n_answered=written.n_answered,
            submissions=tuple(_submitted(item.record) for item in passed),
        ),
        name="propose",
        inputs=[
            diagnosis.digest,
            *(item.digest for item in read),
            *(item.digest for item in written.tried),
        ],
        position={"cycle": cycle},
    )


async def with_leader_case(run: Run, cycle: int, case: CycleCase) -> CycleCase:
    """The case with what the leader, too, gets wrong: its misfits to all responses, with false-discovery control."""
    collected = run.state.experiments.collected
    called = await call_tool(
        run,
        "analyse_residuals",
        {"theory": case.leader, "experiments": list(collected), "n_replicas": 200},
        inputs=tuple(item.digest for item in collected.values()),
        position={"cycle": cycle, "inquiry": "the leader's case", "call": 0},
    )
    if called.record.outcome != "returned":
        return case
    found = run.trace.artifacts.get_json(called.record.value)["findings"]
    lines = [
        f"{item['feature']}: worth {rounded(item['gain'])} nats in all, confidence {rounded(item['confidence'])}"
        for item in found[:MOST_FINDINGS]
    ]
    name = run.state.theories.name(case.leader)
    exhibit = Exhibit(f"what the leader gets wrong: {name}", lines or ["nothing that stands out"])
    return replace(
        case,
        background=(exhibit, *case.background),
        inputs=(*case.inputs, called.digest),
    )


async def _read(run: Run, cycle: int, case: CycleCase) -> list[Recorded[CaseRead]]:
    """The arbiter's reading of the case, and the rival's case by the leader's advocate, held against the records."""
    roles = run.config.roles
    leader, loser = (run.state.theories.name(name) for name in (case.leader, case.loser))
    wanted: list[tuple[str, str, str, type[CaseReading | Steelman]]] = []
    if roles.arbiter:
        task = f"Say what is wrong with {loser}, which lost to {leader}."
        wanted.append(("arbiter", "arbiter", task, CaseReading))
    if roles.advocate and "steelman" in roles.lenses and roles.reviser:
        task = f"You are the advocate of {leader}. Make the strongest case for {loser}."
        wanted.append(("advocate", "steelman", task, Steelman))
    questions: list[RoleQuestion[Any]] = [
        RoleQuestion(
            role=role,
            prompt=read_prompt(prompt),
            subject=case.loser,
            task=task,
            exhibits=(*_shared(run.evidence, case), *case.evidence),
            answer=answer,
            inputs=(
                *case.inputs,
                *(item.digest for item in run.state.roles.tried[-MOST_TRIED:]),
            ),
            tools=True,
        )
        for role, prompt, task, answer in wanted
    ]
    heard = [
        item for item in await ask_stage(run, cycle, "read", questions) if item.value is not None
    ]
    first = {item.question.prompt.name: _statements(item) for item in heard}
    again = [_mending(item, first[item.question.prompt.name]) for item in heard]
    mended = await ask_stage(run, cycle, "mend", list(filter(None, again)))
    second = {item.question.prompt.name: item for item in mended if item.value is not None}
    names = [item.question.prompt.name for item in heard]
    return [
        _believed(run, cycle, case, item, first[name], second.get(name))
        for item, name in zip(heard, names, strict=True)
    ]


def _statements(heard: RoleReply[CaseReading] | RoleReply[Steelman]) -> list[CheckedStatement]:
    """Each statement with the result of computing its claims."""
    value = heard.value
    assert value is not None
    written: Sequence[Statement] = (
        value.statements if isinstance(value, CaseReading) else value.case
    )
    return [checked(item, heard.rules, heard.shown) for item in written]


def _mending(
    heard: RoleReply[CaseReading] | RoleReply[Steelman], found: Sequence[CheckedStatement]
) -> RoleQuestion[CaseReading] | RoleQuestion[Steelman] | None:
    """One more chance for statements that do not count, each with what is wrong with it."""
    refused = [
        f"{item.text} ({item.outcome}: {'; '.join(item.problems) or 'it makes no claim that can be computed'})"
        for item in found
        if not item.supported
    ]
    if not refused:
        return None
    old_question = heard.question
    return replace(
        old_question,
        task=f"{old_question.task} These of your statements do not count yet: mend their claims, or leave them out.",
        exhibits=heard.shown,
        last=(Exhibit("your statements that do not count", refused),),
        inputs=(heard.answered.digest, *old_question.inputs),
        tools=False,
    )


def _shared(known: RunEvidence, case: CycleCase) -> list[Exhibit]:
    """List what arbiter, advocate and reviser read alike, in one order, so that a server reads it once in a cycle."""
    first = next(iter(known.state.experiments.collected))
    fate = fate_exhibit(known.state)
    loser = theory_exhibit(known.theory(case.loser), "the loser")
    return [
        case.study,
        trials_exhibit(known.domain, known.trials(first).stimuli),
        case.file,
        loser,
        theory_exhibit(known.theory(case.leader), "the leader", beside=loser),
        *case.background,
        *([fate] if fate else []),
    ]


def _believed(
    run: Run,
    cycle: int,
    case: CycleCase,
    heard: RoleReply[CaseReading] | RoleReply[Steelman],
    first: Sequence[CheckedStatement],
    mended: RoleReply[CaseReading] | RoleReply[Steelman] | None,
) -> Recorded[CaseRead]:
    """Supported statements, and those of the second try in place of the others."""
    value = heard.value
    assert value is not None
    guess, change = (
        (value.hypothesis, value.change) if isinstance(value, CaseReading) else ("", value.repair)
    )
    statements = list(first)
    if mended is not None:
        known = {item.text for item in first if item.supported}
        again = [item for item in _statements(mended) if item.text not in known]
        statements = [*(item for item in first if item.supported), *again]
    return run.record(
        CaseRead(
            cycle=cycle,
            answer=heard.answered.digest,
            task=heard.question.prompt.name,
            theory=case.loser,
            statements=tuple(statements),
            hypothesis=conjecture(guess, heard.rules),
            change=conjecture(change, heard.rules),
        ),
        name="believe",
        inputs=[
            heard.answered.digest,
            *([] if mended is None else [mended.answered.digest]),
            *case.inputs,
        ],
        position={"cycle": cycle, "task": heard.question.prompt.name},
    )


def _writing(
    known: RunEvidence,
    notes: RoleNotebook,
    case: CycleCase,
    read: Sequence[Recorded[CaseRead]],
    learned: Recorded[LessonsRecalled] | None,
) -> list[RoleQuestion[Successor]]:
    """One question for each lens."""
    by_task = {item.record.task: item for item in read}
    arbiter, steelman = by_task.get("arbiter"), by_task.get("steelman")
    common = [*_shared(known, case), _arrays(known), *_opinion("the arbiter's opinion", arbiter)]
    common += [variations_exhibit(known.domain), *case.evidence]
    common += [*_analyses(known), *notes.exhibits, *_remembered(learned)]
    questions = []
    for name in known.config.roles.lenses:
        lens = LENSES[name]
        own = _opinion("the strongest case for the loser", steelman) if name == "steelman" else []
        questions.append(
            RoleQuestion(
                role="reviser",
                prompt=read_prompt("reviser"),
                subject=name,
                task=lens.task,
                exhibits=tuple(common),
                last=tuple(own),
                answer=SeveralSuccessors if known.config.roles.further else Successor,
                inputs=(
                    *case.inputs,
                    *(
                        item.digest
                        for item in (arbiter, steelman if own else None)
                        if item is not None
                    ),
                    *(item.digest for item in known.state.roles.tried[-MOST_TRIED:]),
                    *(item.digest for item in known.state.roles.analyses),
                    *notes.inputs,
                    *([learned.digest] if learned is not None else []),
                ),
                tools=True,
            )
        )
    return questions


def _opinion(title: str, read: Recorded[CaseRead] | None) -> list[Exhibit]:
    """A model's statements: computed claims in the laboratory's words; its own words as not checked."""
    if read is None:
        return []
    record = read.record
    supported = [item for item in record.statements if item.supported]
    value = {f"supported_{place}": item.told for place, item in enumerate(supported, start=1)}
    value |= {
        f"in_its_words_not_checked_{place}": item.text
        for place, item in enumerate(supported, start=1)
    }
    value |= {
        name: text
        for name, text in (("guess", record.hypothesis), ("advice", record.change))
        if text
    }
    return [Exhibit(title, value)] if value else []


def _analyses(known: RunEvidence) -> list[Exhibit]:
    """Show results of analyses of earlier cycles, the newest that find room."""
    room, lines = ANALYSES_CHARACTERS, []
    for item in reversed(known.state.roles.analyses):
        made = item.record
        room -= len(made.told)
        if room < 0:
            break
        if made.outcome == "returned":
            lines.append(f"cycle {made.cycle}, {made.lens}: {made.told}")
    return [Exhibit("what analyses of earlier cycles showed", lines[::-1])] if lines else []


def _remembered(learned: Recorded[LessonsRecalled] | None) -> list[Exhibit]:
    """Lessons as advice, each with what speaks against it."""
    if learned is None:
        return []
    pairs = zip(learned.record.texts, learned.record.notes, strict=True)
    lines = [f"{text} ({note})" if note else text for text, note in pairs]
    return [Exhibit("lessons of earlier cycles and studies, as advice", lines)]


def _newest(evidence: RunEvidence) -> tuple[str, Trials]:
    """Name and responses of the newest experiment."""
    name = list(evidence.state.experiments.collected)[-1]
    return name, evidence.trials(name)


def _arrays(evidence: RunEvidence) -> Exhibit:
    """Show the arrays that an analysis receives of the newest experiment."""
    name, trials = _newest(evidence)
    labels, words = labels_and_words(evidence.domain)
    outcomes = {f"feedback_{REWARD}": "outcome of the chosen option"}
    table = analysis_tables({name: trials}, {}).get(name, {})
    return Exhibit(
        f'arrays of tables["{name}"] in an analysis',
        arrays_in_words(table, outcomes | labels, words),
    )


async def _audit(
    run: Run, cycle: int, passed: Sequence[Recorded[SuccessorTried]]
) -> list[Recorded[ClaimAudited]]:
    """Predictions of each claim's words, tested on its code."""
    if not run.config.roles.auditor:
        return []
    questions: list[RoleQuestion[Audit]] = []
    theories: dict[str, tuple[Recorded[SuccessorTried], Theory]] = {}
    for item in passed:
        theory = read_program(_program(run.trace.artifacts, item.record))
        theories[theory.digest] = (item, theory)
        questions.append(
            RoleQuestion(
                role="auditor",
                prompt=read_prompt("auditor"),
                subject=theory.digest,
                task="State what this claim predicts.",
                exhibits=(
                    Exhibit("the claim", f"{theory.name}: {theory.claim}"),
                    variations_exhibit(run.domain),
                ),
                answer=Audit,
                inputs=(item.digest,),
            )
        )
    audited = []
    for heard in await ask_stage(run, cycle, "audit", questions):
        if heard.value is None:
            continue
        item, theory = theories[heard.question.subject]
        audited.append(await _audit_one(run, cycle, heard, item, theory))
    return audited


async def _audit_one(
    run: Run, cycle: int, heard: RoleReply[Audit], item: Recorded[SuccessorTried], theory: Theory
) -> Recorded[ClaimAudited]:
    value, fitted = heard.value, theory.digest
    assert value is not None

    def work(context: StepContext) -> ClaimAudited:
        held: list[str] = []
        contradicted: list[str] = []
        not_tried: list[str] = []
        for stated in value.predictions:
            try:
                (found,) = run.laboratory.check_claim(theory, [stated.prediction]).tried
            except TheoryError as error:
                not_tried.append(str(error))
                continue
            (held if found.held else contradicted).append(found.sentence)
        return ClaimAudited(
            cycle=cycle,
            answer=heard.answered.digest,
            theory=fitted,
            held=tuple(held),
            contradicted=tuple(contradicted),
            not_tried=tuple(not_tried),
            unclear=value.unclear,
        )

    return await run.step(
        "audit",
        work,
        returns=ClaimAudited,
        inputs=[heard.answered.digest, item.digest],
        position={"cycle": cycle, "theory": fitted},
    )


def _program(artifacts: ArtifactStore, record: SuccessorTried) -> TheoryProgram:
    assert record.fitted is not None
    source = artifacts.get(record.fitted).decode()
    return TheoryProgram(source, f"language model {record.model}", record.parents)


def _submitted(record: SuccessorTried) -> SuccessorSubmitted:
    assert record.fitted is not None
    assert record.criterion is not None
    return SuccessorSubmitted(
        source=record.fitted,
        author=f"language model {record.model}",
        parents=record.parents,
        change=record.change,
        criterion=record.criterion,
    )
