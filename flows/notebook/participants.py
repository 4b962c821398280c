"""Each participant's parameters as a table, a figure and files: `lakatos theory fit --each`."""

from __future__ import annotations

import html
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from lakatos.experiments.errors import TrialsError
from lakatos.flows.notebook.answers import PeoplesAnswers, frame_of
from lakatos.flows.notebook.fitted import FittedTheory
from lakatos.theories.engine.laboratory import Laboratory
from lakatos.theories.findings.participant_estimate import (
    ParticipantEstimates,
    SimulatedResponses,
    estimate_participants,
    recover_parameters,
    simulate_participants,
)
from lakatos.theories.language.theory import Theory, read_program

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


@dataclass(frozen=True, repr=False)
class FittedParticipants(FittedTheory):
    """A theory with its population, and with the parameters of each participant. Made by ``fit(..., each=True)``.

    ``participants`` has a row for each participant. Columns:

    - ``participant``: the name in the file; ``experiment`` where there are several; ``responses``, their number;
      ``log_likelihood`` of the most likely values, in nats.
    - For each parameter, in its own unit: ``NAME_ml``, the most likely value of the participant alone (maximum
      likelihood within the declared range); ``NAME_shrunken``, the mode given the estimated population (empirical
      Bayes, or MAP); ``NAME_mean``, the posterior mean under that population, taken on the parameter's scale;
      ``NAME_low`` and ``NAME_high``, the middle 95% of that posterior.
    - ``flags``: parameters whose most likely value is at the limit of its range, or of which responses say next to
      nothing (flat).

    Report ``_mean`` with its interval. Use ``_ml`` where estimates of participants must not depend on one another, as
    in a regression on a predictor: shrinkage pulls groups together; better still, use `effects`.

    ``recovery`` has a row for each parameter where it was asked for, else None: correlation and bias of most likely
    values and of means of simulated participants, and the share of intervals that hold the truth.
    """

    participants: pd.DataFrame = field(default_factory=pd.DataFrame)
    """A row for each participant."""
    recovery: pd.DataFrame | None = None
    """A row for each parameter: correlation and bias of estimates of simulated participants, on its scale."""

    def to_frame(self) -> pd.DataFrame:
        """The table `participants`; `recovery` is a table of its own."""
        return self.participants

    @property
    def text(self) -> str:
        """Its name, its claim, the table, and the recovery where it was asked for."""
        told = [self.headline, self.participants.to_string(index=False)]
        if self.recovery is not None:
            told += ["recovery:", self.recovery.to_string(index=False)]
        return "\n".join(told)

    def _repr_html_(self) -> str:
        tables = [self.participants, *([] if self.recovery is None else [self.recovery])]
        shown = "".join(table.to_html(index=False) for table in tables)
        return f"<p>{html.escape(self.headline)}</p>{shown}"

    def plot(self) -> Figure:
        """Draw each participant's posterior mean with its middle 95%, and the most likely value, by parameter."""
        import matplotlib as mpl
        from matplotlib.figure import Figure

        from lakatos.flows.report.plot_style import MUTED, SERIES, SETTINGS

        settings: Any = SETTINGS
        table = self.participants
        names = [name for name in self.theory.priors if f"{name}_mean" in table]
        with mpl.rc_context(settings):
            figure = Figure(
                figsize=(2.6 * len(names) + 0.6, 1.2 + 0.11 * len(table)), layout="constrained"
            )
            panels = figure.subplots(1, len(names), squeeze=False)[0]
            for axes, name in zip(panels, names, strict=True):
                order = table.sort_values(f"{name}_mean")
                place = np.arange(len(order))
                axes.hlines(place, order[f"{name}_low"], order[f"{name}_high"], color=MUTED, lw=1)
                axes.plot(order[f"{name}_mean"], place, "o", ms=3, color=SERIES[0])
                axes.plot(order[f"{name}_ml"], place, "x", ms=3, color=SERIES[1])
                if self.theory.priors[name].is_log:
                    _log_axis(axes)
                axes.set_yticks([])
                axes.set_xlabel(name)
            panels[0].set_ylabel("participants, sorted")
            figure.suptitle(f"{self.name}: posterior means, middle 95%; x: most likely", fontsize=9)
        return figure


def _log_axis(axes: Axes) -> None:
    """A logarithmic axis with a few plain numbers as labels."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    axes.set_xscale("log")
    low, high = axes.get_xlim()
    n_decades = np.log10(high / low)
    subs = (1.0, 2.0, 5.0) if n_decades < 2 else (1.0,)
    axes.xaxis.set_major_locator(LogLocator(subs=subs, numticks=4))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axes.xaxis.set_minor_formatter(NullFormatter())


def fit_participants(
    theory: Theory, answers: PeoplesAnswers, *, recovery: bool, simulate: Path | None
) -> FittedParticipants:
    """Estimate each participant's parameters; recover those of simulated participants; simulate responses.

    Args:
        theory: With its population.
        answers: Whose participants can be told apart.
        recovery: Whether parameters of simulated participants with the same trials are estimated too.
        simulate: File for responses of simulated participants with the same trials.
    """
    if any(item.pooled for item in answers.trials):
        raise TrialsError("these are counts of answers, which do not say who gave them.")
    form = read_program(theory.program)
    told, notes = None, list(answers.notes)
    with Laboratory(answers.domain, 1) as laboratory:
        found = estimate_participants(form, answers.trials, laboratory)
        if recovery or simulate is not None:
            rng = np.random.default_rng(0)
            simulated = simulate_participants(theory, answers.trials, laboratory, rng)
            notes += simulated.notes
            if simulate is not None:
                write_responses(simulate, simulated, answers)
                truth = parameters_beside(simulate)
                notes.append(
                    f"responses of simulated participants are in {simulate}, their true parameters in {truth}"
                )
            if recovery:
                recovered = recover_parameters(simulated, theory, laboratory)
                told = pd.DataFrame([vars(item) for item in recovered])
    table = _table(found, answers)
    return FittedParticipants(theory, answers.domain, tuple(notes), table, told)


def _table(found: ParticipantEstimates, answers: PeoplesAnswers) -> pd.DataFrame:
    names = [
        name for place in range(len(answers.trials)) for name in participants_of(answers, place)
    ]
    columns: dict[str, Any] = {"participant": names}
    if len(answers.trials) > 1:
        columns["experiment"] = [
            item.experiment for item in answers.trials for _ in range(item.n_participants)
        ]
    columns["responses"] = found.most_likely.n_choices.astype(int)
    columns["log_likelihood"] = found.most_likely.log_likelihood
    posteriors = found.posteriors
    for k, scale in enumerate(posteriors.scales):
        columns[f"{scale.name}_ml"] = found.most_likely.parameters[scale.name]
        columns[f"{scale.name}_shrunken"] = scale.to_unit(posteriors.mode[:, k])
        columns[f"{scale.name}_mean"] = scale.to_unit(posteriors.mean[:, k])
        columns[f"{scale.name}_low"] = scale.to_unit(posteriors.interval[0, :, k])
        columns[f"{scale.name}_high"] = scale.to_unit(posteriors.interval[1, :, k])
    columns["flags"] = found.flags()
    return pd.DataFrame(columns)


def participants_of(answers: PeoplesAnswers, place: int) -> list[str]:
    """What the participants of an experiment are called in the file; their numbers where it is not known."""
    item = answers.trials[place]
    said = answers.beside[place] if answers.beside else {}
    if not said:
        return [str(number) for number in range(item.n_participants)]
    names = next(iter(said.values()))
    first = np.unique(item.participant, return_index=True)[1]
    return [str(names[row]) for row in first]


def write_responses(file: Path, simulated: SimulatedResponses, answers: PeoplesAnswers) -> None:
    """Write simulated responses as a table, and the true parameters of each participant into a file beside it."""
    tables = [frame_of(item, answers.domain) for item in simulated.trials]
    for table in tables:
        table["trial"] = table.groupby("participant").cumcount() + 1
    people = pd.DataFrame(
        {
            "experiment": [
                item.experiment for item in simulated.trials for _ in range(item.n_participants)
            ],
            "participant": [
                number for item in simulated.trials for number in range(item.n_participants)
            ],
            **simulated.parameters,
        }
    )
    file.parent.mkdir(parents=True, exist_ok=True)
    pd.concat(tables, ignore_index=True).drop(columns="count").to_csv(file, index=False)
    people.to_csv(parameters_beside(file), index=False)


def parameters_beside(file: Path) -> Path:
    """The file of the true parameters of simulated participants whose responses a file holds."""
    return file.with_stem(f"{file.stem}_parameters")
