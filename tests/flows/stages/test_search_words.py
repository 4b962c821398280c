"""What a run prints of its search agrees with what its record counts."""

from __future__ import annotations

from lakatos.flows.stages.judging.judge import known_in_words
from lakatos.flows.stages.revise import searched_in_words


def test_candidates_beyond_the_planned_ones_are_counted_once_and_explained() -> None:
    assert searched_in_words(129, 120, "") == (
        "129 candidates evaluated, 9 of them while the best were simplified"
    )
    assert searched_in_words(120, 120, "") == "120 candidates evaluated"
    assert searched_in_words(98, 120, "nothing is left") == (
        "98 candidates evaluated of at most 120: nothing is left"
    )


def test_a_search_whose_best_theories_compete_already_has_no_new_theory() -> None:
    assert known_in_words(2, 2) == (
        "no new theory: what the search found best has the form of a theory that competes already"
    )
    assert known_in_words(1, 2).startswith("1 of 2 proposed theories have the form of a theory")
