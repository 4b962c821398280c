"""Choices between sequences, as published, and as files of a laboratory hold them."""

from __future__ import annotations

import gzip
import hashlib
import json

import numpy as np
import pandas as pd
import pytest

from lakatos.domains.sequences.archives.autopsych2026 import FILE, READER
from lakatos.domains.sequences.reader import LAYOUT
from lakatos.domains.sequences.task import SequencesDomain, sequences
from lakatos.experiments.errors import StimuliError, TrialsError

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


def test_a_third_column_that_repeats_the_chosen_sequence_is_no_side():
    chosen = [SECOND[0], *FIRST[1:]]
    assert guessed(a=FIRST, chosen=chosen, b=SECOND) == {"letters": ["a", "b"]}


def built(*pairs):
    return LAYOUT.build({"letters": np.array(pairs)})


@pytest.mark.parametrize(
    "write",
    [
        " ".join,
        "-".join,
        ", ".join,
        json.dumps,
        lambda text: json.dumps(list(text)),
        lambda text: str(list(text)),
        lambda text: f" {text} ",
        lambda text: f"'{text}",
    ],
)
def test_what_stands_around_and_between_letters_is_no_letter(write):
    pairs = [*zip(FIRST, SECOND, strict=True), ("T", "HT")]
    found = built(*((write(first), write(second)) for first, second in pairs))
    assert found.keys == sequences(pairs).keys


def test_signs_are_letters_where_they_do_not_stand_between_all():
    found = built(("X--X", "X-X"), ("-XX-", "--X"))
    assert found["alphabet"][0, :3].tolist() == [ord("-"), ord("X"), 0]
    assert found.keys == sequences([("X--X", "X-X"), ("-XX-", "--X")]).keys


def test_letters_that_are_written_in_two_ways_in_unicode_are_one():
    assert built(("A\u0308H", "\xc4\xc4")).keys == sequences([("\xc4H", "\xc4\xc4")]).keys


@pytest.mark.parametrize(
    ("pairs", "message"),
    [
        ([("HTH TTH", "HHHTTT")], "'HTH TTH' is no sequence of letters; write HTHHT"),
        ([("H T H", "HHT")], "'H T H' is no sequence"),
        ([("110", "1000"), ("1", "10")], "no sequence begins with 0, .* dropped zeros"),
        ([("HTTH", "hthh")], "have both H and h"),
        ([("HTTH", "ABBA")], "made of AB or of HT, and a file has one alphabet"),
        ([("HTTH", "HTT", "HH")], "letters are two columns"),
    ],
)
def test_letters_that_participants_did_not_see_are_refused(pairs, message):
    with pytest.raises(StimuliError, match=message):
        built(*pairs)


@pytest.mark.parametrize(
    "pairs",
    [
        [("110", "100")],
        [("0110", "100"), ("10", "1000")],
        [("1", "0"), ("01", "11")],
        [("HHHH", "TTT"), ("AA", "A")],
        [("HT", "TA"), ("AB", "BB")],
    ],
)
def test_letters_without_a_sign_of_an_error_are_read_as_they_are(pairs):
    assert built(*pairs).keys == sequences(pairs).keys


def test_a_letter_that_few_sequences_have_is_a_slip_that_is_named_with_its_trial():
    pairs = [("HHTH", "TTHT")] * 20
    with pytest.raises(StimuliError, match=r"trial 20 .*'HTXH' has the letter 'X'.*made of HT"):
        built(*pairs, ("HTXH", "TTHH"))


def test_a_third_letter_that_many_sequences_have_belongs_to_the_alphabet():
    stimuli = built(*[("HHTH", "TTHT")] * 8, *[("HTXH", "XXTH")] * 2)
    assert len(set(stimuli["alphabet"][0]) - {0}) == 3
