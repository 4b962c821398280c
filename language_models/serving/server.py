"""A vLLM server as a process group of its own: started, watched, restarted after a crash, and stopped whole.

A run survives a crash of the server twice over. The server comes back at the same address, so that a client that tries
again finds it; and a call that was cut short has no answer in the trace, so that a resumed run asks it again.
"""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

import httpx

from lakatos.language_models.serving.environment import last_line
from lakatos.language_models.serving.errors import ServerError
from lakatos.language_models.serving.launch import ServerLaunch
from lakatos.traces.system import end_with_parent, require_groups

Progress = Callable[[str], None]

STAGES: Final = (
    (re.compile(r"non-default args"), "reading the profile"),
    (re.compile(r"Resolved architecture: (\w+)"), "reading the model's description ({0})"),
    (re.compile(r"Initializing a V1 LLM engine"), "starting the engine"),
    (re.compile(r"Downloading .*?(\d+)%"), "downloading weights, {0} %"),
    (re.compile(r"Starting to load model"), "loading weights"),
    (
        re.compile(r"checkpoint shards:\s+(\d+)% Completed \| (\d+/\d+)"),
        "loading weights, {0} % ({1} files)",
    ),
    (re.compile(r"Loading weights took ([\d.]+) seconds"), "weights loaded in {0} s"),
    (re.compile(r"(?i)(?:torch\.compile takes|compiling a graph)"), "compiling"),
    (re.compile(r"KV cache size: ([\d,]+) tokens"), "cache of {0} tokens"),
    (re.compile(r"Capturing CUDA graphs.*?(\d+)%"), "capturing CUDA graphs, {0} %"),
    (re.compile(r"init engine .* took ([\d.]+) s"), "engine ready after {0} s"),
    (re.compile(r"Application startup complete"), "listening"),
)
"""Meanings of lines of vLLM's log, in the order in which they come."""

CAUSES: Final = (
    (
        re.compile(
            r"(?i)out of memory|insufficient memory|No available memory for the cache blocks"
        ),
        "the model does not fit into memory: lower `context`, `max_requests` or `memory.gpu_fraction`, quantise, or "
        "spread it with `parallel`",
    ),
    (
        re.compile(
            r"(?i)is larger than the maximum number of tokens that can be stored in (?:the )?KV cache"
        ),
        "the cache cannot hold one request of this `context`: lower it, or give the cache more memory",
    ),
    (
        re.compile(r"(?i)address already in use"),
        "another program listens at the port; choose another `port`",
    ),
    (
        re.compile(r"(?i)derived max_model_len|greater than the derived"),
        "`context` is longer than the model was made for; lower it",
    ),
    (
        re.compile(r"(?i)gated repo|401 client error|access to model .* is restricted"),
        "the hub wants a login for this model; set HF_TOKEN",
    ),
    (
        re.compile(
            r"(?i)repositorynotfound|is not a local folder and is not a valid model|couldn't connect to"
        ),
        "the model is not to be had under this name and revision; check both, or the connection to the hub",
    ),
    (
        re.compile(
            r"(?i)no cuda gpus are available|found no nvidia driver|Failed to infer device type"
        ),
        'no GPU is to be seen; a profile with runtime = "cpu" needs none',
    ),
    (
        re.compile(r"(?i)unsupported CPU attention configuration: head_dim=(\d+)"),
        "vLLM on CPUs cannot serve a model with attention heads of this width",
    ),
)
"""Meanings of lines in the log of a server that died, and what to do."""


@dataclass(frozen=True)
class RestartPolicy:
    """Rules by which a server that died is started again."""

    limit: int = 5
    """Deaths in a row after which it stays down; a server that was up for `settled_s` begins a new row."""
    first_wait_s: float = 1.0
    """Seconds before the first restart; each further one waits twice as long."""
    longest_wait_s: float = 60.0
    settled_s: float = 600.0

    def wait_s(self, n_deaths: int) -> float:
        """Seconds to wait after the ``n_deaths``-th death in a row; the first is 1."""
        return float(min(self.first_wait_s * 2.0 ** (n_deaths - 1), self.longest_wait_s))


class ModelServer:
    """One server process with all its children.

    The group ends with the laboratory: on Linux its leader is told to stop when the starting thread dies.
    """

    def __init__(self, launch: ServerLaunch, log: Path) -> None:
        """Start the process; it is not ready then.

        Args:
            launch: Launch from `language_models.serving.launch.prepare`.
            log: File for what the server says; appended to.

        Raises:
            ServerError: Somebody listens at the port already.
        """
        self.launch = launch
        self.log = log
        require_groups("a model server")
        _refuse_taken_port(launch)
        log.parent.mkdir(parents=True, exist_ok=True)
        with log.open("ab") as out:
            self._begin = out.tell()
            self.process = subprocess.Popen(
                launch.command,
                env=launch.variables,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                preexec_fn=end_with_parent,
            )

    @property
    def said(self) -> str:
        """Text that this process wrote to its log."""
        with self.log.open("rb") as file:
            file.seek(self._begin)
            return file.read().decode("utf-8", "replace")

    def healthy(self, timeout_s: float = 10.0) -> bool:
        """Whether the server answers that it is well."""
        url = self.launch.base_url.removesuffix("/v1") + "/health"
        try:
            return httpx.get(url, timeout=timeout_s, trust_env=False).status_code == 200
        except httpx.HTTPError:
            return False

    def wait_until_ready(self, progress: Progress = lambda _: None) -> float:
        """Wait for health, telling ``progress`` each stage of loading once.

        Returns:
            Seconds that it took.

        Raises:
            ServerError: The process died, or took longer than the profile allows; it is stopped then.
        """
        begun, stage = time.monotonic(), ""
        while not self.healthy(2.0):
            if (now := stage_of(self.said)) != stage and now:
                stage = now
                progress(stage)
            if self.process.poll() is not None:
                text = f"the server died while {stage or 'starting'}: {cause_of(self.said)}"
                self.stop()
                raise ServerError(f"{text}. Its log: {self.log}")
            if time.monotonic() - begun > self.launch.start_timeout_s:
                self.stop()
                raise ServerError(
                    f"the server was not ready after {self.launch.start_timeout_s:g} s (last: {stage or 'nothing'}); "
                    f"raise `start_timeout_s` if it was still loading. Its log: {self.log}"
                )
            time.sleep(0.25)
        return time.monotonic() - begun

    def stop(self, patience_s: float = 30.0) -> None:
        """End the whole group: asked first, killed when it does not go; returns when none is left."""
        group = self.process.pid
        if self.process.poll() is not None:
            patience_s = min(
                patience_s, 2.0
            )  # what a dead leader leaves behind has nobody to end well for
        for number, wait_s in ((signal.SIGTERM, patience_s), (signal.SIGKILL, 10.0)):
            if not _alive(group):
                break
            with suppress(ProcessLookupError):
                os.killpg(group, number)
            until = time.monotonic() + wait_s
            while time.monotonic() < until:
                self.process.poll()
                if not _alive(group):
                    break
                time.sleep(0.05)
        self.process.wait()


@contextmanager
def served(
    launch: ServerLaunch, log: Path, progress: Progress = lambda _: None
) -> Iterator[ModelServer]:
    """A server that is ready, for as long as the block lasts."""
    server = ModelServer(launch, log)
    try:
        server.wait_until_ready(progress)
        yield server
    finally:
        server.stop()


def supervise(
    launch: ServerLaunch,
    log: Path,
    *,
    restarts: RestartPolicy | None = None,
    progress: Progress = lambda _: None,
    ready: Callable[[ModelServer], None] = lambda _: None,
    look_every_s: float = 5.0,
    n_silent: int = 6,
) -> None:
    """Serve until interrupted; a server that dies or no longer answers is started again.

    Args:
        launch: What to start.
        log: File for what the servers say.
        restarts: How often and how soon.
        progress: Told each stage.
        ready: Called whenever a server has become ready.
        look_every_s: Seconds between two looks at its health.
        n_silent: Looks in a row without an answer after which a server that still runs is taken to hang.

    Raises:
        ServerError: The first start failed, which starting again would not mend, or it died too often.
    """
    policy, n_deaths, was_ready = restarts or RestartPolicy(), 0, False
    while True:
        server = ModelServer(launch, log)
        begun = time.monotonic()
        try:
            try:
                took = server.wait_until_ready(progress)
                was_ready = True
                progress(f"ready after {took:.0f} s at {launch.base_url}")
                ready(server)
                why = _watch(server, look_every_s, n_silent)
            except ServerError as error:
                if not was_ready:
                    raise
                why = str(error)
        finally:
            server.stop()
        n_deaths = 1 if time.monotonic() - begun > policy.settled_s else n_deaths + 1
        if n_deaths > policy.limit:
            raise ServerError(
                f"the server died {n_deaths} times in a row and stays down (last: {why}). A run that asked it can be "
                f"resumed once a server is up. Its log: {log}"
            )
        wait_s = policy.wait_s(n_deaths)
        progress(f"{why}; starting again in {wait_s:g} s ({n_deaths} of at most {policy.limit})")
        time.sleep(wait_s)


def stage_of(line: str) -> str:
    """The last stage of loading that a log tells of; empty if none."""
    best = (-1, "")
    for pattern, meaning in STAGES:
        found = None
        for found in pattern.finditer(line):  # noqa: B007 - the last one is wanted
            pass
        if found is not None and found.start() > best[0]:
            best = (found.start(), meaning.format(*found.groups()))
    return best[1]


def cause_of(output: str) -> str:
    """Find why a server died, as far as its log shows: a known cause with what to do, or the last error."""
    for pattern, meaning in CAUSES:
        if found := pattern.search(output):
            line = output[output.rfind("\n", 0, found.start()) + 1 :].split("\n", 1)[0]
            return f"{meaning} ({_bare(line)})"
    errors = [
        line for line in output.splitlines() if re.search(r"\b\w*(?:Error|Exception)\b: ", line)
    ]
    return _bare(errors[-1]) if errors else _bare(last_line(output))


def _bare(line: str) -> str:
    """A line of the log without its time and place, of readable length."""
    line = re.sub(
        r"^(?:\(\w+ pid=\d+\)\s*)?(?:[A-Z]+ [\d-]+ [\d:]+ \[[^\]]*\]\s*)?", "", line.strip()
    )
    return line if len(line) <= 300 else line[:300] + "..."


def _watch(server: ModelServer, look_every_s: float, n_silent: int) -> str:
    """Wait until the server is dead or silent; returns which."""
    silent = 0
    while True:
        try:
            code = server.process.wait(look_every_s)
        except subprocess.TimeoutExpired:
            silent = 0 if server.healthy() else silent + 1
            if silent >= n_silent:
                return f"the server runs but did not answer {silent} times in a row"
        else:
            return f"the server died with status {code}: {cause_of(server.said)}"


def _refuse_taken_port(launch: ServerLaunch) -> None:
    place = urlsplit(launch.base_url)
    with socket.socket(
        socket.AF_INET6 if ":" in (place.hostname or "") else socket.AF_INET
    ) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((place.hostname, place.port))
        except OSError as error:
            raise ServerError(
                f"{place.hostname}:{place.port} cannot be listened at ({error.strerror}); another server may be there. "
                "Stop it or choose another `port`."
            ) from error


def _alive(group: int) -> bool:
    """Whether a process of the group runs; those that ended and are not collected yet do not count."""
    if not os.path.isdir("/proc/self"):
        try:
            os.killpg(group, 0)
        except ProcessLookupError:
            return False
        return True
    for entry in os.scandir("/proc"):
        if entry.name.isdigit():
            with (
                suppress(OSError),
                open(f"/proc/{entry.name}/stat", encoding="utf-8", errors="replace") as file,
            ):
                state, _, in_group = file.read().rpartition(")")[2].split()[:3]
                if int(in_group) == group and state not in "ZX":
                    return True
    return False
