"""The gate: whether a challenger takes the place of an incumbent judge, on evidence that was fixed beforehand.

A challenge goes through two records. `register` takes both judges' answers to the confirm items *without labels*; the
number of items on which they disagree then says what gain the test can detect, so that a test that could find nothing
is never made. `decide` reads the labels, once, and writes a record from which `replay` gets the same verdict.

Two tiers: ``working`` steers the search and may be reversed; only what passed ``certified`` may be claimed, since its
level comes from a ledger over all tests of the campaign.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict

from lakatos.judges.anchor import AnchorItem, AnchorSet, LabelAccess, components, version_of
from lakatos.judges.answer import JudgeAnswers, ask
from lakatos.judges.errors import GateError, ReplayError
from lakatos.judges.judge import Judge
from lakatos.judges.ledger import Ledger
from lakatos.judges.paired import (
    betting_e_values,
    detectable_mean,
    exact_p,
    minimum_detectable_gain,
    mixture_e_value,
    most_lost,
    sign_flip_p,
)
from lakatos.traces.digest import Digest, Fingerprint, digest_of
from lakatos.traces.record import Record

Array = NDArray[np.float64]
Tier = Literal["working", "certified"]
Outcome = Literal["replace", "keep", "underpowered", "error"]
Test = Literal["exact", "e_mixture", "e_betting", "loss"]


class GateSettings(BaseModel):
    """Rules of a gate, fixed before any challenge."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    tier: Tier = "certified"
    test: Test = "exact"
    """Exact test of right answers, one of two e values for them, or sign flips of the Brier score's differences. The
    e values take items for independent; with the others, items that share a problem or a person stand together."""
    working_level: float = 0.05
    """Level of every test of the working tier; the certified tier asks the ledger."""
    floor: float = 0.02
    """Least observed gain: share of right answers, or of the Brier score for the test ``loss``."""
    target: float = 0.1
    """Gain that a certified test must be able to detect, in the same unit; with the test ``loss``, the gain of a
    challenger that is calibrated is enough where that is larger."""
    power: float = 0.8
    """With which probability."""
    margin: float = 0.05
    """Share of right answers that the challenger may lose in a protected stratum."""
    strata: tuple[str, ...] = ("origin",)
    """Names of strata whose values are protected, each."""
    shown: bool = True
    """Whether the upper bound of what is lost must lie within the margin, or only what was observed."""
    most_excluded: float = 0.02
    """Share of items without an answer from either judge beyond which nothing is decided."""


WORKING = GateSettings(tier="working", shown=False)
CERTIFIED = GateSettings()


class GateRegistered(Record):
    """A challenge was put, before any label was read."""

    kind: Literal["gate_registered"] = "gate_registered"
    version: Literal[1] = 1
    slot: str
    epoch: int
    settings: GateSettings
    anchor: Fingerprint
    """Version of the confirm part."""
    incumbent: Fingerprint
    challenger: Fingerprint
    answers: Fingerprint
    """Of both judges' answers."""
    level: float
    """Error probability that the test may use."""
    seed: int
    """Of random sign flips."""
    n_items: int
    n_excluded: int
    discordance: float
    """Share of items on which the two judges take different sides; needs no label."""
    minimum_detectable: float
    """Smallest true gain found with the wanted power."""
    expected: float
    """Gain in the Brier score if the challenger is calibrated: mean squared difference of the two probabilities."""


class StratumResult(BaseModel):
    """How a challenger did on one protected stratum of items."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    stratum: str
    n: int
    wins: int
    losses: int
    bound: float
    """Share of right answers lost: the upper 95% bound where safety must be shown, else what was observed."""
    safe: bool


class GateDecided(Record):
    """A challenge was decided: the challenger replaces the incumbent, or does not."""

    kind: Literal["gate_decided"] = "gate_decided"
    version: Literal[1] = 1
    registration: Fingerprint
    """Digest of the `GateRegistered` record."""
    slot: str
    epoch: int
    tier: Tier
    incumbent: Fingerprint
    challenger: Fingerprint
    verdict: Outcome
    reason: str
    n: int = 0
    """Items that both answered; 0 where no label was read."""
    n_excluded: int
    wins: int = 0
    losses: int = 0
    gain: float = 0.0
    """Observed, in the unit of the settings' floor."""
    p_value: float | None = None
    e_value: float | None = None
    level: float
    minimum_detectable: float
    debit: float
    """What the ledger was charged; 0 where no label was read, or by the working tier."""
    level_left: float
    """What the ledger offers afterwards."""
    strata: tuple[StratumResult, ...] = ()


@dataclass(frozen=True)
class JudgePair:
    """Both judges' answers to the confirm items."""

    incumbent: JudgeAnswers
    challenger: JudgeAnswers

    @property
    def kept(self) -> NDArray[np.bool_]:
        """``(n_items,)`` items that both answered; failures are excluded pairwise, and never count for anyone."""
        return ~(np.isnan(self.incumbent.probability) | np.isnan(self.challenger.probability))

    @property
    def digest(self) -> Digest:
        """Name of both judges' answers: it changes with any of them."""
        return digest_of([self.incumbent.to_json(), self.challenger.to_json()])


def register(
    settings: GateSettings,
    pair: JudgePair,
    *,
    slot: str,
    epoch: int,
    anchor: Digest,
    ledger: Ledger,
    seed: int,
) -> GateRegistered:
    """Put a challenge; labels play no part in it.

    Args:
        settings: The rules.
        pair: Answers to all confirm items, in the items' order.
        slot, epoch: Which judge of the panel, and when.
        anchor: Version of the confirm part.
        ledger: Says at which level a certified test may be made.
        seed: Of random sign flips.

    Raises:
        GateError: The two answered different numbers of items, or are the same judge.
    """
    n_items = len(pair.incumbent.probability)
    if n_items != len(pair.challenger.probability) or n_items == 0:
        raise GateError(
            f"the incumbent answered {n_items} items and the challenger {len(pair.challenger.probability)}; ask both "
            "about all items of the confirm part, in the same order."
        )
    if pair.incumbent.judge == pair.challenger.judge:
        raise GateError(
            f"challenger and incumbent are the same judge ({pair.incumbent.judge[:8]}); nothing to decide."
        )
    kept = pair.kept
    n = int(kept.sum())
    level = settings.working_level if settings.tier == "working" else ledger.level
    differ = float(np.mean(pair.incumbent.side[kept] != pair.challenger.side[kept])) if n else 0.0
    if settings.test == "loss":
        spread = _spread_of_losses(pair)
        detectable = detectable_mean(spread, n, level, wanted=settings.power) if n else 1.0
    else:
        detectable = minimum_detectable_gain(
            n, differ, level, settings.floor, wanted=settings.power
        )
    return GateRegistered(
        slot=slot,
        epoch=epoch,
        settings=settings,
        anchor=anchor,
        incumbent=pair.incumbent.judge,
        challenger=pair.challenger.judge,
        answers=pair.digest,
        level=level,
        seed=seed,
        n_items=n_items,
        n_excluded=n_items - n,
        discordance=differ,
        minimum_detectable=detectable,
        expected=float(
            np.mean((pair.incumbent.probability[kept] - pair.challenger.probability[kept]) ** 2)
        )
        if n
        else 0.0,
    )


def refusal_of(registration: GateRegistered) -> str:
    """Why the labels must not be read: too many failures, or no power. Empty when they may be."""
    settings = registration.settings
    if registration.n_excluded > settings.most_excluded * registration.n_items:
        return (
            f"{registration.n_excluded} of {registration.n_items} items have no answer from one of the judges, more "
            f"than {settings.most_excluded:.0%}"
        )
    target = (
        max(settings.target, registration.expected) if settings.test == "loss" else settings.target
    )
    if settings.tier == "certified" and registration.minimum_detectable > target:
        return (
            f"the smallest gain found with power {settings.power:.0%} is {registration.minimum_detectable:.3g}, above "
            f"the target of {target:.3g}; more confirm items are needed"
        )
    return ""


def decide(
    registration: GateRegistered, pair: JudgePair, items: Sequence[AnchorItem], ledger: Ledger
) -> tuple[GateDecided, Ledger]:
    """Decide by the registered rules whether the challenger replaces the incumbent.

    Args:
        registration: What was fixed beforehand.
        pair: The same answers.
        items: Confirm items with their labels, in the order of the answers; empty where `refusal_of` gives a reason.
        ledger: Charged for every test whose labels were read, whatever comes out.

    Returns:
        The record, and the ledger afterwards.

    Raises:
        GateError: The answers, the judges or the items are not those that were registered.
    """
    # Nothing but the registered answers is decided on.
    settings = registration.settings
    if pair.digest != registration.answers:
        raise GateError(
            f"these answers are not those registered ({registration.answers[:8]}); put a new challenge."
        )
    common = {
        "registration": digest_of(registration.model_dump(mode="json")),
        "slot": registration.slot,
        "epoch": registration.epoch,
        "tier": settings.tier,
        "incumbent": registration.incumbent,
        "challenger": registration.challenger,
        "n_excluded": registration.n_excluded,
        "level": registration.level,
        "minimum_detectable": registration.minimum_detectable,
    }
    # Without answers or power the labels stay unread, and the test costs nothing.
    if refusal := refusal_of(registration):
        outcome: Outcome = "error" if "no answer" in refusal else "underpowered"
        decided = GateDecided(
            **common, verdict=outcome, reason=refusal, debit=0.0, level_left=ledger.level
        )
        return decided, ledger
    # Labels are read: who was right on each item that both judges answered.
    if version_of(items) != registration.anchor:
        raise GateError(
            f"these items are not the registered confirm part ({registration.anchor[:8]})."
        )
    kept = pair.kept
    right = [_right(answers, items)[kept] for answers in (pair.incumbent, pair.challenger)]
    won, lost = right[1] & ~right[0], right[0] & ~right[1]
    wins, losses, n = int(won.sum()), int(lost.sum()), int(kept.sum())
    p_value: float | None = None
    e_value: float | None = None
    # The gain of each item: won minus lost, or the difference of Brier losses.
    gains = won.astype(float) - lost if settings.test != "loss" else brier_gains(pair, items)[kept]
    gain = float(gains.mean())
    # The registered test, of clusters of items.
    groups = components(items)
    clusters = [group for group, keep in zip(groups, kept, strict=True) if keep]
    if settings.test == "exact" and len(set(clusters)) == n:
        p_value = exact_p(wins, losses)
    elif settings.test in ("exact", "loss"):
        # Items that share a problem or a person stand or fall together.
        p_value = sign_flip_p(gains, clusters, rng=np.random.default_rng(registration.seed))
    elif settings.test == "e_mixture":
        e_value = mixture_e_value(wins, losses)
    else:
        signs = (won.astype(int) - lost.astype(int))[won | lost]
        e_value = float(betting_e_values(signs).max(initial=1.0))
    # Convincing at the registered level: p <= level, or by Ville's inequality e >= 1 / level.
    convincing = (
        p_value <= registration.level
        if p_value is not None
        else (e_value or 0) >= 1 / registration.level
    )
    # It must also gain enough, and harm no protected stratum.
    strata = _strata(settings, items, kept, won, lost)
    harmed = [row.stratum for row in strata if not row.safe]
    enough = gain >= settings.floor
    replaces = convincing and enough and not harmed
    # The reason in words.
    evidence = f"p = {p_value:.2g}" if p_value is not None else f"e = {e_value:.3g}"
    reason = f"gain {gain:+.3f} on {n} items ({wins} won, {losses} lost), {evidence} at level {registration.level:.2g}"
    if not replaces:
        reason += "; " + "; ".join(
            words
            for fails, words in (
                (not convincing, "not convincing"),
                (not enough, f"below the floor of {settings.floor}"),
                (bool(harmed), f"may lose more than {settings.margin} in {', '.join(harmed)}"),
            )
            if fails
        )
    # A certified test is charged to the ledger whatever came out, since its labels were read.
    certified = settings.tier == "certified"
    after = ledger.debit(registration.level, replaced=replaces) if certified else ledger
    decided = GateDecided(
        **common,
        verdict="replace" if replaces else "keep",
        reason=reason,
        n=n,
        wins=wins,
        losses=losses,
        gain=gain,
        p_value=p_value,
        e_value=e_value,
        debit=registration.level if certified else 0.0,
        level_left=after.level,
        strata=strata,
    )
    return decided, after


@dataclass(frozen=True)
class GateChallenge:
    """All that came of putting one challenger to the test."""

    pair: JudgePair
    registration: GateRegistered
    decided: GateDecided
    access: LabelAccess
    ledger: Ledger


def challenge(
    settings: GateSettings,
    incumbent: Judge,
    challenger: Judge,
    anchor: AnchorSet,
    access: LabelAccess,
    ledger: Ledger,
    *,
    slot: str,
    epoch: int,
    seed: int,
    both_orders: bool = False,
    repeats: int = 1,
    timeout_s: float | None = None,
) -> GateChallenge:
    """Ask both judges about the confirm items, register, read the labels if they may be read, and decide.

    Args:
        settings: The rules.
        incumbent, challenger: The judges; the challenger was chosen without the confirm items.
        anchor, access, ledger: The items, what was read so far, and what may be spent.
        slot, epoch, seed: As in `register`.
        both_orders, repeats, timeout_s: How they are asked; see `judges.answer.ask`.
    """
    asked = anchor.submissions("confirm")
    given, taken = (
        ask(judge, asked, both_orders=both_orders, repeats=repeats, timeout_s=timeout_s)
        for judge in (incumbent, challenger)
    )
    pair = JudgePair(given, taken)
    registration = register(
        settings,
        pair,
        slot=slot,
        epoch=epoch,
        anchor=anchor.digest_of("confirm"),
        ledger=ledger,
        seed=seed,
    )
    items: Sequence[AnchorItem] = ()
    if not refusal_of(registration):
        items, access = access.read(
            anchor, "confirm", "gate", [incumbent.digest, challenger.digest]
        )
    decided, ledger = decide(registration, pair, items, ledger)
    return GateChallenge(pair, registration, decided, access, ledger)


def replay(
    decision: GateDecided,
    registration: GateRegistered,
    pair: JudgePair,
    items: Sequence[AnchorItem],
    ledger: Ledger,
) -> GateDecided:
    """Decide again from what the record cites.

    Args:
        ledger: As it was before the decision.

    Raises:
        ReplayError: Something comes out otherwise; names the fields.
    """
    again, _ = decide(registration, pair, items, ledger)
    if again != decision:
        differ = [
            name
            for name in type(decision).model_fields
            if getattr(again, name) != getattr(decision, name)
        ]
        found = ", ".join(
            f"{name} is {getattr(again, name)!r}, recorded {getattr(decision, name)!r}"
            for name in differ
        )
        raise ReplayError(
            f"the decision on slot {decision.slot!r} in epoch {decision.epoch} does not come out again: {found}."
        )
    return again


def refold(ledger: Ledger, decisions: Sequence[GateDecided]) -> Ledger:
    """The ledger after decisions, in their order: a fold that nothing can reset."""
    for decision in decisions:
        if decision.debit:
            ledger = ledger.debit(decision.debit, replaced=decision.verdict == "replace")
    return ledger


def brier_gains(pair: JudgePair, items: Sequence[AnchorItem]) -> Array:
    """``(n_items,)`` Brier score of the incumbent minus that of the challenger; NaN where one failed.

    References:
        Brier (1950), Monthly Weather Review 78, 1-3.
    """
    labels = np.array([item.label for item in items], dtype=np.float64)
    return np.asarray(
        (pair.incumbent.probability - labels) ** 2 - (pair.challenger.probability - labels) ** 2
    )


def _right(answers: JudgeAnswers, items: Sequence[AnchorItem]) -> NDArray[np.bool_]:
    """Whether each answer is right; an answer that contradicts itself, or takes no side, is not."""
    return np.asarray(answers.side == np.where([item.label for item in items], 1, -1), dtype=bool)


def _spread_of_losses(pair: JudgePair) -> float:
    """Standard deviation of the Brier score's differences, were the challenger calibrated; needs no label."""
    p, q = (answers.probability[pair.kept] for answers in (pair.incumbent, pair.challenger))
    if_one, if_zero = (1 - p) ** 2 - (1 - q) ** 2, p**2 - q**2
    mean = q * if_one + (1 - q) * if_zero
    return (
        float(np.sqrt(np.mean(q * if_one**2 + (1 - q) * if_zero**2) - np.mean(mean) ** 2))
        if len(p)
        else 0.0
    )


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
            bound = most_lost(wins, losses, n) if settings.shown else (losses - wins) / n
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
