"""Theories of choice among options that a researcher's file describes: general accounts, written for its attributes.

The skeleton: attributes become cues from 0 to 1 (see `domains.declared.task`). *Perception* says how they are
seen beside one another, an *evaluation* adds up, compares or eliminates, *further* reasons lie in an ideal level or in
two attributes together, a *context* lets options of a menu of three or
more change each other's appeal, *screening* leaves options out, and a *position* may attract of itself. A *choice* rule
turns what is left into probabilities; some choices are *lapses*.

A cue ``price`` is the variable ``x_price``, ``(n_trials, n_options)``; ``evidence`` is in log odds, and ``kept`` 1 for
options that are still considered.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any

from lakatos.domains.declared.mechanisms import MOST_REASONS, _mechanisms, can_eliminate
from lakatos.domains.declared.task import DeclaredDomain, TaskCue
from lakatos.domains.declared.words import label_of
from lakatos.domains.kit.among_several import (
    ELIMINATE,
)
from lakatos.theories.language.family import Family
from lakatos.theories.language.grammar import Composition, Grammar, Mechanism, SkeletonSlot


@lru_cache(maxsize=16)
def declared_family(domain: DeclaredDomain) -> Family:
    """The grammar of a declared domain, and the published accounts that it starts from."""
    stated = ({"property": "reverses", "in": "sides"},)
    mechanisms = with_known_breaks(tuple(_mechanisms(domain)), stated)
    filled = {item.slot for item in mechanisms}
    unpacked = [f"x_{cue.name} = {cue.code}" for cue in domain.cues]
    grammar = Grammar(
        domain=domain.name,
        silence="choose at random",
        slots=tuple(slot for slot in SLOTS if slot.name in filled),
        mechanisms=mechanisms,
        heads=_heads(domain),
        before="\n".join([*unpacked, *_nothing_said(domain), "kept = 1.0 + evidence"]),
        after="return p",
        helpers=ELIMINATE if can_eliminate(domain.cues) else "",
        predictions=stated,
    )
    return Family(domain.name, grammar, _seeds(domain, grammar))


MOST_FURTHER = 2
"""Reasons that lie in no attribute by itself."""
SLOTS = (
    SkeletonSlot("perception", least=0),
    SkeletonSlot("evaluation", least=0),
    SkeletonSlot("further", least=0, most=MOST_FURTHER, sentence=2),
    SkeletonSlot("context", least=0, most=2, sentence=2),
    SkeletonSlot("screening", least=0, most=MOST_REASONS, sentence=2),
    SkeletonSlot("position", least=0, sentence=2),
    SkeletonSlot("choice", sentence=3),
    SkeletonSlot("lapse", least=0, sentence=3),
)
"""Those of a task are the ones that it has mechanisms for."""


def _nothing_said(domain: DeclaredDomain) -> list[str]:
    """No evidence yet, in the shape that it will have."""
    return [f"evidence = 0.0 * x_{cue.name}[None]" for cue in domain.cues[:1]]


# Published accounts ---------------------------------------------------------------------------


def _composition(**slots: str | tuple[str, ...]) -> Composition:
    """Mechanisms by slot, over the plainest choice rule with lapses."""
    named = {"choice": "logistic", "lapse": "random"} | slots
    return Composition.of(named)


PUBLISHED: tuple[tuple[str, str, Mapping[str, str]], ...] = (
    ("random", "Random choice", {}),
    ("weighted_adding", "Weighted adding", {"evaluation": "{base}"}),
    ("lexicographic", "One reason after another", {"screening": "{ordered}"}),
    ("satisficing", "Good enough", {"screening": "{enough}"}),
    ("comparison", "Comparison by attribute", {"evaluation": "comparison by attribute"}),
    ("elimination", "Elimination by aspects", {"evaluation": "elimination by aspects"}),
    ("equal_weights", "Equal weights", {"evaluation": "equal weights"}),
    ("similarity", "Small differences ignored", {"evaluation": "{base}", "perception": "small differences ignored"}),
    ("reference_point", "Reference point", {"evaluation": "{base}", "perception": "reference point"}),
    ("range", "Relative to the range", {"evaluation": "{base}", "perception": "relative to the range"}),
    ("ratios", "Ratios", {"evaluation": "{base}", "perception": "ratios"}),
    ("inequality_aversion", "Inequality aversion", {"evaluation": "inequality aversion"}),
    ("welfare", "Total and worst off", {"evaluation": "total and worst off"}),
    ("expected_utility", "Expected utility", {"evaluation": "expected utility"}),
    ("discounting", "Hyperbolic discounting", {"evaluation": "hyperbolic discounting"}),
    ("attraction", "Attraction by decoys", {"evaluation": "{base}", "context": "attraction"}),
    ("compromise", "Compromise", {"evaluation": "{base}", "context": "compromise"}),
    ("unlike_options", "Similarity", {"evaluation": "{base}", "context": "similarity"}),
    ("ideal_points", "Ideal levels", {"further": "{ideal}"}),
)  # fmt: skip
"""Accounts by name: title, and mechanisms by slot, with places for what depends on the attributes."""


def _seeds(domain: DeclaredDomain, grammar: Grammar) -> Mapping[str, tuple[str, Composition]]:
    """Published accounts by name, those that the attributes allow."""
    cues = domain.cues
    filling: dict[str, str | tuple[str, ...]] = {
        "{base}": "weighted adding" if len(cues) > 1 else "".join(f"{c.name} alone" for c in cues),
        "{ordered}": tuple(f"{cue.name} {_first_word(cue)}" for cue in cues)[:MOST_REASONS],
        "{ideal}": tuple(
            f"ideal {cue.name}" for cue in cues if cue.word is None and not cue.is_directed
        )[:MOST_FURTHER],
        "{enough}": tuple(f"{c.name} good enough" for c in cues if c.is_directed)[:MOST_REASONS],
    }
    offered: dict[str, tuple[str, Composition]] = {}
    for name, title, slots in PUBLISHED:
        used = {slot: filling.get(mechanism, mechanism) for slot, mechanism in slots.items()}
        if all(used.values()):
            offered[name] = (title, _composition(**used))
    if len(cues) > 1:
        for cue in cues:
            title = f"{cue.noun[0].upper()}{cue.noun[1:]} alone"
            offered[f"{cue.name}_alone"] = (title, _composition(evaluation=f"{cue.name} alone"))
    known = {(item.slot, item.name) for item in grammar.mechanisms}
    return {name: found for name, found in offered.items() if _mechanisms_of(found[1]) <= known}


def _first_word(cue: TaskCue) -> str:
    """Return the name of the mechanism that looks at a cue first of all."""
    if cue.word is not None:
        return "first"
    return "best" if cue.is_directed else "highest"


def _mechanisms_of(composition: Composition) -> set[tuple[str, str]]:
    """Slots with the names of their mechanisms."""
    return {(slot, used) for slot, names in composition.slots.items() for used in names}


def _heads(domain: DeclaredDomain) -> tuple[tuple[tuple[str, ...], str], ...]:
    """Names of forms, by the mechanisms that they have."""
    alone = [
        ((f"evaluation:{cue.name} alone",), f"{label_of(cue.noun).capitalize()} alone")
        for cue in domain.cues
    ]
    named = (
        "weighted adding", "equal weights", "comparison by attribute", "elimination by aspects",
        "inequality aversion", "total and worst off", "expected utility", "hyperbolic discounting",
    )  # fmt: skip
    return (
        *(((f"evaluation:{name}",), name.capitalize()) for name in named),
        *alone,
        (("screening",), "Screening options"),
        (("further",), "Attributes together"),
        (("context",), "Context alone"),
        (("position",), "Side bias"),
        ((), "Random choice"),
    )


def with_known_breaks(
    mechanisms: tuple[Mechanism, ...], stated: Sequence[Mapping[str, Any]]
) -> tuple[Mechanism, ...]:
    """The mechanisms without words for predictions that none of them makes.

    Args:
        mechanisms: Mechanisms of the grammar.
        stated: What the skeleton predicts.
    """
    made = [*stated, *(item for part in mechanisms for item in part.predictions)]
    known = {item.get("in", "") for item in made}
    known |= {f"{item['property']} {item.get('in', '')}".strip() for item in made}
    return tuple(
        replace(item, breaks=tuple(sorted(known & set(item.breaks)))) for item in mechanisms
    )
