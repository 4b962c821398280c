"""Lists that participants study on the page before the trials: which items, in which order, for how long.

The trials of a design say how many items are old, how often each was studied and how many are new; which word, image,
sound or film stands for each is decided for each participant here, not by the design. So a design stays what theories
see, all participants have the same design, and no theory can depend on a certain word. Each item is tested once.

Participants in pairs of neighbouring places share one random order of the items: what is old for one of them, from the
front, is new for the other, from the back, as far as there are as many new items as old ones. The study phase shows
all items once, then those again that are studied more often, each round in a random order.
"""

from __future__ import annotations

import base64
import mimetypes
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from html import escape
from pathlib import Path
from typing import Any, Final, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field, model_validator

from lakatos.experiments.participants.source import rng_of
from lakatos.experiments.presentation import Medium, medium_fields
from lakatos.experiments.task import Design, Domain, Stimuli
from lakatos.traces.digest import Digest

Array = NDArray[Any]
MOST_ITEMS: Final = 2000
MOST_LETTERS: Final = 200
"""Characters of an item."""
LARGEST_FILE: Final = 5_000_000
"""Bytes of a file that is an item."""
KINDS: Final = (
    "image/png", "image/jpeg", "image/gif", "image/webp", "audio/mpeg", "audio/wav", "audio/x-wav", "audio/ogg",
    "video/mp4", "video/webm",
)  # fmt: skip
"""Types of files that can be items."""


class StudyList(BaseModel):
    """Items that participants study before the trials; a task of recognition only."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    items: tuple[str, ...] = Field((), max_length=MOST_ITEMS)
    """Words, or names of files beside the study (png, jpg, gif, webp, mp3, wav, ogg, mp4, webm). Participants
    see as many of them as a design has trials."""
    presentations: int = Field(1, ge=1, le=20)
    """How often an old item of strength 1 is studied; one of strength 0.5 half as often."""
    shown_ms: float = Field(1500.0, ge=100, le=60_000)
    """Time for which an item is shown; a sound or a film is always played to its end."""
    gap_ms: float = Field(500.0, ge=0, le=60_000)
    """Time between two items, in which nothing is shown."""
    break_s: float = Field(0.0, ge=0, le=3600)
    """Shortest break between the last studied item and the first trial, counted anew after a reload; participants
    go on when they like."""
    files: dict[str, str] = {}
    """Contents of files, which are read with the study."""

    @model_validator(mode="after")
    def _different_items(self) -> StudyList:
        known: dict[str, str] = {}
        for item in self.items:
            seen = " ".join(item.split()).casefold()
            if not seen:
                raise ValueError("page.study.items: an item is empty")
            if len(seen) > MOST_LETTERS:
                raise ValueError(
                    f"page.study.items: {seen[:20]}... has {len(seen):,} characters; give items of at most "
                    f"{MOST_LETTERS}"
                )
            if seen in known:
                both = repr(item) if known[seen] == item else f"{known[seen]!r}, as {item!r},"
                raise ValueError(f"page.study.items: {both} occurs twice")
            known[seen] = item
        return self

    def __bool__(self) -> bool:
        """Whether anything is studied."""
        return bool(self.items)

    @cached_property
    def media(self) -> Mapping[Digest, Medium]:
        """Sounds and films among the items."""
        made = [self._medium(item) for item in self.items if item in self.files]
        return {own.digest: own for own in made if not own.kind.startswith("image/")}

    def _medium(self, item: str) -> Medium:
        head, _, content = self.files[item].partition(";base64,")
        return Medium(item, head.removeprefix("data:"), base64.b64decode(content))

    def html(self, item: str) -> str:
        """An item as participants see it. A sound or film has a place, where the page plays it."""
        if item not in self.files:
            return f'<p class="item">{escape(item)}</p>'
        medium = self._medium(item)
        if medium.kind.startswith("image/"):
            return f'<img class="item" src="{self.files[item]}" alt="">'
        return f'<span class="medium" data-medium="{medium.digest}" data-name="item" role="img" aria-label="♪"></span>'


@runtime_checkable
class StudiesItems(Protocol):
    """A domain whose old items can be studied on the page."""

    def studied(self, stimuli: Stimuli) -> Array:
        """How often the item of each trial is studied, as a share of the strongest; 0 for a new one, ``(n_trials,)``.

        Raises:
            StimuliError: A trial has an item that no list can hold.
        """


def with_files(study: Mapping[str, Any], folder: Path) -> dict[str, Any]:
    """Settings of a list with the contents of the files that its items name.

    Raises:
        ValueError: A file is missing, too large, or outside of the study's folder.
    """
    files = {}
    for item in study.get("items", ()):
        kind = mimetypes.guess_type(str(item))[0]
        if kind not in KINDS:
            continue
        path = (folder / str(item)).resolve()
        if not path.is_relative_to(folder.resolve()):
            raise ValueError(
                f"page.study.items: {item} is outside of the study's folder; copy the file beside the study"
            )
        if not path.is_file():
            raise ValueError(f"page.study.items: there is no file {item} beside the study")
        data = path.read_bytes()
        if len(data) > LARGEST_FILE:
            raise ValueError(
                f"page.study.items: {item} has {len(data):,} bytes; give files of at most {LARGEST_FILE:,}"
            )
        files[str(item)] = f"data:{kind};base64,{base64.b64encode(data).decode()}"
    return {**study, **({"files": files} if files else {})}


@dataclass(frozen=True)
class ItemLists:
    """The lists of one participant."""

    studied: tuple[str, ...]
    """Items as they are studied, one after the other."""
    tested: Mapping[int, tuple[str, ...]]
    """Items of the trials of each row of the stimuli, in the order in which they are presented."""


def check_list(study: StudyList, domain: Domain, design: Design) -> None:
    """Raise `ValueError` where a design cannot be presented with a list."""
    if not study:
        return
    if design.conditions:
        raise ValueError("page.study: lists within conditions of a participant are not made")
    times = presentations(study, domain, design.stimuli)
    n_tested = len(times) * design.repetitions
    if n_tested > len(study.items):
        raise ValueError(
            f"page.study.items: there are {len(study.items)} items for {n_tested} trials, each of which tests another "
            "one; give more items, or fewer design.trials or design.repetitions"
        )
    if not times.any() or times.all():
        raise ValueError(
            f"page.study: all items of the trials are {'old' if times.all() else 'new'}; give design.trials that "
            "present old items and new ones"
        )


def presentations(study: StudyList, domain: Domain, stimuli: Stimuli) -> Array:
    """``(n_trials,)`` how often the item of each trial is studied.

    Raises:
        ValueError: The task has no items to be studied, or a number of presentations is not whole.
    """
    if not isinstance(domain, StudiesItems):
        raise ValueError(f"page.study: the {domain.name} domain has no items that can be studied")
    exact = np.asarray(domain.studied(stimuli)) * study.presentations
    times = np.round(exact).astype(np.int64)
    wrong = (np.abs(exact - times) > 1e-6) | ((exact > 0) & (times < 1))
    if wrong.any():
        share = float(exact[wrong][0] / study.presentations)
        raise ValueError(
            f"page.study.presentations: an item of strength {share:g} would be studied {exact[wrong][0]:g} times; give "
            "a number that all strengths divide, such as 2 for the strengths 0.5 and 1"
        )
    return times


def lists_of(
    study: StudyList, times: Array, repetitions: int, seed: int, key: str, place: int
) -> ItemLists:
    """The lists of the participant at a place, the same whenever they are made.

    Args:
        study: Items, and how they are shown.
        times: ``(n_trials,)`` how often the item of each trial is studied.
        repetitions: Items that each trial is presented with.
        seed: Seed of the campaign.
        key: Key of the recruitment.
        place: Of the participant, from 0.
    """
    row = np.repeat(np.arange(len(times)), repetitions)
    order = rng_of(seed, key, "items", str(place // 2)).permutation(len(study.items))[: len(row)]
    order = order if place % 2 == 0 else order[::-1]
    rng = rng_of(seed, key, "study", str(place))
    # old items come from the front; within old and new ones, rows are in a random order
    rows = [rng.permutation(row[(times[row] > 0) == is_old]) for is_old in (True, False)]
    assigned = np.concatenate(rows)
    tested: dict[int, list[str]] = {}
    for own, item in zip(assigned.tolist(), order.tolist(), strict=True):
        tested.setdefault(own, []).append(study.items[item])
    studied: list[str] = []
    for number in range(1, int(times.max()) + 1):
        again = [item for own, items in tested.items() if times[own] >= number for item in items]
        studied += [again[place] for place in rng.permutation(len(again)).tolist()]
    return ItemLists(tuple(studied), {own: tuple(items) for own, items in tested.items()})


RECORDED: Final = (
    ("item", "item that was tested"),
    ("studied", "presentations of the item in the study list; empty for a new one"),
    (
        "study_{n}_onset_ms",
        "milliseconds from the beginning of the task until presentation {n} of the item began, by the browser's clock",
    ),
    (
        "study_{n}_ms",
        "milliseconds for which presentation {n} lasted; empty if its file failed to load",
    ),
    (
        "study_{n}_begun",
        "how often presentation {n} was begun; more than once after reloads of the page",
    ),
    ("study_{n}_failure", "what failed to load in presentation {n}"),
)
"""Names of the values of `shown_in_study` and their meanings."""


def meaning_of(name: str) -> str:
    """The meaning of a value that is recorded of a list or of the file of an item; empty for another name."""
    if field := medium_fields("item").get(name):
        return field.meaning
    number = "".join(filter(str.isdigit, name))
    known = {
        own.replace("{n}", number): words for own, words in RECORDED if number or "{n}" not in own
    }
    return known.get(name, "").replace("{n}", number)


def shown_in_study(
    rows: Sequence[Mapping[str, Any]], items: Sequence[str]
) -> dict[str, dict[str, Any]]:
    """When each item was studied, as values that are recorded beside the response to its trial.

    Args:
        rows: Of the store's table of responses, one for each presentation, in their order.
        items: The item of each.
    """
    found: dict[str, dict[str, Any]] = {}
    for row, item in zip(rows, items, strict=True):
        own = found.setdefault(item, {"studied": 0.0})
        own["studied"] += 1.0
        name = f"study_{own['studied']:g}"
        own[f"{name}_onset_ms"] = row["onset_ms"]
        own[f"{name}_ms"] = None if row["failure"] else row["response_time_ms"]
        own[f"{name}_begun"] = float(row["begun"] or 1)
        own[f"{name}_failure"] = row["failure"]
    return found
