"""What a command is given in place of answers is told from them, with what can be given instead."""

from __future__ import annotations

from pathlib import Path

import pytest

import lakatos
from lakatos.experiments.errors import TrialsError
from lakatos.flows.errors import RunMissingError
from lakatos.flows.notebook.asked import names_run, read_asked
from lakatos.theories.errors import TheoryError
from tests.flows.notebook.conftest import people as people_of_one_group

people = people_of_one_group


def test_a_file_a_folder_and_a_published_data_set_are_answers(people, tmp_path: Path) -> None:
    people.to_csv(tmp_path / "answers.csv", index=False)
    for answers in (tmp_path / "answers.csv", tmp_path, "allais"):
        assert not names_run(answers)
    asked = read_asked(tmp_path / "answers.csv", ["hyperbolic"])
    assert asked.theories == ["hyperbolic"]
    assert asked.answers.trials[0].digest == lakatos.adopt(people).trials[0].digest
    assert read_asked("allais", "random").theories == ["random"]
    assert read_asked("allais").theories is None


@pytest.mark.parametrize(
    ("answers", "said"),
    [
        ("hyperbolic", r"'hyperbolic' is a theory; give responses in its place\."),
        ("mine.py", r"'mine\.py' is a theory; give responses in its place\."),
        ("answrs.csv", r"no responses called 'answrs\.csv'; did you mean 'answers\.csv'\?"),
        ("risky_spector2024", r"did you mean 'risky_spektor2024'\?"),
        (
            "zzzz",
            r"no responses called 'zzzz'\. Responses are a file of them .* a run by its name or ",
        ),
    ],
)
def test_what_is_no_answers_is_told_from_them(
    answers: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("answers.csv").write_text("a,b\n1,2\n", encoding="utf-8")
    with pytest.raises(RunMissingError, match=said) as refused:
        read_asked(Path(answers), [], runs=Path("runs"))
    assert "runs in runs: none" in str(refused.value)
    assert refused.value.exit_code == 2
    assert [item.name for item in tmp_path.iterdir()] == ["answers.csv"]


def test_a_theory_that_is_not_there_is_told_the_nearest(people) -> None:
    with pytest.raises(
        TheoryError, match=r"'hyperbolik' of intertemporal; did you mean 'hyperbolic'.* Give "
    ):
        lakatos.score(people, ["hyperbolik"])


def test_answers_that_were_read_cannot_be_said_to_mean_something_else(people) -> None:
    answers = lakatos.adopt(people)
    with pytest.raises(TrialsError, match="columns and domain cannot be given for responses that"):
        lakatos.fit(answers, "hyperbolic", domain="risky", columns={"participant": "subject"})
