"""What happened in a run, in sentences that hold for this run: trials, predictions, diagnoses, pairs of theories."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import combinations

import numpy as np

from lakatos.experiments.interval import LEAST_UNITS
from lakatos.experiments.record import DesignChosen
from lakatos.flows.report.reader import RunReading, designed_pairs, open_pairs
from lakatos.theories.engine.scoring.score import UNKNOWN
from lakatos.traces.wording import in_a_list, plural

FROZEN_DIFFERENCES = (
    "Differences between frozen predictions of two theories are means over the experiments after the first; the first "
    "counts only if there is no other, because its predictions were frozen before any population was estimated."
)
"""The rule of `prequential_advantage`, in words."""
MOST_UNMET = 3
"""Pairs that no design compared, of those that are named."""


def course(reading: RunReading) -> str:
    """How trials were chosen, when predictions were recorded, and what followed from the responses."""
    parts = [_choice_of_trials(reading)]
    parts.append(
        "The predictions of the theories that existed then were recorded before the responses of an experiment "
        f"{reading.came}; a theory that was proposed later is not tested by these responses."
    )
    seeds = set(reading.state.seeds)
    proposed = Counter(
        item.record.cycle for theory, item in reading.checked.items() if theory not in seeds
    )
    diagnosed = [item.record.cycle for item in reading.state.theories.diagnoses]
    return " ".join(filter(None, [*parts, course_of_search(diagnosed, proposed)]))


def _choice_of_trials(reading: RunReading) -> str:
    known = reading.state.experiments
    designs = [item.record for name, item in known.designs.items() if name in known.collected]
    n_trials = sum(item.n_trials for item in designs)
    if not n_trials or reading.is_all_used:
        return ""
    return f"Of {plural(n_trials, 'trial')}, {kinds_of_trials(designs)}."


def kinds_of_trials(designs: Sequence[DesignChosen]) -> str:
    """How many trials of experiments were selected, drawn at random, or all that there were."""
    partial = [item for item in designs if not item.is_exhaustive]
    n_random = sum(item.n_random for item in partial)
    kinds = {
        "selected to discriminate between the theories competing then": sum(
            item.n_trials - item.n_random for item in partial
        ),
        "drawn at random": n_random,
        "all that remained": sum(item.n_trials for item in designs if item.is_exhaustive),
    }
    return in_a_list(
        [f"{n} {'was' if n == 1 else 'were'} {words}" for words, n in kinds.items() if n]
    )


def course_of_search(diagnosed: Sequence[int], proposed: Mapping[int, int]) -> str:
    """In which cycles a theory was diagnosed, and in which theories were proposed.

    Args:
        diagnosed: Cycle of each diagnosis.
        proposed: Number of new theories in each cycle.
    """
    parts = []
    if diagnosed:
        parts.append(f"In {_cycles(diagnosed)} the misfit of a theory was examined.")
    n_new = sum(proposed.values())
    if n_new:
        verb = "was" if n_new == 1 else "were"
        parts.append(
            f"{plural(n_new, 'new theory')} {verb} proposed (in {_cycles(list(proposed))})."
        )
    elif diagnosed:
        parts.append("No new theory was proposed.")
    return " ".join(parts)


def found_by_search(n_tried: int, n_new: int) -> str:
    """How many candidates a search evaluated, and what became of them; empty if there was no search.

    Args:
        n_tried: Number of candidates.
        n_new: Number of theories that were not initial ones.
    """
    if not n_tried:
        return ""
    result = (
        f"{plural(n_new, 'new theory', 'new theories')} {'was' if n_new == 1 else 'were'} submitted"
        if n_new
        else "it added no theory to the initial ones"
    )
    return f"The search evaluated {plural(n_tried, 'candidate')}; {result}."


def _cycles(numbers: Sequence[int]) -> str:
    found = [str(number) for number in sorted(set(numbers))]
    return f"{'cycle' if len(found) == 1 else 'cycles'} {in_a_list(found)}"


def ratio_of_verdict(reading: RunReading) -> str:
    """The advantage of the leading theory as a ratio of probabilities; empty if too few participants are behind it."""
    concluded = reading.concluded
    if concluded is None or concluded.rival is None or concluded.advantage is None:
        return ""
    few = concluded.n_units is not None and concluded.n_units < LEAST_UNITS
    if few or concluded.interval is None or (concluded.advantage_error or 0.0) >= UNKNOWN:
        return ""
    value, low, high = (
        f"{float(np.exp(nats)):.3f}" for nats in (concluded.advantage, *concluded.interval)
    )
    chosen = (
        f", Bonferroni-corrected for selection among {concluded.n_compared} theories"
        if concluded.n_compared > 1
        else ""
    )
    return (
        "The probability that the leading theory gives to a response is on average (geometric mean) "
        f"{value} times that of {reading.label(concluded.rival).name} (95% interval {low} to {high}{chosen}; "
        f"{concluded.basis})."
    )


def pairs_in_words(reading: RunReading) -> str:
    """Which pairs of theories frozen predictions distinguished, and which no design compared."""
    pairs = designed_pairs(reading)
    n_distinguished = len(pairs) - len(open_pairs(reading))
    parts = []
    if pairs:
        parts.append(
            f"Frozen predictions distinguished {n_distinguished} of {plural(len(pairs), 'pair')} of theories that "
            "were compared by a design."
        )
    scored = [line.theory for line in reading.board.standings]
    unmet = [pair for pair in combinations(scored, 2) if frozenset(pair) not in pairs]
    if unmet:
        named = [
            " and ".join(reading.label(one).tag for one in pair) for pair in unmet[:MOST_UNMET]
        ]
        more = len(unmet) - len(named)
        rest = f", and {more} more" if more else ""
        parts.append(
            f"No experiment was designed to discriminate between {plural(len(unmet), 'pair')} of scored theories "
            f"({'; '.join(named)}{rest})."
        )
    return " ".join(parts)
