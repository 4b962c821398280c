"""Rules of elementary terms: what they are made of, how they are found, and the theories written from them."""

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from scipy.special import expit, logit

from lakatos.domains import DOMAINS
from lakatos.domains.games.task import GamesDomain
from lakatos.domains.intertemporal.task import IntertemporalDomain
from lakatos.domains.multiattribute.task import MultiattributeDomain
from lakatos.domains.risky.space import pairs
from lakatos.domains.risky.task import RiskyDomain
from lakatos.experiments.task import Stimuli, Trials
from lakatos.theories.discovery.induction import induce as induction
from lakatos.theories.discovery.induction import rule_fit
from lakatos.theories.discovery.induction.additive import RIDGE, AdditiveSearch, GatedLead
from lakatos.theories.discovery.induction.combination import with_combinations
from lakatos.theories.discovery.induction.induce import induce, looks_back
from lakatos.theories.discovery.induction.kernel import logarithms, scores_of_leaves
from lakatos.theories.discovery.induction.library import (
    namespace,
    shortest_prelude,
    values,
    vocabulary,
)
from lakatos.theories.discovery.induction.mixture import find_mixture
from lakatos.theories.discovery.induction.pace import InductionPace
from lakatos.theories.discovery.induction.past import depends_on_past, shuffled
from lakatos.theories.discovery.induction.past_gates import past_gates
from lakatos.theories.discovery.induction.past_terms import kept_leads, past_leads
from lakatos.theories.discovery.induction.source import TreeBranch, shared_error, weighed_clause
from lakatos.theories.discovery.induction.terms import (
    ChoiceTerm,
    TermTable,
    finer,
    gates,
    leads,
    read_answers,
    roundest,
    signs,
)
from lakatos.theories.discovery.induction.tree import (
    ConstantLeaf,
    LeadLeaf,
    SplitNode,
    TreeSearch,
    log_likelihood,
    predict,
    size_of,
)
from lakatos.theories.engine.checks.check import load_theory
from lakatos.theories.engine.checks.complexity import why_unreadable
from lakatos.theories.engine.running.sequence import follow
from lakatos.theories.language.account import tell_clause
from lakatos.theories.language.prior import parse_prior
from lakatos.theories.language.theory import TheoryProgram, read_program

DOMAIN = MultiattributeDomain()
SPACE = {"validities": [0.9, 0.8, 0.7], "levels": [0, 1, 2]}
SPACES = {
    "multiattribute": SPACE,
    "risky": {"n_outcomes": 3, "losses": True},
    "intertemporal": {"losses": True},
    "games": {"n_games": 60},
}


def some_trials(n, seed):
    """Random pairs, each product on either side."""
    rng = np.random.default_rng(seed)
    stimuli = DOMAIN.candidates(SPACE, rng, n)
    swap = rng.random(len(stimuli))[:, None, None] < 0.5
    ratings = np.where(swap, stimuli["ratings"][:, ::-1], stimuli["ratings"])
    return Stimuli(dict(stimuli.arrays) | {"ratings": ratings})


def answer(rule, n_trials=40, n_people=10, seed=0, noise=0.0, name="first"):
    """People who follow ``rule(a, b, last_side)``, 1 for B, on random trials shown twice."""
    rng = np.random.default_rng(seed)
    stimuli = some_trials(n_trials, seed)
    order = rng.permuted(np.tile(np.arange(n_trials), (n_people, 2)), axis=1)
    response = np.zeros_like(order)
    for person in range(n_people):
        last = 0
        for step, trial in enumerate(order[person]):
            p = (1 - noise) * rule(*stimuli["ratings"][trial], last) + noise / 2
            response[person, step] = rng.random() < p
            last = 2 * response[person, step] - 1
    n_rows = order.size
    person = np.repeat(np.arange(n_people), order.shape[1])
    return Trials(
        name, stimuli, person, order.ravel(), response.ravel(), np.ones(n_rows, dtype=np.int64)
    )


def by(score):
    """A rule that follows a score and guesses where it is tied."""
    return lambda a, b, last: 0.5 + 0.5 * np.sign(score(b) - score(a))


def spared_of_zeros(a, b, last):
    """Refuse a product with a 0 on one of the first two cues, else take the smaller total."""
    lead = float(b[:2].min() > 0) - float(a[:2].min() > 0) or np.sign(a.sum() - b.sum())
    return 0.5 + 0.5 * lead


def odd_total(product):
    return product.sum() % 2


def alternate(a, b, last):
    return 0.5 if last == 0 else float(last < 0)


def on_the_space(sandbox, found, rule):
    """Mean squared error of a theory without memory and lapses on trials that nobody was shown."""
    stimuli = some_trials(300, 99)
    theory = load_theory(TheoryProgram(found.source, "induction"), DOMAIN, sandbox)
    assert not theory.learns
    (p,) = sandbox.probabilities(found.source, theory.population(32, lapse=False), [stimuli.arrays])
    truth = [rule(a, b, 0) for a, b in stimuli["ratings"]]
    return np.mean((p.mean(axis=0)[:, 1] - truth) ** 2)


class TestLibrary:
    def test_lexicographic_score_is_take_the_best(self):
        stimuli = some_trials(100, 1)
        words = vocabulary(DOMAINS["multiattribute"], [stimuli])
        (score,) = [
            s.code for s in words.scores if s.words == "rating on the most valid cue that differs"
        ]
        (found,) = values(words, [score], stimuli)
        expected = []
        for a, b in stimuli["ratings"]:
            cue = np.flatnonzero(a != b)[0]
            expected.append(np.sign(b[cue] - a[cue]))
        np.testing.assert_array_equal(np.sign(found[:, 1] - found[:, 0]), expected)

    def test_cues_are_taken_in_the_order_of_their_validity(self):
        ratings = np.array([[[0.0, 3.0, 1.0], [2.0, 1.0, 0.0]]])
        stimuli = Stimuli(
            {
                "ratings": ratings,
                "validities": np.array([[0.6, 0.9, 0.9]]),
                "rating_max": np.array([3.0]),
            }
        )
        words = vocabulary(DOMAINS["multiattribute"], [stimuli])
        found = values(words, ["cue(x, 0)", "cue(x, 1)", "cue(x, 2)", "cue(x, 3)"], stimuli)
        np.testing.assert_array_equal(np.concatenate(found), [[3, 1], [1, 0], [0, 2], [0, 0]])

    @pytest.mark.parametrize("name", ["multiattribute", "risky", "intertemporal", "games"])
    def test_every_score_is_a_finite_pair_on_every_probe(self, name):
        rng = np.random.default_rng(0)
        probes = DOMAINS[name].probes(rng)
        words = vocabulary(DOMAINS[name], [DOMAINS[name].candidates(SPACES[name], rng, 20)])
        for probe in probes:
            for found in values(words, [score.code for score in words.scores], probe):
                assert found.shape == (len(probe), 2)
                assert np.isfinite(found).all()

    @pytest.mark.parametrize("name", ["multiattribute", "risky", "intertemporal", "games"])
    def test_codes_and_words_name_one_score_each(self, name):
        words = vocabulary(
            DOMAINS[name], [DOMAINS[name].candidates(SPACES[name], np.random.default_rng(0), 20)]
        )
        assert len({score.code for score in words.scores}) == len(words.scores)
        assert len({score.words for score in words.scores}) == len(words.scores)

    @pytest.mark.parametrize("name", ["multiattribute", "risky", "intertemporal", "games"])
    def test_exchanging_the_options_turns_every_lead_round(self, name):
        domain = DOMAINS[name]
        stimuli = domain.candidates(SPACES[name], np.random.default_rng(0), 50)
        words = vocabulary(DOMAINS[name], [stimuli])
        codes = [score.code for score in words.scores]
        shown, swapped = (
            np.array(values(words, codes, item)) for item in (stimuli, domain.swap_sides(stimuli))
        )
        np.testing.assert_allclose(shown, swapped[..., ::-1])

    def test_value_by_rank_is_that_of_cumulative_prospect_theory(self):
        stimuli = pairs([([(0, 0.2), (10, 0.3), (40, 0.5)], [(3, 1)])])
        words = vocabulary(DOMAINS["risky"], [stimuli])
        (code,) = [
            score.code
            for score in words.scores
            if score.words == "rank-dependent value (curvature 0.6)"
        ]

        def weight(p):
            return p**0.6 / (p**0.6 + (1 - p) ** 0.6) ** (1 / 0.6)

        (found,) = values(words, [code], stimuli)
        gamble = 40 * weight(0.5) + 10 * (weight(0.8) - weight(0.5))
        np.testing.assert_allclose(found, [[gamble, 3]], rtol=1e-3)


def walk(term, answers, shown):
    """``(n_rows,)`` of a term by its own text, person by person, as a theory would; ``shown`` on each row."""
    names = [f"score_{place}" for place in range(len(term.scores))]
    memory = {entry.name.format(*names): entry for entry in term.memory}
    found = np.zeros(len(answers.trial))
    after: dict[str, np.ndarray] = {}
    for row in range(len(answers.trial)):
        space = dict(shown[row])
        space |= {
            name: eval(score.code, space) for name, score in zip(names, term.scores, strict=True)
        }
        space["nothing"] = np.zeros((1, 1))
        if answers.previous[row] < 0:
            space["state"] = {name: eval(entry.start, space) for name, entry in memory.items()}
        else:
            space["state"] = after
        found[row] = np.asarray(eval(term.code.format(*names), space)).item()
        space["response"] = np.eye(2)[answers.response[row]][None, None]
        after = {name: eval(entry.renewed.format(*names), space) for name, entry in memory.items()}
    return found


class TestTerms:
    def test_past_is_that_of_the_same_person_and_experiment(self):
        data = [
            answer(by(np.sum), n_trials=15, n_people=3, seed=seed, name=str(seed))
            for seed in (1, 2)
        ]
        answers = read_answers(DOMAIN, data)
        own = past_leads(answers, leads(answers).take([]))
        expected = []
        for item in data:
            sides = 2 * item.sequences.response - 1
            expected.append(np.concatenate([np.zeros((3, 1)), sides[:, :-1]], axis=1).ravel())
        np.testing.assert_array_equal(own.values[0], np.concatenate(expected))

    def test_what_is_remembered_of_all_choices_is_what_one_would_count(self):
        answers = read_answers(DOMAIN, [answer(by(np.sum), n_trials=15, n_people=3)])
        own = past_leads(answers, leads(answers).take([]))
        divided = past_gates(answers, leads(answers).take([]))
        rows = {term.words: row for row, term in enumerate(own.items)}
        balance, habit = (
            own.values[rows[f"repeat the side chosen more often {when}"]].reshape(3, -1)
            for when in ("so far", "of late")
        )
        (run,) = [
            divided.values[row].reshape(3, -1)
            for row, term in enumerate(divided.items)
            if term.words == "one side was chosen more than 2 times in a row"
        ]
        for person, sides in enumerate(2 * answers.response.reshape(3, -1) - 1):
            for step in range(len(sides)):
                assert balance[person, step] == sides[:step].sum()
                fading = 0.3 * 0.7 ** np.arange(step)[::-1]
                assert habit[person, step] == pytest.approx(fading @ sides[:step], abs=1e-6)
                assert run[person, step] == (step > 2 and abs(sides[step - 3 : step].sum()) == 3)

    @pytest.mark.slow
    def test_the_text_of_every_term_of_the_past_says_what_the_search_saw(self):
        data = answer(by(np.sum), n_trials=10, n_people=2)
        answers = read_answers(DOMAIN, [data])
        shown = [
            namespace(answers.vocabulary, data.stimuli.take([trial])) for trial in answers.trial
        ]
        basic = [k for k, score in enumerate(answers.vocabulary.scores) if score.is_basic]
        of = leads(answers).take(basic)
        for terms in (past_leads(answers, of), past_gates(answers, of)):
            walked = np.array([walk(term, answers, shown) for term in terms.items])
            np.testing.assert_allclose(walked, terms.values, rtol=1e-5, atol=1e-5)

    @pytest.mark.parametrize("name", ["risky", "intertemporal"])
    def test_the_text_of_what_was_taken_before_says_what_the_search_saw_in_other_domains(
        self, name
    ):
        domain = DOMAINS[name]
        stimuli = domain.candidates(SPACES[name], np.random.default_rng(0), 10)
        rows = np.arange(20)
        data = Trials(
            name, stimuli, rows // 10, rows % 10, rows // 3 % 2, np.ones(20, dtype=np.int64)
        )
        answers = read_answers(domain, [data])
        shown = [namespace(answers.vocabulary, stimuli.take([trial])) for trial in answers.trial]
        terms = kept_leads(answers, leads(answers))
        assert len(terms.items) > 20
        walked = np.array([walk(term, answers, shown) for term in terms.items])
        np.testing.assert_allclose(walked, terms.values, rtol=1e-5, atol=1e-5)

    def test_sums_since_a_choice_of_the_other_kind_begin_anew(self):
        data = answer(by(np.sum), n_trials=20, n_people=2)
        answers = read_answers(DOMAIN, [data])
        (place,) = [
            k
            for k, score in enumerate(answers.vocabulary.scores)
            if score.words == "total of the ratings"
        ]
        divided = past_gates(answers, leads(answers).take([place]))
        words = "choices of the greater total of the ratings have won more than "
        cuts = {
            float(term.words.removeprefix(words).split(" ")[0]): row
            for row, term in enumerate(divided.items)
            if term.words.startswith(words)
        }
        assert len(cuts) > 2
        total = data.stimuli["ratings"].sum(axis=-1)
        sequences = data.sequences
        for person in range(2):
            won = 0.0
            for step, (trial, choice) in enumerate(
                zip(sequences.trial[person], sequences.response[person], strict=True)
            ):
                for cut, row in cuts.items():
                    assert divided.values[row].reshape(2, -1)[person, step] == (won > cut)
                ahead = total[trial, choice] - total[trial, 1 - choice]
                won = 0.0 if ahead < 0 else won + abs(ahead)

    @pytest.mark.parametrize(
        ("low", "high", "cut"),
        [
            (5, 6, 5.5),
            (4.6, 5.2, 5),
            (0, 1, 0.5),
            (-1, 1, 0),
            (1.0499, 1.0501, 1.05),
            (7, 14, 10),
            (0.12, 0.19, 0.15),
        ],
    )
    def test_a_threshold_is_the_roundest_number_between(self, low, high, cut):
        assert roundest(low, high) == cut

    def test_a_division_by_a_property_names_who_has_it_and_nothing_higher(self):
        stimuli = GamesDomain().candidates({}, np.random.default_rng(1), 60)
        rows = np.arange(60)
        data = Trials("games", stimuli, 0 * rows, rows, rows % 2, np.ones(60, dtype=np.int64))
        words = [term.words for term in gates(read_answers(GamesDomain(), [data])).items]
        best = "the product with the higher minimum payoff is"
        assert f"{best} also the one with the cell with the largest joint payoff" in words
        assert not [text for text in words if "er the cell" in text]

    def test_a_threshold_among_few_is_refined_among_its_neighbours(self):
        rng = np.random.default_rng(4)
        stimuli = RiskyDomain().candidates({}, rng, 200)
        rows = np.arange(200)
        data = Trials("risky", stimuli, 0 * rows, rows, rows % 2, np.ones(200, dtype=np.int64))
        answers = read_answers(RiskyDomain(), [data])
        divisions = gates(answers)
        first, last = "the products differ by more than ", " in their expected value"
        (*_, coarse) = [
            row
            for row, term in enumerate(divisions.items)
            if term.words.startswith(first) and term.words.endswith(last)
        ]
        fine = finer(answers, divisions.take([coarse]))
        cuts = [float(term.code.rpartition(" > ")[2]) for term in fine.items]
        mean = (stimuli["outcomes"] * stimuli["probabilities"]).sum(axis=-1)
        gap = np.abs(mean[:, 1] - mean[:, 0])
        assert len(cuts) > 10
        for cut, column in zip(cuts, fine.values, strict=True):
            np.testing.assert_array_equal(column, gap > cut)
        shares = np.sort(fine.values.sum(axis=1))
        assert np.all(np.diff(shares) <= 2)

    def test_a_score_that_weighs_two_others_is_made_where_people_go_by_it(self):
        def rule(product):
            return (product == 2).sum() - 2 * (product == 0).sum()

        answers = read_answers(DOMAIN, [answer(by(rule), n_trials=60)])
        longer = with_combinations(answers, gates(answers).take([]))
        found = {score.words: row for row, score in enumerate(longer.vocabulary.scores)}
        row = found["number of ratings of 0, minus 0.5 times the number of ratings of 2"]
        ratings = some_trials(60, 0)["ratings"]
        expected = [[-0.5 * rule(product) for product in trial] for trial in ratings]
        np.testing.assert_allclose(longer.scores[row], expected)
        (evaluated,) = values(
            longer.vocabulary, [longer.vocabulary.scores[row].code], some_trials(60, 0)
        )
        np.testing.assert_allclose(evaluated, expected)

    def test_what_an_option_is_worth_may_hang_on_a_property_of_it(self):
        def rule(product):
            return product[0] if product[1:].max() >= product[0] else product.min()

        answers = read_answers(DOMAIN, [answer(by(rule), n_trials=60)])
        longer = with_combinations(answers, gates(answers).take([]))
        found = {score.words: row for row, score in enumerate(longer.vocabulary.scores)}
        condition = "being rated at least as high on another cue as on the most valid cue"
        row = found[f"rating on the most valid cue ({condition}; otherwise the lowest rating)"]
        expected = [[rule(product) for product in trial] for trial in some_trials(60, 0)["ratings"]]
        np.testing.assert_allclose(longer.scores[row], expected)
        (evaluated,) = values(
            longer.vocabulary, [longer.vocabulary.scores[row].code], some_trials(60, 0)
        )
        np.testing.assert_allclose(evaluated, expected)

    def test_the_commonest_rating_is_the_higher_one_of_several(self):
        ratings = np.array([[[0, 0, 2, 1], [2, 2, 1, 1]]])
        stimuli = Stimuli(
            {
                "ratings": ratings,
                "validities": np.array([[0.9, 0.8, 0.7, 0.6]]),
                "rating_max": np.array([2.0]),
            }
        )
        words = vocabulary(DOMAINS["multiattribute"], [stimuli])
        codes = {score.words: score.code for score in words.scores}
        found = values(
            words, [codes["commonest rating"], codes["number of cues that agree"]], stimuli
        )
        np.testing.assert_array_equal(found, [[[0, 2]], [[2, 2]]])

    def test_chances_can_be_taken_as_never_perhaps_and_surely(self):
        stimuli = Stimuli(
            {
                "outcomes": np.array([[[10.0, 20.0, 0.0], [100.0, 4.0, 0.0]]]),
                "probabilities": np.array([[[0.5, 0.5, 0.0], [0.1, 0.9, 0.0]]]),
            }
        )
        words = vocabulary(DOMAINS["risky"], [stimuli])
        codes = {score.words: score.code for score in words.scores}
        wanted = (
            "value with probabilities rounded to 0 (below 0.2), a half or 1 (above 0.8)",
            "probability of at least 0.25 of the largest amount presented",
        )
        found = values(words, [codes[name] for name in wanted], stimuli)
        np.testing.assert_allclose(found, [[[15, 4]], [[0, 0.1]]])

    def test_terms_that_say_the_same_are_kept_once_and_the_cheapest(self):
        answers = read_answers(DOMAIN, [answer(by(np.sum))])
        for terms in (signs(leads(answers)), gates(answers)):
            columns = {column.tobytes() for column in terms.values}
            assert len(columns) == len(terms.items)
        words = [term.words for term in signs(leads(answers)).items]
        assert "take the product with the larger total of the ratings" in words


class TestTree:
    def test_root_is_the_best_of_all_divisions_tried_one_by_one(self):
        rng = np.random.default_rng(3)
        n_cells = 30
        lead = TermTable(
            tuple(ChoiceTerm(f"l{k}", "", 1.0 + k / 10) for k in range(4)),
            rng.integers(-1, 2, (4, n_cells)).astype(np.float32),
        )
        gate = TermTable(
            tuple(ChoiceTerm(f"g{k}", "", 2.0 + k / 10) for k in range(5)),
            rng.integers(0, 2, (5, n_cells)).astype(np.float32),
        )
        truth = np.where(gate.values[2] > 0, lead.values[1], -lead.values[3])
        counts = np.stack([rng.binomial(20, 0.5 - 0.4 * truth), np.zeros(n_cells)], axis=1)
        counts[:, 1] = 20 - counts[:, 0]
        parameter = 0.5 * np.log(counts.sum())

        def constant(inside):
            a, b = counts[inside].sum(axis=0)
            fitted = log_likelihood(np.array(a), np.array(b)) - parameter - 3.0
            return max(fitted, -(a + b) * np.log(2))

        def leaf(inside):
            found = [constant(inside)]
            for k in range(4):
                sign = lead.values[k]
                agree = counts[inside & (sign > 0), 1].sum() + counts[inside & (sign < 0), 0].sum()
                other = counts[inside & (sign > 0), 0].sum() + counts[inside & (sign < 0), 1].sum()
                score = log_likelihood(np.array(agree), np.array(other)) + constant(
                    inside & (sign == 0)
                )
                found.append(score - parameter - lead.items[k].price)
            return max(found)

        by_hand = [
            leaf(gate.values[g] > 0) + leaf(gate.values[g] == 0) - gate.items[g].price
            for g in range(len(gate.items))
        ]
        best = TreeSearch(lead, gate, counts).grow(3)[3]
        assert best.score == pytest.approx(max(by_hand), abs=1e-3)
        assert isinstance(best.node, SplitNode)
        assert best.node.gate == int(np.argmax(by_hand)) == 2

    def test_score_of_every_tree_grown_is_the_sum_over_its_branches(self):
        answers = read_answers(DOMAIN, [answer(spared_of_zeros, noise=0.2)])
        search = TreeSearch(signs(leads(answers)), gates(answers), answers.counts)
        for grown in search.grow().values():
            fitted = search.fitted(grown.node, np.ones(len(search.b), dtype=bool))
            assert fitted.score == pytest.approx(grown.score, abs=1e-2)
            assert (fitted.size, size_of(fitted.node)) == (grown.size, grown.size)

    def test_a_tree_with_the_wrong_gate_and_the_wrong_lead_is_mended(self):
        rng = np.random.default_rng(4)
        lead, gate = (
            rng.choice([-1, 0, 1], (12, 400)).astype(np.float32),
            rng.integers(0, 2, (9, 400)).astype(np.float32),
        )
        truth = SplitNode(
            3,
            SplitNode(
                5, LeadLeaf(1, 0.95, ConstantLeaf(0.5)), LeadLeaf(2, 0.95, ConstantLeaf(0.5))
            ),
            LeadLeaf(4, 0.9, ConstantLeaf(0.5)),
        )
        n_b = rng.binomial(25, predict(truth, lead, gate))
        items = [ChoiceTerm(str(k), "", 1.0) for k in range(12)]
        search = TreeSearch(
            TermTable((*items,), lead),
            TermTable((*items[:9],), gate),
            np.stack([25 - n_b, n_b], axis=1),
        )
        everywhere = np.ones(400, dtype=bool)
        right = search.fitted(truth, everywhere)
        for wrong in (
            replace(truth, gate=7),
            replace(truth, no=LeadLeaf(9, 0.9, ConstantLeaf(0.5))),
        ):
            start = search.fitted(wrong, everywhere)
            mended = search._mended(start, everywhere, 7)
            assert start.score < right.score - 100
            assert mended.node == right.node
            assert mended.score == right.score

    def test_prediction_goes_down_the_chain(self):
        node = SplitNode(
            0, ConstantLeaf(0.9), LeadLeaf(0, 0.8, LeadLeaf(1, 0.0, ConstantLeaf(0.5)))
        )
        lead = np.array([[1, 1, -1, 0, 0, 0], [0, 0, 0, 1, -1, 0]], dtype=np.float32)
        gate = np.array([[1, 0, 0, 0, 0, 0]], dtype=np.float32)
        np.testing.assert_allclose(predict(node, lead, gate), [0.9, 0.8, 0.2, 0.0, 1.0, 0.5])


class TestAdditive:
    def test_one_term_has_the_log_odds_of_those_who_follow_it(self):
        column = np.array([[1, -1, 1, -1]], dtype=np.float32)
        counts = np.array([[20, 80], [80, 20], [30, 70], [70, 30]], dtype=float)
        none = TermTable((), np.zeros((0, 4), dtype=np.float32))
        (fitted,) = AdditiveSearch(
            TermTable((ChoiceTerm("l", "", 1.0),), column), none, counts, 0.0
        ).path(3)
        assert fitted.weights[0] == pytest.approx(logit(0.75), rel=1e-3)
        assert fitted.errors[0] == pytest.approx(1 / np.sqrt(400 * 0.75 * 0.25), rel=1e-2)

    @pytest.mark.statistical
    def test_weights_are_recovered_within_their_errors(self):
        rng = np.random.default_rng(5)
        x = rng.normal(size=(6, 200)).astype(np.float32)
        p = 0.9 * expit(1.5 * x[1] - 0.8 * x[4]) + 0.05
        b = rng.binomial(100, p)
        terms = TermTable(tuple(ChoiceTerm(f"x{k}", "", 2.0) for k in range(6)), x)
        none = TermTable((), np.zeros((0, 200), dtype=np.float32))
        last = AdditiveSearch(terms, none, np.stack([100.0 - b, b], axis=1), 0.1).path(6)[-1]
        assert [term.lead for term in last.terms] == [1, 4]
        assert np.all(np.abs(last.weights - [1.5, -0.8]) < 4 * last.errors)

    @pytest.mark.statistical
    def test_a_blend_that_enters_first_gives_way_to_what_it_is_made_of(self):
        rng = np.random.default_rng(6)
        x = rng.normal(size=(5, 200))
        x[3] = x[0] + x[1] + 0.3 * rng.normal(size=200)
        p = expit(1.5 * x[0] + 1.4 * x[1])
        b = rng.binomial(100, p)
        terms = TermTable(
            tuple(ChoiceTerm(f"x{k}", "", 2.0) for k in range(5)), x.astype(np.float32)
        )
        none = TermTable((), np.zeros((0, 200), dtype=np.float32))
        one, two, *_ = AdditiveSearch(terms, none, np.stack([100.0 - b, b], axis=1), 0.002).path(6)
        assert [term.lead for term in one.terms] == [3]
        assert {term.lead for term in two.terms} == {0, 1}


class TestMixture:
    def test_two_kinds_of_people_and_their_share(self):
        rng = np.random.default_rng(7)
        lead = rng.choice([-1, 1], size=(8, 40)).astype(np.float32)
        kind = np.arange(50) < 30
        side = np.where(kind[:, None], lead[2], -lead[5])
        counts = np.stack([side < 0, side > 0], axis=2) * 2.0
        found = find_mixture(
            TermTable(tuple(ChoiceTerm(f"l{k}", "", 1.0) for k in range(8)), lead), counts
        )
        kinds = {
            (item.lead, item.sign): share
            for item, share in zip(found.kinds, (found.share, 1 - found.share), strict=True)
        }
        assert kinds == {
            (2, 1): pytest.approx(0.6, abs=0.01),
            (5, -1): pytest.approx(0.4, abs=0.01),
        }


class TestLapses:
    def test_branches_as_sure_as_each_other_share_their_errors_and_others_do_not(self):
        error, largest = shared_error(
            [TreeBranch(880, 120), TreeBranch(350, 50), TreeBranch(60, 40)]
        )
        assert error == pytest.approx(170 / 1400)
        assert largest == pytest.approx(50 / 400)


def test_pace_tells_which_share_of_the_work_is_done_and_the_best_so_far():
    told = []
    pace = InductionPace("fits", (1.0, 1.0, 8.0), lambda *said: told.append(said))
    pace.step()
    pace.find(-0.5)
    pace.find(-0.7)
    pace.go_to(3)
    assert told == [("fits", 1, 3, -np.inf, 0.1), ("fits", 3, 3, -0.5, 1.0)]
    InductionPace("fits", (1.0,)).step()


class TestInduce:
    @pytest.mark.slow
    def test_says_how_far_it_is_and_finds_the_same(self):
        data = [answer(by(np.sum), noise=0.4)]
        told = []
        found = induce(
            DOMAIN, data, np.random.default_rng(0), report=lambda *said: told.append(said)
        )
        assert found == induce(DOMAIN, data, np.random.default_rng(0))
        for what in ("steps towards a language of rules", "fits of rules"):
            own = [said for said in told if said[0] == what]
            done, planned = [said[1] for said in own], {said[2] for said in own}
            assert done == sorted(done)
            assert {done[-1]} == planned
            assert [said[4] for said in own][-1] == 1.0
        assert told[-1][3] == pytest.approx(max(item.criterion for item in found))

    @pytest.mark.slow
    def test_finds_a_contrarian_rule_with_a_veto_and_writes_it(self, sandbox):
        data = [answer(spared_of_zeros, seed=seed, name=str(seed)) for seed in (1, 2)]
        found = induce(DOMAIN, data, np.random.default_rng(0))
        assert found[0].kind == "rule list"
        assert on_the_space(sandbox, found[0], spared_of_zeros) < 0.0013
        written = read_program(TheoryProgram(found[0].source, "induction"))
        assert why_unreadable(written) == ""
        assert "smaller total" in found[0].claim
        assert len({item.kind for item in found}) == len(found) <= 3

    @pytest.mark.slow
    def test_finds_parity_under_random_choices(self, sandbox):
        rule = by(odd_total)
        found = induce(DOMAIN, [answer(rule, noise=0.4)], np.random.default_rng(0), n_most=1)
        assert len(found) == 1
        assert on_the_space(sandbox, found[0], rule) < 0.0013

    @pytest.mark.slow
    def test_finds_alternation_and_tells_it_step_by_step(self, sandbox):
        (best, *_) = induce(DOMAIN, [answer(alternate, noise=0.2)], np.random.default_rng(0))
        assert best.kind.endswith("with memory")
        theory = load_theory(TheoryProgram(best.source, "induction"), DOMAIN, sandbox)
        new = answer(alternate, seed=9, n_people=4)
        with sandbox.open_session(best.source, [], n_options=2) as session:
            own = follow(session, DOMAIN, theory.population(16, lapse=False), new).own[..., 1]
        expected = 0.5 - 0.5 * (2.0 * new.sequences.response[:, :-1] - 1)
        assert np.mean((own[:, 1:] - expected) ** 2) < 0.01

    @pytest.mark.slow
    def test_does_not_see_memory_where_there_is_none(self):
        found = induce(DOMAIN, [answer(by(np.sum), noise=0.4)], np.random.default_rng(0))
        assert not any("memory" in item.kind for item in found)

    @pytest.mark.slow
    def test_source_predicts_what_the_search_reported(self, sandbox):
        data = answer(by(lambda x: x[0] + 2 * x[2]), noise=0.3)
        for item in induce(DOMAIN, [data], np.random.default_rng(0)):
            theory = load_theory(TheoryProgram(item.source, "induction"), DOMAIN, sandbox)
            (p,) = sandbox.probabilities(item.source, theory.population(256), [data.stimuli.arrays])
            error = np.mean((p.mean(axis=0) - data.proportions)[:, 1] ** 2)
            assert error == pytest.approx(item.error, abs=0.005)

    @pytest.mark.slow
    def test_people_who_guess_are_said_to_guess(self, sandbox):
        found = induce(DOMAIN, [answer(lambda a, b, last: 0.5)], np.random.default_rng(0))
        for item in found:
            assert item.cross_validated < -np.log(2) + 0.005
            assert item.n_terms <= 2

    @pytest.mark.slow
    def test_same_generator_same_theories(self):
        data = [answer(spared_of_zeros, noise=0.2, n_trials=20)]
        first, second = (induce(DOMAIN, data, np.random.default_rng(3)) for _ in range(2))
        assert first == second

    @pytest.mark.slow
    def test_counts_without_order_are_enough_for_rules_without_memory(self):
        single = answer(by(np.sum))
        totals = single.counts.sum(axis=0)
        trial, response = np.nonzero(totals)
        pooled = Trials(
            "pooled",
            single.stimuli,
            np.zeros(len(trial), dtype=np.int64),
            trial,
            response,
            totals[trial, response].astype(np.int64),
            pooled=True,
        )
        found = induce(DOMAIN, [pooled], np.random.default_rng(0))
        assert found[0].n_terms == 1
        assert "total of the ratings" in found[0].claim
        theory = read_program(TheoryProgram(found[0].source, "induction"))
        assert why_unreadable(theory) == ""

    def test_too_few_trials_give_nothing(self):
        assert induce(DOMAIN, [answer(by(np.sum), n_trials=6)], np.random.default_rng(0)) == []
        assert induce(DOMAIN, [], np.random.default_rng(0)) == []

    @pytest.mark.slow
    def test_works_for_gambles_too(self, sandbox):
        domain = RiskyDomain()
        rng = np.random.default_rng(2)
        stimuli = domain.candidates({}, rng, 60)
        worst = stimuli["outcomes"].min(axis=-1)
        p = 0.5 + 0.5 * np.sign(worst[:, 1] - worst[:, 0])
        trial = np.tile(np.arange(60), 10)
        person = np.repeat(np.arange(10), 60)
        response = (rng.random(600) < p[trial]).astype(np.int64)
        data = Trials("risky", stimuli, person, trial, response, np.ones(600, dtype=np.int64))
        (found,) = induce(domain, [data], rng, n_most=1)
        load_theory(TheoryProgram(found.source, "induction"), domain, sandbox)
        assert found.error < 0.01
        assert "gamble" in found.claim
        assert "product" not in found.claim

    @pytest.mark.slow
    def test_works_for_domains_without_a_vocabulary_of_their_own(self, sandbox):
        domain = IntertemporalDomain()
        rng = np.random.default_rng(0)
        stimuli = domain.candidates({}, rng, 200)
        value = stimuli["amounts"] / (1 + 0.02 * stimuli["delays_days"])
        p = 0.1 + 0.8 * (value[:, 1] > value[:, 0])
        trial, person = np.tile(np.arange(200), 4), np.repeat(np.arange(4), 200)
        response = (rng.random(800) < p[trial]).astype(np.int64)
        data = Trials("delays", stimuli, person, trial, response, np.ones(800, dtype=np.int64))
        (found,) = induce(domain, [data], rng, n_most=1)
        theory = load_theory(TheoryProgram(found.source, "induction"), domain, sandbox)
        new = domain.candidates({}, np.random.default_rng(1), 500)
        value = new["amounts"] / (1 + 0.02 * new["delays_days"])
        (p,) = sandbox.probabilities(found.source, theory.population(32, lapse=False), [new.arrays])
        assert np.mean((p.mean(axis=0)[:, 1] - (value[:, 1] > value[:, 0])) ** 2) < 0.05


@pytest.mark.parametrize(
    ("code", "is_short"),
    [
        ("x.sum(axis=-1)", True),
        ("(v * (x >= 2)).sum(axis=-1)", True),
        ("x.max(axis=-1) - x.min(axis=-1)", True),
        ("cue(x, 0)", False),
        ("others(x, 2, xp).min(axis=-1)", False),
    ],
)
def test_cues_are_put_in_order_only_for_scores_that_hang_on_it(code, is_short):
    rated = vocabulary(DOMAIN, [answer(by(np.sum)).stimuli])
    prelude = shortest_prelude(rated, [code])
    assert ("by_validity" not in prelude) == is_short
    assert shortest_prelude(rated, [code, "cue(x, 1)"]) == rated.prelude


@pytest.mark.parametrize(
    ("weight", "sensitivity", "strength"), [(0.1, 20.0, ""), (0.1, 1.0, "hardly"), (2.0, 1.0, "")]
)
def test_a_weight_counts_by_how_strictly_the_sum_is_followed(weight, sensitivity, strength):
    lead = ChoiceTerm("lead({0})", "take more", 1.0, opposite="take less")
    priors = {
        "weight_1": parse_prior(
            "weight_1", {"prior": "normal", "mean": weight, "sd": 0.001, "low": -9.0, "high": 9.0}
        ),
        "sensitivity": parse_prior(
            "sensitivity",
            {
                "prior": "log_normal",
                "median": sensitivity,
                "log_sd": 0.02,
                "low": 0.01,
                "high": 100.0,
            },
        ),
    }
    assert (
        tell_clause(weighed_clause("weight_1", 2.0, lead, None), priors).strength.strip()
        == strength
    )


def test_pairs_of_basic_scores_have_gates_for_agreement_and_conflict():
    answers = read_answers(DOMAIN, [answer(by(np.sum))])
    n_basic = sum(score.is_basic for score in answers.vocabulary.scores)
    words = [term.words for term in gates(answers).items]
    conflicts = [text for text in words if " is not the one " in text]
    assert 10 < len(conflicts) <= len(list(combinations(range(n_basic), 2)))


def differing_people(weight_of_last, seed=0, n_people=25, n_trials=40):
    """People who weigh cues and prefer sides each in their own way, and may repeat their last side."""
    rng = np.random.default_rng(seed)
    stimuli = some_trials(n_trials, seed)
    order = rng.permuted(np.tile(np.arange(n_trials), (n_people, 2)), axis=1)
    weights, lean = 3 * rng.dirichlet(np.ones(3), n_people), rng.normal(0, 1, n_people)
    lead = (
        np.einsum("pc,tc->pt", weights, stimuli["ratings"][:, 1] - stimuli["ratings"][:, 0])
        + lean[:, None]
    )
    response = np.zeros_like(order)
    last = np.zeros(n_people)
    for step in range(order.shape[1]):
        p = expit(lead[np.arange(n_people), order[:, step]] + weight_of_last * last)
        response[:, step] = rng.random(n_people) < p
        last = 2.0 * response[:, step] - 1
    person = np.repeat(np.arange(n_people), order.shape[1])
    return Trials(
        "first",
        stimuli,
        person,
        order.ravel(),
        response.ravel(),
        np.ones(order.size, dtype=np.int64),
    )


@pytest.mark.parametrize(("weight_of_last", "depends"), [(0.0, False), (1.5, True), (-1.5, True)])
def test_people_who_differ_do_not_pass_for_people_with_a_memory(weight_of_last, depends):
    answers = read_answers(DOMAIN, [differing_people(weight_of_last)])
    plain = leads(answers)
    assert depends_on_past(answers, plain, signs(plain), np.random.default_rng(0)) == depends


def test_counts_that_lost_their_order_show_no_memory_and_hide_none_beside_them():
    with_memory, rng = differing_people(1.5), np.random.default_rng(0)
    whole = with_memory.totals
    trial, response = np.nonzero(whole)
    counts = Trials(
        "counts",
        with_memory.stimuli,
        np.zeros(len(trial), dtype=np.int64),
        trial,
        response,
        whole[trial, response].astype(np.int64),
        pooled=True,
    )
    assert not looks_back(DOMAIN, [counts], rng)
    assert looks_back(DOMAIN, [counts, with_memory], rng)


def test_shuffling_keeps_each_persons_answers_to_each_trial():
    answers = read_answers(DOMAIN, [differing_people(0.0)])
    mixed = shuffled(answers, np.random.default_rng(0))
    for one in range(int(answers.person.max()) + 1):
        own = answers.person == one
        before, after = (
            sorted(zip(item.trial[own], item.response[own], strict=True))
            for item in (answers, mixed)
        )
        assert before == after
    assert np.array_equal(answers.previous, mixed.previous)
    assert not np.array_equal(answers.trial, mixed.trial)


def test_leaves_are_scored_as_their_likelihood_says():
    """The loop in machine code against the formula, written out with whole tables."""
    rng = np.random.default_rng(0)
    with_b, with_a = rng.integers(0, 9, (2, 5, 7))
    agree = rng.integers(0, with_b + with_a + 1)
    more_b, more_a = rng.integers(0, 4, (2, 5))
    total_b, total_a = with_b.max(axis=1) + more_b, with_a.max(axis=1) + more_a
    prices, constant = rng.random(7), 4.0
    b, a = total_b[:, None] - with_b, total_a[:, None] - with_a
    left = np.maximum(log_likelihood(b, a) - constant, (b + a) * np.log(0.5))
    wanted = log_likelihood(agree, with_b + with_a - agree) + left - prices
    given = (2 * agree - with_b - with_a, with_b, with_a, total_b, total_a)
    table = logarithms(int((total_b + total_a).max()))
    found = scores_of_leaves(*(item.astype(np.float32) for item in given), table, prices, constant)
    assert found == pytest.approx(wanted, abs=1e-9)


@pytest.mark.slow
def test_what_cannot_reach_what_the_search_has_is_left_out_and_the_rest_is_as_before():
    data = [answer(spared_of_zeros, noise=0.2, n_trials=20)]
    every = induce(DOMAIN, data, np.random.default_rng(3))
    least = every[-1].criterion
    assert induce(DOMAIN, data, np.random.default_rng(3), least=least) == every[:-1]
    assert induce(DOMAIN, data, np.random.default_rng(3), least=0.0) == []


@pytest.mark.slow
def test_no_shared_rule_explains_more_than_each_trials_own_proportion():
    answers = read_answers(DOMAIN, [answer(spared_of_zeros, noise=0.2, n_trials=20)])
    pace = InductionPace("steps", (1.0,) * induction.N_STEPS)
    first = sorted(answers.stimuli[0].arrays)[0]
    lean = induction._lean(first, "")
    forms = induction._forms(answers, first, pace, lean, shared=True, past=False)
    most = rule_fit.most_explained(answers.responses)
    tried = 0
    for form in forms:
        for model in form.fit(form.responses).values():
            if len(model.shares) == 1:
                tried += 1
                assert rule_fit.explained(model, form.responses) <= most + 1e-9
    assert tried >= 3


def test_terms_behind_gates_are_screened_as_their_columns_say():
    """Sums over open gates by one product, against the score statistic of every term's own column."""
    answers = read_answers(DOMAIN, [answer(spared_of_zeros, noise=0.3)])
    lead, gate = leads(answers).take(range(12)), gates(answers).take(range(9))
    search = AdditiveSearch(lead, gate, answers.counts, 0.05)
    first = GatedLead(0)
    columns, weights = search._column(first)[None], np.array([0.4])
    p, slope = search._response(weights @ columns)
    residual, w = (
        (search.b - search.n * p) * slope / (p * (1 - p)),
        search.n * slope**2 / (p * (1 - p)),
    )
    inner = columns[0] ** 2 @ w + RIDGE

    def gain(term):
        x = search._column(term)
        alone, shared = x**2 @ w, (x * columns[0] @ w) ** 2 / inner
        left = (
            alone - shared if alone - shared > 1e-3 * alone else np.inf
        )  # what the sum says already
        return 0.5 * (x @ residual) ** 2 / (left + RIDGE) - search._code_length(term)

    chosen = search._screen([first], columns, weights, 3)
    every = [
        GatedLead(k, g)
        for k in {0, *(term.lead for term in chosen)}
        for g in range(-1, len(gate.items))
    ]
    best = sorted((term for term in every if term != first), key=gain, reverse=True)
    assert [gain(term) for term in chosen] == pytest.approx(
        [gain(term) for term in best[:3]], rel=1e-4
    )


def test_where_no_rule_list_divides_the_trials_only_undecided_ones_are_regions() -> None:
    values = np.array([[1, 0, 0, 1], [1, 1, 1, 1]], dtype=np.float32)
    signed = TermTable((), values)
    found = induction._regions({}, signed, TermTable((), values), [0, 1])
    assert found.tolist() == [[False, True, True, False]]
