"""An experiment on the page, people who take part, and the server on a loopback port; what the tests here share."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import uvicorn
from fastapi.testclient import TestClient

from lakatos.domains import open_domain
from lakatos.experiments.conditions import with_conditions, with_orders
from lakatos.experiments.participants.answers import PersonAnswers
from lakatos.experiments.participants.web.settings import PageSettings
from lakatos.experiments.participants.web.source import WebParticipants
from lakatos.experiments.task import Design
from lakatos.experiments.testing import preregister
from lakatos.traces.digest import digest_of
from lakatos.traces.inbox import Inbox

KEY = digest_of("recruitment of people on the page")
SPACES: dict[str, dict[str, Any]] = {
    "multiattribute": {"levels": [0, 1, 2, 3], "validities": [0.9, 0.75, 0.6]},
    "risky": {},
    "intertemporal": {},
    "learning": {"task": "two_step", "n_steps": 4},
    "offers": {},
    "games": {},
    "estimation": {},
    "public_goods": {"all_or_nothing": False},
    "sequences": {"n_trials": 8},
}


def open_experiment(
    folder: Path,
    domain: str = "risky",
    *,
    n_trials: int = 4,
    repetitions: int = 1,
    n_participants: int = 3,
    name: str = "1.1",
    key: str = KEY,
    space: dict[str, Any] | None = None,
    texts: Any = None,
    within: tuple[str, ...] = (),
    **page: Any,
) -> Design:
    """Recruit people for a small experiment; returns its design."""
    task = with_conditions(open_domain(domain), within)
    settings = SPACES.get(domain, {}) if space is None else space
    stimuli = task.candidates(settings, np.random.default_rng(2), n_trials)
    design = Design(
        name=name, stimuli=stimuli, repetitions=repetitions, n_participants=n_participants
    )
    design = with_orders(design, within, 1, np.random.default_rng(4))
    source = WebParticipants(
        folder,
        domain=task,
        settings=settings,
        seed=11,
        page=PageSettings(**{"checks": 1, "access": "open", **page}),
        texts=texts,
    )
    source.recruit(preregister(design), design, key)
    return design


HERE = "http://127.0.0.1"


def asked(app: Any) -> TestClient:
    """A client that asks a server as a browser on this machine does."""
    return TestClient(app, base_url=HERE)


def in_inbox(folder: Path) -> list[PersonAnswers]:
    """What the page has left there."""
    return [
        PersonAnswers.from_json(batch.json()) for batch in Inbox(folder / "inbox.sqlite").pending()
    ]


@contextmanager
def served(app: Any, port: int = 0) -> Iterator[str]:
    """Address of a server in a thread of its own; on the port of an earlier one where it is told."""
    with socket.socket() as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(("127.0.0.1", port))
        port = listener.getsockname()[1]
        server = uvicorn.Server(uvicorn.Config(app, log_level="warning", access_log=False))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
        thread.start()
        deadline = time.monotonic() + 20
        while not server.started:
            assert time.monotonic() < deadline, "the server did not start"
            time.sleep(0.01)
        yield f"http://127.0.0.1:{port}"
        server.should_exit = True
        thread.join(timeout=20)
