"""Make a command of a typed function: its signature and docstring say everything that the command line needs.

A parameter before ``*`` is an argument, others are options; `lakatos.flows.argument` holds the types that say more.
The first lines of the docstring are the help, ``Args:`` is the help of the parameters, ``Examples:`` stands below it.
What comes back is shown, and decides the exit status (`lakatos.flows.result`).
"""

from __future__ import annotations

import inspect
import json
import os
import re
import sys
import types
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Union, get_args, get_origin, get_type_hints

import typer
from typer.models import ParameterInfo

from lakatos.flows.advice import by_command
from lakatos.flows.argument import Argument, RunArgument
from lakatos.flows.errors import RunMissingError
from lakatos.flows.result import PlainText, Result, show_lines
from lakatos.flows.run.console import Console, escape, write
from lakatos.flows.run.places import check_output, files_of_study, find_run

SECTIONS = ("Args", "Returns", "Raises", "Yields", "Example", "Examples", "Reference", "References")
Reader = Callable[[dict[str, Any]], Any]
"""Takes the value of one parameter from all that was typed."""
FIELD_WORDS = {"answers": "responses", "people": "participants", "person": "participant"}
"""Words that users type and read, by names of parameters in Python. Options made of the latter are read, too."""
RUNS_FOLDER = Argument(kind=Path, flag="--runs", environment="LAKATOS_RUNS")


@dataclass(frozen=True)
class Docstring:
    """A docstring in Google's style, in parts."""

    help: str
    arguments: Mapping[str, str]
    examples: tuple[str, ...]


FILES = ("out", "figure", "simulate", "write", "page")
"""Arguments that name a file or folder to write. Numbers in it may be about participants."""


def read_docstring(text: str) -> Docstring:
    """Divide a docstring into what the function does, its arguments, and examples.

    What an argument may be "in Python" beside is not for the command line and is dropped.
    """
    blocks: dict[str, list[str]] = {"": []}
    section = ""
    for line in inspect.cleandoc(text).splitlines():
        if line.endswith(":") and line[:-1] in SECTIONS:
            section = line[:-1]
            blocks[section] = []
        else:
            blocks[section].append(line)
    arguments: dict[str, str] = {}
    name = ""
    for line in blocks.get("Args", ()):
        if begun := re.fullmatch(r"    \*{0,2}(\w+): (.*)", line):
            name = begun[1]
            arguments[name] = begun[2]
        elif name and line.strip():
            arguments[name] += f" {line.strip()}"
    examples = (line.strip() for line in [*blocks.get("Examples", ()), *blocks.get("Example", ())])
    shown = (line.partition("  # doctest")[0] for line in examples if line)
    paragraphs = "\n".join(blocks[""]).strip().split("\n\n")
    docstring = "\n\n".join(" ".join(item.split()) for item in paragraphs)
    typed = {name: re.sub(r"; in Python [^.]*", "", item) for name, item in arguments.items()}
    return Docstring(docstring, typed, tuple(shown))


def command_of(function: Callable[..., Any]) -> tuple[Callable[..., None], Docstring]:
    """The function as Typer takes one, and its docstring.

    Args:
        function: Any typed function. Parameters that are annotated with Typer's own options are left as they are.
    """
    docstring = read_docstring(function.__doc__ or "")
    hints = get_type_hints(function, include_extras=True)
    returned = hints.get("return")
    wanted: list[inspect.Parameter] = []
    readers: dict[str, Reader] = {}
    for name, parameter in inspect.signature(function).parameters.items():
        typed = _typed(parameter, hints[name], docstring.arguments.get(name, ""))
        if typed is not None:
            made, readers[name] = typed
            wanted = [*made, *wanted] if _is_first(hints[name]) else [*wanted, *made]
    own = {item.name for item in wanted}
    shown = [item for item in _ways_to_show(returned) if item.name not in own]
    wanted += shown

    def command(**given: Any) -> None:
        ways = {item.name: given.pop(item.name) for item in shown}
        with by_command():
            check_files({**given, **ways})
            found = function(**{name: read(given) for name, read in readers.items()})
            try:
                show(found, **ways)
            finally:  # also where the exit status is not 0
                note_files({**given, **ways})

    command.__signature__ = inspect.Signature(wanted)  # type: ignore[attr-defined]
    command.__annotations__ = {item.name: item.annotation for item in wanted}
    command.__doc__ = None
    return command, docstring


def note_files(given: Mapping[str, Any]) -> None:
    """List tables and figures that a command writes from a run, as a participant who withdraws is to know of them.

    Args:
        given: What was typed, by name.
    """
    files = [path for path in _written(given) if path.is_file()]
    if not files:
        return
    from lakatos.flows.operations.people_export import note_export

    for folder in _runs_named(given):
        for file in files:
            note_export(folder, file)


def check_files(given: Mapping[str, Any]) -> None:
    """Refuse places to write at which something stands that a run or a user needs, before anything is done.

    Args:
        given: What was typed, by name.

    Raises:
        UnusableError: One is such a place; see `check_output`.
    """
    if not (written := _written(given)):
        return
    typed = [value for name, value in given.items() if name not in FILES]
    words = [word for value in typed for word in (value if isinstance(value, list) else [value])]
    read = [Path(word) for word in words if isinstance(word, str | Path)]
    for folder in _runs_named(given):
        read += files_of_study(folder)
    for path in written:
        check_output(path, read)


def _written(given: Mapping[str, Any]) -> list[Path]:
    return [Path(given[name]) for name in FILES if given.get(name)]


def _runs_named(given: Mapping[str, Any]) -> Iterator[Path]:
    runs = given.get("runs") or Path("runs")
    for name, value in given.items():
        if name not in FILES and isinstance(value, str) and (value or name == "run_name"):
            with suppress(RunMissingError):
                yield find_run(value, runs)


def in_present_words(args: Sequence[str], options: Sequence[str]) -> list[str]:
    """Replace former names of options in what was typed; each is named on the standard error.

    Args:
        args: Words of the command line, without the command.
        options: Options of the command.
    """
    former = {f"--{old}": f"--{new}" for old, new in FIELD_WORDS.items()}
    typed: list[str] = []
    for word in args:
        name, equals, value = word.partition("=")
        new = former.get(name, "")
        if new in options and name not in options:
            Console(stderr=True).print(f"The option {name} is now called {new}.", highlight=False)
            word = f"{new}{equals}{value}"
        typed.append(word)
    return typed


def show(
    found: Any, *, as_json: bool = False, as_csv: bool = False, out: Path | None = None
) -> None:
    """Show what a function returned, and end with its exit status.

    Args:
        found: A `Result`; lines, shown as they come; a list of files; a data frame, or what has ``to_frame``, written
            as CSV; or None, which shows nothing.
        as_json: One JSON object in place of text.
        as_csv: The table as CSV in place of text.
        out: File for the CSV.

    Raises:
        typer.Exit: The result has an exit status other than 0.
    """
    aside = Console(stderr=True, soft_wrap=True)
    for note in getattr(found, "notes", None) or getattr(found, "attrs", {}).get("notes", ()):
        aside.print(f"[yellow]{escape(note)}[/yellow]", highlight=False)
    if as_json:
        print(json.dumps(found.to_json(), indent=1, ensure_ascii=False))
    elif isinstance(found, PlainText):
        write(found.text if found.text.endswith("\n") else f"{found.text}\n")
    elif isinstance(found, Result) and not (as_csv or out is not None):
        show_lines(Console(), found.lines())
    elif isinstance(found, Iterator):
        show_lines(Console(), found)
    elif isinstance(found, list):  # of files that were written
        show_lines(Console(), [escape(str(path)) for path in found])
    elif found is not None:
        if headline := getattr(found, "headline", ""):
            aside.print(escape(headline))
        _write_table(found.to_frame() if hasattr(found, "to_frame") else found, out)
    if isinstance(found, Result):  # figures and other files, whatever else is shown
        show_lines(aside if as_json or as_csv else Console(), found.keep())
    if status := getattr(found, "exit_status", 0):
        raise typer.Exit(status)


def _write_table(table: Any, out: Path | None) -> None:
    """Write a data frame as CSV: to a file, or to the standard output, where a terminal shows three digits."""
    from lakatos.flows.report.spreadsheet import csv_of
    from lakatos.traces.artifact import write_whole

    if out is None:
        write(csv_of(table, is_short=sys.stdout.isatty()))
        return
    write_whole(out, csv_of(table).encode())
    Console(soft_wrap=True).print(f"written: {escape(str(out))}")


def _ways_to_show(returned: Any) -> list[inspect.Parameter]:
    """The options ``--json``, ``--csv`` and ``--out``, where what a function returns can be shown so."""
    ways: list[tuple[str, Any, str, Any, str]] = []
    is_frame = getattr(returned, "__name__", "") == "DataFrame"
    kinds = get_args(returned) if isinstance(returned, types.UnionType) else (returned,)
    tabular = is_frame or all(hasattr(kind, "to_frame") for kind in kinds)
    if all(hasattr(kind, "to_json") for kind in kinds) and not is_frame:
        ways.append(("as_json", bool, "--json", False, "One JSON object, for a machine."))
    if tabular and isinstance(returned, type) and issubclass(returned, Result):
        ways.append(("as_csv", bool, "--csv", False, "Print the table as CSV."))
    if tabular:
        ways.append(("out", Path | None, "--out", None, "CSV file to write; printed by default."))
    return [
        _parameter(name, kind, typer.Option(flag, help=text), default)
        for name, kind, flag, default, text in ways
    ]


def _outermost(hint: Any) -> Any:
    """``Annotated[int, ...] | None`` as ``Annotated[int | None, ...]``; other hints as they are."""
    given = [part for part in get_args(hint) if part is not types.NoneType]
    if get_origin(hint) not in (Union, types.UnionType) or len(given) != 1:
        return hint
    if get_origin(given[0]) is not Annotated:
        return hint
    kind, *marks = get_args(given[0])
    return Annotated[kind | None, *marks]


def _typed(
    parameter: inspect.Parameter, hint: Any, text: str
) -> tuple[list[inspect.Parameter], Reader] | None:
    """Return what is typed for a parameter, and how its value is read; None where only Python can give it."""
    hint = _outermost(hint)
    marks = get_args(hint)[1:] if get_origin(hint) is Annotated else ()
    name, default = parameter.name, parameter.default
    if any(isinstance(mark, ParameterInfo) for mark in marks):
        return [_parameter(name, hint, None, default)], lambda given: given[name]
    run = next((mark for mark in marks if isinstance(mark, RunArgument)), None)
    if run is not None:
        return _run_of(run)
    mark = next((mark for mark in marks if isinstance(mark, Argument)), Argument())
    if mark.hidden:
        return None
    if mark.required:
        default = inspect.Parameter.empty
    kind = mark.kind or _plain(get_args(hint)[0] if marks else hint)
    positional = parameter.kind is not inspect.Parameter.KEYWORD_ONLY and not mark.flag
    if default is not inspect.Parameter.empty and get_origin(kind) is list:
        kind = kind | None
    many = list in (get_origin(kind), *map(get_origin, get_args(kind)))
    typed_default = None if many and default is not inspect.Parameter.empty else default
    if isinstance(typed_default, os.PathLike | str) and kind is Path:
        typed_default = Path(typed_default)

    flag, key, more = mark.shorthand

    def read(given: dict[str, Any]) -> Any:
        value = given[name]
        if flag and given[key]:
            value = [*(value or ()), *(f"{key}={item}" for item in given[key])]
        if value is None or (many and not value):
            return default if default is not inspect.Parameter.empty else value
        return mark.read(value) if mark.read else value

    if many and not positional and text:
        text += " May be given again."
    made = [_parameter(name, kind, _declared(name, mark, text, positional, default), typed_default)]
    if flag:
        option = typer.Option(flag, metavar="NAME", help=more)
        made.append(_parameter(key, list[str] | None, option, None))
    return made, read


def _is_first(hint: Any) -> bool:
    return any(isinstance(mark, Argument) and mark.first for mark in get_args(hint)[1:])


def _declared(
    name: str, mark: Argument, text: str, positional: bool, default: Any
) -> ParameterInfo:
    """Declare an argument or option for Typer."""
    more: dict[str, Any] = {
        "help": escape(text) if text else mark.help,
        "metavar": mark.metavar or (FIELD_WORDS.get(name) if positional else None),
        "envvar": mark.environment or None,
        "min": mark.least,
        "max": mark.most,
    }
    if positional:
        return typer.Argument(**more)  # type: ignore[no-any-return]
    flag = mark.flag or f"--{FIELD_WORDS.get(name, name).replace('_', '-')}"
    if default is True and "/" not in flag:
        flag = f"{flag}/--no-{flag.removeprefix('--')}"
    return typer.Option(flag, **more)  # type: ignore[no-any-return]


def _run_of(run: RunArgument) -> tuple[list[inspect.Parameter], Reader]:
    """A run's name and the folder of the runs, in place of the run's folder."""
    text = (
        f"Name of a run in the folder of runs, or its path{'; the newest by default' * run.newest}."
    )
    positional = not run.flag
    declared = _declared(
        "run", Argument(flag=run.flag, metavar="run" * positional), text, positional, ""
    )
    folder = _declared("runs", RUNS_FOLDER, "Folder that holds the runs.", False, "")
    made = [
        _parameter("run_name", str, declared, "" if run.newest else inspect.Parameter.empty),
        _parameter("runs", Path, folder, Path("runs")),
    ]
    return made, lambda given: find_run(given["run_name"], given["runs"])


def _parameter(
    name: str, kind: Any, declared: ParameterInfo | None, default: Any
) -> inspect.Parameter:
    annotation = kind if declared is None else Annotated[kind, declared]
    return inspect.Parameter(
        name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation
    )


def _plain(hint: Any) -> Any:
    """A type as Typer knows it: sequences are lists, paths in any form are paths."""
    if get_origin(hint) in (Union, types.UnionType):
        parts = get_args(hint)
        if any(part is os.PathLike or get_origin(part) is os.PathLike for part in parts):
            return Path | None if type(None) in parts else Path
        (own,) = [part for part in parts if part is not type(None)]
        return _plain(own) | None
    if get_origin(hint) in (Sequence, tuple):
        return list[get_args(hint)[0]]  # type: ignore[misc]
    return hint
