"""Results that commands return and that show themselves on a console, as text and in a notebook."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from io import StringIO
from typing import Any

from rich.console import ConsoleRenderable
from rich.text import Text

from lakatos.flows.run.console import Console, escape
from lakatos.traces.wording import printable

Shown = str | ConsoleRenderable
"""A line with Rich's markup (`escape` what files, people and models say), or a table."""


class Result:
    """A result of a command: ``lines`` is what is shown of it, wherever it is shown.

    A dataclass says ``repr=False``, so that a notebook prints the text too. On the command line, a result that has
    ``to_json`` has the option ``--json``, and one that has ``to_frame`` has ``--csv`` and ``--out``.
    """

    notes: tuple[str, ...] = ()
    """Notes on what was excluded or assumed on the way; commands print them to the standard error."""
    exit_status: int = 0
    """Status with which a command ends that came to this."""

    def lines(self) -> Iterable[Shown]:
        """Yield the lines to show, from top to bottom."""
        raise NotImplementedError

    def keep(self) -> Iterable[Shown]:
        """Write the files that the command leaves beside what it shows; returns sentences about them."""
        return ()

    @property
    def text(self) -> str:
        """The lines to show, as plain text."""
        with (console := Console(width=160, no_color=True)).capture() as caught:
            show_lines(console, self.lines())
        return caught.get()

    def __repr__(self) -> str:
        return self.text.rstrip()

    def _repr_html_(self) -> str:
        console = Console(record=True, width=160, file=StringIO())
        show_lines(console, self.lines())
        return console.export_html(
            inline_styles=True, code_format="<pre style='line-height:1.3'>{code}</pre>"
        )


class Sentences(Result):
    """Statement of a command about what it did."""

    def __init__(self, *said: Shown, notes: tuple[str, ...] = (), exit_status: int = 0) -> None:
        """Sentences and tables, in their order; notes for the standard error; and the status."""
        self._said, self.notes, self.exit_status = said, notes, exit_status

    def lines(self) -> Iterable[Shown]:
        """The sentences."""
        return self._said


class PlainText(Result):
    """Text that is printed as it is, such as a program."""

    def __init__(self, text: str, notes: tuple[str, ...] = ()) -> None:
        """The text, and what is printed to the standard error beside it."""
        self._text, self.notes = text, notes

    @property
    def text(self) -> str:
        """The text."""
        return self._text

    def lines(self) -> list[Shown]:
        """The text, without control codes."""
        return [Text(printable(self._text.removesuffix("\n")))]


class Written(Result):
    """Files that a command wrote."""

    def __init__(self, *paths: Any, said: str = "written: {}", notes: tuple[str, ...] = ()) -> None:
        """Name the files; ``said`` is the sentence about each, and notes go to the standard error."""
        self.paths, self._said, self.notes = paths, said, notes

    def lines(self) -> Iterator[Shown]:
        """A sentence about each file."""
        for path in self.paths:
            yield self._said.format(escape(str(path)))


def show_lines(console: Console, lines: Iterable[Shown]) -> None:
    """Print lines unwrapped, and tables as wide as the console."""
    for line in lines:
        console.print(line, soft_wrap=isinstance(line, str | Text))
