"""Verify, refine or ship: what to do about a candidate before people's time is spent on it.

Whether a candidate will beat the incumbent is hidden. Asking a critic costs little and says something; verifying asks
people, costs much and says everything; refining replaces the candidate by a successor; shipping adopts it unseen;
quitting drops it. The action with the best expected value net of cost is taken, by dynamic programming over beliefs.
The form of the problem follows arXiv 2606.24453; tables are learned in `judges.critic`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from lakatos.judges.critic import CriticPanel, FreshPanel, LearnedCritics, Seen
from lakatos.judges.errors import DecisionError
from lakatos.traces.digest import Digest, Fingerprint
from lakatos.traces.record import Record

Array = NDArray[Any]

VERIFY, REFINE = "verify", "refine"
ASK = "ask "
"""Before a critic's name in the name of an action."""
FEWEST = 8
"""Past candidates about which a critic must have been heard to be part of a plan. Below, no critic is known better than
it was beforehand, and nothing of refining; see `benchmarks/judges/verify_or_ship.py` for both sides of it."""
FORCED = 0.05
"""Share of decisions that verify whatever the values say, so that tables go on being learned."""
STEPS = 3
"""Critics and refinements that a plan looks ahead."""


@dataclass(frozen=True)
class VerificationOption:
    """Asking people: what is paid, and what it brings in each state."""

    cost: Any
    worth: Array
    """``(..., n_states)`` of knowing the state and ending; 0 where that means to drop the candidate."""


@dataclass(frozen=True)
class RefinementOption:
    """A successor in place of the candidate; no critic has seen it."""

    cost: Any
    kernel: Array
    """``(..., n_states, n_states)`` probability of the successor's state given the candidate's."""


@dataclass(frozen=True)
class DecisionProblem:
    """What can be done about a candidate. Numbers may be arrays ``(...)``: separate problems side by side."""

    ends: Mapping[str, Array]
    """``(..., n_states)`` worth of ending at once, net of cost, by action."""
    panel: CriticPanel | FreshPanel
    verification: VerificationOption | None = None
    refinement: RefinementOption | None = None

    @cached_property
    def actions(self) -> tuple[str, ...]:
        """Names of all actions; on ties the first is taken."""
        extra = [VERIFY] * (self.verification is not None) + [REFINE] * (
            self.refinement is not None
        )
        return (*self.ends, *extra, *(ASK + name for name in self.panel.names))


@dataclass(frozen=True)
class DecisionPayoffs:
    """What winning and losing are worth, and what finding out costs, in one unit of the user's choice."""

    gain: Any
    """Of adopting a candidate that wins."""
    loss: Any
    """Of adopting unseen one that loses; infinite where nothing may be adopted without people."""
    cost: Any
    """Of verifying."""
    refine_cost: Any = None
    """Of a refinement; None where there is none."""
    mends: Any = 0.0
    """Probability that refining makes a winner of a loser."""
    breaks: Any = 0.0
    """And a loser of a winner."""


def ship_or_quit(panel: CriticPanel | FreshPanel, payoffs: DecisionPayoffs) -> DecisionProblem:
    """The usual problem with two states, losing and winning, in this order."""
    gain, loss = np.asarray(payoffs.gain, dtype=float), np.asarray(payoffs.loss, dtype=float)
    zero = np.zeros_like(gain)
    ends = {"quit": np.stack([zero, zero], axis=-1)}
    if np.isfinite(loss).all():
        ends["ship"] = np.stack(np.broadcast_arrays(-loss, gain), axis=-1)
    refinement = None
    if payoffs.refine_cost is not None:
        mends, breaks = np.broadcast_arrays(np.asarray(payoffs.mends, dtype=float), payoffs.breaks)
        rows = [np.stack([1 - mends, mends], axis=-1), np.stack([breaks, 1 - breaks], axis=-1)]
        refinement = RefinementOption(payoffs.refine_cost, np.stack(rows, axis=-2))
    return DecisionProblem(
        ends, panel, VerificationOption(payoffs.cost, np.stack([zero, gain], axis=-1)), refinement
    )


def action_values(
    problem: DecisionProblem, belief: Array, steps: int = STEPS, seen: Seen | None = None
) -> dict[str, Array]:
    """Expected value of each action, if all later ones are the best.

    The recursion is exact: values are computed at the beliefs that can be reached, not at those of a grid. ``belief``
    may hold a whole grid, of which the values of all points come at once. Verifying uses up no step, as it is limited
    by its cost and ends what is known about this candidate.

    Args:
        problem: What can be done.
        belief: ``(..., n_states)`` before any critic was heard, normalised.
        steps: Critics and refinements that may still come.
        seen: What critics have answered so far.

    Returns:
        ``(...)`` by action, in the units of the payoffs; actions that are not open are left out.
    """
    plan = _ValuePlan(problem)
    start = np.asarray(belief, dtype=float)
    asked = problem.panel.nothing if seen is None else seen
    mass = problem.panel.weights(start, asked).sum(axis=-1)
    return {name: value / mass for name, value in plan.values(start, asked, steps).items()}


def best_value(problem: DecisionProblem, belief: Array, steps: int = STEPS) -> Array:
    """``(...)`` expected value of the best plan."""
    return _largest(action_values(problem, belief, steps))


class _ValuePlan:
    """Values times the probability of getting there: sums over answers need no division, and none is by zero."""

    def __init__(self, problem: DecisionProblem) -> None:
        self.problem = problem
        self._known: dict[tuple[int, int], Array] = {}

    def values(self, start: Array, seen: Seen, steps: int) -> dict[str, Array]:
        problem = self.problem
        weights = problem.panel.weights(start, seen)
        mass = weights.sum(axis=-1)
        found = {name: (weights * worth).sum(axis=-1) for name, worth in problem.ends.items()}
        if problem.verification is not None:
            known = [
                weights[..., state] * self.known(state, steps) for state in range(weights.shape[-1])
            ]
            found[VERIFY] = np.sum(known, axis=0) - mass * problem.verification.cost
        if steps > 0:
            if problem.refinement is not None:
                successor = np.einsum("...s,...st->...t", weights, problem.refinement.kernel)
                fresh = self.best(successor, problem.panel.nothing, steps - 1)
                found[REFINE] = fresh - mass * problem.refinement.cost
            for critic in problem.panel.open(seen):
                answers = problem.panel.ask(start, seen, critic)
                heard = [self.best(after, then, steps - 1) for after, then in answers]
                found[ASK + problem.panel.names[critic]] = (
                    np.sum(heard, axis=0) - mass * problem.panel.costs[critic]
                )
        return found

    def best(self, start: Array, seen: Seen, steps: int) -> Array:
        return _largest(self.values(start, seen, steps))

    def known(self, state: int, steps: int) -> Array:
        """Value once people have shown the state: to end, or to refine what is known to be so."""
        assert self.problem.verification is not None
        if (state, steps) not in self._known:
            value: Array = self.problem.verification.worth[..., state]
            if self.problem.refinement is not None and steps > 0:
                kernel = self.problem.refinement.kernel[..., state, :]
                fresh = (
                    self.best(kernel, self.problem.panel.nothing, steps - 1)
                    - self.problem.refinement.cost
                )
                value = np.maximum(value, fresh)
            self._known[state, steps] = value
        return self._known[state, steps]


def _largest(values: Mapping[str, Array]) -> Array:
    largest, *others = values.values()
    for value in others:
        largest = np.maximum(largest, value)
    return largest


PAYOFFS = DecisionPayoffs(gain=100.0, loss=np.inf, cost=50.0, refine_cost=10.0)
"""Of a campaign: a better theory found is worth 100, and asking people about one that is none costs half of it, so that
even odds are just worth asking. Nothing is adopted without people, so there is no shipping. To refine is to let the
next search begin from the candidate; what that mends and breaks is learned."""

Policy = Callable[[Array, Seen, int], Array]
"""From what it believes before any answer, ``(..., n_states)``, what was heard, and the steps left: ``(...)`` indices
into the problem's actions."""


def optimal(problem: DecisionProblem) -> Policy:
    """The best plan for a problem as it is believed to be."""
    plan = _ValuePlan(problem)

    def choose(start: Array, seen: Seen, steps: int) -> Array:
        values = plan.values(start, seen, steps)
        names = [name for name in problem.actions if name in values]
        table = np.stack(np.broadcast_arrays(*(values[name] for name in names)))
        return np.asarray(
            np.array([problem.actions.index(name) for name in names])[table.argmax(axis=0)]
        )

    return choose


def always(problem: DecisionProblem, action: str) -> Policy:
    """Do one thing whatever is known."""
    index = problem.actions.index(action)
    return lambda start, seen, steps: np.full(start.shape[:-1], index)


@dataclass(frozen=True)
class ThresholdPolicy:
    """Ask one critic, or none, and end or verify according to its level."""

    critic: int | None
    cut: int
    """Level from which on ``above`` is done; without a critic ``above`` always is."""
    below: str
    above: str

    def action(self, problem: DecisionProblem, seen: Seen) -> str:
        """What the rule does next."""
        if self.critic is None:
            return self.above
        level = seen[self.critic]
        if level is None:
            return ASK + problem.panel.names[self.critic]
        return self.above if level >= self.cut else self.below

    def policy(self, problem: DecisionProblem) -> Policy:
        """The rule as a policy."""

        def choose(start: Array, seen: Seen, steps: int) -> Array:
            return np.full(start.shape[:-1], problem.actions.index(self.action(problem, seen)))

        return choose


def single_threshold(
    problem: DecisionProblem, base_rate: float, tables: Sequence[Array]
) -> ThresholdPolicy:
    """The rule with one critic and one cut, or none, that is worth most.

    Args:
        problem: With two states and a `CriticPanel`.
        base_rate: Probability of winning.
        tables: ``(2, n_levels)`` of each critic.
    """
    prior = np.array([1 - base_rate, base_rate])
    worth = {name: np.asarray(value) for name, value in problem.ends.items()}
    if problem.verification is not None:
        worth[VERIFY] = problem.verification.worth - problem.verification.cost
    simple = {name: float(prior @ value) for name, value in worth.items()}
    best = max(simple, key=lambda name: simple[name])
    rule, value = ThresholdPolicy(None, 0, best, best), simple[best]
    for critic, table in enumerate(tables):
        for cut in range(1, table.shape[1]):
            high = prior * table[:, cut:].sum(axis=1)
            low = prior - high
            above = max(worth, key=lambda name: float(high @ worth[name]))
            below = max(worth, key=lambda name: float(low @ worth[name]))
            total = float(high @ worth[above] + low @ worth[below]) - float(
                problem.panel.costs[critic]
            )
            if total > value + 1e-12:
                rule, value = ThresholdPolicy(critic, cut, below, above), total
    return rule


def worth_of(
    policy: Policy,
    truth: DecisionProblem,
    prior: Array,
    believed: DecisionProblem,
    believed_prior: Array,
    steps: int = STEPS,
    *,
    retries: bool = True,
) -> Array:
    """Exact expected worth of a policy that believes one problem while another is true.

    Args:
        policy: Chooses, from what is believed.
        truth: What happens; of the same actions and critics as ``believed``.
        prior: ``(..., n_states)`` true probabilities of the states.
        believed: The problem as the policy sees it.
        believed_prior: And its prior.
        steps: Critics and refinements that may come.
        retries: Whether a candidate that people have shown to lose is refined where that is believed to be worth its
            cost; otherwise it ends there.

    Returns:
        ``(...)`` worth.
    """
    plan = _ValuePlan(believed)

    def value(start: Array, mind: Array, seen: Seen, left: int) -> Array:
        weights = truth.panel.weights(start, seen)
        mass = weights.sum(axis=-1)
        choice = np.broadcast_to(policy(mind, seen, left), mass.shape)
        total = np.zeros(mass.shape)
        for index in np.unique(choice):
            action = truth.actions[index]
            total = np.where(
                choice == index, follow(action, start, mind, seen, left, weights, mass), total
            )
        return total

    def follow(
        action: str, start: Array, mind: Array, seen: Seen, left: int, weights: Array, mass: Array
    ) -> Array:
        if action in truth.ends:
            return np.asarray((weights * truth.ends[action]).sum(axis=-1))
        if action == VERIFY:
            assert truth.verification is not None
            after = [weights[..., s] * known(s, left) for s in range(weights.shape[-1])]
            return np.asarray(np.sum(after, axis=0) - mass * truth.verification.cost)
        if action == REFINE:
            assert truth.refinement is not None
            assert believed.refinement is not None
            successor = np.einsum("...s,...st->...t", weights, truth.refinement.kernel)
            minds = np.einsum(
                "...s,...st->...t", believed.panel.weights(mind, seen), believed.refinement.kernel
            )
            fresh = value(successor, minds, truth.panel.nothing, left - 1)
            return np.asarray(fresh - mass * truth.refinement.cost)
        critic = truth.panel.names.index(action.removeprefix(ASK))
        pairs = zip(
            truth.panel.ask(start, seen, critic),
            believed.panel.ask(mind, seen, critic),
            strict=True,
        )
        heard = [value(after, then, now, left - 1) for (after, now), (then, _) in pairs]
        return np.asarray(np.sum(heard, axis=0) - mass * truth.panel.costs[critic])

    def known(state: int, left: int) -> Array:
        assert truth.verification is not None
        assert believed.verification is not None
        end: Array = np.asarray(truth.verification.worth[..., state])
        if not retries or truth.refinement is None or believed.refinement is None or left <= 0:
            return end
        goes_on = plan.known(state, left) > believed.verification.worth[..., state] + 1e-12
        if not np.any(goes_on):
            return end
        fresh = value(
            truth.refinement.kernel[..., state, :],
            believed.refinement.kernel[..., state, :],
            truth.panel.nothing,
            left - 1,
        )
        return np.where(goes_on, fresh - truth.refinement.cost, end)

    return value(
        np.asarray(prior, float), np.asarray(believed_prior, float), truth.panel.nothing, steps
    )


Rule = Literal["plan", "start", "threshold", "forced", "place"]
"""Best expected value; the same by what is believed of critics for want of past candidates, without refining; verified
to keep on learning; verified because the next experiment has a place for the candidate that costs nobody anything.
Earlier versions of the laboratory took the best single threshold for want of past candidates."""


@dataclass(frozen=True)
class CandidateDecision:
    """What is done next about a candidate, and why."""

    action: str
    values: dict[str, float]
    """Expected value of every open action."""
    belief: float
    """Probability that the candidate will win."""
    rule: Rule
    sentence: str


def decide(
    payoffs: DecisionPayoffs,
    learned: LearnedCritics,
    seen: Seen,
    rng: np.random.Generator,
    *,
    first: bool = True,
    has_place: bool = False,
    steps: int = STEPS,
    forced: float = FORCED,
    fewest: int = FEWEST,
) -> CandidateDecision:
    """Choose what to do next about a candidate.

    A plan trusts the critics that answered about at least ``fewest`` past candidates; what the others say is left
    out. Where there are none, all are heard as far as they are known, and nothing is refined.

    Args:
        payoffs: Of winning, losing and finding out.
        learned: What past candidates teach about the critics.
        seen: What critics have answered about this one.
        rng: Draws whether the candidate is verified whatever the values say.
        first: Whether this is the first decision about the candidate; lots are drawn only then, or a candidate about
            which many critics are asked would be verified more often.
        has_place: Whether the candidate is among those that the next experiment compares with the incumbent anyway, at
            no further cost: it is verified whatever the values say.
        steps: Critics and refinements that may still come.
        forced: Share of candidates verified so.
        fewest: Past candidates below which a critic is not part of a plan.

    Raises:
        DecisionError: A value is not finite.
    """
    known = tuple(index for index, n in enumerate(learned.n_heard) if n >= fewest)
    rule: Rule = "plan" if known else "start"
    trusted = learned.panel.only(known) if known else learned.panel
    heard = tuple(seen[index] for index in known) if known else seen
    problem = ship_or_quit(trusted, payoffs if known else replace(payoffs, refine_cost=None))
    prior = np.array([1 - learned.base_rate, learned.base_rate])
    values = {
        name: float(value) for name, value in action_values(problem, prior, steps, heard).items()
    }
    if not np.isfinite(list(values.values())).all():
        raise DecisionError(f"the values of the actions are {values}; give finite gains and costs.")
    action = min(values, key=lambda name: (-values[name], problem.actions.index(name)))
    if has_place and action != VERIFY:
        action, rule = VERIFY, "place"
    elif first and rng.random() < forced and action != VERIFY:
        action, rule = VERIFY, "forced"
    weights = trusted.weights(prior, heard)
    belief, n_rows = float(weights[1] / weights.sum()), learned.n_lost + learned.n_won
    return CandidateDecision(
        action, values, belief, rule, explain(action, values, belief, rule, n_rows)
    )


def regions(
    problem: DecisionProblem, steps: int = STEPS, n_points: int = 101
) -> list[tuple[float, float, str]]:
    """Which action is best where, of two states: from belief, to belief, action, on a grid of ``n_points``."""
    grid = np.linspace(0, 1, n_points)
    best = optimal(problem)(np.stack([1 - grid, grid], axis=-1), problem.panel.nothing, steps)
    ends = [*np.flatnonzero(np.diff(best)), n_points - 1]
    starts = [0, *(end + 1 for end in ends[:-1])]
    return [
        (float(grid[start]), float(grid[end]), problem.actions[best[start]])
        for start, end in zip(starts, ends, strict=True)
    ]


def explain(action: str, values: Mapping[str, float], belief: float, rule: str, n_rows: int) -> str:
    """One sentence: what is done, how sure the belief is, and the value of every action."""
    table = ", ".join(
        f"{name} {value:+.1f}" for name, value in sorted(values.items(), key=lambda item: -item[1])
    )
    reason = {
        "plan": "it is worth most",
        "start": f"{n_rows} past candidates are few, and by what is known of critics so far it is worth most",
        "place": "the next experiment compares as many with the leader anyway, and few fit the answers better",
        "forced": "it was drawn by chance to be verified, so that critics go on being checked against people",
    }[rule]
    return f"{action}: {reason} (probability of winning {belief:.2f}, from {n_rows} past candidates; {table})."


class CandidateDecided(Record):
    """What was done next about a candidate, with the value of every action."""

    kind: Literal["candidate_decided"] = "candidate_decided"
    version: Literal[1] = 1
    verdict: Digest
    """The panel's prediction, which people's data will settle, and this decision's belief with it."""
    candidate: Digest
    incumbent: Digest
    cycle: int
    family: str
    """Of tasks, whose past candidates the critics' tables were learned from."""
    critics: dict[str, Fingerprint]
    """Version of each critic."""
    heard: dict[str, int]
    """Level of each critic that was asked before this decision."""
    mends: float
    """Probability that refining makes a winner of a loser, as learned."""
    breaks: float
    """And a loser of a winner."""
    tables: Fingerprint
    """Digest of the tables that were used; they can be learned again from the records that this one cites."""
    n_lost: int
    n_won: int
    belief: float
    action: str
    values: dict[str, float]
    """Expected value of every action, in the units of the payoffs."""
    rule: Rule
    text: str
