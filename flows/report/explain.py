"""What a record rests on and whether it holds; decisions about judges, made again; anchor sets, built."""

from __future__ import annotations

from collections import deque
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from lakatos.domains import ARCHIVES, DOMAINS, FAMILIES
from lakatos.domains.published_data import load_archive
from lakatos.flows.errors import RunMissingError
from lakatos.flows.report.reader import open_reading
from lakatos.flows.stages.judging.challenge import answers_of, question_of
from lakatos.judges.anchor import AnchorItem, AnchorSet, split
from lakatos.judges.gate import refusal_of, replay
from lakatos.judges.gate_record import GateDecided, GateRegistered
from lakatos.judges.items.ground_truth import archived_items, simulated_items
from lakatos.judges.record import AnchorTaken
from lakatos.theories.engine.laboratory import Laboratory
from lakatos.traces.digest import Digest, digest_of
from lakatos.traces.journal import Event
from lakatos.traces.validity import ValidityLink

VERSIONS = {
    "campaign_started": "the laboratory's code",
    "theory_checked": "a theory",
    "trials_collected": "answers",
    "anchor_taken": "an anchor set",
    "judge_bred": "a judge",
    "judge_seated": "a judge's seat",
    "epoch_opened": "a panel of judges",
}
"""Kinds of records that name a version of something, and of what."""


@dataclass(frozen=True)
class RecordExplanation:
    """Why a record holds, or does not."""

    digest: Digest
    kind: str
    name: str
    ways: tuple[tuple[Event, ...], ...]
    """To every version that it rests on, the shortest way, nearest first; each begins with the record itself."""
    broken: tuple[ValidityLink, ...]
    """The way to what does not hold; empty if the record does."""


def explain(folder: Path, prefix: str) -> RecordExplanation:
    """The ways from a record to every version that it rests on, and why it does or does not hold.

    Args:
        folder: Of the run.
        prefix: Beginning of the record's digest.

    Raises:
        RunMissingError: There is no run, or no such record, or more than one.
    """
    with open_reading(folder) as reading:
        events = {event.record_digest: event for event in reading.results}
        event = _one(list(events.values()), prefix)
        ways = shortest_ways(events, event.record_digest, VERSIONS)
        broken = tuple(reading.validity.explain(event.record_digest))
    return RecordExplanation(event.record_digest, event.kind, event.name, ways, broken)


def shortest_ways(
    events: Mapping[Digest, Event], start: Digest, kinds: Container[str]
) -> tuple[tuple[Event, ...], ...]:
    """The shortest way from a record to every record of some kinds that it rests on, nearest first.

    Args:
        events: By the digest of their record.
        start: The record, with which each way begins.
        kinds: Of the records at the other end.
    """
    came_from: dict[Digest, Digest | None] = {start: None}
    queue, ways = deque([start]), []
    while queue:
        current = queue.popleft()
        if events[current].kind in kinds and current != start:
            way: list[Event] = []
            place: Digest | None = current
            while place is not None:
                way.append(events[place])
                place = came_from[place]
            ways.append(tuple(reversed(way)))
        for cited in events[current].inputs:
            if cited in events and cited not in came_from:
                came_from[cited] = current
                queue.append(cited)
    return tuple(ways)


def replay_decision(folder: Path, prefix: str) -> GateDecided:
    """Decide a challenge again from what its record cites; the same record comes out.

    Args:
        folder: Of the run.
        prefix: Beginning of the digest of a `GateDecided` record.

    Raises:
        RunMissingError: There is no run, or no such decision.
        ReplayError: Another decision comes out.
    """
    with open_reading(folder) as reading:
        trace = reading.trace
        decisions = [event for event in reading.results if event.kind == "gate_decided"]
        decided = trace.get(_one(decisions, prefix).record_digest, GateDecided)
        registration = next(
            item.record
            for item in trace.records(GateRegistered)
            if digest_of(item.record.model_dump(mode="json")) == decided.registration
        )
        taken = next(
            item.record
            for item in trace.records(AnchorTaken)
            if item.record.confirm == registration.anchor
        )
        anchor = AnchorSet.from_json(trace.artifacts.get_json(taken.anchor))
        pair = answers_of(trace.artifacts, registration)
        items = () if refusal_of(registration) else anchor.parts["confirm"]
        return replay(
            decided, registration, question_of(registration.settings, pair, anchor), items
        )


def build_anchor(
    domains: Sequence[str],
    n_items: int,
    seed: int,
    *,
    data: Path | None = None,
    n_workers: int = 1,
    n_blocks: int = 4,
    n_pairs: int = 3,
    most_experiments: int = 10,
) -> AnchorSet:
    """An anchor set of simulated truth in some domains, and of published choices where the data are there.

    Args:
        domains: Names.
        n_items: Simulated comparisons in each; 0 for none.
        seed: Of everything.
        data: Folder of the published data sets; None for none.
        n_workers: Theories that run at the same time.
        most_experiments: Of each archive.

    Raises:
        AnchorError: There are too few comparisons.
    """
    items: list[AnchorItem] = []
    for domain in domains:
        rng = np.random.default_rng([seed, *domain.encode()])
        with Laboratory(DOMAINS[domain], n_workers) as laboratory:
            made = (DOMAINS[domain], FAMILIES[domain], laboratory, rng, n_items)
            if n_items:
                items += simulated_items(*made)
            for reader in ARCHIVES.values() if data is not None else ():
                if reader.domain == domain:
                    experiments = load_archive(reader.name, data or Path())[:most_experiments]
                    items += archived_items(
                        experiments,
                        DOMAINS[domain],
                        FAMILIES[domain],
                        laboratory,
                        rng,
                        n_blocks=n_blocks,
                        n_pairs=n_pairs,
                    )
    return split({item.digest: item for item in items}.values(), seed)


def _one(events: Sequence[Event], prefix: str) -> Event:
    found = [event for event in events if prefix and event.record_digest.startswith(prefix)]
    if len(found) != 1:
        there = ", ".join(event.record_digest[:10] for event in (found or events)[:6])
        raise RunMissingError(
            f"{len(found)} such records have a digest that begins with {prefix!r}; give more of it, or another. "
            f"There are {there or 'none'}{' and others' if len(found or events) > 6 else ''}."
        )
    return found[0]
