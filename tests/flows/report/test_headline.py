"""What the head of a report claims, beside the leaderboard of the same report."""

from __future__ import annotations

import re
from html import unescape
from pathlib import Path

import pytest
from small import small_study

from lakatos.flows.report.report import write_report
from lakatos.flows.start import run_study


def page_of(folder: Path, **changes: object) -> str:
    """The words of the report of a campaign of one cycle."""
    study = small_study(
        theories__candidates=2, theories__successors=1, theories__induction=False,
        theories__draws=64, design__trials=8, design__candidates=20, design__refused="cover",
        stop={"cycles": 1, "least_cycles": 1}, **changes,
    )  # fmt: skip
    run_study(study, folder, n_workers=1)
    text = write_report(folder).read_text("utf-8")
    body = text[text.index("</style>") :]
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", body)).split())


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 2])
def test_three_participants_who_click_at_random_show_nothing(seed: int, tmp_path: Path) -> None:
    page = page_of(
        tmp_path / "run", seed=seed, design__participants=3, participants__random_choices=1.0
    )
    assert "Supported:" not in page
    assert "Result No finding" in page
    assert "No finding: 3 participants responded, and with fewer than 10 no difference" in page
    assert "The mean squared error of its choice proportions is" not in page
    assert not re.search(
        "predicts choices better|no evidence of a misfit|was shown to predict", page
    )


@pytest.mark.slow
def test_many_participants_who_follow_a_published_theory_show_that_it_leaves_nothing(
    tmp_path: Path,
) -> None:
    """It is ahead of the other initial theories, and no discovery."""
    page = page_of(
        tmp_path / "run",
        theories__seeds=["take_the_best", "tallying", "weighted_additive"],
        design__participants=60,
    )
    assert "Supported:" not in page
    assert "No theory was shown to predict best" not in page
    assert re.search("and these data give no evidence of a misfit: its misfit ratio", page)
    assert "Exploratory" not in page
    assert "predicts choices better than" in page
    assert "There is no clear evidence that" not in page
