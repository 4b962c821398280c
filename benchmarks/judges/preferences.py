"""How many choices a person's taste takes until it counts, and how often that of somebody without any does.

    python benchmarks/judges/preferences.py        # a minute; benchmarks/results/judges/preferences.json

Pairs are published theories of four domains and edits of them, one to three edits away, with what judges see of the two
themselves; boldness, which hangs on trials, is drawn by lot. People prefer *at random*; *the first* of the two that is
shown, whose order is decided by lot; the one with fewer *parameters*, or fewer *words*, in nine of ten choices (either
where the two have as many); or by a taste *of their own*, weights drawn by lot, logistic. Counted is who is trusted
after so many choices, and, of those who are, the share of a hundred other pairs of which the taste names what the
person more likely prefers, pairs on which the person is of two minds left out.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT))

import numpy as np  # noqa: E402
from scipy.special import expit  # noqa: E402

from benchmarks.cells import mean_interval  # noqa: E402
from benchmarks.memory.winners import SPACES  # noqa: E402
from benchmarks.provenance import provenance  # noqa: E402
from lakatos.domains import FAMILIES  # noqa: E402
from lakatos.experiments.interval import wilson_interval  # noqa: E402
from lakatos.judges.anchor import AnchorItem  # noqa: E402
from lakatos.judges.feature import table  # noqa: E402
from lakatos.judges.items.ground_truth import machine_theory  # noqa: E402
from lakatos.judges.judge import JudgeSubmission  # noqa: E402
from lakatos.judges.preference import SCALES, learn_taste, scaled_features  # noqa: E402
from lakatos.theories.engine.checks.prediction import read_predictions  # noqa: E402
from lakatos.theories.language.theory import Theory, read_program  # noqa: E402
from lakatos.traces.digest import digest_of  # noqa: E402

RESULT = ROOT / "benchmarks" / "results" / "judges" / "preferences.json"
MOMENTS = (10, 20, 30, 40, 60)
N_PAIRS, N_OTHERS, N_RANDOM, N_PEOPLE = 400, 100, 400, 60
Chance = Callable[[JudgeSubmission, np.random.Generator], float]
"""Probability that a person prefers the candidate."""


def pairs_of_theories(rng: np.random.Generator) -> list[AnchorItem]:
    """Pairs within a domain, as items whose label says nothing yet."""
    found: list[AnchorItem] = []
    while len(found) < N_PAIRS:
        family = FAMILIES[str(rng.choice(list(SPACES)))]
        published = read_program(family.program(str(rng.choice(sorted(family.seeds)))))
        first, second = machine_theory(family, rng), published
        if rng.random() < 0.5:
            first, second = second, first
        if first.digest != second.digest:
            found.append(item_of(first, second, rng))
    return found


def item_of(first: Theory, second: Theory, rng: np.random.Generator) -> AnchorItem:
    """What a person's choice between two theories is learned from."""
    own, other = sizes_of(first), sizes_of(second)
    features = {name: own[name] - other[name] for name in own}
    submission = JudgeSubmission(
        candidate=first.digest,
        incumbent=second.digest,
        advantage=0.0,
        standard_error=1.0,
        extra_parameters=len(first.priors) - len(second.priors),
        n_choices=1,
        distance=0.1,
        features=features | {"boldness": float(rng.normal(0, 0.03))},
    )
    name = digest_of([first.digest, second.digest, int(rng.integers(2**62))])
    return AnchorItem(submission, True, {"origin": "human"}, (name,), (), "a simulated person")


def sizes_of(theory: Theory) -> dict[str, float]:
    """What `judges.description` compares of theories themselves."""
    assert theory.composition is not None
    return {
        "extra_mechanisms": float(sum(map(len, theory.composition.values()))),
        "extra_words": len(theory.claim.split()) / 100,
        "extra_memory": float(theory.learns),
        "extra_predictions": float(len(read_predictions(theory.program.source))),
    }


def fewer(name: str) -> Callable[[int], Chance]:
    """People who prefer less of a feature, in nine of ten choices."""

    def chance(submission: JudgeSubmission, rng: np.random.Generator) -> float:
        extra = float(table([submission], [name])[0, 0])
        return 0.5 if extra == 0 else 0.9 if extra < 0 else 0.1

    return lambda seed: chance


def of_their_own(seed: int) -> Chance:
    """People with weights of their own on all features."""
    weights = np.random.default_rng([seed, 81]).normal(0, 2, len(SCALES))
    scales = np.array(list(SCALES.values()))

    def chance(submission: JudgeSubmission, rng: np.random.Generator) -> float:
        return float(expit(table([submission], list(SCALES))[0] / scales @ weights))

    return chance


def by_lot(seed: int) -> Chance:
    """People who toss a coin."""
    return lambda submission, rng: 0.5


def the_first(seed: int) -> Chance:
    """People who take what is shown first, whatever it is."""
    return lambda submission, rng: float(rng.random() < 0.5)


PEOPLE: dict[str, tuple[int, Callable[[int], Chance]]] = {
    "at random": (N_RANDOM, by_lot),
    "the first": (N_RANDOM, the_first),
    "parameters": (N_PEOPLE, fewer("extra_parameters")),
    "words": (N_PEOPLE, fewer("extra_words")),
    "of their own": (N_PEOPLE, of_their_own),
}


def person(pairs: list[AnchorItem], prefers: Chance, seed: int) -> dict[str, Any]:
    """What of one person is known after so many choices."""
    rng = np.random.default_rng([seed, 80])
    order = rng.permutation(len(pairs))
    asked = [pairs[place] for place in order[: max(MOMENTS)]]
    items = [
        replace(item, label=bool(rng.random() < prefers(item.submission, rng))) for item in asked
    ]
    others = [pairs[place].submission for place in order[max(MOMENTS) :][:N_OTHERS]]
    seen = scaled_features(others)
    chances = np.array([prefers(item, rng) for item in others])
    clear = np.abs(chances - 0.5) > 0.1
    found: dict[str, Any] = {}
    for n in MOMENTS:
        taste = learn_taste(items[:n])
        right = ((seen @ taste.weights > 0) == (chances > 0.5))[clear]
        found[str(n)] = (taste.is_trusted, float(right.mean()) if clear.any() else None)
    return found


def summary() -> dict[str, Any]:
    """Of every kind of people and moment: share trusted, and share of other pairs named rightly by trusted tastes."""
    pairs = pairs_of_theories(np.random.default_rng(82))
    told: dict[str, Any] = {}
    for kind, (n, make) in PEOPLE.items():
        people = [person(pairs, make(seed), seed) for seed in range(n)]
        told[kind] = {}
        for moment in map(str, MOMENTS):
            trusted = [item[moment] for item in people if item[moment][0]]
            right = [item[1] for item in trusted if item[1] is not None]
            told[kind][moment] = {
                "trusted": (len(trusted) / n, *wilson_interval(len(trusted), n)),
                "right": mean_interval(right) if right and kind not in ("at random", "the first") else None,
            }  # fmt: skip
        ever = sum(any(item[moment][0] for moment in map(str, MOMENTS)) for item in people)
        told[kind]["ever"] = (ever / n, *wilson_interval(ever, n))
    return told


def main() -> None:
    """Simulate everybody."""
    found = summary()
    RESULT.write_text(json.dumps({**provenance(), "people": found}, indent=1) + "\n")
    for kind, line in found.items():
        print(kind, json.dumps(line))


if __name__ == "__main__":
    main()
