"""A whole recruitment against the stand-in: what would happen, and whether the books agree with the truth."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final, TypeVar, cast

import httpx

from lakatos.experiments.participants.prolific.books import LEDGER_FILE
from lakatos.experiments.participants.prolific.clerk import PageAnswers, ProlificClerk
from lakatos.experiments.participants.prolific.client import ProlificClient
from lakatos.experiments.participants.prolific.errors import OutcomeUnknownError, UnreachableError
from lakatos.experiments.participants.prolific.ledger import (
    PageStatus,
    PaymentLedger,
    RecruitmentAccount,
    SubmissionEntry,
)
from lakatos.experiments.participants.prolific.money import Money
from lakatos.experiments.participants.prolific.plan import (
    RecruitmentPlan,
    RecruitmentSettings,
    confirm,
)
from lakatos.experiments.participants.prolific.recruiter import Action, RecruitmentBooks, Review
from tests.rehearsal.prolific.stand_in import StandIn
from tests.rehearsal.prolific.stand_in_world import TOKEN, ProlificWorld

T = TypeVar("T")
EXAMPLE: Final = RecruitmentSettings(
    experiment="rehearsal",
    title="Choosing between two offers",
    description="You choose between pairs of offers. It takes about ten minutes.",
    url="https://laboratory.example/study/",
    people=20,
    minutes=10,
    reward="1.50",
    most_bonus="0.50",
    screen_out_reward="0.20",
    most_screened_out=4,
)
"""A small plan."""
_MOST_ROUNDS: Final = 500
_STILL: Final = 3
"""Rounds without a change after which time goes faster, so that bonuses settle."""
_LONG_STILL: Final = 6
_FAST_MINUTES: Final = 6 * 60.0


@dataclass(frozen=True)
class RecruitmentRehearsal:
    """What a rehearsed recruitment came to: its books, and whatever went wrong."""

    seed: int
    account: RecruitmentAccount
    books: RecruitmentBooks
    problems: tuple[str, ...]
    """Differences between the books and the truth, and broken promises; none if all is well."""
    n_rounds: int
    n_interrupted: int
    """Rounds that were begun again, since the service could not be reached or the program was killed."""
    asked: dict[str, int]
    """Requests and faults that the service met."""
    n_people: int
    n_replaced: int
    """People who came and did not complete."""
    n_unpaid: int
    """People who completed and could be paid, but were not: none, unless the limit forbids it."""
    n_paid: int
    n_bonuses: int
    paid: Money
    """Money actually paid, with fees."""
    reviews: tuple[Review, ...]
    """What was left for a person to look at."""


def rehearse(
    plan: RecruitmentPlan,
    limit: Money,
    stand_in: StandIn,
    world: ProlificWorld,
    folder: Path,
    *,
    bonus: Callable[[str], Money | None] = lambda _: None,
    make_transport: Callable[[], httpx.BaseTransport] | None = None,
    kill: type[BaseException] = KeyboardInterrupt,
    timeout_s: float = 20.0,
) -> RecruitmentRehearsal:
    """Publish, then work until everybody who was wanted has completed, bonuses are settled and nothing moves any more.

    Args:
        plan: What is asked of the service.
        limit: Most that may be spent.
        stand_in: A running server; it is given the ``world``.
        world: The service's state and people.
        folder: Where the books are kept; books that are there are gone on with.
        bonus: What a submission earned on top.
        make_transport: Makes the client's transport, where a test wants its own.
        kill: Raised by such a transport to end the program there; a new one goes on with the books.
        timeout_s: Seconds that the client waits for an answer.
    """
    stand_in.world = world
    n_failed, clerk = 0, cast(ProlificClerk | None, None)
    open_now = ExitStack()

    @contextmanager
    def program() -> Iterator[ProlificClerk]:
        with (
            _client(stand_in, make_transport, timeout_s) as client,
            PaymentLedger(folder / LEDGER_FILE, now=world.now) as ledger,
        ):
            if plan.name not in ledger.experiments():
                ledger.keep_plan(plan)
            yield ProlificClerk(
                client, ledger, plan.name, WorldPage(world), bonus=lambda entry: bonus(entry.id)
            )

    def attend(work: Callable[[ProlificClerk], T]) -> T:
        """Do ``work``; after a failure that asks to try later, or a kill, in a new program that has only the books."""
        nonlocal n_failed, clerk
        for _ in range(_MOST_ROUNDS):
            try:
                clerk = clerk or open_now.enter_context(program())
                return work(clerk)
            except (UnreachableError, OutcomeUnknownError, kill):
                n_failed, clerk = n_failed + 1, None
                open_now.close()
        raise UnreachableError(
            f"the stand-in could not be reached in {_MOST_ROUNDS} attempts; lower its faults."
        )

    confirmation = confirm(plan, limit, typed_name=plan.name)
    attend(lambda clerk: clerk.publish(confirmation))
    last, still, n_rounds = None, 0, 0
    actions: tuple[Action, ...] = ()
    while n_rounds < _MOST_ROUNDS and still < _STILL + _LONG_STILL:
        world.tick(_FAST_MINUTES) if still >= _STILL else world.tick()
        actions, account = attend(lambda clerk: (clerk.work(), clerk.account))
        attend(partial(settle_what_was_asked, world=world, actions=actions))
        still = still + 1 if account == last and world.quiet() else 0
        last, n_rounds = account, n_rounds + 1
    account, found = attend(lambda clerk: (clerk.poll(), clerk.account, clerk.books)[1:])
    open_now.close()
    people = {item.participant for item in world.submissions.values()}
    return RecruitmentRehearsal(
        seed=world.seed,
        account=account,
        books=found,
        problems=tuple(problems(account, world)),
        n_rounds=n_rounds,
        n_interrupted=n_failed,
        asked=dict(world.asked),
        n_people=len(people),
        n_replaced=len(people) - found.completed,
        n_paid=sum(item.kind == "reward" for item in world.transfers),
        n_bonuses=sum(item.kind == "bonus" for item in world.transfers),
        n_unpaid=len(unpaid(world)),
        paid=world.transferred(plan.settings.currency),
        reviews=tuple(action for action in actions if isinstance(action, Review)),
    )


class WorldPage(PageAnswers):
    """What our own page would know of the visits in a world."""

    def __init__(self, world: ProlificWorld) -> None:
        """The page to which the ``world`` sends its people."""
        self.world = world

    def __call__(self, participant: str, submission: str) -> PageStatus | None:
        """How a person's visit to the page ended; None while it goes on."""
        return self.world.page.get(submission)


def settle_what_was_asked(
    clerk: ProlificClerk, world: ProlificWorld, actions: Sequence[Action]
) -> None:
    """Do what a person does who is asked about a bulk payment: look at the service, and say what is there."""
    bulks = {f"bulk {bulk.number}": bulk for bulk in clerk.account.bulks if bulk.state == "asked"}
    for action in actions:
        if isinstance(action, Review) and action.about in bulks:
            bulk = bulks[action.about]
            wanted = {
                item.submission for item in clerk.account.payments if item.bulk == bulk.number
            }
            paid = {item.submission for item in world.transfers if item.kind == "bonus"}
            clerk.settle_by_hand(bulk.number, paid=wanted <= paid)


def problems(account: RecruitmentAccount, world: ProlificWorld) -> list[str]:
    """Everything in which the books differ from the truth, or in which a promise was broken."""
    plan, found = account.plan, []
    published = [study for study in world.studies.values() if study.n_published]
    if len(published) != 1 or published[0].n_published != 1 or published[0].id != account.study:
        found.append(f"{len(published)} studies were published")
    if len(world.studies) != 1:
        found.append(f"{len(world.studies)} drafts were made")
    paid = Counter((item.participant, item.kind) for item in world.transfers)
    found += [f"{kind} was paid {n} times to one person" for (_, kind), n in paid.items() if n > 1]
    truth = {(item.submission, item.kind): item.minor for item in world.transfers}
    held = {
        (item.submission, item.kind): item.amount.minor
        for item in account.payments
        if item.state == "paid"
    }
    promised = [item for item in account.payments if item.state == "promised"]
    if truth != held or promised:
        found.append(
            f"the books hold {len(held)} payments and {len(promised)} promises, in truth {len(truth)}"
        )
    spent = world.transferred(plan.settings.currency)
    if account.limit is None or not spent <= account.limit:
        found.append(f"{spent} were spent of {account.limit}")
    entries: dict[str, SubmissionEntry] = {entry.id: entry for entry in account.submissions}
    for item in world.submissions.values():
        entry = entries.get(item.id)
        if entry is None:
            found.append(f"submission {item.id} is not in the books")
        elif entry.state != item.state:
            found.append(f"submission {item.id} is {item.state}, in the books {entry.state}")
    completed = {
        item.participant
        for item in world.submissions.values()
        if world.page.get(item.id) == "completed"
    }
    rewarded = {item.participant for item in world.transfers if item.kind == "reward"}
    if rewarded - completed:
        found.append(f"{len(rewarded - completed)} people were paid whose answers are not complete")
    return found


def unpaid(world: ProlificWorld) -> set[str]:
    """People who completed and could be paid, but were not."""
    payable = {
        item.participant
        for item in world.submissions.values()
        if world.page.get(item.id) == "completed" and item.state == "AWAITING REVIEW"
    }
    return payable - {item.participant for item in world.transfers if item.kind == "reward"}


def _client(
    stand_in: StandIn, make_transport: Callable[[], httpx.BaseTransport] | None, timeout_s: float
) -> ProlificClient:
    return ProlificClient(
        TOKEN,
        service=stand_in.address,
        transport=make_transport() if make_transport else None,
        timeout_s=timeout_s,
        attempts=8,
        first_wait_s=0.0,
        least_gap_s=0.0,
    )
