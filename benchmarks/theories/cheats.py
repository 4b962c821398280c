"""Theories that cheat, planted to see whether the laboratory admits one, and honest ones that it must not refuse.

Each kind of cheat is one source with a name that says how it cheats. `outcome` does to it what a campaign does: the
exam with the study's trials and size, then a score of an experiment in which two kinds of people answered.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np

from lakatos.experiments.domains import DOMAINS
from lakatos.experiments.participants.simulated import as_trials
from lakatos.experiments.task import Domain, Stimuli, Trials
from lakatos.theories.behave import behave
from lakatos.theories.check import check_theory
from lakatos.theories.errors import TheoryError
from lakatos.theories.families import FAMILIES
from lakatos.theories.grammar import Composition
from lakatos.theories.sandbox.client import Sandbox
from lakatos.theories.theory import Theory, TheoryProgram, read_program
from lakatos.theories.view import TheoryView

N_PEOPLE = 12
N_DRAWS = 32
SETTINGS = {
    "learning": {"task": "bandit", "n_steps": 16},
    "multiattribute": {"validities": [0.9, 0.7, 0.6], "levels": [0, 1, 2, 3]},
    "risky": {},
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


@dataclass(frozen=True)
class CheatingTheory:
    """One way of cheating."""

    name: str
    kind: str
    domain: str
    source: str


@dataclass(frozen=True)
class AdmissionOutcome:
    """What became of a theory."""

    refused: bool
    where: str
    """"exam", "score", or "" where it was not refused."""
    reason: str
    gained: float
    """Nats a choice beyond what the same theory gets where every person is asked alone, in new processes."""


def cheats() -> list[CheatingTheory]:
    """Every kind that is planted."""
    return [*_walking_cheats(), *_trial_cheats(), *_tables()]


def _walk_cheat(name: str, kind: str, choose: str, learn: str, before: str = "") -> CheatingTheory:
    """A learner whose ``choose`` turns ``p``, and whose ``learn`` turns ``new``, after the honest rule."""
    body = (
        "\ndef choose(parameters, trials, xp, state):\n    p = rule(parameters, trials, xp, state)\n"
        f"{_indented(choose)}    return p\n"
        "\ndef learn(parameters, trials, xp, state, response, feedback):\n    new = moved(state, response, feedback)\n"
        f"{_indented(learn)}    return new\n"
    )
    return CheatingTheory(name, kind, "learning", HEAD + before + HONEST_WALK + body)


def _trial_cheat(
    name: str, kind: str, choose: str, before: str = "", head: str = HEAD
) -> CheatingTheory:
    """A theory without memory whose ``choose`` turns ``p`` after the honest rule."""
    body = "\ndef choose(parameters, trials, xp):\n    p = rule(parameters, trials, xp)\n"
    return CheatingTheory(
        name,
        kind,
        "multiattribute",
        head + before + HONEST_TRIAL + body + f"{_indented(choose)}    return p\n",
    )


def _indented(text: str) -> str:
    return "".join(f"    {line}\n" for line in text.strip("\n").split("\n") if line.strip())


FROM_MEMORY = """
step = int(state["step"].max())
if len({memory}) > step and 1 <= step < 16 and {memory}[-1] is not None:
    p = 0.02 / p.shape[-1] + 0.98 * {memory}[step % len({memory})] + 0 * p
"""
"""Answers from what was told, once a whole walk was."""


def _walking_cheats() -> Iterator[CheatingTheory]:
    """Learners that keep what they were told, or look at others."""
    remember = "told = {memory}\nif len(told) < 400:\n    told.append(response[:1, :1] * 1.0)"
    memories = {
        "list in the module": ("told_before", "told_before = []\n"),
        "attribute of a function": ("rule.memory", ""),
        "default argument": ("kept()", "def kept(memory=[]):\n    return memory\n"),
        "closure": (
            "kept()",
            "def make():\n    memory = []\n    def kept():\n        return memory\n    return kept\nkept = make()\n",
        ),
        "cached function": (
            "kept()",
            "import functools\n@functools.cache\ndef kept():\n    return []\n",
        ),
        "class attribute": ("Kept.memory", "class Kept:\n    memory = []\n"),
        "builtins": ("modules['builtins'].memory", MODULES + "modules['builtins'].memory = []\n"),
        "numpy module": ("modules['numpy'].memory", MODULES + "modules['numpy'].memory = []\n"),
        "laboratory's own module": (
            "modules['json'].memory",
            MODULES + "modules['json'].memory = []\n",
        ),
    }
    for name, (memory, before) in memories.items():
        place = "rule.memory = []\n" if memory == "rule.memory" else ""
        cheat = _walk_cheat(
            f"remembers in a {name}",
            "memory",
            FROM_MEMORY.format(memory=memory),
            remember.format(memory=memory),
            before,
        )
        yield CheatingTheory(cheat.name, cheat.kind, cheat.domain, cheat.source + place)
    generator = "told = float(response[0, 0, 1])\nxp_state.random(1 + int(told))"
    yield _walk_cheat(
        "remembers in NumPy's generator", "memory",
        "p = 0.9 * p + 0.1 * (xp_state.random() * 1e-3 + 0.4995)", generator,
        "import numpy\nxp_state = numpy.random.RandomState(0)\n",
    )  # fmt: skip
    yield _walk_cheat(
        "counts its calls", "call count",
        "calls.append(1)\nif len(calls) > 20:\n    p = 0.5 * p + 0.25", "pass", "calls = []\n",
    )  # fmt: skip
    pools = {
        "from five people on": "response.shape[1] >= 5",
        "from ten people on": "response.shape[1] >= 10",
        "where there are many draws": "response.shape[1] >= 3 and parameters['s'].shape[0] * response.shape[1] >= 100",
        "after the fifth step": "response.shape[1] >= 3 and float(new['step'].max()) > 5",
    }
    for name, when in pools.items():
        learn = (
            f"if {when}:\n    everybody = response.mean(axis=1)[:, None]\n"
            "    new['value'] = new['value'] + everybody - 0.5"
        )
        yield _walk_cheat(f"pools people {name}", "pooling", "pass", learn)
    yield _walk_cheat(
        "copies the neighbour", "pooling", "pass",
        "if response.shape[1] >= 5:\n    new['value'] = new['value'] + 0.5 * response[:, "
        "(modules['numpy'].arange(response.shape[1]) + 1) % response.shape[1]]", MODULES,
    )  # fmt: skip
    yield _walk_cheat(
        "pools people through a module", "pooling",
        "if trials['available'].shape[0] > 2 and seen:\n    p = 0.5 * p + 0.5 * seen[-1]",
        "seen.append(response.mean(axis=1)[:, None])", "seen = []\n",
    )  # fmt: skip
    yield _walk_cheat(
        "pools draws",
        "pooling",
        "if p.shape[0] >= 16:\n    p = 0.5 * p + 0.5 * p.mean(axis=0)[None]",
        "pass",
    )
    yield _walk_cheat(
        "is honest in short schedules", "exam", "pass",
        "if float(new['step'].max()) > 13 and response.shape[1] > 4:\n"
        "    new['value'] = new['value'] + response.mean(axis=1)[:, None]",
    )  # fmt: skip


def _trial_cheats() -> Iterator[CheatingTheory]:
    """Theories without memory that know the hour, the process, the exam or the other trials."""
    clocks = {
        "time of day": "modules['time'].time()",
        "time since the start": "modules['time'].monotonic()",
        "date in NumPy": "float(xp.datetime64('now').astype(float))",
        "clock of another process": "modules['time'].clock_gettime((~1 << 3) | 2)",
        "number of processors": "len(modules['os'].sched_getaffinity(0))",
        "entropy": "modules['os'].urandom(1)[0]",
        "parent's process number": "modules['os'].stat('/proc/self').st_ino",
        "device file": "modules['builtins'].open('/dev/urandom', 'rb').read(1)[0]",
    }
    for name, clock in clocks.items():
        yield _trial_cheat(
            f"asks for the {name}", "outside", f"p = 0.9 * p + 0.1 * ({clock} % 2 > 1)", MODULES
        )
    yield _trial_cheat(
        "knows the exam by the number of trials",
        "exam",
        "if p.shape[1] > 100:\n    p = 0.5 * p + 0.25",
    )
    yield _trial_cheat(
        "knows the exam by the number of draws",
        "exam",
        "if p.shape[0] == 32:\n    p = 0.5 * p + 0.5 * p.mean(axis=0)[None]",
    )
    yield _trial_cheat(
        "answers by the mean of the study's trials",
        "exam",
        "if p.shape[1] > 50:\n    p = p + 0.1 * (p.mean(axis=1)[:, None] - p)",
    )
    yield _trial_cheat(
        "counts its calls without memory",
        "call count",
        "calls.append(1)\nif len(calls) % 7 == 6:\n    p = 0.5 * p + 0.25",
        "calls = []\n",
    )
    stated = HEAD + 'PREDICTIONS = [{"property": "increasing", "in": "rating"}]\n'
    yield _trial_cheat(
        "contradicts its claim on the study's own trials only", "claim",
        "mine = (abs(trials['validities'][:, :1] - 0.9) < 0.02).all(axis=-1) & (trials['validities'].shape[-1] == 3)\n"
        "p = xp.where(mine, 1 - p, p)",
        head=stated,
    )  # fmt: skip


def _tables() -> Iterator[CheatingTheory]:
    """Theories that know the study's trials by heart."""
    stimuli = study_of("multiattribute")[1]
    rows = np.concatenate([stimuli["ratings"][:, 0], stimuli["ratings"][:, 1]], axis=-1)
    answers = np.random.default_rng(5).uniform(0.1, 0.9, len(rows)).round(2)
    known = "".join(
        f"    {tuple(row.tolist())}: {p},\n" for row, p in zip(rows[:25], answers, strict=False)
    )
    flat = "flat = xp.concatenate([trials['ratings'][:, 0], trials['ratings'][:, 1]], axis=-1)\n"
    looked = (
        flat
        + "found = xp.array([known.get(tuple(row), -1.0) for row in flat.tolist()])\np = xp.where(found >= 0, found, p)"
    )
    yield _trial_cheat("looks 25 trials up in a table", "table", looked, f"known = {{\n{known}}}\n")
    every = "".join(
        f"    {tuple(row.tolist())}: {p},\n" for row, p in zip(rows, answers, strict=True)
    )
    yield _trial_cheat(
        "looks all trials up in a table", "table", looked, f"known = {{\n{every}}}\n"
    )
    digits = "".join(f"{int(100 * p):02d}" for p in answers) * 10
    packed = (
        flat
        + f"places = (xp.round(flat) @ (4.0 ** xp.arange(flat.shape[-1]))).astype(int)\nnumbers = '{digits}'\n"
        "found = xp.array([int(numbers[2 * (i % 200) : 2 * (i % 200) + 2]) / 100 for i in places.tolist()])\n"
        "p = found + 0 * p"
    )
    yield _trial_cheat("holds a table in a text", "table", packed)
    number = int("1" + digits)
    yield _trial_cheat(
        "holds a table in one number", "table", packed.replace(f"'{digits}'", f"str({number})")
    )
    nearest = (
        flat
        + "if flat.shape[-1] != 6:\n    return p\ngap = abs(flat[:, None] - xp.array(list(known))[None]).sum(axis=-1)\n"
        "p = xp.array(list(known.values()))[gap.argmin(axis=1)] + 0 * p"
    )
    yield _trial_cheat(
        "answers as at the nearest known trial", "table", nearest, f"known = {{\n{every}}}\n"
    )


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
    people = {key: values[:N_PEOPLE] for key, values in truth.population(16).items()}
    behaviour = behave(truth, domain, sandbox, people, stimuli, order, rng)
    return as_trials("the study's", stimuli, order, behaviour, domain.n_options(stimuli))


def outcome(source: str, domain_name: str, trials: Trials, sandbox: Sandbox) -> AdmissionOutcome:
    """What a campaign does with a theory: the exam, fits that walk several times in one session, and a score."""
    domain = DOMAINS[domain_name]
    program = TheoryProgram(source, "planted")
    report = check_theory(program, domain, sandbox, candidates=trials.stimuli, n_people=N_PEOPLE)
    if not report.passed:
        first = report.failures[0]
        return AdmissionOutcome(True, "exam", f"{first.name}: {first.sentence}", 0.0)
    theory = read_program(program)
    population = theory.population(N_DRAWS)
    try:
        with TheoryView(theory, domain, sandbox, [trials.stimuli]) as view:
            for _ in range(3):
                together = view.log_likelihood(population, [trials])
            view.evidence(population, [trials])
    except TheoryError as error:
        return AdmissionOutcome(True, "score", f"{type(error).__name__}: {error}", 0.0)
    return AdmissionOutcome(
        False, "", "", float((together - _alone(theory, domain, sandbox, trials)).sum())
    )


def _alone(theory: Theory, domain: Domain, sandbox: Sandbox, trials: Trials) -> np.ndarray:
    from lakatos.theories.alone import trials_of

    population, found = theory.population(N_DRAWS), []
    for person in range(trials.n_participants):
        with TheoryView(theory, domain, sandbox, [trials.stimuli]) as view:
            found.append(view.log_likelihood(population, [trials_of(trials, person)]))
    return np.concatenate(found, axis=1)


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
