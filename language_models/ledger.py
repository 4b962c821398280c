"""Account of what a run has spent: requests, tokens, money, participants. It fails closed.

Before anything is sent, the worst that it can cost is reserved; afterwards what it cost is settled. Both are notes of
the step in the trace, and the ledger of a run is their fold: there is no second truth. A call that was cut short stays
charged with all that was reserved for it, as nobody knows what the server did.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any, Final

from pydantic import Field

from lakatos.language_models.client import FrozenPart, ModelRequest, TokenUsage
from lakatos.language_models.errors import BudgetExhaustedError
from lakatos.language_models.settings import Price
from lakatos.traces.digest import Digest, canonical_json
from lakatos.traces.fold import fold
from lakatos.traces.journal import INTENT, Event

_PER_MESSAGE: Final = 16
_PER_REQUEST: Final = 64
"""Tokens that a chat template may add."""


class SpentAmount(FrozenPart):
    """Requests, tokens and money that were spent or set aside."""

    requests: int = 0
    tokens: int = 0
    """Tokens of prompts and answers."""
    millionths: int = 0
    """Money, in millionths of the study's currency, rounded up: sums are exact in any order."""
    participants: int = 0

    def __add__(self, other: SpentAmount) -> SpentAmount:
        return SpentAmount(**{name: getattr(self, name) + getattr(other, name) for name in AMOUNTS})

    def __sub__(self, other: SpentAmount) -> SpentAmount:
        return SpentAmount(**{name: getattr(self, name) - getattr(other, name) for name in AMOUNTS})


AMOUNTS: Final = tuple(SpentAmount.model_fields)
NOTHING: Final = SpentAmount()


class Budget(FrozenPart):
    """Limits of what a run may use; a key that is not set is no limit."""

    requests: int | None = Field(None, ge=0)
    """Maximum number of calls of language models."""
    tokens: int | None = Field(None, ge=0)
    """Maximum number of tokens, sent and received."""
    money: float | None = Field(None, ge=0)
    """Maximum amount, in the study's currency."""
    participants: int | None = Field(None, ge=0)
    """Maximum number of participants, or of sessions of a model in their place."""

    def most(self) -> dict[str, int]:
        """Limits in the units of `SpentAmount`, of what is limited."""
        money = None if self.money is None else math.floor(round(self.money * 1e6, 3))
        limits = {
            "requests": self.requests,
            "tokens": self.tokens,
            "millionths": money,
            "participants": self.participants,
        }
        return {name: limit for name, limit in limits.items() if limit is not None}


@dataclass(frozen=True)
class BudgetSpending:
    """Sum of what was spent by the records so far, and what is still set aside."""

    settled: SpentAmount = NOTHING
    open: Mapping[Digest, SpentAmount] = field(default_factory=lambda: MappingProxyType({}))
    """Amounts reserved and not settled, by the key of the step."""

    @property
    def total(self) -> SpentAmount:
        """Everything that is settled or still set aside."""
        return sum(self.open.values(), self.settled)


def spend(spending: BudgetSpending, event: Event) -> BudgetSpending:
    """The reducer: notes reserve and settle; a result that settled nothing used all that was reserved."""
    settled, reserved = spending.settled, spending.open.get(event.key)
    if event.kind != INTENT:
        if reserved is None:
            return spending
        settled, now = settled + reserved, None
    else:
        note = event.body.get("note", {})
        if not {"reserved", "spent"} & set(note):
            return spending
        now = reserved
        if "spent" in note:
            settled, now = settled + SpentAmount.model_validate(note["spent"]), None
        if "reserved" in note:
            # Begun again without a word about the last time: it was cut short, and stays charged.
            settled, now = settled + (now or NOTHING), SpentAmount.model_validate(note["reserved"])
    others = {key: amount for key, amount in spending.open.items() if key != event.key}
    return replace(
        spending, settled=settled, open=others if now is None else {**others, event.key: now}
    )


def spending_of(events: Iterable[Event]) -> BudgetSpending:
    """Compute what was spent from a journal."""
    return fold(events, BudgetSpending(), spend)


class BudgetLedger:
    """The budget of a run while it runs; may be used from several threads."""

    def __init__(self, budget: Budget, spent: SpentAmount = NOTHING) -> None:
        """Go on from what was spent; `BudgetLedger.of` reads that from the trace."""
        self.budget = budget
        self._most = budget.most()
        self._settled, self._reserved, self._guard = spent, NOTHING, threading.Lock()

    @classmethod
    def of(cls, budget: Budget, events: Iterable[Event]) -> BudgetLedger:
        """The ledger of a run, from its journal; what was cut short counts as spent."""
        return cls(budget, spending_of(events).total)

    @property
    def total(self) -> SpentAmount:
        """Everything that is spent or set aside by now."""
        with self._guard:
            return self._settled + self._reserved

    def check(self, worst: SpentAmount, purpose: str) -> None:
        """Say whether ``worst`` could be reserved now.

        Raises:
            BudgetExhaustedError: It could not.
        """
        with self._guard:
            self._check(worst, purpose)

    def reserve(self, worst: SpentAmount, purpose: str) -> BudgetReservation:
        """Set aside the worst that something can cost.

        Raises:
            BudgetExhaustedError: The budget does not cover it; nothing was reserved.
        """
        with self._guard:
            self._check(worst, purpose)
            self._reserved += worst
        return BudgetReservation(self, worst)

    def _check(self, worst: SpentAmount, purpose: str) -> None:
        for name, most in self._most.items():
            spent, held, wanted = (
                getattr(item, name) for item in (self._settled, self._reserved, worst)
            )
            if wanted and spent + held + wanted > most:
                raise BudgetExhaustedError(
                    f"{purpose} may take {_shown(name, wanted)}, but of the budget of {_shown(name, most)} "
                    f"{_shown(name, spent)} are spent and {_shown(name, held)} reserved; nothing was sent. "
                    "Raise the budget in the study file and resume, or ask for less."
                )

    def _settle(self, reserved: SpentAmount, spent: SpentAmount) -> None:
        with self._guard:
            self._reserved -= reserved
            self._settled += spent


class BudgetReservation:
    """Something set aside; settled once."""

    def __init__(self, ledger: BudgetLedger, worst: SpentAmount) -> None:
        self._ledger, self.worst, self._open = ledger, worst, True

    def settle(self, spent: SpentAmount | None = None) -> None:
        """Give back what was not needed; without ``spent`` nothing is given back. Further calls change nothing."""
        if self._open:
            self._open = False
            self._ledger._settle(self.worst, self.worst if spent is None else spent)

    def note(self) -> dict[str, Any]:
        """Describe what was set aside, for the trace."""
        return {"reserved": self.worst.model_dump()}


def cost(price: Price, usage: TokenUsage) -> SpentAmount:
    """Compute the cost of a call by the cost table."""
    cached = price.input if price.cached_input is None else price.cached_input
    n_cached = min(usage.n_cached_tokens, usage.n_prompt_tokens)
    money = (
        (usage.n_prompt_tokens - n_cached) * price.input
        + n_cached * cached
        + usage.n_completion_tokens * price.output
    )
    return SpentAmount(
        requests=1,
        tokens=usage.n_prompt_tokens + usage.n_completion_tokens,
        millionths=math.ceil(round(money, 6)),
    )


def most_prompt_tokens(request: ModelRequest) -> int:
    """An upper bound without a tokenizer: no token of a prompt is shorter than a byte of UTF-8."""
    content = request.model_dump(mode="json", include={"messages", "tools", "answer_schema"})
    return len(canonical_json(content)) + _PER_MESSAGE * len(request.messages) + _PER_REQUEST


def worst_case(price: Price, request: ModelRequest) -> SpentAmount:
    """The most that a call can cost: nothing cached, an answer up to the limit."""
    dearest = price.model_copy(
        update={"input": max(price.input, price.cached_input or 0.0), "cached_input": None}
    )
    most = TokenUsage(
        n_prompt_tokens=most_prompt_tokens(request), n_completion_tokens=request.sampling.max_tokens
    )
    return cost(dearest, most)


def _shown(name: str, value: int) -> str:
    return f"{value / 1e6:.6g} of money" if name == "millionths" else f"{value} {name}"
