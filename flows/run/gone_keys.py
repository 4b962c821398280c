"""Keys of a study that earlier versions had: refused in a study file, passed over in the journals of their time."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

GONE: dict[str, dict[str, tuple[Any, str]]] = {
    "judges": {
        "tier": (
            "certified",
            "replacements that promise nothing about false ones are gone, and every replacement holds the level alpha "
            "now",
        ),
        "rubric": (
            False,
            "rubrics are not rewritten any more, as no gain was shown",
        ),
        "strategies": (
            False,
            "the advocate's search is not varied any more, as no gain was measured",
        ),
        "refining": (
            10.0,
            "candidates are not refined any more, and people are asked where the judges' odds are worth judges.asking",
        ),
    },
    "roles": {
        "judge": (
            "",
            "no language model judges any more, as no gain was measured; a judge of your own is a line in "
            "judges.rubrics.RUBRICS",
        ),
        "repeats": (3, "no language model judges any more, so that nothing is read repeatedly"),
    },
    "memory": {
        "inquiries": (
            False,
            "the grammar's advocate calls no laboratory tools any more, as that saved no experiment that could be "
            "shown; language models call those that roles.tools names",
        ),
    },
}
"""Keys of earlier versions by section, with the value that asks for nothing that is gone, and what became of them."""


def refuse_gone_keys(study: Mapping[str, Any]) -> None:
    """Refuse a study that asks for something which earlier versions did and this one does not.

    Raises:
        ValueError: A key of `GONE` asks for it.
    """
    for section, keys in GONE.items():
        given = study.get(section)
        if not isinstance(given, Mapping):
            continue
        for name, (nothing, why) in keys.items():
            if given.get(name, nothing) != nothing:
                raise ValueError(
                    f"{section}.{name} = {given[name]!r}: {why}; remove {section}.{name}"
                )


def without_gone_keys(section: str, value: Any) -> Any:
    """Leave out what earlier versions wrote into a section: journals hold the studies of their time."""
    if not isinstance(value, dict):
        return value
    return {name: item for name, item in value.items() if name not in GONE[section]}
