"""Meanings of the columns of a table of responses."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    SerializerFunctionWrapHandler,
    field_validator,
    model_serializer,
    model_validator,
)

OPEN_QUESTION = "?"
"""Mark in a study file where the user has to state the column."""

BY_PARTICIPANT: Literal["by participant"] = "by participant"
"""Unit of response times of which some participants' are in seconds and the others' in milliseconds."""
ALL_COLUMNS = "*"
"""Key of `AnswerColumns.missing`: marks that hold for every column."""
FROM_DATA: Literal["from data"] = "from data"
"""Window of response times that is found from the times themselves; see `time_window.window_of`."""
ONE_PARTICIPANT = "one_participant"
"""Name by which a mapping accepts that all rows of a file are of one participant, whom no column names."""
LATER_KEYS = (
    "missing",
    "recode",
    "alternative",
    "choice_set",
    "accept",
    "time_window",
    "condition",
)
"""Keys that are left out of what is written where they say nothing, since earlier studies lack them."""


class AnswerColumns(BaseModel):
    """Meaning of the columns of ``participants.file``."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    participant: str = ""
    """Identifier of the participant, or several columns that identify one together, as in
    ``site & id``; omitted if the file has counts or shares."""
    response: str = ""
    """The chosen option, or the number given."""
    responses: dict[str, int] = {}
    """Values of ``response`` and the option (from 0) that each stands for; by default the domain's
    labels."""
    experiment: str = ""
    """Name of the experiment; omitted if all rows belong to one."""
    order: str = ""
    """Position of a response among those of the participant; by default the order of rows."""
    response_time: str = ""
    """Response time. In `attention` and `perception` it is part of the response; elsewhere it is
    described and kept, and no theory uses it."""
    response_time_unit: Literal["ms", "s", "by participant"] = "ms"
    """Unit of ``response_time``; ``by participant`` if some participants' times are in s and
    others' in ms."""
    time_window: tuple[float, float] | Literal["from data"] | None = None
    """Response times in seconds that are used, as in ``[0.2, 5]``; ``from data`` for those within
    three standard deviations of the median of log times. By default 0.2 to 3 s in `attention`, 0.2
    to 5 s in `perception` and all elsewhere."""
    counts: tuple[str, ...] = ()
    """Counts: one column for each option, in order."""
    count: str = ""
    """Counts: number of responses in a row, together with ``share`` or ``response``."""
    share: str = ""
    """Counts: proportion of responses that chose the second option, from 0 to 1 or in per cent."""
    people: int = Field(0, ge=0)
    """Counts: number of participants, if known."""
    attributes: tuple[str, ...] = ()
    """Attributes of participants, such as age or group."""
    condition: str = ""
    """Column of conditions that vary within participants. Each trial is then another one in each
    condition, and the search asks whether a parameter changes with it."""
    where: dict[str, str | tuple[str, ...]] = {}
    """Rows to use: for each column, the value that they have."""
    bad_rows: Literal["leave_out_empty", "leave_out", "refuse"] = "leave_out_empty"
    """Rows that cannot be read. Exclude rows without a response or stimulus and refuse wrong
    values; exclude both; or refuse both. What is excluded is counted and reported."""
    missing: dict[str, tuple[str, ...]] = {}
    """Values that stand for a missing value: one list for all columns except those of participants,
    order, experiments and items, or a table of lists by column. Common marks (NA, NaN, .) are
    known."""
    recode: dict[str, dict[str, str]] = {}
    """Meaning of values by column, as in ``difficulty = { easy = 1, hard = 0 }``; other values are
    kept."""
    alternative: str = ""
    """Files with one row per alternative: column with the alternative's name. ``response`` is then
    1 in the chosen row and 0 in the others."""
    choice_set: str = ""
    """Files with one row per alternative: column that identifies the choice."""
    accept: tuple[str, ...] = ()
    """Names of plausibility checks whose findings are correct in this file; each refusal states its
    name."""
    items: str = ""
    """A second file with one row per item, relative to the study file."""
    item: str = ""
    """Column of both files that identifies the item."""
    wide: str = ""
    """Files with one row per participant: pattern of the columns that hold one item each, such as
    ``Q*``; or patterns of columns that number trials, such as ``choice_#,reward_#``."""
    stimulus: dict[str, Any] = {}
    """For each part of the domain's trials, a column, a number, or a list of them."""
    feedback: dict[str, str] = {}
    """Feedback after a response, by its name in the domain, as in ``reward = "points"``."""

    @field_validator("where", mode="before")
    @classmethod
    def _cells_are_text(cls, value: Any) -> Any:
        """Numbers stand for the cells that say them, and true and false for the words in any writing."""
        if not isinstance(value, Mapping):
            return value
        return {column: _cells_that_say(wanted) for column, wanted in value.items()}

    @field_validator("missing", mode="before")
    @classmethod
    def _marks_by_column(cls, value: Any) -> Any:
        """One mark, or a list of marks, holds for all columns."""
        by_column = value if isinstance(value, Mapping) else {ALL_COLUMNS: value}
        return {column: _marks(marks) for column, marks in by_column.items()}

    @field_validator("recode", mode="before")
    @classmethod
    def _meanings_are_text(cls, cell_values: Any) -> Any:
        """Cells and what they mean may be said as numbers."""
        if not isinstance(cell_values, Mapping):
            return cell_values
        return {
            column: {_cell(cell): _cell(value) for cell, value in meanings.items()}
            if isinstance(meanings, Mapping)
            else meanings
            for column, meanings in cell_values.items()
        }

    @field_validator("accept", mode="before")
    @classmethod
    def _one_or_more(cls, value: Any) -> Any:
        """Names may be separated by commas."""
        return tuple(value.replace(",", " ").split()) if isinstance(value, str) else value

    @field_validator("responses", mode="before")
    @classmethod
    def _keys_are_text(cls, value: Any) -> Any:
        """Cells that are said as numbers stand for their text."""
        return (
            {_cell(key): place for key, place in value.items()}
            if isinstance(value, Mapping)
            else value
        )

    @model_serializer(mode="wrap")
    def _without_later_keys(self, write: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """A key that came later is left out where it says nothing, so that earlier runs stay what they were."""
        value: dict[str, Any] = write(self)
        if self.bad_rows == "leave_out_empty":
            value.pop("bad_rows", None)
        for key in LATER_KEYS:
            if not getattr(self, key):
                value.pop(key, None)
        return value

    @model_validator(mode="after")
    def _makes_sense(self) -> AnswerColumns:
        pooled = bool(self.counts or self.count or self.share)
        if pooled and self.participant:
            raise ValueError(
                "counts of answers have no participant; leave out participant, or counts, count and share"
            )
        if self.share and not self.count:
            raise ValueError(
                "a share of answers needs the key 'count': how many answers there were"
            )
        if self.counts and (self.count or self.share or self.response):
            raise ValueError("counts name all answers; leave out count, share and response")
        if bool(self.items) != bool(self.item):
            raise ValueError("items and item go together: a file, and the column that both have")
        if bool(self.alternative) != bool(self.choice_set):
            raise ValueError(
                "alternative and choice_set go together: what names an alternative, and what names the choice"
            )
        if self.condition and pooled:
            raise ValueError(
                "counts of answers have no conditions within participants; leave out condition"
            )
        if self.wide and not self.item and "#" not in self.wide:
            raise ValueError(
                "wide: columns name questions, so say which file of items tells what they show, or write # for the "
                "number of each, as in Q#"
            )
        return self

    @property
    def is_pooled(self) -> bool:
        """Whether rows are counts, so that people cannot be told apart."""
        return bool(self.counts or self.count or self.share)


def _cells_that_say(wanted: Any) -> Any:
    """Return the cells that rows which count may have, from what a study or a command states."""
    if isinstance(wanted, list | tuple):
        cells = [_cells_that_say(item) for item in wanted]
        return tuple(leaf for cell in cells for leaf in leaves_of(cell))
    if isinstance(wanted, bool):
        word = str(wanted)
        return (word, word.lower(), word.upper(), str(int(wanted)))
    return _cell(wanted)


def _marks(value: Any) -> Any:
    """Cells without a value, from one or several."""
    marks = value if isinstance(value, list | tuple) else [value]
    return tuple(_cell(mark) for mark in marks)


def _cell(value: Any) -> Any:
    """A number as a cell writes it; what is no number stays as it is."""
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value) if isinstance(value, int | float) else value


def leaves_of(value: Any) -> list[Any]:
    """All texts and numbers in nested tables and lists."""
    if isinstance(value, Mapping):
        value = list(value.values())
    if isinstance(value, list | tuple):
        return [leaf for item in value for leaf in leaves_of(item)]
    return [value]
