"""The tree of compositions that a search has tried and could try next; see `grammar_search.advocate`."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lakatos.theories.discovery.grammar_search.prior_odds import EQUAL_ODDS, PriorOdds
from lakatos.theories.discovery.grammar_search.proposal import (
    DIGITS,
    AdvocateBrief,
    CompositionAttempt,
    Evaluate,
    Glance,
    GlancedChild,
    Trial,
    error_of,
    length_of,
    ranked,
    settled,
)
from lakatos.theories.discovery.grammar_search.prune import (
    MECHANISM,
    n_responses,
    price_of_parameter,
    size_of,
)
from lakatos.theories.discovery.grammar_search.search_tree import (
    ArchiveMap,
    CandidateObjective,
    CompositionSurrogate,
    archive,
    chances_of_improvement,
    change_in_words,
    combined,
    crossed,
    lazy_greedy,
    uncertainty,
)
from lakatos.theories.engine.checks.complexity import code_length
from lakatos.theories.engine.fitting.evaluate import EvaluatedComposition
from lakatos.theories.errors import TheoryError
from lakatos.theories.language.grammar import Composition, Grammar
from lakatos.traces.digest import Digest

Array = NDArray[np.float64]
N_NODES = 5
"""Nodes of each kind whose children are gathered."""
N_FAMILIES = 3
"""Families whose best is expanded when a search settles: the best of all may be the best of a wrong one."""
N_LOOKED = 2
"""Nodes that a climb looks around before each batch: the best, and another size; see `_not_looked_around`."""
CANDIDATES_PER_LOOK = 12
"""A search looks around one node for so many of its candidates, and one more."""
LOOKS_AFTER = 2
"""Nodes looked around after elimination."""
PROMISING = 0.003
"""Nats per choice that what is fitted must seem to gain on what is no larger."""
N_COMBINED = 40
"""Children several edits away, of each node."""
N_CROSSED = 120
N_FRESH = 60
N_CELLS = 48
"""Cells of people (or trials, where responses are pooled) at most; more are averaged."""
WEIGHTS = (0.5, 0.25, 0.25)
"""Weights of the criterion, the error and the people in the objective."""
HOPELESS = 1.0
"""Nats per choice behind the best by which a candidate is out of the question."""
WORST = 0.2
"""Share of the candidates whose values are raised to the next; how bad the bad ones are teaches nothing."""


@dataclass(frozen=True)
class SearchPolicy:
    """Division of the candidates of a search of a grammar, and the criterion by which it compares them."""

    grammar: Grammar
    price: float = 2e-5
    """Nats per choice that a parameter must be worth among candidates for pooled responses, at most."""
    slack: float = 1.1
    """A submission's error on choice proportions, at most, relative to the smallest error found."""
    afresh: float = 0.25
    """Share of the candidates composed at random before the tree grows, from which the surrogate first learns."""
    batch: int = 6
    """Candidates chosen together."""
    exploration: float = 0.02
    """Weight of `CandidateObjective.exploration`, which is ``exploration sqrt(log N / (1 + n))`` for n of N candidates
    in a place."""
    openness: float = 0.01
    """Weight of `CandidateObjective.entropy`, per nat."""
    settling: float = 0.3
    """Share of the candidates, the last ones, that are one edit away from the best so far; as many again follow after
    elimination."""
    memory: float = 0.05
    """Share of the candidates that may have a memory as long as the best so far has none."""
    memory_of_leader: float = 0.4
    """The same when the best so far has one."""
    name: str = "grammar"
    odds: PriorOdds = EQUAL_ODDS
    """Prior odds of mechanisms."""

    def attempt(
        self,
        composition: Composition,
        parent: Digest | None,
        change: str,
        result: EvaluatedComposition | TheoryError,
    ) -> CompositionAttempt:
        """Make an attempt from a fit, with the criterion that compares candidates."""
        if isinstance(result, TheoryError):
            return CompositionAttempt(
                composition, parent, change, None, -np.inf, f"{type(result).__name__}: {result}"
            )
        size = len(result.theory.priors) + MECHANISM * result.n_mechanisms
        criterion = result.mean - self.price_among(result) * size
        criterion += self.prior(result.composition, result)
        return CompositionAttempt(result.composition, parent, change, result, settled(criterion))

    def price_among(self, result: EvaluatedComposition) -> float:
        """Nats per choice that a parameter must be worth among candidates on the responses of this one."""
        price = price_of_parameter(result.scores)
        # Pooled: each trial was predicted from the others, so that parts pay for themselves already.
        return min(self.price, price) if result.pooled else price

    def prior(self, composition: Composition, result: EvaluatedComposition) -> float:
        """Log prior odds of a composition, in nats per choice on the responses that a result was scored on."""
        return self.odds.of(composition) / n_responses(result.scores)


Child = tuple[Composition, CompositionAttempt | None]
"""A composition that was not tried yet, and the node that it is made from."""


class SearchTree:
    """State of one search: what it has tried and could try next."""

    def __init__(
        self, advocate: SearchPolicy, brief: AdvocateBrief, rng: np.random.Generator
    ) -> None:
        self.advocate, self.brief, self.rng = advocate, brief, rng
        self.grammar = advocate.grammar
        self.tried: dict[object, CompositionAttempt] = {}
        self.budget = brief.n_candidates
        """Candidates that may have been tried in the end."""
        self.unspent = ""
        """Reason why there was no next batch; empty if there was one."""
        self.glanced: dict[object, GlancedChild] = {}
        """Children that were looked at without being fitted."""
        self.looked_around: set[object] = set()
        self._wanted = [tuple(remedy.split(":", 1)) for remedy in brief.remedies]
        self._surrogate = CompositionSurrogate(self.grammar)
        self._map = ArchiveMap(self.grammar)
        self._edits: dict[object, list[tuple[str, Composition]]] = {}

    @property
    def working(self) -> list[CompositionAttempt]:
        """Attempts that could be fitted, best first."""
        return [attempt for attempt in ranked(self.tried.values()) if attempt.evaluated is not None]

    def grow(self, items: Sequence[Trial], evaluate: Evaluate) -> None:
        """Evaluate what is new among ``items``, as far as the budget goes."""
        fresh = {item[0].key: item for item in reversed(items) if item[0].key not in self.tried}
        new = list(fresh.values())[::-1][: max(self.budget - len(self.tried), 0)]
        results = evaluate([(composition, parent) for composition, parent, _ in new]) if new else []
        for (composition, parent, change), result in zip(new, results, strict=True):
            self.tried[composition.key] = self.advocate.attempt(composition, parent, change, result)

    def next_batch(self) -> list[Trial]:
        """The children to try next; none when nothing works or nothing is left."""
        working = self.working
        if not working:
            self.unspent = "nothing that was tried can be fitted"
            return []
        settles = len(self.tried) >= (1 - self.advocate.settling) * self.budget
        most = self._n_with_memory()
        children = self._possible(working, settles, most)
        if not children:
            rationed = "as many as may were tried with a memory, and nothing else is left"
            why = "nothing is left" if most > 0 else rationed
            self.unspent = f"{why} within reach of what was tried"
            return []
        values, weights = _cells(working)
        chances = self._chances(working, children, values)
        chosen = (
            self._most_promising(children, chances, most)
            if settles
            else self._best_set(working, children, chances, weights, most)
        )
        return [self._trial(*children[place]) for place in chosen]

    def _possible(
        self, working: Sequence[CompositionAttempt], settles: bool, most: int
    ) -> list[Child]:
        """Children that may be tried: near the best where the search settles, none that lessons warn of if others are.

        Args:
            working: Attempts that could be fitted, best first.
            settles: Whether the search stays near the best.
            most: Candidates with a memory that may still be tried.
        """
        children = self._neighbours(working, most > 0) if settles else []
        children = children or self._children(working)
        children = [child for child in children if not self._is_warned_of(*child)] or children
        if most <= 0:
            children = [child for child in children if not self._map.has_memory(child[0])]
        return children

    def _chances(
        self, working: Sequence[CompositionAttempt], children: Sequence[Child], values: Array
    ) -> Array:
        """``(n_children, n_cells)`` how likely each child is to be better than anything so far, says the surrogate.

        A child that answers the diagnosis is expected to be one standard deviation better.
        """
        mean, deviation = self._surrogate.predict(
            self._surrogate.encode([item.composition for item in working]),
            values,
            self._surrogate.encode([child for child, _ in children]),
        )
        answers = [
            node is not None and self._answers_diagnosis(child, node.composition)
            for child, node in children
        ]
        hoped = mean + np.array(answers)[:, None] * deviation
        return chances_of_improvement(hoped, deviation, values.max(axis=0)).round(DIGITS)

    def _rationed(self, children: Sequence[Child]) -> NDArray[np.bool_]:
        """Mark the children that have a memory."""
        return np.array([self._map.has_memory(child) for child, _ in children])

    def _most_promising(
        self, children: Sequence[Child], chances: Array, most: int
    ) -> Sequence[int]:
        """Places of the children likeliest to be better as a whole, at most ``most`` with a memory."""
        rationed = self._rationed(children)
        order = np.argsort(-chances[:, 0], kind="stable")
        order = order[~rationed[order] | (np.cumsum(rationed[order]) <= most)]
        return [int(place) for place in order[: self.advocate.batch]]

    def _best_set(
        self,
        working: Sequence[CompositionAttempt],
        children: Sequence[Child],
        chances: Array,
        weights: Array,
        most: int,
    ) -> Sequence[int]:
        """Places of children that are worth most together; places of the archive seen seldom count for more."""
        seen = Counter(self._map.place(attempt.composition) for attempt in working)
        where = [self._map.place(child) for child, _ in children]
        places = {place: index for index, place in enumerate(dict.fromkeys(where))}
        unseen = [np.sqrt(np.log(len(working) + 1) / (1 + seen[place])) for place in places]
        objective = CandidateObjective(
            chances,
            weights,
            np.array([places[place] for place in where]),
            self.advocate.exploration * np.array(unseen),
            self.advocate.openness * uncertainty(chances[:, 0]),
        )
        return lazy_greedy(
            objective, self.advocate.batch, rationed=self._rationed(children), most=most
        )

    def climb(
        self, evaluate: Evaluate, glance: Glance, *, most_looks: int, exchanging: bool = False
    ) -> None:
        """Fit what looks best around the best of every size, batch by batch, until nothing promises more.

        A simple form that lacks one mechanism may be far behind an ornate one that makes up for it with others; among
        forms of its own size it is not.

        Args:
            evaluate: As in `GrammarAdvocate.revise`.
            glance: As in `GrammarAdvocate.revise`.
            most_looks: Nodes that are looked around.
            exchanging: Whether a part of the best is also exchanged for any of another slot.
        """
        n_looks = 0
        while self.working and len(self.tried) < self.budget:
            best, nodes = self._front()[-1], self._not_looked_around()
            for node in nodes[: min(N_LOOKED, most_looks - n_looks)]:
                n_looks += 1
                self.looked_around.add(node.composition.key)
                self.glanced |= self._looked_around(
                    node, glance, exchanging=exchanging and node is best
                )
            batch = self._looking_best()
            if not batch and (not nodes or n_looks >= most_looks):
                self.unspent = "no variant of the best candidate promises an improvement"
                return
            self.grow([self._trial(item.composition, item.node) for item in batch], evaluate)

    def _front(self) -> list[CompositionAttempt]:
        """Attempts better than all that are no larger, the smallest first, the best last."""
        found: list[CompositionAttempt] = []
        for item in sorted(self.working, key=lambda item: size_of(self.grammar, item.composition)):
            if not found or item.criterion > found[-1].criterion:
                found.append(item)
        return found

    def _not_looked_around(self) -> list[CompositionAttempt]:
        """List attempts on the front not looked around: the best, then those furthest in size from others.

        A search of few candidates looks around few nodes, and these are then spread over all sizes.
        """
        front = self._front()
        sizes = {item.composition.key: size_of(self.grammar, item.composition) for item in front}
        known = [size for key, size in sizes.items() if key in self.looked_around]
        left = [item for item in front if item.composition.key not in self.looked_around]
        found: list[CompositionAttempt] = []
        while left:
            apart = [
                min((abs(sizes[item.composition.key] - size) for size in known), default=0.0)
                for item in left
            ]
            far = len(left) - 1 if left[-1] is front[-1] else int(np.argmax(apart))
            found.append(left.pop(far))
            known.append(sizes[found[-1].composition.key])
        return found

    def _looked_around(
        self, node: CompositionAttempt, glance: Glance, *, exchanging: bool
    ) -> dict[object, GlancedChild]:
        """Glance at all that is near a node, was not seen yet, and has a memory only where the node has."""
        assert node.evaluated is not None
        with_memory = self._map.has_memory(node.composition)
        near = [edit for _, edit in self._edited(node.composition)]
        near += self._transplanted(node.composition)
        if exchanging:
            near += self._exchanged(node.composition)
        children = {
            child.key: child
            for child in near
            if child.key not in self.tried
            and child.key not in self.glanced
            and (with_memory or not self._map.has_memory(child))
            and not self._is_warned_of(child, node)
        }
        values = glance([(child, node.evaluated) for child in children.values()])
        price = self.advocate.price_among(node.evaluated)
        found: dict[object, GlancedChild] = {}
        for (key, child), value in zip(children.items(), values, strict=True):
            if not isinstance(value, TheoryError):
                criterion = value - price * size_of(self.grammar, child)
                criterion += self.advocate.prior(child, node.evaluated)
                found[key] = GlancedChild(child, node, settled(criterion))
        return found

    def _exchanged(self, composition: Composition) -> list[Composition]:
        """One part that may be missing exchanged for one of another slot."""
        dropped = [
            edit for _, edit in self._edited(composition) if edit.size == composition.size - 1
        ]
        return [
            edit
            for smaller in dropped
            for _, edit in self.grammar.edits(smaller)
            if edit.size == composition.size
        ]

    def _transplanted(self, composition: Composition) -> list[Composition]:
        """Published forms with what a composition has in slots that may stay empty, where they have nothing."""
        may_be_empty = {slot.name for slot in self.grammar.slots if not slot.least}
        further = {
            slot: names
            for slot, names in composition.slots.items()
            if slot in may_be_empty and names
        }
        forms = (*self.brief.published, *(start.composition for start in self.brief.starts))
        return [Composition(further | dict(form.slots)) for form in forms]

    def _looking_best(self) -> list[GlancedChild]:
        """The next children to fit: half of them what looks best of all, half what gains most on those no larger.

        None that looks worse than what was fitted.
        """
        front = self._front()
        sizes = [size_of(self.grammar, item.composition) for item in front]
        left = [item for item in self.glanced.values() if item.composition.key not in self.tried]
        left.sort(key=lambda item: -item.criterion)
        overall = [item for item in left if item.criterion > front[-1].criterion]
        gains = []
        for item in left:
            place = bisect_right(sizes, size_of(self.grammar, item.composition)) - 1
            gains.append(item.criterion - front[place].criterion if place >= 0 else -np.inf)
        order = np.argsort(gains, kind="stable")[::-1]
        gaining = [left[place] for place in order if gains[place] > PROMISING]
        n, half = self.advocate.batch, self.advocate.batch // 2
        chosen = {item.composition.key: item for item in (*overall[:half], *gaining, *overall)}
        return list(chosen.values())[:n]

    def looking_plainer(self, among: Collection[object]) -> list[Trial]:
        """Find forms that look no worse than the best, with no more parts and a shorter code; shortest first."""
        best = next((item for item in self.working if item.composition.key in among), None)
        if best is None:
            return []
        n_parts, length = size_of(self.grammar, best.composition), length_of(best)
        alike = [
            (code_length(self.grammar.write_untold(item.composition)), item)
            for item in self.glanced.values()
            if item.composition.key not in self.tried
            and item.criterion > best.criterion - PROMISING
            and size_of(self.grammar, item.composition) <= n_parts
        ]
        shorter = [pair for pair in alike if pair[0] < length]
        shorter.sort(key=lambda pair: (pair[0], -pair[1].criterion))
        return [
            self._trial(item.composition, item.node) for _, item in shorter[: self.advocate.batch]
        ]

    def fresh(self, n: int, glance: Glance | None = None) -> list[Composition]:
        """Published forms, those first that look best, then compositions drawn at random; few have a memory."""
        n_left = self._n_with_memory(n)
        forms = self.brief.published
        published = [forms[place] for place in self.rng.permutation(len(forms))]
        if glance:
            values = glance([(form, None) for form in published])
            looks = [
                -np.inf if isinstance(value, TheoryError) else settled(value) for value in values
            ]
            published = [published[place] for place in np.argsort(looks, kind="stable")[::-1]]
        found: list[Composition] = []
        for number in range(4 * n):
            is_known = number < len(published)
            drawn = published[number] if is_known else self.grammar.compose(self.rng)
            has_memory = self._map.has_memory(drawn)
            if len(found) < n and (n_left > 0 or not has_memory):
                found.append(drawn)
                n_left -= has_memory
        return found

    def _n_with_memory(self, n: int = 0) -> int:
        """Count the candidates with a memory that may still be tried, or be among the next ``n``."""
        tried = [attempt.composition for attempt in self.tried.values()]
        known = tried or [start.composition for start in self.brief.starts]
        if known and all(map(self._map.has_memory, known)):  # where everything is learned
            return self.brief.n_candidates
        if not self.brief.looks_back:
            return 0
        leads = any(self._map.has_memory(item.composition) for item in self.working[:1])
        share = self.advocate.memory_of_leader if leads else self.advocate.memory
        return 1 + int(share * (len(tried) + n)) - sum(map(self._map.has_memory, tried))

    def _children(self, working: Sequence[CompositionAttempt]) -> list[Child]:
        """Compositions that were not tried yet, each with the node that it is made from, in a random order."""
        nodes = self._nodes(working)
        found: dict[object, Child] = {}
        for node in nodes:
            edits = [composition for _, composition in self._edited(node.composition)]
            found |= {edit.key: (edit, node) for edit in edits}
            found |= {several.key: (several, node) for several in self._combined(node, edits)}
        for _ in range(N_CROSSED if len(nodes) > 1 else 0):
            first, second = self.rng.choice(len(nodes), 2, replace=False)
            parents = nodes[first].composition, nodes[second].composition
            child = crossed(self.grammar, *parents, self.rng)
            found[child.key] = child, nodes[first]
        for _ in range(N_FRESH if self.advocate.afresh else 0):
            drawn = self.grammar.compose(self.rng)
            found[drawn.key] = drawn, None
        children = [child for key, child in found.items() if key not in self.tried]
        return [children[place] for place in self.rng.permutation(len(children))]

    def _nodes(self, working: Sequence[CompositionAttempt]) -> list[CompositionAttempt]:
        """The best by criterion, the best of every family, and the best by error, each once."""
        elites = archive(
            working, lambda item: self._map.family(item.composition), lambda item: item.criterion
        )
        accurate = sorted(working, key=error_of)
        chosen = (*working[:N_NODES], *elites[:N_NODES], *accurate[:N_NODES])
        return list({attempt.composition.key: attempt for attempt in chosen}.values())

    def _combined(
        self, node: CompositionAttempt, edits: Sequence[Composition]
    ) -> Iterator[Composition]:
        """Two or three edits of a node at once, drawn at random, where they go together."""
        for _ in range(N_COMBINED if len(edits) > 2 else 0):
            n_edits = 2 + int(self.rng.random() < 0.3)
            picked = self.rng.choice(len(edits), n_edits, replace=False)
            several = combined(self.grammar, node.composition, [edits[place] for place in picked])
            if several is not None:
                yield several

    def _neighbours(self, working: Sequence[CompositionAttempt], with_memory: bool) -> list[Child]:
        """Untried compositions one edit away from the best, and from the best of some families, in a random order."""
        nodes = [
            working[0],
            *archive(
                working,
                lambda item: self._map.family(item.composition),
                lambda item: item.criterion,
            )[1:N_FAMILIES],
        ]
        found: dict[object, Child] = {}
        for node in reversed(nodes):
            for _, edit in self._edited(node.composition):
                if edit.key not in self.tried and (with_memory or not self._map.has_memory(edit)):
                    found[edit.key] = edit, node
        new = list(found.values())
        return [new[place] for place in self.rng.permutation(len(new))]

    def _trial(self, child: Composition, node: CompositionAttempt | None) -> Trial:
        """A child with the theory that it is made from and the changes that lead to it."""
        if node is None:
            return child, None, "compose afresh"
        words = change_in_words(self.grammar, node.composition, child)
        return (
            child,
            node.parent,
            words if node.change.startswith("narrow") else f"{node.change}; {words}",
        )

    def _is_warned_of(self, child: Composition, node: CompositionAttempt | None) -> bool:
        """Whether lessons warn of a change that makes a child."""
        if node is None or not self.brief.warnings:
            return False
        changes = change_in_words(self.grammar, node.composition, child).split("; ")
        return not set(changes).isdisjoint(self.brief.warnings)

    def _answers_diagnosis(self, child: Composition, node: Composition) -> bool:
        """Whether a child has a mechanism that the diagnosis proposes and its node has not."""
        before, after = node.slots, child.slots
        return any(
            name in after.get(slot, ()) and name not in before.get(slot, ())
            for slot, name in self._wanted
        )

    def _edited(self, composition: Composition) -> list[tuple[str, Composition]]:
        if composition.key not in self._edits:
            self._edits[composition.key] = self.grammar.edits(composition)
        return self._edits[composition.key]

    def answers(self) -> list[Trial]:
        """Edits of the leader and the loser that answer the diagnosis."""
        found = []
        for start in self.brief.starts[:2]:
            for words, composition in self._edited(start.composition):
                if (
                    self._answers_diagnosis(composition, start.composition)
                    and words not in self.brief.warnings
                ):
                    change = (
                        words if start.change.startswith("narrow") else f"{start.change}; {words}"
                    )
                    found.append((composition, start.digest, change))
        return [found[place] for place in self.rng.permutation(len(found))]


def _cells(working: Sequence[CompositionAttempt]) -> tuple[Array, Array]:
    """Return the values of attempts, ``(n_attempts, n_cells)``, larger is better, and the cells' weights.

    The first cell is the criterion, the second the error, the others are people, or trials where responses are pooled.
    """
    fits = [attempt.evaluated for attempt in working if attempt.evaluated is not None]
    criterion = np.array([[attempt.criterion] for attempt in working])
    error = -np.log(np.array([[fit.error] for fit in fits]) + 1e-4)
    units = np.array([np.concatenate([scores.per_choice for scores in fit.scores]) for fit in fits])
    groups = np.array_split(np.arange(units.shape[1]), min(N_CELLS, units.shape[1]))
    people = np.stack([units[:, group].mean(axis=1) for group in groups], axis=1)
    values = np.concatenate([criterion, error, people], axis=1)
    weights = np.concatenate([WEIGHTS[:2], np.full(people.shape[1], WEIGHTS[2] / people.shape[1])])
    values = np.maximum(values, np.quantile(values, WORST, axis=0)).round(DIGITS)
    return values, weights
