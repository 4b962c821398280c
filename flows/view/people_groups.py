"""Groups of the people of a run by what is known of them: condition, replies, attributes of a file or an archive."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from statistics import median
from typing import Final

import numpy as np

from lakatos.experiments.participants.table import attributes_of
from lakatos.experiments.task import Trials
from lakatos.flows.report.reader import UNREADABLE
from lakatos.flows.view.watch import RunMoment

MOST_GROUPS: Final = 4
"""Groups that are shown; numbers of more values are divided at their median."""


def known_of_people(
    look: RunMoment, experiments: Sequence[str]
) -> dict[str, list[tuple[str, ...]]]:
    """Return everybody's attributes by name: for each experiment a word a person. Free texts stay out."""
    page = look.config.page
    questions = [question for question in page.questions if question.kind != "text"]
    tables = []
    for name in experiments:
        artifact = look.state.experiments.collected[name].record.trials
        try:
            tables.append(attributes_of(look.trace.artifacts, artifact, questions, page.language))
        except UNREADABLE:
            return {}
    found = _in_all(tables)
    return {name: words for name, words in found.items() if _differs(words)}


def _in_all(tables: Sequence[Mapping[str, tuple[str, ...]]]) -> dict[str, list[tuple[str, ...]]]:
    """The columns that all tables have."""
    shared = [
        name for name in (tables[0] if tables else ()) if all(name in item for item in tables)
    ]
    return {name: [table[name] for table in tables] for name in shared}


def _differs(words: Sequence[tuple[str, ...]]) -> bool:
    """Whether people of all experiments together say more than one thing."""
    return len({word for part in words for word in part if word}) > 1


def groups_of(words: Sequence[tuple[str, ...]]) -> list[tuple[str, list[np.ndarray]]]:
    """Name of each group, and by experiment who is in it, ``(n_participants,)``.

    Words make a group each, the most frequent first; numbers with many values two, at their median.
    """
    counted = Counter(word for part in words for word in part if word)
    numbers = _numbers(counted)
    if numbers and len(counted) > MOST_GROUPS:
        middle = median(number for word, number in numbers.items() for _ in range(counted[word]))
        below = {word for word, number in numbers.items() if number < middle}
        sets = [(f"below {middle:g}", below), (f"{middle:g} and above", set(numbers) - below)]
    else:
        sets = [(word, {word}) for word, _ in counted.most_common(MOST_GROUPS)]
    return [
        (name, [np.array([word in inside for word in part], dtype=bool) for part in words])
        for name, inside in sets
        if inside
    ]


def _numbers(counted: Counter[str]) -> dict[str, float]:
    """The words as numbers; none where one of them is no number."""
    try:
        return {word: float(word) for word in counted}
    except ValueError:
        return {}


def of_group(trials: Sequence[Trials], inside: Sequence[np.ndarray]) -> list[Trials]:
    """The responses of the people of a group, by experiment."""
    return [table.of_people(chosen) for table, chosen in zip(trials, inside, strict=True)]
