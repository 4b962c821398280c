"""Overview of collection for the researcher: who came, where people leave, how long they take, who will not count.

Nothing here tells who somebody is: people are counted, and no answer leaves the store.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median, quantiles
from typing import Any

from lakatos.experiments.participants.answers import PersonAnswers
from lakatos.experiments.participants.web.session import ACTIVE, PageVisit
from lakatos.experiments.participants.web.store import SessionStore
from lakatos.experiments.quality import ExclusionRule, exclude, for_design

MILESTONES = 10
"""Parts of the task at whose ends those who are still there are counted."""


@dataclass(frozen=True)
class DeskSettings:
    """Further facts for the researcher's page, beside what the page itself keeps."""

    rules: Sequence[ExclusionRule] = ()
    """Preregistered rules of exclusion, in order."""
    pay: Callable[[], Mapping[str, str]] = dict
    """Money by words for it, such as what is due; nothing where nobody pays through a service."""


def overview(store: SessionStore, settings: DeskSettings) -> list[dict[str, Any]]:
    """A description of each experiment, as plain values."""
    visits = store.visits()
    found = []
    for item in store.status():
        own = [visit for visit in visits if visit.experiment == item["name"]]
        ended = store.ended(item["name"])
        rules = for_design(settings.rules, store.n_asked(item["name"]))
        found.append(item | _described(own, ended, rules))
    return found


def _described(
    visits: Sequence[PageVisit], ended: Sequence[PersonAnswers], rules: Sequence[ExclusionRule]
) -> dict[str, Any]:
    return {
        "way": way(visits),
        "staying": staying(visits),
        "minutes": minutes(visits),
        "conditions": conditions(visits),
        "excluded": excluded(ended, rules),
        "missed": _share(sum(len(item.missed) for item in ended), _n_shown(ended)),
        "checks_failed": _share(
            sum(item.checks.count(False) for item in ended),
            sum(len(item.checks) for item in ended),
        ),
    }


def way(visits: Sequence[PageVisit]) -> dict[str, int]:
    """People who agreed, understood, made a first decision that counts, and finished."""
    return {
        "agreed": len(visits),
        "understood": sum(visit.passed for visit in visits),
        "began": sum(visit.n_trials > 0 for visit in visits),
        "finished": sum(visit.status == "completed" for visit in visits),
    }


def staying(visits: Sequence[PageVisit]) -> list[float]:
    """Share of the participants who are not active now that reached each tenth of the decisions; empty without any."""
    gone = [visit for visit in visits if visit.status != ACTIVE and visit.n_trials]
    if not gone:
        return []
    return [
        round(
            sum(visit.n_trials >= part / MILESTONES * visit.n_asked for visit in gone) / len(gone),
            3,
        )
        for part in range(MILESTONES + 1)
    ]


def minutes(visits: Sequence[PageVisit]) -> dict[str, float]:
    """Compute how long completed visits took, from consent to the end: the median and the middle half; else empty."""
    took = [visit.minutes for visit in visits if visit.status == "completed"]
    if not took:
        return {}
    low, _, high = quantiles(took, n=4, method="inclusive") if len(took) > 1 else (took[0],) * 3
    return {"median": round(median(took), 1), "low": round(low, 1), "high": round(high, 1)}


def conditions(visits: Sequence[PageVisit]) -> dict[str, dict[str, int]]:
    """People of each condition who take part, finished and left; empty where there are none."""
    found: dict[str, Counter[str]] = {}
    for visit in visits:
        if visit.condition:
            word = {"completed": "finished", ACTIVE: "at work"}.get(visit.status, "left")
            found.setdefault(visit.condition, Counter())[word] += 1
    return {name: dict(sorted(counts.items())) for name, counts in sorted(found.items())}


def excluded(ended: Sequence[PersonAnswers], rules: Sequence[ExclusionRule]) -> dict[str, int]:
    """Count those who finished that each rule would exclude now, in the words of the preregistration."""
    finished = [item for item in ended if item.status == "completed"]
    broken = Counter(item.rule.words for item in exclude(finished, rules))
    people = {item.place for item in exclude(finished, rules)}
    return dict(broken) | ({"in all": len(people)} if people else {})


def _n_shown(ended: Sequence[PersonAnswers]) -> int:
    return sum(len(item.trial) + len(item.missed) for item in ended)


def _share(part: int, whole: int) -> float | None:
    return round(part / whole, 4) if whole else None
