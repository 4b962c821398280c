"""The laboratory's verbs on a run, as tools that a language model may call."""

from __future__ import annotations

from typing import TYPE_CHECKING

from language_models.tool import Toolbox
from memory.recall import Lexical
from memory.tools import tools_on
from theories.bench import Bench
from theories.roles.exhibit import Exhibit

if TYPE_CHECKING:
    from flows.run import Run


def bench_of(run: Run) -> Bench:
    """The run's theories and answers, as they are now; nothing that is sealed or hidden is on it."""
    return Bench(
        laboratory=run.laboratory,
        theories={digest: run.theory(digest) for digest in run.state.theories},
        answers={name: run.trials(name) for name in run.state.collected},
        shelf=run.trace.artifacts,
        space=run.config.space,
        seed=run.config.seed,
    )


def toolbox_of(run: Run) -> Toolbox:
    """The tools that the study names."""
    named = run.config.roles.tools
    return Toolbox([tool for tool in tools_on(bench_of(run), Lexical(run.state.library)) if tool.name in named])


def names_exhibit(run: Run) -> Exhibit:
    """What tools can be called on: experiments, and theories by name, or by digest where another has the same name."""
    names = [item.record.name for item in run.state.theories.values()]
    theories = [
        item.record.name if names.count(item.record.name) == 1 else digest[:12]
        for digest, item in run.state.theories.items()
    ]
    return Exhibit("names for tools", {"theories": theories, "experiments": list(run.state.collected)})
