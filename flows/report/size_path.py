"""The best theory of every size that the searches of a run found, and the one that a reader chooses."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated

from markupsafe import Markup
from rich.table import Table

from lakatos.flows.argument import Argument, RunFolder
from lakatos.flows.errors import UnusableError
from lakatos.flows.report import charts
from lakatos.flows.report.download import both
from lakatos.flows.report.reader import RunReading, open_reading
from lakatos.flows.report.theory_facts import stated_mechanisms
from lakatos.flows.result import Result, Shown
from lakatos.flows.run.console import escape
from lakatos.theories.engine.record import SizeOnPath
from lakatos.theories.language.theory import TheoryProgram, read_program
from lakatos.traces.wording import plural


@dataclass(frozen=True, repr=False)
class PathOfSizes(Result):
    """The best theory of every size, and the chosen one with its source."""

    path: tuple[SizeOnPath, ...]
    chosen: SizeOnPath
    source: str

    def lines(self) -> Iterator[Shown]:
        """A table of the sizes, and the claim and the source of the chosen theory."""
        table = Table("clauses", "nats per choice", "behind the best", "standard error", "claim")
        for item in self.path:
            mark = " *" if item is self.chosen else ""
            table.add_row(
                f"{item.n_clauses}{mark}",
                f"{item.score:.4f}",
                f"{item.behind:.4f}",
                f"{item.behind_error:.4f}",
                escape(item.claim),
            )
        yield table
        yield f"* {plural(self.chosen.n_clauses, 'clause')}: {escape(self.chosen.claim)}"
        yield ""
        yield escape(self.source)


GUESSING = "People choose at random."
"""Claim of a theory without effects."""


def newest_path(reading: RunReading) -> tuple[SizeOnPath, ...]:
    """The path of the newest search that recorded one, the smallest theory first."""
    found = (item.record.path for item in reversed(reading.state.theories.searches))
    return next((path for path in found if path), ())


def path_of_sizes(
    folder: RunFolder, *, clauses: Annotated[int, Argument(least=0)] = 0
) -> PathOfSizes:
    """List the best theory of each number of clauses, or print the theory with a given number.

    Args:
        folder: The run's folder.
        clauses: Number of clauses; 0 selects the smallest theory within one standard error of the best.

    Raises:
        RunMissingError: There is no run.
        UnusableError: No search recorded theories by size, or there is none of this size.

    Examples:
        $ lakatos theory path allais-1 --clauses 3
    """
    with open_reading(folder) as reading:
        path = newest_path(reading)
        if not path:
            raise UnusableError(
                f"the run {folder} has no theories by size; only searches that compose theories record them."
            )
        wanted = [item for item in path if (item.n_clauses == clauses if clauses else item.chosen)]
        if not wanted:
            sizes = ", ".join(str(item.n_clauses) for item in path)
            raise UnusableError(
                f"no theory with {plural(clauses, 'clause')} is on the path of the run {folder}; give --clauses one of "
                f"{sizes}."
            )
        source = reading.trace.artifacts.get(wanted[0].source).decode()
    return PathOfSizes(path, wanted[0], source)


def changes_on_path(reading: RunReading, path: Sequence[SizeOnPath]) -> list[str]:
    """Mechanisms that each theory has and the next smaller one lacks, and those that it lacks: ``+ streak − length``.

    Only counted ones are named, of the smallest theory all of them. A theory that was submitted is named by its tag.
    """
    notes, before = [], frozenset[str]()
    for item in path:
        source = reading.trace.artifacts.get(item.source).decode()
        own = stated_mechanisms(read_program(TheoryProgram(source, author="")), reading.domain)
        changes = [("+", sorted(own - before)), ("−", sorted(before - own))]
        words = [f"{sign} {', '.join(names).replace('_', ' ')}" for sign, names in changes if names]
        if item.claim == GUESSING:  # its mechanisms have no effect
            words = ["guessing"]
        tag = f"{reading.label(item.source).tag}: " if item.source in reading.checked else ""
        notes.append(f"{tag}{' '.join(words)}")
        before = own
    return notes


def path_figure(reading: RunReading) -> Markup:
    """Loss of the best theory of every size against the best of all, with 95% intervals."""
    path = newest_path(reading)
    rows = []
    for item, note in zip(path, changes_on_path(reading, path), strict=True):
        half, value = 2 * item.behind_error, 0.0 - item.behind
        mark = " *" if item.chosen else ""
        known = (value, value - half, value + half)
        rows.append(charts.IntervalRow(f"{plural(item.n_clauses, 'clause')}{mark}", note, (known,)))
    if not rows:
        return Markup("")
    label = "log score minus that of the best theory, nats per choice"
    title = "The best theory of every size"
    return both(
        lambda width: charts.intervals(
            rows, ("difference",), label, width, title=title, line_at=0.0
        )
    )
