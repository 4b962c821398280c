"""Trials that people answered, with their shares and what theories say of them, as several pages show them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lakatos.experiments.task import Trials
from lakatos.flows.report.reader import UNREADABLE, ChoiceShares, option_label
from lakatos.flows.view.watch import RunMoment
from lakatos.theories.engine.record import TheoryScored
from lakatos.traces.digest import Digest

Array = NDArray[np.float64]


@dataclass(frozen=True)
class TrialPoint:
    """Share of people who chose an option of a trial, and the shares that theories predict."""

    experiment: str
    row: int
    """Row of the experiment's trials, counted from 0."""
    option: int
    n_answers: int
    share: float
    low: float
    high: float
    """95% interval of the share; people count once."""
    predicted: tuple[float, ...]
    """Predicted share of each theory, in the order of the request."""

    @property
    def key(self) -> str:
        """Short name of the point on a page."""
        return f"{self.experiment}-{self.row + 1}-{self.option}"

    @property
    def gap(self) -> float:
        """Distance between the first two theories' predictions."""
        return abs(self.predicted[0] - self.predicted[1])

    @property
    def sides_with(self) -> int | None:
        """Place of the one theory of two whose share lies in people's interval; None where both or none does."""
        inside = [self.low <= value <= self.high for value in self.predicted[:2]]
        return inside.index(True) if sum(inside) == 1 else None


def scores_of(look: RunMoment, theory: Digest) -> dict[str, TheoryScored]:
    """Scores of a theory by experiment, in the order in which people were asked."""
    found = look.with_scores(theory=theory).state.theories.scores
    return {
        name: found[theory, name].record
        for name in look.state.experiments.collected
        if (theory, name) in found
    }


def predicted_shares(record: TheoryScored) -> Array:
    """``(n_trials, n_options)`` predicted shares; of two options the first's follow from the second's."""
    shares = np.asarray(record.proportions, dtype=np.float64)
    if record.n_options == 2:
        return np.stack([1 - shares, shares], axis=-1)
    return shares.reshape(-1, record.n_options)


def answered(look: RunMoment) -> Iterator[tuple[str, Trials]]:
    """Experiments whose answers can be read; those of which somebody's were erased are made anew by the next pass."""
    for name in look.state.experiments.collected:
        try:
            yield name, look.trials(name)
        except UNREADABLE:
            continue


def trial_points(
    look: RunMoment, theories: Mapping[Digest, Mapping[str, TheoryScored]]
) -> list[TrialPoint]:
    """Every answered trial that all the theories were scored on: of two options the last, else each."""
    found = []
    for name, trials in answered(look):
        records = [scores[name] for scores in theories.values() if name in scores]
        if len(records) < len(theories):
            continue
        stack = np.stack([predicted_shares(record) for record in records])
        totals = np.asarray(trials.totals).sum(axis=1)
        for option in range(1 if trials.n_options == 2 else 0, trials.n_options):
            shares = ChoiceShares.of(trials, option)
            offered = trials.stimuli.available(trials.n_options)[:, option]
            rows = np.flatnonzero(~np.isnan(shares.share) & offered)
            found += [
                TrialPoint(
                    experiment=name,
                    row=int(row),
                    option=option,
                    n_answers=int(totals[row]),
                    share=float(shares.share[row]),
                    low=float(shares.low[row]),
                    high=float(shares.high[row]),
                    predicted=tuple(float(value) for value in stack[:, row, option]),
                )
                for row in rows.tolist()
            ]
    return found


def option_name(look: RunMoment, option: int) -> str:
    """Label of an option by its place."""
    return option_label(look.domain, option)


def choosable(look: RunMoment) -> list[Digest]:
    """Theories that were let in, which have scores on all experiments; the leader and the last standings come first."""
    cycles = look.state.campaign.cycles
    lines = [line.theory for line in cycles[-1].record.leaderboard] if cycles else []
    first = [look.leader] if look.leader else []
    wanted = dict.fromkeys([*first, *lines, *look.state.theories.pool])
    return [name for name in wanted if name in look.state.theories.checked]
