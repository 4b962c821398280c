"""Hidden rules of choice between two rated products, as plain functions; no search reads them.

Each returns the probability of product B for one trial. A third of the rules that no textbook names were set aside by
lot (`HELD_OUT`) before the search was written, and were not run until it was finished.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Sequence
from typing import NamedTuple

Product = tuple[int, ...]


class Past(NamedTuple):
    """An earlier trial of the same person."""

    a: Product
    b: Product
    choice: int


class Seen(NamedTuple):
    """What a person knows when choosing."""

    a: Product
    b: Product
    validities: tuple[float, ...]
    top: int
    past: Sequence[Past]
    disposition: float
    """Of this person, uniform between 0 and 1."""
    n_presentations: int


Rule = Callable[[Seen], float]


def better(score_b: float, score_a: float, tie: float = 0.5) -> float:
    """1 for a higher score of B, 0 for a lower one."""
    return tie if abs(score_b - score_a) < 1e-9 else float(score_b > score_a)


def logistic(x: float) -> float:
    return 1 / (1 + math.exp(-x))


def weighted(product: Product, weights: Sequence[float]) -> float:
    return sum(w * x for w, x in zip(weights, product, strict=True))


def wins(trial: Seen) -> int:
    """Cues that favour B less those that favour A."""
    return sum((b > a) - (b < a) for a, b in zip(trial.a, trial.b, strict=True))


def one_reason(trial: Seen, order: Sequence[int], tie: float = 0.5) -> float:
    for cue in order:
        if trial.a[cue] != trial.b[cue]:
            return float(trial.b[cue] > trial.a[cue])
    return tie


def by_validity(trial: Seen) -> list[int]:
    return sorted(range(len(trial.a)), key=lambda cue: -trial.validities[cue])


# Canonical rules


def take_the_best(trial: Seen) -> float:
    return one_reason(trial, by_validity(trial))


def tallying(trial: Seen) -> float:
    return better(wins(trial), 0)


def weighted_additive(trial: Seen) -> float:
    return better(weighted(trial.b, trial.validities), weighted(trial.a, trial.validities))


def soft_weighted_additive(trial: Seen) -> float:
    lead = weighted(trial.b, trial.validities) - weighted(trial.a, trial.validities)
    return logistic(3.0 * lead / trial.top)


def diminishing_returns(trial: Seen) -> float:
    def value(product: Product) -> float:
        return weighted(product, [0.0] * len(product)) + sum(
            v * (x / trial.top) ** 0.5 for v, x in zip(trial.validities, product, strict=True)
        )

    return better(value(trial.b), value(trial.a))


def satisficing(trial: Seen) -> float:
    def value(product: Product) -> float:
        return sum(
            v * (x >= 0.6 * trial.top) for v, x in zip(trial.validities, product, strict=True)
        )

    return better(value(trial.b), value(trial.a))


# Rules that no textbook names


def contrarian(trial: Seen) -> float:
    return 1 - weighted_additive(trial)


def third_cue_alone(trial: Seen) -> float:
    cue = by_validity(trial)[2]
    return better(trial.b[cue], trial.a[cue])


def even_total(trial: Seen) -> float:
    return better(-(sum(trial.b) % 2), -(sum(trial.a) % 2))


def exclusive_or_of_the_first_two(trial: Seen) -> float:
    first, second = (trial.b[cue] > trial.a[cue] for cue in by_validity(trial)[:2])
    return float(first != second)


def golden_mean(trial: Seen) -> float:
    middle = trial.top / 2
    return better(
        -abs(sum(trial.b) / len(trial.b) - middle),
        -abs(sum(trial.a) / len(trial.a) - middle),
        one_reason(trial, by_validity(trial)),
    )


def too_good_to_be_true(trial: Seen) -> float:
    lead = (sum(trial.b) - sum(trial.a)) / trial.top
    if abs(lead) > 1.2:
        return better(0, lead)
    return better(lead, 0)


def most_even(trial: Seen) -> float:
    def spread(product: Product) -> float:
        mean = sum(product) / len(product)
        return sum((x - mean) ** 2 for x in product)

    return better(-spread(trial.b), -spread(trial.a), tallying(trial))


def veto_then_tally(trial: Seen) -> float:
    cues = by_validity(trial)[:2]
    refused_a, refused_b = (
        any(product[cue] == 0 for cue in cues) for product in (trial.a, trial.b)
    )
    return tallying(trial) if refused_a == refused_b else float(refused_a)


def expert_unless_all_disagree(trial: Seen) -> float:
    first, *others = by_validity(trial)
    lead = (trial.b[first] > trial.a[first]) - (trial.b[first] < trial.a[first])
    rest = [(trial.b[cue] > trial.a[cue]) - (trial.b[cue] < trial.a[cue]) for cue in others]
    if lead and sum(rest) * lead <= -2:
        return float(lead < 0)
    return better(lead, 0, better(sum(rest), 0))


def take_the_worst(trial: Seen) -> float:
    return one_reason(trial, by_validity(trial)[::-1])


def against_the_best_expert(trial: Seen) -> float:
    first = by_validity(trial)[0]
    return better(trial.a[first], trial.b[first], tallying(trial))


def highest_single_rating(trial: Seen) -> float:
    return better(
        max(trial.b), max(trial.a), better(trial.b.count(max(trial.b)), trial.a.count(max(trial.a)))
    )


def quarrel_goes_to_the_fourth(trial: Seen) -> float:
    first, second, _, fourth = by_validity(trial)
    if (trial.b[first] - trial.a[first]) * (trial.b[second] - trial.a[second]) < 0:
        return better(trial.b[fourth], trial.a[fourth])
    return take_the_best(trial)


def product_of_ratings(trial: Seen) -> float:
    return better(math.prod(x + 1 for x in trial.b), math.prod(x + 1 for x in trial.a))


def synergy(trial: Seen) -> float:
    first, second = by_validity(trial)[:2]

    def value(product: Product) -> float:
        return sum(product) / trial.top + 2.5 * (
            min(product[first], product[second]) > 0.5 * trial.top
        )

    return logistic(2.5 * (value(trial.b) - value(trial.a)))


def fewest_zeros(trial: Seen) -> float:
    return better(-trial.b.count(0), -trial.a.count(0), take_the_best(trial))


def default_needs_three(trial: Seen) -> float:
    return 0.95 if sum(b > a for a, b in zip(trial.a, trial.b, strict=True)) >= 2 else 0.1


def bookends(trial: Seen) -> float:
    order = by_validity(trial)
    first, last, second = order[0], order[-1], order[1]
    lead_first, lead_last = trial.b[first] - trial.a[first], trial.b[last] - trial.a[last]
    if lead_first * lead_last > 0:
        return float(lead_first > 0)
    return better(trial.a[second], trial.b[second])


def remainder_of_three(trial: Seen) -> float:
    return better(sum(trial.b) % 3, sum(trial.a) % 3)


def smallest_regret(trial: Seen) -> float:
    worst_b = max(a - b for a, b in zip(trial.a, trial.b, strict=True))
    worst_a = max(b - a for a, b in zip(trial.a, trial.b, strict=True))
    return better(-worst_b, -worst_a, 0.5)


def shy_in_conflict(trial: Seen) -> float:
    majority, first = tallying(trial), take_the_best(trial)
    strength = 0.95 if majority == first else 0.65
    return majority * strength + (1 - majority) * (1 - strength) if majority != 0.5 else 0.5


def lukewarm_ratings(trial: Seen) -> float:
    peak = max(1, round(0.6 * trial.top))

    def value(product: Product) -> float:
        return (
            sum(v * -abs(x - peak) for v, x in zip(trial.validities, product, strict=True))
            / trial.top
        )

    return logistic(6.0 * (value(trial.b) - value(trial.a)))


def two_kinds_of_people(trial: Seen) -> float:
    return take_the_best(trial) if trial.disposition < 0.6 else 1 - tallying(trial)


def rich_and_poor(trial: Seen) -> float:
    plenty = sum(trial.a) + sum(trial.b) > len(trial.a) * trial.top
    return take_the_best(trial) if plenty else tallying(trial)


def specialist(trial: Seen) -> float:
    """Prefers the product whose best two cues are far apart from its others."""
    return better(
        max(trial.b) - min(trial.b), max(trial.a) - min(trial.a), weighted_additive(trial)
    )


# Rules that depend on one's own past


def alternation(trial: Seen) -> float:
    if not trial.past:
        return tallying(trial)
    return 0.85 if trial.past[-1].choice == 0 else 0.15


def stay_after_agreeing(trial: Seen) -> float:
    """Repeats the side after having chosen the higher total, else changes it."""
    if not trial.past:
        return 0.5
    last = trial.past[-1]
    lead = sum(last.b) - sum(last.a)
    agreed = (lead >= 0) == (last.choice == 1)
    return float(last.choice == 1) if agreed else float(last.choice == 0)


def fatigue(trial: Seen) -> float:
    tired = len(trial.past) / trial.n_presentations
    return (1 - tired) * take_the_best(trial) + tired * 0.5


def sticky_tally(trial: Seen) -> float:
    side = 0 if not trial.past else 2 * trial.past[-1].choice - 1
    return logistic(1.0 * wins(trial) + 1.2 * side)


def never_three_in_a_row(trial: Seen) -> float:
    if len(trial.past) >= 2 and trial.past[-1].choice == trial.past[-2].choice:
        return 1.0 - trial.past[-1].choice
    return weighted_additive(trial)


def taking_turns(trial: Seen) -> float:
    return take_the_best(trial) if len(trial.past) % 2 == 0 else tallying(trial)


def compared_with_what_one_has(trial: Seen) -> float:
    """Takes B where it beats what was chosen last, whatever A is."""
    if not trial.past:
        return tallying(trial)
    last = trial.past[-1]
    had = sum(last.b if last.choice else last.a)
    return better(sum(trial.b), had)


def learns_to_count(trial: Seen) -> float:
    return take_the_best(trial) if len(trial.past) < trial.n_presentations / 2 else tallying(trial)


def best_expert_after_b(trial: Seen) -> float:
    """Follows the best cue after having chosen B, and the last cue after A."""
    order = by_validity(trial)
    after_b = bool(trial.past) and trial.past[-1].choice == 1
    return one_reason(trial, order if after_b else order[::-1])


CANONICAL: dict[str, Rule] = {
    rule.__name__: rule
    for rule in (
        take_the_best,
        tallying,
        weighted_additive,
        soft_weighted_additive,
        diminishing_returns,
        satisficing,
    )
}
ODD: dict[str, Rule] = {
    rule.__name__: rule
    for rule in (
        contrarian,
        third_cue_alone,
        even_total,
        exclusive_or_of_the_first_two,
        golden_mean,
        too_good_to_be_true,
        most_even,
        veto_then_tally,
        expert_unless_all_disagree,
        take_the_worst,
        against_the_best_expert,
        highest_single_rating,
        quarrel_goes_to_the_fourth,
        product_of_ratings,
        synergy,
        fewest_zeros,
        default_needs_three,
        bookends,
        remainder_of_three,
        smallest_regret,
        shy_in_conflict,
        lukewarm_ratings,
        two_kinds_of_people,
        rich_and_poor,
        specialist,
    )
}
HISTORY: dict[str, Rule] = {
    rule.__name__: rule
    for rule in (
        alternation,
        stay_after_agreeing,
        fatigue,
        sticky_tally,
        never_three_in_a_row,
        taking_turns,
        compared_with_what_one_has,
        learns_to_count,
        best_expert_after_b,
    )
}
_LOT = random.Random(20240611)
HELD_OUT = frozenset(
    _LOT.sample(sorted(ODD), len(ODD) // 3) + _LOT.sample(sorted(HISTORY), len(HISTORY) // 3)
)
"""Set aside by lot: never run while the search was being written."""
