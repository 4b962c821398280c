"""Power to show an effect on a parameter, before anybody is recruited.

Simulated participants answer the planned trials; the engine of `parameter_effect` is applied to simulated studies of
them, whatever varies: a condition within participants, a group, or a number such as an age. What cells say is found for
one large pool of participants, who are the population of the simulated studies: each draws its participants with
replacement, so that studies of one pool are independent of each other. In the pool itself the parameters change by what
was asked for: changes of single participants have the mean 0, and groups (or both sides of a number) are of the same
participants. Where there is no effect, each study draws its labels, too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import ceil
from statistics import NormalDist
from typing import Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import ndtri

from lakatos.experiments.interval import wilson_interval
from lakatos.experiments.outcomes import outcome_schedules
from lakatos.experiments.participants.simulated import as_trials
from lakatos.experiments.task import Domain, Stimuli, Trials
from lakatos.theories.engine.laboratory import Laboratory
from lakatos.theories.engine.running.behave import behave
from lakatos.theories.engine.sandbox.client import Sandbox
from lakatos.theories.findings.differences.cell_posterior import (
    CellPosteriors,
    find_cell_posteriors,
    scale_of_parameter,
)
from lakatos.theories.findings.differences.effect_formula import read_formula
from lakatos.theories.findings.differences.mixed_model import LEVEL
from lakatos.theories.findings.differences.parameter_effect import (
    EXPERIMENT,
    N_RESPONSES,
    PERSON,
    ParameterEffects,
    effects_of_cells,
)
from lakatos.theories.language.prior import as_normal
from lakatos.theories.language.theory import Theory, read_program

Array = NDArray[np.float64]
Kind = Literal["condition", "group", "number"]
N_POOL, WALKING_POOL = 128, 64
"""Simulated participants of whom studies draw theirs; of theories that are walked through responses."""
N_SIMULATIONS = 40
N_EXCHANGES_PLANNED = 199
SIZE = 0.5
"""Standard deviations of participants by which a parameter changes, where nothing else is said: a medium one."""
SLOPE_SD = 0.25
"""Standard deviations of participants by which they differ in the effect of a condition."""
POWER = 0.8
LEAST_REACHED = 0.5
"""Standard errors that an effect is taken to reach at least, where participants that suffice are guessed."""
MOST_NEEDED = 1000
WORDS = {
    "condition": "between the conditions",
    "group": "between the groups",
    "number": "for one SD of it",
}


@dataclass(frozen=True)
class EffectPower:
    """Simulated power for the effect on one parameter in a planned study."""

    theory: str
    changes: str
    """Change in words."""
    n_people: int
    n_simulations: int
    n_shown: int
    """Studies that showed the effect, where there is one."""
    n_false: int
    """Studies that showed one of any parameter, where there is none."""
    parameter: str = ""
    n_trials: int = 0
    """Trials of each participant in each condition."""

    @property
    def power(self) -> float:
        """Probability that it would be shown."""
        return self.n_shown / self.n_simulations

    @property
    def interval(self) -> tuple[float, float]:
        """95% interval of `power`, by the number of simulations."""
        return wilson_interval(self.n_shown, self.n_simulations)

    @property
    def false_alarms(self) -> float:
        """Probability that something would be shown where there is nothing."""
        return self.n_false / self.n_simulations

    @property
    def false_alarm_interval(self) -> tuple[float, float]:
        """95% interval of `false_alarms`, by the number of simulations."""
        return wilson_interval(self.n_false, self.n_simulations)

    @property
    def n_needed(self) -> int | None:
        """Participants that would give `POWER`, by the normal approximation; None where too many."""
        needed = NormalDist().inv_cdf(1 - LEVEL / 2)
        share = min(max(self.n_shown, 0.5), self.n_simulations - 0.5) / self.n_simulations
        reached = max(needed + NormalDist().inv_cdf(share), LEAST_REACHED)
        found = ceil(self.n_people * ((needed + NormalDist().inv_cdf(POWER)) / reached) ** 2)
        return found if found <= MOST_NEEDED else None

    def to_text(self) -> str:
        """The power in words, for the record of a design."""
        low, high = self.interval
        needed = f"about {self.n_needed}" if self.n_needed else f"more than {MOST_NEEDED}"
        return (
            f"{self.changes}: power {self.power:.2f} ({low:.2f} to {high:.2f}); {needed} participants would give "
            f"{POWER:.2f}"
        )


@dataclass(frozen=True)
class SimulatedPool:
    """Simulated participants, and what their responses say of each parameter."""

    posteriors: CellPosteriors
    frame: pd.DataFrame
    """A row for each cell; the predictor is called ``x``."""
    kind: Kind
    true_effect: Array
    """``(n_parameters,)`` by which the mean of participants changes, on the scales of the parameters."""
    trials: tuple[Trials, ...]
    """Responses of participants, of each condition."""

    def study(
        self,
        n_people: int,
        rng: np.random.Generator,
        n_exchanges: int = N_EXCHANGES_PLANNED,
        *,
        is_null: bool = False,
    ) -> ParameterEffects:
        """Effects in a study of participants of the pool, who are drawn with replacement.

        Args:
            n_people: Participants.
            rng: Generator for participants, labels and their exchanges.
            n_exchanges: Exchanges of labels.
            is_null: Whether labels are drawn, so that they mean nothing.
        """
        n_pool = self.frame[PERSON].nunique()
        if self.kind == "group" and not is_null:  # the pool's first half is one group
            half, first = n_pool // 2, n_people // 2
            second = rng.integers(half, n_pool, n_people - first)
            who = np.concatenate([rng.integers(0, half, first), second])
        else:
            who = rng.integers(0, n_pool, n_people)
        return self.study_of(who, rng, n_exchanges, is_null=is_null)

    def study_of(
        self,
        who: NDArray[np.int64],
        rng: np.random.Generator,
        n_exchanges: int = N_EXCHANGES_PLANNED,
        *,
        is_null: bool = False,
    ) -> ParameterEffects:
        """Effects in a study of some participants of the pool.

        Args:
            who: ``(n_people,)`` their places in the pool.
            rng: Generator for labels and their exchanges.
            n_exchanges: Exchanges of labels.
            is_null: Whether labels are drawn, so that they mean nothing.
        """
        n_pool, n_people = self.frame[PERSON].nunique(), len(who)
        n_each = len(self.frame) // n_pool
        rows = np.concatenate([who + part * n_pool for part in range(n_each)])
        labels = rows if not is_null else self._drawn_labels(n_people, rng)
        frame = self.frame.iloc[rows].reset_index(drop=True)
        frame["x"] = self.frame["x"].array[labels]
        frame[PERSON] = [f"{place:05d}" for place in np.tile(np.arange(n_people), n_each)]
        slope = f"(x | {PERSON})" if self.kind == "condition" else f"(1 | {PERSON})"
        return effects_of_cells(
            self.posteriors.of(rows),
            frame,
            np.arange(len(rows)),
            read_formula(f"~ x + {slope}"),
            frozenset({"x"} if self.kind == "condition" else ()),
            [scale.name for scale in self.posteriors.scales],
            seed=int(rng.integers(2**31)),
            n_exchanges=n_exchanges,
        )

    def _drawn_labels(self, n_people: int, rng: np.random.Generator) -> NDArray[np.int64]:
        """``(n_rows of a study,)`` rows of the frame whose labels the study's cells have, by chance."""
        n_pool = self.frame[PERSON].nunique()
        if self.kind == "condition":  # the two cells of each participant, in either order
            first = np.where(rng.random(n_people) < 0.5, 0, n_pool)
            return np.concatenate([first, n_pool - first])
        if self.kind == "group":
            return rng.permutation(np.where(np.arange(n_people) < n_people // 2, 0, n_pool - 1))
        return rng.integers(0, n_pool, n_people)


def simulate_pool(
    theory: Theory,
    stimuli: Stimuli,
    laboratory: Laboratory,
    rng: np.random.Generator,
    *,
    kind: Kind,
    parameter: str = "",
    size: float = 0.0,
    n_trials: int = 0,
    n_pool: int = 0,
    observed: Trials | None = None,
) -> SimulatedPool:
    """Simulated participants of whom one parameter depends on a condition, a group or a number.

    Args:
        theory: Theory with its population.
        stimuli: Trials of each condition; a schedule where the domain has one.
        laboratory: Laboratory in which the theory runs.
        rng: Generator for participants and their responses.
        kind: What the parameter depends on.
        parameter: Parameter; none by default.
        size: Change in standard deviations of participants.
        n_trials: Number of trials of each participant and condition, drawn from ``stimuli``; each once by default.
        n_pool: Participants.
        observed: Responses to ``stimuli``, where these come from a file, which lacks the outcomes of other responses.

    Raises:
        TrialsError: Outcomes that simulated participants receive are neither known nor can be estimated.
    """
    walks = theory.learns or laboratory.domain.sequential
    n_pool = n_pool or (WALKING_POOL if walks else N_POOL)
    n_trials = n_trials or len(stimuli)
    scales = {name: scale_of_parameter(name, prior) for name, prior in theory.priors.items()}
    people = replace(theory, priors={name: as_normal(p) for name, p in theory.priors.items()})
    drawn = people.population(1024)
    chosen = rng.choice(1024, size=n_pool, replace=False)
    if kind != "condition":  # both groups, and both sides of a number, are of the same participants
        chosen = np.resize(chosen[: n_pool // 2], n_pool)
    spread = {name: float(scale.to_scale(drawn[name]).std()) for name, scale in scales.items()}
    x = _predictor(kind, n_pool, rng)
    differing = SLOPE_SD if kind == "condition" else 0.0
    slopes = {name: rng.normal(0.0, differing, n_pool) for name in scales}
    slopes = {name: own - own.mean() for name, own in slopes.items()}
    played, rows = stimuli, np.tile(np.arange(len(stimuli)), (n_pool, 1))
    if observed is not None:
        schedules = outcome_schedules(laboratory.domain, observed, n_pool, rng)
        played, rows = schedules.stimuli, schedules.rows
    answered = []
    for column in x.T:
        values = {}
        for name, scale in scales.items():
            base = scale.to_scale(drawn[name][chosen])
            moved = (size if name == parameter else 0.0) + slopes[name]
            own = base + moved * column * spread[name]
            ends = scale.to_unit(np.array([scale.low, scale.high]))
            values[name] = np.clip(scale.to_unit(np.clip(own, scale.low, scale.high)), *ends)
        order = _orders(stimuli, n_pool, n_trials, laboratory.domain, rng)

        def answer(
            domain: Domain,
            sandbox: Sandbox,
            values: dict[str, Array] = values,
            order: NDArray[np.int64] = order,
        ) -> Trials:
            own = np.take_along_axis(rows, order, axis=1)
            behaviour = behave(theory, domain, sandbox, values, played, own, rng)
            return as_trials(theory.name, stimuli, order, behaviour, domain.n_options(stimuli))

        answered.append(laboratory.with_sandbox(answer))
    cells = [np.asarray(item.participant, dtype=np.int64) for item in answered]
    form = read_program(theory.program)
    posteriors = find_cell_posteriors(form, answered, cells, laboratory)
    frame = pd.DataFrame(
        {
            EXPERIMENT: 0,
            PERSON: np.tile(np.arange(n_pool), len(answered)),
            N_RESPONSES: n_trials,
            "x": x.T.reshape(-1),
        }
    )
    if kind != "number":
        levels = ["first", "second"]
        frame["x"] = pd.Categorical.from_codes(
            frame["x"].astype(int).to_numpy(), categories=levels, ordered=True
        )
    true = np.array(
        [size * spread[s.name] if s.name == parameter else 0.0 for s in posteriors.scales]
    )
    return SimulatedPool(posteriors, frame, kind, true, tuple(answered))


def _predictor(kind: Kind, n_pool: int, rng: np.random.Generator) -> Array:
    """``(n_pool, n_conditions)`` what each participant's cells have of the predictor."""
    if kind == "condition":
        return np.tile([0.0, 1.0], (n_pool, 1))
    if kind == "group":
        return (np.arange(n_pool) >= n_pool // 2).astype(float)[:, None]
    half = n_pool // 2
    places = rng.permutation(ndtri((half + np.arange(half) + 0.5) / n_pool))
    places = np.concatenate([places, -places, np.zeros(n_pool - 2 * half)])
    return np.asarray(places / places.std())[:, None]


def _orders(
    stimuli: Stimuli, n_pool: int, n_trials: int, domain: Domain, rng: np.random.Generator
) -> NDArray[np.int64]:
    """``(n_pool, n_trials)`` trials of each participant: of a schedule the first, else some at random."""
    if domain.sequential:
        return np.tile(np.arange(min(n_trials, len(stimuli))), (n_pool, 1))
    rows = np.tile(np.arange(len(stimuli)), ceil(n_trials / len(stimuli)))
    return np.stack([rng.permutation(rows)[:n_trials] for _ in range(n_pool)])


def power_of_effects(
    theory: Theory,
    stimuli: Stimuli,
    n_people: Sequence[int],
    laboratory: Laboratory,
    rng: np.random.Generator,
    *,
    kind: Kind,
    size: float = SIZE,
    n_trials: int = 0,
    parameters: Sequence[str] = (),
    observed: Trials | None = None,
    n_simulations: int = N_SIMULATIONS,
) -> list[EffectPower]:
    """Power to show that one parameter at a time depends on a condition, a group or a number.

    Args:
        theory: Theory with its population.
        stimuli: Trials of each condition.
        n_people: Numbers of participants.
        laboratory: Laboratory in which the theory runs.
        rng: Generator for participants and their responses.
        kind: What a parameter depends on.
        size: Change in standard deviations of participants.
        n_trials: Number of trials of each participant and condition; each of ``stimuli`` once by default.
        parameters: One at a time; all that trials inform by default.
        observed: As in `simulate_pool`.
        n_simulations: Studies with an effect, and as many without.

    Returns:
        One for each parameter and number of participants; none of a theory without any.
    """
    names = [
        name
        for name, prior in theory.priors.items()
        if not prior.idle and (not parameters or name in parameters)
    ]
    if not names:
        return []
    shared = (theory, stimuli, laboratory, rng)
    none = simulate_pool(*shared, kind=kind, n_trials=n_trials, observed=observed)
    n_false = {
        n: sum(_is_shown(none, n, "", rng, is_null=True) for _ in range(n_simulations))
        for n in n_people
    }
    found = []
    for name in names:
        pool = simulate_pool(
            *shared, kind=kind, parameter=name, size=size, n_trials=n_trials, observed=observed
        )
        for n in n_people:
            n_shown = sum(_is_shown(pool, n, name, rng) for _ in range(n_simulations))
            changes = f"{abs(size):g} between-participant SD in {name} {WORDS[kind]}"
            found.append(
                EffectPower(
                    theory.name, changes, n, n_simulations, n_shown, n_false[n], name,
                    n_trials or len(stimuli),
                )
            )  # fmt: skip
    return found


def _is_shown(
    pool: SimulatedPool,
    n_people: int,
    parameter: str,
    rng: np.random.Generator,
    *,
    is_null: bool = False,
) -> bool:
    """Whether a verdict on a simulated study names a parameter; any where none is given."""
    found = pool.study(n_people, rng, is_null=is_null)
    return any(item.is_shown for item in found.effects if parameter in ("", item.parameter))


def text_of_effect_powers(by: str, powers: Sequence[EffectPower]) -> str:
    """All that simulation says of planned effects, for a design and its preregistration."""
    if not powers:
        return ""
    first = powers[0]
    low, high = first.false_alarm_interval
    lines = "; ".join(item.to_text() for item in powers)
    return (
        f"Effects of {by} on all parameters of {first.theory}, with {first.n_people} participants: the false positive "
        f"rate is {first.false_alarms:.2f} ({low:.2f} to {high:.2f}). {lines}."
    )
