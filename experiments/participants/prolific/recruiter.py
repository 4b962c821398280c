"""Next actions of a recruitment, from the books alone: pure functions, so that a restart decides the same again.

Three promises hold for whatever the books show. A person gets one reward and one bonus at most, whichever of their
visits it is for. What is spent, and what approving everybody who may still claim it would cost, stays within the limit
as far as that is ours to decide: a study that could go beyond it is paused, and no payment is asked for that would
pass it. And whoever drops out is replaced, but stays in the books.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from lakatos.experiments.participants.prolific.client import BONUSES_AT_ONCE, SubmissionState
from lakatos.experiments.participants.prolific.ledger import (
    BulkPayment,
    RecruitmentAccount,
    SubmissionEntry,
    SubmissionPayment,
)
from lakatos.experiments.participants.prolific.money import Money
from lakatos.experiments.participants.prolific.plan import CodeType

BONUS_SETTLES_S: Final = 24 * 3600.0
"""Bonuses are paid within minutes; one that does not show after so long, in a list that shows bonuses, was not paid."""
CLAIM_LAPSES_S: Final = 24 * 3600.0
"""No visit may take a day; who ran out of time so long ago, and did not complete our page, does not come back."""
Collection: TypeAlias = Literal["", "open", "ended"]
"""Whether our own page may still want people; empty where nobody knows."""
ENDED: Final = (
    "the collection has ended and the study could still let people in; stop it with {command}"
)
_PAID: Final[frozenset[SubmissionState]] = frozenset({"APPROVED", "PARTIALLY APPROVED"})
_BUSY: Final[frozenset[SubmissionState]] = frozenset({"RESERVED", "ACTIVE"})
_UNPAID: Final[frozenset[SubmissionState]] = frozenset({"RETURNED", "REJECTED"})
_RUNNING: Final = frozenset({"ACTIVE", "PAUSED", "AWAITING REVIEW", "COMPLETED"})


@dataclass(frozen=True)
class Approve:
    """An action: approve a submission, which pays the reward."""

    submission: str


@dataclass(frozen=True)
class RequestReturn:
    """Ask a person to give the place back."""

    submission: str
    reason: str


@dataclass(frozen=True)
class RaisePlaces:
    """Ask for more people: ``places`` is the new total."""

    places: int


@dataclass(frozen=True)
class Pause:
    """Let nobody new in for now."""


@dataclass(frozen=True)
class Start:
    """Let people in again after a pause."""


@dataclass(frozen=True)
class Stop:
    """Everybody who was wanted has completed."""


@dataclass(frozen=True)
class PayBonuses:
    """Pay bonuses in one bulk."""

    bonuses: tuple[tuple[str, Money], ...]


@dataclass(frozen=True)
class SettleBulk:
    """The submissions show whether a bulk payment was made."""

    number: int
    paid: tuple[str, ...]
    given_up: bool


@dataclass(frozen=True)
class Review:
    """A person has to look at this."""

    about: str
    """A submission, or what else it is about."""
    why: str


Action: TypeAlias = (
    Approve | RequestReturn | RaisePlaces | Pause | Start | Stop | PayBonuses | SettleBulk | Review
)


@dataclass(frozen=True)
class RecruitmentBooks:
    """Number of people of a recruitment who have come, and what was spent on them so far."""

    wanted: int
    completed: int
    """People whose responses are complete and who were paid or can be."""
    busy: int
    """People who are taking part now."""
    by_state: Mapping[str, int]
    """Submissions."""
    spent: Money
    """Paid and promised, with fees."""
    at_most: Money
    """Cost if everybody who may still claim a reward got it, and the highest bonus."""
    limit: Money | None


def approvable(account: RecruitmentAccount) -> dict[str, SubmissionEntry]:
    """Choose the one visit of each person that is or can be paid, by participant.

    It is the one that was approved; else, for people who completed our page, the first that awaits review, or else
    the first that ran out of time.
    """
    chosen: dict[str, SubmissionEntry] = {}
    completed = _completed_people(account)
    promised = {payment.submission for payment in account.payments if payment.kind == "reward"}
    for entry in account.submissions:
        place = _preference(entry, entry.participant in completed, entry.id in promised)
        old = chosen.get(entry.participant)
        if place and (
            old is None
            or place > _preference(old, old.participant in completed, old.id in promised)
        ):
            chosen[entry.participant] = entry
    return chosen


def _preference(entry: SubmissionEntry, completed: bool, promised: bool) -> int:
    if entry.state in _PAID:
        return 4
    if not completed or entry.refused_in == entry.state:
        return 0
    if entry.state in ("AWAITING REVIEW", "TIMED-OUT") and promised:
        return 3
    return {"AWAITING REVIEW": 2, "TIMED-OUT": 1}.get(entry.state, 0)


def _completed_people(account: RecruitmentAccount) -> set[str]:
    return {entry.participant for entry in account.submissions if entry.page == "completed"}


def spent(account: RecruitmentAccount) -> Money:
    """Everything paid or promised, with fees."""
    fee = account.plan.fee
    return sum(
        (fee.cost(payment.amount) for payment in account.payments),
        Money(0, account.plan.settings.currency),
    )


def at_most(account: RecruitmentAccount, open_places: int, now_s: float) -> Money:
    """Compute the highest cost: everybody with a claim gets reward and highest bonus, and every open place is taken.

    People who ran out of time have a claim for a day, since many come back; those who returned their place have none.
    """
    plan = account.plan
    paid = {(payment.submission, payment.kind): payment for payment in account.payments}
    most = plan.person_cost * open_places + screen_outs_left(account)
    for payment in account.payments:
        most += plan.fee.cost(payment.amount) * (payment.kind == "screen_out")
    for entry in account.submissions:
        if entry.state in _UNPAID or entry.state == "SCREENED OUT" or _lapsed(entry, now_s):
            continue
        bonus = paid.get((entry.id, "bonus"))
        if bonus is not None:
            most += plan.reward_cost + plan.fee.cost(bonus.amount)
        else:
            most += plan.person_cost
    return most


def _lapsed(entry: SubmissionEntry, now_s: float) -> bool:
    return (
        entry.state == "TIMED-OUT"
        and entry.page != "completed"
        and now_s - entry.since_s > CLAIM_LAPSES_S
    )


def open_places(account: RecruitmentAccount) -> int:
    """Places that somebody may still take."""
    if account.state not in ("ACTIVE", "PUBLISHING", "SCHEDULED"):
        return 0
    return max(0, account.places - account.taken)


def books(account: RecruitmentAccount, *, now_s: float) -> RecruitmentBooks:
    """Count how many people of a recruitment have come, and what was spent on them."""
    counts: dict[str, int] = {}
    for entry in account.submissions:
        counts[entry.state] = counts.get(entry.state, 0) + 1
    return RecruitmentBooks(
        wanted=account.people,
        completed=len(_good(account)),
        busy=len(_busy(account)),
        by_state=dict(sorted(counts.items())),
        spent=spent(account),
        at_most=at_most(account, open_places(account), now_s),
        limit=account.limit,
    )


def _good(account: RecruitmentAccount) -> set[str]:
    completed = _completed_people(account)
    return {person for person in approvable(account) if person in completed}


def _busy(account: RecruitmentAccount) -> set[str]:
    return {entry.participant for entry in account.submissions if entry.state in _BUSY} - _good(
        account
    )


def decide(
    account: RecruitmentAccount,
    *,
    now_s: float,
    bonus: Callable[[SubmissionEntry], Money | None] = lambda _: None,
    collection: Collection = "",
    stop_when_ended: bool = False,
    command: str = "`lakatos prolific pay --stop`",
) -> tuple[Action, ...]:
    """Decide what should be done, in order; empty before a limit was confirmed and the study was made.

    Args:
        account: The books.
        now_s: Seconds since 1970.
        bonus: What a person earned on top; None or nothing when no bonus is due, or not yet.
        collection: While it is open, a complete study is paused, not stopped, because people whose responses
            are excluded may be replaced. When it has ended before everybody came, the study is paused, and somebody is
            told to stop it.
        stop_when_ended: Stop it then, without being told.
        command: Command that stops it, for the message.
    """
    if account.limit is None or account.study is None:
        return ()
    settled = tuple(
        _settle(account, bulk, now_s)
        for bulk in account.bulks
        if bulk.state in ("prepared", "asked")
    )
    approvals, left = _approvals(
        account, account.limit - spent(account) - screen_outs_left(account)
    )
    return (
        *(action for action in settled if action is not None),
        *approvals,
        *_returns(account),
        *_bonuses(account, bonus, left),
        *_places(account, now_s, collection, stop_when_ended, command),
    )


def screen_outs_left(account: RecruitmentAccount) -> Money:
    """Compute what the service may still pay by itself to people who are screened out."""
    screened = sum(entry.state == "SCREENED OUT" for entry in account.submissions)
    return account.plan.screen_out_cost * max(0, account.plan.settings.most_screened_out - screened)


def _approvals(account: RecruitmentAccount, left: Money) -> tuple[list[Action], Money]:
    """Rewards to pay from the money that is left, and what is left then."""
    actions: list[Action] = []
    promised = {payment.submission for payment in account.payments if payment.kind == "reward"}
    for entry in sorted(approvable(account).values(), key=lambda entry: entry.number):
        if entry.state in _PAID:
            continue
        cost = account.plan.reward_cost * (entry.id not in promised)
        if cost <= left:
            actions.append(Approve(entry.id))
            left -= cost
        else:
            actions.append(
                Review(entry.id, f"completed, but paying would pass the limit of {account.limit}")
            )
    return actions, left


def _returns(account: RecruitmentAccount) -> list[Action]:
    """People to ask for their place back, and visits that somebody has to look at."""
    chosen, completed = approvable(account), _completed_people(account)
    actions: list[Action] = []
    for entry in account.submissions:
        if entry.participant in completed and entry.refused_in == entry.state:
            actions.append(
                Review(
                    entry.id,
                    f"completed our page, but cannot be approved in the state {entry.state}",
                )
            )
        elif entry.state != "AWAITING REVIEW" or chosen.get(entry.participant) is entry:
            continue
        elif entry.page == "failed_checks":
            actions.append(
                Review(
                    entry.id,
                    "failed more attention checks than the plan lets pass; approve or ask back",
                )
            )
        elif entry.return_asked:
            actions.append(Review(entry.id, "was asked to return the place and has not done so"))
        elif entry.participant in chosen:
            actions.append(RequestReturn(entry.id, "You have taken part in this study already."))
        elif entry.code == account.plan.codes["COMPLETED"]:
            actions.append(
                Review(entry.id, "gave the completion code, but our page has no complete answers")
            )
        else:
            actions.append(
                RequestReturn(
                    entry.id, _REASONS.get(_kind(account, entry), "Did not finish the study.")
                )
            )
    return actions


_REASONS: Final[Mapping[CodeType | None, str]] = {
    "NO_CONSENT": "Withdrew consent.",
    "FIXED_SCREENOUT": "The study asks for people of another kind.",
    "INCOMPATIBLE_DEVICE": "The study does not run on this device.",
}


def _kind(account: RecruitmentAccount, entry: SubmissionEntry) -> CodeType | None:
    return next((kind for kind, code in account.plan.codes.items() if code == entry.code), None)


def _bonuses(
    account: RecruitmentAccount, bonus: Callable[[SubmissionEntry], Money | None], left: Money
) -> list[Action]:
    """One bulk payment at a time: while the last one is not settled, nobody knows who was paid."""
    if any(bulk.state in ("prepared", "asked") for bulk in account.bulks):
        return []
    actions: list[Action] = []
    lines: list[tuple[str, Money]] = []
    paid = {payment.submission for payment in account.payments if payment.kind == "bonus"}
    people = {entry.id: entry.participant for entry in account.submissions}
    paid_people = {people[submission] for submission in paid}
    for entry in sorted(approvable(account).values(), key=lambda entry: entry.number):
        amount = (
            bonus(entry)
            if entry.state == "APPROVED" and entry.participant not in paid_people
            else None
        )
        if not amount:
            continue
        if not amount <= account.plan.most_bonus:
            actions.append(
                Review(
                    entry.id, f"a bonus of {amount} is above the plan's {account.plan.most_bonus}"
                )
            )
        elif not account.plan.fee.cost(amount) <= left:
            actions.append(
                Review(entry.id, f"a bonus of {amount} would pass the limit of {account.limit}")
            )
        elif len(lines) < BONUSES_AT_ONCE:
            lines.append((entry.id, amount))
            left -= account.plan.fee.cost(amount)
    return [*actions, PayBonuses(tuple(lines))] if lines else actions


def _settle(
    account: RecruitmentAccount, bulk: BulkPayment, now_s: float
) -> SettleBulk | Review | None:
    """Check that the service shows what a bulk payment should have paid; one never requested paid nothing."""
    if bulk.state == "prepared":
        return SettleBulk(bulk.number, (), given_up=True)
    entries = {entry.id: entry for entry in account.submissions}
    waiting = [
        payment
        for payment in account.payments
        if payment.bulk == bulk.number and payment.state == "promised"
    ]
    everybody = [payment for payment in account.payments if payment.bulk == bulk.number]
    shown = tuple(
        payment.submission for payment in waiting if _shows(entries[payment.submission], payment)
    )
    late = bulk.asked_s is not None and now_s - bulk.asked_s > BONUS_SETTLES_S
    if shown or not waiting:
        return SettleBulk(bulk.number, shown, given_up=False)
    is_known = all(entries[payment.submission].bonuses_minor is not None for payment in waiting)
    # An empty list is no proof where the service has never listed a bonus: it may not list them at all.
    is_known &= any(entry.bonuses_minor for entry in account.submissions)
    if late and is_known and len(waiting) == len(everybody):
        return SettleBulk(bulk.number, (), given_up=True)
    if late:
        why = f"{len(waiting)} of its {len(everybody)} bonuses do not show; look at the service and settle it by hand"
        return Review(f"bulk {bulk.number}", why)
    return None


def _shows(entry: SubmissionEntry, payment: SubmissionPayment) -> bool:
    return len(entry.bonuses_minor or ()) > (payment.bonuses_before or 0)


def lets_in(account: RecruitmentAccount) -> bool:
    """Whether a study could still let somebody in by itself: it runs or is paused, and nobody stopped it for good."""
    return not account.stopped and account.state in ("ACTIVE", "PAUSED", "PUBLISHING", "SCHEDULED")


def _places(
    account: RecruitmentAccount,
    now_s: float,
    collection: Collection,
    stop_when_ended: bool,
    command: str,
) -> list[Action]:
    """Replace people who dropped out, and let nobody in who is not wanted or cannot be paid."""
    assert account.limit is not None
    if account.state not in _RUNNING:
        return []
    if account.stopped:
        return [Stop()] if account.state in ("ACTIVE", "PAUSED") else []
    n_good, busy = len(_good(account)), len(_busy(account))
    free = max(0, account.places - account.taken)
    ours = sum(entry.state not in _UNPAID for entry in account.submissions)
    # The list can lag behind the count of places: who is not listed yet is taking part. People who ran out of time or
    # were screened out may or may not hold a place; they are counted, or nobody would come in their stead.
    unseen = max(0, account.taken - ours)
    missing = account.people - n_good - busy - unseen
    affordable = (account.limit - at_most(account, 0, now_s)) // account.plan.person_cost - unseen
    # Only who was paid is sure to count: an approval can still be refused, and a stopped study is not opened again.
    n_paid = sum(
        entry.state in _PAID
        for person, entry in approvable(account).items()
        if person in _good(account)
    )
    complete = n_paid >= account.people and not busy and not unseen
    if complete and collection != "open":
        return [Stop()] if account.state in ("ACTIVE", "PAUSED") else []
    if collection == "ended":
        if not lets_in(account):
            return []
        if stop_when_ended:
            return [Stop()]
        return [
            *([Pause()] if account.state == "ACTIVE" else []),
            Review("study", ENDED.format(command=command)),
        ]
    if account.state == "ACTIVE":
        if free and (missing <= 0 or free > affordable):
            return [Pause(), *_short(account, missing, affordable)]
        return _raise(account, missing, affordable, free)
    if missing <= 0:
        return []
    if account.state == "PAUSED" and not account.paused:
        return [Review("study", "was paused by somebody else; start it there, or stop it")]
    if account.state == "PAUSED" and free:
        return [Start()] if free <= affordable else list(_short(account, missing, affordable))
    if free:
        # A study that filled up has no free place: this one was stopped, and raising places would open it again.
        return [Review("study", f"was stopped by somebody else with {missing} people missing")]
    return _raise(account, missing, affordable, 0)


def _raise(account: RecruitmentAccount, missing: int, affordable: int, free: int) -> list[Action]:
    raised = min(missing, affordable) - free
    actions: list[Action] = [RaisePlaces(account.places + raised)] if raised > 0 else []
    return [*actions, *_short(account, missing, affordable)]


def _short(account: RecruitmentAccount, missing: int, affordable: int) -> Sequence[Action]:
    if missing <= max(0, affordable):
        return ()
    return [
        Review(
            "limit",
            f"{missing} people are missing, and {account.limit} pays for {max(0, affordable)}; raise it",
        )
    ]
