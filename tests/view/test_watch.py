"""A run as the observatory follows it is the run that its journal tells."""

from __future__ import annotations

import hashlib
import shutil
import sqlite3
from dataclasses import fields
from pathlib import Path

import pytest
from viewing import grown, look_at

from lakatos.flows.report.words import GROUP_OF
from lakatos.flows.run.records import RECORD_TYPES
from lakatos.flows.run.run import read_state
from lakatos.flows.view.outline import JournalOutline, WantedEvents
from lakatos.flows.view.watch import BULKY, RunObservatory, RunWatch
from lakatos.theories.engine.record import TheoryChecked, TheoryScored
from lakatos.traces.apart import ERASED
from lakatos.traces.journal import INTENT, Journal
from lakatos.traces.record import Tombstone
from lakatos.traces.step import JOURNAL_FILE, Trace

FOLDED_LATER = {
    "scores",
    "answers",
    "sessions",
    "excluded",
    "measured",
    "exposed",
    "n_measured",
    "n_rescored",
}


def same_state(folder: Path, watch: RunWatch) -> None:
    state, trace = read_state(folder)
    trace.close()
    look = watch.look()
    for part in fields(state):
        own, other = getattr(look.state, part.name), getattr(state, part.name)
        for item in fields(own):
            if item.name not in FOLDED_LATER:
                assert getattr(own, item.name) == getattr(other, item.name), item.name
    assert look.with_scores().state.theories.scores == state.theories.scores


@pytest.mark.parametrize("which", ["finished", pytest.param("campaign", marks=pytest.mark.long)])
def test_the_state_that_is_followed_is_the_fold_of_the_journal(
    which: str, request: pytest.FixtureRequest
) -> None:
    folder = request.getfixturevalue(which)
    same_state(folder, RunWatch(folder.name, folder))


def test_following_a_run_record_by_record_ends_where_reading_it_at_once_does(
    finished: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "growing"
    with Journal.open(finished / JOURNAL_FILE, read_only=True) as journal:
        n_events = journal.head[0]
    grown(finished, folder, 1)
    watch = RunWatch("growing", folder)
    for n in range(1, n_events + 1, 7):
        grown(finished, folder, n)
        watch._looked = 0.0
        assert watch.look().seq == n
        same_state(folder, watch)
    grown(finished, folder, n_events)
    watch._looked = 0.0
    assert watch.look().concluded is not None
    same_state(folder, watch)


def test_what_is_erased_while_a_run_is_watched_is_gone_with_all_that_rested_on_it(
    finished: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "erased"
    shutil.copytree(finished, folder)
    watch = RunWatch("erased", folder)
    before = watch.look()
    target, n_scores = (
        before.state.experiments.collected["1.1"].digest,
        len(before.records(TheoryScored)),
    )
    with Trace.open(folder, RECORD_TYPES) as trace:
        trace.record(
            Tombstone(target=target, reason="the people withdrew"), name="withdraw", inputs=[target]
        )
    watch._looked = 0.0
    after = watch.look()
    assert "1.1" in before.state.experiments.collected
    assert "1.1" not in after.state.experiments.collected
    assert not after.valid(target)
    assert 0 < len(after.records(TheoryScored)) < n_scores
    same_state(folder, watch)


def test_watching_leaves_every_byte_of_a_run_as_it_is(finished: Path) -> None:
    def bytes_of() -> dict[str, str]:
        files = sorted(path for path in finished.rglob("*") if path.is_file())
        return {str(path): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}

    before = bytes_of()
    look = look_at(finished)
    look.with_scores()
    look.outline.search(WantedEvents("take"), look.seq + 1, 50)
    assert bytes_of() == before


def test_the_outline_counts_and_finds_what_the_journal_holds(finished: Path) -> None:
    outline = JournalOutline(finished / JOURNAL_FILE)
    outline.follow()
    with Journal.open(finished / JOURNAL_FILE, read_only=True) as journal:
        events = list(journal.events())
    assert outline.n_events == len(events)
    assert outline.n_records == sum(event.kind != INTENT for event in events)
    chosen = [event for event in events if event.kind == "theory_scored"]
    assert outline.seqs("theory_scored") == [event.seq for event in chosen]
    assert [row.record_digest for row in outline.rows([9, 3])] == [
        events[8].record_digest,
        events[2].record_digest,
    ]
    found = outline.search(WantedEvents("TALLYING", kind="theory_checked"), 10_000, 50)
    wanted = [
        event.seq
        for event in events
        if event.kind == "theory_checked" and "tallying" in str(event.body).lower()
    ]
    assert [row.seq for row in found] == wanted[::-1]
    assert wanted
    citing = {seq for seq, _, _ in outline.citing(chosen[0].record_digest)}
    assert citing == {
        e.seq for e in events if e.kind != INTENT and chosen[0].record_digest in e.inputs
    }


def test_search_by_cycle_takes_no_other_cycle(finished: Path) -> None:
    look = look_at(finished)
    rows = look.outline.search(WantedEvents(cycle=2), look.seq + 1, 1000)
    assert rows
    assert all('"cycle":2' in row.position for row in rows)


def test_a_record_that_cannot_be_read_is_told_and_the_rest_is_shown(
    finished: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "newer"
    shutil.copytree(finished, folder)
    with sqlite3.connect(folder / JOURNAL_FILE) as file:
        file.execute("DROP TRIGGER event_update")
        file.execute("UPDATE event SET kind = 'dream_dreamt' WHERE kind = 'diagnosis'")
        file.execute(
            "UPDATE event SET body = '{}' WHERE kind = 'cycle_closed' AND position LIKE '%1%'"
        )
    look = look_at(folder)
    assert any("dream_dreamt" in text for text in look.faults)
    assert any("cycle_closed" in text for text in look.faults)
    assert look.concluded is not None
    assert len(look.records(TheoryChecked)) > 1


def test_bulky_kinds_are_known_kinds() -> None:
    assert set(RECORD_TYPES) | {INTENT} >= BULKY
    assert set(RECORD_TYPES) | {"tombstone", ERASED, "rows_erased"} >= set(GROUP_OF)


def test_a_folder_of_runs_is_listed_newest_first_with_what_cannot_be_read(
    finished: Path, tmp_path: Path
) -> None:
    shutil.copytree(finished, tmp_path / "good")
    (tmp_path / "bad").mkdir()
    (tmp_path / "bad" / JOURNAL_FILE).write_bytes(
        b"no database at all, only a text that is long enough"
    )
    (tmp_path / "none").mkdir()
    found = dict(RunObservatory(tmp_path).all())
    assert set(found) == {"good", "bad"}
    assert isinstance(found["bad"], str)
    assert not isinstance(found["good"], str)
