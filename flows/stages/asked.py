"""Recruitments and responses so far, by the trace, and what a run waits for."""

from __future__ import annotations

from dataclasses import dataclass

from lakatos.experiments.design import design_from_json
from lakatos.experiments.participants import SOURCES
from lakatos.experiments.participants.answers import LANGUAGE_MODEL
from lakatos.experiments.participants.source import SourceProfile
from lakatos.experiments.preregistration import Preregistration
from lakatos.experiments.record import AnswersArrived, PeopleRecruited
from lakatos.experiments.task import Design
from lakatos.flows.run.state import RunState
from lakatos.traces.artifact import ArtifactStore
from lakatos.traces.digest import Digest
from lakatos.traces.inbox import InboxBatch
from lakatos.traces.record import Tombstone
from lakatos.traces.step import Recorded, Trace


@dataclass(frozen=True)
class AnswersAwaited:
    """A pass ended because responses are missing; the next one goes on from there."""

    experiment: str
    source: SourceProfile
    n_completed: int
    n_arrived: int
    n_planned: int
    """People wanted by now, those in place of excluded ones among them."""
    to_stop: str = ""
    """Command that stops a recruitment which still lets people in, although collection has ended; it is to be run."""

    @property
    def text(self) -> str:
        """The responses that the run waits for, and how they arrive."""
        others = self.n_arrived - self.n_completed
        who = "the language model" if self.source.origin == LANGUAGE_MODEL else "participants"
        if self.to_stop:
            return (
                f"collection of experiment {self.experiment} has ended with {self.n_completed} of {self.n_planned} "
                "participants, and its study on Prolific could still admit others, who would be paid for nothing. Stop "
                f"it: `{self.to_stop}`. Then `lakatos resume`."
            )
        return (
            f"waiting for {who}: {self.n_completed} of {self.n_planned} have completed experiment {self.experiment}"
            f"{f', and {others} stopped before the end' if others else ''}; "
            f"{self.source.brought_by}. Then `lakatos resume`; `lakatos resume --enough` continues with those who have "
            "responded."
        )


@dataclass(frozen=True)
class AskedPeople:
    """People who were asked, and what was frozen before."""

    plan: Recorded[Preregistration]
    recruited: Recorded[PeopleRecruited]


def erased(trace: Trace) -> set[Digest]:
    """Digests of all records that a tombstone says no longer hold."""
    return {item.record.target for item in trace.records(Tombstone)}


def answers_of(trace: Trace, *experiments: str) -> list[Recorded[AnswersArrived]]:
    """Responses to these experiments that were not withdrawn, in the order of their arrival."""
    gone = erased(trace)
    return [
        item
        for item in trace.records(AnswersArrived)
        if item.record.experiment in experiments and item.digest not in gone
    ]


def waiting_in(state: RunState) -> AnswersAwaited | None:
    """The responses that a run waits for, by its records."""
    config, known = state.campaign.config, state.experiments
    if config is None or not config.source.one_by_one:
        return None
    for name, recruitment in known.recruited.items():
        people = known.answers.get(name, ())
        n_completed = sum(item.record.status == "completed" for item in people)
        stale = name in known.collected or name in known.closed or name in known.withdrawn
        wanted = known.wanted.get(name, recruitment.record.n_participants)
        if not stale and n_completed < wanted:
            return AnswersAwaited(name, config.source, n_completed, len(people), wanted)
    return None


def _design(artifacts: ArtifactStore, plan: Preregistration) -> Design:
    return design_from_json(artifacts.get_json(plan.design))


def recruiting_key(source: SourceProfile, key: Digest, place: Digest) -> Digest:
    """Key under which a source recruits.

    Participants who respond later are recruited once with the step's key. Simulated participants, archives and language
    models, which respond at once, are recruited with the step's place, from which their random numbers follow.
    """
    return key if source.responds_later else place


def key_of(trace: Trace, recruitment: Recorded[PeopleRecruited]) -> Digest:
    """Key under which people of an experiment were recruited."""
    event = trace.journal.find_record(recruitment.digest)
    assert event is not None
    place = trace.place_of(event.key, event.name, event.position)
    return recruiting_key(SOURCES[recruitment.record.source].profile, event.key, place)


def _arrived(trace: Trace, experiment: str) -> list[InboxBatch]:
    """Batches of an experiment that wait in the inbox."""
    return [batch for batch in trace.inbox.pending() if batch.json()["experiment"] == experiment]
