"""Stage: close a cycle and decide whether to go on."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from lakatos.flows.errors import FlowError
from lakatos.flows.run.evidence import RunEvidence
from lakatos.flows.run.parts import task
from lakatos.flows.run.records import ENDED_AS_SET, CycleClosed, LeaderboardLine, LeaderFollowed
from lakatos.flows.run.run import Run
from lakatos.flows.run.state import RunState
from lakatos.theories.discovery.rivals import holds, moved
from lakatos.theories.engine.evidence import with_fit
from lakatos.theories.engine.record import TheoryFitted
from lakatos.theories.engine.scoreboard import Scoreboard, TheoryStanding
from lakatos.theories.engine.scoring.score import is_tie
from lakatos.theories.language.theory import Theory
from lakatos.traces.step import Recorded, StepContext
from lakatos.traces.wording import plural

DIGITS: Final = 6
"""Digits of a distance that decides: another processor may round the last of sixteen."""


@task(name="follow")
async def follow_leader(run: Run, cycle: int) -> Recorded[LeaderFollowed] | None:
    """Compare the leader's predictions over trials of the space with those of the last cycle's leader.

    Returns:
        What was found; None where this decides nothing: responses exist already, or no theory could be scored.
    """
    board = run.state.board()
    if not run.config.stop.moved or run.config.source.is_archive or not board.standings:
        return None
    leader, last = board.leader.theory, run.state.campaign.followed
    (fit,) = run.state.theories.fit_records([leader]) or (None,)

    def work(context: StepContext) -> LeaderFollowed:
        distance = None
        if last is not None and last.record.cycle < cycle:
            distance = moved(run.evidence, _as_it_was(run, last.record), run.theory(leader))
        return LeaderFollowed(
            cycle=cycle,
            leader=leader,
            fit=fit,
            moved=None if distance is None else round(distance, DIGITS),
        )

    inputs = [leader, *([fit] if fit else []), *([last.digest] if last is not None else [])]
    return await run.step(
        "follow", work, returns=LeaderFollowed, inputs=inputs, position={"cycle": cycle}
    )


def _as_it_was(run: Run, followed: LeaderFollowed) -> Theory:
    """A leader with the population of its time."""
    form = run.form(followed.leader)
    if followed.fit is None:
        return form
    fitted = Recorded(run.trace.get(followed.fit, TheoryFitted), followed.fit)
    return with_fit(form, replace(run.state.theories, fits={followed.leader: fitted}))


@task(name="close")
async def close_cycle(run: Run, cycle: int, stop: str) -> Recorded[CycleClosed]:
    """Write the leaderboard down and say whether the campaign ends.

    Raises:
        FlowError: No experiment at all could be run, or every theory failed on the responses.
    """
    board = run.state.board()
    if not board.standings and (failed := run.state.theories.failed):
        reasons = "; ".join(
            f"{run.state.theories.name(item.record.theory)}: {item.record.reason}"
            for item in failed[-3:]
        )
        raise FlowError(
            f"no theory is left that can be scored on every experiment ({reasons}). Begin a run whose "
            "`theories.seeds` names other theories as well."
        )
    if not board.standings:
        raise FlowError(
            f"no experiment could be run: {stop or 'no data were collected'}. Give the study more "
            "participants or trials, or rivals that differ more."
        )
    improved = _improved(run.state, board)
    followed = await follow_leader(run, cycle)
    distance = None if followed is None else followed.record.moved
    stop = stop or _reason_to_stop(run.evidence, cycle, board, improved=improved, distance=distance)
    lines = tuple(_leaderboard_line(line) for line in board.standings)
    inputs = [item.digest for item in run.state.experiments.collected.values()]
    inputs += [
        run.state.theories.scores[line.theory, name].digest
        for line in board.standings[:2]
        for name in board.experiments
    ]
    inputs += [item.digest for item in run.state.campaign.cycles[-1:]]
    inputs += [followed.digest] if followed is not None else []
    return run.record(
        CycleClosed(
            cycle=cycle, leader=board.leader.theory, leaderboard=lines, improved=improved, stop=stop
        ),
        name="close",
        inputs=inputs,
        position={"cycle": cycle},
    )


def _reason_to_stop(
    evidence: RunEvidence,
    cycle: int,
    board: Scoreboard,
    *,
    improved: bool,
    distance: float | None = None,
) -> str:
    """State why the campaign ends after a cycle; empty where it goes on."""
    settings = evidence.config.stop
    since = 0 if improved else 1 + _stalled(evidence.state)
    if cycle >= settings.cycles:
        return f"{ENDED_AS_SET}: {plural(settings.cycles, 'cycle')}"
    if cycle < settings.least_cycles:
        return ""
    if since >= settings.patience:
        return f"no improvement over {plural(since, 'cycle')}"
    if distance is not None and distance < settings.moved:
        return (
            f"settled: the leader's predictions moved by {distance:.3f} since the last cycle, less than "
            f"{settings.moved:g}"
        )
    if not improved and holds(evidence, board):
        return (
            "verdict: the leading theory was ahead of each other theory on frozen predictions (uncorrected 95% "
            "intervals), and no new theory improved on it"
        )
    return ""


def _leaderboard_line(line: TheoryStanding) -> LeaderboardLine:
    """A line of the scoreboard as a record keeps it."""
    return LeaderboardLine(
        theory=line.theory,
        score=line.score.value,
        standard_error=line.score.standard_error,
        prequential=line.prequential.value if line.prequential else None,
        error=line.error,
        correlation=line.correlation,
        behind=line.behind.value,
        behind_error=line.behind.standard_error,
        behind_interval=line.behind.interval,
        tied=line.tied,
    )


def _improved(state: RunState, board: Scoreboard) -> bool:
    """Whether the leader is new since the last cycle and clearly better than the last leader on all data.

    A leader in place of one that failed on the responses is new, too.
    """
    if not state.campaign.cycles:
        return True
    last = state.campaign.cycles[-1].record.leader
    if last in state.theories.out:
        return True
    return board.leader.theory != last and not is_tie(board.of(last).behind)


def _stalled(state: RunState) -> int:
    """Cycles without improvement before this one."""
    count = 0
    for item in reversed(state.campaign.cycles):
        if item.record.improved:
            break
        count += 1
    return count
