"""Runs for the observatory: one that was written with hostile texts, and one that was carried to its verdict."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

HERE = Path(__file__).parent
FLOWS = HERE.parent / "flows"
sys.path[:0] = [str(HERE), str(FLOWS), str(FLOWS / "report")]

from small import small_study  # noqa: E402
from test_report import WrittenRun  # noqa: E402
from viewing import SIZES, WAIT_MS  # noqa: E402

from lakatos.flows.start import run_study  # noqa: E402


@pytest.fixture(scope="session")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Everything that can happen has happened, and every text tries to break out of the page."""
    return WrittenRun(tmp_path_factory.mktemp("runs") / "small").write("concluded")


@pytest.fixture(scope="session")
def campaign(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small campaign that was carried to its verdict."""
    folder = tmp_path_factory.mktemp("campaigns") / "small"
    run_study(small_study(), folder, n_workers=1)
    return folder


@pytest.fixture
def opened(chrome: Any) -> Iterator[Callable[..., Any]]:
    """Opens windows; the test fails if a page complains or asks for anything outside."""
    said: list[str] = []
    contexts = []

    def window(size: str = "desktop", dress: str = "light", **settings: Any) -> Any:
        width, height = SIZES[size]
        context = chrome.new_context(
            viewport={"width": width, "height": height}, color_scheme=dress, **settings
        )
        context.set_default_timeout(WAIT_MS)
        context.on("console", lambda message: said.append(message.text))
        context.on("weberror", lambda error: said.append(str(error.error)))
        context.on(
            "request",
            lambda request: said.append(request.url) if "127.0.0.1" not in request.url else None,
        )
        contexts.append(context)
        return context.new_page()

    yield window
    for context in contexts:
        context.close()
    assert said == []
