"""Facts about a theory for pages: its parameters, its program, its origin, and an example of its predictions."""

from __future__ import annotations

import io
import keyword
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from markupsafe import Markup, escape
from numpy.typing import NDArray

from lakatos.experiments.interval import LEAST_UNITS
from lakatos.experiments.task import Domain
from lakatos.flows.report.equations import equations_of
from lakatos.flows.report.family_tree import origin
from lakatos.flows.report.figures import theory_scatter
from lakatos.flows.report.formats import figures3
from lakatos.flows.report.reader import (
    RunReading,
    clean,
    option_label,
    scattered_option,
)
from lakatos.theories.language.account import at_limit, is_as_declared, is_at_high
from lakatos.theories.language.family import find_family
from lakatos.theories.language.population_interval import (
    EstimateInterval,
    median_of,
    sd_of,
    share_above,
)
from lakatos.theories.language.prior import Prior
from lakatos.theories.language.theory import Theory
from lakatos.traces.digest import Digest

Array = NDArray[np.float64]
LEAST_APART = 0.05
"""Difference of predicted proportions below which a trial is no example of a difference between theories."""
LEAST_SHARE = 1e-6
"""Predicted shares below it are taken for it."""


@dataclass(frozen=True)
class ParameterRow:
    """A parameter, and how it differs between participants."""

    name: str
    prior: Prior
    words: str
    median: str
    sd: str
    """Standard deviation of the population."""


def parameter_rows(theory: Theory, n_people: int) -> Iterator[ParameterRow]:
    """The parameters of a theory, in the order in which it declares them.

    Args:
        theory: The theory with its population.
        n_people: Participants from whom it was estimated; 0 where they cannot be told apart.
    """
    neutral = {one.parameter: one.neutral for one in theory.clauses if one.opposite_clause}
    for name, prior in theory.priors.items():
        is_estimated = not prior.idle and prior.kind in ("normal", "log_normal")
        sd = f"{estimate_in_words(sd_of(prior, n_people))}{' (ln)' if prior.is_log else ''}"
        yield ParameterRow(
            name,
            prior,
            prior_words(prior, pooled=theory.pooled)
            + (side_in_words(prior, neutral[name], n_people) if name in neutral else ""),
            estimate_in_words(median_of(prior, n_people)),
            sd if is_estimated and not theory.pooled else "–",
        )


def estimate_in_words(found: EstimateInterval) -> str:
    """An estimate to three significant figures, with its interval in brackets where there is one."""
    if found.interval is None:
        return figures3(found.value)
    low, high = map(figures3, found.interval)
    return f"{figures3(found.value)} [{low}, {high}]"


def side_in_words(prior: Prior, neutral: float, n_people: int) -> str:
    """The proportion of a population above the value at which a parameter has no effect, where it is known."""
    found = share_above(prior, neutral, n_people)
    if found.interval is None:
        return ""
    low, high = found.interval
    return f"; {found.value:.0%} [{low:.0%}, {high:.0%}] above {figures3(neutral)} (no effect)"


def n_behind_populations(reading: RunReading) -> int:
    """Participants from whom populations were estimated; 0 if only counts of responses are known."""
    collected = [item.record for item in reading.state.experiments.collected.values()]
    if any(item.pooled for item in collected):
        return 0
    return sum(item.n_people or item.n_participants for item in collected)


def prior_words(prior: Prior, *, pooled: bool = False) -> str:
    """A population in words: what the middle 80% of people have, or what is open about a value that all share."""
    if prior.idle:
        return "not estimated: no presented trial depends on it"
    if prior.kind in ("uniform", "log_uniform"):
        return f"declared: anywhere from {figures3(prior.low)} to {figures3(prior.high)}"
    low, middle, high = (figures3(value) for value in prior.quantile(np.array([0.1, 0.5, 0.9])))
    limit = ""
    if at_limit(prior):
        side, end = ("upper", prior.high) if is_at_high(prior) else ("lower", prior.low)
        limit = (
            f"; its location before truncation is estimated at the {side} limit, {figures3(end)}"
        )
    if is_as_declared(prior):
        limit = f"; about as wide as the declared range ({figures3(prior.low)} to {figures3(prior.high)})"
    if pooled:
        return f"about {middle} for all participants; middle 80% of its uncertainty: {low} to {high}{limit}"
    return f"middle 80% of the population: {low} to {high}{limit}"


_COLOURED = {tokenize.STRING: "str", tokenize.NUMBER: "num", tokenize.COMMENT: "com"}
"""Classes of tokens that are marked, beside keywords."""


def coloured(source: str) -> Markup:
    """Python source with keywords, strings, numbers and comments marked; plain where it cannot be read."""
    starts = np.cumsum([0, *(len(line) + 1 for line in source.split("\n"))])
    span = Markup('<span class="{}">{}</span>')
    parts, done = [], 0
    try:
        for token in tokenize.generate_tokens(io.StringIO(source).readline):
            kind = _COLOURED.get(token.type, "")
            if token.type == tokenize.NAME and keyword.iskeyword(token.string):
                kind = "kw"
            if kind:
                begin = int(starts[token.start[0] - 1]) + token.start[1]
                end = int(starts[token.end[0] - 1]) + token.end[1]
                parts += [escape(source[done:begin]), span.format(kind, source[begin:end])]
                done = end
    except (tokenize.TokenError, SyntaxError):
        return escape(source)
    return Markup("").join([*parts, escape(source[done:])])


def program_of(reading: RunReading, theory: Digest) -> Markup:
    """The program of a theory that passed its checks, coloured."""
    return coloured(clean(reading.theory(theory).program.source))


def winner_facts(reading: RunReading) -> dict[str, Any] | None:
    """The leading theory: parameters, source, and its predictions beside the choices."""
    leader = reading.leader
    if leader is None:
        return None
    theory = reading.theory(leader)
    known = reading.state.theories.checked[leader].record
    parts = [name for names in (theory.composition or {}).values() for name in names]
    details = [
        item.statement
        for item in theory.account().clauses
        if item.is_detail and not item.idle and item.text not in theory.claim
    ]
    standings = (line for line in reading.board.standings if line.theory == leader)
    return {
        "digest": leader,
        "theory": theory,
        "known": known,
        "origin": origin(known.author),
        "published": published_form(reading, leader),
        "parameters": list(parameter_rows(theory, n_behind_populations(reading))),
        "source": program_of(reading, leader),
        "equations": [clean(line) for line in equations_of(theory.program.source)],
        "code_name": " + ".join(parts),
        "n_clauses": len(stated_mechanisms(theory, reading.domain)),
        "shown": _tried_clauses(reading),
        "details": details,
        "example": example_trial(reading, leader),
        "scatter": theory_scatter(reading, leader),
        "option": scattered_option(reading),
        "standing": next(standings, None),
    }


def published_form(reading: RunReading, theory: Digest) -> str:
    """The title of the published theory whose form another theory has; empty if its form is new, or its own name."""
    renewed = reading.state.theories.told
    title = renewed.record.published.get(theory, "") if renewed else ""
    return "" if title == reading.label(theory).name else title


def stated_mechanisms(theory: Theory, domain: Domain) -> frozenset[str]:
    """Mechanisms of a theory that state something; random choices and choice without noise do not."""
    null = {
        (item.slot, item.name) for item in find_family(domain).grammar.mechanisms if item.is_null
    }
    slots = theory.composition or {}
    return frozenset(
        name for slot, names in slots.items() for name in names if (slot, name) not in null
    )


def _tried_clauses(reading: RunReading) -> list[str]:
    """State the results of trying the leader's clauses at the verdict; empty before it."""
    renewed = reading.state.theories.told
    if renewed is None or renewed.record.leader != reading.leader:
        return []
    return [text.removeprefix("the claim says: ") for text in renewed.record.tried]


@dataclass(frozen=True)
class FavouringTrial:
    """A trial whose responses favour one theory over another."""

    experiment: str
    row: int
    own: Array
    """``(n_options,)`` shares that the theory predicts, with parameters estimated from all responses."""
    other: Array
    nats: float


def nats_in_favour(own: Array, other: Array, counts: Array) -> Array:
    """``(n_trials,)`` log likelihood ratio of two theories, at their predicted shares.

    Args:
        own: ``(n_trials, n_options)`` shares that the favoured theory predicts.
        other: Shares that the other theory predicts.
        counts: Responses.
    """
    ratio = np.log(np.clip(own, LEAST_SHARE, 1)) - np.log(np.clip(other, LEAST_SHARE, 1))
    return np.asarray((counts * ratio).sum(axis=1))


def favouring_trials(reading: RunReading, leader: Digest, rival: Digest) -> list[FavouringTrial]:
    """Trials with ten responses or more that favour the leader over a rival, the one that does most first."""
    scores, found = reading.state.theories.scores, list[FavouringTrial]()
    for name in reading.state.experiments.collected:
        pair = [scores.get((theory, name)) for theory in (leader, rival)]
        trials = reading.trials(name)
        if pair[0] is None or pair[1] is None:
            continue
        predicted = [np.asarray(item.record.proportions) for item in pair if item]
        shares = [values.reshape(len(trials.stimuli), -1) for values in predicted]
        own, other = (
            np.hstack([1 - item, item]) if item.shape[1] == 1 else item for item in shares
        )
        gain = nats_in_favour(own, other, trials.totals)
        rows = np.flatnonzero((gain > 0) & (trials.totals.sum(axis=1) >= LEAST_UNITS))
        found += [
            FavouringTrial(name, int(row), own[row], other[row], float(gain[row])) for row in rows
        ]
    return sorted(found, key=lambda item: -item.nats)


def example_trial(reading: RunReading, leader: Digest) -> dict[str, Any] | None:
    """The trial that favours the leader most over the best first rival; None if they hardly differ."""
    rival = reading.first_rival
    favouring = [] if rival is None else favouring_trials(reading, leader, rival)
    if rival is None or not favouring:
        return None
    name, row = favouring[0].experiment, favouring[0].row
    own, other = favouring[0].own, favouring[0].other
    trials = reading.trials(name)
    option = trials.stimuli.take([row]).last_available(trials.n_options)
    if abs(own[option] - other[option]) < LEAST_APART:
        return None
    return {
        "experiment": name,
        "picture": Markup(reading.domain.picture(trials.stimuli, row)),
        "words": reading.domain.describe(trials.stimuli, row),
        "option": option_label(reading.domain, option),
        "predicted": f"{own[option]:.0%}",
        "rival": rival,
        "by_rival": f"{other[option]:.0%}",
        "n_responses": int(trials.totals[row].sum()),
        "n_chose": int(trials.totals[row, option]),
        "rival_claim": reading.theory(rival).claim,
    }
