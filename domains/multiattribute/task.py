"""Choice between two products, each rated by experts whose validity people are told.

A trial shows products A and B with one rating per expert (a *cue*). People know how often each expert is right, its
*validity*, between 0.5 and 1, and choose the product that they think is better; they get no feedback. A study's
``[domain.settings]`` name the ``validities``, the admissible rating ``levels`` and, optionally, ``rating_max`` (the
top of the scale that people are told; the highest level when left out) and whether ``dominated`` trials are admitted.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lakatos.domains.multiattribute.variation import numeric, product_variations
from lakatos.experiments.adoption.layouts import StimulusLayout
from lakatos.experiments.errors import EmptyDesignSpaceError, StimuliError
from lakatos.experiments.task import OneShot, Stimuli
from lakatos.experiments.variation import TrialVariation
from lakatos.theories.language.family import Family

Array = NDArray[Any]
MOST_CUES = 8
MOST_PAIRS = 2_000_000
"""Pairs beyond which the whole space is not written out; `MultiattributeDomain.candidates` then draws from it."""
MOST_ATTEMPTS = 200
"""Rounds of drawing pairs from a space too large to write out."""


@dataclass(frozen=True)
class MultiattributeSettings:
    """Settings of a study after the checks."""

    validities: tuple[float, ...]
    levels: tuple[int, ...]
    rating_max: int
    dominated: bool

    @property
    def n_options(self) -> int:
        """Number of different products that the levels make."""
        return int(len(self.levels) ** len(self.validities))

    @property
    def n_pairs(self) -> int:
        """Unordered pairs of distinct products, before dominated ones are left out."""
        return self.n_options * (self.n_options - 1) // 2

    def option(self, index: Array) -> Array:
        """``(n, n_cues)`` ratings of the products at ``index``, in lexicographic order."""
        base, n_cues = len(self.levels), len(self.validities)
        digits = index[:, None] // base ** np.arange(n_cues - 1, -1, -1) % base
        return np.asarray(self.levels, dtype=np.float64)[digits]

    def admits(self, a: Array, b: Array) -> Array:
        """``(n,)`` whether the pairs may be shown: distinct, and without a dominated product if so set."""
        if self.dominated:
            return np.asarray((a != b).any(axis=-1))
        return np.asarray((a > b).any(axis=-1) & (b > a).any(axis=-1))

    def stimuli(self, a: Array, b: Array) -> Stimuli:
        """Trials in which people choose between the products ``a`` and ``b``, row by row."""
        return Stimuli(
            {
                "ratings": np.stack([a, b], axis=1),
                "validities": np.tile(np.asarray(self.validities, dtype=np.float64), (len(a), 1)),
                "rating_max": np.full(len(a), float(self.rating_max)),
            }
        )

    def empty(self) -> EmptyDesignSpaceError:
        """The error that says why there is no trial and what to change."""
        return EmptyDesignSpaceError(
            f"no two products with {len(self.validities)} cue(s) and the levels {list(self.levels)} can be shown"
            + (". Give at least two levels." if self.dominated or len(self.levels) < 2 else "")
            + (
                ": one is always at least as good on every cue. Give at least two cues, or set `dominated = true`."
                if not self.dominated and len(self.levels) > 1
                else ""
            )
        )


def read_settings(settings: Mapping[str, Any]) -> MultiattributeSettings:
    """Read a study's settings of the space, and refuse those that make no sense.

    Raises:
        StimuliError: A setting is unknown, missing or out of range; the message names it.
    """
    known = {"validities", "levels", "rating_max", "dominated"}
    unknown = sorted(set(settings) - known)
    if unknown:
        raise StimuliError(
            f"unknown settings of the multiattribute domain: {', '.join(unknown)}; it knows {', '.join(sorted(known))}."
        )
    missing = sorted({"validities", "levels"} - set(settings))
    if missing:
        raise StimuliError(f"the multiattribute domain needs the setting(s) {', '.join(missing)}.")
    validities = _read_validities(settings["validities"])
    levels = _read_levels(settings["levels"])
    rating_max = _read_top(settings.get("rating_max", max(levels)), levels)
    dominated = settings.get("dominated", False)
    if not isinstance(dominated, bool):
        raise StimuliError(f"dominated must be true or false, not {dominated!r}.")
    ascending = tuple(sorted(int(value) for value in levels))
    return MultiattributeSettings(validities, ascending, rating_max, dominated)


def _read_validities(value: Any) -> tuple[float, ...]:
    validities = _numbers("validities", value)
    if not 1 <= len(validities) <= MOST_CUES or not all(0.5 <= value <= 1 for value in validities):
        raise StimuliError(
            f"validities are 1 to {MOST_CUES} numbers from 0.5 (guessing) to 1, not {list(validities)}."
        )
    return validities


def _read_levels(value: Any) -> tuple[float, ...]:
    levels = _numbers("levels", value)
    are_natural = all(value == int(value) and value >= 0 for value in levels)
    if not levels or not are_natural or len(set(levels)) != len(levels):
        raise StimuliError(f"levels are different integers from 0 upwards, not {list(levels)}.")
    return levels


def _read_top(value: Any, levels: tuple[float, ...]) -> int:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if not is_number or value < max(*levels, 1):
        raise StimuliError(
            f"rating_max must be a number not below 1 and the highest level, not {value!r}."
        )
    return int(value)


def _numbers(name: str, value: Any) -> tuple[float, ...]:
    if not isinstance(value, Sequence) or isinstance(value, str):
        raise StimuliError(f"{name} must be a list of numbers, not {value!r}.")
    if not all(isinstance(item, int | float) and not isinstance(item, bool) for item in value):
        raise StimuliError(f"{name} must be a list of numbers, not {list(value)!r}.")
    return tuple(float(item) for item in value)


class MultiattributeDomain(OneShot):
    """Two products, one rating per expert, known validities."""

    name: str = "multiattribute"
    measured: tuple[str, ...] = ("ratings", "rating_max", "validities")
    options: tuple[str, ...] = ("A", "B")

    def layout(self) -> StimulusLayout:
        """Return how trials are written as columns of a file."""
        from lakatos.domains.multiattribute.reader import LAYOUT

        return LAYOUT

    def family(self) -> Family:
        """The theories about this task."""
        from lakatos.domains.multiattribute.theories import FAMILY

        return FAMILY

    def candidates(
        self, settings: Mapping[str, Any], rng: np.random.Generator, n_most: int
    ) -> Stimuli:
        """All admissible pairs, or a random ``n_most`` of them, drawn without writing out a large space.

        Raises:
            StimuliError: A setting is wrong.
            EmptyDesignSpaceError: No pair is admissible.
        """
        space = read_settings(settings)
        if space.n_pairs <= MOST_PAIRS // 10:
            return self.space(settings).some(n_most, rng)
        if not space.dominated and len(space.validities) < 2:
            raise space.empty()
        found: dict[tuple[int, int], None] = {}
        for _ in range(MOST_ATTEMPTS):
            drawn = np.sort(rng.integers(space.n_options, size=(max(2 * n_most, 64), 2)), axis=1)
            admitted = space.admits(space.option(drawn[:, 0]), space.option(drawn[:, 1]))
            found.update(dict.fromkeys((int(a), int(b)) for a, b in drawn[admitted]))
            if len(found) >= n_most:
                break
        if not found:
            raise space.empty()
        pairs = np.array(list(found)[:n_most])
        return space.stimuli(space.option(pairs[:, 0]), space.option(pairs[:, 1]))

    def space(self, settings: Mapping[str, Any]) -> Stimuli:
        """Every unordered pair of distinct products once, the lexicographically smaller one as A.

        Raises:
            StimuliError: A setting is wrong, or the space is too large to write out.
            EmptyDesignSpaceError: No pair is admissible.
        """
        space = read_settings(settings)
        if space.n_pairs > MOST_PAIRS:
            raise StimuliError(
                f"the space holds {space.n_pairs:,} pairs, more than {MOST_PAIRS:,}; "
                "use fewer cues or levels, or draw from it with `candidates`."
            )
        first, second = np.triu_indices(space.n_options, k=1)
        a, b = space.option(first), space.option(second)
        keep = space.admits(a, b)
        if not keep.any():
            raise space.empty()
        return space.stimuli(a[keep], b[keep])

    def check(self, stimuli: Stimuli) -> None:
        """Raise `StimuliError` naming the first trial that is no pair of rated products."""
        names = {"ratings", "validities", "rating_max"}
        if set(stimuli.arrays) != names:
            raise StimuliError(
                f"multiattribute trials have the arrays {', '.join(sorted(names))}, "
                f"not {', '.join(sorted(stimuli.arrays))}."
            )
        ratings, validities, top = (
            np.asarray(stimuli[name], dtype=np.float64)
            for name in ("ratings", "validities", "rating_max")
        )
        n_cues = validities.shape[-1] if validities.ndim == 2 else 0
        if (
            not 1 <= n_cues <= MOST_CUES
            or ratings.shape != (len(stimuli), 2, n_cues)
            or top.shape != (len(stimuli),)
        ):
            raise StimuliError(
                f"the arrays have the shapes ratings {ratings.shape}, validities {validities.shape} and rating_max "
                f"{top.shape}; they must be (n_trials, 2, n_cues), (n_trials, n_cues) and (n_trials,) "
                f"with 1 to {MOST_CUES} cues."
            )
        rules = (
            (np.isfinite(top) & (top > 0), "rating_max must be above 0"),
            (
                (
                    (ratings >= 0)
                    & (ratings <= top[:, None, None])
                    & (ratings == np.round(ratings))
                ).all(axis=(1, 2)),
                "ratings must be integers from 0 to rating_max; products with other properties, such as prices, are a "
                "task of your own (`lakatos domain new FILE.toml` writes an example)",
            ),
            (
                ((validities >= 0.5) & (validities <= 1)).all(axis=1),
                "validities must lie from 0.5 to 1",
            ),
        )
        for holds, words in rules:
            if not holds.all():
                row = int(np.flatnonzero(~holds)[0])
                raise StimuliError(f"trial {row} ({self.describe(stimuli, row)}): {words}.")

    def admits(self, settings: Mapping[str, Any], stimuli: Stimuli) -> Array:
        """See `experiments.task.Domain.admits`: the study's experts, ratings from the lowest to the highest level."""
        space = read_settings(settings)
        ratings = np.asarray(stimuli["ratings"], dtype=np.float64)
        if ratings.shape[2] != len(space.validities):
            return np.zeros(len(stimuli), dtype=bool)
        inside = ((ratings >= min(space.levels)) & (ratings <= max(space.levels))).all(axis=(1, 2))
        known = (np.asarray(stimuli["validities"]) == space.validities).all(axis=1)
        scale = np.asarray(stimuli["rating_max"]) == space.rating_max
        return np.asarray(inside & known & scale & space.admits(ratings[:, 0], ratings[:, 1]))

    def probes(self, rng: np.random.Generator) -> Sequence[Stimuli]:
        """Binary and cardinal trials of 1 to 8 cues: random ones, extremes, tied cues, tied products."""
        sets = []
        for n_cues in range(1, MOST_CUES + 1):
            for top in (1, 5, 10):
                ratings = rng.integers(0, top + 1, size=(10, 2, n_cues)).astype(np.float64)
                validities = np.round(rng.uniform(0.5, 1, size=(10, n_cues)), 2)
                ratings[0], ratings[1] = 0.0, np.array([[0.0], [top]])
                ratings[2], ratings[3] = np.array([[top], [0.0]]), top
                ratings[4] = np.stack(
                    [top * (np.arange(n_cues) % 2), top * ((np.arange(n_cues) + 1) % 2)]
                )
                ratings[5, 1] = ratings[5, 0]
                ratings[6, 1, : n_cues // 2] = ratings[6, 0, : n_cues // 2]
                validities[:3] = np.sort(validities[:3], axis=1)[:, ::-1]
                validities[3], validities[4], validities[5] = 0.5, 1.0, 0.8
                sets.append(
                    Stimuli(
                        {
                            "ratings": ratings,
                            "validities": validities,
                            "rating_max": np.full(10, float(top)),
                        }
                    )
                )
        return sets

    def features(self, stimuli: Stimuli) -> Mapping[str, Array]:
        """Properties of trials; those that speak for a side are positive for B.

        Ratings are shares of ``rating_max``. ``best_cue_favours`` is the side of the most valid cue and
        ``first_difference_favours`` that of the most valid cue on which the products differ; ``conflict`` is the
        latter where most cues point the other way, and 0 elsewhere. A product is ``middling`` whose mean rating is near
        half the maximum, and its ratings are ``extreme`` by their mean distance from there; ``best_cues`` are the
        two most valid; ``odd`` features compare whether a number is odd.
        """
        ratings, validities = numeric(stimuli["ratings"]), numeric(stimuli["validities"])
        share = ratings / stimuli["rating_max"][:, None, None]
        by_validity = np.argsort(-validities, axis=1, kind="stable")
        return {
            **_advantages(share, validities, by_validity),
            **_of_both(share, validities),
            "rating_max": numeric(stimuli["rating_max"]),
            **_favoured_sides(share, by_validity),
            **_odd_and_even(ratings, share),
            **_shapes(share, by_validity),
        }

    def swap_sides(self, stimuli: Stimuli) -> Stimuli:
        """The same trials with products A and B exchanged."""
        return Stimuli(dict(stimuli.arrays) | {"ratings": stimuli["ratings"][:, ::-1]})

    def variations(
        self, stimuli: Stimuli, rng: np.random.Generator
    ) -> Mapping[str, TrialVariation]:
        """See `experiments.variation.HasVariations`; ratings are those of the second product unless said otherwise."""
        return product_variations(stimuli, rng)

    def picture(self, stimuli: Stimuli, row: int) -> str:
        """The two products as a table with one line per expert."""
        top = int(stimuli["rating_max"][row])
        cell = "padding:0.35em 1.1em;border-bottom:1px solid #ddd;text-align:center"
        lines = "".join(
            f'<tr><th scope="row" style="{cell};font-weight:normal;text-align:left">Expert {cue + 1}'
            f' <span class="ma-validity" style="color:#666">right {100 * validity:.0f}% of the time</span></th>'
            f'<td class="ma-rating" style="{cell}">{_shown(a, top)}</td>'
            f'<td class="ma-rating" style="{cell}">{_shown(b, top)}</td></tr>'
            for cue, (validity, a, b) in enumerate(
                zip(stimuli["validities"][row], *stimuli["ratings"][row], strict=True)
            )
        )
        heads = "".join(
            f'<th scope="col" style="{cell}">Product {escape(option)}</th>'
            for option in self.options
        )
        return (
            '<table class="ma-trial" style="border-collapse:collapse;font-family:sans-serif;margin:0 auto">'
            f'<caption class="ma-caption" style="padding:0.5em;color:#666">Which product is better? '
            f"Ratings go from 0 to {top}.</caption>"
            f'<thead><tr><td style="{cell}"></td>{heads}</tr></thead><tbody>{lines}</tbody></table>'
        )

    def describe(self, stimuli: Stimuli, row: int) -> str:
        """Ratings of both products and the validities, in a line."""
        a, b = ([f"{value:g}" for value in side] for side in stimuli["ratings"][row])
        validities = [f"{value:g}" for value in stimuli["validities"][row]]
        return f"A {' '.join(a)} | B {' '.join(b)} | validities {' '.join(validities)}"


DOMAIN = MultiattributeDomain()


def _b_minus_a(score: Array) -> Array:
    """The second product's number less the first one's."""
    return numeric(score[:, 1] - score[:, 0])


def _advantages(share: Array, validities: Array, by_validity: Array) -> dict[str, Array]:
    """Compute what favours the second product over the first, summed or cue by cue.

    Args:
        share: ``(n_trials, 2, n_cues)`` ratings as shares of the maximum.
        validities: ``(n_trials, n_cues)``.
        by_validity: ``(n_trials, n_cues)`` cues, the most valid first.
    """
    difference = share[:, 1] - share[:, 0]
    sign = np.sign(difference)
    ordered = np.take_along_axis(sign, by_validity, axis=1)
    discriminating = (ordered != 0).argmax(axis=1)[:, None]
    first = np.take_along_axis(ordered, discriminating, axis=1)[:, 0]
    majority = sign.sum(axis=1)
    largest = np.abs(difference).argmax(axis=1)
    return {
        "best_cue_favours": ordered[:, 0],
        "first_difference_favours": first,
        "n_cues_favouring": majority,
        "difference_weighted_by_validity": (validities * difference).sum(axis=1),
        "difference_weighted_above_chance": ((validities - 0.5) * difference).sum(axis=1),
        "total_difference": difference.sum(axis=1),
        "largest_difference": difference[np.arange(len(difference)), largest],
        "conflict": np.where(first * majority < 0, first, 0.0),
        "best_rating_difference": _b_minus_a(share.max(axis=2)),
        "worst_rating_difference": _b_minus_a(share.min(axis=2)),
        "unevenness_difference": _b_minus_a(share.std(axis=2)),
    }


def _of_both(share: Array, validities: Array) -> dict[str, Array]:
    """Properties of the trial that speak for neither product; arguments as of `_advantages`."""
    discriminating = (share[:, 1] != share[:, 0]).sum(axis=1)
    return {
        "level": share.mean(axis=(1, 2)),
        "n_discriminating_cues": discriminating.astype(np.float64),
        "n_cues": np.full(len(share), float(validities.shape[1])),
        "validity_spread": validities.max(axis=1) - validities.min(axis=1),
    }


def _favoured_sides(share: Array, by_validity: Array) -> dict[str, Array]:
    """Find which product single cues favour; arguments as of `_advantages`."""
    sign = np.sign(share[:, 1] - share[:, 0])
    return {
        "least_valid_favours": np.take_along_axis(sign, by_validity, axis=1)[:, -1],
        "first_shown_favours": sign[:, 0],
        "last_shown_favours": sign[:, -1],
    }


def _odd_and_even(ratings: Array, share: Array) -> dict[str, Array]:
    """Differences in whether a number is odd."""
    difference = share[:, 1] - share[:, 0]
    n_ahead, n_behind = (difference > 0).sum(axis=1), (difference < 0).sum(axis=1)
    return {
        "odd_count_difference": _b_minus_a((share > 0.5).sum(axis=2) % 2),
        "odd_sum_difference": _b_minus_a(ratings.sum(axis=2) % 2),
        "odd_lead_difference": (n_ahead % 2 - n_behind % 2).astype(np.float64),
    }


def _shapes(share: Array, by_validity: Array) -> dict[str, Array]:
    """Differences in how a product's ratings lie; arguments as of `_advantages`."""
    best, second = (
        np.take_along_axis(share, by_validity[:, None, place : place + 1], axis=2)[..., 0]
        for place in (0, min(1, by_validity.shape[1] - 1))
    )
    return {
        "middling_difference": -_b_minus_a(np.abs(share.mean(axis=2) - 0.5)),
        "extreme_ratings_difference": _b_minus_a(np.abs(share - 0.5).mean(axis=2)),
        "symmetry_difference": -_b_minus_a(np.abs(share - share[..., ::-1]).mean(axis=2)),
        "smoothness_difference": -_b_minus_a(np.abs(np.diff(share, axis=2)).sum(axis=2)),
        "difference_on_both_best_cues": _b_minus_a(best * second),
        "difference_in_unlike_best_cues": _b_minus_a(np.abs(best - second)),
    }


def _shown(rating: float, top: int) -> str:
    return f'{rating:g}<span style="color:#666">/{top}</span>'
