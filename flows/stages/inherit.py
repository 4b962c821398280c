"""Stage: the best theories of earlier campaigns compete from the first experiment on, and a campaign leaves its own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from lakatos.flows.roles.remember import (
    answers_of,
    competes,
    library_in,
    study_of,
    validity_in,
    winners_in,
)
from lakatos.flows.run.parts import task
from lakatos.flows.run.run import Run
from lakatos.flows.run.state import RunState
from lakatos.flows.stages.check import check_program
from lakatos.memory.record import WinnersTaken
from lakatos.memory.winner import (
    TheoryTried,
    TheoryWon,
    author_from_library,
    has_its_source,
    may_compete,
)
from lakatos.memory.winner_start import form_of_winner
from lakatos.theories.engine.checks.complexity import form_of_source
from lakatos.theories.engine.record import TheoryAdmitted
from lakatos.theories.engine.scoring.score import (
    UnitScores,
    average,
    is_tie,
    mean_over_units,
    paired_difference,
)
from lakatos.theories.language.theory import TheoryProgram
from lakatos.traces.digest import Digest
from lakatos.traces.wording import plural

MOST_RIVALS = 3
"""Theories of earlier campaigns that compete; each costs a fit at every score."""
MOST_CHECKED = 2 * MOST_RIVALS
MOST_LEFT = 3
"""Theories that a campaign leaves."""
SEALED = "sealed answers"


@task(name="admit winners")
async def admit_winners(run: Run) -> None:
    """Check the best theories of earlier campaigns like any stranger's; those that pass compete from the beginning."""
    if not run.config.memory.takes_winners:
        return
    taken = run.state.memory.taken
    if taken is None:
        return
    everything = library_in(run.evidence).winners(run.config.domain, validity_in(run.state))
    ranked = winners_in(run.evidence)
    forms = {form_of_source(run.form(name).program.source) for name in run.state.theories.checked}
    waiting = [winner for winner in ranked if form_of_winner(winner) not in forms]
    theories: list[Digest] = []
    studies, refused, inputs = [], [], [taken.digest]
    n_checked = 0
    for winner in waiting[:MOST_CHECKED]:
        if len(theories) == MOST_RIVALS:
            break
        n_checked += 1
        program = TheoryProgram(winner.source, author_from_library(winner))
        if not has_its_source(winner):
            refused.append(
                f"{winner.name} ({winner.study}): its source is not the one that its record names by digest"
            )
            continue
        checked = await check_program(run, 0, program, "", [taken.digest])
        inputs.append(checked.digest)
        if not checked.record.passed:
            refused.append(f"{winner.name} ({winner.study}): {checked.record.reason}")
            run.progress.note(f"a winner of {winner.study} was refused: {checked.record.reason}")
            continue
        admitted = TheoryAdmitted(
            theory=program.digest, cycle=0, reason=f"it won in {winner.study}"
        )
        run.record(admitted, name="admit", inputs=[checked.digest], position={"cycle": 0})
        theories.append(program.digest)
        studies.append(winner.study)
    run.record(
        WinnersTaken(
            theories=tuple(theories),
            studies=tuple(studies),
            refused=tuple(refused),
            n_passed_over=sum(not competes(item, run.config) for item in everything),
            n_left=len(waiting) - n_checked,
        ),
        name="take winners",
        inputs=inputs,
    )
    responses = run.config.source.origin
    others = sum(not may_compete(item, responses, run.config.name) for item in everything)
    if others:
        run.progress.note(
            f"earlier campaigns without people's responses left {plural(others, 'theory')}; none of them competes here"
        )
    if theories:
        one, many = (
            "theory that won in an earlier campaign competes",
            "theories that won in earlier campaigns compete",
        )
        run.progress.note(plural(len(theories), one, many))


def leave_winners(run: Run) -> None:
    """Write down the best theories of a concluded campaign: what leads, and what is tied with it."""
    concluded = run.state.campaign.concluded
    assert concluded is not None
    leader = concluded.record.leader
    lines = [line for line in run.state.board().standings if line.theory != leader and line.tied]
    known = {item.theory: item for item in library_in(run.evidence).winners(run.config.domain)}
    for name in (leader, *(line.theory for line in lines))[:MOST_LEFT]:
        checked, theory = run.state.theories.checked[name], run.theory(name)
        author = known[name].author if name in known else checked.record.author
        scores = [
            run.state.theories.scores[name, item].digest for item in run.state.experiments.collected
        ]
        evidence = (checked.digest, concluded.digest, *scores)
        winner = TheoryWon(
            domain=run.config.domain,
            study=study_of(run.config.name, run.config.seed),
            theory=name,
            source=theory.program.source,
            name=run.state.theories.bare_name(name),
            claim=theory.claim,
            author=author,
            leads=name == leader,
            holds=concluded.record.holds,
            answers=answers_of(run.config.participants),
            responses=run.config.source.origin,
            tried=tuple(_tried_on(run.state, name)),
            completeness=_completeness(run.state, name),
            evidence=evidence,
            justified_by=(concluded.digest,),
        )
        run.record(winner, name="winner", inputs=list(evidence), position={"theory": name})


def _tried_on(state: RunState, name: Digest) -> list[TheoryTried]:
    """Compare a theory with the best theory on every experiment."""
    found = []
    for experiment in state.experiments.collected:
        scores = {
            other: state.theories.scores[other, experiment].record.left_out.scores
            for other in state.theories.pool
            if (other, experiment) in state.theories.scores
        }
        found.append(_tried(experiment, name, {key: [item] for key, item in scores.items()}))
    if state.theories.sealed_scores:
        sealed = {
            key: [units.scores for units in item.record.scores]
            for key, item in state.theories.sealed_scores.items()
        }
        found.append(_tried(SEALED, name, sealed))
    return found


def _tried(data: str, name: Digest, scores: Mapping[Digest, Sequence[UnitScores]]) -> TheoryTried:
    gaps = {
        other: paired_difference(theirs, scores[name])
        for other, theirs in scores.items()
        if other != name
    }
    own = average([mean_over_units(item) for item in scores[name]])
    return TheoryTried(
        data=data,
        score=own.value,
        interval=own.interval,
        behind=max(0.0, *(gap.value for gap in gaps.values())) if gaps else 0.0,
        held=not any(gap.value > 0 and not is_tie(gap) for gap in gaps.values()),
    )


def _completeness(state: RunState, name: Digest) -> tuple[float, float] | None:
    if state.theories.completeness is None:
        return None
    for item in state.theories.completeness.record.theories:
        if item.theory == name and item.completeness is not None:
            return item.completeness, item.completeness_error or 0.0
    return None


def say_of_library(state: RunState, leader: Digest) -> list[str]:
    """The fate of theories of earlier campaigns, for the verdict; empty if none was taken."""
    taken, library = state.memory.winners, state.memory.taken
    lines = []
    if library is not None and (found_in := library.record.found_here):
        lines.append(
            f"What won in {', '.join(found_in)} was left out: it was found on these same answers, which are no "
            "test of it."
        )
    if taken is None or not (taken.record.theories or taken.record.refused):
        return lines
    n, refused = len(taken.record.theories), len(taken.record.refused)
    if refused:
        lines.insert(0, f"{refused} theories of earlier campaigns failed the checks.")
    if leader in taken.record.theories:
        study = taken.record.studies[taken.record.theories.index(leader)]
        return [
            f"It won in {study} before, and competed here from the first experiment on.",
            *lines,
        ]
    there = [name for name in taken.record.theories if name in state.theories.pool]
    behind = [state.board().of(name).behind for name in there]
    if behind and all(item.value > 0 and not is_tie(item) for item in behind):
        low, high = min(behind, key=lambda item: item.value).interval
        lines.insert(
            0,
            f"None of the {n} theories that won in earlier campaigns holds for these people: the nearest is "
            f"{low:.4f} to {high:.4f} nats per choice behind.",
        )
    elif n:
        lines.insert(0, f"{n} theories that won in earlier campaigns competed.")
    return lines
