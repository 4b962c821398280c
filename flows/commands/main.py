"""The command line: which commands there are, in the order of a study, and where each is.

A command is a typed function; `adapter.py` makes a command of it, `lazy.py` imports it when it is run.
"""

from __future__ import annotations

import sys
import warnings
from pathlib import Path
from typing import Annotated, Any, TextIO

import typer

from lakatos import __version__
from lakatos.flows.guard import check_packages

check_packages()

from lakatos.flows.commands.ending import run_command  # noqa: E402
from lakatos.flows.commands.lazy import LazyGroup, Noun, mounted  # noqa: E402
from lakatos.flows.errors import FormerNameWarning  # noqa: E402
from lakatos.flows.operations.carry import tether  # noqa: E402
from lakatos.traces.wording import printable  # noqa: E402

FLOWS = "lakatos.flows"
THEORY = Noun(
    "Check, import, score and fit single theories, and estimate effects on their parameters.",
    {
        "check": f"{FLOWS}.notebook.exchange:check",
        "import": f"{FLOWS}.notebook.exchange:import_theory",
        "score": f"{FLOWS}.notebook.theory:score",
        "fit": f"{FLOWS}.notebook.theory:fit",
        "groups": f"{FLOWS}.notebook.effects:effects",
        "effects": f"{FLOWS}.notebook.effects:effects",
        "predict": f"{FLOWS}.notebook.theory:predict",
        "export": f"{FLOWS}.notebook.exchange:export_theory",
        "posterior": f"{FLOWS}.notebook.posterior:posteriors",
        "path": f"{FLOWS}.report.size_path:path_of_sizes",
    },
    hidden=("groups",),
    former={"each": "Use `lakatos theory fit DATA THEORY --each`."},
)
DATA = Noun(
    "Describe, list, fetch, import and export responses; withdraw participants and expire data.",
    {
        "describe": f"{FLOWS}.commands.adopt:describe_command",
        "list": f"{FLOWS}.commands.data:list_data",
        "fetch": f"{FLOWS}.commands.data:fetch",
        "import": f"{FLOWS}.operations.people:import_answers",
        "export": f"{FLOWS}.operations.people_export:export",
        "withdraw": f"{FLOWS}.commands.data:withdraw_person",
        "more": f"{FLOWS}.commands.data:more_people",
        "expire": f"{FLOWS}.commands.data:expire_data",
    },
)
DOMAIN = Noun(
    "List kinds of task, and declare and check your own.",
    {
        "new": f"{FLOWS}.commands.domain:declare",
        "check": f"{FLOWS}.commands.domain:check",
        "list": f"{FLOWS}.commands.domain:list_domains",
    },
)
PROLIFIC = Noun(
    "Recruit participants through Prolific: plan, publish, status, pay.",
    {
        "plan": f"{FLOWS}.commands.prolific:plan",
        "publish": f"{FLOWS}.commands.prolific:publish",
        "status": f"{FLOWS}.commands.prolific:status",
        "pay": f"{FLOWS}.commands.prolific:pay",
    },
)
LAB = Noun(
    "Start and stop Prefect's server, schedules, participant pages, observatory and metrics together.",
    {
        "up": f"{FLOWS}.commands.lab:up",
        "down": f"{FLOWS}.commands.lab:down",
        "status": f"{FLOWS}.commands.lab:status",
    },
)
JUDGES = Noun(
    "Show predictions of whether a new theory will improve on the leading one, and the judges that make them.",
    {
        "list": f"{FLOWS}.commands.judges:judges_list",
        "show": f"{FLOWS}.commands.judges:judges_show",
        "epochs": f"{FLOWS}.commands.judges:judges_epochs",
        "gate": f"{FLOWS}.commands.judges:judges_gate",
        "vault": f"{FLOWS}.commands.judges:judges_vault",
        "replay": f"{FLOWS}.commands.judges:judges_replay",
        "anchor": Noun(
            "Build and show anchor sets: settled comparisons on which judges are tested.",
            {
                "build": f"{FLOWS}.commands.judges:anchor_build",
                "split": f"{FLOWS}.commands.judges:anchor_split",
            },
        ),
    },
    former={"explain": "Use `lakatos why RUN DIGEST`."},
)
MEMORY = Noun(
    "Show lessons that earlier runs of a folder recorded, and how often mechanisms proved useful.",
    {
        "list": f"{FLOWS}.commands.memory:memory_list",
        "show": f"{FLOWS}.commands.memory:memory_show",
        "recall": f"{FLOWS}.commands.memory:memory_recall",
        "odds": f"{FLOWS}.commands.memory:memory_odds",
    },
    former={
        "rebuild": "The library is read from the signed traces of its runs whenever it is needed."
    },
)
TOOLS = Noun(
    "List the analyses that language models can call, and those that the laboratory added.",
    {
        "list": f"{FLOWS}.commands.memory:tools_list",
    },
    former=dict.fromkeys(
        ("show", "validate", "retire", "run"),
        "Runs validate, call and retire tools; `lakatos tools list` shows the plan, status and use of each.",
    ),
)
MODELS = Noun(
    "Install, serve and check local language models (vLLM).",
    {
        "profiles": f"{FLOWS}.commands.models:profiles",
        "install": f"{FLOWS}.commands.models:install",
        "serve": f"{FLOWS}.commands.models:serve",
        "check": f"{FLOWS}.commands.models:check",
        "budget": f"{FLOWS}.commands.models:budget",
        "change": f"{FLOWS}.commands.models:change",
        "answers": f"{FLOWS}.commands.models:answers",
        "bridge": f"{FLOWS}.commands.models:bridge",
    },
)
PANELS: dict[str, Noun] = {
    "Start": Noun(
        "",
        {
            "demo": f"{FLOWS}.commands.study:demo",
            "explain": f"{FLOWS}.commands.study:explain",
            "doctor": f"{FLOWS}.operations.doctor:diagnose",
        },
    ),
    "Your data": Noun(
        "",
        {
            "data": DATA,
            "new": f"{FLOWS}.commands.adopt:new_command",
            "theories": f"{FLOWS}.commands.looks:theories",
            "domain": DOMAIN,
            "theory": THEORY,
        },
    ),
    "Studies": Noun(
        "",
        {
            "design": f"{FLOWS}.operations.first_design:preview_design",
            "preregister": f"{FLOWS}.commands.preregister:preregister",
            "run": f"{FLOWS}.commands.study:run",
            "resume": f"{FLOWS}.commands.study:resume",
            "status": f"{FLOWS}.commands.status_view:status",
        },
    ),
    "Participants": Noun(
        "",
        {
            "collect": f"{FLOWS}.commands.collect:collect",
            "invite": f"{FLOWS}.commands.collect:invite_command",
            "prolific": PROLIFIC,
        },
    ),
    "Findings": Noun(
        "",
        {
            "report": f"{FLOWS}.commands.looks:report",
            "why": f"{FLOWS}.report.why:why",
            "transfer": f"{FLOWS}.notebook.transfer:transfer",
            "compare-with": f"{FLOWS}.notebook.peers:compare_with",
            "audit": f"{FLOWS}.commands.audit:audit_run",
            "export": f"{FLOWS}.commands.forensics:export",
            "bundle": f"{FLOWS}.commands.audit:bundle_run",
            "view": f"{FLOWS}.commands.view:view_command",
        },
    ),
    "Laboratory": Noun(
        "",
        {
            "lab": LAB,
            "serve": f"{FLOWS}.commands.schedule:serve_command",
            "schedule": f"{FLOWS}.commands.schedule:schedule_command",
            "wake": f"{FLOWS}.commands.schedule:wake_command",
            "backup": f"{FLOWS}.commands.backup:back_up",
            "restore": f"{FLOWS}.commands.backup:restore_runs",
            "metrics": f"{FLOWS}.commands.backup:show_metrics",
        },
    ),
    "Advanced": Noun(
        "",
        {
            "judges": JUDGES,
            "memory": MEMORY,
            "tools": TOOLS,
            "models": MODELS,
            "evaluate": f"{FLOWS}.commands.forensics:evaluate",
            "rewind": f"{FLOWS}.commands.forensics:rewind",
            "anchor": f"{FLOWS}.commands.audit:publish_anchor",
        },
    ),
}
"""All commands by what a person wants to do, in the order of a study."""
FORMER = {
    "watch": "Use `lakatos wake`, called by cron.",
    "sweep": "Run many studies in a loop; docs/scheduling.md shows one.",
    "challenge": "A run tests new judges at the end of an epoch; `lakatos judges gate` shows each test.",
    "atlas": "Run `python benchmarks/run.py atlas` in a checkout; docs/atlas.md shows how.",
}
"""Former commands, each with what to use instead."""
FIRST_STEPS = """Lakatos: a laboratory in which rival theories of human behaviour compete.

  lakatos demo                            a whole study with simulated participants, and its report
  lakatos explain RESPONSES.csv           from a file of responses to a theory of them
  lakatos run STUDY.toml                  run a study up to its verdict; studies/ has examples
  lakatos status                          how far runs are, and what they wait for
  lakatos report [RUN]                    write a run's report as one HTML file

`lakatos --help` lists all commands, and `lakatos COMMAND --help` explains one.
"""


class Commands(LazyGroup):
    """All commands, in panels."""

    noun = Noun("", {}, former=FORMER)

    def __init__(self, *, commands: Any = None, **settings: Any) -> None:
        """Mount the commands of each panel."""
        super().__init__(**settings)
        for panel, noun in PANELS.items():
            self.commands.update(mounted(noun, panel))
        self.commands.update(commands or {})


app = typer.Typer(
    name="lakatos",
    cls=Commands,
    invoke_without_command=True,
    add_completion=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    help="A laboratory in which rival theories of human behaviour compete.\n\n"
    "Start with [bold]lakatos demo[/bold]; then [bold]lakatos explain responses.csv[/bold] on "
    "responses of your own. Each run has a folder of its own, can be stopped at any "
    "time and continues with [bold]lakatos resume[/bold].",
)


def _tell_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"lakatos {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    context: typer.Context,
    version_wanted: Annotated[
        bool,
        typer.Option(
            "--version", help="Print which version this is.", callback=_tell_version, is_eager=True
        ),
    ] = False,
) -> None:
    if context.invoked_subcommand is None:
        typer.echo(FIRST_STEPS, nl=False)
        raise typer.Exit(2)


def main() -> None:
    """Run what was typed; `lakatos.flows.commands.door` is the entry point of the command `lakatos`."""
    tether()
    say_warnings_plainly()
    run_command(app)


def say_warnings_plainly() -> None:
    """Print warnings that a command's own call brings as a sentence, without the place in the code."""
    as_usual, here = warnings.showwarning, Path(__file__).resolve().parent

    def say(
        message: Warning | str,
        category: type[Warning],
        filename: str,
        lineno: int,
        file: TextIO | None = None,
        line: str | None = None,
    ) -> None:
        if issubclass(category, FormerNameWarning) or Path(filename).resolve().parent == here:
            print(f"lakatos: {printable(str(message))}", file=file or sys.stderr)
        else:
            as_usual(message, category, filename, lineno, file, line)

    warnings.showwarning = say


if __name__ == "__main__":
    main()
