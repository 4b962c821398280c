"""The laboratory as a whole, with real servers: up and down, a server that dies in the middle, arrivals, cancelling."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

sys.path.insert(0, str(Path(__file__).parent))
from arriving import STUDY as WAITING_STUDY
from arriving import ask, outcome
from small import form, small_study, write_study

from lakatos.flows.errors import EngineError, FlowError
from lakatos.flows.operations.carry import carry
from lakatos.flows.operations.desk import page_runs
from lakatos.flows.operations.lab import (
    PAGES,
    RunningLab,
    alone,
    described,
    down,
    keep_pages,
    own_secret,
    require_reachable,
    running,
)
from lakatos.flows.operations.ports import listen
from lakatos.flows.operations.schedule import CampaignSchedule, change_schedules
from lakatos.flows.run.engine import CLIENT_SECRET
from lakatos.flows.run.next_pass import look
from lakatos.flows.run.prefect_server import basic, lasting_environment, new_secret, start_server
from lakatos.flows.start import run_study

ROOT = Path(__file__).resolve().parents[3]
QUICK: dict[str, Any] = {
    "theories__candidates": 0,
    "theories__successors": 0,
    "theories__induction": False,
    "design__trials": 8,
    "design__participants": 12,
    "design__refused": "cover",
}


def test_only_one_laboratory_is_up_in_a_folder_and_a_dead_one_is_none(tmp_path: Path) -> None:
    assert running(tmp_path) == 0
    with alone(tmp_path):
        assert running(tmp_path) == os.getpid()
        with pytest.raises(FlowError, match=r"is up in .* already"), alone(tmp_path):
            pass
    assert running(tmp_path) == 0
    assert described(tmp_path) == {}
    assert not down(tmp_path)
    (tmp_path / ".lab" / "lock").write_text(
        "1"
    )  # left by a process that is gone; 1 is somebody else's
    assert running(tmp_path) == 0


def test_a_server_that_cannot_be_reached_is_named_and_nothing_is_changed(tmp_path: Path) -> None:
    with pytest.raises(
        EngineError, match=r"http://127\.0\.0\.1:9/api cannot be reached .* Nothing was changed"
    ):
        require_reachable("http://127.0.0.1:9/api")
    words = [
        sys.executable,
        "-m",
        "lakatos.flows.commands.main",
        "serve",
        "--runs",
        str(tmp_path / "runs"),
    ]
    done = subprocess.run(
        words,
        cwd=ROOT,
        env={**os.environ, "PREFECT_API_URL": "http://127.0.0.1:9/api"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == EngineError.exit_code
    assert done.stderr.startswith(
        "lakatos: the Prefect server http://127.0.0.1:9/api cannot be reached"
    )
    assert done.stderr.count("\n") == 1
    assert not (tmp_path / "runs").exists()


def test_a_port_that_is_taken_is_named() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(FlowError, match=f"cannot listen on port {port} .* for Prefect"):
            listen("127.0.0.1", port, "Prefect")


def test_pages_are_served_for_runs_that_ask_on_one(tmp_path: Path) -> None:
    from lakatos.traces.journal import Journal
    from lakatos.traces.step import JOURNAL_FILE

    for name, source in (("a", "web"), ("b", "simulated")):
        Journal.create(
            tmp_path / name / JOURNAL_FILE, {"study": {"participants": {"source": source}}}
        ).close()
    assert page_runs(tmp_path) == [tmp_path / "a"]


def test_a_part_that_ends_is_started_again_and_the_pages_outlive_it(tmp_path: Path) -> None:
    lab, said = RunningLab(tmp_path, most_mended=1), []
    part = lab.begin("observatory", ["--version"])  # which ends at once
    part.process.wait(60)
    first = part.process
    lab.mend(said.append)
    assert part.process is not first
    assert re.match(r"observatory ended \(.*\d\) and was started again", said[0])
    part.process.wait(60)
    pages = lab.begin(PAGES, ["collect", "--all", "--runs", str(tmp_path), "--port", "0"])
    with pytest.raises(FlowError, match="observatory ended with status 0") as problem:
        lab.mend(said.append)
    ending = threading.Event()
    keeping = threading.Thread(target=keep_pages, args=(lab, problem.value, ending, said.append))
    keeping.start()
    try:
        keeping.join(0.2)
        assert keeping.is_alive()
        assert "People can still take part" in said[-1]
        assert lab.is_up(PAGES)
        assert [item.name for item in lab.parts] == [PAGES]
    finally:
        ending.set()
        keeping.join(20)
        lab.stop()
    assert pages.process.poll() is not None
    assert not keeping.is_alive()


# -- with real servers -----------------------------------------------------------------------------------------------


def wait_for(what: Callable[[], object], seconds: float, why: Callable[[], str]) -> None:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if what():
            return
        time.sleep(0.5)
    pytest.fail(why())


class Server:
    """A real Prefect server that a test kills and starts again, on one port and one database."""

    def __init__(self, home: Path) -> None:
        self.home, self.secret = home, new_secret()
        home.mkdir()
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.port = free.getsockname()[1]
        self.address = f"http://127.0.0.1:{self.port}"
        self.process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        with listen("127.0.0.1", self.port, "the test") as listener:
            environment = lasting_environment(self.home, self.address, self.secret)
            self.process = start_server(listener, self.home, environment, keep=True)
        assert self.process.stdout is not None
        assert self.process.stdout.readline().strip() == b"ready", (
            self.home / "server.log"
        ).read_text()

    @property
    def told(self) -> dict[str, str]:
        """What its clients are told by their environment."""
        return {"PREFECT_API_URL": f"{self.address}/api", CLIENT_SECRET: self.secret}

    def kill(self) -> None:
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            for pipe in (self.process.stdin, self.process.stdout):
                assert pipe is not None
                pipe.close()
            self.process = None

    def flow_runs(self, name: str) -> list[dict[str, Any]]:
        wanted = {"deployments": {"name": {"any_": [name]}}}
        found: list[dict[str, Any]] = self.ask("POST", "flow_runs/filter", json=wanted).json()
        return found

    def ask(self, method: str, path: str, **request: Any) -> httpx.Response:
        """Ask its interface, as somebody who knows the secret."""
        answer = httpx.request(
            method, f"{self.address}/api/{path}", auth=basic(self.secret), timeout=60, **request
        )
        return answer.raise_for_status()


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    made = Server(tmp_path / "prefect")
    yield made
    made.kill()


@pytest.fixture
def serving(tmp_path: Path, server: Server) -> Iterator[Callable[[], subprocess.Popen[bytes]]]:
    """`lakatos serve` on the test's server."""
    processes: list[subprocess.Popen[bytes]] = []

    def begin() -> subprocess.Popen[bytes]:
        words = [
            sys.executable,
            "-m",
            "lakatos.flows.commands.main",
            "serve",
            "--runs",
            str(tmp_path / "runs"),
            "--limit",
            "1",
        ]
        environment = {
            name: value for name, value in os.environ.items() if not name.startswith("PREFECT_")
        }
        with (tmp_path / "serve.log").open("ab") as log:
            process = subprocess.Popen(
                words, cwd=ROOT, stdout=log, stderr=log, env=environment | server.told
            )
        processes.append(process)
        return process

    yield begin
    for process in processes:
        process.send_signal(signal.SIGINT)
        try:
            process.wait(60)
        except subprocess.TimeoutExpired:
            process.kill()


def log_of(tmp_path: Path) -> Callable[[], str]:
    return lambda: (tmp_path / "serve.log").read_text(errors="replace")[-4000:]


@pytest.mark.long
def test_a_prefect_server_that_is_killed_in_the_middle_changes_nothing_in_the_results(
    tmp_path: Path, server: Server, serving: Callable[[], subprocess.Popen[bytes]]
) -> None:
    changes = {**QUICK, "stop": {"cycles": 3, "least_cycles": 3}}
    run_study(small_study(**changes), tmp_path / "direct", n_workers=1)
    runs = tmp_path / "runs"
    study = write_study(tmp_path, **changes)
    at = time.strftime("%Y-%m-%dT%H:%M:%S+00:00", time.gmtime(time.time() - 5))
    change_schedules(runs, lambda _: {"small": CampaignSchedule("small", str(study), at=at)})
    server.start()
    serving()
    folder = runs / "small"
    wait_for(lambda: look(folder).seq > 12, 300, log_of(tmp_path))
    server.kill()
    time.sleep(5.0)
    server.start()
    wait_for(lambda: look(folder).ended == "concluded", 600, log_of(tmp_path))
    assert form(folder) == form(tmp_path / "direct")


@pytest.mark.long
def test_a_time_that_prefects_scheduler_missed_is_caught_up(
    tmp_path: Path, server: Server, serving: Callable[[], subprocess.Popen[bytes]]
) -> None:
    runs, study = tmp_path / "runs", write_study(tmp_path, **QUICK)
    server.start()
    at = time.strftime("%Y-%m-%dT%H:%M:%S+00:00", time.gmtime(time.time() + 60))
    change_schedules(runs, lambda _: {"small": CampaignSchedule("small", str(study), at=at)})
    serving()
    wait_for(lambda: len(server.flow_runs("small")) == 1, 55, log_of(tmp_path))
    (missed,) = server.flow_runs("small")
    server.ask("DELETE", f"flow_runs/{missed['id']}")
    wait_for(lambda: look(runs / "small").ended == "concluded", 400, log_of(tmp_path))
    (caught,) = server.flow_runs("small")
    assert caught["id"] != missed["id"]


@pytest.mark.long
def test_an_arrival_is_an_event_whose_automation_starts_one_pass_and_the_result_is_that_of_a_direct_one(
    tmp_path: Path, server: Server, serving: Callable[[], subprocess.Popen[bytes]]
) -> None:
    runs = tmp_path / "runs"
    asked = ask(runs / "small")
    direct = asked.copy(tmp_path / "direct")
    asked.deliver(direct, *range(12))
    carry(direct, workers=1)
    study = write_study(tmp_path, **WAITING_STUDY)
    change_schedules(runs, lambda _: {"small": CampaignSchedule("small", str(study))})
    server.start()
    serving()
    wait_for(lambda: "small: whenever answers arrive" in log_of(tmp_path)(), 300, log_of(tmp_path))
    assert server.flow_runs("small") == []
    asked.deliver(asked.folder, *range(12))
    wait_for(lambda: look(asked.folder).ended == "concluded", 600, log_of(tmp_path))
    assert outcome(asked.folder) == outcome(direct)
    wait_for(
        lambda: all(run["state_type"] == "COMPLETED" for run in server.flow_runs("small")),
        120,
        log_of(tmp_path),
    )
    names = [run["state_name"] for run in server.flow_runs("small")]
    assert names.count("Concluded") == 1, names
    assert set(names) <= {"Concluded", "NothingToDo", "Busy"}
    keys = {item["key"] for item in server.ask("POST", "artifacts/filter", json={}).json()}
    assert {"small-leaderboard", "small-progress", "small-report", "small-verdict"} <= keys


def prefect(server: Server, *words: str) -> tuple[list[str], dict[str, str]]:
    """Prefect's own command, on the test's server, and its environment."""
    environment = {
        name: value for name, value in os.environ.items() if not name.startswith("PREFECT_")
    }
    own = {"PREFECT_HOME": str(server.home / "client")}
    return [sys.executable, "-m", "prefect", "--no-prompt", *words], environment | server.told | own


@pytest.mark.long
def test_a_worker_of_a_process_pool_carries_a_campaign_to_the_verdict_of_a_direct_run(
    tmp_path: Path, server: Server
) -> None:
    run_study(small_study(**QUICK), tmp_path / "direct", n_workers=1)
    study, folder = write_study(tmp_path, **QUICK), tmp_path / "runs" / "small"

    def say(*words: str) -> None:
        command, environment = prefect(server, *words)
        done = subprocess.run(
            command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stdout + done.stderr

    server.start()
    say("work-pool", "create", "lakatos-process", "--type", "process")
    parameters = ("run=small", f"runs={folder.parent}", f"study={study}")
    say("deploy", "--name", "process", *(word for item in parameters for word in ("--param", item)))
    say("deployment", "run", "lakatos/process")
    command, environment = prefect(server, "worker", "start", "--pool", "lakatos-process")
    with (tmp_path / "serve.log").open("wb") as log:
        worker = subprocess.Popen(
            command,
            cwd=tmp_path,
            stdout=log,
            stderr=log,
            env={**environment, "LAKATOS_CHECKOUT": str(ROOT)},
        )
    try:
        wait_for(
            lambda: [run["state_type"] for run in server.flow_runs("process")] == ["COMPLETED"],
            300,
            log_of(tmp_path),
        )
        assert [run["state_name"] for run in server.flow_runs("process")] == ["Concluded"]
        assert form(folder) == form(tmp_path / "direct")
        say("deployment", "run", "lakatos/process")
        wait_for(
            lambda: (
                sorted(run["state_name"] for run in server.flow_runs("process"))
                == ["Concluded", "NothingToDo"]
            ),
            300,
            log_of(tmp_path),
        )
    finally:
        worker.send_signal(signal.SIGINT)
        try:
            worker.wait(60)
        finally:
            worker.kill()
            worker.wait()


@pytest.mark.long
def test_the_laboratory_comes_up_and_goes_down_together(tmp_path: Path) -> None:
    runs = tmp_path / "runs"
    ask(runs / "waiting")
    ports = []
    for _ in range(4):
        with socket.create_server(("127.0.0.1", 0)) as free:
            ports.append(str(free.getsockname()[1]))
    words = [sys.executable, "-m", "lakatos.flows.commands.main", "lab", "up", "--runs", str(runs)]
    words += [
        "--port",
        ports[0],
        "--page-port",
        ports[1],
        "--view-port",
        ports[2],
        "--metrics-port",
        ports[3],
    ]
    environment = {
        name: value for name, value in os.environ.items() if not name.startswith("PREFECT_")
    }
    with (tmp_path / "serve.log").open("wb") as log:
        process = subprocess.Popen(words, cwd=ROOT, stdout=log, stderr=log, env=environment)
    try:
        wait_for(lambda: described(runs), 300, log_of(tmp_path))
        found = described(runs)
        assert httpx.get(f"{found['Prefect']}/api/health", timeout=60).status_code == 200
        asked: dict[str, Any] = {
            "url": f"{found['Prefect']}/api/deployments/filter",
            "json": {},
            "timeout": 60,
        }
        secret = basic(own_secret(runs))
        assert httpx.post(**asked).status_code == 401
        for path in ("docs", "openapi.json", "api/docs", "api/admin/settings", "api/version"):
            assert httpx.get(f"{found['Prefect']}/{path}", timeout=60).status_code in (401, 404)
        assert httpx.post(**asked, auth=secret).status_code == 200
        assert (
            httpx.post(**asked, auth=secret, headers={"Host": "evil.example.org"}).status_code
            == 421
        )
        assert (
            httpx.post(
                **asked, auth=secret, headers={"Origin": "http://evil.example.org"}
            ).status_code
            == 421
        )
        mode = (runs / ".lab" / "prefect" / "prefect.db").stat().st_mode
        assert mode & 0o077 == 0
        assert (
            "<html" in httpx.get(found["Prefect"], timeout=60, follow_redirects=True).text.lower()
        )
        assert "lakatos_runs 1" in httpx.get(found["metrics"], timeout=60).text

        def answers() -> bool:
            try:
                return httpx.get(found["observatory"], timeout=60).status_code == 200
            except httpx.HTTPError:
                return False

        wait_for(answers, 120, log_of(tmp_path))
        assert down(runs)
        assert process.wait(60) == 0
    finally:
        process.kill()
        process.wait()
    assert "the laboratory is down" in log_of(tmp_path)()
    assert "Traceback" not in log_of(tmp_path)()
    for port in ports:
        with pytest.raises(OSError, match="refused"):
            socket.create_connection(("127.0.0.1", int(port)), 5)
