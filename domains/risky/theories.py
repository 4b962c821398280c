"""Risky choice: published accounts of how people choose between gambles, as a grammar.

Three traditions meet here. Utility theories add up subjective amounts weighted by subjective probabilities; heuristics
compare a few features of the gambles and ignore the rest; in BEAST people's best estimate of the expected values is
pulled by simple tools, such as looking at the worst outcome or treating all outcomes as equally likely. A composition
picks how gambles are compared, and how much attention goes to further features beside that comparison; evidence can be
twisted, people can depend on what they chose and saw before, and other strategies can take over in some choices.

Reference for the third: Erev, Ert, Plonsky, Cohen & Cohen (2017), Psychological Review 124(4), 369-409.
"""

from __future__ import annotations

from collections.abc import Mapping

from lakatos.domains.risky.mechanisms.attention import ATTENTION
from lakatos.domains.risky.mechanisms.comparison import COMPARISON, SCALE
from lakatos.domains.risky.mechanisms.history import HISTORY
from lakatos.domains.risky.mechanisms.quicker import of_different_numbers
from lakatos.domains.risky.mechanisms.response import CHOICE, LAPSE, MIXTURE, SIDE, TWIST
from lakatos.domains.risky.mechanisms.utility import UTILITY
from lakatos.domains.risky.mechanisms.weighting import WEIGHTING
from lakatos.domains.risky.vocabulary import gamble_vocabulary
from lakatos.theories.language.family import Family
from lakatos.theories.language.grammar import Composition, Grammar, SkeletonSlot

HELPERS = """
def decision_weights(weigh, reached, probabilities, xp):
    # what each outcome adds to the curve over the chance of doing at least as well (or badly)
    reached = xp.clip(reached, 0.0, 1.0)
    return weigh(reached) - weigh(xp.clip(reached - probabilities, 0.0, 1.0))


def joint(probabilities, correlation, xp):
    # independent payoffs, or payoffs ordered alike or opposite
    p_a, p_b = probabilities[:, 0], probabilities[:, 1]
    top_a, top_b = p_a.cumsum(axis=-1)[:, :, None], p_b.cumsum(axis=-1)[:, None, :]
    bottom_a, bottom_b = top_a - p_a[:, :, None], top_b - p_b[:, None, :]
    alike = xp.maximum(xp.minimum(top_a, top_b) - xp.maximum(bottom_a, bottom_b), 0)
    opposite = xp.maximum(xp.minimum(top_a, 1 - bottom_b) - xp.maximum(bottom_a, 1 - top_b), 0)
    sign = correlation[:, None, None]
    return xp.where(sign > 0, alike, xp.where(sign < 0, opposite, p_a[:, :, None] * p_b[:, None, :]))


def beats(outcomes, probabilities, correlation, xp):
    gap = outcomes[:, 1, None, :] - outcomes[:, 0, :, None]
    return (joint(probabilities, correlation, xp) * xp.sign(gap)).sum(axis=(1, 2))


def regrets(outcomes, probabilities, correlation, at_stake, xp):
    gap = (outcomes[:, 1, None, :] - outcomes[:, 0, :, None]) / at_stake[:, None, None]
    return (joint(probabilities, correlation, xp) * gap * xp.abs(gap)).sum(axis=(1, 2))
"""

MECHANISMS = (
    *UTILITY, *WEIGHTING, *COMPARISON, *SCALE, *ATTENTION, *TWIST, *SIDE, *HISTORY, *CHOICE, *MIXTURE, *LAPSE,
)  # fmt: skip

BEFORE = """
        # amounts ascend; unused places repeat the best amount with probability 0, and are cut where nobody uses them
        width = (trials["probabilities"] > 0).sum(axis=-1).max(initial=1)
        outcomes, probabilities = trials["outcomes"][..., :width], trials["probabilities"][..., :width]
        shown = probabilities > 0
        worst, best = outcomes.min(axis=-1), outcomes.max(axis=-1)
        at_stake = xp.maximum(best.max(axis=-1) - worst.min(axis=-1), 1e-9)
        likeliest = xp.take_along_axis(outcomes, probabilities.argmax(axis=-1)[..., None], axis=-1)[..., 0]
        p_worst = probabilities[..., 0]
        p_best = xp.take_along_axis(probabilities, shown.sum(axis=-1)[..., None] - 1, axis=-1)[..., 0]
        from_worst = probabilities.cumsum(axis=-1)
        from_best = probabilities[..., ::-1].cumsum(axis=-1)[..., ::-1]
        utility, weights = outcomes, probabilities
        """

SUM_UP = "comparison:weighted sum"
LOSS_AVERSE = ("utility:loss-averse power", "utility:loss-averse linear")
BY_ITSELF = ("Tversky-Kahneman", "linear in log odds")
"""Curves that weigh the chance of every outcome by itself (Kahneman & Tversky, 1979)."""
CUMULATIVE = (
    "cumulative Tversky-Kahneman", "cumulative Tversky-Kahneman, losses apart", "cumulative Prelec, one parameter",
    "cumulative Prelec", "cumulative linear in log odds", "cumulative Wu-Gonzalez",
)  # fmt: skip
"""Curves over the chance of doing at least as well, apart for gains and losses (Tversky & Kahneman, 1992)."""
BY_RANK = ("by rank, Prelec",)
"""Curves over that chance with gains and losses in one order (Quiggin, 1982)."""

Heads = tuple[tuple[tuple[str, ...], str], ...]


def _heads_of_curves(
    curves: tuple[str, ...], *, loss_averse: str, of_utility: str, of_amounts: str
) -> Heads:
    """Names of sums that are weighted by one kind of curve, by what amounts are worth in them."""
    found: list[tuple[tuple[str, ...], str]] = []
    for curve in curves:
        weighting = f"weighting:{curve}"
        found += [((SUM_UP, weighting, utility), loss_averse) for utility in LOSS_AVERSE]
        found += [((SUM_UP, weighting, "utility"), of_utility), ((SUM_UP, weighting), of_amounts)]
    return tuple(found)


HEADS: Heads = (
    *_heads_of_curves(
        BY_ITSELF,
        loss_averse="Prospect theory",
        of_utility="Subjectively weighted utility",
        of_amounts="Weighted probabilities",
    ),
    *_heads_of_curves(
        CUMULATIVE,
        loss_averse="Cumulative prospect theory",
        of_utility="Rank-and-sign-dependent utility",
        of_amounts="Cumulative weights",
    ),
    *_heads_of_curves(
        BY_RANK,
        loss_averse="Rank-dependent utility",
        of_utility="Rank-dependent utility",
        of_amounts="Dual theory",
    ),
    ((SUM_UP, "weighting:security and potential"), "Security and potential"),
    ((SUM_UP, "weighting:neo-additive"), "Neo-additive weights"),
    ((SUM_UP, "weighting:transfer of attention"), "Attention exchange"),
    ((SUM_UP, "weighting:equal chances in part"), "Prospective reference theory"),
    ((SUM_UP, "utility"), "Expected utility"),
    ((SUM_UP,), "Expected value"),
    (("comparison:disappointment",), "Disappointment theory"),
    (("comparison:disappointment aversion",), "Disappointment aversion"),
    (("comparison:mean and variance",), "Mean and variance"),
    (("comparison:salience",), "Salience theory"),
    (("comparison:priority heuristic",), "Priority heuristic"),
    (("comparison:worst outcome",), "Worst outcomes"),
    (("comparison:best outcome",), "Best outcomes"),
    (("comparison:equal weights",), "Equal weights"),
    (("comparison:better than average",), "Better than average"),
    (("comparison:most likely outcome",), "Most likely outcomes"),
    (("comparison:likely outcomes in turn",), "Lexicographic choice"),
    (("comparison:least likely outcome",), "Least likely outcomes"),
    (("comparison:probable outcomes",), "Probable outcomes"),
    (("comparison:tallying",), "Tallying"),
    (("comparison:chance to gain",), "Chances to gain"),
    (("comparison:more often better",), "More often better"),
    ((), "Several features"),
)

GRAMMAR = Grammar(
    domain="risky",
    slots=(
        SkeletonSlot("utility", least=0),
        SkeletonSlot("weighting", least=0),
        SkeletonSlot("comparison"),
        SkeletonSlot("scale"),
        SkeletonSlot("attention", least=0, most=6, sentence=2),
        SkeletonSlot("twist", least=0, sentence=3),
        SkeletonSlot("side", least=0, sentence=2),
        SkeletonSlot("history", least=0, sentence=2),
        SkeletonSlot("choice", sentence=3),
        SkeletonSlot("mixture", least=0, most=2, sentence=3),
        SkeletonSlot("lapse", least=0, sentence=3),
    ),
    mechanisms=MECHANISMS,
    heads=HEADS,
    before=BEFORE,
    after="return p_b",
    helpers=HELPERS,
    predictions=(
        {"property": "non_decreasing", "in": "best_amount"},
        {"property": "non_decreasing", "in": "worst_amount"},
        {"property": "non_decreasing", "in": "amounts"},
        {"property": "non_decreasing", "in": "best_probability"},
        {"property": "non_decreasing", "in": "dominance"},
        {"property": "reverses", "in": "sides"},
        {"property": "reverses", "in": "reflection"},
        {"property": "ignores", "in": "ambiguity"},
    ),
    quicker=of_different_numbers(MECHANISMS, BEFORE, HELPERS),
)


def _seed(
    title: str, comparison: str, scale: str = "in points", choice: str = "logistic", **slots: str
) -> tuple[str, Composition]:
    """A published theory: its title and mechanisms, several of one slot joined by a plus sign; lapses are added."""
    named = {slot: tuple(names.split(" + ")) for slot, names in slots.items()}
    return title, Composition(
        {
            **named,
            "comparison": (comparison,),
            "scale": (scale,),
            "choice": (choice,),
            "lapse": ("random",),
        }
    )


SUM, RANGE = "weighted sum", "by the range at stake"
SEEDS: Mapping[str, tuple[str, Composition]] = {
    "expected_value": _seed("Expected value", SUM),
    "expected_utility": _seed("Expected utility", SUM, utility="power"),
    "exponential_utility": _seed(
        "Expected utility, exponential", SUM, utility="constant risk aversion"
    ),
    "rank_dependent_utility": _seed(
        "Rank-dependent utility", SUM, utility="power", weighting="by rank, Prelec"
    ),
    "prospect_theory": _seed(
        "Prospect theory", SUM, utility="loss-averse power", weighting="Tversky-Kahneman"
    ),
    "cumulative_prospect_theory": _seed(
        "Cumulative prospect theory",
        SUM,
        utility="loss-averse power",
        weighting="cumulative Tversky-Kahneman",
    ),
    "cumulative_prospect_theory_1992": _seed(
        "Cumulative prospect theory, losses apart",
        SUM,
        utility="loss-averse power",
        weighting="cumulative Tversky-Kahneman, losses apart",
    ),
    "cumulative_prospect_theory_prelec": _seed(
        "Cumulative prospect theory, Prelec weights",
        SUM,
        utility="loss-averse power",
        weighting="cumulative Prelec",
    ),
    "cumulative_prospect_theory_log_odds": _seed(
        "Cumulative prospect theory, log-odds weights",
        SUM,
        utility="loss-averse power",
        weighting="cumulative linear in log odds",
    ),
    "neo_additive": _seed("Neo-additive weights", SUM, utility="power", weighting="neo-additive"),
    "transfer_of_attention": _seed(
        "Transfer of attention exchange", SUM, utility="power", weighting="transfer of attention"
    ),
    "security_potential_aspiration": _seed(
        "Security, potential and aspiration",
        SUM,
        RANGE,
        weighting="security and potential",
        attention="aspiration",
    ),
    "disappointment": _seed("Disappointment", "disappointment", utility="power"),
    "disappointment_aversion": _seed(
        "Disappointment aversion", "disappointment aversion", utility="power"
    ),
    "regret": _seed("Regret", SUM, RANGE, attention="large regret"),
    "salience": _seed("Salience", "salience"),
    "mean_variance": _seed("Mean and variance", "mean and variance"),
    "coefficient_of_variation": _seed(
        "Mean and coefficient of variation", SUM, RANGE, attention="relative spread"
    ),
    "decision_field_theory": _seed(
        "Decision field theory, without time", SUM, "by the spread of the outcomes", utility="power"
    ),
    "best_estimate_and_tools": _seed(
        "Best estimate and simple tools",
        SUM,
        attention="worst outcome + equal weighting + signs + more often better",
    ),
    "priority_heuristic": _seed("Priority heuristic", "priority heuristic"),
    "minimax": _seed("Minimax", "worst outcome", RANGE),
    "maximax": _seed("Maximax", "best outcome", RANGE),
    "equal_weights": _seed("Equal weights", "equal weights", RANGE),
    "better_than_average": _seed("Better than average", "better than average"),
    "most_likely": _seed("Most likely", "most likely outcome", RANGE),
    "least_likely": _seed("Least likely", "least likely outcome"),
    "lexicographic": _seed("Lexicographic", "likely outcomes in turn"),
    "probable": _seed("Probable", "probable outcomes", RANGE),
    "tallying": _seed("Tallying", "tallying"),
    "strategy_mixture": _seed(
        "Utility or one good reason",
        SUM,
        utility="power",
        mixture="at times the worst outcome + at times the most likely outcome",
    ),
}

FAMILY = Family("risky", GRAMMAR, SEEDS, gamble_vocabulary)
