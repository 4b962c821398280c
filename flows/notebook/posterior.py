"""Hierarchical Bayesian inference about theories: one as a value of ArviZ, several as a comparison."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import pandas as pd
from rich.table import Table

from lakatos.experiments.errors import TrialsError
from lakatos.experiments.task import Domain, Trials
from lakatos.flows.argument import Argument, Columns, RunsFolder
from lakatos.flows.errors import RunMissingError, StudyError
from lakatos.flows.notebook.answers import PeoplesAnswers
from lakatos.flows.notebook.asked import Answers, names_run, read_asked
from lakatos.flows.notebook.fitted import NamedTheory, forms_of
from lakatos.flows.notebook.participants import participants_of
from lakatos.flows.operations.people_export import note_export
from lakatos.flows.result import Result, Shown
from lakatos.flows.run.console import escape
from lakatos.flows.run.places import find_run
from lakatos.theories.engine.fitting.posterior import fit as fit_posterior
from lakatos.theories.engine.fitting.posterior_check import (
    PredictiveCheck,
    RankedTheory,
    compare,
    posterior_predictive,
)
from lakatos.theories.engine.fitting.posterior_result import Posterior, az
from lakatos.theories.engine.fitting.sampling_progress import duration
from lakatos.theories.engine.laboratory import Laboratory
from lakatos.theories.engine.sandbox.client import Sandbox
from lakatos.theories.engine.sandbox.tracer import TracerSandbox
from lakatos.theories.language.family import find_family, own_texts
from lakatos.theories.language.theory import Theory
from lakatos.traces.artifact import whole_folder

Draws = Annotated[int, Argument(least=10)]
Chains = Annotated[int | None, Argument(least=2)]
COLUMNS = (
    "theory", "parameter", "median", "low", "high", "people_low", "people_high", "r_hat", "effective_draws",
)  # fmt: skip
"""Columns of the table of parameters."""


def posterior(
    answers: Answers,
    theory: NamedTheory,
    *,
    draws: Draws | None = None,
    tune: Draws | None = None,
    chains: Chains = None,
    seed: int = 0,
    domain: str = "",
    columns: Columns = None,
    runs: RunsFolder = "runs",
    quiet: bool = False,
) -> Any:
    """Fit a theory by hierarchical Bayesian inference and return an ArviZ ``InferenceData``.

    Theories whose choices do not depend on earlier trials are sampled by PyMC (NUTS, by nutpie) where they can be
    traced. Theories that learn cannot be: they are sampled by adaptive Metropolis from their NumPy code, which takes
    minutes for tens of participants with a hundred trials each. Unless you give their number, draws are made until no
    quantity has an R-hat above 1.01 or fewer than 400 effective draws; where the most draws are reached before, a
    warning names the worst quantity. Another one names parameters that the responses hardly inform. The method, the
    time left, and at the end R-hat and effective sample sizes are printed to standard error; the method and these
    figures are also in ``posterior.attrs``.

    Model: each parameter is a quantile of its declared prior F, parameter = F^-1(Phi(z)), so that it stays within its
    declared range (a probit scale). For participant j::

        z_j = center + spread * offset_j    offset_j ~ Normal(0, 1)
        center ~ Normal(0, 1)               spread ~ HalfNormal(1)

    independently for each parameter. Center 0 and spread 1 are the declared prior itself; participants of all
    experiments share one population. A participant alone, and counts of an experiment, have no population: there
    z ~ Normal(0, 1). Responses are independent given the parameters and, of theories that learn, the participant's own
    earlier responses and outcomes. ``population_median`` is the parameter at ``center``.

    The result has the groups ``posterior``, ``sample_stats``, ``log_likelihood``, ``observed_data``, ``constant_data``
    and ``posterior_predictive``, so that `arviz.plot_ppc`, `arviz.loo` and `arviz.compare` work.

    Args:
        answers: A file or folder of responses, a study, a published data set, a run, a data frame, or what `adopt`
            returned.
        theory: The name of a published theory, a path, a source, or a theory.
        draws: Draws per chain; by default 500, and more until the diagnostics suffice.
        tune: Warm-up draws per chain; by default 500, or 150 without gradients.
        chains: Number of chains, at least two, so that they can be compared; by default 4, or 16 without gradients.
        seed: Random seed.
        domain: Kind of task, or the file that declares it; guessed from the columns by default.
        columns: Meanings of columns, as for `adopt`.
        runs: Folder that holds the runs.
        quiet: Print nothing.

    Raises:
        PosteriorError: The responses or settings cannot be used.
        TheoryError: The theory fails on them.
    """
    request = read_asked(answers, theory, runs=runs, domain=domain, columns=columns)
    known = request.answers
    with (
        Laboratory(known.domain, 1) as laboratory,
        Sandbox(is_own=own_texts(known.domain)) as sandbox,
    ):
        ((_, form),) = forms_of(request.theories, known, laboratory).items()
        found = fit_posterior(
            form, known.trials, sandbox, domain=known.domain, draws=draws, tune=tune, chains=chains, seed=seed,
            say=None if quiet else _say,
        )  # fmt: skip
        found, _ = _checked(found, form, known.trials, sandbox, known.domain, seed)
    measures = found.diagnostics
    found.data.posterior.attrs |= {
        "method": found.method,
        "reason": found.reason,
        "r_hat": measures.r_hat,
        "effective_draws": measures.least_ess,
    }
    if not quiet:
        _say(
            f"{form.name}: {found.method}; R-hat {measures.r_hat:.3f}, effective draws {measures.least_ess:.0f}, "
            f"{duration(found.seconds['sample'])} of sampling"
        )
    for problem in found.diagnostics.problems:
        warnings.warn(f"{form.name}: {problem}", stacklevel=2)
    names = unit_names(known)
    return found.data.map(
        lambda own: own.assign_coords(unit=names) if "unit" in own.coords else own
    )


def unit_names(answers: PeoplesAnswers) -> list[str]:
    """Names of participants in the file, in order; with the experiment before each name if there are several."""
    names = []
    for place, item in enumerate(answers.trials):
        own = ["pooled"] if item.pooled else participants_of(answers, place)
        before = f"{item.experiment}/" if len(answers.trials) > 1 else ""
        names += [f"{before}{name}" for name in own]
    return names


def _say(line: str) -> None:
    """Print a statement of progress, which is no result."""
    print(line, file=sys.stderr, flush=True)


def _checked(
    found: Posterior,
    theory: Theory,
    trials: Sequence[Trials],
    sandbox: Sandbox,
    domain: Domain,
    seed: int,
) -> tuple[Posterior, tuple[PredictiveCheck, ...]]:
    """Add replicated responses; if outcomes that they need are unknown, warn and omit them."""
    try:
        return posterior_predictive(found, theory, trials, sandbox, domain=domain, seed=seed)
    except TrialsError as error:
        warnings.warn(f"no posterior predictive checks: {error}", stacklevel=3)
        return found, ()


@dataclass(frozen=True, repr=False)
class Posteriors(Result):
    """Posteriors of theories, with checks of replicated responses, as `posteriors` returns them."""

    fitted: Mapping[str, tuple[Posterior, tuple[PredictiveCheck, ...]]]
    """Posterior of each theory, by name."""
    ranking: tuple[RankedTheory, ...]
    """Comparison by leave-one-out, if there are several theories."""
    saved: Mapping[str, Path]
    """File for ArviZ of each theory, by name."""
    notes: tuple[str, ...] = ()

    def to_frame(self) -> pd.DataFrame:
        """A row for each theory and parameter.

        ``median``, ``low`` and ``high`` are the population's median and its 95% interval, in the parameter's unit;
        ``people_low`` and ``people_high`` are the ends of the middle 80% of the participants' posterior means; then
        R-hat and effective draws of the population's median. For a single participant, rows are of the parameters.
        """
        parts = [summary_of(name, found) for name, (found, _) in self.fitted.items()]
        return pd.concat(parts, ignore_index=True)

    def lines(self) -> Iterator[Shown]:
        """Return the method, parameters and diagnostics of each theory, and the comparison of theories."""
        for name, (found, checks) in self.fitted.items():
            yield f"[bold]{escape(name)}[/bold]: {found.method} ({escape(found.reason)})"
            measures = found.diagnostics
            if _has_draws(found):
                yield (
                    f"  {measures.n_chains} chains of {measures.n_draws} draws: R-hat {measures.r_hat:.3f}, effective "
                    f"draws {measures.least_ess:.0f}, {measures.n_divergences} divergences"
                )
                yield self._parameters(name)
            for problem in measures.problems:
                yield f"  [yellow]{escape(problem)}[/yellow]"
            for item in checks:
                yield escape(
                    f"  {item.experiment}, {item.name}: {item.observed:.4g}, replicated {item.replicated:.4g}, "
                    f"p = {item.p_value:.3f}"
                )
            if name in self.saved:
                yield f"  saved: {escape(str(self.saved[name]))}"
        if self.ranking:
            yield self._comparison()

    def _parameters(self, name: str) -> Table:
        rows = summary_of(name, self.fitted[name][0])
        table = Table(
            "parameter",
            "median (95% interval)",
            "middle 80% of participants",
            "R-hat",
            "effective draws",
        )
        for row in rows.itertuples(index=False):
            people = (
                "" if np.isnan(row.people_low) else f"{row.people_low:.3g} to {row.people_high:.3g}"
            )
            table.add_row(
                escape(str(row.parameter)), f"{row.median:.3g} ({row.low:.3g} to {row.high:.3g})", people,
                f"{row.r_hat:.3f}", f"{row.effective_draws:.0f}",
            )  # fmt: skip
        return table

    def _comparison(self) -> Table:
        table = Table(
            "theory", "elpd (leave-one-out)", "behind", "stacking weight", "unreliable cells"
        )
        for ranked in self.ranking:
            table.add_row(
                escape(ranked.name),
                f"{ranked.elpd_loo:.1f} ± {ranked.standard_error:.1f}",
                f"{ranked.difference:.1f} ± {ranked.difference_error:.1f}",
                f"{ranked.weight:.2f}",
                f"{ranked.n_unreliable} of {ranked.n_cells}",
            )
        return table


def _has_draws(found: Posterior) -> bool:
    """Return whether a theory has parameters, and so draws that are summarised and saved."""
    return "posterior" in found.data.groups()


def summary_of(name: str, found: Posterior) -> pd.DataFrame:
    """Summarise the parameters of a posterior; see `Posteriors.to_frame`."""
    if not _has_draws(found):
        return pd.DataFrame(columns=COLUMNS)
    draws = found.data.posterior
    rows = []
    if "population_median" in draws:
        for parameter in draws["parameter"].to_numpy():
            people = found.values(str(parameter)).mean(axis=(0, 1))
            ends = np.quantile(people, (0.1, 0.9))
            rows.append(
                (str(parameter), draws["population_median"].sel(parameter=parameter), *ends)
            )
    else:
        for parameter, values in draws.data_vars.items():
            for unit in values["unit"].to_numpy():
                who = f"{parameter} ({unit})" if values.sizes["unit"] > 1 else str(parameter)
                rows.append((who, values.sel(unit=unit), np.nan, np.nan))
    cells = []
    for parameter, values, low, high in rows:
        own = np.asarray(values, dtype=np.float64)
        middle = np.quantile(own, (0.5, 0.025, 0.975))
        least = min(float(az.ess(own, method=method)) for method in ("bulk", "tail"))
        cells.append((name, parameter, *middle, low, high, float(az.rhat(own)), least))
    return pd.DataFrame(cells, columns=COLUMNS)


def posteriors(
    answers: Answers,
    theories: Sequence[str] = (),
    *,
    experiment: str = "",
    draws: Draws | None = None,
    tune: Draws | None = None,
    chains: Chains = None,
    seed: int = 0,
    domain: str = "",
    columns: Columns = None,
    runs: RunsFolder = "runs",
    run: str = "",
    out: str | os.PathLike[str] | None = None,
) -> Posteriors:
    """Estimate posteriors of theories' parameters, and compare several theories by leave-one-out.

    Args:
        answers: A file or folder of responses, a study, a published data set, or a run by its name or path.
        theories: Names of published theories, files, or theories of the run; by default the leading theory of the run.
        experiment: One experiment; all of them by default.
        draws: Draws per chain; by default 500, and more until the diagnostics suffice.
        tune: Warm-up draws per chain; by default 500, or 150 without gradients.
        chains: Chains; by default 4, or 16 where theories are sampled without gradients.
        seed: Random seed.
        domain: Kind of task, or the file that declares it; guessed from the columns by default.
        columns: Meaning of a column, as in participant=VP; in Python a mapping, as for `adopt`.
        runs: Folder that holds the runs.
        run: A run by its name or path, in place of responses; all names are then theories.
        out: Folder for the posteriors, as files that ArviZ opens.

    Returns:
        ``to_frame()`` has a row for each theory and parameter.

    Raises:
        StudyError: No theory is named.
        RunMissingError: There are no such responses.
        PosteriorError: The responses or settings cannot be used.
        TheoryError: A theory fails on them.

    Examples:
        $ lakatos theory posterior responses.csv hyperbolic exponential
        $ lakatos theory posterior mine-1 hyperbolic --out posteriors
    """
    if run:
        answers, theories = run, [answers, *theories]
    request = read_asked(answers, list(theories) or None, runs=runs, domain=domain, columns=columns)
    known = request.answers
    if request.theories is None:
        raise StudyError(
            "name the theories whose posteriors are to be estimated, such as `lakatos theory posterior FILE "
            f"{next(iter(find_family(known.domain).seeds))}`."
        )
    trials = [item for item in known.trials if not experiment or item.experiment == experiment]
    if not trials:
        names = ", ".join(item.experiment for item in known.trials)
        raise RunMissingError(
            f"there are no responses of {experiment}; there are those of {names}."
        )
    with Laboratory(known.domain, 1) as laboratory:
        forms = forms_of(request.theories, known, laboratory)
    fitted: dict[str, Posterior] = {}
    shown: dict[str, tuple[Posterior, tuple[PredictiveCheck, ...]]] = {}
    saved: dict[str, Path] = {}
    with Sandbox(is_own=own_texts(known.domain)) as sandbox, TracerSandbox() as tracer:
        for name, theory in forms.items():
            found = fit_posterior(
                theory, trials, sandbox, tracer=tracer, domain=known.domain, draws=draws, tune=tune, chains=chains,
                seed=seed, say=_say,
            )  # fmt: skip
            found, checks = _checked(found, theory, trials, sandbox, known.domain, seed)
            fitted[name] = found
            shown[name] = found, tuple(checks)
    if out is not None:
        saved = {
            name: Path(out) / f"{forms[name].digest[:12]}.nc"
            for name in fitted
            if _has_draws(fitted[name])
        }
        with whole_folder(
            Path(out)
        ):  # after the last fit, so that a theory that fails leaves nothing
            Path(out).mkdir(parents=True, exist_ok=True)
            for name, place in saved.items():
                fitted[name].save(place)
    if out is not None and isinstance(answers, str | os.PathLike) and names_run(answers, runs):
        note_export(find_run(str(answers), Path(runs)), Path(out))
    ranking = compare(fitted) if len(fitted) > 1 else ()
    return Posteriors(shown, ranking, saved, known.notes)
