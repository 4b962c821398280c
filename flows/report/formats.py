"""Numbers as the pages write them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from math import inf

import numpy as np

from lakatos.experiments.adoption.names import experiment_in_words
from lakatos.experiments.interval import interval_of_squares
from lakatos.theories.engine.scoring.score import LEAST_OF_INTERVAL, ScoreEstimate
from lakatos.traces.wording import plural


def fixed(value: float | None, digits: int = 4) -> str:
    """A number with a real minus sign; a dash where there is none."""
    if value is None or not np.isfinite(value):
        return "–"
    return f"{value:.{digits}f}".replace("-", "−")


def signed(value: float | None, digits: int = 4) -> str:
    """A number as `fixed` writes it, always with its sign."""
    if value is None or not np.isfinite(value):
        return "–"
    return f"{value:+.{digits}f}".replace("-", "−")


def figures3(value: float) -> str:
    """Three significant figures, with a real minus sign."""
    return f"{value:.3g}".replace("-", "−")


def in_brackets(interval_text: str) -> str:
    """An interval's ends in brackets; words that there is none as they are."""
    low, between, high = interval_text.partition(" to ")
    return f"[{low}, {high}]" if between else interval_text


def root_in_points(squared: float) -> str:
    """The root of a mean squared error of proportions, in percentage points."""
    return fixed(100 * float(np.sqrt(max(squared, 0.0))), 1)


def percent(value: float | None) -> str:
    """A proportion in percent; a dash where there is none."""
    return "–" if value is None else f"{value:.0%}"


def thousands(value: int) -> str:
    """A whole number with commas between thousands."""
    return f"{value:,}"


def interval(
    value: float | None, standard_error: float | None, digits: int = 4, n_units: int | None = None
) -> str:
    """The 95% interval of a mean over so many units, in words where there is no finite one."""
    if value is None or standard_error is None:
        return "interval unknown"
    degrees = inf if n_units is None else max(n_units - 1, 1)
    return interval_of(ScoreEstimate(value, standard_error, n_units, degrees), digits)


def interval_of(estimate: ScoreEstimate, digits: int = 4) -> str:
    """The 95% interval of an estimate, which is wider where few participants are behind it."""
    if not estimate.is_known:
        return "interval unknown"
    if not estimate.has_interval:
        return f"no interval (n = {estimate.n_units})"
    low, high = estimate.interval
    return f"{fixed(low, digits)} to {fixed(high, digits)}"


def interval_of_error(
    value: float | None, standard_error: float | None, digits: int = 4, n_units: int | None = None
) -> str:
    """The 95% interval of a mean squared error over so many trials; see `interval_of_squares`."""
    if (
        value is None
        or standard_error is None
        or (n_units or LEAST_OF_INTERVAL) < LEAST_OF_INTERVAL
    ):
        return interval(value, standard_error, digits, n_units)
    degrees = inf if n_units is None else n_units - 1
    low, high = interval_of_squares(value, standard_error, degrees)
    return f"{fixed(low, digits)} to {fixed(high, digits)}"


def listed(sentences: Iterable[str]) -> str:
    """Sentences as parts of one, without their full stops."""
    return "; ".join(sentence.rstrip(".") for sentence in sentences)


def moment(time: str) -> str:
    """A time of the journal to the second; a dash where there is none."""
    return time.replace("T", " ")[:19] if time else "–"


def experiment_of_data_set(name: str) -> str:
    """An experiment's number, and in parentheses the part of the data to which it belongs: ``2.1 (students)``."""
    number, _, part = experiment_in_words(name).partition(" ")
    return f"{number} ({part})" if part else number


FATES = {
    "admitted": "entered the comparison",
    "not admitted": "did not enter the comparison",
    "refused": "rejected by the checks",
}
"""What became of a theory, by the words of `RunReading.fate`."""


def fate_in_words(fate: str) -> str:
    """What became of a theory, for readers."""
    return FATES.get(fate, fate)


EDITS = {
    r"compose afresh": "new combination of mechanisms",
    r"drop (.+) from (\w+)": r"\1 omitted from \2",
    r"add (.+) to (\w+)": r"\1 added to \2",
    r"replace (.+) by (.+) in (\w+)": r"\2 in place of \1 in \3",
}
"""Changes of `Grammar.edits`, by the words in which a reader finds them."""


def edits_in_words(change: str) -> str:
    """The change by which a search made a theory, for readers; other texts stay as they are."""
    parts = []
    for part in change.split("; "):
        known = (edit for edit in EDITS if re.fullmatch(edit, part))
        edit = next(known, "")
        parts.append(re.sub(edit, EDITS[edit], part).replace("_", " ") if edit else part)
    return "; ".join(parts)


FILTERS: dict[str, Callable[..., str]] = {
    "edits_in_words": edits_in_words,
    "fate": fate_in_words,
    "fixed": fixed,
    "signed": signed,
    "experiment": experiment_of_data_set,
    "interval": interval,
    "interval_of": interval_of,
    "in_brackets": in_brackets,
    "interval_of_error": interval_of_error,
    "listed": listed,
    "plural": plural,
    "thousands": thousands,
    "moment": moment,
    "percent": percent,
    "root_in_points": root_in_points,
}
"""Functions that templates may apply to a value."""
