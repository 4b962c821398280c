"""The laboratory's verbs: each binds a function of the package of its science to its arguments, results and effects."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from lakatos.language_models.errors import ToolError
from lakatos.memory.plan import Call
from lakatos.memory.recall import RecallArguments, Recalled, recall
from lakatos.memory.tools import TOOLS
from lakatos.memory.verb import BoundVerb, LaboratoryVerb
from lakatos.theories.discovery import bench
from lakatos.theories.discovery.bench import TheoryBench

SIMULATE: Final = LaboratoryVerb(
    "simulate",
    "Simulates people who follow a theory through the trials of a design; gives a digest that names their "
    "answers and can be used as an experiment.",
    bench.simulate,
    bench.SimulateArguments,
    bench.Simulated,
    frozenset({"reads", "computes"}),
)
COMPARE_PREDICTIONS: Final = LaboratoryVerb(
    "compare_predictions",
    "Says how far apart the choice proportions of two or more theories are on the trials of a design, and on "
    "which trial most.",
    bench.compare_predictions,
    bench.CompareArguments,
    bench.Compared,
    frozenset({"reads", "computes"}),
)
SCORE: Final = LaboratoryVerb(
    "score",
    "Scores theories on experiments: nats per choice of the answers given, best first, with paired "
    "differences to the best.",
    bench.score,
    bench.ScoreArguments,
    bench.Scored,
    frozenset({"reads", "computes"}),
)
SEARCH_DESIGN: Final = LaboratoryVerb(
    "search_design",
    "Searches trials whose answers are expected to say most about which of two or more theories is right; "
    "gives a digest that names the design. It registers and asks nothing.",
    bench.search_design,
    bench.SearchArguments,
    bench.Searched,
    frozenset({"reads", "computes"}),
)
RECOVER: Final = LaboratoryVerb(
    "recover",
    "Says by simulation with which power a design recovers each theory against each other one.",
    bench.recover,
    bench.RecoverArguments,
    bench.Recovered,
    frozenset({"reads", "computes"}),
)
ANALYSE_RESIDUALS: Final = LaboratoryVerb(
    "analyse_residuals",
    "Says which properties of trials, people or order a theory gets wrong in experiments, with calibrated "
    "confidence and what a correction would gain.",
    bench.analyse_residuals,
    bench.ExamineArguments,
    bench.Misfits,
    frozenset({"reads", "computes"}),
)
CHECK_PREDICTIONS: Final = LaboratoryVerb(
    "check_predictions",
    "Compares statistics of experiments' answers with those of data sets simulated by a theory; the most "
    "surprising first, not adjusted for their number.",
    bench.check_predictions,
    bench.ExamineArguments,
    bench.Checks,
    frozenset({"reads", "computes"}),
)
RECALL: Final = LaboratoryVerb(
    "recall",
    "Recalls what was learned in situations like this one: at most a few plans, facts and pitfalls, each with "
    "the records behind it.",
    recall,
    RecallArguments,
    Recalled,
    frozenset({"reads"}),
)


def tools_on(workbench: TheoryBench, memory: Any) -> tuple[BoundVerb, ...]:
    """All verbs, bound: those of theories to a workbench, `recall` to what recalls (`memory.recall.Recall`)."""
    return tuple(verb.on(memory if verb.name == "recall" else workbench) for verb in TOOLS.values())


def caller_on(workbench: TheoryBench, memory: Any) -> Call:
    """Makes calls of the verbs, for validation and for plans that are followed without a model."""

    def call(name: str, arguments: Mapping[str, Any]) -> Any:
        if name not in TOOLS:
            raise ToolError(f"there is no tool {name[:80]!r}; there are: {', '.join(TOOLS)}.")
        return TOOLS[name].run(memory if name == "recall" else workbench, arguments)

    return call
