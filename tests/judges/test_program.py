"""Program judges: what a program computes, what its version depends on, and whether breeding finds what matters."""

import numpy as np
import pytest
from scipy.special import expit, logit

from lakatos.judges.errors import VerdictError
from lakatos.judges.program import (
    JudgeProgram,
    LabelledComparisons,
    ProgramFactor,
    ProgramJudge,
    ProgramTerm,
    breed,
    criterion,
    fit,
    gain_of_breeding,
    labelled,
    log_odds,
    mutate,
    recombine,
    scales,
)
from tests.judges.support import submission

PROGRAM = JudgeProgram(
    (
        ProgramTerm((ProgramFactor("advantage_z", "saturating", 2.0),), 1.5),
        ProgramTerm((ProgramFactor("a"), ProgramFactor("b", "square", 2.0)), -1.0),
    ),
    0.25,
)


def test_a_program_is_a_sum_of_products_of_features():
    a, b, z = 0.5, 3.0, 1.0  # an advantage of 0.01 with an error of 0.01
    odds = 0.25 + 1.5 * np.tanh(z / 2) - a * (b / 2) ** 2
    assert ProgramJudge(PROGRAM).judge(submission(1, a=a, b=b)) == pytest.approx(expit(odds))


def test_it_is_never_sure():
    sure = ProgramJudge(JudgeProgram((ProgramTerm((ProgramFactor("a"),), 100.0),)))
    assert sure.judge_all([submission(1, a=1.0), submission(2, a=-1.0)]).tolist() == [0.99, 0.01]


def test_a_missing_or_infinite_feature_is_an_error_that_names_it():
    for features in ({"a": 1.0}, {"a": 1.0, "b": float("inf")}):
        with pytest.raises(VerdictError, match="no finite feature 'b'"):
            ProgramJudge(PROGRAM).judge(submission(1, **features))


def test_the_version_follows_the_program_and_not_its_name():
    changed = [
        JudgeProgram(PROGRAM.terms, 0.3),
        JudgeProgram((PROGRAM.terms[0],), 0.25),
        JudgeProgram((ProgramTerm(PROGRAM.terms[0].factors, 1.6), PROGRAM.terms[1]), 0.25),
    ]
    versions = {ProgramJudge(program).digest for program in (PROGRAM, *changed)}
    assert len(versions) == 4
    assert ProgramJudge(PROGRAM, name="renamed").digest == ProgramJudge(PROGRAM).digest


def test_a_program_reads_back_and_a_bad_one_is_refused():
    assert JudgeProgram.from_json(PROGRAM.to_json()) == PROGRAM
    bad = PROGRAM.to_json()
    bad["terms"][0]["factors"][0]["transform"] = "__import__"
    with pytest.raises(VerdictError, match="not one or two factors bent by one of"):
        JudgeProgram.from_json(bad)
    with pytest.raises(VerdictError, match="no finite number"):
        JudgeProgram.from_json(PROGRAM.to_json() | {"bias": float("nan")})


def world(n, rng, *, style=0.0):
    """Comparisons whose label follows one feature, two that do not matter, and one more by ``style``."""
    values = rng.normal(size=(n, 4))
    labels = rng.random(n) < expit(2 * values[:, 0] + style * values[:, 3])
    return LabelledComparisons(
        ("good", "noise", "other noise", "style"), values, labels.astype(float), np.ones(n)
    )


def test_fitted_weights_solve_the_penalised_equations():
    items = world(300, np.random.default_rng(1))
    program = fit(
        JudgeProgram(
            (ProgramTerm((ProgramFactor("good"),)), ProgramTerm((ProgramFactor("noise"),)))
        ),
        items,
    )
    p = expit(log_odds(program, items.features, items.values))
    weights = {term.factors[0].feature: term.weight for term in program.terms}
    assert (items.labels - p).sum() == pytest.approx(0, abs=1e-5)
    for place, name in enumerate(("good", "noise")):
        assert items.values[:, place] @ (items.labels - p) == pytest.approx(
            0.1 * weights[name], abs=1e-5
        )


def test_weights_count_items_as_if_they_were_repeated():
    rng = np.random.default_rng(2)
    items = world(60, rng)
    counts = rng.integers(1, 4, size=60)
    repeated = LabelledComparisons(
        items.features,
        np.repeat(items.values, counts, axis=0),
        np.repeat(items.labels, counts),
        np.ones(counts.sum()),
    )
    weighted = LabelledComparisons(items.features, items.values, items.labels, counts.astype(float))
    program = JudgeProgram((ProgramTerm((ProgramFactor("good"),)),))
    assert fit(program, weighted).bias == pytest.approx(fit(program, repeated).bias, abs=1e-6)
    assert criterion(PROGRAM_GOOD, weighted) == pytest.approx(criterion(PROGRAM_GOOD, repeated))


PROGRAM_GOOD = JudgeProgram((ProgramTerm((ProgramFactor("good"),), 1.0),))


def test_separable_labels_give_finite_weights():
    values = np.linspace(-1, 1, 40)[:, None]
    items = LabelledComparisons(("good",), values, (values[:, 0] > 0).astype(float), np.ones(40))
    assert np.isfinite(fit(PROGRAM_GOOD, items).terms[0].weight)


def test_breeding_finds_the_feature_that_matters_and_drops_the_style():
    items = world(400, np.random.default_rng(3))
    biased = JudgeProgram(
        (ProgramTerm((ProgramFactor("good"),), 2.0), ProgramTerm((ProgramFactor("style"),), 1.0))
    )
    best = breed(biased, items, np.random.default_rng(4))[0]
    assert "style" not in best.features
    assert "good" in best.features
    fresh = world(4000, np.random.default_rng(5))
    optimum = np.mean(expit(2 * np.abs(fresh.values[:, 0])))
    right = np.mean((log_odds(best, fresh.features, fresh.values) > 0) == (fresh.labels > 0))
    assert right == pytest.approx(optimum, abs=0.01 + 4 * np.sqrt(0.15 / 4000))


def test_breeding_keeps_a_style_that_tells():
    best = breed(
        PROGRAM_GOOD, world(400, np.random.default_rng(3), style=1.0), np.random.default_rng(4)
    )[0]
    assert {"good", "style"} <= set(best.features)


def test_breeding_repeats_itself_with_the_same_generator():
    items = world(100, np.random.default_rng(3))
    first, second = (
        breed(PROGRAM_GOOD, items, np.random.default_rng(4), n_generations=3) for _ in range(2)
    )
    assert first == second


def test_children_stay_small_and_have_each_term_once():
    rng = np.random.default_rng(0)
    scale = scales(world(50, rng))
    program = PROGRAM_GOOD
    for _ in range(300):
        program = (
            recombine(program, mutate(program, scale, rng), rng)
            if rng.random() < 0.2
            else mutate(program, scale, rng)
        )
        assert len(set(program.structure)) == len(program.terms) <= 12
        assert all(1 <= len(factors) <= 2 for factors in program.structure)


def test_features_of_submissions_are_arranged_by_name():
    items = labelled(
        [submission(1, a=1.0), submission(2, a=2.0)], [True, False], ["a", "advantage_z"]
    )
    assert items.values.tolist() == [[1.0, 1.0], [2.0, 1.0]]
    assert items.labels.tolist() == [1.0, 0.0]
    assert logit(0.5) == 0


@pytest.mark.slow
def test_breeding_pays_where_another_feature_matters_and_not_where_none_does():
    names = ("advantage_z", *(f"noise_{number}" for number in range(6)), "told")
    gains = []
    for weight in (0.0, 2.0):
        rng = np.random.default_rng(5)
        values = rng.normal(size=(200, len(names)))
        labels = rng.random(200) < expit(values[:, 0] + weight * values[:, -1])
        items = LabelledComparisons(names, values, labels.astype(float), np.ones(200))
        start = JudgeProgram((ProgramTerm((ProgramFactor("advantage_z"),)),))
        best = breed(start, items, np.random.default_rng(1))[0]
        in_sample = criterion(best, items) - criterion(fit(start, items), items)
        assert in_sample > 0  # on the items that chose it, the best always looks better
        gains.append(gain_of_breeding(start, items, list(range(200)), np.random.default_rng(2)))
    (nothing, error), (much, other) = gains
    assert nothing < error
    assert much > 4 * other
