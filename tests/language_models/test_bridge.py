"""A bridge: somebody answers a model's questions by files, over the same protocol and recorded like any other."""

from __future__ import annotations

import asyncio
import io
import json
import os
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from pydantic import BaseModel

from lakatos.language_models.bridge.app import BridgeSettings, create_bridge
from lakatos.language_models.bridge.folder import (
    MOST_ANSWER_BYTES,
    BridgeFolderError,
    QuestionFolder,
)
from lakatos.language_models.bridge.terminal import answer_from_terminal
from lakatos.language_models.client import ChatMessage, ModelCompletion, ModelRequest, TokenSampling
from lakatos.language_models.clients.openai import OpenAIModel
from lakatos.language_models.errors import RateLimitedError, RequestRefusedError
from lakatos.language_models.preflight import preflight
from lakatos.language_models.serving.app_thread import running_app
from lakatos.language_models.settings import ModelSettings
from lakatos.language_models.structured import answer_schema, parse


class Reading(BaseModel):
    """What is asked for."""

    claim: str
    source: str


REQUEST = ModelRequest(
    messages=(ChatMessage(role="user", content="What do people do?"),),
    sampling=TokenSampling(max_tokens=100),
    answer_schema=answer_schema(Reading),
    seed=7,
)


@pytest.fixture
def folder(tmp_path: Path) -> QuestionFolder:
    return QuestionFolder(tmp_path / "questions")


@pytest.fixture
def model(folder: QuestionFolder) -> Iterator[OpenAIModel]:
    settings = BridgeSettings(wait_s=1.0, who="the test")
    with running_app(create_bridge(folder, settings)) as address:
        yield OpenAIModel(
            ModelSettings(name="writer", model="bridge", base_url=address, timeout_s=10.0)
        )


def ask(model: OpenAIModel, request: ModelRequest) -> ModelCompletion:
    return asyncio.run(model.complete(request))


def answer_soon(folder: QuestionFolder, text: str, ending: str) -> threading.Thread:
    """Answer the first question that comes, in a thread."""

    def work() -> None:
        while not (names := folder.unanswered()):
            time.sleep(0.02)
        folder.write_answer(names[0], text, ending)

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    return thread


def test_what_somebody_writes_into_the_folder_is_the_answer(
    folder: QuestionFolder, model: OpenAIModel
) -> None:
    said = {"claim": "They count.", "source": "x = 1\n"}
    answer_soon(folder, json.dumps(said), "json")
    completion = ask(model, REQUEST)
    assert parse(completion, Reading).model_dump() == said
    assert completion.server == "bridge: the test"
    assert completion.usage.n_prompt_tokens > 0
    (page,) = folder.folder.glob("0001-*.question.md")
    assert "What do people do?" in page.read_text()
    assert '"claim"' in page.read_text()  # the form of the answer


def test_toml_holds_sources_as_they_are(folder: QuestionFolder, model: OpenAIModel) -> None:
    answer_soon(folder, 'claim = "They count."\nsource = \'\'\'\n"""A: b."""\n\'\'\'\n', "toml")
    assert parse(ask(model, REQUEST), Reading).source == '"""A: b."""\n'


def test_a_question_without_an_answer_stays_and_is_not_asked_twice(
    folder: QuestionFolder, model: OpenAIModel
) -> None:
    with pytest.raises(RateLimitedError, match="nobody has answered question 0001-") as failed:
        ask(model, REQUEST)
    assert not failed.value.may_have_cost
    (name,) = folder.unanswered()
    folder.write_answer(name, '{"claim": "late", "source": ""}', "json")
    time.sleep(0.4)
    assert parse(ask(model, REQUEST), Reading).claim == "late"
    # A new bridge on the same folder knows the question too.
    assert QuestionFolder(folder.folder).put(folder.question(name)) == name
    assert len(list(folder.folder.glob("*.question.json"))) == 1


@pytest.mark.parametrize(
    ("text", "ending", "problem"),
    [
        ("{", "json", "cannot be read"),
        ("[1]", "json", "holds no object"),
        ("  \n", "txt", "is empty"),
        ("x" * (MOST_ANSWER_BYTES + 1), "txt", "at most 1000000"),
    ],
)
def test_an_answer_that_cannot_be_used_is_told_why_and_may_be_mended(
    folder: QuestionFolder, text: str, ending: str, problem: str
) -> None:
    name = folder.put({"messages": [], "response_format": {"type": "json_schema"}})
    folder.write_answer(name, text, ending)
    path = folder.folder / f"{name}.answer.{ending}"
    os.utime(path, (0, 0))
    assert folder.answer(name) is None
    told = folder.folder / f"{name}.problem.txt"
    assert problem in told.read_text()
    path.unlink()
    folder.write_answer(name, "{}", "json")
    os.utime(folder.folder / f"{name}.answer.json", (0, 0))
    found = folder.answer(name)
    assert found is not None
    assert found.content == "{}"
    assert not told.exists()


def test_a_file_that_is_still_being_written_is_no_answer(folder: QuestionFolder) -> None:
    name = folder.put({"messages": []})
    folder.write_answer(name, "People cou", "txt")
    assert folder.answer(name) is None


def test_tools_can_be_called_from_the_folder(folder: QuestionFolder) -> None:
    tool = {"type": "function", "function": {"name": "score", "parameters": {}}}
    body = {"model": "bridge", "messages": [{"role": "user", "content": "?"}], "tools": [tool]}
    with running_app(create_bridge(folder, BridgeSettings(wait_s=5))) as address:
        answer_soon(folder, '{"tool_calls": [{"name": "score", "arguments": {"a": 1}}]}', "json")
        said = httpx.post(f"{address}/chat/completions", json=body, trust_env=False).json()
    choice = said["choices"][0]
    assert choice["finish_reason"] == "tool_calls"
    assert choice["message"]["tool_calls"][0]["function"] == {
        "name": "score",
        "arguments": '{"a": 1}',
    }


def test_what_files_cannot_give_and_full_folders_are_refused(
    folder: QuestionFolder, model: OpenAIModel
) -> None:
    with pytest.raises(RequestRefusedError, match="has no `logprobs`"):
        ask(model, REQUEST.model_copy(update={"n_log_probabilities": 2}))
    assert folder.unanswered() == []
    full = QuestionFolder(folder.folder, most_questions=0)
    with pytest.raises(BridgeFolderError, match="the most that it takes"):
        full.put({"messages": []})
    assert asyncio.run(preflight(model)).context_tokens == 65_536


def test_what_is_typed_answers_and_what_is_skipped_is_left_to_the_folder(
    folder: QuestionFolder,
) -> None:
    first, second = folder.put({"messages": [], "seed": 1}), folder.put({"messages": [], "seed": 2})
    shown: list[str] = []
    typed = io.StringIO("skip\nPeople\ncount.\n.\n")
    answer_from_terminal(folder, typed, shown.append, lambda: folder.unanswered() == [first])
    assert folder.unanswered() == [first]
    assert (folder.folder / f"{second}.answer.txt").read_text() == "People\ncount.\n"
    assert f"# Question {first}" in shown[0]
