"""The parts of a study file about judges, which are held to account, and about memory, which is recalled."""

from __future__ import annotations

from math import ceil
from typing import Any, Literal

from pydantic import Field, model_validator

from lakatos.flows.run.gone_keys import without_gone_keys
from lakatos.judges.decision import COST
from lakatos.judges.gate_record import GATES, GateSettings, Test
from lakatos.judges.ledger import level_of
from lakatos.judges.paired import fewest_units
from lakatos.judges.record import SHARES
from lakatos.judges.transition import FIRST_CHECKPOINT, RATIO, RESCORE_SHARE
from lakatos.language_models.client import FrozenPart

FEWEST_ITEMS = 40
"""Minimum number of items of an anchor set that is built; with fewer, some part would lack a group."""


class JudgesConfig(FrozenPart):
    """Settings of the estimate whether a successor merits an experiment."""

    panel: Literal["rules", "frozen", "evolving", "none"] = "rules"
    """The laboratory's rules; with an anchor set, also judges made on its dev part, which stay the
    same (`frozen`) or are replaced at epoch boundaries (`evolving`); or none, so that every
    successor that passes its checks becomes a rival."""
    anchor: str = ""
    """File with settled comparisons from `lakatos judges anchor build`, relative to the study file.
    Comparisons that share trials or participants with the campaign are left out."""
    items: int = Field(0, ge=0, le=20000)
    """Number of comparisons to simulate in the study's own domain instead of reading a file."""
    test: Test = "loss"
    """Test of the gain: the mean gain in the Brier score (`loss`, which distinguishes similar
    judges better), or right and wrong answers only (`exact`). Both hold their level for gains of
    any distribution."""
    alpha: float = Field(0.05, ge=1e-9, lt=1)
    """Maximum probability of any false replacement, over all campaigns that use the anchor file, or
    in this campaign if its comparisons are simulated. The first study that uses a file fixes it."""
    first: int = Field(FIRST_CHECKPOINT, ge=1)
    """Number of verdicts before the first epoch ends."""
    ratio: int = Field(RATIO, ge=2)
    """Ratio of the number of verdicts at the end of an epoch to the number at the end of the one
    before."""
    rescore_share: float = Field(RESCORE_SHARE, ge=0, le=1)
    """Maximum share of all verdicts spent on judging again what a displaced judge had judged."""
    testing_cost: float = Field(COST, gt=0)
    """Cost of testing a successor on participants, if finding a better theory is worth 100; at 50,
    even odds just suffice. Set it by what your participants cost, because no data determine what a
    theory is worth to you."""

    @model_validator(mode="before")
    @classmethod
    def _without_keys_that_went(cls, value: Any) -> Any:
        return without_gone_keys("judges", value)

    @model_validator(mode="after")
    def _anchored(self) -> JudgesConfig:
        if self.seated and bool(self.anchor) == bool(self.items):
            raise ValueError(
                f"the panel {self.panel!r} needs settled comparisons: name an anchor file, or items to build"
            )
        if not self.seated and (self.anchor or self.items):
            raise ValueError(
                f"the panel {self.panel!r} reads no anchor set; remove anchor and items, or let it evolve"
            )
        if 0 < self.items < self.fewest_items:
            raise ValueError(
                f"{self.items} items are too few for dev, confirm and vault, and for a test of level "
                f"{level_of(self.alpha, 1):.2g}; at least {self.fewest_items}"
            )
        return self

    @property
    def seated(self) -> bool:
        """Whether judges are made on an anchor set, and take seats that can be lost."""
        return self.panel in ("frozen", "evolving")

    @property
    def fewest_items(self) -> int:
        """Items that a built anchor set needs: enough for every part, and for the gate's first test to replace one."""
        needed = fewest_units(level_of(self.alpha, 1), exact=self.test == "exact")
        return max(FEWEST_ITEMS, ceil(needed / SHARES["confirm"]))

    @property
    def gate(self) -> GateSettings:
        """The rules by which every challenge of a judge is decided."""
        return GATES[self.test]


class MemoryConfig(FrozenPart):
    """Use of what earlier campaigns and cycles learned."""

    arm: Literal["none", "text", "tools"] = "text"
    """Recall nothing; recall lessons as text; or also make tools from recurring plans and use
    them."""
    shared: bool = False
    """Whether lessons of other runs in the same folder are used, too."""
    winners: bool = True
    """Whether the best theories of concluded campaigns of the domain in the same folder compete
    from the first experiment on and begin the search; never if ``arm`` is `none`."""

    @model_validator(mode="before")
    @classmethod
    def _without_keys_that_went(cls, value: Any) -> Any:
        return without_gone_keys("memory", value)

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
