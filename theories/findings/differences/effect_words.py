"""Wording of effects on parameters: verdicts, and how predictors were coded."""

from __future__ import annotations

from collections.abc import Mapping

from lakatos.theories.findings.differences.effect_formula import in_function
from lakatos.theories.findings.differences.parameter_effect import (
    ParameterEffect,
    ParameterEffects,
    values_are_categories,
)

REFERENCE = r"""\s*,\s*Treatment\(\s*(?:reference\s*=\s*)?(['"])(.*?)\1"""
"""Pattern of the level that others are compared with, which stands after a column of a formula."""


def effects_in_words(name: str, found: ParameterEffects) -> str:
    """State which effects a theory's parameters show, and how sure that is.

    Args:
        name: Name of the theory.
        found: Its effects.
    """
    shown = sorted((item for item in found.effects if item.is_shown), key=_p_of)
    tested = [item for item in found.effects if item.p is not None]
    if shown:
        return f"{name}: {' '.join(map(_in_words, shown))}"
    predictors = " or ".join(found.formula.predictors)
    if not tested:
        return f"{name}: effects of {predictors} are not tested."
    nearest = min(tested, key=_p_of)
    return (
        f"{name}: no clear evidence that a parameter depends on {predictors}; smallest corrected p: "
        f"{nearest.parameter}, {p_in_words(nearest.p)}."
    )


def open_effects_in_words(tied: Mapping[str, ParameterEffects]) -> str:
    """State which parameters have an effect by some of several theories only; empty where all agree.

    A theory that is wrong may need another parameter to follow a change, so that an effect is open as long as a theory
    that predicts as well does without it.

    Args:
        tied: Effects in theories that responses cannot distinguish, by name.
    """
    shown = {
        name: [item.parameter for item in found.effects if item.is_shown]
        for name, found in tied.items()
    }
    sentences = []
    for parameter in dict.fromkeys(own for parameters in shown.values() for own in parameters):
        with_it = [name for name, own in shown.items() if parameter in own]
        without = [name for name, own in shown.items() if parameter not in own]
        if without:
            predictors = " or ".join(tied[with_it[0]].formula.predictors)
            sentences.append(
                f"That {parameter} depends on {predictors} is open: it does by {' and '.join(with_it)}, and not by "
                f"{' and '.join(without)}, and these responses cannot distinguish these theories."
            )
    return " ".join(sentences)


def _p_of(item: ParameterEffect) -> float:
    return 1.0 if item.p is None else item.p


def _in_words(item: ParameterEffect) -> str:
    """One effect: its direction, the median participant at reference and with it, its size and its p."""
    start, end = item.in_unit
    side = "higher" if item.estimate > 0 else "lower"
    meaning = f" ({item.scale.meaning})" if item.scale.meaning else ""
    ratio = item.as_ratio
    if ratio is None:
        value, low, high = item.change
        size = f"{value:+.3g} ({low:+.3g} to {high:+.3g})"
    else:
        what = "times" if item.scale.kind == "log" else "times the odds"
        size = f"{ratio[0]:.3g} {what} ({ratio[1]:.3g} to {ratio[2]:.3g})"
    return (
        f"{item.parameter}{meaning} is {side} with {item.label}: {start:.3g} and {end:.3g}, {size}, "
        f"{p_in_words(item.p)}."
    )


def p_in_words(p: float | None) -> str:
    """A probability that was found by exchanges; empty where there is none."""
    return "" if p is None else "p < .001" if p < 0.001 else f"p = {p:.3f}"


def codings_of(found: ParameterEffects) -> tuple[str, ...]:
    """State how each predictor of a formula was coded."""
    codings = []
    right = found.formula.right
    for name in found.formula.predictors:
        values = found.frame[name]
        if values_are_categories(values):
            levels = ", ".join(map(str, values.cat.categories))
            reference = str(values.cat.categories[0])
            other = in_function(right, "C", name, REFERENCE)
            if in_function(right, "C", name, r"\s*,\s*Sum"):
                codings.append(
                    f"{name}: sum coding; each level is compared with the mean of {levels}."
                )
            elif other:
                codings.append(f"{name}: treatment coding; the reference level is {other[2]}.")
            else:
                codings.append(f"{name}: treatment coding; the reference level is {reference}.")
        elif in_function(right, "scale", name):
            codings.append(
                f"{name}: scaled; effects are for one standard deviation ({values.std(ddof=0):.4g}), at the mean "
                f"({values.mean():.4g})."
            )
        elif in_function(right, "center", name):
            codings.append(
                f"{name}: centred at {values.mean():.4g}; effects are for a change by 1."
            )
        else:
            codings.append(
                f"{name}: not scaled; effects are for a change by 1, in a parameter's own unit from the mean "
                f"({values.mean():.4g})."
            )
    return tuple(codings)
