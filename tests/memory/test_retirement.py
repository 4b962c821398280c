"""Good tools stay and bad ones go, by exact enumeration of all courses of use."""

from collections import defaultdict

import pytest
from scipy.stats import beta

from lakatos.memory.item import PlanUsed
from lakatos.memory.retirement import (
    BREAKER,
    CERTAIN,
    HALF_OPEN,
    TextFallback,
    ToolStanding,
    after,
    probability_below,
)
from lakatos.traces.digest import digest_of

KNOWN = TextFallback(rate=0.6)
SIGNATURE = digest_of("plan")
ACTIVE = ToolStanding(status="active")


def use(success, *, tool="tool", hard=False, failure="", shadow=None):
    return PlanUsed(
        signature=SIGNATURE,
        study="one",
        tool=tool,
        success=success,
        hard=hard,
        failure=failure,
        shadow_matches=shadow,
        evidence=(SIGNATURE,),
    )


def course(quality, n_uses=60, certain=CERTAIN):
    """Probability of retirement within ``n_uses`` and mean uses until then, or until the end."""
    alive, retired, uses = {ACTIVE: 1.0}, 0.0, 0.0
    outcomes = ((quality, use(True)), (1 - quality, use(False)))
    for number in range(1, n_uses + 1):
        following = defaultdict(float)
        for standing, p in alive.items():
            for q, outcome in outcomes:
                now = after(standing, outcome, KNOWN, certain)
                if now.status == "retired":
                    retired += p * q
                    uses += p * q * number
                else:
                    following[now] += p * q
        alive = following
    return retired, uses + n_uses * sum(alive.values())


# Published simulations of the rule: 0.02 retired within 60 uses, mean 59.1; 0.98 and 14.9; all and 4.8.
@pytest.mark.parametrize(
    ("quality", "share", "uses"), [(0.78, 0.02, 59.1), (0.40, 0.98, 14.9), (0.18, 1.0, 4.8)]
)
def test_share_retired_and_uses_until_then(quality, share, uses):
    retired, mean_uses = course(quality, certain=0.95)
    assert retired == pytest.approx(share, abs=0.01)
    assert mean_uses == pytest.approx(uses, abs=0.6)


def test_the_level_is_the_lowest_that_seldom_retires_a_good_tool():
    assert course(0.78)[0] <= 0.03 < course(0.78, certain=CERTAIN - 0.01)[0]
    assert course(0.40)[1] <= 15
    assert course(0.18)[1] <= 5


def test_the_posterior_is_that_of_a_beta_distribution():
    assert probability_below(3, 5, KNOWN) == pytest.approx(beta.cdf(0.6, 4, 6))
    assert probability_below(4, 4, TextFallback(4, 4)) == pytest.approx(0.5)
    # A text known for a million uses is as good as known.
    assert probability_below(3, 5, TextFallback(600_000, 400_000)) == pytest.approx(
        beta.cdf(0.6, 4, 6), abs=0.01
    )


def run(standing, *uses):
    for item in uses:
        standing = after(standing, item, KNOWN)
    return standing


def test_three_hard_failures_suspend_and_a_trial_after_five_texts_decides():
    proven = ToolStanding(status="active", successes=40)
    down = run(proven, *[use(False, hard=True, failure="program")] * BREAKER)
    assert down.status == "suspended"
    assert run(down, *[use(True, tool="")] * (HALF_OPEN - 1)).status == "suspended"
    trial = run(down, *[use(True, tool="")] * HALF_OPEN)
    assert trial.status == "trial"
    assert run(trial, use(True)).status == "active"
    assert run(trial, use(False, hard=True, failure="program")).status == "suspended"


def test_failures_that_are_not_in_a_row_do_not_suspend():
    proven = ToolStanding(status="active", successes=40)
    bad = use(False, hard=True, failure="program")
    assert run(proven, bad, bad, use(True), bad, bad).status == "active"


def test_an_outage_counts_for_nobody():
    assert run(ACTIVE, *[use(False, failure="outage")] * 9) == ACTIVE


def test_three_shadowed_uses_promote_and_one_that_differs_retires():
    assert run(ToolStanding(), *[use(True, shadow=True)] * 3).status == "active"
    assert run(ToolStanding(), *[use(True, shadow=True)] * 2).status == "probation"
    assert run(ToolStanding(), use(True, shadow=True), use(False, shadow=False)).status == "retired"


def test_no_tool_is_retired_before_its_third_use():
    assert run(ACTIVE, use(False), use(False)).status == "active"
