"""Notes on a visit beside its responses: the kind of device and the hour, never more than a few words."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, Final

BROWSERS: Final = (
    ("Edg", "Edge"),
    ("OPR", "Opera"),
    ("SamsungBrowser", "Samsung Internet"),
    ("Firefox", "Firefox"),
    ("FxiOS", "Firefox"),
    ("Chrome", "Chrome"),
    ("CriOS", "Chrome"),
    ("Safari", "Safari"),
)
"""Names of browsers, the first of which in what a browser sends names it; several name those they descend from."""
SYSTEMS: Final = (
    ("Windows", "Windows"),
    ("Android", "Android"),
    ("iPhone", "iOS"),
    ("iPad", "iOS"),
    ("CrOS", "ChromeOS"),
    ("Mac OS X", "macOS"),
    ("Linux", "Linux"),
)


def visit_facts(
    agent: str, told: Mapping[str, Any], record: Collection[str]
) -> dict[str, int | str]:
    """Device and hour in a few words, where a study notes them.

    Args:
        agent: What the browser calls itself.
        told: Width and height of the window, whether a finger points, and the hour; empty where it said nothing.
        record: ``device`` and ``hour``, where they are noted.
    """
    facts: dict[str, int | str] = {}
    if "device" in record:
        facts |= {
            "device": _device(agent, told),
            "browser": _named(agent, BROWSERS),
            "system": _named(agent, SYSTEMS),
        }
        if told:
            facts["window"] = f"{told['width']}x{told['height']}"
    if "hour" in record and told:
        facts["hour"] = int(told["hour"])
    return facts


def _named(agent: str, names: Collection[tuple[str, str]]) -> str:
    return next((name for word, name in names if word in agent), "other")


def _device(agent: str, told: Mapping[str, Any]) -> str:
    """``phone``, ``tablet`` or ``computer``."""
    if "iPad" in agent or ("Android" in agent and "Mobile" not in agent):
        return "tablet"
    if "Mobile" in agent or "iPhone" in agent:
        return "phone"
    return "tablet" if "Macintosh" in agent and told.get("touch") else "computer"
