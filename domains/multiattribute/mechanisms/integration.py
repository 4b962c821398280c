"""How reasons become evidence for product B. Sets ``evidence`` and ``weighed``, the same, ``(..., n_trials)``."""

from __future__ import annotations

from typing import Any

from lakatos.domains.kit.parameter import log_uniform, uniform
from lakatos.domains.multiattribute.mechanisms.shared import FIRST, POSITIVE
from lakatos.theories.language.account import Wording
from lakatos.theories.language.grammar import Mechanism

SAMPLED = ("choice:random_walk", "choice:first_reason_drawn")
"""Choices by sampled reasons, whose clause states how these are put together."""
RELATIVE = ("n_discriminating_cues", "largest_difference", "n_cues", "total_difference")


def _integration(*, code: str, **more: Any) -> Mechanism:
    """Keep what was weighed up, so that an appraisal can tell it from accents."""
    return Mechanism(slot="integration", code=f"{code}\nweighed = evidence", **more)


INTEGRATION = (
    _integration(
        name="sum",
        clause="sum over all cues",
        code="evidence = (weight * difference).sum(axis=-1)",
        source="Payne, Bettman & Johnson (1993), The Adaptive Decision Maker.",
    ),
    _integration(
        name="average",
        clause="average, so that more cues do not make more evidence",
        beside=(SAMPLED, ""),
        code="evidence = (weight * difference).sum(axis=-1) / xp.maximum(xp.abs(weight).sum(axis=-1), 1e-9)",
        repairs=("n_cues", "validity_spread"),
        breaks=("validity",),
        source="Anderson (1981), Foundations of Information Integration Theory.",
    ),
    _integration(
        name="balance",
        clause="balance the reasons for and against, relative to their sum",
        beside=(SAMPLED, ""),
        code="reasons = weight * difference\n"
        "evidence = reasons.sum(axis=-1) / xp.maximum(xp.abs(reasons).sum(axis=-1), 1e-9)",
        repairs=RELATIVE,
        breaks=("validity",),
        source="Gonzalez-Vallejo (2002), Psychological Review 109(1), 137-155; Shafir, Simonson & Tversky (1993).",
    ),
    _integration(
        name="noisy_reasons",
        clause=(
            "add up the differences on all cues and judge their sum relative to their size, as if each "
            "difference were noisy"
        ),
        code="reasons = weight * difference\n"
        "evidence = reasons.sum(axis=-1) / xp.maximum(xp.sqrt((reasons**2).sum(axis=-1)), 1e-9)",
        repairs=RELATIVE,
        breaks=("rating", "validity"),
        source="Thurstone (1927), Psychological Review 34(4), 273-286.",
    ),
    _integration(
        name="one_reason",
        clause="decide by the most valid cue on which the products differ and ignore the rest",
        replaces=POSITIVE,
        code="evidence = first_that_differs(difference * xp.sign(weight), rank, xp)",
        repairs=FIRST,
        predictions=({"property": "ignores", "in": "less_valid_rating"},),
        breaks=("rating", "cue_order", "validity", "validity_order"),
        source="Gigerenzer & Goldstein (1996), Psychological Review 103(4), 650-669.",
    ),
    _integration(
        name="two_reasons",
        clause="go through the cues from the most valid until two favour the same product, and "
        "otherwise decide by the first that favours one",
        replaces=POSITIVE,
        code="sides = xp.sign(in_order(difference * xp.sign(weight), rank, xp))\n"
        "steps_since = ((sides > 0).cumsum(axis=-1) > 1).sum(axis=-1)\n"
        "steps_since = steps_since - ((sides < 0).cumsum(axis=-1) > 1).sum(axis=-1)\n"
        "evidence = xp.where(\n"
        "    steps_since != 0,\n"
        "    xp.sign(steps_since),\n"
        "    xp.sign(first_that_differs(difference * xp.sign(weight), rank, xp)),\n"
        ")",
        repairs=(*FIRST, "n_cues_favouring"),
        breaks=("cue_order", "validity", "validity_order"),
        source="Dieckmann & Rieskamp (2007), Memory & Cognition 35(7), 1801-1813.",
    ),
    _integration(
        name="threshold",
        code="reasons = in_order(weight * difference, rank, xp)\n"
        "evidence = reasons[..., 0]\n"
        "for step in range(1, validities.shape[-1]):\n"
        '    evidence = evidence + reasons[..., step] * (xp.abs(evidence) < parameters["caution"])',
        parameters={
            "caution": uniform(
                0.01,
                3.0,
                "weighted difference",
                "lead at which search stops; near 0 the first reason decides, large means all cues count",
            )
        },
        wording=Wording(
            clause=(
                "go through the cues from the most valid and stop as soon as one product is far enough "
                "ahead (by {caution})"
            )
        ),
        repairs=(*FIRST, "n_discriminating_cues"),
        breaks=("rating", "cue_order", "validity", "validity_order"),
        source="Lee & Cummins (2004), Psychonomic Bulletin & Review 11(2), 343-352.",
    ),
    _integration(
        name="strongest_reasons",
        clause="weigh the strongest reason for one product against the strongest for the other",
        code="reasons = weight * difference\n"
        "evidence = xp.maximum(reasons.max(axis=-1), 0.0) + xp.minimum(reasons.min(axis=-1), 0.0)",
        repairs=("largest_difference", "n_discriminating_cues"),
        source="Savage (1951), Journal of the American Statistical Association 46, 55-67 (regret); Tversky (1977).",
    ),
    _integration(
        name="exemplar",
        clause=(
            "compare each product with memories of a thoroughly good and a thoroughly bad one, "
            "and prefer the one that is more like the good one"
        ),
        code="leaning = (weight[..., None, :] * (2 * value - 1)).sum(axis=-1)\n"
        "leaning = leaning / xp.maximum(xp.abs(weight).sum(axis=-1), 1e-9)[..., None]\n"
        'resemblance = logistic(parameters["specificity"][..., None] * leaning, xp)\n'
        "evidence = resemblance[..., 1] - resemblance[..., 0]",
        parameters={
            "specificity": log_uniform(
                0.3,
                30.0,
                "per scale",
                "how fast similarity falls with distance; near 0 all products are added up",
            )
        },
        repairs=("level", "largest_difference", "total_difference"),
        breaks=("shared_rating", "lead", "validity"),
        source="Nosofsky (1986), JEP: General 115(1), 39-57; Juslin & Persson (2002), Cognitive Science 26(5), "
        "563-607.",
    ),
    _integration(
        name="nothing",
        clause="weigh no cues",
        beside=(("accent",), ""),
        code="evidence = 0.0 * (weight * difference).sum(axis=-1)",
    ),
)
