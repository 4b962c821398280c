"""Printing for commands: what files, people and models say is shown, and never obeyed by the terminal."""

from __future__ import annotations

import sys
from collections.abc import Iterable

from rich import console as rich_console
from rich import markup
from rich.segment import Segment

from lakatos.traces.wording import printable


class Console(rich_console.Console):
    """A console that shows control codes in texts as escapes; only its own colours reach the terminal."""

    def render(
        self,
        renderable: rich_console.RenderableType,
        options: rich_console.ConsoleOptions | None = None,
    ) -> Iterable[Segment]:
        """Segments of what is printed, without control codes in their texts."""
        for segment in super().render(renderable, options):
            if segment.control:
                yield segment
            else:
                yield Segment(printable(segment.text), segment.style)


def escape(text: str) -> str:
    """Text for a console, in which neither square brackets nor control codes mean anything."""
    return markup.escape(printable(text))


def write(text: str) -> None:
    """Write text to the standard output as it is, but for control codes."""
    sys.stdout.write(printable(text))
