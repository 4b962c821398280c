"""Levels, numbers and timed responses, short enough for a prompt: quantiles by condition, and what theories predict.

A share for each of dozens of outcomes says little on a single trial. Trials that are alike are therefore taken together
by each of their properties, for participants and for theories in the same way.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from lakatos.experiments.answer_scale import AnswerScale, scale_of
from lakatos.experiments.participants.timed_answer import RIGHT, WRONG
from lakatos.experiments.task import Domain, Stimuli, Trials
from lakatos.theories.discovery.roles.exhibit import PREDICTED, Exhibit, rounded
from lakatos.theories.discovery.roles.typed_claim import PEOPLE, facts_in
from lakatos.traces.digest import Digest

Floats = NDArray[np.float64]
FEW: Final = 6
"""Outcomes up to which the share of each is shown."""
MOST_LEVELS: Final = 4
"""Different values of a property up to which each is a condition of its own; of more, thirds are."""
MOST_CONDITIONS, MOST_CONDITIONS_OF_THEORY = 12, 5
"""Conditions of which responses are shown, beside all trials together, and predictions of each theory."""
LEAST: Final = 20
"""Responses from which on quantiles are shown."""
QUANTILES: Final = (0.1, 0.5, 0.9)
N_PARTS: Final = 5
"""Parts of the times in which accuracy is shown, and of the range in which shares are."""


def shown_scale(domain: Domain) -> AnswerScale | None:
    """The scale of responses that are shown by their quantiles; None where the share of each outcome is shown."""
    scale = scale_of(domain)
    return scale if scale is not None and scale.n_outcomes > FEW else None


def people_on_scale(
    domain: Domain, trials: Trials, digest: Digest, name: str, place: int
) -> Exhibit:
    """Quantiles of participants' responses by condition; the same in every cycle.

    Args:
        domain: Domain of the trials; with a `shown_scale`.
        trials: Trials of one experiment.
        digest: Digest of the record of the responses.
        name: Name of the experiment.
        place: Place of the experiment among those of the study, from 1 on.
    """
    value = _by_condition(domain, trials, trials.totals, MOST_CONDITIONS)
    facts = tuple(replace(fact, of=PEOPLE, experiment=name) for fact in facts_in(value))
    return Exhibit(f"experiment {name}: responses by condition", value, digest, facts, place)


def theories_on_scale(
    domain: Domain, trials: Trials, digest: Digest, predicted: Mapping[str, Floats], name: str
) -> Exhibit:
    """The same of what theories with learned populations predict of an experiment.

    Args:
        domain: Domain of the trials; with a `shown_scale`.
        trials: Trials of one experiment.
        digest: Digest of the record of the responses.
        predicted: ``(n_trials, n_outcomes)`` shares, by the theory's name.
        name: Name of the experiment.
    """
    n = trials.totals.sum(axis=1)[:, None]
    value = {
        of: _by_condition(domain, trials, shares * n, MOST_CONDITIONS_OF_THEORY)
        for of, shares in predicted.items()
    }
    facts = tuple(
        replace(fact, of=of, experiment=name) for of, own in value.items() for fact in facts_in(own)
    )
    return Exhibit(
        f"predictions in experiment {name}, by condition", value, digest, facts, PREDICTED
    )


def on_average(scale: AnswerScale, shares: Floats) -> dict[str, float]:
    """The mean response of ``(n_outcomes,)`` shares; of timed ones the share that is right, and the median time."""
    if not np.isfinite(shares).all() or shares.sum() <= 0:
        return {}
    if scale.kind != "timed":
        return {f"mean response{_unit(scale)}": rounded(float(shares @ np.array(scale.places)))}
    own = shares.reshape(len(scale.options), scale.n_bins)
    middle = _quantiles(np.array(scale.edges), own.sum(axis=0), (0.5,))[0]
    return {"share right": rounded(own[RIGHT].sum() / own.sum()), "median time (s)": middle}


def average_text(scale: AnswerScale, shares: Floats) -> str:
    """`on_average` as a cell of a table, headed by `average_words`."""
    return " ".join(f"{value:g}" for value in on_average(scale, shares).values()) or "?"


def average_words(scale: AnswerScale) -> str:
    """Explain the numbers of `average_text`."""
    return (
        "share right and median time (s)"
        if scale.kind == "timed"
        else f"mean response{_unit(scale)}"
    )


def _by_condition(domain: Domain, trials: Trials, counts: Floats, most: int) -> dict[str, Any]:
    """Summarise ``(n_trials, n_outcomes)`` numbers of responses, on all trials and on those that are alike."""
    scale = scale_of(domain)
    assert scale is not None
    found = {"all trials": _summary(scale, counts.sum(axis=0), whole=True)}
    n_responses = trials.totals.sum(axis=1)
    for words, rows in _conditions(domain, trials.stimuli):
        if n_responses[rows].sum() >= LEAST and len(found) <= most:
            found[words] = _summary(scale, counts[rows].sum(axis=0))
    return found


def _conditions(domain: Domain, stimuli: Stimuli) -> Iterator[tuple[str, NDArray[np.bool_]]]:
    """Trials that have the same value of a property, or whose values lie in the same third."""
    seen: set[bytes] = set()
    for name, values in domain.features(stimuli).items():
        own = np.asarray(values, dtype=np.float64)
        levels = np.unique(own)
        if len(levels) < 2 or not np.isfinite(own).all():
            continue
        found = [(f"{name} {level:.3g}", own == level) for level in levels]
        if len(levels) > MOST_LEVELS:
            low, high = np.quantile(own, [1 / 3, 2 / 3])
            found = [
                (f"{name} up to {low:.3g}", own <= low),
                (f"{name} above {high:.3g}", own > high),
            ]
        for words, rows in found:
            if rows.any() and rows.tobytes() not in seen:
                seen.add(rows.tobytes())
                yield words, rows


def _summary(scale: AnswerScale, counts: Floats, *, whole: bool = False) -> dict[str, Any]:
    """Summarise ``(n_outcomes,)`` numbers of responses; with ``whole``, by part of the times or of the range."""
    found: dict[str, Any] = {"responses": round(float(counts.sum()))}
    found |= on_average(scale, counts / max(counts.sum(), 1e-300))
    if scale.kind == "timed":
        edges, own = np.array(scale.edges), counts.reshape(len(scale.options), scale.n_bins)
        for option, words in ((RIGHT, "right"), (WRONG, "wrong")):
            if own[option].sum() >= LEAST:
                found[f"{words} by (s)"] = _named(_quantiles(edges, own[option], QUANTILES))
        if whole:
            found["share right, by fifth of the times"] = _accuracy_by_part(own)
        return found
    places = np.array(scale.places)
    shares = counts / max(counts.sum(), 1e-300)
    found["standard deviation"] = rounded(float(np.sqrt(shares @ (places - shares @ places) ** 2)))
    if whole:
        ends = np.linspace(places[0], places[-1], N_PARTS + 1)
        part = np.clip(np.searchsorted(ends, places, side="right") - 1, 0, N_PARTS - 1)
        found["share in each fifth of the range"] = [
            rounded(float(own)) for own in np.bincount(part, shares, N_PARTS)
        ]
    return found


def _quantiles(edges: Floats, counts: Floats, levels: tuple[float, ...]) -> list[float]:
    """Quantiles of numbers of which each bin's count is known, evenly spread within it."""
    reached = np.concatenate([[0.0], np.cumsum(counts)]) / counts.sum()
    return [rounded(float(np.interp(level, reached, edges))) for level in levels]


def _named(quantiles: list[float]) -> dict[str, float]:
    return {f"{level:.0%}": time for level, time in zip(QUANTILES, quantiles, strict=True)}


def _accuracy_by_part(own: Floats) -> list[float]:
    """Share right in each fifth of the times of ``(n_options, n_bins)`` responses; a bin belongs to its middle's."""
    both = own.sum(axis=0)
    middle = (np.cumsum(both) - 0.5 * both) / both.sum()
    part = np.minimum((N_PARTS * middle).astype(np.int64), N_PARTS - 1)
    right, n = (np.bincount(part, values, N_PARTS) for values in (own[RIGHT], both))
    return [rounded(float(a / b)) for a, b in zip(right, n, strict=True) if b > 0]


def _unit(scale: AnswerScale) -> str:
    return f" ({scale.unit})" if scale.unit else ""
