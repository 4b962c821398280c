"""Transfer of a theory to responses that were not used to find it, beside published theories and generic learners."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import pandas as pd
from rich.table import Table

from lakatos.domains import DOMAINS, open_domain
from lakatos.experiments.task import Domain
from lakatos.experiments.task_file import task_file_of
from lakatos.flows.argument import Argument, Columns, DataFolder, RunsFolder, Workers
from lakatos.flows.errors import TransferError
from lakatos.flows.notebook.answers import PeoplesAnswers, adopt
from lakatos.flows.notebook.fitted import FittedTheory, TheoryLike, find_theory
from lakatos.flows.notebook.frames import interval_columns
from lakatos.flows.operations.transfer import (
    TransferMeasured,
    TransferTarget,
    TravellingTheory,
    find_target,
    find_travelling,
    measure_transfer,
    task_of_run,
    write_transfer,
)
from lakatos.flows.report.transfer_figure import draw_transfer
from lakatos.flows.result import Result, Shown
from lakatos.flows.run.console import escape
from lakatos.theories.engine.laboratory import Laboratory
from lakatos.theories.engine.scoring.score import mean_score
from lakatos.theories.findings.transfer import N_DRAWS, WAYS
from lakatos.theories.language.theory import read_program
from lakatos.traces.wording import plural

MOST_PUBLISHED = 5
"""Published theories in the table; the record has all."""


@dataclass(frozen=True, repr=False)
class TransferComparison(Result):
    """Scores of a transferred theory and its rivals, as `transfer` returns them."""

    measured: TransferMeasured
    """Record of the transfer."""
    folder: Path
    """Folder for the record and the figure that `keep` writes."""
    notes: tuple[str, ...] = ()

    def to_frame(self) -> pd.DataFrame:
        """Return a row for each theory and way of its use; see `WAYS`.

        ``score`` is in nats per choice, ``behind`` is the difference to the best published theory; intervals are 95%.
        """
        measured = self.measured
        rows = [
            {
                "role": line.role,
                "name": line.name,
                "way": WAYS[line.way],
                **interval_columns("score", mean_score(line.units)),
                **interval_columns("behind", measured.behind_textbook(line)),
                **interval_columns("completeness", measured.completeness(line)),
            }
            for line in measured.lines
            if line.role != "textbook"
        ]
        return pd.DataFrame(rows)

    def lines(self) -> Iterator[Shown]:
        """Return scores, differences to the best published theory, completeness, and the theories without a score."""
        measured = self.measured
        yield f"[bold]{escape(measured.name)}[/bold], from {escape(measured.origin)}"
        yield self._table()
        if measured.left_out:
            yield escape(measured.left_out)
        for name, why in measured.failed.items():
            yield escape(f"{name} does not run here: {why}")

    def keep(self) -> Iterator[Shown]:
        """Write the record and the figure to `folder`."""
        file = write_transfer(self.measured, self.folder)
        self.draw(self.folder / "transfer.svg")
        self.draw(self.folder / "transfer.png")
        yield f"record and figure: {escape(str(file.parent))}"

    def draw(self, file: Path) -> None:
        """Draw the difference of each theory to the best published one into a file, SVG or PNG by its ending."""
        draw_transfer(f"{self.measured.name} on {self.measured.data}", self.measured.lines, file)

    def _table(self) -> Table:
        """Table of scores, differences to the best published theory and completeness, each with two standard errors."""
        measured = self.measured
        table = Table(
            "theory",
            "population",
            "nats per choice",
            "behind the best published",
            "completeness",
            title=f"{escape(measured.data)}: {plural(len(measured.experiments), 'experiment')}",
            caption="best published: the published theory with the highest score, re-estimated from these responses; "
            "completeness: 0 guessing, 1 generic learners; ± two standard errors",
        )
        published = measured.of("published")
        for line in measured.lines:
            if line in published[MOST_PUBLISHED:]:
                continue
            is_textbook = line.role == "textbook" or line in published[:1]
            name = "other participants' responses" if line.role == "noise" else line.name
            name = escape(f"{name} (best published)" if is_textbook else name)
            table.add_row(
                f"[bold]{name}[/bold]" if line.role == "theory" else name,
                f"{WAYS[line.way]}{' (second half)' if line.half else ''}",
                _with_error(line.score, line.score_error, 4),
                "" if is_textbook else _with_error(line.behind, line.behind_error, 4),
                _with_error(line.completeness, line.completeness_error, 2),
            )
        return table


def _with_error(value: float | None, error: float | None, digits: int) -> str:
    if value is None or error is None:
        return ""
    return f"{value:.{digits}f} ± {2 * error:.{digits}f}" if error < 1e6 else f"{value:.{digits}f}"


def transfer(
    theory: Annotated[TheoryLike, Argument(kind=str)],
    to: Annotated[Any, Argument(kind=str, flag="--to")],
    *,
    of: Annotated[str, Argument(flag="--theory")] = "",
    experiments: str = "*",
    domain: str = "",
    columns: Columns = None,
    out: str | os.PathLike[str] | None = None,
    n_draws: Annotated[int, Argument(flag="--draws", least=16)] = N_DRAWS,
    seed: int = 0,
    data: DataFolder = None,
    runs: RunsFolder = "runs",
    n_workers: Workers = 2,
) -> TransferComparison:
    """Score a theory on responses that were not used to find it: unchanged, rescaled, and fitted per participant.

    All published theories of the task and generic learners are scored beside it, with populations estimated from the
    new responses. The command writes a record and a figure.

    Args:
        theory: A run (its leader), the source file of a theory, or the name of a published one; in Python also a
            theory, fitted or not.
        to: Responses: a published data set (`lakatos data list` lists them), a run, or a file; in
            Python also a data frame, or what `adopt` returned.
        of: Name of a theory of the run; the leading theory by default.
        experiments: Pattern of names of experiments, such as `cardinal-*`.
        domain: Kind of task of a file, or the file that declares it; that of the run by default, otherwise guessed.
        columns: Meaning of a column of a file, as in participant=VP; in Python a mapping, as for `adopt`.
        out: Folder for the record and the figure.
        n_draws: Number of simulated participants per prediction, a power of two.
        seed: Random seed of the generic learners.
        data: Folder of the published data sets.
        runs: Folder that holds the runs.
        n_workers: Theories scored at the same time. Does not change results.

    Returns:
        Log score per response of each theory with its paired standard error; ``to_frame()``, ``text``, ``draw(file)``,
        and ``keep()``, which writes the record.

    Raises:
        TransferError: The theory is of another domain, does not run on these trials, or was found on these responses.
        DataMissingError: There are no such responses.

    Examples:
        $ lakatos transfer mine-1 --to risky_cpc18
        $ lakatos transfer expected_utility --to responses.csv
        >>> lakatos.transfer(lakatos.read_run("mine-1").theory(), "others.csv")  # doctest: +SKIP
    """
    runs, data = Path(runs), None if data is None else Path(data)
    if n_draws & (n_draws - 1):
        raise TransferError(f"--draws is {n_draws}; give a power of two, as 512.")
    task = open_domain(domain) if domain else _task_of(theory, runs)
    target = _target(to, experiments, runs, data, task, domain, columns)
    is_read = target.columns is None and isinstance(to, str | os.PathLike | PeoplesAnswers)
    if is_read and (domain or columns):
        raise TransferError(
            f"--domain and --column say how a file is read, and {target.name} is none; leave them out."
        )
    travelling = _travelling(theory, runs, of, target.task, data)
    measured = measure_transfer(travelling, target, n_draws=n_draws, seed=seed, n_workers=n_workers)
    name = theory if isinstance(theory, str | os.PathLike) else measured.name
    place = Path("transfer") / f"{Path(name).stem}-to-{Path(target.name).stem}"
    return TransferComparison(measured, Path(out) if out else place, target.notes)


def _task_of(theory: TheoryLike, runs: Path) -> Domain | None:
    """Kind of task of a theory, if it is known before the theory is read."""
    if isinstance(theory, FittedTheory):
        return theory.domain
    return task_of_run(theory, runs) if isinstance(theory, str) and "\n" not in theory else None


def _target(
    to: Any,
    experiments: str,
    runs: Path,
    data: Path | None,
    task: Domain | None,
    domain: str,
    columns: Mapping[str, Any] | None,
) -> TransferTarget:
    """Read the responses by their name; responses that were read already are returned."""
    if isinstance(to, str | os.PathLike):
        return find_target(str(to), experiments, runs, data, task=task, columns=columns or {})
    named = domain or (task.name if task is not None and task.name in DOMAINS else "")
    known = to if isinstance(to, PeoplesAnswers) else adopt(to, named, columns)
    return TransferTarget(
        name="responses at hand",
        domain=known.domain.name,
        trials=known.trials,
        domain_file=task_file_of(known.domain),
        notes=known.notes,
    )


def _travelling(
    theory: TheoryLike, runs: Path, of: str, task: Domain, data: Path | None
) -> TravellingTheory:
    """Find the theory by its name; a theory is returned."""
    if isinstance(theory, os.PathLike) or (isinstance(theory, str) and "\n" not in theory):
        return find_travelling(str(theory), runs, of=of, domain=task, data=data)
    if isinstance(theory, FittedTheory) and theory.domain.name != task.name:
        raise TransferError(
            f"{theory.name!r} is about {theory.domain.name} and the responses are about {task.name}; a theory "
            "can be tried on data of its own domain only."
        )
    with Laboratory(task, 1) as laboratory:
        own = find_theory(theory, task, laboratory)
    return TravellingTheory(own, read_program(own.program), "a theory at hand", task.name)
