"""Hierarchical Bayesian inference of a theory's parameters, checked and comparable.

A *unit* is a person, or an experiment of which only pooled counts are known. With z the scale on which a declared prior
is the standard normal distribution (parameter = quantile of the prior at Phi(z), so that nobody leaves its limits)::

    z_uj = center_j + spread_j * offset_uj      center_j ~ N(0, 1)    spread_j ~ HalfNormal(1)    offset_uj ~ N(0, 1)

for people, who share one population over all experiments: center 0 and spread 1 are the declared prior itself, and the
population's median has the declared prior. A pooled experiment has one vector of parameters and a person alone has no
population; both have the declared prior, z_uj ~ N(0, 1). Responses are independent given the parameters.

Samplers move in offsets that are centered for each unit and parameter as far as its responses inform it, which a pilot
finds (`fitting.pilot`); the model is the same.

Where a theory can be traced, PyMC builds this model and nutpie samples it by NUTS within the sandbox profile of
`sandbox.inference`; else `fitting.metropolis` samples it from the theory's NumPy code; the result
says so and why. Either way the log-likelihoods are computed here, by the NumPy code in the ordinary sandbox; draws
whose claimed density is not the one computed here are refused. (That they are *typical* draws is the sampler's word.)

References:
    Gelman, Carlin, Stern, Dunson, Vehtari & Rubin (2013), Bayesian data analysis, chapters 5 and 6; Papaspiliopoulos,
    Roberts & Skold (2007), Statistical Science 22(1), 59-73 (offsets); Hoffman & Gelman (2014), Journal of Machine
    Learning Research 15, 1593-1623 (NUTS); Vehtari, Gelman, Simpson, Carpenter & Burkner (2021), Bayesian Analysis
    16(2), 667-718 (R-hat); Vehtari, Gelman & Gabry (2017), Statistics and Computing 27, 1413-1432 (PSIS-LOO); Yao,
    Vehtari, Simpson & Gelman (2018), Bayesian Analysis 13(3), 917-1007 (stacking).
"""

from __future__ import annotations

import contextlib
import math
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Self

import numpy as np
import xarray as xr
from numpy.typing import NDArray
from scipy.special import ndtr

from lakatos.experiments.information import rounded_chances
from lakatos.experiments.outcomes import outcome_schedules
from lakatos.experiments.task import Domain, Trials
from lakatos.theories.engine.fitting import metropolis
from lakatos.theories.engine.fitting.pilot import find_pilot
from lakatos.theories.engine.fitting.posterior_data import check_trials, dataset
from lakatos.theories.engine.fitting.posterior_result import (
    LEAST_ESS,
    UNINFORMED,
    Array,
    ChainDiagnostics,
    Method,
    Posterior,
    az,
    digest_of,
    stored_name,
    typed_statistic,
)
from lakatos.theories.engine.fitting.sampling_progress import SamplingProgress
from lakatos.theories.engine.running.sequence import (
    TINY,
    follow_own_cells,
    simulate,
)
from lakatos.theories.engine.sandbox.client import NOTHING_YET, Sandbox
from lakatos.theories.engine.sandbox.limits import NO_EXECUTABLE_MEMORY, SandboxLimits
from lakatos.theories.engine.sandbox.session import TheorySession
from lakatos.theories.engine.sandbox.tracer import CompiledSession, NutsSample, TracerSandbox
from lakatos.theories.errors import (
    PosteriorError,
    SandboxUnavailableError,
    TheoryRaisedError,
    TheoryResourceError,
    TheoryTimeoutError,
)
from lakatos.theories.language.family import family_of
from lakatos.theories.language.grammar import composition_of
from lakatos.theories.language.theory import Theory

Bools = NDArray[np.bool_]
Say = Callable[[str], None]
DRAW = ("chain", "draw")
"""Axes of everything that is drawn."""
POINTWISE_BYTES = 2**28
"""Most memory for the log-likelihoods of all responses at all draws; beyond it draws are thinned, evenly."""
BATCH_BYTES = 2**26
"""Probabilities asked of a theory at once."""
LIMITS = SandboxLimits(wall_seconds=600.0, cpu_seconds=120.0)
"""Limits of one call of the theory's NumPy code."""
N_NUTS_CHAINS = 4
FIRST_DRAWS = 500
"""Draws of each chain by default; then more while they are not enough."""
MOST_DRAWS: Mapping[Method, int] = {"NUTS": 4000, "adaptive Metropolis": 2000}
NUTS_TUNE, FREE_TUNE = 500, 150
NUTS_BYTES = 2**29
"""Most memory for the draws of NUTS."""
OWN_TRIALS = 2
"""Cells for each answered one from which on the others are not evaluated."""
SWEEPS = 4
"""Sweeps of the gradient-free sampler for each draw."""


def fit(
    theory: Theory,
    trials: Sequence[Trials],
    sandbox: Sandbox,
    *,
    tracer: TracerSandbox | None = None,
    domain: Domain | None = None,
    draws: int | None = None,
    tune: int | None = None,
    chains: int | None = None,
    seed: int = 0,
    gradient_free: bool = False,
    sweeps: int = SWEEPS,
    say: Say | None = None,
) -> Posterior:
    """The posterior of a theory's parameters given the responses of one or several experiments.

    Args:
        theory: What is fitted.
        trials: Experiments; people with the same index in different experiments are different people.
        sandbox: Runs the NumPy code.
        tracer: Runs PyMC. One is started where none is given, which takes as long as a small posterior; keep one.
        domain: Domain of the experiments; needed by a theory that learns.
        draws: Draws of each chain. By default 500 at first, and more until R-hat is at most 1.01 and every quantity
            has 400 effective draws, or there are `MOST_DRAWS`.
        tune: Draws of each chain that are thrown away before; by default 500 with gradients and 150 without.
        chains: Number of chains; by default 4 with gradients and 16 without.
        seed: Decides the draws: the same seed gives the same posterior by the same method, versions and machine.
        gradient_free: Do not try to trace.
        sweeps: Sweeps of the gradient-free sampler, for each draw; NUTS does not need it.
        say: Takes statements of the method, of its rough duration and of the time left.

    Raises:
        PosteriorError: The responses or settings cannot be used.
        TheoryError: The theory fails in NumPy.
    """
    with PosteriorInference(
        theory, trials, sandbox, tracer=tracer, domain=domain, gradient_free=gradient_free
    ) as inference:
        return inference.posterior(
            draws=draws, tune=tune, chains=chains, seed=seed, sweeps=sweeps, say=say
        )


@dataclass(frozen=True)
class LatentDraws:
    """Draws on the scale where a declared prior is standard normal."""

    z: Array
    """``(n_chains, n_draws, n_units, n_parameters)``."""
    center: Array
    """``(n_chains, n_draws, n_parameters)``; of no parameters where no unit is ruled by a population."""
    spread: Array
    statistics: Mapping[str, Array]
    """``(n_chains, n_draws)`` each."""


class PosteriorInference:
    """A theory with the processes that sample its posterior, for one or more bodies of responses to the same stimuli.

    Args:
        theory, trials, sandbox, tracer, domain, gradient_free: As in `fit`.

    Raises:
        PosteriorError, TheoryError: As `fit`.
    """

    def __init__(
        self,
        theory: Theory,
        trials: Sequence[Trials],
        sandbox: Sandbox,
        *,
        tracer: TracerSandbox | None = None,
        domain: Domain | None = None,
        gradient_free: bool = False,
    ) -> None:
        check_trials(theory, trials, domain)
        self.theory, self.trials, self.domain = theory, tuple(trials), domain
        self.walks = theory.learns or (domain is not None and domain.sequential)
        """Whether predictions depend on earlier steps, so that the theory is walked through the responses."""
        self.names = list(theory.priors)
        n_units = [1 if item.pooled else item.n_participants for item in trials]
        alone = (
            sum(number for number, item in zip(n_units, trials, strict=True) if not item.pooled)
            == 1
        )
        self.shared: Bools = np.repeat([item.pooled or alone for item in trials], n_units)
        self.first = np.concatenate([[0], np.cumsum(n_units)])
        self.method: Method = "adaptive Metropolis" if self.names else "none"
        self.reason = "it was asked for" if gradient_free else ""
        self.seconds = 0.0
        self._closing = contextlib.ExitStack()
        self._compiled: CompiledSession | None = None
        with contextlib.ExitStack() as opened:
            self._sessions = [
                opened.enter_context(_open_session(theory, item, sandbox, domain))
                for item in trials
            ]
            self.layers = sandbox.level.layers
            self._apart = [self._takes_cells(place) for place in range(len(trials))]
            if not self.names:
                self.reason = "the theory has no parameters"
            elif not gradient_free:
                self._trace(sandbox, tracer, opened)
            self._closing = opened.pop_all()

    def _trace(
        self, sandbox: Sandbox, tracer: TracerSandbox | None, opened: contextlib.ExitStack
    ) -> None:
        """Take NUTS if the theory can be traced, and note why not otherwise."""
        begun = time.perf_counter()
        if self.walks:
            self.reason = (
                "a theory that learns from answer to answer is not traced"
                if self.theory.learns
                else "a theory whose predictions depend on earlier steps is not traced"
            )
            return
        if NO_EXECUTABLE_MEMORY in sandbox.require:
            self.reason = f"the required layer {NO_EXECUTABLE_MEMORY!r} forbids compilation"
            return
        values = self.parameters(
            np.random.default_rng(0).standard_normal((len(self.shared), len(self.names)))
        )
        try:
            if tracer is None:
                tracer = TracerSandbox(require=sandbox.require)
                opened.callback(tracer.close)
            self.pilot = find_pilot(
                lambda z: self.log_likelihood(self.parameters(z), self.trials),
                ~self.shared,
                len(self.names),
                np.random.default_rng(0),
            )
            cells = [answered_cells(item) for item in self.trials]
            apart = list(zip(self._apart, self.trials, cells, self.first, strict=False))
            compiled = tracer.compile(
                self.theory.program.source,
                self.theory.priors,
                [
                    {name: array[trial] for name, array in item.stimuli.arrays.items()}
                    if own
                    else item.stimuli.arrays
                    for own, item, (_, trial), _ in apart
                ],
                self._counts(self.trials),
                self.shared.tolist(),
                values,
                centering=self.pilot.centering,
                units=[first + unit if own else None for own, _, (unit, _), first in apart],
                n_units=np.diff(self.first).tolist(),
                tiny=TINY,
            )
            opened.callback(compiled.close)
        except (SandboxUnavailableError, TheoryResourceError, TheoryTimeoutError) as error:
            self.reason = f"it could not be traced: {error}"
            return
        self.seconds = time.perf_counter() - begun
        if compiled.problem:
            self.reason = f"it could not be traced: {compiled.problem}"
            return
        self._compiled = compiled
        self.method, self.reason, self.layers = "NUTS", "the theory was traced", tracer.level.layers

    def _counts(self, trials: Sequence[Trials]) -> list[Array]:
        """Responses as the compiled theory takes them: of every cell, or of the answered ones only."""
        found = []
        for apart, here, item in zip(self._apart, self.trials, trials, strict=True):
            cells = answered_cells(here)
            if apart and not np.array_equal(cells, answered_cells(item)):
                raise PosteriorError(
                    "these responses are to other trials than those it was compiled for"
                )
            found.append(item.counts[cells] if apart else item.counts)
        return found

    def parameters(self, z: Array) -> Array:
        """Latent values ``(..., n_parameters)`` as values of the parameters."""
        columns = [
            prior.quantile(ndtr(z[..., place]))
            for place, prior in enumerate(self.theory.priors.values())
        ]
        return np.stack(columns, axis=-1) if columns else np.zeros(z.shape)

    def cells(self, values: Array, trials: Sequence[Trials]) -> list[Array]:
        """Log-likelihood of the responses in every answered cell.

        Args:
            values: ``(n_draws, n_units, n_parameters)`` of the parameters.
            trials: Responses to the stimuli of this inference.

        Returns:
            ``(n_draws, n_cells)`` nats for each experiment; cells in the order of `answered_cells`.
        """
        return [self._cells(place, values, item) for place, item in enumerate(trials)]

    def log_likelihood(self, values: Array, trials: Sequence[Trials]) -> Array:
        """``(n_draws, n_units)`` nats; see `cells`."""
        found = np.zeros(values.shape[:2])
        pairs = zip(self.cells(values, trials), trials, self.first[:-1], strict=True)
        for cells, item, first in pairs:
            present, begins = np.unique(answered_cells(item)[0], return_index=True)
            if len(present):
                found[:, first + present] = np.add.reduceat(cells, begins, axis=1)
        return found

    def _cells(self, place: int, values: Array, trials: Trials) -> Array:
        unit, trial = answered_cells(trials)
        apart = self._apart[place]
        n_each = len(unit) if apart else trials.counts.shape[0] * len(trials.stimuli)
        pieces = []
        for own in self._batches(place, values, n_each * trials.n_options):
            if self.walks:
                pieces.append(self._walked(place, own, trials)[:, unit, trial])
                continue
            if apart:
                p = self._probabilities_of_cells(place, own, unit, trial)
            else:
                p = self._probabilities(place, own)[:, unit, trial]
            counts = trials.counts[unit, trial]
            pieces.append(np.einsum("bck,ck->bc", np.log(np.maximum(p, TINY)), counts))
        return np.concatenate(pieces)

    def _walked(self, place: int, values: Array, trials: Trials) -> Array:
        """Log-likelihood of the cells along people's sequences, each with its own parameters."""
        assert self.domain is not None
        n_draws, n_units, _ = values.shape
        own = follow_own_cells(self._sessions[place], self.domain, self._flat(values), trials)
        return own.reshape(n_draws, n_units, -1)

    def _takes_cells(self, place: int) -> bool:
        """Whether an experiment is evaluated cell by cell.

        It is where units have trials of their own and the theory predicts each trial alone as it does among all.
        """
        trials = self.trials[place]
        if self.walks or not has_own_trials(trials):
            return False
        unit, trial = answered_cells(trials)
        n_units = self.first[place + 1] - self.first[place]
        z = np.random.default_rng(0).standard_normal((2, n_units, len(self.names)))
        values = self.parameters(z)
        together = self._probabilities(place, values)[:, unit, trial]
        if not self._sessions[place].broadcasts:
            return False
        try:
            alone = self._probabilities_of_cells(place, values, unit, trial)
        except TheoryRaisedError:
            return False
        return bool(np.allclose(alone, together, rtol=0, atol=1e-9))

    def _probabilities_of_cells(
        self, place: int, values: Array, unit: NDArray[np.intp], trial: NDArray[np.intp]
    ) -> Array:
        """``(n_draws, n_cells, n_options)`` of a theory without memory, on the trials of each unit only."""
        session, n_draws = self._sessions[place], len(values)
        session.begin(self._flat(values[:, unit]), paired=True)
        arrays = self.trials[place].stimuli.arrays
        shown = {
            name: np.tile(array[trial], (n_draws, *[1] * (array.ndim - 1)))
            for name, array in arrays.items()
        }
        p = session.step(shown)
        return p.reshape(n_draws, len(unit), p.shape[-1])

    def _probabilities(self, place: int, values: Array) -> Array:
        """``(n_draws, n_units, n_trials, n_options)`` of a theory without memory."""
        (p,) = self._sessions[place].probabilities(self._flat(values))
        return p.reshape(*values.shape[:2], *p.shape[1:])

    def _flat(self, values: Array) -> dict[str, Array]:
        """Parameters of all units at all draws as one row of draws."""
        flat = values.reshape(math.prod(values.shape[:-1]), len(self.names))
        return {name: flat[:, column] for column, name in enumerate(self.names)} or {
            "": np.zeros(len(flat))
        }

    def _batches(self, place: int, values: Array, n_each: int) -> list[Array]:
        """The values of an experiment's units, cut so that ``n_each`` probabilities of every draw fit."""
        own = values[:, self.first[place] : self.first[place + 1]]
        size = max(1, BATCH_BYTES // (8 * max(n_each, 1)))
        return [own[start : start + size] for start in range(0, len(own), size)]

    def simulate(self, values: Array, rng: np.random.Generator) -> list[list[Trials]]:
        """Responses that people with parameters ``(n_draws, n_units, n_parameters)`` would give to what was asked.

        Returns:
            For each draw the experiments, as many responses to each trial by each unit as there are.
        """
        columns = [
            [
                item
                for own in self._batches(place, values, trials.counts.size)
                for item in self._simulated(place, own, trials, rng)
            ]
            for place, trials in enumerate(self.trials)
        ]
        return [list(row) for row in zip(*columns, strict=True)]

    def _simulated(
        self, place: int, values: Array, trials: Trials, rng: np.random.Generator
    ) -> list[Trials]:
        if not self.walks or self.domain is None:
            n_responses = trials.counts.sum(axis=-1).astype(np.int64)
            chances = rounded_chances(self._probabilities(place, values))
            counts = rng.multinomial(n_responses, chances)
            return [_with_counts(trials, item) for item in counts]
        n_draws, n_units, _ = values.shape
        sequences = trials.sequences
        # Outcomes that a file does not hold are estimated; those of a person are the same in these draws.
        schedules = outcome_schedules(self.domain, trials, n_units, rng)
        order = schedules.order(np.maximum(sequences.trial, 0))
        done = simulate(
            self._sessions[place],
            self.domain,
            self._flat(values),
            schedules.stimuli,
            np.tile(order, (n_draws, 1)),
            rng,
            paired=True,
        )

        def own(table: NDArray[Any]) -> NDArray[Any]:
            return np.asarray(table[0].reshape(n_draws, n_units, -1))

        response = own(done.response)
        feedback = {name: own(table) for name, table in done.feedback.items()}
        person, step = np.nonzero(sequences.trial >= 0)
        return [
            Trials(
                experiment=trials.experiment,
                stimuli=trials.stimuli,
                participant=person,
                trial=sequences.trial[person, step],
                response=response[draw, person, step],
                count=np.ones(len(person), dtype=np.int64),
                n_options=trials.n_options,
                feedback={name: table[draw, person, step] for name, table in feedback.items()},
            )
            for draw in range(n_draws)
        ]

    def sample(
        self,
        trials: Sequence[Trials],
        *,
        draws: int | None,
        tune: int | None,
        chains: int | None = None,
        seed: int,
        sweeps: int = SWEEPS,
        say: Say | None = None,
    ) -> LatentDraws:
        """Draws given responses to these stimuli; falls back to the gradient-free sampler for good if need be.

        Raises:
            TheoryError: As `fit`.
        """
        if not self.names:
            shape = (chains or N_NUTS_CHAINS, draws or FIRST_DRAWS)
            nothing = np.zeros((*shape, 0))
            return LatentDraws(np.zeros((*shape, len(self.shared), 0)), nothing, nothing, {})
        if self._compiled is not None and self.method == "NUTS":
            if say is not None:
                say(
                    f"{self.theory.name}: NUTS by PyMC and nutpie, {chains or N_NUTS_CHAINS} chains"
                )
            try:
                return self._by_gradients(trials, draws, tune, chains, seed, say)
            except (
                TheoryRaisedError,
                TheoryResourceError,
                TheoryTimeoutError,
                PosteriorError,
            ) as error:
                self.method, self.reason = (
                    "adaptive Metropolis",
                    f"sampling with gradients failed: {error}",
                )
        progress = None
        n_chains = chains or metropolis.N_CHAINS
        if say is not None:
            say(f"{self.theory.name}: {self.method}, since {self.reason}; {n_chains} chains")
            progress = SamplingProgress(say)
        moved = metropolis.sample(
            lambda z: self.log_likelihood(self.parameters(z), trials),
            self.shared,
            len(self.names),
            draws=draws or FIRST_DRAWS,
            tune=FREE_TUNE if tune is None else tune,
            chains=n_chains,
            sweeps=sweeps,
            rng=np.random.default_rng(seed),
            done=progress,
            most=MOST_DRAWS["adaptive Metropolis"],
            enough=None if draws else lambda so_far: self._diagnosed(_latent(so_far)).is_enough,
        )
        return _latent(moved)

    def _by_gradients(
        self,
        trials: Sequence[Trials],
        draws: int | None,
        tune: int | None,
        chains: int | None,
        seed: int,
        say: Say | None,
    ) -> LatentDraws:
        """Draws by NUTS; without a number of draws, again with more until they are enough."""
        assert self._compiled is not None
        n_chains = chains or N_NUTS_CHAINS
        room = NUTS_BYTES // (8 * n_chains * (len(self.shared) + 2) * len(self.names))
        n_draws, most = draws or FIRST_DRAWS, min(MOST_DRAWS["NUTS"], room)
        while True:
            sampled = self._compiled.sample(
                self._counts(trials),
                draws=n_draws,
                tune=NUTS_TUNE if tune is None else tune,
                chains=n_chains,
                cores=2,
                seed=seed,
            )
            latent = self._believed(sampled, trials)
            if draws or n_draws >= most:
                return latent
            found = self._diagnosed(latent)
            if found.is_enough:
                return latent
            wanted = n_draws * 1.5 * LEAST_ESS / max(found.least_ess, 1.0)
            n_draws = min(most, max(2 * n_draws, math.ceil(wanted)))
            if say is not None:
                say(
                    f"{self.theory.name}: R-hat is {found.r_hat:.3f}, effective draws {found.least_ess:.0f} (worst: "
                    f"{found.worst}); sampling again with {n_draws} draws in each chain"
                )

    def _diagnosed(self, latent: LatentDraws) -> ChainDiagnostics:
        return diagnose(self._dataset(latent), latent.statistics)

    def _dataset(self, latent: LatentDraws) -> xr.Dataset:
        """All draws by name."""
        n_chains, n_draws = latent.z.shape[:2]
        coordinates = {"unit": self.units(), "parameter": self.names or ["none"]}
        variables = self._variables(latent, self.parameters(latent.z))
        return dataset(variables, n_chains, n_draws, coordinates)

    def _believed(self, sampled: NutsSample, trials: Sequence[Trials]) -> LatentDraws:
        """Draws by NUTS, once the density that they claim is found to be that of the NumPy code.

        Raises:
            PosteriorError: It is not.
        """
        z = sampled.offset.copy()
        free = sampled.offset.copy()
        log_prior = np.zeros(z.shape[:2])
        if sampled.center.shape[-1]:
            center, spread = sampled.center, sampled.spread
            ruled = ~self.shared
            share = self.pilot.centering[ruled]
            width = spread[:, :, None] ** share
            free[:, :, ruled] = (z[:, :, ruled] - share * center[:, :, None]) / width
            z[:, :, ruled] = center[:, :, None] + spread[:, :, None] * free[:, :, ruled]
            log_prior -= np.log(width).sum(axis=(-2, -1))
            log_prior += (
                -0.5 * center**2 - 0.5 * spread**2 + np.log(spread) - math.log(math.pi)
            ).sum(axis=-1)
        log_prior -= 0.5 * (free**2 + math.log(2 * math.pi)).sum(axis=(-2, -1))
        flat = z.reshape(-1, *z.shape[2:])
        some = np.unique(np.linspace(0, len(flat) - 1, 64).astype(np.intp))
        ours = log_prior.ravel()[some] + self.log_likelihood(
            self.parameters(flat[some]), trials
        ).sum(axis=1)
        error = float(np.abs(ours - sampled.statistics["logp"].ravel()[some]).max())
        n_answers = sum(item.n_responses for item in trials)
        if not error <= 1e-3 + 1e-5 * n_answers:
            raise PosteriorError(
                f"the traced theory is not the one that NumPy runs: their log densities differ by {error:.3g}."
            )
        return LatentDraws(z, sampled.center, sampled.spread, sampled.statistics)

    def posterior(
        self,
        *,
        draws: int | None = None,
        tune: int | None = None,
        chains: int | None = None,
        seed: int,
        sweeps: int = SWEEPS,
        say: Say | None = None,
    ) -> Posterior:
        """The posterior of the responses that this inference was made with; arguments as in `fit`."""
        if (
            (draws is not None and draws < 2)
            or (tune is not None and tune < 0)
            or (chains is not None and chains < 2)
        ):
            raise PosteriorError(
                f"{chains or 'usual'} chains of {draws} draws after {tune} are too few; use 1000 draws after 1000."
            )
        begun = time.perf_counter()
        latent = self.sample(
            self.trials, draws=draws, tune=tune, chains=chains, seed=seed, sweeps=sweeps, say=say
        )
        sampled = time.perf_counter()
        data, diagnostics = self._inference_data(latent)
        seconds = {
            "prepare": self.seconds,
            "sample": sampled - begun,
            "evaluate": time.perf_counter() - sampled,
        }
        return Posterior(
            theory=self.theory.name,
            digest=self.theory.digest,
            method=self.method,
            reason=self.reason,
            data=data,
            diagnostics=diagnostics,
            answers=digest_of(self.trials),
            layers=tuple(self.layers),
            seconds=seconds,
        )

    def units(self) -> list[str]:
        """Labels of the units, in order."""
        return [
            f"{item.experiment} (pooled)" if item.pooled else f"{item.experiment}/{person}"
            for item in self.trials
            for person in range(1 if item.pooled else item.n_participants)
        ]

    def _inference_data(self, latent: LatentDraws) -> tuple[Any, ChainDiagnostics]:
        """All draws by name, their diagnostics, and the log-likelihood of every cell with a response."""
        n_chains, n_draws = latent.z.shape[:2]
        values = self.parameters(latent.z)
        posterior = self._dataset(latent)
        diagnostics = diagnose(posterior, latent.statistics)
        # The log-likelihood of every cell takes much room, so draws are thinned where they are many.
        answered = [answered_cells(item) for item in self.trials]
        n_cells = sum(len(unit) for unit, _ in answered)
        step = max(1, math.ceil(8 * n_chains * n_draws * n_cells / POINTWISE_BYTES))
        thinned = values[:, ::step]
        kept = thinned.shape[1]
        flat = thinned.reshape(n_chains * kept, *thinned.shape[2:])
        pointwise = np.concatenate(self.cells(flat, self.trials), axis=1)
        by_cell = pointwise.reshape(n_chains, kept, n_cells)
        statistics = {
            name: (DRAW, typed_statistic(name, table[:, ::step]))
            for name, table in latent.statistics.items()
        }
        observed, constant = self._answered_cells(answered)
        data = az.InferenceData(
            posterior=posterior.isel(draw=slice(None, None, step)).assign_coords(
                draw=np.arange(kept)
            ),
            sample_stats=dataset(statistics, n_chains, kept, {}),
            log_likelihood=dataset({"answers": ((*DRAW, "cell"), by_cell)}, n_chains, kept, {}),
            observed_data=xr.Dataset({"answers": (("cell", "option"), observed)}),
            constant_data=xr.Dataset(constant),
        )
        return data, diagnostics

    def _variables(self, latent: LatentDraws, values: Array) -> dict[str, Any]:
        """Each parameter of every unit, and the population's center, spread and median where there is one."""
        variables: dict[str, Any] = {
            stored_name(name): ((*DRAW, "unit"), values[..., place])
            for place, name in enumerate(self.names)
        }
        if latent.center.shape[-1]:
            axes = (*DRAW, "parameter")
            variables["population_center"] = (axes, latent.center)
            variables["population_spread"] = (axes, latent.spread)
            variables["population_median"] = (axes, self.parameters(latent.center))
        return variables

    def _answered_cells(
        self, answered: Sequence[tuple[NDArray[np.intp], ...]]
    ) -> tuple[NDArray[np.int64], dict[str, Any]]:
        """Counts ``(n_cells, n_options)`` of each cell with a response, and its experiment, unit and trial."""
        sizes = [len(unit) for unit, _ in answered]
        most = max(item.n_options for item in self.trials)
        observed = np.zeros((sum(sizes), most), dtype=np.int64)
        start = 0
        for item, (unit, trial) in zip(self.trials, answered, strict=True):
            observed[start : start + len(unit), : item.n_options] = item.counts[unit, trial]
            start += len(unit)
        columns = {
            "experiment": np.repeat(np.arange(len(sizes)), sizes),
            "unit": np.concatenate(
                [unit + first for (unit, _), first in zip(answered, self.first, strict=False)]
            ),
            "trial": np.concatenate([trial for _, trial in answered]),
        }
        constant = {
            f"{name}_of_cell": ("cell", column.astype(np.int64)) for name, column in columns.items()
        }
        return observed, constant

    def close(self) -> None:
        """End the processes that the theory was asked in."""
        self._closing.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()


def answered_cells(trials: Trials) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Unit and trial of every cell with a response, ``(n_cells,)`` each, ordered by unit and then by trial."""
    unit, trial = np.nonzero(trials.counts.sum(axis=-1))
    return unit, trial


def has_own_trials(trials: Trials) -> bool:
    """Whether units responded to so few of the trials that a theory is better run on each unit's trials alone."""
    n_cells = trials.counts.shape[0] * len(trials.stimuli)
    return bool(len(answered_cells(trials)[0]) * OWN_TRIALS <= n_cells)


def _open_session(
    theory: Theory, trials: Trials, sandbox: Sandbox, domain: Domain | None
) -> TheorySession:
    """A process for a theory and one experiment.

    A theory that learns, and that the domain's grammar wrote, is written anew and takes all steps of a walk in one
    question, which is many times faster; all others are asked step by step.
    """
    slots, family = theory.composition, None if domain is None else family_of(domain)
    if theory.learns and slots is not None and family is not None:
        grammar = family.grammar
        if grammar.wrote(theory.program.source, slots):
            session = sandbox.open_session(
                NOTHING_YET,
                [],
                n_options=trials.n_options,
                limits=LIMITS,
                lint=False,
                walks_apart=False,
            )
            session.hold(grammar.write_for(composition_of(slots, {}), [trials.stimuli]))
            return session
    return sandbox.open_session(
        theory.program.source,
        [trials.stimuli.arrays],
        n_options=trials.n_options,
        limits=LIMITS,
        walks_apart=theory.learns,
    )


def _latent(drawn: metropolis.ChainDraws) -> LatentDraws:
    return LatentDraws(drawn.z, drawn.center, drawn.spread, {"acceptance_rate": drawn.acceptance})


def diagnose(posterior: xr.Dataset, statistics: Mapping[str, Array]) -> ChainDiagnostics:
    """Worst values over all quantities; those that never change are left out."""
    n_chains, n_draws = posterior.sizes["chain"], posterior.sizes["draw"]

    def values(found: xr.Dataset) -> dict[str, float]:
        """Return the values by the name of each quantity; those that never change are excluded."""
        named = {}
        for name in found.data_vars:
            column = found[name]
            for index, value in np.ndenumerate(column.to_numpy()):
                if np.isfinite(value):
                    places = zip(column.dims, index, strict=True)
                    labels = [str(column[axis].to_numpy()[place]) for axis, place in places]
                    named[f"{name}[{', '.join(labels)}]" if labels else str(name)] = float(value)
        return named

    diverging = int(np.sum(statistics.get("diverging", 0) != 0)) if "diverging" in statistics else 0
    nothing = ChainDiagnostics(math.nan, math.nan, math.nan, diverging, n_chains, n_draws)
    if not posterior.data_vars or n_draws < 4:
        return nothing
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        r_hat = values(az.rhat(posterior))
        bulk, tail = (values(az.ess(posterior, method=name)) for name in ("bulk", "tail"))
    if not r_hat:
        return nothing
    least = {name: min(bulk[name], tail.get(name, math.inf)) for name in bulk}
    uninformed: tuple[str, ...] = ()
    if "population_center" in posterior:
        sd = posterior["population_center"].std(("chain", "draw"))
        uninformed = tuple(
            str(name) for name in sd["parameter"].to_numpy()[sd.to_numpy() > UNINFORMED]
        )
    return ChainDiagnostics(
        max(r_hat.values()),
        min(bulk.values()),
        min(tail.values(), default=math.nan),
        diverging,
        n_chains,
        n_draws,
        min(least, key=lambda name: least[name]),
        uninformed,
    )


def _with_counts(trials: Trials, counts: NDArray[np.int64]) -> Trials:
    """The same experiment with other answers ``(n_units, n_trials, n_options)``."""
    unit, trial, response = (axis.ravel() for axis in np.indices(counts.shape))
    return Trials(
        experiment=trials.experiment,
        stimuli=trials.stimuli,
        participant=unit,
        trial=trial,
        response=response,
        count=counts.ravel(),
        n_options=trials.n_options,
        pooled=trials.pooled,
        n_people=trials.n_people,
    )
