"""Forms of parameters of functions on the command line, where a name and a type leave that open.

A command is a typed function (`flows/commands/adapter.py`): its parameters, defaults and docstring are those of the
command. The types here are ordinary types for Python and the type checker, and carry what the command line needs.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any


@dataclass(frozen=True)
class Argument:
    """Facts that the command line needs of a parameter beside its name, type, default and line in the docstring."""

    kind: Any = None
    """Type of what is typed; the parameter's own by default."""
    flag: str = ""
    """Option of the parameter. By default a parameter before ``*`` is typed without one, and others are called as in
    Python."""
    metavar: str = ""
    help: str = ""
    """Help of a type that several commands share; the line of the docstring by default."""
    environment: str = ""
    """Variable that stands in for the option."""
    least: float | None = None
    most: float | None = None
    read: Callable[[Any], Any] | None = None
    """Makes the value of what was typed; the same value by default."""
    first: bool = False
    """Whether it is typed before the arguments that stand before it in Python."""
    required: bool = False
    """Whether the command line needs it, although Python has a default."""
    hidden: bool = False
    """Whether only Python can give it."""
    shorthand: tuple[str, str, str] = ("", "", "")
    """Another option, the key that it stands for (``--accept X`` is ``--column accept=X``), and its help."""


@dataclass(frozen=True)
class RunArgument:
    """Marks the folder of a run: the command line takes the run's name, and ``--runs``."""

    newest: bool = True
    """Whether the newest run is meant where none is named."""
    flag: str = ""
    """Option of the field; typed without one by default."""


def columns_of_options(options: Sequence[str] | None) -> dict[str, Any]:
    """Meanings of columns as the section ``participants.columns`` of a study has them.

    Raises:
        TrialsError: One is not of the form KEY=COLUMN.
    """
    from lakatos.experiments.adoption.mapping import AnswerColumns
    from lakatos.experiments.errors import TrialsError
    from lakatos.traces.files import read_toml

    found: dict[str, Any] = {}
    for item in options or ():
        key, equals, text = item.partition("=")
        if not key or not equals:
            raise TrialsError(f"--column {item}: write KEY=COLUMN, such as participant=subject.")
        try:
            value = read_toml(f"value = {text}")["value"]
        except ValueError:
            value = text
        first, _, rest = key.partition(".")
        if len(rest) > 2 and rest[0] == rest[-1] == '"':  # as a study writes a key with spaces
            rest = rest[1:-1]
        if key == "accept" and isinstance(value, str):  # may be said several times
            found[key] = [*found.get(key, ()), value]
            continue
        if rest:
            found.setdefault(first, {})[rest] = value
        elif key in AnswerColumns.model_fields:
            found[key] = value
        else:
            found.setdefault("stimulus", {})[key] = value
    if "item" in found and "items" not in found:  # a part of trials
        found.setdefault("stimulus", {})["item"] = found.pop("item")
    return found


RunFolder = Annotated[Path, RunArgument()]
NamedRunFolder = Annotated[Path, RunArgument(newest=False)]
RunFolderOption = Annotated[Path, RunArgument(flag="--run")]
RunsFolder = Annotated[
    str | os.PathLike[str], Argument(kind=Path, flag="--runs", environment="LAKATOS_RUNS")
]
DataFolder = Annotated[
    str | os.PathLike[str] | None,
    Argument(kind=Path | None, flag="--data", environment="LAKATOS_DATA"),
]
Workers = Annotated[int, Argument(flag="--workers", least=1)]
ACCEPT = (
    "--accept",
    "accept",
    "Accept implausible content of the file that is correct, by the name that the refusal states. May be given again.",
)
Columns = Annotated[
    Mapping[str, Any] | None,
    Argument(
        kind=list[str] | None,
        flag="--column",
        metavar="KEY=COLUMN",
        read=columns_of_options,
        shorthand=ACCEPT,
    ),
]
