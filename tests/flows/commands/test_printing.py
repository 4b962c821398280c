"""What files and people say is printed, and never obeyed by the terminal."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from rich.table import Table
from rich.text import Text

from lakatos.flows.report.spreadsheet import csv_of
from lakatos.flows.run.console import Console
from lakatos.traces.wording import printable

ROOT = Path(__file__).resolve().parents[3]
EVIL = "p\x1b]0;title\x07\x1b[2J\x9b31m\x7f\u202e"
ROWS = "".join(f"{EVIL}{n % 3},{n % 2},5,{9 + n},0,{7 + n}\n" for n in range(12))
HEAD = "person,choice,amount_sooner,amount_later,delay_sooner,delay_later"


def lakatos(*words: str | bytes, cwd: Path) -> tuple[int, str]:
    done = subprocess.run(
        [sys.executable, "-m", "lakatos.flows.commands.main", *words],
        cwd=cwd,
        capture_output=True,
        check=False,
        timeout=300,
        env={**os.environ, "PYTHONPATH": str(ROOT), "COLUMNS": "200"},
    )
    return done.returncode, (done.stdout + done.stderr).decode()


def test_control_codes_are_written_out_and_new_lines_stay() -> None:
    assert printable("a\n\tb\u00e9\U0001f600") == "a\n\tb\u00e9\U0001f600"
    shown = printable(EVIL + "\ud800")
    assert shown == r"p\x1b]0;title\x07\x1b[2J\x9b31m\x7f\u202e\ud800"


def test_a_console_has_colours_of_its_own_and_none_of_the_texts() -> None:
    console = Console(force_terminal=True, width=200, record=True, color_system="standard")
    with console.capture() as caught:
        table = Table(EVIL)
        table.add_row(Text(EVIL, style="red"))
        console.print(EVIL, table, "[bold]own[/bold]", highlight=False)
    said = caught.get()
    assert "\x1b[1mown" in said
    assert r"\x1b[2J" in said
    assert "\x1b[2J" not in said
    assert "\x1b]0" not in said
    assert not set("\x07\x9b\x7f\u202e") & set(said)


def test_tables_for_programs_hold_no_control_codes() -> None:
    import pandas as pd

    assert csv_of(pd.DataFrame({EVIL: [EVIL]})).isprintable() is False  # its new lines
    assert all(line.isprintable() for line in csv_of(pd.DataFrame({EVIL: [EVIL]})).splitlines())


@pytest.mark.parametrize(
    ("name", "text", "status"),
    [
        ("a.csv", f"{HEAD}\n{ROWS}", 0),
        ("b.csv", f"{HEAD},{EVIL}\n{ROWS.replace(chr(10), ',1' + chr(10))}", 0),
        ("c.csv", f"{HEAD},{EVIL},{EVIL}\n{ROWS}", 2),
        (f"{EVIL}.csv", f"{HEAD}\n{ROWS}", 0),
        (f"{EVIL}.csv", f"{HEAD}\n1\n", 2),
        (f"{EVIL}.odd", "", 2),
    ],
)
def test_nothing_that_a_file_says_reaches_the_terminal_as_a_control_code(
    name: str, text: str, status: int, tmp_path: Path
) -> None:
    (tmp_path / name).write_text(text)
    code, said = lakatos("data", "describe", name, cwd=tmp_path)
    assert code == status, said
    assert "Traceback" not in said
    assert all(line.isprintable() for line in said.splitlines())


@pytest.mark.slow
def test_a_theorys_text_and_a_study_that_is_too_deep_are_answered_without_a_traceback(
    tmp_path: Path,
) -> None:
    deep = "[" * 50_000 + "]" * 50_000
    (tmp_path / "deep.toml").write_text(f"name = {deep}\n")
    for words in (["run", "deep.toml"], ["domain", "check", "deep.toml"]):
        code, said = lakatos(*words, cwd=tmp_path)
        assert code in (1, 2)
        assert "lakatos: " in said
        assert "Traceback" not in said
    (tmp_path / "a.py").write_text(f'"""{EVIL}: a claim."""\nPARAMETERS = {{}}\n')
    code, said = lakatos("theory", "check", "a.py", "--domain", "multiattribute", cwd=tmp_path)
    assert code == 1
    assert all(line.isprintable() for line in said.splitlines())
