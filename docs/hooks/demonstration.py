"""Run the demonstration, and show what it prints in the README, its report in a picture, and its figure in the gallery.

    python docs/hooks/demonstration.py

A change of the science changes these numbers; `tests/test_documentation.py` compares the README with a run (`-m long`).
Needs Chromium for the picture.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
README, PICTURE = ROOT / "README.md", ROOT / "docs" / "images" / "report.png"
FIGURE = ROOT / "docs" / "images" / "gallery" / "demo.svg"
WIDTH, HEIGHT = 1100, 760
BOARD = re.compile(r"cycle (?P<cycle>\d+): score: .*\n(?:  \d+\. .*\n)+")
"""A leaderboard as the demonstration prints it."""


def demonstrate(runs: Path) -> str:
    """Run the demonstration in a folder, and return what it prints."""
    command = [sys.executable, "-m", "lakatos.flows.commands.main", "demo", "--runs", str(runs)]
    done = subprocess.run(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=True, cwd=ROOT
    )
    return done.stdout


def last_board(printed: str) -> str:
    """Return the last leaderboard in what the demonstration printed."""
    *_, board = BOARD.finditer(printed)
    return board[0]


def board_of(readme: str) -> str:
    """Return the leaderboard in the README, without its indent."""
    found = re.search(r"(?:^    .*\n)+", readme[readme.index("    cycle ") :], re.MULTILINE)
    assert found is not None
    return re.sub(r"^    ", "", found[0], flags=re.MULTILINE)


def with_board(readme: str, board: str) -> str:
    """Return the README with another leaderboard."""

    def indented(text: str) -> str:
        return re.sub(r"^", "    ", text.rstrip("\n"), flags=re.MULTILINE) + "\n"

    return readme.replace(indented(board_of(readme)), indented(board))


def photograph(report: Path) -> None:
    """Write a picture of the first page of a report."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"))
        page = browser.new_page(viewport={"width": WIDTH, "height": HEIGHT})
        page.goto(report.as_uri())
        page.screenshot(path=str(PICTURE))
        browser.close()


def main() -> None:
    """Bring README and pictures up to date."""
    from gallery import picture_of

    with tempfile.TemporaryDirectory() as folder:
        board = last_board(demonstrate(Path(folder)))
        (report,) = Path(folder).glob("*/report.html")
        readme = README.read_text(encoding="utf-8")
        README.write_text(with_board(readme, board), encoding="utf-8")
        FIGURE.write_text(picture_of(report.read_text(encoding="utf-8")), encoding="utf-8")
        photograph(report)
    print(board)


if __name__ == "__main__":
    main()
