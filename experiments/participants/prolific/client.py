"""The service's documented interface, as far as recruiting needs it: https://docs.prolific.com/api-reference.

What may be asked twice is asked again after a failure; what may not (creating a study, setting up or paying bonuses)
is asked once, and where nobody can tell whether it was done, `OutcomeUnknownError` says so. The token is read from the
environment, goes into one header, and is never stored, logged or shown.
"""

from __future__ import annotations

import os
import random
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any, Final, Literal, TypeAlias, get_args
from urllib.parse import urlsplit

import httpx

from lakatos.experiments.participants.prolific.errors import (
    OutcomeUnknownError,
    PlanError,
    ProlificError,
    RefusedError,
    UnreachableError,
)
from lakatos.experiments.participants.prolific.money import Money

SERVICE: Final = "https://api.prolific.com/api/v1"
TOKEN_VARIABLE: Final = "PROLIFIC_TOKEN"
ADDRESS_VARIABLE: Final = "PROLIFIC_URL"
BONUSES_AT_ONCE: Final = 200
"""Lines that one bulk payment takes."""

SubmissionState: TypeAlias = Literal[
    "RESERVED",
    "ACTIVE",
    "TIMED-OUT",
    "AWAITING REVIEW",
    "PARTIALLY APPROVED",
    "SCREENED OUT",
    "RETURNED",
    "REJECTED",
    "APPROVED",
]
StudyState: TypeAlias = Literal[
    "UNPUBLISHED",
    "PUBLISHING",
    "SCHEDULED",
    "ACTIVE",
    "PAUSED",
    "AWAITING REVIEW",
    "COMPLETED",
    "PROCESSING",
]
StudyAction: TypeAlias = Literal["PUBLISH", "PAUSE", "START", "STOP"]


@dataclass(frozen=True)
class StudySeen:
    """A study as the service shows it."""

    id: str
    internal_name: str
    state: StudyState
    places: int
    """Places that were ever asked for."""
    taken: int
    """Places that are taken."""
    reward_minor: int
    """Reward in cents or pence."""


@dataclass(frozen=True)
class SubmissionSeen:
    """One person's visit as the service shows it."""

    id: str
    participant: str
    state: SubmissionState
    code: str
    """Completion code that was entered; empty when none was."""
    bonuses_minor: tuple[int, ...] | None
    """Bonuses that have been paid, in cents or pence; None where the service does not say."""
    return_requested: bool


class ProlificClient:
    """Requests with retries and a rate limit; one thread at a time.

    Requests that are refused for coming too often (429) and failed connections did nothing, so all are repeated.
    After a response of 500 or above, or none, only what may be done twice is repeated.
    """

    def __init__(
        self,
        token: str,
        *,
        service: str = SERVICE,
        transport: httpx.BaseTransport | None = None,
        timeout_s: float = 30.0,
        attempts: int = 7,
        first_wait_s: float = 1.0,
        longest_wait_s: float = 120.0,
        least_gap_s: float = 0.2,
        sleep: Callable[[float], None] = time.sleep,
        clock: Callable[[], float] = time.monotonic,
        jitter: random.Random | None = None,
    ) -> None:
        """Talk to ``service``, which must be reached by https unless it is on this machine.

        Raises:
            PlanError: There is no token, or it would go over an open line.
        """
        place = urlsplit(service)
        if place.scheme != "https" and place.hostname not in ("127.0.0.1", "localhost"):
            raise PlanError(
                f"{service} is not reached by https; the token would be readable on the way."
            )
        if not token or not token.isascii() or not token.isprintable():
            raise PlanError(
                f"there is no token for the service; put it into the environment as {TOKEN_VARIABLE}."
            )
        self._http = httpx.Client(
            base_url=service,
            transport=transport,
            timeout=timeout_s,
            headers={"Authorization": f"Token {token}", "User-Agent": "lakatos"},
            trust_env=place.scheme == "https",
            verify=place.scheme == "https",
        )
        self._hidden = token
        self._attempts, self._first_wait_s, self._longest_wait_s = (
            attempts,
            first_wait_s,
            longest_wait_s,
        )
        self._least_gap_s, self._sleep, self._clock = least_gap_s, sleep, clock
        # Spreads repeated requests of several programs; no result depends on it.
        self._jitter = jitter or random.Random()
        self._next = clock()

    @classmethod
    def from_environment(cls, **settings: Any) -> ProlificClient:
        """Read the token from the variable ``PROLIFIC_TOKEN``; ``PROLIFIC_URL`` names another service, as for tests."""
        service = os.environ.get(ADDRESS_VARIABLE, "").strip() or SERVICE
        return cls(os.environ.get(TOKEN_VARIABLE, "").strip(), **({"service": service} | settings))

    def __repr__(self) -> str:
        return f"ProlificClient({str(self._http.base_url)!r})"

    def __enter__(self) -> ProlificClient:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close all connections to the service."""
        self._http.close()

    def study_cost(self, reward: Money, places: int) -> Money:
        """Return the cost that the service computes, with its fees and taxes."""
        body = {"reward": reward.minor, "total_available_places": places}
        answer = self._ask("POST", "/study-cost-calculator/", body, repeatable=True)
        total = _get(answer, "total_cost", (int, float))
        return Money(-int(-total // 1), reward.currency)

    def find_studies(self, key: str, *, project: str = "") -> list[StudySeen]:
        """Studies with ``key`` in their internal name, in the service's order."""
        path = f"/projects/{project}/studies/" if project else "/studies/"
        return [
            _study(entry)
            for entry in self._pages(path, {} if project else {"all": "1"})
            if key in str(entry.get("internal_name", ""))
        ]

    def create_study(self, draft: Mapping[str, Any]) -> StudySeen:
        """Make a draft. Look for it with `find_studies` before, and after an `OutcomeUnknownError`."""
        return _study(self._ask("POST", "/studies/", draft, repeatable=False))

    def get_study(self, study: str) -> StudySeen:
        """Ask how a study stands now."""
        return _study(self._ask("GET", f"/studies/{study}/", None, repeatable=True))

    def move_study(self, study: str, action: StudyAction) -> None:
        """Ask for a change of state. Asking for the state that it has may be refused: look at the study then."""
        self._ask("POST", f"/studies/{study}/transition/", {"action": action}, repeatable=True)

    def set_places(self, study: str, places: int) -> None:
        """Set the total number of places, which can only rise once a study is published."""
        self._ask(
            "PATCH", f"/studies/{study}/", {"total_available_places": places}, repeatable=True
        )

    def list_submissions(self, study: str) -> list[SubmissionSeen]:
        """Everybody who took a place, as the service shows them; can lag behind and name one twice."""
        return [_submission(entry) for entry in self._pages(f"/studies/{study}/submissions/", {})]

    def approve(self, submission: str) -> None:
        """Pay the reward. The service pays once however often it is asked."""
        self._ask(
            "POST", f"/submissions/{submission}/transition/", {"action": "APPROVE"}, repeatable=True
        )

    def request_return(self, submission: str, reason: str) -> None:
        """Ask the person to give the place back."""
        body = {"request_return_reasons": [reason]}
        self._ask("POST", f"/submissions/{submission}/request-return/", body, repeatable=True)

    def set_up_bonuses(self, study: str, bonuses: Sequence[tuple[str, Money]]) -> str:
        """Prepare a bulk payment of ``(submission, amount)`` and return its identifier; nothing is paid yet.

        Amounts are written in pounds or dollars here, and only here.
        """
        if not 0 < len(bonuses) <= BONUSES_AT_ONCE:
            raise PlanError(
                f"a bulk payment has 1 to {BONUSES_AT_ONCE} bonuses, not {len(bonuses)}."
            )
        lines = "".join(f"{submission},{amount.major}\n" for submission, amount in bonuses)
        body = {"study_id": study, "csv_bonuses": lines}
        return str(
            _get(
                self._ask("POST", "/submissions/bonus-payments/", body, repeatable=False), "id", str
            )
        )

    def pay_bonuses(self, bulk: str) -> None:
        """Pay a bulk payment. Each time it is asked, the service pays again: ask once, then look for the money."""
        self._ask("POST", f"/bulk-bonus-payments/{bulk}/pay/", None, repeatable=False)

    def _pages(self, path: str, query: Mapping[str, str]) -> Iterator[dict[str, Any]]:
        size, offset, seen = 200, 0, set[str]()
        while True:
            answer = self._ask(
                "GET", path, None, repeatable=True, query={**query, "limit": size, "offset": offset}
            )
            entries = _get(answer, "results", list)
            yield from entries
            new = {str(entry.get("id")) for entry in entries} - seen
            # A list that ignores the offset comes whole, again and again.
            if len(entries) < size or not new:
                return
            seen |= new
            offset += size

    def _ask(
        self,
        method: str,
        path: str,
        body: Any,
        *,
        repeatable: bool,
        query: Mapping[str, Any] | None = None,
    ) -> Any:
        called = f"{method} {path}"
        for attempt in range(self._attempts):
            self._keep_gap()
            try:
                response = self._http.request(method, path, json=body, params=query)
            except (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout) as error:
                problem, did_nothing, wait_s = self._clean(error), True, None
            except httpx.TransportError as error:
                problem, did_nothing, wait_s = self._clean(error), False, None
            else:
                if response.is_success:
                    return self._json(response, called)
                if response.status_code < 400:
                    raise ProlificError(
                        f"the service sent {called} elsewhere ({response.status_code}); check the address."
                    )
                problem = f"HTTP {response.status_code}: {self._detail(response)}"
                did_nothing, wait_s = response.status_code == 429, _retry_after_s(response)
                if response.status_code < 500 and not did_nothing:
                    raise RefusedError(
                        f"the service refused {called}: {problem}", response.status_code
                    )
            if not did_nothing and not repeatable:
                raise OutcomeUnknownError(
                    f"it is unknown whether the service carried out {called} ({problem}); `lakatos "
                    "prolific status` checks."
                )
            if wait_s is not None and wait_s > self._longest_wait_s:
                raise UnreachableError(
                    f"the service requires a wait of {wait_s:.0f} s before {called}; try again then."
                )
            if attempt + 1 < self._attempts:
                self._sleep(self._wait_s(attempt) if wait_s is None else wait_s)
        raise UnreachableError(
            f"the service did not do {called} in {self._attempts} attempts ({problem}); try later."
        )

    def _keep_gap(self) -> None:
        early_s = self._next - self._clock()
        if early_s > 0:
            self._sleep(early_s)
        self._next = max(self._clock(), self._next) + self._least_gap_s

    def _wait_s(self, attempt: int) -> float:
        return self._jitter.uniform(
            0.0, min(self._longest_wait_s, self._first_wait_s * 2.0**attempt)
        )

    def _json(self, response: httpx.Response, called: str) -> Any:
        try:
            return response.json() if response.content else {}
        except ValueError:
            # Whatever it is, it is no answer of the service: a proxy or a captive portal.
            raise ProlificError(
                f"the answer to {called} is no JSON; check the address and the network."
            ) from None

    def _detail(self, response: httpx.Response) -> str:
        try:
            value = response.json()
            error = value.get("error", value)
            text = str(error.get("detail") or error.get("title") or error)
        except (ValueError, AttributeError):
            text = response.reason_phrase
        return self._clean(text)

    def _clean(self, problem: object) -> str:
        text = " ".join(str(problem).replace(self._hidden, "...").split())
        return text[:300] or type(problem).__name__


def _retry_after_s(response: httpx.Response) -> float | None:
    """Seconds that the service asks to wait, given as a number or as a date (RFC 9110, 10.2.3)."""
    text = response.headers.get("Retry-After", "").strip()
    if not text:
        return None
    if text.isdigit():
        return float(text)
    try:
        date = parsedate_to_datetime(text)
    except ValueError:
        return None
    return (
        max(0.0, (date - datetime.now(date.tzinfo or UTC)).total_seconds()) if date.tzinfo else None
    )


def _get(value: Any, name: str, kind: type | tuple[type, ...]) -> Any:
    found = value.get(name) if isinstance(value, Mapping) else None
    if not isinstance(found, kind) or isinstance(found, bool):
        raise ProlificError(
            f"the service's answer holds no {name!r} as documented, but {found!r:.80}."
        )
    return found


def _study(entry: Any) -> StudySeen:
    state = str(_get(entry, "status", str)).upper().replace("_", " ")
    if state not in get_args(StudyState):
        raise ProlificError(
            f"the service shows a study in a state that is not documented: {state!r}."
        )
    draft = state == "UNPUBLISHED"
    return StudySeen(
        id=_get(entry, "id", str),
        internal_name=str(entry.get("internal_name") or ""),
        state=state,  # type: ignore[arg-type]
        places=int(_get(entry, "total_available_places", (int, float))),
        taken=0 if draft else int(_get(entry, "places_taken", (int, float))),
        reward_minor=int(_get(entry, "reward", (int, float))),
    )


def _submission(entry: Any) -> SubmissionSeen:
    state = (
        str(_get(entry, "status", str)).upper().replace("_", " ").replace("TIMED OUT", "TIMED-OUT")
    )
    if state not in get_args(SubmissionState):
        raise ProlificError(
            f"the service shows a submission in a state that is not documented: {state!r}."
        )
    bonuses = entry.get("bonus_payments")
    return SubmissionSeen(
        id=_get(entry, "id", str),
        participant=str(entry.get("participant_id") or _get(entry, "participant", str)),
        state=state,  # type: ignore[arg-type]
        code=_code(entry.get("study_code") or entry.get("entered_code")),
        bonuses_minor=None if bonuses is None else tuple(int(value) for value in bonuses),
        return_requested=bool(entry.get("return_requested")),
    )


def _code(value: Any) -> str:
    return "" if value in (None, "NOCODE") else str(value)
