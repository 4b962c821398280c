"""Sentences: every clause of every domain, told over the whole range of its numbers, for somebody to read.

    python benchmarks/run.py theories/sentences [DOMAIN ...]

Each line is what a claim would say of people with numbers at the low limit, low, in the middle, high and at the high
limit, alike or different, and with a share of people on either side from hardly any to nearly all. Equal sentences are
printed once. Nothing is fitted and nothing is judged: whether a sentence is English, and true, is for a reader.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from statistics import NormalDist

import numpy as np

from lakatos.domains import FAMILIES
from lakatos.theories.language.account import PLACE, Wording, tell_clause
from lakatos.theories.language.grammar import Grammar, Mechanism
from lakatos.theories.language.prior import Prior, parse_prior

PLACES = (0.0, 0.1, 0.5, 0.9, 1.0)
"""Of a declared range, at which people's centre is put."""
SPREADS = (0.003, 0.2)
"""Of a declared range: people who are alike, and people who differ."""
SHARES = (0.02, 0.2, 0.4, 0.6, 0.8, 0.98)
"""Of people above the null value."""


def learned(prior: Prior, place: float, spread: float) -> Prior:
    """A population whose centre lies at a place of the declared range."""
    low, high = prior.latent(np.array([prior.low, prior.high]))
    return prior.narrowed(float(low + place * (high - low)), float(spread * (high - low)))


def on_both_sides(prior: Prior, null: float, share: float) -> Prior | None:
    """A population of which this share lies above the null value; None where the range does not reach both sides."""
    if not prior.low < null < prior.high:
        return None
    low, high, middle = (float(x) for x in prior.latent(np.array([prior.low, prior.high, null])))
    spread = 0.1 * min(high - low, 4 * (middle - low), 4 * (high - middle))
    center = min(max(middle + spread * NormalDist().inv_cdf(share), low), high)
    return prior.narrowed(center, spread)


def populations(clause: Wording, priors: Mapping[str, Prior]) -> Iterator[dict[str, Prior]]:
    """Populations over the ranges of the numbers that a clause speaks of."""
    yield dict(priors)
    names = (
        [clause.parameter]
        if clause.parameter
        else [item["name"] for item in PLACE.finditer(clause.clause)]
    )
    for spread in SPREADS:
        for place in PLACES if clause.parameter else (0.0, 0.3):
            told = {name: learned(priors[name], place, spread) for name in names}
            # Other numbers that the clause mentions: alike, in the middle of their ranges.
            others = {name: learned(prior, 0.5, SPREADS[0]) for name, prior in priors.items()}
            yield others | told
    if clause.parameter and clause.opposite_clause:
        for share in SHARES:
            found = on_both_sides(priors[clause.parameter], clause.neutral, share)
            if found is not None:
                others = {name: learned(prior, 0.5, SPREADS[0]) for name, prior in priors.items()}
                yield others | {clause.parameter: found}


def sentences(grammar: Grammar, mechanism: Mechanism) -> Iterator[str]:
    """What the clauses of a mechanism say, each sentence once."""
    priors = {name: parse_prior(name, prior) for name, prior in mechanism.parameters.items()}
    every = {
        name: parse_prior(name, prior)
        for item in grammar.mechanisms
        for name, prior in item.parameters.items()
    }
    for clause in mechanism.wordings:
        names = {item["name"] for item in PLACE.finditer(clause.clause + clause.opposite_clause)}
        needed = {clause.parameter, clause.multiplied_by, *names} - {"", "much", "far", "who"}
        own = priors | {name: every[name] for name in needed if name in every}
        told = [tell_clause(clause, people) for people in populations(clause, own)]
        lines = [item.text if item.of_some else f"people {item.text}" for item in told]
        yield from dict.fromkeys(lines)


def main() -> None:
    """Print the sentences of the domains named, or of all."""
    for domain in sys.argv[1:] or FAMILIES:
        grammar = FAMILIES[domain].grammar
        for mechanism in grammar.mechanisms:
            print(f"\n{domain}, {mechanism.slot}: {mechanism.name}")
            for line in sentences(grammar, mechanism):
                print(f"    {line}")
