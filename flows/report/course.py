"""Course of a run, in sentences that hold for this run: trials, predictions, diagnoses, pairs of theories."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import combinations

from lakatos.experiments.record import DesignChosen
from lakatos.flows.report.reader import RunReading, designed_pairs, open_pairs
from lakatos.theories.findings.verdicts.conclude import in_new_names
from lakatos.traces.wording import in_a_list, plural

FROZEN_DIFFERENCES = (
    "Differences between frozen predictions of two theories are means over all experiments but the first, whose "
    "predictions were frozen before any population was estimated; if there is no other, they are those of the first."
)
"""The rule of `prequential_advantage`, in words."""
STOPS = {
    "the archive is used up": "all responses that were not sealed had been used",
    "budget:": "the preset number of cycles was reached:",
}
"""Reasons for stopping that records state in another way."""
MOST_UNMET = 3
"""Pairs that no design compared, of those that are named."""


def course(reading: RunReading) -> str:
    """Describe how trials were chosen, when predictions were recorded, and what followed from the responses."""
    parts = [_choice_of_trials(reading)]
    parts.append(
        "Before the responses of each experiment "
        f"{reading.came}, the predictions of the theories in competition were recorded; a theory that was proposed "
        "later is not tested by these responses."
    )
    seeds = set(reading.state.seeds)
    proposed = Counter(
        item.record.cycle for theory, item in reading.checked.items() if theory not in seeds
    )
    diagnosed = [
        (item.record.cycle, reading.label(item.record.loser).name)
        for item in reading.state.theories.diagnoses
    ]
    return " ".join(filter(None, [*parts, course_of_search(diagnosed, proposed)]))


def _choice_of_trials(reading: RunReading) -> str:
    known = reading.state.experiments
    designs = [item.record for name, item in known.designs.items() if name in known.collected]
    n_trials = sum(item.n_trials for item in designs)
    if not n_trials or reading.is_all_used:
        return ""
    if sum(item.n_random for item in designs) == n_trials:
        return f"All {plural(n_trials, 'trial')} were drawn at random."
    return f"Of {plural(n_trials, 'trial')}, {kinds_of_trials(designs)}."


def kinds_of_trials(designs: Sequence[DesignChosen]) -> str:
    """State how many trials of experiments were selected, drawn at random, or all that there were."""
    partial = [item for item in designs if not item.is_exhaustive]
    n_random = sum(item.n_random for item in partial)
    kinds = {
        "selected to discriminate between the theories in competition": sum(
            item.n_trials - item.n_random for item in partial
        ),
        "drawn at random": n_random,
    }
    parts = [f"{n} {'was' if n == 1 else 'were'} {words}" for words, n in kinds.items() if n]
    rest = [item for item in designs if item.is_exhaustive]
    if rest:
        n_rest = sum(item.n_trials for item in rest)
        verb = "was" if n_rest == 1 else "were"
        cycles = _cycles([item.cycle for item in rest])
        who = f"the remaining {n_rest}" if parts else ("the only one" if n_rest == 1 else "all")
        parts.append(f"{who} {verb} used in {cycles}")
    return in_a_list(parts)


def course_of_search(diagnosed: Sequence[tuple[int, str]], proposed: Mapping[int, int]) -> str:
    """State in which cycles which theory was diagnosed, and in which theories were proposed.

    Args:
        diagnosed: Cycle of each diagnosis, and the name of its theory.
        proposed: Number of new theories in each cycle.
    """
    parts = []
    if diagnosed:
        names = dict.fromkeys(name for _, name in diagnosed)
        of_each = {
            name: _cycles([cycle for cycle, one in diagnosed if one == name]) for name in names
        }
        examined = in_a_list([f"{name} (in {cycles})" for name, cycles in of_each.items()])
        parts.append(f"The misfit of {examined} was examined.")
    n_new = sum(proposed.values())
    if n_new:
        verb = "was" if n_new == 1 else "were"
        parts.append(
            f"{plural(n_new, 'further theory', 'further theories')} {verb} proposed (in {_cycles(list(proposed))})."
        )
    elif diagnosed:
        parts.append("No further theory was proposed.")
    return " ".join(parts)


def found_by_search(n_tried: int, n_new: int, n_submitted: int = 0) -> str:
    """State how many candidates a search evaluated, and what became of them; empty if there was no search.

    Args:
        n_tried: Number of candidates.
        n_new: Number of theories that were not initial ones.
        n_submitted: Number of candidates that it submitted.
    """
    if not n_tried:
        return ""
    if n_new:
        were = "was" if n_new == 1 else "were"
        result = f"{plural(n_new, 'further theory', 'further theories')} {were} submitted"
    elif n_submitted:
        result = (
            "it added no theory to the initial ones, because the best candidates had the form of theories that "
            "competed already once clauses were removed that gained less than two standard errors or less than the "
            "price of their parameters"
        )
    else:
        result = "it added no theory to the initial ones, because no candidate brought a clear gain"
    return f"The search evaluated {plural(n_tried, 'candidate')}; {result}."


def _cycles(numbers: Sequence[int]) -> str:
    found = [str(number) for number in sorted(set(numbers))]
    return f"{'cycle' if len(found) == 1 else 'cycles'} {in_a_list(found)}"


def stop_in_words(reading: RunReading) -> str:
    """Reason why the study ended, in the names of the verdict; empty before it ended."""
    if reading.concluded is None:
        return ""
    text = reading.concluded.stop
    for recorded, written in STOPS.items():
        text = text.replace(recorded, written)
    return in_new_names(reading.state.theories, text)


def pairs_in_words(reading: RunReading) -> str:
    """State which pairs of theories frozen predictions distinguished, and which no design compared."""
    pairs = designed_pairs(reading)
    open_ = {frozenset((pair.first, pair.second)) for pair, _ in open_pairs(reading)}
    n_distinguished = len(pairs) - len(open_)
    parts = []
    if pairs:
        parts.append(
            f"Frozen predictions distinguished {n_distinguished} of {plural(len(pairs), 'pair')} of theories that "
            "were compared by a design."
        )
        weak = [
            " and ".join(reading.label(one).tag for one in (pair.first, pair.second))
            for names, pair in pairs.items()
            if not pair.separable and names not in open_
        ]
        if weak:
            parts.append(
                f"Planned power of the last design was insufficient for some of these ({'; '.join(weak)})."
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
