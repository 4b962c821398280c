"""The AutoCog reader: what it counts, what it refuses, and that it needs no file beyond the published ones."""

import hashlib
import json
import os
from pathlib import Path

import numpy as np
import pytest

from lakatos.domains.multiattribute.archives.autocog import DESIGNS, READER, read_experiment
from lakatos.domains.multiattribute.task import MultiattributeDomain
from lakatos.experiments.errors import DataMissingError, TrialsError

DATA = (
    Path(os.environ.get("LAKATOS_DATA") or Path(__file__).parents[4] / "shared" / "data")
    / READER.name
)
ROW = {
    "subject_id": 4,
    "option_a_ratings": [1, 1, 0, 0],
    "option_b_ratings": [0, 0, 1, 1],
    "response": 0,
}


@pytest.fixture(scope="module")
def experiments():
    if not DATA.is_dir():
        message = f"the published data are not in {DATA}; set LAKATOS_DATA to the folder that holds {READER.name}"
        if os.environ.get("LAKATOS_TEST_ALL") == "1":
            pytest.fail(message)
        pytest.skip(message)
    return READER.read(DATA)


def write(tmp_path, *rows):
    path = tmp_path / "responses.jsonl"
    path.write_text(
        "".join((row if isinstance(row, str) else json.dumps(row)) + "\n" for row in rows)
    )
    return path


def test_files_are_the_published_ones(experiments):
    for name, digest in READER.source.files.items():
        assert hashlib.sha256((DATA / name).read_bytes()).hexdigest() == digest


@pytest.mark.parametrize(
    ("kind", "n_people", "n_responses"), [("binary", 247, 23_712), ("cardinal", 218, 20_544)]
)
def test_ten_experiments_of_each_kind_with_the_published_counts(
    experiments, kind, n_people, n_responses
):
    chosen = [trials for trials in experiments if trials.experiment.startswith(kind)]
    assert len(chosen) == 10
    assert sum(trials.n_participants for trials in chosen) == n_people
    assert sum(trials.n_people for trials in chosen) == n_people
    assert sum(trials.n_responses for trials in chosen) == n_responses


def test_experiments_keep_the_order_and_names_of_the_designs(experiments):
    assert [trials.experiment for trials in experiments] == [
        design.experiment for design in DESIGNS
    ]
    assert experiments[0].experiment == "binary-1a"
    assert experiments[-1].experiment == "cardinal-5b"


def test_stimuli_are_distinct_and_allowed_by_the_domain(experiments):
    for trials in experiments:
        MultiattributeDomain().check(trials.stimuli)
        assert len(set(trials.stimuli.keys)) == len(trials.stimuli)


def test_a_proportion_equals_the_one_counted_by_hand(experiments):
    trials = experiments[0]
    row = next(
        index
        for index, pair in enumerate(trials.stimuli["ratings"].astype(int).tolist())
        if pair == [[0, 0, 1, 1], [1, 1, 0, 0]]
    )
    assert trials.counts[:, row].sum() == 300
    assert trials.proportions[row, 1] == pytest.approx(0.92)


def test_typed_designs_agree_with_the_collected_table(experiments):
    if not (DATA / "designs.json").is_file():
        pytest.skip("designs.json is not part of the published files")
    for row, design in zip(json.loads((DATA / "designs.json").read_text()), DESIGNS, strict=True):
        assert (row["experiment"], row["file"], row["rating_max"]) == (
            design.experiment,
            design.file,
            design.rating_max,
        )
        assert tuple(row["validities"]) == design.validities


def test_every_file_has_a_place_in_the_repository():
    assert len(READER.source.files) == 20
    assert set(READER.source.remote) == set(READER.source.files)
    assert READER.source.remote["cardinal/round_004_obs_01.jsonl"] == (
        "results/human_decision_making_cardinal/ttb+tallying/observations/data/round_004_obs_01.jsonl"
    )


def test_order_of_presentation_is_kept_and_people_are_numbered_from_0(tmp_path):
    other = ROW | {
        "option_a_ratings": [0, 0, 1, 1],
        "option_b_ratings": [1, 1, 0, 0],
        "response": 1,
    }
    trials = read_experiment(write(tmp_path, ROW, other, ROW | {"subject_id": 9}, ROW), DESIGNS[0])
    np.testing.assert_array_equal(trials.trial, [0, 1, 0, 0])
    np.testing.assert_array_equal(trials.participant, [0, 0, 1, 0])
    np.testing.assert_array_equal(trials.response, [0, 1, 0, 0])
    assert (trials.n_people, len(trials.stimuli)) == (2, 2)


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("{", "no JSON"),
        ("[]", "not an object"),
        ({"subject_id": 0, "response": 1}, "option_a_ratings, option_b_ratings are missing"),
        (ROW | {"response": 2}, "response must be 0 or 1, not 2"),
        (ROW | {"response": True}, "response must be 0 or 1, not True"),
        (ROW | {"subject_id": "p1"}, "subject_id must be an integer"),
        (ROW | {"option_b_ratings": [0, 0, 1]}, "option_b_ratings must be 4 integers from 0 to 1"),
        (
            ROW | {"option_a_ratings": [0, 0, 1, 2]},
            "option_a_ratings must be 4 integers from 0 to 1",
        ),
    ],
)
def test_a_malformed_row_is_named_by_file_and_line(tmp_path, row, message):
    with pytest.raises(TrialsError, match=rf"responses\.jsonl, line 2: .*{message}"):
        read_experiment(write(tmp_path, ROW, row), DESIGNS[0])


def test_an_empty_file_is_refused(tmp_path):
    with pytest.raises(TrialsError, match="holds no responses"):
        read_experiment(write(tmp_path), DESIGNS[0])


def test_a_missing_file_says_what_to_fetch(tmp_path):
    with pytest.raises(DataMissingError, match="Fetch the data set `multiattribute_autocog`"):
        READER.read(tmp_path)
