"""A language model's own look at the open answers: Python that computes in the sandbox and shows a few lines.

The code defines ``analyse(tables, show)``. It runs where theories run: no file, no network, no environment, no other
process, and no answers but the open ones, which are handed to it as arrays. It is run twice, and what differs is
refused, so that it shows the same when an audit runs it again.
"""

from __future__ import annotations

import json
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
"""Most responses of all experiments together that are passed on; of more, the newest are kept."""

LIMITS: Final = SandboxLimits(wall_seconds=60.0, cpu_seconds=10.0)
"""Limits of an analysis. The wall time is generous, so that a busy machine does not decide what an analysis shows."""
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
    failure = ""
    try:
        told = analyse(tables, show)
        if told is not None:
            show(told)
    except (ArithmeticError, AttributeError, LookupError, NameError, TypeError, ValueError) as error:
        place, line = error.__traceback__, 0
        while place is not None:
            if place.tb_frame.f_code.co_filename == run.__code__.co_filename:
                line = place.tb_lineno
            place = place.tb_next
        failure = f"{type(error).__name__} at line {line}: {error}"[:1000]
    return ["\\n".join(lines), failure]
"""


class AnalysisRefusedError(Exception):
    """An analysis gave nothing that can be shown; the message says why, to its author."""


def framed(code: str) -> str:
    """The program that runs an analysis; `theories.engine.sandbox.program` calls its ``run``."""
    return code + _FRAME


def run_analysis(code: str, tables: Mapping[str, Any], in_sandbox: RunProgram) -> str:
    """Run an analysis and return what it shows.

    Args:
        code: Defines ``analyse(tables, show)``.
        tables: As `analysis_tables` makes them.
        in_sandbox: Runs a program, in a fresh sandbox in each call.

    Raises:
        AnalysisRefusedError: It fails, takes too long, shows nothing, or shows something else when run again. What it
            showed before an error of its own stands in the message.
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
    text, failure = shown[0]
    if failure:
        raise AnalysisRefusedError(
            f"{failure}\nBefore that it showed:\n{text}" if text else failure
        )
    if not text.strip():
        raise AnalysisRefusedError("it showed nothing; call show(...), or return a text")
    return text


def _shown(source: str, tables: Mapping[str, Any], in_sandbox: RunProgram) -> tuple[str, str]:
    """Run an analysis and return what it showed, and the error that ended it; empty where none did."""
    returned, failure = in_sandbox(source, {"tables": tables, "most": MOST_SHOWN})
    if failure:
        words = _ADVICE_TO_OPERATORS.sub("", failure.replace("the program", "the analysis"))
        raise AnalysisRefusedError(words[:1000])
    match returned:
        case [str(text), str(error)]:
            return text[:MOST_SHOWN], error[:1000]
    return "", ""


def analysis_tables(
    trials: Mapping[str, Trials], predicted: Mapping[str, Mapping[str, Any]]
) -> dict[str, dict[str, Any]]:
    """Open answers and predictions as plain lists, by experiment.

    Args:
        trials: Responses by experiment, in the order of presentation.
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


MEANINGS: Final = {
    "participant": "who gave the response, from 0",
    "trial": "row of the trial's arrays, from 0",
    "response": "option that was chosen, from 0",
    "count": "equal responses that the row stands for",
}
"""Arrays with one row a response that every experiment has."""
MOST_LEVELS: Final = 8
_FIRST: Final = 3


def arrays_in_words(
    table: Mapping[str, Any], meanings: Mapping[str, str], codes: Mapping[str, Sequence[str]]
) -> dict[str, str]:
    """Each array of an experiment with shape, type, meaning, and levels or first values.

    Args:
        table: Table of `analysis_tables`.
        meanings: Meanings of arrays of the domain, by name.
        codes: Words that the numbers of an array stand for, from 0 on.
    """
    found = {}
    for name, column in table.items():
        array = np.asarray(column)
        levels = np.unique(array)
        words = [f"{array.dtype.name} {array.shape}"]
        words += [text] if (text := MEANINGS.get(name) or meanings.get(name, "")) else []
        if name in codes:
            words.append(", ".join(f"{code} is {word}" for code, word in enumerate(codes[name])))
        elif not name.startswith("predicted_by_"):
            few = 1 < len(levels) <= MOST_LEVELS
            shown = levels.tolist() if few else array.reshape(-1)[:_FIRST].tolist()
            words.append(f"{'levels' if few else 'begins'} {json.dumps(shown)}")
        found[name] = "; ".join(words)
    return found
