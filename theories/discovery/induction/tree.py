"""Rule lists: search for small trees of gates whose leaves follow, or go against, the lead of one score.

A leaf that follows a lead says what is done where the lead is 0 by a further tree, so that lexicographic rules are
chains. Trees are compared by log likelihood less the price of their terms in nats (a two-part code: Rissanen, 1978).
The best division at the root is found exactly, over all gates and all pairs of leads at once, by matrix products;
deeper trees by a beam. The best of each size are then mended from within: with the rest of a tree held fixed, the best
gate or lead for one place in it is again found by one matrix product.

References:
    Rissanen (1978), Automatica 14(5), 465-471; Martignon, Katsikopoulos & Woike (2008), Journal of Mathematical
    Psychology 52(6), 352-361 (fast-and-frugal trees); Carreira-Perpinan & Tavallali (2018), Advances in Neural
    Information Processing Systems 31, 1211-1221 (alternating optimisation of trees).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import xlogy

from lakatos.theories.discovery.induction.kernel import logarithms, scores_of_leaves
from lakatos.theories.discovery.induction.terms import TermTable

Array = NDArray[np.float64]
MOST_SIZE = 7
N_ALTERNATIVES = 3
N_CHAINED = 30
N_EXCHANGED = 6
"""Gates or leads tried for each place of a tree."""
SIDE_PRICE = 3.0
"""Nats that a constant preference for one side costs: people rarely care where a product is shown."""
LOG_2 = float(np.log(2))
TINY = 1e-12
LEAST_GAIN = 1e-6


@dataclass(frozen=True)
class ConstantLeaf:
    """Choose the second option with one probability."""

    p: float


@dataclass(frozen=True)
class LeadLeaf:
    """Choose the side of a lead with one probability, and go on where there is none."""

    lead: int
    consistency: float
    tie: Node


@dataclass(frozen=True)
class SplitNode:
    """Go on in one of two ways."""

    gate: int
    yes: Node
    no: Node


Node = ConstantLeaf | LeadLeaf | SplitNode


@dataclass(frozen=True)
class GrownTree:
    """A tree, what it explains and costs."""

    node: Node
    score: float
    """Log likelihood less prices, nats."""
    size: int
    """Leads and gates."""


def size_of(node: Node) -> int:
    """Leads and gates in a tree."""
    if isinstance(node, ConstantLeaf):
        return 0
    if isinstance(node, LeadLeaf):
        return 1 + size_of(node.tie)
    return 1 + size_of(node.yes) + size_of(node.no)


def predict(node: Node, signs: NDArray[np.float32], gates: NDArray[np.float32]) -> Array:
    """``(n_cells,)`` probability of the second option."""
    if isinstance(node, ConstantLeaf):
        return np.full(signs.shape[1], node.p)
    if isinstance(node, SplitNode):
        yes = predict(node.yes, signs, gates)
        no = predict(node.no, signs, gates)
        return np.where(gates[node.gate] > 0, yes, no)
    sign = signs[node.lead]
    followed = np.where(sign > 0, node.consistency, 1 - node.consistency)
    tie = predict(node.tie, signs, gates)
    return np.where(sign == 0, tie, followed)


def regions_of(
    node: Node, signs: NDArray[np.float32], gates: NDArray[np.float32]
) -> list[NDArray[np.bool_]]:
    """``(n_cells,)`` where each part of a tree is asked, with the trees of ties, but for the root."""
    found: list[NDArray[np.bool_]] = []

    def walk(node: Node, inside: NDArray[np.bool_]) -> None:
        found.append(inside)
        if isinstance(node, SplitNode):
            walk(node.yes, inside & (gates[node.gate] > 0))
            walk(node.no, inside & (gates[node.gate] <= 0))
        elif isinstance(node, LeadLeaf):
            walk(node.tie, inside & (signs[node.lead] == 0))

    walk(node, np.ones(signs.shape[1], dtype=bool))
    return [region for region in found[1:] if region.any()]


class TreeSearch:
    """All trees over given terms and responses."""

    def __init__(
        self,
        leads: TermTable,
        gates: TermTable,
        counts: Array,
        *,
        beam: int = 4,
        n_deeper: int = 100,
    ) -> None:
        """Prepare a search for rule lists over leads and gates.

        Args:
            leads, gates: What trees are made of.
            counts: ``(n_cells, 2)`` responses; cells without any are only predicted.
            beam: Trees of each size that are grown further.
            n_deeper: Gates tried below the root, those that divide best there.
        """
        self.beam, self.n_deeper = beam, n_deeper
        used = counts.sum(axis=1) > 0
        self.signs, self.gates = leads.values[:, used], gates.values[:, used]
        self.discriminates = np.abs(self.signs)
        self.lead_prices, self.gate_prices = leads.prices, gates.prices
        self.b, self.a = (counts[used, side].astype(np.float32) for side in (1, 0))
        self.logarithms = logarithms(int(counts.sum()))
        self.parameter = 0.5 * float(np.log(max(counts.sum(), 2)))
        self.deeper = np.arange(len(gates.items))
        self._known: dict[bytes, list[GrownTree]] = {}

    def followed(self, most: int) -> NDArray[np.intp]:
        """The leads that are followed best, wherever they decide."""
        score, _, _ = self._leaves(np.ones((1, len(self.b)), dtype=np.float32))
        return np.argsort(-score[0], kind="stable")[:most]

    def grow(self, most: int = MOST_SIZE) -> dict[int, GrownTree]:
        """The best tree found of every size up to ``most``."""
        mask = np.ones(len(self.b), dtype=bool)
        beams: dict[int, list[GrownTree]] = {size: [] for size in range(most + 1)}

        def keep(grown: GrownTree) -> None:
            beams[grown.size] = self._better(beams[grown.size], grown)

        # Small trees, then larger ones from the best of each size.
        for grown in self.solutions(mask):
            keep(grown)
        for size in range(1, most):
            for grown in beams[size]:
                for larger in self._extensions(grown, mask):
                    if size < larger.size <= most:
                        keep(larger)
        # The best of each size, mended from within.
        best = [beam[0] for size, beam in beams.items() if size and beam]
        for grown in best:
            keep(self._mended(grown, mask, most))
        return {size: beam[0] for size, beam in beams.items() if beam}

    def _mended(self, grown: GrownTree, mask: NDArray[np.bool_], most: int) -> GrownTree:
        """A tree with one part after another exchanged, left out or grown anew, as long as that gains."""
        best = grown
        while True:
            others = [
                self.fitted(node, mask)
                for node in self._exchanges(best.node, mask)
                if size_of(node) <= most
            ]
            better = max(others, key=lambda item: item.score, default=best)
            if better.score <= best.score + LEAST_GAIN:
                return best
            best = better

    def _exchanges(self, node: Node, mask: NDArray[np.bool_]) -> Iterator[Node]:
        """Other trees for the cells in ``mask``: each differs from ``node`` in one place."""
        if not mask.any():
            return
        yield from (other.node for other in self.solutions(mask))
        if isinstance(node, SplitNode):
            yield from (node.yes, node.no)
            for gate in self._gates_for(node, mask):
                yield replace(node, gate=gate)
            open_ = self.gates[node.gate] > 0
            for yes in self._exchanges(node.yes, mask & open_):
                yield replace(node, yes=yes)
            for no in self._exchanges(node.no, mask & ~open_):
                yield replace(node, no=no)
        elif isinstance(node, LeadLeaf):
            for lead in self._leads_for(node, mask):
                yield replace(node, lead=lead)
            ties = mask & (self.signs[node.lead] == 0)
            for tie in self._exchanges(node.tie, ties):
                yield replace(node, tie=tie)

    def _gates_for(self, node: SplitNode, mask: NDArray[np.bool_]) -> list[int]:
        """The gates that divide best between a node's two trees, as these were fitted."""
        gain = self._explained(node.yes) - self._explained(node.no)
        gain = (gain * mask).astype(np.float32)
        return _largest(self.gates @ gain - self.gate_prices)

    def _leads_for(self, node: LeadLeaf, mask: NDArray[np.bool_]) -> list[int]:
        """The leads that are followed best in a node's place, its ties told by the tree as it was fitted."""
        weights = mask.astype(np.float32)[None]
        difference, with_b, with_a = (part[0] for part in self._followed(weights)[:3])
        agree, disagree = _sides(difference, with_b, with_a)
        tie = (self._explained(node.tie) * mask).astype(np.float32)
        followed = log_likelihood(agree, disagree) - self.discriminates @ tie
        return _largest(followed - self.lead_prices)

    def _explained(self, node: Node) -> Array:
        """``(n_cells,)`` log likelihood of each cell's answers under a tree as it was fitted."""
        p = predict(node, self.signs, self.gates)
        return np.asarray(xlogy(self.b, p) + xlogy(self.a, 1 - p))

    def solutions(self, mask: NDArray[np.bool_]) -> list[GrownTree]:
        """Small trees for the cells in ``mask``: constant, one lead, a chain of two, a gate with two leaves."""
        key = np.packbits(mask).tobytes()
        if key in self._known:
            return self._known[key]
        is_root = not self._known
        weights = mask.astype(np.float32)[None]
        score, _, _ = (part[0] for part in self._leaves(weights))
        order = np.argsort(-score)
        gates = np.arange(len(self.gates)) if is_root else self.deeper
        found = [self._constant_in(mask)]
        found += [self._follow(int(lead), mask) for lead in order[:N_ALTERNATIVES]]
        found += self._chains(order[:N_CHAINED], mask)
        found += self._splits(mask, gates, is_root)
        self._known[key] = found
        return found

    def _chains(self, leads: NDArray[np.intp], mask: NDArray[np.bool_]) -> list[GrownTree]:
        """Leads that are followed first, each with the best lead for where it does not decide."""
        ties = mask & (self.signs[leads] == 0)
        some = ties.any(axis=1) & (ties != mask).any(axis=1)
        leads, ties = leads[some], ties[some]
        if not len(leads):
            return []
        score, b, a = self._leaves(ties.astype(np.float32))
        gain = score.max(axis=1) - self._constants(b, a)
        firsts = [self._follow(int(lead), mask) for lead in leads]
        total = gain + [item.score for item in firsts]
        found = []
        for place in np.argsort(-total, kind="stable")[:N_ALTERNATIVES]:
            first = firsts[place].node
            assert isinstance(first, LeadLeaf)
            second = int(score[place].argmax())
            inner = self._follow(second, ties[place])
            reached = firsts[place].score + float(gain[place])
            found.append(GrownTree(replace(first, tie=inner.node), reached, 2))
        return found

    def _splits(
        self, mask: NDArray[np.bool_], chosen: NDArray[np.intp], is_root: bool
    ) -> list[GrownTree]:
        """Gates with a leaf on either side, the best ones of each size."""
        if not len(chosen):
            return []
        # What adds up where each gate is open, and by subtraction where it is closed.
        yes = self.gates[chosen] * mask
        no = mask - yes
        opened = self._followed(yes)
        whole = self._followed(mask.astype(np.float32)[None])
        closed = tuple(all_ - part for all_, part in zip(whole, opened, strict=True))
        # On either side the best lead, or one probability if that is better.
        parts = []
        for sums in (opened, closed):
            score, b, a = self._scored(*sums)
            best = score.argmax(axis=1)
            parts.append((score[np.arange(len(chosen)), best], best, self._constants(b, a)))
        followed = np.stack([np.maximum(score, constant) for score, _, constant in parts])
        total = followed.sum(axis=0) - self.gate_prices[chosen]
        order = np.argsort(-total, kind="stable")
        if is_root:
            self.deeper = order[: self.n_deeper]
        found: dict[int, list[GrownTree]] = {}
        for place in order[: 4 * N_ALTERNATIVES]:
            branches = []
            for (score, best, constant), weights in zip(parts, (yes, no), strict=True):
                inside = weights[place] > 0
                follows = score[place] > constant[place]
                lead = int(best[place])
                branches.append(
                    self._follow(lead, inside) if follows else self._constant_in(inside)
                )
            node = SplitNode(int(chosen[place]), branches[0].node, branches[1].node)
            size = size_of(node)
            if len(found.setdefault(size, [])) < N_ALTERNATIVES:
                found[size].append(GrownTree(node, float(total[place]), size))
        return [item for items in found.values() for item in items]

    def _leaves(self, weights: NDArray[np.float32]) -> tuple[Array, Array, Array]:
        """Scores ``(n_masks, n_leads)`` of following each lead within each mask, and the masks' totals."""
        return self._scored(*self._followed(weights))

    def _followed(self, weights: NDArray[np.float32]) -> tuple[NDArray[np.float32], ...]:
        """Sums over cells: responses for B less those for A by side, both where leads decide, and everywhere."""
        b, a = weights * self.b, weights * self.a
        totals = (part.sum(axis=1, dtype=np.float64).astype(np.float32) for part in (b, a))
        return (b - a) @ self.signs.T, b @ self.discriminates.T, a @ self.discriminates.T, *totals

    def _scored(
        self,
        difference: NDArray[np.float32],
        with_b: NDArray[np.float32],
        with_a: NDArray[np.float32],
        total_b: NDArray[np.float32],
        total_a: NDArray[np.float32],
    ) -> tuple[Array, Array, Array]:
        prices, constant = self.lead_prices + self.parameter, self.parameter + SIDE_PRICE
        score = scores_of_leaves(
            difference, with_b, with_a, total_b, total_a, self.logarithms, prices, constant
        )
        return score, total_b.astype(np.float64), total_a.astype(np.float64)

    def _constants(self, b: Array, a: Array) -> Array:
        """Log likelihood of one probability, even odds costing nothing."""
        return np.maximum(log_likelihood(b, a) - self.parameter - SIDE_PRICE, -(b + a) * LOG_2)

    def _constant_in(self, mask: NDArray[np.bool_]) -> GrownTree:
        """One probability for the cells in ``mask``."""
        return self._constant(float(self.b[mask].sum()), float(self.a[mask].sum()))

    def _constant(self, b: float, a: float) -> GrownTree:
        """One probability for so many responses for the second option and for the first; even odds cost nothing."""
        even = -(b + a) * LOG_2
        fitted = float(log_likelihood(np.array(b), np.array(a))) - self.parameter - SIDE_PRICE
        p = (b + 0.5) / (a + b + 1) if fitted > even else 0.5
        return GrownTree(ConstantLeaf(p), max(fitted, even), 0)

    def _follow(self, lead: int, mask: NDArray[np.bool_]) -> GrownTree:
        """One lead for the cells in ``mask``, one probability where it does not decide."""
        b, a, sign = self.b[mask], self.a[mask], self.signs[lead, mask]
        for_b, for_a, undecided = sign > 0, sign < 0, sign == 0
        agree = float(b[for_b].sum() + a[for_a].sum())
        disagree = float(a[for_b].sum() + b[for_a].sum())
        tie = self._constant(float(b[undecided].sum()), float(a[undecided].sum()))
        score = float(log_likelihood(np.array(agree), np.array(disagree))) + tie.score
        consistency = (agree + 0.5) / (agree + disagree + 1)
        leaf = LeadLeaf(lead, consistency, tie.node)
        return GrownTree(leaf, score - self.lead_prices[lead] - self.parameter, 1)

    def _extensions(self, grown: GrownTree, mask: NDArray[np.bool_]) -> Iterator[GrownTree]:
        """Trees with one of the regions of ``grown`` described in more detail."""

        def regions(node: Node, inside: NDArray[np.bool_]) -> Iterator[tuple[Node, float]]:
            """Every way to replace part of ``node``: the new node, what it gains, and its size is its own."""
            if isinstance(node, SplitNode):
                open_ = self.gates[node.gate] > 0
                for new, gain in regions(node.yes, inside & open_):
                    yield replace(node, yes=new), gain
                for new, gain in regions(node.no, inside & ~open_):
                    yield replace(node, no=new), gain
                return
            old = self.fitted(node, inside).score
            for other in self.solutions(inside):
                if other.size > size_of(node) and other.score > old:
                    yield other.node, other.score - old
            if isinstance(node, LeadLeaf):
                for new, gain in regions(node.tie, inside & (self.signs[node.lead] == 0)):
                    yield replace(node, tie=new), gain

        for node, gain in regions(grown.node, mask):
            yield GrownTree(node, grown.score + gain, size_of(node))

    def fitted(self, node: Node, mask: NDArray[np.bool_]) -> GrownTree:
        """A tree with the probabilities of its leaves fitted to the cells in ``mask``."""
        if isinstance(node, ConstantLeaf):
            return self._constant_in(mask)
        if isinstance(node, SplitNode):
            open_ = self.gates[node.gate] > 0
            yes = self.fitted(node.yes, mask & open_)
            no = self.fitted(node.no, mask & ~open_)
            score = yes.score + no.score - float(self.gate_prices[node.gate])
            split = replace(node, yes=yes.node, no=no.node)
            return GrownTree(split, score, 1 + yes.size + no.size)
        ties = mask & (self.signs[node.lead] == 0)
        alone = self._constant_in(ties).score
        first = self._follow(node.lead, mask)
        assert isinstance(first.node, LeadLeaf)
        tie = self.fitted(node.tie, ties)
        leaf = replace(first.node, tie=tie.node)
        return GrownTree(leaf, first.score - alone + tie.score, 1 + tie.size)

    def _better(self, beam: list[GrownTree], new: GrownTree) -> list[GrownTree]:
        if any(item.node == new.node for item in beam):
            return beam
        return sorted([*beam, new], key=lambda item: -item.score)[: self.beam]


def _sides(
    difference: NDArray[np.float32], with_b: NDArray[np.float32], with_a: NDArray[np.float32]
) -> tuple[Array, Array]:
    """Responses that follow a lead and that go against it, of what `TreeSearch._followed` adds up."""
    agree = 0.5 * (with_b + with_a + difference).astype(np.float64)
    return agree, with_b + with_a - agree


def _largest(worth: NDArray[np.floating[Any]]) -> list[int]:
    return [int(place) for place in np.argsort(-worth, kind="stable")[:N_EXCHANGED]]


def log_likelihood(first: Array, second: Array) -> Array:
    """Log likelihood of counts under their own proportion, nats."""
    first, second = np.maximum(first, TINY), np.maximum(second, TINY)
    total = first + second
    return np.asarray(first * np.log(first) + second * np.log(second) - total * np.log(total))
