"""Runs for the observatory: one that was carried to its verdict, and one in which all text is hostile."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parent / "flows")]

from small import small_study  # noqa: E402
from test_report import WrittenRun  # noqa: E402

from flows.start import run_study  # noqa: E402


@pytest.fixture(scope="session")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small campaign with its verdict."""
    folder = tmp_path_factory.mktemp("runs") / "small"
    study = small_study(
        theories__candidates=4,
        theories__draws=32,
        theories__rivals=2,
        design__trials=8,
        design__participants=12,
        design__candidates=30,
    )
    run_study(study, folder, n_workers=1)
    return folder


@pytest.fixture(scope="session")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Everything that can happen has happened, and every text tries to break out of the page."""
    return WrittenRun(tmp_path_factory.mktemp("written") / "eventful").write("concluded")
