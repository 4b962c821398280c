"""What a program must prove before it enters as a theory, and a report of it that people and advocates can read.

Everything is tried in the sandbox: at corners, extremes, the middle and random points of the declared ranges, on the
domain's probes and, where given, on trials of the study's own space. A theory that learns is asked along sequences of
given answers instead of trial by trial; its *rows* below are then the steps of those sequences.
"""

from __future__ import annotations

import ast
import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from itertools import zip_longest
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import chi2

from lakatos.experiments.task import Domain, Stimuli
from lakatos.experiments.variation import HasMeasures
from lakatos.theories import errors
from lakatos.theories.account import ClauseWording, ToldClause
from lakatos.theories.checks.claim import check_claim
from lakatos.theories.checks.clause_check import (
    N_PEOPLE,
    AskedTrials,
    TriedClause,
    on_its_side,
    triable,
    try_clause,
    without,
)
from lakatos.theories.errors import GrammarError, TheoryError
from lakatos.theories.families import find_family
from lakatos.theories.grammar import composition_of
from lakatos.theories.points import at_fractions, check_points
from lakatos.theories.running.sequence import SimulatedSequences, replay, simulate
from lakatos.theories.sandbox.client import Sandbox, TheorySession
from lakatos.theories.sandbox.lint import parse
from lakatos.theories.theory import Theory, TheoryProgram, read_program

Array = NDArray[np.float64]
TOLERANCE = 1e-6
"""Largest difference between two answers that should be the same; leaves room for rounding alone."""
DEAD = 1e-9
"""A parameter that changes no probability by more than this does nothing."""
FALSE_ALARM_RATE = 1e-6
"""How often the test of simulated choices refuses a faultless theory."""
NO_CLAUSE = ClauseWording("nothing further")
MOST_CANDIDATES = 200
MOST_ALONE = 40
"""Trials of the study that are each asked about alone at all points."""
STUDY = "the study's own trials"
N_DRAWS = 64
"""Draws that are asked about at the study's size."""
N_SEQUENCES = 2
"""People in each set of given answers, for theories that learn."""
N_GROUPS = 2
"""Groups in which the draws of such a theory are tried."""
TIMES = ("cost", "start")
"""Checks whose sentences tell seconds."""
DECLARED = ("PARAMETERS", "COMPOSITION", "PREDICTIONS", "CLAUSES")
LONGEST_ROW = 8
"""Entries of a list from which on each counts, even one of a single digit."""
LONGEST_WORD = 40
"""Characters of a text that names an entry, beyond which it counts as more than a name."""
MOST_NUMBERS = 100
"""Numbers that a theory's functions may hold; what the grammar and induction write holds fewer."""
NUDGES = (2.0**-27, 2.0**-26, 2.0**-25)
"""Relative changes of a trial that nobody could see."""
JUMP = 0.005
"""A change of probability that such a change of a trial cannot explain."""
MOST_JUMPS = 0.1
"""Share of the study's trials that may be answered otherwise beside them, for rules about special numbers."""
TIMED = (256, 100)
"""Draws and trials of the call whose time is taken."""


@dataclass(frozen=True)
class TheoryCheck:
    """One thing that was tried, and what came out."""

    name: str
    passed: bool
    value: float | None
    """The number measured; None where nothing could be."""
    limit: float | None
    """What ``value`` is held against; None where it only informs."""
    sentence: str
    """The result in words; of a failure also where it lies and what to do."""
    required: bool = True
    """Whether a failure refuses the theory; other failures are advice."""
    error: str = ""
    """Class of `theories.errors` that a failure is raised as."""


@dataclass(frozen=True)
class CheckReport:
    """Everything that was tried on one program."""

    theory: str
    digest: str
    domain: str
    checks: tuple[TheoryCheck, ...]
    broadcasts: bool = True
    """False when it only runs one draw at a time."""

    @property
    def passed(self) -> bool:
        """Whether the program may enter as a theory."""
        return not self.failures

    @property
    def failures(self) -> tuple[TheoryCheck, ...]:
        """The required checks that the theory did not pass."""
        return tuple(check for check in self.checks if check.required and not check.passed)

    def raise_for_failure(self) -> None:
        """Raise the first failure as the `TheoryError` that it is; nothing when there is none."""
        for check in self.failures:
            raise getattr(errors, check.error or "TheoryError")(check.sentence)

    def to_text(self) -> str:
        """A line for each check, failures and advice marked."""
        verdict = "accepted" if self.passed else "refused"
        width = max(len(check.name) for check in self.checks)
        lines = [
            f"{self.theory} ({self.digest[:6]}), checked for the domain {self.domain!r}: {verdict}."
        ]
        for check in self.checks:
            mark = "ok    " if check.passed else "FAILED" if check.required else "advice"
            lines.append(f"  {mark}  {check.name:<{width}}  {check.sentence}")
        return "\n".join(lines) + "\n"

    def to_json(self) -> dict[str, Any]:
        """Plain values, for records and for advocates that are programs."""
        return {
            "theory": self.theory,
            "digest": self.digest,
            "domain": self.domain,
            "passed": self.passed,
            "checks": [
                {
                    "name": check.name,
                    "passed": check.passed,
                    "required": check.required,
                    "value": check.value,
                    "limit": check.limit,
                    "sentence": check.sentence,
                    **({"error": check.error} if check.error else {}),
                }
                for check in self.checks
            ],
        }


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
        sandbox: Where it runs.
        probes: Instead of the domain's own, for a theory of some of its trials only.
        candidates: The study's own trials, tried as well; each alone and at all points the first 40, a schedule whole.
        n_people: As many are asked together in an experiment of the study.
        seed: Of random points, orders and simulated choices; the same seed asks the same.
        steps: Instead of all of them.

    Returns:
        A report; it never raises because of what the theory does, see `CheckReport.raise_for_failure`.
    """
    try:
        theory = read_program(program)
    except TheoryError as error:
        failed = TheoryCheck("source", False, None, None, str(error), error=type(error).__name__)
        return CheckReport("A program without a name", program.digest, domain.name, (failed,))
    trial = _TestedTheory(
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
    # What was measured in seconds differs from run to run and stays out of records.
    lasting = tuple(
        f"{item.name}: {item.sentence}" for item in report.checks if item.name not in TIMES
    )
    return replace(read_program(program), broadcasts=report.broadcasts, checks=lasting)


@dataclass(frozen=True)
class _TrialSheet:
    """One thing to ask about: trials, and for a theory that learns the sequences and answers that are given."""

    name: str
    stimuli: Stimuli
    order: NDArray[np.int64]
    """``(n_sequences, n_steps)`` rows of the stimuli."""
    done: SimulatedSequences
    """Given answers and what followed them; the same for all draws, or each draw's own."""

    def take(self, unit: int, *, walks: bool) -> _TrialSheet:
        """One trial, or one person's sequence, without the others."""
        if not walks:
            return replace(self, stimuli=self.stimuli.take([unit]))
        own = slice(unit, unit + 1)
        feedback = {name: table[:, own] for name, table in self.done.feedback.items()}
        done = SimulatedSequences(
            self.done.response[:, own], self.done.probabilities[:, own], feedback
        )
        return replace(self, order=self.order[own], done=done)


def _answered(
    domain: Domain, stimuli: Stimuli, order: NDArray[np.int64], response: NDArray[np.int64]
) -> SimulatedSequences:
    """What follows ``(1, n_sequences, n_steps)`` given answers; there are no probabilities."""
    follows: list[dict[str, Array]] = []
    for step in range(order.shape[1]):
        arrays = stimuli.take(order[:, step]).arrays
        shown = domain.shown(arrays, follows[-1] if follows else {})
        follows.append(domain.feedback(arrays, shown, response[:, :, step]))
    feedback = {name: np.stack([item[name] for item in follows], axis=-1) for name in follows[0]}
    return SimulatedSequences(response, np.zeros((*response.shape, 0)), feedback)


class _TestedTheory:
    """A theory on trial: what it is asked, and how."""

    def __init__(
        self,
        theory: Theory,
        domain: Domain,
        sandbox: Sandbox,
        probes: Callable[[np.random.Generator], Sequence[Stimuli]],
        candidates: Stimuli | None,
        seed: int,
        n_people: int = N_SEQUENCES,
    ) -> None:
        self.theory, self.domain, self.sandbox = theory, domain, sandbox
        self.broadcasts = True
        self.candidates: Stimuli | None = None
        self.walks = theory.learns or domain.sequential
        self.rng = np.random.default_rng(seed)
        self.points = check_points(theory.priors, self.rng)
        named = [
            (f"probe {index} of the domain {domain.name!r}", probe)
            for index, probe in enumerate(probes(self.rng))
        ]
        if candidates is not None:
            n_most = len(candidates) if domain.sequential else MOST_CANDIDATES
            self.candidates = candidates.take(np.arange(min(len(candidates), n_most)))
            some = (
                candidates
                if domain.sequential
                else candidates.take(np.arange(min(len(candidates), MOST_ALONE)))
            )
            named.append((STUDY, some))
        self.sheets = [self._sheet(name, stimuli) for name, stimuli in named]
        whole = None if self.candidates is None else self._sheet(STUDY, self.candidates, n_people)
        self.at_study_size: _TrialSheet | None = whole

    def _sheet(self, name: str, stimuli: Stimuli, n_sequences: int = N_SEQUENCES) -> _TrialSheet:
        rows = np.tile(np.arange(len(stimuli)), (n_sequences, 1))
        order = rows if self.domain.sequential else self.rng.permuted(rows, axis=1)
        response = self.rng.integers(0, self.domain.n_options(stimuli), size=(1, *order.shape))
        return _TrialSheet(name, stimuli, order, _answered(self.domain, stimuli, order, response))

    @contextmanager
    def asking(
        self, sheets: Sequence[_TrialSheet], *, walks_apart: bool = True
    ) -> Iterator[_TheoryAsker]:
        """Processes of their own that answer about these sheets; errors describe the trial that they count."""
        numbers = dict.fromkeys(self.domain.n_options(sheet.stimuli) for sheet in sheets)
        stimuli = [] if self.walks else [sheet.stimuli.arrays for sheet in sheets]
        source = self.theory.program.source
        try:
            with ExitStack() as stack:
                opened = {
                    number: stack.enter_context(
                        self.sandbox.open_session(
                            source, stimuli, n_options=number, walks_apart=walks_apart
                        )
                    )
                    for number in numbers
                }
                yield _TheoryAsker(self, opened, sheets)
        except TheoryError as error:
            found = re.search(r"stimuli set (\d+), draw \d+.*?, trial (\d+)", str(error))
            if not found:
                raise
            raise type(error)(
                f"{error} The trial: {self.where(sheets[int(found[1])], int(found[2]))}."
            ) from None

    def where(self, sheet: _TrialSheet, row: int) -> str:
        """Say in words which trial, and of whom, a row is."""
        if not self.walks:
            return f"{sheet.name}, trial {row} ({self.domain.describe(sheet.stimuli, row)})"
        person, step = divmod(row, sheet.order.shape[1])
        shown = self.domain.describe(sheet.stimuli, int(sheet.order[person, step]))
        return f"{sheet.name}, sequence {person}, step {step} ({shown})"

    def draw(self, index: int, points: Mapping[str, Array] | None = None) -> str:
        """Say in words which parameters a point has."""
        values = ", ".join(
            f"{name}={values[index]:.6g}"
            for name, values in (points or self.points).items()
            if name
        )
        return f"draw {index}" + (f" ({values})" if values else "")


class _TheoryAsker:
    """The theory, started, in a process for each number of options."""

    def __init__(
        self,
        trial: _TestedTheory,
        sessions: Mapping[int, TheorySession],
        sheets: Sequence[_TrialSheet],
    ) -> None:
        self.trial, self.sessions, self.sheets = trial, sessions, sheets

    def __call__(self, parameters: Mapping[str, Array]) -> list[Array]:
        """``(n_draws, n_rows, n_options)`` for each sheet; rows are trials, or steps within sequences."""
        if not self.trial.walks:
            (session,) = self.sessions.values()
            return session.probabilities(parameters)
        answers = [self.replay(parameters, sheet, sheet.done) for sheet in self.sheets]
        return [answer.reshape(len(answer), -1, answer.shape[-1]) for answer in answers]

    def replay(
        self, parameters: Mapping[str, Array], sheet: _TrialSheet, done: SimulatedSequences
    ) -> Array:
        """``(n_draws, n_sequences, n_steps, n_options)`` along given answers."""
        return replay(
            self.session(sheet), self.trial.domain, parameters, sheet.stimuli, sheet.order, done
        )

    def session(self, sheet: _TrialSheet) -> TheorySession:
        """The process that answers about trials with as many options."""
        return self.sessions[self.trial.domain.n_options(sheet.stimuli)]

    @property
    def broadcasts(self) -> bool:
        """Whether all draws were taken together."""
        return all(session.broadcasts for session in self.sessions.values())

    @property
    def processor_seconds(self) -> float:
        """Processor time that the theory's processes have used so far."""
        return sum(session._child._processor_seconds() for session in self.sessions.values())


def _probabilities(trial: _TestedTheory) -> list[TheoryCheck]:
    with trial.asking(trial.sheets) as ask:
        answers = ask(trial.points)  # the sandbox refuses what is no probability
    n_points, n_rows = len(answers[0]), sum(answer.shape[1] for answer in answers)
    low, high = (
        min(float(answer.min()) for answer in answers),
        max(float(answer.max()) for answer in answers),
    )
    return [
        TheoryCheck(
            "probabilities",
            True,
            0.0,
            0.0,
            f"finite, not negative and summing to one at {n_points} points of the declared ranges (middle, each "
            f"extreme alone, corners, random) on {n_rows} {'steps' if trial.walks else 'trials'}; they lie from "
            f"{low:.4g} to {high:.4g}.",
        )
    ]


def _same_answers(trial: _TestedTheory) -> list[TheoryCheck]:
    """Determinism and broadcasting: the same question asked again, elsewhere, and one draw at a time."""
    n_points = len(next(iter(trial.points.values())))
    # Steps of a sequence cost a call each, so walks are tried in few groups; first and last draw walk alone anyway.
    shuffled = trial.rng.permutation(n_points)
    groups = np.array_split(shuffled, min(N_GROUPS, n_points) if trial.walks else n_points)
    with trial.asking(trial.sheets, walks_apart=False) as ask:
        first = ask(trial.points)
        parts = [
            ask({name: values[group] for name, values in trial.points.items()}) for group in groups
        ]
        again = ask(trial.points)
        broadcasts = trial.broadcasts = ask.broadcasts
    with trial.asking(trial.sheets) as ask:
        elsewhere = ask(trial.points)
    back = np.argsort(shuffled)
    apart = [np.concatenate([part[index] for part in parts])[back] for index in range(len(first))]
    twice = _compared(
        trial, "determinism", first, again, 0.0,
        "two calls of one process agree, other calls in between.",
        "the theory answers differently when asked twice {where}. Use no randomness, and keep nothing between calls.",
    )  # fmt: skip
    processes = _compared(
        trial, "processes", first, elsewhere, 0.0,
        "two processes agree.",
        "the theory answers differently in another process {where}. Use no randomness, time or addresses.",
    )  # fmt: skip
    good = f"{n_points} draws taken together equal "
    good += (
        f"the same draws in {len(groups)} groups." if trial.walks else "each of them taken alone."
    )
    broadcasting = _compared(
        trial, "broadcasting", first, apart, TOLERANCE,
        good if broadcasts else "runs one draw at a time, because it cannot take draws together: slow.",
        "draws taken together differ from draws taken one at a time {where}. "
        "Combine arrays along the first axis only by broadcasting.",
    )  # fmt: skip
    return [twice, processes, broadcasting]


def _separate_units(trial: _TestedTheory) -> list[TheoryCheck]:
    """A trial (a person, for a theory that learns) alone is answered as among the others."""
    units = [
        (sheet, unit)
        for sheet in trial.sheets
        for unit in range(sheet.order.shape[0] if trial.walks else len(sheet.stimuli))
    ]
    with trial.asking(trial.sheets) as ask:
        together = ask(trial.points)
    with trial.asking([sheet.take(unit, walks=trial.walks) for sheet, unit in units]) as ask:
        alone = ask(trial.points)
    joined, start = [], 0
    for answer, sheet in zip(together, trial.sheets, strict=True):
        end = start + (sheet.order.shape[0] if trial.walks else answer.shape[1])
        joined.append(np.concatenate(alone[start:end], axis=1))
        start = end
    return [
        _compared(
            trial, "independence", together, joined, TOLERANCE,
            f"{len(units)} {'sequences' if trial.walks else 'trials'} taken alone are answered as among the others.",
            "a person's answers depend on the other people asked with them {where}. Keep axis 1 apart."
            if trial.walks
            else "the answer to a trial depends on the other trials asked with it {where}. "
            "Look at one trial at a time: use no maximum, mean or count over the first axis of `trials`.",
        )
    ]  # fmt: skip


def _study_size(trial: _TestedTheory) -> list[TheoryCheck]:
    """As many people and trials as the study has: twice in one process, and some of them alone in another."""
    sheet = trial.at_study_size
    if sheet is None:
        return []
    n_units = sheet.order.shape[0] if trial.walks else len(sheet.stimuli)
    units = np.sort(trial.rng.permutation(n_units)[:N_SEQUENCES])
    points = at_fractions(
        trial.theory.priors, trial.rng.random((N_DRAWS, len(trial.theory.priors)))
    )
    with trial.asking([sheet], walks_apart=False) as ask:
        first, again = ask(points), ask(points)
    one = {name: values[-1:] for name, values in points.items()}
    with trial.asking([sheet.take(int(unit), walks=trial.walks) for unit in units]) as ask:
        alone = np.concatenate(ask(one), axis=1)
    n_steps = sheet.order.shape[1] if trial.walks else 1
    rows = (units[:, None] * n_steps + np.arange(n_steps)).ravel()
    among = first[0][-1:, rows]
    some = (
        replace(sheet, stimuli=sheet.stimuli.take(units))
        if not trial.walks
        else replace(sheet, order=sheet.order[units])
    )
    memory = _compared(
        trial, "memory", first, again, 0.0,
        f"asked about {n_units} {'people' if trial.walks else 'trials'} twice, one process says the same.",
        "the theory answers differently when the same people are gone through twice in one process {where}. "
        "Keep nothing between calls: what was learned belongs into the state.",
        [sheet], points,
    )  # fmt: skip
    size = _compared(
        trial, "size", [among], [alone], TOLERANCE,
        f"among {n_units} {'people' if trial.walks else 'trials'} each is answered about as alone.",
        f"among {n_units} {'people' if trial.walks else 'trials'} the theory answers otherwise than alone {{where}}. "
        "Look at one person, and without memory at one trial, at a time.",
        [some], one,
    )  # fmt: skip
    return [memory, size]


def _table(trial: _TestedTheory) -> list[TheoryCheck]:
    """Whether the source holds a table, and whether answers hang on the last digits of a trial as a table's do."""
    size = table_size(trial.theory.program.source)
    checks = [
        TheoryCheck(
            "table",
            size <= MOST_NUMBERS,
            size,
            MOST_NUMBERS,
            f"its functions hold {size} numbers."
            + (
                ""
                if size <= MOST_NUMBERS
                else " That is a table, not a rule; say what people do in fewer numbers."
            ),
            error="" if size <= MOST_NUMBERS else "TheorySourceError",
        )
    ]
    domain, stimuli = trial.domain, trial.candidates
    if stimuli is None or trial.walks or not isinstance(domain, HasMeasures):
        return checks
    sets = [
        stimuli,
        *(
            _scaled(stimuli, domain.measured, 1 + sign * nudge)
            for nudge in NUDGES
            for sign in (1, -1)
        ),
    ]
    points = at_fractions(trial.theory.priors, trial.rng.random((4, len(trial.theory.priors))))
    with trial.asking([replace(trial.sheets[-1], stimuli=item) for item in sets]) as ask:
        exact, *beside = ask(points)
    # A limit lies on one side of a trial and a tie breaks by chance; what a table holds stands apart from all sides.
    apart = (
        np.min([np.abs(item - exact).max(axis=-1) for item in beside], axis=0).max(axis=0) > JUMP
    )
    alike = np.ptp(np.stack(beside), axis=0).max(axis=(0, -1)) < JUMP
    jumping = np.flatnonzero(apart & alike)
    passed = len(jumping) <= MOST_JUMPS * len(stimuli)
    words = f"{len(jumping)} of {len(stimuli)} trials of the study are answered otherwise when their last digits change"
    if len(jumping):
        words += f"; the first is {domain.describe(stimuli, int(jumping[0]))}"
    words += (
        "."
        if passed
        else ". The theory knows these trials by heart; say what people do with any trial."
    )
    checks.append(
        TheoryCheck(
            "digits",
            passed,
            float(len(jumping)),
            MOST_JUMPS * len(stimuli),
            words,
            error="" if passed else "TheoryProbabilityError",
        )
    )
    return checks


def table_size(source: str) -> int:
    """How many numbers of two digits could be hidden in what a source writes down outside its declarations."""
    tree = parse(source)
    own = [
        node
        for node in tree.body
        if getattr(getattr(node, "targets", [None])[0], "id", "") not in DECLARED
    ]
    nodes = [item for node in own for item in ast.walk(node)]
    docstrings = {id(item.value) for item in nodes if isinstance(item, ast.Expr)}
    names = {
        getattr(item.slice, "value", None) for item in nodes if isinstance(item, ast.Subscript)
    }
    short = [item for item in nodes if isinstance(item, ast.Dict) and len(item.keys) <= LONGEST_ROW]
    names |= {getattr(key, "value", None) for item in short for key in item.keys}
    names |= set(read_program(TheoryProgram(source, "")).priors)
    rows = [item for item in nodes if isinstance(item, ast.List | ast.Tuple | ast.Set | ast.Dict)]
    long = [
        item
        for item in rows
        if len(getattr(item, "elts", getattr(item, "values", ()))) > LONGEST_ROW
    ]
    listed = {id(item) for row in long for item in ast.walk(row)}
    size = 0
    for item in nodes:
        if not isinstance(item, ast.Constant) or id(item) in docstrings:
            continue
        if isinstance(item.value, int | float | complex) and not isinstance(item.value, bool):
            size += max(int(id(item) in listed), len(significant_digits(item.value)) // 2)
        elif isinstance(item.value, str | bytes) and (
            item.value not in names or len(item.value) > LONGEST_WORD
        ):
            size += len(item.value) // 2
    return size


def significant_digits(number: object) -> str:
    """The digits of a number that carry something: of 0.0250 and of 2500000 "25"."""
    text = hex(number) if isinstance(number, int) else repr(number).split("e")[0]
    return "".join(character for character in text.removeprefix("0x") if character.isalnum()).strip(
        "0"
    )


def _scaled(stimuli: Stimuli, names: Sequence[str], factor: float) -> Stimuli:
    """Trials whose measured attributes are all multiplied by nearly 1, so that ties stay ties."""
    return Stimuli({
        name: np.asarray(array, dtype=np.float64) * factor if name in names else array
        for name, array in stimuli.arrays.items()
    })  # fmt: skip


def _order(trial: _TestedTheory) -> list[TheoryCheck]:
    """No dependence on the order of trials unless the theory declares one by ``learn``."""
    if trial.walks:
        return [_memory(trial)]
    orders = [trial.rng.permutation(len(sheet.stimuli)) for sheet in trial.sheets]
    orders = [order[::-1] if (order == np.arange(len(order))).all() else order for order in orders]
    mixed = [
        replace(sheet, stimuli=sheet.stimuli.take(order))
        for sheet, order in zip(trial.sheets, orders, strict=True)
    ]
    with trial.asking(trial.sheets) as ask:
        straight = ask(trial.points)
    with trial.asking(mixed) as ask:
        back = [
            answer[:, np.argsort(order)]
            for answer, order in zip(ask(trial.points), orders, strict=True)
        ]
    return [
        _compared(
            trial, "order", straight, back, TOLERANCE,
            "the order of the trials does not matter.",
            "probabilities depend on the order of the trials {where}. "
            "A theory without `learn` may look at one trial at a time only.",
        )
    ]  # fmt: skip


def _memory(trial: _TestedTheory) -> TheoryCheck:
    """Whether what was answered before changes anything; a theory without ``learn`` has nothing to change it with."""
    if not trial.theory.learns:
        return TheoryCheck(
            "order", True, 0.0, None, "it has no `learn`, and sees one step at a time."
        )
    others = []
    for sheet in trial.sheets:
        last = trial.domain.n_options(sheet.stimuli) - 1
        done = _answered(trial.domain, sheet.stimuli, sheet.order, last - sheet.done.response)
        others.append(replace(sheet, done=done))
    with trial.asking(trial.sheets) as ask:
        told = ask(trial.points)
    with trial.asking(others) as ask:
        told_otherwise = ask(trial.points)
    change = max(float(np.abs(a - b).max()) for a, b in zip(told, told_otherwise, strict=True))
    if change > DEAD:
        words = f"it declares memory by `learn`: other answers before change a probability by up to {change:.3g}."
    else:
        words = "it has `learn`, but other answers before change nothing; leave `start` and `learn` out."
    return TheoryCheck("order", change > DEAD, change, None, words, required=False)


def _choices(trial: _TestedTheory) -> list[TheoryCheck]:
    """Simulated choices agree with the probabilities that the theory states for them when it is told of them."""
    priors = trial.theory.priors
    points = at_fractions(priors, trial.rng.random((64, len(priors))))
    observed, probability = [], []
    with trial.asking(trial.sheets) as acting, trial.asking(trial.sheets) as stating:
        for response, stated in _acted_and_stated(trial, acting, stating, points):
            # One option of each choice, in turn, so that the tested events are not tied to one another.
            focal = np.arange(response.size).reshape(response.shape) % stated.shape[-1]
            observed.append((response == focal).ravel())
            probability.append(np.take_along_axis(stated, focal[..., None], axis=-1).ravel())
    y, p = np.concatenate(observed).astype(np.float64), np.concatenate(probability)
    value, n_groups, impossible = choice_test(y, p)
    passed = value >= FALSE_ALARM_RATE and not impossible
    if passed:
        words = (
            f"{len(y)} simulated choices agree with the stated probabilities (chi-square in {n_groups} groups of equal "
            f"probability, p = {value:.3g})."
        )
    elif impossible:
        words = (
            f"{impossible} of {len(y)} simulated choices have the stated probability 0 (or their opposite has); "
            "state the same probabilities whether the theory acts or is told what was done."
        )
    else:
        words = (
            f"{len(y)} simulated choices contradict the stated probabilities (chi-square in {n_groups} groups, "
            f"p = {value:.3g}; a faultless theory falls below the limit once in {1 / FALSE_ALARM_RATE:.0g} times)."
        )
    return [
        TheoryCheck(
            "choices",
            passed,
            value,
            FALSE_ALARM_RATE,
            words,
            error="" if passed else "TheoryProbabilityError",
        )
    ]


def _acted_and_stated(
    trial: _TestedTheory, acting: _TheoryAsker, stating: _TheoryAsker, points: Mapping[str, Array]
) -> Iterator[tuple[NDArray[np.int64], Array]]:
    """For each sheet simulated choices, and the probabilities of every option that another process states for them."""
    if trial.walks:
        for sheet in trial.sheets:
            did = simulate(
                acting.session(sheet), trial.domain, points, sheet.stimuli, sheet.order, trial.rng
            )
            yield did.response, stating.replay(points, sheet, did)
        return
    for acted, stated in zip(acting(points), stating(points), strict=True):
        limits = np.cumsum(acted, axis=-1)[..., :-1]
        yield (trial.rng.random(acted.shape[:-1])[..., None] > limits).sum(axis=-1), stated


def choice_test(observed: Array, probability: Array, n_groups: int = 10) -> tuple[float, int, int]:
    """Whether events occur as often as their stated probabilities say.

    Events are grouped by probability; in each group the surplus over what is expected is squared and divided by its
    variance, and the sum is held against the chi-square distribution. Each event may depend on those before it, as
    long as its probability is stated given them.

    Args:
        observed: ``(n_events,)`` 1 where the event occurred, else 0.
        probability: ``(n_events,)`` stated before it.
        n_groups: At most; groups whose count has a variance below 5 join the next.

    Returns:
        The p-value, the number of groups, and how many events contradict a probability of 0 or 1.
    """
    impossible = int(
        (((probability <= 0) & (observed == 1)) | ((probability >= 1) & (observed == 0))).sum()
    )
    order = np.argsort(probability, kind="stable")
    surplus = np.cumsum((observed - probability)[order])
    variance = np.cumsum((probability * (1 - probability))[order])
    total = float(variance[-1]) if len(variance) else 0.0
    groups = int(min(n_groups, total // 5))
    if groups < 1:
        return 1.0, 0, impossible
    ends = np.searchsorted(variance, total * np.arange(1, groups + 1) / groups * (1 - 1e-12))
    ends[-1] = len(variance) - 1
    z_squared = np.diff(surplus[ends], prepend=0.0) ** 2 / np.diff(variance[ends], prepend=0.0)
    return float(chi2.sf(z_squared.sum(), groups)), groups, impossible


def _cost(trial: _TestedTheory) -> list[TheoryCheck]:
    """Processor time per draw-trial and wall time to start; what takes longer than a call may take is refused."""
    n_draws, n_trials = TIMED
    sheet = max(
        trial.sheets, key=lambda item: sum(array[0].size for array in item.stimuli.arrays.values())
    )
    if (
        not trial.domain.sequential
    ):  # a schedule is walked as it is; others are as long as an experiment
        stimuli = sheet.stimuli.take(np.arange(n_trials) % len(sheet.stimuli))
        order = np.arange(n_trials)[None]
        done = _answered(trial.domain, stimuli, order, np.zeros((1, 1, n_trials), dtype=np.int64))
        sheet = _TrialSheet(sheet.name, stimuli, order, done)
    priors = trial.theory.priors
    points = at_fractions(priors, trial.rng.random((n_draws, len(priors))))
    starts = []
    one = {name: values[:1] for name, values in points.items()}
    for _ in range(3):
        begin = time.perf_counter()
        with trial.asking([sheet]) as ask:
            ask(one)
            starts.append(time.perf_counter() - begin)
    used = []
    with trial.asking([sheet]) as ask:
        answers = ask(points)
        for _ in range(2):
            before = ask.processor_seconds
            ask(points)
            used.append(ask.processor_seconds - before)
    n_answers = answers[0].shape[0] * answers[0].shape[1]
    per_million = min(used) / n_answers * 1e6
    limit = trial.sandbox.limits.cpu_seconds / (512 * n_trials) * 1e6
    passed = per_million <= limit
    words = f"{per_million:.3g} s of processor time per million draw-trials."
    if not passed:
        words += (
            f" That is more than {limit:.3g}, with which 512 draws on an experiment of 100 trials would run into the "
            "time limit. Compute with whole arrays instead of loops."
        )
    start = min(starts)
    return [
        TheoryCheck(
            "cost", passed, per_million, limit, words, error="" if passed else "TheoryTimeoutError"
        ),
        TheoryCheck(
            "start", True, start, None, f"{1000 * start:.3g} ms from text to a first answer."
        ),
    ]


def _sensitivity(trial: _TestedTheory) -> list[TheoryCheck]:
    """Which parameters change nothing anywhere, and which rows nothing changes."""
    priors = trial.theory.priors
    if not priors:
        return [TheoryCheck("parameters", True, 0.0, None, "it declares no parameters.")]
    n, levels = len(priors), np.linspace(0.0, 1.0, 9)
    bases = np.concatenate([np.full((1, n), 0.5), trial.rng.random((7, n))])
    swept = np.tile(bases[None, :, None], (n, 1, len(levels), 1))
    for column in range(n):
        swept[column, :, :, column] = levels
    with trial.asking(trial.sheets) as ask:
        answers = ask(at_fractions(priors, swept.reshape(-1, n)))
    reach = np.zeros(n)
    still, n_rows, example = 0, 0, ""
    for answer, sheet in zip(answers, trial.sheets, strict=True):
        own = np.ptp(answer.reshape(*swept.shape[:3], *answer.shape[1:]), axis=2).max(axis=(1, 3))
        reach = np.maximum(reach, own.max(axis=1))
        fixed = np.flatnonzero(np.ptp(answer, axis=0).max(axis=-1) <= DEAD)
        still, n_rows = still + len(fixed), n_rows + answer.shape[1]
        if len(fixed) and not example:
            example = trial.where(sheet, int(fixed[0]))
    dead = [name for name, most in zip(priors, reach, strict=True) if most <= DEAD]
    words = "most by which each moves a probability over its range: " + (
        ", ".join(f"{name} {most:.3g}" for name, most in zip(priors, reach, strict=True)) + "."
    )
    if dead:
        words += f" Nothing anywhere depends on {', '.join(dead)}; declare only what is used."
    unit = "steps" if trial.walks else "trials"
    moving = f"{still} of {n_rows} {unit} are answered alike whatever the parameters" + (
        f"; the first is {example}." if still else "."
    )
    return [
        TheoryCheck("parameters", not dead, float(reach.min()), DEAD, words, required=False),
        TheoryCheck("trials", still < n_rows, float(still), float(n_rows), moving, required=False),
    ]


def _claim(trial: _TestedTheory) -> list[TheoryCheck]:
    """The predictions that the source states, tried on its code."""
    report = check_claim(
        trial.theory,
        trial.domain,
        trial.sandbox,
        candidates=trial.candidates,
        seed=int(trial.rng.integers(2**31)),
    )
    found = [
        TheoryCheck("claim", item.held, max(map(abs, item.change)), None, item.sentence,
              error="" if item.held else "ClaimContradictedError")
        for item in report.tried
    ]  # fmt: skip
    return found or [
        TheoryCheck(
            "claim", True, None, None, "it states no PREDICTIONS that could be tried on its code."
        )
    ]


def _clauses(trial: _TestedTheory) -> list[TheoryCheck]:
    """What the account says at the learned numbers, clause by clause, tried on the code.

    One that no trial here can test is noted and refuses nothing.
    """
    foreign = _foreign_clauses(trial.theory, trial.domain)
    if foreign:
        return [TheoryCheck("clause", False, None, None, foreign, error="ClaimContradictedError")]
    return [
        TheoryCheck("clause", item.held, item.size, None, item.sentence, required=not item.idle,
              error="" if item.held else "ClaimContradictedError")
        for item in _tried_clauses(trial, trial.theory.account().clauses)
    ]  # fmt: skip


def _foreign_clauses(theory: Theory, domain: Domain) -> str:
    """What is wrong with the clauses of a theory that says that the grammar composed it; empty if nothing is."""
    if theory.composition is None:
        return ""
    try:
        family = find_family(domain)
    except GrammarError:
        return ""
    priors = {name: prior.to_literal() for name, prior in theory.priors.items()}
    try:
        own = family.grammar.clauses(composition_of(theory.composition, priors), labels=False)
    except GrammarError as error:
        return f"COMPOSITION is none of the grammar's: {error} Leave it out of a theory that the grammar did not write."
    stated = [replace(clause, label="", opposite_label="") for clause in theory.clauses]
    wrong = next((a.says for a, b in zip_longest(stated, own, fillvalue=NO_CLAUSE) if a != b), None)
    if wrong is None:
        return ""
    return (
        f"CLAUSES are not those of the mechanisms that COMPOSITION names; the first that differs says {wrong!r}. "
        "Leave COMPOSITION out of a theory that the grammar did not write."
    )


def _tried_clauses(trial: _TestedTheory, clauses: Sequence[ToldClause]) -> list[TriedClause]:
    """Clauses tried on the code, which need not be those of the theory's own account."""
    tried = triable(clauses)
    if not tried:
        return []
    priors = trial.theory.priors
    people = trial.theory.population(N_PEOPLE)
    groups = [people, *(without(people, clause, priors) for clause in tried)]
    points = {name: np.concatenate([group[name] for group in groups]) for name in people}
    with trial.asking(trial.sheets) as ask:
        answers = [
            answer.reshape(len(groups), N_PEOPLE, *answer.shape[1:]) for answer in ask(points)
        ]
    asked = [_asked(trial, sheet) for sheet in trial.sheets]
    directed = not any(clause.wording.turns for clause in clauses)
    found = []
    for number, clause in enumerate(tried, start=1):
        side = on_its_side(people, clause)
        changes = [(answer[0] - answer[number])[side].mean(axis=0) for answer in answers]
        found.append(try_clause(clause, changes, asked, directed=directed))
    return found


def _asked(trial: _TestedTheory, sheet: _TrialSheet) -> AskedTrials:
    """What clauses may speak of, for each row of a sheet."""
    features = trial.domain.features(sheet.stimuli)
    if not trial.walks:
        return AskedTrials(features, np.full(len(sheet.stimuli), -1))
    before = np.concatenate(
        [np.full((len(sheet.order), 1), -1), sheet.done.response[0, :, :-1]], axis=1
    )
    return AskedTrials(
        {name: values[sheet.order].ravel() for name, values in features.items()}, before.ravel()
    )


def check_clauses(
    theory: Theory,
    domain: Domain,
    sandbox: Sandbox,
    *,
    clauses: Sequence[ToldClause] | None = None,
    candidates: Stimuli | None = None,
    seed: int = 0,
) -> list[TriedClause]:
    """Try clauses on a theory's code: its own, or those of another account.

    Args:
        theory, domain, sandbox, candidates, seed: As in `check_theory`.
        clauses: Instead of the theory's own account at its declared distributions.
    """
    trial = _TestedTheory(theory, domain, sandbox, domain.probes, candidates, seed)
    return _tried_clauses(trial, theory.account().clauses if clauses is None else clauses)


ExamStep = Callable[[_TestedTheory], list[TheoryCheck]]
"""A part of the exam."""
NEEDED: tuple[ExamStep, ...] = (_same_answers, _order)
"""What a theory must prove to be asked anything; the sandbox refuses answers that are no probabilities."""
EVERYTHING: tuple[ExamStep, ...] = (
    _probabilities,
    _same_answers,
    _separate_units,
    _study_size,
    _table,
    _order,
    _choices,
    _cost,
    _sensitivity,
    _claim,
    _clauses,
)
"""What it must prove to enter."""
CHEAT_STEPS: tuple[ExamStep, ...] = (_study_size, _table)
"""Those of them that look for cheats."""


def _compared(
    trial: _TestedTheory,
    name: str,
    first: Sequence[Array],
    second: Sequence[Array],
    limit: float,
    good: str,
    bad: str,
    sheets: Sequence[_TrialSheet] = (),
    points: Mapping[str, Array] | None = None,
) -> TheoryCheck:
    """The largest difference between two answers to the same questions, and where it is if it is too large."""
    gaps = [np.abs(a - b).max(axis=-1) for a, b in zip(first, second, strict=True)]
    for gap, sheet, a, b in zip(gaps, sheets or trial.sheets, first, second, strict=True):
        if gap.max() > limit:
            draw, row = (int(place) for place in np.unravel_index(int(gap.argmax()), gap.shape))
            option = int(np.abs(a[draw, row] - b[draw, row]).argmax())
            where = (
                f"on {trial.where(sheet, row)}, {trial.draw(draw, points)}: {a[draw, row, option]:.6g} "
                f"and {b[draw, row, option]:.6g}"
            )
            worst = max(float(item.max()) for item in gaps)
            return TheoryCheck(
                name, False, worst, limit, bad.format(where=where), error="TheoryProbabilityError"
            )
    return TheoryCheck(name, True, max(float(gap.max()) for gap in gaps), limit, good)
