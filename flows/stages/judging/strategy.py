"""How the advocate that composes searches: its strategy is credited by what became of its theories, and chosen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from lakatos.flows.run.evidence import RunEvidence
from lakatos.flows.run.records import ACTS
from lakatos.flows.run.run import Run
from lakatos.flows.run.state import RunState
from lakatos.flows.stages.judging.measures import outcome
from lakatos.judges.record import StrategyChosen
from lakatos.judges.strategy import (
    SearchStrategy,
    StrategyCredit,
    StrategyResult,
    choose,
    credit,
    may_widen,
    recombine,
    vary,
)
from lakatos.theories.discovery.grammar_search.advocate import GrammarAdvocate
from lakatos.theories.discovery.grammar_search.proposal import AdvocateBrief
from lakatos.theories.language.grammar import Grammar
from lakatos.traces.digest import Digest
from lakatos.traces.step import Recorded, StepContext
from lakatos.traces.validity import Validity

FIRST = SearchStrategy({}, "", GrammarAdvocate.afresh)
"""Prefers nothing, and explores as much as the advocate does by itself."""
CROSSED = 0.25
"""Share of new strategies that are recombined of two; the others are one step away from one."""


async def choose_strategy(run: Run, cycle: int) -> Recorded[StrategyChosen] | None:
    """The strategy of a cycle, by Thompson sampling on outcomes that hold; None where the study does not vary it."""
    if not run.config.judges.strategies:
        return None
    achieved, records = outcomes(run.evidence)
    inputs = [*(item.digest for item in run.state.judging.strategies), *dict.fromkeys(records)]
    mechanisms = [f"{item.slot}:{item.name}" for item in run.family.grammar.mechanisms]

    def work(context: StepContext) -> StrategyChosen:
        validity = Validity(run.trace.journal.events(), roots=run.trace.artifacts.has, acts=ACTS)
        known = strategies(run.state.judging.strategies)
        credits = credits_of(run.state, known, achieved, validity)
        chosen = known[choose(credits, context.rng)]
        n_outcomes = sum(validity.valid(item.record) for item in achieved)
        if may_widen(n_outcomes, len(known) + 1):
            other = known[choose(credits, context.rng)]
            crosses = other.digest != chosen.digest and context.rng.random() < CROSSED
            bred = (
                recombine(chosen, other, context.rng)
                if crosses
                else vary(chosen, mechanisms, (), context.rng)
            )
            chosen = known.get(bred.digest, bred)
        return StrategyChosen(
            cycle=cycle,
            strategy=chosen.digest,
            preferences=dict(chosen.preferences),
            prompt=chosen.prompt,
            exploration=chosen.exploration,
            parents=chosen.parents,
            credits={name: item.mean for name, item in sorted(credits.items())},
            n_outcomes=n_outcomes,
        )

    assert run.state.campaign.started is not None
    cited = inputs or [run.state.campaign.started.digest]
    return await run.step(
        "choose strategy", work, returns=StrategyChosen, inputs=cited, position={"cycle": cycle}
    )


def strategies(chosen: Sequence[Recorded[StrategyChosen]]) -> dict[Digest, SearchStrategy]:
    """All strategies so far, by version; the first one is always among them."""
    found = {FIRST.digest: FIRST}
    for item in chosen:
        record = item.record
        own = SearchStrategy(record.preferences, record.prompt, record.exploration, record.parents)
        found.setdefault(own.digest, own)
    return found


def credits_of(
    state: RunState,
    known: Mapping[Digest, SearchStrategy],
    achieved: Sequence[StrategyResult],
    validity: Validity,
) -> dict[Digest, StrategyCredit]:
    """What became of each strategy's theories and their descendants."""
    by_cycle = {item.record.cycle: item.record.strategy for item in state.judging.strategies}
    name = GrammarAdvocate.name
    checked = {digest: item.record for digest, item in state.theories.checked.items()}
    proposed = {
        digest: by_cycle[record.cycle]
        for digest, record in checked.items()
        if record.author == name and record.cycle in by_cycle
    }
    parents = {digest: record.parents for digest, record in checked.items()}
    return {
        version: credit(version, proposed, parents, achieved, validity.valid) for version in known
    }


def outcomes(evidence: RunEvidence) -> tuple[list[StrategyResult], list[Digest]]:
    """What people's data said about each successor that was judged, and the records behind it.

    Where judges have seats these are the data themselves, which no displaced judge takes away; else settled verdicts.
    """
    found: list[StrategyResult] = []
    records: list[Digest] = []
    for pair in evidence.state.judging.pairs.values():
        then = outcome(evidence, pair.record)
        if then is not None:
            found.append(
                StrategyResult(
                    pair.record.candidate, then.experiment, then.advantage > 0, pair.digest
                )
            )
            records += [pair.digest, *then.records]
    if not evidence.config.judges.seated:
        for digest, item in evidence.state.judging.resolved.items():
            candidate = evidence.state.judging.verdicts[digest].record.candidate
            found.append(
                StrategyResult(candidate, item.record.experiment, item.record.favoured, item.digest)
            )
            records.append(item.digest)
    return found, records


def preferring(
    brief: AdvocateBrief,
    grammar: Grammar,
    preferences: Mapping[str, float],
    rng: np.random.Generator,
) -> AdvocateBrief:
    """The brief with mechanisms drawn by preference: those liked are sought like remedies, those disliked avoided.

    Args:
        brief: From the diagnosis.
        grammar: Whose mechanisms they are.
        preferences: Weight w by ``slot:mechanism``: above 1 it is sought with probability 1 - 1 / w, below 1 avoided
            with probability 1 - w.
        rng: Draws.
    """
    sought, avoided = [], []
    for name, weight in sorted(preferences.items()):
        drawn = rng.random()
        if drawn < 1 - 1 / max(weight, 1.0):
            sought.append(name)
        elif drawn < 1 - weight:
            slot, _, mechanism = name.partition(":")
            others = [
                item.name
                for item in grammar.mechanisms
                if item.slot == slot and item.name != mechanism
            ]
            avoided += [f"add {mechanism} to {slot}"]
            avoided += [f"replace {other} by {mechanism} in {slot}" for other in others]
    wanted = dict.fromkeys((*brief.remedies, *sought))
    unwanted = dict.fromkeys((*brief.warnings, *avoided))
    return replace(brief, remedies=tuple(wanted), warnings=tuple(unwanted))
