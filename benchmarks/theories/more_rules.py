"""More hidden rules of choice among several options, for a second blind test of rule discovery.

The tasks are those of the first set and the rules are new.  Each rule turns the attributes of the
options on offer into probabilities of choice.  No rule uses the position of an option, the trials
before, or any noise beyond the stated probabilities.
"""

from __future__ import annotations

import numpy as np

from benchmarks.theories.several_rules import (
    TASKS,
    TIE,
    Array,
    Mask,
    Offer,
    SeveralRule,
    evenly,
    everyone,
    keep_best,
    keep_passing,
    scaled,
    softmax,
)

__all__ = ["MORE_RULES", "TASKS"]


# ------------------------------------------------------------------------------------- helpers


def spread_on_offer(value: Array) -> Array:
    """The most less the least on offer, one column a trial."""
    spread = value.max(axis=1, keepdims=True) - value.min(axis=1, keepdims=True)
    return np.asarray(spread, dtype=np.float64)


def lead_of_best(value: Array) -> Array:
    """How far the best on offer is ahead of the second best; zero where two share the lead."""
    ordered = np.sort(value, axis=1)
    return np.asarray(ordered[:, -1:] - ordered[:, -2:-1], dtype=np.float64)


def best_of_others(value: Array) -> Array:
    """For each option, the highest value among the other options."""
    ordered = np.sort(value, axis=1)
    top, second = ordered[:, -1:], ordered[:, -2:-1]
    return np.asarray(np.where(value >= top - TIE, second, top), dtype=np.float64)


def chain(*values: Array) -> Array:
    """Best on the first value, ties to the next value, and what is still tied split evenly."""
    mask: Mask = everyone(values[0])
    for value in values:
        mask = keep_best(mask, value)
    return evenly(mask)


def points_in_duels(value: Array) -> Array:
    """One point for each other option beaten and a half for each tie."""
    sign = np.sign(value[:, :, None] - value[:, None, :])
    return np.asarray(((sign + 1.0) / 2.0).sum(axis=2) - 0.5, dtype=np.float64)


# --------------------------------------------------------------------------------------- flats


def flat_cheap_market_first(offer: Offer) -> Array:
    """The order of the attributes depends on the lowest rent on offer."""
    easy = offer["rent"].min(axis=1, keepdims=True) < 500
    by_size = chain(offer["size"], -offer["rent"])
    by_rent = chain(-offer["rent"], offer["light"])
    return np.asarray(np.where(easy, by_size, by_rent), dtype=np.float64)


def flat_light_earns_rent(offer: Offer) -> Array:
    """A budget that grows with the light; within it the largest, else the cheapest."""
    allowed: Mask = np.asarray(offer["rent"] <= 350 + 75 * offer["light"], dtype=np.bool_)
    largest = evenly(keep_best(keep_best(allowed, offer["size"]), -offer["rent"]))
    cheapest = chain(-offer["rent"])
    found = allowed.any(axis=1, keepdims=True)
    return np.asarray(np.where(found, largest, cheapest), dtype=np.float64)


# -------------------------------------------------------------------------------------- phones


def phone_most_ticks(offer: Offer) -> Array:
    """Tallying of thresholds passed, ties to the cheaper phone."""
    ticks = (offer["price"] <= 500).astype(np.float64)
    ticks = ticks + (offer["battery"] >= 16) + (offer["camera"] >= 3) + (offer["weight"] <= 180)
    return chain(np.asarray(ticks, dtype=np.float64), -offer["price"])


def phone_points_for_ranks(offer: Offer) -> Array:
    """Only ranks on offer count, with weights by the order of importance, graded."""
    points = 4.0 * points_in_duels(offer["battery"]) + 3.0 * points_in_duels(-offer["price"])
    points = points + 2.0 * points_in_duels(-offer["weight"]) + points_in_duels(offer["camera"])
    return softmax(np.asarray(0.3 * points, dtype=np.float64))


def phone_nothing_extreme(offer: Offer) -> Array:
    """Each attribute on which a phone is the highest or the lowest on offer counts against it."""
    extremes = np.zeros_like(offer["price"])
    for name in ("price", "battery", "camera", "weight"):
        value = offer[name]
        highest = value >= value.max(axis=1, keepdims=True) - TIE
        lowest = value <= value.min(axis=1, keepdims=True) + TIE
        extremes = extremes + (highest | lowest)
    return softmax(np.asarray(-1.2 * extremes, dtype=np.float64))


# ------------------------------------------------------------------------------------ holidays


def holiday_like_the_dream(offer: Offer) -> Array:
    """Similarity to an imagined holiday, falling off with the straight-line distance."""
    square = ((offer["price"] - 500) / 1200) ** 2 + ((offer["temperature"] - 28) / 20) ** 2
    square = square + ((offer["travel"] - 2) / 8) ** 2 + ((offer["beach"] - 5) / 4) ** 2
    return softmax(np.asarray(-6.0 * np.sqrt(square), dtype=np.float64))


def holiday_too_cheap(offer: Offer) -> Array:
    """A lower price is better until it is suspicious; the beach adds; graded."""
    felt = np.where(offer["price"] < 800, 1700.0, offer["price"])
    return softmax(np.asarray(0.6 * offer["beach"] - 0.3 * felt / 100, dtype=np.float64))


def holiday_summed_regret(offer: Offer) -> Array:
    """Regret summed over every other holiday and attribute, growing faster than the shortfall."""
    regret = np.zeros_like(offer["price"])
    sides = (
        6.0 * scaled(offer["price"], 1700, 500),
        4.0 * scaled(offer["travel"], 10, 2),
        6.0 * scaled(offer["beach"], 1, 5),
    )
    for side in sides:
        behind = side[:, None, :] - side[:, :, None]
        regret = regret + np.logaddexp(0.0, behind).sum(axis=2)
    return softmax(np.asarray(-0.5 * regret, dtype=np.float64))


# ---------------------------------------------------------------------------------------- jobs


def job_clear_lead(offer: Offer) -> Array:
    """Take the best on the first attribute with a noticeable lead, else the most interesting."""
    on_salary = chain(offer["salary"])
    on_days = chain(offer["days"])
    on_interest = chain(offer["interest"], offer["salary"])
    days_lead = lead_of_best(offer["days"]) >= 8 - TIE
    salary_lead = lead_of_best(offer["salary"]) >= 20 - TIE
    later = np.where(days_lead, on_days, on_interest)
    return np.asarray(np.where(salary_lead, on_salary, later), dtype=np.float64)


def job_against_the_best_rival(offer: Offer) -> Array:
    """Each attribute is set against the best that any other job offers on it, graded."""
    value = np.zeros_like(offer["salary"])
    for name, unit, weight in (("salary", 10, 1.0), ("interest", 1, 0.7), ("days", 4, 0.4)):
        value = value + weight * (offer[name] - best_of_others(offer[name])) / unit
    return softmax(np.asarray(0.7 * value, dtype=np.float64))


def job_one_makes_up(offer: Offer) -> Array:
    """Shortfalls of salary and interest multiply, so one of the two is enough; leave adds."""
    both_short = (70 - offer["salary"]) / 10 * (5 - offer["interest"])
    return softmax(np.asarray(-0.3 * both_short + 0.06 * offer["days"], dtype=np.float64))


# ---------------------------------------------------------------------------------- treatments


def treatment_benefit_waits(offer: Offer) -> Array:
    """A benefit that comes later is worth less, hyperbolically; harm comes at once; graded."""
    now = offer["benefit"] / (1.0 + 0.15 * offer["weeks"])
    return softmax(np.asarray(0.08 * now - 0.03 * offer["harm"], dtype=np.float64))


def treatment_when_harms_differ(offer: Offer) -> Array:
    """Which attribute comes first depends on how much the harms on offer differ."""
    alarming = spread_on_offer(offer["harm"]) > 20
    mildest = chain(-offer["harm"], offer["benefit"])
    strongest = chain(offer["benefit"], -offer["weeks"])
    return np.asarray(np.where(alarming, mildest, strongest), dtype=np.float64)


def treatment_ratios(offer: Offer) -> Array:
    """Proportions, not differences: each attribute as a share of the pair's sum, graded."""
    value = np.zeros_like(offer["benefit"])
    for name, weight in (("benefit", 7.0), ("harm", -2.0), ("weeks", -1.5)):
        mine, other = offer[name][:, :, None], offer[name][:, None, :]
        value = value + weight * (mine / (mine + other)).sum(axis=2)
    return softmax(np.asarray(value, dtype=np.float64))


# -------------------------------------------------------------------------------------- snacks


def snack_second_cheapest(offer: Offer) -> Array:
    """Not the lowest price on offer but the next, then the tastier, then the less sweet."""
    mask = everyone(offer["price"])
    cheapest = keep_best(mask, -offer["price"])
    mask = keep_passing(mask, np.asarray(~cheapest, dtype=np.bool_))
    mask = keep_best(keep_best(mask, -offer["price"]), offer["taste"])
    return evenly(keep_best(mask, -offer["sugar"]))


def snack_sugar_hides_taste(offer: Offer) -> Array:
    """Sugar is liked where the taste is poor and disliked where it is good, graded."""
    cover = (3 - offer["taste"]) * (offer["sugar"] - 15) / 5
    value = 0.4 * cover + 0.3 * offer["taste"] - 0.6 * offer["price"]
    return softmax(np.asarray(value, dtype=np.float64))


MORE_RULES: dict[str, SeveralRule] = {
    "flat_cheap_market_first": SeveralRule(
        "flats",
        "If the cheapest flat on offer costs less than 500, people take the largest flat and "
        "among those the cheapest; otherwise the cheapest and among those the brightest.",
        flat_cheap_market_first,
    ),
    "flat_light_earns_rent": SeveralRule(
        "flats",
        "People will pay up to 350 plus 75 for each point of daylight; of the flats within that "
        "they take the largest, then the cheaper, and if there is none the cheapest of all.",
        flat_light_earns_rent,
    ),
    "phone_most_ticks": SeveralRule(
        "phones",
        "People count how many hold of a price of at most 500, 16 hours of battery or more, a "
        "camera of 3 or more and at most 180 grams; the highest count wins, then the lower price.",
        phone_most_ticks,
    ),
    "phone_points_for_ranks": SeveralRule(
        "phones",
        "People look only at how many other phones a phone beats on each attribute, weighing "
        "battery by 4, price by 3, lightness by 2 and camera by 1 (graded).",
        phone_points_for_ranks,
    ),
    "phone_nothing_extreme": SeveralRule(
        "phones",
        "People avoid a phone the more, the more attributes there are on which it is the highest "
        "or the lowest on offer, good or bad alike (graded).",
        phone_nothing_extreme,
    ),
    "holiday_like_the_dream": SeveralRule(
        "holidays",
        "People tend to the holiday most similar to the one they dream of, at 500, 28 degrees, 2 "
        "hours away and a beach of 5, by straight-line distance with each scale alike (graded).",
        holiday_like_the_dream,
    ),
    "holiday_too_cheap": SeveralRule(
        "holidays",
        "People like a low price and a good beach, but distrust a price below 800 and dislike it "
        "as much as a price of 1700 (graded).",
        holiday_too_cheap,
    ),
    "holiday_summed_regret": SeveralRule(
        "holidays",
        "People sum up the regret towards every other holiday in price, travel and beach, where "
        "being behind hurts more than being ahead comforts, and tend to the least (graded).",
        holiday_summed_regret,
    ),
    "job_clear_lead": SeveralRule(
        "jobs",
        "If the best salary leads by 20 or more people take it; else, if the most leave leads by "
        "8 days or more, that; else the most interesting job, ties to the better paid.",
        job_clear_lead,
    ),
    "job_against_the_best_rival": SeveralRule(
        "jobs",
        "People set each job's salary, interest and leave against the best that any other job "
        "offers on it and add up the weighted differences (graded).",
        job_against_the_best_rival,
    ),
    "job_one_makes_up": SeveralRule(
        "jobs",
        "People mind a salary short of 70 only as far as the interest is short of 5 as well, as "
        "the product of the two, and like leave a little (graded).",
        job_one_makes_up,
    ),
    "treatment_benefit_waits": SeveralRule(
        "treatments",
        "People divide the benefit by 1 plus 0.15 for each week it takes, and weigh that against "
        "the side effects, which are not discounted (graded).",
        treatment_benefit_waits,
    ),
    "treatment_when_harms_differ": SeveralRule(
        "treatments",
        "If side effects on offer differ by more than 20, people take the fewest, then the higher "
        "benefit; otherwise the highest benefit, then the shortest.",
        treatment_when_harms_differ,
    ),
    "treatment_ratios": SeveralRule(
        "treatments",
        "People compare treatments in pairs by proportion, each number as a share of the sum of "
        "the two, for benefit, side effects and weeks (graded).",
        treatment_ratios,
    ),
    "snack_second_cheapest": SeveralRule(
        "snacks",
        "People pass over the lowest price on offer and take the next lowest, then the tastier, "
        "then the one with less sugar; if all cost the same they start with taste.",
        snack_second_cheapest,
    ),
    "snack_sugar_hides_taste": SeveralRule(
        "snacks",
        "People like sugar in a snack with a taste under 3 and dislike it in one above 3, and "
        "like taste and a low price a little (graded).",
        snack_sugar_hides_taste,
    ),
}
