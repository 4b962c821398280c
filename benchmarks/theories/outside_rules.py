"""Hidden rules that were written before their author had read the vocabulary of induction or of any family.

A lot with a fixed seed divides them: `DEVELOPMENT` may be looked at while the program is improved, `HELD_OUT` is run
once. Noise is a declared lapse, so that the rule without noise is what theories are compared with; graded rules have
none. In mixtures, each person draws ``kind`` and follows one of two rules.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.theories.rule import BINARY, Rule

WIDE = {"validities": [0.9, 0.8, 0.7, 0.65, 0.6], "levels": [0, 1], "dominated": True}
FIVE_STARS = {"validities": [0.85, 0.75, 0.65], "levels": [1, 2, 3, 4, 5]}
RATINGS = 'a, b = trials["ratings"][:, 0], trials["ratings"][:, 1]\n'
GAMBLES = (
    'x, q = trials["outcomes"], trials["probabilities"]\n'
    "mean = (x * q).sum(axis=-1)\nleast, most = x.min(axis=-1), x.max(axis=-1)\n"
)
DATED = (
    'amounts, days = trials["amounts"], trials["delays_days"]\n'
    "later = days[:, 1] > days[:, 0]\n"
    "small, large = amounts.min(axis=-1), amounts.max(axis=-1)\n"
    "soon, late = days.min(axis=-1), days.max(axis=-1)\n"
)
FOLLOW = "p = xp.where(lead > 0, 1.0, xp.where(lead < 0, 0.0, 0.5))[None]\n"
NOISY = 'return parameters["lapse"] / 2 + (1 - parameters["lapse"]) * p'
KINDS = {"kind": {"prior": "uniform", "low": 0.0, "high": 1.0}}


def lapse(share: float) -> dict[str, dict[str, Any]]:
    """The declaration of a share of random choices, the same for all people but for a tenth."""
    return {"lapse": {"prior": "uniform", "low": 0.9 * share, "high": 1.1 * share}}


RULES = {
    "worst then best rating": Rule(
        "multiattribute",
        "people compare the worst ratings, then the best ones, and take the first product if both are equal",
        RATINGS
        + "worst = b.min(axis=-1) - a.min(axis=-1)\nbest = b.max(axis=-1) - a.max(axis=-1)\n"
        "lead = xp.where(worst != 0, worst, xp.where(best != 0, best, -1.0))\n" + FOLLOW + NOISY,
        parameters=lapse(0.08),
    ),
    "product of two": Rule(
        "multiattribute",
        "people multiply the ratings of the first two experts and are the surer the larger the difference",
        RATINGS
        + "lead = b[:, :2].prod(axis=-1) - a[:, :2].prod(axis=-1)\nreturn 1 / (1 + xp.exp(-0.6 * lead))[None]",
    ),
    "odd disagreement": Rule(
        "multiattribute",
        "people follow the best expert if an odd number of experts tell the products apart, and else the worst",
        RATINGS + "odd = (a != b).sum(axis=-1) % 2 == 1\n"
        "lead = xp.where(odd, b[:, 0] - a[:, 0], b[:, -1] - a[:, -1])\n" + FOLLOW + NOISY,
        WIDE,
        parameters=lapse(0.05),
    ),
    "two kinds of raters": Rule(
        "multiattribute",
        "half of the people follow the last expert, the others add up all ratings",
        RATINGS
        + "by_last, by_sum = xp.sign(b[:, -1] - a[:, -1]), xp.sign(b.sum(axis=-1) - a.sum(axis=-1))\n"
        'lead = xp.where(parameters["kind"] < 0.5, by_last[None], by_sum[None])\nreturn 0.5 + 0.5 * lead',
        parameters=KINDS,
    ),
    "praise and double blame": Rule(
        "multiattribute",
        "people count ratings of 5 and subtract twice the ratings of 1",
        RATINGS + "score_a = (a == 5).sum(axis=-1) - 2.0 * (a == 1).sum(axis=-1)\n"
        "score_b = (b == 5).sum(axis=-1) - 2.0 * (b == 1).sum(axis=-1)\n"
        "lead = score_b - score_a\n" + FOLLOW + NOISY,
        FIVE_STARS,
        parameters=lapse(0.1),
    ),
    "too good to trust": Rule(
        "multiattribute",
        "people trust a small advantage in praise and distrust a large one",
        RATINGS + "gap = (b - a).sum(axis=-1)\nsize = xp.abs(gap)\n"
        "trust = xp.where(size == 1, 0.35, xp.where(size == 2, 0.1, xp.where(size == 3, -0.25, -0.4)))\n"
        "return (0.5 + trust * xp.sign(gap))[None]",
        BINARY,
    ),
    "no third time": Rule(
        "multiattribute",
        "people add up the ratings, but never choose the same side three times in a row",
        parameters=lapse(0.05),
        source="""def start(parameters, trials, xp):
    return {"last": xp.zeros((1, 1)), "before": xp.zeros((1, 1))}


def choose(parameters, trials, xp, state):
    lead = trials["ratings"][:, 1].sum(axis=-1) - trials["ratings"][:, 0].sum(axis=-1)
    twice = state["last"] * state["before"] > 0
    p = xp.where(twice, 0.5 - 0.5 * state["last"], 0.5 + 0.5 * xp.sign(lead))
    return parameters["lapse"] / 2 + (1 - parameters["lapse"]) * p


def learn(parameters, trials, xp, state, response, feedback):
    return {"last": response[..., 1] - response[..., 0], "before": state["last"] + 0.0 * response[..., 0]}
""",
    ),
    "habit breaks ties": Rule(
        "multiattribute",
        "people follow the best expert, and stay on the side of their last choice where that expert sees no difference",
        RATINGS + "lead = xp.sign(b[:, 0] - a[:, 0]) + 0.0 * last\n"
        "p = 0.5 + 0.5 * xp.where(lead != 0, lead, last)\n" + NOISY,
        BINARY,
        history=True,
        parameters=lapse(0.1),
    ),
    "fair to both sides": Rule(
        "multiattribute",
        "people weigh the sum of the ratings against how often they have taken each side so far",
        source="""def start(parameters, trials, xp):
    return {"taken": xp.zeros((1, 1))}


def choose(parameters, trials, xp, state):
    lead = trials["ratings"][:, 1].sum(axis=-1) - trials["ratings"][:, 0].sum(axis=-1)
    return 1 / (1 + xp.exp(-0.8 * lead + 0.6 * state["taken"]))


def learn(parameters, trials, xp, state, response, feedback):
    return {"taken": state["taken"] + response[..., 1] - response[..., 0]}
""",
    ),
    "chance of enough": Rule(
        "risky",
        "people want at least 5 and take what is likelier by a fifth to pay it, else the larger best outcome",
        GAMBLES + "enough = (q * (x >= 5)).sum(axis=-1)\ngap = enough[:, 1] - enough[:, 0]\n"
        "lead = xp.where(xp.abs(gap) > 0.2, gap, most[:, 1] - most[:, 0])\n" + FOLLOW + NOISY,
        parameters=lapse(0.05),
    ),
    "middle of the range": Rule(
        "risky",
        "people go by the middle between the worst and the best outcome, and are the surer the larger the difference",
        GAMBLES
        + "middle = (least + most) / 2\nreturn 1 / (1 + xp.exp(-0.4 * (middle[:, 1] - middle[:, 0])))[None]",
    ),
    "dreamers and calculators": Rule(
        "risky",
        "three in five people take the larger best outcome, the others the larger mean less a third of the range",
        GAMBLES + "dream = xp.sign(most[:, 1] - most[:, 0])\ncareful = mean - (most - least) / 3\n"
        "careful = xp.sign(careful[:, 1] - careful[:, 0])\n"
        'lead = xp.where(parameters["kind"] < 0.6, dream[None], careful[None])\n'
        "p = 0.5 + 0.5 * lead\n" + NOISY,
        parameters=KINDS | lapse(0.05),
    ),
    "round prizes": Rule(
        "risky",
        "people take the gamble whose best outcome is a multiple of five, and if both or neither is, the likelier best",
        GAMBLES
        + "round_ = (most % 5 == 0) * 1.0\ntop = (q * (x == most[..., None])).sum(axis=-1)\n"
        "lead = xp.where(round_[:, 1] != round_[:, 0], round_[:, 1] - round_[:, 0], top[:, 1] - top[:, 0])\n"
        + FOLLOW
        + NOISY,
        parameters=lapse(0.1),
    ),
    "double or soon": Rule(
        "intertemporal",
        "people wait for at least twice the amount up to two months, and for any amount up to three days",
        DATED + "wait = ((large >= 2 * small) & (late - soon <= 60)) | (late - soon <= 3)\n"
        "lead = xp.where(wait, 1.0, -1.0) * xp.where(later, 1.0, -1.0)\n" + FOLLOW + NOISY,
        parameters=lapse(0.05),
    ),
    "small change waits": Rule(
        "intertemporal",
        "people always wait when the sooner amount is below ten, and else want one per cent more for each day",
        DATED + "short = 100 * (large / small - 1) - (late - soon)\n"
        "wait = xp.where(small < 10, 3.0, xp.clip(0.1 * short, -3.0, 3.0))\n"
        "return 1 / (1 + xp.exp(-wait * xp.where(later, 1.0, -1.0)))[None]",
    ),
    "greedy and impatient": Rule(
        "intertemporal",
        "half of the people wait for half as much again, the others wait up to a fortnight",
        DATED + "greedy, patient = large >= 1.5 * small, late - soon <= 14\n"
        'wait = xp.where(parameters["kind"] < 0.5, greedy[None], patient[None])\n'
        "p = 0.5 + 0.5 * xp.where(wait, 1.0, -1.0) * xp.where(later, 1.0, -1.0)\n" + NOISY,
        parameters=KINDS | lapse(0.05),
    ),
}
_LOT = np.random.default_rng(20_260_613).permutation(len(RULES))
DEVELOPMENT = tuple(name for place, name in enumerate(RULES) if _LOT[place] < len(RULES) // 2)
HELD_OUT = tuple(name for name in RULES if name not in DEVELOPMENT)
