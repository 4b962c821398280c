"""Theories fitted to each person alone, as much of the field reports them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from lakatos.experiments.errors import TrialsError
from lakatos.flows.notebook.answers import PeoplesAnswers
from lakatos.flows.notebook.frames import in_kind
from lakatos.flows.notebook.theory import TheoryLike, adopted, forms_of, left_out
from lakatos.theories.engine.laboratory import Laboratory
from lakatos.theories.engine.person_fits import PersonFits, fit_each_person
from lakatos.theories.errors import TheoryError
from lakatos.theories.findings.transfer import first_half

Array = NDArray[np.float64]


def fit_each(
    answers: PeoplesAnswers | Any,
    theories: TheoryLike | Sequence[TheoryLike] | None = None,
    *,
    halves: bool = False,
    n_workers: int = 2,
    **adopting: Any,
) -> Any:
    """Fit theories to each person alone by maximum likelihood; BIC and likelihood per choice, averaged over people.

    Args:
        answers: As `adopt` returned them, or what `adopt` takes. Of people who were held out when a theory was found,
            ``bic`` compares theories as GeCCo does.
        theories: One or several; all published ones of the domain by default.
        halves: Fit the first half of each person's answers, and score the second half as well.
        n_workers: Theories that run at the same time; does not change results.
        adopting: Arguments of `adopt`.

    Returns:
        A frame with a row for each theory, the lowest BIC first. ``behind`` is the mean difference in BIC to the first.
        ``likelihood`` is the normalised likelihood of what was fitted (geometric mean of the probabilities of
        choices), ``second_half`` that of the others; intervals are 95%, over people.

    Raises:
        TrialsError: People cannot be told apart, or give a single answer.
        TheoryError: A theory does not run on these answers. Published ones that do not are left out, with a warning.

    Example:
        >>> lakatos.fit_each("answers.csv", ["hyperbolic", "exponential"])  # doctest: +SKIP
    """
    known = adopted(answers, **adopting)
    if any(item.pooled for item in known.trials):
        raise TrialsError("these are counts of answers, which do not say who gave them.")
    if halves and min(int(item.n_choices.min()) for item in known.trials) < 2:
        raise TrialsError("somebody gave a single answer, which has no second half.")
    shown = [first_half(item) for item in known.trials] if halves else list(known.trials)
    fits: dict[str, PersonFits] = {}
    with Laboratory(known.domain, n_workers) as laboratory:
        for name, form in forms_of(theories, known, laboratory).items():
            try:
                later = known.trials if halves else ()
                fits[name] = fit_each_person(form, shown, laboratory, later=later)
            except TheoryError as error:
                left_out(name, error, named=theories is not None)
    if not fits:
        raise TheoryError("no theory runs on these answers.")
    best = min(fits, key=lambda name: float(fits[name].bic.mean()))
    rows = [
        {
            "theory": name,
            "people": len(item.n_choices),
            "parameters": len(item.parameters),
            **_mean("bic", item.bic),
            **_mean("behind", item.bic - fits[best].bic),
            **_mean("likelihood", item.per_choice),
            **(_mean("second_half", item.later_per_choice) if halves else {}),
        }
        for name, item in fits.items()
    ]
    table = pd.DataFrame(rows).sort_values("bic", ignore_index=True)
    return in_kind(table, answers)


def _mean(name: str, values: Array) -> dict[str, float]:
    """A mean over people, and the ends of its interval."""
    error = 2 * float(values.std(ddof=1)) / np.sqrt(len(values)) if len(values) > 1 else np.nan
    mean = float(values.mean())
    return {name: mean, f"{name}_low": mean - error, f"{name}_high": mean + error}
