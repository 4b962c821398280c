"""Sentences about what happened in a run hold for that run."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from rewinding import tiny_run

from lakatos.experiments.interval import interval_of_squares
from lakatos.experiments.preregistration import summarise_design
from lakatos.experiments.record import DesignChosen
from lakatos.experiments.task import Design, Stimuli
from lakatos.flows.report import charts
from lakatos.flows.report.course import (
    FROZEN_DIFFERENCES,
    course,
    course_of_search,
    found_by_search,
    kinds_of_trials,
    pairs_in_words,
)
from lakatos.flows.report.figures import predicted_shares, score_history
from lakatos.flows.report.formats import (
    fixed,
    in_brackets,
    interval,
    interval_of,
    interval_of_error,
)
from lakatos.flows.report.limits import limits, only_tests
from lakatos.flows.report.reader import designed_pairs, open_pairs, open_reading, run_scores
from lakatos.flows.report.report import render
from lakatos.flows.report.size_path import changes_on_path, newest_path
from lakatos.flows.report.svg import number
from lakatos.flows.report.two_pages import render_summary
from lakatos.flows.run.source import hidden_theory
from lakatos.flows.run.summary import summary_of
from lakatos.judges.calibration import CalibrationBin
from lakatos.theories.engine.scoreboard import prequential_advantage
from lakatos.theories.engine.scoring.score import ScoreEstimate


def test_only_cycles_with_a_diagnosis_or_a_proposal_are_named() -> None:
    assert course_of_search([(1, "Tallying"), (2, "Tallying"), (3, "Adding")], {1: 2}) == (
        "The misfit of Tallying (in cycles 1 and 2) and Adding (in cycle 3) was examined. 2 further theories were "
        "proposed (in cycle 1)."
    )
    assert course_of_search([(1, "Tallying")], {}) == (
        "The misfit of Tallying (in cycle 1) was examined. No further theory was proposed."
    )
    assert course_of_search([], {}) == ""


def test_a_search_that_added_no_theory_is_not_said_to_have_submitted_any() -> None:
    assert found_by_search(222, 0) == (
        "The search evaluated 222 candidates; it added no theory to the initial ones, because no candidate brought a "
        "clear gain."
    )
    assert found_by_search(222, 0, 3) == (
        "The search evaluated 222 candidates; it added no theory to the initial ones, because the best candidates had "
        "the form of theories that competed already once clauses were removed that gained less than two standard "
        "errors or less than the price of their parameters."
    )
    assert (
        found_by_search(98, 1)
        == "The search evaluated 98 candidates; 1 further theory was submitted."
    )
    assert found_by_search(0, 0) == ""


@pytest.mark.slow
def test_the_course_counts_trials_chosen_and_drawn_and_claims_no_prediction_of_later_theories() -> (
    None
):
    with open_reading(tiny_run()) as reading:
        text = course(reading)
        designs = [item.record for item in reading.state.experiments.designs.values()]
    n_trials, n_random = (
        sum(getattr(item, name) for item in designs) for name in ("n_trials", "n_random")
    )
    assert f"Of {n_trials} trials, {n_trials - n_random} were selected to discriminate" in text
    assert f" and {n_random} were drawn at random." in text
    assert "a theory that was proposed later is not tested by these responses" in text


def test_no_trial_is_called_random_of_an_experiment_that_has_all_that_remained() -> None:
    def design(cycle: int, n_trials: int, n_random: int, n_candidates: int) -> DesignChosen:
        return DesignChosen.model_construct(
            cycle=cycle, n_trials=n_trials, n_random=n_random, n_candidates=n_candidates
        )

    assert kinds_of_trials([design(1, 20, 10, 40), design(2, 12, 6, 12)]) == (
        "10 were selected to discriminate between the theories in competition, 10 were drawn at random and the "
        "remaining 12 were used in cycle 2"
    )
    assert kinds_of_trials([design(1, 9, 0, 9), design(2, 9, 0, 9)]) == (
        "all were used in cycles 1 and 2"
    )
    trials = Stimuli({"x": np.arange(4.0)})
    plan = Design("1.1", trials, repetitions=2, n_participants=5, random_coverage=(3,))
    assert summarise_design(plan).startswith("4 distinct trials (1 of them random), each")
    assert summarise_design(plan, is_exhaustive=True).startswith(
        "4 distinct trials (all that remained), each"
    )


def test_a_report_of_simulated_participants_states_whether_the_leader_has_the_hidden_form() -> None:
    with open_reading(tiny_run()) as reading:
        (text,) = [text for text in limits(reading) if text.startswith("No person took part.")]
        known = reading.theory(reading.leader).composition
        hidden = hidden_theory(reading.config).composition
    forms = [
        {slot: own for slot, own in part.items() if slot != "lapse"} for part in (known, hidden)
    ]
    form = "this form" if forms[0] == forms[1] else "another form"
    assert f"and the leading theory has {form}. These results are not evidence" in text


def test_every_pair_of_scored_theories_is_distinguished_open_or_met_in_no_design() -> None:
    with open_reading(tiny_run()) as reading:
        text = pairs_in_words(reading)
        pairs, n_open = designed_pairs(reading), len(open_pairs(reading))
        scored = [line.theory for line in reading.board.standings]
        unmet = [pair for pair in combinations(scored, 2) if frozenset(pair) not in pairs]
    assert text.startswith(
        f"Frozen predictions distinguished {len(pairs) - n_open} of {len(pairs)} pair"
    )
    assert ("No experiment was designed to discriminate between " in text) == bool(unmet)


def test_only_predictions_that_a_run_has_are_called_its_tests() -> None:
    assert only_tests({"frozen predictions": True, "sealed": False}) == (
        "Only frozen predictions are genuine tests."
    )
    both = only_tests({"frozen predictions": True, "sealed trials": True})
    assert both == "Only frozen predictions and sealed trials are genuine tests."


def test_the_page_names_the_experiments_behind_differences_of_frozen_predictions() -> None:
    with open_reading(tiny_run()) as reading:
        page = " ".join(render(reading).split())
        scores, experiments = run_scores(reading), list(reading.state.experiments.collected)
        first, second = reading.state.seeds[:2]
        found = prequential_advantage(first, second, experiments, scores)
        alone = prequential_advantage(first, second, experiments[1:], scores)
    assert found == alone
    assert found is not None
    assert found[1] == len(experiments) - 1
    assert page.count(FROZEN_DIFFERENCES) >= 1
    assert "Over all experiments, the scores of frozen" not in page
    assert "<br>Predicted:" not in page
    n_diagnosed = page.count(
        "on the leaderboard of that cycle, with parameters estimated from other data"
    )
    assert n_diagnosed == len(reading.state.theories.diagnoses) > 0


def test_texts_of_before_the_verdict_have_its_names_on_the_page() -> None:
    with open_reading(tiny_run()) as reading:
        for theory, item in reading.checked.items():
            name = item.record.name
            assert reading.marked(f"{name} loses.", []) == f"{reading.label(theory).name} loses."


def test_one_score_has_one_interval_on_the_page() -> None:
    with open_reading(tiny_run()) as reading:
        page = render(reading)
        measured = reading.state.theories.completeness
        if measured is not None:
            line = reading.board.standings[0]
            one = next(item for item in measured.record.theories if item.theory == line.theory)
            assert reading.score_of(one, measured.record) == line.score
        history = str(score_history(reading))
        low, _ = reading.board.standings[0].score.interval
    assert "distinguished every pair" not in page
    assert f"95% interval {number(round(low, 4))} to" in history


def test_the_status_and_the_pages_print_the_same_intervals() -> None:
    with open_reading(tiny_run()) as reading:
        second = reading.board.standings[1]
        low, high = second.score.interval
        table = summary_of(reading.state, reading.trace.journal.head, "").standings
        page, summary = render(reading), render_summary(reading, "report.html")
        in_page, in_summary = (
            f'{fixed(second.behind.value, digits)}<span class="interval">'
            f"{in_brackets(interval_of(second.behind, digits))}<"
            for digits in (4, 3)
        )
    assert table[1][3] == f"{second.score.value:.4f} ({low:.4f} to {high:.4f})"
    assert in_page in page
    assert in_summary in summary


def test_a_point_of_calibration_counts_predictions() -> None:
    one = CalibrationBin(probability=0.98, share=1.0, interval=(0.03, 1.0), n=1)
    drawn = str(charts.reliability([[one]], 400))
    assert "1 prediction near 0.98; favoured by the data: 1" in drawn


def test_the_interval_of_a_mean_of_squares_lies_above_zero() -> None:
    t_of_7 = 2.364624
    low, high = interval_of_squares(0.0066, 0.004, 7)
    assert (low, high) == pytest.approx(
        (0.0066 * np.exp(-t_of_7 * 0.004 / 0.0066), 0.0066 * np.exp(t_of_7 * 0.004 / 0.0066))
    )
    assert interval_of_error(0.0066, 0.004, 4, 8) == f"{low:.4f} to {high:.4f}"
    assert interval_of_error(0.0066, 0.004, 4, 4) == "no interval (n = 4)"
    line = charts.ErrorLine("Sum", 0.1, 0.0066, 0.004, 8)
    assert line.unseen_interval == (low, high)
    assert interval_of_squares(0.0, 0.0) == (0.0, 0.0)


def test_of_fewer_than_five_units_no_interval_is_printed() -> None:
    assert interval_of(ScoreEstimate(-0.1, 0.2, 4, 3.0)) == "no interval (n = 4)"
    assert interval_of(ScoreEstimate(-0.1, 0.2, 100, 99.0)) == "−0.5000 to 0.3000"
    assert interval(-0.1, 0.2, 2, 2) == "no interval (n = 2)"
    assert interval(-0.1, 0.2, 2, 6) == "−0.61 to 0.41"  # Student's t with 5 degrees of freedom
    assert interval(-0.1, 0.2, 2) == "−0.50 to 0.30"


def test_the_sizes_of_theories_are_the_numbers_of_mechanisms_that_labels_name() -> None:
    with open_reading(tiny_run()) as reading:
        path = newest_path(reading)
        notes = changes_on_path(reading, path)
    size = 0
    for item, note in zip(path, notes, strict=True):
        added, _, dropped = note.partition("− ")
        _, _, added = added.partition("+ ")
        size += len([*filter(None, added.split(", "))]) - len([*filter(None, dropped.split(", "))])
        assert size == item.n_clauses
    assert path


def test_filled_points_of_the_figure_are_the_frozen_predictions() -> None:
    with open_reading(tiny_run()) as reading:
        theory = reading.state.seeds[0]
        shares = predicted_shares(reading, theory)
        assert shares is not None
        frozen = {
            round(float(value), 9)
            for name in reading.state.experiments.collected
            for value in reading.frozen(name, 1)[theory][0]
        }
        later = next(
            name for name in reading.state.theories.pool if name not in reading.state.seeds
        )
        hollow = predicted_shares(reading, later)
    assert shares.filled.all()
    assert {round(float(value), 9) for value in shares.predicted} <= frozen
    assert hollow is not None
    assert not hollow.filled.all()
