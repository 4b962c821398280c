"""Whether one parameter of a theory changes with one condition within participants, as the data have it.

Each parameter is tried in each condition. A change is proposed if the theory without it predicts held-out participants
worse by more than the change's price and more than two standard errors: the criterion by which the search keeps every
other part of a theory (`grammar_search.prune`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from lakatos.experiments.conditions import conditions_of
from lakatos.experiments.task import Trials
from lakatos.theories.discovery.grammar_search.prune import (
    MECHANISM,
    is_no_loss,
    price_of_parameter,
)
from lakatos.theories.engine.fitting.evaluate import EvaluatedComposition
from lakatos.theories.engine.laboratory import Laboratory
from lakatos.theories.engine.scoring.score import ScoreEstimate, paired_difference
from lakatos.theories.errors import TheoryError
from lakatos.theories.language.condition_change import (
    ConditionChange,
    possible_changes,
    write_change,
)
from lakatos.theories.language.theory import TheoryProgram, read_program

CONDITIONS = "conditions"
"""Author of theories with a change."""


@dataclass(frozen=True)
class ProposedChange:
    """A theory with the change that held-out participants ask for most."""

    change: ConditionChange
    source: str
    advantage: ScoreEstimate
    """Nats per choice by which held-out participants are predicted better with it."""
    evaluated: EvaluatedComposition


def find_change(
    laboratory: Laboratory,
    program: TheoryProgram,
    trials: Sequence[Trials],
    price: float,
) -> ProposedChange | None:
    """The change that is worth its price, the best one first; None where none is.

    Args:
        laboratory: Laboratory of a domain with conditions.
        program: Program of the theory, with its declared ranges.
        trials: All responses so far.
        price: Nats per choice that a parameter must be worth; less where `price_of_parameter` is less.
    """
    theory = read_program(program)
    changes = possible_changes(theory, conditions_of(laboratory.domain))
    if not changes or any(item.pooled for item in trials):
        return None
    plain = laboratory.evaluate_program(program, trials)
    if isinstance(plain, TheoryError):
        return None
    worth = min(price, price_of_parameter(plain.left_out)) * (1 + MECHANISM)
    found: list[ProposedChange] = []
    for change in changes:
        source = write_change(program.source, theory, change)
        with_change = laboratory.evaluate_program(
            TheoryProgram(source, CONDITIONS, (program.digest,)), trials
        )
        if isinstance(with_change, TheoryError):
            continue
        advantage = paired_difference(with_change.left_out, plain.left_out)
        if not is_no_loss(advantage, worth):
            found.append(ProposedChange(change, source, advantage, with_change))
    return max(found, key=lambda item: item.advantage.value, default=None)
