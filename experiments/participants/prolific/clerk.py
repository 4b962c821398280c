"""Carries out what `recruiter` decides: asks the service, and writes into the books before and after.

Whatever stops it, a new clerk with the same books goes on. A draft is looked for before it is made, a state is read
again after a response that says nothing, and a bonus is asked for once and then looked for among the submissions.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from lakatos.experiments.participants.prolific.client import (
    ProlificClient,
    StudyAction,
    StudySeen,
    SubmissionSeen,
)
from lakatos.experiments.participants.prolific.errors import (
    BudgetError,
    LedgerError,
    OutcomeUnknownError,
    ProlificError,
    RefusedError,
    UnreachableError,
)
from lakatos.experiments.participants.prolific.ledger import (
    PageStatus,
    PaymentLedger,
    RecruitmentAccount,
    SubmissionEntry,
)
from lakatos.experiments.participants.prolific.money import Money
from lakatos.experiments.participants.prolific.plan import RecruitmentPlan, SpendingConfirmation
from lakatos.experiments.participants.prolific.recruiter import (
    Action,
    Approve,
    Collection,
    Pause,
    PayBonuses,
    RaisePlaces,
    RecruitmentBooks,
    RequestReturn,
    Review,
    SettleBulk,
    Start,
    Stop,
    books,
    decide,
    screen_outs_left,
    spent,
)

_LOOKS: Final = 5
"""Times that a draft is looked for and made before giving up."""


class PageAnswers:
    """Knowledge of our own page about visits, and what it must be informed of. This one knows nothing."""

    n_more: int = 0
    """People wanted beyond the plan, in place of some whose responses were excluded."""
    collection: Collection = ""
    command: str = "`lakatos prolific pay --stop`"
    """Command that stops the study, for messages."""

    def __call__(self, participant: str, submission: str) -> PageStatus | None:
        """Return how the visit ended; None while it has not, or when the person never came."""
        return None

    def prepare(self, study: StudySeen) -> None:
        """Take note of the study before anybody can come from it."""

    def meet(self, study: str, seen: Sequence[SubmissionSeen]) -> None:
        """Compare who came to the page with whom the service says it sent."""


def no_bonus(_: SubmissionEntry) -> Money | None:
    """Nobody earns more than the reward."""
    return None


class ProlificClerk:
    """One at a time for one run's books."""

    def __init__(
        self,
        client: ProlificClient,
        ledger: PaymentLedger,
        experiment: str,
        page: PageAnswers,
        *,
        bonus: Callable[[SubmissionEntry], Money | None] = no_bonus,
        stop_when_ended: bool = False,
    ) -> None:
        """Work on the recruitment for ``experiment``, which has a plan in the ``ledger``; see `recruiter.decide`."""
        self._stop_when_ended = stop_when_ended
        self._client, self._ledger, self._experiment = client, ledger, experiment
        self.page, self._bonus = page, bonus
        self.plan: RecruitmentPlan = ledger.account(experiment).plan

    @property
    def account(self) -> RecruitmentAccount:
        """All that is in the books."""
        return self._ledger.account(self._experiment)

    @property
    def books(self) -> RecruitmentBooks:
        """Count where everybody stands by now, and what is spent and still committed."""
        return books(self.account, now_s=self._ledger.now_s())

    def make_draft(self) -> StudySeen:
        """The study on the service as a draft: the one that is there, or else a new one.

        Raises:
            LedgerError: A study carries our key but is another one.
            UnreachableError, OutcomeUnknownError: The service cannot be asked now; ask again later.
        """
        known = self.account.study
        study = self._client.get_study(known) if known else self._find_or_create()
        if study.reward_minor != self.plan.reward.minor:
            raise LedgerError(
                f"the study {study.id} pays {study.reward_minor}, the plan {self.plan.reward.minor} "
                f"{self.plan.reward.currency} cents or pence; correct or delete it on the service."
            )
        self._ledger.set_study(self.plan.key, study)
        return study

    def _find_or_create(self) -> StudySeen:
        for look in range(_LOOKS):
            found = self._client.find_studies(self.plan.key, project=self.plan.settings.project)
            if found:
                return min(found, key=lambda study: (study.state == "UNPUBLISHED", study.id))
            try:
                return self._client.create_study(self.plan.draft())
            except OutcomeUnknownError:
                if look + 1 == _LOOKS:
                    raise
        raise AssertionError("unreachable")

    def publish(self, confirmation: SpendingConfirmation) -> StudySeen:
        """Make the draft, if need be, and let people in; publishing twice changes nothing.

        Raises:
            BudgetError: The service reckons with more than the plan does, or the confirmation is for another plan.
        """
        if confirmation.plan != self.plan:
            raise BudgetError(
                f"the confirmation is for another plan than the one of {self._experiment}; confirm again."
            )
        reckoned = self._client.study_cost(self.plan.reward, self.plan.settings.people)
        ours = self.plan.reward_cost * self.plan.settings.people
        if not reckoned <= ours:
            raise BudgetError(
                f"the service reckons {reckoned} for the rewards, the plan {ours}; correct service_percent and "
                "tax_percent (and fee_as_of) in the settings and plan again. Nothing was published."
            )
        study = self.make_draft()
        self.page.prepare(study)
        self._ledger.set_limit(self.plan.key, confirmation.limit)
        if study.state == "UNPUBLISHED":
            self._move(study.id, "PUBLISH")
        return self._look()

    def set_limit(self, confirmation: SpendingConfirmation) -> None:
        """Spend up to another limit from now on.

        Raises:
            BudgetError: The confirmation is for another plan.
        """
        if confirmation.plan != self.plan:
            raise BudgetError(
                f"the confirmation is for another plan than the one of {self._experiment}; confirm again."
            )
        self._ledger.set_limit(self.plan.key, confirmation.limit)

    def poll(self) -> RecruitmentBooks:
        """Take note of what the service and our page show; changes nothing on the service.

        Raises:
            LedgerError: Nothing was made on the service yet.
        """
        study = self._study()
        seen = self._client.list_submissions(study)
        self.page.meet(study, seen)
        people = self.plan.settings.people + self.page.n_more
        if people > self.account.people:
            self._ledger.set_people(self.plan.key, people)
        page = {}
        for item in seen:
            status = self.page(item.participant, item.id)
            if status is not None:
                page[item.participant, item.id] = status
        self._ledger.see_submissions(self.plan, seen, page)
        self._look()
        return self.books

    def decide(self) -> tuple[Action, ...]:
        """Decide what should be done now, by the books."""
        return decide(
            self.account,
            now_s=self._ledger.now_s(),
            bonus=self._bonus,
            collection=self.page.collection,
            stop_when_ended=self._stop_when_ended,
            command=self.page.command,
        )

    def work(self) -> tuple[Action, ...]:
        """Poll, then do what should be done; returns it, with what a person has to look at."""
        self.poll()
        actions = self.decide()
        for action in actions:
            self._carry_out(action)
        return actions

    def approve_by_hand(self, submission: str) -> None:
        """Pay somebody whose visit was left for a person to look at.

        Raises:
            LedgerError: The submission is not in the books, or the person was paid for another one.
            BudgetError: It would pass the limit.
        """
        account = self.account
        entry = next((entry for entry in account.submissions if entry.id == submission), None)
        if entry is None:
            raise LedgerError(
                f"there is no submission {submission} in the books; `lakatos prolific status` lists them."
            )
        paid = {payment.submission for payment in account.payments if payment.kind == "reward"}
        if any(
            other.participant == entry.participant and other.id in paid
            for other in account.submissions
        ):
            raise LedgerError(
                f"the participant of submission {submission} has a reward in the books and cannot get a second one."
            )
        committed = spent(account) + screen_outs_left(account)
        if account.limit is None or not committed + self.plan.reward_cost <= account.limit:
            raise BudgetError(
                f"paying submission {submission} would pass the limit of {account.limit}; raise it first."
            )
        self._approve(submission)

    def settle_by_hand(self, number: int, *, paid: bool) -> None:
        """Say of a bulk payment of bonuses that does not settle by itself whether the service paid what was open.

        Raises:
            LedgerError: There is no such bulk payment, or it is settled.
        """
        account = self.account
        if not any(bulk.number == number and bulk.state == "asked" for bulk in account.bulks):
            raise LedgerError(
                f"there is no open bulk payment {number}; `lakatos prolific status` names those there are."
            )
        open_ones = [
            item for item in account.payments if item.bulk == number and item.state == "promised"
        ]
        for payment in open_ones if paid else ():
            self._ledger.mark_bonus_paid(self.plan, payment.submission)
        self._ledger.mark_bulk(self.plan, number, "paid" if paid else "given_up")

    def stop(self) -> None:
        """Let nobody in any more, for good; whoever takes part now can finish and is paid."""
        self._ledger.set_stopped(self.plan.key, True)
        self._move(self._study(), "STOP")
        self._look()

    def _carry_out(self, action: Action) -> None:
        plan = self.plan
        match action:
            case Approve(submission):
                self._approve(submission)
            case RequestReturn(submission, reason):
                self._request_return(submission, reason)
            case RaisePlaces(places):
                self._client.set_places(self._study(), places)
            case Pause():
                self._ledger.set_paused(plan.key, True)
                self._move(self._study(), "PAUSE")
            case Start():
                self._move(self._study(), "START")
                self._ledger.set_paused(plan.key, False)
            case Stop():
                self.stop()
            case PayBonuses(bonuses):
                self._pay_bonuses(bonuses)
            case SettleBulk(number, paid, given_up):
                self._settle(number, paid, given_up)
            case Review():
                pass

    def _approve(self, submission: str) -> None:
        state = next(entry.state for entry in self.account.submissions if entry.id == submission)
        self._ledger.promise_reward(self.plan, submission)
        try:
            self._client.approve(submission)
        except RefusedError:
            self._ledger.withdraw_reward(self.plan, submission, state)
        else:
            self._ledger.mark_rewarded(self.plan, submission)

    def _request_return(self, submission: str, reason: str) -> None:
        try:
            self._client.request_return(submission, reason)
        except RefusedError:
            # The person returned the place, or was paid, meanwhile: the next list shows it.
            return
        self._ledger.mark_return_asked(self.plan, submission, reason)

    def _pay_bonuses(self, bonuses: tuple[tuple[str, Money], ...]) -> None:
        number = self._ledger.promise_bonuses(self.plan, bonuses)
        try:
            bulk = self._client.set_up_bonuses(self._study(), bonuses)
        except ProlificError:
            # Nothing is paid by preparing it: what may lie prepared on the service is never asked for.
            self._ledger.mark_bulk(self.plan, number, "given_up")
            return
        self._ledger.mark_bulk(self.plan, number, "asked", bulk_id=bulk)
        try:
            self._client.pay_bonuses(bulk)
        except (RefusedError, UnreachableError):
            self._ledger.mark_bulk(self.plan, number, "given_up")
        except ProlificError:
            # Paid or not: the submissions will show it.
            return

    def _settle(self, number: int, paid: tuple[str, ...], given_up: bool) -> None:
        for submission in paid:
            self._ledger.mark_bonus_paid(self.plan, submission)
        if given_up:
            self._ledger.mark_bulk(self.plan, number, "given_up")
            return
        left = [
            payment
            for payment in self.account.payments
            if payment.bulk == number and payment.state == "promised"
        ]
        if not left:
            self._ledger.mark_bulk(self.plan, number, "paid")

    def _move(self, study: str, action: StudyAction) -> None:
        wanted = {
            "PUBLISH": ("PUBLISHING", "SCHEDULED", "ACTIVE", "AWAITING REVIEW", "COMPLETED"),
            "PAUSE": ("PAUSED", "AWAITING REVIEW", "COMPLETED"),
            "START": ("ACTIVE", "AWAITING REVIEW", "COMPLETED"),
            "STOP": ("AWAITING REVIEW", "COMPLETED"),
        }[action]
        try:
            self._client.move_study(study, action)
        except RefusedError:
            # Asked twice, or overtaken: what counts is the state that the study has.
            if self._client.get_study(study).state not in wanted:
                raise

    def _look(self) -> StudySeen:
        study = self._client.get_study(self._study())
        self._ledger.see_study(self.plan.key, study)
        return study

    def _study(self) -> str:
        study = self.account.study
        if study is None:
            raise LedgerError(
                f"{self._experiment} has no study on the service; `lakatos prolific publish` makes it."
            )
        return study
