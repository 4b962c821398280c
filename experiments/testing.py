"""Contracts that every domain and every participant source keeps, as tests to inherit.

A plugin, wherever it is kept, is held to its contract by a test class of its own::

    class TestMySource(ParticipantSourceContract):
        @pytest.fixture
        def source(self):
            return MySource(...)
"""
# ruff: noqa: D102 - the names of tests are sentences

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from lakatos.experiments.design import design_to_json
from lakatos.experiments.errors import EmptyDesignSpaceError, PreregistrationError
from lakatos.experiments.participants.answers import PersonAnswers
from lakatos.experiments.participants.source import (
    Batch,
    ListedSource,
    ParticipantSource,
    Recruitment,
    Waiting,
)
from lakatos.experiments.participants.table import trials_of_people
from lakatos.experiments.preregistration import Preregistration, summarise_design
from lakatos.experiments.task import Design, Domain, Stimuli, Trials
from lakatos.traces.digest import canonical_json, digest_of

KEY = digest_of("a recruitment step")
OTHER_KEY = digest_of("another recruitment step")


def preregister(design: Design) -> Preregistration:
    """A preregistration of ``design`` without any theory, for tests."""
    return Preregistration(
        experiment=design.name,
        design=digest_of(design_to_json(design)),
        design_summary=summarise_design(design),
        rivals={},
        predictions=digest_of("no predictions"),
        n_draws=1,
        n_participants=design.n_participants,
        analysis="None: a test.",
        stopping_rule="Everybody has answered.",
    )


class ParticipantSourceContract:
    """Contract of every participant source. Give a fixture ``source`` made anew for each test."""

    n_participants = 3
    """People to ask where the source has as many as wanted."""

    @pytest.fixture
    def design(self, source: ParticipantSource) -> Design:
        """Up to three of the trials that the source offers first."""
        offer = source.offers(np.random.default_rng(1), 50)[0]
        return Design(
            name="contract",
            stimuli=offer.stimuli.take(range(min(3, len(offer.stimuli)))),
            repetitions=offer.repetitions or 2,
            n_participants=offer.n_participants or self.n_participants,
            archive=offer.archive,
        )

    def let_people_answer(self, source: ParticipantSource, recruitment: Recruitment) -> None:
        """Make real people's answers arrive; nothing to do where they arrive at once."""

    def batches(
        self, source: ParticipantSource, recruitment: Recruitment
    ) -> Sequence[Mapping[str, Any]]:
        """Responses of everybody who was recruited; where they come through the inbox, what has arrived there."""
        found = source.collect(recruitment, recruitment.n_participants)
        return found.payloads if isinstance(found, Batch) else ()

    def collect(self, source: ParticipantSource, design: Design, key: str = KEY) -> list[Trials]:
        """Recruit, let people answer, and read the batches."""
        recruitment = source.recruit(preregister(design), design, key)
        self.let_people_answer(source, recruitment)
        batches = self.batches(source, recruitment)
        if batches and "person" in batches[0]:
            people = [PersonAnswers.from_json(batch) for batch in batches]
            n_options = 1 + max(
                (response for answers in people for response in answers.response), default=1
            )
            return [trials_of_people(design, people, n_options)]
        return [Trials.from_json(batch) for batch in batches]

    def test_offers_at_most_as_many_trials_as_wanted(self, source: ParticipantSource) -> None:
        for offer in source.offers(np.random.default_rng(1), 2):
            assert 1 <= len(offer.stimuli) <= 2
            assert len(set(offer.stimuli.keys)) == len(offer.stimuli)

    def test_offers_depend_on_the_generator_alone(self, source: ParticipantSource) -> None:
        first, second = (source.offers(np.random.default_rng(4), 3) for _ in range(2))
        assert [offer.stimuli.keys for offer in first] == [offer.stimuli.keys for offer in second]

    def test_asks_nobody_without_a_preregistration(
        self, source: ParticipantSource, design: Design
    ) -> None:
        with pytest.raises(PreregistrationError, match="has no preregistration"):
            source.recruit(None, design, KEY)  # type: ignore[arg-type]

    def test_asks_nobody_what_was_not_preregistered(
        self, source: ParticipantSource, design: Design
    ) -> None:
        changed = replace(design, repetitions=design.repetitions + 1)
        with pytest.raises(PreregistrationError, match="Preregister"):
            source.recruit(preregister(design), changed, KEY)

    def test_recruits_once_for_a_key(self, source: ParticipantSource, design: Design) -> None:
        first = source.recruit(preregister(design), design, KEY)
        assert source.recruit(preregister(design), design, KEY) == first
        assert (first.key, first.experiment) == (KEY, design.name)
        assert first.n_participants > 0

    def test_asking_twice_brings_the_same_batches(
        self, source: ParticipantSource, design: Design
    ) -> None:
        first, second = (
            [canonical_json(t.to_json()) for t in self.collect(source, design)] for _ in range(2)
        )
        assert first
        assert first == second

    def test_batches_hold_answers_to_the_asked_trials_only(
        self, source: ParticipantSource, design: Design
    ) -> None:
        presented = set(design.stimuli.keys)
        for trials in self.collect(source, design):
            assert trials.experiment == design.name
            assert set(trials.stimuli.keys) <= presented
            assert trials.n_responses > 0

    def test_no_more_people_answer_than_were_asked(
        self, source: ParticipantSource, design: Design
    ) -> None:
        batches = self.collect(source, design)
        if not batches[0].pooled:
            people = np.concatenate([trials.participant for trials in batches])
            assert len(np.unique(people)) <= design.n_participants

    def test_nobody_sees_a_trial_more_often_than_designed(
        self, source: ParticipantSource, design: Design
    ) -> None:
        batches = self.collect(source, design)
        if not design.archive:
            answers = sum(trials.counts.sum(axis=2) for trials in batches)
            assert np.all(answers <= design.repetitions)

    def test_batches_survive_the_inbox(self, source: ParticipantSource, design: Design) -> None:
        for trials in self.collect(source, design):
            assert canonical_json(Trials.from_json(trials.to_json()).to_json()) == canonical_json(
                trials.to_json()
            )

    def test_wanting_no_more_people_than_were_asked_changes_nothing(
        self, source: ParticipantSource, design: Design
    ) -> None:
        recruitment = source.recruit(preregister(design), design, KEY)
        before = [canonical_json(batch) for batch in self.batches(source, recruitment)]
        source.want(recruitment, recruitment.n_participants)
        assert [canonical_json(batch) for batch in self.batches(source, recruitment)] == before

    def test_nothing_comes_after_closing(self, source: ParticipantSource, design: Design) -> None:
        recruitment = source.recruit(preregister(design), design, KEY)
        source.close(recruitment)
        source.close(recruitment)
        assert list(self.batches(source, recruitment)) == []

    def test_whoever_responds_later_is_waited_for_and_nobody_else(
        self, source: ListedSource, design: Design
    ) -> None:
        recruitment = source.recruit(preregister(design), design, KEY)
        found = source.collect(recruitment, recruitment.n_participants)
        assert isinstance(found, Waiting) == source.profile.responds_later

    def test_responses_of_one_participant_each_are_said_to_come_one_by_one(
        self, source: ListedSource, design: Design
    ) -> None:
        recruitment = source.recruit(preregister(design), design, KEY)
        self.let_people_answer(source, recruitment)
        batches = self.batches(source, recruitment)
        are_single = {"person" in batch for batch in batches}
        if are_single == {True}:
            assert source.profile_in(follows_participants=True).one_by_one
        elif batches:
            assert are_single == {False}
            assert len(batches) == 1
            assert not source.profile_in(follows_participants=False).one_by_one

    def test_only_an_archive_has_responses_beforehand(
        self, source: ListedSource, design: Design
    ) -> None:
        assert (source.n_answers > 0) == source.profile.is_archive == bool(design.archive)
        assert 0 <= source.n_open <= source.n_answers
        sealed = [*source.sealed(), *source.sealed_participants()]
        assert (not sealed) or source.n_open < source.n_answers

    def test_says_what_brings_its_responses(self, source: ListedSource) -> None:
        for follows in (False, True):
            profile = source.profile_in(follows_participants=follows)
            assert profile.brought_by
            assert profile.origin == source.profile.origin
            assert profile.one_by_one or not profile.responds_later

    def test_noting_what_was_released_changes_nothing_for_its_recruitment(
        self, source: ParticipantSource, design: Design
    ) -> None:
        source.mark_released(design)
        source.mark_released(design)
        first = [canonical_json(t.to_json()) for t in self.collect(source, design)]
        source.mark_released(design)
        assert [canonical_json(t.to_json()) for t in self.collect(source, design)] == first


class DomainContract:
    """What every domain owes. Give fixtures ``domain`` and ``settings``; ``empty_settings`` if a space can be empty."""

    @pytest.fixture
    def empty_settings(self) -> Mapping[str, Any] | None:
        """Settings of a space without trials."""
        return None

    @pytest.fixture
    def stimuli(self, domain: Domain, settings: Mapping[str, Any]) -> Stimuli:
        """Some trials of the space."""
        return domain.candidates(settings, np.random.default_rng(3), 20)

    def test_has_a_name_and_at_least_two_options(self, domain: Domain) -> None:
        assert domain.name
        assert len(set(domain.options)) == len(domain.options) >= 2

    def test_candidates_are_different_admissible_trials_of_the_space(
        self, domain: Domain, settings: Mapping[str, Any], stimuli: Stimuli
    ) -> None:
        domain.check(stimuli)
        assert 1 <= len(stimuli) <= 20
        assert len(set(stimuli.keys)) == len(stimuli)
        assert set(stimuli.keys) <= set(domain.space(settings).keys)

    def test_candidates_depend_on_the_generator_alone(
        self, domain: Domain, settings: Mapping[str, Any]
    ) -> None:
        first, second = (domain.candidates(settings, np.random.default_rng(5), 7) for _ in range(2))
        assert first.keys == second.keys

    def test_the_space_holds_each_trial_once(
        self, domain: Domain, settings: Mapping[str, Any]
    ) -> None:
        space = domain.space(settings)
        domain.check(space)
        assert len(set(space.keys)) == len(space)

    def test_the_space_admits_its_trials_whatever_their_sides(
        self, domain: Domain, settings: Mapping[str, Any], stimuli: Stimuli
    ) -> None:
        assert domain.admits(settings, stimuli).all()
        assert domain.admits(settings, domain.swap_sides(stimuli)).all()

    def test_an_empty_space_is_refused(
        self, domain: Domain, empty_settings: Mapping[str, Any] | None
    ) -> None:
        if empty_settings is None:
            pytest.skip("this domain has no empty space")
        with pytest.raises(EmptyDesignSpaceError):
            domain.space(empty_settings)
        with pytest.raises(EmptyDesignSpaceError):
            domain.candidates(empty_settings, np.random.default_rng(0), 5)

    def test_probes_are_admissible(self, domain: Domain) -> None:
        probes = domain.probes(np.random.default_rng(0))
        assert probes
        for probe in probes:
            domain.check(probe)

    def test_features_are_a_number_for_each_trial(self, domain: Domain, stimuli: Stimuli) -> None:
        features = domain.features(stimuli)
        assert features
        for name, values in features.items():
            assert np.shape(values) == (len(stimuli),), name
            assert np.isfinite(np.asarray(values, dtype=np.float64)).all(), name

    def test_swapping_sides_twice_changes_nothing(self, domain: Domain, stimuli: Stimuli) -> None:
        swapped = domain.swap_sides(stimuli)
        domain.check(swapped)
        assert swapped.keys != stimuli.keys
        assert domain.swap_sides(swapped).keys == stimuli.keys

    def test_trials_survive_an_artifact(self, domain: Domain, stimuli: Stimuli) -> None:
        again = Stimuli.from_json(stimuli.to_json())
        domain.check(again)
        assert again.keys == stimuli.keys

    def test_a_picture_is_a_fragment_without_scripts_or_addresses(
        self, domain: Domain, stimuli: Stimuli
    ) -> None:
        picture = domain.picture(stimuli, 0)
        assert re.match(r"\s*<[a-zA-Z]", picture)
        assert not re.search(
            r"<script|<html|\son\w+\s*=|javascript:|(src|href)\s*=\s*[\"']?(https?:)?//",
            picture,
            re.I,
        )

    def test_a_description_is_a_line_of_text(self, domain: Domain, stimuli: Stimuli) -> None:
        lines = [domain.describe(stimuli, row) for row in range(len(stimuli))]
        assert all(line.strip() and "\n" not in line for line in lines)
        assert len(set(lines)) == len(lines)
