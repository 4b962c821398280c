"""Checks of the records of a run, one for each function, without recomputing any of them."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from lakatos.experiments.design import design_from_json
from lakatos.experiments.participants.table import get_answers, get_trials
from lakatos.experiments.preregistration import Preregistration
from lakatos.experiments.quality import exclude, for_design
from lakatos.experiments.record import (
    AnswersArrived,
    ConsentAsked,
    MoreAsked,
    PeopleRecruited,
    PersonExcluded,
    PersonWithdrawn,
    SealedOpened,
    TrialsCollected,
)
from lakatos.flows.branches.branch import BranchOrigin
from lakatos.flows.run.anchor_ledger import missing
from lakatos.flows.run.models import budget_in
from lakatos.flows.run.records import ACTS
from lakatos.flows.run.study import CampaignConfig
from lakatos.flows.run.task import domain_of
from lakatos.flows.stages.judging.anchor import ledger_of
from lakatos.flows.stages.verdict.unmeasured import say_of_memorising
from lakatos.judges.errors import JudgeError
from lakatos.judges.gate import refusal_of
from lakatos.judges.gate_record import GateDecided, GateRegistered
from lakatos.judges.ledger import LevelDrawn, level_of
from lakatos.language_models.client import ModelRequest
from lakatos.language_models.ledger import AMOUNTS, BudgetSpending, spend
from lakatos.language_models.pins import active, render
from lakatos.language_models.record import LanguageModelCalled
from lakatos.theories.discovery.roles.record import BudgetRaised, RoleAnswered
from lakatos.theories.discovery.roles.rule import pins_of
from lakatos.theories.engine.record import TheoryChecked, TheoryScored
from lakatos.theories.findings.verdicts.record import CampaignConcluded
from lakatos.traces.digest import Digest, digest_bytes
from lakatos.traces.errors import ArtifactMissingError, TraceError
from lakatos.traces.journal import INTENT, Event
from lakatos.traces.record import Record, Tombstone, kind_of
from lakatos.traces.step import Recorded, Trace
from lakatos.traces.validity import Validity
from lakatos.traces.wording import plural


@dataclass(frozen=True)
class AuditFinding:
    """One line of an audit."""

    name: str
    passed: bool
    detail: str
    withdrawn: bool = False
    """Whether it tells of responses that were withdrawn: neither a failure nor something that could be recomputed."""
    skipped: bool = False
    """Whether something could not be looked at here, or was not to be; it is no failure, and nothing is promised."""
    counterfactual: bool = False
    """Whether it says that the run is a branch: what it concludes would have been, and is no finding."""
    problems: tuple[str, ...] = ()
    """Everything that is wrong, where ``detail`` tells of the first."""

    @property
    def state(self) -> str:
        """``passed``, ``failed``, ``counterfactual``, ``withdrawn`` or ``skipped``."""
        if not self.passed:
            return "failed"
        if self.counterfactual:
            return "counterfactual"
        return "withdrawn" if self.withdrawn else "skipped" if self.skipped else "passed"


def branched(origin: BranchOrigin) -> AuditFinding:
    """Finding that a run is a branch, with its origin."""
    return AuditFinding("branch", True, origin.words, counterfactual=True)


def finding(name: str, problems: Sequence[str], fine: str) -> AuditFinding:
    """The answer to a question: what is wrong first, or that all is well."""
    more = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
    return AuditFinding(
        name, not problems, problems[0] + more if problems else fine, problems=tuple(problems)
    )


def validity_of(validity: Validity, events: list[Event]) -> AuditFinding:
    """Nothing rests on what is unknown; what rests on responses that people withdrew, or changed, is told apart."""
    stale = [event for event in events if not validity.valid(event.record_digest)]
    unknown = [
        event
        for event in stale
        if "was erased" not in validity.explain(event.record_digest)[-1].problem
    ]
    if unknown:
        first = f"first: {unknown[0].kind} (record {unknown[0].seq})"
        return AuditFinding(
            "validity",
            False,
            f"{plural(len(unknown), 'record rests', 'records rest')} on unknown ones, {first}",
        )
    if stale:
        reasons = {validity.explain(event.record_digest)[-1].problem for event in stale}
        reason = sorted(reasons)[0] + (
            f", and {plural(len(reasons) - 1, 'other reason')}" if len(reasons) > 1 else ""
        )
        do = plural(len(stale), "record does", "records do")
        text = f"{do} not count any more, since something {reason}; all others rest on valid ones"
        return AuditFinding("validity", True, text, withdrawn=True)
    return AuditFinding("validity", True, "every record rests on valid records")


def signed_verdict(events: list[Event], covered: int) -> Iterator[AuditFinding]:
    """Check that a signed head covers the verdict; events after the last head could have been added by anyone."""
    last = max((event.seq for event in events if event.kind == "concluded"), default=0)
    if last > covered:
        text = (
            f"the verdict (event {last}) stands after the last signed head (of event {covered}), so that nothing shows "
            "who wrote it; `lakatos resume` signs it, if you know that nobody touched the run since"
        )
        yield AuditFinding("verdict signed", False, text)
    elif last:
        yield AuditFinding(
            "verdict signed", True, f"a signed head covers the verdict (event {last})"
        )


def people(trace: Trace, records: list[Recorded[Record]]) -> Iterator[AuditFinding]:
    """Responses of single people came after they were asked, and each is where its record says, or was withdrawn."""
    arrived = [item.record for item in records if isinstance(item.record, AnswersArrived)]
    if not arrived:
        return
    early, unread, has_texts = _who_came_early(records)
    n_there = sum(trace.artifacts.has(record.answers) for record in arrived)
    excluded = {item.record.answers for item in records if isinstance(item.record, PersonExcluded)}
    fine = f"responses of {n_there} participants, each in a separate artifact; {len(excluded)} of them excluded by "
    "the rules"
    yield AuditFinding(
        "people", not early, f"responses of {early} arrived before recruitment" if early else fine
    )
    if has_texts:
        fine = "all participants on the page agreed to a recorded consent text"
        yield AuditFinding(
            "consent",
            not unread,
            f"{unread} agreed to a consent text that is not recorded" if unread else fine,
        )
    yield from _withdrawn(trace, records)


def _who_came_early(records: list[Recorded[Record]]) -> tuple[str, str, bool]:
    """Responses before recruitment, consents to unrecorded texts, and whether texts are recorded."""
    recruited: set[str] = set()
    texts: dict[str, set[str]] = {}
    early, unread = "", ""
    for item in records:
        match item.record:
            case PeopleRecruited(experiment=experiment):
                recruited.add(experiment)
            case ConsentAsked(experiment=experiment, text=text):
                texts.setdefault(experiment, set()).add(text)
            case AnswersArrived(experiment=experiment, person=person, consent=consent):
                if experiment not in recruited:
                    early = early or person[:12]
                if experiment in texts and consent not in texts[experiment]:
                    unread = unread or person[:12]
    return early, unread, bool(texts)


def _withdrawn(trace: Trace, records: Sequence[Recorded[Record]]) -> Iterator[AuditFinding]:
    """Whether responses of everybody who withdrew are erased."""
    withdrawn = [item.record for item in records if isinstance(item.record, PersonWithdrawn)]
    if withdrawn:
        gone = len({record.person for record in withdrawn})
        text = f"{gone} participants withdrew or were forgotten; their responses are erased and the chain is complete"
        targets = {item.record.target for item in records if isinstance(item.record, Tombstone)}
        left = [item.record.person[:12] for item in records if isinstance(item.record, AnswersArrived)
                and item.digest in targets and trace.artifacts.has(item.record.answers)]  # fmt: skip
        if left:
            text = f"responses of {left[0]}, who withdrew, still exist; repeat `lakatos data withdraw` to erase them"
        yield AuditFinding("withdrawn", not left, text, withdrawn=not left)


def order(records: list[Recorded[Record]]) -> Iterator[AuditFinding]:
    """Preregistration before recruitment before data before score, for every experiment."""
    place = {item.digest: number for number, item in enumerate(records)}
    seen = _SeenSoFar()
    problems = [seen.disorder_of(item.record, place, place[item.digest]) for item in records]
    wrong = [text for text in problems if text]
    scores = [item.record for item in records if isinstance(item.record, TheoryScored)]
    n_frozen = sum(record.frozen is not None for record in scores)
    fine = f"{plural(len(seen.collected), 'experiment')}: preregistered, then recruited, then collected, then scored"
    yield AuditFinding("order", not wrong, wrong[0] if wrong else fine)
    yield AuditFinding(
        "prequential",
        not seen.unfrozen,
        f"{n_frozen} of {len(scores)} scores use predictions frozen before the data",
    )


class _SeenSoFar:
    """Which experiments were frozen, asked and collected up to some record."""

    def __init__(self) -> None:
        self.frozen: dict[str, frozenset[str]] = {}
        self.asked: set[str] = set()
        self.collected: set[str] = set()
        self.unfrozen: list[str] = []
        """Theories with a prequential score on an experiment for which nothing of theirs was frozen."""

    def disorder_of(self, record: Record, place: Mapping[Digest, int], here: int) -> str:
        """Records that should precede a record and do not; empty if all do."""
        match record:
            case Preregistration():
                self.frozen[record.experiment] = frozenset(record.rivals)
            case PeopleRecruited():
                self.asked.add(record.experiment)
                if record.experiment not in self.frozen:
                    return f"participants were recruited for {record.experiment} before it was preregistered"
            case TrialsCollected():
                self.collected.add(record.experiment)
                late = place.get(record.preregistration, here) >= here
                if record.experiment not in self.asked or late:
                    return f"responses to {record.experiment} arrived before its preregistration or recruitment"
            case TheoryScored():
                rivals = self.frozen.get(record.experiment, frozenset())
                if record.frozen is not None and record.theory not in rivals:
                    self.unfrozen.append(record.theory)
                if record.experiment not in self.collected:
                    return f"{record.theory[:8]} was scored on {record.experiment} before its responses arrived"
        return ""


def sealed(trace: Trace, records: list[Recorded[Record]], config: CampaignConfig) -> AuditFinding:
    """Sealed responses were opened after the last cycle, and none of their trials was collected before.

    Where trials are steps, participants are sealed, and others went through the same steps.
    """
    opened = [item.record for item in records if isinstance(item.record, SealedOpened)]
    if not opened:
        return AuditFinding("sealed", True, "this run sealed nothing")
    kinds = [kind_of(type(item.record)) for item in records]
    if kinds.index("sealed_opened") < max(
        place for place, kind in enumerate(kinds) if kind == "cycle_closed"
    ):
        return AuditFinding(
            "sealed", False, "sealed responses were opened before the last cycle had ended"
        )

    if domain_of(config).sequential:
        n_people = sum(
            get_trials(trace.artifacts, artifact).n_participants
            for record in opened
            for artifact in record.trials
        )
        found = f"responses of {n_people} sealed participants, opened after the last cycle"
        return AuditFinding("sealed", True, found)

    def keys(artifacts: Iterable[str]) -> set[bytes]:
        tables = [get_trials(trace.artifacts, artifact) for artifact in artifacts]
        return {key for table in tables for key in table.stimuli.keys}

    hidden = keys(
        artifact
        for record in opened
        for artifact, of_people in zip(
            record.trials, record.of_people or (False,) * len(record.trials), strict=True
        )
        if not of_people
    )
    both = len(
        hidden
        & keys(item.record.trials for item in records if isinstance(item.record, TrialsCollected))
    )
    fine = (
        f"{len(hidden)} sealed trials, opened after the last cycle, none of them collected before"
    )
    return AuditFinding(
        "sealed",
        not both,
        f"{both} sealed trials were collected before they were opened" if both else fine,
    )


def _behind(verdict: Digest, events: Sequence[Event]) -> set[Digest]:
    """Everything that a verdict was derived from."""
    # What was done stays done: an act stands whatever becomes of the data that it was decided by.
    inputs = {
        event.record_digest: event.inputs
        for event in events
        if event.kind != INTENT and event.kind not in ACTS
    }
    behind, queue = set[Digest](), deque([verdict])
    while queue:
        for cited in inputs.get(queue.popleft(), ()):
            if cited not in behind:
                behind.add(cited)
                queue.append(cited)
    return behind


def conclusion(
    validity: Validity, events: Sequence[Event], records: Sequence[Recorded[Record]]
) -> AuditFinding:
    """Nothing that is stale, erased or of a person who withdrew stands behind the verdict in force."""
    verdicts = [item for item in records if isinstance(item.record, CampaignConcluded)]
    if not verdicts:
        return AuditFinding("conclusion", True, "the run has no verdict yet")
    current = [item for item in verdicts if validity.valid(item.digest)]
    if not current:
        text = "the verdict rests on responses that were withdrawn or changed; `lakatos resume` draws it again"
        return AuditFinding("conclusion", True, text, withdrawn=True)
    behind = _behind(current[-1].digest, events)
    by_digest = {item.digest: item.record for item in records}
    gone = {item.record.target for item in records if isinstance(item.record, Tombstone)}
    rests_on = [by_digest[name] for name in behind if name in by_digest]
    wrong = _answers_of_those_who_left(rests_on, records)
    wrong += [
        f"{_words(by_digest.get(name))} was erased, and the verdict rests on it"
        for name in behind & gone
    ]
    n_tables = sum(isinstance(record, TrialsCollected) for record in rests_on)
    fine = (
        f"the verdict rests on {plural(len(behind), 'record')} and artifacts, {plural(n_tables, 'table')} among them, "
        "none of them stale"
    )
    return finding("conclusion", wrong, fine)


def memorising(
    trace: Trace, records: Sequence[Recorded[Record]], config: CampaignConfig
) -> AuditFinding | None:
    """Whether the verdict's leading theory may hold the responses themselves; None where that is excluded.

    Args:
        trace: The run.
        records: Those that are valid.
        config: The study.
    """
    authors, tables, leader = {}, list[Digest](), ""
    for item in records:
        record = item.record
        if isinstance(record, TheoryChecked):
            authors[record.theory] = record.author
        elif isinstance(record, TrialsCollected):
            tables.append(record.trials)
        elif isinstance(record, CampaignConcluded):
            leader = record.leader
    if not leader:
        return None
    words = say_of_memorising(authors[leader], tables, trace.artifacts, config)
    return AuditFinding("memorising", True, words[0]) if words else None


def _answers_of_those_who_left(
    rests_on: Sequence[Record], records: Sequence[Recorded[Record]]
) -> list[str]:
    """Answers behind the verdict of people who withdrew from their experiment."""
    left = {
        (item.record.person, name)
        for item in records
        if isinstance(item.record, PersonWithdrawn)
        for name in item.record.experiments
    }
    return [
        f"the verdict rests on responses of {record.person[:12]}, who withdrew"
        for record in rests_on
        if isinstance(record, AnswersArrived) and (record.person, record.experiment) in left
    ]


def _words(record: Record | None) -> str:
    return "something" if record is None else f"a {kind_of(type(record))}"


def _people_who_stayed(
    records: Sequence[Recorded[Record]],
) -> Mapping[str, list[Recorded[AnswersArrived]]]:
    """Responses that arrived and were not withdrawn, by experiment."""
    gone = {item.record.target for item in records if isinstance(item.record, Tombstone)}
    arrived: dict[str, list[Recorded[AnswersArrived]]] = defaultdict(list)
    for item in records:
        if isinstance(item.record, AnswersArrived) and item.digest not in gone:
            arrived[item.record.experiment].append(Recorded(item.record, item.digest))
    return arrived


def exclusions(
    trace: Trace, records: Sequence[Recorded[Record]], config: CampaignConfig
) -> AuditFinding:
    """The rules were frozen before anybody was asked, and exclude whom the records say, and nobody else."""
    if not config.source.one_by_one:
        text = "responses of this study do not arrive by participant, and nobody is excluded"
        return AuditFinding("exclusions", True, text)
    arrived = _people_who_stayed(records)
    recorded = {
        (item.record.answers, item.record.rule)
        for item in records
        if isinstance(item.record, PersonExcluded)
    }
    collected = {
        item.record.experiment for item in records if isinstance(item.record, TrialsCollected)
    }
    wrong: list[str] = []
    n_excluded, earlier = 0, set[str]()
    for plan in (item.record for item in records if isinstance(item.record, Preregistration)):
        name, people = plan.experiment, arrived[plan.experiment]
        missing = [rule for rule in config.exclusions.words if rule not in plan.exclusion_rules]
        wrong += [
            f"experiment {name} was preregistered without the rule {rule!r}" for rule in missing[:1]
        ]
        expected = _broken_rules(trace, plan, people, config, earlier)
        if expected is None:
            continue  # the question about people says whose responses are gone
        n_excluded += len({place for place, _ in expected})
        wrong += _disagreements(name, people, expected, recorded, closed=name in collected)
        earlier |= {item.record.person for item in people}
    excluded = plural(n_excluded, "person is", "people are")
    rules = plural(len(config.exclusions.words), "rule that was", "rules that were")
    fine = f"{excluded} excluded, by the {rules} frozen before"
    return finding("exclusions", wrong, fine)


def _broken_rules(
    trace: Trace,
    plan: Preregistration,
    people: Sequence[Recorded[AnswersArrived]],
    config: CampaignConfig,
    earlier: set[str],
) -> set[tuple[Digest, str]] | None:
    """Exclusions recomputed from responses; None if responses were erased."""
    try:
        answers = [get_answers(trace.artifacts, item.record.answers) for item in people]
    except ArtifactMissingError:
        return None
    design = design_from_json(trace.artifacts.get_json(plan.design))
    rules = for_design(config.exclusions.rules, design.n_presentations)
    found = exclude(answers, rules, earlier)
    return {(people[item.place].digest, item.rule.key) for item in found}


def _disagreements(
    experiment: str,
    people: Sequence[Recorded[AnswersArrived]],
    expected: set[tuple[Digest, str]],
    recorded: set[tuple[Digest, str]],
    *,
    closed: bool,
) -> list[str]:
    """Differences between the recorded exclusions of an experiment and those that its responses require."""
    names = {item.digest: item.record.person[:12] for item in people}
    own = {place for place in recorded if place[0] in names}
    forgotten = sorted(expected - own) if closed else []
    wrong = [
        f"{names[who]} broke the rule {rule!r} in {experiment} and was not excluded"
        for who, rule in forgotten
    ]
    return wrong + [
        f"{names[who]} was excluded from {experiment} by {rule!r}, which the responses do not break"
        for who, rule in sorted(own - expected)
    ]


def people_budget(
    trace: Trace, records: Sequence[Recorded[Record]], config: CampaignConfig
) -> AuditFinding:
    """Nobody was asked beyond the preregistered numbers, but where the researcher is on record for it."""
    wrong, recruited, more = [], dict[str, int](), defaultdict[str, int](int)
    by_hand = 0
    for item in records:
        match item.record:
            case Preregistration() as plan:
                recruited[plan.experiment] = plan.n_participants
            case PeopleRecruited() as found if (
                found.experiment in recruited and config.source.one_by_one
            ):
                if found.n_participants > recruited[found.experiment]:
                    wrong.append(f"{found.n_participants} participants were recruited for {found.experiment}, and "
                                 f"{recruited[found.experiment]} were preregistered")  # fmt: skip
            case MoreAsked() as found if found.preregistered:
                more[found.experiment] += found.n_more
                if more[found.experiment] > config.exclusions.replacements:
                    wrong.append(f"{more[found.experiment]} people of {found.experiment} were replaced, at most "
                                 f"{config.exclusions.replacements} may be")  # fmt: skip
            case MoreAsked() as found:
                by_hand += found.n_more
    fine = (
        f"{plural(len(recruited), 'experiment')} recruited no more participants than preregistered"
    )
    return finding(
        "people budget",
        wrong,
        fine + (f"; {by_hand} more by the researcher, on record" if by_hand else ""),
    )


def model_budget(
    trace: Trace, events: Sequence[Event], config: CampaignConfig
) -> AuditFinding | None:
    """At no time more was spent on language models, or set aside, than the budget then in force allowed."""
    if not config.models:
        return None
    wrong, budget, state = [], config.budget, BudgetSpending()
    for event in events:
        if event.kind == kind_of(BudgetRaised):
            budget = BudgetRaised.model_validate(event.body).budget
        before = state
        state = spend(state, event)
        if state is before:
            continue
        for name, most in budget.most().items():
            if getattr(state.total, name) > most:
                wrong.append(
                    f"event {event.seq}: {getattr(state.total, name)} {name} are spent or set aside of {most}"
                )
    total = state.total
    words = (
        ", ".join(f"{getattr(total, name)} {name}" for name in AMOUNTS if getattr(total, name))
        or "nothing"
    )
    limit = budget_in(trace, config.budget).most()
    return finding(
        "model budget",
        wrong,
        f"{words} of {limit or 'no limit'}; the budget was kept at every call",
    )


def pinned_rules(
    trace: Trace, records: Sequence[Recorded[Record]], config: CampaignConfig
) -> AuditFinding | None:
    """Every request in a role carried the rules that were pinned to it then, word for word, and records name them."""
    answered = [item.record for item in records if isinstance(item.record, RoleAnswered)]
    if not answered:
        return None
    pins = pins_of(config.roles.rules)
    calls = {
        item.digest: item.record for item in records if isinstance(item.record, LanguageModelCalled)
    }
    wrong, n_calls = [], 0
    for event in answered:
        text = render(active(pins, event.role, event.cycle))
        if event.rules != digest_bytes(text.encode()):
            wrong.append(
                f"{event.role} was asked {event.task} in cycle {event.cycle} under other rules than those pinned"
            )
        for digest in event.calls:
            request = ModelRequest.model_validate(trace.artifacts.get_json(calls[digest].request))
            n_calls += 1
            if text and not any(text in message.content for message in request.messages):
                wrong.append(
                    f"a request to {event.role} in cycle {event.cycle} does not carry the pinned rules"
                )
    return finding(
        "pinned rules",
        wrong,
        f"{plural(n_calls, 'request')} in {plural(len(answered), 'question')} carried their rules",
    )


def gate_levels(records: Sequence[Recorded[Record]], config: CampaignConfig) -> AuditFinding | None:
    """Every challenge was tested at the level that the anchor set's ledger gave it, and no level twice.

    Where the anchor file is not on this machine, only what the run itself says is looked at.
    """
    own = [item.record for item in records]
    drawn = [record for record in own if isinstance(record, LevelDrawn)]
    put = [record for record in own if isinstance(record, GateRegistered)]
    looked = [record for record in own if isinstance(record, GateDecided) and record.n]
    if not (drawn or put or looked):
        return None
    problems = [
        *_wrong_levels(drawn, config.judges.alpha),
        *_levels_not_drawn(drawn, put),
        *_spent_amiss(drawn, looked),
    ]
    where = ", counted in this campaign"
    if config.judges.anchor and Path(config.judges.anchor).exists():
        where = ", as the ledger of the anchor file says"
        problems += _lost_levels(drawn, config)
    elif config.judges.anchor:
        where = "; the anchor file is not here, so that its ledger was not looked at"
    fine = f"labels were read for {plural(len(looked), 'challenge')}, each at the level of its number{where}"
    return finding("judges' gate", problems, fine)


def _wrong_levels(drawn: Sequence[LevelDrawn], alpha: float) -> list[str]:
    return [
        f"test {item.number} has the level {item.level:.3g}, and {level_of(item.alpha, item.number):.3g} is its own"
        for item in drawn
        if item.level != level_of(item.alpha, item.number) or item.alpha != alpha
    ]


def _levels_not_drawn(drawn: Sequence[LevelDrawn], put: Sequence[GateRegistered]) -> list[str]:
    given = {(item.number, item.level, item.is_spent) for item in drawn}
    return [
        f"the challenge of epoch {item.epoch} was registered at level {item.level:.3g}, which was not drawn for it"
        for item in put
        if (item.number, item.level, not refusal_of(item)) not in given
    ]


def _spent_amiss(drawn: Sequence[LevelDrawn], looked: Sequence[GateDecided]) -> list[str]:
    """Levels that two challenges took, and labels that were read without one."""
    spent = {item.number: item.challenge for item in drawn if item.is_spent}
    twice = [
        f"test {item.number} was drawn for two challenges"
        for item in drawn
        if item.is_spent and spent[item.number] != item.challenge
    ]
    return twice + [
        f"labels were read for test {item.number}, whose level was not drawn"
        for item in looked
        if item.number not in spent
    ]


def _lost_levels(drawn: Sequence[LevelDrawn], config: CampaignConfig) -> list[str]:
    """What the ledger beside the anchor file knows otherwise, or why it cannot be read."""
    try:
        ledger = ledger_of(config)
        assert ledger is not None
        lost = missing(drawn, ledger.drawn())
    except (JudgeError, TraceError) as error:
        return [str(error)]
    return [f"{ledger.folder} {lost}"] if lost else []
