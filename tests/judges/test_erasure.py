"""Selective erasure: exactly what rested on a displaced judge is lost, through any number of steps, in one write."""

import pytest

from lakatos.judges.erasure import JudgeMeasured, JudgeMeasurements
from lakatos.judges.errors import EpochMismatchError, MeasurementError
from lakatos.traces.digest import digest_of
from lakatos.traces.validity import Validity
from tests.judges.support import event

THEORY, OTHER = digest_of("theory"), digest_of("other")


def measured(subject=THEORY, seat="seat A", value=1.0, epoch=0, sample=0, task="favoured"):
    return JudgeMeasured(
        subject=subject, task=task, seat=digest_of(seat), epoch=epoch, sample=sample, value=value
    )


def test_displacing_the_root_of_a_diamond_erases_exactly_what_it_reaches():
    # seat -> (score, memory) -> plan -> score of the plan; the other seat and its score stand apart, as does a tool.
    graph = [
        event("seat A"), event("seat B"), event("score", ["seat A"]), event("memory", ["seat A"]),
        event("plan", ["score", "memory"]), event("score of plan", ["plan", "seat B"]),
        event("other score", ["seat B"]), event("tool"),
    ]  # fmt: skip
    validity = Validity(graph)
    validity.add(
        event(
            "commit",
            ["seat A"],
            "epoch_committed",
            erases=[digest_of("seat A")],
            reason="displaced",
        )
    )
    held = {
        name
        for name in (
            "seat A",
            "seat B",
            "score",
            "memory",
            "plan",
            "score of plan",
            "other score",
            "tool",
            "commit",
        )
        if validity.valid(digest_of(name))
    }
    assert held == {"seat B", "other score", "tool", "commit"}
    links = validity.explain(digest_of("score of plan"))
    assert links[0].digest == digest_of("score of plan")
    assert links[-1].digest == digest_of("seat A")
    assert links[-1].problem == "was erased: displaced"


def test_one_record_erases_several_seats_or_none():
    validity = Validity(
        [event("seat A"), event("seat B"), event("a", ["seat A"]), event("b", ["seat B"])]
    )
    validity.add(
        event("nothing", [], "epoch_committed", erases=[], reason="no judge was displaced")
    )
    assert validity.valid(digest_of("a"))
    validity.add(
        event(
            "both",
            [],
            "epoch_committed",
            erases=[digest_of("seat A"), digest_of("seat B")],
            reason="x",
        )
    )
    assert not validity.valid(digest_of("a"))
    assert not validity.valid(digest_of("b"))
    assert validity.valid(digest_of("both"))


def table():
    validity = Validity([event("seat A"), event("seat B")])
    return validity, JudgeMeasurements(validity)


def add(validity, scores, name, item, inputs=(), epoch=0):
    seat = {digest_of(f"seat {letter}"): f"seat {letter}" for letter in "ABC"}[item.seat]
    validity.add(event(name, [seat, *inputs]))
    return scores.add(digest_of(name), item, epoch)


def test_a_fresh_measurement_restores_only_its_own_subject():
    validity, scores = table()
    add(validity, scores, 1, measured(value=1.0))
    add(validity, scores, 2, measured(OTHER, value=0.0))
    validity.add(
        event("commit", [], "epoch_committed", erases=[digest_of("seat A")], reason="displaced")
    )
    assert scores.mean(THEORY) is scores.mean(OTHER) is None
    assert scores.to_rescore() == sorted([THEORY, OTHER])
    assert scores.to_rescore({OTHER: 1.0})[0] == OTHER
    add(validity, scores, 3, measured(seat="seat B", value=0.5, epoch=1), epoch=1)
    assert scores.mean(THEORY) == 0.5
    assert scores.mean(OTHER) is None
    assert scores.to_rescore()[0] == OTHER


def test_a_repeat_of_a_judge_without_chance_counts_once():
    validity, scores = table()
    assert add(validity, scores, 1, measured(value=1.0))
    assert not add(validity, scores, 2, measured(value=1.0))
    assert add(validity, scores, 3, measured(value=0.0, sample=1))
    assert scores.mean(THEORY) == 0.5


def test_two_values_of_one_measurement_are_an_error():
    validity, scores = table()
    add(validity, scores, 1, measured(value=1.0))
    with pytest.raises(
        MeasurementError,
        match=r"measured twice as sample 0 of 'favoured' by one judge, as 1\.0 and 0\.0",
    ):
        add(validity, scores, 2, measured(value=0.0))


def test_nothing_comes_from_the_future():
    validity, scores = table()
    with pytest.raises(MeasurementError, match="belongs to judge epoch 2, and epoch 1 is open"):
        add(validity, scores, 1, measured(epoch=2), epoch=1)


def test_a_late_result_stays_under_its_epoch_and_does_not_hold_if_its_judge_was_displaced():
    validity, scores = table()
    validity.add(
        event("commit", [], "epoch_committed", erases=[digest_of("seat A")], reason="displaced")
    )
    add(validity, scores, 1, measured(epoch=0), epoch=1)
    assert scores.valid(THEORY) == {}
    add(validity, scores, 2, measured(seat="seat B", epoch=0), epoch=1)  # its judge still sits
    assert scores.mean(THEORY) == 1.0


def test_a_judge_that_returns_takes_a_new_seat_and_its_old_words_stay_erased():
    validity, scores = table()
    add(validity, scores, 1, measured(value=1.0))
    validity.add(
        event("commit", [], "epoch_committed", erases=[digest_of("seat A")], reason="displaced")
    )
    validity.add(event("seat C"))  # the same judge again
    assert scores.mean(THEORY) is None
    assert add(validity, scores, 2, measured(seat="seat C", value=1.0, epoch=2), epoch=2)
    assert scores.mean(THEORY) == 1.0


def test_unknown_inputs_mean_that_it_does_not_hold():
    validity, scores = table()
    add(validity, scores, 1, measured(), inputs=["a memory nobody recorded"])
    assert scores.mean(THEORY) is None
    assert "is unknown" in scores.explain(digest_of(1))[-1].problem


def test_a_mean_over_two_epochs_names_both():
    validity, scores = table()
    add(validity, scores, 1, measured(epoch=0))
    add(validity, scores, 2, measured(seat="seat B", epoch=1), epoch=1)
    with pytest.raises(EpochMismatchError, match="are of judge epochs 0 and 1"):
        scores.mean(THEORY, epoch=1)
