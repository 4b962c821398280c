import os
import subprocess
import sys
from pathlib import Path

import pytest

from lakatos.traces.head import laboratory_key
from lakatos.traces.home import CACHES, cache_home, settle_caches, user_home

STAMPER = """
import os, time
from pathlib import Path
stamp = Path(os.environ["XDG_CACHE_HOME"]) / "stamp"
if not stamp.exists():
    temporary = stamp.with_suffix(".tmp")
    temporary.write_text("today")
    time.sleep(0.5)
    temporary.replace(stamp)
"""
"""What ArviZ does on its first import of a day, with a pause where another process may come between."""


@pytest.fixture
def no_home(tmp_path, monkeypatch):
    """A home that cannot be written, not even by root."""
    blocked = tmp_path / "blocked"
    blocked.write_text("")
    for variable in ("XDG_CACHE_HOME", "LAKATOS_HOME", *CACHES):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("HOME", str(blocked / "home"))


def test_a_library_is_first_imported_by_one_process_at_a_time(tmp_path):
    (tmp_path / "stamper.py").write_text(STAMPER)
    words = [
        sys.executable,
        "-c",
        "from lakatos.traces.home import import_alone; import_alone('stamper')",
    ]
    environment = {**os.environ, "XDG_CACHE_HOME": str(tmp_path)}
    environment["PYTHONPATH"] = f"{tmp_path}:{Path.cwd()}"
    started = [subprocess.Popen(words, env=environment) for _ in range(3)]
    assert [process.wait(60) for process in started] == [0, 0, 0]
    assert (tmp_path / "stamp").read_text() == "today"


def test_an_empty_home_is_used(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    assert (user_home(), cache_home()) == (tmp_path, tmp_path / ".cache")
    before = dict(os.environ)
    settle_caches()
    assert dict(os.environ) == before


def test_without_a_home_the_virtual_environment_holds_the_key_and_all_caches(
    no_home, tmp_path, monkeypatch
):
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    assert settle_caches() == tmp_path / "home" / ".cache"
    assert {os.environ[variable] for variable in CACHES} == {
        str(tmp_path / "home" / ".cache" / name) for name in CACHES.values()
    }
    laboratory_key()
    assert (tmp_path / "home" / ".lakatos" / "heads.key").stat().st_mode & 0o777 == 0o600


def test_without_home_and_environment_caches_are_private_temporary_folders(
    no_home, tmp_path, monkeypatch
):
    monkeypatch.setattr(sys, "prefix", sys.base_prefix)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    private = tmp_path / f"lakatos-{os.getuid()}"
    assert cache_home() == cache_home() == private
    private.chmod(0o777)  # somebody else may have made it
    assert cache_home() not in {private, cache_home()}
