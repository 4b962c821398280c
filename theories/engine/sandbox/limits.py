"""Limits of time, memory and output for a call of a theory."""

from __future__ import annotations

import os
from dataclasses import dataclass

NO_EXECUTABLE_MEMORY = "no_executable_memory"
"""Name of the layer that forbids machine code made at run time, and with it compilation."""
THREAD_LIMIT = "thread_limit"
"""Name of the layer in which the kernel lets a process that may start threads have `MOST_THREADS`."""
MOST_THREADS = 64 + 2 * (os.cpu_count() or 1)
"""Most threads of a process that may start any. The sampler had 14 for four chains on two processors."""


@dataclass(frozen=True)
class SandboxLimits:
    """Limits of one call of a theory."""

    wall_seconds: float = 10.0
    cpu_seconds: float = 10.0
    memory_bytes: int = 2 * 2**30
    """Address space beyond that of Python and NumPy."""
    output_bytes: int = 512 * 2**20
    """Probabilities of one call, all sets of stimuli together."""
    source_bytes: int = 65536


USUAL_LIMITS = SandboxLimits()
WALL_PER_PROCESSOR = 12.0
"""Factor by which a call may take longer by the clock than its processor time, which only ends what hangs, so that a
busy machine changes nothing."""
CELLS_IN_TIME = 2**13
"""Draws times trials that a theory has the time of one call for, whatever the machine. A question about more of them
that ran into the limit of time or memory is asked again in parts of this size, and a step of a walk has more time in
proportion. A theory that passed its exam (512 draws of 100 trials within one call) takes a sixth of the limit for so
many at most."""
