"""Rules of learning found in the answers: what of the past makes people stay with an option, or turn to another.

What can be remembered of every option (tries, outcomes, runs of losses, values that move with outcomes at some rate)
and of the game (what came last, how long one has stayed) is written once, as the code of a theory's ``learn``; the
search sees the values that this very code takes along people's answers. Rule lists and weighed reasons are looked for
as among trials without feedback, over comparisons of the option chosen with each other one, and are judged by
predicting people who took no part in finding them.

References:
    Lau & Glimcher (2005), Journal of the Experimental Analysis of Behavior 84(3), 555-579 (choices from lagged choices
    and rewards); Daw (2011), in Decision Making, Affect, and Learning, 3-38.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pprint import pformat
from textwrap import fill, indent
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

from lakatos.experiments.task import Domain, Trials
from lakatos.theories.account import ClauseWording
from lakatos.theories.induction.additive import AdditiveRule, AdditiveSearch
from lakatos.theories.induction.expression import normalized
from lakatos.theories.induction.lesson_terms import (
    BEST,
    EVENLY,
    FOLLOW,
    SCORES,
    SMALLEST,
    Array,
    OptionPairs,
    RememberedAnswers,
    leads_of,
    pairs_of,
    read_told,
    remembered,
    state_code,
)
from lakatos.theories.induction.population import lapses, sensitivities
from lakatos.theories.induction.source import (
    ParameterSpread,
    branches,
    clauses_literal,
    lapse_prior,
    rounded,
    sharpened,
    sum_clauses,
    tree_words,
    weighed_clause,
)
from lakatos.theories.induction.terms import ChoiceTerm, TermTable, distinct
from lakatos.theories.induction.tree import ConstantLeaf, LeadLeaf, Node, SplitNode, TreeSearch

N_FOLDS = 3
MOST_TERMS = 6
MOST_ROWS = 6_000
"""Answers with which rules are searched; more people only sharpen what is found."""
N_GATES = 250
N_GUIDES = 40
N_DEEPER = 60
"""Gates that are tried below the root, and behind leads of a sum."""
PRICE = 1e-3
"""Nats per choice that a term must be worth."""
LAPSES = (0.002, 0.1)


@dataclass(frozen=True)
class LearningRule:
    """A rule of learning, as `theories.induction.induce.InducedRule` wants it."""

    source: str
    cross_validated: float
    error: float
    n_terms: int
    kind: str
    claim: str
    price: float


Model = Node | AdditiveRule


def induce_lessons(
    domain: Domain, trials: Sequence[Trials], rng: np.random.Generator
) -> list[LearningRule]:
    """Rules of learning, one of each form.

    Args:
        domain: Of the trials, with ``reward`` as feedback.
        trials: All experiments of one number of options; single answers in order.
        rng: Divides people into folds.
    """
    everything = read_told(domain, trials)
    n_people = int(everything.person.max()) + 1
    fold = rng.permutation(np.arange(n_people) % N_FOLDS)
    chosen = rng.permutation(n_people)[
        : max(int(MOST_ROWS * n_people / len(everything.person)), 2 * N_FOLDS)
    ]
    told = everything.at(np.flatnonzero(np.isin(everything.person, chosen)))
    pairs = pairs_of(told)
    plain = leads_of(told, pairs)
    signed = _sides(plain)
    gates = _useful_gates(told, pairs, signed)
    own_fold = fold[told.person]
    kinds = [
        ("rule list of learning", _fit_tree),
        *(("weighed lessons", _fit_sum(lapse)) for lapse in LAPSES),
    ]
    best: dict[str, LearningRule] = {}
    for kind, fit in kinds:
        parts = []
        for left_out in range(N_FOLDS):
            kept = (own_fold != left_out)[pairs.row]
            parts.append(
                (
                    fit(plain, signed, gates, pairs.counts * kept[:, None]),
                    np.flatnonzero(own_fold == left_out),
                )
            )
        scores: dict[int, float] = {}
        for size in sorted({size for models, _ in parts for size in models}):
            total = 0.0
            for models, rows in parts:
                p = probabilities(_of_size(models, size), plain, signed, gates, told, rows)
                total += float(
                    np.log(np.maximum(p[np.arange(len(p)), told.response[rows]], SMALLEST)).sum()
                )
            scores[size] = total / len(told.person)
        if not scores:
            continue
        size = max(scores, key=lambda size: scores[size] - PRICE * size)
        model = _of_size(fit(plain, signed, gates, pairs.counts), size)
        source, claim, p = _write(model, plain, signed, gates, told, pairs)
        one_hot = told.response[:, None] == np.arange(told.allowed.shape[1])
        error = float(np.mean((p.mean(axis=0) - one_hot.mean(axis=0)) ** 2))
        price = PRICE * size
        found = LearningRule(source, scores[size], error, size, kind, claim, price)
        if kind not in best or best[kind].cross_validated < found.cross_validated:
            best[kind] = found
    return list(best.values())


def _of_size(models: dict[int, Model], size: int) -> Model:
    return models[max((k for k in models if k <= size), default=min(models))]


def _sides(plain: TermTable) -> TermTable:
    return distinct(TermTable(plain.items, np.sign(plain.values)), is_signed=True)


def _useful_gates(told: RememberedAnswers, pairs: OptionPairs, signed: TermTable) -> TermTable:
    """Gates on the pairs, those kept that divide best where one lead is followed on each side."""
    every = distinct(told.gates, is_signed=False)
    every = TermTable(_priced(every.items), every.values[:, pairs.row])
    guides = signed.take(TreeSearch(signed, every, pairs.counts).followed(N_GUIDES))
    search = TreeSearch(guides, every, pairs.counts, n_deeper=N_GATES)
    search.solutions(np.ones(len(pairs.row), dtype=bool))
    return every.take(search.deeper)


def _priced(items: Sequence[ChoiceTerm]) -> tuple[ChoiceTerm, ...]:
    prices = normalized(np.array([item.price for item in items]))
    return tuple(
        replace(item, price=float(price)) for item, price in zip(items, prices, strict=True)
    )


def _fit_tree(
    plain: TermTable, signed: TermTable, gates: TermTable, counts: Array
) -> dict[int, Model]:
    grown = TreeSearch(signed, gates, counts, beam=2, n_deeper=N_DEEPER).grow(MOST_TERMS)
    return {max(size, 1): item.node for size, item in grown.items() if size or len(grown) == 1}


def _fit_sum(lapse: float) -> Callable[[TermTable, TermTable, TermTable, Array], dict[int, Model]]:
    def fit(
        plain: TermTable, signed: TermTable, gates: TermTable, counts: Array
    ) -> dict[int, Model]:
        few = gates.take(np.arange(min(N_DEEPER, len(gates.items))))
        return {
            len(item.terms): item
            for item in AdditiveSearch(plain, few, counts, lapse).path(MOST_TERMS)
        }

    return fit


# What rules say


_SAYS: dict[str, Any] = {}
exec(BEST + EVENLY + FOLLOW, _SAYS)
PLACE = {score.code: place for place, score in enumerate(SCORES)}


def probabilities(
    model: Model,
    plain: TermTable,
    signed: TermTable,
    gates: TermTable,
    told: RememberedAnswers,
    rows: NDArray[np.intp],
) -> Array:
    """``(n_rows, n_options)`` of a rule found in comparisons."""
    if not isinstance(model, AdditiveRule):
        return _distribution(model, signed, gates, told, rows, told.allowed[rows])
    strength = _evidence(model, plain, gates, told, rows)
    free = told.allowed[rows] > 0
    shown = np.where(free, strength, -np.inf)
    p = np.exp(shown - logsumexp(shown, axis=1, keepdims=True))
    return np.asarray((1 - model.lapse) * p + model.lapse * free / free.sum(axis=1, keepdims=True))


def _gate_values(told: RememberedAnswers, term: ChoiceTerm) -> Array:
    return np.asarray(told.gates.values[told.places[term.code]])


def _evidence(
    model: AdditiveRule,
    plain: TermTable,
    gates: TermTable,
    told: RememberedAnswers,
    rows: NDArray[np.intp],
) -> Array:
    total = np.zeros((len(rows), told.allowed.shape[1]))
    for term, weight in zip(model.terms, model.weights, strict=True):
        column = told.scores[PLACE[plain.items[term.lead].code]][rows]
        if term.gate >= 0:
            column = column * _gate_values(told, gates.items[term.gate])[rows, None]
        total += weight * column
    return total


def _distribution(
    node: Node,
    signed: TermTable,
    gates: TermTable,
    told: RememberedAnswers,
    rows: NDArray[np.intp],
    free: Array,
) -> Array:
    if isinstance(node, ConstantLeaf):
        return _constant(node.p, free)
    if isinstance(node, SplitNode):
        inside = _gate_values(told, gates.items[node.gate])[rows, None] > 0
        yes, no = (
            _distribution(part, signed, gates, told, rows, free) for part in (node.yes, node.no)
        )
        return np.where(inside, yes, no)
    score = told.scores[PLACE[signed.items[node.lead].code]][rows]
    turned, sure = _direction(node)
    best = _SAYS["best_of"](-score if turned else score, free, np)
    within = _distribution(node.tie, signed, gates, told, rows, best)
    return np.asarray(_SAYS["follow"](within, best, sure, free, np))


def _direction(node: LeadLeaf) -> tuple[bool, float]:
    """Whether smaller scores are followed, and how surely."""
    return node.consistency < 0.5, max(node.consistency, 1 - node.consistency)


def _constant(p: float, free: Array) -> Array:
    if free.shape[1] == 2 and p != 0.5:
        weight = free * np.array([1 - _inside(p), _inside(p)])
        return np.asarray(weight / weight.sum(axis=1, keepdims=True))
    return np.asarray(_SAYS["evenly"](free))


def _inside(p: float) -> float:
    """Never quite 0 or 1."""
    return rounded(float(np.clip(p, 0.001, 0.999)))


def _write(
    model: Model,
    plain: TermTable,
    signed: TermTable,
    gates: TermTable,
    told: RememberedAnswers,
    pairs: OptionPairs,
) -> tuple[str, str, Array]:
    """Source, claim and the probabilities that it gives, lapses included."""
    # What is collected while the source is written: parameters, terms, statements, clauses.
    rows = np.arange(len(told.person))
    chance = 1.0 / told.allowed.sum(axis=1)
    answered = (rows, told.response)
    parameters: dict[str, Any] = {}
    used: list[str] = []
    statements: list[str] = []
    n_choices = 0
    clauses: list[ClauseWording] = []

    def declare(
        name: str, value: float, error: float, low: float, high: float, unit: str, meaning: str
    ) -> str:
        parameters[name] = {
            "prior": "normal",
            "mean": rounded(value),
            "sd": max(rounded(error), 1e-4),
            "low": low,
            "high": high,
            "unit": unit,
            "meaning": meaning,
        }
        return f'parameters["{name}"]'

    def code(term: ChoiceTerm) -> str:
        used.append(term.code)
        return term.code

    # A weighed sum of reasons: softmax over options of s * sum_k w_k lead_k [gate_k].
    if isinstance(model, AdditiveRule):
        total = _evidence(model, plain, gates, told, rows)
        # Each person's strictness s, as a log-normal, from how far the other options are behind.
        behind = np.where(told.allowed > 0, total[answered][:, None] - total, np.inf)
        behind[answered] = np.inf
        spread = sensitivities(behind, model.lapse, chance, told.person, 1.0)
        parameters["lapse"] = lapse_prior(ParameterSpread(model.lapse, 0.01))
        parameters["sensitivity"] = {
            "prior": "log_normal",
            "median": rounded(float(np.exp(spread.center))),
            "log_sd": max(rounded(spread.spread), 0.01),
            "low": 0.01,
            "high": 100.0,
            "unit": "factor",
            "meaning": "how strictly a person follows the weighted sum",
        }
        # One parameter, one piece of code and one clause for each reason.
        words, parts, weighed = [], [], []
        for number, (term, weight, error) in enumerate(
            zip(model.terms, model.weights, model.errors, strict=True), 1
        ):
            lead = plain.items[term.lead]
            says, text = lead.words if weight > 0 else lead.opposite, f"({code(lead)})"
            if term.gate >= 0:
                gate = gates.items[term.gate]
                text, says = (
                    f"{text} * ({code(gate)})[..., None]",
                    f"{says} to the extent that {gate.words}",
                )
            limit = rounded(4 * abs(weight) + 6 * error)
            meaning = f"log odds for each unit in: {lead.words}"
            error = min(error, 0.1 * abs(weight))
            name = declare(f"weight_{number}", weight, error, -limit, limit, "log odds", meaning)
            parts.append(f"{name}[..., None] * {text}")
            words.append(says)
            gated = gates.items[term.gate] if term.gate >= 0 else None
            weighed.append(weighed_clause(f"weight_{number}", weight, lead, gated))
        # The statements: the evidence is added up, and forbidden options get none of it.
        statements += [
            f"{'evidence = evidence + ' if k else 'evidence = '}{part}"
            for k, part in enumerate(parts)
        ]
        statements += [
            'strength = xp.where(allowed > 0, parameters["sensitivity"][..., None] * evidence, -1e9)',
            "strength = xp.exp(strength - strength.max(axis=-1)[..., None])",
            "p = strength / strength.sum(axis=-1)[..., None]",
        ]
        reasons = "; to ".join(words)
        claim = f"people weigh and add reasons to {reasons}; they choose the more surely, the larger the sum."
        clauses = sum_clauses(weighed)
        title, p = "Weighed lessons", probabilities(model, plain, signed, gates, told, rows)
    else:
        # A rule list: branches that say nothing are cut; lapses are what it fails to explain.
        clean, lapse = sharpened(model, branches(model, signed, gates, pairs.counts))
        parameters["lapse"] = {}

        def emit(node: Node, among: str) -> str:
            nonlocal n_choices
            n_choices += 1
            choice = f"choice_{n_choices}"
            # A leaf: any option alike, or with two options a fixed share.
            if isinstance(node, ConstantLeaf):
                expression = f"evenly({among})"
                if node.p != 0.5 and told.allowed.shape[1] == 2:
                    p = _inside(node.p)
                    second = f"(xp.arange({among}.shape[-1]) == 1)"
                    statements.append(
                        f"{choice} = {among} * ({1 - p:.4g} + {2 * p - 1:.4g} * {second})"
                    )
                    expression = f"evenly({choice})"
            # A condition: one rule if it holds, another one if not.
            elif isinstance(node, SplitNode):
                gate = code(gates.items[node.gate])
                yes, no = emit(node.yes, among), emit(node.no, among)
                expression = f"xp.where(({gate})[..., None], {yes}, {no})"
            else:
                # A lead: follow the best options, with some consistency; ties go to the next rule.
                turned, surely = _direction(node)
                lead = signed.items[node.lead]
                score = f"-({code(lead)})" if turned else code(lead)
                sure = "1.0"
                if surely < 1:
                    says = lead.opposite if turned else lead.words
                    name = f"consistency_{len(parameters)}"
                    sure = declare(
                        name, surely, 0.02, 0.0, 1.0, "probability", f"how often people {says}"
                    )
                    sure += "[..., None]"
                best = choice.replace("choice", "best")
                statements.append(f"{best} = best_of({score}, {among}, xp)")
                expression = f"follow({emit(node.tie, best)}, {best}, {sure}, {among}, xp)"
            statements.append(f"{choice} = {expression}")
            return choice

        # The spread of lapses over people, and the claim in words.
        statements.append(f"p = {emit(clean, 'allowed')} + 0.0 * allowed")
        base = _distribution(clean, signed, gates, told, rows, told.allowed)
        spread = lapses(base[answered], chance, told.person, 1.0, lapse)
        parameters["lapse"] = lapse_prior(spread)
        claim = f"people {tree_words(clean, signed, gates)}; sometimes they choose at random."
        claim = claim.replace("guess", "choose any") if told.allowed.shape[1] > 2 else claim
        habit = claim.removeprefix("people ").partition("; sometimes")[0]
        lapsing = ClauseWording("sometimes choose at random ({lapse%} of the time)", sentence=2)
        clauses = [ClauseWording(habit), lapsing]
        title = "Rule list of learning"
        p = (1 - spread.center) * base + spread.center * told.allowed * chance[:, None]
    # Put together: the function `choose`, the state that it remembers, and the declarations.
    head = [
        "state = current(state, parameters, trials, xp)",
        'allowed = trials["available"]',
    ]
    tail = [
        'lapse = parameters["lapse"][..., None]',
        "return (1 - lapse) * p + lapse * evenly(allowed)",
    ]
    choose = "def choose(parameters, trials, xp, state):\n" + indent(
        "\n".join([*head, *statements, *tail]), "    "
    )
    entries = sorted({name for text in used for name in remembered(text)} or {"last"})
    docstring = fill(f"{title}: {claim}", width=110, break_on_hyphens=False, break_long_words=False)
    declared = f"PARAMETERS = {pformat(parameters, width=110, sort_dicts=False)}\n{clauses_literal(clauses)}"
    helpers = [
        EVENLY.strip() + "\n",
        *(text.strip() + "\n" for text in (BEST, FOLLOW) if "follow(" in choose),
    ]
    return (
        "\n\n".join(
            [f'"""{docstring}\n"""\n\n{declared}', *helpers, state_code(entries), choose + "\n"]
        ),
        claim,
        p,
    )
