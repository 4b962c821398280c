"""The server of the observatory: pages over one or all runs, read alone.

Reading needs no account on this machine; on any other address it needs a token. Names by which the server is asked are
checked, so that no page of another site can read it by giving its own name this machine's address. No script runs
but the observatory's own, and everything that runs say is escaped.
"""

from __future__ import annotations

import hmac
import logging
import math
import secrets
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, partial
from pathlib import Path
from typing import Any, Final
from urllib.parse import parse_qs, quote

from fastapi import FastAPI, Request, Response
from fastapi.responses import (
    FileResponse,
    HTMLResponse,
    JSONResponse,
    PlainTextResponse,
    RedirectResponse,
)
from fastapi.staticfiles import StaticFiles
from jinja2 import Environment
from starlette.exceptions import HTTPException

from lakatos.experiments.participants.web.door import Receive, Scope, Send, headers_of, is_named
from lakatos.experiments.participants.web.headers import security_headers, sending_with
from lakatos.flows.audit.audit import kept_audit
from lakatos.flows.errors import FlowError
from lakatos.flows.report.reader import UNREADABLE
from lakatos.flows.report.templating import TEMPLATES, page_environment
from lakatos.flows.report.words import group_of, kind_words, meaning, summary
from lakatos.flows.view import (
    compare_pages,
    curve_pages,
    experiment_pages,
    home_page,
    judge_pages,
    page,
    person_pages,
    step_pages,
    theory_pages,
    trace_pages,
)
from lakatos.flows.view.outline import WantedEvents
from lakatos.flows.view.watch import RunMoment, RunObservatory, RunWatch
from lakatos.flows.view.words import address
from lakatos.theories.findings.verdicts.conclude import in_new_names
from lakatos.traces.digest import is_digest
from lakatos.traces.errors import TraceError

_log = logging.getLogger(__name__)
HERE: Final = Path(__file__).parent
COOKIE: Final = "lakatos_view"
LEAST_TOKEN: Final = 16
"""Characters of a token."""
LARGEST_BODY: Final = 4096
"""Bytes of a request."""
HEADERS: Final = security_headers(form_action="'self'")
"""Headers of every response. Drawings of trials carry style attributes; no other inline style and no inline script
runs."""


@dataclass(frozen=True)
class ViewAccess:
    """Access to the observatory: a token, and the names by which its server may be addressed."""

    token: str = ""
    """Token of readers; empty where reading needs none, on this machine alone."""
    names: frozenset[str] = frozenset()
    """Names by which the server may be asked, beside addresses in numbers and ``localhost``."""
    cookie: str = field(default_factory=lambda: secrets.token_urlsafe(32))
    """Value of the cookie of a browser that has shown the token; made anew with every start."""

    def __post_init__(self) -> None:
        if self.token and len(self.token) < LEAST_TOKEN:
            raise FlowError(
                f"the token has {len(self.token)} characters; give one of {LEAST_TOKEN} or more."
            )

    def knows(self, headers: dict[str, str], cookie: str) -> bool:
        """Whether a request may read; compared in constant time."""
        if not self.token:
            return True
        given = headers.get("authorization", "")
        bearer = given.removeprefix("Bearer ") if given.startswith("Bearer ") else ""
        return _same(bearer, self.token) or _same(cookie, self.cookie)


def _same(given: str, wanted: str) -> bool:
    return hmac.compare_digest(given.encode("utf-8", "replace"), wanted.encode())


PageMaker = Callable[[RunMoment, Request], dict[str, Any] | None]
"""Makes the values of a page from a run and what is asked of it; None if there is no such thing."""


def _of(make: Callable[[RunMoment], dict[str, Any]]) -> PageMaker:
    """A page of a run that asks for nothing else."""
    return lambda look, _: make(look)


def _named(make: Callable[[RunMoment, str], dict[str, Any] | None]) -> PageMaker:
    """A page of something that has a name."""
    return lambda look, request: make(look, request.path_params["name_of"])


def _numbered(make: Callable[[RunMoment, int], dict[str, Any] | None]) -> PageMaker:
    """A page of something that has a number."""
    return lambda look, request: make(look, _number(request.path_params["number"]) or 0)


def _leaderboard(look: RunMoment, request: Request) -> dict[str, Any]:
    return theory_pages.leaderboard(look, _number(request.query_params.get("cycle", "")))


def _compare(look: RunMoment, request: Request) -> dict[str, Any] | None:
    wanted = request.query_params.get
    return compare_pages.compare(look, wanted("first", ""), wanted("second", ""))


def _curves(look: RunMoment, request: Request) -> dict[str, Any] | None:
    wanted = request.query_params
    chosen = wanted.getlist("theory")[: curve_pages.MOST_CURVES]
    return curve_pages.curves(look, wanted.get("by", ""), chosen, wanted.get("groups", ""))


def _people(look: RunMoment, request: Request) -> dict[str, Any] | None:
    wanted = request.query_params.get
    return person_pages.people(look, wanted("experiment", ""), wanted("sort", ""))


def _trace(look: RunMoment, request: Request) -> dict[str, Any]:
    parameters = request.query_params.get
    wanted = WantedEvents(
        text=parameters("q", "").strip()[:200],
        kind=parameters("kind", "")[:80],
        cycle=_number(parameters("cycle", "")),
        begun=bool(parameters("begun", "")),
    )
    return trace_pages.trace(
        look, wanted, _number(parameters("before", "")), _number(parameters("calls", ""))
    )


def _audit(look: RunMoment) -> dict[str, Any]:
    """The last audit that was kept on this machine, and what the run consists of."""
    try:
        kept = kept_audit(look.folder)
    except UNREADABLE:
        kept = None
    kinds = [
        (kind, kind_words(kind), len(seqs), meaning(kind))
        for kind, seqs in sorted(look.outline.by_kind.items())
    ]
    return {"kept": kept, "folder": shlex.quote(str(look.folder)), "kinds": kinds}


PAGES: Final[tuple[tuple[str, str, str, PageMaker], ...]] = (
    ("", "story", "", _of(page.story)),
    ("theories", "theories", "theories", _of(theory_pages.theories)),
    ("theory/{name_of}", "theory", "theories", _named(theory_pages.theory)),
    ("leaderboard", "leaderboard", "leaderboard", _leaderboard),
    ("experiments", "experiments", "experiments", _of(experiment_pages.experiments)),
    ("experiment/{name_of}", "experiment", "experiments", _named(experiment_pages.experiment)),
    ("diagnoses", "diagnoses", "diagnoses", _of(experiment_pages.diagnoses)),
    ("diagnosis/{number}", "diagnosis", "diagnoses", _numbered(experiment_pages.diagnosis)),
    ("judges", "judges", "judges", _of(judge_pages.judges)),
    ("memory", "memory", "memory", _of(judge_pages.memory)),
    ("steps", "steps", "steps", _of(step_pages.steps)),
    ("compare", "compare", "compare", _compare),
    ("curves", "curves", "curves", _curves),
    ("people", "people", "people", _people),
    ("person/{name_of}", "person", "people", _named(person_pages.person)),
    ("part/parameters/{name_of}", "part_parameters", "curves", _named(curve_pages.parameters_part)),
    ("trace", "trace", "trace", _trace),
    ("record/{number}", "record", "trace", _numbered(trace_pages.record)),
    ("artifact/{name_of}", "artifact", "trace", _named(trace_pages.artifact)),
    ("audit", "audit", "audit", _of(_audit)),
    ("cost", "cost", "cost", _of(trace_pages.cost)),
    ("part/cost", "part_cost", "part/cost", _of(trace_pages.cost_part)),
    ("part/limits", "part_limits", "part/limits", _of(page.limits_part)),
    ("part/epochs", "part_epochs", "part/epochs", _of(judge_pages.epochs_part)),
)
"""Pages of a run: address, template, the section of which they are a part, and what makes their values."""
_TITLES: Final = {403: "Not allowed", 404: "Not here", 405: "Only to be read"}


@dataclass(frozen=True)
class _ObservatoryPages:
    """Makes the pages of the observatory."""

    observatory: RunObservatory
    access: ViewAccess

    def shown(self, template: str, code: int = 200, /, **values: Any) -> HTMLResponse:
        """A page from a template."""
        text = _templates().get_template(f"{template}.html").render(**values)
        return HTMLResponse(text, status_code=code)

    def problem(self, status: int, title: str, detail: str) -> HTMLResponse:
        """A page that says what went wrong."""
        return self.shown("problem", status, title=title, detail=detail, here="problem")

    def found(self, name: str) -> RunWatch:
        """A run by its name in addresses."""
        watch = self.observatory.watch(name)
        if watch is None:
            raise HTTPException(404, f"There is no run {name!r} here.")
        return watch

    def version(self, look: RunMoment) -> str:
        """Return what a page compares with what it shows, to learn whether to look again."""
        return f"{look.seq}:{look.progress}"

    def run_page(
        self, look: RunMoment, template: str, here: str, values: dict[str, Any] | None
    ) -> HTMLResponse:
        """A page of a run."""
        name = look.watch.name
        if values is None:
            raise HTTPException(404, f"There is no such thing in the run {name}.")
        context = {
            "look": look,
            "run": look,
            "state": look.state,
            "config": look.config,
            "concluded": look.concluded,
            "name": name,
            "here": here,
            "sections": page.sections(look),
            "now": page.now(look),
            "who": page.who(look),
            "version": self.version(look),
            "to": partial(address, name),
            "label": look.label,
            "cite": look.journal.get,
            "evidence_of": partial(experiment_pages.evidence, look),
            "summary": partial(summary, look),
            "single": self.observatory.single,
            "renamed": partial(in_new_names, look.state.theories),
        }
        return self.shown(template, **context, **values)

    def home(self, asked: Mapping[str, str]) -> Response:
        """All runs that are asked for; of a single one its story."""
        runs = self.observatory.all()
        if self.observatory.single and len(runs) == 1:
            return RedirectResponse(address(runs[0][0], ""), 303)
        values = home_page.home(
            runs,
            text=asked.get("q", "")[:200],
            state=asked.get("state", ""),
            domain=asked.get("domain", ""),
            order=asked.get("order", ""),
        )
        return self.shown(
            "home",
            version=_version_of(runs),
            place=self.observatory.place.resolve().name,
            here="home",
            label=lambda look, digest: look.label(digest),
            **values,
        )

    def ref(self, name: str, digest: str) -> Response:
        """Whatever has this digest: a theory, a record or an artifact."""
        look = self.found(name).look()
        if is_digest(digest):
            if digest in look.checked:
                return RedirectResponse(look.link(digest), 303)
            if (entry := look.journal.get(digest)) is not None:
                return RedirectResponse(address(name, "record", entry.seq), 303)
            if look.trace.artifacts.has(digest):
                return RedirectResponse(address(name, "artifact", digest), 303)
        raise HTTPException(
            404,
            f"Nothing in the run {name} has the digest {digest[:80]}: it was erased, or is a "
            "fingerprint of something that is kept elsewhere.",
        )

    def entered(self, given: str) -> Response:
        """Let a browser in that shows the token."""
        if not self.access.token or not _same(given.strip(), self.access.token):
            return self.shown("enter", 403, refused=True, here="enter")
        response = RedirectResponse("/", 303)
        cookie = self.access.cookie
        response.set_cookie(COOKIE, cookie, httponly=True, samesite="strict", path="/")
        return response


def _version_of(runs: Sequence[tuple[str, Any]]) -> str:
    """A text that changes whenever one of the runs does."""
    numbers = ((name, look.seq if isinstance(look, RunMoment) else 0) for name, look in runs)
    return " ".join(f"{name}:{seq}" for name, seq in numbers)


def create_app(place: Path, access: ViewAccess | None = None) -> FastAPI:
    """Make the server of the observatory, for one run or for a folder of runs.

    Args:
        place: Folder of a run, or of several.
        access: Who may read; whoever reaches the server by default.
    """
    pages = _ObservatoryPages(RunObservatory(place), access or ViewAccess())
    app = FastAPI(title="Lakatos: observatory", openapi_url=None, docs_url=None, redoc_url=None)
    app.state.observatory = pages.observatory
    app.add_middleware(_ViewGuard, access=pages.access)
    _add_files(app)
    _add_run_pages(app, pages)
    _add_doors(app, pages)

    @app.exception_handler(HTTPException)
    def http(_: Request, error: HTTPException) -> HTMLResponse:
        title = _TITLES.get(error.status_code, "It did not work")
        return pages.problem(error.status_code, title, str(error.detail))

    for kind in (TraceError, FlowError, *UNREADABLE, OSError):
        app.add_exception_handler(kind, partial(_unreadable, pages.problem))
    return app


def _add_files(app: FastAPI) -> None:
    """Styles, scripts and the icon."""

    @app.get("/favicon.ico")
    def icon() -> Response:
        return FileResponse(HERE / "static" / "mark.svg", media_type="image/svg+xml")

    @app.get("/static/page.css")
    def look_of_pages() -> Response:
        return FileResponse(TEMPLATES / "page.css", media_type="text/css")

    app.mount("/static", StaticFiles(directory=HERE / "static"), name="static")


def _add_run_pages(app: FastAPI, pages: _ObservatoryPages) -> None:
    """The pages of runs, and what tells browsers to look again."""

    def endpoint(template: str, here: str, make: PageMaker) -> Callable[[Request], Response]:
        def shown(request: Request) -> Response:
            look = pages.found(request.path_params["name"]).look()
            return pages.run_page(look, template, here, make(look, request))

        return shown

    for path, template, here, make in PAGES:
        app.router.add_route(f"/run/{{name}}/{path}", endpoint(template, here, make), ["GET"])

    @app.get("/run/{name}")
    def bare(name: str) -> Response:
        return RedirectResponse(address(name, ""), 308)

    @app.get("/run/{name}/version")
    def version(name: str) -> JSONResponse:
        look = pages.found(name).look()
        found = {"version": pages.version(look), "seq": look.seq, "now": page.now(look)}
        return JSONResponse(found | {"progress": look.progress})

    @app.get("/run/{name}/ref/{digest}")
    def ref(name: str, digest: str) -> Response:
        return pages.ref(name, digest)


def _add_doors(app: FastAPI, pages: _ObservatoryPages) -> None:
    """The first page, and the one that asks for the token."""

    @app.get("/")
    def home(request: Request) -> Response:
        return pages.home(request.query_params)

    @app.get("/version")
    def home_version() -> JSONResponse:
        return JSONResponse({"version": _version_of(pages.observatory.all())})

    @app.get("/enter")
    def enter() -> Response:
        return pages.shown("enter", refused=False, here="enter")

    @app.post("/enter")
    async def entered(request: Request) -> Response:
        form = parse_qs((await request.body()).decode("utf-8", "replace"))
        return pages.entered(form.get("token", [""])[0])


def _unreadable(
    problem: Callable[[int, str, str], HTMLResponse], _: Request, error: Exception
) -> Response:
    _log.warning("a page could not be made", exc_info=error)
    return problem(500, "This part of the run cannot be read", str(error) or type(error).__name__)


def _number(text: str) -> int | None:
    """A whole number of an address, None for anything else."""
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 16 else None


@cache
def _templates() -> Environment:
    environment = page_environment(HERE / "templates")
    environment.filters |= {
        "words": kind_words,
        "group": group_of,
        "duration": trace_pages.duration,
        "clock": lambda time: time[11:19] if time else "–",
        "pathpart": lambda text: quote(str(text), safe=""),
    }
    environment.globals["finite"] = environment.tests["finite"] = math.isfinite
    return environment


class _ViewGuard:
    """Headers on every response, and who may ask for what."""

    def __init__(self, app: Any, access: ViewAccess) -> None:
        self.app, self.access = app, access

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self.app(scope, receive, send)
            return
        headers = headers_of(scope)

        fixed = "no-cache" if scope["path"].startswith("/static/") else "no-store"
        sending = sending_with({**HEADERS, "Cache-Control": fixed}, send)
        refused = self._refused(scope, headers)
        await (refused or self.app)(scope, receive, sending)

    def _refused(self, scope: Scope, headers: dict[str, str]) -> Response | None:
        if not is_named(headers.get("host", ""), self.access.names):
            return PlainTextResponse(
                "This server is not asked by that name; see --name of `lakatos view`.\n", 421
            )
        if scope["method"] not in ("GET", "HEAD", "POST"):
            return PlainTextResponse("The observatory only reads.\n", 405)
        length = headers.get("content-length", "")
        if scope["method"] == "POST" and not (length.isdecimal() and int(length) <= LARGEST_BODY):
            return PlainTextResponse("Too large.\n", 413)
        if scope["method"] == "POST" and headers.get("sec-fetch-site", "same-origin") not in (
            "same-origin",
            "none",
        ):
            return PlainTextResponse("Another site asks.\n", 403)
        open_to_all = scope["path"] in ("/enter", "/favicon.ico") or scope["path"].startswith(
            "/static/"
        )
        if open_to_all or self.access.knows(headers, _cookie(headers.get("cookie", ""))):
            return None
        if "text/html" in headers.get("accept", ""):
            return RedirectResponse("/enter", 303)
        return PlainTextResponse(
            "A token is needed.\n", 401, headers={"WWW-Authenticate": "Bearer"}
        )


def _cookie(header: str) -> str:
    for part in header.split(";"):
        name, _, value = part.strip().partition("=")
        if name == COOKIE:
            return value
    return ""
