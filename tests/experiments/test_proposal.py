from typing import ClassVar

import numpy as np
import pytest

from lakatos.domains import DOMAINS
from lakatos.experiments.errors import DesignError, StimuliError
from lakatos.experiments.proposal import (
    are_forbidden,
    check_proposal,
    costs_of,
    problems_of_trials,
    read_condition,
)
from lakatos.experiments.task import Stimuli


class TestProposals:
    SPACE: ClassVar = {"validities": [0.9, 0.7, 0.6], "levels": [0, 1, 2]}
    DOMAIN = DOMAINS["multiattribute"]

    def trials(self, *pairs):
        return Stimuli(
            {
                "ratings": np.array(pairs, dtype=float),
                "validities": np.tile([0.9, 0.7, 0.6], (len(pairs), 1)),
                "rating_max": np.full(len(pairs), 2.0),
            }
        )

    def test_trials_that_a_search_could_have_chosen_pass(self):
        check_proposal(
            self.DOMAIN, self.SPACE, self.trials([[2, 0, 1], [0, 1, 1]], [[0, 1, 2], [1, 1, 0]])
        )

    @pytest.mark.parametrize(
        ("pairs", "words"),
        [
            (
                [[[2, 0, 1], [0, 1, 1]], [[1, 1, 1], [1, 1, 1]]],
                "proposed trial 1 .* outside the ranges",
            ),
            ([[[2, 1, 1], [0, 1, 1]]], "proposed trial 0 .* better whatever one's taste"),
            (
                [[[2, 0, 1], [0, 1, 1]], [[0, 1, 1], [2, 0, 1]]],
                "proposed trial 1 .* is there twice",
            ),
            (
                [[[2, 0, 0], [0, 1, 0]]],
                r"forbidden by the study \(n_discriminating_cues <= 2; level > 9\)",
            ),
        ],
    )
    def test_others_are_refused_with_the_first_that_is_wrong(self, pairs, words):
        forbidden = ["n_discriminating_cues <= 2", "level > 9"] if "forbidden" in words else []
        with pytest.raises(DesignError, match=words):
            check_proposal(self.DOMAIN, self.SPACE, self.trials(*pairs), forbidden=forbidden)

    def test_every_bad_trial_is_named_so_that_the_others_can_be_kept(self):
        good, outside = [[2, 0, 0], [0, 1, 0]], [[0, 0, 0], [2, 2, 2]]
        found = problems_of_trials(
            self.DOMAIN, self.SPACE, self.trials(good, outside, good, good[::-1])
        )
        assert sorted(found) == [1, 2, 3]
        assert "lies outside" in found[1]
        assert "is there twice" in found[2]
        assert "is there twice" in found[3]

    def test_a_trial_of_no_domain_is_refused(self):
        with pytest.raises(StimuliError, match="ratings must be integers"):
            check_proposal(self.DOMAIN, self.SPACE, self.trials([[2, 0, 1], [0, 0.5, 1]]))

    def test_forbidden_trials_are_found_by_their_features(self):
        space = self.DOMAIN.space(self.SPACE)
        found = are_forbidden(self.DOMAIN, space, ["n_discriminating_cues < 3", "level >= 0.7"])
        features = self.DOMAIN.features(space)
        assert np.array_equal(
            found, (features["n_discriminating_cues"] < 3) | (features["level"] >= 0.7)
        )
        assert 0 < found.sum() < len(space)

    def test_a_condition_on_no_feature_is_refused(self):
        with pytest.raises(
            DesignError, match=r"'colour > 1' names no feature of the multiattribute domain; it has"
        ):
            are_forbidden(self.DOMAIN, self.DOMAIN.space(self.SPACE), ["colour > 1"])

    @pytest.mark.parametrize("text", ["level", "level > x", "level => 1", "level > 1 and 2"])
    def test_a_condition_that_is_none_is_refused(self, text):
        with pytest.raises(DesignError, match="is not a feature, one of"):
            read_condition(text)

    def test_costs_grow_with_features_and_repetitions(self):
        space = self.DOMAIN.space(self.SPACE)
        found = costs_of(
            self.DOMAIN,
            space,
            per_response=2.0,
            features={"n_discriminating_cues": 0.5},
            repetitions=3,
        )
        assert found == pytest.approx(
            3 * (2 + 0.5 * self.DOMAIN.features(space)["n_discriminating_cues"])
        )
        with pytest.raises(DesignError, match="would cost"):
            costs_of(self.DOMAIN, space, per_response=1.0, features={"n_discriminating_cues": -0.5})
