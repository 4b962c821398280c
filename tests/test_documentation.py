"""Links, commands and examples of the README and the documentation, and the length of both."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
import typer.main

from lakatos.flows.commands.lazy import LazyCommand
from lakatos.flows.commands.main import app
from lakatos.flows.run.study import parse_study

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
EXAMPLE = ROOT / "studies" / "responses.csv"
FRONT = [ROOT / "README.md", ROOT / "CONTRIBUTING.md"]
PAGES = [*FRONT, *sorted(DOCS.glob("*.md"))]
LINKING = [*PAGES, *(ROOT / name for name in ("CHANGELOG.md", "SECURITY.md", "domains/README.md"))]
GENERATED = ("study.md", "commands.md", "records.md", "domains/")
"""Pages that `docs/hooks/generated.py` makes; `test_site.py` checks links to them."""
OPTIONAL = re.compile(r"\[[^\]]*\]")
"""An argument in brackets may be left out."""


def anchors(page: Path) -> set[str]:
    """Anchors of the headings of a page, as a forge and the site make them."""
    headings = re.findall(r"^#+ (.*)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", LINKING, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_link_leads_to_a_file_and_a_heading(page: Path) -> None:
    dead = []
    text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    for link in re.findall(r"\]\(([^)\s]+)\)", text):
        place, _, anchor = link.partition("#")
        if "://" in link or place.startswith(GENERATED):
            continue
        target = (page.parent / place).resolve() if place else page
        if not target.exists() or (anchor and anchor not in anchors(target)):
            dead.append(link)
    assert not dead


def commands_in(page: Path) -> Iterator[list[str]]:
    """The words of each `lakatos` command in a block of code of a page."""
    text = page.read_text(encoding="utf-8")
    fenced = re.findall(r"```(?:sh|console|bash)\n(.*?)```", text, re.DOTALL)
    outside = re.sub(r"```.*?```", "", text, flags=re.DOTALL)
    indented = re.findall(r"(?m)^    (\S.*)$", outside)
    lines = [line for block in fenced for line in block.splitlines()] + indented
    for line in lines:
        for part in re.split(r" && |; | \| ", OPTIONAL.sub("", line.partition("  #")[0])):
            command = re.sub(r"^(\w+=\S+ )+", "", part.strip())
            if command.startswith("lakatos ") and not command.rstrip().endswith("..."):
                yield shlex.split(command.partition(" > ")[0])[1:]


def parse(words: list[str]) -> None:
    """Read a command line as `lakatos` does, without running it."""
    command: Any = typer.main.get_command(app)
    name = "lakatos"
    while hasattr(command, "commands"):
        assert words, f"{name} needs a command"
        if words[0].startswith("-"):  # an option of the whole command, such as --help
            return
        name, *words = words
        command = command.commands[name]
    assert isinstance(command, LazyCommand)
    command.loaded().make_context(name, list(words))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_command_of_a_page_can_be_typed(page: Path) -> None:
    for words in commands_in(page):
        parse(words)


def test_commands_are_found_on_the_pages() -> None:
    assert sum(len(list(commands_in(page))) for page in PAGES) > 80


def test_the_first_commands_of_the_readme_do_what_they_promise(tmp_path: Path) -> None:
    shutil.copy(EXAMPLE, tmp_path / "responses.csv")
    done = subprocess.run(
        [sys.executable, "-m", "lakatos.flows.commands.main", "data", "describe", "responses.csv"],
        cwd=tmp_path,
        env={"PYTHONPATH": str(ROOT), "HOME": str(tmp_path), "PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "30 participants with 40 rows each" in done.stdout
    assert "intertemporal" in done.stdout
    assert "Please check" not in done.stdout


@pytest.mark.long
def test_the_commands_of_the_readme_run_in_its_order(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "studies", tmp_path / "studies", symlinks=True)
    shutil.copy(EXAMPLE, tmp_path / "responses.csv")
    text = " ".join(FRONT[0].read_text(encoding="utf-8").split())
    wanted = (
        "explain responses.csv",
        "report",
        "new study.toml --data responses.csv",
        "design studies/page.toml",
    )
    places = [text.index(f"lakatos {words}", text.index("cp studies/")) for words in wanted]
    assert places == sorted(places)
    for words in wanted:
        done = subprocess.run(
            [sys.executable, "-m", "lakatos.flows.commands.main", *words.split()],
            cwd=tmp_path,
            env={"PYTHONPATH": str(ROOT), "HOME": str(tmp_path), "PATH": "/usr/bin:/bin"},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, f"{words}: {done.stderr}"
    assert (tmp_path / "study.toml").is_file()


@pytest.mark.long
def test_the_readme_shows_the_leaderboard_that_the_demonstration_prints(tmp_path: Path) -> None:
    """After a change of the science, `python docs/hooks/demonstration.py` brings it up to date."""
    sys.path.insert(0, str(DOCS / "hooks"))
    try:
        from demonstration import board_of, demonstrate, last_board
    finally:
        sys.path.remove(str(DOCS / "hooks"))
    readme = FRONT[0].read_text(encoding="utf-8")
    assert board_of(readme) == last_board(demonstrate(tmp_path))


@pytest.mark.long
def test_the_lines_of_the_readme_for_notebooks_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copy(EXAMPLE, tmp_path / "responses.csv")
    monkeypatch.chdir(tmp_path)
    (block,) = re.findall(r"```python\n(.*?)```", FRONT[0].read_text(encoding="utf-8"), re.DOTALL)
    names: dict[str, Any] = {}
    exec(block, names)
    assert names["outcome"].verdict
    assert len(names["fitted"].people) > 1


def test_the_study_of_every_provider_can_be_read() -> None:
    text = (DOCS / "providers.md").read_text(encoding="utf-8")
    first, *others = re.findall(r"```toml\n(.*?)```", text, re.DOTALL)
    start, _, _ = first.partition("[models.writer]")
    hosts = set()
    for section in (first.removeprefix(start), *others):
        study = parse_study(tomllib.loads(start + section), "providers.md")
        hosts.add(urlsplit(study.models["writer"].base_url).netloc)
    assert len(hosts) == 7


def test_readme_and_documentation_stay_short() -> None:
    assert 600 <= len(FRONT[0].read_text(encoding="utf-8").split()) <= 800
    words = sum(len(page.read_text(encoding="utf-8").split()) for page in DOCS.glob("*.md"))
    assert words <= 45_000
