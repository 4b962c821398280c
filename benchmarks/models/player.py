"""Real exchanges, written down once and played back: the network is needed once.

A file has one exchange per line, ``{"request": ..., "completion": ..., "digest": ...}``, named by the digest of the
request; a request asked several times (at a temperature, say) has its answers in order.
"""

from __future__ import annotations

import difflib
import json
import threading
from collections import defaultdict, deque
from pathlib import Path
from typing import Final

from pydantic import ValidationError

from lakatos.language_models.client import LanguageModel, ModelCompletion, ModelRequest
from lakatos.language_models.errors import LanguageModelError
from lakatos.traces.digest import Digest, canonical_json, digest_of

_MOST_LINES: Final = 40


class UnknownExchangeError(LanguageModelError):
    """A player was asked something that was not recorded."""


class ExchangeFileError(LanguageModelError):
    """A file of recorded exchanges cannot be read or written."""


def request_digest(request: ModelRequest) -> Digest:
    """The name of a request: all that decides its answer."""
    return digest_of(request.model_dump(mode="json"))


class RecorderModel:
    """Passes everything on to another model and writes down what came back. Errors are passed on, not written."""

    def __init__(self, model: LanguageModel, path: Path) -> None:
        """Append to the file ``path``, which is made if it is not there."""
        self._model, self._path, self._guard = model, Path(path), threading.Lock()

    @property
    def name(self) -> str:
        """Name of the model that is recorded."""
        return self._model.name

    @property
    def version(self) -> str:
        """Version of the model that is recorded."""
        return self._model.version

    async def complete(self, request: ModelRequest) -> ModelCompletion:
        """Ask, write the exchange down, and answer."""
        completion = await self._model.complete(request)
        exchange = {
            "digest": request_digest(request),
            "request": request.model_dump(mode="json"),
            "completion": completion.model_dump(mode="json"),
        }
        with self._guard, self._path.open("ab") as file:
            file.write(canonical_json(exchange) + b"\n")
        return completion


class PlayerModel:
    """Answers what was recorded, and nothing else."""

    def __init__(self, path: Path, *, name: str = "player") -> None:
        """Read the exchanges in ``path``.

        Raises:
            ExchangeFileError: A line is no exchange, or was changed.
        """
        self.name, self._path = name, Path(path)
        self._requests: dict[Digest, ModelRequest] = {}
        self._answers: dict[Digest, deque[ModelCompletion]] = defaultdict(deque)
        try:
            lines = self._path.read_text(encoding="utf-8").splitlines()
        except (OSError, UnicodeDecodeError) as error:
            raise ExchangeFileError(
                f"recorded exchanges cannot be read from {self._path}: {error}."
            ) from error
        for number, line in enumerate(lines, 1):
            try:
                exchange = json.loads(line)
                request = ModelRequest.model_validate_json(canonical_json(exchange["request"]))
                completion = ModelCompletion.model_validate_json(
                    canonical_json(exchange["completion"])
                )
                digest = exchange["digest"]
            except (KeyError, TypeError, ValueError, ValidationError) as error:
                raise ExchangeFileError(
                    f"line {number} of {self._path} is no exchange ({str(error).splitlines()[0]}); record it again."
                ) from error
            if digest != request_digest(request):
                raise ExchangeFileError(
                    f"line {number} of {self._path} was changed: its request does not hash to its digest; "
                    "record it again."
                )
            self._requests[digest] = request
            self._answers[digest].append(completion)
        self.version = digest_of(lines)
        self._guard = threading.Lock()

    async def complete(self, request: ModelRequest) -> ModelCompletion:
        """The recorded answer; the last one again when a request is repeated more often than it was recorded.

        Raises:
            UnknownExchangeError: It was never recorded; the message shows how it differs from the nearest one.
        """
        digest = request_digest(request)
        with self._guard:
            if digest in self._answers:
                answers = self._answers[digest]
                return answers.popleft() if len(answers) > 1 else answers[0]
        raise UnknownExchangeError(
            f"{self._path} holds no request {digest[:12]}; it has {len(self._requests)}. "
            f"{self._difference(request)}\nRecord it with `RecorderModel`, or undo the change of the request."
        )

    def _difference(self, request: ModelRequest) -> str:
        asked = _lines(request)
        if not self._requests:
            return "Nothing is recorded."

        def likeness(item: ModelRequest) -> float:
            return difflib.SequenceMatcher(None, asked, _lines(item), autojunk=False).quick_ratio()

        nearest = max(self._requests.values(), key=likeness)
        diff = list(
            difflib.unified_diff(_lines(nearest), asked, "recorded", "asked", lineterm="", n=0)
        )
        more = f"\n... and {len(diff) - _MOST_LINES} more lines" if len(diff) > _MOST_LINES else ""
        return "The nearest differs in:\n" + "\n".join(diff[:_MOST_LINES]) + more


def _lines(request: ModelRequest) -> list[str]:
    return json.dumps(
        request.model_dump(mode="json"), indent=1, sort_keys=True, ensure_ascii=False
    ).splitlines()
