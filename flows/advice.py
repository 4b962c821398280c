"""Advice in the form of the caller: options of a command, or arguments of a Python function.

Messages of readers name the options of commands, such as ``--column order=TRIAL``. A caller from Python is given the
same as ``columns={"order": "TRIAL"}``.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from lakatos.experiments.errors import TrialsError
from lakatos.flows.argument import columns_of_options

_BY_COMMAND: ContextVar[bool] = ContextVar("by_command", default=False)
_ONE = r"--(?:column|accept) (?:[^\s;,()']*'[^']*'|[^\s;,()']*[^\s;,().:'])"
_OPTIONS = re.compile(f"{_ONE}(?: (?:and )?{_ONE})*")
_OPEN_KEYS = ("KEY",)
"""Words that stand for any key."""


@contextmanager
def by_command() -> Iterator[None]:
    """The caller is a command: advice stays as it is."""
    token = _BY_COMMAND.set(True)
    try:
        yield
    finally:
        _BY_COMMAND.reset(token)


def is_by_command() -> bool:
    """Whether the caller is a command, whose options are all known, and no notebook, which may go on with a result."""
    return _BY_COMMAND.get()


def in_callers_words(text: str) -> str:
    """A message with its options in the form of the caller."""
    return text if _BY_COMMAND.get() else _OPTIONS.sub(_as_argument, text)


def option_for_caller(name: str) -> str:
    """An option of a command, or the argument of a Python function, of one name."""
    return f"--{name}" if _BY_COMMAND.get() else f"{name}="


@contextmanager
def advice_for_caller() -> Iterator[None]:
    """Refusals of responses that are raised within are in the form of the caller."""
    try:
        yield
    except TrialsError as error:
        error.args = (in_callers_words(str(error)),)
        raise


def _as_argument(options: re.Match[str]) -> str:
    """Options as the argument ``columns`` of Python functions."""
    parts = []
    for word in shlex.split(options[0]):
        if word == "--accept":
            parts.append("accept=")
        elif parts and parts[-1] == "accept=":
            parts[-1] += word
        elif word not in ("--column", "and"):
            parts.append(word)
    try:
        found = columns_of_options(parts)
    except TrialsError:
        return options[0]
    for key in _OPEN_KEYS:
        if key in found.get("stimulus", {}):
            found[key] = found.pop("stimulus")[key]
    return f"columns={json.dumps(found, ensure_ascii=False, default=str)}"
