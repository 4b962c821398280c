"""One epoch's end as the laboratory does it, for benchmarks: trap, breed on dev, the gate on confirm."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache

import numpy as np
from scipy.stats import beta

from lakatos.flows.stages.judging.challenge import question_of
from lakatos.judges.anchor import AnchorItem, AnchorSet, LabelAccess
from lakatos.judges.answer import ask
from lakatos.judges.gate import GateQuestion, JudgePair, decide, refusal_of, register
from lakatos.judges.gate_record import GateDecided, GateRegistered, GateSettings
from lakatos.judges.hard_case import trap
from lakatos.judges.judge import Judge
from lakatos.judges.ledger import LevelDrawn, draw_level
from lakatos.judges.program import JudgeProgram, ProgramJudge, breed, labelled

ALPHA = 0.05


@dataclass
class Gatekeeper:
    """Puts challengers to the gate, one after the other, and keeps the ledger of one anchor set."""

    settings: GateSettings
    alpha: float = ALPHA
    drawn: list[LevelDrawn] = field(default_factory=list)

    def decide(self, question: GateQuestion, items: Sequence[AnchorItem]) -> GateDecided:
        """The record of a challenge; its labels are read only where that is worth it."""

        @cache
        def put(number: int, level: float) -> GateRegistered:
            return register(question, slot="s", epoch=0, number=number, level=level)

        def is_worth_it(number: int, level: float) -> bool:
            return not refusal_of(put(number, level))

        drawn = draw_level(self.drawn, question.digest, self.alpha, is_worth_it)
        self.drawn.append(drawn)
        registered = put(drawn.number, drawn.level)
        return decide(registered, question, items if drawn.is_spent else ())

    def challenge(
        self, incumbent: Judge, challenger: Judge, anchor: AnchorSet, access: LabelAccess
    ) -> tuple[GateDecided, LabelAccess]:
        """The record of a challenge on an anchor set, and the looks at its labels."""
        asked = anchor.submissions("confirm")
        pair = JudgePair(ask(incumbent, asked), ask(challenger, asked))
        judges = [incumbent.digest, challenger.digest]
        items, looked = access.read(anchor, "confirm", "gate", judges)
        decided = self.decide(question_of(self.settings, pair, anchor), items)
        return decided, looked if decided.n else access


@dataclass
class JudgeSlot:
    """A program judge in its slot, with the anchor set that it answers to."""

    current: JudgeProgram
    anchor: AnchorSet
    features: Sequence[str]
    gate: Gatekeeper
    seed: int
    access: LabelAccess = field(default_factory=LabelAccess)

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
        decided, self.access = self.gate.challenge(
            judge, ProgramJudge(best), self.anchor, self.access
        )
        if decided.verdict == "replace":
            self.current = best
        return decided.verdict


def lower_quantile(n_right: int, n_wrong: int, quantile: float = 0.05) -> float:
    """Quantile of the Beta posterior of a share of right answers under a uniform prior."""
    return float(beta.ppf(quantile, 1 + n_right, 1 + n_wrong))


def published_rule(
    incumbent: tuple[int, int], challengers: Sequence[tuple[int, int]]
) -> int | None:
    """The published rule: the challenger of the highest lower quantile, if that is above the incumbent's.

    Args:
        incumbent, challengers: Right and wrong answers on the anchor.

    Returns:
        Place of the challenger that replaces the incumbent, or None. With equally many items this promotes whoever
        has one more right answer; under the null it replaces nearly always (see ``benchmarks/judges/gate.py``).

    References:
        Red Queen Goedel Machine, arXiv 2606.26294, section on evaluator replacement.
    """
    scores = [lower_quantile(*counts) for counts in challengers]
    best = max(range(len(scores)), key=scores.__getitem__, default=None)
    return best if best is not None and scores[best] > lower_quantile(*incumbent) else None
