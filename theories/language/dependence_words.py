"""Wording of how people's parameters depend on what is known of them: a sentence with numbers after a claim."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from lakatos.theories.language.account import TheoryAccount
from lakatos.theories.language.dependence import Dependence
from lakatos.theories.language.prior import Prior

SURE = 1.96
"""Standard errors by which an effect must differ from 0 for its direction to be told."""


def with_dependences(account: TheoryAccount, priors: Mapping[str, Prior]) -> TheoryAccount:
    """Add to a theory's account on what each parameter depends, with the estimates of the dependence."""
    clauses = [
        _sentence(name, prior, place, one)
        for name, prior in priors.items()
        for place, one in enumerate(prior.depends_on)
        if not prior.idle
    ]
    return replace(account, claim=" ".join([account.claim, *clauses])) if clauses else account


def _sentence(name: str, prior: Prior, place: int, one: Dependence) -> str:
    """One dependence in words: what it may be, whether anything is shown, and at which numbers."""
    whose = f"{name} ({prior.meaning})" if prior.meaning else name
    if prior.own is None:
        return f"Their {whose} may depend on {one.in_words}."

    # How strongly it depends, in shares of the declared range.
    effect, error = prior.own.effects[place], prior.own.errors[place]
    low, high = effect - SURE * error, effect + SURE * error
    interval = f"effect {effect:+.2g} of the range, 95% interval {low:+.2g} to {high:+.2g}"
    if low <= 0 <= high:
        return f"Whether their {whose} depends on {one.in_words} is open: {interval}."

    # The median person of a group and of the others, or on both sides of the mean.
    if one.group:
        side = "higher" if effect > 0 else "lower"
        numbers = f"{_median(prior, effect):.3g}, else {_median(prior, 0.0):.3g}"
        return (
            f"Their {whose} is {side} where {one.attribute} is {one.group}: {numbers}; {interval}."
        )
    side = "rises" if effect > 0 else "falls"
    before, after = (_median(prior, times * effect) for times in (-1, 1))
    numbers = f"{before:.3g} at {one.around - one.per:g}, {after:.3g} at {one.around + one.per:g}"
    return f"Their {whose} {side} with {one.attribute}: {numbers}; {interval} for {one.per:g} more."


def _median(prior: Prior, moved: float) -> float:
    """The value of the middle one of people whose center is moved so far from that without effects."""
    assert prior.own is not None
    low, high = prior.latent(np.array([prior.low, prior.high]))
    center = np.clip(prior.own.center + moved, 0.0, 1.0)
    own = prior.narrowed(float(low + (high - low) * center), float((high - low) * prior.own.spread))
    return float(own.quantile(np.array([0.5]))[0])
