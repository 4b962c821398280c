"""Which tools stay on offer: a fold over their uses and those of the text they stand for.

A tool is retired when its rate of success is, with posterior probability `CERTAIN`, below that of the text plan, and no
sooner than after three uses. Three hard failures in a row suspend it at once; after five uses of the text it gets one
trial. What the environment broke counts for nobody.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Final, Literal

import numpy as np
from scipy.special import betainc, roots_sh_legendre
from scipy.stats import beta

from lakatos.memory.item import PlanUsed

Status = Literal["probation", "active", "suspended", "trial", "retired"]
OFFERED: Final[frozenset[Status]] = frozenset({"probation", "active", "trial"})
LEAST_USES: Final = 3
CERTAIN: Final = 0.92
"""Looked at after every use, 0.95 retires a tool of rate 0.78 against a text of 0.6 in 0.020 within 60 uses and one of
0.40 after 15.4 uses on average, by enumeration of all courses of use. This is the lowest level, in hundredths, that
keeps the first at most 0.03: 0.023 (0.041 at 0.91), and takes 13.2 uses for the second, 4.7 for one of 0.18."""
BREAKER: Final = 3
HALF_OPEN: Final = 5
SHADOWS: Final = 3


@dataclass(frozen=True)
class ToolStanding:
    """Where a tool stands; update it with `after`."""

    status: Status = "probation"
    successes: int = 0
    failures: int = 0
    shadows: int = 0
    """Uses on probation in which the text plan gave the same."""
    hard_in_row: int = 0
    text_since: int = 0
    """Uses of the text since the tool was suspended."""
    reason: str = "it was validated; its first uses are shadowed by the text plan"

    @property
    def n_uses(self) -> int:
        """Number of uses that counted as success or failure."""
        return self.successes + self.failures

    @property
    def mean(self) -> float:
        """Posterior mean of its rate of success, from a uniform prior."""
        return (1 + self.successes) / (2 + self.n_uses)


@dataclass(frozen=True)
class TextFallback:
    """How the text plan does: what is known of its rate of success."""

    successes: int = 0
    failures: int = 0
    rate: float | None = None
    """Where it is known; otherwise it is inferred from the uses."""

    @property
    def mean(self) -> float:
        """Posterior mean, from a uniform prior."""
        return (
            (1 + self.successes) / (2 + self.successes + self.failures)
            if self.rate is None
            else self.rate
        )


def probability_below(successes: int, failures: int, fallback: TextFallback) -> float:
    """P(the tool's rate of success < the text's), uniform priors."""
    if fallback.rate is not None:
        return float(betainc(1 + successes, 1 + failures, fallback.rate))
    return _below(successes, failures, fallback.successes, fallback.failures)


@lru_cache(65536)
def _below(successes: int, failures: int, text_successes: int, text_failures: int) -> float:
    x, weights = roots_sh_legendre(64)
    log_density = beta.logpdf(x, 1 + text_successes, 1 + text_failures)
    density = weights * np.exp(log_density - log_density.max())
    return float((density * betainc(1 + successes, 1 + failures, x)).sum() / density.sum())


def after(
    standing: ToolStanding, use: PlanUsed, fallback: TextFallback, certain: float = CERTAIN
) -> ToolStanding:
    """The standing after one more use, of the tool or of its text.

    Args:
        standing: Before.
        use: Of this tool, or, with no tool, of its plan.
        fallback: What was known of the text before this use.
        certain: Posterior probability of being worse than the text at which a tool is retired.
    """
    if use.failure == "outage" or standing.status == "retired":
        return standing
    if not use.tool:
        if standing.status != "suspended":
            return standing
        waited = standing.text_since + 1
        if waited < HALF_OPEN:
            return replace(standing, text_since=waited)
        return replace(
            standing, status="trial", text_since=0, reason="it gets one trial after its suspension"
        )
    hard = standing.hard_in_row + 1 if use.hard and not use.success else 0
    now = replace(
        standing,
        successes=standing.successes + use.success,
        failures=standing.failures + (not use.success),
        hard_in_row=hard,
    )
    if use.shadow_matches is False:
        return replace(
            now, status="retired", reason="on probation it gave something else than the text plan"
        )
    below = probability_below(now.successes, now.failures, fallback)
    if now.n_uses >= LEAST_USES and below >= certain:
        return replace(
            now,
            status="retired",
            reason=f"it succeeds less often than the text plan with probability {below:.3f} "
            f"({now.successes} of {now.n_uses} uses)",
        )
    if hard >= BREAKER or (standing.status == "trial" and not use.success):
        reason = f"{hard} hard failures in a row" if hard >= BREAKER else "it failed its trial"
        return replace(now, status="suspended", text_since=0, hard_in_row=0, reason=reason)
    if standing.status == "trial":
        return replace(now, status="active", reason="it succeeded in its trial")
    if standing.status == "probation" and use.shadow_matches:
        now = replace(now, shadows=now.shadows + 1)
        if now.shadows >= SHADOWS and now.mean >= fallback.mean:
            return replace(
                now,
                status="active",
                reason=f"{now.shadows} shadowed uses gave what the text plan gave",
            )
    return now
