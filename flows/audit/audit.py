"""Audit: whether the trace is whole, everything was done in the promised order, and the numbers come out again."""

from __future__ import annotations

import json
import secrets
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

import numpy as np

from lakatos.flows.audit import checks as ask
from lakatos.flows.audit.checks import AuditFinding, finding
from lakatos.flows.audit.recompute import EFFECTS, OTHER_MACHINE, RecomputedRun, walk_again
from lakatos.flows.branches.branch import BranchOrigin, origin_of
from lakatos.flows.errors import RunMissingError
from lakatos.flows.result import Result, Shown
from lakatos.flows.run.analyses import analysed_in, analyses_in_words
from lakatos.flows.run.console import escape
from lakatos.flows.run.records import ACTS, RECORD_TYPES
from lakatos.flows.run.study import CampaignConfig
from lakatos.theories.findings.verdicts.record import FoldFinished
from lakatos.traces.artifact import write_whole
from lakatos.traces.errors import TraceError
from lakatos.traces.fold import canonical_digest
from lakatos.traces.head import NOTHING_YET, identity, known_key
from lakatos.traces.home import home
from lakatos.traces.journal import INTENT, Event, Journal
from lakatos.traces.record import Record
from lakatos.traces.step import JOURNAL_FILE, Recorded, Trace
from lakatos.traces.stores import located
from lakatos.traces.validity import Validity
from lakatos.traces.verify import verify
from lakatos.traces.wording import plural

__all__ = ["AuditFinding", "HowMuch", "KeptAudit", "RunAudit", "audit", "keep", "kept_audit"]

HowMuch = Literal["all", "sample", "none"]
Outcome = Literal["passes", "fails", "not recomputed"]
NOT_RECOMPUTED = "not recomputed"
"""Name of the finding that something could not be computed again here, though it was asked for."""
VERDICTS: dict[Outcome, str] = {
    "passes": "the audit passes",
    "fails": "the audit fails",
    "not recomputed": "the audit neither passes nor fails: its numbers were not recomputed",
}
EXIT_STATUS: dict[Outcome, int] = {"passes": 0, "fails": 1, "not recomputed": 3}
MARKS = {
    "passed": "[green]passed[/green]",
    "failed": "[red]FAILED[/red]",
    "withdrawn": "[yellow]withdrawn[/yellow]",
    "skipped": "[yellow]skipped[/yellow]",
    "counterfactual": "[yellow]counterfactual[/yellow]",
}
SAMPLE = 20
"""Steps that are computed again where a sample is wanted and no number is given."""
FROM_OUTSIDE = frozenset(
    {
        "answers_arrived",
        "session_held",
        "more_asked",
        "collection_closed",
        "person_withdrawn",
        "tombstone",
        "budget_raised",
        "code_accepted",
        "machine_used",
        "analyses_noted",
        "consent_asked",
        "trials_collected",
        *EFFECTS,
    }
)
"""Records that tell what people, models or researchers did; a walk through the campaign need not come to them."""


@dataclass(frozen=True, repr=False)
class RunAudit(Result):
    """All findings on a run and on the runs of its folds."""

    folder: Path
    findings: tuple[AuditFinding, ...]
    head: tuple[int, str] | None = None
    """Number and hash of the last event that the audit saw."""
    notes: tuple[str, ...] = ()

    @property
    def counterfactual(self) -> bool:
        """Whether the run is a branch, whose conclusion is no finding."""
        return any(item.counterfactual for item in self.findings)

    @property
    def passed(self) -> bool:
        """Whether every finding passed."""
        return all(item.passed for item in self.findings)

    @property
    def outcome(self) -> Outcome:
        """Whether the run passes; one whose numbers could not be computed again neither passes nor fails."""
        if not self.passed:
            return "fails"
        return (
            "not recomputed"
            if any(item.name == NOT_RECOMPUTED for item in self.findings)
            else "passes"
        )

    @property
    def exit_status(self) -> int:  # type: ignore[override]
        """0 if it passes, 1 if anything fails, 3 if numbers could not be computed again here."""
        return EXIT_STATUS[self.outcome]

    def lines(self) -> Iterator[Shown]:
        """Each finding, the verdict, and who looked at what."""
        for item in self.findings:
            yield f"{MARKS[item.state]}  {escape(item.name)}: {escape(item.detail)}"
        for line in signed_list(self).splitlines()[len(self.findings) :]:
            colour = {VERDICTS["fails"]: "red", VERDICTS["not recomputed"]: "yellow"}.get(line)
            yield f"[{colour}]{escape(line)}[/{colour}]" if colour else escape(line)

    def to_json(self) -> dict[str, Any]:
        """Write the audit as plain values, for programs."""
        return {
            "run": self.folder.name,
            "outcome": self.outcome,
            "passed": self.passed,
            "counterfactual": self.counterfactual,
            "head": None if self.head is None else {"seq": self.head[0], "hash": self.head[1]},
            "findings": [
                {
                    "name": item.name,
                    "state": item.state,
                    "detail": item.detail,
                    "problems": list(item.problems),
                }
                for item in self.findings
            ],
        }


def audit(
    folder: Path,
    *,
    recompute: HowMuch | bool = "all",
    n_sampled: int = SAMPLE,
    key: str | None = None,
    data: Path | None = None,
    n_workers: int = 2,
    is_copy: bool = False,
) -> RunAudit:
    """Check a run: chain, artifacts and heads, the order of things, validity, rules and budgets, and every number anew.

    Args:
        folder: Of the run.
        recompute: ``all`` or True to compute every deterministic record again, ``sample`` for some of the steps, or
            ``none`` or False.
        n_sampled: Steps that are computed again in a sample; they are drawn anew each time, so that nobody knows them.
        key: Public key that heads must be signed with; that of this machine's laboratory by default.
        data: Folder of the published data sets; the one that the run was begun with by default.
        n_workers: Theories that run at the same time.
        is_copy: Whether it is a bundle, after which the run may have gone on.

    Raises:
        RunMissingError: There is no run.
    """
    how: HowMuch = ("all" if recompute else "none") if isinstance(recompute, bool) else recompute
    if not located(folder / JOURNAL_FILE).exists():
        raise RunMissingError(
            f"there is no run in {folder}. `lakatos status` lists the runs that there are."
        )
    report = verify(folder, RECORD_TYPES, key=key, is_copy=is_copy)
    findings = [AuditFinding(check.name, check.ok, check.detail) for check in report.checks]
    if not report.ok:
        first = min((check.seq for check in report.failures if check.seq is not None), default=None)
        is_new = any(check.detail.startswith(NOTHING_YET) for check in report.failures)
        last = _not_begun(folder) if is_new else _trustworthy(folder, first)
        return RunAudit(folder, (*findings, last))
    walking = _Walking(how, n_sampled, data, n_workers)
    try:
        with Trace.open(folder, RECORD_TYPES, read_only=True) as trace:
            head = trace.journal.head
            findings += _of_run(trace, report.covered, walking)
            folds = [item.record for item in trace.records(FoldFinished)]
    except (TraceError, ValueError) as error:
        unread = AuditFinding("reading", False, f"a record cannot be understood: {error}")
        return RunAudit(folder, (*findings, unread))
    for fold in folds:
        below = audit(
            folder / fold.run,
            recompute=how,
            n_sampled=n_sampled,
            key=key,
            data=data,
            n_workers=n_workers,
            is_copy=is_copy,
        )
        findings += _of_fold(fold, below)
    return RunAudit(folder, tuple(findings), head)


@dataclass(frozen=True)
class _Walking:
    """How much of a run is computed again, and with what."""

    how: HowMuch
    n_sampled: int
    data: Path | None
    n_workers: int


def _of_run(trace: Trace, covered: int, walking: _Walking) -> Iterator[AuditFinding]:
    """Findings about a run with an intact chain, one after another."""
    events = [event for event in trace.journal.events() if event.kind != INTENT]
    records = [trace.read(event) for event in events]
    validity = Validity(trace.journal.events(), roots=trace.artifacts.has, acts=ACTS)
    yield from _answers(trace, events, records, validity, covered)
    if (noted := analysed_in(trace.journal)) is not None:
        alone = "the home of this laboratory knows no other run on the same responses"
        yield AuditFinding("analyses", True, analyses_in_words(noted[1]) or alone)
    origin = origin_of(trace.journal.meta)
    if walking.how == "none" or origin is not None:
        yield _not_computed(origin)
    else:
        wanted = _wanted(events, validity, walking.how, walking.n_sampled)
        walked = walk_again(trace, wanted=wanted, data=walking.data, n_workers=walking.n_workers)
        yield from _recomputed(walked, events, validity, walking.how)


def _answers(
    trace: Trace,
    events: list[Event],
    records: list[Recorded[Record]],
    validity: Validity,
    covered: int,
) -> Iterator[AuditFinding]:
    """Findings of all checks of the records, one after another; nothing is recomputed."""
    config = CampaignConfig.model_validate(trace.journal.meta["study"])
    origin = origin_of(trace.journal.meta)
    if origin is not None:
        yield ask.branched(origin)
    yield from ask.order(records)
    yield from ask.people(trace, records)
    yield ask.validity_of(validity, events)
    yield ask.conclusion(validity, events, records)
    yield from ask.signed_verdict(events, covered)
    yield ask.exclusions(trace, records, config)
    yield ask.people_budget(trace, records, config)
    yield from filter(
        None,
        [
            ask.model_budget(trace, list(trace.journal.events()), config),
            ask.pinned_rules(trace, records, config),
            ask.gate_levels(records, config),
        ],
    )
    valid = [item for item in records if validity.valid(item.digest)]
    yield ask.sealed(trace, valid, config)
    if (memorising := ask.memorising(trace, valid, config)) is not None:
        yield memorising


def _not_computed(origin: BranchOrigin | None) -> AuditFinding:
    why = "; its first part was computed in another run, which is to be audited" if origin else ""
    return AuditFinding("recomputation", True, f"nothing was computed again{why}", skipped=True)


def _of_fold(fold: FoldFinished, below: RunAudit) -> Iterator[AuditFinding]:
    """Findings of the audit of a fold's own run."""
    wrong = [item.detail for item in below.findings if not item.passed]
    yield from (item for item in below.findings if item.name == NOT_RECOMPUTED)
    if not wrong and _form(below.folder) != fold.form:
        wrong = [f"its journal in {fold.run} is not the one that the fold's record was made from"]
    fine = f"its own run passes {plural(len(below.findings), 'check')}"
    yield finding(f"fold {fold.fold + 1}", wrong, fine)


def _wanted(
    events: list[Event], validity: Validity, how: HowMuch, n_sampled: int
) -> Callable[[Event], bool]:
    if how == "all":
        return lambda event: True
    steps = [
        event.key
        for event in events
        if event.kind not in EFFECTS and validity.valid(event.record_digest)
    ]
    rng = np.random.default_rng(secrets.randbits(128))
    chosen = set(rng.choice(steps, min(n_sampled, len(steps)), replace=False)) if steps else set()
    return lambda event: event.key in chosen


def _recomputed(
    walked: RecomputedRun, events: list[Event], validity: Validity, how: HowMuch
) -> list[AuditFinding]:
    """Findings of the recomputation: equal and different results, and whether the campaign makes all records."""
    n_again = sum(walked.again.values())
    scores = walked.again["theory_scored"]
    equal = (
        "all equal bit for bit"
        if not walked.near
        else f"{walked.near} equal within rounding, all others exactly"
    )
    fine = f"{plural(n_again, 'record')} computed again in the sandbox, {plural(scores, 'score')} among them; {equal}"
    elsewhere = _elsewhere(walked)
    if how == "sample":
        fine += f"; {sum(walked.taken.values())} taken as they are"
    if walked.skipped:
        more = f" (and {len(walked.skipped) - 1} more)" if len(walked.skipped) > 1 else ""
        were = plural(n_again, "record was", "records were")
        text = f"{were}, and the rest could not be here: {walked.skipped[0]}{more}"
        wrong = [finding("recomputation", walked.wrong, fine)] if walked.wrong else []
        return [
            *wrong,
            *elsewhere,
            AuditFinding(NOT_RECOMPUTED, True, text, skipped=True, problems=tuple(walked.skipped)),
        ]
    campaign = _of_campaign(walked, events, validity)
    return [finding("recomputation", walked.wrong, fine), *elsewhere, campaign]


def _elsewhere(walked: RecomputedRun) -> list[AuditFinding]:
    """Findings about values of another machine that are nearly equal here."""
    if not walked.elsewhere:
        return []
    n_others = len(walked.elsewhere)
    text = (
        f"{plural(n_others, 'record was', 'records were')} computed on another machine ({walked.there}; here "
        f"{walked.here}) and differ{'s' if n_others == 1 else ''} from what comes out here by more than rounding, "
        f"though by no more than {OTHER_MACHINE:g}: {walked.elsewhere[0]}. Audit on such a machine to have the "
        "numbers exactly"
    )
    return [
        AuditFinding(NOT_RECOMPUTED, True, text, skipped=True, problems=tuple(walked.elsewhere))
    ]


def _of_campaign(walked: RecomputedRun, events: list[Event], validity: Validity) -> AuditFinding:
    """Whether the campaign makes all the records that there are, and no others."""
    missed = [
        event
        for event in events
        if event.key not in walked.visited and validity.valid(event.record_digest)
    ]
    if walked.end and any(event.kind == "concluded" for event in missed):
        text = f"there is a verdict, but on the way to it {walked.end}"
        return AuditFinding("campaign", False, text)
    if walked.end:
        text = f"the run goes as far as it is recorded: {walked.end}"
        return AuditFinding("campaign", True, text, skipped=True)
    rest = [event for event in missed if event.kind not in FROM_OUTSIDE]
    if rest and not any(event.kind == "tombstone" for event in events):
        text = f"event {rest[0].seq} ({rest[0].kind}) is none that the campaign makes"
        more = f" (and {len(rest) - 1} more)" if len(rest) > 1 else ""
        return AuditFinding("campaign", False, text + more)
    return AuditFinding("campaign", True, "the campaign makes these records and no others")


def _not_begun(folder: Path) -> AuditFinding:
    """What to do with a run that was stopped before its first record."""
    text = f"there is nothing to check yet; if it was stopped, `lakatos resume {folder.name}` begins it"
    return AuditFinding("trustworthy", True, text, skipped=True)


def _trustworthy(folder: Path, first: int | None) -> AuditFinding:
    """The part of a failing journal that can be trusted, and what to do."""
    if first is not None and first > 1:
        text = (
            f"events 1 to {first - 1} are as they were written; nothing after them can be relied on"
        )
    elif first is not None:
        text = "nothing of the journal can be relied on"
    else:
        text = "see above for what is damaged; nothing was changed or repaired"
    text += f". Keep {folder.name} as it is, restore a copy beside it, and audit that."
    return AuditFinding("trustworthy", True, text, skipped=True)


def _form(folder: Path) -> str:
    with Trace.open(folder, RECORD_TYPES, read_only=True) as trace:
        return canonical_digest(trace.journal.events())


@dataclass(frozen=True)
class KeptAudit:
    """An audit as it was kept in the laboratory's home."""

    time_utc: str
    recompute: HowMuch
    audit: RunAudit


def keep(found: RunAudit, recompute: HowMuch) -> None:
    """Keep an audit in the laboratory's home, in place of the last one of this run; nothing where no head was read.

    Raises:
        TraceError: The run cannot be read, or the home not written.
    """
    if found.head is None:
        return
    result = {
        "time_utc": datetime.now(UTC).isoformat(timespec="seconds"),
        "recompute": recompute,
        **found.to_json(),
    }
    write_whole(
        audit_place(found.folder), json.dumps(result, ensure_ascii=False).encode(), private=True
    )


def kept_audit(folder: Path) -> KeptAudit | None:
    """The last audit of a run that was kept on this machine; None if there is none that can be read.

    Raises:
        TraceError: The run cannot be read.
    """
    try:
        result = json.loads(audit_place(folder).read_bytes())
        findings = tuple(
            AuditFinding(
                item["name"],
                item["state"] != "failed",
                item["detail"],
                **{
                    state: item["state"] == state
                    for state in ("withdrawn", "skipped", "counterfactual")
                },
                problems=tuple(item["problems"]),
            )
            for item in result["findings"]
        )
        head = int(result["head"]["seq"]), str(result["head"]["hash"])
        return KeptAudit(
            str(result["time_utc"]), result["recompute"], RunAudit(folder, findings, head)
        )
    except (OSError, ValueError, KeyError, TypeError):
        return None


def audit_place(folder: Path) -> Path:
    """The file in the laboratory's home that keeps the last audit of a run."""
    with Journal.open(folder / JOURNAL_FILE, read_only=True) as journal:
        return home() / "audits" / f"{identity(journal)}.json"


def signed_list(found: RunAudit) -> str:
    """The audit as text that ends with who looked at what: the head of the journal and this laboratory's key."""
    lines = [f"{item.state:<9} {item.name}: {item.detail}" for item in found.findings]
    lines.append(VERDICTS[found.outcome])
    if found.counterfactual:
        lines.append("this run is a branch: what it concludes is counterfactual and no finding")
    if found.head:
        lines.append(f"audited up to event {found.head[0]}, hash {found.head[1]}")
    if key := known_key():
        lines.append(f"this laboratory's public key: {key}")
    return "\n".join(lines)
