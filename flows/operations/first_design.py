"""The experiment that a study would begin with, before anything is recorded or anybody is asked."""

from __future__ import annotations

import json
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.table import Table

from lakatos.flows.run.console import Console, escape
from lakatos.traces.wording import plural

if TYPE_CHECKING:
    from lakatos.experiments.record import DesignChosen
    from lakatos.experiments.task import Design
    from lakatos.flows.run.study import CampaignConfig

MOST_SHOWN = 60
"""Trials that are printed."""


@dataclass(frozen=True)
class DesignPreview:
    """The first experiment that a study would run, before anybody is asked."""

    study: CampaignConfig
    chosen: DesignChosen
    design: Design
    names: dict[str, str]
    """Of the rivals, by their digest."""

    def to_json(self) -> dict[str, Any]:
        """Write the preview as plain values, for programs."""
        from lakatos.flows.run.task import domain_of

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


def preview_design(
    study: CampaignConfig | Path, *, data: Path | None = None, n_workers: int = 2
) -> DesignPreview:
    """Search the design of a study's first experiment, as a run would; nothing is kept.

    Args:
        study: A study, or the path of a study file.
        data: Folder of the published data sets, for archival studies.
        n_workers: Theories that run at the same time; does not change results.

    Raises:
        StudyError: The study cannot be read.
        DesignError: Trials proposed in it, or what it forbids, leave nothing to ask.
    """
    from lakatos.experiments.design import design_from_json
    from lakatos.flows.run.engine import execute
    from lakatos.flows.run.run import begin, create_run
    from lakatos.flows.run.study import load_study
    from lakatos.flows.stages.check import seed_pool
    from lakatos.flows.stages.design import design

    config = load_study(study) if isinstance(study, Path) else study
    with (
        tempfile.TemporaryDirectory() as folder,
        create_run(config, Path(folder) / "run", data=data, n_workers=n_workers) as run,
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


def design_command(
    study: Annotated[Path, typer.Argument(help="A study file; studies/ has examples.")],
    data: Annotated[
        Path | None,
        typer.Option("--data", help="Folder of the published data sets.", envvar="LAKATOS_DATA"),
    ] = None,
    trials: Annotated[
        Path | None,
        typer.Option(
            help="JSON with arrays of trials of your own, to be checked instead of searching."
        ),
    ] = None,
    participants: Annotated[
        int | None, typer.Option(min=0, help="Instead of the study's; 0 finds the number.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="For a machine.")] = False,
    workers: Annotated[int, typer.Option(help="Theories that run at the same time.", min=1)] = 2,
) -> None:
    """Show the first experiment of a study: trials, information, power, people, cost. Exit status 1 if it is refused.

    In Python: `lakatos.flows.operations.first_design.preview_design(study)`.
    """
    from lakatos.flows.run.study import load_study, parse_study

    config = load_study(study)
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
    found = preview_design(config, data=data, n_workers=workers)
    if as_json:
        print(json.dumps(found.to_json(), indent=1))
    else:
        _show(found)
    if not found.chosen.accepted:
        raise typer.Exit(1)


def _arrays(path: Path) -> dict[str, Any]:
    from lakatos.flows.errors import StudyError

    try:
        value = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise StudyError(f"cannot read the trials {path}: {error}. Give a JSON file.") from None
    if isinstance(value, dict) and isinstance(value.get("stimuli"), dict):  # what --json prints
        value = value["stimuli"]
    if not isinstance(value, dict):
        raise StudyError(
            f"the trials {path} are no JSON object of arrays, one for each attribute of a trial."
        )
    return value


def _show(found: DesignPreview) -> None:
    console, told = Console(soft_wrap=True), found.to_json()
    console.print(
        f"[bold]{escape(found.chosen.experiment)}[/bold]  {plural(len(told['trials']), 'trial')} of "
        f"{told['n_candidates']} that could be asked, each shown {plural(told['repetitions'], 'time')} to each of "
        f"{plural(told['n_participants'], 'participant')}: "
        f"{plural(told['n_responses'], 'answer')}, cost {told['cost']:g}"
    )
    error = f" ± {2 * told['information_error_nats']:.3f}" if told["information_error_nats"] else ""
    console.print(
        f"one person's answers say {told['information_nats']:.3f}{error} nats about which rival is right"
    )
    pairs = Table("first", "second", "power if first is true", "if second is true", "told apart")
    for pair in told["pairs"]:
        powers = (
            f"{pair[key]:.2f}" for key in ("power_if_first_is_true", "power_if_second_is_true")
        )
        pairs.add_row(
            escape(pair["first"]),
            escape(pair["second"]),
            *powers,
            "yes" if pair["told_apart"] else "no",
        )
    console.print(pairs)
    table = Table("trial", "nats added")
    for trial in told["trials"][:MOST_SHOWN]:
        gain = "random" if trial["random"] else f"{trial['information_nats']:.4f}"
        table.add_row(escape(trial["text"]), gain)
    console.print(table)
    if len(told["trials"]) > MOST_SHOWN:
        console.print(f"and {len(told['trials']) - MOST_SHOWN} more; --json lists all")
    console.print(f"stopping rule: {escape(told['stopping'])}")
    if told["groups"]:
        console.print(escape(told["groups"]))
    console.print(
        f"[{'green' if found.chosen.accepted else 'red'}]{escape(found.chosen.reason)}[/]"
    )
