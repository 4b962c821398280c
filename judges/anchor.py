"""The anchor set: comparisons already settled by people's data or by a known truth, against which judges are judged.

Three parts share no problem and no person: *dev*, free to use, where judges are bred; *confirm*, which only the gate
reads; *vault*, opened once, for the last report. Every look at labels is a `LabelsExposed` record; `LabelAccess`
folds them. Values are frozen: what changes an anchor set makes another one, with another digest.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, get_args

import numpy as np
from pydantic import BaseModel, ConfigDict, ValidationError

from lakatos.judges.errors import AnchorError, VaultError
from lakatos.judges.judge import JudgeSubmission
from lakatos.judges.record import SHARES, LabelsExposed, Part, Purpose
from lakatos.traces.digest import Digest, digest_of

MAY: Mapping[Part, tuple[Purpose, ...]] = {
    "dev": ("breed", "gate", "report"),
    "confirm": ("gate",),
    "vault": ("report",),
}
"""Purposes for which each part may be read."""


@dataclass(frozen=True)
class AnchorItem:
    """One comparison of two theories that data have settled."""

    submission: JudgeSubmission
    """Submission that a judge sees."""
    label: bool
    """Whether the next data favoured the candidate."""
    strata: Mapping[str, str]
    """Strata such as ``{"origin": "human", "quality": "good", "domain": "risky"}``."""
    problems: tuple[str, ...]
    """Trials or schedules behind it; two parts share none."""
    people: tuple[str, ...]
    """Groups of people behind it; two parts share none."""
    provenance: str
    """Source of the label."""

    def __post_init__(self) -> None:
        where = f"the anchor item on {self.submission.candidate[:8]} against {self.submission.incumbent[:8]}"
        if self.submission.candidate == self.submission.incumbent:
            raise AnchorError(f"{where} compares a theory with itself; leave it out.")
        if not isinstance(self.label, bool):
            raise AnchorError(
                f"{where} has the label {self.label!r}; write True or False, or leave the item out."
            )
        if not self.strata or not all(self.strata.values()):
            raise AnchorError(
                f"{where} has no stratum; name at least its origin, so that groups can be protected."
            )
        if not self.problems or not self.provenance:
            raise AnchorError(
                f"{where} does not state its problems, or the origin of its label; add them."
            )

    @cached_property
    def digest(self) -> Digest:
        """Version: changes with every word of the item."""
        return digest_of(self.to_json())

    @cached_property
    def identity(self) -> Digest:
        """Identity of the comparison: two theories, how they did on which responses, and which one won.

        Words do not count: neither the texts that a judge reads nor strata, names of problems and people, or where the
        label comes from.
        """
        own = self.submission
        compared = [own.candidate, own.incumbent, own.advantage, own.standard_error]
        return digest_of([*compared, own.n_choices, self.label])

    def to_json(self) -> dict[str, Any]:
        """Write the item as plain values, for artifacts."""
        return {
            "submission": self.submission.to_json(),
            "label": self.label,
            "strata": dict(self.strata),
            "problems": list(self.problems),
            "people": list(self.people),
            "provenance": self.provenance,
        }

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> AnchorItem:
        """Read the item that `to_json` wrote.

        Raises:
            AnchorError: A field is missing, is there besides, or holds what it cannot.
        """
        try:
            item = _ItemInFile.model_validate_json(json.dumps(value))
        except ValidationError as error:
            raise AnchorError(_why_no_item(error)) from None
        return cls(**dict(item))


class _ItemInFile(BaseModel):
    """Form of an item in a file from any source; `AnchorItem` checks the label itself."""

    model_config = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False)

    submission: JudgeSubmission
    label: Any
    strata: dict[str, str]
    problems: tuple[str, ...]
    people: tuple[str, ...] = ()
    provenance: str


def _why_no_item(error: ValidationError) -> str:
    """Explain what is wrong with an item, in one line."""
    found = error.errors()
    if missing := [_place(item) for item in found if item["type"] == "missing"]:
        return f"an anchor item has no {', '.join(missing)}; give it, or leave the item out."
    return f"an anchor item has a bad {_place(found[0]) or 'form'}: {found[0]['msg']}. Mend it, or leave the item out."


def _place(error: Mapping[str, Any]) -> str:
    return ".".join(map(str, error["loc"]))


def version_of(items: Iterable[AnchorItem]) -> Digest:
    """Compute the version of some items in their order, which changes with any of them."""
    return digest_of([item.digest for item in items])


@dataclass(frozen=True)
class AnchorSet:
    """Items in three parts. Make it with `split`."""

    parts: Mapping[Part, tuple[AnchorItem, ...]]
    hard_cases: tuple[AnchorItem, ...] = ()
    """Items that misled an incumbent; read together with dev only."""

    @cached_property
    def digest(self) -> Digest:
        """Version of the whole set with its parts."""
        own = {part: [item.digest for item in self.parts[part]] for part in get_args(Part)}
        return digest_of({**own, "hard_cases": [item.digest for item in self.hard_cases]})

    def digest_of(self, part: Part) -> Digest:
        """Version of one part; that of confirm stays the same when hard cases join dev."""
        return version_of(self.parts[part])

    @property
    def dev(self) -> tuple[AnchorItem, ...]:
        """Items on which judges may be bred, hard cases included."""
        return (*self.parts["dev"], *self.hard_cases)

    def submissions(self, part: Part) -> tuple[JudgeSubmission, ...]:
        """Return what judges see, without labels: reading it exposes nothing."""
        return tuple(item.submission for item in self.parts[part])

    def to_json(self) -> dict[str, Any]:
        """Write the set as plain values, for artifacts."""
        parts = {part: [item.to_json() for item in items] for part, items in self.parts.items()}
        return {"parts": parts, "hard_cases": [item.to_json() for item in self.hard_cases]}

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> AnchorSet:
        """Read the set that `to_json` wrote.

        Raises:
            AnchorError: It lacks a part, has another one, or holds no items.
        """
        names = get_args(Part)
        parts = value.get("parts")
        if not isinstance(parts, Mapping) or set(parts) != set(names):
            raise AnchorError(
                f"an anchor set has the parts {', '.join(names)}, each of them and no other."
            )
        lists = [*(parts[name] for name in names), value.get("hard_cases")]
        if not all(isinstance(items, list) for items in lists):
            raise AnchorError(
                "every part of an anchor set, and its hard_cases, is a list of items."
            )
        *own, hard_cases = [tuple(map(AnchorItem.from_json, items)) for items in lists]
        return cls(dict(zip(names, own, strict=True)), hard_cases)


@dataclass(frozen=True)
class LabelAccess:
    """Labels read so far, a fold over `LabelsExposed`; nothing else hands out labels of confirm and vault."""

    exposed: tuple[LabelsExposed, ...] = ()

    def read(
        self, anchor: AnchorSet, part: Part, purpose: Purpose, judges: Sequence[Digest]
    ) -> tuple[tuple[AnchorItem, ...], LabelAccess]:
        """Items with their labels, and the log with one more record, the last of ``exposed``, which must be kept.

        Raises:
            VaultError: The vault was opened before.
            AnchorError: The part may not be read for this purpose.
        """
        if purpose not in MAY[part]:
            raise AnchorError(
                f"the {part} part of the anchor set may not be read to {purpose}; only to {' or '.join(MAY[part])}."
            )
        if part == "vault" and (before := [item for item in self.exposed if item.part == "vault"]):
            raise VaultError(
                f"the vault of anchor set {before[0].anchor[:8]} was opened before, for judges "
                f"{', '.join(judge[:8] for judge in before[0].judges)}; it opens once. Report what was found then."
            )
        items = anchor.dev if part == "dev" else anchor.parts[part]
        record = LabelsExposed(
            anchor=version_of(items),
            part=part,
            purpose=purpose,
            judges=tuple(judges),
            n_items=len(items),
        )
        return items, replace(self, exposed=(*self.exposed, record))


def components(items: Sequence[AnchorItem]) -> list[int]:
    """A number for every item, equal for items that share a problem or a person, directly or through others."""
    parent = list(range(len(items)))

    def root(place: int) -> int:
        while parent[place] != place:
            parent[place] = parent[parent[place]]
            place = parent[place]
        return place

    first: dict[tuple[str, str], int] = {}
    for place, item in enumerate(items):
        for key in _ties(item):
            parent[root(place)] = root(first.setdefault(key, place))
    return [root(place) for place in range(len(items))]


def split(
    items: Iterable[AnchorItem], seed: int, shares: Mapping[Part, float] = SHARES
) -> AnchorSet:
    """Parts that share no problem and no person, each with about its share of every stratum.

    Connected items stay together; groups are dealt in random order, each to the part that lacks most of what it has.

    Raises:
        AnchorError: An item is there twice, or everything is connected so that a part stays empty.
    """
    items = sorted(items, key=lambda item: item.digest)
    check_each_once(items)
    groups: dict[int, list[AnchorItem]] = defaultdict(list)
    for number, item in zip(components(items), items, strict=True):
        groups[number].append(item)
    wanted = Counter(_stratum(item) for item in items)
    have: dict[Part, Counter[str]] = {part: Counter() for part in shares}
    dealt: dict[Part, list[AnchorItem]] = {part: [] for part in shares}
    order = list(groups.values())
    np.random.default_rng(seed).shuffle(order)
    for group in sorted(order, key=len, reverse=True):
        strata = Counter(map(_stratum, group))

        def lack(part: Part, strata: Counter[str] = strata) -> float:
            missing = (
                n * (shares[part] - have[part][name] / wanted[name]) / shares[part]
                for name, n in strata.items()
            )
            return sum(missing)

        part = max(shares, key=lack)
        dealt[part] += group
        have[part] += strata
    if empty := [part for part in shares if not dealt[part]]:
        raise AnchorError(
            f"no item is left for {', '.join(empty)}: the {len(items)} items form {len(groups)} groups that share "
            "problems or people. Add comparisons on other problems and other people."
        )
    return AnchorSet(
        {part: tuple(sorted(found, key=lambda item: item.digest)) for part, found in dealt.items()}
    )


def without(
    items: Iterable[AnchorItem], problems: Iterable[str], people: Iterable[str]
) -> tuple[AnchorItem, ...]:
    """Items that share no problem and no person with what is given: those of the campaign that is judged."""
    problems, people = set(problems), set(people)
    return tuple(
        item
        for item in items
        if not problems & set(item.problems) and not people & set(item.people)
    )


def check_each_once(items: Iterable[AnchorItem]) -> None:
    """Raise `AnchorError` where a comparison is there more than once, in whatever words."""
    items = list(items)
    for name, n in Counter(item.identity for item in items).items():
        if n > 1:
            shown = next(item.digest for item in items if item.identity == name)
            raise AnchorError(f"the anchor item {shown[:8]} is there {n} times; keep each once.")


def check_disjoint(anchor: AnchorSet) -> None:
    """Raise `AnchorError` naming a problem or a person that two parts share; hard cases are of dev."""
    owner: dict[tuple[str, str], Part] = {}
    for part in anchor.parts:
        items = anchor.dev if part == "dev" else anchor.parts[part]
        check_each_once(items)
        for item in items:
            for key in _ties(item):
                if owner.setdefault(key, part) != part:
                    raise AnchorError(
                        f"the parts {owner[key]} and {part} of the anchor set share the {key[0]} {key[1]!r}; "
                        "split the items again with `split`."
                    )


def _ties(item: AnchorItem) -> list[tuple[str, str]]:
    """Return what an item may not share with an item of another part."""
    return [("problem", name) for name in item.problems] + [
        ("group of people", name) for name in item.people
    ]


def _stratum(item: AnchorItem) -> str:
    return "|".join(f"{name}={item.strata[name]}" for name in sorted(item.strata))
