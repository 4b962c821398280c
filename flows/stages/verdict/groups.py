"""Stage: whether the leading theories hold for several groups of people."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lakatos.experiments.errors import TrialsError
from lakatos.experiments.participants.table import attributes_of
from lakatos.flows.run.evidence import RunEvidence, counted_again
from lakatos.flows.run.parts import task
from lakatos.flows.run.run import Run
from lakatos.theories.engine.record import (
    GroupDifference,
    GroupedScores,
    GroupsCompared,
    GroupScore,
)
from lakatos.theories.errors import TheoryError
from lakatos.theories.findings.differences.group_difference import (
    ParameterDifference,
    differences_between_groups,
)
from lakatos.theories.findings.differences.groups import (
    GroupedTheory,
    best_overall,
    compare_groups,
    members_by,
    said_of_groups,
)
from lakatos.traces.digest import Digest
from lakatos.traces.step import Recorded, StepContext

MOST_THEORIES = 3
"""The leading theories that are compared; each is fitted to everybody and to each group."""
QUANTILES = np.array([0.1, 0.5, 0.9])
"""Quantiles of participants for each parameter."""


@task(name="compare_groups")
async def compare_by_group(run: Run) -> Recorded[GroupsCompared] | None:
    """Fit the leading theories to each group of people that the study names, and predict people by others."""
    if not run.config.validation.groups:
        return None
    by = run.config.validation.groups
    names = [line.theory for line in run.state.board().standings][:MOST_THEORIES]
    inputs = [item.digest for item in run.state.experiments.collected.values()]
    inputs += [run.state.theories.checked[name].digest for name in names]

    def work(context: StepContext) -> GroupsCompared:
        try:
            labels = labels_of(run.evidence, by)
            members = members_by(labels, by, run.config.validation.group_cuts)
        except TrialsError as error:
            text = f"Groups by {by} could not be compared: {error}"
            return GroupsCompared(by=by, n_people={}, theories=(), text=text)
        return _compared(run.evidence, by, members, names, context.rng)

    return await run.step("compare_groups", work, returns=GroupsCompared, inputs=inputs)


def labels_of(evidence: RunEvidence, by: str) -> list[NDArray[Any]]:
    """What is known of the people of each experiment, in words.

    Raises:
        TrialsError: People cannot be told apart, or nothing of that name is known of them.
    """
    page, collected = evidence.config.page, evidence.state.experiments.collected
    known = [
        attributes_of(evidence.artifacts, item.record.trials, page.questions, page.language)
        for item in collected.values()
    ]
    if any(evidence.trials(name).pooled for name in collected):
        raise TrialsError("these are counts of responses without participants.")
    if not all(by in item for item in known):
        there = ", ".join(sorted({name for item in known for name in item})) or "nothing"
        raise TrialsError(f"no attribute of these participants is called {by!r}; there is {there}.")
    return [np.array(item[by]) for item in known]


def _compared(
    evidence: RunEvidence,
    by: str,
    members: Mapping[str, Sequence[NDArray[np.bool_]]],
    names: Sequence[Digest],
    rng: np.random.Generator,
) -> GroupsCompared:
    trials = [evidence.trials(name) for name in evidence.state.experiments.collected]
    found: dict[Digest, GroupedTheory] = {}
    for name in names:
        try:
            found[name] = compare_groups(
                evidence.form(name),
                trials,
                members,
                evidence.laboratory,
                evidence.config.theories.draws,
            )
        except TheoryError:
            continue  # it does not run on a group's answers alone
    n_people = {name: sum(int(who.sum()) for who in chosen) for name, chosen in members.items()}
    told = {evidence.state.theories.name(name): item for name, item in found.items()}
    people = ", ".join(f"{n} {name}" for name, n in n_people.items())
    differences: tuple[ParameterDifference, ...] = ()
    if told:
        best = told[best_overall(told)]
        differences = differences_between_groups(
            best.form, best.populations, trials, members, evidence.laboratory, rng
        )
    text = (
        f"Groups by {by} (participants: {people}): {said_of_groups(by, told, differences)}"
        if told
        else f"Groups by {by} could not be compared: no leading theory runs on the responses of one group alone."
    )
    if told and (again := counted_again(evidence.config, evidence.state)):
        text = f"{text} {again}"
    scores = tuple(_grouped(name, item) for name, item in found.items())
    return GroupsCompared(
        by=by,
        n_people=n_people,
        theories=scores,
        text=text,
        differences=tuple(map(_recorded, differences)),
    )


def _recorded(item: ParameterDifference) -> GroupDifference:
    return GroupDifference(
        parameter=item.parameter,
        unit=item.unit,
        medians={name: (own.value, *own.interval) for name, own in item.medians.items()},
        p=item.p,
        differs=item.differs,
    )


def _grouped(name: Digest, item: GroupedTheory) -> GroupedScores:
    gain = item.gain()
    groups = []
    for group in item.scores:
        score, own = item.score(group), item.gain([group])
        people = {key: prior.quantile(QUANTILES) for key, prior in item.own[group].items()}
        groups.append(
            GroupScore(
                group=group,
                score=score.value,
                interval=score.interval,
                own_numbers=own.value,
                own_interval=own.interval,
                people={key: (low, middle, high) for key, (low, middle, high) in people.items()},
            )
        )
    return GroupedScores(
        theory=name, gain=gain.value, gain_interval=gain.interval, groups=tuple(groups)
    )
