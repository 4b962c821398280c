"""A local HTTP server that accepts and refuses what hosted providers do, in their words."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from lakatos.language_models.withheld import example_of

Refusal = Callable[[Mapping[str, Any]], tuple[int, Any] | None]
"""Given the body of a request, the status and body of an error; None where the request is accepted."""
Words = Callable[[Mapping[str, Any]], str]
"""Given the body of a request, the content of the answer."""


def openai_error(message: str, param: str | None, code: str | None) -> tuple[int, Any]:
    """An error in the form of OpenAI."""
    error = {"message": message, "type": "invalid_request_error", "param": param, "code": code}
    return 400, {"error": error}


def anthropic_error(message: str) -> tuple[int, Any]:
    """An error in the form of Anthropic."""
    error = {"type": "invalid_request_error", "message": message}
    return 400, {"type": "error", "error": error, "request_id": "req_011CUeYK"}


def reasoning_openai(body: Mapping[str, Any]) -> tuple[int, Any] | None:
    """What OpenAI's reasoning models refuse: one field at a time, the first that they find."""
    if "max_tokens" in body:
        return openai_error(
            "Unsupported parameter: 'max_tokens' is not supported with this model. "
            "Use 'max_completion_tokens' instead.", "max_tokens", "unsupported_parameter",
        )  # fmt: skip
    if body.get("temperature", 1) != 1:
        return openai_error(
            f"Unsupported value: 'temperature' does not support {body['temperature']} with this model. "
            "Only the default (1) value is supported.", "temperature", "unsupported_value",
        )  # fmt: skip
    if "top_p" in body:
        return openai_error(
            "Unsupported parameter: 'top_p' is not supported with this model.",
            "top_p", "unsupported_parameter",
        )  # fmt: skip
    return None


def claude(body: Mapping[str, Any]) -> tuple[int, Any] | None:
    """What Claude refuses from version 4.1 on, through Anthropic's compatible endpoint."""
    if {"temperature", "top_p"} <= set(body):
        return anthropic_error(
            "`temperature` and `top_p` cannot both be specified for this model. Please use only one."
        )
    return None


def newer_claude(body: Mapping[str, Any]) -> tuple[int, Any] | None:
    """What Claude refuses from version 4.7 on."""
    if "temperature" in body:
        return anthropic_error("`temperature` is deprecated for this model.")
    return None


def deepseek(body: Mapping[str, Any]) -> tuple[int, Any] | None:
    """A server without JSON schemas."""
    if "response_format" in body:
        return openai_error(
            "This response_format type is unavailable now", None, "invalid_request_error"
        )
    return None


def limits(body: Mapping[str, Any]) -> tuple[int, Any] | None:
    """What OpenAI refuses in schemas: keywords that limit lengths."""
    if "maxLength" in json.dumps(body.get("response_format", {})):
        return openai_error(
            "Invalid schema for response_format 'answer': In context=('properties', 'word'), 'maxLength' is not "
            "permitted.", "response_format", None,
        )  # fmt: skip
    return None


def newest_openai(body: Mapping[str, Any]) -> tuple[int, Any] | None:
    """What OpenAI's reasoning models refuse, of fields and of schemas."""
    return reasoning_openai(body) or limits(body)


def gemini(body: Mapping[str, Any]) -> tuple[int, Any] | None:
    """A server that knows no seed, whose errors are a list."""
    if "seed" in body:
        text = 'Invalid JSON payload received. Unknown name "seed": Cannot find field.'
        return 400, [{"error": {"code": 400, "message": text, "status": "INVALID_ARGUMENT"}}]
    return None


def mistral(body: Mapping[str, Any]) -> tuple[int, Any] | None:
    """A server that checks fields by their list, and says where in the body one stands."""
    if "seed" in body:
        wrong = {"type": "extra_forbidden", "loc": ["body", "seed"],
                 "msg": "Extra inputs are not permitted", "input": body["seed"]}  # fmt: skip
        return 422, {"object": "error", "message": {"detail": [wrong]}, "type": "invalid_request"}
    return None


def unverified(body: Mapping[str, Any]) -> tuple[int, Any] | None:
    """What OpenAI refuses to organizations that it has not verified."""
    if body.get("stream"):
        return openai_error(
            "Unsupported value: 'stream' does not support true with this model. "
            "Only the default (false) value is supported.", "stream", "unsupported_value",
        )  # fmt: skip
    return None


def grok(body: Mapping[str, Any]) -> tuple[int, Any] | None:
    """A server that does not count the tokens of a stream."""
    if "stream_options" in body:
        return 400, {"code": "Client specified an invalid argument",
                     "error": "Argument not supported: stream_options"}  # fmt: skip
    return None


def follows_the_schema(body: Mapping[str, Any]) -> str:
    """A server that enforces a schema, whatever its prompt wants; prose without one."""
    described = body.get("response_format", {}).get("json_schema", {}).get("schema")
    if described is None:
        return "Rain falls."
    return json.dumps(example_of(described, described))


def only_words(body: Mapping[str, Any]) -> str:
    """A server that ignores a schema, and a model that does what its prompt wants."""
    return '{"word": "zq"}' if "JSON schema" in json.dumps(body["messages"]) else "Rain falls."


def words_in(body: Mapping[str, Any]) -> int:
    """Tokens of a prompt, as if each word were one."""
    return sum(len(item["content"].split()) for item in body["messages"])


@dataclass
class ProvidedModel:
    """A server that is running, with what it was sent."""

    base_url: str
    bodies: list[dict[str, Any]] = field(default_factory=list)

    @property
    def n_requests(self) -> int:
        """Requests for an answer so far."""
        return len(self.bodies)


def chunks_of(content: str, finish_reason: str) -> Iterator[dict[str, Any]]:
    """An answer in the pieces of a stream."""
    for start in range(0, len(content), 7):
        yield {"delta": {"content": content[start : start + 7]}, "finish_reason": None}
    yield {"delta": {}, "finish_reason": finish_reason}


@contextmanager
def provider(
    refuse: Refusal,
    words: Words,
    *,
    models: tuple[str, ...] = ("m",),
    finish_reason: str = "stop",
    entry: Mapping[str, Any] | None = None,
    pages: Mapping[str, tuple[int, Any]] | None = None,
    count: Callable[[Mapping[str, Any]], int] | None = None,
    usage: Mapping[str, Any] | None = None,
) -> Iterator[ProvidedModel]:
    """Serve on a free port of this machine.

    Args:
        refuse, words: What is refused, and what is answered.
        models: Names in the list of models.
        finish_reason: Of every answer.
        entry: What the list says of each model besides.
        pages: Status and content of other pages, by path; text is sent as a web page.
        count: Tokens of a prompt as the server counts them; its words by default.
        usage: What the server counts besides.
    """
    guard = threading.Lock()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *_: Any) -> None:
            pass

        def do_GET(self) -> None:
            if self.path in (pages or {}):
                self._send(*(pages or {})[self.path])
            elif self.path == "/v1/models":
                listed = [{"id": name, **(entry or {})} for name in models]
                self._send(200, {"object": "list", "data": listed})
            else:
                self._send(404, {"error": {"message": "Not Found"}})

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            with guard:
                served.bodies.append(body)
            if (refused := (pages or {}).get(self.path) or refuse(body)) is not None:
                self._send(*refused)
                return
            content = words(body)
            if body.get("stream"):
                self._stream(content, "stream_options" in body)
                return
            choice = {"index": 0, "finish_reason": finish_reason,
                      "message": {"role": "assistant", "content": content}}  # fmt: skip
            counted = USAGE | (usage or {}) | {"prompt_tokens": (count or words_in)(body)}
            self._send(200, {"model": "m-2026", "choices": [choice], "usage": counted})

        def _send(self, status: int, value: Any) -> None:
            is_page = isinstance(value, str)
            text = value.encode() if is_page else json.dumps(value).encode()
            self.send_response(status)
            self.send_header("content-type", "text/html" if is_page else "application/json")
            self.send_header("content-length", str(len(text)))
            self.end_headers()
            self.wfile.write(text)

        def _stream(self, content: str, counted: bool) -> None:
            self.send_response(200)
            self.send_header("content-type", "text/event-stream")
            self.send_header("connection", "close")
            self.end_headers()
            pieces: list[dict[str, Any]] = [
                {"model": "m-2026", "choices": [{"index": 0, **choice}]}
                for choice in chunks_of(content, finish_reason)
            ]
            if counted:
                pieces.append({"model": "m-2026", "choices": [], "usage": USAGE})
            for piece in pieces:
                self.wfile.write(f"data: {json.dumps(piece)}\n\n".encode())
            self.wfile.write(b"data: [DONE]\n\n")
            self.close_connection = True

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        served = ProvidedModel(f"http://127.0.0.1:{server.server_address[1]}/v1")
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield served
        finally:
            server.shutdown()
            thread.join()


USAGE = {"prompt_tokens": 11, "completion_tokens": 5, "total_tokens": 16}
