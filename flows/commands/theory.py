"""The commands of ``lakatos theory``: check a theory of your own, bring one in, and fit one to a run's answers."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table

app = typer.Typer(
    no_args_is_help=True,
    help="One theory at a time: check it, bring it in, fit it to people's answers.",
)
RunsFolder = Annotated[
    Path, typer.Option("--runs", envvar="LAKATOS_RUNS", help="Folder that holds the runs.")
]
DomainName = Annotated[
    str, typer.Option(help="Kind of task that the theory is about, or the file that declares it.")
]


@app.command()
def check(
    file: Annotated[Path, typer.Argument(help="Source of the theory.")],
    domain: DomainName = "multiattribute",
    json: Annotated[bool, typer.Option("--json", help="For a machine.")] = False,
) -> None:
    """Try everything that a theory must prove before it enters; exit status 1 when it may not.

    In Python: `theories.check.check_theory(program, domain, sandbox)`.
    """
    from lakatos.experiments.domains import open_domain
    from lakatos.theories.check import check_theory
    from lakatos.theories.sandbox.client import Sandbox
    from lakatos.theories.theory import TheoryProgram

    task = open_domain(domain)
    with Sandbox() as sandbox:
        report = check_theory(TheoryProgram(_text(file), "you"), task, sandbox)
    if json:
        from json import dumps

        print(dumps(report.to_json(), indent=1))
    else:
        print(report.to_text(), end="")
    if not report.passed:
        raise typer.Exit(1)


@app.command("import")
def bring_in(
    file: Annotated[
        Path,
        typer.Argument(help="JSON with description, predict_source, policy_source and parameters."),
    ],
    name: Annotated[
        str, typer.Option(help="Of the theory; the beginning of its description by default.")
    ] = "",
) -> None:
    """Print a theory written for AutoCog as a theory of this laboratory; name the file in a study's theories.files.

    In Python: `theories.peer.import_autocog(text, sandbox)`.
    """
    from lakatos.theories.peer import import_autocog
    from lakatos.theories.sandbox.client import Sandbox

    with Sandbox() as sandbox:
        print(import_autocog(_text(file), sandbox, name=name).source, end="")


@app.command()
def posterior(
    theories: Annotated[
        list[str],
        typer.Argument(help="Theories of the run by name, or the beginning of their digest."),
    ],
    run: Annotated[
        str, typer.Option(help="Name of a run, or its path; the newest by default.")
    ] = "",
    runs: Annotated[
        Path, typer.Option("--runs", envvar="LAKATOS_RUNS", help="Folder that holds the runs.")
    ] = Path("runs"),
    experiment: Annotated[
        str, typer.Option(help="One experiment of the run; all of them by default.")
    ] = "",
    draws: Annotated[int, typer.Option(min=10, help="Draws of each chain.")] = 500,
    tune: Annotated[
        int, typer.Option(min=10, help="Draws of each chain that are thrown away first.")
    ] = 500,
    chains: Annotated[int, typer.Option(min=2)] = 4,
    seed: int = 0,
    out: Annotated[
        Path | None, typer.Option(help="Folder for the posteriors, as files that ArviZ opens.")
    ] = None,
) -> None:
    """Fit theories to a run's answers by Bayesian inference; with several, compare them by leave-one-out.

    In Python: `theories.posterior.fit(theory, trials, sandbox, ...)` and `theories.posterior_check.compare(...)`.
    """
    from lakatos.flows.errors import RunMissingError
    from lakatos.flows.run.places import find_run
    from lakatos.flows.run.run import read_state, theory_of, trials_in
    from lakatos.flows.run.task import domain_of
    from lakatos.theories.posterior import fit
    from lakatos.theories.posterior_check import compare, posterior_predictive
    from lakatos.theories.sandbox.client import Sandbox
    from lakatos.theories.sandbox.tracer import TracerSandbox

    console = Console()
    state, trace = read_state(find_run(run, runs))
    with trace:
        names = [experiment] if experiment else list(state.collected)
        if not names or any(name not in state.collected for name in names):
            raise RunMissingError(
                f"the run has no answers of {experiment or 'any experiment'}; it has: {', '.join(state.collected)}."
            )
        trials = [trials_in(trace, state, name) for name in names]
        chosen = {name: theory_of(trace, state, name) for name in theories}
    assert state.config is not None
    domain = domain_of(state.config)
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
            console.print(
                f"[bold]{escape(theory.short)}[/bold]: {found.method} ({escape(found.reason)})",
                soft_wrap=True,
            )
            told = found.diagnostics
            console.print(
                f"  R-hat {told.r_hat:.3f}, effective draws {told.ess_bulk:.0f}, {told.n_divergences} divergences"
            )
            for problem in told.problems:
                console.print(f"  [yellow]{escape(problem)}[/yellow]")
            for item in checks:
                line = f"  {item.experiment}, {item.name}: {item.observed:.4g}, replicated {item.replicated:.4g}"
                console.print(escape(f"{line}, p = {item.p_value:.3f}"), soft_wrap=True)
            if out is not None:
                out.mkdir(parents=True, exist_ok=True)
                found.save(out / f"{theory.digest[:12]}.nc")
                console.print(
                    f"  saved: {escape(str(out / f'{theory.digest[:12]}.nc'))}", soft_wrap=True
                )
    if len(fitted) > 1:
        table = Table(
            "theory", "elpd (leave-one-out)", "behind", "stacking weight", "unreliable cells"
        )
        for ranked in compare(fitted):
            table.add_row(
                escape(ranked.name),
                f"{ranked.elpd_loo:.1f} ± {ranked.standard_error:.1f}",
                f"{ranked.difference:.1f} ± {ranked.difference_error:.1f}",
                f"{ranked.weight:.2f}",
                f"{ranked.n_unreliable} of {ranked.n_cells}",
            )
        console.print(table)


def _text(file: Path) -> str:
    from lakatos.flows.errors import StudyError

    try:
        return file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise StudyError(
            f"cannot read {file}: {getattr(error, 'strerror', None) or 'it is not UTF-8 text'}."
        ) from None
