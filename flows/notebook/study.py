"""Studies from a notebook: run one, search for a theory of responses, and read the results as data frames."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

import pandas as pd
from rich.text import Text

from lakatos.experiments.participants.table import attributes_of
from lakatos.flows.errors import StudyError
from lakatos.flows.notebook.answers import PeoplesAnswers
from lakatos.flows.notebook.fitted import FittedTheory
from lakatos.flows.notebook.frames import as_pandas, interval_columns, left_columns
from lakatos.flows.operations.adopt import new_study, new_study_place
from lakatos.flows.report.report import write_report
from lakatos.flows.result import Result, Shown
from lakatos.flows.run.console import escape
from lakatos.flows.run.evidence import counted_again, theory_of, trials_in
from lakatos.flows.run.logs import progress
from lakatos.flows.run.next_pass import look
from lakatos.flows.run.places import find_run, new_folder
from lakatos.flows.run.progress import CampaignProgress
from lakatos.flows.run.run import read_begun
from lakatos.flows.run.state import RunState
from lakatos.flows.run.study import CampaignConfig, load_study
from lakatos.flows.run.task import domain_of
from lakatos.flows.start import run_study
from lakatos.traces.artifact import write_whole
from lakatos.traces.step import Trace

T = TypeVar("T")


@dataclass(frozen=True, repr=False)
class StudyOutcome(Result):
    """Results of a run so far, read from its trace. Returned by `run`, `explain` and `read_run`."""

    folder: Path
    """Folder of the run; all commands accept it."""

    @cached_property
    def verdict(self) -> str:
        """The verdict in words with its uncertainty, or the reason for waiting; empty while the run continues."""
        state, trace = self._open()
        with trace:
            if state.campaign.concluded is not None:
                return state.campaign.concluded.record.text
        return look(self.folder).text

    @cached_property
    def leaderboard(self) -> pd.DataFrame:
        """All rivals, the leader first: held-out log score in nats per choice, and the difference to the leader.

        Intervals are 95%. ``left`` is the misfit ratio that the verdict measured, with a 90% interval; 1 is
        expected if the theory is true.
        ``error`` is the mean squared error of choice proportions.
        """
        state, trace = self._open()
        concluded = state.campaign.concluded.record if state.campaign.concluded else None
        with trace:
            tied = state.tied()
            rows = [
                {
                    "theory": state.theories.name(line.theory),
                    **left_columns(concluded.left_by(line.theory) if concluded else None),
                    **interval_columns("score", line.score),
                    **interval_columns("behind", line.behind),
                    "tied": line.theory in tied,
                    "error": line.error,
                    "digest": line.theory[:12],
                }
                for line in state.board().standings
            ]
        return pd.DataFrame(rows)

    @cached_property
    def answers(self) -> PeoplesAnswers:
        """The responses of all experiments so far; `.frame` is the table."""
        state, trace = self._open()
        with trace:
            trials = tuple(
                trials_in(trace.artifacts, state, name) for name in state.experiments.collected
            )
            assert state.campaign.config is not None
            page = state.campaign.config.page
            people = tuple(
                attributes_of(trace.artifacts, item.record.trials, page.questions, page.language)
                for item in state.experiments.collected.values()
            )
            again = counted_again(state.campaign.config, state)
            notes = (again,) if again else ()
            return PeoplesAnswers(
                domain_of(state.campaign.config), trials, notes, people, counted_again=again
            )

    def theory(self, name: str = "") -> FittedTheory:
        """A theory of the run with its estimated population, by name or digest; the leader by default.

        After the verdict, the leader's population is estimated from all responses, sealed ones included.

        Raises:
            RunMissingError: No theory, or more than one, has this name.
            StudyError: No theory was scored yet.
        """
        state, trace = self._open()
        with trace:
            wanted = name or _leader(state)
            if not wanted:
                raise StudyError(f"no theory of {self.folder} was scored yet; resume the run.")
            assert state.campaign.config is not None
            return FittedTheory(
                theory_of(trace.artifacts, state, wanted, relearned=True),
                domain_of(state.campaign.config),
            )

    def report(self, file: Path | None = None) -> Path:
        """Write the report as one HTML file, and return its path."""
        return write_report(self.folder, file)

    def _open(self) -> tuple[RunState, Trace]:
        return read_begun(self.folder)

    def to_frame(self) -> pd.DataFrame:
        """The table `leaderboard`."""
        return self.leaderboard

    def lines(self) -> Iterator[Shown]:
        """Return the verdict, the leaderboard and the folder of the run."""
        board = self.leaderboard.drop(columns=["digest"], errors="ignore").round(4)
        yield escape(self.verdict)
        yield ""
        yield Text(board.to_string(index=False))
        yield f"run: {escape(str(self.folder))}"


def run(
    study: str | os.PathLike[str] | CampaignConfig,
    name: str = "",
    *,
    runs: str | os.PathLike[str] = "runs",
    data: str | os.PathLike[str] | None = None,
    n_workers: int = 2,
    quiet: bool = True,
) -> StudyOutcome:
    """Run a study up to its verdict, or until it waits for participants.

    Args:
        study: The path of a study file, or a study.
        name: Name of the run; the study's name and a number by default.
        runs: Folder that holds the runs.
        data: Folder of the published data sets, for archival studies; the variable LAKATOS_DATA by default.
        n_workers: Theories that run at the same time; does not change results.
        quiet: Print no progress.

    Raises:
        StudyError: The study is refused; the message names the key.

    Example:
        >>> outcome = lakatos.run("studies/allais.toml")  # doctest: +SKIP
        >>> outcome.leaderboard  # doctest: +SKIP
    """
    config = study if isinstance(study, CampaignConfig) else load_study(Path(study))
    folder = new_folder(Path(runs), name or config.name, numbered=not name)
    published = data or os.environ.get("LAKATOS_DATA")
    shown = CampaignProgress() if quiet else progress(run=folder.name)
    _outside_loops(
        lambda: run_study(
            config, folder, data=Path(published) if published else None, progress=shown, n_workers=n_workers
        )
    )  # fmt: skip
    return StudyOutcome(folder)


def explain(
    data: Any,
    domain: str = "",
    columns: Mapping[str, Any] | None = None,
    *,
    cycles: int = 2,
    change: Mapping[str, Mapping[str, Any]] | None = None,
    runs: str | os.PathLike[str] = "runs",
    n_workers: int = 2,
    quiet: bool = True,
) -> StudyOutcome:
    """Search for a theory of responses: write a study with defaults beside the runs, and run it.

    Args:
        data: A path, or a data frame of pandas or polars, which is kept beside the runs as CSV.
        domain: Kind of task: a domain of the package, or a file that declares one. Guessed by default.
        columns: Meanings of columns that replace guessed ones; see `adopt`.
        cycles: Cycles of search: each collects or releases responses, scores and revises theories.
        change: Settings that replace those of the study by section, as in ``{"theories": {"candidates": 20}}``.
        runs: Folder that holds the runs.
        n_workers: Theories that run at the same time.
        quiet: Print no progress.

    Raises:
        TrialsError: The responses cannot be read; the message names the row.
        StudyError: A column's meaning is neither given nor guessed; the message names it.
    """
    place = Path(runs)
    file = Path(data) if isinstance(data, str | os.PathLike) else _kept(data, place)
    made = new_study(new_study_place(place, file), file, domain, cycles=cycles, columns=columns)
    if made.open_questions:
        made.study.unlink()
        raise StudyError(
            f"this cannot be guessed: {'; '.join(made.open_questions)}. Say it in columns=, as in "
            "columns={'response': 'choice', 'stimulus': {...}}; `describe` shows the columns."
        )
    if made.too_few:
        raise StudyError(made.too_few)
    config = load_study(made.study)
    if change:
        config = _changed(config, change)
    return run(config, runs=runs, n_workers=n_workers, quiet=quiet)


def read_run(name: str = "", *, runs: str | os.PathLike[str] = "runs") -> StudyOutcome:
    """Read a run, finished or not, by its name or path; the newest by default.

    Raises:
        RunMissingError: There is no such run.
    """
    return StudyOutcome(find_run(name, Path(runs)))


def _changed(config: CampaignConfig, change: Mapping[str, Mapping[str, Any]]) -> CampaignConfig:
    """Return a study with other settings in some sections.

    Raises:
        StudyError: A setting is unknown, or its value is not allowed.
    """
    from lakatos.flows.run.study import parse_study

    value = config.model_dump(mode="json")
    for section, settings in change.items():
        value[section] = {**value.get(section, {}), **settings}
    return parse_study(value, "the study with change=")


def _kept(data: Any, runs: Path) -> Path:
    """Write a data frame as a file beside the runs, and return its path."""
    number = 1
    while (file := runs / f"answers-{number}.csv").exists():
        number += 1
    write_whole(file, as_pandas(data).to_csv(index=False).encode())
    return file


def _leader(state: RunState) -> str:
    if state.campaign.concluded is not None:
        return state.campaign.concluded.record.leader
    standings = state.board().standings
    return standings[0].theory if standings else ""


def _outside_loops(work: Callable[[], T]) -> T:
    """Run work that starts an event loop, also in a notebook that has one already."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return work()
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(copy_context().run, work).result()
