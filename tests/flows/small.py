"""A campaign small enough for tests."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from flows.config import CampaignConfig, parse_study

STUDY: dict[str, Any] = {
    "name": "small",
    "question": "Which rule do simulated people follow?",
    "domain": "multiattribute",
    "seed": 3,
    "space": {"validities": [0.9, 0.7, 0.6], "levels": [0, 1, 2]},
    "theories": {"seeds": ["take_the_best", "tallying"], "candidates": 8, "successors": 2, "draws": 64, "rivals": 3},
    "design": {"trials": 16, "participants": 30, "candidates": 60, "power": 0.6},
    "participants": {"source": "simulated", "theory": "weighted_additive"},
    "stop": {"cycles": 2, "least_cycles": 2},
}


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
            "{ " + ", ".join(f"{name} = {toml_of(inner)}" for name, inner in value.items() if inner is not None) + " }"
        )
    return json.dumps(value)
