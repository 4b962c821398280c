"""One thread for linear algebra in every process, whoever starts it.

The sandboxes use the processors. A second thread makes small products slower beside them, and results may differ in the
last digit with the number of threads.
"""

from __future__ import annotations

import os
import sys

VARIABLES = (
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "BLIS_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
)
"""Variables that libraries of linear algebra read when they are loaded. Not that of OpenMP: served models need
theirs."""


def use_one_thread() -> None:
    """Limit libraries that are loaded later, here and in processes started from here, and those loaded already."""
    os.environ.update(dict.fromkeys(VARIABLES, "1"))
    if "numpy" in sys.modules:
        from threadpoolctl import threadpool_limits

        threadpool_limits(1, user_api="blas")
