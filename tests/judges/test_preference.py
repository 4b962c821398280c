"""What a person finds plausible: learned from comparisons, and trusted only where it foretells them."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import brentq

from lakatos.judges.anchor import AnchorItem
from lakatos.judges.feature import swapped
from lakatos.judges.preference import PENALTY, SCALES, TRUSTED, learn_taste

sys.path.insert(0, str(Path(__file__).parents[1] / "flows"))
from anchoring import known_items


def likely(pair: AnchorItem) -> AnchorItem:
    """The same with differences of the size that theories have."""
    own = {
        name: SCALES.get(name, 1.0) * value / 2 for name, value in pair.submission.features.items()
    }
    return replace(pair, submission=replace(pair.submission, features=own))


POOL = [likely(pair) for pair in known_items(400, seed=3)]


def compared(
    seed: int, n: int, prefers: Callable[[AnchorItem, np.random.Generator], bool]
) -> list[AnchorItem]:
    """Pairs by lot, with what a person says of them."""
    rng = np.random.default_rng(seed)
    pairs = [POOL[place] for place in rng.choice(len(POOL), n, replace=False)]
    return [replace(pair, label=prefers(pair, rng)) for pair in pairs]


def at_random(pair: AnchorItem, rng: np.random.Generator) -> bool:
    return bool(rng.random() < 0.5)


def simpler(pair: AnchorItem, rng: np.random.Generator) -> bool:
    """Prefers fewer parameters, with an error in ten choices; of as many, either."""
    extra = pair.submission.extra_parameters
    return bool(rng.random() < (0.5 if extra == 0 else 0.9 if extra < 0 else 0.1))


def test_whoever_prefers_at_random_decides_nothing() -> None:
    n = 100
    trusted = sum(learn_taste(compared(seed, 20, at_random)).is_trusted for seed in range(n))
    level = 1 / TRUSTED
    assert trusted / n <= level + 2 * np.sqrt(level * (1 - level) / n)


def test_a_taste_for_simple_theories_is_learned_and_trusted() -> None:
    found = [learn_taste(compared(seed, 40, simpler)) for seed in range(12)]
    assert sum(item.is_trusted for item in found) >= 9
    even = dict.fromkeys([name for name in SCALES if name != "extra_parameters"], 0.0)
    simple = replace(POOL[0].submission, extra_parameters=-2, features=even)
    ornate = replace(simple, extra_parameters=2)
    for item in found:
        assert item.plausibility(simple) > 0.5 > item.plausibility(ornate)
        assert item.plausibility(simple) + item.plausibility(ornate) == pytest.approx(1)


def test_the_bet_is_what_each_choice_was_foretold_with() -> None:
    """Of one feature and two equal choices: 2 x 1/2, then what the weight that one choice taught says, held back."""
    features = dict.fromkeys(SCALES, 0.0) | {"extra_words": SCALES["extra_words"]}
    pair = replace(
        POOL[0],
        label=True,
        submission=replace(POOL[0].submission, extra_parameters=0, features=features),
    )
    weight = brentq(lambda w: 1 / (1 + np.exp(w)) - PENALTY * w, 0, 5)
    assert learn_taste([pair]).weights[2] == pytest.approx(weight, abs=1e-4)
    held_back = 0.1 + 0.8 / (1 + np.exp(-weight))
    assert learn_taste([pair, pair]).wealth == pytest.approx(2 * held_back, rel=1e-4)
    assert learn_taste([pair, pair]).n_foretold == 1


def test_which_of_the_two_is_called_candidate_changes_nothing() -> None:
    items = compared(5, 20, simpler)
    turned = [
        replace(
            item,
            label=not item.label,
            submission=replace(
                item.submission,
                extra_parameters=-item.submission.extra_parameters,
                features=swapped(item.submission.features),
            ),
        )
        for item in items
    ]
    assert learn_taste(turned).wealth == pytest.approx(learn_taste(items).wealth)


def test_without_comparisons_nothing_is_known() -> None:
    found = learn_taste([])
    assert (found.n, found.wealth, found.is_trusted) == (0, 1.0, False)
    assert found.plausibility(POOL[0].submission) == 0.5
