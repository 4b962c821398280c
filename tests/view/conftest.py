"""Runs for the observatory: one that was written with hostile texts, and one that was carried to its verdict."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
FLOWS = HERE.parent / "flows"
sys.path[:0] = [str(HERE), str(FLOWS), str(FLOWS / "report")]

from small import small_study  # noqa: E402
from test_report import WrittenRun  # noqa: E402

from lakatos.flows.start import run_study  # noqa: E402


@pytest.fixture(scope="session")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Everything that can happen has happened, and every text tries to break out of the page."""
    return WrittenRun(tmp_path_factory.mktemp("runs") / "small").write("concluded")


@pytest.fixture(scope="session")
def campaign(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small campaign that was carried to its verdict."""
    folder = tmp_path_factory.mktemp("campaigns") / "small"
    run_study(small_study(), folder, n_workers=1)
    return folder
