"""Outputs of commands on a disk that is full: one sentence that names the file, and nothing half-written."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from lakatos.flows.audit.bundle import bundle
from lakatos.flows.commands.ending import run_command
from lakatos.flows.operations.backup import save
from lakatos.flows.report.report import write_report
from lakatos.flows.run.run import begin, create_run
from lakatos.traces.head import write_head
from tests.flows.small import small_study

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


@pytest.fixture
def small_disk(tmp_path: Path, require: Callable[..., None]) -> Iterator[Path]:
    """A disk of 12 KiB."""
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=12k", "tmpfs", str(disk)]
    mounted = os.geteuid() == 0 and not subprocess.run(mount, check=False).returncode
    require(mounted, "a small file system is mounted by root only")
    yield disk
    subprocess.run(["umount", str(disk)], check=True)


@pytest.mark.slow
def test_files_about_a_run_that_do_not_fit_leave_nothing_and_name_the_disk(
    small_disk: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with create_run(small_study(), tmp_path / "runs" / "run") as run:
        begin(run)
    write_head(tmp_path / "runs" / "run", begins=True)
    for work in (
        lambda: write_report(tmp_path / "runs" / "run", small_disk / "a.html"),
        lambda: bundle(tmp_path / "runs" / "run", small_disk / "a.zip"),
        lambda: save(tmp_path / "runs", small_disk / "a.tar.gz"),
    ):
        with pytest.raises(SystemExit):
            run_command(work)
        said = capsys.readouterr().err
        assert str(small_disk) in said
        assert re.search("disk is full|No space left on device", said)
        assert not list(small_disk.iterdir())
