"""How much memory a process and all its descendants take."""

from __future__ import annotations

from pathlib import Path


def memory_mib(root: int) -> float:
    """Proportional set size of a process and all its descendants, MiB; shared pages count once."""
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
    total = 0
    for member in family:
        try:
            lines = Path(f"/proc/{member}/smaps_rollup").read_text(encoding="utf-8").splitlines()
        except OSError:
            continue
        total += sum(int(line.split()[1]) for line in lines if line.startswith("Pss:"))
    return total / 1024
