"""The case file of a diagnosis: findings that count, their size and certainty, what to change, what would show it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit
from scipy.stats import false_discovery_control

from lakatos.experiments.adoption.names import experiment_in_words
from lakatos.theories.discovery.diagnosis.correction import CorrectionGain, PanelCorrector
from lakatos.theories.discovery.diagnosis.panel import AnswerPanel, TheoryPredictions, TrialFeatures
from lakatos.theories.discovery.diagnosis.rule import (
    RULES,
    DiagnosisCheck,
    DiagnosisSheet,
    people_checks,
    pool_checks,
    region_check,
    remains,
    sequence_checks,
    trial_checks,
    words,
)
from lakatos.theories.engine.record import Diagnosis, DiagnosisClaim
from lakatos.theories.engine.scoring.score import ScoreEstimate, is_tie
from lakatos.theories.language.grammar import Grammar, Mechanism
from lakatos.theories.language.topic import topic_of
from lakatos.traces.digest import Digest
from lakatos.traces.wording import in_a_list

Array = NDArray[np.float64]
FALSE_DISCOVERY_RATE = 0.1
"""Expected share of false findings among those whose mechanisms a search tries."""
STATED = 0.05
"""Adjusted p below which a finding is stated as a misfit."""
N_REPLICAS = 200
MOST_CLAIMS = 5
MOST_NAMED = 3
"""Mechanisms that a recommendation names; a search tries all."""
MOST_WEIGHED = 6
"""Findings whose worth is computed."""
GAIN_DIGITS = 9
"""Decimals to which gains on trials are compared."""
STILL_THERE = 0.05
"""p-value below which a trend counts although stronger ones are held."""
TOGETHER = 0.7
"""Correlation over trials at which two properties cannot well be told apart."""
ABOUT_OTHERS = ("mixture", "another")
"""Rules that hold the theory against others of the pool; their claims cite these, too."""
CONFIDENCE = (-3.14, 0.90, -0.73)
"""Logistic regression, on `confidence_columns`, of whether a claim names what is wrong: constant, strength of the
evidence, lag behind the best correction. Fitted by ``benchmarks/theories/diagnosis.py`` to planted flaws."""
CONFIDENCE_OF_RULE = {
    "slope": -1.22,
    "curvature": -0.80,
    "interaction": -0.16,
    "extremity": 0.54,
    "side": 0.94,
    "region": 1.42,
    "spread": 1.45,
    "mixture": -0.92,
    "another": -3.82,
    "lapse": -0.27,
    "repetition": -0.05,
    "drift": 3.55,
    "consistency": -0.73,
}
"""Term of the same regression for the rule of the claim."""


@dataclass(frozen=True)
class DiagnosisFinding:
    """A check whose misfit is beyond chance, and what mending it would gain."""

    check: DiagnosisCheck
    q: float
    """Adjusted p."""
    gain: CorrectionGain
    behind: float
    """Nats, all responses together, by which its correction gains less than the best one; 0 or less."""

    @property
    def confidence(self) -> float:
        """Calibrated probability that it names what is wrong."""
        return confidence(self.check.rule, self.check.p, self.behind)


@dataclass(frozen=True)
class TheoryExamination:
    """All checks of one theory."""

    sheet: DiagnosisSheet
    checks: tuple[DiagnosisCheck, ...]
    found: tuple[DiagnosisFinding, ...]
    """Findings that count, the one with most gain first."""


def diagnose(
    cycle: int,
    loser: TheoryPredictions,
    leader: TheoryPredictions,
    difference: ScoreEstimate,
    experiments: Sequence[TrialFeatures],
    grammar: Grammar,
    rng: np.random.Generator,
    *,
    others: Sequence[TheoryPredictions] = (),
    n_replicas: int = N_REPLICAS,
) -> Diagnosis:
    """Write the loser's case file.

    Args:
        cycle: Cycle of the campaign.
        loser: The theory that lost.
        leader: The one that leads.
        difference: Leader minus loser, nats per choice.
        experiments: All of them, in the order of the theories' evidence.
        grammar: Names the mechanisms that answer each feature.
        rng: Generator for the replicas.
        others: Further theories that a share of the people might follow.
        n_replicas: Simulated data sets.

    Returns:
        Location, hypothesis, proposal, dependencies and test, with claims under false-discovery control over all
        checks (Benjamini & Hochberg, 1995, Journal of the Royal Statistical Society B 57, 289-300).
    """
    seen = examine(loser, [leader, *others], experiments, rng, n_replicas=n_replicas)
    suspected = _claims(seen, loser, leader, others, experiments, grammar)
    claims, found = _stated(suspected), _stated(seen.found)
    first = claims[0] if claims else None
    places = [words(claim.feature) for claim in claims]
    return Diagnosis(
        cycle=cycle,
        loser=loser.theory,
        leader=leader.theory,
        difference=difference.value,
        standard_error=difference.standard_error,
        tie=is_tie(difference),
        claims=(*claims, *filter(None, [_illustration(seen.sheet, leader, experiments, loser)])),
        location=", ".join(dict.fromkeys(places))
        or "no single property of trials, participants or order",
        hypothesis=_hypothesis(loser.name, [item.check for item in found]),
        proposal=first.recommendation if first else "change one mechanism at a time",
        remedies=tuple(dict.fromkeys(remedy for claim in suspected for remedy in claim.remedies)),
        test=_test(seen.sheet, loser.name, found[0].check) if found else _NO_TEST,
        dependencies=_dependencies(replace(seen, found=tuple(found)), loser),
        confidence=first.confidence if first else None,
        n_checks=len(seen.checks),
        n_replicas=n_replicas,
    )


class _Adjusted(Protocol):
    """A finding, or the claim that is made of it."""

    @property
    def q(self) -> float: ...


Finding = TypeVar("Finding", bound=_Adjusted)


def _stated(found: Sequence[Finding]) -> list[Finding]:
    """Findings that are stated as misfits."""
    return [item for item in found if item.q < STATED]


def _claims(
    seen: TheoryExamination,
    loser: TheoryPredictions,
    leader: TheoryPredictions,
    others: Sequence[TheoryPredictions],
    experiments: Sequence[TrialFeatures],
    grammar: Grammar,
) -> list[DiagnosisClaim]:
    """A claim of each finding, with the records that it rests on."""
    tried = (digest for item in experiments for digest in item.records)
    cites = tuple(dict.fromkeys([*loser.records, *leader.records, *tried]))
    extra = tuple(digest for item in others for digest in item.records)
    claims = []
    for item in seen.found:
        own = (*cites, *extra) if item.check.rule in ABOUT_OTHERS else cites
        claims.append(_claim(item, loser.name, seen.sheet.option, own, grammar))
    return claims


def examine(
    theory: TheoryPredictions,
    others: Sequence[TheoryPredictions],
    experiments: Sequence[TrialFeatures],
    rng: np.random.Generator,
    *,
    n_replicas: int = N_REPLICAS,
) -> TheoryExamination:
    """All checks of one theory, and those that count; arguments as of `diagnose`."""
    theory, *others = (item.thinned() for item in (theory, *others))
    panels = [AnswerPanel(item, theory.log_weights) for item in theory.evidence]
    sheet = DiagnosisSheet(
        panels,
        [panel.observed() for panel in panels],
        [panel.replicas(rng, n_replicas) for panel in panels],
        _shared_features(experiments, [panel.n_answers > 0 for panel in panels]),
    )
    checks = (
        *trial_checks(sheet),
        *region_check(sheet),
        *people_checks(sheet),
        *pool_checks(theory, others),
        *sequence_checks(sheet),
    )
    return TheoryExamination(sheet, checks, _findings(sheet, PanelCorrector(panels), checks))


def _shared_features(
    experiments: Sequence[TrialFeatures], answered: Sequence[NDArray[np.bool_]]
) -> dict[str, Array]:
    """Features that all experiments have, on the trials that were answered."""
    shared = set.intersection(*(set(item.features) for item in experiments))
    own = list(zip(experiments, answered, strict=True))
    columns = {}
    for name in experiments[0].features:
        if name in shared:
            columns[name] = np.concatenate([item.features[name][keep] for item, keep in own])
    return columns


def _findings(
    sheet: DiagnosisSheet, corrector: PanelCorrector, checks: Sequence[DiagnosisCheck]
) -> tuple[DiagnosisFinding, ...]:
    """Checks that survive the correction for all of them, the one worth most first.

    A check about trials must still be there while the columns of those worth more are held. That everybody follows
    another theory is said last, since it mends nothing, and only where no share of the people is found to do so.
    """
    weighed = [DiagnosisFinding(c, q, c.gain(corrector), 0.0) for c, q in _significant(checks)]
    kept = _independent(sheet, sorted(weighed, key=_weight_order))
    mended = [item for item in kept if item.check.rule != "another"]
    best = max((item.gain.total for item in mended), default=0.0)
    ranked = sorted(mended, key=lambda item: -item.gain.total)
    found = [replace(item, behind=item.gain.total - best) for item in ranked[:MOST_CLAIMS]]
    if not any(item.check.rule == "mixture" for item in mended):
        found += [item for item in kept if item.check.rule == "another"]
    return tuple(found)


def _significant(checks: Sequence[DiagnosisCheck]) -> list[tuple[DiagnosisCheck, float]]:
    """Checks that pass at `FALSE_DISCOVERY_RATE`, with adjusted p; the clearest ones, clearest first."""
    if not checks:
        return []
    adjusted = false_discovery_control([min(max(check.p, 1e-300), 1.0) for check in checks])
    pairs = zip(checks, adjusted, strict=True)
    passed = [(check, float(q)) for check, q in pairs if q <= FALSE_DISCOVERY_RATE]
    passed.sort(key=lambda item: (item[0].p, -abs(item[0].z)))
    return passed[:MOST_WEIGHED]


def _independent(
    sheet: DiagnosisSheet, found: Sequence[DiagnosisFinding]
) -> list[DiagnosisFinding]:
    """Findings that are still there while the columns of those before them are held."""
    kept: list[DiagnosisFinding] = []
    for item in found:
        check = item.check
        stronger = [other.check for other in kept if other.check.column is not None]
        if check.column is None or not stronger or remains(sheet, check, stronger) <= STILL_THERE:
            kept.append(item)
    return kept


def _weight_order(item: DiagnosisFinding) -> tuple[bool, float]:
    """Order findings by their gain; a region, selected from many, would explain trends away and comes last."""
    return item.check.rule == "region", -item.gain.total


def confidence(rule: str, p: float, behind: float) -> float:
    """Calibrated probability that a claim names what is wrong.

    Args:
        rule: Rule of its check.
        p: p value of its check.
        behind: As of `DiagnosisFinding`.
    """
    odds = np.dot(CONFIDENCE, confidence_columns(p, behind)) + CONFIDENCE_OF_RULE.get(rule, 0.0)
    return float(expit(odds))


def confidence_columns(p: float, behind: float) -> tuple[float, float, float]:
    """Return the columns of `CONFIDENCE`: evidence counts no longer where another correction gains far more."""
    lag = max(behind, -10.0) / 10.0
    return 1.0, (1.0 + lag) * min(-float(np.log10(max(p, 1e-300))), 8.0), lag


def _claim(
    found: DiagnosisFinding, name: str, option: str, cites: tuple[Digest, ...], grammar: Grammar
) -> DiagnosisClaim:
    check, worth = found.check, found.gain.per_choice
    repairing = [
        item for feature in check.answered_by for item in grammar.mechanisms_repairing(feature)
    ]
    low, high = worth.interval
    added = "this" if check.rule in ABOUT_OTHERS else "a parameter for this pattern"
    improves = "improves" if low > 0 else "does not clearly improve"
    expected = (
        f"{added} {improves} the fit to the same responses ({worth.value:+.4f} nats per choice, {low:+.4f} to "
        f"{high:+.4f}); the gain on new responses is smaller"
    )
    ends = (check.effect - 1.96 * check.error, check.effect + 1.96 * check.error)
    return DiagnosisClaim(
        text=check.analysis.format(name=name, option=option, size=_size(check, ends)),
        feature=check.feature,
        effect=check.effect,
        z=check.z,
        q=found.q,
        cites=cites,
        rule=check.rule,
        trigger=f"{RULES[check.rule]}; unadjusted {_p_in_words(check.p)}",
        interval=None if check.rule in ABOUT_OTHERS else ends,
        confidence=found.confidence,
        gain=worth.value,
        gain_error=worth.standard_error,
        recommendation=(_in_words(repairing) if repairing else _without_mechanism(check))
        + f"; {expected}",
        remedies=tuple(dict.fromkeys(f"{item.slot}:{item.name}" for item in repairing)),
    )


def _in_words(mechanisms: Sequence[Mechanism]) -> str:
    """Mechanisms by what their clauses are about, or by their names where no clause has a label; of many, a few."""
    labels = [
        topic_of(wording.label, wording.opposite_label)
        for item in mechanisms
        for wording in item.wordings
    ]
    names = list(filter(None, labels)) or [item.name.replace("_", " ") for item in mechanisms]
    own = list(dict.fromkeys(names))
    if len(own) <= MOST_NAMED:
        return f"try mechanisms of {in_a_list(own)}"
    return f"try mechanisms of {', '.join(own[:MOST_NAMED])} and {len(own) - MOST_NAMED} others"


_WITHOUT_MECHANISM = {
    "slope": "add a mechanism for it",
    "curvature": "let the effect level off, reverse or begin at a threshold",
    "interaction": "let one property change the weight of the other",
    "extremity": "change how strictly choices follow the evidence",
    "side": "add a preference for one side",
    "region": "treat these trials by a rule of their own",
    "spread": "widen the differences between participants",
    "spread, too wide": "narrow the differences between participants",
    "mixture": "let some participants follow the one theory and some the other",
    "another": "continue from that theory instead of revising this one",
    "lapse": "add a proportion of random responses",
    "lapse, too many": "reduce or remove random responses",
    "repetition": "let the last choice act on the next",
    "drift": "let a parameter change over the trials",
    "consistency": "let participants weigh a trial differently each time",
    "consistency, too much": "try rules with a better fit, which also predict more agreement between responses to a "
    "repeated trial",
}


def _without_mechanism(check: DiagnosisCheck) -> str:
    """The change to try where no mechanism is known that repairs the misfit."""
    below = {
        "lapse": "lapse, too many",
        "consistency": "consistency, too much",
        "spread": "spread, too wide",
    }
    change = _WITHOUT_MECHANISM[
        below.get(check.rule, check.rule) if check.effect < 0 else check.rule
    ]
    return (
        change
        if check.rule in ABOUT_OTHERS
        else f"{change}; the search has no mechanism for this pattern alone"
    )


_NO_TEST = "trials that are informative about the leading theory and its nearest rival"


def _p_in_words(p: float) -> str:
    """A probability found by replicas, which cannot support smaller values than 0.0001."""
    return f"p = {p:.2g}" if p >= 1e-4 else "p < 0.0001"


def _size(check: DiagnosisCheck, ends: tuple[float, float]) -> str:
    """The effect and its interval, in words that fit the rule's sentence."""
    if check.rule == "region":
        return f"{check.effect:.1f} times"
    if check.rule == "spread":
        ratio, low, high = (float(np.exp(value)) for value in (check.effect, *ends))
        return f"{ratio:.2f} (95% interval {low:.2f} to {high:.2f}) times"
    sign = 1 if check.effect > 0 else -1
    low, high = sorted(100 * sign * end for end in ends)
    more = "more" if check.effect > 0 else "less"
    points = (
        f"{100 * abs(check.effect):.1f} percentage points (95% interval {low:.1f} to {high:.1f})"
    )
    return f"{points} {more}" + ("" if check.rule == "lapse" else " often")


def _hypothesis(name: str, found: Sequence[DiagnosisCheck]) -> str:
    if not found:
        return f"no check found a misfit of {name}"
    first = found[0]
    causes = {
        "slope": f"{name} mispredicts how choices depend on {words(first.feature)}",
        "curvature": f"{name} assumes a more linear effect of {_curved_along(first)} than observed",
        "interaction": f"{name} assumes that {words(first.feature)} do not interact",
        "extremity": f"{name} predicts too {'moderate' if first.effect > 0 else 'extreme'} probabilities: its "
        "choice rule is wrong",
        "side": f"{name} lacks a preference for the {'second' if first.effect > 0 else 'first'} option",
        "region": f"participants follow another rule than {name} on some trials, characterised by "
        f"{words(first.feature)}",
        "spread": f"participants differ {'more' if first.effect > 0 else 'less'} from each other than {name} allows",
        "mixture": f"some participants follow another rule than {name}",
        "another": f"another theory fits the responses better than {name}",
        "lapse": f"participants err {'more' if first.effect > 0 else 'less'} often than the noise of {name} "
        f"allows, whatever "
        "the evidence",
        "repetition": f"participants {'repeat' if first.effect > 0 else 'avoid'} their last choice, and {name} has no "
        "memory",
        "drift": f"participants change over the trials, and {name} does not",
        "consistency": f"participants are {'less' if first.effect > 0 else 'more'} consistent than {name} "
        f"predicts when a trial "
        "comes again",
    }
    rest = [words(check.feature) for check in found[1:]]
    return causes[first.rule] + (
        f"; further misfits: {', '.join(dict.fromkeys(rest))}" if rest else ""
    )


def _curved_along(check: DiagnosisCheck) -> str:
    """The feature whose effect a finding of curvature is about, in words; other findings may name none."""
    return words((*check.answered_by, check.feature)[0])


def _test(sheet: DiagnosisSheet, name: str, check: DiagnosisCheck) -> str:
    """Describe what a test of the first finding would show, and how many responses it takes."""
    n_answers = float(sheet.n_answers.sum())
    needed = int(np.ceil(n_answers * (3 / max(abs(check.z), 1e-9)) ** 2 / 10) * 10)
    ways = {
        "slope": f"trials that vary {words(check.feature)} and hold the other properties constant",
        "curvature": f"trials at both ends and in the middle of {_curved_along(check)}, with other properties "
        "held constant",
        "interaction": f"trials that cross {words(check.feature)}",
        "extremity": f"trials on which {name} is nearly certain beside trials on which it is not",
        "side": "the same trials with the two options exchanged",
        "region": f"the marked trials beside trials that differ from them in {words(check.feature)} alone",
        "spread": "many trials per participant, so that participants can be distinguished",
        "mixture": "trials on which the two theories disagree, many per participant: participants would fall into "
        "two groups",
        "another": "trials on which the two theories disagree: responses would be closer to the "
        "predictions of the other one",
        "lapse": f"easy trials, on which {name} is nearly certain for every participant",
        "repetition": "the same trials in another order: choices would follow the order",
        "drift": "the same trials in the first and in the last part of a session",
        "consistency": "every trial twice, far apart",
    }
    return (
        f"{ways[check.rule]}; at the effect size found here, about {needed} new responses would have an expected z "
        "of 3 (the largest of many effects is overestimated, so more may be needed)"
    )


def _dependencies(seen: TheoryExamination, theory: TheoryPredictions) -> str:
    """State what goes together, what was not checked, and what was assumed."""
    notes = []
    for check in (item.check for item in seen.found):
        alike = _entangled(check, seen.checks)
        if alike:
            notes.append(
                f"on these trials {words(check.feature)} is correlated with {', '.join(alike[:4])}"
            )
    unchecked = _unchecked(seen)
    notes += [unchecked] if unchecked else []
    if theory.n_left_out:
        n_people = sum(item.trials.n_participants for item in theory.evidence)
        notes.append(
            f"{n_people:,} of {n_people + theory.n_left_out:,} participants, drawn at random, were examined"
        )
    notes.append(
        f"simulated data sets use the population distribution of {theory.name}, estimated from the same responses"
    )
    return "; ".join(notes)


def _entangled(check: DiagnosisCheck, others: Sequence[DiagnosisCheck]) -> list[str]:
    """Features, in words, of other checks that vary with this one over the trials."""
    if check.column is None or check.rule == "side":
        return []
    alike = set()
    for other in others:
        if other.column is None or other.rule == "side" or other.feature == check.feature:
            continue
        if abs(float(np.corrcoef(check.column, other.column)[0, 1])) >= TOGETHER:
            alike.add(words(other.feature))
    return sorted(alike)


def _unchecked(seen: TheoryExamination) -> str:
    """State what was not checked for want of data; empty if all was."""
    panels = seen.sheet.panels
    if all(panel.pooled for panel in panels):
        return "participants and the order of their responses are not known, so neither was checked"
    if any(panel.pooled for panel in panels):
        return "participants and order were checked only where they are known"
    checked = {check.rule for check in seen.checks}
    missing = [what for rule, what in RULES.items() if rule not in checked]
    return f"not checked, because data are missing: {', '.join(missing)}" if missing else ""


def _illustration(
    sheet: DiagnosisSheet,
    leader: TheoryPredictions,
    experiments: Sequence[TrialFeatures],
    loser: TheoryPredictions,
) -> DiagnosisClaim | None:
    """The trial that favours the leader most over the loser; None where both predict the same percentage on it."""
    # What the leader predicts for each trial, over its people.
    weights = np.exp(leader.log_weights)
    ahead = [
        np.einsum("d,dt->t", weights, item.probabilities[:, :, panel.option])
        for item, panel in zip(leader.evidence, sheet.panels, strict=True)
    ]

    # By how much its squared error is smaller, on each trial that was answered.
    gains = []
    for panel, summary, other in zip(sheet.panels, sheet.observed, ahead, strict=True):
        share = summary.chosen[0] / np.maximum(panel.n_answers, 1)
        gain = (panel.mean[:, panel.option] - share) ** 2 - (other - share) ** 2
        gains.append(np.where(panel.n_answers > 0, gain, -np.inf))

    # Mirror images gain the same but for the last digits, which differ between processors: the first is taken.
    rounded = [np.round(gain, GAIN_DIGITS) for gain in gains]
    number = int(np.argmax([gain.max() for gain in rounded]))
    row = int(rounded[number].argmax())
    panel, where = sheet.panels[number], experiments[number]
    predicted = [f"{value:.0%}" for value in (ahead[number][row], panel.mean[row, panel.option])]
    if predicted[0] == predicted[1]:
        return None
    share = float(sheet.observed[number].chosen[0, row] / panel.n_answers[row])
    return DiagnosisClaim(
        text=f"the trial that most favours {leader.name} is trial {row + 1} of "
        f"{experiment_in_words(panel.trials.experiment)}: {sheet.option} was chosen in {share:.0%} of responses; "
        f"estimated from these responses, {leader.name} predicts {predicted[0]} and {loser.name} "
        f"{predicted[1]}",
        feature="",
        effect=float(gains[number][row]),
        z=0.0,
        q=1.0,
        cites=tuple(dict.fromkeys([*loser.records, *leader.records, *where.records])),
    )
