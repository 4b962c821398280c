"""Theories of choice between rated products: from one good reason to weighing and adding everything.

The skeleton: every rating gets a subjective *value*, the two products' values are *compared* cue by cue, every cue
gets a *weight* from its validity, people may *select* cues, and *integrate* the weighted comparisons into evidence
for product B, which may be taken *relative* to what there was to weigh. A *choice* rule turns evidence into a
probability; some people or some trials may be ruled by *another strategy*, and some choices are *lapses*.
"""

from __future__ import annotations

from theories.families.family import Family
from theories.grammar import Composition, Grammar, Mechanism, Slot

BEFORE = """
ratings = trials["ratings"] / trials["rating_max"][:, None, None]
validities = trials["validities"]
cue = xp.arange(validities.shape[-1])
above = (validities[:, None, :] > validities[:, :, None]).sum(axis=-1)
tied = (validities[:, None, :] == validities[:, :, None]) & (cue[None, :] < cue[:, None])
rank = above + tied.sum(axis=-1)
bias = 0.0
"""

HELPERS = '''
def first_that_differs(difference, rank, xp):
    """Of (..., n_trials, n_cues) differences, the one on the best-ranked cue that is not 0."""
    place = xp.where(difference != 0, rank, 99)
    return xp.where(place == place.min(axis=-1)[..., None], difference, 0.0).sum(axis=-1)


def logistic(x, xp):
    return 1 / (1 + xp.exp(-xp.clip(x, -500.0, 500.0)))
'''

UTILITY = (
    Mechanism(
        "utility",
        "linear",
        "value a rating as it stands",
        "value = ratings",
        citation="Dawes (1979), American Psychologist 34(7), 571-582.",
    ),
    Mechanism(
        "utility",
        "diminishing",
        "value each further rating point less than the one before, or some of them more",
        'value = ratings ** parameters["curvature"][..., None, None]',
        {
            "curvature": {
                "prior": "log_uniform",
                "low": 0.05,
                "high": 4.0,
                "unit": "exponent",
                "meaning": "power of the rating (share of the maximum); below 1 the first points count most",
            }
        },
        answers=("level", "largest_difference", "worst_rating_difference", "unevenness_difference"),
        citation="Stevens (1957), Psychological Review 64(3), 153-181; Keeney & Raiffa (1976).",
    ),
    Mechanism(
        "utility",
        "satisficing",
        "call a rating good enough or not, by an aspiration level, and ask no more",
        'value = (ratings >= parameters["aspiration"][..., None, None]) * 1.0',
        {
            "aspiration": {
                "prior": "uniform",
                "low": 0.01,
                "high": 1.0,
                "unit": "share of the maximum",
                "meaning": "lowest rating that is good enough",
            }
        },
        answers=("level", "largest_difference", "best_rating_difference"),
        citation="Simon (1955), Quarterly Journal of Economics 69(1), 99-118.",
    ),
    Mechanism(
        "utility",
        "saturating",
        "value ratings as they stand up to an aspiration level, above which better is no better",
        'value = xp.minimum(ratings, parameters["enough"][..., None, None])',
        {
            "enough": {
                "prior": "uniform",
                "low": 0.05,
                "high": 1.0,
                "unit": "share of the maximum",
                "meaning": "rating above which nothing is gained",
            }
        },
        answers=("largest_difference", "best_rating_difference", "unevenness_difference"),
        citation="Simon (1955), Quarterly Journal of Economics 69(1), 99-118.",
    ),
)
COMPARISON = (
    Mechanism(
        "comparison",
        "difference",
        "compare the products cue by cue, by how much better one is",
        "difference = value[..., 1, :] - value[..., 0, :]",
        citation="Tversky (1969), Psychological Review 76(1), 31-48.",
    ),
    Mechanism(
        "comparison",
        "direction",
        "note on each cue only which product is better, not by how much",
        "difference = xp.sign(value[..., 1, :] - value[..., 0, :])",
        answers=("n_cues_favouring", "largest_difference", "total_difference"),
        citation="May (1954), Econometrica 22(1), 1-13; Russo & Dosher (1983).",
    ),
    Mechanism(
        "comparison",
        "compressed",
        "compare the products cue by cue, where small advantages count for more than their size",
        "difference = value[..., 1, :] - value[..., 0, :]\n"
        'difference = xp.sign(difference) * xp.abs(difference) ** parameters["compression"][..., None]',
        {
            "compression": {
                "prior": "log_uniform",
                "low": 0.05,
                "high": 2.0,
                "unit": "exponent",
                "meaning": "power of a difference; near 0 only its direction counts, above 1 large ones stand out",
            }
        },
        answers=("n_cues_favouring", "largest_difference", "total_difference"),
        citation="Koszegi & Szeidl (2013), Quarterly Journal of Economics 128(1), 53-104; Tversky (1977).",
    ),
    Mechanism(
        "comparison",
        "proportional",
        "judge an advantage in proportion to the better rating",
        "difference = (value[..., 1, :] - value[..., 0, :]) / xp.maximum(value.max(axis=-2), 1e-9)",
        answers=("level", "worst_rating_difference", "largest_difference"),
        citation="Gonzalez-Vallejo (2002), Psychological Review 109(1), 137-155.",
    ),
)
WEIGHT = (
    Mechanism(
        "weight",
        "validity",
        "weight every cue by its validity",
        "weight = validities",
        citation="Gigerenzer & Goldstein (1996), Psychological Review 103(4), 650-669.",
    ),
    Mechanism(
        "weight",
        "above_chance",
        "weight every cue by how far its validity is above guessing",
        "weight = 2 * validities - 1",
        answers=("above_chance_difference", "validity_spread"),
        citation="Dawes (1979), American Psychologist 34(7), 571-582.",
    ),
    Mechanism(
        "weight",
        "log_odds",
        "weight every cue by the log odds that it is right",
        "weight = xp.log(xp.minimum(validities, 0.99) / (1 - xp.minimum(validities, 0.99)))",
        answers=("above_chance_difference", "best_cue_favours", "validity_spread"),
        citation="Bergert & Nosofsky (2007), JEP: LMC 33(1), 107-129.",
    ),
    Mechanism(
        "weight",
        "equal",
        "treat all cues alike",
        "weight = xp.ones_like(validities)",
        answers=("n_cues_favouring", "total_difference"),
        citation="Dawes (1979), American Psychologist 34(7), 571-582.",
    ),
    Mechanism(
        "weight",
        "power",
        "weight every cue by a subjective power of how far its validity is above guessing, "
        "from all alike to the best alone",
        'weight = xp.maximum(2 * validities - 1, 0.02) ** parameters["emphasis"][..., None]',
        {
            "emphasis": {
                "prior": "log_uniform",
                "low": 0.02,
                "high": 20.0,
                "unit": "exponent",
                "meaning": "0 treats cues alike, 1 weighs them by validity above guessing, large follows the best cue",
            }
        },
        answers=("above_chance_difference", "n_cues_favouring", "best_cue_favours", "conflict", "validity_spread"),
        citation="Bergert & Nosofsky (2007), JEP: LMC 33(1), 107-129; Lee & Newell (2011).",
    ),
    Mechanism(
        "weight",
        "relative_power",
        "weight every cue relative to the most valid one, by a subjective power of how far it is above guessing",
        "weight = xp.maximum(2 * validities - 1, 0.02)\n"
        'weight = (weight / weight.max(axis=-1)[:, None]) ** parameters["emphasis"][..., None]',
        {
            "emphasis": {
                "prior": "log_uniform",
                "low": 0.02,
                "high": 20.0,
                "unit": "exponent",
                "meaning": "0 treats cues alike, 1 weighs them by validity above guessing, large follows the best cue",
            }
        },
        answers=("above_chance_difference", "n_cues_favouring", "best_cue_favours", "conflict", "validity_spread"),
        citation="Bergert & Nosofsky (2007), JEP: LMC 33(1), 107-129; Lee & Newell (2011).",
    ),
    Mechanism(
        "weight",
        "exponential",
        "weight cues by a steep function of their validity, as if attention were drawn to the most valid",
        'weight = xp.exp(parameters["focus"][..., None] * (validities - validities.max(axis=-1)[:, None]))',
        {
            "focus": {
                "prior": "log_uniform",
                "low": 0.1,
                "high": 100.0,
                "unit": "per unit of validity",
                "meaning": "how much faster than in proportion weight grows with validity; near 0 treats cues alike",
            }
        },
        answers=("above_chance_difference", "n_cues_favouring", "best_cue_favours", "conflict", "validity_spread"),
        citation="Roe, Busemeyer & Townsend (2001), Psychological Review 108(2), 370-392.",
    ),
    Mechanism(
        "weight",
        "rank_decay",
        "weight cues by the rank of their validity, each a constant share of the one before",
        'weight = parameters["decay"][..., None] ** above',
        {
            "decay": {
                "prior": "uniform",
                "low": 0.02,
                "high": 1.0,
                "unit": "ratio",
                "meaning": "weight of a cue relative to the next more valid one; below one half the best cue decides",
            }
        },
        answers=("best_cue_favours", "conflict"),
        citation="Martignon & Hoffrage (2002), Theory and Decision 52, 29-71; Barron & Barrett (1996).",
    ),
)
SELECTION = (
    Mechanism(
        "selection",
        "unreliable_ignored",
        "ignore cues whose validity is below a limit of their own",
        'weight = weight * (validities >= parameters["least_validity"][..., None])',
        {
            "least_validity": {
                "prior": "uniform",
                "low": 0.5,
                "high": 0.95,
                "unit": "probability",
                "meaning": "lowest validity of a cue that is looked at",
            }
        },
        answers=("above_chance_difference", "n_cues", "validity_spread"),
        citation="Hogarth & Karelaia (2007), Psychological Review 114(3), 733-758.",
    ),
    Mechanism(
        "selection",
        "best_few",
        "look only at a number of the most valid cues",
        'weight = weight * (rank < parameters["n_looked_up"][..., None])',
        {
            "n_looked_up": {
                "prior": "uniform",
                "low": 0.5,
                "high": 8.0,
                "unit": "cues",
                "meaning": "cues that are looked at, rounded up",
            }
        },
        answers=("n_cues", "n_discriminating_cues", "best_cue_favours"),
        citation="Gigerenzer & Goldstein (1996), Psychological Review 103(4), 650-669; Graefe & Armstrong (2012).",
    ),
)
FADING = Mechanism(
    "selection",
    "fading",
    "lose interest as they go down the cues from the most valid",
    'weight = weight * parameters["persistence"][..., None] ** rank',
    {
        "persistence": {
            "prior": "uniform",
            "low": 0.05,
            "high": 1.0,
            "unit": "ratio",
            "meaning": "attention to a cue relative to the next more valid one",
        }
    },
    answers=("best_cue_favours", "first_difference_favours", "n_cues", "conflict"),
    citation="Wallsten & Barton (1982), JEP: LMC 8(5), 361-384.",
)
INTEGRATION = (
    Mechanism(
        "integration",
        "sum",
        "add everything up",
        "evidence = (weight * difference).sum(axis=-1)",
        citation="Payne, Bettman & Johnson (1993), The Adaptive Decision Maker.",
    ),
    Mechanism(
        "integration",
        "average",
        "average, so that more cues do not make more evidence",
        "evidence = (weight * difference).sum(axis=-1) / xp.maximum(weight.sum(axis=-1), 1e-9)",
        answers=("n_cues", "validity_spread"),
        citation="Anderson (1981), Foundations of Information Integration Theory.",
    ),
    Mechanism(
        "integration",
        "balance",
        "go by the balance of reasons, the difference between those for and against relative to all there are",
        "reasons = weight * difference\n"
        "evidence = reasons.sum(axis=-1) / xp.maximum(xp.abs(reasons).sum(axis=-1), 1e-9)",
        answers=("n_discriminating_cues", "largest_difference", "n_cues", "total_difference"),
        citation="Gonzalez-Vallejo (2002), Psychological Review 109(1), 137-155; Shafir, Simonson & Tversky (1993).",
    ),
    Mechanism(
        "integration",
        "one_reason",
        "decide by the most valid cue on which the products differ and ignore the rest",
        "evidence = first_that_differs(difference * (weight > 0), rank, xp)",
        answers=("best_cue_favours", "first_difference_favours", "conflict"),
        citation="Gigerenzer & Goldstein (1996), Psychological Review 103(4), 650-669.",
    ),
    Mechanism(
        "integration",
        "threshold",
        "go through the cues from the most valid and stop as soon as one product is far enough ahead",
        "reasons = weight * difference\n"
        "place = xp.broadcast_to(xp.argsort(rank, axis=-1), reasons.shape)\n"
        "reasons = xp.take_along_axis(reasons, place, axis=-1)\n"
        "evidence = reasons[..., 0]\n"
        "for step in range(1, validities.shape[-1]):\n"
        '    evidence = evidence + reasons[..., step] * (xp.abs(evidence) < parameters["caution"])',
        {
            "caution": {
                "prior": "uniform",
                "low": 0.01,
                "high": 3.0,
                "unit": "weighted difference",
                "meaning": "lead at which search stops; near 0 the first reason decides, large means all cues count",
            }
        },
        answers=("best_cue_favours", "first_difference_favours", "conflict", "n_discriminating_cues"),
        citation="Lee & Cummins (2004), Psychonomic Bulletin & Review 11(2), 343-352.",
    ),
)
PER_REASON = Mechanism(
    "integration",
    "noisy_reasons",
    "add everything up, with noise in every reason, so that a lead counts relative to the strength of all reasons",
    "reasons = weight * difference\n"
    "evidence = reasons.sum(axis=-1) / xp.maximum(xp.sqrt((reasons**2).sum(axis=-1)), 1e-9)",
    answers=("n_discriminating_cues", "largest_difference", "n_cues", "total_difference"),
    citation="Thurstone (1927), Psychological Review 34(4), 273-286.",
)
ACCENT = (
    Mechanism(
        "accent",
        "first_reason",
        "give extra weight to the most valid cue on which the products differ, whatever the difference",
        'evidence = evidence + parameters["first_reason_bonus"]'
        " * xp.sign(first_that_differs(ratings[:, 1] - ratings[:, 0], rank, xp))",
        {
            "first_reason_bonus": {
                "prior": "uniform",
                "low": 0.0,
                "high": 1.0,
                "unit": "evidence",
                "meaning": "what the first reason adds",
            }
        },
        answers=("first_difference_favours", "best_cue_favours", "conflict"),
        citation="Gigerenzer & Goldstein (1996), Psychological Review 103(4), 650-669.",
    ),
    Mechanism(
        "accent",
        "majority",
        "are drawn to the product that more cues favour, whatever the differences",
        'evidence = evidence + parameters["majority_bonus"]'
        " * xp.sign(xp.sign(ratings[:, 1] - ratings[:, 0]).sum(axis=-1))",
        {
            "majority_bonus": {
                "prior": "uniform",
                "low": 0.0,
                "high": 1.0,
                "unit": "evidence",
                "meaning": "what the majority of cues adds",
            }
        },
        answers=("n_cues_favouring", "total_difference"),
        citation="Russo & Dosher (1983), JEP: LMC 9(4), 676-696.",
    ),
)
BIAS = (
    Mechanism(
        "bias",
        "side",
        "lean to one side of the screen",
        'bias = parameters["lean"]',
        {
            "lean": {
                "prior": "normal",
                "mean": 0.0,
                "sd": 0.3,
                "low": -2.0,
                "high": 2.0,
                "unit": "log odds",
                "meaning": "preference for product B whatever the ratings",
            }
        },
        answers=("constant",),
        citation="Nicholls, Bradshaw & Mattingley (1999), Neuropsychologia 37(3), 307-314.",
    ),
)
SENSITIVITY = {
    "sensitivity": {
        "prior": "log_uniform",
        "low": 0.1,
        "high": 200.0,
        "unit": "log odds per unit of evidence",
        "meaning": "how strictly choices follow the evidence",
    }
}
CHOICE = (
    Mechanism(
        "choice",
        "logistic",
        "choose the better product more surely, the larger its lead",
        'p = logistic(parameters["sensitivity"] * evidence + bias, xp)',
        SENSITIVITY,
        citation="Luce (1959), Individual Choice Behavior.",
    ),
    Mechanism(
        "choice",
        "deterministic",
        "always choose the product that is ahead, and either one when there is no lead",
        "p = xp.where(xp.abs(evidence) < 1e-9, logistic(bias, xp), (evidence > 0) * 1.0)",
        citation="Broder & Schiffer (2003), Journal of Behavioral Decision Making 16(3), 193-213.",
        is_null=True,
    ),
)
GUESSING = Mechanism("choice", "guessing", "but then guess", "p = 0.5 + 0.0 * evidence")
OTHER = (
    Mechanism(
        "other",
        "best_reason",
        "but some people decide by the most valid cue on which the products differ",
        "lead = first_that_differs(ratings[:, 1] - ratings[:, 0], rank, xp)\n"
        'p = xp.where(parameters["one_reason_type"] > 0, 0.5 + 0.5 * xp.sign(lead), p)',
        {
            "one_reason_type": {
                "prior": "normal",
                "mean": -1.0,
                "sd": 1.0,
                "low": -4.0,
                "high": 4.0,
                "unit": "standard deviations",
                "meaning": "disposition; people above 0 decide by one reason",
            }
        },
        answers=("best_cue_favours", "first_difference_favours", "conflict"),
        citation="Broder (2000), JEP: LMC 26(5), 1332-1346; Scheibehenne, Rieskamp & Wagenmakers (2013).",
    ),
    Mechanism(
        "other",
        "tallying",
        "but some people count the cues that favour each product",
        "lead = xp.sign(ratings[:, 1] - ratings[:, 0]).sum(axis=-1)\n"
        'p = xp.where(parameters["counting_type"] > 0, 0.5 + 0.5 * xp.sign(lead), p)',
        {
            "counting_type": {
                "prior": "normal",
                "mean": -1.0,
                "sd": 1.0,
                "low": -4.0,
                "high": 4.0,
                "unit": "standard deviations",
                "meaning": "disposition; people above 0 count cues",
            }
        },
        answers=("n_cues_favouring", "total_difference", "largest_difference"),
        citation="Dawes (1979), American Psychologist 34(7), 571-582; Scheibehenne et al. (2013).",
    ),
)
LAPSES = (
    Mechanism(
        "lapse",
        "random",
        "sometimes press either key",
        'p = (1 - parameters["lapse"]) * p + 0.5 * parameters["lapse"]',
        {
            "lapse": {
                "prior": "uniform",
                "low": 0.0,
                "high": 1.0,
                "unit": "probability",
                "meaning": "share of choices made at random",
            }
        },
        answers=("extremeness",),
        citation="Broder & Schiffer (2003), Journal of Behavioral Decision Making 16(3), 193-213.",
        is_null=True,
    ),
)

GRAMMAR = Grammar(
    domain="multiattribute",
    slots=(
        Slot("utility"),
        Slot("comparison"),
        Slot("weight"),
        Slot("selection", 0, 1),
        Slot("integration"),
        Slot("accent", 0, 2),
        Slot("bias", 0, 1),
        Slot("choice"),
        Slot("other", 0, 2),
        Slot("lapse", 0, 1),
    ),
    mechanisms=(
        *UTILITY,
        *COMPARISON,
        *WEIGHT,
        *SELECTION,
        FADING,
        *INTEGRATION,
        PER_REASON,
        *ACCENT,
        *BIAS,
        *CHOICE,
        GUESSING,
        *OTHER,
        *LAPSES,
    ),
    before=BEFORE,
    after="return p",
    helpers=HELPERS,
)


def _composition(**slots: str) -> Composition:
    names = {"utility": "linear", "comparison": "difference", "integration": "sum", "choice": "logistic"} | slots
    return Composition({slot: (name,) for slot, name in names.items() if name})


SEEDS = {
    "take_the_best": (
        "Take the best",
        _composition(
            comparison="direction", weight="validity", integration="one_reason", choice="deterministic", lapse="random"
        ),
    ),
    "tallying": (
        "Tallying",
        _composition(comparison="direction", weight="equal", choice="deterministic", lapse="random"),
    ),
    "weighted_additive": ("Weighted additive", _composition(weight="validity", lapse="random")),
    "equal_weights": ("Equal weights", _composition(weight="equal", lapse="random")),
    "diminishing_returns": (
        "Weighted additive with diminishing returns",
        _composition(utility="diminishing", weight="validity", lapse="random"),
    ),
    "satisficing": (
        "Satisficing weighted additive",
        _composition(utility="satisficing", weight="validity", lapse="random"),
    ),
    "random": ("Guessing", _composition(weight="equal", choice="guessing")),
}
FAMILY = Family("multiattribute", GRAMMAR, SEEDS)
