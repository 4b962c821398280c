"""How much more a model prefers its own action than its reference does: a grader of single steps.

For an action of tokens a_1..a_n after a context c the credit is ``sum_i log p(a_i | c, a_<i) - log q(a_i | c, a_<i)``
with p the served model and q its reference. Where p was trained by reinforcement with a penalty on the divergence from
q of weight beta, beta times this is the advantage of the action under the reward that was trained on, up to what
depends on the context alone; otherwise it is a difference of habits and no more. Both models score the same text
through `language_models.clients.scoring.ScoringModel`.

References:
    Rafailov, Hejna, Park & Finn (2024), From r to Q*: your language model is secretly a Q-function.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from lakatos.language_models.client import TokenLogProbability
from lakatos.language_models.clients.openai import LEAST_LOG_PROBABILITY
from lakatos.language_models.errors import StepCreditError

LEAST: Final = LEAST_LOG_PROBABILITY


@dataclass(frozen=True)
class StepCredit:
    """Log-ratio of an action, in nats."""

    per_token: NDArray[np.float64]
    """``(n_tokens,)``."""

    @property
    def total(self) -> float:
        """Credit of the whole action, summed over its tokens."""
        return float(self.per_token.sum())

    @property
    def mean(self) -> float:
        """Per token, for actions of different lengths."""
        return float(self.per_token.mean())


def step_credit(
    served: Sequence[TokenLogProbability], reference: Sequence[TokenLogProbability]
) -> StepCredit:
    """Credit of an action from what both models say of its tokens.

    Raises:
        StepCreditError: No token, other tokens, or a token that one of them rules out.
    """
    if not served:
        raise StepCreditError(
            "the action has no tokens; ask for log probabilities, or grade another step."
        )
    pairs = list(zip(served, reference, strict=False))
    place = next((i for i, (own, other) in enumerate(pairs) if own.token != other.token), None)
    if place is not None or len(served) != len(reference):
        at = len(pairs) if place is None else place
        raise StepCreditError(
            f"the models disagree on token {at} of {len(served)} and {len(reference)}; both must have the same "
            "tokenizer and be given the same text."
        )
    own, other = (
        np.array([token.log_probability for token in side], dtype=np.float64)
        for side in (served, reference)
    )
    if (
        not (np.isfinite(own).all() and np.isfinite(other).all())
        or min(own.min(), other.min()) <= LEAST
    ):
        raise StepCreditError(
            "a token has probability 0 for one of the models, so the ratio is unbounded; see which."
        )
    return StepCredit(own - other)


def advantages(credits: Sequence[StepCredit], beta: float) -> NDArray[np.float64]:
    """Advantage of each alternative action at one step, ``(n_actions,)``, in units of the trained reward.

    Centred on their mean: what depends on the context alone is the same for all.

    Raises:
        StepCreditError: ``beta`` is not a positive number.
    """
    if not (math.isfinite(beta) and beta > 0):
        raise StepCreditError(
            f"beta is {beta}; give the weight of the penalty that the model was trained with."
        )
    totals = beta * np.array([credit.total for credit in credits])
    return np.asarray(totals - totals.mean(), dtype=np.float64)
