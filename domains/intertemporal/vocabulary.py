"""Terms for payments that are shown with their delays."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from lakatos.experiments.task import Stimuli
from lakatos.theories.language.option_score import (
    CLASSES,
    LEAD,
    SIDE,
    OptionScore,
    TermVocabulary,
    filled,
)

DATED_PRELUDE = """
x, t = trials["amounts"], trials["delays_days"]
size = xp.maximum(xp.abs(x), 1e-9)
wait = xp.maximum(xp.abs(t[:, 1] - t[:, 0]), 1e-9)[:, None]
small = size.min(axis=-1)[:, None]
""".strip()
"""Amounts ``x``, delays in days ``t``, and the wait between the two payments."""
DATED = (
    OptionScore("x", "amount", 1, True, True),
    OptionScore("t", "delay", 1, True, True),
    OptionScore("xp.sign(x) * xp.log(1 + size)", "logarithm of the amount", 2),
    OptionScore("xp.sign(x) * size**0.5", "square root of the amount", 2),
    OptionScore("xp.log(1 + t)", "logarithm of the delay", 2, True),
    OptionScore("t**0.5", "square root of the delay", 2.5),
    OptionScore("(t == 0) * 1.0", "payment today", 2, True,
                apart="only one of the payments is today"),
    OptionScore("(t > t[:, ::-1]) * 1.0", "later payment", 2, True),
    OptionScore("x / small", "amount relative to the smaller one", 1.5, True,
                apart="the amounts differ by more than {percent} of the smaller one"),
    OptionScore("x / size.max(axis=-1)[:, None]", "amount relative to the larger one", 2),
    OptionScore("x / wait", "amount per day of waiting", 1.5, True,
                apart="the amounts differ by more than {cut} per day of waiting"),
    OptionScore("x / small / wait", "relative amount per day of waiting", 2, True,
                apart="the amounts differ by more than {percent} of the smaller one per day of waiting"),
    OptionScore("xp.log(size / small) / wait", "growth of the amount per day of waiting", 2.5, True,
                apart="the amount grows by more than {percent} per day of waiting"),
    OptionScore("xp.log(size / small) / xp.log(1 + wait)", "growth of the amount per log day of waiting", 3),
    OptionScore("x / (1 + t)", "amount per day from today", 2.5),
    OptionScore("t / xp.maximum(t.max(axis=-1), 1e-9)[:, None]", "delay relative to the longer one", 2.5, True,
                apart="the delays differ by more than {percent} of the longer one"),
)  # fmt: skip
AMOUNT_MULTIPLES = (
    OptionScore("(xp.abs(xp.round(x / {unit}) * {unit} - x) < 1e-6) * 1.0",
                "amount that is a multiple of {unit}", 4),
)  # fmt: skip
DELAY_MULTIPLES = (
    OptionScore("(t % {unit} == 0) * 1.0", "delay that is a multiple of {unit} days", 4),
)
DISCOUNTED = (
    OptionScore("x / (1 + {k} * t)", "hyperbolically discounted amount (k = {k} per day)", 2.5),
    OptionScore("x * xp.exp(-{k} * t)", "exponentially discounted amount (k = {k} per day)", 2.5),
    OptionScore("x / (1 + {k} * t) ** 0.5", "amount discounted by a square root of time (k = {k} per day)", 3.5),
    OptionScore("xp.sign(x) * size**0.5 / (1 + {k} * t)",
                "hyperbolically discounted square root of the amount (k = {k} per day)", 3.5),
    OptionScore("xp.log(size) - {k} * 10 * xp.log(1 + t)", "log amount minus log delay (weight ten times {k})", 3.5),
)  # fmt: skip


def dated_vocabulary(stimuli: Sequence[Stimuli]) -> TermVocabulary:
    """Terms for payments that are shown with their delays."""
    scores = list(DATED)
    for unit in (2, 5, 10, 50, 100):
        scores += filled(AMOUNT_MULTIPLES, unit=unit)
    for unit in (7, 30):
        scores += filled(DELAY_MULTIPLES, unit=unit)
    # Rates at which the longest delay takes something off.
    longest = max(float(item["delays_days"].max()) for item in stimuli)
    for rate in np.geomspace(0.0003, 1, 22):
        if rate * longest >= 0.01:
            scores += filled(DISCOUNTED, k=f"{rate:.2g}")
    return TermVocabulary((LEAD, SIDE, CLASSES), DATED_PRELUDE, tuple(scores), has_one_unit=False)
