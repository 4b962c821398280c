"""The rivals beside all published theories of the domain and generic learners."""

from __future__ import annotations

from pathlib import Path

import pytest
from small import QUICK, small_study

from lakatos.domains import FAMILIES
from lakatos.flows.audit.audit import audit
from lakatos.flows.report.report import write_report
from lakatos.flows.run.run import read_state
from lakatos.flows.start import run_study
from lakatos.theories.engine.record import (
    CompletenessMeasured,
    TheoryCompleteness,
    UnitLogPredictives,
)
from lakatos.theories.findings.verdicts.company import best_of_each_form, describe

ANSWERS = UnitLogPredictives(log_predictive=(-5.0,) * 100, n_choices=(10.0,) * 100)


def line(name, share, *, score=-0.5) -> TheoryCompleteness:
    return TheoryCompleteness(
        name=name, theory=name[0].lower() * 64, score=score, score_error=0.01, completeness=share,
        completeness_error=None if share is None else 0.02, people={},
    )  # fmt: skip


def measured(leader, *published, ahead=None) -> CompletenessMeasured:
    return CompletenessMeasured(
        leader=leader.theory, basis="people left out in turn", experiments=("e",), guessing=-0.69, learner=(ANSWERS,),
        ceiling=-0.4, ceiling_error=0.01, noise=None, noise_error=None, theories=(leader,), published=published,
        failed={}, ahead=ahead, ahead_error=None if ahead is None else 0.005, better=(), text="",
    )  # fmt: skip


def test_the_sentence_has_the_share_its_interval_and_the_textbook():
    text = describe(measured(line("Adding", 0.9), line("Books", 0.8), ahead=0.012))
    assert "trained on the same responses (1), is 0.90" in text
    assert "95% interval 0.86 to 0.94; people left out in turn" in text
    assert "Books (completeness 0.80)" in text
    assert (
        "the leading theory minus Books is +0.0120 nats per choice (95% interval +0.0020 to +0.0220, not corrected "
        "for selection)" in text
    )


def test_a_score_above_that_of_generic_learners_is_first_stated_as_better():
    text = describe(measured(line("Adding", 1.45)))
    assert text.startswith("It predicts better than generic learners (gradient boosting")
    assert (
        "its completeness, on a scale from guessing (0) to these learners (1), is 1.45 (95% interval 1.41 to 1.49"
        in text
    )
    assert "Its completeness" in describe(measured(line("Adding", 1.02)))


def test_a_difference_that_the_verdict_states_is_not_stated_again():
    found = measured(line("Adding", 0.9), line("Books", 0.8), ahead=0.012)
    same = describe(found, "Books", 0.01201)
    assert same.endswith(
        "is Books (completeness 0.80), with which the leading theory was compared."
    )
    assert "+0.0120" not in same
    for other in (describe(found, "Films", 0.012), describe(found, "Books", 0.0125)):
        assert other == describe(found)


def test_a_leader_out_of_the_textbook_and_undefined_completeness_are_said():
    leader = line("Adding", None)
    text = describe(measured(leader, leader, line("Books", None, score=-0.5247)))
    assert "Completeness is not stated: generic learners" in text
    assert text.endswith(
        "The best of 1 other published theory estimated in the same way is Books; the leading theory minus Books is "
        "+0.0247 nats per choice."
    )
    assert describe(measured(leader, leader)).endswith("ten participants are needed.")


def test_two_theories_of_one_published_form_count_once() -> None:
    worse, better, other = line("A", None), line("B", None, score=-0.4), line("C", None)
    found = best_of_each_form([("Adding", worse), ("Adding", better), ("Other", other)])
    assert found == [better, other]


@pytest.mark.slow
def test_a_campaign_measures_completeness_and_the_audit_computes_it_again(tmp_path: Path) -> None:
    study = small_study(
        **QUICK, validation={"comparison_models": True}, stop={"cycles": 1, "least_cycles": 1}
    )
    run_study(study, tmp_path / "run", n_workers=1)
    state, trace = read_state(tmp_path / "run")
    trace.close()
    assert state.theories.completeness is not None
    assert state.campaign.concluded is not None
    found = state.theories.completeness.record
    assert found.leader == state.campaign.concluded.record.leader
    completeness, _, _ = found.text.partition(" The best of")
    assert completeness in state.campaign.concluded.record.text
    assert len(found.published) + len(found.failed) == len(FAMILIES["multiattribute"].seeds)
    assert found.guessing < found.ceiling < 0
    report = write_report(tmp_path / "run").read_text()
    others = [one for one in found.published if one.theory != found.leader]
    assert report.count("published)</th>") == 1
    assert f"The five best of {len(others)} " in report
    assert "Generic learners (gradient boosting and a neural network)" in report
    report = audit(tmp_path / "run")
    assert report.passed, report
