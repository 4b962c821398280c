"""Arguments and options that several commands share."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

RunsFolder = Annotated[
    Path, typer.Option("--runs", help="Folder that holds the runs.", envvar="LAKATOS_RUNS")
]
RunName = Annotated[
    str,
    typer.Argument(
        metavar="run",
        help="Name of a run in the runs folder, or its path; the newest by default.",
    ),
]
RunNeeded = Annotated[
    str, typer.Argument(metavar="run", help="Name of a run in the runs folder, or its path.")
]
RunOption = Annotated[str, typer.Option("--run", help="A run; the newest by default.")]
DataFolder = Annotated[
    Path | None,
    typer.Option("--data", help="Folder of the published data sets.", envvar="LAKATOS_DATA"),
]
ColumnsSaid = Annotated[
    list[str] | None,
    typer.Option(
        "--column",
        metavar="KEY=COLUMN",
        help="What a column means, with the keys of the section participants.columns or the parts of trials: "
        'participant=VP, amounts=\'["soon", "late"]\'. May be given again.',
    ),
]


def columns_said(said: Sequence[str] | None) -> dict[str, Any]:
    """Meanings of columns as the section ``participants.columns`` of a study has them.

    Raises:
        TrialsError: One is not of the form KEY=COLUMN.
    """
    import tomllib

    from lakatos.experiments.adoption.mapping import AnswerColumns
    from lakatos.experiments.errors import TrialsError

    found: dict[str, Any] = {}
    for item in said or ():
        key, equals, text = item.partition("=")
        if not key or not equals:
            raise TrialsError(f"--column {item}: write KEY=COLUMN, such as participant=subject.")
        try:
            value = tomllib.loads(f"value = {text}")["value"]
        except (tomllib.TOMLDecodeError, RecursionError):
            value = text
        first, _, rest = key.partition(".")
        if rest:
            found.setdefault(first, {})[rest] = value
        elif key in AnswerColumns.model_fields:
            found[key] = value
        else:
            found.setdefault("stimulus", {})[key] = value
    return found
