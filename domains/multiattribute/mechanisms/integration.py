"""How reasons become evidence for product B. Sets ``evidence`` and ``weighed``, the same, ``(..., n_trials)``."""

from __future__ import annotations

from typing import Any

from lakatos.domains.kit.parameter import log_uniform, uniform
from lakatos.domains.multiattribute.mechanisms.shared import FIRST
from lakatos.theories.language.grammar import Mechanism

RELATIVE = ("n_discriminating_cues", "largest_difference", "n_cues", "total_difference")


def _integration(name: str, claim: str, code: str, *rest: Any, **more: Any) -> Mechanism:
    """Keep what was weighed up, so that an appraisal can tell it from accents."""
    return Mechanism("integration", name, claim, f"{code}\nweighed = evidence", *rest, **more)


INTEGRATION = (
    _integration(
        "sum",
        "add everything up",
        "evidence = (weight * difference).sum(axis=-1)",
        citation="Payne, Bettman & Johnson (1993), The Adaptive Decision Maker.",
    ),
    _integration(
        "average",
        "average, so that more cues do not make more evidence",
        "evidence = (weight * difference).sum(axis=-1) / xp.maximum(xp.abs(weight).sum(axis=-1), 1e-9)",
        answers=("n_cues", "validity_spread"),
        citation="Anderson (1981), Foundations of Information Integration Theory.",
        breaks=("validity",),
    ),
    _integration(
        "balance",
        "go by the balance of reasons, the difference between those for and against relative to all there are",
        "reasons = weight * difference\n"
        "evidence = reasons.sum(axis=-1) / xp.maximum(xp.abs(reasons).sum(axis=-1), 1e-9)",
        answers=RELATIVE,
        citation="Gonzalez-Vallejo (2002), Psychological Review 109(1), 137-155; Shafir, Simonson & Tversky (1993).",
        breaks=("validity",),
    ),
    _integration(
        "noisy_reasons",
        "add everything up, with noise in every reason, so that a lead counts relative to the strength of all reasons",
        "reasons = weight * difference\n"
        "evidence = reasons.sum(axis=-1) / xp.maximum(xp.sqrt((reasons**2).sum(axis=-1)), 1e-9)",
        answers=RELATIVE,
        citation="Thurstone (1927), Psychological Review 34(4), 273-286.",
        breaks=("rating", "validity"),
    ),
    _integration(
        "one_reason",
        "decide by the most valid cue on which the products differ and ignore the rest",
        "evidence = first_that_differs(difference * xp.sign(weight), rank, xp)",
        answers=FIRST,
        citation="Gigerenzer & Goldstein (1996), Psychological Review 103(4), 650-669.",
        breaks=("rating", "cue_order", "validity", "validity_order"),
        predictions=({"property": "ignores", "in": "less_valid_rating"},),
    ),
    _integration(
        "two_reasons",
        "go through the cues from the most valid until two favour the same product, else decide by the first",
        "sides = xp.sign(in_order(difference * xp.sign(weight), rank, xp))\n"
        "steps_since = ((sides > 0).cumsum(axis=-1) > 1).sum(axis=-1)\n"
        "steps_since = steps_since - ((sides < 0).cumsum(axis=-1) > 1).sum(axis=-1)\n"
        "evidence = xp.where(\n"
        "    steps_since != 0,\n"
        "    xp.sign(steps_since),\n"
        "    xp.sign(first_that_differs(difference * xp.sign(weight), rank, xp)),\n"
        ")",
        answers=(*FIRST, "n_cues_favouring"),
        citation="Dieckmann & Rieskamp (2007), Memory & Cognition 35(7), 1801-1813.",
        breaks=("cue_order", "validity", "validity_order"),
    ),
    _integration(
        "threshold",
        "go through the cues from the most valid and stop as soon as one product is far enough ahead",
        "reasons = in_order(weight * difference, rank, xp)\n"
        "evidence = reasons[..., 0]\n"
        "for step in range(1, validities.shape[-1]):\n"
        '    evidence = evidence + reasons[..., step] * (xp.abs(evidence) < parameters["caution"])',
        {
            "caution": uniform(
                0.01,
                3.0,
                "weighted difference",
                "lead at which search stops; near 0 the first reason decides, large means all cues count",
            )
        },
        (*FIRST, "n_discriminating_cues"),
        "Lee & Cummins (2004), Psychonomic Bulletin & Review 11(2), 343-352.",
        breaks=("rating", "cue_order", "validity", "validity_order"),
    ),
    _integration(
        "strongest_reasons",
        "weigh the strongest reason for one product against the strongest for the other",
        "reasons = weight * difference\n"
        "evidence = xp.maximum(reasons.max(axis=-1), 0.0) + xp.minimum(reasons.min(axis=-1), 0.0)",
        answers=("largest_difference", "n_discriminating_cues"),
        citation="Savage (1951), Journal of the American Statistical Association 46, 55-67 (regret); Tversky (1977).",
    ),
    _integration(
        "exemplar",
        "recall a thoroughly good and a thoroughly bad product, and go by which of the two each product resembles more",
        "leaning = (weight[..., None, :] * (2 * value - 1)).sum(axis=-1)\n"
        "leaning = leaning / xp.maximum(xp.abs(weight).sum(axis=-1), 1e-9)[..., None]\n"
        'resemblance = logistic(parameters["specificity"][..., None] * leaning, xp)\n'
        "evidence = resemblance[..., 1] - resemblance[..., 0]",
        {
            "specificity": log_uniform(
                0.3,
                30.0,
                "per scale",
                "how fast similarity falls with distance; near 0 all products are added up",
            )
        },
        ("level", "largest_difference", "total_difference"),
        "Nosofsky (1986), JEP: General 115(1), 39-57; Juslin & Persson (2002), Cognitive Science 26(5), 563-607.",
        breaks=("shared_rating", "lead", "validity"),
    ),
    _integration(
        "nothing",
        "weigh nothing up",
        "evidence = 0.0 * (weight * difference).sum(axis=-1)",
    ),
)
