"""A checkout works with and without the symbolic links in `lakatos/`."""

from __future__ import annotations

import shutil
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
LINKS = sorted(path.name for path in (ROOT / "lakatos").iterdir() if path.is_symlink())

IMPORT = """
import sys

sys.meta_path = [finder for finder in sys.meta_path if "editable" not in str(finder).lower()]
sys.path.insert(0, sys.argv[1])
import lakatos
from lakatos.flows.guard import check_packages
from lakatos.flows.commands import study

print(check_packages())
print(study.STUDIES.is_dir())
"""


def test_every_package_has_its_link() -> None:
    assert sorted([*_packages(), "studies"]) == LINKS


@pytest.mark.parametrize("link_becomes", ["file", "nothing"])
def test_a_clone_without_symbolic_links_can_be_imported(tmp_path: Path, link_becomes: str) -> None:
    """Git for Windows writes the target of a link into a small file unless links are allowed."""
    checkout = tmp_path / "checkout"
    (checkout / "lakatos").mkdir(parents=True)
    shutil.copy(ROOT / "lakatos" / "__init__.py", checkout / "lakatos")
    for name in LINKS:
        source = ROOT / name
        shutil.copytree(source, checkout / name, ignore=shutil.ignore_patterns("__pycache__"))
        if link_becomes == "file":
            (checkout / "lakatos" / name).write_text(f"../{name}", encoding="utf-8")
    command = [sys.executable, "-P", "-c", IMPORT, str(checkout)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == [str(checkout), "True"]


def _packages() -> list[str]:
    from lakatos.flows.guard import PACKAGES

    return list(PACKAGES)


def test_the_version_stands_once_and_the_citation_names_it() -> None:
    import yaml

    import lakatos

    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert citation["version"] == lakatos.__version__
    assert version("lakatos") == lakatos.__version__
