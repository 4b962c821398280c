"""What this machine offers the laboratory."""

from __future__ import annotations

import importlib.util
import os
import platform
import shutil
import sqlite3
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Literal

from theories.sandbox.doctor import probe


@dataclass(frozen=True)
class Line:
    """One thing that was looked at."""

    name: str
    state: Literal["ok", "missing", "wrong"]
    detail: str


def examine() -> list[Line]:
    """Versions, sandbox layers and optional programs, each with what its lack means."""
    lines = [Line("python", "ok", platform.python_version()), Line("sqlite", "ok", sqlite3.sqlite_version)]
    lines += [Line(name, "ok", version(name)) for name in ("numpy", "scipy", "pydantic")]
    has_prefect = importlib.util.find_spec("prefect") is not None
    lines.append(
        Line(
            "prefect",
            "ok" if has_prefect else "missing",
            version("prefect") if has_prefect else "runs need --engine none without it",
        )
    )
    for name, found in probe().items():
        if name in ("missing", "problem"):
            if found:
                lines.append(Line(f"sandbox {name}", "missing", f"{found}; theories run with less protection"))
            continue
        shown = ", ".join(map(str, found)) if isinstance(found, list | tuple) else str(found)
        lines.append(Line(f"sandbox {name}", "ok" if found else "missing", shown or "none"))
    for program, use in (("chromium", "tests of the report need it"), ("bwrap", "a stricter sandbox uses it")):
        where = shutil.which(program)
        lines.append(Line(program, "ok" if where else "missing", where or use))
    free = shutil.disk_usage(Path.cwd()).free / 2**30
    lines.append(Line("disk", "ok" if free > 1 else "wrong", f"{free:.1f} GiB free here; a run takes a few MiB"))
    lines.append(Line("processors", "ok", str(os.cpu_count())))
    return lines
