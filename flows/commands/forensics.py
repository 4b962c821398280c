"""The commands `evaluate`, `challenge`, `rewind` and `export`: what to make of a run afterwards."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, Literal

from lakatos.domains import FAMILIES
from lakatos.flows.argument import Argument, NamedRunFolder, RunFolder
from lakatos.flows.branches.branch import parse_edit
from lakatos.flows.branches.process import ProcessEvaluation
from lakatos.flows.branches.process import evaluate as evaluate_run
from lakatos.flows.branches.rewind import RewindResult
from lakatos.flows.branches.rewind import rewind as rewind_run
from lakatos.flows.branches.situations import (
    SituationComparison,
    compare,
    put_to_model,
    put_to_strategy,
    read_set,
    situations_of,
    write_set,
)
from lakatos.flows.commands.options import DataFolder
from lakatos.flows.errors import RewindError, StudyError
from lakatos.flows.export.crate import write_crate
from lakatos.flows.export.evaluation_log import write_logs
from lakatos.flows.export.markdown import write_markdown
from lakatos.flows.export.provenance import write_prov
from lakatos.flows.export.spans import send_spans
from lakatos.flows.export.tables import write_tables
from lakatos.flows.export.training import write_training
from lakatos.flows.report.report import write_report
from lakatos.flows.result import PlainText, Written
from lakatos.flows.run.console import Console, escape
from lakatos.language_models.clients.openai import OpenAIModel
from lakatos.language_models.settings import model_at
from lakatos.theories.discovery.grammar_search.advocate import GrammarAdvocate

Workers = Annotated[int, Argument(help="Theories that run at the same time.", least=1)]
Form = Literal["crate", "prov", "otel", "inspect", "training", "html", "markdown", "tables"]


def evaluate(folder: RunFolder, *, situations: Path | None = None) -> ProcessEvaluation:
    """Evaluate how a run was conducted: repeated calls, unused results, unsupported claims, cost.

    Exit status 1 if a rule is broken. In Python: `lakatos.flows.branches.process.evaluate(folder)`.

    Args:
        folder: The run's folder.
        situations: Write the situations that roles were in to this file, for `challenge`.

    Examples:
        $ lakatos evaluate allais-1
    """
    found = evaluate_run(folder)
    if situations is not None:
        write_set(situations_of(folder), situations)
    return found


def challenge(
    name: Annotated[str, Argument(metavar="SET")] = "regression",
    *,
    base_url: str = "",
    model: str = "",
    key_variable: str = "",
    afresh: Annotated[float | None, Argument(least=0, most=1)] = None,
    log: Path = Path("evaluations.jsonl"),
) -> SituationComparison:
    """Present recorded situations to a language model or a search, and compare the results with the last time.

    Exit status 1 if the regression set is not passed whole. In Python: `lakatos.flows.branches.situations`.

    Args:
        name: regression, capability, or a file.
        base_url: Of a server that speaks the OpenAI protocol, up to and with /v1.
        model: Its name for the model.
        key_variable: Environment variable that holds the key.
        afresh: A search instead: share of its candidates composed at random.
        log: JSON lines with the results of every time.

    Examples:
        $ lakatos challenge regression
    """
    chosen = read_set(name)
    if bool(base_url and model) == (afresh is not None):
        raise StudyError(
            "name a model with --base-url and --model, or a search with --afresh; not both."
        )
    if afresh is not None:
        share = afresh
        graded = put_to_strategy(
            chosen, lambda domain: GrammarAdvocate(FAMILIES[domain].grammar, afresh=share)
        )
        subject = f"search with {afresh:g} composed afresh"
    else:
        settings = model_at(base_url, model, key_variable)
        asked = OpenAIModel(settings)

        async def ask() -> Any:
            try:
                return await put_to_model(chosen, asked)
            finally:
                await asked.close()

        graded, subject = asyncio.run(ask()), f"{model} at {base_url}"
    return compare(name, subject, chosen, graded, log)


def rewind(
    folder: NamedRunFolder,
    *,
    at: str = "",
    set_field: Annotated[list[str] | None, Argument(flag="--set")] = None,
    repeats: Annotated[int, Argument(least=1)] = 20,
    outcome: str = "same_leader",
    effects: Literal["recorded", "live"] = "recorded",
    data: DataFolder = None,
    workers: Workers = 2,
) -> RewindResult:
    """Branch a run with one change and compare the branches by an exact test; branches never recruit.

    In Python: `lakatos.flows.branches.rewind.rewind(folder, at, edits, repeats=...)`.

    Args:
        folder: The run's folder.
        at: A record, by its number in the journal or the beginning of its digest.
        set_field: FIELD=VALUE to change in it; repeat for more hypotheses or doses.
        repeats: Replays of each change, and of none.
        outcome: same_leader, holds, new_leader or recovered: what is compared.
        effects: Whether what was asked before is answered as before, or all is asked anew.

    Examples:
        $ lakatos rewind demo-1 --at 1 --set config.seed=7
    """
    quiet = Console(stderr=True)

    def tell(text: str) -> None:
        quiet.print(escape(text), highlight=False)

    if not at:
        raise RewindError("name a record with --at RECORD.")
    edits = [parse_edit(text) for text in set_field or ()]
    return rewind_run(
            folder, at, edits, repeats=repeats, outcome=outcome, effects=effects, data=data, n_workers=workers,
            progress=tell,
    )  # fmt: skip


def export(
    folder: RunFolder,
    *,
    to: Form,
    out: Path | None = None,
    endpoint: str = "http://127.0.0.1:4318",
    contents: bool = False,
    author: str = "",
    licence: str = "",
) -> Written | PlainText:
    """Write a run in the format of other software, without identifiers and without withdrawn participants.

    In Python: `flows.export`.

    Args:
        folder: The run's folder.
        to: crate (RO-Crate with PROV), prov, otel, inspect, training, html, markdown, tables (CSV).
        out: File or folder to write.
        endpoint: otel: address of the collector.
        contents: otel: send what models read and said, too.
        author: crate: who is responsible; an ORCID address may stand in front.
        licence: crate: address of a licence.

    Examples:
        $ lakatos export allais-1 --to tables --out tables
    """
    place = out or folder / "exports" / to
    if to == "otel":
        n = send_spans(folder, endpoint, contents=contents)
        return PlainText(f"{n} spans sent to {endpoint}")
    write: dict[str, Callable[[], Path | list[Path]]] = {
        "crate": lambda: write_crate(folder, place, author=author, licence=licence),
        "prov": lambda: write_prov(folder, out or folder / "prov.json"),
        "inspect": lambda: write_logs(folder, place),
        "training": lambda: write_training(folder, place),
        "html": lambda: write_report(folder, out),
        "markdown": lambda: write_markdown(folder, out),
        "tables": lambda: write_tables(folder, place),
    }
    written = write[to]()
    return Written(*(written if isinstance(written, list) else [written]))
