"""Hidden rules of choice among several options or levels, for an eighth blind test of rule discovery.

They are rules as a psychologist would state them: screening and then one attribute, "if ... then ... else", rank and
likeness among the options on offer, one's own last choice, a belief about another player, and soft weights of levels.
All were written before any code of induction was read. ``offer["last"]`` is 1 for the option chosen last, and 0 for
all options at first; only rules with ``uses_last`` look at it.
"""

from __future__ import annotations

import numpy as np

from benchmarks.theories.several_rules import (
    Array,
    Offer,
    SeveralRule,
    evenly,
    everyone,
    first_of,
    keep_best,
    keep_passing,
    softmax,
)

N_LISTED = 400


def listed(seed: int, own: dict[str, list[float]], shared: dict[str, list[float]], k: int) -> str:
    """Trials of ``k`` options with random values of attributes, some of which all options share."""
    rng = np.random.default_rng(seed)
    rows = []
    for _ in range(N_LISTED):
        lines = [f"{name} = {rng.choice(values, k).tolist()}" for name, values in own.items()]
        lines += [f"{name} = {[rng.choice(values).item()] * k}" for name, values in shared.items()]
        rows.append("[[space.listed]]\n" + "\n".join(lines) + "\n")
    return "\n".join(rows)


HOTELS = """
name = "hotels"
question = "Which hotel would you book?"
options = ["A", "B", "C", "D"]
instructions = ["Choose a hotel. What you can spend is stated."]
[attributes.price]
label = "Price per night"
kind = "number"
levels = [40, 60, 80, 100, 120, 140]
better = "less"
[attributes.rating]
label = "Guests' rating, from 1 to 6"
kind = "rating"
levels = [1, 2, 3, 4, 5, 6]
better = "more"
[attributes.walk]
label = "Minutes on foot to the centre"
kind = "number"
levels = [5, 10, 15, 20, 30]
better = "less"
[attributes.budget]
label = "You can spend"
kind = "number"
levels = [50, 70, 90, 110]
[space]
dominated = true
""" + listed(
    1,
    {"price": [40, 60, 80, 100, 120, 140], "rating": [1, 2, 3, 4, 5, 6], "walk": [5, 10, 15, 20, 30]},
    {"budget": [50, 70, 90, 110]},
    4,
)  # fmt: skip

LAPTOPS = """
name = "laptops"
question = "Which laptop would you buy?"
options = ["A", "B", "C"]
instructions = ["Choose a laptop."]
[attributes.price]
label = "Price"
kind = "number"
levels = [400, 500, 600, 700, 800, 900]
better = "less"
[attributes.quality]
label = "Quality in a test, from 1 to 7"
kind = "rating"
levels = [1, 2, 3, 4, 5, 6, 7]
better = "more"
[attributes.battery]
label = "Hours of battery"
kind = "number"
levels = [4, 6, 8, 10, 12]
better = "more"
[space]
trials = 400
dominated = true
"""

LUNCH = (
    """
name = "lunch"
question = "Which dish do you take?"
options = ["Pasta", "Curry", "Salad", "Soup", "Pizza"]
in_order = true
instructions = ["You choose lunch day after day. How much time you have is stated."]
[attributes.wait]
label = "Minutes of waiting"
kind = "number"
levels = [2, 5, 10, 15, 20]
better = "less"
[attributes.taste]
label = "Colleagues' rating, from 1 to 5"
kind = "rating"
levels = [1, 2, 3, 4, 5]
better = "more"
[attributes.break]
label = "Minutes of your break"
kind = "number"
levels = [15, 25, 35, 45, 60]
[space]
dominated = true
""".replace("attributes.break", "attributes.pause")
    + listed(
        2,
        {"wait": [2, 5, 10, 15, 20], "taste": [1, 2, 3, 4, 5]},
        {"pause": [15, 25, 35, 45, 60]},
        5,
    )
)

WINES = """
name = "wines"
question = "Which wine would you order?"
options = ["A", "B", "C", "D", "E"]
instructions = ["Choose a wine from the list."]
[attributes.price]
label = "Price of the bottle"
kind = "number"
levels = [8, 12, 16, 20, 24, 28, 32]
better = "less"
[attributes.points]
label = "Points of a critic"
kind = "rating"
levels = [80, 84, 88, 92, 96]
better = "more"
[attributes.age]
label = "Age in years"
kind = "number"
levels = [1, 2, 4, 6, 8]
[space]
trials = 400
dominated = true
"""

TRUST = """
name = "trust"
question = "How much do you give?"
options = { from = 0, to = 4, step = 1, unit = "coins" }
instructions = ["You and another player give coins to each other, round after round."]
[attributes.gift]
label = "You give"
kind = "number"
levels = [0, 1, 2, 3, 4]
[attributes.other_last]
label = "The other player gave in the last round"
kind = "number"
levels = [0, 1, 2, 3, 4]
[attributes.other_before]
label = "The other player gave in the round before"
kind = "number"
levels = [0, 1, 2, 3, 4]
[attributes.value]
label = "A coin is worth to the receiver"
kind = "number"
levels = [0.5, 1.0, 1.5, 2.0, 3.0]
[space]
dominated = true
same = "in this order"
"""

WORK = """
name = "work"
question = "How many extra hours do you work?"
options = { from = 0, to = 4, step = 1, unit = "hours" }
instructions = ["You choose how many extra hours you work."]
[attributes.hours]
label = "Extra hours"
kind = "number"
levels = [0, 1, 2, 3, 4]
[attributes.wage]
label = "Wage per hour"
kind = "number"
levels = [4, 6, 8, 10, 12, 14, 16, 18, 20]
[attributes.tired]
label = "Tiredness, from 0 to 5"
kind = "number"
levels = [0, 1, 2, 3, 4, 5]
[attributes.evenings]
label = "Free evenings of the week"
kind = "number"
levels = [0, 1, 2, 3]
[space]
dominated = true
same = "in this order"
"""

SPLIT = """
name = "split"
question = "Which division do you choose?"
options = ["A", "B", "C", "D"]
instructions = ["You divide money between yourself and another person."]
[attributes.own]
label = "You get"
kind = "own"
levels = [0, 2, 4, 6, 8, 10, 12]
better = "more"
[attributes.other]
label = "The other person gets"
kind = "other"
levels = [0, 2, 4, 6, 8, 10, 12]
[space]
trials = 400
dominated = true
"""


def steps_listed(name: str, shared: dict[str, list[float]], seed: int) -> str:
    """Trials whose five options are the levels 0 to 4 of one attribute, beside what all levels share."""
    rng = np.random.default_rng(seed)
    grid = np.stack(np.meshgrid(*shared.values(), indexing="ij"), axis=-1).reshape(-1, len(shared))
    rows = []
    for values in rng.permutation(grid)[:N_LISTED]:
        lines = [f"{name} = [0, 1, 2, 3, 4]"]
        lines += [f"{key} = {[value.item()] * 5}" for key, value in zip(shared, values, strict=True)]  # fmt: skip
        rows.append("[[space.listed]]\n" + "\n".join(lines) + "\n")
    return "\n".join(rows)


_LEVELS = [0.0, 1.0, 2.0, 3.0, 4.0]
TRUST += steps_listed(
    "gift", {"other_last": _LEVELS, "other_before": _LEVELS, "value": [0.5, 1.0, 1.5, 2.0, 3.0]}, 3
)
WORK += steps_listed(
    "hours",
    {
        "wage": [float(wage) for wage in range(4, 21, 2)],
        "tired": [*_LEVELS, 5.0],
        "evenings": _LEVELS[:4],
    },
    4,
)

EIGHTH_TASKS = {
    "hotels": HOTELS,
    "laptops": LAPTOPS,
    "lunch": LUNCH,
    "wines": WINES,
    "trust": TRUST,
    "work": WORK,
    "split": SPLIT,
}


# ------------------------------------------------------------------------ screening and orders


def hotel_within_budget(offer: Offer) -> Array:
    """Drop hotels dearer than the budget, then the best rated; the cheapest if none is affordable."""
    payable = np.asarray(offer["price"] <= offer["budget"], dtype=np.bool_)
    best = evenly(keep_best(payable, offer["rating"]))
    return np.where(payable.any(axis=1, keepdims=True), best, first_of(-offer["price"]))


def hotel_decent_near_cheap(offer: Offer) -> Array:
    """Drop ratings below 3 if possible, then the nearest, then the cheapest."""
    mask = keep_passing(everyone(offer["price"]), np.asarray(offer["rating"] >= 3))
    mask = keep_best(mask, -offer["walk"])
    return evenly(keep_best(mask, -offer["price"]))


def laptop_cheapest_good_one(offer: Offer) -> Array:
    """The cheapest among those with quality of at least 5, else the best."""
    good = np.asarray(offer["quality"] >= 5, dtype=np.bool_)
    cheapest = evenly(keep_best(good, -offer["price"]))
    return np.where(good.any(axis=1, keepdims=True), cheapest, first_of(offer["quality"]))


# ----------------------------------------------------------------------------------- conditions


def laptop_price_if_far_apart(offer: Offer) -> Array:
    """If prices differ by 300 or more the cheapest, else the best quality."""
    far = np.ptp(offer["price"], axis=1, keepdims=True) >= 300
    return np.where(far, first_of(-offer["price"]), first_of(offer["quality"]))


def lunch_in_a_hurry(offer: Offer) -> Array:
    """With a break of 25 minutes or less the shortest wait, else the best taste."""
    hurry = offer["pause"] <= 25
    return np.where(hurry, first_of(-offer["wait"]), first_of(offer["taste"]))


def wine_points_if_outstanding(offer: Offer) -> Array:
    """Where a wine has 96 points, points count a lot and price little; else the other way round."""
    star = (offer["points"] == 96).any(axis=1, keepdims=True)
    by_points = softmax(0.5 * (offer["points"] - 80) - 0.05 * offer["price"])
    by_price = softmax(0.05 * (offer["points"] - 80) - 0.3 * offer["price"])
    return np.where(star, by_points, by_price)


# -------------------------------------------------------------------------- rank and likeness


def wine_second_cheapest(offer: Offer) -> Array:
    """The second lowest price on the list; of equals the one with more points."""
    price = offer["price"]
    lowest = price.min(axis=1, keepdims=True)
    others = price > lowest
    second = np.where(others, price, np.inf).min(axis=1, keepdims=True)
    mask = np.where(others.any(axis=1, keepdims=True), price == second, True)
    return evenly(keep_best(mask, offer["points"]))


def wine_like_the_dearest(offer: Offer) -> Array:
    """Of the wines that are not the dearest, those whose points are nearest to the dearest one's; then the cheapest."""
    dearest = keep_best(everyone(offer["price"]), offer["price"])
    model = np.where(dearest, offer["points"], -np.inf).max(axis=1, keepdims=True)
    mask = keep_passing(everyone(offer["price"]), ~dearest)
    mask = keep_best(mask, -np.abs(offer["points"] - model))
    return evenly(keep_best(mask, -offer["price"]))


# ---------------------------------------------------------------- one's last choice, beliefs


def lunch_not_again(offer: Offer) -> Array:
    """Never the dish of the day before; among the others taste against waiting, soft."""
    value = 0.9 * offer["taste"] - 0.12 * offer["wait"]
    return softmax(np.where(offer["last"] > 0, -1000.0, value))


def trust_follows_the_trend(offer: Offer) -> Array:
    """The other is expected to go on as before (last plus the change); the nearest gift to that, soft."""
    expected = np.clip(2 * offer["other_last"] - offer["other_before"], 0, 4)
    return softmax(-1.5 * np.abs(offer["gift"] - expected))


# -------------------------------------------------------------------------- weights of levels


def work_pays_until_tired(offer: Offer) -> Array:
    """Pay in proportion to hours, against hours squared, which cost more in tired people; soft."""
    hours = offer["hours"]
    return softmax(0.1 * offer["wage"] * hours - (0.1 + 0.06 * offer["tired"]) * hours**2)


def split_never_behind(offer: Offer) -> Array:
    """Own money counts, the other's counts a third, and being behind costs more than own money; soft."""
    own, other = offer["own"], offer["other"]
    return softmax(0.45 * own + 0.15 * other - 0.6 * np.maximum(other - own, 0))


# ------------------------------------------------------------ three more, for one measurement


def laptop_loyal_unless_dear(offer: Offer) -> Array:
    """The seller of last time, unless another one is cheaper by 200 or more; then, and at first, the cheapest."""
    price, last = offer["price"], offer["last"]
    begun = last.any(axis=1, keepdims=True)
    own = np.where(last > 0, price, 0.0).sum(axis=1, keepdims=True)
    stays = begun & (own - price.min(axis=1, keepdims=True) < 200)
    return np.where(stays, last, first_of(-price))


def hotel_short_walk_if_poor(offer: Offer) -> Array:
    """With up to 70 price and walk are weighed; with more the best rating within 15 minutes decides."""
    poor = offer["budget"] <= 70
    weighed = softmax(-0.05 * offer["price"] - 0.08 * offer["walk"])
    near = keep_passing(everyone(offer["walk"]), np.asarray(offer["walk"] <= 15))
    return np.where(poor, weighed, evenly(keep_best(near, offer["rating"])))


def trust_one_below(offer: Offer) -> Array:
    """One coin less than the other gave last if a coin is worth more than 1, else nothing; soft."""
    wanted = np.where(offer["value"] > 1, np.maximum(offer["other_last"] - 1, 0), 0.0)
    return softmax(-1.2 * np.abs(offer["gift"] - wanted))


EIGHTH_BLIND = {
    "hotel_within_budget": SeveralRule(
        "hotels",
        "People drop hotels dearer than the budget and take the best rated of the rest; if all are dearer, the "
        "cheapest.",
        hotel_within_budget,
    ),
    "hotel_decent_near_cheap": SeveralRule(
        "hotels",
        "People drop hotels rated below 3 unless all are, take the nearest of the rest, and of equally near ones the "
        "cheapest.",
        hotel_decent_near_cheap,
    ),
    "laptop_cheapest_good_one": SeveralRule(
        "laptops",
        "People take the cheapest laptop among those with a quality of at least 5, and if there is none, the best.",
        laptop_cheapest_good_one,
    ),
    "laptop_price_if_far_apart": SeveralRule(
        "laptops",
        "If prices differ by 300 or more people take the cheapest laptop, otherwise the one of best quality.",
        laptop_price_if_far_apart,
    ),
    "lunch_in_a_hurry": SeveralRule(
        "lunch",
        "If the break is 25 minutes or shorter people take the dish with the shortest wait, otherwise the tastiest.",
        lunch_in_a_hurry,
    ),
    "wine_points_if_outstanding": SeveralRule(
        "wines",
        "If a wine on the list has 96 points people weigh points heavily and price lightly, otherwise price heavily "
        "and points lightly (graded).",
        wine_points_if_outstanding,
    ),
    "wine_second_cheapest": SeveralRule(
        "wines",
        "People take the wine with the second lowest price, and of equally dear ones the one with more points.",
        wine_second_cheapest,
    ),
    "wine_like_the_dearest": SeveralRule(
        "wines",
        "People pass over the dearest wine and take the one whose points are nearest to those of the dearest; of "
        "equals the cheapest.",
        wine_like_the_dearest,
    ),
    "lunch_not_again": SeveralRule(
        "lunch",
        "People never take the dish that they took last, and among the others weigh taste against waiting (graded).",
        lunch_not_again,
        uses_last=True,
    ),
    "trust_follows_the_trend": SeveralRule(
        "trust",
        "People expect the other player's next gift to continue the change from the round before to the last one, "
        "and give about as much (graded).",
        trust_follows_the_trend,
    ),
    "work_pays_until_tired": SeveralRule(
        "work",
        "People work longer for a higher wage, and the cost of hours rises with their square, more steeply when tired "
        "(graded).",
        work_pays_until_tired,
    ),
    "split_never_behind": SeveralRule(
        "split",
        "People want money for themselves, a third as much for the other person, and dislike getting less than the "
        "other (graded).",
        split_never_behind,
    ),
}
EIGHTH_UNSEEN = {
    "laptop_loyal_unless_dear": SeveralRule(
        "laptops in order",
        "People buy from the same seller again unless another is cheaper by 200 or more, and then take the cheapest.",
        laptop_loyal_unless_dear,
        uses_last=True,
    ),
    "hotel_short_walk_if_poor": SeveralRule(
        "hotels",
        "With a budget of 70 or less people weigh price and walk (graded); with more they take the best rated hotel "
        "within 15 minutes of the centre.",
        hotel_short_walk_if_poor,
    ),
    "trust_one_below": SeveralRule(
        "trust",
        "People give one coin less than the other player did last if a coin is worth more than 1 to the receiver, "
        "and nothing otherwise (graded).",
        trust_one_below,
    ),
}
EIGHTH_TASKS["laptops in order"] = LAPTOPS.replace(
    "[space]", '[space]\nsame = "in this order"'
).replace('"C"]', '"C"]\nin_order = true')
