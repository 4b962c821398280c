"""The section `design` of a study file: what an experiment may cost and must achieve."""

from __future__ import annotations

import re
from typing import Any, Final, Literal

from pydantic import (
    Field,
    SerializerFunctionWrapHandler,
    field_validator,
    model_serializer,
    model_validator,
)

from lakatos.experiments.conditions import MOST_CONDITIONS_WITHIN
from lakatos.experiments.errors import DesignError
from lakatos.experiments.proposal import read_condition
from lakatos.traces.section import ConfigSection

LATER_KEYS: Final = ("conditions", "blocks")
"""Keys that are written only where they are used, so that studies of earlier versions stay what they were."""
MOST_COUNTED: Final = 1_000_000
"""Limit of numbers of trials, participants, candidates and the like: more fit into no machine's memory."""
CONDITION_NAME: Final = r"^[a-z][a-z0-9_]{0,39}$"


class CostConfig(ConfigSection):
    """Cost of responses, in any one unit, such as money or seconds of participants' time."""

    per_participant: float = Field(0.0, ge=0)
    """Cost of each participant, regardless of the number of responses."""
    per_response: float = Field(1.0, gt=0)
    """Cost of each response."""
    features: dict[str, float] = Field({})
    """Further cost of a response per unit of a feature of its trial, by name, as in ``n_cues =
    0.5``."""
    most_per_participant: float = Field(0.0, ge=0)
    """Maximum cost of the trials of one participant, repetitions included; 0 for no limit."""


class StoppingConfig(ConfigSection):
    """When collection may end before all planned participants have responded."""

    rule: Literal["fixed", "bayes_factor"] = "fixed"
    """Collect the planned number of participants, or stop when a Bayes factor is large enough."""
    bayes_factor: float = Field(10.0, gt=1)
    """Bayes factor at which one theory counts as better than another."""
    first_look: int = Field(10, ge=2, le=MOST_COUNTED)
    """Number of participants at the first look."""
    look_every: int = Field(5, ge=1, le=MOST_COUNTED)
    """Further participants between two looks."""


class DesignConfig(ConfigSection):
    """Size, cost and required power of experiments."""

    trials: int = Field(24, ge=1, le=MOST_COUNTED)
    """Maximum number of distinct trials in an experiment."""
    repetitions: int = Field(2, ge=1, le=MOST_COUNTED)
    """Presentations of each trial to each participant."""
    participants: int = Field(25, ge=0, le=MOST_COUNTED)
    """Participants in an experiment; 0 finds the smallest number that has the power."""
    most_participants: int = Field(200, ge=2, le=MOST_COUNTED)
    """Upper limit of participants if their number is to be found."""
    per_cycle: int = Field(1, ge=1, le=MOST_COUNTED)
    """Experiments in a cycle."""
    random_share: float = Field(0.25, ge=0, le=1)
    """Share of trials drawn at random, so that misfits which no current theory predicts can be
    seen."""
    power: float = Field(0.9, gt=0, lt=1)
    """Probability with which the planned sample must recover the generating theory."""
    candidates: int = Field(2000, ge=1, le=MOST_COUNTED)
    """Trials of the space that the search for a design considers."""
    schedules: int = Field(4, ge=1, le=MOST_COUNTED)
    """Learning tasks: schedules that the search for a design considers."""
    focus: Literal["rivals", "leaders"] = "rivals"
    """Distinguish all leading rivals, or only the best two that data have not separated."""
    sides: Literal["random", "both"] = "random"
    """Whether the sides of the options are drawn at random, or each side is used in half of the
    repetitions."""
    forbidden: tuple[str, ...] = ()
    """Trials that are never presented, as conditions on their features, for example ``amount_size >
    100``."""
    proposed: dict[str, list[Any]] = Field({})
    """Trials of your own for the first experiment, as arrays. They pass the same checks as all
    others."""
    cost: CostConfig = CostConfig()
    stopping: StoppingConfig = StoppingConfig()
    refused: Literal["stop", "cover"] = "stop"
    """If no design separates an open pair: end the campaign, or (where responses cost nothing, as
    in archives) present the most informative trials anyway, to find misfits of all current
    theories."""

    conditions: tuple[str, ...] = ()
    """Conditions within participants: each trial is presented in each of them, as often as
    ``repetitions`` says. What differs between them, ``page.conditions`` says."""
    blocks: int = Field(1, ge=1, le=100)
    """Blocks of each condition. Their order is counterbalanced over participants. 1 in learning tasks."""

    @model_serializer(mode="wrap")
    def _without_later_keys(self, write: SerializerFunctionWrapHandler) -> dict[str, Any]:
        value: dict[str, Any] = write(self)
        fields = type(self).model_fields
        unused = [key for key in LATER_KEYS if getattr(self, key) == fields[key].default]
        return {key: item for key, item in value.items() if key not in unused}

    @field_validator("conditions")
    @classmethod
    def _names(cls, names: tuple[str, ...]) -> tuple[str, ...]:
        if len(names) == 1:
            raise ValueError(
                f"{names[0]!r} alone cannot be compared with anything; give 2 to {MOST_CONDITIONS_WITHIN} conditions, "
                "or none"
            )
        if len(names) > MOST_CONDITIONS_WITHIN:
            raise ValueError(
                f"there are {len(names)} conditions; one participant goes through at most {MOST_CONDITIONS_WITHIN}"
            )
        wrong = [name for name in names if not re.fullmatch(CONDITION_NAME, name)]
        if wrong:
            raise ValueError(
                f"{wrong[0]!r} is no name; begin with a small letter, then letters, digits and _"
            )
        if len(set(names)) < len(names):
            raise ValueError("two conditions have one name; give each its own")
        return names

    @model_validator(mode="after")
    def _blocks_fit(self) -> DesignConfig:
        if self.blocks > 1 and not self.conditions:
            raise ValueError("blocks are of conditions; name these, or leave blocks out")
        n_shown = self.trials * self.repetitions
        if self.blocks > n_shown:
            raise ValueError(
                f"blocks is {self.blocks}, and a condition has {n_shown} presentations (trials times repetitions); "
                f"give at most {n_shown}"
            )
        return self

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
