"""A domain that comes from a file of the researcher's: declared in TOML, or written in Python.

A study keeps the file's whole text. A declaration is read from that text, wherever the run is. Python is run only from
the file itself, and only while it holds the very text that the study keeps: a run that came from somebody else brings
no code with it that would be run here.
"""

from __future__ import annotations

import inspect
import subprocess
import sys
import traceback
from functools import lru_cache
from importlib.abc import ExecutionLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path
from types import ModuleType

from pydantic import BaseModel, ConfigDict

from lakatos.experiments.domains import task_watch
from lakatos.experiments.domains.declared import DeclaredDomain
from lakatos.experiments.domains.declared_feedback import FeedbackDomain, declared_domain
from lakatos.experiments.domains.task_images import EMBEDDED, with_images
from lakatos.experiments.errors import TaskFileError
from lakatos.experiments.task import Domain
from lakatos.traces.digest import Digest, digest_bytes

LONGEST_START_S = 60
"""Until a domain written in Python must be there when it is looked at for the first time."""
NEEDED = (
    "name", "options", "sequential", "n_options", "shown", "feedback", "candidates", "space", "check", "admits",
    "probes", "features", "swap_sides", "picture", "describe",
)  # fmt: skip
"""What `experiments.task.Domain` asks for."""
OFFERED = ("sizes", "moves", "variations", "attribute_labels", "attribute_words", "landmarks")
"""What a domain may have besides."""


class TaskFile(BaseModel):
    """The file that says what a study's domain is, and what it held when the study was read."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    file: str
    """Where it was."""
    text: str
    """Whole."""

    @property
    def is_python(self) -> bool:
        """Whether it is a program, not a declaration."""
        return self.file.endswith(".py")

    @property
    def digest(self) -> Digest:
        """Of the text."""
        return digest_bytes(self.text.encode())

    def is_changed(self) -> bool:
        """Whether the file holds something else by now; a file that is gone has not changed."""
        path = Path(self.file)
        declared = self.text.split(EMBEDDED)[0]
        try:
            if path.read_bytes() != declared.encode():
                return True
            return declared != self.text and with_images(declared, path) != self.text
        except (OSError, TaskFileError):  # the file is gone, or one of its images
            return False


def read_task_file(path: Path) -> TaskFile:
    """A file as it is now.

    Raises:
        TaskFileError: It cannot be read, or declares no domain; the message says where and what to do.
    """
    if path.suffix not in (".toml", ".py"):
        raise TaskFileError(f"{path} declares no domain: give a file in TOML or Python.")
    try:
        text = path.read_bytes().decode()
    except (OSError, UnicodeDecodeError) as error:
        raise TaskFileError(
            f"cannot read the domain {path}: {getattr(error, 'strerror', None) or 'it is not UTF-8 text'}. "
            "`lakatos domain new FILE` writes an example."
        ) from None
    if path.suffix == ".toml":
        text = with_images(text, path)
    else:
        _refuse_loops(path)
    file = TaskFile(file=str(path.resolve()), text=text)
    domain_in(file)
    return file


@lru_cache(maxsize=64)
def domain_in(file: TaskFile) -> Domain:
    """The domain that a file declares, or that its program calls ``DOMAIN``.

    Raises:
        TaskFileError: There is none, or the program is not here as the study keeps it.
    """
    if not file.is_python:
        return declared_domain(file.text)
    domain: Domain | None = getattr(module_in(file), "DOMAIN", None)
    missing = [name for name in NEEDED if not hasattr(domain, name)]
    if domain is None or missing:
        what = f"its DOMAIN lacks {', '.join(missing)}" if domain else "it has no DOMAIN"
        raise TaskFileError(
            f"the domain {file.file}: {what}. `lakatos.experiments.task.Domain` says what a domain has; "
            "inherit `OneShot` where trials may come in any order."
        )
    for name in (*NEEDED, *OFFERED):
        function = getattr(domain, name, None)
        if inspect.isroutine(function):
            object.__setattr__(domain, name, task_watch.bounded(function, name, file.file))
    object.__setattr__(domain, "task_file", file)
    return domain


class KeptProgram(ExecutionLoader):
    """Imports the program of a domain from its text as the study keeps it, and writes nothing beside its file."""

    def __init__(self, file: TaskFile) -> None:
        self.file = file

    def get_filename(self, fullname: str) -> str:
        """The file, for whoever reads a traceback."""
        return self.file.file

    def get_source(self, fullname: str) -> str:
        """The text that was read and checked; the file may have changed since."""
        return self.file.text


@lru_cache(maxsize=64)
def module_in(file: TaskFile) -> ModuleType:
    """The program of a domain, which is run once.

    Raises:
        TaskFileError: The file is gone or was changed, or the program fails.
    """
    path = Path(file.file)
    if not path.is_file() or file.is_changed():
        raise TaskFileError(
            f"the domain {path} is {'not here' if not path.exists() else 'not what it was'} "
            f"(SHA-256 {file.digest[:12]}...). A program is run from the file only, and only as the study read it: "
            "put it back; the run keeps its text as an artifact of that digest."
        )
    loader = KeptProgram(file)
    spec = spec_from_loader(f"lakatos_domain_{file.digest[:16]}", loader, origin=str(path))
    assert spec is not None
    module = module_from_spec(spec)
    sys.modules[module.__name__] = module  # dataclasses look their module up
    try:
        loader.exec_module(module)
    except Exception as error:
        lines = [
            item.lineno
            for item in traceback.extract_tb(error.__traceback__)
            if item.filename == str(path)
        ]
        line = getattr(error, "lineno", None) or (lines[-1] if lines else None)
        del sys.modules[module.__name__]
        raise TaskFileError(
            f"the domain {path}{f', line {line}' if line else ''}: {type(error).__name__}: {error}."
        ) from error
    return module


def task_file_of(domain: Domain) -> TaskFile | None:
    """The file that a domain came from; None for those of the package."""
    found: TaskFile | None = getattr(domain, "task_file", None)
    if found is None and isinstance(domain, DeclaredDomain | FeedbackDomain):
        return TaskFile(file=f"{domain.name}.toml", text=domain.text)
    return found


LOOK = """
import sys
from pathlib import Path
import numpy as np
from lakatos.experiments.domains import task_watch
from lakatos.experiments.domains.task_file import TaskFile, domain_in

path, task_watch.LONGEST_CALL_S = Path(sys.argv[1]), float(sys.argv[2])
found = domain_in(TaskFile(file=str(path), text=path.read_bytes().decode()))
for some in found.probes(np.random.default_rng(0)):
    found.check(some), found.features(some), found.swap_sides(some)
    found.describe(some, 0), found.picture(some, 0)
"""
"""Looks at a domain once; each of its calls is given up in time (see `experiments.domains.task_watch`)."""


def _refuse_loops(path: Path) -> None:
    """Run a program in a process of its own, and refuse it if it does not end soon or shows no trials."""
    longest_call = min(task_watch.LONGEST_CALL_S, 0.5 * LONGEST_START_S)
    try:
        ended = subprocess.run(
            [sys.executable, "-c", LOOK, str(path.resolve()), str(longest_call)],
            capture_output=True, text=True, timeout=LONGEST_START_S, check=False,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        raise TaskFileError(
            f"the domain {path} was not there after {LONGEST_START_S} s: it loops, or works when it is loaded. "
            "Load nothing large at the top, and make probes, check, features, describe and picture short."
        ) from None
    if ended.returncode:
        last = (ended.stderr.strip().splitlines() or ["it ended without a word"])[-1]
        raise TaskFileError(
            f"the domain {path} cannot be loaded: {last.split('TaskFileError: ')[-1]}"
        )
