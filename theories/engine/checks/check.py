"""Examination that a program must pass before it enters as a theory, with a report for people and advocates.

Everything is tried in the sandbox: at corners, extremes, the middle and random points of the declared ranges, on the
domain's probes and, where given, on trials of the study's own space. A theory that learns is asked along sequences of
given answers instead of trial by trial; its *rows* below are then the steps of those sequences.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from lakatos.experiments.task import Domain, Stimuli
from lakatos.theories.engine.checks.check_report import CheckReport, TheoryCheck
from lakatos.theories.engine.checks.exam import EVERYTHING, MEMORISED, NEEDED, ExamStep
from lakatos.theories.engine.checks.tested_theory import N_SEQUENCES, TestedTheory
from lakatos.theories.engine.sandbox.client import Sandbox
from lakatos.theories.errors import TheoryError
from lakatos.theories.language.theory import Theory, TheoryProgram, read_program

VARYING = ("cost", "start", MEMORISED)
"""Checks whose sentences state seconds, or what a learner found, whose last digits differ between processors."""


def check_theory(
    program: TheoryProgram,
    domain: Domain,
    sandbox: Sandbox,
    *,
    probes: Sequence[Stimuli] | None = None,
    candidates: Stimuli | None = None,
    n_people: int = N_SEQUENCES,
    seed: int = 0,
    steps: Sequence[ExamStep] | None = None,
) -> CheckReport:
    """Try everything that a theory of ``domain`` must prove.

    Args:
        program: The text.
        domain: Gives the probes.
        sandbox: Sandbox in which it runs.
        probes: Instead of the domain's own, for a theory of some of its trials only.
        candidates: The study's own trials, tried as well; each alone and at all points the first 40, a schedule whole.
        n_people: As many are asked together in an experiment of the study.
        seed: Seed of random points, orders and simulated choices; the same seed asks the same.
        steps: Instead of all of them.

    Returns:
        A report; it never raises because of what the theory does, see `CheckReport.raise_for_failure`.
    """
    try:
        theory = read_program(program)
    except TheoryError as error:
        failed = TheoryCheck("source", False, None, None, str(error), error=type(error).__name__)
        return CheckReport("A program without a name", program.digest, domain.name, (failed,))
    trial = TestedTheory(
        theory,
        domain,
        sandbox,
        domain.probes if probes is None else lambda _: probes,
        candidates,
        seed,
        n_people,
    )
    checks = [
        TheoryCheck(
            "source", True, None, None, "it parses, states a claim and declares proper priors."
        )
    ]
    checks += _dependences(theory)
    for step in EVERYTHING if steps is None else steps:
        try:
            checks += step(trial)
        except TheoryError as error:
            checks.append(
                TheoryCheck(
                    step.__name__[1:], False, None, None, str(error), error=type(error).__name__
                )
            )
            break
    return CheckReport(theory.name, program.digest, domain.name, tuple(checks), trial.broadcasts)


def _dependences(theory: Theory) -> list[TheoryCheck]:
    """Check the dependences of parameters on attributes that the theory declares; empty where it declares none.

    Its priors are proper, or it would not have been read; that predictions depend on the parameters is tried like that
    of all others.
    """
    words = [
        f"{name} on {one.in_words}, by an effect within {2 * one.sd:g} of its range (two standard deviations)"
        for name, prior in theory.priors.items()
        for one in prior.depends_on
    ]
    if not words:
        return []
    return [TheoryCheck("dependences", True, None, None, f"may depend: {'; '.join(words)}.")]


def load_theory(
    program: TheoryProgram,
    domain: Domain,
    sandbox: Sandbox,
    probes: Sequence[Stimuli] | None = None,
    *,
    thorough: bool = False,
    candidates: Stimuli | None = None,
    n_people: int = N_SEQUENCES,
) -> Theory:
    """The program as a theory of ``domain``, with what was proved of it.

    Args:
        program, domain, sandbox, probes, candidates, n_people: As in `check_theory`.
        thorough: Whether it must prove everything; else that it answers with probabilities, always the same ones.

    Raises:
        TheoryError: The first check that it fails.
    """
    report = check_theory(
        program,
        domain,
        sandbox,
        probes=probes,
        candidates=candidates,
        n_people=n_people,
        steps=None if thorough else NEEDED,
    )
    report.raise_for_failure()
    # What differs from run to run, or from machine to machine, stays out of records.
    lasting = tuple(
        f"{item.name}: {item.sentence}" for item in report.checks if item.name not in VARYING
    )
    return replace(read_program(program), broadcasts=report.broadcasts, checks=lasting)
