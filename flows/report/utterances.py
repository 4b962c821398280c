"""Utterances of language models in a run, what became of them, and what they cost, as the report shows them.

All of it is text that somebody else wrote: the template escapes it, and nothing here is believed that was refused.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from lakatos.flows.report.reader import RunReading
from lakatos.flows.roles.failures import silence
from lakatos.flows.run.state import RunState
from lakatos.language_models.ledger import spending_of
from lakatos.language_models.record import LanguageModelCalled
from lakatos.language_models.tool_record import ToolCalled
from lakatos.theories.discovery.roles.record import (
    CheckedStatement,
    MatterInvestigated,
    ModelsChosen,
    RoleAnswered,
)
from lakatos.traces.digest import Digest
from lakatos.traces.errors import ArtifactError

MOST_CHARACTERS = 8000
"""Most characters of an answer that are shown."""


@dataclass(frozen=True)
class ModelUtterance:
    """One answer of a model in a role."""

    digest: Digest
    record: RoleAnswered
    about: str
    became: tuple[tuple[bool, str], ...]
    """Result of each part: whether it was let through, and in words."""
    text: str
    """The answer; empty where there is none."""
    looked: MatterInvestigated | None
    tools: tuple[str, ...]
    """Tools that it called first and that returned something."""


@dataclass
class ModelSpeaker:
    """One model over the whole run."""

    name: str
    served: set[str] = field(default_factory=set)
    n_calls: int = 0
    n_prompt_tokens: int = 0
    n_completion_tokens: int = 0
    outcomes: Counter[str] = field(default_factory=Counter)
    withheld: set[str] = field(default_factory=set)
    """Fields of requests without which it was asked."""


def utterance_facts(reading: RunReading) -> dict[str, Any] | None:
    """Everything that models said in roles, by cycle; None where no model was asked."""
    chosen = [item.record for item in reading.trace.records(ModelsChosen)]
    if not (chosen or reading.state.roles.answered):
        return None
    became = _became(reading)
    looked = _looked(reading)
    cycles: dict[int, list[ModelUtterance]] = defaultdict(list)
    for digest, item in reading.state.roles.answered.items():
        cycles[item.record.cycle].append(_utterance(reading, digest, item.record, became, looked))
    spent = spending_of(reading.trace.journal.events()).total
    return {
        "speakers": list(_speakers(reading)),
        "cycles": sorted(cycles.items()),
        "not_asked": [item for item in chosen if not item.asked],
        "spent": spent,
        "money": spent.millionths / 1e6,
        "n_refused": sum(
            item.record.answer is None for item in reading.state.roles.answered.values()
        ),
        "silence": silence([item.record for item in reading.state.roles.answered.values()]),
    }


def _speakers(reading: RunReading) -> Iterator[ModelSpeaker]:
    """Models in the order in which they first answered, with what they were asked as participants too."""
    found: dict[str, ModelSpeaker] = {}
    for item in reading.trace.records(LanguageModelCalled):
        record = item.record
        own = found.setdefault(record.model, ModelSpeaker(record.model))
        own.served.add(
            f"{record.model_name} ({record.server})" if record.server else record.model_name
        )
        own.n_calls += 1
        own.n_prompt_tokens += record.n_prompt_tokens
        own.n_completion_tokens += record.n_completion_tokens
        own.outcomes[record.outcome] += 1
        own.withheld.update(record.withheld)
    yield from found.values()


def _utterance(
    reading: RunReading,
    digest: Digest,
    record: RoleAnswered,
    became: dict[Digest, list[tuple[bool, str]]],
    looked: dict[Digest, MatterInvestigated],
) -> ModelUtterance:
    before = looked.get(record.calls[0]) if record.calls else None
    return ModelUtterance(
        digest=digest,
        record=record,
        about=_about(reading, record.subject),
        became=tuple(became.get(digest, ())),
        text=_text(reading, record),
        looked=before,
        tools=tuple(_tools(reading, before.results)) if before else (),
    )


def _about(reading: RunReading, subject: str) -> str:
    """A subject in words: theories by tag and name."""
    first, _, rest = subject.partition(" ")
    if first not in reading.checked:
        return subject if len(first) < 64 else f"theory {first[:8]} {rest}".strip()
    label = reading.label(first)
    return " ".join(part for part in (label.tag, label.brief, rest) if part)


def _text(reading: RunReading, record: RoleAnswered) -> str:
    if record.answer is None:
        return ""
    try:
        value = reading.trace.artifacts.get_json(record.answer)
    except ArtifactError:
        return "(erased)"
    parts = (
        [f"{name}: {_shown(item)}" for name, item in value.items()]
        if isinstance(value, dict)
        else [_shown(value)]
    )
    return "\n".join(parts)[:MOST_CHARACTERS]


def _shown(value: Any) -> str:
    if isinstance(value, str):
        return f"\n{value}" if "\n" in value else value
    return json.dumps(value, ensure_ascii=False)


def _looked(reading: RunReading) -> dict[Digest, MatterInvestigated]:
    """Index the conversations with tools by their first call."""
    return {
        item.record.calls[0]: item.record
        for item in reading.state.roles.investigated
        if item.record.calls
    }


def _tools(reading: RunReading, results: Iterable[Digest]) -> Iterator[str]:
    for digest in dict.fromkeys(results):
        called = reading.trace.get(digest, ToolCalled)
        try:
            arguments = json.dumps(
                reading.trace.artifacts.get_json(called.arguments), ensure_ascii=False
            )
        except ArtifactError:
            arguments = "(erased)"
        yield f"{called.tool} {arguments[:300]}"


def _in_words(statement: CheckedStatement) -> str:
    """A statement as what it is: computed, contradicted, or not checked."""
    if statement.outcome == "supported":
        return f"supported: {statement.told}. In its own words, not checked: {statement.text}"
    why = f" ({'; '.join(statement.problems)})" if statement.problems else ""
    return f"{statement.outcome}{why}: {statement.text}"


def _became(reading: RunReading) -> dict[Digest, list[tuple[bool, str]]]:
    """Return what became of answers, by the digest of their record."""
    found: dict[Digest, list[tuple[bool, str]]] = defaultdict(list)
    state = reading.state
    for part in (_of_readings, _of_drafts, _of_audits):
        for answer, passed, words in part(state):
            found[answer].append((passed, words))
    return found


_Became = Iterator[tuple[Digest, bool, str]]
"""Answers, whether what they said held, and in words what came of it."""


def _of_readings(state: RunState) -> _Became:
    for case in state.roles.cases:
        for statement in case.record.statements:
            yield case.record.answer, statement.supported, _in_words(statement)
        for name in ("hypothesis", "change"):
            if text := getattr(case.record, name):
                yield case.record.answer, True, f"a conjecture ({name}): {text}"


def _of_drafts(state: RunState) -> _Became:
    for tried in state.roles.tried:
        record = tried.record
        why = f": {record.reason}" if record.reason else ""
        words = f"{record.name or 'theory'} {record.outcome}{why}"
        yield record.answer, record.outcome == "submitted", words


def _of_audits(state: RunState) -> _Became:
    for audited in state.roles.audited:
        for passed, words, texts in (
            (True, "code and words agree", audited.record.held),
            (False, "code and words differ", audited.record.contradicted),
            (False, "cannot be tried", audited.record.not_tried),
        ):
            yield from ((audited.record.answer, passed, f"{words}: {text}") for text in texts)
