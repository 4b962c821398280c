"""Make the sets of situations that come with the laboratory.

    python benchmarks/run.py forensics/sets        # flows/evaluate/sets/{regression,capability}.json.gz

Regression: every role's own prompt with a case and two theories to read, in several domains, and searches for rules
that the grammar has, near which they start. Capability: a rule that no mechanism of the grammar expresses, to be found
by a reviser from people's answers, and searches that start far from the rule with few candidates. What is good enough
is the criterion that the true rule itself reaches on the same answers, less a margin.
"""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from lakatos.domains import DOMAINS, FAMILIES
from lakatos.experiments.participants.simulated import as_trials
from lakatos.experiments.task import Trials
from lakatos.flows.branches.situations import FOLDER, N_DRAWS, EvaluationSituation, write_set
from lakatos.flows.roles.shapes import role_shapes
from lakatos.language_models.client import ChatMessage
from lakatos.theories.discovery.grammar_search.advocate import GrammarAdvocate
from lakatos.theories.engine.fitting.evaluate import EvaluatedComposition
from lakatos.theories.engine.laboratory import Laboratory
from lakatos.theories.engine.running.behave import behave
from lakatos.theories.engine.sandbox.client import Sandbox
from lakatos.theories.language.grammar import Composition
from lakatos.theories.language.prior import draw_population
from lakatos.theories.language.theory import TheoryProgram, read_program

DOMAIN, SPACE = "multiattribute", {"validities": [0.9, 0.7, 0.6], "levels": [0, 1, 2]}
N_PEOPLE, N_TRIALS = 24, 24
ODD = '''"""Odd totals: people take the product whose ratings add up to an odd number, and now and then err."""
PARAMETERS = {"lapse": {"prior": "uniform", "low": 0.05, "high": 0.15}}


def choose(parameters, trials, xp):
    odd = trials["ratings"].sum(axis=-1) % 2
    return 0.5 + (0.5 - parameters["lapse"] / 2) * (odd[:, 1] - odd[:, 0])
'''
ANSWER = {"arbiter": "CaseReading", "steelman": "Steelman", "reviser": "Successor", "repair": "Successor",
          "auditor": "Audit"}  # fmt: skip
CHECKS: dict[str, tuple[Any, ...]] = {
    "arbiter": ("readable", "borne_out"),
    "steelman": ("readable", "borne_out"),
    "reviser": ("readable", "is_theory"),
    "repair": ("readable", "is_theory"),
    "auditor": ("readable",),
}
"""By prompt."""


def answers(program: TheoryProgram, seed: int) -> Trials:
    """What people would answer who follow a rule."""
    rng, domain = np.random.default_rng(seed), DOMAINS[DOMAIN]
    theory = read_program(program)
    stimuli = domain.candidates(SPACE, rng, N_TRIALS)
    order = np.tile(np.arange(len(stimuli)), (N_PEOPLE, 1))
    people = {
        name: values[:N_PEOPLE] for name, values in draw_population(theory.priors, 32, rng).items()
    }
    with Sandbox() as sandbox:
        done = behave(
            theory, domain, sandbox, people or {"": np.zeros(N_PEOPLE)}, stimuli, order, rng, 0.0
        )
    return as_trials("recorded", stimuli, order, done, 2)


def good_enough(program: TheoryProgram, trials: Trials, margin: float) -> float:
    """Criterion of the rule itself, less a margin."""
    with Laboratory(DOMAINS[DOMAIN], 1) as laboratory:
        found = laboratory.evaluate_program(program, [trials], n_draws=N_DRAWS)
    assert isinstance(found, EvaluatedComposition)
    advocate = GrammarAdvocate(FAMILIES[DOMAIN].grammar)
    return round(advocate.attempt(Composition({}), None, "", found).criterion - margin, 4)


def roles(domain: str) -> list[EvaluationSituation]:
    found = []
    for shape in role_shapes(domain):
        prompt = shape.role.partition(": ")[2]
        if prompt in ANSWER:
            request = shape.request.model_copy(update={"answer_schema": None})
            found.append(
                EvaluationSituation(name=f"{prompt}-{domain}", kind="role", domain=domain, checks=CHECKS[prompt],
                                    request=request, answer=ANSWER[prompt])
            )  # fmt: skip
    return found


def search(
    name: str, hidden: str, starts: tuple[str, ...], n_candidates: int, margin: float, seed: int
) -> EvaluationSituation:
    program = FAMILIES[DOMAIN].program(hidden)
    trials = answers(program, seed)
    return EvaluationSituation(
        name=name, kind="search", domain=DOMAIN, trials=(trials.to_json(),), starts=starts, n_candidates=n_candidates,
        least=good_enough(program, trials, margin), seed=seed,
    )  # fmt: skip


def unheard_of(seed: int) -> EvaluationSituation:
    """A reviser is shown people's answers, which follow a rule that the grammar lacks."""
    program = TheoryProgram(ODD, "hidden")
    trials = answers(program, seed)
    (shape,) = (item for item in role_shapes(DOMAIN) if item.role.endswith(": reviser"))
    rows = [
        {"shown": DOMAINS[DOMAIN].describe(trials.stimuli, row), "second": round(float(share), 2)}
        for row, share in enumerate(trials.proportions[:, 1])
    ]
    told = ChatMessage(
        role="user",
        content="People's answers, trial by trial:\n" + "\n".join(map(json.dumps, rows)),
    )
    first, *rest = shape.request.messages
    request = shape.request.model_copy(
        update={"answer_schema": None, "messages": (first, told, *rest)}
    )
    return EvaluationSituation(
        name=f"odd-totals-{seed}", kind="role", domain=DOMAIN, checks=("readable", "is_theory", "predicts"),
        request=request, answer="Successor", trials=(trials.to_json(),), least=good_enough(program, trials, 0.01),
    )  # fmt: skip


def main() -> None:
    regression = [item for domain in (DOMAIN, "risky") for item in roles(domain)]
    regression += [
        search("tallying-from-tallying", "tallying", ("tallying", "take_the_best"), 8, 0.03, 1),
        search("take-the-best-from-it", "take_the_best", ("tallying", "take_the_best"), 8, 0.03, 2),
    ]
    capability = [unheard_of(seed) for seed in (3, 4)]
    capability += [
        search("weighted-from-tallying", "weighted_additive", ("tallying",), 16, 0.01, 5),
        search(
            "diminishing-from-take-the-best", "diminishing_returns", ("take_the_best",), 16, 0.01, 6
        ),
    ]
    for name, found in (("regression", regression), ("capability", capability)):
        write_set(found, FOLDER / f"{name}.json.gz")
        print(name, [item.name for item in found], [item.least for item in found])
