"""One server for all studies of a laboratory: people take part at ``/study/NAME/``, under one address.

A study is found when somebody asks for it, so that one that opens later needs no restart. Cookies are kept apart by
their path. The studies are not listed: who has no link learns of none.
"""

from __future__ import annotations

import asyncio
import hmac
import logging
import re
import sqlite3
import threading
from collections.abc import AsyncIterator, Callable, Collection
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic
from typing import Final

from fastapi import FastAPI
from fastapi.responses import PlainTextResponse
from starlette.concurrency import run_in_threadpool
from starlette.responses import RedirectResponse

from lakatos.experiments.participants.web.app import (
    SWEEP_SECONDS,
    add_health,
    create_desk,
    server,
)
from lakatos.experiments.participants.web.collection import COLLECTION_FILE
from lakatos.experiments.participants.web.door import Receive, Scope, Send
from lakatos.experiments.participants.web.guard import REQUESTS_PER_SECOND
from lakatos.experiments.participants.web.overview import DeskSettings
from lakatos.experiments.participants.web.participant_routes import page_router
from lakatos.experiments.participants.web.store import SessionStore
from lakatos.traces.errors import TraceError
from lakatos.traces.inbox import Inbox

_log = logging.getLogger(__name__)
STUDY_NAME: Final = r"[A-Za-z0-9][A-Za-z0-9_.-]{0,90}"
NAMES_SECONDS: Final = 10.0
"""Seconds for which the names of the studies that are open to participants are kept."""
MOST_OPEN: Final = 200
"""Studies whose stores are open at once."""
NOT_HERE: Final = (
    "There is no study at this address. Please use the whole link that you were given.\n"
)


@dataclass(frozen=True)
class OpenStudy:
    """A study that somebody asked for."""

    store: SessionStore
    inbox: Inbox
    page: FastAPI

    def settle(self) -> None:
        """End visits in which nothing happens any more, and leave what is complete in the inbox."""
        self.store.expire()
        self.store.deliver(self.inbox)


@dataclass
class StudyShelf:
    """The studies of a laboratory by name, opened when they are asked for."""

    find: Callable[[str], Path | None]
    """The folder of a study that people answer here; None where there is no such study."""
    secure: bool = False
    known: dict[str, OpenStudy] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def study(self, name: str) -> OpenStudy | None:
        """The study of this name, if people can be sent to it."""
        if not re.fullmatch(STUDY_NAME, name):
            return None
        with self._lock:
            if name not in self.known and len(self.known) < MOST_OPEN:
                folder = self.find(name)
                if folder is None or not (folder / COLLECTION_FILE).exists():
                    return None
                self.known[name] = self._open(folder)
            return self.known.get(name)

    def _open(self, folder: Path) -> OpenStudy:
        store, inbox = SessionStore(folder), Inbox(folder / "inbox.sqlite")
        page = server(f"Lakatos: taking part in {folder.name}", guarded=False)
        page.include_router(page_router(store, inbox, preview=False, secure=self.secure))
        return OpenStudy(store, inbox, page)

    def settle(self) -> None:
        """See `OpenStudy.settle`, for every study that is open."""
        for name, study in list(self.known.items()):
            try:
                study.settle()
            except (sqlite3.Error, TraceError) as error:  # passes; the next look settles all
                _log.error("answers to %s are not in the inbox yet: %s", name, error)


class StudyDoors:
    """Leads from ``/NAME/...`` to the study of that name."""

    def __init__(self, shelf: StudyShelf, names: Callable[[], Collection[str]]) -> None:
        """Put doors before the studies of a shelf; ``names`` are those that people can be sent to now."""
        self.shelf, self.names = shelf, names
        self._known: tuple[float, list[str]] = (-NAMES_SECONDS, [])

    def _only(self) -> str:
        """The one study that people can be sent to, where there is one only."""
        if monotonic() - self._known[0] > NAMES_SECONDS:
            self._known = (monotonic(), list(self.names()))
        return self._known[1][0] if len(self._known[1]) == 1 else ""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on to its study, or say that there is none."""
        if scope["type"] != "http":
            return
        root = scope.get("root_path", "")
        path = scope["path"].removeprefix(root)
        name, slash, _ = path.lstrip("/").partition("/")
        query = scope.get("query_string", b"").decode("latin-1")
        if not name:
            name, slash = await run_in_threadpool(self._only), ""
        study = await run_in_threadpool(self.shelf.study, name) if name else None
        if study is None:
            await PlainTextResponse(NOT_HERE, 404)(scope, receive, send)
        elif not slash:
            there = f"{root}/{name}/" + (f"?{query}" if query else "")
            await RedirectResponse(there, 307)(scope, receive, send)
        else:
            inner = {**scope, "root_path": f"{root}/{name}"}
            await study.page(inner, receive, send)


def create_lab(
    find: Callable[[str], Path | None],
    names: Callable[[], Collection[str]],
    *,
    hosts: Collection[str] = (),
    secure: bool = False,
    sweep_seconds: float = SWEEP_SECONDS,
    requests_per_second: float = REQUESTS_PER_SECOND,
) -> FastAPI:
    """The server on which people take part in all studies of a laboratory.

    Args:
        find: The folder of a study that people answer here, by name; None where there is no such study.
        names: The studies that people can be sent to now; where there is one only, ``/study/`` leads to it.
        hosts: Names by which the server may be addressed, beside addresses in numbers and ``localhost``.
        secure: Whether people reach it by https, so that cookies never travel without it.
        sweep_seconds: Seconds between looks for people who stopped.
        requests_per_second: Requests per second of one session in the long run.
    """
    shelf = StudyShelf(find, secure)

    def open_all() -> None:
        for name in names():
            with suppress(TraceError, sqlite3.Error):
                shelf.study(name)  # whoever stopped before a restart is looked for at once

    async def sweep() -> None:
        while True:
            await run_in_threadpool(shelf.settle)
            await asyncio.sleep(sweep_seconds)

    @asynccontextmanager
    async def life(app: FastAPI) -> AsyncIterator[None]:
        await run_in_threadpool(open_all)
        sweeping = asyncio.create_task(sweep())
        yield
        sweeping.cancel()
        await run_in_threadpool(shelf.settle)

    app = server("Lakatos: taking part", hosts, requests_per_second, life)
    app.state.shelf = shelf
    app.mount("/study", StudyDoors(shelf, names))
    add_health(app, lambda: [study.store for study in list(shelf.known.values())])
    return app


@dataclass
class DeskDoors:
    """Leads from ``/NAME/...`` to the researcher's page of the study of that name, and to its preview."""

    find: Callable[[str], Path | None]
    settings: Callable[[Path], DeskSettings]
    token: str
    address: str
    known: dict[str, FastAPI] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def desk(self, name: str) -> FastAPI | None:
        """The researcher's page of a study, if people can be sent to it."""
        folder = self.find(name) if re.fullmatch(STUDY_NAME, name) else None
        if folder is None or not (folder / COLLECTION_FILE).exists():
            return None
        with self._lock:
            if name not in self.known:
                self.known[name] = create_desk(
                    folder,
                    token=self.token,
                    preview_secret=hmac.new(
                        self.token.encode(), name.encode(), "sha256"
                    ).hexdigest(),
                    study=f"{self.address}/study/{name}/",
                    settings=self.settings(folder),
                    guarded=False,
                )
            return self.known[name]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on to its study, or say that there is none."""
        if scope["type"] != "http":
            return
        root = scope.get("root_path", "")
        name = scope["path"].removeprefix(root).lstrip("/").partition("/")[0]
        desk = await run_in_threadpool(self.desk, name)
        if desk is None:
            await PlainTextResponse(NOT_HERE, 404)(scope, receive, send)
        else:
            await desk({**scope, "root_path": f"{root}/{name}"}, receive, send)


def create_lab_desk(
    find: Callable[[str], Path | None],
    settings: Callable[[Path], DeskSettings],
    *,
    token: str,
    address: str,
    requests_per_second: float = REQUESTS_PER_SECOND,
) -> FastAPI:
    """The researcher's pages of all studies on one server, at ``/studies/NAME/researcher/``; one token opens them all.

    Args:
        find: The folder of a study that people answer here, by name; None where there is no such study.
        settings: What a run tells its researcher's page.
        token: Opens the pages.
        address: Under which people reach the server of `create_lab`.
        requests_per_second: Requests per second of one session in the long run.
    """
    app = server("Lakatos: the researcher's pages", (), requests_per_second)
    app.state.doors = DeskDoors(find, settings, token, address)
    app.mount("/studies", app.state.doors)
    return app
