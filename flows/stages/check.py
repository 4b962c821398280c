"""Stage: programs become theories only through checks; the seeds of a study are the first ones."""

from __future__ import annotations

from collections.abc import Sequence

from lakatos.flows.errors import StudyError
from lakatos.flows.run.parts import task
from lakatos.flows.run.run import Run
from lakatos.flows.run.study_sections import OWN
from lakatos.theories.discovery.rivals import trials_of_study
from lakatos.theories.engine.checks.complexity import code_length, why_unreadable
from lakatos.theories.engine.checks.naming import name_in_company
from lakatos.theories.engine.record import TheoryAdmitted, TheoryChecked
from lakatos.theories.errors import TheoryError
from lakatos.theories.language.theory import Theory, TheoryProgram, read_program
from lakatos.traces.digest import Digest
from lakatos.traces.step import Recorded, StepContext


async def check_program(
    run: Run, cycle: int, program: TheoryProgram, change: str, inputs: Sequence[Digest]
) -> Recorded[TheoryChecked]:
    """Run all checks on a program and write down that it is a theory, or why not."""

    def work(context: StepContext) -> TheoryChecked:
        context.last_note({"sandbox": list(run.laboratory.layers)})
        digest = context.artifacts.put(program.source.encode())
        others = [
            run.form(known) for known in run.state.theories.checked if known != program.digest
        ]
        theory: Theory | None = None
        reason = ""
        try:
            theory = run.laboratory.check(
                program, trials_of_study(run.evidence, run.source), run.evidence.terms.n_people
            )
        except TheoryError as error:
            reason = f"{type(error).__name__}: {error}"
        return TheoryChecked(
            theory=digest,
            passed=theory is not None,
            name=name_in_company(theory, others) if theory else _name(program),
            claim=theory.claim if theory else "",
            author=program.author,
            parents=program.parents,
            change=change,
            cycle=cycle,
            n_parameters=len(theory.priors) if theory else 0,
            code_length=code_length(program.source) if theory else 0,
            unreadable=why_unreadable(theory) if theory else "",
            checks=theory.checks if theory else (),
            reason=reason,
        )

    return await run.step(
        "check",
        work,
        returns=TheoryChecked,
        inputs=inputs,
        position={"cycle": cycle, "theory": program.digest},
    )


def _name(program: TheoryProgram) -> str:
    try:
        return read_program(program).name
    except TheoryError:
        return f"unreadable {program.digest[:8]}"


@task(name="seed")
async def seed_pool(run: Run) -> None:
    """Check the theories that the study names or brings along and admit them as the first rivals."""
    settings = run.config.theories
    run.progress.stage(0, "check the initial theories", ", ".join(settings.seeds))
    assert run.state.campaign.started is not None
    programs = [run.family.program(name) for name in settings.seeds]
    for program in (*programs, *(TheoryProgram(source, OWN) for source in settings.programs)):
        checked = await check_program(run, 0, program, "", [run.state.campaign.started.digest])
        if not checked.record.passed:
            stop = (
                program.author == OWN
                and settings.on_refusal == "stop"
                and not run.state.experiments.designs
            )
            if stop:
                reason = checked.record.reason.rstrip(".")
                raise StudyError(
                    f"your theory {checked.record.name!r} was refused: {reason}. Correct it and begin "
                    'again, or let the study continue without it: theories.on_refusal = "drop".'
                )
            run.progress.note(f"{checked.record.name} was refused: {checked.record.reason}")
            continue
        run.record(
            TheoryAdmitted(theory=program.digest, cycle=0, reason=program.author),
            name="admit",
            inputs=[checked.digest],
            position={"cycle": 0},
        )
    if len(run.state.theories.pool) < 2:
        raise TheoryError(
            "fewer than two seed theories passed their checks; the notes above state the reasons. "
            "Name others in theories.seeds."
        )
