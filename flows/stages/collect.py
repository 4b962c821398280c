"""Stage: ask people, take what the inbox holds, and write down the responses. Needs a preregistration.

Collection is a wait. Where people answer one by one, each person's answers become a record and an artifact of their own
as they arrive, and the pass ends while some are missing; the next pass goes on.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from lakatos.experiments.adoption.names import experiment_in_words
from lakatos.experiments.errors import SourceError, TrialsError
from lakatos.experiments.participants.answers import LANGUAGE_MODEL, PersonAnswers
from lakatos.experiments.participants.language_model import SessionsDue
from lakatos.experiments.participants.source import (
    Batch,
    Collected,
    ParticipantSource,
    Recruitment,
    SourceProfile,
    Waiting,
)
from lakatos.experiments.participants.table import (
    check_answers,
    get_answers,
    get_trials,
    put_answers,
    put_table,
)
from lakatos.experiments.preregistration import Preregistration
from lakatos.experiments.quality import Exclusion, exclude, for_design
from lakatos.experiments.record import (
    AnswersArrived,
    CollectionClosed,
    ConsentAsked,
    DesignChosen,
    MoreAsked,
    PeopleRecruited,
    PersonExcluded,
    SessionHeld,
    TrialsCollected,
)
from lakatos.experiments.task import Design, Domain, Trials
from lakatos.flows.errors import FlowError
from lakatos.flows.roles.interview import interview
from lakatos.flows.run.parts import task
from lakatos.flows.run.records import ACTS, MADE, NAMED
from lakatos.flows.run.run import Run
from lakatos.flows.run.state import RunState
from lakatos.flows.run.study import CampaignConfig
from lakatos.flows.stages.asked import (
    AnswersAwaited,
    AskedPeople,
    _arrived,
    _design,
    answers_of,
    erased,
    key_of,
    recruiting_key,
)
from lakatos.flows.stages.enough import (
    before_stop,
    command_to_stop,
    replace_excluded,
    stop_early,
    wanted_in,
)
from lakatos.theories.engine.scoring.score import noise_ceiling
from lakatos.traces.apart import ERASED
from lakatos.traces.digest import Digest, digest_of
from lakatos.traces.journal import Event
from lakatos.traces.record import Tombstone, kind_of
from lakatos.traces.step import Recorded, StepContext, Trace
from lakatos.traces.wording import plural


@task(name="recruit")
async def recruit(
    run: Run, cycle: int, plan: Recorded[Preregistration]
) -> Recorded[PeopleRecruited]:
    """Ask for the people that ``plan`` needs, once; their responses arrive in the inbox."""
    design = _design(run.trace.artifacts, plan.record)
    people = plural(design.n_participants, "participant")
    run.progress.stage(cycle, "collect", f"{people}, {plural(len(design.stimuli), 'trial')}")

    def ask(context: StepContext) -> PeopleRecruited:
        key = recruiting_key(run.config.source, context.key, context.place)
        recruitment = recruit_again(run.source, run.trace, plan.record, key)
        deliver(run, recruitment, recruitment.n_participants)
        return PeopleRecruited(
            experiment=design.name,
            source=run.config.participants.source,
            n_participants=recruitment.n_participants,
        )

    found = await run.step(
        "recruit",
        ask,
        returns=PeopleRecruited,
        inputs=[plan.digest],
        position={"cycle": cycle, "experiment": design.name},
    )
    record_consent(run, found, design)
    return found


def standing(run: Run, cycle: int, number: int = 0, *, experiment: str = "") -> AskedPeople | None:
    """Return what was preregistered in this place already: it stands, whatever became of the evidence for it.

    The place is the ``number`` of an experiment in its cycle, or the name of an experiment.
    """
    if not run.config.source.one_by_one:
        return None
    for item in run.trace.records(PeopleRecruited):
        event = run.trace.journal.find_record(item.digest)
        assert event is not None
        plan = run.trace.get(event.inputs[0], Preregistration)
        frozen = run.trace.journal.find_record(event.inputs[0])
        assert frozen is not None
        chosen = run.trace.get(frozen.inputs[0], DesignChosen)
        if (
            chosen.experiment == experiment
            if experiment
            else (chosen.cycle, chosen.number) == (cycle, number)
        ):
            recruitment = AskedPeople(Recorded(plan, event.inputs[0]), item)
            for known in (
                Recorded(chosen, frozen.inputs[0]),
                recruitment.plan,
                recruitment.recruited,
            ):
                run.recall(known)
            record_consent(run, item, _design(run.trace.artifacts, plan))
            run.progress.stage(
                cycle,
                "collect",
                f"{experiment_in_words(plan.experiment)}: participants were recruited before",
            )
            return recruitment
    return None


@task(name="collect")
async def collect(
    run: Run, cycle: int, plan: Recorded[Preregistration], recruited: Recorded[PeopleRecruited]
) -> Recorded[TrialsCollected] | AnswersAwaited:
    """Take the batches that arrived for an experiment and write its trial table, or say that people are missing."""
    if run.config.source.one_by_one:
        return await collect_people(run, cycle, plan, recruited)
    name = plan.record.experiment

    def take(context: StepContext) -> TrialsCollected:
        parts = _arrived(run.trace, name)
        if (
            not parts
        ):  # the inbox was lost: the source gives the same responses to the same key again
            recruitment = recruit_again(
                run.source, run.trace, plan.record, key_of(run.trace, recruited)
            )
            deliver(run, recruitment, recruitment.n_participants)
            parts = _arrived(run.trace, name)
        if len(parts) != 1:
            raise SourceError(
                f"experiment {name} has {len(parts)} batches in the inbox instead of one; look at it with sqlite3 "
                f"{run.folder / 'inbox.sqlite'} and remove what does not belong there."
            )
        trials = Trials.from_json(parts[0].json())
        return _collected(run.config, plan, trials, context.artifacts.put_json(trials.to_json()))

    # The step is named by the preregistration and by whom it asked.
    found = await run.step(
        "collect",
        take,
        returns=TrialsCollected,
        inputs=[plan.digest, recruited.digest],
        position={"cycle": cycle, "experiment": name},
    )
    # Only now, with the table on record, the inbox and the source may forget the responses.
    for batch in _arrived(run.trace, name):
        run.trace.inbox.mark_taken(batch.digest)
    run.source.mark_released(_design(run.trace.artifacts, plan.record))
    return found


@dataclass(frozen=True)
class _Collection:
    """An experiment that people are asked for, with what is there of it already."""

    plan: Recorded[Preregistration]
    asked: Recorded[PeopleRecruited]
    key: Digest
    """Key of the step that recruited."""
    design: Design
    tables: tuple[Event, ...]
    closed: Recorded[CollectionClosed] | None
    """Record that ended it before all planned participants had completed."""

    @property
    def name(self) -> str:
        """Name of the experiment."""
        return self.plan.record.experiment

    @property
    def is_over(self) -> bool:
        """Whether nobody else is asked."""
        return bool(self.tables) or self.closed is not None

    @property
    def recruitment(self) -> Recruitment:
        """Whom the source was asked for."""
        return Recruitment(self.key, self.name, self.design.n_participants)


@dataclass(frozen=True)
class _People:
    """Participants with responses so far, and those who count by the preregistered exclusions."""

    everybody: Sequence[Recorded[AnswersArrived]]
    kept: Sequence[Recorded[AnswersArrived]]
    waiting: AnswersAwaited


async def collect_people(
    run: Run, cycle: int, plan: Recorded[Preregistration], recruited: Recorded[PeopleRecruited]
) -> Recorded[TrialsCollected] | AnswersAwaited:
    """Write down who arrived, exclude by the preregistered rules, and make the table of the others.

    A table that exists already is made anew where people withdrew or joined; all that rested on it is then stale.
    """
    collection = _collection(run.trace, plan, recruited)
    if collection.is_over:
        people = _take_people(run, collection, wanted_in(run, collection.name, collection.design))
    else:
        collection, people, is_waiting = await _ask_until_enough(run, collection)
        if is_waiting:
            return people.waiting
    lets_in = run.source.lets_in(collection.name)
    to_stop = command_to_stop(run.folder, collection.name) if lets_in else ""
    kept = people.kept
    if collection.closed is not None:  # only those who were asked before it count
        run.recall(collection.closed)
        run.source.close(collection.recruitment)
        if to_stop and not collection.tables:
            return replace(people.waiting, to_stop=to_stop)
        record = collection.closed.record
        before = before_stop(run.config, run.trace, record, people.everybody)
        asked_people = {item.digest for item in before}
        kept = [item for item in kept if item.digest in asked_people]
    if len(kept) < 2:
        if not run.config.source.responds_later:
            raise _too_few_count(
                run.config.source, run.folder, collection.name, len(kept), len(people.everybody)
            )
        return people.waiting
    found = await _make_table(run, cycle, collection, people.everybody, kept)
    # Nobody new: a place that becomes free now, because somebody's session is erased, is not given away.
    run.source.close(collection.recruitment)
    if to_stop:
        run.progress.note(
            f"all participants have completed experiment {collection.name}; its study on Prolific still runs: {to_stop}"
        )
    return found


def _collection(
    trace: Trace, plan: Recorded[Preregistration], recruitment: Recorded[PeopleRecruited]
) -> _Collection:
    name = plan.record.experiment
    tables = [event for event in trace.journal.events() if _is_table_of(event, name)]
    closed = (item for item in trace.records(CollectionClosed) if item.record.experiment == name)
    design = _design(trace.artifacts, plan.record)
    key = key_of(trace, recruitment)
    return _Collection(plan, recruitment, key, design, tuple(tables), next(closed, None))


async def _ask_until_enough(run: Run, collection: _Collection) -> tuple[_Collection, _People, bool]:
    """Ask, take what arrived, and go on until enough people count, a look ends it, or people are awaited.

    Returns:
        The collection, with the record that closed it if a look did; the people; and whether some are awaited.
    """
    plan, recruited, design = collection.plan, collection.asked, collection.design
    looks = run.state.experiments.designs[collection.name].record.looks
    n_here = 0
    while True:
        wanted = wanted_in(run, collection.name, design)
        until_look = min([wanted, *(look for look in looks if look > n_here)])
        recruitment = recruit_again(run.source, run.trace, plan.record, collection.key)
        arrived = deliver(run, recruitment, until_look)
        if isinstance(arrived, SessionsDue):
            await interview(run, recruited, arrived)
            arrived = deliver(run, recruitment, until_look)
        people = _take_people(run, collection, wanted)
        closed = stop_early(run.evidence, run.trace, plan, people.waiting, people.kept)
        if closed is not None:
            return replace(collection, closed=closed), people, False
        match arrived:
            case Waiting() if people.waiting.n_completed < wanted:
                return collection, people, True
            case Batch(payloads) if len(payloads) < wanted:
                n_here = len(payloads)
                continue  # up to the next look
        if not replace_excluded(run, recruited, design, people.waiting, people.kept):
            return collection, people, False


def _take_people(run: Run, collection: _Collection, wanted: int) -> _People:
    """Write each person down who arrived, and exclude by the preregistered rules."""
    take_answers(run)
    people = answers_of(run.trace, collection.name)
    for item in people:
        run.recall(item)
    waiting = AnswersAwaited(
        experiment=collection.name,
        source=run.config.source,
        n_completed=sum(item.record.status == "completed" for item in people),
        n_arrived=len(people),
        n_planned=wanted,
    )
    return _People(people, _kept(run, collection.plan, people), waiting)


def _too_few_count(
    source: SourceProfile, folder: Path, name: str, n_kept: int, n_people: int
) -> FlowError:
    """Fewer than two participants cannot be compared, and where a computer answers nobody else will come."""
    by_model = source.origin == LANGUAGE_MODEL
    who = "sessions of the language model" if by_model else "simulated participants"
    remedy = "a model that answers, or other exclusions" if by_model else "other exclusions"
    return FlowError(
        f"{n_kept} of {n_people} {who} in experiment {name} count, and theories cannot be compared on fewer than 2; "
        f"`lakatos data list {folder}` shows how the others ended. Use {remedy}, in a new run."
    )


async def _make_table(
    run: Run,
    cycle: int,
    collection: _Collection,
    people: Sequence[Recorded[AnswersArrived]],
    kept: Sequence[Recorded[AnswersArrived]],
) -> Recorded[TrialsCollected]:
    """The table of everybody who counts, named by them; one that is made anew displaces the older ones."""
    plan, design = collection.plan, collection.design
    kept = sorted(kept, key=lambda item: (item.record.person, item.digest))
    inputs = [plan.digest, collection.asked.digest, *(item.digest for item in kept)]
    position: dict[str, int | str] = {"cycle": cycle, "experiment": collection.name}
    if n_displaced := _displace(run.trace, collection.tables, inputs, people):
        position["displaced"] = n_displaced

    def take(context: StepContext) -> TrialsCollected:
        n_options = run.domain.n_options(design.stimuli)
        answers = [item.record.answers for item in kept]
        table = put_table(context.artifacts, plan.record.design, answers, n_options)
        return _collected(run.config, plan, get_trials(context.artifacts, table), table)

    return await run.step(
        "collect", take, returns=TrialsCollected, inputs=inputs, position=position
    )


def take_answers(run: Run) -> None:
    """Turn every person's batch in the inbox, of whatever experiment, into a record and an artifact.

    Responses of people whose withdrawal was cut short after it was recorded are erased now, and what derives from them.

    Raises:
        SourceError: A batch belongs to no experiment that people were asked for.
        TrialsError: Somebody answered what was not asked.
    """
    gone, left = erased(run.trace), []
    for item in run.trace.records(AnswersArrived):
        if item.digest in gone:
            run.trace.artifacts.erase(item.record.answers)
            left.append(item.digest)
    run.trace.erase_derived(left, acts=ACTS, named=NAMED, made=MADE)
    pending = [batch for batch in run.trace.inbox.pending() if "person" in batch.json()]
    if not pending:
        return
    recruitments = {item.record.experiment: item for item in run.trace.records(PeopleRecruited)}
    sessions = {
        (item.record.experiment, item.record.person): [item.digest]
        for item in run.trace.records(SessionHeld)
    }
    designs = {
        item.record.experiment: _design(run.trace.artifacts, item.record)
        for item in run.trace.records(Preregistration)
    }
    for batch in pending:
        answers = PersonAnswers.from_json(batch.json())
        _check_source(run.config, run.folder, answers)
        if answers.experiment not in recruitments and not run.config.source.responds_later:
            continue  # a recruitment that was cut short simulated them; it is made again, and brings the same
        _check_asked(run.domain, run.folder, answers, list(recruitments), designs)
        run.trace.record(
            AnswersArrived(
                experiment=answers.experiment,
                person=answers.person,
                status=answers.status,
                answers=put_answers(run.trace.artifacts, answers, batch.salt),
                n_answers=len(answers.trial),
                consent=answers.consent,
                language=answers.language,
                source=answers.source,
                arrived_utc=batch.delivered_utc if run.config.source.responds_later else "",
            ),
            name="arrive",
            inputs=[
                recruitments[answers.experiment].digest,
                *sessions.get((answers.experiment, answers.person), ()),
            ],
            position={"batch": batch.digest},
        )
        run.trace.inbox.mark_taken(batch.digest)


def _check_source(config: CampaignConfig, folder: Path, answers: PersonAnswers) -> None:
    """Refuse responses of a language model among those of people, and the other way round."""
    if (answers.source == LANGUAGE_MODEL) != (config.source.origin == LANGUAGE_MODEL):
        raise SourceError(
            f"the inbox holds responses from {answers.source!r} to experiment {answers.experiment!r}, "
            "and the source of this run "
            f"is {config.participants.source!r}: responses of a language model are never mixed with those of "
            f"people. `lakatos data withdraw {folder} {answers.person[:12]}` removes them; use a run of its "
            "own for them."
        )


def _check_asked(
    domain: Domain,
    folder: Path,
    answers: PersonAnswers,
    recruitment: Sequence[str],
    designs: Mapping[str, Design],
) -> None:
    """Refuse responses to an experiment that nobody was asked for, or to trials that it does not have."""
    if answers.experiment not in recruitment:
        raise SourceError(
            f"the inbox holds responses of participant {answers.person[:12]} to experiment "
            f"{answers.experiment!r}, for which "
            f"no participants were recruited (recruited for: {', '.join(recruitment) or 'none'}). `lakatos "
            "data withdraw` removes them."
        )
    try:
        check_answers(answers, designs[answers.experiment], domain)
    except TrialsError as error:
        raise TrialsError(
            f"{error} `lakatos data withdraw {folder} {answers.person[:12]}` removes it."
        ) from None


def record_consent(run: Run, recruitment: Recorded[PeopleRecruited], design: Design) -> None:
    """Write down, in every language, the text that people of an experiment agree to, once.

    People go on reading the texts with which the experiment was opened, also where a translation was changed since.
    """
    for language, lines in run.source.consents(design, key_of(run.trace, recruitment)).items():
        position = {"language": language}
        if (before := run.trace.recorded("consent", [recruitment.digest], position)) is not None:
            run.recall(before)
            continue
        run.record(
            ConsentAsked(
                experiment=design.name,
                language=language,
                text=run.trace.artifacts.put_json({"consent": list(lines)}),
                text_version=run.config.page.consent_version,
            ),
            name="consent",
            inputs=[recruitment.digest],
            position=position,
        )


def recruit_again(
    source: ParticipantSource, trace: Trace, plan: Preregistration, key: Digest
) -> Recruitment:
    """Recruit under ``key`` for a plan, with everybody whom later records ask for; nobody is recruited twice."""
    recruitment = source.recruit(plan, _design(trace.artifacts, plan), key)
    for item in trace.records(MoreAsked):
        if item.record.experiment == plan.experiment:
            source.want(recruitment, item.record.n_participants)
    return recruitment


def deliver(run: Run, recruitment: Recruitment, n_participants: int) -> Collected:
    """Put the responses that the source has into the inbox, and return what it returned."""
    collected = run.source.collect(recruitment, n_participants)
    for number, payload in enumerate(collected.payloads if isinstance(collected, Batch) else ()):
        # Nobody's responses are at stake where they are simulated or published, and runs must be repeatable.
        salt = digest_of({"key": recruitment.key, "number": number})
        run.trace.inbox.deliver(
            run.config.participants.source,
            payload,
            batch_key=f"{recruitment.key}:{number}",
            salt=salt,
        )
    return collected


def _is_table_of(event: Event, name: str) -> bool:
    """Whether an event is a table of an experiment, also one whose content was erased."""
    kind = event.body["was"] if event.kind == ERASED else event.kind
    return kind == kind_of(TrialsCollected) and event.position.get("experiment") == name


def _displace(
    trace: Trace,
    tables: Sequence[Event],
    inputs: Sequence[Digest],
    people: Sequence[Recorded[AnswersArrived]],
) -> int:
    """Erase a table that lacks somebody who joined; returns how many tables were erased so far.

    A table that holds somebody who withdrew is stale already, with all that rests on it.
    """
    gone = erased(trace)
    n_displaced = 0
    for table in tables:
        if table.record_digest in gone:
            n_displaced += 1
        elif not gone.intersection(table.inputs) and list(table.inputs) != list(inputs):
            new = [item.digest for item in people if item.digest not in table.inputs]
            trace.record(
                Tombstone(
                    target=table.record_digest,
                    reason=f"the people of experiment {table.position['experiment']} changed",
                ),
                name="displace",
                inputs=new,
            )
            n_displaced += 1
    return n_displaced


def n_counting(config: CampaignConfig, trace: Trace, state: RunState, name: str) -> int:
    """Count whose responses to an experiment would count if no participant followed; nothing is written down.

    Args:
        run: Run that a pass is about to continue; its own state does not know of the experiment before it does.
        state: All that is recorded.
        name: Name of the experiment.
    """
    people = answers_of(trace, name)
    found = _exclusions(
        config, trace, state.experiments.recruited, state.experiments.preregistrations[name], people
    )
    return len(people) - len({exclusion.place for exclusion in found})


def _exclusions(
    config: CampaignConfig,
    trace: Trace,
    recruited: Iterable[str],
    plan: Recorded[Preregistration],
    people: Sequence[Recorded[AnswersArrived]],
) -> list[Exclusion]:
    """Exclusions by preregistered rules; ``recruited`` names the experiments with recruitments."""
    before = [known for known in recruited if known != plan.record.experiment]
    earlier = {item.record.person for item in answers_of(trace, *before)}
    answers = [get_answers(trace.artifacts, item.record.answers) for item in people]
    rules = for_design(
        config.exclusions.rules, _design(trace.artifacts, plan.record).n_presentations
    )
    return exclude(answers, rules, earlier)


def _kept(
    run: Run, plan: Recorded[Preregistration], people: Sequence[Recorded[AnswersArrived]]
) -> list[Recorded[AnswersArrived]]:
    """The people whose responses count; an exclusion is a record with its rule and the number that decided."""
    name, found = (
        plan.record.experiment,
        _exclusions(run.config, run.trace, run.state.experiments.recruited, plan, people),
    )
    for exclusion in found:
        item = people[exclusion.place]
        run.record(
            PersonExcluded(
                experiment=name,
                person=item.record.person,
                answers=item.digest,
                rule=exclusion.rule.key,
                words=exclusion.rule.words,
                value=exclusion.value,
            ),
            name="exclude",
            inputs=[plan.digest, item.digest],
            position={"rule": exclusion.rule.key},
        )
    out = {exclusion.place for exclusion in found}
    return [item for place, item in enumerate(people) if place not in out]


def _collected(
    config: CampaignConfig, plan: Recorded[Preregistration], trials: Trials, artifact: Digest
) -> TrialsCollected:
    ceiling = noise_ceiling(trials)
    return TrialsCollected(
        experiment=plan.record.experiment,
        preregistration=plan.digest,
        trials=artifact,
        n_participants=trials.n_participants,
        n_responses=trials.n_responses,
        n_people=trials.n_people,
        pooled=trials.pooled,
        ceiling=None if ceiling is None else ceiling.value,
        ceiling_error=None if ceiling is None else ceiling.standard_error,
        language_model=config.participants.model,
    )
