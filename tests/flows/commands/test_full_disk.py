"""Outputs of commands on a disk that is full: one sentence that names the file, and nothing half-written."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
LIMITED = """
import resource, sys
from lakatos.flows.commands.door import run
resource.setrlimit(resource.RLIMIT_FSIZE, (100, resource.RLIM_INFINITY))
sys.argv = ["lakatos", *sys.argv[1:]]
run()
"""


@pytest.mark.parametrize(
    "words",
    [
        "theory fit hyperbolic {responses} --each --out {file}.csv",
        "theory fit hyperbolic {responses} --simulate {file}.csv",
        "theory fit hyperbolic {responses} --figure {file}.png",
        "theory export hyperbolic --as stan --responses {responses} --out {file}.stan",
    ],
)
@pytest.mark.slow
def test_an_output_that_does_not_fit_leaves_nothing_and_is_named(
    words: str, tmp_path: Path
) -> None:
    file = tmp_path / "out"
    responses = ROOT / "studies" / "responses.csv"
    command = words.format(responses=responses, file=file).split()
    done = subprocess.run(
        [sys.executable, "-c", LIMITED, *command], capture_output=True, text=True, check=False
    )
    assert done.returncode == 1, done.stderr
    assert str(file) in done.stderr.splitlines()[-1]
    assert not list(tmp_path.iterdir())
