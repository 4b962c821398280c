"""Recognition and detection: participants judge whether an item is old or new, or whether a signal is there.

An old item is one that was studied; in detection it is a trial with a signal, and a new item is one with noise alone.
A response is one of 2 to 10 categories, from "surely new" to "surely old". Categories are numbers: the sign is the
decision and the size is the confidence. Two categories are -1 and 1 (no and yes), six are -3 to -1 and 1 to 3, and an
odd number of categories has 0 in the middle.

``old``, ``strength``, ``lure`` and ``old_share`` have one number for each trial (`NUMBERS` states what they mean);
``available`` is ``(n_trials, 11)``, 1 for each category from -5 to 5 that the scale has. Old items may be of several
strengths, and so may new ones where they are mirror images of old ones or lures. Turning the sides of a trial means
that an old item becomes a new one of the same strength, and the reverse.

Theories place the K - 1 criteria of a scale with K categories by one or two parameters in which participants differ:
the criterion between "new" and "old" (from half-way between new items and the strongest old ones) and the distance of
the others from it, which is the same for each category, a power of the category, or log odds; those among "old" may be
wider by a factor. On the participants' page the task is detection: whether a cloud has more orange dots than blue ones.
A cloud of one strength looks the same each time. Where a study gives a list of items (``page.study``), participants
study old items first, words or files, and the trials test them among new ones. There are no published responses here;
`studies/recognition.toml` has simulated participants. A report draws the receiver operating characteristic (ROC), and
`measures.py` gives d', c and the area under the ROC for a notebook.

References:
    Green & Swets (1966), Signal detection theory and psychophysics;
    Macmillan & Creelman (2005), Detection theory: a user's guide;
    Egan (1958), Recognition memory and the operating characteristic (confidence).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lakatos.domains.kit.dots import dots
from lakatos.domains.kit.settings import check_limits, refuse_unknown
from lakatos.experiments.adoption.layouts import StimulusLayout
from lakatos.experiments.answer_scale import levels
from lakatos.experiments.curve import DomainCurve
from lakatos.experiments.errors import EmptyDesignSpaceError, StimuliError
from lakatos.experiments.task import OneShot, Stimuli
from lakatos.experiments.variation import TrialVariation, varied
from lakatos.theories.language.family import Family

Array = NDArray[Any]
MOST = 5
"""Category of the highest confidence where there are ten."""
FEWEST_CATEGORIES, MOST_CATEGORIES = 2, 2 * MOST
DIGITS = 9
"""Decimals of shares, so that a share and the rest of 1 determine each other."""
SCALE = levels(range(-MOST, MOST + 1), "categories")
NUMBERS: Mapping[str, str] = {
    "old": "1 for an old item (signal), 0 for a new one (noise)",
    "strength": "how well the item was studied, or how strong the signal is, as a share of the strongest",
    "lure": "1 for a new item that is similar to an old one",
    "old_share": "share of old items of which participants know",
}


@dataclass(frozen=True)
class RecognitionSettings:
    """A space of trials: old items of every strength and new ones, with every known share of old items."""

    strengths: tuple[float, ...] = (1.0,)
    """Strengths of old items, from 0 to 1."""
    old_shares: tuple[float, ...] = (0.5,)
    """Shares of old items of which participants know."""
    lures: bool = False
    """Whether there are new items that are similar to old ones."""
    categories: int = 6
    """Categories of a response, from 2 (yes and no) to 10."""


def read_settings(settings: Mapping[str, Any]) -> RecognitionSettings:
    """Settings of a study file.

    Raises:
        StimuliError: A setting is unknown or wrong; the message says which and what there is.
        EmptyDesignSpaceError: There are no strengths or no shares.
    """
    refuse_unknown(RecognitionSettings.__dataclass_fields__, settings, "recognition")
    given: dict[str, Any] = {
        name: tuple(value) if isinstance(value, list) else value for name, value in settings.items()
    }
    read = RecognitionSettings(**given)
    for name in ("strengths", "old_shares"):
        values = getattr(read, name)
        is_list = isinstance(values, tuple) and all(type(item) in (int, float) for item in values)
        if not is_list or not all(0 <= item <= 1 for item in values):
            raise StimuliError(
                f"setting {name} of the recognition domain cannot be {settings[name]!r}; give numbers from 0 to 1."
            )
        if not values:
            raise EmptyDesignSpaceError(f"the setting {name} of the recognition domain is empty.")
    for name, kind in (("lures", bool), ("categories", int)):
        if type(getattr(read, name)) is not kind:
            raise StimuliError(
                f"setting {name} of the recognition domain cannot be {settings[name]!r}."
            )
    if any(not 0 < item < 1 for item in read.old_shares):
        raise StimuliError(
            "setting old_shares of the recognition domain: give numbers above 0 and below 1."
        )
    check_limits(read, {"categories": (FEWEST_CATEGORIES, MOST_CATEGORIES)})
    return read


def categories_of(n_categories: int | Array) -> Array:
    """``(..., 11)`` which categories from -5 to 5 a scale with so many of them has."""
    n = np.asarray(n_categories, dtype=np.int64)[..., None]
    place = np.arange(-MOST, MOST + 1)
    return np.asarray(1.0 * ((np.abs(place) <= n // 2) & ((place != 0) | (n % 2 == 1))))


def recognition_trials(
    old: Sequence[float] | Array,
    strength: Sequence[float] | Array | float = 1.0,
    *,
    lure: Sequence[float] | Array | float = 0.0,
    old_share: Sequence[float] | Array | float = 0.5,
    categories: int = 6,
) -> Stimuli:
    """Trials from `NUMBERS`, all of which are judged on a scale with so many categories."""
    n_trials = len(old)
    numbers = {"old": old, "strength": strength, "lure": lure, "old_share": old_share}
    arrays = {
        name: np.broadcast_to(np.asarray(value, dtype=np.float64), n_trials).copy()
        for name, value in numbers.items()
    }
    arrays["old_share"] = arrays["old_share"].round(DIGITS)
    return Stimuli(arrays | {"available": np.tile(categories_of(categories), (n_trials, 1))})


def n_categories(stimuli: Stimuli) -> Array:
    """``(n_trials,)`` categories of each trial's scale."""
    return np.asarray(stimuli["available"].sum(axis=1), dtype=np.int64)


class RecognitionDomain(OneShot):
    """Items are judged to be old or new, or signals to be there or not, with some confidence."""

    name = "recognition"
    scale = SCALE
    options: tuple[str, ...] = SCALE.labels
    keeps_places = True
    measured = ("strength",)

    def curves(self, stimuli: Stimuli, shares: Array, weights: Array) -> Sequence[DomainCurve]:
        """See `experiments.curve.HasCurves`: the receiver operating characteristic."""
        from lakatos.domains.recognition.measures import roc_curve

        return (roc_curve(stimuli, shares, weights),)

    def layout(self) -> StimulusLayout:
        """Return how trials are written as columns of a file."""
        from lakatos.domains.recognition.reader import LAYOUT

        return LAYOUT

    def family(self) -> Family:
        """The theories about this task."""
        from lakatos.domains.recognition.theories import FAMILY

        return FAMILY

    def space(self, settings: Mapping[str, Any]) -> Stimuli:
        """Old items of every strength, new items and, where the settings say so, lures of every strength.

        Raises:
            StimuliError: A setting is wrong.
            EmptyDesignSpaceError: There are no strengths or no shares.
        """
        read = read_settings(settings)
        strengths = sorted(set(read.strengths))
        items = [(0.0, 1.0, 0.0)]
        items += [(0.0, strength, 1.0) for strength in strengths if read.lures]
        items += [(1.0, strength, 0.0) for strength in strengths]
        rows = [(*item, share) for share, item in product(sorted(set(read.old_shares)), items)]
        old, strength, lure, share = np.array(rows).T
        return recognition_trials(
            old, strength, lure=lure, old_share=share, categories=read.categories
        )

    def check(self, stimuli: Stimuli) -> None:
        """Raise `StimuliError` naming the first trial that cannot be."""
        if set(stimuli.arrays) != {*NUMBERS, "available"}:
            raise StimuliError(
                f"recognition has the arrays {', '.join((*NUMBERS, 'available'))}, not "
                f"{', '.join(sorted(stimuli.arrays))}."
            )
        for name, array in stimuli.arrays.items():
            shape = (len(stimuli), SCALE.n_outcomes)[: 2 if name == "available" else 1]
            if array.shape != shape:
                raise StimuliError(f"array {name!r} has shape {array.shape}, not {shape}.")
        strength, share, n = stimuli["strength"], stimuli["old_share"], n_categories(stimuli)
        rules = (
            (np.isin(stimuli["old"], (0, 1)), "old is 0 or 1"),
            (np.isin(stimuli["lure"], (0, 1)), "lure is 0 or 1"),
            ((strength >= 0) & (strength <= 1), "strength is a number from 0 to 1"),
            ((share > 0) & (share < 1), "old_share is a number above 0 and below 1"),
            (
                (stimuli["available"] == categories_of(n)).all(axis=1)
                & (n >= FEWEST_CATEGORIES)
                & (n <= MOST_CATEGORIES),
                f"available is 1 for the {FEWEST_CATEGORIES} to {MOST_CATEGORIES} categories around 0 of a scale",
            ),
        )
        for fine, words in rules:
            for row in np.flatnonzero(~fine):
                raise StimuliError(f"trial {row} of the recognition domain: {words}.")

    def admits(self, settings: Mapping[str, Any], stimuli: Stimuli) -> Array:
        """See `experiments.task.Domain.admits`: items, shares and the scale that the settings list."""
        read = read_settings(settings)
        shares = np.array([read.old_shares, 1 - np.array(read.old_shares)]).ravel()
        fits = np.isin(stimuli["strength"], (*read.strengths, 1.0))
        fits &= np.isclose(stimuli["old_share"][:, None], shares).any(axis=1)
        fits &= read.lures | (stimuli["lure"] == 0)
        return np.asarray(fits & (n_categories(stimuli) == read.categories))

    def probes(self, rng: np.random.Generator) -> Sequence[Stimuli]:
        """All trials of a task with lures and shares of old items, and random ones on scales of any size."""
        usual = self.space({"strengths": [0.2, 0.6, 1], "old_shares": [0.3, 0.5], "lures": True})
        drawn = Stimuli.concatenate(
            [
                recognition_trials(
                    [0, 1, 0, 1],
                    [*rng.random(2), 0.0, 0.0],
                    lure=[0, 0, 1, 0],
                    old_share=rng.uniform(0.05, 0.95, 4),
                    categories=n,
                )
                for n in range(FEWEST_CATEGORIES, MOST_CATEGORIES + 1)
            ]
        )
        return (usual, self.swap_sides(usual), drawn, self.swap_sides(drawn))

    def features(self, stimuli: Stimuli) -> Mapping[str, Array]:
        """Properties of trials: the item, its strength, the known share of old items, and the size of the scale."""
        old, share = stimuli["old"], stimuli["old_share"]
        return {
            "old": old,
            "old_strength": old * stimuli["strength"],
            "new_strength": (1 - old) * stimuli["strength"],
            "lure": (1 - old) * stimuli["lure"],
            "log_odds_of_old": np.log(share / (1 - share)),
            "categories": 1.0 * n_categories(stimuli),
        }

    def studied(self, stimuli: Stimuli) -> Array:
        """See `participants.web.study_list.StudiesItems`: strength is the share of presentations.

        Raises:
            StimuliError: An item is a lure or has a strength although it is new, or participants know another share
                of old items.
        """
        old, strength, share = stimuli["old"], stimuli["strength"], stimuli["old_share"]
        if (stimuli["lure"] == 1).any():
            raise StimuliError(
                "no item of a list is known to be similar to another one: leave out lures."
            )
        if ((old == 0) & (strength != 1)).any():
            raise StimuliError("new items of a list have the strength 1.")
        if (np.abs(share - old.mean()) > 0.01).any():
            raise StimuliError(
                f"{old.mean():.0%} of the items of a list are old, and participants know of {share[0]:.0%}: give "
                f"old_shares = [{old.mean():.3g}]."
            )
        return np.asarray(old * strength)

    def landmarks(self, stimuli: Stimuli) -> dict[str, Array]:
        """See `experiments.answer_scale.HasLandmarks`: responses may lie near the surest right one."""
        return {"surest": (2 * stimuli["old"] - 1) * (n_categories(stimuli) // 2)}

    def variations(
        self, stimuli: Stimuli, rng: np.random.Generator
    ) -> Mapping[str, TrialVariation]:
        """See `experiments.variation.HasVariations`."""
        old, strength, share = stimuli["old"], stimuli["strength"], stimuli["old_share"]
        return {
            "old": varied(
                stimuli, old == 0, "the item is old, not new", lambda before, _: {"old": 1 - before["old"]}
            ),
            "strength": varied(
                stimuli, (old == 1) & (strength < 1), "the old item is stronger",
                lambda before, _: {"strength": np.clip(before["strength"] + 0.1, 0, 1)},
            ),
            "lure": varied(
                stimuli, (old == 0) & (stimuli["lure"] == 0), "the new item is similar to an old one",
                lambda before, _: {"lure": 1 + 0 * before["lure"]},
            ),
            "old_share": varied(
                stimuli, share < 0.8, "more items are old, and participants know it",
                lambda before, _: {"old_share": before["old_share"] + 0.15},
            ),
        }  # fmt: skip

    def swap_sides(self, stimuli: Stimuli) -> Stimuli:
        """The same trials with old items in place of new ones and the reverse."""
        turned = {name: (1.0 - stimuli[name]).round(DIGITS) for name in ("old", "old_share")}
        return Stimuli(dict(stimuli.arrays) | turned)

    def picture(self, stimuli: Stimuli, row: int) -> str:
        """Dots of two colours: as many of both without a signal, and more orange ones with one."""
        return dots(float(stimuli["old"][row] * stimuli["strength"][row]), 1)

    def describe(self, stimuli: Stimuli, row: int) -> str:
        """Describe a trial, such as ``old, strength 0.5, 50% old, 6 categories``."""
        old, strength, lure, share = (float(stimuli[name][row]) for name in NUMBERS)
        item = "old" if old else "lure" if lure else "new"
        related = ", similar to another one" if old and lure else ""
        return (
            f"{item}{related}, strength {strength:.10g}, {100 * share:.10g}% old, "
            f"{n_categories(stimuli)[row]} categories"
        )


DOMAIN = RecognitionDomain()
