"""Names and words for what was learned, each clause of the leader tried on the trials that were asked."""

from __future__ import annotations

import operator
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial

import numpy as np

from lakatos.experiments.answer_scale import scale_of
from lakatos.experiments.errors import TrialsError
from lakatos.experiments.outcomes import outcome_schedules
from lakatos.experiments.task import Domain, Stimuli, Trials
from lakatos.theories.discovery.rivals import sample_of_space
from lakatos.theories.engine.checks.clause_check import TriedClause
from lakatos.theories.engine.checks.exchange_check import try_exchanges
from lakatos.theories.engine.checks.naming import names_after_learning
from lakatos.theories.engine.evidence import TheoryEvidence
from lakatos.theories.engine.record import TheoriesTold
from lakatos.theories.engine.scoring.distance import find_duplicate
from lakatos.theories.errors import GrammarError, TheoryError
from lakatos.theories.language.account import Wording
from lakatos.theories.language.family import Family
from lakatos.theories.language.grammar import composition_of
from lakatos.theories.language.theory import Theory, read_program
from lakatos.traces.digest import Digest

MOST_TRIALS = 100
"""Number of trials of each experiment on which clauses are tested."""
PREDICTS_THE_SAME = 0.005
"""Root mean square difference of probabilities up to which two theories predict the same: copies are within 0.0001."""
COMPARE = {"<": operator.lt, ">": operator.gt}


def tell_of(evidence: TheoryEvidence, names: Sequence[Digest]) -> TheoriesTold:
    """Describe the rivals for the record of the verdict.

    Args:
        evidence: What the run knows.
        names: Names of the rivals, the leader first.
    """
    trials = [evidence.trials(name) for name in evidence.experiments.collected]
    theories = [evidence.theory(name) for name in names]
    lacking = lacking_trials(
        [*_clauses_of(theories)], evidence.domain, [item.stimuli for item in trials]
    )
    theories = [replace(theory, lacking=lacking, silent=frozenset()) for theory in theories]
    known = trials_with_outcomes(evidence.domain, trials)
    tried = _try_clauses(evidence, theories[0], known) if known else []
    idle = [item.clause.wording.clause for item in tried if item.idle]
    refused = [item.clause.wording.clause for item in tried if not (item.held or item.idle)]
    theories[0] = replace(theories[0], silent=frozenset((*idle, *refused)))

    checked = evidence.theories.checked
    published = published_forms(evidence.family, theories)
    for name in names:
        if checked[name].record.author == "published":
            published[name] = checked[name].record.name
    if names[0] not in published and (title := published_twin(evidence, evidence.form(names[0]))):
        published[names[0]] = title
    entered = [replace(evidence.form(name), name=checked[name].record.name) for name in names]
    return TheoriesTold(
        leader=names[0],
        names=names_after_learning(theories, published, entered),
        published=published,
        lacking=tuple(sorted(lacking)),
        idle=tuple(idle),
        refused=tuple(refused),
        tried=tuple(item.sentence for item in tried),
    )


def _clauses_of(theories: Sequence[Theory]) -> list[Wording]:
    return [clause for theory in theories for clause in theory.clauses]


def lacking_trials(
    clauses: Sequence[Wording], domain: Domain, asked: Sequence[Stimuli]
) -> frozenset[str]:
    """Return what clauses need or lack ("rare_outcome < 0.3"), as far as no presented trial has it."""
    needs = {
        need
        for clause in clauses
        for need in (clause.if_presented, clause.unless_presented)
        if need
    }
    if not needs:
        return frozenset()
    features = [domain.features(stimuli) for stimuli in asked]
    return frozenset(need for need in needs if not any(_has(need, item) for item in features))


def _has(need: str, features: Mapping[str, np.ndarray]) -> bool:
    """Whether a trial is on the side of the limit that a need names."""
    feature, sign, limit = need.split()
    values = features.get(feature)
    return values is not None and bool(COMPARE[sign](values, float(limit)).any())


def trials_with_outcomes(domain: Domain, trials: Sequence[Trials]) -> list[Stimuli]:
    """Trials on which clauses can be tried: where nothing is known of what options pay, nobody learns anything.

    The schedule of a file holds no outcomes; they are estimated from its responses where these tell them.
    """
    found = []
    for item in trials:
        with suppress(TrialsError):
            found.append(outcome_schedules(domain, item, 1, np.random.default_rng(0)).stimuli)
    return found


def _try_clauses(
    evidence: TheoryEvidence, theory: Theory, asked: Sequence[Stimuli]
) -> list[TriedClause]:
    """Try a theory's clauses; empty where it cannot be run on these trials."""
    rng = np.random.default_rng(0)
    some = asked
    if not evidence.domain.sequential:
        some = [item.take(rng.permutation(len(item))[:MOST_TRIALS]) for item in asked]
    try:
        tried = evidence.laboratory.check_clauses(theory, some)
        exchanged = partial(try_exchanges, theory, evidence.family.grammar, trials=some)
        return [*tried, *evidence.laboratory.with_sandbox(exchanged)]
    except TheoryError:
        return []


def published_forms(family: Family, theories: Sequence[Theory]) -> dict[Digest, str]:
    """Titles of published theories, by the theories that have their form, whatever they say of noise alone."""
    titles = {_form(family, slots.to_literal()): title for title, slots in family.seeds.values()}
    found = {}
    for theory in theories:
        if theory.composition is None:
            continue
        try:
            title = titles.get(_form(family, theory.composition))
        except GrammarError:
            continue
        if title is not None:
            found[theory.digest] = title
    return found


def published_twin(evidence: TheoryEvidence, form: Theory) -> str:
    """The title of a published theory that predicts as this one does; empty where there is none.

    A text of which the grammar knows no form may be a copy with other names, another arrangement, or a part without
    effect. People of each of the two must be able to give all pairs of one person's responses nearly the probabilities
    that they have with the other. Theories that learn are not compared, since their predictions depend on earlier
    responses, nor are numbers and times, of which each is too rare to tell two theories apart.

    Args:
        evidence: What the run knows.
        form: The theory with its declared ranges.
    """
    if form.composition is not None or form.learns or scale_of(evidence.domain) is not None:
        return ""
    stimuli = sample_of_space(evidence, np.random.default_rng(0), MOST_TRIALS)
    for name in evidence.open_family.seeds:
        known = [read_program(evidence.open_family.program(name))]
        find = partial(
            find_duplicate,
            form,
            known,
            stimuli,
            level="person",
            limit=PREDICTS_THE_SAME,
            n_workers=1,
        )
        with suppress(TheoryError):  # either does not run on these trials
            if evidence.laboratory.with_sandbox(find) is not None:
                return known[0].name
    return ""


def _form(family: Family, slots: Mapping[str, Sequence[str]]) -> frozenset[tuple[str, str]]:
    """Mechanisms that say something about how people choose."""
    used = family.grammar.used(composition_of(slots, {}))
    return frozenset((item.slot, item.name) for item in used if not item.is_null)
