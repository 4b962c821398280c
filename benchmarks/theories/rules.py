"""Rules that no textbook names, hidden in simulated answers, and what induction makes of them.

    python benchmarks/run.py theories/rules       # resumes where it stopped; benchmarks/raw/theories/rules.json

Simulated people follow a hidden rule, without noise or with a quarter of their choices at random. Induction gets what
a campaign would have: five experiments of 24 random distinct trials, shown twice to 25 people. A rule without memory
is judged by the mean squared error of choice proportions against the rule without noise, over all trials of the space
(a fixed sample of 4,000 where there are more), with the theory's lapses set to 0; a rule with memory by that of its
probabilities one step ahead along sequences of new people on new trials, and by the share of repeated sides. Beside
it stands a generic learner with the same answers, told the true share of random choices: kernel ridge regression of
proportions on the ratings and the side chosen last. A third of the odd rules were set aside before the search was
written (see `benchmarks.theories.hidden_rules`).
"""

from __future__ import annotations

import argparse
import time
from dataclasses import dataclass
from operator import itemgetter
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.cells import complete, standard_error
from benchmarks.provenance import ROOT
from benchmarks.theories.hidden_rules import CANONICAL, HELD_OUT, HISTORY, ODD, Past, Rule, Seen
from lakatos.domains.multiattribute.task import MultiattributeDomain
from lakatos.experiments.task import Stimuli, Trials
from lakatos.theories.discovery.induction.induce import induce
from lakatos.theories.engine.checks.check import load_theory
from lakatos.theories.engine.laboratory import LIMITS
from lakatos.theories.engine.running.sequence import expected, follow
from lakatos.theories.engine.sandbox.client import Sandbox
from lakatos.theories.language.theory import Theory, TheoryProgram

Array = NDArray[np.float64]
DOMAIN = MultiattributeDomain()
VALIDITIES = (0.9, 0.8, 0.7, 0.6)
SPACES: dict[str, dict[str, Any]] = {
    "binary": {"validities": VALIDITIES, "levels": [0, 1], "dominated": True},
    "cardinal": {"validities": VALIDITIES, "levels": [0, 1, 2, 3, 4, 5]},
}
N_EXPERIMENTS, N_TRIALS, N_REPETITIONS, N_PEOPLE = 5, 24, 2, 25
N_SPACE = 4000
RULES = CANONICAL | ODD | HISTORY


@dataclass(frozen=True)
class Sequences:
    """What people saw and did, with the probabilities that the rule gave at every step."""

    trials: Trials
    truth: Array
    """``(n_rows,)`` of the second option, without the random choices."""


def products(stimuli: Stimuli) -> list[tuple[tuple[int, ...], tuple[int, ...]]]:
    return [(tuple(map(int, a)), tuple(map(int, b))) for a, b in stimuli["ratings"]]


def simulate(
    rule: Rule, stimuli: Stimuli, n_people: int, noise: float, name: str, rng: np.random.Generator
) -> Sequences:
    """People who follow ``rule`` one after another, each in an order of their own."""
    shown, top = products(stimuli), int(stimuli["rating_max"][0])
    validities = tuple(float(v) for v in stimuli["validities"][0])
    n_rows = N_REPETITIONS * len(shown)
    order = rng.permuted(np.tile(np.arange(len(shown)), (n_people, N_REPETITIONS)), axis=1)
    chance, disposition = (
        rng.random((n_people, n_rows)),
        (rng.permutation(n_people) + rng.random()) / n_people,
    )
    truth, response = np.zeros((n_people, n_rows)), np.zeros((n_people, n_rows), dtype=np.int64)
    for person in range(n_people):
        past: list[Past] = []
        for row, trial in enumerate(order[person]):
            a, b = shown[trial]
            p = rule(Seen(a, b, validities, top, past, float(disposition[person]), n_rows))
            choice = int(chance[person, row] < (1 - noise) * p + noise / 2)
            truth[person, row], response[person, row] = p, choice
            past.append(Past(a, b, choice))
    trials = Trials(
        name,
        stimuli,
        np.repeat(np.arange(n_people), n_rows),
        order.ravel(),
        response.ravel(),
        np.ones(n_people * n_rows, dtype=np.int64),
        n_people=n_people,
    )
    return Sequences(trials, truth.ravel())


def randomly_swapped(stimuli: Stimuli, rng: np.random.Generator) -> Stimuli:
    """Half of the trials with their products exchanged: the space names the smaller product first."""
    swap = rng.random(len(stimuli)) < 0.5
    ratings = np.where(swap[:, None, None], stimuli["ratings"][:, ::-1], stimuli["ratings"])
    return Stimuli(dict(stimuli.arrays) | {"ratings": ratings})


def experiments(rule: Rule, space: str, noise: float, seed: int) -> list[Sequences]:
    """As a campaign would have collected them."""
    rng = np.random.default_rng(seed)
    found = []
    for number in range(N_EXPERIMENTS):
        stimuli = randomly_swapped(DOMAIN.candidates(SPACES[space], rng, N_TRIALS), rng)
        found.append(simulate(rule, stimuli, N_PEOPLE, noise, f"experiment {number + 1}", rng))
    return found


def whole_space(space: str) -> Stimuli:
    """All trials, or a fixed sample of them."""
    rng = np.random.default_rng(99)
    return randomly_swapped(DOMAIN.candidates(SPACES[space], rng, N_SPACE), rng)


def true_proportions(rule: Rule, stimuli: Stimuli) -> Array:
    """``(n_trials,)`` of a rule without memory, averaged over people's dispositions."""
    top, validities = (
        int(stimuli["rating_max"][0]),
        tuple(float(v) for v in stimuli["validities"][0]),
    )
    people = (
        (np.arange(100) + 0.5) / 100 if rule.__name__ == "two_kinds_of_people" else np.array([0.5])
    )
    return np.array(
        [
            np.mean([rule(Seen(a, b, validities, top, (), float(who), 48)) for who in people])
            for a, b in products(stimuli)
        ]
    )


# How close the theory comes


def space_error(theory: Theory, stimuli: Stimuli, truth: Array, sandbox: Sandbox) -> float:
    """Of a theory on a rule without memory."""
    population = theory.population(64, lapse=False)
    if not theory.learns:
        (p,) = sandbox.probabilities(theory.program.source, population, [stimuli.arrays])
        return float(np.mean((p.mean(axis=0)[:, 1] - truth) ** 2))
    rows = (
        np.random.default_rng(1).choice(len(stimuli), 200, replace=False)
        if len(stimuli) > 200
        else slice(None)
    )
    some = stimuli.take(np.arange(len(stimuli))[rows])
    with sandbox.open_session(theory.program.source, [], n_options=2) as session:
        p = expected(session, DOMAIN, population, some, np.random.default_rng(2), n_orders=2)
    return float(np.mean((p.mean(axis=0)[:, 1] - truth[rows]) ** 2))


def step_probabilities(theory: Theory, trials: Trials, sandbox: Sandbox) -> Array:
    """``(n_rows,)`` of the second option, each given the answers before it."""
    population = theory.population(32, lapse=False)
    with sandbox.open_session(
        theory.program.source, [trials.stimuli.arrays], n_options=2
    ) as session:
        if not theory.learns:
            return np.asarray(session.probabilities(population)[0].mean(axis=0)[trials.trial, 1])
        return follow(session, DOMAIN, population, trials).own[..., 1].ravel()


def last_sides(trials: Trials) -> NDArray[np.int64]:
    """``(n_rows,)`` -1 or 1 for the side chosen before, 0 at a person's first row."""
    side = 2 * trials.response - 1
    return np.where(np.diff(trials.participant, prepend=-1) != 0, 0, np.roll(side, 1))


# The generic learner


def generic(data: list[Sequences], noise: float, with_memory: bool) -> object:
    """Kernel ridge regression with width and ridge chosen by cross-validation over trials."""
    x, y, n, group = [], [], [], []
    for number, item in enumerate(data):
        trials = item.trials
        last = last_sides(trials) if with_memory else np.zeros(len(trials.trial), dtype=np.int64)
        for trial in range(len(trials.stimuli)):
            for side in np.unique(last[trials.trial == trial]):
                rows = (trials.trial == trial) & (last == side)
                x.append(inputs(trials.stimuli.take([trial]), np.array([side]))[0])
                y.append(trials.response[rows].mean() - 0.5)
                n.append(rows.sum())
                group.append(100 * number + trial)
    points, target, weight = np.array(x), np.array(y), np.array(n, dtype=float)
    fold = (
        np.random.default_rng(5).permutation(N_EXPERIMENTS * N_TRIALS)[
            np.unique(group, return_inverse=True)[1]
        ]
        % 5
    )
    squared = ((points[:, None] - points[None]) ** 2).sum(axis=-1)
    best = (np.inf, 1.0, 1.0)
    for width in (0.5, 1.0, 1.5, 2.5, 4.0, 8.0):
        kernel = np.exp(-squared / (2 * width**2))
        for ridge in (0.01, 0.1, 1.0, 10.0):
            error = 0.0
            for left_out in range(5):
                a, b = fold != left_out, fold == left_out
                solved = np.linalg.solve(
                    kernel[np.ix_(a, a)] + ridge * np.diag(1 / weight[a]), target[a]
                )
                error += float((weight[b] * (kernel[np.ix_(b, a)] @ solved - target[b]) ** 2).sum())
            best = min(best, (error, width, ridge))
    _, width, ridge = best
    solved = np.linalg.solve(
        np.exp(-squared / (2 * width**2)) + ridge * np.diag(1 / weight), target
    )

    def predict(stimuli: Stimuli, last: Array) -> Array:
        distance = ((inputs(stimuli, last)[:, None] - points[None]) ** 2).sum(axis=-1)
        p = 0.5 + np.exp(-distance / (2 * width**2)) @ solved
        return np.clip((p - noise / 2) / (1 - noise), 0, 1)

    return predict


def inputs(stimuli: Stimuli, last: NDArray[np.int64]) -> Array:
    """``(n, 2 n_cues + 1)`` ratings as standard deviations, and the side chosen last."""
    a, b = stimuli["ratings"][:, 0], stimuli["ratings"][:, 1]
    unit = stimuli["rating_max"][:, None] / 3
    return np.concatenate([a / unit, b / unit, 2.0 * np.asarray(last)[:, None]], axis=1)


# One cell of the table


def cell(name: str, space: str, noise: float, seed: int) -> dict[str, object]:
    """One rule, simulated, induced and compared."""
    rule, with_memory = RULES[name], name in HISTORY
    data = experiments(rule, space, noise, seed)
    begun = time.process_time()
    found = induce(DOMAIN, [item.trials for item in data], np.random.default_rng(seed))
    result: dict[str, object] = {
        "rule": name,
        "group": "canonical" if name in CANONICAL else "history" if with_memory else "odd",
        "held_out": name in HELD_OUT,
        "space": space,
        "noise": noise,
        "seed": seed,
        "seconds": round(time.process_time() - begun, 2),
        "kind": found[0].kind,
        "n_terms": found[0].n_terms,
        "claim": found[0].claim,
    }
    learner: Any = generic(data, noise, with_memory)
    with Sandbox(limits=LIMITS) as sandbox:
        theories = [
            load_theory(TheoryProgram(item.source, "induction"), DOMAIN, sandbox) for item in found
        ]
        if not with_memory:
            stimuli = whole_space(space)
            truth = true_proportions(rule, stimuli)
            errors = [space_error(theory, stimuli, truth, sandbox) for theory in theories]
            baseline = learner(stimuli, np.zeros(len(stimuli)))
        else:
            rng = np.random.default_rng(1000 + seed)
            stimuli = randomly_swapped(DOMAIN.candidates(SPACES[space], rng, N_TRIALS), rng)
            new = simulate(rule, stimuli, 40, 0.0, "new people", rng)
            truth, last = new.truth, last_sides(new.trials)
            predicted = [step_probabilities(theory, new.trials, sandbox) for theory in theories]
            errors = [float(np.mean((p - truth) ** 2)) for p in predicted]
            baseline = learner(new.trials.stimuli.take(new.trials.trial), last)
            repeats = [
                float(np.where(last > 0, p, 1 - p)[last != 0].mean()) for p in (truth, predicted[0])
            ]
            result |= {"repeated_true": repeats[0], "repeated_predicted": repeats[1]}
    named_without = [
        e for e, item in zip(errors, found, strict=True) if "def learn" not in item.source
    ]
    return result | {
        "error": errors[0],
        "best_error": min(errors),
        "without_memory": named_without[0] if named_without else None,
        "generic": float(np.mean((baseline - truth) ** 2)),
    }


def table(cells: list[dict[str, Any]]) -> str:
    """Means over rules with standard errors over rules and seeds; then every rule."""

    def line(title: str, found: list[dict[str, Any]]) -> str:
        columns = []
        for key in ("error", "best_error", "generic"):
            values = np.array([item[key] for item in found])
            spread = standard_error(values)
            columns.append(f"{values.mean():.5f} ± {spread:.5f}")
        seconds = np.mean([item["seconds"] for item in found])
        return f"{title:52s} {'   '.join(columns)}   {seconds:5.1f} s   n={len(found)}"

    lines = [f"{'':52s} named theory         best of its three    generic learner"]
    for space in SPACES:
        for noise in (0.0, 0.25):
            here = [item for item in cells if (item["space"], item["noise"]) == (space, noise)]
            for group in ("canonical", "odd", "history"):
                for held_out in (False, True):
                    chosen = [
                        item
                        for item in here
                        if (item["group"], item["held_out"]) == (group, held_out)
                    ]
                    if chosen:
                        set_ = (
                            ""
                            if group == "canonical"
                            else "held out"
                            if held_out
                            else "development"
                        )
                        lines.append(line(f"{space} {noise:4.0%} {group} {set_}", chosen))
    for name in RULES:
        chosen = [item for item in cells if item["rule"] == name]
        if chosen:
            lines.append(line(f"  {name}{' (held out)' if name in HELD_OUT else ''}", chosen))
    return "\n".join(lines)


def main() -> None:
    """Run what is missing, write every result as it comes."""
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("--seeds", type=int, default=2)
    options.add_argument("--workers", type=int, default=2)
    options.add_argument("--noise", type=float, nargs="*", default=[0.0, 0.25])
    options.add_argument("--spaces", nargs="*", default=list(SPACES))
    options.add_argument("--rules", nargs="*", default=list(RULES))
    options.add_argument(
        "--out", type=Path, default=ROOT / "benchmarks" / "raw" / "theories" / "rules.json"
    )
    chosen = options.parse_args()
    wanted = [
        (name, space, noise, seed)
        for seed in range(1, chosen.seeds + 1)
        for noise in chosen.noise
        for space in chosen.spaces
        for name in chosen.rules
    ]
    fields, order = ("rule", "space", "noise", "seed"), itemgetter("space", "noise", "rule", "seed")
    print(table(complete(chosen.out, cell, wanted, fields, chosen.workers, order=order)))
