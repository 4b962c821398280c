"""Statements of a role about records: typed claims are computed, rules are obeyed, and the rest is not checked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from lakatos.language_models.guard import AnswerAction, GuardSituation, breaches
from lakatos.language_models.pins import PinnedRule, SupportNeeded
from lakatos.language_models.quotes import check_answer, sentences
from lakatos.theories.discovery.roles.answer import Statement
from lakatos.theories.discovery.roles.exhibit import Exhibit
from lakatos.theories.discovery.roles.record import CheckedStatement
from lakatos.theories.discovery.roles.typed_claim import claim_problem, told


def checked(
    statement: Statement, rules: Sequence[PinnedRule], shown: Sequence[Exhibit]
) -> CheckedStatement:
    """A statement with what came of computing its claims, and every reason why it is not believed.

    Args:
        statement: Its claims rest on the records that it cites, and on no others.
        rules: Pinned to the request.
        shown: What the role was shown.
    """
    cited = {mark: [item for item in shown if item.is_cited_by(mark)] for mark in statement.cites}
    problems = [f"{mark}: no such record was shown" for mark, items in cited.items() if not items]
    facts = [fact for items in cited.values() for item in items for fact in item.numbers]
    problems += [problem for claim in statement.claims if (problem := claim_problem(claim, facts))]
    problems += _forbidden(statement.text, rules)
    found = tuple(dict.fromkeys(problems))
    supported = bool(statement.claims) and not found
    return CheckedStatement(
        text=statement.text,
        cites=statement.cites,
        supported=supported,
        problems=found,
        told="; ".join(map(told, statement.claims)) if supported else "",
        computed=bool(statement.claims),
    )


def contradictions(
    text: str, cites: Sequence[str], rules: Sequence[PinnedRule], records: Mapping[str, Any]
) -> tuple[str, ...]:
    """Find words that contradict the records cited, or a rule; other words are not thereby checked.

    Args:
        text: Every number in it must stand somewhere in the records, which says nothing about what it is a number of.
        cites: Count for every sentence of it.
        rules: Pinned to the request.
        records: What the role was shown, by digest.
    """
    marks = " ".join(cites)
    cited = " ".join(f"{sentence} {marks}" for sentence in sentences(text))
    found = [f"{item.said!r}: {item.problem}" for item in check_answer(cited, (), records)]
    broken = breaches(rules, AnswerAction(cited), GuardSituation(records=records))
    return tuple(dict.fromkeys([*found, *(item.reason for item in broken)]))


def conjecture(text: str, rules: Sequence[PinnedRule]) -> str:
    """A guess that may be passed on: nothing that a pinned rule forbids to say; it needs no record."""
    return "" if _forbidden(text, rules) else text


def _forbidden(text: str, rules: Sequence[PinnedRule]) -> list[str]:
    """Find what the rules forbid to state, support by records aside: words are not compared with records."""
    free = [
        rule.model_copy(
            update={"checks": tuple(c for c in rule.checks if not isinstance(c, SupportNeeded))}
        )
        for rule in rules
    ]
    return [item.reason for item in breaches(free, AnswerAction(text), GuardSituation())]
