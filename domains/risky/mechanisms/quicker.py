"""The grammar of risky choice, written to do the same with less work.

A few hundred gambles have a few dozen different amounts and chances, and most places of wide arrays hold none. Powers
take most of the time that a theory takes: here each is taken of different numbers only, and put in all places where
these occur. Sums and extremes over the few outcomes of a gamble come next: arrays are long in another direction, for
which NumPy is not made. Answers are the same up to rounding. Only the laboratory's own processes are given these texts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from textwrap import dedent

from lakatos.domains.risky.mechanisms.comparison import VALUE_RANGE
from lakatos.domains.risky.mechanisms.weighting import BY_ITSELF, BY_RANK, CUMULATIVE
from lakatos.theories.language.grammar import Mechanism, QuickerWriting

AMOUNTS = """
found = xp.unique(xp.abs(outcomes), return_inverse=True)
sizes, size_of = found[0], found[1].reshape(outcomes.shape)
"""
PROBABILITIES = """
found = xp.unique(probabilities, return_inverse=True)
points, point_of = found[0], found[1].reshape(probabilities.shape)
"""
CHANCES = """
upper = xp.clip({reached}, 0.0, 1.0)
lower = xp.clip(upper - probabilities, 0.0, 1.0)
found = xp.unique(xp.stack([upper, lower]), return_inverse=True)
points, point_of = found[0], found[1].reshape((2, *upper.shape))
weighed = weigh(points)[:, 0, 0]
weights = weighed.take(point_of[0], axis=1) - weighed.take(point_of[1], axis=1)
"""
PHRASES = (
    (
        "xp.abs(outcomes) ** curvature",
        AMOUNTS,
        "(sizes ** curvature)[:, 0, 0].take(size_of, axis=1)",
    ),
    (
        "xp.log1p(xp.abs(outcomes) / unit)",
        AMOUNTS,
        "xp.log1p(sizes / unit)[:, 0, 0].take(size_of, axis=1)",
    ),
    ("probabilities**curve", PROBABILITIES, "(points**curve)[:, 0, 0].take(point_of, axis=1)"),
    (BY_ITSELF, PROBABILITIES, "weights = weigh(points)[:, 0, 0].take(point_of, axis=1)"),
    (CUMULATIVE, "", CHANCES.format(reached="xp.where(outcomes < 0, from_worst, from_best)")),
    (BY_RANK, "", CHANCES.format(reached="from_best")),
)
"""Phrases of the general texts, what comes before them, and what they are where different numbers are bent once."""
OVER_OUTCOMES = "xp.einsum('...w,...w->...', {}, {})"
"""The sum over a gamble's outcomes of two numbers' product."""
HIGHEST = "xp.maximum(utility[..., 0, -1], utility[..., 1, -1])"
LOWEST = "xp.minimum(utility[..., 0, 0], utility[..., 1, 0])"
FROM_WORST_TO_BEST = f"({HIGHEST} - {LOWEST})"
"""Amounts ascend, and so do utilities."""
SHORTER = (
    ("(weights * utility).sum(axis=-1)", OVER_OUTCOMES.format("weights", "utility")),
    (
        "(weights * (utility - value[..., None]) ** 2).sum(axis=-1)",
        OVER_OUTCOMES.format("weights", "(utility - value[..., None]) ** 2"),
    ),
    (
        "(weights * xp.maximum(value[..., None] - utility, 0.0)).sum(axis=-1)",
        OVER_OUTCOMES.format("weights", "xp.maximum(value[..., None] - utility, 0.0)"),
    ),
    (
        "(probabilities * utility).sum(axis=-1, keepdims=True)",
        OVER_OUTCOMES.format("probabilities", "utility") + "[..., None]",
    ),
    (
        "(probabilities * (utility - center) ** 2).sum(axis=(-2, -1))",
        "xp.einsum('...aw,...aw->...', probabilities, (utility - center) ** 2)",
    ),
    ("(probabilities * above).sum(axis=-1)", OVER_OUTCOMES.format("probabilities", "above")),
    (VALUE_RANGE, f"xp.maximum({FROM_WORST_TO_BEST}, 1e-9)"),
    ("utility.max(axis=(-2, -1)) - utility.min(axis=(-2, -1))", FROM_WORST_TO_BEST),
    ("strength**3", "strength * strength * strength"),
)
"""Phrases of the general texts, and what they are where arrays are gone through the long way."""
BY_SIGN = "xp.where(outcomes < 0, parameters"
"""Text that marks curves which differ between places with equal numbers; such curves stay as they are."""


def of_different_numbers(
    mechanisms: Sequence[Mechanism], before: str, helpers: str
) -> QuickerWriting:
    """The texts of the grammar that bend different numbers once."""
    return QuickerWriting(
        answers=lambda stimuli: True,
        mechanisms=tuple((item, _quicker(item)) for item in mechanisms),
        before=before,
        helpers=helpers,
        before_learn="",
        walks=False,
    )


def _quicker(item: Mechanism) -> Mechanism:
    """One mechanism; every text has one phrase at most that something comes before."""
    code = dedent(item.code)
    for phrase, before, quick in PHRASES:
        if phrase in code and BY_SIGN not in code:
            code = _with_before(code, phrase, before, quick)
            break
    for phrase, quick in SHORTER:
        code = code.replace(phrase, quick)
    return item if code == dedent(item.code) else replace(item, code=code)


def _with_before(code: str, phrase: str, before: str, quick: str) -> str:
    """A text with a phrase replaced, and statements in front of the line that it stands in."""
    lines = code.strip("\n").split("\n")
    (place,) = (number for number, line in enumerate(lines) if phrase in line)
    lines[place] = lines[place].replace(phrase, quick.strip("\n"))
    return "\n".join([*lines[:place], *before.strip("\n").split("\n"), *lines[place:]])
