"""Keys with their times from a file: they become the outcomes that the page would have made of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from lakatos.domains import DOMAINS
from lakatos.domains.attention.task import SCALE
from lakatos.experiments.adoption.tables import read_cells
from lakatos.experiments.errors import TrialsError
from lakatos.experiments.participants.answers import PersonAnswers
from lakatos.experiments.participants.file import read_answers
from lakatos.experiments.task import Design

DOMAIN = DOMAINS["attention"]
DESIGN = Design("1.1", DOMAIN.space({"level": -1, "past": False}), repetitions=1, n_participants=2)
HEAD = "participant,trial,key,response_time_ms\n"


def read(folder: Path, text: str) -> list[PersonAnswers]:
    path = folder / "answers.csv"
    path.write_text(text)
    return read_answers(read_cells(path), {"1.1": DESIGN}, DOMAIN, str)


def test_a_key_and_a_time_become_an_outcome(tmp_path: Path) -> None:
    (ann,) = read(tmp_path, HEAD + "ann,0,0,413\nann,1,0,700.5\nann,3,1,3000\nann,2,0,200\n")
    assert [SCALE.labels[place] for place in ann.response] == [
        "right after 0.42 s", "wrong after 0.7 s", "right after 2.5 s", "right after 0.25 s",
    ]  # fmt: skip
    assert ann.key == (0, 0, 1, 0)
    assert ann.interval_ms == ()


def test_times_of_0_and_40_seconds_and_missing_keys_are_left_out_with_why(tmp_path: Path) -> None:
    (ann,) = read(tmp_path, HEAD + "ann,0,0,0\nann,1,1,40000\nann,2,,\nann,3,1,512\n")
    assert ann.trial == (3,)
    assert [(item.trial, item.reason) for item in ann.left_out] == [
        (0, "too_early"), (1, "too_late"), (2, "no_answer"),
    ]  # fmt: skip
    assert ann.status == "completed"


def test_outcomes_by_name_can_still_be_brought_in(tmp_path: Path) -> None:
    text = "participant,trial,response\n" + "".join(
        f"ann,{row},right after 0.42 s\n" for row in range(4)
    )
    (ann,) = read(tmp_path, text)
    assert ann.response == (3,) * 4
    assert ann.key == ()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (HEAD + "ann,0,2,500\n", "row 2 has the key 2; give 0 to 1, from the left"),
        (HEAD + "ann,0,0,\n", "row 2 has a key and no response time"),
        (HEAD + "ann,0,0,-5\n", "has '-5' in the column 'response_time_ms'"),
        (HEAD + "ann,0,0,soon\n", "has 'soon' in the column 'response_time_ms'"),
        (HEAD + "ann,0,left,500\n", "has 'left' in the column 'key'"),
        (HEAD + "ann,0,0,500\nann,0,0,600\n", "row 3 holds what was not presented"),
        ("participant,trial,key\nann,0,0\n", "lacks the column 'response_time_ms'"),
        (
            "participant,trial,key,response,response_time_ms\nann,0,0,3,500\n",
            "give the key with its time, or",
        ),
    ],
)
def test_what_is_no_key_with_a_time_is_refused_by_its_row(
    tmp_path: Path, text: str, words: str
) -> None:
    with pytest.raises(TrialsError, match=words):
        read(tmp_path, text)


def test_other_tasks_have_no_keys(tmp_path: Path) -> None:
    path = tmp_path / "answers.csv"
    path.write_text("participant,trial,key,response_time_ms\nann,0,0,500\n")
    risky = DOMAINS["risky"]
    design = Design("1.1", risky.space({}).take([0]), 1, 1)
    with pytest.raises(TrialsError, match="unknown column 'key'"):
        read_answers(read_cells(path), {"1.1": design}, risky, str)
