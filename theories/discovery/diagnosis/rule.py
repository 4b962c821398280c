"""The rules: each a statistic of the responses, its distribution over replicas, and the correction that it suggests.

p-values are two-sided and read off Student's t distribution after the statistic has been studentised by its mean and
spread over replicas (counts and spreads on a scale where they are about normal first), because a share of
``n_replicas`` could not be small enough to survive the correction for all checks. The worst region is a maximum; its
p-value is read off a Gumbel distribution with the replicas' mean and spread. Replicas come from a population that was
learned from the same responses, so the checks are a little conservative.

References:
    Gelman, Meng & Stern (1996), Statistica Sinica 6, 733-807 (posterior predictive checks); Davison & Hinkley (1997),
    Bootstrap Methods and their Application, section 4.2.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import qr
from scipy.stats import gumbel_r, t

from lakatos.theories.discovery.diagnosis import correction
from lakatos.theories.discovery.diagnosis.correction import CorrectionGain, PanelCorrector
from lakatos.theories.discovery.diagnosis.panel import (
    LEAST_SEQUENCE,
    AnswerPanel,
    PanelSummary,
    TheoryPredictions,
)
from lakatos.theories.discovery.diagnosis.pool import (
    pool_evidence,
    scores_of_people,
    sharing,
    z_of,
)
from lakatos.theories.discovery.diagnosis.slope import ResidualSample, slope_of
from lakatos.theories.engine.running.sequence import TINY

Array = NDArray[np.float64]
INTERACTING = 3
"""Features of either kind whose products are checked."""
LEAST_REGION = 4
"""Trials in a region, and outside it."""
LEAST_SHARE = 0.15
"""Smallest share of all trials that a region holds, and that lies outside it."""
LEAST_PEOPLE = 5
"""People in an experiment from whom anything about their spread is read."""
RULES = {
    "slope": "a trend along one property of the trials",
    "curvature": "a curvature along one property of the trials",
    "interaction": "two properties of the trials that act together",
    "extremity": "predictions that are too extreme or too moderate",
    "side": "a preference for one option whatever the trial",
    "region": "a region of trials where predictions fail most",
    "spread": "participants who differ more, or less, than the theory's population",
    "mixture": "two kinds of participants, each with another theory",
    "another": "another theory with a better fit to all responses",
    "lapse": "responses against near-certain predictions",
    "repetition": "a tendency to repeat or to avoid the last choice",
    "drift": "a change over the trials",
    "consistency": "responses to repeated trials",
}

OWN_FEATURES = {
    "person_side": "differences between participants in their preference for an option",
    "person_spread": "differences between participants in their agreement with the theory",
    "person_score_spread": "differences between participants in prediction accuracy",
    "constant": "a preference for one option",
    "mixture": "two kinds of participants",
    "another theory": "the fit of another theory",
    "lapse": "responses against near-certain predictions",
    "last_choice": "the last choice",
    "side_drift": "changes over the trials",
    "agreement_drift": "changes of agreement with the theory over the trials",
    "repeated_trial": "responses to repeated trials",
}
"""Topics, in words, of checks that are not about a property of trials."""


@dataclass(frozen=True)
class DiagnosisCheck:
    """One rule's finding, before it is known whether it counts."""

    rule: str
    feature: str
    """Name by which mechanisms answer it."""
    answered_by: tuple[str, ...]
    """Features whose mechanisms could repair it."""
    effect: float
    error: float
    z: float
    p: float
    analysis: str
    """A sentence with ``{name}`` for the theory and ``{size}`` for the effect and its interval."""
    gain: Callable[[PanelCorrector], CorrectionGain]
    column: Array | None = None
    """``(n_answered,)`` the pattern over all answered trials, for rules about trials, less what `controls` explain."""
    controls: Array | None = None
    """``(n_answered, n_controls)`` columns that are held when the pattern is judged."""


@dataclass(frozen=True)
class DiagnosisSheet:
    """All experiments together, responses and replicas, trial by trial and person by person."""

    panels: Sequence[AnswerPanel]
    observed: Sequence[PanelSummary]
    replicas: Sequence[PanelSummary]
    features: Mapping[str, Array]
    """``(n_answered,)`` each, over the answered trials of all experiments."""

    @property
    def answered(self) -> list[NDArray[np.bool_]]:
        """Mask of the trials of each experiment that have responses."""
        return [panel.n_answers > 0 for panel in self.panels]

    def joined(self, parts: Sequence[Array]) -> Array:
        """``(..., n_answered)`` from ``(..., n_trials)`` for each experiment."""
        return np.concatenate(
            [part[..., keep] for part, keep in zip(parts, self.answered, strict=True)], axis=-1
        )

    def split(self, column: Array) -> list[Array]:
        """The inverse of `joined`, 0 where nothing was answered."""
        parts, start = [], 0
        for keep in self.answered:
            part = np.zeros(len(keep))
            part[keep] = column[start : start + keep.sum()]
            parts.append(part)
            start += int(keep.sum())
        return parts

    @property
    def option(self) -> str:
        """The option whose responses are compared with predictions, in words."""
        return "the second option" if self.panels[0].mean.shape[1] == 2 else "the last option"

    @property
    def n_answers(self) -> Array:
        """Number of responses to each trial that was answered: ``(n_answered,)``."""
        return self.joined([panel.n_answers for panel in self.panels])

    @property
    def predicted(self) -> Array:
        """``(n_answered,)`` share of the last option."""
        return np.clip(
            self.joined([panel.mean[:, panel.option] for panel in self.panels]), 0.0, 1.0
        )

    def sample(self) -> ResidualSample:
        """Residuals of all experiments together, for regressions."""
        n_answers, predicted = self.n_answers, self.predicted
        people, start = [], 0
        for panel, keep in zip(self.panels, self.answered, strict=True):
            if not panel.pooled and panel.n_people > 1:
                counts = panel.counts[:, keep]
                chosen, mean = counts[..., panel.option], panel.mean[keep, panel.option]
                people.append((start, chosen - counts.sum(axis=2) * mean))
            start += int(keep.sum())
        chosen = self.joined([item.chosen for item in self.observed])[0]
        simulated = self.joined([item.chosen for item in self.replicas])
        return ResidualSample(
            chosen / n_answers, predicted, n_answers, people, simulated / n_answers - predicted
        )

    def with_people(self, least: int = 1) -> list[int]:
        """Experiments in which at least so many people can be told apart."""
        return [number for number, panel in enumerate(self.panels) if panel.n_people >= least]


def trial_checks(sheet: DiagnosisSheet) -> list[DiagnosisCheck]:
    """Trends, bends and products of features, extremity and side."""
    sample, found = sheet.sample(), []
    for make in (_slopes, _curvatures, _interactions, _extremity, _side):
        for check in make(sheet):
            assert check.column is not None
            assert check.controls is not None
            slope = slope_of(sample, check.column, check.controls)
            if slope is not None:
                found.append(
                    replace(check, effect=slope.effect, error=slope.error, z=slope.z, p=slope.p)
                )
    return found


def remains(
    sheet: DiagnosisSheet, check: DiagnosisCheck, others: Sequence[DiagnosisCheck]
) -> float:
    """p-value of a check about trials when the patterns of stronger ones are held."""
    assert check.column is not None
    columns = [other.column for other in others if other.column is not None]
    if check.rule == "region":
        held = np.stack([np.ones(len(check.column)), *columns], axis=1)
        return min((again.p for again in region_check(sheet, held)), default=1.0)
    assert check.controls is not None
    slope = slope_of(
        sheet.sample(),
        check.column,
        np.concatenate([check.controls, np.stack(columns, axis=1)], axis=1),
    )
    return 1.0 if slope is None else slope.p


def _standardised(values: Array) -> Array | None:
    spread = float(np.std(values)) if np.isfinite(values).all() else 0.0
    return None if spread < 1e-9 else (values - values.mean()) / spread


def _usable(sheet: DiagnosisSheet) -> dict[str, Array]:
    found = {name: _standardised(values) for name, values in sheet.features.items()}
    return {name: values for name, values in found.items() if values is not None}


def _trial_check(
    sheet: DiagnosisSheet,
    rule: str,
    feature: str,
    answered_by: tuple[str, ...],
    column: Array,
    text: str,
    *controls: Array,
) -> DiagnosisCheck:
    held = np.stack(controls, axis=1) if controls else np.zeros((len(column), 0))
    alone = column - held @ np.linalg.lstsq(held, column, rcond=None)[0] if controls else column
    build = correction.offset(sheet.split(alone))
    return DiagnosisCheck(
        rule, feature, answered_by, 0, 0, 0, 1, text, lambda item: item.fixed(build), alone, held
    )


def _slopes(sheet: DiagnosisSheet) -> Iterator[DiagnosisCheck]:
    for name, x in _usable(sheet).items():
        text = (
            "participants chose {option} {size} than {name} predicts for each standard deviation of "
            f"{words(name)}"
        )
        yield _trial_check(sheet, "slope", name, (name,), x, text, np.ones_like(x))


def _curvatures(sheet: DiagnosisSheet) -> Iterator[DiagnosisCheck]:
    """Bends: squares, which keep their sign where a property speaks for one option or the other."""
    for name, x in _usable(sheet).items():
        if len(np.unique(x)) < 4:
            continue
        if _is_signed(sheet.features[name]):
            x = sheet.features[name] / np.std(sheet.features[name])
            column = x * np.abs(x)
            text = (
                f"where {words(name)} strongly favours {{option}}, participants chose it {{size}} than {{name}} "
                f"predicts, "
                "beyond a proportional effect"
            )
        else:
            column = x**2
            text = (
                f"one standard deviation away from the middle of {words(name)}, on either side, participants "
                "chose {option} {size} than {name} predicts, compared with the middle"
            )
        yield _trial_check(
            sheet, "curvature", f"{name} squared", (name,), column, text, np.ones_like(x), x
        )


def _interactions(sheet: DiagnosisSheet) -> Iterator[DiagnosisCheck]:
    """Properties that speak for no option, each with some that do, the theory's own prediction among them.

    Of both kinds those are taken that together span the trials best, so that the choice does not look at the responses.
    Products of two properties that both speak for an option would not change with the sides of the screen.
    """
    usable = _usable(sheet)
    plain = _spanning(
        {name: x for name, x in usable.items() if not _is_signed(sheet.features[name])}
    )
    signed = _spanning({name: x for name, x in usable.items() if _is_signed(sheet.features[name])})
    log_odds = _standardised(_log_odds(sheet))
    if log_odds is not None:
        signed = {"predicted_log_odds": log_odds, **signed}
    for (first, x), (second, y) in product(plain.items(), signed.items()):
        text = (
            f"where {words(first)} and {words(second)} are both a standard deviation high, or both low, "
            f"participants chose "
            f"{{option}} {{size}} than {{name}} predicts, beyond their single effects"
        )
        name = f"{first} with {second}"
        yield _trial_check(
            sheet, "interaction", name, (first, second), x * y, text, np.ones_like(x), x, y
        )


def _is_signed(values: Array) -> bool:
    """Whether a property speaks for the one option where it is positive and for the other where it is negative."""
    return bool(values.min() < 0 < values.max())


def _spanning(columns: Mapping[str, Array]) -> dict[str, Array]:
    """The first `INTERACTING` of a pivoted QR decomposition."""
    if not columns:
        return {}
    order = qr(np.stack(list(columns.values()), axis=1), mode="r", pivoting=True)[1]
    names = [list(columns)[place] for place in order[:INTERACTING]]
    return {name: columns[name] for name in names}


def _log_odds(sheet: DiagnosisSheet) -> Array:
    p = np.clip(sheet.predicted, 0.01, 0.99)
    return np.asarray(np.log(p / (1 - p)))


def _extremity(sheet: DiagnosisSheet) -> Iterator[DiagnosisCheck]:
    x = _log_odds(sheet)
    if np.std(x) < 1e-6:
        return
    text = "where {name} predicts {option} with log odds of 1, participants chose it {size} than it predicts"
    build = correction.temperature([np.ones(len(panel.mean)) for panel in sheet.panels])
    check = _trial_check(
        sheet, "extremity", "extremeness", ("extremeness",), x, text, np.ones_like(x)
    )
    yield replace(check, gain=lambda item: item.fixed(build))


def _side(sheet: DiagnosisSheet) -> Iterator[DiagnosisCheck]:
    ones = np.ones(len(sheet.n_answers))
    text = "over all trials participants chose {option} {size} than {name} predicts"
    yield _trial_check(sheet, "side", "constant", ("constant",), ones, text)


def region_check(sheet: DiagnosisSheet, held: Array | None = None) -> list[DiagnosisCheck]:
    """The single split of one feature, or of its size, on whose one side predictions fail most.

    Args:
        sheet: All experiments.
        held: ``(n_answered, n_columns)`` trends that are taken out of the people's residuals before.
    """
    n_answers, predicted = sheet.n_answers, sheet.predicted
    trend = np.zeros(len(n_answers))
    if held is not None:
        sample = sheet.sample()
        root = np.sqrt(sample.weight)
        trend = held @ np.linalg.lstsq(root[:, None] * held, root * sample.residual, rcond=None)[0]
    variance = n_answers * np.maximum(predicted * (1 - predicted), 0.01)

    def misfit(parts: Sequence[PanelSummary], expected: Array) -> Array:
        return (
            sheet.joined([item.chosen for item in parts]) - n_answers * expected
        ) ** 2 / variance

    members, names = _regions(sheet)
    if not len(members):
        return []
    size = members.sum(axis=1)
    own = np.log(misfit(sheet.observed, predicted + trend) @ members.T / size + 0.1)[0]
    simulated = np.log(misfit(sheet.replicas, predicted) @ members.T / size + 0.1)
    centre, spread = simulated.mean(axis=0), np.maximum(simulated.std(axis=0, ddof=1), 1e-9)
    z = (own - centre) / spread
    worst = int(z.argmax())
    maxima = ((simulated - centre) / spread).max(axis=1)
    scale = max(float(maxima.std(ddof=1)), 1e-9) * np.sqrt(6) / np.pi
    p = float(gumbel_r.sf(z[worst], maxima.mean() - np.euler_gamma * scale, scale))
    feature, where = names[worst]
    ratio = float(np.exp(own[worst] - centre[worst]))
    column = members[worst].astype(np.float64)
    builds = [make(sheet.split(column)) for make in (correction.offset, correction.temperature)]
    return [
        DiagnosisCheck(
            rule="region",
            feature=feature,
            answered_by=(feature,),
            effect=ratio,
            error=float(ratio * spread[worst]),
            z=float(z[worst]),
            p=p,
            analysis=(
                f"on the {int(size[worst])} of {members.shape[1]} trials where {where}, squared prediction errors of "
                "{name} are {size} those expected if it were true, the largest ratio among the regions searched"
            ),
            gain=lambda corrector: max(
                (corrector.fixed(build) for build in builds), key=lambda gain: gain.total
            ),
            column=column,
        )
    ]


def _regions(sheet: DiagnosisSheet) -> tuple[NDArray[np.bool_], list[tuple[str, str]]]:
    """``(n_regions, n_answered)`` membership and, for each, its feature and its description."""
    members, names = [], []
    known: set[bytes] = set()
    for name, values in sheet.features.items():
        if not np.isfinite(values).all():
            continue
        forms = [(values, words(name))]
        if values.min() < 0 < values.max():
            forms.append((np.abs(values), f"the size of {words(name)}"))
        for form, phrase in forms:
            cuts = np.unique(np.quantile(form, np.arange(1, 6) / 6, method="inverted_cdf"))
            for cut in cuts:
                for inside, sign in ((form <= cut, "at most"), (form > cut, "above")):
                    least = max(LEAST_REGION, LEAST_SHARE * len(form))
                    if least <= inside.sum() <= len(form) - least and inside.tobytes() not in known:
                        known.add(inside.tobytes())
                        members.append(inside)
                        names.append((name, f"{phrase} is {sign} {cut:.3g}"))
    return np.array(members, dtype=bool).reshape(len(members), len(sheet.n_answers)), names


def people_checks(sheet: DiagnosisSheet) -> list[DiagnosisCheck]:
    """Spread of people: how well they are predicted, how closely they follow the theory, which side they prefer."""
    found = []
    chosen = sheet.with_people(LEAST_PEOPLE)
    ones = [np.ones(len(panel.mean)) for panel in sheet.panels]
    kinds = (
        (
            "own",
            "person_spread",
            "prediction accuracy varies {size} as much between participants as {name} implies",
            True,
        ),
        (
            "agreement",
            "person_spread",
            "agreement with {name} varies {size} as much between participants as it implies",
            True,
        ),
        (
            "side",
            "person_side",
            "preferences for {option} vary {size} as much between participants as {name} implies",
            False,
        ),
    )
    for kind, feature, text, stretch in kinds if chosen else ():
        parts = [
            (getattr(sheet.observed[n], kind), getattr(sheet.replicas[n], kind)) for n in chosen
        ]
        if any(simulated.std(axis=0).max() < 1e-9 for _, simulated in parts):
            continue
        own, simulated = (
            np.log(sum(_spread(item[place], item[1].mean(axis=0)) for item in parts) + 1e-12)
            for place in (0, 1)
        )
        effect, error, z, p = _against(own[0], simulated)
        build = correction.temperature(ones) if stretch else correction.offset(ones)
        label = feature if kind != "own" else "person_score_spread"
        found.append(
            DiagnosisCheck(
                "spread", label, ("person_spread", feature), effect, error, z, p, text,
                lambda corrector, build=build: corrector.varied(build),  # type: ignore[misc]
            )
        )  # fmt: skip
    return found


def _spread(values: Array, expected: Array) -> Array:
    """``(n_replicas,)`` sum of squared deviations of people from what is expected of each, their mean aside."""
    beyond = values - expected
    return np.asarray(((beyond - beyond.mean(axis=1, keepdims=True)) ** 2).sum(axis=1))


def pool_checks(
    theory: TheoryPredictions, others: Sequence[TheoryPredictions]
) -> list[DiagnosisCheck]:
    """Other theories of the pool that explain these people better, a share of them or all; all thinned."""
    if not others or all(item.trials.pooled for item in theory.evidence):
        return []
    own = scores_of_people(theory)
    found = [sharing(own, scores_of_people(other)) for other in others]
    seen = pool_evidence(found)
    mixed, replaced = found[seen.mixed_with], found[seen.replaced_by]
    low, high = mixed.interval
    return [
        DiagnosisCheck(
            rule="mixture",
            feature="mixture",
            answered_by=("mixture", "person_spread"),
            effect=mixed.share,
            error=0.0,
            z=z_of(seen.mixture_p),
            p=seen.mixture_p,
            analysis=(
                f"a mixture of {{name}} and {_literal(others[seen.mixed_with].name)} describes participants better "
                f"than {{name}} alone; estimated weight of the second {mixed.share:.0%} "
                f"(95% interval {low:.0%} to {high:.0%})"
            ),
            gain=lambda corrector: mixed.gain,
        ),
        DiagnosisCheck(
            rule="another",
            feature="another theory",
            answered_by=(),
            effect=replaced.share,
            error=0.0,
            z=z_of(seen.replaced_p),
            p=seen.replaced_p,
            analysis=(
                f"{_literal(others[seen.replaced_by].name)} fits an estimated {replaced.share:.0%} of participants "
                f"(one-sided 95% interval: at least {replaced.interval[0]:.0%}) better than {{name}}"
            ),
            gain=lambda corrector: replaced.gain,
        ),
    ]


@dataclass(frozen=True)
class SequenceRule:
    """A pattern over a person's sequence of responses that the theory may not predict."""

    rule: str
    key: str
    """Name of the statistic among the panel's sums."""
    feature: str
    unit: str
    """Unit of its counts of responses: a name in `_sequence_sizes`."""
    analysis: str
    gain: Callable[[PanelCorrector], CorrectionGain]


SEQUENCE_RULES = (
    SequenceRule(
        "lapse", "against", "lapse", "n_answers",
        "responses that {name} predicted with less than 5% for the participant are {size} frequent than in data "
        "simulated from it",
        lambda corrector: corrector.guesses(),
    ),
    SequenceRule(
        "repetition", "repeat", "last_choice", "n_next",
        "participants repeated their last choice {size} than {name} predicts",
        lambda corrector: corrector.fixed(correction.repeat_last),
    ),
    SequenceRule(
        "drift", "side_drift", "side_drift", "half",
        "participants chose {option} {size} in the second half of their responses than in the first, "
        "beyond what "
        "{name} predicts",
        lambda corrector: corrector.fixed(correction.side_drift),
    ),
    SequenceRule(
        "drift", "agreement_drift", "time_on_task", "half",
        "participants chose the option that {name} finds likelier {size} in the second half of their responses "
        "than in the "
        "first",
        lambda corrector: corrector.fixed(correction.agreement_drift),
    ),
    SequenceRule(
        "consistency", "discord", "repeated_trial", "n_pairs",
        "two responses of one participant to the same trial differ {size} than {name} predicts",
        lambda corrector: corrector.fixed(correction.repeat_own),
    ),
)  # fmt: skip


def sequence_checks(sheet: DiagnosisSheet) -> list[DiagnosisCheck]:
    """Lapses, repetition, drift and consistency: what a person does from one response to the next."""
    chosen = sheet.with_people()
    if not chosen:
        return []
    sizes = _sequence_sizes([sheet.panels[number] for number in chosen])
    checks = (_sequence_check(sheet, chosen, item, sizes[item.unit]) for item in SEQUENCE_RULES)
    return [check for check in checks if check is not None]


def _sequence_sizes(panels: Sequence[AnswerPanel]) -> dict[str, float]:
    """Numbers of responses, next responses in long sequences, halves of these, and pairs of responses to one trial."""
    long = [panel.mask.sum(axis=1) >= LEAST_SEQUENCE for panel in panels]
    n_answers = sum(int(panel.mask.sum()) for panel in panels)
    n_long = sum(int(panel.mask[own].sum()) for panel, own in zip(panels, long, strict=True))
    n_next = n_long - sum(int(own.sum()) for own in long)
    counts = [panel.counts.sum(axis=2) for panel in panels]
    n_pairs = sum(float((n * (n - 1) / 2).sum()) for n in counts)
    return {
        "n_answers": float(n_answers),
        "n_next": float(n_next),
        "half": n_long / 2,
        "n_pairs": n_pairs,
    }


def _sequence_check(
    sheet: DiagnosisSheet, chosen: Sequence[int], item: SequenceRule, size: float
) -> DiagnosisCheck | None:
    """One rule, checked against the replicas; None where there are too few responses, or nothing varies."""
    own = float(sum(sheet.observed[number].sums[item.key][0] for number in chosen))
    simulated = np.sum([sheet.replicas[number].sums[item.key] for number in chosen], axis=0)
    spread = max(float(simulated.std()), abs(own - float(simulated.mean())))
    if size < LEAST_SEQUENCE or spread < 1e-9 * size:
        return None
    effect, error, z, p = _against(own / size, simulated / size)
    if item.rule == "lapse":
        # Counts of rare responses are skew; their square root is not (Anscombe, 1948, Biometrika 35, 246-254).
        _, _, z, p = _against(np.sqrt(own + 0.375), np.sqrt(simulated + 0.375))
    return DiagnosisCheck(
        item.rule, item.feature, (item.feature,), effect, error, z, p, item.analysis, item.gain
    )


def _against(own: float, simulated: Array) -> tuple[float, float, float, float]:
    """Effect beyond the replicas' mean, its standard error, z and two-sided p of one more draw from them."""
    effect = float(own - simulated.mean())
    error = float(max(simulated.std(ddof=1), TINY))
    z = effect / error
    n = len(simulated)
    return effect, error, z, float(2 * t.sf(abs(z) / np.sqrt(1 + 1 / n), n - 1))


def _literal(text: str) -> str:
    """Text that `str.format` leaves as it is."""
    return text.replace("{", "{{").replace("}", "}}")


def words(feature: str) -> str:
    """A feature's name as text."""
    return OWN_FEATURES.get(feature) or feature.replace("_", " ")
