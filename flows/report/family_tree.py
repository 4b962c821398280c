"""The family tree of theories: a line for each, with rails from parents to children."""

from __future__ import annotations

from dataclasses import dataclass

from lakatos.flows.report.formats import edits_in_words
from lakatos.flows.report.reader import RunReading
from lakatos.flows.run.study_sections import OWN
from lakatos.theories.engine.record import TheoryChecked
from lakatos.theories.language.theory import PUBLISHED
from lakatos.traces.digest import Digest

LINE = 58
"""Height of a theory's line, CSS pixels."""
LEFT = 14
"""Place of the first column."""
MOST_WIDTH = 92.0
"""Largest width of all columns together."""


ORIGINS = {
    PUBLISHED: PUBLISHED,
    OWN: "given in the study",
    "grammar": "found by the search over combinations of mechanisms",
    "induction": "found by the induction of rules from the responses",
    "language_model": "proposed by a language model",
}
"""Origin of theories in words, by their author."""


def origin(author: str) -> str:
    """Describe where a theory comes from."""
    return ORIGINS.get(author, f"written by {author}")


@dataclass(frozen=True)
class FamilyRow:
    """A theory in the tree."""

    digest: Digest
    record: TheoryChecked
    x: float
    y: float
    status: str
    line: bool
    """Whether the leader descends from it."""
    how: str
    """Origin of the theory, or the reason why it was refused."""
    parents: tuple[Digest, ...]
    """Parents that are in the tree."""


@dataclass(frozen=True)
class FamilyEdge:
    """A rail from a parent to a child."""

    path: str
    line: bool
    """Whether it is a part of the leader's descent."""


@dataclass(frozen=True)
class FamilyTree:
    """All theories in order of arrival; columns are cycles."""

    rows: tuple[FamilyRow, ...]
    edges: tuple[FamilyEdge, ...]
    rail: float
    """Width of the columns."""
    n_left_out: int

    @property
    def height(self) -> int:
        """Height that all lines take together."""
        return LINE * len(self.rows)


def family_tree(reading: RunReading, most: int = 0) -> FamilyTree:
    """Every theory on a line of its own, in order of arrival.

    Args:
        reading: The run.
        most: Theories, beyond which those that were neither admitted nor ancestors of the leader are left out; 0 shows
            all.
    """
    digests = list(reading.checked)
    if 0 < most < len(digests):
        keep = set(reading.state.theories.pool) | reading.ancestry
        digests = [digest for digest in digests if digest in keep]
    cycles = sorted({reading.checked[digest].record.cycle for digest in digests})
    step = min(20.0, MOST_WIDTH / max(len(cycles) - 1, 1))
    spots = {}
    for row, digest in enumerate(digests):
        column = cycles.index(reading.checked[digest].record.cycle)
        spots[digest] = (LEFT + step * column, LINE * (row + 0.5))
    rows, edges = [], []
    for digest in digests:
        record = reading.checked[digest].record
        known = dict.fromkeys(name for name in record.parents if name in spots and name != digest)
        how = f"refused: {record.reason}" if record.reason else record.change
        row_of = FamilyRow(
            digest=digest,
            record=record,
            x=spots[digest][0],
            y=spots[digest][1],
            status=reading.fate(digest),
            line=digest in reading.ancestry,
            how=edits_in_words(how) or origin(record.author),
            parents=tuple(known),
        )
        rows.append(row_of)
        for parent in known:
            path = _rail(spots[parent], spots[digest], step / 2)
            edges.append(FamilyEdge(path, {digest, parent} <= reading.ancestry))
    edges.sort(key=lambda edge: edge.line)  # the leader's descent is drawn above the others
    rail = LEFT + step * max(len(cycles) - 1, 0) + 22
    return FamilyTree(tuple(rows), tuple(edges), rail, len(reading.checked) - len(rows))


def _rail(start: tuple[float, float], end: tuple[float, float], gap: float) -> str:
    """Down between two columns, so that no line runs through the marks of siblings."""
    (from_x, from_y), (x, y) = start, end
    between = from_x + gap
    out = f"M{from_x:.1f} {from_y:.1f}Q{between:.1f} {from_y:.1f} {between:.1f} {from_y + 12:.1f}"
    return f"{out}V{y - 12:.1f}Q{between:.1f} {y:.1f} {x:.1f} {y:.1f}"
