"""Effects of conditions, groups, ages and covariates on the parameters of theories, by one regression."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import pandas as pd
from rich.table import Table

from lakatos.experiments.conditions import named_conditions
from lakatos.experiments.errors import TrialsError
from lakatos.experiments.outcomes import outcome_schedules
from lakatos.experiments.participants.file import stimulus_columns
from lakatos.experiments.task import Trials
from lakatos.flows.argument import Argument, Columns, RunsFolder, Workers
from lakatos.flows.notebook.answers import PeoplesAnswers
from lakatos.flows.notebook.asked import Answers, read_asked
from lakatos.flows.notebook.effect_figure import draw_effects, draw_people
from lakatos.flows.notebook.fitted import NamedTheories, forms_of, left_out
from lakatos.flows.report.plot_style import write_figure
from lakatos.flows.result import Result, Shown
from lakatos.flows.run.console import escape
from lakatos.theories.engine.laboratory import Laboratory
from lakatos.theories.errors import TheoryError
from lakatos.theories.findings.differences.effect_formula import (
    EXAMPLE,
    PARTICIPANT,
    EffectFormula,
    check_columns,
    in_ranges,
    read_formula,
)
from lakatos.theories.findings.differences.effect_power import (
    SIZE,
    EffectPower,
    Kind,
    power_of_effects,
)
from lakatos.theories.findings.differences.effect_words import (
    codings_of,
    effects_in_words,
    p_in_words,
)
from lakatos.theories.findings.differences.parameter_effect import (
    EXPERIMENT,
    FEWEST,
    ParameterEffect,
    ParameterEffects,
    ResponseColumns,
    check_parameters,
    divide_into_cells,
    find_effects,
    formula_of,
    values_are_categories,
)
from lakatos.theories.language.theory import Theory

if TYPE_CHECKING:
    from matplotlib.figure import Figure

LEAST_RESOLVED = 0.3
"""Share of a parameter's variance that responses resolve, below which its intervals are said to be too narrow."""
FLAT_MARK = "†"
"""Marks parameters in a table that responses hardly inform."""
SCALES = {"log": "difference in logs", "logit": "difference in log odds", "plain": "difference"}


@dataclass(frozen=True, repr=False)
class EffectsOnParameters(Result):
    """Estimated effects on parameters, as `effects` returns them."""

    formula: str
    theories: Mapping[str, ParameterEffects]
    """Estimated effects, by the name of the theory."""
    codings: tuple[str, ...]
    """Notes on the coding of predictors."""
    notes: tuple[str, ...] = ()
    figure: Path | None = None
    """File for the figures of the command."""
    n_people: int = 0
    powers: tuple[EffectPower, ...] = ()
    """Power of planned studies, if ``power`` was set."""

    def to_frame(self) -> pd.DataFrame:
        """A row for each theory, parameter and effect.

        ``estimate`` is on the parameter's ``scale``; ``change`` is the effect in the parameter's own unit for the
        median participant, from ``without`` to ``with``; ``ratio`` is a ratio of values, or of odds for shares.
        ``statistic`` decides ``p``, which allows for all parameters and all levels of a predictor, not for the number
        of predictors or theories. Intervals are 95%. With
        ``power``, the table has a row for each planned study.
        """
        if self.powers:
            return pd.DataFrame([_power_row(item) for item in self.powers])
        return pd.DataFrame(
            [_row(name, item) for name, found in self.theories.items() for item in found.effects]
        )

    @property
    def estimates(self) -> pd.DataFrame:
        """A row for each theory, participant, condition and parameter: the posterior mean with its middle 95%.

        All conditions share one population, and labels of conditions do not enter the estimates.
        """
        parts = [_estimates(name, found) for name, found in self.theories.items()]
        return pd.concat(parts, ignore_index=True)

    @property
    def verdict(self) -> str:
        """The effects that were found, in words, with their uncertainty."""
        if self.powers:
            return "; ".join(item.to_text() for item in self.powers)
        return " ".join(effects_in_words(name, found) for name, found in self.theories.items())

    @property
    def headline(self) -> str:
        """The verdict, which is printed beside a table."""
        return self.verdict

    def plot(self, theory: str = "") -> Figure:
        """Draw the effects of a theory (the first by default) with their intervals."""
        return draw_effects(self._theory(theory))

    def plot_people(self, parameter: str = "", by: str = "", theory: str = "") -> Figure:
        """Draw each participant's estimates of a parameter in each condition, joined by lines."""
        return draw_people(self._theory(theory), parameter, by)

    def _theory(self, name: str) -> ParameterEffects:
        if name and name not in self.theories:
            raise TheoryError(
                f"there is no theory {name!r} here; there is: {', '.join(self.theories)}."
            )
        return self.theories[name or next(iter(self.theories))]

    def lines(self) -> Iterator[Shown]:
        """Return the verdict, the table, and the meaning of its columns."""
        if self.powers:
            yield self._powers()
            return
        yield escape(self.verdict)
        for name, found in self.theories.items():
            yield self._table(name, found)
            yield from map(escape, flat_in_words(found))
        for coding in self.codings:
            yield escape(coding)
        several = any(found.frame[EXPERIMENT].nunique() > 1 for found in self.theories.values())
        of_one = " of an experiment" if several else ""
        yield (
            "Intervals are 95%, clustered by participant. p is from a permutation test of the estimate in standard "
            "errors of the mixed model: values of a predictor are permuted within participants if it varies within "
            f"them, otherwise between participants{of_one}. p is corrected for all parameters of a table and "
            "all levels of a predictor, not for the number of predictors or theories."
        )

    def keep(self) -> Iterator[Shown]:
        """Write the figures, if the command names a file."""
        if self.figure is None:
            return
        first = self._theory("")
        drawn = {self.figure: draw_effects(first)}
        if any(item.kind == "within" for item in first.effects):
            beside = self.figure.with_stem(f"{self.figure.stem}_people")
            drawn[beside] = draw_people(first)
        for file, figure in drawn.items():
            write_figure(figure, file)
            yield f"written: {escape(str(file))}"

    def _powers(self) -> Table:
        first = self.powers[0]
        table = Table(
            "changes", "participants", "trials in a condition", "power", "where there is no effect",
            title=escape(f"{first.theory}: power of {first.n_simulations} simulated studies each"),
        )  # fmt: skip
        for item in self.powers:
            cells = [
                f"{value:.2f} ({low:.2f} to {high:.2f})"
                for value, (low, high) in (
                    (item.power, item.interval),
                    (item.false_alarms, item.false_alarm_interval),
                )
            ]
            table.add_row(escape(item.changes), str(item.n_people), str(item.n_trials), *cells)
        return table

    def _table(self, name: str, found: ParameterEffects) -> Table:
        table = Table(title=escape(f"{name}: {found.formula.text} ({found.n_people} participants)"))
        for head in ("parameter", "effect"):
            table.add_column(head, no_wrap=True)
        for head in ("estimate (95%)", "at reference", "with effect (95%)", "p"):
            table.add_column(head)
        flat = flat_parameters(found)
        for item in found.effects:
            low, high = item.interval
            start, end = item.in_unit
            _, change_low, change_high = item.change
            table.add_row(
                escape(item.parameter + FLAT_MARK * (item.parameter in flat)),
                escape(item.label),
                f"{item.estimate:+.3g} ({low:+.3g} to {high:+.3g}) {SCALES[item.scale.kind]}",
                f"{start:.3g}",
                escape(
                    f"{end:.3g} ({start + change_low:.3g} to {start + change_high:.3g}) {item.scale.unit}"
                ).rstrip(),
                "–" if item.p is None else p_in_words(item.p).removeprefix("p ").removeprefix("= "),
            )
        return table


def flat_parameters(found: ParameterEffects) -> dict[str, float]:
    """Tested parameters that responses hardly inform, with the mean reliability of their individual estimates.

    The population's covariance is taken as known. It largely determines the values of such a parameter, so that its
    interval can be too narrow.
    """
    resolved = found.posteriors.reliability()[found.used].mean(axis=0)
    tested = {item.parameter for item in found.effects}
    return {
        scale.name: share
        for scale, share in zip(found.posteriors.scales, resolved.tolist(), strict=True)
        if scale.name in tested and share < LEAST_RESOLVED
    }


def flat_in_words(found: ParameterEffects) -> list[str]:
    """A sentence for each of the `flat_parameters`."""
    return [
        f"{FLAT_MARK} {name} is estimated poorly for single participants (reliability {share:.2f}); its intervals can "
        "be too narrow."
        for name, share in flat_parameters(found).items()
    ]


def _power_row(item: EffectPower) -> dict[str, Any]:
    (low, high), (false_low, false_high) = item.interval, item.false_alarm_interval
    return {
        "theory": item.theory,
        "parameter": item.parameter,
        "participants": item.n_people,
        "trials": item.n_trials,
        "power": item.power,
        "power_low": low,
        "power_high": high,
        "false_alarms": item.false_alarms,
        "false_alarms_low": false_low,
        "false_alarms_high": false_high,
        "studies": item.n_simulations,
    }


def _row(name: str, item: ParameterEffect) -> dict[str, Any]:
    change, change_low, change_high = item.change
    ratio = item.as_ratio or (np.nan,) * 3
    return {
        "theory": name,
        "parameter": item.parameter,
        "effect": item.label,
        "varies": item.kind,
        "scale": item.scale.kind,
        "estimate": item.estimate,
        "low": item.interval[0],
        "high": item.interval[1],
        "without": item.in_unit[0],
        "with": item.in_unit[1],
        "change": change,
        "change_low": change_low,
        "change_high": change_high,
        "unit": item.scale.unit,
        "ratio": ratio[0],
        "ratio_low": ratio[1],
        "ratio_high": ratio[2],
        "statistic": np.nan if item.statistic is None else item.statistic,
        "p": np.nan if item.p is None else item.p,
        "participants": item.n_people,
        "shown": item.is_shown,
    }


def _estimates(name: str, found: ParameterEffects) -> pd.DataFrame:
    """A row for each cell and parameter, in the parameter's own unit."""
    parts = []
    for k, scale in enumerate(found.posteriors.scales):
        low, high = found.posteriors.interval[:, found.used, k]
        parts.append(
            found.frame.assign(
                theory=name,
                parameter=scale.name,
                estimate=scale.to_unit(found.posteriors.mean[found.used, k]),
                low=scale.to_unit(low),
                high=scale.to_unit(high),
                informed=found.posteriors.reliability()[found.used, k],
            )
        )
    table = pd.concat(parts, ignore_index=True)
    first = ["theory", "parameter"]
    return table[[*first, *(column for column in table.columns if column not in first)]]


def effects(
    answers: Answers,
    theories: NamedTheories = None,
    *,
    formula: str = "",
    by: str = "",
    parameters: Annotated[Sequence[str], Argument(flag="--of")] = (),
    cuts: Annotated[Sequence[float], Argument(flag="--cut")] = (),
    prior_sd: Annotated[float | None, Argument(least=1e-3, most=10.0)] = None,
    figure: Annotated[str | os.PathLike[str] | None, Argument(kind=Path | None)] = None,
    power: bool = False,
    people: Sequence[int] = (10, 20, 40),
    trials: Annotated[Sequence[int], Argument(flag="--trials")] = (30, 60, 120),
    size: float = SIZE,
    domain: str = "",
    columns: Columns = None,
    runs: RunsFolder = "runs",
    n_workers: Workers = 1,
    seed: int = 0,
) -> EffectsOnParameters:
    """Estimate effects of conditions, groups, ages and covariates of trials on the parameters of theories.

    A predictor may vary within participants (a condition, a session, a covariate of trials), between participants (a
    group, an age), or both; this is detected. Participants differ in every parameter (random intercepts), and
    intervals allow for participants who differ in the effect (random slopes).

    Args:
        answers: A file or folder of responses, a study, a published data set, or a run by its name or path; in Python
            also a data frame, or what `adopt` returned.
        theories: Names of published theories, files, or theories of the run; by default all published theories of the
            task, or the leading theory of the run.
        formula: Regression as lme4 writes it: "loss_aversion ~ strategy + (strategy | participant)". Without a left
            side, all parameters are tested. Categories have treatment coding, C(strategy, Sum) sum coding.
        by: One column, instead of a formula; a numerical column is standardised.
        parameters: Parameters to test; those of the formula, or all, by default.
        cuts: Lower limits of ranges that divide the numerical column ``by`` into groups.
        prior_sd: Standard deviation of a normal prior of each effect, as a proportion of the parameter's range; no
            prior by default.
        figure: File for the figure of effects; estimates of each participant are written beside it.
        power: Estimate the power of planned studies instead of effects, with simulated participants of the fitted
            theory. If the file lacks outcomes of unchosen options, they are estimated (with a note), or the
            command refuses.
        people: Numbers of participants in planned studies.
        trials: Numbers of trials per participant and condition in planned studies.
        size: Effect in planned studies, in standard deviations between participants.
        domain: Kind of task, or the file that declares it; guessed from the columns by default.
        columns: Meaning of a column, with the keys of the section participants.columns of a study, as in
            participant=VP; in Python a mapping, as for `adopt`.
        runs: Folder that holds the runs.
        n_workers: Theories fitted at the same time. Does not change results.
        seed: Random seed of starting points and permutations.

    Returns:
        Effects with 95% intervals and p values; ``.to_frame()``, ``.estimates``, ``.verdict``, ``.plot()``,
        ``.plot_people()``.

    Raises:
        TrialsError: A column of the formula is missing, or can have no effect here.
        TheoryError: A theory does not run on these responses. Published ones that do not are excluded, with a warning.

    Examples:
        $ lakatos theory effects responses.csv prospect_theory --formula "loss_aversion ~ strategy"
        $ lakatos theory effects responses.csv hyperbolic --by age
        >>> lakatos.effects("responses.csv", "hyperbolic", by="age")  # doctest: +SKIP
    """
    if bool(formula) == bool(by):
        raise TrialsError(
            f"say either a formula, such as {EXAMPLE!r}, or by, the column whose effects are wanted."
        )
    read = read_formula(formula) if formula else None
    predictors = (by,) if read is None else read.predictors
    request = read_asked(
        answers, theories, runs=runs, domain=domain, columns=columns, known=predictors
    )
    known = without_notes_on(request.answers, predictors)
    beside = response_columns(known, predictors, cuts)
    if read is None:
        read = formula_of([by], beside)
    _check_group(read, known)
    found = {}
    with Laboratory(known.domain, n_workers) as laboratory:
        forms = forms_of(request.theories, known, laboratory)
        if power:
            wanted = parameters or read.parameters
            powers = _powers_of(
                forms, known, beside, read, laboratory, wanted, people, trials, size, seed
            )
            note = outcome_schedules(
                known.domain, _largest(known), 1, np.random.default_rng(0)
            ).note
            notes = (*known.notes, *([note] if note else []))
            return EffectsOnParameters(read.text, {}, (), notes, powers=powers)
        for name, form in forms.items():
            try:
                found[name] = find_effects(
                    form, known.trials, beside, read, laboratory,
                    parameters=parameters, prior_sd=prior_sd, seed=seed,
                )  # fmt: skip
            except TheoryError as error:
                left_out(name, error, named=request.theories is not None)
    if not found:
        raise TheoryError("no theory runs on these responses.")
    first = next(iter(found.values()))
    return EffectsOnParameters(
        read.text,
        found,
        codings_of(first),
        tuple(dict.fromkeys([*known.notes, *first.notes])),
        None if figure is None else Path(figure),
        first.n_people,
    )


def _powers_of(
    forms: Mapping[str, Theory],
    known: PeoplesAnswers,
    beside: ResponseColumns,
    formula: EffectFormula,
    laboratory: Laboratory,
    parameters: Sequence[str],
    people: Sequence[int],
    trials: Sequence[int],
    size: float,
    seed: int,
) -> tuple[EffectPower, ...]:
    """Power of planned studies with the trials of the largest experiment, for each theory with its population."""
    first, *others = formula.predictors
    if others:
        raise TrialsError(
            f"power is of one predictor, but {formula.text!r} has {first} and {' and '.join(others)}; name one."
        )
    if min(people, default=FEWEST) < FEWEST or min(trials, default=1) < 1:
        raise TrialsError(
            f"a study of {min(people)} participants with {min(trials)} trials each cannot be planned; effects need at "
            f"least {FEWEST} participants with 1 trial each."
        )
    for form in forms.values():
        check_parameters(form, parameters)
    divided = divide_into_cells(known.trials, beside, formula.predictors)
    kind: Kind = "condition" if first in divided.within else "group"
    if kind == "group" and not values_are_categories(divided.frame[first]):
        kind = "number"
    largest = _largest(known)
    found: list[EffectPower] = []
    for form in forms.values():
        (shared,) = laboratory.people_of([form], [{}], known.trials)
        if isinstance(shared, TheoryError):
            raise shared
        if all(shared[name].idle for name in parameters or form.priors):
            raise TheoryError(
                f"the trials carry no information about {' and '.join(parameters) or 'the parameters'} of {form.name}."
            )
        for n_trials in trials:
            found += power_of_effects(
                form.with_people(shared), largest.stimuli, list(people), laboratory,
                np.random.default_rng(seed), kind=kind, size=size, n_trials=n_trials,
                parameters=parameters, observed=largest,
            )  # fmt: skip
    return tuple(found)


def _largest(known: PeoplesAnswers) -> Trials:
    """The experiment with the most responses, whose trials planned studies have."""
    return max(known.trials, key=lambda item: item.n_responses)


def without_notes_on(answers: PeoplesAnswers, predictors: Sequence[str]) -> PeoplesAnswers:
    """Remove the reader's notes that a predictor varies within participants, which is allowed here."""
    varying = tuple(f"{name} differs between rows of one person" for name in predictors)
    return replace(
        answers, notes=tuple(note for note in answers.notes if not note.startswith(varying))
    )


def by_group(*given: Any, **settings: Any) -> EffectsOnParameters:
    """Estimate effects: a former name of `effects`, as is `effects_of`."""
    warnings.warn("this is now called effects: lakatos.effects(..., by=...)", stacklevel=2)
    return effects(*given, **settings)


effects_of = by_group


def response_columns(
    answers: PeoplesAnswers, wanted: Sequence[str], cuts: Sequence[float] = ()
) -> ResponseColumns:
    """Columns beside each response: those of the file, attributes, the experiment, and the presented trial.

    Raises:
        TrialsError: Participants are not identified, or there is no such column.
    """
    if any(item.pooled for item in answers.trials):
        raise TrialsError(
            "these are counts of responses: participants cannot be distinguished, so effects on parameters cannot "
            "be estimated."
        )
    tables = [_beside(answers, place) for place in range(len(answers.trials))]
    there = sorted(set.intersection(*(set(table) for table in tables)))
    check_columns(wanted, there, answers.columns)
    people, columns = [], []
    for place, (item, table) in enumerate(zip(answers.trials, tables, strict=True)):
        file_cells = answers.beside[place] if answers.beside else {}
        names = next(iter(file_cells.values())) if file_cells else None
        people.append(
            np.array([f"{item.experiment}/{number}" for number in item.participant])
            if names is None
            else np.asarray(names, dtype=str)
        )
        columns.append({name: np.asarray(table[name], dtype=object) for name in wanted})
    if cuts:
        columns = [
            {name: in_ranges(own[name].tolist(), cuts, name) for name in own} for own in columns
        ]
    return ResponseColumns(tuple(people), tuple(columns), answers.counted_again)


def _beside(answers: PeoplesAnswers, place: int) -> dict[str, Any]:
    """Columns beside the responses of one experiment, each ``(n_rows,)``, by name."""
    item = answers.trials[place]
    shown = {name: column[item.trial] for name, column in stimulus_columns(item.stimuli).items()}
    shown = {name.replace(".", "_"): column for name, column in shown.items()}
    for name, labels in named_conditions(answers.domain, item.stimuli).items():
        shown[name] = np.array(labels, dtype=object)[item.trial]
    known = answers.people[place] if answers.people else {}
    people = {
        name: np.array(values, dtype=object)[item.participant] for name, values in known.items()
    }
    of_file = dict(answers.beside[place]) if answers.beside else {}
    return {
        **shown,
        **item.feedback,
        "experiment": np.full(len(item.trial), item.experiment, dtype=object),
        **people,
        **of_file,
    }


def _check_group(formula: EffectFormula, answers: PeoplesAnswers) -> None:
    """Refuse random effects of anything but participants."""
    own = next(iter(answers.beside[0]), "") if answers.beside else ""
    if formula.group not in ("", PARTICIPANT, own):
        raise TrialsError(
            f"the formula {formula.text!r} has random effects of {formula.group!r}; they are of participants: write "
            f"(... | {PARTICIPANT}){f' or (... | {own})' if own and own != PARTICIPANT else ''}."
        )
