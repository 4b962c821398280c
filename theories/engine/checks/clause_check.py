"""Each clause of a theory's account, tried on its code at the numbers that were learned.

A clause that hangs on a parameter says what that parameter does to choices. So the code is asked twice, with the
learned people and with the same people whose parameter is at the clause's null value: what changes is what the clause
is about. A clause that says something must change choices, in the direction that it names; one that says "hardly" must
not change them much.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from lakatos.theories.language.account import PLACE, StatedClause, is_learned
from lakatos.theories.language.prior import Prior

Array = NDArray[np.float64]
LEAST = 1e-3
"""A clause that says something changes the mean probability of some choice by at least this."""
MOST_HARDLY = 0.02
"""One that says "hardly" changes probabilities by no more than this on average."""
LEAST_MARGIN = 1e-6
"""Difference of two probabilities by which one option is preferred."""
MAJORITY = 0.4
"""Share of the people asked who are on a clause's side at least, where the clause is said of them."""
LEAST_REVERSED = 0.05
"""Share of trials on which people take the other option, at least, where a clause states that they do."""
N_PEOPLE = 32
"""People of the learned population who are asked."""


@dataclass(frozen=True)
class AskedTrials:
    """Trials, or steps of sequences, on which clauses are tried."""

    features: Mapping[str, Array]
    """``(n_rows,)`` each."""
    last_choice: NDArray[np.int64]
    """``(n_rows,)`` option chosen at the step before, -1 where there is none."""


@dataclass(frozen=True)
class TriedClause:
    """A clause after it was tried."""

    clause: StatedClause
    held: bool
    size: float
    """Largest change of a mean probability."""
    sentence: str
    idle: bool = False
    """Whether nothing changes without it on these trials."""


def triable(clauses: Sequence[StatedClause]) -> list[StatedClause]:
    """Clauses that hang on a learned number."""
    return [item for item in clauses if item.direction]


def telling_numbers(
    clauses: Sequence[StatedClause], priors: Mapping[str, Prior]
) -> list[StatedClause]:
    """Clauses that only tell a learned number, such as how often people lapse, to be tried like others.

    They have no null value: they are tried against the end of the range from which most people are farther.
    """
    found = []
    for clause in clauses:
        names = [item["name"] for item in PLACE.finditer(clause.wording.clause)]
        learned = [name for name in names if name in priors and is_learned(priors[name])]
        if clause.wording.parameter or clause.idle or not learned:
            continue
        prior = priors[learned[0]]
        low, middle, high = prior.latent(prior.quantile(np.array([0.0, 0.5, 1.0])))
        far = prior.low if middle - low > high - middle or prior.low == 0 else prior.high
        wording = replace(clause.wording, parameter=learned[0], neutral=far)
        found.append(replace(clause, wording=wording, direction=1))
    return found


def without(
    people: Mapping[str, Array], clause: StatedClause, priors: Mapping[str, Prior]
) -> dict[str, Array]:
    """The same people, the clause's parameter at its null value, or as near to it as its range comes."""
    wording = clause.wording
    prior = priors[wording.parameter]
    null = min(max(wording.neutral, prior.low), prior.high)
    return dict(people) | {wording.parameter: np.full_like(people[wording.parameter], null)}


def on_its_side(people: Mapping[str, Array], clause: StatedClause) -> NDArray[np.bool_]:
    """People on the side of the null value that the clause names; everybody where they are not the most."""
    side = clause.direction * (people[clause.wording.parameter] - clause.wording.neutral) > 0
    return side if side.mean() >= MAJORITY else np.ones_like(side)


def share_reversed(answers: Sequence[Array], instead: Sequence[Array]) -> float:
    """Share of people's trials on which the most probable option is another one than it would be instead.

    Args:
        answers: ``(n_people, n_rows, n_options)`` probabilities for each set of trials.
        instead: The same without what is tried.
    """
    reversed_trials = []
    for own, other in zip(answers, instead, strict=True):
        first, second = (item.argmax(axis=-1)[..., None] for item in (own, other))
        margins = [
            np.take_along_axis(item, best, axis=-1) - np.take_along_axis(item, rest, axis=-1)
            for item, best, rest in ((own, first, second), (other, second, first))
        ]
        reversed_trials.append((np.minimum(*margins) > LEAST_MARGIN).ravel())
    return float(np.concatenate(reversed_trials).mean())


def not_reversed(clause: StatedClause, words: str, size: float, share: float) -> TriedClause:
    """A clause which states that people take the other option, where they hardly ever do on these trials."""
    sentence = (
        f"{words}; no trial here can test this: with it people take the other option on {share:.1%} of the trials "
        f"(fewer than {LEAST_REVERSED:.0%})."
    )
    return TriedClause(clause, False, size, sentence, idle=True)


def try_clause(
    clause: StatedClause,
    changes: Sequence[Array],
    asked: Sequence[AskedTrials],
    *,
    straight: Sequence[Array] | None = None,
    reversed_share: float = 1.0,
) -> TriedClause:
    """Judge one clause by what its parameter does to choices.

    Args:
        clause: Told at the learned numbers.
        changes: ``(n_rows, n_options)`` for each set of trials: what the parameter adds to the mean probabilities of
            the people on the clause's side.
        asked: The same sets of trials.
        straight: The same where no other clause turns choices round, by which directions are tried.
        reversed_share: Share of trials on which people take the other option by it; see `share_reversed`.
    """
    size = max(float(np.abs(change).max(initial=0.0)) for change in changes)
    typical = float(np.mean([np.abs(change).mean() for change in changes]))
    words = clause.statement
    if clause.strength == "hardly":
        held = typical <= MOST_HARDLY
        found = f"without it, predicted probabilities change by {typical:.2g} on average"
        return TriedClause(clause, held, size, _sentence(words, found, held))
    if size < LEAST:
        sentence = f"the claim says: {words}; no trial here can test this: without it, no prediction changes."
        return TriedClause(clause, False, size, sentence, idle=True)
    found = f"without it, predicted probabilities change by up to {size:.2g}"
    if clause.wording.reverses_choices and reversed_share < LEAST_REVERSED:
        return not_reversed(clause, f"the claim says: {words}", size, reversed_share)
    changes = changes if straight is None else straight
    lean = None if clause.wording.overrides else _lean(clause, changes, asked)
    if lean is None:
        return TriedClause(clause, True, size, _sentence(words, found, True))
    held = lean * clause.direction > 0
    found += f", and with it {_favoured(clause.wording.feature)} chosen {'more' if lean > 0 else 'less'} often"
    return TriedClause(clause, held, size, _sentence(words, found, held))


def _favoured(feature: str) -> str:
    """The options towards which a feature moves choices, as a subject with its verb."""
    words = feature.replace("_", " ")
    if words == "last choice":
        return "the option that was chosen last is"
    if words.endswith(" difference"):
        return f"the option with the higher value of {words.removesuffix(' difference')} is"
    return f"options favoured by {words} are"


def _lean(
    clause: StatedClause, changes: Sequence[Array], asked: Sequence[AskedTrials]
) -> float | None:
    """Measure how far changes of the last option follow what the clause names; None where no trial here can show it."""
    total = 0.0
    for change, rows in zip(changes, asked, strict=True):
        if clause.wording.feature == "last_choice":
            place = np.flatnonzero(rows.last_choice >= 0)
            total += float(change[place, rows.last_choice[place]].sum())
        elif clause.wording.feature in rows.features:
            feature = rows.features[clause.wording.feature]
            total += float(change[:, -1] @ feature) / max(
                float(np.abs(feature).max(initial=0.0)), 1e-12
            )
    return total if abs(total) > LEAST else None


def _sentence(words: str, found: str, held: bool) -> str:
    if held:
        return f"the claim says: {words}; {found}."
    return f"the claim says: {words}. The code contradicts this: {found}. Change the code, its numbers or the clause."
