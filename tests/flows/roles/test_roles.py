"""Campaigns in which language models take roles: over HTTP, with good models, bad ones, slow ones, and none."""

from __future__ import annotations

import json
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from lakatos.flows.audit.audit import audit
from lakatos.flows.errors import FlowError, StudyError
from lakatos.flows.roles.answers import answers_in
from lakatos.flows.roles.budget import raise_budget
from lakatos.flows.roles.shapes import role_shapes
from lakatos.flows.run.model_settings import ROLES, RolesConfig
from lakatos.flows.run.records import RECORD_TYPES
from lakatos.flows.run.run import has_run, read_state
from lakatos.flows.run.study import load_study
from lakatos.flows.start import resume_run, run_study
from lakatos.language_models.ledger import Budget, spending_of
from lakatos.language_models.record import LanguageModelCalled
from lakatos.language_models.serving.app_thread import free_port
from lakatos.language_models.structured import answer_schema
from lakatos.theories.discovery.roles.record import (
    CaseRead,
    ClaimAudited,
    ModelsChosen,
    RoleAnswered,
    SuccessorsProposed,
    SuccessorTried,
)
from lakatos.traces.journal import INTENT
from lakatos.traces.step import Trace
from tests.rehearsal.app import RehearsalSettings
from tests.rehearsal.fault import ServerMisbehaviour
from tests.rehearsal.serve import running, running_process

sys.path.insert(0, str(Path(__file__).parent))
from answering import FOUND, HIDDEN, Speaker, good, recorded
from small import form, records, small_study, spawn, write_study

ROOT = Path(__file__).resolve().parents[3]
EVERYBODY = dict.fromkeys(("arbiter", "reviser", "advocate", "auditor"), "writer")
LARGE = RehearsalSettings(context_tokens=32768)


def study(served: Any, roles: Mapping[str, Any] = EVERYBODY, **changes: Any):
    """The small study, its people following a rule that the grammar lacks, with models at the server."""
    models = {"writer": {"base_url": served.base_url, "model": served.model}}
    return small_study(**settings(models, roles, **changes))


def settings(models: Mapping[str, Any], roles: Mapping[str, Any], **changes: Any) -> dict[str, Any]:
    value: dict[str, Any] = {
        "models": models,
        "roles": {
            "max_tokens": 1500,
            "lenses": ["mechanism", "leap", "steelman"],
            **roles,
        },
        "participants": {"source": "simulated", "program": HIDDEN},
        "theories__induction": False,
        "theories__candidates": 4,
    }
    return value | changes


def n_begun(folder: Path, step: str) -> int:
    """Steps of this name that were begun in a run that is being written."""
    if not has_run(folder):
        return 0
    with Trace.open(folder, RECORD_TYPES, read_only=True) as trace:
        return sum(event.name == step and event.kind == INTENT for event in trace.journal.events())


@pytest.fixture(scope="module")
def told() -> list[str]:
    """Tasks of all requests that the server got."""
    return []


@pytest.fixture(scope="module")
def speaker(told: list[str]) -> Speaker:
    return Speaker(recorded(good, told))


@pytest.fixture(scope="module")
def finished(
    tmp_path_factory: pytest.TempPathFactory, speaker: Speaker
) -> Iterator[tuple[Path, Any]]:
    """A campaign with a good model in every role, and its server."""
    folder = tmp_path_factory.mktemp("runs") / "good"
    with running(LARGE, speaker) as served:
        run_study(study(served), folder, n_workers=1)
        yield folder, served


@pytest.mark.long
def test_a_model_that_knows_the_rule_which_the_grammar_lacks_leads(
    finished: tuple[Path, Any],
) -> None:
    state, trace = read_state(finished[0])
    trace.close()
    assert state.campaign.concluded is not None
    leader = state.theories.checked[state.campaign.concluded.record.leader].record
    assert leader.name == "Odd totals"
    assert leader.author == "language model writer"
    assert state.campaign.truth is not None
    assert state.campaign.truth.record.corrected[state.campaign.concluded.record.leader] < 0.001


@pytest.mark.long
def test_what_became_of_every_answer_is_written_down(finished: tuple[Path, Any]) -> None:
    folder, _ = finished
    tried = {(item.lens, item.attempt): item for item in records(folder, SuccessorTried)}
    assert {key: item.outcome for key, item in tried.items()} == {
        ("mechanism", 0): "submitted",
        ("leap", 0): "refused",
        ("steelman", 0): "refused",
        ("leap", 1): "submitted",
        ("steelman", 1): "duplicate",  # of itself: nothing was mended
    }
    assert "parametres" in tried["leap", 0].reason
    assert "this very source" in tried["steelman", 1].reason
    (proposed,) = records(folder, SuccessorsProposed)
    assert [item.author for item in proposed.submissions] == ["language model writer"] * 2
    assert proposed.submissions[0].criterion > proposed.submissions[1].criterion


@pytest.mark.long
def test_statements_are_believed_only_as_far_as_records_bear_them_out(
    finished: tuple[Path, Any],
) -> None:
    read = {item.task: item for item in records(finished[0], CaseRead)}
    assert [item.supported for item in read["arbiter"].statements] == [True, False, False]
    assert read["arbiter"].hypothesis
    assert read["arbiter"].change == ""  # it claimed a proof
    assert [item.supported for item in read["steelman"].statements] == [True]


@pytest.mark.long
def test_claims_are_tried_on_the_code_and_a_misreading_refuses_nobody(
    finished: tuple[Path, Any],
) -> None:
    audited = records(finished[0], ClaimAudited)
    assert len(audited) == 2
    for item in audited:
        assert len(item.held) + len(item.contradicted) == 2
        assert "cannot vary 'weather'" in item.not_tried[0]
    assert any(item.contradicted for item in audited)


@pytest.mark.long
def test_every_answer_cites_its_calls_and_the_versions_that_gave_it(
    finished: tuple[Path, Any],
) -> None:
    folder, _ = finished
    answers = records(folder, RoleAnswered)
    assert {item.outcome for item in answers} == {"answered"}
    with Trace.open(folder, RECORD_TYPES, read_only=True) as trace:
        for item in answers:
            called = trace.get(item.calls[-1], LanguageModelCalled)
            assert called.server.startswith("vllm-")
            request = trace.artifacts.get_json(called.request)
            assert request["messages"][0]["content"].startswith("<pinned-rules>")
            assert request["messages"][-1]["content"].endswith("</pinned-rules>")
            assert request["answer_schema"]["additionalProperties"] is False
    assert audit(folder, n_workers=1).passed


@pytest.mark.long
def test_the_table_of_answers_counts_everything_once(
    finished: tuple[Path, Any], told: list[str]
) -> None:
    found = answers_in(finished[0])
    assert found["calls"]["n"] == found["spent"]["requests"] == len(told)
    assert sum(n for counts in found["answers"].values() for n in counts.values()) == len(told)
    assert found["statements"] == {"supported": 2, "not borne out": 2}
    assert found["theories"] == {
        "submitted": 2,
        "refused: TheoryRaisedError": 1,
        "refused: TheoryProbabilityError": 1,
        "duplicate: this very source is there already": 1,
    }
    assert found["theories_admitted"] >= 1


@pytest.mark.long
def test_resuming_a_finished_campaign_asks_nobody(
    finished: tuple[Path, Any], told: list[str]
) -> None:
    n_asked = len(told)
    resume_run(finished[0])
    assert len(told) == n_asked


@pytest.mark.long
def test_a_campaign_killed_in_the_middle_of_calls_ends_as_if_nothing_had_happened(
    finished: tuple[Path, Any], speaker: Speaker, tmp_path: Path
) -> None:
    whole, served = finished
    reached, go_on, before = threading.Event(), threading.Event(), speaker.answer

    def hanging(body: Mapping[str, Any], rng: np.random.Generator) -> str:
        if "You write a successor" in body["messages"][1]["content"] and not go_on.is_set():
            reached.set()
            go_on.wait(60)
        return good(body, rng)

    changes = settings({"writer": {"base_url": served.base_url, "model": served.model}}, EVERYBODY)
    file = write_study(tmp_path, **changes)
    speaker.answer = hanging
    process = spawn("run", str(file), "--runs", str(tmp_path), "--name", "killed")
    try:
        assert reached.wait(200)
        process.kill()
        process.wait()
        go_on.set()
        resume_run(tmp_path / "killed", n_workers=1)
    finally:
        process.kill()
        speaker.answer = before
    assert form(tmp_path / "killed") == form(whole)
    assert audit(tmp_path / "killed", n_workers=1).passed


@pytest.mark.long
def test_a_script_can_take_a_role_and_is_missed_by_nobody_when_it_ends(tmp_path: Path) -> None:
    answer = json.dumps({"change": "another rule", "source": FOUND, "predictions": []})
    models = {"writer": {"client": "scripted", "answers": [answer]}}
    roles = {"reviser": "writer", "lenses": ["leap"], "unreachable": "go_on"}
    changes = settings(models, roles, stop={"cycles": 3, "least_cycles": 3})
    run_study(small_study(**changes), tmp_path / "scripted", n_workers=1)
    state, trace = read_state(tmp_path / "scripted")
    trace.close()
    assert state.campaign.concluded is not None
    assert (
        state.theories.checked[state.campaign.concluded.record.leader].record.author
        == "language model writer"
    )
    answers = records(tmp_path / "scripted", RoleAnswered)
    assert [(item.cycle, item.outcome, item.reason.partition(":")[0]) for item in answers] == [
        (1, "answered", ""),
        (1, "no_answer", "ScriptExhaustedError"),  # in its next round
        (2, "no_answer", "ScriptExhaustedError"),
    ]
    assert audit(tmp_path / "scripted", n_workers=1).passed


FAULTS: dict[Any, float] = {
    "too_many_requests": 0.03,
    "server_error": 0.03,
    "unavailable": 0.03,
    "dropped": 0.03,
    "cut_body": 0.03,
    "not_json": 0.03,
    "no_choices": 0.03,
    "malformed_json": 0.08,
    "wrong_schema": 0.08,
    "repetition": 0.08,
    "refusal": 0.08,
    "empty": 0.08,
    "truncated": 0.08,
    "injection": 0.08,
}


@pytest.mark.long
def test_a_campaign_with_every_misbehaviour_is_a_correct_campaign(tmp_path: Path) -> None:
    misbehaving = LARGE.model_copy(
        update={"misbehaviour": ServerMisbehaviour(rates=FAULTS, seed=3, retry_after_s=0)}
    )
    lenses = ["mechanism", "leap", "simplify", "residual", "steelman"]
    with running(misbehaving) as served:
        run_study(
            study(served, EVERYBODY | {"lenses": lenses}),
            tmp_path / "bad",
            n_workers=1,
        )
    state, trace = read_state(tmp_path / "bad")
    trace.close()
    assert state.campaign.concluded is not None
    assert all(
        "language model" not in item.record.author for item in state.theories.checked.values()
    )
    outcomes = {item.outcome for item in records(tmp_path / "bad", RoleAnswered)}
    assert len(outcomes) >= 4
    assert all(
        item.outcome == "refused" and item.reason
        for item in records(tmp_path / "bad", SuccessorTried)
    )
    assert audit(tmp_path / "bad", n_workers=1).passed


@pytest.mark.long
def test_a_server_killed_in_the_middle_of_a_call_stops_the_run_where_it_goes_on(
    tmp_path: Path,
) -> None:
    port = free_port()
    slow = LARGE.model_copy(update={"overhead_s": 1.5})
    found: list[BaseException] = []

    def run_it(config: Any, folder: Path) -> None:
        try:
            run_study(config, folder, n_workers=1)
        except BaseException as error:
            found.append(error)

    roles = {"arbiter": "writer", "reviser": "writer"}
    with running_process(slow, port) as served:
        wanted = study(served, roles)
        campaign = threading.Thread(target=run_it, args=[wanted, tmp_path / "killed"])
        campaign.start()
        deadline = time.monotonic() + 200
        while (
            time.monotonic() < deadline
            and campaign.is_alive()
            and n_begun(tmp_path / "killed", "ask") < 3
        ):
            time.sleep(0.2)
        served.process.kill()
        campaign.join(200)
    assert len(found) == 1
    assert isinstance(found[0], FlowError)
    assert "lakatos resume" in str(found[0])
    with pytest.raises(FlowError, match=r"gave no answer as|has not gone on"):
        resume_run(tmp_path / "killed", n_workers=1)
    with running_process(slow, port):
        resume_run(tmp_path / "killed", n_workers=1)
        run_study(wanted, tmp_path / "whole", n_workers=1)
    assert form(tmp_path / "killed") == form(tmp_path / "whole")


@pytest.mark.long
def test_an_exhausted_budget_stops_the_run_until_it_is_raised(tmp_path: Path) -> None:
    folder = tmp_path / "poor"
    with running(LARGE, good) as served:
        wanted = study(served, {"reviser": "writer", "lenses": ["leap"]}, budget={"requests": 1})
        with pytest.raises(
            FlowError, match=r"budget for language models is exhausted.*lakatos models budget"
        ):
            run_study(wanted, folder, n_workers=1)
        with pytest.raises(FlowError, match="budget for language models is exhausted"):
            resume_run(folder, n_workers=1)
        raise_budget(folder, Budget(requests=10))
        resume_run(folder, n_workers=1)
    state, trace = read_state(folder)
    assert state.campaign.concluded is not None
    # The first question to the model, a draft with a slip, the mended draft, and that there is none besides.
    assert spending_of(trace.journal.events()).total.requests == 4
    trace.close()
    assert "Odd totals" in {item.record.name for item in state.theories.checked.values()}
    assert audit(folder, n_workers=1).passed


@pytest.mark.long
def test_a_study_may_go_on_without_models_when_the_budget_or_the_server_is_gone(
    tmp_path: Path,
) -> None:
    roles = {"reviser": "writer", "arbiter": "writer", "exhausted": "go_on", "unreachable": "go_on"}
    with running(LARGE, good) as served:
        run_study(study(served, roles, budget={"tokens": 100}), tmp_path / "poor", n_workers=1)
    chosen = records(tmp_path / "poor", ModelsChosen)
    assert chosen
    assert all(not item.asked and "budget" in item.reason for item in chosen)
    assert not records(tmp_path / "poor", LanguageModelCalled)
    run_study(study(served, roles), tmp_path / "gone", n_workers=1)
    assert {item.outcome for item in records(tmp_path / "gone", RoleAnswered)} == {"no_answer"}
    for name in ("poor", "gone"):
        state, trace = read_state(tmp_path / name)
        trace.close()
        assert state.campaign.concluded is not None


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"roles": {"reviser": "writer"}}, r"no model 'writer' is described"),
        ({"roles": {"lenses": ["leep"]}}, "did you mean 'leap'"),
        ({"roles": {"judge": "writer"}}, r"no language model judges any more.*remove roles\.judge"),
        ({"roles": {"repeats": 5}}, r"remove roles\.repeats"),
        ({"roles": {"rules": ["two\nlines"]}}, "plain paragraph"),
        ({"models": {"writer": {"model": "m"}}}, "is no address"),
        ({"models": {"writer": {"client": "telepathy"}}}, "no client 'telepathy'"),
        ({"models": {"writer": {"client": "scripted", "anwers": []}}}, "did you mean 'answers'"),
        (
            {"models": {"writer": {"client": "scripted", "tokens_per_minute": 9}}},
            r"models\.writer\.tokens_per_minute = 9: .*Retry-After.*remove models\.writer\.tokens",
        ),
        ({"budget": {"tokns": 3}}, "did you mean 'tokens'"),
        (
            {"models": {"a": {"client": "scripted"}}, "roles": {"arbiter": ["a", "b"]}},
            r"roles\.arbiter: .*one model takes a role now, not a, b; name one of them",
        ),
        (
            {"models": {"a": {"client": "scripted"}}, "roles": {"advocate": "a"}},
            r"roles\.advocate: advocates propose no experiments any more.*remove roles\.advocate",
        ),
    ],
)
def test_what_a_study_cannot_say_of_models_is_refused_with_the_key(
    changes: dict[str, Any], message: str
) -> None:
    with pytest.raises(StudyError, match=message):
        small_study(**changes)


def test_one_model_in_a_list_takes_a_role_as_in_studies_of_earlier_versions() -> None:
    study = small_study(
        models={"a": {"client": "scripted"}}, roles={"reviser": ["a"], "arbiter": []}
    )
    assert (study.roles.reviser, study.roles.arbiter) == ("a", "")
    old = {"client": "scripted", "requests_per_minute": None, "tokens_per_minute": None}
    assert small_study(models={"a": old}).models == study.models
    assert RolesConfig.model_validate({"reviser": ["a", "b"]}).reviser == "a"  # of a journal
    assert list(study.roles.named) == [("reviser", "a")]


def test_the_requests_that_a_server_is_checked_with_are_those_of_the_roles() -> None:
    shapes = role_shapes(context_tokens=8192)
    assert {shape.role.partition(":")[0] for shape in shapes} == set(ROLES)
    for shape in shapes:
        first, last = shape.request.messages[0].content, shape.request.messages[-1].content
        assert first.startswith("<pinned-rules>")
        assert last.endswith("</pinned-rules>")
        assert shape.answer is not None
        assert shape.request.answer_schema == answer_schema(shape.answer)


def test_the_study_that_shows_all_roles_can_be_read() -> None:
    found = load_study(ROOT / "studies" / "language-models.toml")
    assert {role for role, _ in found.roles.named} == set(ROLES)
    assert found.memory.arm == "tools"
    assert found.roles.tools


def test_a_study_without_models_is_written_as_if_there_were_none() -> None:
    plain = small_study()
    assert not {"models", "roles", "budget"} & set(plain.model_dump(mode="json"))
    with_models = small_study(
        models={"writer": {"client": "scripted"}}, roles={"arbiter": "writer"}
    )
    assert type(with_models).model_validate(with_models.model_dump(mode="json")) == with_models
    assert with_models.digest != plain.digest


def test_a_server_that_is_not_there_is_found_out_before_anything_else(tmp_path: Path) -> None:
    class Nowhere:
        base_url, model = f"http://127.0.0.1:{free_port()}/v1", "rehearsal"

    with pytest.raises(FlowError, match="has not gone on"):
        run_study(study(Nowhere), tmp_path / "nowhere", n_workers=1)
    state, trace = read_state(tmp_path / "nowhere")
    trace.close()
    assert not state.theories.checked
