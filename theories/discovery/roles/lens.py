"""Lenses of exploration: under each, a reviser writes a different kind of successor."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Parent = Literal["loser", "leader", "none"]


@dataclass(frozen=True)
class RevisionLens:
    """One way to look for a better theory."""

    task: str
    parent: Parent
    """The theory that is revised, and that the successor names as what it was made from."""


LENSES: dict[str, RevisionLens] = {
    "mechanism": RevisionLens(
        "Change one mechanism of the losing theory, the one that the case file blames, and nothing else.",
        "loser",
    ),
    "leap": RevisionLens(
        "Leave both theories behind. Name a rule of another kind that people could follow here, and write that.",
        "none",
    ),
    "simplify": RevisionLens(
        "Write a theory that predicts like the leader with fewer parameters, or with a rule that people could follow "
        "in their heads.",
        "leader",
    ),
    "residual": RevisionLens(
        "Look at the answers that both theories miss most. Write the simplest theory that would have predicted those "
        "and still predicts the others.",
        "leader",
    ),
    "steelman": RevisionLens(
        "Defend the losing theory: take the strongest case for it as it is given, and make the smallest change that "
        "saves it.",
        "loser",
    ),
}
"""Lenses by the name that study files use."""
