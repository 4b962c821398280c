"""How much memory and time of the processor a process and all its descendants take."""

from __future__ import annotations

import os
from pathlib import Path


def family_of(root: int) -> set[int]:
    """A process and all its descendants."""
    parents: dict[int, int] = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            parents[int(stat.parent.name)] = int(stat.read_text().rpartition(")")[2].split()[1])
        except (OSError, ValueError):
            continue
    family, found = {root}, True
    while found:
        more = {child for child, parent in parents.items() if parent in family} - family
        family, found = family | more, bool(more)
    return family


def memory_mib(root: int) -> float:
    """Proportional set size of a process and all its descendants, MiB; shared pages count once."""
    total = 0
    for member in family_of(root):
        try:
            lines = Path(f"/proc/{member}/smaps_rollup").read_text(encoding="utf-8").splitlines()
        except OSError:
            continue
        total += sum(int(line.split()[1]) for line in lines if line.startswith("Pss:"))
    return total / 1024


def processor_s(root: int) -> dict[int, float]:
    """Seconds that a process and each of its descendants has spent on the processor, without their children."""
    ticks, spent = os.sysconf("SC_CLK_TCK"), {}
    for member in family_of(root):
        try:
            cells = (
                Path(f"/proc/{member}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
            )
        except OSError:
            continue
        spent[member] = (int(cells[11]) + int(cells[12])) / ticks
    return spent
