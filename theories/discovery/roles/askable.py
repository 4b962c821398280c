"""What advocates can propose: trials of their own, trials of an archive by number, or whole schedules by number."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lakatos.experiments.design import choose_trials
from lakatos.experiments.errors import DesignError
from lakatos.experiments.information import pair_prior
from lakatos.experiments.participants.source import ParticipantSource
from lakatos.experiments.proposal import are_forbidden, are_within, problems_of_trials
from lakatos.experiments.task import Domain, Stimuli, StimulusOffer, identities
from lakatos.theories.discovery.design_rivals import DESIGN_DRAWS
from lakatos.theories.discovery.rivals import sample_of_space
from lakatos.theories.discovery.roles.answer import ProposedTrials, stimuli_of, varied
from lakatos.theories.discovery.roles.exhibit import Exhibit, rounded
from lakatos.theories.engine.evidence import TheoryEvidence
from lakatos.theories.engine.laboratory import Laboratory
from lakatos.theories.language.theory import Theory

SAMPLED = 400
"""Trials of the space among which examples are found."""
SEARCHED = 2000
"""Trials of the space among which those in an advocate's ranges are found."""
EXAMPLES = 6
"""Trials shown, with what both theories predict: those on which they differ most."""
LISTED = 40
"""Trials of an archive that are listed: half of them those on which the theories differ most, half drawn at random."""
FOUND = 8
"""Trials that the laboratory finds in an advocate's ranges."""
ALIKE = 0.05
"""Difference of predicted shares below which a trial tells nothing about which of two theories is right."""
QUARTERS = 4


@dataclass(frozen=True)
class ListedTrials:
    """What has a number that an advocate can name: a trial of an archived experiment, or a schedule."""

    offer: StimulusOffer
    """Its stimuli are this trial alone, or the whole schedule."""


@dataclass(frozen=True)
class AskableTrials:
    """What can be proposed for an experiment."""

    sample: Stimuli
    """Trials of the study, as examples of their form."""
    listed: tuple[ListedTrials, ...]
    """Empty where any trial of the space can be asked."""


@dataclass(frozen=True)
class ProposedSet:
    """Trials that an advocate named or the laboratory found for it, after what cannot be asked is left out."""

    stimuli: Stimuli | None
    """None where nothing is left."""
    archive: str
    n_found: int
    """Of them, those that the laboratory found in the ranges."""
    left_out: tuple[str, ...]


def askable_trials(
    evidence: TheoryEvidence,
    source: ParticipantSource,
    pair: Sequence[Theory],
    rng: np.random.Generator,
) -> AskableTrials | None:
    """What can be proposed for the next experiment to tell two theories apart; None where no answers are left."""
    archival = evidence.terms.archival
    if not (archival or evidence.domain.sequential):
        return AskableTrials(sample_of_space(evidence, rng, SAMPLED), ())
    offers = open_offers(evidence, source, rng)
    if not offers:
        return None
    if evidence.domain.sequential:
        return AskableTrials(offers[0].stimuli, tuple(map(ListedTrials, offers)))
    single = [
        ListedTrials(replace(offer, stimuli=offer.stimuli.take([row])))
        for offer in offers
        for row in range(len(offer.stimuli))
    ]
    if len(single) > LISTED:
        gaps = np.concatenate(
            [differences(evidence.laboratory, pair, offer.stimuli) for offer in offers]
        )
        most = np.argsort(-gaps, kind="stable")[: LISTED // 2]
        others = rng.permutation(np.setdiff1d(np.arange(len(single)), most))
        single = [single[row] for row in sorted([*most, *others[: LISTED - len(most)]])]
    return AskableTrials(max((offer.stimuli for offer in offers), key=len), tuple(single))


def open_offers(
    evidence: TheoryEvidence, source: ParticipantSource, rng: np.random.Generator
) -> list[StimulusOffer]:
    """Everything that can be asked, without what the study forbids: candidates of a space, or all open answers."""
    archival = evidence.terms.archival
    offers = list(source.offers(rng, 10**9 if archival else SEARCHED))
    if not evidence.domain.sequential:
        allowed = [
            np.flatnonzero(
                ~are_forbidden(evidence.domain, offer.stimuli, evidence.terms.design.forbidden)
            )
            for offer in offers
        ]
        offers = [
            replace(offer, stimuli=offer.stimuli.take(rows))
            for offer, rows in zip(offers, allowed, strict=True)
            if len(rows)
        ]
    return offers


def predicted(
    laboratory: Laboratory, pair: Sequence[Theory], stimuli: Stimuli
) -> list[NDArray[np.float64]]:
    """``(n_trials, n_options)`` shares that each of two theories predicts."""
    return [laboratory.proportions(theory, stimuli, DESIGN_DRAWS) for theory in pair]


def differences(
    laboratory: Laboratory, pair: Sequence[Theory], stimuli: Stimuli
) -> NDArray[np.float64]:
    """``(n_trials,)`` largest difference of two theories' predicted shares on each trial."""
    own, other = predicted(laboratory, pair, stimuli)
    return np.asarray(np.abs(own - other).max(axis=1))


def proposed_set(
    evidence: TheoryEvidence,
    source: ParticipantSource,
    value: ProposedTrials,
    askable: AskableTrials,
    pair: Sequence[Theory],
    kept: tuple[Stimuli, str] | None,
    rng: np.random.Generator,
) -> ProposedSet:
    """The trials of an answer: what was kept of an earlier one, what it names, and what lies in its ranges.

    Raises:
        DesignError, StimuliError: There are none, or a range makes no sense.
    """
    if evidence.domain.sequential:
        offer = askable.listed[value.numbers[0] - 1].offer
        return ProposedSet(offer.stimuli, offer.archive, 0, ())
    archive, parts = "", [] if kept is None else [kept[0]]
    left_out: list[str] = []
    if askable.listed:
        archive, named, left_out = _picked(value, askable, "" if kept is None else kept[1])
        parts += [named] if named is not None else []
    elif value.made:
        named = stimuli_of(value, askable.sample)
        problems = problems_of_trials(
            evidence.domain, evidence.terms.space, named, evidence.terms.design.forbidden
        )
        left_out = [f"trial {row + 1} {why}" for row, why in sorted(problems.items())]
        parts.append(named.take([row for row in range(len(named)) if row not in problems]))
    n_found = 0
    if value.where:
        archive, found = _in_ranges(evidence, source, value, pair, archive, rng)
        n_found = len(found)
        parts.append(found)
    parts = [part for part in parts if len(part)]
    if not parts:
        return ProposedSet(None, archive, 0, tuple(left_out))
    whole = Stimuli.concatenate(parts)
    first: dict[bytes, int] = {}
    for row, key in enumerate(identities(evidence.domain, whole)):
        first.setdefault(key, row)
    return ProposedSet(whole.take(sorted(first.values())), archive, n_found, tuple(left_out))


def _picked(
    value: ProposedTrials, askable: AskableTrials, archive: str
) -> tuple[str, Stimuli | None, list[str]]:
    """Trials of an archive by number: those of one experiment, as only one is asked."""
    chosen = [askable.listed[number - 1].offer for number in dict.fromkeys(value.numbers)]
    names = [offer.archive for offer in chosen]
    archive = archive or (max(dict.fromkeys(names), key=names.count) if names else "")
    left_out = [
        f"trial {number} belongs to {offer.archive}; the others belong to {archive}, and one experiment is asked"
        for number, offer in zip(dict.fromkeys(value.numbers), chosen, strict=True)
        if offer.archive != archive
    ]
    own = [offer.stimuli for offer in chosen if offer.archive == archive]
    return archive, Stimuli.concatenate(own) if own else None, left_out


def _in_ranges(
    evidence: TheoryEvidence,
    source: ParticipantSource,
    value: ProposedTrials,
    pair: Sequence[Theory],
    archive: str,
    rng: np.random.Generator,
) -> tuple[str, Stimuli]:
    """Of the trials in an answer's ranges those that say most, together, about which of two theories is right."""
    ranges = [(item.feature, item.low, item.high) for item in value.where]
    offers = [
        item
        for item in open_offers(evidence, source, rng)
        if not archive or item.archive == archive
    ]
    inside = [np.flatnonzero(are_within(evidence.domain, item.stimuli, ranges)) for item in offers]
    best = max(range(len(offers)), key=lambda place: len(inside[place]), default=0)
    if not any(map(len, inside)):
        raise DesignError(
            f"no trial of the space lies in all ranges ({'; '.join(ranges_in_words(value))})"
        )
    stimuli = offers[best].stimuli.take(inside[best])
    answers = [
        own[0] for own in evidence.laboratory.answers_of(list(pair), [stimuli], DESIGN_DRAWS)
    ]
    selection = choose_trials(
        answers, pair_prior(2, (0, 1)), n_trials=min(FOUND, len(stimuli)), rng=rng, random_share=0.0
    )
    return offers[best].archive, stimuli.take(selection.rows)


def ranges_in_words(value: ProposedTrials) -> tuple[str, ...]:
    """The ranges of an answer, one text each."""
    return tuple(f"{item.feature} from {item.low:g} to {item.high:g}" for item in value.where)


# --- what advocates are shown ----------------------------------------------------------------------------------------


def askable_exhibits(
    domain: Domain, laboratory: Laboratory, askable: AskableTrials, pair: Sequence[Theory]
) -> tuple[Exhibit, ...]:
    """What can be proposed, with what both theories predict where a trial can be looked at by itself."""
    if domain.sequential:
        lines = [
            {"number": number, "name": item.offer.archive, **_schedule_in_words(item.offer.stimuli)}
            for number, item in enumerate(askable.listed, start=1)
        ]
        return (Exhibit("schedules that can be asked, by number", lines),)
    if askable.listed:
        whole = Stimuli.concatenate([item.offer.stimuli for item in askable.listed])
        shares = predicted(laboratory, pair, whole)
        shown = [
            {
                "number": row + 1,
                "experiment": item.offer.archive,
                "shown": domain.describe(whole, row),
                **_both(shares, row),
            }
            for row, item in enumerate(askable.listed)
        ]
        return (Exhibit("trials that can be asked, by number", shown), _properties(domain, whole))
    sample = askable.sample
    shares = predicted(laboratory, pair, sample)
    gaps = np.abs(shares[0] - shares[1]).max(axis=1)
    rows = np.sort(np.argsort(-gaps, kind="stable")[:EXAMPLES])
    examples = [
        {
            "trial": {name: _plain(array, int(row)) for name, array in varied(sample).items()},
            "shown": domain.describe(sample, int(row)),
            **_both(shares, int(row)),
        }
        for row in rows
    ]
    arrays = {
        name: f"shape {list(np.shape(array)[1:])}, from {np.min(array):g} to {np.max(array):g}"
        for name, array in varied(sample).items()
    }
    return (
        Exhibit("arrays of a trial", arrays),
        Exhibit("some trials", examples),
        _properties(domain, sample),
    )


def trials_in_words(
    domain: Domain, laboratory: Laboratory, stimuli: Stimuli, pair: Sequence[Theory]
) -> list[dict[str, Any]]:
    """Trials with what both theories predict of each."""
    if domain.sequential:
        return [_schedule_in_words(stimuli)]
    shares = predicted(laboratory, pair, stimuli)
    return [
        {"shown": domain.describe(stimuli, row), **_both(shares, row)}
        for row in range(len(stimuli))
    ]


def _properties(domain: Domain, sample: Stimuli) -> Exhibit:
    """The features by which ranges are named, with the values that they have in the space."""
    words = inspect.getdoc(type(domain).features) or ""
    value: dict[str, str] = {"what they are": " ".join(words.split())}
    value |= {
        name: f"{rounded(float(np.min(values)))} to {rounded(float(np.max(values)))}"
        for name, values in domain.features(sample).items()
    }
    return Exhibit("properties of trials, for ranges", value)


def _both(shares: Sequence[NDArray[np.float64]], row: int) -> Mapping[str, Any]:
    """What both theories predict of a trial: the share of the second option, or of every option."""
    own, other = (share[row, 1:] if share.shape[1] == 2 else share[row] for share in shares)
    told = [[round(float(value), 2) for value in part] for part in (own, other)]
    return {
        name: value[0] if len(value) == 1 else value
        for name, value in zip(("yours", "rival"), told, strict=True)
    }


def _schedule_in_words(stimuli: Stimuli) -> dict[str, Any]:
    """Steps, options, and how often each option would pay, quarter by quarter, in every state where one does."""
    payoff = np.asarray(stimuli["payoff"], dtype=np.float64)
    quarters = np.array_split(payoff, QUARTERS)
    rates = {
        f"payoffs in state {state}, by quarter": [
            [rounded(float(value)) for value in part[:, state].mean(axis=0)] for part in quarters
        ]
        for state in range(payoff.shape[1])
        if payoff[:, state].any()
    }
    return {"steps": len(payoff), "options": payoff.shape[-1], **rates}


def _plain(array: NDArray[Any], row: int) -> Any:
    """A row as JSON, whole numbers without a point where all of them are whole."""
    whole = bool((array == np.round(array)).all())
    return np.asarray(array[row], dtype=np.int64 if whole else np.float64).tolist()
