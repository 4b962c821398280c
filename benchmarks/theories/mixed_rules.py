"""Rules of two kinds of participants among three to five options, levels and numbers, for a test of rule discovery.

Each rule has two parts; an exact share of the participants follows the first one and the others follow the second one.
Two further rules have one kind of participants, of whom each follows the rule more or less strictly: two kinds must not
be found there.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np

from benchmarks.theories.eighth_blind_rules import (
    hotel_within_budget,
    laptop_cheapest_good_one,
)
from benchmarks.theories.several_rules import (
    Array,
    Offer,
    SeveralRule,
    evenly,
    everyone,
    first_of,
    flat_cheapest_then_largest,
    job_no_weak_point,
    keep_best,
    keep_passing,
    phone_weighted_sum,
    softmax,
    treatment_benefit_harm_weeks,
)

_PLACES = [float(place) for place in range(0, 21, 2)]
GUESSES = """
name = "guesses"
question = "How many coins are in the jar?"
options = { from = 0, to = 20, step = 2, unit = "coins" }
instructions = ["Two other players have guessed. What is your guess?"]
[attributes.guess]
label = "Your guess"
kind = "number"
levels = [0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20]
[attributes.first]
label = "The first player's guess"
kind = "number"
levels = [0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20]
[attributes.second]
label = "The second player's guess"
kind = "number"
levels = [0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20]
[space]
dominated = true
same = "in this order"
""" + "\n".join(
    f"[[space.listed]]\nguess = {_PLACES}\nfirst = {[first] * 11}\nsecond = {[second] * 11}\n"
    for first, second in product(_PLACES, repeat=2)
)
MIXED_TASKS = {"guesses": GUESSES}


def largest_affordable(offer: Offer) -> Array:
    """The largest flat with a rent of at most 600."""
    mask = keep_passing(everyone(offer["rent"]), np.asarray(offer["rent"] <= 600))
    return evenly(keep_best(mask, offer["size"]))


def cheap_phone_with_best_camera(offer: Offer) -> Array:
    """Of the phones that cost at most 500 the one with the best camera."""
    mask = keep_passing(everyone(offer["price"]), np.asarray(offer["price"] <= 500))
    return evenly(keep_best(mask, offer["camera"]))


def best_paid(offer: Offer) -> Array:
    """The best paid job."""
    return first_of(offer["salary"])


def least_harm(offer: Offer) -> Array:
    """The treatment with the fewest side effects, then the shortest."""
    return evenly(keep_best(keep_best(everyone(offer["harm"]), -offer["harm"]), -offer["weeks"]))


def nearest_hotel(offer: Offer) -> Array:
    """The hotel nearest to the centre."""
    return first_of(-offer["walk"])


def best_laptop(offer: Offer) -> Array:
    """Quality and battery, graded."""
    return softmax(0.9 * offer["quality"] + 0.3 * offer["battery"])


def generous(offer: Offer) -> Array:
    """The same as the other player gave last."""
    return softmax(-2.5 * np.abs(offer["gift"] - offer["other_last"]))


def selfish(offer: Offer) -> Array:
    """Hardly anything, more where a coin is worth more."""
    return softmax((-1.8 + 0.5 * offer["value"]) * offer["gift"])


def by_wage(offer: Offer) -> Array:
    """All hours from a wage of 12 on, else none."""
    return first_of(np.where(offer["wage"] >= 12, offer["hours"], -offer["hours"]))


def by_tiredness(offer: Offer) -> Array:
    """As many hours as tiredness leaves."""
    return softmax(-2.0 * np.abs(offer["hours"] - np.maximum(4 - offer["tired"], 0)))


def near_first(offer: Offer) -> Array:
    """About as the first player."""
    return softmax(-0.8 * np.abs(np.array(_PLACES) - offer["first"]))


def near_mean(offer: Offer) -> Array:
    """About the mean of both players."""
    return softmax(-0.8 * np.abs(np.array(_PLACES) - 0.5 * (offer["first"] + offer["second"])))


def oldest_wine(offer: Offer) -> Array:
    """The oldest wine; of several the one with more points."""
    return evenly(keep_best(keep_best(everyone(offer["age"]), offer["age"]), offer["points"]))


def cheap_and_good_wine(offer: Offer) -> Array:
    """Points and price, graded."""
    return softmax(0.25 * offer["points"] - 0.2 * offer["price"])


def fair_split(offer: Offer) -> Array:
    """The most even division, then the larger one."""
    even = keep_best(everyone(offer["own"]), -np.abs(offer["own"] - offer["other"]))
    return evenly(keep_best(even, offer["own"]))


def own_gain(offer: Offer) -> Array:
    """What oneself gets."""
    return first_of(offer["own"])


MIXED_RULES: dict[str, SeveralRule] = {
    "flats_cheap_or_large": SeveralRule(
        "flats",
        "40% take the cheapest flat, then the largest; the others the largest of those up to 600.",
        flat_cheapest_then_largest,
        others=largest_affordable,
        share=0.4,
    ),
    "phones_camera_or_sum": SeveralRule(
        "phones",
        "Half take the best camera of the phones up to 500; the others weigh everything.",
        cheap_phone_with_best_camera,
        others=phone_weighted_sum,
        share=0.5,
    ),
    "jobs_pay_or_balance": SeveralRule(
        "jobs",
        "30% take the best paid job; the others the one whose poorest side is best.",
        best_paid,
        others=job_no_weak_point,
        share=0.3,
    ),
    "treatments_benefit_or_harm": SeveralRule(
        "treatments",
        "45% go by benefit, harm and weeks in this order; the others by the least harm, then weeks.",
        treatment_benefit_harm_weeks,
        others=least_harm,
        share=0.45,
    ),
    "hotels_budget_or_near": SeveralRule(
        "hotels",
        "Half take the best rated hotel within the budget; the others the nearest one.",
        hotel_within_budget,
        others=nearest_hotel,
        share=0.5,
    ),
    "laptops_cheap_or_best": SeveralRule(
        "laptops",
        "40% take the cheapest laptop that is good; the others go by quality and battery.",
        laptop_cheapest_good_one,
        others=best_laptop,
        share=0.4,
    ),
    "trust_reciprocal_or_selfish": SeveralRule(
        "trust",
        "40% give about what the other gave last; the others hardly anything.",
        generous,
        others=selfish,
        share=0.4,
    ),
    "work_wage_or_tired": SeveralRule(
        "work",
        "35% work as long as possible from a wage of 12 on; the others as tiredness leaves.",
        by_wage,
        others=by_tiredness,
        share=0.35,
    ),
    "guesses_first_or_mean": SeveralRule(
        "guesses",
        "Half respond near the first guess; the others near the mean of both.",
        near_first,
        others=near_mean,
        share=0.5,
    ),
    "wines_old_or_good": SeveralRule(
        "wines",
        "30% take the oldest wine; the others go by points and price.",
        oldest_wine,
        others=cheap_and_good_wine,
        share=0.3,
    ),
    "split_fair_or_own": SeveralRule(
        "split",
        "40% choose the most even division; the others what they get most from.",
        fair_split,
        others=own_gain,
        share=0.4,
    ),
}
ONE_KIND: dict[str, SeveralRule] = {
    name: replace(rule, words=words, choose=rule.others or rule.choose, others=None, spread=0.6)
    for name, (rule, words) in {
        "laptops_one": (MIXED_RULES["laptops_cheap_or_best"], "Quality and battery, graded."),
        "wines_one": (MIXED_RULES["wines_old_or_good"], "Points and price, graded."),
    }.items()
}
