"""Whether a judge accepts machine-written theories more readily than human-written ones, and what may be said of it.

The ratio of acceptance rates alone also moves with quality, so it is given for good and bad theories apart, and in
common given quality. That no difference is found does not show that there is none: parity is claimed only where an
equivalence test shows it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, exp, inf, log, sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import norm

from lakatos.experiments.interval import exact_interval, wilson_interval
from lakatos.judges.anchor import AnchorItem
from lakatos.judges.answer import ask
from lakatos.judges.errors import GateError
from lakatos.judges.judge import Judge

Array = NDArray[np.float64]
PARITY = (0.8, 1.25)
"""Ratios of acceptance that count as equal."""
LEVEL = 0.05


@dataclass(frozen=True)
class AcceptanceRatio:
    """Acceptance of machine-written over that of human-written theories."""

    value: float
    standard_error: float
    """Of the logarithm."""
    n_machine: int
    n_human: int

    @property
    def interval(self) -> tuple[float, float]:
        """Interval of the ratio at 95%."""
        return self.within(0.95)

    def within(self, confidence: float) -> tuple[float, float]:
        """Interval of a given confidence, symmetric in the logarithm."""
        half = float(norm.ppf(0.5 + confidence / 2)) * self.standard_error
        return self.value * exp(-half), self.value * exp(half)

    @property
    def equivalence_p(self) -> float:
        """P value of two one-sided tests of a ratio outside `PARITY`; small values show parity.

        References:
            Schuirmann (1987), Journal of Pharmacokinetics and Biopharmaceutics 15, 657-680.
        """
        if not np.isfinite(self.standard_error):
            return 1.0
        distances = (log(self.value) - log(PARITY[0]), log(PARITY[1]) - log(self.value))
        return float(max(norm.sf(distance / self.standard_error) for distance in distances))

    @property
    def equivalent(self) -> bool:
        """Whether the data show that both groups are accepted alike."""
        return self.equivalence_p < LEVEL

    @property
    def differs(self) -> bool:
        """Whether the 95% interval leaves out 1."""
        return not self.interval[0] <= 1 <= self.interval[1]


@dataclass(frozen=True)
class SignalDetection:
    """How well good is told from bad, and how much evidence acceptance takes."""

    d_prime: float
    criterion: float
    """0 is neutral, negative lenient."""


@dataclass(frozen=True)
class BiasReport:
    """All that is known of one judge's bias."""

    marginal: AcceptanceRatio
    good: AcceptanceRatio
    bad: AcceptanceRatio
    given_quality: AcceptanceRatio
    """Common ratio over good and bad."""
    detection: dict[str, SignalDetection]
    gap: tuple[float, float, float] | None
    """Mean of score minus label of machine-written theories less that of others, with its 95% interval."""
    preference: tuple[float, float, float] | None
    """Share of pairs of equal quality in which the machine-written theory was preferred, with its exact interval."""
    sentence: str


def ratio(
    accepted_machine: int, n_machine: int, accepted_human: int, n_human: int
) -> AcceptanceRatio:
    """Ratio of two acceptance rates; half a case is added everywhere where a count is 0.

    References:
        Katz, Baptista, Azen & Pike (1978), Biometrics 34, 469-474.
    """
    a, n, b, m = (float(x) for x in (accepted_machine, n_machine, accepted_human, n_human))
    if n == 0 or m == 0:
        return AcceptanceRatio(1.0, inf, n_machine, n_human)
    if a == 0 or b == 0:
        a, n, b, m = a + 0.5, n + 0.5, b + 0.5, m + 0.5
    return AcceptanceRatio(
        (a / n) / (b / m), sqrt(max(1 / a - 1 / n + 1 / b - 1 / m, 0.0)), n_machine, n_human
    )


def common_ratio(tables: list[tuple[int, int, int, int]]) -> AcceptanceRatio:
    """Mantel-Haenszel ratio over strata; each is given as to `ratio`.

    References:
        Greenland & Robins (1985), Biometrics 41, 55-68.
    """
    counts = np.array(tables, dtype=np.float64)
    a, n, b, m = counts.T
    total = np.maximum(n + m, 1)
    upper, lower = (a * m / total).sum(), (b * n / total).sum()
    n_machine, n_human = int(n.sum()), int(m.sum())
    if upper == 0 or lower == 0:
        return AcceptanceRatio(1.0, inf, n_machine, n_human)
    variance = ((n * m * (a + b) - a * b * total) / total**2).sum() / (upper * lower)
    return AcceptanceRatio(
        float(upper / lower), float(sqrt(max(variance, 0.0))), n_machine, n_human
    )


def needed_per_origin(acceptance: float, power: float = 0.8) -> int:
    """Theories of each origin with which parity is shown with this power if it is true; half machine, half human."""
    error = log(PARITY[1]) / float(norm.ppf(1 - LEVEL) + norm.ppf(0.5 + power / 2))
    return ceil(2 * (1 - acceptance) / max(acceptance, 1e-9) / error**2)


def detection(accepted: NDArray[np.bool_], good: NDArray[np.bool_]) -> SignalDetection:
    """Sensitivity and criterion, with the log-linear correction.

    References:
        Hautus (1995), Behavior Research Methods 27, 46-51.
    """
    hit, alarm = (
        float(norm.ppf((accepted[kind].sum() + 0.5) / (kind.sum() + 1))) for kind in (good, ~good)
    )
    return SignalDetection(hit - alarm, -(hit + alarm) / 2)


def bias_report(
    accepted: NDArray[np.bool_],
    machine: NDArray[np.bool_],
    good: NDArray[np.bool_],
    *,
    score: Array | None = None,
    preferred_machine: NDArray[np.bool_] | None = None,
) -> BiasReport:
    """What a judge's decisions on settled theories say about its bias.

    Args:
        accepted: ``(n_items,)`` its decisions.
        machine: ``(n_items,)`` whether the theory is machine-written.
        good: ``(n_items,)`` whether data or a known truth settled for it.
        score: ``(n_items,)`` its probabilities, where it gives some.
        preferred_machine: ``(n_pairs,)`` of pairs of equal quality, one of each origin: which was preferred.

    Raises:
        GateError: An origin or a quality is missing: bias cannot be told from quality then.
    """
    accepted, machine, good = (np.asarray(item, dtype=bool) for item in (accepted, machine, good))
    for name, values in (("machine-written", machine), ("good", good)):
        if values.all() or not values.any():
            raise GateError(
                f"bias cannot be told from quality: all or none of the {len(accepted)} theories are {name}; the anchor "
                "set needs both origins with both labels."
            )

    def counts(inside: NDArray[np.bool_]) -> tuple[int, int, int, int]:
        return tuple(
            int(value)
            for kind in (machine & inside, ~machine & inside)
            for value in (accepted[kind].sum(), kind.sum())
        )  # type: ignore[return-value]

    given = common_ratio([counts(good), counts(~good)])
    gap = None
    if score is not None:
        off = np.asarray(score) - good
        value = off[machine].mean() - off[~machine].mean()
        half = 1.96 * sqrt(sum(off[kind].var(ddof=1) / kind.sum() for kind in (machine, ~machine)))
        gap = float(value), float(value - half), float(value + half)
    preference = None
    if preferred_machine is not None:
        k, n = int(np.sum(preferred_machine)), len(preferred_machine)
        preference = k / n, *exact_interval(k, n)
    return BiasReport(
        marginal=ratio(*counts(np.ones_like(good))),
        good=ratio(*counts(good)),
        bad=ratio(*counts(~good)),
        given_quality=given,
        detection={
            name: detection(accepted[kind], good[kind])
            for name, kind in (("machine", machine), ("human", ~machine))
        },
        gap=gap,
        preference=preference,
        sentence=_sentence(given, float(accepted.mean())),
    )


def _sentence(given: AcceptanceRatio, acceptance: float) -> str:
    low, high = given.interval
    size = f"{given.n_machine} machine-written and {given.n_human} human-written theories"
    found = f"the ratio of acceptance given quality is {given.value:.2f} (95% interval {low:.2f} to {high:.2f}; {size})"
    if given.differs:
        kind = "machine-written" if given.value > 1 else "human-written"
        words = f"The judge favours {kind} theories of equal quality: {found}."
        return words + (" The difference is too small to matter." if given.equivalent else "")
    if given.equivalent:
        return f"Parity is shown within {PARITY[0]} to {PARITY[1]}: {found}."
    needed = needed_per_origin(acceptance)
    return (
        f"No bias is detectable with {size}, which does not show that there is none: {found}. To show parity, about "
        f"{needed} theories of each origin are needed."
    )


def anchor_accuracy(judge: Judge, items: Sequence[AnchorItem]) -> dict[str, Any] | None:
    """Right answers of a judge among the settled items that it answers, with their 95% interval; None without any."""
    answers = ask(judge, [item.submission for item in items])
    kept = ~np.isnan(answers.probability)
    labels = np.where([item.label for item in items], 1, -1)
    right, n = (answers.side == labels)[kept], int(kept.sum())
    if not n:
        return None
    low, high = wilson_interval(int(right.sum()), n)
    return {"right": float(right.mean()), "low": low, "high": high, "n": n}


def bias_of(judge: Judge, items: Sequence[AnchorItem]) -> BiasReport:
    """Whether a judge accepts machine-written theories more readily, on those settled items that it answers.

    Raises:
        GateError: Among these an origin or a quality is missing.
    """
    answers = ask(judge, [item.submission for item in items])
    kept = ~np.isnan(answers.probability)
    machine, good = (
        np.array([item.strata[name] == value for item in items])[kept]
        for name, value in (("origin", "machine"), ("quality", "good"))
    )
    return bias_report(answers.side[kept] > 0, machine, good, score=answers.probability[kept])
