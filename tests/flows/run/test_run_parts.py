"""Parts of a run that hold connections are closed when its pass ends, whatever it ends with."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import Any

import pytest

from lakatos.flows.campaign import run_campaign
from lakatos.flows.errors import FlowError
from lakatos.flows.run.cluster import ClusterError
from lakatos.flows.run.run import Run, create_run, open_run
from lakatos.flows.run.study import CampaignConfig
from lakatos.language_models.clients import CLIENTS
from lakatos.language_models.clients.openai import OpenAIModel
from lakatos.language_models.clients.scripted import ScriptedModel
from tests.rehearsal.serve import running

sys.path.insert(0, str(Path(__file__).parents[1]))
sys.path.insert(0, str(Path(__file__).parents[2] / "language_models"))
from providing import Words, follows_the_schema, only_words, provider
from small import SHORT, small_study

ESTABLISHED = "01"


def connections_to(base_url: str) -> int:
    """Connections of this machine to a server's port that are open now."""
    port = int(base_url.removesuffix("/v1").rpartition(":")[2])
    lines = [
        line.split() for line in Path("/proc/net/tcp").read_text(encoding="utf-8").splitlines()[1:]
    ]
    return sum(
        int(there.rpartition(":")[2], 16) == port and status == ESTABLISHED
        for _, _, there, status, *_ in lines
    )


def study(base_url: str, **models: str) -> CampaignConfig:
    """A campaign of one cycle whose arbiter and reviser are these models."""
    names = sorted(models)
    changes: dict[str, Any] = {
        **SHORT,
        "models": {name: {"base_url": base_url, "model": models[name]} for name in names},
        "roles": {"arbiter": names[0], "reviser": names[-1]},
    }
    return small_study(**changes)


async def connections_of_pass(run: Run, base_url: str) -> tuple[int, int, str]:
    """Connections before and after a pass, while its event loop still runs, and what ended the pass."""
    ended = "verdict"
    await run.models.callers["first"].model.offered()
    before = connections_to(base_url)
    try:
        await run_campaign(run)
    except FlowError as error:
        ended = str(error)
    return before, connections_to(base_url), ended


@pytest.mark.slow
def test_connections_to_language_models_are_closed_when_a_campaign_ends(tmp_path: Path) -> None:
    with (
        running() as served,
        create_run(study(served.base_url, first=served.model), tmp_path / "run") as run,
    ):
        before, after, ended = asyncio.run(connections_of_pass(run, served.base_url))
    assert (before > 0, after, ended) == (True, 0, "verdict")


def test_connections_to_language_models_are_closed_after_an_error(tmp_path: Path) -> None:
    with (
        running() as served,
        create_run(
            study(served.base_url, first=served.model, second="absent"), tmp_path / "run"
        ) as run,
    ):
        before, after, ended = asyncio.run(connections_of_pass(run, served.base_url))
    assert (before > 0, after) == (True, 0)
    assert "does not offer 'absent'" in ended


class GoneModel(OpenAIModel):
    """A model whose connection cannot be closed, as it is gone already."""

    n_closed = 0

    async def close(self) -> None:
        """Count, and fail."""
        GoneModel.n_closed += 1
        raise ConnectionResetError("gone")


def test_every_model_is_closed_once_also_where_another_one_cannot_be_closed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(CLIENTS, "openai", GoneModel)
    monkeypatch.setattr(GoneModel, "n_closed", 0)
    config = study("http://127.0.0.1:9/v1", first="one", second="two")
    with create_run(config, tmp_path / "run") as run:
        models = run.models
        with pytest.raises(ConnectionResetError):
            asyncio.run(run.close_pass())
        asyncio.run(run.close_pass())
        assert GoneModel.n_closed == 2
        assert run.models is not models


def test_a_model_behind_another_one_is_closed_too(tmp_path: Path) -> None:
    async def connections(run: Run, base_url: str) -> tuple[int, int]:
        await run.models.callers["first"].model.offered()
        caller = run.models.callers["first"]
        caller.model = ScriptedModel([], name="first")
        before = connections_to(base_url)
        await run.close_pass()
        return before, connections_to(base_url)

    with (
        running() as served,
        create_run(study(served.base_url, first=served.model), tmp_path / "run") as run,
    ):
        assert asyncio.run(connections(run, served.base_url)) == (1, 0)


def test_a_run_that_cannot_be_begun_or_opened_does_not_keep_its_journal_locked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "run"
    monkeypatch.setenv("LAKATOS_CLUSTER", "local:none")
    with pytest.raises(ClusterError) as begun:
        create_run(small_study(**SHORT), folder)
    with pytest.raises(ClusterError) as opened:
        open_run(folder)
    monkeypatch.delenv("LAKATOS_CLUSTER")
    with open_run(folder) as run:
        assert run.config.name == "small"
    del begun, opened  # they keep the frames that hold what was opened


@pytest.mark.parametrize(("words", "is_whole"), [(follows_the_schema, True), (only_words, False)])
def test_room_is_kept_for_the_form_of_answers_where_prompts_state_it(
    tmp_path: Path, words: Words, is_whole: bool
) -> None:
    async def look(run: Run) -> list[str]:
        try:
            return await run.models.look_for("first")
        finally:
            await run.models.close()

    with (
        provider(lambda body: None, words, entry={"max_model_len": 32_768}) as served,
        create_run(study(served.base_url, first="m"), tmp_path / "run") as run,
    ):
        lines = asyncio.run(look(run))
        room = run.models.contexts["first"]
    assert (room == 32_768) == is_whole
    assert 30_000 < room <= 32_768
    assert any("the prompt states it" in line for line in lines) != is_whole
