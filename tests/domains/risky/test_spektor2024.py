"""The sessions in words: what they add up to, and what is refused."""

from __future__ import annotations

import hashlib
import json
import zipfile

import numpy as np
import pytest

from lakatos.domains.kit.packed import MEMBER
from lakatos.domains.risky.archives.spektor2024 import FILE, READER, read_record
from lakatos.domains.risky.task import RiskyDomain
from lakatos.experiments.errors import DataMissingError, TrialsError

TRIAL = (
    "The outcomes of lottery S are 16 with 50% chance and -9 with 50% chance. "
    "The outcomes of lottery Q are -5 with 50% chance and 12 with 50% chance. You choose <<Q>>."
)
OTHER = TRIAL.replace("16", "8").replace("-9", "-30").replace("<<Q>>", "<<S>>")
TEXT = f"Dear participant,\nThe lotteries' names are S and Q.\n\nSession 1:\n{TRIAL}\n{TRIAL}\nSession 2:\n{OTHER}"


def record(text=TEXT, **changed):
    row = {
        "text": text,
        "experiment": "spektor2024lossaversion/exp1.csv",
        "participant": 1,
        "RTs": [1, 2, 3],
    }
    return json.dumps(row | changed)


def pack(folder, *lines, member=MEMBER):
    with zipfile.ZipFile(folder / FILE, "w", zipfile.ZIP_DEFLATED) as packed:
        packed.writestr(member, "\n".join(lines))
    return folder


@pytest.fixture(scope="module")
def folder(data_folder, require):
    place = data_folder / READER.name
    require((place / FILE).is_file(), f"{place / FILE} is missing")
    return place


@pytest.fixture(scope="module")
def experiments(folder):
    return READER.read(folder)


def test_the_file_is_the_cited_one(folder):
    assert hashlib.sha256((folder / FILE).read_bytes()).hexdigest() == READER.source.files[FILE]


def test_people_and_choices_are_the_published_ones(experiments):
    by_name = {trials.experiment: trials for trials in experiments}
    assert list(by_name) == [
        f"exp{n}-large-{side}" for n in (1, 2, 3) for side in ("gains", "losses")
    ]
    assert sum(trials.n_responses for trials in experiments) == 73_250
    for side in ("gains", "losses"):
        parts = [by_name[f"exp{n}-large-{side}"] for n in (1, 2, 3)]
        assert (
            [part.n_people for part in parts]
            == [part.n_participants for part in parts]
            == [40, 185, 57]
        )
        assert [part.n_responses for part in parts] == [40 * 176, 185 * 49, 57 * 360]
    for trials in experiments:
        assert len(set(np.bincount(trials.participant))) == 1
        assert not trials.pooled


def test_every_trial_is_two_lotteries_with_even_chances(experiments):
    for trials in experiments:
        RiskyDomain().check(trials.stimuli)
        assert len(set(trials.stimuli.keys)) == len(trials.stimuli)
        assert (trials.stimuli["probabilities"][..., :2] == 0.5).all()


def test_gains_or_losses_go_twice_as_far(experiments):
    largest = {
        t.experiment: (t.stimuli["outcomes"].max(), t.stimuli["outcomes"].min())
        for t in experiments
    }
    assert largest == {
        "exp1-large-gains": (40, -20),
        "exp1-large-losses": (20, -40),
        "exp2-large-gains": (64, -32),
        "exp2-large-losses": (32, -64),
        "exp3-large-gains": (40, -20),
        "exp3-large-losses": (20, -40),
    }


def test_the_first_record_begins_as_printed(experiments):
    trials = experiments[0]
    rows = np.flatnonzero(trials.participant == 0)[:6]
    assert trials.response[rows].tolist() == [1, 1, 1, 1, 1, 0]
    first, second = trials.stimuli["outcomes"][trials.trial[rows[1]], :, :2].tolist()
    assert (first, second) == ([20, 38], [26, 32])


def test_order_of_presentation_is_kept_and_sessions_are_apart():
    first, second = read_record(record(), "line 1")
    assert first.answers == (((-9, 16), (-5, 12), 1),) * 2
    assert second.answers == (((-30, 8), (-5, 12), 0),)
    assert (first.context, second.context) == ("large-gains", "large-losses")


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{", "no JSON"),
        ("[" * 100_000, "no JSON"),
        ("[]", "not an object"),
        (record(experiment="elsewhere/exp1.csv"), "experiment must end in"),
        (record(participant=True), "participant must be an integer"),
        (record(participant="1"), "participant must be an integer"),
        (record(text=None), "text must be"),
        (record(RTs=[1, 2]), "a response time for each of 3"),
        (
            record(text=TEXT.replace("names are S and Q", "names are S and S")),
            "must name two lotteries",
        ),
        (record(text=TEXT.replace("Session 1:", "Session 3:")), "must name two lotteries"),
        (record(text=TEXT.replace("Session 2:", "Session 3:")), "'Session 3:' is no choice"),
        (record(text=TEXT.replace("Session 2:\n", "")), "answers in two sessions"),
        (record(text=TEXT.replace("<<Q>>", "<<X>>")), "is no choice between the lotteries S and Q"),
        (
            record(text=TEXT.replace("lottery Q", "lottery X")),
            "is no choice between the lotteries S and Q",
        ),
        (record(text=TEXT.replace("50%", "60%")), "is no choice"),
        (record(text=TEXT.replace("-9", "1e9")), "is no choice"),
        (record(text=TEXT.replace("-9", "٣")), "is no choice"),
        (record(text=TEXT + " Well done."), "is no choice"),
    ],
)
def test_a_record_that_is_not_as_published_is_refused(line, message):
    with pytest.raises(TrialsError, match=rf"line 7: .*{message}"):
        read_record(line, "line 7")


def test_two_records_of_one_person_are_refused(tmp_path):
    with pytest.raises(TrialsError, match="two records"):
        READER.read(pack(tmp_path, record(), record()))


def test_an_experiment_without_people_is_refused(tmp_path):
    with pytest.raises(TrialsError, match="no session of exp2-large-gains"):
        READER.read(pack(tmp_path, record()))


def test_what_is_no_zip_file_or_lacks_the_lines_is_refused(tmp_path):
    with pytest.raises(TrialsError, match="no zip file that holds"):
        READER.read(pack(tmp_path, record(), member="other.jsonl"))
    whole = pack(tmp_path, *[record(participant=n) for n in range(500)]) / FILE
    whole.write_bytes(whole.read_bytes()[:-50])
    with pytest.raises(TrialsError, match="no zip file that holds"):
        READER.read(tmp_path)


def test_a_small_file_that_unpacks_to_a_huge_one_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr("lakatos.domains.risky.archives.spektor2024.MOST_BYTES", 1000)
    with pytest.raises(TrialsError, match="larger than 1000 bytes"):
        READER.read(pack(tmp_path, " " * 100_000))


def test_a_missing_file_says_so(tmp_path):
    with pytest.raises(DataMissingError, match="fetch"):
        READER.read(tmp_path)
