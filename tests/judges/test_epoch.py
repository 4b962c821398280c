"""Panels of judges: frozen by digest, averaged in log odds, comparable within one epoch only."""

import math
from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lakatos.judges.epoch import freeze, rank
from lakatos.judges.errors import EpochMismatchError, VerdictError
from lakatos.judges.judge import JudgeSubmission, Verdict, resolve
from lakatos.judges.rubrics import RUBRICS
from lakatos.traces.digest import Digest, digest_of
from lakatos.traces.record import body_of, parse_record

CANDIDATE, INCUMBENT, EPOCH = digest_of("candidate"), digest_of("incumbent"), digest_of("epoch")
SUBMISSION = JudgeSubmission(CANDIDATE, INCUMBENT, 0.01, 0.01, 1, 500, 0.1)


@dataclass(frozen=True)
class Fixed:
    """Always of one opinion."""

    name: str
    opinion: float

    @property
    def digest(self) -> Digest:
        return digest_of([self.name, self.opinion])

    def judge(self, submission: JudgeSubmission) -> float:
        return self.opinion


def verdict(probability, candidate=CANDIDATE, epoch=EPOCH) -> Verdict:
    return Verdict(
        epoch=epoch,
        candidate=candidate,
        incumbent=INCUMBENT,
        cycle=1,
        probability=probability,
        opinions={},
    )


def test_a_panel_of_one_says_what_its_judge_says():
    found = freeze(1, [Fixed("a", 0.8)]).judge(SUBMISSION, cycle=4)
    assert found.probability == pytest.approx(0.8)
    assert found.opinions == {"a": 0.8}
    assert (found.candidate, found.incumbent, found.cycle) == (CANDIDATE, INCUMBENT, 4)


def test_a_panel_takes_the_mean_of_log_odds():
    found = freeze(1, [Fixed("a", 0.9), Fixed("b", 0.5)]).judge(SUBMISSION, cycle=1)
    assert found.probability == pytest.approx(3 / 4)  # odds of 9 and 1 have the geometric mean 3


@given(st.lists(st.floats(0.001, 0.999), min_size=1, max_size=5))
def test_a_panel_lies_among_its_judges_and_turns_around_with_them(opinions):
    there = freeze(1, [Fixed(str(place), value) for place, value in enumerate(opinions)]).judge(
        SUBMISSION, 1
    )
    back = freeze(1, [Fixed(str(place), 1 - value) for place, value in enumerate(opinions)]).judge(
        SUBMISSION, 1
    )
    assert min(opinions) - 1e-12 <= there.probability <= max(opinions) + 1e-12
    assert there.probability == pytest.approx(1 - back.probability)


@pytest.mark.parametrize("opinion", [0.0, 1.0, -0.1, 1.1, math.nan, math.inf])
def test_what_is_no_probability_is_refused_with_the_judges_name(opinion):
    with pytest.raises(VerdictError, match=r"judge 'a' answered .* strictly between 0 and 1"):
        freeze(1, [Fixed("a", opinion)]).judge(SUBMISSION, cycle=1)


def test_a_panel_needs_a_judge():
    with pytest.raises(VerdictError, match="at least one judge"):
        freeze(1, [])


def test_two_judges_of_one_name_are_refused():
    with pytest.raises(VerdictError, match="two judges of the panel are called 'a'"):
        freeze(1, [Fixed("a", 0.2), Fixed("b", 0.3), Fixed("a", 0.4)])


def test_an_epoch_is_named_by_its_number_and_its_judges_versions():
    epoch = freeze(1, [Fixed("a", 0.2), Fixed("b", 0.3)])
    assert epoch.digest == freeze(1, [Fixed("b", 0.3), Fixed("a", 0.2)]).digest
    assert epoch.digest != freeze(2, epoch.judges).digest
    assert epoch.digest != freeze(1, [Fixed("a", 0.2), Fixed("b", 0.31)]).digest


def test_opening_an_epoch_writes_down_every_judges_version():
    epoch = freeze(3, [Fixed("a", 0.2)])
    opened = epoch.opened()
    assert (opened.number, opened.epoch) == (3, epoch.digest)
    assert opened.judges == {"a": Fixed("a", 0.2).digest}
    assert parse_record("epoch_opened", body_of(opened), {"epoch_opened": type(opened)}) == opened


@given(st.lists(st.floats(0.01, 0.99), max_size=6), st.randoms(use_true_random=False))
def test_rank_puts_the_most_promising_first_whatever_the_order(probabilities, random):
    verdicts = [verdict(value, digest_of(place)) for place, value in enumerate(probabilities)]
    shuffled = random.sample(verdicts, len(verdicts))
    found = rank(shuffled)
    assert found == rank(verdicts)
    assert [item.probability for item in found] == sorted(probabilities, reverse=True)


def test_verdicts_of_two_epochs_are_not_ranked():
    with pytest.raises(
        EpochMismatchError, match=r"come from judge epochs .* comparable only within one epoch"
    ):
        rank([verdict(0.9), verdict(0.8, digest_of("x"), epoch=digest_of("later"))])


@pytest.mark.parametrize(
    ("advantage", "favoured", "given_"), [(0.01, True, 0.7), (-0.01, False, 0.3), (0, False, 0.3)]
)
def test_a_verdict_is_scored_by_the_probability_of_what_happened(advantage, favoured, given_):
    found = resolve(verdict(0.7), digest_of("verdict"), "e", advantage)
    assert found.favoured is favoured
    assert found.log_score == pytest.approx(math.log(given_))


@pytest.mark.parametrize("name", RUBRICS)
def test_every_rubric_is_kept_under_its_own_name_and_gives_a_probability(name):
    judge = RUBRICS[name]()
    assert judge.name == name
    assert 0 < judge.judge(SUBMISSION) < 1
    assert judge.digest == RUBRICS[name]().digest
