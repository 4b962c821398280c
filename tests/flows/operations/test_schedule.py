"""Schedules: when something is due, what is refused, and what a clock that jumps does."""

from __future__ import annotations

import shutil
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from click.testing import Result
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

sys.path.insert(0, str(Path(__file__).parent))
from small import write_study

from lakatos.flows.commands.main import app
from lakatos.flows.commands.schedule import _deployable
from lakatos.flows.errors import ScheduleError
from lakatos.flows.operations.schedule import (
    SCHEDULES_FILE,
    CampaignSchedule,
    change_schedules,
    due_between,
    load_schedules,
    make_schedule,
    next_cron,
    overdue,
    schedule_of,
    seconds_of,
)
from lakatos.flows.run.next_pass import mark_pass
from lakatos.flows.run.places import new_folder
from lakatos.flows.run.run import create_run
from lakatos.flows.run.study import load_study
from lakatos.traces.step import JOURNAL_FILE

NOW = datetime(2027, 3, 1, 12, 0, tzinfo=UTC)
STUDY = Path("a.toml")


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("90s", 90), ("30m", 1800), ("6h", 21600), ("1.5h", 5400), ("1d", 86400), ("2w", 1209600)],
)
def test_lengths_of_time_are_numbers_with_units(text: str, seconds: float) -> None:
    assert seconds_of(text) == seconds


@pytest.mark.parametrize("text", ["", "6", "6 hours", "-1h", "30s", "999d", "1h30m"])
def test_other_lengths_of_time_are_refused(text: str) -> None:
    with pytest.raises(ScheduleError, match=r"length of time|out of range"):
        seconds_of(text)


def test_intervals_are_counted_from_their_anchor_and_do_not_drift() -> None:
    schedule = make_schedule("a", STUDY, interval="6h", now=NOW)
    assert schedule.next_after(NOW) == NOW + timedelta(hours=6)
    assert schedule.next_after(NOW + timedelta(hours=6)) == NOW + timedelta(hours=12)
    assert schedule.next_after(NOW + timedelta(hours=20, minutes=1)) == NOW + timedelta(hours=24)
    assert schedule.next_after(NOW - timedelta(days=3)) == NOW


@given(st.integers(60, 10**6), st.integers(-(10**7), 10**7))
def test_the_next_time_of_an_interval_is_the_first_one_later(step: int, offset: int) -> None:
    schedule = CampaignSchedule("a", "a.toml", interval_s=step, anchor=NOW.isoformat())
    moment = NOW + timedelta(seconds=offset)
    found = schedule.next_after(moment)
    assert found is not None
    assert found > moment
    assert (found - NOW).total_seconds() % step == 0
    assert found - timedelta(seconds=step) <= moment or found == NOW


def test_cron_follows_its_time_zone_through_the_change_of_clocks() -> None:
    # In 2027 the clocks of Berlin go forward on 28 March: six o'clock is 5 h UTC before, and 4 h UTC after.
    before = next_cron("0 6 * * *", "Europe/Berlin", datetime(2027, 3, 26, 12, tzinfo=UTC))
    after = next_cron("0 6 * * *", "Europe/Berlin", datetime(2027, 3, 28, 12, tzinfo=UTC))
    assert before.astimezone(UTC) == datetime(2027, 3, 27, 5, tzinfo=UTC)
    assert after.astimezone(UTC) == datetime(2027, 3, 29, 4, tzinfo=UTC)


@pytest.mark.parametrize(
    ("cron", "timezone", "problem"),
    [
        ("0 6 * *", "UTC", "five fields"),
        ("0 25 * * *", "UTC", "no cron expression"),
        ("0 6 30 2 *", "UTC", "never comes|no time that ever comes|no cron"),
        ("0 6 * * *", "Europe/Atlantis", "no time zone"),
    ],
)
def test_cron_that_cannot_be_is_refused(cron: str, timezone: str, problem: str) -> None:
    with pytest.raises(ScheduleError, match=problem):
        make_schedule("a", STUDY, cron=cron, timezone=timezone, now=NOW)


@pytest.mark.parametrize("when", [{"interval": "5h"}, {"at": "2027-05-01T12:00+02:00"}, {}])
def test_an_unknown_time_zone_is_refused_whatever_needs_it(when: dict[str, str]) -> None:
    with pytest.raises(ScheduleError, match="no time zone 'Europe/Atlantis'"):
        make_schedule("a", STUDY, timezone="Europe/Atlantis", now=NOW, **when)


def test_a_time_in_the_past_is_refused_with_the_present_time() -> None:
    with pytest.raises(
        ScheduleError,
        match=r"2027-03-01T11:59:00\+00:00 lies in the past; it is 2027-03-01T12:00:00",
    ):
        make_schedule("a", STUDY, at="2027-03-01T11:59", now=NOW)
    with pytest.raises(ScheduleError, match="lies in the past"):
        make_schedule(
            "a", STUDY, at="2027-03-01T12:30", timezone="Europe/Berlin", now=NOW
        )  # 11:30 UTC
    assert (
        make_schedule("a", STUDY, at="2027-03-01T12:30", now=NOW).at == "2027-03-01T12:30:00+00:00"
    )


@pytest.mark.parametrize(
    "what",
    [
        {"cron": "0 6 * * *", "interval": "6h"},
        {"interval": "6h", "at": "2030-01-01"},
        {"at": "tomorrow"},
        {"new_run": True},
    ],
)
def test_schedules_that_contradict_themselves_are_refused(what: dict[str, object]) -> None:
    with pytest.raises(ScheduleError):
        make_schedule("a", STUDY, now=NOW, **what)  # type: ignore[arg-type]


def test_a_name_that_would_leave_the_folder_of_runs_is_refused() -> None:
    for name in ("../a", "a/b", "", ".hidden", "a" * 65):
        with pytest.raises(ScheduleError, match="cannot name a run"):
            make_schedule(name, STUDY, now=NOW)


def test_one_time_is_due_once_and_overdue_only_while_its_run_was_never_begun(
    tmp_path: Path,
) -> None:
    schedule = make_schedule("a", STUDY, at="2027-03-01T13:00", now=NOW)
    at = NOW + timedelta(hours=1)
    assert list(due_between([schedule], NOW, at)) == [(schedule, at)]
    assert not list(due_between([schedule], at, at + timedelta(days=9)))
    assert not overdue(schedule, tmp_path, NOW)
    assert overdue(schedule, tmp_path, at)
    (tmp_path / "a").mkdir()
    assert not overdue(schedule, tmp_path, at)


def test_a_clock_that_is_set_back_starts_nothing_and_one_that_jumps_ahead_starts_everything_once() -> (
    None
):
    schedules = [
        make_schedule("hourly", STUDY, interval="1h", now=NOW),
        make_schedule("daily", STUDY, cron="0 6 * * *", now=NOW),
        CampaignSchedule("paused", "a.toml", interval_s=3600, anchor=NOW.isoformat(), paused=True),
    ]
    assert not list(due_between(schedules, NOW, NOW - timedelta(hours=5)))
    ahead = list(due_between(schedules, NOW, NOW + timedelta(days=400)))
    assert [schedule.name for schedule, _ in ahead] == ["hourly", "daily"]
    # Back at the old time, nothing is due that was due before.
    assert not list(due_between(schedules, NOW + timedelta(days=400), NOW + timedelta(minutes=1)))


@given(st.lists(st.integers(-7200, 7200), min_size=1, max_size=30))
def test_whatever_the_clock_does_a_time_that_was_passed_is_due_at_most_once_per_crossing(
    jumps: list[int],
) -> None:
    schedule = CampaignSchedule("a", "a.toml", interval_s=3600, anchor=NOW.isoformat())
    last, crossings = NOW, 0
    for jump in jumps:
        moment = last + timedelta(seconds=jump)
        crossings += len(list(due_between([schedule], last, moment)))
        last = moment
    assert crossings <= sum(jump > 0 for jump in jumps)


def test_a_new_run_each_time_is_named_after_the_time_so_that_the_same_time_is_the_same_run() -> (
    None
):
    schedule = make_schedule("a", STUDY, interval="1d", new_run=True, now=NOW)
    assert schedule.run_name(NOW) == "a-20270301T120000Z"
    assert schedule_of("a-20270301T120000Z", {"a": schedule}) is schedule
    assert schedule_of("a-20270301T120000Z", {"a": make_schedule("a", STUDY, now=NOW)}) is None
    assert schedule_of("b", {"a": schedule}) is None


def test_schedules_are_kept_and_a_damaged_file_is_named(tmp_path: Path) -> None:
    made = make_schedule("a", STUDY, cron="0 6 * * 1", timezone="Europe/Berlin", now=NOW)
    assert change_schedules(tmp_path, lambda known: known | {"a": made}) == {"a": made}
    assert load_schedules(tmp_path) == {"a": made}
    (tmp_path / SCHEDULES_FILE).write_text('{"schedules": {"a": {"nonsense": 1}}}')
    with pytest.raises(ScheduleError, match=r"cannot read .*schedules\.json: .* schedule again"):
        load_schedules(tmp_path)


def test_the_command_schedules_lists_pauses_and_removes(tmp_path: Path) -> None:
    study, runs, runner = str(write_study(tmp_path)), str(tmp_path / "runs"), CliRunner()

    def lakatos(*words: str) -> str:
        done = runner.invoke(app, ["schedule", *words, "--runs", runs])
        assert done.exit_code == 0, done.output
        return done.output

    assert "nothing is scheduled" in lakatos()
    assert "every 6:00:00" in lakatos(study, "--interval", "6h")
    assert "it has not begun" in lakatos()
    lakatos("small", "--pause")
    assert load_schedules(tmp_path / "runs")["small"].paused
    assert "paused" in lakatos()
    lakatos(study, "--unpause")
    assert not load_schedules(tmp_path / "runs")["small"].paused
    lakatos("small", "--remove")
    assert not load_schedules(tmp_path / "runs")
    refused = runner.invoke(app, ["schedule", "small", "--pause", "--runs", runs])
    assert isinstance(refused.exception, ScheduleError)
    assert "there are: none" in str(refused.exception)


def test_a_study_whose_run_is_open_is_not_planned_as_a_second_run(tmp_path: Path) -> None:
    study, runs, runner = write_study(tmp_path), tmp_path / "runs", CliRunner()

    def schedule(*words: str) -> Result:
        return runner.invoke(app, ["schedule", str(study), *words, "--runs", str(runs)])

    run = new_folder(runs, "small", numbered=True)  # as `lakatos run` names it
    create_run(load_study(study), run).close()
    (runs / "broken").mkdir()
    (runs / "broken" / JOURNAL_FILE).write_bytes(b"not a journal")
    refused = schedule("--interval", "6h")
    assert isinstance(refused.exception, ScheduleError)
    message = str(refused.exception)
    assert f"{run} is open" in message
    assert f"`lakatos schedule {study} --name small-1 --runs {runs}`" in message
    assert "--new-run" in message
    assert not load_schedules(runs)
    said: list[str] = []
    assert not _deployable(study, runs, None, 1, said.append)
    assert message in said[0]

    assert schedule("--interval", "6h", "--name", "small-1").exit_code == 0
    assert schedule("--interval", "6h", "--name", "another").exit_code == 0
    assert schedule("--interval", "6h", "--new-run").exit_code == 0
    assert sorted(load_schedules(runs)) == ["another", "small", "small-1"]


def test_an_open_run_in_another_folder_is_named(tmp_path: Path) -> None:
    study, elsewhere, runs = write_study(tmp_path), tmp_path / "elsewhere", tmp_path / "runs"
    create_run(load_study(study), elsewhere / "mine").close()

    def schedule(*words: str) -> Result:
        return CliRunner().invoke(app, ["schedule", str(study), *words, "--runs", str(runs)])

    refused = schedule()
    assert isinstance(refused.exception, ScheduleError)
    message = str(refused.exception)
    assert f"{elsewhere / 'mine'} is open" in message
    assert f"`lakatos schedule {study} --name mine --runs {elsewhere}`" in message
    assert not load_schedules(runs)
    assert schedule("--name", "small").exit_code == 0
    assert CliRunner().invoke(
        app, ["schedule", str(study), "--name", "mine", "--runs", str(elsewhere)]
    ).exit_code == 0  # fmt: skip


@pytest.mark.parametrize("end", ["conclude", "delete", "change"])
def test_a_run_elsewhere_that_has_ended_or_is_of_another_study_is_not_named(
    tmp_path: Path, end: str
) -> None:
    study, elsewhere = write_study(tmp_path), tmp_path / "elsewhere" / "mine"
    config = load_study(study)
    begun = config.model_copy(update={"seed": 99}) if end == "change" else config
    create_run(begun, elsewhere).close()
    if end == "conclude":
        mark_pass(elsewhere, "concluded", "a verdict")
    if end == "delete":
        shutil.rmtree(elsewhere)
    done = CliRunner().invoke(app, ["schedule", str(study), "--runs", str(tmp_path / "runs")])
    assert done.exit_code == 0, done.output


def test_a_concluded_run_and_runs_of_other_studies_do_not_keep_a_study_from_being_planned(
    tmp_path: Path,
) -> None:
    study, runs = write_study(tmp_path), tmp_path / "runs"
    config = load_study(study)
    create_run(config, runs / "small-1").close()
    mark_pass(runs / "small-1", "concluded", "a verdict")
    create_run(config.model_copy(update={"name": "other"}), runs / "other-1").close()
    done = CliRunner().invoke(app, ["schedule", str(study), "--runs", str(runs)])
    assert done.exit_code == 0, done.output
    assert sorted(load_schedules(runs)) == ["small"]


def test_a_study_that_cannot_be_is_refused_when_it_is_scheduled_not_when_it_is_due(
    tmp_path: Path,
) -> None:
    study = write_study(tmp_path, "sede = 3")
    found = CliRunner().invoke(
        app, ["schedule", str(study), "--interval", "6h", "--runs", str(tmp_path / "runs")]
    )
    assert "unknown key 'sede'" in str(found.exception)
    assert not (tmp_path / "runs").exists()
