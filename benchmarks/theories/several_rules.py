"""Hidden rules of choice among several options, for a blind test of rule discovery.

Each rule turns the attributes of the options on offer into probabilities of choice.  No rule
uses the position of an option, the trials before, or any noise beyond the stated probabilities.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]
Offer = Mapping[str, Array]

TIE = 1e-9

FLATS = """
name = "flats"
question = "Which flat would you rent?"
options = ["A", "B", "C"]
instructions = ["Choose a flat."]
[attributes.rent]
label = "Rent per month"
kind = "number"
levels = [400, 500, 600, 700, 800]
better = "less"
[attributes.size]
label = "Size in square metres"
kind = "number"
levels = [25, 35, 45, 55, 65]
better = "more"
[attributes.light]
label = "Daylight, from 1 to 5"
kind = "rating"
levels = [1, 2, 3, 4, 5]
better = "more"
[space]
trials = 400
"""

PHONES = """
name = "phones"
question = "Which phone would you buy?"
options = ["A", "B", "C", "D"]
instructions = ["Choose a phone."]
[attributes.price]
label = "Price"
kind = "number"
levels = [200, 350, 500, 650, 800]
better = "less"
[attributes.battery]
label = "Hours of battery"
kind = "number"
levels = [8, 12, 16, 20, 24]
better = "more"
[attributes.camera]
label = "Camera, from 1 to 5"
kind = "rating"
levels = [1, 2, 3, 4, 5]
better = "more"
[attributes.weight]
label = "Weight in grams"
kind = "number"
levels = [140, 160, 180, 200, 220]
better = "less"
[space]
trials = 400
"""

HOLIDAYS = """
name = "holidays"
question = "Which holiday would you book?"
options = ["A", "B", "C"]
instructions = ["Choose a holiday."]
[attributes.price]
label = "Price for the week"
kind = "number"
levels = [500, 800, 1100, 1400, 1700]
better = "less"
[attributes.temperature]
label = "Temperature by day"
kind = "number"
levels = [16, 20, 24, 28, 32, 36]
[attributes.travel]
label = "Hours of travel"
kind = "number"
levels = [2, 4, 6, 8, 10]
better = "less"
[attributes.beach]
label = "Beach, from 1 to 5"
kind = "rating"
levels = [1, 2, 3, 4, 5]
better = "more"
[space]
trials = 400
"""

JOBS = """
name = "jobs"
question = "Which job offer would you accept?"
options = ["A", "B", "C", "D"]
instructions = ["Choose a job offer."]
[attributes.salary]
label = "Salary in thousands a year"
kind = "number"
levels = [30, 40, 50, 60, 70]
better = "more"
[attributes.days]
label = "Days of leave a year"
kind = "number"
levels = [20, 24, 28, 32, 36]
better = "more"
[attributes.interest]
label = "Interest of the work, from 1 to 5"
kind = "rating"
levels = [1, 2, 3, 4, 5]
better = "more"
[space]
trials = 400
"""

TREATMENTS = """
name = "treatments"
question = "Which treatment would you take?"
options = ["A", "B", "C"]
instructions = ["Choose a treatment."]
[attributes.benefit]
label = "Patients of 100 who get better"
kind = "number"
levels = [40, 50, 60, 70, 80, 90]
better = "more"
[attributes.harm]
label = "Patients of 100 with side effects"
kind = "number"
levels = [5, 10, 20, 30, 40]
better = "less"
[attributes.weeks]
label = "Duration in weeks"
kind = "number"
levels = [2, 4, 8, 12, 16]
better = "less"
[space]
trials = 400
"""

SNACKS = """
name = "snacks"
question = "Which snack would you buy?"
options = ["A", "B", "C", "D"]
instructions = ["Choose a snack."]
[attributes.price]
label = "Price"
kind = "number"
levels = [1.0, 1.5, 2.0, 2.5, 3.0]
better = "less"
[attributes.taste]
label = "Taste, from 1 to 5"
kind = "rating"
levels = [1, 2, 3, 4, 5]
better = "more"
[attributes.sugar]
label = "Grams of sugar"
kind = "number"
levels = [5, 10, 15, 20, 25]
[space]
trials = 400
"""

TASKS: dict[str, str] = {
    "flats": FLATS,
    "phones": PHONES,
    "holidays": HOLIDAYS,
    "jobs": JOBS,
    "treatments": TREATMENTS,
    "snacks": SNACKS,
}


@dataclass(frozen=True)
class SeveralRule:
    """A rule of choice: its task, what it says in words, and its probabilities."""

    task: str
    words: str
    choose: Callable[[Mapping[str, NDArray[np.float64]]], NDArray[np.float64]]
    uses_last: bool = False
    """Whether ``offer["last"]`` matters: 1 for the option chosen last, and 0 for all options at first."""
    others: Callable[[Mapping[str, NDArray[np.float64]]], NDArray[np.float64]] | None = None
    """What participants of a second kind do."""
    share: float = 1.0
    """Share of participants of the first kind."""
    spread: float = 0.0
    """Spread of the logarithms of participants' sensitivities."""


# ------------------------------------------------------------------------------------- helpers


def softmax(value: Array) -> Array:
    """Probabilities that rise with the exponential of the value, trial by trial."""
    lifted = np.exp(value - value.max(axis=1, keepdims=True))
    return np.asarray(lifted / lifted.sum(axis=1, keepdims=True), dtype=np.float64)


def evenly(mask: Mask) -> Array:
    """Equal probabilities for the options kept; all options where none is kept."""
    kept = np.where(mask.any(axis=1, keepdims=True), mask, True).astype(np.float64)
    return np.asarray(kept / kept.sum(axis=1, keepdims=True), dtype=np.float64)


def keep_best(mask: Mask, value: Array, slack: float = 0.0) -> Mask:
    """Of the options kept, those whose value is within the slack of the best one kept."""
    shown = np.where(mask, value, -np.inf)
    best = shown.max(axis=1, keepdims=True)
    return np.asarray(mask & (shown >= best - slack - TIE), dtype=np.bool_)


def keep_passing(mask: Mask, passing: Mask) -> Mask:
    """Of the options kept, those that pass; all of them where none passes."""
    both = mask & passing
    return np.asarray(np.where(both.any(axis=1, keepdims=True), both, mask), dtype=np.bool_)


def everyone(value: Array) -> Mask:
    """A mask that keeps every option."""
    return np.ones(value.shape, dtype=np.bool_)


def first_of(value: Array) -> Array:
    """The option with the highest value, ties split evenly."""
    return evenly(keep_best(everyone(value), value))


def scaled(value: Array, low: float, high: float) -> Array:
    """Where a value lies between low (0) and high (1); low may be the larger number."""
    return np.asarray((value - low) / (high - low), dtype=np.float64)


def within_offer(value: Array) -> Array:
    """Where a value lies between the least (0) and the most (1) on offer; a half if all agree."""
    least = value.min(axis=1, keepdims=True)
    spread = value.max(axis=1, keepdims=True) - least
    flat = spread < TIE
    return np.asarray(np.where(flat, 0.5, (value - least) / np.where(flat, 1.0, spread)))


def centred(value: Array) -> Array:
    """A value less the mean on offer."""
    return np.asarray(value - value.mean(axis=1, keepdims=True), dtype=np.float64)


# --------------------------------------------------------------------------------------- flats


def flat_cheapest_then_largest(offer: Offer) -> Array:
    """Lexicographic, two deep: rent, then size."""
    mask = keep_best(everyone(offer["rent"]), -offer["rent"])
    return evenly(keep_best(mask, offer["size"]))


def flat_affordable_or_bright(offer: Offer) -> Array:
    """The largest affordable flat, or the brightest where none is affordable."""
    cheap = np.asarray(offer["rent"] < 600, dtype=np.bool_)
    largest = evenly(keep_best(cheap, offer["size"]))
    brightest = first_of(offer["light"])
    return np.asarray(np.where(cheap.any(axis=1, keepdims=True), largest, brightest))


def flat_space_for_money(offer: Offer) -> Array:
    """Square metres for each hundred of rent, graded."""
    return softmax(0.7 * offer["size"] / (offer["rent"] / 100))


def flat_middle_one(offer: Offer) -> Array:
    """Extremeness aversion on rent and size, with some weight for light."""
    rent, size = offer["rent"] / 100, offer["size"] / 10
    away = np.abs(rent - np.median(rent, axis=1, keepdims=True))
    away = away + np.abs(size - np.median(size, axis=1, keepdims=True))
    return softmax(-0.9 * away + 0.3 * offer["light"])


# -------------------------------------------------------------------------------------- phones


def phone_by_aspects(offer: Offer) -> Array:
    """Elimination by aspects in a fixed order, skipping an aspect that no phone left has."""
    mask = keep_passing(everyone(offer["price"]), np.asarray(offer["price"] <= 500))
    mask = keep_passing(mask, np.asarray(offer["battery"] >= 16))
    mask = keep_passing(mask, np.asarray(offer["camera"] >= 4))
    return evenly(mask)


def phone_most_duels(offer: Offer) -> Array:
    """The phone that wins the most duels by a majority of the attributes."""
    sides = (-offer["price"], offer["battery"], offer["camera"], -offer["weight"])
    tally = sum(np.sign(side[:, :, None] - side[:, None, :]) for side in sides)
    won = (np.asarray(tally) > 0).sum(axis=2)
    return first_of(won.astype(np.float64))


def phone_weighted_sum(offer: Offer) -> Array:
    """Weighted adding, graded."""
    value = 0.8 * offer["camera"] + 0.15 * offer["battery"] - 0.005 * offer["price"]
    return softmax(value - 0.01 * offer["weight"])


def phone_widest_difference(offer: Offer) -> Array:
    """The attribute that differs most among the phones decides alone."""
    sides = np.stack(
        [
            scaled(offer["price"], 800, 200),
            scaled(offer["battery"], 8, 24),
            scaled(offer["camera"], 1, 5),
            scaled(offer["weight"], 220, 140),
        ],
        axis=2,
    )
    spread = sides.max(axis=1) - sides.min(axis=1)
    widest = spread >= spread.max(axis=1, keepdims=True) - TIE
    return first_of(np.asarray((sides * widest[:, None, :]).sum(axis=2)))


# ------------------------------------------------------------------------------------ holidays


def holiday_ideal_warmth(offer: Offer) -> Array:
    """An ideal temperature with a squared penalty, and a lower price, graded."""
    miss = (offer["temperature"] - 26) / 4
    return softmax(-0.6 * miss**2 - 0.15 * offer["price"] / 100)


def holiday_good_enough(offer: Offer) -> Array:
    """Satisficing on three attributes at once, else the cheapest."""
    fine = (offer["price"] <= 1100) & (offer["travel"] <= 6)
    fine = fine & (offer["temperature"] >= 20) & (offer["temperature"] <= 32)
    fallback = first_of(-offer["price"])
    return np.asarray(np.where(fine.any(axis=1, keepdims=True), evenly(fine), fallback))


def holiday_beach_if_warm(offer: Offer) -> Array:
    """The beach counts only where it is warm; travel always counts; graded."""
    warm = (offer["temperature"] >= 24).astype(np.float64)
    return softmax(0.8 * warm * offer["beach"] - 0.2 * offer["travel"])


def holiday_least_regret(offer: Offer) -> Array:
    """Minimax regret over price, travel and beach, each on its whole scale."""
    sides = np.stack(
        [
            scaled(offer["price"], 1700, 500),
            scaled(offer["travel"], 10, 2),
            scaled(offer["beach"], 1, 5),
        ],
        axis=2,
    )
    regret = sides.max(axis=1, keepdims=True) - sides
    return first_of(np.asarray(-regret.max(axis=2)))


# ---------------------------------------------------------------------------------------- jobs


def job_losses_loom(offer: Offer) -> Array:
    """Gains and losses from the mean on offer, losses counting more than twice, graded."""
    value = np.zeros_like(offer["salary"])
    for name, unit in (("salary", 10.0), ("days", 4.0), ("interest", 1.0)):
        change = centred(offer[name]) / unit
        value = value + np.where(change < 0, 2.25 * change, change)
    return softmax(0.5 * value)


def job_no_weak_point(offer: Offer) -> Array:
    """Maximin over the three attributes, each on its whole scale."""
    sides = (
        scaled(offer["salary"], 30, 70),
        scaled(offer["days"], 20, 36),
        scaled(offer["interest"], 1, 5),
    )
    return first_of(np.asarray(np.minimum.reduce(sides)))


def job_outstanding_somewhere(offer: Offer) -> Array:
    """Disjunctive: top on any attribute will do, else the best paid."""
    great = (offer["salary"] >= 70) | (offer["days"] >= 36) | (offer["interest"] >= 5)
    fallback = first_of(offer["salary"])
    return np.asarray(np.where(great.any(axis=1, keepdims=True), evenly(great), fallback))


def job_enough_money_and_fun(offer: Offer) -> Array:
    """Diminishing returns of salary, and a bonus for work that is interesting enough."""
    bonus = (offer["interest"] >= 4).astype(np.float64)
    return softmax(4.0 * np.log(offer["salary"]) + 1.8 * bonus)


# ---------------------------------------------------------------------------------- treatments


def treatment_benefit_harm_weeks(offer: Offer) -> Array:
    """Lexicographic, three deep, where small differences in benefit do not count."""
    mask = keep_best(everyone(offer["benefit"]), offer["benefit"], slack=10.0)
    mask = keep_best(mask, -offer["harm"])
    return evenly(keep_best(mask, -offer["weeks"]))


def treatment_unharmed_cures(offer: Offer) -> Array:
    """The chance of a cure without side effects, as a product, graded."""
    both = (offer["benefit"] / 100) * (1 - offer["harm"] / 100)
    return softmax(9.0 * both)


def treatment_beats_a_decoy(offer: Offer) -> Array:
    """Weighted adding with a bonus for each option that is worse in every respect, graded."""
    sides = np.stack([offer["benefit"], -offer["harm"], -offer["weeks"]], axis=2)
    mine, other = sides[:, :, None, :], sides[:, None, :, :]
    dominates = (mine >= other).all(axis=3) & (mine > other).any(axis=3)
    value = 0.04 * offer["benefit"] - 0.04 * offer["harm"] - 0.05 * offer["weeks"]
    return softmax(np.asarray(value + 1.5 * dominates.sum(axis=2), dtype=np.float64))


def treatment_harm_must_pay(offer: Offer) -> Array:
    """Harmful treatments are out unless they help very much; then the shortest."""
    bearable = np.asarray((offer["harm"] <= 20) | (offer["benefit"] >= 80), dtype=np.bool_)
    shortest = evenly(keep_best(bearable, -offer["weeks"]))
    mildest = first_of(-offer["harm"])
    return np.asarray(np.where(bearable.any(axis=1, keepdims=True), shortest, mildest))


# -------------------------------------------------------------------------------------- snacks


def snack_rivals_share(offer: Offer) -> Array:
    """Taste less price, and options that resemble each other take from each other, graded."""
    sides = np.stack(
        [
            scaled(offer["price"], 1, 3),
            scaled(offer["taste"], 1, 5),
            scaled(offer["sugar"], 5, 25),
        ],
        axis=2,
    )
    apart = np.abs(sides[:, :, None, :] - sides[:, None, :, :]).sum(axis=3)
    crowd = np.exp(-2.0 * apart).sum(axis=2) - 1.0
    return softmax(np.asarray(0.8 * offer["taste"] - 0.8 * offer["price"] - 2.5 * crowd))


def snack_stands_out(offer: Offer) -> Array:
    """The option least like the average on offer, in whichever direction, graded."""
    far = np.abs(centred(offer["price"])) / 0.5
    far = far + np.abs(centred(offer["taste"])) + np.abs(centred(offer["sugar"])) / 5
    return softmax(0.8 * far)


def snack_drop_the_worst(offer: Offer) -> Array:
    """Drop the sweetest, then the dearest of the rest, then take the tastiest."""
    mask = everyone(offer["price"])
    for name in ("sugar", "price"):
        worst = keep_best(mask, offer[name])
        mask = keep_passing(mask, np.asarray(~worst, dtype=np.bool_))
    return evenly(keep_best(mask, offer["taste"]))


def snack_between_best_and_worst(offer: Offer) -> Array:
    """Taste and price, each by where it lies between the worst and the best on offer, graded."""
    return softmax(3.0 * within_offer(offer["taste"]) + 2.0 * within_offer(-offer["price"]))


RULES: dict[str, SeveralRule] = {
    "flat_cheapest_then_largest": SeveralRule(
        "flats",
        "People take the cheapest flat, and among equally cheap ones the largest.",
        flat_cheapest_then_largest,
    ),
    "flat_affordable_or_bright": SeveralRule(
        "flats",
        "People take the largest flat with a rent below 600, but if every flat costs 600 or more "
        "they take the brightest.",
        flat_affordable_or_bright,
    ),
    "flat_space_for_money": SeveralRule(
        "flats",
        "People tend to the flat with the most square metres per unit of rent (graded).",
        flat_space_for_money,
    ),
    "flat_middle_one": SeveralRule(
        "flats",
        "People tend to the compromise, the flat nearest to the median on offer in rent and in "
        "size, and a little to brighter flats (graded).",
        flat_middle_one,
    ),
    "phone_by_aspects": SeveralRule(
        "phones",
        "People drop phones above 500, then those with under 16 hours of battery, then those with "
        "a camera under 4, skip a step that would drop all, and pick evenly from what is left.",
        phone_by_aspects,
    ),
    "phone_most_duels": SeveralRule(
        "phones",
        "People take the phone that wins the most comparisons with a single other phone, where "
        "being better on more of the four attributes wins.",
        phone_most_duels,
    ),
    "phone_weighted_sum": SeveralRule(
        "phones",
        "People add up camera, battery, price and weight, each with its own weight, and tend to "
        "the highest sum (graded).",
        phone_weighted_sum,
    ),
    "phone_widest_difference": SeveralRule(
        "phones",
        "People look only at the attribute on which the phones differ most for its scale and take "
        "the best phone on it, adding up the attributes that differ equally much.",
        phone_widest_difference,
    ),
    "holiday_ideal_warmth": SeveralRule(
        "holidays",
        "People like 26 degrees best, dislike departures from it by their square, and mind the "
        "price (graded).",
        holiday_ideal_warmth,
    ),
    "holiday_good_enough": SeveralRule(
        "holidays",
        "People pick evenly among holidays of at most 1100, at most 6 hours away and with 20 to "
        "32 degrees, and if there is none they take the cheapest.",
        holiday_good_enough,
    ),
    "holiday_beach_if_warm": SeveralRule(
        "holidays",
        "People value the beach only where it has 24 degrees or more, and mind the hours of "
        "travel everywhere (graded).",
        holiday_beach_if_warm,
    ),
    "holiday_least_regret": SeveralRule(
        "holidays",
        "People take the holiday whose largest shortfall from the best on offer, in price, travel "
        "or beach, is the smallest.",
        holiday_least_regret,
    ),
    "job_losses_loom": SeveralRule(
        "jobs",
        "People compare salary, leave and interest with the mean on offer, and falling short "
        "counts 2.25 times as much as being ahead (graded).",
        job_losses_loom,
    ),
    "job_no_weak_point": SeveralRule(
        "jobs",
        "People take the job whose weakest attribute, for its scale, is the strongest.",
        job_no_weak_point,
    ),
    "job_outstanding_somewhere": SeveralRule(
        "jobs",
        "People pick evenly among jobs with a salary of 70, 36 days of leave or an interest of 5, "
        "and if there is none they take the best paid.",
        job_outstanding_somewhere,
    ),
    "job_enough_money_and_fun": SeveralRule(
        "jobs",
        "People value salary with diminishing returns and add a bonus if the interest is 4 or "
        "more (graded).",
        job_enough_money_and_fun,
    ),
    "treatment_benefit_harm_weeks": SeveralRule(
        "treatments",
        "People keep the treatments within 10 of the highest benefit, of these take the one with "
        "the fewest side effects, and then the shortest.",
        treatment_benefit_harm_weeks,
    ),
    "treatment_unharmed_cures": SeveralRule(
        "treatments",
        "People tend to the treatment with the highest product of the chance to get better and "
        "the chance of no side effects (graded).",
        treatment_unharmed_cures,
    ),
    "treatment_beats_a_decoy": SeveralRule(
        "treatments",
        "People weigh benefit against side effects and duration, and like a treatment more for "
        "each other one that it dominates (graded).",
        treatment_beats_a_decoy,
    ),
    "treatment_harm_must_pay": SeveralRule(
        "treatments",
        "People drop treatments with side effects above 20 unless the benefit is 80 or more and "
        "take the shortest left, or the fewest side effects if none is left.",
        treatment_harm_must_pay,
    ),
    "snack_rivals_share": SeveralRule(
        "snacks",
        "People like taste and a low price, and a snack loses appeal for each other snack that is "
        "much like it (graded).",
        snack_rivals_share,
    ),
    "snack_stands_out": SeveralRule(
        "snacks",
        "People tend to the snack that is farthest from the average on offer in price, taste and "
        "sugar, in any direction (graded).",
        snack_stands_out,
    ),
    "snack_drop_the_worst": SeveralRule(
        "snacks",
        "People drop the snack with the most sugar, then the dearest of the rest, and take the "
        "tastiest of those left.",
        snack_drop_the_worst,
    ),
    "snack_between_best_and_worst": SeveralRule(
        "snacks",
        "People judge taste and price by where they lie between the worst and the best on offer, "
        "with taste counting more (graded).",
        snack_between_best_and_worst,
    ),
}
