"""One pass of a campaign, which a schedule, an arrival or a person asks for.

However often and from wherever it is asked for, it is safe: a run with nothing to do is left alone before anything is
loaded, a run that is being written is left to its writer, and a study file that changed is refused.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeVar

from lakatos import IMPORT_ROOT
from lakatos.flows.errors import ChangedStudyError, RunMissingError, ScheduleError, StudyError
from lakatos.flows.run.begun import begun_of
from lakatos.flows.run.next_pass import look
from lakatos.traces.artifact import write_whole
from lakatos.traces.digest import digest_bytes
from lakatos.traces.errors import LockedError, TraceError
from lakatos.traces.files import JOURNAL_FILE, read_named
from lakatos.traces.journal import Journal
from lakatos.traces.owner import for_owner
from lakatos.traces.place import holds_journal, run_folders

if TYPE_CHECKING:
    from lakatos.flows.run.parts import EngineName
    from lakatos.flows.run.progress import CampaignProgress
    from lakatos.flows.run.study import CampaignConfig

R = TypeVar("R")


@dataclass(frozen=True)
class CampaignPass:
    """End of a pass of a campaign, and the reason."""

    folder: Path
    ended: Literal["concluded", "waiting", "idle", "busy"]
    """``idle``: there was nothing to do. ``busy``: another process carries the run."""
    text: str


def _config_of(study: Path | CampaignConfig) -> CampaignConfig:
    return read_study(study) if isinstance(study, Path) else study


def carry(
    folder: Path,
    *,
    study: Path | CampaignConfig | None = None,
    data: Path | None = None,
    engine: EngineName = "none",
    workers: int = 2,
    progress: CampaignProgress | None = None,
) -> CampaignPass:
    """Begin a run or carry it on, if there is something to do.

    Args:
        folder: Folder of the run.
        study: Begins it where it does not exist; where it does, it must still be what the run was begun with.
        data: Folder of the published data sets.
        engine: What carries the pass.
        workers: Theories that run at the same time.
        progress: Display of what happens.

    Raises:
        RunMissingError: There is no run, and no study to begin one with.
        ChangedStudyError: The study is no longer what the run was begun with.
    """
    found = look(folder)
    if found.seq and study is not None and (found.due or not _seen(study, folder)):
        check_study(
            _config_of(study), folder, str(study) if isinstance(study, Path) else study.name
        )
    if found.seq and not found.due:
        return CampaignPass(folder, "idle", found.idle)

    from lakatos.flows.stages.asked import AnswersAwaited
    from lakatos.flows.start import resume_run, run_study

    try:
        if found.seq:
            ended = resume_run(
                folder, data=data, engine=engine, progress=progress, n_workers=workers
            )
        elif study is None:
            raise RunMissingError(f"there is no run in {folder}; give the study that begins it.")
        else:
            ended = run_study(
                _config_of(study),
                folder,
                data=data,
                engine=engine,
                progress=progress,
                n_workers=workers,
            )
    except LockedError as error:
        return CampaignPass(folder, "busy", str(error))
    if isinstance(study, Path):
        write_whole(folder / STUDY_FILE, digest_bytes(study.read_bytes()).encode())
    return CampaignPass(
        folder, "waiting" if isinstance(ended, AnswersAwaited) else "concluded", ended.text
    )


def read_study(path: Path) -> CampaignConfig:
    """A study file, or a study as plain values in JSON.

    Raises:
        StudyError: It cannot be used.
    """
    from lakatos.flows.run.study import load_study, parse_study

    if path.suffix != ".json":
        return load_study(path)
    try:
        value = json.loads(read_named(path))
    except (OSError, ValueError, RecursionError) as error:
        raise StudyError(f"cannot read the study {path}: {error}.") from None
    if not isinstance(value, dict):
        raise StudyError(f"the study {path} holds no JSON object with the keys of a study.")
    return parse_study(value, str(path))


def check_study(study: CampaignConfig, folder: Path, where: str) -> None:
    """Refuse to carry a run on under a study that is not its own.

    Raises:
        ChangedStudyError: They differ; the message names the first key.
    """
    from lakatos.flows.run.study import CampaignConfig

    with Journal.open(folder / JOURNAL_FILE, read_only=True) as journal:
        begun = CampaignConfig.model_validate(journal.meta["study"])
    if begun.digest == study.digest:
        return
    before, now = begun.model_dump(mode="json"), study.model_dump(mode="json")
    changed = next(name for name in (*before, *now) if before.get(name) != now.get(name))
    raise ChangedStudyError(
        f"the study {where} was changed ({changed!r}) since the run {folder} was begun with it; a run keeps the study "
        "that it was preregistered with. Restore the file, or schedule the new one under another --name; "
        f"`lakatos resume {folder}` goes on with the old one."
    )


def open_runs(study: str, runs: Path) -> list[Path]:
    """Runs in a folder that a study of this name began and that are not concluded, those changed last first."""
    found = []
    for folder in reversed(run_folders(runs)):
        # A journal that cannot be read names no study, and must not keep other studies from being planned.
        with suppress(TraceError):
            if _is_open(folder) and _name_of(folder) == study:
                found.append(folder)
    return found


def open_elsewhere(study: CampaignConfig, runs: Path) -> list[Path]:
    """Runs of this very study in other folders that are not concluded, as far as the laboratory's home knows."""
    found = []
    for folder in begun_of(study):
        with suppress(TraceError):
            if folder.parent != runs.resolve() and _is_open(folder):
                found.append(folder)
    return found


def _is_open(folder: Path) -> bool:
    """Whether a run is due or not concluded."""
    known = look(folder)
    return known.due or known.ended != "concluded"


def _name_of(folder: Path) -> str:
    """Name of the study that began a run."""
    with Journal.open(folder / JOURNAL_FILE, read_only=True) as journal:
        return str(journal.meta.get("study", {}).get("name", ""))


def check_begun_once(study: CampaignConfig, runs: Path, where: str) -> None:
    """Refuse to begin a study under its own name where another run of it is open already.

    A second run would have a preregistration of its own and recruit participants of its own.

    Raises:
        ScheduleError: There is an open run; the message names it and the command that carries it on.
    """
    if holds_journal(runs / study.name):
        return
    found = open_runs(study.name, runs)
    if not found and (away := open_elsewhere(study, runs)):
        raise ScheduleError(
            f"the study {where} was begun already: {', '.join(map(str, away[:3]))} "
            f"{'is' if len(away) == 1 else 'are'} open, and {runs / study.name} would be a second run with a "
            f"preregistration of its own. `lakatos schedule {where} --name {away[0].name} --runs {away[0].parent}` "
            f"carries {away[0].name} on; `--name {study.name}` plans a second run here."
        )
    if not found:
        return
    there = "" if runs == Path("runs") else f" --runs {runs}"
    names = ", ".join(str(folder) for folder in found[:3])
    raise ScheduleError(
        f"the study {where} was begun already: {names} {'is' if len(found) == 1 else 'are'} open, and "
        f"{runs / study.name} would be a second run with a preregistration of its own. "
        f"`lakatos schedule {where} --name {found[0].name}{there}` carries {found[0].name} on; another --name plans a "
        "second run, and --new-run with a time plans a run of its own each time."
    )


STUDY_FILE = "study.sha256"
"""Digest of the study file that was found to be the run's own, so that an idle look need not understand it."""


def _seen(study: Path | CampaignConfig, folder: Path) -> bool:
    """Whether the very same study file was checked before."""
    if not isinstance(study, Path):
        return False
    try:
        return (folder / STUDY_FILE).read_text(encoding="utf-8") == digest_bytes(study.read_bytes())
    except OSError:
        return False


def command_of(
    folder: Path,
    *,
    study: Path | None = None,
    data: Path | None = None,
    workers: int = 2,
    engine: EngineName = "none",
) -> list[str]:
    """The command that carries a run on in a process of its own."""
    words = [
        sys.executable,
        "-m",
        "lakatos.flows.commands.main",
        "wake",
        str(folder),
        "--engine",
        engine,
        "--workers",
        str(workers),
    ]
    words += ["--study", str(study)] if study else []
    return [*words, *(["--data", str(data)] if data else [])]


TETHER = "LAKATOS_TETHER"
"""Environment variable of a process that is to end when its standard input does."""


def start_process(
    command: list[str], log: Path, *, handed: Sequence[int] = (), **environment: str
) -> subprocess.Popen[bytes]:
    """Start a command of the laboratory as a process of its own, whose words go to a log.

    It ends with us, whatever ends us, since it then loses its standard input (see `tether`).

    Args:
        command: What is started.
        log: File that its words are added to, readable for its owner only.
        handed: File descriptors that it gets under the same numbers.
        environment: Variables beside our own.
    """
    root = str(IMPORT_ROOT)
    path = os.pathsep.join(filter(None, [root, os.environ.get("PYTHONPATH")]))
    log.parent.mkdir(parents=True, exist_ok=True)
    with open(log, "ab", opener=for_owner) as words:
        return subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=words,
            stderr=words,
            pass_fds=handed,
            env={**os.environ, **environment, "PYTHONPATH": path, TETHER: "1"},
        )


def tether() -> None:
    """End this process, as SIGTERM would, when whoever started it is gone; does nothing unless it asked for that."""
    if not os.environ.pop(TETHER, ""):
        return

    def watch() -> None:
        while os.read(0, 64):
            pass
        os.kill(os.getpid(), signal.SIGTERM)

    threading.Thread(target=watch, name="tether", daemon=True).start()


def with_retries(
    work: Callable[[], R],
    *,
    transient: tuple[type[Exception], ...],
    pauses_s: tuple[float, ...] = (30.0, 300.0),
    sleep: Callable[[float], object] = time.sleep,
) -> R:
    """Do it again after errors that pass: safe, because a step that is recorded is never run again.

    Everything else (a study that cannot be, a step with effects outside that was cut short) is raised at once.
    """
    for pause in pauses_s:
        try:
            return work()
        except transient:
            sleep(pause)
    return work()
