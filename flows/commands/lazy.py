"""Commands by name and place: a command's module is imported when the command is run, or its help is read."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.util import find_spec
from pkgutil import resolve_name
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

from lakatos.flows.errors import UnusableError
from lakatos.flows.run.console import escape


@dataclass(frozen=True)
class Noun:
    """Commands below one word, as in ``lakatos theory fit``."""

    help: str
    commands: Mapping[str, str | Noun]
    """Places of functions, such as ``lakatos.flows.notebook.effects:effects``, or further nouns, by name."""
    hidden: tuple[str, ...] = ()
    """Old names, which go on working and are not listed."""
    former: Mapping[str, str] = field(default_factory=dict)
    """Names of commands that are gone, each with a sentence that names what to use instead, or why it is gone."""


class LazyCommand(TyperCommand):
    """A command whose function is imported when it is run; until then it has a name, a place and a line of help."""

    def __init__(self, name: str, place: str, *, panel: str = "", hidden: bool = False) -> None:
        """The command ``name`` of the function at ``place`` (module and name, with a colon between them)."""
        super().__init__(name, hidden=hidden, rich_help_panel=panel or None)
        self.place = place

    def make_context(
        self, info_name: str | None, args: list[str], parent: Any = None, **extra: Any
    ) -> Any:
        """Read the command line with the signature of the function, which is imported now."""
        from lakatos.flows.commands.adapter import in_present_words

        command = self.loaded()
        options = [option for parameter in command.params for option in parameter.opts]
        return command.make_context(info_name, in_present_words(args, options), parent, **extra)

    def loaded(self) -> TyperCommand:
        """The command itself."""
        from lakatos.flows.commands.adapter import command_of

        command, docstring = command_of(resolve_name(self.place))
        app = typer.Typer(add_completion=False, rich_markup_mode="rich")
        examples = (
            "\n\n".join(["Examples:", *map(escape, docstring.examples)])
            if docstring.examples
            else None
        )
        app.command(self.name, help=escape(docstring.help), epilog=examples)(command)
        made = typer.main.get_command(app)
        assert isinstance(made, TyperCommand)
        return made


class LazyGroup(TyperGroup):
    """Commands of one word, each imported when it is run."""

    noun: Noun
    """Noun whose commands the group holds."""

    def __init__(self, *, commands: Any = None, **settings: Any) -> None:
        """Mount the commands of the noun, then those that were added by hand."""
        super().__init__(**settings)
        self.commands = {**mounted(self.noun), **(commands or {})}

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Find the command that was typed.

        Raises:
            UnusableError: It is a former command; the message names its successor, or the reason why it is gone.
        """
        if instead := self.noun.former.get(args[0]):
            raise UnusableError(f"{args[0]!r} is a former command. {instead}")
        return super().resolve_command(ctx, args)

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """List the commands, each with the first line of its docstring."""
        for command in self.commands.values():
            if isinstance(command, LazyCommand):
                command.help = escape(first_line(command.place))
        super().format_help(ctx, formatter)


def mounted(noun: Noun, panel: str = "") -> dict[str, Any]:
    """The commands of a noun by their names."""
    found: dict[str, Any] = {}
    for name, item in noun.commands.items():
        if isinstance(item, Noun):
            group = type("Group", (LazyGroup,), {"noun": item})
            found[name] = group(
                name=name, help=item.help, no_args_is_help=True, rich_help_panel=panel or None, rich_markup_mode="rich"
            )  # fmt: skip
        else:
            found[name] = LazyCommand(name, item, panel=panel, hidden=name in noun.hidden)
    return found


def first_line(place: str) -> str:
    """The first paragraph of a function's docstring, read from its source: nothing is imported."""
    module, _, name = place.partition(":")
    return _first_lines(module).get(name, "")


@cache
def _first_lines(module: str) -> dict[str, str]:
    spec = find_spec(module)
    source = spec.loader.get_source(module) if spec and spec.loader else ""  # type: ignore[attr-defined]
    return {
        node.name: " ".join((ast.get_docstring(node) or "").partition("\n\n")[0].split())
        for node in ast.parse(source or "").body
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    }
