"""A stand-in for the service on this machine: its documented interface, its oddities and failures, and seeded people.

It is for tests and rehearsals. Time stands still until `ProlificWorld.tick` moves it, so what people do depends on the
seed and on when the recruiter acts, never on how often it asks or how fast the machine is. `ProlificWorld`
keeps the truth (who was paid what) for comparison with the books.

Oddities, as others have described them (the interface's documentation; Mephisto, "Prolific API oddities"): a study that
is stopped looks like one that is complete; raising the places of a complete study opens it again; a study without free
places awaits review at once; paying a bulk payment twice pays twice; paid bonuses show minutes later; lists lag behind,
name somebody twice, or leave the newest person out.
"""

from __future__ import annotations

import asyncio
import socket
import threading
import time
from collections.abc import Awaitable, Callable, Iterator, MutableMapping
from contextlib import contextmanager
from typing import Any, TypeAlias

import uvicorn
from fastapi import Body, FastAPI, Request
from fastapi.responses import JSONResponse

from tests.rehearsal.prolific.stand_in_world import (
    TOKEN,
    ProlificWorld,
    RefusalError,
)


class StandIn:
    """A server whose world can be exchanged, so that many rehearsals share it."""

    def __init__(self, world: ProlificWorld) -> None:
        self.world = world
        self.address = ""
        """Set by `serve`."""


def make_app(stand_in: StandIn) -> Callable[..., Awaitable[None]]:
    """The interface as an ASGI application, with the faults of its world around it."""
    app = FastAPI(docs_url=None, redoc_url=None, openapi_url=None)
    base = "/api/v1"

    @app.exception_handler(RefusalError)
    async def refuse(_: Request, error: RefusalError) -> JSONResponse:
        return _problem(error.status, str(error))

    @app.middleware("http")
    async def check_token(request: Request, call: Callable[[Request], Awaitable[Any]]) -> Any:
        if request.headers.get("Authorization") != f"Token {TOKEN}":
            return _problem(401, "Authentication credentials were not provided.")
        with stand_in.world.held():
            return await call(request)

    @app.get(base + "/studies/")
    async def studies(limit: int = 200, offset: int = 0) -> dict[str, Any]:
        world = stand_in.world
        return _page([world.show(study) for study in world.studies], limit, offset)

    @app.post(base + "/studies/", status_code=201)
    async def create(body: dict[str, Any] = Body()) -> dict[str, Any]:  # noqa: B008
        return stand_in.world.create(body)

    @app.get(base + "/studies/{study}/")
    async def show(study: str) -> dict[str, Any]:
        return stand_in.world.show(study)

    @app.patch(base + "/studies/{study}/")
    async def change(study: str, body: dict[str, Any] = Body()) -> dict[str, Any]:  # noqa: B008
        return stand_in.world.change(study, body)

    @app.post(base + "/studies/{study}/transition/")
    async def move(study: str, body: dict[str, Any] = Body()) -> dict[str, Any]:  # noqa: B008
        return stand_in.world.move(study, str(body.get("action")))

    @app.get(base + "/studies/{study}/submissions/")
    async def submissions(study: str, limit: int = 200, offset: int = 0) -> dict[str, Any]:
        return _page(stand_in.world.listed(study), limit, offset)

    @app.post(base + "/submissions/bonus-payments/", status_code=201)
    async def set_up(body: dict[str, Any] = Body()) -> dict[str, Any]:  # noqa: B008
        return stand_in.world.set_up_bonuses(body)

    @app.post(base + "/bulk-bonus-payments/{bulk}/pay/", status_code=202)
    async def pay(bulk: str) -> dict[str, Any]:
        return stand_in.world.pay_bonuses(bulk)

    @app.post(base + "/submissions/{submission}/transition/")
    async def decide(submission: str, body: dict[str, Any] = Body()) -> dict[str, Any]:  # noqa: B008
        return stand_in.world.decide(submission, body)

    @app.post(base + "/submissions/{submission}/request-return/")
    async def request_return(submission: str, body: dict[str, Any] = Body()) -> dict[str, Any]:  # noqa: B008
        return stand_in.world.request_return(submission, body)

    @app.post(base + "/study-cost-calculator/")
    async def cost(body: dict[str, Any] = Body()) -> dict[str, Any]:  # noqa: B008
        return stand_in.world.cost(body)

    return _with_faults(app, stand_in)


def _page(entries: list[dict[str, Any]], limit: int, offset: int) -> dict[str, Any]:
    return {"results": entries[offset : offset + limit], "meta": {"count": len(entries)}}


def _problem(status: int, detail: str) -> JSONResponse:
    error = {"status": status, "title": "Refused", "error_code": 140000 + status, "detail": detail}
    return JSONResponse({"error": error}, status)


_Message: TypeAlias = MutableMapping[str, Any]


def _with_faults(app: FastAPI, stand_in: StandIn) -> Callable[..., Awaitable[None]]:
    async def answer(
        scope: _Message, receive: Any, send: Callable[[_Message], Awaitable[None]]
    ) -> None:
        fault = stand_in.world.next_fault() if scope["type"] == "http" else ""
        if not fault:
            await app(scope, receive, send)
            return
        if fault == "too_many":
            await JSONResponse({"detail": "Too many requests"}, 429, {"Retry-After": "0"})(
                scope, receive, send
            )
            return
        if fault != "error_before":

            async def swallow(_: _Message) -> None:
                return

            await app(scope, receive, swallow)
        if fault == "slow_after":
            await asyncio.sleep(stand_in.world.faults.slow_s)
        if fault == "lost_after":
            # A body that was announced and never comes: the server breaks the connection.
            await send(
                {
                    "type": "http.response.start",
                    "status": 200,
                    "headers": [(b"content-length", b"1000")],
                }
            )
            await send({"type": "http.response.body", "body": b"{", "more_body": True})
            return
        await JSONResponse({"detail": "Server error"}, 500)(scope, receive, send)

    return answer


@contextmanager
def serve(world: ProlificWorld, *, port: int = 0) -> Iterator[StandIn]:
    """Run the stand-in on the loopback interface in a thread of this process."""
    stand_in = StandIn(world)
    # The protocol has to be named: without it the event loop does not switch off the delay of small packets.
    line = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    line.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    line.bind(("127.0.0.1", port))
    stand_in.address = f"http://127.0.0.1:{line.getsockname()[1]}/api/v1"
    # Broken connections are part of the play, so the server's complaints about them are not shown.
    server = uvicorn.Server(
        uvicorn.Config(make_app(stand_in), log_level="critical", lifespan="off", log_config=None)
    )
    thread = threading.Thread(target=server.run, kwargs={"sockets": [line]}, daemon=True)
    thread.start()
    try:
        while not server.started:
            if not thread.is_alive():
                raise OSError("the stand-in did not start")
            time.sleep(0.01)
        yield stand_in
    finally:
        server.should_exit = True
        thread.join(10)
        line.close()
