from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
import warnings
from dataclasses import replace
from pathlib import Path

import pytest

from lakatos.flows.commands import main
from lakatos.flows.commands.door import plain_status
from lakatos.flows.commands.status_view import status
from lakatos.flows.run.records import RECORD_TYPES
from lakatos.flows.run.run import read_state
from lakatos.flows.run.summary import RunSummary, keep_summary, read_summary
from lakatos.theories.engine.record import TheoryAdmitted
from lakatos.traces.head import laboratory_key
from lakatos.traces.step import Trace

sys.path.insert(0, str(Path(__file__).parent))
from small import SHORT, write_study

PEOPLE = ("participants__careless", "exclusions")
"""Keys with which answers come person by person, through an inbox of its own."""
ROOT = Path(__file__).resolve().parents[3]


def lakatos(
    *arguments: object, cwd: Path = ROOT, **environment: str
) -> subprocess.CompletedProcess[str]:
    inherited = {
        name: value for name, value in os.environ.items() if not name.startswith("LAKATOS")
    }
    return subprocess.run(
        [sys.executable, "-m", "lakatos.flows.commands.main", *map(str, arguments)],
        cwd=cwd,
        text=True,
        capture_output=True,
        check=False,
        timeout=300,
        env={**inherited, "PYTHONPATH": str(ROOT), "COLUMNS": "200", **environment},
    )


def one_line_error(done: subprocess.CompletedProcess[str]) -> str:
    assert done.returncode != 0
    lines = [line for line in done.stderr.splitlines() if line.startswith("lakatos: ")]
    assert len(lines) == 1, done.stderr
    assert "Traceback" not in done.stderr
    return lines[0]


def test_help_lists_every_command() -> None:
    done = lakatos("--help")
    assert done.returncode == 0
    for command in (
        "demo",
        "run",
        "resume",
        "status",
        "report",
        "audit",
        "theories",
        "data",
        "doctor",
    ):
        assert command in done.stdout


@pytest.mark.parametrize(
    ("former", "instead"),
    [
        ("theory each responses.csv hyperbolic", "`lakatos theory fit DATA THEORY --each`"),
        ("memory rebuild", "read from the signed traces"),
        ("watch", "`lakatos wake`"),
        ("sweep study.toml --seeds 3", "docs/scheduling.md"),
        ("challenge --help", "`lakatos judges gate`"),
        ("tools show", "`lakatos tools list`"),
        ("tools validate", "`lakatos tools list`"),
        ("tools retire", "`lakatos tools list`"),
        ("tools run", "`lakatos tools list`"),
        ("judges explain", "`lakatos why RUN DIGEST`"),
        ("atlas", "`python benchmarks/run.py atlas`"),
    ],
)
def test_a_former_command_is_refused_in_one_line_that_names_its_successor(
    former: str, instead: str
) -> None:
    done = lakatos(*former.split())
    assert done.returncode == 2
    assert not done.stdout
    assert done.stderr.splitlines() == [one_line_error(done)]
    assert "is a former command" in done.stderr
    assert instead in done.stderr


def test_runs_are_looked_at_without_the_science_once_a_summary_is_kept(tmp_path: Path) -> None:
    """The first look loads the run and keeps what it says; one event more makes that worthless."""
    runs, folder = tmp_path / "runs", tmp_path / "runs" / "done"
    with Trace.create(folder, seed=1, types=RECORD_TYPES) as trace:
        trace.record(TheoryAdmitted(theory="a" * 64, cycle=0, reason=""), name="admit")
    summary = RunSummary(
        "concluded",
        0,
        1,
        1,
        "",
        "",
        "the verdict",
        "Tallying with a long name",
        False,
        (("Tallying", "-0.6"),),
    )
    laboratory_key()  # signs the summary
    keep_summary(folder, replace(summary, head=trace.journal.head[1]))
    code = (
        f"import sys; sys.argv = ['lakatos', 'status', 'done', '--runs', {str(runs)!r}]\n"
        "from lakatos.flows.commands.door import main; main()\n"
        "assert not {'numpy', 'pydantic', 'typer', 'asyncio'} & set(sys.modules), sys.modules"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "concluded  0 experiments, 1 theory, 1 event" in done.stdout
    assert "the verdict" in done.stdout
    assert "Tallying" in done.stdout
    # Of several runs each has one line, whose end may be cut: the leading theory stands before the counts.
    assert (
        "done  concluded; leading: Tallying with a long name  0 experiments"
        in status(runs=runs).text
    )
    (found,) = status("done", runs=runs).to_json()["runs"]
    assert (found["run"], found["how"], found["n_rivals"]) == ("done", "concluded", 1)
    assert found["standings"] == [{"theory": "Tallying", "misfit ratio": "-0.6"}]
    with Trace.open(folder, RECORD_TYPES) as trace:
        trace.record(TheoryAdmitted(theory="b" * 64, cycle=1, reason=""), name="admit again")
    assert read_summary(folder) is None


@pytest.mark.parametrize(
    ("words", "asked"),
    [
        (["status"], ("", Path("here"))),
        (["status", "one"], ("one", Path("here"))),
        (["status", "--runs", "there", "one"], ("one", Path("there"))),
        (["status", "--help"], None),
        (["status", "one", "two"], None),
        (["status", "--runs"], None),
        (["audit", "one"], None),
    ],
)
def test_only_plain_questions_pass_by_the_command_line(
    words: list[str], asked: tuple[str, Path] | None
) -> None:
    assert plain_status(words, "here") == asked


@pytest.mark.parametrize(
    "arguments",
    [
        ["status"],
        *(
            pytest.param(words, marks=pytest.mark.slow)
            for words in (["theories"], ["data", "list"], ["doctor"])
        ),
    ],
)
def test_commands_that_read_do_not_import_prefect(arguments: list[str], tmp_path: Path) -> None:
    code = (
        f"import sys; sys.argv = ['lakatos', *{arguments!r}]\n"
        "try:\n    from lakatos.flows.commands.main import main; main()\n"
        "except SystemExit as end:\n    assert not end.code, end.code\n"
        "assert 'prefect' not in sys.modules"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.slow
def test_a_small_study_runs_reports_and_audits_from_the_command_line(tmp_path: Path) -> None:
    study = write_study(tmp_path, **SHORT)
    # The summary is read here with the key of the home in which it was written.
    home = {"LAKATOS_HOME": os.environ["LAKATOS_HOME"]}
    words = (study, "--engine", "none", "--runs", tmp_path / "runs", "--workers", 1)
    done = lakatos("run", *words, **home)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "runs" / "small-1" / "report.html").exists()
    assert "concluded" in lakatos("status", "--runs", tmp_path / "runs", **home).stdout
    state, trace = read_state(tmp_path / "runs" / "small-1")
    with trace:
        found = read_summary(tmp_path / "runs" / "small-1")
        assert found is not None
        assert state.campaign.concluded is not None
        counts = len(state.experiments.collected), len(state.theories.pool), trace.journal.head[0]
        assert (found.how, found.verdict) == ("concluded", state.campaign.concluded.record.text)
        assert (found.n_experiments, found.n_rivals, found.n_events) == counts
    checked = lakatos("audit", "small-1", "--runs", tmp_path / "runs", **home)
    assert checked.returncode == 0
    assert "the audit passes" in checked.stdout


@pytest.mark.slow
def test_an_unknown_key_is_refused_with_the_nearest_known_one(tmp_path: Path) -> None:
    done = lakatos(
        "run", write_study(tmp_path, "sede = 3"), "--engine", "none", "--runs", tmp_path / "runs"
    )
    assert "unknown key 'sede'; did you mean 'seed'?" in one_line_error(done)
    assert not (tmp_path / "runs").exists()


@pytest.mark.slow
def test_missing_data_are_named_with_address_licence_and_folder(tmp_path: Path) -> None:
    done = lakatos(
        "run",
        ROOT / "studies" / "multiattribute-binary.toml",
        "--data",
        tmp_path / "nowhere",
        "--engine",
        "none",
        "--runs",
        tmp_path / "runs",
    )
    message = one_line_error(done)
    for part in ("akjagadish/autocog", "MIT", str(tmp_path / "nowhere"), "lakatos data fetch"):
        assert part in message
    assert not (tmp_path / "runs").exists()


@pytest.mark.slow
def test_an_empty_design_space_is_refused_before_anything_is_written(tmp_path: Path) -> None:
    study = write_study(tmp_path, space={"validities": [0.9], "levels": [1]})
    done = lakatos("run", study, "--engine", "none", "--runs", tmp_path / "runs")
    assert "at least two levels" in one_line_error(done)
    assert not (tmp_path / "runs").exists()


@pytest.mark.slow
def test_a_run_that_does_not_exist_is_named_with_those_that_do(tmp_path: Path) -> None:
    for command in ("resume", "report", "audit", "status"):
        assert "nowhere" in one_line_error(lakatos(command, "nowhere", "--runs", tmp_path))


@pytest.mark.slow
def test_a_study_file_that_is_missing_is_named(tmp_path: Path) -> None:
    assert "none.toml" in one_line_error(
        lakatos("run", tmp_path / "none.toml", "--runs", tmp_path / "runs")
    )


@pytest.mark.slow
def test_fetching_without_a_network_says_how_to_do_it_by_hand(tmp_path: Path) -> None:
    # A proxy that refuses every connection stands for a machine without a network.
    done = lakatos(
        "data",
        "fetch",
        "multiattribute_autocog",
        "--data",
        tmp_path,
        https_proxy="http://127.0.0.1:9",
        HTTPS_PROXY="http://127.0.0.1:9",
    )
    message = one_line_error(done)
    for part in ("MIT", str(tmp_path), "github"):
        assert part in message
    assert not list(tmp_path.rglob("*.jsonl"))


@pytest.mark.long
def test_a_full_disk_stops_the_run_with_one_line_and_the_rest_can_be_audited(
    tmp_path: Path, require
) -> None:  # type: ignore[no-untyped-def]
    disk = tmp_path / "disk"
    disk.mkdir()
    mounted = (
        os.geteuid() == 0
        and subprocess.run(
            ["mount", "-t", "tmpfs", "-o", "size=400k", "tmpfs", str(disk)],
            capture_output=True,
            check=False,
        ).returncode
        == 0
    )
    require(mounted, "a full disk needs a small file system, and mounting one needs root")
    try:
        plain = {key: SHORT[key] for key in SHORT if key not in PEOPLE}
        study = write_study(tmp_path, **plain)
        message = one_line_error(
            lakatos("run", study, "--engine", "none", "--runs", disk, "--name", "x")
        )
        assert "space" in message.lower()
        subprocess.run(["mount", "-o", "remount,size=64m", str(disk)], check=True)
        done = lakatos("resume", "x", "--runs", disk, "--engine", "none")
        assert done.returncode == 0, done.stderr
        # What was written is whole; that no head could be signed on a full disk is said, and is all that is wrong.
        audited = lakatos("audit", "x", "--runs", disk)
        assert audited.returncode == 0, audited.stdout
    finally:
        subprocess.run(["umount", str(disk)], check=False)


def test_the_schema_of_studies_is_the_one_in_the_folder() -> None:
    import json

    from lakatos.flows.run.study import json_schema, load_study

    stored = json.loads((ROOT / "studies" / "schema.json").read_text())
    assert stored == json_schema(), (
        "regenerate it: python -m lakatos.flows.run.study > studies/schema.json"
    )
    for study in (ROOT / "studies").glob("*.toml"):
        load_study(study)


def test_the_version_is_said() -> None:
    assert re.fullmatch(r"lakatos \d+\.\d+\.\d+\n", lakatos("--version").stdout)


def test_names_of_data_sets_are_whole_in_a_narrow_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    from typer.testing import CliRunner

    from lakatos.domains import ARCHIVES
    from lakatos.flows.commands.main import app

    monkeypatch.setenv("COLUMNS", "80")
    printed = CliRunner().invoke(app, ["data", "list"]).output
    assert all(name in printed for name in ARCHIVES)


def test_a_warning_of_a_command_is_a_sentence_and_others_stay_as_they_are(monkeypatch, capsys):
    usual = []
    monkeypatch.setattr(warnings, "showwarning", lambda *told: usual.append(told))
    main.say_warnings_plainly()
    warnings.showwarning("random is left out", UserWarning, main.__file__, 3)
    assert capsys.readouterr().err == "lakatos: random is left out\n"
    warnings.showwarning("elsewhere", UserWarning, __file__, 3)
    assert len(usual) == 1


@pytest.mark.parametrize(
    ("typed", "wanted"),
    [
        ("lakatos the", {"theory", "theories"}),
        ("lakatos theory f", {"fit"}),
        ("lakatos report allais-1 --o", {"--out"}),
    ],
)
def test_a_shell_completes_commands_and_options(typed: str, wanted: set[str]) -> None:
    asked = {
        "COMP_WORDS": typed,
        "COMP_CWORD": str(len(typed.split()) - 1),
        "_LAKATOS_COMPLETE": "complete_bash",
    }
    code = "from lakatos.flows.commands.door import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", f"import sys; sys.argv = ['lakatos']; {code}"],
        env=os.environ | asked, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert set(done.stdout.split()) == wanted


def test_completion_is_installed_for_the_shell_that_asks_for_it(tmp_path: Path) -> None:
    code = 'import sys; sys.argv = ["lakatos", "--install-completion"]; '
    code += "from lakatos.flows.commands.door import main; main()"
    typed = f"{shlex.quote(sys.executable)} -c '{code}'; exit $?"
    done = subprocess.run(
        ["bash", "-c", typed], env=os.environ | {"HOME": str(tmp_path)},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "_lakatos_completion" in (tmp_path / ".bash_completions" / "lakatos.sh").read_text()
