"""The language of expressions: what its terms say, what they cost, and that text and values agree."""

import numpy as np
import pytest

from experiments.domains.risky import RiskyDomain
from experiments.task import Trials
from tests.theories.test_induction import DOMAIN, answer, by
from theories.check import load_theory
from theories.induction import expression
from theories.induction.combination import atoms_of, more_gates, with_combinations
from theories.induction.induce import induce
from theories.induction.library import LONGEST_RUN, namespace, values
from theories.induction.terms import gates, leads, read_answers, remembered_leads, signs, without_twins
from theories.sequence import follow
from theories.theory import TheoryProgram


@pytest.fixture(scope="module")
def answers():
    return read_answers(DOMAIN, [answer(by(lambda x: np.ptp(x) % 2), n_trials=60)])


class TestPrices:
    def test_probabilities_of_all_different_scores_add_up_to_one(self, answers):
        prices = np.array([score.price for score in answers.vocabulary.scores])
        assert np.exp(-prices[without_twins(answers.scores, prices)]).sum() == pytest.approx(1)

    def test_probabilities_of_all_gates_add_up_to_no_more_than_one(self, answers):
        assert np.exp(-gates(answers).prices).sum() <= 1

    def test_what_is_written_longer_costs_more(self, answers):
        atoms = atoms_of(answers)
        pairs = np.array([[0, 1], [2, 5]])
        pool = expression.paired(atoms.scores, atoms.values, pairs)
        for place in range(len(pool)):
            parts = atoms.prices[pairs[pool.origin[place]]]
            assert pool.write(place).price == pytest.approx(parts.sum() + np.log(len(expression.COMBINED)) + np.log(2))


class TestText:
    @pytest.mark.parametrize("domain", [DOMAIN, RiskyDomain()])
    def test_every_expression_that_is_kept_says_what_the_search_saw(self, domain):
        if domain is DOMAIN:
            data = answer(by(lambda x: np.ptp(x) % 2), n_trials=60)
        else:
            stimuli = domain.candidates({}, np.random.default_rng(1), 60)
            rows = np.arange(600)
            response = (stimuli["outcomes"].max(axis=-1).argmax(axis=-1))[rows % 60]
            data = Trials("risky", stimuli, rows // 60, rows % 60, response, np.ones(600, dtype=np.int64))
        answers = read_answers(domain, [data])
        longer = with_combinations(answers, gates(answers).take([0, 1]))
        new = longer.vocabulary.scores[len(answers.vocabulary.scores) :]
        assert len(new) > 20
        evaluated = values(longer.vocabulary, [score.code for score in new], data.stimuli)
        np.testing.assert_allclose(evaluated, longer.scores[len(answers.scores) :], rtol=1e-5, atol=1e-5)
        assert len({score.code for score in longer.vocabulary.scores}) == len(longer.vocabulary.scores)

    def test_every_new_gate_opens_where_its_text_says(self, answers):
        signed = signs(leads(answers))
        made = more_gates(answers, atoms_of(answers), signed, np.arange(20))
        space = namespace(answers.vocabulary, answers.stimuli[0])
        assert len(made.items) > 50
        for term, column in zip(made.items, made.values, strict=True):
            scores = {f"score_{k}": eval(score.code, space) for k, score in enumerate(term.scores)}
            code = term.code.format(*scores)
            np.testing.assert_array_equal(eval(code, space | scores), column > 0, err_msg=code)

    def test_longest_run_counts_equal_neighbours(self):
        space = {}
        exec(LONGEST_RUN, space)
        x = np.array([[1, 1, 2, 2, 2], [1, 2, 1, 2, 1], [3, 3, 3, 3, 3]])
        np.testing.assert_array_equal(space["longest_run"](x, np), [3, 1, 5])

    def test_numbers_that_differ_in_unit_or_sign_are_kept_once(self):
        one, other = np.array([[1.0, 2], [3, 5]]), np.array([[1.0, 1], [0, 2]])
        found = np.array([one, 3 - 2 * one, 10 * one, other, 0 * one])
        np.testing.assert_array_equal(without_twins(found, np.array([2.0, 1, 3, 1, 0])), [1, 3])


class TestInduce:
    def test_finds_a_number_that_nobody_wrote_down(self, sandbox):
        rule = by(lambda x: max(int(x[0]), 2 - int(x[2])) + (len(set(x.tolist())) == 2))
        data = [answer(rule, seed=seed, name=str(seed)) for seed in (1, 2, 3, 4)]
        (found, *_) = induce(DOMAIN, data, np.random.default_rng(0))
        theory = load_theory(TheoryProgram(found.source, "induction"), DOMAIN, sandbox)
        new = answer(rule, seed=9, n_people=2)
        (p,) = sandbox.probabilities(found.source, theory.population(32, lapse=False), [new.stimuli.arrays])
        truth = [rule(a, b, 0) for a, b in new.stimuli["ratings"]]
        assert np.mean((p.mean(axis=0)[:, 1] - truth) ** 2) < 0.02

    def test_of_two_rules_that_fit_alike_the_shorter_one_is_named(self):
        found = induce(DOMAIN, [answer(by(lambda x: x[1]))], np.random.default_rng(0))
        assert found[0].n_terms == 1
        assert found[0].criterion == found[0].cross_validated - found[0].price
        assert "rating on the second most valid cue" in found[0].claim


class TestLastTrial:
    def test_what_is_remembered_is_of_the_same_person_and_the_trial_before(self):
        data = answer(by(np.sum), n_trials=12, n_people=3)
        answers = read_answers(DOMAIN, [data])
        terms = remembered_leads(answers)
        place = [term.words.endswith("number of ratings above those of the product left last") for term in terms.items]
        (row,) = np.flatnonzero(place)
        ratings, order = data.stimuli["ratings"], data.sequences
        for person in range(3):
            rows = np.flatnonzero(answers.person == person)
            left = ratings[order.trial[person], 1 - order.response[person]]
            now = ratings[order.trial[person, 1:]]
            ahead = (now > left[:-1, None]).sum(axis=-1)
            assert terms.values[row, rows[0]] == 0
            np.testing.assert_array_equal(terms.values[row, rows[1:]], ahead[:, 1] - ahead[:, 0])

    def test_a_rule_about_cues_that_spoke_for_the_last_choice_is_found_and_written(self, sandbox):
        rng = np.random.default_rng(0)
        data = answer(by(np.sum), n_trials=40, n_people=20)
        ratings, order = data.stimuli["ratings"], data.sequences.trial

        def heard(trial, choice):
            difference = ratings[trial, 1] - ratings[trial, 0]
            return (2 * choice - 1) * difference >= 0

        def says(trial, cues):
            worst = np.where(cues, ratings[trial], 9).min(axis=-1)
            return 0.5 + 0.5 * np.sign(worst[1] - worst[0])

        response, truth = np.zeros_like(order), np.zeros(order.shape)
        for person, trials in enumerate(order):
            cues = np.ones(3, dtype=bool)
            for step, trial in enumerate(trials):
                truth[person, step] = says(trial, cues)
                response[person, step] = rng.random() < truth[person, step]
                cues = heard(trial, response[person, step])
        data = Trials("heard", data.stimuli, data.participant, data.trial, response.ravel(), data.count)
        (found, *_) = induce(DOMAIN, [data], np.random.default_rng(0))
        theory = load_theory(TheoryProgram(found.source, "induction"), DOMAIN, sandbox)
        with sandbox.open_session(found.source, [], n_options=2) as session:
            own = follow(session, DOMAIN, theory.population(16, lapse=False), data).own[..., 1]
        assert np.mean((own - truth) ** 2) < 0.005
        assert "did not speak against the product chosen last" in found.claim


def test_experiments_with_different_numbers_of_cues_are_read_together():
    short = {"validities": [0.9, 0.7], "levels": [0, 1, 2]}
    stimuli = DOMAIN.candidates(short, np.random.default_rng(0), 20)
    rows = np.arange(len(stimuli))
    second = Trials("short", stimuli, 0 * rows, rows, rows % 2, np.ones(len(rows), dtype=np.int64))
    answers = read_answers(DOMAIN, [answer(by(np.sum)), second])
    codes = [score.code for score in answers.vocabulary.scores]
    alone = values(answers.vocabulary, codes, second.stimuli)
    np.testing.assert_allclose(answers.scores[:, -len(rows) :], alone)
    assert np.isfinite(atoms_of(answers).values).all()
