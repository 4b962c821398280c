"""The commands `lakatos domain ...`: declare a task, look at one, see which there are."""

from __future__ import annotations

from pathlib import Path

from rich.table import Table

from lakatos.domains import DOMAINS
from lakatos.flows.argument import columns_of_options
from lakatos.flows.commands.options import ColumnOptions
from lakatos.flows.errors import UnusableError
from lakatos.flows.operations.tasks import examine_task, files_with_tasks, new_task
from lakatos.flows.result import PlainText, Sentences
from lakatos.flows.run.console import escape
from lakatos.traces.artifact import write_whole


def declare(file: Path, *, data: Path | None = None, column: ColumnOptions = None) -> Sentences:
    """Write a declaration of a task: a commented template to edit, or the task of a file of responses.

    Args:
        file: The file to write, such as fairness.toml.
        data: File of responses whose columns are named by options and attributes, such as price_A and price_B.

    Examples:
        $ lakatos domain new fairness.toml
        $ lakatos domain new route.toml --data responses.csv
        >>> lakatos.flows.operations.tasks.new_task(file)  # doctest: +SKIP
    """
    made = escape(str(new_task(file, data, columns_of_options(column))))
    return Sentences(f"{made} is written. Change it; then: lakatos domain check {made}")


def check(domain: str, *, page: Path | None = None, seed: int = 0) -> PlainText:
    """Check a task and show sample trials, the number of possible trials, its variables and its theories.

    Args:
        domain: A file that declares a task, or a domain's name.
        page: HTML file to write: the sample trials as participants see them.
        seed: Random seed of the sample trials.

    Examples:
        $ lakatos domain check fairness.toml --page fairness.html
        >>> lakatos.flows.operations.tasks.examine_task("fairness.toml")  # doctest: +SKIP
    """
    found = examine_task(domain, seed)
    if page is None:
        return PlainText(found.to_text())
    write_whole(page, found.to_page().encode())
    return PlainText(f"{found.to_text()}as participants see them: {page}\n")


def list_domains(folder: Path = Path()) -> Sentences:
    """List the kinds of task of the package, and those that a folder declares.

    Args:
        folder: Folder that holds your declarations.

    Examples:
        $ lakatos domain list
    """
    if not folder.is_dir():
        raise UnusableError(
            f"there is no folder {folder}; name the one that holds your declarations."
        )
    table = Table("domain", "options", "from")
    for name, domain in DOMAINS.items():
        table.add_row(name, escape(", ".join(domain.options)), "the package")
    for path, name in files_with_tasks(folder):
        table.add_row(escape(name), "", escape(str(path)))
    return Sentences(table)
