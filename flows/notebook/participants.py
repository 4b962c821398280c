"""Each participant's parameters as a table, a figure and files: `lakatos theory fit --each`."""

from __future__ import annotations

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
    from matplotlib.figure import Figure


@dataclass(frozen=True, repr=False)
class FittedParticipants(FittedTheory):
    """A theory with its population, and with the parameters of each participant. Made by ``fit(..., each=True)``."""

    participants: pd.DataFrame = field(default_factory=pd.DataFrame)
    """A row for each participant: responses, log likelihood, and for each parameter the most likely value (``_ml``),
    the shrunken one (``_shrunken``, empirical Bayes), the posterior mean (``_mean``, taken on the parameter's scale)
    with its middle 95% (``_low``, ``_high``), in the parameter's own unit; ``flags`` says which are at the limit of
    their range, or flat."""
    recovery: pd.DataFrame | None = None
    """A row for each parameter: correlation and bias of estimates of simulated participants, on its scale."""

    def to_frame(self) -> pd.DataFrame:
        """The table `participants`, or `recovery` where that was asked for."""
        return self.participants if self.recovery is None else self.recovery

    @property
    def text(self) -> str:
        """Its name, its claim and the table."""
        return f"{self.headline}\n{self.to_frame().to_string(index=False)}"

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
                    axes.set_xscale("log")
                axes.set_yticks([])
                axes.set_xlabel(name)
            panels[0].set_ylabel("participants, in order of their mean")
            figure.suptitle(f"{self.name}: posterior means, middle 95%; x: most likely", fontsize=9)
        return figure


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
                notes.append(f"responses of simulated participants are in {simulate}")
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
    people.to_csv(file.with_stem(f"{file.stem}_parameters"), index=False)
