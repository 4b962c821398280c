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
from lakatos.domains.kit.parameter import log_uniform, normal, uniform
from lakatos.domains.offers.wording import HEADS, SENTENCES, WORDS
from lakatos.theories.language.family import Family
from lakatos.theories.language.grammar import Composition, Grammar, Mechanism, SkeletonSlot, worded

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
        "expectation",
        "expected prices",
        "expect a rate that varies by the time of day, and one that varies by the season, to cost each so much",
        """
        cost = price + by_day * parameters["expected_time_of_day"][..., None]
        burden = cost = cost + by_season * parameters["expected_seasonal"][..., None]
        """,
        {
            "expected_time_of_day": log_uniform(
                4.0, 20.0, "cents per kWh", "price that a time-of-day rate is taken for"
            ),
            "expected_seasonal": log_uniform(
                4.0, 20.0, "cents per kWh", "price that a seasonal rate is taken for"
            ),
        },
        (*RATES, *PRICE),
        TRAIN,
    ),
    Mechanism(
        "expectation",
        "one expected price",
        "expect any rate that varies to cost the same",
        'burden = cost = price + varies * parameters["expected_price"][..., None]',
        {
            "expected_price": log_uniform(
                4.0, 20.0, "cents per kWh", "price that a rate that varies is taken for"
            )
        },
        (*RATES, *PRICE),
        TRAIN,
    ),
    Mechanism(
        "expectation",
        "the worst",
        "take a rate that varies to be as dear as the dearest fixed price on offer",
        "burden = cost = price + varies * price.max(axis=-1)[..., None]",
        {},
        (*RATES, "price_range", "n_fixed_prices"),
        "Wald (1950), Statistical decision functions (minimax)",
    ),
)

CONTEXT = (
    Mechanism(
        "context",
        "relative to the best price",
        "see prices relative to the lowest on offer, so that a cent matters less where all are dear",
        """
        # an offer at eight cents, a usual price, keeps its burden where eight cents are the best
        burden = 8.0 * cost / xp.maximum(cost.min(axis=-1)[..., None], 1e-9)
        """,
        {},
        ("lowest_price", *PRICE),
        "Azar (2007), Journal of Socio-Economics 36, 1-14 (relative thinking)",
    ),
    Mechanism(
        "context",
        "loss averse",
        "feel what a price lies above the mean price on offer otherwise than what it lies below",
        """
        above = cost - cost.mean(axis=-1)[..., None]
        burden = xp.where(above > 0, parameters["loss_aversion"][..., None], 1.0) * above
        """,
        {
            "loss_aversion": log_uniform(
                0.3, 6.0, "ratio", "weight of a cent above the mean over that of one below"
            )
        },
        ("price_range", *PRICE),
        HARDIE,
    ),
    Mechanism(
        "context",
        "distance from the best price",
        "feel each further cent above the lowest price on offer less than the one before, or more",
        """
        beyond = cost - cost.min(axis=-1)[..., None]
        burden = xp.maximum(beyond, 1e-12) ** parameters["regret_curvature"][..., None]
        """,
        {
            "regret_curvature": uniform(
                0.2, 2.0, "exponent", "1: each cent alike; below 1: diminishing sensitivity"
            )
        },
        ("price_range", "lowest_price", *PRICE),
        "Loomes & Sugden (1982), Economic Journal 92, 805-824 (regret against the best forgone price)",
    ),
)

EVALUATION = (
    Mechanism(
        "evaluation",
        "weighted sum",
        "weigh price, length of contract, and whether a supplier is local or well known, and add up",
        """
        evidence = evidence - parameters["price_weight"][..., None] * burden
        evidence = evidence + parameters["contract_weight"][..., None] * years
        evidence = evidence + parameters["local_weight"][..., None] * local
        evidence = evidence + parameters["known_weight"][..., None] * known
        """,
        {
            "price_weight": log_uniform(
                0.02, 8.0, "log odds per cent per kWh", "how strongly a lower price counts"
            ),
            "contract_weight": normal(
                0.0, 0.5, 4.0, "log odds per year", "taste for a longer contract"
            ),
            "local_weight": normal(0.0, 2.0, 10.0, "log odds", "taste for a local supplier"),
            "known_weight": normal(0.0, 2.0, 10.0, "log odds", "taste for a well-known supplier"),
        },
        (*PRICE, *CONTRACT, *REPUTATION),
        f"{MCFADDEN}; {TRAIN}",
    ),
    Mechanism(
        "evaluation",
        "price alone",
        "compare prices and nothing else",
        'evidence = evidence - parameters["price_weight"][..., None] * burden',
        {
            "price_weight": log_uniform(
                0.02, 8.0, "log odds per cent per kWh", "how strongly a lower price counts"
            )
        },
        PRICE,
        f"{MCFADDEN}; Gigerenzer & Goldstein (1996), Psychological Review 103, 650-669 (one reason)",
    ),
    Mechanism(
        "evaluation",
        "equal weights",
        "give the same weight to a low price, a short contract, and a local or well-known supplier",
        """
        def share(amount):
            most, least = amount.max(axis=-1)[..., None], amount.min(axis=-1)[..., None]
            return (most - amount) / xp.where(most > least, most - least, 1.0)
        tally = share(burden) + share(years) + local + known
        evidence = evidence + parameters["sensitivity"][..., None] * tally
        """,
        {
            "sensitivity": log_uniform(
                0.1, 20.0, "log odds per advantage", "how strongly one more advantage counts"
            )
        },
        (*PRICE, *CONTRACT, *REPUTATION),
        DAWES,
    ),
    Mechanism(
        "evaluation",
        "elimination by aspects",
        "look for one aspect at a time, the more important the sooner, and drop the offers that do not have it",
        """
        aspects = [1.0 * (cost <= parameters["cheap"][..., None]), 1.0 * (years == 0), local, known, 1.0 - varies]
        weights = [1.0] + [
            parameters[name] for name in ("no_contract_first", "local_first", "known_first", "fixed_first")
        ]
        evidence = evidence + xp.log(xp.maximum(eliminate(aspects, weights, xp), 1e-12))
        """,
        {
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
        (*PRICE, *CONTRACT, *REPUTATION, *RATES),
        TVERSKY_ASPECTS,
    ),
)

ATTENTION = (
    Mechanism(
        "attention",
        "no contract",
        "value being free to leave at any time",
        'evidence = evidence + parameters["freedom"][..., None] * (years == 0)',
        {"freedom": normal(0.0, 1.5, 8.0, "log odds", "taste for an offer without contract")},
        CONTRACT,
        "Brehm (1966), A theory of psychological reactance (freedom; the form is the project's)",
    ),
    Mechanism(
        "attention",
        "steady rate",
        "avoid rates that vary, whatever they cost",
        'evidence = evidence - parameters["steadiness"][..., None] * varies',
        {"steadiness": normal(0.0, 2.0, 10.0, "log odds", "distaste for a rate that varies")},
        RATES,
        "Ellsberg (1961), Quarterly Journal of Economics 75, 643-669",
    ),
)

SCREENING = (
    Mechanism(
        "screening",
        "about the cheapest",
        "look only at the cheapest offers, among which they do not notice small differences in price",
        'kept = kept * (cost <= cost.min(axis=-1)[..., None] + parameters["just_noticeable"][..., None])',
        {
            "just_noticeable": log_uniform(
                0.05, 10.0, "cents per kWh", "largest difference in price not noticed"
            )
        },
        ("price_range", *PRICE),
        TVERSKY_ORDER,
    ),
    Mechanism(
        "screening",
        "cheap enough",
        "look at all offers that are cheap enough, or where there are none at the cheapest",
        """
        acceptable = xp.maximum(parameters["aspiration"][..., None], cost.min(axis=-1)[..., None])
        kept = kept * (cost <= acceptable)
        """,
        {"aspiration": uniform(4.0, 20.0, "cents per kWh", "highest price that is cheap enough")},
        ("lowest_price", *PRICE),
        SIMON,
    ),
    Mechanism(
        "screening",
        "the most familiar",
        "look only at local suppliers if there are any left, or else at well-known ones",
        """
        familiar = kept * (1.0 + 2.0 * local + known)
        kept = kept * (familiar >= familiar.max(axis=-1)[..., None])
        """,
        {},
        REPUTATION,
        "Goldstein & Gigerenzer (2002), Psychological Review 109, 75-90",
    ),
    Mechanism(
        "screening",
        "the shortest contract",
        "look only at those with the shortest contract that are left",
        """
        length = years + 1e6 * (1.0 - kept)
        kept = kept * (length <= length.min(axis=-1)[..., None])
        """,
        {},
        CONTRACT,
        TVERSKY_ORDER,
    ),
)

CHOICE = (
    Mechanism(
        "choice",
        "logistic",
        "choose the better offer the more often, the stronger the evidence",
        LOGISTIC,
        {},
        (),
        f"Luce (1959), Individual choice behavior; {MCFADDEN}",
    ),
    Mechanism(
        "choice",
        "deterministic",
        "always choose the offer for which the evidence speaks, and any of the best when several are",
        DETERMINISTIC,
        {},
        (),
        HARLESS,
        predictions=({"property": "deterministic"},),
        is_null=True,
    ),
)

LAPSE = (
    Mechanism(
        "lapse",
        "random",
        "now and then choose at random",
        LAPSE_CODE,
        {"lapse": uniform(0.0, 0.4, "share of choices", "choices made without looking")},
        (),
        HARLESS,
        is_null=True,
    ),
)

GRAMMAR = Grammar(
    domain="offers",
    silence="choose at random",
    slots=(
        SkeletonSlot("expectation"),
        SkeletonSlot("context", least=0),
        SkeletonSlot("evaluation", least=0),
        SkeletonSlot("attention", least=0, most=2),
        SkeletonSlot("screening", least=0, most=3),
        SkeletonSlot("choice"),
        SkeletonSlot("lapse", least=0),
    ),
    mechanisms=worded(
        (*EXPECTATION, *CONTEXT, *EVALUATION, *ATTENTION, *SCREENING, *CHOICE, *LAPSE), WORDS
    ),
    heads=HEADS,
    sentences=SENTENCES,
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
