"""Subjective randomness: published accounts of which of two sequences looks more like the work of chance.

An *account* states how random each sequence looks, and *features* add to it or take from it. The difference between the
two sequences is the evidence that a *choice* rule turns into a probability; some choices are *lapses*.

References:
    Kahneman & Tversky (1972), Cognitive Psychology 3(3), 430-454;
    Nickerson (2002), Psychological Review 109(2), 330-357;
    Griffiths, Daniels, Austerweil & Tenenbaum (2018), Cognitive Psychology 103, 85-109.
"""

from __future__ import annotations

from collections.abc import Mapping

from lakatos.domains.sequences.mechanisms import (
    ACCOUNT,
    BIAS,
    CHOICE,
    FEATURE,
    HELPERS,
    LAPSE,
    MEASURED,
)
from lakatos.domains.sequences.vocabulary import sequence_vocabulary
from lakatos.theories.language.family import Family
from lakatos.theories.language.grammar import Composition, Grammar, SkeletonSlot

HEADS = (
    (("account:representativeness",), "Representativeness"),
    (("account:inference of a regular process",), "Inference of regularity"),
    (("account:difficulty of encoding",), "Difficulty of encoding"),
    (("account:local balance",), "Local balance"),
    (("feature",), "Features of sequences"),
    ((), "Random choice"),
)
GRAMMAR = Grammar(
    domain="sequences",
    silence="choose at random",
    slots=(
        SkeletonSlot("account", least=0),
        SkeletonSlot("feature", least=0, most=5, sentence=2),
        SkeletonSlot("bias", least=0, sentence=2),
        SkeletonSlot("choice", sentence=3),
        SkeletonSlot("lapse", least=0, sentence=3),
    ),
    mechanisms=(*ACCOUNT, *FEATURE, *BIAS, *CHOICE, *LAPSE),
    heads=HEADS,
    before=f"{MEASURED}\nrandomness, bias = 0.0 * length[None], 0.0 * length[None, :, 0]",
    after="return p",
    helpers="\n\n".join(text.strip("\n") + "\n" for text in HELPERS),
    predictions=(
        {"property": "reverses", "in": "sides"},
        {"property": "ignores", "in": "letter_names"},
        {"property": "ignores", "in": "backwards"},
    ),
)


def _composition(**slots: str | tuple[str, ...]) -> Composition:
    """Mechanisms by slot, over the plainest choice rule with lapses."""
    named = {"choice": "logistic", "lapse": "random"} | slots
    return Composition.of(named)


SEEDS: Mapping[str, tuple[str, Composition]] = {
    "random": ("Random choice", _composition()),
    "representativeness": ("Representativeness", _composition(account="representativeness")),
    "bayesian": (
        "Inference of regularity",
        _composition(account="inference of a regular process"),
    ),
    "encoding": ("Difficulty of encoding", _composition(account="difficulty of encoding")),
    "local_balance": ("Local balance", _composition(account="local balance")),
    # Lopes & Oden (1987): people tell random from other sequences by streaks, alternations and symmetry
    "regularities": (
        "Features of sequences",
        _composition(feature=("streak", "mirror", "motif", "alternating throughout")),
    ),
    # Gilovich, Vallone & Tversky (1985)
    "no_streaks": ("Streak aversion", _composition(feature="streak")),
}

FAMILY = Family("sequences", GRAMMAR, SEEDS, terms=sequence_vocabulary)
