"""Terms for matrix games: what the rows pay, alone and with what the other may do."""

from __future__ import annotations

from collections.abc import Sequence

from lakatos.experiments.task import Stimuli
from lakatos.theories.language.option_score import (
    CLASSES,
    LEAD,
    SIDE,
    OptionScore,
    TermVocabulary,
)

PRELUDE = """
own, other = trials["own"], trials["other"]
together, behind = own + other, xp.maximum(other - own, 0)
means = other.mean(axis=1)
likely = xp.where(means == means.max(axis=-1)[:, None], 1.0, 0.0)[:, None]
likely = likely / likely.sum(axis=-1)[..., None]
largest = together.max(axis=(-2, -1))[:, None]
stable = (own >= own[:, ::-1]) & (other >= other[:, :, ::-1])
""".strip()
"""Code for what each cell pays oneself and the other, and for the columns that pay the other more on average."""
SCORES = (
    OptionScore("own.mean(axis=-1)", "mean payoff", 1, True, True),
    OptionScore("own.min(axis=-1)", "minimum payoff", 1, True, True),
    OptionScore("own.max(axis=-1)", "maximum payoff", 1, True, True),
    OptionScore("(own * likely).sum(axis=-1)",
                "payoff if the other player takes the column of their higher mean payoff", 2),
    OptionScore("(own**0.5).mean(axis=-1)", "mean square root of the payoffs", 2),
    OptionScore("(own**0.5 * likely).sum(axis=-1)",
                "square root of the payoff if the other player takes the column of their higher mean payoff", 2.5),
    OptionScore("xp.log(1 + own).mean(axis=-1)", "mean logarithm of the payoffs", 2.5),
    OptionScore("xp.log(1 + own * likely).sum(axis=-1)",
                "logarithm of the payoff if the other player takes the column of their higher mean payoff", 3),
    OptionScore("other.mean(axis=-1)", "mean payoff to the other player", 1.5, True),
    OptionScore("(other * likely).sum(axis=-1)",
                "payoff to the other player in the column of their higher mean payoff", 2.5),
    OptionScore("behind.mean(axis=-1)", "mean shortfall behind the other player", 2, True),
    OptionScore("(behind * likely).sum(axis=-1)",
                "shortfall behind the other player in the column of their higher mean payoff", 2.5),
    OptionScore("xp.abs(own - other).mean(axis=-1)", "mean inequality", 2, True),
    OptionScore("xp.abs(own - other).min(axis=-1)", "inequality in the most equal cell", 2.5),
    OptionScore("(together == largest[..., None]).any(axis=-1) * 1.0",
                "the cell with the largest joint payoff", 2, True),
    OptionScore("together.max(axis=-1)", "largest joint payoff", 2, True),
    OptionScore("stable.any(axis=-1) * 1.0", "an equilibrium", 3),
    OptionScore("xp.where(stable, own, 0.0).max(axis=-1)", "payoff in an equilibrium", 3),
    OptionScore("(own > own[:, ::-1]).all(axis=-1) * 1.0", "the higher payoff in every column", 2, True),
    OptionScore("own.max(axis=-1) - own.min(axis=-1)", "range of the payoffs", 2, True),
)  # fmt: skip


def game_vocabulary(stimuli: Sequence[Stimuli]) -> TermVocabulary:
    """Terms for the rows of matrix games, the same whatever the ``stimuli``."""
    return TermVocabulary((LEAD, SIDE, CLASSES), PRELUDE, SCORES, noun="row")
