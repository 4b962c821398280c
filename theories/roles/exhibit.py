"""What roles read: records as exhibits, short enough for a prompt, with the digests by which they are cited."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lakatos.experiments.task import Domain, Stimuli, Trials
from lakatos.language_models.context import ContextEntry
from lakatos.language_models.tool import mention
from lakatos.theories.claim import PROPERTIES, variations
from lakatos.theories.record import Diagnosis, TheoryScored
from lakatos.theories.roles.typed_claim import PEOPLE, ClaimFact, facts_in
from lakatos.theories.theory import Theory
from lakatos.traces.digest import Digest

MOST_ROWS = 8
"""Trials shown of one experiment: those that both theories miss most."""
MOST_OF_TITLE = 60
MOST_EXPERIMENTS = 3
"""The latest, of which answers and predictions are shown trial by trial."""


@dataclass(frozen=True)
class Exhibit:
    """One thing that a model is given to read, with its title and reference."""

    title: str
    value: Any
    """Plain values, or a text."""
    reference: str = ""
    """Digest of the record that it shows; empty for what cannot be cited."""
    facts: tuple[ClaimFact, ...] | None = None
    """What each of its numbers is a number of; None for plain values, called by the names on the way."""

    @property
    def numbers(self) -> tuple[ClaimFact, ...]:
        """What claims about it are computed from."""
        return tuple(facts_in(self.value)) if self.facts is None else self.facts

    def is_cited_by(self, mark: str) -> bool:
        """Whether a citation means it: ``#`` and the beginning of its digest."""
        return bool(self.reference) and self.reference.startswith(mark.removeprefix("#"))

    @property
    def entry(self) -> ContextEntry:
        """As a piece of data in a prompt."""
        title = self.title[
            :MOST_OF_TITLE
        ]  # so that the fence, which cuts long sources, leaves the digest
        source = f"{title} {mention(self.reference)}" if self.reference else title
        return ContextEntry(
            kind="data", text=_text(self.value), source=source, reference=self.reference
        )


def _text(value: Any) -> str:
    """Lists and tables a line for each item, for people and for few tokens."""
    if isinstance(value, str):
        return value
    if isinstance(value, Mapping):
        return "\n".join(f"{name}: {_line(item)}" for name, item in value.items())
    return "\n".join(_line(item) for item in value)


def _line(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def records_of(exhibits: Sequence[Exhibit]) -> dict[str, Any]:
    """What can be cited, by digest."""
    return {item.reference: item.value for item in exhibits if item.reference}


def fitting(
    exhibits: Sequence[Exhibit], room: int, size: Callable[[ContextEntry], int]
) -> tuple[Exhibit, ...]:
    """The exhibits that fit, in order of importance; one that is too long is left out, not cut.

    Args:
        exhibits: The most important first.
        room: Tokens.
        size: Tokens of an entry.
    """
    kept = []
    for item in exhibits:
        if (needed := size(item.entry)) <= room:
            kept.append(item)
            room -= needed
    return tuple(kept)


def case_exhibit(diagnosis: Diagnosis, digest: Digest, names: Mapping[Digest, str]) -> Exhibit:
    """The case file: who lost to whom, where, and what survived the checks."""
    value: dict[str, Any] = {
        "loser": names[diagnosis.loser],
        "leader": names[diagnosis.leader],
        "behind_nats_per_choice": _rounded(diagnosis.difference),
        "standard_error": _rounded(diagnosis.standard_error),
        "where": diagnosis.location,
        "hypothesis": diagnosis.hypothesis,
    }
    loser, leader = names[diagnosis.loser], names[diagnosis.leader]
    facts = [
        ClaimFact("score", -diagnosis.difference, of=loser, against=leader),
        ClaimFact("score", diagnosis.difference, of=leader, against=loser),
        ClaimFact("standard_error", diagnosis.standard_error, of=loser, against=leader),
        ClaimFact("standard_error", diagnosis.standard_error, of=leader, against=loser),
    ]
    claims = [item for item in diagnosis.claims if item.feature] or diagnosis.claims
    for number, claim in enumerate(claims, start=1):
        value[f"claim_{number}"] = claim.text
        facts.append(ClaimFact(f"claim_{number}", claim.effect))
        if claim.recommendation:
            value[f"advice_{number}"] = claim.recommendation
    return Exhibit("case file", value, digest, tuple(facts))


def answers_exhibit(
    domain: Domain, trials: Trials, digest: Digest, rows: Sequence[int], name: str | None = None
) -> Exhibit:
    """What people answered on some trials."""
    shares = trials.proportions
    counts = trials.counts.sum(axis=(0, 2))
    value = [
        {
            "trial": int(row) + 1,
            "shown": domain.describe(trials.stimuli, int(row)),
            "answers": int(counts[row]),
            **_shares(shares[row]),
        }
        for row in rows
    ]
    experiment = name or trials.experiment
    facts: list[ClaimFact] = []
    for row in map(int, rows):
        facts.append(
            ClaimFact("answers", float(counts[row]), PEOPLE, experiment=experiment, trial=row + 1)
        )
        facts += _share_facts(PEOPLE, experiment, row, shares[row])
    return Exhibit(f"answers in experiment {experiment}", value, digest, tuple(facts))


def predictions_exhibit(
    theory: str, score: TheoryScored, digest: Digest, rows: Sequence[int]
) -> Exhibit:
    """How a theory did on one experiment, and what it had predicted for the trials shown."""
    declared = score.left_out.scores
    predicted = _by_trial(score)
    value: dict[str, Any] = {
        "theory": theory,
        "experiment": score.experiment,
        "log_score_nats_per_choice": _rounded(declared.mean),
        "squared_error_of_proportions": _rounded(score.error),
        "predicted": {f"trial {int(row) + 1}": _shares(predicted[row]) for row in rows},
    }
    facts = [
        ClaimFact("score", declared.mean, theory, experiment=score.experiment),
        ClaimFact("squared_error", score.error, theory, experiment=score.experiment),
    ]
    for row in map(int, rows):
        facts += _share_facts(theory, score.experiment, row, predicted[row])
    return Exhibit(f"experiment {score.experiment}: {theory}", value, digest, tuple(facts))


def _share_facts(
    of: str, experiment: str, row: int, shares: NDArray[np.float64]
) -> list[ClaimFact]:
    """Shares of the options, as claims call them."""
    named = (
        ["first", "second"]
        if len(shares) == 2
        else [f"option {place + 1}" for place in range(len(shares))]
    )
    return [
        ClaimFact("share", float(share), of, experiment=experiment, trial=row + 1, option=option)
        for option, share in zip(named, shares, strict=True)
    ]


def missed_rows(trials: Trials, scores: Sequence[TheoryScored], most: int = MOST_ROWS) -> list[int]:
    """Trials on which the shares of people deviate most from all of these theories, in standard errors."""
    counts = np.maximum(trials.counts.sum(axis=(0, 2)), 1)
    observed = np.nan_to_num(trials.proportions, nan=0.0)
    deviations = []
    for score in scores:
        predicted = _by_trial(score)
        error = np.sqrt(np.clip(predicted * (1 - predicted), 0.01, None) / counts[:, None])
        deviations.append((np.abs(observed - predicted) / error).max(axis=1))
    size = np.min(deviations, axis=0) * (trials.counts.sum(axis=(0, 2)) > 0)
    return [int(row) for row in np.sort(np.argsort(-size, kind="stable")[:most])]


def theory_exhibit(theory: Theory, title: str) -> Exhibit:
    """A theory's source; cited by nobody, as it is no evidence."""
    return Exhibit(f"source of {title}: {theory.name}", theory.program.source)


def trials_exhibit(domain: Domain, stimuli: Stimuli) -> Exhibit:
    """What theories see of a trial: arrays and their shapes, and one trial in words."""
    value: dict[str, Any] = {
        "the task": " ".join((sys.modules[type(domain).__module__].__doc__ or "").split())
    }
    if domain.sequential:
        one = {name: np.asarray(array)[:1] for name, array in stimuli.arrays.items()}
        shown = domain.shown(one, {})
        for name, array in shown.items():
            axes = ["n_people"] if name in one else ["n_draws or 1", "n_people"]
            value[f'trials["{name}"]'] = _shape([*axes, *np.shape(array)[len(axes) :]])
        for name in domain.feedback(one, shown, np.zeros((1, 1), dtype=np.intp)):
            value[f'feedback["{name}"]'] = _shape(["n_draws or 1", "n_people"])
    else:
        value |= {
            f'trials["{name}"]': _shape(["n_trials", *a.shape[1:]])
            for name, a in stimuli.arrays.items()
        }
    value["options"] = f"{domain.n_options(stimuli)}, called {', '.join(domain.options)}"
    value["number of cues, options or steps"] = (
        "may differ from experiment to experiment; take it from the shapes"
    )
    value["a trial"] = domain.describe(stimuli, 0)
    return Exhibit("trials", value)


def variations_exhibit(domain: Domain) -> Exhibit:
    """The terms in which predictions are stated."""
    value = {f'"varied": "{name}"': meaning for name, meaning in variations(domain).items()}
    value["relations"] = ", ".join(PROPERTIES)
    return Exhibit("what can be varied", value)


def _shape(axes: Sequence[object]) -> str:
    return f"({', '.join(map(str, axes))}{',' * (len(axes) == 1)})"


def _by_trial(score: TheoryScored) -> NDArray[np.float64]:
    """Predicted shares of options, ``(n_trials, n_options)``."""
    told = np.asarray(score.proportions, dtype=np.float64)
    if score.n_options == 2:
        return np.stack([1 - told, told], axis=-1)
    return told.reshape(-1, score.n_options)


def _shares(shares: NDArray[np.float64]) -> dict[str, float]:
    if len(shares) == 2:
        return {"second": _rounded(float(shares[1]))}
    return {f"option {place + 1}": _rounded(float(share)) for place, share in enumerate(shares)}


def _rounded(value: float) -> float:
    return float(f"{value:.3g}")
