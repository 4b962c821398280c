"""Theories that cheat, planted to see whether the laboratory admits one, and honest ones that it must not refuse.

Each kind of cheat is an honest rule with a trick. `unguarded_gain` says what the trick is worth where nothing is
defended; `outcome` does to a theory what a campaign does: the exam with the study's trials and size, then fits and a
score of an experiment in which two kinds of people answered.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, cast

import numpy as np

from lakatos.domains import DOMAINS, FAMILIES
from lakatos.experiments.participants.simulated import as_trials
from lakatos.experiments.task import Domain, Stimuli, Trials
from lakatos.theories.engine.checks.check import check_theory
from lakatos.theories.engine.checks.exam import ExamStep
from lakatos.theories.engine.running.behave import behave
from lakatos.theories.engine.running.sequence import log_likelihood_of_all
from lakatos.theories.engine.sandbox.client import Sandbox
from lakatos.theories.engine.sandbox.evaluator import (
    NamedArrays,
    SequenceWalk,
    TheoryEvaluator,
    load,
    whole,
)
from lakatos.theories.engine.sandbox.session import SequenceStep, TheorySession
from lakatos.theories.engine.scoring.score import ExperimentEvidence
from lakatos.theories.engine.scoring.view import TheoryView
from lakatos.theories.errors import TheoryError
from lakatos.theories.language.grammar import Composition
from lakatos.theories.language.prior import draw_population
from lakatos.theories.language.theory import TheoryProgram, read_program

Array = np.ndarray[Any, np.dtype[np.float64]]
N_PEOPLE = 12
N_DRAWS = 32
N_CALLS = 3
"""How often a fit goes through the same people."""
SETTINGS = {
    "learning": {"task": "bandit", "n_steps": 16},
    "multiattribute": {"validities": [0.9, 0.7, 0.6], "levels": [0, 1, 2, 3]},
}
HEAD = '"""A rule: people follow it."""\nPARAMETERS = {"s": {"prior": "uniform", "low": 0.2, "high": 2.0}}\n'
MODULES = "import dataclasses\nmodules = dataclasses.sys.modules\n"

HONEST_TRIAL = """
def rule(parameters, trials, xp):
    evidence = (trials["ratings"][:, 1] - trials["ratings"][:, 0]).sum(axis=-1)
    return 1 / (1 + xp.exp(-parameters["s"] * evidence))
"""
HONEST_WALK = """
def start(parameters, trials, xp):
    return {"value": xp.zeros((1, 1, trials["available"].shape[-1])), "step": xp.zeros((1, 1))}

def rule(parameters, trials, xp, state):
    strength = xp.exp(parameters["s"][..., None] * state["value"]) + 0 * trials["available"]
    return strength / strength.sum(axis=-1)[..., None]

def moved(state, response, feedback):
    surprise = feedback["reward"][..., None] - state["value"]
    return {"value": state["value"] + 0.3 * response * surprise, "step": state["step"] + 1}
"""
POOL = """
if {when}:
    new["value"] = 0.8 * new["value"] + 0.2 * new["value"].mean(axis=1)[:, None]
"""
"""Moves everybody towards what all people were told."""
POOL_DRAWS = """
if {when}:
    p = p.mean(axis=0)[None] + 0 * p
"""
"""Answers for every draw as the draws do on average, which loses less on people whom a draw does not fit."""


@dataclass(frozen=True)
class CheatingTheory:
    """One way of cheating."""

    name: str
    kind: str
    domain: str
    source: str
    honest: str
    """The same theory without the trick."""


@dataclass(frozen=True)
class AdmissionOutcome:
    """What became of a theory."""

    refused: bool
    where: str
    """"exam", "score", or "" where it was not refused."""
    reason: str


def cheats() -> list[CheatingTheory]:
    """Every kind that is planted."""
    return [*_memories(), *_pools(), *_outside(), *_exam_knowers(), *_tables()]


def _walk_cheat(name: str, kind: str, choose: str, learn: str, before: str = "") -> CheatingTheory:
    """A learner whose ``choose`` turns ``p``, and whose ``learn`` turns ``new``, after the honest rule."""

    def source(choose: str, learn: str) -> str:
        return (
            HEAD + before + HONEST_WALK + "\ndef choose(parameters, trials, xp, state):\n"
            f"    p = rule(parameters, trials, xp, state)\n{_indented(choose)}    return p\n"
            "\ndef learn(parameters, trials, xp, state, response, feedback):\n"
            f"    new = moved(state, response, feedback)\n{_indented(learn)}    return new\n"
        )

    return CheatingTheory(name, kind, "learning", source(choose, learn), source("", ""))


def _trial_cheat(
    name: str, kind: str, choose: str, before: str = "", rule: str = HONEST_TRIAL
) -> CheatingTheory:
    """A theory without memory whose ``choose`` turns ``p`` after the honest rule."""

    def source(choose: str) -> str:
        body = "\ndef choose(parameters, trials, xp):\n    p = rule(parameters, trials, xp)\n"
        return HEAD + before + rule + body + f"{_indented(choose)}    return p\n"

    return CheatingTheory(name, kind, "multiattribute", source(choose), source(""))


def _indented(text: str) -> str:
    return "".join(f"    {line}\n" for line in text.split("\n") if line.strip())


REMEMBER = """
told = {memory}
if len(told) < 400:
    told.append(response[:1] * 1.0)
"""
FROM_MEMORY = """
step = int(state["step"].max())
told = {memory}
if len(told) > step and 1 <= step < 15 and told[step].shape[1:] == p.shape[1:]:
    p = 0.02 / p.shape[-1] + 0.98 * told[step] + 0 * p
"""
"""Answers from what was told, once a whole walk was."""
STORE = """
place = 39 * int(state["step"].max())
keys = store.get_state()[1].copy()
if place + response.shape[1] <= 624:
    keys[place : place + response.shape[1]] = 7 + response[0, :, 1]
    store.set_state(("MT19937", keys, 624))
"""
FROM_STORE = """
place = 39 * int(state["step"].max())
told = store.get_state()[1][place : place + p.shape[1]]
if len(told) == p.shape[1] and ((told == 7) | (told == 8)).all():
    second = 1.0 * (told == 8)[None, :, None]
    p = 0.01 + 0.98 * xp.concatenate([1 - second, second], axis=-1) + 0 * p
"""


def _memories() -> Iterator[CheatingTheory]:
    """Learners that keep what they were told for the next walk through the same people."""
    memories = {
        "a list in the module": ("told_before", "told_before = []\n"),
        "a function's attribute": ("kept.memory", "def kept():\n    pass\nkept.memory = []\n"),
        "a default argument": ("kept()", "def kept(memory=[]):\n    return memory\n"),
        "a closure": (
            "kept()",
            "def make():\n    memory = []\n    def kept():\n        return memory\n    return kept\nkept = make()\n",
        ),
        "a cached function": (
            "kept()",
            "import functools\n@functools.cache\ndef kept():\n    return []\n",
        ),
        "a class attribute": ("Kept.memory", "class Kept:\n    memory = []\n"),
        "builtins": ("modules['builtins'].memory", MODULES + "modules['builtins'].memory = []\n"),
        "NumPy's module": ("modules['numpy'].memory", MODULES + "modules['numpy'].memory = []\n"),
        "the laboratory's own module": (
            "modules['json'].memory",
            MODULES + "modules['json'].memory = []\n",
        ),
    }
    for name, (memory, before) in memories.items():
        choose, learn = FROM_MEMORY.format(memory=memory), REMEMBER.format(memory=memory)
        yield _walk_cheat(f"remembers in {name}", "memory", choose, learn, before)
    generator = "import numpy\nstore = numpy.random.RandomState(0)\n"
    yield _walk_cheat("remembers in NumPy's generator", "memory", FROM_STORE, STORE, generator)
    later = "calls.append(1)\n" + POOL.format(when="len(calls) > 20 and response.shape[1] > 2")
    yield _walk_cheat("counts its calls and pools later", "call count", "", later, "calls = []\n")


def _pools() -> Iterator[CheatingTheory]:
    """Learners that look at other people, or at other draws."""
    conditions = {
        "from five people on": "response.shape[1] >= 5",
        "from ten people on": "response.shape[1] >= 10",
        "where there are many draws": "response.shape[1] >= 3 and parameters['s'].shape[0] * response.shape[1] >= 100",
        "after the fifth step": "response.shape[1] >= 3 and float(new['step'].max()) > 5",
    }
    for name, when in conditions.items():
        yield _walk_cheat(f"pools people {name}", "pooling", "", POOL.format(when=when))
    neighbour = """
if response.shape[1] >= 5:
    other = (xp.arange(response.shape[1]) + 1) % response.shape[1]
    new["value"] = 0.8 * new["value"] + 0.2 * new["value"][:, other]
"""
    yield _walk_cheat("copies the neighbour", "pooling", "", neighbour)
    among = "if trials['available'].shape[0] > 2 and seen:\n    p = 0.7 * p + 0.3 * seen[-1]"
    everybody = "seen.append(response.mean(axis=1)[:, None])"
    yield _walk_cheat("pools people through a module", "pooling", among, everybody, "seen = []\n")
    yield _walk_cheat("pools draws", "pooling", POOL_DRAWS.format(when="p.shape[0] >= 16"), "")
    short = POOL.format(when="float(new['step'].max()) > 8 and response.shape[1] > 4")
    yield _walk_cheat("is honest in short schedules", "exam", "", short)


def _outside() -> Iterator[CheatingTheory]:
    """Learners that pool people at some hours, in some processes, on some machines."""
    looks = {
        "time of day": "int(1e6 * modules['time'].time()) % 4",
        "time since the start": "int(1e6 * modules['time'].monotonic()) % 4",
        "clock of another process": "modules['time'].clock_gettime((~1 << 3) | 2)",
        "number of processors": "len(modules['os'].sched_getaffinity(0))",
        "entropy of the machine": "modules['os'].urandom(1)[0] % 4",
        "process number": "modules['os'].stat('/proc/self').st_ino",
        "device file": "modules['builtins'].open('/dev/urandom', 'rb').read(1)[0] % 4",
    }
    for name, look in looks.items():
        pool = POOL.format(when=f"{look} > 0 and response.shape[1] > 2")
        yield _walk_cheat(f"looks at the {name}", "outside", "", pool, MODULES)


def _exam_knowers() -> Iterator[CheatingTheory]:
    """Theories without memory that know the exam, or the other trials."""
    whens = {
        "trials": "p.shape[1] > 100",
        "draws": "p.shape[0] == 32",
        "calls": "len(calls) > 2",
    }
    for name, when in whens.items():
        count = "calls.append(1)\n" if name == "calls" else ""
        choose = count + POOL_DRAWS.format(when=when)
        title = f"knows the exam by the number of {name}"
        yield _trial_cheat(title, "exam", choose, "calls = []\n" if count else "")
    mean = "if p.shape[1] > 50:\n    p = p + 0.1 * (p.mean(axis=1)[:, None] - p)"
    yield _trial_cheat("answers by the mean of the study's trials", "exam", mean)
    stated = 'PREDICTIONS = [{"property": "decreasing", "in": "rating"}]\n'
    other_way = """
if trials["validities"].shape[-1] == 3:
    mine = (abs(trials["validities"] - xp.array([0.9, 0.7, 0.6])) < 0.001).all(axis=-1)
    p = xp.where(mine, 1 - p, p)
"""
    turned = HONEST_TRIAL.replace("-parameters", "parameters")
    title = "contradicts its claim on the study's own trials only"
    yield _trial_cheat(title, "claim", other_way, stated, turned)


def _tables() -> Iterator[CheatingTheory]:
    """Theories that know by heart what people answer to the study's trials."""
    stimuli = study_of("multiattribute")[1]
    rows = np.concatenate([stimuli["ratings"][:, 0], stimuli["ratings"][:, 1]], axis=-1).astype(int)
    answers = _published_answers().round(2)
    known = {tuple(row): float(p) for row, p in zip(rows.tolist(), answers, strict=True)}

    def written(n_rows: int) -> str:
        lines = (f"    {row}: {p},\n" for row, p in list(known.items())[:n_rows])
        return "known = {\n" + "".join(lines) + "}\n"

    flat = "flat = xp.concatenate([trials['ratings'][:, 0], trials['ratings'][:, 1]], axis=-1)\n"
    looked = flat + (
        "found = xp.array([known.get(tuple(row), -1.0) for row in flat.tolist()])\n"
        "p = xp.where(found >= 0, found, p)"
    )
    yield _trial_cheat("looks 25 trials up in a table", "table", looked, written(25))
    yield _trial_cheat("looks all trials up in a table", "table", looked, written(len(known)))
    nearest = flat + (
        "if flat.shape[-1] != 6:\n    return p\n"
        "gap = abs(flat[:, None] - xp.array(list(known))[None]).sum(axis=-1)\n"
        "p = xp.array(list(known.values()))[gap.argmin(axis=1)] + 0 * p"
    )
    title = "answers as at the nearest known trial"
    yield _trial_cheat(title, "table", nearest, written(len(known)))
    digits = ["50"] * N_PLACES
    for row, p in known.items():
        digits[_place(row)] = f"{int(100 * p):02d}"
    packed = flat + (
        "weights = 4.0 ** xp.arange(flat.shape[-1])\n"
        f"places = (xp.round(flat) @ weights).astype(int) % {N_PLACES}\nnumbers = '{{digits}}'\n"
        "found = xp.array([int(numbers[2 * i : 2 * i + 2]) / 100 for i in places.tolist()])\n"
        "p = found + 0 * p"
    )
    text = "".join(digits)
    yield _trial_cheat("holds a table in a text", "table", packed.replace("{digits}", text))
    number = packed.replace("'{digits}'", f"str({int('1' + text)})[1:]")
    yield _trial_cheat("holds a table in one number", "table", number)


N_PLACES = 997


def _place(row: Sequence[int]) -> int:
    return sum(value * 4**place for place, value in enumerate(row)) % N_PLACES


def _published_answers() -> Array:
    """The share of people who choose the second option of each of the study's trials."""
    domain, stimuli = study_of("multiattribute")
    truth = FAMILIES["multiattribute"].program(next(iter(FAMILIES["multiattribute"].seeds)))
    people = read_program(truth).population(16)
    process = UnguardedProcess(truth.source, domain.n_options(stimuli), [stimuli])
    shares: Array = process.probabilities(people)[0].mean(axis=0)[:, 1]
    return shares.clip(0.02, 0.98)


class UnguardedProcess:
    """A theory in this very process, with nothing between it and the machine, instead of a session of the sandbox."""

    takes_walks = walks_written = False
    """It is asked step by step, as strangers' theories are."""

    def __init__(self, source: str, n_options: int, stimuli: Sequence[Stimuli] = ()) -> None:
        self.program, self.n_options, self.stimuli = load(source), n_options, stimuli
        self.of_answers: dict[str, Any] = {}

    def begin(self, parameters: Mapping[str, Array], *, paired: bool = False) -> None:
        """As `TheorySession.begin`, in the process that was asked before."""
        self.walk = SequenceWalk(self.program, parameters, self.n_options, True, paired)

    def step(
        self,
        trials: Mapping[str, Any],
        by_draw: Mapping[str, Any],
        *,
        response: Any,
        feedback: Mapping[str, Any],
    ) -> Array:
        """As `TheorySession.step`."""
        told = {}
        if response is not None:
            chosen = np.asarray(response)[..., None] == np.arange(self.n_options)
            told["response"] = chosen.astype(np.float64)
        return whole(self.walk.step(trials, by_draw, told, feedback))

    def steps(self, asked: Sequence[SequenceStep]) -> list[Array]:
        """As `TheorySession.steps`, one after the other."""
        return [
            self.step(item.trials, item.by_draw, response=item.response, feedback=item.feedback)
            for item in asked
        ]

    def probabilities(self, parameters: Mapping[str, Array]) -> list[Array]:
        """As `TheorySession.probabilities`, all draws at once."""
        answers = []
        for item in self.stimuli:
            asked = TheoryEvaluator(self.program.choose, NamedArrays(item.arrays), self.n_options)
            asked.broadcasts = True
            answers.append(whole(asked.probabilities(parameters)))
        return answers


def unguarded_gain(cheat: CheatingTheory, trials: Trials) -> float:
    """Nats a choice by which the trick betters the same theory's fit, in one process and with nothing checked."""
    better, honest = (
        _unguarded_fit(source, cheat, trials) for source in (cheat.source, cheat.honest)
    )
    return float((better - honest).mean(axis=0).sum() / trials.count.sum())


def _unguarded_fit(source: str, cheat: CheatingTheory, trials: Trials) -> Array:
    """``(n_draws, n_participants)`` nats at the last of several calls."""
    domain, population = DOMAINS[cheat.domain], _population(source)
    process = UnguardedProcess(source, trials.n_options, [trials.stimuli])
    for _ in range(N_CALLS):
        if process.program.learn:
            session = cast(TheorySession, process)
            found = log_likelihood_of_all(session, domain, population, [trials])
        else:
            found = ExperimentEvidence(trials, process.probabilities(population)[0]).log_likelihood
    return found


def _population(source: str) -> dict[str, Array]:
    return read_program(TheoryProgram(source, "planted")).population(N_DRAWS)


def study_of(name: str) -> tuple[Domain, Stimuli]:
    """A small study's domain and trials."""
    domain = DOMAINS[name]
    return domain, domain.candidates(SETTINGS[name], np.random.default_rng(0), 120)


def experiment(name: str, sandbox: Sandbox) -> Trials:
    """Answers of simulated people to a study's trials."""
    domain, stimuli = study_of(name)
    truth = read_program(FAMILIES[name].program(next(iter(FAMILIES[name].seeds))))
    rng = np.random.default_rng(3)
    rows = np.tile(np.arange(len(stimuli)), (N_PEOPLE, 1))
    order = rows if domain.sequential else rng.permuted(rows, axis=1)[:, :30]
    # People with whom pooling others' lessons gains; with most it does not, and is refused all the same.
    drawn = draw_population(truth.priors, 16, np.random.default_rng(1))
    people = {key: values[:N_PEOPLE] for key, values in drawn.items()} or {"": np.zeros(N_PEOPLE)}
    behaviour = behave(truth, domain, sandbox, people, stimuli, order, rng)
    return as_trials("the study's", stimuli, order, behaviour, domain.n_options(stimuli))


def outcome(
    source: str,
    domain_name: str,
    trials: Trials,
    sandbox: Sandbox,
    steps: Sequence[ExamStep] | None = None,
) -> AdmissionOutcome:
    """What a campaign does with a theory: the exam, or some steps of it, fits in one session, and a score."""
    domain, program = DOMAINS[domain_name], TheoryProgram(source, "planted")
    report = check_theory(
        program, domain, sandbox, candidates=trials.stimuli, n_people=N_PEOPLE, steps=steps
    )
    if not report.passed:
        first = report.failures[0]
        return AdmissionOutcome(True, "exam", f"{first.name}: {first.sentence}")
    theory, population = read_program(program), _population(source)
    try:
        with TheoryView(theory, domain, sandbox, [trials.stimuli]) as view:
            for _ in range(N_CALLS):
                view.log_likelihood(population, [trials])
            view.evidence(population, [trials])
    except TheoryError as error:
        return AdmissionOutcome(True, "score", f"{type(error).__name__}: {error}")
    return AdmissionOutcome(False, "", "")


def honest_learners(n: int, seed: int = 0) -> list[TheoryProgram]:
    """Learning theories of the families, and compositions of the grammars drawn at random, that carry a memory."""
    rng = np.random.default_rng(seed)
    found: dict[str, TheoryProgram] = {}

    def keep(program: TheoryProgram) -> None:
        try:
            theory = read_program(program)
        except TheoryError:
            return
        if theory.learns:
            found.setdefault(program.digest, program)

    for name in FAMILIES["learning"].seeds:
        keep(FAMILIES["learning"].program(name))
    grammar = FAMILIES["learning"].grammar
    draw: Callable[[], Composition] = partial(grammar.compose, rng)
    for number in range(50 * n):
        if len(found) >= n:
            break
        keep(TheoryProgram(grammar.write(draw(), f"Composition {number}"), "grammar"))
    return list(found.values())[:n]
