"""Trial of a theory that a reviser wrote: checked like every other submission, fitted, scored."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Literal

from lakatos.theories.discovery.grammar_search.advocate import GrammarAdvocate
from lakatos.theories.discovery.roles.answer import Successor
from lakatos.theories.engine.checks.prediction import ClaimPrediction, read_predictions
from lakatos.theories.engine.fitting.evaluate import EvaluatedComposition
from lakatos.theories.errors import TheoryError
from lakatos.theories.language.grammar import Composition
from lakatos.theories.language.rewrite import with_literal
from lakatos.theories.language.theory import Theory, TheoryProgram, read_program
from lakatos.traces.digest import Digest

_FENCED = re.compile(r"\A\s*```[A-Za-z]*[ \t]*\n(.*?)\n?```\s*\Z", re.DOTALL)


@dataclass(frozen=True)
class TriedProgram:
    """The outcome for one program."""

    program: TheoryProgram
    """The program as it was written."""
    outcome: Literal["submitted", "refused", "duplicate"]
    name: str = ""
    reason: str = ""
    theory: Theory | None = None
    """Theory with its fit; of a submission only."""
    criterion: float | None = None
    error: float | None = None


def program_of(answer: Successor, author: str, parents: tuple[Digest, ...]) -> TheoryProgram:
    """The program that an answer holds, its stated predictions written into it, where the checks will try them.

    Text that is no Python is left as it is: the checks say what is wrong.
    """
    fenced = _FENCED.match(answer.source)
    source = fenced[1] + "\n" if fenced else answer.source
    try:
        own = read_predictions(source)
        stated = _distinct([*own, *(item.prediction for item in answer.predictions)])
        if stated:
            source = with_literal(source, "PREDICTIONS", [item.to_literal() for item in stated])
    except (TheoryError, SyntaxError, ValueError, RecursionError, MemoryError):
        pass
    return TheoryProgram(source, author, parents)


def _distinct(predictions: Sequence[ClaimPrediction]) -> list[ClaimPrediction]:
    return list(dict.fromkeys(predictions))


def try_program(
    program: TheoryProgram,
    check: Callable[[TheoryProgram], Theory],
    evaluate: Callable[[TheoryProgram], EvaluatedComposition | TheoryError],
    advocate: GrammarAdvocate,
    known: Collection[Digest],
) -> TriedProgram:
    """Check, fit and score one program; nothing that it does raises.

    Args:
        program: As `program_of` gives it.
        check: `Laboratory.check`.
        evaluate: `Laboratory.evaluate_program` on the answers so far.
        advocate: Advocate whose criterion compares candidates.
        known: Sources that are there already.
    """
    if program.digest in known:
        return TriedProgram(program, "duplicate", reason="this very source is there already")
    name = ""
    try:
        name = read_program(program).name
        checked = check(program)
        found = evaluate(checked.program)
    except TheoryError as error:
        return TriedProgram(program, "refused", name, _refusal(error))
    if isinstance(found, TheoryError):
        return TriedProgram(program, "refused", name, _refusal(found))
    attempt = advocate.attempt(Composition({}), None, "", found)
    if not math.isfinite(attempt.criterion):
        return TriedProgram(
            program, "refused", name, "its probabilities of people's answers are not finite"
        )
    if found.theory.digest in known:
        return TriedProgram(
            program, "duplicate", name, "fitted, it is a theory that is there already"
        )
    return TriedProgram(
        program, "submitted", name, "", found.theory, attempt.criterion, found.error
    )


def _refusal(error: TheoryError) -> str:
    return f"{type(error).__name__}: {error}"
