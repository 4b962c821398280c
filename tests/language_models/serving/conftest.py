"""A real vLLM on the processor, for the tests marked `vllm`; they run only when ``-m vllm`` asks for them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest

from lakatos.language_models.serving.app_thread import free_port
from lakatos.language_models.serving.environment import install
from lakatos.language_models.serving.launch import ServerLaunch, prepare
from lakatos.language_models.serving.profile import load_profile
from lakatos.language_models.serving.server import served
from tests.rehearsal.tiny import write_tiny_profile


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what needs vLLM unless it is asked for: it takes gigabytes and minutes."""
    if "vllm" in config.getoption("markexpr"):
        return
    apart = [item for item in items if item.get_closest_marker("vllm")]
    if apart:
        config.hook.pytest_deselected(items=apart)
        items[:] = [item for item in items if not item.get_closest_marker("vllm")]


def launch_tiny(folder: Path) -> ServerLaunch:
    """A launch of the tiny random model on a free port; vLLM is installed if it is not."""
    profile = load_profile(write_tiny_profile(folder, port=free_port()))
    return prepare(profile, install("cpu"))


@pytest.fixture(scope="session")
def vllm_launch(tmp_path_factory: pytest.TempPathFactory) -> ServerLaunch:
    """How the server of this session is started."""
    return launch_tiny(tmp_path_factory.mktemp("tiny"))


@dataclass(frozen=True)
class Address:
    """Where a vLLM is that runs already."""

    base_url: str
    model: str


@pytest.fixture(scope="session")
def vllm_server(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[ServerLaunch | Address]:
    """One real vLLM for all tests: the one at ``LAKATOS_VLLM`` (up to and with /v1), or one that is started."""
    if there := os.environ.get("LAKATOS_VLLM"):
        offered = httpx.get(f"{there}/models", trust_env=False).json()["data"]
        yield Address(there, offered[0]["id"])
        return
    launch: ServerLaunch = request.getfixturevalue("vllm_launch")
    with served(launch, tmp_path_factory.mktemp("log") / "vllm.log"):
        yield launch
