"""Processes: loading, crashing, hanging and stopping, with small real servers in place of vLLM."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

import httpx
import pytest

from lakatos.language_models.serving.app_thread import free_port
from lakatos.language_models.serving.errors import ServerError
from lakatos.language_models.serving.launch import ServerLaunch
from lakatos.language_models.serving.server import (
    ModelServer,
    RestartPolicy,
    cause_of,
    served,
    stage_of,
    supervise,
)

PROGRAM = """
import http.server, os, subprocess, sys, time
port, how, folder = int(sys.argv[1]), sys.argv[2], sys.argv[3]
open(f"{folder}/{os.getpid()}", "w").close()
ignore = "signal.signal(15, signal.SIG_IGN);" if how == "stubborn" else ""
child = subprocess.Popen([sys.executable, "-c", f"import signal, time; {ignore} time.sleep(600)"])
print("(EngineCore pid=1) INFO 11-22 00:29:23 [core.py:133] Initializing a V1 LLM engine (v0.32.0)", flush=True)
print("Loading safetensors checkpoint shards:  50% Completed | 1/2 [00:00<?, ?it/s]", flush=True)
time.sleep(0.6)
if how == "dies-loading":
    print("(EngineCore pid=1) ERROR 11-22 00:29:23 [core.py:1] torch.OutOfMemoryError: CUDA out of memory.", flush=True)
    sys.exit(7)
hung = False
class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        global hung
        if self.path == "/die":
            os._exit(9)
        if self.path == "/hang":
            hung = True
        self.send_response(503 if hung else 200)
        self.end_headers()
    def log_message(self, *_): pass
http.server.ThreadingHTTPServer(("127.0.0.1", port), Handler).serve_forever()
"""
FAST = {"look_every_s": 0.1, "n_silent": 3}


def launch(folder: Path, how: str = "well", **changes: object) -> ServerLaunch:
    program, started, port = folder / "program.py", folder / "started", free_port()
    program.write_text(PROGRAM)
    started.mkdir(exist_ok=True)
    given = {
        "command": (sys.executable, str(program), str(port), how, str(started)),
        "variables": dict(os.environ),
        "base_url": f"http://127.0.0.1:{port}/v1",
        "model": "none",
        "key": None,
        "start_timeout_s": 30.0,
    }
    return ServerLaunch(**(given | changes))


def n_in_group(group: int) -> int:
    """Processes of a group that are not zombies, as ``ps`` counts them."""
    listed = subprocess.run(
        ["ps", "-eo", "pgid=,stat="], capture_output=True, text=True, check=True
    ).stdout
    return sum(
        int(line.split()[0]) == group and "Z" not in line.split()[1] for line in listed.splitlines()
    )


def get(wanted: ServerLaunch, path: str) -> None:
    with pytest.raises(httpx.HTTPError) if path == "/die" else httpx.Client():
        httpx.get(wanted.base_url.removesuffix("/v1") + path, trust_env=False)


def test_loading_is_told_stage_by_stage_and_the_whole_group_is_stopped(tmp_path):
    told: list[str] = []
    with served(launch(tmp_path, "stubborn"), tmp_path / "log", told.append) as server:
        assert server.healthy()
        group = server.process.pid
        assert n_in_group(group) == 2
        stopping = time.monotonic()
        server.stop(patience_s=0.5)  # the child ignores SIGTERM
        assert time.monotonic() - stopping < 5
        assert n_in_group(group) == 0
    assert told == ["loading weights, 50 % (1/2 files)"]


def test_a_server_that_dies_while_loading_says_why_and_is_not_started_again(tmp_path):
    wanted = launch(tmp_path, "dies-loading")
    with pytest.raises(
        ServerError,
        match=r"died while loading weights.*does not fit into memory.*CUDA out of memory",
    ):
        supervise(wanted, tmp_path / "log")
    assert len(list((tmp_path / "started").iterdir())) == 1


def test_a_server_that_loads_too_long_is_stopped(tmp_path):
    server = ModelServer(launch(tmp_path, start_timeout_s=0.3), tmp_path / "log")
    with pytest.raises(ServerError, match=r"not ready after 0\.3 s"):
        server.wait_until_ready()
    assert n_in_group(server.process.pid) == 0


def test_a_taken_port_is_refused_before_anything_is_started(tmp_path):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        url = f"http://127.0.0.1:{taken.getsockname()[1]}/v1"
        with pytest.raises(ServerError, match="another server may be there"):
            ModelServer(launch(tmp_path, base_url=url), tmp_path / "log")
    assert not list((tmp_path / "started").iterdir())


@pytest.mark.slow
@pytest.mark.parametrize(
    ("how", "path", "why"), [("well", "/die", "status 9"), ("well", "/hang", "did not answer 3")]
)
def test_a_server_that_dies_or_hangs_comes_back_at_the_same_address_until_the_limit(
    tmp_path, how, path, why
):
    wanted, told, groups = launch(tmp_path, how), [], []

    def ready(server: ModelServer) -> None:
        assert server.healthy()
        groups.append(server.process.pid)
        threading.Thread(target=get, args=(wanted, path)).start()

    policy = RestartPolicy(limit=2, first_wait_s=0.05)
    with pytest.raises(ServerError, match=rf"died 3 times in a row and stays down \(last: .*{why}"):
        supervise(
            wanted, tmp_path / "log", restarts=policy, progress=told.append, ready=ready, **FAST
        )
    assert len(set(groups)) == 3
    assert [n_in_group(group) for group in groups] == [0, 0, 0]
    again = [text for text in told if "starting again" in text]
    assert ["in 0.05 s (1 of at most 2)" in again[0], "in 0.1 s (2 of at most 2)" in again[1]] == [
        True,
        True,
    ]


@pytest.mark.long
def test_a_row_of_deaths_ends_when_the_server_has_settled(tmp_path):
    wanted, n_ready = launch(tmp_path), 0

    def ready(_: ModelServer) -> None:
        nonlocal n_ready
        n_ready += 1
        if n_ready == 4:
            raise KeyboardInterrupt
        threading.Thread(target=get, args=(wanted, "/die")).start()

    with pytest.raises(KeyboardInterrupt):
        supervise(
            wanted,
            tmp_path / "log",
            restarts=RestartPolicy(limit=1, first_wait_s=0.01, settled_s=0.1),
            ready=ready,
            **FAST,
        )
    assert n_ready == 4


def test_waits_double_up_to_the_longest():
    waits = [
        RestartPolicy(first_wait_s=1, longest_wait_s=6).wait_s(number) for number in range(1, 6)
    ]
    assert waits == [1, 2, 4, 6, 6]


def test_a_server_ends_when_the_laboratory_is_killed(tmp_path):
    wanted = launch(tmp_path)
    program = (
        f"import os, sys, time; from pathlib import Path; sys.path.insert(0, {str(Path(__file__).parents[3])!r})\n"
        "from lakatos.language_models.serving.launch import ServerLaunch\n"
        "from lakatos.language_models.serving.server import ModelServer\n"
        f"wanted = ServerLaunch({wanted.command!r}, dict(os.environ), {wanted.base_url!r}, 'none', None, 30.0)\n"
        f"server = ModelServer(wanted, Path({str(tmp_path / 'log')!r})); server.wait_until_ready()\n"
        "print(server.process.pid, flush=True); time.sleep(600)\n"
    )
    laboratory = subprocess.Popen(
        [sys.executable, "-c", program], stdout=subprocess.PIPE, text=True
    )
    assert laboratory.stdout is not None
    leader = int(laboratory.stdout.readline())
    laboratory.send_signal(signal.SIGKILL)
    laboratory.wait()
    until = time.monotonic() + 10
    while n_in_group(leader) > 1 and time.monotonic() < until:
        time.sleep(0.1)
    assert n_in_group(leader) == 1  # its child sleeps on; those of vLLM watch their parent
    os.killpg(leader, signal.SIGKILL)


def test_stages_and_causes_are_read_from_lines_of_vllm_logs():
    log = (
        "(APIServer pid=2) INFO 11-22 00:28:59 [model.py:733] Resolved architecture: LlamaForCausalLM\n"
        "(EngineCore pid=3) INFO 11-22 00:29:49 [kv_cache_utils.py:2327] CPU KV cache size: 1,048,576 tokens, Maximum\n"
    )
    assert stage_of("") == ""
    assert stage_of(log) == "cache of 1,048,576 tokens"
    assert stage_of(log.splitlines()[0]) == "reading the model's description (LlamaForCausalLM)"
    died = (
        "(EngineCore pid=26143) ERROR 11-22 00:31:15 [core.py:1512] RuntimeError: Worker failed with error "
        "'Unsupported CPU attention configuration: head_dim=16 isa=2 kv_cache_idx=0', please check\nnanobind: leaked\n"
    )
    assert cause_of(died).startswith(
        "vLLM on CPUs cannot serve a model with attention heads of this width (RuntimeError"
    )
    assert (
        cause_of("a\n(X pid=1) ERROR 11-22 00:31:15 [a.py:1] KeyError: 'b'\nbye\n")
        == "KeyError: 'b'"
    )
    assert cause_of("") == "it said nothing."
