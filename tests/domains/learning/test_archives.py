import json
import zipfile

import numpy as np
import pytest

from lakatos.domains import ARCHIVES
from lakatos.domains.learning.archives.reversal_zorowitz2023 import read as read_reversal
from lakatos.domains.learning.archives.two_step_shahar2019 import read as read_two_step
from lakatos.domains.learning.archives.two_step_shahar2019 import read_record
from lakatos.domains.learning.task import LearningDomain
from lakatos.domains.published_data import load_archive
from lakatos.experiments.errors import DataMissingError, TrialsError
from lakatos.experiments.participants.archival import ArchivalParticipants
from lakatos.experiments.task import Design, Trials
from lakatos.experiments.testing import ParticipantSourceContract

DOMAIN = LearningDomain()
HEAD = "platform,subject,block,trial,correct,choice,key,rt,accuracy,outcome\n"
TEXT = """In the first stage, you will choose between two options: M and Z.
Your first-stage choice will lead to one of two second-stage states: S or A.
In each second-stage state, you will make another choice between two options: R and W.

You are presented with first-stage options M and Z. You choose <<Z>>. \
This leads to state S. In state S, you choose <<W>>. You receive no reward.
You are presented with first-stage options M and Z. You choose <<M>>. \
This leads to state A. In state A, you choose <<R>>. You receive a reward.
"""
LATER = (
    "You are now back 18 months later to do it again.\n"
    "You are presented with first-stage options M and Z. You choose <<M>>. This leads to state S. "
    "In state S, you choose <<R>>. You receive a reward.\n"
)


def record(text):
    return json.dumps({"text": text, "experiment": "x", "participant": 1})


class TestReversal:
    def test_holds_what_was_published(self, data_folder):
        mturk, prolific = load_archive("learning_reversal_zorowitz2023", data_folder)
        assert (mturk.experiment, mturk.n_people, prolific.experiment, prolific.n_people) == (
            "mturk", 205, "prolific", 201,
        )  # fmt: skip
        assert mturk.n_responses + prolific.n_responses == 36_540
        for trials in (mturk, prolific):
            DOMAIN.check(trials.stimuli)
            assert (trials.n_options, len(trials.stimuli)) == (3, 90)
            np.testing.assert_array_equal(trials.sequences.trial[0], np.arange(90))

    def test_the_first_person_is_the_first_in_the_file(self, data_folder):
        (mturk, _) = load_archive("learning_reversal_zorowitz2023", data_folder)
        lines = (
            (data_folder / "learning_reversal_zorowitz2023" / "data.csv")
            .read_text()
            .splitlines()[1:91]
        )
        rows = [line.split(",") for line in lines]
        np.testing.assert_array_equal(mturk.sequences.response[0], [float(row[5]) for row in rows])
        np.testing.assert_array_equal(
            mturk.sequences.feedback["reward"][0], [float(row[9]) for row in rows]
        )

    @pytest.mark.parametrize(
        ("line", "words"),
        [
            ("mturk,a,1,1,0,5.0,38,1,0,0", "line 2: choice is 5, not one of 0 to 2"),
            ("mturk,a,1,1,0,,38,1,0,0", "line 2: no number in the column 'choice'"),
            ("mturk,a,1,91,0,1,38,1,0,0", "trial is 91"),
            ("moon,a,1,1,0,1,38,1,0,0", "platform must be one of mturk, prolific"),
            (
                "mturk,a,1,1,0,1,38,1,0,0\nmturk,a,1,1,0,1,38,1,0,0",
                "line 3: a second answer to trial 1",
            ),
            ("mturk,a,1,1,0,1,38,1,0,0", "1 people without 90 answers"),
        ],
    )
    def test_a_damaged_file_is_refused_with_its_line(self, tmp_path, line, words):
        (tmp_path / "data.csv").write_text(f"{HEAD}{line}\n")
        with pytest.raises(TrialsError, match=words):
            read_reversal(tmp_path)

    def test_a_missing_file_is_named(self, tmp_path):
        with pytest.raises(DataMissingError, match="fetch the data set"):
            read_reversal(tmp_path)


class TestTwoStep:
    def test_holds_what_was_published(self, data_folder):
        first, later = load_archive("learning_two_step_shahar2019", data_folder)
        assert first.n_responses + later.n_responses == 349_508
        assert first.n_people == 554
        for trials, (least, most) in ((first, (91, 120)), (later, (136, 200))):
            DOMAIN.check(trials.stimuli)
            lengths = (trials.sequences.trial >= 0).sum(axis=1) / 2
            assert (lengths.min(), lengths.max()) == (least, most)

    def test_each_first_pick_has_a_state_that_it_leads_to_more_often(self, data_folder):
        first, _ = load_archive("learning_two_step_shahar2019", data_folder)
        table = first.sequences
        n_common = n_trials = 0
        for picks, states, there in zip(
            table.response[:, ::2],
            table.feedback["next_state"][:, ::2],
            table.trial[:, ::2] >= 0,
            strict=True,
        ):
            crossed = (picks[there] == 1) == (states[there] == 1)
            n_common, n_trials = (
                n_common + max(crossed.sum(), (~crossed).sum()),
                n_trials + there.sum(),
            )
        assert abs(n_common / n_trials - 0.7) < 0.02

    def test_reads_picks_states_and_rewards(self):
        first, later = read_record(record(TEXT + LATER), "here")
        assert first == [(1, 1, 1, 0), (0, 2, 0, 1)]
        assert later == [(0, 1, 0, 1)]

    @pytest.mark.parametrize(
        ("text", "words"),
        [
            (TEXT.replace("state S. In", "state A. In", 1), "no trial of the two-step task"),
            (TEXT.replace("<<Z>>", "<<Q>>"), "no trial of the two-step task"),
            (TEXT.replace("a reward", "two rewards"), "no trial of the two-step task"),
            (TEXT.replace("states: S or A", "states"), "must name two options, two states"),
            (TEXT.split("\n\n")[0], "no trial in the first measurement"),
            (TEXT + LATER + LATER, "more than two measurements"),
        ],
    )
    def test_a_damaged_record_is_refused(self, text, words):
        with pytest.raises(TrialsError, match=f"here: .*{words}"):
            read_record(record(text), "here")

    @pytest.mark.parametrize("line", ["{", "[]", '{"text": 3}', "[" * 100_000])
    def test_what_is_no_record_is_refused(self, line):
        with pytest.raises(TrialsError, match="here"):
            read_record(line, "here")

    def test_a_file_without_the_later_measurement_is_refused(self, tmp_path):
        with zipfile.ZipFile(tmp_path / "prompts.jsonl.zip", "w") as packed:
            packed.writestr("prompts.jsonl", record(TEXT) + "\n")
        with pytest.raises(TrialsError, match="lacks one of the two measurements"):
            read_two_step(tmp_path)


def small(n_people=6):
    """People of different lengths, with rewards that name them."""
    stimuli = DOMAIN.space({"n_steps": 8})
    lengths = [8, 6] * (n_people // 2)
    person = np.repeat(np.arange(n_people), lengths)
    return Trials(
        "old", stimuli, person, np.concatenate([np.arange(length) for length in lengths]), person % 2,
        np.ones(len(person), int), n_people=n_people,
        feedback={"reward": person * 1.0, "next_state": 0.0 * person},
    )  # fmt: skip


class TestArchivedSequences(ParticipantSourceContract):
    @pytest.fixture
    def source(self):
        return ArchivalParticipants([small()], sequential=True, sealed_share=0.3)

    @pytest.fixture
    def design(self, source):
        (offer,) = source.offers(np.random.default_rng(0), 2)
        return Design("contract", offer.stimuli, offer.repetitions, 2, archive=offer.archive)

    def test_offers_at_most_as_many_trials_as_wanted(self, source):
        (offer,) = source.offers(np.random.default_rng(1), 2)
        assert len(offer.stimuli) == 8  # whole, whatever is wanted: steps mean nothing apart

    def test_people_are_released_whole_and_once(self, source, design):
        (first,) = self.collect(source, design)
        rewards = first.sequences.feedback["reward"]
        assert len(np.unique(rewards[:, 0])) == 2
        assert all(
            len(set(row[place >= 0])) == 1
            for row, place in zip(rewards, first.sequences.trial, strict=True)
        )

    def test_sealed_people_are_never_offered(self, source, design):
        (sealed,) = source.sealed()
        hidden = set(sealed.feedback["reward"])
        assert len(hidden) == 2
        (first,) = self.collect(source, design)
        assert not hidden & set(first.feedback["reward"])


def test_every_archive_of_learning_is_listed():
    assert {name for name, reader in ARCHIVES.items() if reader.domain == "learning"} == {
        "learning_reversal_zorowitz2023",
        "learning_two_step_shahar2019",
        "learning_two_step_nussenbaum2020",
        "learning_probability_thoma2025",
    }
