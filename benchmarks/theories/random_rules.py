"""Hidden rules drawn at random from a grammar of programs, and what induction makes of them.

    python benchmarks/run.py theories/random_rules     # benchmarks/raw/theories/random_rules.json

The grammar is written down here in plain Python and knows nothing of the terms that induction is made of. A program
reckons numbers of each product, compares them, and combines comparisons: chains, thresholds, exceptions, conditions on
the trial or on the last choice, two kinds of people, graded choice. Induction gets what a campaign would have (see
`benchmarks.theories.rules`), at random trials; a fifth of the choices of every second rule are made at random.
Measured is the mean squared error of choice proportions over 2,000 trials of the space (of the probabilities one step
ahead for rules that depend on what came before), lapses set to 0.
"""

from __future__ import annotations

import argparse
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise
from operator import itemgetter
from pathlib import Path
from statistics import median
from typing import Any, TypeVar

import numpy as np

from benchmarks.cells import complete, standard_error
from benchmarks.provenance import ROOT
from benchmarks.theories import rules
from benchmarks.theories.hidden_rules import Product, Seen, logistic
from lakatos.theories.discovery.induction.induce import induce
from lakatos.theories.engine.checks.check import load_theory
from lakatos.theories.engine.laboratory import LIMITS
from lakatos.theories.engine.sandbox.client import Sandbox
from lakatos.theories.language.theory import TheoryProgram

SPACES: dict[str, dict[str, Any]] = {
    "binary": {"validities": rules.VALIDITIES, "levels": [0, 1], "dominated": True},
    "cardinal": {"validities": rules.VALIDITIES, "levels": [0, 1, 2, 3]},
}
NOISE = 0.2
N_CUES = 4
N_SPACE = 2000
Number = Callable[[Product, Product], float]
"""Of a product, given the other."""
T = TypeVar("T")


@dataclass(frozen=True)
class Drawn:
    """A program and what it says."""

    run: Callable[..., Any]
    words: str
    has_past: bool = False


def draw(rng: np.random.Generator, top: int) -> Drawn:
    """A rule that decides at least half of all trials, and not always alike."""
    while True:
        found = _rule(rng, top, 2)
        if _is_sensible(found, top):
            return found


def _is_sensible(rule: Drawn, top: int) -> bool:
    rng = np.random.default_rng(7)
    p: list[float] = []
    turned: list[float] = []
    for _ in range(200):
        a, b = (tuple(int(x) for x in rng.integers(0, top + 1, N_CUES)) for _ in range(2))
        for found, one, other in ((p, a, b), (turned, b, a)):
            found.append(rule.run(Seen(one, other, rules.VALIDITIES, top, (), 0.5, 48)))
    sure = np.abs(np.array(p) - 0.5) > 0.2
    return bool(sure.mean() > 0.5 and 0.1 < np.mean(p) < 0.9)


def pick(rng: np.random.Generator, *items: T) -> T:
    return items[int(rng.integers(len(items)))]


def _list(rng: np.random.Generator, top: int) -> Drawn:
    """Numbers taken from a product."""
    k, j = (int(i) for i in rng.permutation(N_CUES)[:2])
    cut = int(rng.integers(1, top + 1))
    some = sorted((k, j))
    return pick(
        rng,
        Drawn(lambda own, other: own, "the ratings"),
        Drawn(lambda own, other: own, "the ratings"),
        Drawn(lambda own, other: [own[i] for i in some], f"the ratings on cues {some}"),
        Drawn(
            lambda own, other: [x for i, x in enumerate(own) if i != k],
            f"the ratings on all cues but {k}",
        ),
        Drawn(
            lambda own, other: [x for x, y in zip(own, other, strict=True) if x > y] or [0],
            "ratings that are ahead",
        ),
        Drawn(
            lambda own, other: [x - y for x, y in zip(own, other, strict=True)], "the advantages"
        ),
        Drawn(
            lambda own, other: [x for x, y in zip(own, other, strict=True) if x != y] or [0],
            "ratings that differ",
        ),
        Drawn(lambda own, other: sorted(own)[1:], "all ratings but the lowest"),
        Drawn(lambda own, other: sorted(own)[:-1], "all ratings but the highest"),
        Drawn(
            lambda own, other: [abs(x - cut) for x in own],
            f"the distances of the ratings from {cut}",
        ),
        Drawn(
            lambda own, other: [x for x in own if x >= cut] or [0], f"the ratings of at least {cut}"
        ),
        Drawn(lambda own, other: [abs(x - y) for x, y in pairwise(own)], "steps from cue to cue"),
    )


def _number(rng: np.random.Generator, top: int, depth: int) -> Drawn:
    if depth and rng.random() < 0.4:
        one, two = _number(rng, top, depth - 1), _number(rng, top, depth - 1)
        f, g = one.run, two.run
        weight, level = pick(rng, 0.5, 1, 2), int(rng.integers(1, 2 * top + 1))
        return pick(
            rng,
            Drawn(
                lambda own, other: f(own, other) + weight * g(own, other),
                f"({one.words} + {weight} {two.words})",
            ),
            Drawn(
                lambda own, other: f(own, other) - weight * g(own, other),
                f"({one.words} - {weight} {two.words})",
            ),
            Drawn(
                lambda own, other: min(f(own, other), g(own, other)),
                f"min({one.words}, {two.words})",
            ),
            Drawn(
                lambda own, other: max(f(own, other), g(own, other)),
                f"max({one.words}, {two.words})",
            ),
            Drawn(
                lambda own, other: -abs(f(own, other) - level),
                f"closeness of {one.words} to {level}",
            ),
            Drawn(lambda own, other: f(own, other) % 2, f"parity of {one.words}"),
            Drawn(
                lambda own, other: f(own, other) if g(own, other) >= level else 0,
                f"({one.words} if {two.words} >= {level} else 0)",
            ),
            Drawn(
                lambda own, other: float(f(own, other) > g(own, other)),
                f"[{one.words} > {two.words}]",
            ),
        )
    k, cut = int(rng.integers(N_CUES)), int(rng.integers(top + 1))
    chosen = _list(rng, top)
    numbers, words = chosen.run, chosen.words
    validities = rules.VALIDITIES
    return pick(
        rng,
        Drawn(lambda own, other: own[k], f"rating on cue {k}"),
        Drawn(lambda own, other: sum(numbers(own, other)), f"sum of {words}"),
        Drawn(lambda own, other: max(numbers(own, other)), f"max of {words}"),
        Drawn(lambda own, other: min(numbers(own, other)), f"min of {words}"),
        Drawn(lambda own, other: median(numbers(own, other)), f"median of {words}"),
        Drawn(
            lambda own, other: max(numbers(own, other)) - min(numbers(own, other)),
            f"range of {words}",
        ),
        Drawn(
            lambda own, other: sum(x >= cut for x in numbers(own, other)),
            f"count of {words} >= {cut}",
        ),
        Drawn(
            lambda own, other: sum(x == cut for x in numbers(own, other)),
            f"count of {words} == {cut}",
        ),
        Drawn(lambda own, other: len(set(numbers(own, other))), f"different values among {words}"),
        Drawn(
            lambda own, other: max(Counter(numbers(own, other)).values()),
            f"most alike among {words}",
        ),
        Drawn(
            lambda own, other: max(len(list(run)) for _, run in groupby(own)),
            "longest run of equal ratings",
        ),
        Drawn(lambda own, other: sum(y > x for x, y in pairwise(own)), "rises down the cues"),
        Drawn(lambda own, other: -own.index(max(own)), "earliness of the best rating"),
        Drawn(lambda own, other: -own.index(min(own)), "earliness of the worst rating"),
        Drawn(
            lambda own, other: sum(v * x for v, x in zip(validities, own, strict=True)),
            "weighted sum",
        ),
        Drawn(lambda own, other: sum(x > y for x, y in zip(own, other, strict=True)), "cues ahead"),
        Drawn(
            lambda own, other: sum(x >= y for x, y in zip(own, other, strict=True)),
            "cues not behind",
        ),
        Drawn(lambda own, other: own[0] - own[-1], "first less last rating"),
    )


def _lead(number: Drawn, trial: Seen) -> float:
    return float(number.run(trial.b, trial.a) - number.run(trial.a, trial.b))


def _test(rng: np.random.Generator, top: int) -> Drawn:
    """Of a trial."""
    one, two = _number(rng, top, 0), _number(rng, top, 0)
    f = one.run
    level = int(rng.integers(1, 2 * top + 1))
    k = int(rng.integers(N_CUES))
    return pick(
        rng,
        Drawn(lambda t: abs(_lead(one, t)) >= level, f"|lead in {one.words}| >= {level}"),
        Drawn(
            lambda t: f(t.a, t.b) + f(t.b, t.a) >= level, f"both together {one.words} >= {level}"
        ),
        Drawn(lambda t: (f(t.a, t.b) + f(t.b, t.a)) % 2 == 0, f"both together {one.words} even"),
        Drawn(
            lambda t: min(f(t.a, t.b), f(t.b, t.a)) >= level, f"both have {one.words} >= {level}"
        ),
        Drawn(
            lambda t: max(f(t.a, t.b), f(t.b, t.a)) >= level, f"either has {one.words} >= {level}"
        ),
        Drawn(
            lambda t: _lead(one, t) * _lead(two, t) < 0, f"conflict of {one.words} and {two.words}"
        ),
        Drawn(lambda t: t.a[k] == t.b[k], f"equal on cue {k}"),
        Drawn(
            lambda t: sum(x == y for x, y in zip(t.a, t.b, strict=True)) >= 2,
            "products equal on at least two cues",
        ),
        Drawn(lambda t: f(t.b, t.a) >= level, f"B has {one.words} >= {level}"),
    )


def _past_test(rng: np.random.Generator, top: int) -> Drawn:
    number = _number(rng, top, 0)
    f = number.run
    level = int(rng.integers(1, 2 * top + 1))

    def of_last(test: Callable[[Any], bool]) -> Callable[[Seen], bool]:
        return lambda t: bool(t.past) and test(t.past[-1])

    def chosen(past: Any) -> float:
        return float(f(past.b, past.a) if past.choice else f(past.a, past.b))

    def refused(past: Any) -> float:
        return float(f(past.a, past.b) if past.choice else f(past.b, past.a))

    def now(t: Seen) -> float:
        return float(max(f(t.a, t.b), f(t.b, t.a)))

    return pick(
        rng,
        Drawn(of_last(lambda p: p.choice == 1), "B was taken last", True),
        Drawn(
            of_last(lambda p: chosen(p) > refused(p)),
            f"what was taken last had more {number.words}",
            True,
        ),
        Drawn(
            of_last(lambda p: chosen(p) >= level),
            f"what was taken last had {number.words} >= {level}",
            True,
        ),
        Drawn(lambda t: len(t.past) % 2 == 1, "even place", True),
        Drawn(lambda t: len(t.past) >= 24, "second half", True),
        Drawn(
            lambda t: len(t.past) > 1 and t.past[-1].choice == t.past[-2].choice,
            "the last two on the same side",
            True,
        ),
        Drawn(
            lambda t: bool(t.past) and now(t) > chosen(t.past[-1]),
            f"more {number.words} than last time",
            True,
        ),
        Drawn(
            lambda t: sum(p.choice for p in t.past) > len(t.past) / 2,
            "B was taken more often",
            True,
        ),
    )


def _rule(rng: np.random.Generator, top: int, depth: int) -> Drawn:
    """Of a trial to the probability of B."""
    number = _number(rng, top, 1)

    def follow(trial: Seen) -> float:
        lead = _lead(number, trial)
        return 0.5 if abs(lead) < 1e-9 else float(lead > 0)

    alone = Drawn(follow, f"follow {number.words}")
    kind = rng.random()
    if not depth or kind < 0.15:
        return alone
    more = _rule(rng, top, 0) if rng.random() < 0.6 else _rule(rng, top, 1)
    rest = more.run
    if kind < 0.35:
        return Drawn(
            lambda t: rest(t) if follow(t) == 0.5 else follow(t),
            f"{alone.words}; at a tie {more.words}",
            more.has_past,
        )
    if kind < 0.45:
        least = pick(rng, 2, 3)
        return Drawn(
            lambda t: follow(t) if abs(_lead(number, t)) >= least else rest(t),
            f"{alone.words} by at least {least}; else {more.words}",
            more.has_past,
        )
    if kind < 0.55:
        return Drawn(lambda t: 1 - rest(t), f"not ({more.words})", more.has_past)
    if kind < 0.75:
        test = _test(rng, top)
        return Drawn(
            lambda t: follow(t) if test.run(t) else rest(t),
            f"if {test.words}: {alone.words}; else {more.words}",
            more.has_past,
        )
    if kind < 0.85:
        test = _past_test(rng, top)
        return Drawn(
            lambda t: follow(t) if test.run(t) else rest(t),
            f"if {test.words}: {alone.words}; else {more.words}",
            True,
        )
    if kind < 0.93:
        slope = pick(rng, 0.5, 1.0, 2.0)
        return Drawn(
            lambda t: logistic(slope * _lead(number, t)), f"{alone.words}, graded by {slope}"
        )
    share = pick(rng, 0.5, 0.7)
    other = _rule(rng, top, 0)
    return Drawn(
        lambda t: follow(t) if t.disposition < share else other.run(t),
        f"{share} of people {alone.words}; others {other.words}",
    )


def cell(number: int, space: str) -> dict[str, object]:
    """One rule drawn, simulated, induced and compared."""
    top = max(SPACES[space]["levels"])
    drawn = draw(np.random.default_rng([number, top]), top)

    def rule(trial: Seen) -> float:
        return float(drawn.run(trial))

    noise = NOISE * (number % 2)
    rng = np.random.default_rng(number)
    data = []
    for place in range(rules.N_EXPERIMENTS):
        candidates = rules.DOMAIN.candidates(SPACES[space], rng, rules.N_TRIALS)
        stimuli = rules.randomly_swapped(candidates, rng)
        data.append(
            rules.simulate(rule, stimuli, rules.N_PEOPLE, noise, f"experiment {place + 1}", rng)
        )
    begun = time.process_time()
    found = induce(rules.DOMAIN, [item.trials for item in data], np.random.default_rng(number))
    seconds = time.process_time() - begun
    fresh = rules.randomly_swapped(
        rules.DOMAIN.candidates(SPACES[space], np.random.default_rng(99), N_SPACE), rng
    )
    with Sandbox(limits=LIMITS) as sandbox:
        theories = [
            load_theory(TheoryProgram(item.source, "induction"), rules.DOMAIN, sandbox)
            for item in found
        ]
        if drawn.has_past:
            new = rules.simulate(
                rule, fresh.take(np.arange(rules.N_TRIALS)), 40, 0.0, "new people", rng
            )
            predicted = [
                rules.step_probabilities(theory, new.trials, sandbox) for theory in theories
            ]
            errors = [float(np.mean((p - new.truth) ** 2)) for p in predicted]
        else:
            truth = proportions(rule, fresh, top)
            errors = [rules.space_error(theory, fresh, truth, sandbox) for theory in theories]
    return {
        "number": number,
        "space": space,
        "noise": noise,
        "rule": drawn.words,
        "has_past": drawn.has_past,
        "error": errors[0],
        "best_error": min(errors),
        "kind": found[0].kind,
        "n_terms": found[0].n_terms,
        "cross_validated": found[0].cross_validated,
        "claim": found[0].claim,
        "seconds": round(seconds, 2),
    }


def proportions(rule: Callable[[Seen], float], stimuli: Any, top: int) -> np.ndarray[Any, Any]:
    """``(n_trials,)`` of a rule without memory, over people's dispositions."""
    people = (0.1, 0.3, 0.45, 0.55, 0.6, 0.65, 0.75, 0.8, 0.9, 0.95)
    return np.array(
        [
            np.mean([rule(Seen(a, b, rules.VALIDITIES, top, (), who, 48)) for who in people])
            for a, b in rules.products(stimuli)
        ]
    )


def table(cells: Sequence[dict[str, Any]]) -> str:
    """Means with standard errors over rules, then every rule."""
    lines = []
    groups: dict[str, list[dict[str, Any]]] = {"all": list(cells)}
    for item in cells:
        groups.setdefault(
            f"{item['space']}, {'history' if item['has_past'] else 'no history'}", []
        ).append(item)
    for name, items in groups.items():
        for key in ("error", "best_error"):
            values = np.array([item[key] for item in items])
            spread = standard_error(values)
            good = np.mean(values < 0.01)
            lines.append(
                f"{name:24s} {key:10s} {values.mean():.4f} ± {spread:.4f}  median {np.median(values):.4f}"
                f"  below 0.01 {good:.2f}  n={len(values)}"
            )
    lines.append(f"seconds {np.mean([item['seconds'] for item in cells]):.1f}")
    lines += [
        f"{i['error']:.4f} {i['space']} {i['noise']} {i['rule']} | {i['n_terms']} {i['claim']}"
        for i in cells
    ]
    return "\n".join(lines)


def main() -> None:
    """Run what is missing."""
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("--first", type=int, default=0)
    options.add_argument("--rules", type=int, default=30)
    options.add_argument("--workers", type=int, default=2)
    options.add_argument("--spaces", nargs="*", default=list(SPACES))
    options.add_argument(
        "--out",
        type=Path,
        default=ROOT / "benchmarks" / "raw" / "theories" / "random_rules.json",
    )
    chosen = options.parse_args()
    wanted = [
        (n, space)
        for n in range(chosen.first, chosen.first + chosen.rules)
        for space in chosen.spaces
    ]
    fields, order = ("number", "space"), itemgetter("space", "number")
    print(table(complete(chosen.out, cell, wanted, fields, chosen.workers, order=order)))
