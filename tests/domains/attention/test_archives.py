"""Published Navon and Stroop tasks: what is read of a record, what is refused, and what effects the data show."""

import json

import numpy as np
import pytest

from lakatos.domains import DOMAINS
from lakatos.domains.attention.archives.busch2024 import (
    COLUMNS,
    NAVON,
    NAVON_READER,
    STROOP,
    STROOP_READER,
    _trials,
    read_record,
    trial_numbers,
)
from lakatos.domains.published_data import load_archive
from lakatos.experiments.errors import TrialsError

WORD = (
    "The stimulus on the next trial is the word {}, the letters of the word are colored in {}. You press <<{}>> after "
    "{} milliseconds. The correct answer was pressing {}. \n"
)
STEPS = [
    ("blue", "red", "left", 500, "left"),
    ("green", "green", "left", 40000, "down"),
    ("red", "green", "down", 700, "down"),
    ("red", "red", "left", 650, "left"),
]


def record(steps=STEPS, task=STROOP, **changed):
    text = "".join(WORD.format(*step) for step in steps)
    told = {"text": text, "age": "21", "RTs": [str(step[3]) for step in steps]} | changed
    return read_record(json.dumps(told), "here", task)


def test_a_trial_is_its_conflict_and_what_came_before():
    person = record()
    assert person.age_years == 21
    found = [dict(zip(COLUMNS, row, strict=True)) for row in trial_numbers(person.answers, STROOP)]
    first, second, third, fourth = found
    assert first == {
        "congruence": -1, "level": 0, "n_answers": 3, "side": -1, "has_previous": 0, "previous_congruence": 0,
        "previous_error": 0, "repeats": 0,
    }  # fmt: skip
    past = ("previous_congruence", "previous_error", "repeats")
    assert [second[name] for name in past] == [-1, False, False]
    # the left key was pressed wrongly just before, and is not right now; then down again would be
    assert [third[name] for name in past] == [1, True, False]
    assert [fourth[name] for name in past] == [-1, False, False]


def test_slow_answers_are_left_out_and_still_tell_what_happened_before():
    trials = _trials([record(), record()], STROOP)
    assert trials.n_responses == 6
    assert trials.stimuli["previous_error"][trials.trial].tolist() == [0, 1, 0] * 2


def test_letters_are_read_as_well():
    text = (
        "The stimulus is a large letter S that is comprised of small letters H. After 200 milliseconds, the stimulus "
        "is masked. You press <<s>> after 73.5 milliseconds. The correct answer was pressing h. \n"
    )
    person = record((), NAVON, text=text, RTs=["73.5"])
    assert person.answers[0].congruence == -1
    assert person.answers[0].time_s == pytest.approx(0.0735)
    assert trial_numbers(person.answers, NAVON) == [(-1, -1, 2, 1, 0, 0, 0, 0)]


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"age": "young"}, "age and RTs must be numbers"),
        ({"text": "You press <<left>>."}, "0 of 1 answers can be read"),
        ({"text": WORD.format("red", "red", "down", 500, "down")}, "answer 1 has a key"),
        ({"RTs": ["500"]}, "RTs are not the times in the text"),
    ],
)
def test_damaged_records_are_refused(changed, words):
    with pytest.raises(TrialsError, match=f"here: {words}"):
        record(**changed)


@pytest.mark.parametrize(
    ("reader", "n_answers", "least_effect"),
    [(NAVON_READER, 6274, 0.02), (STROOP_READER, 8700, 0.04)],
)
def test_published_answers_show_the_known_effects(
    reader, n_answers, least_effect, data_folder, require
):
    require((data_folder / reader.name).is_dir(), f"the data set {reader.name} is missing")
    (trials,) = load_archive(reader.name, data_folder)
    domain = DOMAINS[reader.domain]
    domain.check(trials.stimuli)
    assert (trials.n_responses, trials.n_participants) == (n_answers, 99)
    n_bins = trials.n_options // 2
    time = np.array(domain.scale.places)[trials.response]
    is_right = trials.response < n_bins
    shown = {name: array[trials.trial] for name, array in trials.stimuli.arrays.items()}
    conflict = shown["congruence"] == -1
    means = [time[is_right & (conflict == now)].mean() for now in (True, False)]
    assert means[0] - means[1] > least_effect
    assert is_right[conflict].mean() < is_right[~conflict].mean()
    after_error = shown["previous_error"] == 1
    assert time[after_error].mean() > time[~after_error].mean() + 0.05
