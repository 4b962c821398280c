"""A command is made of a function's signature and docstring, and every command of the table can be made."""

from __future__ import annotations

import inspect
import os
import shlex
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from pkgutil import resolve_name
from typing import Annotated, Any, Literal

import pandas as pd
import pytest
import typer
from typer.testing import CliRunner
from typer.testing import Result as Ended

from lakatos.flows.argument import Argument
from lakatos.flows.commands.adapter import FILES, command_of, read_docstring
from lakatos.flows.commands.lazy import LazyCommand, LazyGroup, first_line
from lakatos.flows.commands.main import PANELS, app
from lakatos.flows.result import Result

ROOT = Path(__file__).resolve().parents[3]


@dataclass(frozen=True, repr=False)
class Sum(Result):
    """Some numbers, their sum and a name."""

    name: str
    numbers: tuple[float, ...]
    notes: tuple[str, ...] = ("numbers are added",)
    exit_status: int = 0

    def lines(self) -> Iterator[str]:
        """The name and the sum."""
        yield f"[bold]{self.name}[/bold]: {sum(self.numbers):g}"

    def keep(self) -> Iterator[str]:
        """A file with the sum, where the name is that of one."""
        if (file := Path(self.name.split()[-1])).suffix == ".txt":
            file.write_text(f"{sum(self.numbers):g}", encoding="utf-8")
            yield "written: the sum"

    def to_json(self) -> dict[str, Any]:
        """The name and the sum."""
        return {"name": self.name, "sum": sum(self.numbers)}

    def to_frame(self) -> pd.DataFrame:
        """A row for each number."""
        return pd.DataFrame({"number": self.numbers})


def add(
    name: str,
    numbers: Sequence[float] = (),
    *,
    unit: Literal["m", "km"] = "m",
    factor: Annotated[float, Argument(flag="--times", least=0)] = 1.0,
    place: str | os.PathLike[str] = "here",
    fail: bool = False,
    only_python: Annotated[object, Argument(hidden=True)] = None,
) -> Sum:
    """Add numbers.

    The second paragraph says more.

    Args:
        name: What is added up,
            as a heading.
        numbers: What is added.
        unit: Of the numbers.
        factor: By which each is multiplied.
        place: Where.
        fail: End with status 3.
        only_python: Cannot be typed.

    Examples:
        $ lakatos add total 1 2
    """
    assert only_python is None
    found = (*(number * factor * (1000 if unit == "km" else 1) for number in numbers),)
    return Sum(f"{name} {place}", found, exit_status=3 * fail)


def run(*words: str) -> Ended:
    """What the command made of `add` does."""
    command, _ = command_of(add)
    one = typer.Typer()
    one.command()(command)
    return CliRunner().invoke(one, list(words), env={"COLUMNS": "200"})


def test_arguments_options_and_defaults_come_from_the_signature() -> None:
    assert run("total", "1", "2").stdout == "total here: 3\n"
    assert (
        run("total", "1", "2", "--unit", "km", "--times", "2", "--place", "x").stdout
        == "total x: 6000\n"
    )
    assert run("total").stdout == "total here: 0\n"
    assert run("total", "--times", "-1").exit_code == 2
    assert run("--only-python", "x").exit_code == 2


def test_what_comes_back_is_shown_as_text_json_or_a_table_and_sets_the_status(
    tmp_path: Path,
) -> None:
    assert run("total", "1").stderr == "numbers are added\n"
    assert run("total", "1", "--json").stdout == '{\n "name": "total here",\n "sum": 1.0\n}\n'
    assert run("total", "1", "--csv").stdout == "number\n1.0\n"
    file = tmp_path / "deep" / "numbers.csv"
    assert "written" in run("total", "1", "--out", str(file)).stdout
    assert file.read_text() == "number\n1.0\n"
    assert run("total", "1", "--fail").exit_code == 3


@pytest.mark.parametrize("way", [[], ["--json"], ["--csv"], ["--out"]])
def test_files_that_a_command_leaves_are_written_however_the_result_is_shown(
    way: list[str], tmp_path: Path
) -> None:
    kept, table = tmp_path / "sum.txt", tmp_path / "numbers.csv"
    done = run("total", "1", "2", "--place", str(kept), *way, *([str(table)] * ("--out" in way)))
    assert kept.read_text() == "3"
    assert "written: the sum" in (done.stderr if way in (["--json"], ["--csv"]) else done.stdout)
    assert table.exists() == ("--out" in way)


def test_help_comes_from_the_docstring() -> None:
    told = read_docstring(add.__doc__ or "")
    assert told.help == "Add numbers.\n\nThe second paragraph says more."
    assert told.arguments["name"] == "What is added up, as a heading."
    assert told.examples == ("$ lakatos add total 1 2",)
    assert "What is added up, as a heading." in run("--help").stdout


def test_a_result_shows_itself_as_text_and_in_a_notebook() -> None:
    found = add("total", [1, 2])
    assert found.text == "total here: 3\n"
    assert repr(found) == "total here: 3"
    assert "total here" in found._repr_html_()


def all_commands() -> Iterator[LazyCommand]:
    """Every command of the table."""
    left = list(typer.main.get_command(app).commands.values())  # type: ignore[attr-defined]
    while left:
        item = left.pop()
        if isinstance(item, LazyGroup):
            left += item.commands.values()
        else:
            assert isinstance(item, LazyCommand)
            yield item


@pytest.mark.parametrize("command", list(all_commands()), ids=lambda command: command.place)
def test_every_command_of_the_table_exists_and_says_what_each_parameter_is(
    command: LazyCommand,
) -> None:
    function = resolve_name(command.place)
    told = inspect.cleandoc(function.__doc__).partition("\n\n")[0]
    assert first_line(command.place) == " ".join(told.split())
    loaded = command.loaded()
    unexplained = [
        item.name for item in loaded.params
        if not (getattr(item, "help", "") or getattr(item, "hidden", False))
    ]  # fmt: skip
    assert unexplained == []


@pytest.mark.parametrize(
    "command",
    [
        command for command in all_commands() if not command.hidden
    ],  # an old name has those of the new one
    ids=lambda command: command.place,
)
def test_the_examples_of_a_command_can_be_typed(command: LazyCommand) -> None:
    loaded = command.loaded()
    _, told = command_of(resolve_name(command.place))
    assert any(example.startswith("$ lakatos ") for example in told.examples)
    for example in told.examples:
        if example.startswith("$ lakatos "):
            words = shlex.split(example.partition(" > ")[0])[2:]
            given = words[words.index(command.name or "") + 1 :]
            loaded.make_context(command.name, given)


def test_the_panels_name_each_command_once() -> None:
    names = [name for noun in PANELS.values() for name in noun.commands]
    assert len(names) == len(set(names))


def test_help_of_all_commands_imports_no_command() -> None:
    code = (
        "import sys; sys.argv = ['lakatos', '--help']\n"
        "try:\n    from lakatos.flows.commands.main import main; main()\n"
        "except SystemExit as end:\n    assert not end.code, end.code\n"
        "loaded = {'numpy', 'pandas', 'pydantic', 'prefect', 'lakatos.flows.commands.adapter'} & set(sys.modules)\n"
        "assert not loaded, loaded"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    for panel in PANELS:
        assert panel in done.stdout


def test_without_arguments_the_first_five_commands_are_shown() -> None:
    done = CliRunner().invoke(app, [])
    assert done.exit_code == 2
    assert done.stdout.count("\n  lakatos ") == 5


def test_a_former_name_of_an_option_is_read_and_the_present_one_is_named(capsys):
    from lakatos.flows.commands.adapter import in_present_words

    options = ["--responses", "--people-port"]
    typed = in_present_words(["--answers=a.csv", "--people-port", "1", "--answers", "b"], options)
    assert typed == ["--responses=a.csv", "--people-port", "1", "--responses", "b"]
    assert "--answers is now called --responses" in capsys.readouterr().err
    assert in_present_words(["--answers", "1"], ["--answers", "--responses"]) == ["--answers", "1"]
    assert in_present_words(["--people", "3"], ["--out"]) == ["--people", "3"]
    assert capsys.readouterr().err == ""


def test_no_help_of_an_option_shows_how_its_type_is_annotated() -> None:
    for words in (["theory", "posterior"], ["theory", "fit"], ["theory", "import"]):
        page = CliRunner().invoke(app, [*words, "--help"], env={"COLUMNS": "200"}).output
        assert "Usage" in page
        assert "Annotated" not in page, words


READ = {
    *("answers", "archive", "bonus", "check", "data", "file", "folder", "items", "runs"),
    *("responses", "settings", "studies", "study", "trials", "trusted", "log"),
}
"""Names of parameters for files and folders that a command reads, keeps or refuses if they exist."""


def test_every_place_that_a_command_writes_is_checked() -> None:
    made = [command_of(resolve_name(command.place))[0] for command in all_commands()]
    found = {
        name
        for command in made
        for name, item in inspect.signature(command).parameters.items()
        if "Path" in str(item.annotation)
    }
    assert found <= READ | set(FILES)
    assert set(FILES) <= found
