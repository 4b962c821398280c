"""Requests made up from the description of the interface: nobody learns or changes what is not theirs."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import schemathesis
from fastapi.testclient import TestClient
from hypothesis import HealthCheck, given, settings
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)
from taking_part import open_experiment

from lakatos.experiments.participants.web.address_book import COOKIE
from lakatos.experiments.participants.web.app import create_app, create_desk
from lakatos.experiments.participants.web.collection import COLLECTION_FILE
from lakatos.experiments.participants.web.session import ServiceIdentifiers
from lakatos.experiments.participants.web.store import SessionStore

NAMES = ("testserver", "localhost")
RESEARCHER = "researcher-token-0123456789-0123456789-0123"
VICTIM, ATTACKER = "v" * 43, "a" * 43
SECRETS = (RESEARCHER, VICTIM, "5f3c9e0d1b2a4c6d8e7f9a0b", "victims-study", "victims-submission")
CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_schema_conformance,
]
UNHURRIED = settings(
    deadline=None,
    derandomize=True,
    suppress_health_check=[
        HealthCheck.function_scoped_fixture,
        HealthCheck.filter_too_much,
        HealthCheck.too_slow,
    ],
)
PATHS: dict[str, str] = {
    "/study/api/texts": "get",
    "/study/api/state": "get",
    "/study/api/consent": "post",
    "/study/api/decline": "post",
    "/study/api/comprehension": "post",
    "/study/api/answers": "post",
    "/study/api/replies": "post",
    "/study/api/stop": "post",
    "/study/api/next": "post",
    "/study/api/onset": "post",
    "/researcher/api/status": "get",
}
ASKED = [
    (path, mode)
    for path in PATHS
    for mode in (GenerationMode.POSITIVE, GenerationMode.NEGATIVE)
    if (path, mode)
    != ("/researcher/api/status", GenerationMode.NEGATIVE)  # anything is of the form that it has
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("run")


def described(app: Any) -> Any:
    schema: Any = schemathesis.openapi.from_dict(json.loads(json.dumps(app.openapi())))
    schema.app = app
    return schema


@pytest.fixture(scope="module")
def api(folder: Path) -> Iterator[Any]:
    """The interface, with one person half-way through the study and another one who tries everything."""
    open_experiment(folder, n_trials=8, n_participants=400)
    store = SessionStore(folder)
    identifiers = ServiceIdentifiers(
        "prolific", "5f3c9e0d1b2a4c6d8e7f9a0b", "victims-study", "victims-submission"
    )
    victim = store.join(VICTIM, consent="c" * 64, language="en", identifiers=identifiers)
    store.comprehension(victim, 0, passed=True)
    for position in range(3):
        store.answer(victim, position, 1, 4321.0)
    attacker = store.join(ATTACKER, consent="c" * 64, language="en")
    store.comprehension(attacker, 0, passed=True)
    app = create_app(folder, store=store, names=NAMES, requests_per_second=1e6, sweep_seconds=60)
    desk = create_desk(folder, store=store, names=NAMES, token=RESEARCHER, requests_per_second=1e6)
    with TestClient(app), TestClient(desk):
        yield {"study": described(app), "researcher": described(desk)}
    store.shut()


def what_the_victim_did(folder: Path) -> list[Any]:
    with sqlite3.connect(folder / COLLECTION_FILE) as sql:
        rows = sql.execute("SELECT * FROM session WHERE number = 1").fetchall()
        rows += sql.execute("SELECT * FROM answer WHERE session = 1 ORDER BY position").fetchall()
        return rows + sql.execute("SELECT * FROM identifier WHERE session = 1").fetchall()


def tables(folder: Path) -> set[str]:
    with sqlite3.connect(folder / COLLECTION_FILE) as sql:
        return {
            row[0] for row in sql.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
        }


def hold(case: Any, folder: Path) -> None:
    """Send a request, and check that it did no harm."""
    before = what_the_victim_did(folder)
    response = case.call()
    case.validate_response(response, checks=CHECKS)
    assert what_the_victim_did(folder) == before
    tabled = {"experiment", "session", "access", "answer", "reply", "identifier", "service"}
    tabled |= {"invitation", "onset"}
    assert tables(folder) == tabled
    sent = json.dumps(
        [str(case.body), case.query, dict(case.headers or {}), dict(case.cookies or {})],
        default=str,
    )
    text = response.text + json.dumps(dict(response.headers), default=str)
    for secret in SECRETS:
        assert secret not in text or secret in sent
    if case.path.startswith("/researcher"):
        assert response.status_code in (401, 422)


def try_everything(
    api: Any, folder: Path, path: str, mode: GenerationMode, cookies: dict[str, str] | None, n: int
) -> None:
    """Made-up requests to one path, of the form that the description asks for or expressly not."""

    @settings(UNHURRIED, max_examples=n)
    @given(case=api[path.split("/")[1]][path][PATHS[path]].as_strategy(generation_mode=mode))
    def send(case: Any) -> None:
        if cookies:
            case.cookies = cookies
        hold(case, folder)

    send()


@pytest.mark.parametrize("n", [5, pytest.param(300, marks=pytest.mark.long)])
@pytest.mark.parametrize("cookies", [None, {COOKIE: ATTACKER}], ids=["a stranger", "a participant"])
@pytest.mark.parametrize(("path", "mode"), ASKED)
def test_nobody_does_harm(
    path: str, mode: GenerationMode, cookies: Any, n: int, api: Any, folder: Path
) -> None:
    try_everything(api, folder, path, mode, cookies, n)


def test_the_description_names_every_path_that_there_is(api: Any, folder: Path) -> None:
    found = {
        path: next(iter(methods))
        for schema in api.values()
        for path, methods in schema.raw_schema["paths"].items()
    }
    assert found == PATHS
