"""Conditions within participants: each trial is presented in each condition, in blocks whose order is counterbalanced.

The condition is a part of the trial: an array `CONDITION` of the stimuli holds its place among the names that the study
gives in ``design.conditions``. What shows, answers, predicts or scores trials therefore needs no rule of its own. A
domain with conditions is the study's domain, whose own methods never see the array.

Where trials are steps of a schedule, the whole schedule is played once in each condition, in its order.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from lakatos.experiments.errors import DesignError, StimuliError
from lakatos.experiments.outcomes import EstimatesOutcomes
from lakatos.experiments.task import Design, Domain, Stimuli, StimulusOffer, Trials
from lakatos.experiments.variation import HasVariations, TrialVariation

Array = NDArray[Any]
CONDITION: Final = "condition"
"""Array of the stimuli with each trial's condition, as the place of its name; also the attribute's name in tables."""
MOST_CONDITIONS_WITHIN: Final = 8
"""Conditions that one participant goes through."""


class ConditionedDomain:
    """What a domain with conditions adds to its own class; see `with_conditions`."""

    base: Domain
    conditions_within: tuple[str, ...]

    def __reduce__(self) -> tuple[Any, ...]:
        return with_conditions, (self.base, self.conditions_within)

    def space(self, settings: Mapping[str, Any]) -> Stimuli:
        """See `Domain.space`: each trial in each condition."""
        return crossed(self.base.space(settings), len(self.conditions_within))

    def candidates(
        self, settings: Mapping[str, Any], rng: np.random.Generator, n_most: int
    ) -> Stimuli:
        """See `Domain.candidates`: at most ``n_most`` trials, and each of them in each condition."""
        return crossed(
            self.base.candidates(settings, rng, n_most),
            len(self.conditions_within),
        )

    def probes(self, rng: np.random.Generator) -> Sequence[Stimuli]:
        """See `Domain.probes`: conditions in turn."""
        return [_in_turn(item, len(self.conditions_within)) for item in self.base.probes(rng)]

    def n_options(self, stimuli: Stimuli) -> int:
        """See `Domain.n_options`."""
        return self.base.n_options(without_condition(stimuli))

    def sizes(self, stimuli: Stimuli) -> Array:
        """See `Domain.sizes`."""
        return self.base.sizes(without_condition(stimuli))

    def check(self, stimuli: Stimuli) -> None:
        """See `Domain.check`: the condition is one of those that the study names."""
        self.base.check(without_condition(stimuli))
        places = condition_of(stimuli)
        wrong = np.flatnonzero(
            (places != np.floor(places)) | (places < 0) | (places >= len(self.conditions_within))
        )
        if len(wrong):
            row = int(wrong[0])
            raise StimuliError(
                f"trial {row} has the condition {places[row]:g}; the study has the conditions 0 to "
                f"{len(self.conditions_within) - 1}: {', '.join(self.conditions_within)}."
            )

    def shown(
        self, arrays: Mapping[str, Array], before: Mapping[str, Array]
    ) -> Mapping[str, Array]:
        """See `Domain.shown`: with the condition."""
        if CONDITION not in arrays:
            return self.base.shown(arrays, before)
        others = {name: array for name, array in arrays.items() if name != CONDITION}
        return {**self.base.shown(others, before), CONDITION: arrays[CONDITION]}

    def admits(self, settings: Mapping[str, Any], stimuli: Stimuli) -> Array:
        """See `Domain.admits`: the trials of each condition by themselves, as a schedule is played in each."""
        plain, places = without_condition(stimuli), condition_of(stimuli)
        found = np.zeros(len(stimuli), dtype=bool)
        for place in np.unique(places):
            rows = np.flatnonzero(places == place)
            found[rows] = self.base.admits(settings, plain.take(rows))
        return found

    def features(self, stimuli: Stimuli) -> Mapping[str, Array]:
        """See `Domain.features`: also whether the trial is in each condition but the first."""
        places = condition_of(stimuli)
        own = {
            f"{CONDITION}_{name}": 1.0 * (places == place)
            for place, name in enumerate(self.conditions_within)
            if place
        }
        return {**self.base.features(without_condition(stimuli)), **own}

    def swap_sides(self, stimuli: Stimuli) -> Stimuli:
        """See `Domain.swap_sides`."""
        swapped = self.base.swap_sides(without_condition(stimuli))
        return _with(swapped, stimuli.arrays.get(CONDITION))

    def describe(self, stimuli: Stimuli, row: int) -> str:
        """See `Domain.describe`: with the name of the condition."""
        words = self.base.describe(without_condition(stimuli), row)
        name = self.conditions_within[int(condition_of(stimuli)[row])]
        return f"{words} ({name})" if CONDITION in stimuli.arrays else words

    def picture(self, stimuli: Stimuli, row: int) -> str:
        """See `Domain.picture`."""
        return self.base.picture(without_condition(stimuli), row)


class _VariedDomain(ConditionedDomain):
    """A domain with conditions whose trials can be varied."""

    def variations(
        self, stimuli: Stimuli, rng: np.random.Generator
    ) -> Mapping[str, TrialVariation]:
        """See `experiments.variation.HasVariations`: conditions in turn, the same before and after."""
        assert isinstance(self.base, HasVariations)
        n = len(self.conditions_within)
        own = self.base.variations(without_condition(stimuli), rng)
        return {
            name: replace(item, before=_in_turn(item.before, n), after=_in_turn(item.after, n))
            for name, item in own.items()
        }


class _EstimatingDomain(ConditionedDomain):
    """A domain with conditions that can estimate what options would have paid."""

    def estimated_outcomes(
        self, trials: Trials, n_people: int, rng: np.random.Generator
    ) -> tuple[Stimuli, str]:
        """See `experiments.outcomes.EstimatesOutcomes`."""
        assert isinstance(self.base, EstimatesOutcomes)
        plain = replace(trials, stimuli=without_condition(trials.stimuli))
        stimuli, note = self.base.estimated_outcomes(plain, n_people, rng)
        n_times = len(stimuli) // len(trials.stimuli)
        return _with(stimuli, np.tile(condition_of(trials.stimuli), n_times)), note


def with_conditions(domain: Domain, names: Sequence[str]) -> Domain:
    """The domain whose trials have one of some conditions; the same domain without any."""
    if not names:
        return domain
    made = copy.copy(domain)
    kind = type(domain)
    added = {HasVariations: _VariedDomain, EstimatesOutcomes: _EstimatingDomain}
    parts = [part for protocol, part in added.items() if isinstance(domain, protocol)]
    bases: tuple[type, ...] = (*(parts or [ConditionedDomain]), kind)
    made.__class__ = type(f"{kind.__name__}WithConditions", bases, {})
    made.__dict__.update(base=domain, conditions_within=tuple(names))
    return made


def full_name(domain: Domain) -> str:
    """The domain's name, with its conditions, by which `experiments.domain_lookup.find_domain` finds it again."""
    return "#".join([domain.name, *filter(None, ["+".join(conditions_of(domain))])])


def conditions_of(domain: Domain) -> tuple[str, ...]:
    """Names of the conditions within participants; empty without any."""
    return domain.conditions_within if isinstance(domain, ConditionedDomain) else ()


def condition_of(stimuli: Stimuli) -> Array:
    """``(n_trials,)`` place of each trial's condition; 0 where there are none."""
    return np.asarray(stimuli.arrays.get(CONDITION, np.zeros(len(stimuli))), dtype=np.float64)


def named_conditions(domain: Domain, stimuli: Stimuli) -> dict[str, list[str]]:
    """The name of each trial's condition, as a column; nothing where there are none."""
    names = conditions_of(domain)
    if not names or CONDITION not in stimuli.arrays:
        return {}
    return {CONDITION: [names[place] for place in condition_of(stimuli).astype(int).tolist()]}


def without_condition(stimuli: Stimuli) -> Stimuli:
    """The same rows without their condition."""
    if CONDITION not in stimuli.arrays:
        return stimuli
    return Stimuli({name: array for name, array in stimuli.arrays.items() if name != CONDITION})


def _in_turn(stimuli: Stimuli, n_conditions: int) -> Stimuli:
    """The trials, each in one condition."""
    return _with(stimuli, np.arange(len(stimuli)) % n_conditions * 1.0)


def _with(stimuli: Stimuli, places: Array | None) -> Stimuli:
    return stimuli if places is None else Stimuli({**stimuli.arrays, CONDITION: places})


def crossed(stimuli: Stimuli, n_conditions: int) -> Stimuli:
    """All trials in the first condition, then all in the second, and so on; the same without conditions."""
    if not n_conditions:
        return stimuli
    first = in_condition(stimuli, 0)
    return Stimuli.concatenate([in_condition(first, place) for place in range(n_conditions)])


def in_condition(stimuli: Stimuli, place: int) -> Stimuli:
    """The trials that are presented in the first condition, as they are in another one."""
    rows = np.flatnonzero(condition_of(stimuli) == 0)
    return _with(without_condition(stimuli).take(rows), np.full(len(rows), float(place)))


def in_one_condition(stimuli: Stimuli) -> Stimuli:
    """The trials of the condition that has most of them, the first of several."""
    places = condition_of(stimuli)
    most = int(np.bincount(places.astype(np.int64)).argmax())
    return stimuli.take(np.flatnonzero(places == most))


def in_first_condition(offer: StimulusOffer) -> StimulusOffer:
    """The offer with each trial once, in the first condition; the same offer without conditions."""
    if CONDITION not in offer.stimuli.arrays:
        return offer
    return offer.of_rows(np.flatnonzero(condition_of(offer.stimuli) == 0))


def balanced_orders(n_conditions: int, rng: np.random.Generator) -> tuple[tuple[int, ...], ...]:
    """Orders of conditions in which each stands equally often at each place and behind each other one.

    The rows of a Latin square, or of two where the number of conditions is odd; ``rng`` draws which condition has which
    place in the square, and the order of the rows.

    References:
        Williams (1949), Australian Journal of Scientific Research A 2(2), 149-168.
    """
    # 0, 1, n - 1, 2, n - 2, ...: all differences of neighbours are different.
    first = [(place + 1) // 2 if place % 2 else -(place // 2) for place in range(n_conditions)]
    rows = [[(start + step) % n_conditions for step in first] for start in range(n_conditions)]
    if n_conditions % 2:
        rows += [row[::-1] for row in rows]
    names = rng.permutation(n_conditions)
    return tuple(
        tuple(int(names[place]) for place in rows[row])
        for row in rng.permutation(len(rows)).tolist()
    )


def with_orders(
    design: Design, names: Sequence[str], n_blocks: int, rng: np.random.Generator
) -> Design:
    """The design with its conditions, and the orders of their blocks; the same design without conditions.

    Raises:
        DesignError: A block would have no trial.
    """
    if not names:
        return design
    n_shown = design.n_presentations // len(names)
    if n_blocks > n_shown:
        raise DesignError(
            f"design.blocks is {n_blocks}, and {design.name} has {n_shown} presentations in each condition; give at "
            f"most {n_shown}."
        )
    orders = tuple(order * n_blocks for order in balanced_orders(len(names), rng))
    return replace(design, conditions=tuple(names), orders=orders)


def presented_rows(
    design: Design, place: int, rng: np.random.Generator, *, sequential: bool = False
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Rows of the stimuli in the order in which one participant sees them, and where each block begins.

    Each repetition of a condition has all trials in an order of its own; blocks divide them equally.

    Args:
        design: With conditions.
        place: Number of the participant among all, which decides the order of blocks.
        rng: For the order of trials.
        sequential: Whether trials are steps of a schedule, which keep their order.
    """
    order = design.orders[place % len(design.orders)]
    n_blocks = len(order) // len(design.conditions)
    places = condition_of(design.stimuli)
    queues = []
    for condition in range(len(design.conditions)):
        rows = np.tile(np.flatnonzero(places == condition), (design.repetitions, 1))
        rows = rows if sequential else rng.permuted(rows, axis=1)
        queues.append(list(np.array_split(rows.ravel(), n_blocks)))
    blocks = [queues[condition].pop(0) for condition in order]
    begins = np.cumsum([0, *(len(block) for block in blocks[:-1])])
    return np.concatenate(blocks).astype(np.int64), begins.astype(np.int64)


def schedule_orders(design: Design) -> list[list[int]]:
    """Rows of a schedule in each order in which participants go through it: one for each order of conditions."""
    if not design.conditions:
        return [list(range(len(design.stimuli)))]
    rng = np.random.default_rng(0)  # orders nothing where steps keep their order
    places = range(len(design.orders))
    return [presented_rows(design, place, rng, sequential=True)[0].tolist() for place in places]


def words_of_conditions(design: Design) -> str:
    """The conditions of a design and the orders of their blocks, for its summary; empty without any."""
    if not design.conditions:
        return ""
    orders = "; ".join(
        ", ".join(design.conditions[place] for place in order) for order in design.orders
    )
    return (
        f" Each trial is presented in each of the conditions {', '.join(design.conditions)}, within participants. "
        f"Blocks come in one of {len(design.orders)} orders, by the participants' numbers in turn: {orders}."
    )
