"""Power of the planned sample to name the right theory: simulated recovery of every rival.

People are drawn from one theory, all rivals are scored on their answers, and the rule that declares a winner in the
real analysis is applied: the 95% interval of the mean paired difference, clustered by participant, lies above zero.
Where an archive holds pooled counts only, the unit is the trial. That fewer than `LEAST_UNITS` participants show
nothing is left to the verdict, which counts those of all experiments.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import ceil
from statistics import NormalDist
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lakatos.experiments.errors import DesignError
from lakatos.experiments.information import (
    PEOPLE_AT_ONCE,
    TINY,
    ShapeError,
    check_rivals,
    log_predictive_of,
    rounded_chances,
    simulate_in_blocks,
)
from lakatos.experiments.interval import LEAST_UNITS, half_width, wilson_interval
from lakatos.traces.wording import plural

Array = NDArray[np.float64]
Pair = tuple[int, int]
MOST_AT_ONCE = 2**23
"""Counts of simulated people (people times trials times options) held at once."""
MOST_SIMULATED = 2**28
"""Counts simulated for each true theory; where samples want more, fewer people are simulated and drawn again."""
LEAST_PEOPLE = 512
"""Simulated people of each theory, however many trials they answer."""
MOST_EXPLAINED = 2
"""Pairs that a design does not separate of which the reason is stated, those with most power first."""
MOST_CELLS = 20_000_000
"""Counts simulated for each true theory where it is known who answered which trial."""


@dataclass(frozen=True)
class PowerTable:
    """Frequency with which each theory is recovered against each rival when it generated the responses."""

    n_recovered: NDArray[np.int64]
    """``(n_theories, n_theories)`` samples in which the row, being true, won against the column."""
    effect: Array
    """``(n_theories, n_theories)`` a unit's mean paired difference divided by its standard deviation."""
    n_simulations: int
    n_units: int
    """Participants, or trials when pooled."""
    pooled: bool = False
    n_answers: int = 0
    """Answers of all units, where people answered different trials; 0 where each answers all of them."""

    @property
    def power(self) -> Array:
        """``(n_theories, n_theories)`` share of samples in which the row won against the column; NaN for itself."""
        power = self.n_recovered / self.n_simulations
        np.fill_diagonal(power, np.nan)
        return power

    def interval(self, true: int, rival: int) -> tuple[float, float]:
        """95% Wilson interval of one power."""
        return wilson_interval(int(self.n_recovered[true, rival]), self.n_simulations)

    def weaker(self, pair: Pair) -> Pair:
        """The true theory and its rival in the direction that is harder to tell."""
        first, second = pair
        return (
            (first, second)
            if self.n_recovered[pair] <= self.n_recovered[second, first]
            else (second, first)
        )

    def separates(self, pair: Pair, power: float = 0.9) -> bool:
        """Whether a pair is told apart with ``power``, whichever of the two is true."""
        return bool(self.power[self.weaker(pair)] >= power)

    def n_needed(self, pair: Pair, power: float = 0.9) -> int | None:
        """Units that would tell a pair apart, by the normal approximation; None when more would not help."""
        effect = float(self.effect[self.weaker(pair)])
        if effect <= 1e-6:
            return None
        needed = ceil(((float(half_width()) + NormalDist().inv_cdf(power)) / effect) ** 2)
        return max(LEAST_UNITS, needed)


@dataclass(frozen=True)
class DesignVerdict:
    """Whether a design is worth its participants."""

    accepted: bool
    separable: tuple[Pair, ...]
    """Open pairs that the design tells apart."""
    indistinguishable: tuple[Pair, ...]
    """Open pairs that this sample cannot separate; they are carried as ties."""
    reason: str
    """Reason for the journal: the pairs with their power, and what would help."""


def recovery_power(
    probabilities: Sequence[Array],
    repetitions: int,
    n_participants: int,
    rng: np.random.Generator,
    *,
    n_simulations: int = 200,
    pooled: bool = False,
    n_answers: Array | None = None,
) -> PowerTable:
    """Power to recover each rival against each other one.

    Args:
        probabilities: Per rival ``(n_draws, n_trials, n_options)``.
        repetitions: Presentations of each trial to each person.
        n_participants: People in each simulated sample.
        rng: Source of the people and their answers.
        n_simulations: Simulated samples per true theory.
        pooled: Only counts per trial come back: the unit is the trial, answered by the people's mean.
        n_answers: ``(n_trials,)`` answers to each trial when pooled; ``n_participants * repetitions`` when None.

    Raises:
        ShapeError: The rivals' arrays disagree.
        DesignError: There are fewer than two rivals, or nobody is asked.
    """
    weights = _check(probabilities, repetitions, n_participants, n_simulations)
    if not pooled:
        people = _simulate(probabilities, weights, repetitions, n_participants, rng, n_simulations)
        return _table(people, np.ones(n_participants))
    n_trials = probabilities[0].shape[1]
    n = (
        np.full(n_trials, n_participants * repetitions)
        if n_answers is None
        else np.asarray(n_answers, dtype=np.int64)
    )
    if n.shape != (n_trials,):
        raise ShapeError(
            f"n_answers has shape {n.shape}; give one number for each of the {n_trials} trials."
        )
    means = [np.einsum("d,dto->to", w, p) for w, p in zip(weights, probabilities, strict=True)]
    log_means = np.log(np.maximum(means, TINY))
    differences: dict[Pair, Array] = {}
    for true, mean in enumerate(means):
        chances = rounded_chances(mean / mean.sum(axis=-1, keepdims=True))
        p = np.broadcast_to(chances, (n_simulations, *mean.shape))
        scores = np.einsum("sto,uto->ust", rng.multinomial(n, p).astype(np.float64), log_means)
        differences |= {
            (true, rival): scores[true] - scores[rival] for rival in _others(true, len(means))
        }
    return _table(differences, n.astype(np.float64), pooled=True)


def power_of_answers(
    probabilities: Sequence[Array],
    asked: NDArray[np.integer[Any]],
    rng: np.random.Generator,
    *,
    n_simulations: int = 100,
) -> PowerTable:
    """Power of people of whom it is known which trials they answered, and how often.

    Args:
        probabilities: Per rival ``(n_draws, n_trials, n_options)``.
        asked: ``(n_people, n_trials)`` answers of each person to each trial.
        rng: Source of what people of each rival answer.
        n_simulations: Simulated samples per true theory.

    Raises:
        ShapeError: The arrays disagree.
        DesignError: There are fewer than two rivals, or nobody answered.
    """
    n_people, n_trials = asked.shape
    weights = _check(probabilities, 1, n_people, n_simulations)
    if n_trials != probabilities[0].shape[1]:
        raise ShapeError(
            f"asked has {n_trials} trials and the probabilities {probabilities[0].shape[1]}."
        )
    # Each sample has all people. Of large tables fewer are simulated than there are, and drawn again.
    n_cells = n_trials * probabilities[0].shape[2]
    n_made = min(n_people * n_simulations, max(MOST_CELLS // n_cells, LEAST_PEOPLE))
    which = np.arange(n_made) % n_people
    samples = np.arange(n_people * n_simulations)
    if n_made < len(samples):
        samples = rng.integers(n_made, size=len(samples))
    samples = samples.reshape(n_simulations, n_people)
    sizes = asked.sum(axis=1)[which].astype(np.float64)
    differences: dict[Pair, Array] = {}
    for true in range(len(probabilities)):
        scores = _scores(probabilities, weights, true, asked[which], n_made, rng)
        for rival in _others(true, len(probabilities)):
            differences[true, rival] = (scores[:, true] - scores[:, rival])[samples]
    return _table(differences, sizes[samples], n_answers=int(asked.sum()))


def power_of_people(
    log_predictive: Array,
    n_participants: int,
    rng: np.random.Generator,
    *,
    n_simulations: int = 200,
    n_answers: NDArray[np.integer[Any]] | None = None,
) -> PowerTable:
    """Power from people who were simulated and scored one by one, drawn again with replacement for every sample.

    For theories under which an answer depends on earlier ones, so that probabilities of single trials do not tell
    how likely a person's answers are.

    Args:
        log_predictive: ``(n_theories, n_people, n_theories)`` nats: true theory, simulated person, scoring theory.
        n_participants: People in each sample.
        rng: Source of the samples.
        n_simulations: Samples per true theory.
        n_answers: ``(n_people,)`` of each simulated person, the same under every theory; all alike when None.

    Raises:
        ShapeError: The array does not hold every theory's score of every theory's people.
        DesignError: There are fewer than two theories, or nobody is asked.
    """
    if n_answers is not None:
        return _power_of_unequal(log_predictive, n_answers, n_participants, rng, n_simulations)
    return _table(
        _drawn_again(log_predictive, n_participants, rng, n_simulations), np.ones(n_participants)
    )


def _power_of_unequal(
    log_predictive: Array,
    n_answers: NDArray[np.integer[Any]],
    n_participants: int,
    rng: np.random.Generator,
    n_simulations: int,
) -> PowerTable:
    """`power_of_people` where people gave different numbers of answers; the same people are drawn for every theory."""
    _check_people(log_predictive, n_participants, n_simulations)
    if n_answers.shape != log_predictive.shape[1:2]:
        raise ShapeError(
            f"n_answers has shape {n_answers.shape}; give one number for each of {log_predictive.shape[1]} people."
        )
    people = rng.integers(len(n_answers), size=(n_simulations, n_participants))
    differences = {
        (true, rival): (scores[:, true] - scores[:, rival])[people]
        for true, scores in enumerate(log_predictive)
        for rival in _others(true, len(log_predictive))
    }
    return _table(
        differences,
        n_answers[people].astype(np.float64),
        n_answers=round(float(n_answers.mean()) * n_participants),
    )


def _drawn_again(
    log_predictive: Array, n_participants: int, rng: np.random.Generator, n_simulations: int
) -> dict[Pair, Array]:
    """Per ordered pair ``(n_simulations, n_participants)`` advantage of the true theory; see `power_of_people`."""
    _check_people(log_predictive, n_participants, n_simulations)
    n_theories = len(log_predictive)
    differences: dict[Pair, Array] = {}
    for true, scores in enumerate(log_predictive):
        people = rng.integers(scores.shape[0], size=(n_simulations, n_participants))
        for rival in _others(true, n_theories):
            differences[true, rival] = (scores[:, true] - scores[:, rival])[people]
    return differences


def _check_people(log_predictive: Array, n_participants: int, n_simulations: int) -> None:
    """Raise `ShapeError` or `DesignError` where scores of simulated people cannot be used."""
    n_theories = len(log_predictive)
    if (
        log_predictive.ndim != 3
        or log_predictive.shape[2] != n_theories
        or not log_predictive.shape[1]
    ):
        raise ShapeError(
            f"log_predictive has shape {log_predictive.shape}; give (n_theories, n_people, n_theories)."
        )
    if n_theories < 2 or min(n_participants, n_simulations) < 1:
        raise DesignError(
            f"{n_theories} theories, {n_participants} participants, {n_simulations} simulations: too few."
        )


def find_n_participants(
    probabilities: Sequence[Array],
    repetitions: int,
    rng: np.random.Generator,
    *,
    most: int,
    power: float = 0.9,
    least: int = 2,
    pairs: Iterable[Pair] | None = None,
    n_simulations: int = 200,
) -> PowerTable:
    """The power of the smallest sample that tells apart every pair that ``most`` people tell apart.

    The samples of all sizes are the first people of the same simulated ones, and the size is such that no larger one
    up to ``most`` falls below the power, so that chance does not pick a lucky size.

    Args:
        probabilities, repetitions, rng, n_simulations: As for `recovery_power`.
        most: People that can be afforded.
        power: Required in both directions of a pair.
        least: Smallest sample to consider.
        pairs: Pairs that matter; all when None.

    Returns:
        The power at the size found, or at ``most`` where no pair can be told apart; ``n_units`` is the size.

    Raises:
        ShapeError: The rivals' arrays disagree.
        DesignError: There are fewer than two rivals, or the sizes make no sense.
    """
    weights = _check(probabilities, repetitions, most, n_simulations)
    differences = _simulate(probabilities, weights, repetitions, most, rng, n_simulations)
    return _smallest(differences, _pairs(len(probabilities), pairs), least, most, power)


def find_n_of_people(
    log_predictive: Array,
    rng: np.random.Generator,
    *,
    most: int,
    power: float = 0.9,
    least: int = 2,
    pairs: Iterable[Pair] | None = None,
    n_simulations: int = 200,
) -> PowerTable:
    """`find_n_participants` from people who were simulated and scored one by one, as in `power_of_people`."""
    differences = _drawn_again(log_predictive, most, rng, n_simulations)
    return _smallest(differences, _pairs(len(log_predictive), pairs), least, most, power)


def _smallest(
    differences: dict[Pair, Array], pairs: Sequence[Pair], least: int, most: int, power: float
) -> PowerTable:
    """Power up to the smallest sample that is enough; see `find_n_participants`."""
    if not 2 <= least <= most:
        raise DesignError(
            f"a sample of {least} to {most} participants: at least 2 are needed for a standard error."
        )
    sizes = []
    for first, second in pairs:
        both = [
            _recovered_by_size(differences[pair]).mean(axis=0)
            for pair in ((first, second), (second, first))
        ]
        enough = np.minimum(*both) >= power  # for samples of 1, 2, ... people
        if enough[-1]:
            sizes.append(int(np.flatnonzero(~enough)[-1]) + 2)  # a single person is never enough
    n = max([least, *sizes]) if sizes else most
    return _table({pair: values[:, :n] for pair, values in differences.items()}, np.ones(n))


def judge_design(
    table: PowerTable,
    open_pairs: Iterable[Pair] | None,
    *,
    names: Sequence[str],
    required: float = 0.9,
) -> DesignVerdict:
    """Accept a design that tells at least one open pair apart; otherwise refuse it and say why.

    Args:
        table: Power of the design.
        open_pairs: Pairs among the leaders that data have not settled; all when None.
        names: Names of the rivals, by index.
        required: Power, in both directions of a pair.
    """
    pairs = _pairs(len(names), open_pairs)
    if not pairs:
        return DesignVerdict(
            False,
            (),
            (),
            "Refused: no pair of leading theories is open, so there is nothing to ask.",
        )
    separable = tuple(pair for pair in pairs if table.separates(pair, required))
    closed = tuple(pair for pair in pairs if pair not in separable)
    sample = f"{table.n_units} {'trials' if table.pooled else 'participants'}"
    if table.n_answers:
        sample += f" with {table.n_answers:,} responses"
    nearest = sorted(closed, key=lambda pair: -table.power[table.weaker(pair)])
    reasons = [_why_not(table, pair, names, required) for pair in nearest[:MOST_EXPLAINED]]
    if len(closed) > MOST_EXPLAINED:
        reasons.append(f"{plural(len(closed) - MOST_EXPLAINED, 'further pair')} with less power")
    ties = "; ".join(reasons)
    if not separable:
        every = [pair for pair in _pairs(len(names), None) if table.separates(pair, required)]
        which = "no undecided pair of leading theories" if every else "no pair of theories"
        return DesignVerdict(
            False,
            (),
            closed,
            f"Refused: in simulations, responses of {sample} separate {which} with power {required:.2f}: "
            f"{ties}.",
        )
    faults = "; ".join(
        f"{names[a]} and {names[b]} (power {power_in_words(table.power[table.weaker((a, b))])})"
        for a, b in separable
    )
    reason = f"Accepted: in simulations, responses of {sample} separate {faults}." + (
        f" Not separated: {ties}." if ties else ""
    )
    return DesignVerdict(True, separable, closed, reason)


def power_in_words(power: float) -> str:
    """Power by simulation, which shows no certainty: ``0.93``, ``above 0.99``."""
    return "above 0.99" if power > 0.99 else f"{power:.2f}"


def _why_not(table: PowerTable, pair: Pair, names: Sequence[str], required: float) -> str:
    true, rival = table.weaker(pair)
    low, high = table.interval(true, rival)
    what = (
        f"when {names[true]} is true it beats {names[rival]} in {table.power[true, rival]:.2f} of simulated samples "
        f"({low:.2f} to {high:.2f})"
    )
    unit = "trials" if table.pooled else "participants"
    needed = table.n_needed(pair, required)
    if needed is None or needed > 100_000:
        return f"{what}; more {unit} would not help, only trials on which the two predict different choices"
    if needed <= table.n_units:
        return f"{what}; somewhat more {unit} would help, or trials on which the two differ more"
    return f"{what}; about {needed} {unit} would give {required:.2f}, or trials on which the two differ more"


def _check(
    probabilities: Sequence[Array],
    repetitions: int,
    n_participants: int,
    n_simulations: int,
) -> tuple[Array, ...]:
    if len(probabilities) < 2:
        raise DesignError(
            f"power needs at least two rivals, not {len(probabilities)}. Add a theory to the pool."
        )
    if min(repetitions, n_participants, n_simulations) < 1:
        raise DesignError(
            f"repetitions={repetitions}, n_participants={n_participants}, n_simulations={n_simulations}: "
            "each is at least 1."
        )
    return check_rivals(probabilities)


def _pairs(n_theories: int, pairs: Iterable[Pair] | None) -> list[Pair]:
    """Pairs with the lower index first, each once."""
    wanted = combinations(range(n_theories), 2) if pairs is None else pairs
    return sorted({(min(pair), max(pair)) for pair in wanted})


def _others(theory: int, n_theories: int) -> list[int]:
    return [other for other in range(n_theories) if other != theory]


def _simulate(
    probabilities: Sequence[Array],
    weights: Sequence[Array],
    repetitions: int,
    n_participants: int,
    rng: np.random.Generator,
    n_simulations: int,
) -> dict[Pair, Array]:
    """Per ordered pair ``(n_simulations, n_participants)`` advantage of the true theory, in nats.

    Everybody in every sample is another person, up to `MOST_SIMULATED`.
    """
    shape = (n_simulations, n_participants)
    most = max(LEAST_PEOPLE, MOST_SIMULATED // probabilities[0][0].size)
    if n_simulations * n_participants > most:
        people = _scores_of_all(probabilities, weights, repetitions, most, rng)
        return _drawn_again(people, n_participants, rng, n_simulations)
    differences: dict[Pair, Array] = {}
    for true in range(len(probabilities)):
        scores = _scores(
            probabilities, weights, true, repetitions, n_simulations * n_participants, rng
        )
        for rival in _others(true, len(probabilities)):
            differences[true, rival] = (scores[:, true] - scores[:, rival]).reshape(shape)
    return differences


def _scores(
    probabilities: Sequence[Array],
    weights: Sequence[Array],
    true: int,
    repetitions: int | NDArray[np.integer[Any]],
    n_people: int,
    rng: np.random.Generator,
) -> Array:
    """``(n_people, n_theories)`` nats: log predictive probability of the answers of people who follow one theory."""
    n_block = max(1, MOST_AT_ONCE // max(probabilities[0][0].size, 1))
    if (
        n_block > PEOPLE_AT_ONCE
    ):  # whole parts of `log_predictive_of`, whose sums hang on where they end
        n_block -= n_block % PEOPLE_AT_ONCE
    blocks = simulate_in_blocks(
        probabilities[true], n_people, repetitions, rng, weights[true], n_block
    )
    scores = [
        [log_predictive_of(p, counts, w) for p, w in zip(probabilities, weights, strict=True)]
        for counts in blocks
    ]
    return np.concatenate(scores, axis=1).T


def scores_of_people(
    probabilities: Sequence[Array],
    repetitions: int,
    n_people: int,
    rng: np.random.Generator,
) -> Array:
    """People drawn from every theory in turn, scored by all of them.

    Args:
        probabilities, repetitions, rng: As for `recovery_power`.
        n_people: Per theory.

    Returns:
        ``(n_theories, n_people, n_theories)`` nats: true theory, person, scoring theory.

    Raises:
        ShapeError: The rivals' arrays disagree.
        DesignError: There are fewer than two rivals, or nobody is asked.
    """
    weights = _check(probabilities, repetitions, n_people, 1)
    return _scores_of_all(probabilities, weights, repetitions, n_people, rng)


def _scores_of_all(
    probabilities: Sequence[Array],
    weights: Sequence[Array],
    repetitions: int,
    n_people: int,
    rng: np.random.Generator,
) -> Array:
    return np.stack(
        [
            _scores(probabilities, weights, true, repetitions, n_people, rng)
            for true in range(len(probabilities))
        ]
    )


def _table(
    differences: dict[Pair, Array], sizes: Array, *, pooled: bool = False, n_answers: int = 0
) -> PowerTable:
    """Power from advantages ``(n_simulations, n_units)`` and the units' sizes, which may differ between samples."""
    n_theories = 1 + max(true for true, _ in differences)
    n_recovered = np.zeros((n_theories, n_theories), dtype=np.int64)
    effect = np.full((n_theories, n_theories), np.nan)
    for pair, values in differences.items():
        n_recovered[pair] = _recovered(values, sizes).sum()
        spread = values.std()
        effect[pair] = values.mean() / spread if spread > 0 else 0.0
    return PowerTable(
        n_recovered,
        effect,
        n_simulations=len(values),
        n_units=sizes.shape[-1],
        pooled=pooled,
        n_answers=n_answers,
    )


def _recovered(differences: Array, sizes: Array) -> NDArray[np.bool_]:
    """Whether each sample, ``(n_simulations, n_units)``, names the true theory: a ratio of sums and its error.

    The units' sizes are ``(n_units,)``, or likewise of each sample.
    """
    n_units, size = sizes.shape[-1], sizes.sum(axis=-1)
    value = differences.sum(axis=1) / size
    if n_units < 2:
        return np.zeros(len(differences), dtype=bool)
    residual = differences - value[:, None] * sizes
    error = np.sqrt(n_units / (n_units - 1) * (residual**2).sum(axis=1)) / size
    return np.asarray(value > half_width(n_units - 1) * error)


def _recovered_by_size(differences: Array) -> NDArray[np.bool_]:
    """``(n_simulations, n_units)`` whether the first 1, 2, ... units name the true theory."""
    n = np.arange(1, differences.shape[1] + 1)
    mean = np.cumsum(differences, axis=1) / n
    squares = np.maximum(np.cumsum(differences**2, axis=1) - n * mean**2, 0)
    with np.errstate(divide="ignore", invalid="ignore"):
        error = np.sqrt(squares / (n - 1) / n)
    return np.asarray((mean > half_width(np.maximum(n - 1, 1)) * error) & (n > 1))
