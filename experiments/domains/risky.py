"""Risky choice: two gambles, each a list of amounts and their probabilities.

A gamble's amounts ascend and differ from one another. All sets of trials have ten places for outcomes, so that they
can be joined; unused places repeat the best amount with probability 0, so that the least and the greatest need no mask.

A gamble is *ambiguous* when people see its amounts but not their probabilities. The array ``probabilities`` then holds
what could be known, equal chances of all amounts shown, never the hidden truth.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from html import escape
from itertools import product
from typing import Any

import numpy as np

from lakatos.experiments.domains.risky_space import (
    LARGEST_AMOUNT,
    LARGEST_SPACE,
    N_OUTCOMES,
    PAIRED,
    TOLERANCE,
    Array,
    Gamble,
    _gambles,
    _paired,
    are_identical,
    check,
    dominance,
    joint_probabilities,
    pairs,
    read_settings,
)
from lakatos.experiments.errors import EmptyDesignSpaceError, StimuliError
from lakatos.experiments.task import OneShot, Stimuli
from lakatos.experiments.variation import TrialVariation, joined, varied


class RiskyDomain(OneShot):
    """Choices between two gambles with stated amounts and probabilities."""

    name = "risky"
    measured: tuple[str, ...] = ("outcomes",)
    options: tuple[str, ...] = ("A", "B")

    def candidates(
        self, settings: Mapping[str, Any], rng: np.random.Generator, n_most: int
    ) -> Stimuli:
        """Admissible trials of the space: all of them, or a random ``n_most`` (see `experiments.task.Domain`)."""
        space = read_settings(settings)
        n_gambles = len(_gambles(space))
        n_pairs = n_gambles * (n_gambles - 1) // 2
        if n_pairs <= max(LARGEST_SPACE // 10, 4 * n_most):
            return self.space(settings).some(n_most, rng)
        found: list[Stimuli] = []
        seen: set[tuple[int, int]] = set()
        for _ in range(20):
            drawn = np.sort(rng.integers(n_gambles, size=(4 * n_most, 2)), axis=1)
            fresh = [
                pair
                for pair in map(tuple, drawn.tolist())
                if pair[0] != pair[1] and pair not in seen
            ]
            unique = list(dict.fromkeys(fresh))
            seen.update(unique)
            table = np.array(unique, dtype=np.intp).reshape(-1, 2)
            found.append(_paired(space, table[:, 0], table[:, 1]))
            if sum(map(len, found)) >= n_most:
                break
        stimuli = Stimuli.concatenate(found)
        if not len(stimuli):
            raise EmptyDesignSpaceError(_nothing(settings))
        return stimuli.take(np.arange(min(n_most, len(stimuli))))

    def space(self, settings: Mapping[str, Any]) -> Stimuli:
        """Every admissible trial of the space.

        Raises:
            EmptyDesignSpaceError: There is none.
            StimuliError: A setting is wrong, or the space is too large to be listed.
        """
        space = read_settings(settings)
        n_gambles = len(_gambles(space))
        if n_gambles * (n_gambles - 1) // 2 > LARGEST_SPACE:
            raise StimuliError(
                f"{n_gambles} gambles make {n_gambles * (n_gambles - 1) // 2} pairs, too many to list; "
                "give fewer amounts or probabilities, or sample with `candidates`."
            )
        if n_gambles < 2:
            raise EmptyDesignSpaceError(_nothing(settings))
        first, second = np.triu_indices(n_gambles, 1)
        blocks = [
            _paired(space, first[start : start + 50_000], second[start : start + 50_000])
            for start in range(0, len(first), 50_000)
        ]
        stimuli = Stimuli.concatenate(blocks)
        if not len(stimuli):
            raise EmptyDesignSpaceError(_nothing(settings))
        return stimuli

    def sizes(self, stimuli: Stimuli) -> Array:
        """Outcomes of the gamble that has more of them; see `experiments.task.Domain.sizes`."""
        shown = (stimuli["probabilities"] > 0).sum(axis=-1)
        return np.asarray(shown.max(axis=-1))

    def check(self, stimuli: Stimuli) -> None:
        """Raise `StimuliError` naming the first trial that is no pair of gambles."""
        check(stimuli)

    def admits(self, settings: Mapping[str, Any], stimuli: Stimuli) -> Array:
        """See `experiments.task.Domain.admits`: amounts, and probabilities of all but the worst, within the levels."""
        read = read_settings(settings)
        outcomes, probabilities, hidden = (
            stimuli["outcomes"],
            stimuli["probabilities"],
            stimuli["ambiguous"],
        )
        amounts = [*read.amounts, *(-amount for amount in read.amounts if read.losses)]
        low, high = (
            min(read.probabilities, default=1) - TOLERANCE,
            max(read.probabilities, default=0) + TOLERANCE,
        )
        better = probabilities[..., 1:]
        chances = (better == 0) | ((better >= low) & (better <= high)) | (hidden[..., None] > 0)
        kept = ((outcomes >= min(amounts)) & (outcomes <= max(amounts))).all(
            axis=(1, 2)
        ) & chances.all(axis=(1, 2))
        kept &= ((probabilities > 0).sum(axis=-1) <= read.n_outcomes).all(axis=1)
        kept &= hidden.sum(axis=1) <= read.ambiguous
        kept &= (stimuli["correlation"] == 0) & ~are_identical(stimuli)
        expected = (outcomes * probabilities).sum(axis=-1)
        kept &= np.abs(expected[:, 1] - expected[:, 0]) <= read.most_ev_difference + TOLERANCE
        return np.asarray(kept if read.dominated else kept & (dominance(stimuli) == 0))

    def moves(
        self, settings: Mapping[str, Any], stimuli: Stimuli, step: float
    ) -> tuple[Stimuli, Array]:
        """See `experiments.variation.HasMoves`: one amount, or probability from the worst amount to another one."""
        read = read_settings(settings)
        amounts = [*read.amounts, *(-amount for amount in read.amounts if read.losses)]
        reach = max(amounts) - min(amounts)
        unit = (
            10.0 ** np.floor(np.log10(reach / 100)) if reach > 0 else 1.0
        )  # of 40 tenths, of 500 whole ones
        shift = max(
            round(
                step * (max(read.probabilities, default=0) - min(read.probabilities, default=0)), 2
            ),
            0.01,
        )
        n_used = (stimuli["probabilities"] > 0).sum(axis=-1)
        place = np.arange(N_OUTCOMES)
        parts = []
        for side, at, sign in product((0, 1), range(read.n_outcomes), (-1, 1)):
            outcomes, probabilities = stimuli["outcomes"].copy(), stimuli["probabilities"].copy()
            top = n_used[:, side] - 1
            same = (place == at) | (
                (at == top)[:, None] & (place > at)
            )  # unused places repeat the best
            outcomes[:, side] = np.where(
                same,
                (np.round((outcomes[:, side] + sign * step * reach) / unit) * unit).round(6),
                outcomes[:, side],
            )
            used = at <= top
            ascending = (np.diff(outcomes[:, side], axis=-1) > 0) | (place[1:] > top[:, None])
            changes = [({"outcomes": outcomes}, used & ascending.all(axis=1))]
            if at > 0:
                moved_to = np.round(probabilities[:, side, at] + sign * shift, 2)
                rest = (
                    probabilities[:, side].sum(axis=-1)
                    - probabilities[:, side, at]
                    - probabilities[:, side, 0]
                )
                probabilities[:, side, 0] = 1 - rest - moved_to
                probabilities[:, side, at] = moved_to
                possible = used & (moved_to > TOLERANCE) & (probabilities[:, side, 0] > TOLERANCE)
                changes.append(
                    (
                        {"probabilities": probabilities},
                        possible & (stimuli["ambiguous"][:, side] == 0),
                    )
                )
            for change, possible in changes:
                rows = np.flatnonzero(possible)
                moved = Stimuli(
                    {name: array[rows] for name, array in (dict(stimuli.arrays) | change).items()}
                )
                kept = np.flatnonzero(self.admits(settings, moved)) if len(rows) else rows
                parts.append((moved.take(kept), rows[kept]))
        return joined(parts, stimuli)

    def probes(self, rng: np.random.Generator) -> Sequence[Stimuli]:
        """Ordinary random trials, and every extreme: sure, identical, huge, unlikely, losing, ambiguous, correlated."""
        ordinary: list[tuple[Gamble, Gamble]] = [
            (_random_gamble(rng, 3), _random_gamble(rng, 3)) for _ in range(12)
        ]
        wide: list[tuple[Gamble, Gamble]] = [
            (_random_gamble(rng, N_OUTCOMES), _random_gamble(rng, N_OUTCOMES)) for _ in range(6)
        ]
        ten = [(float(amount), 0.1) for amount in range(-5, 5)]
        extremes: list[tuple[Gamble, Gamble]] = [
            ([(3, 1)], [(4, 0.8), (0, 0.2)]),
            ([(5, 1)], [(5, 1)]),
            ([(0, 1)], [(0, 1)]),
            ([(0, 1)], [(-1, 1)]),
            ([(10, 0.5), (0, 0.5)], [(10, 0.5), (0, 0.5)]),
            ([(1e4, 0.5), (-1e4, 0.5)], [(0, 1)]),
            ([(1e4, 1)], [(-1e4, 1)]),
            ([(1e4, 1e-6), (0, 1 - 1e-6)], [(0.01, 1)]),
            ([(-1e4, 1e-6), (0, 1 - 1e-6)], [(-0.01, 1)]),
            ([(1e4, 1 - 1e-6), (9e3, 1e-6)], [(9999, 1)]),
            ([(-3, 1)], [(-4, 0.8), (0, 0.2)]),
            ([(-30, 0.4), (-1, 0.6)], [(-12, 0.9), (-11, 0.1)]),
            (ten, [(0, 1)]),
            (ten, [(amount + 0.5, p) for amount, p in ten]),
            (ten, ten),
        ]
        shown: list[tuple[Gamble, Gamble]] = [
            ([(10, 0.5), (0, 0.5)], [(10, 0.5), (0, 0.5)]),
            ([(3, 1)], ten),
            (ten, [(-4, 0.5), (9, 0.5)]),
        ]
        hidden = [(False, True), (False, True), (True, False)]
        related: list[tuple[Gamble, Gamble]] = [
            ([(10, 0.5), (0, 0.5)], [(8, 0.5), (1, 0.5)])
        ] * 2 + [(ten, [(2, 0.3), (-2, 0.7)])] * 2
        return (
            pairs([*ordinary, *wide]),
            pairs(extremes),
            pairs(shown, ambiguous=hidden),
            pairs(related, correlation=[-1, 1, -1, 1]),
            pairs(extremes[:1]),
        )

    def features(self, stimuli: Stimuli) -> Mapping[str, Array]:
        """Properties of trials, differences always B minus A."""
        outcomes, probabilities = stimuli["outcomes"], stimuli["probabilities"]
        used = probabilities > 0
        n_used = used.sum(axis=-1)
        expected = (probabilities * outcomes).sum(axis=-1)
        variance = (probabilities * (outcomes - expected[..., None]) ** 2).sum(axis=-1)
        least, most = outcomes.min(axis=-1), outcomes.max(axis=-1)
        spread = np.maximum(most.max(axis=-1) - least.min(axis=-1), TOLERANCE)
        p_worst = probabilities[..., 0]
        p_best = np.take_along_axis(probabilities, n_used[..., None] - 1, axis=-1)[..., 0]
        modal = np.take_along_axis(outcomes, probabilities.argmax(axis=-1)[..., None], axis=-1)[
            ..., 0
        ]
        plain = np.where(used, outcomes, 0).sum(axis=-1) / n_used
        p_gain = (probabilities * (outcomes > 0)).sum(axis=-1)
        p_loss = (probabilities * (outcomes < 0)).sum(axis=-1)
        joint = joint_probabilities(stimuli)
        a, b = outcomes[:, 0, :, None], outcomes[:, 1, None, :]
        sure = (n_used == 1).astype(np.float64)

        def difference(values: Array) -> Array:
            return np.asarray(values[:, 1] - values[:, 0], dtype=np.float64)

        return {
            "ev_difference": difference(expected),
            "relative_ev_difference": difference(expected) / spread,
            "variance_difference": difference(variance),
            "sd_difference": difference(np.sqrt(variance)) / spread,
            "minimum_difference": difference(least) / spread,
            "maximum_difference": difference(most) / spread,
            "equal_weight_difference": difference(plain) / spread,
            "modal_outcome_difference": difference(modal) / spread,
            "worst_probability_difference": difference(p_worst),
            "best_probability_difference": difference(p_best),
            "gain_probability_difference": difference(p_gain),
            "loss_probability_difference": difference(p_loss),
            "probability_b_beats_a": (joint * (b > a)).sum(axis=(1, 2)),
            "beats_difference": (joint * (np.sign(b - a))).sum(axis=(1, 2)),
            "sure_option": difference(sure),
            "rare_outcome": np.where(used, probabilities, 1).min(axis=(1, 2)),
            "n_outcomes_difference": difference(n_used),
            "losses_present": (least < 0).any(axis=-1).astype(np.float64),
            "mixed_amounts": ((least.min(axis=-1) < 0) & (most.max(axis=-1) > 0)).astype(
                np.float64
            ),
            "amount_size": np.abs(outcomes).max(axis=(1, 2)),
            "dominance": dominance(stimuli).astype(np.float64),
            "ambiguity_difference": difference(stimuli["ambiguous"]),
            "correlation": np.asarray(stimuli["correlation"], dtype=np.float64),
        }

    def swap_sides(self, stimuli: Stimuli) -> Stimuli:
        """The same trials with the two gambles exchanged."""
        paired = {name: stimuli[name][:, ::-1] for name in PAIRED}
        return Stimuli({**paired, "correlation": stimuli["correlation"]})

    def variations(
        self, stimuli: Stimuli, rng: np.random.Generator
    ) -> Mapping[str, TrialVariation]:
        """See `experiments.variation.HasVariations`; amounts and probabilities are those of the second gamble."""
        outcomes, probabilities = stimuli["outcomes"], stimuli["probabilities"]
        n_trials = len(stimuli)
        place = np.arange(N_OUTCOMES)
        n_used = (probabilities > 0).sum(axis=-1)
        top = n_used[:, 1] - 1
        several, known = top > 0, ~(stimuli["ambiguous"] > 0).any(axis=1)
        largest = np.abs(outcomes).max(axis=(1, 2))
        own = np.arange(n_trials)
        worst, second, best = (
            outcomes[:, 1, 0],
            outcomes[own, 1, np.minimum(1, top)],
            outcomes[own, 1, top],
        )
        p_worst, p_best = probabilities[:, 1, 0], probabilities[own, 1, top]
        step = np.maximum(np.round(0.1 * largest, 2), 0.01) * rng.integers(1, 6, n_trials)
        fits = largest + step <= LARGEST_AMOUNT
        at_top, at_bottom = place >= top[:, None], place == 0
        equal = np.where(probabilities > 0, 1 / n_used[..., None], 0.0)
        turn = np.clip(
            n_used[..., None] - 1 - place, 0, None
        )  # place of the mirror image; unused places take the best

        def moved(by: Array, where: Array) -> Callable[[Stimuli, Array], Mapping[str, Array]]:
            def change(before: Stimuli, rows: Array) -> Mapping[str, Array]:
                new = before["outcomes"].copy()
                new[:, 1] += (by[:, None] * where)[rows]
                return {"outcomes": new}

            return change

        def likelier(before: Stimuli, rows: Array) -> Mapping[str, Array]:
            new = before["probabilities"].copy()
            shift = 0.5 * p_worst[rows]
            new[:, 1, 0] -= shift
            new[np.arange(len(rows)), 1, top[rows]] += shift
            return {"probabilities": new}

        def spread(before: Stimuli, rows: Array) -> Mapping[str, Array]:
            new = before["outcomes"].copy()
            mass = (step * np.minimum(p_worst, p_best))[rows]
            new[:, 1, 0] -= mass / p_worst[rows]
            new[:, 1] += (mass / p_best[rows])[:, None] * at_top[rows]
            return {"outcomes": new}

        def mirrored(before: Stimuli, rows: Array) -> Mapping[str, Array]:
            used = before["probabilities"] > 0
            amounts, chances = (
                np.take_along_axis(before[name], turn[rows], axis=-1)
                for name in ("outcomes", "probabilities")
            )
            return {"outcomes": 0.0 - amounts, "probabilities": np.where(used, chances, 0.0)}

        return {
            "best_amount": varied(
                stimuli,
                fits,
                "the best amount of the second gamble is raised",
                moved(step, at_top),
                size=best,
                size_meaning="the amount",
            ),
            "worst_amount": varied(
                stimuli,
                several,
                "the worst amount of the second gamble is raised, to at most half-way to the next",
                moved(0.5 * (second - worst), at_bottom),
                size=worst,
                size_meaning="the amount",
            ),
            "amounts": varied(
                stimuli,
                fits,
                "all amounts of the second gamble are raised alike",
                moved(step, np.full(N_OUTCOMES, 1.0)),
            ),
            "best_probability": varied(
                stimuli,
                several & known,
                "probability is moved from the worst to the best amount of the second gamble",
                likelier,
                size=p_best,
                size_meaning="probability of the best amount",
            ),
            "spread": varied(
                stimuli,
                several & known & fits,
                "the amounts of the second gamble are spread, its expected value unchanged",
                spread,
            ),
            "scale": varied(
                stimuli,
                2 * largest <= LARGEST_AMOUNT,
                "all amounts of both gambles are doubled",
                lambda before, _: {"outcomes": 2 * before["outcomes"]},
            ),
            "common_amount": varied(
                stimuli,
                fits,
                "the same amount is added to all outcomes of both gambles",
                lambda before, rows: {"outcomes": before["outcomes"] + step[rows, None, None]},
            ),
            "reflection": varied(
                stimuli,
                np.full(n_trials, True),
                "gains and losses of both gambles are exchanged",
                mirrored,
            ),
            "ambiguity": varied(
                stimuli,
                several & known,
                "the probabilities of the second gamble, all equal, are no longer told",
                lambda before, _: {"ambiguous": before["ambiguous"] + np.array([0.0, 1.0])},
                prepare=lambda before: {
                    "probabilities": np.stack(
                        [before["probabilities"][:, 0], equal[several & known][:, 1]], axis=1
                    )
                },
            ),
            "dominance": varied(
                stimuli,
                fits & known,
                "the second gamble, which the first improves by raising the best amount, changes places with it",
                lambda before, _: {name: before[name][:, ::-1] for name in PAIRED},
                prepare=lambda before: {
                    "outcomes": np.stack(
                        [outcomes[:, 1] + step[:, None] * at_top, outcomes[:, 1]], axis=1
                    )[fits & known],
                    "probabilities": np.repeat(before["probabilities"][:, 1:], 2, axis=1),
                },
            ),
        }

    def picture(self, stimuli: Stimuli, row: int) -> str:
        """Both gambles side by side, the likelihood of every amount as a number and a bar."""
        sides = "".join(_picture_of_gamble(stimuli, row, side) for side in (0, 1))
        note = {
            1: "High amounts of both tend to come together.",
            -1: "High amounts of one come with low of the other.",
        }
        related = note.get(int(stimuli["correlation"][row]), "")
        footer = (
            f'<div style="margin-top:8px;font-size:13px;color:#555">{related}</div>'
            if related
            else ""
        )
        return (
            '<div style="font-family:system-ui,sans-serif;max-width:640px;color:#222">'
            f'<div style="display:flex;gap:16px">{sides}</div>{footer}</div>'
        )

    def describe(self, stimuli: Stimuli, row: int) -> str:
        """For example ``A: 3 for sure | B: 4 with 80%, 0 with 20%``."""
        text = []
        for side, label in enumerate(self.options):
            shown = _shown(stimuli, row, side)
            amounts = ", ".join(f"{amount:g} with {_percent(p)}" for amount, p in shown)
            if len(shown) == 1:
                amounts = f"{shown[0][0]:g} for sure"
            elif stimuli["ambiguous"][row, side]:
                amounts = (
                    ", ".join(f"{amount:g}" for amount, _ in shown) + " (probabilities unknown)"
                )
            text.append(f"{label}: {amounts}")
        sign = int(stimuli["correlation"][row])
        related = (
            f" (payoffs {'positively' if sign > 0 else 'negatively'} correlated)" if sign else ""
        )
        return " | ".join(text) + related


def _nothing(settings: Mapping[str, Any]) -> str:
    return (
        f"no trial of the risky domain is left with the settings {dict(settings)}. "
        "Give more amounts or probabilities, a larger most_ev_difference, or dominated = true."
    )


def _random_gamble(rng: np.random.Generator, n_most: int) -> list[tuple[float, float]]:
    amounts = rng.choice(
        np.arange(-50.0, 101.0), size=int(rng.integers(1, n_most + 1)), replace=False
    )
    chances = rng.dirichlet(np.ones(len(amounts)))
    return list(zip(amounts.tolist(), chances.tolist(), strict=True))


def _shown(stimuli: Stimuli, row: int, side: int) -> list[tuple[float, float]]:
    """Amounts and probabilities of one gamble, the best first."""
    amounts, chances = stimuli["outcomes"][row, side], stimuli["probabilities"][row, side]
    return [(float(amount), float(p)) for amount, p in zip(amounts, chances, strict=True) if p > 0][
        ::-1
    ]


def _percent(probability: float) -> str:
    return f"{100 * probability:.4g}%"


def _picture_of_gamble(stimuli: Stimuli, row: int, side: int) -> str:
    hidden = bool(stimuli["ambiguous"][row, side])
    cell = 'style="padding:3px 6px;text-align:right;white-space:nowrap"'
    lines = []
    for amount, probability in _shown(stimuli, row, side):
        color = "#2b7a4b" if amount > 0 else "#b03a2e" if amount < 0 else "#777"
        bar = f'<div style="background:{color};opacity:.75;height:12px;width:{max(100 * probability, 0.5):.2f}%"></div>'
        lines.append(
            f'<tr><td {cell}><b style="color:{color}">{escape(f"{amount:g}")}</b></td>'
            f"<td {cell}>{'?' if hidden else escape(_percent(probability))}</td>"
            f'<td style="width:60%">{"" if hidden else bar}</td></tr>'
        )
    note = '<div style="font-size:13px;color:#555">probabilities unknown</div>' if hidden else ""
    return (
        '<div style="flex:1;border:1px solid #bbb;border-radius:6px;padding:10px">'
        f'<div style="font-weight:600">{RiskyDomain.options[side]}</div>'
        f'<table style="width:100%;border-collapse:collapse">{"".join(lines)}</table>{note}</div>'
    )
