"""The section `design` of a study file: what an experiment may cost and must achieve."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field, field_validator

from lakatos.experiments.errors import DesignError
from lakatos.experiments.proposal import read_condition
from lakatos.traces.section import ConfigSection


class CostConfig(ConfigSection):
    """What asking costs, in any one unit: money, or seconds of people's time."""

    per_participant: float = Field(0.0, ge=0)
    """For each person, however much they answer."""
    per_response: float = Field(1.0, gt=0)
    """For each answer."""
    features: dict[str, float] = Field({})
    """Further cost of an answer for each unit of a feature of its trial, by name, as in ``n_cues = 0.5``."""
    most_per_participant: float = Field(0.0, ge=0)
    """Most that the trials asked of one person may cost, repetitions included; 0 for no limit but their number."""


class StoppingConfig(ConfigSection):
    """When collection ends before everybody planned has answered."""

    rule: Literal["fixed", "bayes_factor"] = "fixed"
    """Everybody planned, or until a Bayes factor says enough."""
    bayes_factor: float = Field(10.0, gt=1)
    """Odds, at even odds beforehand, at which one theory counts as better than another."""
    first_look: int = Field(10, ge=2)
    """Participants before nothing is decided."""
    look_every: int = Field(5, ge=1)
    """Further participants between two looks."""


class DesignConfig(ConfigSection):
    """What an experiment may cost and must achieve."""

    trials: int = Field(24, ge=1)
    """Distinct trials in an experiment, at most."""
    repetitions: int = Field(2, ge=1)
    """Presentations of each trial to each person."""
    participants: int = Field(25, ge=0)
    """People in an experiment; 0 to have the smallest number found that has the power."""
    most_participants: int = Field(200, ge=2)
    """People that can be afforded, where the number is to be found."""
    per_cycle: int = Field(1, ge=1)
    """Experiments in a cycle."""
    random_share: float = Field(0.25, ge=0, le=1)
    """Share of trials drawn at random, so that surprises outside all current theories stay visible."""
    power: float = Field(0.9, gt=0, lt=1)
    """Probability with which the planned people must recover the generating theory."""
    candidates: int = Field(2000, ge=1)
    """Trials of the space that a design search looks at."""
    schedules: int = Field(4, ge=1)
    """Learning: schedules that a design search looks at."""
    focus: Literal["rivals", "leaders"] = "rivals"
    """Tell all leading rivals apart, or only the two best that data have not settled."""
    sides: Literal["random", "both"] = "random"
    """Whether a trial's options stand on sides drawn by lot, or on each side in half of its repetitions."""
    continuous: bool = False
    """Whether the attributes of chosen trials are also moved between the levels of the space."""
    forbidden: tuple[str, ...] = ()
    """Trials that are never asked, as conditions on their features, for example ``amount_size > 100``."""
    proposed: dict[str, list[Any]] = Field({})
    """Trials of your own for the first experiment, as arrays; they go through the same checks as found ones."""
    cost: CostConfig = CostConfig()
    stopping: StoppingConfig = StoppingConfig()
    refused: Literal["stop", "cover"] = "stop"
    """When no design tells an open pair apart: end the campaign, or, where answers cost nothing, as in an archive, ask
    for the most informative trials all the same, as coverage in which theories nobody has thought of may show."""

    @field_validator("participants")
    @classmethod
    def _enough_for_an_error(cls, participants: int) -> int:
        if participants == 1:
            raise ValueError(
                "differences between people need at least 2; give 0 to have the number found"
            )
        return participants

    @field_validator("forbidden")
    @classmethod
    def _conditions(cls, forbidden: tuple[str, ...]) -> tuple[str, ...]:
        for text in forbidden:
            try:
                read_condition(text)
            except DesignError as error:
                raise ValueError(str(error).removesuffix(".")) from None
        return forbidden
