"""Facts about one experiment for pages: choice of trials, preregistration, responses, and what they decided."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
from markupsafe import Markup
from numpy.typing import NDArray

from lakatos.experiments.preregistration import Preregistration
from lakatos.experiments.record import DesignChosen, PairPower, TrialsCollected
from lakatos.experiments.task import Design, Trials
from lakatos.flows.report.figures import PairFound, power_chart, predictions_chart
from lakatos.flows.report.reader import (
    UNREADABLE,
    ChoiceShares,
    RunReading,
    option_label,
    run_scores,
)
from lakatos.flows.run.source import archive_readers, hidden_rule, hidden_theory
from lakatos.theories.engine.scoreboard import prequential_advantage
from lakatos.theories.engine.scoring.score import ScoreEstimate
from lakatos.traces.digest import Digest
from lakatos.traces.step import Recorded
from lakatos.traces.wording import plural

Array = NDArray[np.float64]
NOTHING: Final = Markup("")
FIRST_PICTURES: Final = 3
"""Trials of an experiment that are shown at once; the rest unfold."""
MOST_PICTURES: Final = 60
"""Trials of an experiment that are drawn; the rest are described in a line each."""


def data_facts(reading: RunReading) -> dict[str, Any]:
    """Collect what the run's data are: participants, responses, sources."""
    collected = [item.record for item in reading.state.experiments.collected.values()]
    sealed = reading.state.experiments.sealed
    n_sealed = sealed.record.n_responses if sealed else 0
    return {
        "n_experiments": len(collected),
        "n_responses": sum(item.n_responses for item in collected) + n_sealed,
        "n_sealed": n_sealed,
        "people": sorted({item.n_people or item.n_participants for item in collected}),
        "pooled": any(item.pooled for item in collected),
        "archives": [] if reading.simulated else archive_readers(reading.config),
        "hidden": hidden_rule(reading.config) if reading.simulated else "",
        "hidden_differs": reading.simulated and bool(hidden_theory(reading.config).priors),
    }


@dataclass
class ExperimentFacts:
    """One experiment, as pages show it."""

    name: str
    item: Recorded[DesignChosen]
    plan: Recorded[Preregistration] | None
    collected: Recorded[TrialsCollected] | None
    people: dict[str, Any] | None = None
    is_before_estimates: bool = False
    """Whether its predictions were frozen before any population was estimated."""
    option: str = ""
    """Option whose shares are stated and drawn."""
    pairs: list[PairFound] = field(default_factory=list)
    power: Markup = NOTHING
    """The pairs as a chart."""
    chart: Markup = NOTHING
    """Choices, and what had been predicted."""
    n_shown: int = 0
    """Trials in the chart."""
    rivals: list[Digest] = field(default_factory=list)
    """Theories in the chart."""
    pictures: list[tuple[Markup, dict[str, Any]]] = field(default_factory=list)
    """Trials as people see them, with captions."""
    lines: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    """Further trials in words."""
    missing: str = ""
    """Reason why the responses cannot be read; empty if they can."""

    @property
    def chosen(self) -> DesignChosen:
        """The design."""
        return self.item.record


def experiment_facts(reading: RunReading, name: str) -> ExperimentFacts:
    """Read all that pages say of an experiment."""
    known = reading.state.experiments
    facts = ExperimentFacts(
        name=name,
        item=known.designs[name],
        plan=known.preregistrations.get(name),
        collected=known.collected.get(name),
        people=people_facts(reading, name),
        is_before_estimates=bool(known.collected) and name == next(iter(known.collected)),
    )
    if not facts.chosen.accepted:
        return facts
    design = reading.design(facts.chosen)
    option = design.stimuli.last_available(reading.domain.n_options(design.stimuli))
    facts.option = option_label(reading.domain, option)
    shares = _shares(reading, design, facts, option)
    for pair in facts.chosen.powers:
        difference = achieved(reading, pair, name) if facts.collected else None
        facts.pairs.append(PairFound(pair, difference))
    facts.power = power_chart(reading, facts.pairs)
    frozen = reading.frozen(name, option) if facts.plan else {}
    predicted = {rival: frozen[rival] for rival in facts.chosen.rivals if rival in frozen}
    facts.chart, facts.n_shown, facts.rivals = predictions_chart(
        reading, facts.chosen, shares, predicted, facts.option, _n_people(facts)
    )
    for row in range(len(design.stimuli)):
        caption = trial_caption(
            reading, row, design, shares, predicted, is_exhaustive=facts.chosen.is_exhaustive
        )
        if row < MOST_PICTURES:
            picture = Markup(reading.domain.picture(design.stimuli, row))
            facts.pictures.append((picture, caption))
        else:
            facts.lines.append((reading.domain.describe(design.stimuli, row), caption))
    return facts


def _n_people(facts: ExperimentFacts) -> int | None:
    """Participants of an experiment whose responses were collected; None where only counts are known."""
    if facts.collected is None or facts.collected.record.pooled:
        return None
    return facts.collected.record.n_people or facts.collected.record.n_participants


def _shares(
    reading: RunReading, design: Design, facts: ExperimentFacts, option: int
) -> ChoiceShares | None:
    """Compute how often an option was chosen; None without responses, or where they cannot be read."""
    if facts.collected is None:
        return None
    try:
        return aligned(reading.trials(facts.name), design, option)
    except UNREADABLE as error:
        facts.missing = str(error)
        return None


def people_facts(reading: RunReading, name: str) -> dict[str, Any] | None:
    """Count who took part, was excluded by each rule, and withdrew; None where people do not respond one by one."""
    known = reading.state.experiments
    arrived = known.answers.get(name, ())
    withdrawn = len(set(known.withdrawn.get(name, ())))
    if not arrived and not withdrawn:
        return None
    there = {item.digest for item in arrived}
    broken = [item.record for item in known.excluded if item.record.answers in there]
    closed = known.closed.get(name)
    return {
        "statuses": Counter(item.record.status.replace("_", " ") for item in arrived),
        "n_excluded": len({record.answers for record in broken}),
        "rules": Counter(record.words for record in broken),
        "withdrawn": withdrawn,
        "closed": closed.record if closed else None,
    }


def aligned(trials: Trials, design: Design, option: int) -> ChoiceShares:
    """Shares of an option in the order of the design's trials, by content where a source returned them otherwise."""
    shares = ChoiceShares.of(trials, option)
    if trials.stimuli.keys == design.stimuli.keys:
        return shares
    place = {key: row for row, key in enumerate(trials.stimuli.keys)}
    rows = [place.get(key) for key in design.stimuli.keys]

    def ordered(values: Array) -> Array:
        return np.array([np.nan if row is None else values[row] for row in rows])

    return ChoiceShares(*map(ordered, (shares.share, shares.low, shares.high, shares.n_responses)))


def achieved(reading: RunReading, pair: PairPower, experiment: str) -> ScoreEstimate | None:
    """Return the score of the first theory less that of the second on an experiment, by frozen predictions."""
    found = prequential_advantage(pair.first, pair.second, [experiment], run_scores(reading))
    return found[0] if found else None


def trial_caption(
    reading: RunReading,
    row: int,
    design: Design,
    shares: ChoiceShares | None,
    predictions: Mapping[Digest, Array],
    *,
    is_exhaustive: bool = False,
) -> dict[str, Any]:
    """Describe what stands below the picture of a trial."""
    information = design.information[row] if design.information else float("nan")
    people = None
    if shares is not None and not np.isnan(shares.share[row]):
        ends = f"95% interval {shares.low[row]:.0%} to {shares.high[row]:.0%}"
        people = f"{shares.share[row]:.0%} of {plural(int(shares.n_responses[row]), 'response')} ({ends})"
    return {
        "number": row + 1,
        "random": row in design.random_coverage and not is_exhaustive,
        "information": None if np.isnan(information) else information,
        "people": people,
        "predicted": [
            (reading.label(rival), f"{values[0][row]:.0%}") for rival, values in predictions.items()
        ],
    }
