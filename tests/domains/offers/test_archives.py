"""Choices among electricity suppliers, as published."""

from __future__ import annotations

import csv
import gzip
import hashlib

import numpy as np
import pytest

from lakatos.domains.offers.archives.electricity import FILE, READER
from lakatos.domains.offers.task import OffersDomain
from lakatos.experiments.errors import DataMissingError, TrialsError

HEADER = "choice,id,alt,pf,cl,loc,wk,tod,seas,chid"
ROWS = [
    "FALSE,7,1,7,5,0,1,0,0,3",
    "FALSE,7,2,9,1,1,0,0,0,3",
    "FALSE,7,3,0,0,0,0,0,1,3",
    "TRUE,7,4,0,5,0,1,1,0,3",
]


@pytest.fixture(scope="module")
def folder(data_folder, require):
    place = data_folder / READER.name
    require((place / FILE).is_file(), f"{place / FILE} is missing")
    return place


@pytest.fixture(scope="module")
def trials(folder):
    (only,) = READER.read(folder)
    return only


def write(folder, *rows, header=HEADER):
    (folder / FILE).write_bytes(gzip.compress("\n".join((header, *rows)).encode()))
    return folder


def test_the_file_is_the_cited_one(folder):
    assert hashlib.sha256((folder / FILE).read_bytes()).hexdigest() == READER.source.files[FILE]


def test_people_and_answers_are_as_many_as_published(trials):
    assert trials.n_participants == trials.n_people == 361
    assert trials.n_responses == 4308
    assert trials.n_options == 4
    assert np.bincount(trials.participant).max() == 12
    assert np.bincount(trials.response).tolist() == [978, 1137, 1026, 1167]


def test_all_trials_are_admissible_and_shown_to_many(trials):
    OffersDomain().check(trials.stimuli)
    assert len(trials.stimuli) == len(set(trials.stimuli.keys)) == 62
    assert trials.counts.sum(axis=(0, 2)).min() == 41
    fixed = trials.stimuli["price"] > 0
    assert set(trials.stimuli["price"][fixed]) == {7, 9}


def test_everybodys_answers_stand_in_the_order_of_the_questions(folder, trials):
    with gzip.open(folder / FILE, "rt", newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["choice"] == "TRUE"]
    for person in (1, 200, 361):
        own = sorted(
            (row for row in rows if int(row["id"]) == person), key=lambda row: int(row["chid"])
        )
        mine = trials.participant == person - 1
        assert (trials.response[mine] + 1).tolist() == [int(row["alt"]) for row in own]
        chosen = (trials.trial[mine], trials.response[mine])
        assert trials.stimuli["price"][chosen].tolist() == [float(row["pf"]) for row in own]
        assert trials.stimuli["contract_years"][chosen].tolist() == [
            float(row["cl"]) for row in own
        ]


def test_rows_may_come_in_any_order(tmp_path):
    other = [f"{row.rsplit(',', 1)[0]},1".replace(",7,", ",5,", 1) for row in ROWS]
    later = [f"{row.rsplit(',', 1)[0]},9" for row in ROWS]
    later = [later[0].replace("FALSE", "TRUE"), *later[1:3], later[3].replace("TRUE", "FALSE")]
    (trials,) = READER.read(write(tmp_path, *later, *ROWS[::-1], *other))
    assert trials.participant.tolist() == [0, 1, 1]
    assert trials.response.tolist() == [3, 3, 0]
    assert trials.trial.tolist() == [0, 0, 0]


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (
            [*ROWS[:3], ROWS[3].replace("TRUE", "FALSE")],
            "question 3 of person 7: 0 suppliers are chosen",
        ),
        (
            [ROWS[0].replace("FALSE", "TRUE"), *ROWS[1:]],
            "question 3 of person 7: 2 suppliers are chosen",
        ),
        (ROWS[1:], r"question 3 of person 7: the places \(column alt\) are \[2, 3, 4\]"),
        ([ROWS[0], *ROWS], r"the places \(column alt\) are \[1, 1, 2, 3, 4\]"),
        (
            [*ROWS, *(row.replace(",7,", ",8,", 1) for row in ROWS)],
            r"a question \(column chid\) belongs to several",
        ),
        (
            [ROWS[0].replace("FALSE", "no"), *ROWS[1:]],
            "line 2: choice must be TRUE or FALSE, not 'no'",
        ),
        ([ROWS[0], "FALSE,7,2", *ROWS[2:]], "line 3: not a row of numbers"),
    ],
)
def test_what_is_no_published_table_is_refused_by_its_place(tmp_path, rows, message):
    with pytest.raises(TrialsError, match=message):
        READER.read(write(tmp_path, *rows))


def test_a_table_without_its_columns_is_refused(tmp_path):
    with pytest.raises(TrialsError, match="alt, chid are missing"):
        READER.read(
            write(tmp_path, header=HEADER.replace("alt", "place").replace("chid", "question"))
        )


def test_a_file_that_cannot_be_unpacked_is_refused(tmp_path):
    (tmp_path / FILE).write_bytes(gzip.compress(HEADER.encode())[:-4])
    with pytest.raises(TrialsError, match="no gzip file of text"):
        READER.read(tmp_path)


def test_a_missing_file_says_what_to_fetch(tmp_path):
    with pytest.raises(DataMissingError, match="fetch the data set multiattribute_electricity"):
        READER.read(tmp_path / READER.name)
