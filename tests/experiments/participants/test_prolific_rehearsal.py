"""Whole recruitments against the stand-in over a loopback connection, with everything going wrong that can."""

from contextlib import suppress

import httpx
import pytest

from lakatos.experiments.participants.prolific.books import LEDGER_FILE
from lakatos.experiments.participants.prolific.clerk import ProlificClerk
from lakatos.experiments.participants.prolific.client import ProlificClient
from lakatos.experiments.participants.prolific.errors import BudgetError, LedgerError
from lakatos.experiments.participants.prolific.ledger import PaymentLedger
from lakatos.experiments.participants.prolific.money import Money, ServiceFee
from lakatos.experiments.participants.prolific.plan import RecruitmentSettings, confirm, make_plan
from lakatos.experiments.participants.prolific.recruiter import Approve
from tests.rehearsal.prolific.rehearsal import EXAMPLE, WorldPage, rehearse, unpaid
from tests.rehearsal.prolific.stand_in import serve
from tests.rehearsal.prolific.stand_in_world import (
    BEHAVIOURS,
    NO_FAULTS,
    TOKEN,
    ProlificWorld,
    RequestFaults,
)

SMALL = RecruitmentSettings(
    experiment="pilot",
    title="Choices",
    description="You choose.",
    url="https://lab.example/study/",
    people=8,
    minutes=10,
    reward="1.50",
    most_bonus="0.75",
    screen_out_reward="0.20",
    most_screened_out=2,
)
PLAN = make_plan(SMALL, key="ab" * 12)
AMPLE = PLAN.total_cost * 3


def bonus(submission):
    """An amount that depends on the submission alone; for some nothing."""
    return Money(int(submission[:4], 16) % 76)


class KilledError(BaseException):
    """The program ends here."""


class Killing(httpx.BaseTransport):
    """Ends the program before or after the request of a number, counted over all programs; then never again."""

    n_asked = 0

    def __init__(self, at, after):
        self.at, self.after, self.inner = at, after, httpx.HTTPTransport()

    def handle_request(self, request):
        Killing.n_asked += 1
        now = Killing.n_asked == self.at
        if now and not self.after:
            raise KilledError
        response = self.inner.handle_request(request)
        if now:
            # A lost answer must not turn the kill into a failure that the program survives.
            with suppress(httpx.TransportError):
                response.read()
            raise KilledError
        return response

    def close(self):
        self.inner.close()


@pytest.fixture(scope="module")
def stand_in():
    with serve(ProlificWorld(0)) as running:
        yield running


def play(stand_in, folder, seed, *, limit=AMPLE, plan=PLAN, at=0, after=False, faults=None):
    world = ProlificWorld(
        seed,
        faults=RequestFaults() if faults is None else faults,
        timed_out_keeps_place=bool(seed % 2),
        approves_timed_out=bool(seed // 2 % 2),
    )
    Killing.n_asked = 0
    done = rehearse(
        plan,
        limit,
        stand_in,
        world,
        folder,
        bonus=bonus,
        make_transport=lambda: Killing(at, after),
        kill=KilledError,
    )
    return done, world


def form(done):
    """The books without what a stop may change: times, and how bonuses were bundled."""
    account = done.account
    people = [
        (e.number, e.id, e.participant, e.state, e.code, e.page, e.return_asked, e.bonuses_minor)
        for e in account.submissions
    ]
    payments = [(item.submission, item.kind, item.amount, item.state) for item in account.payments]
    return (
        account.study,
        account.state,
        account.places,
        account.taken,
        account.stopped,
        people,
        payments,
    )


def check(done, world, limit):
    assert done.problems == ()
    assert world.transferred() <= limit
    assert done.books.spent == world.transferred()
    rewarded = [item.participant for item in world.transfers if item.kind == "reward"]
    assert len(set(rewarded)) == len(rewarded)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_people_are_paid_exactly_once_and_everybody_who_dropped_out_is_replaced(
    stand_in, tmp_path, seed
):
    done, world = play(stand_in, tmp_path, seed)
    check(done, world, AMPLE)
    assert done.books.completed >= SMALL.people
    assert not unpaid(world)
    assert {item.submission: item.minor for item in world.transfers if item.kind == "bonus"} == {
        item.submission: bonus(item.submission).minor
        for item in world.transfers
        if item.kind == "reward" and bonus(item.submission)
    }
    assert done.asked["requests"] > 20


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(10, 12))
def test_a_tight_limit_is_never_passed(stand_in, tmp_path, seed):
    done, world = play(stand_in, tmp_path, seed, limit=PLAN.total_cost)
    check(done, world, PLAN.total_cost)


@pytest.mark.long
def test_over_many_seeds_no_promise_is_broken(stand_in, tmp_path):
    for seed in range(100, 200):
        limit = PLAN.total_cost if seed % 3 == 0 else AMPLE
        done, world = play(stand_in, tmp_path / str(seed), seed, limit=limit)
        check(done, world, limit)
        assert limit == PLAN.total_cost or done.books.completed >= SMALL.people


def sweep(stand_in, folder, seed, faults, n_kills=None):
    """Kill before and after requests spread evenly over the whole recruitment, or each of them."""
    plan = make_plan(SMALL.model_copy(update={"people": 2}), key="ef" * 12)
    whole, world = play(stand_in, folder / "whole", seed, faults=faults, plan=plan)
    check(whole, world, AMPLE)
    n_asked = Killing.n_asked
    assert n_asked > 40
    assert whole.n_bonuses
    for at in range(1, n_asked + 1, n_asked // n_kills if n_kills else 1):
        for after in (False, True):
            done, world = play(
                stand_in,
                folder / f"{at}-{after}",
                seed,
                at=at,
                after=after,
                faults=faults,
                plan=plan,
            )
            assert done.n_interrupted > whole.n_interrupted or Killing.n_asked < at
            check(done, world, AMPLE)
            assert form(done) == form(whole), (
                f"stopped {'after' if after else 'before'} request {at}"
            )


@pytest.mark.long
def test_a_program_that_is_killed_and_begun_again_leaves_the_same_books(stand_in, tmp_path):
    sweep(stand_in, tmp_path, 3, NO_FAULTS, n_kills=5)


@pytest.mark.long
def test_a_kill_at_any_request_leaves_the_same_books(stand_in, tmp_path):
    sweep(stand_in, tmp_path, 3, NO_FAULTS)


@pytest.mark.long
def test_a_kill_among_failures_leaves_the_same_books(stand_in, tmp_path):
    sweep(stand_in, tmp_path, 5, RequestFaults())


@pytest.mark.parametrize("at", range(1, 7))
@pytest.mark.parametrize("after", [False, True])
def test_a_kill_while_publishing_makes_no_second_study(stand_in, tmp_path, at, after):
    world = stand_in.world = ProlificWorld(1)
    Killing.n_asked = 0
    for _ in range(3):
        with (
            ProlificClient(
                TOKEN, service=stand_in.address, transport=Killing(at, after), least_gap_s=0
            ) as client,
            PaymentLedger(tmp_path / LEDGER_FILE) as ledger,
        ):
            if not ledger.experiments():
                ledger.keep_plan(PLAN)
            try:
                ProlificClerk(client, ledger, PLAN.name, WorldPage(world)).publish(
                    confirm(PLAN, AMPLE, typed_name=PLAN.name)
                )
            except KilledError:
                continue
    assert [study.n_published for study in world.studies.values()] == [1]


@pytest.mark.slow
def test_a_draft_whose_making_was_never_answered_is_found(stand_in, tmp_path):
    # Every answer that can be is lost; three in a row at most, so the fourth request goes through.
    world = ProlificWorld(2, faults=RequestFaults(0, 0, 0, 0.95, 0, 0, 0))
    done, world = play(stand_in, tmp_path, 2, faults=world.faults)
    assert len(world.studies) == 1
    check(done, world, AMPLE)
    assert done.asked["lost_after"] > 20


@pytest.mark.slow
def test_answers_that_come_too_late_change_nothing(stand_in, tmp_path):
    plan = make_plan(SMALL.model_copy(update={"people": 2}), key="cd" * 12)
    world = ProlificWorld(4, faults=RequestFaults(0, 0, 0, 0, slow_after=0.06, slow_s=1.0))
    done = rehearse(
        plan, plan.total_cost * 4, stand_in, world, tmp_path, bonus=bonus, timeout_s=0.4
    )
    assert done.problems == ()
    assert done.asked["slow_after"] > 0


def at_desk(stand_in, tmp_path, world, plan=PLAN):
    stand_in.world = world
    client = ProlificClient(TOKEN, service=stand_in.address, least_gap_s=0, first_wait_s=0)
    ledger = PaymentLedger(tmp_path / LEDGER_FILE, now=world.now)
    ledger.keep_plan(plan)
    return ProlificClerk(client, ledger, plan.name, WorldPage(world)), ledger


def test_a_plan_whose_fee_is_too_low_is_not_published(stand_in, tmp_path):
    plan = make_plan(SMALL.model_copy(update={"service_percent": ServiceFee().service_percent / 2}))
    world = ProlificWorld(1)
    clerk, _ = at_desk(stand_in, tmp_path, world, plan)
    with pytest.raises(BudgetError, match="the service reckons"):
        clerk.publish(confirm(plan, AMPLE, typed_name=plan.name))
    assert not world.studies


def test_a_word_for_another_plan_publishes_nothing(stand_in, tmp_path):
    world = ProlificWorld(1)
    clerk, _ = at_desk(stand_in, tmp_path, world)
    other = make_plan(SMALL)
    with pytest.raises(BudgetError, match="another plan"):
        clerk.publish(confirm(other, AMPLE, typed_name=other.name))
    assert not world.studies


def test_a_study_with_our_key_and_another_reward_is_not_taken(stand_in, tmp_path):
    world = ProlificWorld(1)
    clerk, _ = at_desk(stand_in, tmp_path, world)
    world.create(PLAN.draft() | {"reward": 999})
    with pytest.raises(LedgerError, match="pays 999"):
        clerk.publish(confirm(PLAN, AMPLE, typed_name=PLAN.name))
    assert all(not study.n_published for study in world.studies.values())


def test_a_reward_that_the_service_refuses_is_money_again(stand_in, tmp_path):
    """Somebody gives the place back between our look at the list and our approval."""
    world = ProlificWorld(1, behaviours={"completes": 1.0})

    class LateClient(ProlificClient):
        def approve(self, submission):
            world.submissions[submission].states.append("RETURNED")
            super().approve(submission)

    stand_in.world = world
    client = LateClient(TOKEN, service=stand_in.address, least_gap_s=0, first_wait_s=0)
    with client, PaymentLedger(tmp_path / LEDGER_FILE, now=world.now) as ledger:
        ledger.keep_plan(PLAN)
        clerk = ProlificClerk(client, ledger, PLAN.name, WorldPage(world))
        clerk.publish(confirm(PLAN, AMPLE, typed_name=PLAN.name))
        refused = []
        while not refused:
            world.tick()
            refused = [action for action in clerk.work() if isinstance(action, Approve)]
        account = ledger.account("pilot")
        (entry,) = [item for item in account.submissions if item.id == refused[0].submission]
        assert entry.refused_in == "AWAITING REVIEW"
        assert account.payments == ()
        assert ledger.history(entry.id)[-1][1:] == ("reward", "refused in AWAITING REVIEW")
    assert not world.transfers


def test_a_study_that_was_stopped_on_the_services_own_page_stays_stopped(stand_in, tmp_path):
    world = ProlificWorld(1, behaviours={"completes": 1.0})
    clerk, ledger = at_desk(stand_in, tmp_path, world)
    clerk.publish(confirm(PLAN, AMPLE, typed_name=PLAN.name))
    world.tick()
    world.tick()
    clerk.work()
    world.move(ledger.account("pilot").study, "STOP")
    for _ in range(20):
        world.tick()
        actions = clerk.work()
    [study] = world.studies.values()
    assert study.stopped
    assert study.places == SMALL.people
    assert "stopped by somebody else" in actions[-1].why


def test_raising_the_places_of_a_complete_study_opens_it_again(stand_in):
    world = stand_in.world = ProlificWorld(1, behaviours={"completes": 1.0})
    study = world.create(make_plan(SMALL.model_copy(update={"people": 1})).draft())["id"]
    world.move(study, "PUBLISH")
    for _ in range(12):
        world.tick(30)
    [item] = world.submissions.values()
    world.decide(item.id, {"action": "APPROVE"})
    assert world.show(study)["status"] == "COMPLETED"
    world.change(study, {"total_available_places": 2})
    assert world.show(study)["status"] == "ACTIVE"


def test_paying_a_bulk_twice_pays_twice_which_is_why_it_is_asked_once(stand_in):
    world = stand_in.world = ProlificWorld(1, behaviours={"completes": 1.0})
    study = world.create(PLAN.draft())["id"]
    world.move(study, "PUBLISH")
    for _ in range(12):
        world.tick(30)
    item = next(item for item in world.submissions.values() if item.state == "AWAITING REVIEW")
    world.decide(item.id, {"action": "APPROVE"})
    with ProlificClient(TOKEN, service=stand_in.address, least_gap_s=0) as client:
        bulk = client.set_up_bonuses(study, [(item.id, Money(5))])
        client.pay_bonuses(bulk)
        client.pay_bonuses(bulk)
    world.tick(60)
    assert item.bonuses == [5, 5]


def test_somebody_left_to_look_at_can_be_paid_by_hand_once(stand_in, tmp_path):
    world = ProlificWorld(3, behaviours={"only gives the code": 1.0})
    clerk, ledger = at_desk(stand_in, tmp_path, world)
    clerk.publish(confirm(PLAN, AMPLE, typed_name=PLAN.name))
    for _ in range(10):
        world.tick()
        clerk.work()
    assert not world.transfers
    chosen = next(
        entry for entry in ledger.account("pilot").submissions if entry.state == "AWAITING REVIEW"
    )
    clerk.approve_by_hand(chosen.id)
    with pytest.raises(LedgerError, match="cannot get a second one"):
        clerk.approve_by_hand(chosen.id)
    assert [item.submission for item in world.transfers] == [chosen.id]


def test_paying_by_hand_leaves_what_the_service_may_still_pay_for_screening_out(stand_in, tmp_path):
    plan = make_plan(EXAMPLE, key="ef" * 12)
    world = ProlificWorld(3, behaviours={"only gives the code": 1.0})
    clerk, ledger = at_desk(stand_in, tmp_path, world, plan)
    clerk.publish(confirm(plan, plan.total_cost, typed_name=plan.name))
    for _ in range(10):
        world.tick()
        clerk.work()
    chosen = next(entry for entry in clerk.account.submissions if entry.state == "AWAITING REVIEW")
    enough = plan.reward_cost + plan.screen_out_cost * EXAMPLE.most_screened_out
    ledger.set_limit(plan.key, enough - Money(1, enough.currency))
    with pytest.raises(BudgetError, match="pass the limit"):
        clerk.approve_by_hand(chosen.id)
    ledger.set_limit(plan.key, enough)
    clerk.approve_by_hand(chosen.id)
    assert len(world.transfers) == 1


@pytest.mark.parametrize("paid", [True, False])
def test_a_bulk_of_bonuses_is_settled_by_hand_once(stand_in, tmp_path, paid):
    world = ProlificWorld(1, behaviours={"completes": 1.0})
    clerk, ledger = at_desk(stand_in, tmp_path, world)
    clerk.publish(confirm(PLAN, AMPLE, typed_name=PLAN.name))
    for _ in range(10):
        world.tick()
        clerk.work()
    [first, *_] = ledger.account("pilot").submissions
    number = ledger.promise_bonuses(PLAN, [(first.id, Money(5))])
    ledger.mark_bulk(PLAN, number, "asked", bulk_id="b")
    clerk.settle_by_hand(number, paid=paid)
    bonuses = [item.state for item in ledger.account("pilot").payments if item.kind == "bonus"]
    assert bonuses == (["paid"] if paid else [])
    with pytest.raises(LedgerError, match="no open bulk payment"):
        clerk.settle_by_hand(number, paid=paid)


def test_the_same_seed_plays_the_same(stand_in, tmp_path):
    plan = make_plan(SMALL.model_copy(update={"people": 3}), key="ef" * 12)
    first, _ = play(stand_in, tmp_path / "a", 7, plan=plan)
    second, _ = play(stand_in, tmp_path / "b", 7, plan=plan)
    assert form(first) == form(second)
    assert first.asked == second.asked


def test_every_behaviour_occurs():
    world = ProlificWorld(1)
    study = world.create(make_plan(SMALL.model_copy(update={"people": 400})).draft())["id"]
    world.move(study, "PUBLISH")
    for _ in range(150):
        world.tick()
    assert {item.behaviour for item in world.submissions.values()} == set(BEHAVIOURS)
    assert {item.state for item in world.submissions.values()} >= {
        "RETURNED",
        "TIMED-OUT",
        "SCREENED OUT",
    }
