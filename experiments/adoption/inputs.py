"""Facts that a file does not show about responses: where options stood, in which order trials were presented.

A theory that rests on what a file lacks cannot be tested with it, and one that rests on what goes together with
something else in every trial cannot be told from its rival. Both are found here when the file is read.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lakatos.experiments.adoption.layouts import (
    HasAttributes,
    StimulusLayout,
    known_layout,
)
from lakatos.experiments.adoption.mapping import AnswerColumns, leaves_of
from lakatos.experiments.adoption.names import ORDER, SIDES, words_of
from lakatos.experiments.adoption.side_columns import SIDE
from lakatos.experiments.task import Domain, Stimuli, Trials
from lakatos.traces.wording import in_a_list

Array = NDArray[Any]
NOT_CONSIDERED = {
    SIDES: "effects of the options' positions",
    ORDER: "effects of earlier trials",
}
"""Effects that cannot be tested without each, in words; kinds of tasks have more, see `StimulusLayout.inputs`."""
ROW_ORDER = "row_order"
"""Word by which a user accepts that rows stand in the order of the trials, although no column states it."""
BY_MEANING = {
    "ss", "ll", "sooner", "later", "now", "then", "today", "soon", "late", "early", "immediate", "delayed", "safe",
    "risky", "sure", "gamble", "cert", "certain", "small", "large", "smaller", "larger",
}  # fmt: skip
"""Words in names of columns that name an option by what it is."""
PLACES = {"left", "right", "first", "second", "third", "fourth", "top", "bottom", "middle"}
"""Words that name an option by where it is."""
FEWEST_TRIALS = 4
"""Different trials from which on anything is said to go together."""
FEWEST_IN_A_ROW = 5
LEAST_DIFFERENT = 0.9
"""Share of trials in which options differ in a property, and always in one direction, so that their place tells it."""
MOST_LOOKED_AT = 2_000
"""Trials that are looked at first; all are where something goes together in these."""
AT_ONCE = 50_000
"""Trials whose properties are computed together, so that a million of them need little memory."""
MOST_NAMED = 4
MOST_PAIRS = 2
"""Pairs of properties that go together of which each has a line of its own."""
EXACT = 1e-9


@dataclass(frozen=True)
class Confound:
    """Two properties of trials of which one tells the other in every trial."""

    fact: str
    """Fact that holds in every trial."""
    so: str
    """Conclusion that therefore cannot be drawn."""
    closes: str = ""
    """The input that therefore tells nothing, `SIDES` or `ORDER`."""
    first_option: str = ""
    """Description of the first option, where it is always the same."""


@dataclass(frozen=True)
class MissingInputs:
    """Inputs of theories that a file lacks, and why."""

    reasons: Mapping[str, str]
    """Reasons by the name of the input."""
    notes: tuple[str, ...] = ()
    """Notes on what goes together, what was assumed, and what is not considered."""
    first_option: str = ""
    """Description of the first option in every trial, where that is one thing."""
    confounds: tuple[str, ...] = ()
    """Notes that state what goes together."""


def missing_inputs(
    trials: Sequence[Trials],
    columns: AnswerColumns,
    domain: Domain,
    *,
    is_ordered: bool = True,
) -> MissingInputs:
    """Find what a file lacks, or shows only together with something else.

    Args:
        trials: All experiments of the file.
        columns: What its columns mean.
        domain: Domain of the trials.
        is_ordered: Whether the column of order, if there is one, says which trial came first.
    """
    layout = known_layout(domain)
    reasons: dict[str, str] = {}
    notes, first_option = list[str](), ""
    in_order = bool(columns.order) and is_ordered
    found = confounds_of(trials, layout, domain, in_order=in_order)
    pairs = [item for item in found if not item.closes and not item.first_option]
    notes += _pairs_in_words(pairs)
    for item in found:
        if item.closes and item.closes not in reasons:
            reasons[item.closes] = item.fact  # which is said with what is not considered
        elif item not in pairs:
            notes.append(f"{item.fact}: {item.so}")
        first_option = first_option or item.first_option
    confounds = tuple(notes)
    if SIDE in columns.stimulus and SIDE not in layout.parts:
        reasons.setdefault(SIDES, "responses are read as options, by the column of their places")
    if "go" in columns.stimulus:
        reasons.setdefault(SIDES, "one option is to withhold a response")
    if named := _named_by_meaning(columns, domain):
        reasons.setdefault(
            SIDES,
            f"options are named by what they are ({named}), and no column says where they stood",
        )
    order = (
        _order_reason(columns, layout, domain)
        if is_ordered
        else f"{columns.order} does not say in which order trials were presented"
    )
    if order:
        reasons.setdefault(ORDER, order)
    elif not columns.order and not columns.is_pooled:
        notes.append(
            "no column of order is named: rows are taken to stand in the order of the trials"
        )
    notes += [
        f"{NOT_CONSIDERED[name]} are not tested, since {why}" for name, why in reasons.items()
    ]
    lacking = {
        name: needed
        for name, needed in layout.inputs.items()
        if not set(needed.parts) & set(columns.stimulus)
    }
    if lacking:
        left_out = (
            f"{needed.told_by_it}, since no column or number says {needed.words}"
            for needed in lacking.values()
        )
        notes.append(f"not considered: {'; '.join(left_out)}")
    reasons |= {
        name: f"no column or number says {needed.words}" for name, needed in lacking.items()
    }
    return MissingInputs(reasons, tuple(notes), first_option, confounds)


def _pairs_in_words(pairs: Sequence[Confound]) -> list[str]:
    """State what goes together, in a line each; of many pairs all in one line."""
    if len(pairs) <= MOST_PAIRS:
        return [f"{item.fact}: {item.so}" for item in pairs]
    facts = "; ".join(item.fact for item in pairs[:MOST_NAMED])
    more = f" and {len(pairs) - MOST_NAMED} more pairs" if len(pairs) > MOST_NAMED else ""
    return [f"{facts}{more}: effects of what goes together cannot be separated"]


def _named_by_meaning(columns: AnswerColumns, domain: Domain) -> str:
    """Words by which columns, or responses to steps, name options without saying where these stood."""
    names = [str(leaf) for leaf in leaves_of(columns.stimulus) if isinstance(leaf, str)]
    words = {word for name in names for word in words_of(name)}
    if domain.sequential:
        cells = {cell.casefold() for cell in columns.responses}
        is_name = all(len(cell) > 2 and cell.isalpha() for cell in cells)
        return ", ".join(sorted(cells)) if cells and is_name and not cells & PLACES else ""
    return ", ".join(sorted(words & BY_MEANING)) if not words & PLACES else ""


def _order_reason(columns: AnswerColumns, layout: StimulusLayout, domain: Domain) -> str:
    """State why the order of trials is not known; empty where it is, or where rows must be in that order."""
    if columns.order or columns.is_pooled or domain.sequential or layout.from_rows is not None:
        return ""
    if columns.wide:
        return "a row holds all responses of a participant"
    if ROW_ORDER in columns.accept:
        return ""
    return (
        "no column says in which order trials were presented (order; where rows stand in that order, say --accept "
        f"{ROW_ORDER})"
    )


# What goes together ---------------------------------------------------------------------------


def confounds_of(
    trials: Sequence[Trials], layout: StimulusLayout, domain: Domain, *, in_order: bool
) -> list[Confound]:
    """Find properties that the place of an option, the order of trials or another property predicts perfectly.

    Args:
        trials: All experiments.
        layout: Layout of the domain.
        domain: Domain of the trials.
        in_order: Whether rows are known to stand in the order of presentation.
    """
    stimuli = [item.stimuli for item in trials]
    if sum(map(len, stimuli)) < FEWEST_TRIALS:
        return []
    some = [item.take(_spread(len(item))) for item in stimuli]
    if not _found(_joined(some, layout, domain), trials, layout, domain, in_order=False) and not (
        in_order and not domain.sequential
    ):
        return []
    whole = _joined(stimuli, layout, domain)
    return _found(whole, trials, layout, domain, in_order=in_order and not domain.sequential)


def _found(
    values: Mapping[str, Array],
    trials: Sequence[Trials],
    layout: StimulusLayout,
    domain: Domain,
    *,
    in_order: bool,
) -> list[Confound]:
    return [
        *_of_places(values, layout, domain),
        *_of_pairs(values),
        *(_of_order(values, trials) if in_order else ()),
    ]


def _spread(n: int) -> Array:
    """Places of at most `MOST_LOOKED_AT` of so many trials, evenly apart."""
    return np.unique(np.linspace(0, n - 1, min(n, MOST_LOOKED_AT)).astype(np.intp))


def properties_of(stimuli: Stimuli, layout: StimulusLayout, domain: Domain) -> Mapping[str, Array]:
    """Properties of trials by name: ``(n_trials, n_options)``, or one for the whole trial."""
    if layout.properties is not None:
        found = layout.properties(stimuli)
    elif isinstance(domain, HasAttributes):
        found = {words: stimuli[name] for name, words in domain.attribute_labels().items()}
    else:
        found = {}
    arrays = {name: np.asarray(array, dtype=np.float64) for name, array in found.items()}
    return {name: array.reshape(len(stimuli), -1) for name, array in arrays.items()}


def _joined(stimuli: Sequence[Stimuli], layout: StimulusLayout, domain: Domain) -> dict[str, Array]:
    """Properties of the trials of all experiments; those that all have in the same number of columns."""
    parts = [
        properties_of(item.take(np.arange(begin, min(begin + AT_ONCE, len(item)))), layout, domain)
        for item in stimuli
        for begin in range(0, len(item), AT_ONCE)
    ]
    return {
        name: np.concatenate([part[name] for part in parts])
        for name in parts[0]
        if all(name in part and part[name].shape[1] == parts[0][name].shape[1] for part in parts)
    }


def _of_places(
    values: Mapping[str, Array], layout: StimulusLayout, domain: Domain
) -> Iterator[Confound]:
    """Properties by which an option in one place always lies below, or above, all others."""
    found: dict[int, list[str]] = {}
    for name, array in values.items():
        if array.shape[1] < 2 or array.shape[1] != len(domain.options):
            continue
        for place in range(1 if array.shape[1] == 2 else array.shape[1]):
            others = np.delete(array, place, axis=1)
            below = array[:, place] - others.min(axis=1)
            above = array[:, place] - others.max(axis=1)
            is_lowest, is_highest = bool((below < EXACT).all()), bool((above > -EXACT).all())
            differs = np.abs(below if is_lowest else above) > EXACT
            if (is_lowest or is_highest) and differs.mean() >= LEAST_DIFFERENT:
                usual = f"the one with the lower {name}", f"the one with the higher {name}"
                found.setdefault(place, []).append(layout.always.get(name, usual)[is_highest])
    for place, words in found.items():
        yield Confound(
            f"option {place + 1} is always {in_a_list(words[:MOST_NAMED])}",
            "a bias towards its position cannot be separated from a preference for it",
            SIDES,
            words[0] if place == 0 else "",
        )


def _of_pairs(values: Mapping[str, Array]) -> Iterator[Confound]:
    """Two properties that correlate perfectly: in the differences between options where both vary, else in each one.

    A property that never varies for one option, as of a sure amount, is compared with others by these differences.
    """
    for (first, one), (second, two) in combinations(values.items(), 2):
        n = max(one.shape[1], two.shape[1])
        if min(one.shape[1], two.shape[1]) not in (1, n):
            continue
        pairs = [(one[:, k % one.shape[1]], two[:, k % two.shape[1]]) for k in range(n)]
        differences = [(a - pairs[0][0], b - pairs[0][1]) for a, b in pairs[1:]]
        both = _varying(differences) or _varying(pairs)
        if both and all(abs(np.corrcoef(a, b)[0, 1]) > 1 - EXACT for a, b in both):
            yield Confound(
                f"{first} and {second} always go together (|r| = 1)",
                "effects of one cannot be separated from those of the other",
            )


def _varying(pairs: Sequence[tuple[Array, Array]]) -> list[tuple[Array, Array]]:
    return [(a, b) for a, b in pairs if np.ptp(a) > EXACT and np.ptp(b) > EXACT]


def _of_order(values: Mapping[str, Array], trials: Sequence[Trials]) -> Iterator[Confound]:
    """Properties that rise, or fall, from each trial of a participant to the next."""
    starts = np.cumsum([0, *(len(item.stimuli) for item in trials)])
    rows: list[Array] = []
    who: list[Array] = []
    for number, item in enumerate(trials):
        if item.pooled:
            return
        order = np.argsort(item.participant, kind="stable")
        rows.append(item.trial[order] + starts[number])
        who.append(item.participant[order] + (who[-1].max() + 1 if who else 0))
    row, person = np.concatenate(rows), np.concatenate(who)
    if np.bincount(person).min() < FEWEST_IN_A_ROW:
        return
    within = person[1:] == person[:-1]
    named = []
    for name, array in values.items():
        steps = np.diff(array[row], axis=0)[within]
        if ((steps > EXACT).all(axis=0) | (steps < -EXACT).all(axis=0)).any():
            named.append(name)
    if named:
        yield Confound(
            f"trials always come in the order of {' and '.join(named[:MOST_NAMED])}",
            "effects of earlier trials cannot be told from effects of that",
            ORDER,
        )
