"""Write a composition, learn its people from the responses so far, and score what was written."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from lakatos.experiments.task import Domain, Trials
from lakatos.theories.engine.fitting.fit import (
    FITTING_DRAWS,
    evidence_of_population,
    fitting_draws,
    glance,
    learn_people,
    score_left_out,
    score_trials,
)
from lakatos.theories.engine.sandbox.client import Sandbox
from lakatos.theories.engine.scoring.arrangement import SharedProcess
from lakatos.theories.engine.scoring.score import UnitScores, log_predictive, proportion_error
from lakatos.theories.engine.scoring.view import TheoryView
from lakatos.theories.language.grammar import Composition, Grammar
from lakatos.theories.language.parsing import parse
from lakatos.theories.language.theory import Theory, TheoryProgram, read_program
from lakatos.traces.digest import Digest


@dataclass(frozen=True)
class EvaluatedComposition:
    """A composition as a theory, with the people that the responses so far taught, and how it does on them."""

    composition: Composition
    theory: Theory
    scores: tuple[UnitScores, ...]
    """One per experiment, by which candidates are compared: of the learned population; for pooled responses,
    where one point is fitted to all people, each trial predicted from the others."""
    error: float
    """Mean squared error of choice proportions, averaged over experiments."""
    n_mechanisms: int
    """Mechanisms that say something."""
    pooled: bool = False
    """Whether people could not be told apart in any experiment."""
    left_out: tuple[UnitScores, ...] = ()
    """Scores as in ``scores``, each person predicted with what others taught (pooled responses: each trial from the
    others)."""

    @property
    def mean(self) -> float:
        """Nats per choice, averaged over experiments."""
        return float(np.mean([item.mean for item in self.scores]))


def evaluate(
    grammar: Grammar,
    composition: Composition,
    trials: Sequence[Trials],
    domain: Domain,
    sandbox: Sandbox,
    *,
    parents: tuple[Digest, ...] = (),
    author: str = "grammar",
    n_draws: int = FITTING_DRAWS,
    n_iterations: int = 24,
    shared: SharedProcess | None = None,
) -> EvaluatedComposition:
    """Fit and score one composition on all experiments.

    With ``shared``, a process with the stimuli of ``trials``, it is asked there; see
    `theories.engine.scoring.view.TheoryView`.

    Raises:
        TheoryError: The source cannot be run.
    """
    wide = read_program(
        TheoryProgram(grammar.write(Composition(composition.slots)), author, parents)
    )
    n_mechanisms = sum(not item.is_null for item in grammar.used(composition))
    stimuli = [item.stimuli for item in trials]
    form = Composition(composition.slots)
    source = grammar.write_for(form, stimuli, walks=domain.sequential) if shared else ""
    with TheoryView(wide, domain, sandbox, stimuli, shared, source) as view:
        return _fitted(view, composition, n_mechanisms, trials, n_draws, n_iterations)


def glance_at(
    grammar: Grammar,
    composition: Composition,
    near: EvaluatedComposition | None,
    trials: Sequence[Trials],
    domain: Domain,
    sandbox: Sandbox,
    *,
    shared: SharedProcess | None = None,
) -> float:
    """Nats per choice that a composition would explain, roughly, by a look around the people of a similar one.

    Where there is none, among its declared people.

    Raises:
        TheoryError: The source cannot be run.
    """
    form, stimuli = Composition(composition.slots), [item.stimuli for item in trials]
    source = (
        grammar.write_for(form, stimuli, walks=domain.sequential)
        if shared
        else grammar.write_untold(form)
    )
    theory = grammar.form(form, source)
    with TheoryView(theory, domain, sandbox, stimuli, shared, source) as view:
        return glance(view, near.theory.priors if near else {}, trials)


def evaluate_program(
    program: TheoryProgram,
    trials: Sequence[Trials],
    domain: Domain,
    sandbox: Sandbox,
    *,
    n_draws: int = FITTING_DRAWS,
    n_iterations: int = 24,
) -> EvaluatedComposition:
    """Fit and score a theory that the grammar did not write, as `evaluate` does one that it wrote.

    Every statement of its functions beside returning counts as a mechanism.

    Raises:
        TheoryError: The source cannot be run.
    """
    size, theory = n_statements(program.source), read_program(program)
    with TheoryView(theory, domain, sandbox, [item.stimuli for item in trials]) as view:
        return _fitted(view, Composition({}), size, trials, n_draws, n_iterations)


def _fitted(
    view: TheoryView,
    composition: Composition,
    n_mechanisms: int,
    trials: Sequence[Trials],
    n_draws: int,
    n_iterations: int,
) -> EvaluatedComposition:
    """Learn the people of the view's theory, and score the theory with them."""
    pooled = all(item.pooled for item in trials)
    n_draws = fitting_draws(view.theory, trials, n_draws)
    people = learn_people(view, trials, n_draws=n_draws, n_iterations=n_iterations)
    theory = view.theory.with_people(people, pooled=pooled)
    population = theory.population(n_draws)
    if pooled:
        answers = view.probabilities(population)
        scores = left_out = tuple(score_trials(view, people, trials))
    else:
        evidence = evidence_of_population(view, people, population, trials)
        answers = [item.probabilities for item in evidence]
        scores = tuple(log_predictive(item) for item in evidence)
        left_out = tuple(score_left_out(people, population, evidence))
    error = np.mean(
        [proportion_error(p.mean(axis=0), item)[0] for item, p in zip(trials, answers, strict=True)]
    )
    return EvaluatedComposition(
        composition, theory, scores, float(error), n_mechanisms, pooled, left_out
    )


def n_statements(source: str) -> int:
    """Statements in the functions of a source, without ``return``, docstrings and definitions."""
    return sum(
        isinstance(node, ast.stmt) and not isinstance(node, ast.Return | ast.FunctionDef | ast.Expr)
        for function in parse(source).body
        if isinstance(function, ast.FunctionDef)
        for node in ast.walk(function)
    )
