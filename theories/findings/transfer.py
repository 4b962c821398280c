"""A theory on other people: what it predicts, as it is, of answers that had no part in it.

Three ways, each with less of the theory as it came: its people as they were learned (or declared); the same with one
strictness and one share of random choices that are learned anew; and person by person, where the first half of each
person's answers says who that person is. Beside them stand the published theories of the domain, whose people are
learned from the new answers, and generic learners, which learn everything from them: both have the advantage.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_softmax, logsumexp

from lakatos.experiments.task import Trials, check_unmixed
from lakatos.theories.engine.laboratory import Laboratory
from lakatos.theories.engine.scoring.score import (
    ExperimentEvidence,
    ScoreEstimate,
    UnitScores,
    log_predictive,
    paired_difference,
)
from lakatos.theories.errors import TheoryError
from lakatos.theories.findings.generic_learners.completeness import completeness, mean_score
from lakatos.theories.findings.generic_learners.learners import ceiling_of_people, predict_left_out
from lakatos.theories.language.theory import Theory

Array = NDArray[np.float64]
N_DRAWS = 512
WALKING_DRAWS = 64
"""Likewise where a theory is walked through people's answers under many changes."""
SCALES = tuple(np.geomspace(0.125, 4.0, 11).tolist())
"""Factors of the log odds that are tried when one strictness is learned anew."""
LAPSES = (0.0, 0.03, 0.1, 0.2, 0.4)
"""Shares of random choices that are tried, on top of the theory's own."""
N_FOLDS = 5
AS_IT_CAME, RESCALED, BY_PERSON, RELEARNED = (
    "as it came",
    "rescaled",
    "person by person",
    "relearned",
)
WORDS = {
    AS_IT_CAME: "with the people that it came with",
    RESCALED: "the same, with one strictness and one share of random choices learned from the new answers",
    BY_PERSON: "the first half of each person's answers says who the person is; scored on the second half",
    RELEARNED: "the form alone: its people learned from the new answers, like those of the published theories",
}


@dataclass(frozen=True)
class TransferLine:
    """How one theory, or learner, predicts the new answers."""

    name: str
    way: str
    scores: tuple[UnitScores, ...]
    """Score of each experiment."""
    half: bool = False
    """Whether the scores are of the second half of each person's answers."""

    @property
    def score(self) -> ScoreEstimate:
        """Nats per choice, averaged over experiments."""
        return mean_score(self.scores)


@dataclass(frozen=True)
class TransferResult:
    """A theory beside published theories and generic learners, on answers that had no part in it."""

    theory: tuple[TransferLine, ...]
    """Scores in the ways of `WORDS` that the responses allow."""
    published: tuple[TransferLine, ...]
    """The best first."""
    learner: TransferLine
    noise: TransferLine | None
    """Score of predictions from other participants' responses to the same trials."""
    textbook_by_person: TransferLine | None
    """The best published theory, person by person."""
    n_options: tuple[int, ...]
    failed: Mapping[str, str]
    """Published theories that do not run on these trials, and why."""
    left_out: str
    """Why some way is missing; empty where none is."""

    def completeness(self, line: TransferLine) -> ScoreEstimate | None:
        """Share of the learner's gain over guessing; None for scores of half of the answers."""
        if line.half:
            return None
        return completeness(line.scores, self.learner.scores, self.n_options)

    def behind_textbook(self, line: TransferLine) -> ScoreEstimate | None:
        """Nats per choice by which the best published theory is ahead of a line, on the same answers."""
        best = (
            self.textbook_by_person
            if line.half
            else (self.published[0] if self.published else None)
        )
        return None if best is None else paired_difference(best.scores, line.scores)


def transfer(
    theory: Theory,
    published: Mapping[str, Theory],
    trials: Sequence[Trials],
    laboratory: Laboratory,
    *,
    form: Theory | None = None,
    n_draws: int = N_DRAWS,
    seed: int = 0,
) -> TransferResult:
    """Predict new answers by a theory, by published theories taught by these answers, and by generic learners.

    Args:
        theory: With the people that it comes with.
        published: By name, with declared ranges.
        trials: Experiments in which the theory was not found.
        laboratory: Where theories run; of the same domain.
        form: The theory with its declared ranges, where ``theory`` has learned people.
        n_draws: Of each population, a power of two.
        seed: Of the learners.

    Raises:
        TheoryError: The theory does not run on these trials.
        TrialsError: A language model answered some of the experiments, and people others.
    """
    check_unmixed(trials)
    domain = laboratory.domain
    evidence = laboratory.evidence(theory, trials, n_draws)
    lines = [TransferLine(theory.name, AS_IT_CAME, tuple(map(log_predictive, evidence)))]
    lines.append(TransferLine(theory.name, RESCALED, tuple(rescaled(theory, evidence, laboratory))))
    own, failed_own = relearned({theory.name: form or theory}, trials, laboratory, n_draws)
    if failed_own:
        raise TheoryError(failed_own[theory.name])
    lines += [line for line, _ in own]
    others, failed = relearned(published, trials, laboratory, n_draws)
    others = sorted(others, key=lambda item: -item[0].score.value)
    by_person, textbook, left_out = None, None, ""
    if trials[0].pooled:
        left_out = "people cannot be told apart in these answers, so that none can be predicted from their own"
    elif min(_halves_of(item)[1].min() for item in trials) < 2:
        left_out = "somebody gave a single answer, which has no second half"
    else:
        by_person = person_by_person(theory, trials, laboratory, n_draws)
        lines.append(TransferLine(theory.name, BY_PERSON, tuple(by_person), half=True))
        if others:
            best = others[0]
            found = tuple(person_by_person(best[1], trials, laboratory, n_draws))
            textbook = TransferLine(best[0].name, BY_PERSON, found, half=True)
    noise = ceiling_of_people(domain, trials)
    return TransferResult(
        theory=tuple(lines),
        published=tuple(line for line, _ in others),
        learner=TransferLine(
            "generic learners", RELEARNED, tuple(predict_left_out(domain, trials, seed=seed).scores)
        ),
        noise=None
        if noise is None
        else TransferLine("other people's answers", RELEARNED, tuple(noise)),
        textbook_by_person=textbook,
        n_options=tuple(item.n_options for item in trials),
        failed=failed,
        left_out=left_out,
    )


def relearned(
    forms: Mapping[str, Theory], trials: Sequence[Trials], laboratory: Laboratory, n_draws: int
) -> tuple[list[tuple[TransferLine, Theory]], dict[str, str]]:
    """Theories whose people are learned from the new answers, parts of which are left out in turn.

    Returns:
        Each with the people that all answers teach; and why others do not run on these trials.
    """
    pooled = all(item.pooled for item in trials)
    people = laboratory.people_of(list(forms.values()), [{}] * len(forms), trials)
    failed: dict[str, str] = {}
    fitted = []
    for (name, form), found in zip(forms.items(), people, strict=True):
        if isinstance(found, TheoryError):
            failed[name] = f"{type(found).__name__}: {found}"
        else:
            fitted.append(form.with_people(found, pooled=pooled))
    lines = []
    for theory, scored in zip(fitted, laboratory.scores_of(fitted, trials, n_draws), strict=True):
        if isinstance(scored, TheoryError):
            failed[theory.name] = f"{type(scored).__name__}: {scored}"
        else:
            own = tuple(item.left_out for item in scored)
            lines.append((TransferLine(theory.name, RELEARNED, own), theory))
    return lines, failed


def rescaled(
    theory: Theory,
    evidence: Sequence[ExperimentEvidence],
    laboratory: Laboratory,
) -> list[UnitScores]:
    """A theory whose log odds are multiplied by one number, with one more share of random choices, for everybody.

    The two numbers are those by which the other groups of people (of trials, where people cannot be told apart) are
    predicted best; each group is predicted with the numbers of the others.

    Args:
        theory: With the people that it came with.
        evidence: What these make of each experiment.
        laboratory: Where it runs.
    """
    changes = [partial(rescale, scale=scale, lapse=lapse) for scale in SCALES for lapse in LAPSES]
    if any(item.followed is not None for item in evidence):
        tables = _rescaled_walk(theory, [item.trials for item in evidence], laboratory, changes)
    else:
        tables = [
            [
                log_predictive(ExperimentEvidence(item.trials, change(item.probabilities)))
                for change in changes
            ]
            for item in evidence
        ]
    scores = np.concatenate(
        [np.stack([units.log_predictive for units in own]) for own in tables], axis=1
    )
    fold = np.arange(scores.shape[1]) % N_FOLDS
    best = [int(scores[:, fold != number].sum(axis=1).argmax()) for number in range(N_FOLDS)]
    chosen = scores[np.array(best)[fold], np.arange(scores.shape[1])]
    sizes = [own[0].n_choices for own in tables]
    parts = np.split(chosen, np.cumsum([len(size) for size in sizes])[:-1])
    return [UnitScores(part, size) for part, size in zip(parts, sizes, strict=True)]


def _rescaled_walk(
    theory: Theory,
    trials: Sequence[Trials],
    laboratory: Laboratory,
    changes: Sequence[Callable[[Array], Array]],
) -> list[list[UnitScores]]:
    """Scores under each change, by experiment, of a theory that is walked through people's answers."""
    population = theory.population(WALKING_DRAWS)
    log_p = laboratory.look(
        theory,
        [item.stimuli for item in trials],
        lambda view: view.log_likelihood_changed(population, trials, changes),
    )
    ends = np.cumsum([item.n_participants for item in trials])[:-1]
    found = []
    for item, own in zip(trials, np.split(log_p, ends, axis=2), strict=True):
        none = np.zeros((own.shape[1], 0, item.n_options))
        found.append([log_predictive(ExperimentEvidence(item, none, part)) for part in own])
    return found


def rescale(probabilities: Array, scale: float, lapse: float) -> Array:
    """Probabilities ``(..., n_options)`` with log odds times ``scale``, and a share of random choices."""
    sharper = np.exp(log_softmax(scale * np.log(np.maximum(probabilities, 1e-12)), axis=-1))
    return np.asarray((1 - lapse) * sharper + lapse / probabilities.shape[-1])


def person_by_person(
    theory: Theory, trials: Sequence[Trials], laboratory: Laboratory, n_draws: int
) -> list[UnitScores]:
    """Log predictive probability of the second half of each person's answers, given the first half.

    Args:
        theory: Its people are the prior of each person.
        trials: Single answers, at least two of each person.
        laboratory: Where it runs.
        n_draws: People drawn; each person's first half says which of them are like that person.
    """
    first = [first_half(item) for item in trials]
    whole = laboratory.evidence(theory, trials, n_draws)
    half = laboratory.evidence(theory, first, n_draws)
    found = []
    for own, before in zip(whole, half, strict=True):
        joint, evidence = (
            logsumexp(own.log_likelihood, axis=0),
            logsumexp(before.log_likelihood, axis=0),
        )
        n_second = own.trials.n_choices - before.trials.n_choices
        found.append(UnitScores(joint - evidence, n_second))
    return found


def first_half(trials: Trials) -> Trials:
    """The first half of each person's answers, rounded down, in the order in which they were given."""
    rank, length = _halves_of(trials)
    kept = rank < length[trials.participant] // 2
    return replace(
        trials,
        participant=trials.participant[kept],
        trial=trials.trial[kept],
        response=trials.response[kept],
        count=trials.count[kept],
        feedback={name: column[kept] for name, column in trials.feedback.items()},
    )


def _halves_of(trials: Trials) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Place of each row among its person's, and rows of each person."""
    length = np.bincount(trials.participant, minlength=trials.n_participants)
    order = np.argsort(trials.participant, kind="stable")
    starts = np.cumsum(length) - length
    rank = np.empty(len(order), dtype=np.intp)
    rank[order] = np.arange(len(order)) - np.repeat(starts, length)
    return rank, length
