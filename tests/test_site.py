"""The documentation is a site without dead links, and its search finds every page, also from the disk."""

import importlib.util
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site, built strictly: a dead link or a page that no menu names is an error."""
    if not importlib.util.find_spec("mkdocs"):
        pytest.skip("mkdocs is not installed")
    place = tmp_path_factory.mktemp("documentation") / "site"
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "-d", str(place)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return place


@pytest.mark.slow
def test_the_site_has_the_functions_and_finds_the_settings(site: Path) -> None:
    page = (site / "reference.html").read_text(encoding="utf-8")
    assert "Score theories on held-out responses" in page
    commands = (site / "commands.html").read_text(encoding="utf-8")
    assert "lakatos data describe FILE" in commands
    records = (site / "records.html").read_text(encoding="utf-8")
    assert "trials_collected" in records
    search = (site / "search" / "search_index.json").read_text(encoding="utf-8")
    assert "on_refusal" in search


@pytest.mark.slow
@pytest.mark.parametrize("width", [390, 1280])
def test_the_search_works_from_the_disk_and_nothing_is_asked_of_a_network(
    site: Path, chrome: Any, width: int
) -> None:
    page = chrome.new_page(viewport={"width": width, "height": 900})
    asked: list[str] = []
    page.on("request", lambda found: asked.append(found.url))
    page.goto((site / "index.html").as_uri())
    if width < 1000:
        page.locator("label.md-header__button[for=__search]").click()
    page.locator("input.md-search__input").click()
    page.keyboard.type("completeness")
    page.locator(".md-search-result__item").first.wait_for()
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert [url for url in asked if not url.startswith(("file:", "data:", "blob:"))] == []
    page.close()
