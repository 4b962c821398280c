"""Theories of sequential search: a value is taken if it exceeds a threshold, or is a candidate at the right time.

The skeleton: a *rule* compares the value with a threshold, which may be fixed, fall linearly or be optimal, or it
counts values and candidates (values that are the best so far). Thresholds may be *shifted* from the optimal ones. A
*gate* makes values that are not the best so far less attractive. A *pull* that has nothing to do with the value adds
log odds, and a *choice* rule makes a probability of both.

Thresholds are in standard deviations of the values. Of ranks, the value is the expected place among all candidates, so
that a threshold says from which standing on a candidate is taken.
"""

from __future__ import annotations

from collections.abc import Mapping

from lakatos.domains.kit.lapses import lapse
from lakatos.domains.kit.parameter import LOG_ODDS, log_uniform, normal, uniform
from lakatos.theories.language.account import Wording
from lakatos.theories.language.family import Family
from lakatos.theories.language.grammar import Composition, Grammar, Mechanism, SkeletonSlot

GILBERT = "Gilbert & Mosteller (1966), Journal of the American Statistical Association 61, 35-73"
CHOW = "Chow, Moriguti, Robbins & Samuels (1964), Israel Journal of Mathematics 2, 81-90"
SEALE = (
    "Seale & Rapoport (1997), Organizational Behavior and Human Decision Processes 69(3), 221-236"
)
SEALE_2000 = "Seale & Rapoport (2000), Journal of Behavioral Decision Making 13(4), 391-411"
LEE = "Lee (2006), Cognitive Science 30(3), 555-580"
BAUMANN = "Baumann, Singmann, Gershman & von Helversen (2020), PNAS 117(23), 12750-12755"
GUAN = "Guan, Stokes, Vandekerckhove & Lee (2020), Judgment and Decision Making 15(5), 823-850"
GOLDSTEIN = "Goldstein, McAfee, Suri & Wright (2020), Management Science 66(3), 1375-1394"
ODDS, DEVIATIONS = "log odds", "standard deviations"

HELPERS = '''
from scipy.special import ndtr


def both(odds, xp):
    """Probabilities to continue and to take, each as exact as the other."""
    odds = xp.clip(odds, -700.0, 700.0)
    return xp.stack([1 / (1 + xp.exp(odds)), 1 / (1 + xp.exp(-odds))], axis=-1)


def density(value, xp):
    """Density of the normal distribution."""
    return xp.exp(-(value**2) / 2) / (2 * xp.pi) ** 0.5


def expected(place, length, kind, xp):
    """What continuing optimally is expected to bring, in standard deviations."""
    uniform = normal = 0.0 * place
    share = 0.5 + 0.0 * place
    for left in range(2, int(length.max())):
        there = length - place >= left
        uniform = xp.where(there, 3**0.5 * (0.5 + uniform / 12**0.5) ** 2, uniform)
        normal = xp.where(there, density(normal, xp) + normal * ndtr(normal), normal)
        # of ranks: the value of continuing before each candidate, from the last but one on
        own = xp.maximum(length - left + 1, 1.0)
        better = xp.floor((1 - share) * (own + 1))
        taken = better - better * (better + 1) / (own + 1) / 2
        share = xp.where(there, (taken + (own - better) * share) / own, share)
    ranks = 12**0.5 * (share - 0.5)
    return xp.where(kind == 3, ranks, xp.where(kind == 1, uniform, normal))


def lasting(place, length, kind, xp):
    """Threshold above which the best value so far should be taken to find the best of all."""
    left = xp.maximum(length - place, 1.0)[..., None]
    step = xp.arange(1, int(length.max()) + 1)
    share = left / (left + 1)
    for _ in range(5):
        powers = xp.where(step <= left, share ** -xp.minimum(step, left), 1.0)
        slope = xp.where(step <= left, powers / share, 0.0).sum(axis=-1, keepdims=True)
        share = share + (((powers - 1) / step).sum(axis=-1, keepdims=True) - 1) / slope
    share = share[..., 0]
    normal = 0.0 * share
    for _ in range(9):
        normal = normal + (share - ndtr(normal)) / density(normal, xp)
    # of ranks: the first place from which on fewer than one later candidate is expected
    there = step < (length + 0.0 * place)[..., None]
    ahead = xp.where(there, 1 / step, 0.0)
    ahead = ahead.sum(axis=-1, keepdims=True) - xp.cumsum(ahead, axis=-1) + ahead
    first = ((ahead > 1 + 1e-9) & there).sum(axis=-1)
    ranks = 12**0.5 * (0.5 - 1 / (first + 1.5))
    return xp.where(kind == 3, ranks, xp.where(kind == 1, 12**0.5 * (share - 0.5), normal))
'''
BEFORE = """
length, kind, place = trials["length"], trials["kind"], trials["seen"] + 1.0
value, leads = trials["value"], trials["leads"]
candidates, since, problems = trials["candidates"], trials["since"], trials["problems"]
evidence, pull = 0.0 * value, 0.0 * value
"""
OPTIMAL = ("rule:optimal value", "rule:optimal best")
COUNTING = ("rule:cutoff", "rule:successive non-candidates", "rule:candidate count")
GATED = ("gate:candidates",)
LEVEL = normal(
    0.5, 1.0, 4.0, DEVIATIONS, "threshold of the first value, from the mean of all values"
)
DISTRIBUTION = ("distribution",)
RULE = (
    Mechanism(
        slot="rule",
        name="fixed threshold",
        code='evidence = value - parameters["level"]',
        parameters={"level": LEVEL},
        wording=Wording(
            clause="take values above a fixed threshold ({level} SD relative to the mean)"
        ),
        repairs=("value",),
        rests_on=("choice:logistic",),
        source=f"{LEE} (biased optimal, one threshold); {BAUMANN} (fixed threshold)",
    ),
    Mechanism(
        slot="rule",
        name="linear threshold",
        code='evidence = value - parameters["level"] + parameters["fall"] * (place - 1)',
        parameters={
            "level": LEVEL,
            "fall": normal(0.1, 0.2, 2.0, f"{DEVIATIONS} a value", "by which the threshold falls"),
        },
        wording=(
            Wording(
                clause="take values above a threshold ({level} SD relative to the mean at first)"
            ),
            Wording(
                clause="{much}lower the threshold linearly from value to value",
                opposite_clause="{much}raise the threshold linearly from value to value",
                parameter="fall",
                unit=0.05,
                label="falling thresholds",
                opposite_label="rising thresholds",
            ),
        ),
        repairs=("value",),
        rests_on=("choice:logistic",),
        source=BAUMANN,
    ),
    Mechanism(
        slot="rule",
        name="optimal value",
        clause="take a value that exceeds what optimal further search is expected to bring",
        code="evidence = value - expected(place, length, kind, xp)",
        repairs=("value",),
        rests_on=("choice:logistic",),
        needs=DISTRIBUTION,
        source=f"{GILBERT} (expected value); {CHOW} (expected rank)",
    ),
    Mechanism(
        slot="rule",
        name="optimal best",
        clause="take the best value so far if it is more likely to be the best of all than the one "
        "that optimal further "
        "search would find",
        code="evidence = value - lasting(place, length, kind, xp)",
        repairs=("value",),
        rests_on=GATED,
        needs=DISTRIBUTION,
        source=f"{GILBERT} (best choice)",
    ),
    Mechanism(
        slot="rule",
        name="cutoff",
        code='evidence = place - parameters["cutoff"] * length',
        parameters={
            "cutoff": uniform(0.0, 1.0, "share of a sequence", "passed over before a candidate is taken")
        },
        wording=Wording(
            clause="pass over the first values of a sequence ({cutoff%} of it) and then take the next one that is the "
            "best so far"
        ),
        rests_on=GATED,
        source=SEALE,
    ),
    Mechanism(
        slot="rule",
        name="successive non-candidates",
        code='evidence = since - parameters["wait"]',
        parameters={
            "wait": uniform(0.0, 20.0, "values", "in a row that were not the best so far, before one is taken")
        },
        wording=Wording(
            clause="take a value that is the best so far after enough successive values were not ({wait+})"
        ),
        rests_on=GATED,
        source=f"{SEALE}; {SEALE_2000}",
    ),
    Mechanism(
        slot="rule",
        name="candidate count",
        code='evidence = candidates + 1 - parameters["number"]',
        parameters={"number": uniform(0.5, 12.0, "candidates", "of which the last one is taken")},
        wording=Wording(
            clause="count the values that are the best so far and take the one that makes enough of them ({number+})"
        ),
        rests_on=GATED,
        source=f"{SEALE}; {SEALE_2000}",
    ),
)  # fmt: skip
NO_RULE = Mechanism(
    slot="rule",
    name="nothing",
    clause="compare values with nothing",
    beside=(("choice:regardless",), ""),
    rests_on=("choice:regardless",),
    source="Baseline.",
)
SHIFT = (
    Mechanism(
        slot="shift",
        name="constant",
        code='evidence = evidence - parameters["ambition"]',
        parameters={
            "ambition": normal(0.0, 0.5, 4.0, DEVIATIONS, "by which thresholds exceed the optimal ones")
        },
        wording=Wording(
            clause="set their thresholds {far}higher than these",
            opposite_clause="set their thresholds {far}lower than these",
            parameter="ambition",
            unit=0.2,
            label="high thresholds",
            opposite_label="low thresholds",
        ),
        repairs=("constant",),
        rests_on=OPTIMAL,
        source=f"{GUAN} (bias from optimal); {BAUMANN} (biased optimal model)",
    ),
    Mechanism(
        slot="shift",
        name="with depth",
        code='evidence = evidence - parameters["depth"] * (place - 1)',
        parameters={
            "depth": normal(0.0, 0.1, 2.0, f"{DEVIATIONS} a value", "growing distance from the optimal thresholds")
        },
        wording=Wording(
            clause="{much}raise thresholds, compared with the optimal ones, from value to value",
            clause_short="raise them",
            opposite_clause="{much}lower thresholds, compared with the optimal ones, from value to value",
            opposite_short="lower them",
            parameter="depth",
            unit=0.05,
            label="growing ambition",
            opposite_label="fading ambition",
        ),
        rests_on=OPTIMAL,
        source=f"{GUAN} (bias that changes with the position)",
    ),
)  # fmt: skip
GATE = Mechanism(
    slot="gate",
    name="candidates",
    code='pull = pull - parameters["neglect"] * (1 - leads)',
    parameters={
        "neglect": normal(3.0, 2.0, 12.0, ODDS, "against values that are not the best so far")
    },
    wording=Wording(
        clause="are {far}less willing to take a value that is not the best so far than one that is",
        opposite_clause="are {far}more willing to take a value that is not the best so far than one that is",
        parameter="neglect",
        unit=LOG_ODDS,
        label="candidates only",
        opposite_label="lowered standards",
    ),
    rests_on=("choice:logistic",),
    source=f"{LEE}; {SEALE}",
)
PRACTICE = Mechanism(
    slot="pull",
    name="practice",
    code='pull = pull - parameters["patience"] * problems / 10',
    parameters={
        "patience": normal(0.0, 0.5, 4.0, f"{ODDS} in 10 sequences", "for continuing")
    },
    wording=Wording(
        clause="grow {far}more willing to continue from sequence to sequence",
        opposite_clause="grow {far}less willing to continue from sequence to sequence",
        parameter="patience",
        unit=LOG_ODDS / 2,
        label="growing patience",
        opposite_label="fading patience",
    ),
    repairs=("position",),
    source=GOLDSTEIN,
)  # fmt: skip
BIAS = Mechanism(
    slot="pull",
    name="taking",
    code='pull = pull + parameters["bias"]',
    parameters={"bias": normal(0.0, 1.5, 8.0, ODDS, "for taking, whatever the value")},
    wording=Wording(
        clause="take values {far}more often than not",
        opposite_clause="take values {far}less often than not",
        parameter="bias",
        unit=LOG_ODDS,
    ),
    repairs=("constant",),
    rests_on=("choice:regardless",),
    source="Baseline.",
)
CHOICE = (
    Mechanism(
        slot="choice",
        name="logistic",
        code='p = both(parameters["sensitivity"] * evidence + pull, xp)',
        parameters={
            "sensitivity": log_uniform(
                0.05, 60.0, f"{ODDS} per standard deviation or value", "consistency of responses"
            )
        },
        wording=Wording(
            clause="take a value more often, the more speaks for it", taken_for_granted=True
        ),
        rests_on=tuple(f"rule:{item.name}" for item in RULE),
        source=f"{BAUMANN}; {GUAN}",
    ),
    Mechanism(
        slot="choice",
        name="regardless",
        clause="take each value with the same probability",
        code="p = both(pull, xp)",
        rests_on=("rule:nothing",),
        source="Baseline.",
    ),
)
LAPSE = lapse(
    "random",
    'p = p + parameters["lapse"][..., None] * (0.5 - p)',
    "decide at random {lapse~}",
    f"{GUAN} (accuracy of execution)",
    meaning="decisions that have nothing to do with the value",
    unit="share of decisions",
)
HEADS = (
    (("choice:regardless",), "Constant taking"),
    (("rule:fixed threshold",), "Fixed threshold"),
    (("rule:linear threshold",), "Linear threshold"),
    (("rule:optimal value", "shift"), "Biased optimal thresholds"),
    (("rule:optimal value",), "Optimal thresholds"),
    (("rule:optimal best", "shift"), "Biased best choice"),
    (("rule:optimal best",), "Optimal best choice"),
    (("rule:cutoff",), "Cutoff rule"),
    (("rule:successive non-candidates",), "Successive non-candidates"),
    ((), "Candidate count"),
)
GRAMMAR = Grammar(
    domain="search",
    slots=(
        SkeletonSlot("rule"),
        SkeletonSlot("shift", least=0, most=2),
        SkeletonSlot("gate", least=0, sentence=2),
        SkeletonSlot("pull", least=0, sentence=2),
        SkeletonSlot("choice", sentence=3),
        SkeletonSlot("lapse", least=0, sentence=3),
    ),
    mechanisms=(*RULE, NO_RULE, *SHIFT, GATE, PRACTICE, BIAS, *CHOICE, LAPSE),
    heads=HEADS,
    before=BEFORE,
    after="return p",
    helpers=HELPERS,
    predictions=({"property": "ignores", "in": "last_reward"},),
)


def _composition(**slots: str | tuple[str, ...]) -> Composition:
    return Composition.of({"choice": "logistic", **slots})


SEEDS: Mapping[str, tuple[str, Composition]] = {
    "optimal_value": ("Optimal thresholds", _composition(rule="optimal value")),
    "biased_optimal": (
        "Biased optimal thresholds",
        _composition(rule="optimal value", shift=("constant", "with depth")),
    ),
    "optimal_best": (
        "Optimal best choice",
        _composition(rule="optimal best", gate="candidates"),
    ),
    "biased_best": (
        "Biased best choice",
        _composition(
            rule="optimal best", shift=("constant", "with depth"), gate="candidates", lapse="random"
        ),
    ),
    "fixed_threshold": ("Fixed threshold", _composition(rule="fixed threshold")),
    "linear_threshold": ("Linear threshold", _composition(rule="linear threshold")),
    "cutoff": ("Cutoff rule", _composition(rule="cutoff", gate="candidates")),
    "successive_noncandidates": (
        "Successive non-candidates",
        _composition(rule="successive non-candidates", gate="candidates"),
    ),
    "candidate_count": (
        "Candidate count",
        _composition(rule="candidate count", gate="candidates"),
    ),
    "constant_rate": (
        "Constant taking",
        _composition(rule="nothing", choice="regardless", pull="taking"),
    ),
    "random": ("Guessing", _composition(rule="nothing", choice="regardless")),
}

FAMILY = Family("search", GRAMMAR, SEEDS)
