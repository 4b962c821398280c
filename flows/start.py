"""Begin and resume runs: what the commands `demo`, `run` and `resume` call, for notebooks and scripts too."""

from __future__ import annotations

from contextlib import AbstractContextManager
from pathlib import Path

from threadpoolctl import threadpool_limits

from flows.campaign import run_campaign
from flows.config import CampaignConfig, load_study
from flows.engine import EngineName, cool_down, execute, warm_up
from flows.errors import FlowError, RunMissingError
from flows.progress import Progress, SilentProgress
from flows.record import Concluded
from flows.run import create_run, open_run, read_state
from traces.step import JOURNAL_FILE


def run_study(
    study: CampaignConfig | Path,
    folder: Path,
    *,
    data: Path | None = None,
    engine: EngineName = "none",
    progress: Progress | None = None,
    n_workers: int = 2,
) -> Concluded:
    """Run a study in a new folder up to its verdict.

    Args:
        study: A study, or the path of a study file.
        folder: Of the run; must not hold one yet.
        data: Folder of the published data sets, for archival studies.
        engine: ``none`` for plain asyncio, ``prefect`` to run on Prefect.
        progress: Where to show what happens.
        n_workers: Theories that run at the same time; does not change results.

    Returns:
        The verdict; `flows.run.read_state` gives everything else.

    Example:
        >>> verdict = run_study(Path("studies/allais.toml"), Path("runs/my-first"))  # doctest: +SKIP
        >>> print(verdict.text)  # doctest: +SKIP
    """
    config = study if isinstance(study, CampaignConfig) else load_study(study)
    shown = progress or SilentProgress()
    warm_up(engine)
    try:
        with shown, one_thread(), create_run(config, folder, data=data, progress=shown, n_workers=n_workers) as run:
            return execute(engine, run_campaign, run, on_wait=shown.waiting).record
    finally:
        cool_down()


def resume_run(
    folder: Path,
    *,
    data: Path | None = None,
    engine: EngineName = "none",
    progress: Progress | None = None,
    n_workers: int = 2,
) -> Concluded:
    """Carry a run on from where its trace ends; a concluded run returns its verdict."""
    state, trace = read_state(folder)
    trace.close()
    if state.concluded is not None:
        return state.concluded.record
    shown = progress or SilentProgress()
    with shown, one_thread(), open_run(folder, data=data, progress=shown, n_workers=n_workers) as run:
        return execute(engine, run_campaign, run, on_wait=shown.waiting).record


def one_thread() -> AbstractContextManager[object]:
    """Linear algebra on one thread: the sandboxes use the processors, and results must not depend on their number."""
    limits: AbstractContextManager[object] = threadpool_limits(1, user_api="blas")
    return limits


def new_folder(runs: Path, name: str, *, numbered: bool) -> Path:
    """Where a new run goes: ``runs/name``, or ``runs/name-1``, ``-2``, ... when numbered.

    Raises:
        FlowError: The name is taken.
    """
    if not numbered:
        if (runs / name).exists():
            raise FlowError(f"{runs / name} exists; take another --name, or `lakatos resume {runs / name}`.")
        return runs / name
    number = 1
    while (runs / f"{name}-{number}").exists():
        number += 1
    return runs / f"{name}-{number}"


def find_run(run: str, runs: Path) -> Path:
    """The folder of a run given by name or path; the newest run for an empty name.

    Raises:
        RunMissingError: There is none.
    """
    if not run:
        found = sorted(runs.glob(f"*/{JOURNAL_FILE}"), key=lambda path: path.stat().st_mtime)
        if not found:
            raise RunMissingError(
                f"there are no runs in {runs}. `lakatos demo` makes one; --runs names another folder."
            )
        return found[-1].parent
    for folder in (Path(run), runs / run):
        if (folder / JOURNAL_FILE).exists():
            return folder
    known = ", ".join(sorted(path.parent.name for path in runs.glob(f"*/{JOURNAL_FILE}"))) or "none"
    raise RunMissingError(f"there is no run {run!r} in {runs} (runs there: {known}). `lakatos status` lists them.")
