"""Money earlier or later, as published."""

from __future__ import annotations

import csv
import hashlib

import numpy as np
import pytest

from lakatos.domains.intertemporal.archives.ericson2015 import FILE, READER
from lakatos.domains.intertemporal.task import IntertemporalDomain
from lakatos.experiments.errors import DataMissingError, TrialsError
from lakatos.experiments.task import Stimuli, identities

HEADER = "Subject,Condition,Question,G,R,D,X1,T1,X2,T2,LaterOptionChosen"


@pytest.fixture(scope="module")
def folder(data_folder, require):
    place = data_folder / READER.name
    require((place / FILE).is_file(), f"{place / FILE} is missing")
    return place


@pytest.fixture(scope="module")
def experiments(folder):
    return READER.read(folder)


def write(folder, *rows, header=HEADER):
    (folder / FILE).write_text("\n".join((header, *rows)) + "\n")
    return folder


def test_the_file_is_the_cited_one(folder):
    assert hashlib.sha256((folder / FILE).read_bytes()).hexdigest() == READER.source.files[FILE]


def test_people_and_answers_are_as_many_as_published(experiments):
    assert [trials.experiment for trials in experiments] == [
        f"framing-{number}" for number in range(1, 6)
    ]
    assert [trials.n_participants for trials in experiments] == [191, 198, 162, 199, 189]
    assert sum(trials.n_people for trials in experiments) == 940 - 1  # one person gave no answer
    assert sum(trials.n_responses for trials in experiments) == 23_500 - 369


def test_shares_choosing_later_are_the_published_ones(experiments):
    shares = [trials.response.mean() for trials in experiments]
    assert shares == pytest.approx([0.289, 0.374, 0.290, 0.446, 0.446], abs=5e-4)


def test_the_five_framings_share_720_distinct_admissible_trials(experiments):
    keys = [set(trials.stimuli.keys) for trials in experiments]
    assert [len(item) for item in keys] == [len(trials.stimuli) for trials in experiments]
    assert len(set().union(*keys)) == 720
    joined = Stimuli.concatenate([trials.stimuli for trials in experiments])
    IntertemporalDomain().check(joined)
    assert len(set(identities(IntertemporalDomain(), joined))) == 720
    assert set(joined["delays_days"].ravel()) == {0, 7, 14, 21, 28, 35}
    assert (np.diff(joined["amounts"]) > 0).all()


def test_each_trial_was_answered_by_16_to_50_people(experiments):
    answers = {}
    for trials in experiments:
        for key, n_answers in zip(trials.stimuli.keys, trials.counts.sum(axis=(0, 2)), strict=True):
            answers[key] = answers.get(key, 0) + n_answers
    # of 23,500 questions 369 went unanswered, so that the published 16 to 50, 32.6 on average, shrink a little
    assert min(answers.values()) in range(14, 17)
    assert max(answers.values()) in range(48, 51)
    assert np.mean(list(answers.values())) == pytest.approx(23_131 / 720)


def test_everybodys_answers_stand_in_the_order_of_presentation(folder, experiments):
    with (folder / FILE).open(newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["LaterOptionChosen"] in ("0", "1")]
    trials = experiments[3]
    people = sorted({int(row["Subject"]) for row in rows if row["Condition"] == "4"})
    for index in (0, 57, 198):
        own = sorted(
            (row for row in rows if row["Subject"] == str(people[index])),
            key=lambda row: int(row["Question"]),
        )
        mine = trials.participant == index
        assert trials.response[mine].tolist() == [int(row["LaterOptionChosen"]) for row in own]
        shown = trials.stimuli.take(trials.trial[mine])
        assert shown["amounts"].tolist() == [[float(row["X1"]), float(row["X2"])] for row in own]
        assert (shown["delays_days"] / 7).tolist() == [
            [float(row["T1"]), float(row["T2"])] for row in own
        ]


def test_missing_answers_are_left_out_and_people_renumbered(tmp_path):
    rows = [
        "7,2,2,1,2,1,1,0,2,1,1",
        "7,2,1,1,2,1,5,1,6,3,0",
        "9,2,1,1,2,1,1,0,2,1,NA",
        "11,2,1,1,2,1,1,0,2,1,",
    ]
    (trials,) = READER.read(write(tmp_path, *rows, "12,2,1,1,2,1,1,0,2,1,0"))
    assert trials.participant.tolist() == [0, 0, 1]
    assert trials.response.tolist() == [0, 1, 0]
    assert trials.n_people == 2
    assert trials.stimuli.take(trials.trial)["delays_days"].tolist() == [[7, 21], [0, 7], [0, 7]]


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("7,2,1,1,2,1,1,0,2,1,2", "LaterOptionChosen must be 0, 1, NA or empty, not '2'"),
        ("7,2,1,1,2,1,one,0,2,1,1", "not a row of numbers"),
        ("7,2,1,1,2", "not a row of numbers"),
    ],
)
def test_a_malformed_row_is_named_by_file_and_line(tmp_path, row, message):
    with pytest.raises(TrialsError, match=rf"choices\.csv, line 3: {message}"):
        READER.read(write(tmp_path, "7,2,1,1,2,1,1,0,2,1,1", row))


def test_a_table_without_its_columns_is_refused(tmp_path):
    with pytest.raises(TrialsError, match="Question, LaterOptionChosen are missing"):
        READER.read(write(tmp_path, header=HEADER.replace("Question", "Q").replace("Chosen", "")))


def test_a_missing_file_says_what_to_fetch(tmp_path):
    with pytest.raises(DataMissingError, match="fetch the data set intertemporal_ericson2015"):
        READER.read(tmp_path)
