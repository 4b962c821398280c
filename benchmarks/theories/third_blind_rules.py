"""Hidden rules for a third blind test, written without knowledge of what the search has to offer.

Each is a way in which somebody could decide, stated in a sentence, and bears no textbook's name; none repeats a rule of
the second set. Half of them look at the trial alone, half also at what was seen or chosen before. All are
deterministic, with a coin where nothing speaks for either side, and people err in 5% of choices: the declared
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

THIRD_BLIND = {
    "a second opinion": Rule(
        "multiattribute",
        "people believe an expert only where the next on the list prefers the same product, and follow the first such "
        "two; where nobody is confirmed so, they go against the first expert who tells the products apart",
        """
r = trials["ratings"]
side = xp.sign(r[:, 1] - r[:, 0])
confirmed = (side[:, :-1] * side[:, 1:] > 0) * 1.0
heeded = (side[:, :-1] * confirmed * (confirmed.cumsum(axis=-1) == 1)).sum(axis=-1)
speaks = xp.abs(side)
alone = (side * (speaks.cumsum(axis=-1) == 1)).sum(axis=-1)
lead = xp.where(heeded != 0, heeded, -alone)
"""
        + ONE_SHOT,
        BINARY,
        parameters=LAPSE,
    ),
    "owed a hearing": Rule(
        "multiattribute",
        "among the experts who tell the products apart, people follow the one against whom they have decided most "
        "often so far, of several the one furthest down the list",
        space=BINARY,
        source="""def start(parameters, trials, xp):
    return {"owed": xp.zeros((1, 1, trials["ratings"].shape[-1]))}


def choose(parameters, trials, xp, state):
    r = trials["ratings"]
    side = xp.sign(r[:, 1] - r[:, 0])[None]
    claim = xp.where(side != 0, 10.0 * state["owed"] + xp.arange(r.shape[-1]), -1e9)
    lead = (side * (claim == claim.max(axis=-1)[..., None])).sum(axis=-1)
"""
        + SEQUENTIAL
        + """

def learn(parameters, trials, xp, state, response, feedback):
    r = trials["ratings"]
    side = xp.sign(r[:, 1] - r[:, 0])[None]
    heard = side * (response[..., 1] - response[..., 0])[..., None]
    return {"owed": state["owed"] + (heard < 0)}
""",
        parameters=LAPSE,
    ),
    "what most of them say": Rule(
        "multiattribute",
        "a product is worth the rating that most experts give to it, the lowest of several equally frequent ones; "
        "where this is equal, people take the product that the first expert rates higher",
        """
r = trials["ratings"]
frequency = (r[..., :, None] == r[..., None, :]).sum(axis=-1)
usual = xp.where(frequency == frequency.max(axis=-1)[..., None], r, 1e9).min(axis=-1)
score = 100 * usual + r[..., 0]
lead = score[:, 1] - score[:, 0]
"""
        + ONE_SHOT,
        CARDINAL,
        parameters=LAPSE,
    ),
    "deaf to the loudest": Rule(
        "multiattribute",
        "the experts who see the largest difference, in either direction, are thought to exaggerate, and people add up "
        "the ratings of the others; where these are equal, those of the loudest, and then the first expert's",
        """
difference = trials["ratings"][:, 1] - trials["ratings"][:, 0]
size = xp.abs(difference)
loud = (size == size.max(axis=-1)[..., None]) * 1.0
calm = (difference * (1 - loud)).sum(axis=-1)
lead = 10000 * calm + 100 * (difference * loud).sum(axis=-1) + difference[..., 0]
"""
        + ONE_SHOT,
        CARDINAL,
        parameters=LAPSE,
    ),
    "king of the hill": Rule(
        "multiattribute",
        "the first expert who tells the products apart names a favourite, and each later one on the list can topple it "
        "for the other product, but only by a difference of at least two points; people take the last favourite",
        """
difference = trials["ratings"][:, 1] - trials["ratings"][:, 0]
lead = xp.sign(difference[:, 0])
for place in range(1, difference.shape[-1]):
    new = difference[:, place]
    lead = xp.where((lead == 0) + (lead * new <= -2) > 0, xp.sign(new), lead)
"""
        + ONE_SHOT,
        CARDINAL,
        parameters=LAPSE,
    ),
    "one rung at a time": Rule(
        "multiattribute",
        "people take the product with the lower sum of ratings, to leave room for improvement, unless it is only the "
        "higher sum that beats the sum of the product taken last; where the sums are equal, the first expert's choice",
        space=CARDINAL,
        source="""def start(parameters, trials, xp):
    return {"rung": xp.zeros((1, 1)) - 1.0}


def choose(parameters, trials, xp, state):
    r = trials["ratings"]
    total = r.sum(axis=-1)
    higher = (total[:, 1] - total[:, 0])[None]
    beats = (total[None] > state["rung"][..., None]) * 1.0
    wanted = xp.where(beats[..., 0] == beats[..., 1], -higher, higher)
    lead = 100 * wanted + (r[:, 1, 0] - r[:, 0, 0])[None]
"""
        + SEQUENTIAL
        + """

def learn(parameters, trials, xp, state, response, feedback):
    return {"rung": (response * trials["ratings"].sum(axis=-1)[None]).sum(axis=-1)}
""",
        parameters=LAPSE,
    ),
    "bait": Rule(
        "risky",
        "people take the gamble with the larger best amount, unless this is more than twice every other amount on the "
        "screen: then they think it bait and take the other; where the best amounts are equal, the likelier one",
        """
x, p = trials["outcomes"], trials["probabilities"]
best = x.max(axis=-1)
chance = (p * (x == best[..., None])).sum(axis=-1)
top = best.max(axis=-1)
below = xp.where(x < top[:, None, None], x, 0.0).max(axis=-1).max(axis=-1)
gap = best[:, 1] - best[:, 0]
larger = xp.where(top > 2 * below + 1e-9, -gap, gap)
likelier = chance[:, 1] - chance[:, 0]
lead = xp.where(xp.abs(gap) > 1e-9, larger, xp.where(xp.abs(likelier) > 1e-9, likelier, 0.0))
"""
        + ONE_SHOT,
        parameters=LAPSE,
    ),
    "a treat when it is due": Rule(
        "risky",
        "people take the gamble whose best and worst amounts lie closer together and keep count of by how much the "
        "other's best amount was larger; when the count is 30 or more they treat themselves to the larger best amount, "
        "and whenever they have taken this they count anew; either question settles the ties of the other",
        source="""def start(parameters, trials, xp):
    return {"denied": xp.zeros((1, 1))}


def choose(parameters, trials, xp, state):
    x = trials["outcomes"]
    best, spread = x.max(axis=-1), x.max(axis=-1) - x.min(axis=-1)
    larger, closer = (best[:, 1] - best[:, 0])[None], (spread[:, 0] - spread[:, 1])[None]
    treat = xp.where(larger != 0, larger, closer)
    careful = xp.where(closer != 0, closer, larger)
    lead = xp.where(state["denied"] >= 30, treat, careful)
"""
        + SEQUENTIAL
        + """

def learn(parameters, trials, xp, state, response, feedback):
    best = trials["outcomes"].max(axis=-1)[None]
    taken = (response * best).sum(axis=-1)
    let_go = best.sum(axis=-1) - taken
    return {"denied": xp.where(taken > let_go, 0.0, state["denied"] + (let_go - taken))}
""",
        parameters=LAPSE,
    ),
    "measured by the last offer": Rule(
        "intertemporal",
        "people wait if the wait is shorter, or pays a higher multiple, than on the screen before, and take the sooner "
        "payment if the wait is longer or pays a lower one; where the two contradict or nothing has changed, they do "
        "the other thing than the last time, and on the first screen they wait",
        source="""def offer(trials, xp):
    x, t = trials["amounts"], trials["delays_days"]
    wait = t[:, 1] - t[:, 0]
    turn = xp.where(wait >= 0, 1.0, -1.0)
    sooner, later = xp.where(wait >= 0, x[:, 0], x[:, 1]), xp.where(wait >= 0, x[:, 1], x[:, 0])
    pays = later / xp.where(sooner == 0, 0.01, sooner)
    return turn[None], xp.abs(wait)[None], pays[None]


def start(parameters, trials, xp):
    return {"wait": xp.zeros((1, 1)) + 1e9, "pays": xp.zeros((1, 1)) - 1e9, "waited": xp.zeros((1, 1))}


def choose(parameters, trials, xp, state):
    turn, wait, pays = offer(trials, xp)
    more = pays - state["pays"]
    more = xp.where(xp.abs(more) > 1e-6, xp.sign(more), 0.0)
    better = xp.sign(state["wait"] - wait) + more
    lead = turn * xp.where(better != 0, better, -state["waited"])
"""
        + SEQUENTIAL
        + """

def learn(parameters, trials, xp, state, response, feedback):
    turn, wait, pays = offer(trials, xp)
    waited = turn * (response[..., 1] - response[..., 0])
    return {"wait": wait + 0.0 * waited, "pays": pays + 0.0 * waited, "waited": waited}
""",
        parameters=LAPSE,
    ),
    "visits returned": Rule(
        "learning",
        "people stay with an option for one pick more than the rewards that their last visit to it brought, two picks "
        "on a first visit, whatever it pays meanwhile, and then go to another",
        source="""def start(parameters, trials, xp):
    return {
        "held": xp.zeros((1, 1, trials["available"].shape[-1])),
        "due": xp.zeros((1, 1, trials["available"].shape[-1])) + 2.0,
        "left": xp.zeros((1, 1)),
        "won": xp.zeros((1, 1)),
    }


def choose(parameters, trials, xp, state):
    free = trials["available"][None]
    held = state["held"] * (trials["block_start"] <= 0)[None, :, None]
    wanted = free * xp.where(state["left"][..., None] > 0, held, held.sum(axis=-1)[..., None] - held)
    wanted = xp.where(wanted.sum(axis=-1)[..., None] > 0, wanted, free)
"""
        + AMONG_WANTED
        + """

def learn(parameters, trials, xp, state, response, feedback):
    begun = (trials["block_start"] > 0)[None]
    due = xp.where(begun[..., None], 2.0, state["due"])
    stayed = (state["held"] * response).sum(axis=-1) * (1.0 - begun)
    left = xp.where(stayed > 0, state["left"], (due * response).sum(axis=-1)) - 1
    won = stayed * state["won"] + (feedback["reward"] > 0)
    due = xp.where(response > 0, 1 + won[..., None], due)
    return {"held": response + 0.0 * state["held"], "due": due, "left": left, "won": won}
""",
        parameters=LAPSE,
    ),
}
