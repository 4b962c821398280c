"""Hidden rules for a sixth blind test, written without knowledge of what the search has to offer.

Each is a habit that a real person could have in choosing, stated in a sentence that one could carry out; none is taken
from a textbook and none repeats a rule of the earlier sets. Five are settled by the trial on the screen, five need what
was seen, taken or paid before. All are deterministic, with a coin where nothing speaks for either side, and people err
in 5% of choices: the declared ``lapse``, the share of choices made at random, is 10%.
"""

from __future__ import annotations

from benchmarks.theories.rule import (
    AMONG_WANTED,
    BINARY,
    CARDINAL,
    LAPSE,
    ONE_SHOT,
    SEQUENTIAL,
    Rule,
)

SIXTH_BLIND = {
    "no draw among the experts": Rule(
        "multiattribute",
        "people take the product that an odd number of experts favour; where this is true of both or of neither, the "
        "product that the third expert favours, and where he sees no difference, the one that the first favours",
        """
favour = (trials["ratings"] > 0) * 1.0
odd = favour.sum(axis=-1) % 2
score = 100 * odd + 10 * favour[..., :3][..., -1] + favour[..., 0]
lead = score[:, 1] - score[:, 0]
"""
        + ONE_SHOT,
        BINARY,
        parameters=LAPSE,
    ),
    "a settled story": Rule(
        "multiattribute",
        "people read each product's ratings down the list and take the product for which the verdict changes less "
        "often from one expert to the next; where this is equal, the product that the last expert favours",
        """
r = trials["ratings"]
turns = ((r[..., 1:] > 0) != (r[..., :-1] > 0)).sum(axis=-1)
score = (r[..., -1] > 0) - 10.0 * turns
lead = score[:, 1] - score[:, 0]
"""
        + ONE_SHOT,
        BINARY,
        parameters=LAPSE,
    ),
    "two is the honest grade": Rule(
        "multiattribute",
        "people hold 2 for the honest grade, follow the first expert on the list whose two ratings are not equally far "
        "from 2, and take the product that this expert rates nearer to 2",
        """
far = xp.abs(trials["ratings"] - 2.0)
nearer = xp.sign(far[:, 0] - far[:, 1])
lead = (nearer * (xp.abs(nearer).cumsum(axis=-1) == 1)).sum(axis=-1)
"""
        + ONE_SHOT,
        CARDINAL,
        parameters=LAPSE,
    ),
    "a bought opinion": Rule(
        "multiattribute",
        "people take the product that the second expert rates higher, unless he gives either the top grade: then they "
        "think him bought and take the other; where he rates both alike, the product whose lowest rating is higher",
        """
r = trials["ratings"]
his = r[..., :2][..., -1]
gap, worst = his[:, 1] - his[:, 0], r.min(axis=-1)
bought = his.max(axis=-1) >= trials["rating_max"]
lead = xp.where(gap == 0, worst[:, 1] - worst[:, 0], xp.where(bought, -gap, gap))
"""
        + ONE_SHOT,
        CARDINAL,
        parameters=LAPSE,
    ),
    "had their treat": Rule(
        "multiattribute",
        "people who last took a product with a top grade among its ratings take the product with fewer top grades, the "
        "others, and all at first, the one with more; where this is equal, the product that the third expert rates "
        "higher",
        space=CARDINAL,
        source="""def top_grades(trials, xp):
    return (trials["ratings"] >= trials["rating_max"][:, None, None]).sum(axis=-1) * 1.0


def start(parameters, trials, xp):
    return {"treated": xp.zeros((1, 1))}


def choose(parameters, trials, xp, state):
    tops = top_grades(trials, xp)
    third = trials["ratings"][..., :3][..., -1]
    more = (tops[:, 1] - tops[:, 0])[None]
    wanted = xp.where(state["treated"] > 0, -more, more)
    lead = 100.0 * wanted + (third[:, 1] - third[:, 0])[None]
"""
        + SEQUENTIAL
        + """

def learn(parameters, trials, xp, state, response, feedback):
    taken = (response * top_grades(trials, xp)[None]).sum(axis=-1)
    return {"treated": (taken > 0) * 1.0}
""",
        parameters=LAPSE,
    ),
    "kept guessing": Rule(
        "risky",
        "people want to be kept guessing and take the gamble whose chance of paying its best amount is nearer to one "
        "half; where both are as near, the one with the larger best amount",
        """
x, p = trials["outcomes"], trials["probabilities"]
best = x.max(axis=-1)
chance = (p * (x == best[..., None])).sum(axis=-1)
far = xp.abs(chance - 0.5)
nearer = far[:, 0] - far[:, 1]
lead = xp.where(xp.abs(nearer) > 1e-9, nearer, best[:, 1] - best[:, 0])
"""
        + ONE_SHOT,
        parameters=LAPSE,
    ),
    "let down": Rule(
        "risky",
        "when the largest amount on the screen is below that of the screen before, people take the larger best amount, "
        "otherwise, and at first, the gamble likelier to pay its best amount; ties go to the larger worst amount",
        source="""def start(parameters, trials, xp):
    return {"largest": xp.zeros((1, 1)) - 1e9}


def choose(parameters, trials, xp, state):
    x, p = trials["outcomes"], trials["probabilities"]
    best, worst = x.max(axis=-1), x.min(axis=-1)
    chance = (p * (x == best[..., None])).sum(axis=-1)
    larger, likelier = (best[:, 1] - best[:, 0])[None], (chance[:, 1] - chance[:, 0])[None]
    safer = (worst[:, 1] - worst[:, 0])[None]
    let_down = best.max(axis=-1)[None] < state["largest"] - 1e-9
    asked = xp.where(let_down, larger, likelier)
    lead = xp.where(xp.abs(asked) > 1e-9, asked, safer)
"""
        + SEQUENTIAL
        + """

def learn(parameters, trials, xp, state, response, feedback):
    largest = trials["outcomes"].max(axis=-1).max(axis=-1)[None]
    return {"largest": largest + 0.0 * response[..., 0]}
""",
        parameters=LAPSE,
    ),
    "paydays far apart": Rule(
        "intertemporal",
        "people want their paydays far apart and take the payment whose delay differs more from the delay of the "
        "payment taken last; where both differ as much, and at first, the larger payment",
        source="""def start(parameters, trials, xp):
    return {"payday": xp.zeros((1, 1)), "begun": xp.zeros((1, 1))}


def choose(parameters, trials, xp, state):
    x, t = trials["amounts"], trials["delays_days"]
    apart = xp.abs(t[None] - state["payday"][..., None])
    further = (apart[..., 1] - apart[..., 0]) * state["begun"]
    lead = xp.where(xp.abs(further) > 1e-9, further, (x[:, 1] - x[:, 0])[None])
"""
        + SEQUENTIAL
        + """

def learn(parameters, trials, xp, state, response, feedback):
    payday = (response * trials["delays_days"][None]).sum(axis=-1)
    return {"payday": payday, "begun": 1.0 + 0.0 * payday}
""",
        parameters=LAPSE,
    ),
    "no more surprises": Rule(
        "learning",
        "people stay with an option until two picks in a row on the same visit have brought the same, two rewards or "
        "two blanks, and then leave it for another",
        source="""def start(parameters, trials, xp):
    return {
        "held": xp.zeros((1, 1, trials["available"].shape[-1])),
        "brought": xp.zeros((1, 1)),
        "alike": xp.zeros((1, 1)),
    }


def choose(parameters, trials, xp, state):
    free = trials["available"][None]
    held = state["held"] * (trials["block_start"] <= 0)[None, :, None]
    wanted = free * xp.where(state["alike"][..., None] > 0, held.sum(axis=-1)[..., None] - held, held)
    wanted = xp.where(wanted.sum(axis=-1)[..., None] > 0, wanted, free)
"""
        + AMONG_WANTED
        + """

def learn(parameters, trials, xp, state, response, feedback):
    stayed = (state["held"] * response).sum(axis=-1) * (trials["block_start"] <= 0)[None]
    brought = xp.where(feedback["reward"] > 0, 1.0, -1.0)
    alike = stayed * (state["brought"] == brought)
    return {"held": response + 0.0 * state["held"], "brought": brought + 0.0 * stayed, "alike": alike}
""",
        parameters=LAPSE,
    ),
    "every third for the poorest": Rule(
        "learning",
        "people give every third pick of a game to the option that has brought the fewest rewards in it so far, and "
        "every other pick to the one that has brought the most",
        source="""def start(parameters, trials, xp):
    return {"won": xp.zeros((1, 1, trials["available"].shape[-1])), "picks": xp.zeros((1, 1))}


def choose(parameters, trials, xp, state):
    free = trials["available"][None]
    goes_on = (trials["block_start"] <= 0)[None]
    third = (state["picks"] * goes_on) % 3 == 2
    won = state["won"] * goes_on[..., None]
    hope = xp.where(free > 0, xp.where(third[..., None], -won, won), -1e9)
    wanted = (hope == hope.max(axis=-1)[..., None]) * 1.0
"""
        + AMONG_WANTED
        + """

def learn(parameters, trials, xp, state, response, feedback):
    goes_on = (trials["block_start"] <= 0)[None]
    gained = response * (feedback["reward"] > 0)[..., None]
    picks = state["picks"] * goes_on + 1.0 + 0.0 * response[..., 0]
    return {"won": state["won"] * goes_on[..., None] + gained, "picks": picks}
""",
        parameters=LAPSE,
    ),
}
