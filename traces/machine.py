"""Properties of a machine that can change the last digits of results: its processor and its linear-algebra kernel."""

from __future__ import annotations

import platform
from dataclasses import dataclass
from functools import cache
from pathlib import Path

CPU_FILE = Path("/proc/cpuinfo")
"""File in which Linux names the processor."""


@dataclass(frozen=True)
class Machine:
    """A processor and the kernels that libraries of linear algebra chose for it."""

    processor: str
    """Model of the processor, as it names itself."""
    kernels: tuple[str, ...]
    """Library, version and kernel of each library of linear algebra that is loaded, each once."""

    @property
    def words(self) -> str:
        """The kernels and the processor in words."""
        return f"{', '.join(self.kernels) or 'an unknown kernel'} on {self.processor or 'an unknown processor'}"


@cache
def machine_here() -> Machine:
    """The machine of this process; its libraries are loaded first, as they choose a kernel then."""
    import numpy as np  # noqa: F401
    import scipy.linalg  # noqa: F401
    from threadpoolctl import threadpool_info

    kernels = {
        f"{item['internal_api']} {item['version']} {item.get('architecture') or 'of one kernel'}"
        for item in threadpool_info()
        if item["user_api"] == "blas"
    }
    return Machine(_processor(), tuple(sorted(kernels)))


def _processor() -> str:
    try:
        lines = CPU_FILE.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        lines = []
    named = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(named, "") or platform.processor() or platform.machine()
