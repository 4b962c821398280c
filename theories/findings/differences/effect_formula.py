"""Formulas of effects on parameters, as lme4, brms and bambi write them.

An example is ``loss_aversion ~ strategy + (strategy | participant)``. `formulae` parses and codes them: categories by
treatment coding (each level beside the first) or, as ``C(strategy, Sum)``, by sum coding; numbers as they are, or
``scale(age)`` and ``center(age)``; interactions by ``:`` and ``*``.
"""

from __future__ import annotations

import re
import warnings
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from lakatos.experiments.errors import TrialsError
from lakatos.traces.wording import did_you_mean

Array = NDArray[np.float64]
PARTICIPANT = "participant"
"""Name of participants in a formula, whatever their column is called."""
EXAMPLE = "loss_aversion ~ strategy + (strategy | participant)"
MOST_GROUPS = 6
"""Different numbers that are groups as they are, where groups are wanted."""
CODINGS = ("Sum", "Treatment")
"""Words of a formula that are no columns."""
LEFT = "effect_of_formula"
"""Name that stands for the parameters while a formula is parsed; no column is called so."""


@dataclass(frozen=True)
class EffectFormula:
    """A formula that was read."""

    text: str
    parameters: tuple[str, ...]
    """Parameters on the left side; none where all parameters are meant."""
    predictors: tuple[str, ...]
    """Columns that the right side names, in their order; random effects aside."""
    slopes: tuple[str, ...]
    """Columns that have a random slope."""
    group: str
    """Grouping of the random effects; empty where the formula names none."""
    right: str
    interactions: tuple[tuple[str, ...], ...] = ()
    """Columns of each interaction."""


@dataclass(frozen=True)
class DesignTerm:
    """A term of a formula: columns of the design that belong together."""

    name: str
    columns: tuple[int, ...]
    labels: tuple[str, ...]
    """Names of the columns, such as ``strategy[regulate]``."""
    predictors: tuple[str, ...]


@dataclass(frozen=True)
class EffectDesign:
    """A formula's design: a row for each cell, a column of ones first."""

    matrix: Array
    """``(n_cells, n_columns)``."""
    terms: tuple[DesignTerm, ...]


def read_formula(text: str) -> EffectFormula:
    """Read a formula; without a left side it is about all parameters.

    Raises:
        TrialsError: It is no formula; the message says what one looks like.
    """
    from formulae import model_description

    left, tilde, right = text.partition("~")
    if not tilde:
        left, right = "", text
    names = tuple(item.strip() for item in re.split(r"[+,]", left) if item.strip())
    wrong = next((name for name in names if not name.isidentifier()), "")
    if wrong:
        raise TrialsError(
            f"the formula {text!r} has {wrong!r} on its left side; name a parameter of the theory as it is, such as "
            f"{EXAMPLE!r} (the scale of each parameter is stated with its effects)."
        )
    try:
        found = model_description(f"{LEFT} ~ {right}")
    except Exception as error:  # the parser's own errors have no common class
        raise TrialsError(
            f"the formula {text!r} cannot be read ({error}); write one such as {EXAMPLE!r}."
        ) from None
    if _has_bare_bar(right):
        raise TrialsError(
            f"the formula {text!r} has random effects without parentheses; write them as in {EXAMPLE!r}."
        )
    common = [term for term in found.common_terms if getattr(term, "name", "") != "Intercept"]
    if len(common) == len(found.common_terms):
        raise TrialsError(
            f"the formula {text!r} leaves out the intercept, without which no effect is a difference; leave out "
            "'0 +' or '- 1'."
        )
    if not common:
        raise TrialsError(
            f"the formula {text!r} names no predictor; write one such as {EXAMPLE!r}."
        )
    groups = {name for term in found.group_terms for name in term.factor.var_names}
    if len(groups) > 1:
        raise TrialsError(
            f"the formula {text!r} has random effects of {' and '.join(sorted(groups))}; they can be of participants "
            "only, as in (strategy | participant)."
        )
    slopes = {name for term in found.group_terms for name in getattr(term.expr, "var_names", ())}
    predictors = dict.fromkeys(
        name
        for term in common
        for name in sorted(term.var_names, key=right.index)
        if name and name not in CODINGS
    )
    interactions = [
        tuple(name for name in predictors if name in term.var_names)
        for term in common
        if len(term.components) > 1
    ]
    return EffectFormula(
        text,
        names,
        tuple(predictors),
        tuple(sorted(slopes)),
        next(iter(groups), ""),
        right.strip(),
        tuple(interactions),
    )


def _has_bare_bar(right: str) -> bool:
    """Whether a formula has random effects outside of parentheses."""
    depth = 0
    for sign in re.sub(r"`[^`]*`", "", right):
        depth += (sign == "(") - (sign == ")")
        if sign == "|" and depth == 0:
            return True
    return False


def design_of(formula: EffectFormula, frame: pd.DataFrame) -> EffectDesign:
    """Code a formula's predictors.

    Args:
        formula: Formula that was read.
        frame: A row for each cell, with a column for each predictor and for the group of the random effects.

    Raises:
        TrialsError: A function of the formula is unknown, or two predictors cannot be told apart.
    """
    from formulae import design_matrices

    for name in formula.predictors:
        function = in_function(formula.right, "(?:scale|center)", name)
        if function and isinstance(frame[name].dtype, pd.CategoricalDtype):
            raise TrialsError(
                f"the formula {formula.text!r} has {function.group(0)}, but {name} is a category "
                f"({', '.join(map(str, frame[name].cat.categories))}; columns of two values are categories, too); "
                f"write {name} alone."
            )
    shown = frame.assign(**{LEFT: 0.0})
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
            common = design_matrices(f"{LEFT} ~ {formula.right}", shown).common
            matrix = np.asarray(common.design_matrix, dtype=np.float64)
    except Exception as error:
        raise TrialsError(
            f"the formula {formula.text!r} cannot be computed ({type(error).__name__}: {error}); functions are scale, "
            "center, C, Treatment and Sum."
        ) from None
    terms = []
    for name, term in common.terms.items():
        if name == "Intercept":
            continue
        where = common.slices[name]
        columns = tuple(range(len(matrix.T))[where]) if isinstance(where, slice) else (where,)
        labels = tuple(getattr(term, "labels", None) or [name])
        own = tuple(
            item
            for item in formula.predictors
            if re.search(rf"(?<!\w){re.escape(item)}(?!\w)", name)
        )
        terms.append(DesignTerm(name, columns, labels, own))
    _check_rank(matrix, terms)
    return EffectDesign(matrix, tuple(terms))


def in_function(
    right: str, function: str, column: str, after: str = r"\s*\)"
) -> re.Match[str] | None:
    """Find where a formula applies a function to a column, such as ``scale(age)``.

    Args:
        right: Side of the formula.
        function: Pattern of its name.
        column: Name of the column.
        after: Pattern of what follows the column.
    """
    return re.search(rf"(?<!\w){function}\(\s*`?{re.escape(column)}`?{after}", right)


def _check_rank(matrix: Array, terms: Sequence[DesignTerm]) -> None:
    """Refuse a design in which a term says what others say already."""
    if np.linalg.matrix_rank(matrix) == matrix.shape[1]:
        return
    taken = [0]
    for term in terms:
        before = matrix[:, taken]
        taken += term.columns
        if np.linalg.matrix_rank(matrix[:, taken]) < len(taken):
            others = [item.name for item in terms if item.columns[-1] < term.columns[0]]
            beside = f" beside {', '.join(others)}" if others else ""
            raise TrialsError(
                f"{term.name} cannot be told apart{beside}: it varies only together with "
                f"{'it' if len(others) == 1 else 'them' if others else 'nothing'} in these "
                f"{len(before)} cells; leave one of them out of the formula."
            )


def check_columns(wanted: Sequence[str], there: Sequence[str], of_file: Sequence[str] = ()) -> None:
    """Refuse predictors that stand beside no response.

    Args:
        wanted: Columns that a formula names.
        there: Columns that stand beside responses.
        of_file: All columns of the file that was read.

    Raises:
        TrialsError: A predictor is none of them; the message says what there is.
    """
    for name in (own for own in wanted if own not in there):
        if name in of_file:
            raise TrialsError(
                f"{name!r} is a column of the file that was not read with the responses; read them with "
                f"columns={{'attributes': ['{name}']}}."
            )
        known = list(dict.fromkeys([*of_file, *there]))
        raise TrialsError(
            f"there is no column {name!r}{did_you_mean(name, known)} There is: {', '.join(known) or 'none'}."
        )


def as_values(cells: Sequence[Any], name: str) -> pd.Series:
    """Cells of a column as numbers, or as categories in their order; empty ones are missing.

    Columns of two values are categories, whatever they are.
    """
    texts = pd.Series([str(cell).strip() if cell is not None else "" for cell in cells], name=name)
    known = texts[texts != ""]
    numbers = pd.to_numeric(known, errors="coerce")
    is_number = bool(np.isfinite(numbers.to_numpy(dtype=float)).all()) and len(known) > 0
    if is_number and numbers.nunique() > 2:
        return numbers.reindex(texts.index).astype(float)
    levels = sorted(known.unique(), key=float if is_number else str)
    return pd.Series(
        pd.Categorical(texts.where(texts != ""), categories=levels, ordered=True), name=name
    )


def in_ranges(cells: Sequence[Any], cuts: Sequence[float], name: str) -> NDArray[Any]:
    """Numbers in words, as the range between cuts in which each lies; empty ones stay empty.

    Raises:
        TrialsError: A cut is no finite number, or a cell no number.
    """
    if not np.isfinite(cuts).all():
        raise TrialsError(
            f"ranges of numbers begin at {', '.join(map(str, cuts))}; give finite numbers."
        )
    at = sorted(cuts)
    between = [f"{low:g} to below {high:g}" for low, high in pairwise(at)]
    words = [f"below {at[0]:g}", *between, f"{at[-1]:g} and above"]

    def word(cell: Any) -> str:
        if str(cell).strip() == "":
            return ""
        try:
            return f"{bisect_right(at, float(cell)) + 1}. {words[bisect_right(at, float(cell))]}"
        except ValueError:
            raise TrialsError(f"{name} has {cell!r}, which is no number to cut.") from None

    return np.array([word(cell) for cell in cells], dtype=object)


def in_groups(
    labels: Sequence[NDArray[Any]], cuts: Sequence[float], name: str
) -> list[NDArray[Any]]:
    """Labels of participants as groups: numbers between cuts, or in halves where there are many of them.

    Args:
        labels: ``(n_participants,)`` of each experiment, in text; empty where they are not known.
        cuts: Beginnings of ranges of a number; by default the median, where there are more than `MOST_GROUPS` numbers.
        name: Name of the column.
    """
    values = as_values(np.concatenate(list(labels)).tolist(), name)
    if not cuts and (values.dtype != float or values.nunique() <= MOST_GROUPS):
        return [np.asarray(own, dtype=object) for own in labels]
    at = cuts or [float(values.median())]
    return [in_ranges(own.tolist(), at, name) for own in labels]
