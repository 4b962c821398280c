"""Answers and texts of language models in a run: a fold over the records of their roles."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from lakatos.theories.discovery.roles.record import (
    AnalysisMade,
    CaseRead,
    ClaimAudited,
    DraftsScreened,
    MatterInvestigated,
    RoleAnswered,
    SuccessorTried,
)
from lakatos.traces.digest import Digest
from lakatos.traces.state_rule import StateRules, keep_all, keep_by_digest
from lakatos.traces.step import Recorded


@dataclass(frozen=True)
class RolesState:
    """Answers of language models in roles, and what became of them."""

    answered: Mapping[Digest, Recorded[RoleAnswered]] = field(default_factory=dict)
    """Answers by the digest of their record."""
    cases: tuple[Recorded[CaseRead], ...] = ()
    """Case files that were read."""
    audited: tuple[Recorded[ClaimAudited], ...] = ()
    tried: tuple[Recorded[SuccessorTried], ...] = ()
    """Drafts of theories."""
    screened: tuple[Recorded[DraftsScreened], ...] = ()
    """Drafts that were sent together, before any fit."""
    analyses: tuple[Recorded[AnalysisMade], ...] = ()
    """Analyses of people's responses, by code that language models wrote."""
    investigated: tuple[Recorded[MatterInvestigated], ...] = ()
    """Matters that were investigated with the laboratory's tools."""


RULES: Final[StateRules] = {
    RoleAnswered: keep_by_digest("answered"),
    CaseRead: keep_all("cases"),
    ClaimAudited: keep_all("audited"),
    SuccessorTried: keep_all("tried"),
    DraftsScreened: keep_all("screened"),
    AnalysisMade: keep_all("analyses"),
    MatterInvestigated: keep_all("investigated"),
}
"""Rules of how each record changes the state."""
