"""The documentation is a site without dead links, in which every page is found."""

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent


@pytest.mark.slow
@pytest.mark.skipif(not importlib.util.find_spec("mkdocs"), reason="mkdocs is not installed")
def test_the_site_is_built_strictly(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "-d", str(tmp_path / "site")]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    page = (tmp_path / "site" / "reference.html").read_text(encoding="utf-8")
    assert "Score theories on responses that had no part in fitting them" in page
    commands = (tmp_path / "site" / "commands.html").read_text(encoding="utf-8")
    assert "lakatos data describe FILE" in commands
    records = (tmp_path / "site" / "records.html").read_text(encoding="utf-8")
    assert "trials_collected" in records
    search = (tmp_path / "site" / "search" / "search_index.json").read_text(encoding="utf-8")
    assert "on_refusal" in search
