"""Campaigns that a language model answers in place of people, over HTTP: as it should, badly, and cut short."""

from __future__ import annotations

import csv
import sys
import threading
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from lakatos.domains import DOMAINS
from lakatos.experiments.errors import SourceError, TrialsError
from lakatos.experiments.participants.answers import PersonAnswers
from lakatos.experiments.record import (
    AnswersArrived,
    CollectionClosed,
    ModelTakesPart,
    PersonExcluded,
    SessionHeld,
    TrialsCollected,
)
from lakatos.flows.audit.audit import audit
from lakatos.flows.commands.preregister import registration_of
from lakatos.flows.errors import FlowError, StudyError
from lakatos.flows.operations.people import import_answers, withdraw
from lakatos.flows.operations.people_export import export
from lakatos.flows.report.report import write_report
from lakatos.flows.roles.budget import raise_budget
from lakatos.flows.run.evidence import theory_of, trials_in
from lakatos.flows.run.records import RECORD_TYPES
from lakatos.flows.run.run import read_state
from lakatos.flows.stages.asked import AnswersAwaited
from lakatos.flows.start import resume_run, run_study
from lakatos.language_models.ledger import Budget, spending_of
from lakatos.language_models.record import LanguageModelCalled
from lakatos.language_models.serving.app_thread import free_port
from lakatos.theories.engine.laboratory import Laboratory
from lakatos.traces.inbox import Inbox
from lakatos.traces.step import Trace
from tests.rehearsal.app import RehearsalSettings
from tests.rehearsal.fault import ServerMisbehaviour
from tests.rehearsal.serve import running

sys.path.insert(0, str(Path(__file__).parent))
from answering import Speaker
from participating import higher_sum, noted, page_of
from small import form, records, small_study, spawn, write_study

LARGE = RehearsalSettings(context_tokens=32768)
N_PEOPLE, N_TRIALS = 6, 4


def changes(base_url: str, **more: Any) -> dict[str, Any]:
    """A study of one small experiment that the model at an address answers."""
    return {
        "models": {"anyone": {"base_url": base_url, "model": LARGE.model}},
        "participants": {
            "source": "language_model",
            "model": "anyone",
            "personas": ["a baker", "a sailor"],
        },
        "page": {"checks": 1},
        "design__trials": N_TRIALS,
        "design__participants": N_PEOPLE,
        "design__repetitions": 1,
        "design__refused": "cover",
        "theories__candidates": 0,
        "theories__successors": 0,
        "theories__induction": False,
        "stop": {"cycles": 1, "least_cycles": 1},
        **more,
    }


@pytest.fixture(scope="module")
def told() -> list[dict[str, Any]]:
    """Bodies of all requests that the server got."""
    return []


@pytest.fixture(scope="module")
def speaker(told: list[dict[str, Any]]) -> Speaker:
    return Speaker(noted(higher_sum, told))


@pytest.fixture(scope="module")
def server(speaker: Speaker) -> Iterator[Any]:
    """Of the model that follows a rule."""
    with running(LARGE, speaker) as served:
        yield served


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory, server: Any) -> Path:
    """A campaign whose model follows a rule."""
    folder = tmp_path_factory.mktemp("runs") / "rule"
    found = run_study(small_study(**changes(server.base_url)), folder, n_workers=1)
    assert not isinstance(found, AnswersAwaited)
    return folder


@pytest.mark.slow
def test_every_person_is_a_session_of_its_own(finished: Path, told: list[dict[str, Any]]) -> None:
    held = records(finished, SessionHeld)
    assert [item.place for item in held] == list(range(N_PEOPLE))
    assert [item.persona for item in held] == ["a baker", "a sailor"] * (N_PEOPLE // 2)
    assert len({item.seed for item in held}) == N_PEOPLE
    assert {item.status for item in held} == {"completed"}
    assert {item.model_names for item in held} == {(LARGE.model,)}
    # Instructions, then trials and one attention check.
    assert {len(item.calls) for item in held} == {1 + N_TRIALS + 1}
    assert len(told) == N_PEOPLE * (N_TRIALS + 2)
    seeds = [item.seed for item in records(finished, LanguageModelCalled)]
    assert len(set(seeds)) == len(seeds)


@pytest.mark.slow
def test_answers_follow_the_rule_that_the_server_reads_off_the_pages(finished: Path) -> None:
    with Trace.open(finished, RECORD_TYPES, read_only=True) as trace:
        (collected,) = [item.record for item in trace.records(TrialsCollected)]
        state, other = read_state(finished)
        other.close()
        trials = trials_in(trace.artifacts, state, collected.experiment)
    sums = trials.stimuli["ratings"].sum(axis=2)[trials.trial]
    clear = sums[:, 0] != sums[:, 1]
    agree = (sums[:, 1] > sums[:, 0])[clear] == trials.response[clear]
    assert clear.sum() > 5
    # The server errs in 5% of answers; 3 standard errors below.
    assert agree.mean() > 0.95 - 3 * np.sqrt(0.95 * 0.05 / clear.sum())
    assert trials.by_language_model


def test_a_model_reads_what_a_person_reads_and_no_theory(
    finished: Path, told: list[dict[str, Any]]
) -> None:
    first = next(body for body in told if len(body["messages"]) == 2)
    assert (
        "a baker" in first["messages"][0]["content"]
        or "a sailor" in first["messages"][0]["content"]
    )
    page = page_of(first)
    assert "which of two products is better" in page
    assert "- The expert finds the product better" in page
    trial = next(page_of(body) for body in told if "| Product A | Product B" in page_of(body))
    assert trial.startswith("Decision ")
    assert "right 90% of the time" in trial
    assert trial.endswith("Your answer:\n- Product A\n- Product B")
    everything = str(told).lower()
    assert not any(
        word in everything for word in ("theory", "take_the_best", "tallying", "theories")
    )
    # A session goes on as one conversation.
    assert max(len(body["messages"]) for body in told) == 2 * (N_TRIALS + 2)


def test_its_answers_are_labelled_wherever_they_stand(finished: Path, tmp_path: Path) -> None:
    assert {item.source for item in records(finished, AnswersArrived)} == {"language_model"}
    assert {item.language_model for item in records(finished, TrialsCollected)} == {"anyone"}
    assert [item.model for item in records(finished, ModelTakesPart)] == ["anyone"]
    state, trace = read_state(finished)
    trace.close()
    assert state.campaign.concluded is not None
    assert (
        "All responses are those of the language model 'anyone', not of people."
        in state.campaign.concluded.record.text
    )
    report = write_report(finished, tmp_path / "report.html").read_text()
    assert "No person took part. The language model <q>anyone</q> gave the responses." in report
    assert "These results are not evidence about human behaviour" in report
    plan = str(registration_of(finished))
    assert "no human data" in plan
    assert "Missing responses are recorded with the reason" in plan
    written = {path.name: path for path in export(finished, tmp_path / "out")}
    assert "not of people" in written["README.md"].read_text()
    for name in ("answers.csv", "people.csv"):
        with written[name].open() as file:
            assert {row["language_model"] for row in csv.DictReader(file)} == {"anyone"}


@pytest.mark.slow
def test_every_record_of_answers_cites_its_session_and_that_its_calls(finished: Path) -> None:
    with Trace.open(finished, RECORD_TYPES, read_only=True) as trace:
        held = {item.digest: item.record for item in trace.records(SessionHeld)}
        cited = [
            digest
            for event in trace.journal.events()
            if event.kind == "answers_arrived"
            for digest in event.inputs
            if digest in held
        ]
        inputs = {
            event.record_digest: event.inputs
            for event in trace.journal.events()
            if event.kind == "session_held"
        }
    assert sorted(cited) == sorted(held)
    assert all(set(held[digest].calls) <= set(inputs[digest]) for digest in held)
    assert audit(finished, n_workers=1).passed


def test_no_theory_is_scored_on_a_model_and_on_people_together(finished: Path) -> None:
    state, trace = read_state(finished)
    with trace:
        by_model = trials_in(trace.artifacts, state, next(iter(state.experiments.collected)))
        theory = theory_of(trace.artifacts, state, next(iter(state.theories.pool)))
    by_people = replace(by_model, experiment="people", by_language_model=False)
    with Laboratory(DOMAINS["multiattribute"], n_workers=1) as laboratory:
        assert len(laboratory.evidence(theory, [by_model, by_model], 64)) == 2
        with pytest.raises(TrialsError, match="never mixes"):
            laboratory.evidence_of([theory], [by_model, by_people], 64)


def test_peoples_answers_are_not_let_into_the_run_of_a_model(
    finished: Path, tmp_path: Path
) -> None:
    file = tmp_path / "people.csv"
    file.write_text("participant,trial,response\nsomebody,0,A\n")
    with pytest.raises(FlowError, match="never mixed with those of people"):
        import_answers(finished, file)


@pytest.mark.slow
@pytest.mark.parametrize("source", ["web", "file"])
def test_answers_of_a_model_are_not_let_into_the_run_of_people(tmp_path: Path, source: str) -> None:
    study = {**changes(""), "participants": {"source": source}, "models": {}}
    study["page"] = {} if source == "file" else study["page"]
    folder = tmp_path / source
    assert isinstance(run_study(small_study(**study), folder, n_workers=1), AnswersAwaited)
    state, trace = read_state(folder)
    trace.close()
    batch = PersonAnswers(
        experiment=next(iter(state.experiments.recruited)),
        person="0" * 64,
        status="completed",
        trial=tuple(range(N_TRIALS)),
        response=(0,) * N_TRIALS,
        response_time_ms=(),
        feedback={},
        checks=(),
        comprehension_attempts=1,
        consent="",
        language="en",
        source="language_model",
    )
    Inbox(folder / "inbox.sqlite").deliver("language_model", batch.to_json(), batch_key="one")
    with pytest.raises(SourceError, match="never mixed with those of people"):
        resume_run(folder, n_workers=1)


@pytest.mark.long
def test_a_campaign_killed_in_the_middle_of_sessions_ends_as_if_nothing_had_happened(
    finished: Path, server: Any, speaker: Speaker, tmp_path: Path
) -> None:
    reached, go_on, before = threading.Event(), threading.Event(), speaker.answer
    asked: Counter[str] = Counter()

    def hanging(body: Mapping[str, Any], rng: np.random.Generator) -> Any:
        asked[str(body["messages"]) + str(body["seed"])] += 1
        if sum(asked.values()) > 12 and not go_on.is_set():
            reached.set()
            go_on.wait(60)
        return higher_sum(body, rng)

    speaker.answer = hanging
    process = spawn(
        "run",
        str(write_study(tmp_path, **changes(server.base_url))),
        "--runs",
        str(tmp_path),
        "--name",
        "killed",
    )
    try:
        assert reached.wait(120)
        process.kill()
        process.wait()
        n_recorded = len(records(tmp_path / "killed", LanguageModelCalled))
        assert n_recorded > N_PEOPLE
        go_on.set()
        resume_run(tmp_path / "killed", n_workers=1)
    finally:
        process.kill()
        speaker.answer = before
    # What was recorded is not asked again, only what was on its way: one request of each session.
    assert len(asked) == N_PEOPLE * (N_TRIALS + 2)
    assert sum(asked.values()) <= len(asked) + N_PEOPLE
    assert form(tmp_path / "killed") == form(finished)


FAULTS: dict[Any, float] = {
    "too_many_requests": 0.03,
    "server_error": 0.03,
    "dropped": 0.03,
    "cut_body": 0.03,
    "malformed_json": 0.1,
    "wrong_schema": 0.1,
    "refusal": 0.15,
    "empty": 0.1,
    "truncated": 0.05,
    "injection": 0.05,
    "repetition": 0.05,
}


@pytest.mark.long
def test_answers_that_a_misbehaving_model_does_not_give_are_missing_by_the_preregistered_rules(
    tmp_path: Path,
) -> None:
    folder = tmp_path / "bad"
    misbehaving = LARGE.model_copy(
        update={"misbehaviour": ServerMisbehaviour(rates=FAULTS, seed=5, retry_after_s=0)}
    )
    rules = {"missing_responses_above": 0.4, "replacements": 4}
    study = {
        "design__participants": 8,
        "exclusions": rules,
        "page": {"checks": 1, "most_attempts": 9},
    }
    with running(misbehaving, higher_sum) as served:
        found = run_study(small_study(**changes(served.base_url, **study)), folder, n_workers=1)
        assert not isinstance(found, AnswersAwaited)
    held = records(folder, SessionHeld)
    reasons = Counter(reason for item in held for reason in item.missing_reasons)
    assert reasons["refused"] > 0
    assert all(
        item.n_answers + len(item.missing_trials) == N_TRIALS
        for item in held
        if item.status == "completed"
    )
    many = {item.person for item in held if len(item.missing_trials) > 0.4 * N_TRIALS}
    excluded = [item for item in records(folder, PersonExcluded) if item.rule == "missing_answers"]
    assert {item.person for item in excluded} == many
    assert audit(folder, n_workers=1).passed


@pytest.mark.long
def test_with_a_stopping_rule_sessions_are_held_look_by_look_and_withdrawn_ones_are_not_asked_again(
    tmp_path: Path,
) -> None:
    folder = tmp_path / "looks"
    stopping = {"rule": "bayes_factor", "bayes_factor": 1.5, "first_look": 4, "look_every": 2}
    study = {"design__participants": 12, "design__trials": 8, "design__stopping": stopping}
    with running(LARGE, higher_sum) as served:
        run_study(small_study(**changes(served.base_url, **study)), folder, n_workers=1)
        (closed,) = records(folder, CollectionClosed)
        held = records(folder, SessionHeld)
        assert len(held) == closed.n_decided == closed.n_completed
        assert closed.n_decided in (4, 6, 8, 10)
        withdraw(folder, held[0].person)
        resume_run(folder, n_workers=1)
    assert len(records(folder, SessionHeld)) == len(held)
    assert records(folder, TrialsCollected)[-1].n_people == len(held) - 1
    assert audit(folder, n_workers=1).passed


@pytest.mark.slow
def test_a_model_that_only_refuses_gives_no_result_but_a_reason(tmp_path: Path) -> None:
    def refuses_sessions(body: Mapping[str, Any], rng: np.random.Generator) -> str | None:
        """The first request, before any session, is about rain."""
        return None if "rain" in str(body["messages"]) else "I would rather not take part."

    with (
        running(LARGE, refuses_sessions) as served,
        pytest.raises(FlowError, match="0 of 6 sessions of the language model"),
    ):
        run_study(small_study(**changes(served.base_url)), tmp_path / "refused", n_workers=1)
    held = records(tmp_path / "refused", SessionHeld)
    assert {item.status for item in held} == {"screened_out"}
    assert {item.n_unread for item in held} == {3}


@pytest.mark.slow
def test_an_exhausted_budget_stops_the_run_until_it_is_raised(tmp_path: Path) -> None:
    folder = tmp_path / "poor"
    with running(LARGE, higher_sum) as served:
        with pytest.raises(
            FlowError, match=r"budget for language models is exhausted.*lakatos models budget"
        ):
            run_study(
                small_study(**changes(served.base_url, budget={"requests": 10})),
                folder,
                n_workers=1,
            )
        raise_budget(folder, Budget(requests=100))
        assert not isinstance(resume_run(folder, n_workers=1), AnswersAwaited)
    _, trace = read_state(folder)
    assert spending_of(trace.journal.events()).total.requests == 1 + N_PEOPLE * (N_TRIALS + 2)
    trace.close()


@pytest.mark.slow
def test_a_model_that_refuses_the_first_request_holds_no_session(tmp_path: Path) -> None:
    refusing = LARGE.model_copy(update={"misbehaviour": ServerMisbehaviour(rates={"refusal": 1.0})})
    with (
        running(refusing) as served,
        pytest.raises(FlowError, match="'anyone' refuses to write a sentence about rain"),
    ):
        run_study(small_study(**changes(served.base_url)), tmp_path / "refused", n_workers=1)
    assert not records(tmp_path / "refused", SessionHeld)


def test_a_server_that_is_not_there_is_found_out_before_anything_else(tmp_path: Path) -> None:
    study = small_study(**changes(f"http://127.0.0.1:{free_port()}/v1"))
    with pytest.raises(FlowError, match="has not gone on"):
        run_study(study, tmp_path / "nowhere", n_workers=1)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"participants": {"source": "language_model"}}, "needs the key 'model'"),
        ({"participants": {"source": "language_model", "model": "anyon"}}, "did you mean 'anyone'"),
        (
            {"participants": {"source": "file", "model": "anyone"}},
            "model means nothing where the source is 'file'",
        ),
        ({"participants__personas": [" "]}, "one is empty"),
        ({"page": {"idle_minutes": 3.0}}, "page.idle_minutes means nothing"),
        (
            {"exclusions": {"median_time_below_ms": 300.0}},
            "exclusions.median_time_below_ms means nothing",
        ),
        ({"privacy": {"responses_days": 3}}, "privacy means nothing"),
        ({"validation": {"sealed_share": 0.2}}, "need an archival source"),
    ],
)
def test_what_a_study_cannot_say_of_a_model_that_takes_part_is_refused(
    change: dict[str, Any], message: str
) -> None:
    value = changes("http://127.0.0.1:9/v1")
    for name, item in change.items():
        section, _, key = name.partition("__")
        value[section] = {**value[section], key: item} if key else item
    with pytest.raises(StudyError, match=message):
        small_study(**value)


def test_a_rule_for_missing_answers_means_nothing_for_people() -> None:
    with pytest.raises(StudyError, match="only where it is 'language_model'"):
        small_study(exclusions={"missing_responses_above": 0.2})
