"""Hidden rules for a seventh blind test, of the three kinds that earlier sets had few of.

Four have a gate, with a graded published mechanism behind it; four are followed by two kinds of people; in four there
are several options. All were written by one author before any code of the search, of induction or of the grammars was
read: known were the earlier sets of rules, the columns of the domains, the notes of the team, and the names of the
published theories. People choose at random in 10% of trials (``lapse``), besides what a graded rule leaves open.
"""

from __future__ import annotations

from benchmarks.theories.rule import AMONG_WANTED, CARDINAL, LAPSE, Rule

KIND = {"kind": {"prior": "uniform", "low": 0.0, "high": 1.0}}
"""Which of two kinds a person is of."""
_NOISY = 'return 0.5 * parameters["lapse"] + (1 - parameters["lapse"]) * p'
_GAMBLES = """
x, q = trials["outcomes"], trials["probabilities"]
best, worst = x.max(axis=-1), x.min(axis=-1)
"""
_DATED = """
x, t = trials["amounts"], trials["delays_days"]
later = xp.sign(t[:, 1] - t[:, 0])
"""
_VALUES = """def start(parameters, trials, xp):
    n_options = trials["available"].shape[-1]
    return {
        "value": 0.5 + xp.zeros((1, 1, n_options)),
        "held": xp.zeros((1, 1, n_options)),
        "won": xp.zeros((1, 1)),
    }


def learn(parameters, trials, xp, state, response, feedback):
    value = xp.where((trials["block_start"] > 0)[None, :, None], 0.5, state["value"])
    rate = parameters["rate"][..., None] * response
    won = (feedback["reward"] > 0) * 1.0
    value = value + rate * (won[..., None] - value)
    return {"value": value, "held": response + 0.0 * value, "won": won + 0.0 * value[..., 0]}
"""
"""Values that move by a share of the surprise, the last pick, and whether it won."""


def uniform(low: float, high: float) -> dict[str, object]:
    """How a number differs between people."""
    return {"prior": "uniform", "low": low, "high": high}


GATES = {
    "something for sure": Rule(
        "risky",
        "where just one of the gambles can end with nothing, people take the other; elsewhere they choose by "
        "cumulative prospect theory, the surer the larger the difference in value",
        _GAMBLES
        + """
nothing = ((x == 0) & (q > 0)).any(axis=-1) * 1.0
chance = xp.minimum((q * (x == best[..., None])).sum(axis=-1), 1.0)[None]
bend, power = parameters["bend"][..., None], parameters["power"][..., None]
weight = chance**bend / (chance**bend + (1 - chance) ** bend) ** (1 / bend)
high, low = (xp.sign(end) * xp.abs(end)[None] ** power for end in (best, worst))
value = weight * high + (1 - weight) * low
lead = parameters["sensitivity"] * (value[..., 1] - value[..., 0])
graded = 1 / (1 + xp.exp(-xp.clip(lead, -50.0, 50.0)))
differ = nothing[:, 0] - nothing[:, 1]
p = xp.where(differ != 0, 0.5 + 0.5 * differ, graded)
"""
        + _NOISY,
        parameters=LAPSE
        | {"bend": uniform(0.5, 0.8), "power": uniform(0.6, 0.9), "sensitivity": uniform(0.5, 1.5)},
    ),
    "pennies now": Rule(
        "intertemporal",
        "where neither payment reaches 10, people take the sooner one; elsewhere they discount hyperbolically and "
        "choose in proportion to a power of the discounted amounts",
        _DATED
        + """
worth = xp.log(xp.maximum(x, 0.01))[None] - xp.log(1 + parameters["rate"][..., None] * t[None])
lead = parameters["sensitivity"] * (worth[..., 1] - worth[..., 0])
graded = 1 / (1 + xp.exp(-xp.clip(lead, -50.0, 50.0)))
small = x.max(axis=-1) < 10
p = xp.where(small, 0.5 - 0.5 * later, graded)
"""
        + _NOISY,
        parameters=LAPSE
        | {
            "rate": {"prior": "log_uniform", "low": 0.003, "high": 0.03, "unit": "1/day"},
            "sensitivity": uniform(3.0, 8.0),
        },
    ),
    "two bad reports": Rule(
        "multiattribute",
        "people strike out a product with two or more ratings of 0 where the other has fewer; elsewhere they add the "
        "ratings weighted by the log odds of the experts' validities, the surer the larger the difference",
        """
r, v = trials["ratings"], xp.clip(trials["validities"], 0.01, 0.99)
out = ((r == 0).sum(axis=-1) >= 2) * 1.0
total = (r * xp.log(v / (1 - v))[:, None]).sum(axis=-1)
graded = 1 / (1 + xp.exp(-parameters["sensitivity"] * (total[:, 1] - total[:, 0])[None]))
differ = out[:, 0] - out[:, 1]
p = xp.where(differ != 0, 0.5 + 0.5 * differ, graded)
"""
        + _NOISY,
        CARDINAL,
        parameters=LAPSE | {"sensitivity": uniform(0.4, 1.2)},
    ),
    "content with a win": Rule(
        "learning",
        "people repeat a pick that has just won; at first and after a blank they choose by values that move by a share "
        "of the surprise, the surer the larger the difference",
        source=_VALUES
        + """

def choose(parameters, trials, xp, state):
    free = trials["available"][None]
    begins = (trials["block_start"] > 0)[None, :, None]
    value = xp.where(begins, 0.5, state["value"])
    strength = free * xp.exp(parameters["sensitivity"][..., None] * value)
    repeats = (1.0 - begins) * state["won"][..., None] * state["held"] * free
    wanted = xp.where(repeats.sum(axis=-1)[..., None] > 0, repeats, strength)
"""
        + AMONG_WANTED,
        parameters=LAPSE | {"rate": uniform(0.2, 0.5), "sensitivity": uniform(3.0, 6.0)},
    ),
}
TWO_KINDS = {
    "the careful and the reckoning": Rule(
        "risky",
        "six in ten people take the gamble with the larger worst amount, and of equals the one with the larger best; "
        "the others go by the expected value, the surer the larger the difference",
        _GAMBLES
        + """
safer, larger = worst[:, 1] - worst[:, 0], best[:, 1] - best[:, 0]
careful = 0.5 + 0.5 * xp.sign(xp.where(safer != 0, safer, larger))
mean = (x * q).sum(axis=-1)
lead = parameters["sensitivity"] * (mean[:, 1] - mean[:, 0])[None]
reckoning = 1 / (1 + xp.exp(-xp.clip(lead, -50.0, 50.0)))
p = xp.where(parameters["kind"] < 0.6, careful[None], reckoning)
"""
        + _NOISY,
        parameters=LAPSE | KIND | {"sensitivity": uniform(0.4, 1.2)},
    ),
    "the best expert or an even list": Rule(
        "multiattribute",
        "half of the people follow the first expert who rates the products differently; the others take the product "
        "whose ratings lie closer together, and of equals the one with the larger sum",
        """
r = trials["ratings"]
side = xp.sign(r[:, 1] - r[:, 0])
speaks = xp.abs(side)
first = (side * speaks * (speaks.cumsum(axis=-1) == 1)).sum(axis=-1)
spread = r.max(axis=-1) - r.min(axis=-1)
even = 100 * (spread[:, 0] - spread[:, 1]) + r[:, 1].sum(axis=-1) - r[:, 0].sum(axis=-1)
p = 0.5 + 0.5 * xp.where(parameters["kind"] < 0.5, first[None], xp.sign(even)[None])
"""
        + _NOISY,
        CARDINAL,
        parameters=LAPSE | KIND,
    ),
    "discounters and those who wait two months": Rule(
        "intertemporal",
        "two thirds of the people discount exponentially and choose in proportion to a power of the discounted "
        "amounts; the others wait for the later payment unless it is more than 60 days away",
        _DATED
        + """
worth = xp.log(xp.maximum(x, 0.01))[None] - parameters["rate"][..., None] * t[None]
lead = parameters["sensitivity"] * (worth[..., 1] - worth[..., 0])
graded = 1 / (1 + xp.exp(-xp.clip(lead, -50.0, 50.0)))
waits = 0.5 + 0.5 * xp.where(t.max(axis=-1) <= 60, later, -later)
p = xp.where(parameters["kind"] < 0.667, graded, waits[None])
"""
        + _NOISY,
        parameters=LAPSE
        | KIND
        | {
            "rate": {"prior": "log_uniform", "low": 0.002, "high": 0.02, "unit": "1/day"},
            "sensitivity": uniform(3.0, 8.0),
        },
    ),
    "the quick and the slow": Rule(
        "learning",
        "half of the people repeat what has just won and leave what has not; the others choose by values that move by "
        "a share of the surprise, the surer the larger the difference",
        source=_VALUES
        + """

def choose(parameters, trials, xp, state):
    free = trials["available"][None]
    begins = (trials["block_start"] > 0)[None, :, None]
    value = xp.where(begins, 0.5, state["value"])
    strength = free * xp.exp(parameters["sensitivity"][..., None] * value)
    held, won = (1.0 - begins) * state["held"], state["won"][..., None]
    quick = free * xp.where(won > 0, held, held.sum(axis=-1)[..., None] - held)
    quick = xp.where(quick.sum(axis=-1)[..., None] > 0, quick, free)
    wanted = xp.where(parameters["kind"][..., None] < 0.5, quick, strength)
"""
        + AMONG_WANTED,
        parameters=LAPSE | KIND | {"rate": uniform(0.2, 0.5), "sensitivity": uniform(4.0, 8.0)},
    ),
}
SEVERAL = {
    "the one left longest": Rule(
        "learning",
        "of three options people stay with one while it wins, and after a blank take the one that was left longest, "
        "never tried before tried",
        space={"task": "reversal", "n_steps": 60, "n_options": 3},
        source="""def start(parameters, trials, xp):
    n_options = trials["available"].shape[-1]
    return {
        "since": 100.0 + xp.zeros((1, 1, n_options)),
        "held": xp.zeros((1, 1, n_options)),
        "won": xp.zeros((1, 1)),
    }


def choose(parameters, trials, xp, state):
    free = trials["available"][None]
    goes_on = (trials["block_start"] <= 0)[None, :, None]
    since = xp.where(goes_on, state["since"], 100.0) * free
    longest = (since == since.max(axis=-1)[..., None]) * free
    stays = goes_on * state["held"] * state["won"][..., None] * free
    wanted = xp.where(stays.sum(axis=-1)[..., None] > 0, stays, longest)
"""
        + AMONG_WANTED
        + """

def learn(parameters, trials, xp, state, response, feedback):
    goes_on = (trials["block_start"] <= 0)[None, :, None]
    since = xp.where(goes_on, state["since"], 100.0)
    tried = xp.where(since < 100, since + 1.0, since)
    won = (feedback["reward"] > 0) * 1.0
    return {
        "since": xp.where(response > 0, 1.0, tried),
        "held": response + 0.0 * since,
        "won": won + 0.0 * since[..., 0],
    }
""",
        parameters=LAPSE,
    ),
    "anything but twice a blank": Rule(
        "learning",
        "of four options people never take the one that has brought two blanks in a row just now; among the others "
        "they go by a balance of wins less blanks that fades at every step, the surer the larger the difference",
        space={"task": "reversal", "n_steps": 60, "n_options": 4},
        source="""def start(parameters, trials, xp):
    n_options = trials["available"].shape[-1]
    return {
        "balance": xp.zeros((1, 1, n_options)),
        "held": xp.zeros((1, 1, n_options)),
        "blanks": xp.zeros((1, 1)),
    }


def choose(parameters, trials, xp, state):
    goes_on = (trials["block_start"] <= 0)[None, :, None]
    barred = goes_on * state["held"] * (state["blanks"] >= 2)[..., None]
    free = trials["available"][None]
    strength = parameters["sensitivity"][..., None] * goes_on * state["balance"]
    wanted = free * (1.0 - barred) * xp.exp(strength)
"""
        + AMONG_WANTED
        + """

def learn(parameters, trials, xp, state, response, feedback):
    goes_on = (trials["block_start"] <= 0)[None]
    won = (feedback["reward"] > 0) * 1.0
    same = (state["held"] * response).sum(axis=-1) * goes_on
    faded = parameters["keeps"][..., None] * state["balance"] * goes_on[..., None]
    return {
        "balance": faded + response * (2.0 * won - 1.0)[..., None],
        "held": response + 0.0 * faded,
        "blanks": (1.0 - won) * (same * state["blanks"] + 1.0),
    }
""",
        parameters=LAPSE | {"keeps": uniform(0.7, 0.9), "sensitivity": uniform(0.8, 1.6)},
    ),
    "a price that stays": Rule(
        "offers",
        "people look at offers with a fixed price first, take the cheapest of these, and of equals a local supplier's, "
        "then the shortest contract; where no price is fixed, the shortest contract alone decides",
        """
price, years = trials["price"], trials["contract_years"]
fixed = (price > 0) * 1.0
score = fixed * (10000.0 - 1000.0 * price + 100.0 * trials["local"]) - years
wanted = (score == score.max(axis=-1)[..., None])[None] * 1.0
free = xp.ones(wanted.shape)
lapse = parameters["lapse"][..., None]
p = wanted / wanted.sum(axis=-1)[..., None]
return (1 - lapse) * p + lapse * free / free.sum(axis=-1)[..., None]
""",
        parameters=LAPSE,
    ),
    "not for five years": Rule(
        "offers",
        "people strike out offers that bind them for more than two years, unless all do; among the others they choose "
        "by a logit of price, with a varying rate taken for 8 cents, and of who is well known or local",
        """
price, years = trials["price"], trials["contract_years"]
short = (years <= 2) * 1.0
open_to_all = (short.sum(axis=-1) == 0)[:, None]
free = xp.where(open_to_all, 1.0, short)[None]
cents = xp.where(price > 0, price, 8.0)[None]
known, local = trials["well_known"][None], trials["local"][None]
worth = parameters["known"][..., None] * known + parameters["local"][..., None] * local
worth = worth - parameters["price"][..., None] * (cents - 8.0)
wanted = free * xp.exp(worth)
lapse = parameters["lapse"][..., None]
p = wanted / wanted.sum(axis=-1)[..., None]
return (1 - lapse) * p + lapse / 4.0
""",
        parameters=LAPSE
        | {"price": uniform(0.6, 1.4), "known": uniform(0.5, 1.5), "local": uniform(0.2, 0.8)},
    ),
}
SEVENTH_BLIND = GATES | TWO_KINDS | SEVERAL
