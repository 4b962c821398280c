"""Claim against code: what a theory predicts in words, as properties that are tried on its code.

A source states its qualitative predictions beside its parameters::

    PREDICTIONS = [
        {"property": "increasing", "in": "rating"},
        {"property": "ignores", "in": "rating", "beyond": "enough"},
        {"property": "ignores", "in": "cue_order"},
    ]

Each is a statement about pairs of trials that differ in one way (see `experiments.variation`), for all people of the
declared ranges. What can vary is up to the domain; in addition every domain has ``sides`` (the options change places),
``last_choice`` (the second option was chosen just before, not the first) and, where rewards follow, ``last_reward``
(choosing the second option was rewarded just before). A pair that contradicts the statement is a counterexample.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lakatos.experiments.task import Domain, Stimuli
from lakatos.experiments.variation import HasVariations
from lakatos.theories.engine.checks.prediction import (
    ClaimCounterexample,
    ClaimPrediction,
    ClaimReport,
    TriedPrediction,
    read_predictions,
)
from lakatos.theories.engine.running.sequence import SimulatedSequences, replay, simulate
from lakatos.theories.engine.sandbox.client import Sandbox
from lakatos.theories.errors import TheorySourceError
from lakatos.theories.language.points import check_points
from lakatos.theories.language.theory import LAPSE, Theory

Array = NDArray[np.float64]
TOLERANCE = 1e-7
"""Changes of probability below this are rounding."""
LEAST = 1e-3
"""A theory that depends on something changes some probability by at least this."""
N_ROUNDS = 2
"""Number of times that the domain's probes are drawn, and varied."""
N_RANDOM = 64
"""Random points of the declared ranges, besides extremes and corners."""


def check_claim(
    theory: Theory,
    domain: Domain,
    sandbox: Sandbox,
    *,
    predictions: Sequence[ClaimPrediction] | None = None,
    candidates: Stimuli | None = None,
    seed: int = 0,
) -> ClaimReport:
    """Try a theory's predictions on its code, at many points of its declared ranges.

    A theory that learns is asked as people are before they have learned anything, ``last_choice`` and ``last_reward``
    aside.

    Args:
        theory: Its source states the predictions.
        domain: Gives probes and their variations.
        sandbox: Sandbox in which the code runs.
        predictions: Instead of those in the source.
        candidates: Trials of the study's own space, varied as well.
        seed: Seed of points and variations; the same seed tries the same.

    Raises:
        TheorySourceError: A prediction is about what this domain cannot vary, or about a parameter that is not there.
        TheoryError: The theory cannot be run.
    """
    stated = read_predictions(theory.program.source) if predictions is None else tuple(predictions)
    rng = np.random.default_rng(seed)
    points = check_points(theory.priors, rng, N_RANDOM)
    stimuli = [probe for _ in range(N_ROUNDS) for probe in domain.probes(rng)]
    stimuli += [] if candidates is None else [candidates]
    offers = _offers(domain, stimuli, rng)
    tried = []
    for prediction in stated:
        if prediction.property == "deterministic":
            tried.append(_deterministic(prediction, theory, domain, sandbox, stimuli, points))
        elif prediction.variation in offers:
            tried.append(
                _try(prediction, theory, domain, sandbox, offers[prediction.variation], points)
            )
        else:
            raise TheorySourceError(
                f"PREDICTIONS: the domain {domain.name!r} cannot vary {prediction.variation!r}; "
                f"it can vary {', '.join(offers)}."
            )
    return ClaimReport(theory.name, tuple(tried))


def variations(domain: Domain) -> dict[str, str]:
    """Return what can be varied in a domain, by name, in words."""
    rng = np.random.default_rng(0)
    return {name: offer.meaning for name, offer in _offers(domain, domain.probes(rng), rng).items()}


@dataclass(frozen=True)
class _TrialContrast:
    """Pairs of trials that differ in one way, or the same trials after two different pasts."""

    stimuli: tuple[Stimuli, Stimuli]
    option: int = 1
    """The option that the change concerns."""
    size: Array | None = None
    order: NDArray[np.int64] | None = None
    """``(n_sequences, 2)`` rows of a past trial and of the trial asked about, which is the same before and after."""
    pasts: tuple[SimulatedSequences, ...] = ()
    told: tuple[str, str] = ("", "")
    """Both pasts in words."""

    def words(self, domain: Domain, row: int) -> tuple[str, str]:
        """The two trials of a pair, in words."""
        if self.order is None:
            return domain.describe(self.stimuli[0], row), domain.describe(self.stimuli[1], row)
        trial = domain.describe(self.stimuli[0], int(self.order[row, 1]))
        return f"{trial}, {self.told[0]}", f"{trial}, {self.told[1]}"


@dataclass(frozen=True)
class _VariationOffer:
    """A way in which trials can be varied."""

    meaning: str
    contrasts: tuple[_TrialContrast, ...]
    size_meaning: str = ""


def _offers(
    domain: Domain, stimuli: Sequence[Stimuli], rng: np.random.Generator
) -> dict[str, _VariationOffer]:
    """Everything that can be varied, by name."""
    offers = _past_offers(domain, stimuli, rng)
    if domain.sequential:
        return offers
    offers["sides"] = _VariationOffer(
        "the two options change places",
        tuple(_TrialContrast((item, domain.swap_sides(item))) for item in stimuli),
    )
    made = (
        [domain.variations(item, rng) for item in stimuli]
        if isinstance(domain, HasVariations)
        else []
    )
    for name in made[0] if made else ():
        contrasts = []
        for own in (item[name] for item in made if len(item[name].before)):
            contrasts.append(_TrialContrast((own.before, own.after), 1, own.size))
            mirrored = (domain.swap_sides(own.before), domain.swap_sides(own.after))
            there = domain.n_options(own.before) - 2  # where the second option stands then
            contrasts.append(_TrialContrast(mirrored, there, own.size))
        offers[name] = _VariationOffer(
            made[0][name].meaning, tuple(contrasts), made[0][name].size_meaning
        )
    return offers


def _past_offers(
    domain: Domain, stimuli: Sequence[Stimuli], rng: np.random.Generator
) -> dict[str, _VariationOffer]:
    """Offer variations of the trial before: the chosen option, unrewarded, and whether the second was rewarded."""
    choice: list[_TrialContrast] = []
    reward: list[_TrialContrast] = []
    first, second = (f"after choosing {label}" for label in domain.options[:2])
    for item in stimuli:
        if len(item) < 2:
            continue
        # A past trial, and the one that is asked about.
        rows = np.arange(len(item))
        if domain.sequential:
            order = np.array([[0, 1]])
        else:
            order = np.stack([rng.permutation(rows), rows], axis=1)
        arrays = item.take(order[:, 0]).arrays
        chose_first, chose_second, rewarded = (
            _past(domain, arrays, option, paid) for option, paid in ((0, 0.0), (1, 0.0), (1, 1.0))
        )
        pasts = (chose_first, chose_second)
        choice.append(_TrialContrast((item, item), 1, None, order, pasts, (first, second)))
        if "reward" in chose_second.feedback:
            pasts = (chose_second, rewarded)
            words = (f"{second} without reward", f"{second} with a reward of 1")
            reward.append(_TrialContrast((item, item), 1, None, order, pasts, words))
    meaning = "the second option was chosen just before, not the first"
    if not reward:
        return {"last_choice": _VariationOffer(meaning, tuple(choice))}
    paid = "choosing the second option was rewarded just before"
    return {
        "last_choice": _VariationOffer(f"{meaning}, and not rewarded", tuple(choice)),
        "last_reward": _VariationOffer(paid, tuple(reward)),
    }


def _past(
    domain: Domain, arrays: Mapping[str, Array], option: int, paid: float
) -> SimulatedSequences:
    """Sequences of one trial in which ``option`` was chosen; rewards, where there are any, are ``paid``."""
    shown = domain.shown(arrays, {})
    n_sequences = len(next(iter(arrays.values())))
    response = np.full((1, n_sequences, 1), option)
    follows = domain.feedback(arrays, shown, response[:, :, 0])
    if "reward" in follows:
        follows["reward"] = np.full_like(follows["reward"], paid, dtype=np.float64)
    # Two entries each, as for the two steps; nobody is told of the second.
    feedback = {name: np.stack([value, value], axis=-1) for name, value in follows.items()}
    nothing = np.zeros((*response.shape, 0))
    return SimulatedSequences(np.repeat(response, 2, axis=2), nothing, feedback)


def _ask(
    theory: Theory,
    domain: Domain,
    sandbox: Sandbox,
    contrasts: Sequence[_TrialContrast],
    points: Mapping[str, Array],
) -> list[tuple[Array, Array]]:
    """``(n_draws, n_pairs, n_options)`` probabilities before and after each change."""
    sets = [item for contrast in contrasts for item in contrast.stimuli]
    if (
        not theory.learns
        and not domain.sequential
        and not any(contrast.pasts for contrast in contrasts)
    ):
        answers = _ask_together(theory, domain, sandbox, sets, points)
        return list(zip(answers[::2], answers[1::2], strict=True))
    found = []
    nobody = np.random.default_rng(0)
    for number in dict.fromkeys(domain.n_options(item) for item in sets):
        with sandbox.open_session(theory.program.source, [], n_options=number) as session:
            for place, contrast in enumerate(contrasts):
                if domain.n_options(contrast.stimuli[0]) != number:
                    continue
                pair = []
                for side, item in enumerate(contrast.stimuli):
                    if contrast.order is not None:
                        replayed = replay(
                            session, domain, points, item, contrast.order, contrast.pasts[side]
                        )
                        pair.append(replayed[:, :, 1])
                    else:  # as the first trial that people see
                        order = np.arange(len(item))[:, None]
                        pair.append(
                            simulate(session, domain, points, item, order, nobody).probabilities[
                                :, :, 0
                            ]
                        )
                found.append((place, (pair[0], pair[1])))
    return [pair for _, pair in sorted(found, key=lambda item: item[0])]


def _ask_together(
    theory: Theory,
    domain: Domain,
    sandbox: Sandbox,
    sets: Sequence[Stimuli],
    points: Mapping[str, Array],
) -> list[Array]:
    """``(n_draws, n_trials, n_options)`` for each set; sets of equal form are one to the theory, which saves time."""
    forms: dict[object, list[int]] = {}
    for place, item in enumerate(sets):
        form = [(name, array.shape[1:], array.dtype.kind) for name, array in item.arrays.items()]
        forms.setdefault(tuple(form), []).append(place)
    merged = [
        {
            name: np.concatenate([sets[place][name] for place in places])
            for name in sets[places[0]].arrays
        }
        for places in forms.values()
    ]
    answers = sandbox.probabilities(
        theory.program.source, points, merged, n_options=domain.n_options(sets[0])
    )
    found: dict[int, Array] = {}
    for places, answer in zip(forms.values(), answers, strict=True):
        ends = np.cumsum([len(sets[place]) for place in places])
        found.update(zip(places, np.split(answer, ends[:-1], axis=1), strict=True))
    return [found[place] for place in range(len(sets))]


WRONG_WAY = {
    "increasing": -1.0,
    "non_decreasing": -1.0,
    "decreasing": 1.0,
    "non_increasing": 1.0,
}
"""Sign of the changes of probability that contradict a property; of others every change does."""


def _try(
    prediction: ClaimPrediction,
    theory: Theory,
    domain: Domain,
    sandbox: Sandbox,
    offer: _VariationOffer,
    points: Mapping[str, Array],
) -> TriedPrediction:
    """One prediction on all pairs of one kind, at all points."""
    words = prediction.words(offer.meaning)
    options = {"first": (0,), "second": (1,)}.get(prediction.of, (0, 1))
    contrasts = [contrast for contrast in offer.contrasts if contrast.option in options]
    answers = _ask(theory, domain, sandbox, contrasts, points) if contrasts else []

    # How each pair changes the probability, and for which of its rows and points the prediction says anything.
    changes, allowed = [], []
    for contrast, pair in zip(contrasts, answers, strict=True):
        change = _change(prediction, contrast, pair)
        mask = _beyond(prediction, contrast, points)
        changes.append(change)
        allowed.append(np.broadcast_to(mask, change.shape))
    if not any(mask.any() for mask in allowed):
        return _untried(prediction, words, changes)

    # What the probabilities do, and where they do most of what the property excludes.
    lowest, highest = _extremes(changes, allowed)
    pairs = zip(changes, allowed, strict=True)
    wrong = [_against(prediction, change, mask) for change, mask in pairs]
    worst, draw, row = _largest(wrong)
    what = prediction.property
    contradicted = what != "depends_on" and wrong[worst][draw, row] > TOLERANCE
    of_direction = {"increasing": highest, "decreasing": -lowest}
    strongest = of_direction.get(what, max(highest, -lowest))
    idle = what in ("increasing", "decreasing", "depends_on") and strongest < LEAST

    # Told with the largest change against it, or the largest there is where nothing changes as it says.
    n_pairs = sum(int(mask.any(axis=0).sum()) for mask in allowed)
    n_draws = len(changes[0])
    sentence = (
        f"{words}; {n_pairs} pairs of trials at {n_draws} points of the declared ranges, changes of probability "
        f"from {lowest:.3g} to {highest:.3g}."
    )
    held = not (contradicted or idle)
    tried = TriedPrediction(prediction, held, n_pairs, n_draws, (lowest, highest), sentence)
    if contradicted:
        example = _counterexample(domain, contrasts[worst], answers[worst], points, draw, row)
        found = f"the probability goes {example.words()}"
        return replace(tried, sentence=_contradiction(words, found), counterexample=example)
    if idle:
        found = f"no probability changes so by more than {max(strongest, 0.0):.3g} on {n_pairs} pairs of trials"
        return replace(tried, sentence=_contradiction(words, found))
    return tried


def _change(
    prediction: ClaimPrediction, contrast: _TrialContrast, pair: tuple[Array, Array]
) -> Array:
    """``(n_draws, n_pairs)`` by how much the option's probability changes; of the other one's where sides change."""
    before, after = pair
    other = after[..., ::-1] if prediction.property == "reverses" else after
    return np.asarray(other[..., contrast.option] - before[..., contrast.option])


def _untried(prediction: ClaimPrediction, words: str, changes: Sequence[Array]) -> TriedPrediction:
    """A prediction that no pair of trials is about: allowed only where a declared range decides."""
    if not changes or not isinstance(prediction.beyond, str) or not prediction.beyond:
        raise TheorySourceError(f"PREDICTIONS: there is no trial to try this on: {words}.")
    sentence = f"{words}; no trial here reaches that far."
    return TriedPrediction(prediction, True, 0, len(changes[0]), (0.0, 0.0), sentence)


def _extremes(changes: Sequence[Array], allowed: Sequence[Array]) -> tuple[float, float]:
    """The lowest and the highest change among those that the prediction is about."""
    pairs = list(zip(changes, allowed, strict=True))
    lowest = min(float(change[mask].min(initial=np.inf)) for change, mask in pairs)
    highest = max(float(change[mask].max(initial=-np.inf)) for change, mask in pairs)
    return lowest, highest


def _against(prediction: ClaimPrediction, change: Array, mask: Array) -> Array:
    """``(n_draws, n_pairs)`` how far each change goes against the property; where it is about others, -inf."""
    sign = WRONG_WAY.get(prediction.property)
    return np.where(mask, np.abs(change) if sign is None else sign * change, -np.inf)


def _largest(tables: Sequence[Array]) -> tuple[int, int, int]:
    """Table, draw and row of the largest number in tables ``(n_draws, n_rows)``."""
    worst = int(np.argmax([item.max(initial=-np.inf) for item in tables]))
    draw, row = np.unravel_index(int(tables[worst].argmax()), tables[worst].shape)
    return worst, int(draw), int(row)


def _counterexample(
    domain: Domain,
    contrast: _TrialContrast,
    pair: tuple[Array, Array],
    points: Mapping[str, Array],
    draw: int,
    row: int,
) -> ClaimCounterexample:
    """A pair of trials with the values of parameters and the probabilities before and after."""
    values = {name: float(array[draw]) for name, array in points.items() if name}
    before, after = (float(p[draw, row, contrast.option]) for p in pair)
    return ClaimCounterexample(*contrast.words(domain, row), values, before, after)


def _contradiction(words: str, found: str) -> str:
    return f"the claim says: {words}. The code contradicts this: {found}. Change the code or the prediction."


def _beyond(
    prediction: ClaimPrediction, contrast: _TrialContrast, points: Mapping[str, Array]
) -> Any:
    """Mark the pairs, perhaps of each draw, that the prediction is about."""
    if prediction.beyond == "":
        return True
    if contrast.size is None:
        raise TheorySourceError(
            f'PREDICTIONS: {prediction.variation!r} has no size that "beyond" could be compared with; leave it out.'
        )
    if isinstance(prediction.beyond, str):
        if prediction.beyond not in points:
            raise TheorySourceError(
                f'PREDICTIONS: "beyond" names {prediction.beyond!r}, which is no declared parameter; '
                f"there are {', '.join(filter(None, points)) or 'none'}."
            )
        return contrast.size >= points[prediction.beyond][:, None]
    return contrast.size >= prediction.beyond


def _deterministic(
    prediction: ClaimPrediction,
    theory: Theory,
    domain: Domain,
    sandbox: Sandbox,
    stimuli: Sequence[Stimuli],
    points: Mapping[str, Array],
) -> TriedPrediction:
    """Test whether every choice is sure, or between options that are all equally likely, once nobody lapses."""
    sober = dict(points)
    if LAPSE in sober:
        sober[LAPSE] = np.zeros_like(sober[LAPSE])
    contrasts = [_TrialContrast((item, item)) for item in stimuli]
    answers = [before for before, _ in _ask(theory, domain, sandbox, contrasts, sober)]
    # How far each probability is from 0, or from an even share of the options that can be chosen.
    gaps = []
    for p in answers:
        possible = p > TOLERANCE
        even = 1 / possible.sum(axis=-1, keepdims=True)
        away = np.where(possible, p - even, p)
        gaps.append(np.abs(away).max(axis=-1))
    worst, draw, row = _largest(gaps)
    gap = float(gaps[worst][draw, row])
    n_trials, n_draws = sum(map(len, stimuli)), len(gaps[0])
    words = prediction.words()
    if gap <= TOLERANCE:
        sentence = f"{words}; {n_trials} trials at {n_draws} points of the declared ranges."
        return TriedPrediction(prediction, True, n_trials, n_draws, (0.0, gap), sentence)
    trial = domain.describe(stimuli[worst], row)
    stated = float(answers[worst][draw, row, -1])
    values = {name: float(array[draw]) for name, array in sober.items() if name}
    example = ClaimCounterexample(trial, trial, values, stated, stated)
    found = f"the probability is {stated:.6g} on [{trial}]"
    if values:
        found += " with " + ", ".join(f"{name}={value:.6g}" for name, value in values.items())
    sentence = _contradiction(words, found)
    return TriedPrediction(prediction, False, n_trials, n_draws, (0.0, gap), sentence, example)
