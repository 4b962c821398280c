"""Statements of a choice rule, divided into what the trials alone decide and what depends on parameters.

A rule is asked about the same trials again and again, with other parameters each time. What needs no parameter is
worked out once for each set of trials and looked up from then on. Values stay the same to the last bit: every operation
is made as it was written, only fewer times.
"""

from __future__ import annotations

import ast
import builtins
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256
from textwrap import dedent, indent

from lakatos.theories.language.parsing import parse

ARGUMENTS = {"trials": "trials", "xp": "xp", "parameters": None}
"""Names that a rule begins with: by what they are known of trials alone; None where parameters decide."""
COMPUTED = (ast.Call, ast.BinOp, ast.UnaryOp, ast.Compare, ast.Subscript)
"""Expressions that are worth being worked out once."""
SCOPES = (
    *(ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp, ast.Lambda),
    ast.FunctionDef,
)
"""Code with names of its own."""
WHOLE = (*SCOPES, ast.IfExp, ast.BoolOp)
"""Expressions with names of their own, or of which not every part is computed: where parameters decide a part of them,
they stay as they are."""
KNOWN = re.compile(r"known_[0-9a-f]{12}")
"""Pattern of names of what is computed once, made from its expression."""


@dataclass(frozen=True)
class DividedStatements:
    """Statements of one part of a rule."""

    of_trials: tuple[tuple[str, str], ...]
    """Name and expression of what is worked out once, each after those that it needs."""
    each_time: str
    """Statements for every question."""
    named: tuple[tuple[str, str | None], ...]
    """Names that were given a value: by what it is known of trials alone; None where parameters decide."""


class UndividedError(Exception):
    """A part has a statement that is not understood well enough to be divided."""


def prepared(parts: Sequence[str]) -> tuple[str, str] | None:
    """Two functions' text for a rule ``choose(parameters, trials, xp)`` of some parts; None where it has to stay whole.

    Args:
        parts: Statements, one part after the other; the last one returns.

    Returns:
        The body of ``of_trials(trials, xp)``, which returns a tuple, and the body of ``choose``, which begins by taking
        that tuple apart as ``known``.
    """
    named: dict[str, str | None] = dict(ARGUMENTS)
    of_trials: dict[str, str] = {}
    each_time = []
    try:
        for part in parts:
            own = tuple((name, named[name]) for name in names_needed(part) if name in named)
            divided = divide(part, own)
            of_trials.update(divided.of_trials)
            each_time.append(divided.each_time)
            named.update(divided.named)
    except (UndividedError, SyntaxError):
        return None
    looked_up = set().union(*map(known_in, each_time))
    needed = [name for name in of_trials if name in looked_up]
    if not needed:
        return None
    kept, lines = f"({', '.join(needed)},)", []
    for name, text in reversed(of_trials.items()):
        if name in looked_up:  # what nothing needs is not worked out
            lines.append(f"{name} = {text}")
            looked_up |= known_in(text)
    once = "\n".join([*reversed(lines), f"return {kept}"])
    return once, "\n".join([f"{kept} = known", *each_time])


@lru_cache(maxsize=8192)
def known_in(text: str) -> frozenset[str]:
    """Names of what was worked out that occur in a text."""
    return frozenset(KNOWN.findall(text))


def write_prepared(helpers: str, parts: Sequence[str]) -> str | None:
    """Source of a rule that works out once what trials alone decide; None where it has to stay whole."""
    found = prepared(parts)
    if found is None:
        return None
    once, each_time = found
    return (
        f"{helpers_for(helpers, once + each_time)}"
        f"def of_trials(trials, xp):\n{indent(once, '    ')}\n\n\n"
        "asked_before = []\n\n\n"
        "def choose(parameters, trials, xp):\n"
        "    for asked, known in asked_before:\n"
        "        if asked is trials:\n"
        "            break\n"
        "    else:\n"
        "        known = of_trials(trials, xp)\n"
        "        asked_before.append((trials, known))\n"
        f"{indent(each_time, '    ')}\n"
    )


def helpers_for(helpers: str, text: str) -> str:
    """Return some functions whose names occur in a text, or in another such function."""
    left, found = list(functions_of(helpers)), [text]
    while chosen := [item for item in left if any(item[0] in other for other in found)]:
        left = [item for item in left if item not in chosen]
        found += [function for _, function in chosen]
    return "".join(
        f"{function}\n\n\n" for _, function in functions_of(helpers) if function in found
    )


@lru_cache
def functions_of(helpers: str) -> tuple[tuple[str, str], ...]:
    """Name and text of each function of a module; of anything else, no name and its text."""
    return tuple(
        (getattr(statement, "name", ""), ast.unparse(statement))
        for statement in parse(dedent(helpers)).body
    )


@lru_cache(maxsize=4096)
def names_needed(part: str) -> tuple[str, ...]:
    """Names that a part reads as they were before it."""
    needed: dict[str, None] = {}
    given: set[str] = set()
    for statement in parse(dedent(part)).body:
        needed |= dict.fromkeys(name for name in _read(statement) if name not in given)
        given |= {
            node.id
            for node in ast.walk(statement)
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
        }
    return tuple(needed)


@lru_cache(maxsize=4096)
def divide(part: str, named: tuple[tuple[str, str | None], ...]) -> DividedStatements:
    """One part, given what the names in it stand for.

    Raises:
        UndividedError: It has a statement that changes a value in place, or that is not understood.
    """
    work = _Division(dict(named))
    for statement in parse(dedent(part)).body:
        work.take(statement)
    changed = tuple((name, value) for name, value in work.named.items() if name in work.given)
    return DividedStatements(tuple(work.of_trials.items()), "\n".join(work.each_time), changed)


class _Division:
    """State of the statements of a part during their division."""

    def __init__(self, named: dict[str, str | None]) -> None:
        self.named = named
        self.given: set[str] = set()
        self.of_trials: dict[str, str] = {}
        self.each_time: list[str] = []
        self._closed_over: set[str] = set()

    def take(self, statement: ast.stmt) -> None:
        """Divide one more statement."""
        match statement:
            case ast.Assign(targets=targets, value=value):
                self._assign_all(targets, value)
            case ast.FunctionDef(name=name):
                self._define(name, statement)
            case ast.Return(value=ast.expr() as value):
                self.each_time.append(f"return {ast.unparse(self._divided(value))}")
            case _:
                raise UndividedError(ast.unparse(statement))

    def _assign_all(self, targets: Sequence[ast.expr], value: ast.expr) -> None:
        """One value for each of some names, or several values at once for as many."""
        first, *others = targets
        if isinstance(first, ast.Name):
            self._assign([first.id], [value])
            for target in others:
                if not isinstance(target, ast.Name):
                    raise UndividedError(ast.unparse(target))
                self._assign([target.id], [ast.Name(first.id, ast.Load())])
            return
        if others or not isinstance(first, ast.Tuple):
            raise UndividedError(ast.unparse(first))
        names = [target.id for target in first.elts if isinstance(target, ast.Name)]
        if len(names) < len(first.elts):
            raise UndividedError(ast.unparse(first))
        if isinstance(value, ast.Tuple) and len(value.elts) == len(names):
            self._assign(names, value.elts)
        elif self._depends(value):
            self._give(names)
            self.each_time.append(f"{', '.join(names)} = {ast.unparse(self._divided(value))}")
            self.named |= dict.fromkeys(names)
        else:
            whole = self._keep(ast.Call(ast.Name("tuple"), [_renamed(value, self.named)], []))
            parts = [
                ast.Subscript(ast.Name(whole), ast.Constant(place), ast.Load())
                for place in range(len(names))
            ]
            self._give(names)
            self.named |= {name: self._keep(part) for name, part in zip(names, parts, strict=True)}

    def _assign(self, names: Sequence[str], values: Sequence[ast.expr]) -> None:
        """Names and their values, all of which are computed before the first name has its own."""
        depends = [self._depends(value) for value in values]
        found = [self._divided(value) for value in values]
        self._give(names)
        late = [place for place in range(len(names)) if depends[place]]
        if late:
            left = ", ".join(names[place] for place in late)
            right = ", ".join(ast.unparse(found[place]) for place in late)
            self.each_time.append(f"{left} = {right}")
        for name, value, is_late in zip(names, found, depends, strict=True):
            self.named[name] = None if is_late else self._keep(value)

    def _give(self, names: Sequence[str]) -> None:
        """Note that names are given new values, which none may be that something else still looks at."""
        if not self._closed_over.isdisjoint(names) or not set(ARGUMENTS).isdisjoint(names):
            raise UndividedError(", ".join(names))
        self.given.update(names)

    def _define(self, name: str, function: ast.FunctionDef) -> None:
        """A function within the rule is made anew each time; what it reads of trials is looked up."""
        own = _bound(function)
        self._closed_over |= _read(function)
        self.given.add(name)
        self.named[name] = None
        self.each_time.append(ast.unparse(_Renamed(self.named, own).visit(function)))

    def _depends(self, node: ast.AST) -> bool:
        """Whether parameters decide what an expression is."""
        return any(name in self.named and self.named[name] is None for name in _read(node))

    def _divided(self, node: ast.expr) -> ast.expr:
        """An expression whose parts that trials decide are names of what was worked out."""
        if not self._depends(node) or isinstance(node, WHOLE):
            return _renamed(node, self.named)
        for name, value in ast.iter_fields(node):
            if isinstance(value, ast.expr):
                setattr(node, name, self._part(value))
            elif isinstance(value, list) and all(isinstance(item, ast.expr) for item in value):
                setattr(node, name, [self._part(item) for item in value])
            elif isinstance(value, list):
                for item in value:
                    if isinstance(item, ast.keyword):
                        item.value = self._part(item.value)
        return node

    def _part(self, node: ast.expr) -> ast.expr:
        """A part of an expression that parameters decide."""
        if self._depends(node):
            return self._divided(node)
        found = _renamed(node, self.named)
        is_worth = isinstance(node, COMPUTED) and any(
            name != "xp" and not hasattr(builtins, name) for name in _read(node)
        )
        return ast.Name(self._keep(found), ast.Load()) if is_worth else found

    def _keep(self, value: ast.expr) -> str:
        """The name of what an expression of trials alone is worked out as; equal ones have one name."""
        if isinstance(value, ast.Name):
            return value.id
        text = ast.unparse(value)
        name = f"known_{sha256(text.encode()).hexdigest()[:12]}"
        self.of_trials[name] = text
        return name


def _read(node: ast.AST) -> frozenset[str]:
    """Names that a piece of code reads from outside it; kept with the piece."""
    known: frozenset[str] | None = getattr(node, "names_read", None)
    if known is not None:
        return known
    if isinstance(node, ast.Name):
        found = frozenset([node.id] if isinstance(node.ctx, ast.Load) else [])
    else:
        found = frozenset().union(*map(_read, ast.iter_child_nodes(node)))
    if isinstance(node, SCOPES):
        found -= _bound(node)
    node.names_read = found  # type: ignore[attr-defined]
    return found


def _bound(node: ast.AST) -> set[str]:
    """Names that a function, or an expression with names of its own, binds."""
    return {
        inner.arg if isinstance(inner, ast.arg) else inner.id
        for inner in ast.walk(node)
        if isinstance(inner, ast.arg)
        or (isinstance(inner, ast.Name) and isinstance(inner.ctx, ast.Store))
    }


def _renamed(node: ast.expr, named: Mapping[str, str | None]) -> ast.expr:
    """An expression with what its names are known as."""
    found = _Renamed(named, _bound(node)).visit(node)
    assert isinstance(found, ast.expr)
    return found


class _Renamed(ast.NodeTransformer):
    """Puts the names of what is known of trials in the place of a rule's own."""

    def __init__(self, named: Mapping[str, str | None], bound: set[str]) -> None:
        self.named, self.bound = named, bound

    def visit_Name(self, node: ast.Name) -> ast.Name:
        known = self.named.get(node.id)
        if known is None or node.id in self.bound or not isinstance(node.ctx, ast.Load):
            return node
        return ast.Name(known, node.ctx)
