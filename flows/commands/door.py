"""Entry point of the command `lakatos`: a look at runs is answered at once, everything else by `main`.

Building the command line takes half a second of a processor, which is longer than `lakatos status` itself.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path


def main() -> None:
    """Run the command that was typed; an installation that is not whole ends it with one sentence."""
    if sys.version_info < (3, 11):  # noqa: UP036  # a checkout can be started by any Python
        sys.exit(
            f"lakatos: Python 3.11 or newer is needed, and this is {sys.version.split()[0]}. "
            "`python3 start.py demo` in the checkout looks for a newer one."
        )
    from lakatos.traces.system import let_console_replace

    let_console_replace()
    try:
        run()
    except ModuleNotFoundError as error:
        missing = (error.name or "").partition(".")[0]
        if missing in {"", "lakatos"} or os.environ.get("LAKATOS_DEBUG"):
            raise
        sys.exit(
            f"lakatos: the package {missing!r} is missing in {sys.prefix}: its installation was not "
            "finished, or this is another Python. Run `python3 start.py lakatos --help` in the checkout, or "
            "install lakatos again."
        )


def run() -> None:
    """Run the command that was typed."""
    plain = plain_status(sys.argv[1:], os.environ.get("LAKATOS_RUNS", ""))
    if plain is None:
        from lakatos.flows.commands import main as commands

        commands.main()
        return
    from lakatos.flows.guard import check_packages

    check_packages()

    from lakatos.flows.commands.ending import run_command
    from lakatos.flows.commands.status_view import status
    from lakatos.flows.result import show_lines
    from lakatos.flows.run.console import Console

    name, runs = plain
    run_command(lambda: show_lines(Console(), status(name, runs=runs).lines()))


def plain_status(words: list[str], runs: str) -> tuple[str, Path] | None:
    """The run and the folder of runs that `lakatos status [RUN] [--runs FOLDER]` asks about.

    Args:
        words: The command line, without the program.
        runs: Folder of the runs unless the command names one.

    Returns:
        None for any other command line, help and errors included.
    """
    if words[:1] != ["status"]:
        return None
    rest = words[1:]
    if "--runs" in rest[:-1]:
        place = rest.index("--runs")
        runs, rest = rest[place + 1], rest[:place] + rest[place + 2 :]
    if len(rest) > 1 or any(word.startswith("-") for word in (*rest, runs)):
        return None
    return (rest[0] if rest else ""), Path(runs or "runs")


if __name__ == "__main__":
    main()
