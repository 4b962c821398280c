"""The engine, with the real Prefect: four tests pay for a start of its server."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import sqlite3
import subprocess
import sys
import tempfile
import textwrap
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from lakatos.flows.errors import EngineError, TerminatedError
from lakatos.flows.run import prefect_server
from lakatos.flows.run.engine import execute
from lakatos.flows.run.parts import flow, task
from lakatos.flows.run.prefect_server import configured_server

ROOT = Path(__file__).resolve().parents[3]


class Opaque:
    """Stands for a run: it may be neither compared, hashed, copied, pickled nor shown."""

    def _refuse(self, *arguments: object) -> Any:
        raise AssertionError("somebody looked into an argument of a stage")

    __eq__ = __hash__ = __repr__ = __str__ = __iter__ = __len__ = _refuse
    __reduce_ex__ = __getstate__ = __deepcopy__ = __copy__ = _refuse


class BrokenError(Exception):
    def __init__(self, holder: object) -> None:
        super().__init__("the stage is broken")
        self.holder = holder


@task(name="double")
async def double(run: object, number: int) -> tuple[object, int]:
    return run, await asyncio.to_thread(lambda: 2 * number)


@task(name="break")
async def broken(run: object) -> None:
    raise BrokenError(run)


@flow(name="inner")
async def inner(run: object, *, numbers: list[int]) -> list[tuple[object, int]]:
    return list(await asyncio.gather(*(double(run, number) for number in numbers)))


@flow(name="outer")
async def outer(run: object, seen: dict[str, Any]) -> object:
    seen["inner"] = await inner(run, numbers=[1, 2, 3])
    seen["threads"] = {thread.name for thread in threading.enumerate()}
    seen["handler"] = signal.getsignal(signal.SIGTERM)
    if (prefect := sys.modules.get("prefect")) is not None:
        seen["flow run"] = prefect.runtime.flow_run.name
        seen["home"] = prefect.settings.PREFECT_HOME.value()
    with pytest.raises(BrokenError) as caught:
        await broken(run)
    assert caught.value.holder is run
    return run


@flow(name="failing")
async def failing(run: object) -> None:
    await broken(run)


def test_plain_asyncio_returns_the_very_result() -> None:
    run, seen = Opaque(), dict[str, Any]()
    assert execute("none", outer, run, seen) is run
    assert not seen.get("flow run")
    assert [number for _, number in seen["inner"]] == [2, 4, 6]


def test_plain_asyncio_raises_the_very_error() -> None:
    run = Opaque()
    with pytest.raises(BrokenError, match="the stage is broken") as caught:
        execute("none", failing, run)
    assert caught.value.holder is run


def test_decorated_functions_keep_their_names_and_can_be_awaited_directly() -> None:
    assert outer.__name__ == "outer"
    assert asyncio.run(double("a run", 4)) == ("a run", 8)


@pytest.mark.slow
def test_prefect_runs_stages_without_looking_into_them(
    tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    for name in [name for name in os.environ if name.startswith("PREFECT_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(cache))
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    environment = dict(os.environ)
    run, seen, said = Opaque(), dict[str, Any](), list[str]()

    assert execute("prefect", outer, run, seen, on_wait=said.append) is run

    assert seen["flow run"] == "outer"
    assert [number for _, number in seen["inner"]] == [2, 4, 6]
    assert all(given is run for given, _ in seen["inner"])
    assert "starting Prefect's temporary server ..." in said
    assert seen["home"].parent == tmp_path
    assert not seen["home"].exists()
    assert not (tmp_path / "home" / ".prefect").exists()
    assert dict(os.environ) == environment
    assert asyncio.run(double(run, 4)) == (run, 8)  # by itself again

    with pytest.raises(
        BrokenError, match="the stage is broken"
    ) as caught:  # the second time with kept tables
        execute("prefect", failing, run)
    assert caught.value.holder is run
    assert not list(tmp_path.glob("lakatos-prefect-*"))
    assert capfd.readouterr() == ("", "")


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the first server of these tests leaves Prefect's tables for the others."""
    return tmp_path_factory.mktemp("cache")


def script(tmp_path: Path, engine_name: str, before: str = "") -> list[str]:
    """A program with a stage that takes a minute; it says ``busy`` when it is there."""
    path = tmp_path / "program.py"
    path.write_text(
        textwrap.dedent(f"""
        import asyncio, signal, sys, time
        sys.path.insert(0, {str(ROOT)!r})
        signal.signal(signal.SIGINT, signal.default_int_handler)
        from lakatos.flows.run.engine import execute, warm_up
        from lakatos.flows.run.parts import flow, task

        @task(name="slow")
        async def slow():
            print("busy", flush=True)
            await asyncio.to_thread(time.sleep, 60)

        @flow(name="whole")
        async def whole():
            await slow()

        {before}
        try:
            execute({engine_name!r}, whole, on_wait=lambda text: print(text, flush=True))
        except KeyboardInterrupt as stopped:
            print(type(stopped).__name__, flush=True)
            sys.exit(getattr(stopped, "exit_code", 130))
        """)
    )
    return [sys.executable, str(path)]


def start_program(command: list[str], tmp_path: Path, cache: Path) -> subprocess.Popen[str]:
    """Start it with temporary files and home in ``tmp_path``."""
    environment = {
        name: value for name, value in os.environ.items() if not name.startswith("PREFECT_")
    }
    environment |= {"TMPDIR": str(tmp_path), "HOME": str(tmp_path), "XDG_CACHE_HOME": str(cache)}
    return subprocess.Popen(
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def wait_for(program: subprocess.Popen[str], line: str) -> None:
    assert program.stdout is not None
    for said in program.stdout:
        if said.strip() == line:
            return
    assert program.stderr is not None
    pytest.fail(f"never said {line!r}: {program.stderr.read()}")


def servers(tmp_path: Path) -> list[str]:
    """Processes whose command line names a folder in ``tmp_path``."""
    if Path("/proc/self/cmdline").exists():
        found = []
        for entry in Path("/proc").glob("[0-9]*/cmdline"):
            with contextlib.suppress(OSError):
                found.append(entry.read_bytes().replace(b"\0", b" ").decode(errors="replace"))
    else:
        found = subprocess.run(
            ["ps", "-axwwo", "args"], capture_output=True, text=True, check=True
        ).stdout.splitlines()
    return [line for line in found if f"{tmp_path}/lakatos-prefect-" in line]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("engine_name", "number", "name", "status"),
    [
        ("none", signal.SIGINT, "KeyboardInterrupt", 130),
        ("none", signal.SIGTERM, TerminatedError.__name__, 143),
        ("prefect", signal.SIGINT, "KeyboardInterrupt", 130),
        ("prefect", signal.SIGTERM, TerminatedError.__name__, 143),
    ],
)
def test_signals_end_a_stage_at_once_and_quietly(
    tmp_path: Path, cache: Path, engine_name: str, number: signal.Signals, name: str, status: int
) -> None:
    program = start_program(script(tmp_path, engine_name), tmp_path, cache)
    wait_for(program, "busy")
    begun = time.monotonic()
    program.send_signal(number)
    said, complained = program.communicate(timeout=30)
    assert time.monotonic() - begun < 8
    assert (said.strip(), program.returncode, complained) == (name, status, "")
    assert not servers(tmp_path)
    assert not list(tmp_path.glob("lakatos-prefect-*"))


def test_a_signal_while_the_server_starts_ends_it_too(tmp_path: Path, cache: Path) -> None:
    program = start_program(script(tmp_path, "prefect"), tmp_path, cache)
    wait_for(program, "loading Prefect ...")
    program.send_signal(signal.SIGTERM)
    _, complained = program.communicate(timeout=30)
    assert (program.returncode, complained) == (143, "")
    assert not servers(tmp_path)
    assert not list(tmp_path.glob("lakatos-prefect-*"))


def test_a_killed_program_leaves_no_server(tmp_path: Path, cache: Path) -> None:
    program = start_program(script(tmp_path, "prefect"), tmp_path, cache)
    wait_for(program, "loading Prefect ...")
    assert len(servers(tmp_path)) == 1
    program.kill()
    program.communicate()
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline and (
        servers(tmp_path) or any(tmp_path.glob("lakatos-prefect-*"))
    ):
        time.sleep(0.1)
    assert not servers(tmp_path)
    assert not list(tmp_path.glob("lakatos-prefect-*"))


def test_warming_up_without_executing_leaves_nothing(tmp_path: Path, cache: Path) -> None:
    program = start_program(
        script(tmp_path, "none", before="warm_up(); sys.exit(0)"), tmp_path, cache
    )
    said, complained = program.communicate(timeout=60)
    assert (said, complained, program.returncode) == ("", "", 0)
    assert not servers(tmp_path)
    assert not list(tmp_path.glob("lakatos-prefect-*"))


def test_a_server_that_dies_is_named_in_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("PREFECT_API_URL", raising=False)
    monkeypatch.setenv("PREFECT_HOME", str(tmp_path))
    monkeypatch.setattr(prefect_server, "_SERVER", "raise SystemExit('the port is cursed')")
    with pytest.raises(
        EngineError, match=r"^Prefect's temporary server ended .* cursed\. .*`--engine none`\.$"
    ):
        execute("prefect", outer, Opaque(), {})


def test_importing_the_engine_does_not_import_prefect() -> None:
    program = "import sys, lakatos.flows.run.engine; sys.exit('prefect' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program], cwd=ROOT, check=False).returncode == 0


def test_without_prefect_one_line_says_what_to_do() -> None:
    program = f"""
import sys
sys.path.insert(0, {str(ROOT)!r})
from lakatos.flows.run.engine import execute
async def nothing(): return 5
assert execute("none", nothing) == 5
try:
    execute("prefect", nothing)
except Exception as error:
    print(type(error).__name__, error)
"""
    said = subprocess.run(
        [sys.executable, "-I", "-S", "-c", program], capture_output=True, text=True, check=True
    ).stdout
    assert said.startswith("EngineError Prefect is not installed.")
    assert "`--engine none`" in said
    assert said.count("\n") == 1


def test_the_configured_server_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("PREFECT_API_URL", "PREFECT_PROFILE", "PREFECT_PROFILES_PATH"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PREFECT_HOME", str(tmp_path))
    assert configured_server() is None
    profiles = tmp_path / "profiles.toml"
    profiles.write_text(
        'active = "lab"\n[profiles.lab]\nPREFECT_API_URL = "http://lab:4200/api"\n[profiles.bare]\n'
    )
    assert configured_server() == "http://lab:4200/api"
    monkeypatch.setenv("PREFECT_PROFILE", "bare")
    assert configured_server() is None
    monkeypatch.setenv("PREFECT_API_URL", "http://other/api")
    assert configured_server() == "http://other/api"
    monkeypatch.delenv("PREFECT_API_URL")
    profiles.write_text("not = [toml")
    assert configured_server() is None


def test_a_damaged_copy_of_the_tables_is_thrown_away(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    kept, target = prefect_server._empty_database(), tmp_path / "prefect.db"
    kept.parent.mkdir()
    kept.write_bytes(b"no database " * 400)
    prefect_server._copy_database(kept, target)
    assert not kept.exists()
    with sqlite3.connect(kept) as database:
        database.execute("create table t (x)")
    prefect_server._copy_database(kept, target)
    assert sqlite3.connect(target).execute("select name from sqlite_master").fetchall() == [("t",)]
    assert {path.name for path in tmp_path.iterdir()} == {"lakatos", "prefect.db"}
