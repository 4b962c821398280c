"""Theories of choice among options that a researcher's file describes: general accounts, written for its attributes.

The skeleton: attributes become cues from 0 to 1 (see `experiments.domains.declared`). *Perception* says how they are
seen beside one another, an *evaluation* adds up, compares or eliminates, a *context* lets options of a menu of three or
more change each other's appeal, *screening* leaves options out, and a *position* may attract of itself. A *choice* rule
turns what is left into probabilities; some choices are *lapses*.

A cue ``price`` is the variable ``x_price``, ``(n_trials, n_options)``; ``evidence`` is in log odds, and ``kept`` 1 for
options that are still considered.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache

from lakatos.experiments.domains.declared import DeclaredDomain
from lakatos.theories.families.among_several import (
    ELIMINATE,
)
from lakatos.theories.families.declared_mechanisms import MOST_REASONS, _mechanisms, can_eliminate
from lakatos.theories.families.declared_words import _label
from lakatos.theories.families.family import Family
from lakatos.theories.grammar import Composition, Grammar, Mechanism, SkeletonSlot


@lru_cache(maxsize=16)
def declared_family(domain: DeclaredDomain) -> Family:
    """The grammar of a declared domain, and the published accounts that it starts from."""
    mechanisms = _with_known_breaks(tuple(_mechanisms(domain)))
    has_context = any(item.slot == "context" for item in mechanisms)
    unpacked = [f"x_{cue.name} = {cue.code}" for cue in domain.cues]
    grammar = Grammar(
        domain=domain.name,
        silence="choose at random",
        slots=(
            SkeletonSlot("perception", least=0),
            SkeletonSlot("evaluation", least=0),
            *((SkeletonSlot("context", least=0, most=2),) if has_context else ()),
            SkeletonSlot("screening", least=0, most=MOST_REASONS),
            SkeletonSlot("position", least=0),
            SkeletonSlot("choice"),
            SkeletonSlot("lapse", least=0),
        ),
        mechanisms=mechanisms,
        heads=_heads(domain),
        sentences={"context": 2, "screening": 2, "position": 2, "choice": 3, "lapse": 3},
        before="\n".join(
            [*unpacked, f"evidence = 0.0 * x_{domain.cues[0].name}[None]", "kept = 1.0 + evidence"]
        ),
        after="return p",
        helpers=ELIMINATE if can_eliminate(domain.cues) else "",
        predictions=({"property": "reverses", "in": "sides"},),
    )
    return Family(domain.name, grammar, _seeds(domain, grammar))


# Published accounts ---------------------------------------------------------------------------


def _composition(**slots: str | tuple[str, ...]) -> Composition:
    """Mechanisms by slot, over the plainest choice rule with lapses."""
    named = {"choice": "logistic", "lapse": "random"} | slots
    return Composition.of(named)


def _seeds(domain: DeclaredDomain, grammar: Grammar) -> Mapping[str, tuple[str, Composition]]:
    """Published accounts by name, those that the attributes allow."""
    known = {(item.slot, item.name) for item in grammar.mechanisms}
    cues = domain.cues
    base = "weighted adding" if len(cues) > 1 else f"{cues[0].name} alone"
    ordered = tuple(
        f"{cue.name} {'first' if cue.word is not None else 'best' if cue.is_directed else 'highest'}"
        for cue in cues
    )
    enough = tuple(f"{cue.name} good enough" for cue in cues if cue.is_directed)
    offered: dict[str, tuple[str, Composition]] = {
        "random": ("Random choice", _composition()),
        "weighted_adding": ("Weighted adding", _composition(evaluation=base)),
        "lexicographic": (
            "One reason after another",
            _composition(screening=ordered[:MOST_REASONS]),
        ),
        "satisficing": ("Good enough", _composition(screening=enough[:MOST_REASONS])),
        "comparison": (
            "Comparison by attribute",
            _composition(evaluation="comparison by attribute"),
        ),
        "elimination": (
            "Elimination by aspects",
            _composition(evaluation="elimination by aspects"),
        ),
        "equal_weights": ("Equal weights", _composition(evaluation="equal weights")),
        "similarity": (
            "Small differences ignored",
            _composition(evaluation=base, perception="small differences ignored"),
        ),
        "reference_point": (
            "Reference point",
            _composition(evaluation=base, perception="reference point"),
        ),
        "range": ("Relative to the range", _composition(evaluation=base, perception="relative to the range")),
        "ratios": ("Ratios", _composition(evaluation=base, perception="ratios")),
        "inequality_aversion": (
            "Inequality aversion",
            _composition(evaluation="inequality aversion"),
        ),
        "welfare": ("Total and worst off", _composition(evaluation="total and worst off")),
        "expected_utility": ("Expected utility", _composition(evaluation="expected utility")),
        "discounting": ("Hyperbolic discounting", _composition(evaluation="hyperbolic discounting")),
        "attraction": ("Attraction by decoys", _composition(evaluation=base, context="attraction")),
        "compromise": ("Compromise", _composition(evaluation=base, context="compromise")),
        "unlike_options": ("Similarity", _composition(evaluation=base, context="similarity")),
    }  # fmt: skip
    if len(cues) > 1:
        offered |= {
            f"{cue.name}_alone": (
                f"{cue.noun[0].upper()}{cue.noun[1:]} alone",
                _composition(evaluation=f"{cue.name} alone"),
            )
            for cue in cues
        }
    if not enough:
        del offered["satisficing"]
    return {
        name: (title, composition)
        for name, (title, composition) in offered.items()
        if all((slot, used) in known for slot, names in composition.slots.items() for used in names)
    }


def _heads(domain: DeclaredDomain) -> tuple[tuple[tuple[str, ...], str], ...]:
    """Names of forms."""
    alone = [
        ((f"evaluation:{cue.name} alone",), f"{_label(cue.noun).capitalize()} alone")
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
        (("context",), "Context alone"),
        (("position",), "Side bias"),
        ((), "Random choice"),
    )


def _with_known_breaks(mechanisms: tuple[Mechanism, ...]) -> tuple[Mechanism, ...]:
    """The mechanisms without words for predictions that none of them makes."""
    stated = [{"property": "reverses", "in": "sides"}]
    stated += [dict(item) for part in mechanisms for item in part.predictions]
    known = {item.get("in", "") for item in stated}
    known |= {f"{item['property']} {item.get('in', '')}".strip() for item in stated}
    return tuple(
        replace(item, breaks=tuple(sorted(known & set(item.breaks)))) for item in mechanisms
    )
