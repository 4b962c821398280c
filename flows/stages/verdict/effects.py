"""Stage: whether parameters of the leading theories depend on groups, or on what is known of participants."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lakatos.experiments.conditions import CONDITION, condition_of
from lakatos.experiments.errors import TrialsError
from lakatos.experiments.participants.table import attributes_of
from lakatos.flows.run.evidence import RunEvidence, counted_again
from lakatos.flows.run.parts import task
from lakatos.flows.run.run import Run
from lakatos.theories.engine.record import (
    EffectsLearned,
    GroupDifference,
    GroupsCompared,
    TheoryEffects,
)
from lakatos.theories.engine.record import ParameterEffect as RecordedEffect
from lakatos.theories.errors import TheoryError
from lakatos.theories.findings.differences.effect_formula import in_groups
from lakatos.theories.findings.differences.effect_words import (
    effects_in_words,
    open_effects_in_words,
)
from lakatos.theories.findings.differences.parameter_effect import (
    PERSON,
    ParameterEffect,
    ParameterEffects,
    ResponseColumns,
    find_effects,
    formula_of,
    medians_of_levels,
)
from lakatos.traces.digest import Digest
from lakatos.traces.step import Recorded, StepContext

MOST_THEORIES = 3
"""The leading theories whose parameters are compared."""


@task(name="compare_groups")
async def compare_by_group(run: Run) -> Recorded[GroupsCompared] | None:
    """Compare the parameters of the leading theories between the groups that the study names."""
    if not run.config.validation.groups:
        return None
    by = run.config.validation.groups
    names, inputs = _leading(run)

    def work(context: StepContext) -> GroupsCompared:
        try:
            labels = labels_of(run.evidence, by)
            labels = in_groups(labels, run.config.validation.group_cuts, by)
            estimates = _asked(
                run.evidence, by, _beside(run.evidence, labels), names, prior_sd=None
            )
        except TrialsError as error:
            text = f"Groups by {by} could not be compared: {error}"
            return GroupsCompared(by=by, n_people={}, theories=(), text=text)
        if not estimates.found:
            text = (
                f"Groups by {by} could not be compared: no leading theory runs on these responses."
            )
            return GroupsCompared(by=by, n_people={}, theories=(), text=text)
        first = next(iter(estimates.found.values()))
        people = first.frame.groupby(by, observed=False)[PERSON].nunique()
        n_people = {str(level): int(n) for level, n in people.items()}
        sizes = ", ".join(f"{n} {level}" for level, n in n_people.items())
        text = f"Groups by {by} (participants: {sizes}): {estimates.text}"
        return GroupsCompared(
            by=by, n_people=n_people, theories=(), text=text, differences=_differences(first, by)
        )

    return await run.step("compare_groups", work, returns=GroupsCompared, inputs=inputs)


@task(name="learn_effects")
async def learn_effects_of_people(run: Run) -> Recorded[EffectsLearned] | None:
    """Estimate how the parameters of the leading theories depend on the attribute that the study names."""
    if not run.config.validation.effects:
        return None
    by, prior_sd = run.config.validation.effects, run.config.validation.effect_sd
    names, inputs = _leading(run)
    if run.config.conditions:  # a theory that states a change is told by its estimates
        inputs += run.state.theories.fit_records(names)

    def work(context: StepContext) -> EffectsLearned:
        try:
            beside = (
                conditions_beside(run.evidence)
                if by == CONDITION and run.config.conditions
                else _beside(run.evidence, labels_of(run.evidence, by))
            )
            is_within = by == CONDITION and bool(run.config.conditions)
            changed = _changes_of(run.evidence, names) if is_within else {}
            others = [name for name in names if name not in changed]
            estimates = _asked(run.evidence, by, beside, others, prior_sd=prior_sd)
        except TrialsError as error:
            text = f"Effects of {by} could not be estimated: {error}"
            return EffectsLearned(by=by, n_people=0, prior_sd=prior_sd, theories=(), text=text)
        n_people = max((item.n_people for item in estimates.found.values()), default=0)
        text = (
            f"Effects of {by} ({n_people} participants): {estimates.text}"
            if estimates.found
            else f"Effects of {by}:"
            if changed
            else f"Effects of {by} could not be estimated: no parameter of a leading theory can depend on it."
        )
        return EffectsLearned(
            by=by,
            n_people=n_people,
            prior_sd=prior_sd,
            theories=tuple(_of_theory(name, item) for name, item in estimates.found.items()),
            text=" ".join([text, *changed.values()]),
        )

    return await run.step("learn_effects", work, returns=EffectsLearned, inputs=inputs)


def _leading(run: Run) -> tuple[list[Digest], list[Digest]]:
    """The leading theories, and the records that a comparison of their parameters rests on."""
    names = [line.theory for line in run.state.board().standings][:MOST_THEORIES]
    inputs = [item.digest for item in run.state.experiments.collected.values()]
    inputs += [run.state.theories.checked[name].digest for name in names]
    return names, inputs


def labels_of(evidence: RunEvidence, by: str) -> list[NDArray[Any]]:
    """Return attributes of the participants of each experiment, in words.

    Raises:
        TrialsError: People cannot be told apart, or nothing of that name is known of them.
    """
    page, collected = evidence.config.page, evidence.state.experiments.collected
    known = [
        attributes_of(evidence.artifacts, item.record.trials, page.questions, page.language)
        for item in collected.values()
    ]
    if any(evidence.trials(name).pooled for name in collected):
        raise TrialsError("these are counts of answers, which do not say who gave them.")
    if not all(by in item for item in known):
        there = ", ".join(sorted({name for item in known for name in item})) or "nothing"
        raise TrialsError(f"no attribute of these participants is called {by!r}; there is {there}.")
    return [np.array(item[by]) for item in known]


def _beside(evidence: RunEvidence, labels: Sequence[NDArray[Any]]) -> list[NDArray[Any]]:
    """Return the attribute of its participant beside each response."""
    collected = evidence.state.experiments.collected
    return [
        own[evidence.trials(name).participant] for name, own in zip(collected, labels, strict=True)
    ]


def conditions_beside(evidence: RunEvidence) -> list[NDArray[Any]]:
    """The condition within participants beside each response of each experiment."""
    names = np.array(evidence.config.conditions)
    tables = [evidence.trials(name) for name in evidence.state.experiments.collected]
    return [names[condition_of(item.stimuli).astype(int)[item.trial]] for item in tables]


def _changes_of(evidence: RunEvidence, names: Sequence[Digest]) -> dict[Digest, str]:
    """Theories that state themselves how a parameter changes with a condition, each with its estimates in words.

    Beside its own change no other one of the same parameter could be seen.
    """
    found = {}
    for name in names:
        priors = evidence.theory(name).priors
        ends = tuple(f"_in_{condition}" for condition in evidence.config.conditions)
        changes = [
            f"{parameter}{f' ({prior.unit})' if prior.unit else ''} {prior.center:.3g} in the median participant"
            for parameter, prior in priors.items()
            if parameter.endswith(ends) and not prior.idle
        ]
        if changes:
            found[name] = (
                f"{evidence.state.theories.name(name)} has the change among its own parameters: "
                f"{', '.join(changes)}."
            )
    return found


@dataclass(frozen=True)
class _Asked:
    """Effects in the leading theories, and what is said of them."""

    found: dict[Digest, ParameterEffects]
    text: str


def _asked(
    evidence: RunEvidence,
    by: str,
    labels: Sequence[NDArray[Any]],
    names: Sequence[Digest],
    *,
    prior_sd: float | None,
) -> _Asked:
    """Effects of one column, whose labels stand beside each response, in each theory that runs on these responses.

    Raises:
        TrialsError: The column can have no effect here.
    """
    trials = [evidence.trials(name) for name in evidence.state.experiments.collected]
    beside = ResponseColumns(
        tuple(
            np.array([f"{item.experiment}/{number}" for number in item.participant])
            for item in trials
        ),
        tuple({by: own} for own in labels),
        counted_again(evidence.config, evidence.state),
    )
    formula = formula_of([by], beside)
    found: dict[Digest, ParameterEffects] = {}
    for name in names:
        try:
            found[name] = find_effects(
                evidence.form(name), trials, beside, formula, evidence.laboratory, prior_sd=prior_sd
            )
        except TheoryError:
            continue  # nothing in it depends on people, or it does not run on these responses
    tables = [
        effects_in_words(evidence.state.theories.name(name), item) for name, item in found.items()
    ]
    standings = evidence.state.board().standings
    is_tied = {line.theory for line in standings if line.tied}
    tied = {
        evidence.state.theories.name(name): item for name, item in found.items() if name in is_tied
    }
    notes = [note for item in list(found.values())[:1] for note in item.notes]
    return _Asked(found, " ".join(filter(None, [*tables, open_effects_in_words(tied), *notes])))


def _differences(found: ParameterEffects, by: str) -> tuple[GroupDifference, ...]:
    """The median participant of each group by the leading theory, the clearest difference first."""
    medians = medians_of_levels(found, by)
    differences = []
    for scale in found.posteriors.scales:
        own = found.of(scale.name)
        p_values = [item.p for item in own if item.p is not None]
        differences.append(
            GroupDifference(
                parameter=scale.name,
                unit=scale.unit,
                medians={
                    item.level: (item.value, *item.interval)
                    for item in medians
                    if item.parameter == scale.name
                },
                p=min(p_values) if p_values else None,
                differs=any(item.is_shown for item in own),
            )
        )
    return tuple(sorted(differences, key=lambda item: 0.0 if item.p is None else item.p))


def _of_theory(name: Digest, item: ParameterEffects) -> TheoryEffects:
    return TheoryEffects(theory=name, effects=tuple(map(_recorded, item.effects)))


def _recorded(effect: ParameterEffect) -> RecordedEffect:
    start, end = effect.in_unit
    return RecordedEffect(
        parameter=effect.parameter,
        column=effect.label,
        scale=effect.scale.kind,
        effect=effect.estimate,
        interval=effect.interval,
        p=effect.p,
        shown=effect.is_shown,
        medians={"without": start, "with": end},
    )
