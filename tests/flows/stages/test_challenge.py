"""Challenges in two campaigns on one anchor file: the second, and the audit, find the first one's in the ledger."""

from __future__ import annotations

import asyncio
import json
import shutil
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from lakatos.flows.audit.checks import gate_levels
from lakatos.flows.campaign import begin
from lakatos.flows.report.judge_replay import replay_decision
from lakatos.flows.report.vault import open_vault
from lakatos.flows.run.records import RECORD_TYPES
from lakatos.flows.run.run import Run, create_run
from lakatos.flows.run.study import CampaignConfig
from lakatos.flows.stages.judging.anchor import anchor_of, ledger_of, read_anchor
from lakatos.flows.stages.judging.challenge import challenge
from lakatos.flows.stages.judging.seats import PROGRAM, judge_from, make_judge, seat_judges
from lakatos.judges.anchor import split
from lakatos.judges.errors import AnchorError, LedgerError, VaultError
from lakatos.judges.feature import FEATURES
from lakatos.judges.gate_record import GateDecided
from lakatos.judges.program import (
    JudgeProgram,
    ProgramFactor,
    ProgramJudge,
    ProgramTerm,
    fit,
    labelled,
)
from lakatos.judges.transition import freeze_epoch
from lakatos.traces.step import Recorded, Trace

sys.path.insert(0, str(Path(__file__).parent.parent))
from anchoring import anchor_file, known_items
from small import small_study

N_ITEMS = 500


def study(anchor: Path, **judges: object) -> CampaignConfig:
    """A study whose judges evolve on an anchor file."""
    return small_study(judges={"panel": "evolving", "anchor": str(anchor), **judges})


def put_challenger(run: Run, n_read: int = N_ITEMS) -> Recorded[GateDecided]:
    """Seat the judges, and challenge the program by one that reads what tells more, fitted to some of dev."""

    async def both() -> Recorded[GateDecided]:
        begin(run)
        await seat_judges(run)
        taken = run.state.seats.anchors[-1]
        dev = anchor_of(run.trace.artifacts, taken.record).dev
        asked = [item.submission for item in dev[:n_read]]
        table = labelled(asked, [item.label for item in dev[:n_read]], FEATURES)
        program = JudgeProgram((ProgramTerm((ProgramFactor("share_favouring"),)),))
        better = ProgramJudge(fit(program, table), PROGRAM)
        assert run.state.seats.epoch is not None
        record = run.state.seats.bred[run.state.seats.epoch.slots[PROGRAM]].record
        incumbent = judge_from(run.trace.artifacts, record)
        frozen = freeze_epoch(run.state.seats.epoch, taken.record.confirm, 1)
        run.record(frozen, name="freeze epoch", inputs=[taken.digest], position={"epoch": 0})
        await make_judge(run, PROGRAM, 1, taken, better, incumbent.digest, len(dev))
        return await challenge(run, PROGRAM, (incumbent, better), taken)

    return asyncio.run(both())


@pytest.fixture(autouse=True)
def one_home(monkeypatch: pytest.MonkeyPatch) -> None:
    """The campaigns of this file keep their heads in one second place."""
    monkeypatch.delenv("LAKATOS_HEADS", raising=False)


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Two campaigns on one file; each has put a challenger, another one each."""
    place = tmp_path_factory.mktemp("runs")
    anchor, made = anchor_file(place, N_ITEMS, seed=77), []
    for name, n_read in (("first", N_ITEMS), ("second", 80)):
        with create_run(study(anchor), place / name, n_workers=1) as run:
            put_challenger(run, n_read)
        made.append(place / name)
    return made


def drawn_in(folder: Path) -> GateDecided:
    with Trace.open(folder, RECORD_TYPES, read_only=True) as trace:
        return next(trace.records(GateDecided)).record


def test_a_better_challenger_is_let_in_at_the_first_level(folders: list[Path]) -> None:
    decided = drawn_in(folders[0])
    assert (decided.verdict, decided.number) == ("replace", 1)
    assert decided.e_value is not None
    assert decided.e_value >= 1 / decided.level
    with Trace.open(folders[0], RECORD_TYPES, read_only=True) as trace:
        name = next(trace.records(GateDecided)).digest
    assert replay_decision(folders[0], name) == decided


def test_a_second_campaign_on_the_file_draws_the_next_level(folders: list[Path]) -> None:
    assert drawn_in(folders[1]).number == 2
    assert drawn_in(folders[1]).level < drawn_in(folders[0]).level


def test_the_audit_looks_into_the_ledger(folders: list[Path]) -> None:
    with Trace.open(folders[1], RECORD_TYPES, read_only=True) as trace:
        config = CampaignConfig.model_validate(trace.journal.meta["study"])
        records = [trace.read(event) for event in trace.journal.events() if event.kind != "intent"]
    found = gate_levels(records, config)
    assert found is not None
    assert found.passed, found.detail
    ledger = ledger_of(config)
    assert ledger is not None
    aside = ledger.folder.with_name("aside")
    ledger.folder.rename(aside)
    try:
        lost = gate_levels(records, config)
        assert lost is not None
        assert not lost.passed
        assert "is not the ledger that these items have" in lost.detail
    finally:
        aside.rename(ledger.folder)


def test_a_campaign_does_not_begin_on_a_file_whose_ledger_is_gone_or_promises_something_else(
    folders: list[Path], tmp_path: Path
) -> None:
    anchor = folders[0].parent / "anchor.json"
    copy = tmp_path / "copy.json"
    shutil.copy(anchor, copy)
    for config, message in (
        (study(copy), "is not the ledger that these items have"),
        (study(anchor, alpha=0.01), r"write judges.alpha = 0.05"),
    ):
        with (
            create_run(config, tmp_path / f"run {config.judges.alpha}", n_workers=1) as run,
            pytest.raises(LedgerError, match=message),
        ):
            put_challenger(run)


def test_too_few_comparisons_for_the_level_are_refused_at_the_beginning(tmp_path: Path) -> None:
    anchor = anchor_file(tmp_path, 18, seed=78)
    n_confirm = len(read_anchor(anchor).parts["confirm"])
    with (
        create_run(study(anchor), tmp_path / "run", n_workers=1) as run,
        pytest.raises(AnchorError, match=f"has {n_confirm} comparisons .* needs at least 10"),
    ):
        put_challenger(run)


def test_comparisons_that_hang_together_need_as_many_groups_as_betting_does(tmp_path: Path) -> None:
    items = known_items(36, seed=79)
    paired = [replace(item, problems=(f"pair {number // 2}",)) for number, item in enumerate(items)]
    anchor = tmp_path / "anchor.json"
    anchor.write_text(json.dumps(split(paired, 1).to_json()))
    with (
        create_run(study(anchor, test="exact"), tmp_path / "run", n_workers=1) as run,
        pytest.raises(AnchorError, match="needs at least 10"),
    ):
        put_challenger(run)


def test_the_vault_of_a_file_opens_once_for_all_its_campaigns(folders: list[Path]) -> None:
    told = open_vault(folders[0]).told
    assert set(told) >= {PROGRAM, "parsimony"}
    assert "items of the vault (95% interval" in told[PROGRAM]
    with pytest.raises(VaultError, match=r"(?s)opens once.*program: right on"):
        open_vault(folders[1])
