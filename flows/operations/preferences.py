"""Pairs of theories for a person to compare, blind; choices, on record at the desk; and what they say of ties."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Literal

import numpy as np

from lakatos.experiments.task import Trials, identities
from lakatos.flows.operations.tool_desk import open_desk, write_down
from lakatos.flows.report.reader import last_option
from lakatos.flows.roles.remember import desk_path
from lakatos.flows.run.evidence import theory_of, trials_in
from lakatos.flows.run.records import RECORD_TYPES
from lakatos.flows.run.run import read_state
from lakatos.flows.run.state import RunState
from lakatos.flows.run.study import CampaignConfig
from lakatos.flows.run.task import domain_of
from lakatos.flows.stages.judging.measures import scored_from
from lakatos.judges.anchor import AnchorItem
from lakatos.judges.description import describe
from lakatos.judges.judge import JudgeSubmission
from lakatos.judges.preference import PersonalTaste, learn_taste
from lakatos.judges.record import PairPreferred
from lakatos.theories.discovery.roles.overview import predicted_shares
from lakatos.traces.artifact import ArtifactStore
from lakatos.traces.digest import Digest, digest_bytes, digest_of
from lakatos.traces.step import JOURNAL_FILE, Trace

MOST_THEORIES = 8
"""Best of a run that are compared with one another."""
MOST_TRIALS = 6
"""Shown of a pair: those on which the two differ most."""


@dataclass(frozen=True)
class ForetoldTrial:
    """One trial, and the share that each theory says takes its last option."""

    words: str
    first: float
    second: float


@dataclass(frozen=True)
class ShownPair:
    """Two theories as a person sees them: claims and predictions, not who wrote them or which leads."""

    claims: tuple[str, str]
    """In the order in which they are shown."""
    option: str
    trials: tuple[ForetoldTrial, ...]
    first: Literal["candidate", "incumbent"]
    submission: JudgeSubmission
    strata: dict[str, str]
    problems: tuple[str, ...]


@dataclass(frozen=True)
class TiedTheory:
    """A theory that data do not tell from the leader."""

    name: str
    leads: bool
    plausibility: float
    """Probability that the person prefers it to another one of these, the mean over the others."""


@dataclass(frozen=True)
class RunTheories:
    """What of a run is compared."""

    config: CampaignConfig
    state: RunState
    artifacts: ArtifactStore

    def ranked(self) -> list[Digest]:
        """The best theories, first the leader, then those that are tied with it."""
        lines = sorted(self.state.board().standings, key=lambda line: not line.tied)
        return [line.theory for line in lines[:MOST_THEORIES]]

    def tied(self) -> list[Digest]:
        """The leader and what data do not tell from it."""
        return [line.theory for line in self.state.board().standings if line.tied]

    def answers(self) -> dict[str, Trials]:
        """Answers so far, by experiment."""
        return {
            name: trials_in(self.artifacts, self.state, name)
            for name in self.state.experiments.collected
        }

    def submission(
        self, candidate: Digest, incumbent: Digest, answers: dict[str, Trials]
    ) -> JudgeSubmission:
        """A pair as judges see it, on all answers so far."""
        scores = self.state.theories.scores
        own, other = (
            [scored_from(scores[name, item].record, trials) for item, trials in answers.items()]
            for name in (candidate, incumbent)
        )
        first, second = (
            theory_of(self.artifacts, self.state, name) for name in (candidate, incumbent)
        )
        return describe(first, second, own, other)


def shown_pairs(folder: Path, most: int) -> list[ShownPair]:
    """Pairs of a run that nobody compared yet, those that data do not tell apart first."""
    known = {frozenset((item.candidate, item.incumbent)) for item, _ in preferences(folder.parent)}
    state, trace = read_state(folder)
    with trace:
        rivals = _theories(state, trace)
        answers, tied = rivals.answers(), set(rivals.tied())
        pairs = [pair for pair in combinations(rivals.ranked(), 2) if frozenset(pair) not in known]
        pairs.sort(key=lambda pair: not tied.issuperset(pair))
        return [
            _shown(rivals, candidate, incumbent, answers, len(known) + place)
            for place, (incumbent, candidate) in enumerate(pairs[:most])
        ]


def _theories(state: RunState, trace: Trace) -> RunTheories:
    assert state.campaign.config is not None
    return RunTheories(state.campaign.config, state, trace.artifacts)


def _shown(
    rivals: RunTheories,
    candidate: Digest,
    incumbent: Digest,
    answers: dict[str, Trials],
    number: int,
) -> ShownPair:
    """A pair, its order decided by lot."""
    lot = int(digest_of([candidate, incumbent, number])[:8], 16) % 2
    order = (candidate, incumbent) if lot else (incumbent, candidate)
    domain = domain_of(rivals.config)
    checked = rivals.state.theories.checked
    machine = checked[candidate].record.cycle > 0
    problems = {
        digest_bytes(key)[:16]
        for trials in answers.values()
        for key in ([] if domain.sequential else identities(domain, trials.stimuli))
    }
    n_options = next(iter(answers.values())).n_options
    return ShownPair(
        claims=(checked[order[0]].record.claim, checked[order[1]].record.claim),
        option=last_option(domain, n_options),
        trials=_foretold(rivals, order, answers),
        first="candidate" if lot else "incumbent",
        submission=rivals.submission(candidate, incumbent, answers),
        strata={"domain": rivals.config.domain, "origin": "machine" if machine else "human"},
        problems=tuple(sorted(problems)) or tuple(answers),
    )


def _foretold(
    rivals: RunTheories, order: tuple[Digest, Digest], answers: dict[str, Trials]
) -> tuple[ForetoldTrial, ...]:
    """Trials on which two theories differ most."""
    domain, found = domain_of(rivals.config), []
    for name, trials in answers.items():
        first, second = (
            predicted_shares(rivals.state.theories.scores[theory, name].record)[:, -1]
            for theory in order
        )
        for row in np.argsort(-np.abs(first - second), kind="stable")[:MOST_TRIALS]:
            words = domain.describe(trials.stimuli, int(row))
            found.append(ForetoldTrial(words, float(first[row]), float(second[row])))
    found.sort(key=lambda item: -abs(item.first - item.second))
    return tuple(found[:MOST_TRIALS])


def prefer(folder: Path, pair: ShownPair, chosen: Literal["first", "second"]) -> PairPreferred:
    """Write a person's choice down, as an anchor item whose label it is."""
    preferred = (pair.first == "candidate") == (chosen == "first")
    item = AnchorItem(
        submission=pair.submission,
        label=preferred,
        strata={**pair.strata, "settled by": "a person"},
        problems=pair.problems,
        people=(),
        provenance="a person preferred it who saw claims and predictions, not who wrote them or which leads",
    )
    with open_desk(folder.parent) as desk:
        record = PairPreferred(
            run=folder.name,
            candidate=pair.submission.candidate,
            incumbent=pair.submission.incumbent,
            item=desk.artifacts.put_json(item.to_json()),
            first=pair.first,
        )
        write_down(desk, record, "prefer")
    return record


def preferences(runs: Path) -> list[tuple[PairPreferred, AnchorItem]]:
    """All choices of a folder of runs, in the order in which they were made."""
    if not (desk_path(runs) / JOURNAL_FILE).exists():
        return []
    with Trace.open(desk_path(runs), RECORD_TYPES, read_only=True) as desk:
        return [
            (item.record, AnchorItem.from_json(desk.artifacts.get_json(item.record.item)))
            for item in desk.records(PairPreferred)
        ]


def taste_of(runs: Path) -> PersonalTaste:
    """What the choices of a folder taught so far."""
    return learn_taste([item for _, item in preferences(runs)])


def tied_by_taste(folder: Path, taste: PersonalTaste) -> list[TiedTheory]:
    """The leader of a run and what data do not tell from it, the most plausible first; none where nothing is tied."""
    state, trace = read_state(folder)
    with trace:
        rivals = _theories(state, trace)
        answers, tied = rivals.answers(), rivals.tied()
        found = [
            TiedTheory(
                state.theories.name(name),
                name == tied[0],
                _mean_taste(rivals, taste, name, tied, answers),
            )
            for name in (tied if len(tied) > 1 else [])
        ]
    return sorted(found, key=lambda item: -item.plausibility)


def _mean_taste(
    rivals: RunTheories,
    taste: PersonalTaste,
    name: Digest,
    tied: Sequence[Digest],
    answers: dict[str, Trials],
) -> float:
    others = [other for other in tied if other != name]
    return float(
        np.mean([taste.plausibility(rivals.submission(name, other, answers)) for other in others])
    )
