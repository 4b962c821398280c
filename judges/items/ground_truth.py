"""Builders of anchor items: from people simulated by a known theory, in every domain, and from published choices.

A problem is a set of trials that no other item was asked, with people of its own. On its first half two theories are
compared as the loop would compare them; the label is who predicts the second half better, known by more answers than
the loop could afford. Comparisons that remain undecided there are left out. Theories published by people and theories
composed by the grammar take every place, so that origin and quality can be told apart.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lakatos.experiments.participants.archival import restrict
from lakatos.experiments.task import Domain, Stimuli, Trials, identities
from lakatos.judges.anchor import AnchorItem
from lakatos.judges.description import ScoredExperiment, describe, favoured
from lakatos.judges.errors import AnchorError
from lakatos.theories.engine.laboratory import Laboratory
from lakatos.theories.engine.scoring.score import log_predictive
from lakatos.theories.errors import TheoryError
from lakatos.theories.language.family import Family
from lakatos.theories.language.grammar import Composition, composition_of
from lakatos.theories.language.theory import Theory, TheoryProgram, read_program
from lakatos.traces.digest import digest_bytes

SETTLED = 2.0
"""Standard errors by which one theory must be ahead for a comparison to be settled."""
N_DRAWS = 128
SETTINGS: Mapping[str, Mapping[str, Any]] = {
    "multiattribute": {"validities": [0.9, 0.8, 0.7, 0.6], "levels": [0, 1, 2, 3]},
    "learning": {"n_steps": 40},
}
"""Settings of the spaces from which trials of simulated participants are drawn; the domain's own where there are
none."""


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
        n_draws: Number of draws of each theory's population.
        settled: Standard errors by which one must be ahead.
        settings: Settings of the space.

    Raises:
        AnchorError: After ten times as many problems as items were wanted, some cell is still not full.
    """
    settings = SETTINGS.get(domain.name, {}) if settings is None else settings
    cells: Counter[tuple[bool, bool]] = Counter()
    items: list[AnchorItem] = []
    for _ in range(10 * n_items):
        if len(items) == n_items:
            return items
        n_seen = int(rng.choice(n_trials))
        seen, settling = halves(domain, settings, rng, n_seen, max(n_trials))
        candidate, incumbent, third = _authors(family, rng)
        if candidate.theory.digest == incumbent.theory.digest:
            continue
        # The truth is one of the two in two thirds of the problems, and a third theory in the others.
        truth = (candidate, incumbent, third)[int(rng.integers(3))].theory
        n_answering = int(rng.choice(n_people))
        try:
            so_far = laboratory.simulate([truth], seen, n_answering, rng)[0]
            later = laboratory.simulate([truth], settling, n_settling, rng)[0]
            found = _compared(laboratory, candidate, incumbent, so_far, later, n_draws)
        except TheoryError:
            continue  # a composition that cannot run is no comparison
        cell = (candidate.machine, found.label)
        if abs(found.in_errors) < settled or cells[cell] >= -(-n_items // 4):
            continue
        cells[cell] += 1
        name = f"{domain.name} simulated {int(rng.integers(2**62)):x}"
        provenance = f"{n_settling} simulated people of {truth.short} answered other trials"
        items.append(found.item(domain.name, (name,), (name,), provenance))
    raise AnchorError(
        f"only {len(items)} of {n_items} comparisons of {domain.name} were settled in ten times as many problems; give "
        "more people or trials."
    )


def _authors(
    family: Family, rng: np.random.Generator
) -> tuple[TheoryAuthor, TheoryAuthor, TheoryAuthor]:
    """Candidate, incumbent and a third theory; in half of all draws a machine made one of the two from the other."""
    authors = [_author(family, rng, machine=bool(rng.random() < 0.5)) for _ in range(3)]
    if rng.random() < 0.5:
        machine = [place for place in (0, 1) if authors[place].machine]
        if machine:
            place = machine[int(rng.integers(len(machine)))]
            revised = _revised(authors[1 - place].theory, family, rng)
            authors[place] = TheoryAuthor(revised, True)
    return authors[0], authors[1], authors[2]


@dataclass(frozen=True)
class ComparedTheories:
    """Two theories, how they did so far, and by how many standard errors the candidate is ahead on later answers."""

    candidate: TheoryAuthor
    incumbent: TheoryAuthor
    so_far: tuple[ScoredExperiment, ScoredExperiment]
    """Scores of candidate and incumbent so far."""
    in_errors: float

    @property
    def label(self) -> bool:
        """Whether the candidate is ahead."""
        return self.in_errors > 0

    def item(
        self, domain: str, problems: tuple[str, ...], people: tuple[str, ...], provenance: str
    ) -> AnchorItem:
        """Make the item that judges see, with its truth."""
        submission = describe(
            self.candidate.theory,
            self.incumbent.theory,
            [self.so_far[0]],
            [self.so_far[1]],
            machine_written=(self.candidate.machine, self.incumbent.machine),
        )
        return AnchorItem(
            submission=submission,
            label=self.label,
            strata=strata(domain, self.candidate.machine, self.label),
            problems=problems,
            people=people,
            provenance=f"{provenance}; ahead by {abs(self.in_errors):.1f} standard errors",
        )


def _compared(
    laboratory: Laboratory,
    candidate: TheoryAuthor,
    incumbent: TheoryAuthor,
    so_far: Trials,
    later: Trials,
    n_draws: int,
) -> ComparedTheories:
    """Score both theories on what judges see and on what settles.

    Raises:
        TheoryError: One of them cannot run.
    """
    own, other = (
        [scored_on(laboratory, author.theory, part, n_draws) for part in (so_far, later)]
        for author in (candidate, incumbent)
    )
    _, in_errors = favoured([own[1]], [other[1]])
    return ComparedTheories(candidate, incumbent, (own[0], other[0]), in_errors)


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
        n_blocks: Number of blocks of each experiment.
        n_pairs: Pairs of theories compared on each block.
        n_draws: Number of draws of each theory's population.
    """
    items: list[AnchorItem] = []
    for trials in archive:
        for number, block in enumerate(_blocks(trials, domain, rng, n_blocks)):
            provenance = f"people's published choices, {trials.experiment}, block {number}"
            for _ in range(n_pairs):
                candidate, incumbent = (
                    _author(family, rng, machine=bool(rng.random() < 0.5)) for _ in range(2)
                )
                if candidate.theory.digest == incumbent.theory.digest:
                    continue
                try:
                    found = _compared(
                        laboratory, candidate, incumbent, block.so_far, block.later, n_draws
                    )
                except TheoryError:
                    continue
                if abs(found.in_errors) >= SETTLED:
                    items.append(found.item(domain.name, block.problems, block.people, provenance))
    return list({item.digest: item for item in items}.values())


def strata(domain: str, machine: bool, label: bool) -> dict[str, str]:
    """Return the groups by which participants are protected and bias is measured."""
    return {
        "domain": domain,
        "origin": "machine" if machine else "human",
        "quality": "good" if label else "bad",
    }


def _author(family: Family, rng: np.random.Generator, *, machine: bool) -> TheoryAuthor:
    if machine:
        return TheoryAuthor(machine_theory(family, rng), True)
    return TheoryAuthor(read_program(family.program(str(rng.choice(sorted(family.seeds))))), False)


def scored_on(
    laboratory: Laboratory, theory: Theory, trials: Trials, n_draws: int
) -> ScoredExperiment:
    """Score a theory with its declared people on some responses."""
    evidence = laboratory.evidence(theory, [trials], n_draws)[0]
    return ScoredExperiment(
        log_predictive(evidence), evidence.probabilities.mean(axis=0), trials.proportions
    )


def halves(
    domain: Domain,
    settings: Mapping[str, Any],
    rng: np.random.Generator,
    n_seen: int,
    n_settling: int,
) -> tuple[Stimuli, Stimuli]:
    """Trials that judges see, and others that settle; schedules where trials are steps of one."""
    if domain.sequential:
        first, second = (domain.candidates(settings, rng, n_seen) for _ in range(2))
        return first, second
    stimuli = domain.candidates(settings, rng, n_seen + n_settling)
    order = rng.permutation(len(stimuli))
    n_first = len(order) * n_seen // (n_seen + n_settling)
    return stimuli.take(order[:n_first]), stimuli.take(order[n_first:])


@dataclass(frozen=True)
class _ArchiveBlock:
    """Part of an experiment: what judges see, what settles, and the names of its problems and people."""

    so_far: Trials
    later: Trials
    problems: tuple[str, ...]
    people: tuple[str, ...]


def _blocks(
    trials: Trials, domain: Domain, rng: np.random.Generator, n_blocks: int
) -> list[_ArchiveBlock]:
    """Blocks of an experiment, those of which both halves were answered."""
    answered = trials.counts.sum(axis=2) > 0
    n_people, n_rows = answered.shape
    # A schedule cannot be cut, nor can people be told apart where only counts are known.
    own_rows = _shared_out(n_rows, n_blocks, rng, whole=domain.sequential)
    own_people = _shared_out(n_people, n_blocks, rng, whole=trials.pooled)
    keys = [] if domain.sequential else identities(domain, trials.stimuli)
    found = []
    for number, (rows, people) in enumerate(zip(own_rows, own_people, strict=True)):
        halves = [_half(answered, rows, people, half, walks=domain.sequential) for half in (0, 1)]
        if not all(_is_enough(part, whole=trials.pooled) for part, _ in halves):
            continue
        so_far, later = (
            restrict(trials, part, which.tolist(), trials.experiment) for part, which in halves
        )
        problems: tuple[str, ...] = (trials.experiment,)
        if not domain.sequential:
            problems = tuple(sorted({digest_bytes(keys[row])[:16] for row in rows}))
        # Where only counts are known, everybody may have answered everything.
        group = () if trials.pooled else (f"{trials.experiment} people {number}",)
        found.append(_ArchiveBlock(so_far, later, problems, group))
    return found


def _shared_out(
    n: int, n_blocks: int, rng: np.random.Generator, *, whole: bool
) -> list[NDArray[np.intp]]:
    """Numbers below ``n`` shared out among blocks at random; all of them to each where they stay ``whole``."""
    if whole:
        return [np.arange(n)] * n_blocks
    return np.array_split(rng.permutation(n), n_blocks)


def _half(
    answered: NDArray[np.bool_],
    rows: NDArray[np.intp],
    people: NDArray[np.intp],
    half: int,
    *,
    walks: bool,
) -> tuple[NDArray[np.bool_], NDArray[np.intp]]:
    """The answers of one half of a block's trials, of a schedule those of half of its people; and its trials."""
    who = people[half::2] if walks else people
    which = rows if walks else np.sort(rows[half::2])
    wanted = np.zeros(answered.shape, dtype=bool)
    wanted[np.ix_(who, which)] = True
    return wanted & answered, which


def _is_enough(part: NDArray[np.bool_], *, whole: bool) -> bool:
    """Whether anybody answered, two people at least where they are known."""
    return bool(part.any() and (whole or part.any(axis=1).sum() >= 2))
