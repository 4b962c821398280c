"""The experiment that a study would begin with, before anything is recorded or anybody is asked."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from rich.table import Table

from lakatos.experiments.design import design_from_json
from lakatos.experiments.record import DesignChosen
from lakatos.experiments.task import Design
from lakatos.flows.argument import Argument, DataFolder, Workers
from lakatos.flows.errors import StudyError
from lakatos.flows.result import Result, Shown
from lakatos.flows.run.console import escape
from lakatos.flows.run.engine import execute
from lakatos.flows.run.run import begin, create_run
from lakatos.flows.run.study import CampaignConfig, load_study, parse_study
from lakatos.flows.run.task import domain_of
from lakatos.flows.stages.check import seed_pool
from lakatos.flows.stages.design import design
from lakatos.traces.files import read_named
from lakatos.traces.wording import plural

MOST_SHOWN = 60
"""Trials that are printed."""


@dataclass(frozen=True, repr=False)
class DesignPreview(Result):
    """The first experiment that a study would run, before anybody is asked."""

    study: CampaignConfig
    chosen: DesignChosen
    design: Design
    names: dict[str, str]
    """Names of the rivals, by their digest."""

    def to_json(self) -> dict[str, Any]:
        """Write the preview as plain values, for programs."""
        chosen, domain = self.chosen, domain_of(self.study)
        random = set(self.design.random_coverage)
        return {
            "study": self.study.name,
            "accepted": chosen.accepted,
            "reason": chosen.reason,
            "n_candidates": chosen.n_candidates,
            "n_participants": chosen.n_participants,
            "repetitions": chosen.repetitions,
            "n_responses": self.design.n_presentations * chosen.n_participants,
            "cost": chosen.cost,
            "information_nats": chosen.total_information,
            "information_error_nats": chosen.total_information_error,
            "stopping": chosen.stopping or f"fixed sample: {chosen.n_participants} participants",
            "campaign_ends": self.study.stop.words(is_archive=self.study.source.is_archive),
            "looks": list(chosen.looks),
            "groups": chosen.groups,
            "pairs": [
                {
                    "first": self.names[pair.first],
                    "second": self.names[pair.second],
                    "power_if_first_is_true": pair.power_first,
                    "power_if_second_is_true": pair.power_second,
                    "told_apart": pair.separable,
                }
                for pair in chosen.powers
            ],
            "trials": [
                {
                    "text": domain.describe(self.design.stimuli, row),
                    "information_nats": None if row in random else chosen.information[row],
                    "random": row in random,
                }
                for row in range(len(self.design.stimuli))
            ],
            "stimuli": self.design.stimuli.to_json(),
        }

    @property
    def exit_status(self) -> int:  # type: ignore[override]
        """1 for a design that is refused."""
        return 0 if self.chosen.accepted else 1

    def lines(self) -> Iterator[Shown]:
        """Number of trials and participants, power of each pair of rivals, the trials, and whether it is accepted."""
        values = self.to_json()
        yield (
            f"[bold]{escape(self.chosen.experiment)}[/bold]  {plural(len(values['trials']), 'trial')} of "
            f"{values['n_candidates']} candidates, each presented {plural(values['repetitions'], 'time')} to each of "
            f"{plural(values['n_participants'], 'participant')}: "
            f"{plural(values['n_responses'], 'response')}, cost {values['cost']:g}"
        )
        error = (
            f" ± {2 * values['information_error_nats']:.3f}"
            if values["information_error_nats"]
            else ""
        )
        yield (
            f"the responses of one participant carry {values['information_nats']:.3f}{error} nats of information about "
            "which theory is right"
        )
        pairs = Table(
            "first", "second", "power if first is true", "power if second is true", "separated"
        )
        for pair in values["pairs"]:
            powers = (
                f"{pair[key]:.2f}" for key in ("power_if_first_is_true", "power_if_second_is_true")
            )
            pairs.add_row(
                escape(pair["first"]),
                escape(pair["second"]),
                *powers,
                "yes" if pair["told_apart"] else "no",
            )
        yield pairs
        table = Table("trial", "nats added")
        for trial in values["trials"][:MOST_SHOWN]:
            gain = "random" if trial["random"] else f"{trial['information_nats']:.4f}"
            table.add_row(escape(trial["text"]), gain)
        yield table
        if len(values["trials"]) > MOST_SHOWN:
            yield f"and {len(values['trials']) - MOST_SHOWN} more; --json lists all"
        yield f"stopping rule: {escape(values['stopping'])}; {values['campaign_ends']}"
        if values["groups"]:
            yield escape(values["groups"])
        yield (f"[{'green' if self.chosen.accepted else 'red'}]{escape(self.chosen.reason)}[/]")


def preview_design(
    study: Annotated[CampaignConfig | Path, Argument(kind=Path)],
    *,
    data: DataFolder = None,
    trials: Path | None = None,
    participants: Annotated[int | None, Argument(least=0)] = None,
    n_workers: Workers = 2,
) -> DesignPreview:
    """Show the first experiment of a study: trials, information, power, participants, cost.

    The design is found by the procedure of a run; nothing is stored.

    Args:
        study: A study file; studies/ has examples.
        data: Folder of the published data sets.
        trials: JSON file with your own trials, which are evaluated instead of a search.
        participants: Number of participants; the study's by default, and 0 finds the number that is needed.
        n_workers: Theories that run at the same time. Does not change results.

    Raises:
        StudyError: The study cannot be read.
        DesignError: Trials proposed in it, or what it forbids, leave nothing to ask.

    Examples:
        $ lakatos design studies/allais.toml --participants 0
    """
    config = load_study(study) if isinstance(study, Path) else study
    changes: dict[str, Any] = {}
    if trials is not None:
        changes["proposed"] = _arrays(trials)
    if participants is not None:
        changes["participants"] = participants
    if changes:
        value = config.model_dump(mode="json")
        config = parse_study(
            value | {"design": value["design"] | changes}, f"{study} with the options given"
        )
    published = None if data is None else Path(data)
    with (
        tempfile.TemporaryDirectory() as folder,
        create_run(config, Path(folder) / "run", data=published, n_workers=n_workers) as run,
    ):

        async def first() -> DesignChosen:
            begin(run)
            await seed_pool(run)
            return (await design(run, 1, 1)).record

        chosen = execute("none", first)
        names = {name: run.state.theories.name(name) for name in chosen.rivals}
        return DesignPreview(
            config, chosen, design_from_json(run.trace.artifacts.get_json(chosen.design)), names
        )


def _arrays(path: Path) -> dict[str, Any]:
    try:
        value = json.loads(read_named(path))
    except (OSError, ValueError, RecursionError) as error:
        raise StudyError(f"cannot read the trials {path}: {error}. Give a JSON file.") from None
    if isinstance(value, dict) and isinstance(value.get("stimuli"), dict):  # what --json prints
        value = value["stimuli"]
    if not isinstance(value, dict):
        raise StudyError(
            f"the trials {path} are no JSON object of arrays, one for each attribute of a trial."
        )
    return value
