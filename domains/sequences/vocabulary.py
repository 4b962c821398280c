"""Terms for pairs of sequences."""

from __future__ import annotations

from collections.abc import Sequence

from lakatos.domains.sequences.mechanisms import HELPERS, MEASURED
from lakatos.experiments.task import Stimuli
from lakatos.theories.language.option_score import (
    CLASSES,
    LEAD,
    SIDE,
    OptionScore,
    TermVocabulary,
    filled,
)

SCORES = (
    OptionScore("length", "length", 1, True),
    OptionScore("n_changes", "number of changes", 1, True, True),
    OptionScore("alternation", "share of changes", 1, True, True),
    OptionScore("streak", "longest streak", 1, True, True),
    OptionScore("streak / length", "share of the longest streak", 1.5, True, True),
    OptionScore("uneven", "imbalance of the letters", 1, True, True),
    OptionScore("uneven * length", "surplus of one letter", 2),
    OptionScore("units", "units of description", 1, True, True),
    OptionScore("units / length", "units of description for each letter", 2),
    OptionScore("first_share", "share of the first letter of the alphabet", 2),
    OptionScore("mirrored(letters, xp)", "reading the same backwards", 2, True),
    OptionScore("motif(letters, xp)", "repeating a motif", 2, True),
    OptionScore("(n_changes == 0) * 1.0", "being one streak", 2, True),
    OptionScore("(alternation == 1) * 1.0", "alternating throughout", 2, True),
    OptionScore("xp.log(length)", "logarithm of the length", 2),
)  # fmt: skip
IDEALS = (
    OptionScore("xp.abs(alternation - {ideal})", "distance of the share of changes from {ideal}", 2.5, True),
)  # fmt: skip
STREAKS = (OptionScore("(streak >= {least}) * 1.0", "a streak of at least {least}", 2, True),)


def sequence_vocabulary(stimuli: Sequence[Stimuli]) -> TermVocabulary:
    """Terms for pairs of sequences."""
    scores = list(SCORES)
    for ideal in (0.4, 0.5, 0.6, 0.7, 0.8):
        scores += filled(IDEALS, ideal=ideal)
    for least in (3, 4, 5, 6):
        scores += filled(STREAKS, least=least)
    return TermVocabulary(
        (LEAD, SIDE, CLASSES, *HELPERS),
        MEASURED,
        tuple(scores),
        noun="sequence",
        has_one_unit=False,
    )
