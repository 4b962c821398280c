"""Terms for gambles: tables of scores, with places for powers, chances and amounts.

References:
    Tversky & Kahneman (1992), Journal of Risk and Uncertainty 5(4), 297-323 (value by rank); Diecidue & van de Ven
    (2008), International Economic Review 49(2) (chances of reaching a level of aspiration); Reyna & Brainerd (1995),
    Learning and Individual Differences 7(1) (chances as never, perhaps and surely).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from lakatos.experiments.task import Stimuli
from lakatos.theories.language.option_score import (
    CLASSES,
    EXTREME,
    HIGHEST_WHERE,
    LEAD,
    LONGEST_RUN,
    MOST_LEVELS,
    SIDE,
    Array,
    OptionNumbers,
    OptionScore,
    TermVocabulary,
    filled,
)

PRELUDE = """
x, q = trials["outcomes"], trials["probabilities"]
mean = (q * x).sum(axis=-1)
used = q > 0
worst, best = x.min(axis=-1), x.max(axis=-1)
size = xp.maximum(xp.abs(x).max(axis=-1).max(axis=-1), 1e-9)[:, None]
above = xp.cumsum(q[..., ::-1], axis=-1)[..., ::-1]
""".strip()
"""Amounts ``x`` and their probabilities ``q``; ``above`` is the probability of an amount or one after it."""
DEVIATION = "xp.sqrt((q * (x - mean[..., None]) ** 2).sum(axis=-1))"
PLAIN = (
    OptionScore("mean", "expected value", 1, True, True),
    OptionScore("worst", "worst outcome", 1.5, True, True),
    OptionScore("best", "best outcome", 1.5, True, True),
    OptionScore("best - worst", "range of outcomes", 2, True),
    OptionScore("(q * (x - mean[..., None]) ** 2).sum(axis=-1)", "variance", 2),
    OptionScore(DEVIATION, "standard deviation", 2, True),
    OptionScore("(used * x).sum(axis=-1) / used.sum(axis=-1)", "unweighted mean of the outcomes", 2, True),
    OptionScore("used.sum(axis=-1)", "number of outcomes", 2, True),
    OptionScore("(q * (x > 0)).sum(axis=-1)", "probability of a gain", 2, True),
    OptionScore("(q * (x < 0)).sum(axis=-1)", "probability of a loss", 2, True),
    OptionScore("(q * (x >= best[..., None])).sum(axis=-1)", "probability of the best outcome", 2, True),
    OptionScore("(q * (x <= worst[..., None])).sum(axis=-1)", "probability of the worst outcome", 2, True),
    OptionScore("q.max(axis=-1)", "probability of the most likely outcome", 2.5),
    OptionScore("(x * (q == q.max(axis=-1)[..., None])).sum(axis=-1)", "most likely outcome", 2.5, True),
    OptionScore("(q * xp.minimum(x, 0.0)).sum(axis=-1)", "expected loss", 2.5, True),
    OptionScore("(q * xp.maximum(x, 0.0)).sum(axis=-1)", "expected gain", 2.5, True),
    OptionScore("best + worst", "sum of the best and the worst outcome", 3),
    OptionScore("best * (q * (x >= best[..., None])).sum(axis=-1)", "best outcome times its probability", 3),
    OptionScore("worst * (q * (x <= worst[..., None])).sum(axis=-1)", "worst outcome times its probability", 3),
    OptionScore(f"{DEVIATION} / xp.maximum(xp.abs(mean), 1e-9)", "standard deviation in proportion to the mean", 3),
    OptionScore("mean / size", "expected value relative to the largest amount presented", 2.5, True),
    OptionScore("worst / size", "worst outcome relative to the largest amount presented", 2.5, True),
    OptionScore("best / size", "best outcome relative to the largest amount presented", 2.5, True),
    OptionScore("mean / xp.maximum(xp.abs(mean).min(axis=-1), 1e-9)[:, None]",
                "expected value relative to the smaller of both expected values", 3, True),
    OptionScore("(q[..., None] * q[:, ::-1][:, :, None] * (x[..., None] > x[:, ::-1][:, :, None]))"
                ".sum(axis=-1).sum(axis=-1)", "probability of paying more than the other", 2.5),
    OptionScore("(x * (above >= 0.5) * (above - q < 0.5)).sum(axis=-1)", "median outcome", 2.5),
)  # fmt: skip
# Amounts and probabilities bent by powers, and weighed by their rank.
AMOUNT_POWERS = (
    OptionScore("(q * xp.sign(x) * xp.abs(x) ** {power}).sum(axis=-1)", "expected utility (power {power})", 2.5),
    OptionScore("(q * xp.sign(x) * xp.abs(x) ** {power} * xp.where(x < 0, 2.0, 1.0)).sum(axis=-1)",
                "expected utility (power {power}; losses weighted twice)", 3),
)  # fmt: skip
LOGARITHM = (
    OptionScore("(q * xp.sign(x) * xp.log(1 + xp.abs(x))).sum(axis=-1)", "expected utility (logarithm)", 3),
)  # fmt: skip
CHANCE_POWERS = (
    OptionScore("(q ** {power} * x).sum(axis=-1)",
                "expected value (probabilities to the power {power})", 3),
)  # fmt: skip
RANK_CURVES = (
    OptionScore(
        "(({above} - {after}) * x).sum(axis=-1)", "rank-dependent value (curvature {power})", 3
    ),
)
RANK_POWERS = (
    OptionScore("((xp.clip(above, 0.0, 1.0) ** {power} - xp.clip(above - q, 0.0, 1.0) ** {power}) * x).sum(axis=-1)",
                "rank-dependent value (power {power})", 3),
)  # fmt: skip
MULTIPLES = (
    OptionScore("(xp.abs(xp.round(best / {unit}) * {unit} - best) < 1e-6) * 1.0",
                "multiple of {unit} as best outcome", 4),
    OptionScore("(xp.abs(xp.round(worst / {unit}) * {unit} - worst) < 1e-6) * 1.0",
                "multiple of {unit} as worst outcome", 4),
)  # fmt: skip
# Chances of reaching a level of aspiration: an amount, a share of the largest one, and levels that
# the gambles set for themselves and for each other.
ASPIRATIONS = (
    OptionScore(
        "(q * (x >= {amount:g})).sum(axis=-1)", "probability of gaining at least {amount:g}", 3
    ),
)
SHARES_OF_SIZE = (
    OptionScore("(q * (x >= {share:g} * size[..., None])).sum(axis=-1)",
                "probability of at least {share:g} of the largest amount presented", 3),
)  # fmt: skip
OWN_LEVELS = (
    ("best", "best outcome"),
    ("worst", "worst outcome"),
    ("mean", "expected value"),
    ("0.5 * (best + worst)", "midpoint between the best and the worst outcome"),
)
LEVEL_CHANCES = (
    OptionScore("(q * (x >= ({level})[:, ::-1][..., None] - 1e-9)).sum(axis=-1)",
                "probability of at least the other's {words}", 3),
    OptionScore("(q * (x > ({level})[:, ::-1][..., None] + 1e-9)).sum(axis=-1)",
                "probability of more than the other's {words}", 3),
    OptionScore("(q * (x >= ({level})[..., None] - 1e-9)).sum(axis=-1)",
                "probability of at least its own {words}", 3),
    OptionScore("(q * (x > ({level})[..., None] + 1e-9)).sum(axis=-1)",
                "probability of more than its own {words}", 3),
)  # fmt: skip
NEVER_OR_SURELY = (
    OptionScore("(0.5 * (1.0 * (q >= {share:g}) + (q > {rest:g})) * x).sum(axis=-1)",
                "value with probabilities rounded to 0 (below {share:g}), a half or 1 (above {rest:g})", 3),
)  # fmt: skip
# What a gamble may have or not: signs, and chances that count as small, even or large.
SURE_SIGNS = (
    OptionScore("worst >= 0", "paying nothing less than 0", 3.5),
    OptionScore("worst > 0", "paying something for sure", 3.5),
)
CHANCES_REACHING = (
    OptionScore("(q * (x >= best[..., None])).sum(axis=-1) >= {share:g}",
                "a probability of at least {share:g} of the best outcome", 3.5),
    OptionScore("(q * (x <= worst[..., None])).sum(axis=-1) >= {share:g}",
                "a probability of at least {share:g} of the worst outcome", 3.5),
    OptionScore("(q * (x > 0)).sum(axis=-1) >= {share:g}", "a probability of at least {share:g} of a gain", 3.5),
)  # fmt: skip

# What more is made of, once a first look at the scores has been taken: lists of numbers, one for each outcome.
GAMBLE_LISTS = (
    OptionNumbers("x", "outcomes", 1.0),
    OptionNumbers("q", "probabilities", 1.0),
    OptionNumbers("(q * x)", "outcomes times probabilities", 1.0),
    OptionNumbers("(used * x)", "outcomes with a probability above 0", 1.5),
    OptionNumbers("(q * (x > 0))", "probabilities of gains", 2.0),
    OptionNumbers("(q * (x < 0))", "probabilities of losses", 2.0),
)
# Of gambles: amounts where chances are extreme, what only one gamble has (Kahneman & Tversky (1979),
# Econometrica 47(2), 263-291), and amounts beside their chances.
LIKELY_AMOUNTS = (
    OptionScore("highest_where({where}, x, xp)", "{words} outcome, the best of several", 3.5),
    OptionScore("-highest_where({where}, -x, xp)", "{words} outcome, the worst of several", 3.5),
)  # fmt: skip
LIKELY_PLACES = (
    ("extreme(xp.where(used, q, -1.0), 'max', xp)", "most likely"),
    ("extreme(xp.where(used, q, 2.0), 'min', xp)", "least likely"),
)
SHARED = "((xp.abs(x[..., None] - x[:, ::-1, None]) < 1e-9) * used[:, ::-1, None]).any(axis=-1)"
OWN = f"(used * (1 - {SHARED}) > 0)"
OWN_AMOUNTS = (
    OptionScore(f"xp.where({OWN}.any(axis=-1), highest_where({OWN}, x, xp), 0.0)",
                "best outcome that the other does not have, 0 if there is none", 3.5),
    OptionScore(f"xp.where({OWN}.any(axis=-1), -highest_where({OWN}, -x, xp), 0.0)",
                "worst outcome that the other does not have, 0 if there is none", 3.5),
    OptionScore(f"(q * {SHARED}).sum(axis=-1)", "probability of outcomes that the other has too", 3.5),
)  # fmt: skip
AMOUNTS_BESIDE_CHANCES = (
    OptionScore("highest_where(used, ({scale}), xp)", "largest difference between {amounts}", 4),
    OptionScore("-highest_where(used, -({scale}), xp)", "smallest difference between {amounts}", 4),
    OptionScore("highest_where(used, xp.abs({scale}), xp)", "largest distance between {amounts}", 4),
    OptionScore("-highest_where(used, -xp.abs({scale}), xp)", "smallest distance between {amounts}", 4),
)  # fmt: skip
SCALES = (
    ("x - 100 * q", "outcome and its probability in percent"),
    ("x / size[..., None] - q", "outcome relative to the largest amount and its probability"),
)


def gamble_vocabulary(stimuli: Sequence[Stimuli]) -> TermVocabulary:
    """Terms for gambles that are shown as amounts and probabilities; ``stimuli``: one per experiment."""
    helpers = (LEAD, SIDE, LONGEST_RUN, EXTREME, HIGHEST_WHERE, CLASSES)
    scores = tuple(_gamble_scores(_amounts(stimuli)))
    return TermVocabulary(
        helpers, PRELUDE, scores, lists=GAMBLE_LISTS, further=tuple(picked()), noun="gamble"
    )


def _amounts(stimuli: Sequence[Stimuli]) -> Array:
    """Amounts that occur, ascending, thinned out evenly by frequency where there are many."""
    found = [item["outcomes"][item["probabilities"] > 0] for item in stimuli]
    amounts: Array = np.unique(np.concatenate(found))
    most = 2 * MOST_LEVELS
    if len(amounts) > most:
        amounts = np.unique(np.quantile(amounts, np.linspace(0, 1, most), method="nearest"))
    return amounts


def _gamble_scores(amounts: Array) -> Iterator[OptionScore]:
    yield from PLAIN
    for power in (0.3, 0.5, 0.7, 0.88, 1.5):
        yield from filled(AMOUNT_POWERS, power=power)
    yield from LOGARITHM
    for power in (0.5, 0.7, 2.0):
        yield from filled(CHANCE_POWERS, power=power)
    for power in (0.4, 0.6, 0.8):
        above, after = (_rank_weight(p, power) for p in ("above", "above - q"))
        yield from filled(RANK_CURVES, above=above, after=after, power=power)
    for power in (0.5, 2.0):
        yield from filled(RANK_POWERS, power=power)
    for unit in (2, 5, 10):
        yield from filled(MULTIPLES, unit=unit)
    for amount in amounts[1:]:
        yield from filled(ASPIRATIONS, amount=amount)
    for share in (0.25, 0.5, 0.75):
        yield from filled(SHARES_OF_SIZE, share=share)
    for level, words in OWN_LEVELS:
        yield from filled(LEVEL_CHANCES, level=level, words=words)
    for share in (0.1, 0.2, 0.3):
        yield from filled(NEVER_OR_SURELY, share=share, rest=1 - share)
    yield from SURE_SIGNS
    for share in (0.1, 0.2, 0.5, 0.8, 0.9):
        yield from filled(CHANCES_REACHING, share=share)


def _rank_weight(chance: str, power: float) -> str:
    """Code of the weight that Tversky & Kahneman (1992), equation 6, give a cumulative probability."""
    p = f"xp.clip({chance}, 0.0, 1.0)"
    return f"{p} ** {power} / ({p} ** {power} + (1 - {p}) ** {power}) ** {1 / power:.4g}"


def picked() -> Iterator[OptionScore]:
    """Yield values of one list where another is highest or lowest; of several such places the best or the worst."""
    for where, words in LIKELY_PLACES:
        yield from filled(LIKELY_AMOUNTS, where=where, words=words)
    yield from OWN_AMOUNTS
    for scale, amounts in SCALES:
        yield from filled(AMOUNTS_BESIDE_CHANCES, scale=scale, amounts=amounts)
