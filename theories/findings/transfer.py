"""A theory on other people: what it predicts, as it is, of responses that had no part in it.

Three ways, each with less of the theory as it came: its people as they were learned (or declared); the same with one
strictness and one share of random choices that are learned anew; and person by person, where the first half of each
person's answers says who that person is. Beside them stand the published theories of the domain, whose people are
learned from the new responses, and generic learners, which learn everything from them: both have the advantage.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_softmax, logsumexp

from lakatos.experiments.task import Trials, check_unmixed
from lakatos.theories.engine.laboratory import Laboratory
from lakatos.theories.engine.record import UnitLogPredictives
from lakatos.theories.engine.scoring.score import (
    ExperimentEvidence,
    ScoreEstimate,
    UnitScores,
    log_predictive,
    mean_score,
    paired_difference,
)
from lakatos.theories.errors import TheoryError
from lakatos.theories.findings.generic_learners.completeness import completeness, n_offered
from lakatos.theories.findings.generic_learners.learners import ceiling_of_people, predict_left_out
from lakatos.theories.language.theory import Theory
from lakatos.traces.record import Record

Array = NDArray[np.float64]
N_DRAWS = 512
WALKING_DRAWS = 64
"""Number of draws where a theory is walked through people's responses under many changes."""
SCALES = tuple(np.geomspace(0.125, 4.0, 11).tolist())
"""Factors of the log odds that are tried when one strictness is learned anew."""
LAPSES = (0.0, 0.03, 0.1, 0.2, 0.4)
"""Shares of random choices that are tried, on top of the theory's own."""
N_FOLDS = 5
Role = Literal["theory", "published", "learner", "noise", "textbook"]
AS_IT_CAME, RESCALED, BY_PERSON, RELEARNED = (
    "as it came",
    "rescaled",
    "person by person",
    "relearned",
)
WAYS = {
    AS_IT_CAME: "unchanged",
    RESCALED: "rescaled",
    BY_PERSON: "per participant",
    RELEARNED: "re-estimated",
}
"""Ways in words; records keep their earlier names."""


class TransferLine(Record):
    """Prediction of the new responses by one theory or learner."""

    kind: Literal["transfer_line"] = "transfer_line"
    version: Literal[1] = 1
    role: Role
    name: str
    way: str
    half: bool
    """Whether only the second half of each participant's responses is scored."""
    scores: tuple[UnitLogPredictives, ...]
    """Scores of each experiment."""
    score: float
    """Nats per choice, averaged over experiments."""
    score_error: float
    completeness: float | None = None
    """Share of the generic learners' gain over guessing; None for scores of half of the responses."""
    completeness_error: float | None = None
    behind: float | None = None
    """Nats per choice by which the best published theory is ahead, paired, on the same responses."""
    behind_error: float | None = None

    @classmethod
    def of(cls, role: Role, name: str, way: str, scores: Sequence[UnitScores]) -> TransferLine:
        """A line that is not compared with others yet."""
        mean = mean_score(scores)
        return cls(
            role=role,
            name=name,
            way=way,
            half=way == BY_PERSON,
            scores=tuple(map(UnitLogPredictives.of, scores)),
            score=mean.value,
            score_error=mean.standard_error,
        )

    @property
    def units(self) -> tuple[UnitScores, ...]:
        """The scores of each experiment as arrays."""
        return tuple(item.scores for item in self.scores)


class TransferScores(Record):
    """A theory beside published theories and generic learners, on responses that had no part in it."""

    lines: tuple[TransferLine, ...]
    """The theory in the ways of `WAYS` that the responses allow; the published theories, the best first; the learners;
    predictions from other participants' responses to the same trials; the best published theory, person by person."""
    n_options: tuple[int | float, ...] = ()
    """Number of options offered in each experiment; absent in records of earlier versions."""
    failed: dict[str, str]
    """Published theories that do not run on these trials, and why."""
    left_out: str
    """Reason why a way of scoring is missing; empty where none is."""

    def of(self, role: Role) -> list[TransferLine]:
        """Lines of one role, in order."""
        return [line for line in self.lines if line.role == role]

    def completeness(self, line: TransferLine) -> ScoreEstimate | None:
        """Share of the learner's gain over guessing; None for scores of half of the responses."""
        if line.half:
            return None
        (learner,) = self.of("learner")
        return completeness(line.units, learner.units, self.n_options)

    def behind_textbook(self, line: TransferLine) -> ScoreEstimate | None:
        """Nats per choice by which the best published theory is ahead of a line, on the same responses."""
        best = self.of("textbook" if line.half else "published")[:1]
        return paired_difference(best[0].units, line.units) if best else None

    def compared(self) -> TransferScores:
        """The same, with each line compared with the learners and the best published theory."""
        lines = []
        for line in self.lines:
            share, behind = self.completeness(line), self.behind_textbook(line)
            numbers = {
                "completeness": share and share.value,
                "completeness_error": share and share.standard_error,
                "behind": behind and behind.value,
                "behind_error": behind and behind.standard_error,
            }
            lines.append(line.model_copy(update=numbers))
        return self.model_copy(update={"lines": tuple(lines)})


def transfer(
    theory: Theory,
    published: Mapping[str, Theory],
    trials: Sequence[Trials],
    laboratory: Laboratory,
    *,
    form: Theory | None = None,
    n_draws: int = N_DRAWS,
    seed: int = 0,
) -> TransferScores:
    """Predict new responses by a theory, by published theories taught by these responses, and by generic learners.

    Args:
        theory: Theory with the people that it comes with.
        published: Published theories by name, with declared ranges.
        trials: Experiments in which the theory was not found.
        laboratory: Laboratory in which theories run; of the same domain.
        form: The theory with its declared ranges, where ``theory`` has learned people.
        n_draws: Number of draws of each population, a power of two.
        seed: Seed of the learners.

    Raises:
        TheoryError: The theory does not run on these trials.
        TrialsError: A language model answered some of the experiments, and people others.
    """
    check_unmixed(trials)
    domain = laboratory.domain
    evidence = laboratory.evidence(theory, trials, n_draws)
    ways: dict[str, Sequence[UnitScores]] = {
        AS_IT_CAME: [log_predictive(item) for item in evidence],
        RESCALED: rescaled(theory, evidence, laboratory),
    }
    own, failed_own = relearned({theory.name: form or theory}, trials, laboratory, n_draws)
    if failed_own:
        raise TheoryError(failed_own[theory.name])
    ways[RELEARNED] = own[0][1]
    others, failed = relearned(published, trials, laboratory, n_draws)
    others = sorted(others, key=lambda item: -mean_score(item[1]).value)
    textbook, left_out = [], ""
    if trials[0].pooled:
        left_out = "participants cannot be distinguished in these responses, so none can be predicted from their own"
    elif min(_halves_of(item)[1].min() for item in trials) < 2:
        left_out = "a participant gave a single response, which has no second half"
    else:
        ways[BY_PERSON] = person_by_person(theory, trials, laboratory, n_draws)
        for best, _ in others[:1]:
            found = person_by_person(best, trials, laboratory, n_draws)
            textbook.append(TransferLine.of("textbook", best.name, BY_PERSON, found))
    lines = [TransferLine.of("theory", theory.name, way, found) for way, found in ways.items()]
    lines += [TransferLine.of("published", item.name, RELEARNED, own) for item, own in others]
    learned = predict_left_out(domain, trials, seed=seed).scores
    lines.append(TransferLine.of("learner", "generic learners", RELEARNED, learned))
    if (noise := ceiling_of_people(domain, trials)) is not None:
        lines.append(TransferLine.of("noise", "other people's answers", RELEARNED, noise))
    scores = TransferScores(
        lines=(*lines, *textbook),
        n_options=tuple(map(n_offered, trials)),
        failed=failed,
        left_out=left_out,
    )
    return scores.compared()


def relearned(
    forms: Mapping[str, Theory], trials: Sequence[Trials], laboratory: Laboratory, n_draws: int
) -> tuple[list[tuple[Theory, tuple[UnitScores, ...]]], dict[str, str]]:
    """Theories whose people are learned from the new responses, parts of which are left out in turn.

    Returns:
        Each with the people that all answers teach, and its scores of each experiment; why others do not run on these
        trials.
    """
    fitted, failed = laboratory.with_people_of(forms, trials)
    scores = laboratory.scores_of(list(fitted.values()), trials, n_draws)
    found = []
    for (name, theory), scored in zip(fitted.items(), scores, strict=True):
        if isinstance(scored, TheoryError):
            failed[name] = f"{type(scored).__name__}: {scored}"
        else:
            found.append((theory, tuple(item.left_out for item in scored)))
    return found, failed


def rescaled(
    theory: Theory,
    evidence: Sequence[ExperimentEvidence],
    laboratory: Laboratory,
) -> list[UnitScores]:
    """A theory whose log odds are multiplied by one number, with one more share of random choices, for everybody.

    The two numbers are those by which the other groups of people (of trials, where people cannot be told apart) are
    predicted best; each group is predicted with the numbers of the others.

    Args:
        theory: Theory with the people that it came with.
        evidence: What these make of each experiment.
        laboratory: Laboratory in which it runs.
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
    """Scores under each change, by experiment, of a theory that is walked through people's responses."""
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
    """Log predictive probability of the second half of each person's responses, given the first half.

    Args:
        theory: Its people are the prior of each person.
        trials: Single responses, at least two of each person.
        laboratory: Laboratory in which it runs.
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
    """The first half of each person's responses, rounded down, in the order in which they were given."""
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
