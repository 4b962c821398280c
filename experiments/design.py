"""Selection of trials: those whose responses are expected to discriminate best between theories.

A theory enters as its probabilities alone, ``(n_draws, n_trials, n_options)``: each draw of its parameters is one kind
of person. The responses of one participant hang together through that person's parameters, so the worth of a trial
depends on what was asked before. All ways in which the trials chosen so far can be answered are therefore kept, each
with what it says about theories and people; what a trial adds is then exact over the draws. When the ways become too
many, a few that stand for all are kept.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import isnan
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import xlogy

from lakatos.experiments.errors import DesignError
from lakatos.experiments.information import (
    BLOCK,
    MOST_WAYS,
    Array,
    check_rivals,
    outcome_probabilities,
    p_log_p,
    softmax,
    with_last,
)
from lakatos.experiments.task import Design, Stimuli

MOST_CHOSEN = 256
"""Trials of a batch that are chosen by what they add; where more are asked for, the responses to so many have settled
what rivals differ in, and the others are drawn at random."""

TIE = 1e-5
"""Nats within which candidates add the same, and the first of them is chosen: what `TrialSearch.look` finds in single
precision differs by about 1e-6 between processors, and candidates that add exactly the same are common."""
INFORMATION_DIGITS = 9
"""Decimals of a trial's information. All later random numbers follow from the design, and other digits differ between
processors."""
WEIGHT_DIGITS = 12
"""Decimals to which weights of ways are compared, ties by place: their last digits differ between processors, and equal
weights are common, so that another processor would keep other ways and choose other trials."""


@dataclass(frozen=True)
class TrialSelection:
    """Trials chosen from candidates, those chosen for their information first."""

    rows: tuple[int, ...]
    """``(n_trials,)`` rows of the candidates."""
    information: tuple[float, ...]
    """``(n_trials,)`` expected information gain at the moment of selection, in nats; NaN for random trials."""
    random_rows: tuple[int, ...]
    """Positions within ``rows`` that were drawn at random, as `Design.random_coverage` holds them."""
    n_proved: int = 0
    """Trials chosen for their information of which it is proved that no other candidate added more per cost."""

    @property
    def total(self) -> float:
        """Information of all trials chosen for it together, in nats.

        Exact while all ways to answer are kept; beyond, each gain is the largest of many estimates, so that the sum is
        a little too high. `information_of_batch` judges a batch without this.
        """
        return float(np.nansum(self.information))


def choose_trials(
    probabilities: Sequence[Array],
    log_prior: Array,
    *,
    n_trials: int,
    rng: np.random.Generator,
    random_share: float = 0.25,
    repetitions: int = 1,
    costs: Array | None = None,
    budget: float = float("inf"),
    n_ways: int = MOST_WAYS,
    lazy: bool = True,
) -> TrialSelection:
    """Greedy batch of trials by conditional expected information about which theory is right.

    Each step adds the trial with the largest mutual information between theory and the participant's responses, given
    that participant's responses so far, for its cost. This is exact over the draws as long as the chosen trials can be
    answered in at most ``n_ways`` ways; beyond, ``n_ways`` of them are kept with weights that leave every expectation
    unbiased. The random trials are drawn from the rest. Where costs differ, the batch by information per cost is
    compared with that by information alone, and the more informative one is returned.

    What a trial adds about the theory, unlike what it adds about theory and person together, need not fall as trials
    are added: two answers can say what neither says alone. The latter bounds the former, is known from any earlier step
    and only falls; candidates that cannot win by this bound are passed over, which changes nothing. Once ways are
    dropped, a ``lazy`` search also passes over candidates that added less, when last looked at, than the best one adds
    now. That is exact where gains only fall, as they do when people of one theory are alike, and is a heuristic
    otherwise; `TrialSelection.n_proved` counts the steps to which it made no difference.

    Args:
        probabilities: Per theory ``(n_draws, n_candidates, n_options)``.
        log_prior: ``(n_theories,)`` log p(theory), normalised; see `pair_prior` for two theories alone.
        n_trials: Distinct trials to choose; fewer where the budget ends before.
        rng: Decides which ways are kept, and the random trials.
        random_share: Share of the trials, and of the budget, for trials drawn at random, for surprises outside all
            theories.
        repetitions: Presentations of each trial; its information is that of all of them together.
        costs: ``(n_candidates,)`` of asking each trial, repetitions included; all 1 when None.
        budget: Most that all trials together may cost.
        n_ways: Ways of answering that are kept.
        lazy: Whether candidates may be passed over by what they added earlier.

    Raises:
        ShapeError: The arrays disagree on ``n_theories`` or ``n_candidates``.
        DesignError: There are fewer candidates than trials, the budget pays for none, or the settings make no sense.

    References:
        Krause & Guestrin (2005), UAI 21, 324-331 (greedy choice of observations); Minoux (1978), Optimization
        Techniques, 234-243 (lazy evaluation); Leskovec et al. (2007), KDD 13, 420-429 (costs); Fearnhead & Clifford
        (2003), Journal of the Royal Statistical Society B 65(4), 887-899 (which ways are kept).
    """
    weights = check_rivals(probabilities, log_prior)
    n_candidates = probabilities[0].shape[1]
    if not 1 <= n_trials <= n_candidates:
        raise DesignError(
            f"{n_trials} trials were requested, and the design space has {n_candidates}. "
            "Request fewer trials, or widen the space."
        )
    if not 0 <= random_share <= 1 or repetitions < 1 or n_ways < 1:
        raise DesignError(
            f"random_share={random_share}, repetitions={repetitions}, n_ways={n_ways}: "
            "the share lies between 0 and 1, the others are at least 1."
        )
    price = np.ones(n_candidates) if costs is None else np.asarray(costs, dtype=np.float64)
    if price.shape != (n_candidates,) or not (price > 0).all():
        raise DesignError(f"costs are {n_candidates} numbers above 0, one for each candidate.")
    if price.min() > budget:
        raise DesignError(
            f"the cheapest of {n_candidates} trials costs {price.min():g}, more than the budget of {budget:g} for one "
            "person. Allow more, or ask for fewer repetitions."
        )
    n_greedy = min(n_trials - round(random_share * n_trials), MOST_CHOSEN)
    funds = budget if n_greedy == n_trials else (1 - random_share) * budget
    search = TrialSearch.prepare(probabilities, log_prior, weights, repetitions)
    batches = [search.choose(n_greedy, price, funds, rng, n_ways, lazy)]
    if (price != price[0]).any():
        batches.append(search.choose(n_greedy, price, funds, rng, n_ways, lazy, per_cost=False))
    best = max(batches, key=lambda batch: batch.total)
    left = budget - price[list(best.rows)].sum()
    rest = rng.permutation(np.setdiff1d(np.arange(n_candidates), best.rows))
    random: list[int] = []
    for row in rest.tolist() if n_trials > n_greedy else ():
        if price[row] <= left:
            random.append(row)
            left -= price[row]
        if len(random) == n_trials - n_greedy:
            break
    return replace(
        best,
        rows=(*best.rows, *random),
        information=(*best.information, *[float("nan")] * len(random)),
        random_rows=tuple(range(len(best.rows), len(best.rows) + len(random))),
    )


def both_sides(first: Array, second: Array) -> Array:
    """Probability of every pair of responses to two presentations of a trial, ``(n_draws, n_trials, n * m)``.

    Args:
        first: ``(n_draws, n_trials, n)`` of the responses to a trial, or of the ways its repetitions are answered.
        second: ``(n_draws, n_trials, m)`` likewise with the options on the other sides.
    """
    joint = np.asarray(first)[..., :, None] * np.asarray(second)[..., None, :]
    return joint.reshape(*joint.shape[:2], -1)


@dataclass
class AnswerWays:
    """Ways in which one participant can have answered the trials so far, and what each says."""

    share: Array
    """``(n_ways,)`` probability of each way, or the weight with which a kept one stands for others; sums to 1."""
    posterior: Array
    """``(n_ways, n_theories)`` of the theories, after these responses."""
    people: list[Array]
    """Per theory ``(n_ways, n_draws)`` probability of each draw, were the theory true."""

    @classmethod
    def unasked(cls, prior: Array, weights: Sequence[Array]) -> AnswerWays:
        """Return the one way before the first trial."""
        return cls(np.ones(1), prior[None], [np.asarray(w)[None] for w in weights])

    @classmethod
    def of_people(cls, log_weights: Sequence[Array], prior: Array) -> AnswerWays:
        """Ways to answer of simulated people, each of equal weight.

        Args:
            log_weights: Per theory ``(n_people, n_draws)`` log of a draw's weight times the responses' likelihood.
            prior: ``(n_theories,)``.
        """
        highest = [w.max(axis=1, keepdims=True) for w in log_weights]
        people = [np.exp(w - h) for w, h in zip(log_weights, highest, strict=True)]
        totals = [own.sum(axis=1, keepdims=True) for own in people]
        log_evidence = np.concatenate(
            [h + np.log(total) for h, total in zip(highest, totals, strict=True)], axis=1
        )
        posterior = softmax(log_evidence + np.log(np.maximum(prior, 1e-300)), axis=1)
        people = [own / total for own, total in zip(people, totals, strict=True)]
        return cls(np.full(len(posterior), 1 / len(posterior)), posterior, people)

    def after(self, outcomes: Sequence[Array], n_most: int, rng: np.random.Generator) -> AnswerWays:
        """Add a trial; ``outcomes`` has ``(n_outcomes, n_draws)`` probabilities of its responses for each theory."""
        predictive = np.stack(
            [own @ p.T for own, p in zip(self.people, outcomes, strict=True)], axis=-1
        )
        joint = (
            self.share[:, None, None] * predictive * self.posterior[:, None]
        )  # way, answer, theory
        share = joint.sum(axis=-1)
        way, answer = np.nonzero(share > 0)
        kept, weight = _keep(share[way, answer], n_most, rng)
        way, answer = way[kept], answer[kept]
        posterior = joint[way, answer] / share[way, answer, None]
        people = []
        for own, p in zip(self.people, outcomes, strict=True):
            updated = own[way] * p[answer]
            total = updated.sum(axis=1, keepdims=True)
            people.append(np.divide(updated, total, out=np.zeros_like(updated), where=total > 0))
        return AnswerWays(weight / weight.sum(), posterior, people)


def _keep(weight: Array, n_most: int, rng: np.random.Generator) -> tuple[NDArray[np.intp], Array]:
    """Choose weighted items that represent all, with their new weights: no expectation is changed on average.

    Items heavier than a threshold are kept as they are; of the others some are drawn, each in proportion to its
    weight, and get the threshold as weight. Of all such schemes this one changes the weights least.

    References:
        Fearnhead & Clifford (2003), Journal of the Royal Statistical Society B 65(4), 887-899, sections 3.3 and 3.4.
    """
    if len(weight) <= n_most:
        return np.arange(len(weight)), weight
    order = np.argsort(-np.round(weight, WEIGHT_DIGITS), kind="stable")
    # Thresholds if 0, 1, ... items are kept; summed from the lightest, so that no sum is less than its first item.
    lighter = np.cumsum(weight[order[::-1]])[::-1]
    threshold = lighter[:n_most] / (n_most - np.arange(n_most))
    is_light = weight[order[:n_most]] <= threshold
    n_heavy = int(np.argmax(is_light))
    least = threshold[n_heavy]
    heavy, light = order[:n_heavy], np.sort(order[n_heavy:])
    # Systematic draws: even steps along the cumulative weight, from a random beginning.
    steps = (np.arange(n_most - n_heavy) + rng.random()) * least
    places = np.searchsorted(np.cumsum(weight[light]), steps, side="right")
    drawn = light[np.minimum(places, len(light) - 1)]
    new_weight = np.concatenate([weight[heavy], np.full(len(drawn), least)])
    return np.concatenate([heavy, drawn]), new_weight


@dataclass(frozen=True)
class TrialSearch:
    """Candidates laid out for fast products."""

    outcomes: list[NDArray[np.float32]]
    """Per theory with prior probability ``(n_outcomes - 1, n_draws, n_candidates)``; the last answer takes the rest."""
    prior: Array
    weights: list[Array]
    noise: Array
    """``(n_candidates,)`` entropy of a response that is left when theory and person are known, in nats."""

    @classmethod
    def prepare(
        cls,
        probabilities: Sequence[Array],
        log_prior: Array,
        weights: Sequence[Array],
        repetitions: int,
    ) -> TrialSearch:
        """Lay out what rivals with prior probability predict, and the entropy left when theory and person are known."""
        real = np.flatnonzero(np.exp(log_prior)).tolist()
        prior = np.exp(np.asarray(log_prior, dtype=np.float64)[real])
        n_candidates = probabilities[0].shape[1]
        laid_out: list[NDArray[np.float32]] = []
        noise = np.zeros(n_candidates)
        for share, t in zip(prior, real, strict=True):
            every = outcome_probabilities(np.asarray(probabilities[t]), repetitions)
            n_draws, _, n_outcomes = every.shape
            own = np.empty((n_outcomes - 1, n_draws, n_candidates), dtype=np.float32)
            draws = (share * weights[t]).astype(np.float32)
            n_rows = max(1, 128 * BLOCK // n_candidates)
            for start in range(0, n_draws, n_rows):
                rows = slice(start, start + n_rows)
                for outcome in range(n_outcomes - 1):
                    own[outcome, rows] = every[rows, :, outcome]
                for part in with_last(list(own[:, rows])):
                    noise -= draws[rows] @ p_log_p(part)
            laid_out.append(own)
        return cls(laid_out, prior, [weights[t] for t in real], noise)

    def choose(
        self,
        n_trials: int,
        price: Array,
        budget: float,
        rng: np.random.Generator,
        n_ways: int,
        lazy: bool,
        *,
        per_cost: bool = True,
    ) -> TrialSelection:
        """The greedy batch; see `choose_trials`."""
        ways = AnswerWays.unasked(self.prior, self.weights)
        value = price if per_cost else np.ones(len(price))
        gain = np.full(len(price), np.inf)
        bound = np.full(len(price), np.inf)
        free = np.ones(len(price), dtype=bool)
        chosen: list[int] = []
        information: list[float] = []
        n_proved = 0
        for _ in range(n_trials):
            free &= price <= budget
            if not free.any():
                break
            exact = not lazy or len(ways.share) < n_ways
            row, proved = self._best(ways, gain, bound, value, free, exact)
            chosen.append(row)
            n_proved += proved
            free[row] = False
            budget = budget - price[row]
            answers = []
            for own in self.outcomes:
                scores = own[:, :, row].astype(np.float64)
                answers.append(np.stack(with_last(list(scores))))
            added = _theory_information(ways, answers)
            information.append(round(max(added, 0.0), INFORMATION_DIGITS))
            ways = ways.after(answers, n_ways, rng)
        return TrialSelection(tuple(chosen), tuple(information), (), n_proved)

    def _best(
        self,
        ways: AnswerWays,
        gain: Array,
        bound: Array,
        value: Array,
        free: NDArray[np.bool_],
        exact: bool,
    ) -> tuple[int, bool]:
        """The free candidate that adds most per value, and whether that is proved; ``gain`` and ``bound`` learn.

        Of those that add the same within `TIE`, the first.
        """
        best = -np.inf
        if exact:  # neighbours in memory, the most promising first
            blocks = _blocks(np.arange(len(gain)))
            blocks.sort(key=lambda rows: -float((gain[rows] / value[rows]).max()))
        else:
            order = np.flatnonzero(free)
            promise = gain[order] / value[order]
            blocks = _blocks(order[np.argsort(-promise, kind="stable")])
        looked = np.zeros(len(gain), dtype=bool)
        for block in blocks:
            # Those that could still win: by what bounds their gain, and in a lazy search by what they added before.
            possible = free[block] & (bound[block] / value[block] >= best - TIE)
            if not exact:
                possible &= gain[block] / value[block] >= best - TIE
            is_whole = exact and 2 * possible.sum() > len(block)
            rows = block if is_whole else np.sort(block[possible])
            if not len(rows):
                if exact:
                    continue
                break
            gain[rows], bound[rows] = self.look(ways, rows)
            looked[rows] = True
            best = max(
                best, float(np.max(gain[rows] / value[rows], where=free[rows], initial=-np.inf))
            )
        row = int(np.argmax(free & looked & (gain / value >= best - TIE)))
        unseen = free & ~looked
        is_proved = np.all(bound[unseen] / value[unseen] <= best)
        return row, bool(is_proved)

    def look(self, ways: AnswerWays, rows: NDArray[np.intp]) -> tuple[Array, Array]:
        """Compute what the next responses to some candidates add, about theory, and theory and person, in nats.

        In single precision: two rounded entropies differ by about 1e-6 nats.
        """
        first, last = rows[0], rows[-1] + 1
        are_neighbours = len(rows) == last - first
        posterior, share = ways.posterior.astype(np.float32), ways.share.astype(np.float32)
        within = np.zeros(len(rows))
        marginal: list[NDArray[np.float32]] = []
        for t, (weights, outcomes) in enumerate(zip(ways.people, self.outcomes, strict=True)):
            own = np.where(weights > 1e-30, weights, 0).astype(np.float32)  # denormals are slow
            predicted = []
            for part in outcomes:
                here = part[:, first:last] if are_neighbours else part.take(rows, axis=1)
                predicted.append(own @ here)
            # Entropy of the answer within each theory, and the mean answer over theories.
            for outcome, part in enumerate(with_last(predicted)):
                within -= (share * posterior[:, t]) @ p_log_p(part)
                part *= posterior[:, t, None]
                if t == 0:
                    marginal.append(part)
                else:
                    marginal[outcome] += part
        entropies = [share @ p_log_p(part) for part in marginal]
        total = -np.sum(entropies, axis=0, dtype=np.float64)
        return total - within, np.maximum(total - self.noise[rows], 0)


def _theory_information(ways: AnswerWays, outcomes: Sequence[Array]) -> float:
    """Compute the information of one trial's next responses about the theory, in nats, in double precision.

    Args:
        ways: How the trials before can have been answered.
        outcomes: Per theory ``(n_outcomes, n_draws)`` probabilities of the trial's responses.
    """
    predicted = np.stack([own @ p.T for own, p in zip(ways.people, outcomes, strict=True)], axis=1)
    mean = (ways.posterior[..., None] * predicted).sum(axis=1)
    within = (ways.posterior * xlogy(predicted, predicted).sum(axis=-1)).sum(axis=1)
    return float(ways.share @ (within - xlogy(mean, mean).sum(axis=-1)))


def _blocks(rows: NDArray[np.intp]) -> list[NDArray[np.intp]]:
    """Candidates in blocks that are looked at together."""
    return [rows[start : start + BLOCK] for start in range(0, len(rows), BLOCK)]


def design_to_json(design: Design) -> dict[str, Any]:
    """Plain lists, for artifacts; None stands for the information of a random trial."""
    within = {
        "conditions": list(design.conditions),
        "orders": [list(order) for order in design.orders],
    }
    return {
        **(within if design.conditions else {}),
        "name": design.name,
        "stimuli": design.stimuli.to_json(),
        "repetitions": design.repetitions,
        "n_participants": design.n_participants,
        "random_coverage": list(design.random_coverage),
        "information": [None if isnan(value) else value for value in design.information],
        "archive": design.archive,
    }


def design_from_json(value: Mapping[str, Any]) -> Design:
    """Read the design that `design_to_json` wrote."""
    return Design(
        name=value["name"],
        stimuli=Stimuli.from_json(value["stimuli"]),
        repetitions=value["repetitions"],
        n_participants=value["n_participants"],
        random_coverage=tuple(value["random_coverage"]),
        information=tuple(float("nan") if gain is None else gain for gain in value["information"]),
        archive=value["archive"],
        conditions=tuple(value.get("conditions", ())),
        orders=tuple(map(tuple, value.get("orders", ()))),
    )
