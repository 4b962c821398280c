"""Error probability is spent, and never won back: what each test of one anchor set may use.

All tests of the labels of one anchor set share a bound on the probability that any of their replacements is false,
whichever campaigns make them: a ledger beside the anchor file counts them (`flows.run.anchor_ledger`). Where the items
were simulated for one campaign alone, the campaign's own journal does.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import pi
from typing import Literal

from lakatos.traces.digest import Digest, Fingerprint
from lakatos.traces.record import Record


class LevelDrawn(Record):
    """A challenge received the level of its test before any label was read."""

    kind: Literal["level_drawn"] = "level_drawn"
    version: Literal[1] = 1
    challenge: Fingerprint
    """Digest of the rules, the items and both judges' answers; the same challenge is one test."""
    alpha: float
    """Maximum probability of any false replacement on this anchor set."""
    number: int
    """Number of the test among all tests of this anchor set, from 1."""
    level: float
    """Error probability that the test may use."""
    is_spent: bool
    """Whether labels may be read; if they stay unread, the next test has this number."""


class VaultReported(Record):
    """Quality of judges on the vault, the one time that it was opened."""

    kind: Literal["vault_reported"] = "vault_reported"
    version: Literal[1] = 1
    campaign: str
    """Campaign of the judges."""
    told: dict[str, str]
    """Findings about each judge, in words with intervals."""


def level_of(alpha: float, number: int) -> float:
    """Level of test ``number``, from 1: alpha * 6 / (pi number)^2, which sums to alpha over all tests."""
    return alpha * 6 / (pi * number) ** 2


def draw_level(
    drawn: Sequence[LevelDrawn],
    challenge: Digest,
    alpha: float,
    is_worth_it: Callable[[int, float], bool],
) -> LevelDrawn:
    """The level of the next test, or that of the same challenge where it was put before.

    Args:
        drawn: All levels of this anchor set so far.
        challenge: Digest of what is asked of the labels.
        alpha: Bound for all tests.
        is_worth_it: Whether a test of this number and level is worth reading the labels; it sees none.
    """
    spent = {item.challenge: item for item in drawn if item.is_spent}
    if challenge in spent:
        return spent[challenge]
    number = len(spent) + 1
    level = level_of(alpha, number)
    return LevelDrawn(
        challenge=challenge,
        alpha=alpha,
        number=number,
        level=level,
        is_spent=is_worth_it(number, level),
    )
