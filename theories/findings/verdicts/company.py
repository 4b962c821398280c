"""Rivals in fair company, beside all published theories of the domain and learners that know nothing."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from types import MappingProxyType

import numpy as np

from lakatos.experiments.data_sets import left_out_with
from lakatos.experiments.task import Domain, Trials
from lakatos.theories.engine.evidence import TheoryEvidence
from lakatos.theories.engine.record import (
    CompletenessMeasured,
    LearnerBetter,
    TheoryCompleteness,
    UnitLogPredictives,
)
from lakatos.theories.engine.scoring.score import (
    ScoreEstimate,
    UnitScores,
    mean_score,
    over_data_sets,
    paired_difference,
)
from lakatos.theories.errors import TheoryError
from lakatos.theories.findings.generic_learners.completeness import (
    completeness,
    guessing,
    n_offered,
    regretted_trials,
)
from lakatos.theories.findings.generic_learners.learners import (
    LearnerPrediction,
    ceiling_of_people,
    left_out_kind,
    predict_left_out,
    predict_others,
)
from lakatos.theories.language.prior import Prior, learned_ends
from lakatos.theories.language.theory import Theory, read_program
from lakatos.traces.artifact import ArtifactStore
from lakatos.traces.digest import Digest
from lakatos.traces.wording import in_a_list, plural

BASES = {
    "data sets": "data sets held out in turn",
    "experiments": "experiments held out in turn",
    "people": "participants held out in turn",
    "trials": "trials held out in turn",
}
LEARNERS = "generic learners (gradient boosting and a neural network) trained on the same responses"
SCALE = f", on a scale from guessing (0) to {LEARNERS} (1),"
MOST_NAMED = 4
"""Theories of one sentence that are named."""
PRINTED_ALIKE = 5e-5
"""Difference of two advantages, in nats per choice, below which they are printed alike."""
SEALED = "sealed trials, everything learned from the open ones"


@dataclass(frozen=True)
class CompanyAnswers:
    """The responses on which rivals are compared, and those that taught them."""

    learned: list[Trials]
    unseen: list[Trials]
    """Sealed responses; none where parts of the learned ones are left out in turn."""
    experiments: tuple[str, ...]
    basis: str

    @property
    def scored(self) -> list[Trials]:
        """The responses that are predicted."""
        return self.unseen or self.learned

    @property
    def n_options(self) -> list[int | float]:
        """Number of offered options in each experiment, or data set, that is predicted."""
        wholes = left_out_with(self.experiments)
        options = map(n_offered, self.scored)
        return list(dict(zip(wholes, options, strict=True)).values())

    @property
    def names(self) -> tuple[str, ...]:
        """Names of what averages go over: data sets where there are several, else experiments."""
        return tuple(dict.fromkeys(left_out_with(self.experiments)))

    def over_names(self, scores: Sequence[UnitScores]) -> list[UnitScores]:
        """Scores of all experiments, brought to what averages go over."""
        return over_data_sets(self.experiments, scores)


@dataclass(frozen=True)
class CompanyFound:
    """Scores of everybody on the same responses."""

    own: Mapping[Digest, list[UnitScores]]
    """Theories of the pool, the leader first."""
    learner: LearnerPrediction
    noise: list[UnitScores] | None
    published: Mapping[str, tuple[Theory, list[UnitScores]]]
    """Published theories that did not compete, by name in study files."""
    failed: Mapping[str, str]


def answers_of_company(evidence: TheoryEvidence) -> CompanyAnswers:
    """Sealed answers where there are enough, else the open ones, parts of which are left out in turn."""
    learned = [evidence.trials(name) for name in evidence.experiments.collected]
    opened = evidence.experiments.sealed
    if opened is None or not evidence.decisive_sealed:
        basis = BASES[left_out_kind(learned)]
        return CompanyAnswers(learned, [], tuple(evidence.experiments.collected), basis)
    unseen = [evidence.trials_of(digest) for digest in opened.record.trials]
    return CompanyAnswers(learned, unseen, opened.record.experiments, SEALED)


def learn_generically(domain: Domain, seed: int, answers: CompanyAnswers) -> LearnerPrediction:
    """Predict the responses by generic learners; the same seed makes the same learners."""
    if not answers.unseen:
        return predict_left_out(domain, answers.learned, seed=seed)
    kind = "people" if domain.sequential else "trials"
    return predict_others(domain, answers.learned, answers.unseen, kind=kind, seed=seed)


def measure_company(
    evidence: TheoryEvidence, names: Sequence[Digest], artifacts: ArtifactStore
) -> CompletenessMeasured:
    """Compare rivals with published theories and learners, all taught and tested by the same responses.

    Args:
        evidence: What is known of theories.
        names: Rivals, the leader first.
        artifacts: Store in which sources of published theories are kept.
    """
    answers = answers_of_company(evidence)
    own = {name: answers.over_names(_scores_in_pool(evidence, name)) for name in names}
    with ThreadPoolExecutor(2) as pool:  # while theories are fitted in their sandboxes
        learner = pool.submit(learn_generically, evidence.domain, evidence.terms.seed, answers)
        noise = pool.submit(ceiling_of_people, evidence.domain, answers.scored)
        published, failed = fit_published(evidence, answers)
        learned, floor = learner.result(), noise.result()
    found = CompanyFound(
        own,
        replace(learned, scores=answers.over_names(learned.scores)),
        answers.over_names(floor) if floor else None,
        {name: (own, answers.over_names(scores)) for name, (own, scores) in published.items()},
        failed,
    )
    return _measured(evidence, artifacts, answers, found)


def _scores_in_pool(evidence: TheoryEvidence, name: Digest) -> list[UnitScores]:
    if name in evidence.decisive_sealed:
        return [item.scores for item in evidence.decisive_sealed[name].scores]
    return [
        evidence.theories.scores[name, item].record.left_out.scores
        for item in evidence.experiments.collected
    ]


def not_competing(
    published: Mapping[str, Theory], pool: Container[Digest], renamed: Container[str]
) -> dict[str, Theory]:
    """The published theories that did not compete, neither as they are nor under another name.

    Args:
        published: Published theories by name in study files.
        pool: Digests of the theories that competed.
        renamed: Names of published theories whose form competed under another name.
    """
    return {
        name: theory
        for name, theory in published.items()
        if theory.digest not in pool and theory.name not in renamed
    }


def fit_published(
    evidence: TheoryEvidence, answers: CompanyAnswers
) -> tuple[dict[str, tuple[Theory, list[UnitScores]]], dict[str, str]]:
    """Published theories that did not compete, with the people that all open answers teach, and their scores.

    Returns:
        Theories and scores by name in study files, and the reasons of those that do not run on these trials.
    """
    open_ = evidence.open_family
    forms = {name: read_program(open_.program(name)) for name in open_.seeds}
    renewed = evidence.theories.told
    there = set(renewed.record.published.values()) if renewed else set()
    forms = not_competing(forms, evidence.theories.pool, there)
    fitted, failed = evidence.laboratory.with_people_of(forms, answers.learned)
    scored = {}
    for (name, theory), scores in zip(
        fitted.items(),
        _score_all(evidence, list(fitted.values()), answers),
        strict=True,
    ):
        if isinstance(scores, TheoryError):
            failed[name] = f"{type(scores).__name__}: {scores}"
        else:
            scored[name] = (theory, scores)
    return scored, failed


def _score_all(
    evidence: TheoryEvidence,
    theories: Sequence[Theory],
    answers: CompanyAnswers,
) -> list[list[UnitScores] | TheoryError]:
    laboratory, n_draws = evidence.laboratory, evidence.terms.n_draws
    if not answers.unseen:
        found = laboratory.scores_of(theories, answers.learned, n_draws)
        return [
            item if isinstance(item, TheoryError) else [part.left_out for part in item]
            for item in found
        ]
    by_experiment = [
        laboratory.predictives_or_error(theories, item, n_draws) for item in answers.unseen
    ]
    scores: list[list[UnitScores] | TheoryError] = []
    for parts in zip(*by_experiment, strict=True):
        failed = [part for part in parts if isinstance(part, TheoryError)]
        scores.append(
            failed[0] if failed else [part for part in parts if not isinstance(part, TheoryError)]
        )
    return scores


def _measured(
    evidence: TheoryEvidence,
    artifacts: ArtifactStore,
    answers: CompanyAnswers,
    found: CompanyFound,
) -> CompletenessMeasured:
    """The record of all scores side by side."""
    learner, known = found.learner.scores, evidence.theories
    line = partial(_line, learner=learner, n_options=answers.n_options)
    theories = tuple(line(known.name(name), name, own) for name, own in found.own.items())
    own = known.told.record.published if known.told else {}
    competing = (
        (own.get(one.theory, one.name), one)
        for one in theories
        if known.checked[one.theory].record.author == "published" or one.theory in own
    )
    seeds = best_of_each_form(competing)
    others = [
        line(
            theory.name,
            artifacts.put(theory.program.source.encode()),
            own,
            people=theory.priors,
        )
        for theory, own in found.published.values()
    ]
    published = sorted([*seeds, *others], key=lambda one: (-one.score, one.theory))
    ahead = _ahead_of_textbook(found, theories[0].theory, published)
    floor = None if found.noise is None else mean_score(found.noise)
    ceiling = mean_score(learner)
    record = CompletenessMeasured(
        leader=theories[0].theory,
        basis=answers.basis,
        experiments=answers.names,
        guessing=guessing(answers.n_options),
        learner=tuple(map(UnitLogPredictives.of, learner)),
        ceiling=ceiling.value,
        ceiling_error=ceiling.standard_error,
        noise=floor.value if floor else None,
        noise_error=floor.standard_error if floor else None,
        theories=theories,
        published=tuple(published),
        failed=dict(found.failed),
        ahead=ahead.value if ahead else None,
        ahead_error=ahead.standard_error if ahead else None,
        better=_trials_with_regret(evidence, answers, found.learner, theories[0].theory),
        text="",
    )
    return record.model_copy(update={"text": describe(record)})


def best_of_each_form(
    competing: Iterable[tuple[str, TheoryCompleteness]],
) -> list[TheoryCompleteness]:
    """Choose the best theory of each published form, given with its title, so that none counts twice."""
    best: dict[str, TheoryCompleteness] = {}
    for title, one in competing:
        if title not in best or one.score > best[title].score:
            best[title] = one
    return list(best.values())


def _line(
    name: str,
    digest: Digest,
    scores: list[UnitScores],
    *,
    learner: list[UnitScores],
    n_options: list[int | float],
    people: Mapping[str, Prior] = MappingProxyType({}),
) -> TheoryCompleteness:
    share, score = completeness(scores, learner, n_options), mean_score(scores)
    return TheoryCompleteness(
        name=name,
        theory=digest,
        score=score.value,
        score_error=score.standard_error,
        completeness=share.value if share else None,
        completeness_error=share.standard_error if share else None,
        people=learned_ends(people),
    )


def _ahead_of_textbook(
    found: CompanyFound, leader: Digest, published: Sequence[TheoryCompleteness]
) -> ScoreEstimate | None:
    """Paired advantage of the leader over the best other published theory; None where there is none."""
    others = [item for item in published if item.theory != leader]
    if not others:
        return None
    scores = {theory.digest: own for theory, own in found.published.values()} | dict(found.own)
    return paired_difference(scores[leader], scores[others[0].theory])


def _trials_with_regret(
    evidence: TheoryEvidence,
    answers: CompanyAnswers,
    learner: LearnerPrediction,
    leader: Digest,
) -> tuple[LearnerBetter, ...]:
    """Open trials on which the learners, which did not see them, are clearly better than the leader, which did."""
    if not learner.shares:
        return ()
    shares = []
    for name, trials in zip(evidence.experiments.collected, answers.learned, strict=True):
        expected = np.asarray(evidence.theories.scores[leader, name].record.proportions)
        expected = expected.reshape(len(trials.stimuli), -1)
        shares.append(np.hstack([1 - expected, expected]) if trials.n_options == 2 else expected)
    names, found = list(evidence.experiments.collected), []
    for one in regretted_trials(answers.learned, shares, learner.shares):
        stimuli = answers.learned[one.place].stimuli
        found.append(
            LearnerBetter(
                experiment=names[one.place],
                row=one.row,
                words=evidence.domain.describe(stimuli, one.row),
                observed=one.observed,
                theory=one.theory,
                learner=one.learner,
                gain=one.gain,
            )
        )
    return tuple(found)


def describe(
    measured: CompletenessMeasured, rival: str = "", advantage: float | None = None
) -> str:
    """The leader beside generic learners and published theories, in at most four sentences.

    Args:
        measured: What was found.
        rival: Name of the theory with which the verdict compares the leader.
        advantage: Difference in score from it, as the verdict states it; the same difference is not stated again.
    """
    own = measured.theories[0]
    parts = []
    if own.completeness is None or own.completeness_error is None:
        parts.append(
            f"Completeness is not stated: {LEARNERS} are not shown to be better than guessing, for which at least "
            "ten participants are needed."
        )
    else:
        low, high = measured.estimate(own.completeness, own.completeness_error).interval
        ends = f"{own.completeness:.2f} (95% interval {low:.2f} to {high:.2f}; {measured.basis})"
        parts.append(
            f"It predicts better than {LEARNERS}: its completeness, on a scale from guessing (0) to these learners "
            f"(1), is {ends}."
            if low > 1
            else f"Its completeness{SCALE} is {ends}."
        )
    if not measured.published:
        return parts[0]
    others = [item for item in measured.published if item.theory != measured.leader]
    if not others:
        return parts[0]
    best = others[0]
    other = "other " if len(others) < len(measured.published) else ""
    n_others = plural(len(others), f"{other}published theory", f"{other}published theories")
    share = "" if best.completeness is None else f" (completeness {best.completeness:.2f})"
    found = f"The best of {n_others} estimated in the same way is {best.name}{share}"
    # Earlier versions did not record the difference from other published theories if the leading one was published.
    ahead = own.score - best.score if measured.ahead is None else measured.ahead
    if best.name == rival and advantage is not None and abs(advantage - ahead) < PRINTED_ALIKE:
        parts.append(f"{found}, with which the leading theory was compared.")
    else:
        interval = (
            ""
            if measured.ahead is None or measured.ahead_error is None
            else f" ({measured.estimate(ahead, measured.ahead_error).interval_in_words()}, not corrected for selection)"
        )
        parts.append(
            f"{found}; the leading theory minus {best.name} is {ahead:+.4f} nats per choice{interval}."
        )
    return " ".join([*parts, *_as_good_elsewhere(measured, best.name)])


def _as_good_elsewhere(measured: CompletenessMeasured, named: str) -> list[str]:
    """A sentence on published theories that did not compete and whose score is as high as that of the leader.

    Args:
        measured: The leader's completeness and that of the others.
        named: The published theory that the sentence before is about.
    """
    own, competing = measured.theories[0], {item.theory for item in measured.theories}
    found = [
        item.name
        for item in measured.published
        if item.theory not in competing and item.name != named and item.score >= own.score
    ]
    if not found:
        return []
    names = in_a_list([*found[:MOST_NAMED], *(["others"] if len(found) > MOST_NAMED else [])])
    return [f"Published theories that did not compete have a score at least as high: {names}."]
