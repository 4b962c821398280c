"""Decisions about judges, made again, and anchor sets, built."""

from __future__ import annotations

from collections.abc import Sequence
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
from lakatos.traces.digest import digest_of
from lakatos.traces.journal import Event


def replay_decision(folder: Path, prefix: str) -> GateDecided:
    """Decide a challenge again from what its record cites; the same record comes out.

    Args:
        folder: Folder of the run.
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
        seed: Random seed.
        data: Folder of the published data sets; None for none.
        n_workers: Theories that run at the same time.
        most_experiments: Most experiments of each archive.

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
