"""Predictions in words against code: what holds is kept, what does not is refused with a pair that shows it."""

import json

import numpy as np
import pytest

from lakatos.domains import DOMAINS, FAMILIES
from lakatos.experiments.variation import HasVariations
from lakatos.theories.engine.checks.claim import check_claim
from lakatos.theories.engine.checks.prediction import PROPERTIES, ClaimPrediction, read_predictions
from lakatos.theories.errors import ClaimContradictedError, TheorySourceError
from lakatos.theories.language.theory import TheoryProgram, read_program

MULTIATTRIBUTE, RISKY = DOMAINS["multiattribute"], DOMAINS["risky"]
CLAIM = '"""Adding up: people add up the ratings."""\n'
PARAMETERS = (
    'PARAMETERS = {"sensitivity": {"prior": "log_uniform", "low": 0.1, "high": 20.0},'
    ' "lapse": {"prior": "uniform", "low": 0.0, "high": 0.4}}\n'
)
BODY = """
def choose(parameters, trials, xp):
    evidence = (EVIDENCE).sum(axis=-1)
    p = 1 / (1 + xp.exp(-xp.clip(parameters["sensitivity"] * evidence, -500.0, 500.0)))
    return (1 - parameters["lapse"]) * p + 0.5 * parameters["lapse"]
"""
DIFFERENCE = 'trials["ratings"][:, 1] - trials["ratings"][:, 0]'


def theory_of(source: str):
    return read_program(TheoryProgram(source, "test"))


def adding(evidence=DIFFERENCE, predictions="[]"):
    return theory_of(
        CLAIM + PARAMETERS + f"PREDICTIONS = {predictions}\n" + BODY.replace("EVIDENCE", evidence)
    )


def seed(domain, name):
    return read_program(FAMILIES[domain].program(name))


def held(theory, domain, sandbox, *predictions):
    report = check_claim(theory, domain, sandbox, predictions=predictions)
    return [item.held for item in report.tried]


class TestReading:
    def test_a_source_without_predictions_states_none(self):
        assert read_predictions(CLAIM + PARAMETERS) == ()

    def test_reads_every_entry(self):
        source = (
            'PREDICTIONS = [{"property": "ignores", "in": "rating", "of": "first", "beyond": 0.5}]'
        )
        assert read_predictions(source) == (ClaimPrediction("ignores", "rating", "first", 0.5),)
        assert read_predictions(
            f"PREDICTIONS = {[item.to_literal() for item in read_predictions(source)]}"
        ) == (read_predictions(source))

    @pytest.mark.parametrize(
        ("literal", "message"),
        [
            (
                '[{"property": "growing", "in": "x"}]',
                "PREDICTIONS at line 1, number 1: .* no known property. Known: incr",
            ),
            ('[{"property": ["growing"]}]', "no known property"),
            ('["increasing"]', "no known property"),
            (
                '[{"property": "ignores", "in": "x"}, {"property": "ignores"}]',
                "number 2: 'ignores' needs an entry \"in\"",
            ),
            ('[{"property": "deterministic", "in": "x"}]', "'deterministic' needs no entry \"in\""),
            (
                '[{"property": "ignores", "in": "x", "off": 1}]',
                "unknown entries off; a prediction has property, in, of",
            ),
            (
                '[{"property": "ignores", "in": "x", "of": "third"}]',
                '"of" is \'third\'; write "first" or "second"',
            ),
            (
                '[{"property": "ignores", "in": "x", "beyond": None}]',
                '"beyond" is None; write a number or the name',
            ),
            ("[str(1)]", "PREDICTIONS at line 1 is not a literal"),
            ("5", "PREDICTIONS at line 1 must be a list"),
        ],
    )
    def test_refuses_what_it_does_not_know(self, literal, message):
        with pytest.raises(TheorySourceError, match=message):
            read_predictions(f"PREDICTIONS = {literal}")

    def test_every_property_can_be_put_in_words(self):
        for name in PROPERTIES:
            assert (
                ClaimPrediction(name, "rating")
                .words("a rating is raised")
                .startswith(("a rating is raised", "apart from"))
            )


class TestVariations:
    @pytest.mark.parametrize("domain", [MULTIATTRIBUTE, RISKY], ids=lambda domain: domain.name)
    def test_are_admissible_trials_in_pairs_that_differ(self, domain):
        assert isinstance(domain, HasVariations)
        rng = np.random.default_rng(1)
        n_pairs = dict.fromkeys(domain.variations(domain.probes(rng)[0], rng), 0)
        for probe in domain.probes(rng):
            made = domain.variations(probe, rng)
            assert list(made) == list(n_pairs)
            for name, variation in made.items():
                assert len(variation.before) == len(variation.after)
                assert variation.size is None or (variation.size.shape == (len(variation.before),))
                if len(variation.before):
                    domain.check(variation.before)
                    domain.check(variation.after)
                    n_pairs[name] += sum(
                        map(lambda a, b: a != b, variation.before.keys, variation.after.keys)
                    )
        assert min(n_pairs.values()) >= 5

    def test_of_a_rating_raise_one_rating_of_the_second_product_alone(self):
        rng = np.random.default_rng(2)
        stimuli = MULTIATTRIBUTE.candidates(
            {"validities": [0.9, 0.8, 0.6], "levels": [0, 1, 2, 3]}, rng, 200
        )
        made = MULTIATTRIBUTE.variations(stimuli, rng)["rating"]
        change = made.after["ratings"] - made.before["ratings"]
        assert (change[:, 0] == 0).all()
        assert ((change[:, 1] > 0).sum(axis=1) == 1).all()
        assert (change >= 0).all()

    def test_spread_keeps_the_expected_value(self):
        rng = np.random.default_rng(3)
        made = RISKY.variations(RISKY.candidates({}, rng, 200), rng)["spread"]
        expected = [
            (item["outcomes"] * item["probabilities"]).sum(axis=-1)
            for item in (made.before, made.after)
        ]
        np.testing.assert_allclose(expected[0], expected[1], atol=1e-9)
        variance = [
            (item["outcomes"] ** 2 * item["probabilities"]).sum(axis=-1)[:, 1]
            for item in (made.before, made.after)
        ]
        assert (variance[1] > variance[0]).all()

    def test_reflection_twice_is_nothing(self):
        rng = np.random.default_rng(4)
        once = RISKY.variations(RISKY.candidates({}, rng, 100), rng)["reflection"]
        twice = RISKY.variations(once.after, rng)["reflection"]
        assert twice.after.keys == once.before.keys


class TestTrueClaims:
    def test_of_adding_up_hold(self, sandbox):
        predictions = [
            {"property": "increasing", "in": "rating", "of": "second"},
            {"property": "increasing", "in": "dominance"},
            {"property": "depends_on", "in": "lead"},
            {"property": "ignores", "in": "cue_order"},
            {"property": "ignores", "in": "validity"},
            {"property": "ignores", "in": "shared_rating"},
            {"property": "reverses", "in": "sides"},
            {"property": "ignores", "in": "last_choice"},
        ]
        report = check_claim(adding(predictions=str(predictions)), MULTIATTRIBUTE, sandbox)
        assert report.passed, report.to_text()
        report.raise_for_contradiction()
        assert len(report.to_text().splitlines()) == 1 + len(predictions)
        read = json.loads(json.dumps(report.to_json()))
        assert [item["prediction"] for item in read["predictions"]] == predictions

    def test_of_take_the_best_hold(self, sandbox):
        found = held(
            seed("multiattribute", "take_the_best"), MULTIATTRIBUTE, sandbox,
            ClaimPrediction("ignores", "less_valid_rating"), ClaimPrediction("ignores", "lead"),
            ClaimPrediction("deterministic"), ClaimPrediction("increasing", "rating"),
            ClaimPrediction("depends_on", "validity_order"),
        )  # fmt: skip
        assert found == [True] * 5

    def test_of_satisficing_hold_beyond_the_aspiration_level_alone(self, sandbox):
        found = held(
            seed("multiattribute", "satisficing"), MULTIATTRIBUTE, sandbox,
            ClaimPrediction("ignores", "rating", beyond="aspiration"), ClaimPrediction("ignores", "rating"),
            ClaimPrediction("increasing", "rating"),
        )  # fmt: skip
        assert found == [True, False, True]

    def test_of_expected_value_hold(self, sandbox):
        found = held(
            seed("risky", "expected_value"), RISKY, sandbox,
            ClaimPrediction("increasing", "best_amount"), ClaimPrediction("increasing", "worst_amount"),
            ClaimPrediction("increasing", "amounts"), ClaimPrediction("increasing", "best_probability"),
            ClaimPrediction("increasing", "dominance"), ClaimPrediction("ignores", "spread"),
            ClaimPrediction("ignores", "common_amount"), ClaimPrediction("reverses", "reflection"),
            ClaimPrediction("reverses", "sides"), ClaimPrediction("ignores", "ambiguity"),
        )  # fmt: skip
        assert found == [True] * 10

    def test_of_the_worst_outcome_hold(self, sandbox):
        worst = adding("(trials['outcomes'][:, 1] - trials['outcomes'][:, 0])[:, :1]")
        found = held(
            worst, RISKY, sandbox,
            ClaimPrediction("decreasing", "spread"), ClaimPrediction("ignores", "best_probability"),
            ClaimPrediction("increasing", "worst_amount"),
        )  # fmt: skip
        assert found == [True, True, True]


class TestFalseClaims:
    def contradiction(self, theory, domain, sandbox, prediction):
        report = check_claim(theory, domain, sandbox, predictions=[prediction])
        assert not report.passed
        assert "FAILED" in report.to_text()
        with pytest.raises(ClaimContradictedError) as raised:
            report.raise_for_contradiction()
        return str(raised.value), raised.value.counterexample

    def test_of_a_contrarian_are_refused_with_the_pair_that_shows_it(self, sandbox):
        theory = adding('trials["ratings"][:, 0] - trials["ratings"][:, 1]')
        message, example = self.contradiction(
            theory, MULTIATTRIBUTE, sandbox, ClaimPrediction("increasing", "rating")
        )
        assert "a rating of the second product is raised: that never lowers" in message
        assert "[A " in message
        assert "Change the code or the prediction." in message
        assert example.probability_after < example.probability_before
        assert set(example.parameters) == {"sensitivity", "lapse"}
        # The counterexample is the code's own: recomputed here from its words.
        p = []
        for words in (example.before, example.after):
            a, b = (
                np.array([float(x) for x in part[2:].split()]) for part in words.split(" | ")[:2]
            )
            log_odds = np.clip(example.parameters["sensitivity"] * (a - b).sum(), -500, 500)
            lapse = example.parameters["lapse"]
            p.append((1 - lapse) / (1 + np.exp(-log_odds)) + lapse / 2)
        stated = [example.probability_before, example.probability_after]
        assert np.allclose(p, stated) or np.allclose(
            p, 1 - np.array(stated)
        )  # of the first product, if that is it

    def test_of_the_order_of_cues_is_found(self, sandbox):
        weighted = f"({DIFFERENCE}) * xp.arange(trials['validities'].shape[-1])"
        message, _ = self.contradiction(
            adding(weighted), MULTIATTRIBUTE, sandbox, ClaimPrediction("ignores", "cue_order")
        )
        assert "listed in another order" in message

    def test_of_a_side_bias_is_found(self, sandbox):
        leaning = f"({DIFFERENCE}) + 0.1"
        message, example = self.contradiction(
            adding(leaning), MULTIATTRIBUTE, sandbox, ClaimPrediction("reverses", "sides")
        )
        assert "exchanges the probabilities" in message
        assert example.probability_before + example.probability_after != pytest.approx(1)

    def test_of_a_change_of_one_option_only_are_tried_on_that_option(self, sandbox):
        # The first product's ratings count backwards, the second's forwards.
        odd = 'trials["ratings"][:, 1] + trials["ratings"][:, 0]'
        assert held(
            adding(odd), MULTIATTRIBUTE, sandbox,
            ClaimPrediction("increasing", "rating", "second"), ClaimPrediction("increasing", "rating", "first"),
            ClaimPrediction("increasing", "rating"),
        ) == [True, False, False]  # fmt: skip

    def test_that_nothing_bears_out_are_refused(self, sandbox):
        for prediction in (
            ClaimPrediction("increasing", "rating"),
            ClaimPrediction("depends_on", "validity"),
        ):
            message, example = self.contradiction(
                adding(f"0.0 * ({DIFFERENCE})"), MULTIATTRIBUTE, sandbox, prediction
            )
            assert "no probability changes so by more than 0" in message
            assert example is None

    def test_of_being_deterministic_are_refused_of_a_logistic_rule(self, sandbox):
        message, example = self.contradiction(
            adding(), MULTIATTRIBUTE, sandbox, ClaimPrediction("deterministic")
        )
        assert "apart from lapses" in message
        assert example.parameters["lapse"] == 0
        assert 0 < example.probability_before < 1

    def test_of_loss_aversion_reflection_is_found(self, sandbox):
        message, _ = self.contradiction(
            seed("risky", "prospect_theory"),
            RISKY,
            sandbox,
            ClaimPrediction("reverses", "reflection"),
        )
        assert "gains and losses" in message

    def test_of_prospect_theory_that_dominance_is_respected_is_found(self, sandbox):
        # Kahneman and Tversky (1979) note that weights of single outcomes let dominated gambles be chosen.
        assert held(
            seed("risky", "prospect_theory"),
            RISKY,
            sandbox,
            ClaimPrediction("increasing", "best_probability"),
        ) == [False]

    def test_about_what_the_domain_cannot_vary_are_refused(self, sandbox):
        with pytest.raises(
            TheorySourceError,
            match=r"'multiattribute' cannot vary 'colour'; it can vary .*sides, rating",
        ):
            check_claim(
                adding(),
                MULTIATTRIBUTE,
                sandbox,
                predictions=[ClaimPrediction("ignores", "colour")],
            )

    @pytest.mark.parametrize(
        ("prediction", "message"),
        [
            (ClaimPrediction("ignores", "cue_order", beyond=0.5), "'cue_order' has no size"),
            (
                ClaimPrediction("ignores", "rating", beyond="limit"),
                "'limit', which is no declared parameter; there are sens",
            ),
            (ClaimPrediction("ignores", "rating", beyond=7), "no trial to try this on"),
        ],
    )
    def test_beyond_what_is_not_there_are_refused(self, sandbox, prediction, message):
        with pytest.raises(TheorySourceError, match=message):
            check_claim(adding(), MULTIATTRIBUTE, sandbox, predictions=[prediction])

    def test_beyond_a_parameter_that_no_trial_reaches_are_not_contradicted(self, sandbox):
        never = PARAMETERS.replace(
            "}}\n", '}, "enough": {"prior": "uniform", "low": 2.0, "high": 3.0}}\n'
        )
        theory = theory_of(CLAIM + never + BODY.replace("EVIDENCE", DIFFERENCE))
        report = check_claim(
            theory,
            MULTIATTRIBUTE,
            sandbox,
            predictions=[ClaimPrediction("ignores", "rating", "", "enough")],
        )
        assert [(item.held, item.n_pairs) for item in report.tried] == [(True, 0)]

    def test_what_never_changes_neither_rises_nor_falls(self, sandbox):
        assert held(
            adding("0 * (" + DIFFERENCE + ")"), MULTIATTRIBUTE, sandbox,
            *(
                ClaimPrediction(kind, "rating")
                for kind in ("non_decreasing", "non_increasing", "increasing", "decreasing")
            ),
        ) == [True, True, False, False]  # fmt: skip

    def test_what_rises_does_not_fall(self, sandbox):
        kinds = ("non_decreasing", "non_increasing")
        assert held(
            adding(), MULTIATTRIBUTE, sandbox, *(ClaimPrediction(kind, "rating") for kind in kinds)
        ) == [True, False]


LEARNER = """
def start(parameters, trials, xp):
    return {"last": xp.zeros((1, len(trials[FIRST])))}

def choose(parameters, trials, xp, state):
    p = 1 / (1 + xp.exp(-parameters["habit"] * state["last"]))
    return p + 0.0 * parameters["habit"]

def learn(parameters, trials, xp, state, response, feedback):
    return {"last": WHAT}
"""


def learner(first, what, low):
    parameters = f'PARAMETERS = {{"habit": {{"prior": "uniform", "low": {low}, "high": 2.0}}}}\n'
    return theory_of(
        CLAIM + parameters + LEARNER.replace("FIRST", repr(first)).replace("WHAT", what)
    )


class TestPasts:
    @pytest.mark.long
    def test_repeating_oneself_is_an_effect_of_the_last_choice(self, sandbox):
        theory = learner("rating_max", "response[..., 1] - response[..., 0]", 0.0)
        assert held(
            theory, MULTIATTRIBUTE, sandbox,
            ClaimPrediction("increasing", "last_choice"), ClaimPrediction("depends_on", "last_choice"),
            ClaimPrediction("ignores", "last_choice"), ClaimPrediction("ignores", "rating"),
        ) == [True, True, False, True]  # fmt: skip

    def test_alternating_contradicts_repeating(self, sandbox):
        theory = learner("rating_max", "response[..., 1] - response[..., 0]", -2.0)
        report = check_claim(
            theory,
            MULTIATTRIBUTE,
            sandbox,
            predictions=[ClaimPrediction("increasing", "last_choice")],
        )
        example = report.tried[0].counterexample
        assert example is not None
        assert example.before.endswith("after choosing A")
        assert example.after.endswith("after choosing B")
        assert example.parameters == {"habit": -2.0}
        assert example.probability_after == pytest.approx(1 / (1 + np.exp(2)))

    def test_reward_reinforces_only_those_who_heed_it(self, sandbox):
        heeding = learner(
            "stage", "(response[..., 1] - response[..., 0]) * feedback['reward']", 0.0
        )
        repeating = learner("stage", "response[..., 1] - response[..., 0]", 0.0)
        predictions = (
            ClaimPrediction("increasing", "last_reward"),
            ClaimPrediction("increasing", "last_choice"),
        )
        assert held(heeding, two_options(), sandbox, *predictions) == [True, False]
        assert held(repeating, two_options(), sandbox, *predictions) == [False, True]


def two_options():
    """The learning domain with the probes of two options, of which alone these theories can choose."""
    from lakatos.domains.learning.task import LearningDomain

    class TwoOptions(LearningDomain):
        def probes(self, rng):
            return [probe for probe in super().probes(rng) if self.n_options(probe) == 2]

    return TwoOptions()
