from dataclasses import replace

import numpy as np
import pytest

from lakatos.domains import DOMAINS
from lakatos.experiments.errors import SourceError, StimuliError
from lakatos.experiments.participants.answers import PersonAnswers
from lakatos.experiments.participants.simulated import (
    SimulatedParticipants,
    independent,
    with_random_choices,
)
from lakatos.experiments.participants.table import check_answers
from lakatos.experiments.task import Design, Stimuli, Trials
from lakatos.experiments.testing import KEY, OTHER_KEY, ParticipantSourceContract, preregister
from lakatos.traces.digest import canonical_json

SPACE = {"validities": [0.9, 0.7, 0.6], "levels": [0, 1]}


def coin_flip(stimuli, rng, n_participants):
    return np.full((n_participants, len(stimuli), 2), 0.5)


def two_kinds(stimuli, rng, n_participants):
    """Every person always chooses the same side."""
    side = rng.integers(0, 2, size=n_participants)
    return np.broadcast_to(np.eye(2)[side][:, None], (n_participants, len(stimuli), 2))


def always_a(stimuli, rng, n_participants):
    return np.broadcast_to([1.0, 0.0], (n_participants, len(stimuli), 2))


def make(respond=coin_flip, **settings):
    return SimulatedParticipants(
        independent(respond), domain=DOMAINS["multiattribute"], settings=SPACE, **settings
    )


def design_for(source, n_participants=30, repetitions=2, n_trials=5):
    offer = source.offers(np.random.default_rng(0), 20)[0]
    return Design("1.1", offer.stimuli.take(range(n_trials)), repetitions, n_participants)


def answers(source, design, key=KEY):
    recruitment = source.recruit(preregister(design), design, key)
    (batch,) = source.collect(recruitment, recruitment.n_participants).payloads
    return Trials.from_json(batch)


class TestSimulatedParticipants(ParticipantSourceContract):
    @pytest.fixture
    def source(self):
        return make()


class TestFewSimulatedParticipants(ParticipantSourceContract):
    @pytest.fixture
    def source(self):
        return make(n_participants=2, random_choice_share=0.1)


class TestSimulatedParticipantsOneByOne(ParticipantSourceContract):
    @pytest.fixture
    def source(self):
        return make(one_by_one=True, careless=0.2)


def test_a_new_source_gives_the_same_answers_for_the_same_key():
    design = design_for(make())
    assert canonical_json(answers(make(), design).to_json()) == canonical_json(
        answers(make(), design).to_json()
    )


@pytest.mark.parametrize(("seed", "key"), [(1, KEY), (0, OTHER_KEY)])
def test_another_seed_or_key_gives_other_answers(seed, key):
    design = design_for(make())
    first, second = answers(make(), design), answers(make(seed=seed), design, key)
    assert not np.array_equal(first.response, second.response)


def test_everybody_sees_every_trial_as_often_as_designed_in_an_order_of_their_own():
    trials = answers(make(), design_for(make()))
    assert np.all(trials.counts.sum(axis=2) == 2)
    assert np.array_equal(trials.participant, np.repeat(np.arange(30), 10))
    assert len({tuple(order) for order in trials.trial.reshape(30, 10)}) > 20


def test_people_keep_their_own_probabilities():
    trials = answers(make(two_kinds), design_for(make()))
    share = trials.counts.sum(axis=1) / 10
    assert set(share[:, 1]) == {0.0, 1.0}


@pytest.mark.statistical
def test_the_share_of_random_choices_is_kept():
    trials = answers(
        make(always_a, random_choice_share=0.3), design_for(make(), n_participants=2000)
    )
    n = trials.n_responses
    assert abs(trials.response.mean() - 0.15) < 4 * np.sqrt(0.15 * 0.85 / n)


def test_random_choices_are_shared_by_the_available_options():
    available = np.array([[True, True, False], [True, True, True]])
    p = with_random_choices(np.array([[1.0, 0.0, 0.0], [1.0, 0.0, 0.0]]), available, 0.3)
    np.testing.assert_allclose(p, [[0.85, 0.15, 0.0], [0.8, 0.1, 0.1]], rtol=1e-15)


def test_certain_choices_are_certain():
    assert answers(make(always_a), design_for(make())).response.max() == 0


def test_more_people_than_there_are_cannot_be_asked():
    source = make(n_participants=3)
    design = design_for(source, n_participants=4)
    with pytest.raises(SourceError, match="plans 4 participants; the source has 3"):
        source.recruit(preregister(design), design, KEY)


def test_answers_from_an_archive_cannot_be_asked_for():
    source = make()
    design = replace(design_for(source), archive="old")
    with pytest.raises(SourceError, match="from the archive 'old'"):
        source.recruit(preregister(design), design, KEY)


def test_a_key_belongs_to_one_experiment():
    source = make()
    design = design_for(source)
    other = replace(design, name="1.2")
    source.recruit(preregister(design), design, KEY)
    with pytest.raises(SourceError, match=r"belongs to '1\.1', not to '1\.2'"):
        source.recruit(preregister(other), other, KEY)


def test_polling_what_was_never_asked_is_refused():
    design = design_for(make())
    recruitment = make().recruit(preregister(design), design, KEY)
    with pytest.raises(SourceError, match="recruit with the same key"):
        make().collect(recruitment, 1)


def test_trials_that_the_domain_does_not_allow_are_refused():
    source = make()
    design = design_for(source)
    wrong = replace(
        design, stimuli=Stimuli({**design.stimuli.arrays, "ratings": design.stimuli["ratings"] - 5})
    )
    with pytest.raises(StimuliError):
        source.recruit(preregister(wrong), wrong, KEY)


def test_a_rule_of_the_wrong_shape_is_refused():
    source = make(lambda stimuli, rng, n: np.full((len(stimuli), 2), 0.5))
    design = design_for(source)
    with pytest.raises(SourceError, match=r"shape \(5, 2\); give probabilities of shape \(30, 5\)"):
        source.recruit(preregister(design), design, KEY)


def test_a_share_beyond_one_is_refused():
    with pytest.raises(SourceError, match="no probability"):
        make(random_choice_share=1.5)


class TestPeopleOneByOne:
    """People who are handed over one by one, some of whom stop or do not look."""

    def people(self, design=None, **settings):
        source = make(one_by_one=True, **settings)
        design = design or design_for(source)
        recruitment = source.recruit(preregister(design), design, KEY)
        return (
            [PersonAnswers.from_json(item) for item in source.collect(recruitment, 1).payloads],
            design,
            source,
        )

    def test_as_many_complete_as_were_wanted_whatever_share_stops(self):
        people, design, source = self.people(dropouts=0.4)
        statuses = [item.status for item in people]
        assert statuses.count("completed") == design.n_participants
        assert statuses.count("partial") > 0
        assert statuses[-1] == "completed"
        for item in people:
            check_answers(item, design, source.domain)
            assert (len(item.trial) == design.n_presentations) == (item.status == "completed")
        assert len({item.person for item in people}) == len(people)

    def test_the_share_of_people_who_stop_is_as_set(self):
        source = make(one_by_one=True, dropouts=0.3)
        design = replace(design_for(source), n_participants=2000)
        people, _, _ = self.people(design, dropouts=0.3)
        n = len(people)
        share = sum(item.status == "partial" for item in people) / n
        assert abs(share - 0.3) < 4 * np.sqrt(0.3 * 0.7 / n)

    def test_careless_people_are_fast_and_every_kind_of_them_occurs(self):
        source = make(one_by_one=True, careless=0.5)
        design = replace(design_for(source), n_participants=400, repetitions=4)
        people, _, _ = self.people(design, careless=0.5)
        fast = [item for item in people if np.median(item.response_time_ms) < 400]
        assert abs(len(fast) / 400 - 0.5) < 4 * np.sqrt(0.25 / 400)
        assert any(len(set(item.response)) == 1 for item in fast)
        assert any(np.all(np.diff(item.response) != 0) for item in fast)
        failed = [sum(not passed for passed in item.checks) / len(item.checks) for item in fast]
        assert abs(np.mean(failed) - 0.5) < 4 * np.sqrt(0.25 / (2 * len(fast)))

    def test_who_is_not_careless_follows_the_rule(self):
        people, _, _ = self.people(careless=0.5, respond=always_a)
        slow = [item for item in people if np.median(item.response_time_ms) > 400]
        assert slow
        assert all(set(item.response) == {0} for item in slow)

    def test_careless_people_choose_only_what_is_available(self):
        domain = DOMAINS["public_goods"]
        source = SimulatedParticipants(
            independent(lambda stimuli, rng, n: np.tile(stimuli.available(21) / 21.0, (n, 1, 1))),
            domain=domain,
            settings={},
            one_by_one=True,
            careless=0.9,
            random_choice_share=0.5,
        )
        design = design_for(source, n_participants=40, n_trials=20)
        assert not design.stimuli.available(21).all()
        recruitment = source.recruit(preregister(design), design, KEY)
        people = source.collect(recruitment, 1).payloads
        assert len(people) == 40
        for item in people:
            check_answers(PersonAnswers.from_json(item), design, domain)

    def test_the_same_key_brings_the_same_people(self):
        first, second = (self.people(dropouts=0.3, careless=0.3)[0] for _ in range(2))
        assert first == second

    def test_people_who_stop_cannot_come_in_one_table(self):
        with pytest.raises(SourceError, match="handed over one by one"):
            make(dropouts=0.1)
