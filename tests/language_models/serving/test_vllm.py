"""The contract and the check against a real vLLM on the processor, with the tiny random model.

Not part of any other run, for it installs gigabytes and takes minutes::

    pytest -m vllm tests/language_models/serving
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import threading
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from lakatos.language_models.client import ChatMessage, ModelRequest, TokenSampling
from lakatos.language_models.clients.openai import OpenAIModel
from lakatos.language_models.errors import TransientError
from lakatos.language_models.serving.check import check
from lakatos.language_models.serving.launch import ServerLaunch
from lakatos.language_models.serving.load import body_of, http_client, time_calls, variants
from lakatos.language_models.serving.metrics import read_metrics
from lakatos.language_models.serving.server import ModelServer, RestartPolicy, supervise
from lakatos.language_models.serving.shape import REPRESENTATIVE, Judgement
from lakatos.language_models.settings import ModelSettings
from tests.language_models.contract import ServedModelContract

pytestmark = pytest.mark.vllm


@pytest.fixture(name="server", scope="session")
def server_fixture(vllm_server: ServerLaunch) -> ServerLaunch:
    """What the contract asks for."""
    return vllm_server


def settings_for(launch: ServerLaunch) -> ModelSettings:
    return ModelSettings(name="tiny", base_url=launch.base_url, model=launch.model, timeout_s=120)


class TestVllm(ServedModelContract):
    """The suite that the rehearsal server keeps too."""


def test_everything_that_roles_need_works(server):
    report = asyncio.run(check(settings_for(server), n_calls=3))
    wrong = [finding for finding in report.findings if finding.state != "works"]
    assert not wrong
    assert report.server.startswith("vLLM ")
    for role, features in {
        "advocate": {"answer", "structured output", "grade", "seed", "prefix cache"},
        "arbiter": {"answer", "tool calls", "seed", "prefix cache"},
        "judge": {
            "answer",
            "structured output",
            "grade",
            "log probabilities",
            "seed",
            "prefix cache",
        },
    }.items():
        assert {finding.feature for finding in report.findings if finding.role == role} == features
    for figures in report.figures:
        assert figures.first_token_s < figures.total_s
        assert figures.cached_share > 0.9


def test_nonsense_fits_its_schema_under_every_seed(server):
    judge = REPRESENTATIVE[2].request.model_copy(
        update={"sampling": TokenSampling(temperature=1.0, max_tokens=400)}
    )

    async def ask() -> list[str]:
        model = OpenAIModel(settings_for(server))
        try:
            return [
                found.content
                for found in await asyncio.gather(*map(model.complete, variants(judge, 24)))
            ]
        finally:
            await model.close()

    contents = asyncio.run(ask())
    # Control characters come through unescaped, hence `strict=False`.
    answers = [Judgement.model_validate(json.loads(content, strict=False)) for content in contents]
    assert len({answer.reason for answer in answers}) > 20
    assert {answer.winner for answer in answers} == {"first", "second"}


def test_the_old_name_of_a_schema_is_ignored_and_blanks_do_not_run_away(server):
    settings, schema = settings_for(server), Judgement.model_json_schema()
    asked = ModelRequest(
        messages=(ChatMessage(role="user", content="Hello"),),
        sampling=TokenSampling(max_tokens=200),
    )
    url = f"{server.base_url}/chat/completions"
    with httpx.Client(timeout=120, trust_env=False) as client:
        old = client.post(url, json=body_of(settings, asked) | {"guided_json": schema})
        new = client.post(
            url, json=body_of(settings, asked.model_copy(update={"answer_schema": schema}))
        )
    assert old.status_code == 200
    with pytest.raises(ValueError, match="Invalid JSON"):
        Judgement.model_validate_json(old.json()["choices"][0]["message"]["content"])
    content = new.json()["choices"][0]["message"]["content"]
    Judgement.model_validate(json.loads(content, strict=False))
    assert not re.search(r"\s\s|[\n\t]", re.sub(r'"(?:[^"\\]|\\.)*"', "text", content))


def test_the_server_counts_what_was_asked(server):
    settings = settings_for(server)

    async def ask() -> None:
        most = 0.0

        def watch(seen: object) -> None:
            nonlocal most
            most = max(most, seen.total("vllm:num_requests_running"))  # type: ignore[attr-defined]

        async with http_client(settings) as client:
            before = await read_metrics(server.base_url, client)
            requests = variants(REPRESENTATIVE[0].request, 16)
            calls, _ = await time_calls(client, settings, requests, 8, watch, 0.02)
            counted = (await read_metrics(server.base_url, client)).since(before)
        assert [call.error for call in calls] == [""] * 16
        assert counted.total("vllm:generation_tokens_total") == sum(call.n_tokens for call in calls)
        assert counted.total("vllm:prompt_tokens_total") == sum(
            call.n_prompt_tokens for call in calls
        )
        assert counted.total("vllm:time_to_first_token_seconds_count") == 16
        assert most == 8

    asyncio.run(ask())


LONG = ModelRequest(
    messages=(ChatMessage(role="user", content="Go on."),),
    sampling=TokenSampling(temperature=1.0, max_tokens=4000),
    answer_schema={
        "type": "object",
        "properties": {"digits": {"type": "array", "items": {"type": "integer"}, "minItems": 2000}},
        "required": ["digits"],
        "additionalProperties": False,
    },
)
"""Takes a while."""


@pytest.fixture
def victim(
    vllm_launch: ServerLaunch, tmp_path: Path
) -> Iterator[tuple[ServerLaunch, list[ModelServer], threading.Event]]:
    """A supervised server of its own that may be killed; each start is appended to the list."""
    from dataclasses import replace

    from lakatos.language_models.serving.app_thread import free_port

    port = free_port()
    words = list(vllm_launch.command)
    words[words.index("--port") + 1] = str(port)
    launch = replace(vllm_launch, command=tuple(words), base_url=f"http://127.0.0.1:{port}/v1")
    servers: list[ModelServer] = []
    up = threading.Event()

    def ready(server: ModelServer) -> None:
        servers.append(server)
        up.set()
        if len(servers) > 1:
            done.wait(120)
            raise KeyboardInterrupt

    done = threading.Event()

    def run() -> None:
        with pytest.raises(KeyboardInterrupt):
            supervise(
                launch,
                tmp_path / "log",
                restarts=RestartPolicy(limit=1, first_wait_s=0.1),
                ready=ready,
                look_every_s=0.5,
            )

    thread = threading.Thread(target=run)
    thread.start()
    try:
        assert up.wait(300)
        yield launch, servers, up
    finally:
        done.set()
        thread.join(120)


def test_a_server_killed_mid_call_comes_back_and_gives_the_answer_that_was_cut_short(
    victim, server
):
    launch, servers, up = victim
    judge = REPRESENTATIVE[2].request

    async def ask(request: ModelRequest) -> str:
        model = OpenAIModel(settings_for(launch))
        try:
            return (await model.complete(request)).content
        finally:
            await model.close()

    before = asyncio.run(ask(judge))

    async def killed_mid_call() -> None:
        call = asyncio.create_task(ask(LONG))
        async with http_client(settings_for(launch)) as client:
            while not (await read_metrics(launch.base_url, client)).total(
                "vllm:num_requests_running"
            ):
                assert not call.done()
                await asyncio.sleep(0.02)
        up.clear()
        os.killpg(servers[0].process.pid, signal.SIGKILL)
        with pytest.raises(TransientError):
            await call

    asyncio.run(killed_mid_call())
    assert up.wait(300)
    assert len(servers) == 2
    assert asyncio.run(ask(judge)) == before
