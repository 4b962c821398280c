"""Declared priors as the literals that sources hold, one line each, and the unit in which log odds are judged."""

from __future__ import annotations

from typing import Any

Literal = dict[str, Any]
LOG_ODDS = 0.5
"""A pull of so many log odds deserves its clause: it moves one choice in eight."""


def uniform(low: float, high: float, unit: str, meaning: str) -> Literal:
    """All values between the limits alike."""
    return {"prior": "uniform", "low": low, "high": high, "unit": unit, "meaning": meaning}


def log_uniform(low: float, high: float, unit: str, meaning: str) -> Literal:
    """All ratios between the limits alike."""
    return {"prior": "log_uniform", "low": low, "high": high, "unit": unit, "meaning": meaning}


def normal(mean: float, sd: float, limit: float, unit: str, meaning: str) -> Literal:
    """A normal truncated to ``limit`` on both sides of zero."""
    return {
        "prior": "normal",
        "mean": mean,
        "sd": sd,
        "low": -limit,
        "high": limit,
        "unit": unit,
        "meaning": meaning,
    }
