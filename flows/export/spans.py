"""A run as OpenTelemetry spans, with the conventions for generative models, sent to any collector by OTLP over HTTP.

Spans are a view for people who watch services; the journal stays the record. Names and values follow the semantic
conventions for generative AI, which are still marked as in development. What was said to and by a model leaves the run
only where it is asked for.

References:
    OpenTelemetry protocol 1.x, JSON encoding over HTTP; OpenTelemetry semantic conventions for generative AI.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

import httpx

from lakatos.flows.errors import ExportError
from lakatos.flows.export.selection import ExportSelection, selected
from lakatos.flows.run.run import ENGINE_VERSION
from lakatos.language_models.client import ModelCompletion, ModelRequest
from lakatos.language_models.record import LanguageModelCalled
from lakatos.language_models.tool_record import ToolCalled
from lakatos.theories.discovery.roles.record import RoleAnswered
from lakatos.traces.digest import digest_of
from lakatos.traces.journal import Event

AT_ONCE = 256
"""Spans in a request."""
TRIES = 4
_AGAIN = frozenset({429, 502, 503, 504})
_INTERNAL, _CLIENT = 1, 3
_OK, _ERROR = 1, 2
_DEFAULT = "_OTHER"


def send_spans(
    folder: Path,
    endpoint: str,
    *,
    contents: bool = False,
    headers: Mapping[str, str] | None = None,
    timeout_s: float = 30.0,
) -> int:
    """Send a run's steps to a collector.

    Args:
        folder: Folder of the run.
        endpoint: Collector, such as ``http://127.0.0.1:4318``; ``/v1/traces`` is added where it is missing.
        contents: Whether what was said to and by language models is sent too.
        headers: Further headers, such as a key.
        timeout_s: Seconds for each request.

    Returns:
        Number of spans.

    Raises:
        RunMissingError: There is no run.
        ExportError: The address is none, or the collector cannot be reached or does not take the spans.
    """
    url = endpoint.rstrip("/")
    if not url.startswith(("http://", "https://")):
        raise ExportError(
            f"{endpoint!r} is no address of a collector; give one like http://127.0.0.1:4318."
        )
    if not url.endswith("/v1/traces"):
        url += "/v1/traces"
    with selected(folder) as chosen:
        spans = list(spans_of(chosen, contents=contents))
        resource = _resource(chosen)
    with httpx.Client(timeout=timeout_s, headers=dict(headers or {})) as client:
        for start in range(0, len(spans), AT_ONCE):
            _send(client, url, _request(resource, spans[start : start + AT_ONCE]))
    return len(spans)


def spans_of(chosen: ExportSelection, *, contents: bool = False) -> Iterator[dict[str, Any]]:
    """One span for the campaign and one for each step, in OTLP's JSON encoding."""
    trace_id = digest_of(
        {"run": chosen.reading.trace.journal.meta, "first": chosen.reading.times[0]}
    )[:32]
    root = digest_of({"trace": trace_id})[:16]
    began, ended = chosen.reading.times
    concluded = chosen.reading.concluded
    yield {
        "traceId": trace_id,
        "spanId": root,
        "name": f"campaign {chosen.reading.config.name}",
        "kind": _INTERNAL,
        "startTimeUnixNano": _nanoseconds(began),
        "endTimeUnixNano": _nanoseconds(ended),
        "attributes": _attributes(
            {
                "lakatos.domain": chosen.reading.config.domain,
                "lakatos.verdict": concluded.text if concluded else "",
            }
        ),
        "status": {"code": _OK if concluded else 0},
    }
    callers: dict[str, str] = {}
    for event in chosen.events:
        record = chosen.record(event)
        if isinstance(record, RoleAnswered):
            callers |= dict.fromkeys(record.calls, event.key[:16])
    for event in chosen.events:
        yield _span(chosen, event, trace_id, callers.get(event.record_digest, root), contents)


def _span(
    chosen: ExportSelection, event: Event, trace_id: str, parent: str, contents: bool
) -> dict[str, Any]:
    record = chosen.record(event)
    attributes: dict[str, Any] = {
        "lakatos.record.kind": event.kind,
        "lakatos.record.digest": event.record_digest,
        "lakatos.record.number": event.seq,
        **{f"lakatos.position.{name}": value for name, value in event.position.items()},
    }
    name, kind, failure, began = event.name, _INTERNAL, "", chosen.started(event)
    if isinstance(record, LanguageModelCalled):
        name, kind = f"chat {record.model_name or record.model}", _CLIENT
        attributes |= _call(chosen, event, record, contents)
        failure = "" if record.outcome == "answered" else record.outcome
    elif isinstance(record, ToolCalled):
        name = f"execute_tool {record.tool}"
        attributes |= {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": record.tool,
                       "gen_ai.tool.type": "function"}  # fmt: skip
        failure = "" if record.outcome == "returned" else record.outcome
    elif isinstance(record, RoleAnswered):
        name = f"invoke_agent {record.role}"
        attributes |= {
            "gen_ai.operation.name": "invoke_agent",
            "gen_ai.agent.name": record.role,
            "gen_ai.request.model": record.model,
            "gen_ai.provider.name": _DEFAULT,
        }
        failure = "" if record.outcome == "answered" else record.outcome
        began = min(
            (chosen.started(call) for call in chosen.events if call.record_digest in record.calls),
            default=began,
        )
    if failure:
        attributes["error.type"] = failure
    return {
        "traceId": trace_id,
        "spanId": event.key[:16],
        "parentSpanId": parent,
        "name": name,
        "kind": kind,
        "startTimeUnixNano": _nanoseconds(began),
        "endTimeUnixNano": _nanoseconds(event.time_utc),
        "attributes": _attributes(attributes),
        "status": {"code": _ERROR, "message": failure} if failure else {"code": 0},
    }


def _call(
    chosen: ExportSelection, event: Event, record: LanguageModelCalled, contents: bool
) -> dict[str, Any]:
    settings = chosen.reading.config.models.get(record.model)
    found: dict[str, Any] = {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "openai"
        if settings is not None and "api.openai.com" in settings.base_url
        else _DEFAULT,
        "gen_ai.request.model": settings.model
        if settings is not None and settings.model
        else record.model,
        "gen_ai.response.model": record.model_name,
        "gen_ai.request.temperature": record.sampling.temperature,
        "gen_ai.request.top_p": record.sampling.top_p,
        "gen_ai.request.max_tokens": record.sampling.max_tokens,
        "gen_ai.request.seed": record.seed,
        "gen_ai.response.finish_reasons": [record.finish_reason],
        "gen_ai.usage.input_tokens": record.n_prompt_tokens,
        "gen_ai.usage.output_tokens": record.n_completion_tokens,
        "lakatos.role": record.role,
        "lakatos.tries": sum("try" in note for note in chosen.notes.get(event.key, ())),
    }
    if settings is not None and settings.base_url:
        found["server.address"] = httpx.URL(settings.base_url).host
    if contents:
        artifacts = chosen.reading.trace.artifacts
        request = ModelRequest.model_validate(artifacts.get_json(record.request))
        completion = ModelCompletion.model_validate(artifacts.get_json(record.completion))
        parts = [
            {"role": item.role, "parts": [{"type": "text", "content": item.content}]}
            for item in request.messages
        ]
        answered = {
            "role": "assistant",
            "parts": [{"type": "text", "content": completion.content}],
            "finish_reason": completion.finish_reason,
        }
        found["gen_ai.input.messages"] = json.dumps(parts, ensure_ascii=False)
        found["gen_ai.output.messages"] = json.dumps([answered], ensure_ascii=False)
    return found


def _resource(chosen: ExportSelection) -> list[dict[str, Any]]:
    return _attributes(
        {
            "service.name": "lakatos",
            "service.version": ENGINE_VERSION,
            "service.instance.id": chosen.folder.resolve().name,
            "telemetry.sdk.language": "python",
            "telemetry.sdk.name": "lakatos",
        }
    )


def _request(resource: list[dict[str, Any]], spans: Sequence[dict[str, Any]]) -> dict[str, Any]:
    scope = {"name": "lakatos.flows", "version": ENGINE_VERSION}
    return {
        "resourceSpans": [
            {
                "resource": {"attributes": resource},
                "scopeSpans": [{"scope": scope, "spans": list(spans)}],
            }
        ]
    }


def _send(client: httpx.Client, url: str, body: dict[str, Any]) -> None:
    """Send one request, again where the collector is busy."""
    for number in range(TRIES):
        try:
            answer = client.post(url, json=body)
        except httpx.HTTPError as error:
            raise ExportError(
                f"the collector at {url} cannot be reached ({type(error).__name__}); does it take OTLP over HTTP?"
            ) from error
        if answer.status_code not in _AGAIN or number == TRIES - 1:
            break
        wait = answer.headers.get("retry-after", "")
        time.sleep(min(float(wait) if wait.isdigit() else 0.5 * 2**number, 10.0))
    if answer.status_code != 200:
        raise ExportError(
            f"the collector at {url} refused the spans: {answer.status_code} {answer.text[:200]!r}."
        )
    partial = answer.json().get("partialSuccess", {}) if answer.content else {}
    if n_rejected := int(partial.get("rejectedSpans", 0)):
        raise ExportError(
            f"the collector at {url} took only a part: it rejected {n_rejected} spans "
            f"({str(partial.get('errorMessage', ''))[:200]})."
        )


def _attributes(values: Mapping[str, Any]) -> list[dict[str, Any]]:
    return [
        {"key": name, "value": _value(value)}
        for name, value in values.items()
        if value not in ("", None)
    ]


def _value(value: Any) -> dict[str, Any]:
    if isinstance(value, bool):
        return {"boolValue": value}
    if isinstance(value, int):
        return {"intValue": str(value)}
    if isinstance(value, float):
        return {"doubleValue": value}
    if isinstance(value, list | tuple):
        return {"arrayValue": {"values": [_value(item) for item in value]}}
    return {"stringValue": str(value)}


def _nanoseconds(time_utc: str) -> str:
    """Unix time in nanoseconds, exact to the journal's microseconds."""
    moment = datetime.fromisoformat(time_utc)
    seconds = int(moment.replace(microsecond=0).timestamp())
    return str(seconds * 1_000_000_000 + moment.microsecond * 1000)
