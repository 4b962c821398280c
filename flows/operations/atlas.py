"""An atlas: one campaign for each public data set, and what the theories found there are worth elsewhere.

A folder of study files is an atlas; a new data set is one more file. `atlas_cells` makes campaigns of them, which are
carried as those of a sweep are; `travel` tries each leader on the other data sets of its domain; `read_entry` says what
came of one, from its journal alone.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise
from pathlib import Path

from lakatos.experiments.record import SealedOpened
from lakatos.flows.errors import RunMissingError, StudyError, TransferError
from lakatos.flows.operations.sweep import SweepCell
from lakatos.flows.operations.transfer import (
    TRANSFER_FILE,
    TransferMeasured,
    find_theory,
    measure_transfer,
    read_target,
    read_transfer,
    write_transfer,
)
from lakatos.flows.run.evidence import form_of
from lakatos.flows.run.run import read_state
from lakatos.flows.run.study import CampaignConfig, load_study
from lakatos.theories.engine.evidence import with_fit
from lakatos.theories.engine.record import CompletenessMeasured
from lakatos.theories.errors import TheoryError
from lakatos.theories.findings.verdicts.record import CampaignConcluded

LONGEST_STEP_S = 3600.0
"""A longer time between two events of a journal is a pause of whoever ran it, not work."""
TRAVELS = "travels"
"""Folder of an atlas that holds a folder of transfers for each pair of data sets."""


@dataclass(frozen=True)
class AtlasEntry:
    """Result of a campaign about one data set."""

    name: str
    config: CampaignConfig
    folder: Path
    verdict: CampaignConcluded
    company: CompletenessMeasured | None
    sealed: SealedOpened | None
    leader: str
    claim: str
    """At the numbers of its newest fit."""
    n_clauses: int
    n_answers: int
    """Number of responses that were open to the search."""
    seconds: float
    """Time from the first event to the last, without pauses."""
    travels: tuple[TransferMeasured, ...]
    """Its leader on other data sets of the domain."""

    @property
    def clearly_ahead(self) -> bool:
        """Whether the leader is ahead of the best published theory, fitted likewise, beyond the 95% interval."""
        company = self.company
        if company is None or company.ahead is None or company.ahead_error is None:
            return False
        return company.estimate(company.ahead, company.ahead_error).is_above_zero()


def load_atlas(folder: Path) -> dict[str, CampaignConfig]:
    """The studies of an atlas by name, in the order of their files.

    Raises:
        StudyError: There are none, one is wrong, two have one name, or one is not about published answers.
    """
    files = sorted(folder.glob("*.toml"))
    if not files:
        raise StudyError(
            f"{folder} holds no study files (*.toml); an atlas is a folder with one study for each data set."
        )
    found: dict[str, CampaignConfig] = {}
    for file in files:
        config = load_study(file)
        if not config.source.is_archive:
            raise StudyError(
                f"{file} is not about published answers (participants.source is "
                f"{config.participants.source!r}); an atlas holds archival studies only."
            )
        if config.name in found:
            raise StudyError(f"two studies of {folder} are called {config.name!r}; rename one.")
        found[config.name] = config
    return found


def atlas_cells(studies: dict[str, CampaignConfig]) -> list[SweepCell]:
    """The campaigns of an atlas; none learns from another, so that each says what its own data teach."""
    cells = []
    for name, config in studies.items():
        memory = config.memory.model_copy(update={"winners": False})
        own = config.model_copy(update={"memory": memory})
        people = config.participants
        data = Path(people.file).name if people.file else people.of_what
        cells.append(SweepCell(name, {"data": data}, own))
    return cells


def pairs_of(studies: dict[str, CampaignConfig]) -> Iterator[tuple[str, str]]:
    """Every study with every other one of its domain whose answers had no part in it."""
    for source, own in studies.items():
        for target, other in studies.items():
            if source == target or own.domain != other.domain or own.participants.file:
                continue
            if len(other.participants.archives) == 1:
                yield source, target


def travel(
    folder: Path,
    studies: dict[str, CampaignConfig],
    *,
    data: Path | None,
    n_workers: int = 2,
    show: Callable[[str], None] = lambda text: None,
) -> None:
    """Try the leader of each campaign that has ended on the other data sets of its domain; what is there stays.

    Args:
        folder: Of the atlas.
        studies: As `load_atlas` gives them.
        data: Folder of the published data sets.
        n_workers: Theories that run at the same time.
        show: Told what is begun, and what cannot be.
    """
    for source, target in pairs_of(studies):
        place = folder / TRAVELS / f"{source}-to-{target}"
        if (place / TRANSFER_FILE).exists() or not _ended(folder / source):
            continue
        show(f"{source}: its leader on {target}")
        people = studies[target].participants
        try:
            theory = find_theory(str(folder / source), folder, data=data)
            (archive,) = people.archives
            trials = read_target(archive, people.experiments or "*", data)
            measured = measure_transfer(theory, archive, trials, n_workers=n_workers)
        except (TransferError, TheoryError) as error:
            show(f"{source}: its leader cannot be tried on {target}: {error}")
            continue
        write_transfer(measured, place)


def _ended(folder: Path) -> bool:
    with contextlib.suppress(RunMissingError):
        state, trace = read_state(folder)
        trace.close()
        return state.campaign.concluded is not None
    return False


def read_entry(folder: Path, name: str) -> AtlasEntry | None:
    """The result of a study; None before its verdict."""
    try:
        state, trace = read_state(folder / name)
    except RunMissingError:
        return None
    with trace:
        if state.campaign.concluded is None or state.campaign.config is None:
            return None
        verdict = state.campaign.concluded.record
        theory = with_fit(form_of(trace.artifacts, state, str(verdict.leader)), state.theories)
        times = [datetime.fromisoformat(event.time_utc) for event in trace.journal.events()]
    told, collected = (
        theory.account(),
        [item.record for item in state.experiments.collected.values()],
    )
    steps = [(after - before).total_seconds() for before, after in pairwise(times)]
    return AtlasEntry(
        name=name,
        config=state.campaign.config,
        folder=folder / name,
        verdict=verdict,
        company=state.theories.completeness.record if state.theories.completeness else None,
        sealed=state.experiments.sealed.record if state.experiments.sealed else None,
        leader=theory.name,
        claim=told.claim,
        n_clauses=len(told.clauses),
        n_answers=sum(item.n_responses for item in collected),
        seconds=sum(step for step in steps if step < LONGEST_STEP_S),
        travels=tuple(_travels(folder, name)),
    )


def _travels(folder: Path, name: str) -> Iterator[TransferMeasured]:
    for file in sorted((folder / TRAVELS).glob(f"{name}-to-*/{TRANSFER_FILE}")):
        yield read_transfer(file)


def read_atlas(folder: Path, names: Sequence[str]) -> list[AtlasEntry]:
    """The entries that have a verdict, in the order of ``names``."""
    found = [read_entry(folder, name) for name in names]
    return [entry for entry in found if entry is not None]
