"""Rules of learning written as theories: source, claim, and the probabilities that they give."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from textwrap import indent
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lakatos.theories.discovery.induction.additive import AdditiveRule
from lakatos.theories.discovery.induction.lesson_rules import (
    LessonModel,
    LessonTerms,
    direction,
    distribution,
    evidence,
    inside,
    probabilities,
)
from lakatos.theories.discovery.induction.lesson_terms import (
    BEST,
    EVENLY,
    FOLLOW,
    Array,
    OptionPairs,
    RememberedResponses,
    remembered,
    state_code,
)
from lakatos.theories.discovery.induction.population import lapses, sensitivities
from lakatos.theories.discovery.induction.source import (
    ParameterSpread,
    branches,
    lapse_prior,
    normal_prior,
    reasons_of,
    rule_claim,
    rule_clauses,
    rule_words,
    sensitivity_prior,
    sharpened,
    sum_claim,
    sum_clauses,
    theory_text,
    weighing_title,
    write_reasons,
)
from lakatos.theories.discovery.induction.terms import ChoiceTerm
from lakatos.theories.discovery.induction.tree import ConstantLeaf, LeadLeaf, Node, SplitNode
from lakatos.theories.language.account import Wording

CHOOSE = """
def choose(parameters, trials, xp, state):
    state = current(state, parameters, trials, xp)
    allowed = trials["available"]
{statements}
    lapse = parameters["lapse"][..., None]
    return (1 - lapse) * p + lapse * evenly(allowed)
""".lstrip()
SOFTMAX = (
    'strength = xp.where(allowed > 0, parameters["sensitivity"][..., None] * evidence, -1e9)',
    "strength = xp.exp(strength - strength.max(axis=-1)[..., None])",
    "p = strength / strength.sum(axis=-1)[..., None]",
)
"""Code of choice probabilities; forbidden options get no evidence."""


@dataclass(frozen=True)
class WrittenLesson:
    """A rule of learning as a theory."""

    source: str
    claim: str
    probabilities: Array
    """``(n_rows, n_options)`` that it gives, lapses included."""


def write_lesson(
    model: LessonModel, terms: LessonTerms, history: RememberedResponses, pairs: OptionPairs
) -> WrittenLesson:
    """Write a rule as a theory whose people differ as the answers say.

    Args:
        model: The rule, fitted to all answers.
        terms: What it is made of.
        history: Responses.
        pairs: Their comparisons of options.
    """
    if isinstance(model, AdditiveRule):
        return _write_sum(model, terms, history)
    return _write_list(model, terms, history, pairs)


@dataclass
class _LessonText:
    """Text that is collected while a source is written."""

    learn: str
    """Code by which outcomes are read."""
    parameters: dict[str, Any] = field(default_factory=dict)
    used: list[str] = field(default_factory=list)
    """Code of the terms."""
    statements: list[str] = field(default_factory=list)

    def code(self, term: ChoiceTerm) -> str:
        """Code of a term, which is noted."""
        self.used.append(term.code)
        return term.code

    def declared(self, name: str, prior: dict[str, Any]) -> str:
        """A parameter's name in the code."""
        self.parameters[name] = prior
        return f'parameters["{name}"]'

    def source(self, title: str, claim: str, clauses: Sequence[Wording]) -> str:
        """The whole module: declarations, helpers, the state that is remembered, and ``choose``."""
        choose = CHOOSE.format(statements=indent("\n".join(self.statements), "    "))
        names = {name for text in self.used for name in remembered(text)}
        state = state_code(sorted(names or {"last"}), self.learn)
        helpers = (EVENLY, BEST, FOLLOW)
        return theory_text(title, claim, self.parameters, clauses, helpers, (state, choose))


def _write_sum(
    model: AdditiveRule, terms: LessonTerms, history: RememberedResponses
) -> WrittenLesson:
    """A weighed sum of reasons: softmax over options of s * sum_k w_k lead_k [gate_k]."""
    rows = np.arange(len(history.person))
    text = _LessonText(history.learn)
    text.declared("lapse", lapse_prior(ParameterSpread(model.lapse, 0.01)))
    text.declared("sensitivity", sensitivity_prior(_strictness(model, terms, history, rows)))
    reasons = reasons_of(model, terms.plain, terms.gates)
    found = write_reasons(reasons, text.code, text.parameters)
    text.statements += found.lines()
    text.statements += SOFTMAX
    claim = sum_claim(found.words)
    scores = [
        history.options[history.score_places[terms.plain.items[t.lead].code]] for t in model.terms
    ]
    title = weighing_title(_noun(score.words) for score in scores)
    source = text.source(title, claim, sum_clauses(found.clauses))
    return WrittenLesson(source, claim, probabilities(model, terms, history, rows))


def _noun(words: str) -> str:
    """Return what an option is compared by, as a noun."""
    if words.startswith(("having", "not having")):
        return "last choice"
    if words.startswith("merit of"):
        return "gain from switching"
    return re.sub("^at least [0-9]+ ", "number of ", words)


def _strictness(
    model: AdditiveRule, terms: LessonTerms, history: RememberedResponses, rows: NDArray[np.intp]
) -> ParameterSpread:
    """Each person's strictness s as a log-normal, from how far the other options are behind."""
    total = evidence(model, terms, history, rows)
    answered = (rows, history.response)
    behind = np.where(history.allowed > 0, total[answered][:, None] - total, np.inf)
    behind[answered] = np.inf
    chance = 1.0 / history.allowed.sum(axis=1)
    return sensitivities(behind, model.lapse, chance, history.person, 1.0)


def _write_list(
    model: Node, terms: LessonTerms, history: RememberedResponses, pairs: OptionPairs
) -> WrittenLesson:
    """A rule list: branches that say nothing are cut; lapses are what it fails to explain."""
    clean, lapse = sharpened(model, branches(model, terms.signed, terms.gates, pairs.counts))
    n_options = history.allowed.shape[1]
    text = _LessonText(history.learn)
    text.declared("lapse", {})
    result = _ListWriter(text, terms, n_options).choice(clean, "allowed")
    text.statements.append(f"p = {result} + 0.0 * allowed")
    # How lapses are spread over people.
    rows = np.arange(len(history.person))
    chance = 1.0 / history.allowed.sum(axis=1)
    base = distribution(clean, terms, history, rows, history.allowed)
    spread = lapses(base[rows, history.response], chance, history.person, 1.0, lapse)
    text.declared("lapse", lapse_prior(spread))
    # The claim in words.
    guess = "choose any option" if n_options > 2 else "guess"
    texts = rule_words(clean, terms.signed, terms.gates, guess=guess, named="option ")
    claim = rule_claim(texts)
    source = text.source("Rule list of learning", claim, rule_clauses(texts))
    p = (1 - spread.center) * base + spread.center * history.allowed * chance[:, None]
    return WrittenLesson(source, claim, p)


@dataclass
class _ListWriter:
    """Writes the statements of a rule list, one variable for each of its nodes."""

    text: _LessonText
    terms: LessonTerms
    n_options: int
    n_choices: int = 0

    def choice(self, node: Node, among: str) -> str:
        """Name of the variable that holds a node's probabilities among some options."""
        self.n_choices += 1
        name = f"choice_{self.n_choices}"
        if isinstance(node, ConstantLeaf):
            expression = self._constant(node, among, name)
        elif isinstance(node, SplitNode):
            gate = self.text.code(self.terms.gates.items[node.gate])
            yes, no = self.choice(node.yes, among), self.choice(node.no, among)
            expression = f"xp.where(({gate})[..., None], {yes}, {no})"
        else:
            expression = self._followed(node, among, name)
        self.text.statements.append(f"{name} = {expression}")
        return name

    def _constant(self, node: ConstantLeaf, among: str, name: str) -> str:
        """Any option alike, or with two options a fixed share."""
        if node.p == 0.5 or self.n_options != 2:
            return f"evenly({among})"
        p = inside(node.p)
        second = f"(xp.arange({among}.shape[-1]) == 1)"
        weight = f"{among} * ({1 - p:.4g} + {2 * p - 1:.4g} * {second})"
        self.text.statements.append(f"{name} = {weight}")
        return f"evenly({name})"

    def _followed(self, node: LeadLeaf, among: str, name: str) -> str:
        """The best options are followed, with some consistency; ties go to the next rule."""
        turned, surely = direction(node)
        lead = self.terms.signed.items[node.lead]
        code = self.text.code(lead)
        score = f"-({code})" if turned else code
        sure = "1.0"
        if surely < 1:
            meaning = f"how often people {lead.opposite if turned else lead.words}"
            prior = normal_prior(
                surely, 0.02, low=0.0, high=1.0, unit="probability", meaning=meaning
            )
            sure = self.text.declared(f"consistency_{len(self.text.parameters)}", prior)
            sure += "[..., None]"
        best = name.replace("choice", "best")
        self.text.statements.append(f"{best} = best_of({score}, {among}, xp)")
        return f"follow({self.choice(node.tie, best)}, {best}, {sure}, {among}, xp)"
