"""Attacks on the laboratory's doors, each really tried on real servers: a section of `benchmarks/security.py`.

A probe says what it tries and is *held* if the attack comes to nothing.
"""

from __future__ import annotations

import concurrent.futures
import importlib
import inspect
import io
import json
import os
import socket
import sys
import tarfile
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "tests"), str(ROOT / "tests" / "web")]

import httpx  # noqa: E402
from taking_part import open_experiment, served  # noqa: E402

from lakatos.experiments.participants.web.app import create_app  # noqa: E402
from lakatos.experiments.participants.web.texts import texts_for  # noqa: E402
from lakatos.flows.operations.known_errors import known_errors  # noqa: E402

N_BOTS = 28
SLOW_SECONDS = 40.0


@dataclass(frozen=True)
class ProbeOutcome:
    """What came of one attack."""

    name: str
    tried: str
    held: bool
    detail: str


Probe = Callable[[Path], tuple[bool, str]]
PROBES: dict[str, tuple[str, Probe]] = {}


def probe(name: str, tried: str) -> Callable[[Probe], Probe]:
    """List an attack."""

    def listed(function: Probe) -> Probe:
        PROBES[name] = (tried, function)
        return function

    return listed


# --- Prefect ----------------------------------------------------------------------------------------------------------


@contextmanager
def prefect(folder: Path) -> Iterator[tuple[str, Path]]:
    """The Prefect server that `lakatos lab up` starts."""
    from lakatos.flows.operations.lab import prefect_server

    for name in [name for name in os.environ if name.startswith("PREFECT_")]:
        del os.environ[name]
    with prefect_server(folder) as part:
        yield part.address, folder / ".lab" / "prefect"


@probe(
    "prefect: a command",
    "PATCH a deployment's pull steps without any secret and with a foreign Host and Origin",
)
def command_by_pull_steps(folder: Path) -> tuple[bool, str]:
    """Everything that made a shell command run at the next flow run."""
    foreign = {"Host": "evil.example.org", "Origin": "http://evil.example.org"}
    with prefect(folder) as (address, _):
        found = []
        for headers in ({}, foreign):
            with httpx.Client(base_url=f"{address}/api/", headers=headers, timeout=60) as client:
                flow = client.post("flows/", json={"name": "f"})
                known = flow.json().get("id", "0" * 8) if flow.is_success else "none"
                made = client.post("deployments/", json={"name": "d", "flow_id": known})
                number = made.json().get("id", "none") if made.is_success else "none"
                steps = {
                    "pull_steps": [{"prefect.deployments.steps.run_shell_script": {"script": "id"}}]
                }
                found.append(client.patch(f"deployments/{number}", json=steps).status_code)
    return all(code in (401, 421) for code in found), f"statuses {found}"


@probe(
    "prefect: other sites",
    "read answers from a page of another site (CORS), and by another name (rebinding)",
)
def prefect_from_other_sites(folder: Path) -> tuple[bool, str]:
    """What a browser would let a page of another site read."""
    with prefect(folder) as (address, _):
        foreign = {"Origin": "http://evil.example.org", "Access-Control-Request-Method": "PATCH"}
        asked = httpx.options(f"{address}/api/deployments/x", headers=foreign, timeout=60)
        named = httpx.get(f"{address}/api/health", headers={"Host": "evil.example.org"}, timeout=60)
    allowed = asked.headers.get("access-control-allow-origin", "")
    return allowed not in ("*", "http://evil.example.org") and named.status_code == 421, (
        f"allowed origin {allowed!r}, by another name {named.status_code}"
    )


@probe("prefect: files", "read the server's database as another user of the machine")
def prefect_files(folder: Path) -> tuple[bool, str]:
    """Modes of everything that it leaves."""
    with prefect(folder) as (_, home):
        time.sleep(1)
        open_ones = [
            path.name for path in home.iterdir() if path.is_file() and path.stat().st_mode & 0o077
        ]
    return not open_ones, f"readable for others: {sorted(open_ones)}"


# --- the participant page -----------------------------------------------------------------------------------------


def be_a_bot(address: str, number: int) -> dict[str, Any]:
    """Fill the study in as fast as the server lets one, claiming five seconds an answer."""
    with httpx.Client(base_url=f"{address}/study/", timeout=60) as browser:

        def post(path: str, body: Any) -> Any:
            for _ in range(200):
                answer = browser.post(f"api/{path}", json=body)
                if answer.status_code != 429:
                    return answer.json()
                time.sleep(0.2)
            return {}

        browser.get("")
        texts = browser.get("api/texts").json()
        state = post("consent", {"consent": texts["consent"]["digest"], "language": "en"})
        right = [
            item["right"] for item in texts_for("risky")["en"]["domains"]["risky"]["questions"]
        ]
        if state.get("phase") == "instructions":
            state = post("comprehension", {"attempt": 0, "answers": right})
        marked = 0
        while state.get("phase") == "task":
            step = state["steps"][0]
            marked += step.get("kind") == "check" or not step["picture"]
            body = {
                "position": state["position"],
                "response": number % 2,
                "response_time_ms": 5000.0,
            }
            state = post("answers", body)["state"]
        return {"status": state.get("status", ""), "marked": marked}


def send_bots(address: str) -> list[dict[str, Any]]:
    """So many programs at once."""
    with concurrent.futures.ThreadPoolExecutor(N_BOTS) as pool:
        return list(pool.map(lambda number: be_a_bot(address, number), range(N_BOTS)))


def as_studies_have_it() -> dict[str, Any]:
    """Page settings of a study that says nothing about who comes in."""
    study = importlib.import_module("lakatos.experiments.participants.web.study")
    return (
        {"access": "invited"}
        if "access" in inspect.signature(study.PageSettings).parameters
        else {}
    )


def as_open() -> dict[str, Any]:
    """Page settings of an open link."""
    return {"access": "open"} if as_studies_have_it() else {}


@contextmanager
def _page(folder: Path, page: dict[str, Any]) -> Iterator[str]:
    import taking_part

    settings = {"checks": 2, **page}
    if not page:  # a version without the setting: the helper must not give it
        original = taking_part.PageSettings
        known = set(inspect.signature(original).parameters)
        taking_part.PageSettings = lambda **given: original(
            **{k: v for k, v in given.items() if k in known}
        )  # type: ignore[assignment, misc]
    open_experiment(folder, n_trials=20, n_participants=40, **settings)
    with served(create_app(folder)) as address:
        yield address


@probe("page: bots", f"{N_BOTS} programs fill a study whose file says nothing about who comes in")
def bots(folder: Path) -> tuple[bool, str]:
    """By real HTTP, at once."""
    with _page(folder, as_studies_have_it()) as address:
        begun = time.monotonic()
        completed = sum(bot["status"] == "completed" for bot in send_bots(address))
    return completed == 0, f"{completed} of {N_BOTS} completed in {time.monotonic() - begun:.0f} s"


@probe(
    "page: bots, open link", f"{N_BOTS} programs from one address, where the study has an open link"
)
def bots_on_an_open_link(folder: Path) -> tuple[bool, str]:
    """What gets in, and whether the rules on times exclude it."""
    from lakatos.experiments import quality
    from lakatos.experiments.participants.answers import PersonAnswers
    from lakatos.traces.inbox import Inbox

    with _page(folder, as_open()) as address:
        found = send_bots(address)
        time.sleep(1)
    completed = sum(bot["status"] == "completed" for bot in found)
    answers = [
        PersonAnswers.from_json(batch.json()) for batch in Inbox(folder / "inbox.sqlite").pending()
    ]
    rules: list[Any] = [quality.TooFast(500)]
    if hasattr(quality, "ImpossibleTimes"):
        rules.append(quality.ImpossibleTimes(0.1))
    excluded = {item.place for item in quality.exclude(answers, rules)}
    left = len(answers) - len(excluded)
    marked = max(bot["marked"] for bot in found)
    return left == 0 and completed < N_BOTS and not marked, (
        f"{completed} of {N_BOTS} completed, {left} of them count after the exclusions; attention checks that the data "
        f"mark: {marked}"
    )


@probe("page: planted cookie", "give a browser a cookie of one's own, and take part in it")
def planted_cookie(folder: Path) -> tuple[bool, str]:
    """Whoever planted it would be the person whom it stands for."""
    with _page(folder, as_open()) as address:
        headers = {"Cookie": f"lakatos={'p' * 43}"}
        status = httpx.get(f"{address}/study/api/state", headers=headers).status_code
    return status == 401, f"status {status}"


@probe("page: other names", "ask by a foreign name (rebinding)")
def page_by_other_names(folder: Path) -> tuple[bool, str]:
    """What a page of another site would do after giving its name this machine's address."""
    with _page(folder, as_open()) as address:
        status = httpx.get(f"{address}/study/", headers={"Host": "evil.example.org"}).status_code
    return status == 421, f"status {status}"


@probe("page: nothing else", "find the researcher's page on the participants' address")
def nothing_else(folder: Path) -> tuple[bool, str]:
    """Whether what is opened to participants opens it too."""
    with _page(folder, as_open()) as address:
        status = httpx.get(f"{address}/researcher/").status_code
    return status == 404, f"status {status}"


@probe("page: slow clients", f"hold connections with half a request for {SLOW_SECONDS:.0f} s")
def slow_clients(folder: Path) -> tuple[bool, str]:
    """As `lakatos collect` serves it."""
    import uvicorn

    try:
        from lakatos.experiments.participants.web.door import SERVER
    except ImportError:
        from lakatos.experiments.participants.web.app import SERVER  # type: ignore[attr-defined, no-redef]
    open_experiment(folder)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        server = uvicorn.Server(uvicorn.Config(create_app(folder), **SERVER))
        serving = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
        serving.start()
        time.sleep(2)
        held = [socket.create_connection(listener.getsockname()) for _ in range(20)]
        for one in held:
            one.sendall(b"GET /study/ HTTP/1.1\r\nHost: 127.0.0.1\r\n")
            one.settimeout(SLOW_SECONDS)
        begun, closed = time.monotonic(), 0
        for one in held:
            one.settimeout(max(SLOW_SECONDS - (time.monotonic() - begun), 0.1))
            with suppress(OSError):
                closed += one.recv(1) == b""
        for one in held:
            one.close()
        server.should_exit = True
        serving.join(20)
    return closed == len(
        held
    ), f"{closed} of {len(held)} hung up on within {time.monotonic() - begun:.0f} s"


# --- files, names, keys ---------------------------------------------------------------------------------------------


@probe("study: keys", "name any variable as a model's key, and a server without TLS elsewhere")
def stolen_keys(folder: Path) -> tuple[bool, str]:
    """What a study from elsewhere could have sent away."""
    from lakatos.language_models.settings import ModelSettings

    taken = []
    for variable, address in (
        ("HOME", "https://evil.example.org/v1"),
        ("X_API_KEY", "http://evil.example.org/v1"),
    ):
        with suppress(ValueError):
            ModelSettings(name="m", model="m", base_url=address, key_variable=variable)
            taken.append(f"{variable} to {address}")
    return not taken, f"taken: {taken}"


@probe("names", "begin a run outside the runs folder")
def names_outside(folder: Path) -> tuple[bool, str]:
    """By its name."""
    from lakatos.flows.run.places import new_folder

    taken = []
    for name in ("../out", "/tmp/out", "a/../../out"):
        with suppress(*known_errors()):
            taken.append(str(new_folder(folder / "runs", name, numbered=False)))
    return not taken, f"folders: {taken}"


@probe(
    "restore",
    "restore backups with malformed manifests, addresses of other places, and through a link",
)
def restored(folder: Path) -> tuple[bool, str]:
    """A traceback, or anything left behind, is a failure."""
    from lakatos.flows.operations.backup import restore

    one = {"sha256": "0" * 64, "size": 1}
    empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
    manifests: list[Any] = [
        [], "x", {"format": 1, "files": []}, {"format": "1", "files": {}}, {"format": 1, "files": {"a": {}}},
        {"format": 1, "files": {"../../etc/passwd": one}},
        {"format": 1, "runs": [], "files": {"run/journal.url": {"sha256": empty, "size": 0}}},
    ]  # fmt: skip
    problems = []
    for number, manifest in enumerate(manifests):
        archive, target = folder / f"{number}.tar.gz", folder / "new" / f"{number}"
        with tarfile.open(archive, "w:gz") as file:
            members = {"manifest.json": json.dumps(manifest).encode()}
            members |= {"runs/run/journal.url": b""} if number == len(manifests) - 1 else {}
            for name, data in members.items():
                entry = tarfile.TarInfo(name)
                entry.size = len(data)
                file.addfile(entry, io.BytesIO(data))
        try:
            restore(archive, target)
            problems.append(f"{number}: restored")
        except known_errors():
            pass
        except Exception as error:
            problems.append(f"{number}: {type(error).__name__}")
    if (folder / "new").exists():
        problems.append("a folder was left behind")
    return not problems, "; ".join(problems) or "all refused in one line, nothing left"


# --- all ------------------------------------------------------------------------------------------------------------


def carry_out(name: str) -> ProbeOutcome:
    """Try one attack in a folder of its own."""
    tried, attack = PROBES[name]
    with tempfile.TemporaryDirectory(prefix="lakatos-probe-") as folder:
        try:
            held, detail = attack(Path(folder))
        except Exception as error:
            held, detail = False, f"{type(error).__name__}: {error}"
    return ProbeOutcome(name, tried, held, detail)
