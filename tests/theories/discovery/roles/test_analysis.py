"""Analyses of open answers: they compute in the sandbox, show a few lines, and reach nothing else."""

from __future__ import annotations

import re
import sys
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from lakatos.experiments.task import Stimuli, Trials
from lakatos.theories.discovery.roles import analysis
from lakatos.theories.discovery.roles.analysis import (
    MOST_SHOWN,
    AnalysisRefusedError,
    analysis_tables,
    arrays_in_words,
    framed,
    run_analysis,
)
from lakatos.theories.engine.sandbox.limits import SandboxLimits
from lakatos.theories.engine.sandbox.programs import ProgramSandbox

sys.path.insert(0, str(Path(__file__).parents[2] / "engine" / "sandbox"))
from test_escape import ENDS, HARMFUL, HARMLESS, PRELUDE, TIME_AND_CHANCE, attempt, world

__all__ = ["world"]

TRIALS = Trials(
    experiment="1.1",
    stimuli=Stimuli({"x": np.array([[0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])}),
    participant=np.array([0, 0, 1, 1]),
    trial=np.array([0, 1, 0, 2]),
    response=np.array([1, 0, 1, 1]),
    count=np.ones(4, dtype=np.int64),
    n_people=2,
)
TABLES = analysis_tables({"1.1": TRIALS}, {"1.1": {"leader": np.full((3, 2), 0.5)}})


@pytest.fixture(scope="module")
def sandbox() -> Iterator[ProgramSandbox]:
    limits = SandboxLimits(wall_seconds=2.0, cpu_seconds=0.5, memory_bytes=2**29)
    with ProgramSandbox(limits=limits) as made:
        yield made


def run(sandbox: ProgramSandbox, code: str) -> str:
    return run_analysis(code, TABLES, lambda *given: program(sandbox, *given))


def program(sandbox: ProgramSandbox, source: str, arguments: Mapping[str, Any]) -> tuple[Any, str]:
    ran = sandbox.run(source, arguments)
    return ran.returned, ran.failure


def body(*lines: str) -> str:
    return "\n    ".join(["def analyse(tables, show):", *lines]) + "\n"


def test_answers_and_predictions_are_arrays_and_lines_come_back(sandbox: ProgramSandbox) -> None:
    code = "import numpy as np\n" + body(
        'table = tables["1.1"]',
        'second = table["response"][table["trial"] == 0].mean()',
        'show("second", second, table["x"].shape)',
        'return table["predicted_by_leader"][0, 1] + np.arange(2).sum()',
    )
    assert run(sandbox, code) == "second 1.0 (3, 2)\n1.5"


@pytest.mark.parametrize(
    ("code", "problem"),
    [
        (body("import os"), "imports 'os'"),
        (body("return open('/etc/passwd').read()"), "calls open"),
        ("def look(tables): ...", "analyse"),
        (body('return tables["9.9"]'), "KeyError"),
        (body("pass"), "it showed nothing"),
        (body("import numpy", "return numpy.random.default_rng().random()"), "urandom"),
        (body("while True:", "    pass"), "took longer|processor time"),
        (body("import numpy", "return numpy.ones(2**30).sum()"), "MemoryError"),
        ("def analyse(", "does not parse"),
    ],
)
def test_what_gives_nothing_is_told_why(sandbox: ProgramSandbox, code: str, problem: str) -> None:
    with pytest.raises(AnalysisRefusedError, match=problem):
        run(sandbox, code)


def test_advice_to_whoever_runs_the_laboratory_is_not_told_to_a_model(
    sandbox: ProgramSandbox,
) -> None:
    with pytest.raises(AnalysisRefusedError) as refused:
        run(sandbox, body("while True:", "    pass"))
    assert "Limits" not in str(refused.value)


def test_an_error_comes_back_with_its_line_and_what_was_shown_before_it(
    sandbox: ProgramSandbox,
) -> None:
    with pytest.raises(AnalysisRefusedError) as failed:
        run(sandbox, body("show('rows', 4)", 'return tables["9.9"]'))
    assert str(failed.value) == "KeyError at line 3: '9.9'\nBefore that it showed:\nrows 4"


def test_arrays_are_described_by_type_shape_meaning_and_levels() -> None:
    found = arrays_in_words(TABLES["1.1"], {"x": "size of each option"}, {"x": ["small", "large"]})
    assert found["x"] == "float64 (3, 2); size of each option; 0 is small, 1 is large"
    assert found["participant"] == "int64 (4,); who gave the response, from 0; levels [0, 1]"
    assert found["predicted_by_leader"] == "float64 (3, 2)"


def test_a_megabyte_comes_back_as_a_page(sandbox: ProgramSandbox) -> None:
    found = run(sandbox, body("for _ in range(1000):", "    show('x' * 1000)"))
    assert len(found) <= MOST_SHOWN
    with pytest.raises(AnalysisRefusedError):  # also by the way around `show`
        run(sandbox, body("pass") + "def show(*values): ...\nstr = lambda value: 'x' * 2**20\n")


def test_of_very_many_answers_the_newest_experiments_are_handed_over() -> None:
    many = 150_000
    large = Trials(
        experiment="1.1",
        stimuli=TRIALS.stimuli,
        participant=np.zeros(many, dtype=np.int64),
        trial=np.zeros(many, dtype=np.int64),
        response=np.zeros(many, dtype=np.int64),
        count=np.ones(many, dtype=np.int64),
    )
    assert list(analysis_tables({"1.1": large, "2.1": large}, {})) == ["2.1"]


ATTEMPTS = {**HARMLESS, **HARMFUL}


@pytest.mark.slow
def test_no_attempt_on_the_machine_comes_to_anything(sandbox: ProgramSandbox, world: Any) -> None:
    """The attempts of hostile theories, without the lint that would refuse most of them by their words."""
    worked = []
    for name, text in ATTEMPTS.items():
        world.restore()
        code = f"{world.text}{PRELUDE}{attempt(text)}" + body(
            "try:",
            "    return 'won' if attempt() else 'lost'",
            "except BaseException:",
            "    return 'lost'",
        )
        begun = time.monotonic()
        returned, failure = program(sandbox, framed(code), {"tables": {}, "most": 100})
        assert time.monotonic() - begun < 15
        if returned != ["lost", ""] and not (failure or (returned and returned[1])):
            worked.append(name)
        assert name not in ENDS or failure or returned[1]
    assert worked == []
    assert len(ATTEMPTS) > 60
    assert world.whole()
    assert run(sandbox, body("return 1")) == "1"


@pytest.mark.parametrize(
    "text",
    [
        "return open(SEALED).read()",
        "import subprocess; return subprocess.run(['cat', SEALED], capture_output=True).stdout",
        "import os; return dict(os.environ)",
        "import os; return [open(f'/proc/{pid}/environ').read() for pid in os.listdir('/proc')]",
        "import glob; return [open(path).read() for path in glob.glob(SEALED[:-1] + '*')]",
        "import socket; return socket.create_connection(('127.0.0.1', 22), 1)",
    ],
)
def test_sealed_answers_are_not_reached_by_file_environment_network_or_process(
    sandbox: ProgramSandbox, text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LAKATOS_TEST_SECRET", "canary in the environment")
    sealed = tmp_path / "sealed"
    sealed.write_text("canary in a file")
    code = f"SEALED = {str(sealed)!r}\n" + body(*(line.strip() for line in text.split(";")))
    returned, failure = program(sandbox, framed(code), {"tables": {}, "most": 4000})
    assert "canary" not in f"{returned} {failure}"
    assert failure or "import os; return dict" in text or returned[1]


def in_fresh_sandboxes(source: str, arguments: Mapping[str, Any]) -> tuple[Any, str]:
    with ProgramSandbox() as fresh:
        return program(fresh, source, arguments)


UNSTEADY = {
    **TIME_AND_CHANCE,
    "hash of a name": "def number(): return [hash(name) for name in ('a', 'b', 'c')]",
    "order of a set": "def number(): return list({'a', 'b', 'c', 'd', 'e'})",
    "address": "def number(): return id(UNSTEADY)\nUNSTEADY = {}",
    "number of the process": "import os\ndef number(): return os.getpid()",
    "chance of numpy": "import numpy\ndef number(): return numpy.random.default_rng().random()",
}


@pytest.mark.slow
@pytest.mark.parametrize("name", UNSTEADY)
def test_an_analysis_shows_the_same_again_or_is_refused(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither the hour nor chance nor where something lies in memory, whatever the lint lets through."""
    monkeypatch.setattr(analysis, "check_source", lambda *_: None)
    code = f"{UNSTEADY[name]}\n" + body("return [number() for _ in range(3)]")
    told = [_told(code) for _ in range(2)]
    refused = [text for text in told if re.search("run again|urandom|not permitted", text)]
    assert refused or told[0] == told[1]


def _told(code: str) -> str:
    try:
        return run_analysis(code, TABLES, in_fresh_sandboxes)
    except AnalysisRefusedError as error:
        return str(error)
