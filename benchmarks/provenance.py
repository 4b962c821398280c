"""What every result file says about where it came from."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
RUNNER = ROOT / "benchmarks" / "run.py"


def provenance() -> dict[str, object]:
    """Command, commit, versions and machine."""

    def git(*arguments: str) -> str:
        done = subprocess.run(
            ["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=False
        )
        return done.stdout.strip()

    return {
        "command": " ".join(["python", *map(_without_place, sys.argv)]),
        "commit": git("rev-parse", "HEAD"),
        "changed": bool(
            git("status", "--porcelain", "--untracked-files=no", "--", ".", ":!benchmarks/results")
        ),
        "python": platform.python_version(),
        "numpy": np.__version__,
        "machine": platform.machine(),
        "n_processors": os.cpu_count(),
    }


def _without_place(word: str) -> str:
    """An argument of the command without what is particular to the machine it ran on."""
    path = Path(word)
    if not path.is_absolute():
        return word
    return str(path.relative_to(ROOT)) if path.is_relative_to(ROOT) else path.name
