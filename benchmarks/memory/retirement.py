"""How fast bad tools go, and how often good ones do.

    python benchmarks/memory/retirement.py   # benchmarks/results/memory/retirement.json

A tool of a fixed quality is used up to 60 times against a text plan that succeeds in 60%; one tool is good until its
20th use, when what it depends on changes. Rules: so many failures in a row (naive), the posterior probability of being
worse than the text at two levels, of which 0.95 is the published rule, an e-process (a mixture martingale against the
text's rate), and *ours*, the posterior at `memory.retirement.CERTAIN` with at least three uses, with the text's rate
known and with it inferred from 30 uses. The *oracle*
retires a tool that is worse than the text before its first use, the one that breaks at its 21st. Regret is what was
lost in successes against the oracle; after retirement the text is used.

What would make this fail: a text plan whose rate drifts along with the tool's.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT))

import numpy as np  # noqa: E402
from scipy.special import betainc, betaln  # noqa: E402

from benchmarks.memory.summary import over_seeds, write  # noqa: E402
from lakatos.memory.item import PlanUsed  # noqa: E402
from lakatos.memory.retirement import TextFallback, ToolStanding, after  # noqa: E402
from lakatos.traces.digest import digest_of  # noqa: E402

TEXT, N_USES, BREAKS_AT = 0.6, 60, 20
TOOLS = {
    "0.78": 0.78,
    "0.60": 0.60,
    "0.40": 0.40,
    "0.18": 0.18,
    "0.78 until use 20, then 0.18": 0.78,
}
ANY = digest_of("record")
USES = {
    success: PlanUsed(signature=ANY, study="any", tool="tool", success=success, evidence=(ANY,))
    for success in (True, False)
}


def in_a_row(outcomes: np.ndarray, n: int) -> int:
    """Use after which a tool is retired, or all."""
    row = 0
    for number, success in enumerate(outcomes, start=1):
        row = 0 if success else row + 1
        if row == n:
            return number
    return len(outcomes) + 1


def posterior(outcomes: np.ndarray, level: float) -> int:
    s = np.cumsum(outcomes)
    n = np.arange(1, len(outcomes) + 1)
    over = np.flatnonzero((betainc(1 + s, 1 + n - s, TEXT) >= level) & (n >= 3))
    return int(over[0]) + 1 if len(over) else len(outcomes) + 1


def e_process(outcomes: np.ndarray, level: float = 10.0) -> int:
    """Mixture over rates below the text's (uniform) against the text's rate."""
    s = np.cumsum(outcomes)
    n = np.arange(1, len(outcomes) + 1)
    log_mixture = (
        betaln(1 + s, 1 + n - s)
        + np.log(np.maximum(betainc(1 + s, 1 + n - s, TEXT), 1e-300))
        - np.log(TEXT)
    )
    log_null = s * np.log(TEXT) + (n - s) * np.log(1 - TEXT)
    over = np.flatnonzero(log_mixture - log_null >= np.log(level))
    return int(over[0]) + 1 if len(over) else len(outcomes) + 1


def ours(outcomes: np.ndarray, fallback: TextFallback) -> int:
    standing = ToolStanding(status="active")
    for number, success in enumerate(outcomes, start=1):
        standing = after(standing, USES[bool(success)], fallback)
        if standing.status == "retired":
            return number
    return len(outcomes) + 1


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    arguments.add_argument("--seeds", type=int, default=2000)
    arguments.add_argument("--out", type=Path)
    given = arguments.parse_args()
    begun = time.monotonic()
    rows: list[dict[str, Any]] = []
    for name, quality in TOOLS.items():
        rates = np.full(N_USES, quality)
        if "until" in name:
            rates[BREAKS_AT:] = 0.18
        runs: dict[str, list[tuple[int, float]]] = {}
        for seed in range(given.seeds):
            rng = np.random.default_rng([seed, round(100 * quality), "until" in name])
            outcomes = rng.random(N_USES) < rates
            known = int(rng.binomial(30, TEXT))
            last = {
                "2 failures in a row": in_a_row(outcomes, 2),
                "3 failures in a row": in_a_row(outcomes, 3),
                "posterior 0.95": posterior(outcomes, 0.95),
                "posterior 0.99": posterior(outcomes, 0.99),
                "e-process 10": e_process(outcomes),
                "ours": ours(outcomes, TextFallback(rate=TEXT)),
                "ours, text inferred": ours(outcomes, TextFallback(known, 30 - known)),
                "oracle": 0 if quality < TEXT else BREAKS_AT if "until" in name else N_USES + 1,
            }
            best = np.maximum(rates, TEXT).sum()
            for rule, use in last.items():
                kept = np.arange(1, N_USES + 1) <= use
                runs.setdefault(rule, []).append((use, best - np.where(kept, rates, TEXT).sum()))
        for rule, found in runs.items():
            uses = np.array([use for use, _ in found])
            retired = uses <= N_USES
            share = float(retired.mean())
            rows.append({
                "tool": name, "rule": rule, "retired": share,
                "retired_error": float(np.sqrt(share * (1 - share) / len(uses))),
                "uses": over_seeds(np.minimum(uses, N_USES)),
                "uses_if_retired": float(uses[retired].mean()) if retired.any() else None,
                "regret": over_seeds([regret for _, regret in found]),
            })  # fmt: skip
    write("retirement", time.monotonic() - begun, {"rows": rows}, given.out)
    for row in rows:
        print(
            row["tool"],
            "|",
            row["rule"],
            "|",
            round(row["retired"], 3),
            round(row["uses"]["mean"], 1),
            row["uses_if_retired"],
        )


if __name__ == "__main__":
    main()
