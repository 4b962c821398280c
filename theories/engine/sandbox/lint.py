"""Early, clear messages to the authors of theories. It protects nothing: that is what the sandbox is for."""

from __future__ import annotations

import ast
import functools
import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from lakatos.theories.engine.sandbox.wire import IMPORTS
from lakatos.theories.errors import TheoryLintError
from lakatos.theories.language.parsing import parse

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
    "numba": "remove the import and the decorators; the function runs without them",
    "pandas": "use numpy; columns of responses arrive as its arrays, each as an argument",
    "scipy.stats": "use scipy.special (`ndtr` is the normal distribution function)",
}


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
    check = _CHECKS.get(type(node))
    problem = check(node) if check else ""
    if problem:
        raise TheoryLintError(f"line {line_of(node)} {problem}")


def _import_problem(node: ast.Import) -> str:
    modules = [alias.name for alias in node.names]
    return _modules_problem(modules) or _names_problem(alias.asname for alias in node.names)


def _import_from_problem(node: ast.ImportFrom) -> str:
    names = [alias.name for alias in node.names]
    for name in (name for alias in node.names for name in (alias.name, alias.asname)):
        if name in FORBIDDEN_ATTRIBUTES:
            return f"imports {name!r}; theories read and write no files."
    module = "." * node.level + (node.module or "")
    if module == "scipy" and names == ["special"]:
        module = "scipy.special"
    every = (name for alias in node.names for name in (alias.name, alias.asname))
    return _modules_problem([module]) or _names_problem(every)


def _attribute_problem(node: ast.Attribute) -> str:
    if node.attr in FORBIDDEN_ATTRIBUTES:
        return f"uses .{node.attr}; theories read and write no files."
    if node.attr in INTROSPECTION:
        return f"uses .{node.attr}; theories do not look into the interpreter."
    return _names_problem([node.attr])


def _constant_problem(node: ast.Constant) -> str:
    if isinstance(node.value, str) and re.search(r"\{[^{}]*__", node.value):
        return "holds a format string that reaches for a name starting with __."
    return ""


def _call_problem(node: ast.Call) -> str:
    if isinstance(node.func, ast.Name) and node.func.id in FORBIDDEN_CALLS:
        return f"calls {node.func.id}(); write the computation out without it."
    return ""


def _modules_problem(modules: Sequence[str]) -> str:
    for module in modules:
        if module not in IMPORTS and not NUMPY_PARTS.fullmatch(module):
            hint = HINTS.get(module, f"a theory may import {', '.join(IMPORTS[1:])}")
            return f"imports {module!r}; {hint}."
    return ""


def _names_problem(names: Iterable[str | None]) -> str:
    for name in names:
        if name and name.startswith("__"):
            instead = " Write functions, or a dataclass." if name == "__init__" else ""
            return f"uses the name {name!r}; names starting with __ are not for theories.{instead}"
    return ""


NUMPY_PARTS = re.compile(r"numpy\.(fft|linalg|ma|polynomial|random)")
_CHECKS: Mapping[type[ast.AST], Callable[[Any], str]] = {
    ast.Import: _import_problem,
    ast.ImportFrom: _import_from_problem,
    ast.Attribute: _attribute_problem,
    ast.Constant: _constant_problem,
    ast.Call: _call_problem,
    ast.Name: lambda node: _names_problem([node.id]),
    ast.FunctionDef: lambda node: _names_problem([node.name]),
    ast.AsyncFunctionDef: lambda node: _names_problem([node.name]),
    ast.ClassDef: lambda node: _names_problem([node.name]),
    ast.arg: lambda node: _names_problem([node.arg]),
    ast.keyword: lambda node: _names_problem([node.arg]),
}
"""Functions that explain what is wrong with a node of each type, to be stated after its line; empty if nothing is."""


def line_of(node: ast.AST) -> int:
    """Line of a node in the source."""
    return getattr(node, "lineno", 0)


def called_functions(body: Sequence[ast.stmt]) -> list[ast.FunctionDef]:
    """The functions of a theory that are ever called: its own, and what these reach."""
    functions = {item.name: item for item in body if isinstance(item, ast.FunctionDef)}
    called: dict[str, ast.FunctionDef] = {}
    waiting: list[str] = [name for name in ("choose", "start", "learn") if name in functions]
    while waiting:
        name = waiting.pop()
        called[name] = functions[name]
        inside = {item.id for item in ast.walk(functions[name]) if isinstance(item, ast.Name)}
        waiting += [other for other in inside & set(functions) if other not in called]
    return list(called.values())
