"""The world behind the stand-in: studies, submissions, money, and seeded people who take part."""

from __future__ import annotations

import heapq
import random
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, Final, Literal, TypeAlias

from lakatos.experiments.participants.answers import Status
from lakatos.experiments.participants.prolific.client import StudyState, SubmissionState
from lakatos.experiments.participants.prolific.money import Money, ServiceFee

TOKEN: Final = "stand-in"
BEGINNING: Final = datetime(2026, 1, 5, 9, 0, tzinfo=UTC)
Behaviour: TypeAlias = Literal[
    "completes",
    "returns",
    "lets the place go",
    "runs out of time",
    "comes back late",
    "is late and silent",
    "is screened out",
    "refuses consent",
    "forgets the code",
    "only gives the code",
    "takes part twice",
]
BEHAVIOURS: Final[dict[Behaviour, float]] = {
    "completes": 0.48,
    "returns": 0.08,
    "lets the place go": 0.04,
    "runs out of time": 0.06,
    "comes back late": 0.06,
    "is late and silent": 0.03,
    "is screened out": 0.06,
    "refuses consent": 0.03,
    "forgets the code": 0.05,
    "only gives the code": 0.04,
    "takes part twice": 0.07,
}
"""How people behave, and how often."""


@dataclass(frozen=True)
class RequestFaults:
    """Probability with which a request goes wrong, and how; never more than three times in a row."""

    too_many: float = 0.05
    """429, nothing done."""
    error_before: float = 0.04
    """500, nothing done."""
    error_after: float = 0.04
    """500, though it was done."""
    lost_after: float = 0.04
    """Done, and the connection breaks before the answer is through."""
    slow_after: float = 0.0
    """Done, and the answer comes after the client has given up."""
    slow_s: float = 1.0
    odd_lists: float = 0.15
    """For each submission in a list: old state, named twice, or left out while it is the newest."""

    @property
    def kinds(self) -> dict[str, float]:
        """The probability of each kind of fault, by its name."""
        return {
            "too_many": self.too_many,
            "error_before": self.error_before,
            "error_after": self.error_after,
            "lost_after": self.lost_after,
            "slow_after": self.slow_after,
        }


NO_FAULTS: Final = RequestFaults(0, 0, 0, 0, 0, 0, 0)
_IN_A_ROW: Final = 3


@dataclass
class _PretendedStudy:
    id: str
    draft: dict[str, Any]
    state: StudyState = "UNPUBLISHED"
    places: int = 0
    stopped: bool = False
    n_published: int = 0


@dataclass
class _PretendedSubmission:
    id: str
    study: str
    participant: str
    behaviour: Behaviour
    states: list[SubmissionState]
    code: str = ""
    bonuses: list[int] = field(default_factory=list)
    return_requested: str | None = None

    @property
    def state(self) -> SubmissionState:
        return self.states[-1]


@dataclass(frozen=True)
class MoneyTransfer:
    """Money that went to a person."""

    submission: str
    participant: str
    kind: Literal["reward", "bonus", "screen_out"]
    minor: int


class RefusalError(Exception):
    """An answer of the 400s."""

    def __init__(self, status: int, detail: str) -> None:
        super().__init__(detail)
        self.status = status


class ProlificWorld:
    """The service's state and its people."""

    def __init__(
        self,
        seed: int,
        *,
        faults: RequestFaults = NO_FAULTS,
        behaviours: dict[Behaviour, float] = BEHAVIOURS,
        fee: ServiceFee | None = None,
        timed_out_keeps_place: bool = False,
        approves_timed_out: bool = True,
    ) -> None:
        """An empty service; the last two say what its documentation leaves open."""
        self.seed, self.faults, self.fee = seed, faults, fee or ServiceFee()
        self.studies: dict[str, _PretendedStudy] = {}
        self.submissions: dict[str, _PretendedSubmission] = {}
        self.page: dict[str, Status] = {}
        """How visits to our own page ended, by submission."""
        self.transfers: list[MoneyTransfer] = []
        self.bulks: dict[str, list[tuple[str, int]]] = {}
        self.asked: Counter[str] = Counter()
        """Requests and faults that were met."""
        self.n_ticks = 0
        self._behaviours, self._keeps, self._approves = (
            behaviours,
            timed_out_keeps_place,
            approves_timed_out,
        )
        self._now, self._events = BEGINNING, list[tuple[datetime, int, Callable[[], None]]]()
        self._n_events = self._n_people = self._n_asked = self._in_a_row = 0
        self._lock = threading.RLock()

    def now(self) -> datetime:
        """What the clock of this world shows."""
        with self._lock:
            return self._now

    def tick(self, minutes: float = 5.0) -> None:
        """Let time pass; people act, and new ones come while there are places."""
        with self._lock:
            until = self._now + timedelta(minutes=minutes)
            while self._events and self._events[0][0] <= until:
                self._now, _, act = heapq.heappop(self._events)
                act()
            self._now = until
            self.n_ticks += 1
            for study in self.studies.values():
                if study.state == "PUBLISHING":
                    study.state = "ACTIVE"
                for _ in range(self._rng("arrive", self.n_ticks, study.id).randint(0, 3)):
                    self._arrive(study)

    def quiet(self) -> bool:
        """Whether nothing is going to happen by itself."""
        with self._lock:
            busy = any(item.state in ("RESERVED", "ACTIVE") for item in self.submissions.values())
            return not busy and not self._events

    def _rng(self, *names: object) -> random.Random:
        return random.Random(f"{self.seed}:{':'.join(map(str, names))}")

    def _later(self, minutes: float, act: Callable[[], None]) -> None:
        self._n_events += 1
        heapq.heappush(self._events, (self._now + timedelta(minutes=minutes), self._n_events, act))

    def _arrive(
        self, study: _PretendedStudy, participant: str = "", behaviour: Behaviour | None = None
    ) -> None:
        if study.state != "ACTIVE" or self._free(study) <= 0:
            return
        self._n_people += 1
        rng = self._rng("person", self._n_people)
        kind = behaviour or rng.choices(list(self._behaviours), list(self._behaviours.values()))[0]
        item = _PretendedSubmission(
            id=f"{rng.getrandbits(96):024x}",
            study=study.id,
            participant=participant or f"{rng.getrandbits(96):024x}",
            behaviour=kind,
            states=["RESERVED"],
        )
        self.submissions[item.id] = item
        self._fill(study)
        start = rng.uniform(0.2, 6.0)
        if kind == "lets the place go":
            self._later(10.0, lambda: self._become(item, "RETURNED"))
            return
        self._later(start, lambda: self._become(item, "ACTIVE"))
        self._visit(study, item, start + rng.uniform(2.0, 15.0), rng)

    def _visit(
        self, study: _PretendedStudy, item: _PretendedSubmission, ends: float, rng: random.Random
    ) -> None:
        """What the person does on our page, and what becomes of the place, ``ends`` minutes from now."""
        codes = {entry["code_type"]: entry for entry in study.draft["completion_codes"]}

        def submit(
            kind: str = "COMPLETED", page: Status | None = "completed", code: bool = True
        ) -> None:
            if page is not None:
                self.page[item.id] = page
            item.code = codes[kind]["code"] if code else ""
            self._submit(item, codes[kind] if code else {})

        match item.behaviour:
            case "completes":
                self._later(ends, submit)
            case "returns":
                self._later(ends, lambda: self._leave(item, "RETURNED", "returned"))
            case "runs out of time":
                self._later(40.0, lambda: self._leave(item, "TIMED-OUT", "timed_out"))
            case "comes back late":
                self._later(40.0, lambda: self._leave(item, "TIMED-OUT", "timed_out"))
                self._later(45.0 + rng.uniform(0, 180), submit)
            case "is late and silent":
                self._later(40.0, lambda: self._leave(item, "TIMED-OUT", "completed"))
            case "is screened out":
                self._later(ends, lambda: submit("FIXED_SCREENOUT", "screened_out"))
            case "refuses consent":
                self._later(ends, lambda: submit("NO_CONSENT", "returned"))
            case "forgets the code":
                self._later(ends, lambda: submit(code=False))
            case "only gives the code":
                self._later(ends, lambda: submit(page=None))
            case "takes part twice":
                again = ends + rng.uniform(1.0, 60.0)
                self._later(ends, submit)
                self._later(again, lambda: self._arrive(study, item.participant, "completes"))
            case "lets the place go":
                pass

    def _leave(self, item: _PretendedSubmission, state: SubmissionState, page: Status) -> None:
        self.page[item.id] = page
        self._become(item, state)

    def _submit(self, item: _PretendedSubmission, code: dict[str, Any]) -> None:
        action = (code.get("actions") or [{}])[0]
        paid = sum(entry.kind == "screen_out" for entry in self.transfers)
        if action.get("action") == "FIXED_SCREEN_OUT_PAYMENT" and paid < action["slots"]:
            self._transfer(item, "screen_out", action["fixed_screen_out_reward"])
            self._become(item, "SCREENED OUT")
        else:
            self._become(item, "AWAITING REVIEW")

    def _become(self, item: _PretendedSubmission, state: SubmissionState) -> None:
        if item.state in ("APPROVED", "REJECTED", "RETURNED", "SCREENED OUT"):
            return
        item.states.append(state)
        study = self.studies[item.study]
        self._fill(study)
        if study.state == "AWAITING REVIEW" and not study.stopped and self._free(study) > 0:
            study.state = "ACTIVE"

    def _fill(self, study: _PretendedStudy) -> None:
        if study.state == "ACTIVE" and self._free(study) <= 0:
            study.state = "AWAITING REVIEW"
        open_states = ("RESERVED", "ACTIVE", "AWAITING REVIEW")
        unfinished = any(
            i.state in open_states for i in self.submissions.values() if i.study == study.id
        )
        if (
            study.state == "AWAITING REVIEW"
            and not unfinished
            and (study.stopped or self._free(study) <= 0)
        ):
            study.state = "COMPLETED"

    def _taken(self, study: _PretendedStudy) -> int:
        taken = {"RESERVED", "ACTIVE", "AWAITING REVIEW", "APPROVED"} | (
            {"TIMED-OUT"} if self._keeps else set()
        )
        return sum(
            item.state in taken for item in self.submissions.values() if item.study == study.id
        )

    def _free(self, study: _PretendedStudy) -> int:
        return study.places - self._taken(study)

    def _transfer(
        self, item: _PretendedSubmission, kind: Literal["reward", "bonus", "screen_out"], minor: int
    ) -> None:
        self.transfers.append(MoneyTransfer(item.id, item.participant, kind, minor))

    # What the interface does.

    def create(self, draft: dict[str, Any]) -> dict[str, Any]:
        """Make a study that is not published yet: ``POST /studies/``."""
        needed = (
            "name",
            "description",
            "external_study_url",
            "completion_codes",
            "reward",
            "total_available_places",
        )
        missing = [name for name in needed if not draft.get(name)]
        if missing or len({entry["code"] for entry in draft["completion_codes"]}) < len(
            draft["completion_codes"]
        ):
            raise RefusalError(
                400, f"missing or repeated: {', '.join(missing) or 'completion codes'}"
            )
        study = _PretendedStudy(
            f"{self._rng('study', len(self.studies)).getrandbits(96):024x}", dict(draft)
        )
        study.places = int(draft["total_available_places"])
        self.studies[study.id] = study
        return self.show(study.id)

    def show(self, study_id: str) -> dict[str, Any]:
        """Show a study and its places: ``GET /studies/{id}/``."""
        study = self._known(study_id)
        counts = {"total_available_places": study.places, "places_taken": self._taken(study)}
        return {**study.draft, "id": study.id, "status": study.state, **counts}

    def change(self, study_id: str, body: dict[str, Any]) -> dict[str, Any]:
        """Change a study's fields: ``PATCH /studies/{id}/``."""
        study = self._known(study_id)
        if study.state != "UNPUBLISHED" and set(body) - {"total_available_places", "internal_name"}:
            raise RefusalError(400, "only internal_name and total_available_places can change now")
        places = int(body.get("total_available_places", study.places))
        if study.state != "UNPUBLISHED" and places < study.places:
            raise RefusalError(400, "total_available_places cannot be lowered")
        study.draft.update(body)
        study.places = places
        if study.state in ("AWAITING REVIEW", "COMPLETED") and self._free(study) > 0:
            study.state, study.stopped = "ACTIVE", False
        return self.show(study_id)

    def move(self, study_id: str, action: str) -> dict[str, Any]:
        """Publish, pause, start or stop a study: ``POST /studies/{id}/transition/``."""
        study = self._known(study_id)
        moves: dict[str, tuple[tuple[StudyState, ...], StudyState]] = {
            "PUBLISH": (("UNPUBLISHED",), "PUBLISHING"),
            "PAUSE": (("ACTIVE",), "PAUSED"),
            "START": (("PAUSED",), "ACTIVE"),
            "STOP": (("ACTIVE", "PAUSED"), "AWAITING REVIEW"),
        }
        if action not in moves or study.state not in moves[action][0]:
            raise RefusalError(400, f"{action} is not possible in the state {study.state}")
        study.state = moves[action][1]
        study.stopped = action == "STOP"
        study.n_published += action == "PUBLISH"
        if action in ("START", "STOP"):
            self._fill(study)
        return self.show(study_id)

    def listed(self, study_id: str) -> list[dict[str, Any]]:
        """``GET /studies/{id}/submissions/``, with the oddities of this tick."""
        study = self._known(study_id)
        items = [item for item in self.submissions.values() if item.study == study.id]
        lines: list[dict[str, Any]] = []
        for place, item in enumerate(items):
            rng = self._rng("list", self.n_ticks, item.id)
            odd = (
                rng.choice(("old", "twice", "missing"))
                if rng.random() < self.faults.odd_lists
                else ""
            )
            if odd == "missing" and place == len(items) - 1:
                continue
            lines.append(self._line(item, -2 if odd == "old" else -1))
            if odd == "twice":
                lines.append(self._line(item, -2))
        return lines

    def _line(self, item: _PretendedSubmission, which: int) -> dict[str, Any]:
        state = item.states[max(which, -len(item.states))]
        return {
            "id": item.id,
            "participant_id": item.participant,
            "status": state,
            "study_code": item.code or "NOCODE",
            "bonus_payments": list(item.bonuses),
            "return_requested": item.return_requested,
        }

    def decide(self, submission: str, body: dict[str, Any]) -> dict[str, Any]:
        """Approve or reject a submission: ``POST /submissions/{id}/transition/``."""
        item = self._submission(submission)
        action = body.get("action")
        if action == "REJECT" and (
            len(body.get("message", "")) < 100 or not body.get("rejection_category")
        ):
            raise RefusalError(
                400, "a rejection needs a category and a message of at least 100 characters"
            )
        goal: SubmissionState = "APPROVED" if action == "APPROVE" else "REJECTED"
        if action not in ("APPROVE", "REJECT"):
            raise RefusalError(400, f"unknown action {action!r}")
        if item.state == goal:
            return self._line(item, -1)
        decidable = ("AWAITING REVIEW", "TIMED-OUT") if self._approves else ("AWAITING REVIEW",)
        if item.state not in decidable:
            raise RefusalError(400, f"a submission in the state {item.state} cannot be decided")
        if goal == "APPROVED":
            self._transfer(item, "reward", int(self.studies[item.study].draft["reward"]))
        self._become(item, goal)
        return self._line(item, -1)

    def request_return(self, submission: str, body: dict[str, Any]) -> dict[str, Any]:
        """Ask a person to return: ``POST /submissions/{id}/request-return/``."""
        item = self._submission(submission)
        if item.state != "AWAITING REVIEW" or not body.get("request_return_reasons"):
            raise RefusalError(
                400, f"a return cannot be asked for in the state {item.state}, or without reasons"
            )
        if item.return_requested is None:
            item.return_requested = self._now.isoformat()
            rng = self._rng("return", item.id)
            if rng.random() < 0.8:
                self._later(rng.uniform(5, 300), lambda: self._become(item, "RETURNED"))
        return self._line(item, -1)

    def set_up_bonuses(self, body: dict[str, Any]) -> dict[str, Any]:
        """``POST /submissions/bonus-payments/``: amounts in pounds or dollars."""
        self._known(str(body.get("study_id")))
        lines: list[tuple[str, int]] = []
        for line in str(body.get("csv_bonuses", "")).split():
            submission, _, amount = line.partition(",")
            if self._submission(submission).state != "APPROVED":
                raise RefusalError(400, f"submission {submission} is not approved")
            lines.append((submission, round(float(amount) * 100)))
        bulk = f"{self._rng('bulk', len(self.bulks)).getrandbits(96):024x}"
        self.bulks[bulk] = lines
        return {
            "id": bulk,
            "study": body["study_id"],
            "total_amount": sum(minor for _, minor in lines),
        }

    def pay_bonuses(self, bulk: str) -> dict[str, Any]:
        """``POST /bulk-bonus-payments/{id}/pay/``: pays each time it is asked, some minutes later."""
        if bulk not in self.bulks:
            raise RefusalError(404, "no such bulk payment")

        def pay() -> None:
            for submission, minor in self.bulks[bulk]:
                item = self.submissions[submission]
                item.bonuses.append(minor)
                self._transfer(item, "bonus", minor)

        self._later(self._rng("pay", bulk).uniform(1, 10), pay)
        return {}

    def cost(self, body: dict[str, Any]) -> dict[str, Any]:
        """Compute what a study costs, in cents: ``POST /study-cost-calculator/``."""
        share = float(self.fee.service_percent) / 100 * (1 + float(self.fee.tax_percent) / 100)
        return {"total_cost": body["reward"] * body["total_available_places"] * (1 + share)}

    def transferred(self, currency: str = "GBP") -> Money:
        """Everything that was paid, with fees."""
        return sum(
            (self.fee.cost(Money(item.minor, currency)) for item in self.transfers),
            Money(0, currency),
        )

    def _known(self, study_id: str) -> _PretendedStudy:
        if study_id not in self.studies:
            raise RefusalError(404, "no such study")
        return self.studies[study_id]

    def _submission(self, submission: str) -> _PretendedSubmission:
        if submission not in self.submissions:
            raise RefusalError(404, "no such submission")
        return self.submissions[submission]

    def next_fault(self) -> str:
        """What goes wrong with the next request; empty when nothing does."""
        with self._lock:
            self._n_asked += 1
            kinds = self.faults.kinds
            rest = max(0.0, 1.0 - sum(kinds.values()))
            fault = self._rng("fault", self._n_asked).choices(
                [*kinds, ""], [*kinds.values(), rest]
            )[0]
            self._in_a_row = self._in_a_row + 1 if fault else 0
            if self._in_a_row > _IN_A_ROW:
                fault, self._in_a_row = "", 0
            self.asked["requests"] += 1
            if fault:
                self.asked[fault] += 1
            return fault

    @contextmanager
    def held(self) -> Iterator[None]:
        """Stop the world, so that nothing else happens inside the ``with`` block."""
        with self._lock:
            yield
