"""Evaluation of the conduct of a run: rules over its trace, each of which is decided by the records alone.

What models say is held against what they were shown: the data between the marks of their own request. Four kinds of
invention are counted apart, as `language_models.quotes` tells them: a call that was not made, arguments that a call was
not made with, a number that no cited record holds, and a citation of something that was not shown.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final

from lakatos.flows.argument import RunFolder
from lakatos.flows.errors import RunMissingError
from lakatos.flows.result import Result, Shown
from lakatos.flows.run.console import escape
from lakatos.flows.run.records import RECORD_TYPES, CycleClosed
from lakatos.flows.run.run import check_run
from lakatos.judges.judge import Verdict
from lakatos.language_models.client import ModelRequest, ToolCall
from lakatos.language_models.ledger import spending_of
from lakatos.language_models.quotes import QuoteFinding, check_answer, sentences
from lakatos.language_models.record import LanguageModelCalled
from lakatos.language_models.tool import ToolUse
from lakatos.language_models.tool_record import ToolCalled
from lakatos.memory.library import Pitfall
from lakatos.theories.discovery.roles.record import RoleAnswered, SuccessorTried
from lakatos.theories.engine.record import Diagnosis, TheoryAdmitted, TheoryChecked, TheoryScored
from lakatos.theories.findings.verdicts.record import CampaignConcluded
from lakatos.traces.digest import Digest
from lakatos.traces.errors import ArtifactError
from lakatos.traces.journal import INTENT, Event
from lakatos.traces.record import Record, digests_in, kind_of
from lakatos.traces.step import Trace
from lakatos.traces.wording import plural

KINDS: Final = ("tool", "argument", "result", "citation")
"""Kinds of inventions."""
MOST_EXAMPLES: Final = 5
SCORED: Final = kind_of(TheoryScored)
USED: Final = frozenset(
    {
        "language_model_called",
        "tool_called",
        "role_answered",
        "case_read",
        "successor_tried",
        "search_finished",
        "diagnosis",
        "theory_scored",
        "critic_answered",
    }
)
"""Kinds of results that are made to be used; others end something, or are what somebody did."""
STAGES: Final = (
    ("cannot be read", ()),
    ("is no theory", ("TheorySourceError",)),
    ("uses what it may not", ("TheoryLintError",)),
    ("declares no proper prior", ("PriorError",)),
    ("fails when it runs", ("TheoryRaisedError", "TheoryTimeoutError", "TheoryResourceError")),
    ("gives another shape", ("TheoryShapeError",)),
    ("gives no probabilities", ("TheoryProbabilityError",)),
    ("contradicts its own claim", ("ClaimContradictedError", "TheoryError")),
    ("is there already", ()),
)
"""Stages that a submission must pass, in order, and the errors by which it fails there."""
_DATA = re.compile(r"<data (\S+) from ([^>]*)>\n(.*?)\n</data \1>", re.DOTALL)
_MARK = re.compile(r"#([0-9a-f]{8,64})")


@dataclass(frozen=True)
class ProcessRule:
    """Findings of one rule of good process in a run."""

    name: str
    question: str
    n: int
    """Cases that break it."""
    of: int
    """Cases that were looked at."""
    examples: tuple[str, ...] = ()
    """The first ones, each with the number of a record."""
    binding: bool = True
    """Whether a case is a fault; where it is not, the rule only observes."""

    @property
    def kept(self) -> bool:
        """Whether nothing breaks the rule, or the rule only observes."""
        return self.n == 0 or not self.binding


@dataclass(frozen=True)
class FailedAttempt:
    """An attempt that did not succeed, and what of it was sound."""

    seq: int
    what: str
    failed_at: str
    share: float
    """Share of the stages that it passed, or of its statements that records support."""


@dataclass(frozen=True)
class RunCosts:
    """Costs of a run by purpose."""

    requests: int
    tokens: int
    money: float
    participants: int
    """People who were asked, as preregistered."""
    responses: int
    seconds: float
    """Seconds between the first and the last event, waiting included."""
    n_accepted: int
    """Theories that entered the pool after the first ones."""
    n_candidates: int
    """Theories that were checked for it."""

    def per_theory(self) -> dict[str, float] | None:
        """Amount for each accepted theory; None where there is none."""
        if not self.n_accepted:
            return None
        values = {"requests": self.requests, "tokens": self.tokens, "money": self.money, "responses": self.responses,
                  "seconds": self.seconds, "candidates": self.n_candidates}  # fmt: skip
        return {name: value / self.n_accepted for name, value in values.items()}


@dataclass(frozen=True, repr=False)
class ProcessEvaluation(Result):
    """Conduct of a run."""

    run: str
    rules: tuple[ProcessRule, ...]
    inventions: Mapping[str, int] = field(default_factory=dict)
    """Number of inventions by kind."""
    n_statements: int = 0
    """Statements of models that were held against what they cite."""
    spent: RunCosts | None = None
    failed: tuple[FailedAttempt, ...] = ()

    @property
    def soundness(self) -> float | None:
        """Mean over failed attempts of how much of each was sound."""
        return sum(item.share for item in self.failed) / len(self.failed) if self.failed else None

    @property
    def exit_status(self) -> int:  # type: ignore[override]
        """1 where a rule is broken."""
        return 0 if all(rule.kept for rule in self.rules) else 1

    def lines(self) -> Iterator[Shown]:
        """Each rule with how it was kept, inventions of models, and what the run cost."""
        for rule in self.rules:
            mark = "[green]kept[/green]  " if rule.kept else "[yellow]broken[/yellow]"
            mark = mark if rule.binding else "observed"
            yield f"{mark}  {escape(rule.name)}: {rule.n} of {rule.of}; {escape(rule.question)}"
            for example in rule.examples:
                yield f"          {escape(example)}"
        invented = ", ".join(f"{kind} {n}" for kind, n in self.inventions.items())
        yield f"inventions in {plural(self.n_statements, 'statement')} of models: {invented}"
        if self.spent is not None:
            each = self.spent.per_theory()
            yield (
                f"{self.spent.n_accepted} theories accepted of {self.spent.n_candidates} candidates, "
                f"{self.spent.responses} responses, {self.spent.tokens} tokens"
                + (
                    f"; for each: {', '.join(f'{value:.4g} {name}' for name, value in each.items())}"
                    if each
                    else ""
                )
            )
        if self.soundness is not None:
            yield (
                f"{plural(len(self.failed), 'attempt')} failed; on average {self.soundness:.0%} of each was sound:"
            )
            for item in self.failed[:12]:
                yield (
                    f"          record {item.seq}, {escape(item.what)}: {item.failed_at} ({item.share:.0%} sound)"
                )

    def to_json(self) -> dict[str, Any]:
        """Write the evaluation as plain values, for programs."""
        spent = (
            vars(self.spent) | {"per_accepted_theory": self.spent.per_theory()}
            if self.spent
            else None
        )
        return {
            "run": self.run,
            "rules": [vars(rule) | {"kept": rule.kept} for rule in self.rules],
            "inventions": dict(self.inventions),
            "n_statements": self.n_statements,
            "spent": spent,
            "failed": [vars(item) for item in self.failed],
            "soundness_of_failed_attempts": self.soundness,
        }


def evaluate(folder: RunFolder) -> ProcessEvaluation:
    """Apply every rule to a run.

    Args:
        folder: Folder of the run, which may still be going on.

    Raises:
        RunMissingError: There is no run, or nothing of it is recorded yet.
        TraceError: The trace is damaged.
    """
    check_run(folder)
    with Trace.open(folder, RECORD_TYPES, read_only=True) as trace:
        everything = list(trace.journal.events())
        if not everything:
            raise RunMissingError(
                f"the run {folder} has not begun; `lakatos resume {folder}` begins it."
            )
        run = _TraceResults(trace, everything)
        statements = list(_statements(run))
        return ProcessEvaluation(
            run=folder.name,
            rules=tuple(_rules(run, statements)),
            inventions={
                kind: sum(item.kind == kind for one in statements for item in one.wrong)
                for kind in KINDS
            },
            n_statements=len(statements),
            spent=_spent(run, everything),
            failed=tuple(_failed(run, statements)),
        )


class _TraceResults:
    """The results of a trace, in order."""

    def __init__(self, trace: Trace, everything: Sequence[Event]) -> None:
        self.trace = trace
        self.events = [event for event in everything if event.kind != INTENT]
        self.by_digest = {event.record_digest: event for event in self.events}
        self.records: list[tuple[Event, Record]] = [
            (event, trace.read(event).record) for event in self.events
        ]

    def of(self, kind: type[Record]) -> list[tuple[Event, Any]]:
        """All records of a class."""
        return [(event, record) for event, record in self.records if isinstance(record, kind)]

    def exists(self, digest: str) -> bool:
        """Whether a record or an artifact has a digest that begins so."""
        return digest in self.by_digest or self.trace.artifacts.has(digest)


@dataclass(frozen=True)
class _ModelStatement:
    """A statement of a model, and what is wrong with it."""

    seq: int
    text: str
    wrong: tuple[QuoteFinding, ...]
    uncited: bool


def _statements(results: _TraceResults) -> Iterator[_ModelStatement]:
    """Statements of roles, each held against the data that its request showed and the calls made in its cycle."""
    uses = _uses(results)
    for event, record in results.of(RoleAnswered):
        if record.answer is None or not record.calls:
            continue
        try:
            answer = results.trace.artifacts.get_json(record.answer)
            call = results.trace.get(record.calls[0], LanguageModelCalled)
            shown = shown_in(
                ModelRequest.model_validate(results.trace.artifacts.get_json(call.request))
            )
        except ArtifactError:  # erased with a participant's responses
            continue
        statements = (
            answer.get("statements", answer.get("case")) if isinstance(answer, dict) else None
        )
        for statement in statements or ():
            marks = " ".join(statement["cites"])
            text = " ".join(f"{sentence} {marks}" for sentence in sentences(statement["text"]))
            wrong = check_answer(text, uses[event.position.get("cycle")], shown)
            yield _ModelStatement(event.seq, statement["text"], wrong, not _MARK.search(text))


def _uses(results: _TraceResults) -> defaultdict[Any, list[ToolUse]]:
    """Calls of tools, by cycle."""
    found: defaultdict[Any, list[ToolUse]] = defaultdict(list)
    artifacts = results.trace.artifacts
    for event, record in results.of(ToolCalled):
        use = ToolUse(
            call=ToolCall(call_id="", name=record.tool, arguments=""),
            arguments=artifacts.get_json(record.arguments),
            outcome=record.outcome,
            reference=event.record_digest,
            value=artifacts.get_json(record.value),
            shown="",
        )
        found[event.position.get("cycle")].append(use)
    return found


def shown_in(request: ModelRequest) -> dict[str, str]:
    """Citable records in a request, by the digest as it was shown."""
    found = {}
    for message in request.messages:
        if message.role != "assistant":
            for _, source, text in _DATA.findall(message.content):
                for mark in _MARK.findall(source):
                    found[mark] = text
    return found


def _rules(results: _TraceResults, statements: Sequence[_ModelStatement]) -> Iterator[ProcessRule]:
    yield _repeated(results)
    yield from _unused(results)
    yield _unsupported(results, statements)
    yield _numbers(statements)
    yield _citations(results, statements)


def _repeated(results: _TraceResults) -> ProcessRule:
    """Calls that could only give what was given before."""
    groups: dict[tuple[Any, ...], list[int]] = defaultdict(list)
    for event, call in results.of(LanguageModelCalled):
        drawn = call.seed if call.sampling.temperature > 0 else 0
        groups["model", call.model_version, call.request, drawn].append(event.seq)
    n_calls = sum(map(len, groups.values()))
    for event, tool in results.of(ToolCalled):
        where = tuple(
            sorted((name, value) for name, value in event.position.items() if name != "call")
        )
        groups["tool", tool.tool, tool.arguments, where].append(event.seq)
        n_calls += 1
    again = [items for items in groups.values() if len(items) > 1]
    examples = [f"records {', '.join(map(str, items))} ask the same" for items in again]
    return ProcessRule(
        "repeated calls",
        "no call repeats another one that must give the same",
        sum(len(items) - 1 for items in again),
        n_calls,
        tuple(examples[:MOST_EXAMPLES]),
    )


def _unused(results: _TraceResults) -> Iterator[ProcessRule]:
    """Results that nothing later was derived from, where something later could have been.

    A line of the leaderboard is made from all scores of its theory, of which the record names those of the first two
    theories only. Theories that stayed out are scored all the same, in case they come back; that is no fault.
    """
    used = {digest for event in results.events for digest in event.inputs}
    for _, record in results.records:
        used.update(digests_in(record))
    boards = [
        (event.seq, {line.theory for line in closed.leaderboard})
        for event, closed in results.of(CycleClosed)
    ]
    made = _results_to_use(results, boards[-1][0] if boards else 0)
    idle = [event for event in made if event.record_digest not in used]
    rest = [event for event in idle if event.kind != SCORED]
    kinds = Counter(event.kind for event in rest)
    examples = [
        f"{n} {kind}, first record {next(e.seq for e in rest if e.kind == kind)}"
        for kind, n in kinds.items()
    ]
    yield ProcessRule(
        "unused results",
        "every result that cost something was used by a later one",
        len(rest),
        len(made),
        tuple(examples[:MOST_EXAMPLES]),
    )
    out = _scores_without_line(results, idle, boards)
    yield ProcessRule(
        "scores of theories that stayed out",
        "scores behind no later record and no later line of the leaderboard",
        len(out),
        sum(event.kind == SCORED for event in made),
        tuple(f"record {event.seq}" for event in out[:MOST_EXAMPLES]),
        binding=False,
    )


def _results_to_use(results: _TraceResults, last_board: int) -> list[Event]:
    """Results that something later could have been derived from."""
    ends = {
        event.record_digest for event, _ in results.of(Diagnosis)[-1:]
    }  # the last one is made for readers
    made = [
        event for event in results.events if event.kind in USED and event.record_digest not in ends
    ]
    if results.of(CampaignConcluded):
        return made
    # An unfinished run is about to use its newest result, and the scores since it wrote the last leaderboard.
    return [event for event in made[:-1] if event.kind != SCORED or event.seq < last_board]


def _scores_without_line(
    results: _TraceResults, idle: Sequence[Event], boards: Sequence[tuple[int, set[Digest]]]
) -> list[Event]:
    """Unused scores of theories that are in no later leaderboard."""
    scored = {event.seq: record.theory for event, record in results.of(TheoryScored)}
    return [
        event
        for event in idle
        if event.kind == SCORED
        and not any(scored[event.seq] in board for seq, board in boards if seq > event.seq)
    ]


def _unsupported(results: _TraceResults, statements: Sequence[_ModelStatement]) -> ProcessRule:
    """Conclusions without evidence: nothing cited, or nothing behind them in the journal."""
    found: list[str | None] = [
        f"record {item.seq}: {item.text[:80]!r} cites nothing" if item.uncited else None
        for item in statements
    ]
    for event, record in results.of(Diagnosis):
        found += [
            None
            if any(results.exists(digest) for digest in claim.cites)
            else f"record {event.seq}: {claim.text[:80]!r} cites nothing"
            for claim in record.claims
        ]
    found += _rests_of(results)
    for event, lesson in results.of(Pitfall):
        held = any(results.exists(digest) for digest in lesson.evidence)
        text = f"record {event.seq}: the lesson {lesson.mistake[:60]!r} rests on nothing"
        found.append(None if held else text)
    wrong = [text for text in found if text is not None]
    return ProcessRule(
        "conclusions without evidence",
        "every conclusion cites the records that it rests on",
        len(wrong),
        len(found),
        tuple(wrong[:MOST_EXAMPLES]),
    )


def _rests_of(results: _TraceResults) -> Iterator[str | None]:
    """Yield the evidence that the journal lacks for each verdict and admission; None if it lacks none."""
    for kind, evidence in _EVIDENCE_OF:
        for event, _ in results.of(kind):
            known = [digest for digest in event.inputs if digest in results.by_digest]
            behind = [results.by_digest[digest].kind for digest in known]
            bare = evidence not in behind if evidence else not behind
            text = f"record {event.seq} ({event.kind}) rests on no {evidence or 'record'}"
            yield text if bare else None


_EVIDENCE_OF: tuple[tuple[type[Record], str], ...] = (
    (Verdict, "theory_scored"),
    (CampaignConcluded, "theory_scored"),
    (TheoryAdmitted, ""),
)
"""Kinds of conclusions, and the kind of record that must stand behind each; any where it is empty."""


def _numbers(statements: Sequence[_ModelStatement]) -> ProcessRule:
    wrong = [(item, found) for item in statements for found in item.wrong if found.kind == "result"]
    examples = [f"record {item.seq}: {found.said!r}: {found.problem}" for item, found in wrong]
    return ProcessRule(
        "numbers that no record holds",
        "every number that a model states stands in the records it cites",
        len({id(item) for item, _ in wrong}),
        len(statements),
        tuple(examples[:MOST_EXAMPLES]),
    )


def _citations(results: _TraceResults, statements: Sequence[_ModelStatement]) -> ProcessRule:
    """Citations of what was not shown, by models; of what does not exist, by records."""
    wrong = [
        f"record {item.seq}: {found.said}: {found.problem}"
        for item in statements
        for found in item.wrong
        if found.kind == "citation"
    ]
    n = len(statements)
    for event, record in results.of(Diagnosis):
        for claim in record.claims:
            n += 1
            wrong += [
                f"record {event.seq} cites {digest[:12]}, which does not exist"
                for digest in claim.cites
                if not results.exists(digest)
            ]
    return ProcessRule(
        "citations of nothing",
        "every citation names something that exists and was shown",
        len(wrong),
        n,
        tuple(wrong[:MOST_EXAMPLES]),
    )


def _spent(results: _TraceResults, everything: Sequence[Event]) -> RunCosts:
    total = spending_of(everything).total
    admitted = [record for _, record in results.of(TheoryAdmitted) if record.cycle > 0]
    checked = [record for _, record in results.of(TheoryChecked) if record.cycle > 0]
    collected = [event.body for event in results.events if event.kind == "trials_collected"]
    first, last = (datetime.fromisoformat(everything[place].time_utc) for place in (0, -1))
    return RunCosts(
        requests=total.requests,
        tokens=total.tokens,
        money=total.millionths / 1e6,
        participants=sum(int(body["n_participants"]) for body in collected),
        responses=sum(int(body["n_responses"]) for body in collected),
        seconds=(last - first).total_seconds(),
        n_accepted=len(admitted),
        n_candidates=len(checked)
        + sum(item.outcome != "submitted" for _, item in results.of(SuccessorTried)),
    )


def stage_of(reason: str, outcome: str) -> int:
    """The stage at which a submission failed, by the error that its refusal names."""
    if outcome == "duplicate":
        return len(STAGES) - 1
    error = reason.partition(":")[0].strip()
    return next(
        (place for place, (_, errors) in enumerate(STAGES) if error in errors), len(STAGES) - 2
    )


def _failed(
    results: _TraceResults, statements: Sequence[_ModelStatement]
) -> Iterator[FailedAttempt]:
    """Attempts that failed: theories that were refused, responses that nobody could read, readings with inventions."""
    for event, record in results.of(SuccessorTried):
        if record.outcome != "submitted":
            stage = stage_of(record.reason, record.outcome)
            name = record.name or "a theory without a name"
            yield FailedAttempt(
                event.seq, f"{name} ({record.lens})", STAGES[stage][0], stage / len(STAGES)
            )
    for event, record in results.of(TheoryChecked):
        if not record.passed:
            stage = stage_of(record.reason, "")
            yield FailedAttempt(event.seq, record.name, STAGES[stage][0], stage / len(STAGES))
    for event, record in results.of(RoleAnswered):
        if record.outcome != "answered":
            yield FailedAttempt(event.seq, f"{record.role}: {record.task}", record.outcome, 0.0)
    by_answer: dict[int, list[_ModelStatement]] = defaultdict(list)
    for item in statements:
        by_answer[item.seq].append(item)
    for seq, items in by_answer.items():
        n_sound = sum(not item.wrong for item in items)
        if n_sound < len(items):
            yield FailedAttempt(
                seq,
                f"a reading of {len(items)} statements",
                "records do not bear it out",
                n_sound / len(items),
            )
