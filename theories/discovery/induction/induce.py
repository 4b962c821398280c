"""Induction: from responses to theories that nobody wrote down before.

Over two options three forms compete, each first without and then with memory of one's own past: rule lists
(`induction.tree`), weighed reasons (`induction.additive`) and two kinds of people (`induction.mixture`). How large a
rule may be is decided by predicting distinct trials that took no part in finding it: the whole search is repeated
without each fold of trials. What wins is fitted to all responses and written as source. Over more options, levels or
numbers there are weighed reasons, which may be series of screens and look at one's last choice, and two kinds of
participants who weigh different reasons (`induction.outcomes`). One criterion judges all forms (`induction.rule_fit`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lakatos.experiments.task import Domain, Trials, check_unmixed
from lakatos.theories.discovery.induction import additive, mixture, tree
from lakatos.theories.discovery.induction.additive import AdditiveRule, AdditiveSearch, best_lapse
from lakatos.theories.discovery.induction.combination import (
    N_GUIDES,
    atoms_of,
    more_gates,
    with_combinations,
)
from lakatos.theories.discovery.induction.lessons import induce_lessons
from lakatos.theories.discovery.induction.mixture import MixtureRule, find_mixture
from lakatos.theories.discovery.induction.outcomes import induce_outcomes
from lakatos.theories.discovery.induction.pace import InductionPace, InductionReport
from lakatos.theories.discovery.induction.past import depends_on_past
from lakatos.theories.discovery.induction.past_gates import past_gates
from lakatos.theories.discovery.induction.past_terms import NUMBER, past_leads
from lakatos.theories.discovery.induction.population import lapses_about, sensitivities_about
from lakatos.theories.discovery.induction.rule_fit import (
    MOST_TERMS,
    N_FOLDS,
    Array,
    FittedRule,
    InducedRule,
    Responses,
    RuleForm,
    best_of_form,
    counted,
    induced,
    most_explained,
    of_two,
)
from lakatos.theories.discovery.induction.source import (
    ParameterSpread,
    branches,
    sharpened,
    write_mixture,
    write_sum,
    write_tree,
)
from lakatos.theories.discovery.induction.terms import (
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
from lakatos.theories.discovery.induction.tree import (
    GrownTree,
    TreeSearch,
    log_likelihood,
    regions_of,
)

N_STEPS = 6
"""Steps in which the language of rules is made: three of `_language`, rule lists, lapses, and terms of the past."""
TREE_WORK, ROW_WORK = 25.0, 12.0
"""Times a fit of a weighed sum, about, that one of a rule list takes; and one whose cells are single responses."""
N_REGIONS = 20
"""Gates on whose sides scores that weigh two others are looked for."""
MOST_TERMS_PAST = 6


def induce(
    domain: Domain,
    trials: Sequence[Trials],
    rng: np.random.Generator,
    *,
    n_most: int = 3,
    least: float = -np.inf,
    past: bool | None = None,
    report: InductionReport | None = None,
    first_option: str = "",
    has_places: bool = True,
) -> list[InducedRule]:
    """Find compact rules that predict answers to trials that have not been shown yet, and write them as theories.

    Args:
        domain: Domain. Rule lists are looked for with two options only; weighed reasons and two kinds of participants
            with any number of options, levels or numbers; lessons where feedback states what choices brought.
        trials: All experiments, responses in the order of presentation.
        rng: Divides trials into folds.
        n_most: Theories returned, of different forms, best first.
        least: Criterion that a theory must exceed, nats per choice: what does not even do so on the responses that it
            was fitted to is not tried on left-out ones.
        past: Whether responses depend on one's own past, where `looks_back` has found out.
        report: Hears how far it is.
        first_option: What the first option always is, such as "the safer one", where it is one thing: a lean is then
            stated as one to that.
        has_places: Whether it is known where options stood; else no rule leans to one of two places.

    Returns:
        Theories as text; empty where there are fewer than two distinct trials in every fold, where responses have
        times, or, in learning, where there is more than one stage.
    """
    check_unmixed(trials)
    if not trials or any(item.n_options != trials[0].n_options for item in trials):
        return []
    if domain.sequential:
        found = _lessons(domain, trials, rng, report)
        return [item for item in found if item.criterion > least][:n_most]
    if trials[0].n_options != 2:
        found = induce_outcomes(
            domain, trials, rng, least=least, has_places=has_places, report=report
        )
        return [item for item in found if item.criterion > least][:n_most]
    answers = read_answers(domain, trials)
    n_groups = int(answers.group.max()) + 1
    if n_groups < 2 * N_FOLDS:
        return []
    place = rng.permutation(n_groups)[answers.group]
    if past is None:
        past = _looks_back(answers, rng)
    total = answers.responses.total
    shared = most_explained(answers.responses) > least * total
    first = sorted(trials[0].stimuli.arrays)[0]
    language = InductionPace("steps towards a language of rules", (1.0,) * N_STEPS, report)
    lean = _lean(first, first_option) if has_places or first_option else None
    forms = _forms(answers, first, language, lean, shared=shared, past=past)
    fits = InductionPace(
        "fits of rules", [form.work for form in forms for _ in range(form.n_fits)], report
    )
    found = []
    for form in forms:
        n_before = fits.n_done
        best = best_of_form(counted(form, fits), place, least * total)
        item = None if best is None else induced(form, *best)
        # One with a memory that does not use it was found without, too.
        is_new = item is not None and (not form.by_row or "def learn" in item.source)
        if item is not None and is_new and item.criterion > least:
            found.append(item)
            fits.find(item.criterion)
        fits.go_to(n_before + form.n_fits)  # a form that explains too little is not fitted to parts
    # Of each kind the best.
    kinds: dict[str, InducedRule] = {}
    for item in sorted(found, key=lambda item: -item.criterion):
        kinds.setdefault(item.kind, item)
    return list(kinds.values())[:n_most]


def _with_names(noun: str, options: Sequence[str], text: str) -> str:
    """Replace the products A and B in a text by what a domain calls them."""
    text = re.sub(r"\bproduct(?=s?\b)(?! of)", noun, text)
    for letter, name in zip("AB", options, strict=True):
        named = f"{noun} {letter}" if name == letter else f"the {name} {noun}"
        text = re.sub(rf"\b(choose|take|of) {letter}\b", rf"\1 {named}", text)
    return text


def looks_back(domain: Domain, trials: Sequence[Trials], rng: np.random.Generator) -> bool:
    """Whether theories with a memory are worth a search: responses depend on one's own past, or nobody can tell.

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
    domain: Domain,
    trials: Sequence[Trials],
    rng: np.random.Generator,
    report: InductionReport | None,
) -> list[InducedRule]:
    """Rules of learning, best first; none where choices have no value, in more than one stage, or without order."""
    if any(item.pooled or item.stimuli.arrays.get("stage", np.ones(1)).any() for item in trials):
        return []
    found = induce_lessons(domain, trials, rng, report)
    return sorted(found, key=lambda item: -item.criterion)


@dataclass(frozen=True)
class SearchLanguage:
    """Parts of rules without a memory, on the distinct trials."""

    answers: InductionAnswers
    """Responses with the scores that the leads are made of."""
    plain: TermTable
    """Leads as numbers."""
    signed: TermTable
    """Leads as sides."""
    gates: TermTable


def _forms(
    answers: InductionAnswers,
    first: str,
    pace: InductionPace,
    lean: ChoiceTerm | None,
    *,
    shared: bool,
    past: bool,
) -> list[RuleForm]:
    """The ways to find rules in these responses.

    Args:
        answers: All of them.
        first: Name of an array of the trials.
        pace: Is told of each of `N_STEPS` steps.
        lean: To one of two places; None where rules may not speak of places.
        shared: Whether a rule that says the same of everybody, whatever came before, could be good enough.
        past: Whether responses depend on one's own past.
    """
    if not shared and not past:
        signed = signs(leads(answers))
        return [_mixture_form(signed, answers, first)] if answers.has_order else []
    pace.go_to(0)
    found = _language(answers, pace)
    answers, signed, gate = found.answers, found.signed, found.gates
    # Rule lists in this language; the best one says how often people lapse.
    search = TreeSearch(signed, gate, answers.counts)
    grown = search.grow()
    pace.step()
    best = max(grown.values(), key=lambda item: item.score)
    _, lapse = sharpened(best.node, branches(best.node, signed, gate, answers.counts))
    columns = _joined_lean(found.plain.joined(signed), lean)
    lapse = best_lapse(columns, gate, answers.counts, lapse, MOST_TERMS)
    pace.step()
    # Two kinds of rules without a memory: a rule list, and weighed sums of reasons.
    forms = [
        _tree_form("rule list", False, signed, gate, answers, first),
        *_sum_forms("weighed reasons", False, columns, gate, answers, first, lapse, MOST_TERMS),
    ]
    # Where the order of responses is known: people who mix rules, and rules that use one's own past.
    if answers.has_order:
        forms.append(_mixture_form(signed, answers, first))
        if past:
            forms += _past_forms(found, first, search.deeper, grown, lapse, lean)
    pace.go_to(N_STEPS)
    return forms


def _language(answers: InductionAnswers, pace: InductionPace) -> SearchLanguage:
    """Leads and gates of the vocabulary, joined by what promises something where rules of these do.

    Leads say what speaks for an option, gates are conditions. Both grow after a first look at the
    rule lists that they make.
    """
    signed = signs(leads(answers))
    divisions = gates(answers)
    everybody = answers.counts
    search = TreeSearch(signed, divisions, everybody)
    grown = search.grow()
    pace.step()
    used = _all_gates_of(grown)
    promising = np.union1d(used, search.deeper[:N_REGIONS]).astype(np.intp)
    # Combinations of leads that promise something in the regions of those rules.
    regions = _regions(grown, signed, divisions, search.followed(N_REGIONS))
    answers = with_combinations(answers, divisions.take(promising), regions)
    plain = leads(answers)
    signed = signs(plain)
    pace.step()
    # Thresholds beside those in use, and gates that divide where the best leads are followed.
    divisions = finer(answers, divisions.take(used)).joined(divisions)
    guides = TreeSearch(signed, divisions, everybody).followed(N_GUIDES)
    further = more_gates(answers, atoms_of(answers), signed, guides)
    divisions = distinct(divisions.joined(further), is_signed=False)
    pace.step()
    return SearchLanguage(answers, plain, signed, divisions)


def _regions(
    grown: Mapping[int, GrownTree],
    signed: TermTable,
    divisions: TermTable,
    followed: Sequence[int] | NDArray[np.intp],
) -> NDArray[np.bool_]:
    """``(n_regions, n_trials)``: the branches of rule lists, and where leads that are followed say nothing."""
    places = [
        region
        for item in grown.values()
        for region in regions_of(item.node, signed.values, divisions.values)
    ]
    undecided = signed.values[followed] == 0
    undecided = undecided[undecided.any(axis=1)]
    # Where no rule list divides the trials, there are no branches.
    branches = np.array(places, dtype=bool).reshape(-1, undecided.shape[1])
    return np.unique(np.concatenate([branches, undecided]), axis=0)


def _past_forms(
    found: SearchLanguage,
    first: str,
    deeper: NDArray[np.intp],
    grown: Mapping[int, GrownTree],
    lapse: float,
    lean: ChoiceTerm | None,
) -> list[RuleForm]:
    """Rule lists and sums that also use one's own past, over fewer terms, since their cells are single responses."""
    answers, plain, signed = found.answers, found.plain, found.signed
    numbers = {score: k for k, score in enumerate(answers.vocabulary.scores)}
    basic = [k for k, score in enumerate(answers.vocabulary.scores) if score.is_basic]
    past = past_gates(answers, plain.take(basic))
    # Leads that are of use with a memory, or are used without, and their scores.
    useful = _useful_leads(answers, signed, past)
    for item in grown.values():
        useful |= set(_leads_of(item.node))
    chosen = signed.take(sorted(useful))
    scores = {numbers[term.scores[0]] for term in chosen.items}
    own = past_leads(answers, plain.take(sorted({*basic, *scores})))
    # All of them on the rows.
    row = answers.trial
    chosen = chosen.at(row)
    kept = sorted({*_all_gates_of(grown), *deeper[:40].tolist()})
    divisions = found.gates.take(kept).at(row)
    raw = plain.take(sorted(scores)).at(row)
    columns = _joined_lean(raw.joined(chosen).joined(own), lean)
    timed = past.joined(_time(answers)).joined(divisions)
    kind, most = "weighed reasons with memory", MOST_TERMS_PAST
    return [
        _tree_form(
            "rule list with memory",
            True,
            chosen.joined(signs(own)),
            past.joined(divisions),
            answers,
            first,
        ),
        *_sum_forms(kind, True, columns, timed, answers, first, lapse, most),
    ]


def _time(answers: InductionAnswers) -> TermTable:
    """Make a gate of sums: how far through the experiment each response is, from 0 to 1."""
    longest = answers.number.max() + 1
    code = f'xp.minimum(state["number"] / {longest:g}, 1.0)'
    term = ChoiceTerm(code, "many trials have gone by", 2, memory=(NUMBER,))
    return TermTable((term,), (answers.number[None] / longest).astype(np.float32))


def _useful_leads(answers: InductionAnswers, signed: TermTable, past: TermTable) -> set[int]:
    """Leads that are followed overall, or where some gate of the past is open or closed."""
    everywhere = np.ones(len(answers.trial))
    chosen = set(_most_followed(answers, signed, everywhere, 40))
    for gate in past.values:
        for side_ in (gate, 1 - gate):
            chosen.update(_most_followed(answers, signed, side_, 4))
    return chosen


def _most_followed(
    answers: InductionAnswers, signed: TermTable, weights: Array, most: int
) -> list[int]:
    """Leads that explain most, each alone, where answers weigh ``(n_rows,)``, their prices considered."""
    counts = replace(answers, count=answers.count * weights).counts
    signed_counts = signed.values @ (counts[:, 1] - counts[:, 0])
    used = np.abs(signed.values) @ counts.sum(axis=1)
    followed = log_likelihood(0.5 * (used + signed_counts), 0.5 * (used - signed_counts))
    guessed = (counts.sum() - used) * np.log(2)
    score = followed - guessed - signed.prices
    return [int(lead) for lead in np.argsort(-score, kind="stable")[:most]]


def _all_gates_of(grown: Mapping[int, GrownTree]) -> list[int]:
    """Gates that any of the rule lists uses, ascending."""
    return sorted({gate for item in grown.values() for gate in _gates_of(item.node)})


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


def _lean(first: str, first_option: str) -> ChoiceTerm:
    """A lean to the second option, told by what the first one always is, where that is one thing."""
    code = f'xp.ones(trials["{first}"].shape[0])'
    if first_option:
        words = f"take the other option than {first_option}", f"take {first_option}"
        return ChoiceTerm(
            code,
            f"{words[0]}, whatever the numbers",
            4,
            opposite=f"{words[1]}, whatever the numbers",
        )
    words = "take B, whatever the numbers", "take A, whatever the numbers"
    return ChoiceTerm(code, words[0], 4, opposite=words[1])


def _joined_lean(terms: TermTable, lean: ChoiceTerm | None) -> TermTable:
    """Terms and a lean after them, where there is one."""
    if lean is None:
        return terms
    return terms.joined(TermTable((lean,), np.ones((1, terms.values.shape[1]), dtype=np.float32)))


# The three forms


def _written(
    answers: InductionAnswers, write: Callable[..., tuple[str, str]], *given: Any
) -> tuple[str, str]:
    """Source and claim, with the domain's names of the options."""
    source, claim = (
        _with_names(answers.vocabulary.noun, answers.options, text) for text in write(*given)
    )
    return source, claim


def _tree_form(
    kind: str, by_row: bool, lead: TermTable, gate: TermTable, answers: InductionAnswers, first: str
) -> RuleForm:
    responses = answers.responses.by_row() if by_row else answers.responses

    def price_of(node: tree.Node) -> float:
        used, divided = _leads_of(node), _gates_of(node)
        return sum(lead.items[k].price for k in used) + sum(gate.items[k].price for k in divided)

    def fit(of: Responses) -> dict[int, FittedRule]:
        # Single responses are many more cells, so fewer trees are kept on the way.
        width = {"beam": 2, "n_deeper": 30} if by_row else {}
        grown = TreeSearch(lead, gate, of.counts, **width).grow(
            MOST_TERMS_PAST if by_row else MOST_TERMS
        )
        return {
            size: FittedRule(
                item.node,
                size,
                of_two(tree.predict(item.node, lead.values, gate.values)[None]),
                np.ones(1),
                price_of(item.node),
            )
            for size, item in grown.items()
            if size
        }

    def write(model: FittedRule) -> tuple[str, str]:
        node = model.form
        assert isinstance(node, tree.ConstantLeaf | tree.LeadLeaf | tree.SplitNode)
        clean, lapse = sharpened(node, branches(node, lead, gate, responses.counts))
        base = tree.predict(clean, lead.values, gate.values)
        spread = lapses_about(base, responses, lapse)
        given = clean, lead, gate, answers.vocabulary, first, spread
        return _written(answers, write_tree, *given)

    work = TREE_WORK * (ROW_WORK if by_row else 1.0)
    return RuleForm(kind, responses, fit, write, work, by_row)


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
    responses = answers.responses.by_row() if by_row else answers.responses

    def form(lapse: float) -> RuleForm:
        def fit(of: Responses) -> dict[int, FittedRule]:
            search = AdditiveSearch(lead, gate, of.counts, lapse)
            return {
                len(item.terms): FittedRule(
                    item,
                    len(item.terms),
                    of_two(search.predict(item, lead.values, gate.values)[None]),
                    np.ones(1),
                    search.price(item),
                )
                for item in search.path(most)
            }

        def write(model: FittedRule) -> tuple[str, str]:
            fitted = model.form
            assert isinstance(fitted, AdditiveRule)
            log_odds = additive.evidence(fitted, lead.values, gate.values)
            spread = sensitivities_about(log_odds, responses, lapse)
            lapses = ParameterSpread(lapse, 0.01)
            given = fitted, lead, gate, answers.vocabulary, first, lapses, spread
            return _written(answers, write_sum, *given)

        return RuleForm(kind, responses, fit, write, ROW_WORK if by_row else 1.0, by_row)

    return [form(value) for value in ((0.002, lapse) if lapse > 0.02 else (0.002,))]


def _mixture_form(lead: TermTable, answers: InductionAnswers, first: str) -> RuleForm:
    def fit(of: Responses) -> dict[int, FittedRule]:
        found = find_mixture(lead, of.by_person)
        p = of_two(mixture.predict(found, lead.values))
        price = sum(lead.items[kind.lead].price for kind in found.kinds)
        return {2: FittedRule(found, 2, p, np.array([found.share, 1 - found.share]), price)}

    def write(model: FittedRule) -> tuple[str, str]:
        found = model.form
        assert isinstance(found, MixtureRule)
        given = found, lead, answers.vocabulary, first, ParameterSpread(found.lapse, 0.02)
        return _written(answers, write_mixture, *given)

    return RuleForm("two kinds of people", answers.responses, fit, write)
