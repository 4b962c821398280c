"""Hidden rules for a fifth blind test, written without knowledge of what the search has to offer.

Each is a way in which some not quite ordinary person could go about choosing, stated in a sentence; none is taken
from a textbook and none repeats a rule of the second, the third or the fourth set. Five are settled by the trial on
the screen, five need what was seen, taken or paid before. All are deterministic, with a coin where nothing speaks for
either side, and people err in 5% of choices: the declared ``lapse``, the share of choices made at random, is 10%.
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

FIFTH_BLIND = {
    "the one who holds out": Rule(
        "multiattribute",
        "people go with the majority of the experts who tell the products apart, unless one of these stands alone "
        "against two or more of whom one spoke before him: he has heard it and holds out, and they follow him; "
        "where both sides are as many, they follow the last of them on the list",
        """
r = trials["ratings"]
side = xp.sign(r[:, 1] - r[:, 0])
speaks = xp.abs(side)
turn = speaks.cumsum(axis=-1)
opens = (side * speaks * (turn == 1)).sum(axis=-1)
closes = (side * speaks * (turn == speaks.sum(axis=-1)[:, None])).sum(axis=-1)
most = side.sum(axis=-1)
fewer = xp.minimum((side > 0).sum(axis=-1), (side < 0).sum(axis=-1))
defied = (fewer == 1) * (opens * most > 0)
lead = xp.where(most == 0, closes, xp.where(defied, -most, most))
"""
        + ONE_SHOT,
        BINARY,
        parameters=LAPSE,
    ),
    "copied from the neighbour": Rule(
        "multiattribute",
        "an expert who gives a product the very rating that the expert just above gave it is thought to have "
        "copied, and people add up a product's ratings without those copied; where this is equal, the product that "
        "the last expert rates higher",
        """
r = trials["ratings"]
original = r[..., 0] + (r[..., 1:] * (r[..., 1:] != r[..., :-1])).sum(axis=-1)
score = 100 * original + r[..., -1]
lead = score[:, 1] - score[:, 0]
"""
        + ONE_SHOT,
        CARDINAL,
        parameters=LAPSE,
    ),
    "the fairer advocate": Rule(
        "multiattribute",
        "each product's advocate is the expert who rates it furthest above the other product, the first of several, "
        "and people believe the advocate who has the higher rating left for the other's product, the one further up "
        "the list where this is equal; a product without an advocate is not taken",
        """
r = trials["ratings"]
other = r[:, ::-1]
n_cues = r.shape[-1]
place = xp.arange(n_cues)
gain = r - other
most = gain.max(axis=-1)
advocate = xp.where(gain == most[..., None], place, n_cues).min(axis=-1)
fairness = (other * (place == advocate[..., None])).sum(axis=-1)
score = xp.where(most > 0, 100 * fairness - advocate, -1e6)
lead = score[:, 1] - score[:, 0]
"""
        + ONE_SHOT,
        CARDINAL,
        parameters=LAPSE,
    ),
    "a finger on the page": Rule(
        "multiattribute",
        "people go on reading where they stopped on the screen before: they start one line below the expert who "
        "settled that screen, at first at the top, read downwards and from the bottom on to the top, and follow the "
        "first expert whom they find to tell the products apart",
        space=BINARY,
        source="""def settling(trials, xp, state):
    r = trials["ratings"]
    n_cues = r.shape[-1]
    side = xp.sign(r[:, 1] - r[:, 0])[None]
    steps = (xp.arange(n_cues) - state["finger"][..., None]) % n_cues
    reached = xp.where(side != 0, steps, 1000.0)
    return side, (side != 0) * (reached == reached.min(axis=-1)[..., None]) * 1.0


def start(parameters, trials, xp):
    return {"finger": xp.zeros((1, 1))}


def choose(parameters, trials, xp, state):
    side, settles = settling(trials, xp, state)
    lead = (side * settles).sum(axis=-1)
"""
        + SEQUENTIAL
        + """

def learn(parameters, trials, xp, state, response, feedback):
    side, settles = settling(trials, xp, state)
    n_cues = trials["ratings"].shape[-1]
    below = ((settles * xp.arange(n_cues)).sum(axis=-1) + 1.0) % n_cues
    finger = xp.where(settles.sum(axis=-1) > 0, below, state["finger"])
    return {"finger": finger + 0.0 * response[..., 0]}
""",
        parameters=LAPSE,
    ),
    "a sticker album": Rule(
        "multiattribute",
        "people collect ratings like stickers, each grade of each expert once, from the products they take, and "
        "take the product with more ratings that are not yet in the album; when a dozen are in it they begin a new "
        "one; where as many are new, the product with the higher sum",
        space=CARDINAL,
        source="""def stickers(trials, xp):
    return (trials["ratings"][..., None] == xp.arange(11)) * 1.0


def start(parameters, trials, xp):
    return {"album": xp.zeros((1, 1, trials["ratings"].shape[-1], 11))}


def choose(parameters, trials, xp, state):
    total = trials["ratings"].sum(axis=-1)[None]
    missing = 1.0 - state["album"][:, :, None]
    new = (stickers(trials, xp)[None] * missing).sum(axis=-1).sum(axis=-1)
    score = 1000.0 * new + total
    lead = score[..., 1] - score[..., 0]
"""
        + SEQUENTIAL
        + """

def learn(parameters, trials, xp, state, response, feedback):
    taken = (response[..., None, None] * stickers(trials, xp)[None]).sum(axis=2)
    album = xp.maximum(state["album"], taken)
    full = album.sum(axis=-1).sum(axis=-1) >= 12
    return {"album": xp.where(full[..., None, None], 0.0, album)}
""",
        parameters=LAPSE,
    ),
    "sure thing, toss-up, dream": Rule(
        "risky",
        "people call a gamble a sure thing if its best amount comes in more than four of five cases, a dream if in "
        "fewer than one of five, and else a toss-up, and take a sure thing over a toss-up, a toss-up over a dream, "
        "but a dream over a sure thing; of two of a kind the larger best amount, and then the likelier one",
        """
x, p = trials["outcomes"], trials["probabilities"]
best = x.max(axis=-1)
chance = (p * (x == best[..., None])).sum(axis=-1)
kind = (chance > 0.8 + 1e-9) * 1.0 - (chance < 0.2 - 1e-9)
step = kind[:, 1] - kind[:, 0]
cycle = xp.where(xp.abs(step) > 1.5, -step, step)
amount, likelier = best[:, 1] - best[:, 0], chance[:, 1] - chance[:, 0]
alike = xp.where(xp.abs(amount) > 1e-9, amount, xp.where(xp.abs(likelier) > 1e-9, likelier, 0.0))
lead = xp.where(step != 0, cycle, alike)
"""
        + ONE_SHOT,
        parameters=LAPSE,
    ),
    "made good next time": Rule(
        "risky",
        "people are sorry for the gamble that they let go on the screen before and take the one whose best amount "
        "is nearer to the best amount of that; where both are as near, and at first, the one that is likelier to "
        "pay its best amount",
        source="""def start(parameters, trials, xp):
    return {"missed": xp.zeros((1, 1)), "begun": xp.zeros((1, 1))}


def choose(parameters, trials, xp, state):
    x, p = trials["outcomes"], trials["probabilities"]
    best = x.max(axis=-1)
    chance = (p * (x == best[..., None])).sum(axis=-1)
    likelier = (chance[:, 1] - chance[:, 0])[None]
    likelier = xp.where(xp.abs(likelier) > 1e-9, likelier, 0.0)
    apart = xp.abs(best[None] - state["missed"][..., None])
    nearer = (apart[..., 0] - apart[..., 1]) * state["begun"]
    lead = xp.where(xp.abs(nearer) > 1e-9, nearer, likelier)
"""
        + SEQUENTIAL
        + """

def learn(parameters, trials, xp, state, response, feedback):
    missed = ((1.0 - response) * trials["outcomes"].max(axis=-1)[None]).sum(axis=-1)
    return {"missed": missed, "begun": 1.0 + 0.0 * missed}
""",
        parameters=LAPSE,
    ),
    "what one lives on": Rule(
        "intertemporal",
        "people ask only whether they can spare the sooner payment, not what the later one is: less than 20 is not "
        "missed and 500 or more is put by, so they wait, however long; what lies between one lives on, so they take "
        "it, unless the wait is of a week at most",
        """
x, t = trials["amounts"], trials["delays_days"]
wait = t[:, 1] - t[:, 0]
second = wait >= 0
sooner = xp.abs(xp.where(second, x[:, 0], x[:, 1]))
needed = (sooner >= 20 - 1e-6) * (sooner < 500 - 1e-6) * (xp.abs(wait) > 7 + 1e-6)
waits = xp.where(needed, -1.0, 1.0)
lead = xp.where(wait == 0, x[:, 1] - x[:, 0], waits * xp.where(second, 1.0, -1.0))
"""
        + ONE_SHOT,
        parameters=LAPSE,
    ),
    "loyal for the good days": Rule(
        "learning",
        "the longest row of rewards that an option has brought on one visit earns it loyalty: people stay until it "
        "has brought a row of blanks as long, or a single one where it never paid, and then leave for the option "
        "that has the longest such row of rewards among the others",
        source="""def start(parameters, trials, xp):
    n_options = trials["available"].shape[-1]
    return {
        "held": xp.zeros((1, 1, n_options)),
        "record": xp.zeros((1, 1, n_options)),
        "wins": xp.zeros((1, 1)),
        "blanks": xp.zeros((1, 1)),
    }


def choose(parameters, trials, xp, state):
    free = trials["available"][None]
    goes_on = (trials["block_start"] <= 0)[None, :, None]
    held, record = state["held"] * goes_on, state["record"] * goes_on
    patience = xp.maximum((held * record).sum(axis=-1), 1.0)
    stays = free * held * (state["blanks"] < patience)[..., None]
    others = free * (1.0 - held)
    hope = xp.where(others > 0, record, -1.0)
    best = others * (hope == hope.max(axis=-1)[..., None])
    wanted = xp.where(stays.sum(axis=-1)[..., None] > 0, stays, best)
    wanted = xp.where(wanted.sum(axis=-1)[..., None] > 0, wanted, free)
"""
        + AMONG_WANTED
        + """

def learn(parameters, trials, xp, state, response, feedback):
    goes_on = (trials["block_start"] <= 0)[None]
    stayed = (state["held"] * response).sum(axis=-1) * goes_on
    won = (feedback["reward"] > 0) * 1.0
    wins = won * (stayed * state["wins"] + 1.0)
    blanks = (1.0 - won) * (stayed * state["blanks"] + 1.0)
    record = xp.maximum(state["record"] * goes_on[..., None], response * wins[..., None])
    return {"held": response + 0.0 * state["held"], "record": record, "wins": wins, "blanks": blanks}
""",
        parameters=LAPSE,
    ),
    "as it went the last time": Rule(
        "learning",
        "people expect of each option what it brought the last time that it had just brought what it brought last, "
        "and take one of which they expect a reward, else one of which they do not yet know, and last one of which "
        "they expect a blank, among equals the one taken last",
        source="""def start(parameters, trials, xp):
    n_options = trials["available"].shape[-1]
    return {
        "held": xp.zeros((1, 1, n_options)),
        "brought": xp.zeros((1, 1, n_options)),
        "after_win": xp.zeros((1, 1, n_options)),
        "after_blank": xp.zeros((1, 1, n_options)),
    }


def choose(parameters, trials, xp, state):
    free = trials["available"][None]
    goes_on = (trials["block_start"] <= 0)[None, :, None]
    blank = xp.where(state["brought"] < 0, state["after_blank"], 0.0)
    expected = xp.where(state["brought"] > 0, state["after_win"], blank)
    hope = xp.where(free > 0, (10.0 * expected + state["held"]) * goes_on, -1e9)
    wanted = (hope == hope.max(axis=-1)[..., None]) * 1.0
"""
        + AMONG_WANTED
        + """

def learn(parameters, trials, xp, state, response, feedback):
    goes_on = (trials["block_start"] <= 0)[None, :, None]
    before = state["brought"] * goes_on
    came = xp.where(feedback["reward"] > 0, 1.0, -1.0)[..., None]
    return {
        "held": response + 0.0 * state["held"],
        "brought": xp.where(response > 0, came, before),
        "after_win": xp.where(response * before > 0, came, state["after_win"] * goes_on),
        "after_blank": xp.where(response * before < 0, came, state["after_blank"] * goes_on),
    }
""",
        parameters=LAPSE,
    ),
}
