"""The family tree of a run's theories, as a drawing."""

from __future__ import annotations

from typing import Any

from lakatos.flows.report.reader import RunReading, shortened
from lakatos.flows.run.study_sections import OWN
from lakatos.traces.digest import Digest

MOST_NODES = 60
"""Theories in the family tree before those that were neither admitted nor ancestors are left out."""


def origin(author: str) -> str:
    """Where a theory comes from."""
    return {"published": "published", OWN: "brought along by the study"}.get(
        author, f"written by the {author} advocate"
    )


# --- family tree ----------------------------------------------------------------------------------------------------


def family_tree(reading: RunReading) -> dict[str, Any] | None:
    """Places of all theories in a tree drawn like a history: one line each, columns for cycles."""
    if not reading.checked:
        return None
    digests = list(reading.checked)
    if len(digests) > MOST_NODES:
        keep = set(reading.state.theories.pool) | reading.ancestry
        digests = [digest for digest in digests if digest in keep]
    cycles = sorted({reading.checked[digest].record.cycle for digest in digests})
    step = min(34.0, 200.0 / max(len(cycles) - 1, 1))
    height, top = 42, 34
    places = {
        digest: (
            18 + step * cycles.index(reading.checked[digest].record.cycle),
            top + 20 + height * row,
        )
        for row, digest in enumerate(digests)
    }
    nodes, edges = [], []
    for digest in digests:
        record = reading.checked[digest].record
        x, y = places[digest]
        known = [parent for parent in record.parents if parent in places and parent != digest]
        for parent in known:
            from_x, from_y = places[parent]
            line = digest in reading.ancestry and parent in reading.ancestry
            # Straight down the parent's column, then over to the child.
            path = f"M{from_x:.1f} {from_y:.1f}V{y - 14:.1f}Q{from_x:.1f} {y:.1f} {x:.1f} {y:.1f}"
            edges.append({"path": path, "line": line})
        others = ", ".join(reading.label(parent).tag for parent in known)
        how = record.change or (origin(record.author) if record.cycle == 0 else "")
        if record.reason:
            how = f"refused: {record.reason}"
        nodes.append(
            {
                "x": x,
                "y": y,
                "status": status_of(reading, digest),
                "label": reading.label(digest),
                "short": shortened(reading.label(digest).name, 68),
                "change": shortened(how, 74),
                "parents": others,
                "cycle": record.cycle,
                "line": digest in reading.ancestry,
                "leader": digest == reading.leader,
                "full": how,
            }
        )
    edges.sort(key=lambda edge: bool(edge["line"]))
    text = 18 + step * (len(cycles) - 1) + 22
    return {
        "nodes": nodes,
        "edges": edges,
        "columns": [(18 + step * place, cycle) for place, cycle in enumerate(cycles)],
        "text": text,
        "width": text + 520,
        "height": top + 12 + height * len(digests),
        "left_out": len(reading.checked) - len(digests),
        "rows": [
            (digest, reading.label(digest), item.record, status_of(reading, digest))
            for digest, item in reading.checked.items()
        ],
    }


def status_of(reading: RunReading, digest: Digest) -> str:
    """How far a theory came."""
    if digest not in reading.state.theories.checked:
        return "refused"
    return "admitted" if digest in reading.state.theories.pool else "not admitted"
