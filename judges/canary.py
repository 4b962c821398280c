"""Whether a judge is still the one it was: a few fixed items, read before, asked again at every end of an epoch.

A hosted model can change under the same name. One that drifted is another judge: it gets a new version, and what the
old one said is erased like that of any displaced judge.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.stats import binom

from lakatos.judges.answer import JudgeAnswers
from lakatos.judges.errors import GateError

N_ITEMS = 24
LEVEL = 0.001
"""Of the test for judges that vary; a false alarm costs all of the judge's records, and comes every epoch."""


@dataclass(frozen=True)
class CanaryResult:
    """Whether a judge drifted: how often it now answers old items otherwise."""

    drifted: bool
    n_items: int
    """That were answered every time."""
    n_changed: int
    """Items on which the answer of before stands alone: another side, or without chance another probability."""
    p_value: float
    """Of so many in a judge that has not changed; 0 or 1 for a judge without chance."""


def canary(
    before: JudgeAnswers, now: JudgeAnswers, again: JudgeAnswers | None = None
) -> CanaryResult:
    """Compare a judge's answers to the fixed items with those that it gave before.

    A judge without chance has drifted with any change. One with chance answers twice now, and disagrees with itself at
    whatever rate it does: of three answers of one judge, of which two take one side and the third another, each is the
    third with probability 1/3. That the answer of before is so more often is tested exactly (binomial, one-sided).
    With fewer than seven items no drift can be found so.

    Args:
        before, now: Answers to the same items; those that were not answered every time are left out.
        again: A second answer to each item now; None for a judge without chance.

    Raises:
        GateError: They are of different items.
    """
    told = [before, now] if again is None else [before, now, again]
    if len({len(item.side) for item in told}) > 1:
        raise GateError(
            f"the canary compares answers to the same items; there are {[len(item.side) for item in told]} of them."
        )
    kept = ~np.isin(
        np.arange(len(before.side)), sorted({place for item in told for place in item.failures})
    )
    n = int(kept.sum())
    if again is None:
        same = np.isclose(before.probability[kept], now.probability[kept], rtol=0, atol=1e-12)
        changed = int((~same).sum())
        return CanaryResult(changed > 0, n, changed, 0.0 if changed else 1.0)
    first, second, third = (item.side[kept] for item in told)
    alone = (second == third) & (first != second)
    others = ((first == second) & (second != third)) | ((first == third) & (second != third))
    changed, n_odd = int(alone.sum()), int((alone | others).sum())
    p_value = float(binom.sf(changed - 1, n_odd, 1 / 3))
    return CanaryResult(p_value <= LEVEL, n, changed, p_value)
