"""Choices between sequences, as published, and as files of a laboratory hold them."""

from __future__ import annotations

import gzip
import hashlib

import numpy as np
import pandas as pd
import pytest

from lakatos.domains.sequences.archives.autopsych2026 import FILE, READER
from lakatos.domains.sequences.reader import LAYOUT
from lakatos.domains.sequences.task import SequencesDomain
from lakatos.experiments.errors import TrialsError

DOMAIN = SequencesDomain()
HEADER = "run,experiment,participant,trial,sequence_left,sequence_right,chosen"
ROWS = ["1,1,a,2,HHT,TTTT,right", "1,1,a,1,HT,TTTT,left", "1,2,b,1,HHT,TH,left"]


@pytest.fixture(scope="module")
def folder(data_folder, require):
    place = data_folder / READER.name
    require((place / FILE).is_file(), f"{place / FILE} is missing")
    return place


def write(folder, *rows, header=HEADER):
    (folder / FILE).write_bytes(gzip.compress("\n".join((header, *rows)).encode()))
    return folder


def test_the_file_is_the_cited_one(folder):
    assert hashlib.sha256((folder / FILE).read_bytes()).hexdigest() == READER.source.files[FILE]


def test_people_and_choices_are_as_many_as_published(folder):
    found = READER.read(folder)
    assert len(found) == 6
    assert [item.n_participants for item in found] == [40] * 6
    assert sum(item.n_responses for item in found) == 7680
    for item in found:
        DOMAIN.check(item.stimuli)
        assert np.bincount(item.participant).tolist() == [32] * 40


def test_rows_are_read_in_the_order_of_presentation(tmp_path):
    first, second = READER.read(write(tmp_path, *ROWS))
    assert (first.experiment, second.experiment) == ("run-1-experiment-1", "run-1-experiment-2")
    shown = [DOMAIN.describe(first.stimuli, row) for row in first.trial]
    assert shown == ["HT | TTTT", "HHT | TTTT"]
    assert first.response.tolist() == [0, 1]


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("1,1,a,3,HHT,TTTT,middle", "line 5: chosen must be left or right, not 'middle'"),
        ("1,1,a,x,HHT,TTTT,left", "line 5: run, experiment and trial must be numbers"),
        ("1,1,a,3,HXT,TTTT,left", "line 5: a sequence must consist of H and T, not HXT"),
    ],
)
def test_what_is_no_published_table_is_refused_by_its_line(tmp_path, row, message):
    with pytest.raises(TrialsError, match=message):
        READER.read(write(tmp_path, *ROWS, row))


def test_a_table_without_its_columns_is_refused(tmp_path):
    with pytest.raises(TrialsError, match="chosen are missing"):
        READER.read(write(tmp_path, header=HEADER.replace("chosen", "choice")))


def guessed(**columns):
    return LAYOUT.guessed(pd.DataFrame(columns))


FIRST = ["HHTH", "TTTT", "HTHT", "THH", "HHHT"]
SECOND = ["HTTH", "TH", "HTTT", "TTHH", "HHHH"]


def test_columns_of_sequences_are_recognised_by_their_cells():
    assert guessed(q=FIRST, z=SECOND, n=[1, 2, 3, 4, 5]) == {"letters": ["q", "z"]}


def test_the_sides_follow_the_names():
    assert guessed(seq_right=FIRST, seq_left=SECOND) == {"letters": ["seq_left", "seq_right"]}


def test_words_numbers_and_codes_are_no_sequences():
    words = ["safe", "risky", "other", "none", "left"]
    numbers = ["1022", "1201", "1121", "2012", "2211"]
    keys = ["LR", "RL", "LL", "RR", "LR"]
    assert guessed(a=words, b=FIRST) == {}
    assert guessed(a=numbers, b=numbers) == {}
    assert guessed(a=keys, b=keys) == {}


def test_three_columns_of_sequences_are_not_guessed():
    assert guessed(a=FIRST, b=SECOND, c=FIRST) == {}
