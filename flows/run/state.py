"""The state of a run: a pure fold over its records, in one part for each package."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

from lakatos.experiments import state as experiments_state
from lakatos.experiments.state import ExperimentsState
from lakatos.flows.run.records import CampaignStarted, CycleClosed, LeaderFollowed
from lakatos.flows.run.study import CampaignConfig
from lakatos.judges import seat_state
from lakatos.judges import state as judging_state
from lakatos.judges.seat_state import SeatsState
from lakatos.judges.state import JudgingState
from lakatos.memory import state as memory_state
from lakatos.memory.state import MemoryState
from lakatos.theories.discovery.roles import state as roles_state
from lakatos.theories.discovery.roles.state import RolesState
from lakatos.theories.engine import state as theories_state
from lakatos.theories.engine.record import SealedScored
from lakatos.theories.engine.scoreboard import Scoreboard, board_of, decisive_sealed_of
from lakatos.theories.engine.state import TheoriesState
from lakatos.theories.findings.verdicts.conclude import tied_with
from lakatos.theories.findings.verdicts.record import (
    CampaignConcluded,
    ConfirmationFinished,
    ExclusionSensitivity,
    FoldFinished,
    TheoriesMapped,
    TruthCompared,
)
from lakatos.traces.digest import Digest
from lakatos.traces.record import Record
from lakatos.traces.state_rule import StateRule, StateRules, keep_all, keep_newest
from lakatos.traces.step import Recorded


@dataclass(frozen=True)
class CampaignState:
    """State of a campaign: its study, its cycles, and the basis of its verdict."""

    config: CampaignConfig | None = None
    started: Recorded[CampaignStarted] | None = None
    cycles: tuple[Recorded[CycleClosed], ...] = ()
    """Cycles that are closed."""
    followed: Recorded[LeaderFollowed] | None = None
    """The leader of the last cycle."""
    truth: Recorded[TruthCompared] | None = None
    map: Recorded[TheoriesMapped] | None = None
    folds: tuple[Recorded[FoldFinished], ...] = ()
    confirmation: Recorded[ConfirmationFinished] | None = None
    sensitivity: Recorded[ExclusionSensitivity] | None = None
    concluded: Recorded[CampaignConcluded] | None = None


def _start(state: CampaignState, item: Recorded[CampaignStarted]) -> CampaignState:
    stop = {"moved": 0.0, **item.record.config.get("stop", {})}  # runs from before this key
    config = CampaignConfig.model_validate({**item.record.config, "stop": stop})
    return replace(state, started=item, config=config)


CAMPAIGN_RULES: Final[StateRules] = {
    CampaignStarted: _start,
    CycleClosed: keep_all("cycles"),
    LeaderFollowed: keep_newest("followed"),
    TruthCompared: keep_newest("truth"),
    TheoriesMapped: keep_newest("map"),
    FoldFinished: keep_all("folds"),
    ConfirmationFinished: keep_newest("confirmation"),
    ExclusionSensitivity: keep_newest("sensitivity"),
    CampaignConcluded: keep_newest("concluded"),
}


@dataclass(frozen=True)
class RunState:
    """Everything a run knows. Each package folds its own records into its part."""

    campaign: CampaignState = field(default_factory=CampaignState)
    experiments: ExperimentsState = field(default_factory=ExperimentsState)
    theories: TheoriesState = field(default_factory=TheoriesState)
    roles: RolesState = field(default_factory=RolesState)
    """Responses of language models in roles."""
    judging: JudgingState = field(default_factory=JudgingState)
    """Verdicts of judges."""
    seats: SeatsState = field(default_factory=SeatsState)
    """Judges of the run and their seats."""
    memory: MemoryState = field(default_factory=MemoryState)

    def board(self) -> Scoreboard:
        """All rivals on all experiments."""
        return board_of(self.theories, self.experiments)

    def tied(self) -> frozenset[Digest]:
        """The leading theory, and those from which the data do not separate it by the rule of the verdict."""
        standings = self.board().standings
        if not standings:
            return frozenset()
        leader = standings[0].theory
        return frozenset((leader, *tied_with(self.theories, self.experiments, leader)))

    @property
    def decisive_sealed(self) -> Mapping[Digest, SealedScored]:
        """Scores on sealed responses on which a verdict can rest."""
        return decisive_sealed_of(self.theories, self.experiments)

    @property
    def n_tried(self) -> int:
        """Theories among which the rivals were picked: candidates of searches, and drafts of language models."""
        searched = sum(item.record.n_attempts for item in self.theories.searches)
        passed_over = sum(item.record.n_passed_over for item in self.roles.screened)
        return searched + len(self.roles.tried) + passed_over

    @property
    def seeds(self) -> list[Digest]:
        """The theories that the study started from: published ones and its own, not those of earlier campaigns."""
        won = self.memory.theories
        admitted = self.theories.pool.items()
        return [theory for theory, item in admitted if item.record.cycle == 0 and theory not in won]


_TABLES: Final[Mapping[str, StateRules]] = {
    "campaign": CAMPAIGN_RULES,
    "experiments": experiments_state.RULES,
    "theories": theories_state.RULES,
    "roles": roles_state.RULES,
    "judging": judging_state.RULES,
    "seats": seat_state.RULES,
    "memory": memory_state.RULES,
}
"""The rules of each part of the state."""


def _rules_by_record() -> dict[type[Record], list[tuple[str, StateRule]]]:
    """The parts that a record changes, and how."""
    found: dict[type[Record], list[tuple[str, StateRule]]] = {}
    for part, rules in _TABLES.items():
        for record, rule in rules.items():
            found.setdefault(record, []).append((part, rule))
    return found


_RULES: Final = _rules_by_record()


def advance(state: RunState, item: Recorded[Any]) -> RunState:
    """The state after one more record; records it has no place for change nothing."""
    rules = _RULES.get(type(item.record), ())
    changed = {part: rule(getattr(state, part), item) for part, rule in rules}
    return replace(state, **changed) if changed else state
