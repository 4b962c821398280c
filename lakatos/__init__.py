"""Lakatos: a laboratory in which rival theories of human behaviour compete.

From a notebook or a script, `import lakatos` is enough; each function is loaded when it is first used::

    described = lakatos.describe("responses.csv")        # meaning of the columns of a file or a data frame
    responses = lakatos.adopt("responses.csv")           # read the responses, as experiments
    lakatos.published("intertemporal")                   # published theories of a kind of task
    lakatos.score(responses)                             # log score of each theory, with intervals
    fitted = lakatos.fit(responses, "hyperbolic")        # the population distribution of its parameters
    lakatos.predict(fitted, new_trials)                  # choice proportions in new trials
    lakatos.posterior(responses, "hyperbolic")           # Bayesian inference, as an ArviZ object
    outcome = lakatos.explain("responses.csv")           # search for a theory of the responses, up to a verdict
    outcome.verdict, outcome.leaderboard, outcome.answers.frame, outcome.theory()
    lakatos.transfer(outcome.theory(), other_responses)  # score it on the responses of other participants
    lakatos.effects(responses, "hyperbolic", by="age")   # effects of an age, a group, a condition on parameters
    lakatos.run("study.toml"), lakatos.read_run("name")  # run a study; read a finished run
    lakatos.plot_verdict(outcome), lakatos.plot_predictions(outcome)  # figures on Matplotlib axes

`lakatos.TheorySearch` and `lakatos.sample` are a theorist and an experimentalist for AutoRA.

The packages lie at the top of a checkout and are imported as ``lakatos.flows``,
``lakatos.theories`` and so on: this folder holds a symbolic link to each. Where a clone has no
symbolic links (Git for Windows makes files of them by default), the packages are found beside
this folder. A wheel holds the packages themselves in their place, and claims no other name in
site-packages.
"""

from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lakatos.flows.notebook.answers import DataDescription, PeoplesAnswers, adopt, describe
    from lakatos.flows.notebook.autora import TheorySearch, sample
    from lakatos.flows.notebook.effects import EffectsOnParameters, by_group, effects, effects_of
    from lakatos.flows.notebook.fitted import FittedTheory
    from lakatos.flows.notebook.participants import FittedParticipants
    from lakatos.flows.notebook.plots import plot_effects, plot_predictions, plot_verdict
    from lakatos.flows.notebook.posterior import posterior
    from lakatos.flows.notebook.study import StudyOutcome, explain, read_run, run
    from lakatos.flows.notebook.theory import fit, predict, published, score
    from lakatos.flows.notebook.transfer import TransferComparison, transfer

__version__ = "0.1.0"
_FOLDER = Path(__file__).resolve().parent
if not (_FOLDER / "flows").is_dir():  # a clone without symbolic links
    __path__.append(str(_FOLDER.parent))
IMPORT_ROOT = _FOLDER.parent
"""The folder that holds this package: what another Python needs on its path to import it."""
_PLACES = {
    "answers": ("DataDescription", "PeoplesAnswers", "adopt", "describe"),
    "autora": ("TheorySearch", "sample"),
    "effects": ("EffectsOnParameters", "by_group", "effects", "effects_of"),
    "fitted": ("FittedTheory",),
    "participants": ("FittedParticipants",),
    "plots": ("plot_effects", "plot_predictions", "plot_verdict"),
    "posterior": ("posterior",),
    "study": ("StudyOutcome", "explain", "read_run", "run"),
    "theory": ("fit", "predict", "published", "score"),
    "transfer": ("TransferComparison", "transfer"),
}  # fmt: skip
"""Names by the module of `lakatos.flows.notebook` that has them."""
_FORMER = {
    "fit_each": "use `lakatos.fit(responses, theory, each=True)`",
    "AttributeEffects": "`lakatos.effects` returns `lakatos.EffectsOnParameters`",
    "GroupComparison": "`lakatos.effects` returns `lakatos.EffectsOnParameters`",
}
"""Former names, each with what to use instead."""
_MODULE_OF = {name: module for module, names in _PLACES.items() for name in names}
__all__ = [  # noqa: RUF022  # in the order in which people need them
    "describe", "adopt", "explain", "run", "read_run", "published", "score", "fit", "predict", "posterior",
    "transfer", "effects", "by_group", "effects_of",
    "plot_verdict", "plot_predictions", "plot_effects", "DataDescription", "PeoplesAnswers", "StudyOutcome",
    "FittedTheory", "FittedParticipants", "EffectsOnParameters", "TransferComparison", "TheorySearch", "sample",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    """Load a function when it is first used, so that a command that does not need it starts at once."""
    if name not in _MODULE_OF:
        instead = _FORMER.get(name, f"it has {', '.join(__all__)}")
        raise AttributeError(f"module 'lakatos' has no attribute {name!r}; {instead}")
    found = getattr(import_module(f"lakatos.flows.notebook.{_MODULE_OF[name]}"), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
