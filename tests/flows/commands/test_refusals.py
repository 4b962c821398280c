"""Commands that are given what they cannot use say what was wrong and what to do, end with 2, and write nothing."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from lakatos.flows.operations.known_errors import exit_status, known_errors
from lakatos.flows.run.run import begin, create_run
from tests.flows.small import small_study

OF_ANOTHER_TASK = '''"""Price: people take what is cheap."""
PARAMETERS = {"strictness": {"prior": "log_uniform", "low": 0.1, "high": 20.0, "unit": "per point"}}


def choose(parameters, trials, xp):
    lead = trials["prices"][:, 0] - trials["prices"][:, 1]
    return 1 / (1 + xp.exp(-parameters["strictness"] * lead))
'''


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run that was begun and has no answers, a folder that is no run, and files that are no theories."""
    folder = tmp_path_factory.mktemp("refused")
    create_run(small_study(), folder / "runs" / "new").close()
    with create_run(small_study(), folder / "runs" / "begun") as run:
        begin(run)
    (folder / "notes").mkdir()
    (folder / "notes" / "readme.txt").write_text("nothing of interest")
    (folder / "empty.py").write_text("")
    (folder / "binary.py").write_bytes(bytes(range(256)))
    with (folder / "large.py").open("wb") as file:
        file.truncate(100 * 2**20)
    (folder / "prices.py").write_text(OF_ANOTHER_TASK)
    return folder


def files_of(folder: Path) -> dict[str, tuple[int, int]]:
    """Size and time of everything below a folder; SQLite's shared memory, which readers use too, left out."""
    return {
        str(item.relative_to(folder)): (item.stat().st_size, item.stat().st_mtime_ns)
        for item in folder.rglob("*")
        if item.is_file() and not item.name.endswith("-shm")
    }


def refused(place: Path, monkeypatch: pytest.MonkeyPatch, arguments: Sequence[str]) -> str:
    """What a command says that ends with 2 and changes nothing."""
    from typer.testing import CliRunner

    from lakatos.flows.commands.main import app

    monkeypatch.chdir(place)
    before = files_of(place)
    done = CliRunner().invoke(app, list(arguments))
    assert isinstance(done.exception, known_errors()), (done.output, done.exception)
    assert exit_status(done.exception) == 2
    assert files_of(place) == before
    return str(done.exception)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ("theory score begun", "the run runs/begun has no responses yet"),
        ("theory fit tallying runs/begun", "`lakatos resume runs/begun` goes on"),
        ("theory groups begun --by age", "no responses yet"),
        ("theory effects begun --by age", "no responses yet"),
        (
            "theory posterior begun tallying",
            "the run runs/begun has no responses yet",
        ),
        (
            "theory posterior tallying --run begun",
            "the run runs/begun has no responses yet",
        ),
        ("theory score new", "the run runs/new has not begun; `lakatos resume runs/new` begins it"),
        ("theory posterior tallying --run new", "has not begun"),
        ("theory export tallying --run new", "has not begun"),
        ("transfer new --to allais", "has not begun"),
        ("transfer expected_value --to new", "has not begun"),
        ("evaluate new", "has not begun"),
        ("why begun", "has no verdict yet"),
        ("export begun --to tables --out out", "no theory of runs/begun was scored yet"),
        ("collect begun --port 0", "the run runs/begun has no participant page"),
        ("invite 3 begun", "its source is 'simulated'"),
        ("theory score notes", "readme.txt holds no row of answers"),
        ("theory score begum", "did you mean 'begun'?"),
        ("theory export hyperbolic", "one of intertemporal is called so"),
        ("theory export nosuch --run begun", "no theory of the run is called 'nosuch'"),
        ("theory check large.py", "more than 1,048,576 bytes"),
        ("theory check binary.py", "not UTF-8 text"),
        ("theory check notes", "it is no file"),
        ("theory import large.py", "more than 1,048,576 bytes"),
        ("transfer begun --to allais", "has no theory yet: nothing was scored"),
        ("transfer expected_value --to begun", "the run begun has no responses yet"),
        ("transfer notes --to allais", "there is no theory 'notes'"),
        ("transfer hyperbolik --to allais", "did you mean 'hyperbolic'"),
        ("transfer empty.py --to allais", "empty.py is no theory: the source has no claim"),
        ("transfer binary.py --to allais", "not UTF-8 text"),
        ("transfer large.py --to allais", "more than 1,048,576 bytes"),
        ("transfer expected_value --to alais", "did you mean 'allais'?"),
        (
            "transfer weighted_additive --to allais",
            "is about multiattribute and the responses of allais are",
        ),
    ],
)
def test_what_cannot_be_used_is_refused(
    place: Path, monkeypatch: pytest.MonkeyPatch, arguments: str, said: str
) -> None:
    assert said in refused(place, monkeypatch, arguments.split())


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ("theory score allais prices.py", "prices.py cannot be used as a theory of risky"),
        (
            "transfer prices.py --to allais",
            "does not run on the responses of allais, which are about",
        ),
    ],
)
def test_the_file_of_a_theory_of_another_task_is_refused(
    place: Path, monkeypatch: pytest.MonkeyPatch, arguments: str, said: str
) -> None:
    assert said in refused(place, monkeypatch, arguments.split())


def test_the_command_ends_with_the_status_and_one_line(place: Path) -> None:
    command = [sys.executable, "-m", "lakatos.flows.commands.main", "theory", "score", "nosuch"]
    done = subprocess.run(command, cwd=place, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.startswith("lakatos: there are no responses called 'nosuch'")
    assert len(done.stderr.splitlines()) == 1
