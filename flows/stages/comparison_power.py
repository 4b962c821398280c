"""How often a design would show the differences between people that a study asks about."""

from __future__ import annotations

import numpy as np

from lakatos.experiments.task import Design
from lakatos.flows.run.evidence import RunEvidence
from lakatos.theories.findings.differences.effect_power import (
    power_of_effects,
    text_of_effect_powers,
)
from lakatos.theories.findings.differences.group_power import power_by_parameter, text_of_powers
from lakatos.traces.digest import Digest


def power_for_groups(
    evidence: RunEvidence, name: Digest, plan: Design, rng: np.random.Generator
) -> str:
    """How often the comparison of groups that a study asks for would show a difference.

    Two groups are taken to be of the same size, and all to be followed by the leading theory with the people so far.
    """
    by, theory = evidence.config.validation.groups, evidence.theory(name)
    powers = power_by_parameter(
        theory,
        plan.stimuli,
        plan.n_participants // 2,
        evidence.laboratory,
        rng,
        shift=evidence.config.validation.group_shift,
        repetitions=plan.repetitions,
    )
    return text_of_powers(by, powers)


def power_for_effects(
    evidence: RunEvidence, name: Digest, plan: Design, rng: np.random.Generator
) -> str:
    """How often the effects that a study asks about would be shown.

    All people are taken to follow the leading theory, with the people so far as those of the mean attribute.
    """
    settings = evidence.config.validation
    powers = power_of_effects(
        evidence.theory(name),
        plan.stimuli,
        plan.n_participants,
        evidence.laboratory,
        rng,
        size=settings.effect_size,
        repetitions=plan.repetitions,
    )
    return text_of_effect_powers(settings.effects, powers, settings.effect_sd)
