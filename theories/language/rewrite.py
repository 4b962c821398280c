"""Write literals into a theory's source: fitted priors, stated predictions."""

from __future__ import annotations

import ast
from pprint import pformat
from typing import Any

from lakatos.theories.language.parsing import parse

WIDTH = 110


def with_literal(source: str, name: str, value: Any) -> str:
    """``source`` with its top-level assignment ``name = ...`` holding ``value``; at the end where there was none.

    Args:
        source: Source of a theory that parses; everything else in it stays as it is.
        name: Name, such as ``PARAMETERS``.
        value: Numbers, strings, lists and dictionaries.

    Raises:
        SyntaxError: The source does not parse.
    """
    statement = f"{name} = {pformat(value, width=WIDTH, sort_dicts=False)}".encode()
    lines = source.encode().split(b"\n")
    for node in parse(source).body:
        if isinstance(node, ast.Assign) and [getattr(item, "id", "") for item in node.targets] == [
            name
        ]:
            assert node.end_lineno is not None
            assert node.end_col_offset is not None
            first, last = node.lineno - 1, node.end_lineno - 1
            before, after = lines[first][: node.col_offset], lines[last][node.end_col_offset :]
            return b"\n".join(
                [*lines[:first], before + statement + after, *lines[last + 1 :]]
            ).decode()
    return f"{source.rstrip()}\n\n\n{statement.decode()}\n"
