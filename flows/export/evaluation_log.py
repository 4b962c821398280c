"""Calls to language models as logs of Inspect, which its viewer and analyses read.

One log for each role, prompt and model: every answer is a sample, with the messages, what the model said, what became
of it, and the checks it went through as a score. A log is written as Inspect's ``.eval``, a ZIP archive of JSON.

References:
    UK AI Security Institute (2024), Inspect AI: framework for large language model evaluations.
"""

from __future__ import annotations

import io
import json
import re
import zipfile
from collections import defaultdict
from pathlib import Path
from typing import Any

from lakatos.flows.errors import ExportError
from lakatos.flows.export.selection import ExportSelection, selected
from lakatos.flows.run.run import ENGINE_VERSION
from lakatos.language_models.client import ModelCompletion, ModelRequest
from lakatos.language_models.record import LanguageModelCalled
from lakatos.theories.discovery.roles.record import RoleAnswered, SuccessorTried
from lakatos.traces.artifact import write_whole
from lakatos.traces.digest import Digest, digest_of
from lakatos.traces.journal import Event

_VERSION = 2
"""Version of Inspect's log format."""
_DATE = (1980, 1, 1, 0, 0, 0)
"""Fixed date of files in the archive, so that the same run gives the same bytes."""


def write_logs(folder: Path, out: Path) -> list[Path]:
    """Write one ``.eval`` file for each role, prompt and model.

    Raises:
        RunMissingError: There is no run.
        ExportError: No language model was asked in it.
    """
    with selected(folder) as chosen:
        groups: dict[tuple[str, str, str], list[Event]] = defaultdict(list)
        answered = _answered(chosen)
        for event in chosen.events:
            record = chosen.record(event)
            if isinstance(record, LanguageModelCalled):
                known = answered.get(event.record_digest)
                groups[record.role, known.task if known else record.role, record.model].append(
                    event
                )
        if not groups:
            raise ExportError(
                f"{folder} has no calls of language models, so there is nothing to log."
            )
        written = []
        for (role, task, model), events in groups.items():
            name = re.sub(
                r"[^A-Za-z0-9.-]+", "-", f"{role}-{task}-{model}".replace(f"{role}-{role}", role)
            )
            path = out / f"{name}.eval"
            write_whole(path, _archive(chosen, task, model, events, answered))
            written.append(path)
    return written


def _answered(chosen: ExportSelection) -> dict[Digest, RoleAnswered]:
    found: dict[Digest, RoleAnswered] = {}
    for event in chosen.events:
        record = chosen.record(event)
        if isinstance(record, RoleAnswered):
            found |= dict.fromkeys(record.calls, record)
    return found


def _archive(
    chosen: ExportSelection,
    task: str,
    model: str,
    events: list[Event],
    answered: dict[Digest, RoleAnswered],
) -> bytes:
    records = {event.record_digest: chosen.record(event) for event in chosen.events}
    tried = {
        call: item
        for item in records.values()
        if isinstance(item, SuccessorTried)
        and isinstance(answer := records.get(item.answer), RoleAnswered)
        for call in answer.calls
    }
    samples = [
        _sample(
            chosen, event, number, answered.get(event.record_digest), tried.get(event.record_digest)
        )
        for number, event in enumerate(events, start=1)
    ]
    n_right = sum(item["scores"]["checked"]["value"] == "C" for item in samples)
    began, ended = chosen.started(events[0]), events[-1].time_utc
    header = _header(chosen, task, model, samples, n_right, began, ended)
    files: list[tuple[str, Any]] = [
        (
            "_journal/start.json",
            {"version": _VERSION, "eval": header["eval"], "plan": header["plan"]},
        ),
        *((f"samples/{item['id']}_epoch_1.json", item) for item in samples),
        ("summaries.json", [_summary(item) for item in samples]),
        ("header.json", header),
    ]
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, value in files:
            archive.writestr(
                zipfile.ZipInfo(name, _DATE),
                json.dumps(value, ensure_ascii=False),
                zipfile.ZIP_DEFLATED,
            )
    return buffer.getvalue()


def _header(
    chosen: ExportSelection,
    task: str,
    model: str,
    samples: list[dict[str, Any]],
    n_right: int,
    began: str,
    ended: str,
) -> dict[str, Any]:
    settings = chosen.reading.config.models.get(model)
    name = f"openai-api/{(settings.model if settings and settings.model else model)}"
    identity = digest_of({"run": chosen.reading.trace.journal.meta, "task": task, "model": model})
    usage = {
        kind: sum(item["output"]["usage"][kind] for item in samples)
        for kind in ("input_tokens", "output_tokens", "total_tokens")
    }
    return {
        "version": _VERSION,
        "status": "success",
        "eval": {
            "eval_id": identity[:22],
            "run_id": identity[22:44],
            "created": began,
            "task": f"lakatos/{task}",
            "task_id": identity[44:],
            "task_version": 0,
            "task_args": {},
            "dataset": {
                "name": chosen.reading.config.name,
                "samples": len(samples),
                "sample_ids": [item["id"] for item in samples],
                "shuffled": False,
            },
            "model": name,
            "model_args": {},
            "config": {"epochs": 1},
            "packages": {"lakatos": ENGINE_VERSION},
            "metadata": {
                "run": chosen.folder.resolve().name,
                "domain": chosen.reading.config.domain,
            },
            "scorers": [
                {"name": "checked", "options": {}, "metrics": [{"name": "accuracy", "options": {}}]}
            ],
        },
        "plan": {"name": "plan", "steps": [], "config": {}},
        "results": _results(len(samples), n_right / len(samples)),
        "stats": {"started_at": began, "completed_at": ended, "model_usage": {name: usage}},
    }


def _results(n_samples: int, share_right: float) -> dict[str, Any]:
    accuracy = {"name": "accuracy", "value": share_right, "params": {}}
    score = {
        "name": "checked",
        "scorer": "checked",
        "params": {},
        "metrics": {"accuracy": accuracy},
    }
    return {"total_samples": n_samples, "completed_samples": n_samples, "scores": [score]}


_STOP_REASONS = {
    "stop": "stop",
    "length": "max_tokens",
    "tool_calls": "tool_calls",
    "content_filter": "content_filter",
}
"""Words for the end of an answer, by the protocol's."""


def _sample(
    chosen: ExportSelection,
    event: Event,
    number: int,
    answered: RoleAnswered | None,
    tried: SuccessorTried | None,
) -> dict[str, Any]:
    record = chosen.record(event)
    assert isinstance(record, LanguageModelCalled)
    artifacts = chosen.reading.trace.artifacts
    request = ModelRequest.model_validate(artifacts.get_json(record.request))
    completion = ModelCompletion.model_validate(artifacts.get_json(record.completion))
    written = [
        _message(item.role, item.content, place) for place, item in enumerate(request.messages)
    ]
    answer = _message("assistant", completion.content, len(written)) | {
        "model": record.model_name,
        "source": "generate",
    }
    usage = {
        "input_tokens": record.n_prompt_tokens,
        "output_tokens": record.n_completion_tokens,
        "total_tokens": record.n_prompt_tokens + record.n_completion_tokens,
    }
    right, why = _judged(record, answered, tried)
    stop = _STOP_REASONS.get(record.finish_reason, "unknown")
    return {
        "id": number,
        "epoch": 1,
        "input": written,
        "target": "",
        "messages": [*written, answer],
        "output": {
            "model": record.model_name,
            "choices": [{"message": answer, "stop_reason": stop}],
            "completion": completion.content,
            "usage": usage,
        },
        "scores": {
            "checked": {
                "value": "C" if right else "I",
                "answer": completion.content[:200],
                "explanation": why,
                "metadata": {"outcome": record.outcome},
            }
        },
        "metadata": {
            "record": event.record_digest,
            "number": event.seq,
            **{name: value for name, value in event.position.items() if name != "model"},
        },
        "store": {},
        "events": [],
        "model_usage": {record.model_name: usage},
        "attachments": {},
    }


def _judged(
    record: LanguageModelCalled, answered: RoleAnswered | None, tried: SuccessorTried | None
) -> tuple[bool, str]:
    """Return whether an answer passed its check, and the reason where it did not."""
    if record.outcome != "answered":
        return False, record.outcome
    if answered is not None and answered.outcome != "answered":
        return False, f"{answered.outcome}: {answered.reason}"
    if tried is not None and tried.outcome != "submitted":
        return False, f"{tried.outcome}: {tried.reason}"
    return True, "answered in the form that was asked for, and passed its checks"


def _message(role: str, content: str, place: int) -> dict[str, Any]:
    return {"id": f"m{place}", "role": role, "content": content} | (
        {"source": "input"} if role != "assistant" else {}
    )


def _summary(sample: dict[str, Any]) -> dict[str, Any]:
    keys = ("id", "epoch", "input", "target", "scores", "model_usage", "metadata")
    return {name: sample[name] for name in keys} | {
        "completed": True,
        "message_count": len(sample["messages"]),
    }
