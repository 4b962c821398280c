"""The language of expressions: what its terms say, what they cost, and that text and values agree."""

import tracemalloc

import numpy as np
import pytest

from lakatos.domains import DOMAINS
from lakatos.domains.multiattribute import vocabulary as multiattribute
from lakatos.domains.risky import vocabulary as risky
from lakatos.domains.risky.space import pairs
from lakatos.domains.risky.task import RiskyDomain
from lakatos.experiments.task import Trials
from lakatos.theories.discovery.induction import expression
from lakatos.theories.discovery.induction.combination import (
    MOST_CELLS,
    NumberAtoms,
    atoms_of,
    divisions_of,
    more_gates,
    with_combinations,
)
from lakatos.theories.discovery.induction.induce import induce
from lakatos.theories.discovery.induction.library import namespace, values, vocabulary
from lakatos.theories.discovery.induction.past_terms import kept_leads, remembered_leads
from lakatos.theories.discovery.induction.terms import (
    TrialQuantity,
    gates,
    leads,
    read_answers,
    signs,
    without_twins,
)
from lakatos.theories.engine.checks.check import load_theory
from lakatos.theories.engine.running.sequence import follow
from lakatos.theories.language.option_score import (
    FIRST_WHERE,
    HIGHEST_WHERE,
    LONGEST_RUN,
    REACHED,
    UNMATCHED,
    OptionScore,
)
from lakatos.theories.language.theory import TheoryProgram
from tests.theories.discovery.test_induction import DOMAIN, answer, by


@pytest.fixture(scope="module")
def answers():
    return read_answers(DOMAIN, [answer(by(lambda x: np.ptp(x) % 2), n_trials=60)])


def walked(says, start, renew, seed, n_people=20):
    """People who choose B with probability ``says(ratings, memory)``, then keep ``renew(ratings, memory, choice)``."""
    rng = np.random.default_rng(seed)
    data = answer(by(np.sum), n_trials=40, n_people=n_people, seed=seed)
    order = data.sequences.trial
    response, truth = np.zeros_like(order), np.zeros(order.shape)
    for person, trials in enumerate(order):
        memory = start
        for step, trial in enumerate(trials):
            ratings = data.stimuli["ratings"][trial]
            truth[person, step] = says(ratings, memory)
            response[person, step] = rng.random() < truth[person, step]
            memory = renew(ratings, memory, response[person, step])
    return Trials(
        "walked", data.stimuli, data.participant, data.trial, response.ravel(), data.count
    ), truth


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
            assert pool.write(place).price == pytest.approx(
                parts.sum() + np.log(len(expression.COMBINED)) + np.log(2)
            )


class TestText:
    @pytest.mark.parametrize("domain", [DOMAIN, RiskyDomain()])
    def test_every_expression_that_is_kept_says_what_the_search_saw(self, domain):
        if domain is DOMAIN:
            data = answer(by(lambda x: np.ptp(x) % 2), n_trials=60)
        else:
            stimuli = domain.candidates({}, np.random.default_rng(1), 60)
            rows = np.arange(600)
            response = (stimuli["outcomes"].max(axis=-1).argmax(axis=-1))[rows % 60]
            data = Trials(
                "risky", stimuli, rows // 60, rows % 60, response, np.ones(600, dtype=np.int64)
            )
        answers = read_answers(domain, [data])
        longer = with_combinations(answers, gates(answers).take([0, 1]))
        new = longer.vocabulary.scores[len(answers.vocabulary.scores) :]
        assert len(new) > 20
        evaluated = values(longer.vocabulary, [score.code for score in new], data.stimuli)
        np.testing.assert_allclose(
            evaluated, longer.scores[len(answers.scores) :], rtol=1e-5, atol=1e-5
        )
        assert len({score.code for score in longer.vocabulary.scores}) == len(
            longer.vocabulary.scores
        )

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
    @pytest.mark.long
    def test_finds_a_number_that_nobody_wrote_down(self, sandbox):
        rule = by(lambda x: max(int(x[0]), 2 - int(x[2])) + (len(set(x.tolist())) == 2))
        data = [answer(rule, seed=seed, name=str(seed)) for seed in (1, 2, 3, 4)]
        (found, *_) = induce(DOMAIN, data, np.random.default_rng(0))
        theory = load_theory(TheoryProgram(found.source, "induction"), DOMAIN, sandbox)
        new = answer(rule, seed=9, n_people=2)
        (p,) = sandbox.probabilities(
            found.source, theory.population(32, lapse=False), [new.stimuli.arrays]
        )
        truth = [rule(a, b, 0) for a, b in new.stimuli["ratings"]]
        assert np.mean((p.mean(axis=0)[:, 1] - truth) ** 2) < 0.02

    @pytest.mark.slow
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
        place = [
            term.words.endswith("with more ratings above those of the product left last")
            for term in terms.items
        ]
        (row,) = np.flatnonzero(place)
        ratings, order = data.stimuli["ratings"], data.sequences
        for person in range(3):
            rows = np.flatnonzero(answers.person == person)
            left = ratings[order.trial[person], 1 - order.response[person]]
            now = ratings[order.trial[person, 1:]]
            ahead = (now > left[:-1, None]).sum(axis=-1)
            assert terms.values[row, rows[0]] == 0
            np.testing.assert_array_equal(terms.values[row, rows[1:]], ahead[:, 1] - ahead[:, 0])

    @pytest.mark.long
    def test_a_rule_about_cues_that_spoke_for_the_last_choice_is_found_and_written(self, sandbox):
        def says(ratings, cues):
            worst = np.where(cues, ratings, 9).min(axis=-1)
            return 0.5 + 0.5 * np.sign(worst[1] - worst[0])

        def heard(ratings, cues, choice):
            return (2 * choice - 1) * (ratings[1] - ratings[0]) >= 0

        data, truth = walked(says, np.ones(3, dtype=bool), heard, seed=0)
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


class TestLookUps:
    X = np.array([[[3, 1, 3, 0], [0, 1, 2, 3]], [[2, 2, 1, 1], [2, 1, 2, 1]]])

    @pytest.fixture
    def space(self):
        space = {"xp": np, "np": np, "x": self.X}
        exec("\n".join((FIRST_WHERE, UNMATCHED, REACHED, HIGHEST_WHERE)), space)
        return space

    def test_equal_ratings_cancel_out_wherever_they_stand(self, space):
        expected = [[[0, 0, 1, 0], [0, 0, 1, 0]], [[0, 0, 0, 0], [0, 0, 0, 0]]]
        np.testing.assert_array_equal(eval("unmatched(x, xp)", space), expected)

    def test_first_and_last_are_those_of_the_cues_that_fulfil_the_condition(self, space):
        found = eval("first_where(x < x[:, ::-1], x, -1.0, xp)", space)
        np.testing.assert_array_equal(found, [[0, 0], [1, 1]])
        found = eval("first_where((x > 2)[..., ::-1], x[..., ::-1], -1.0, xp)", space)
        np.testing.assert_array_equal(found, [[3, 3], [-1, -1]])

    @pytest.mark.parametrize(("level", "first", "second"), [(2, 1, 0), (1, 1, 1), (5, 0, 0)])
    def test_a_running_total_decides_when_it_first_is_large_enough(
        self, space, level, first, second
    ):
        found = eval(f"reached(x - x[:, ::-1], {level}, xp)", space)
        np.testing.assert_array_equal(found, [[first, -first], [second, -second]])

    def test_the_number_of_cues_on_which_a_rating_is_found_once_is_what_one_would_count(
        self, answers
    ):
        scores = list(multiattribute.looked_up(3, (0.0, 1.0, 2.0)))
        (code,) = [
            s.code for s in scores if s.words == "number of cues on which its rating comes but once"
        ]
        (found,) = values(answers.vocabulary, [code], answers.stimuli[0])
        counts = [
            [sum((row == x).sum() == 1 for x in row) for row in pair]
            for pair in answers.stimuli[0]["ratings"]
        ]
        np.testing.assert_array_equal(found, counts)

    def test_numbers_of_different_cues_are_held_against_each_other(self):
        def rule(a, b, last):
            return 0.5 + 0.5 * np.sign(b[2] - a[0])

        answers = read_answers(DOMAIN, [answer(rule, n_trials=60)])
        longer = with_combinations(answers, gates(answers).take([]))
        found = {score.words: row for row, score in enumerate(longer.vocabulary.scores)}
        row = found[
            "number (of A the rating on the most valid cue, of B the rating on the third most valid cue)"
        ]
        ratings = answers.stimuli[0]["ratings"]
        np.testing.assert_array_equal(
            longer.scores[row], np.stack([ratings[:, 0, 0], ratings[:, 1, 2]], axis=-1)
        )

    def test_a_gamble_is_measured_by_what_the_other_offers(self):
        stimuli = pairs([([(0, 0.2), (10, 0.3), (40, 0.5)], [(10, 0.9), (30, 0.1)])])
        words = vocabulary(DOMAINS["risky"], [stimuli])
        codes = {score.words: score.code for score in words.scores}
        levels = [
            "the other's best outcome",
            "the other's worst outcome",
            "the other's expected value",
        ]
        found = values(
            words, [codes[f"probability of at least {level}"] for level in levels], stimuli
        )
        np.testing.assert_allclose(found, [[[0.5, 0]], [[0.8, 1]], [[0.5, 0.1]]])

    def test_amounts_that_both_gambles_have_are_left_out(self):
        stimuli = pairs(
            [([(0, 0.2), (10, 0.3), (40, 0.5)], [(10, 0.9), (30, 0.1)]), ([(5, 1)], [(5, 1)])]
        )
        words = vocabulary(DOMAINS["risky"], [stimuli])
        scores = {score.words: score.code for score in risky.picked()}
        own = [
            scores[f"{end} outcome that the other does not have, 0 if there is none"]
            for end in ("best", "worst")
        ]
        found = values(
            words, [*own, scores["probability of outcomes that the other has too"]], stimuli
        )
        np.testing.assert_allclose(
            found, [[[40, 30], [0, 0]], [[0, 30], [0, 0]], [[0.3, 0.9], [1, 1]]]
        )

    def test_amounts_are_compared_with_their_percentages(self):
        stimuli = pairs([([(0, 0.2), (10, 0.3), (40, 0.5)], [(10, 0.9), (30, 0.1)])])
        words = vocabulary(DOMAINS["risky"], [stimuli])
        scores = {score.words: score.code for score in risky.picked()}
        codes = [
            scores[f"{which} distance between outcome and its probability in percent"]
            for which in ("largest", "smallest")
        ]
        np.testing.assert_allclose(values(words, codes, stimuli), [[[20, 80]], [[10, 20]]])


class TestSidesAndKinds:
    @pytest.fixture
    def told(self):
        """Answers of three people in order, and leads on the first rating and on the lowest."""
        data = answer(by(np.sum), n_trials=12, n_people=3)
        answers = read_answers(DOMAIN, [data])
        words = [score.words for score in answers.vocabulary.scores]
        of = leads(answers).take(
            [words.index("rating on the most valid cue"), words.index("lowest rating")]
        )
        terms = kept_leads(answers, of)
        found = {
            term.words: row.reshape(3, -1)
            for term, row in zip(terms.items, terms.values, strict=True)
        }
        return data.stimuli["ratings"], data.sequences, found

    def test_a_side_is_marked_as_long_as_it_keeps_what_was_taken_there(self, told):
        ratings, order, found = told
        marked = found[
            "take the side where the lowest rating has been not above 0.5 ever since such a product was taken there"
        ]
        for person in range(3):
            marks = np.zeros(2)
            for step, (trial, choice) in enumerate(
                zip(order.trial[person], order.response[person], strict=True)
            ):
                assert marked[person, step] == marks[1] - marks[0]
                marks = np.maximum(marks, np.arange(2) == choice) * (
                    ratings[trial].min(axis=-1) == 0
                )

    def test_kinds_are_counted_as_often_as_they_were_taken(self, told):
        ratings, order, found = told
        words = "take the product whose class of rating on the most valid cue (divided at 0.5, 1.5) was taken more"
        (counted,) = [column for text, column in found.items() if text.startswith(words)]
        for person in range(3):
            shown = ratings[order.trial[person], :, 0]
            taken = shown[np.arange(len(shown)), order.response[person]]
            for step, (a, b) in enumerate(shown):
                assert (
                    counted[person, step] == (taken[:step] == b).sum() - (taken[:step] == a).sum()
                )

    @pytest.mark.long
    def test_what_was_last_taken_on_a_side_is_found_to_matter(self, sandbox):
        def says(ratings, newest):
            lead = newest[0] - newest[1] or ratings[1].sum() - ratings[0].sum()
            return 0.5 + 0.5 * np.sign(lead)

        def taken(ratings, newest, choice):
            return np.where(np.arange(2) == choice, ratings[:, 1], newest)

        data, _ = walked(says, np.zeros(2), taken, seed=0)
        (found, *_) = induce(DOMAIN, [data], np.random.default_rng(0))
        new, truth = walked(says, np.zeros(2), taken, seed=3, n_people=4)
        theory = load_theory(TheoryProgram(found.source, "induction"), DOMAIN, sandbox)
        with sandbox.open_session(found.source, [], n_options=2) as session:
            own = follow(session, DOMAIN, theory.population(16, lapse=False), new).own[..., 1]
        assert np.mean((own - truth) ** 2) < 0.005


class TestMarks:
    def test_cues_keep_their_marks_until_none_without_one_speaks(self):
        data = answer(by(np.sum), n_trials=12, n_people=3)
        answers = read_answers(DOMAIN, [data])
        terms = remembered_leads(answers)
        rows = {
            term.words: row.reshape(3, -1)
            for term, row in zip(terms.items, terms.values, strict=True)
        }
        start = "take the product with more cues ahead among those that were "
        unbarred = rows[start + "not overruled since all were last let in again"]
        trusted = rows[start + "followed when they last spoke"]
        ratings, order = data.stimuli["ratings"], data.sequences
        for person in range(3):
            barred, verdict = np.zeros(3, dtype=bool), np.zeros(3)
            for step, (trial, choice) in enumerate(
                zip(order.trial[person], order.response[person], strict=True)
            ):
                sides = np.sign(ratings[trial, 1] - ratings[trial, 0])
                if not sides[~barred].any():
                    barred[:] = False
                assert unbarred[person, step] == sides[~barred].sum()
                assert trusted[person, step] == sides[verdict > 0].sum()
                spoke = (2 * choice - 1) * sides
                barred, verdict = barred | (spoke < 0), np.where(spoke != 0, spoke, verdict)


class TestDivisions:
    """Thresholds on numbers: evenly among values that can be told apart, in little memory."""

    def quantity(self, values):
        score = OptionScore("{0}", "price", 1.0)
        return TrialQuantity("lead({0})", "above {cut}", 2.0, score, np.array(values), 8)

    def test_thresholds_lie_between_neighbours(self):
        found = divisions_of(self.quantity([3.0, 1.0, 2.0, 2.0]))
        assert [(item.low, item.high) for item in found] == [(1.0, 2.0), (2.0, 3.0)]
        assert found[0].mask.tolist() == [True, False, True, True]
        assert found[0].price == pytest.approx(2.0 + np.log(2))

    def test_equal_numbers_are_not_divided(self):
        assert divisions_of(self.quantity([2.0, 2.0])) == []

    def test_values_too_close_to_be_told_apart_do_not_count_among_many(self):
        close = 1 + np.linspace(0, 1e-5, 50)
        found = divisions_of(self.quantity([*close, *np.arange(2.0, 22.0)]))
        assert len(found) == expression.MOST_CONSTANTS
        assert all(item.high - item.low == pytest.approx(1.0, abs=1e-4) for item in found)
        assert found[-1].low > 15

    @pytest.mark.slow
    def test_memory_does_not_grow_with_the_numbers(self, answers):
        n_trials, n_numbers = len(answers.counts), 3000
        values = np.random.default_rng(2).normal(size=(n_numbers, n_trials, 2))
        scores = tuple(OptionScore(f"x{place}", "number", 1.0) for place in range(n_numbers))
        signed = signs(leads(answers))
        tracemalloc.start()
        try:
            made = more_gates(answers, NumberAtoms(scores, values), signed, np.arange(20))
            _, peak = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
        assert len(made.items) > 50
        assert 42 * n_numbers * n_trials > 2 * MOST_CELLS
        assert peak < 8 * 4 * MOST_CELLS
