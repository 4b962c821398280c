"""The part of a study file about judges: which there are, whether they evolve, and on what they are held to account."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

from pydantic import Field, model_validator

from lakatos.judges.decision import PAYOFFS, DecisionPayoffs
from lakatos.judges.gate import CERTIFIED, WORKING, GateSettings, Tier
from lakatos.judges.transition import FIRST_CHECKPOINT, RATIO, RESCORE_SHARE
from lakatos.language_models.client import FrozenPart

FEWEST_ITEMS = 40
"""Of an anchor set that is built: fewer leave no part with every group in it."""
FINE = {"floor": 0.001, "target": 0.02}
"""Gains in the Brier score by which judges that are near each other in accuracy still differ."""


class JudgesConfig(FrozenPart):
    """Who says, before people are asked, whether a successor is worth it; by default the rules of the laboratory."""

    panel: Literal["rules", "frozen", "evolving", "none"] = "rules"
    """The laboratory's rules; with an anchor set also judges made on its dev part, which stay as they are or evolve at
    epoch boundaries; or nobody, so that every successor that passes its checks becomes a rival."""
    anchor: str = ""
    """File with settled comparisons, relative to the study file, from `lakatos judges anchor build`; those that share
    trials or people with the campaign are left out."""
    items: int = Field(0, ge=0, le=20000)
    """Instead of a file: comparisons to simulate in the study's own domain when the campaign begins."""
    rubric: bool = False
    """Whether the rubric of the language model that judges is rewritten as well. It then reads settled comparisons in
    both orders, as often as `roles.repeats` says: some of dev at every epoch's end, and for every challenge all of
    confirm by either rubric."""
    tier: Tier = "certified"
    """Whether a replacement must be one that may be claimed, or only steers the search."""
    test: Literal["loss", "exact"] = "loss"
    """Sign flips of the Brier score's differences, which tell near judges apart, or right and wrong answers only."""
    alpha: float = Field(0.05, gt=0, lt=1)
    """Probability that any certified replacement of the campaign is false, at most."""
    first: int = Field(FIRST_CHECKPOINT, ge=1)
    """Verdicts before the first epoch ends."""
    ratio: int = Field(RATIO, ge=2)
    """Of the verdicts at an epoch's end to those at the end of the one before."""
    rescore_share: float = Field(RESCORE_SHARE, ge=0, le=1)
    """Share of all verdicts that may be spent on judging again what a displaced judge had judged."""
    asking: float = Field(PAYOFFS.cost, gt=0)
    """What it costs to ask people about a successor, where finding a better theory is worth 100: at 50, even odds are
    just worth asking. Set it by what your people cost; no data can say what a theory is worth to you."""
    refining: float = Field(PAYOFFS.refine_cost, ge=0)
    """The same for letting the next search begin from a successor instead."""
    strategies: bool = False
    """Whether the advocate that composes varies its strategy: chosen by what theories of each strategy achieved."""

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
        if self.rubric and self.panel != "evolving":
            raise ValueError(
                f"with the panel {self.panel!r} no rubric is rewritten; remove rubric, or let it evolve"
            )
        if 0 < self.items < FEWEST_ITEMS:
            raise ValueError(
                f"{self.items} items cannot be split into dev, confirm and vault; at least {FEWEST_ITEMS}"
            )
        return self

    @property
    def seated(self) -> bool:
        """Whether judges are made on an anchor set, and take seats that can be lost."""
        return self.panel in ("frozen", "evolving")

    @property
    def payoffs(self) -> DecisionPayoffs:
        """Of what is done about a successor, before anything is known of refining."""
        return replace(PAYOFFS, cost=self.asking, refine_cost=self.refining)

    @property
    def gate(self) -> GateSettings:
        """The rules by which every challenge of a judge is decided."""
        base = WORKING if self.tier == "working" else CERTIFIED
        return base.model_copy(update={"test": self.test, **(FINE if self.test == "loss" else {})})
