"""Every environment variable of the code stands in one table."""

from __future__ import annotations

import re
from pathlib import Path

from lakatos.flows.run.variables import INTERNAL, VARIABLES

ROOT = Path(__file__).resolve().parents[3]
NAME = re.compile(r"\bLAKATOS_[A-Z]+(?:_[A-Z]+)*\b")


def test_the_table_has_the_variables_that_the_code_reads_and_no_others() -> None:
    packages = (
        "flows",
        "memory",
        "judges",
        "domains",
        "theories",
        "experiments",
        "language_models",
        "traces",
    )
    texts = [path for package in packages for path in (ROOT / package).rglob("*.py")]
    texts = [*(path for path in texts if path.name != "variables.py"), ROOT / "prefect.yaml"]
    named = {name for path in texts for name in NAME.findall(path.read_text(encoding="utf-8"))}
    assert named == set(VARIABLES) | INTERNAL
    assert not set(VARIABLES) & INTERNAL
