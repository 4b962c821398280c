"""The books and what is decided from them: every state, in every order, with every claim on the money."""

import itertools
import stat
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lakatos.experiments.participants.prolific.client import StudySeen, SubmissionSeen
from lakatos.experiments.participants.prolific.errors import LedgerError
from lakatos.experiments.participants.prolific.ledger import PaymentLedger
from lakatos.experiments.participants.prolific.money import Money
from lakatos.experiments.participants.prolific.plan import RecruitmentSettings, make_plan
from lakatos.experiments.participants.prolific.recruiter import (
    Approve,
    Pause,
    PayBonuses,
    RaisePlaces,
    RequestReturn,
    Review,
    SettleBulk,
    Start,
    Stop,
    at_most,
    books,
    decide,
    spent,
)

PLAN = make_plan(
    RecruitmentSettings(
        experiment="pilot",
        title="t",
        description="d",
        url="https://lab.example/",
        people=3,
        minutes=5,
        reward="1.00",
        most_bonus="0.50",
    ),
    key="cd" * 12,
)
CODE = PLAN.codes["COMPLETED"]
AMPLE = PLAN.total_cost * 10
STATES = (
    "RESERVED",
    "ACTIVE",
    "TIMED-OUT",
    "AWAITING REVIEW",
    "RETURNED",
    "REJECTED",
    "SCREENED OUT",
    "APPROVED",
)


class Desk:
    """Books whose study and people a test sets."""

    def __init__(self, path, *, limit=AMPLE):
        self.time = datetime(2026, 1, 1, tzinfo=UTC)
        self.ledger = PaymentLedger(path, now=lambda: self.time)
        self.ledger.keep_plan(PLAN)
        self.study()
        self.ledger.set_limit(PLAN.key, limit)

    def study(self, state="ACTIVE", places=3, taken=0):
        self.ledger.set_study(
            PLAN.key, StudySeen("st", PLAN.internal_name, state, places, taken, 100)
        )

    def see(self, submission, state, *, person=None, code=CODE, page=None, bonuses=(), asked=False):
        person = person or f"person-{submission}"
        shown = None if bonuses is None else tuple(bonuses)
        seen = SubmissionSeen(submission, person, state, code, shown, asked)
        self.ledger.see_submissions(
            PLAN, [seen], {} if page is None else {(person, submission): page}
        )

    @property
    def account(self):
        return self.ledger.account("pilot")

    def decide(self, bonus=lambda _: None, **how):
        return decide(self.account, now_s=self.ledger.now_s(), bonus=bonus, **how)

    def entry(self, submission):
        return next(entry for entry in self.account.submissions if entry.id == submission)


@pytest.fixture
def desk(tmp_path):
    return Desk(tmp_path / "prolific.sqlite")


def kinds(actions):
    return [type(action) for action in actions]


class TestLedger:
    def test_the_books_are_readable_for_their_owner_only(self, desk):
        assert stat.S_IMODE(desk.ledger.path.stat().st_mode) == 0o600

    @pytest.mark.parametrize(
        "order", list(itertools.permutations(["ACTIVE", "AWAITING REVIEW", "APPROVED"]))
    )
    def test_states_that_arrive_in_any_order_leave_the_last_one(self, desk, order):
        for state in order:
            desk.see("s1", state)
        assert desk.entry("s1").state == "APPROVED"

    def test_who_returned_the_place_does_not_come_back_by_an_old_list(self, desk):
        desk.see("s1", "RETURNED")
        desk.see("s1", "AWAITING REVIEW", page="completed")
        assert desk.entry("s1").state == "RETURNED"
        assert Approve("s1") not in desk.decide()

    def test_who_comes_back_after_running_out_of_time_is_taken_back(self, desk):
        desk.see("s1", "TIMED-OUT")
        desk.see("s1", "AWAITING REVIEW", page="completed")
        assert Approve("s1") in desk.decide()

    def test_nobody_is_lost_when_a_list_leaves_them_out(self, desk):
        desk.see("s1", "ACTIVE")
        desk.ledger.see_submissions(PLAN, [], {})
        assert desk.entry("s1").state == "ACTIVE"

    def test_every_change_of_state_has_its_time(self, desk):
        desk.see("s1", "ACTIVE")
        desk.time += timedelta(hours=1)
        desk.see("s1", "AWAITING REVIEW")
        changes = [
            (utc[11:16], value) for utc, what, value in desk.ledger.history("s1") if what == "state"
        ]
        assert changes == [("00:00", "ACTIVE"), ("01:00", "AWAITING REVIEW")]

    def test_history_cannot_be_changed(self, desk):
        with pytest.raises(LedgerError, match="append-only"), desk.ledger._change() as change:
            change.execute("UPDATE event SET value = 'x'")

    def test_the_study_of_a_plan_is_one_for_good(self, desk):
        with pytest.raises(LedgerError, match="is st, not other"):
            desk.ledger.set_study(PLAN.key, StudySeen("other", "", "ACTIVE", 3, 0, 100))

    def test_a_plan_with_a_study_cannot_be_replaced(self, desk):
        with pytest.raises(LedgerError, match="its plan stands"):
            desk.ledger.keep_plan(make_plan(PLAN.settings))

    def test_a_second_bonus_for_one_submission_is_refused_and_nothing_of_it_stays(self, desk):
        desk.see("s1", "APPROVED", page="completed")
        desk.see("s2", "APPROVED", page="completed")
        desk.ledger.promise_bonuses(PLAN, [("s1", Money(10))])
        with pytest.raises(LedgerError, match="cannot get a second one"):
            desk.ledger.promise_bonuses(PLAN, [("s2", Money(10)), ("s1", Money(10))])
        assert [item.submission for item in desk.account.payments if item.kind == "bonus"] == ["s1"]

    def test_what_the_service_paid_by_itself_is_in_the_books(self, desk):
        desk.see("s1", "APPROVED")
        assert spent(desk.account) == PLAN.reward_cost

    def test_a_file_that_is_no_database_is_named(self, tmp_path):
        (tmp_path / "x.sqlite").write_text("not a database, but longer than a header would be" * 30)
        with pytest.raises(LedgerError, match=r"x\.sqlite"):
            PaymentLedger(tmp_path / "x.sqlite")


class TestApproval:
    def test_who_completed_our_page_is_paid_whatever_code_was_given(self, desk):
        for number, code in enumerate((CODE, "", "WRONG")):
            desk.see(f"s{number}", "AWAITING REVIEW", code=code, page="completed")
        assert [action for action in desk.decide() if isinstance(action, Approve)] == [
            Approve("s0"),
            Approve("s1"),
            Approve("s2"),
        ]

    def test_the_code_alone_is_for_a_person_to_look_at(self, desk):
        desk.see("s1", "AWAITING REVIEW")
        [action] = [action for action in desk.decide() if not isinstance(action, RaisePlaces)]
        assert isinstance(action, Review)
        assert "no complete answers" in action.why

    def test_neither_code_nor_answers_asks_for_the_place_back_once(self, desk):
        desk.see("s1", "AWAITING REVIEW", code="")
        assert RequestReturn("s1", "Did not finish the study.") in desk.decide()
        desk.ledger.mark_return_asked(PLAN, "s1", "x")
        assert RequestReturn not in kinds(desk.decide())
        assert Review("s1", "was asked to return the place and has not done so") in desk.decide()

    def test_refused_consent_asks_for_the_place_back_with_that_reason(self, desk):
        desk.see("s1", "AWAITING REVIEW", code=PLAN.codes["NO_CONSENT"], page="returned")
        assert RequestReturn("s1", "Withdrew consent.") in desk.decide()

    def test_a_person_who_came_twice_is_paid_for_one_visit(self, desk):
        desk.see("s1", "AWAITING REVIEW", person="p", page="completed")
        desk.see("s2", "AWAITING REVIEW", person="p", page="completed")
        assert [action for action in desk.decide() if isinstance(action, Approve)] == [
            Approve("s1")
        ]
        assert RequestReturn("s2", "You have taken part in this study already.") in desk.decide()

    def test_a_person_who_was_paid_by_somebody_else_is_not_paid_again(self, desk):
        desk.see("s1", "AWAITING REVIEW", person="p", page="completed")
        desk.see("s2", "APPROVED", person="p")
        assert Approve not in kinds(desk.decide())

    def test_who_finished_after_time_ran_out_is_paid_and_if_refused_left_for_a_person(self, desk):
        desk.see("s1", "TIMED-OUT", page="completed")
        assert Approve("s1") in desk.decide()
        desk.ledger.promise_reward(PLAN, "s1")
        desk.ledger.withdraw_reward(PLAN, "s1", "TIMED-OUT")
        assert spent(desk.account) == Money(0)
        assert Approve not in kinds(desk.decide())
        assert any(isinstance(a, Review) and "cannot be approved" in a.why for a in desk.decide())
        desk.see("s1", "AWAITING REVIEW", page="completed")
        assert Approve("s1") in desk.decide()

    def test_a_promise_is_asked_for_again_after_a_stop(self, desk):
        desk.see("s1", "AWAITING REVIEW", page="completed")
        desk.ledger.promise_reward(PLAN, "s1")
        assert Approve("s1") in desk.decide()

    def test_a_promise_to_somebody_who_left_is_money_again(self, desk):
        desk.see("s1", "AWAITING REVIEW", page="completed")
        desk.ledger.promise_reward(PLAN, "s1")
        desk.see("s1", "RETURNED")
        assert spent(desk.account) == Money(0)

    def test_no_payment_passes_the_limit(self, tmp_path):
        desk = Desk(tmp_path / "b.sqlite", limit=PLAN.reward_cost * 2 + Money(1))
        for name in ("s1", "s2", "s3"):
            desk.see(name, "AWAITING REVIEW", page="completed")
        actions = desk.decide()
        assert [action for action in actions if isinstance(action, Approve)] == [
            Approve("s1"),
            Approve("s2"),
        ]
        assert any(
            isinstance(a, Review) and a.about == "s3" and "pass the limit" in a.why for a in actions
        )

    def test_nothing_is_done_before_a_limit_is_confirmed(self, tmp_path):
        ledger = PaymentLedger(tmp_path / "b.sqlite")
        ledger.keep_plan(PLAN)
        ledger.set_study(PLAN.key, StudySeen("st", "", "ACTIVE", 3, 0, 100))
        ledger.see_submissions(
            PLAN, [SubmissionSeen("s", "p", "AWAITING REVIEW", CODE, (), False)], {}
        )
        assert decide(ledger.account("pilot"), now_s=0.0) == ()


class TestPlaces:
    @pytest.mark.parametrize("lost", ["AWAITING REVIEW", "SCREENED OUT", "TIMED-OUT"])
    def test_who_keeps_a_place_without_completing_is_replaced(self, desk, lost):
        desk.study("AWAITING REVIEW", places=3, taken=3)
        desk.see("s1", lost)
        for name in ("s2", "s3"):
            desk.see(name, "APPROVED", page="completed")
        assert RaisePlaces(4) in desk.decide()

    def test_a_place_that_is_free_again_needs_no_other(self, desk):
        desk.study("ACTIVE", places=3, taken=2)
        desk.see("s1", "RETURNED")
        for name in ("s2", "s3"):
            desk.see(name, "ACTIVE")
        assert desk.decide() == ()

    def test_nobody_is_let_in_beyond_who_is_wanted(self, desk):
        desk.study("ACTIVE", places=4, taken=3)
        for name in ("s1", "s2", "s3"):
            desk.see(name, "ACTIVE")
        assert desk.decide() == (Pause(),)

    def test_a_pause_of_ours_ends_when_somebody_is_missing_again(self, desk):
        desk.study("PAUSED", places=4, taken=2)
        desk.ledger.set_paused(PLAN.key, True)
        desk.see("s1", "RETURNED")
        for name in ("s2", "s3"):
            desk.see(name, "ACTIVE")
        assert desk.decide() == (Start(),)

    def test_a_pause_by_somebody_else_is_left_alone(self, desk):
        desk.study("PAUSED", places=4, taken=1)
        desk.see("s1", "ACTIVE")
        why = "was paused by somebody else; start it there, or stop it"
        assert desk.decide() == (Review("study", why),)

    def test_free_places_count_among_those_that_the_limit_pays_for(self, tmp_path):
        # All three are missing and one place is free; so many more places are asked for as the limit pays for.
        for pays_for, places, told in ((3, 5, []), (2, 4, [2]), (1, None, [1])):
            limit = PLAN.person_cost * pays_for
            desk = Desk(tmp_path / f"{pays_for}.sqlite", limit=limit)
            desk.study("ACTIVE", places=3, taken=2)
            desk.see("s1", "RETURNED", page="stopped")
            for name in ("s2", "s3"):
                desk.see(name, "SCREENED OUT")
            raised = [RaisePlaces(places)] if places else []
            why = [
                f"3 people are missing, and {limit} pays for {number}; raise it" for number in told
            ]
            assert desk.decide() == (*raised, *(Review("limit", text) for text in why))

    def test_a_visit_goes_on_from_its_reservation_and_never_back_to_it(self, desk):
        for seen, known in (("RESERVED", "RESERVED"), ("ACTIVE", "ACTIVE"), ("RESERVED", "ACTIVE")):
            desk.see("s1", seen)
            assert desk.entry("s1").state == known

    def test_an_approval_is_in_the_history_of_a_visit(self, desk):
        desk.see("s1", "AWAITING REVIEW", page="completed")
        desk.ledger.promise_reward(PLAN, "s1")
        desk.ledger.mark_rewarded(PLAN, "s1")
        told = [(what, value) for _, what, value in desk.ledger.history("s1")]
        assert told[0] == ("state", "AWAITING REVIEW")
        assert told[-3:] == [("reward", "promised"), ("state", "APPROVED"), ("reward", "paid")]

    def test_a_study_that_somebody_stopped_is_not_opened_again(self, desk):
        desk.study("COMPLETED", places=3, taken=1)
        desk.see("s1", "APPROVED", page="completed")
        [action] = desk.decide()
        assert isinstance(action, Review)
        assert "stopped by somebody else" in action.why

    def test_a_study_that_we_stopped_is_not_opened_again_though_it_looks_complete(self, desk):
        desk.study("COMPLETED", places=3, taken=3)
        desk.ledger.set_stopped(PLAN.key, True)
        desk.see("s1", "AWAITING REVIEW")
        assert RaisePlaces not in kinds(desk.decide())

    def test_a_stop_that_was_cut_short_is_asked_for_again(self, desk):
        desk.ledger.set_stopped(PLAN.key, True)
        assert desk.decide() == (Stop(),)

    def test_people_whom_the_list_does_not_show_yet_are_not_replaced(self, desk):
        desk.study("AWAITING REVIEW", places=3, taken=3)
        assert RaisePlaces not in kinds(desk.decide())

    def test_it_stops_when_everybody_has_completed(self, desk):
        desk.study("ACTIVE", places=4, taken=3)
        for name in ("s1", "s2", "s3"):
            desk.see(name, "APPROVED", page="completed")
        assert desk.decide() == (Stop(),)

    def test_it_does_not_stop_while_an_approval_can_still_be_refused(self, desk):
        desk.study("ACTIVE", places=4, taken=3)
        for name in ("s1", "s2"):
            desk.see(name, "APPROVED", page="completed")
        desk.see("s3", "TIMED-OUT", page="completed")
        assert Stop() not in desk.decide()
        assert Approve("s3") in desk.decide()
        desk.ledger.withdraw_reward(PLAN, "s3", "TIMED-OUT")  # the service refused it
        desk.study("PAUSED", places=4, taken=2)
        desk.ledger.set_paused(PLAN.key, True)
        assert Start() in desk.decide()

    def test_it_is_paused_while_excluded_people_may_be_replaced_and_stopped_when_collection_has_ended(
        self, desk
    ):
        desk.study("ACTIVE", places=4, taken=3)
        for name in ("s1", "s2", "s3"):
            desk.see(name, "APPROVED", page="completed")
        assert desk.decide(collection="open") == (Pause(),)
        assert desk.decide(collection="ended") == (Stop(),)

    def test_more_people_than_planned_are_let_in_once_they_are_wanted_within_the_limit(
        self, tmp_path
    ):
        desk = Desk(tmp_path / "b.sqlite", limit=PLAN.person_cost * 4)
        desk.study("AWAITING REVIEW", places=3, taken=3)
        for name in ("s1", "s2", "s3"):
            desk.see(name, "APPROVED", page="completed")
        assert desk.decide(collection="open") == ()
        desk.ledger.set_people(PLAN.key, 5)
        actions = desk.decide(collection="open")
        assert RaisePlaces(4) in actions
        assert any(isinstance(a, Review) and a.about == "limit" for a in actions)
        assert ("people", "5") in [
            (what, value) for _, what, value in desk.ledger.history(PLAN.key)
        ]

    def test_a_study_whose_collection_ended_early_is_paused_and_somebody_is_told_to_stop_it(
        self, desk
    ):
        desk.study("ACTIVE", places=3, taken=1)
        desk.see("s1", "APPROVED", page="completed")
        pause, review = desk.decide(collection="ended", command="`do this`")
        assert pause == Pause()
        assert "`do this`" in review.why
        assert desk.decide(collection="ended", stop_when_ended=True) == (Stop(),)
        desk.ledger.set_stopped(PLAN.key, True)
        desk.study("AWAITING REVIEW", places=3, taken=1)
        assert desk.decide(collection="ended") == ()

    def test_who_failed_too_many_checks_is_left_for_a_person_and_replaced(self, desk):
        desk.study("AWAITING REVIEW", places=3, taken=3)
        desk.see("s1", "AWAITING REVIEW", page="failed_checks")
        for name in ("s2", "s3"):
            desk.see(name, "APPROVED", page="completed")
        actions = desk.decide()
        assert not {Approve, RequestReturn} & set(kinds(actions))
        assert any(
            isinstance(a, Review) and a.about == "s1" and "attention checks" in a.why
            for a in actions
        )
        assert RaisePlaces(4) in actions

    def test_a_person_who_came_twice_counts_once(self, desk):
        desk.see("s1", "APPROVED", person="p", page="completed")
        desk.see("s2", "AWAITING REVIEW", person="p", page="completed")
        assert books(desk.account, now_s=0.0).completed == 1

    def test_replacements_end_where_the_money_does(self, tmp_path):
        desk = Desk(tmp_path / "b.sqlite", limit=PLAN.person_cost * 4)
        desk.study("AWAITING REVIEW", places=3, taken=3)
        for name in ("s1", "s2", "s3"):
            desk.see(name, "AWAITING REVIEW")
        actions = desk.decide()
        assert RaisePlaces(4) in actions
        assert any(isinstance(a, Review) and a.about == "limit" for a in actions)

    def test_a_claim_after_time_ran_out_lapses_after_a_day(self, tmp_path):
        desk = Desk(tmp_path / "b.sqlite", limit=PLAN.person_cost * 3)
        desk.study("AWAITING REVIEW", places=3, taken=3)
        for name in ("s1", "s2"):
            desk.see(name, "APPROVED", page="completed")
        desk.see("s3", "TIMED-OUT")
        assert RaisePlaces not in kinds(desk.decide())
        desk.time += timedelta(hours=24)
        assert RaisePlaces not in kinds(desk.decide())
        desk.time += timedelta(seconds=1)
        assert RaisePlaces(4) in desk.decide()


class TestBonuses:
    def due(self, desk, *names):
        for name in names:
            desk.see(name, "APPROVED", page="completed")

    def test_bonuses_go_to_the_approved_once_and_in_one_bulk(self, desk):
        self.due(desk, "s1", "s2")
        desk.see("s3", "AWAITING REVIEW", page="completed")
        [action] = [a for a in desk.decide(lambda _: Money(20)) if isinstance(a, PayBonuses)]
        assert action.bonuses == (("s1", Money(20)), ("s2", Money(20)))
        desk.ledger.promise_bonuses(PLAN, action.bonuses)
        assert PayBonuses not in kinds(desk.decide(lambda _: Money(20)))

    def test_a_bonus_above_the_plan_is_left_for_a_person(self, desk):
        self.due(desk, "s1")
        assert any(
            isinstance(a, Review) and "above the plan" in a.why
            for a in desk.decide(lambda _: Money(51))
        )

    def test_bonuses_stay_within_the_limit(self, tmp_path):
        desk = Desk(tmp_path / "b.sqlite", limit=PLAN.reward_cost * 2 + PLAN.fee.cost(Money(50)))
        self.due(desk, "s1", "s2")
        actions = desk.decide(lambda _: Money(50))
        assert PayBonuses((("s1", Money(50)),)) in actions
        assert any(isinstance(a, Review) and a.about == "s2" for a in actions)

    def test_a_bonus_needs_the_money_for_its_fee_too(self, tmp_path):
        enough = PLAN.reward_cost + PLAN.fee.cost(Money(50))
        for limit, n_paid in ((enough - Money(1), 0), (enough, 1)):
            desk = Desk(tmp_path / f"{n_paid}.sqlite", limit=limit)
            self.due(desk, "s1")
            assert kinds(desk.decide(lambda _: Money(50))).count(PayBonuses) == n_paid

    def test_a_bonus_takes_its_fee_from_what_is_left_for_the_next(self, tmp_path):
        enough = PLAN.reward_cost * 2 + PLAN.fee.cost(Money(50)) * 2
        for limit, n_paid in ((enough - Money(1), 1), (enough, 2)):
            desk = Desk(tmp_path / f"{n_paid}.sqlite", limit=limit)
            self.due(desk, "s1", "s2")
            [action] = [
                item for item in desk.decide(lambda _: Money(50)) if isinstance(item, PayBonuses)
            ]
            assert len(action.bonuses) == n_paid

    def ask(self, desk, *names):
        self.due(desk, *names)
        number = desk.ledger.promise_bonuses(PLAN, [(name, Money(20)) for name in names])
        desk.ledger.mark_bulk(PLAN, number, "asked", bulk_id="b")
        return number

    def test_a_bulk_payment_is_settled_by_what_the_submissions_show(self, desk):
        number = self.ask(desk, "s1", "s2")
        desk.see("s1", "APPROVED", bonuses=(20,))
        assert SettleBulk(number, ("s1",), given_up=False) in desk.decide()

    def test_a_bonus_that_was_there_before_is_no_proof(self, desk):
        desk.see("s1", "APPROVED", page="completed", bonuses=(20,))
        self.ask(desk, "s1")
        assert SettleBulk not in kinds(desk.decide())

    def test_nothing_else_is_paid_while_a_bulk_payment_is_open(self, desk):
        self.ask(desk, "s1")
        self.due(desk, "s2")
        assert PayBonuses not in kinds(desk.decide(lambda _: Money(20)))

    def test_a_bulk_payment_that_never_shows_is_given_up_after_a_day_and_made_anew(self, desk):
        number = self.ask(desk, "s1")
        desk.see("s9", "APPROVED", page="completed", bonuses=(5,))  # so this service lists bonuses
        desk.time += timedelta(hours=24, seconds=-1)
        assert SettleBulk not in kinds(desk.decide())
        desk.time += timedelta(seconds=2)
        assert SettleBulk(number, (), given_up=True) in desk.decide()
        desk.ledger.mark_bulk(PLAN, number, "given_up")
        assert [
            a.bonuses[0] for a in desk.decide(lambda _: Money(20)) if isinstance(a, PayBonuses)
        ] == [("s1", Money(20))]

    def test_a_bulk_payment_is_not_made_anew_unasked_where_the_service_never_listed_a_bonus(
        self, desk
    ):
        number = self.ask(desk, "s1")
        desk.time += timedelta(hours=24, seconds=1)
        assert not {SettleBulk, PayBonuses} & set(kinds(desk.decide(lambda _: Money(20))))
        assert any(isinstance(a, Review) and a.about == f"bulk {number}" for a in desk.decide())

    def test_a_bulk_payment_that_shows_in_part_is_never_made_anew(self, desk):
        self.ask(desk, "s1", "s2")
        desk.see("s1", "APPROVED", bonuses=(20,))
        desk.ledger.mark_bonus_paid(PLAN, "s1")
        desk.time += timedelta(days=3)
        assert SettleBulk not in kinds(desk.decide())
        assert any(isinstance(a, Review) and "settle it by hand" in a.why for a in desk.decide())

    def test_a_service_that_does_not_show_bonuses_is_never_asked_again(self, desk):
        desk.see("s1", "APPROVED", page="completed", bonuses=None)
        number = desk.ledger.promise_bonuses(PLAN, [("s1", Money(20))])
        desk.ledger.mark_bulk(PLAN, number, "asked", bulk_id="b")
        desk.time += timedelta(days=30)
        assert not {SettleBulk, PayBonuses} & set(kinds(desk.decide(lambda _: Money(20))))
        assert any(isinstance(a, Review) and "settle it by hand" in a.why for a in desk.decide())

    def test_a_bulk_payment_that_was_only_prepared_paid_nothing(self, desk):
        self.due(desk, "s1")
        number = desk.ledger.promise_bonuses(PLAN, [("s1", Money(20))])
        assert SettleBulk(number, (), given_up=True) in desk.decide()


VISITS = st.lists(
    st.tuples(
        st.integers(0, 5),
        st.sampled_from(STATES),
        st.sampled_from(["", CODE, "OTHER", PLAN.codes["NO_CONSENT"]]),
        st.sampled_from([None, "completed", "partial", "returned", "timed_out", "screened_out"]),
        st.integers(0, 3),
    ),
    max_size=25,
)


@settings(max_examples=60, deadline=None)
@given(
    visits=VISITS,
    study=st.sampled_from(["ACTIVE", "PAUSED", "AWAITING REVIEW", "COMPLETED", "PROCESSING"]),
    places=st.integers(0, 8),
    taken=st.integers(0, 10),
    limit=st.integers(0, 3000),
    bonus=st.integers(0, 60),
)
def test_whatever_the_books_show_each_person_is_paid_once_and_the_limit_holds(
    tmp_path_factory, visits, study, places, taken, limit, bonus
):
    desk = Desk(tmp_path_factory.mktemp("books") / "b.sqlite", limit=Money(limit))
    desk.study(study, places, taken)
    for number, (person, state, code, page, visit) in enumerate(visits):
        name = f"s{person}-{visit}" if number % 2 else f"s{person}"
        desk.see(name, state, person=f"p{person}", code=code, page=page)
    before, account = desk.account, desk.account
    actions = desk.decide(lambda _: Money(bonus))
    people = {entry.id: entry.participant for entry in account.submissions}
    rewarded = [people[a.submission] for a in actions if isinstance(a, Approve)]
    paid = [people[item.submission] for item in account.payments if item.kind == "reward"]
    assert len(set(rewarded)) == len(rewarded)
    assert not set(rewarded) & set(paid)
    lines = [
        line for action in actions if isinstance(action, PayBonuses) for line in action.bonuses
    ]
    assert len({people[name] for name, _ in lines}) == len(lines)
    cost = PLAN.reward_cost * len(rewarded)
    for _, amount in lines:
        cost += PLAN.fee.cost(amount)
    # What the service paid unasked can pass any limit; nothing of ours is added then.
    assert spent(account) + cost <= Money(max(limit, spent(account).minor))
    raised = next((a.places for a in actions if isinstance(a, RaisePlaces)), account.places)
    now_s = desk.ledger.now_s()
    if raised > account.places:
        free = max(0, raised - account.taken)
        assert at_most(account, free, now_s) <= Money(limit)
    if Start() in actions:
        assert at_most(account, max(0, account.places - account.taken), now_s) <= Money(limit)
    assert desk.decide(lambda _: Money(bonus)) == actions
    assert desk.account == before


def test_a_visit_that_somebody_approved_in_part_is_in_the_books_at_the_whole_reward(tmp_path):
    desk = Desk(tmp_path / "books.sqlite", limit=PLAN.reward_cost * 2)
    desk.see("a", "PARTIALLY APPROVED")
    desk.see("b", "AWAITING REVIEW", page="completed")
    desk.see("c", "AWAITING REVIEW", page="completed")
    assert spent(desk.account) == PLAN.reward_cost
    assert [action for action in desk.decide() if isinstance(action, Approve)] == [Approve("b")]
