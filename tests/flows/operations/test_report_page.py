"""A report is bound to its run and to its bundle: a page that says anything else fails its audit."""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from lakatos.experiments.record import AnswersArrived
from lakatos.flows.audit.audit import audit
from lakatos.flows.audit.bundle import bundle, unbundle
from lakatos.flows.commands.audit import audit_run
from lakatos.flows.errors import RunMissingError, UnusableError
from lakatos.flows.operations.people import withdraw
from lakatos.flows.operations.report_page import check_report, opened, run_name, source_of
from lakatos.flows.report.report import write_report
from lakatos.flows.start import run_study
from lakatos.traces.head import write_head
from tests.flows.small import SHORT, records, small_study


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("reported") / "runs" / "run"
    run_study(small_study(**SHORT), folder, n_workers=1)
    write_report(folder)
    return folder


def test_a_report_is_what_its_run_and_its_bundle_give(run: Path, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    page.write_bytes((run / "report.html").read_bytes())
    assert check_report(run / "report.html", run, None).passed
    made = bundle(run, tmp_path / "run.bundle.zip")
    assert source_of(page, "") == made
    assert source_of(run / "report.html", "") == run
    with opened(made, run_name(page)) as folder:
        found = check_report(page, folder, "")
    assert found.passed, found.detail


@pytest.mark.parametrize(
    ("was", "becomes", "said"),
    [
        ("<h1>", "<h1>Proven: ", "'<h1>Proven: "),
        ("</body>", "<p>and more</p></body>", "in place of"),
        ("<code>lakatos audit ", "<code>rm -rf ", "in place of"),
        ("<title>", "<title>\x1b[31m", "x1b"),
        ('lakatos-journal" content="', 'lakatos-journal" content="1', "shows a journal of 1"),
        ("lakatos-journal", "journal", "names no journal"),
    ],
)
def test_a_page_that_was_changed_fails(
    run: Path, tmp_path: Path, was: str, becomes: str, said: str
) -> None:
    text = (run / "report.html").read_text(encoding="utf-8")
    assert was in text
    page = tmp_path / "report.html"
    page.write_text(text.replace(was, becomes, 1), encoding="utf-8")
    found = check_report(page, run, None)
    assert not found.passed
    assert said in found.detail


def test_the_run_of_a_report_is_named_as_in_other_commands(
    run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = tmp_path / "page.html"
    page.write_bytes((run / "report.html").read_bytes())
    monkeypatch.chdir(run.parents[1])
    for of in ("run", "runs/run", str(run)):
        found = audit_run(str(page), of=of, recompute="none")
        assert [item.passed for item in found.findings if item.name == "report"] == [True]
    with pytest.raises(RunMissingError, match="there is no run 'nosuch' in runs"):
        audit_run(str(page), of="nosuch")


def test_a_page_beside_no_run_and_no_bundle_is_refused(tmp_path: Path) -> None:
    page = tmp_path / "report.html"
    page.write_bytes(b"\xff")
    with pytest.raises(UnusableError, match="name its run or its bundle with --of"):
        source_of(page, "")
    with pytest.raises(UnusableError, match="not UTF-8 text"):
        run_name(page)
    with pytest.raises(UnusableError, match="neither a run nor a bundle"), opened(tmp_path, "run"):
        pass


def test_a_bundle_passes_after_a_later_withdrawal_and_one_that_was_cut_does_not(
    run: Path, tmp_path: Path
) -> None:
    folder = Path(shutil.copytree(run, tmp_path / "runs" / "run"))
    made = bundle(folder, tmp_path / "run.bundle.zip")
    person = records(folder, AnswersArrived)[0].person
    withdraw(folder, person)
    write_head(folder)
    copy = unbundle(made, tmp_path / "copy" / "run")
    found = audit(copy, recompute="none", key="", is_copy=True)
    assert found.outcome == "passes", found
    (heads,) = [item for item in found.findings if item.name == "heads"]
    assert "the run went on to event" in heads.detail
    assert audit(copy, recompute="none", key="").outcome == "fails"
    assert check_report(run / "report.html", copy, "", is_copy=True).passed
    with closing(sqlite3.connect(copy / "journal.sqlite")) as sql, sql:
        sql.execute("DROP TRIGGER event_delete")
        sql.execute("DELETE FROM event WHERE seq = (SELECT max(seq) FROM event)")
    assert audit(copy, recompute="none", key="", is_copy=True).outcome == "fails"
