"""The servers of the page: people take part at ``/study/`` of one; preview and researcher's page are another's.

What is opened to participants opens nothing else, since the two have a port each. They read the experiments that a pass
registered and write answers to the collection and the inbox, never the journal. Who somebody is stands in a cookie
that only the server makes and no script can read; what is answered is a number for the step that is asked now.
"""

import asyncio
import hashlib
import hmac
import ipaddress
import json
import logging
import re
import secrets
import sqlite3
import threading
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable, Collection, MutableMapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from html import escape
from pathlib import Path
from time import monotonic
from typing import Annotated, Any, Final, Literal

from fastapi import APIRouter, Cookie, Depends, FastAPI, Header, Query, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import HTMLResponse, JSONResponse
from fastapi.staticfiles import StaticFiles
from pydantic import BaseModel, ConfigDict, Field
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException

from lakatos.experiments.participants.web.door import (
    ANSWER_SECONDS,
    REQUEST_SECONDS,
    HostGuard,
    Receive,
    Scope,
    Send,
    headers_of,
)
from lakatos.experiments.participants.web.store import (
    ACTIVE,
    INVITATION,
    NoPlaceError,
    NotAskedError,
    OtherExperimentError,
    PageSession,
    ServiceIdentifiers,
    SessionStore,
)
from lakatos.experiments.participants.web.study import PageExperiment
from lakatos.experiments.participants.web.texts import consent_digest
from lakatos.experiments.participants.web.view import (
    consent_of,
    ending,
    feedback_words,
    language_of,
    passes,
    public_texts,
    state_of,
    texts_of,
)
from lakatos.traces.errors import TraceError
from lakatos.traces.inbox import Inbox

_log = logging.getLogger(__name__)
PAGE: Final = Path(__file__).parent / "page"
LARGEST_BODY: Final = 8192
"""Bytes; an answer has about a hundred."""
REQUESTS_PER_SECOND: Final = 10.0
REQUESTS_AT_ONCE: Final = 60.0
"""Of one session."""
ADDRESS_PER_SECOND: Final = 300.0
"""Requests from one address, behind which a whole class may sit."""
HOUR_SECONDS: Final = 3600.0
MOST_ADDRESSES: Final = 100_000
SWEEP_SECONDS: Final = 5.0
COOKIE: Final = "lakatos"
VISITOR: Final = "Lakatos-Visitor"
"""Header by which a tab says whom a recruitment service sent to it, so that two people in one browser stay apart."""
COOKIE_SECONDS: Final = 60 * 60 * 24 * 30
TOKEN: Final = r"^[A-Za-z0-9_-]{43}$"
HEADERS: Final = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; "
    "style-src-attr 'unsafe-inline'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
}
"""On every response. Drawings of trials carry style attributes; no other inline style and no inline script runs."""


class _RequestBody(BaseModel):
    model_config = ConfigDict(extra="forbid", allow_inf_nan=False, strict=True)


IDENTIFIER: Final = r"^[A-Za-z0-9_-]{1,64}$"
Identifier = Annotated[str, Field(pattern=IDENTIFIER)]


class ProlificParameters(_RequestBody):
    """The three parameters of the address under which Prolific sends people."""

    participant: Identifier
    study: Identifier
    submission: Identifier


Language = Annotated[str, Field(pattern=r"^[A-Za-z0-9-]{2,20}$")]


class DeclineRequest(_RequestBody):
    """The browser says that somebody does not agree to take part."""

    language: Language
    prolific: ProlificParameters | None = None
    invitation: Identifier | None = None


class ConsentRequest(_RequestBody):
    """Somebody agrees to take part."""

    consent: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
    """Digest of the text that was shown."""
    language: Language
    prolific: ProlificParameters | None = None
    invitation: Identifier | None = None
    """What the link of an invitation holds."""


class ComprehensionRequest(_RequestBody):
    """Answers to the questions on the instructions."""

    attempt: Annotated[int, Field(ge=0, le=1000)]
    """Attempts before this one, so that one sent twice counts once."""
    answers: Annotated[list[Annotated[int, Field(ge=0, le=100)]], Field(max_length=100)]


class AnswerRequest(_RequestBody):
    """The answer to one step."""

    position: Annotated[int, Field(ge=0, le=1_000_000)]
    """Of the step; also the key by which an answer that is sent twice is known."""
    response: Annotated[int, Field(ge=0, le=1000)]
    response_time_ms: Annotated[float, Field(ge=0, le=1e9, strict=False)]


class ReplyRequest(_RequestBody):
    """Answers to the questions about the person, before or after the task."""

    block: Literal["before", "after"]
    answers: Annotated[
        dict[Annotated[str, Field(max_length=40)], int | float | str | list[int] | None],
        Field(max_length=100),
    ]
    """By the names of the questions."""


class StopRequest(_RequestBody):
    """The browser says that somebody stops before the end."""

    keep: bool
    """Whether the answers so far may be used."""


class NextRequest(_RequestBody):
    """Somebody goes on to another experiment."""

    language: Language


class ProblemReply(BaseModel):
    """Why a request was refused."""

    error: str
    """A word for programs."""
    detail: str = ""


class StateReply(BaseModel):
    """Where a person is; see `experiments.participants.web.view.state_of`."""

    model_config = ConfigDict(extra="allow")

    phase: str


class AnswerReply(BaseModel):
    """What came of an answer."""

    saved: bool
    """False where the step had an answer already, which stands."""
    feedback: str
    state: StateReply


PROBLEMS: Final[dict[int | str, dict[str, Any]]] = {
    status: {"model": ProblemReply, "description": words}
    for status, words in {
        400: "No JSON.",
        401: "No session, or no right.",
        403: "Another site asks.",
        404: "Nothing here.",
        408: "Too slow.",
        409: "Not asked now.",
        413: "Too large.",
        415: "Not JSON.",
        422: "Not of the form.",
        429: "Too fast.",
    }.items()
}


class RefusedError(Exception):
    """A request that is answered with a `ProblemReply`."""

    def __init__(self, status: int, error: str, detail: str = "") -> None:
        super().__init__(error)
        self.status, self.error, self.detail = status, error, detail


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

    app = _server("Lakatos: taking part", names, requests_per_second, life)
    app.state.store = kept
    app.include_router(
        _page(kept, inbox, preview=False, secure=secure), prefix="/study", tags=["study"]
    )

    @app.get("/", include_in_schema=False)
    def root() -> Response:
        return Response(status_code=307, headers={"Location": "/study/"})

    return app


def create_desk(
    folder: Path,
    *,
    store: SessionStore | None = None,
    names: Collection[str] = (),
    token: str = "",
    study: str = "/study/",
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
        requests_per_second: Of one session in the long run.
    """
    kept = store or SessionStore(folder)
    secret = token or secrets.token_urlsafe(32)
    preview_key = hmac.new(secret.encode(), b"preview", "sha256").hexdigest()[:32]
    app = _server("Lakatos: the researcher's page", names, requests_per_second)
    app.state.token, app.state.preview_key, app.state.store = secret, preview_key, kept
    preview = _page(kept, Inbox(Path(folder) / "inbox.sqlite"), preview=True, secure=False)
    app.include_router(preview, prefix=f"/preview/{preview_key}", include_in_schema=False)
    app.include_router(
        _researcher(kept, secret, preview_key, study), prefix="/researcher", tags=["researcher"]
    )
    return app


def _server(
    title: str,
    names: Collection[str],
    requests_per_second: float,
    life: Callable[[FastAPI], AbstractAsyncContextManager[None]] | None = None,
) -> FastAPI:
    """A server with the page's files, its guards and its words for what goes wrong."""
    app = FastAPI(title=title, openapi_url=None, docs_url=None, redoc_url=None, lifespan=life)
    app.add_middleware(HostGuard, names=names)
    app.add_middleware(_PageGuard, requests_per_second=requests_per_second)
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

    @app.exception_handler(HTTPException)
    def http(_: Request, error: HTTPException) -> JSONResponse:
        return _problem(error.status_code, "http", str(error.detail), dict(error.headers or {}))

    return app


def _problem(
    status: int, error: str, detail: str = "", headers: dict[str, str] | None = None
) -> JSONResponse:
    return JSONResponse({"error": error, "detail": detail}, status_code=status, headers=headers)


def _page(store: SessionStore, inbox: Inbox, *, preview: bool, secure: bool) -> APIRouter:
    """Everything that a participant's browser asks for."""
    routes = APIRouter(responses=PROBLEMS)

    def visitor_in(
        visitor: Annotated[str, Header(alias=VISITOR, pattern=r"^([0-9a-f]{16})?$")] = "",
    ) -> str:
        return visitor

    Visitor = Annotated[str, Depends(visitor_in)]  # noqa: N806 - an annotation

    def is_ours(token: str) -> bool:
        """Whether the server made a token: no other one is taken, or somebody could plant it in another's browser."""
        known = bool(re.fullmatch(TOKEN, token))
        return known and (is_made_here(store.key, token) or store.session(token) is not None)

    addresses = AddressBook()

    def cookie_in(
        request: Request, visitor: Visitor, lakatos: Annotated[str, Cookie(alias=COOKIE)] = ""
    ) -> str:
        return request.cookies.get(cookie_of(visitor), "") if visitor else lakatos

    Given = Annotated[str, Depends(cookie_in)]  # noqa: N806 - an annotation

    def token_of(given: Given) -> str:
        if not is_ours(given):
            raise RefusedError(
                401, "cookie", "open the page first; it sets the cookie that this needs."
            )
        return given

    Token = Annotated[str, Depends(token_of)]  # noqa: N806 - an annotation

    def session_of(token: Token) -> PageSession:
        session = store.session(token)
        if session is None or session.preview != preview:
            raise RefusedError(401, "session", "agree to take part first.")
        return session

    Known = Annotated[PageSession, Depends(session_of)]  # noqa: N806 - an annotation

    def outside(language: str, reason: str) -> dict[str, Any]:
        return {"language": language, "preview": preview, "steps": [], **ending(reason)}

    def next_of(session: PageSession) -> PageExperiment | None:
        """The experiment to which somebody who has ended is admitted, if there is one."""
        found = (
            None
            if session.status == ACTIVE or session.source != "web"
            else store.current(free=True)
        )
        earlier = found is not None and not store.took_part(session.person, found)
        return found if earlier and found and found.settings.returning == "admit" else None

    def state_in(session: PageSession) -> StateReply:
        return StateReply(
            **state_of(session), **({"next": True} if not preview and next_of(session) else {})
        )

    @routes.get("/", response_class=HTMLResponse, include_in_schema=False)
    def page(request: Request) -> Response:
        visitor = visitor_of(None if preview else _identifiers(request))
        given = request.cookies.get(cookie_of(visitor), "")
        token = given if is_ours(given) else make_token(store.key)
        session = store.session(token)
        experiment = session.experiment if session else store.current()
        language = (
            session.language if session else language_of(experiment, _asked(request, experiment))
        )
        response = HTMLResponse(
            _shell(language, visitor, public_texts(experiment, language)["page"])
        )
        response.set_cookie(
            cookie_of(visitor),
            token,
            max_age=COOKIE_SECONDS,
            path=request.url.path,
            secure=secure,
            httponly=True,
            samesite="lax",
        )
        return response

    @routes.get("/api/texts", response_model=dict[str, Any])
    def texts(
        given: Given,
        language: Annotated[str, Query(pattern=r"^[A-Za-z0-9-]{2,20}$")] = "en",
    ) -> dict[str, Any]:
        """What is read on the page, in the language wanted if there is such a one."""
        session = store.session(given)
        return public_texts(session.experiment if session else store.current(), language)

    @routes.get("/api/state")
    def state(
        token: Token,
        visitor: Visitor,
        language: Annotated[str, Query(pattern=r"^[A-Za-z0-9-]{2,20}$")] = "en",
    ) -> StateReply:
        """Say where this person is in the study, so that the browser can go on there."""
        session = store.session(token)
        if session is not None and session.preview == preview:
            return state_in(session)
        experiment = store.current()
        if experiment is None:
            return StateReply(**outside(language_of(None, language), "closed"))
        if experiment.settings.access == "invited" and not visitor and not preview:
            return StateReply(**outside(language_of(experiment, language), "uninvited"))
        return StateReply(
            phase="consent", language=language_of(experiment, language), preview=preview, steps=[]
        )

    @routes.post("/api/consent")
    def consent(
        request: Request, token: Token, visitor: Visitor, body: ConsentRequest
    ) -> StateReply:
        """Begin, or go on where this person was."""
        identifiers = identifiers_of(body.prolific, body.invitation)
        if not preview and visitor_of(identifiers) != visitor:
            raise RefusedError(
                409, "visitor", "this tab is another person's; open the page by its own address."
            )
        session = store.session(token)
        experiment = session.experiment if session else store.current()
        if experiment is None:
            return StateReply(**outside(language_of(None, body.language), "closed"))
        language = language_of(experiment, body.language)
        if body.consent != consent_digest(consent_of(experiment, language)):
            raise RefusedError(
                409, "consent", "the text was changed in the meantime; read it again."
            )
        address = request.client.host if request.client else ""
        limited = session is None and not preview and experiment.settings.access == "open"
        if limited and not addresses.admit(address, experiment.settings.hourly_from_address):
            return StateReply(**outside(language, "crowded"))
        try:
            joined = store.join(
                token,
                consent=body.consent,
                language=language,
                identifiers=identifiers,
                preview=preview,
                experiment=experiment.key,
            )
        except NoPlaceError as error:
            return StateReply(**outside(language, error.reason))
        except OtherExperimentError:
            raise RefusedError(
                409, "consent", "the last place was taken in the meantime; read the next text."
            ) from None
        return state_in(joined)

    @routes.post("/api/decline")
    def decline(body: DeclineRequest) -> StateReply:
        """Do not agree; nothing is stored. The answer may hold a code for the service that sent this person."""
        who = identifiers_of(body.prolific)
        service = None if who is None or preview else store.service(who.service, who.study)
        language = language_of(store.current(), body.language)
        told = service.ending("declined") if service else ("", "")
        return StateReply(**outside(language, "declined") | ending("declined", *told))

    @routes.post("/api/comprehension")
    def comprehension(session: Known, body: ComprehensionRequest) -> StateReply:
        """Answer the questions on the instructions."""
        passed = passes(session.experiment, session.language, body.answers)
        after = store.comprehension(session, body.attempt, passed)
        if after.status == "screened_out":
            store.deliver(inbox)
        return state_in(after)

    @routes.post("/api/answers")
    def answers(session: Known, body: AnswerRequest) -> AnswerReply:
        """Answer the step that is asked now; it is saved when this returns."""
        saved, feedback, after = store.answer(
            session, body.position, body.response, body.response_time_ms
        )
        if after.status == "completed" and saved:
            store.deliver(inbox)
        words = feedback_words(
            after.experiment, texts_of(after.experiment, after.language), feedback
        )
        return AnswerReply(saved=saved, feedback=words, state=state_in(after))

    @routes.post("/api/replies")
    def replies(session: Known, body: ReplyRequest) -> StateReply:
        """Answer the questions about the person that are asked now; they are saved when this returns."""
        after = store.reply(session, body.block, body.answers)
        if after.status == "completed":
            store.deliver(inbox)
        return state_in(after)

    @routes.post("/api/stop")
    def stop(session: Known, body: StopRequest) -> StateReply:
        """End this person's session, and keep or drop the answers as the person wishes."""
        after = store.stop(session, keep=body.keep)
        store.deliver(inbox)
        return state_in(after)

    @routes.post("/api/next")
    def go_on(session: Known, token: Token, body: NextRequest) -> StateReply:
        """Go on to another experiment that is open to people who took part before."""
        experiment = next_of(session)
        if experiment is None:
            raise RefusedError(
                409, "next", "no other experiment is open to people who took part before."
            )
        store.forget_token(token)
        language = language_of(experiment, body.language)
        return StateReply(phase="consent", language=language, preview=preview, steps=[])

    if preview:

        @routes.post("/api/again")
        def again(session: Known, token: Token) -> StateReply:
            """Forget the preview's session, so that the preview begins anew."""
            store.forget_token(token)
            return StateReply(phase="consent", language=session.language, preview=True, steps=[])

    return routes


def _researcher(store: SessionStore, token: str, preview_key: str, study: str) -> APIRouter:
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
            "experiments": store.status(),
            "invitations": invited,
            "preview": f"/preview/{preview_key}/",
            "study": study,
        }

    return routes


def identifiers_of(
    who: ProlificParameters | None, invitation: str | None = None
) -> ServiceIdentifiers | None:
    """What the page was told of a person by Prolific, or by the link of an invitation."""
    if who is not None:
        return ServiceIdentifiers("prolific", who.participant, who.study, who.submission)
    return ServiceIdentifiers(INVITATION, invitation) if invitation else None


def make_token(key: bytes, chosen: bytes = b"") -> str:
    """What a browser holds to be known again: 16 random bytes, and a seal by which the server knows its own.

    Args:
        key: Of the run's collection, which nobody else has.
        chosen: The 16 bytes, where they are not to be random.
    """
    chosen = chosen or secrets.token_bytes(16)
    return urlsafe_b64encode(chosen + _seal(key, chosen)).rstrip(b"=").decode()


def is_made_here(key: bytes, token: str) -> bool:
    """Whether a token of the right form carries the server's seal."""
    held = urlsafe_b64decode(f"{token}=")
    return hmac.compare_digest(held[16:], _seal(key, held[:16]))


def _seal(key: bytes, chosen: bytes) -> bytes:
    return hmac.new(key, b"cookie" + chosen, "sha256").digest()[:16]


class AddressBook:
    """When people began lately, by internet address; in memory alone, and forgotten after an hour."""

    def __init__(self) -> None:
        self._begun: OrderedDict[str, list[float]] = OrderedDict()
        self._salt, self._lock = secrets.token_bytes(16), threading.Lock()

    def admit(self, address: str, most: int) -> bool:
        """Whether one more may begin from an address, who then counts; ``most`` in an hour, 0 for any number."""
        with self._lock:
            name, now = self._name(address), monotonic()
            lately = [time for time in self._begun.pop(name, []) if now - time < HOUR_SECONDS]
            admitted = not most or len(lately) < most
            self._begun[name] = [*lately, now] if admitted else lately
            while len(self._begun) > MOST_ADDRESSES:
                self._begun.popitem(last=False)
            return admitted

    def _name(self, address: str) -> str:
        """An address that cannot be read back; of the sixth version, a household's whole network."""
        try:
            number = ipaddress.ip_address(address)
        except ValueError:
            network = address
        else:
            wide = number.version == 6
            network = str(ipaddress.ip_network(f"{address}/64", strict=False)) if wide else address
        return hmac.new(self._salt, network.encode(), "sha256").hexdigest()


def visitor_of(who: ServiceIdentifiers | None) -> str:
    """Name of a tab's person within one browser: of whom a recruitment service sent; empty for whoever just came."""
    if who is None:
        return ""
    return hashlib.sha256(
        " ".join([who.service, who.participant, who.study, who.submission]).encode()
    ).hexdigest()[:16]


def cookie_of(visitor: str) -> str:
    """Name of a person's cookie; each person whom a service sent has one of their own."""
    return f"{COOKIE}_{visitor}" if visitor else COOKIE


def _identifiers(request: Request) -> ServiceIdentifiers | None:
    """Whom Prolific says it sends, or whom we invited, if the address says so as it should."""
    given = [
        request.query_params.get(name, "") for name in ("PROLIFIC_PID", "STUDY_ID", "SESSION_ID")
    ]
    if all(re.fullmatch(IDENTIFIER, value) for value in given):
        return ServiceIdentifiers("prolific", *given)
    invitation = request.query_params.get(INVITATION, "")
    return (
        ServiceIdentifiers(INVITATION, invitation) if re.fullmatch(IDENTIFIER, invitation) else None
    )


def _asked(request: Request, experiment: Any) -> str:
    """The language that the address or the browser asks for, first what there is."""
    wanted = [request.query_params.get("language", "")]
    for part in request.headers.get("accept-language", "")[:200].split(","):
        name = part.split(";")[0].strip()
        wanted += [name, name.split("-")[0]]
    return next((name for name in wanted if name and language_of(experiment, name) == name), "")


def _shell(language: str, visitor: str, words: dict[str, str]) -> str:
    """The page before its script has run."""
    place = {
        "language": language,
        "visitor": visitor,
        **{name: words[name] for name in ("title", "loading", "script")},
    }
    text = (PAGE / "index.html").read_text(encoding="utf-8")
    for name, value in place.items():
        text = text.replace(f"{{{{{name}}}}}", escape(value))
    return text


class _PageGuard:
    """Headers on every response, limits on every request: size, speed, and who asks."""

    def __init__(self, app: Any, requests_per_second: float) -> None:
        self.app, self.rate = app, requests_per_second
        self.buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        headers = headers_of(scope)

        async def sending(message: MutableMapping[str, Any]) -> None:
            if message["type"] == "http.response.start":
                fixed = "no-cache" if scope["path"].startswith("/page/") else "no-store"
                extra = {**HEADERS, "Cache-Control": fixed}
                message["headers"] = [
                    *message.get("headers", []),
                    *((name.lower().encode(), value.encode()) for name, value in extra.items()),
                ]
            await send(message)

        problem = self._problem(scope, headers)
        if problem is not None:
            await problem(scope, receive, sending)
            return
        with suppress(TimeoutError):  # the connection ends with an answer that nobody took
            async with asyncio.timeout(ANSWER_SECONDS):
                await self._answer(scope, receive, sending)

    async def _answer(self, scope: Scope, receive: Receive, sending: Send) -> None:
        if scope["method"] in ("GET", "HEAD"):
            await self.app(scope, receive, sending)
            return
        try:
            body = await asyncio.wait_for(_read(receive), REQUEST_SECONDS)
        except TimeoutError:
            await _problem(408, "slow", "the request did not arrive.", {"Connection": "close"})(
                scope, receive, sending
            )
            return
        if body is None:
            await _problem(413, "size", f"at most {LARGEST_BODY} bytes.")(scope, receive, sending)
            return
        sent = False

        async def again() -> MutableMapping[str, Any]:
            nonlocal sent
            if sent:
                return await receive()
            sent = True
            return {"type": "http.request", "body": body, "more_body": False}

        await self.app(scope, again, sending)

    def _problem(self, scope: Scope, headers: dict[str, str]) -> JSONResponse | None:
        length = headers.get("content-length", "0")
        if length.isdecimal() and int(length) > LARGEST_BODY:
            return _problem(413, "size", f"at most {LARGEST_BODY} bytes.")
        if scope["method"] == "POST":
            if headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none"):
                return _problem(403, "site", "only this page itself may ask.")
            if headers.get("content-type", "").split(";")[0].strip().lower() != "application/json":
                return _problem(415, "type", "send application/json.")
        name = re.escape(cookie_of(headers.get(VISITOR.lower(), "")))
        cookie = re.search(rf"(?:^|;\s*){name}=([^;]+)", headers.get("cookie", ""))
        client = (scope.get("client") or ("",))[0]
        buckets = [(f"address {client}", ADDRESS_PER_SECOND)]
        if cookie:
            buckets.append((f"cookie {cookie[1][:64]}", self.rate))
        if not scope["path"].startswith("/page/") and not all(
            self._allowed(who, rate) for who, rate in buckets
        ):
            return _problem(429, "speed", "too many requests at once.", {"Retry-After": "1"})
        return None

    def _allowed(self, who: str, rate: float) -> bool:
        """One token less in the bucket of ``who``, if there is one."""
        now = monotonic()
        most = rate * REQUESTS_AT_ONCE / REQUESTS_PER_SECOND
        left, before = self.buckets.pop(who, (most, now))
        left = min(most, left + rate * (now - before))
        self.buckets[who] = (left - 1 if left >= 1 else left, now)
        while len(self.buckets) > 10_000:
            self.buckets.popitem(last=False)
        return left >= 1


async def _read(receive: Receive) -> bytes | None:
    """The body, or None if it is larger than allowed."""
    body: bytes = b""
    while True:
        message = await receive()
        if message["type"] != "http.request":
            return body
        body += bytes(message.get("body", b""))
        if len(body) > LARGEST_BODY:
            return None
        if not message.get("more_body", False):
            return body


def openapi_of(app: FastAPI) -> dict[str, Any]:
    """The description of the interface, for tests and clients; the server itself does not hand it out."""
    described: dict[str, Any] = json.loads(json.dumps(app.openapi()))
    return described
