"""Theories fitted by hierarchical Bayesian inference: one to responses at hand, several of a run beside one another."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from rich.table import Table

from lakatos.experiments.errors import TrialsError
from lakatos.experiments.task import Domain, Trials
from lakatos.flows.argument import Argument, Columns, RunFolderOption, RunsFolder
from lakatos.flows.errors import RunMissingError
from lakatos.flows.notebook.asked import Answers, read_asked
from lakatos.flows.notebook.fitted import NamedTheory, forms_of
from lakatos.flows.operations.people_export import note_export
from lakatos.flows.result import Result, Shown
from lakatos.flows.run.console import escape
from lakatos.flows.run.evidence import theory_of, trials_in
from lakatos.flows.run.run import read_begun
from lakatos.flows.run.task import domain_of
from lakatos.theories.engine.fitting.posterior import fit as fit_posterior
from lakatos.theories.engine.fitting.posterior_check import (
    PredictiveCheck,
    RankedTheory,
    compare,
    posterior_predictive,
)
from lakatos.theories.engine.fitting.posterior_result import Posterior
from lakatos.theories.engine.fitting.sampling_progress import duration
from lakatos.theories.engine.laboratory import Laboratory
from lakatos.theories.engine.sandbox.client import Sandbox
from lakatos.theories.engine.sandbox.tracer import TracerSandbox
from lakatos.theories.language.family import own_texts
from lakatos.theories.language.theory import Theory

Draws = Annotated[int, Argument(least=10)]
Chains = Annotated[int | None, Argument(least=2)]


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
    """Fit a theory by hierarchical Bayesian inference; an ArviZ ``InferenceData`` comes back.

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
        chains: At least two, so that they can be compared; by default 4, or 16 without gradients.
        seed: Random seed.
        domain: Kind of task, or the file that declares it; guessed from the columns by default.
        columns: What a column means, as for `adopt`.
        runs: Folder that holds the runs.
        quiet: Print nothing.

    Raises:
        PosteriorError: The responses or settings cannot be used.
        TheoryError: The theory fails on them.
    """
    asked = read_asked(answers, theory, runs=runs, domain=domain, columns=columns)
    known = asked.answers
    with (
        Laboratory(known.domain, 1) as laboratory,
        Sandbox(is_own=own_texts(known.domain)) as sandbox,
    ):
        ((_, form),) = forms_of(asked.theories, known, laboratory).items()
        found = fit_posterior(
            form, known.trials, sandbox, domain=known.domain, draws=draws, tune=tune, chains=chains, seed=seed,
            say=None if quiet else _say,
        )  # fmt: skip
        found, _ = _checked(found, form, known.trials, sandbox, known.domain, seed)
    told = found.diagnostics
    found.data.posterior.attrs |= {
        "method": found.method,
        "reason": found.reason,
        "r_hat": told.r_hat,
        "effective_draws": told.least_ess,
    }
    if not quiet:
        _say(
            f"{form.name}: {found.method}; R-hat {told.r_hat:.3f}, effective draws {told.least_ess:.0f}, "
            f"{duration(found.seconds['sample'])} of sampling"
        )
    for problem in found.diagnostics.problems:
        warnings.warn(f"{form.name}: {problem}", stacklevel=2)
    return found.data


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
    """Add replicated responses; where outcomes that these would need are not known, warn and go on without them."""
    try:
        return posterior_predictive(found, theory, trials, sandbox, domain=domain, seed=seed)
    except TrialsError as error:
        warnings.warn(f"no posterior predictive checks: {error}", stacklevel=3)
        return found, ()


@dataclass(frozen=True, repr=False)
class Posteriors(Result):
    """Theories of a run, each with its posterior and the checks of its replicated responses."""

    fitted: Mapping[str, tuple[Posterior, tuple[PredictiveCheck, ...]]]
    """By the name of each theory."""
    ranking: tuple[RankedTheory, ...]
    """By leave-one-out, where there are several."""
    saved: Mapping[str, Path]
    """Files of ArviZ, by the name of each theory."""

    def lines(self) -> Iterator[Shown]:
        """How each theory was fitted, whether the chains can be trusted, its checks; and how they compare."""
        for name, (found, checks) in self.fitted.items():
            yield f"[bold]{escape(name)}[/bold]: {found.method} ({escape(found.reason)})"
            told = found.diagnostics
            yield (
                f"  {told.n_chains} chains of {told.n_draws} draws: R-hat {told.r_hat:.3f}, effective draws "
                f"{told.least_ess:.0f}, {told.n_divergences} divergences"
            )
            for problem in told.problems:
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


def posteriors_of_run(
    theories: Sequence[str],
    *,
    run: RunFolderOption,
    experiment: str = "",
    draws: Draws | None = None,
    tune: Draws | None = None,
    chains: Chains = None,
    seed: int = 0,
    out: str | os.PathLike[str] | None = None,
) -> Posteriors:
    """Estimate posteriors of theories from the responses of a run; compare several by leave-one-out.

    Args:
        theories: Theories of the run by name, or the beginning of their digest.
        run: The run's folder.
        experiment: One experiment of the run; all of them by default.
        draws: Draws per chain; by default 500, and more until the diagnostics suffice.
        tune: Warm-up draws per chain; by default 500, or 150 without gradients.
        chains: Chains; by default 4, or 16 where theories are sampled without gradients.
        seed: Random seed.
        out: Folder for the posteriors, as files that ArviZ opens.

    Examples:
        $ lakatos theory posterior hyperbolic exponential --run mine-1 --out posteriors
    """
    state, trace = read_begun(run)
    with trace:
        collected = state.experiments.collected
        names = [experiment] if experiment else list(collected)
        if not names or any(name not in collected for name in names):
            raise RunMissingError(
                f"the run has no responses of {experiment or 'any experiment'}; "
                f"it has: {', '.join(collected) or 'none yet; `lakatos resume` goes on'}."
            )
        trials = [trials_in(trace.artifacts, state, name) for name in names]
        chosen = {name: theory_of(trace.artifacts, state, name) for name in theories}
    assert state.campaign.config is not None
    domain = domain_of(state.campaign.config)
    fitted, shown, saved = {}, {}, {}
    with Sandbox(is_own=own_texts(domain)) as sandbox, TracerSandbox() as tracer:
        for name, theory in chosen.items():
            found = fit_posterior(
                theory, trials, sandbox, tracer=tracer, domain=domain, draws=draws, tune=tune, chains=chains, seed=seed,
                say=_say,
            )  # fmt: skip
            found, checks = _checked(found, theory, trials, sandbox, domain, seed)
            fitted[name] = found
            shown[theory.short] = found, tuple(checks)
            if out is not None:
                Path(out).mkdir(parents=True, exist_ok=True)
                saved[theory.short] = Path(out) / f"{theory.digest[:12]}.nc"
                found.save(saved[theory.short])
    if out is not None:
        note_export(Path(run), Path(out))
    return Posteriors(shown, compare(fitted) if len(fitted) > 1 else (), saved)
