"""Kinds of arguments and results of the laboratory's verbs: a theory, an experiment, a design."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated


@dataclass(frozen=True)
class NamedKind:
    """Marks an argument or a result with what it names, beyond its Python type."""

    name: str


TheoryName = Annotated[str, NamedKind("theory")]
"""Digest of a theory, the beginning of one, or a name that only one theory has."""
ExperimentName = Annotated[str, NamedKind("experiment")]
"""An experiment of the campaign, or the digest of simulated answers."""
DesignName = Annotated[str, NamedKind("design")]
"""An experiment of the campaign, whose trials are taken, or the digest of a design."""
