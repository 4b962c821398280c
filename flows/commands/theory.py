"""The commands of ``lakatos theory``: check a theory of your own, bring one in, and fit one to a run's answers."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer
from rich.table import Table

from lakatos.flows.argument import columns_said
from lakatos.flows.commands.options import ColumnsSaid, RunsFolder
from lakatos.flows.run.console import Console, escape, write
from lakatos.flows.run.places import find_run

if TYPE_CHECKING:
    from lakatos.flows.notebook.answers import PeoplesAnswers
    from lakatos.flows.notebook.effects import AttributeEffects
    from lakatos.flows.notebook.groups import GroupComparison
    from lakatos.flows.notebook.theory import FittedTheory
    from lakatos.theories.engine.fitting.posterior_check import PredictiveCheck, RankedTheory
    from lakatos.theories.engine.fitting.posterior_result import Posterior

DomainName = Annotated[
    str, typer.Option(help="Kind of task that the theory is about, or the file that declares it.")
]


def check(
    file: Annotated[Path, typer.Argument(help="Source of the theory.")],
    domain: DomainName = "multiattribute",
    json: Annotated[bool, typer.Option("--json", help="For a machine.")] = False,
) -> None:
    """Try everything that a theory must prove before it enters; exit status 1 when it may not.

    In Python: `theories.engine.checks.check.check_theory(program, domain, sandbox)`.
    """
    from lakatos.domains import open_domain
    from lakatos.theories.engine.checks.check import check_theory
    from lakatos.theories.engine.sandbox.client import Sandbox
    from lakatos.theories.language.theory import TheoryProgram
    from lakatos.theories.language.theory_file import read_theory_file

    task = open_domain(domain)
    with Sandbox() as sandbox:
        report = check_theory(TheoryProgram(read_theory_file(file), "you"), task, sandbox)
    if json:
        from json import dumps

        print(dumps(report.to_json(), indent=1))
    else:
        write(report.to_text())
    if not report.passed:
        raise typer.Exit(1)


def bring_in(
    file: Annotated[
        Path,
        typer.Argument(help="YAML or JSON of AutoCog, or a cognitive model of GeCCo in Python."),
    ],
    name: Annotated[
        str, typer.Option(help="Of the theory; what the file calls it by default.")
    ] = "",
    cues: Annotated[
        int | None,
        typer.Option(
            help="AutoCog: cues of the trials, where a parameter has a value for each.",
            min=1,
            max=8,
        ),
    ] = None,
    answers: Annotated[
        Path | None,
        typer.Option(
            "--answers", help="AutoCog: the answers that it is for, whose cues are counted."
        ),
    ] = None,
    function: Annotated[
        str, typer.Option(help="GeCCo: which of several functions; the first by default.")
    ] = "",
) -> None:
    """Print a theory written for AutoCog or GeCCo as a theory of this laboratory; a study names it in theories.files.

    In Python: `theories.findings.exchange.autocog.import_autocog(text, sandbox)` and
    `theories.findings.exchange.gecco.import_gecco(text, sandbox)`.
    """
    from lakatos.theories.engine.sandbox.client import Sandbox
    from lakatos.theories.findings.exchange.autocog import GREEDY, import_autocog
    from lakatos.theories.findings.exchange.gecco import import_gecco
    from lakatos.theories.language.theory_file import read_theory_file

    text = read_theory_file(file)
    with Sandbox() as sandbox:
        if file.suffix == ".py":
            program = import_gecco(text, sandbox, name=name, function=function)
        else:
            n_cues = cues or (_number_of_cues(answers) if answers is not None else 0)
            program = import_autocog(text, sandbox, name=name, n_cues=n_cues)
    write(program.source)
    if GREEDY in program.source:
        Console(stderr=True, soft_wrap=True).print(escape(GREEDY.removeprefix("# ")))


def _number_of_cues(answers: Path) -> int:
    """How many cues trials of products have in answers."""
    from lakatos.flows.notebook.answers import adopt

    trials = adopt(str(answers), "multiattribute").trials
    return max(int(item.stimuli["validities"].shape[1]) for item in trials)


AnswerFile = Annotated[
    Path,
    typer.Argument(
        help="Answers: CSV, Parquet, JSON, SPSS, R, a folder, a study, a published set, or a run by its name or path."
    ),
]
GuessedDomain = Annotated[
    str,
    typer.Option("--domain", help="Whose trials these are, or a file; guessed from the columns."),
]
Out = Annotated[Path | None, typer.Option(help="CSV file to write; shown by default.")]


def score(
    answers: AnswerFile,
    theories: Annotated[
        list[str] | None,
        typer.Argument(
            help="Names of published theories, or files; all published by default, the leader of a run."
        ),
    ] = None,
    domain: GuessedDomain = "",
    column: ColumnsSaid = None,
    runs: RunsFolder = Path("runs"),
    out: Out = None,
) -> None:
    """Score theories on answers that taught them nothing, the best first, with intervals.

    In Python: `lakatos.score(answers, theories)`.
    """
    from lakatos.flows.notebook.theory import score as score_theories

    data, rivals = _read(answers, theories or (), runs, domain, column)
    _show(score_theories(data, rivals), out)


def fit(
    theory: Annotated[
        str, typer.Argument(help="Name of a published theory, its file, or its name in a run.")
    ],
    answers: AnswerFile,
    domain: GuessedDomain = "",
    column: ColumnsSaid = None,
    runs: RunsFolder = Path("runs"),
    out: Out = None,
) -> None:
    """Learn from answers how a theory's parameters are distributed over people.

    In Python: `lakatos.fit(answers, theory)`.
    """
    from lakatos.flows.notebook.theory import fit as fit_theory

    data, wanted = _read(answers, [theory], runs, domain, column)
    assert wanted is not None
    fitted = fit_theory(data, wanted[0])
    Console(stderr=True, soft_wrap=True).print(f"{escape(fitted.name)}: {escape(fitted.claim)}")
    _show(fitted.people, out)


def groups(
    answers: AnswerFile,
    by: Annotated[str, typer.Option(help="Column that divides people, such as group or age.")],
    theories: Annotated[
        list[str] | None,
        typer.Argument(
            help="Names of published theories, or files; all published by default, the leader of a run."
        ),
    ] = None,
    cuts: Annotated[
        list[float] | None,
        typer.Option("--cut", help="Where a range of a number begins; may be given again."),
    ] = None,
    domain: GuessedDomain = "",
    column: ColumnsSaid = None,
    runs: RunsFolder = Path("runs"),
    csv: Annotated[
        bool, typer.Option("--csv", help="Print the parameters by group as CSV instead.")
    ] = False,
    out: Out = None,
) -> None:
    """Ask whether theories hold for several groups of people, with other numbers or with the same ones.

    ANSWERS may be a study file, whose answers and meanings of columns are taken, or a run, whose leader
    is then asked about.

    In Python: `lakatos.by_group(answers, theories, by=by)`.
    """
    from lakatos.flows.notebook.groups import by_group

    data, rivals = _read(answers, theories or (), runs, domain, column, known=(by,))
    found = by_group(data, rivals, by=by, cuts=cuts or ())
    if csv or out is not None:
        Console(stderr=True, soft_wrap=True).print(escape(found.verdict))
        _show(found.differences, out)
        return
    console = Console(soft_wrap=True)
    people = ", ".join(f"{n} where it is {name}" for name, n in found.n_people.items())
    console.print(f"People by {escape(by)}: {escape(people)}.")
    console.print(escape(found.verdict))
    console.print(_table_of_medians(found))
    console.print(_table_of_scores(found))
    console.print("Intervals are 95%; --csv prints the numbers of the first table for a program.")


def effects(
    answers: AnswerFile,
    by: Annotated[
        str, typer.Option(help="Column that is known of people, such as age, group or condition.")
    ],
    theories: Annotated[
        list[str] | None,
        typer.Argument(
            help="Names of published theories, or files; all published by default, the leader of a run."
        ),
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
    runs: RunsFolder = Path("runs"),
    csv: Annotated[bool, typer.Option("--csv", help="Print the effects as CSV instead.")] = False,
    out: Out = None,
) -> None:
    """Ask whether a theory's numbers depend on people's age, group or condition, and which of them.

    In Python: `lakatos.effects_of(answers, theories, by=by)`.
    """
    from lakatos.flows.notebook.effects import effects_of

    data, rivals = _read(answers, theories or (), runs, domain, column, known=(by,))
    found = effects_of(data, rivals, by=by, parameters=parameters or (), prior_sd=prior_sd)
    if csv or out is not None:
        Console(stderr=True, soft_wrap=True).print(escape(found.verdict))
        _show(found.effects, out)
        return
    console = Console(soft_wrap=True)
    console.print(f"{escape(by)} is known of {found.n_people} people.")
    console.print(escape(found.verdict))
    console.print(_table_of_effects(found))
    console.print(
        "Effects are shares of a number's range, for a standard deviation; intervals are 95%; p allows for all numbers "
        "of a theory and decides: it exchanges what is known among people. An interval is of one effect while others "
        "may stand in for it, so that it can hold 0 where p is small. --csv prints the table for a program."
    )


def _table_of_effects(found: AttributeEffects) -> Table:
    """How each number depends on what is known of people: the effect, the median person, what it is worth."""
    first = next(iter(found.theories.values()))
    shown = Table(
        "theory", "number", "effect", "p",
        *(f"median where {escape(found.by)} is {escape(label)}" for label in first.shown),
        "gain of it alone", title=f"Numbers by {escape(found.by)}",
    )  # fmt: skip
    for name, item in found.theories.items():
        for effect in item.effects:
            low, high = effect.estimate.interval
            of = "" if item.attribute.is_number or effect.n_columns == 1 else f" ({effect.column})"
            told = (
                "at the end of its range" if effect.is_at_end
                else f"{effect.estimate.value:+.3f} ({low:+.3f} to {high:+.3f})"
            )  # fmt: skip
            medians = [f"{value:.3g}" for value in item.medians_of(effect.parameter).values()]
            low, high = effect.gain.interval
            shown.add_row(
                escape(name), escape(f"{effect.parameter}{of}"), told, _p_in_cell(effect.p), *medians,
                f"{effect.gain.value:+.4f} ({low:+.4f} to {high:+.4f})",
            )  # fmt: skip
    return shown


def _read(
    answers: Path,
    theories: Sequence[str],
    runs: Path,
    domain: str,
    column: Sequence[str] | None,
    known: Sequence[str] = (),
    *,
    of_trials: bool = False,
) -> tuple[PeoplesAnswers, list[FittedTheory | str] | None]:
    """The answers and theories that a command names; prints what was left out of the answers, or assumed.

    Args:
        answers: A file, a published data set or a run.
        theories: Names.
        runs: Folder that holds the runs.
        domain: Whose trials these are; guessed where it is empty.
        column: Meanings of columns.
        known: Further columns that say something of people.
        of_trials: Whether meanings of columns are those of other trials where the answers are a run's.
    """
    from lakatos.flows.notebook.answers import adopt
    from lakatos.flows.notebook.asked import what_is_asked
    from lakatos.flows.notebook.theory import adopted

    data, wanted = what_is_asked(answers, theories, runs)
    columns = columns_said(column)
    if isinstance(data, str):
        read = adopt(data, domain, columns, known=known)
    else:
        read = adopted(data, domain=domain, columns={} if of_trials else columns)
    console = Console(stderr=True, soft_wrap=True)
    for note in read.notes:
        console.print(f"[yellow]{escape(note)}[/yellow]", highlight=False)
    return read, wanted


def _p_in_cell(p: float | None) -> str:
    """A probability; a dash where nothing could be exchanged among people."""
    return "–" if p is None else f"{p:.3f}"


def _table_of_medians(found: GroupComparison) -> Table:
    """The median person of each group, parameter by parameter, by the theory that is best overall."""
    shown = Table(
        "parameter", *map(escape, found.n_people), "p", title="Median person of each group"
    )
    for item in found.found:
        cells = [
            f"{median.value:.3g} ({median.interval[0]:.3g} to {median.interval[1]:.3g})"
            for median in item.medians.values()
        ]
        unit = f" [{item.unit}]" if item.unit else ""
        shown.add_row(escape(f"{item.parameter}{unit}"), *cells, _p_in_cell(item.p))
    return shown


def _table_of_scores(found: GroupComparison) -> Table:
    """How each theory predicts the people of each group, the best first."""
    shown = Table(
        "theory",
        *map(escape, found.n_people),
        title="Nats per choice, predicted by others of the group",
    )
    names = sorted(found.theories, key=lambda name: -found.mean_score(name))
    for name in names:
        scores = [found.theories[name].score(group) for group in found.n_people]
        cells = [f"{item.value:.3f} ± {item.value - item.interval[0]:.3f}" for item in scores]
        shown.add_row(escape(name), *cells)
    return shown


def each(
    answers: AnswerFile,
    theories: Annotated[
        list[str] | None,
        typer.Argument(
            help="Names of published theories, or files; all published by default, the leader of a run."
        ),
    ] = None,
    halves: Annotated[
        bool, typer.Option(help="Fit the first half of everybody's answers, and score the second.")
    ] = False,
    domain: GuessedDomain = "",
    column: ColumnsSaid = None,
    runs: RunsFolder = Path("runs"),
    out: Out = None,
) -> None:
    """Fit theories to each person alone: mean BIC, and likelihood per choice.

    In Python: `lakatos.fit_each(answers, theories)`.
    """
    from lakatos.flows.notebook.each import fit_each

    data, rivals = _read(answers, theories or (), runs, domain, column)
    _show(fit_each(data, rivals, halves=halves), out)


def predict(
    theory: Annotated[str, typer.Argument(help="Name of a published theory, or its file.")],
    trials: Annotated[Path, typer.Argument(help="Table of trials; nobody has to have answered.")],
    answers: Annotated[
        Path,
        typer.Option("--fit", help="Answers, or a run, that say who its people are; required."),
    ],
    domain: GuessedDomain = "",
    column: ColumnsSaid = None,
    runs: RunsFolder = Path("runs"),
    out: Out = None,
) -> None:
    """Predict shares of choices in new trials, with a theory fitted to answers.

    In Python: `lakatos.predict(lakatos.fit(answers, theory), trials)`.
    """
    from lakatos.flows.notebook.theory import fit as fit_theory
    from lakatos.flows.notebook.theory import predict as predict_shares

    data, wanted = _read(answers, [theory], runs, domain, column, of_trials=True)
    assert wanted is not None
    shown = {key: value for key, value in columns_said(column).items() if key == "stimulus"}
    fitted = fit_theory(data, wanted[0])
    _show(predict_shares(fitted, trials, columns=shown), out)


def export(
    theory: Annotated[
        str, typer.Argument(help="Name of a published theory, or its file; of a run with --run.")
    ],
    form: Annotated[
        Literal["python"], typer.Option("--as", help="python: one file that needs NumPy alone.")
    ] = "python",
    domain: DomainName = "multiattribute",
    run_name: Annotated[
        str, typer.Option("--run", help="A run whose theory it is, with the people learned there.")
    ] = "",
    runs: RunsFolder = Path("runs"),
    out: Annotated[Path | None, typer.Option(help="File to write; shown by default.")] = None,
) -> None:
    """Write a theory as a plain Python function with bounds and a start, which anyone can fit.

    In Python: `lakatos.theories.findings.exchange.standalone.write_function(theory, arrays)`.
    """
    from lakatos.flows.notebook.study import read_run
    from lakatos.flows.notebook.theory import find_theory, shapes_of
    from lakatos.theories.engine.laboratory import Laboratory
    from lakatos.theories.findings.exchange.standalone import write_function

    if run_name:
        fitted = read_run(run_name, runs=runs).theory(theory)
        chosen, task = fitted.theory, fitted.domain
    else:
        from lakatos.domains import open_domain

        task = open_domain(domain)
        with Laboratory(task, 1) as laboratory:
            chosen = find_theory(theory, task, laboratory)
    text = write_function(chosen, shapes_of(task))
    if out is None:
        write(text)
        return
    out.write_text(text, encoding="utf-8")
    Console(soft_wrap=True).print(f"written: {escape(str(out))}")


def _show(table: Any, out: Path | None) -> None:
    """Write a data frame as CSV, or print it."""
    from lakatos.flows.report.spreadsheet import csv_of

    text = csv_of(table)
    if out is None:
        write(text)
        return
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text(text, encoding="utf-8")
    Console(soft_wrap=True).print(f"written: {escape(str(out))}")


def posterior(
    theories: Annotated[
        list[str],
        typer.Argument(help="Theories of the run by name, or the beginning of their digest."),
    ],
    run_name: Annotated[
        str, typer.Option("--run", help="Name of a run, or its path; the newest by default.")
    ] = "",
    runs: RunsFolder = Path("runs"),
    experiment: Annotated[
        str, typer.Option(help="One experiment of the run; all of them by default.")
    ] = "",
    draws: Annotated[int, typer.Option(min=10, help="Draws of each chain.")] = 500,
    tune: Annotated[
        int, typer.Option(min=10, help="Draws of each chain that are thrown away first.")
    ] = 500,
    chains: Annotated[
        int | None,
        typer.Option(
            min=2, help="Chains; by default 4, or 16 where theories are sampled without gradients."
        ),
    ] = None,
    seed: Annotated[int, typer.Option(help="Of the chains.")] = 0,
    out: Annotated[
        Path | None, typer.Option(help="Folder for the posteriors, as files that ArviZ opens.")
    ] = None,
) -> None:
    """Fit theories to a run's answers by Bayesian inference; with several, compare them by leave-one-out.

    In Python: `theories.engine.fitting.posterior.fit(theory, trials, sandbox, ...)` and
    `theories.engine.fitting.posterior_check.compare(...)`.
    """
    from lakatos.flows.errors import RunMissingError
    from lakatos.flows.run.evidence import theory_of, trials_in
    from lakatos.flows.run.run import read_begun
    from lakatos.flows.run.task import domain_of
    from lakatos.theories.engine.fitting.posterior import fit
    from lakatos.theories.engine.fitting.posterior_check import compare, posterior_predictive
    from lakatos.theories.engine.sandbox.client import Sandbox
    from lakatos.theories.engine.sandbox.tracer import TracerSandbox

    console = Console()
    state, trace = read_begun(find_run(run_name, runs))
    with trace:
        collected = state.experiments.collected
        names = [experiment] if experiment else list(collected)
        if not names or any(name not in collected for name in names):
            raise RunMissingError(
                f"the run has no answers of {experiment or 'any experiment'}; "
                f"it has: {', '.join(collected) or 'none yet; `lakatos resume` goes on'}."
            )
        trials = [trials_in(trace.artifacts, state, name) for name in names]
        chosen = {name: theory_of(trace.artifacts, state, name) for name in theories}
    assert state.campaign.config is not None
    domain = domain_of(state.campaign.config)
    fitted = {}
    with Sandbox() as sandbox, TracerSandbox() as tracer:
        for name, theory in chosen.items():
            found = fit(
                theory,
                trials,
                sandbox,
                tracer=tracer,
                domain=domain,
                draws=draws,
                tune=tune,
                chains=chains,
                seed=seed,
            )
            found, checks = posterior_predictive(
                found, theory, trials, sandbox, domain=domain, seed=seed
            )
            fitted[name] = found
            _print_posterior(console, theory.short, found, checks)
            if out is not None:
                out.mkdir(parents=True, exist_ok=True)
                found.save(out / f"{theory.digest[:12]}.nc")
                console.print(
                    f"  saved: {escape(str(out / f'{theory.digest[:12]}.nc'))}", soft_wrap=True
                )
    if len(fitted) > 1:
        console.print(_comparison_table(compare(fitted)))


def _print_posterior(
    console: Console,
    theory: str,
    found: Posterior,
    checks: Sequence[PredictiveCheck],
) -> None:
    """How a theory was fitted, whether the chains can be trusted, and whether its replicas look like the answers."""
    console.print(
        f"[bold]{escape(theory)}[/bold]: {found.method} ({escape(found.reason)})", soft_wrap=True
    )
    told = found.diagnostics
    console.print(
        f"  {told.n_chains} chains of {told.n_draws} draws: R-hat {told.r_hat:.3f}, effective draws "
        f"{min(told.ess_bulk, told.ess_tail):.0f}, {told.n_divergences} divergences",
        soft_wrap=True,
    )
    for problem in told.problems:
        console.print(f"  [yellow]{escape(problem)}[/yellow]")
    for item in checks:
        line = f"  {item.experiment}, {item.name}: {item.observed:.4g}, replicated {item.replicated:.4g}"
        console.print(escape(f"{line}, p = {item.p_value:.3f}"), soft_wrap=True)


def _comparison_table(ranking: Sequence[RankedTheory]) -> Table:
    """Theories in the order of what they predict of answers left out one at a time."""
    table = Table("theory", "elpd (leave-one-out)", "behind", "stacking weight", "unreliable cells")
    for ranked in ranking:
        table.add_row(
            escape(ranked.name),
            f"{ranked.elpd_loo:.1f} ± {ranked.standard_error:.1f}",
            f"{ranked.difference:.1f} ± {ranked.difference_error:.1f}",
            f"{ranked.weight:.2f}",
            f"{ranked.n_unreliable} of {ranked.n_cells}",
        )
    return table
