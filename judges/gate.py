"""The gate: whether a challenger takes the place of an incumbent judge, on evidence that was fixed beforehand.

A challenge goes through three records. A `GateQuestion` is both judges' answers to the confirm items *without labels*.
The ledger of the anchor set says at which level it may be tested (`judges.ledger`), `register` which gain the test can
detect then, so that a test that could find nothing is never made. `decide` reads the labels, once; from its record
`replay` gets the same verdict.

The probability that a challenger takes the place that is not better is the level at most, for every test in `GATES`:
the mean of the gains is tested, given both judges' answers, whatever shape the gains have and whatever hangs together.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lakatos.judges.anchor import AnchorItem, version_of
from lakatos.judges.answer import JudgeAnswers
from lakatos.judges.errors import GateError, ReplayError
from lakatos.judges.gate_record import (
    GateDecided,
    GateRegistered,
    GateSettings,
    Outcome,
    StratumResult,
)
from lakatos.judges.paired import (
    betting_e_value,
    detectable_mean,
    exact_p,
    fewest_units,
    minimum_detectable_gain,
    most_lost,
)
from lakatos.traces.digest import Digest, digest_of

Array = NDArray[np.float64]


@dataclass(frozen=True)
class JudgePair:
    """Both judges' answers to the confirm items."""

    incumbent: JudgeAnswers
    challenger: JudgeAnswers

    @property
    def kept(self) -> NDArray[np.bool_]:
        """``(n_items,)`` items that both answered; failures are excluded pairwise, and never count for anyone."""
        return ~(np.isnan(self.incumbent.probability) | np.isnan(self.challenger.probability))

    @cached_property
    def digest(self) -> Digest:
        """Name of both judges' answers: it changes with any of them."""
        return digest_of([self.incumbent.to_json(), self.challenger.to_json()])


@dataclass(frozen=True)
class GateQuestion:
    """Question about the labels of the confirm part; nothing in it depends on a label.

    Raises:
        GateError: The two judges answered different numbers of items, or are the same.
    """

    settings: GateSettings
    pair: JudgePair
    """Answers to all confirm items, in the items' order."""
    units: tuple[int, ...]
    """Number of the unit of each item: items that share a problem or a person share it; see `anchor.components`."""
    anchor: Digest
    """Version of the confirm part."""

    def __post_init__(self) -> None:
        sizes = [len(self.pair.incumbent.probability), len(self.pair.challenger.probability)]
        if sizes != [len(self.units)] * 2 or not self.units:
            raise GateError(
                f"the incumbent answered {sizes[0]} items and the challenger {sizes[1]} of {len(self.units)}; ask both "
                "about all items of the confirm part, in the same order."
            )
        if self.pair.incumbent.judge == self.pair.challenger.judge:
            raise GateError(
                f"challenger and incumbent are the same judge ({self.pair.incumbent.judge[:8]}); nothing to decide."
            )

    @cached_property
    def digest(self) -> Digest:
        """The same question is one test, whoever asks it."""
        return digest_of([self.settings.model_dump(mode="json"), self.anchor, self.pair.digest])

    @cached_property
    def gains(self) -> Array:
        """``(2, n_kept)`` gain of each item that both answered, if its label is False and if it is True."""
        return np.stack([self._gains_if(label) for label in (False, True)])

    def gains_of(self, labels: NDArray[np.bool_]) -> Array:
        """``(n_kept,)`` gain of each item that both answered, by the labels of all items."""
        return np.asarray(np.where(labels[self.pair.kept], self.gains[1], self.gains[0]))

    @property
    def is_exact(self) -> bool:
        """Whether right answers to items that share nothing are counted, which needs no betting."""
        kept = np.asarray(self.units)[self.pair.kept]
        return self.settings.test == "exact" and len(set(kept.tolist())) == len(kept)

    def sums(self, gains: Array) -> Array:
        """``(n_units,)`` gains of the items of each unit, added."""
        _, place = np.unique(np.asarray(self.units)[self.pair.kept], return_inverse=True)
        return np.asarray(np.bincount(place, weights=gains), dtype=np.float64)

    @cached_property
    def largest_loss(self) -> float:
        """The most that any unit can lose; where none can lose anything, the most that it can gain, or 1."""
        worst = self.sums(-self.gains.min(axis=0)).max(initial=0.0)
        best = self.sums(self.gains.max(axis=0)).max(initial=0.0)
        return float(worst if worst > 0 else best if best > 0 else 1.0)

    @property
    def spread(self) -> float:
        """Standard deviation of the gains of units, were the challenger calibrated."""
        sure = self.pair.challenger.probability[self.pair.kept]
        mean = self.sums(sure * self.gains[1] + (1 - sure) * self.gains[0])
        variance = self.sums(sure * (1 - sure) * (self.gains[1] - self.gains[0]) ** 2)
        return float(np.sqrt(np.mean(variance + mean**2) - np.mean(mean) ** 2))

    def _gains_if(self, label: bool) -> Array:
        kept, pair = self.pair.kept, self.pair
        if self.settings.test == "exact":
            side = 1 if label else -1
            right = [answers.side[kept] == side for answers in (pair.incumbent, pair.challenger)]
            return np.asarray(right[1].astype(np.float64) - right[0])
        return brier_gains(pair, np.full(len(self.units), label))[kept]


@dataclass(frozen=True)
class GateEvidence:
    """Evidence of the labels about a challenger: a p value where right answers are counted, else an e value."""

    p_value: float | None
    e_value: float | None

    def convinces(self, level: float) -> bool:
        """Whether p <= level or, by Markov's inequality, e >= 1 / level."""
        if self.p_value is not None:
            return self.p_value <= level
        return (self.e_value or 0.0) >= 1 / level

    @property
    def words(self) -> str:
        """Result in words, for the reason of a decision."""
        return f"e = {self.e_value:.3g}" if self.p_value is None else f"p = {self.p_value:.2g}"


def evidence_of(question: GateQuestion, gains: Array) -> GateEvidence:
    """Test whether the challenger gains on average.

    Args:
        question: What is asked.
        gains: ``(n_kept,)`` gain of each item that both answered, as its label has it.
    """
    if question.is_exact:
        return GateEvidence(exact_p(int((gains > 0).sum()), int((gains < 0).sum())), None)
    return GateEvidence(None, betting_e_value(question.sums(gains), question.largest_loss))


def register(
    question: GateQuestion, *, slot: str, epoch: int, number: int, level: float
) -> GateRegistered:
    """Put a challenge; labels play no part in it.

    Args:
        question: What is asked.
        slot, epoch: Judge of the panel, and its epoch.
        number, level: Number and level of the test, from the ledger of the anchor set.
    """
    settings, pair, kept = question.settings, question.pair, question.pair.kept
    n, n_items = int(kept.sum()), len(kept)
    differ = float(np.mean(pair.incumbent.side[kept] != pair.challenger.side[kept])) if n else 0.0
    apart = (pair.incumbent.probability - pair.challenger.probability)[kept]
    n_units = len(question.sums(np.zeros(n)))
    if not n:
        detectable = 1.0
    elif question.is_exact:
        detectable = minimum_detectable_gain(
            n, differ, level, settings.floor, wanted=settings.power
        )
    else:
        of_a_unit = detectable_mean(
            question.spread, question.largest_loss, n_units, level, wanted=settings.power
        )
        detectable = min(of_a_unit * n_units / n, 1.0)
    return GateRegistered(
        slot=slot,
        epoch=epoch,
        settings=settings,
        anchor=question.anchor,
        incumbent=pair.incumbent.judge,
        challenger=pair.challenger.judge,
        answers=pair.digest,
        number=number,
        level=level,
        n_items=n_items,
        n_excluded=n_items - n,
        n_units=n_units,
        is_exact=question.is_exact,
        largest_loss=question.largest_loss,
        discordance=differ,
        minimum_detectable=detectable,
        expected=float(np.mean(apart**2)) if n else 0.0,
    )


def refusal_of(registration: GateRegistered) -> str:
    """Explain why the labels must not be read: too many failures, too few items, or no power. Else empty."""
    settings = registration.settings
    if registration.n_excluded > settings.most_excluded * registration.n_items:
        return (
            f"{registration.n_excluded} of {registration.n_items} items have no answer from one of the judges, more "
            f"than {settings.most_excluded:.0%}"
        )
    fewest = fewest_units(registration.level, exact=registration.is_exact)
    if registration.n_units < fewest:
        return (
            f"{registration.n_units} comparisons that share nothing are too few for test {registration.number} of this "
            f"anchor set, of level {registration.level:.2g}: at least {fewest} are needed"
        )
    is_loss = settings.test == "loss"
    target = max(settings.target, registration.expected) if is_loss else settings.target
    if registration.minimum_detectable > target:
        needed = registration.n_items * (registration.minimum_detectable / target) ** 2
        return (
            f"the smallest gain found with power {settings.power:.0%} is {registration.minimum_detectable:.3g}, above "
            f"the target of {target:.3g}; about {needed:.0f} confirm items are needed"
        )
    return ""


def decide(
    registration: GateRegistered, question: GateQuestion, items: Sequence[AnchorItem]
) -> GateDecided:
    """Decide by the registered rules whether the challenger replaces the incumbent.

    Args:
        registration: What was fixed beforehand.
        question: The same question.
        items: Confirm items with their labels, in the order of the answers; empty where `refusal_of` gives a reason.

    Raises:
        GateError: The answers, the judges or the items are not those that were registered.
    """
    # Nothing but the registered answers is decided on.
    settings, pair = registration.settings, question.pair
    if pair.digest != registration.answers:
        raise GateError(
            f"these answers are not those registered ({registration.answers[:8]}); put a new challenge."
        )
    common = _registered_fields(registration)
    # Without answers or power the labels stay unread.
    if refusal := refusal_of(registration):
        outcome: Outcome = "error" if "no answer" in refusal else "underpowered"
        return GateDecided(**common, verdict=outcome, reason=refusal)
    # Labels are read: who was right on each item that both judges answered, and what was gained.
    if version_of(items) != registration.anchor:
        raise GateError(
            f"these items are not the registered confirm part ({registration.anchor[:8]})."
        )
    kept = pair.kept
    incumbent, challenger = (
        _right(answers, items)[kept] for answers in (pair.incumbent, pair.challenger)
    )
    won, lost = challenger & ~incumbent, incumbent & ~challenger
    wins, losses, n = int(won.sum()), int(lost.sum()), int(kept.sum())
    gains = question.gains_of(np.array([item.label for item in items]))
    gain = float(gains.mean())
    evidence = evidence_of(question, gains)
    # It must be convincing, gain enough, and harm no protected stratum.
    strata = _strata(settings, items, kept, won, lost)
    harmed = [row.stratum for row in strata if not row.safe]
    conditions = (
        (evidence.convinces(registration.level), "not convincing"),
        (gain >= settings.floor, f"below the floor of {settings.floor}"),
        (not harmed, f"may lose more than {settings.margin} in {', '.join(harmed)}"),
    )
    failed = [words for is_met, words in conditions if not is_met]
    found = (
        f"gain {gain:+.3f} on {n} items ({wins} won, {losses} lost), {evidence.words} at level "
        f"{registration.level:.2g}"
    )
    return GateDecided(
        **common,
        verdict="keep" if failed else "replace",
        reason="; ".join([found, *failed]),
        n=n,
        wins=wins,
        losses=losses,
        gain=gain,
        p_value=evidence.p_value,
        e_value=evidence.e_value,
        strata=strata,
    )


def _registered_fields(registration: GateRegistered) -> dict[str, Any]:
    """Return what a decision repeats of its registration."""
    names = (
        "slot",
        "epoch",
        "incumbent",
        "challenger",
        "n_excluded",
        "number",
        "level",
        "minimum_detectable",
    )
    own = {name: getattr(registration, name) for name in names}
    return {"registration": digest_of(registration.model_dump(mode="json")), **own}


def replay(
    decision: GateDecided,
    registration: GateRegistered,
    question: GateQuestion,
    items: Sequence[AnchorItem],
) -> GateDecided:
    """Register and decide again from what the records cite.

    Raises:
        ReplayError: Something comes out otherwise; names the fields.
    """
    where = {name: getattr(registration, name) for name in ("slot", "epoch", "number", "level")}
    for recorded, again in (
        (registration, register(question, **where)),
        (decision, decide(registration, question, items)),
    ):
        differ = [
            f"{name} is {getattr(again, name)!r}, recorded {getattr(recorded, name)!r}"
            for name in type(recorded).model_fields
            if getattr(again, name) != getattr(recorded, name)
        ]
        if differ:
            raise ReplayError(
                f"the decision on slot {decision.slot!r} in epoch {decision.epoch} does not come out again: "
                f"{', '.join(differ)}."
            )
    return decision


def brier_gains(pair: JudgePair, labels: NDArray[np.bool_]) -> Array:
    """``(n_items,)`` Brier score of the incumbent minus that of the challenger; NaN where one failed.

    References:
        Brier (1950), Monthly Weather Review 78, 1-3.
    """
    happened = labels.astype(np.float64)
    return np.asarray(
        (pair.incumbent.probability - happened) ** 2 - (pair.challenger.probability - happened) ** 2
    )


def _right(answers: JudgeAnswers, items: Sequence[AnchorItem]) -> NDArray[np.bool_]:
    """Whether each answer is right; an answer that contradicts itself, or takes no side, is not."""
    return np.asarray(answers.side == np.where([item.label for item in items], 1, -1), dtype=bool)


def _strata(
    settings: GateSettings,
    items: Sequence[AnchorItem],
    kept: NDArray[np.bool_],
    won: NDArray[np.bool_],
    lost: NDArray[np.bool_],
) -> tuple[StratumResult, ...]:
    answered = [item for item, keep in zip(items, kept, strict=True) if keep]
    rows = []
    for name in settings.strata:
        values = np.array([item.strata.get(name, "") for item in answered])
        for value in sorted(set(values) - {""}):
            inside = values == value
            n, wins, losses = int(inside.sum()), int(won[inside].sum()), int(lost[inside].sum())
            bound = most_lost(wins, losses, n)
            rows.append(
                StratumResult(
                    stratum=f"{name}={value}",
                    n=n,
                    wins=wins,
                    losses=losses,
                    bound=bound,
                    safe=bound <= settings.margin,
                )
            )
    return tuple(rows)
