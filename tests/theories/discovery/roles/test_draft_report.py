"""How the author of a draft is shown which theory predicts the same."""

from __future__ import annotations

import numpy as np

from lakatos.theories.discovery.roles.draft_report import likeness, missed_in_words

OWN = [np.array([[0.4, 0.6], [0.5, 0.5]])]


def test_the_theory_that_predicts_most_like_a_draft_is_named_with_its_distance() -> None:
    far, near = [OWN[0] + 0.3], [OWN[0] + np.array([[0.1, -0.1], [0.0, 0.0]])]
    assert likeness(OWN, {"Far": far, "Near": near}) == "Near, 0.0707 apart (root mean square)"
    assert likeness(OWN, {"Near": near, "Same": [OWN[0] + 0.019]}) == (
        "Same, 0.019 apart (root mean square); IT PREDICTS THE SAME, so another kind of rule is worth more"
    )
    assert likeness(OWN, {}) == ""


def test_a_trial_that_a_draft_misses_takes_a_line():
    missed = {
        "experiment": "1.1", "trial": 4, "shown": "9c | 7c", "option": 2, "people": 0.133, "draft": 0.004,
        "standard_errors": 2.74,
    }  # fmt: skip
    assert missed_in_words(missed) == (
        "experiment 1.1, trial 4 (9c | 7c): option 2 chosen by .13, predicted <.01, 2.74 standard errors apart"
    )
