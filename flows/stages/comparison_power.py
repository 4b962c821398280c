"""Power of a design to show the differences between participants that a study tests."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from lakatos.experiments.conditions import CONDITION, conditions_of, in_one_condition
from lakatos.experiments.outcomes import rewards_of_options
from lakatos.experiments.task import Design, Stimuli, first_schedule
from lakatos.flows.run.evidence import RunEvidence
from lakatos.theories.errors import TheoryError
from lakatos.theories.findings.differences.effect_power import (
    Kind,
    power_of_effects,
    text_of_effect_powers,
)
from lakatos.traces.digest import Digest


def power_for_groups(
    evidence: RunEvidence, name: Digest, plan: Design, rng: np.random.Generator
) -> str:
    """State how often the comparison of groups that a study requires would show a difference.

    Two groups are taken to be of the same size, and all to be followed by the leading theory with the people so far.
    """
    settings = evidence.config.validation
    return _power(evidence, name, plan, rng, "group", settings.groups, settings.group_shift)


def power_for_effects(
    evidence: RunEvidence, name: Digest, plan: Design, rng: np.random.Generator
) -> str:
    """State how often the effects that a study tests would be shown.

    All people are taken to follow the leading theory, with the people so far as those of the mean attribute, or of the
    first condition within participants.
    """
    settings = evidence.config.validation
    if conditions_of(evidence.domain) and settings.effects == CONDITION:
        one = plan.stimuli
        if evidence.domain.sequential:
            n_options = evidence.domain.n_options(one)
            if rewards_of_options(evidence.domain, one, n_options) is None:
                return (
                    f"No power for {settings.effects} is stated, since it is not known what options that were not "
                    "chosen would have paid."
                )
            one = first_schedule(one)
        first = replace(plan, stimuli=in_one_condition(one))
        return _power(
            evidence, name, first, rng, "condition", settings.effects, settings.effect_size
        )
    return _power(evidence, name, plan, rng, "number", settings.effects, settings.effect_size)


def _power(
    evidence: RunEvidence,
    name: Digest,
    plan: Design,
    rng: np.random.Generator,
    kind: Kind,
    by: str,
    size: float,
) -> str:
    """State the simulated power for one column."""
    stimuli: Stimuli = plan.stimuli
    theory = evidence.theory(name)
    try:
        powers = power_of_effects(
            theory,
            stimuli,
            [plan.n_participants],
            evidence.laboratory,
            rng,
            kind=kind,
            size=size,
            n_trials=plan.repetitions * len(stimuli),
        )
    except TheoryError as error:  # such as random choice, of which responses inform no parameter
        return f"no power for {by} is stated with {theory.name}: {error}"
    return text_of_effect_powers(by, powers)
