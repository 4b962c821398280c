"""Early, clear messages to the authors of theories. It protects nothing: that is what the sandbox is for."""

from __future__ import annotations

import ast
import functools
import re
import threading
import unicodedata

from lakatos.theories.errors import TheoryLintError
from lakatos.theories.sandbox.wire import IMPORTS

MAX_SOURCE_BYTES = 65536
# fmt: off
FORBIDDEN_CALLS = frozenset((
    "breakpoint", "compile", "delattr", "eval", "exec", "getattr", "globals", "help", "input", "locals", "open",
    "setattr", "vars",
))
FORBIDDEN_ATTRIBUTES = frozenset((
    "ctypeslib", "f2py", "fromfile", "genfromtxt", "load", "loadtxt", "memmap", "save", "savetxt", "savez",
    "savez_compressed", "tofile",
))
INTROSPECTION = frozenset((
    "ag_frame", "co_code", "cr_frame", "f_back", "f_builtins", "f_code", "f_globals", "f_locals", "gi_code", "gi_frame",
    "mro", "tb_frame", "tb_next", "with_traceback",
))
# fmt: on
HINTS = {
    "scipy": "use scipy.special (`ndtr` is the normal distribution function)",
    "scipy.stats": "use scipy.special (`ndtr` is the normal distribution function)",
}


_PARSING = threading.Lock()


def parse(source: str) -> ast.Module:
    """`ast.parse`, one thread at a time: on CPython 3.11 parsing in several threads at once raises `SystemError`."""
    with _PARSING:
        return ast.parse(source)


@functools.lru_cache(maxsize=64)
def check_source(source: str, max_bytes: int = MAX_SOURCE_BYTES) -> None:
    """Refuse text that a theory does not need: other imports, dunder names, files, invisible characters.

    A source that has passed is not looked at again.

    Raises:
        TheoryLintError: The first thing found, with its line.
    """
    try:
        n_bytes = len(source.encode())
    except UnicodeEncodeError as error:
        line = source.count("\n", 0, error.start) + 1
        raise TheoryLintError(
            f"line {line} of the source holds half a character; write plain text."
        ) from None
    if n_bytes > max_bytes:
        line = source.encode()[:max_bytes].count(b"\n") + 1
        raise TheoryLintError(
            f"line {line} goes beyond the limit: the source has {n_bytes} bytes; a theory has at most {max_bytes}. "
            "Shorten it."
        )
    for number, text in enumerate(re.split("\r\n|\r|\n", source), start=1):
        for character in text:
            if (
                unicodedata.category(character) in ("Cc", "Cf", "Co", "Zl", "Zp")
                and character != "\t"
            ):
                raise TheoryLintError(
                    f"line {number} of the source holds the invisible character U+{ord(character):04X}; remove it."
                )
    try:
        tree = parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        where = (
            f"line {error.lineno}"
            if isinstance(error, SyntaxError) and error.lineno
            else "the source"
        )
        raise TheoryLintError(f"{where} does not parse: {getattr(error, 'msg', error)}.") from None
    for node in ast.walk(tree):
        check_node(node)


def check_node(node: ast.AST) -> None:
    """Refuse one construct by its name; see `check_source`."""
    modules: list[str] = []
    names: list[str] = []
    if isinstance(node, ast.Import):
        modules = [alias.name for alias in node.names]
        names = [alias.asname or "" for alias in node.names]
    elif isinstance(node, ast.ImportFrom):
        modules = ["." * node.level + (node.module or "")]
        names = [name for alias in node.names for name in (alias.name, alias.asname or "")]
        if modules == ["scipy"] and names[::2] == ["special"]:
            modules = ["scipy.special"]
        for name in names:
            if name in FORBIDDEN_ATTRIBUTES:
                raise TheoryLintError(
                    f"line {line_of(node)} imports {name!r}; theories read and write no files."
                )
    elif isinstance(node, ast.Attribute):
        names = [node.attr]
        if node.attr in FORBIDDEN_ATTRIBUTES:
            raise TheoryLintError(
                f"line {line_of(node)} uses .{node.attr}; theories read and write no files."
            )
        if node.attr in INTROSPECTION:
            raise TheoryLintError(
                f"line {line_of(node)} uses .{node.attr}; theories do not look into the interpreter."
            )
    elif (
        isinstance(node, ast.Constant)
        and isinstance(node.value, str)
        and re.search(r"\{[^{}]*__", node.value)
    ):
        raise TheoryLintError(
            f"line {line_of(node)} holds a format string that reaches for a name starting with __."
        )
    elif isinstance(node, ast.Name):
        names = [node.id]
    elif (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id in FORBIDDEN_CALLS
    ):
        raise TheoryLintError(
            f"line {line_of(node)} calls {node.func.id}(); write the computation out without it."
        )
    elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        names = [node.name]
    elif isinstance(node, ast.arg | ast.keyword):
        names = [node.arg or ""]
    for module in modules:
        if module not in IMPORTS and not re.fullmatch(
            r"numpy\.(fft|linalg|ma|polynomial|random)", module
        ):
            hint = HINTS.get(module, f"a theory may import {', '.join(IMPORTS[1:])}")
            raise TheoryLintError(f"line {line_of(node)} imports {module!r}; {hint}.")
    for name in names:
        if name.startswith("__"):
            raise TheoryLintError(
                f"line {line_of(node)} uses the name {name!r}; names starting with __ are not for theories."
            )


def line_of(node: ast.AST) -> int:
    """Line of a node in the source."""
    return getattr(node, "lineno", 0)
