"""A file of responses that is refused leaves a run as it was."""

from __future__ import annotations

from pathlib import Path

import pytest

from lakatos.experiments.errors import TrialsError
from lakatos.experiments.participants.web.collection import KEY_FILE
from lakatos.flows.operations.people import import_answers
from lakatos.flows.start import run_study
from lakatos.traces.errors import InboxError
from tests.flows.arriving import STUDY
from tests.flows.small import small_study


def test_a_refused_file_makes_no_key_of_pseudonyms(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    run_study(small_study(**STUDY), folder, n_workers=1)
    assert not (folder / KEY_FILE).exists()
    odd = tmp_path / "odd.csv"
    odd.write_text("participant,experiment,trial,choice\np1,nosuch,1,A\n", encoding="utf-8")
    with pytest.raises(TrialsError):
        import_answers(folder, odd)
    assert not (folder / KEY_FILE).exists()


def test_other_responses_of_a_known_participant_are_refused_by_name(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    run_study(small_study(**STUDY), folder, n_workers=1)
    (asked,) = (folder / "asked").glob("*.csv")
    trials = len(asked.read_text("utf-8").splitlines()) - 1

    def file_of(name: str, *people: str, response: int) -> Path:
        lines = [
            f"{person},{trial},{response}"
            for person in people
            for trial in range(trials)
            for _ in range(2)
        ]
        path = tmp_path / name
        path.write_text("\n".join(["participant,trial,response", *lines]) + "\n", encoding="utf-8")
        return path

    assert import_answers(folder, file_of("first.csv", "anna", response=0)).n_new == 1
    said = r"other.csv: the responses of participant 'anna' in experiment 1\.1 were imported before"
    with pytest.raises(InboxError, match=said):
        import_answers(folder, file_of("other.csv", "bea", "anna", response=1))
    assert import_answers(folder, file_of("bea.csv", "bea", response=1)).n_new == 1
