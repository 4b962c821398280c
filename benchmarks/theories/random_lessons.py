"""Hidden rules of learning drawn at random from a grammar of programs, and what induction makes of them.

    python benchmarks/run.py theories/random_lessons     # benchmarks/raw/theories/random_lessons.json

The sibling of `benchmarks.theories.random_rules` for choices with feedback. A program sees the list of earlier choices
and outcomes of a game; it reckons numbers of every option, follows the largest, and switches between rules on tests of
what came before. 25 people play four games of 60 steps with a reversal; a tenth of the choices of every second rule is
made at random. Measured is the mean squared error of probabilities one step ahead along the games of 40 new people.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from operator import itemgetter
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.cells import complete
from benchmarks.provenance import ROOT
from benchmarks.theories.random_rules import Drawn, pick, table
from lakatos.domains.learning.task import LearningDomain
from lakatos.experiments.task import Trials
from lakatos.theories.discovery.induction.induce import induce
from lakatos.theories.engine.checks.check import load_theory
from lakatos.theories.engine.laboratory import LIMITS
from lakatos.theories.engine.running.sequence import follow
from lakatos.theories.engine.sandbox.client import Sandbox
from lakatos.theories.language.theory import TheoryProgram

DOMAIN = LearningDomain()
TASKS: dict[str, dict[str, Any]] = {
    "two options": {"task": "reversal", "n_steps": 60},
    "three options": {"task": "reversal", "n_steps": 60, "n_options": 3},
}
N_GAMES, N_PEOPLE, NOISE = 4, 25, 0.1
Past = Sequence[tuple[int, float]]
"""Earlier choices and what they paid."""


def outcomes(past: Past, option: int) -> list[float]:
    return [paid for chosen, paid in past if chosen == option]


def run_length(items: Sequence[Any]) -> int:
    return next((k for k, item in enumerate(reversed(items)) if item != items[-1]), len(items))


def _number(rng: np.random.Generator) -> Drawn:
    """Of an option, given the past."""
    k, rate, level = int(rng.integers(1, 5)), pick(rng, 0.15, 0.3, 0.6), int(rng.integers(1, 5))

    def moved(past: Past, option: int) -> float:
        value = 0.5
        for paid in outcomes(past, option):
            value += rate * (paid - value)
        return value

    def faded(past: Past, option: int) -> float:
        return sum(
            (chosen == option) * paid * (1 - rate) ** age
            for age, (chosen, paid) in enumerate(past[::-1])
        )

    return pick(
        rng,
        Drawn(lambda p, o: float(sum(outcomes(p, o)[-k:])), f"total of its last {k} outcomes"),
        Drawn(lambda p, o: float(sum(outcomes(p, o))), "all it paid"),
        Drawn(
            lambda p, o: float(np.mean(outcomes(p, o))) if outcomes(p, o) else 0.5, "mean outcome"
        ),
        Drawn(
            lambda p, o: outcomes(p, o).count(1) - 2 * outcomes(p, o).count(0),
            "wins less twice the losses",
        ),
        Drawn(lambda p, o: -float(len(outcomes(p, o))), "how rarely it was tried"),
        Drawn(lambda p, o: float(sum(c == o for c, _ in p[-5:])), "choices among the last five"),
        Drawn(moved, f"value that moves by {rate}"),
        Drawn(faded, f"fading trace {rate}"),
        Drawn(
            lambda p, o: -float(sum(c == o and not w for c, w in p[-k - 1 :])),
            f"few losses in the last {k + 1} steps",
        ),
        Drawn(lambda p, o: float(len(outcomes(p, o)) >= level), f"at least {level} tries"),
        Drawn(lambda p, o: float(outcomes(p, o)[-1:] == [1]), "last time it won"),
        Drawn(lambda p, o: float(p[-1][0] == o), "chosen last"),
        Drawn(lambda p, o: float(len(p) > 1 and p[-2][0] == o), "chosen the time before"),
    )


def _test(rng: np.random.Generator) -> Drawn:
    k = int(rng.integers(1, 5))
    number = _number(rng)
    f = number.run
    return pick(
        rng,
        Drawn(lambda p: not any(w for _, w in p[-k:]), f"the last {k} lost"),
        Drawn(lambda p: all(w for _, w in p[-k:]), f"the last {k} won"),
        Drawn(lambda p: run_length([c for c, _ in p]) >= k, f"stayed for {k}"),
        Drawn(lambda p: len(p) % (k + 1) == 0, f"every {k + 1} steps"),
        Drawn(lambda p: len(p) > 10 * k, f"after {10 * k} steps"),
        Drawn(
            lambda p: len(outcomes(p, p[-1][0])) > 2 * k, f"last one tried more than {2 * k} times"
        ),
        Drawn(lambda p: sum(w for _, w in p[-5:]) >= k, f"{k} of the last five won"),
        Drawn(
            lambda p: abs(f(p, 0) - f(p, 1)) < 0.3, f"the first two nearly equal in {number.words}"
        ),
        Drawn(
            lambda p: sum(c != d for (c, _), (d, _) in zip(p[-6:], p[-5:], strict=False)) >= k,
            f"{k} recent changes",
        ),
        Drawn(
            lambda p: sum(not w for c, w in p[-run_length([c for c, _ in p]) :]) >= k,
            f"{k} losses in this stay",
        ),
    )


def draw(rng: np.random.Generator, depth: int = 2) -> Drawn:
    """From the past and the number of options to probabilities; evenly at first."""
    number = _number(rng)

    def best(past: Past, n: int) -> Any:
        values = np.array([number.run(past, option) for option in range(n)])
        top = values >= values.max() - 1e-9
        return top / top.sum()

    alone = Drawn(best, f"follow {number.words}")
    kind = rng.random()
    if not depth:
        return alone
    more = draw(rng, depth - 1 if rng.random() < 0.4 else 0)
    if kind < 0.45:
        test = _test(rng)
        return Drawn(
            lambda p, n: best(p, n) if test.run(p) else more.run(p, n),
            f"if {test.words}: {alone.words}; else {more.words}",
        )
    if kind < 0.65:
        stay = _test(rng)

        def leave(past: Past, n: int) -> Any:
            there = np.arange(n) == past[-1][0]
            return ~there / (n - 1) if stay.run(past) else there * 1.0

        return Drawn(leave, f"leave if {stay.words}, else stay")
    if kind < 0.8:

        def chain(past: Past, n: int) -> Any:
            first = best(past, n)
            within = (first > 0) * more.run(past, n)
            return within / within.sum() if within.sum() > 0 else first

        return Drawn(chain, f"{alone.words}; at a tie {more.words}")
    slope, other = pick(rng, 1.0, 2.0, 4.0), _number(rng)

    def graded(past: Past, n: int) -> Any:
        strength = np.array([slope * number.run(past, o) + other.run(past, o) for o in range(n)])
        p = np.exp(strength - strength.max())
        return p / p.sum()

    return Drawn(graded, f"graded: {slope} times {number.words} plus {other.words}")


def play(
    rule: Drawn, task: str, n_people: int, noise: float, rng: np.random.Generator
) -> tuple[Trials, Any]:
    """One game, and the probabilities that the rule gave without noise, ``(n_people, n_steps, n_options)``."""
    stimuli = DOMAIN.candidates(TASKS[task], rng, 1000)
    n_steps, n = len(stimuli), DOMAIN.n_options(stimuli)
    truth, response = (
        np.zeros((n_people, n_steps, n)),
        np.zeros((n_people, n_steps), dtype=np.int64),
    )
    reward = np.zeros((n_people, n_steps))
    for person in range(n_people):
        past: list[tuple[int, float]] = []
        for step in range(n_steps):
            p = rule.run(past, n) if past else np.ones(n) / n
            choice = int(rng.choice(n, p=(1 - noise) * p + noise / n))
            paid = float(stimuli["payoff"][step, 0, choice])
            truth[person, step], response[person, step], reward[person, step] = p, choice, paid
            past.append((choice, paid))
    trials = Trials(
        f"game {rng.integers(10**6)}",
        stimuli,
        np.repeat(np.arange(n_people), n_steps),
        np.tile(np.arange(n_steps), n_people),
        response.ravel(),
        np.ones(response.size, dtype=np.int64),
        n_options=n,
        n_people=n_people,
        feedback={"reward": reward.ravel(), "next_state": np.zeros(response.size)},
    )
    return trials, truth


def cell(number: int, space: str) -> dict[str, object]:
    """One rule drawn, played, induced and compared."""
    rule = draw(np.random.default_rng([number, len(space)]))
    noise = NOISE * (number % 2)
    rng = np.random.default_rng(number)
    data = [play(rule, space, N_PEOPLE, noise, rng)[0] for _ in range(N_GAMES)]
    begun = time.process_time()
    found = induce(DOMAIN, data, np.random.default_rng(number))
    seconds = time.process_time() - begun
    new, truth = play(rule, space, 40, 0.0, rng)
    errors = []
    with Sandbox(limits=LIMITS) as sandbox:
        for item in found:
            theory = load_theory(TheoryProgram(item.source, "induction"), DOMAIN, sandbox)
            with sandbox.open_session(
                theory.program.source, [new.stimuli.arrays], n_options=new.n_options
            ) as session:
                own = follow(session, DOMAIN, theory.population(32, lapse=False), new).own
            errors.append(float(np.mean((own - truth) ** 2)))
    return {
        "number": number,
        "space": space,
        "noise": noise,
        "rule": rule.words,
        "has_past": True,
        "error": errors[0],
        "best_error": min(errors),
        "generic": float(np.mean((truth.mean(axis=0) - truth) ** 2)),
        "kind": found[0].kind,
        "n_terms": found[0].n_terms,
        "claim": found[0].claim,
        "seconds": round(seconds, 2),
    }


def main() -> None:
    """Run what is missing."""
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("--first", type=int, default=0)
    options.add_argument("--rules", type=int, default=20)
    options.add_argument("--workers", type=int, default=2)
    options.add_argument(
        "--out",
        type=Path,
        default=ROOT / "benchmarks" / "raw" / "theories" / "random_lessons.json",
    )
    chosen = options.parse_args()
    wanted = [
        (n, space) for n in range(chosen.first, chosen.first + chosen.rules) for space in TASKS
    ]
    fields, order = ("number", "space"), itemgetter("space", "number")
    print(table(complete(chosen.out, cell, wanted, fields, chosen.workers, order=order)))
