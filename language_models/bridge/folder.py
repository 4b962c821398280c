"""Questions to a model as files, and answers to them as files beside them.

``0007-3fa91c02.question.md`` is a question to be read, ``0007-3fa91c02.question.json`` the request as it came. Its
answer is ``0007-3fa91c02.answer.json``, ``.answer.toml`` or ``.answer.txt``. A request that comes again, as after a
crash, is the same question: its name ends in the digest of the request.
"""

from __future__ import annotations

import json
import os
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from lakatos.language_models.errors import LanguageModelError
from lakatos.traces.digest import digest_of
from lakatos.traces.files import read_toml

MOST_QUESTIONS: Final = 5000
MOST_ANSWER_BYTES: Final = 1_000_000
SETTLED_S: Final = 0.3
"""An answer is read when its file has not changed for so long, so that half a file is none."""
ENDINGS: Final = ("json", "toml", "txt")
_QUESTION: Final = ".question.json"


class BridgeFolderError(LanguageModelError):
    """The folder of a bridge cannot take a question, or what answers it is none."""


@dataclass(frozen=True)
class BridgeAnswer:
    """Answer to a question, as a person wrote it."""

    content: str
    """Text as a model would have written it; JSON where a schema is to be met."""
    tool_calls: tuple[tuple[str, Mapping[str, Any]], ...] = ()
    """Tools to be called first, by name, with their arguments."""


class QuestionFolder:
    """A folder of questions and answers; several threads may use it at once."""

    def __init__(self, folder: Path, most_questions: int = MOST_QUESTIONS) -> None:
        """Use ``folder``, which is made if it is not there.

        Args:
            folder: Folder of the questions.
            most_questions: Number of questions after which new ones are refused.
        """
        folder.mkdir(parents=True, exist_ok=True)
        self.folder = folder.resolve()
        self._most, self._lock = most_questions, threading.Lock()
        self._names: dict[str, str] = {}
        for path in sorted(self.folder.glob(f"*{_QUESTION}")):
            name = path.name.removesuffix(_QUESTION)
            self._names[name.partition("-")[2]] = name

    def put(self, body: Mapping[str, Any]) -> str:
        """Write a question down, once; its name.

        Raises:
            BridgeFolderError: The folder is full.
        """
        digest = digest_of(dict(body))[:8]
        with self._lock:
            if digest in self._names:
                return self._names[digest]
            if len(self._names) >= self._most:
                raise BridgeFolderError(
                    f"{self.folder} holds {len(self._names)} questions, the most that it takes; "
                    "give the bridge another folder, or a higher --most."
                )
            name = f"{len(self._names) + 1:04d}-{digest}"
            _write(self.folder / f"{name}.question.md", question_text(name, body))
            _write(self.folder / f"{name}{_QUESTION}", json.dumps(body, ensure_ascii=False))
            self._names[digest] = name
            return name

    def question(self, name: str) -> dict[str, Any]:
        """The request as it came."""
        body: dict[str, Any] = json.loads((self.folder / f"{name}{_QUESTION}").read_text("utf-8"))
        return body

    def text(self, name: str) -> str:
        """The question to be read."""
        return (self.folder / f"{name}.question.md").read_text("utf-8")

    def unanswered(self) -> list[str]:
        """Names of questions without any answer, the oldest first."""
        with self._lock:
            names = sorted(self._names.values())
        return [name for name in names if self._answer_file(name) is None]

    def write_answer(self, name: str, text: str, ending: str) -> None:
        """Answer a question."""
        _write(self.folder / f"{name}.answer.{ending}", text)

    def answer(self, name: str) -> BridgeAnswer | None:
        """The answer to a question, as soon as there is one that can be used.

        One that cannot is left where it is, and ``NAME.problem.txt`` says what is wrong with it.
        """
        path = self._answer_file(name)
        if path is None or time.time() - path.stat().st_mtime < SETTLED_S:
            return None
        problem = self.folder / f"{name}.problem.txt"
        try:
            found = read_answer(path, self.question(name))
        except BridgeFolderError as error:
            if not problem.exists() or problem.read_text("utf-8") != str(error):
                _write(problem, str(error))
            return None
        problem.unlink(missing_ok=True)
        return found

    def _answer_file(self, name: str) -> Path | None:
        paths = (self.folder / f"{name}.answer.{ending}" for ending in ENDINGS)
        return next((path for path in paths if path.is_file()), None)


def read_answer(path: Path, body: Mapping[str, Any]) -> BridgeAnswer:
    """Read a file as the answer to a request.

    Raises:
        BridgeFolderError: It is too long, or not of the form that the request asks for.
    """
    size = path.stat().st_size
    if size > MOST_ANSWER_BYTES:
        raise BridgeFolderError(
            f"{path.name} has {size} bytes; an answer has at most {MOST_ANSWER_BYTES}. Shorten it."
        )
    try:
        text = path.read_text("utf-8")
        if path.suffix == ".txt":
            value: Any = None
        else:
            value = read_toml(text) if path.suffix == ".toml" else json.loads(text)
    except (ValueError, RecursionError) as error:
        raise BridgeFolderError(f"{path.name} cannot be read: {error}. Write it again.") from None
    if not text.strip():
        raise BridgeFolderError(f"{path.name} is empty. Write the answer into it.")
    calls = value.get("tool_calls") if isinstance(value, dict) else None
    if body.get("tools") and calls is not None:
        return BridgeAnswer("", _tool_calls(path.name, calls))
    if body.get("response_format") and not (value is None or isinstance(value, dict)):
        raise BridgeFolderError(f"{path.name} holds no object; the question says which fields.")
    if path.suffix == ".toml":
        text = json.dumps(value, ensure_ascii=False, default=str)
    return BridgeAnswer(text)


def _tool_calls(name: str, calls: Any) -> tuple[tuple[str, Mapping[str, Any]], ...]:
    try:
        found = tuple((str(call["name"]), dict(call["arguments"])) for call in calls)
    except (TypeError, ValueError, KeyError):
        found = ()
    if not found:
        raise BridgeFolderError(
            f'{name}: "tool_calls" is a list of {{"name": ..., "arguments": {{...}}}}; write it so.'
        )
    return found


def question_text(name: str, body: Mapping[str, Any]) -> str:
    """A request as a page to be read: how to answer, what was said so far, and the form of the answer."""
    schema = ((body.get("response_format") or {}).get("json_schema") or {}).get("schema")
    tools = body.get("tools") or []
    lines = [f"# Question {name}", ""]
    if schema:
        lines += [f"Answer with one object, in `{name}.answer.json` (or `.answer.toml`)."]
    else:
        lines += [f"Answer in words, in `{name}.answer.txt`."]
    if tools:
        call = '{"tool_calls": [{"name": "...", "arguments": {}}]}'
        lines += [f"Or call tools first: `{name}.answer.json` with `{call}`."]
    most = body.get("max_tokens") or body.get("max_completion_tokens")
    lines += [f"At most {most} tokens." if most else "", ""]
    for message in body["messages"]:
        lines += [f"## {message.get('role', 'user')}", "", str(message.get("content") or "")]
        lines += [json.dumps(call["function"]) for call in message.get("tool_calls") or ()]
        lines += [""]
    if tools:
        shown = [json.dumps(tool["function"], ensure_ascii=False) for tool in tools]
        lines += ["## tools", "", *shown, ""]
    if schema:
        lines += ["## form of the answer (JSON schema)", "", json.dumps(schema, indent=1), ""]
    return "\n".join(lines)


def _write(path: Path, text: str) -> None:
    """Write a file that others see whole or not at all."""
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    draft.write_text(text, "utf-8")
    draft.replace(path)
