"""End of a command: its exit status, and one line for an error that a user can mend."""

from __future__ import annotations

import os
import re
import signal
import sys
import threading
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

from lakatos.flows.errors import TerminatedError
from lakatos.flows.operations.known_errors import exit_status, known_errors
from lakatos.traces.home import settle_caches
from lakatos.traces.wording import printable


def run_command(work: Callable[[], object]) -> None:
    """Do what a command does; ends the process with a status and one line where it fails."""
    try:
        settle_caches()
        with ended_in_order():
            work()
    except KeyboardInterrupt:
        sys.exit(130)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
    except known_errors() as error:
        if os.environ.get("LAKATOS_DEBUG"):
            traceback.print_exc()
        sys.stderr.write(f"lakatos: {printable(_in_words(error))}\n")
        sys.exit(exit_status(error))


@contextmanager
def ended_in_order() -> Iterator[None]:
    """Have SIGTERM and SIGHUP first undo what is half done, as Ctrl-C does, and then end the process as they would."""
    received: list[int] = []
    is_main = threading.current_thread() is threading.main_thread()
    numbers = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]
    handled = [
        number for number in numbers if is_main and signal.getsignal(number) is signal.SIG_DFL
    ]

    def restore() -> None:
        for number in handled:
            signal.signal(number, signal.SIG_DFL)

    def leave(number: int, frame: FrameType | None) -> None:
        restore()  # the next one ends the process at once
        received.append(number)
        raise TerminatedError("asked to end")

    for number in handled:
        signal.signal(number, leave)
    try:
        yield
    finally:
        restore()
        if received:
            os.kill(os.getpid(), received[0])


def _in_words(error: Exception) -> str:
    """An error in one line that says what to do."""
    words = re.sub(r"\s*\n\s*", " ", str(error)).strip() or type(error).__name__
    if isinstance(error, MemoryError):
        return f"this machine has too little memory ({words}). Use fewer trials, participants, candidates or draws"
    if not isinstance(error, OSError) or not error.strerror:
        return words
    if error.filename is None:
        return f"{error.strerror}. Free the space or mend the permission, then `lakatos resume` the run"
    place = error.filename2 or error.filename
    return f"{place}: {error.strerror}. Name another place, or mend its permission"
