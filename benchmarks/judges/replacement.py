"""One epoch's end as the laboratory does it, for benchmarks: trap, breed on dev, the gate on confirm."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from lakatos.judges.anchor import AnchorItem, AnchorSet, LabelAccess
from lakatos.judges.answer import ask
from lakatos.judges.gate import GateSettings, challenge
from lakatos.judges.hard_case import trap
from lakatos.judges.ledger import AlphaSpending, Ledger
from lakatos.judges.program import JudgeProgram, ProgramJudge, breed, labelled


@dataclass
class Slot:
    """A program judge in its slot, with the anchor set that it answers to."""

    current: JudgeProgram
    anchor: AnchorSet
    features: Sequence[str]
    settings: GateSettings
    seed: int
    access: LabelAccess = field(default_factory=LabelAccess)
    ledger: Ledger = field(default_factory=AlphaSpending)

    def end_epoch(
        self, epoch: int, settled: list[AnchorItem], *, n_generations: int, n_children: int
    ) -> str:
        """Verdict on the challenger bred after what fooled the judge joined dev; "same" where breeding found none."""
        judge = ProgramJudge(self.current)
        self.anchor = trap(self.anchor, ask(judge, [item.submission for item in settled]), settled)
        dev = self.anchor.dev
        table = labelled(
            [item.submission for item in dev], [item.label for item in dev], self.features
        )
        rng = np.random.default_rng([self.seed, epoch])
        best = breed(self.current, table, rng, n_generations=n_generations, n_children=n_children)[
            0
        ]
        if ProgramJudge(best).digest == judge.digest:
            return "same"
        found = challenge(
            self.settings, judge, ProgramJudge(best), self.anchor, self.access, self.ledger,
            slot="program", epoch=epoch, seed=self.seed,
        )  # fmt: skip
        self.access, self.ledger = found.access, found.ledger
        if found.decided.verdict == "replace":
            self.current = best
        return found.decided.verdict
