from __future__ import annotations

import contextlib
import io
from collections.abc import Callable

import pytest
from rich.console import Console

from lakatos.flows.run.progress import (
    CampaignProgress,
    LeaderRow,
    LiveDisplay,
    PlainLines,
    ProgressEvent,
    clean,
    duration,
)

HOSTILE = "evil[bold red]x[/] \x1b[2J\x1b]0;owned\x07 \u202egnp\u202c\r\nnext"
HIDDEN_CURSOR, SHOWN_CURSOR = "\x1b[?25l", "\x1b[?25h"
ROWS = (
    LeaderRow(name="Tallying", nats=-0.51234, error=0.01, tied=True),
    LeaderRow(name=HOSTILE, nats=-0.6, error=0.02, tied=True),
)


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def plain(stream: io.StringIO, clock: Clock) -> CampaignProgress:
    return CampaignProgress(PlainLines(stream, now=clock))


def live(stream: io.StringIO, clock: Clock) -> CampaignProgress:
    console = Console(file=stream, width=120, force_terminal=False)
    return CampaignProgress(LiveDisplay(console, now=clock))


def campaign(progress: CampaignProgress, clock: Clock) -> None:
    with progress:
        progress.waiting("loading [Prefect] ...")
        progress.start("A study", 3)
        progress.stage(1, "design", HOSTILE)
        progress.rivals(["Tallying", HOSTILE])
        progress.leaderboard(ROWS)
        progress.note(HOSTILE)
        clock.now += 65
        progress.stage(2, "score")
        progress.finish("the end")


@pytest.mark.parametrize("make", [plain, live])
def test_untrusted_text_neither_controls_the_terminal_nor_is_read_as_markup(
    make: Callable[[io.StringIO, Clock], CampaignProgress],
) -> None:
    stream, clock = io.StringIO(), Clock()
    campaign(make(stream, clock), clock)
    shown = stream.getvalue()
    assert not {"\x1b", "\x07", "\u202e", "\r"} & set(shown)
    assert "evil[bold red]x[/]" in shown
    assert "the end (1 min 05 s)" in shown


def test_the_live_display_redraws_without_leaking_control_characters() -> None:
    stream, clock = io.StringIO(), Clock()
    console = Console(file=stream, width=120, force_terminal=True, color_system=None)
    campaign(CampaignProgress(LiveDisplay(console, now=clock)), clock)
    shown = stream.getvalue()
    assert "cycle 1 of 3" in shown
    assert "about 2 min 10 s left at most" in shown
    assert "\x1b[2J" not in shown
    assert "owned\x07" not in shown
    assert "\u202e" not in shown


def test_plain_lines_say_everything_once() -> None:
    stream, clock = io.StringIO(), Clock()
    progress = CampaignProgress(PlainLines(stream, now=clock))
    progress.waiting("starting ...")
    progress.waiting("starting ...")
    progress.start("A study", 1)
    progress.leaderboard(ROWS[:1])
    progress.leaderboard(ROWS[:1])
    progress.rivals(["a", "b"])
    progress.rivals(["a", "b"])
    assert stream.getvalue().splitlines() == [
        "starting ...",
        "A study: at most 1 cycle",
        "  1. Tallying: -0.512 nats per choice, error 0.0100",
        "rivals: a, b",
    ]


def test_a_leader_with_a_lower_score_than_another_theory_is_said_to_be_the_simplest() -> None:
    stream = io.StringIO()
    higher = LeaderRow(name="Adding", nats=-0.5, error=0.01, tied=True)
    plain(stream, Clock()).leaderboard([ROWS[0], higher])
    assert stream.getvalue().splitlines() == [
        "  1. Tallying: -0.512 nats per choice, error 0.0100 (first: simplest or published, within one SE of the best)",
        "  2. Adding: -0.500 nats per choice, error 0.0100 (tied with the leader)",
    ]


def test_every_sink_receives_every_event_in_order_and_the_end_also_after_an_error() -> None:
    first: list[ProgressEvent] = []
    second: list[ProgressEvent] = []
    progress = CampaignProgress(first.append, second.append)
    campaign(progress, Clock())
    with pytest.raises(ZeroDivisionError), progress:
        raise ZeroDivisionError
    assert first == second
    assert [event.kind for event in first] == [
        "waiting",
        "campaign",
        "stage",
        "rivals",
        "leaderboard",
        "note",
        "stage",
        "finished",
        "left",
        "left",
    ]
    assert first[2] == ProgressEvent("stage", "design", HOSTILE, cycle=1)
    assert first[4].rows == ROWS


def test_the_live_display_goes_when_an_error_leaves_the_campaign() -> None:
    stream = io.StringIO()
    console = Console(file=stream, width=120, force_terminal=True, color_system=None)
    with contextlib.suppress(ZeroDivisionError), CampaignProgress(LiveDisplay(console)) as progress:
        progress.stage(1, "score")
        assert HIDDEN_CURSOR in stream.getvalue()
        raise ZeroDivisionError
    assert SHOWN_CURSOR in stream.getvalue()


def test_silence_is_silent(capsys: pytest.CaptureFixture[str]) -> None:
    campaign(CampaignProgress(), Clock())
    assert capsys.readouterr() == ("", "")


def test_cleaning_keeps_one_line_of_letters() -> None:
    assert clean(" a\n\tb\x00c ") == "a b\ufffdc"
    assert clean("é漢字 ±") == "é漢字 ±"
    assert len(clean("x" * 9000)) == 2000


@pytest.mark.parametrize(
    ("seconds", "said"), [(7.6, "8 s"), (200, "3 min 20 s"), (7500, "2 h 05 min"), (-1, "0 s")]
)
def test_durations_read_like_speech(seconds: float, said: str) -> None:
    assert duration(seconds) == said


def test_a_verdict_is_printed_whole_sentence_by_sentence() -> None:
    stream = io.StringIO()
    long = f"No theory was shown to predict best (0.95). {'Very ' * 600}long. Of 960 responses, 240 were sealed."
    CampaignProgress(PlainLines(stream)).finish(long)
    lines = stream.getvalue().splitlines()
    assert len(lines) == 3
    assert lines[0] == "No theory was shown to predict best (0.95)."
    assert lines[1].endswith("long.")
    assert lines[2].startswith("Of 960 responses, 240 were sealed. (")
