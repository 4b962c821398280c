"""Induction over more than two outcomes: options, levels and numbers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from itertools import pairwise

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.optimize import minimize

from lakatos.domains import DOMAINS
from lakatos.domains.declared.task import DeclaredDomain
from lakatos.experiments.task import Domain, Stimuli, Trials
from lakatos.theories.discovery.induction import outcomes
from lakatos.theories.discovery.induction.induce import induce
from lakatos.theories.discovery.induction.outcome_terms import (
    OutcomeLanguage,
    read_language,
    with_article,
)
from lakatos.theories.discovery.induction.outcomes import (
    RIDGE,
    OutcomeRule,
    OutcomeSearch,
    OutcomeSum,
    title_of,
    write_outcomes,
)
from lakatos.theories.discovery.induction.rule_fit import Responses
from lakatos.theories.discovery.induction.screening import term_of
from lakatos.theories.discovery.induction.source import ParameterSpread
from lakatos.theories.engine.checks.check import load_theory
from lakatos.theories.engine.sandbox.client import Sandbox
from lakatos.theories.engine.sandbox.evaluator import NamedArrays, load
from lakatos.theories.language.theory import TheoryProgram

Array = NDArray[np.float64]
Rule = Callable[[dict[str, Array]], Array]
FLATS = DeclaredDomain("""
name = "flats"
question = "Which flat would you rent?"
options = ["A", "B", "C"]
instructions = ["Choose a flat."]
[attributes.rent]
label = "Rent"
kind = "number"
levels = [400, 500, 600, 700, 800]
better = "less"
[attributes.size]
label = "Size"
kind = "number"
levels = [20, 30, 40, 50, 60]
better = "more"
[attributes.light]
label = "Light"
kind = "rating"
levels = [1, 2, 3, 4, 5]
better = "more"
[space]
trials = 300
""")
LAPSE = 0.05


def even(chosen: NDArray[np.bool_]) -> Array:
    """Every chosen option alike; all of them where none is."""
    share = np.where(chosen.any(axis=1, keepdims=True), chosen, True) * 1.0
    return np.asarray(share / share.sum(axis=1, keepdims=True))


def best(value: Array, inside: NDArray[np.bool_]) -> NDArray[np.bool_]:
    top = np.where(inside, value, -np.inf).max(axis=1, keepdims=True)
    return np.asarray(inside & (value >= top))


def softmax(value: Array) -> Array:
    strength = np.exp(value - value.max(axis=1, keepdims=True))
    return np.asarray(strength / strength.sum(axis=1, keepdims=True))


def everything(array: Array) -> NDArray[np.bool_]:
    return np.ones(array.shape, dtype=bool)


def one_after_another(flats: dict[str, Array]) -> Array:
    """The lowest rent; of several the largest."""
    return even(best(flats["size"], best(-flats["rent"], everything(flats["rent"]))))


def screened(flats: dict[str, Array]) -> Array:
    """The lightest of those that are affordable and not tiny."""
    return even(best(flats["light"], (flats["rent"] <= 600) & (flats["size"] >= 30)))


def compromise(flats: dict[str, Array]) -> Array:
    """The one in the middle where rents differ much, else a large one."""
    apart = np.ptp(flats["rent"], axis=1, keepdims=True) > 200
    middle = flats["rent"] == np.median(flats["rent"], axis=1)[:, None]
    return softmax(np.where(apart, 4.0 * middle, 0.08 * flats["size"]))


def worst_side(flats: dict[str, Array]) -> Array:
    """The one whose worst side is best."""
    sides = [(800 - flats["rent"]) / 400, (flats["size"] - 20) / 40, (flats["light"] - 1) / 4]
    return softmax(8 * np.min(sides, axis=0))


def ideal_size(flats: dict[str, Array]) -> Array:
    """One of about 40 square metres, which costs little."""
    return softmax(-0.15 * np.abs(flats["size"] - 40) - ((flats["rent"] - 400) / 200) ** 2)


RULES: dict[str, Rule] = {
    rule.__name__: rule
    for rule in (one_after_another, screened, compromise, worst_side, ideal_size)
}


def respond(p: Array, n_each: int, seed: int = 0) -> Array:
    """``(n_trials, n_outcomes)`` responses, one in twenty at random."""
    rng = np.random.default_rng(seed)
    mixed = (1 - LAPSE) * p + LAPSE / p.shape[1]
    return np.array([rng.multinomial(n_each, row) for row in mixed], dtype=np.float64)


def experiment(stimuli: Stimuli, rule: Rule, n_people: int = 30, n_each: int = 60) -> Trials:
    rng = np.random.default_rng(1)
    p = (1 - LAPSE) * rule(dict(stimuli.arrays)) + LAPSE / 3
    trial = np.concatenate(
        [rng.choice(len(stimuli), n_each, replace=False) for _ in range(n_people)]
    )
    response = (rng.random(len(trial))[:, None] > p[trial].cumsum(axis=1)).sum(axis=1)
    return Trials(
        experiment="first",
        stimuli=stimuli,
        participant=np.repeat(np.arange(n_people), n_each),
        trial=trial,
        response=response,
        count=np.ones(len(trial), dtype=np.int64),
        n_options=p.shape[1],
        n_people=n_people,
    )


def language_of(domain: Domain, stimuli: Stimuli, counts: Array) -> OutcomeLanguage:
    found = read_language(domain, dict(stimuli.arrays), counts, has_places=True)
    assert found is not None
    return found


@pytest.mark.parametrize(
    "name",
    [
        "screened",
        "compromise",
        *(
            pytest.param(name, marks=pytest.mark.slow)
            for name in RULES
            if name not in ("screened", "compromise")
        ),
    ],
)
def test_a_rule_over_three_options_is_found_and_predicts_sets_that_nobody_saw(name: str) -> None:
    stimuli, rule = FLATS.space({}), RULES[name]
    seen, unseen = stimuli.take(range(150)), stimuli.take(range(150, len(stimuli)))
    (found,) = induce(FLATS, [experiment(seen, rule)], np.random.default_rng(0))
    program = load(found.source)
    parameters = {
        key: np.full((1, 1), center(prior)) for key, prior in program_priors(found.source)
    }
    p = program.choose(parameters, NamedArrays(unseen.arrays), np)[0]
    truth = (1 - LAPSE) * rule(dict(unseen.arrays)) + LAPSE / 3
    guessing = float(((1 / 3 - truth) ** 2).mean())
    assert float(((p - truth) ** 2).mean()) < min(0.005, 0.1 * guessing)
    assert found.n_terms <= 3


def program_priors(source: str) -> list[tuple[str, dict[str, float]]]:
    names: dict[str, dict[str, dict[str, float]]] = {}
    exec(compile(source, "theory", "exec"), names)
    return list(names["PARAMETERS"].items())


def center(prior: dict[str, float]) -> float:
    return prior["mean"] if "mean" in prior else prior["median"]


@pytest.mark.parametrize("name", ["flats", "offers", "public_goods", "estimation"])
def test_each_term_and_gate_runs_in_a_theory_as_the_search_counted_it(name: str) -> None:
    domain: Domain = FLATS if name == "flats" else DOMAINS[name]
    stimuli = domain.space({}).take(range(40))
    n_outcomes = len(domain.options)
    counts = respond(np.full((40, n_outcomes), 1 / n_outcomes), 20)
    free = stimuli.arrays.get("available", np.ones(counts.shape)) > 0
    language = language_of(domain, stimuli, counts * free)
    search = OutcomeSearch(language, counts * free)
    language = language.grown(partial(search.promise, search.fit(())))
    search = OutcomeSearch(language, counts * free)
    terms = [(term, term % (len(language.gates.items) + 1) - 1) for term in range(len(search.x))]
    terms += [(gate % len(search.x), gate) for gate in range(len(language.gates.items))]
    parameters = {"lapse": np.full((1, 1), LAPSE), "sensitivity": np.ones((1, 1))}
    for term in terms:
        one = OutcomeSum((term,), np.array([0.7]), np.array([0.1]), LAPSE, 0.0, 0.0)
        rule = OutcomeRule((one,), np.ones(1), LAPSE, ParameterSpread(0.0, 0.1))
        source, _ = write_outcomes(rule, language, masked="available" in stimuli.arrays)
        weights = parameters | {"weight_1": np.full((1, 1), 0.7)}
        found = load(source).choose(weights, NamedArrays(stimuli.arrays), np)
        np.testing.assert_allclose(found[0], search.predict(one), atol=1e-5, err_msg=source)


def test_weights_and_lapses_are_those_of_greatest_likelihood() -> None:
    stimuli = FLATS.space({}).take(range(80))
    counts = respond(ideal_size(dict(stimuli.arrays)), 12)
    search = OutcomeSearch(language_of(FLATS, stimuli, counts), counts)
    terms = ((0, -1), (1, -1), (2, 4))
    fitted = search.fit(terms)
    columns, n_terms = search._columns(terms), len(terms)

    def loss(theta: Array) -> float:
        p = softmax(np.einsum("f,ftk->tk", theta[:n_terms], columns))
        q = (1 - theta[-1]) * p + theta[-1] / 3
        return -float((counts * np.log(q)).sum()) + 0.5 * RIDGE * float((theta[:-1] ** 2).sum())

    other = minimize(
        loss, [0.0] * n_terms + [0.05], bounds=[(None, None)] * n_terms + [(0.002, 0.6)]
    )
    assert fitted.log_likelihood == pytest.approx(-other.fun, abs=0.02)
    np.testing.assert_allclose(search._own(fitted), other.x[:-1], atol=0.02)
    assert fitted.lapse == pytest.approx(other.x[-1], abs=0.01)


def test_the_term_that_is_screened_first_is_the_one_that_a_fit_of_each_finds_best() -> None:
    stimuli = FLATS.space({}).take(range(80))
    counts = respond(worst_side(dict(stimuli.arrays)), 12)
    search = OutcomeSearch(language_of(FLATS, stimuli, counts), counts)
    fits = [search.fit(((term, -1),)) for term in range(len(search.x))]
    best_term = max(fits, key=search.worth).terms[0]
    assert best_term in search._screen(search.fit(()), has_gates=True)
    assert (
        search.language.terms.items[best_term[0]].words
        == "take an option whose poorest attribute is better"
    )


def test_code_lengths_of_terms_and_gates_are_those_of_one_probability() -> None:
    stimuli = FLATS.space({})
    counts = np.ones((len(stimuli), 3))
    language = language_of(FLATS, stimuli, counts)
    for table in (language.terms, language.gates):
        assert np.exp(-table.prices).sum() == pytest.approx(1)


def test_a_longer_sum_is_kept_only_if_each_further_term_pays() -> None:
    stimuli = FLATS.space({}).take(range(120))
    counts = respond(ideal_size(dict(stimuli.arrays)), 15)
    search = OutcomeSearch(language_of(FLATS, stimuli, counts), counts)
    path = search.path(6)
    worth = [search.worth(path[size]) for size in sorted(path)]
    assert len(worth) > 1
    assert all(later > earlier for earlier, later in pairwise(worth))


@pytest.mark.parametrize(
    ("noun", "words"),
    [
        ("rent", "a higher rent"),
        ("weeks", "higher weeks"),
        ("contract length", "a higher contract length"),
    ],
)
def test_nouns_have_their_article(noun: str, words: str) -> None:
    assert with_article(noun, "higher") == words
    assert with_article("interest") == "an interest"


def test_a_sum_is_named_after_its_largest_reasons() -> None:
    stimuli = FLATS.space({})
    language = language_of(FLATS, stimuli, np.ones((len(stimuli), 3)))
    numbers = {item.words: k for k, item in enumerate(language.terms.items)}
    rent, light = (
        numbers["take an option with a higher rent"],
        numbers["take an option with a higher light"],
    )
    terms, none = ((light, -1), (rent, -1)), np.zeros(2)
    found = OutcomeSum(terms, np.array([0.5, -0.02]), none, LAPSE, 0.0, 0.0)
    assert title_of(found, language) == "Weighing rent and light"


def test_random_responses_make_no_rule_that_predicts_better_than_chance() -> None:
    stimuli = FLATS.space({})
    trials = experiment(stimuli, lambda flats: np.full(flats["rent"].shape, 1 / 3))
    found = induce(FLATS, [trials], np.random.default_rng(0))
    assert all(item.criterion < -np.log(3) + 0.002 for item in found)


@pytest.mark.slow
def test_places_of_options_mean_nothing_where_they_are_not_known() -> None:
    stimuli = FLATS.space({}).take(range(40))
    first = softmax(np.array([[2.0, 0.0, 0.0]]))
    trials = experiment(stimuli, lambda flats: first + 0 * flats["rent"], n_each=20)
    (known,) = induce(FLATS, [trials], np.random.default_rng(0), least=-np.log(3))
    assert "take the first option" in known.claim
    assert not any(
        "first" in item.claim
        for item in induce(FLATS, [trials], np.random.default_rng(0), has_places=False)
    )


def test_nothing_is_induced_from_times_or_from_trials_of_several_shapes() -> None:
    attention = DOMAINS["attention"]
    stimuli = attention.space({}).take(range(20))
    counts = np.ones((20, len(attention.options)))
    assert read_language(attention, dict(stimuli.arrays), counts, has_places=True) is None
    trials = experiment(FLATS.space({}), worst_side)
    other = {**trials.stimuli.arrays, "extra": np.zeros(len(trials.stimuli))}
    mixed = [trials, replace(trials, experiment="second", stimuli=Stimuli(other))]
    assert induce(FLATS, mixed, np.random.default_rng(0)) == []


@pytest.mark.slow
@pytest.mark.parametrize("name", RULES)
def test_what_is_found_passes_the_checks_of_theories(name: str, sandbox: Sandbox) -> None:
    trials = experiment(FLATS.space({}), RULES[name])
    (found,) = induce(FLATS, [trials], np.random.default_rng(0))
    theory = load_theory(TheoryProgram(found.source, "induction"), FLATS, sandbox)
    assert not theory.learns


DISHES = DeclaredDomain(
    """
name = "dishes"
question = "Which dish do you take?"
options = ["Soup", "Salad", "Curry"]
in_order = true
instructions = ["Choose a dish, day after day."]
[attributes.price]
label = "Price"
kind = "number"
levels = [4, 5, 6, 7, 8, 9]
better = "less"
[attributes.taste]
label = "Taste"
kind = "rating"
levels = [1, 2, 3, 4, 5]
better = "more"
[attributes.money]
label = "In your purse"
kind = "number"
levels = [5, 6, 7, 8]
[space]
dominated = true
"""
    + "".join(
        f"[[space.listed]]\nprice = {prices}\ntaste = {tastes}\nmoney = {[money] * 3}\n"
        for prices, tastes, money in zip(
            np.random.default_rng(5).integers(4, 10, (120, 3)).tolist(),
            np.random.default_rng(6).integers(1, 6, (120, 3)).tolist(),
            np.random.default_rng(7).integers(5, 9, 120).tolist(),
            strict=True,
        )
    )
)


@pytest.mark.slow
def test_options_are_screened_by_a_number_that_all_of_them_share() -> None:
    def payable(dishes: dict[str, Array]) -> Array:
        return even(best(dishes["taste"], dishes["price"] <= dishes["money"]))

    trials = experiment(DISHES.space({}), payable)
    (found,) = induce(DISHES, [trials], np.random.default_rng(0))
    assert (
        "take the option with the highest taste among those with a price of at most the money"
        in found.claim
    )


def never_again(stimuli: Stimuli, n_people: int = 20, n_each: int = 60) -> Trials:
    """Responses of people who take the tastiest of the dishes that they have not taken last."""
    rng = np.random.default_rng(3)
    trial = np.stack([rng.choice(len(stimuli), n_each, replace=False) for _ in range(n_people)])
    response, last = np.zeros(trial.shape, dtype=np.int64), np.zeros((n_people, 3))
    for step, rows in enumerate(trial.T):
        p = (1 - LAPSE) * even(best(stimuli["taste"][rows], last < 1)) + LAPSE / 3
        response[:, step] = (rng.random(n_people)[:, None] > p.cumsum(axis=1)).sum(axis=1)
        last = np.eye(3)[response[:, step]]
    people = np.repeat(np.arange(n_people), n_each)
    count = np.ones(trial.size, dtype=np.int64)
    return Trials(
        "first", stimuli, people, trial.ravel(), response.ravel(), count, 3, n_people=n_people
    )


@pytest.mark.slow
def test_a_rule_about_the_last_choice_is_found_and_remembers_it(sandbox: Sandbox) -> None:
    trials = never_again(DISHES.space({}))
    (found,) = induce(DISHES, [trials], np.random.default_rng(0))
    assert "last choice" in found.claim or "was not chosen last" in found.claim
    theory = load_theory(TheoryProgram(found.source, "induction"), DISHES, sandbox)
    assert theory.learns


def test_what_responses_in_another_order_show_as_well_is_no_memory() -> None:
    trials = never_again(DISHES.space({}))
    rng = np.random.default_rng(4)
    order = np.concatenate([rng.permutation(60) + 60 * person for person in range(20)])
    mixed = replace(trials, trial=trials.trial[order], response=trials.response[order])
    (found,) = induce(DISHES, [mixed], np.random.default_rng(0))
    assert "last" not in found.claim


@pytest.mark.parametrize(
    ("steps", "words"),
    [
        (("with a rent of at most 500", "with the highest size"),
         "take the option with the highest size among those with a rent of at most 500"),
        (("with the lowest rent", "with the highest size"),
         "take the option with the lowest rent, and of equals the one with the highest size"),
        (("without the lowest rent", "with the lowest rent"),
         "take the option with the second lowest rent"),
        (("with a rent of at most 500", "with a size of at least 40"),
         "take an option with a rent of at most 500 and with a size of at least 40"),
    ],
)  # fmt: skip
def test_a_series_of_screens_is_one_phrase(steps: tuple[str, ...], words: str) -> None:
    stimuli = FLATS.space({})
    language = language_of(FLATS, stimuli, np.ones((len(stimuli), 3)))
    by_words = {step.words: step for step in language.steps}
    assert term_of(tuple(by_words[step] for step in steps)).words == words


# -- kinds of participants ---------------------------------------------------------------------------------------------


def cheapest(flats: dict[str, Array]) -> Array:
    return even(best(-flats["rent"], everything(flats["rent"])))


def largest(flats: dict[str, Array]) -> Array:
    return even(best(flats["size"], everything(flats["size"])))


def two_kinds(first: Rule, second: Rule, share: float, seed: int = 1) -> Trials:
    """40 participants, of whom the first ones follow one rule and the others another one."""
    stimuli, rng = FLATS.space({}).take(range(150)), np.random.default_rng(seed)
    p = np.stack([(1 - LAPSE) * rule(dict(stimuli.arrays)) + LAPSE / 3 for rule in (first, second)])
    person = np.repeat(np.arange(40), 50)
    trial = np.concatenate([rng.choice(150, 50, replace=False) for _ in range(40)])
    rows = p[(person >= share * 40).astype(int), trial]
    response = (rng.random(len(trial))[:, None] > rows.cumsum(axis=1)).sum(axis=1)
    ones = np.ones(len(trial), dtype=np.int64)
    return Trials("first", stimuli, person, trial, response, ones, 3, n_people=40)


def search_of(trials: Trials) -> tuple[OutcomeSearch, Responses]:
    read = outcomes.read_responses(FLATS, [trials])
    assert read is not None
    arrays, responses = read
    language = read_language(FLATS, arrays, responses.counts, has_places=False)
    assert language is not None
    return OutcomeSearch(language, responses.counts), responses


def words_of(search: OutcomeSearch, terms: Sequence[tuple[int, int]]) -> list[str]:
    return [search.language.terms.items[term].words for term, _ in terms]


def plain_sum(search: OutcomeSearch) -> OutcomeSum:
    items = search.language.terms.items
    return search.fit(tuple((k, -1) for k, item in enumerate(items) if item.price == 0))


def test_kinds_are_sought_where_participants_differ_more_than_responses_to_one_rule_would() -> None:
    search, responses = search_of(two_kinds(cheapest, largest, 0.4))
    assert search.difference(plain_sum(search), responses) > 3 * outcomes.DIFFERENCE


@pytest.mark.parametrize("seed", range(5))
def test_no_kinds_are_sought_where_participants_differ_by_chance_only(seed: int) -> None:
    search, responses = search_of(two_kinds(ideal_size, ideal_size, 0.4, seed))
    terms = {item.words: k for k, item in enumerate(search.language.terms.items)}
    fitted = search.fit(
        (
            (terms["take an option with a size near 40"], -1),
            (terms["take an option with a higher rent"], -1),
            (terms["take an option with a higher rent, more so at the high end"], -1),
        )
    )
    assert search.difference(fitted, responses) < outcomes.DIFFERENCE


def test_kinds_begin_with_the_two_rules_that_participants_follow() -> None:
    search, responses = search_of(two_kinds(cheapest, largest, 0.4))
    leaders, first = outcomes._best_start(search, responses)
    found = {
        words_of(search, terms)[0]: own
        for terms, own in zip(leaders, (first, 1 - first), strict=True)
    }
    assert set(found) == {
        "take the option with the lowest rent",
        "take the option with the highest size",
    }
    belongs = found["take the option with the lowest rent"]
    assert (belongs[:16] > 0.99).all()
    assert (belongs[16:] < 0.01).all()


def test_the_share_of_a_kind_is_the_mean_probability_of_belonging_to_it() -> None:
    search, responses = search_of(two_kinds(cheapest, largest, 0.3))
    leaders, first = outcomes._best_start(search, responses)
    kinds = tuple(
        search.with_counts(responses.weighed(own).counts).fit(terms)
        for terms, own in zip(leaders, (first, 1 - first), strict=True)
    )
    belongs = outcomes._belonging(search, kinds, np.full(40, 0.5), responses)
    one, two = (responses.log_likelihoods(search.predict(item)) for item in kinds)
    np.testing.assert_allclose(belongs, 1 / (1 + np.exp(two - one)), atol=1e-6)
    shares = np.array([belongs.mean(), 1 - belongs.mean()])
    assert sorted(shares) == pytest.approx([0.3, 0.7], abs=0.01)
    rule = outcomes.rule_of(search, kinds, shares, responses)
    assert rule.price == sum(item.price for item in kinds)
    assert rule.shares.sum() == pytest.approx(1)


def test_one_rule_that_is_followed_more_or_less_strictly_is_one_kind() -> None:
    def sum_of(*terms: tuple[int, float]) -> OutcomeSum:
        weights = np.array([weight for _, weight in terms])
        chosen = tuple((term, -1) for term, _ in terms)
        return OutcomeSum(chosen, weights, 0 * weights, LAPSE, 0.0, 0.0)

    assert not outcomes.are_different((sum_of((1, 0.5)), sum_of((1, 3.0))))
    assert not outcomes.are_different((sum_of((1, 0.5)), sum_of((1, 3.0), (2, 0.1))))
    assert outcomes.are_different((sum_of((1, 0.5)), sum_of((1, -0.5))))
    assert outcomes.are_different((sum_of((1, 0.5)), sum_of((2, 0.5))))


@pytest.mark.slow
def test_a_few_participants_who_respond_at_random_are_no_kind() -> None:
    trials = two_kinds(lambda flats: np.full(flats["rent"].shape, 1 / 3), cheapest, 0.05)
    found = induce(FLATS, [trials], np.random.default_rng(0))
    assert found
    assert all(item.kind != outcomes.KINDS for item in found)


def test_two_kinds_are_written_as_a_claim_about_shares_and_each_follows_its_own_sum() -> None:
    search, responses = search_of(two_kinds(cheapest, largest, 0.4))
    leaders, first = outcomes._best_start(search, responses)
    kinds = tuple(
        search.with_counts(responses.weighed(own).counts).fit(terms)
        for terms, own in zip(leaders, (first, 1 - first), strict=True)
    )
    shares = np.array([first.mean(), 1 - first.mean()])
    rule = OutcomeRule(kinds, shares, LAPSE, ParameterSpread(0.0, 0.02))
    source, claim = write_outcomes(rule, search.language, masked=False)
    one, two = (words_of(search, item.terms)[0] for item in kinds)
    share, stimuli = f"{100 * shares[0]:.0f}%", FLATS.space({}).take(range(150))
    assert claim == f"some people (about {share}) tend to {one}, and the others tend to {two}."
    priors = dict(program_priors(source))
    assert priors["weight_1"].get("low") == 0 or priors["weight_1"].get("high") == 0
    for disposition, own in ((1.0, kinds[0]), (-1.0, kinds[1])):
        at = {name: np.full((1, 1), center(prior)) for name, prior in priors.items()}
        at |= {"disposition": np.full((1, 1), disposition), "sensitivity": np.ones((1, 1))}
        p = load(source).choose(at, NamedArrays(stimuli.arrays), np)[0]
        wanted = search.predict(replace(own, lapse=LAPSE))
        np.testing.assert_allclose(p, wanted, atol=2e-3)


def test_a_sum_also_begins_with_one_rule_where_a_gate_is_open_and_another_one_elsewhere() -> None:
    def cheap_if_far_apart(flats: dict[str, Array]) -> Array:
        far = np.ptp(flats["rent"], axis=1, keepdims=True) > 250
        return np.where(far, cheapest(flats), largest(flats))

    search, _ = search_of(two_kinds(cheap_if_far_apart, cheap_if_far_apart, 0.4))
    found = {
        search.language.gates.items[gate].words: search.language.terms.items[term].words
        for term, gate in search._divided(search.fit(()))
    }
    assert found == {
        "the options differ by at least 300 in rent": "take the option with the lowest rent",
        "the options differ by at most 200 in rent": "take the option with the highest size",
    }


def test_a_sum_also_begins_with_another_sum_where_a_gate_is_open() -> None:
    def roomy_and_cheap_if_far_apart(flats: dict[str, Array]) -> Array:
        far = np.ptp(flats["rent"], axis=1, keepdims=True) > 250
        both = softmax(0.15 * flats["size"] - 0.015 * flats["rent"] + 1.5 * flats["light"])
        return np.where(far, both, cheapest(flats))

    search, _ = search_of(two_kinds(roomy_and_cheap_if_far_apart, roomy_and_cheap_if_far_apart, 0))
    now = plain_sum(search)
    by_gate: dict[str, list[str]] = {}
    for term, gate in search._divided(now):
        words = search.language.terms.items[term].words
        by_gate.setdefault(search.language.gates.items[gate].words, []).append(words)
    assert by_gate == {
        "the options differ by at least 300 in rent": words_of(search, now.terms),
        "the options differ by at most 200 in rent": ["take the option with the lowest rent"],
    }


@pytest.mark.slow
def test_two_kinds_of_participants_are_found_where_there_are_two(sandbox: Sandbox) -> None:
    trials = two_kinds(screened, cheapest, 0.6)
    found = induce(FLATS, [trials], np.random.default_rng(0))
    assert [item.kind == outcomes.KINDS for item in found] == [True, False]
    assert "some people (about 60%)" in found[0].claim
    assert "take the option with the highest light among those with" in found[0].claim
    assert "others tend to take the option with the lowest rent" in found[0].claim
    load_theory(TheoryProgram(found[0].source, "induction"), FLATS, sandbox)
    # Where one rule is not good enough, two may be.
    between = 0.5 * (found[0].criterion + found[1].criterion)
    alone = induce(FLATS, [trials], np.random.default_rng(0), least=between)
    assert [item.kind for item in alone] == [outcomes.KINDS]


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_one_kind_of_participants_is_found_where_there_is_one(seed: int) -> None:
    trials = two_kinds(worst_side, worst_side, 0.5, seed)
    found = induce(FLATS, [trials], np.random.default_rng(0))
    assert [item.kind for item in found] == ["weighed reasons"]
