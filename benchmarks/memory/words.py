"""Plans in words, "find playlist 'Rock' and delete song 12": what signatures are measured on."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from lakatos.memory.errors import PlanError
from lakatos.memory.plan import PlanStep, StepArgument

SYNONYMS: Final[Mapping[str, str]] = {
    word: verb
    for verb, words in {
        "find": "find locate search seek look",
        "read": "read get fetch load open retrieve",
        "list": "list enumerate show display",
        "check": "check verify test inspect",
        "compare": "compare contrast",
        "score": "score rate evaluate",
        "delete": "delete remove erase drop discard",
        "add": "add append insert",
        "create": "create make build",
        "write": "write save store record",
        "update": "update change modify edit",
        "send": "send post submit",
    }.items()
    for word in words.split()
}
"""Verbs that mean the same in a plan of words."""
READING_VERBS: Final = frozenset({"find", "read", "list", "check", "compare", "score"})
_PASSED_OVER: Final = frozenset(
    [
        "a",
        "an",
        "all",
        "any",
        "by",
        "called",
        "each",
        "every",
        "for",
        "from",
        "in",
        "into",
        "it",
        "its",
        "my",
        "named",
        "number",
        "of",
        "on",
        "our",
        "please",
        "that",
        "the",
        "their",
        "them",
        "this",
        "to",
        "up",
        "use",
        "using",
        "we",
        "which",
        "with",
        "you",
        "your",
    ]
)
_BREAKS: Final = frozenset(
    ("and", "then", "next", "afterwards", "finally", "first", ",", ";", ".", "\n")
)
"""What stands between the steps of a plan in words."""
_TOKENS: Final = re.compile(
    r""""[^"]*"|'[^']*'|\d{4}-\d\d-\d\d|-?\d+(?:\.\d+)?|[/~][\w./-]*\w|[a-z][\w-]*|[,;.\n]""",
    re.IGNORECASE,
)


def steps_of_words(text: str) -> tuple[PlanStep, ...]:
    """The steps of a plan in words: "find playlist 'Rock' and delete song 12".

    A clause's first word is the verb; its nouns are kinds, and what is quoted or counted is of the kind named before.

    Raises:
        PlanError: There is no clause.
    """
    clauses: list[list[str]] = [[]]
    for word in _TOKENS.findall(text):
        if word.lower() in _BREAKS:
            clauses.append([])
        elif word.lower() not in _PASSED_OVER:
            clauses[-1].append(word)
    steps = []
    for words in clauses:
        if not words or not words[0][0].isalpha():
            continue
        verb = SYNONYMS.get(words[0].lower(), words[0].lower())
        named: dict[str, Any] = {}
        kind = "thing"
        for word in words[1:]:
            if word[0].isalpha():
                kind = _singular(word.lower())
                named.setdefault(kind, None)
            else:
                named[kind] = word.strip("'\"")
        arguments = tuple(
            StepArgument(name=name, kind=name, value=value) for name, value in sorted(named.items())
        )
        steps.append(PlanStep(tool=verb, arguments=arguments, reading=verb in READING_VERBS))
    if not steps:
        raise PlanError(
            f"no step can be read in {text[:80]!r}; write verbs with what they are about."
        )
    return tuple(steps)


def _singular(word: str) -> str:
    if word.endswith("ies") and len(word) > 4:
        return f"{word[:-3]}y"
    return word[:-1] if word.endswith("s") and not word.endswith("ss") and len(word) > 3 else word
