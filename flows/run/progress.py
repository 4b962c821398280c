"""Display of a campaign while it runs: a live display, plain lines, or nothing.

Names and texts come from theories and models, so they are untrusted: control characters are replaced and Rich markup
is never interpreted.
"""

from __future__ import annotations

import re
import sys
import time
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, Self, TextIO

from rich.console import Group, RenderableType
from rich.live import Live
from rich.spinner import Spinner
from rich.table import Table
from rich.text import Text

from lakatos.flows.run.console import Console
from lakatos.traces.wording import printable

_HIDDEN = {"Cc", "Cf", "Cs", "Co", "Zl", "Zp"}
"""Unicode categories that can move the cursor, reorder or hide text."""
MOST_OF_VERDICT = 20_000
"""Letters of a verdict that are printed."""
SENTENCE_END = re.compile(r"(?<=[a-z0-9)%]\.) (?=[A-Z])")


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


@dataclass(frozen=True)
class ProgressEvent:
    """Something that happened in a campaign, as every sink receives it."""

    kind: Literal[
        "campaign", "stage", "rivals", "leaderboard", "note", "waiting", "finished", "left"
    ]
    """The last one is not shown: the program leaves the campaign, with or without an error."""
    text: str = ""
    """The question, the stage, the note, what is waited for or the verdict."""
    detail: str = ""
    """Detail of a stage."""
    cycle: int = 0
    """Cycle of a stage; 0 outside cycles."""
    n_cycles: int = 0
    """Most cycles of a campaign, where one begins."""
    names: tuple[str, ...] = ()
    """The rivals that the next experiment is to tell apart."""
    rows: tuple[LeaderRow, ...] = ()
    """Standing of the rivals, the best first."""


ProgressSink = Callable[[ProgressEvent], None]


class CampaignProgress:
    """Passes what happens in a campaign to its sinks. A context manager; leaving it ends the displays."""

    def __init__(self, *sinks: ProgressSink) -> None:
        self.sinks = sinks

    def start(self, title: str, n_cycles: int) -> None:
        """A campaign of at most ``n_cycles`` cycles begins."""
        self._pass(ProgressEvent("campaign", title, n_cycles=n_cycles))

    def stage(self, cycle: int, name: str, detail: str = "") -> None:
        """A stage of a cycle begins."""
        self._pass(ProgressEvent("stage", name, detail, cycle))

    def rivals(self, names: Sequence[str]) -> None:
        """The theories that the next experiment is to tell apart."""
        self._pass(ProgressEvent("rivals", names=tuple(names)))

    def leaderboard(self, rows: Sequence[LeaderRow]) -> None:
        """Show how the rivals stand, the best first."""
        self._pass(ProgressEvent("leaderboard", rows=tuple(rows)))

    def note(self, text: str) -> None:
        """Something happened that a person should be able to read later."""
        self._pass(ProgressEvent("note", text))

    def waiting(self, text: str) -> None:
        """Nothing can go on until ``text``."""
        self._pass(ProgressEvent("waiting", text))

    def finish(self, text: str) -> None:
        """Show that the campaign ended, and with which verdict."""
        self._pass(ProgressEvent("finished", text))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self._pass(ProgressEvent("left"))

    def _pass(self, event: ProgressEvent) -> None:
        for sink in self.sinks:
            sink(event)


def clean(text: str, limit: int = 2000) -> str:
    """One line of ``text`` that is safe to print: no control characters, no reordering marks."""
    short = text if len(text) <= limit else text[: limit - 1] + "…"
    shown = "".join(
        "\ufffd" if unicodedata.category(letter) in _HIDDEN and letter not in "\n\t\r" else letter
        for letter in short
    )
    return " ".join(shown.split())


def sentences_of(text: str) -> list[str]:
    """The sentences of a verdict, each a line that is safe to print."""
    return SENTENCE_END.split(clean(text, MOST_OF_VERDICT))


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


class PlainLines:
    """One line for everything that happens, for logs and pipes."""

    def __init__(
        self, stream: TextIO | None = None, *, now: Callable[[], float] = time.monotonic
    ) -> None:
        self._stream = stream or sys.stderr
        self._clock = _CycleClock(now)
        self._rows: tuple[LeaderRow, ...] = ()
        self._rivals: tuple[str, ...] = ()
        self._waiting = ""

    def __call__(self, event: ProgressEvent) -> None:
        """Print what happened; rivals, standings and what is waited for only when they changed."""
        text = clean(event.text)
        match event.kind:
            case "campaign":
                self._clock.restart(event.n_cycles)
                self._line(f"{text}: at most {event.n_cycles} cycle{'s' * (event.n_cycles != 1)}")
            case "stage":
                self._clock.enter(event.cycle)
                self._waiting = ""
                where = f"cycle {event.cycle}: " if event.cycle > 0 else ""
                self._line(f"{where}{text}{': ' + clean(event.detail) if event.detail else ''}")
            case "rivals" if event.names != self._rivals:
                self._rivals = event.names
                self._line("rivals: " + ", ".join(clean(name) for name in event.names))
            case "leaderboard" if event.rows != self._rows:
                self._rows = event.rows
                self._standings()
            case "note":
                self._line(text)
            case "waiting" if event.text != self._waiting:
                self._waiting = event.text
                self._line(text)
            case "finished":
                *before, last = sentences_of(event.text)
                for line in before:
                    self._line(line)
                self._line(f"{last} ({duration(self._clock.elapsed_s)})")

    def _standings(self) -> None:
        for rank, row in enumerate(self._rows, 1):
            note = " (tied with the leader)" if row.tied and rank > 1 else ""
            if rank == 1 and row.nats < max(other.nats for other in self._rows):
                note = " (first: simplest or published, within one SE of the best)"
            self._line(
                f"  {rank}. {clean(row.name)}: {row.nats:.3f} nats per choice, error {row.error:.4f}{note}"
            )

    def _line(self, text: str) -> None:
        print(printable(text), file=self._stream, flush=True)


class LiveDisplay:
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

    def __call__(self, event: ProgressEvent) -> None:
        """Draw what changed; the last standings stay when the campaign ends, the rest of the display goes."""
        text = clean(event.text)
        if event.kind in ("finished", "left"):
            self._end()
        match event.kind:
            case "campaign":
                self._title = text
                self._clock.restart(event.n_cycles)
            case "stage":
                self._clock.enter(event.cycle)
                self._cycle, self._stage, self._detail = event.cycle, text, clean(event.detail)
                self._waiting = ""
            case "rivals":
                self._names = tuple(clean(name) for name in event.names)
            case "leaderboard":
                self._rows = event.rows
            case "waiting":
                self._waiting = text
            case "finished":
                if self._rows:
                    self._console.print(self._table())
                lines = "\n".join(sentences_of(event.text))
                self._console.print(Text(f"{lines} ({duration(self._clock.elapsed_s)})"))
        if event.kind not in ("finished", "left"):
            self._show()
        if event.kind == "note":  # a line above the display
            self._console.print(Text(text))

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
                Text(f"{row.nats:.3f}"),
                Text(f"{row.error:.4f}"),
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


def display() -> ProgressSink:
    """A live display on a terminal, plain lines elsewhere."""
    console = Console(stderr=True)
    if console.is_terminal and not console.is_dumb_terminal:
        return LiveDisplay(console)
    return PlainLines()
