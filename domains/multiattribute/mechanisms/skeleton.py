"""The skeleton that the mechanisms of multi-attribute choice fill, and the grammar made of both."""

from __future__ import annotations

from lakatos.domains.multiattribute.mechanisms.accent import ACCENT
from lakatos.domains.multiattribute.mechanisms.choice import APPRAISAL, BIAS, CHOICE, LAPSE, OTHER
from lakatos.domains.multiattribute.mechanisms.comparison import COMPARISON
from lakatos.domains.multiattribute.mechanisms.history import HISTORY
from lakatos.domains.multiattribute.mechanisms.integration import INTEGRATION
from lakatos.domains.multiattribute.mechanisms.utility import UTILITY
from lakatos.domains.multiattribute.mechanisms.weight import (
    CONTEXT,
    DIRECTION,
    ORDER,
    SELECTION,
    WEIGHT,
)
from lakatos.theories.language.grammar import Grammar, SkeletonSlot

BEFORE = """
ratings = trials["ratings"] / trials["rating_max"][:, None, None]
validities = trials["validities"]
cue = xp.arange(validities.shape[-1])
above = (validities[:, None, :] > validities[:, :, None]).sum(axis=-1)
tied = (validities[:, None, :] == validities[:, :, None]) & (cue[None, :] < cue[:, None])
rank = above + tied.sum(axis=-1)
bias = 0.0
"""

HELPERS = '''
def first_that_differs(difference, rank, xp):
    """Of (..., n_trials, n_cues) differences, the one on the best-ranked cue that is not 0."""
    place = xp.where(difference != 0, rank, 99)
    return xp.where(place == place.min(axis=-1)[..., None], difference, 0.0).sum(axis=-1)


def in_order(values, rank, xp):
    """(..., n_trials, n_cues) values, the best-ranked cue's first."""
    return xp.take_along_axis(values, xp.broadcast_to(xp.argsort(rank, axis=-1), values.shape), axis=-1)


def at_rank(values, place, rank, xp):
    """Of (..., n_trials, 2, n_cues) values, those on the cue of one rank; 0 where there are fewer cues."""
    return (values * (rank == place)[:, None, :]).sum(axis=-1)


def logistic(x, xp):
    return 1 / (1 + xp.exp(-xp.clip(x, -500.0, 500.0)))
'''

HEADS = (
    (("choice:guessing",), "Guessing"),
    (("integration:one_reason", "utility:satisficing"), "Good-enough first reason"),
    (("integration:one_reason",), "Take the best"),
    (("integration:two_reasons",), "Take two"),
    (("integration:strongest_reasons",), "Strongest reasons"),
    (("integration:threshold",), "Sequential weighing"),
    (("integration:exemplar",), "Exemplar comparison"),
    (("integration:nothing",), "Overall impression"),
    (("choice:random_walk",), "Random walk"),
    (("choice:first_reason_drawn",), "A drawn reason"),
    (("comparison:direction", "weight:equal"), "Tallying"),
    (("comparison:direction",), "Weighted tallying"),
    (("integration:average", "weight:equal"), "Equal averaging"),
    (("integration:average",), "Weighted averaging"),
    (("integration:balance",), "Balance of reasons"),
    (("integration:noisy_reasons",), "Noisy adding"),
    (("weight:equal",), "Equal weights"),
    (("weight:free_ranks",), "Free weights"),
    ((), "Weighted adding"),
)
"""Names of forms: the first of which a composition has all mechanisms."""

GRAMMAR = Grammar(
    domain="multiattribute",
    slots=(
        SkeletonSlot("utility"),
        SkeletonSlot("comparison"),
        SkeletonSlot("order", 0, 1),
        SkeletonSlot("weight"),
        SkeletonSlot("selection", 0, 2),
        SkeletonSlot("direction", 0, 1),
        SkeletonSlot("context", 0, 2, sentence=2),
        SkeletonSlot("history", 0, 2, sentence=2),
        SkeletonSlot("integration"),
        SkeletonSlot("accent", 0, 3, sentence=2),
        SkeletonSlot("appraisal", 0, 2, sentence=3),
        SkeletonSlot("bias", 0, 1, sentence=3),
        SkeletonSlot("choice", sentence=3),
        SkeletonSlot("other", 0, 2, sentence=3),
        SkeletonSlot("lapse", 0, 1, sentence=3),
    ),
    mechanisms=(
        *UTILITY,
        *COMPARISON,
        *ORDER,
        *WEIGHT,
        *SELECTION,
        *DIRECTION,
        *CONTEXT,
        *HISTORY,
        *INTEGRATION,
        *ACCENT,
        *APPRAISAL,
        *BIAS,
        *CHOICE,
        *OTHER,
        *LAPSE,
    ),
    heads=HEADS,
    before=BEFORE,
    after="return p",
    helpers=HELPERS,
    predictions=(
        {"property": "non_decreasing", "in": "rating"},
        {"property": "non_decreasing", "in": "dominance"},
        {"property": "reverses", "in": "sides"},
        {"property": "ignores", "in": "cue_order"},
        {"property": "ignores", "in": "shared_rating"},
        {"property": "ignores", "in": "scale"},
    ),
)
