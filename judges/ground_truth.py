"""Builders of anchor items: from people simulated by a known theory, in every domain, and from published choices.

A problem is a set of trials that no other item was asked, with people of its own. On its first half two theories are
compared as the loop would compare them; the label is who predicts the second half better, known by more answers than
the loop could afford. Comparisons that remain undecided there are left out. Theories published by people and theories
composed by the grammar take every place, so that origin and quality can be told apart.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from lakatos.experiments.participants.archival import restrict
from lakatos.experiments.task import Domain, Stimuli, Trials, identities
from lakatos.judges.anchor import AnchorItem
from lakatos.judges.description import ScoredExperiment, describe, favoured
from lakatos.judges.errors import AnchorError
from lakatos.theories.errors import TheoryError
from lakatos.theories.families.family import Family
from lakatos.theories.grammar import Composition, composition_of
from lakatos.theories.laboratory import Laboratory
from lakatos.theories.scoring.score import log_predictive
from lakatos.theories.theory import Theory, TheoryProgram, read_program
from lakatos.traces.digest import digest_bytes

SETTLED = 2.0
"""Standard errors by which one theory must be ahead for a comparison to be settled."""
N_DRAWS = 128
SETTINGS: Mapping[str, Mapping[str, Any]] = {
    "multiattribute": {"validities": [0.9, 0.8, 0.7, 0.6], "levels": [0, 1, 2, 3]},
    "learning": {"n_steps": 40},
}
"""Of the spaces that simulated people are asked from; the domain's own where there are none."""


@dataclass(frozen=True)
class TheoryAuthor:
    """A theory and whether a machine composed it."""

    theory: Theory
    machine: bool


def machine_theory(family: Family, rng: np.random.Generator, most_edits: int = 3) -> Theory:
    """A published theory after one to three random edits: what a search submits, good or bad."""
    return _edited(
        family.seeds[str(rng.choice(sorted(family.seeds)))][1],
        family,
        rng,
        int(rng.integers(most_edits)) + 1,
    )


def _revised(theory: Theory, family: Family, rng: np.random.Generator) -> Theory:
    assert theory.composition is not None  # the grammar wrote all theories of a family
    return _edited(composition_of(theory.composition, {}), family, rng, 1)


def _edited(
    composition: Composition, family: Family, rng: np.random.Generator, n_edits: int
) -> Theory:
    for _ in range(n_edits):
        edits = family.grammar.edits(composition)
        composition = edits[int(rng.integers(len(edits)))][1]
    name = "composed " + " ".join(names[-1] for _, names in composition.key)[:40]
    return read_program(TheoryProgram(family.grammar.write(composition, name), "grammar"))


def simulated_items(
    domain: Domain,
    family: Family,
    laboratory: Laboratory,
    rng: np.random.Generator,
    n_items: int,
    *,
    n_trials: Sequence[int] = (4, 8, 16, 24),
    n_people: Sequence[int] = (4, 8, 16, 32),
    n_settling: int = 64,
    n_draws: int = N_DRAWS,
    settled: float = SETTLED,
    settings: Mapping[str, Any] | None = None,
) -> list[AnchorItem]:
    """Comparisons whose truth is known, one a problem, as many good as bad candidates of either origin.

    Args:
        domain, family: What people are asked, and the theories.
        laboratory: Runs the theories.
        rng: Draws trials, theories and people.
        n_items: Wanted; a multiple of 4 fills all cells of origin and label evenly.
        n_trials: Distinct trials that judges see, drawn from these, since what is settled by much evidence teaches
            judges nothing; the label has the most. The steps of a schedule are set by ``settings``.
        n_people, n_settling: Powers of two: people behind what judges see, drawn from these, and behind the label.
        n_draws: Of each theory's population.
        settled: Standard errors by which one must be ahead.
        settings: Of the space.

    Raises:
        AnchorError: After ten times as many problems as items were wanted, some cell is still not full.
    """
    settings = SETTINGS.get(domain.name, {}) if settings is None else settings
    cells: dict[tuple[bool, bool], int] = {
        (machine, label): 0 for machine in (False, True) for label in (False, True)
    }
    items: list[AnchorItem] = []
    for _ in range(10 * n_items):
        if len(items) == n_items:
            return items
        n_seen = int(rng.choice(n_trials))
        first, second = _halves(domain, settings, rng, n_seen, max(n_trials))
        authors = [_author(family, rng, machine=bool(rng.random() < 0.5)) for _ in range(3)]
        if rng.random() < 0.5:  # as in the loop, one is a revision of the other
            machine = [place for place in (0, 1) if authors[place].machine]
            if machine:
                place = machine[int(rng.integers(len(machine)))]
                authors[place] = TheoryAuthor(
                    _revised(authors[1 - place].theory, family, rng), True
                )
        candidate, incumbent = authors[0], authors[1]
        if candidate.theory.digest == incumbent.theory.digest:
            continue
        # The truth is one of the two in two thirds of the problems, and a third theory in the others.
        truth = authors[int(rng.integers(3))].theory
        theories = [candidate.theory, incumbent.theory]
        try:
            so_far, later = (
                laboratory.simulate([truth], stimuli, n, rng)[0]
                for stimuli, n in ((first, int(rng.choice(n_people))), (second, n_settling))
            )
            scored = [
                [_score(laboratory, theory, trials, n_draws) for trials in (so_far, later)]
                for theory in theories
            ]
        except TheoryError:
            continue  # a composition that cannot run is no comparison
        _, in_errors = favoured([scored[0][1]], [scored[1][1]])
        label = in_errors > 0
        if abs(in_errors) < settled or cells[candidate.machine, label] >= -(-n_items // 4):
            continue
        cells[candidate.machine, label] += 1
        name = f"{domain.name} simulated {int(rng.integers(2**62)):x}"
        items.append(
            AnchorItem(
                submission=describe(
                    candidate.theory,
                    incumbent.theory,
                    [scored[0][0]],
                    [scored[1][0]],
                    machine_written=(candidate.machine, incumbent.machine),
                ),
                label=label,
                strata=strata(domain.name, candidate.machine, label),
                problems=(name,),
                people=(name,),
                provenance=(
                    f"{n_settling} simulated people of {truth.short} answered other trials; "
                    f"ahead by {abs(in_errors):.1f} standard errors"
                ),
            )
        )
    raise AnchorError(
        f"only {len(items)} of {n_items} comparisons of {domain.name} were settled in ten times as many problems; give "
        "more people or trials."
    )


def archived_items(
    archive: Sequence[Trials],
    domain: Domain,
    family: Family,
    laboratory: Laboratory,
    rng: np.random.Generator,
    *,
    n_blocks: int = 6,
    n_pairs: int = 4,
    n_draws: int = N_DRAWS,
) -> list[AnchorItem]:
    """Comparisons settled by published choices of people.

    Every experiment is cut into blocks that share neither trials nor people (a schedule cannot be cut, so its blocks
    share the schedule and stay in one part of the anchor set). Half of a block's trials, or people, is what judges
    see, the other half settles.

    Args:
        archive: Experiments of one data set.
        domain, family, laboratory, rng: As in `simulated_items`.
        n_blocks: Of each experiment.
        n_pairs: Pairs of theories compared on each block.
        n_draws: Of each theory's population.
    """
    items: list[AnchorItem] = []
    for trials in archive:
        for number, (so_far, later, problems, people) in enumerate(
            _blocks(trials, domain, rng, n_blocks)
        ):
            for _ in range(n_pairs):
                pair = [_author(family, rng, machine=bool(rng.random() < 0.5)) for _ in range(2)]
                if pair[0].theory.digest == pair[1].theory.digest:
                    continue
                try:
                    scored = [
                        [
                            _score(laboratory, author.theory, part, n_draws)
                            for part in (so_far, later)
                        ]
                        for author in pair
                    ]
                except TheoryError:
                    continue
                value, in_errors = favoured([scored[0][1]], [scored[1][1]])
                if abs(in_errors) < SETTLED:
                    continue
                machine = pair[0].machine, pair[1].machine
                items.append(
                    AnchorItem(
                        submission=describe(
                            pair[0].theory,
                            pair[1].theory,
                            [scored[0][0]],
                            [scored[1][0]],
                            machine_written=machine,
                        ),
                        label=value > 0,
                        strata=strata(domain.name, machine[0], value > 0),
                        problems=problems,
                        people=people,
                        provenance=(
                            f"people's published choices, {trials.experiment}, block {number}; ahead by "
                            f"{abs(in_errors):.1f} standard errors"
                        ),
                    )
                )
    return list({item.digest: item for item in items}.values())


def strata(domain: str, machine: bool, label: bool) -> dict[str, str]:
    """By which groups are protected and bias is measured."""
    return {
        "domain": domain,
        "origin": "machine" if machine else "human",
        "quality": "good" if label else "bad",
    }


def _author(family: Family, rng: np.random.Generator, *, machine: bool) -> TheoryAuthor:
    if machine:
        return TheoryAuthor(machine_theory(family, rng), True)
    return TheoryAuthor(read_program(family.program(str(rng.choice(sorted(family.seeds))))), False)


def _score(
    laboratory: Laboratory, theory: Theory, trials: Trials, n_draws: int
) -> ScoredExperiment:
    evidence = laboratory.evidence(theory, [trials], n_draws)[0]
    return ScoredExperiment(
        log_predictive(evidence), evidence.probabilities.mean(axis=0), trials.proportions
    )


def _halves(
    domain: Domain,
    settings: Mapping[str, Any],
    rng: np.random.Generator,
    n_seen: int,
    n_settling: int,
) -> tuple[Stimuli, Stimuli]:
    if domain.sequential:
        first, second = (domain.candidates(settings, rng, n_seen) for _ in range(2))
        return first, second
    stimuli = domain.candidates(settings, rng, n_seen + n_settling)
    order = rng.permutation(len(stimuli))
    n_first = len(order) * n_seen // (n_seen + n_settling)
    return stimuli.take(order[:n_first]), stimuli.take(order[n_first:])


def _blocks(
    trials: Trials, domain: Domain, rng: np.random.Generator, n_blocks: int
) -> list[tuple[Trials, Trials, tuple[str, ...], tuple[str, ...]]]:
    """Both halves of each block, the names of its problems, and that of its people."""
    counts = trials.counts.sum(axis=2) > 0
    n_people, n_rows = counts.shape
    walks = domain.sequential
    own_rows = (
        [np.arange(n_rows)] * n_blocks
        if walks
        else np.array_split(rng.permutation(n_rows), n_blocks)
    )
    whole = trials.pooled
    own_people = (
        [np.arange(n_people)] * n_blocks
        if whole
        else np.array_split(rng.permutation(n_people), n_blocks)
    )
    found: list[tuple[Trials, Trials, tuple[str, ...], tuple[str, ...]]] = []
    for number, (rows, people) in enumerate(zip(own_rows, own_people, strict=True)):
        halves = []
        for half in (0, 1):
            who = people[half::2] if walks else people
            which = rows if walks else np.sort(rows[half::2])
            wanted = np.zeros(counts.shape, dtype=bool)
            wanted[np.ix_(who, which)] = True
            halves.append((wanted & counts, which))
        if any(not part.any() or (part.any(axis=1).sum() < 2 and not whole) for part, _ in halves):
            continue
        parts = [
            restrict(trials, part, which.tolist(), trials.experiment) for part, which in halves
        ]
        keys = [] if walks else identities(domain, trials.stimuli)
        problems = (
            (trials.experiment,)
            if walks
            else tuple(sorted({digest_bytes(keys[row])[:16] for row in rows}))
        )
        # Where only counts are known, who answered is not, and everybody may have answered everything.
        group = f"{trials.experiment} people {'all' if whole else number}"
        found.append((parts[0], parts[1], problems, () if whole else (group,)))
    return found
