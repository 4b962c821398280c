"""The grammar advocate: defends a theory, and revises it from its diagnosis with published mechanisms.

It searches compositions in a tree that grows from its starting points and from some drawn at random. In every round
the children of the best nodes are gathered: those one edit away (all of them), those two or three edits away, crosses
of two nodes, and some drawn afresh; nodes are the best by criterion, the best by error, and the best of every place of
the archive, so that the search does not circle within one family. A surrogate that has learned from all
compositions tried says how likely each child is to be better than anything so far, as a whole and for every
person; the batch that is fitted next is chosen by `search_tree.CandidateObjective`. Every fit is a full one and
counts as one candidate. A theory with a memory, which is walked through the answers one by one, costs some forty times
as much as one without; only a share of the candidates has one, a small share as long as none with a memory leads, and
none where answers do not depend on what came before.

The last candidates come from a climb, where the laboratory can glance: everything one edit away from the best, from the
best of other families, and every published form with the best's further mechanisms, is looked at in a few rounds around
the people that are known, and only what looks best is fitted. Fitting costs several times as much as a glance, and of a
hundred edits the one that is missing is seen at once (`theories.engine.fitting.fit.glance`).

Candidates are compared by log score less a price for every parameter and mechanism, and by the prior odds of their
mechanisms where earlier campaigns found any (`grammar_search.prior_odds`). What is submitted must also be
among the best in its error on choice proportions: with few distinct trials, the log score alone finds mechanisms that
describe how these people differ and distort what they do on average. Without a language model this is the whole of
invention; every theory that it submits is source that a person can read.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

import numpy as np

from lakatos.theories.discovery.grammar_search.growing_tree import (
    CANDIDATES_PER_LOOK,
    HOPELESS,
    LOOKS_AFTER,
    SearchPolicy,
    SearchTree,
)
from lakatos.theories.discovery.grammar_search.proposal import (
    AdvocateBrief,
    CompositionAttempt,
    Evaluate,
    Glance,
    SearchProposal,
    Trial,
    error_of,
    length_of,
    ranked,
    settled,
)
from lakatos.theories.discovery.grammar_search.prune import (
    PrunedComposition,
    Same,
    Validate,
    is_ahead,
    price_of_parameter,
    prune,
)
from lakatos.theories.engine.scoring.score import mean_score, paired_difference
from lakatos.theories.language.theory import LAPSE


@dataclass(frozen=True)
class GrammarAdvocate(SearchPolicy):
    """Searches a grammar by a tree whose next children are chosen together; see the module docstring."""

    def revise(
        self,
        brief: AdvocateBrief,
        evaluate: Evaluate,
        rng: np.random.Generator,
        *,
        glance: Glance | None = None,
    ) -> SearchProposal:
        """Search; see the module docstring. Without ``glance`` nothing is climbed: the surrogate chooses to the end."""
        tree = SearchTree(self, brief, rng)
        first: list[Trial] = [
            (start.composition, start.digest, start.change) for start in brief.starts
        ]
        first += tree.answers()[: brief.n_candidates // 4]
        n_fresh = int(self.afresh * brief.n_candidates)
        first += [
            (composition, None, "compose afresh") for composition in tree.fresh(n_fresh, glance)
        ]
        tree.grow(first, evaluate)
        n_grown = int((1 - self.settling) * brief.n_candidates) if glance else brief.n_candidates
        while len(tree.tried) < n_grown and (batch := tree.next_batch()):
            tree.grow(batch, evaluate)
        if glance:
            tree.climb(evaluate, glance, most_looks=1 + brief.n_candidates // CANDIDATES_PER_LOOK)
        unspent = tree.unspent if len(tree.tried) < brief.n_candidates else ""
        return SearchProposal(
            tuple(ranked(tree.tried.values())),
            self.submitted(tree.working, brief.n_successors),
            unspent,
            tuple(tree.glanced.values()),
            frozenset(tree.looked_around),
        )

    def submitted(
        self, working: Sequence[CompositionAttempt], n: int
    ) -> tuple[CompositionAttempt, ...]:
        """The best by criterion of those with nearly the smallest error.

        What explains people far worse than the best does not say how small an error can be: a rule without any lapses
        may come nearest to proportions and hold impossible what people do.
        """
        best = max((attempt.criterion for attempt in working), default=0.0)
        sound = [attempt for attempt in working if attempt.criterion >= best - HOPELESS]
        least = min((error_of(attempt) for attempt in sound), default=0.0)
        return tuple([attempt for attempt in sound if error_of(attempt) <= self.slack * least][:n])

    def confirmed(
        self, proposal: SearchProposal, brief: AdvocateBrief, evaluate: Evaluate, n: int
    ) -> SearchProposal:
        """The best of a proposal on other responses than those that it was made from, and nothing else of it.

        Args:
            proposal: What was found on some of the responses.
            brief: What it was made for.
            evaluate: Function that evaluates on the other responses.
            n: Attempts that are tried again; half as many of the smallest errors come with them.
        """
        working = [item for item in proposal.attempts if item.evaluated is not None]
        chosen = [*working[:n], *sorted(working, key=error_of)[: n // 2]]
        tree = SearchTree(self, replace(brief, n_candidates=len(chosen)), np.random.default_rng(0))
        tree.grow([(item.composition, item.parent, item.change) for item in chosen], evaluate)
        submitted = self.submitted(tree.working, brief.n_successors)
        return SearchProposal(tuple(tree.working), submitted, proposal.unspent)

    def pruned(
        self,
        proposal: SearchProposal,
        brief: AdvocateBrief,
        evaluate: Evaluate,
        validate: Validate,
        rng: np.random.Generator,
        *,
        same: Same | None = None,
        glance: Glance | None = None,
    ) -> SearchProposal:
        """The proposal with every submission pruned and fitted again, and the leader pruned where that leaves less.

        What fills a gap beside ornaments is often not what fills it without them, so the search then goes on among the
        neighbours of what is left, and what comes out best of that is pruned as well. Nothing that was tried is clearly
        ahead of what is submitted first.

        Args:
            proposal: What `revise` returned.
            brief: Its first start is the leader.
            evaluate: As in `revise`.
            validate: Scores on people that a composition was not fitted to; see `grammar_search.prune`.
            rng: Source of the order in which neighbours are considered.
            same: Tells what changes no prediction; see `theories.discovery.grammar_search.prune`.
            glance: As in `revise`.
        """
        cut: dict[object, Trial] = {}

        def leave_out(attempt: Trial, *, always: bool = True) -> None:
            composition, parent, change = attempt
            found = prune(self.grammar, composition, validate, same=same, odds=self.odds)
            if always or found.changes:
                trial = (found.composition, parent, _told(change, found))
                cut.setdefault(found.composition.key, trial)

        for item in proposal.submitted:
            leave_out((item.composition, item.parent, item.change))
        for start in brief.starts[:1]:
            leave_out((start.composition, start.digest, ""), always=False)
        tree = self._settled(proposal, list(cut.values()), brief, evaluate, rng, glance)
        for item in self.submitted(tree.working, 1):
            if item.composition.key not in cut:
                leave_out((item.composition, item.parent, item.change))
        tree.grow(list(cut.values()), evaluate)
        tree.grow(tree.looking_plainer(cut), evaluate)
        seen: set[object] = set()
        while (first := self._plainest(tree, cut)) and first.composition.key not in seen | set(cut):
            seen.add(first.composition.key)
            leave_out((first.composition, first.parent, first.change))
            tree.budget += 1
            tree.grow(list(cut.values()), evaluate)
        if first and first.composition.key not in cut:
            first = self._best(tree, cut)
        fitted = ranked(tree.tried[key] for key in cut)
        others = (item for item in fitted if item.evaluated is not None and item is not first)
        return replace(
            proposal,
            attempts=tuple(ranked(tree.tried.values())),
            submitted=(*([first] if first else []), *others),
            glances=tuple(tree.glanced.values()),
            looked_around=frozenset(tree.looked_around),
        )

    def _plainest(self, tree: SearchTree, cut: Collection[object]) -> CompositionAttempt | None:
        """The shortest code of what is within one standard error of `_best`, and not clearly behind anything tried.

        Participants are predicted with what others taught; see `scoreboard`, where leaders are chosen likewise. Random
        choices are a part of what is kept: without them, a theory hardly predicts other participants.
        """
        best = self._best(tree, cut)
        if best is None or best.evaluated is None or not best.evaluated.left_out:
            return best
        alike = []
        for item in _with_lapses(tree.working, best):
            assert item.evaluated is not None
            lost = paired_difference(best.evaluated.left_out, item.evaluated.left_out)
            prior = self.prior(best.composition, best.evaluated)
            prior -= self.prior(item.composition, best.evaluated)
            if settled(lost.value + prior) <= settled(lost.standard_error):
                alike.append(item)
        alike.sort(key=lambda item: (length_of(item), -item.criterion))
        return next((item for item in alike if not self._is_behind(item, tree)), best)

    def _best(self, tree: SearchTree, cut: Collection[object]) -> CompositionAttempt | None:
        """The best that was pruned and is not clearly behind anything tried; without such, the best that was tried."""
        pruned = [item for item in tree.working if item.composition.key in cut]
        if not pruned or pruned[0].evaluated is None or not pruned[0].evaluated.left_out:
            return pruned[0] if pruned else None
        near = (item for item in pruned if not self._is_behind(item, tree))
        best = next(near, None)
        return best or max(_with_lapses(tree.working, pruned[0]), key=self._held_out)

    def _held_out(self, attempt: CompositionAttempt) -> float:
        """Nats per choice of responses that an attempt was not fitted to, and its prior odds."""
        assert attempt.evaluated is not None
        prior = self.prior(attempt.composition, attempt.evaluated)
        return settled(mean_score(attempt.evaluated.left_out).value + prior)

    def _is_behind(self, attempt: CompositionAttempt, tree: SearchTree) -> bool:
        """Whether anything that was tried is clearly ahead of an attempt; see `prune.is_ahead`."""
        assert attempt.evaluated is not None
        own = attempt.evaluated.left_out
        price = price_of_parameter(own)
        return any(
            is_ahead(
                self.grammar,
                (item.composition, item.evaluated.left_out),
                (attempt.composition, own),
                price,
                self.odds,
            )
            for item in _with_lapses(tree.working, attempt)
            if item.evaluated is not None
        )

    def _settled(
        self,
        proposal: SearchProposal,
        cut: Sequence[Trial],
        brief: AdvocateBrief,
        evaluate: Evaluate,
        rng: np.random.Generator,
        glance: Glance | None,
    ) -> SearchTree:
        """The search's tree with what elimination left, and some neighbours of its best."""
        tree = SearchTree(self, brief, rng)
        tree.tried = {item.composition.key: item for item in proposal.attempts}
        tree.glanced = {item.composition.key: item for item in proposal.glances}
        tree.looked_around = set(proposal.looked_around)
        tree.budget = len(proposal.attempts) + len(cut)
        tree.grow(cut, evaluate)
        tree.budget = len(tree.tried) + int(self.settling * brief.n_candidates)
        if glance and proposal.submitted:
            tree.climb(evaluate, glance, most_looks=LOOKS_AFTER, exchanging=True)
        while (
            not glance
            and proposal.submitted
            and len(tree.tried) < tree.budget
            and (batch := tree.next_batch())
        ):
            tree.grow(batch, evaluate)
        tree.budget += len(cut) + 2 + self.batch
        return tree


def _with_lapses(
    attempts: Sequence[CompositionAttempt], like: CompositionAttempt
) -> list[CompositionAttempt]:
    """Attempts that could be fitted; where ``like`` has random choices, those that have them."""
    assert like.evaluated is not None
    wanted = LAPSE in like.evaluated.theory.priors
    return [
        item
        for item in attempts
        if item.evaluated is not None and (not wanted or LAPSE in item.evaluated.theory.priors)
    ]


def _told(change: str, found: PrunedComposition) -> str:
    """A change with what was then left out."""
    before = [] if (change.startswith("narrow") and found.changes) or not change else [change]
    return "; ".join([*before, *found.changes])
