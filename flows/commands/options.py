"""Arguments and options that several commands share, with their help."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from lakatos.flows.argument import ACCEPT, Argument

RunsFolder = Annotated[
    Path,
    Argument(flag="--runs", help="Folder that holds the runs.", environment="LAKATOS_RUNS"),
]
RunName = Annotated[
    str,
    Argument(
        metavar="run",
        help="Name of a run in the runs folder, or its path; the newest by default.",
    ),
]
RunNeeded = Annotated[
    str, Argument(metavar="run", help="Name of a run in the runs folder, or its path.")
]
DataFolder = Annotated[
    Path | None,
    Argument(flag="--data", help="Folder of the published data sets.", environment="LAKATOS_DATA"),
]
ColumnOptions = Annotated[
    list[str] | None,
    Argument(
        flag="--column",
        metavar="KEY=COLUMN",
        help="Meaning of a column, with the keys of the section participants.columns or the parts of trials: "
        'participant=VP, amounts=\'["soon", "late"]\'. May be given again.',
        shorthand=ACCEPT,
    ),
]
