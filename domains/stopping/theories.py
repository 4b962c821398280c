"""Theories of stopping: a balloon is pumped until a target is reached, or as long as another pump is worth its risk.

The skeleton: participants may hold a *belief* about how often a pump bursts the balloon, which starts from a prior and
follows what they see. Their *evaluation* of the next pump compares the number of pumps with a target, or what a pump
adds with what a burst costs, after a *utility* of points and an *aversion* to losses, with a *risk* attitude to the
variance. Targets may *adapt* to bursts and collections. A *pull* that has nothing to do with the number of pumps adds
log odds, and a *choice* rule makes a probability of both.

Without a belief every pump counts alike, so that the target is a fixed number of pumps.
"""

from __future__ import annotations

from collections.abc import Mapping

from lakatos.domains.kit.lapses import lapse
from lakatos.domains.kit.parameter import LOG_ODDS, Literal, log_uniform, normal
from lakatos.theories.language.account import Wording
from lakatos.theories.language.family import Family
from lakatos.theories.language.grammar import Composition, Grammar, Mechanism, SkeletonSlot

WALLSTEN = "Wallsten, Pleskac & Lejuez (2005), Psychological Review 112(4), 862-880"
RAVENZWAAIJ = (
    "van Ravenzwaaij, Dutilh & Wagenmakers (2011), Journal of Mathematical Psychology 55(1), 94-105"
)
PARK = "Park, Yang, Vassileva & Ahn (2021), Journal of Mathematical Psychology 102"
LEJUEZ = "Lejuez et al. (2002), Journal of Experimental Psychology: Applied 8(2), 75-84"
ZHOU = "Zhou, Myung & Pitt (2021), Cognitive Psychology 128, 101407"
KAHNEMAN = "Kahneman & Tversky (1979), Econometrica 47, 263-291"
RESCORLA = "Rescorla & Wagner (1972), in Classical Conditioning II, 64-99"
SHARE, ODDS = "share of pumps", "log odds"

HELPERS = '''
def both(odds, xp):
    """Probabilities to pump and to collect, each as exact as the other."""
    odds = xp.clip(odds, -700.0, 700.0)
    return xp.stack([1 / (1 + xp.exp(-odds)), 1 / (1 + xp.exp(odds))], axis=-1)
'''
BEFORE = """
pumps, balloons, made = trials["pumps"], trials["balloons"], trials["made"]
bursts, last_burst = trials["bursts"], trials["last_burst"]
gain, loss = 1.0 + 0.0 * pumps, pumps
evidence, pull, factor, rarity = 0.0 * pumps, 0.0 * pumps, 1.0, 1.0
"""


def _first(meaning: str = "belief before the first balloon") -> Mapping[str, Literal]:
    return {"first_belief": log_uniform(0.002, 0.9, SHARE, f"that burst a balloon: {meaning}")}


RARITY = "\nrarity = -1 / xp.log1p(-xp.minimum(chance, 0.999999))"
"""Pumps, about, of which one bursts the balloon; without a belief the target is a number of pumps."""
NEEDS_BELIEF = ("evaluation:target", "evaluation:worth of a pump")
BELIEF = (
    Mechanism(
        slot="belief",
        name="observed bursts",
        code='chance = (parameters["first_belief"] + parameters["experience"] * bursts)'
        ' / (1 + parameters["experience"] * made)' + RARITY,
        parameters={
            **_first(),
            "experience": log_uniform(
                0.0001, 3.0, "ratio", "weight of a pump seen, relative to the prior belief"
            ),
        },
        wording=Wording(
            clause="start from a belief about how often a pump bursts the balloon ({first_belief%} of pumps) and "
            "update it by the pumps and bursts that they have seen (the prior counts as much as {experience/} pumps)",
            label="updated beliefs",
        ),
        repairs=("position",),
        rests_on=NEEDS_BELIEF,
        source=f"{WALLSTEN}; {RAVENZWAAIJ}",
    ),
    Mechanism(
        slot="belief",
        name="exponential weights",
        code="""
left = xp.exp(-parameters["fading"] * made)
chance = parameters["first_belief"] + (1 - left) * (made > 0) * (
    bursts / xp.maximum(made, 1.0) - parameters["first_belief"]
)"""
        + RARITY,
        parameters={
            **_first(),
            "fading": log_uniform(0.0005, 1.0, "1 / pump", "pace at which the prior loses weight"),
        },
        wording=Wording(
            clause="believe at first that a pump bursts the balloon on {first_belief%} of pumps, and "
            "rely on this belief "
            "exponentially less, and on the observed share of bursts more, the more pumps they have seen",
            label="exponential weights",
        ),
        repairs=("position",),
        rests_on=NEEDS_BELIEF,
        source=PARK,
    ),
    Mechanism(
        slot="belief",
        name="recent bursts",
        start='state["chance"] = parameters["first_belief"] + xp.zeros((1, 1))',
        code='chance = state["chance"] + 0.0 * pumps' + RARITY,
        learn='pumped = response[..., 0]\nerror = feedback["burst"] - state["chance"]\n'
        'state["chance"] = state["chance"] + parameters["learning_rate"] * pumped * error',
        parameters={
            **_first(),
            "learning_rate": log_uniform(
                0.0005, 0.5, "share of an error", "how far a pump moves the belief"
            ),
        },
        wording=Wording(
            clause="update a belief about how often a pump bursts the balloon by a constant proportion of each "
            "prediction error ({learning_rate%}), so that recent pumps count more",
            label="recent bursts",
        ),
        repairs=("position",),
        rests_on=NEEDS_BELIEF,
        source=f"{RESCORLA} (constant learning rate)",
    ),
    Mechanism(
        slot="belief",
        name="constant",
        code='chance = parameters["first_belief"] + 0.0 * pumps',
        parameters=_first("the same throughout"),
        wording=Wording(
            clause="believe throughout that a pump bursts the balloon equally often ({first_belief%} of pumps)"
        ),
        rests_on=("evaluation:worth of a pump",),
        source=f"{RAVENZWAAIJ} (known probability)",
    ),
    Mechanism(
        slot="belief",
        name="pumps left",
        clause="believe that the balloon is equally likely to burst at any of the remaining pumps",
        code='chance = 1 / xp.maximum(trials["most"] - pumps, 1.0)' + RARITY,
        rests_on=NEEDS_BELIEF,
        needs=("most",),
        source=f"{LEJUEZ}; {WALLSTEN} (nonstationary belief)",
    ),
)
UTILITY = Mechanism(
    slot="utility",
    name="power",
    code="""
held = (pumps > 0) * xp.maximum(pumps, 1.0) ** parameters["curvature"]
gain = (pumps + 1.0) ** parameters["curvature"] - held
loss = held
""",
    parameters={
        "curvature": log_uniform(0.1, 3.0, "exponent", "below 1: further points count less")
    },
    wording=Wording(
        clause="value further points {far}more than the first ones",
        opposite_clause="value further points {far}less than the first ones",
        parameter="curvature",
        neutral=1.0,
        unit=0.3,
        log_ratio=True,
        label="increasing returns",
        opposite_label="diminishing returns",
    ),
    rests_on=("evaluation:worth of a pump",),
    source=f"{WALLSTEN}; {KAHNEMAN}",
)
AVERSION = Mechanism(
    slot="aversion",
    name="losses",
    code='loss = parameters["loss_aversion"] * loss',
    parameters={
        "loss_aversion": log_uniform(0.05, 20.0, "ratio", "weight of lost points relative to gains")
    },
    wording=Wording(
        clause="weight points that a burst loses {far}more than points that a pump gains",
        opposite_clause="weight points that a pump gains {far}more than points that a burst loses",
        parameter="loss_aversion",
        neutral=1.0,
        unit=0.3,
        log_ratio=True,
        label="loss aversion",
        opposite_label="gain seeking",
    ),
    rests_on=("evaluation:worth of a pump",),
    source=f"{PARK}; {KAHNEMAN}",
)
ADAPTATION = Mechanism(
    slot="adaptation",
    name="of the target",
    start='state["factor"] = 0.0 * parameters["fall"] + xp.ones((1, 1))',
    code='factor = state["factor"]',
    learn="""
ended = (feedback["balloons"] > trials["balloons"]) * 1.0
change = xp.where(feedback["burst"] > 0, -parameters["fall"], parameters["rise"])
state["factor"] = state["factor"] * xp.exp(ended * change)
""",
    parameters={
        "fall": normal(0.0, 0.2, 1.0, "log ratio", "by which a burst lowers the target"),
        "rise": normal(0.0, 0.1, 1.0, "log ratio", "by which a collection raises the target"),
    },
    wording=(
        Wording(
            clause="aim {far}lower after each burst",
            opposite_clause="aim {far}higher after each burst",
            parameter="fall",
            unit=0.1,
            label="falling targets",
            opposite_label="defiance",
        ),
        Wording(
            clause="aim {far}higher after collecting their points",
            opposite_clause="aim {far}lower after collecting their points",
            parameter="rise",
            unit=0.1,
            label="rising targets",
            opposite_label="retreat",
        ),
    ),
    repairs=("position",),
    rests_on=("evaluation:target",),
    source=f"after {ZHOU} (targets learned by scaled steps)",
)
EVALUATION = (
    Mechanism(
        slot="evaluation",
        name="target",
        code='evidence = factor * parameters["boldness"] * rarity - (pumps + 1)',
        parameters={
            "boldness": log_uniform(
                0.05,
                150.0,
                "pumps",
                "target; with a belief, relative to the pumps that make a burst likely",
            )
        },
        wording=Wording(clause="stop near a target ({boldness} pumps)"),
        beside=(
            ("belief",),
            "set a higher target for a balloon, the rarer they believe bursts to be",
        ),
        rests_on=("choice:logistic",),
        source=f"{RAVENZWAAIJ}; {WALLSTEN}",
    ),
    Mechanism(
        slot="evaluation",
        name="worth of a pump",
        clause="pump while the expected gain of the next pump exceeds its expected loss",
        code="evidence = (1 - chance) * gain - chance * loss",
        rests_on=tuple(f"belief:{item.name}" for item in BELIEF),
        source=f"{LEJUEZ}; {PARK}",
    ),
)
RISK = Mechanism(
    slot="risk",
    name="variance",
    code='evidence = evidence + parameters["risk_seeking"] * chance * (1 - chance) * (gain + loss) ** 2',
    parameters={
        "risk_seeking": normal(0.0, 0.05, 0.5, "1 / point", "worth of the variance of outcomes")
    },
    wording=Wording(
        clause="are {much}drawn to pumps with variable outcomes",
        opposite_clause="{much}avoid pumps with variable outcomes",
        parameter="risk_seeking",
        unit=0.02,
        label="risk seeking",
        opposite_label="risk aversion",
    ),
    rests_on=("evaluation:worth of a pump",),
    source=PARK,
)
PULL = (
    Mechanism(
        slot="pull",
        name="after a burst",
        code='pull = pull - parameters["caution"] * last_burst',
        parameters={
            "caution": normal(0.0, 1.0, 6.0, ODDS, "for collecting, if the last balloon burst")
        },
        wording=Wording(
            clause="are {far}less willing to pump if the last balloon burst",
            opposite_clause="are {far}more willing to pump if the last balloon burst",
            parameter="caution",
            unit=LOG_ODDS,
            label="caution after bursts",
            opposite_label="boldness after bursts",
        ),
        repairs=("last_choice",),
        source="Robles (2015), Conductual 3(2), 128-143 (suppression by bursts)",
    ),
    Mechanism(
        slot="pull",
        name="practice",
        code='pull = pull + parameters["trend"] * balloons / 10',
        parameters={"trend": normal(0.0, 0.5, 4.0, f"{ODDS} in 10 balloons", "growing boldness")},
        wording=Wording(
            clause="grow {far}more willing to pump from balloon to balloon",
            opposite_clause="grow {far}less willing to pump from balloon to balloon",
            parameter="trend",
            unit=LOG_ODDS / 2,
            label="growing boldness",
            opposite_label="growing caution",
        ),
        repairs=("position",),
        source=f"{LEJUEZ} (pumps by block)",
    ),
)
BIAS = Mechanism(
    slot="bias",
    name="pumping",
    code='pull = pull + parameters["bias"]',
    parameters={"bias": normal(0.0, 1.5, 8.0, ODDS, "for pumping, whatever the balloon holds")},
    wording=Wording(
        clause="pump {far}more often than this implies",
        clause_short="more often",
        opposite_clause="pump {far}less often than this implies",
        opposite_short="less often",
        parameter="bias",
        unit=LOG_ODDS,
        label="a pumping bias",
        opposite_label="a collecting bias",
    ),
    beside=(("choice:regardless",), ""),
    repairs=("constant",),
    # beside a target alone it is another target
    rests_on=("choice:regardless", *(f"belief:{item.name}" for item in BELIEF)),
    source="Guitart-Masip et al. (2012), NeuroImage 62(1), 154-166 (bias to act)",
)
CHOICE = (
    Mechanism(
        slot="choice",
        name="logistic",
        code='p = both(parameters["sensitivity"] * evidence + pull, xp)',
        parameters={
            "sensitivity": log_uniform(0.01, 30.0, f"{ODDS} per pump", "consistency of responses")
        },
        wording=Wording(clause="pump more often, the more speaks for it", taken_for_granted=True),
        rests_on=("evaluation:target", "evaluation:worth of a pump"),
        source=f"{WALLSTEN}; {RAVENZWAAIJ}",
    ),
    Mechanism(
        slot="choice",
        name="regardless",
        clause="stop with the same probability after every pump of a balloon",
        code="p = both(0.0 * evidence + pull, xp)",
        source="Baseline.",
    ),
)
LAPSE = lapse(
    "random",
    'p = p + parameters["lapse"][..., None] * (0.5 - p)',
    "decide at random {lapse~}",
    "Zorowitz, Solis, Niv & Bennett (2023), Nature Human Behaviour",
    meaning="decisions that have nothing to do with the balloon",
    unit="share of decisions",
)

HEADS = (
    (("choice:regardless",), "Constant stopping"),
    (("evaluation:worth of a pump", "risk"), "Mean and variance"),
    (("evaluation:worth of a pump",), "Pump values"),
    (("adaptation",), "Moving target"),
    (("belief",), "Target from beliefs"),
    ((), "Fixed target"),
)

GRAMMAR = Grammar(
    domain="stopping",
    slots=(
        SkeletonSlot("belief", least=0),
        SkeletonSlot("utility", least=0, sentence=2),
        SkeletonSlot("aversion", least=0, sentence=2),
        SkeletonSlot("adaptation", least=0, sentence=2),
        SkeletonSlot("evaluation", least=0),
        SkeletonSlot("risk", least=0, sentence=2),
        SkeletonSlot("pull", least=0, most=2, sentence=3),
        SkeletonSlot("bias", least=0, sentence=3),
        SkeletonSlot("choice", sentence=3),
        SkeletonSlot("lapse", least=0, sentence=3),
    ),
    mechanisms=(
        *BELIEF,
        UTILITY,
        AVERSION,
        ADAPTATION,
        *EVALUATION,
        RISK,
        *PULL,
        BIAS,
        *CHOICE,
        LAPSE,
    ),
    heads=HEADS,
    before=BEFORE,
    after="return p",
    helpers=HELPERS,
    predictions=({"property": "ignores", "in": "last_reward"},),
)


def _composition(**slots: str | tuple[str, ...]) -> Composition:
    return Composition.of({"choice": "logistic", **slots})


SEEDS: Mapping[str, tuple[str, Composition]] = {
    "bart_par4": (
        "Updated beliefs and targets",
        _composition(belief="observed bursts", evaluation="target"),
    ),
    "bart_ewmv": (
        "Exponential-weight mean-variance",
        _composition(
            belief="exponential weights", evaluation="worth of a pump", aversion="losses", risk="variance"
        ),
    ),
    "fixed_target": ("Fixed target", _composition(evaluation="target")),
    "moving_target": (
        "Moving target",
        _composition(evaluation="target", adaptation="of the target"),
    ),
    "expected_value": (
        "Expected value of pumps left",
        _composition(belief="pumps left", evaluation="worth of a pump"),
    ),
    "learned_value": (
        "Learned expected value",
        _composition(belief="observed bursts", evaluation="worth of a pump"),
    ),
    "prospects": (
        "Prospect theory of pumps",
        _composition(
            belief="observed bursts", utility="power", aversion="losses", evaluation="worth of a pump"
        ),
    ),
    "constant_rate": ("Constant stopping", _composition(choice="regardless", bias="pumping")),
    "random": ("Guessing", _composition(choice="regardless")),
}  # fmt: skip

FAMILY = Family("stopping", GRAMMAR, SEEDS)
