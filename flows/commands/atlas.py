"""The commands ``lakatos atlas run|show``: a campaign for each public data set, and one page over all of them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from lakatos.flows.argument import Argument
from lakatos.flows.commands.options import DataFolder, RunsFolder
from lakatos.flows.run.console import Console, escape
from lakatos.flows.run.parts import EngineName

ATLAS = Path("studies/atlas")
Studies = Annotated[
    Path, Argument(help="Folder of study files, one for each data set; a new one is a file.")
]
Bundles = Annotated[
    Path | None,
    Argument(
        flag="--bundles",
        help="Write a signed bundle of each campaign here, too, from which it can be audited.",
    ),
]


def run_command(
    studies: Studies = ATLAS,
    *,
    data: DataFolder = None,
    runs: RunsFolder = Path("runs"),
    only: list[str] | None = None,
    parallel: Annotated[int, Argument(least=1)] = 1,
    workers: Annotated[int, Argument(least=1)] = 2,
    engine: EngineName = "none",
    travels: bool = True,
    bundles: Bundles = None,
) -> None:
    """Run the campaigns of an atlas, or go on with those that are not finished; then write its page.

    Exit status 1 if a campaign failed; the others are not hurt. The same command goes on where it stopped.
    In Python: `lakatos.flows.operations.atlas` and `lakatos.flows.operations.sweep.run_sweep`.

    Args:
        only: Name of a study.
        parallel: Campaigns at the same time.
        workers: Theories that run at the same time in each.
        engine: What carries the campaigns.
        travels: Try each leader on the other data sets of its domain.

    Examples:
        $ lakatos atlas run --data data --parallel 2
    """
    from lakatos.flows.commands.sweep import show_plainly
    from lakatos.flows.errors import FlowError, StudyError
    from lakatos.flows.operations.atlas import atlas_cells, load_atlas, travel
    from lakatos.flows.operations.sweep import run_sweep

    console, found = Console(), load_atlas(studies)
    unknown = sorted(set(only or ()) - set(found))
    if unknown:
        raise StudyError(f"{studies} has no study {unknown[0]!r}; it has {', '.join(found)}.")
    chosen = {name: config for name, config in found.items() if not only or name in only}
    folder = runs / studies.name
    outcomes = run_sweep(
        folder,
        atlas_cells(chosen),
        data=data,
        engine=engine,
        parallel=parallel,
        workers=workers,
        show=show_plainly(console),
    )
    if travels:
        travel(
            folder,
            found,
            data=data,
            n_workers=workers,
            show=lambda text: console.print(escape(text), soft_wrap=True),
        )
    _write(console, folder, list(found), None, bundles)
    failed = [item for item in outcomes if item.state == "failed"]
    if failed:
        raise FlowError(
            f"{len(failed)} of {len(outcomes)} campaigns failed, the first, {failed[0].cell.name}, with: "
            f"{failed[0].text} The others are not hurt; the same command tries the failed ones again."
        )


def show_command(
    studies: Studies = ATLAS,
    *,
    runs: RunsFolder = Path("runs"),
    markdown: Path | None = None,
    bundles: Bundles = None,
) -> None:
    """Write the page over all data sets of an atlas again, and a report for each.

    In Python: `lakatos.flows.operations.atlas_page.write_atlas(folder, entries)`.

    Args:
        markdown: Write the same as a Markdown file here, too.

    Examples:
        $ lakatos atlas show --markdown atlas.md
    """
    from lakatos.flows.operations.atlas import load_atlas

    _write(Console(), runs / studies.name, list(load_atlas(studies)), markdown, bundles)


def _write(
    console: Console, folder: Path, names: list[str], markdown: Path | None, bundles: Path | None
) -> None:
    from lakatos.flows.operations.atlas import read_atlas
    from lakatos.flows.operations.atlas_page import write_atlas, write_markdown

    entries = read_atlas(folder, names)
    missing = sorted(set(names) - {entry.name for entry in entries})
    page = write_atlas(folder, entries, missing)
    console.print(f"{len(entries)} of {len(names)} data sets: {escape(str(page))}", soft_wrap=True)
    if markdown is not None:
        write_markdown(markdown, entries, missing)
        console.print(f"as Markdown: {escape(str(markdown))}", soft_wrap=True)
    if bundles is not None:
        from lakatos.flows.audit.bundle import bundle

        for entry in entries:
            made = bundle(entry.folder, bundles / f"{entry.name}.bundle.zip")
            console.print(f"bundle: {escape(str(made))}", soft_wrap=True)
