"""Keys of a study that earlier versions had: renamed ones are read, others refused in files, passed over in journals.

A study keeps the former names where its identity is computed, because all random numbers of a run follow from it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from lakatos.theories.discovery.roles.lens import LENSES

_PER_MINUTE = (
    "the laboratory keeps to no rate of its own any more; it waits as long as the server asks (Retry-After), and "
    "most_in_flight limits simultaneous calls"
)

GONE: dict[str, dict[str, tuple[Any, str]]] = {
    "design": {
        "continuous": (
            False,
            "trials are not moved between the levels of a space any more, as no gain in a study was measured; list "
            "closer levels in [space] instead",
        ),
    },
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
            "candidates are not refined any more, and participants test one whose odds are worth judges.testing_cost",
        ),
    },
    "models": {
        "requests_per_minute": (None, _PER_MINUTE),
        "tokens_per_minute": (None, _PER_MINUTE),
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

RENAMED: dict[str, dict[str, str]] = {
    "exclusions": {
        "fast_answers_above": "fast_responses_above",
        "fast_answer_ms": "fast_response_ms",
        "missing_answers_above": "missing_responses_above",
    },
    "judges": {"asking": "testing_cost"},
    "privacy": {"answers_days": "responses_days"},
    "validation": {"company": "comparison_models", "sealed_people": "sealed_participants"},
}
"""Present names of keys by section and former name."""

SEVERAL_MODELS = ("arbiter", "reviser", "advocate", "auditor")
"""Roles for which earlier versions chose among several models."""


def with_present_names(study: Any, renamed: Callable[[str], object] = lambda line: None) -> Any:
    """A study with the present names of its keys; ``renamed`` receives one sentence for each former name.

    Raises:
        ValueError: A key stands there under both of its names.
    """
    if not isinstance(study, Mapping):
        return study
    found = dict(study)
    for section, names in RENAMED.items():
        given = found.get(section)
        if not isinstance(given, Mapping) or not names.keys() & given.keys():
            continue
        for former in names.keys() & given.keys():
            if names[former] in given:
                raise ValueError(
                    f"{section}.{former} is the former name of {section}.{names[former]}; remove one of the two"
                )
            renamed(f"The key {section}.{former} is now called {section}.{names[former]}.")
        found[section] = {names.get(key, key): value for key, value in given.items()}
    return found


def with_former_names(study: dict[str, Any]) -> dict[str, Any]:
    """A study with the names that its keys had first, by which runs are identified."""
    found = dict(study)
    for section, names in RENAMED.items():
        if section in found:
            former = {present: name for name, present in names.items()}
            found[section] = {former.get(key, key): item for key, item in found[section].items()}
    return found


def refuse_gone_keys(study: Mapping[str, Any]) -> None:
    """Refuse a study that asks for something which earlier versions did and this one does not.

    Raises:
        ValueError: A key of `GONE` asks for it, a role has several models, or an advocate would read for nobody.
    """
    for section, keys in GONE.items():
        for place, given in _tables(study, section):
            for name, (nothing, why) in keys.items():
                if given.get(name, nothing) != nothing:
                    raise ValueError(
                        f"{place}.{name} = {given[name]!r}: {why}; remove {place}.{name}"
                    )
    roles = study.get("roles")
    if not isinstance(roles, Mapping):
        return
    for role, models in roles.items():
        if role in SEVERAL_MODELS and isinstance(models, list | tuple) and len(models) > 1:
            raise ValueError(
                f"roles.{role}: one model takes a role now, not {', '.join(map(str, models))}; name one of them, and "
                "compare models in studies of their own"
            )
    if roles.get("advocate") and not _has_steelman(roles):
        raise ValueError(
            "roles.advocate: advocates propose no experiments any more, as no gain was measured, and read only for a "
            "reviser under the lens 'steelman'; name roles.reviser with that lens, or remove roles.advocate"
        )


def _tables(study: Mapping[str, Any], section: str) -> list[tuple[str, Mapping[str, Any]]]:
    """The tables of a section with their places in the study: of ``[models]`` one for each model."""
    given = study.get(section)
    tables = {section: given}
    if section == "models" and isinstance(given, Mapping):
        tables = {f"models.{name}": item for name, item in given.items()}
    return [(place, item) for place, item in tables.items() if isinstance(item, Mapping)]


def _has_steelman(roles: Mapping[str, Any]) -> bool:
    lenses = roles.get("lenses", LENSES)
    return bool(roles.get("reviser")) and isinstance(lenses, Iterable) and "steelman" in lenses


def without_gone_keys(section: str, value: Any) -> Any:
    """Leave out what earlier versions wrote into a section: journals hold the studies of their time."""
    if not isinstance(value, dict):
        return value
    return {name: item for name, item in value.items() if name not in GONE[section]}
