"""What a role says of records, held against them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from language_models.guard import AnswerAction, Situation, breaches
from language_models.pins import Rule, SupportNeeded
from language_models.quotes import check_answer, sentences
from theories.roles.answer import Statement
from theories.roles.record import CheckedStatement


def checked(statement: Statement, rules: Sequence[Rule], records: Mapping[str, Any]) -> CheckedStatement:
    """A statement with every reason why it is not believed.

    Args:
        statement: Its citations count for every sentence of it.
        rules: Pinned to the request.
        records: What the role was shown, by digest.
    """
    marks = " ".join(statement.cites)
    text = " ".join(f"{sentence} {marks}" for sentence in sentences(statement.text))
    found = [f"{item.said!r}: {item.problem}" for item in check_answer(text, (), records)]
    broken = breaches(rules, AnswerAction(text), Situation(records=records))
    problems = tuple(dict.fromkeys([*found, *(item.reason for item in broken)]))
    return CheckedStatement(text=statement.text, cites=statement.cites, supported=not problems, problems=problems)


def conjecture(text: str, rules: Sequence[Rule]) -> str:
    """A guess that may be passed on: nothing that a pinned rule forbids to say; it needs no record."""
    free = [
        rule.model_copy(update={"checks": tuple(c for c in rule.checks if not isinstance(c, SupportNeeded))})
        for rule in rules
    ]
    return "" if breaches(free, AnswerAction(text), Situation()) else text
