"""Rival theories as a design asks them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from lakatos.experiments.task import Stimuli
from lakatos.theories.engine.laboratory import Laboratory
from lakatos.theories.language.theory import Theory

Array = NDArray[Any]
DESIGN_DRAWS: Final = 256
"""People per theory in a design search; the power check uses the same."""


@dataclass(frozen=True)
class RivalTheories:
    """Theories with the people that the responses so far have taught, as `DesignRivals` of a question wants them."""

    laboratory: Laboratory
    theories: Sequence[Theory]

    @property
    def learns(self) -> bool:
        """Whether people of some theory depend on what they did before."""
        return any(theory.learns for theory in self.theories)

    def answers(self, stimuli: Sequence[Stimuli]) -> list[list[Array]]:
        """Per theory and set of stimuli ``(n_draws, n_trials, n_options)``."""
        return self.laboratory.answers_of(self.theories, stimuli, DESIGN_DRAWS)

    def scores_of_people(
        self,
        stimuli: Stimuli,
        rng: np.random.Generator,
        *,
        repetitions: int = 1,
        n_people: int = 64,
        asked: NDArray[np.integer[Any]] | None = None,
    ) -> Array:
        """``(n_theories, n_people, n_theories)`` scores of people simulated by the laboratory."""
        return self.laboratory.scores_of_simulated_people(
            self.theories,
            DESIGN_DRAWS,
            stimuli,
            rng,
            repetitions=repetitions,
            n_people=n_people,
            asked=asked,
        )
