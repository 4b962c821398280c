"""The server of the observatory: pages over one or all runs, read alone.

Reading needs no account on this machine; on any other address it needs a token. Names by which the server is asked are
checked, so that no page of another site can read it by giving its own name this machine's address. No script runs
but the observatory's own, and everything that runs say is escaped.
"""

from __future__ import annotations

import hmac
import logging
import secrets
import shlex
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from functools import cache, partial
from pathlib import Path
from typing import Any, Final
from urllib.parse import parse_qs, quote

import numpy as np
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
from lakatos.flows.errors import FlowError
from lakatos.flows.report.report import fixed, interval, percent_more, plural, signed
from lakatos.flows.report.templating import page_environment
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
from lakatos.flows.view.check import NewestAudits, last_audit
from lakatos.flows.view.outline import WantedEvents
from lakatos.flows.view.watch import UNREADABLE, RunMoment, RunObservatory, RunWatch
from lakatos.flows.view.words import address, group_of, kind_words, meaning, summary
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
"""On every response. Drawings of trials carry style attributes; no other inline style and no inline script runs."""


@dataclass(frozen=True)
class ViewAccess:
    """Who may read the observatory: a token, and the names it may be asked by."""

    token: str = ""
    """Empty where reading needs none, on this machine alone."""
    names: frozenset[str] = frozenset()
    """Names by which the server may be asked, beside addresses in numbers and ``localhost``."""
    cookie: str = field(default_factory=lambda: secrets.token_urlsafe(32))
    """What a browser holds that has shown the token; made anew with every start."""

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


def create_app(place: Path, access: ViewAccess | None = None) -> FastAPI:
    """Make the server of the observatory, for one run or for a folder of runs.

    Args:
        place: Folder of a run, or of several.
        access: Who may read; whoever reaches the server by default.
    """
    allowed = access or ViewAccess()
    observatory, checks, templates = RunObservatory(place), NewestAudits(), _templates()
    app = FastAPI(title="Lakatos: observatory", openapi_url=None, docs_url=None, redoc_url=None)
    app.state.observatory, app.state.checks = observatory, checks
    app.add_middleware(_ViewGuard, access=allowed)
    app.mount("/static", StaticFiles(directory=HERE / "static"), name="static")

    def shown(template: str, code: int = 200, /, **values: Any) -> HTMLResponse:
        return HTMLResponse(templates.get_template(template).render(**values), status_code=code)

    def found(name: str) -> RunWatch:
        watch = observatory.watch(name)
        if watch is None:
            raise HTTPException(404, f"There is no run {name!r} here.")
        return watch

    def run_page(
        name: str, template: str, here: str, make: Callable[[RunMoment], dict[str, Any] | None]
    ) -> HTMLResponse:
        look = found(name).look()
        values = make(look)
        if values is None:
            raise HTTPException(404, f"There is no such thing in the run {name}.")
        context = _common(look, here) | {"single": observatory.single}
        return shown(template, **context, **values)

    @app.get("/")
    def home(q: str = "", state: str = "", domain: str = "", order: str = "") -> Response:
        runs = observatory.all()
        if observatory.single and len(runs) == 1:
            return RedirectResponse(address(runs[0][0], ""), 303)
        version = " ".join(
            f"{name}:{look.seq if isinstance(look, RunMoment) else 0}" for name, look in runs
        )
        values = home_page.home(runs, text=q[:200], state=state, domain=domain, order=order)
        return shown("home.html", version=version, place=observatory.place.resolve().name, here="home",
                     label=lambda look, digest: look.label(digest), **values)  # fmt: skip

    @app.get("/favicon.ico")
    def icon() -> Response:
        return FileResponse(HERE / "static" / "mark.svg", media_type="image/svg+xml")

    @app.get("/version")
    def home_version() -> JSONResponse:
        runs = observatory.all()
        return JSONResponse(
            {
                "version": " ".join(
                    f"{name}:{look.seq if isinstance(look, RunMoment) else 0}"
                    for name, look in runs
                )
            }
        )

    @app.get("/run/{name}/version")
    def version(name: str) -> JSONResponse:
        """What a page compares with what it shows, to learn whether to look again."""
        look = found(name).look()
        return JSONResponse({"version": _version(look, checks), "seq": look.seq, "now": page.now(look),
                             "progress": look.progress})  # fmt: skip

    pages: dict[str, tuple[str, Callable[[RunMoment], dict[str, Any] | None]]] = {
        "": ("story.html", page.story),
        "theories": ("theories.html", theory_pages.theories),
        "experiments": ("experiments.html", experiment_pages.experiments),
        "diagnoses": ("diagnoses.html", experiment_pages.diagnoses),
        "judges": ("judges.html", judge_pages.judges),
        "memory": ("memory.html", judge_pages.memory),
        "cost": ("cost.html", trace_pages.cost),
        "part/cost": ("part_cost.html", trace_pages.cost_part),
        "part/limits": ("part_limits.html", page.limits_part),
        "part/epochs": ("part_epochs.html", judge_pages.epochs_part),
        "steps": ("steps.html", step_pages.steps),
    }
    for path, (template, make) in pages.items():

        def simple(
            name: str, template: str = template, path: str = path, make: Any = make
        ) -> Response:
            return run_page(name, template, path, make)

        # The defaults above bind this round's values; they must not become parameters of the address.
        app.router.add_route(f"/run/{{name}}/{path}", _endpoint(simple), methods=["GET"])

    @app.get("/run/{name}")
    def bare(name: str) -> Response:
        return RedirectResponse(address(name, ""), 308)

    @app.get("/run/{name}/theory/{digest}")
    def theory(name: str, digest: str) -> Response:
        return run_page(
            name, "theory.html", "theories", lambda look: theory_pages.theory(look, digest)
        )

    @app.get("/run/{name}/compare")
    def compare(name: str, first: str = "", second: str = "") -> Response:
        return run_page(
            name,
            "compare.html",
            "compare",
            lambda look: compare_pages.compare(look, first, second),
        )

    @app.get("/run/{name}/curves")
    def curves(name: str, request: Request, by: str = "", groups: str = "") -> Response:
        chosen = request.query_params.getlist("theory")[: curve_pages.MOST_CURVES]
        return run_page(
            name, "curves.html", "curves", lambda look: curve_pages.curves(look, by, chosen, groups)
        )

    @app.get("/run/{name}/part/parameters/{digest}")
    def parameters(name: str, digest: str) -> Response:
        return run_page(
            name,
            "part_parameters.html",
            "curves",
            lambda look: curve_pages.parameters_part(look, digest),
        )

    @app.get("/run/{name}/people")
    def people(name: str, experiment: str = "", sort: str = "") -> Response:
        return run_page(
            name, "people.html", "people", lambda look: person_pages.people(look, experiment, sort)
        )

    @app.get("/run/{name}/person/{key}")
    def person(name: str, key: str) -> Response:
        return run_page(name, "person.html", "people", lambda look: person_pages.person(look, key))

    @app.get("/run/{name}/leaderboard")
    def leaderboard(name: str, cycle: str = "") -> Response:
        return run_page(
            name,
            "leaderboard.html",
            "leaderboard",
            lambda look: theory_pages.leaderboard(look, _number(cycle)),
        )

    @app.get("/run/{name}/experiment/{experiment}")
    def experiment(name: str, experiment: str) -> Response:
        return run_page(
            name,
            "experiment.html",
            "experiments",
            lambda look: experiment_pages.experiment(look, experiment),
        )

    @app.get("/run/{name}/diagnosis/{number}")
    def diagnosis(name: str, number: str) -> Response:
        return run_page(
            name,
            "diagnosis.html",
            "diagnoses",
            lambda look: experiment_pages.diagnosis(look, _number(number) or 0),
        )

    @app.get("/run/{name}/trace")
    def trace(
        name: str,
        q: str = "",
        kind: str = "",
        cycle: str = "",
        begun: str = "",
        before: str = "",
        calls: str = "",
    ) -> Response:
        wanted = WantedEvents(q.strip()[:200], kind[:80], _number(cycle), bool(begun))
        return run_page(
            name,
            "trace.html",
            "trace",
            lambda look: trace_pages.trace(look, wanted, _number(before), _number(calls)),
        )

    @app.get("/run/{name}/record/{seq}")
    def record(name: str, seq: str) -> Response:
        return run_page(
            name, "record.html", "trace", lambda look: trace_pages.record(look, _number(seq) or 0)
        )

    @app.get("/run/{name}/artifact/{digest}")
    def artifact(name: str, digest: str) -> Response:
        return run_page(
            name, "artifact.html", "trace", lambda look: trace_pages.artifact(look, digest)
        )

    @app.get("/run/{name}/ref/{digest}")
    def ref(name: str, digest: str) -> Response:
        """Whatever has this digest: a theory, a record or an artifact."""
        look = found(name).look()
        if is_digest(digest):
            if digest in look.checked:
                return RedirectResponse(address(name, "theory", digest), 303)
            if (entry := look.journal.get(digest)) is not None:
                return RedirectResponse(address(name, "record", entry.seq), 303)
            if look.trace.artifacts.has(digest):
                return RedirectResponse(address(name, "artifact", digest), 303)
        raise HTTPException(404, f"Nothing in the run {name} has the digest {digest[:80]}: it was erased, or is a "
                                 "fingerprint of something that is kept elsewhere.")  # fmt: skip

    @app.get("/run/{name}/audit")
    def audit(name: str) -> Response:
        watch = found(name)
        look = watch.look()
        checks.consider(watch, look.seq)
        facts = {
            "check": checks.of(watch.name),
            "kept": last_audit(look.folder),
            "folder": shlex.quote(str(look.folder)),
            "live": look.progress,
        }
        return run_page(name, "audit.html", "audit", lambda _: facts | {"kinds": _kinds(look)})

    @app.post("/run/{name}/audit")
    def audit_now(name: str, request: Request) -> Response:
        origin = request.headers.get("origin", "")
        if not origin.endswith(f"://{request.headers.get('host', '')}"):
            raise HTTPException(403, "Another site asks.")
        watch = found(name)
        checks.start(watch, watch.look().seq)
        return RedirectResponse(address(name, "audit"), 303)

    @app.get("/enter")
    def enter() -> Response:
        return shown("enter.html", refused=False, here="enter")

    @app.post("/enter")
    async def entered(request: Request) -> Response:
        given = parse_qs((await request.body()).decode("utf-8", "replace")).get("token", [""])[0]
        if not allowed.token or not _same(given.strip(), allowed.token):
            return shown("enter.html", 403, refused=True, here="enter")
        response = RedirectResponse("/", 303)
        response.set_cookie(COOKIE, allowed.cookie, httponly=True, samesite="strict", path="/")
        return response

    def problem(status: int, title: str, detail: str) -> HTMLResponse:
        return shown("problem.html", status, title=title, detail=detail, here="problem")

    @app.exception_handler(HTTPException)
    def http(_: Request, error: HTTPException) -> HTMLResponse:
        title = {403: "Not allowed", 404: "Not here", 405: "Only to be read"}.get(
            error.status_code, "It did not work"
        )
        return problem(error.status_code, title, str(error.detail))

    for kind in (TraceError, FlowError, *UNREADABLE, OSError):
        app.add_exception_handler(kind, partial(_unreadable, problem))

    def _version(look: RunMoment, checks: NewestAudits) -> str:
        return f"{look.seq}:{look.progress}:{checks.version(look.watch.name)}"

    def _common(look: RunMoment, here: str) -> dict[str, Any]:
        name = look.watch.name
        return {
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
            "version": _version(look, checks),
            "to": partial(address, name),
            "label": look.label,
            "cite": look.journal.get,
            "evidence_of": partial(experiment_pages.evidence, look),
            "summary": partial(summary, look),
        }

    return app


def _unreadable(
    problem: Callable[[int, str, str], HTMLResponse], _: Request, error: Exception
) -> Response:
    _log.warning("a page could not be made", exc_info=error)
    return problem(500, "This part of the run cannot be read", str(error) or type(error).__name__)


def _endpoint(simple: Callable[[str], Response]) -> Callable[[Request], Awaitable[Response]]:
    from starlette.concurrency import run_in_threadpool

    async def endpoint(request: Request) -> Response:
        return await run_in_threadpool(simple, request.path_params["name"])

    return endpoint


def _kinds(look: RunMoment) -> list[tuple[str, str, int, str]]:
    return [
        (kind, kind_words(kind), len(seqs), meaning(kind))
        for kind, seqs in sorted(look.outline.by_kind.items())
    ]


def _number(text: str) -> int | None:
    """A whole number of an address, None for anything else."""
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 16 else None


@cache
def _templates() -> Environment:
    environment = page_environment(HERE / "templates")
    environment.filters |= {
        "signed": signed,
        "fixed": fixed,
        "interval": interval,
        "plural": plural,
        "words": kind_words,
        "group": group_of,
        "duration": trace_pages.duration,
        "moment": lambda time: time.replace("T", " ")[:19] if time else "–",
        "clock": lambda time: time[11:19] if time else "–",
        "pathpart": lambda text: quote(str(text), safe=""),
        "thousands": lambda value: f"{value:,}",
    }
    environment.globals |= {"percent_more": percent_more, "finite": np.isfinite}
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
