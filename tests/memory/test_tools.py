"""The laboratory's verbs: each does what its science does, tells what it cannot do, and repeats itself."""

import asyncio

import numpy as np
import pytest

from lakatos.domains import DOMAINS, FAMILIES
from lakatos.language_models.client import ToolCall
from lakatos.language_models.errors import ToolError
from lakatos.language_models.tool import PreparedCall, Toolbox
from lakatos.memory.recall import RecallNothing
from lakatos.memory.tools import TOOLS
from lakatos.memory.tools.laboratory import tools_on
from lakatos.theories.discovery.bench import TheoryBench
from lakatos.theories.engine.laboratory import Laboratory
from lakatos.theories.language.theory import read_program
from lakatos.traces.artifact import ArtifactStore

SPACE = {"validities": [0.9, 0.7, 0.6], "levels": [0, 1, 2]}
SEEDS = ("take_the_best", "tallying", "weighted_additive")


@pytest.fixture(scope="module")
def bench(tmp_path_factory):
    family = FAMILIES["multiattribute"]
    theories = [read_program(family.program(seed)) for seed in SEEDS if seed in family.seeds]
    with Laboratory(DOMAINS["multiattribute"], n_workers=1) as laboratory:
        stimuli = DOMAINS["multiattribute"].candidates(SPACE, np.random.default_rng(0), 24)
        (answers,) = laboratory.simulate(
            theories[:1], stimuli, 24, np.random.default_rng(1), n_draws=64
        )
        yield TheoryBench(
            laboratory,
            {theory.digest: theory for theory in theories},
            {"first": answers},
            ArtifactStore(tmp_path_factory.mktemp("artifacts")),
            SPACE,
            n_draws=64,
        )


@pytest.fixture(scope="module")
def names(bench):
    return list(bench.theories)


def run(bench, name, **arguments):
    return TOOLS[name].run(bench, arguments)


def test_the_theory_that_people_followed_scores_best(bench, names):
    lines = run(bench, "score", theories=names, experiments=["first"])["lines"]
    assert lines[0]["theory"] == names[0]
    assert lines[0]["behind"] == 0
    assert all(line["behind"] >= 0 for line in lines)


def test_a_searched_design_tells_its_theories_apart_and_can_be_named(bench, names):
    found = run(bench, "search_design", theories=names[:2], n_trials=4, n_candidates=64)
    pairs = run(bench, "recover", theories=names[:2], design=found["design"], n_simulations=40)[
        "pairs"
    ]
    assert 0 < found["information"] <= np.log(2)
    assert min(pair["power"] for pair in pairs) > 0.8
    assert all(pair["low"] - 1e-12 <= pair["power"] <= pair["high"] + 1e-12 for pair in pairs)


def test_simulated_answers_can_be_scored_as_an_experiment(bench, names):
    made = run(bench, "simulate", theory=names[1], design="first", n_people=16)
    lines = run(bench, "score", theories=names[:2], experiments=[made["answers"]])["lines"]
    assert lines[0]["theory"] == names[1]


def test_theories_that_predict_the_same_are_not_apart_and_others_are(bench, names):
    (pair,) = run(bench, "compare_predictions", theories=names[:2], design="first")["pairs"]
    gap = abs(pair["first_proportion"] - pair["second_proportion"])
    assert 0 < pair["distance"] <= gap


def test_residuals_of_the_truth_raise_fewer_doubts_than_those_of_a_rival(bench, names):
    own = run(bench, "check_predictions", theory=names[0], experiments=["first"], n_replicas=50)
    other = run(bench, "check_predictions", theory=names[1], experiments=["first"], n_replicas=50)
    assert other["checks"][0]["p"] < own["checks"][0]["p"]
    assert (
        run(bench, "analyse_residuals", theory=names[0], experiments=["first"], n_replicas=50)[
            "n_checks"
        ]
        > 0
    )


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("simulate", {"design": "first", "n_people": 8}),
        ("search_design", {"n_trials": 3, "n_candidates": 32}),
    ],
)
def test_a_call_made_again_says_the_same(bench, names, name, arguments):
    given = {"theory": names[0]} if name == "simulate" else {"theories": names[:2]}
    assert run(bench, name, **given, **arguments) == run(bench, name, **given, **arguments)


@pytest.mark.parametrize(
    ("name", "arguments", "words"),
    [
        ("simulate", {"theory": "nobody", "design": "first"}, "no theory is called 'nobody'"),
        ("score", {"theories": [0], "experiments": ["first"]}, "wrong arguments"),
        ("score", {"theories": ["THEORY"], "experiments": ["f" * 64]}, "there is no experiment"),
        ("score", {"theories": ["THEORY", "THEORY"], "experiments": ["first"]}, "named twice"),
        (
            "recover",
            {"theories": ["THEORY", "OTHER"], "design": "second"},
            "there is no experiment, design",
        ),
        ("simulate", {"theory": "THEORY", "design": "first", "people": 3}, "people"),
    ],
)
def test_what_cannot_be_done_is_said_with_what_there_is(bench, names, name, arguments, words):
    real = {"THEORY": names[0], "OTHER": names[1]}

    def put(value):
        return [put(item) for item in value] if isinstance(value, list) else real.get(value, value)

    with pytest.raises(ToolError, match=words):
        run(bench, name, **{key: put(value) for key, value in arguments.items()})


def test_all_verbs_can_be_offered_to_a_model_and_called_by_it(bench, names):
    box = Toolbox(tools_on(bench, RecallNothing()))
    assert {offer.name for offer in box.offers} == set(TOOLS)
    prepared = box.prepare(ToolCall(call_id="1", name="recall", arguments='{"domain": "risky"}'))
    assert isinstance(prepared, PreparedCall)
    assert asyncio.run(prepared.tool.call(prepared.arguments)).lessons == ()


def test_a_verb_that_answers_otherwise_has_another_digest():
    verb = TOOLS["score"]
    assert verb.digest != type(verb)(**{**vars(verb), "version": 2}).digest
