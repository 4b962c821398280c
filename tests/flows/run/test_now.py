"""What a pass does now is kept beside the run, and nothing depends on it."""

from __future__ import annotations

import math
from pathlib import Path

from lakatos.flows.run.now import MOST_NOTES, NOW_FILE, KeptMoment, read_now
from lakatos.flows.run.progress import CampaignProgress, ProgressEvent, ProgressSink
from lakatos.flows.stages.revise import SearchReport, WorkReport


class Told(CampaignProgress):
    """Progress whose events are kept."""

    def __init__(self, *sinks: ProgressSink) -> None:
        super().__init__(self.keep, *sinks)
        self.details: list[str] = []

    def keep(self, event: ProgressEvent) -> None:
        if event.kind == "stage":
            self.details.append(event.detail)


def test_the_newest_stage_and_the_last_notes_are_kept(tmp_path: Path) -> None:
    clock = [1000.0]
    kept = Told(KeptMoment(tmp_path, lambda: clock[0]))
    kept.start("a study", 3)
    assert not (tmp_path / NOW_FILE).exists()
    kept.stage(2, "revise", "1 of 60")
    for number in range(MOST_NOTES + 3):
        kept.note(f"note\x1b {number}")
    found = read_now(tmp_path)
    assert found is not None
    assert found.words == "cycle 2: revise: 1 of 60"
    assert len(found.notes) == MOST_NOTES
    assert found.notes[-1] == f"note\ufffd {MOST_NOTES + 2}"
    assert found.at == 1000.0


def test_counts_that_follow_at_once_are_shown_and_not_all_written(tmp_path: Path) -> None:
    clock = [1000.0]
    kept = Told(KeptMoment(tmp_path, lambda: clock[0]))
    for number in range(3):
        kept.stage(1, "revise", str(number))
    assert kept.details == ["0", "1", "2"]
    found = read_now(tmp_path)
    assert found is not None
    assert found.detail == "0"
    clock[0] += 1
    kept.stage(1, "revise", "3")
    again = read_now(tmp_path)
    assert again is not None
    assert again.detail == "3"


def test_a_folder_that_takes_nothing_and_a_torn_file_stop_nobody(tmp_path: Path) -> None:
    gone = CampaignProgress(KeptMoment(tmp_path / "file"))
    (tmp_path / "file").write_text("no folder")
    gone.stage(1, "score")
    (tmp_path / NOW_FILE).write_text("{")
    assert read_now(tmp_path) is None


def test_a_search_says_how_far_it_is_how_good_and_how_long_it_takes() -> None:
    clock, told = [0.0], Told()
    said = SearchReport(WorkReport(told, 2, lambda: clock[0]), 40)
    said(4, -math.inf)
    clock[0] = 6.0
    said(10, -0.61234)
    said(44, -0.6)
    assert told.details == [
        "4 of 40 candidates evaluated",
        "10 of 40 candidates evaluated, best search criterion -0.6123 nats per choice, about 30 s left",
        "40 of 40 candidates evaluated, best search criterion -0.6000 nats per choice",
    ]


def test_what_is_more_work_counts_more_in_the_time_that_is_left() -> None:
    clock, told = [0.0], Told()
    said = WorkReport(told, 1, lambda: clock[0])
    said("steps", 0, 2, -math.inf, 0.0)
    clock[0] = 5.0
    said("steps", 1, 2, -math.inf, 0.5)
    said("fits", 0, 4, -math.inf, 0.0)
    clock[0] = 15.0
    said("fits", 1, 4, -0.5, 0.1)
    assert told.details == [
        "0 of 2 steps",
        "1 of 2 steps, about 5 s left",
        "0 of 4 fits",
        "1 of 4 fits, best search criterion -0.5000 nats per choice, about 1 min 30 s left",
    ]
