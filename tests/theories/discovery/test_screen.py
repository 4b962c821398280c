"""A score of theories before anything is fitted, and which drafts it keeps."""

from __future__ import annotations

import numpy as np
import pytest

from lakatos.domains import DOMAINS, FAMILIES
from lakatos.experiments.task import Trials
from lakatos.theories.discovery.roles.answer import SeveralSuccessors
from lakatos.theories.engine.fitting.screen import score_before_fit, worth_fitting
from lakatos.theories.engine.laboratory import Laboratory
from lakatos.theories.engine.scoring.score import ExperimentEvidence
from lakatos.theories.errors import TheoryError
from lakatos.theories.language.theory import TheoryProgram, read_program

FAMILY, DOMAIN = FAMILIES["multiattribute"], DOMAINS["multiattribute"]
N_PEOPLE = 60


@pytest.fixture(scope="module")
def laboratory() -> Laboratory:
    with Laboratory(DOMAIN, n_workers=1) as found:
        yield found


@pytest.fixture(scope="module")
def answers(laboratory: Laboratory) -> Trials:
    """People who take the better product by weighted ratings."""
    rng = np.random.default_rng(4)
    space = {"validities": [0.9, 0.7, 0.6], "levels": [0, 1, 2]}
    rule = read_program(FAMILY.program("weighted_additive"))
    stimuli = DOMAIN.candidates(space, rng, 12)
    (found,) = laboratory.simulate([rule], stimuli, N_PEOPLE, rng, n_draws=64)
    return found


def evidence_of(answers: Trials, shares: list[float]) -> ExperimentEvidence:
    """Draws each of which takes the second option of every trial with a probability of its own."""
    second = np.repeat(np.array(shares)[:, None], len(answers.stimuli), axis=1)
    return ExperimentEvidence(answers, np.stack([1 - second, second], axis=2))


def test_a_theory_without_differences_between_people_has_its_log_score(answers: Trials) -> None:
    evidence = evidence_of(answers, [0.7, 0.7])
    share = answers.totals.sum(axis=0)[1] / answers.totals.sum()
    expected = share * np.log(0.7) + (1 - share) * np.log(0.3)
    halves = [answers.of_people(np.arange(N_PEOPLE) % 2 == half) for half in (0, 1)]
    assert len({item.totals.sum() for item in halves}) == 1  # halves of one size have one weight
    assert score_before_fit([evidence]) == pytest.approx(expected, abs=1e-9)


def test_a_wide_population_is_not_refused_for_its_width(answers: Trials) -> None:
    """Seven of eight draws are nobody's here; what half of the people teach takes their weight away."""
    right = float(answers.totals.sum(axis=0)[1] / answers.totals.sum())
    narrow = score_before_fit([evidence_of(answers, [right])])
    wide = score_before_fit([evidence_of(answers, [right, *[0.02] * 7])])
    n = answers.totals.sum() / N_PEOPLE
    half, prior = N_PEOPLE / 2, 5  # of `learn_population`, people who think nothing of any draw
    weight = (half + prior / 8) / (half + prior)
    assert narrow - wide == pytest.approx(-np.log(weight) / n, abs=2e-4)
    assert narrow - wide < np.log(8) / n / 5  # as they stand, draws would cost log 8 a person


def test_the_best_fifth_is_fitted_and_never_what_cannot_be_run() -> None:
    assert worth_fitting([-0.5, None, -0.3, -0.9, -0.4]) == (2,)
    assert worth_fitting([-0.5, None, -0.3, -0.9, -0.4, -0.2]) == (2, 5)
    assert worth_fitting([None, None]) == ()
    assert len(worth_fitting([-1.0] * 50)) == 10


def test_the_hidden_rule_is_among_the_fifth_of_a_planted_writers_drafts(
    laboratory: Laboratory, answers: Trials
) -> None:
    """Chance would keep it in one of five worlds."""
    others = [name for name in FAMILY.seeds if name != "weighted_additive"][:8]
    broken = TheoryProgram(
        FAMILY.program("tallying").source.replace('trials["', 'trials["no '), "writer"
    )
    drafts = [*map(FAMILY.program, others), FAMILY.program("weighted_additive"), broken]
    found = laboratory.scores_before_fit(drafts, [answers])
    assert isinstance(found[-1], TheoryError)
    scores = [None if isinstance(item, TheoryError) else item for item in found]
    assert 8 in worth_fitting(scores)


def test_an_answer_holds_each_draft_once_and_no_more_than_were_asked_for() -> None:
    stated = [{"relation": "deterministic", "varied": ""}]
    several = SeveralSuccessors.model_validate(
        {"change": "x", "source": "a", "predictions": stated, "further": ["b", " ", "a", "b", "c"]}
    )
    assert [item.source for item in several.each(19)] == ["a", "b", "c"]
    assert [len(item.predictions) for item in several.each(19)] == [1, 0, 0]  # of the first draft
    assert [item.source for item in several.each(1)] == ["a", "b"]
    assert [item.source for item in several.model_copy(update={"source": ""}).each(1)] == ["b"]
