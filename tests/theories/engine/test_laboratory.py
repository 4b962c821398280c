import tracemalloc
from dataclasses import replace

import numpy as np
import pytest

from lakatos.domains import DOMAINS, FAMILIES
from lakatos.experiments.task import Stimuli
from lakatos.theories.engine.fitted_compositions import FittedCompositions
from lakatos.theories.engine.fitting.evaluate import evaluate
from lakatos.theories.engine.laboratory import Laboratory
from lakatos.theories.engine.running.alone import trials_of
from lakatos.theories.engine.sandbox.client import Sandbox
from lakatos.theories.engine.scoring.score import log_predictive
from lakatos.theories.engine.scoring.view import TheoryView
from lakatos.theories.errors import TheoryError
from lakatos.theories.language.grammar import Composition, composition_of
from lakatos.theories.language.prior import Prior
from lakatos.theories.language.theory import TheoryProgram, read_program

CASES = {
    "learning": (("rescorla_wagner", "win_stay_lose_shift"), {"task": "reversal", "n_steps": 20}),
    "multiattribute": (("take_the_best", "tallying"), {"validities": [0.8, 0.7], "levels": [0, 1]}),
}


@pytest.mark.parametrize("name", CASES)
def test_people_of_each_theory_are_scored_by_all_of_them_as_any_evidence_is(name):
    seeds, space = CASES[name]
    domain, family = DOMAINS[name], FAMILIES[name]
    theories = [read_program(family.program(seed)) for seed in seeds]
    stimuli = domain.candidates(space, np.random.default_rng(0), 20)
    with Laboratory(domain) as laboratory:
        people = laboratory.simulate(theories, stimuli, 8, np.random.default_rng(1), n_draws=32)
        found = laboratory.scores_of_simulated_people(
            theories, 32, stimuli, np.random.default_rng(1), n_people=8
        )
        for scorer, theory in enumerate(theories):
            for true, evidence in enumerate(laboratory.evidence(theory, people, 32)):
                wanted = log_predictive(evidence).log_predictive
                np.testing.assert_allclose(found[true, :, scorer], wanted, rtol=1e-10)


def test_people_who_answered_a_part_are_asked_that_part_and_remember_nothing_else():
    """Under a theory that repeats choices, who answered half of the trials tells half as much of it."""
    domain, family = DOMAINS["multiattribute"], FAMILIES["multiattribute"]
    tally = composition_of(family.seeds["tallying"][1].to_literal(), {})
    repeats = replace(tally, slots={**tally.slots, "history": ("perseveration",)})
    sources = [family.program("tallying").source, family.grammar.write(repeats)]
    theories = [read_program(TheoryProgram(source, "grammar")) for source in sources]
    assert [theory.learns for theory in theories] == [False, True]
    space = {"validities": [0.8, 0.7, 0.6], "levels": [0, 1, 2]}
    stimuli = domain.candidates(space, np.random.default_rng(0), 12)
    asked = np.zeros((64, len(stimuli)), dtype=int)
    asked[::2, : len(stimuli) // 2] = 2
    asked[1::2] = 1
    with Laboratory(domain) as laboratory:
        people = laboratory.simulate(
            theories, stimuli, 64, np.random.default_rng(1), n_draws=32, asked=asked
        )
        scores = laboratory.scores_of_simulated_people(
            theories, 32, stimuli, np.random.default_rng(1), n_people=64, asked=asked
        )
    for trials in people:
        given = np.zeros_like(asked)
        np.add.at(given, (trials.participant, trials.trial), trials.count)
        np.testing.assert_array_equal(given, asked)
    orders = [people[1].trial[people[1].participant == person].tolist() for person in (1, 3)]
    assert orders[0] != orders[1]
    assert sorted(orders[0]) == sorted(orders[1])
    assert scores.shape == (2, 64, 2)
    assert np.isfinite(scores).all()


@pytest.mark.parametrize("name", CASES)
def test_people_are_learned_from_all_answers_and_each_experiment_is_predicted_from_the_others(name):
    seeds, space = CASES[name]
    domain, family = DOMAINS[name], FAMILIES[name]
    theory = read_program(family.program(seeds[0]))
    stimuli = [domain.candidates(space, np.random.default_rng(number), 20) for number in range(2)]
    few = theory.with_people(
        {"lapse": Prior("normal", 0.0, 1.0, 0.1, 0.02), "rate": Prior("normal", 0.0, 1.0, 0.3, 0.1)}
    )
    with Laboratory(domain) as laboratory:
        trials = [
            replace(
                laboratory.simulate([few], item, 32, np.random.default_rng(number))[0],
                experiment=str(number),
            )
            for number, item in enumerate(stimuli)
        ]
        (people,) = laboratory.people_of([theory], [{}], trials)
        (again,) = laboratory.people_of([theory], [people], trials)
        fitted = theory.with_people(people)
        (scored,) = laboratory.scores_of([fitted], trials, 256)
        wide, narrow = (
            sum(log_predictive(item).mean for item in laboratory.evidence(own, trials, 256))
            for own in (theory, fitted)
        )
    assert fitted.digest == theory.digest
    assert narrow > wide
    left_out = sum(item.left_out.mean for item in scored)
    assert (
        wide < left_out < narrow + 0.01
    )  # what others teach helps, and no more than what the answers teach
    for key, prior in people.items():  # a later fit goes on from an earlier one, and stays near it
        assert again[key].center == pytest.approx(prior.center, abs=0.5 * prior.spread)


def test_fits_of_a_search_are_made_once_and_known_under_every_parent():
    domain, family = DOMAINS["multiattribute"], FAMILIES["multiattribute"]
    _, composition = family.seeds["tallying"]
    space = {"validities": [0.8, 0.7], "levels": [0, 1]}
    stimuli = domain.candidates(space, np.random.default_rng(0), 8)
    theory, mother = read_program(family.program("tallying")), "a" * 64
    with Laboratory(domain, n_workers=1) as laboratory:
        trials = laboratory.simulate([theory], stimuli, 8, np.random.default_rng(0))
        fits = FittedCompositions(laboratory, family.grammar, trials, 32)
        (first,) = fits.evaluate([(composition, None)])
        again, same = fits.evaluate([(composition, mother), (composition, None)])
        (left_out,) = fits.validate([composition])
    assert again.scores is same.scores is first.scores
    assert left_out is first.left_out
    assert again.theory.program.parents == (mother,)
    assert same.theory.program.parents == ()


@pytest.mark.parametrize("pooled", [False, True])
def test_a_glance_around_a_similar_theory_tells_what_a_fit_would_gain(pooled):
    """Of all edits of weighing by validity, for people with an accent on the last cue as well."""
    domain, family = DOMAINS["multiattribute"], FAMILIES["multiattribute"]
    plain = Composition(family.seeds["weighted_additive"][1].slots)
    accented = Composition({**plain.slots, "accent": ("last_cue",)})
    declared = read_program(TheoryProgram(family.grammar.write(accented), "grammar"))
    centers = {
        name: prior.latent(np.array([prior.low, prior.high])) @ [0.3, 0.7]
        for name, prior in declared.priors.items()
    }
    truth = declared.with_people(
        {
            name: prior.narrowed(0.02 if name == "lapse" else float(centers[name]), 0.02)
            for name, prior in declared.priors.items()
        }
    )
    space = {"validities": [0.9, 0.8, 0.7], "levels": [0, 1, 2]}
    stimuli = domain.candidates(space, np.random.default_rng(0), 16)
    others = [
        Composition({**plain.slots, "accent": (name,)}) for name in ("majority", "best_rating")
    ]
    with Laboratory(domain, n_workers=1) as laboratory:
        (trials,) = laboratory.simulate([truth], stimuli, 32, np.random.default_rng(1))
        fits = FittedCompositions(
            laboratory, family.grammar, [trials.in_counts() if pooled else trials], 64
        )
        near, *fitted = fits.evaluate([(item, None) for item in (plain, accented, *others)])
        seen = fits.glance([(item, near) for item in (accented, *others)])
        (unaided,) = fits.glance([(accented, None)])
        broken = replace(
            family.grammar,
            mechanisms=tuple(
                replace(item, code="raise ValueError") for item in family.grammar.mechanisms
            ),
        )
        (failed,) = laboratory.glance(broken, [(plain, near)], [trials])
    assert isinstance(failed, TheoryError)
    assert np.argmax(seen) == 0
    assert seen[0] > near.mean + 0.5 * (fitted[0].mean - near.mean)
    for own, fit in zip(seen, fitted, strict=True):
        assert own == pytest.approx(fit.mean, abs=0.05)
    assert unaided > near.mean


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_compositions_that_share_a_process_are_scored_as_in_one_of_their_own(name):
    """One that cannot be run ends alone; those after it get another process."""
    seeds, space = CASES[name]
    domain, family = DOMAINS[name], FAMILIES[name]
    theories = [read_program(family.program(seed)) for seed in seeds]
    compositions = [composition_of(theory.composition, {}) for theory in theories]
    with Laboratory(domain, 1) as laboratory, Sandbox() as sandbox:
        trials = [
            replace(
                laboratory.simulate(theories[:1], item, 8, np.random.default_rng(number))[0],
                experiment=str(number),
            )
            for number, item in enumerate(
                domain.candidates(space, np.random.default_rng(number), 12) for number in range(2)
            )
        ]
        broken = replace(
            family.grammar,
            mechanisms=tuple(
                replace(item, code="raise ValueError") for item in family.grammar.mechanisms
            ),
        )
        (failed,) = laboratory.evaluate(broken, [(compositions[0], None)], trials, n_draws=64)
        shared = laboratory.evaluate(
            family.grammar, [(item, None) for item in compositions], trials, n_draws=64
        )
        own = [
            evaluate(family.grammar, item, trials, domain, sandbox, n_draws=64)
            for item in compositions
        ]
    assert isinstance(failed, TheoryError)
    for one, other in zip(shared, own, strict=True):
        assert one.theory == other.theory
        assert one.error == pytest.approx(other.error, rel=1e-9)
        for scores in ("scores", "left_out"):
            for first, second in zip(getattr(one, scores), getattr(other, scores), strict=True):
                np.testing.assert_allclose(
                    first.log_predictive, second.log_predictive, rtol=1e-9, atol=1e-9
                )


@pytest.mark.parametrize(("sign", "depends"), [(1.0, False), (-1.0, True)])
def test_what_no_trial_depends_on_is_not_learned_not_told_and_left_out(sign, depends):
    """Nobody was asked about losses, or everybody only about these."""
    domain, family = DOMAINS["intertemporal"], FAMILIES["intertemporal"]
    plain = Composition(family.seeds["hyperbolic"][1].slots)
    ornate = Composition({**plain.slots, "pace": ("slower for losses",)})
    theory, simple = (
        read_program(TheoryProgram(family.grammar.write(item), "grammar"))
        for item in (ornate, plain)
    )
    drawn = domain.candidates({}, np.random.default_rng(0), 12)
    stimuli = Stimuli({**drawn.arrays, "amounts": sign * np.abs(drawn["amounts"])})
    with Laboratory(domain) as laboratory:
        trials = laboratory.simulate([simple], stimuli, 16, np.random.default_rng(1))
        (people,) = laboratory.people_of([theory], [{}], trials)
        fits = FittedCompositions(laboratory, family.grammar, trials, 64)
        assert fits.same(ornate, [plain]) == [not depends]
    assert people["loss_pace"].idle == (not depends)
    assert not any(prior.idle for name, prior in people.items() if name != "loss_pace")
    account = theory.with_people(people).account()
    assert ("losses" in account.claim) == depends
    assert "sign effects" not in account.name or depends
    if not depends:
        assert replace(people["loss_pace"], idle=False) == theory.priors["loss_pace"]
        kept = {
            name: (prior.center, prior.spread) for name, prior in people.items() if not prior.idle
        }
        assert theory.with_recorded(kept, {}).priors["loss_pace"] == people["loss_pace"]


def test_a_theory_may_use_as_much_processor_time_as_its_laboratory_is_given():
    domain, family = DOMAINS["multiattribute"], FAMILIES["multiattribute"]
    source = family.program("tallying").source
    slow = source.replace(
        "def choose(", "def endless():\n    while True:\n        pass\n\n\ndef choose("
    )
    start = slow.index("\n", slow.index("def choose(") + len("def choose("))
    theory = read_program(TheoryProgram(f"{slow[:start]}\n    endless(){slow[start:]}", "a"))
    stimuli = domain.candidates(CASES["multiattribute"][1], np.random.default_rng(0), 4)
    with (
        Laboratory(domain, 1, seconds=0.2) as laboratory,
        pytest.raises(
            TheoryError, match=r"more than 0\.2 s of processor time.*--seconds, or `seconds` under"
        ),
    ):
        laboratory.proportions(theory, stimuli, 8)


def test_a_theory_without_parameters_has_nothing_to_learn():
    domain, family = DOMAINS["multiattribute"], FAMILIES["multiattribute"]
    theory = read_program(family.program("random"))
    assert not theory.priors
    stimuli = domain.candidates(CASES["multiattribute"][1], np.random.default_rng(0), 5)
    with Laboratory(domain) as laboratory:
        trials = laboratory.simulate([theory], stimuli, 4, np.random.default_rng(1))
        assert laboratory.people_of([theory], [{}], trials) == [{}]


def test_people_of_whom_something_is_known_can_be_asked_again_alone():
    """A theory that learns answers some people a second time, each without the others."""
    domain, family = DOMAINS["learning"], FAMILIES["learning"]
    theory = read_program(family.program("rescorla_wagner"))
    stimuli = domain.candidates({"task": "reversal", "n_steps": 12}, np.random.default_rng(0), 12)
    with Laboratory(domain) as laboratory:
        (trials,) = laboratory.simulate([theory], stimuli, 6, np.random.default_rng(1))
        known = replace(trials, attributes={"age_years": np.arange(6.0)})
        (first,), (second,) = (laboratory.evidence(theory, [item], 16) for item in (trials, known))
    np.testing.assert_array_equal(first.log_likelihood, second.log_likelihood)
    np.testing.assert_array_equal(trials_of(known, 2).attributes["age_years"], [2.0])


def test_people_who_learn_are_the_same_whoever_wrote_the_theory():
    """A source that the grammar did not write is walked step by step, its own by another writing."""
    seeds, space = CASES["learning"]
    domain, family = DOMAINS["learning"], FAMILIES["learning"]
    own = read_program(family.program(seeds[0]))
    by_hand = read_program(TheoryProgram(own.program.source + "\n# by hand\n", "somebody"))
    stimuli = domain.candidates(space, np.random.default_rng(0), 20)
    assert family.grammar.wrote(own.program.source, own.composition)
    assert not family.grammar.wrote(by_hand.program.source, own.composition)

    with Laboratory(domain, 1) as laboratory:
        trials = laboratory.simulate([own], stimuli, 8, np.random.default_rng(1))
        people, others = laboratory.people_of([own, by_hand], [{}, {}], trials)
        ((told,),) = laboratory.answers_of([own], [stimuli], 16)
        proportions = laboratory.proportions(own, stimuli, 16)
    assert people == others

    with Sandbox() as sandbox, TheoryView(own, domain, sandbox, [stimuli]) as view:
        (as_submitted,) = view.probabilities(own.population(16))
    np.testing.assert_array_equal(told, as_submitted)
    np.testing.assert_array_equal(proportions, as_submitted.mean(axis=0))


def peak_bytes(work):
    """What a piece of work has in memory at most, as far as Python allots it."""
    tracemalloc.start()
    try:
        work()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


class TestPredictives:
    """How theories, with the people they have, predict an experiment."""

    @pytest.fixture
    def asked(self):
        domain, family = DOMAINS["intertemporal"], FAMILIES["intertemporal"]
        theories = [read_program(family.program(name)) for name in list(family.seeds)[:4]]
        stimuli = domain.candidates({}, np.random.default_rng(0), 400)
        with Laboratory(domain, 1) as laboratory:
            (people,) = laboratory.simulate(theories[:1], stimuli, 8, np.random.default_rng(1))
            yield laboratory, theories, people

    def test_they_are_those_of_the_evidence_to_the_last_bit(self, asked):
        laboratory, theories, people = asked
        found = laboratory.predictives_or_error(theories, people, 64)
        for own, (evidence,) in zip(
            found, laboratory.evidence_of(theories, [people], 64), strict=True
        ):
            wanted = log_predictive(evidence)
            np.testing.assert_array_equal(own.log_predictive, wanted.log_predictive)
            np.testing.assert_array_equal(own.n_choices, wanted.n_choices)

    def test_probabilities_of_one_theory_are_let_go_before_those_of_the_next(self, asked):
        laboratory, theories, people = asked

        def peak(theories):
            return peak_bytes(lambda: laboratory.predictives_or_error(theories, people, 1024))

        alone = max(peak([theory]) for theory in theories)
        assert alone > 8 * 1024 * 400 * 2
        assert peak(theories) < 1.3 * alone


class TestToldEvidence:
    """What is told of one theory's evidence on several experiments."""

    @pytest.fixture
    def asked(self):
        domain, family = DOMAINS["intertemporal"], FAMILIES["intertemporal"]
        theory = read_program(family.program("hyperbolic"))
        with Laboratory(domain, 1) as laboratory:
            experiments = [
                laboratory.simulate(
                    [theory],
                    domain.candidates({}, np.random.default_rng(seed), 400),
                    8,
                    np.random.default_rng(seed),
                )[0]
                for seed in range(4)
            ]
            yield laboratory, theory, experiments

    def test_it_is_told_of_the_same_evidence_as_that_of_all_experiments_together(self, asked):
        laboratory, theory, experiments = asked
        found = laboratory.tell_evidence(theory, experiments, 64, log_predictive)
        together = laboratory.evidence(theory, experiments, 64)
        for own, evidence in zip(found, together, strict=True):
            wanted = log_predictive(evidence)
            np.testing.assert_array_equal(own.log_predictive, wanted.log_predictive)
            assert own.chance == wanted.chance

    def test_probabilities_of_one_experiment_are_let_go_before_those_of_the_next(self, asked):
        laboratory, theory, experiments = asked

        def peak(experiments):
            return peak_bytes(
                lambda: laboratory.tell_evidence(theory, experiments, 1024, log_predictive)
            )

        alone = max(peak([item]) for item in experiments)
        assert alone > 8 * 1024 * 400 * 2
        assert peak(experiments) < 1.3 * alone
