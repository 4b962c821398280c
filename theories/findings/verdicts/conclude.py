"""The verdict in figures and words, on data that the loop has not seen where there are any."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lakatos.experiments.adoption.names import experiment_in_words
from lakatos.experiments.data_sets import data_sets_of
from lakatos.experiments.interval import LEAST_UNITS
from lakatos.experiments.state import ExperimentsState
from lakatos.theories.discovery.diagnosis.case_file import examine
from lakatos.theories.discovery.diagnosis.case_predictions import features_of_trials, predictions_of
from lakatos.theories.discovery.diagnosis.rule import words
from lakatos.theories.engine.checks.naming import PUBLISHED
from lakatos.theories.engine.evidence import TheoryEvidence
from lakatos.theories.engine.scoreboard import (
    board_of,
    decisive_sealed_of,
    frozen_advantage,
    frozen_experiments,
    left_out_scores,
)
from lakatos.theories.engine.scoring.score import (
    ScoreEstimate,
    advantage,
    average,
    over_data_sets,
    paired_difference,
    squared_errors,
)
from lakatos.theories.engine.scoring.unexplained import ErrorRatio
from lakatos.theories.engine.state import TheoriesState
from lakatos.theories.findings.generic_learners.completeness import guess_of_units
from lakatos.theories.findings.verdicts.company import describe
from lakatos.theories.findings.verdicts.headline import headline, no_finding, verdict_of
from lakatos.theories.findings.verdicts.record import (
    EXPLORATORY,
    LEADERBOARD,
    CampaignConcluded,
    CrossValidated,
    ErrorOnTrials,
    FoldFinished,
    TruthCompared,
    UnexplainedError,
)
from lakatos.theories.findings.verdicts.unexplained import left_unexplained
from lakatos.theories.language.account import names_held_back
from lakatos.theories.language.theory import LAPSE, Theory
from lakatos.traces.digest import Digest
from lakatos.traces.wording import in_a_list, plural

Array = NDArray[np.float64]
RATIO_DRAWS = 512
"""Draws of a population on which what it leaves unexplained is measured."""
MOST_MEASURED = 6
"""Theories of which it is measured."""
ALL_RESPONSES = "all responses, each experiment predicted from the others"
"""The leaderboard's data, in a sentence."""
LEAST_STATED = 5
"""Participants from whom on the leader's error is stated: of fewer, a mean says much about each."""
MOST_MARKS = 3
MOST_FROZEN = 3
"""Experiments that are named; of more, their number is stated."""
MOST_TIED = 4
"""Theories tied with the leader that the verdict names."""


@dataclass(frozen=True)
class RivalComparison:
    """The leader beside one rival on some data."""

    rival: Digest
    advantage: ScoreEstimate
    """Advantage of the leader, in nats per choice."""
    basis: str
    """Data of the comparison, in words."""
    n_compared: int = 1
    """Theories among which the leader was chosen on these data; 1 where it was chosen without them."""

    @property
    def interval(self) -> tuple[float, float]:
        """95% interval of the advantage, corrected for all theories that could have been chosen."""
        return self.advantage.interval_of_chosen(self.n_compared)

    @property
    def is_ahead(self) -> bool:
        """Whether the leader is ahead beyond the interval, on enough participants to claim so."""
        return self.advantage.is_above_zero(self.n_compared)


@dataclass(frozen=True)
class ComparedLeader:
    """The leader beside all rivals that the study began with, on all data on which a report shows them."""

    leader: Digest
    comparisons: tuple[RivalComparison, ...]
    """Comparisons of the leader, those on data that it was not made from first; empty where there is no first rival."""

    @property
    def strictest(self) -> RivalComparison | None:
        """The comparison that decides: the one whose interval has the lowest lower end, the first of equal ones.

        With too few participants for intervals, the one with the smallest advantage.
        """
        if any(item.advantage.is_of_few for item in self.comparisons):
            return min(self.comparisons, key=lambda item: item.advantage.value)
        return min(self.comparisons, key=lambda item: item.interval[0], default=None)

    @property
    def holds(self) -> bool:
        """Whether it is ahead of every rival in every comparison, one of them on data that it was not fitted to."""
        is_tested = any(item.basis != EXPLORATORY for item in self.comparisons)
        return is_tested and all(item.is_ahead for item in self.comparisons)


def in_new_names(theories: TheoriesState, text: str) -> str:
    """A text of before the verdict with the names that theories have since.

    Theories that entered with one name stand in it with the beginnings of their digests.
    """
    since = theories.told.record.names if theories.told else {}
    entered = Counter(item.record.name for item in theories.checked.values())
    names = {}
    for theory, item in theories.checked.items():
        name = item.record.name
        old = name if entered[name] == 1 else f"{name} ({theory[:6]})"
        names[old] = since.get(theory, old)
    changed = {old: new for old, new in names.items() if old != new}
    if not changed:
        return text
    # Unchanged names are met too, so that no part of a longer name is taken for a shorter one.
    longest_first = sorted(names, key=len, reverse=True)
    return re.sub("|".join(map(re.escape, longest_first)), lambda found: names[found[0]], text)


def conclude_from(
    evidence: TheoryEvidence,
    *,
    truth: TruthCompared | None,
    folds: Sequence[FoldFinished],
    comparisons: Sequence[str],
    stop: str,
) -> CampaignConcluded:
    """The verdict on the evidence so far.

    Args:
        evidence: What is known of theories.
        truth: Errors against the hidden rule, where there is one.
        folds: Campaigns with other trials sealed.
        comparisons: What further comparisons found, in words.
        stop: Reason why the campaign ended.
    """
    board = evidence.board()
    leader = board.leader.theory
    seeds = [line.theory for line in board.standings if line.theory in evidence.seeds]
    errors = tuple(_errors(evidence, name) for name in board.listed(evidence.seeds))
    found = compare_leader(evidence.theories, evidence.experiments, leader, seeds)
    cross_validated = _cross_validated(folds)
    decides = found.strictest
    rival = decides.rival if decides else None
    left = _left_by_theories(evidence, leader, rival)
    own = left[0].known if left and left[0].theory == leader else None
    marks = _marks(evidence, leader) if own and own.is_above_one else ()
    told_published = evidence.theories.told.record.published if evidence.theories.told else {}
    is_ahead_of_published = _is_ahead_of_published(evidence, leader)
    gain = gain_over_guessing(evidence, leader)
    verdict = verdict_of(
        is_ahead=found.holds,
        is_new=leader not in told_published
        and evidence.theories.checked[leader].record.author != PUBLISHED,
        is_above_guessing=gain.is_above_zero(),
        is_ahead_of_published=is_ahead_of_published,
        left=own,
    )
    known_as = leader if leader in told_published or rival is None else rival
    tied = tied_with(evidence.theories, evidence.experiments, leader)
    first = headline(
        verdict,
        evidence.theories.name(leader),
        evidence.theories.name(known_as),
        own,
        marks,
        is_ahead_of_published=is_ahead_of_published,
        n_others=len({*tied} - {known_as}),
        behind=_closest(evidence, leader, rival) if found.holds and rival else "",
    )
    pooled = all(evidence.trials(name).pooled for name in evidence.experiments.collected)
    if few := no_finding(board, pooled=pooled):
        first, parts = few, [few]
    else:
        parts = [first, *random_choices_in_words(evidence.theory(leader), own, pooled=pooled)]
        parts += [*_advantage_in_words(evidence, found), *_ties_in_words(evidence, leader, tied)]
        parts += _guessing_in_words(evidence.theories.name(leader), gain)
        parts += _what_it_says(evidence, leader)
        parts += _on_each_data_set(evidence, leader, rival)
        comparisons = [*_beside_published(evidence, decides), *comparisons]
    if not few or (board.leader.score.n_units or 0) >= LEAST_STATED:
        parts.append(_error_in_words(errors[0]))
    parts += _truth_in_words(truth, leader)
    if cross_validated:
        best = cross_validated[0]
        parts.append(
            f"Over {len(folds)} folds of trials that were sealed from the whole search, "
            f"the mean squared error is {best.error:.4f} (standard error {best.standard_error:.4f})."
        )
    return CampaignConcluded(
        leader=leader,
        runner_up=board.standings[1].theory if len(board.standings) > 1 else None,
        rival=rival,
        holds=found.holds,
        verdict=verdict,
        headline=first,
        unexplained=left,
        marks=marks,
        text=" ".join([*parts, *comparisons]),
        stop=stop,
        advantage=decides.advantage.value if decides else None,
        advantage_error=decides.advantage.standard_error if decides else None,
        interval=decides.interval if decides else None,
        n_compared=decides.n_compared if decides else 1,
        n_units=decides.advantage.n_units if decides else None,
        basis=decides.basis if decides else "no first rival",
        errors=errors,
        cross_validated=cross_validated,
    )


def _left_by_theories(
    evidence: TheoryEvidence, leader: Digest, rival: Digest | None
) -> tuple[UnexplainedError, ...]:
    """Misfit ratios of the leading theories: the leader first, then the verdict's rival, then the best others."""
    trials = [evidence.trials(name) for name in evidence.experiments.collected]
    n_draws = min(evidence.terms.n_draws, RATIO_DRAWS)
    names = [leader, *([rival] if rival else [])]
    names += [line.theory for line in evidence.board().standings]
    found = []
    for name in list(dict.fromkeys(names))[:MOST_MEASURED]:
        ratio = left_unexplained(evidence.laboratory, evidence.theory(name), trials, n_draws)
        if ratio is not None:
            found.append(
                UnexplainedError(
                    theory=name,
                    ratio=ratio.value,
                    low=ratio.low,
                    high=ratio.high,
                    degrees=ratio.degrees,
                )
            )
    return tuple(found)


def _marks(evidence: TheoryEvidence, leader: Digest) -> tuple[str, ...]:
    """Properties of trials and sequences in which the leader's simulated participants differ from the real ones."""
    rng = np.random.default_rng(int(leader[:16], 16))
    (predicted,) = predictions_of(evidence, [leader])
    seen = examine(predicted, [], features_of_trials(evidence), rng)
    found = [words(item.check.feature) for item in seen.found]
    return tuple(dict.fromkeys(found))[:MOST_MARKS]


def gain_over_guessing(evidence: TheoryEvidence, theory: Digest) -> ScoreEstimate:
    """Advantage of a theory over guessing among the available options, each experiment predicted from the others."""
    names = list(evidence.experiments.collected)
    parts = []
    for name in names:
        scores = evidence.theories.scores[theory, name].record.left_out.scores
        guessed = guess_of_units(evidence.trials(name))
        parts.append(advantage(scores.log_predictive - guessed, scores.n_choices))
    return average(parts, names)


def _is_ahead_of_published(evidence: TheoryEvidence, leader: Digest) -> bool | None:
    """Whether the leader is ahead of the best published theory that was estimated alike; None where none was."""
    measured = evidence.theories.completeness
    if measured is None or measured.record.leader != leader or not measured.record.published:
        return None
    found = measured.record
    if found.ahead is None or found.ahead_error is None:
        return False
    return found.estimate(found.ahead, found.ahead_error).is_above_zero()


def random_choices_in_words(
    theory: Theory, left: ErrorRatio | None, *, pooled: bool = False
) -> list[str]:
    """A sentence that choices called random are part of what is not understood, if something is left.

    Args:
        theory: Theory with its population.
        left: Ratio of its squared error to the sampling noise, where it is known.
        pooled: Whether responses are counts, of nobody in particular.
    """
    if left is None or not left.is_above_one or LAPSE not in theory.priors:
        return []
    share = float(np.median(theory.population(RATIO_DRAWS)[LAPSE]))
    whose = "choices" if pooled else "the choices of the median participant"
    return [f"The theory attributes {share:.0%} of {whose} to chance; it does not explain them."]


def _errors(evidence: TheoryEvidence, name: Digest) -> ErrorOnTrials:
    """Errors on open and sealed trials; averages go over archived experiments, as published ones do."""
    groups: dict[str, list[Array]] = {}
    opened = []
    for experiment in evidence.experiments.collected:
        trials = evidence.trials(experiment)
        predicted = np.asarray(evidence.theories.scores[name, experiment].record.proportions)
        squared = squared_errors(predicted.reshape(len(trials.stimuli), -1), trials)
        opened.append(squared.mean())
        groups.setdefault(
            evidence.experiments.designs[experiment].record.archive or experiment, []
        ).append(squared)
    if name not in evidence.theories.sealed_scores:
        return ErrorOnTrials(
            theory=name,
            open=float(np.mean(opened)),
            sealed=None,
            sealed_error=None,
            all=float(np.mean(opened)),
            sealed_score=None,
        )
    sealed = evidence.theories.sealed_scores[name].record
    of_sealed = dict(zip(sealed.experiments, sealed.squared, strict=True))
    flat = np.concatenate(sealed.squared)
    scores = [item.scores.mean for item in sealed.scores]
    return ErrorOnTrials(
        theory=name,
        open=float(np.mean(opened)),
        sealed=float(flat.mean()),
        sealed_error=float(flat.std(ddof=1) / np.sqrt(len(flat))) if len(flat) > 1 else None,
        all=float(
            np.mean([_error_of_all(parts, of_sealed.get(key, ())) for key, parts in groups.items()])
        ),
        sealed_score=float(np.mean(scores)),
    )


def _error_of_all(opened: Sequence[Array], sealed: Sequence[float]) -> float:
    """The mean of experiments on open trials and the mean of sealed ones, weighted by their numbers of trials."""
    n_open = sum(map(len, opened))
    means = [float(np.mean(part)) for part in opened]
    return (n_open * float(np.mean(means)) + sum(sealed)) / (n_open + len(sealed))


def compare_leader(
    theories: TheoriesState,
    experiments: ExperimentsState,
    leader: Digest,
    first: Sequence[Digest],
) -> ComparedLeader:
    """The leader beside all first rivals, on the most trustworthy data there are and on the leaderboard.

    Where the leader was chosen on the same data, it counts how many theories it was chosen from. That it must beat
    every rival needs no correction: a false claim would have to be false for each.

    Args:
        theories: Theories with their scores.
        experiments: Experiments that these are of.
        leader: Is compared.
        first: Theories that the campaign began with, the leader perhaps among them.
    """
    rivals = [name for name in first if name != leader]
    tested = (
        _on_sealed(theories, experiments, leader, rivals)
        or _on_frozen(theories, experiments, leader, rivals)
        or []
    )
    basis = LEADERBOARD if tested else EXPLORATORY
    listed = [
        RivalComparison(line.theory, line.behind, basis)
        for line in board_of(theories, experiments).standings
        if line.theory in rivals
    ]
    return ComparedLeader(leader, (*tested, *listed))


def tied_with(
    theories: TheoriesState, experiments: ExperimentsState, leader: Digest
) -> tuple[Digest, ...]:
    """Theories from which the data do not separate the leading one, in the order of the leaderboard.

    The leading theory is ahead of another one only if it is ahead on the leaderboard and on the most trustworthy data
    that both have. This is the rule of the verdict, applied to all theories of the run.
    """
    sealed = decisive_sealed_of(theories, experiments)
    found = []
    for line in board_of(theories, experiments).standings:
        if line.theory == leader:
            continue
        if leader in sealed and line.theory in sealed:
            tested = _on_sealed(theories, experiments, leader, [line.theory])
        else:
            tested = _on_frozen(theories, experiments, leader, [line.theory])
        listed = RivalComparison(line.theory, line.behind, LEADERBOARD)
        if not all(item.is_ahead for item in (*tested, listed)):
            found.append(line.theory)
    return tuple(found)


def _nearest_of_all(
    theories: TheoriesState, experiments: ExperimentsState, leader: Digest, comparisons: Digest
) -> list[str]:
    """A sentence about the best of all other theories on sealed trials, unless `told` is that theory.

    Rivals that the campaign itself found are often much closer than those that it began with.
    """
    others = [name for name in decisive_sealed_of(theories, experiments) if name != leader]
    found = _on_sealed(theories, experiments, leader, others)
    if not found:
        return []
    nearest = min(found, key=lambda item: item.advantage.value)
    if nearest.rival == comparisons:
        return []
    gain = nearest.advantage
    return [
        f"Of the other competing theories, {theories.name(nearest.rival)} has the best score on the sealed trials; "
        f"{theories.name(leader)} minus {theories.name(nearest.rival)} is {gain.value:+.4f} nats per choice "
        f"({gain.interval_in_words(nearest.n_compared)})."
    ]


def _on_sealed(
    theories: TheoriesState,
    experiments: ExperimentsState,
    leader: Digest,
    rivals: Sequence[Digest],
) -> list[RivalComparison]:
    """Compare on responses that were sealed from the loop; empty where there are none."""
    sealed, opened = decisive_sealed_of(theories, experiments), experiments.sealed
    if not sealed or opened is None:
        return []
    scores = {
        name: over_data_sets(opened.record.experiments, [units.scores for units in item.scores])
        for name, item in sealed.items()
    }
    basis = f"{opened.record.n_trials:,} sealed trials, parameters estimated from the open ones"
    return [
        RivalComparison(name, paired_difference(scores[leader], scores[name]), basis, len(scores))
        for name in rivals
    ]


def _on_frozen(
    theories: TheoriesState,
    experiments: ExperimentsState,
    leader: Digest,
    rivals: Sequence[Digest],
) -> list[RivalComparison]:
    """Compare on predictions that were frozen before the responses; empty where a rival has none."""
    advantages = {name: frozen_advantage(theories, experiments, leader, name) for name in rivals}
    frozen = {name: item for name, item in advantages.items() if item is not None}
    if not frozen or len(frozen) < len(rivals):
        return []
    compared = {name: frozen_experiments(theories, experiments, leader, name) for name in frozen}
    basis = frozen_basis(min(compared.values(), key=len))
    scores = theories.scores.items()
    predicted = {name for (name, _), item in scores if item.record.frozen is not None}
    n_compared = len(predicted & set(theories.pool))
    return [
        RivalComparison(name, advantage, basis, n_compared)
        for name, (advantage, _) in frozen.items()
    ]


def frozen_basis(experiments: Sequence[str]) -> str:
    """State the experiments before which predictions were frozen; of many, their number."""
    names = [experiment_in_words(name) for name in experiments]
    if len(names) > MOST_FROZEN:
        return f"predictions frozen before {len(names)} experiments"
    return f"predictions frozen before {'experiment' if len(names) == 1 else 'experiments'} {in_a_list(names)}"


def _cross_validated(folds: Sequence[FoldFinished]) -> tuple[CrossValidated, ...]:
    """Errors over all folds, the leader's first, then those of published theories that every fold has."""
    if not folds:
        return ()
    n_trials = sum(len(fold.rows) for fold in folds)
    observed = np.concatenate([fold.observed for fold in folds])
    predictions = {"leader": np.concatenate([fold.predicted for fold in folds])}
    for name in sorted(set.intersection(*(set(fold.baselines) for fold in folds))):
        predictions[name] = np.concatenate([fold.baselines[name] for fold in folds])
    lines = []
    for name, predicted in predictions.items():
        squared = ((predicted - observed) ** 2).reshape(n_trials, -1).mean(axis=1)
        standard_error = float(squared.std(ddof=1) / np.sqrt(len(squared)))
        lines.append(
            CrossValidated(name=name, error=float(squared.mean()), standard_error=standard_error)
        )
    return tuple(lines)


def _guessing_in_words(leader: str, gain: ScoreEstimate) -> list[str]:
    """A sentence that the leader may be no better than guessing, unless its advantage is above 0 or is 0 for all."""
    if gain.standard_error < 1e-9 or not gain.is_known or gain.interval[0] > 0:
        return []
    return [
        f"Whether {leader} predicts better than guessing is open: {gain.value:+.4f} nats per choice "
        f"({gain.interval_in_words()})."
    ]


def _what_it_says(evidence: TheoryEvidence, leader: Digest) -> list[str]:
    """The leader's claim, whether its form was published before, and which of its numbers lie at limits."""
    theory, renewed = evidence.theory(leader), evidence.theories.told
    parts = [f"Claim: {theory.claim}"]
    title = renewed.record.published.get(leader) if renewed else None
    if title:
        parts.append(
            "Its parameters were estimated from these responses."
            if theory.name == title
            else f"Its form is that of a published theory ({title}){_noise_beside(theory)}; its parameters were "
            "estimated from these responses."
        )
    held = [name.replace("_", " ") for name in names_held_back(theory.priors)]
    if held:
        parts.append(
            f"The estimated population of {in_a_list(held)} reaches a limit of the declared range; its spread is not "
            "well determined."
        )
    return parts


def _noise_beside(theory: Theory) -> str:
    """State how the lapses of a theory can differ from those of the published theory of its form."""
    return ", with lapses" if LAPSE in theory.priors else ", without lapses"


def _closest(evidence: TheoryEvidence, leader: Digest, rival: Digest) -> str:
    """The initial theory with which the verdict compares the leader."""
    other = "other " if leader in evidence.seeds else ""
    return f"{evidence.theories.name(rival)}, the closest {other}initial theory"


def _advantage_in_words(evidence: TheoryEvidence, found: ComparedLeader) -> list[str]:
    """State whether the leader is ahead, of which rival, and by how much."""
    name, decides = evidence.theories.name(found.leader), found.strictest
    if decides is None:
        return [f"{name} leads; the study has no other initial theory to compare it with."]
    claim = f"{name} predicts choices better than {_closest(evidence, found.leader, decides.rival)}"
    stated = [decides]
    if decides.basis == EXPLORATORY:
        claim = f"It was only explored whether {claim}"
    elif not found.holds:
        claim = f"There is no clear evidence that {claim}"
        same = (item for item in found.comparisons if item.rival == decides.rival)
        stated += [item for item in same if item is not decides]
        stated.sort(key=lambda item: item.basis == LEADERBOARD)
    first, *rest = (_difference_in_words(evidence, item) for item in stated)
    return [
        f"{claim}: the difference in mean log score is {first}.",
        *(f"The difference is {other}." for other in rest),
        *_few_in_words(evidence, found),
        *_nearest_of_all(evidence.theories, evidence.experiments, found.leader, decides.rival),
    ]


def _difference_in_words(evidence: TheoryEvidence, compared: RivalComparison) -> str:
    """The size of a difference, its interval, the number of participants and the data."""
    gain = compared.advantage
    interval = gain.interval_in_words(compared.n_compared)
    units = _units_in_words(evidence, compared)
    basis = compared.basis.replace(LEADERBOARD, ALL_RESPONSES)
    data, _, remark = basis.partition(": ")
    on = f"on {data} ({remark})" if remark else f"on {data}"
    return f"{gain.value:+.4f} nats per choice ({interval}{units}) {on}"


def _ties_in_words(evidence: TheoryEvidence, leader: Digest, tied: Sequence[Digest]) -> list[str]:
    """A sentence that names the theories from which the data do not separate the leading one."""
    if not tied:
        return []
    names = [evidence.theories.name(theory) for theory in tied[:MOST_TIED]]
    if len(tied) > MOST_TIED:
        names.append(plural(len(tied) - MOST_TIED, "further theory", "further theories"))
    return [f"The data do not separate {evidence.theories.name(leader)} from {in_a_list(names)}."]


def _beside_published(evidence: TheoryEvidence, decides: RivalComparison | None) -> list[str]:
    """The leader beside generic learners and published theories, where that was measured."""
    measured = evidence.theories.completeness
    if measured is None:
        return []
    rival = evidence.theories.name(decides.rival) if decides else ""
    advantage = decides.advantage.value if decides else None
    text = describe(measured.record, rival, advantage)
    return [in_new_names(evidence.theories, text)]


def _units_in_words(evidence: TheoryEvidence, compared: RivalComparison) -> str:
    """The number of participants, or of problems, behind a comparison; empty if it is not known."""
    if not compared.advantage.n_units:
        return ""
    pooled = any(item.record.pooled for item in evidence.experiments.collected.values())
    units = plural(compared.advantage.n_units, "problem" if pooled else "participant")
    return f"; {units}"


def _few_in_words(evidence: TheoryEvidence, found: ComparedLeader) -> list[str]:
    """A sentence that no difference is claimed, if too few participants (or problems) are behind a comparison."""
    fewest = min(item.advantage.n_units or LEAST_UNITS for item in found.comparisons)
    if fewest >= LEAST_UNITS:
        return []
    pooled = any(item.record.pooled for item in evidence.experiments.collected.values())
    units = plural(fewest, "problem" if pooled else "participant")
    more = "" if pooled or evidence.terms.archival else " Recruit more (design.participants)."
    return [
        f"The comparison is based on {units}; with fewer than {LEAST_UNITS} no difference is claimed.{more}"
    ]


def _on_each_data_set(evidence: TheoryEvidence, leader: Digest, rival: Digest | None) -> list[str]:
    """State how the leader predicts each data set from the others, if there are several, and that this made it lead."""
    experiments = list(evidence.experiments.collected)
    data_sets = data_sets_of(experiments)
    if not data_sets:
        return []
    scores = {key: item.record for key, item in evidence.theories.scores.items()}
    own = left_out_scores(leader, experiments, scores)
    others = left_out_scores(rival or leader, experiments, scores)
    lines = []
    for name, mine, other in zip(data_sets, own, others, strict=True):
        gain = paired_difference([mine], [other])
        ahead = f", {gain.value:+.4f} ({gain.interval_in_words()})" if rival else ""
        lines.append(f"{name} {mine.mean:.4f}{ahead}")
    beside = f", and difference to {evidence.theories.name(rival)}" if rival else ""
    return [
        "It leads by its predictions of each data set with parameters estimated from the other data sets "
        f"(nats per choice{beside}): {'; '.join(lines)}. Its form was derived from all of them."
    ]


def _error_in_words(own: ErrorOnTrials) -> str:
    """The leader's error on open and on sealed trials."""
    sealed = "" if own.sealed is None else f" and {own.sealed:.4f} on sealed trials"
    presented = "presented" if own.sealed is None else "unsealed"
    return (
        "The mean squared error of its choice proportions is "
        f"{own.open:.4f} on the {presented} trials (parameters estimated from these responses){sealed}."
    )


def _truth_in_words(truth: TruthCompared | None, leader: Digest) -> list[str]:
    """The leader's error against the hidden rule, where there is one."""
    if truth is None:
        return []
    whole, corrected = (
        np.format_float_positional(values[leader], 2, fractional=False, trim="-")
        for values in (truth.uncorrected, truth.corrected)
    )
    apart = "" if corrected == whole else f" ({corrected} after removing random choices from both)"
    return [
        f"Compared with the hidden rule over {truth.n_trials:,} trials that a design can present, its mean squared "
        f"error is {whole}{apart}."
    ]
