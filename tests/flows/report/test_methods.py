"""The Methods paragraph states what the journal holds, and nothing that the run does not have."""

from __future__ import annotations

import pytest
from rewinding import tiny_run

from lakatos import __version__
from lakatos.flows.report.limits import limits, selection_in_words
from lakatos.flows.report.methods import methods_paragraph, who_took_part
from lakatos.flows.report.reader import RunReading, open_reading
from lakatos.theories.findings.verdicts.conclude import ALL_RESPONSES
from lakatos.theories.findings.verdicts.record import LEADERBOARD


def test_the_paragraph_has_the_numbers_of_the_journal() -> None:
    with open_reading(tiny_run()) as reading:
        text = methods_paragraph(reading)
        collected = [item.record for item in reading.state.experiments.collected.values()]
        assert f"{sum(item.n_responses for item in collected):,} responses" in text
        assert f"in {len(collected)} experiment" in text
        assert all(reading.label(seed).name in text for seed in reading.state.seeds)
        assert f"Lakatos {__version__} (seed {reading.config.seed}; journal " in text


def test_what_a_run_does_not_have_is_not_mentioned() -> None:
    with open_reading(tiny_run()) as reading:
        text = methods_paragraph(reading)
    assert "sealed" not in text
    assert "withdrew" not in text
    assert "met an exclusion rule" not in text
    assert "No participant was excluded" not in text


def test_the_paragraph_states_that_no_exclusion_rule_was_set() -> None:
    with open_reading(tiny_run()) as reading:
        assert "No exclusion rule was set." in methods_paragraph(reading)


def test_the_paragraph_names_the_data_on_which_the_verdict_rests() -> None:
    with open_reading(tiny_run()) as reading:
        text = methods_paragraph(reading)
        concluded = reading.concluded
        assert concluded is not None
        assert concluded.rival is not None
        rival = reading.label(concluded.rival).name
        other = "other " if concluded.leader in reading.state.seeds else ""
    _, _, data = text.partition(f"compared with {rival}, the closest {other}initial theory, on ")
    basis = concluded.basis.replace(LEADERBOARD, ALL_RESPONSES)
    assert basis in data.partition(". ")[0]


def test_the_paragraph_states_the_stopping_rule_and_when_the_study_ended() -> None:
    with open_reading(tiny_run()) as reading:
        text = methods_paragraph(reading)
        n_cycles = len(reading.state.campaign.cycles)
        rule = reading.config.stop.words(is_archive=reading.is_collected_before)
    ends = f"The study was planned to end, and ended, after {n_cycles} cycle"
    assert (ends in text) == rule.startswith(f"the study ends after {n_cycles} cycle")
    assert (f"Stopping rule: {rule}. The study ended after {n_cycles} cycle" in text) == (
        ends not in text
    )


def test_the_paragraph_states_how_often_each_participant_responded() -> None:
    with open_reading(tiny_run()) as reading:
        text = methods_paragraph(reading)
        (design,) = {item.record.n_trials for item in reading.state.experiments.designs.values()}
        (collected,) = {
            (item.record.n_people or item.record.n_participants, item.record.n_responses)
            for item in reading.state.experiments.collected.values()
        }
        n_experiments = len(reading.state.experiments.collected)
    n_each = collected[1] / (design * collected[0])
    words = {1.0: "once", 2.0: "twice"}.get(n_each, f"{n_each:.0f} times")
    one = " of one experiment" if n_experiments > 1 else ""
    assert f"Each participant responded {words} to each trial{one}." in text


def test_a_search_that_found_no_theory_is_no_choice_among_its_candidates() -> None:
    assert selection_in_words(6, 0, 223) == (
        "The leading theory was selected from 6 scored theories on the same data, which makes its score optimistic."
    )
    assert selection_in_words(6, 2, 223) == (
        "The leading theory was selected from 6 scored theories, 2 of them selected from 223 candidates on the same "
        "data, which makes its score optimistic."
    )


def test_participants_are_called_new_only_where_nobody_may_return() -> None:
    assert who_took_part(50, may_return=False) == (
        "Each experiment had new participants (N = 50 in all)."
    )
    assert who_took_part(50, may_return=True) == (
        "Participants could take part in more than one experiment (50 participations in all)."
    )


def test_the_paragraph_states_only_the_correction_and_the_limit_that_applied() -> None:
    with open_reading(tiny_run()) as reading:
        recorded = reading.state.campaign.concluded
        assert recorded is not None
        concluded, texts = recorded.record, []
        for n_compared, n_units, ends in ((4, 25, (0.1, 0.2)), (1, 2, (0.1, 0.2)), (4, 25, None)):
            changed = {"n_compared": n_compared, "n_units": n_units, "interval": ends}
            object.__setattr__(recorded, "record", concluded.model_copy(update=changed))
            texts.append(methods_paragraph(reading))
        object.__setattr__(recorded, "record", concluded)
    many, few, without_interval = texts
    assert "is Bonferroni-corrected for 4 theories" in many
    assert "no difference is claimed" not in many
    assert "that of the verdict is Bonferroni" not in few
    assert (
        "the interval of the difference on predictions frozen before experiment 2.1 is Bonferroni-corrected for 3 "
        "theories" in few
    )
    assert "Bonferroni" not in without_interval
    assert "With fewer than 10 participants no difference is claimed." in few


def test_limitations_state_how_many_tied_theories_score_higher_than_the_leading_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with open_reading(tiny_run()) as reading:
        scores = {line.theory: line.score.value for line in reading.board.standings}
        low, *others = sorted(scores, key=lambda theory: scores[theory])
        for leader, tied, n_higher in ((low, others, len(others)), (others[-1], [low], 0)):
            monkeypatch.setattr(RunReading, "leader", leader)
            monkeypatch.setattr(RunReading, "tied_with_leader", tuple(tied))
            (text,) = [line for line in limits(reading) if "is tied with" in line]
            verb = "scores" if n_higher == 1 else "score"
            stated = f" On all responses, {n_higher} of these {verb} higher."
            assert text.endswith(
                stated if n_higher else "the data do not show that it predicts better."
            )
