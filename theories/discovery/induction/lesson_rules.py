"""Predictions of rules of learning: probabilities of every option, from what could be remembered before a response."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

from lakatos.theories.discovery.induction.additive import AdditiveRule
from lakatos.theories.discovery.induction.lesson_terms import (
    BEST,
    EVENLY,
    FOLLOW,
    Array,
    RememberedResponses,
)
from lakatos.theories.discovery.induction.source import rounded
from lakatos.theories.discovery.induction.term_text import carry_out
from lakatos.theories.discovery.induction.terms import ChoiceTerm, TermTable
from lakatos.theories.discovery.induction.tree import ConstantLeaf, LeadLeaf, Node, SplitNode

LessonModel = Node | AdditiveRule
_SAYS: dict[str, Any] = {}
carry_out(BEST + EVENLY + FOLLOW, _SAYS)
BEST_OF: Callable[..., Any] = _SAYS["best_of"]
EVENLY_AMONG: Callable[..., Any] = _SAYS["evenly"]
FOLLOW_BEST: Callable[..., Any] = _SAYS["follow"]
"""The functions that theories of learning are written with."""


@dataclass(frozen=True)
class LessonTerms:
    """Parts of rules of learning, with values on comparisons of the option chosen with each other one."""

    plain: TermTable
    """Leads as numbers."""
    signed: TermTable
    """Leads as sides."""
    gates: TermTable


def probabilities(
    model: LessonModel, terms: LessonTerms, remembered: RememberedResponses, rows: NDArray[np.intp]
) -> Array:
    """``(n_rows, n_options)`` of a rule found in comparisons.

    Args:
        model: The rule.
        terms: What it is made of.
        remembered: Responses.
        rows: Those of them that are predicted.
    """
    if not isinstance(model, AdditiveRule):
        return distribution(model, terms, remembered, rows, remembered.allowed[rows])
    strength = evidence(model, terms, remembered, rows)
    # A softmax over the options that are free, mixed with choices made at random.
    free = remembered.allowed[rows] > 0
    shown = np.where(free, strength, -np.inf)
    p = np.exp(shown - logsumexp(shown, axis=1, keepdims=True))
    return np.asarray((1 - model.lapse) * p + model.lapse * free / free.sum(axis=1, keepdims=True))


def evidence(
    model: AdditiveRule, terms: LessonTerms, remembered: RememberedResponses, rows: NDArray[np.intp]
) -> Array:
    """``(n_rows, n_options)`` weighed sum of what speaks for each option."""
    total = np.zeros((len(rows), remembered.allowed.shape[1]))
    for term, weight in zip(model.terms, model.weights, strict=True):
        column = _score_values(remembered, terms.plain.items[term.lead], rows)
        if term.gate >= 0:
            column = column * _gate_values(remembered, terms.gates.items[term.gate], rows)
        total += weight * column
    return total


def distribution(
    node: Node,
    terms: LessonTerms,
    remembered: RememberedResponses,
    rows: NDArray[np.intp],
    free: Array,
) -> Array:
    """``(n_rows, n_options)`` of a rule list, among the options that are ``free``; lapses left out."""
    if isinstance(node, ConstantLeaf):
        return _constant(node.p, free)
    if isinstance(node, SplitNode):
        inside = _gate_values(remembered, terms.gates.items[node.gate], rows) > 0
        yes = distribution(node.yes, terms, remembered, rows, free)
        no = distribution(node.no, terms, remembered, rows, free)
        return np.where(inside, yes, no)
    score = _score_values(remembered, terms.signed.items[node.lead], rows)
    turned, sure = direction(node)
    best = BEST_OF(-score if turned else score, free, np)
    within = distribution(node.tie, terms, remembered, rows, best)
    return np.asarray(FOLLOW_BEST(within, best, sure, free, np))


def _score_values(
    remembered: RememberedResponses, lead: ChoiceTerm, rows: NDArray[np.intp]
) -> Array:
    """``(n_rows, n_options)`` numbers of the options that a lead compares."""
    return np.asarray(remembered.scores[remembered.score_places[lead.code]][rows])


def _gate_values(
    remembered: RememberedResponses, gate: ChoiceTerm, rows: NDArray[np.intp]
) -> Array:
    """``(n_rows, 1)``: 1 where a gate is open."""
    return np.asarray(remembered.gates.values[remembered.places[gate.code]])[rows, None]


def direction(node: LeadLeaf) -> tuple[bool, float]:
    """Find whether smaller scores are followed, and how surely."""
    return node.consistency < 0.5, max(node.consistency, 1 - node.consistency)


def _constant(p: float, free: Array) -> Array:
    """Any option alike, or of two options the second one with probability ``p``."""
    if free.shape[1] == 2 and p != 0.5:
        weight = free * np.array([1 - inside(p), inside(p)])
        return np.asarray(weight / weight.sum(axis=1, keepdims=True))
    return np.asarray(EVENLY_AMONG(free))


def inside(p: float) -> float:
    """A probability that is never quite 0 or 1, to four digits."""
    return rounded(float(np.clip(p, 0.001, 0.999)))
