"""What Prefect's server shows without its secret."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

LOOK = """
from prefect.server.api.server import create_app
from starlette.testclient import TestClient
from lakatos.flows.run.prefect_server import DOCS, without_docs
before, after = (TestClient(app) for app in (create_app(), without_docs(create_app(ignore_cache=True))))
for place in (*DOCS, "/api/flows/filter", "/api/health"):
    answers = before.get(place), after.get(place)
    print(place, answers[0].status_code, answers[1].status_code, "openapi" in answers[1].text)
"""


@pytest.mark.slow
def test_the_description_of_prefect_s_interface_is_not_shown_without_the_secret(
    tmp_path: Path,
) -> None:
    environment = {
        "PREFECT_HOME": str(tmp_path), "PREFECT_SERVER_API_AUTH_STRING": "lakatos:secret",
        "PREFECT_SERVER_ANALYTICS_ENABLED": "false", "PATH": "", "HOME": str(tmp_path),
    }  # fmt: skip
    done = subprocess.run(
        [sys.executable, "-c", LOOK],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
        timeout=300,
    )
    lines = {
        line.split()[0]: line.split()[1:]
        for line in done.stdout.splitlines()
        if line.startswith("/")
    }
    assert (
        lines["/docs"][0] == lines["/openapi.json"][0] == "200"
    )  # else Prefect closes them itself
    for place in ("/docs", "/docs/oauth2-redirect", "/redoc", "/openapi.json"):
        assert lines[place][2] == "False", (place, lines[place])
    assert lines["/api/flows/filter"][1] == "401"
    assert lines["/api/health"][1] == "200"
