"""What a run of the golden file knows, for tests that need evidence and no campaign of their own."""

from __future__ import annotations

import tarfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from lakatos.domains import DOMAINS, FAMILIES
from lakatos.flows.run.evidence import RunEvidence, terms_of
from lakatos.flows.run.run import read_state
from lakatos.theories.engine.laboratory import Laboratory

GOLDEN = Path(__file__).resolve().parent / "format-1.tar.gz"


@contextmanager
def released_evidence(place: Path) -> Iterator[RunEvidence]:
    """The campaign with simulated participants when it ended: two experiments, five theories, nothing sealed."""
    with tarfile.open(GOLDEN) as kept:
        kept.extractall(place, filter="data")
    state, trace = read_state(place / "runs" / "simulated")
    config = state.campaign.config
    assert config is not None
    domain = DOMAINS["multiattribute"]
    with trace, Laboratory(domain, n_workers=1) as laboratory:
        yield RunEvidence(
            terms=terms_of(config),
            domain=domain,
            family=FAMILIES["multiattribute"],
            laboratory=laboratory,
            artifacts=trace.artifacts,
            experiments=state.experiments,
            theories=state.theories,
            seeds=tuple(state.seeds),
            forms={},
            tables={},
            config=config,
            state=state,
            libraries={},
        )
