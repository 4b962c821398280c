"""Parsing Python source in one thread at a time: CPython 3.11 fails where two threads parse at once."""

from __future__ import annotations

import ast
import threading

_PARSING = threading.Lock()


def parse(source: str) -> ast.Module:
    """`ast.parse`, one thread at a time: on CPython 3.11 parsing in several threads at once raises `SystemError`."""
    with _PARSING:
        return ast.parse(source)
