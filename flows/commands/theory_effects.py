"""The command ``lakatos theory effects``: whether what is known of people changes a theory's numbers."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.console import Console
from rich.markup import escape

from lakatos.flows.commands.options import ColumnsSaid, columns_said
from lakatos.flows.commands.theory import AnswerFile, GuessedDomain, Out, _show, app


@app.command()
def effects(
    answers: AnswerFile,
    by: Annotated[
        str, typer.Option(help="Column that is known of people, such as age, group or condition.")
    ],
    theories: Annotated[
        list[str] | None,
        typer.Argument(help="Names of published theories, or files; all published by default."),
    ] = None,
    parameters: Annotated[
        list[str] | None,
        typer.Option(
            "--of", help="Parameter that may depend on it; may be given again; all by default."
        ),
    ] = None,
    prior_sd: Annotated[
        float,
        typer.Option(
            min=1e-3,
            max=10.0,
            help="Standard deviation of each effect's prior, a share of the parameter's range.",
        ),
    ] = 0.25,
    domain: GuessedDomain = "",
    column: ColumnsSaid = None,
    out: Out = None,
) -> None:
    """Ask whether a theory's numbers depend on people's age, group or condition, and which of them.

    In Python: `lakatos.effects_of(answers, theories, by=by)`.
    """
    from lakatos.flows.notebook.effects import effects_of

    found = effects_of(
        str(answers),
        theories or None,
        by=by,
        parameters=parameters or (),
        prior_sd=prior_sd,
        domain=domain,
        columns=columns_said(column),
    )
    Console(stderr=True, soft_wrap=True).print(escape(found.verdict))
    _show(found.effects, out)
