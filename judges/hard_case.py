"""Hard cases: what fooled the incumbent, once data have settled it, for the next judges to be bred on.

A trap of one class teaches to reject everything that looks like it. So every verified false verdict is matched with one
of the other label, of the same origin and domain; hard cases join dev only, and never outnumber the rest.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace

from lakatos.judges.anchor import AnchorItem, AnchorSet
from lakatos.judges.answer import JudgeAnswers

MOST = 0.3
"""Share of dev that hard cases may be."""
ALIKE = ("origin", "domain")
"""Strata in which a match must agree."""


def collect(
    answers: JudgeAnswers, settled: Sequence[AnchorItem]
) -> tuple[list[AnchorItem], list[AnchorItem]]:
    """False accepts and false rejects of the incumbent among settled comparisons; failures are neither."""
    wrong = [
        item
        for item, side, place in zip(settled, answers.side, range(len(settled)), strict=True)
        if place not in answers.failures and side * (1 if item.label else -1) < 0
    ]
    return [item for item in wrong if not item.label], [item for item in wrong if item.label]


def matched(wrong: Sequence[AnchorItem], settled: Sequence[AnchorItem]) -> list[AnchorItem]:
    """Each false verdict together with a settled item of the other label, of the same origin and domain.

    One that finds no match is left out: it would teach its class alone.
    """
    free: dict[tuple[bool, tuple[str, ...]], list[AnchorItem]] = defaultdict(list)
    used = {item.digest for item in wrong}
    for item in sorted(settled, key=lambda item: item.digest):
        if item.digest not in used:
            free[item.label, _kind(item)].append(item)
    found = []
    for item in wrong:
        if others := free[not item.label, _kind(item)]:
            found += [item, others.pop(0)]
    return found


def trap(
    anchor: AnchorSet, answers: JudgeAnswers, settled: Sequence[AnchorItem], *, most: float = MOST
) -> AnchorSet:
    """The anchor set with the incumbent's hard cases in dev; confirm and vault stay as they are.

    Args:
        anchor: As it was frozen; call it between epochs.
        answers: Answers of the incumbent, to ``settled``.
        settled: Comparisons of the finished epoch whose labels come from data, not from a judge. Those that share a
            comparison, a problem or a person with confirm or vault are left out.
        most: Share of dev that hard cases may be; the oldest give way.
    """
    open_items = _open_places(anchor, settled)
    kept = [settled[place] for place in open_items]
    failures = answers.failures
    own = replace(
        answers,
        probability=answers.probability[open_items],
        side=answers.side[open_items],
        failures={new: failures[old] for new, old in enumerate(open_items) if old in failures},
    )
    accepts, rejects = collect(own, kept)
    fresh = matched([*accepts, *rejects], kept)
    room = int(most / (1 - most) * len(anchor.parts["dev"]))
    pool = [*anchor.hard_cases, *fresh]
    return replace(anchor, hard_cases=tuple(pool[max(0, len(pool) - room // 2 * 2) :]))


def _open_places(anchor: AnchorSet, settled: Sequence[AnchorItem]) -> list[int]:
    """Places of comparisons that are new and share no comparison, problem or person with confirm or vault."""
    closed = [*anchor.parts["confirm"], *anchor.parts["vault"]]
    problems = {name for item in closed for name in item.problems}
    people = {name for item in closed for name in item.people}
    pairs = {_pair(item) for item in closed}
    known = {item.digest for item in anchor.dev}

    def is_open(item: AnchorItem) -> bool:
        shares = problems & set(item.problems) or people & set(item.people)
        return not shares and _pair(item) not in pairs and item.digest not in known

    return [place for place, item in enumerate(settled) if is_open(item)]


def _kind(item: AnchorItem) -> tuple[str, ...]:
    return tuple(item.strata.get(name, "") for name in ALIKE)


def _pair(item: AnchorItem) -> frozenset[str]:
    return frozenset((item.submission.candidate, item.submission.incumbent))
