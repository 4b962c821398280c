"""A theory one of whose parameters changes with one condition within participants.

The change is a parameter of its own: the logarithm of a ratio where the changed parameter is compared on a logarithmic
scale, else a difference. The theory's own functions stay as they are; a `choose` around them answers trials of the
condition with the changed value. In a theory that learns, `start` and `learn` have the changed value there, too; what
was learned in one condition is kept in the next.
"""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pprint import pformat
from textwrap import fill
from typing import Final

from lakatos.theories.errors import TheorySourceError
from lakatos.theories.language.account import Wording
from lakatos.theories.language.parsing import parse
from lakatos.theories.language.prior import Prior
from lakatos.theories.language.rewrite import WIDTH, with_literal
from lakatos.theories.language.theory import Theory

LOG_UNIT = 0.4
"""Logarithm of a ratio that deserves the clause without a word of strength."""
SHARE_OF_RANGE = 0.25
"""The same of a difference, as a share of the parameter's range."""


@dataclass(frozen=True)
class ConditionChange:
    """One parameter that changes with one condition."""

    parameter: str
    condition: str
    """Name of the condition."""
    place: int
    """Of the condition among those of the design."""

    @property
    def name(self) -> str:
        """Name of the parameter that is the change."""
        return f"{self.parameter}_in_{self.condition}"

    @property
    def in_words(self) -> str:
        """What changes, for a record."""
        return f"{self.parameter} changes in the condition {self.condition}"

    def prior_of(self, changed: Prior) -> dict[str, object]:
        """Declared range of the change: half the range of the changed parameter in either direction."""
        low, high = changed.low, changed.high
        half = (math.log(high / low) if changed.is_log else high - low) / 2
        unit = "log ratio" if changed.is_log else changed.unit
        meaning = f"change of {self.parameter} in the condition {self.condition}"
        return {
            "prior": "uniform",
            "low": -float(f"{half:.4g}"),
            "high": float(f"{half:.4g}"),
            **({"unit": unit} if unit else {}),
            "meaning": meaning,
        }

    def clause_of(self, changed: Prior) -> Wording:
        """What is stated of the change."""
        what = self.parameter.replace("_", " ")
        unit = LOG_UNIT if changed.is_log else SHARE_OF_RANGE * (changed.high - changed.low)
        return Wording(
            clause=f"have a {{much}}larger {what} in the condition {self.condition}",
            parameter=self.name,
            opposite_clause=f"have a {{much}}smaller {what} in the condition {self.condition}",
            unit=float(f"{unit:.4g}"),
            label=f"{what} in {self.condition}",
            opposite_label=f"{what} in {self.condition}",
            sentence=2,
        )


def possible_changes(theory: Theory, names: tuple[str, ...]) -> list[ConditionChange]:
    """Changes that a theory does not have yet: of each parameter in each condition, of two conditions in the second."""
    if not names:
        return []
    places = range(1, 2) if len(names) == 2 else range(len(names))
    found = [
        ConditionChange(parameter, names[place], place)
        for parameter, prior in theory.priors.items()
        for place in places
        if not prior.idle
    ]
    taken = {item.name for item in found} & set(theory.priors)
    is_change = {f"{parameter}_in_{name}" for parameter in theory.priors for name in names} & set(
        theory.priors
    )
    return [item for item in found if item.name not in taken and item.parameter not in is_change]


def write_change(source: str, theory: Theory, change: ConditionChange) -> str:
    """The source of a theory with a change.

    Args:
        source: Of the theory.
        theory: What was read from it, with declared priors.
        change: Of one of its parameters.

    Raises:
        TheorySourceError: It does not define once each function that must be changed.
    """
    changed = theory.priors[change.parameter]
    declared = {name: prior.to_literal() for name, prior in theory.priors.items()}
    written = with_literal(source, "PARAMETERS", declared | {change.name: change.prior_of(changed)})
    written = _without(written, "COMPOSITION")  # no grammar writes the change
    clauses = _literal(written, "CLAUSES")
    if isinstance(clauses, list):
        clause = change.clause_of(changed).to_literal()
        written = with_literal(written, "CLAUSES", [*clauses, clause])
    shift = f'parameters["{change.parameter}"] + parameters["{change.name}"]'
    if changed.is_log:
        shift = f'parameters["{change.parameter}"] * xp.exp(parameters["{change.name}"])'
    value = f"xp.clip({shift}, {changed.low!r}, {changed.high!r})"
    names = FUNCTIONS if theory.learns else ("choose",)
    inner = {name: _unused_name(written, f"{name}_in_one_condition") for name in names}
    if theory.learns:
        own = _unused_name(written, "in_this_condition")
        around = _around_learning(change, value, inner, own)
    else:
        around = _around_choice(change, value, inner)
    return _with_claim(_renamed(written, inner), change).rstrip("\n") + f"\n\n\n{around}"


FUNCTIONS: Final = ("start", "choose", "learn")
"""Functions of a theory that learns."""


def _around_choice(change: ConditionChange, value: str, inner: Mapping[str, str]) -> str:
    """The function that answers trials of the condition with the changed ``value``."""
    choose = inner["choose"]
    return f"""def choose(parameters, trials, xp):
    # {change.in_words}
    value = {value}
    there = {choose}({{**parameters, "{change.parameter}": value}}, trials, xp)
    elsewhere = {choose}(parameters, trials, xp)
    is_there = trials["condition"] == {change.place}
    return xp.where(is_there.reshape((1, -1) + (1,) * (elsewhere.ndim - 2)), there, elsewhere)
"""


def _around_learning(
    change: ConditionChange, value: str, inner: Mapping[str, str], own: str
) -> str:
    """The functions of a theory that learns, and ``own``, which has the changed ``value`` in the condition."""
    return f"""def {own}(parameters, trials, xp):
    # {change.in_words}
    value = {value}
    here = xp.where(trials["condition"] == {change.place}, value, parameters["{change.parameter}"])
    return {{**parameters, "{change.parameter}": here}}


def start(parameters, trials, xp):
    return {inner["start"]}({own}(parameters, trials, xp), trials, xp)


def choose(parameters, trials, xp, state):
    return {inner["choose"]}({own}(parameters, trials, xp), trials, xp, state)


def learn(parameters, trials, xp, state, response, feedback):
    here = {own}(parameters, trials, xp)
    return {inner["learn"]}(here, trials, xp, state, response, feedback)
"""


def _renamed(source: str, names: Mapping[str, str]) -> str:
    """The source whose functions have other names, where they are defined and where they are called.

    Raises:
        TheorySourceError: One is not defined exactly once.
    """
    tree = parse(source)
    defined = [node.name for node in tree.body if isinstance(node, ast.FunctionDef)]
    for name in names:
        if defined.count(name) != 1:
            raise TheorySourceError(
                f"a change with a condition needs a function `{name}` that the source defines once."
            )
    places: list[tuple[int, int, str]] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.arg) and node.arg in names:
            raise TheorySourceError(
                f"a change with a condition needs `{node.arg}` as the name of a function only."
            )
        if isinstance(node, ast.Name | ast.FunctionDef):
            name = node.id if isinstance(node, ast.Name) else node.name
            if name in names:
                places.append((node.lineno - 1, node.col_offset, name))
    lines = source.encode().split(b"\n")  # columns are counted in bytes
    for row, column, name in sorted(places, reverse=True):
        before, _, after = lines[row][column:].partition(name.encode())
        lines[row] = lines[row][:column] + before + names[name].encode() + after
    return b"\n".join(lines).decode()


def _declaration(source: str, name: str) -> ast.Assign | None:
    """The statement that sets a name of the module; None where there is none."""
    for node in parse(source).body:
        if isinstance(node, ast.Assign) and [getattr(t, "id", "") for t in node.targets] == [name]:
            return node
    return None


def _literal(source: str, name: str) -> object:
    found = _declaration(source, name)
    return None if found is None else ast.literal_eval(found.value)


def _without(source: str, name: str) -> str:
    """The source without a declaration."""
    found, lines = _declaration(source, name), source.split("\n")
    if found is None:
        return source
    return "\n".join([*lines[: found.lineno - 1], *lines[found.end_lineno :]])


def _unused_name(source: str, name: str) -> str:
    while re.search(rf"\b{name}\b", source):
        name += "_too"
    return name


def _with_claim(source: str, change: ConditionChange) -> str:
    """The source with the change at the end of its docstring."""
    first = parse(source).body[0]
    assert isinstance(first, ast.Expr)
    assert isinstance(first.value, ast.Constant)
    assert first.end_lineno is not None
    claim = " ".join(str(first.value.value).split())
    stated = f"{claim} {change.in_words[0].upper()}{change.in_words[1:]}."
    rest = "\n".join(source.split("\n")[first.end_lineno :])
    return (
        f"{pformat(stated, width=10_000)}\n{rest}"
        if '"""' in stated
        else f'"""{_wrapped(stated)}\n"""\n{rest}'
    )


def _wrapped(text: str) -> str:
    return fill(text, width=WIDTH, break_on_hyphens=False, break_long_words=False)
