"""Stage: whether the numbers of the leading theories depend on what is known of people."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from lakatos.experiments.errors import TrialsError
from lakatos.flows.run.evidence import RunEvidence, counted_again
from lakatos.flows.run.parts import task
from lakatos.flows.run.run import Run
from lakatos.flows.stages.verdict.groups import MOST_THEORIES, labels_of
from lakatos.theories.engine.record import EffectsLearned, ParameterEffect, TheoryEffects
from lakatos.theories.errors import TheoryError
from lakatos.theories.findings.differences.attribute_effects import (
    AttributeColumns,
    LearnedEffect,
    TheoryWithEffects,
    columns_of,
    learn_effects,
    said_of_effects,
)
from lakatos.traces.digest import Digest
from lakatos.traces.step import Recorded, StepContext

HALF = np.array([0.5])


@task(name="learn_effects")
async def learn_effects_of_people(run: Run) -> Recorded[EffectsLearned] | None:
    """Learn how the leading theories' numbers depend on what the study names, and predict people by others."""
    if not run.config.validation.effects:
        return None
    by, prior_sd = run.config.validation.effects, run.config.validation.effect_sd
    names = [line.theory for line in run.state.board().standings][:MOST_THEORIES]
    inputs = [item.digest for item in run.state.experiments.collected.values()]
    inputs += [run.state.theories.checked[name].digest for name in names]

    def work(context: StepContext) -> EffectsLearned:
        try:
            attribute = columns_of(labels_of(run.evidence, by), by)
        except TrialsError as error:
            text = f"Effects of {by} could not be estimated: {error}"
            return EffectsLearned(by=by, n_people=0, prior_sd=prior_sd, theories=(), text=text)
        return _learned(run.evidence, attribute, names)

    return await run.step("learn_effects", work, returns=EffectsLearned, inputs=inputs)


def _learned(
    evidence: RunEvidence, attribute: AttributeColumns, names: Sequence[Digest]
) -> EffectsLearned:
    """Effects in each theory that runs on these answers."""
    by, prior_sd = attribute.by, evidence.config.validation.effect_sd
    trials = [evidence.trials(name) for name in evidence.state.experiments.collected]
    found: dict[Digest, TheoryWithEffects] = {}
    for name in names:
        try:
            found[name] = learn_effects(
                evidence.form(name), trials, attribute, evidence.laboratory, prior_sd=prior_sd
            )
        except TheoryError:
            continue  # nothing in it depends on people, or it does not run on these answers
    told = {evidence.state.theories.name(name): item for name, item in found.items()}
    text = (
        f"Effects of {by} ({attribute.n_known} participants): {said_of_effects(told)}"
        if told
        else f"Effects of {by} could not be estimated: no parameter of a leading theory can depend on it."
    )
    if told and (again := counted_again(evidence.config, evidence.state)):
        text = f"{text} {again}"
    return EffectsLearned(
        by=by,
        n_people=attribute.n_known,
        prior_sd=prior_sd,
        theories=tuple(_of_theory(name, item) for name, item in found.items()),
        text=text,
    )


def _of_theory(name: Digest, item: TheoryWithEffects) -> TheoryEffects:
    score = item.score()
    return TheoryEffects(
        theory=name,
        score=score.value,
        interval=score.interval,
        gain=item.gain.value,
        gain_interval=item.gain.interval,
        effects=tuple(_of_parameter(item, effect) for effect in item.effects),
    )


def _of_parameter(item: TheoryWithEffects, effect: LearnedEffect) -> ParameterEffect:
    n_effects = len(item.effects)
    return ParameterEffect(
        parameter=effect.parameter,
        column=effect.column,
        effect=effect.estimate.value,
        interval=effect.estimate.interval_of_chosen(n_effects),
        gain=effect.gain.value,
        gain_interval=effect.gain.interval,
        p=effect.p,
        shown=effect.is_shown,
        medians=item.medians_of(effect.parameter),
    )
