"""Published choices in matrix games."""

from __future__ import annotations

import gzip

import numpy as np
import pytest

from lakatos.domains.games.archives.zhu2024 import COLUMNS, FILE, READER
from lakatos.domains.games.task import GamesDomain, swap_columns
from lakatos.domains.published_data import load_archive
from lakatos.experiments.errors import TrialsError

FIRST = "7,1,10,7,21,8,26,13,1,3,1"
ROWS_EXCHANGED = "8,1,26,13,1,3,10,7,21,8,1"
COLUMNS_EXCHANGED = "9,2,21,8,10,7,1,3,26,13,0"
HEADER = "participant,trial,own_11,other_11,own_12,other_12,own_21,other_21,own_22,other_22,choice"


@pytest.fixture(scope="module")
def trials(data_folder, require):
    require((data_folder / READER.name).is_dir(), f"the data set {READER.name} is missing")
    (only,) = load_archive(READER.name, data_folder)
    return only


def write(folder, *rows, header=HEADER):
    (folder / FILE).write_bytes(gzip.compress("\n".join((header, *rows)).encode()))
    return folder


def test_every_game_is_one_trial(trials):
    GamesDomain().check(trials.stimuli)
    turned = [trials.stimuli, swap_columns(trials.stimuli)]
    turned += [GamesDomain().swap_sides(item) for item in turned]
    keys = [min(every) for every in zip(*(item.keys for item in turned), strict=True)]
    assert len(set(keys)) == len(trials.stimuli) == 1943
    assert trials.n_responses == 75_122


def test_the_noise_of_choice_rates_is_the_published_one(trials):
    rates, n_answers = trials.proportions[:, 1], trials.counts.sum(axis=(0, 2))
    noise = 100 * np.mean(rates * (1 - rates) / (n_answers - 1))
    assert noise == pytest.approx(0.45, abs=0.01)


def test_level_1_is_as_far_off_as_published(trials):
    mean = (trials.stimuli["own"][:, 1] - trials.stimuli["own"][:, 0]).mean(axis=1)
    strictness = np.linspace(0.05, 0.3, 126)
    predicted = 1 / (1 + np.exp(-strictness[:, None] * mean))
    errors = 100 * np.mean((predicted - trials.proportions[:, 1]) ** 2, axis=1)
    assert errors.min() == pytest.approx(2.59, abs=0.005)


def test_answers_follow_the_row_through_all_arrangements(tmp_path):
    (trials,) = READER.read(write(tmp_path, FIRST, ROWS_EXCHANGED, COLUMNS_EXCHANGED))
    assert len(trials.stimuli) == 1
    assert trials.stimuli["own"][0].tolist() == [[10, 21], [26, 1]]
    assert trials.response.tolist() == [1, 0, 0]
    assert trials.participant.tolist() == [0, 1, 2]


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([FIRST, FIRST], "a participant has two responses"),
        ([FIRST, FIRST[:-1] + "2"], "line 3: choice must be 0 or 1"),
        ([FIRST.replace("26", "2600")], "line 2: .*payoffs from 0 to 1000"),
        ([FIRST.replace("26", "many")], "line 2: whole numbers are missing of " + COLUMNS[0]),
        ([], "holds no answers"),
    ],
)
def test_what_is_no_published_table_is_refused(tmp_path, rows, message):
    with pytest.raises(TrialsError, match=message):
        READER.read(write(tmp_path, *rows))
