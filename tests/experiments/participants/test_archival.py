from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lakatos.experiments.errors import ArchiveExhaustedError, SourceError
from lakatos.experiments.participants.archival import ArchivalParticipants
from lakatos.experiments.task import Design, Stimuli, Trials, first_schedule
from lakatos.experiments.testing import KEY, OTHER_KEY, ParticipantSourceContract, preregister


def archive(name="old", n_people=4, n_trials=6, repetitions=2, first=0):
    """Everybody answers every trial; the responses differ between people and trials."""
    n = n_people * n_trials * repetitions
    trial = np.tile(np.arange(n_trials), n_people * repetitions)
    participant = np.repeat(np.arange(n_people), n_trials * repetitions)
    return Trials(
        experiment=name,
        stimuli=Stimuli({"x": np.arange(first, first + n_trials, dtype=float)}),
        participant=participant,
        trial=trial,
        response=(participant + trial) % 2,
        count=np.ones(n, dtype=np.int64),
        n_people=n_people,
    )


def pooled(name="counts", n_trials=5):
    return Trials(
        experiment=name,
        stimuli=Stimuli({"x": np.arange(100.0, 100 + n_trials)}),
        participant=np.zeros(2 * n_trials, dtype=np.int64),
        trial=np.repeat(np.arange(n_trials), 2),
        response=np.tile([0, 1], n_trials),
        count=np.tile([30, 50], n_trials),
        pooled=True,
        n_people=95,
    )


def design_of(offer, rows, name="1.1", n_participants=None):
    return Design(
        name,
        offer.stimuli.take(rows),
        offer.repetitions,
        offer.n_participants if n_participants is None else n_participants,
        archive=offer.archive,
    )


def offers_of(source, n_most=100):
    return source.offers(np.random.default_rng(0), n_most)


def answers(source, design, key=KEY):
    recruitment = source.recruit(preregister(design), design, key)
    (batch,) = source.collect(recruitment, recruitment.n_participants).payloads
    return Trials.from_json(batch)


def test_an_offer_says_which_answers_there_are_and_a_design_takes_no_others():
    trials = archive()
    rng = np.random.default_rng(4)
    kept = rng.random(len(trials.trial)) < 0.5
    rows = {
        name: getattr(trials, name)[kept] for name in ("participant", "trial", "response", "count")
    }
    sparse = replace(trials, **rows, feedback={}, attributes={})
    source = ArchivalParticipants([sparse])
    (offer,) = offers_of(source)
    assert offer.asked.sum() == kept.sum() == source.n_answers == source.n_open
    some = offer.stimuli.take([0, 2])
    asked = offer.answers_to(some)
    assert (asked == offer.asked[offer.asked[:, [0, 2]].any(axis=1)][:, [0, 2]]).all()
    found = answers(source, design_of(offer, [0, 2], n_participants=len(asked)))
    assert found.count.sum() == asked.sum()
    assert found.n_people == len(asked)
    assert offer.of_rows(np.array([2])).asked.tolist() == offer.asked[:, [2]].tolist()


class TestArchivalParticipants(ParticipantSourceContract):
    @pytest.fixture
    def source(self):
        return ArchivalParticipants(
            [archive(), archive("new", n_people=3, first=50)], sealed_share=0.3, seed=2
        )


class TestPooledArchive(ParticipantSourceContract):
    @pytest.fixture
    def source(self):
        return ArchivalParticipants([pooled()])


class TestOffers:
    def test_an_offer_says_what_the_archive_holds(self):
        (offer,) = offers_of(ArchivalParticipants([archive()]))
        assert (offer.archive, offer.n_participants, offer.repetitions, offer.pooled) == (
            "old",
            4,
            2,
            False,
        )
        assert len(offer.stimuli) == 6

    def test_a_pooled_offer_counts_answers(self):
        (offer,) = offers_of(ArchivalParticipants([pooled()]))
        assert (offer.n_participants, offer.repetitions, offer.pooled) == (80, 1, True)

    def test_sealed_trials_are_not_offered(self):
        source = ArchivalParticipants([archive()], sealed_rows={"old": [0, 5]})
        assert offers_of(source)[0].stimuli["x"].tolist() == [1, 2, 3, 4]

    def test_used_trials_are_not_offered_again(self):
        for item in (archive(), pooled()):
            source = ArchivalParticipants([item])
            (offer,) = offers_of(source)
            answers(source, design_of(offer, [1, 3]))
            (left,) = offers_of(source)
            assert not set(left.stimuli.keys) & set(offer.stimuli.take([1, 3]).keys)
            assert len(left.stimuli) == len(offer.stimuli) - 2

    def test_nothing_is_offered_when_everything_was_used(self):
        source = ArchivalParticipants([archive()])
        answers(source, design_of(offers_of(source)[0], range(6)))
        assert offers_of(source) == []

    def test_where_people_saw_different_trials_the_mean_is_offered(self):
        item = archive(repetitions=4)
        half = replace(
            item,
            **{
                name: getattr(item, name)[(item.participant % 2) == (item.trial % 2)]
                for name in ("participant", "trial", "response", "count")
            },
        )
        assert offers_of(ArchivalParticipants([half]))[0].repetitions == 2


class TestRelease:
    def test_the_answers_are_those_of_the_archive_in_their_order(self):
        item = archive()
        trials = answers(
            ArchivalParticipants([item]),
            design_of(offers_of(ArchivalParticipants([item]))[0], [4, 1]),
        )
        asked = np.isin(item.trial, [4, 1])
        assert trials.experiment == "1.1"
        assert trials.stimuli["x"].tolist() == [4, 1]
        assert np.array_equal(
            trials.stimuli["x"][trials.trial], item.stimuli["x"][item.trial[asked]]
        )
        assert np.array_equal(trials.participant, item.participant[asked])
        assert np.array_equal(trials.response, item.response[asked])
        assert trials.n_people == 4

    def test_pooled_counts_stay_pooled(self):
        source = ArchivalParticipants([pooled()])
        trials = answers(source, design_of(offers_of(source)[0], [2]))
        assert trials.pooled
        assert trials.n_people == 95
        assert trials.counts.tolist() == [[[30, 50]]]

    def test_the_rest_of_the_people_can_be_asked_later_and_nobody_twice(self):
        source = ArchivalParticipants([archive(n_people=5)], seed=3)
        (offer,) = offers_of(source)
        first = design_of(offer, [0, 1], n_participants=2)
        second = design_of(offer, [0, 1], name="1.2", n_participants=5)
        assert answers(source, first).n_people == 2
        assert answers(source, second, OTHER_KEY).n_people == 3

    def test_a_used_trial_cannot_be_asked_again(self):
        source = ArchivalParticipants([archive()])
        (offer,) = offers_of(source)
        answers(source, design_of(offer, [0, 1]))
        again = design_of(offer, [2, 1], name="1.2")
        with pytest.raises(
            ArchiveExhaustedError, match="old has no unused answers to trial 1 of the design"
        ):
            source.recruit(preregister(again), again, OTHER_KEY)

    def test_a_refused_design_uses_up_nothing(self):
        source = ArchivalParticipants([archive()])
        (offer,) = offers_of(source)
        answers(source, design_of(offer, [0]))
        refused = design_of(offer, [1, 0], name="1.2")
        with pytest.raises(ArchiveExhaustedError):
            source.recruit(preregister(refused), refused, OTHER_KEY)
        assert len(offers_of(source)[0].stimuli) == 5

    def test_one_release_belongs_to_one_recruitment(self):
        source = ArchivalParticipants([archive()])
        design = design_of(offers_of(source)[0], [0])
        source.recruit(preregister(design), design, KEY)
        with pytest.raises(ArchiveExhaustedError, match="another recruitment"):
            source.recruit(preregister(design), design, OTHER_KEY)

    def test_a_sealed_trial_cannot_be_asked(self):
        source = ArchivalParticipants([archive()], sealed_rows={"old": [2]})
        design = Design("1.1", archive().stimuli.take([1, 2]), 2, 4, archive="old")
        with pytest.raises(SourceError, match="trial 1 of the design is sealed"):
            source.recruit(preregister(design), design, KEY)

    def test_what_nobody_was_asked_cannot_be_asked(self):
        source = ArchivalParticipants([archive()])
        design = Design("1.1", Stimuli({"x": np.array([1.0, 99.0])}), 2, 4, archive="old")
        with pytest.raises(
            SourceError, match="no participant of old responded to trial 1 of the design"
        ):
            source.recruit(preregister(design), design, KEY)

    def test_an_unknown_experiment_is_named(self):
        source = ArchivalParticipants([archive()])
        design = Design("1.1", archive().stimuli, 2, 4, archive="older")
        with pytest.raises(SourceError, match="no archived experiment 'older', only old"):
            source.recruit(preregister(design), design, KEY)

    def test_a_trial_cannot_be_asked_twice_in_one_design(self):
        source = ArchivalParticipants([archive()])
        design = Design("1.1", archive().stimuli.take([1, 1]), 2, 4, archive="old")
        with pytest.raises(SourceError, match="holds a trial twice"):
            source.recruit(preregister(design), design, KEY)

    @given(st.integers(0, 1000), st.lists(st.integers(1, 4), min_size=1, max_size=6))
    @settings(max_examples=40, deadline=None)
    def test_a_source_told_what_was_released_goes_on_as_the_old_one(self, seed, numbers):
        rng = np.random.default_rng(seed)
        old = ArchivalParticipants([archive(n_people=5), pooled()], sealed_share=0.2, seed=seed)
        new = ArchivalParticipants([archive(n_people=5), pooled()], sealed_share=0.2, seed=seed)
        total = 0
        for place, number in enumerate(numbers):
            offers = offers_of(old)
            if not offers:
                break
            offer = offers[int(rng.integers(len(offers)))]
            rows = rng.choice(len(offer.stimuli), size=min(2, len(offer.stimuli)), replace=False)
            design = design_of(offer, rows, name=str(place), n_participants=number)
            total += answers(old, design, KEY[:-1] + str(place)).n_responses
            new.mark_released(design)
            assert [o.stimuli.keys for o in offers_of(new)] == [
                o.stimuli.keys for o in offers_of(old)
            ]
            assert answers(new, design, OTHER_KEY[:-1] + str(place)).to_json() == (
                answers(old, design, KEY[:-1] + str(place)).to_json()
            )
        left = sum(
            old.trials[name].counts.sum(axis=2)[unused].sum()
            for name, unused in old._unused.items()
        )
        sealed = sum(item.n_responses for item in old.sealed())
        assert total + left + sealed == sum(item.n_responses for item in old.trials.values())


class TestSealed:
    @given(
        st.lists(st.integers(1, 20), min_size=1, max_size=6),
        st.floats(0, 0.95),
        st.integers(0, 100),
    )
    @settings(max_examples=60, deadline=None)
    def test_the_share_is_kept_and_every_experiment_has_an_open_trial(self, sizes, share, seed):
        trials = [
            archive(str(place), n_trials=n, first=100 * place) for place, n in enumerate(sizes)
        ]
        source = ArchivalParticipants(trials, sealed_share=share, seed=seed)
        sealed = {item.experiment: len(item.stimuli) for item in source.sealed()}
        opened = {offer.archive: len(offer.stimuli) for offer in offers_of(source)}
        for item in trials:
            n = len(item.stimuli)
            assert opened[item.experiment] >= 1
            assert opened[item.experiment] + sealed.get(item.experiment, 0) == n
            assert (
                abs(sealed.get(item.experiment, 0) - share * n) < 1 or opened[item.experiment] == 1
            )
        if all(n * (1 - share) >= 2 for n in sizes):
            assert sum(sealed.values()) == round(share * sum(sizes))

    def test_the_choice_depends_on_the_seed_alone(self):
        chosen = [
            ArchivalParticipants([archive(n_trials=30)], sealed_share=0.5, seed=seed)
            .sealed()[0]
            .stimuli["x"]
            .tolist()
            for seed in (1, 1, 2)
        ]
        assert chosen[0] == chosen[1] != chosen[2]

    @given(st.integers(0, 100))
    @settings(max_examples=30, deadline=None)
    def test_equal_trials_are_sealed_in_all_experiments_or_in_none(self, seed):
        source = ArchivalParticipants(
            [archive("a", n_trials=6), archive("b", n_trials=6, first=3)],
            sealed_share=0.4,
            seed=seed,
        )
        sealed = {key for item in source.sealed() for key in item.stimuli.keys}
        opened = {key for offer in offers_of(source) for key in offer.stimuli.keys}
        assert not sealed & opened

    def test_all_answers_to_given_rows_are_sealed(self):
        source = ArchivalParticipants([archive(), archive("new")], sealed_rows={"new": [5, 0]})
        (sealed,) = source.sealed()
        assert sealed.experiment == "new"
        assert sealed.stimuli["x"].tolist() == [0, 5]
        assert sealed.counts.sum(axis=2).tolist() == [[2, 2]] * 4

    def test_folds_cover_every_trial_once(self):
        parts = [
            ArchivalParticipants([archive()], sealed_rows={"old": range(fold, 6, 3)}).sealed()[0]
            for fold in range(3)
        ]
        assert sorted(key for part in parts for key in part.stimuli.keys) == sorted(
            archive().stimuli.keys
        )

    def test_nothing_is_sealed_by_default(self):
        assert not ArchivalParticipants([archive()]).sealed()

    def test_sealed_answers_are_the_same_before_and_after_collection(self):
        source = ArchivalParticipants([archive()], sealed_share=0.5, seed=1)
        before = [item.to_json() for item in source.sealed()]
        answers(source, design_of(offers_of(source)[0], range(3)))
        assert [item.to_json() for item in source.sealed()] == before

    @pytest.mark.parametrize(
        ("given", "message"),
        [({"x": [0]}, "names 'x'"), ({"old": [6]}, "beyond its 6"), ({"old": [-1]}, "beyond")],
    )
    def test_rows_that_are_not_there_are_refused(self, given, message):
        with pytest.raises(SourceError, match=message):
            ArchivalParticipants([archive()], sealed_rows=given)

    def test_everything_cannot_be_sealed(self):
        with pytest.raises(SourceError, match="sealed_share=1"):
            ArchivalParticipants([archive()], sealed_share=1)

    def test_two_experiments_of_one_name_are_refused(self):
        with pytest.raises(SourceError, match="same name"):
            ArchivalParticipants([archive(), archive()])


class TestSealedPeople:
    def source(self, share: float = 0.4) -> ArchivalParticipants:
        return ArchivalParticipants(
            [archive(n_people=5, n_trials=10)], sealed_share=0.2, sealed_participants=share, seed=3
        )

    def test_every_answer_is_open_or_sealed_once(self):
        source = self.source()
        (trials,), (people,) = source.sealed(), source.sealed_participants()
        assert trials.n_participants == 3
        assert len(trials.stimuli) == 2
        assert people.n_participants == 2
        assert len(people.stimuli) == 10
        (offer,) = source.offers(np.random.default_rng(0), 100)
        assert offer.n_participants == 3
        n_open = 3 * len(offer.stimuli) * offer.repetitions
        n_all = archive(n_people=5, n_trials=10).n_responses
        assert n_open + trials.n_responses + people.n_responses == n_all

    def test_without_a_share_nobody_is_sealed(self):
        source = self.source(0.0)
        assert not source.sealed_participants()
        assert source.sealed()[0].n_participants == 5

    def test_people_who_cannot_be_told_apart_cannot_be_sealed(self):
        with pytest.raises(SourceError, match="do not identify participants"):
            ArchivalParticipants([pooled()], sealed_participants=0.2)

    def test_those_who_played_together_are_sealed_together(self):
        groups = np.repeat([7.0, 3.0, 5.0, 9.0], 3)
        played = replace(archive(n_people=12), attributes={"playing_group": groups})
        (people,) = ArchivalParticipants(
            [played], sealed_participants=0.5, seed=3
        ).sealed_participants()
        numbers, sizes = np.unique(people.attributes["playing_group"], return_counts=True)
        assert len(numbers) == 2
        assert sizes.tolist() == [3, 3]


class TestSeveralDataSets:
    def source(self):
        names = ("allais/a", "allais/b", "risky_cpc18/a")
        return ArchivalParticipants([archive(name) for name in names])

    def test_data_sets_that_were_not_asked_come_first(self):
        source = self.source()
        offers = offers_of(source)
        assert [item.archive for item in offers] == ["allais/a", "allais/b", "risky_cpc18/a"]
        design = design_of(offers[1], [0, 1])
        answers(source, design)
        assert [item.archive for item in offers_of(source)] == ["risky_cpc18/a"]
        answers(source, design_of(offers[2], [0, 1], name="2.1"), OTHER_KEY)
        assert len(offers_of(source)) == 3

    def test_a_source_made_anew_goes_on_where_it_was(self):
        source, again = self.source(), self.source()
        design = design_of(offers_of(source)[0], [0, 1])
        answers(source, design)
        again.mark_released(design)
        assert [item.archive for item in offers_of(again)] == ["risky_cpc18/a"]

    def test_experiments_of_one_data_set_are_all_offered(self):
        source = ArchivalParticipants([archive("old"), archive("older")])
        answers(source, design_of(offers_of(source)[0], [0, 1]))
        assert [item.archive for item in offers_of(source)] == ["old", "older"]


def test_schedules_with_equal_steps_are_released_whole_each_to_its_participants():
    """Two participants met the same kinds of steps in two orders, so that rows of the two schedules are equal."""
    stimuli = Stimuli({
        "position": np.array([0.0, 1.0, 2.0] * 2), "cue": np.array([0.0, 1.0, 0.0, 0.0, 0.0, 1.0])
    })  # fmt: skip
    trials = Trials(
        experiment="old",
        stimuli=stimuli,
        participant=np.repeat([0, 1], 3),
        trial=np.arange(6),
        response=np.array([0, 0, 0, 1, 1, 1]),
        count=np.ones(6, dtype=np.int64),
        n_people=2,
    )
    source = ArchivalParticipants([trials], sequential=True)
    (offer,) = source.offers(np.random.default_rng(0), 10)
    assert offer.n_answers == 6
    assert first_schedule(offer.stimuli)["cue"].tolist() == [0, 1, 0]
    design = Design("1.1 old", offer.stimuli, 1, 2, archive="old")
    recruited = source.recruit(preregister(design), design, KEY)
    (table,) = source.collect(recruited, 2).payloads
    found = Trials.from_json(table)
    assert found.stimuli["cue"].tolist() == stimuli["cue"].tolist()
    assert found.trial.tolist() == list(range(6))
    assert source.offers(np.random.default_rng(0), 10) == []
