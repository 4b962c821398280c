"""What a person sees while a campaign runs: a live display, plain lines, or nothing.

Names and texts come from theories and models, so they are untrusted: control characters are replaced and Rich markup
is never interpreted.
"""

from __future__ import annotations

import sys
import time
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol, Self, TextIO

from rich.console import Group, RenderableType
from rich.live import Live
from rich.spinner import Spinner
from rich.table import Table
from rich.text import Text

from lakatos.flows.run.console import Console
from lakatos.traces.wording import printable

_HIDDEN = {"Cc", "Cf", "Cs", "Co", "Zl", "Zp"}
"""Unicode categories that can move the cursor, reorder or hide text."""


@dataclass(frozen=True)
class LeaderRow:
    """A theory's standing, as shown."""

    name: str
    nats: float
    """Log predictive probability per choice, in nats."""
    error: float
    """Mean squared error of choice proportions."""
    tied: bool
    """Whether the theory cannot be told apart from the leader."""


class CampaignProgress(Protocol):
    """Display of a campaign's progress. A context manager; leaving it ends the display."""

    def start(self, title: str, n_cycles: int) -> None:
        """A campaign of at most ``n_cycles`` cycles begins."""

    def stage(self, cycle: int, name: str, detail: str = "") -> None:
        """A stage of a cycle begins."""

    def rivals(self, names: Sequence[str]) -> None:
        """The theories that the next experiment is to tell apart."""

    def leaderboard(self, rows: Sequence[LeaderRow]) -> None:
        """Show how the rivals stand, the best first."""

    def note(self, text: str) -> None:
        """Something happened that a person should be able to read later."""

    def waiting(self, text: str) -> None:
        """Nothing can go on until ``text``."""

    def finish(self, text: str) -> None:
        """Show that the campaign ended, and with which verdict."""

    def __enter__(self) -> Self: ...

    def __exit__(self, *exception: object) -> None: ...


def clean(text: str, limit: int = 2000) -> str:
    """One line of ``text`` that is safe to print: no control characters, no reordering marks."""
    short = text if len(text) <= limit else text[: limit - 1] + "…"
    shown = "".join(
        "\ufffd" if unicodedata.category(letter) in _HIDDEN and letter not in "\n\t\r" else letter
        for letter in short
    )
    return " ".join(shown.split())


def duration(seconds: float) -> str:
    """``seconds`` as a person would say them: ``8 s``, ``3 min 20 s``, ``2 h 05 min``."""
    whole = max(round(seconds), 0)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60:02d} s"
    return f"{whole // 3600} h {whole % 3600 // 60:02d} min"


class _CycleClock:
    """Elapsed and estimated remaining time, from the cycles that ended."""

    def __init__(self, now: Callable[[], float]) -> None:
        self._now = now
        self._begun = now()
        self._cycles_begun: dict[int, float] = {}
        self.n_cycles = 0

    def restart(self, n_cycles: int) -> None:
        """Start the clock: the campaign begins now."""
        self._begun, self.n_cycles = self._now(), n_cycles
        self._cycles_begun.clear()

    def enter(self, cycle: int) -> None:
        """A stage of ``cycle`` begins."""
        if cycle > 0:
            self._cycles_begun.setdefault(cycle, self._now())

    @property
    def elapsed_s(self) -> float:
        """Seconds since the campaign began."""
        return self._now() - self._begun

    @property
    def left_s(self) -> float | None:
        """Estimated seconds left: the mean of the finished cycles, for those not finished; None before one finished."""
        if len(self._cycles_begun) < 2 or not self.n_cycles:
            return None
        begun = sorted(self._cycles_begun.items())
        (first, first_begun), (last, last_begun) = begun[0], begun[-1]
        per_cycle = (last_begun - first_begun) / (last - first)
        return max(per_cycle * (self.n_cycles - last + 1) - (self._now() - last_begun), 0.0)


class SilentProgress:
    """Progress that shows nothing, for tests and programs."""

    def start(self, title: str, n_cycles: int) -> None:
        """Stay silent when the campaign begins."""

    def stage(self, cycle: int, name: str, detail: str = "") -> None:
        """Stay silent about stages."""

    def rivals(self, names: Sequence[str]) -> None:
        """Stay silent about rivals."""

    def leaderboard(self, rows: Sequence[LeaderRow]) -> None:
        """Stay silent about standings."""

    def note(self, text: str) -> None:
        """Stay silent about what happens."""

    def waiting(self, text: str) -> None:
        """Stay silent while people are awaited."""

    def finish(self, text: str) -> None:
        """Stay silent when the campaign ends."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        return None


class PlainProgress:
    """One line for everything that happens, for logs and pipes."""

    def __init__(
        self, stream: TextIO | None = None, *, now: Callable[[], float] = time.monotonic
    ) -> None:
        self._stream = stream or sys.stderr
        self._clock = _CycleClock(now)
        self._shown: tuple[LeaderRow, ...] = ()
        self._rivals: tuple[str, ...] = ()
        self._waiting = ""

    def start(self, title: str, n_cycles: int) -> None:
        """Print that a campaign begins, and start its clock."""
        self._clock.restart(n_cycles)
        self._line(f"{clean(title)}: at most {n_cycles} cycle{'s' * (n_cycles != 1)}")

    def stage(self, cycle: int, name: str, detail: str = "") -> None:
        """A stage of a cycle begins."""
        self._clock.enter(cycle)
        self._waiting = ""
        where = f"cycle {cycle}: " if cycle > 0 else ""
        self._line(f"{where}{clean(name)}{': ' + clean(detail) if detail else ''}")

    def rivals(self, names: Sequence[str]) -> None:
        """The theories that the next experiment is to tell apart, when they changed."""
        if tuple(names) != self._rivals:
            self._rivals = tuple(names)
            self._line("rivals: " + ", ".join(clean(name) for name in names))

    def leaderboard(self, rows: Sequence[LeaderRow]) -> None:
        """The standings, when they changed."""
        if tuple(rows) == self._shown:
            return
        self._shown = tuple(rows)
        for rank, row in enumerate(rows, 1):
            self._line(
                f"  {rank}. {clean(row.name)}: {_number(row.nats)} nats per choice, "
                f"error {_number(row.error, 4)}"
                f"{' (tied with the leader)' if row.tied and rank > 1 else ''}"
            )

    def note(self, text: str) -> None:
        """Print a line about something that happened."""
        self._line(clean(text))

    def waiting(self, text: str) -> None:
        """Nothing can go on until ``text``; said once."""
        if text != self._waiting:
            self._waiting = text
            self._line(clean(text))

    def finish(self, text: str) -> None:
        """Print how the campaign ended, and how long it took."""
        self._line(f"{clean(text)} ({duration(self._clock.elapsed_s)})")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        return None

    def _line(self, text: str) -> None:
        print(printable(text), file=self._stream, flush=True)


class LiveProgress:
    """A display that is redrawn in place, with what happened above it."""

    def __init__(
        self, console: Console | None = None, *, now: Callable[[], float] = time.monotonic
    ) -> None:
        self._console = console or Console(stderr=True)
        self._clock = _CycleClock(now)
        self._title, self._cycle, self._stage, self._detail, self._waiting = "", 0, "", "", ""
        self._names: tuple[str, ...] = ()
        self._rows: tuple[LeaderRow, ...] = ()
        self._spinner = Spinner("dots")
        self._live: Live | None = None

    def start(self, title: str, n_cycles: int) -> None:
        """A campaign begins; the display appears."""
        self._title = clean(title)
        self._clock.restart(n_cycles)
        self._show()

    def stage(self, cycle: int, name: str, detail: str = "") -> None:
        """A stage of a cycle begins."""
        self._clock.enter(cycle)
        self._cycle, self._stage, self._detail, self._waiting = (
            cycle,
            clean(name),
            clean(detail),
            "",
        )
        self._show()

    def rivals(self, names: Sequence[str]) -> None:
        """The theories that the next experiment is to tell apart."""
        self._names = tuple(clean(name) for name in names)
        self._show()

    def leaderboard(self, rows: Sequence[LeaderRow]) -> None:
        """Show how the rivals stand, the best first."""
        self._rows = tuple(rows)
        self._show()

    def note(self, text: str) -> None:
        """A line above the display."""
        self._show()
        self._console.print(Text(clean(text)))

    def waiting(self, text: str) -> None:
        """Nothing can go on until ``text``."""
        self._waiting = clean(text)
        self._show()

    def finish(self, text: str) -> None:
        """The campaign ended: the last standings stay, the rest of the display goes."""
        self._end()
        if self._rows:
            self._console.print(self._table())
        self._console.print(Text(f"{clean(text)} ({duration(self._clock.elapsed_s)})"))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self._end()

    def __rich__(self) -> RenderableType:
        """The display, drawn anew a few times a second."""
        parts: list[RenderableType] = []
        if self._title:
            parts.append(Text(self._title, style="bold"))
        cycle = (
            f"cycle {self._cycle} of {self._clock.n_cycles}"
            if self._cycle > 0 and self._clock.n_cycles
            else ""
        )
        doing = self._waiting or self._stage + (f": {self._detail}" if self._detail else "")
        if doing:
            self._spinner.update(
                text=Text("  ".join(part for part in (cycle, doing) if part), overflow="ellipsis")
            )
            parts.append(self._spinner)
        if self._names:
            parts.append(Text("rivals: " + ", ".join(self._names), style="cyan"))
        if self._rows:
            parts.append(self._table())
        left = self._clock.left_s
        parts.append(
            Text(
                duration(self._clock.elapsed_s)
                + (f", about {duration(left)} left at most" if left is not None else ""),
                style="dim",
            )
        )
        return Group(*parts)

    def _table(self) -> Table:
        table = Table(box=None, pad_edge=False)
        table.add_column("theory", no_wrap=True, overflow="ellipsis")
        for heading in ("nats per choice", "error", ""):
            table.add_column(heading, justify="left" if not heading else "right")
        for rank, row in enumerate(self._rows):
            table.add_row(
                Text(clean(row.name, 60), style="bold" if rank == 0 else ""),
                Text(_number(row.nats)),
                Text(_number(row.error, 4)),
                Text("tied" if row.tied and rank > 0 else ""),
            )
        return table

    def _show(self) -> None:
        if self._live is None:
            self._live = Live(
                self,
                console=self._console,
                transient=True,
                refresh_per_second=1,  # drawing takes 5 to 30 ms of a processor
                redirect_stdout=False,
                redirect_stderr=False,
            )
            self._live.start()

    def _end(self) -> None:
        if self._live is not None:
            self._live.stop()
            self._live = None


def choose_progress(*, quiet: bool = False) -> CampaignProgress:
    """A live display on a terminal, plain lines elsewhere, nothing when ``quiet``."""
    if quiet:
        return SilentProgress()
    console = Console(stderr=True)
    return (
        LiveProgress(console)
        if console.is_terminal and not console.is_dumb_terminal
        else PlainProgress()
    )


def _number(value: float | None, digits: int = 3) -> str:
    return "-" if value is None else f"{value:.{digits}f}"
