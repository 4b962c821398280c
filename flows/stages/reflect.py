"""A language model writes lessons after a cycle; those that the cited records contradict are not kept."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from lakatos.flows.roles.ask import RoleReply, ask_stage
from lakatos.flows.roles.brief import case_of, fate_exhibit
from lakatos.flows.roles.remember import study_of
from lakatos.flows.run.evidence import RunEvidence
from lakatos.flows.run.state import RunState
from lakatos.flows.run.study import CampaignConfig
from lakatos.language_models.pins import PinnedRule
from lakatos.memory.item import Fact
from lakatos.memory.library import Pitfall
from lakatos.memory.recall import lesson_text
from lakatos.memory.record import LessonsWritten
from lakatos.theories.discovery.roles.answer import Reflection, WrittenFact, WrittenPitfall
from lakatos.theories.discovery.roles.exhibit import Exhibit, records_of
from lakatos.theories.discovery.roles.prompt import read_prompt
from lakatos.theories.discovery.roles.question import RoleQuestion
from lakatos.theories.discovery.roles.record import CheckedStatement
from lakatos.theories.discovery.roles.statement import contradictions
from lakatos.theories.engine.record import Diagnosis
from lakatos.traces.digest import Digest
from lakatos.traces.step import Recorded

if TYPE_CHECKING:
    from lakatos.flows.run.run import Run

CONFIDENCE = 0.5
"""Confidence in a fact that a model wrote: its numbers were compared with records, its words were not."""
MOST_SHOWN = 8
"""Refused designs, refused theories and lessons on record that are shown, of each."""


async def write_lessons(run: Run, cycle: int) -> None:
    """Ask the study's reflector what the cycle taught, and keep what the records bear out; nothing without one.

    After the last cycle only a memory that other studies share could take lessons, so nothing is asked without one.
    """
    diagnosis = next(
        (item for item in run.state.theories.diagnoses if item.record.cycle == cycle), None
    )
    is_last = cycle == run.config.stop.cycles and not run.config.memory.shared
    if not run.config.roles.reflector or diagnosis is None or is_last:
        return
    for heard in await ask_stage(
        run, cycle, "reflect", [_question(run.evidence, cycle, diagnosis)]
    ):
        if heard.value is not None:
            _keep(run, cycle, heard, heard.value)


def _question(
    evidence: RunEvidence, cycle: int, diagnosis: Recorded[Diagnosis]
) -> RoleQuestion[Reflection]:
    case, state = case_of(evidence, diagnosis), evidence.state
    designs = [
        item
        for item in state.experiments.designs.values()
        if item.record.cycle == cycle and not item.record.accepted
    ]
    theories = [item for item in state.theories.refused if item.record.cycle == cycle]
    refused = [
        Exhibit("a design that was refused", {"reason": item.record.reason}, item.digest)
        for item in designs[:MOST_SHOWN]
    ]
    refused += [
        Exhibit(
            f"a theory that was refused: {item.record.name}",
            {"change": item.record.change, "reason": item.record.reason},
            item.digest,
        )
        for item in theories[:MOST_SHOWN]
    ]
    fates = fate_exhibit(state)
    happened = [*([fates] if fates else []), *_presented(state, cycle)]
    known = [
        lesson_text(item)
        for _, item in state.memory.library.lessons()
        if isinstance(item, Fact | Pitfall)
    ]
    before = [Exhibit("lessons on record", known[-MOST_SHOWN:])] if known else []
    return RoleQuestion(
        role="reflector",
        prompt=read_prompt("reflector"),
        subject=f"cycle {cycle}",
        task="Write down what this cycle taught.",
        exhibits=(case.file, *happened, *case.background, *refused, *before),
        answer=Reflection,
        inputs=(*case.inputs, *(item.reference for item in refused)),
    )


def _presented(state: RunState, cycle: int) -> list[Exhibit]:
    """Show what was presented to participants in a cycle."""
    return [
        Exhibit(
            f"experiment {item.record.experiment} was presented",
            {"reason": item.record.reason},
            item.digest,
        )
        for item in state.experiments.designs.values()
        if item.record.cycle == cycle and item.record.accepted
    ]


def _keep(run: Run, cycle: int, heard: RoleReply[Reflection], value: Reflection) -> None:
    records = records_of(heard.shown)
    learned: tuple[WrittenPitfall | WrittenFact, ...] = (*value.pitfalls, *value.facts)
    held = [_held(item, heard.rules, records) for item in learned]
    written = run.record(
        LessonsWritten(cycle=cycle, answer=heard.answered.digest, lessons=tuple(held)),
        name="write lessons",
        inputs=[heard.answered.digest, *heard.question.inputs],
        position={"cycle": cycle},
    )
    for number, (item, judged) in enumerate(zip(learned, held, strict=True)):
        if not judged.supported:
            run.progress.note(f"a lesson was not kept: {judged.problems[0]}")
            continue
        cited = [
            digest for digest in records if any(digest.startswith(mark[1:]) for mark in item.cites)
        ]
        lesson = _lesson(run.config, item, (*cited, written.digest))
        run.record(
            lesson,
            name="lesson",
            inputs=lesson.evidence,
            position={"cycle": cycle, "number": number},
        )


def _held(
    item: WrittenPitfall | WrittenFact, rules: Sequence[PinnedRule], records: Mapping[str, Any]
) -> CheckedStatement:
    """A lesson with every reason why it is not kept; nothing in it is computed, so one that is kept is not checked."""
    texts = [text for name, text in item.model_dump().items() if name != "cites"]
    problems = [
        problem for text in texts for problem in contradictions(text, item.cites, rules, records)
    ]
    found = tuple(dict.fromkeys(problems))
    return CheckedStatement(
        text="; ".join(texts), cites=item.cites, supported=not found, problems=found, computed=False
    )


def _lesson(
    config: CampaignConfig, item: WrittenPitfall | WrittenFact, evidence: tuple[Digest, ...]
) -> Pitfall | Fact:
    domain = config.domain
    if isinstance(item, WrittenPitfall):
        return Pitfall(
            domain=domain,
            trigger=item.trigger,
            mistake=item.mistake,
            consequence=item.consequence,
            evidence=evidence,
        )
    study = study_of(config.name, config.seed)
    return Fact(
        domain=domain,
        subject=f"{item.subject} in {study}",
        statement=f"{item.statement} (a language model's words, not checked)",
        confidence=CONFIDENCE,
        evidence=evidence,
    )
