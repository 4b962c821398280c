"""Intertemporal choice: how two dated amounts are compared, and how a comparison becomes a choice."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lakatos.domains.intertemporal.mechanisms.worth import (
    AMOUNT_ANSWERS,
    DELAY_ANSWERS,
    DRIFT,
    EBERT,
    HARLESS,
    ITCH,
    SCHOLTEN,
    SEQUENTIAL,
    SIMON,
    VALUE,
    _attention,
    _sensitivity,
)
from lakatos.domains.kit.parameter import log_uniform, uniform
from lakatos.theories.language.grammar import Mechanism

COMPARISON = (
    Mechanism(
        "comparison",
        "difference in value",
        "compare what the options are worth now, in money",
        f"""
        {VALUE}
        evidence = parameters["sensitivity"] * (value[..., 1] - value[..., 0])
        """,
        _sensitivity(1e-4, 10.0, "money unit"),
        ("amount_difference",),
        "Samuelson (1937), Review of Economic Studies 4, 155-161; Luce (1959), Individual choice behavior",
    ),
    Mechanism(
        "comparison",
        "difference in value by the larger amount",
        "compare what the options are worth now, against the larger of the two amounts",
        f"""
        {VALUE}
        worth_at_most = xp.maximum(xp.abs(utility).max(axis=-1), 1e-9)
        evidence = parameters["sensitivity"] * (value[..., 1] - value[..., 0]) / worth_at_most
        """,
        _sensitivity(0.5, 60.0, "larger amount"),
        ("log_magnitude", "amount_difference", "relative_amount_difference"),
        "Wilcox (2011), Journal of Econometrics 162, 89-104",
        breaks=("amount",),
        predictions=({"property": "ignores", "in": "scale"},),
    ),
    Mechanism(
        "comparison",
        "difference in value partly by the larger amount",
        "compare what the options are worth now, partly against the larger of the two amounts",
        f"""
        {VALUE}
        worth_at_most = xp.maximum(xp.abs(utility).max(axis=-1), 1e-9)
        gain_of_value = value[..., 1] - value[..., 0]
        evidence = parameters["sensitivity"] * gain_of_value / worth_at_most ** parameters["adaptation"]
        """,
        {
            **_sensitivity(1e-3, 60.0, "larger amount to the power of the adaptation"),
            "adaptation": uniform(
                0.0, 1.0, "exponent", "0: differences count in money; 1: relative to the larger"
            ),
        },
        ("log_magnitude", "amount_difference", "relative_amount_difference"),
        "Parducci (1965), Psychological Review 72, 407-418; Wilcox (2011), Journal of Econometrics 162, 89-104",
        breaks=("amount",),
    ),
    Mechanism(
        "comparison",
        "ratio of values",
        "compare what the options are worth now, by their ratio",
        f"""
        {VALUE}
        # shares of the larger amount, so that what is too small to compare does not depend on the unit of money
        share = value / xp.maximum(xp.abs(utility).max(axis=-1), 1e-9)[..., None]
        lead = (share[..., 1] - share[..., 0]) / xp.maximum(xp.abs(share).sum(axis=-1), 1e-300)
        lead = xp.clip(lead, -0.999999, 0.999999)
        evidence = parameters["sensitivity"] * xp.log((1 + lead) / (1 - lead))
        """,
        _sensitivity(0.2, 60.0, "log ratio"),
        ("log_magnitude", "log_amount_ratio", "relative_amount_difference"),
        "Luce (1959), Individual choice behavior",
        predictions=({"property": "ignores", "in": "scale"},),
    ),
    Mechanism(
        "comparison",
        "weighted differences",
        "compare amounts with amounts and delays with delays, and add the two differences up",
        """
        more = utility[..., 1] - utility[..., 0]
        longer = burden * (time[..., 1] - time[..., 0])
        evidence = parameters["sensitivity"] * more - parameters["time_weight"] * longer
        """,
        {
            **_sensitivity(1e-4, 10.0, "money unit"),
            "time_weight": log_uniform(
                1e-3, 5.0, "log odds per day", "how strongly each further day counts"
            ),
        },
        ("amount_difference", "delay_difference", "front_end_delay"),
        "Dai & Busemeyer (2014), Journal of Experimental Psychology: General 143, 1512-1529",
        breaks=("amount",),
        predictions=({"property": "ignores", "in": "common_delay"},),
    ),
    Mechanism(
        "comparison",
        "trade-off",
        "set the felt advantage in amount against the felt disadvantage in delay, both felt less and less as they grow",
        """
        felt_amount = xp.sign(amounts) * xp.log1p(parameters["amount_contraction"][..., None] * size)
        felt_delay = xp.log1p(parameters["delay_contraction"][..., None] * delays)
        more = felt_amount[..., 1] - felt_amount[..., 0]
        longer = burden * (felt_delay[..., 1] - felt_delay[..., 0])
        evidence = parameters["sensitivity"] * more - parameters["time_weight"] * longer
        """,
        {
            "amount_contraction": log_uniform(
                1e-4, 10.0, "per money unit", "near 0: amounts count as stated"
            ),
            "delay_contraction": log_uniform(
                1e-3, 10.0, "per day", "near 0: delays count as stated"
            ),
            **_sensitivity(0.2, 30.0, "log unit of amount"),
            "time_weight": log_uniform(
                0.05, 20.0, "log odds per log unit of delay", "how strongly delays count"
            ),
        },
        (*AMOUNT_ANSWERS, *DELAY_ANSWERS, "front_end_delay"),
        SCHOLTEN,
        breaks=("amount",),
    ),
    Mechanism(
        "comparison",
        "trade-off by intervals",
        "set the felt advantage in amount against the felt interval between the dates, where very short intervals "
        "count for little and long ones for ever less",
        """
        felt_amount = xp.sign(amounts) * xp.log1p(parameters["amount_contraction"][..., None] * size)
        felt_delay = xp.log1p(parameters["delay_contraction"][..., None] * delays)
        more = felt_amount[..., 1] - felt_amount[..., 0]
        interval = xp.abs(felt_delay[..., 1] - felt_delay[..., 0])
        threshold = parameters["superadditivity"]
        longer = patient * xp.log1p((interval / threshold) ** threshold)
        evidence = parameters["sensitivity"] * more - parameters["time_weight"] * longer
        """,
        {
            "amount_contraction": log_uniform(
                1e-4, 10.0, "per money unit", "near 0: amounts count as stated"
            ),
            "delay_contraction": log_uniform(
                1e-3, 10.0, "per day", "near 0: delays count as stated"
            ),
            "superadditivity": uniform(
                1.0, 4.0, "exponent", "above 1: very short intervals hardly count"
            ),
            **_sensitivity(0.2, 30.0, "log unit of amount"),
            "time_weight": log_uniform(
                0.05, 20.0, "log odds per log unit of delay", "how strongly intervals count"
            ),
        },
        (*AMOUNT_ANSWERS, *DELAY_ANSWERS, "front_end_delay"),
        SCHOLTEN,
        breaks=("amount",),
    ),
    Mechanism(
        "comparison",
        "proportional difference",
        "set the difference in amount, as a share of the larger, against that in delay, as a share of the longer",
        """
        by_amount = gap / at_stake
        by_delay = burden * wait / xp.maximum(delays.max(axis=-1), 1e-9)
        evidence = parameters["sensitivity"] * (by_amount - by_delay - parameters["decision_threshold"] * patient)
        """,
        {
            **_sensitivity(0.5, 30.0, "share"),
            "decision_threshold": uniform(
                -1.0, 1.0, "share", "above 0: delay matters more than amount"
            ),
        },
        ("relative_amount_difference", "relative_delay_difference"),
        "González-Vallejo (2002), Psychological Review 109, 137-155",
        breaks=("amount", "delay", "loss_delay", "dominance"),
        predictions=({"property": "ignores", "in": "scale"},),
    ),
    Mechanism(
        "comparison",
        "required premium",
        "wait if it pays a fixed share more, however long it takes",
        'evidence = parameters["sensitivity"] * (gap / at_stake - parameters["premium"] * patient)',
        {
            **_sensitivity(0.5, 60.0, "share"),
            "premium": uniform(
                0.0, 1.0, "share of the larger amount", "least that waiting must pay"
            ),
        },
        ("relative_amount_difference", "delay_difference"),
        f"{EBERT}; Thaler (1981), Economics Letters 8, 201-207",
        breaks=("amount",),
        predictions=(
            {"property": "ignores", "in": "scale"},
            {"property": "ignores", "in": "common_delay"},
        ),
    ),
    Mechanism(
        "comparison",
        "larger amount",
        "look at nothing but which amount is larger",
        'evidence = parameters["sensitivity"] * xp.sign(gap)',
        _sensitivity(0.2, 10.0, "better option"),
        ("amount_difference", "dominance"),
        SEQUENTIAL,
        predictions=({"property": "ignores", "in": "delay"},),
    ),
    Mechanism(
        "comparison",
        "first to come",
        "look at nothing but which option comes first",
        'evidence = -parameters["sensitivity"] * xp.sign(wait)',
        _sensitivity(0.2, 10.0, "sooner option"),
        ("delay_difference", "losses_present"),
        SEQUENTIAL,
        breaks=("loss_delay", "reverses reflection"),
        predictions=({"property": "ignores", "in": "amount"},),
    ),
)

CONVICTION = {
    "conviction": log_uniform(
        0.5, 10.0, "log odds", "how surely the shortcut decides where it applies"
    )
}

SHORTCUT = (
    Mechanism(
        "shortcut",
        "similarity",
        "decide by the delays alone where only the amounts are similar, and by the amounts alone where only the delays "
        "are",
        """
        amounts_similar = 1 - size.min(axis=-1) / at_stake < parameters["similar_amounts"]
        delays_similar = xp.abs(wait) / xp.maximum(delays.max(axis=-1), 1e-9) < parameters["similar_delays"]
        by_delay = xp.where(amounts_similar & ~delays_similar, -patient, 0.0)
        by_amount = xp.where(delays_similar & ~amounts_similar, xp.sign(gap), 0.0)
        evidence = xp.where(
            amounts_similar ^ delays_similar, parameters["conviction"] * (by_delay + by_amount), evidence
        )
        """,
        {
            "similar_amounts": uniform(
                0.0, 0.8, "share of the larger", "differences below this do not count"
            ),
            "similar_delays": uniform(
                0.0, 0.8, "share of the longer", "differences below this do not count"
            ),
            **CONVICTION,
        },
        ("relative_amount_difference", "relative_delay_difference", "front_end_delay"),
        "Leland (2002), Economic Inquiry 40, 574-581; Rubinstein (2003), International Economic Review 44, 1207-1216",
        breaks=("amount", "delay", "loss_delay", "ignores common_delay"),
    ),
    Mechanism(
        "shortcut",
        "longest wait",
        "take the other option where one lies beyond the longest wait they would consider",
        """
        beyond = 1.0 * (delays > parameters["longest_wait"][..., None])
        lead = burden * (beyond[..., 0] - beyond[..., 1])
        evidence = xp.where(lead != 0, parameters["conviction"] * lead, evidence)
        """,
        {
            "longest_wait": log_uniform(2.0, 1000.0, "days", "longest delay that is considered"),
            **CONVICTION,
        },
        ("longest_delay", "delay_difference"),
        SIMON,
        breaks=("amount", "delay", "loss_delay", "ignores common_delay"),
    ),
    Mechanism(
        "shortcut",
        "good enough",
        "take the sooner option where its amount is good enough",
        """
        sooner = xp.where(wait >= 0, amounts[:, 0], amounts[:, 1])
        enough = (sooner >= parameters["aspiration"]) & (wait != 0)
        evidence = xp.where(enough, -parameters["conviction"] * xp.sign(wait), evidence)
        """,
        {
            "aspiration": log_uniform(0.1, 1e4, "money units", "least amount that is good enough"),
            **CONVICTION,
        },
        ("log_magnitude", "amount_difference"),
        SIMON,
        breaks=("amount", "delay", "ignores scale", "reverses reflection"),
    ),
    Mechanism(
        "shortcut",
        "short wait",
        "take the larger amount where the further wait is too short to matter",
        """
        brief = xp.abs(wait) <= parameters["negligible_days"]
        evidence = xp.where(brief, parameters["conviction"] * xp.sign(gap), evidence)
        """,
        {
            "negligible_days": log_uniform(
                0.5, 100.0, "days", "longest further wait that does not matter"
            ),
            **CONVICTION,
        },
        ("delay_difference", "log_delay_difference"),
        SEQUENTIAL,
        breaks=("amount", "delay", "loss_delay"),
    ),
    Mechanism(
        "shortcut",
        "small gain",
        "do not wait for a difference that is too small to matter",
        """
        small = xp.abs(gap) < parameters["negligible_amount"]
        evidence = xp.where(small, -parameters["conviction"] * patient, evidence)
        """,
        {
            "negligible_amount": log_uniform(
                0.1, 1000.0, "money units", "largest difference that does not matter"
            ),
            **CONVICTION,
        },
        ("amount_difference", "log_magnitude"),
        SEQUENTIAL,
        breaks=("amount", "ignores delay", "ignores scale"),
    ),
)

ATTENTION = (
    _attention(
        "amount difference",
        "wait the more, the larger the difference in amount",
        "gap",
        ("weight_of_amount", 1e-5, 0.3, "money unit"),
        ("amount_difference", "log_magnitude"),
        f"{ITCH}; {DRIFT}",
        breaks=("ignores scale", "ignores amount"),
    ),
    _attention(
        "relative amount difference",
        "wait the more, the larger the difference in amount relative to the mean amount",
        "gap / xp.maximum(size.mean(axis=-1), 1e-9)",
        ("weight_of_relative_amount", 0.05, 20.0, "mean amount"),
        ("relative_amount_difference", "log_amount_ratio"),
        ITCH,
        breaks=("ignores amount",),
    ),
    _attention(
        "growth",
        "wait the more, the larger the difference in amount in percent of the sooner amount",
        "xp.clip(gap / xp.maximum(sooner_size, 1e-9), -10.0, 10.0)",
        ("weight_of_growth", 0.05, 20.0, "sooner amount"),
        ("relative_amount_difference", "log_amount_ratio"),
        DRIFT,
        breaks=("amount", "delay", "loss_delay"),
    ),
    _attention(
        "interest",
        "wait the more, the higher the rate of interest that waiting earns",
        "patient * xp.expm1(xp.clip(xp.where(wait == 0, 0.0, growth / xp.where(wait == 0, 1.0, wait)), -2.0, 2.0))",
        ("weight_of_interest", 0.1, 200.0, "unit of daily interest"),
        ("interest_rate",),
        DRIFT,
        breaks=("amount", "delay", "loss_delay", "ignores scale"),
    ),
    _attention(
        "delay difference",
        "wait the less, the longer the further wait",
        "-burden * wait",
        ("weight_of_delay", 1e-4, 1.0, "day"),
        ("delay_difference", "longest_delay"),
        f"{ITCH}; {DRIFT}",
        breaks=("amount", "ignores delay"),
    ),
    _attention(
        "relative delay difference",
        "wait the less, the longer the further wait relative to the mean delay",
        "-burden * wait / xp.maximum(delays.mean(axis=-1), 1e-9)",
        ("weight_of_relative_delay", 0.02, 10.0, "mean delay"),
        ("relative_delay_difference", "front_end_delay", "today_difference"),
        ITCH,
        breaks=("amount", "ignores delay", "ignores common_delay"),
    ),
    _attention(
        "immediacy",
        "are drawn to money that comes today",
        "burden * (1.0 * (delays[:, 1] == 0) - 1.0 * (delays[:, 0] == 0))",
        ("pull_of_today", 0.05, 6.0, "option that comes today"),
        ("today_difference", "today_possible"),
        "Keren & Roelofsma (1995), Organizational Behavior and Human Decision Processes 63, 287-297",
        breaks=("amount", "ignores delay", "ignores common_delay"),
    ),
    _attention(
        "stakes",
        "wait the more, the more money is at stake",
        "patient * xp.log1p(at_stake)",
        ("pull_of_stakes", 0.02, 3.0, "log unit of the larger amount"),
        ("log_magnitude",),
        "Thaler (1981), Economics Letters 8, 201-207; Prelec & Loewenstein (1991), Management Science 37, 770-786",
        breaks=("amount", "delay", "loss_delay", "dominance", "ignores scale"),
    ),
    _attention(
        "waiting anyway",
        "wait the more, the longer they have to wait for either option",
        "patient * xp.log1p(delays.min(axis=-1))",
        ("pull_of_waiting_anyway", 0.02, 3.0, "log unit of the shorter delay"),
        ("front_end_delay", "today_possible"),
        "Green, Fristoe & Myerson (1994), Psychonomic Bulletin & Review 1, 383-389",
        breaks=("amount", "delay", "loss_delay", "dominance", "ignores common_delay"),
    ),
    _attention(
        "too good to be true",
        "distrust an option that pays many times as much as the other",
        "-xp.sign(growth) * burden * xp.maximum(xp.abs(growth) - 0.6931472, 0.0)",
        ("distrust", 0.05, 6.0, "log unit of ratio beyond twice as much"),
        ("log_amount_ratio", "interest_rate"),
        "Friestad & Wright (1994), Journal of Consumer Research 21, 1-31 (wary of offers; the form is the project's)",
        breaks=("amount", "dominance", "ignores scale"),
    ),
    Mechanism(
        "attention",
        "round amounts",
        "like round sums of money",
        """
        # 1 where all digits after the first are 0, 0.5 where the second is 5
        leading = xp.maximum(size, 0.01) / 10.0 ** xp.floor(xp.log10(xp.maximum(size, 0.01)) + 1e-9)
        one_digit = xp.abs(leading - xp.round(leading)) < 1e-6
        and_a_half = xp.abs(2 * leading - xp.round(2 * leading)) < 1e-6
        roundness = xp.where(one_digit, 1.0, xp.where(and_a_half, 0.5, 0.0))
        evidence = evidence + parameters["pull_of_round_amounts"] * (roundness[:, 1] - roundness[:, 0])
        """,
        {
            "pull_of_round_amounts": log_uniform(
                0.05, 6.0, "log odds per round sum", "weight of: round amounts"
            )
        },
        ("roundness_difference",),
        "Pope & Simonsohn (2011), Psychological Science 22, 71-79",
        breaks=("amount", "dominance", "ignores scale", "reverses reflection"),
    ),
)

BIAS = (
    Mechanism(
        "bias",
        "leaning",
        "lean to waiting or to not waiting, whatever is offered",
        'evidence = evidence + parameters["leaning"] * patient',
        {
            "leaning": uniform(
                -4.0, 4.0, "log odds", "above 0: to waiting for gains, to paying losses at once"
            )
        },
        ("log_magnitude", "delay_difference"),
        ITCH,
        breaks=("amount", "delay", "loss_delay", "dominance"),
    ),
)

CHOICE = (
    Mechanism(
        "choice",
        "logistic",
        "choose the better option the more often, the stronger the evidence",
        "p = 1 / (1 + xp.exp(-xp.clip(evidence, -500.0, 500.0)))",
        {},
        (),
        "Luce (1959), Individual choice behavior; McFadden (1974)",
    ),
    Mechanism(
        "choice",
        "deterministic",
        "always choose the option for which the evidence speaks, and either one when it speaks for none",
        "p = 0.5 + 0.5 * xp.sign(evidence)",
        {},
        (),
        HARLESS,
        is_null=True,
        breaks=(
            "sides",
            "ignores scale",
            "ignores common_delay",
        ),  # a rounding error of the evidence is decisive
        predictions=({"property": "deterministic"},),
    ),
    Mechanism(
        "choice",
        "indifference zone",
        "choose either option while the evidence is weak, and the better one the more often beyond that",
        """
        beyond = xp.sign(evidence) * xp.maximum(xp.abs(evidence) - parameters["indifference"], 0.0)
        p = 1 / (1 + xp.exp(-xp.clip(beyond, -500.0, 500.0)))
        """,
        {"indifference": log_uniform(0.05, 5.0, "log odds", "weakest evidence that is heeded")},
        ("relative_amount_difference", "log_amount_ratio"),
        "Luce (1956), Econometrica 24, 178-191",
    ),
    Mechanism(
        "choice",
        "contrarian",
        "choose against the evidence, the more often the stronger it is",
        "p = 1 / (1 + xp.exp(xp.clip(evidence, -500.0, 500.0)))",
        {},
        ("amount_difference", "dominance"),
        "Brehm (1966), A theory of psychological reactance",
        breaks=("amount", "delay", "loss_delay", "dominance"),
    ),
)


def _type(low: float) -> Mapping[str, Any]:
    return {
        "other_type": uniform(low, 1.0, "latent type", "people above 0 follow the other strategy")
    }


SHARE = {"other_share": uniform(0.0, 0.6, "share of choices", "choices made by the other strategy")}

OTHER = (
    Mechanism(
        "other",
        "some people take the larger amount",
        "but some of them always take the larger amount",
        'p = xp.where(parameters["other_type"] > 0, 0.5 + 0.5 * xp.sign(gap), p)',
        _type(-4.0),
        ("dominance", "amount_difference"),
        HARLESS,
        breaks=("ignores amount",),
    ),
    Mechanism(
        "other",
        "some people never wait",
        "but some of them always take what comes first",
        'p = xp.where(parameters["other_type"] > 0, 0.5 - 0.5 * xp.sign(wait), p)',
        _type(-4.0),
        ("delay_difference", "today_difference"),
        HARLESS,
        breaks=("loss_delay", "reverses reflection", "ignores delay"),
    ),
    Mechanism(
        "other",
        "at times the larger amount",
        "but at times just take the larger amount",
        'p = p + parameters["other_share"] * (0.5 + 0.5 * xp.sign(gap) - p)',
        SHARE,
        ("dominance", "amount_difference"),
        HARLESS,
        breaks=("ignores amount", "deterministic"),
    ),
    Mechanism(
        "other",
        "at times the first to come",
        "but at times just take what comes first",
        'p = p + parameters["other_share"] * (0.5 - 0.5 * xp.sign(wait) - p)',
        SHARE,
        ("delay_difference", "today_difference"),
        HARLESS,
        breaks=("loss_delay", "reverses reflection", "ignores delay", "deterministic"),
    ),
)

LAPSE = (
    Mechanism(
        "lapse",
        "random",
        "now and then choose at random",
        'p = parameters["lapse"] / 2 + (1 - parameters["lapse"]) * p',
        {"lapse": uniform(0.0, 0.4, "share of choices", "choices made without looking")},
        (),
        HARLESS,
        is_null=True,
    ),
)
