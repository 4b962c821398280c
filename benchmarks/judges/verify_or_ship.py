"""Verify, refine or ship: the exact table, the map of regimes, critics that repeat each other, and small samples.

    python benchmarks/judges/verify_or_ship.py        # benchmarks/results/judges/verify_or_ship.json

Parts:

- ``table``: values with none to five tests, beside the published ones (arXiv 2606.24453 form; six values to 0.01).
- ``regimes``: 12 prior beliefs, 12 costs of verifying and 3 critics, where only verified candidates pay and where
  unverified ones may be adopted. Every policy is judged by its exact expected worth; the plan's tables, base rate and
  effects of refining are learned anew from 300 past candidates in each of 200 seeds.
- ``dependence``: two critics, of which the second repeats the first with probability 0, 0.5 and 1. The naive rule
  multiplies likelihoods of critics as if independent, with their true tables; ours learns from 300 past candidates.
  The calibration error is that of beliefs in ten bins, over the candidates of all seeds; what one past of 300 leaves
  uncertain, the base rate above all, shows in the error of the candidates of one seed.
- ``samples``: three critics, none to 300 past candidates, another world in each of 200 seeds. Nothing is known of the
  critics beforehand.
- ``beginning``: two judges, the fit to old data and simulated recovery, with the starting tables and levels that they
  have in the laboratory, in worlds where judges are too sure or not sure enough, lean to one side and repeat each
  other. Verifying costs half of what a winner is worth, and whether to verify is all there is to decide, as before
  ``FEWEST`` candidates are settled. 200 seeds; worth is over 4000 further candidates of each.

Regret is what a policy is worth less than the plan that knows the true tables, in percent of what that is worth,
summed over cells; intervals are 95%, over seeds. What would make this fail: critics that stop answering as they did
(`judges.critic.drift`), and gains or costs that are not in one unit.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT))

import numpy as np  # noqa: E402
from numpy.typing import NDArray  # noqa: E402
from scipy.special import expit  # noqa: E402
from scipy.stats import norm  # noqa: E402

from benchmarks.cells import mean_interval  # noqa: E402
from benchmarks.provenance import provenance  # noqa: E402
from lakatos.judges.critic import (  # noqa: E402
    PROBABILITIES,
    SHARES,
    STANDARD_ERRORS,
    CriticPanel,
    CriticProfile,
    CriticsHeard,
    FreshPanel,
    fit_critic,
    judge_critic,
    learn,
    recovery_critic,
)
from lakatos.judges.decision import (  # noqa: E402
    PAYOFFS,
    VERIFY,
    DecisionPayoffs,
    DecisionProblem,
    Policy,
    always,
    best_value,
    optimal,
    ship_or_quit,
    single_threshold,
    worth_of,
)
from lakatos.traces.digest import digest_of  # noqa: E402

Array = NDArray[Any]
RESULT = ROOT / "benchmarks" / "results" / "judges" / "verify_or_ship.json"
PUBLISHED = (43.67, 89.33, 130.33, 141.10, 151.09, 157.32)
N_SEEDS = 200
N_PAST = 300
GAIN = 100.0
PRIORS = np.array([0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95])
COSTS = GAIN * np.array([0.02, 0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9])
GAPS = (0.3, 0.7, 0.9)
"""Pass rate of winners less that of losers."""
RETRY = {"only verified pays": (10.0, 0.07, 0.06), "may be adopted unseen": (10.0, 0.24, 0.02)}
"""Cost of refining, and how often it mends and breaks."""
RHOS = (0.0, 0.5, 1.0)
SAMPLES = (0, 2, 5, 8, 15, 30, 100, 300)
BEGINNING = (0, 2, 5, 8, 15, 30, 60)
N_FURTHER = 4000


def table() -> dict[str, Any]:
    """Three rival causes, tests that fail with .9 or .2, patches that pay where they are verified and right."""
    began = time.process_time()
    fails = [np.where(np.arange(3) == cause, 0.9, 0.2) for cause in range(3)]
    tables = tuple(np.stack([fail, 1 - fail]) for fail in fails)
    ends = {
        "quit": np.zeros(3),
        **{f"patch {cause}": 200 * np.eye(3)[cause] - 23 for cause in range(3)},
    }
    problem = DecisionProblem(ends, FreshPanel(("A", "B", "C"), (1.0, 1.0, 1.0), tables))
    ours = [float(best_value(problem, np.full(3, 1 / 3), n_tests)) for n_tests in range(6)]
    return {
        "ours": [round(value, 4) for value in ours],
        "published": list(PUBLISHED),
        "largest_difference": max(abs(a - b) for a, b in zip(ours, PUBLISHED, strict=True)),
        "seconds": time.process_time() - began,
    }


def both(belief: Array) -> Array:
    return np.stack([1 - belief, belief], axis=-1)


def interval(values: Array) -> list[float]:
    """Mean over seeds and its 95% interval."""
    return [round(end, 3) for end in mean_interval(values)]


def regimes(payoff: str) -> dict[str, Any]:
    began = time.process_time()
    refine_cost, mends, breaks = RETRY[payoff]
    loss = np.inf if payoff == "only verified pays" else 100.0
    priors, costs, gaps = (part.ravel() for part in np.meshgrid(PRIORS, COSTS, GAPS, indexing="ij"))
    passes = np.stack([0.5 - gaps / 2, 0.5 + gaps / 2], axis=-1)
    tables = np.stack([1 - passes, passes], axis=-1)

    def problem(table: Array, cost: Array, mends: Any, breaks: Any) -> DecisionProblem:
        payoffs = DecisionPayoffs(
            np.full_like(cost, GAIN), np.full_like(cost, loss), cost, refine_cost, mends, breaks
        )
        return ship_or_quit(CriticPanel(("test",), (2.0,), table), payoffs)

    truth = problem(tables, costs, mends, breaks)
    optimum = best_value(truth, both(priors))

    def fixed(policy: Policy) -> Array:
        return worth_of(policy, truth, both(priors), truth, both(priors), retries=False)

    worth = {
        "never verify (quit)": fixed(always(truth, "quit")),
        "always verify": fixed(always(truth, "verify")),
        "verify up to three times": three_times(priors, costs, refine_cost, mends),
        "single threshold": thresholds(priors, costs, tables, loss),
        "greedy (published)": fixed(greedy(truth, costs, refine_cost, mends)),
    }
    if "ship" in truth.ends:
        worth["ship"] = fixed(always(truth, "ship"))
    learned = learned_worth(problem, truth, priors, tables, costs, mends, breaks)
    rows = {name: {"regret_percent": percent(optimum, value)} for name, value in worth.items()}
    ours = np.array([percent(optimum, seed) for seed in learned])
    rows["plan, learned tables"] = {
        "regret_percent": interval(ours),
        "worst_seed": round(float(ours.max()), 3),
        "n_seeds": N_SEEDS,
    }
    rows["plan, true tables"] = {"regret_percent": 0.0}
    zones = {
        "A: prior .07-.30, gap >= .70": (priors >= 0.07) & (priors <= 0.3) & (gaps >= 0.7),
        "B: prior .3-.7, gap >= .85": (priors >= 0.3) & (priors <= 0.7) & (gaps >= 0.85),
        "C: prior >= .75, cost <= .15": (priors >= 0.75) & (costs <= 0.15 * GAIN),
    }
    everything = {**worth, "plan, learned tables": learned.mean(axis=0)}
    first = optimal(truth)(both(priors), (None,), 3)
    return {
        "table": rows,
        "zones": {
            zone: {
                name: percent(optimum[inside], value[inside]) for name, value in everything.items()
            }
            for zone, inside in zones.items()
        },
        "first_action": {
            name: round(float(np.mean(first == i)), 3) for i, name in enumerate(truth.actions)
        },
        "worst_cell_in_gain": round(float(((optimum - learned.mean(axis=0)) / GAIN).max()), 4),
        "n_cells": len(priors),
        "seconds": time.process_time() - began,
    }


def percent(optimum: Array, worth: Array) -> float:
    return round(float(100 * (optimum - worth).sum() / optimum.sum()), 3)


def three_times(priors: Array, costs: Array, refine_cost: float, mends: float) -> Array:
    second = GAIN * mends - costs - refine_cost
    return GAIN * priors - costs + (1 - priors) * (second + (1 - mends) * second)


def thresholds(priors: Array, costs: Array, tables: Array, loss: float) -> Array:
    """Worth of the best single threshold, chosen with the true tables."""
    worth = []
    for prior, cost, table in zip(priors, costs, tables, strict=True):
        problem = ship_or_quit(
            CriticPanel(("test",), (2.0,), table), DecisionPayoffs(GAIN, loss, cost)
        )
        rule = single_threshold(problem, prior, [table]).policy(problem)
        worth.append(float(worth_of(rule, problem, both(prior), problem, both(prior))))
    return np.array(worth)


def greedy(truth: DecisionProblem, costs: Array, refine_cost: float, mends: float) -> Policy:
    """Ask the critic where one look ahead says so, else verify, refine as a fresh draw of a loser, or quit."""

    def choose(start: Array, seen: Any, steps: int) -> Array:
        start = np.broadcast_to(start, (*costs.shape, 2))
        weights = truth.panel.weights(start, seen)
        belief = weights[..., 1] / weights.sum(axis=-1)
        values = {"quit": np.zeros(belief.shape), "verify": GAIN * belief - costs}
        if "ship" in truth.ends:
            values["ship"] = GAIN * belief - 100 * (1 - belief)
        now = np.max(list(values.values()), axis=0)
        if steps > 0:
            values["refine"] = np.broadcast_to(mends * GAIN - costs - refine_cost, belief.shape)
            for critic in truth.panel.open(seen):
                total = -truth.panel.costs[critic] * np.ones(belief.shape)
                for after, then in truth.panel.ask(start, seen, critic):
                    heard = truth.panel.weights(after, then)
                    best = np.maximum(GAIN * heard[..., 1] - costs * heard.sum(axis=-1), 0)
                    if "ship" in truth.ends:
                        best = np.maximum(best, GAIN * heard[..., 1] - 100 * heard[..., 0])
                    total = total + best / weights.sum(axis=-1)
                values["ask " + truth.panel.names[critic]] = np.where(total > now, total, -np.inf)
        names = [name for name in truth.actions if name in values]
        indices = np.array([truth.actions.index(name) for name in names])
        return indices[np.stack([values[name] for name in names]).argmax(axis=0)]

    return choose


def learned_worth(
    problem: Callable[..., DecisionProblem],
    truth: DecisionProblem,
    priors: Array,
    tables: Array,
    costs: Array,
    mends: float,
    breaks: float,
) -> Array:
    """``(n_seeds, n_cells)`` exact worth of the plan with what 300 past candidates taught.

    With one critic `judges.critic.learn` gives counts with one added to each, which is computed here side by side.
    """
    worth = []
    for seed in range(N_SEEDS):
        rng = np.random.default_rng([1, seed])
        won = rng.binomial(N_PAST, priors)
        counts = np.stack([N_PAST - won, won], axis=-1)
        passed = (rng.binomial(counts, tables[..., 1]) + 1) / (counts + 2)
        mended = (rng.binomial(counts[:, 0], mends) + 1) / (counts[:, 0] + 2)
        broke = (rng.binomial(counts[:, 1], breaks) + 1) / (counts[:, 1] + 2)
        believed = problem(np.stack([1 - passed, passed], axis=-1), costs, mended, broke)
        rate = (won + 1) / (N_PAST + 2)
        worth.append(worth_of(optimal(believed), truth, both(priors), believed, both(rate)))
    return np.array(worth)


def copying(rho: Array, hit: Array, false_alarm: Array, n_critics: int) -> Array:
    """``(..., 2, 2, ..., 2)`` joint table of critics that each repeat the first with probability ``rho``."""
    states = []
    for rate in (false_alarm, hit):
        first = np.stack([1 - rate, rate], axis=-1)
        kernel = rho[..., None, None] * np.eye(2) + (1 - rho)[..., None, None] * first[..., None, :]
        joint = first
        for index in range(1, n_critics):
            shape = (*kernel.shape[:-1], *([1] * (index - 1)), 2)
            joint = joint[..., None] * kernel.reshape(shape)
        states.append(joint)
    return np.stack(states, axis=-1 - n_critics)


def drawn(table: Array, prior: float, n: int, rng: np.random.Generator) -> list[CriticsHeard]:
    """Past candidates whose critics answered as the joint table says."""
    wins = rng.random(n) < prior
    shape = table.shape[1:]
    cells = [rng.choice(table[0].size, p=table[int(won)].ravel()) for won in wins]
    return [
        CriticsHeard(
            "world",
            {
                name: int(level)
                for name, level in zip(NAMES, np.unravel_index(cell, shape), strict=False)
            },
            dict.fromkeys(NAMES[: len(shape)], VERSION),
            bool(won),
            digest_of([index]),
        )
        for index, (cell, won) in enumerate(zip(cells, wins, strict=True))
    ]


NAMES = ("a", "b", "c")
VERSION = digest_of("critic")
CRITICS = tuple(CriticProfile(name, VERSION, ("no", "yes"), 1.0) for name in NAMES)


def independent(panel: CriticPanel) -> CriticPanel:
    """The same critics as if each spoke on its own."""
    first = panel.table.ndim - len(panel.names) - 1
    product = np.ones(panel.table.shape[: first + 1])
    for critic in range(len(panel.names)):
        own = panel.only((critic,)).table
        product = product[..., None] * own.reshape(*own.shape[:-1], *([1] * critic), own.shape[-1])
    return CriticPanel(panel.names, panel.costs, product)


def dependence() -> dict[str, Any]:
    began = time.process_time()
    payoffs, prior, rows = DecisionPayoffs(GAIN, 100.0, 30.0), np.array(0.3), {}
    for rho in RHOS:
        truth = CriticPanel(
            NAMES[:2], (1.0, 1.0), copying(np.array(rho), np.array(0.85), np.array(0.35), 2)
        )
        problem = ship_or_quit(truth, payoffs)
        optimum = float(best_value(problem, both(prior), 2))
        naive_panel = independent(truth)
        naive = ship_or_quit(naive_panel, payoffs)
        naive_worth = float(worth_of(optimal(naive), problem, both(prior), naive, both(prior), 2))
        worths, errors = [], []
        for seed in range(N_SEEDS):
            learned = learn(
                drawn(truth.table, 0.3, N_PAST, np.random.default_rng([2, seed])),
                CRITICS[:2],
                "world",
            )
            believed = ship_or_quit(learned.panel, payoffs)
            rate = np.array(learned.base_rate)
            worths.append(
                float(worth_of(optimal(believed), problem, both(prior), believed, both(rate), 2))
            )
            errors.append(surplus_by_bin(truth, learned.panel, prior, rate))
        share = np.array(worths) / optimum
        rows[str(rho)] = {
            "optimum": round(optimum, 3),
            "naive product": {
                "worth": round(naive_worth, 3),
                "both asked": round(both_asked(truth, naive_panel), 3),
                "calibration_error": round(
                    float(np.abs(surplus_by_bin(truth, naive_panel, prior, prior)).sum()), 4
                ),
            },
            "both asked, true joint table": round(both_asked(truth, truth), 3),
            "ours": {
                "worth": interval(np.array(worths)),
                "share_of_optimum": interval(share),
                "worst_seed": round(float(share.min()), 3),
                "calibration_error": pooled(np.array(errors)),
                "calibration_error_of_one_past": interval(np.abs(errors).sum(axis=1)),
            },
        }
    return {
        "rho": rows,
        "n_seeds": N_SEEDS,
        "n_past": N_PAST,
        "seconds": time.process_time() - began,
    }


def both_asked(truth: CriticPanel, believed: CriticPanel) -> float:
    """Worth of asking both critics first, then ending best by what is believed."""
    ends = {
        "quit": np.zeros(2),
        "ship": np.array([-100.0, GAIN]),
        "verify": np.array([-30.0, GAIN - 30]),
    }
    total = -2.0
    for seen in np.ndindex(2, 2):
        mind, weights = (
            believed.weights(both(np.array(0.3)), seen),
            truth.weights(both(np.array(0.3)), seen),
        )
        total += float(
            weights @ max(ends.values(), key=lambda worth, mind=mind: float(mind @ worth))
        )  # type: ignore[misc]
    return total


def surplus_by_bin(truth: CriticPanel, believed: CriticPanel, prior: Array, rate: Array) -> Array:
    """``(10,)`` belief less truth in ten bins of belief, weighted by how often it is held; exact."""
    bins = np.zeros(10)
    for seen in np.ndindex(truth.table.shape[1:]):
        mind, weights = believed.weights(both(rate), seen), truth.weights(both(prior), seen)
        belief = float(mind[1] / mind.sum())
        bins[min(int(10 * belief), 9)] += belief * float(weights.sum()) - float(weights[1])
    return bins


def pooled(bins: Array) -> list[float]:
    """Expected calibration error over all candidates of all seeds, with a 95% interval by drawing seeds again."""
    rng = np.random.default_rng(5)
    again = [
        np.abs(bins[rng.integers(len(bins), size=len(bins))].mean(axis=0)).sum()
        for _ in range(1000)
    ]
    return [
        round(float(value), 4)
        for value in (np.abs(bins.mean(axis=0)).sum(), *np.quantile(again, [0.025, 0.975]))
    ]


def samples(n_past: int) -> dict[str, Any]:
    began = time.process_time()
    worlds = [np.random.default_rng([3, seed]) for seed in range(N_SEEDS)]
    hit, alarm, prior, cost, rho = (
        np.array(values)
        for values in zip(
            *(
                (
                    rng.uniform(0.6, 0.95),
                    rng.uniform(0.05, 0.5),
                    rng.uniform(0.1, 0.6),
                    rng.uniform(5, 60),
                    rng.choice(RHOS),
                )
                for rng in worlds
            ),
            strict=True,
        )
    )
    gain, loss, asked = np.full(N_SEEDS, GAIN), np.full(N_SEEDS, 100.0), (1.0, 1.0, 1.0)
    truth_panel = CriticPanel(NAMES, asked, copying(rho, hit, alarm, 3))
    truth = ship_or_quit(truth_panel, DecisionPayoffs(gain, loss, cost))
    learned = [
        learn(
            drawn(truth_panel.table[seed], float(prior[seed]), n_past, worlds[seed]),
            CRITICS,
            "world",
        )
        for seed in range(N_SEEDS)
    ]
    rate = np.array([item.base_rate for item in learned])
    panel = CriticPanel(NAMES, asked, np.stack([item.panel.table for item in learned]))

    def planned(believed_panel: CriticPanel) -> Array:
        believed = ship_or_quit(believed_panel, DecisionPayoffs(gain, loss, cost))
        return worth_of(optimal(believed), truth, both(prior), believed, both(rate))

    threshold = []
    for seed, item in enumerate(learned):
        payoffs = DecisionPayoffs(GAIN, 100.0, cost[seed])
        own = ship_or_quit(item.panel, payoffs)
        rule = single_threshold(
            own, item.base_rate, [item.panel.only((k,)).table for k in range(3)]
        ).policy(own)
        real = ship_or_quit(CriticPanel(NAMES, asked, truth_panel.table[seed]), payoffs)
        threshold.append(float(worth_of(rule, real, both(prior[seed]), own, both(rate[seed]))))
    plan, naive, single = planned(panel), planned(independent(panel)), np.array(threshold)
    optimum = best_value(truth, both(prior))
    return {
        "worth": {
            "never (quit)": interval(np.zeros(N_SEEDS)),
            "always verify": interval(GAIN * prior - cost),
            "ship": interval(GAIN * prior - 100 * (1 - prior)),
            "single threshold": interval(single),
            "plan, naive product": interval(naive),
            "ours": interval(plan),
            "optimum, true tables": interval(optimum),
        },
        "ours_less_single_threshold": interval(plan - single),
        "ours_less_naive": interval(plan - naive),
        "ours_less_naive_where_critics_repeat": interval((plan - naive)[rho == 1.0]),
        "worst_seed_less_threshold": round(float((plan - single).min()), 2),
        "regret_percent": percent(optimum, plan),
        "n_seeds": N_SEEDS,
        "seconds": time.process_time() - began,
    }


LABORATORY = (judge_critic("first judge", VERSION), judge_critic("second judge", VERSION), fit_critic(),
              recovery_critic(0.0, {}))  # fmt: skip


def beginning() -> dict[str, Any]:
    """By number of past candidates: what the plan, the single threshold and the panel's probability are worth."""
    began = time.process_time()
    worths: dict[int, list[tuple[float, float, float]]] = {n: [] for n in BEGINNING}
    for seed in range(N_SEEDS):
        rng = np.random.default_rng([6, seed])
        candidates = world_of_four(rng)
        past, past_won, _ = candidates(max(BEGINNING))
        levels, won, panel = candidates(N_FURTHER)
        worth = np.where(won, GAIN, 0.0) - PAYOFFS.cost
        for n in BEGINNING:
            heard = [
                CriticsHeard(
                    "world",
                    {
                        critic.name: int(level)
                        for critic, level in zip(LABORATORY, row, strict=True)
                    },
                    {critic.name: critic.version for critic in LABORATORY},
                    bool(favoured),
                    digest_of([index]),
                )
                for index, (row, favoured) in enumerate(zip(past[:n], past_won[:n], strict=True))
            ]
            learned = learn(heard, LABORATORY, "world")
            joint = learned.panel.table * both(np.array(learned.base_rate)).reshape(
                2, *[1] * len(LABORATORY)
            )
            belief = (joint[1] / joint.sum(axis=0))[tuple(levels.T)]
            problem = ship_or_quit(learned.panel, replace(PAYOFFS, refine_cost=None))
            tables = [learned.panel.only((critic,)).table for critic in range(len(LABORATORY))]
            rule = single_threshold(problem, learned.base_rate, tables)
            high = (
                np.full(N_FURTHER, True)
                if rule.critic is None
                else levels[:, rule.critic] >= rule.cut
            )
            asked = (
                belief > PAYOFFS.cost / GAIN,
                np.where(high, rule.above == VERIFY, rule.below == VERIFY),
                panel > 0,
            )
            plan, single, panels = (float((worth * taken).mean()) for taken in asked)
            worths[n].append((plan, single, panels))
    found = {}
    for n, rows in worths.items():
        plan, single, panel = np.array(rows).T
        found[str(n)] = {
            "worth": {
                "ours": interval(plan),
                "single threshold": interval(single),
                "panel": interval(panel),
            },
            "ours_less_single_threshold": interval(plan - single),
            "ours_less_panel": interval(plan - panel),
        }
    return {"past": found, "n_seeds": N_SEEDS, "seconds": time.process_time() - began}


def world_of_four(rng: np.random.Generator) -> Callable[[int], tuple[Array, Array, Array]]:
    """Draws candidates of one world: levels of the four critics, whether they win, and the panel's log odds."""
    apart, base_rate = rng.uniform(0, 2, 4), rng.uniform(0.15, 0.7)
    sureness, leaning, rho = (
        rng.uniform(0.5, 2, 2),
        rng.normal(0, 0.5, 2),
        rng.choice([0, 0.5, 0.9]),
    )
    factor = np.linalg.cholesky(np.where(np.eye(4) > 0, 1.0, rho))

    def candidates(n: int) -> tuple[Array, Array, Array]:
        won = rng.random(n) < base_rate
        signal = np.where(won, 0.5, -0.5)[:, None] * apart + rng.normal(size=(n, 4)) @ factor.T
        log_odds = sureness * apart[:2] * signal[:, :2] + leaning
        levels = [
            np.searchsorted(PROBABILITIES, expit(log_odds[:, judge]), side="right")
            for judge in (0, 1)
        ]
        levels += [np.searchsorted(STANDARD_ERRORS, signal[:, 2] + 1, side="right")]
        levels += [np.searchsorted(SHARES, norm.cdf(signal[:, 3] + 1), side="right")]
        return np.stack(levels, axis=1), won, log_odds.mean(axis=1)

    return candidates


def report(found: Mapping[str, Any]) -> str:
    """The tables as text."""
    lines = [
        f"table      {found['table']['ours']}, off by {found['table']['largest_difference']:.4f} at most"
    ]
    for payoff in RETRY:
        part = found["regimes"][payoff]
        lines.append(
            f"regimes    {payoff}: regret in percent of the optimum ({part['seconds']:.0f} s)"
        )
        lines += [f"  {name:28}{row['regret_percent']}" for name, row in part["table"].items()]
    for rho, row in found["dependence"]["rho"].items():
        ours, naive = row["ours"], row["naive product"]
        lines.append(
            f"dependence {rho}: optimum {row['optimum']}, naive {naive['worth']}, ours {ours['worth']}, share "
            f"{ours['share_of_optimum']}, calibration error {ours['calibration_error']} (naive "
            f"{naive['calibration_error']})"
        )
    for n, row in found["samples"].items():
        lines.append(
            f"samples    {n}: {row['worth']}; ours - threshold {row['ours_less_single_threshold']}"
        )
    for n, row in found["beginning"]["past"].items():
        lines.append(
            f"beginning  {n}: {row['worth']}; ours - threshold {row['ours_less_single_threshold']}"
        )
    return "\n".join(lines)


def main() -> None:
    found = {
        "table": table(),
        "regimes": {payoff: regimes(payoff) for payoff in RETRY},
        "dependence": dependence(),
        "samples": {str(n): samples(n) for n in SAMPLES},
        "beginning": beginning(),
    }
    RESULT.parent.mkdir(parents=True, exist_ok=True)
    RESULT.write_text(json.dumps({**provenance(), **found}, indent=1) + "\n")
    print(report(found))


if __name__ == "__main__":
    main()
