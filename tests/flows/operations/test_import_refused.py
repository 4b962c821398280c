"""A file of responses that is refused leaves a run as it was."""

from __future__ import annotations

from pathlib import Path

import pytest

from lakatos.experiments.errors import TrialsError
from lakatos.experiments.participants.web.collection import KEY_FILE
from lakatos.flows.operations.people import import_answers
from lakatos.flows.start import run_study
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
