"""Campaigns whose simulated people follow the equations of AutoRA's synthetic experiments.

    python benchmarks/run.py theories/autora_equations      # resumes; benchmarks/raw/theories/autora_equations.json

The equations are those of `benchmarks.theories.autora_truths`, which are held against autora-synthetic itself there.
Lotteries are trials of the package's risky choice, amounts in tenths of a dollar; Q-learning is its bandit; three
tasks are declared in files made here. Sensations are no choices: of the two laws of psychophysics people here tell
which of two intensities is stronger, with the difference in sensation as log odds. Where our space has trials that the
equation does not speak of (lotteries with two amounts, both tasks primed, any of four categories attended), hidden
rules are their plain extension.

The measure is the mean squared error of choice proportions against the equation on `MOST_CONDITIONS` of AutoRA's own
conditions, drawn with seed 0 (for Q-learning, on eight schedules), with the people that the campaign learned and its
lapses: of the theory named, and of the published theory that comes closest, its people learned from the same answers;
that one is chosen by this very error, which favours it. ``noise`` is the error that shares of answers to the asked
trials have.
"""

from __future__ import annotations

import argparse
import ast
import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from operator import itemgetter
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.cells import complete
from benchmarks.provenance import ROOT, provenance
from benchmarks.theories import autora_truths as truths
from benchmarks.theories.rule import Rule
from lakatos.domains.risky.space import pairs
from lakatos.experiments.task import Domain, Stimuli, Trials
from lakatos.flows.notebook.study import read_run
from lakatos.flows.run.records import CampaignConcluded
from lakatos.flows.run.study import CampaignConfig, parse_study
from lakatos.flows.run.task import domain_of, family_of, with_domain
from lakatos.flows.start import run_study
from lakatos.theories.engine.laboratory import Laboratory
from lakatos.theories.language.theory import Theory, TheoryProgram, read_program

Array = NDArray[np.float64]
RESULT = ROOT / "benchmarks" / "raw" / "theories" / "autora_equations.json"
MOST_CONDITIONS, SCHEDULES, N_DRAWS = 1000, 8, 256
AMOUNTS = np.linspace(-1, 1, 10) * 10
"""The package's, in tenths of a dollar: amounts of the size that priors of risky choice expect."""
CHANCES = np.linspace(0, 1, 10)
LOTTERIES: dict[str, Any] = {
    "amounts": [0.0, *AMOUNTS[AMOUNTS > 0].tolist()],
    "probabilities": CHANCES[1:-1].tolist(),
    "losses": True,
    "dominated": True,
}


@dataclass(frozen=True)
class Equation:
    """One synthetic experiment, as people of a campaign follow it."""

    rule: Rule
    seeds: tuple[str, ...]
    """First rivals: never the equation itself."""
    conditions: Callable[[np.random.Generator], tuple[Array, Stimuli]] | None = None
    """AutoRA's conditions, and the same as trials; None for schedules."""
    probability: Callable[[Array], Array] | None = None
    """Of the option `option`, at conditions."""
    option: int = 0
    task: str = ""
    """Declaration, where it is a task of its own."""
    space: Mapping[str, Any] = field(default_factory=dict)


def _lotteries(rng: np.random.Generator) -> tuple[Array, Stimuli]:
    draws = [rng.choice(values, MOST_CONDITIONS) for values in (AMOUNTS, CHANCES) * 2]
    v_a, p_a, v_b, p_b = (np.round(column, 12) for column in draws)
    gambles = [
        (_simple(*row[:2]), _simple(*row[2:]))
        for row in np.stack([v_a, p_a, v_b, p_b], axis=1).tolist()
    ]
    return np.stack([v_a / 10, p_a, v_b / 10, p_b], axis=1), pairs(gambles)


def _simple(amount: float, chance: float) -> list[tuple[float, float]]:
    return [(amount, chance), (0.0, 1 - chance)]


def _switches(rng: np.random.Generator) -> tuple[Array, Stimuli]:
    strengths = rng.choice(np.linspace(0.02, 1, 50), (MOST_CONDITIONS, 2))
    switch = rng.integers(0, 2, MOST_CONDITIONS).astype(float)
    primed = np.stack([1 - switch, switch], axis=1)
    stimuli = Stimuli({"strength": strengths, "primed": primed})
    return np.column_stack([strengths, switch]), stimuli


def _likenesses(rng: np.random.Generator) -> tuple[Array, Stimuli]:
    likeness = rng.choice(np.linspace(0.1, 10, 8), (MOST_CONDITIONS, 4))
    attended = np.tile([1.0, 1.0, 0.0, 0.0], (MOST_CONDITIONS, 1))
    return likeness, Stimuli({"likeness": likeness, "attended": attended})


def _intensities(rng: np.random.Generator) -> tuple[Array, Stimuli]:
    found = rng.choice(np.linspace(0.25, 5, 20), (MOST_CONDITIONS, 2))
    return found, Stimuli({"intensity": found})


def _difference_in_stevens(conditions: Array) -> Array:
    return truths.stevens(conditions[:, 1:]) - truths.stevens(conditions[:, :1])


SWITCHING = """name = "switching"
question = "Which task do you do?"
options = ["The cued task", "The other task"]
instructions = ["You do the cued task, which is the first one, unless the other one is too strong."]
[attributes.strength]
kind = "number"
label = "Strength of the task"
from = 0.1
to = 1
step = 0.1
[attributes.primed]
kind = "category"
label = "Done in the trial before"
levels = ["no", "yes"]
[space]
dominated = true
same = "in this order"
"""
LUCE = """name = "categories"
question = "Which category is it?"
options = ["A1", "A2", "B1", "B2"]
instructions = ["Say which category the object belongs to."]
[attributes.likeness]
kind = "number"
label = "Similarity"
levels = [0.1, 1.5143, 2.9286, 4.3429, 5.7571, 7.1714, 8.5857, 10]
better = "more"
[attributes.attended]
kind = "category"
label = "Looked at"
levels = ["no", "yes"]
[space]
trials = 2000
dominated = true
"""
INTENSITIES = """name = "intensities"
question = "Which one is stronger?"
options = ["First", "Second"]
instructions = ["Say which of two lights is stronger."]
[attributes.intensity]
kind = "number"
label = "Intensity"
from = 0.25
to = 5
step = 0.25
better = "more"
[space]
dominated = true
"""
TOLD = "lead = {lead}\nreturn (1 / (1 + xp.exp(-lead)))[None]"
LOTTERY = 'x, q = trials["outcomes"] / 10, trials["probabilities"]\n'
ODDS = "(worth[:, 1] - worth[:, 0]) / 0.1"
EQUATIONS = {
    "expected value theory": Equation(
        Rule(
            "risky",
            "people weight half of each amount by its chance",
            LOTTERY + "worth = 0.5 * (x * q).sum(axis=-1)\n" + TOLD.format(lead=ODDS),
        ),
        ("maximax", "priority_heuristic"),
        _lotteries,
        truths.expected_value,
        space=LOTTERIES,
    ),
    "prospect theory": Equation(
        Rule(
            "risky",
            "people follow prospect theory with the constants of 1992",
            LOTTERY + "value = xp.where(x > 0, 1.0, -2.25) * xp.abs(x) ** 0.88\n"
            "power = xp.where(x >= 0, 0.61, 0.69)\nabove, below = q ** power, (1 - q) ** power\n"
            "worth = (value * above / (above + below) ** (1 / power)).sum(axis=-1)\n"
            + TOLD.format(lead=ODDS),
        ),
        ("expected_value", "priority_heuristic"),
        _lotteries,
        truths.prospect,
        space=LOTTERIES,
    ),
    "task switching": Equation(
        Rule(
            "switching",
            "control goes to a cued task that is weak",
            'drive = trials["strength"] + 0.3 * trials["primed"]\n'
            "control = xp.maximum(1 / (2.61541389 * drive[:, 0] / drive[:, 1] + 0.7042097), 0.15)\n"
            + TOLD.format(
                lead="(xp.exp(-1.5 * (drive[:, 0] + control)) - xp.exp(-1.5 * drive[:, 1])) / 0.2"
            ),
        ),
        ("strength_alone", "lexicographic"),
        _switches,
        truths.task_switching,
        task=SWITCHING,
    ),
    "luce choice ratio": Equation(
        Rule(
            "categories",
            "people choose in proportion to similarity, with four times the weight for what they look at",
            'strength = trials["likeness"] * (0.2 + 0.6 * trials["attended"])\n'
            "return (strength / strength.sum(axis=-1)[:, None])[None]",
        ),
        ("likeness_alone", "lexicographic"),
        _likenesses,
        truths.luce_choice,
        task=LUCE,
    ),
    "weber-fechner law": Equation(
        Rule(
            "intensities",
            "the log of a ratio is felt",
            's = trials["intensity"]\n' + TOLD.format(lead="xp.log(s[:, 1] / s[:, 0])"),
        ),
        ("weighted_adding", "similarity"),
        _intensities,
        lambda conditions: 1 / (1 + np.exp(-truths.weber_fechner(conditions))),
        option=1,
        task=INTENSITIES,
    ),
    "stevens' power law": Equation(
        Rule(
            "intensities",
            "a power of intensity is felt",
            's = trials["intensity"] ** 0.8\n' + TOLD.format(lead="s[:, 1] - s[:, 0]"),
        ),
        ("ratios", "similarity"),
        _intensities,
        lambda conditions: 1 / (1 + np.exp(-_difference_in_stevens(conditions))),
        option=1,
        task=INTENSITIES,
    ),
    "q-learning": Equation(
        Rule(
            "learning",
            "people revise values by a fifth of each surprise",
            source="""def start(parameters, trials, xp):
    return {"value": 0.5 + xp.zeros((1, 1, trials["available"].shape[-1]))}


def choose(parameters, trials, xp, state):
    strength = xp.exp(3.0 * state["value"]) * trials["available"]
    return strength / strength.sum(axis=-1)[..., None]


def learn(parameters, trials, xp, state, response, feedback):
    surprise = feedback["reward"][..., None] - state["value"]
    return {"value": state["value"] + 0.2 * response * surprise}
""",
        ),
        ("win_stay_lose_shift", "choice_kernel"),
        space={"task": "reversal", "n_steps": 60},
    ),
}


def study(name: str, seed: int, folder: Path) -> CampaignConfig:
    """The campaign for one equation, as small as that of a declared task in the results."""
    item = EQUATIONS[name]
    domain: Any = item.rule.domain
    if item.task:
        (folder / "task.toml").write_text(item.task)
        domain = {"file": "task.toml"}
    value = {
        "name": "autora",
        "question": "Which rule do they follow?",
        "domain": domain,
        "seed": seed,
        "space": dict(item.space),
        "theories": {"seeds": item.seeds, "candidates": 40, "successors": 3, "draws": 128},
        "design": {
            "trials": 48 if item.conditions is None else 24,
            "participants": 40,
            "candidates": 300,
            "power": 0.7,
            "refused": "cover",
        },
        "participants": {"source": "simulated", "program": item.rule.program},
        "stop": {"cycles": 3, "least_cycles": 3},
        "memory": {"winners": False},
    }
    return parse_study(with_domain(value, folder / "study.toml"), name)


@dataclass(frozen=True)
class Yardstick:
    """Trials, and how likely the option is there by the equation."""

    stimuli: tuple[Stimuli, ...]
    truth: Array
    option: int

    def error(self, theory: Theory, laboratory: Laboratory) -> float:
        """Mean squared error of a theory's choice proportions."""
        return float(np.mean((self.shares(theory, laboratory) - self.truth) ** 2))

    def shares(self, theory: Theory, laboratory: Laboratory) -> Array:
        """A theory's proportion of the option at each trial."""
        parts = [laboratory.proportions(theory, item, N_DRAWS) for item in self.stimuli]
        return np.concatenate(parts)[:, self.option]


def yardstick(name: str, domain: Domain, hidden: Theory, laboratory: Laboratory) -> Yardstick:
    """AutoRA's own conditions; of Q-learning, schedules on which the hidden rule is the truth."""
    item, rng = EQUATIONS[name], np.random.default_rng(0)
    if item.conditions is None or item.probability is None:
        stimuli = tuple(domain.candidates(item.space, rng, 1) for _ in range(SCHEDULES))
        own = Yardstick(stimuli, np.zeros(0), item.option)
        return Yardstick(stimuli, own.shares(hidden, laboratory), item.option)
    conditions, trials = item.conditions(rng)
    found = Yardstick((trials,), item.probability(conditions), item.option)
    gap = found.error(hidden, laboratory)
    assert gap < 1e-12, f"{name}: people do not follow the equation, {gap}"
    return found


def best_published(
    config: CampaignConfig, trials: list[Trials], told: Yardstick, laboratory: Laboratory
) -> tuple[str, float]:
    """The published theory that comes closest, its people learned from the campaign's answers."""
    family = family_of(config)
    forms = {name: read_program(family.program(name)) for name in family.seeds}
    people = laboratory.people_of(list(forms.values()), [{}] * len(forms), trials)
    errors = {
        name: told.error(form.with_people(own), laboratory)
        for (name, form), own in zip(forms.items(), people, strict=True)
        if isinstance(own, dict)
    }
    best = min(errors, key=lambda name: errors[name])
    return best, errors[best]


def noise(trials: list[Trials]) -> float:
    """Mean squared error of the shares of answers, at the trials that were asked."""
    errors = [
        item.proportions * (1 - item.proportions) / np.maximum(item.totals - 1, 1)[:, None]
        for item in trials
    ]
    return float(np.mean(np.concatenate(errors)))


def cell(name: str, seed: int) -> dict[str, Any]:
    """One campaign, and how close it came."""
    begun = time.perf_counter()
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        config = study(name, seed, folder)
        verdict = run_study(config, folder / "run", n_workers=1)
        assert isinstance(verdict, CampaignConcluded)
        outcome = read_run("run", runs=folder)
        named, trials = outcome.theory().theory, list(outcome.answers.trials)
        minutes = (time.perf_counter() - begun) / 60
        hidden = read_program(TheoryProgram(EQUATIONS[name].rule.program, "hidden"))
        with Laboratory(domain_of(config), 1) as laboratory:
            told = yardstick(name, domain_of(config), hidden, laboratory)
            error = told.error(named, laboratory)
            published, published_error = best_published(config, trials, told, laboratory)
    return {
        "commit": provenance()["commit"],
        "equation": name,
        "seed": seed,
        "named": named.name,
        "claim": named.claim,
        "composition": composition_of(named.program.source),
        "error": error,
        "published": published,
        "published_error": published_error,
        "noise": noise(trials) if EQUATIONS[name].conditions else None,
        "n_answers": int(sum(item.n_choices.sum() for item in trials)),
        "advantage": verdict.advantage,
        "interval": verdict.interval,
        "minutes": round(minutes, 1),
    }


def composition_of(source: str) -> dict[str, list[str]] | None:
    """Mechanisms of a theory that the grammar wrote, by slot."""
    for node in ast.parse(source).body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "COMPOSITION":
            return dict(ast.literal_eval(node.value))
    return None


def table(cells: list[dict[str, Any]]) -> str:
    """A line for each campaign."""
    lines = ["equation | seed | named | error | best published | its error | noise | minutes"]
    for item in cells:
        errors = [item["error"], item["published_error"], item["noise"]]
        told = [f"{error:.5f}" if error is not None else "" for error in errors]
        parts = [item["equation"], item["seed"], item["named"], told[0], item["published"]]
        lines.append(" | ".join(map(str, [*parts, *told[1:], item["minutes"]])))
    return "\n".join(lines)


def main() -> None:
    """Run what is missing, write every result as it comes."""
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("--seeds", type=int, default=1)
    options.add_argument("--equations", nargs="*", default=list(EQUATIONS))
    options.add_argument("--workers", type=int, default=1)
    options.add_argument("--out", type=Path, default=RESULT)
    chosen = options.parse_args()
    wanted = [(name, seed) for seed in range(1, chosen.seeds + 1) for name in chosen.equations]
    order = itemgetter("equation", "seed")
    print(
        table(complete(chosen.out, cell, wanted, ("equation", "seed"), chosen.workers, order=order))
    )
