"""Elementary terms of which rules are induced: pieces of source together with their values on the trials.

A *score* gives each of the two options a number; its *lead* is the number of the second option less that of the first.
A *gate* divides trials in two. Both are written as expressions of the contract's array code, and the values that the
search sees come from evaluating that very text, so that the source of a theory and the search cannot disagree.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from lakatos.experiments.task import Stimuli
from lakatos.theories.induction.gamble_library import gamble_vocabulary
from lakatos.theories.induction.option_score import (
    CLASSES,
    LEAD,
    SIDE,
    Array,
    OptionScore,
    TermVocabulary,
    filled,
)
from lakatos.theories.induction.rated_library import rated_vocabulary
from lakatos.theories.induction.term_text import carry_out, compute


def vocabulary(domain: str, stimuli: Sequence[Stimuli]) -> TermVocabulary:
    """Terms for the trials at hand: the domain's own, or such as the shapes of its arrays allow.

    Args:
        domain: Its name.
        stimuli: One per experiment; they may differ in the number of cues.
    """
    if domain == "multiattribute":
        return rated_vocabulary(stimuli)
    if domain == "risky":
        return gamble_vocabulary(stimuli)
    if domain == "intertemporal":
        return _dated(stimuli)
    if domain == "games":
        return _game()
    return _by_shape(stimuli)


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
    OptionScore("(t == 0) * 1.0", "payment today", 2, True),
    OptionScore("(t > t[:, ::-1]) * 1.0", "payment later", 2, True),
    OptionScore("x / small", "amount in multiples of the smaller one", 1.5, True),
    OptionScore("x / size.max(axis=-1)[:, None]", "amount in proportion to the larger one", 2),
    OptionScore("x / wait", "amount for each day between the two", 1.5, True),
    OptionScore("x / small / wait", "amount in multiples of the smaller one for each day between the two", 2, True),
    OptionScore("xp.log(size / small) / wait", "growth of the amount for each day between the two", 2.5, True),
    OptionScore("xp.log(size / small) / xp.log(1 + wait)", "growth of the amount for the logarithm of the wait", 3),
    OptionScore("x / (1 + t)", "amount for each day from today", 2.5),
    OptionScore("t / xp.maximum(t.max(axis=-1), 1e-9)[:, None]", "delay in proportion to the longer one", 2.5, True),
)  # fmt: skip
AMOUNT_MULTIPLES = (
    OptionScore("(xp.abs(xp.round(x / {unit}) * {unit} - x) < 1e-6) * 1.0", "amount being a multiple of {unit}", 4),
)  # fmt: skip
DELAY_MULTIPLES = (OptionScore("(t % {unit} == 0) * 1.0", "delay being a multiple of {unit}", 4),)
DISCOUNTED = (
    OptionScore("x / (1 + {k} * t)", "amount discounted hyperbolically at {k}", 2.5),
    OptionScore("x * xp.exp(-{k} * t)", "amount discounted exponentially at {k}", 2.5),
    OptionScore("x / (1 + {k} * t) ** 0.5", "amount discounted by the root of time at {k}", 3.5),
    OptionScore("xp.sign(x) * size**0.5 / (1 + {k} * t)", "root of the amount discounted hyperbolically at {k}", 3.5),
    OptionScore("xp.log(size) - {k} * 10 * xp.log(1 + t)", "logarithms traded off at ten times {k}", 3.5),
)  # fmt: skip


def _dated(stimuli: Sequence[Stimuli]) -> TermVocabulary:
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
    return TermVocabulary((LEAD, SIDE, CLASSES), DATED_PRELUDE, tuple(scores))


def _game() -> TermVocabulary:
    """What the rows of a matrix game pay, alone and with what the other may do."""
    prelude = (
        'own, other = trials["own"], trials["other"]\n'
        "together, behind = own + other, xp.maximum(other - own, 0)\n"
        "means = other.mean(axis=1)\n"
        "likely = xp.where(means == means.max(axis=-1)[:, None], 1.0, 0.0)[:, None]\n"
        "likely = likely / likely.sum(axis=-1)[..., None]\n"
        "largest = together.max(axis=(-2, -1))[:, None]\n"
        "stable = (own >= own[:, ::-1]) & (other >= other[:, :, ::-1])"
    )
    scores = [
        OptionScore("own.mean(axis=-1)", "mean payoff", 1, True, True),
        OptionScore("own.min(axis=-1)", "worst payoff", 1, True, True),
        OptionScore("own.max(axis=-1)", "best payoff", 1, True, True),
        OptionScore("(own * likely).sum(axis=-1)", "payoff at the column that pays the other more on average", 2),
        OptionScore("(own**0.5).mean(axis=-1)", "mean root of the payoffs", 2),
        OptionScore("(own**0.5 * likely).sum(axis=-1)",
                    "root of the payoff at the column that pays the other more on average", 2.5),
        OptionScore("xp.log(1 + own).mean(axis=-1)", "mean logarithm of the payoffs", 2.5),
        OptionScore("xp.log(1 + own * likely).sum(axis=-1)",
                    "logarithm of the payoff at the column that pays the other more on average", 3),
        OptionScore("other.mean(axis=-1)", "mean payoff of the other", 1.5, True),
        OptionScore("(other * likely).sum(axis=-1)", "what the other gets at the column that pays the other more", 2.5),
        OptionScore("behind.mean(axis=-1)", "mean of what the other gets more", 2, True),
        OptionScore("(behind * likely).sum(axis=-1)",
                    "what the other gets more at the column that pays the other more on average", 2.5),
        OptionScore("xp.abs(own - other).mean(axis=-1)", "mean inequality", 2, True),
        OptionScore("xp.abs(own - other).min(axis=-1)", "inequality of the most equal cell", 2.5),
        OptionScore("(together == largest[..., None]).any(axis=-1) * 1.0", "cell of the largest sum", 2, True),
        OptionScore("together.max(axis=-1)", "largest sum of both", 2, True),
        OptionScore("stable.any(axis=-1) * 1.0", "equilibrium", 3),
        OptionScore("xp.where(stable, own, 0.0).max(axis=-1)", "payoff in an equilibrium", 3),
        OptionScore("(own > own[:, ::-1]).all(axis=-1) * 1.0", "more in every column", 2, True),
        OptionScore("own.max(axis=-1) - own.min(axis=-1)", "range of the payoffs", 2, True),
    ]  # fmt: skip
    return TermVocabulary((LEAD, SIDE, CLASSES), prelude, tuple(scores))


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
"""Of discounting by another number, in units of its typical size."""


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
    """How large a number is in every trial, its sign left out."""
    found = [compute(code, {"trials": item.arrays}).ravel() for item in stimuli]
    return np.asarray(np.abs(np.concatenate(found)))


def _least_size(sizes: Array) -> float:
    """What stands for 0 in a logarithm: 1 if zeros occur, else a tenth of the smallest."""
    if (sizes == 0).any() or not len(sizes):
        return 1.0
    return _two_digits(sizes.min() / 10)


def _typical_size(sizes: Array) -> float:
    """Median of those that are not 0; 1 if all are."""
    return float(np.median(sizes[sizes > 0])) if sizes.any() else 1.0


def _two_digits(number: float) -> float:
    return float(f"{number:.2g}")
