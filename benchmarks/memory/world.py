"""A small world with verbs of its own, to make plans in: theories are words, a score is their length."""

from __future__ import annotations

from pydantic import Field

from lakatos.memory.plan import Called, Plan, make_plan
from lakatos.memory.verb import LaboratoryVerb
from lakatos.theories.discovery.bench import BenchArguments, BenchResult
from lakatos.theories.errors import BenchError
from lakatos.theories.language.argument_kind import DesignName, ExperimentName, TheoryName
from lakatos.traces.digest import digest_of

READS = frozenset({"reads", "computes"})


class RankArguments(BenchArguments):
    """Of `rank`."""

    theories: tuple[TheoryName, ...] = Field(min_length=1)
    experiment: ExperimentName


class Place(BenchResult):
    """One theory."""

    theory: TheoryName
    score: int


class Ranked(BenchResult):
    """Theories, the best first."""

    lines: tuple[Place, ...]


class DrawArguments(BenchArguments):
    """Of `draw`."""

    theories: tuple[TheoryName, ...]
    n_trials: int = 4


class Drawn(BenchResult):
    """A design."""

    design: DesignName


class TryArguments(BenchArguments):
    """Of `attempt` and `publish`."""

    theory: TheoryName
    design: DesignName


class Tried(BenchResult):
    """Answers."""

    answers: ExperimentName


class DescribeArguments(BenchArguments):
    """Of `describe`."""

    theory: TheoryName
    question: str = ""


class Described(BenchResult):
    """Words."""

    text: str


class Done(BenchResult):
    """Nothing more to say."""

    done: bool


def rank(world, given):
    if given.experiment == "closed":
        raise BenchError("the experiment is closed.")
    lines = sorted(
        (Place(theory=name, score=len(name) + len(world)) for name in given.theories),
        key=str,
        reverse=True,
    )
    return Ranked(lines=tuple(lines))


def draw(world, given):
    return Drawn(design=digest_of([world, list(given.theories), given.n_trials]))


def attempt(world, given):
    return Tried(answers=digest_of([world, given.theory, given.design]))


def describe(world, given):
    return Described(text=f"{given.theory}, as seen in {world}")


def publish(world, given):
    return Done(done=True)


VERBS = {
    verb.name: verb
    for verb in (
        LaboratoryVerb("rank", "Ranks.", rank, RankArguments, Ranked, READS),
        LaboratoryVerb("draw", "Draws.", draw, DrawArguments, Drawn, READS),
        LaboratoryVerb("attempt", "Tries.", attempt, TryArguments, Tried, READS),
        LaboratoryVerb("describe", "Describes.", describe, DescribeArguments, Described, READS),
        LaboratoryVerb("publish", "Publishes.", publish, TryArguments, Done, frozenset({"writes"})),
    )
}


def caller(world="world"):
    return lambda name, arguments: VERBS[name].run(world, arguments)


def plan_of(*calls, study="one", world="world", situation="design rivals", domain="risky") -> Plan:
    """The plan behind calls that are made now; a text after "<" is looked up in an earlier result: "<1.design"."""
    made: list[Called] = []

    def real(value):
        if isinstance(value, str) and value.startswith("<"):
            number, *place = value[1:].split(".")
            found = made[int(number)].value
            for key in place:
                found = found[int(key) if key.isdigit() else key]
            return found
        return [real(item) for item in value] if isinstance(value, list) else value

    for name, arguments in calls:
        given = {key: real(value) for key, value in arguments.items()}
        made.append(Called(name, given, VERBS[name].run(world, given)))
    return make_plan(domain, study, situation, made, VERBS, (digest_of([study, len(made)]),))


def study_of(study, first, second, n_trials=4, **others) -> Plan:
    """The plan of a study that compares two theories."""
    return plan_of(
        ("rank", {"theories": [first, second], "experiment": "first"}),
        ("draw", {"theories": [first, second], "n_trials": n_trials}),
        ("attempt", {"theory": first, "design": "<1.design"}),
        ("attempt", {"theory": second, "design": "<1.design"}),
        study=study,
        **others,
    )
