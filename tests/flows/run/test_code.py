"""A run goes on with the code that began it, with the same in other words, and with what somebody accepted."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from lakatos.flows.audit.audit import audit
from lakatos.flows.commands.main import app
from lakatos.flows.cycle import run_cycle
from lakatos.flows.errors import FlowError
from lakatos.flows.report.report import write_report
from lakatos.flows.run.code import science, without_comments
from lakatos.flows.run.run import Run, accept_code
from lakatos.flows.run.task import science_of
from lakatos.flows.start import resume_run, run_study
from lakatos.theories.engine.scoring import score
from lakatos.theories.findings.verdicts.record import CampaignConcluded
from lakatos.traces.errors import HeadError
from lakatos.traces.step import JOURNAL_FILE

sys.path.insert(0, str(Path(__file__).parent))
from rewinding import tiny_run, tiny_study
from small import records

FILES = {
    "domains/__init__.py": "from lakatos.domains import risky, learning\n",
    "domains/risky/task.py": "a = 1\n",
    "domains/learning/task.py": "b = 1\n",
    "experiments/participants/web/app.py": "page = 1\n",
    "domains/risky/archives/old.py": "c = 1\n",
    "domains/learning/mechanisms/past.py": "d = 1\n",
    "domains/offers/theories.py": "from lakatos.domains.learning.mechanisms.past import d\n",
    "theories/engine/scoring/score.py": "e = 1  # a number\n\n# a line of its own\ntext = '''\n# no comment\n'''\n",
    "judges/prompt.md": "Judge.\n",
}


@pytest.fixture
def packages(tmp_path: Path) -> Path:
    for name, text in {**FILES, "domains/offers/task.py": "f = 1\n"}.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return tmp_path


def changed(packages: Path, name: str, text: str, domain: str = "risky") -> bool:
    """Whether a run of the domain would have another fingerprint after a change."""
    science.cache_clear()
    before = science(domain, packages)
    path = packages / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    science.cache_clear()
    return science(domain, packages) != before


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("theories/engine/scoring/score.py", "e = 1\n\ntext = '''\n# no comment\n'''\n"),
        (
            "theories/engine/scoring/score.py",
            "e = 1  # another\n\n# two\n# lines\ntext = '''\n# no comment\n'''\n",
        ),
        (
            "theories/engine/scoring/score.py",
            FILES["theories/engine/scoring/score.py"]
            + "\n\n# a remark at the end, behind empty lines\n",
        ),
        (
            "theories/engine/scoring/score.py",
            FILES["theories/engine/scoring/score.py"].replace("text =", "\n    \n\ntext ="),
        ),
        ("experiments/participants/web/app.py", "page = 2\n"),
        ("domains/learning/task.py", "b = 2\n"),
        ("domains/learning/mechanisms/past.py", "d = 2\n"),
        ("domains/fairness/task.py", "new = 1\n"),
        ("domains/risky/README.md", "# Gambles\n"),
        ("domains/__init__.py", "from lakatos.domains import fairness\n"),
    ],
)
def test_what_a_run_does_not_use_does_not_strand_it(packages: Path, name: str, text: str) -> None:
    assert not changed(packages, name, text)


@pytest.mark.parametrize(
    ("name", "text", "domain"),
    [
        (
            "theories/engine/scoring/score.py",
            FILES["theories/engine/scoring/score.py"].replace("e = 1", "e = 2"),
            "risky",
        ),
        (
            "theories/engine/scoring/score.py",
            FILES["theories/engine/scoring/score.py"].replace("# no", "# some"),
            "risky",
        ),
        (
            "theories/engine/scoring/score.py",
            FILES["theories/engine/scoring/score.py"].replace("# no comment", "\n# no comment"),
            "risky",
        ),
        ("domains/risky/task.py", "a = 2\n", "risky"),
        ("domains/risky/archives/old.py", "c = 2\n", "risky"),
        ("judges/prompt.md", "Judge well.\n", "risky"),
        ("theories/new.py", "g = 1\n", "risky"),
        ("domains/learning/mechanisms/past.py", "d = 2\n", "offers"),
        ("domains/learning/task.py", "b = 2\n", ""),
    ],
)
def test_what_a_run_uses_is_in_its_fingerprint(
    packages: Path, name: str, text: str, domain: str
) -> None:
    assert changed(packages, name, text, domain)


def test_a_source_that_cannot_be_read_counts_as_it_is() -> None:
    assert without_comments(b"a = (  # open\n") == b"a = (  # open\n"
    assert without_comments(b"\xff # x\n") == b"\xff # x\n"


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    return Path(shutil.copytree(tiny_run(), tmp_path / "run"))


@pytest.mark.slow
def test_other_code_goes_on_only_where_somebody_says_so_and_why(
    copy: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("lakatos.flows.run.task.science", lambda _: "12345678" * 8)
    (copy / "pass.json").unlink(missing_ok=True)
    journal = (copy / JOURNAL_FILE).read_bytes()
    with pytest.raises(FlowError, match="--accept-code 12345678 --because"):
        resume_run(copy)
    for digest, because, said in (
        ("87654321", "a typo was mended", "not '87654321'"),
        ("1234567", "a typo was mended", "not '1234567'"),
        *[("12345678", said, "give the reason why") for said in (" ", ".", "ok", "1 2 3", "- _ x")],
    ):
        with pytest.raises(FlowError, match=said):
            accept_code(copy, digest, because)
    empty = CliRunner().invoke(app, ["resume", str(copy), "--accept-code", "", "--because", "so"])
    assert isinstance(empty.exception, FlowError), empty.output
    assert "not ''" in str(empty.exception)
    assert (copy / JOURNAL_FILE).read_bytes() == journal
    said = accept_code(copy, "12345678", "a typo was\x1b[2J mended\n\u202e")
    assert said.because == "a typo was\ufffd[2J mended \ufffd"
    with pytest.raises(FlowError, match="goes on with this code as it is"):
        accept_code(copy, "12345678", "again")
    assert resume_run(copy).leader
    found = audit(copy, n_workers=1)
    assert found.outcome == "passes", found
    assert f"because: {said.because}" in write_report(copy).read_text()


@pytest.mark.slow
def test_the_verdict_says_what_was_computed_by_which_code(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Cut short in its second cycle and before its verdict, and carried on by other code each time."""
    folder = tmp_path / "run"

    async def first_cycle_alone(run: Run, cycle: int) -> Any:
        if cycle == 2:
            raise KeyboardInterrupt
        return await run_cycle(run, cycle)

    async def cut_short(run: Run) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("lakatos.flows.campaign.run_cycle", first_cycle_alone)
        with pytest.raises(KeyboardInterrupt):
            run_study(tiny_study(), folder, n_workers=1)
    own = science_of(tiny_study().model_dump(mode="json"))
    monkeypatch.setattr("lakatos.flows.run.task.science", lambda _: "12345678" * 8)
    accept_code(folder, "12345678", "a typo was mended.")
    with monkeypatch.context() as patch:
        patch.setattr("lakatos.flows.campaign.conclude", cut_short)
        with pytest.raises(KeyboardInterrupt):
            resume_run(folder, n_workers=1)
    monkeypatch.setattr("lakatos.flows.run.task.science", lambda _: "abcdefab" * 8)
    accept_code(folder, "abcdefab", "a label changed")
    found = resume_run(folder, n_workers=1)
    assert isinstance(found, CampaignConcluded)
    assert found.text.endswith(
        f"Other code computed a part of this: code {own[:8]} up to cycle 1 and what there was of cycle 2, "
        "code 12345678 from there on, because: a typo was mended. "
        "Other code computed a part of this: code 12345678 all cycles, code abcdefab from there on, "
        "because: a label changed."
    )
    assert audit(folder, n_workers=1).outcome == "passes"

    # What is accepted once there is a verdict computed nothing of it.
    monkeypatch.setattr("lakatos.flows.run.task.science", lambda _: "5" * 64)
    accept_code(folder, "55555555", "to look at it")
    (folder / "pass.json").unlink()
    assert resume_run(folder, n_workers=1) == found
    assert len(records(folder, CampaignConcluded)) == 1
    assert audit(folder, n_workers=1).outcome == "passes"


@pytest.mark.slow
def test_other_code_is_not_accepted_where_no_head_can_be_signed(
    copy: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("lakatos.flows.run.task.science", lambda _: "12345678" * 8)
    older = Path(shutil.copytree(copy, tmp_path / "older"))
    accept_code(copy, "12345678", "a typo was mended")
    before = (older / JOURNAL_FILE).read_bytes()
    with pytest.raises(
        HeadError, match=r"a head of event .* was signed that the journal does not have"
    ):
        accept_code(older, "12345678", "a typo was mended")
    assert (older / JOURNAL_FILE).read_bytes() == before


@pytest.mark.slow
def test_records_of_the_code_before_that_differ_neither_pass_nor_fail(
    copy: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("lakatos.flows.run.task.science", lambda _: "12345678" * 8)
    accept_code(copy, "12345678", "scores are clipped now")
    monkeypatch.setattr(score, "TINY", 0.2)
    found = audit(copy, n_workers=1)
    assert found.outcome == "not recomputed", found
    assert any("Other code computed it" in item.detail for item in found.findings)
