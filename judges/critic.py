"""Critics: what they said about candidates whose fate is known, and how far the next word of theirs can be trusted.

A critic is anything cheap that speaks about a candidate before people do: a check, a judge, a simulated recovery, the
fit to old data. It answers in levels. How often each combination of levels is heard of candidates that will beat the
incumbent, and of those that will not, is learned from past candidates, for all critics together: two critics that
repeat each other are worth one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln, logsumexp

from lakatos.judges.errors import CriticError
from lakatos.traces.digest import Digest, Fingerprint, digest_of
from lakatos.traces.record import Record

Array = NDArray[Any]
Seen = tuple[int | None, ...]
"""Level that each critic answered, None where it was not asked."""

STARTING_WEIGHT = 4.0
"""Past candidates that a starting table may count for, at most."""
CONCENTRATIONS = (1.0, 4.0, 16.0, 64.0, 256.0, np.inf)
"""How firmly combinations are drawn towards independence, in pseudo-counts; what the data say is averaged over."""
PROBABILITIES = (0.35, 0.5, 0.65)
"""Where a judge's probability passes from one level to the next."""
STANDARD_ERRORS = (0.0, 1.0, 2.0)
"""The same for the advantage on old data, in its standard errors."""
SHARES = (0.5, 0.9)
"""The same for the share of simulated samples that recover the candidate."""
ROUNDS = 30
"""Of expectation maximisation, where some critics were not asked."""


@dataclass(frozen=True)
class CriticProfile:
    """A critic as the decision knows it."""

    name: str
    version: Digest
    """Changes with everything that can change its answer; of a judge, the judge's version."""
    levels: tuple[str, ...]
    """From the least to the most favourable."""
    cost: float
    """Of one answer, in the units of the decision's payoffs."""
    start: tuple[tuple[float, ...], tuple[float, ...]] | None = None
    """Probability of each level for candidates that lose and that win, before anything is known; None: all alike."""


@dataclass(frozen=True)
class CriticsHeard:
    """What critics said about one candidate, and what became of it."""

    family: str
    """Of tasks: tables of one family say nothing about another."""
    answers: Mapping[str, int]
    """Level by critic; critics that were not asked are left out."""
    versions: Mapping[str, Digest]
    """Of the critics that answered."""
    favoured: bool | None
    """Whether people's data favoured the candidate; None while they have not spoken, which teaches nothing."""
    record: Digest
    """Record that says so; where it no longer holds, this does not count."""


@dataclass(frozen=True)
class CriticPanel:
    """Critics that are asked at most once about a candidate, with the joint probability of their answers.

    Leading axes of ``table`` and ``costs``, if any, are separate problems, worked on side by side.
    """

    names: tuple[str, ...]
    costs: tuple[Any, ...]
    """One per critic, numbers or arrays ``(...)``."""
    table: Array
    """``(..., n_states, n_levels_1, ..., n_levels_K)``, normalised over all combinations for each state."""

    @property
    def nothing(self) -> Seen:
        """Of a candidate about which nobody was asked."""
        return (None,) * len(self.names)

    def probability(self, seen: Seen) -> Array:
        """``(..., n_states)`` probability of hearing this from those who were asked."""
        return _slice(self.table, seen)

    def weights(self, start: Array, seen: Seen) -> Array:
        """``(..., n_states)`` joint probability of the state and of what was heard; ``start`` is before any answer."""
        return np.asarray(start * self.probability(seen))

    def only(self, critics: Sequence[int]) -> CriticPanel:
        """Some of the critics, in the order of the panel; what the others would say is summed out."""
        first = self.table.ndim - len(self.names)
        others = tuple(first + index for index in range(len(self.names)) if index not in critics)
        return CriticPanel(
            tuple(self.names[index] for index in critics),
            tuple(self.costs[index] for index in critics),
            np.asarray(self.table.sum(axis=others)),
        )

    def open(self, seen: Seen) -> list[int]:
        """Critics that can still be asked."""
        return [index for index, level in enumerate(seen) if level is None]

    def ask(self, start: Array, seen: Seen, critic: int) -> list[tuple[Array, Seen]]:
        """For each answer: the start and what will have been heard."""
        n_levels = self.table.shape[critic - len(self.names)]
        return [(start, (*seen[:critic], level, *seen[critic + 1 :])) for level in range(n_levels)]


@dataclass(frozen=True)
class FreshPanel:
    """Critics whose every answer is new and independent of all others given the state, so that asking again helps."""

    names: tuple[str, ...]
    costs: tuple[Any, ...]
    tables: tuple[Array, ...]
    """One per critic, ``(n_levels, n_states)``."""

    @property
    def nothing(self) -> Seen:
        """Nothing needs to be remembered but the belief."""
        return ()

    def weights(self, start: Array, seen: Seen) -> Array:
        """``(..., n_states)`` joint probability of the state and of what was heard."""
        return start

    def open(self, seen: Seen) -> list[int]:
        """All judges, whatever was seen: a fresh panel spares none."""
        return list(range(len(self.names)))

    def ask(self, start: Array, seen: Seen, critic: int) -> list[tuple[Array, Seen]]:
        """For each answer: the belief times its likelihood."""
        return [(start * likelihood, seen) for likelihood in self.tables[critic]]


@dataclass(frozen=True)
class LearnedCritics:
    """What past candidates teach about critics. Make it with `learn`."""

    critics: tuple[CriticProfile, ...]
    family: str
    panel: CriticPanel
    base_rate: float
    """Expected share of candidates that win."""
    n_lost: int
    n_won: int
    """Past candidates behind the two rows."""
    n_heard: tuple[int, ...]
    """Of these, how many each critic answered about."""
    independence: float
    """Posterior probability that the critics err independently, among the concentrations considered."""

    def belief(self, seen: Seen, base_rate: float | None = None) -> float:
        """Probability that a candidate of whom this was heard will win."""
        rate = self.base_rate if base_rate is None else base_rate
        weights = self.panel.weights(np.array([1 - rate, rate]), seen)
        return float(weights[1] / weights.sum())

    @property
    def digest(self) -> Digest:
        """Of the tables and of the critics' versions."""
        return digest_of(
            {
                "critics": {critic.name: critic.version for critic in self.critics},
                "table": np.round(self.panel.table, 12).tolist(),
                "base_rate": round(self.base_rate, 12),
            }
        )


class CriticAnswered(Record):
    """A critic that costs something was asked about a candidate."""

    kind: Literal["critic_answered"] = "critic_answered"
    version: Literal[1] = 1
    critic: str
    critic_version: Fingerprint
    candidate: Digest
    incumbent: Digest
    cycle: int
    value: float
    """What it measured."""
    level: int
    """The answer: what was measured, graded."""


def judge_critic(name: str, version: Digest) -> CriticProfile:
    """A judge as a critic; it starts as one whose probabilities are calibrated and spread evenly."""
    return CriticProfile(
        name,
        version,
        ("unlikely", "rather not", "rather", "likely"),
        0.0,
        start=calibrated_start(PROBABILITIES),
    )


def fit_critic() -> CriticProfile:
    """How far ahead the candidate is on the answers so far, in standard errors."""
    return CriticProfile(
        "fit",
        digest_of({"fit": "advantage over its standard error", "cuts": list(STANDARD_ERRORS)}),
        ("behind", "level", "ahead", "far ahead"),
        0.0,
    )


def recovery_critic(cost: float, settings: Mapping[str, object]) -> CriticProfile:
    """How often the candidate, where it is true, wins against the incumbent in simulated samples."""
    return CriticProfile(
        "recovery",
        digest_of({"recovery": dict(settings), "cuts": list(SHARES)}),
        ("hardly", "often", "nearly always"),
        cost,
    )


def calibrated_start(cuts: Sequence[float]) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Levels of a calibrated, uniform probability p: of candidates that lose (density 2 (1 - p)) and that win (2 p)."""
    edges = np.array([0.0, *cuts, 1.0])
    won = np.diff(edges**2)
    lost = np.diff(1 - (1 - edges) ** 2)
    return tuple(map(float, lost)), tuple(map(float, won))


def relevant(
    heard: Iterable[CriticsHeard],
    critics: Sequence[CriticProfile],
    family: str,
    valid: Callable[[Digest], bool],
) -> list[tuple[Seen, bool]]:
    """What of the past can teach about these critics: this family, these versions, known outcomes, records that hold.

    Each record counts once: a measurement that was repeated without chance is one measurement.
    """
    rows: dict[Digest, tuple[Seen, bool]] = {}
    for item in heard:
        if item.family != family or item.favoured is None or not valid(item.record):
            continue
        seen = tuple(
            item.answers[critic.name]
            if critic.name in item.answers and item.versions.get(critic.name) == critic.version
            else None
            for critic in critics
        )
        rows[item.record] = (seen, item.favoured)
    return [row for _, row in sorted(rows.items())]


def learn(
    heard: Iterable[CriticsHeard],
    critics: Sequence[CriticProfile],
    family: str,
    valid: Callable[[Digest], bool] = lambda _: True,
    weight: float = 2.0,
) -> LearnedCritics:
    """Joint probability of the critics' answers for losing and for winning candidates: posterior means.

    The answers of all critics together follow one categorical distribution for each fate. Its prior is a Dirichlet
    made of the starting tables, which count for ``weight`` candidates, and of the product of the critics' own tables
    as they were learned, which is what they would say together if they were independent. How many candidates the
    product counts for, from hardly any to infinitely many, is averaged over by its evidence. So a few rows give the
    critics as if independent, and many give what they really say together; each critic's own table is its Beta (or
    Dirichlet) posterior mean in either case. Since base rate and tables have independent posteriors, values of plans
    computed with posterior means are exact expectations.

    Args:
        heard: The past.
        critics: Those that can be asked now.
        family: Of tasks.
        valid: Whether a record still holds.
        weight: Past candidates of each fate that the starting tables count for.

    Raises:
        CriticError: A starting table does not fit its critic or weighs more than ``STARTING_WEIGHT``, or an answer is
            no level of its critic.
    """
    if not 0 < weight <= STARTING_WEIGHT:
        raise CriticError(
            f"the starting tables weigh {weight}; they may count for more than 0 and at most {STARTING_WEIGHT:g} past "
            "candidates, or they would outvote what is learned."
        )
    for critic in critics:
        _check(critic)
    rows = relevant(heard, critics, family, valid)
    shape = tuple(len(critic.levels) for critic in critics)
    for seen, _ in rows:
        for critic, level in zip(critics, seen, strict=True):
            if level is not None and not 0 <= level < len(critic.levels):
                raise CriticError(
                    f"critic {critic.name!r} has {len(critic.levels)} levels; a record holds {level}."
                )
    n = [sum(favoured == bool(state) for _, favoured in rows) for state in (0, 1)]
    patterns = [[seen for seen, favoured in rows if favoured == bool(state)] for state in (0, 1)]
    starts = [[_start(critic, state) for critic in critics] for state in (0, 1)]
    bases = [_product(_marginals(patterns[state], starts[state], weight)) for state in (0, 1)]
    priors = [weight * _product(starts[state]) for state in (0, 1)]
    log_evidence, tables = [], []
    for concentration in CONCENTRATIONS:
        fitted = [
            _posterior(patterns[state], priors[state], bases[state], concentration)
            for state in (0, 1)
        ]
        tables.append(np.stack([table for table, _ in fitted]))
        log_evidence.append(sum(evidence for _, evidence in fitted))
    weights = np.exp(np.array(log_evidence) - logsumexp(log_evidence))
    table = np.einsum("c,c...->...", weights, np.stack(tables)) if shape else np.ones(2)
    return LearnedCritics(
        critics=tuple(critics),
        family=family,
        panel=CriticPanel(
            tuple(critic.name for critic in critics),
            tuple(critic.cost for critic in critics),
            table,
        ),
        base_rate=(n[1] + 1) / (n[0] + n[1] + 2),
        n_lost=n[0],
        n_won=n[1],
        n_heard=tuple(
            sum(seen[index] is not None for seen, _ in rows) for index in range(len(critics))
        ),
        independence=float(weights[-1]),
    )


def transitions(before_after: Iterable[tuple[bool, bool]]) -> tuple[float, float]:
    """Probability that a refinement mends a loser and that it breaks a winner, each from a uniform prior.

    Args:
        before_after: Whether each refined candidate would have won before, and whether it won after.
    """
    pairs = list(before_after)
    lost, won = (
        [after for before, after in pairs if not before],
        [after for before, after in pairs if before],
    )
    return (sum(lost) + 1) / (len(lost) + 2), (len(won) - sum(won) + 1) / (len(won) + 2)


def drift(
    old: Sequence[tuple[Seen, bool]],
    new: Sequence[tuple[Seen, bool]],
    rng: np.random.Generator,
    n_shuffles: int = 999,
) -> float:
    """Exact permutation p value that critics answer now as they did before, given the candidates' fates.

    The statistic is the likelihood ratio of separate against common tables, critic by critic, summed; old and new are
    exchanged among candidates of the same fate.
    """
    rows = [*old, *new]
    is_new = np.repeat([False, True], [len(old), len(new)])
    fates = np.array([favoured for _, favoured in rows], dtype=bool)
    answers = np.array([[-1 if level is None else level for level in seen] for seen, _ in rows])

    def statistic(labels: NDArray[np.bool_]) -> float:
        total = 0.0
        for fate in (False, True):
            for critic in range(answers.shape[1] if len(rows) else 0):
                known = (fates == fate) & (answers[:, critic] >= 0)
                counts = [
                    np.bincount(answers[known & (labels == age), critic], minlength=32)
                    for age in (False, True)
                ]
                total += sum(_log_multinomial(count) for count in counts) - _log_multinomial(
                    counts[0] + counts[1]
                )
        return total

    seen_now, extreme = statistic(is_new), 0
    for _ in range(n_shuffles):
        shuffled = is_new.copy()
        for fate in (False, True):
            shuffled[fates == fate] = rng.permutation(is_new[fates == fate])
        extreme += statistic(shuffled) >= seen_now - 1e-9
    return (extreme + 1) / (n_shuffles + 1)


def grade(value: float, cuts: Sequence[float]) -> int:
    """Level of a number: how many cuts it reaches."""
    return int(np.searchsorted(np.asarray(cuts), value, side="right"))


def _check(critic: CriticProfile) -> None:
    if critic.start is None:
        return
    table = np.array(critic.start)
    if (
        table.shape != (2, len(critic.levels))
        or (table <= 0).any()
        or not np.allclose(table.sum(axis=1), 1)
    ):
        raise CriticError(
            f"the starting table of critic {critic.name!r} must have two rows of {len(critic.levels)} positive "
            "probabilities that add up to 1: of losing candidates first."
        )


def _slice(table: Array, seen: Seen) -> Array:
    """Sum over the critics that were not asked, and take what the others answered."""
    part = table
    for level in reversed(seen):
        part = part.sum(axis=-1) if level is None else part[..., level]
        # The next critic's axis is last now; batch and state axes stay in front.
    return part


def _start(critic: CriticProfile, state: int) -> Array:
    if critic.start is None:
        return np.full(len(critic.levels), 1 / len(critic.levels))
    return np.array(critic.start[state])


def _marginals(patterns: Sequence[Seen], starts: Sequence[Array], weight: float) -> list[Array]:
    """Posterior mean of each critic's own table."""
    found = []
    for index, start in enumerate(starts):
        levels = [level for seen in patterns if (level := seen[index]) is not None]
        counts = np.bincount(np.array(levels, dtype=int), minlength=len(start))
        found.append((counts + weight * start) / (counts.sum() + weight))
    return found


def _product(marginals: Sequence[Array]) -> Array:
    table = np.ones(())
    for marginal in marginals:
        table = np.multiply.outer(table, marginal)
    return table


def _posterior(
    patterns: Sequence[Seen], start: Array, base: Array, concentration: float
) -> tuple[Array, float]:
    """Posterior mean of the joint table and the log evidence of what was heard.

    Where critics were not asked, candidates are shared among the combinations that they may have had, by expectation
    maximisation; the evidence is then that of the shared counts.
    """
    independent = bool(np.isinf(concentration))
    prior = base if independent else start + concentration * base
    complete = all(level is not None for seen in patterns for level in seen)
    table, counts = base, np.zeros(base.shape)
    for _ in range(1 if complete or independent else ROUNDS):
        counts = np.zeros(base.shape)
        for seen, n in Counter(patterns).items():
            index = tuple(slice(None) if level is None else level for level in seen)
            counts[index] += n * table[index] / table[index].sum()
        if not independent:
            table = (counts + prior) / (counts + prior).sum()
    if independent:
        return base, float((counts * np.log(base)).sum())
    evidence = gammaln(prior.sum()) - gammaln(prior.sum() + counts.sum())
    return table, float(evidence + (gammaln(prior + counts) - gammaln(prior)).sum())


def _log_multinomial(counts: Array) -> float:
    """Largest log likelihood of counts under a categorical distribution."""
    positive = counts[counts > 0]
    return float((positive * np.log(positive / counts.sum())).sum()) if len(positive) else 0.0
