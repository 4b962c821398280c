"""The commands of ``lakatos models``: serve local language models, and see what a server can do.

vLLM runs in an environment and processes of its own; see `language_models/serving/`.
"""

from __future__ import annotations

import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer
from rich.table import Table

from lakatos.flows.argument import Argument
from lakatos.flows.commands.options import RunNeeded
from lakatos.flows.run.console import Console, escape
from lakatos.flows.run.places import find_run
from lakatos.traces.system import ending_signals

if TYPE_CHECKING:
    from lakatos.language_models.serving.check import ServingReport
    from lakatos.language_models.serving.launch import ServerLaunch
    from lakatos.language_models.serving.profile import ServingProfile
    from lakatos.language_models.settings import ModelSettings

RuntimeName = Annotated[
    Literal["gpu", "cpu"],
    Argument(help="Official build for NVIDIA GPUs, or unofficial build for processors."),
]
ProfileName = Annotated[
    str, Argument(help="A TOML file, or the name of a ready profile; see `profiles`.")
]
Port = Annotated[int | None, Argument(help="Another port than the profile's.", least=1, most=65535)]
Log = Annotated[Path, Argument(help="Folder for the server's log.")]


def profiles() -> None:
    """List the profiles of models that can be served, with the hardware they need.

    Examples:
        $ lakatos models profiles
    """
    from lakatos.language_models.serving.profile import load_profile, ready_profiles

    table = Table("profile", "model", "context", "for")
    for name in ready_profiles():
        profile = load_profile(name)
        table.add_row(name, profile.model, str(profile.context or ""), escape(profile.description))
    Console().print(table)


def install(*, runtime: RuntimeName = "gpu") -> None:
    """Install vLLM into an environment of its own from its lock file, and check it.

    In Python: `language_models.serving.environment.install(runtime)`.

    Examples:
        $ lakatos models install --runtime cpu
    """
    from lakatos.language_models.serving.environment import install as make
    from lakatos.language_models.serving.environment import look

    say = _printer()
    made = make(runtime, say)
    about = look(runtime, made.folder)
    say(
        f"vLLM {about['vllm']} with PyTorch {about['torch']} in {made.folder}; knows {len(made.flags())} flags"
    )
    if runtime == "gpu" and not about["devices"]:
        say("no GPU is to be seen here, so it cannot serve on this machine")
    for name, memory in zip(about["devices"], about["memory_gib"], strict=True):
        say(f"GPU: {name}, {memory:.0f} GiB")


def serve(
    profile: ProfileName,
    *,
    port: Port = None,
    restarts: Annotated[int, Argument(least=0)] = 5,
    log: Log = Path("runs/models"),
) -> None:
    """Start vLLM with a profile and restart it after crashes, until interrupted.

    In Python: `language_models.serving.server.supervise(prepare(profile, environment), log)`.

    Args:
        restarts: Consecutive crashes after which it is not restarted.

    Examples:
        $ lakatos models serve tiny/profile.toml
    """
    from lakatos.language_models.serving.server import RestartPolicy, supervise

    chosen = _profile(profile, port)
    launch = _launch(chosen)
    say, file = _printer(), _log_file(log, chosen)
    say(f"{chosen.name}: {chosen.model}; log: {file}")
    if chosen.revision is None and not chosen.model.startswith("/"):
        say("the profile names no revision, so the model may change under its name")

    def ready(_: Any) -> None:
        key = f', key_variable = "{chosen.api_key_variable}"' if chosen.api_key_variable else ""
        say(
            f'in a study: client = "openai", base_url = "{launch.base_url}", model = "{launch.model}", '
            f'revision = "{chosen.fingerprint}"{key}'
        )

    with _asked_to_stop():
        try:
            supervise(
                launch, file, restarts=RestartPolicy(limit=restarts), progress=say, ready=ready
            )
        except KeyboardInterrupt:
            say("stopped")


def check(
    profile: str = "",
    *,
    base_url: str = "",
    model: str = "",
    key_variable: str = "",
    calls: Annotated[int, Argument(least=1)] = 5,
    port: Port = None,
) -> None:
    """Send a typical prompt of each role to a server and report which succeed; exit status 1 if one fails.

    In Python: `language_models.serving.check.check(settings, shapes)`.

    Args:
        profile: Profile that is served; or use --base-url and --model.
        base_url: Address of any server, up to and with /v1.
        model: Name of the model on the server.
        key_variable: Environment variable that holds the key.
        calls: Timed calls for each shape of prompt.

    Examples:
        $ lakatos models check --base-url http://127.0.0.1:8000/v1 --model NAME
    """
    import asyncio

    from lakatos.flows.roles.shapes import role_shapes
    from lakatos.language_models.serving.check import check as try_out
    from lakatos.language_models.serving.shape import REPRESENTATIVE
    from lakatos.language_models.settings import model_at

    if profile:
        settings = _settings(_profile(profile, port))
    else:
        if not (base_url and model):
            raise typer.BadParameter("give a profile, or both --base-url and --model")
        settings = model_at(base_url, model, key_variable)
    others = [
        item for item in REPRESENTATIVE if item.request.tools or item.request.n_log_probabilities
    ]
    report = asyncio.run(try_out(settings, [*role_shapes(), *others], n_calls=calls))
    _show(report)
    if not report.serves:
        raise typer.Exit(1)


def budget(
    run_name: RunNeeded,
    *,
    runs: Annotated[Path, Argument(environment="LAKATOS_RUNS")] = Path("runs"),
    requests: Annotated[int | None, Argument(least=0)] = None,
    tokens: Annotated[int | None, Argument(least=0)] = None,
    money: Annotated[float | None, Argument(least=0)] = None,
) -> None:
    """Show what the language models of a run have used; with options, change the run's budget.

    In Python: `lakatos.flows.roles.budget.raise_budget(folder, budget)`.

    Args:
        runs: Folder that holds the runs.
        requests: Maximum number of requests in the whole run.
        tokens: Maximum number of tokens in the whole run.
        money: Maximum cost of the whole run.

    Examples:
        $ lakatos models budget taste-1 --requests 500
    """
    from lakatos.flows.roles.budget import raise_budget, taken
    from lakatos.language_models.ledger import Budget

    folder = find_run(run_name, runs)
    if (requests, tokens, money) != (None, None, None):
        raise_budget(folder, Budget(requests=requests, tokens=tokens, money=money))
    amount, limits = taken(folder)
    table = Table("", "taken", "at most")
    for name, used in (
        ("requests", amount.requests),
        ("tokens", amount.tokens),
        ("money", amount.millionths / 1e6),
    ):
        limit = getattr(limits, name)
        table.add_row(name, f"{used:g}", "no limit" if limit is None else f"{limit:g}")
    Console().print(table)


def change(
    run_name: RunNeeded,
    name: Annotated[str, Argument(help="The model, as the study calls it.")],
    *,
    runs: Annotated[Path, Argument(environment="LAKATOS_RUNS")] = Path("runs"),
    base_url: str = "",
    model: str = "",
    key_variable: str = "",
    context_tokens: Annotated[int | None, Argument(least=1)] = None,
    timeout_s: Annotated[float | None, Argument(least=1)] = None,
    most_in_flight: Annotated[int | None, Argument(least=1)] = None,
) -> None:
    """Give a model of a run other settings, for instance after a wrong key or address; then resume the run.

    In Python: `lakatos.flows.roles.budget.change_model(folder, name, changes)`.

    Args:
        runs: Folder that holds the runs.
        base_url: Address up to and with /v1.
        model: Its name on the server.
        key_variable: Environment variable that holds the key.
        context_tokens: Most tokens of prompt and answer together.
        timeout_s: Seconds after which a call is given up.
        most_in_flight: Most simultaneous calls.

    Examples:
        $ lakatos models change taste-1 writer --base-url http://127.0.0.1:8000/v1
    """
    from lakatos.flows.roles.budget import change_model

    given = {
        "base_url": base_url,
        "model": model,
        "key_variable": key_variable,
        "context_tokens": context_tokens,
        "timeout_s": timeout_s,
        "most_in_flight": most_in_flight,
    }
    changes = {key: value for key, value in given.items() if value not in ("", None)}
    if not changes:
        raise typer.BadParameter("give at least one setting to change, such as --base-url")
    folder = find_run(run_name, runs)
    change_model(folder, name, changes)
    shown = ", ".join(f"{key} = {value}" for key, value in changes.items())
    Console().print(
        escape(f"model {name!r}: {shown}. Go on with: lakatos resume {folder}"), soft_wrap=True
    )


def answers(
    run_name: RunNeeded,
    *,
    runs: Annotated[Path, Argument(environment="LAKATOS_RUNS")] = Path("runs"),
) -> None:
    """List the answers of language models in a run, and how each was used.

    In Python: `lakatos.flows.roles.answers.answers_in(folder)`.

    Args:
        runs: Folder that holds the runs.

    Examples:
        $ lakatos models answers taste-1
    """
    from lakatos.flows.roles.answers import answers_in

    table = Table("", "what became of it", "n")
    for name, value in answers_in(find_run(run_name, runs)).items():
        for key, item in _flat(value):
            table.add_row(name, escape(key), str(item))
    Console().print(table)


def _flat(value: Any, place: str = "") -> Iterator[tuple[str, Any]]:
    """Turn nested counts into rows of name and value."""
    if not isinstance(value, dict):
        yield place, value
        return
    for name, item in value.items():
        yield from _flat(item, f"{place}, {name}" if place else str(name))


def bridge(
    folder: Path,
    *,
    port: Annotated[int, Argument(least=1, most=65535)] = 8000,
    who: str = "somebody",
    wait: Annotated[float, Argument(least=1)] = 240.0,
    context: Annotated[int, Argument(least=1024)] = 65_536,
    most: Annotated[int, Argument(least=1)] = 5000,
    terminal: bool = False,
) -> None:
    """Serve a folder as a language model: requests are written to it as files, and answers are read from it.

    In Python: `language_models.bridge.app.create_bridge(QuestionFolder(folder), settings)`.

    Args:
        folder: Folder of the questions and their answers.
        port: Port, on this machine only.
        who: Author of the answers, recorded with each.
        wait: Seconds after which a request must be repeated.
        context: Tokens of prompt and answer together.
        most: Maximum number of open questions in the folder.
        terminal: Also accept answers typed in this terminal.

    Examples:
        $ lakatos models bridge questions --port 8001
    """
    import sys
    import threading

    from lakatos.experiments.participants.web.door import HostGuard
    from lakatos.language_models.bridge.app import BridgeSettings, create_bridge
    from lakatos.language_models.bridge.folder import QuestionFolder
    from lakatos.language_models.bridge.terminal import answer_from_terminal
    from lakatos.language_models.serving.app_thread import running_app

    settings = BridgeSettings(who=who, wait_s=wait, context_tokens=context)
    questions, say, over = QuestionFolder(folder, most), _printer(), threading.Event()
    server = create_bridge(questions, settings)
    server.add_middleware(HostGuard, own_pages=True)
    with _asked_to_stop(), running_app(server, port) as base_url:
        say(f'in a study: base_url = "{base_url}", model = "{settings.model}"')
        say(f"questions come to {questions.folder}")
        try:
            if terminal:
                answer_from_terminal(questions, sys.stdin, print)
            over.wait()
        except KeyboardInterrupt:
            say("stopped")


def _profile(named: str, port: int | None) -> ServingProfile:
    from lakatos.language_models.serving.profile import load_profile

    profile = load_profile(named)
    return profile if port is None else profile.model_copy(update={"port": port})


def _launch(profile: ServingProfile) -> ServerLaunch:
    from lakatos.language_models.serving.environment import find_environment
    from lakatos.language_models.serving.launch import prepare

    return prepare(profile, find_environment(profile.runtime))


def _settings(profile: ServingProfile) -> ModelSettings:
    from lakatos.language_models.serving.launch import settings_of

    return settings_of(profile)


def _log_file(folder: Path, profile: ServingProfile) -> Path:
    return folder / f"{profile.name}-{profile.port}.log"


def _printer() -> Any:
    console, begun = Console(stderr=True, highlight=False), time.monotonic()
    return lambda text: console.print(
        f"{time.monotonic() - begun:6.1f} s  {escape(text)}", soft_wrap=True
    )


@contextmanager
def _asked_to_stop() -> Iterator[None]:
    """Let SIGTERM and SIGHUP stop as Ctrl-C does, so that no server is left behind."""
    numbers = ending_signals()
    before = {number: signal.signal(number, signal.default_int_handler) for number in numbers}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _show(report: ServingReport) -> None:
    console = Console()
    colour = {"works": "green", "partly": "yellow", "unknown": "yellow", "fails": "red"}
    table = Table("role", "what", "state", "detail", title=f"{report.model} ({report.server})")
    for finding in report.findings:
        state = f"[{colour[finding.state]}]{finding.state}[/]"
        table.add_row(finding.role or "server", finding.feature, state, escape(finding.detail))
    console.print(table)
    figures = Table(
        "role", "calls", "prompt tokens", "answer tokens", "first token, ms", "tokens per s", "whole, ms", "cached",
        title="one call at a time; medians",
    )  # fmt: skip
    for item in report.figures:
        figures.add_row(
            item.role,
            str(item.n_calls),
            str(item.n_prompt_tokens),
            f"{item.n_tokens:.0f}",
            f"{1000 * item.first_token_s:.0f}",
            f"{item.tokens_per_s:.0f}",
            f"{1000 * item.total_s:.0f}",
            f"{item.cached_share:.0%}",
        )
    console.print(figures)
