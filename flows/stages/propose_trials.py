"""Stage: advocates propose trials on which their own theory should win; what simulation bears out can be asked."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lakatos.experiments.errors import DesignError, ExperimentError
from lakatos.experiments.power import power_of_people, recovery_power
from lakatos.experiments.proposal import problems_of_trials
from lakatos.experiments.task import Stimuli
from lakatos.flows.roles.ask import RoleReply, ask_stage
from lakatos.flows.run.engine import task
from lakatos.flows.run.run import Run
from lakatos.flows.stages.design import DESIGN_DRAWS, PEOPLE, leading_rivals, sample_of_space
from lakatos.theories.roles.answer import ProposedTrials, stimuli_of, trials_type, varied
from lakatos.theories.roles.exhibit import Exhibit, theory_exhibit
from lakatos.theories.roles.prompt import read_prompt
from lakatos.theories.roles.question import RoleQuestion
from lakatos.theories.roles.record import TrialsProposed
from lakatos.traces.digest import Digest
from lakatos.traces.step import Recorded, StepContext

EXAMPLES = 6
"""Trials shown, with what both theories predict: those on which they differ most in a sample of the space."""
SAMPLED = 400
LEAST_TRIALS = 2
"""Of a proposal that can be asked, once the others are left out."""


@task(name="propose trials")
async def propose_trials(run: Run, cycle: int, number: int) -> list[Recorded[TrialsProposed]]:
    """The advocates of the two leading rivals propose trials; in domains of schedules and from archives nobody does."""
    if (
        not run.config.roles.advocate
        or run.domain.sequential
        or run.config.participants.source == "archival"
    ):
        return []
    first, second = leading_rivals(run)[:2]
    run.progress.stage(
        cycle,
        "propose trials",
        f"{run.state.theories.name(first)}, {run.state.theories.name(second)}",
    )
    sample = sample_of_space(run, np.random.default_rng(run.config.seed), SAMPLED)
    questions = [
        _question(run, own, rival, sample) for own, rival in ((first, second), (second, first))
    ]
    heard = await ask_stage(run, cycle, "propose trials", questions, number)
    rivals = {first: second, second: first}
    tried: list[Recorded[TrialsProposed]] = []
    again: list[RoleQuestion[ProposedTrials]] = []
    for item in heard:
        if item.value is not None:
            found = await _try(run, cycle, number, item, rivals[item.question.subject], sample)
            tried.append(found)
            if not found.record.passed:
                again.append(_mending(item, found))
    for item in await ask_stage(run, cycle, "mend trials", again, number):
        if item.value is not None:
            rival = rivals[item.question.subject]
            tried.append(await _try(run, cycle, number, item, rival, sample, attempt=1))
    return tried


def _mending(
    heard: RoleReply[ProposedTrials], found: Recorded[TrialsProposed]
) -> RoleQuestion[ProposedTrials]:
    """One more chance for trials that were refused, with what is wrong with them."""
    assert heard.value is not None
    asked, own = heard.question, heard.value.model_dump(mode="json")
    return replace(
        asked,
        task=f"{asked.task} Your trials were refused; mend them, or propose others.",
        last=(
            Exhibit("your trials", own["trials"]),
            Exhibit("why they were refused", [found.record.reason, *found.record.left_out]),
        ),
        inputs=(found.digest, *asked.inputs),
        tools=False,
    )


def _question(
    run: Run, own: Digest, rival: Digest, sample: Stimuli
) -> RoleQuestion[ProposedTrials]:
    theories = [run.theory(own), run.theory(rival)]
    shares = [
        run.laboratory.proportions(theory, sample, DESIGN_DRAWS)[:, -1] for theory in theories
    ]
    rows = np.sort(np.argsort(-np.abs(shares[0] - shares[1]), kind="stable")[:EXAMPLES])
    examples = [
        {
            "trial": {name: _plain(array, int(row)) for name, array in varied(sample).items()},
            "shown": run.domain.describe(sample, int(row)),
            "yours_says_second": round(float(shares[0][row]), 2),
            "rival_says_second": round(float(shares[1][row]), 2),
        }
        for row in rows
    ]
    ranges = {
        name: f"shape {list(np.shape(array)[1:])}, from {np.min(array):g} to {np.max(array):g}"
        for name, array in varied(sample).items()
    }
    inputs = [run.state.theories.pool[name].digest for name in (own, rival)]
    inputs += [
        run.state.theories.scores[name, item].digest
        for name in (own, rival)
        for item in run.state.experiments.collected
    ]
    return RoleQuestion(
        role="advocate",
        prompt=read_prompt("experiment"),
        subject=own,
        task=f"You are the advocate of {run.state.theories.name(own)}; "
        f"its rival is {run.state.theories.name(rival)}. Propose trials.",
        exhibits=(
            Exhibit("arrays of a trial", ranges),
            Exhibit(
                "settings of the space",
                {name: str(value) for name, value in sorted(run.config.space.items())},
            ),
            Exhibit("some trials", examples),
            theory_exhibit(theories[0], "your theory"),
            theory_exhibit(theories[1], "the rival"),
        ),
        answer=trials_type(sample),
        inputs=tuple(inputs),
        tools=True,
    )


def _plain(array: NDArray[Any], row: int) -> Any:
    """A row as JSON, whole numbers without a point where all of them are whole."""
    whole = bool((array == np.round(array)).all())
    return np.asarray(array[row], dtype=np.int64 if whole else np.float64).tolist()


async def _try(
    run: Run,
    cycle: int,
    number: int,
    heard: RoleReply[ProposedTrials],
    rival: Digest,
    sample: Stimuli,
    attempt: int = 0,
) -> Recorded[TrialsProposed]:
    """Leave out trials that cannot be asked, then simulate people who follow either theory on the others."""
    own, value = heard.question.subject, heard.value
    assert value is not None

    def work(context: StepContext) -> TrialsProposed:
        trials: Digest | None = None
        left_out: tuple[str, ...] = ()
        powers: tuple[float, float] | None = None
        try:
            stimuli = stimuli_of(value, sample)
            problems = problems_of_trials(
                run.domain, run.config.space, stimuli, run.config.design.forbidden
            )
            left_out = tuple(f"trial {row + 1} {why}" for row, why in sorted(problems.items()))
            kept = [row for row in range(len(stimuli)) if row not in problems]
            if len(kept) < LEAST_TRIALS:
                raise DesignError(f"{len(kept)} of {len(stimuli)} trials can be asked")
            stimuli = stimuli.take(kept)
            trials = context.artifacts.put_json(stimuli.to_json())
            powers = _powers(run, context, own, rival, stimuli)
            required = run.config.design.power
            passed = min(powers) >= required
            chances = f"with probability {powers[0]:.2f} if it is yours and {powers[1]:.2f} if it is the rival"
            reason = (
                ""
                if passed
                else f"people would show the true one better {chances}; {required:g} is required"
            )
        except (ExperimentError, ValueError, TypeError, IndexError) as error:
            passed, reason = False, f"{type(error).__name__}: {error}"
        return TrialsProposed(
            cycle=cycle,
            number=number,
            answer=heard.answered.digest,
            theory=own,
            rival=rival,
            trials=trials,
            n_trials=len(value.trials),
            power=None if powers is None else powers[0],
            power_of_rival=None if powers is None else powers[1],
            passed=passed,
            reason=reason,
            left_out=left_out,
        )

    return await run.step(
        "try trials",
        work,
        returns=TrialsProposed,
        inputs=[heard.answered.digest, *heard.question.inputs],
        position={"cycle": cycle, "number": number, "theory": own, "attempt": attempt},
    )


def _powers(
    run: Run, context: StepContext, own: Digest, rival: Digest, stimuli: Stimuli
) -> tuple[float, float]:
    """With which people who follow the theory, or its rival, show that theory as the better one."""
    settings = run.config.design
    theories = [run.theory(own), run.theory(rival)]
    n_people = settings.participants or settings.most_participants
    if any(theory.learns for theory in theories):
        scores = run.laboratory.scores_of_simulated_people(
            theories,
            DESIGN_DRAWS,
            stimuli,
            context.rng,
            repetitions=settings.repetitions,
            n_people=PEOPLE,
        )
        table = power_of_people(scores, n_people, context.rng, n_simulations=100)
    else:
        answers = [item[0] for item in run.laboratory.answers_of(theories, [stimuli], DESIGN_DRAWS)]
        table = recovery_power(
            answers, settings.repetitions, n_people, context.rng, n_simulations=100
        )
    return float(table.power[0, 1]), float(table.power[1, 0])
