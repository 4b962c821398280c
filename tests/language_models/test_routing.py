"""Which model serves a role: fixed, or learned from validated improvements per cost."""

import numpy as np
import pytest
from scipy.stats import beta

from lakatos.language_models.errors import ModelSettingsError
from lakatos.language_models.routing import RoutingArm, ValidatedAnswer, beliefs, choose
from lakatos.traces.digest import digest_of

SMALL = RoutingArm(model="small", version="1", expected_cost=1.0)
LARGE = RoutingArm(model="large", version="1", expected_cost=4.0)


def seen(model, improved, cost, number=0, version="1", role="advocate"):
    name = digest_of([model, improved, cost, number, version, role])
    return ValidatedAnswer(
        role=role, model=model, version=version, improved=improved, cost=cost, record=name
    )


def pick(outcomes=(), seed=0, **given):
    return choose(
        "advocate", [SMALL, LARGE], np.random.default_rng(seed), outcomes=outcomes, **given
    )


def test_a_fixed_role_has_its_model():
    choice = pick(fixed={"advocate": "large"})
    assert (choice.model, choice.how) == ("large", "fixed")
    with pytest.raises(ModelSettingsError, match="set to model 'huge', which is not configured"):
        pick(fixed={"advocate": "huge"})


def test_a_single_model_serves_everything():
    assert choose("judge", [SMALL], np.random.default_rng(0)).how == "only"


def test_models_without_a_cost_cannot_be_compared():
    with pytest.raises(ModelSettingsError, match="needs an expected cost above 0"):
        choose(
            "judge",
            [SMALL, RoutingArm(model="free", version="1", expected_cost=0.0)],
            np.random.default_rng(0),
        )
    with pytest.raises(ModelSettingsError, match="each once"):
        choose("judge", [SMALL, SMALL], np.random.default_rng(0))


def test_the_posterior_is_the_count_of_validated_improvements():
    outcomes = [seen("small", True, 2.0), seen("small", False, 3.0), seen("small", False, 3.0, 1)]
    found = beliefs([SMALL, LARGE], "advocate", outcomes, lambda digest: True)
    assert (found["small"].alpha, found["small"].beta) == (2.0, 3.0)
    assert found["small"].mean_cost == (1.0 + 8.0) / 4
    assert (found["large"].alpha, found["large"].beta, found["large"].mean_cost) == (1.0, 1.0, 4.0)


def test_erased_outcomes_other_roles_and_other_versions_do_not_count():
    kept = seen("small", True, 1.0)
    others = [
        seen("small", True, 1.0, 1),
        seen("small", True, 1.0, role="judge"),
        seen("small", True, 1.0, version="2"),
    ]
    found = beliefs([SMALL], "advocate", [kept, *others], lambda digest: digest == kept.record)
    assert (found["small"].alpha, found["small"].beta) == (2.0, 1.0)
    assert pick([kept, *others], valid=lambda digest: digest == kept.record).n_evidence == 1


def test_the_same_generator_gives_the_same_choice_in_any_order_of_evidence():
    outcomes = [seen("small", number % 2 == 0, 1.0, number) for number in range(9)]
    assert pick(outcomes, seed=4) == pick(outcomes[::-1], seed=4)


@pytest.mark.statistical
def test_a_model_is_chosen_as_often_as_its_ratio_is_the_largest():
    # P(U1 / 1 > U2 / 4) for uniform U1, U2 is 1 - 1/8.
    n_draws = 4000
    rng = np.random.default_rng(3)
    share = np.mean(
        [choose("advocate", [SMALL, LARGE], rng).model == "small" for _ in range(n_draws)]
    )
    expected = 1 - 1 / 8
    assert abs(share - expected) < 4 * np.sqrt(expected * (1 - expected) / n_draws)


@pytest.mark.statistical
def test_with_evidence_the_share_is_that_of_the_posterior():
    outcomes = [seen("large", True, 4.0, number) for number in range(6)]
    grid = np.linspace(0, 1, 20_001)
    # P(U < B / 4) with B ~ Beta(7, 1): mean of B over 4.
    expected = float(np.trapezoid(beta.pdf(grid, 7, 1) * grid / 4, grid))
    n_draws = 4000
    rng = np.random.default_rng(5)
    chosen = [
        choose("advocate", [SMALL, LARGE], rng, outcomes=outcomes).model == "large"
        for _ in range(n_draws)
    ]
    assert abs(np.mean(chosen) - expected) < 4 * np.sqrt(expected * (1 - expected) / n_draws)


@pytest.mark.statistical
@pytest.mark.parametrize(("rates", "best"), [((0.3, 0.5), "small"), ((0.02, 0.6), "large")])
def test_the_bandit_finds_the_model_with_the_most_improvements_per_cost(rates, best):
    rng = np.random.default_rng(8)
    outcomes = []
    truth = dict(zip(("small", "large"), rates, strict=True))
    costs = {"small": 1.0, "large": 4.0}
    chosen = []
    for number in range(400):
        model = choose("advocate", [SMALL, LARGE], rng, outcomes=outcomes).model
        chosen.append(model)
        outcomes.append(seen(model, bool(rng.random() < truth[model]), costs[model], number))
    assert np.mean([model == best for model in chosen[200:]]) > 0.85


def test_a_change_of_version_starts_anew():
    outcomes = [seen("small", False, 1.0, number) for number in range(50)]
    changed = SMALL.model_copy(update={"version": "2"})
    assert beliefs([changed], "advocate", outcomes, lambda digest: True)["small"].beta == 1.0
