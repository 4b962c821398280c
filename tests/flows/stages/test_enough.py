"""Whose responses count where a look ended collection early."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from lakatos.experiments.record import AnswersArrived, CollectionClosed, PersonExcluded
from lakatos.flows.run.records import RECORD_TYPES
from lakatos.flows.stages.enough import before_stop
from lakatos.traces.step import Recorded, Trace

sys.path.insert(0, str(Path(__file__).parents[1]))
from small import small_study


def arrive(trace: Trace, number: int) -> Recorded[AnswersArrived]:
    """One person's responses."""
    record = AnswersArrived(
        experiment="1.1", person=f"person {number}", status="completed",
        answers=trace.artifacts.put_json({"number": number}), n_answers=8, consent="", language="en",
        source="simulated", arrived_utc="",
    )  # fmt: skip
    return trace.record(record, name="arrive", position={"number": number})


@pytest.mark.parametrize(
    ("excluded", "n_decided", "expected"),
    [
        ((), 3, [0, 1, 2]),
        ((1,), 3, [0, 1, 2, 3]),
        ((0, 3), 3, [0, 1, 2, 3, 4]),
        ((1,), 0, range(6)),
    ],
)
def test_people_who_are_excluded_do_not_count_towards_the_look_that_ends_collection(
    tmp_path: Path, excluded: tuple[int, ...], n_decided: int, expected: list[int]
) -> None:
    with Trace.create(tmp_path / "run", seed=1, types=RECORD_TYPES) as trace:
        people = [arrive(trace, number) for number in range(6)]
        for number in excluded:
            trace.record(
                PersonExcluded(
                    experiment="1.1", person=people[number].record.person, answers=people[number].digest,
                    rule="accuracy", words="", value=0.1,
                ),
                name="exclude", position={"number": number},
            )  # fmt: skip
        closed = CollectionClosed(
            experiment="1.1", n_completed=6, n_planned=6, n_decided=n_decided, reason="a look"
        )
        kept = before_stop(small_study(), trace, closed, people)
    assert kept == [people[number] for number in expected]
