"""When a run has something to do, who starts it, and what becomes of answers that come at the worst moment."""

from __future__ import annotations

import itertools
import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta, tzinfo
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
from arriving import Asked, ask, outcome

from lakatos.flows.audit.audit import audit
from lakatos.flows.errors import ChangedStudyError
from lakatos.flows.operations.carry import carry, command_of, start_process
from lakatos.flows.operations.clock import MOST_RETRY_S, RETRY_S, DuePass, LabClock
from lakatos.flows.operations.schedule import CampaignSchedule, change_schedules, make_schedule
from lakatos.flows.operations.wake import wake
from lakatos.flows.run.next_pass import (
    DROP_FOLDER,
    PASS_FILE,
    PendingWork,
    announce,
    dropped,
    is_written,
    look,
    put_aside,
    take_dropped,
)
from lakatos.flows.run.run import read_state
from lakatos.traces.errors import JournalError, RecordError
from lakatos.traces.inbox import Inbox
from lakatos.traces.journal import Journal
from lakatos.traces.step import INBOX_FILE, JOURNAL_FILE
from lakatos.traces.stores.sqlite import WriterLock

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture(scope="module")
def asked(tmp_path_factory: pytest.TempPathFactory) -> Asked:
    return ask(tmp_path_factory.mktemp("asked") / "run")


@pytest.fixture(scope="module")
def in_order(
    asked: Asked, tmp_path_factory: pytest.TempPathFactory
) -> dict[int, dict[str, object]]:
    """What comes out when everybody has answered before the pass: by the number of people."""
    found = {}
    for n_people in (12, 14):
        with pytest.MonkeyPatch.context() as patch:
            # Copies of one run are one run in the second place of heads: each has a place of its own.
            patch.setenv("LAKATOS_HEADS", str(tmp_path_factory.mktemp("heads")))
            folder = asked.copy(tmp_path_factory.mktemp("in order") / "run")
            asked.deliver(folder, *range(n_people))
            assert carry(folder, workers=1).ended == "concluded"
            found[n_people] = outcome(folder)
    return found


@pytest.fixture
def copy(asked: Asked, tmp_path: Path) -> Path:
    return asked.copy(tmp_path / "runs" / "run")


# -- looking ---------------------------------------------------------------------------------------------------------


def test_a_waiting_run_has_nothing_to_do_until_a_batch_is_in_its_inbox(
    asked: Asked, copy: Path
) -> None:
    before = look(copy)
    assert (before.due, before.ended) == (False, "waiting")
    assert "0 of 12 have completed" in before.reason
    asked.deliver(copy, 0)
    after = look(copy)
    assert after.due
    assert after.reason == "1 batch of responses has arrived"
    assert after.signature != before.signature


def test_an_arrival_before_a_run_exists_and_an_empty_journal_are_a_run_that_has_not_begun(
    tmp_path: Path,
) -> None:
    (tmp_path / JOURNAL_FILE).touch()
    found = look(tmp_path)
    assert (found.seq, found.due, found.reason) == (0, True, "it has not begun")


@pytest.mark.parametrize(
    "damage", ["", "[]", '{"seq": 1}', '{"seq": 3, "hash": 5, "ended": "waiting", "text": ""}']
)
def test_a_lost_or_damaged_mark_costs_one_pass_that_records_nothing(
    copy: Path, damage: str
) -> None:
    before = look(copy).seq
    (copy / PASS_FILE).write_text(damage)
    assert look(copy).due
    assert carry(copy, workers=1).ended == "waiting"
    assert (look(copy).due, look(copy).seq) == (False, before)


def test_anything_written_after_the_mark_makes_a_pass_due(copy: Path) -> None:
    from lakatos.flows.operations.people import ask_more

    ask_more(copy, 1)
    assert look(copy).due
    assert look(copy).reason == "it is unfinished"


def test_looking_changes_no_file(copy: Path) -> None:
    before = {path.name: path.stat().st_mtime_ns for path in copy.iterdir()}
    look(copy)
    assert {path.name: path.stat().st_mtime_ns for path in copy.iterdir()} == before


def test_a_pass_with_nothing_to_do_loads_neither_prefect_nor_what_computes(
    copy: Path,
) -> None:
    code = (
        f"import sys; sys.argv = ['lakatos', 'wake', {str(copy)!r}]\n"
        "try:\n    from lakatos.flows.commands.main import main; main()\n"
        "except SystemExit as end:\n    assert not end.code, end.code\n"
        "loaded = {name.partition('.')[0] for name in sys.modules}\n"
        "found = loaded & {'prefect', 'scipy', 'pymc', 'matplotlib'}\n"
        "assert not found, found"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "idle: waiting for participants" in done.stdout


def test_resuming_with_nothing_to_do_says_so_and_ends_with_the_status_of_waiting(
    copy: Path,
) -> None:
    words = [sys.executable, "-m", "lakatos.flows.commands.main", "resume", str(copy)]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 3
    assert done.stdout.startswith("nothing to do: waiting for participants")


def test_a_writer_is_seen_without_being_disturbed(copy: Path) -> None:
    assert not is_written(copy)
    lock = WriterLock(copy / f"{JOURNAL_FILE}.lock")
    try:
        assert is_written(copy)
    finally:
        lock.release()
    assert not is_written(copy)


# -- watching --------------------------------------------------------------------------------------------------------


class Clock:
    """Seconds that pass when a test says so."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


NOON = datetime(2030, 5, 1, 12, tzinfo=UTC)


class Watched:
    """A laboratory's clock whose seconds a test counts, and the passes that it said were due."""

    def __init__(self, runs: Path, schedules: dict[str, CampaignSchedule] | None = None) -> None:
        self.clock = Clock()
        self.schedules = schedules or {}
        self.started: list[DuePass] = []
        self._lab = LabClock(runs, all_runs=True, seconds=self.clock)

    def tick(self) -> list[DuePass]:
        """One turn, at a time that many seconds after noon."""
        found = self._lab.turn(self.schedules, NOON + timedelta(seconds=self.clock.now))
        self.started += found
        return found


@pytest.fixture
def watched(copy: Path) -> Watched:
    return Watched(copy.parent)


def test_a_hundred_arrivals_together_start_one_pass(copy: Path, watched: Watched) -> None:
    watcher, started, clock = watched, watched.started, watched.clock
    inbox = Inbox(copy / INBOX_FILE)
    for number in range(100):
        inbox.deliver("file", {"number": number}, batch_key=str(number))
        watcher.tick()
        clock.now += 0.01
    assert not started  # they still come
    for _ in range(20):
        clock.now += 0.4
        watcher.tick()
    (found,) = started
    assert found.arrived.n_pending == 100


def test_what_arrived_while_nobody_watched_starts_a_pass_at_once(
    asked: Asked, copy: Path, watched: Watched
) -> None:
    asked.deliver(copy, 0, 1)
    watcher, started, clock = watched, watched.started, watched.clock
    watcher.tick()
    clock.now = 1.0
    watcher.tick()
    assert [found.arrived.n_pending for found in started] == [2]


def test_nothing_is_started_while_a_pass_writes_or_the_run_is_paused(
    asked: Asked, copy: Path, watched: Watched
) -> None:
    watcher, started, clock = watched, watched.started, watched.clock
    asked.deliver(copy, 0)
    lock = WriterLock(copy / f"{JOURNAL_FILE}.lock")
    for _ in range(5):
        clock.now += 5.0
        assert not watcher.tick()
    lock.release()
    watcher.schedules = {copy.name: CampaignSchedule(copy.name, "study.toml", paused=True)}
    for _ in range(5):
        clock.now += 5.0
        assert not watcher.tick()
    watcher.schedules = {}
    for _ in range(2):
        clock.now += 5.0
        watcher.tick()
    assert len(started) == 1


def test_a_pass_that_fails_is_tried_again_ever_more_rarely_and_new_success_forgets_that(
    asked: Asked, copy: Path, watched: Watched
) -> None:
    watcher, started, clock = watched, watched.started, watched.clock
    asked.deliver(copy, 0)
    times = []

    def until(n_times: int, step: float) -> None:
        while len(times) < n_times:  # nobody carries the pass out
            clock.now += step
            if watcher.tick():
                times.append(clock.now)

    until(5, RETRY_S)
    until(11, MOST_RETRY_S)
    until(12, 100.0)
    pauses = [later - earlier for earlier, later in itertools.pairwise(times)]
    assert pauses[:4] == [RETRY_S, 2 * RETRY_S, 4 * RETRY_S, 8 * RETRY_S]
    assert pauses[-1] == MOST_RETRY_S
    assert carry(copy, workers=1).ended == "waiting"
    clock.now += 1.0
    assert not watcher.tick()
    asked.deliver(copy, 1)
    for _ in range(3):
        clock.now += 1.0
        watcher.tick()
    assert len(started) == 13


def test_a_run_that_cannot_be_read_hides_no_other(
    asked: Asked, copy: Path, watched: Watched
) -> None:
    watcher, started, clock = watched, watched.started, watched.clock
    broken = copy.parent / "broken"
    broken.mkdir()
    (broken / JOURNAL_FILE).write_bytes(b"no database " * 100)
    asked.deliver(copy, 0)
    for _ in range(3):
        clock.now += 1.0
        watcher.tick()
    assert [found.folder for found in started] == [copy]


def test_a_pass_is_due_when_its_time_comes_and_once(copy: Path) -> None:
    hourly = make_schedule("hourly", copy / "study.toml", interval="1h", now=NOON)
    each = make_schedule("each", copy / "study.toml", interval="2h", new_run=True, now=NOON)
    lab = Watched(copy.parent, {"hourly": hourly, "each": each})
    assert not lab.tick()
    lab.clock.now = 3599.0
    assert not lab.tick()
    lab.clock.now = 3600.0
    (due,) = lab.tick()
    assert (due.folder, due.schedule, due.arrived) == (copy.parent / "hourly", hourly, None)
    assert due.reason == "its time, 2030-05-01T13:00:00+00:00"
    assert "--study" in due.command()
    assert not lab.tick()
    lab.clock.now = 7200.0
    assert [due.folder.name for due in lab.tick()] == ["hourly", "each-20300501T140000Z"]


def test_what_was_due_while_nobody_watched_is_due_at_the_first_turn_only(copy: Path) -> None:
    before = NOON - timedelta(hours=2)
    once = make_schedule("once", copy / "study.toml", at="2030-05-01T11:00", now=before)
    begun = make_schedule(copy.name, copy / "study.toml", at="2030-05-01T11:00", now=before)
    lab = Watched(copy.parent, {"once": once, copy.name: begun})
    (due,) = lab.tick()
    assert due.folder.name == "once"
    assert "passed while no scheduler was running" in due.reason
    lab.clock.now = 10.0
    assert not lab.tick()


def test_waking_starts_what_is_due_and_says_of_each_other_run_why_not(
    asked: Asked, copy: Path
) -> None:
    said: list[str] = []
    assert wake(copy.parent, workers=1, say=said.append) == 0
    (line,) = said
    assert line.startswith(f"{copy.name}: nothing to do: waiting for participants")
    asked.deliver(copy, 0)
    paused = CampaignSchedule(copy.name, "study.toml", paused=True)
    change_schedules(copy.parent, lambda known: {copy.name: paused})
    assert wake(copy.parent, workers=1, say=said.append) == 0
    assert said[-1] == f"{copy.name}: its schedule is paused"
    assert look(copy).n_pending == 1
    change_schedules(copy.parent, lambda known: {})
    assert wake(copy.parent, workers=1, say=said.append) == 0
    assert said[-1] == f"{copy.name}: 1 batch of responses has arrived"
    assert look(copy).n_pending == 0


# -- files that are dropped ------------------------------------------------------------------------------------------


def test_a_dropped_table_is_taken_when_it_has_stopped_growing(copy: Path) -> None:
    file = copy / DROP_FOLDER / "answers.csv"
    file.parent.mkdir()
    sizes: dict[Path, int] = {}
    file.write_text("experiment,")
    assert not list(dropped(copy.parent, sizes))
    file.write_text("experiment,participant\n")
    assert not list(dropped(copy.parent, sizes))
    assert list(dropped(copy.parent, sizes)) == [(copy, file)]


@pytest.mark.slow
def test_a_table_that_cannot_be_imported_is_put_aside_with_the_reason_and_nothing_of_it_counts(
    copy: Path,
) -> None:
    file = copy / DROP_FOLDER / "answers.csv"
    file.parent.mkdir()
    file.write_text("experiment,participant\n1.1,somebody\n")
    said: list[str] = []
    sizes: dict[Path, int] = {}
    for _ in range(2):
        take_dropped(copy.parent, sizes, said.append)
    refused = copy / DROP_FOLDER / "refused"
    assert {path.name for path in refused.iterdir()} == {"answers.csv", "answers.csv.txt"}
    assert "lakatos: " in (refused / "answers.csv.txt").read_text()
    assert not look(copy).due
    assert "refused answers.csv" in said[0]


def test_files_of_one_name_are_all_kept(copy: Path) -> None:
    for text in ("a", "b"):
        file = copy / DROP_FOLDER / "answers.csv"
        file.parent.mkdir(exist_ok=True)
        file.write_text(text)
        put_aside(file)
    assert sorted(path.read_text() for path in (copy / DROP_FOLDER / "imported").iterdir()) == [
        "a",
        "b",
    ]


def test_without_a_server_nothing_is_announced_and_one_that_is_gone_is_no_error(
    asked: Asked, copy: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked.deliver(copy, 0)
    for name in ("PREFECT_API_URL", "PREFECT_PROFILE", "PREFECT_PROFILES_PATH"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PREFECT_HOME", str(copy / "nothing"))
    assert not announce(look(copy))
    monkeypatch.setenv("PREFECT_API_URL", "http://127.0.0.1:9/api")
    assert not announce(look(copy))


# -- passes ----------------------------------------------------------------------------------------------------------


def test_a_pass_that_finds_another_one_at_work_leaves_the_run_to_it(
    asked: Asked, copy: Path
) -> None:
    asked.deliver(copy, 0)
    lock = WriterLock(copy / f"{JOURNAL_FILE}.lock")
    try:
        found = carry(copy, workers=1)
    finally:
        lock.release()
    assert found.ended == "busy"
    assert look(copy).due


def test_a_study_file_that_changed_under_its_run_is_refused_and_the_run_stays_as_it_was(
    copy: Path, tmp_path: Path
) -> None:
    from arriving import STUDY
    from small import small_study, write_study

    study = write_study(tmp_path, **STUDY)
    assert carry(copy, study=study).ended == "idle"
    before = look(copy)
    study.write_text(study.read_text().replace("seed = 3", "seed = 4"))
    with pytest.raises(ChangedStudyError, match=r"was changed \('seed'\) since .* another --name"):
        carry(copy, study=study)
    with pytest.raises(ChangedStudyError, match="'seed'"):
        carry(copy, study=small_study(**STUDY, seed=4))
    assert look(copy) == before
    study.write_text(
        study.read_text().replace("seed = 4", "seed = 3") + "\n# a remark changes nothing\n"
    )
    assert carry(copy, study=study).ended == "idle"


def test_errors_that_pass_are_tried_again_and_others_are_not() -> None:
    from lakatos.flows.operations.carry import with_retries

    tries: list[int] = []
    pauses: list[float] = []

    def fails(n: int, error: Exception) -> str:
        tries.append(1)
        if len(tries) <= n:
            raise error
        return "done"

    assert (
        with_retries(lambda: fails(2, ConnectionError()), transient=(OSError,), sleep=pauses.append)
        == "done"
    )
    assert pauses == [30.0, 300.0]
    tries.clear()
    with pytest.raises(ConnectionError):
        with_retries(lambda: fails(9, ConnectionError()), transient=(OSError,), sleep=pauses.append)
    assert len(tries) == 3
    tries.clear()
    with pytest.raises(ValueError, match="a study"):
        with_retries(
            lambda: fails(1, ValueError("a study")), transient=(OSError,), sleep=pauses.append
        )
    assert len(tries) == 1


def settle(folder: Path) -> None:
    """Passes, one after another, until there is nothing to do."""
    for _ in range(5):
        if not look(folder).due:
            return
        carry(folder, workers=1)
    pytest.fail("the run does not come to rest")


@pytest.mark.slow
def test_answers_out_of_order_twice_and_in_parts_give_the_state_of_the_same_answers_in_order(
    asked: Asked, in_order: dict[int, dict[str, object]], copy: Path
) -> None:
    asked.deliver(copy, 11, 3, 7)
    settle(copy)
    asked.deliver(copy, 7, 3, 0, 10, 9, 8)  # some of them again
    settle(copy)
    asked.deliver(copy, 6, 5, 4, 2, 1, 11)
    settle(copy)
    assert outcome(copy) == in_order[12]


@pytest.mark.slow
def test_answers_after_the_end_of_the_campaign_give_the_state_of_the_same_answers_in_order(
    asked: Asked, in_order: dict[int, dict[str, object]], copy: Path
) -> None:
    asked.deliver(copy, *range(12))
    settle(copy)
    assert outcome(copy) == in_order[12]
    asked.deliver(copy, 13)
    assert look(copy).due
    asked.deliver(copy, 12)
    settle(copy)
    assert outcome(copy) == in_order[14]


@pytest.mark.slow
def test_half_a_delivery_leaves_nothing_and_the_whole_one_counts_once(
    asked: Asked, in_order: dict[int, dict[str, object]], copy: Path
) -> None:
    inbox = Inbox(copy / INBOX_FILE)
    whole = [(person.to_json(), person.person) for person in asked.people[:12]]
    with pytest.raises(RecordError):
        inbox.deliver_all("file", [*whole[:6], ({"person": float("nan")}, "broken")])
    assert not look(copy).due
    asked.deliver(copy, *range(12))
    settle(copy)
    assert outcome(copy) == in_order[12]


@pytest.mark.slow
def test_a_clock_that_is_set_back_between_two_passes_changes_neither_order_nor_result_nor_audit(
    asked: Asked,
    in_order: dict[int, dict[str, object]],
    copy: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from lakatos.traces import journal

    class Earlier(datetime):
        @classmethod
        def now(cls, tz: tzinfo | None = None) -> Earlier:
            return super().now(tz) - timedelta(days=2)

    asked.deliver(copy, 0, 1, 2)
    settle(copy)
    before = look(copy).seq
    monkeypatch.setattr(journal, "datetime", Earlier)
    asked.deliver(copy, *range(3, 12))
    settle(copy)
    with Journal.open(copy / JOURNAL_FILE, read_only=True) as opened:
        times = {event.seq: event.time_utc for event in opened.events()}
    assert times[before + 1] < times[before]
    assert outcome(copy) == in_order[12]
    wrong = {
        finding.name
        for finding in audit(copy, recompute=False).findings
        if not (finding.passed or finding.skipped)
    }
    assert wrong <= {"times", "heads"}  # a clock set back looks like events that are dated back


@pytest.mark.long
def test_a_machine_with_another_version_refuses_and_the_one_that_began_goes_on(
    asked: Asked, in_order: dict[int, dict[str, object]], copy: Path, tmp_path: Path
) -> None:
    other = tmp_path / "other machine"
    for package in (
        "flows",
        "memory",
        "judges",
        "domains",
        "theories",
        "experiments",
        "language_models",
        "traces",
        "studies",
    ):
        shutil.copytree(
            ROOT / package, other / package, ignore=shutil.ignore_patterns("__pycache__")
        )
    shutil.copytree(ROOT / "lakatos", other / "lakatos", symlinks=True)
    with (other / "theories" / "engine" / "scoring" / "score.py").open("a") as file:
        file.write("ANOTHER_VERSION = True\n")
    asked.deliver(copy, *range(12))
    before = look(copy)
    words = [sys.executable, "-m", "lakatos.flows.commands.main", "wake", str(copy)]
    done = subprocess.run(
        words,
        cwd=other,
        env={**os.environ, "PYTHONPATH": str(other)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert "was begun by other code" in done.stderr
    assert look(copy) == before
    settle(copy)
    assert outcome(copy) == in_order[12]


@pytest.fixture
def going(copy: Path, tmp_path: Path) -> Iterator[list[subprocess.Popen[bytes]]]:
    processes: list[subprocess.Popen[bytes]] = []
    yield processes
    for process in processes:
        process.kill()
        process.wait()
        assert process.stdin is not None
        process.stdin.close()


@pytest.mark.long
def test_answers_that_arrive_during_a_pass_are_left_for_the_next_one_and_nothing_is_lost(
    asked: Asked,
    in_order: dict[int, dict[str, object]],
    copy: Path,
    tmp_path: Path,
    going: list[subprocess.Popen[bytes]],
) -> None:
    asked.deliver(copy, *range(12))
    before = look(copy).seq
    going.append(start_process(command_of(copy, workers=1), tmp_path / "pass.log"))
    while look(copy).seq < before + 12 and going[0].poll() is None:  # it has taken some of them
        time.sleep(0.01)
    asked.deliver(copy, 13, 12, 3)
    assert going[0].wait(120) == 0, (tmp_path / "pass.log").read_text()
    settle(copy)
    assert outcome(copy) == in_order[14]


@pytest.mark.slow
def test_a_pass_ends_with_who_started_it_and_the_next_one_goes_on(
    asked: Asked,
    in_order: dict[int, dict[str, object]],
    copy: Path,
    tmp_path: Path,
    going: list[subprocess.Popen[bytes]],
) -> None:
    asked.deliver(copy, *range(12))
    before = look(copy).seq
    going.append(start_process(command_of(copy, workers=1), tmp_path / "pass.log"))
    while look(copy).seq < before + 5 and going[0].poll() is None:
        time.sleep(0.01)
    assert going[0].stdin is not None
    going[0].stdin.close()  # as happens when the one who started it dies
    assert going[0].wait(60) != 0
    settle(copy)
    assert outcome(copy) == in_order[12]


@pytest.mark.long
def test_waking_again_and_again_carries_a_run_from_dropped_files_and_arrivals_to_its_verdict(
    asked: Asked, in_order: dict[int, dict[str, object]], copy: Path
) -> None:
    runs, said = copy.parent, list[str]()
    state, trace = read_state(copy)
    trace.close()
    assert state.campaign.config is not None
    text = json.dumps(state.campaign.config.model_dump(mode="json"))
    (runs / "study.json").write_text(text)
    change_schedules(runs, lambda _: {"run": CampaignSchedule("run", str(runs / "study.json"))})
    for number in range(12):
        asked.deliver(copy, number)
        if number % 4 == 3:
            assert wake(runs, workers=1, say=said.append) == 0, said
    assert (look(copy).ended, look(copy).due) == ("concluded", False)
    assert outcome(copy) == in_order[12], said


def test_times_of_schedules_since_the_last_wake_are_due_once(copy: Path) -> None:
    hourly = make_schedule(
        copy.name, copy / "study.toml", cron="0 * * * *", timezone="UTC", now=NOON
    )
    change_schedules(copy.parent, lambda known: {copy.name: hourly})
    said: list[str] = []
    for minutes, is_due in ((-5, False), (-1, False), (3, True), (10, False), (200, True)):
        moment = NOON + timedelta(minutes=minutes)
        wake(copy.parent, workers=1, say=said.append, now=lambda moment=moment: moment)
        assert ("its time" in said[-1]) is is_due, said


@pytest.mark.slow
def test_waking_imports_dropped_tables_or_puts_them_aside(copy: Path) -> None:
    file = copy / DROP_FOLDER / "answers.csv"
    file.parent.mkdir()
    file.write_text("experiment,participant\n1.1,somebody\n")
    said: list[str] = []
    wake(copy.parent, workers=1, say=said.append)
    assert "refused answers.csv" in said[0]
    assert not file.exists()


def test_an_inbox_that_cannot_be_read_is_named_with_what_to_do(copy: Path) -> None:
    (copy / INBOX_FILE).write_bytes(b"no database" * 100)
    with pytest.raises(JournalError, match=r"inbox.sqlite is damaged .* restore it from a copy"):
        look(copy)


def test_a_finished_run_does_not_repeat_its_verdict(tmp_path: Path) -> None:
    done = PendingWork(tmp_path, 9, 0, 0, "concluded", "A predicts better than B.")
    assert (done.due, done.reason) == (False, "nothing to do: the verdict has been reached")
    waiting = PendingWork(tmp_path, 9, 0, 0, "waiting", "waiting for participants")
    assert waiting.reason == "nothing to do: waiting for participants"
