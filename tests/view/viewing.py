"""The observatory on a loopback port, and what its pages are; what the tests here share."""

from __future__ import annotations

import shutil
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import uvicorn

from lakatos.experiments.record import AnswersArrived
from lakatos.flows.view.app import ViewAccess, create_app
from lakatos.flows.view.watch import RunMoment, RunObservatory
from lakatos.traces.journal import Journal
from lakatos.traces.step import JOURNAL_FILE

WAIT_MS = 30_000
SIZES = {"desktop": (1280, 900), "phone": (375, 760)}
TO = (
    "",
    "steps",
    "theories",
    "compare",
    "curves",
    "people",
    "leaderboard",
    "experiments",
    "diagnoses",
    "judges",
    "memory",
    "trace",
    "audit",
    "cost",
)


@contextmanager
def served(place: Path, access: ViewAccess | None = None) -> Iterator[str]:
    """Address of the observatory, served by a thread of its own."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port = listener.getsockname()[1]
        config = uvicorn.Config(create_app(place, access), log_level="warning", access_log=False)
        server = uvicorn.Server(config)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
        thread.start()
        deadline = time.monotonic() + 20
        while not server.started:
            assert time.monotonic() < deadline, "the server did not start"
            time.sleep(0.01)
        yield f"http://127.0.0.1:{port}"
        server.should_exit = True
        thread.join(timeout=20)


def look_at(folder: Path) -> RunMoment:
    """A run as it is now."""
    observatory = RunObservatory(folder)
    watch = observatory.watch(folder.name)
    assert watch is not None
    return watch.look()


def all_pages(look: RunMoment, most: int = 4) -> list[str]:
    """Addresses of every kind of page of a run."""
    base = f"/run/{look.watch.name}/"
    found = [base + name for name in TO]
    found += [
        base + "trace?q=the",
        base + "trace?kind=intent",
        base + "part/limits",
        base + "part/epochs",
    ]
    found += [f"{base}theory/{digest}" for digest in list(look.checked)[:most]]
    found += [f"{base}part/parameters/{digest}" for digest in list(look.state.theories.pool)[:1]]
    arrived = look.records(AnswersArrived)
    found += [f"{base}person/{item.record.person}" for item in arrived[:1]]
    if not arrived and (collected := list(look.state.experiments.collected)[:1]):
        found += [f"{base}person/{collected[0]}:0"]
    found += [f"{base}experiment/{name}" for name in list(look.state.experiments.designs)[:most]]
    found += [f"{base}diagnosis/{number}" for number in range(len(look.state.theories.diagnoses))][
        :most
    ]
    found += [f"{base}record/{seqs[0]}" for seqs in look.outline.by_kind.values()]
    found += [
        f"{base}artifact/{digest}" for digest in list(look.trace.artifacts.digests())[: 3 * most]
    ]
    return found


def grown(source: Path, folder: Path, n_events: int) -> None:
    """The beginning of a run, in a new folder or after what that holds already."""
    folder.mkdir(exist_ok=True)
    if not (folder / "artifacts").exists():
        shutil.copytree(source / "artifacts", folder / "artifacts")
    with Journal.open(source / JOURNAL_FILE, read_only=True) as old:
        new = (
            Journal.open(folder / JOURNAL_FILE)
            if (folder / JOURNAL_FILE).exists()
            else Journal.create(folder / JOURNAL_FILE, old.meta)
        )
        with new:
            for event in old.events(new.head[0]):
                if event.seq > n_events:
                    break
                new.append(
                    event.kind, event.body, key=event.key, name=event.name, position=event.position,
                    inputs=event.inputs, attempt=event.attempt,
                )  # fmt: skip
