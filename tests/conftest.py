"""Tools that all tests share."""

from __future__ import annotations

import importlib.util
import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

sys.path.insert(0, str(Path(__file__).parent))
from servers import PostgresServer, postgres_programs, postgres_server

if TYPE_CHECKING:
    from lakatos.theories.engine.sandbox.client import Sandbox

ROOT = Path(__file__).resolve().parent.parent


def require(condition: object, reason: str) -> None:
    """Skip the test unless ``condition`` holds; fail it instead when ``LAKATOS_TEST_ALL=1``."""
    if condition:
        return
    if os.environ.get("LAKATOS_TEST_ALL") == "1":
        pytest.fail(f"LAKATOS_TEST_ALL=1 forbids skipping: {reason}", pytrace=False)
    pytest.skip(reason)


@pytest.fixture(scope="session", autouse=True)
def laboratory_home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Tests sign with a key of their own, and keep heads in its home."""
    with pytest.MonkeyPatch.context() as patch:
        place = tmp_path_factory.mktemp("home")
        patch.setenv("LAKATOS_HOME", str(place))
        patch.delenv("LAKATOS_HEADS", raising=False)
        yield place


@pytest.fixture(autouse=True)
def no_open_runs_of_other_tests(laboratory_home: Path) -> None:
    """Runs that another test left open in its own folder are forgotten; a schedule would ask about them."""
    shutil.rmtree(laboratory_home / "begun", ignore_errors=True)


@pytest.fixture(scope="module", autouse=True)
def no_setting_left_behind(laboratory_home: Path) -> Iterator[None]:
    """A module that leaves one of the project's variables changed fails, not a module that comes later."""
    before = own_settings()
    yield
    assert own_settings() == before


def own_settings() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if name.startswith("LAKATOS_")}


@pytest.fixture(scope="session", name="require")
def require_fixture() -> object:
    """`require`, for tests that cannot import this file."""
    return require


@pytest.fixture(scope="session")
def data_folder() -> Path:
    """Folder of published data sets: ``LAKATOS_DATA``, or ``data`` or ``../shared/data`` at the checkout."""
    named = os.environ.get("LAKATOS_DATA")
    places = [Path(named)] if named else [ROOT / "data", ROOT.parent / "shared" / "data"]
    found = next((place for place in places if place.is_dir()), None)
    require(found, f"no published data in {' or '.join(map(str, places))}; set LAKATOS_DATA")
    assert found is not None
    return found


@pytest.fixture(scope="session")
def odd_files() -> Path:
    """Folder of small files of answers in unusual codings, ``../shared/inputs`` beside the checkout."""
    place = ROOT.parent / "shared" / "inputs"
    require(place.is_dir(), f"no files of answers in {place}")
    return place


@pytest.fixture(scope="session")
def chromium() -> Path:
    """Path of an installed Chromium."""
    names = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
    found = next(filter(None, map(shutil.which, names)), None)
    require(found, "no Chromium is installed; on Debian: apt install chromium")
    assert found is not None
    return Path(found)


@pytest.fixture(scope="module")
def chrome(chromium: Path) -> Iterator[Any]:
    """A running Chromium; for one module, since its event loop keeps others from running in this thread."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=str(chromium), args=["--no-sandbox", "--disable-gpu", "--disable-quic"]
        )
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def sandbox() -> Iterator[Sandbox]:
    """One sandbox for the whole session."""
    from lakatos.theories.engine.sandbox.client import Sandbox

    with Sandbox() as running:
        yield running


@pytest.fixture(scope="session")
def postgres() -> Iterator[PostgresServer]:
    """A real PostgreSQL server."""
    require(
        importlib.util.find_spec("psycopg"),
        "psycopg is not installed: pip install 'lakatos[scale]'",
    )
    programs = postgres_programs()
    require(programs, "no PostgreSQL server is installed; on Debian: apt install postgresql")
    assert programs is not None
    with postgres_server(programs) as server:
        yield server


@pytest.fixture(scope="session")
def bucket() -> Iterator[str]:
    """Address of a bucket on a real HTTP server that speaks S3's protocol, and the environment to reach it."""
    found = all(importlib.util.find_spec(name) for name in ("s3fs", "moto", "flask"))
    require(found, "s3fs, moto or flask is not installed: pip install 'lakatos[s3,test]'")
    import fsspec
    from moto.server import ThreadedMotoServer

    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("AWS_ACCESS_KEY_ID", "test")
        patch.setenv("AWS_SECRET_ACCESS_KEY", "test")
        patch.setenv("AWS_ENDPOINT_URL", f"http://{host}:{port}")
        patch.setenv("AWS_DEFAULT_REGION", "us-east-1")
        fsspec.filesystem("s3").mkdir("laboratory")
        yield "s3://laboratory"
    server.stop()
