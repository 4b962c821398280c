"""Intertemporal choice: how two dated amounts are compared, and how a comparison becomes a choice."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lakatos.domains.intertemporal.mechanisms.worth import (
    DRIFT,
    EBERT,
    FEATURES_OF_AMOUNTS,
    FEATURES_OF_DELAYS,
    HARLESS,
    ITCH,
    SCHOLTEN,
    SEQUENTIAL,
    SIMON,
    VALUE,
    _attention,
    _sensitivity,
)
from lakatos.domains.kit.parameter import LOG_ODDS, log_uniform, uniform
from lakatos.theories.language.account import Wording
from lakatos.theories.language.grammar import Mechanism

WITH_DELAYS = ("discounting", "cost", "attention", "shortcut", "other")
"""Slots whose mechanisms read the delays."""
BESIDES = ("attention", "bias", "shortcut")
"""Slots whose mechanisms move choices besides the comparison."""

COMPARISON = (
    Mechanism(
        slot="comparison",
        name="difference in value",
        code=f"""
        {VALUE}
        evidence = parameters["sensitivity"] * (value[..., 1] - value[..., 0])
        """,
        parameters=_sensitivity(1e-4, 10.0, "money unit"),
        clause="compare values in money",
        wording=(
            Wording(clause="compare the amounts and ignore the delays"),
            Wording(clause="compare values in money", taken_for_granted=True),
        ),
        beside=(WITH_DELAYS, ""),
        repairs=("amount_difference",),
        source="Samuelson (1937), Review of Economic Studies 4, 155-161; Luce (1959), Individual choice behavior",
    ),
    Mechanism(
        slot="comparison",
        name="difference in value by the larger amount",
        clause="compare values relative to the larger amount",
        wording=(
            Wording(clause="ignore the delays"),
            Wording(clause="compare values relative to the larger amount"),
        ),
        beside=(WITH_DELAYS, ""),
        code=f"""
        {VALUE}
        worth_at_most = xp.maximum(xp.abs(utility).max(axis=-1), 1e-9)
        evidence = parameters["sensitivity"] * (value[..., 1] - value[..., 0]) / worth_at_most
        """,
        parameters=_sensitivity(0.5, 60.0, "larger amount"),
        repairs=("log_larger_amount", "amount_difference", "relative_amount_difference"),
        predictions=({"property": "ignores", "in": "scale"},),
        breaks=("amount",),
        source="Wilcox (2011), Journal of Econometrics 162, 89-104",
    ),
    Mechanism(
        slot="comparison",
        name="difference in value partly by the larger amount",
        code=f"""
        {VALUE}
        worth_at_most = xp.maximum(xp.abs(utility).max(axis=-1), 1e-9)
        gain_of_value = value[..., 1] - value[..., 0]
        evidence = parameters["sensitivity"] * gain_of_value / worth_at_most ** parameters["adaptation"]
        """,
        parameters={
            **_sensitivity(1e-3, 60.0, "larger amount to the power of the adaptation"),
            "adaptation": uniform(
                0.0, 1.0, "exponent", "0: differences count in money; 1: relative to the larger"
            ),
        },
        wording=Wording(
            clause="compare values, {much}scaled by the larger of the two amounts",
            neutral_clause="compare values",
            parameter="adaptation",
            unit=0.4,
        ),
        repairs=("log_larger_amount", "amount_difference", "relative_amount_difference"),
        breaks=("amount",),
        source="Parducci (1965), Psychological Review 72, 407-418; Wilcox (2011), Journal of Econometrics 162, 89-104",
    ),
    Mechanism(
        slot="comparison",
        name="ratio of values",
        clause="compare values by their ratio",
        code=f"""
        {VALUE}
        # shares of the larger amount, so that what is too small to compare does not depend on the unit of money
        share = value / xp.maximum(xp.abs(utility).max(axis=-1), 1e-9)[..., None]
        lead = (share[..., 1] - share[..., 0]) / xp.maximum(xp.abs(share).sum(axis=-1), 1e-300)
        lead = xp.clip(lead, -0.999999, 0.999999)
        evidence = parameters["sensitivity"] * xp.log((1 + lead) / (1 - lead))
        """,
        parameters=_sensitivity(0.2, 60.0, "log ratio"),
        repairs=("log_larger_amount", "log_amount_ratio", "relative_amount_difference"),
        predictions=({"property": "ignores", "in": "scale"},),
        source="Luce (1959), Individual choice behavior",
    ),
    Mechanism(
        slot="comparison",
        name="weighted differences",
        clause="add up the difference in amount and the difference in delay",
        code="""
        more = utility[..., 1] - utility[..., 0]
        longer = burden * (time[..., 1] - time[..., 0])
        evidence = parameters["sensitivity"] * more - parameters["time_weight"] * longer
        """,
        parameters={
            **_sensitivity(1e-4, 10.0, "money unit"),
            "time_weight": log_uniform(
                1e-3, 5.0, "log odds per day", "how strongly each further day counts"
            ),
        },
        repairs=("amount_difference", "delay_difference", "front_end_delay"),
        predictions=({"property": "ignores", "in": "common_delay"},),
        breaks=("amount",),
        source="Dai & Busemeyer (2014), Journal of Experimental Psychology: General 143, 1512-1529",
    ),
    Mechanism(
        slot="comparison",
        name="trade-off",
        clause=(
            "trade off the advantage in amount against the disadvantage in delay, both with "
            "diminishing sensitivity"
        ),
        code="""
        felt_amount = xp.sign(amounts) * xp.log1p(parameters["amount_contraction"][..., None] * size)
        felt_delay = xp.log1p(parameters["delay_contraction"][..., None] * delays)
        more = felt_amount[..., 1] - felt_amount[..., 0]
        longer = burden * (felt_delay[..., 1] - felt_delay[..., 0])
        evidence = parameters["sensitivity"] * more - parameters["time_weight"] * longer
        """,
        parameters={
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
        repairs=(*FEATURES_OF_AMOUNTS, *FEATURES_OF_DELAYS, "front_end_delay"),
        breaks=("amount",),
        source=SCHOLTEN,
    ),
    Mechanism(
        slot="comparison",
        name="trade-off by intervals",
        code="""
        felt_amount = xp.sign(amounts) * xp.log1p(parameters["amount_contraction"][..., None] * size)
        felt_delay = xp.log1p(parameters["delay_contraction"][..., None] * delays)
        more = felt_amount[..., 1] - felt_amount[..., 0]
        interval = xp.abs(felt_delay[..., 1] - felt_delay[..., 0])
        threshold = parameters["superadditivity"]
        longer = patient * xp.log1p((interval / threshold) ** threshold)
        evidence = parameters["sensitivity"] * more - parameters["time_weight"] * longer
        """,
        parameters={
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
        wording=(
            Wording(
                clause=(
                    "trade off the advantage in amount against the interval between the "
                    "dates, both with diminishing sensitivity"
                )
            ),
            Wording(
                clause="{much}overlook very short intervals",
                parameter="superadditivity",
                neutral=1.0,
                unit=0.5,
                log_ratio=True,
            ),
        ),
        repairs=(*FEATURES_OF_AMOUNTS, *FEATURES_OF_DELAYS, "front_end_delay"),
        breaks=("amount",),
        source=SCHOLTEN,
    ),
    Mechanism(
        slot="comparison",
        name="proportional difference",
        code="""
        by_amount = gap / at_stake
        by_delay = burden * wait / xp.maximum(delays.max(axis=-1), 1e-9)
        evidence = parameters["sensitivity"] * (by_amount - by_delay - parameters["decision_threshold"] * patient)
        """,
        parameters={
            **_sensitivity(0.5, 30.0, "share"),
            "decision_threshold": uniform(
                -1.0, 1.0, "share", "above 0: delay matters more than amount"
            ),
        },
        wording=(
            Wording(
                clause=(
                    "compare the difference in amount, relative to the larger, with that in "
                    "delay, relative to the longer"
                )
            ),
            Wording(
                clause="weight delays {far}more than amounts",
                clause_short="delays more",
                opposite_clause="weight amounts {far}more than delays",
                opposite_short="amounts more",
                parameter="decision_threshold",
                unit=0.2,
                label="impatience",
                opposite_label="patience",
            ),
        ),
        repairs=("relative_amount_difference", "relative_delay_difference"),
        predictions=({"property": "ignores", "in": "scale"},),
        breaks=("amount", "delay", "loss_delay", "dominance"),
        source="González-Vallejo (2002), Psychological Review 109, 137-155",
    ),
    Mechanism(
        slot="comparison",
        name="required premium",
        code='evidence = parameters["sensitivity"] * (gap / at_stake - parameters["premium"] * patient)',
        parameters={
            **_sensitivity(0.5, 60.0, "share"),
            "premium": uniform(
                0.0, 1.0, "share of the larger amount", "least that waiting must pay"
            ),
        },
        wording=Wording(
            clause="wait if the amount grows by a fixed share ({premium%} of the larger amount), whatever the delay"
        ),
        repairs=("relative_amount_difference", "delay_difference"),
        predictions=(
            {"property": "ignores", "in": "scale"},
            {"property": "ignores", "in": "common_delay"},
        ),
        breaks=("amount",),
        source=f"{EBERT}; Thaler (1981), Economics Letters 8, 201-207",
    ),
    Mechanism(
        slot="comparison",
        name="larger amount",
        clause="choose by the amounts alone",
        beside=(BESIDES, "prefer the better amount"),
        code='evidence = parameters["sensitivity"] * xp.sign(gap)',
        parameters=_sensitivity(0.2, 10.0, "better option"),
        repairs=("amount_difference", "dominance"),
        predictions=({"property": "ignores", "in": "delay"},),
        source=SEQUENTIAL,
    ),
    Mechanism(
        slot="comparison",
        name="first to come",
        clause="choose by the delays alone",
        beside=(BESIDES, "prefer what comes sooner"),
        code='evidence = -parameters["sensitivity"] * xp.sign(wait)',
        parameters=_sensitivity(0.2, 10.0, "sooner option"),
        repairs=("delay_difference", "losses_present"),
        predictions=({"property": "ignores", "in": "amount"},),
        breaks=("loss_delay", "reverses reflection"),
        source=SEQUENTIAL,
    ),
)

CONVICTION = {
    "conviction": log_uniform(
        0.5, 10.0, "log odds", "how surely the shortcut decides where it applies"
    )
}

SHORTCUT = (
    Mechanism(
        slot="shortcut",
        name="similarity",
        code="""
        amounts_similar = 1 - size.min(axis=-1) / at_stake < parameters["similar_amounts"]
        delays_similar = xp.abs(wait) / xp.maximum(delays.max(axis=-1), 1e-9) < parameters["similar_delays"]
        by_delay = xp.where(amounts_similar & ~delays_similar, -patient, 0.0)
        by_amount = xp.where(delays_similar & ~amounts_similar, xp.sign(gap), 0.0)
        evidence = xp.where(
            amounts_similar ^ delays_similar, parameters["conviction"] * (by_delay + by_amount), evidence
        )
        """,
        parameters={
            "similar_amounts": uniform(
                0.0, 0.8, "share of the larger", "differences below this do not count"
            ),
            "similar_delays": uniform(
                0.0, 0.8, "share of the longer", "differences below this do not count"
            ),
            **CONVICTION,
        },
        wording=Wording(
            clause=(
                "decide by the delays alone if only the amounts are similar (within {similar_amounts%} of the larger), "
                "and by the amounts alone if only the delays are similar (within {similar_delays%} of the longer)"
            ),
            label="similarity",
            overrides=True,
        ),
        repairs=("relative_amount_difference", "relative_delay_difference", "front_end_delay"),
        breaks=("amount", "delay", "loss_delay", "ignores common_delay"),
        source="Leland (2002), Economic Inquiry 40, 574-581; Rubinstein (2003), International Economic Review "
        "44, 1207-1216",
    ),
    Mechanism(
        slot="shortcut",
        name="longest wait",
        code="""
        beyond = 1.0 * (delays > parameters["longest_wait"][..., None])
        lead = burden * (beyond[..., 0] - beyond[..., 1])
        evidence = xp.where(lead != 0, parameters["conviction"] * lead, evidence)
        """,
        parameters={
            "longest_wait": log_uniform(2.0, 1000.0, "days", "longest delay that is considered"),
            **CONVICTION,
        },
        wording=Wording(
            clause=(
                "reject an option beyond the longest delay that they consider (about {longest_wait} days)"
            ),
            label="a longest wait",
            overrides=True,
        ),
        repairs=("longest_delay", "delay_difference"),
        breaks=("amount", "delay", "loss_delay", "ignores common_delay"),
        source=SIMON,
    ),
    Mechanism(
        slot="shortcut",
        name="good enough",
        code="""
        sooner = xp.where(wait >= 0, amounts[:, 0], amounts[:, 1])
        enough = (sooner >= parameters["aspiration"]) & (wait != 0)
        evidence = xp.where(enough, -parameters["conviction"] * xp.sign(wait), evidence)
        """,
        parameters={
            "aspiration": log_uniform(0.1, 1e4, "money units", "least amount that is good enough"),
            **CONVICTION,
        },
        wording=Wording(
            clause="take the sooner option where its amount is satisfactory (about {aspiration} or more)",
            label="an aspiration",
            overrides=True,
        ),
        repairs=("log_larger_amount", "amount_difference"),
        breaks=("amount", "delay", "ignores scale", "reverses reflection"),
        source=SIMON,
    ),
    Mechanism(
        slot="shortcut",
        name="short wait",
        code="""
        brief = xp.abs(wait) <= parameters["negligible_days"]
        evidence = xp.where(brief, parameters["conviction"] * xp.sign(gap), evidence)
        """,
        parameters={
            "negligible_days": log_uniform(
                0.5, 100.0, "days", "longest further wait that does not matter"
            ),
            **CONVICTION,
        },
        wording=Wording(
            clause=(
                "take the larger amount where the further wait is too short to matter (up to "
                "{negligible_days} days)"
            ),
            label="short waits",
            overrides=True,
        ),
        repairs=("delay_difference", "log_delay_difference"),
        breaks=("amount", "delay", "loss_delay"),
        source=SEQUENTIAL,
    ),
    Mechanism(
        slot="shortcut",
        name="small gain",
        code="""
        small = xp.abs(gap) < parameters["negligible_amount"]
        evidence = xp.where(small, -parameters["conviction"] * patient, evidence)
        """,
        parameters={
            "negligible_amount": log_uniform(
                0.1, 1000.0, "money units", "largest difference that does not matter"
            ),
            **CONVICTION,
        },
        wording=Wording(
            clause="do not wait for a difference below a threshold ({negligible_amount} monetary units)",
            label="small gains",
            overrides=True,
        ),
        repairs=("amount_difference", "log_larger_amount"),
        breaks=("amount", "ignores delay", "ignores scale"),
        source=SEQUENTIAL,
    ),
)

ATTENTION = (
    _attention(
        name="amount difference",
        weight=("weight_of_amount", 1e-5, 0.3, "money unit"),
        code="gap",
        wording=Wording(
            clause="are more likely to wait, the larger the difference in amount",
            label="amounts",
        ),
        repairs=("amount_difference", "log_larger_amount"),
        breaks=("ignores scale", "ignores amount"),
        source=f"{ITCH}; {DRIFT}",
    ),
    _attention(
        name="relative amount difference",
        clause="are more likely to wait, the larger the difference in amount relative to the mean amount",
        weight=("weight_of_relative_amount", 0.05, 20.0, "mean amount"),
        code="gap / xp.maximum(size.mean(axis=-1), 1e-9)",
        wording=Wording(
            clause="are {far}more likely to wait, the larger the difference in amount relative to the mean amount",
            parameter="weight_of_relative_amount",
            unit=LOG_ODDS,
            label="relative amounts",
        ),
        repairs=("relative_amount_difference", "log_amount_ratio"),
        breaks=("ignores amount",),
        source=ITCH,
    ),
    _attention(
        name="growth",
        clause="are more likely to wait, the larger the difference in amount as a percentage of the sooner amount",
        weight=("weight_of_growth", 0.05, 20.0, "sooner amount"),
        code="xp.clip(gap / xp.maximum(sooner_size, 1e-9), -10.0, 10.0)",
        wording=Wording(
            clause="are {far}more likely to wait, the larger the increase as a percentage of the sooner amount",
            parameter="weight_of_growth",
            unit=LOG_ODDS,
            label="relative gains",
        ),
        repairs=("relative_amount_difference", "log_amount_ratio"),
        breaks=("amount", "delay", "loss_delay"),
        source=DRIFT,
    ),
    _attention(
        name="interest",
        weight=("weight_of_interest", 0.1, 200.0, "unit of daily interest"),
        code="patient * xp.expm1(xp.clip(xp.where(wait == 0, 0.0, growth / xp.where(wait == 0, 1.0, wait)), "
        "-2.0, 2.0))",
        wording=Wording(
            clause="are more likely to wait, the higher the implied interest rate",
            label="interest",
        ),
        repairs=("interest_rate",),
        breaks=("amount", "delay", "loss_delay", "ignores scale"),
        source=DRIFT,
    ),
    _attention(
        name="delay difference",
        weight=("weight_of_delay", 1e-4, 1.0, "day"),
        code="-burden * wait",
        wording=Wording(
            clause="are less likely to wait, the longer the additional delay",
            label="delays",
        ),
        repairs=("delay_difference", "longest_delay"),
        breaks=("amount", "ignores delay"),
        source=f"{ITCH}; {DRIFT}",
    ),
    _attention(
        name="relative delay difference",
        clause="are less likely to wait, the longer the additional delay relative to the mean delay",
        weight=("weight_of_relative_delay", 0.02, 10.0, "mean delay"),
        code="-burden * wait / xp.maximum(delays.mean(axis=-1), 1e-9)",
        wording=Wording(
            clause="are {far}less likely to wait, the longer the additional delay relative to the mean delay",
            parameter="weight_of_relative_delay",
            unit=LOG_ODDS,
            label="relative delays",
        ),
        repairs=("relative_delay_difference", "front_end_delay", "today_difference"),
        breaks=("amount", "ignores delay", "ignores common_delay"),
        source=ITCH,
    ),
    _attention(
        name="immediacy",
        weight=("pull_of_today", 0.05, 6.0, "option that comes today"),
        code="burden * (1.0 * (delays[:, 1] == 0) - 1.0 * (delays[:, 0] == 0))",
        wording=Wording(
            clause="{much}prefer gains that come today and losses that come later",
            parameter="pull_of_today",
            unit=LOG_ODDS,
            label="immediacy",
        ),
        repairs=("today_difference", "today_possible"),
        breaks=("amount", "ignores delay", "ignores common_delay"),
        source="Keren & Roelofsma (1995), Organizational Behavior and Human Decision Processes 63, 287-297",
    ),
    _attention(
        name="stakes",
        weight=("pull_of_stakes", 0.02, 3.0, "log unit of the larger amount"),
        code="patient * xp.log1p(at_stake)",
        wording=Wording(
            clause="are {far}more willing to wait when more money is at stake",
            parameter="pull_of_stakes",
            unit=LOG_ODDS,
            label="stakes",
        ),
        repairs=("log_larger_amount",),
        breaks=("amount", "delay", "loss_delay", "dominance", "ignores scale"),
        source="Thaler (1981), Economics Letters 8, 201-207; Prelec & Loewenstein (1991), Management Science 37, "
        "770-786",
    ),
    _attention(
        name="waiting anyway",
        weight=("pull_of_waiting_anyway", 0.02, 3.0, "log unit of the shorter delay"),
        code="patient * xp.log1p(delays.min(axis=-1))",
        wording=Wording(
            clause="are {far}more willing to wait if even the sooner option is far in the future",
            parameter="pull_of_waiting_anyway",
            unit=LOG_ODDS,
            label="front-end delay effects",
        ),
        repairs=("front_end_delay", "today_possible"),
        breaks=("amount", "delay", "loss_delay", "dominance", "ignores common_delay"),
        source="Green, Fristoe & Myerson (1994), Psychonomic Bulletin & Review 1, 383-389",
    ),
    _attention(
        name="too good to be true",
        weight=("distrust", 0.05, 6.0, "log unit of ratio beyond twice as much"),
        code="-xp.sign(growth) * burden * xp.maximum(xp.abs(growth) - 0.6931472, 0.0)",
        wording=Wording(
            clause="{much}distrust an option that pays many times as much as the other",
            parameter="distrust",
            unit=LOG_ODDS,
            label="distrust",
        ),
        repairs=("log_amount_ratio", "interest_rate"),
        breaks=("amount", "dominance", "ignores scale"),
        source="Friestad & Wright (1994), Journal of Consumer Research 21, 1-31 (wary of offers; the form is the "
        "project's)",
    ),
    Mechanism(
        slot="attention",
        name="round amounts",
        code="""
        # 1 where all digits after the first are 0, 0.5 where the second is 5
        leading = xp.maximum(size, 0.01) / 10.0 ** xp.floor(xp.log10(xp.maximum(size, 0.01)) + 1e-9)
        one_digit = xp.abs(leading - xp.round(leading)) < 1e-6
        and_a_half = xp.abs(2 * leading - xp.round(2 * leading)) < 1e-6
        roundness = xp.where(one_digit, 1.0, xp.where(and_a_half, 0.5, 0.0))
        evidence = evidence + parameters["pull_of_round_amounts"] * (roundness[:, 1] - roundness[:, 0])
        """,
        parameters={
            "pull_of_round_amounts": log_uniform(
                0.05, 6.0, "log odds per round sum", "weight of: round amounts"
            )
        },
        wording=Wording(
            clause="{much}prefer round amounts of money",
            parameter="pull_of_round_amounts",
            unit=LOG_ODDS,
            label="round amounts",
        ),
        repairs=("roundness_difference",),
        breaks=("amount", "dominance", "ignores scale", "reverses reflection"),
        source="Pope & Simonsohn (2011), Psychological Science 22, 71-79",
    ),
)

BIAS = (
    Mechanism(
        slot="bias",
        name="leaning",
        code='evidence = evidence + parameters["leaning"] * patient',
        parameters={
            "leaning": uniform(
                -4.0, 4.0, "log odds", "above 0: to waiting for gains, to paying losses at once"
            )
        },
        wording=Wording(
            clause="are {much}biased towards waiting",
            clause_short="towards waiting",
            opposite_clause="are {much}biased against waiting",
            opposite_short="against it",
            parameter="leaning",
            unit=LOG_ODDS,
            label="patience",
            opposite_label="impatience",
        ),
        repairs=("log_larger_amount", "delay_difference"),
        breaks=("amount", "delay", "loss_delay", "dominance"),
        source=ITCH,
    ),
)

CHOICE = (
    Mechanism(
        slot="choice",
        name="logistic",
        code="p = 1 / (1 + xp.exp(-xp.clip(evidence, -500.0, 500.0)))",
        wording=Wording(
            clause="choose the better option more often, the stronger the evidence",
            taken_for_granted=True,
        ),
        source="Luce (1959), Individual choice behavior; McFadden (1974)",
    ),
    Mechanism(
        slot="choice",
        name="deterministic",
        clause=(
            "choose the better option, however small the difference, and guess if none is better"
        ),
        code="p = 0.5 + 0.5 * xp.sign(evidence)",
        predictions=({"property": "deterministic"},),
        # A rounding error of the evidence is decisive.
        breaks=("sides", "ignores scale", "ignores common_delay"),
        is_null=True,
        source=HARLESS,
    ),
    Mechanism(
        slot="choice",
        name="indifference zone",
        clause="guess if the options are about equally attractive, and otherwise mostly choose the more attractive one",
        code="""
        beyond = xp.sign(evidence) * xp.maximum(xp.abs(evidence) - parameters["indifference"], 0.0)
        p = 1 / (1 + xp.exp(-xp.clip(beyond, -500.0, 500.0)))
        """,
        parameters={
            "indifference": log_uniform(0.05, 5.0, "log odds", "weakest evidence that is heeded")
        },
        repairs=("relative_amount_difference", "log_amount_ratio"),
        source="Luce (1956), Econometrica 24, 178-191",
    ),
    Mechanism(
        slot="choice",
        name="contrarian",
        code="p = 1 / (1 + xp.exp(xp.clip(evidence, -500.0, 500.0)))",
        wording=Wording(
            clause="choose the less attractive option, the more often the larger the difference",
            overrides=True,
        ),
        repairs=("amount_difference", "dominance"),
        breaks=("amount", "delay", "loss_delay", "dominance"),
        source="Brehm (1966), A theory of psychological reactance",
    ),
)


def _type(low: float) -> Mapping[str, Any]:
    return {
        "other_type": uniform(low, 1.0, "latent type", "people above 0 follow the other strategy")
    }


SHARE = {"other_share": uniform(0.0, 0.6, "share of choices", "choices made by the other strategy")}

OTHER = (
    Mechanism(
        slot="other",
        name="some people take the larger amount",
        code='p = xp.where(parameters["other_type"] > 0, 0.5 + 0.5 * xp.sign(gap), p)',
        parameters=_type(-4.0),
        wording=Wording(
            clause="{who} always take the larger amount",
            parameter="other_type",
            label="two types",
        ),
        repairs=("dominance", "amount_difference"),
        breaks=("ignores amount",),
        source=HARLESS,
    ),
    Mechanism(
        slot="other",
        name="some people never wait",
        code='p = xp.where(parameters["other_type"] > 0, 0.5 - 0.5 * xp.sign(wait), p)',
        parameters=_type(-4.0),
        wording=Wording(
            clause="{who} always take the sooner option",
            parameter="other_type",
            label="two types",
        ),
        repairs=("delay_difference", "today_difference"),
        breaks=("loss_delay", "reverses reflection", "ignores delay"),
        source=HARLESS,
    ),
    Mechanism(
        slot="other",
        name="at times the larger amount",
        code='p = p + parameters["other_share"] * (0.5 + 0.5 * xp.sign(gap) - p)',
        parameters=SHARE,
        wording=Wording(
            clause="instead take the larger amount, whatever the delays, {other_share~}",
            parameter="other_share",
            unit=0.1,
            label="a mixture",
        ),
        repairs=("dominance", "amount_difference"),
        breaks=("ignores amount", "deterministic"),
        source=HARLESS,
    ),
    Mechanism(
        slot="other",
        name="at times the first to come",
        code='p = p + parameters["other_share"] * (0.5 - 0.5 * xp.sign(wait) - p)',
        parameters=SHARE,
        wording=Wording(
            clause="instead take the sooner option, whatever the amounts, {other_share~}",
            parameter="other_share",
            unit=0.1,
            label="a mixture",
        ),
        repairs=("delay_difference", "today_difference"),
        breaks=("loss_delay", "reverses reflection", "ignores delay", "deterministic"),
        source=HARLESS,
    ),
)

LAPSE = (
    Mechanism(
        slot="lapse",
        name="random",
        code='p = parameters["lapse"] / 2 + (1 - parameters["lapse"]) * p',
        parameters={"lapse": uniform(0.0, 0.4, "share of choices", "lapse rate")},
        wording=Wording(clause="choose at random {lapse~}"),
        is_null=True,
        source=HARLESS,
    ),
)
