"""Campaigns whose people answer one by one: waiting, joining, withdrawing, excluding, confirming."""

from __future__ import annotations

import csv
import json
import shutil
import stat
import subprocess
import sys
import time
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from lakatos.domains import DOMAINS
from lakatos.experiments.design import design_from_json
from lakatos.experiments.errors import TrialsError
from lakatos.experiments.participants.answers import PersonAnswers, pseudonym
from lakatos.experiments.participants.prolific.books import LEDGER_FILE
from lakatos.experiments.participants.prolific.client import StudySeen
from lakatos.experiments.participants.prolific.ledger import PaymentLedger
from lakatos.experiments.participants.prolific.plan import make_plan, parse_settings
from lakatos.experiments.participants.source import Collected, Recruitment
from lakatos.experiments.participants.table import put_answers
from lakatos.experiments.participants.web.collection import KEY_FILE, collection_key
from lakatos.experiments.participants.web.session import (
    NoPlaceError,
    RecruitmentService,
    ServiceIdentifiers,
)
from lakatos.experiments.participants.web.store import SessionStore
from lakatos.experiments.participants.web.study import plan_of
from lakatos.experiments.participants.web.texts import consent_digest, texts_for_domain
from lakatos.experiments.participants.web.view import consent_of
from lakatos.experiments.record import (
    AnswersArrived,
    CollectionClosed,
    ConsentAsked,
    MoreAsked,
    PeopleRecruited,
    TrialsCollected,
)
from lakatos.experiments.registration import to_markdown
from lakatos.flows.audit.audit import audit
from lakatos.flows.commands.main import app
from lakatos.flows.commands.preregister import registration_of
from lakatos.flows.errors import FlowError
from lakatos.flows.operations.people import expire, find_person, holdings, import_answers, withdraw
from lakatos.flows.operations.people_export import export
from lakatos.flows.report.report import write_report
from lakatos.flows.run.progress import CampaignProgress, ProgressEvent
from lakatos.flows.run.records import RECORD_TYPES
from lakatos.flows.run.run import Run, create_run, has_run, read_state
from lakatos.flows.run.study import CampaignConfig
from lakatos.flows.stages.asked import AnswersAwaited, waiting_in
from lakatos.flows.stages.collect import deliver
from lakatos.flows.start import resume_run, run_study
from lakatos.theories.findings.verdicts.record import CampaignConcluded
from lakatos.traces.errors import InboxError, JournalError
from lakatos.traces.fold import canonical_digest
from lakatos.traces.inbox import Inbox
from lakatos.traces.record import Tombstone
from lakatos.traces.step import JOURNAL_FILE, Trace

sys.path.insert(0, str(Path(__file__).parent))
from small import form, small_study, spawn, write_study

QUICK = {"theories__candidates": 0, "theories__successors": 0, "theories__induction": False}
SHORT = {
    "design__trials": 8,
    "design__participants": 12,
    "design__refused": "cover",  # so few people tell little apart, and which trials they get hangs on the code itself
    "stop": {"cycles": 1, "least_cycles": 1},
}
ELSEWHERE = {"participants": {"source": "file"}, **QUICK, **SHORT}


def answer_file(
    folder: Path, path: Path, names: list[str], *, seed: int = 1, **columns: object
) -> Path:
    """Answers of people who nearly always take the option with the higher sum of ratings."""
    state, trace = read_state(folder)
    with trace:
        name = next(reversed(state.experiments.preregistrations))
        design = design_from_json(
            trace.artifacts.get_json(state.experiments.preregistrations[name].record.design)
        )
    sums = design.stimuli["ratings"].sum(axis=2)
    rng = np.random.default_rng(seed)
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(
            ["experiment", "participant", "trial", "response", "response_time_ms", *columns]
        )
        for person in names:
            for trial in rng.permutation(
                np.repeat(np.arange(len(sums)), design.repetitions)
            ).tolist():
                better = int(sums[trial, 1] > sums[trial, 0])
                response = better if rng.random() < 0.95 else 1 - better
                writer.writerow([name, person, trial, response, 700 + trial, *columns.values()])
    return path


def people(numbers: range) -> list[str]:
    return [f"person {number}" for number in numbers]


def findings(folder: Path) -> dict[str, bool]:
    found = audit(folder, n_workers=1)
    assert found.passed, [finding for finding in found.findings if not finding.passed]
    return {finding.name: finding.withdrawn for finding in found.findings}


@pytest.fixture(scope="module")
def asked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run that waits for its first answers."""
    folder = tmp_path_factory.mktemp("runs") / "asked"
    found = run_study(small_study(**ELSEWHERE), folder, n_workers=1)
    assert isinstance(found, AnswersAwaited)
    return folder


@pytest.fixture(scope="module")
def answered(asked: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same run, concluded on twelve people's answers."""
    folder = tmp_path_factory.mktemp("runs") / "answered"
    shutil.copytree(asked, folder)
    import_answers(folder, answer_file(folder, folder / "a.csv", people(range(12))))
    assert isinstance(resume_run(folder, n_workers=1), CampaignConcluded)
    return folder


@pytest.fixture
def copy(answered: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(answered, tmp_path / "copy"))


def test_a_pass_ends_while_people_are_missing_and_says_what_it_waits_for(asked: Path) -> None:
    state, trace = read_state(asked)
    trace.close()
    waiting = waiting_in(state)
    assert waiting is not None
    assert (waiting.experiment, waiting.n_completed, waiting.n_planned) == ("1.1", 0, 12)
    assert "`lakatos data import`" in waiting.text
    assert (asked / "asked" / "1.1.csv").exists()
    assert findings(asked)["order"] is False


def test_waiting_again_records_nothing_new(asked: Path, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(asked, tmp_path / "again"))
    with Trace.open(folder, RECORD_TYPES, read_only=True) as trace:
        before = canonical_digest(trace.journal.events())
    assert isinstance(resume_run(folder, n_workers=1), AnswersAwaited)
    with Trace.open(folder, RECORD_TYPES, read_only=True) as trace:
        assert canonical_digest(trace.journal.events()) == before


@pytest.mark.slow
def test_answers_that_arrive_in_parts_give_the_run_that_whole_ones_give(
    asked: Path, answered: Path, tmp_path: Path
) -> None:
    folder = Path(shutil.copytree(asked, tmp_path / "parts"))
    whole = answer_file(folder, tmp_path / "whole.csv", people(range(12))).read_text().splitlines()
    for part in (people(range(5)), people(range(5, 12))):
        rows = [line for line in whole if any(f",{name}," in line for name in part)]
        (tmp_path / "part.csv").write_text("\n".join([whole[0], *rows]))
        import_answers(folder, tmp_path / "part.csv")
        found = resume_run(folder, n_workers=1)
        if part == people(range(5)):
            assert isinstance(found, AnswersAwaited)
            assert found.n_completed == 5
    assert isinstance(found, CampaignConcluded)
    state, trace = read_state(folder)
    other, other_trace = read_state(answered)
    with trace, other_trace:
        own = {key: item.record.left_out for key, item in state.theories.scores.items()}
        theirs = {key: item.record.left_out for key, item in other.theories.scores.items()}
    # Pseudonyms have keys of their own in each run, so that people stand in another order; their scores are the same.
    assert own.keys() == theirs.keys()
    for key, units in own.items():
        assert np.sort(units.log_predictive) == pytest.approx(
            np.sort(theirs[key].log_predictive), abs=1e-9
        )


def test_an_import_is_taken_once_and_whole_or_not_at_all(asked: Path, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(asked, tmp_path / "imports"))
    file = answer_file(folder, tmp_path / "a.csv", people(range(3)))
    assert import_answers(folder, file).n_new == 3
    assert import_answers(folder, file).n_new == 0
    changed = file.read_text().replace("person 2", "person 9").splitlines()
    row = next(number for number, line in enumerate(changed) if "person 0" in line)
    cells = changed[row].split(",")
    changed[row] = ",".join([*cells[:3], "1" if cells[3] == "0" else "0", *cells[4:]])
    (tmp_path / "b.csv").write_text("\n".join(changed))
    with pytest.raises(
        InboxError,
        match=r"'person 0' in experiment 1\.1 were imported before, and others are in the file",
    ):
        import_answers(folder, tmp_path / "b.csv")
    (tmp_path / "c.csv").write_text(
        file.read_text().replace("person 2", "person 8").replace(",700\n", ',"7,0"\n')
    )
    with pytest.raises(TrialsError, match="decimal points, not commas"):
        import_answers(folder, tmp_path / "c.csv")
    assert holdings(folder).experiments[0].n_waiting == 3


def test_no_identifier_is_in_the_journal_the_artifacts_or_the_inbox(answered: Path) -> None:
    for path in answered.rglob("*"):
        if path.is_file() and path.suffix != ".csv":
            assert b"person 1" not in path.read_bytes(), path


@pytest.mark.slow
def test_each_person_is_an_artifact_of_its_own_in_nobody_elses_table(answered: Path) -> None:
    state, trace = read_state(answered)
    with trace:
        table = trace.artifacts.get_json(state.experiments.collected["1.1"].record.trials)
        assert set(table) == {"answers", "design", "n_options"}
        assert len(set(table["answers"])) == 12
    assert findings(answered)["people"] is False


@pytest.mark.slow
def test_who_withdraws_is_gone_the_chain_is_whole_and_scores_are_computed_anew(copy: Path) -> None:
    before, trace = read_state(copy)
    with trace:
        gone = before.experiments.answers["1.1"][3].record
        old_scores = {item.digest for item in before.theories.scores.values()}
        old_concluded = before.campaign.concluded
    found = withdraw(copy, gone.person)
    assert (found.experiments, found.n_batches) == (("1.1",), 1)
    stale = findings(copy)
    assert stale["withdrawn"]
    assert stale["validity"]
    with Trace.open(copy, RECORD_TYPES, read_only=True) as trace:
        assert not trace.artifacts.has(gone.answers)
        assert all(batch.json()["person"] != gone.person for batch in trace.inbox.stored())
    assert isinstance(resume_run(copy, n_workers=1), CampaignConcluded)
    findings(copy)
    after, trace = read_state(copy)
    with trace:
        assert after.experiments.collected["1.1"].record.n_people == 11
        assert not old_scores & {item.digest for item in after.theories.scores.values()}
        assert after.campaign.concluded is not None
        assert after.campaign.concluded.digest != old_concluded.digest
        erased = [event for event in trace.journal.events() if event.kind == "erased"]
        named = [event.body["was"] for event in erased if not event.is_bare]
        assert named == ["trials_collected"] * len(list(trace.records(TrialsCollected)))
        assert any(event.is_bare for event in erased)
        assert (
            after.experiments.preregistrations["1.1"].digest
            == before.experiments.preregistrations["1.1"].digest
        )
    assert "1 withdrew, and their responses are erased" in write_report(copy).read_text()
    assert withdraw(copy, gone.person).n_batches == 0
    import_answers(copy, copy / "a.csv")  # the same answers do not come back
    assert holdings(copy).experiments[0].n_waiting == 0


@pytest.mark.slow
def test_people_who_join_later_count_from_the_next_pass_on_and_can_leave_again(copy: Path) -> None:
    import_answers(copy, answer_file(copy, copy / "b.csv", ["latecomer"], seed=2))
    assert isinstance(resume_run(copy, n_workers=1), CampaignConcluded)
    state, trace = read_state(copy)
    with trace:
        assert state.experiments.collected["1.1"].record.n_people == 13
        assert all(
            len(item.record.left_out.log_predictive) == 13
            for item in state.theories.scores.values()
        )
        assert [item.record.reason for item in trace.records(Tombstone)] == [
            "the people of experiment 1.1 changed"
        ]
    findings(copy)
    withdraw(copy, pseudonym(collection_key(copy), "file", "latecomer"))
    assert isinstance(resume_run(copy, n_workers=1), CampaignConcluded)
    state, trace = read_state(copy)
    trace.close()
    assert state.experiments.collected["1.1"].record.n_people == 12
    assert state.campaign.concluded is not None
    findings(copy)


class ShownNotes(CampaignProgress):
    """Keeps what a pass prints besides its stages."""

    def __init__(self) -> None:
        super().__init__(self.keep)
        self.notes: list[str] = []

    def keep(self, event: ProgressEvent) -> None:
        if event.kind == "note":
            self.notes.append(event.text)


def test_going_on_with_too_few_people_ends_nothing_and_says_why(
    asked: Path, tmp_path: Path
) -> None:
    folder = Path(shutil.copytree(asked, tmp_path / "one"))
    import_answers(folder, answer_file(folder, tmp_path / "a.csv", people(range(1))))
    shown = ShownNotes()
    waiting = resume_run(folder, n_workers=1, enough=True, progress=shown)
    assert isinstance(waiting, AnswersAwaited)
    assert "the responses of 1 participants" in shown.notes[-1]
    assert "nothing was ended" in shown.notes[-1]
    _, trace = read_state(folder)
    with trace:
        assert not list(trace.records(CollectionClosed))
    assert isinstance(resume_run(folder, n_workers=1), AnswersAwaited)


def refused(folder: Path, message: str, **how: Any) -> None:
    """`resume --enough` is refused, has written nothing but what arrived, and the run waits as before."""
    state, trace = read_state(folder)
    with trace:
        before, head = waiting_in(state), trace.journal.head
    with pytest.raises(FlowError, match=message):
        resume_run(folder, n_workers=1, enough=True, **how)
    state, trace = read_state(folder)
    with trace:
        assert (waiting_in(state), trace.journal.head) == (before, head)
        assert not list(trace.records(CollectionClosed))


def test_a_collection_is_not_ended_where_other_code_may_not_carry_the_run_on(
    asked: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = Path(shutil.copytree(asked, tmp_path / "other"))
    import_answers(folder, answer_file(folder, tmp_path / "a.csv", people(range(6))))
    assert isinstance(resume_run(folder, n_workers=1), AnswersAwaited)
    with monkeypatch.context() as patch:
        patch.setattr("lakatos.flows.run.task.science", lambda _: "12345678" * 8)
        refused(folder, "--accept-code 12345678")
    assert isinstance(resume_run(folder, n_workers=1), AnswersAwaited)


def test_a_collection_is_not_ended_where_nothing_can_carry_the_run_on(
    asked: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = Path(shutil.copytree(asked, tmp_path / "unreachable"))
    import_answers(folder, answer_file(folder, tmp_path / "a.csv", people(range(6))))
    assert isinstance(resume_run(folder, n_workers=1), AnswersAwaited)
    monkeypatch.setenv("TMPDIR", str(tmp_path / "absent"))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "absent"))
    refused(folder, "temporary server", engine="prefect")


def test_a_run_that_has_not_begun_is_not_begun_by_a_refused_command(tmp_path: Path) -> None:
    folder = tmp_path / "unbegun"
    create_run(small_study(**ELSEWHERE), folder).close()
    refused(folder, "does not wait for participants")


@pytest.mark.slow
def test_where_the_last_responses_have_arrived_enough_carries_the_run_on(
    asked: Path, tmp_path: Path
) -> None:
    folder = Path(shutil.copytree(asked, tmp_path / "all"))
    import_answers(folder, answer_file(folder, tmp_path / "a.csv", people(range(12))))
    assert isinstance(resume_run(folder, n_workers=1, enough=True), CampaignConcluded)
    _, trace = read_state(folder)
    with trace:
        assert not list(trace.records(CollectionClosed))


@pytest.mark.slow
def test_fewer_people_are_enough_where_the_researcher_says_so(asked: Path, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(asked, tmp_path / "fewer"))
    import_answers(folder, answer_file(folder, tmp_path / "a.csv", people(range(6))))
    assert isinstance(resume_run(folder, n_workers=1), AnswersAwaited)
    assert isinstance(resume_run(folder, n_workers=1, enough=True), CampaignConcluded)
    state, trace = read_state(folder)
    with trace:
        (closed,) = trace.records(CollectionClosed)
    assert (closed.record.n_completed, closed.record.n_planned, closed.record.n_decided) == (
        6,
        12,
        0,
    )
    assert state.experiments.collected["1.1"].record.n_people == 6
    findings(folder)


@pytest.mark.long
def test_collection_ends_at_a_look_whose_bayes_factor_is_enough(tmp_path: Path) -> None:
    stopping = {"rule": "bayes_factor", "first_look": 4, "look_every": 2, "bayes_factor": 3.0}
    folder = tmp_path / "looks"
    study = small_study(**{**ELSEWHERE, "design__stopping": stopping, "design__participants": 40})
    assert isinstance(run_study(study, folder, n_workers=1), AnswersAwaited)
    assert "sequential" in registration_of(folder)["osf_prereg"]["Sampling Plan"]["Stopping rule"]
    import_answers(folder, answer_file(folder, tmp_path / "a.csv", people(range(30))))
    assert isinstance(resume_run(folder, n_workers=1), CampaignConcluded)
    with Trace.open(folder, RECORD_TYPES, read_only=True) as trace:
        (closed,) = trace.records(CollectionClosed)
    assert 4 <= closed.record.n_decided <= 30 == closed.record.n_completed < closed.record.n_planned
    assert "Bayes factor" in closed.record.reason


@pytest.mark.long
def test_simulated_people_after_the_look_that_ends_collection_do_not_count(tmp_path: Path) -> None:
    stopping = {"rule": "bayes_factor", "first_look": 4, "look_every": 2, "bayes_factor": 3.0}
    folder = tmp_path / "looks"
    study = small_study(
        **{**QUICK, **SHORT, "design__stopping": stopping, "design__participants": 40}
    )
    assert isinstance(run_study(study, folder, n_workers=1), CampaignConcluded)
    state, trace = read_state(folder)
    with trace:
        (closed,) = trace.records(CollectionClosed)
        first = [
            item.record.answers
            for item in state.experiments.answers["1.1"][: closed.record.n_decided]
        ]
        table = trace.artifacts.get_json(state.experiments.collected["1.1"].record.trials)
    assert closed.record.n_decided < 40 == len(state.experiments.answers["1.1"])
    assert set(table["answers"]) == set(first)
    assert isinstance(resume_run(folder, n_workers=1), CampaignConcluded)
    findings(folder)


def test_an_export_holds_every_answer_and_no_identifier(copy: Path, tmp_path: Path) -> None:
    export(copy, tmp_path / "out")
    with (tmp_path / "out" / "answers.csv").open() as file:
        rows = list(csv.DictReader(file))
    state, trace = read_state(copy)
    trace.close()
    assert len(rows) == sum(item.record.n_answers for item in state.experiments.answers["1.1"])
    assert {row["person"] for row in rows} == {
        item.record.person[:16] for item in state.experiments.answers["1.1"]
    }
    readme = (tmp_path / "out" / "README.md").read_text()
    for name in rows[0]:
        assert f"`{name}`" in readme
    assert str((tmp_path / "out").resolve()) in withdraw(copy, rows[0]["person"]).exports


def test_people_are_found_by_what_a_service_calls_them_and_only_if_there_is_one(copy: Path) -> None:
    assert find_person(copy, "person 4", "file") == pseudonym(
        collection_key(copy), "file", "person 4"
    )
    with pytest.raises(FlowError, match="0 people"):
        find_person(copy, "0123456789abcdef")
    with pytest.raises(FlowError, match="at least 6 digits"):
        find_person(copy, "")


@pytest.mark.long
def test_what_is_past_its_limit_is_shown_and_erased(tmp_path: Path) -> None:
    folder = tmp_path / "limits"
    study = small_study(**{**ELSEWHERE, "privacy": {"identifiers_days": 10, "responses_days": 30}})
    assert isinstance(run_study(study, folder, n_workers=1), AnswersAwaited)
    import_answers(folder, answer_file(folder, tmp_path / "a.csv", people(range(12))))
    assert isinstance(resume_run(folder, n_workers=1), CampaignConcluded)
    now = datetime.now(UTC)
    assert holdings(folder, now).due == {}
    assert expire(folder, now) == {}
    soon = holdings(folder, now).next_due
    assert soon is not None
    assert abs(soon - now - timedelta(days=10)) < timedelta(minutes=5)
    later = now + timedelta(days=11)
    assert len(expire(folder, later)["identifiers"]) == 12
    assert not (folder / "collection.key").exists()
    with Trace.open(folder, RECORD_TYPES, read_only=True) as trace:
        assert trace.inbox.stored() == []
        assert all(
            trace.artifacts.has(item.record.answers) for item in trace.records(AnswersArrived)
        )
    assert len(expire(folder, now + timedelta(days=31))["answers"]) == 12
    with Trace.open(folder, RECORD_TYPES, read_only=True) as trace:
        assert not any(
            trace.artifacts.has(item.record.answers) for item in trace.records(AnswersArrived)
        )
    assert findings(folder)["withdrawn"]


@pytest.mark.long
def test_careless_people_are_excluded_by_the_rules_and_the_verdict_is_given_without_them_too(
    tmp_path: Path,
) -> None:
    folder = tmp_path / "careless"
    rules = {"median_time_below_ms": 450, "failed_checks_above": 1}
    changes = {"participants__dropouts": 0.2, "participants__careless": 0.3, "exclusions": rules}
    study = small_study(
        **{**QUICK, **SHORT, **changes, "confirmation": {"participants": 12, "trials": 4}}
    )
    assert isinstance(run_study(study, folder, n_workers=1), CampaignConcluded)
    state, trace = read_state(folder)
    with trace:
        artifacts = {
            item.digest: trace.artifacts.get_json(item.record.answers)
            for item in state.experiments.answers["1.1"]
        }
    fast = {
        digest
        for digest, value in artifacts.items()
        if np.median(value["answers"]["response_time_ms"] or [0]) < 450
    }
    named = {
        item.record.answers for item in state.experiments.excluded if item.record.rule == "too_fast"
    }
    assert {
        digest for digest in fast if artifacts[digest]["answers"]["response_time_ms"]
    } == named & set(artifacts)
    assert state.experiments.collected["1.1"].record.n_people < 12
    plan = state.experiments.preregistrations["1.1"].record
    assert {item.record.words for item in state.experiments.excluded} <= set(plan.exclusion_rules)
    assert state.campaign.sensitivity is not None
    assert state.campaign.sensitivity.record.n_excluded > 0
    assert set(state.campaign.sensitivity.record.scores) == set(state.theories.pool)
    assert state.campaign.confirmation is not None
    assert state.campaign.confirmation.record.winner in state.theories.pool
    assert state.experiments.preregistrations["confirmation"].record.analysis.endswith("else open.")
    assert state.campaign.concluded is not None
    assert state.campaign.confirmation.record.text in state.campaign.concluded.record.text
    assert state.campaign.sensitivity.record.text in state.campaign.concluded.record.text
    findings(folder)
    page = write_report(folder).read_text()
    assert "median response time is below 450 ms" in page
    assert "excluded by preregistered rules" in page


def test_the_registration_has_every_prediction_and_the_fields_of_registries(asked: Path) -> None:
    value = registration_of(asked)
    assert json.loads(json.dumps(value)) == value
    assert len(value["predictions"]) == 8
    for trial in value["predictions"]:
        for (share,) in trial["shares"].values():
            assert 0 <= share["low"] <= share["share"] <= share["high"] <= 1
        assert set(trial["shares"]) == {theory["name"] for theory in value["theories"]}
    assert len(value["as_predicted"]) == 9
    fields = {name for section in value["osf_prereg"].values() for name in section}
    assert {
        "Hypotheses",
        "Stopping rule",
        "Data exclusion",
        "Missing data",
        "Inference criteria",
    } <= fields


def test_the_commands_say_what_is_waited_for_and_end_with_a_status_of_its_own(
    asked: Path, tmp_path: Path
) -> None:
    folder = Path(shutil.copytree(asked, tmp_path / "commands"))
    runner = CliRunner()
    status = runner.invoke(app, ["status", str(folder)])
    assert "0 of 12 have completed" in " ".join(status.output.split())
    waiting = runner.invoke(app, ["resume", str(folder), "--engine", "none"])
    assert waiting.exit_code == 3
    assert runner.invoke(app, ["report", str(folder)]).exit_code == 0
    assert "Its responses have not arrived" in (folder / "report.html").read_text()
    file = answer_file(folder, tmp_path / "a.csv", people(range(2)))
    assert (
        "2 participants are new"
        in runner.invoke(app, ["data", "import", str(folder), str(file)]).output
    )
    assert "2" in runner.invoke(app, ["data", "list", str(folder)]).output
    markdown = runner.invoke(app, ["preregister", str(folder)]).output
    assert markdown.startswith("# Preregistration: experiment 1.1")
    assert (
        json.loads(runner.invoke(app, ["preregister", str(folder), "--format", "json"]).output)[
            "version"
        ]
        == 2
    )


@pytest.mark.slow
def test_people_on_the_page_are_waited_for_agree_to_a_recorded_text_and_can_withdraw(
    tmp_path: Path,
) -> None:
    folder = tmp_path / "page"
    page = {
        "access": "open",
        "checks": 1,
        "contact": "A. Researcher",
        "consent_version": "3 of May",
        "idle_minutes": 30.0,
    }
    study = small_study(
        **{**ELSEWHERE, "participants": {"source": "web"}, "design__participants": 4, "page": page}
    )
    waiting = run_study(study, folder, n_workers=1)
    assert isinstance(waiting, AnswersAwaited)
    assert "`lakatos collect`" in waiting.text
    state, trace = read_state(folder)
    with trace:
        texts = {item.record.language: item.record.text for item in state.experiments.consents}
        lines = trace.artifacts.get_json(texts["en"])["consent"]
    assert {item.record.text_version for item in state.experiments.consents} == {"3 of May"}
    assert any("A. Researcher" in line for line in lines)
    store = SessionStore(folder)
    try:
        for number in range(5):
            token = f"token {number}"
            if number == 4:
                with pytest.raises(NoPlaceError):
                    store.join(token, consent=texts["en"], language="en")
                break
            session = store.comprehension(
                store.join(token, consent=texts["en"], language="en"), 0, passed=True
            )
            for place, step in enumerate(plan_of(session.experiment, session.place)):
                _, _, session = store.answer(session, place, (step.row + number) % 2, 800.0)
            assert session.status == "completed"
        store.deliver(Inbox(folder / "inbox.sqlite"))
    finally:
        store.shut()
    assert isinstance(resume_run(folder, n_workers=1), CampaignConcluded)
    state, trace = read_state(folder)
    trace.close()
    answers = state.experiments.answers["1.1"]
    assert {item.record.consent for item in answers} == {texts["en"]}
    assert findings(folder)["people"] is False
    assert withdraw(folder, answers[0].record.person).n_sessions == 1
    store = SessionStore(folder)
    with pytest.raises(NoPlaceError):  # a place that becomes free after the end is given to nobody
        store.join("late", consent=texts["en"], language="en")
    store.shut()
    assert isinstance(resume_run(folder, n_workers=1), CampaignConcluded)
    assert findings(folder)["withdrawn"]


@pytest.mark.long
def test_what_people_were_asked_stands_when_somebody_withdraws_from_an_earlier_experiment(
    tmp_path: Path,
) -> None:
    folder = tmp_path / "two"
    changes = {
        "participants__dropouts": 0.1,
        "theories__candidates": 4,
        "theories__induction": False,
    }
    study = small_study(
        **{**changes, "design__trials": 8, "design__participants": 16, "design__refused": "cover"}
    )
    assert isinstance(run_study(study, folder, n_workers=1), CampaignConcluded)
    before, trace = read_state(folder)
    trace.close()
    assert list(before.experiments.collected) == ["1.1", "2.1"]
    withdraw(
        folder,
        next(
            item.record.person
            for item in before.experiments.answers["1.1"]
            if item.record.status == "completed"
        ),
    )
    assert isinstance(resume_run(folder, n_workers=1), CampaignConcluded)
    after, trace = read_state(folder)
    with trace:
        assert len(list(trace.records(PeopleRecruited))) == 2
    assert list(after.experiments.collected) == ["1.1", "2.1"]
    for name in before.experiments.recruited:
        assert after.experiments.designs[name].digest == before.experiments.designs[name].digest
        assert (
            after.experiments.preregistrations[name].digest
            == before.experiments.preregistrations[name].digest
        )
    assert (
        after.experiments.collected["1.1"].record.n_people
        == before.experiments.collected["1.1"].record.n_people - 1
    )
    assert after.experiments.collected["2.1"].digest == before.experiments.collected["2.1"].digest
    assert len(after.campaign.cycles) == 2
    assert not {item.digest for item in before.campaign.cycles} & {
        item.digest for item in after.campaign.cycles
    }
    assert findings(folder)["withdrawn"]


def n_events(folder: Path) -> int:
    if not has_run(folder):
        return 0
    try:
        with Trace.open(folder, RECORD_TYPES, read_only=True) as trace:
            return trace.journal.head[0]
    except JournalError:  # it is being made
        return 0


@pytest.mark.long
def test_a_recruitment_cut_short_after_people_answered_is_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    changes = {
        "participants__careless": 0.2,
        **QUICK,
        **SHORT,
        "stop": {"cycles": 2, "least_cycles": 2},
    }
    run_study(small_study(**changes), tmp_path / "whole", n_workers=1)

    def cut_short(run: Run, recruitment: Recruitment, n_participants: int) -> Collected:
        found = deliver(run, recruitment, n_participants)
        if recruitment.experiment == "2.1":
            raise KeyboardInterrupt
        return found

    with monkeypatch.context() as patch:
        patch.setattr("lakatos.flows.stages.collect.deliver", cut_short)
        with pytest.raises(KeyboardInterrupt):
            run_study(small_study(**changes), tmp_path / "cut", n_workers=1)
    with Trace.open(tmp_path / "cut", RECORD_TYPES, read_only=True) as trace:
        assert len(list(trace.records(PeopleRecruited))) == 1
        assert trace.inbox.pending()
    resume_run(tmp_path / "cut", n_workers=1)
    assert form(tmp_path / "cut") == form(tmp_path / "whole")


@pytest.mark.long
def test_a_run_of_people_one_by_one_killed_at_random_points_ends_as_if_nothing_had_happened(
    tmp_path: Path,
) -> None:
    rules = {"median_time_below_ms": 450.0}
    changes = {
        "participants__dropouts": 0.2,
        "participants__careless": 0.2,
        "exclusions": rules,
        **QUICK,
        **SHORT,
    }
    study, folder, whole = write_study(tmp_path, **changes), tmp_path / "killed", tmp_path / "whole"
    run_study(small_study(**changes), whole, n_workers=1)
    rng = np.random.default_rng(8)
    for pause in rng.uniform(0.2, 2.0, 5):
        begun = (folder / JOURNAL_FILE).exists()
        what = (
            ["resume", str(folder)]
            if begun
            else ["run", str(study), "--runs", str(tmp_path), "--name", "killed"]
        )
        before = n_events(folder)
        process = spawn(*what)
        while n_events(folder) == before and process.poll() is None:  # however slow the machine is
            time.sleep(0.1)
        try:
            process.wait(float(pause))
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
    assert isinstance(resume_run(folder, n_workers=1), CampaignConcluded)
    forms = []
    for place in (folder, whole):
        with Trace.open(place, RECORD_TYPES, read_only=True) as trace:
            forms.append(canonical_digest(trace.journal.events()))
    assert forms[0] == forms[1]
    findings(folder)


def test_answers_that_are_gone_although_nobody_withdrew_fail_the_audit(copy: Path) -> None:
    state, trace = read_state(copy)
    with trace:
        trace.artifacts.erase(state.experiments.answers["1.1"][0].record.answers)
    found = audit(copy, recompute="none")
    assert not found.passed
    assert [finding.name for finding in found.findings if not finding.passed] == ["references"]


def test_commands_export_withdraw_and_expire(copy: Path, tmp_path: Path) -> None:
    runner = CliRunner()
    exported = runner.invoke(app, ["data", "export", str(copy), "--out", str(tmp_path / "out")])
    assert exported.exit_code == 0
    assert "people.csv" in exported.output
    gone = runner.invoke(app, ["data", "withdraw", str(copy), "person 3", "--service", "file"])
    assert "are erased" in gone.output
    assert str(tmp_path / "out") in gone.output
    nobody = runner.invoke(app, ["data", "withdraw", str(copy), "person 99", "--service", "file"])
    assert isinstance(nobody.exception, FlowError)
    assert "0 people" in runner.invoke(app, ["data", "expire", str(copy), "--dry-run"]).output
    (copy / "prolific.sqlite").touch()
    assert "delete it yourself" in runner.invoke(app, ["data", "expire", str(copy)]).output
    checked = runner.invoke(app, ["audit", str(copy), "--recompute", "none"])
    assert checked.exit_code == 0
    assert "withdrawn" in checked.output


def test_answers_that_a_pass_stored_and_did_not_record_go_with_who_withdraws(
    asked: Path, tmp_path: Path
) -> None:
    folder = Path(shutil.copytree(asked, tmp_path / "cut short"))
    assert "no participant has taken part" in to_markdown(registration_of(folder))
    import_answers(folder, answer_file(folder, tmp_path / "a.csv", people(range(2))))
    assert "no participant has taken part" not in to_markdown(registration_of(folder))
    with Trace.open(folder, RECORD_TYPES, read_only=True) as trace:
        batch = trace.inbox.pending()[0]
        answers = PersonAnswers.from_json(batch.json())
        stored = put_answers(
            trace.artifacts, answers, batch.salt
        )  # and the process was killed here
        assert withdraw(folder, answers.person).n_batches == 1
        assert not trace.artifacts.has(stored)


@pytest.mark.long
def test_a_withdrawal_that_was_cut_short_is_told_by_the_audit_and_ended_by_the_next_pass(
    copy: Path,
) -> None:
    with Trace.open(copy, RECORD_TYPES) as trace:
        item = next(iter(trace.records(AnswersArrived)))
        value = trace.artifacts.get(item.record.answers)
    withdraw(copy, item.record.person)
    with Trace.open(copy, RECORD_TYPES) as trace:
        trace.artifacts.put(value)  # as if the process had been killed before it erased them
    found = {finding.name: finding for finding in audit(copy, n_workers=1).findings}
    assert not found["withdrawn"].passed
    resume_run(copy, n_workers=1)
    assert findings(copy)["withdrawn"]


def test_a_withdrawal_of_somebody_whom_nobody_knows_is_refused(copy: Path) -> None:
    SessionStore(copy).shut()  # people on the page, none of whom is called so
    with pytest.raises(FlowError, match="0 people"):
        find_person(copy, "somebody else", "file")
    (copy / KEY_FILE).unlink()
    with pytest.raises(FlowError, match="no key of pseudonyms"):
        find_person(copy, "person 4", "file")
    assert not (copy / KEY_FILE).exists()


@pytest.mark.slow
def test_no_limit_erases_the_only_copy_of_answers_or_the_key_of_those_who_are_left(
    tmp_path: Path,
) -> None:
    folder = tmp_path / "limits"
    study = small_study(**{**ELSEWHERE, "privacy": {"identifiers_days": 10, "responses_days": 30}})
    assert isinstance(run_study(study, folder, n_workers=1), AnswersAwaited)
    import_answers(folder, answer_file(folder, tmp_path / "a.csv", people(range(3))))
    assert isinstance(resume_run(folder, n_workers=1), AnswersAwaited)
    import_answers(folder, answer_file(folder, tmp_path / "b.csv", ["person 3"], seed=2))
    later = datetime.now(UTC) + timedelta(days=11)
    expire(folder, later)
    assert (folder / KEY_FILE).exists()
    assert holdings(folder, later).experiments[0].n_waiting == 1
    assert isinstance(resume_run(folder, n_workers=1), AnswersAwaited)
    expire(folder, later)
    assert not (folder / KEY_FILE).exists()
    with pytest.raises(FlowError, match="distinguished from those who responded before"):
        import_answers(folder, tmp_path / "a.csv")
    import_again = holdings(folder, later).experiments[0]
    assert (import_again.n_waiting, import_again.statuses) == (0, {"completed": 4})


@pytest.mark.slow
def test_answers_that_no_pass_took_have_a_limit_too(tmp_path: Path) -> None:
    folder = tmp_path / "limits"
    study = small_study(**{**ELSEWHERE, "privacy": {"responses_days": 30}})
    assert isinstance(run_study(study, folder, n_workers=1), AnswersAwaited)
    import_answers(folder, answer_file(folder, tmp_path / "a.csv", people(range(2))))
    assert len(expire(folder, datetime.now(UTC) + timedelta(days=31))["answers"]) == 2
    assert holdings(folder).experiments[0].n_waiting == 0


def careful_study(**changes: object) -> CampaignConfig:
    """People of whom many press one key without looking, and a rule that finds them."""
    return small_study(**{**QUICK, **SHORT, "participants__careless": 0.4, **changes})


@pytest.mark.slow
def test_people_who_are_excluded_are_replaced_up_to_the_preregistered_number_with_every_step_a_record(
    tmp_path: Path,
) -> None:
    rules = {"median_time_below_ms": 450.0, "replacements": 30}
    assert isinstance(
        run_study(careful_study(exclusions=rules), tmp_path / "a", n_workers=1), CampaignConcluded
    )
    state, trace = read_state(tmp_path / "a")
    with trace:
        asked = [item.record for item in trace.records(MoreAsked)]
        form = canonical_digest(trace.journal.events())
    assert asked
    assert all(item.preregistered for item in asked)
    excluded = {item.record.answers for item in state.experiments.excluded}
    people = state.experiments.answers["1.1"]
    assert state.experiments.collected["1.1"].record.n_people == 12
    assert len(people) - len(excluded) == 12
    assert state.experiments.wanted["1.1"] == asked[-1].n_participants == len(people)
    assert any("are replaced by new people, at most 30" in rule
               for rule in state.experiments.preregistrations["1.1"].record.exclusion_rules)  # fmt: skip
    assert findings(tmp_path / "a")["people"] is False
    again = run_study(careful_study(exclusions=rules), tmp_path / "b", n_workers=1)
    assert isinstance(again, CampaignConcluded)
    with Trace.open(tmp_path / "b", RECORD_TYPES, read_only=True) as trace:
        assert canonical_digest(trace.journal.events()) == form


@pytest.mark.long
def test_replacement_ends_at_its_number_and_nobody_is_replaced_without_one(tmp_path: Path) -> None:
    for most in (0, 2):
        folder = tmp_path / str(most)
        run_study(
            careful_study(exclusions={"median_time_below_ms": 450.0, "replacements": most}),
            folder,
            n_workers=1,
        )
        state, trace = read_state(folder)
        trace.close()
        assert len(state.experiments.answers["1.1"]) == 12 + most
        assert state.experiments.collected["1.1"].record.n_people < 12


def take_part(
    folder: Path, names: Sequence[str], response_time_ms: float = 800.0, *, until: int = 1000
) -> None:
    """People on the page who come with identifiers of Prolific, and take as long as they say."""
    now = [time.time()]
    store = SessionStore(folder, clock=lambda: now[0])
    experiment = store.find("1.1")
    assert experiment is not None
    try:
        for name in names:
            who = ServiceIdentifiers("prolific", name, "the-study", f"visit-{name}")
            agreed = consent_digest(consent_of(experiment, "en"))
            session = store.join(name, consent=agreed, language="en", identifiers=who)
            session = store.comprehension(session, 0, passed=True)
            for place, step in list(enumerate(plan_of(session.experiment, session.place)))[:until]:
                now[0] += response_time_ms / 1000 + 0.05
                _, _, session = store.answer(
                    session, place, (step.row + len(name)) % 2, response_time_ms
                )
            if session.status == "active":
                store.stop(session, keep=True)
        store.deliver(Inbox(folder / "inbox.sqlite"))
    finally:
        store.shut()


ON_THE_PAGE = {
    **ELSEWHERE,
    "participants": {"source": "web"},
    "design__participants": 4,
    "page": {"access": "open", "checks": 1},
}


@pytest.mark.slow
def test_the_page_takes_people_in_place_of_excluded_ones_and_more_when_the_researcher_asks(
    tmp_path: Path,
) -> None:
    folder = tmp_path / "page"
    study = small_study(
        **{**ON_THE_PAGE, "exclusions": {"median_time_below_ms": 450.0, "replacements": 3}}
    )
    assert isinstance(run_study(study, folder, n_workers=1), AnswersAwaited)
    take_part(folder, ["anna", "ben", "carla"])
    take_part(folder, ["hasty"], 210.0)
    with pytest.raises(NoPlaceError):
        take_part(folder, ["dora"])
    waiting = resume_run(folder, n_workers=1)
    assert isinstance(waiting, AnswersAwaited)
    assert (waiting.n_completed, waiting.n_planned) == (4, 5)
    runner = CliRunner()
    assert (
        "7 participants are wanted now"
        in runner.invoke(app, ["data", "more", str(folder), "2"]).output
    )
    take_part(folder, ["dora", "emil", "frida"])
    with pytest.raises(NoPlaceError):
        take_part(folder, ["gustav"])
    assert isinstance(resume_run(folder, n_workers=1), CampaignConcluded)
    state, trace = read_state(folder)
    with trace:
        assert [item.record.preregistered for item in trace.records(MoreAsked)] == [True, False]
    assert state.experiments.collected["1.1"].record.n_people == 6
    refused = runner.invoke(app, ["data", "more", str(folder), "2"])
    assert isinstance(refused.exception, FlowError)
    assert findings(folder)["people"] is False


@pytest.mark.parametrize(
    ("partial", "n_people"),
    [
        pytest.param("exclude", 4, marks=pytest.mark.long),
        pytest.param("keep", 5, marks=pytest.mark.slow),
    ],
)
def test_answers_that_people_left_when_they_stopped_count_only_as_preregistered(
    tmp_path: Path, partial: str, n_people: int
) -> None:
    folder = tmp_path / "page"
    study = small_study(**{**ON_THE_PAGE, "exclusions": {"partial": partial, "partial_share": 0.5}})
    run_study(study, folder, n_workers=1)
    take_part(folder, ["left early"], until=3)
    take_part(folder, ["left late"], until=15)
    take_part(folder, ["anna", "ben", "carla", "dora"])
    assert isinstance(resume_run(folder, n_workers=1), CampaignConcluded)
    state, trace = read_state(folder)
    trace.close()
    assert [item.record.status for item in state.experiments.answers["1.1"]][:2] == [
        "stopped",
        "stopped",
    ]
    assert state.experiments.collected["1.1"].record.n_people == n_people


@pytest.mark.slow
def test_a_collection_that_ends_early_is_not_finished_while_its_study_could_let_people_in(
    tmp_path: Path,
) -> None:
    folder = tmp_path / "page"
    run_study(small_study(**ON_THE_PAGE), folder, n_workers=1)
    settings = {"experiment": "1.1", "title": "t", "description": "d", "url": "https://lab.example/", "people": 4,
                "minutes": 5, "reward": "1.00"}  # fmt: skip
    plan = make_plan(parse_settings(settings, "test"))
    with PaymentLedger(folder / LEDGER_FILE) as ledger:
        ledger.keep_plan(plan)
        ledger.set_study(plan.key, StudySeen("st", plan.internal_name, "ACTIVE", 4, 2, 100))
    take_part(folder, ["anna", "ben"])
    waiting = resume_run(folder, n_workers=1, enough=True)
    assert isinstance(waiting, AnswersAwaited)
    assert f"lakatos prolific pay {folder} --experiment 1.1 --stop" in waiting.text
    assert isinstance(resume_run(folder, n_workers=1), AnswersAwaited)
    with PaymentLedger(folder / LEDGER_FILE) as ledger:
        ledger.set_stopped(plan.key, True)
    assert isinstance(resume_run(folder, n_workers=1), CampaignConcluded)
    for path in (folder, folder / "artifacts"):
        for item in path.iterdir():
            if item.suffix == ".sqlite" or path != folder:
                assert stat.S_IMODE(item.stat().st_mode) & 0o077 == 0, item


@pytest.mark.slow
def test_answers_kept_apart_are_listed_and_forgotten_with_the_identifiers(tmp_path: Path) -> None:
    folder = tmp_path / "page"
    run_study(
        small_study(**{**ON_THE_PAGE, "privacy": {"identifiers_days": 10}}), folder, n_workers=1
    )
    store = SessionStore(folder)
    store.recruit_through(
        "1.1", "prolific", RecruitmentService("the-study", {"completed": "CODE"}, "")
    )
    store.shut()
    take_part(folder, ["anna", "ben"])
    (held,) = holdings(folder).experiments
    assert (held.n_apart, held.n_waiting) == (2, 0)
    assert not holdings(folder).due
    later = datetime.now(UTC) + timedelta(days=11)
    assert len(expire(folder, later)["identifiers"]) == 2
    store = SessionStore(folder)
    assert (store.people(), store.wanted("1.1")) == (set(), 4)
    store.shut()


@pytest.mark.slow
def test_a_translation_that_changes_while_people_take_part_strands_no_study(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "page"
    assert isinstance(run_study(small_study(**ON_THE_PAGE), folder, n_workers=1), AnswersAwaited)
    take_part(folder, ["anna", "ben"])
    _, trace = read_state(folder)
    with trace:
        before = [item.record for item in trace.records(ConsentAsked)]
    texts = texts_for_domain(DOMAINS["multiattribute"])
    changed = {
        code: {**table, "consent": {**table["consent"], "agree": "Something else"}}
        for code, table in texts.items()
    }
    monkeypatch.setattr(
        "lakatos.experiments.participants.web.source.texts_for_domain", lambda *_: changed
    )
    assert isinstance(resume_run(folder, n_workers=1), AnswersAwaited)
    take_part(folder, ["carla", "dora"])
    assert isinstance(resume_run(folder, n_workers=1), CampaignConcluded)
    _, trace = read_state(folder)
    with trace:
        assert [item.record for item in trace.records(ConsentAsked)] == before
    assert findings(folder)["people"] is False  # nobody withdrew
