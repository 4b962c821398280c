"""The brief that roles read: the study, the case, all responses, the standings of theories, and their own past."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain, zip_longest

from lakatos.experiments.task import Domain
from lakatos.flows.run.evidence import RunEvidence
from lakatos.flows.run.models import RoleModels
from lakatos.flows.run.state import RunState
from lakatos.flows.run.study import CampaignConfig
from lakatos.theories.discovery.roles.exhibit import Exhibit, case_exhibit, rounded
from lakatos.theories.discovery.roles.lesson_overview import lessons_exhibit
from lakatos.theories.discovery.roles.overview import (
    MOST_OF_OLDER,
    MOST_PREDICTED,
    people_exhibit,
    predicted_shares,
    predictions_exhibit,
    standing_exhibit,
    study_exhibit,
    table_exhibits,
)
from lakatos.theories.discovery.roles.record import SuccessorTried, best_drafts
from lakatos.theories.discovery.roles.scale_overview import (
    people_on_scale,
    shown_scale,
    theories_on_scale,
)
from lakatos.theories.discovery.roles.statement import conjecture
from lakatos.theories.engine.record import Diagnosis, TheoryScored
from lakatos.traces.digest import Digest
from lakatos.traces.step import Recorded

MOST_TRIED = 12
"""Earlier proposals whose fate revisers are told."""
NOTEBOOK_CHARACTERS = 2400
"""Maximum number of characters of a role's newest notes that it is shown."""


@dataclass(frozen=True)
class CycleCase:
    """The case that all roles of a cycle read."""

    leader: Digest
    loser: Digest
    study: Exhibit
    file: Exhibit
    background: tuple[Exhibit, ...]
    """Standing of theories, errors of the leader, and the people."""
    evidence: tuple[Exhibit, ...]
    """Every trial with answers and predictions, first the most telling trials of the latest experiment."""
    inputs: tuple[Digest, ...]


def case_of(known: RunEvidence, diagnosis: Recorded[Diagnosis]) -> CycleCase:
    """The case file and the evidence behind it, as exhibits."""
    record, state = diagnosis.record, known.state
    pair = (record.loser, record.leader)
    board = state.board()
    ranked = [line.theory for line in board.standings]
    names = {theory: state.theories.name(theory) for theory in {*pair, *ranked}}
    people = _exhibit_of_people(known, ranked)
    checked = {theory: state.theories.checked[theory].record for theory in ranked}
    background = [standing_exhibit(board, checked, names), *([people] if people else [])]
    inputs = [diagnosis.digest, *(item.digest for item in state.experiments.collected.values())]
    inputs += _scores_behind(state, ranked, pair)
    return CycleCase(
        leader=record.leader,
        loser=record.loser,
        study=study_of(known.config, known.domain),
        file=case_exhibit(record, diagnosis.digest, names),
        background=tuple(background),
        evidence=_tables_of_answers(known, pair),
        inputs=tuple(dict.fromkeys(inputs)),
    )


def _tables_of_answers(known: RunEvidence, pair: tuple[Digest, Digest]) -> tuple[Exhibit, ...]:
    """Responses to every experiment and the predictions of both theories, the newest experiment first.

    Where participants learn, choices after each outcome take the place of the table of steps. Levels, numbers and times
    are shown by condition before they are shown trial by trial.
    """
    state = known.state
    tables: list[list[Exhibit]] = []
    for place, name in reversed(list(enumerate(state.experiments.collected, start=1))):
        trials, digest = known.trials(name), state.experiments.collected[name].digest
        lessons = lessons_exhibit(trials, digest, name, place) if known.domain.sequential else None
        own = [lessons] if lessons else table_exhibits(known.domain, trials, digest, name, place)
        scores = _scores_in(state, pair, name)
        most = MOST_OF_OLDER if tables else MOST_PREDICTED
        predicted = predictions_exhibit(known.domain, trials, digest, scores, name, most)
        if lessons is None and shown_scale(known.domain) is not None:
            shares = {of: predicted_shares(score) for of, score in scores.items()}
            own.insert(0, people_on_scale(known.domain, trials, digest, name, place))
            own.insert(1, theories_on_scale(known.domain, trials, digest, shares, name))
        tables.append([own[0], predicted, *own[1:]])
    return first_parts_first(tables)


def first_parts_first(experiments: Sequence[Sequence[Exhibit]]) -> tuple[Exhibit, ...]:
    """The first exhibit of each experiment, then the second of each, so that a short context shows every experiment.

    Args:
        experiments: Exhibits of each experiment, the newest experiment first.
    """
    return tuple(filter(None, chain.from_iterable(zip_longest(*experiments))))


def _scores_in(
    state: RunState, theories: Iterable[Digest], experiment: str
) -> dict[str, TheoryScored]:
    """Scores of theories in an experiment, by the theory's name."""
    scores = state.theories.scores
    return {state.theories.name(theory): scores[theory, experiment].record for theory in theories}


def _exhibit_of_people(known: RunEvidence, ranked: Sequence[Digest]) -> Exhibit | None:
    """Show how people differ in how well the ranked theories predict them."""
    state = known.state
    experiments = list(state.experiments.collected)
    scores = {
        state.theories.name(theory): {
            name: state.theories.scores[theory, name].record for name in experiments
        }
        for theory in ranked
    }
    trials = {name: known.trials(name) for name in experiments}
    newest = state.experiments.collected[experiments[-1]].digest
    return people_exhibit(known.domain, trials, scores, newest)


def _scores_behind(
    state: RunState, ranked: Sequence[Digest], pair: tuple[Digest, Digest]
) -> list[Digest]:
    """Records of the scores that a case rests on: of all ranked theories, and of the pair where it is not ranked."""
    found = state.theories.score_records(ranked, state.experiments.collected)
    unranked = set(pair).difference(ranked)
    return found + [
        item.digest for key, item in state.theories.scores.items() if key[0] in unranked
    ]


def study_of(config: CampaignConfig, domain: Domain) -> Exhibit:
    """The study's question, for every role."""
    return study_exhibit(config.question, domain, config.space)


def fate_exhibit(state: RunState) -> Exhibit | None:
    """The fate of earlier proposals of language models, the best draft of each lens and cycle."""
    tried = [item.record for item in state.roles.tried]
    best = dict.fromkeys(best_drafts(tried))
    ends = {(item.cycle, item.lens): item for item in tried}
    shown = [item for item in tried if item in best or ends[item.cycle, item.lens] is item][
        -MOST_TRIED:
    ]
    counts = Counter((item.cycle, item.lens) for item in tried)
    lines = [
        f"cycle {item.cycle}, {item.lens}, {counts[item.cycle, item.lens]} drafts: "
        f"{item.name or 'no name'} ({item.change}): {_fate(state, item)}"
        for item in shown
    ]
    return Exhibit("what became of earlier proposals", lines) if lines else None


def _fate(state: RunState, item: SuccessorTried) -> str:
    """One proposal's way: refused, outdone, judged, or among the rivals, with its figures."""
    if item.outcome != "submitted":
        return f"{item.outcome}: {item.reason[:200]}"
    figures = f"squared error {rounded(item.error or 0.0)} when it was written"
    board = state.board()
    for place, line in enumerate(board.standings, start=1):
        if line.theory == item.fitted:
            low, high = line.score.interval
            return (
                f"entered; now place {place} of {len(board.standings)}, score "
                f"{rounded(line.score.value)} ({rounded(low)} to {rounded(high)}); {figures}"
            )
    decided = state.judging.decided.get(item.fitted or "")
    if decided is not None:
        return f"judged, not admitted: {decided.record.text[:200]}; {figures}"
    return f"fitted, and did not become a rival; {figures}"


@dataclass(frozen=True)
class RoleNotebook:
    """A role's own notes of earlier cycles."""

    exhibits: tuple[Exhibit, ...] = ()
    inputs: tuple[Digest, ...] = ()
    """Records of the answers that hold them."""


def notebook(evidence: RunEvidence, models: RoleModels, role: str) -> RoleNotebook:
    """The newest notes that fit, each once; what a pinned rule forbids is left out."""
    lines: list[str] = []
    inputs: list[Digest] = []
    known: set[str] = set()
    room = NOTEBOOK_CHARACTERS
    for item in reversed(list(evidence.state.roles.answered.values())):
        record = item.record
        if record.role != role or record.answer is None:
            continue
        answer = evidence.artifacts.get_json(record.answer)
        note = " ".join(str(answer.get("note") or "").split())
        note = conjecture(note, models.rules(role, record.cycle))
        if not note or note in known:
            continue
        known.add(note)
        line = f"cycle {record.cycle}, {record.subject}: {note}"
        room -= len(line)
        if room < 0:
            break
        lines.append(line)
        inputs.append(item.digest)
    if not lines:
        return RoleNotebook()
    return RoleNotebook((Exhibit("your own notebook, not checked", lines[::-1]),), tuple(inputs))
