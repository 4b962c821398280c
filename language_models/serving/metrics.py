"""Metrics of a server about itself: Prometheus text, read into numbers.

Counters only grow, and start at nought when a server is restarted; what happened between two looks is their difference.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

import httpx

_SAMPLE: Final = re.compile(r"^([a-zA-Z_:][\w:]*)(?:\{(.*)\})?\s+(\S+)(?:\s+-?\d+)?$")
_LABEL: Final = re.compile(r'(\w+)="((?:[^"\\]|\\.)*)"')

Labels = tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class ServerMetrics:
    """Samples by name and labels."""

    samples: Mapping[tuple[str, Labels], float] = field(default_factory=dict)

    def __bool__(self) -> bool:
        """Whether the server reported anything at all."""
        return bool(self.samples)

    def total(self, name: str, **labels: str) -> float:
        """Sum over all samples of this name that have these labels; 0 if there is none."""
        wanted = set(labels.items())
        return math.fsum(
            value
            for (found, have), value in self.samples.items()
            if found == name and wanted <= set(have)
        )

    def by_label(self, name: str, label: str) -> dict[str, float]:
        """Sums of a name's samples by the value of one label."""
        values = dict.fromkeys(
            (
                value
                for (found, have), _ in self.samples.items()
                if found == name
                for key, value in have
                if key == label
            )
        )
        return {value: self.total(name, **{label: value}) for value in values}

    def since(self, earlier: ServerMetrics) -> ServerMetrics:
        """Return what was counted after ``earlier``; gauges lose their meaning."""
        return ServerMetrics(
            {key: value - earlier.samples.get(key, 0.0) for key, value in self.samples.items()}
        )

    def quantile(self, name: str, share: float) -> float:
        """A quantile of a histogram, linear within its bucket; NaN where nothing was counted.

        Args:
            name: Name without ``_bucket``.
            share: Share between 0 and 1.

        Returns:
            The quantile; the largest finite bound where it lies beyond that.
        """
        bounds = sorted(
            (float(key), value) for key, value in self.by_label(f"{name}_bucket", "le").items()
        )
        if not bounds or bounds[-1][1] <= 0:
            return math.nan
        wanted, below, lower = share * bounds[-1][1], 0.0, 0.0
        for bound, count in bounds:
            if count >= wanted and count > below:
                if math.isinf(bound):
                    return lower
                return lower + (bound - lower) * (wanted - below) / (count - below)
            below, lower = count, bound
        return lower


def parse_metrics(text: str) -> ServerMetrics:
    """Read Prometheus's text format; lines that are none of its samples are passed over."""
    found: dict[tuple[str, Labels], float] = {}
    for line in text.splitlines():
        if line.startswith("#") or not (match := _SAMPLE.match(line.strip())):
            continue
        try:
            value = float(match[3])
        except ValueError:
            continue
        labels = tuple(
            sorted((name, _unescape(text)) for name, text in _LABEL.findall(match[2] or ""))
        )
        found[match[1], labels] = value
    return ServerMetrics(found)


def metrics_url(base_url: str) -> str:
    """Return the address at which the server of an OpenAI address shows its metrics."""
    return base_url.rstrip("/").removesuffix("/v1") + "/metrics"


async def read_metrics(base_url: str, client: httpx.AsyncClient) -> ServerMetrics:
    """The metrics of a server; empty where it shows none."""
    try:
        response = await client.get(metrics_url(base_url))
    except httpx.HTTPError:
        return ServerMetrics()
    return parse_metrics(response.text) if response.status_code == 200 else ServerMetrics()


def _unescape(text: str) -> str:
    return re.sub(r"\\(.)", lambda found: "\n" if found[1] == "n" else found[1], text)
