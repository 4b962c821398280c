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

from lakatos.experiments.errors import EmptyDesignSpaceError, StimuliError
from lakatos.experiments.task import OneShot, Stimuli
from lakatos.experiments.variation import TrialVariation, pick, varied

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
    validities = _numbers("validities", settings["validities"])
    if not 1 <= len(validities) <= MOST_CUES or not all(0.5 <= value <= 1 for value in validities):
        raise StimuliError(
            f"validities are 1 to {MOST_CUES} numbers from 0.5 (guessing) to 1, not {list(validities)}."
        )
    levels = _numbers("levels", settings["levels"])
    if (
        not levels
        or any(value != int(value) or value < 0 for value in levels)
        or len(set(levels)) != len(levels)
    ):
        raise StimuliError(f"levels are different integers from 0 upwards, not {list(levels)}.")
    rating_max = settings.get("rating_max", max(levels))
    if (
        isinstance(rating_max, bool)
        or not isinstance(rating_max, int | float)
        or rating_max < max(*levels, 1)
    ):
        raise StimuliError(
            f"rating_max must be a number not below 1 and the highest level, not {rating_max!r}."
        )
    dominated = settings.get("dominated", False)
    if not isinstance(dominated, bool):
        raise StimuliError(f"dominated must be true or false, not {dominated!r}.")
    return MultiattributeSettings(
        validities, tuple(sorted(int(value) for value in levels)), int(rating_max), dominated
    )


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
                "ratings must be integers from 0 to rating_max",
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
        half the maximum, and its ratings are ``extreme`` by their mean distance from there; ``best_two`` are the most
        valid cues; ``odd`` features compare whether a number is odd.
        """
        top = stimuli["rating_max"][:, None, None]
        share = np.asarray(stimuli["ratings"], dtype=np.float64) / top
        validities = np.asarray(stimuli["validities"], dtype=np.float64)
        difference = share[:, 1] - share[:, 0]
        sign = np.sign(difference)
        order = np.argsort(-validities, axis=1, kind="stable")
        ordered = np.take_along_axis(sign, order, axis=1)
        first = np.take_along_axis(ordered, (ordered != 0).argmax(axis=1)[:, None], axis=1)[:, 0]
        majority = sign.sum(axis=1)
        rows = np.arange(len(stimuli))
        above_chance = validities - 0.5
        best, second = (
            np.take_along_axis(share, order[:, None, place : place + 1], axis=2)[..., 0]
            for place in (0, min(1, order.shape[1] - 1))
        )

        def b_minus_a(score: Array) -> Array:
            return np.asarray(score[:, 1] - score[:, 0], dtype=np.float64)

        return {
            "best_cue_favours": ordered[:, 0],
            "first_difference_favours": first,
            "n_cues_favouring": majority,
            "weighted_difference": (validities * difference).sum(axis=1),
            "above_chance_difference": (above_chance * difference).sum(axis=1),
            "total_difference": difference.sum(axis=1),
            "largest_difference": difference[rows, np.abs(difference).argmax(axis=1)],
            "conflict": np.where(first * majority < 0, first, 0.0),
            "best_rating_difference": share[:, 1].max(axis=1) - share[:, 0].max(axis=1),
            "worst_rating_difference": share[:, 1].min(axis=1) - share[:, 0].min(axis=1),
            "unevenness_difference": share[:, 1].std(axis=1) - share[:, 0].std(axis=1),
            "level": share.mean(axis=(1, 2)),
            "n_discriminating_cues": (sign != 0).sum(axis=1).astype(np.float64),
            "n_cues": np.full(len(stimuli), float(validities.shape[1])),
            "validity_spread": validities.max(axis=1) - validities.min(axis=1),
            "rating_max": np.asarray(stimuli["rating_max"], dtype=np.float64),
            "least_valid_favours": ordered[:, -1],
            "first_shown_favours": sign[:, 0],
            "last_shown_favours": sign[:, -1],
            "odd_count_difference": b_minus_a((share > 0.5).sum(axis=2) % 2),
            "odd_sum_difference": b_minus_a(
                np.asarray(stimuli["ratings"], dtype=np.float64).sum(axis=2) % 2
            ),
            "odd_lead_difference": ((sign > 0).sum(axis=1) % 2 - (sign < 0).sum(axis=1) % 2).astype(
                np.float64
            ),
            "middling_difference": -b_minus_a(np.abs(share.mean(axis=2) - 0.5)),
            "extreme_ratings_difference": b_minus_a(np.abs(share - 0.5).mean(axis=2)),
            "symmetry_difference": -b_minus_a(np.abs(share - share[..., ::-1]).mean(axis=2)),
            "smoothness_difference": -b_minus_a(np.abs(np.diff(share, axis=2)).sum(axis=2)),
            "best_two_both_difference": b_minus_a(best * second),
            "best_two_unlike_difference": b_minus_a(np.abs(best - second)),
        }

    def swap_sides(self, stimuli: Stimuli) -> Stimuli:
        """The same trials with products A and B exchanged."""
        return Stimuli(dict(stimuli.arrays) | {"ratings": stimuli["ratings"][:, ::-1]})

    def variations(
        self, stimuli: Stimuli, rng: np.random.Generator
    ) -> Mapping[str, TrialVariation]:
        """See `experiments.variation.HasVariations`; ratings are those of the second product unless said otherwise."""
        ratings, validities, top = (
            _numeric(stimuli[name]) for name in ("ratings", "validities", "rating_max")
        )
        a, b = ratings[:, 0], ratings[:, 1]
        n_trials, n_cues = validities.shape
        everyone = np.arange(n_trials)
        u = rng.random((n_trials,))
        below, ahead = b < top[:, None], b > a
        some, lead, sure = (
            pick(below, rng),
            pick(ahead & below, rng),
            pick(ahead & (validities < 1), rng),
        )
        best = np.where(a != b, validities, 0.0).max(axis=1)
        lesser, shared = pick(validities < best[:, None], rng), pick(a == b, rng)
        order = rng.permuted(np.tile(np.arange(n_cues), (n_trials, 1)), axis=1)
        dealt = np.take_along_axis(validities, order, axis=1)

        def raised(rows: Array, cue: Array) -> dict[str, Array]:
            new, own, column = ratings[rows], np.arange(len(rows)), cue[rows]
            room = top[rows] - new[own, 1, column]
            new[own, 1, column] += np.minimum(1 + np.floor(u[rows] * room), room)
            return {"ratings": new}

        def replaced(rows: Array, cue: Array, sides: tuple[int, ...]) -> dict[str, Array]:
            new, own, column = ratings[rows], np.arange(len(rows)), cue[rows]
            other = (new[own, 1, column] + 1 + np.floor(u[rows] * top[rows])) % (top[rows] + 1)
            for side in sides:
                new[own, side, column] = other
            return {"ratings": new}

        def surer(rows: Array) -> dict[str, Array]:
            new, own, column = validities[rows], np.arange(len(rows)), sure[rows]
            new[own, column] += (1 - new[own, column]) * (0.2 + 0.8 * u[rows])
            return {"validities": new}

        return {
            "rating": varied(
                stimuli,
                below.any(axis=1),
                "a rating of the second product is raised",
                lambda _, rows: raised(rows, some),
                size=b[everyone, some] / top,
                size_meaning="the rating as a share of the maximum",
            ),
            "lead": varied(
                stimuli,
                (ahead & below).any(axis=1),
                "the second product's lead on a cue that favours it is enlarged",
                lambda _, rows: raised(rows, lead),
                size=(b - a)[everyone, lead] / top,
                size_meaning="the lead as a share of the maximum",
            ),
            "less_valid_rating": varied(
                stimuli,
                (validities < best[:, None]).any(axis=1),
                "a rating of the second product is changed on a cue less valid than the most valid that discriminates",
                lambda _, rows: replaced(rows, lesser, (1,)),
            ),
            "shared_rating": varied(
                stimuli,
                (a == b).any(axis=1),
                "a rating that both products have in common is changed for both",
                lambda _, rows: replaced(rows, shared, (0, 1)),
            ),
            "validity": varied(
                stimuli,
                (ahead & (validities < 1)).any(axis=1),
                "the validity of a cue that favours the second product is raised",
                lambda _, rows: surer(rows),
            ),
            "validity_order": varied(
                stimuli,
                (dealt != validities).any(axis=1),
                "the validities are dealt to the cues in another way",
                lambda _, rows: {"validities": dealt[rows]},
            ),
            "cue_order": varied(
                stimuli,
                (order != np.arange(n_cues)).any(axis=1),
                "the cues, with their validities, are listed in another order",
                lambda _, rows: {
                    "ratings": np.take_along_axis(ratings, order[:, None], axis=2)[rows],
                    "validities": dealt[rows],
                },
            ),
            "scale": varied(
                stimuli,
                np.full(n_trials, True),
                "all ratings and the top of the scale are doubled",
                lambda before, _: {name: 2.0 * before[name] for name in ("ratings", "rating_max")},
            ),
            "dominance": varied(
                stimuli,
                (a != b).any(axis=1),
                "the second product, at most as good on every cue, changes places with the first",
                lambda before, _: {"ratings": before["ratings"][:, ::-1]},
                prepare=lambda before: {
                    "ratings": np.sort(_numeric(before["ratings"]), axis=1)[:, ::-1]
                },
            ),
        }

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


def _numeric(array: Array) -> Array:
    return np.asarray(array, dtype=np.float64)


def _shown(rating: float, top: int) -> str:
    return f'{rating:g}<span style="color:#999">/{top}</span>'
