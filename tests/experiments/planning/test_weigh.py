"""Proposed trials are taken only where they say more than the search's own design."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from known_rivals import DIGESTS, DOMAIN, question_of, trials

from lakatos.domains import DOMAINS
from lakatos.experiments.information import DesignInformation
from lakatos.experiments.planning.plan import PlannedDesign, plan_design
from lakatos.experiments.planning.question import DesignQuestion
from lakatos.experiments.planning.trials import ChosenTrials, asked_whole
from lakatos.experiments.planning.weigh import DesignProposal, is_better, weigh_proposals
from lakatos.experiments.task import Stimuli, StimulusOffer, identities

VAIN = trials(0, 6)
TELLING = trials(6, 0)
QUESTION = question_of(participants=20, repetitions=1)


def own_design(question: DesignQuestion, chosen: ChosenTrials, archive: str = "") -> PlannedDesign:
    offer = StimulusOffer(archive, chosen.stimuli, 0)
    return plan_design(question, "1.1", offer, chosen, None, np.random.default_rng(0))


def proposal(stimuli: Stimuli, archive: str = "") -> DesignProposal:
    return DesignProposal("d" * 64, archive, stimuli, DIGESTS)


def weighed(own: PlannedDesign, *proposals: DesignProposal, question: DesignQuestion = QUESTION):
    return weigh_proposals(question, [own.offer], own, proposals, np.random.default_rng(1))


@pytest.mark.parametrize(
    ("value", "error", "better"),
    [(0.31, 0.01, True), (0.21, 0.1, False), (0.2, 0.0, False), (0.1, 0.01, False)],
)
def test_a_design_is_better_by_more_than_the_error_of_the_difference(
    value: float, error: float, better: bool
) -> None:
    own = own_design(QUESTION, asked_whole(VAIN))
    own = replace(own, information=DesignInformation(0.2, 0.1 if error else 0.0))
    other = replace(own, information=DesignInformation(value, error))
    assert is_better(other, own) is better


def test_without_a_proposal_the_search_has_its_own_design() -> None:
    own = own_design(QUESTION, asked_whole(VAIN))
    assert weighed(own) == (own, ())


def test_proposed_trials_that_tell_rivals_apart_take_the_place_of_trials_that_do_not() -> None:
    own = own_design(QUESTION, asked_whole(VAIN))
    design, (found,) = weighed(own, proposal(TELLING))
    assert found.adopted
    assert found.n_taken == len(TELLING)
    assert set(identities(DOMAIN, design.design.stimuli)) == set(identities(DOMAIN, TELLING))
    assert found.own_information == own.information.value == pytest.approx(0.0)
    assert found.information == design.information.value > 0.5
    assert (found.power, found.own_power) == (design.power_of(*DIGESTS), own.power_of(*DIGESTS))


def test_proposed_trials_that_tell_nothing_are_weighed_and_not_taken() -> None:
    own = own_design(QUESTION, asked_whole(TELLING))
    design, (found,) = weighed(own, proposal(VAIN))
    assert design is own
    assert not found.adopted
    assert found.information <= found.own_information


def test_trials_that_the_search_chose_by_itself_are_the_same_design() -> None:
    own = own_design(QUESTION, asked_whole(TELLING))
    turned = DOMAIN.swap_sides(TELLING)  # which side an option stands on makes no other trial
    design, (found,) = weighed(own, proposal(turned))
    assert design is own
    assert (found.how, found.n_taken, found.adopted) == ("the same", 0, False)


def test_trials_of_an_archive_that_is_not_offered_change_nothing() -> None:
    own = own_design(QUESTION, asked_whole(VAIN))
    design, (found,) = weighed(own, proposal(TELLING, "elsewhere"))
    assert design is own
    assert (found.how, found.adopted) == ("the same", False)


def test_of_several_proposals_the_most_telling_is_adopted_alone() -> None:
    own = own_design(QUESTION, asked_whole(VAIN))
    half = Stimuli.concatenate([trials(1, 0), trials(0, 9).take([6, 7])])
    design, found = weighed(own, proposal(half), proposal(TELLING), proposal(half))
    assert [item.adopted for item in found] == [False, True, False]
    assert design.information.value == found[1].information


def test_trials_drawn_at_random_stay_and_stand_last() -> None:
    chosen = ChosenTrials(VAIN, (0.1, float("nan"), 0.1, 0.1, 0.1, float("nan")), (1, 5))
    own = own_design(QUESTION, chosen)
    design, (found,) = weighed(own, proposal(TELLING))
    assert found.n_taken == 4  # as many as the search had chosen
    assert design.design.stimuli.keys[4:] == VAIN.take([1, 5]).keys
    assert design.design.random_coverage == (4, 5)
    assert np.isnan(design.design.information[4:]).all()
    assert not np.isnan(design.design.information[:4]).any()


def test_a_budget_holds_for_proposed_trials_too() -> None:
    """Two presentations can be paid, so that no more than two trials are mixed; whole proposals were checked before."""
    question = question_of(participants=20, repetitions=1, cost={"most_per_participant": 2.0})
    own = own_design(question, asked_whole(VAIN.take([0, 1])))
    design, (found,) = weighed(own, proposal(TELLING.take([0])), question=question)
    assert found.n_taken == 1
    assert len(design.design.stimuli) == 2


def test_a_proposed_schedule_is_asked_whole_or_is_the_same() -> None:
    domain = DOMAINS["learning"]
    space = {"task": "reversal", "n_steps": 8}
    first, second = (domain.candidates(space, np.random.default_rng(seed), 8) for seed in (0, 1))

    def always(stimuli: Stimuli) -> np.ndarray:
        return np.full(len(stimuli), 0.9)

    question = replace(
        question_of(always, lambda stimuli: 1 - always(stimuli), participants=20, repetitions=1),
        domain=domain,
        space=space,
    )
    own = own_design(question, asked_whole(first))
    _, (same, other) = weighed(own, proposal(first), proposal(second), question=question)
    assert (same.how, same.n_taken) == ("the same", 0)
    assert (other.how, other.n_taken) == ("schedule", len(second))
