"""Risky choice: two gambles, each a list of amounts and their probabilities.

A gamble's amounts ascend and differ from one another. All sets of trials have ten places for outcomes, so that they
can be joined; unused places repeat the best amount with probability 0, so that the least and the greatest need no mask.

A gamble is *ambiguous* when people see its amounts but not their probabilities. The array ``probabilities`` then holds
what could be known, equal chances of all amounts shown, never the hidden truth.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

import numpy as np

from lakatos.domains.risky.space import (
    LARGEST_SPACE,
    N_OUTCOMES,
    PAIRED,
    TOLERANCE,
    Array,
    Gamble,
    RiskySettings,
    _gambles,
    _paired,
    are_identical,
    check,
    dominance,
    joint_probabilities,
    pairs,
    read_settings,
)
from lakatos.domains.risky.variation import gamble_variations
from lakatos.experiments.adoption.layouts import StimulusLayout
from lakatos.experiments.errors import EmptyDesignSpaceError, StimuliError
from lakatos.experiments.task import OneShot, Stimuli
from lakatos.experiments.variation import TrialVariation
from lakatos.theories.language.family import Family

_TEN: Gamble = [(float(amount), 0.1) for amount in range(-5, 5)]
_EVEN: Gamble = [(10, 0.5), (0, 0.5)]
EXTREMES: Sequence[tuple[Gamble, Gamble]] = (
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
    (_TEN, [(0, 1)]),
    (_TEN, [(amount + 0.5, p) for amount, p in _TEN]),
    (_TEN, _TEN),
)
"""Pairs of gambles that are sure, identical, huge, unlikely, losing, or as long as may be."""
PARTLY_HIDDEN: Sequence[tuple[Gamble, Gamble]] = (
    (_EVEN, _EVEN),
    ([(3, 1)], _TEN),
    (_TEN, [(-4, 0.5), (9, 0.5)]),
)
IS_HIDDEN = [(False, True), (False, True), (True, False)]
"""Whether gamble A and gamble B of each pair in `PARTLY_HIDDEN` are ambiguous."""
CORRELATED: Sequence[tuple[Gamble, Gamble]] = (
    (_EVEN, [(8, 0.5), (1, 0.5)]),
    (_EVEN, [(8, 0.5), (1, 0.5)]),
    (_TEN, [(2, 0.3), (-2, 0.7)]),
    (_TEN, [(2, 0.3), (-2, 0.7)]),
)


class RiskyDomain(OneShot):
    """Choices between two gambles with stated amounts and probabilities."""

    name = "risky"
    measured: tuple[str, ...] = ("outcomes",)
    options: tuple[str, ...] = ("A", "B")

    def layout(self) -> StimulusLayout:
        """Return how trials are written as columns of a file."""
        from lakatos.domains.risky.reader import LAYOUT

        return LAYOUT

    def family(self) -> Family:
        """The theories about this task."""
        from lakatos.domains.risky.theories import FAMILY

        return FAMILY

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
        outcomes, probabilities = stimuli["outcomes"], stimuli["probabilities"]
        hidden = stimuli["ambiguous"]
        # Amounts, and chances of all but the worst amount, lie within the levels.
        amounts = _amounts(read)
        inside = (outcomes >= min(amounts)) & (outcomes <= max(amounts))
        low = min(read.probabilities, default=1) - TOLERANCE
        high = max(read.probabilities, default=0) + TOLERANCE
        better = probabilities[..., 1:]
        chances = (better == 0) | ((better >= low) & (better <= high)) | (hidden[..., None] > 0)
        kept = inside.all(axis=(1, 2)) & chances.all(axis=(1, 2))
        # No more outcomes and hidden gambles than the study has; expected values are close enough.
        kept &= ((probabilities > 0).sum(axis=-1) <= read.n_outcomes).all(axis=1)
        kept &= hidden.sum(axis=1) <= read.ambiguous
        kept &= (stimuli["correlation"] == 0) & ~are_identical(stimuli)
        expected = (outcomes * probabilities).sum(axis=-1)
        kept &= np.abs(expected[:, 1] - expected[:, 0]) <= read.most_ev_difference + TOLERANCE
        return np.asarray(kept if read.dominated else kept & (dominance(stimuli) == 0))

    def probes(self, rng: np.random.Generator) -> Sequence[Stimuli]:
        """Ordinary random trials, and every extreme: sure, identical, huge, unlikely, losing, ambiguous, correlated."""
        ordinary: list[tuple[Gamble, Gamble]] = [
            (_random_gamble(rng, 3), _random_gamble(rng, 3)) for _ in range(12)
        ]
        wide: list[tuple[Gamble, Gamble]] = [
            (_random_gamble(rng, N_OUTCOMES), _random_gamble(rng, N_OUTCOMES)) for _ in range(6)
        ]
        return (
            pairs([*ordinary, *wide]),
            pairs(EXTREMES),
            pairs(PARTLY_HIDDEN, ambiguous=IS_HIDDEN),
            pairs(CORRELATED, correlation=[-1, 1, -1, 1]),
            pairs(EXTREMES[:1]),
        )

    def features(self, stimuli: Stimuli) -> Mapping[str, Array]:
        """Properties of trials, differences always B minus A."""
        outcomes, probabilities = stimuli["outcomes"], stimuli["probabilities"]
        used = probabilities > 0
        n_used = used.sum(axis=-1)

        # Amounts of each gamble, weighted and plain, and the range over both.
        expected = (probabilities * outcomes).sum(axis=-1)
        deviation = outcomes - expected[..., None]
        variance = (probabilities * deviation**2).sum(axis=-1)
        plain = np.where(used, outcomes, 0).sum(axis=-1) / n_used
        least, most = outcomes.min(axis=-1), outcomes.max(axis=-1)
        lowest, highest = least.min(axis=-1), most.max(axis=-1)
        spread = np.maximum(highest - lowest, TOLERANCE)

        # Probabilities of single outcomes, and the likeliest one; outcomes stand in order, the worst first.
        p_worst = probabilities[..., 0]
        p_best = np.take_along_axis(probabilities, n_used[..., None] - 1, axis=-1)[..., 0]
        likeliest = probabilities.argmax(axis=-1)[..., None]
        modal = np.take_along_axis(outcomes, likeliest, axis=-1)[..., 0]
        p_rarest = np.where(used, probabilities, 1).min(axis=(1, 2))

        # Gains, losses and sure amounts.
        p_gain = (probabilities * (outcomes > 0)).sum(axis=-1)
        p_loss = (probabilities * (outcomes < 0)).sum(axis=-1)
        sure = (n_used == 1).astype(np.float64)
        mixed = (lowest < 0) & (highest > 0)

        # How often one pays more than the other.
        joint = joint_probabilities(stimuli)
        a, b = outcomes[:, 0, :, None], outcomes[:, 1, None, :]
        p_b_beats_a = (joint * (b > a)).sum(axis=(1, 2))
        beats = (joint * np.sign(b - a)).sum(axis=(1, 2))

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
            "probability_b_beats_a": p_b_beats_a,
            "beats_difference": beats,
            "sure_option": difference(sure),
            "rare_outcome": p_rarest,
            "n_outcomes_difference": difference(n_used),
            "losses_present": (least < 0).any(axis=-1).astype(np.float64),
            "mixed_amounts": mixed.astype(np.float64),
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
        return gamble_variations(stimuli, rng)

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
        """Describe a trial, such as ``A: 3 for sure | B: 4 with 80%, 0 with 20%``."""
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


DOMAIN = RiskyDomain()


def _amounts(read: RiskySettings) -> list[float]:
    """All amounts of the study, losses among them where it has any."""
    return [*read.amounts, *(-amount for amount in read.amounts if read.losses)]


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
        color = "#2b7a4b" if amount > 0 else "#b03a2e" if amount < 0 else "#666"
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
