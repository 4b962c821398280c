"""Distances of theories from the hidden rule, where there is one, and from one another."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lakatos.experiments.errors import ExperimentError
from lakatos.experiments.task import Domain, Stimuli, Trials, with_random_sides
from lakatos.theories.discovery.rivals import sample_of_space
from lakatos.theories.engine.evidence import TheoryEvidence
from lakatos.theories.engine.laboratory import Laboratory
from lakatos.theories.engine.scoring.distance import theory_map
from lakatos.theories.findings.verdicts.record import TheoriesMapped, TruthCompared
from lakatos.theories.language.theory import LAPSE, Theory
from lakatos.traces.digest import Digest

Array = NDArray[np.float64]
TRUTH_DRAWS = 256
SAMPLED = 20_000
POOL_SAMPLED = 2_000
SCHEDULES = 8
MAPPED = 400
"""Trials on which theories are mapped."""
LONGEST = 400
"""Steps of the sequences in which repetitions are counted."""


def compare_with_truth(
    evidence: TheoryEvidence,
    hidden: Theory,
    names: Sequence[Digest],
    rng: np.random.Generator,
    *,
    random_choices: float = 0.0,
) -> TruthCompared:
    """Errors of theories against the hidden rule over all trials of the space.

    Args:
        evidence: What is known of theories.
        hidden: The rule that simulated people follow.
        names: Theories, the leader first.
        rng: Draws sides, samples and people.
        random_choices: Share of simulated people's responses given at random, beside the rule.
    """
    parts = _space(evidence.domain, evidence.terms.space, rng)
    rows = np.sort(rng.permutation(len(parts[0]))[:POOL_SAMPLED])
    sample = parts if evidence.domain.sequential else [parts[0].take(rows)]
    pool = {name: evidence.theory(name) for name in names}
    listed = evidence.board().listed(evidence.seeds)
    listed_theories = {name: theory for name, theory in pool.items() if name in listed}
    everywhere, somewhere = (
        ComparedProportions(evidence.laboratory, item, hidden, random_choices)
        for item in (parts, sample)
    )
    return TruthCompared(
        hidden=hidden.name,
        n_trials=sum(map(len, parts)),
        corrected=everywhere.errors(listed_theories, lapse=False),
        uncorrected=everywhere.errors(listed_theories, lapse=True),
        pool=somewhere.errors(pool, lapse=False),
        sequence=_sequence_statistics(evidence, hidden, names[0], parts[0], rng, random_choices),
    )


def map_theories(
    evidence: TheoryEvidence, names: Sequence[Digest], rng: np.random.Generator
) -> TheoriesMapped:
    """Theories in a plane, by what their people choose on trials of the space."""
    stimuli = sample_of_space(evidence, rng, MAPPED)
    shares = np.stack(
        [
            evidence.laboratory.proportions(evidence.theory(name), stimuli, TRUTH_DRAWS)
            for name in names
        ]
    )
    gaps = np.sqrt(((shares[:, None] - shares[None]) ** 2).mean(axis=(2, 3)))
    found = theory_map(gaps)
    return TheoriesMapped(
        theories=tuple(names),
        positions=tuple((float(x), float(y)) for x, y in found.positions),
        shown=found.shown,
        n_trials=len(stimuli),
    )


def _space(domain: Domain, space: Mapping[str, Any], rng: np.random.Generator) -> list[Stimuli]:
    """All trials of the space, each with its sides by lot; a sample of one too large to list; or some schedules."""
    if domain.sequential:
        return [domain.candidates(space, rng, SAMPLED) for _ in range(SCHEDULES)]
    try:
        stimuli = domain.space(space)
    except ExperimentError:
        stimuli = domain.candidates(space, rng, SAMPLED)
    return [with_random_sides(domain, stimuli, rng)]


class ComparedProportions:
    """Choice proportions of the hidden rule's people and of theories on the same trials; each is computed once."""

    def __init__(
        self,
        laboratory: Laboratory,
        parts: Sequence[Stimuli],
        hidden: Theory,
        random_choices: float,
    ) -> None:
        self.laboratory, self.parts = laboratory, parts
        self.hidden, self.random_choices = hidden, random_choices
        self._found: dict[tuple[Digest, str, bool, float], Array] = {}

    def errors(self, theories: Mapping[Digest, Theory], *, lapse: bool) -> dict[Digest, float]:
        """Mean squared error of each theory's choice proportions against those of the rule's people.

        Like is compared with like. Without lapses, those of the rule, responses that its people give at random and the
        theory's lapses are left out together, and only where both sides have some; errors that a rule makes in other
        ways are people's behaviour, which a theory has to predict.
        """
        errs_at_random = LAPSE in self.hidden.priors or self.random_choices > 0
        found = {}
        for name, theory in theories.items():
            kept = lapse or not (errs_at_random and LAPSE in theory.priors)
            share = self.random_choices if kept else 0.0
            gap = self._of(theory, kept, 0.0) - self._of(self.hidden, kept, share)
            found[name] = float(np.mean(gap**2))
        return found

    def _of(self, theory: Theory, lapse: bool, random_choices: float) -> Array:
        key = theory.digest, repr(theory.priors), lapse, random_choices
        if key not in self._found:
            own = [
                self.laboratory.proportions(
                    theory, part, TRUTH_DRAWS, lapse=lapse, random_choices=random_choices
                )
                for part in self.parts
            ]
            self._found[key] = np.concatenate(own)
        return self._found[key]


def _sequence_statistics(
    evidence: TheoryEvidence,
    hidden: Theory,
    leader: Digest,
    stimuli: Stimuli,
    rng: np.random.Generator,
    random_choices: float,
) -> dict[str, dict[str, float]]:
    """Compute how often people repeat their last choice under the rule and the leader; empty if neither learns."""
    theories = {"hidden": hidden, leader: evidence.theory(leader)}
    if not any(theory.learns for theory in theories.values()):
        return {}
    n_steps = len(stimuli) if evidence.domain.sequential else min(len(stimuli), LONGEST)
    part = (
        stimuli.take(range(n_steps))
        if evidence.domain.sequential
        else stimuli.take(rng.permutation(len(stimuli))[:n_steps])
    )
    people = evidence.laboratory.simulate(
        list(theories.values()), part, TRUTH_DRAWS, rng, random_choices=(random_choices, 0.0)
    )
    return {name: repetitions(trials) for name, trials in zip(theories, people, strict=True)}


def repetitions(trials: Trials) -> dict[str, float]:
    """Shares of steps at which people do the same as in the step before: in all, and by what that was followed by."""
    sequences = trials.sequences
    there = (sequences.trial[:, 1:] >= 0) & (sequences.trial[:, :-1] >= 0)
    same = sequences.response[:, 1:] == sequences.response[:, :-1]
    kinds = {"in all": there}
    if "reward" in sequences.feedback:
        won = sequences.feedback["reward"][:, :-1] > 0
        kinds |= {"after a reward": there & won, "after none": there & ~won}
    return {name: float(same[rows].mean()) for name, rows in kinds.items() if rows.any()}
