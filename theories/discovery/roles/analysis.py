"""A language model's own look at the open answers: Python that computes in the sandbox and shows a few lines.

The code defines ``analyse(tables, show)``. It runs where theories run: no file, no network, no environment, no other
process, and no answers but the open ones, which are handed to it as arrays. It is run twice, and what differs is
refused, so that it shows the same when an audit runs it again.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import numpy as np

from lakatos.experiments.task import Trials
from lakatos.theories.engine.sandbox.limits import SandboxLimits
from lakatos.theories.engine.sandbox.lint import check_source
from lakatos.theories.errors import TheoryLintError

MOST_SHOWN: Final = 4000
"""Characters that come back from an analysis."""
MOST_ANSWERS: Final = 200_000
"""Of all experiments together; of larger ones the newest are handed over."""

LIMITS: Final = SandboxLimits(wall_seconds=60.0, cpu_seconds=10.0)
"""Of the hour more than of the processor, so that a busy machine does not decide what an analysis shows."""
_ADVICE_TO_OPERATORS: Final = re.compile(r",? or raise `\w+\.\w+`")

RunProgram = Callable[[str, Mapping[str, Any]], tuple[Any, str]]
"""Runs ``run(arguments)`` of a source in the sandbox: what it returned, and why there is nothing."""

_FRAME: Final = """


def run(arguments):
    import numpy

    lines, left = [], [arguments["most"]]

    def show(*values):
        text = " ".join(map(str, values))[: max(0, left[0])]
        left[0] -= len(text) + 1
        if text:
            lines.append(text)

    tables = {
        name: {key: numpy.array(column) for key, column in table.items()}
        for name, table in arguments["tables"].items()
    }
    numpy.random.seed(0)
    told = analyse(tables, show)
    if told is not None:
        show(told)
    return "\\n".join(lines)
"""


class AnalysisRefusedError(Exception):
    """An analysis gave nothing that can be shown; the message says why, to its author."""


def framed(code: str) -> str:
    """The program that runs an analysis; `theories.engine.sandbox.program` calls its ``run``."""
    return code + _FRAME


def run_analysis(code: str, tables: Mapping[str, Any], in_sandbox: RunProgram) -> str:
    """What an analysis shows.

    Args:
        code: Defines ``analyse(tables, show)``.
        tables: As `analysis_tables` makes them.
        in_sandbox: Runs a program, in a fresh sandbox in each call.

    Raises:
        AnalysisRefusedError: It does not run, takes too long, shows nothing, or shows something else when run again.
    """
    try:
        check_source(code)
    except TheoryLintError as error:
        raise AnalysisRefusedError(str(error)) from None
    shown = [_shown(framed(code), tables, in_sandbox) for _ in range(2)]
    if shown[0] != shown[1]:
        raise AnalysisRefusedError(
            "it shows something else when it is run again; use no addresses, no memory that was never written and no "
            "random numbers without a seed"
        )
    return shown[0]


def _shown(source: str, tables: Mapping[str, Any], in_sandbox: RunProgram) -> str:
    returned, failure = in_sandbox(source, {"tables": tables, "most": MOST_SHOWN})
    if failure:
        told = _ADVICE_TO_OPERATORS.sub("", failure.replace("the program", "the analysis"))
        raise AnalysisRefusedError(told[:1000])
    if not isinstance(returned, str) or not returned.strip():
        raise AnalysisRefusedError("it showed nothing; call show(...), or return a text")
    return returned[:MOST_SHOWN]


def analysis_tables(
    trials: Mapping[str, Trials], predicted: Mapping[str, Mapping[str, Any]]
) -> dict[str, dict[str, Any]]:
    """Open answers and predictions as plain lists, by experiment.

    Args:
        trials: By experiment, in the order in which they were asked.
        predicted: ``(n_trials, n_options)`` shares, by experiment and theory's title.
    """
    found: dict[str, dict[str, Any]] = {}
    n_answers = 0
    for name, item in reversed(list(trials.items())):
        n_answers += len(item.participant)
        if n_answers > MOST_ANSWERS:
            break
        table: dict[str, Any] = {
            key: np.asarray(array).tolist() for key, array in item.stimuli.arrays.items()
        }
        for key in ("participant", "trial", "response", "count"):
            table[key] = np.asarray(getattr(item, key)).tolist()
        table |= {f"feedback_{key}": list(map(float, c)) for key, c in item.feedback.items()}
        table |= {
            f"predicted_by_{title}": _rounded(shares)
            for title, shares in predicted.get(name, {}).items()
        }
        found[name] = table
    return found


def _rounded(shares: Any) -> Sequence[Any]:
    rounded: list[Any] = np.round(np.asarray(shares, dtype=np.float64), 4).tolist()
    return rounded
