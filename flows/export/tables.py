"""A run as tables that any program reads: verdict, leaderboard, the leader's people, answers."""

from __future__ import annotations

from pathlib import Path

from lakatos.flows.notebook.study import StudyOutcome
from lakatos.flows.report.spreadsheet import csv_of
from lakatos.traces.artifact import write_whole


def write_tables(folder: Path, out: Path) -> list[Path]:
    """Write ``verdict.txt`` and, as CSV, ``leaderboard``, ``leader`` and ``answers``; returns the files.

    Raises:
        RunMissingError: There is no run.
        StudyError: No theory was scored yet.
    """
    outcome, leader = StudyOutcome(folder), StudyOutcome(folder).theory()
    texts = {
        "verdict.txt": f"{outcome.verdict}\n",
        "leaderboard.csv": csv_of(outcome.leaderboard),
        "leader.csv": csv_of(leader.people),
        "leader.py": leader.source,
        "answers.csv": csv_of(outcome.answers.frame),
    }
    out.mkdir(parents=True, exist_ok=True)
    for name, text in texts.items():
        write_whole(out / name, text.encode())
    return [out / name for name in texts]
