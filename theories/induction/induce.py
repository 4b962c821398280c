"""Induction: from answers to theories that nobody wrote down before.

Three forms compete, each first without and then with memory of one's own past: rule lists (`theories.induction.tree`),
weighed reasons (`theories.induction.additive`) and two kinds of people (`theories.induction.mixture`). How large a rule
may be is decided by predicting distinct trials that took no part in finding it: the whole search is repeated without
each fold of trials. What wins is fitted to all answers and written as source.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from lakatos.experiments.task import Domain, Trials, check_unmixed
from lakatos.theories.induction import additive, mixture, tree
from lakatos.theories.induction.additive import AdditiveRule, AdditiveSearch
from lakatos.theories.induction.combination import N_GUIDES, atoms_of, more_gates, with_combinations
from lakatos.theories.induction.lessons import induce_lessons
from lakatos.theories.induction.mixture import MixtureRule, find_mixture
from lakatos.theories.induction.past import depends_on_past
from lakatos.theories.induction.past_gates import past_gates
from lakatos.theories.induction.past_terms import NUMBER, past_leads
from lakatos.theories.induction.rule_fit import (
    MOST_TERMS,
    N_FOLDS,
    Array,
    FittedRule,
    RuleForm,
    _counts,
    _error,
    _explained,
    _lapses,
    _sensitivities,
    best_lapse,
    best_size,
    by_rows,
    most_explained,
)
from lakatos.theories.induction.source import (
    ParameterSpread,
    branches,
    sharpened,
    write_mixture,
    write_sum,
    write_tree,
)
from lakatos.theories.induction.terms import (
    ChoiceTerm,
    InductionAnswers,
    TermTable,
    distinct,
    finer,
    gates,
    leads,
    read_answers,
    signs,
)
from lakatos.theories.induction.tree import GrownTree, TreeSearch, log_likelihood, regions_of

N_REGIONS = 20
"""Gates on whose sides scores that weigh two others are looked for."""
MOST_TERMS_PAST = 6


@dataclass(frozen=True)
class InducedRule:
    """A rule as a theory."""

    source: str
    cross_validated: float
    """Log predictive probability of answers to trials that took no part in finding it, nats per choice; one trial in
    twenty may be an exception."""
    error: float
    """Mean squared error of choice proportions on the distinct trials that were answered, as fitted."""
    n_terms: int
    kind: str
    claim: str
    price: float
    """Code length of its terms, nats per choice."""

    @property
    def criterion(self) -> float:
        """Cross-validated score less the price, nats per choice."""
        return self.cross_validated - self.price


def induce(
    domain: Domain,
    trials: Sequence[Trials],
    rng: np.random.Generator,
    *,
    n_most: int = 3,
    least: float = -np.inf,
    past: bool | None = None,
) -> list[InducedRule]:
    """Find compact rules that predict answers to trials that have not been shown yet, and write them as theories.

    Args:
        domain: Of the trials; with two options, or with feedback that tells what each choice has brought.
        trials: All experiments, answers in the order of presentation.
        rng: Divides trials into folds.
        n_most: Theories returned, of different forms, best first.
        least: Criterion that a theory must exceed, nats per choice: what does not even do so on the answers that it
            was fitted to is not tried on left-out ones.
        past: Whether answers depend on one's own past, where `looks_back` has found out.

    Returns:
        Theories as text; empty where there are fewer than two distinct trials in every fold, not two options, or, in
        learning, more than one stage.
    """
    check_unmixed(trials)
    if not trials or any(item.n_options != trials[0].n_options for item in trials):
        return []
    if domain.sequential:
        return [item for item in _lessons(domain, trials, rng) if item.criterion > least][:n_most]
    if trials[0].n_options != 2:
        return []
    answers = read_answers(domain, trials)
    n_groups = int(answers.group.max()) + 1
    if n_groups < 2 * N_FOLDS:
        return []
    place = rng.permutation(n_groups)[answers.group]
    first = sorted(trials[0].stimuli.arrays)[0]
    found = []
    total = float(answers.count.sum())
    if past is None:
        past = _looks_back(answers, rng)
    shared = most_explained(answers) > least * total
    for form in _forms(answers, first, shared=shared, past=past):
        counts = _counts(answers, form.by_row, np.ones(len(answers.counts), dtype=bool))
        models, explained = form.fit(counts), _explained(form, answers, counts)
        if max(map(explained, models.values()), default=-np.inf) <= least * total:
            continue
        size, score = best_size(form, answers, place)
        if size is None:
            continue
        # A larger one that explains no more was better by chance on the trials left out.
        model = max(
            [item for k, item in sorted(models.items()) if k <= size] or [models[min(models)]],
            key=explained,
        )
        source, claim = (_in_words_of(domain, text) for text in form.write(model))
        if form.by_row and "def learn" not in source:  # found without memory too
            continue
        price = model.price / total
        found.append(
            InducedRule(
                source,
                score,
                _error(answers, model, form.by_row),
                model.n_terms,
                form.kind,
                claim,
                price,
            )
        )
    found = sorted(
        (item for item in found if item.criterion > least), key=lambda item: -item.criterion
    )
    kinds: dict[str, InducedRule] = {}
    for item in found:
        kinds.setdefault(item.kind, item)
    return list(kinds.values())[:n_most]


def _in_words_of(domain: Domain, text: str) -> str:
    """Terms are worded for rated products; elsewhere there are options."""
    if domain.name == "multiattribute":
        return text
    return re.sub(r"\bproduct(?=s?\b)(?! of)", "option", text)


def looks_back(domain: Domain, trials: Sequence[Trials], rng: np.random.Generator) -> bool:
    """Whether theories with a memory are worth a search: answers depend on one's own past, or nobody can tell.

    Counts have lost their order: whatever a memory did in them, they cannot show it.
    """
    if domain.sequential:
        return True
    in_order = [item for item in trials if not item.pooled]
    if any(item.n_options != 2 for item in in_order):
        return True
    return bool(in_order) and _looks_back(read_answers(domain, in_order), rng)


def _looks_back(answers: InductionAnswers, rng: np.random.Generator) -> bool:
    plain = leads(answers)
    return answers.has_order and depends_on_past(answers, plain, signs(plain), rng)


def _lessons(
    domain: Domain, trials: Sequence[Trials], rng: np.random.Generator
) -> list[InducedRule]:
    if any(item.pooled or item.stimuli["stage"].any() for item in trials):
        return []
    found = [
        InducedRule(
            item.source,
            item.cross_validated,
            item.error,
            item.n_terms,
            item.kind,
            item.claim,
            item.price,
        )
        for item in induce_lessons(domain, trials, rng)
    ]
    return sorted(found, key=lambda item: -item.criterion)


def _forms(answers: InductionAnswers, first: str, *, shared: bool, past: bool) -> list[RuleForm]:
    """The ways to find rules in these answers.

    Args:
        answers: All of them.
        first: Name of an array of the trials.
        shared: Whether a rule that says the same of everybody, whatever came before, could be good enough.
        past: Whether answers depend on one's own past.
    """
    # First look: single leads (what speaks for an option) and gates (conditions), grown into rule
    # lists of every size.
    plain = leads(answers)
    signed = signs(plain)
    if not shared and not past:
        return [_mixture_form(signed, answers, first)] if answers.has_order else []
    divisions = gates(answers)
    everybody = answers.counts
    search = TreeSearch(signed, divisions, everybody)
    grown = search.grow()
    # A second look, closer: expressions that promise something in the regions of what was found, and thresholds beside.
    used = sorted({gate for item in grown.values() for gate in _gates_of(item.node)})
    promising = np.union1d(used, search.deeper[:N_REGIONS]).astype(np.intp)
    places = [
        region
        for item in grown.values()
        for region in regions_of(item.node, signed.values, divisions.values)
    ]
    followed = search.followed(N_REGIONS)
    undecided = signed.values[followed] == 0
    regions = np.unique(
        np.concatenate([np.array(places), undecided[undecided.any(axis=1)]]), axis=0
    )
    # The language grows: combinations of leads that promise something in those regions, thresholds
    # beside those in use, and gates that follow the best leads.
    answers = with_combinations(answers, divisions.take(promising), regions)
    plain = leads(answers)
    signed = signs(plain)
    divisions = finer(answers, divisions.take(used)).joined(divisions)
    guides = TreeSearch(signed, divisions, everybody).followed(N_GUIDES)
    divisions = distinct(
        divisions.joined(more_gates(answers, atoms_of(answers), signed, guides)), is_signed=False
    )
    # Second look, with the larger language; its best rule list says how often people lapse.
    search = TreeSearch(signed, divisions, everybody)
    grown = search.grow()
    best = max(grown.values(), key=lambda item: item.score)
    _, lapse = sharpened(best.node, branches(best.node, signed, divisions, everybody))
    columns = plain.joined(signed).joined(_lean(plain.values.shape[1], first))
    lapse = best_lapse(columns, divisions, everybody, lapse)
    # Two kinds of rules without a memory: a rule list, and weighed sums of reasons.
    forms = [
        _tree_form("rule list", False, signed, divisions, answers, first),
        *_sum_forms(
            "weighed reasons", False, columns, divisions, answers, first, lapse, MOST_TERMS
        ),
    ]
    # Where the order of answers is known: people who mix rules, and rules that use one's own past.
    if answers.has_order:
        forms.append(_mixture_form(signed, answers, first))
        if past:
            forms += _past_forms(
                answers, first, plain, signed, divisions, search.deeper, grown, lapse
            )
    return forms


def _past_forms(
    answers: InductionAnswers,
    first: str,
    plain: TermTable,
    signed: TermTable,
    divisions: TermTable,
    deeper: NDArray[np.intp],
    grown: dict[int, GrownTree],
    lapse: float,
) -> list[RuleForm]:
    """Rule lists and sums that also use one's own past, over fewer terms, since their cells are single answers."""
    basic = [k for k, score in enumerate(answers.vocabulary.scores) if score.is_basic]
    past = past_gates(answers, plain.take(basic))
    useful = _useful_leads(answers, signed, past)
    for item in grown.values():
        useful |= set(_leads_of(item.node))
    chosen = signed.take(sorted(useful))
    remembered = sorted(
        {*basic, *(answers.vocabulary.scores.index(t.scores[0]) for t in chosen.items)}
    )
    own = past_leads(answers, plain.take(remembered))
    row = answers.trial
    rows_signed = chosen.at(row).joined(signs(own))
    used = sorted({g for item in grown.values() for g in _gates_of(item.node)})
    kept = sorted({*used, *deeper[:40].tolist()})
    rows_gates = past.joined(divisions.take(kept).at(row))
    numbers = {score: k for k, score in enumerate(answers.vocabulary.scores)}
    raw = plain.take(sorted({numbers[t.scores[0]] for t in chosen.items})).at(row)
    columns = raw.joined(chosen.at(row)).joined(own).joined(_lean(len(row), first))
    time = TermTable(
        (
            ChoiceTerm(
                f'xp.minimum(state["number"] / {answers.number.max() + 1:g}, 1.0)',
                "many trials have gone by",
                2,
                memory=(NUMBER,),
            ),
        ),
        (answers.number[None] / (answers.number.max() + 1)).astype(np.float32),
    )
    return [
        _tree_form("rule list with memory", True, rows_signed, rows_gates, answers, first),
        *_sum_forms(
            "weighed reasons with memory",
            True,
            columns,
            past.joined(time).joined(divisions.take(kept).at(row)),
            answers,
            first,
            lapse,
            MOST_TERMS_PAST,
        ),
    ]


def _useful_leads(answers: InductionAnswers, signed: TermTable, past: TermTable) -> set[int]:
    """Leads that are followed overall, or where some gate of the past is open or closed."""
    chosen: set[int] = set()
    for weights, most in [(np.ones(len(answers.trial)), 40)] + [
        (side_, 4) for gate in past.values for side_ in (gate, 1 - gate)
    ]:
        counts = replace(answers, count=answers.count * weights).counts
        signed_counts = signed.values @ (counts[:, 1] - counts[:, 0])
        used = np.abs(signed.values) @ counts.sum(axis=1)
        total = counts.sum()
        score = log_likelihood(0.5 * (used + signed_counts), 0.5 * (used - signed_counts))
        score = score - (total - used) * np.log(2) - signed.prices
        chosen |= set(np.argsort(-score, kind="stable")[:most].tolist())
    return chosen


def _leads_of(node: tree.Node) -> list[int]:
    if isinstance(node, tree.ConstantLeaf):
        return []
    if isinstance(node, tree.LeadLeaf):
        return [node.lead, *_leads_of(node.tie)]
    return _leads_of(node.yes) + _leads_of(node.no)


def _gates_of(node: tree.Node) -> list[int]:
    if isinstance(node, tree.ConstantLeaf):
        return []
    if isinstance(node, tree.LeadLeaf):
        return _gates_of(node.tie)
    return [node.gate, *_gates_of(node.yes), *_gates_of(node.no)]


def _lean(n_cells: int, first: str) -> TermTable:
    code = f'xp.ones(trials["{first}"].shape[0])'
    term = ChoiceTerm(code, "take B whatever it is", 4, opposite="take A whatever it is")
    return TermTable((term,), np.ones((1, n_cells), dtype=np.float32))


# The three forms


def _tree_form(
    kind: str, by_row: bool, lead: TermTable, gate: TermTable, answers: InductionAnswers, first: str
) -> RuleForm:
    def price_of(node: tree.Node) -> float:
        used, divided = _leads_of(node), _gates_of(node)
        return sum(lead.items[k].price for k in used) + sum(gate.items[k].price for k in divided)

    def fit(counts: Array) -> dict[int, FittedRule]:
        # Single answers are many more cells, so fewer trees are kept on the way.
        width = {"beam": 2, "n_deeper": 30} if by_row else {}
        grown = TreeSearch(lead, gate, counts.sum(axis=0), **width).grow(
            MOST_TERMS_PAST if by_row else MOST_TERMS
        )
        return {
            size: FittedRule(
                item.node,
                size,
                tree.predict(item.node, lead.values, gate.values)[None],
                np.ones(1),
                price_of(item.node),
            )
            for size, item in grown.items()
            if size
        }

    def write(model: FittedRule) -> tuple[str, str]:
        node = model.form
        assert isinstance(node, tree.ConstantLeaf | tree.LeadLeaf | tree.SplitNode)
        counts = _counts(answers, by_row, np.ones(len(answers.counts), dtype=bool)).sum(axis=0)
        clean, lapse = sharpened(node, branches(node, lead, gate, counts))
        base = tree.predict(clean, lead.values, gate.values)
        return write_tree(
            clean,
            lead,
            gate,
            answers.vocabulary,
            first,
            _lapses(answers, by_rows(answers, base, by_row), lapse),
        )

    return RuleForm(kind, by_row, fit, write)


def _sum_forms(
    kind: str,
    by_row: bool,
    lead: TermTable,
    gate: TermTable,
    answers: InductionAnswers,
    first: str,
    lapse: float,
    most: int,
) -> list[RuleForm]:
    """One form without lapses, one with."""

    def form(lapse: float) -> RuleForm:
        def fit(counts: Array) -> dict[int, FittedRule]:
            search = AdditiveSearch(lead, gate, counts.sum(axis=0), lapse)
            return {
                len(item.terms): FittedRule(
                    item,
                    len(item.terms),
                    search.predict(item, lead.values, gate.values)[None],
                    np.ones(1),
                    search.price(item),
                )
                for item in search.path(most)
            }

        def write(model: FittedRule) -> tuple[str, str]:
            fitted = model.form
            assert isinstance(fitted, AdditiveRule)
            log_odds = by_rows(answers, additive.evidence(fitted, lead.values, gate.values), by_row)
            spread = _sensitivities(answers, log_odds, lapse)
            return write_sum(
                fitted, lead, gate, answers.vocabulary, first, ParameterSpread(lapse, 0.01), spread
            )

        return RuleForm(kind, by_row, fit, write)

    return [form(value) for value in ((0.002, lapse) if lapse > 0.02 else (0.002,))]


def _mixture_form(lead: TermTable, answers: InductionAnswers, first: str) -> RuleForm:
    def fit(counts: Array) -> dict[int, FittedRule]:
        found = find_mixture(lead, counts)
        p = mixture.predict(found, lead.values)
        price = sum(lead.items[kind.lead].price for kind in found.kinds)
        return {2: FittedRule(found, 2, p, np.array([found.share, 1 - found.share]), price)}

    def write(model: FittedRule) -> tuple[str, str]:
        found = model.form
        assert isinstance(found, MixtureRule)
        return write_mixture(
            found, lead, answers.vocabulary, first, ParameterSpread(found.lapse, 0.02)
        )

    return RuleForm("two kinds of people", False, fit, write)
