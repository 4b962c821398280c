"""What the columns of a table of answers mean."""

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
"""Stands in a study file where somebody has to say which column it is."""

BY_PARTICIPANT: Literal["by participant"] = "by participant"
"""Unit of response times of which some participants' are in seconds and the others' in milliseconds."""
ALL_COLUMNS = "*"
"""Key of `AnswerColumns.missing`: marks that hold for every column."""
FROM_DATA: Literal["from data"] = "from data"
"""Window of response times that is found from the times themselves; see `time_window.window_of`."""
LATER_KEYS = ("missing", "recode", "alternative", "choice_set", "accept", "time_window")
"""Keys that are left out of what is written where they say nothing, since earlier studies lack them."""


class AnswerColumns(BaseModel):
    """Section ``participants.columns`` of a study file: which column of the file means what."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    participant: str = ""
    """Who answered. Left out where the file holds counts or shares of answers."""
    response: str = ""
    """The option chosen, or a number where answers are numbers."""
    responses: dict[str, int] = {}
    """What a cell of ``response`` says, and the place of that option from 0; by the domain's labels otherwise."""
    experiment: str = ""
    """Whose values are names of experiments; all answers are one experiment where it is left out."""
    order: str = ""
    """Place of an answer among the person's answers; rows are in order otherwise."""
    response_time: str = ""
    """How long the answer took. In `attention` it is part of the answer; elsewhere it is described and kept in the
    file, and no theory sees it."""
    response_time_unit: Literal["ms", "s", "by participant"] = "ms"
    """Of ``response_time``. ``by participant``: some participants' times are in s, others' in ms."""
    time_window: tuple[float, float] | Literal["from data"] | None = None
    """Times in seconds between which responses count, as in ``[0.2, 5]``; ``from data``: those within three standard
    deviations of the median of log times. In `attention` 0.2 to 3 s where nothing is said; elsewhere all."""
    counts: tuple[str, ...] = ()
    """Counts instead of single answers: a column for each option, in their order."""
    count: str = ""
    """Likewise: answers that a row stands for, with ``share`` or ``response``."""
    share: str = ""
    """Likewise: the share of them that chose the second option, from 0 to 1 or in per cent."""
    people: int = Field(0, ge=0)
    """Likewise: people behind the counts, where that is known."""
    attributes: tuple[str, ...] = ()
    """What is known of a person, such as age or group. It is kept, and described."""
    where: dict[str, str | tuple[str, ...]] = {}
    """Rows that count: for each column what its cell must say."""
    bad_rows: Literal["leave_out_empty", "leave_out", "refuse"] = "leave_out_empty"
    """Rows that cannot be read: leave out those that lack an answer or what was shown, and refuse the file where
    something wrong stands in a cell; leave out both; or refuse both. What is left out is counted and told."""
    missing: dict[str, tuple[str, ...]] = {}
    """What stands in cells where there is no value: a list for all columns but those of participants, order,
    experiments and questions, or a table of such lists by column. What programs write (NA, NaN, .) is known."""
    recode: dict[str, dict[str, str]] = {}
    """For each column what its cells mean, as in ``difficulty = { easy = 1, hard = 0 }``; other cells stay."""
    alternative: str = ""
    """Where a row is one alternative of a choice: the column that names it. ``response`` is then 1 in the row that
    was chosen, and 0 in the others."""
    choice_set: str = ""
    """Likewise: the column with the same value in all rows of one choice."""
    accept: tuple[str, ...] = ()
    """What seems implausible and is right, by the names that refusals say."""
    items: str = ""
    """A second file with a row for each question, relative to the study file."""
    item: str = ""
    """Column of both files that names the question."""
    wide: str = ""
    """Pattern of columns that hold one question each, as in ``Q*``, where a row is a person."""
    stimulus: dict[str, Any] = {}
    """What was shown: for each part of the domain's trials a column, a number, or a list of them."""
    feedback: dict[str, str] = {}
    """What followed an answer, by its name in the domain, as in ``reward = "points"``."""

    @field_validator("where", mode="before")
    @classmethod
    def _cells_are_text(cls, said: Any) -> Any:
        """Numbers stand for the cells that say them, and true and false for the words in any writing."""
        if not isinstance(said, Mapping):
            return said
        return {column: _cells_that_say(wanted) for column, wanted in said.items()}

    @field_validator("missing", mode="before")
    @classmethod
    def _marks_by_column(cls, said: Any) -> Any:
        """One mark, or a list of marks, holds for all columns."""
        by_column = said if isinstance(said, Mapping) else {ALL_COLUMNS: said}
        return {column: _marks(marks) for column, marks in by_column.items()}

    @field_validator("recode", mode="before")
    @classmethod
    def _meanings_are_text(cls, said: Any) -> Any:
        """Cells and what they mean may be said as numbers."""
        if not isinstance(said, Mapping):
            return said
        return {
            column: {_cell(cell): _cell(value) for cell, value in meanings.items()}
            if isinstance(meanings, Mapping)
            else meanings
            for column, meanings in said.items()
        }

    @field_validator("accept", mode="before")
    @classmethod
    def _one_or_more(cls, said: Any) -> Any:
        """Names may be separated by commas."""
        return tuple(said.replace(",", " ").split()) if isinstance(said, str) else said

    @field_validator("responses", mode="before")
    @classmethod
    def _keys_are_text(cls, said: Any) -> Any:
        """Cells that are said as numbers stand for their text."""
        return (
            {_cell(key): place for key, place in said.items()}
            if isinstance(said, Mapping)
            else said
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
        if self.wide and not self.item:
            raise ValueError(
                "wide: columns name questions, so say which file of items tells what they show"
            )
        return self

    @property
    def is_pooled(self) -> bool:
        """Whether rows are counts, so that people cannot be told apart."""
        return bool(self.counts or self.count or self.share)


def _cells_that_say(wanted: Any) -> Any:
    """What the cells of rows that count may say, from what a study or a command says."""
    if isinstance(wanted, list | tuple):
        cells = [_cells_that_say(item) for item in wanted]
        return tuple(leaf for cell in cells for leaf in leaves_of(cell))
    if isinstance(wanted, bool):
        word = str(wanted)
        return (word, word.lower(), word.upper(), str(int(wanted)))
    return _cell(wanted)


def _marks(said: Any) -> Any:
    """Cells without a value, from one or several."""
    marks = said if isinstance(said, list | tuple) else [said]
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
