"""A campaign small enough for tests."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

from lakatos.flows.run.records import RECORD_TYPES
from lakatos.flows.run.study import CampaignConfig, parse_study
from lakatos.traces.fold import canonical_digest
from lakatos.traces.journal import Journal
from lakatos.traces.record import Record
from lakatos.traces.step import JOURNAL_FILE, Trace

ROOT = Path(__file__).resolve().parent.parent.parent

STUDY: dict[str, Any] = {
    "name": "small",
    "question": "Which rule do simulated people follow?",
    "domain": "multiattribute",
    "seed": 3,
    "space": {"validities": [0.9, 0.7, 0.6], "levels": [0, 1, 2]},
    "theories": {
        "seeds": ["take_the_best", "tallying"],
        "candidates": 8,
        "successors": 2,
        "draws": 64,
        "rivals": 3,
    },
    "design": {"trials": 16, "participants": 30, "candidates": 60, "power": 0.6},
    "participants": {"source": "simulated", "theory": "weighted_additive"},
    "stop": {"cycles": 2, "least_cycles": 2},
    "validation": {"comparison_models": False},
    "memory": {"winners": False},
}

QUICK: dict[str, Any] = {
    "design": {"trials": 8, "participants": 20, "candidates": 25, "power": 0.5, "refused": "cover"},
    "theories": {
        "seeds": ["take_the_best", "tallying"], "candidates": 4, "successors": 2, "draws": 64, "rivals": 3,
        "induction": False,
    },
}  # fmt: skip
"""Sections with which it is quicker still."""

SHORT: dict[str, Any] = {
    "theories__candidates": 2,
    "theories__successors": 1,
    "theories__induction": False,
    "theories__draws": 32,
    "design__trials": 8,
    "design__participants": 8,
    "design__candidates": 20,
    "design__refused": "cover",
    "participants__careless": 0.3,
    "exclusions": {"median_time_below_ms": 450.0, "replacements": 4},
    "stop": {"cycles": 1, "least_cycles": 1},
}
"""One cycle with people who are careless: the shortest whole campaign."""

MANY_SIDED = {
    "source": "simulated",
    "theory": "weighted_additive",
    "mechanisms": {
        "utility": ["saturating"],
        "weight": ["rank_decay"],
        "context": ["level_focus"],
        "accent": ["veto", "unevenness"],
        "history": ["perseveration"],
    },
}
"""People whom no small search understands at once, so that there is something to submit in each cycle."""


def small_study(**changes: Any) -> CampaignConfig:
    """The small study with whole sections or single keys (``section__key``) replaced."""
    value = {key: dict(item) if isinstance(item, dict) else item for key, item in STUDY.items()}
    for name, change in changes.items():
        section, _, key = name.partition("__")
        if key:
            value[section] = {**value.get(section, {}), key: change}
        else:
            value[section] = change
    return parse_study(value, "small")


def write_study(folder: Path, text: str = "", **changes: Any) -> Path:
    """The small study as a file, with ``text`` appended at the top level."""
    import json

    lines = [text]
    value = json.loads(small_study(**changes).model_dump_json())
    for key, item in value.items():
        if not isinstance(item, dict):
            lines.append(f"{key} = {json.dumps(item)}")
    for key, item in value.items():
        if isinstance(item, dict) and item:
            flat = {name: inner for name, inner in item.items() if inner not in ({}, "", None)}
            lines += [f"[{key}]", *(f"{name} = {toml_of(inner)}" for name, inner in flat.items())]
    path = folder / "small.toml"
    path.write_text("\n".join(lines))
    return path


def toml_of(value: Any) -> str:
    """A value of a study file; tables inline."""
    import json

    if isinstance(value, dict):
        return (
            "{ "
            + ", ".join(
                f"{name} = {toml_of(inner)}" for name, inner in value.items() if inner is not None
            )
            + " }"
        )
    return json.dumps(value)


def records(folder: Path, kind: type[Record]) -> list[Any]:
    """All records of a kind in a run, in order."""
    with Trace.open(folder, RECORD_TYPES, read_only=True) as trace:
        return [item.record for item in trace.records(kind)]


def form(folder: Path) -> str:
    """Digest of a run's canonical form, which is the same however often the run was interrupted."""
    with Journal.open(folder / JOURNAL_FILE, read_only=True) as journal:
        return canonical_digest(journal.events())


def spawn(*words: object) -> subprocess.Popen[bytes]:
    """The command in a process of its own, on plain asyncio with one worker."""
    command = [
        sys.executable,
        "-m",
        "lakatos.flows.commands.main",
        *map(str, words),
        "--engine",
        "none",
        "--workers",
        "1",
    ]
    return subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
