"""Tests of verdicts read the evidence of a released journal: two experiments, five theories, nothing sealed."""

from __future__ import annotations

import tarfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from lakatos.domains import DOMAINS, FAMILIES
from lakatos.flows.run.evidence import terms_of
from lakatos.flows.run.run import read_state
from lakatos.theories.engine.evidence import TheoryEvidence
from lakatos.theories.engine.laboratory import Laboratory

GOLDEN = Path(__file__).resolve().parents[3] / "golden" / "format-1.tar.gz"


@pytest.fixture(scope="session")
def evidence(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TheoryEvidence]:
    """What the campaign with simulated participants knew when it ended."""
    place = tmp_path_factory.mktemp("golden")
    with tarfile.open(GOLDEN) as kept:
        kept.extractall(place, filter="data")
    state, trace = read_state(place / "runs" / "simulated")
    domain = DOMAINS["multiattribute"]
    assert state.campaign.config is not None
    with trace, Laboratory(domain, n_workers=1) as laboratory:
        yield TheoryEvidence(
            terms=terms_of(state.campaign.config),
            domain=domain,
            family=FAMILIES["multiattribute"],
            laboratory=laboratory,
            artifacts=trace.artifacts,
            experiments=state.experiments,
            theories=state.theories,
            seeds=tuple(state.seeds),
            forms={},
            tables={},
        )
