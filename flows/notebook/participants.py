"""Each participant's parameters as a table, a figure and files: `lakatos theory fit --each`."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from lakatos.experiments.errors import TrialsError
from lakatos.experiments.interval import half_width
from lakatos.experiments.task import Trials
from lakatos.flows.notebook.answers import PeoplesAnswers
from lakatos.flows.notebook.effects import response_columns
from lakatos.flows.notebook.fitted import FittedTheory, n_people_of
from lakatos.flows.notebook.simulated_file import table_of_simulated
from lakatos.theories.engine.laboratory import Laboratory
from lakatos.theories.engine.scoring.score import LEAST_OF_INTERVAL
from lakatos.theories.findings.differences.parameter_effect import (
    EXPERIMENT,
    N_RESPONSES,
    PERSON,
    ParameterEffects,
    ResponseColumns,
    divide_into_cells,
    find_effects,
    formula_of,
    values_are_categories,
)
from lakatos.theories.findings.participant_estimate import (
    ParticipantEstimates,
    SimulatedResponses,
    estimate_participants,
    recover_parameters,
    simulate_participants,
)
from lakatos.theories.language.theory import Theory, read_program
from lakatos.traces.artifact import write_whole

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Array = NDArray[np.float64]
OWN_COLUMNS = ("participant", "experiment", "responses", "log_likelihood", "bic", "flags")
"""Columns of the table of participants, beside those of parameters."""


@dataclass(frozen=True, repr=False)
class FittedParticipants(FittedTheory):
    """A theory with its population, and with the parameters of each participant. Returned by ``fit(..., each=True)``.

    ``participants`` has a row for each participant, or with ``by`` for each participant in each condition. Columns:

    - ``participant``: the name in the file; ``experiment`` if there are several; attributes in the file;
      the conditions of ``by``; ``responses``, the number of responses.
    - ``log_likelihood`` of the most likely values, in nats, and ``bic``, the Bayesian information criterion.
    - For each parameter, in its own unit: ``NAME_ml``, the most likely value of the participant alone (maximum
      likelihood within the declared range); ``NAME_shrunken``, the mode given the estimated population (empirical
      Bayes, or MAP); ``NAME_mean``, the posterior mean, taken on the parameter's scale; ``NAME_low`` and ``NAME_high``,
      the middle 95% of that posterior, which allows for the uncertainty of the population. They are NaN where fewer
      than 40 effective draws represent a participant.
    - ``flags``: parameters that responses hardly inform (not identified), or whose most likely value is at the limit
      of its range; few effective draws; for a participant without a readable response, the reason (excluded).

    Report ``_mean`` with its interval. Use ``_ml`` where estimates of participants must not depend on one another, as
    in a regression on a predictor: shrinkage pulls groups together; better still, use `effects`.

    ``recovery`` has a row for each parameter (None if it was not requested): correlation and bias of most likely values
    and of means of simulated participants, and the share of intervals that contain the true value.
    """

    participants: pd.DataFrame = field(default_factory=pd.DataFrame)
    """A row for each participant."""
    recovery: pd.DataFrame | None = None
    """A row for each parameter: correlation and bias of estimates of simulated participants, on its scale. With
    conditions, rows for each of them follow."""

    def to_frame(self) -> pd.DataFrame:
        """Return the table `participants`; `recovery` is a separate table."""
        return self.participants

    @property
    def sentence(self) -> str:
        """The name, the claim, and the mean BIC of participants, which is often used to compare theories."""
        bic = self.participants["bic"].dropna()
        mean = f"Mean BIC {bic.mean():.1f}"
        if len(bic) >= LEAST_OF_INTERVAL:
            reach = half_width(len(bic) - 1) * bic.std() / np.sqrt(len(bic))
            mean += f" (95% interval {bic.mean() - reach:.1f} to {bic.mean() + reach:.1f})"
        return f"{super().headline} {mean}, lower is better."

    @property
    def headline(self) -> str:
        """Text beside the table: the sentence, and the recovery if it was requested."""
        if self.recovery is None:
            return self.sentence
        return f"{self.sentence}\nrecovery:\n{self.recovery.round(3).to_string(index=False)}"

    @property
    def text(self) -> str:
        """The name, the claim, the recovery if it was requested, and the table."""
        return f"{self.headline}\n{self.participants.to_string(index=False)}"

    def _repr_html_(self) -> str:
        tables = [self.participants, *([] if self.recovery is None else [self.recovery])]
        shown = "".join(table.to_html(index=False) for table in tables)
        return f"<p>{html.escape(self.sentence)}</p>{shown}"

    def plot(self) -> Figure:
        """Draw each participant's posterior mean with its middle 95%, and the most likely value, by parameter."""
        import matplotlib as mpl
        from matplotlib.figure import Figure

        from lakatos.flows.report.plot_style import MUTED, SERIES, SETTINGS

        settings: Any = SETTINGS
        table = self.participants[self.participants["responses"] > 0]
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


@dataclass(frozen=True)
class _Cells:
    """Cells of responses with separate parameters: each participant, or each participant in each condition."""

    trials: tuple[Trials, ...]
    """Responses, with cells in the place of participants."""
    about: pd.DataFrame
    """A row for each cell: the participant, and the attributes of the cell."""
    conditions: Mapping[str, NDArray[np.bool_]]
    """Cells of each condition, by its name: ``(n_cells,)`` true for each of them."""
    beside: ResponseColumns | None = None
    """Columns that define conditions; None without conditions."""


def fit_participants(
    theory: Theory,
    answers: PeoplesAnswers,
    *,
    recovery: bool,
    simulate: Path | None,
    by: Sequence[str] = (),
) -> FittedParticipants:
    """Estimate each participant's parameters; recover those of simulated participants; simulate responses.

    Args:
        theory: A theory with its population.
        answers: Responses of identified participants.
        recovery: Whether parameters of simulated participants with the same trials are estimated too.
        simulate: File for responses of simulated participants with the same trials.
        by: Columns of conditions and groups, which have separate estimates and different simulated participants.
    """
    if any(item.pooled for item in answers.trials):
        raise TrialsError("these are counts of responses, which do not identify participants.")
    form = read_program(theory.program)
    estimates, notes = None, list(answers.notes)
    cells = _cells_of(theory, answers, by)
    with Laboratory(answers.domain, 1) as laboratory:
        found = estimate_participants(form, cells.trials, laboratory)
        if few := int((~found.posteriors.has_interval).sum()):
            notes.append(
                f"few effective draws for {few} of {len(cells.about)} rows: their means and intervals are left empty; "
                "the most likely values (_ml) are not affected"
            )
        if recovery or simulate is not None:
            rng = np.random.default_rng(0)
            values = []
            if cells.beside is not None:
                fitted = find_effects(
                    form, answers.trials, cells.beside, formula_of(by, cells.beside), laboratory, n_exchanges=0
                )  # fmt: skip
                values = _values_of_cells(theory, fitted, cells, rng)
                notes.append(
                    f"parameters of simulated participants differ by {' and '.join(by)} as they are estimated to do"
                )
            simulated = simulate_participants(theory, cells.trials, laboratory, rng, values)
            notes += simulated.notes
            if simulate is not None:
                notes.append(write_responses(simulate, simulated, answers, cells.about))
            if recovery:
                recovered = recover_parameters(simulated, theory, laboratory, cells.conditions)
                estimates = pd.DataFrame([vars(item) for item in recovered])
                if not cells.conditions:
                    estimates = estimates.drop(columns="among")
    table = _table(found, cells.about, answers)
    n_people = n_people_of(answers)
    return FittedParticipants(theory, answers.domain, tuple(notes), n_people, table, estimates)


def _cells_of(theory: Theory, answers: PeoplesAnswers, by: Sequence[str]) -> _Cells:
    """Cells of participants, or of participants in conditions, with their attributes."""
    if by:
        return _cells_by(theory, answers, by)
    parts = []
    for place, item in enumerate(answers.trials):
        part = pd.DataFrame({"participant": participants_of(answers, place)})
        if len(answers.trials) > 1:
            part["experiment"] = item.experiment
        known = answers.people[place] if answers.people else {}
        parts.append(part.assign(**{_free(part, name): list(own) for name, own in known.items()}))
    return _Cells(answers.trials, pd.concat(parts, ignore_index=True), {})


def _cells_by(theory: Theory, answers: PeoplesAnswers, by: Sequence[str]) -> _Cells:
    """Cells of participants in the conditions of some columns.

    Raises:
        TrialsError: There is no such column; or the theory learns, so that conditions share its state.
    """
    beside = response_columns(answers, by)
    divided = divide_into_cells(answers.trials, beside, by)
    if divided.within and (theory.learns or answers.domain.sequential):
        raise TrialsError(
            f"{' and '.join(sorted(divided.within))} varies within participants, and {theory.name} learns from trial "
            "to trial, so that its conditions cannot be fitted apart. `lakatos theory effects` estimates effects of "
            "conditions on such a theory."
        )
    frame = divided.frame
    missing = frame[list(by)].isna().any(axis=1)
    if missing.any():
        raise TrialsError(
            f"{int(frame[N_RESPONSES][missing].sum())} responses have no {' or '.join(by)}; leave their rows out with "
            "--column where.COLUMN=CELL (where in participants.columns)."
        )
    trials = tuple(
        replace(item, participant=own, attributes={}, n_people=int(own.max()) + 1)
        for item, own in zip(answers.trials, divided.cells, strict=True)
    )
    about = pd.DataFrame({"participant": frame[PERSON]})
    if len(answers.trials) > 1:
        about["experiment"] = [answers.trials[place].experiment for place in frame[EXPERIMENT]]
    about = about.assign(**{_free(about, name): frame[name].astype(object) for name in by})
    levels = frame[[name for name in by if values_are_categories(frame[name])]]
    words = levels.astype(str).agg(", ".join, axis=1) if len(levels.columns) else pd.Series()
    conditions = {word: (words == word).to_numpy() for word in sorted(words.unique())}
    return _Cells(trials, about, conditions, beside)


def _free(table: pd.DataFrame, name: str) -> str:
    """A name for a column that a table does not have yet."""
    return name if name not in (*table.columns, *OWN_COLUMNS) else f"{name}_of_file"


def _values_of_cells(
    theory: Theory, fitted: ParameterEffects, cells: _Cells, rng: np.random.Generator
) -> list[dict[str, Array]]:
    """Parameters of simulated participants in each condition, by experiment, drawn from the estimated regression.

    A value is the sum of the regression's prediction and random deviations of the participant and of the cell.
    """
    person = pd.factorize(cells.about["participant"])[0]
    values = {}
    for name, prior in theory.priors.items():
        values[name] = np.full(len(person), float(prior.quantile(np.array([0.5]))[0]))
    for k, scale in enumerate(fitted.posteriors.scales):
        apart = rng.normal(0.0, fitted.between_sd[scale.name], person.max() + 1)[person]
        apart += rng.normal(0.0, fitted.within_sd[scale.name], len(person))
        own = np.clip(fitted.fitted[:, k] + apart, scale.low, scale.high)
        ends = scale.to_unit(np.array([scale.low, scale.high]))
        values[scale.name] = np.clip(scale.to_unit(own), *ends)
    edges = np.cumsum([item.n_participants for item in cells.trials])[:-1]
    parts = {name: np.split(own, edges) for name, own in values.items()}
    return [{name: own[place] for name, own in parts.items()} for place in range(len(cells.trials))]


def _table(
    found: ParticipantEstimates, about: pd.DataFrame, answers: PeoplesAnswers
) -> pd.DataFrame:
    columns: dict[str, Any] = dict(about)
    columns["responses"] = found.most_likely.n_choices.astype(int)
    columns["log_likelihood"] = found.most_likely.log_likelihood
    columns["bic"] = found.most_likely.bic
    posteriors = found.posteriors
    for k, scale in enumerate(posteriors.scales):
        columns[f"{scale.name}_ml"] = found.most_likely.parameters[scale.name]
        columns[f"{scale.name}_shrunken"] = scale.to_unit(posteriors.mode[:, k])
        mean = np.where(posteriors.has_interval, posteriors.mean[:, k], np.nan)
        columns[f"{scale.name}_mean"] = scale.to_unit(mean)
        columns[f"{scale.name}_low"] = scale.to_unit(posteriors.interval[0, :, k])
        columns[f"{scale.name}_high"] = scale.to_unit(posteriors.interval[1, :, k])
    columns["flags"] = found.flags()
    table = pd.DataFrame(columns)
    if not answers.excluded:
        return table
    excluded = pd.DataFrame(
        {
            "participant": list(answers.excluded),
            "responses": 0,
            "flags": [f"excluded: {reason}" for reason in answers.excluded.values()],
        }
    )
    return pd.concat([table, excluded], ignore_index=True)


def participants_of(answers: PeoplesAnswers, place: int) -> list[str]:
    """Names of the participants of an experiment in the file; their numbers if the names are unknown."""
    item = answers.trials[place]
    file_cells = answers.beside[place] if answers.beside else {}
    if not file_cells:
        return [str(number) for number in range(item.n_participants)]
    names = next(iter(file_cells.values()))
    first = np.unique(item.participant, return_index=True)[1]
    return [str(names[row]) for row in first]


def write_responses(
    file: Path, simulated: SimulatedResponses, answers: PeoplesAnswers, about: pd.DataFrame
) -> str:
    """Write simulated responses as a table, and true parameters into a file beside it; return a sentence about both.

    Args:
        file: File to write.
        simulated: Simulated responses in the rows of ``answers``.
        answers: Responses of the participants.
        about: A row of attributes for each participant, or for each participant in each condition.
    """
    own = [
        replace(new, participant=item.participant, n_people=item.n_people)
        for new, item in zip(simulated.trials, answers.trials, strict=True)
    ]
    table = table_of_simulated(own, answers)
    truth = parameters_beside(file)
    write_whole(file, table.frame.to_csv(index=False).encode())
    write_whole(truth, about.assign(**simulated.parameters).to_csv(index=False).encode())
    how = (
        "in the columns of the participants' own file, of which all but the response and what follows from it are as "
        "they were"
        if table.is_like_the_file
        else "with what was shown in columns of numbers, and not in the columns of the participants' own file"
    )
    return f"responses of simulated participants are in {file}, {how}; their true parameters are in {truth}"


def parameters_beside(file: Path) -> Path:
    """The file of true parameters that belongs to a file of simulated responses."""
    return file.with_stem(f"{file.stem}_parameters")
