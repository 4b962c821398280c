"""Whether a plan recurs often enough to pay for a tool: the reuse gate.

The expected number of further uses of a plan seen ``c`` times in ``i`` studies is ``(N - i) max(c - d, 0) / i``, the
predictive probability of a Pitman-Yor process times what is left of the horizon.

References:
    Pitman & Yor (1997), Annals of Probability 25(2), 855-900.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from lakatos.memory.plan import Plan
from lakatos.memory.signature import canonical_form
from lakatos.traces.digest import Digest, digest_of

DISCOUNT: Final = 0.5
FLOOR: Final = 2
"""Distinct studies, and distinct literals, below which nothing is built."""
MARGIN: Final = 2.0
"""Times that what is saved must pay for building."""
MOST_TOOLS: Final = 32
"""Active at once."""


@dataclass(frozen=True)
class PlanRecurrence:
    """How often one signature was seen."""

    signature: Digest
    studies: frozenset[str]
    literals: frozenset[Digest]

    @property
    def count(self) -> int:
        """Distinct occurrences: no more than there are studies, nor than there are literal values; retries are none."""
        return min(len(self.studies), len(self.literals))


@dataclass(frozen=True)
class ToolEconomy:
    """What building costs and saves, in one unit, for example calls of tools or seconds."""

    saving: float
    """Of one use."""
    build: float
    validation: float = 0.0
    p_ok: float = 1.0
    """Probability that a tool that was built is a good one."""


@dataclass(frozen=True)
class GateDecision:
    """Whether to build, and why."""

    build: bool
    count: int
    expected_uses: float
    needed_uses: float
    reason: str


def recurrences(plans: Iterable[Plan]) -> dict[Digest, PlanRecurrence]:
    """How often each signature recurs over studies and values."""
    found: dict[Digest, PlanRecurrence] = {}
    for plan in plans:
        form = canonical_form(plan.steps)
        before = found.get(form.digest, PlanRecurrence(form.digest, frozenset(), frozenset()))
        found[form.digest] = PlanRecurrence(
            form.digest,
            before.studies | {plan.study},
            before.literals | {digest_of(list(form.values))},
        )
    return found


def expected_uses(count: int, seen: int, horizon: int, discount: float = DISCOUNT) -> float:
    """Further uses of a plan, with ``seen`` of ``horizon`` studies behind us."""
    return max(horizon - seen, 0) * max(count - discount, 0.0) / max(seen, 1)


def discount_of(n_once: int, n_twice: int) -> float:
    """The discount that a stream shows by how many plans were seen once and twice: ``n1 / (n1 + 2 n2)``.

    The less plans recur, the nearer it is to 1 and the less a second sight says. Before anything was seen it is
    `DISCOUNT`.

    References:
        Kneser & Ney (1995), ICASSP 1, 181-184.
    """
    return n_once / (n_once + 2 * n_twice) if n_once + n_twice else DISCOUNT


def expected_uses_discounted(
    count: int, seen: int, keep: float, discount: float = DISCOUNT
) -> float:
    """The same where nobody knows the horizon: after each study there is another with probability ``keep`` < 1."""
    return keep / (1 - keep) * max(count - discount, 0.0) / max(seen, 1)


def gate(
    recurrence: PlanRecurrence,
    uses: float,
    economy: ToolEconomy,
    *,
    n_active: int = 0,
    n_refused: int = 0,
    contradicted: bool = False,
    margin: float = MARGIN,
    floor: int = FLOOR,
    most: int = MOST_TOOLS,
) -> GateDecision:
    """Whether a draft may be made.

    Args:
        recurrence: Of the plan's signature.
        uses: Expected further ones.
        economy: Costs and savings.
        n_active: Tools that are on offer now.
        n_refused: Drafts of this plan that validation refused; each doubles the floor.
        contradicted: Whether the plan rests on a fact that another contradicts.
        margin, floor, most: See the constants.
    """
    count, wanted = recurrence.count, floor * 2**n_refused
    worth = economy.saving * economy.p_ok
    needed = margin * (economy.build + economy.validation) / worth if worth > 0 else float("inf")
    if count < wanted:
        reason = (
            f"seen in {len(recurrence.studies)} studies with {len(recurrence.literals)} different values; "
            f"{wanted} of each are needed"
        )
    elif contradicted:
        reason = "it rests on a fact that another one contradicts; settle that first"
    elif n_active >= most:
        reason = f"{n_active} tools are active, as many as may be; retire one first"
    elif uses < needed:
        reason = f"{uses:.1f} further uses are expected and {needed:.1f} would pay for it"
    else:
        return GateDecision(
            True, count, uses, needed, f"{uses:.1f} further uses pay for it; {needed:.1f} would do"
        )
    return GateDecision(False, count, uses, needed, reason)
