"""Tests of judges' stages read the evidence of a released journal."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from lakatos.flows.run.evidence import RunEvidence

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "golden"))
from released import released_evidence


@pytest.fixture(scope="session")
def evidence(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunEvidence]:
    """What the campaign with simulated participants knew when it ended."""
    with released_evidence(tmp_path_factory.mktemp("golden")) as known:
        yield known
