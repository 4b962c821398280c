"""Anchor items of what searches submit: the best of several fitted candidates against the theory it would replace.

A theory that was chosen among many because it fits looks better than it is, which one made by lot does not; and a
campaign's theories have learned who their people are. Other items of simulated people: `judges.items.ground_truth`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from lakatos.experiments.task import Domain, Trials
from lakatos.judges.anchor import AnchorItem
from lakatos.judges.description import ScoredExperiment
from lakatos.judges.errors import AnchorError
from lakatos.judges.items.ground_truth import (
    N_DRAWS,
    SETTINGS,
    SETTLED,
    ComparedTheories,
    TheoryAuthor,
    halves,
    machine_theory,
    scored_on,
)
from lakatos.theories.discovery.grammar_search.advocate import GrammarAdvocate
from lakatos.theories.discovery.grammar_search.search_tree import ArchiveMap
from lakatos.theories.engine.laboratory import Laboratory
from lakatos.theories.engine.scoring.score import paired_difference
from lakatos.theories.errors import TheoryError
from lakatos.theories.language.family import Family
from lakatos.theories.language.grammar import Composition

TRIES = 12
"""Problems for each comparison that is wanted, at most."""
MOST_EDITS = 3
"""Of a candidate, from the incumbent; and of the rule that people follow, from a published theory."""


def searched_items(
    domain: Domain,
    family: Family,
    laboratory: Laboratory,
    rng: np.random.Generator,
    n_items: int,
    n_fits: int,
    *,
    n_trials: Sequence[int] = (8, 16, 24),
    n_people: Sequence[int] = (8, 16, 32),
    n_settling: int = 64,
    settings: Mapping[str, Any] | None = None,
) -> list[AnchorItem]:
    """Comparisons as campaigns make them, as many good as bad candidates, machine-written and published ones.

    Simulated people of a rule answer; a published theory and ``n_fits`` elaborations of it are fitted to that, and the
    best of these is compared with the published one on other trials and other people. Either is the candidate.

    Args:
        domain, family, laboratory, rng, n_items: As in `judges.items.ground_truth.simulated_items`.
        n_fits: Elaborations of which the best is submitted.
        n_trials, n_people: Of what judges see, drawn from these.
        n_settling: People behind the label.
        settings: Of the space.

    Raises:
        AnchorError: After many problems, some group of comparisons is still not full.
    """
    settings = SETTINGS.get(domain.name, {}) if settings is None else settings
    groups: Counter[tuple[bool, bool]] = Counter()
    items: list[AnchorItem] = []
    for _ in range(TRIES * n_items):
        if len(items) == n_items:
            return items
        seen, settling = halves(domain, settings, rng, int(rng.choice(n_trials)), max(n_trials))
        rule = machine_theory(family, rng, MOST_EDITS)
        try:
            so_far = laboratory.simulate([rule], seen, int(rng.choice(n_people)), rng)[0]
            later = laboratory.simulate([rule], settling, n_settling, rng)[0]
            found = _submitted(domain, family, laboratory, rng, so_far, later, n_fits)
        except TheoryError:
            continue  # what cannot run is no comparison
        if found is None or abs(found.in_errors) < SETTLED:
            continue
        found = found.turned if rng.random() < 0.5 else found
        group = (found.candidate.machine, found.label)
        if groups[group] >= -(-n_items // 4):
            continue
        groups[group] += 1
        name = f"{domain.name} searched {int(rng.integers(2**62)):x}"
        provenance = f"{n_settling} simulated people of {rule.short} answered other trials"
        items.append(found.item(domain.name, (name,), (name,), provenance))
    raise AnchorError(
        f"only {len(items)} of {n_items} comparisons of {domain.name} were settled in {TRIES} times as many problems; "
        "give more people or trials."
    )


def _submitted(
    domain: Domain,
    family: Family,
    laboratory: Laboratory,
    rng: np.random.Generator,
    so_far: Trials,
    later: Trials,
    n_fits: int,
) -> ComparedTheories | None:
    """A published theory and the best of its fitted elaborations; None where none could be fitted."""
    grammar, advocate = family.grammar, GrammarAdvocate(family.grammar)
    published = family.seeds[str(rng.choice(sorted(family.seeds)))][1]
    forms = [published, *_elaborations(family, published, rng, n_fits, walks=domain.sequential)]
    fitted = laboratory.evaluate(grammar, [(form, None) for form in forms], [so_far])
    tried = [
        advocate.attempt(form, None, "", item) for form, item in zip(forms, fitted, strict=True)
    ]
    best = max(tried[1:], key=lambda item: item.criterion, default=None)
    if best is None or best.evaluated is None or tried[0].evaluated is None:
        return None
    pair = (best.evaluated, tried[0].evaluated)
    parts = []
    for item in pair:
        shares = laboratory.evidence(item.theory, [so_far], N_DRAWS)[0].probabilities.mean(axis=0)
        parts.append(ScoredExperiment(item.left_out[0], shares, so_far.proportions))
    own, other = (scored_on(laboratory, item.theory, later, N_DRAWS) for item in pair)
    ahead = paired_difference([own.scores], [other.scores])
    return ComparedTheories(
        TheoryAuthor(pair[0].theory, True),
        TheoryAuthor(pair[1].theory, False),
        (parts[0], parts[1]),
        ahead.value / max(ahead.standard_error, 1e-12),
    )


def _elaborations(
    family: Family, published: Composition, rng: np.random.Generator, n: int, *, walks: bool
) -> list[Composition]:
    """Different forms some edits away from a published one; with a memory only where all theories have one."""
    has_memory = ArchiveMap(family.grammar).has_memory
    found: dict[object, Composition] = {}
    for _ in range(20 * n):
        if len(found) == n:
            break
        form = published
        for _ in range(int(rng.integers(MOST_EDITS)) + 1):
            edits = family.grammar.edits(form)
            form = edits[int(rng.integers(len(edits)))][1]
        if form.key != published.key and (walks or not has_memory(form)):
            found[form.key] = form
    return list(found.values())
