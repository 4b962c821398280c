"""Theories fitted to each person alone, as much of the field reports them."""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from lakatos.experiments.errors import TrialsError
from lakatos.flows.argument import Columns, RunsFolder, Workers
from lakatos.flows.notebook.asked import Answers, read_asked
from lakatos.flows.notebook.fitted import NamedTheories, forms_of, left_out
from lakatos.flows.notebook.frames import in_kind
from lakatos.theories.engine.laboratory import Laboratory
from lakatos.theories.engine.person_fits import PersonFits, fit_each_person
from lakatos.theories.errors import TheoryError
from lakatos.theories.findings.transfer import first_half

Array = NDArray[np.float64]


def fit_each(
    answers: Answers,
    theories: NamedTheories = None,
    *,
    halves: bool = False,
    domain: str = "",
    columns: Columns = None,
    runs: RunsFolder = "runs",
    n_workers: Workers = 2,
) -> pd.DataFrame:
    """Fit theories to each participant alone by maximum likelihood: mean BIC, and likelihood per choice.

    Args:
        answers: A file or folder of responses, a study, a published data set, or a run by its name or path; in Python
            also a data frame, or what `adopt` returned.
        theories: Names of published theories, files, or theories of the run; all published ones of the domain by
            default, of a run its leader.
        halves: Fit the first half of each participant's responses, and score the second half as well.
        domain: Whose trials the responses are to, or the file that declares them; guessed by default.
        columns: What a column means, with the keys of the section participants.columns of a study, as in
            participant=VP; in Python a mapping, as for `adopt`.
        runs: Folder that holds the runs.
        n_workers: Theories fitted at the same time. Does not change results.

    Returns:
        A frame with a row for each theory, the lowest BIC first; of participants who were held out when a theory was
        found, ``bic`` compares theories as GeCCo does. ``behind`` is the mean difference in BIC to the first.
        ``likelihood`` is the normalised likelihood of what was fitted (geometric mean of the probabilities of
        choices), ``second_half`` that of the others; intervals are 95%, over people.

    Raises:
        TrialsError: People cannot be told apart, or give a single answer.
        TheoryError: A theory does not run on these answers. Published ones that do not are left out, with a warning.

    Examples:
        $ lakatos theory each responses.csv hyperbolic exponential
        >>> lakatos.fit_each("responses.csv", ["hyperbolic", "exponential"])  # doctest: +SKIP
    """
    asked = read_asked(answers, theories, runs=runs, domain=domain, columns=columns)
    known = asked.answers
    if any(item.pooled for item in known.trials):
        raise TrialsError("these are counts of answers, which do not say who gave them.")
    if halves and min(int(item.n_choices.min()) for item in known.trials) < 2:
        raise TrialsError("somebody gave a single answer, which has no second half.")
    shown = [first_half(item) for item in known.trials] if halves else list(known.trials)
    fits: dict[str, PersonFits] = {}
    with Laboratory(known.domain, n_workers) as laboratory:
        for name, form in forms_of(asked.theories, known, laboratory).items():
            try:
                later = known.trials if halves else ()
                fits[name] = fit_each_person(form, shown, laboratory, later=later)
            except TheoryError as error:
                left_out(name, error, named=asked.theories is not None)
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
    return in_kind(table, answers, known.notes)


def _mean(name: str, values: Array) -> dict[str, float]:
    """A mean over people, and the ends of its interval."""
    error = 2 * float(values.std(ddof=1)) / np.sqrt(len(values)) if len(values) > 1 else np.nan
    mean = float(values.mean())
    return {name: mean, f"{name}_low": mean - error, f"{name}_high": mean + error}
