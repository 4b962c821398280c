"""The commands `lakatos domain ...`: declare a task, look at one, see which there are."""

from __future__ import annotations

from pathlib import Path

from rich.table import Table

from lakatos.flows.run.console import Console, escape, write


def new(file: Path) -> None:
    """Write a commented declaration of a task, to be changed.

    In Python: `lakatos.flows.operations.tasks.new_task(file)`.

    Args:
        file: The file to write, such as fairness.toml.

    Examples:
        $ lakatos domain new fairness.toml
    """
    from lakatos.flows.operations.tasks import new_task

    made = escape(str(new_task(file)))
    Console(soft_wrap=True).print(
        f"{made} is written. Change it; then: lakatos domain check {made}"
    )


def check(domain: str, *, page: Path | None = None, seed: int = 0) -> None:
    """Check a task and show it: sample trials, the size of its space, what theories see, and its rivals.

    In Python: `lakatos.flows.operations.tasks.examine_task(domain)`.

    Args:
        domain: A file that declares a task, or a domain's name.
        page: Write the sample trials as people see them, as HTML.
        seed: Another number shows other trials.

    Examples:
        $ lakatos domain check fairness.toml --page fairness.html
    """
    from lakatos.flows.operations.tasks import examine_task
    from lakatos.traces.artifact import write_whole

    found = examine_task(domain, seed)
    write(found.to_text())
    if page is not None:
        write_whole(page, found.to_page().encode())
        write(f"as people see them: {page}\n")


def list_command(folder: Path = Path()) -> None:
    """Domains of the package, and tasks declared in a folder.

    In Python: `lakatos.domains.DOMAINS`, `lakatos.flows.operations.tasks.files_with_tasks(folder)`.

    Args:
        folder: Where your declarations are.

    Examples:
        $ lakatos domain list
    """
    from lakatos.domains import DOMAINS
    from lakatos.flows.operations.tasks import files_with_tasks

    table = Table("domain", "options", "from")
    for name, domain in DOMAINS.items():
        table.add_row(name, escape(", ".join(domain.options)), "the package")
    for path, name in files_with_tasks(folder):
        table.add_row(escape(name), "", escape(str(path)))
    Console().print(table)
