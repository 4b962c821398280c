"""The order in which a brief shows the experiments."""

from __future__ import annotations

from lakatos.flows.roles.brief import first_parts_first
from lakatos.theories.discovery.roles.exhibit import Exhibit


def exhibits(*titles: str) -> list[Exhibit]:
    return [Exhibit(title, []) for title in titles]


def test_the_first_parts_of_all_experiments_stand_before_second_parts() -> None:
    newest = exhibits("by condition", "predictions", "part 1", "part 2")
    older = exhibits("part 1 of 1.1", "predictions of 1.1")
    assert [item.title for item in first_parts_first([newest, older])] == [
        "by condition",
        "part 1 of 1.1",
        "predictions",
        "predictions of 1.1",
        "part 1",
        "part 2",
    ]
    assert first_parts_first([]) == ()
