"""The servers of the page: people take part at ``/study/`` of one; preview and researcher's page are another's.

What is opened to participants opens nothing else, since the two have a port each. They read the experiments that a pass
registered and write responses to the collection and the inbox, never the journal. A visitor is known by a cookie
that only the server makes and no script can read; what is answered is a number for the step that is asked now.
"""

import asyncio
import hmac
import logging
import secrets
import sqlite3
from collections.abc import AsyncIterator, Callable, Collection, Iterable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Annotated, Any, Final

from fastapi import APIRouter, Depends, FastAPI, Header, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import HTMLResponse, JSONResponse
from fastapi.staticfiles import StaticFiles
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException

from lakatos.experiments.errors import SourceError
from lakatos.experiments.participants.web.door import (
    HostGuard,
)
from lakatos.experiments.participants.web.guard import (
    REQUESTS_PER_SECOND,
    PageGuard,
    _problem,
)
from lakatos.experiments.participants.web.messages import (
    PROBLEMS,
)
from lakatos.experiments.participants.web.overview import DeskSettings, overview
from lakatos.experiments.participants.web.participant_routes import RefusedError, page_router
from lakatos.experiments.participants.web.plugin_frame import PAGE
from lakatos.experiments.participants.web.session import (
    NotAskedError,
)
from lakatos.experiments.participants.web.store import SessionStore
from lakatos.traces.errors import TraceError
from lakatos.traces.inbox import Inbox

_log = logging.getLogger(__name__)
SWEEP_SECONDS: Final = 5.0


def create_app(
    folder: Path,
    *,
    store: SessionStore | None = None,
    names: Collection[str] = (),
    secure: bool = False,
    sweep_seconds: float = SWEEP_SECONDS,
    requests_per_second: float = REQUESTS_PER_SECOND,
) -> FastAPI:
    """The server on which people take part in one run's experiments.

    Args:
        folder: Of the run; holds ``collection.sqlite`` and ``inbox.sqlite``.
        store: Of the collection, where one is open already.
        names: By which people reach it, beside addresses in numbers and ``localhost``.
        secure: Whether people reach the page by https, so that the cookie never travels without it.
        sweep_seconds: Between looks for people who stopped.
        requests_per_second: Of one session in the long run.
    """
    kept = store or SessionStore(folder)
    inbox = Inbox(Path(folder) / "inbox.sqlite")

    def settle() -> None:
        kept.expire()
        kept.deliver(inbox)

    async def sweep() -> None:
        while True:
            try:
                await run_in_threadpool(settle)
            except (
                sqlite3.Error,
                TraceError,
            ) as error:  # a full disk or a busy file passes; the next look settles all
                _log.error("answers of people who ended are not in the inbox yet: %s", error)
            await asyncio.sleep(sweep_seconds)

    @asynccontextmanager
    async def life(app: FastAPI) -> AsyncIterator[None]:
        sweeping = asyncio.create_task(sweep())
        yield
        sweeping.cancel()
        await run_in_threadpool(settle)

    app = server("Lakatos: taking part", names, requests_per_second, life)
    app.state.store = kept
    app.include_router(
        page_router(kept, inbox, preview=False, secure=secure), prefix="/study", tags=["study"]
    )

    @app.get("/", include_in_schema=False)
    def root() -> Response:
        return Response(status_code=307, headers={"Location": "/study/"})

    add_health(app, lambda: [kept])
    return app


def add_health(app: FastAPI, stores: Callable[[], Iterable[SessionStore]]) -> None:
    """Let a server report at ``/healthz`` whether responses can be stored: status 200, or 503 if they cannot.

    What is wrong goes to the log only, because everybody can open the address.
    """

    @app.get("/healthz", include_in_schema=False)
    def health() -> JSONResponse:
        try:
            for store in stores():
                store.check()
        except SourceError as error:
            _log.error("not healthy: %s", error)
            return JSONResponse({"status": "failing"}, 503, {"Cache-Control": "no-store"})
        return JSONResponse({"status": "ok"}, headers={"Cache-Control": "no-store"})


def create_desk(
    folder: Path,
    *,
    store: SessionStore | None = None,
    names: Collection[str] = (),
    token: str = "",
    study: str = "/study/",
    settings: DeskSettings | None = None,
    preview_secret: str = "",
    guarded: bool = True,
    requests_per_second: float = REQUESTS_PER_SECOND,
) -> FastAPI:
    """The researcher's server: how far collection is, and a preview of the page in which nothing counts.

    Args:
        folder: Of the run.
        store: Of the collection, where one is open already.
        names: By which it is reached, beside addresses in numbers and ``localhost``.
        token: Opens the researcher's page; a new one by default. ``app.state.token`` has it, and
            ``app.state.preview_key`` the part of the preview's address that only who knows it can find.
        study: Address at which people take part.
        settings: What the page is told beside what the collection keeps.
        preview_secret: Makes the part of the preview's address that cannot be guessed; the token by default.
        guarded: Whether it stands alone, not behind a server with guards.
        requests_per_second: Of one session in the long run.
    """
    kept = store or SessionStore(folder)
    secret = token or secrets.token_urlsafe(32)
    seed = (preview_secret or secret).encode()
    preview_key = hmac.new(seed, b"preview", "sha256").hexdigest()[:32]
    app = server("Lakatos: the researcher's page", names, requests_per_second, guarded=guarded)
    app.state.token, app.state.preview_key, app.state.store = secret, preview_key, kept
    preview = page_router(kept, Inbox(Path(folder) / "inbox.sqlite"), preview=True, secure=False)
    app.include_router(preview, prefix=f"/preview/{preview_key}", include_in_schema=False)
    app.include_router(
        _researcher(kept, secret, preview_key, study, settings or DeskSettings()),
        prefix="/researcher",
        tags=["researcher"],
    )
    return app


def server(
    title: str,
    names: Collection[str] = (),
    requests_per_second: float = REQUESTS_PER_SECOND,
    life: Callable[[FastAPI], AbstractAsyncContextManager[None]] | None = None,
    *,
    guarded: bool = True,
) -> FastAPI:
    """A server with the page's files, its guards and its words for what goes wrong.

    One that stands behind another such server is not ``guarded`` again, and has no files of its own.
    """
    app = FastAPI(title=title, openapi_url=None, docs_url=None, redoc_url=None, lifespan=life)
    if guarded:
        app.add_middleware(HostGuard, names=names)
        app.add_middleware(PageGuard, requests_per_second=requests_per_second)
        app.mount("/page", StaticFiles(directory=PAGE), name="page")

    @app.exception_handler(RefusedError)
    def refused(_: Request, error: RefusedError) -> JSONResponse:
        headers = {"WWW-Authenticate": "Bearer"} if error.error == "token" else {}
        return _problem(error.status, error.error, error.detail, headers)

    @app.exception_handler(NotAskedError)
    def not_asked(_: Request, error: NotAskedError) -> JSONResponse:
        return _problem(409, "not_asked", str(error))

    @app.exception_handler(RequestValidationError)
    def malformed(_: Request, error: RequestValidationError) -> JSONResponse:
        first = error.errors()[0]  # its input is left out: it may hold anything
        where = ".".join(
            str(part) for part in first["loc"] if isinstance(part, int) or part.isidentifier()
        )
        kind = 400 if first["type"] == "json_invalid" else 422
        return _problem(kind, "form", f"{where}: {first['type']}")

    @app.exception_handler(sqlite3.Error)
    @app.exception_handler(OSError)
    @app.exception_handler(TraceError)
    def not_stored(request: Request, error: Exception) -> JSONResponse:
        _log.error("%s was not answered: %s", request.url.path, error)
        return _problem(
            503, "storage", "nothing can be stored now; the same request may come again."
        )

    @app.exception_handler(HTTPException)
    def http(_: Request, error: HTTPException) -> JSONResponse:
        return _problem(error.status_code, "http", str(error.detail), dict(error.headers or {}))

    return app


def _researcher(
    store: SessionStore, token: str, preview_key: str, study: str, settings: DeskSettings
) -> APIRouter:
    """What only the researcher may ask."""
    routes = APIRouter(responses=PROBLEMS)

    def researcher(authorization: Annotated[str, Header()] = "") -> None:
        given = authorization.removeprefix("Bearer ").encode("utf-8", "replace")
        if not hmac.compare_digest(given, token.encode()):
            raise RefusedError(
                401, "token", "the researcher's token is printed where the server was started."
            )

    @routes.get("/", response_class=HTMLResponse, include_in_schema=False)
    def page() -> HTMLResponse:
        return HTMLResponse((PAGE / "researcher.html").read_text(encoding="utf-8"))

    @routes.get("/api/status", dependencies=[Depends(researcher)], response_model=dict[str, Any])
    def status() -> dict[str, Any]:
        """How far each experiment is, and the address of the preview."""
        made, used = store.invitations()
        invited = {"made": made, "used": used}
        return {
            "experiments": overview(store, settings),
            "pay": dict(settings.pay()),
            "invitations": invited,
            "preview": f"/preview/{preview_key}/",
            "study": study,
        }

    return routes
