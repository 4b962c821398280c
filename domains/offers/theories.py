"""Choice among several offers described by attributes: published accounts, for any number of offers.

The skeleton: people form an *expectation* of what a rate that varies will cost them, and see prices in a *context* of
the other prices on offer. An *evaluation* adds up or weighs what speaks for each offer, *attention* to further features
adds to it, and *screening* leaves offers out altogether. A *choice* rule turns what is left into probabilities; some
choices are *lapses*.

``cost`` is in cents per kWh, ``(n_draws, n_trials, n_offers)``, ``burden`` the same as it is felt, ``evidence`` in log
odds, and ``kept`` 1 for offers that are still considered. Tastes differ between people as the priors say, so that the
weighted sum is a mixed logit.

References:
    McFadden (1974), in Frontiers in Econometrics, 105-142;
    Revelt & Train (2000), Customer-specific taste parameters and mixed logit, University of California, Berkeley.
"""

from __future__ import annotations

from collections.abc import Mapping

from lakatos.domains.kit.among_several import (
    DETERMINISTIC,
    ELIMINATE,
    LAPSE_CODE,
    LOGISTIC,
)
from lakatos.domains.kit.parameter import LOG_ODDS, log_uniform, normal, uniform
from lakatos.theories.language.account import Wording
from lakatos.theories.language.family import Family
from lakatos.theories.language.grammar import Composition, Grammar, Mechanism, SkeletonSlot

MCFADDEN = "McFadden (1974), in Frontiers in Econometrics, 105-142"
TRAIN = "Revelt & Train (2000), Customer-specific taste parameters and mixed logit, University of California, Berkeley"
DAWES = "Dawes (1979), American Psychologist 34, 571-582"
SIMON = "Simon (1955), Quarterly Journal of Economics 69(1), 99-118"
TVERSKY_ORDER = "Tversky (1969), Psychological Review 76, 31-48 (lexicographic semiorder)"
TVERSKY_ASPECTS = "Tversky (1972), Psychological Review 79, 281-299"
HARDIE = (
    "Hardie, Johnson & Fader (1993), Marketing Science 12, 378-394; "
    "Tversky & Kahneman (1991), Quarterly Journal of Economics 106, 1039-1061"
)
HARLESS = "Harless & Camerer (1994), Econometrica 62, 1251-1289"

PRICE = ("price_difference", "cheapest_difference")
RATES = ("time_of_day_difference", "seasonal_difference")
CONTRACT = ("contract_years_difference", "no_contract_difference")
REPUTATION = ("local_difference", "well_known_difference")

EXPECTATION = (
    Mechanism(
        slot="expectation",
        name="expected prices",
        code="""
        cost = price + by_day * parameters["expected_time_of_day"][..., None]
        burden = cost = cost + by_season * parameters["expected_seasonal"][..., None]
        """,
        parameters={
            "expected_time_of_day": log_uniform(
                4.0, 20.0, "cents per kWh", "price that a time-of-day rate is taken for"
            ),
            "expected_seasonal": log_uniform(
                4.0, 20.0, "cents per kWh", "price that a seasonal rate is taken for"
            ),
        },
        wording=Wording(
            clause=(
                "treat rates that vary as if they had a fixed price, namely {expected_time_of_day} cents/kWh if they "
                "vary by the time of day and {expected_seasonal} cents/kWh if they vary by the season"
            )
        ),
        repairs=(*RATES, *PRICE),
        source=TRAIN,
    ),
    Mechanism(
        slot="expectation",
        name="one expected price",
        code='burden = cost = price + varies * parameters["expected_price"][..., None]',
        parameters={
            "expected_price": log_uniform(
                4.0, 20.0, "cents per kWh", "price that a rate that varies is taken for"
            )
        },
        wording=Wording(
            clause="assume the same fixed price for all rates that vary (about {expected_price} cents/kWh)"
        ),
        repairs=(*RATES, *PRICE),
        source=TRAIN,
    ),
    Mechanism(
        slot="expectation",
        name="the worst",
        clause="treat a varying rate like the highest fixed price on offer",
        code="burden = cost = price + varies * price.max(axis=-1)[..., None]",
        repairs=(*RATES, "price_range", "n_fixed_prices"),
        source="Wald (1950), Statistical decision functions (minimax)",
    ),
)

CONTEXT = (
    Mechanism(
        slot="context",
        name="relative to the best price",
        clause="judge prices relative to the lowest on offer, so that a cent matters less if all are high",
        code="""
        # an offer at eight cents, a usual price, keeps its burden where eight cents are the best
        burden = 8.0 * cost / xp.maximum(cost.min(axis=-1)[..., None], 1e-9)
        """,
        repairs=("lowest_price", *PRICE),
        source="Azar (2007), Journal of Socio-Economics 36, 1-14 (relative thinking)",
    ),
    Mechanism(
        slot="context",
        name="loss averse",
        code="""
        above = cost - cost.mean(axis=-1)[..., None]
        burden = xp.where(above > 0, parameters["loss_aversion"][..., None], 1.0) * above
        """,
        parameters={
            "loss_aversion": log_uniform(
                0.3, 6.0, "ratio", "weight of a cent above the mean over that of one below"
            )
        },
        wording=Wording(
            clause="weight prices above the mean price on offer {far}more than prices below it",
            clause_short="those above it more",
            opposite_clause="weight prices below the mean price on offer {far}more than prices above it",
            opposite_short="those below it more",
            parameter="loss_aversion",
            neutral=1.0,
            unit=0.4,
            log_ratio=True,
            label="loss aversion",
            opposite_label="gain seeking",
        ),
        repairs=("price_range", *PRICE),
        source=HARDIE,
    ),
    Mechanism(
        slot="context",
        name="distance from the best price",
        code="""
        beyond = cost - cost.min(axis=-1)[..., None]
        burden = xp.maximum(beyond, 1e-12) ** parameters["regret_curvature"][..., None]
        """,
        parameters={
            "regret_curvature": uniform(
                0.2, 2.0, "exponent", "1: each cent alike; below 1: diminishing sensitivity"
            )
        },
        wording=Wording(
            clause="weight each further cent above the lowest price on offer {far}more than the one before",
            clause_short="more",
            opposite_clause="weight each further cent above the lowest price on offer {far}less than the one before",
            opposite_short="less",
            parameter="regret_curvature",
            neutral=1.0,
            unit=0.4,
            log_ratio=True,
            label="increasing regret",
            opposite_label="diminishing regret",
        ),
        repairs=("price_range", "lowest_price", *PRICE),
        source="Loomes & Sugden (1982), Economic Journal 92, 805-824 (regret against the best forgone price)",
    ),
)

EVALUATION = (
    Mechanism(
        slot="evaluation",
        name="weighted sum",
        clause="weigh price, length of contract, and whether a supplier is local or well known, and add up",
        code="""
        evidence = evidence - parameters["price_weight"][..., None] * burden
        evidence = evidence + parameters["contract_weight"][..., None] * years
        evidence = evidence + parameters["local_weight"][..., None] * local
        evidence = evidence + parameters["known_weight"][..., None] * known
        """,
        parameters={
            "price_weight": log_uniform(
                0.02, 8.0, "log odds per cent per kWh", "how strongly a lower price counts"
            ),
            "contract_weight": normal(
                0.0, 0.5, 4.0, "log odds per year", "taste for a longer contract"
            ),
            "local_weight": normal(0.0, 2.0, 10.0, "log odds", "taste for a local supplier"),
            "known_weight": normal(0.0, 2.0, 10.0, "log odds", "taste for a well-known supplier"),
        },
        wording=(
            Wording(
                clause="{much}prefer lower prices",
                parameter="price_weight",
                unit=LOG_ODDS,
            ),
            Wording(
                clause="{much}like longer contracts",
                clause_short="like them",
                opposite_clause="{much}dislike longer contracts",
                opposite_short="dislike them",
                parameter="contract_weight",
                unit=LOG_ODDS,
                feature="contract_years_difference",
                label="long contracts",
                opposite_label="short contracts",
            ),
            Wording(
                clause="{much}like local suppliers",
                clause_short="like them",
                opposite_clause="{much}dislike local suppliers",
                opposite_short="dislike them",
                parameter="local_weight",
                unit=LOG_ODDS,
                feature="local_difference",
                label="local suppliers",
                opposite_label="distant suppliers",
            ),
            Wording(
                clause="{much}like well-known suppliers",
                clause_short="like them",
                opposite_clause="{much}dislike well-known suppliers",
                opposite_short="dislike them",
                parameter="known_weight",
                unit=LOG_ODDS,
                feature="well_known_difference",
                label="known suppliers",
                opposite_label="unknown suppliers",
            ),
        ),
        repairs=(*PRICE, *CONTRACT, *REPUTATION),
        source=f"{MCFADDEN}; {TRAIN}",
    ),
    Mechanism(
        slot="evaluation",
        name="price alone",
        code='evidence = evidence - parameters["price_weight"][..., None] * burden',
        parameters={
            "price_weight": log_uniform(
                0.02, 8.0, "log odds per cent per kWh", "how strongly a lower price counts"
            )
        },
        wording=Wording(
            clause="compare prices only, and {much}prefer lower ones",
            parameter="price_weight",
            unit=LOG_ODDS,
        ),
        beside=(("attention", "screening"), "{much}prefer lower prices"),
        repairs=PRICE,
        source=f"{MCFADDEN}; Gigerenzer & Goldstein (1996), Psychological Review 103, 650-669 (one reason)",
    ),
    Mechanism(
        slot="evaluation",
        name="equal weights",
        clause="give the same weight to a low price, a short contract, and a local or well-known supplier",
        code="""
        def share(amount):
            most, least = amount.max(axis=-1)[..., None], amount.min(axis=-1)[..., None]
            return (most - amount) / xp.where(most > least, most - least, 1.0)
        tally = share(burden) + share(years) + local + known
        evidence = evidence + parameters["sensitivity"][..., None] * tally
        """,
        parameters={
            "sensitivity": log_uniform(
                0.1, 20.0, "log odds per advantage", "how strongly one more advantage counts"
            )
        },
        repairs=(*PRICE, *CONTRACT, *REPUTATION),
        source=DAWES,
    ),
    Mechanism(
        slot="evaluation",
        name="elimination by aspects",
        code="""
        aspects = [1.0 * (cost <= parameters["cheap"][..., None]), 1.0 * (years == 0), local, known, 1.0 - varies]
        weights = [1.0] + [
            parameters[name] for name in ("no_contract_first", "local_first", "known_first", "fixed_first")
        ]
        evidence = evidence + xp.log(xp.maximum(eliminate(aspects, weights, xp), 1e-12))
        """,
        parameters={
            "cheap": uniform(4.0, 20.0, "cents per kWh", "highest price that counts as cheap"),
            **{
                f"{name}_first": log_uniform(
                    0.02, 50.0, "ratio", f"how much sooner than a cheap price: {meaning}"
                )
                for name, meaning in (
                    ("no_contract", "no contract"),
                    ("local", "a local supplier"),
                    ("known", "a well-known supplier"),
                    ("fixed", "a fixed price"),
                )
            },
        },
        wording=Wording(
            clause=(
                "eliminate offers by one aspect at a time, the most important first (a price up "
                "to {cheap} cents/kWh counts as cheap)"
            )
        ),
        repairs=(*PRICE, *CONTRACT, *REPUTATION, *RATES),
        source=TVERSKY_ASPECTS,
    ),
)

ATTENTION = (
    Mechanism(
        slot="attention",
        name="no contract",
        code='evidence = evidence + parameters["freedom"][..., None] * (years == 0)',
        parameters={
            "freedom": normal(0.0, 1.5, 8.0, "log odds", "taste for an offer without contract")
        },
        wording=Wording(
            clause="{much}value being free to leave at any time",
            opposite_clause="{much}dislike offers without contract",
            parameter="freedom",
            unit=LOG_ODDS,
            feature="no_contract_difference",
            label="freedom",
            opposite_label="contract seeking",
        ),
        repairs=CONTRACT,
        source="Brehm (1966), A theory of psychological reactance (freedom; the form is the project's)",
    ),
    Mechanism(
        slot="attention",
        name="steady rate",
        code='evidence = evidence - parameters["steadiness"][..., None] * varies',
        parameters={
            "steadiness": normal(0.0, 2.0, 10.0, "log odds", "distaste for a rate that varies")
        },
        wording=Wording(
            clause="{much}avoid offers with a rate that varies, whatever the prices",
            opposite_clause="are {much}drawn to offers with a rate that varies, whatever the prices",
            parameter="steadiness",
            unit=LOG_ODDS,
            label="fixed rates",
            opposite_label="varying rates",
        ),
        repairs=RATES,
        source="Ellsberg (1961), Quarterly Journal of Economics 75, 643-669",
    ),
)

SCREENING = (
    Mechanism(
        slot="screening",
        name="about the cheapest",
        code='kept = kept * (cost <= cost.min(axis=-1)[..., None] + parameters["just_noticeable"][..., None])',
        parameters={
            "just_noticeable": log_uniform(
                0.05, 10.0, "cents per kWh", "largest difference in price not noticed"
            )
        },
        wording=Wording(
            clause=(
                "consider only the cheapest offers and ignore differences in price below a threshold "
                "({just_noticeable} cents/kWh)"
            ),
            label="price screening",
            overrides=True,
        ),
        repairs=("price_range", *PRICE),
        source=TVERSKY_ORDER,
    ),
    Mechanism(
        slot="screening",
        name="cheap enough",
        code="""
        acceptable = xp.maximum(parameters["aspiration"][..., None], cost.min(axis=-1)[..., None])
        kept = kept * (cost <= acceptable)
        """,
        parameters={
            "aspiration": uniform(4.0, 20.0, "cents per kWh", "highest price that is cheap enough")
        },
        wording=Wording(
            clause=(
                "consider all offers that are cheap enough (at most {aspiration} cents/kWh), or "
                "the cheapest if there are none"
            ),
            label="cheap-enough screening",
            overrides=True,
        ),
        repairs=("lowest_price", *PRICE),
        source=SIMON,
    ),
    Mechanism(
        slot="screening",
        name="the most familiar",
        code="""
        familiar = kept * (1.0 + 2.0 * local + known)
        kept = kept * (familiar >= familiar.max(axis=-1)[..., None])
        """,
        wording=Wording(
            clause="choose among the local suppliers if there are any left, and otherwise among well-known ones",
            label="familiarity",
            overrides=True,
        ),
        repairs=REPUTATION,
        source="Goldstein & Gigerenzer (2002), Psychological Review 109, 75-90",
    ),
    Mechanism(
        slot="screening",
        name="the shortest contract",
        code="""
        length = years + 1e6 * (1.0 - kept)
        kept = kept * (length <= length.min(axis=-1)[..., None])
        """,
        wording=Wording(
            clause="choose among the offers with the shortest contract",
            label="short contracts",
            overrides=True,
        ),
        repairs=CONTRACT,
        source=TVERSKY_ORDER,
    ),
)

CHOICE = (
    Mechanism(
        slot="choice",
        name="logistic",
        code=LOGISTIC,
        wording=Wording(
            clause="choose the better offer more often, the stronger the evidence",
            taken_for_granted=True,
        ),
        source=f"Luce (1959), Individual choice behavior; {MCFADDEN}",
    ),
    Mechanism(
        slot="choice",
        name="deterministic",
        clause=(
            "choose the best offer, however small the difference, and guess "
            "among the best if there are several"
        ),
        code=DETERMINISTIC,
        predictions=({"property": "deterministic"},),
        is_null=True,
        source=HARLESS,
    ),
)

LAPSE = (
    Mechanism(
        slot="lapse",
        name="random",
        code=LAPSE_CODE,
        parameters={"lapse": uniform(0.0, 0.4, "share of choices", "lapse rate")},
        wording=Wording(clause="choose at random {lapse~}"),
        is_null=True,
        source=HARLESS,
    ),
)

HEADS = (
    (("evaluation:weighted sum",), "Weighted attributes"),
    (("evaluation:price alone",), "Price alone"),
    (("evaluation:equal weights",), "Equal weights"),
    (("evaluation:elimination by aspects",), "Elimination by aspects"),
    (("screening",), "Screening offers"),
    (("attention",), "One feature"),
    ((), "Random choice"),
)

GRAMMAR = Grammar(
    domain="offers",
    silence="choose at random",
    slots=(
        SkeletonSlot("expectation"),
        SkeletonSlot("context", least=0),
        SkeletonSlot("evaluation", least=0),
        SkeletonSlot("attention", least=0, most=2, sentence=2),
        SkeletonSlot("screening", least=0, most=3, sentence=2),
        SkeletonSlot("choice", sentence=3),
        SkeletonSlot("lapse", least=0, sentence=3),
    ),
    mechanisms=(*EXPECTATION, *CONTEXT, *EVALUATION, *ATTENTION, *SCREENING, *CHOICE, *LAPSE),
    heads=HEADS,
    before="""
        price, years = trials["price"], trials["contract_years"]
        local, known = trials["local"], trials["well_known"]
        by_day, by_season = trials["time_of_day"], trials["seasonal"]
        varies = by_day + by_season  # such offers have no single price, which the trials write as 0
        evidence, kept = 0.0 * price[None], 1.0 + 0.0 * price[None]
        """,
    after="return p",
    helpers=ELIMINATE,
    predictions=({"property": "reverses", "in": "sides"},),
)


def _composition(**slots: str | tuple[str, ...]) -> Composition:
    """Mechanisms by slot, over the plainest choice rule with lapses."""
    named = {"expectation": "expected prices", "choice": "logistic", "lapse": "random"} | slots
    return Composition.of(named)


SEEDS: Mapping[str, tuple[str, Composition]] = {
    # the expectation with the fewest parameters, as no price counts
    "random": ("Random choice", _composition(expectation="the worst")),
    "logit": ("Weighted attributes", _composition(evaluation="weighted sum")),
    "relative_price": (
        "Weighted attributes, relative prices",
        _composition(evaluation="weighted sum", context="relative to the best price"),
    ),
    "loss_averse": (
        "Weighted attributes, loss averse",
        _composition(evaluation="weighted sum", context="loss averse"),
    ),
    "equal_weights": ("Equal weights", _composition(evaluation="equal weights")),
    "lexicographic": (
        "Price, then reputation, then contract",
        _composition(
            screening=("about the cheapest", "the most familiar", "the shortest contract")
        ),
    ),
    "satisficing": (
        "Cheap enough, then most familiar",
        _composition(screening=("cheap enough", "the most familiar")),
    ),
    "cheapest": ("Price alone", _composition(evaluation="price alone")),
    "elimination_by_aspects": (
        "Elimination by aspects",
        _composition(evaluation="elimination by aspects"),
    ),
}

FAMILY = Family("offers", GRAMMAR, SEEDS)
