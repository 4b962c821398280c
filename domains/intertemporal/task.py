"""Intertemporal choice: two amounts of money, each at a stated delay.

Amounts are in one unit of money, losses negative; delays are in days from today, 0 for today. Trials of a space name
the option that comes sooner first, so that the second response is waiting. Trials with the options the other way round
are allowed too: a page may show them either way, and theories must not care.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lakatos.domains.intertemporal.variation import payment_variations
from lakatos.domains.kit.settings import refuse_unknown
from lakatos.experiments.adoption.layouts import StimulusLayout
from lakatos.experiments.errors import EmptyDesignSpaceError, StimuliError
from lakatos.experiments.task import OneShot, Stimuli
from lakatos.experiments.variation import TrialVariation
from lakatos.theories.language.family import Family

Array = NDArray[Any]
LARGEST_AMOUNT = 1e7
LONGEST_DELAY_DAYS = 36_525.0
LARGEST_SPACE = 1_000_000
"""Trials that `IntertemporalDomain.space` lists; larger spaces can only be sampled."""
FRAME = ("amounts", "delays_days")
"""Arrays of a set of trials, ``(n_trials, 2)`` each: the first and the second option."""


@dataclass(frozen=True)
class IntertemporalSettings:
    """A space of trials: all combinations of a sooner amount, its delay, the further wait, and what the wait pays."""

    amounts: tuple[float, ...] = (2.0, 5.0, 10.0, 20.0, 50.0, 100.0, 200.0, 500.0, 1000.0)
    """Amounts of the option that comes sooner."""
    ratios: tuple[float, ...] = (1.02, 1.05, 1.1, 1.2, 1.35, 1.5, 1.75, 2.0, 3.0, 4.0)
    """Later amount over sooner amount; later amounts are rounded to hundredths."""
    delays_days: tuple[float, ...] = (0.0, 1.0, 7.0, 14.0, 30.0)
    """Delays of the option that comes sooner."""
    intervals_days: tuple[float, ...] = (1.0, 3.0, 7.0, 14.0, 21.0, 30.0, 60.0, 120.0, 180.0, 365.0)
    """Further waits for the option that comes later, beyond the sooner delay."""
    losses: bool = False
    """Whether all amounts can also be lost."""
    dominated: bool = False
    """Whether trials are admitted in which one option is at least as good for whoever likes money, and sooner."""

    def __post_init__(self) -> None:
        for name, low, high in (
            ("amounts", 0.01, LARGEST_AMOUNT),
            ("ratios", 0.01, 1000.0),
            ("delays_days", 0.0, LONGEST_DELAY_DAYS),
            ("intervals_days", 0.0, LONGEST_DELAY_DAYS),
        ):
            if any(not low <= value <= high for value in getattr(self, name)):
                raise StimuliError(
                    f"setting {name} of the intertemporal domain: give numbers from {low:g} to {high:g}."
                )

    @property
    def axes(self) -> tuple[tuple[float, ...], ...]:
        """Signs, amounts, ratios, delays, intervals, of which the space is the product."""
        signs = (1.0, -1.0) if self.losses else (1.0,)
        return signs, self.amounts, self.ratios, self.delays_days, self.intervals_days


def read_settings(settings: Mapping[str, Any]) -> IntertemporalSettings:
    """Settings of a study file.

    Raises:
        StimuliError: A setting is unknown or of the wrong type; the message says which and what there is.
    """
    refuse_unknown(IntertemporalSettings.__dataclass_fields__, settings, "intertemporal")
    values: dict[str, Any] = {}
    for name, value in settings.items():
        try:
            if name not in ("losses", "dominated"):
                values[name] = tuple(sorted({float(item) for item in value}))
            elif not isinstance(value, bool):
                raise TypeError
            else:
                values[name] = value
        except (TypeError, ValueError):
            raise StimuliError(
                f"setting {name!r} of the intertemporal domain cannot be {value!r}."
            ) from None
    return IntertemporalSettings(**values)


def dated(options: Sequence[tuple[tuple[float, float], tuple[float, float]]]) -> Stimuli:
    """Trials from written-out options, each an amount and its delay in days.

    Raises:
        StimuliError: An amount or a delay is not allowed.
    """
    table = np.asarray(options, dtype=np.float64).reshape(len(options), 2, 2)
    stimuli = Stimuli({"amounts": table[:, :, 0], "delays_days": table[:, :, 1]})
    check(stimuli)
    return stimuli


def check(stimuli: Stimuli) -> None:
    """Raise `StimuliError` naming the first trial that is no pair of dated amounts."""
    if set(stimuli.arrays) != set(FRAME):
        raise StimuliError(
            f"intertemporal trials have the arrays {', '.join(FRAME)}, not {', '.join(sorted(stimuli.arrays))}."
        )
    for name, low, high in (
        ("amounts", -LARGEST_AMOUNT, LARGEST_AMOUNT),
        ("delays_days", 0.0, LONGEST_DELAY_DAYS),
    ):
        values = stimuli[name]
        if values.shape != (len(stimuli), 2):
            raise StimuliError(f"array {name!r} has shape {values.shape}, not {(len(stimuli), 2)}.")
        rows = np.flatnonzero(
            ~((values >= low) & (values <= high)).all(axis=1)
        )  # written so as to refuse NaN
        if rows.size:
            raise StimuliError(
                f"trial {rows[0]} of the intertemporal domain: {name} are {values[rows[0]].tolist()}; "
                f"give numbers from {low:g} to {high:g}."
            )


def dominance(stimuli: Stimuli) -> Array:
    """Find the option that is at least as good for all who like more money and discount delays, however little.

    A gain is the better the more and the sooner, a loss the less and the later; no loss is as good as a gain.

    Returns:
        ``(n_trials,)``: 1 where the second option dominates, -1 where the first does, 0 otherwise, and 0 where the
        two are the same or both are nothing.
    """
    x, t = stimuli["amounts"], stimuli["delays_days"]

    def at_least_as_good(i: int, j: int) -> Array:
        more = x[:, i] >= x[:, j]
        in_time = ((t[:, i] <= t[:, j]) | (x[:, i] <= 0)) & ((t[:, i] >= t[:, j]) | (x[:, j] >= 0))
        return np.asarray(more & (in_time | ((x[:, i] >= 0) & (x[:, j] <= 0))))

    return np.asarray(at_least_as_good(1, 0).astype(int) - at_least_as_good(0, 1).astype(int))


def _combine(settings: IntertemporalSettings, numbers: Array) -> Stimuli:
    """Admissible trials among the combinations with these numbers, in that order, each once."""
    axes = [np.asarray(axis) for axis in settings.axes]
    places = np.unravel_index(np.asarray(numbers, dtype=np.intp), [len(axis) for axis in axes])
    sign, amount, ratio, delay, interval = (
        axis[place] for axis, place in zip(axes, places, strict=True)
    )
    later = np.round(amount * ratio, 2)
    stimuli = Stimuli(
        {
            "amounts": np.stack([sign * amount, sign * later], axis=1),
            "delays_days": np.stack([delay, delay + interval], axis=1),
        }
    )
    keep = (amount != later) | (interval != 0)
    if not settings.dominated:
        keep &= dominance(stimuli) == 0
    keep &= (np.abs(stimuli["amounts"]) <= LARGEST_AMOUNT).all(axis=1) & (
        delay + interval <= LONGEST_DELAY_DAYS
    )
    stimuli = stimuli.take(np.flatnonzero(keep))
    table = np.concatenate([stimuli[name] for name in FRAME], axis=1)
    _, first = np.unique(table, axis=0, return_index=True)  # rounded amounts can coincide
    return stimuli.take(np.sort(first))


EXTREMES = (
    ((10, 0), (20, 30)),
    ((10, 0), (20, 0)),
    ((10, 0), (10, 0)),
    ((10, 7), (10, 30)),
    ((20, 7), (10, 30)),
    ((0, 0), (0, 0)),
    ((0, 0), (10, 1)),
    ((0, 0), (-10, 1)),
    ((0, 30), (0, 60)),
    ((0.01, 0), (0.02, 1)),
    ((0.01, 0), (LARGEST_AMOUNT, 1)),
    ((1e5, 0), (1.01e5, 21)),
    ((-LARGEST_AMOUNT, 0), (LARGEST_AMOUNT, LONGEST_DELAY_DAYS)),
    ((100, LONGEST_DELAY_DAYS), (101, LONGEST_DELAY_DAYS)),
    ((100, 0), (1000, LONGEST_DELAY_DAYS)),
    ((100, 0), (101, 0.5)),
    ((-10, 0), (-20, 30)),
    ((-10, 7), (-10, 30)),
    ((-10, 0), (-5, 30)),
    ((-10, 0), (10, 30)),
    ((10, 0), (-10, 30)),
    ((10, 0), (-20, 0)),
)
"""Pairs of amounts and delays in days: today, equal, huge, tiny, far away, nothing, losses."""


class IntertemporalDomain(OneShot):
    """Choices between two amounts of money at two delays."""

    name = "intertemporal"
    measured: tuple[str, ...] = ("amounts", "delays_days")
    options: tuple[str, ...] = ("sooner", "later")

    def layout(self) -> StimulusLayout:
        """Return how trials are written as columns of a file."""
        from lakatos.domains.intertemporal.reader import LAYOUT

        return LAYOUT

    def family(self) -> Family:
        """The theories about this task."""
        from lakatos.domains.intertemporal.theories import FAMILY

        return FAMILY

    def candidates(
        self, settings: Mapping[str, Any], rng: np.random.Generator, n_most: int
    ) -> Stimuli:
        """Admissible trials of the space: all of them, or a random ``n_most`` (see `experiments.task.Domain`)."""
        read = read_settings(settings)
        n_combinations = prod(map(len, read.axes))
        if n_combinations <= max(LARGEST_SPACE // 10, 4 * n_most):
            return self.space(settings).some(n_most, rng)
        numbers: Array = np.zeros(0, dtype=np.int64)
        stimuli = _combine(read, numbers)
        for _ in range(20):
            numbers = np.concatenate([numbers, rng.integers(n_combinations, size=4 * n_most)])
            stimuli = _combine(read, numbers)
            if len(stimuli) >= n_most:
                break
        if not len(stimuli):
            raise EmptyDesignSpaceError(_nothing(settings))
        return stimuli.take(np.arange(min(n_most, len(stimuli))))

    def space(self, settings: Mapping[str, Any]) -> Stimuli:
        """Every admissible trial of the space.

        Raises:
            EmptyDesignSpaceError: There is none.
            StimuliError: A setting is wrong, or the space is too large to be listed.
        """
        read = read_settings(settings)
        n_combinations = prod(map(len, read.axes))
        if n_combinations > LARGEST_SPACE:
            raise StimuliError(
                f"the settings make {n_combinations} trials, too many to list; "
                "give fewer amounts, ratios, delays or intervals, or sample with `candidates`."
            )
        stimuli = _combine(read, np.arange(n_combinations))
        if not len(stimuli):
            raise EmptyDesignSpaceError(_nothing(settings))
        return stimuli

    def check(self, stimuli: Stimuli) -> None:
        """Raise `StimuliError` naming the first trial that is no pair of dated amounts."""
        check(stimuli)

    def admits(self, settings: Mapping[str, Any], stimuli: Stimuli) -> Array:
        """See `experiments.task.Domain.admits`: amounts, their ratio, delay and wait each within the study's levels."""
        read = read_settings(settings)

        cent = 0.005 + 1e-9  # to which later amounts are rounded

        def within(values: Array, levels: Sequence[float]) -> Array:
            return (values >= min(levels)) & (values <= max(levels))

        def inside(trials: Stimuli) -> Array:
            amounts, delays = np.abs(trials["amounts"]), trials["delays_days"]
            first, second = amounts.T
            kept = within(first, read.amounts)
            kept &= second >= min(read.ratios) * first - cent
            kept &= second <= max(read.ratios) * first + cent
            kept &= within(delays[:, 0], read.delays_days)
            kept &= within(delays[:, 1] - delays[:, 0], read.intervals_days)
            return kept

        # Either option may be the first one of a trial.
        kept = inside(stimuli) | inside(self.swap_sides(stimuli))

        # Only gains, or only losses where the study has some; and options that differ.
        amounts, delays = stimuli["amounts"], stimuli["delays_days"]
        gains, losses = (amounts > 0).all(axis=1), (amounts < 0).all(axis=1)
        differ = (amounts[:, 0] != amounts[:, 1]) | (delays[:, 0] != delays[:, 1])
        kept &= gains | (read.losses & losses)
        kept &= differ
        return kept if read.dominated else kept & (dominance(stimuli) == 0)

    def probes(self, rng: np.random.Generator) -> Sequence[Stimuli]:
        """Ordinary random trials, mirrored ones, and every extreme: today, equal, huge, tiny, far, nothing, losses."""
        space = IntertemporalSettings(losses=True)
        ordinary = _combine(space, rng.choice(prod(map(len, space.axes)), size=24, replace=False))
        extremes = dated(EXTREMES)
        return (
            ordinary,
            self.swap_sides(ordinary),
            extremes,
            self.swap_sides(extremes),
            extremes.take([0]),
        )

    def features(self, stimuli: Stimuli) -> Mapping[str, Array]:
        """Properties of trials, differences always the second option minus the first, delays in days."""
        x, t = stimuli["amounts"], stimuli["delays_days"]
        gap, wait = x[:, 1] - x[:, 0], t[:, 1] - t[:, 0]

        # Amounts below a cent count as one, so that ratios and logarithms exist.
        size = np.abs(x)
        first, second = np.maximum(size[:, 0], 0.01), np.maximum(size[:, 1], 0.01)
        larger = np.maximum(size.max(axis=1), 0.01)
        growth = np.log(second / first)

        apart = wait != 0
        interest = np.where(apart, growth / np.where(apart, wait, 1.0), 0.0)
        longest = t.max(axis=1)
        today = (t == 0).astype(np.float64)
        return {
            "amount_difference": gap,
            "relative_amount_difference": gap / larger,
            "log_amount_ratio": growth,
            "delay_difference": wait,
            "relative_delay_difference": wait / np.maximum(longest, 0.01),
            "log_delay_difference": np.sign(wait) * np.log1p(np.abs(wait)),
            "interest_rate": interest,
            "front_end_delay": t.min(axis=1),
            "today_difference": today[:, 1] - today[:, 0],
            "today_possible": today.max(axis=1),
            "longest_delay": longest,
            "log_larger_amount": np.log10(larger),
            "roundness_difference": np.asarray(_roundness(x[:, 1]) - _roundness(x[:, 0])),
            "losses_present": (x < 0).any(axis=1).astype(np.float64),
            "dominance": dominance(stimuli).astype(np.float64),
        }

    def swap_sides(self, stimuli: Stimuli) -> Stimuli:
        """The same trials with the two options exchanged."""
        return Stimuli({name: stimuli[name][:, ::-1] for name in FRAME})

    def variations(
        self, stimuli: Stimuli, rng: np.random.Generator
    ) -> Mapping[str, TrialVariation]:
        """See `experiments.variation.HasVariations`; amount and delay are those of the second option."""
        return payment_variations(
            stimuli, rng, largest_amount=LARGEST_AMOUNT, longest_delay=LONGEST_DELAY_DAYS
        )

    def picture(self, stimuli: Stimuli, row: int) -> str:
        """Both options side by side on one line of time."""
        longest = max(float(stimuli["delays_days"][row].max()), 1.0)
        sides = []
        for amount, delay in zip(stimuli["amounts"][row], stimuli["delays_days"][row], strict=True):
            color = "#2b7a4b" if amount > 0 else "#b03a2e" if amount < 0 else "#666"
            sides.append(
                '<div style="flex:1;border:1px solid #bbb;border-radius:6px;padding:10px;text-align:center">'
                f'<div style="font-size:22px;font-weight:600;color:{color}">{escape(_money(amount))}</div>'
                f'<div style="margin:4px 0 8px">{escape(_when(delay))}</div>'
                '<div style="background:#e4e4e4;height:8px;border-radius:4px">'
                f'<div style="background:#557;height:8px;border-radius:4px;width:{100 * delay / longest:.2f}%"></div>'
                "</div></div>"
            )
        return (
            '<div style="font-family:system-ui,sans-serif;max-width:520px;color:#222">'
            f'<div style="display:flex;gap:16px">{"".join(sides)}</div></div>'
        )

    def describe(self, stimuli: Stimuli, row: int) -> str:
        """Describe a trial, such as ``10 today | 20 in 30 days``."""
        options = zip(stimuli["amounts"][row], stimuli["delays_days"][row], strict=True)
        return " | ".join(f"{_money(amount)} {_when(delay)}" for amount, delay in options)


DOMAIN = IntertemporalDomain()


def _roundness(amounts: Array) -> Array:
    """1 where all digits after the first are 0, as in 300; 0.5 where the second is 5, as in 350; 0 otherwise."""
    size = np.maximum(np.abs(amounts), 0.01)
    leading = size / 10.0 ** np.floor(np.log10(size) + 1e-9)
    one_digit = np.abs(leading - np.rint(leading)) < 1e-6
    and_a_half = np.abs(2 * leading - np.rint(2 * leading)) < 1e-6
    return np.asarray(np.where(one_digit, 1.0, np.where(and_a_half, 0.5, 0.0)))


def _money(amount: float) -> str:
    return f"{amount + 0.0:.10g}"  # -0.0 becomes 0


def _when(delay_days: float) -> str:
    if delay_days == 0:
        return "today"
    return f"in {delay_days:.10g} day{'' if delay_days == 1 else 's'}"


def _nothing(settings: Mapping[str, Any]) -> str:
    return (
        f"no trial of the intertemporal domain is left with the settings {dict(settings)}. "
        "Give ratios above 1 and intervals above 0, or dominated = true."
    )
