"""Whether a judge is still the one it was: a few fixed items asked again every epoch.

A hosted model can change under the same name. One that drifted is another judge: it gets a new version, and what the
old one said is erased like that of any displaced judge.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.stats import binom

from judges.answer import Answers
from judges.errors import GateError

N_ITEMS = 24
LEVEL = 0.001
"""Of the test for judges that vary; a false alarm costs all of the judge's records, and comes every epoch."""


@dataclass(frozen=True)
class Canary:
    """What was found."""

    drifted: bool
    n_items: int
    n_changed: int
    """Items on which the judge took another side, or gave another probability where it has no chance."""
    p_value: float
    """Of so many changes in a judge that varies as much as it did; 0 or 1 for a judge without chance."""


def canary(before: Answers, now: Answers, *, deterministic: bool) -> Canary:
    """Compare a judge's answers to the fixed items with those it gave when it took its seat.

    Args:
        before, now: Answers to the same items; the version must be the same.
        deterministic: Any change is drift. Otherwise the number of changed sides is tested against the rate at which
            the judge disagreed with itself then (with one change added, as it may have been lucky).

    Raises:
        GateError: They are of two versions, or of different items.
    """
    if before.judge != now.judge or len(before.side) != len(now.side):
        raise GateError(
            f"the canary compares answers of one judge to the same items; these are {len(before.side)} of "
            f"{before.judge[:8]} and {len(now.side)} of {now.judge[:8]}."
        )
    n = len(before.side)
    if deterministic:
        changed = int((~np.isclose(before.probability, now.probability, rtol=0, atol=1e-12, equal_nan=True)).sum())
        return Canary(changed > 0, n, changed, 0.0 if changed else 1.0)
    changed = int((before.side != now.side).sum())
    p_value = float(binom.sf(changed - 1, n, (before.flip_rate * n + 1) / (n + 1)))
    return Canary(p_value <= LEVEL, n, changed, p_value)
