"""The fits of one search, each made once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from lakatos.experiments.task import Trials
from lakatos.theories.engine.fitting.evaluate import EvaluatedComposition
from lakatos.theories.engine.laboratory import Laboratory
from lakatos.theories.engine.scoring.score import UnitScores
from lakatos.theories.errors import TheoryError
from lakatos.theories.language.grammar import Composition, Grammar
from lakatos.traces.digest import Digest


class FittedCompositions:
    """Compositions fitted to the same responses, each once, however often and by whom it is asked for."""

    def __init__(
        self, laboratory: Laboratory, grammar: Grammar, trials: Sequence[Trials], n_draws: int
    ) -> None:
        """Nothing is fitted yet."""
        self._laboratory, self._grammar, self._trials = laboratory, grammar, trials
        self._n_draws = n_draws
        self._known: dict[object, EvaluatedComposition | TheoryError] = {}

    def evaluate(
        self, items: Sequence[tuple[Composition, Digest | None]]
    ) -> list[EvaluatedComposition | TheoryError]:
        """Fits of compositions, each given with its parent; see `grammar_search.advocate.Evaluate`."""
        new = {item.key: (item, parent) for item, parent in items if item.key not in self._known}
        found = self._laboratory.evaluate(
            self._grammar, list(new.values()), self._trials, n_draws=self._n_draws
        )
        self._known.update(zip(new, found, strict=True))
        return [_made_from(self._known[item.key], parent) for item, parent in items]

    @property
    def fitted(self) -> list[EvaluatedComposition]:
        """All that could be fitted, in the order in which it was."""
        return [item for item in self._known.values() if isinstance(item, EvaluatedComposition)]

    def glance(
        self, items: Sequence[tuple[Composition, EvaluatedComposition | None]]
    ) -> list[float | TheoryError]:
        """Estimate roughly what compositions would explain; see `theories.discovery.grammar_search.advocate.Glance`."""
        return self._laboratory.glance(self._grammar, items, self._trials)

    def same(self, whole: Composition, parts: Sequence[Composition]) -> list[bool]:
        """Parts that predict what the whole does; see `theories.discovery.grammar_search.prune.Same`."""
        return self._laboratory.same_predictions(self._grammar, whole, parts, self._trials)

    def validate(self, items: Sequence[Composition]) -> list[tuple[UnitScores, ...] | TheoryError]:
        """Scores on responses that taught a composition nothing; see `grammar_search.prune.Validate`."""
        found = self.evaluate([(item, None) for item in items])
        return [item if isinstance(item, TheoryError) else item.left_out for item in found]


def _made_from(
    found: EvaluatedComposition | TheoryError, parent: Digest | None
) -> EvaluatedComposition | TheoryError:
    """A fit that may have been made before, as that of a successor of ``parent``."""
    if isinstance(found, TheoryError):
        return found
    program = replace(found.theory.program, parents=() if parent is None else (parent,))
    return replace(found, theory=replace(found.theory, program=program))
