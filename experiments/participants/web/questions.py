"""Questions about the person, on a page of their own before or after the task, and ticks on the consent page.

A study asks them by ``[[page.questions]]``. Answers are kept with the person's other responses.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, Literal, Self, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, model_validator

from lakatos.experiments.presentation import is_unicode

LONGEST_TEXT = 2000
"""Characters of a free text."""
MOST_POINTS = 21
"""Maximum number of points of a scale."""
TAKEN = frozenset(
    [
        "experiment",
        "person",
        "status",
        "n_answers",
        "checks_passed",
        "checks_failed",
        "comprehension_attempts",
        "language",
        "consent",
        "source",
        "excluded",
    ]
)
"""Columns of ``people.csv`` that every export has."""
QuestionKind = Literal["choice", "choices", "scale", "number", "text", "tick"]
QuestionBlock = Literal["before", "after", "consent"]
Reply: TypeAlias = int | float | str | tuple[int, ...] | None
"""Place of a response from 0; a scale's point or a number; a text; places of several responses; None where left out."""


class PageQuestion(BaseModel):
    """One question about the participant."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    name: str = Field(pattern=r"^[a-z][a-z0-9_]{0,39}$")
    """Name of the column with the replies in exports."""
    kind: QuestionKind
    """One of several replies, any number of them, a scale, a number, free text, or a box to tick on
    the consent page."""
    text: str | dict[str, str]
    """The question; one text for all languages, or one for each."""
    when: QuestionBlock = "after"
    """Whether it comes before the task, after it, or on the consent page (boxes only)."""
    answers: tuple[str, ...] | dict[str, tuple[str, ...]] = ()
    """The possible replies, or the meaning of the two ends of a scale; for all languages, or by language."""
    least: float | None = None
    """Smallest number; 1 by default for a scale."""
    most: float | None = None
    """Largest number; 7 by default for a scale."""
    optional: bool = False
    """Whether it may be left open. A participant who leaves a required box empty cannot begin."""

    @model_validator(mode="after")
    def _whole(self) -> Self:
        lists = self.answers.values() if isinstance(self.answers, dict) else (self.answers,)
        lengths = {len(given) for given in lists}
        if self.kind in ("choice", "choices") and (len(lengths) != 1 or min(lengths) < 2):
            raise ValueError(f"{self.name}: give at least two answers, as many in each language")
        if self.kind == "scale":
            self._check_scale(lengths)
        if (self.kind == "tick") != (self.when == "consent"):
            raise ValueError(
                f"{self.name}: boxes to be ticked stand on the consent page, and nothing else does; "
                'give kind = "tick" and when = "consent" together'
            )
        if self.kind in ("number", "text", "tick") and lengths != {0}:
            raise ValueError(f"{self.name}: a {self.kind} has no answers to choose from")
        if self.kind not in ("number", "scale") and (self.least, self.most) != (None, None):
            raise ValueError(f"{self.name}: only numbers and scales have a least and a most")
        if self.least is not None and self.most is not None and self.least >= self.most:
            raise ValueError(f"{self.name}: least must be below most")
        return self

    def _check_scale(self, lengths: set[int]) -> None:
        if lengths != {2}:
            raise ValueError(f"{self.name}: a scale has two answers, the meaning of its ends")
        if not 2 <= self.points <= MOST_POINTS or self.first != int(self.first):
            raise ValueError(
                f"{self.name}: a scale goes from one whole number to another, by 2 to {MOST_POINTS} points"
            )

    @property
    def first(self) -> float:
        """Lowest point of a scale."""
        return 1.0 if self.least is None else self.least

    @property
    def points(self) -> int:
        """Number of points of a scale; 0 where its ends are no whole numbers apart."""
        width = (7.0 if self.most is None else self.most) - self.first
        return int(width) + 1 if width == int(width) else 0

    def labels(self, language: str, first: str) -> tuple[str, ...]:
        """The responses in a language, or in the one that the page shows first."""
        if isinstance(self.answers, dict):
            return self.answers.get(language) or self.answers.get(first, ())
        return self.answers

    def shown(self, language: str, first: str) -> dict[str, Any]:
        """Return what the page needs to show the question."""
        text = self.text
        if isinstance(text, dict):
            text = text.get(language) or text[first]
        numbers = {"least": self.least, "most": self.most}
        if self.kind == "scale":
            numbers = {"least": self.first, "most": self.first + self.points - 1}
        return {
            "name": self.name,
            "kind": self.kind,
            "text": text,
            "answers": list(self.labels(language, first)),
            "optional": self.optional,
            **numbers,
        }

    def said(self, value: Any, language: str) -> str:
        """A reply in words, with the labels of responses in a language; empty where it was left out."""
        if value is None:
            return ""
        if self.kind == "tick":
            return "yes" if value else "no"
        labels = self.labels(language, language)
        if self.kind in ("choice", "choices"):
            places = value if isinstance(value, list | tuple) else [value]
            return "; ".join(labels[place] for place in places)
        return value if isinstance(value, str) else f"{value:g}"

    def reply(self, value: Any) -> Reply:
        """Check a participant's answer.

        Raises:
            ValueError: It is no answer to this question; the message says why.
        """
        if self.kind == "tick":
            return self._tick(value)
        if value is None or value == "":
            if self.optional:
                return None
            raise ValueError(f"{self.name} needs an answer")
        if self.kind == "text":
            return self._text(value)
        if self.kind == "choices":
            return self._places(value)
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise ValueError(f"{self.name} needs a number")
        if self.kind == "choice":
            return self._places([value])[0]
        low, high = self.least, self.most
        if self.kind == "scale":
            low, high = self.first, self.first + self.points - 1
            if value != int(value):
                raise ValueError(f"{self.name} needs a whole number")
        if not math.isfinite(value) or not (
            (low is None or value >= low) and (high is None or value <= high)
        ):
            ends = [f"from {low:g}" if low is not None else "", f"to {high:g}" if high else ""]
            raise ValueError(f"{self.name} needs a number {' '.join(filter(None, ends))}".rstrip())
        return int(value) if self.kind == "scale" else value

    def _tick(self, value: Any) -> int:
        if value is not None and not isinstance(value, bool):
            raise ValueError(f"{self.name} is ticked or not: true or false")
        if not value and not self.optional:
            raise ValueError(f"{self.name} must be ticked")
        return int(bool(value))

    def _text(self, value: Any) -> str:
        if not isinstance(value, str) or len(value) > LONGEST_TEXT:
            raise ValueError(f"{self.name} needs a text of at most {LONGEST_TEXT} characters")
        if not is_unicode(value):
            raise ValueError(f"{self.name} holds half a character, which no text can store")
        return value

    def _places(self, value: Any) -> tuple[int, ...]:
        lists = self.answers.values() if isinstance(self.answers, dict) else (self.answers,)
        n_answers = len(next(iter(lists)))
        fits = isinstance(value, Sequence) and all(
            type(place) is int and 0 <= place < n_answers for place in value
        )
        if not fits or len(set(value)) != len(value) or isinstance(value, str):
            raise ValueError(f"{self.name} needs places of its {n_answers} answers, from 0")
        return tuple(sorted(value))


def check_questions(questions: Sequence[PageQuestion], languages: Sequence[str]) -> None:
    """Raise `ValueError` where two questions share a name, or one lacks the language that the page shows first."""
    names = [question.name for question in questions]
    taken = sorted(TAKEN.intersection(names))
    if taken:
        raise ValueError(
            f"a question is called {taken[0]!r}, like a column of the export; rename it"
        )
    repeated = sorted({name for name in names if names.count(name) > 1})
    if repeated:
        raise ValueError(f"two questions are called {repeated[0]!r}; give each a name of its own")
    for question in questions:
        for given in (question.text, question.answers):
            if isinstance(given, dict) and languages[0] not in given:
                raise ValueError(
                    f"the question {question.name!r} is not asked in {languages[0]!r}, which the page shows first"
                )


def replies_to(
    questions: Sequence[PageQuestion], block: QuestionBlock, values: Mapping[str, Any]
) -> dict[str, Reply]:
    """Check a participant's answers to a block of questions.

    Raises:
        ValueError: An answer is missing, not asked for, or no answer to its question.
    """
    due = [question for question in questions if question.when == block]
    unknown = sorted(set(values) - {question.name for question in due})
    if unknown:
        raise ValueError(f"{unknown[0]} is not asked here")
    return {question.name: question.reply(values.get(question.name)) for question in due}
