"""The runs of a folder, sorted and filtered as whoever looks asks for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from lakatos.flows.view import page
from lakatos.flows.view.watch import RunMoment

STATES: Final[Mapping[str, str]] = {
    "": "any state",
    "running": "running",
    "waiting": "waiting for participants",
    "stopped": "stopped",
    "concluded": "concluded",
    "shown": "concluded, shown",
    "unreadable": "cannot be read",
}
ORDERS: Final[Mapping[str, str]] = {
    "": "newest first",
    "active": "last written first",
    "name": "by name",
    "advantage": "largest advantage first",
    "answers": "most responses first",
}


@dataclass(frozen=True)
class RunCard:
    """A run as the list of runs shows it."""

    name: str
    look: RunMoment | None
    """The run; None where it cannot be read."""
    problem: str
    now: str
    who: str
    n_answers: int

    @property
    def words(self) -> str:
        """Text of the card that a search of the runs looks through."""
        if self.look is None:
            return self.name.lower()
        leader = self.look.leader
        label = self.look.label(leader).name if leader else ""
        config = self.look.config
        return " ".join([self.name, config.question, config.domain, self.who, label]).lower()

    def is_in(self, state: str) -> bool:
        """Whether the run is in one of `STATES`."""
        if self.look is None:
            return state in ("", "unreadable")
        if state == "shown":
            return self.look.is_shown
        return state in ("", self.look.progress)


def card(name: str, look: RunMoment | str) -> RunCard:
    """A run's card, or that of one that cannot be read."""
    if isinstance(look, str):
        return RunCard(name, None, look, "", "", 0)
    collected = look.state.experiments.collected.values()
    n_answers = sum(item.record.n_responses for item in collected)
    return RunCard(name, look, "", page.now(look), page.who(look), n_answers)


def home(
    runs: Sequence[tuple[str, RunMoment | str]], *, text: str, state: str, domain: str, order: str
) -> dict[str, Any]:
    """Values of the page of runs.

    Args:
        runs: All that there are, the newest first.
        text: Words that a run's name, question, domain or leader must hold.
        state: One of `STATES`.
        domain: Domain of the study; any where empty.
        order: One of `ORDERS`.
    """
    cards = [card(name, look) for name, look in runs]
    domains = sorted({item.look.config.domain for item in cards if item.look is not None})
    state = state if state in STATES else ""
    words = text.lower().split()
    kept = [
        item
        for item in cards
        if all(word in item.words for word in words)
        and item.is_in(state)
        and (not domain or (item.look is not None and item.look.config.domain == domain))
    ]
    return {
        "cards": _ordered(kept, order),
        "n_runs": len(cards),
        "filtered": bool(words or state or domain),
        "text": text,
        "state": state,
        "domain": domain,
        "order": order if order in ORDERS else "",
        "states": STATES,
        "orders": ORDERS,
        "domains": domains,
    }


def _ordered(cards: list[RunCard], order: str) -> list[RunCard]:
    if order == "name":
        return sorted(cards, key=lambda item: item.name.lower())
    if order == "active":
        return sorted(cards, key=lambda item: item.look.times[1] if item.look else "", reverse=True)
    if order == "answers":
        return sorted(cards, key=lambda item: -item.n_answers)
    if order == "advantage":
        return sorted(cards, key=_advantage, reverse=True)
    return cards


def _advantage(item: RunCard) -> float:
    found = item.look.concluded if item.look is not None else None
    return float("-inf") if found is None or found.advantage is None else found.advantage
