"""The servers of the page: people take part at ``/study/`` of one; preview and researcher's page are another's.

What is opened to participants opens nothing else, since the two have a port each. They read the experiments that a pass
registered and write answers to the collection and the inbox, never the journal. Who somebody is stands in a cookie
that only the server makes and no script can read; what is answered is a number for the step that is asked now.
"""

import asyncio
import hmac
import json
import logging
import re
import secrets
import sqlite3
from collections.abc import AsyncIterator, Callable, Collection
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from html import escape
from pathlib import Path
from typing import Annotated, Any, Final

from fastapi import APIRouter, Cookie, Depends, FastAPI, Header, Query, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import HTMLResponse, JSONResponse
from fastapi.staticfiles import StaticFiles
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException

from lakatos.experiments.participants.web.address_book import (
    COOKIE,
    TOKEN,
    AddressBook,
    cookie_of,
    is_made_here,
    make_token,
    visitor_of,
)
from lakatos.experiments.participants.web.door import (
    HostGuard,
)
from lakatos.experiments.participants.web.guard import (
    REQUESTS_PER_SECOND,
    VISITOR,
    PageGuard,
    _problem,
)
from lakatos.experiments.participants.web.messages import (
    IDENTIFIER,
    PROBLEMS,
    AnswerReply,
    AnswerRequest,
    BrowserFacts,
    ComprehensionRequest,
    ConsentRequest,
    DeclineRequest,
    NextRequest,
    OnsetReply,
    OnsetRequest,
    ProlificParameters,
    ReplyRequest,
    StateReply,
    StopRequest,
)
from lakatos.experiments.participants.web.overview import DeskSettings, overview
from lakatos.experiments.participants.web.questions import replies_to
from lakatos.experiments.participants.web.session import (
    ACTIVE,
    INVITATION,
    NoPlaceError,
    NotAskedError,
    OtherExperimentError,
    PageSession,
    ServiceIdentifiers,
    StepTimes,
)
from lakatos.experiments.participants.web.store import SessionStore
from lakatos.experiments.participants.web.study import PageExperiment
from lakatos.experiments.participants.web.texts import consent_digest
from lakatos.experiments.participants.web.view import (
    answer_words,
    consent_of,
    ending,
    feedback_words,
    language_of,
    passes,
    public_texts,
    session_texts,
    state_of,
)
from lakatos.experiments.participants.web.visit import visit_facts
from lakatos.traces.errors import TraceError
from lakatos.traces.inbox import Inbox

_log = logging.getLogger(__name__)
PAGE: Final = Path(__file__).parent / "page"
SWEEP_SECONDS: Final = 5.0
COOKIE_SECONDS: Final = 60 * 60 * 24 * 30


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

    app = server("Lakatos: taking part", names, requests_per_second, life)
    app.state.store = kept
    app.include_router(
        page_router(kept, inbox, preview=False, secure=secure), prefix="/study", tags=["study"]
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

    @app.exception_handler(HTTPException)
    def http(_: Request, error: HTTPException) -> JSONResponse:
        return _problem(error.status_code, "http", str(error.detail), dict(error.headers or {}))

    return app


def page_router(store: SessionStore, inbox: Inbox, *, preview: bool, secure: bool) -> APIRouter:
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

    async def arrived_now() -> float:
        """When a request came, before anything waits for the store; must stand first among a route's arguments."""
        return store.clock()

    Arrived = Annotated[float, Depends(arrived_now)]  # noqa: N806 - an annotation

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
        more = {"next": True} if not preview and next_of(session) else {}
        return StateReply(**state_of(session), **more)

    def state_now(session: PageSession) -> StateReply:
        """With the time since the task began, from which a browser that begins or reloads counts on."""
        found = state_in(session)
        return found.model_copy(update={"elapsed_ms": round(session.elapsed_ms)})

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
        if session is None:
            return public_texts(store.current(), language)
        return public_texts(session.experiment, language, session.condition)

    @routes.get("/api/state")
    def state(
        token: Token,
        visitor: Visitor,
        language: Annotated[str, Query(pattern=r"^[A-Za-z0-9-]{2,20}$")] = "en",
    ) -> StateReply:
        """Say where this person is in the study, so that the browser can go on there."""
        session = store.session(token)
        if session is not None and session.preview == preview:
            return state_now(session)
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
        try:
            ticked = replies_to(experiment.settings.questions, "consent", body.ticks)
        except ValueError as error:
            raise RefusedError(409, "consent", f"{error}.") from None
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
                visit=_visit(request, body.browser, experiment.settings.record),
                ticked=ticked,
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
        passed = passes(session.experiment, session.language, body.answers, session.condition)
        after = store.comprehension(session, body.attempt, passed)
        if after.status == "screened_out":
            store.deliver(inbox)
        return state_now(after)

    @routes.post("/api/answers")
    def answers(arrived: Arrived, session: Known, body: AnswerRequest) -> AnswerReply:
        """Answer the step that is asked now; it is saved when this returns."""
        times = StepTimes(body.onset_ms, body.focus_losses, body.away_ms)
        saved, feedback, after = store.answer(
            session, body.position, body.response, body.response_time_ms, times, arrived
        )
        if after.status == "completed" and saved:
            store.deliver(inbox)
        words = [
            feedback_words(after.experiment, session_texts(after), feedback),
            answer_words(after, body.position, body.response),
        ]
        said = " ".join(filter(None, words))
        return AnswerReply(saved=saved, feedback=said, state=state_in(after))

    @routes.post("/api/onset")
    def onset(arrived: Arrived, session: Known, body: OnsetRequest) -> OnsetReply:
        """Say that a target has just appeared, so that the server's clock can time the answer, too."""
        return OnsetReply(noted=store.report_onset(session, body.position, arrived))

    @routes.post("/api/replies")
    def replies(session: Known, body: ReplyRequest) -> StateReply:
        """Answer the questions about the person that are asked now; they are saved when this returns."""
        after = store.reply(session, body.block, body.answers)
        if after.status == "completed":
            store.deliver(inbox)
        return state_now(after)

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


def identifiers_of(
    who: ProlificParameters | None, invitation: str | None = None
) -> ServiceIdentifiers | None:
    """What the page was told of a person by Prolific, or by the link of an invitation."""
    if who is not None:
        return ServiceIdentifiers("prolific", who.participant, who.study, who.submission)
    return ServiceIdentifiers(INVITATION, invitation) if invitation else None


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


def _visit(
    request: Request, browser: BrowserFacts | None, record: Collection[str]
) -> dict[str, int | str]:
    """What is noted of a visit, which is only what the study says, and people were told."""
    told = {} if browser is None else browser.model_dump()
    return visit_facts(request.headers.get("user-agent", "")[:500], told, record)


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


def openapi_of(app: FastAPI) -> dict[str, Any]:
    """The description of the interface, for tests and clients; the server itself does not hand it out."""
    described: dict[str, Any] = json.loads(json.dumps(app.openapi()))
    return described
