"""Arguments and options that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

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
