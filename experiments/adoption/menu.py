"""Options that a task of one's own would have: their labels, their attributes, and the values of these."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from lakatos.experiments.adoption.names import CHOICES, words_of
from lakatos.experiments.adoption.signatures import PARTS_OF_NAMES, ColumnSignature, TableSignature
from lakatos.experiments.errors import TrialsError

REWARDS = {"reward", "rewards", "outcome", "win", "wins", "won", "loss", "losses"}
NO_ATTRIBUTES = CHOICES | REWARDS | {"rt", "latency"}
"""Words in names of columns of what was chosen, of what it brought, and how long it took."""
UNNAMED = re.compile(r"column \d+( |$)")
"""Columns without a name in the file, such as numbers of rows."""
MOST_OPTIONS = 12
MOST_LISTED, MOST_STEPS = 20, 1_000
"""Numbers of an attribute that are listed; of more, the range and the step stand there, of at most so many levels."""


@dataclass(frozen=True)
class Menu:
    """Options that each choice of a file is among."""

    options: tuple[str, ...]
    """Labels, as the cells of the column of choices say them."""
    attributes: Mapping[str, tuple[ColumnSignature, ...]]
    """Columns of each attribute, one for each option; an attribute is what names of columns hold beside labels."""

    @property
    def none_in_words(self) -> str:
        """State that an option is 0 or empty in all of its columns, as one that takes no other option is; else ""."""
        for place, option in enumerate(self.options):
            own = [columns[place] for columns in self.attributes.values()]
            if len(own) < 2 or any(cell.strip("0.,") for item in own for cell in item.distinct):
                continue
            return (
                f". {option} has no properties, so that it seems to be none of the others. Options of a task have all "
                "attributes: declare level 0 of each, and one attribute that tells this option from the others, such "
                "as taken (0 or 1)"
            )
        return ""


def menu_of(table: TableSignature, fewest_options: int) -> Menu | None:
    """The menu of a table: options whose labels are cells of a column, and stand in the names of others with one rest.

    Args:
        table: The columns.
        fewest_options: Fewest options of a menu with one attribute.
    """
    named = [name for name in table.columns if not UNNAMED.match(name)]
    parts = {name: _parts(name) for name in named if not set(words_of(name)) & NO_ATTRIBUTES}
    for column in table.columns.values():
        if not 2 <= len(column.distinct) <= MOST_OPTIONS or column.name == table.participant:
            continue
        found: list[dict[str, ColumnSignature]] = []
        for cell in sorted(column.distinct):
            label = _parts(cell)
            rests = {
                " ".join(_without(own, label)): table.columns[name]
                for name, own in parts.items()
                if name != column.name and _holds(own, label)
            }
            found.append({rest: item for rest, item in rests.items() if rest})
        is_menu = len(found) >= fewest_options or len(found[0]) > 1
        if is_menu and all(found) and all(set(own) == set(found[0]) for own in found):
            attributes = {rest: tuple(own[rest] for own in found) for rest in sorted(found[0])}
            return Menu(tuple(sorted(column.distinct)), attributes)
    return None


def levels_in_toml(columns: Sequence[ColumnSignature]) -> tuple[str, str]:
    """The kind of an attribute and the lines with its levels, of its columns in a file; no lines of a constant.

    Raises:
        TrialsError: Cells are numbers with units.
    """
    cells = {cell for item in columns for cell in item.distinct}
    if len(cells) < 2:
        return "", ""
    with_units = sorted(cell for cell in cells if not _is_plain(cell))
    if all(item.is_number for item in columns) and with_units:
        raise TrialsError(
            f"{columns[0].name} says {with_units[0]!r}: write plain numbers into the file, without units."
        )
    if not all(item.is_number for item in columns):
        return "category", f"levels = [{', '.join(map(_quoted, sorted(cells)))}]"
    known = np.unique(np.concatenate([item.values[np.isfinite(item.values)] for item in columns]))
    if len(known) <= MOST_LISTED:
        return "number", f"levels = [{', '.join(f'{value:.10g}' for value in known)}]"
    digits = max(len(f"{value:.6f}".rstrip("0").partition(".")[2]) for value in known)
    steps = np.round(np.diff(known) * 10**digits).astype(np.int64)
    step = max(int(np.gcd.reduce(steps)), 1) / 10**digits
    if np.ptp(known) / step > MOST_STEPS:  # the trials of the file may lie between levels
        step = 10.0 ** np.ceil(np.log10(np.ptp(known) / MOST_STEPS))
    low = np.floor(known[0] / step) * step if known[0] % step else known[0]
    high = low + np.ceil((known[-1] - low) / step - 1e-9) * step
    return "number", f"from = {low:.10g}\nto = {high:.10g}\nstep = {step:.10g}"


def _is_plain(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


def _quoted(word: str) -> str:
    escaped = word.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def _parts(name: str) -> list[str]:
    return [part.casefold() for part in PARTS_OF_NAMES.findall(name)]


def _holds(parts: Sequence[str], label: Sequence[str]) -> bool:
    return (
        bool(label)
        and re.search(rf"(^| ){re.escape(' '.join(label))}( |$)", " ".join(parts)) is not None
    )


def _without(parts: Sequence[str], label: Sequence[str]) -> list[str]:
    rest = list(parts)
    for word in label:
        rest.remove(word)
    return rest
