"""Elementary terms of which rules are induced: pieces of source together with their values on the trials.

A *score* gives each of the two options a number; its *lead* is the number of the second option less that of the first.
A *gate* divides trials in two. Both are written as expressions of the contract's array code, and the values that the
search sees come from evaluating that very text, so that the source of a theory and the search cannot disagree.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from lakatos.experiments.task import Domain, Stimuli
from lakatos.theories.discovery.induction.term_text import carry_out, compute
from lakatos.theories.language.family import family_of
from lakatos.theories.language.option_score import (
    LEAD,
    SIDE,
    TINY,
    Array,
    OptionScore,
    TermVocabulary,
    filled,
)


def vocabulary(domain: Domain, stimuli: Sequence[Stimuli]) -> TermVocabulary:
    """Terms for the trials at hand: those of the domain's family, or such as the shapes of its arrays allow.

    Args:
        domain: Domain of the trials.
        stimuli: One per experiment; they may differ in the number of cues.
    """
    family = family_of(domain)
    return ((family and family.terms) or _by_shape)(stimuli)


def namespace(vocabulary: TermVocabulary, stimuli: Stimuli) -> dict[str, Any]:
    """Helpers, and the variables that the prelude sets on these trials."""
    space: dict[str, Any] = {"xp": np, "trials": dict(stimuli.arrays)}
    carry_out("\n".join((*vocabulary.helpers, vocabulary.prelude)), space)
    return space


def values(vocabulary: TermVocabulary, codes: Sequence[str], stimuli: Stimuli) -> list[Array]:
    """``(n_trials, 2)`` numbers of every score in ``codes``."""
    space = namespace(vocabulary, stimuli)
    with np.errstate(all="ignore"):
        found = (
            np.broadcast_to(np.asarray(compute(code, space), dtype=np.float64), (len(stimuli), 2))
            for code in codes
        )
        return [np.nan_to_num(item) for item in found]


def shortest_prelude(vocabulary: TermVocabulary, codes: Sequence[str]) -> str:
    """The prelude that some scores need: the shorter one where no number of theirs hangs on an order."""
    if not vocabulary.unordered or vocabulary.probes is None:
        return vocabulary.prelude
    shorter = replace(vocabulary, prelude=vocabulary.unordered)
    usual, other = (values(item, codes, vocabulary.probes) for item in (vocabulary, shorter))
    alike = all(np.abs(one - two).max() < TINY for one, two in zip(usual, other, strict=True))
    return vocabulary.unordered if alike else vocabulary.prelude


def values_of_all(
    vocabulary: TermVocabulary, codes: Sequence[str], stimuli: Sequence[Stimuli]
) -> Array:
    """``(n_codes, n_trials, 2)`` on the trials of all experiments, those of one shape reckoned together."""
    groups: dict[tuple[tuple[int, ...], ...], list[int]] = {}
    for number, item in enumerate(stimuli):
        groups.setdefault(tuple(array.shape[1:] for array in item.arrays.values()), []).append(
            number
        )
    found: list[Array] = [np.empty(0)] * len(stimuli)
    for numbers in groups.values():
        names = stimuli[numbers[0]].arrays
        together = Stimuli(
            {name: np.concatenate([stimuli[k][name] for k in numbers]) for name in names}
        )
        cuts = np.cumsum([len(stimuli[k]) for k in numbers])[:-1]
        for k, part in zip(
            numbers,
            np.split(np.stack(values(vocabulary, codes, together)), cuts, axis=1),
            strict=True,
        ):
            found[k] = part
    return np.concatenate(found, axis=1)


LIST_SUMMARIES = (
    OptionScore("{code}.sum(axis=-1)", "sum of {words}", 2, True),
    OptionScore("{code}.min(axis=-1)", "min of {words}", 2, True),
    OptionScore("{code}.max(axis=-1)", "max of {words}", 2, True),
)
ONE_NUMBER = (
    OptionScore("{code}", "{words}", 1.5, True),
    OptionScore("xp.log(xp.maximum(xp.abs({code}), {least:g}))", "logarithm of {words}", 2.5, True),
    OptionScore("xp.round({code}) % 2", "oddness of {words}", 4),
)
BY_ANOTHER = (
    OptionScore("{code} / (1 + {rate:g} * xp.abs({other}))", "{words} discounted by {others} at {rate:g}", 3),
    OptionScore("{code} * xp.exp(-{rate:g} * xp.abs({other}))", "{words} decaying with {others} at {rate:g}", 3.5),
)  # fmt: skip
PRODUCTS = (OptionScore("{code} * {other}", "{words} times {others}", 3),)
TRADED = (OptionScore("{code} - {rate:g} * {other}", "{words} less {rate:g} times {others}", 3.5),)


def _by_shape(stimuli: Sequence[Stimuli]) -> TermVocabulary:
    """Numbers of each option, their powers, products and discounted ratios, whatever they mean."""
    scores = list(_array_scores(stimuli[0]))
    plain = dict(_plain_numbers(stimuli[0]))
    sizes = {code: _sizes(code, stimuli) for code in plain}
    for code, words in plain.items():
        least = _least_size(sizes[code])
        scores += filled(ONE_NUMBER, code=code, words=words, least=least)
        for other, others in plain.items():
            if code == other or not sizes[other].any():
                continue
            pair: dict[str, Any] = {"code": code, "words": words, "other": other, "others": others}
            rates = [_two_digits(rate) for rate in RATES / _typical_size(sizes[other])]
            for rate in rates:
                scores += filled(BY_ANOTHER, rate=rate, **pair)
            if code < other:
                scores += filled(PRODUCTS, **pair)
                scale = _typical_size(sizes[code])
                for rate in rates:
                    scores += filled(TRADED, rate=_two_digits(rate * scale), **pair)
    return TermVocabulary((LEAD, SIDE), "", tuple(scores))


RATES = np.geomspace(0.02, 20, 16)
"""Rates of discounting by another number, in units of its typical size."""


def _plain_numbers(stimuli: Stimuli) -> Iterator[tuple[str, str]]:
    """Code and words of single numbers of each option; of a list, its first eight places."""
    for name in sorted(stimuli.arrays):
        shape = stimuli[name].shape[1:]
        code, words = f'trials["{name}"]', name.replace("_", " ")
        if shape == (2,):
            yield code, words
        elif len(shape) == 2 and shape[0] == 2:
            for k in range(min(shape[1], 8)):
                yield f"{code}[..., {k}]", f"{words} {k + 1}"


def _array_scores(stimuli: Stimuli) -> Iterator[OptionScore]:
    """Sums and extremes of lists of numbers, and numbers of a trial as a lean to the second option."""
    for name in sorted(stimuli.arrays):
        shape = stimuli[name].shape[1:]
        code, words = f'trials["{name}"]', name.replace("_", " ")
        if len(shape) == 2 and shape[0] == 2:
            yield from filled(LIST_SUMMARIES, code=code, words=words)
        elif shape == ():
            yield OptionScore(f"xp.stack([-{code}, {code}], axis=-1)", words, 3, True)


def _sizes(code: str, stimuli: Sequence[Stimuli]) -> Array:
    """Compute the absolute value of a number in every trial."""
    found = [compute(code, {"trials": item.arrays}).ravel() for item in stimuli]
    return np.asarray(np.abs(np.concatenate(found)))


def _least_size(sizes: Array) -> float:
    """Return what stands for 0 in a logarithm: 1 if zeros occur, else a tenth of the smallest."""
    if (sizes == 0).any() or not len(sizes):
        return 1.0
    return _two_digits(sizes.min() / 10)


def _typical_size(sizes: Array) -> float:
    """Median of those that are not 0; 1 if all are."""
    return float(np.median(sizes[sizes > 0])) if sizes.any() else 1.0


def _two_digits(number: float) -> float:
    return float(f"{number:.2g}")
