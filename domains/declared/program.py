"""A domain written in Python: run from its file only, and only while this holds the very text that the study keeps.

Files that the program reads are no part of that text. It can name them with their digests (``READS``), which are: then
no run begins or goes on while one of them holds something else.
"""

from __future__ import annotations

import inspect
import subprocess
import sys
import traceback
from functools import lru_cache, partial
from importlib.abc import ExecutionLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path
from types import ModuleType
from typing import Final

from lakatos.domains.declared import watch as task_watch
from lakatos.domains.declared.task_file import TaskFileKind, kept_text
from lakatos.domains.learning.reader import steps_with_attributes
from lakatos.experiments.adoption.layouts import HasAttributes, HasLayout
from lakatos.experiments.errors import TaskFileError
from lakatos.experiments.task import Domain
from lakatos.experiments.task_file import TaskFile
from lakatos.theories.language.family import Family, HasFamily
from lakatos.traces.digest import Digest, digest_bytes

LONGEST_START_S = 60
"""Seconds within which a domain written in Python must be loaded for the first time."""
NEEDED = (
    "name", "options", "sequential", "n_options", "shown", "feedback", "candidates", "space", "check", "admits",
    "probes", "features", "swap_sides", "picture", "describe",
)  # fmt: skip
"""Attributes that `experiments.task.Domain` requires."""
OFFERED = ("sizes", "moves", "variations", "attribute_labels", "attribute_words", "landmarks")
"""Attributes that a domain may have besides."""

READS: Final = "READS"
"""Name in a program of the files that it reads, from its own folder, each with the SHA-256 of what it holds."""

READ_HERE: Final[dict[Digest, Domain]] = {}
"""Domains whose programs this process has read, by the digest of their text."""


class ProgramFile(TaskFileKind):
    """Programs whose ``DOMAIN`` is the domain."""

    def text_of(self, path: Path) -> str:
        """The text of a file, after its program was run once in a process of its own."""
        text = kept_text(path)
        _refuse_loops(path)
        return text

    def is_changed(self, file: TaskFile) -> bool:
        """Whether the file, or one that it names in ``READS``, holds something else by now."""
        if _holds_something_else(file):
            return True
        return bool(wrong_in_what_it_reads(Path(file.file), self.value_of(file, READS) or {}))

    def domain(self, file: TaskFile) -> Domain:
        """The domain that a program calls ``DOMAIN``, with a limit on how long each of its calls may take.

        A file without a folder is how the records of a run name a program: the one of the same text that was read here.
        """
        if not Path(file.file).is_absolute() and file.digest in READ_HERE:
            return READ_HERE[file.digest]
        domain: Domain | None = getattr(module_in(file), "DOMAIN", None)
        missing = [name for name in NEEDED if not hasattr(domain, name)]
        if domain is None or missing:
            what = f"its DOMAIN lacks {', '.join(missing)}" if domain else "it has no DOMAIN"
            raise TaskFileError(
                f"the domain {file.file}: {what}. `lakatos.experiments.task.Domain` describes a domain; "
                "inherit `OneShot` if trials may come in any order."
            )
        for name in (*NEEDED, *OFFERED):
            function = getattr(domain, name, None)
            if inspect.isroutine(function):
                object.__setattr__(domain, name, task_watch.bounded(function, name, file.file))
        object.__setattr__(domain, "task_file", file)
        module = module_in(file)
        if hasattr(module, "FAMILY") or not isinstance(domain, HasFamily):
            found = getattr(module, "FAMILY", None)
            family = found if isinstance(found, Family) else None
            object.__setattr__(domain, "family", lambda: family)
        lacks_layout = not isinstance(domain, HasLayout)
        if domain.sequential and lacks_layout and isinstance(domain, HasAttributes):
            object.__setattr__(domain, "layout", partial(steps_with_attributes, domain))
        READ_HERE[file.digest] = domain
        return domain

    def value_of(self, file: TaskFile, name: str) -> object:
        """Return what a program calls ``name``; None where there is nothing."""
        return getattr(module_in(file), name, None)


PROGRAM: Final = ProgramFile()


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


def _holds_something_else(file: TaskFile) -> bool:
    """Whether the program's file holds another text than the study keeps."""
    return Path(file.file).read_bytes() != file.text.encode()


@lru_cache(maxsize=64)
def module_in(file: TaskFile) -> ModuleType:
    """The program of a domain, which is run once.

    Raises:
        TaskFileError: The file is gone or was changed, or the program fails.
    """
    path = Path(file.file)
    if not path.is_file() or _holds_something_else(file):
        raise TaskFileError(
            f"the domain {path} is {'not here' if not path.exists() else 'not what it was'} "
            f"(SHA-256 {file.digest[:12]}...). A program is run from the file only, and only as the study read it: "
            "put it back; the run keeps its text as an artifact of that digest."
        )
    loader = KeptProgram(file)
    spec = spec_from_loader(f"lakatos_domain_{file.digest[:16]}", loader, origin=str(path))
    assert spec is not None
    spec.has_location = True  # so that a program knows its `__file__`, and what stands beside it
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
    if wrong := wrong_in_what_it_reads(path, getattr(module, READS, {})):
        raise TaskFileError(f"the domain {path} {wrong}")
    return module


def wrong_in_what_it_reads(program: Path, reads: object) -> str:
    """Explain what is wrong with the files that a program names in ``READS``; empty where nothing is."""
    if not isinstance(reads, dict) or not all(
        isinstance(part, str) for item in reads.items() for part in item
    ):
        return (
            f"has {READS} that is no mapping of names to digests. Write names of files beside the program, each with "
            f'its SHA-256: {READS} = {{"trials.csv": "..."}}.'
        )
    for name, digest in reads.items():
        try:
            found = digest_bytes((program.parent / name).read_bytes())
        except OSError as error:
            return f"reads {name} ({READS}), which cannot be read: {error.strerror}. Put it back."
        if found != digest:
            return (
                f"reads {name}, which holds something else than {READS} says. Put the file back; or, for a new study "
                f'with the file as it is, write {READS} = {{"{name}": "{found}"}} into the program.'
            )
    return ""


LOOK = """
import sys
from pathlib import Path
import numpy as np
from lakatos.domains.declared import watch as task_watch
from lakatos.domains.declared.task_file import domain_in
from lakatos.experiments.task_file import TaskFile

path, task_watch.LONGEST_CALL_S = Path(sys.argv[1]), float(sys.argv[2])
found = domain_in(TaskFile(file=str(path), text=path.read_bytes().decode()))
for some in found.probes(np.random.default_rng(0)):
    found.check(some), found.features(some), found.swap_sides(some)
    found.describe(some, 0), found.picture(some, 0)
"""
"""Looks at a domain once; each of its calls is given up in time (see `domains.declared.watch`)."""


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
