"""The plain process in which the package's own theories run where the sandbox does not exist.

It gives up no rights, so `theories.engine.sandbox.plain` hands it only texts that the package itself would write. It
answers for one theory after another until its input ends.
"""

from __future__ import annotations

import os
import sys
import warnings
from typing import NoReturn

from lakatos.theories.engine.sandbox import serving, wire
from lakatos.theories.engine.sandbox.evaluator import NOTHING


def main() -> NoReturn:
    """Answer through the pipes that are standard input and output at the start, until the input ends."""
    os.dup2(sys.stdin.fileno(), serving.REQUESTS)
    os.dup2(sys.stdout.fileno(), serving.ANSWERS)
    null = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1):  # what a theory prints must not come between its answers
        os.dup2(null, descriptor)
    warnings.simplefilter("ignore")
    os.write(serving.ANSWERS, wire.READY)
    while True:
        serving.serve(NOTHING, NOTHING)
        serving.write_answer({})  # it has let go of its theory


if __name__ == "__main__":
    main()
