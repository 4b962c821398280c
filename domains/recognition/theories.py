"""Theories of recognition and detection: which evidence items give, where criteria lie, and what is known for sure.

The skeleton: *strength* gives the share of the evidence of the strongest item, *variability*, *similarity* and
*mirror* state what differs between items; *bias*, *criteria* and *asymmetry* place the criteria; *evidence* turns this
into probabilities of the categories. Some old items get no *attention*, *detection* needs no criteria and is expressed
with more or less confidence (*report*), and some responses are *lapses*.

Evidence is in standard deviations of new items; 0 is half-way between new items and the strongest old ones, so that the
criterion between "new" and "old" is the bias c of Macmillan and Creelman. A scale with K categories has K - 1 criteria.
Their ``steps`` from the middle are -1, 0, 1 for four categories and -1.5 to 1.5 for five; their places ``cut`` are
equally spaced, stretched (a power of the step), or log odds (of k to K - k for the criterion k), each with one or two
parameters in which participants differ. ``side`` is -1 and 1 for criteria among "new" and among "old" categories;
``inside`` is where a scale has a criterion.

References:
    Green & Swets (1966), Signal detection theory and psychophysics; Macmillan & Creelman (2005), Detection theory;
    Yonelinas (1994), Journal of Experimental Psychology: LMC 20, 1341-1354;
    DeCarlo (1998), Psychological Methods 3, 186-205; DeCarlo (2002), Psychological Review 109, 710-721;
    Selker, van den Bergh, Criss & Wagenmakers (2019), Behavior Research Methods 51, 1953-1967 (places of criteria).
"""

from __future__ import annotations

from collections.abc import Mapping

from lakatos.domains.kit.lapses import lapse
from lakatos.domains.kit.outcomes import outcome_helpers
from lakatos.domains.kit.parameter import log_uniform, normal, uniform
from lakatos.theories.language.account import Wording
from lakatos.theories.language.family import Family
from lakatos.theories.language.grammar import Composition, Grammar, Mechanism, SkeletonSlot

GREEN = "Green & Swets (1966), Signal detection theory and psychophysics"
TANNER = "Tanner & Swets (1954), Psychological Review 61, 401-409"
EGAN = "Egan (1958), Recognition memory and the operating characteristic"
WICKENS = "Wickens (2002), Elementary signal detection theory"
MICKES = "Mickes, Wixted & Wais (2007), Psychonomic Bulletin & Review 14, 858-865"
MACMILLAN = "Macmillan & Creelman (2005), Detection theory: a user's guide"
YONELINAS = "Yonelinas (1994), Journal of Experimental Psychology: LMC 20, 1341-1354"
SNODGRASS = "Snodgrass & Corwin (1988), Journal of Experimental Psychology: General 117, 34-50"
BRODER = "Bröder & Schütz (2009), Journal of Experimental Psychology: LMC 35, 587-606"
LUCE = "Luce (1963), Psychological Review 70, 61-79"
DECARLO = "DeCarlo (1998), Psychological Methods 3, 186-205"
MIXTURE = "DeCarlo (2002), Psychological Review 109, 710-721"
SELKER = (
    "Selker, van den Bergh, Criss & Wagenmakers (2019), Behavior Research Methods 51, 1953-1967"
)
GLANZER = "Glanzer & Adams (1985), Memory & Cognition 13, 8-20 (mirror effect)"
HINTZMAN = "Hintzman (1988), Psychological Review 95, 528-551 (similarity and frequency)"
HEALY = "Healy & Kubovy (1978), Memory & Cognition 6, 544-553 (base rates)"

RATED = '''
def rated(below, cut, mean, sd, side, inside, xp):
    """Categories of evidence with a mean and a standard deviation, between criteria; ``below`` is its distribution."""
    under = below((cut - mean[..., None]) / sd[..., None])
    under = xp.where(inside, under, 0.5 + 0.5 * side)
    none = 0.0 * under[..., :1]
    under = xp.concatenate([none, under, none + 1.0], axis=-1)
    return under[..., 1:] - under[..., :-1]
'''
ONE_OF = '''
def one_of(p, available):
    """Probabilities of the categories that a scale has; none of these is impossible."""
    p = (p + 1e-12) * available
    return p / p.sum(axis=-1)[..., None]
'''
SD = "standard deviations of new items"
SHARE = "share of items"
MEMORY, CRITERION, CONFIDENCE = "memory evidence", "the criterion", "confidence criteria"
FAMILIAR = ("evidence:normal", "evidence:logistic", "evidence:extreme values")
DETECTED = ("detection:old items", "detection:new items", "detection:false alarms")
GROWS = ("old_strength",)

STRENGTH = (
    Mechanism(
        slot="strength",
        name="any strength",
        code="reach = 1.0 + 0.0 * strength",
        wording=Wording(
            clause="is the same for weak and strong items", taken_for_granted=True, subject="memory"
        ),
        predictions=({"property": "ignores", "in": "strength"},),
        source=GREEN,
    ),
    Mechanism(
        slot="strength",
        name="in proportion",
        code="reach = strength + 0.0 * old",
        wording=Wording(
            clause="improves in proportion to the strength of old items", subject="memory"
        ),
        repairs=GROWS,
        needs=("strengths",),
        source=TANNER,
    ),
    Mechanism(
        slot="strength",
        name="a power",
        code='reach = strength ** parameters["exponent"]',
        parameters={
            "exponent": log_uniform(0.1, 5.0, "exponent", "1: evidence is proportional to strength")
        },
        wording=Wording(
            clause="improves with a power of the strength of old items (exponent {exponent})",
            label="power law",
            subject="memory",
        ),
        repairs=GROWS,
        needs=("strengths",),
        source="Nachmias & Kocher (1970), Journal of the Optical Society of America 60, 382-389",
    ),
)
ITEMS = (
    Mechanism(
        slot="variability",
        name="old items vary",
        code='old_sd = parameters["old_sd"] + 0.0 * old',
        parameters={"old_sd": log_uniform(0.3, 4.0, SD, "standard deviation of old items")},
        wording=Wording(
            clause="is {far}more variable for old items than for new ones (SD ratio {old_sd})",
            clause_short="more variable",
            opposite_clause="is {far}less variable for old items than for new ones (SD ratio {old_sd})",
            opposite_short="less variable",
            parameter="old_sd",
            neutral=1.0,
            unit=0.25,
            log_ratio=True,
            label="unequal variances",
            opposite_label="unequal variances",
            subject=MEMORY,
        ),
        repairs=("old", *GROWS),
        rests_on=FAMILIAR,
        source=f"{EGAN}; {WICKENS}; {MICKES}",
    ),
    Mechanism(
        slot="similarity",
        name="similar items",
        code='near = parameters["similarity"] * lure',
        parameters={
            "similarity": uniform(0.0, 1.2, "share of an old item", "evidence that lures give")
        },
        wording=Wording(
            clause="is {far}higher for similar lures than for other new items (by {similarity%} of the difference for "
            "old items)",
            parameter="similarity",
            unit=0.25,
            label="similarity",
            subject=MEMORY,
        ),
        repairs=("lure", "new_strength"),
        breaks=("lure",),
        needs=("lures",),
        rests_on=FAMILIAR,
        source=HINTZMAN,
    ),
    Mechanism(
        slot="mirror",
        name="mirror images",
        code="center = reach",
        wording=Wording(
            clause="falls with strength for new items as much as it rises for old ones (mirror effect)",
            subject=MEMORY,
        ),
        repairs=("new_strength",),
        needs=("strengths",),
        rests_on=FAMILIAR,
        source=GLANZER,
    ),
)
CRITERIA = (
    Mechanism(
        slot="bias",
        name="response bias",
        code='shift = shift + parameters["criterion"]',
        parameters={
            "criterion": normal(0.0, 0.5, 3.0, SD, "criterion from half-way between new and old")
        },
        wording=Wording(
            clause="is {much}conservative",
            clause_short="conservative",
            opposite_clause="is {much}liberal",
            opposite_short="liberal",
            parameter="criterion",
            unit=0.25,
            label="conservative responses",
            opposite_label="liberal responses",
            subject=CRITERION,
        ),
        repairs=("old",),
        source=MACMILLAN,
    ),
    Mechanism(
        slot="bias",
        name="base rates",
        code='shift = shift - parameters["base_rate_weight"] * odds',
        parameters={
            "base_rate_weight": normal(
                0.5, 0.5, 3.0, f"{SD} for each log odds", "shift of criteria to the frequent kind"
            )
        },
        wording=Wording(
            clause="call items old {far}more readily, the more frequent old items are",
            clause_short="more readily",
            opposite_clause="call items old {far}less readily, the more frequent old items are",
            opposite_short="less readily",
            parameter="base_rate_weight",
            unit=0.3,
            label="base rates",
            opposite_label="base rates",
        ),
        repairs=("log_odds_of_old",),
        breaks=("old_share",),
        needs=("base_rates",),
        source=f"{GREEN}; {HEALY}",
    ),
    Mechanism(
        slot="criteria",
        name="equally spaced",
        code='cut = parameters["spacing"][..., None] * steps',
        parameters={"spacing": log_uniform(0.03, 3.0, SD, "distance of criteria")},
        wording=Wording(
            clause="are equally spaced (by {spacing} SDs of new items)",
            taken_for_granted=True,
            subject=CONFIDENCE,
        ),
        repairs=("categories",),
        source=MACMILLAN,
    ),
    Mechanism(
        slot="criteria",
        name="stretched",
        code='cut = parameters["spacing"][..., None] * side * xp.abs(steps) ** parameters["stretch"][..., None]',
        parameters={
            "spacing": log_uniform(0.03, 3.0, SD, "distance of the first criteria"),
            "stretch": log_uniform(0.2, 4.0, "exponent", "above 1: distances grow with confidence"),
        },
        wording=(
            Wording(
                clause="begin on both sides of the middle (at {spacing} SDs of new items)",
                taken_for_granted=True,
                subject=CONFIDENCE,
            ),
            Wording(
                clause="lie {far}further apart at higher confidence",
                clause_short="further apart",
                opposite_clause="lie {far}closer together at higher confidence",
                opposite_short="nearer together",
                parameter="stretch",
                neutral=1.0,
                unit=0.3,
                log_ratio=True,
                label="stretched criteria",
                opposite_label="compressed criteria",
                subject=CONFIDENCE,
            ),
        ),
        repairs=("categories",),
        source=f"{SELKER} (criteria with two parameters)",
    ),
    Mechanism(
        slot="criteria",
        name="log odds",
        code="""
        half = most[..., None] + 0.5 * odd[..., None]
        bounded = xp.where(inside, steps, 0.0)
        cut = parameters["spread"][..., None] * xp.log((half + bounded) / (half - bounded))
        """,
        parameters={"spread": log_uniform(0.05, 5.0, SD, "distance of criteria by log odds")},
        wording=Wording(
            clause="are spaced by log odds (a unit is {spread} SDs of new items)",
            taken_for_granted=True,
            subject=CONFIDENCE,
        ),
        repairs=("categories",),
        source=SELKER,
    ),
    Mechanism(
        slot="asymmetry",
        name="one side wider",
        code='cut = cut * xp.exp(parameters["skew"][..., None] * side)',
        parameters={
            "skew": normal(0.0, 0.4, 2.0, "log ratio", "distances among old beyond those among new")
        },
        wording=Wording(
            clause="set {far}more extreme criteria for confident 'old' than for confident 'new' responses",
            opposite_clause="set {far}less extreme criteria for confident 'old' than for confident 'new' responses",
            parameter="skew",
            unit=0.2,
            label="asymmetric confidence",
            opposite_label="asymmetric confidence",
        ),
        repairs=("old", "categories"),
        source=f"{SELKER} (criteria that are shifted)",
    ),
)


STRONGEST = " for the strongest"


def _evidence(name: str, below: str, wording: Wording, source: str, gain: str = "") -> Mechanism:
    """Evidence with a distribution function ``below``; old items gain ``sensitivity``, or what ``gain`` is."""
    own = {"sensitivity": log_uniform(0.05, 8.0, SD, "evidence of the strongest old items")}
    return Mechanism(
        slot="evidence",
        name=name,
        code=f"""
def below(z):
    return {below}

gain = {gain or 'parameters["sensitivity"]'} + 0.0 * old
mean = gain * (old * reach + (1 - old) * near * reach - 0.5 * center) + 0.0 * shift
cut = cut + shift[..., None]
p = rated(below, cut, mean, old * old_sd + (1 - old), side, inside, xp)
""",
        parameters={} if gain else own,
        wording=wording,
        beside=(("strength:any strength",), wording.clause.replace(STRONGEST, "")),
        repairs=("old", *GROWS),
        source=source,
    )


EVIDENCE = (
    _evidence(
        "normal",
        "special.ndtr(z)",
        Wording(
            clause="is normally distributed and higher for old items (d' = {sensitivity} for the strongest)",
            subject=MEMORY,
        ),
        f"{TANNER}; {GREEN}",
    ),
    _evidence(
        "logistic",
        "special.expit(z)",
        Wording(
            clause="has a logistic distribution and is higher for old items (by {sensitivity} times its "
            "scale parameter for the strongest)",
            subject=MEMORY,
        ),
        DECARLO,
    ),
    _evidence(
        "extreme values",
        "xp.exp(-xp.exp(xp.clip(-z, -500.0, 500.0)))",
        Wording(
            clause="has a Gumbel distribution and is higher for old items (by {sensitivity} times its "
            "scale parameter for the strongest)",
            subject=MEMORY,
        ),
        DECARLO,
    ),
    _evidence(
        "guesses",
        "special.ndtr(z)",
        Wording(clause="guess if they do not detect an item as old or new"),
        SNODGRASS,
        gain="0.0",
    ),
)


def _detection(
    name: str,
    parameter: str,
    share: str,
    surest: str,
    wording: Wording,
    repairs: str,
    source: str,
    beside: tuple[tuple[str, ...], str] = ((), ""),
) -> Mechanism:
    """A share of items that is known for sure, or taken for known."""
    meaning = "items that need no criterion"
    return Mechanism(
        slot="detection",
        name=name,
        code=f'p = p + (parameters["{parameter}"] * {share})[..., None] * ({surest} - p)',
        parameters={parameter: uniform(0.0, 0.98, SHARE, meaning)},
        wording=wording,
        repairs=(repairs,),
        source=source,
        beside=beside,
    )


DETECTION = (
    Mechanism(
        slot="attention",
        name="some old items",
        code="""
        missed = rated(below, cut, -0.5 * gain * center, 1.0 + 0.0 * gain, side, inside, xp)
        p = p + ((1 - parameters["attention"]) * old)[..., None] * (missed - p)
        """,
        parameters={"attention": uniform(0.02, 1.0, SHARE, "old items that got attention")},
        wording=Wording(
            clause="encode only some of the old items ({attention%} of them), and the rest give the evidence of new "
            "items",
            label="mixture",
        ),
        repairs=("old", *GROWS),
        rests_on=FAMILIAR,
        source=MIXTURE,
    ),
    Mechanism(
        slot="report",
        name="less than sure",
        code="""
        doubted = parameters["doubt"][..., None] ** xp.maximum(most[..., None] - xp.abs(place), 0) * available
        surest_old = doubted * (place > 0.5)
        surest_old = surest_old / surest_old.sum(axis=-1)[..., None]
        surest_new = doubted * (place < -0.5)
        surest_new = surest_new / surest_new.sum(axis=-1)[..., None]
        """,
        parameters={
            "doubt": uniform(0.02, 0.98, "ratio", "each category beside the surer one next to it")
        },
        wording=Wording(
            clause="use each confidence category less often than the next higher one after they detect an item "
            "({doubt} times as often)",
            label="graded confidence",
        ),
        repairs=("categories",),
        rests_on=DETECTED,
        source=BRODER,
    ),
    _detection(
        "old items", "recollection", "old * reach", "surest_old",
        Wording(
            clause="recollect some old items ({recollection%} of them)",
            label="recollection",
        ),
        "old", YONELINAS,
    ),
    _detection(
        "new items", "rejection", "(1 - old)", "surest_new",
        Wording(clause="detect some new items as new ({rejection%} of them)", label="rejection"),
        "new_strength", SNODGRASS,
        beside=(
            ("detection:false alarms",),
            "detect some new items as new ({rejection%} of those that they do not falsely detect as old)",
        ),
    ),
    _detection(
        "false alarms", "false_detection", "(1 - old)", "surest_old",
        Wording(
            clause="falsely detect some new items as old ({false_detection%} of them)",
            label="false detection",
        ),
        "new_strength", LUCE,
    ),
)  # fmt: skip
LAPSE = (
    lapse(
        "anything",
        'p = p + parameters["lapse"][..., None] * (available / available.sum(axis=-1)[..., None] - p)',
        "give a random response {lapse~}",
        MIXTURE,
        meaning="responses that have nothing to do with the item",
        unit="share of responses",
    ),
)

HEADS = (
    (("evidence:guesses", "detection:old items", "detection:new items"), "Two high thresholds"),
    (("evidence:guesses", "detection:old items", "detection:false alarms"), "Low threshold"),
    (("evidence:guesses", "detection:old items"), "High threshold"),
    (("evidence:guesses",), "Guesses"),
    (("evidence:normal", "detection:old items"), "Dual process"),
    (("evidence:normal", "attention"), "Attention mixture"),
    (("evidence:normal", "variability"), "Unequal-variance detection"),
    (("evidence:normal",), "Signal detection"),
    (("evidence:logistic",), "Logistic detection"),
    ((), "Extreme-value detection"),
)

GRAMMAR = Grammar(
    domain="recognition",
    slots=(
        SkeletonSlot("strength", sentence=2),
        SkeletonSlot("variability", least=0, sentence=2),
        SkeletonSlot("similarity", least=0, sentence=2),
        SkeletonSlot("mirror", least=0, sentence=2),
        SkeletonSlot("bias", least=0, most=2, sentence=2),
        SkeletonSlot("criteria", sentence=2),
        SkeletonSlot("asymmetry", least=0, sentence=2),
        SkeletonSlot("evidence"),
        SkeletonSlot("attention", least=0),
        SkeletonSlot("report", least=0, sentence=3),
        SkeletonSlot("detection", least=0, most=3, sentence=3),
        SkeletonSlot("lapse", least=0, sentence=3),
    ),
    mechanisms=(*STRENGTH, *ITEMS, *CRITERIA, *EVIDENCE, *DETECTION, *LAPSE),
    heads=HEADS,
    before="""
        old, strength, lure = trials["old"][None], trials["strength"][None], trials["lure"][None]
        odds = xp.log(trials["old_share"] / (1 - trials["old_share"]))[None]
        available = trials["available"][None]
        place = xp.arange(-5, 6)
        odd, most = available[..., 5], available[..., 6:].sum(axis=-1)
        side = xp.concatenate([0.0 * place[:5] - 1.0, 0.0 * place[:5] + 1.0])
        rank = xp.abs(xp.concatenate([place[:5], place[6:]]))
        steps = side * (rank - 1 + 0.5 * odd[..., None])
        inside = rank <= most[..., None]
        surest_old, surest_new = 1.0 * (place == most[..., None]), 1.0 * (place == -most[..., None])
        near, shift, old_sd, center = 0.0 * old, 0.0 * old, 1.0 + 0.0 * old, 1.0 + 0.0 * old
        """,
    after="return one_of(p, available)",
    helpers=outcome_helpers(RATED, ONE_OF),
    predictions=(
        {"property": "ignores", "in": "lure"},
        {"property": "ignores", "in": "old_share"},
    ),
)


def _composition(evidence: str = "normal", **slots: str | tuple[str, ...]) -> Composition:
    usual = {"strength": "any strength", "bias": "response bias", "criteria": "equally spaced"}
    return Composition.of({**usual, "evidence": evidence, **slots})


VARIES = "old items vary"
SEEDS: Mapping[str, tuple[str, Composition]] = {
    "sdt": ("Equal-variance detection", _composition()),
    "uvsd": ("Unequal-variance detection", _composition(variability=VARIES)),
    "dual_process": ("Dual process", _composition(detection="old items")),
    "mixture": ("Attention mixture", _composition(attention="some old items")),
    "two_high_threshold": (
        "Two high thresholds",
        _composition("guesses", report="less than sure", detection=("old items", "new items")),
    ),
    "low_threshold": (
        "Low threshold",
        _composition("guesses", report="less than sure", detection=("old items", "false alarms")),
    ),
    "logistic_sdt": ("Logistic detection", _composition("logistic")),
    "extreme_value_sdt": ("Extreme-value detection", _composition("extreme values")),
    "log_odds_sdt": ("Detection by log odds", _composition(variability=VARIES, criteria="log odds")),
    "linear_sdt": ("Detection by strength", _composition(strength="in proportion")),
    "power_uvsd": (
        "Unequal variances by strength",
        _composition(strength="a power", variability=VARIES),
    ),
    "base_rate_sdt": (
        "Detection with base rates",
        _composition(bias=("response bias", "base rates")),
    ),
    "lure_uvsd": ("Detection with lures", _composition(variability=VARIES, similarity="similar items")),
    "mirror_sdt": (
        "Mirror effect",
        _composition(strength="in proportion", mirror="mirror images"),
    ),
}  # fmt: skip

FAMILY = Family("recognition", GRAMMAR, SEEDS)
