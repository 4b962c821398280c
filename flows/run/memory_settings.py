"""The part of a study file about memory: what is recalled, and whether the laboratory asks itself before it acts."""

from __future__ import annotations

from typing import Literal

from pydantic import model_validator

from lakatos.language_models.client import FrozenPart


class MemoryConfig(FrozenPart):
    """What was learned before, and what is made of it."""

    arm: Literal["none", "text", "tools"] = "text"
    """Recall nothing; recall lessons as text; or also have recurring plans become tools, and use them."""
    shared: bool = False
    """Whether lessons of the other runs in the same folder come in; else those of this campaign alone."""
    winners: bool = True
    """Whether the best theories of concluded campaigns of the domain in the same folder compete from the first
    experiment on, and begin the search; never where the arm recalls nothing."""
    inquiries: bool = False
    """Whether the grammar's advocate calls laboratory tools before an experiment is designed and theories revised. Over
    30 campaigns that saved no experiment that could be shown, and no time."""

    @model_validator(mode="after")
    def _used(self) -> MemoryConfig:
        if self.arm == "none" and self.shared:
            raise ValueError("the arm 'none' recalls nothing; remove shared, or take another arm")
        if self.arm == "tools" and not self.shared:
            raise ValueError(
                "tools are made of plans that recur in several studies; set shared = true"
            )
        return self

    @property
    def takes_library(self) -> bool:
        """Whether anything that other runs of the folder have learned comes in."""
        return self.arm != "none" and (self.shared or self.winners)

    @property
    def takes_winners(self) -> bool:
        """Whether theories of earlier campaigns compete."""
        return self.arm != "none" and self.winners
