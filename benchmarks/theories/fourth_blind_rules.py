"""Hidden rules for a fourth blind test, written without knowledge of what the search has to offer.

Each is the habit of somebody a little peculiar, stated in a sentence, and bears no textbook's name; none repeats a rule
of the second or the third set. Five need the present trial alone, five also what was seen, chosen or paid before. All
are deterministic, with a coin where nothing speaks for either side, and people err in 5% of choices: the declared
``lapse``, the share of choices made at random, is 10%.
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

FOURTH_BLIND = {
    "the mood of the screen": Rule(
        "multiattribute",
        "the experts who rate both products alike set the mood: if more of them praise both than damn both, people "
        "follow the last expert who tells the products apart, if fewer, the first, and if as many, the second of those",
        """
r = trials["ratings"]
side = xp.sign(r[:, 1] - r[:, 0])
speaks = xp.abs(side)
mood = ((1 - speaks) * xp.sign(2 * r[:, 0] - trials["rating_max"][:, None])).sum(axis=-1)
n_speaking = speaks.sum(axis=-1)
turn = xp.where(mood > 0, n_speaking, xp.where(mood < 0, 1.0, xp.minimum(n_speaking, 2.0)))
lead = (side * (speaks.cumsum(axis=-1) == turn[:, None])).sum(axis=-1)
"""
        + ONE_SHOT,
        BINARY,
        parameters=LAPSE,
    ),
    "crossed out in pairs": Rule(
        "multiattribute",
        "people cross out every rating of one product against an equal rating of the other, whichever experts gave the "
        "two, and take the product whose uppermost rating left over is higher; where none is left, they follow the "
        "last expert who tells the products apart",
        """
r = trials["ratings"]
n_cues = r.shape[-1]
place = xp.arange(n_cues)
other = r[:, ::-1]
copy = ((r[..., :, None] == r[..., None, :]) * (place[:, None] >= place)).sum(axis=-1)
partners = (r[..., :, None] == other[..., None, :]).sum(axis=-1)
left = copy > partners
uppermost = xp.where(left, place, n_cues).min(axis=-1)
kept = (r * (place == uppermost[..., None])).sum(axis=-1)
last = (xp.sign(r[:, 1] - r[:, 0]) * 3.0**place).sum(axis=-1)
lead = xp.where(uppermost[:, 0] < n_cues, kept[:, 1] - kept[:, 0], last)
"""
        + ONE_SHOT,
        CARDINAL,
        parameters=LAPSE,
    ),
    "a line too low": Rule(
        "multiattribute",
        "people's eyes slip by a line as they cross the table: they hold the first product's rating by each expert "
        "against the second product's by the next, the last expert's against the first's, and the first such pair that "
        "is unequal decides for the higher rating",
        """
r = trials["ratings"]
n_cues = r.shape[-1]
lead = 0.0 * r[:, 0, 0]
for place in range(n_cues):
    lead = xp.where(lead == 0, r[:, 1, (place + 1) % n_cues] - r[:, 0, place], lead)
"""
        + ONE_SHOT,
        CARDINAL,
        parameters=LAPSE,
    ),
    "sent out of the room": Rule(
        "multiattribute",
        "every expert who rated the product taken lower than the other is sent out of the room, and people follow most "
        "of those still inside, where these are split the one furthest down the list; when nobody inside tells the "
        "products apart, all are called back in before the choice",
        space=CARDINAL,
        source="""def seated(trials, xp, state):
    r = trials["ratings"]
    side = xp.sign(r[:, 1] - r[:, 0])[None]
    silent = xp.abs(side * state["room"]).sum(axis=-1) == 0
    return side, xp.where(silent[..., None], 1.0, state["room"])


def start(parameters, trials, xp):
    return {"room": xp.zeros((1, 1, trials["ratings"].shape[-1])) + 1.0}


def choose(parameters, trials, xp, state):
    side, room = seated(trials, xp, state)
    heard = side * room
    lead = 100000.0 * heard.sum(axis=-1) + (heard * 3.0 ** xp.arange(side.shape[-1])).sum(axis=-1)
"""
        + SEQUENTIAL
        + """

def learn(parameters, trials, xp, state, response, feedback):
    side, room = seated(trials, xp, state)
    agreed = side * (response[..., 1] - response[..., 0])[..., None]
    return {"room": room * (agreed >= 0)}
""",
        parameters=LAPSE,
    ),
    "an unlucky side": Rule(
        "multiattribute",
        "a side of the screen on which people took a product with a 0 among its ratings is unlucky up to and including "
        "the next screen that shows one without a 0 there, and they take the other side; where neither or both are "
        "unlucky, the product that the second expert rates higher, and then the one with the higher sum",
        space=CARDINAL,
        source="""def start(parameters, trials, xp):
    return {"unlucky": xp.zeros((1, 1, 2))}


def choose(parameters, trials, xp, state):
    r = trials["ratings"]
    flees = state["unlucky"][..., 0] - state["unlucky"][..., 1]
    score = 1000.0 * r[..., :2][..., -1] + r.sum(axis=-1)
    lead = xp.where(flees != 0, flees, (score[:, 1] - score[:, 0])[None])
"""
        + SEQUENTIAL
        + """

def learn(parameters, trials, xp, state, response, feedback):
    stained = (trials["ratings"].min(axis=-1) <= 0)[None] * 1.0
    return {"unlucky": xp.maximum(state["unlucky"], response) * stained}
""",
        parameters=LAPSE,
    ),
    "against the other's middle": Rule(
        "risky",
        "each gamble must reach the point half-way between the other's best and worst amounts, and people take the one "
        "that is likelier to do so; where this is equal, the one with the larger worst amount",
        """
x, p = trials["outcomes"], trials["probabilities"]
middle = 0.5 * (x.max(axis=-1) + x.min(axis=-1))
reaches = (p * (x >= middle[:, ::-1][..., None] - 1e-9)).sum(axis=-1)
likelier, worst = reaches[:, 1] - reaches[:, 0], x.min(axis=-1)
lead = xp.where(xp.abs(likelier) > 1e-9, likelier, worst[:, 1] - worst[:, 0])
"""
        + ONE_SHOT,
        parameters=LAPSE,
    ),
    "numbers that rhyme": Rule(
        "risky",
        "people think it a good omen when an amount and the percentage at which it comes are nearly the same number, "
        "and take the gamble that has the closest such match; where this is equal, the one with the larger best amount",
        """
x, p = trials["outcomes"], trials["probabilities"]
apart = xp.where(p > 0, xp.abs(x - 100 * p), 1e9).min(axis=-1)
best = x.max(axis=-1)
omen = apart[:, 0] - apart[:, 1]
lead = xp.where(xp.abs(omen) > 1e-6, omen, best[:, 1] - best[:, 0])
"""
        + ONE_SHOT,
        parameters=LAPSE,
    ),
    "an envelope for each": Rule(
        "intertemporal",
        "people keep one envelope each for payments due today, within a week, within a month of 30 days, within three "
        "of these, and later, and take the payment whose envelope holds fewer payments so far; where these are equal, "
        "the larger payment",
        source="""def envelopes(trials, xp):
    t = trials["delays_days"]
    number = (t > 0) * 1.0 + (t > 7) + (t > 30) + (t > 90)
    return (number[..., None] == xp.arange(5)) * 1.0


def start(parameters, trials, xp):
    return {"filled": xp.zeros((1, 1, 5))}


def choose(parameters, trials, xp, state):
    x = trials["amounts"]
    filled = (state["filled"][:, :, None] * envelopes(trials, xp)[None]).sum(axis=-1)
    emptier = filled[..., 0] - filled[..., 1]
    lead = xp.where(emptier != 0, emptier, (x[:, 1] - x[:, 0])[None])
"""
        + SEQUENTIAL
        + """

def learn(parameters, trials, xp, state, response, feedback):
    return {"filled": state["filled"] + (response[..., None] * envelopes(trials, xp)[None]).sum(axis=-2)}
""",
        parameters=LAPSE,
    ),
    "credit to the move": Rule(
        "learning",
        "people credit a reward to the move and not to the option: what they have just done, staying or leaving, they "
        "do again after a reward, and after a blank they do the other of the two; the first pick counts as staying",
        source="""def start(parameters, trials, xp):
    return {"held": xp.zeros((1, 1, trials["available"].shape[-1])), "stay": xp.zeros((1, 1))}


def choose(parameters, trials, xp, state):
    free = trials["available"][None]
    held = state["held"] * (trials["block_start"] <= 0)[None, :, None]
    wanted = free * xp.where(state["stay"][..., None] > 0, held, held.sum(axis=-1)[..., None] - held)
    wanted = xp.where(wanted.sum(axis=-1)[..., None] > 0, wanted, free)
"""
        + AMONG_WANTED
        + """

def learn(parameters, trials, xp, state, response, feedback):
    same = (state["held"] * response).sum(axis=-1)
    stayed = xp.where((trials["block_start"] > 0)[None], 1.0, same)
    return {"held": response + 0.0 * state["held"], "stay": xp.where(feedback["reward"] > 0, stayed, 1.0 - stayed)}
""",
        parameters=LAPSE,
    ),
    "all things come in twos": Rule(
        "learning",
        "people hold that each option pays its rewards and its blanks in pairs: they pick one that owes the second "
        "reward, else one that owes nothing, and last one that owes the second blank, among equals not the one picked "
        "last; a pair that is broken by the opposite begins a new pair of that kind",
        source="""def start(parameters, trials, xp):
    n_options = trials["available"].shape[-1]
    return {"held": xp.zeros((1, 1, n_options)), "owed": xp.zeros((1, 1, n_options))}


def choose(parameters, trials, xp, state):
    free = trials["available"][None]
    goes_on = (trials["block_start"] <= 0)[None, :, None]
    hope = xp.where(free > 0, (10.0 * state["owed"] - state["held"]) * goes_on, -1e9)
    wanted = (hope == hope.max(axis=-1)[..., None]) * 1.0
"""
        + AMONG_WANTED
        + """

def learn(parameters, trials, xp, state, response, feedback):
    owed = state["owed"] * (trials["block_start"] <= 0)[None, :, None]
    came = xp.where(feedback["reward"] > 0, 1.0, -1.0)[..., None]
    return {
        "held": response + 0.0 * state["held"],
        "owed": xp.where(response > 0, xp.where(owed == came, 0.0, came), owed),
    }
""",
        parameters=LAPSE,
    ),
}
