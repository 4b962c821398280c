"""Adaptive evaluation: how good a challenger is, from a fraction of the items, asked in the order of what they tell.

The two-parameter logistic model (Birnbaum 1968, in Lord & Novick, Statistical theories of mental test scores): the
probability that a judge of ability t answers item i correctly has the log odds ``slope_i * t + intercept_i``. Screening
only decides which challengers are worth the gate; the gate itself asks everything. Items' parameters are estimated from
judges' answers, so they rest on these judges and fall with them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, log_expit, softmax
from scipy.stats import norm

from lakatos.judges.errors import MeasurementError

Array = NDArray[Any]

ABILITIES = np.linspace(-4, 4, 81)
"""Grid of abilities; the prior is standard normal."""
LOG_PRIOR = norm.logpdf(ABILITIES) - np.log(norm.pdf(ABILITIES).sum())
SLOPE = (1.0, 0.5)
INTERCEPT = (0.0, 2.0)
"""Mean and standard deviation of the normal priors of items' parameters."""
ROUNDS = 60
"""Of expectation maximisation, at most."""
PRECISE = 0.3
"""Standard error of ability below which screening stops."""
SURE = 0.95
"""Probability of being better, or of not being, at which screening stops."""
FEWEST = 10
"""Items asked before the first look at that probability."""
AMONG = 5
"""Most informative items among which the next is drawn, so that a few items are not asked every time."""


@dataclass(frozen=True)
class CalibratedItems:
    """Items whose difficulty is known, by a two-parameter logistic model."""

    slope: Array
    """``(n_items,)`` change of log odds per unit of ability; 0 tells nothing."""
    intercept: Array
    """``(n_items,)`` log odds at ability 0."""

    @property
    def difficulty(self) -> Array:
        """``(n_items,)`` ability at which the odds are even; for items with a slope of 0 infinite or undefined."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray(-self.intercept / self.slope)


@dataclass(frozen=True)
class JudgeAbility:
    """What is known about a judge's ability: mean and standard deviation of the posterior."""

    mean: float
    standard_error: float


@dataclass(frozen=True)
class ChallengerScreening:
    """What screening a challenger found."""

    asked: tuple[int, ...]
    correct: tuple[bool, ...]
    ability: JudgeAbility
    probability: float
    """That the challenger is abler than the incumbent."""
    verdict: Literal["better", "worse", "unclear"]


def probability(items: CalibratedItems, ability: Array | float) -> Array:
    """``(..., n_items)`` probability of a correct answer for abilities ``(...)``."""
    return np.asarray(expit(np.multiply.outer(np.asarray(ability), items.slope) + items.intercept))


def information(items: CalibratedItems, ability: Array | float) -> Array:
    """``(..., n_items)`` Fisher information of each item about ability, ``slope ** 2 * P * (1 - P)``."""
    p = probability(items, ability)
    return np.asarray(items.slope**2 * p * (1 - p))


def ability_of(items: CalibratedItems, correct: Array) -> JudgeAbility:
    """Estimate the ability of one judge from the items it got right.

    Args:
        items: Calibrated.
        correct: ``(n_items,)`` 1 or 0, NaN where it was not asked.
    """
    return _summary(_posterior(items, np.asarray(correct, dtype=float)[None])[0])


def calibrate(correct: Array) -> CalibratedItems:
    """Items' parameters from many judges' answers, by marginal maximum likelihood with weak priors.

    Expectation maximisation over the grid of abilities (Bock & Aitkin 1981, Psychometrika 46, 443-459); the step that
    maximises is a logistic regression for each item, whose normal priors keep items with few answers finite (after
    Mislevy 1986, Psychometrika 51, 177-195).

    Args:
        correct: ``(n_judges, n_items)`` 1 or 0, NaN where an item was not asked.

    Raises:
        MeasurementError: An answer is neither 0, 1 nor NaN, or there is none.
    """
    answers = np.asarray(correct, dtype=float)
    known = ~np.isnan(answers)
    if answers.ndim != 2 or not known.any() or not np.isin(answers[known], (0, 1)).all():
        raise MeasurementError(
            f"items are calibrated on a table of judges and items with 1, 0 or NaN; this one has the shape "
            f"{answers.shape} and {int(known.sum())} answers. Leave judges without answers out."
        )
    filled = np.where(known, answers, 0.0)
    items = CalibratedItems(np.ones(answers.shape[1]), np.zeros(answers.shape[1]))
    for _ in range(ROUNDS):
        weights = _posterior(items, answers)
        asked, right = weights.T @ known, weights.T @ filled
        updated = _regress(items, asked, right)
        moved = max(
            np.abs(updated.slope - items.slope).max(),
            np.abs(updated.intercept - items.intercept).max(),
        )
        items = updated
        if moved < 1e-4:
            break
    return items


def next_item(
    items: CalibratedItems,
    ability: float,
    is_open: Array,
    rng: np.random.Generator,
    among: int = AMONG,
) -> int:
    """One of the most informative open items at this ability, at random among the first few.

    The draw limits how often the same items are asked (Kingsbury & Zara 1989, Applied Measurement in Education 2,
    359-375).

    Raises:
        MeasurementError: No item is open.
    """
    if not np.any(is_open):
        raise MeasurementError(
            "no item is left to ask: all were asked, or reached the cap on their exposure."
        )
    told = np.where(is_open, information(items, ability), -np.inf)
    best = np.argsort(-told, kind="stable")[: min(among, int(np.sum(is_open)))]
    return int(rng.choice(best))


def screen(
    items: CalibratedItems,
    answer: Callable[[int], bool],
    incumbent: JudgeAbility,
    rng: np.random.Generator,
    *,
    most: int,
    allowed: Array | None = None,
    sure: float = SURE,
    precise: float = PRECISE,
    adaptive: bool = True,
) -> ChallengerScreening:
    """Ask a challenger item after item until it is clear whether it is abler than the incumbent.

    Screening stops when the probability of that reaches ``sure`` or falls to ``1 - sure``, when the standard error of
    ability is below ``precise``, or after ``most`` items. Stopped by the last two, the verdict is ``unclear``.

    Args:
        items: Calibrated on other judges.
        answer: Has the challenger answer an item; whether that was correct.
        incumbent: Its ability, from all items.
        rng: For the choice among items that tell about as much.
        most, allowed, sure, precise, adaptive: As in `AdaptiveScreen`.
    """
    asking = AdaptiveScreen(
        items,
        incumbent,
        rng,
        most=most,
        allowed=allowed,
        sure=sure,
        precise=precise,
        adaptive=adaptive,
    )
    while (item := asking.next()) is not None:
        asking.hear(answer(item))
    return asking.result()


class AdaptiveScreen:
    """A screening step by step, for challengers that are asked elsewhere: `next` item, `hear` of it, `result`."""

    def __init__(
        self,
        items: CalibratedItems,
        incumbent: JudgeAbility,
        rng: np.random.Generator,
        *,
        most: int,
        allowed: Array | None = None,
        sure: float = SURE,
        precise: float = PRECISE,
        adaptive: bool = True,
    ) -> None:
        """Prepare a screening; no item has been asked yet.

        Args:
            items: Calibrated on other judges.
            incumbent: Its ability, from all items.
            rng: For the choice among items that tell about as much.
            most: Items that may be asked.
            allowed: ``(n_items,)`` items that may be asked; those over the cap on exposure are False.
            sure: Probability of being better, or of not being, at which screening stops.
            precise: Standard error of ability below which it stops.
            adaptive: False asks at random, for comparison.
        """
        self.items, self.incumbent, self.rng = items, incumbent, rng
        self.most, self.sure, self.precise, self.adaptive = most, sure, precise, adaptive
        n_items = len(items.slope)
        self.is_open = np.ones(n_items, bool) if allowed is None else np.array(allowed, dtype=bool)
        self.asked: list[int] = []
        self.correct: list[bool] = []
        self.log_weights = LOG_PRIOR
        self.ability = JudgeAbility(0.0, 1.0)
        self.better = float(norm.cdf(-incumbent.mean / np.hypot(1.0, incumbent.standard_error)))
        self.verdict: Literal["better", "worse", "unclear"] = "unclear"
        self.is_over = False

    def next(self) -> int | None:
        """The item to ask now; None when screening is over."""
        if self.is_over or len(self.asked) >= self.most or not self.is_open.any():
            return None
        if self.adaptive:
            item = next_item(self.items, self.ability.mean, self.is_open, self.rng)
        else:
            item = int(self.rng.choice(np.flatnonzero(self.is_open)))
        self.is_open[item] = False
        self.asked.append(item)
        return item

    def hear(self, correct: bool) -> None:
        """Whether the item asked last was answered correctly."""
        item = self.asked[len(self.correct)]
        self.correct.append(correct)
        log_odds = self.items.slope[item] * ABILITIES + self.items.intercept[item]
        self.log_weights = self.log_weights + log_expit(log_odds if correct else -log_odds)
        self.ability = _summary(softmax(self.log_weights))
        spread = np.hypot(self.ability.standard_error, self.incumbent.standard_error)
        self.better = float(norm.cdf((self.ability.mean - self.incumbent.mean) / spread))
        if len(self.correct) >= FEWEST and not 1 - self.sure < self.better < self.sure:
            self.verdict = "better" if self.better >= self.sure else "worse"
            self.is_over = True
        self.is_over = self.is_over or self.ability.standard_error < self.precise

    def result(self) -> ChallengerScreening:
        """What the screening found so far."""
        return ChallengerScreening(
            tuple(self.asked), tuple(self.correct), self.ability, self.better, self.verdict
        )


def allowed_items(exposures: Array, n_screenings: int, cap: float) -> Array:
    """``(n_items,)`` whether an item was asked in less than a share ``cap`` of the screenings so far."""
    return np.asarray(exposures) < cap * max(n_screenings, 1 / cap)


def item_drift(items: CalibratedItems, correct: Array) -> Array:
    """``(n_items,)`` standardised difference of correct answers from what the calibration expects of these judges.

    About standard normal while items are what they were; an item far from 0 has changed and must be calibrated anew.
    Each judge's ability is read off its answers to the other items.

    Args:
        items: Calibrated on earlier judges.
        correct: ``(n_judges, n_items)`` of later judges, NaN where an item was not asked.
    """
    answers = np.asarray(correct, dtype=float)
    known = ~np.isnan(answers)
    log_terms = _log_terms(items, answers)
    total = log_terms.sum(axis=1) + LOG_PRIOR
    others = softmax(total[:, None, :] - log_terms, axis=-1)
    expected = np.einsum("jiq,qi->ji", others, probability(items, ABILITIES))
    surplus = np.where(known, np.nan_to_num(answers) - expected, 0.0).sum(axis=0)
    variance = np.where(known, expected * (1 - expected), 0.0).sum(axis=0)
    return np.asarray(surplus / np.sqrt(np.maximum(variance, 1e-12)))


def _summary(weights: Array) -> JudgeAbility:
    mean = float(weights @ ABILITIES)
    return JudgeAbility(mean, float(np.sqrt(weights @ (ABILITIES - mean) ** 2)))


def _log_terms(items: CalibratedItems, answers: Array) -> Array:
    """``(n_judges, n_items, n_abilities)`` log likelihood of each answer, 0 where there is none."""
    log_odds = np.multiply.outer(items.slope, ABILITIES) + items.intercept[:, None]
    right = np.where(answers == 1, 1.0, 0.0)[..., None] * log_expit(log_odds)
    wrong = np.where(answers == 0, 1.0, 0.0)[..., None] * log_expit(-log_odds)
    return np.asarray(right + wrong)


def _posterior(items: CalibratedItems, answers: Array) -> Array:
    """Posterior weights of abilities, ``(n_judges, n_abilities)``."""
    log_odds = np.multiply.outer(items.slope, ABILITIES) + items.intercept[:, None]
    right, wrong = np.where(answers == 1, 1.0, 0.0), np.where(answers == 0, 1.0, 0.0)
    return np.asarray(
        softmax(right @ log_expit(log_odds) + wrong @ log_expit(-log_odds) + LOG_PRIOR, axis=-1)
    )


def _regress(
    items: CalibratedItems, asked: Array, right: Array, n_steps: int = 4
) -> CalibratedItems:
    """Newton's method for each item's logistic regression on ability; counts are ``(n_abilities, n_items)``."""
    slope, intercept = items.slope.copy(), items.intercept.copy()
    for _ in range(n_steps):
        p = expit(np.multiply.outer(ABILITIES, slope) + intercept)
        residual, weight = right - asked * p, asked * p * (1 - p)
        gradient_s = ABILITIES @ residual - (slope - SLOPE[0]) / SLOPE[1] ** 2
        gradient_i = residual.sum(axis=0) - (intercept - INTERCEPT[0]) / INTERCEPT[1] ** 2
        h_ss = ABILITIES**2 @ weight + 1 / SLOPE[1] ** 2
        h_ii = weight.sum(axis=0) + 1 / INTERCEPT[1] ** 2
        h_si = ABILITIES @ weight
        determinant = h_ss * h_ii - h_si**2
        slope = slope + (h_ii * gradient_s - h_si * gradient_i) / determinant
        intercept = intercept + (h_ss * gradient_i - h_si * gradient_s) / determinant
    return CalibratedItems(slope, intercept)
