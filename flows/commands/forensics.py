"""The commands `lakatos evaluate`, `challenge`, `rewind`, `why` and `export`: what to make of a run afterwards."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer
from rich.table import Table

from lakatos.flows.argument import Argument
from lakatos.flows.commands.options import DataFolder, RunNeeded, RunsFolder
from lakatos.flows.run.console import Console, escape
from lakatos.flows.run.places import find_run
from lakatos.traces.wording import plural

if TYPE_CHECKING:
    from lakatos.flows.branches.process import ProcessEvaluation
    from lakatos.flows.branches.rewind import RewindResult
    from lakatos.flows.branches.situations import SituationComparison

Workers = Annotated[int, Argument(help="Theories that run at the same time.", least=1)]
Form = Literal["crate", "prov", "otel", "inspect", "training", "html", "markdown", "tables"]
DEEP = 3


def evaluate(
    run_name: RunNeeded = "",
    *,
    runs: RunsFolder = Path("runs"),
    as_json: Annotated[bool, Argument(flag="--json")] = False,
    situations: Path | None = None,
) -> None:
    """How a run was conducted: repeated calls, unused results, unsupported claims, inventions, cost.

    Exit status 1 if a rule is broken. In Python: `lakatos.flows.branches.process.evaluate(folder)`.

    Args:
        as_json: JSON for a machine.
        situations: Write the situations that roles were in to this file, for `challenge`.

    Examples:
        $ lakatos evaluate allais-1
    """
    from lakatos.flows.branches.process import evaluate as evaluate_run
    from lakatos.flows.branches.situations import situations_of, write_set

    folder = find_run(run_name, runs)
    found = evaluate_run(folder)
    if situations is not None:
        write_set(situations_of(folder), situations)
    if as_json:
        print(json.dumps(found.to_json(), indent=1, ensure_ascii=False))
    else:
        _show_evaluation(found)
    if not all(rule.kept for rule in found.rules):
        raise typer.Exit(1)


def challenge(
    name: Annotated[str, Argument(metavar="SET")] = "regression",
    *,
    base_url: str = "",
    model: str = "",
    key_variable: str = "",
    afresh: Annotated[float | None, Argument(least=0, most=1)] = None,
    log: Path = Path("evaluations.jsonl"),
) -> None:
    """Put recorded situations to a model, or to a strategy of search, and compare with the last time.

    Exit status 1 if the regression set is not passed whole. In Python: `lakatos.flows.branches.situations`.

    Args:
        name: regression, capability, or a file.
        base_url: Of a server that speaks the OpenAI protocol, up to and with /v1.
        model: Its name for the model.
        key_variable: Environment variable that holds the key.
        afresh: A search instead: share of its candidates composed at random.
        log: JSON lines with the results of every time.
    """
    import asyncio

    from lakatos.domains import FAMILIES
    from lakatos.flows.branches.situations import compare, put_to_model, put_to_strategy, read_set
    from lakatos.flows.errors import StudyError
    from lakatos.language_models.clients.openai import OpenAIModel
    from lakatos.language_models.settings import ModelSettings
    from lakatos.theories.discovery.grammar_search.advocate import GrammarAdvocate

    chosen = read_set(name)
    if bool(base_url and model) == (afresh is not None):
        raise StudyError(
            "say whom to ask: --base-url and --model, or --afresh for a search; and not both."
        )
    if afresh is not None:
        share = afresh
        graded = put_to_strategy(
            chosen, lambda domain: GrammarAdvocate(FAMILIES[domain].grammar, afresh=share)
        )
        subject = f"search with {afresh:g} composed afresh"
    else:
        settings = ModelSettings(
            name=model, model=model, base_url=base_url, key_variable=key_variable
        )
        asked = OpenAIModel(settings)

        async def ask() -> Any:
            try:
                return await put_to_model(chosen, asked)
            finally:
                await asked.close()

        graded, subject = asyncio.run(ask()), f"{model} at {base_url}"
    found = compare(name, subject, chosen, graded, log)
    _show_comparison(found)
    if name == "regression" and found.arm.n_successes < found.arm.n:
        raise typer.Exit(1)


def rewind(
    run_name: RunNeeded,
    *,
    at: str = "",
    set_field: Annotated[list[str] | None, Argument(flag="--set")] = None,
    repeats: Annotated[int, Argument(least=1)] = 20,
    outcome: str = "same_leader",
    effects: Literal["recorded", "live"] = "recorded",
    drop: bool = False,
    forks: Annotated[int, Argument(least=24)] = 100,
    thorough: Annotated[int, Argument(least=0)] = 0,
    runs: RunsFolder = Path("runs"),
    data: DataFolder = None,
    workers: Workers = 2,
) -> None:
    """What one change would have done: branches of a run, compared by an exact test. Branches never recruit anybody.

    In Python: `lakatos.flows.branches.rewind.rewind(folder, at, edits, repeats=...)` and
    `lakatos.flows.branches.rewind.find_drop(folder)`.

    Args:
        at: A record, by its number in the journal or the beginning of its digest.
        set_field: FIELD=VALUE to change in it; repeat for more hypotheses or doses.
        repeats: Replays of each change, and of none.
        outcome: same_leader, holds, new_leader or recovered: what is compared.
        effects: Whether what was asked before is answered as before, or all is asked anew.
        drop: Find the record after which prospects fell most.
        forks: Most continuations of that search.
        thorough: Fork so often from every record instead; dear.

    Examples:
        $ lakatos rewind allais-1 --at 40 --set seed=7
    """
    from lakatos.flows.branches.branch import parse_edit
    from lakatos.flows.branches.rewind import find_drop
    from lakatos.flows.branches.rewind import rewind as rewind_run
    from lakatos.flows.errors import RewindError

    console = Console(soft_wrap=True)
    folder = find_run(run_name, runs)
    quiet = Console(stderr=True)

    def tell(text: str) -> None:
        quiet.print(escape(text), highlight=False)

    if drop:
        if at or set_field:
            raise RewindError("--drop looks at the whole run; leave out --at and --set.")
        found, event = find_drop(
            folder, outcome=outcome, effects=effects, most_forks=forks, thorough=thorough, data=data, n_workers=workers,
            progress=tell,
        )  # fmt: skip
        if event is None:
            console.print(
                f"no drop was found in {plural(found.n_forks, 'fork')} (p = {found.p_value:.3g})"
            )
            return
        near = (
            f", and with 95% between steps {found.near[0]} and {found.near[1]}"
            if found.near
            else ""
        )
        console.print(
            f"prospects of {outcome!r} fell from {found.before:.2f} to {found.after:.2f} with record {event.seq} "
            f"({event.kind}), with probability {found.probability:.2f}{near}; {found.n_forks} forks, "
            f"p = {found.p_value:.3g}"
        )
        return
    if not at:
        raise RewindError("say where: --at RECORD, or --drop to find where prospects fell.")
    edits = [parse_edit(text) for text in set_field or ()]
    _show_rewound(
        rewind_run(
            folder, at, edits, repeats=repeats, outcome=outcome, effects=effects, data=data, n_workers=workers,
            progress=tell,
        )
    )  # fmt: skip


def why(
    run_name: RunNeeded,
    claim: str = "verdict",
    *,
    deep: Annotated[int, Argument(least=0)] = DEEP,
    runs: RunsFolder = Path("runs"),
) -> None:
    """Why a run says so: from a conclusion down to the people's responses that carry it.

    In Python: `lakatos.flows.report.why.why(folder, claim)`.

    Args:
        claim: verdict, leader, a theory, or a record by its number or digest.
        deep: Levels that are shown; 0 for all.

    Examples:
        $ lakatos why allais-1 leader --deep 5
    """
    from lakatos.experiments.adoption.names import told_experiment
    from lakatos.flows.report.why import why as why_run

    console = Console(soft_wrap=True, highlight=False)
    found = why_run(find_run(run_name, runs), claim)
    for line in found.brief:
        console.print(escape(line))
    console.print()
    for line in found.lines(deep):
        console.print(escape(line))
    if found.carried:
        table = Table(
            "experiment",
            "trial",
            "what was shown",
            "answers",
            "chose last",
            "leader said",
            "rival said",
            "nats",
        )
        for item in found.carried:
            name, share = told_experiment(item.experiment), f"{item.share:.2f}"
            table.add_row(
                name, str(item.trial), escape(item.shown), str(item.n_answers), share,
                f"{item.leader:.2f}", f"{item.rival:.2f}", f"{item.nats:+.1f}",
            )  # fmt: skip
        console.print("answers that speak most for the leader, against the best first theory:")
        console.print(table)
    for link in found.broken:
        console.print(
            f"[red]it does not hold[/red]: {escape(link.name) or 'a record'} {escape(link.problem)}"
        )


def export(
    run_name: RunNeeded = "",
    *,
    to: Form,
    out: Path | None = None,
    endpoint: str = "http://127.0.0.1:4318",
    contents: bool = False,
    author: str = "",
    licence: str = "",
    runs: RunsFolder = Path("runs"),
) -> None:
    """Write a run in a form that others read. Nobody's identifier and nothing of people who withdrew leaves the run.

    In Python: `flows.export`.

    Args:
        to: crate (RO-Crate with PROV), prov, otel, inspect, training, html, markdown, tables (CSV).
        out: File or folder to write.
        endpoint: otel: address of the collector.
        contents: otel: send what models read and said, too.
        author: crate: who is responsible; an ORCID address may stand in front.
        licence: crate: address of a licence.

    Examples:
        $ lakatos export allais-1 --to tables --out tables
    """
    from lakatos.flows.export.crate import write_crate
    from lakatos.flows.export.evaluation_log import write_logs
    from lakatos.flows.export.markdown import write_markdown
    from lakatos.flows.export.provenance import write_prov
    from lakatos.flows.export.spans import send_spans
    from lakatos.flows.export.tables import write_tables
    from lakatos.flows.export.training import write_training
    from lakatos.flows.report.report import write_report

    folder = find_run(run_name, runs)
    place = out or folder / "exports" / to
    if to == "otel":
        n = send_spans(folder, endpoint, contents=contents)
        Console().print(f"{n} spans sent to {escape(endpoint)}")
        return
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
    for path in written if isinstance(written, list) else [written]:
        Console(soft_wrap=True).print(f"written: {escape(str(path))}")


def _show_evaluation(found: ProcessEvaluation) -> None:
    console = Console(soft_wrap=True)
    for rule in found.rules:
        mark = "[green]kept[/green]  " if rule.kept else "[yellow]broken[/yellow]"
        mark = mark if rule.binding else "observed"
        console.print(
            f"{mark}  {escape(rule.name)}: {rule.n} of {rule.of}; {escape(rule.question)}"
        )
        for example in rule.examples:
            console.print(f"          {escape(example)}")
    invented = ", ".join(f"{kind} {n}" for kind, n in found.inventions.items())
    console.print(f"inventions in {plural(found.n_statements, 'statement')} of models: {invented}")
    if found.spent is not None:
        each = found.spent.per_theory()
        console.print(
            f"{found.spent.n_accepted} theories accepted of {found.spent.n_candidates} candidates, "
            f"{found.spent.responses} responses, {found.spent.tokens} tokens"
            + (
                f"; for each: {', '.join(f'{value:.4g} {name}' for name, value in each.items())}"
                if each
                else ""
            )
        )
    if found.soundness is not None:
        console.print(
            f"{plural(len(found.failed), 'attempt')} failed; on average {found.soundness:.0%} of each was sound:"
        )
        for item in found.failed[:12]:
            console.print(
                f"          record {item.seq}, {escape(item.what)}: {item.failed_at} ({item.share:.0%} sound)"
            )


def _show_comparison(found: SituationComparison) -> None:
    console = Console(soft_wrap=True)
    low, high = found.arm.interval()
    console.print(
        f"[bold]{escape(found.kind)}[/bold], {escape(found.subject)}: {found.arm.n_successes} of {found.arm.n} passed "
        f"(95% interval {low:.0%} to {high:.0%})"
    )
    for item in found.graded:
        mark = "[green]passed[/green]" if item.passed else "[red]failed[/red]"
        console.print(
            f"  {mark}  {escape(item.name)}"
            + (f": {escape(item.reason[:200])}" if item.reason else "")
        )
    if found.before is not None:
        gained, lost = found.changed
        console.print(
            f"the last time ({escape(found.before_subject)}): {sum(item.passed for item in found.before)} passed; now "
            f"also {', '.join(gained) or 'none'}, no longer {', '.join(lost) or 'none'} (p = {found.p_value:.3g})"
        )


def _show_rewound(found: RewindResult) -> None:
    console = Console(soft_wrap=True)
    low, high = found.baseline.interval()
    console.print(
        f"record {found.at} ({found.kind}), outcome {found.outcome!r}; as it was: {found.baseline.n_successes} of "
        f"{found.baseline.n} replays (95% interval {low:.2f} to {high:.2f})"
    )
    if found.compared:
        table = Table(
            "change",
            "replays",
            "rate",
            "difference",
            "95% interval",
            "p",
            "p (Holm)",
            "repeats for power 0.9",
        )
        for item in found.compared:
            table.add_row(
                escape(item.edit.words), f"{item.arm.n_successes} of {item.arm.n}", f"{item.arm.rate:.2f}",
                f"{item.difference:+.2f}", f"{item.interval[0]:+.2f} to {item.interval[1]:+.2f}",
                f"{item.p_value:.3g}", f"{item.adjusted:.3g}", str(item.repeats_needed or "too many"),
            )  # fmt: skip
        console.print(table)
    if found.dose is not None:
        console.print(
            f"dose-response: {found.dose.slope:+.3g} log odds a unit (95% interval {found.dose.interval[0]:+.3g} to "
            f"{found.dose.interval[1]:+.3g}), p = {found.dose.p_value:.3g} by permutation"
        )
    if found.n_undecided:
        console.print(
            f"left out, as they came to no outcome: {plural(found.n_undecided, 'branch', 'branches')}"
        )
