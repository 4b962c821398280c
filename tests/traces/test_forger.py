"""A forger who has everything but the laboratory's key and the second place of heads."""

import pytest

from benchmarks.traces.forge import TYPES, HonestRun, try_forgery
from lakatos.traces.verify import verify


@pytest.fixture
def run(tmp_path, monkeypatch) -> HonestRun:
    monkeypatch.setenv("LAKATOS_HOME", str(tmp_path / "home"))
    monkeypatch.delenv("LAKATOS_HEADS", raising=False)
    return HonestRun(tmp_path)


@pytest.mark.slow
def test_every_journal_written_anew_is_found_and_none_is_signed(run) -> None:
    """The first of the 10,000 of ``benchmarks/traces/forge.py``."""
    kinds = set()
    for number in range(150):
        done, found, signed = try_forgery(run, number)
        assert found, (number, done)
        assert not signed, (number, done)
        kinds.add(done)
    assert len(kinds) > 25
    assert verify(run.folder, TYPES).ok
