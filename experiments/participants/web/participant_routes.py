"""What a participant's browser asks for: the page, agreeing to take part, answering, and leaving."""

import re
from collections.abc import Collection
from html import escape
from typing import Annotated, Any, Final

from fastapi import APIRouter, Cookie, Depends, Header, Path, Query, Request, Response
from fastapi.responses import HTMLResponse

from lakatos.experiments.participants.answers import pseudonym
from lakatos.experiments.participants.web.address_book import (
    COOKIE,
    TOKEN,
    AddressBook,
    cookie_of,
    is_made_here,
    make_token,
    visitor_of,
)
from lakatos.experiments.participants.web.guard import (
    VISITOR,
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
from lakatos.experiments.participants.web.plugin_frame import PAGE, plugin_frame
from lakatos.experiments.participants.web.questions import replies_to
from lakatos.experiments.participants.web.session import (
    ACTIVE,
    INVITATION,
    NoPlaceError,
    OtherExperimentError,
    PageSession,
    ServiceIdentifiers,
    StepRecord,
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
from lakatos.traces.inbox import Inbox

COOKIE_SECONDS: Final = 60 * 60 * 24 * 30
FileDigest = Annotated[str, Path(pattern=r"^[0-9a-f]{64}$")]
LanguageName = Annotated[str, Query(pattern=r"^[A-Za-z0-9-]{2,20}$")]


class RefusedError(Exception):
    """A request that is answered with a `ProblemReply`."""

    def __init__(self, status: int, error: str, detail: str = "") -> None:
        super().__init__(error)
        self.status, self.error, self.detail = status, error, detail


def visitor_in(
    visitor: Annotated[str, Header(alias=VISITOR, pattern=r"^([0-9a-f]{16})?$")] = "",
) -> str:
    """Which of a browser's visitors a request is from."""
    return visitor


Visitor = Annotated[str, Depends(visitor_in)]


def cookie_in(
    request: Request, visitor: Visitor, lakatos: Annotated[str, Cookie(alias=COOKIE)] = ""
) -> str:
    """The cookie of the visitor that a request is from, whoever made it."""
    return request.cookies.get(cookie_of(visitor), "") if visitor else lakatos


Given = Annotated[str, Depends(cookie_in)]


class PageSite:
    """What the routes of one page share: its collection, and whom a request comes from."""

    def __init__(self, store: SessionStore, inbox: Inbox, *, preview: bool, secure: bool) -> None:
        self.store, self.inbox, self.preview, self.secure = store, inbox, preview, secure
        self.addresses = AddressBook()

    def is_ours(self, token: str) -> bool:
        """Whether the server made a token: no other one is taken, or somebody could plant it in another's browser."""
        if not re.fullmatch(TOKEN, token):
            return False
        return is_made_here(self.store.key, token) or self.store.session(token) is not None

    def token_of(self, given: Given) -> str:
        """The token of a request.

        Raises:
            RefusedError: The page was not opened.
        """
        if not self.is_ours(given):
            raise RefusedError(
                401, "cookie", "open the page first; it sets the cookie that this needs."
            )
        return given

    def session_of(self, given: Given) -> PageSession:
        """The session that a request belongs to.

        Raises:
            RefusedError: The page was not opened, or nobody agreed to take part.
        """
        session = self.store.session(self.token_of(given))
        if session is None or session.preview != self.preview:
            raise RefusedError(401, "session", "agree to take part first.")
        return session

    async def arrived_now(self) -> float:
        """When a request came, before anything waits for the store; must stand first among a route's arguments."""
        return self.store.clock()

    def outside(self, language: str, reason: str) -> dict[str, Any]:
        """What somebody is told who does not take part."""
        return {"language": language, "preview": self.preview, "steps": [], **ending(reason)}

    def next_of(self, session: PageSession) -> PageExperiment | None:
        """The experiment to which somebody who has ended is admitted, if there is one."""
        if session.status == ACTIVE or session.source != "web":
            return None
        found = self.store.current(free=True)
        if found is None or self.store.took_part(session.person, found):
            return None
        return found if found.settings.returning == "admit" else None

    def state_in(self, session: PageSession) -> StateReply:
        """The participant's present step in the study."""
        more = {"next": True} if not self.preview and self.next_of(session) else {}
        return StateReply(**state_of(session), session=self.name_in_browser(session), **more)

    def name_in_browser(self, session: PageSession) -> str:
        """What a browser keeps unsent answers under: opens nothing, and only this server finds the session by it."""
        parts = ("kept in a browser", session.person, session.experiment.key, str(session.number))
        return pseudonym(self.store.key, *parts)[:16]

    def state_now(self, session: PageSession) -> StateReply:
        """With the time since the task began, from which a browser that begins or reloads counts on."""
        found = self.state_in(session)
        return found.model_copy(update={"elapsed_ms": round(session.elapsed_ms)})


def page_router(store: SessionStore, inbox: Inbox, *, preview: bool, secure: bool) -> APIRouter:
    """Everything that a participant's browser asks for."""
    site = PageSite(store, inbox, preview=preview, secure=secure)
    routes = APIRouter(responses=PROBLEMS)
    for add in (add_arrival, add_consent, add_answers, add_files, add_leaving):
        add(routes, site)
    return routes


def add_arrival(routes: APIRouter, site: PageSite) -> None:
    """The page itself, its texts, and where somebody is who comes back."""
    Token = Annotated[str, Depends(site.token_of)]  # noqa: N806 - an annotation

    @routes.get("/", response_class=HTMLResponse, include_in_schema=False)
    def page(request: Request) -> Response:
        visitor = visitor_of(None if site.preview else _identifiers(request))
        given = request.cookies.get(cookie_of(visitor), "")
        token = given if site.is_ours(given) else make_token(site.store.key)
        session = site.store.session(token)
        experiment = session.experiment if session else site.store.current()
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
            secure=site.secure,
            httponly=True,
            samesite="lax",
        )
        return response

    @routes.get("/api/texts", response_model=dict[str, Any])
    def texts(
        given: Given,
        language: LanguageName = "en",
    ) -> dict[str, Any]:
        """What is read on the page, in the language wanted if there is such a one."""
        session = site.store.session(given)
        if session is None:
            return public_texts(site.store.current(), language)
        return public_texts(session.experiment, language, session.condition)

    @routes.get("/api/state")
    def state(
        token: Token,
        visitor: Visitor,
        language: LanguageName = "en",
    ) -> StateReply:
        """Say where this person is in the study, so that the browser can go on there."""
        session = site.store.session(token)
        if session is not None and session.preview == site.preview:
            return site.state_now(session)
        experiment = site.store.current()
        if experiment is None:
            return StateReply(**site.outside(language_of(None, language), "closed"))
        if experiment.settings.access == "invited" and not visitor and not site.preview:
            return StateReply(**site.outside(language_of(experiment, language), "uninvited"))
        return StateReply(
            phase="consent",
            language=language_of(experiment, language),
            preview=site.preview,
            steps=[],
        )


def add_consent(routes: APIRouter, site: PageSite) -> None:
    """Agreeing to take part, or not."""
    Token = Annotated[str, Depends(site.token_of)]  # noqa: N806 - an annotation

    @routes.post("/api/consent")
    def consent(
        request: Request, token: Token, visitor: Visitor, body: ConsentRequest
    ) -> StateReply:
        """Begin, or go on where this person was."""
        identifiers = identifiers_of(body.prolific, body.invitation)
        if not site.preview and visitor_of(identifiers) != visitor:
            raise RefusedError(
                409, "visitor", "this tab is another person's; open the page by its own address."
            )
        session = site.store.session(token)
        experiment = session.experiment if session else site.store.current()
        if experiment is None:
            return StateReply(**site.outside(language_of(None, body.language), "closed"))
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
        limited = session is None and not site.preview and experiment.settings.access == "open"
        if limited and not site.addresses.admit(address, experiment.settings.hourly_from_address):
            return StateReply(**site.outside(language, "crowded"))
        try:
            joined = site.store.join(
                token,
                consent=body.consent,
                language=language,
                identifiers=identifiers,
                preview=site.preview,
                experiment=experiment.key,
                visit=_visit(request, body.browser, experiment.settings.record),
                ticked=ticked,
            )
        except NoPlaceError as error:
            return StateReply(**site.outside(language, error.reason))
        except OtherExperimentError:
            raise RefusedError(
                409, "consent", "the last place was taken in the meantime; read the next text."
            ) from None
        return site.state_in(joined)

    @routes.post("/api/decline")
    def decline(body: DeclineRequest) -> StateReply:
        """Do not agree; nothing is stored. The answer may hold a code for the service that sent this person."""
        who = identifiers_of(body.prolific)
        service = (
            None if who is None or site.preview else site.store.service(who.service, who.study)
        )
        language = language_of(site.store.current(), body.language)
        closing = service.ending("declined") if service else ("", "")
        return StateReply(**site.outside(language, "declined") | ending("declined", *closing))


def add_answers(routes: APIRouter, site: PageSite) -> None:
    """Responses to trials, to questions on the instructions, and to questions about the person."""
    Arrived = Annotated[float, Depends(site.arrived_now)]  # noqa: N806 - an annotation
    Known = Annotated[PageSession, Depends(site.session_of)]  # noqa: N806 - an annotation

    @routes.post("/api/comprehension")
    def comprehension(session: Known, body: ComprehensionRequest) -> StateReply:
        """Answer the questions on the instructions."""
        passed = passes(session.experiment, session.language, body.answers, session.condition)
        after = site.store.comprehension(session, body.attempt, passed)
        if after.status == "screened_out":
            site.store.deliver(site.inbox)
        return site.state_now(after)

    @routes.post("/api/answers")
    def answers(arrived: Arrived, session: Known, body: AnswerRequest) -> AnswerReply:
        """Answer the step that is asked now; it is saved when this returns."""
        times = StepTimes(body.onset_ms, body.focus_losses, body.away_ms)
        given = StepRecord(body.recorded, body.failure)
        saved, feedback, after = site.store.answer(
            session, body.position, body.response, body.response_time_ms, times, arrived, given
        )
        if after.status == "completed" and saved:
            site.store.deliver(site.inbox)
        chosen, failure = site.store.saved(session, body.position)
        words = [
            feedback_words(after.experiment, session_texts(after), feedback),
            answer_words(after, body.position, chosen),
        ]
        message = " ".join(filter(None, words))
        refused = bool(body.recorded and failure)
        state = site.state_in(after)
        return AnswerReply(saved=saved, feedback=message, state=state, refused=refused)

    @routes.post("/api/onset")
    def onset(arrived: Arrived, session: Known, body: OnsetRequest) -> OnsetReply:
        """Say that a target has just appeared, so that the server's clock can time the response, too."""
        return OnsetReply(noted=site.store.report_onset(session, body.position, arrived))

    @routes.post("/api/replies")
    def replies(session: Known, body: ReplyRequest) -> StateReply:
        """Answer the questions about the person that are asked now; they are saved when this returns."""
        after = site.store.reply(session, body.block, body.answers)
        if after.status == "completed":
            site.store.deliver(site.inbox)
        return site.state_now(after)


def add_files(routes: APIRouter, site: PageSite) -> None:
    """Files that trials present. Each is named by its content, so that a browser may keep it."""
    Known = Annotated[PageSession, Depends(site.session_of)]  # noqa: N806 - an annotation
    kept = {"Cache-Control": "private, max-age=86400, immutable"}

    @routes.get("/media/{digest}", include_in_schema=False)
    def medium(session: Known, digest: FileDigest) -> Response:
        """A sound, film or image of the participant's experiment."""
        found = session.experiment.media.get(digest)
        if found is None:
            raise RefusedError(404, "file", "the experiment has no such file.")
        return Response(found.data, media_type=found.kind, headers=kept)

    @routes.get("/plugin/{digest}", include_in_schema=False)
    def plugin(digest: FileDigest) -> Response:
        """The document in which a plugin runs. It has no origin, so that it can read no cookie."""
        found = site.store.plugin(digest)
        if found is None:
            raise RefusedError(404, "file", "no experiment has such a plugin.")
        text, policy = plugin_frame(found.script, found.class_name)
        headers = {**kept, "Content-Security-Policy": policy, "X-Frame-Options": "SAMEORIGIN"}
        return HTMLResponse(text, headers=headers)


def add_leaving(routes: APIRouter, site: PageSite) -> None:
    """Stopping, going on to another experiment, and beginning a preview again."""
    Token = Annotated[str, Depends(site.token_of)]  # noqa: N806 - an annotation
    Known = Annotated[PageSession, Depends(site.session_of)]  # noqa: N806 - an annotation

    @routes.post("/api/stop")
    def stop(session: Known, body: StopRequest) -> StateReply:
        """End this person's session, and keep or drop the responses as the person wishes."""
        after = site.store.stop(session, keep=body.keep)
        site.store.deliver(site.inbox)
        return site.state_in(after)

    @routes.post("/api/next")
    def go_on(session: Known, token: Token, body: NextRequest) -> StateReply:
        """Go on to another experiment that is open to people who took part before."""
        experiment = site.next_of(session)
        if experiment is None:
            raise RefusedError(
                409, "next", "no other experiment is open to people who took part before."
            )
        site.store.forget_token(token)
        language = language_of(experiment, body.language)
        return StateReply(phase="consent", language=language, preview=site.preview, steps=[])

    if site.preview:

        @routes.post("/api/again")
        def again(session: Known, token: Token) -> StateReply:
            """Forget the preview's session, so that the preview begins anew."""
            site.store.forget_token(token)
            return StateReply(phase="consent", language=session.language, preview=True, steps=[])


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
    facts = {} if browser is None else browser.model_dump()
    return visit_facts(request.headers.get("user-agent", "")[:500], facts, record)


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
