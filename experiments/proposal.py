"""Conditions on trials, costs, and the checks of proposed trials."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lakatos.experiments.errors import DesignError
from lakatos.experiments.task import Domain, Stimuli, identities

Array = NDArray[np.float64]
Condition = tuple[str, str, float]
"""A feature, a comparison and a number."""
TINY = 1e-9
"""Tolerance by which the ends of a range belong to it whatever rounding does."""
_COMPARISONS: Mapping[str, Callable[[Any, float], Any]] = {
    "<=": operator.le,
    ">=": operator.ge,
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    ">": operator.gt,
}


def read_condition(text: str) -> Condition:
    """A condition on a feature of trials, such as ``amount_size > 100``.

    Raises:
        DesignError: It is not the name of a feature, a comparison and a number.
    """
    found = re.fullmatch(r"\s*(\w+)\s*(<=|>=|==|!=|<|>)\s*(\S+)\s*", text)
    try:
        if found is None:
            raise ValueError
        return found[1], found[2], float(found[3])
    except ValueError:
        raise DesignError(
            f"the condition {text!r} is not a feature, one of {', '.join(_COMPARISONS)}, and a number, as in "
            "'amount_size > 100'."
        ) from None


def are_forbidden(domain: Domain, stimuli: Stimuli, conditions: Sequence[str]) -> NDArray[np.bool_]:
    """``(n_trials,)`` whether any of the conditions holds.

    Raises:
        DesignError: A condition names no feature of the domain's trials.
    """
    forbidden = np.zeros(len(stimuli), dtype=bool)
    if not conditions:
        return forbidden
    features = domain.features(stimuli)
    for text in conditions:
        name, comparison, value = read_condition(text)
        if name not in features:
            raise DesignError(
                f"the condition {text!r} names no feature of the {domain.name} domain; it has: {', '.join(features)}."
            )
        forbidden |= _COMPARISONS[comparison](np.asarray(features[name]), value)
    return forbidden


def costs_of(
    domain: Domain,
    stimuli: Stimuli,
    *,
    per_response: float,
    features: Mapping[str, float],
    repetitions: int = 1,
) -> Array:
    """``(n_trials,)`` cost of all presentations of each trial to one person.

    Args:
        domain: Domain of the trials.
        stimuli: The trials.
        per_response: Cost of an answer.
        features: Further cost for each unit of a feature, by its name.
        repetitions: Presentations of each trial.

    Raises:
        DesignError: There is no such feature, or a trial would cost nothing.
    """
    cost = np.full(len(stimuli), float(per_response))
    known = domain.features(stimuli) if features else {}
    for name, price in features.items():
        if name not in known:
            raise DesignError(
                f"the cost of {name!r} names no feature of the {domain.name} domain; it has: {', '.join(known)}."
            )
        cost += price * np.asarray(known[name], dtype=np.float64)
    if not (cost > 0).all():
        row = int(np.argmin(cost))
        raise DesignError(
            f"trial {row} ({domain.describe(stimuli, row)}) would cost {cost[row]:g}; raise per_response, or "
            "lower what features take off."
        )
    return repetitions * cost


def check_proposal(
    domain: Domain, settings: Mapping[str, Any], stimuli: Stimuli, *, forbidden: Sequence[str] = ()
) -> None:
    """Refuse trials that somebody proposes unless a search could have chosen them.

    Args:
        domain: Domain of the study.
        settings: Settings of its design space.
        stimuli: The trials proposed.
        forbidden: Conditions under which a trial is never asked.

    Raises:
        StimuliError: A trial is none of the domain.
        DesignError: A trial lies outside the space, is boring, is forbidden, or is there twice; the first is named.
    """
    for row, problem in problems_of_trials(domain, settings, stimuli, forbidden).items():
        raise DesignError(f"proposed trial {row} ({domain.describe(stimuli, row)}) {problem}.")


def problems_of_trials(
    domain: Domain, settings: Mapping[str, Any], stimuli: Stimuli, forbidden: Sequence[str] = ()
) -> dict[int, str]:
    """Explain why trials cannot be presented, by row; arguments and errors as of `check_proposal`.

    Raises:
        StimuliError: A trial is none of the domain.
    """
    domain.check(stimuli)
    problems: dict[int, str] = {}

    def refuse(wrong: NDArray[np.bool_], words: str) -> None:
        for row in np.flatnonzero(wrong):
            problems.setdefault(int(row), words)

    refuse(
        ~np.asarray(domain.admits(settings, stimuli)),
        "lies outside the ranges of the study's space, or one of its options is the other or better whatever one's "
        "taste. Change the trial, or the settings of the space",
    )
    refuse(
        are_forbidden(domain, stimuli, forbidden),
        f"is forbidden by the study ({'; '.join(forbidden)})",
    )
    if not domain.sequential:
        seen: dict[bytes, int] = {}
        again = np.array(
            [
                seen.setdefault(key, row) != row
                for row, key in enumerate(identities(domain, stimuli))
            ]
        )
        refuse(
            again,
            "is there twice, perhaps with its options exchanged. Name it once; repetitions ask it again",
        )
    return problems
