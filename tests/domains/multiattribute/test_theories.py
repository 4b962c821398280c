"""Theories of choice between rated products: what they predict, computed by hand, and that every mechanism runs."""

import numpy as np
import pytest

from lakatos.domains.multiattribute.task import MultiattributeDomain
from lakatos.domains.multiattribute.theories import FAMILY
from lakatos.experiments.task import Stimuli, Trials
from lakatos.theories.engine.checks.check import load_theory
from lakatos.theories.engine.running.sequence import follow
from lakatos.theories.engine.sandbox.client import Sandbox
from lakatos.theories.errors import GrammarError
from lakatos.theories.language.grammar import Composition
from lakatos.theories.language.points import check_points
from lakatos.theories.language.theory import TheoryProgram, read_program

DOMAIN = MultiattributeDomain()
GRAMMAR = FAMILY.grammar
VALIDITIES = [0.9, 0.8, 0.7, 0.6]
A = [[1, 0, 0, 0], [2, 2, 2, 0], [4, 0, 1, 1], [3, 3, 0, 0], [0, 4, 4, 0]]
B = [[0, 1, 1, 0], [2, 2, 0, 4], [0, 1, 2, 2], [0, 0, 3, 3], [4, 0, 0, 4]]
TRIALS = Stimuli(
    {
        "ratings": np.stack([A, B], axis=1).astype(float),
        "validities": np.tile(VALIDITIES, (len(A), 1)),
        "rating_max": np.full(len(A), 4.0),
    }
)
PLAIN = {
    "utility": ("linear",),
    "comparison": ("difference",),
    "weight": ("validity",),
    "integration": ("sum",),
    "choice": ("logistic",),
}
N_VARIED = 60
RNG = np.random.default_rng(5)
VARIED = Stimuli(
    {
        "ratings": RNG.integers(0, 6, size=(N_VARIED, 2, 4)).astype(float),
        "validities": RNG.permuted(np.tile(VALIDITIES, (N_VARIED, 1)), axis=1),
        "rating_max": np.full(N_VARIED, 5.0),
    }
)
ONE_PERSON = Trials(
    "one person",
    VARIED,
    participant=np.zeros(N_VARIED, dtype=np.int64),
    trial=np.arange(N_VARIED),
    response=RNG.integers(0, 2, size=N_VARIED),
    count=np.ones(N_VARIED, dtype=np.int64),
)


@pytest.fixture(scope="module")
def sandbox():
    with Sandbox() as sandbox:
        yield sandbox


def chance_of_b(sandbox, slots, stimuli=TRIALS, **parameters):
    source = GRAMMAR.write(
        Composition({slot: names for slot, names in (PLAIN | slots).items() if names}), "Theory"
    )
    draws = {
        name: np.atleast_1d(np.asarray(value, dtype=float)) for name, value in parameters.items()
    }
    return sandbox.probabilities(source, draws or {"": np.zeros(1)}, [stimuli.arrays])[0][..., 1]


@pytest.mark.long
@pytest.mark.parametrize("name", list(FAMILY.seeds))
def test_every_published_theory_is_a_theory(name, sandbox):
    theory = load_theory(FAMILY.program(name), DOMAIN, sandbox)
    assert theory.name == FAMILY.seeds[name][0]
    assert theory.claim.startswith("People ")


def with_mechanism(slots):
    """Weighted additive with ``slots``."""
    return TheoryProgram(GRAMMAR.write(Composition(PLAIN | slots), "Theory"), "test")


def along_one_person(sandbox, slots):
    """P(B) before each answer of `ONE_PERSON`, ``(n_points, n_trials)``, at points of the declared ranges.

    Weighted additive with ``slots``; its sensitivity is held at 5.
    """
    theory = read_program(with_mechanism(slots))
    points = check_points(theory.priors, np.random.default_rng(1), n_random=8)
    n_points = len(next(iter(points.values())))
    points |= {"sensitivity": np.full(n_points, 5.0)} if "sensitivity" in points else {}
    if not theory.learns:
        return sandbox.probabilities(theory.program.source, points, [VARIED.arrays])[0][..., 1]
    with sandbox.open_session(theory.program.source, [], n_options=2) as session:
        # The person saw every trial once, so that the average over who saw it is the probability itself.
        return follow(session, DOMAIN, points, ONE_PERSON).probabilities[..., 1]


@pytest.fixture(scope="module")
def weighted_additive(sandbox):
    return along_one_person(sandbox, {})[0]


@pytest.mark.slow
@pytest.mark.parametrize(
    "mechanism", GRAMMAR.mechanisms, ids=lambda item: f"{item.slot}-{item.name}"
)
def test_every_mechanism_alone_makes_weighted_additive_another_theory(
    mechanism, sandbox, weighted_additive
):
    predicted = along_one_person(sandbox, {mechanism.slot: (mechanism.name,)})
    difference = np.sqrt(((predicted - weighted_additive) ** 2).mean(axis=1)).max()
    if (mechanism.name,) == PLAIN.get(mechanism.slot):
        assert difference == 0
    else:
        assert difference > 0.02


@pytest.mark.long
@pytest.mark.parametrize(
    "mechanism", GRAMMAR.mechanisms, ids=lambda item: f"{item.slot}-{item.name}"
)
def test_weighted_additive_with_any_mechanism_passes_all_checks(mechanism, sandbox):
    load_theory(with_mechanism({mechanism.slot: (mechanism.name,)}), DOMAIN, sandbox)


def test_mechanisms_have_names_and_parameters_of_their_own():
    places = [(item.slot, item.name) for item in GRAMMAR.mechanisms]
    assert len(set(places)) == len(places)
    owners = {}
    for item in GRAMMAR.mechanisms:
        for parameter in item.parameters:
            owners.setdefault(parameter, []).append(item)
    shared = {
        name: {(item.slot, item.parameters[name]["meaning"]) for item in of}
        for name, of in owners.items()
    }
    assert all(len(meanings) == 1 for meanings in shared.values()), shared


def test_every_mechanism_is_one_edit_away_from_weighted_additive_or_its_balance():
    _, start = FAMILY.seeds["weighted_additive"]
    balance = Composition({**start.slots, "integration": ("balance",)})
    reached = {
        (slot, name)
        for here in (start, balance)
        for _, there in GRAMMAR.edits(here)
        for slot, names in there.slots.items()
        for name in names
    }
    assert reached == {(item.slot, item.name) for item in GRAMMAR.mechanisms}


@pytest.mark.long
def test_random_compositions_are_theories(sandbox):
    rng = np.random.default_rng(11)
    for _ in range(40):
        load_theory(
            TheoryProgram(GRAMMAR.write(GRAMMAR.compose(rng), "Theory"), "test"), DOMAIN, sandbox
        )


def test_take_the_best_follows_the_first_cue_that_differs(sandbox):
    theory = read_program(FAMILY.program("take_the_best"))
    answer = sandbox.probabilities(
        theory.program.source, {"lapse": np.array([0.0, 0.5])}, [TRIALS.arrays]
    )[0]
    # Trial 1 ties on the two best cues; the third favours A.
    np.testing.assert_allclose(answer[0, :, 1], [0, 0, 0, 0, 1])
    np.testing.assert_allclose(answer[1, :, 1], [0.25, 0.25, 0.25, 0.25, 0.75])


def test_tallying_counts_cues_and_is_undecided_at_a_draw(sandbox):
    theory = read_program(FAMILY.program("tallying"))
    answer = sandbox.probabilities(theory.program.source, {"lapse": np.zeros(1)}, [TRIALS.arrays])[
        0
    ]
    np.testing.assert_allclose(answer[0, :, 1], [1, 0.5, 1, 0.5, 0.5])


def test_weighted_additive_is_a_logistic_of_the_weighted_difference(sandbox):
    evidence = np.array(
        [
            -0.9 + 0.8 + 0.7,
            -1.4 + 2.4,
            -3.6 + 0.8 + 0.7 + 0.6,
            -2.7 - 2.4 + 2.1 + 1.8,
            3.6 - 6.0 + 2.4,
        ]
    )
    predicted = chance_of_b(sandbox, {}, sensitivity=[1.5, 8.0])
    np.testing.assert_allclose(
        predicted, 1 / (1 + np.exp(-np.outer([1.5, 8.0], evidence / 4))), atol=1e-12
    )


def test_a_deterministic_rule_takes_the_better_product_and_splits_a_draw(sandbox):
    predicted = chance_of_b(sandbox, {"choice": ("deterministic",)})
    np.testing.assert_allclose(predicted[0], [1, 1, 0, 0, 0.5])


def test_the_power_of_weights_spans_tallying_and_the_best_cue(sandbox):
    slots = {"weight": ("power",), "comparison": ("direction",)}
    predicted = chance_of_b(
        sandbox, slots, emphasis=[1e-6, 1.0, 20.0], sensitivity=[200.0, 200.0, 200.0]
    )
    np.testing.assert_allclose(predicted[0], [1, 0.5, 1, 0.5, 0.5], atol=0.01)
    np.testing.assert_allclose(
        predicted[1, 0], 1 / (1 + np.exp(-200 * (-0.8 + 0.6 + 0.4))), atol=1e-9
    )
    assert predicted[2, 0] < 0.2
    assert predicted[2, 4] > 0.8


def test_diminishing_returns_prefer_the_even_product(sandbox):
    even = Stimuli(
        {
            "ratings": np.array([[[4.0, 0.0], [2.0, 2.0]]]),
            "validities": np.full((1, 2), 0.8),
            "rating_max": np.array([4.0]),
        }
    )
    predicted = chance_of_b(
        sandbox, {"utility": ("diminishing",)}, even, curvature=[1.0, 0.5], sensitivity=[3.0, 3.0]
    )
    evidence = 0.8 * (2 * np.sqrt(0.5) - 1)
    np.testing.assert_allclose(predicted[:, 0], [0.5, 1 / (1 + np.exp(-3 * evidence))])


def test_satisficing_sees_only_whether_a_rating_is_good_enough(sandbox):
    predicted = chance_of_b(sandbox, {"utility": ("satisficing",)}, aspiration=0.5, sensitivity=2.0)
    # Good enough from 2 of 4: nobody; A on three cues and B on two; A's first against B's last two; and so on.
    evidence = np.array(
        [0, 0.6 - 0.7, -0.9 + 0.7 + 0.6, -0.9 - 0.8 + 0.7 + 0.6, 0.9 - 0.8 - 0.7 + 0.6]
    )
    np.testing.assert_allclose(predicted[0], 1 / (1 + np.exp(-2 * evidence)), atol=1e-12)


def test_looking_at_one_cue_ignores_the_others(sandbox):
    slots = {"selection": ("best_few",), "choice": ("deterministic",)}
    np.testing.assert_allclose(chance_of_b(sandbox, slots, n_looked_up=1.0)[0], [0, 0.5, 0, 0, 1])
    np.testing.assert_allclose(chance_of_b(sandbox, slots, n_looked_up=8.0)[0], [1, 1, 0, 0, 0.5])


def test_the_threshold_spans_one_reason_and_all_reasons(sandbox):
    slots = {
        "integration": ("threshold",),
        "comparison": ("direction",),
        "choice": ("deterministic",),
    }
    np.testing.assert_allclose(chance_of_b(sandbox, slots, caution=0.01)[0], [0, 0, 0, 0, 1])
    everything = chance_of_b(sandbox, {"comparison": ("direction",), "choice": ("deterministic",)})
    np.testing.assert_allclose(chance_of_b(sandbox, slots, caution=3.0)[0], everything[0])


def test_people_of_another_type_follow_the_other_strategy(sandbox):
    slots = {"other": ("best_reason",), "choice": ("guessing",)}
    predicted = chance_of_b(sandbox, slots, one_reason_type=[-1.0, 1.0])
    np.testing.assert_allclose(predicted, [[0.5] * 5, [0, 0, 0, 0, 1]])


@pytest.mark.parametrize("name", [name for name in FAMILY.seeds if name != "random"])
def test_exchanging_the_products_exchanges_the_probabilities(name, sandbox):
    theory = read_program(FAMILY.program(name))
    draws = theory.population(16)
    here, there = sandbox.probabilities(
        theory.program.source, draws, [TRIALS.arrays, DOMAIN.swap_sides(TRIALS).arrays]
    )
    np.testing.assert_allclose(here[..., 1], there[..., 0], atol=1e-12)


def test_a_mechanism_that_is_not_there_is_named_with_those_that_are():
    with pytest.raises(
        GrammarError, match="no mechanism 'prelec' in slot 'weight'; it has: validity"
    ):
        GRAMMAR.write(Composition(PLAIN | {"weight": ("prelec",)}), "Theory")
