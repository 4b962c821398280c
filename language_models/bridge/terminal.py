"""Answers from a terminal: each question is shown, and what is typed becomes its answer in the folder."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TextIO

from lakatos.language_models.bridge.folder import QuestionFolder

END = "."
"""A line by itself that ends an answer."""
SKIP = "skip"
POLL_S = 0.3


def answer_from_terminal(
    folder: QuestionFolder,
    typed: TextIO,
    show: Callable[[str], None],
    is_over: Callable[[], bool] = lambda: False,
) -> None:
    """Show questions as they come and write what is typed as their answers, until nothing more is typed.

    Args:
        folder: Folder of the questions.
        typed: Lines; one that is ``.`` ends an answer, ``skip`` leaves a question to the folder.
        show: Prints a text.
        is_over: Whether to stop.
    """
    skipped: set[str] = set()
    while not is_over():
        waiting = [name for name in folder.unanswered() if name not in skipped]
        if not waiting:
            time.sleep(POLL_S)
            continue
        name = waiting[0]
        show(folder.text(name))
        show(f"Answer to {name}, then a line with {END!r}; or {SKIP!r}:")
        lines: list[str] = []
        for line in typed:
            if line.strip() == END or (not lines and line.strip() == SKIP):
                break
            lines.append(line)
        else:
            return  # nothing more is typed; the folder still takes answers
        if not lines:
            skipped.add(name)
            continue
        text = "".join(lines)
        folder.write_answer(name, text, "json" if text.lstrip().startswith("{") else "txt")
