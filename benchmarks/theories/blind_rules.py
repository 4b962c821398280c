"""Hidden rules for a blind test, written without knowledge of what the search has to offer.

Each is a way in which somebody could decide, stated in a sentence, and bears no textbook's name. Half of them are
followed without error, with a coin where nothing speaks for either side. The others are graded, or declare a ``lapse``,
the share of choices made at random, which is 5% on average.
"""

from __future__ import annotations

from benchmarks.theories.rule import BINARY, CARDINAL, Rule

LAPSE = {"lapse": {"prior": "uniform", "low": 0.0, "high": 0.1, "unit": "share of choices"}}
ALWAYS = "return xp.where(lead > 0, 1.0, xp.where(lead < 0, 0.0, 0.5))[None]"
MOSTLY = (
    "p = xp.where(lead > 0, 1.0, xp.where(lead < 0, 0.0, 0.5))[None]\n"
    'return 0.5 * parameters["lapse"] + (1 - parameters["lapse"]) * p'
)

BLIND = {
    "hype when first and last agree": Rule(
        "multiattribute",
        "people count the experts in favour, but take two off a product that the first and the last expert both "
        "favour; where this is equal, they take the product that the second expert favours",
        """
r = trials["ratings"]
both = (r[..., 0] > 0) * (r[..., -1] > 0)
score = (r > 0).sum(axis=-1) - 2 * both + 0.5 * (r[..., :2][..., -1] > 0)
lead = score[:, 1] - score[:, 0]
"""
        + MOSTLY,
        BINARY,
        parameters=LAPSE,
    ),
    "exactly one critic": Rule(
        "multiattribute",
        "people take the product that exactly one expert is against, as its reviews seem honest; if this is true of "
        "both or of neither, the one that the second expert favours",
        """
r = trials["ratings"]
honest = ((r <= 0).sum(axis=-1) == 1) * 1.0
score = 2 * honest + (r[..., :2][..., -1] > 0)
lead = score[:, 1] - score[:, 0]
"""
        + ALWAYS,
        BINARY,
    ),
    "the first expert seconded": Rule(
        "multiattribute",
        "a product is worth the first expert's rating if another expert rates it at least as high, and otherwise only "
        "its lowest rating; where this is equal, people take the product that the third expert rates higher",
        """
r = trials["ratings"]
seconded = (r[..., 1:] >= r[..., :1]).sum(axis=-1) > 0
worth = xp.where(seconded, r[..., 0], r.min(axis=-1)) + 0.01 * r[..., :3][..., -1]
lead = xp.round(100 * (worth[:, 1] - worth[:, 0]))
"""
        + ALWAYS,
        CARDINAL,
    ),
    "the commonest rating": Rule(
        "multiattribute",
        "a product is worth the rating that most experts give it, the highest of several that are equally common; "
        "where this is equal, people take the product whose commonest rating more experts give",
        """
r = trials["ratings"]
given = (r[..., :, None] == r[..., None, :]).sum(axis=-1)
times = given.max(axis=-1)
common = xp.where(given == times[..., None], r, -1.0).max(axis=-1)
score = common + 0.01 * times
lead = xp.round(100 * (score[:, 1] - score[:, 0]))
"""
        + MOSTLY,
        CARDINAL,
        parameters=LAPSE,
    ),
    "never three times the same side": Rule(
        "multiattribute",
        "people who have taken the same side twice in a row take the other side, whatever it holds; else the product "
        "with the higher sum of its first and its last rating",
        space=CARDINAL,
        source="""def start(parameters, trials, xp):
    return {"streak": xp.zeros((1, 1))}


def choose(parameters, trials, xp, state):
    r = trials["ratings"]
    score = r[..., 0] + r[..., -1]
    liked = (score[:, 1] - score[:, 0])[None]
    streak = state["streak"]
    lead = xp.where(streak >= 2, -1.0, xp.where(streak <= -2, 1.0, liked))
    return xp.where(lead > 0, 1.0, xp.where(lead < 0, 0.0, 0.5))


def learn(parameters, trials, xp, state, response, feedback):
    side = response[..., 1] - response[..., 0]
    streak = state["streak"]
    return {"streak": xp.where(side * streak > 0, streak + side, side + 0.0 * streak)}
""",
    ),
    "overruled experts stay silent": Rule(
        "multiattribute",
        "a product is as good as the lowest rating that it gets from those experts whose advice was not against the "
        "product taken last; the larger the difference, the likelier people are to take the better one",
        space=CARDINAL,
        source="""def start(parameters, trials, xp):
    return {"heard": xp.ones((1, 1, trials["ratings"].shape[-1]))}


def choose(parameters, trials, xp, state):
    share = trials["ratings"] / trials["rating_max"][:, None, None]
    worst = xp.where(state["heard"][:, :, None] > 0, share[None], 1.0).min(axis=-1)
    return 1 / (1 + xp.exp(-6.0 * (worst[..., 1] - worst[..., 0])))


def learn(parameters, trials, xp, state, response, feedback):
    difference = trials["ratings"][:, 1] - trials["ratings"][:, 0]
    side = response[..., 1] - response[..., 0]
    against = side[..., None] * difference[None] < 0
    return {"heard": xp.where(against, 0.0, 1.0)}
""",
    ),
    "half of the best on screen": Rule(
        "risky",
        "people take the gamble that is likelier to pay at least half of the largest amount on the screen; where both "
        "are equally likely to, the one with the higher worst amount",
        """
x, p = trials["outcomes"], trials["probabilities"]
goal = 0.5 * x.max(axis=-1).max(axis=-1)
reach = (p * (x >= goal[:, None, None])).sum(axis=-1)
likelier = reach[:, 1] - reach[:, 0]
worst = x.min(axis=-1)
lead = xp.where(xp.abs(likelier) > 1e-9, likelier, worst[:, 1] - worst[:, 0])
"""
        + ALWAYS,
    ),
    "never, maybe, surely": Rule(
        "risky",
        "people take a probability below 20% for never, above 80% for surely, and all others as equal; they average "
        "the amounts so, and take 2 off a gamble that may pay nothing",
        """
x, p = trials["outcomes"], trials["probabilities"]
felt = xp.where(p > 0.8, 1.0, xp.where(p < 0.2, 0.0, 0.5))
felt = xp.where(felt.sum(axis=-1)[..., None] > 0, felt, (p > 0) * 1.0)
mean = (felt * x).sum(axis=-1) / felt.sum(axis=-1)
nothing = ((p > 0) * (xp.abs(x) < 1e-9)).sum(axis=-1) > 0
worth = mean - 2.0 * nothing
lead = xp.clip(worth[:, 1] - worth[:, 0], -60.0, 60.0)
return (1 / (1 + xp.exp(-0.6 * lead)))[None]
""",
    ),
    "rent by the month begun": Rule(
        "intertemporal",
        "people wait if every month that the wait begins pays at least 15% of the sooner amount; beyond half a year "
        "from today they wait for three times the amount or more only, however long it takes",
        """
x, t = trials["amounts"], trials["delays_days"]
wait = t[:, 1] - t[:, 0]
second = wait >= 0
sooner, later = xp.where(second, x[:, 0], x[:, 1]), xp.where(second, x[:, 1], x[:, 0])
months = xp.ceil(xp.abs(wait) / 30.0)
rent = later - sooner - 0.15 * months * xp.abs(sooner)
far = t.max(axis=-1) > 182.0
tripled = xp.where(later >= 3.0 * sooner - 0.001, 1.0, -1.0)
lead = xp.where(wait == 0, x[:, 1] - x[:, 0], xp.where(far, tripled, rent) * xp.where(second, 1.0, -1.0))
"""
        + ALWAYS,
    ),
    "three tries before judging": Rule(
        "learning",
        "people give an option that they turn to three tries, whatever they bring; from then on they leave it for "
        "another as soon as it pays nothing",
        source="""def start(parameters, trials, xp):
    shape = (1, 1, trials["available"].shape[-1])
    return {"held": xp.zeros(shape), "tries": xp.zeros((1, 1)), "missed": xp.zeros((1, 1))}


def choose(parameters, trials, xp, state):
    free = trials["available"][None]
    fresh = (trials["block_start"] > 0)[None, :, None]
    leave = ((state["tries"] >= 3) * (state["missed"] > 0))[..., None]
    wanted = free * xp.where(leave, 1.0 - state["held"], state["held"])
    wanted = xp.where(fresh, free, wanted)
    total = wanted.sum(axis=-1)[..., None]
    wanted = xp.where(total > 0, wanted, free)
    p = wanted / wanted.sum(axis=-1)[..., None]
    lapse = parameters["lapse"][..., None]
    return (1 - lapse) * p + lapse * free / free.sum(axis=-1)[..., None]


def learn(parameters, trials, xp, state, response, feedback):
    same = (state["held"] * response).sum(axis=-1) * (trials["block_start"] <= 0)[None]
    missed = xp.where(feedback["reward"] > 0, 0.0, 1.0)
    return {"held": response + 0.0 * state["held"], "tries": same * state["tries"] + 1.0, "missed": missed}
""",
        parameters=LAPSE,
    ),
}
