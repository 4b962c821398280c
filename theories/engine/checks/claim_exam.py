"""Steps of the examination that try what a theory says of itself: its name, its claim and its clauses."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from copy import copy
from dataclasses import replace
from itertools import zip_longest

import numpy as np
from numpy.typing import NDArray
from scipy.stats import chi2

from lakatos.experiments.task import Domain, Stimuli
from lakatos.theories.engine.checks.check_report import TheoryCheck
from lakatos.theories.engine.checks.claim import check_claim
from lakatos.theories.engine.checks.clause_check import (
    N_PEOPLE,
    AskedTrials,
    TriedClause,
    on_its_side,
    share_reversed,
    telling_numbers,
    triable,
    try_clause,
    without,
)
from lakatos.theories.engine.checks.exchange_check import without_turns
from lakatos.theories.engine.checks.tested_theory import (
    Array,
    TestedTheory,
    TheoryAsker,
    TrialSheet,
)
from lakatos.theories.engine.running.sequence import simulate
from lakatos.theories.engine.sandbox.client import Sandbox
from lakatos.theories.errors import GrammarError
from lakatos.theories.language.account import StatedClause, Wording
from lakatos.theories.language.family import find_family
from lakatos.theories.language.grammar import composition_of
from lakatos.theories.language.prior import Prior
from lakatos.theories.language.theory import Theory

NO_CLAUSE = Wording("nothing further")


def acted_and_stated(
    trial: TestedTheory, acting: TheoryAsker, stating: TheoryAsker, points: Mapping[str, Array]
) -> Iterator[tuple[NDArray[np.int64], Array]]:
    """Yield simulated choices of each sheet, with every option's probability as another process computes it."""
    if trial.walks:
        for sheet in trial.sheets:
            did = simulate(
                acting.session(sheet), trial.domain, points, sheet.stimuli, sheet.order, trial.rng
            )
            yield did.response, stating.replay(points, sheet, did)
        return
    for acted, stated in zip(acting(points), stating(points), strict=True):
        limits = np.cumsum(acted, axis=-1)[..., :-1]
        yield (trial.rng.random(acted.shape[:-1])[..., None] > limits).sum(axis=-1), stated


def choice_test(observed: Array, probability: Array, n_groups: int = 10) -> tuple[float, int, int]:
    """Test whether events occur as often as their stated probabilities require.

    Events are grouped by probability; in each group the surplus over what is expected is squared and divided by its
    variance, and the sum is held against the chi-square distribution. Each event may depend on those before it, as
    long as its probability is stated given them.

    Args:
        observed: ``(n_events,)`` 1 where the event occurred, else 0.
        probability: ``(n_events,)`` stated before it.
        n_groups: Most groups; groups whose count has a variance below 5 join the next.

    Returns:
        The p-value, the number of groups, and how many events contradict a probability of 0 or 1.
    """
    impossible = int(
        (((probability <= 0) & (observed == 1)) | ((probability >= 1) & (observed == 0))).sum()
    )
    order = np.argsort(probability, kind="stable")
    surplus = np.cumsum((observed - probability)[order])
    variance = np.cumsum((probability * (1 - probability))[order])
    total = float(variance[-1]) if len(variance) else 0.0
    groups = int(min(n_groups, total // 5))
    if groups < 1:
        return 1.0, 0, impossible
    ends = np.searchsorted(variance, total * np.arange(1, groups + 1) / groups * (1 - 1e-12))
    ends[-1] = len(variance) - 1
    z_squared = np.diff(surplus[ends], prepend=0.0) ** 2 / np.diff(variance[ends], prepend=0.0)
    return float(chi2.sf(z_squared.sum(), groups)), groups, impossible


def _claim(trial: TestedTheory) -> list[TheoryCheck]:
    """The predictions that the source states, tried on its code."""
    report = check_claim(
        trial.theory,
        trial.domain,
        trial.sandbox,
        candidates=trial.candidates,
        seed=int(trial.rng.integers(2**31)),
    )
    found = [
        TheoryCheck("claim", item.held, max(map(abs, item.change)), None, item.sentence,
              error="" if item.held else "ClaimContradictedError")
        for item in report.tried
    ]  # fmt: skip
    return found or [
        TheoryCheck(
            "claim", True, None, None, "it states no PREDICTIONS that could be tried on its code."
        )
    ]


def _clauses(trial: TestedTheory) -> list[TheoryCheck]:
    """Check the clauses of the account at the estimated parameters, one by one, on the code.

    One that no trial here can test is noted and refuses nothing.
    """
    foreign = _foreign_clauses(trial.theory, trial.domain)
    if foreign:
        return [TheoryCheck("clause", False, None, None, foreign, error="ClaimContradictedError")]
    return [
        TheoryCheck("clause", item.held, item.size, None, item.sentence, required=not item.idle,
              error="" if item.held else "ClaimContradictedError")
        for item in _tried_clauses(trial, trial.theory.account().clauses)
    ]  # fmt: skip


def _foreign_clauses(theory: Theory, domain: Domain) -> str:
    """Explain what is wrong with the clauses of a theory that declares a composition; empty if nothing is."""
    if theory.composition is None:
        return ""
    try:
        family = find_family(domain)
    except GrammarError:
        return ""
    priors = {name: prior.to_literal() for name, prior in theory.priors.items()}
    try:
        composition = composition_of(theory.composition, priors)
        own = _without_labels(family.grammar.clauses(composition))
        if idle := next(family.grammar.idle(composition), None):
            needed = " or ".join(place.partition(":")[2] for place in idle.rests_on)
            return (
                f"COMPOSITION has {idle.name!r} in {idle.slot}, which changes nothing here: it acts through {needed}, "
                f"and the composition has none of these. Add one, or leave {idle.name!r} out."
            )
    except GrammarError as error:
        return f"COMPOSITION is none of the grammar's: {error} Leave it out of a theory that the grammar did not write."
    stated = _without_labels(theory.clauses)
    wrong = next(
        (a.clause for a, b in zip_longest(stated, own, fillvalue=NO_CLAUSE) if a != b), None
    )
    if wrong is None:
        return ""
    return (
        f"CLAUSES are not those of the mechanisms that COMPOSITION names; the first that differs says {wrong!r}. "
        "Leave COMPOSITION out of a theory that the grammar did not write."
    )


def _without_labels(clauses: Sequence[Wording]) -> list[Wording]:
    return [replace(clause, label="", opposite_label="") for clause in clauses]


def _tried_clauses(
    trial: TestedTheory, clauses: Sequence[StatedClause], *, numbers: bool = False
) -> list[TriedClause]:
    """Clauses tried on the code, which need not be those of the theory's own account.

    Args:
        trial: What is asked, and whom.
        clauses: Told at learned numbers.
        numbers: Whether clauses that only tell a number are tried as well.
    """
    tried = triable(clauses)
    if numbers:
        tried += telling_numbers(clauses, trial.theory.priors)
    if not tried:
        return []
    priors = trial.theory.priors
    people = trial.theory.population(N_PEOPLE)
    answers = _with_and_without(trial, trial.theory, people, tried, priors)
    straight = answers
    if turning := [clause for clause in clauses if clause.wording.overrides]:
        held = people
        for clause in turning:
            held = without(held, clause, priors) if clause.wording.parameter else held
        straight = _with_and_without(trial, _straight(trial), held, tried, priors)
    replies = [_asked(trial, sheet) for sheet in trial.sheets]
    found = []
    for number, clause in enumerate(tried, start=1):
        side = on_its_side(people, clause)
        with_it = [answer[0, side] for answer in answers]
        instead = [answer[number, side] for answer in answers]
        found.append(
            try_clause(
                clause,
                [(a - b).mean(axis=0) for a, b in zip(with_it, instead, strict=True)],
                replies,
                straight=[(own[0] - own[number])[side].mean(axis=0) for own in straight],
                reversed_share=share_reversed(with_it, instead),
            )
        )
    return found


def _with_and_without(
    trial: TestedTheory,
    theory: Theory,
    people: Mapping[str, Array],
    tried: Sequence[StatedClause],
    priors: Mapping[str, Prior],
) -> list[Array]:
    """Responses of people, and of the same people without each clause.

    Args:
        trial: What is asked.
        theory: Theory that is examined: the one on trial, or the same without parts that turn choices round.
        people: People with all parameters of the theory on trial.
        tried: Clauses.
        priors: Priors of the theory on trial.

    Returns:
        ``(1 + n_clauses, n_people, n_rows, n_options)`` probabilities of each sheet.
    """
    groups = [people, *(without(people, clause, priors) for clause in tried)]
    points = {name: np.concatenate([group[name] for group in groups]) for name in theory.priors}
    examined = trial if theory is trial.theory else copy(trial)
    examined.theory = theory
    with examined.asking(examined.sheets) as ask:
        return [answer.reshape(len(groups), N_PEOPLE, *answer.shape[1:]) for answer in ask(points)]


def _straight(trial: TestedTheory) -> Theory:
    """The theory without parts of its composition that turn choices round; itself where it has none."""
    if trial.theory.composition is None:
        return trial.theory
    try:
        return without_turns(trial.theory, find_family(trial.domain).grammar)
    except GrammarError:
        return trial.theory


def _asked(trial: TestedTheory, sheet: TrialSheet) -> AskedTrials:
    """Collect for each row of a sheet what clauses may be about."""
    features = trial.domain.features(sheet.stimuli)
    if not trial.walks:
        return AskedTrials(features, np.full(len(sheet.stimuli), -1))
    before = np.concatenate(
        [np.full((len(sheet.order), 1), -1), sheet.done.response[0, :, :-1]], axis=1
    )
    return AskedTrials(
        {name: values[sheet.order].ravel() for name, values in features.items()}, before.ravel()
    )


def check_clauses(
    theory: Theory,
    domain: Domain,
    sandbox: Sandbox,
    *,
    clauses: Sequence[StatedClause] | None = None,
    candidates: Stimuli | None = None,
    trials: Sequence[Stimuli] | None = None,
    numbers: bool = False,
    seed: int = 0,
) -> list[TriedClause]:
    """Try clauses on a theory's code: its own, or those of another account.

    Args:
        theory, domain, sandbox, candidates, seed: As in `check_theory`.
        clauses: Instead of the theory's own account at its declared distributions.
        trials: Instead of the domain's probes.
        numbers: Whether clauses that only tell a number are tried as well: it must change something.
    """

    def probes(rng: np.random.Generator) -> Sequence[Stimuli]:
        return domain.probes(rng) if trials is None else trials

    trial = TestedTheory(theory, domain, sandbox, probes, candidates, seed)
    stated = theory.account().clauses if clauses is None else clauses
    return _tried_clauses(trial, stated, numbers=numbers)
