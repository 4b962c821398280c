"""Elementary terms of which rules are induced: pieces of source together with their values on the trials.

A *score* gives each of the two options a number; its *lead* is the number of the second option less that of the first.
A *gate* divides trials in two. Both are written as expressions of the contract's array code, and the values that the
search sees come from evaluating that very text, so that the source of a theory and the search cannot disagree.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from lakatos.experiments.task import Stimuli
from lakatos.theories.induction.option_score import (
    CLASSES,
    EXTREME,
    HIGHEST_WHERE,
    LEAD,
    LONGEST_RUN,
    MOST_LEVELS,
    SIDE,
    Array,
    OptionScore,
    TermVocabulary,
)
from lakatos.theories.induction.rated_library import _rated


def vocabulary(domain: str, stimuli: Sequence[Stimuli]) -> TermVocabulary:
    """Terms for the trials at hand: the domain's own, or such as the shapes of its arrays allow.

    Args:
        domain: Its name.
        stimuli: One per experiment; they may differ in the number of cues.
    """
    if domain == "multiattribute":
        return _rated(stimuli)
    if domain == "risky":
        return _risky(stimuli)
    if domain == "intertemporal":
        return _dated(stimuli)
    if domain == "games":
        return _game()
    return _by_shape(stimuli)


def namespace(vocabulary: TermVocabulary, stimuli: Stimuli) -> dict[str, Any]:
    """Helpers, and the variables that the prelude sets on these trials."""
    space: dict[str, Any] = {"xp": np, "trials": dict(stimuli.arrays)}
    # Text written in this file, never by anyone else: machine-written sources run in the sandbox only.
    exec("\n".join((*vocabulary.helpers, vocabulary.prelude)), space)
    return space


def values(vocabulary: TermVocabulary, codes: Sequence[str], stimuli: Stimuli) -> list[Array]:
    """``(n_trials, 2)`` numbers of every score in ``codes``."""
    space = namespace(vocabulary, stimuli)
    with np.errstate(all="ignore"):
        found = (
            np.broadcast_to(np.asarray(eval(code, space), dtype=np.float64), (len(stimuli), 2))
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


def _risky(stimuli: Sequence[Stimuli]) -> TermVocabulary:
    prelude = (
        'x, q = trials["outcomes"], trials["probabilities"]\n'
        "mean = (q * x).sum(axis=-1)\n"
        "used = q > 0\n"
        "worst, best = x.min(axis=-1), x.max(axis=-1)\n"
        "size = xp.maximum(xp.abs(x).max(axis=-1).max(axis=-1), 1e-9)[:, None]\n"
        "above = xp.cumsum(q[..., ::-1], axis=-1)[..., ::-1]"
    )
    deviation = "xp.sqrt((q * (x - mean[..., None]) ** 2).sum(axis=-1))"
    other = "[:, ::-1]"
    items = [
        ("mean", "expected value", 1, True),
        ("worst", "least amount", 1.5, True),
        ("best", "greatest amount", 1.5, True),
        ("best - worst", "range of amounts", 2, True),
        ("(q * (x - mean[..., None]) ** 2).sum(axis=-1)", "variance", 2, False),
        (deviation, "standard deviation", 2, True),
        ("(used * x).sum(axis=-1) / used.sum(axis=-1)", "plain mean of the amounts", 2, True),
        ("used.sum(axis=-1)", "number of outcomes", 2, True),
        ("(q * (x > 0)).sum(axis=-1)", "probability of a gain", 2, True),
        ("(q * (x < 0)).sum(axis=-1)", "probability of a loss", 2, True),
        (
            "(q * (x >= best[..., None])).sum(axis=-1)",
            "probability of the greatest amount",
            2,
            True,
        ),
        ("(q * (x <= worst[..., None])).sum(axis=-1)", "probability of the least amount", 2, True),
        ("q.max(axis=-1)", "probability of the likeliest outcome", 2.5, False),
        ("(x * (q == q.max(axis=-1)[..., None])).sum(axis=-1)", "likeliest amount", 2.5, True),
        ("(q * xp.minimum(x, 0.0)).sum(axis=-1)", "expected loss", 2.5, True),
        ("(q * xp.maximum(x, 0.0)).sum(axis=-1)", "expected gain", 2.5, True),
        ("best + worst", "sum of the greatest and the least amount", 3, False),
        (
            "best * (q * (x >= best[..., None])).sum(axis=-1)",
            "greatest amount times its probability",
            3,
            False,
        ),
        (
            "worst * (q * (x <= worst[..., None])).sum(axis=-1)",
            "least amount times its probability",
            3,
            False,
        ),
        (
            f"{deviation} / xp.maximum(xp.abs(mean), 1e-9)",
            "standard deviation in proportion to the mean",
            3,
            False,
        ),
        ("mean / size", "expected value in proportion to the largest amount of both", 2.5, True),
        ("worst / size", "least amount in proportion to the largest amount of both", 2.5, True),
        ("best / size", "greatest amount in proportion to the largest amount of both", 2.5, True),
        (
            "mean / xp.maximum(xp.abs(mean).min(axis=-1), 1e-9)[:, None]",
            "expected value in multiples",
            3,
            True,
        ),
        (
            f"(q[..., None] * q{other}[:, :, None] * (x[..., None] > x{other}[:, :, None])).sum(axis=-1).sum(axis=-1)",
            "probability of paying more than the other",
            2.5,
            False,
        ),
        ("(x * (above >= 0.5) * (above - q < 0.5)).sum(axis=-1)", "median amount", 2.5, False),
    ]
    for power in (0.3, 0.5, 0.7, 0.88, 1.5):
        value = f"xp.sign(x) * xp.abs(x) ** {power}"
        items.append(
            (f"(q * {value}).sum(axis=-1)", f"expected power {power} of the amounts", 2.5, False)
        )
        items.append(
            (
                f"(q * {value} * xp.where(x < 0, 2.0, 1.0)).sum(axis=-1)",
                f"the same with losses twice as heavy, power {power}",
                3,
                False,
            )
        )
    items.append(
        (
            "(q * xp.sign(x) * xp.log(1 + xp.abs(x))).sum(axis=-1)",
            "expected logarithm of the amounts",
            3,
            False,
        )
    )
    items += [
        (
            f"(q ** {power} * x).sum(axis=-1)",
            f"expected value with the probabilities to the power {power}",
            3,
            False,
        )
        for power in (0.5, 0.7, 2.0)
    ]
    for power in (0.4, 0.6, 0.8):  # of Tversky & Kahneman (1992), by rank
        names = [f"xp.clip({p}, 0.0, 1.0)" for p in ("above", "above - q")]
        ranked = " - ".join(
            f"{p} ** {power} / ({p} ** {power} + (1 - {p}) ** {power}) ** {1 / power:.4g}"
            for p in names
        )
        items.append(
            (f"(({ranked}) * x).sum(axis=-1)", f"value by rank, curvature {power}", 3, False)
        )
    for power in (0.5, 2.0):
        ranked = " - ".join(f"xp.clip({p}, 0.0, 1.0) ** {power}" for p in ("above", "above - q"))
        items.append((f"(({ranked}) * x).sum(axis=-1)", f"value by rank, power {power}", 3, False))
    for unit in (2, 5, 10):
        for name, words in (("best", "greatest"), ("worst", "least")):
            code = f"(xp.abs(xp.round({name} / {unit}) * {unit} - {name}) < 1e-6) * 1.0"
            items.append((code, f"{words} amount being a multiple of {unit}", 4, False))
    # Chances of reaching a level of aspiration: Diecidue & van de Ven (2008), International Economic Review 49(2).
    amounts = np.unique(
        np.concatenate([item["outcomes"][item["probabilities"] > 0] for item in stimuli])
    )
    if len(amounts) > 2 * MOST_LEVELS:
        amounts = np.unique(
            np.quantile(amounts, np.linspace(0, 1, 2 * MOST_LEVELS), method="nearest")
        )
    for amount in amounts[1:]:
        words = f"probability of at least {amount:g}"
        items.append((f"(q * (x >= {amount:g})).sum(axis=-1)", words, 3, False))
    items += [
        (
            f"(q * (x >= {share:g} * size[..., None])).sum(axis=-1)",
            f"probability of at least {share:g} of the largest amount of both",
            3,
            False,
        )
        for share in (0.25, 0.5, 0.75)
    ]
    # Levels that the gambles set for themselves and for each other.
    levels = (
        ("best", "greatest amount"),
        ("worst", "least amount"),
        ("mean", "expected value"),
        ("0.5 * (best + worst)", "middle between the greatest and the least amount"),
    )
    for level, words in levels:
        for whose, code in (("the other's", f"({level}){other}"), ("its own", f"({level})")):
            for sign, edge, how in ((">=", "- 1e-9", "at least"), (">", "+ 1e-9", "more than")):
                chance = f"(q * (x {sign} {code}[..., None] {edge})).sum(axis=-1)"
                items.append((chance, f"probability of {how} {whose} {words}", 3, False))
    # Chances as never, perhaps and surely: Reyna & Brainerd (1995), Learning and Individual Differences 7(1).
    items += [
        (
            f"(0.5 * (1.0 * (q >= {share:g}) + (q > {1 - share:g})) * x).sum(axis=-1)",
            f"value with chances under {share:g} taken for never and above {1 - share:g} for surely",
            3,
            False,
        )
        for share in (0.1, 0.2, 0.3)
    ]
    # What a gamble may have or not: signs, and chances that count as small, even or large.
    conditions = [
        ("worst >= 0", "paying nothing less than 0"),
        ("worst > 0", "paying something for sure"),
    ]
    for share in (0.1, 0.2, 0.5, 0.8, 0.9):
        for code, words in (
            ("(q * (x >= best[..., None])).sum(axis=-1)", "greatest amount"),
            ("(q * (x <= worst[..., None])).sum(axis=-1)", "least amount"),
            ("(q * (x > 0)).sum(axis=-1)", "a gain"),
        ):
            conditions.append(
                (f"{code} >= {share:g}", f"a probability of {words} of at least {share:g}")
            )
    worths = ("mean", "worst", "best")
    scores = (
        *(
            OptionScore(code, words, price, basic, code in worths)
            for code, words, price, basic in items
        ),
        *(OptionScore(code, words, 3.5) for code, words in conditions),
    )
    return TermVocabulary(
        (LEAD, SIDE, LONGEST_RUN, EXTREME, HIGHEST_WHERE, CLASSES), prelude, scores
    )


def _dated(stimuli: Sequence[Stimuli]) -> TermVocabulary:
    prelude = (
        'x, t = trials["amounts"], trials["delays_days"]\n'
        "size = xp.maximum(xp.abs(x), 1e-9)\n"
        "wait = xp.maximum(xp.abs(t[:, 1] - t[:, 0]), 1e-9)[:, None]\n"
        "small = size.min(axis=-1)[:, None]"
    )
    scores = [
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
        OptionScore(
            "x / small / wait",
            "amount in multiples of the smaller one for each day between the two",
            2,
            True,
        ),
        OptionScore(
            "xp.log(size / small) / wait",
            "growth of the amount for each day between the two",
            2.5,
            True,
        ),
        OptionScore(
            "xp.log(size / small) / xp.log(1 + wait)",
            "growth of the amount for the logarithm of the wait",
            3,
        ),
        OptionScore("x / (1 + t)", "amount for each day from today", 2.5),
        OptionScore(
            "t / xp.maximum(t.max(axis=-1), 1e-9)[:, None]",
            "delay in proportion to the longer one",
            2.5,
            True,
        ),
    ]
    for unit in (2, 5, 10, 50, 100):
        code = f"(xp.abs(xp.round(x / {unit}) * {unit} - x) < 1e-6) * 1.0"
        scores.append(OptionScore(code, f"amount being a multiple of {unit}", 4))
    scores += [
        OptionScore(f"(t % {unit} == 0) * 1.0", f"delay being a multiple of {unit}", 4)
        for unit in (7, 30)
    ]
    longest = max(float(item["delays_days"].max()) for item in stimuli)
    for rate in np.geomspace(0.0003, 1, 22):
        k = f"{rate:.2g}"
        if rate * longest < 0.01:
            continue
        scores.append(
            OptionScore(f"x / (1 + {k} * t)", f"amount discounted hyperbolically at {k}", 2.5)
        )
        scores.append(
            OptionScore(f"x * xp.exp(-{k} * t)", f"amount discounted exponentially at {k}", 2.5)
        )
        scores.append(
            OptionScore(
                f"x / (1 + {k} * t) ** 0.5", f"amount discounted by the root of time at {k}", 3.5
            )
        )
        scores.append(
            OptionScore(
                f"xp.sign(x) * size**0.5 / (1 + {k} * t)",
                f"root of the amount discounted hyperbolically at {k}",
                3.5,
            )
        )
        scores.append(
            OptionScore(
                f"xp.log(size) - {k} * 10 * xp.log(1 + t)",
                f"logarithms traded off at ten times {k}",
                3.5,
            )
        )
    return TermVocabulary((LEAD, SIDE, CLASSES), prelude, tuple(scores))


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


def _by_shape(stimuli: Sequence[Stimuli]) -> TermVocabulary:
    """Numbers of each option, their powers, products and discounted ratios, whatever they mean."""
    first = stimuli[0]
    scores: list[OptionScore] = []
    plain: list[tuple[str, str]] = []
    for name in sorted(first.arrays):
        shape = first[name].shape[1:]
        code, words = f'trials["{name}"]', name.replace("_", " ")
        if shape == (2,):
            plain.append((code, words))
        elif len(shape) == 2 and shape[0] == 2:
            plain += [(f"{code}[..., {k}]", f"{words} {k + 1}") for k in range(min(shape[1], 8))]
            scores += [
                OptionScore(f"{code}.{how}(axis=-1)", f"{how} of {words}", 2, True)
                for how in ("sum", "min", "max")
            ]
        elif shape == ():
            both = f"xp.stack([-{code}, {code}], axis=-1)"
            scores.append(OptionScore(both, words, 3, True))
    sizes = {
        code: np.abs(
            np.concatenate([eval(code, {"trials": item.arrays}).ravel() for item in stimuli])
        )
        for code, _ in plain
    }
    for code, words in plain:
        shown = sizes[code][sizes[code] > 0]
        least = (
            1.0 if (sizes[code] == 0).any() or not len(shown) else float(f"{shown.min() / 10:.2g}")
        )
        scores.append(OptionScore(code, words, 1.5, True))
        logarithm = f"xp.log(xp.maximum(xp.abs({code}), {least:g}))"
        scores.append(OptionScore(logarithm, f"logarithm of {words}", 2.5, True))
        scores.append(OptionScore(f"xp.round({code}) % 2", f"oddness of {words}", 4))
        for other, others in plain:
            if code == other or not sizes[other].any():
                continue
            unit = float(np.median(sizes[other][sizes[other] > 0]))
            rates = [float(f"{rate:.2g}") for rate in np.geomspace(0.02, 20, 16) / unit]
            for k in rates:
                discounted = f"{code} / (1 + {k:g} * xp.abs({other}))"
                scores.append(
                    OptionScore(discounted, f"{words} discounted by {others} at {k:g}", 3)
                )
                scores.append(
                    OptionScore(
                        f"{code} * xp.exp(-{k:g} * xp.abs({other}))",
                        f"{words} decaying with {others} at {k:g}",
                        3.5,
                    )
                )
            if code < other:
                scores.append(OptionScore(f"{code} * {other}", f"{words} times {others}", 3))
                scale = float(np.median(sizes[code][sizes[code] > 0])) if sizes[code].any() else 1.0
                for k in rates:
                    traded = float(f"{k * scale:.2g}")
                    scores.append(
                        OptionScore(
                            f"{code} - {traded:g} * {other}",
                            f"{words} less {traded:g} times {others}",
                            3.5,
                        )
                    )
    return TermVocabulary((LEAD, SIDE), "", tuple(scores))
