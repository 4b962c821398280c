"""The anchor set of a campaign: read from a file or simulated, and without what shares anything with the campaign."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lakatos.experiments.data_sets import published_name
from lakatos.experiments.errors import ExperimentError
from lakatos.experiments.task import Stimuli, identities
from lakatos.flows.run.anchor_ledger import AnchorLedger
from lakatos.flows.run.evidence import RunEvidence
from lakatos.flows.run.source import whole_archive
from lakatos.flows.run.study import CampaignConfig
from lakatos.judges.anchor import (
    AnchorItem,
    AnchorSet,
    LabelAccess,
    check_disjoint,
    components,
    split,
    without,
)
from lakatos.judges.errors import AnchorError
from lakatos.judges.feature import FEATURES, features_of
from lakatos.judges.items.ground_truth import simulated_items
from lakatos.judges.ledger import level_of
from lakatos.judges.paired import fewest_units
from lakatos.judges.record import SHARES, AnchorTaken, Part
from lakatos.traces.artifact import ArtifactStore
from lakatos.traces.digest import digest_bytes
from lakatos.traces.files import read_named
from lakatos.traces.step import Recorded, StepContext

if TYPE_CHECKING:
    from lakatos.flows.run.run import Run

UNREAD = "machine_written"
"""Feature that judges are not bred on: who wrote a theory says nothing about it."""


async def take_anchor(run: Run) -> Recorded[AnchorTaken]:
    """The anchor set of the study, once, without items that share problems or people with the campaign.

    Raises:
        AnchorError: The anchor file cannot be read, or too little of it is left for the gate ever to decide.
        LedgerError: The file's ledger cannot be relied on.
    """
    assert run.state.campaign.started is not None
    settings, inputs = run.config.judges, [run.state.campaign.started.digest]
    file = Path(settings.anchor) if settings.anchor else None
    if run.trace.recorded("take anchor", inputs, {}) is None and file:
        check_ledger(run.config, foreign(run.evidence, run.data, read_anchor(file)))

    def work(context: StepContext) -> AnchorTaken:
        if file:
            whole, source = read_anchor(file), "an anchor file"
        else:
            items = simulated_items(
                run.domain, run.family, run.laboratory, context.rng, settings.items
            )
            whole, source = split(items, run.config.seed), "people simulated by known theories"
        kept = foreign(run.evidence, run.data, whole)
        if empty := [part for part in SHARES if not kept.parts[part]]:
            raise AnchorError(
                f"nothing is left of {empty[0]} once what shares trials or people with the campaign is left out of the "
                "anchor set; give one on other trials and other people."
            )
        return taken_record(context, kept, _size(whole) - _size(kept), source)

    return await run.step("take anchor", work, returns=AnchorTaken, inputs=inputs)


def check_ledger(config: CampaignConfig, kept: AnchorSet) -> None:
    """Refuse to begin a campaign whose judges no test of the anchor file could ever replace.

    Raises:
        AnchorError: What is left of confirm has too few comparisons for the level that is left.
        LedgerError: The ledger cannot be relied on, or promises another alpha.
    """
    settings = config.judges
    ledger = ledger_of(config)
    if settings.panel != "evolving" or ledger is None:
        return
    before = ledger.drawn()
    ledger.check_alpha(before, settings.alpha)
    number = 1 + sum(item.is_spent for item in before)
    level = level_of(settings.alpha, number)
    confirm = kept.parts["confirm"]
    n_units = len(set(components(confirm)))
    is_exact = settings.test == "exact" and n_units == len(confirm)  # else units are bet on
    fewest = fewest_units(level, exact=is_exact)
    if n_units < fewest:
        raise AnchorError(
            f"{settings.anchor} has {n_units} comparisons for the gate that share nothing with one another or with the "
            f"campaign, and {number - 1} tests were made on it; the next one, of level {level:.2g}, needs at least "
            f"{fewest}. Build a larger anchor set with `lakatos judges anchor build`, with another seed."
        )


def ledger_of(config: CampaignConfig) -> AnchorLedger | None:
    """The ledger of the study's anchor file; None where the items were simulated for the campaign alone.

    Raises:
        AnchorError: The file cannot be read.
    """
    file = Path(config.judges.anchor)
    return AnchorLedger.beside(file, read_anchor(file)) if config.judges.anchor else None


def anchor_of(artifacts: ArtifactStore, record: AnchorTaken) -> AnchorSet:
    """The anchor set that a record names."""
    return AnchorSet.from_json(artifacts.get_json(record.anchor))


def read_json(path: Path) -> Any:
    """Read a file of settled comparisons.

    Raises:
        AnchorError: It cannot be read.
    """
    try:
        return json.loads(read_named(path, 2**28))
    except (OSError, ValueError, RecursionError) as error:
        raise AnchorError(
            f"cannot read the anchor set {path}: {error}. `lakatos judges anchor build` makes one."
        ) from None


def read_anchor(path: Path) -> AnchorSet:
    """An anchor set from a file, in the parts that are fixed there for all campaigns.

    Args:
        path: JSON, gzipped where its name ends in ``.gz``: ``{"parts": ..., "hard_cases": ...}``.

    Raises:
        AnchorError: It cannot be read, has no parts, parts share something, or an item lacks what it needs.
    """
    value = read_json(path)
    if isinstance(value, dict) and "items" in value and "parts" not in value:
        raise AnchorError(
            f"the items in {path} have no parts, so that one campaign would breed judges on what another tests on. "
            f"Fix the parts once: `lakatos judges anchor split {path} OUT`."
        )
    if not isinstance(value, dict) or "parts" not in value:
        raise AnchorError(
            f"the file {path} holds no 'parts'; `lakatos judges anchor build` makes one."
        )
    anchor = AnchorSet.from_json(value)
    check_disjoint(anchor)
    return anchor


def split_items(path: Path, seed: int) -> AnchorSet:
    """The items of a file that have no parts yet, in parts.

    Raises:
        AnchorError: It cannot be read, has parts already, or an item lacks what it needs.
    """
    value = read_json(path)
    items = value.get("items") if isinstance(value, dict) and "parts" not in value else None
    if not isinstance(items, list):
        raise AnchorError(
            f"the file {path} holds no list of 'items' without parts; parts are fixed once, and stay as they are."
        )
    return split(map(AnchorItem.from_json, items), seed)


def readable(items: Sequence[AnchorItem]) -> list[str]:
    """Features that judges may be bred on: those that every item has."""
    there = (
        set.intersection(*(set(features_of(item.submission)) for item in items)) if items else set()
    )
    return [name for name in FEATURES if name in there and name != UNREAD]


def foreign(evidence: RunEvidence, data: Path | None, anchor: AnchorSet) -> AnchorSet:
    """The anchor set without items that share a problem or people with the campaign.

    Of a campaign on an archive, with all of it; of one that asks new people, with all trials that it could ask them,
    where these can be listed. Simulated people share their problems with nobody.
    """
    source = evidence.config.source
    if source.origin == "simulated":
        return anchor
    is_archive = source.is_archive
    archive = whole_archive(evidence.config, data, evidence.artifacts) if is_archive else ()
    names = {published_name(trials.experiment) for trials in archive}
    known_stimuli = [trials.stimuli for trials in archive] if is_archive else _space_of(evidence)
    keys = {
        digest_bytes(key)[:16]
        for stimuli in known_stimuli
        for key in identities(evidence.domain, stimuli)
    }

    def kept(items: Sequence[AnchorItem]) -> tuple[AnchorItem, ...]:
        # Where only counts are known, people have no names, and the provenance alone says whose answers they are.
        others = [
            item
            for item in items
            if not any(f", {name}, block" in item.provenance for name in names)
        ]
        people = {
            name
            for item in others
            for name in item.people
            if name.rpartition(" people ")[0] in names
        }
        return without(others, keys | names, people)

    parts: dict[Part, tuple[AnchorItem, ...]] = {
        part: kept(items) for part, items in anchor.parts.items()
    }
    return AnchorSet(parts, kept(anchor.hard_cases))


def _space_of(evidence: RunEvidence) -> list[Stimuli]:
    """All trials that a campaign could ask; none where they are too many to be listed, or are steps of schedules."""
    if evidence.domain.sequential:
        return []
    try:
        return [evidence.domain.space(evidence.config.space)]
    except ExperimentError:
        return []


def taken_record(
    context: StepContext, anchor: AnchorSet, n_left_out: int, source: str
) -> AnchorTaken:
    """The record of an anchor set that was taken."""
    return AnchorTaken(
        anchor=context.artifacts.put_json(anchor.to_json()),
        set=anchor.digest,
        confirm=anchor.digest_of("confirm"),
        n_items={
            **{part: len(items) for part, items in anchor.parts.items()},
            "hard cases": len(anchor.hard_cases),
        },
        n_left_out=n_left_out,
        source=source,
    )


def _size(anchor: AnchorSet) -> int:
    return sum(map(len, anchor.parts.values())) + len(anchor.hard_cases)


def read_dev(
    run: Run, anchor: AnchorSet, taken: Recorded[AnchorTaken], epoch: int
) -> tuple[AnchorItem, ...]:
    """The dev part with its labels; the look is recorded."""
    items, access = LabelAccess(run.state.seats.exposed).read(anchor, "dev", "breed", [])
    run.record(
        access.exposed[-1], name="expose dev", inputs=[taken.digest], position={"epoch": epoch}
    )
    return items
