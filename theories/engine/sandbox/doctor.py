"""Abilities of the sandbox on this machine, for ``lakatos doctor``."""

from __future__ import annotations

import platform
import shutil
import statistics
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from lakatos.theories.engine.sandbox.client import Sandbox
from lakatos.theories.errors import SandboxUnavailableError, TheoryError

KNOWN_LAYERS = (
    "bwrap",
    "userns",
    "netns",
    "pidns",
    "no_new_privs",
    "no_capabilities",
    "pdeathsig",
    "not_dumpable",
    "landlock",
    "rlimits",
    "no_time_stamps",
    "seccomp",
    "no_executable_memory",
    "no_clocks",
)
"""Every name that `theories.engine.sandbox.client.ProtectionLevel.layers` may hold."""
COIN = (
    "def choose(parameters, trials, xp):\n    return 0.5 + 0 * parameters['x'] + 0 * trials['x']\n"
)
"""A theory that always answers one half."""


def probe() -> dict[str, Any]:
    """Start a sandbox, run a coin flip in it and say which layers protected the machine from it.

    Returns:
        ``works``, ``layers``, ``missing``, ``landlock_abi``, ``bwrap`` (its path), ``start_ms``, ``theory_ms`` (a whole
        process per theory), ``call_ms`` (a repeated call of one), versions, and ``problem`` where something failed.
    """
    result: dict[str, Any] = {
        "works": False,
        "layers": [],
        "missing": list(KNOWN_LAYERS),
        "landlock_abi": 0,
        "bwrap": shutil.which("bwrap"),
        "system": f"{platform.system()} {platform.release()} {platform.machine()}",
        "problem": None,
    }
    one, stimuli = {"x": np.zeros(1)}, [{"x": np.zeros(2)}]
    try:
        start = time.perf_counter()
        with Sandbox(is_own=COIN.__eq__) as sandbox:
            level = sandbox.level
            result["start_ms"] = 1000 * (time.perf_counter() - start)
            result["theory_ms"] = _median_ms(lambda: sandbox.probabilities(COIN, one, stimuli), 9)
            with sandbox.open_session(COIN, stimuli) as session:
                result["call_ms"] = _median_ms(lambda: session.probabilities(one), 99)
    except (SandboxUnavailableError, TheoryError) as error:
        return result | {"problem": str(error)}
    return result | {
        "works": True,
        "layers": list(level.layers),
        "missing": [name for name in KNOWN_LAYERS if name not in level.layers],
        "landlock_abi": level.landlock_abi,
        "python": level.python,
        "numpy": level.numpy,
        "problem": "; ".join(level.notes) or None,
    }


def _median_ms(work: Callable[[], object], times: int) -> float:
    durations = []
    for _ in range(times):
        start = time.perf_counter()
        work()
        durations.append(1000 * (time.perf_counter() - start))
    return statistics.median(durations)
