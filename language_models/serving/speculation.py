"""Whether speculative decoding pays, measured on the study's own prompts, with it and without.

Drafted tokens that are accepted are won, those that are not were computed in vain, and a server that is kept busy by
many requests has nothing to spare for them. So acceptance alone decides nothing: latency under the study's load does.

The rule, for a study's mix of prompts (`recommend`):

- **drop** when calls fail with it that do not without;
- **keep** when the ratio of mean latencies, with to without, lies below 1 by its whole 95 % interval, and the 99th
  percentile is at most a tenth worse;
- **smaller** when it does not, but at least 60 % of the drafted tokens are accepted: drafts are good and cost too much,
  so a smaller model that drafts, or fewer tokens at a time, may pay;
- **drop** otherwise.

References:
    Leviathan, Kalman & Matias (2023), Fast inference from transformers via speculative decoding.
    Efron & Tibshirani (1993), An Introduction to the Bootstrap, chapter 13 (percentile intervals).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

import numpy as np

from lakatos.language_models.serving.load import http_client, quantiles_s, time_calls, variants
from lakatos.language_models.serving.metrics import ServerMetrics, read_metrics
from lakatos.language_models.serving.shape import PromptShape
from lakatos.language_models.settings import ModelSettings

Array = np.ndarray[Any, np.dtype[np.float64]]
Advice = Literal["keep", "smaller", "drop"]
GOOD_ACCEPTANCE: Final = 0.6
WORST_TAIL: Final = 1.1
"""Largest ratio of 99th percentiles that is put up with."""


@dataclass(frozen=True)
class DraftAcceptance:
    """What became of drafted tokens."""

    n_drafts: int
    n_drafted: int
    """Tokens."""
    n_accepted: int
    by_position: tuple[float, ...] = ()
    """Share of drafts whose first, second, ... token was accepted."""

    @property
    def rate(self) -> float:
        """Share of the drafted tokens that was accepted; NaN where nothing was drafted."""
        return self.n_accepted / self.n_drafted if self.n_drafted else math.nan

    @property
    def tokens_per_step(self) -> float:
        """Tokens that one step of the large model yields where it was given a draft; NaN where it never was."""
        return 1 + self.n_accepted / self.n_drafts if self.n_drafts else math.nan


@dataclass(frozen=True)
class CallLatencies:
    """Calls of one type of prompt, under the study's load."""

    role: str
    share: float
    """Of the study's calls."""
    total_s: tuple[float, ...]
    """Of each call that was answered."""
    n_tokens: int
    """Of all answers."""
    n_failed: int
    acceptance: DraftAcceptance

    @property
    def median_s(self) -> float:
        """Median time of a call in seconds."""
        return quantiles_s(self.total_s, (0.5,))[0]

    @property
    def p99_s(self) -> float:
        """The 99th percentile of a call's time in seconds."""
        return quantiles_s(self.total_s, (0.99,))[0]


@dataclass(frozen=True)
class SpeculationVerdict:
    """What to do, and why."""

    advice: Advice
    ratio: float
    """Mean latency with speculation to that without, over the study's mix."""
    interval: tuple[float, float]
    """95 % of resampled ratios."""
    tail_ratio: float
    """Of the 99th percentiles over the study's mix."""
    acceptance: float
    """Share of drafted tokens."""
    reason: str


def acceptance_of(counted: ServerMetrics) -> DraftAcceptance:
    """Acceptance from what a server counted between two looks."""
    name = "vllm:spec_decode_num_{}_total"
    n_drafts = counted.total(name.format("drafts"))
    positions = counted.by_label(name.format("accepted_tokens_per_pos"), "position")
    by_position = (
        tuple(positions[key] / n_drafts for key in sorted(positions, key=int)) if n_drafts else ()
    )
    return DraftAcceptance(
        int(n_drafts),
        int(counted.total(name.format("draft_tokens"))),
        int(counted.total(name.format("accepted_tokens"))),
        by_position,
    )


async def measure(
    settings: ModelSettings, shapes: Sequence[PromptShape], *, n_calls: int, n_in_flight: int
) -> list[CallLatencies]:
    """Ask each shape's prompt under many seeds, one shape after the other, so that counts belong to one shape.

    Args:
        settings: Of a model behind a server that nobody else asks meanwhile.
        shapes: The study's prompts, with their shares.
        n_calls: For each shape.
        n_in_flight: At the same time, as in the study.
    """
    found = []
    async with http_client(settings) as client:
        for shape in shapes:
            await time_calls(
                client, settings, variants(shape.request, 2), 2
            )  # grammars and prefixes are made once
            before = await read_metrics(settings.base_url, client)
            calls, _ = await time_calls(
                client, settings, variants(shape.request, n_calls), n_in_flight
            )
            after = await read_metrics(settings.base_url, client)
            good = [call for call in calls if not call.error]
            found.append(
                CallLatencies(
                    shape.role,
                    shape.share,
                    tuple(call.total_s for call in good),
                    sum(call.n_tokens for call in good),
                    len(calls) - len(good),
                    acceptance_of(after.since(before)),
                )
            )
    return found


def recommend(
    without: Sequence[CallLatencies],
    with_it: Sequence[CallLatencies],
    rng: np.random.Generator,
    n_resamples: int = 4000,
) -> SpeculationVerdict:
    """Apply the rule of this module.

    Args:
        without: Each shape without speculation.
        with_it: The same shapes, in the same order, with it.
        rng: Resamples calls within each shape.
        n_resamples: Of the bootstrap.

    Raises:
        ValueError: The two differ in their shapes, or a shape has no answered call.
    """
    if [item.role for item in without] != [item.role for item in with_it]:
        raise ValueError(
            "measured with and without speculation are different shapes; measure the same ones"
        )
    if empty := [item.role for item in (*without, *with_it) if not item.total_s]:
        raise ValueError(f"no call of {', '.join(empty)} was answered; there is nothing to compare")
    share = np.array([item.share for item in without]) / sum(item.share for item in without)
    ratio = _mix(with_it, share) / _mix(without, share)
    resampled = _resampled(with_it, share, rng, n_resamples) / _resampled(
        without, share, rng, n_resamples
    )
    low, high = (float(value) for value in np.quantile(resampled, [0.025, 0.975]))
    tail = _tail(with_it, share) / _tail(without, share)
    accepted = _pooled(with_it)
    figures = f"latency x{ratio:.2f} ({low:.2f} to {high:.2f}), 99th percentile x{tail:.2f}, {accepted:.0%} accepted"
    advice: Advice = "drop"
    lost = [
        item.role
        for item, off in zip(with_it, without, strict=True)
        if item.n_failed > off.n_failed
    ]
    if lost:
        why = f"calls of {', '.join(lost)} fail with it that do not without"
    elif high < 1 and tail <= WORST_TAIL:
        advice, why = "keep", "calls are faster and the slowest are not much slower"
    elif accepted >= GOOD_ACCEPTANCE:
        advice, why = (
            "smaller",
            "drafts are good but cost more than they save: draft fewer tokens or with less",
        )
    elif math.isnan(accepted):
        figures, why = (
            figures.replace("nan% accepted", "nothing drafted"),
            "it did not draft anything on these prompts",
        )
    else:
        why = "calls are not faster beyond chance, or the slowest are slower, and few drafts are accepted"
    return SpeculationVerdict(advice, ratio, (low, high), tail, accepted, f"{why} ({figures})")


def _mix(measured: Sequence[CallLatencies], share: Array) -> float:
    return float(share @ [np.mean(item.total_s) for item in measured])


def _resampled(
    measured: Sequence[CallLatencies],
    share: Array,
    rng: np.random.Generator,
    n: int,
) -> Array:
    means = [
        rng.choice(np.asarray(item.total_s), (n, len(item.total_s))).mean(axis=1)
        for item in measured
    ]
    found: Array = share @ np.stack(means)
    return found


def _tail(measured: Sequence[CallLatencies], share: Array) -> float:
    """99th percentile of the mix: each call weighs its shape's share over the shape's number of calls."""
    values = np.concatenate([item.total_s for item in measured])
    weights = np.concatenate(
        [
            np.full(len(item.total_s), s / len(item.total_s))
            for item, s in zip(measured, share, strict=True)
        ]
    )
    order = np.argsort(values)
    place = np.searchsorted(np.cumsum(weights[order]), 0.99 * weights.sum())
    return float(values[order][min(place, values.size - 1)])


def _pooled(measured: Sequence[CallLatencies]) -> float:
    n_drafted = sum(item.acceptance.n_drafted for item in measured)
    return (
        sum(item.acceptance.n_accepted for item in measured) / n_drafted if n_drafted else math.nan
    )


def table(
    without: Sequence[CallLatencies], with_it: Sequence[CallLatencies]
) -> list[Mapping[str, str]]:
    """One row for each shape, as text."""
    return [
        {
            "role": off.role,
            "median s, without": f"{off.median_s:.3f}",
            "with": f"{on.median_s:.3f}",
            "99th percentile s, without": f"{off.p99_s:.3f}",
            "with it": f"{on.p99_s:.3f}",
            "accepted": f"{on.acceptance.rate:.1%} of {on.acceptance.n_drafted}",
            "tokens per step": f"{on.acceptance.tokens_per_step:.2f}",
            "failed": f"{off.n_failed} / {on.n_failed}",
        }
        for off, on in zip(without, with_it, strict=True)
    ]
