"""The whole loop in the shortest campaign that there is: run to its verdict, audited, reported."""

from __future__ import annotations

import sys
from html import escape
from pathlib import Path

import pytest

from lakatos.flows.audit.audit import audit
from lakatos.flows.report.report import write_report
from lakatos.flows.start import run_study
from lakatos.theories.findings.verdicts.record import CampaignConcluded

sys.path.insert(0, str(Path(__file__).parent))
from small import SHORT, small_study


@pytest.mark.slow
def test_the_shortest_campaign_reaches_a_verdict_that_passes_its_audit_and_is_reported(
    tmp_path: Path,
) -> None:
    folder = tmp_path / "smoke"
    verdict = run_study(small_study(**SHORT), folder, engine="none", n_workers=1)
    assert isinstance(verdict, CampaignConcluded)
    found = audit(folder, n_workers=1)
    assert found.passed, [item for item in found.findings if not item.passed]
    page = write_report(folder).read_text(encoding="utf-8")
    rest = verdict.text.removeprefix(verdict.headline).strip()
    assert verdict.headline != rest != verdict.text
    assert escape(verdict.headline) in page
    assert escape(rest) in page
