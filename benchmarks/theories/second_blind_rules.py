"""Hidden rules for a second blind test, written without knowledge of what the search has to offer.

Each is a way in which somebody could decide, stated in a sentence, and bears no textbook's name; none repeats a rule of
the other sets. All are deterministic, with a coin where nothing speaks for either side, and people err in 5% of
choices: the declared ``lapse``, the share of choices made at random, is 10%.
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

SECOND_BLIND = {
    "longest row of praise": Rule(
        "multiattribute",
        "people take the product with the longer unbroken row of neighbouring experts in favour; where the rows are "
        "equally long, the product that fewer experts favour in all",
        """
favour = (trials["ratings"] > 0) * 1.0
row = favour[..., 0]
longest = row
for place in range(1, favour.shape[-1]):
    row = (row + 1) * favour[..., place]
    longest = xp.maximum(longest, row)
score = 10 * longest - favour.sum(axis=-1)
lead = score[:, 1] - score[:, 0]
"""
        + ONE_SHOT,
        BINARY,
        parameters=LAPSE,
    ),
    "the last one read": Rule(
        "multiattribute",
        "people read down the list as long as each expert tells the products apart, and follow the last one they have "
        "read; if the first sees no difference, they follow the last on the list who does",
        """
r = trials["ratings"]
side = xp.sign(r[:, 1] - r[:, 0])
alike = (side == 0) * 1.0
read = alike.cumsum(axis=-1) == 0
heeded = xp.where(alike[:, :1] > 0, side, side * read)
lead = (heeded * 3.0 ** xp.arange(r.shape[-1])).sum(axis=-1)
"""
        + ONE_SHOT,
        BINARY,
        parameters=LAPSE,
    ),
    "better and better": Rule(
        "multiattribute",
        "people read the ratings from the first expert to the last and take the product whose ratings rise from one to "
        "the next more often than they fall, compared with the other's; where this is equal, the last expert's choice",
        """
r = trials["ratings"]
rises = xp.sign(r[..., 1:] - r[..., :-1]).sum(axis=-1)
score = 100 * rises + r[..., -1]
lead = score[:, 1] - score[:, 0]
"""
        + ONE_SHOT,
        CARDINAL,
        parameters=LAPSE,
    ),
    "ask the rival's critic": Rule(
        "multiattribute",
        "a product is worth the rating that it gets from the expert who rates the other product lowest, the first of "
        "several; where this is equal, people take the product that the last expert rates higher",
        """
r = trials["ratings"]
other = r[:, ::-1]
n_cues = r.shape[-1]
place = xp.arange(n_cues)
critic = xp.where(other == other.min(axis=-1)[..., None], place, n_cues).min(axis=-1)
worth = (r * (place == critic[..., None])).sum(axis=-1)
score = 100 * worth + r[..., -1]
lead = score[:, 1] - score[:, 0]
"""
        + ONE_SHOT,
        CARDINAL,
        parameters=LAPSE,
    ),
    "a change of ears": Rule(
        "multiattribute",
        "people who have just changed sides add up the ratings of the first two experts, those who have just taken the "
        "same side twice the ratings of the others, and at first everyone's; the remaining experts break ties",
        space=CARDINAL,
        source="""def start(parameters, trials, xp):
    return {"last": xp.zeros((1, 1)), "before": xp.zeros((1, 1))}


def choose(parameters, trials, xp, state):
    r = trials["ratings"]
    difference = (r[:, 1] - r[:, 0])[None]
    upper, lower = difference[..., :2].sum(axis=-1), difference[..., 2:].sum(axis=-1)
    repeated = state["last"] * state["before"]
    settled = xp.where(repeated > 0, 100 * lower + upper, upper + lower)
    lead = xp.where(repeated < 0, 100 * upper + lower, settled)
"""
        + SEQUENTIAL
        + """

def learn(parameters, trials, xp, state, response, feedback):
    return {"last": response[..., 1] - response[..., 0], "before": state["last"] + 0.0 * response[..., 0]}
""",
        parameters=LAPSE,
    ),
    "more of the same": Rule(
        "multiattribute",
        "people take the product to which more experts give the very rating that they gave the product taken last; "
        "where this is equal, and at first, the product that the second expert rates higher",
        space=CARDINAL,
        source="""def start(parameters, trials, xp):
    return {"taken": xp.zeros((1, 1, trials["ratings"].shape[-1])) - 1.0}


def choose(parameters, trials, xp, state):
    r = trials["ratings"]
    alike = (r[None] == state["taken"][:, :, None]).sum(axis=-1)
    score = 100.0 * alike + r[..., :2][..., -1][None]
    lead = score[..., 1] - score[..., 0]
"""
        + SEQUENTIAL
        + """

def learn(parameters, trials, xp, state, response, feedback):
    return {"taken": (response[..., None] * trials["ratings"][None]).sum(axis=-2)}
""",
        parameters=LAPSE,
    ),
    "careful when much is shown": Rule(
        "risky",
        "people take the gamble that is likelier to pay its best amount when 15 or more can be won on the screen, and "
        "the one whose best amount is larger when not; where this is equal, the one with the larger worst amount",
        """
x, p = trials["outcomes"], trials["probabilities"]
best, worst = x.max(axis=-1), x.min(axis=-1)
chance = (p * (x == best[..., None])).sum(axis=-1)
careful = chance[:, 1] - chance[:, 0]
bold = best[:, 1] - best[:, 0]
first = xp.where(best.max(axis=-1) >= 15, careful, bold)
lead = xp.where(xp.abs(first) > 1e-9, first, worst[:, 1] - worst[:, 0])
"""
        + ONE_SHOT,
        parameters=LAPSE,
    ),
    "the unlikely happens": Rule(
        "risky",
        "people expect of each gamble its least likely amount, the lowest of several, and take the one where this is "
        "larger; where it is equal, the one where it is likelier",
        """
x, p = trials["outcomes"], trials["probabilities"]
rarest = xp.where(p > 0, p, 1.0).min(axis=-1)
rare = (p > 0) * (p <= rarest[..., None] + 1e-9)
expected = xp.where(rare > 0, x, 1e9).min(axis=-1)
amount, chance = expected[:, 1] - expected[:, 0], rarest[:, 1] - rarest[:, 0]
lead = xp.where(xp.abs(amount) > 1e-9, amount, xp.where(xp.abs(chance) > 1e-9, chance, 0.0))
"""
        + ONE_SHOT,
        parameters=LAPSE,
    ),
    "the same day of the week": Rule(
        "intertemporal",
        "people wait for whatever comes a whole number of weeks from today, a day of the week that they can remember, "
        "and for a payment on any other day only if it is at least half as much again",
        """
x, t = trials["amounts"], trials["delays_days"]
wait = t[:, 1] - t[:, 0]
second = wait >= 0
sooner, later = xp.where(second, x[:, 0], x[:, 1]), xp.where(second, x[:, 1], x[:, 0])
weeks = t.max(axis=-1) / 7.0
same_day = xp.abs(weeks - xp.round(weeks)) < 1e-6
waits = xp.where(same_day, 1.0, xp.where(later >= 1.5 * sooner - 0.001, 1.0, -1.0))
lead = xp.where(wait == 0, x[:, 1] - x[:, 0], waits * xp.where(second, 1.0, -1.0))
"""
        + ONE_SHOT,
        parameters=LAPSE,
    ),
    "a purse for each visit": Rule(
        "learning",
        "people count an option's rewards and blanks since they last turned to it, stay while the blanks do not "
        "outnumber the rewards, and else leave for another and begin to count anew",
        source="""def start(parameters, trials, xp):
    return {"held": xp.zeros((1, 1, trials["available"].shape[-1])), "purse": xp.zeros((1, 1))}


def choose(parameters, trials, xp, state):
    free = trials["available"][None]
    held = state["held"] * (trials["block_start"] <= 0)[None, :, None]
    wanted = free * xp.where(state["purse"][..., None] >= 0, held, held.sum(axis=-1)[..., None] - held)
    wanted = xp.where(wanted.sum(axis=-1)[..., None] > 0, wanted, free)
"""
        + AMONG_WANTED
        + """

def learn(parameters, trials, xp, state, response, feedback):
    stayed = (state["held"] * response).sum(axis=-1) * (trials["block_start"] <= 0)[None]
    earned = xp.where(feedback["reward"] > 0, 1.0, -1.0)
    return {"held": response + 0.0 * state["held"], "purse": stayed * state["purse"] + earned}
""",
        parameters=LAPSE,
    ),
}
