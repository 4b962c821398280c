"""Small campaigns of each kind that can be begun, killed and gone on with, and what must be true of each when it ends.

People on the page and language models follow a script, so that a campaign that was killed can be compared with one that
was not: the same browsers send the same requests again, as a page does whose server was away.
"""

from __future__ import annotations

import json
import mmap
import sqlite3
import sys
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "tests" / "flows")]

import numpy as np  # noqa: E402
from answering import HIDDEN, good  # noqa: E402
from participating import higher_sum  # noqa: E402
from starlette.testclient import TestClient  # noqa: E402

from lakatos.experiments.participants.web.address_book import make_token  # noqa: E402
from lakatos.experiments.participants.web.app import create_app  # noqa: E402
from lakatos.experiments.participants.web.collection import COLLECTION_FILE, KEY_FILE  # noqa: E402
from lakatos.experiments.participants.web.store import SessionStore  # noqa: E402
from lakatos.experiments.participants.web.texts import texts_for  # noqa: E402
from lakatos.experiments.record import AnswersArrived, PeopleRecruited, TrialsCollected  # noqa: E402
from lakatos.flows.run.records import RECORD_TYPES  # noqa: E402
from lakatos.flows.run.run import has_run, read_state  # noqa: E402
from lakatos.flows.run.study import CampaignConfig, parse_study  # noqa: E402
from lakatos.flows.stages.asked import AnswersAwaited  # noqa: E402
from lakatos.flows.start import resume_run, run_study  # noqa: E402
from lakatos.language_models.client import ModelCompletion, ModelRequest, TokenUsage  # noqa: E402
from lakatos.language_models.clients import CLIENTS  # noqa: E402
from lakatos.language_models.ledger import spending_of  # noqa: E402
from lakatos.language_models.record import LanguageModelCalled  # noqa: E402
from lakatos.language_models.settings import ModelSettings  # noqa: E402
from lakatos.traces import inbox  # noqa: E402
from lakatos.traces.digest import digest_of  # noqa: E402
from lakatos.traces.fold import canonical_digest  # noqa: E402
from lakatos.traces.journal import INTENT, Event  # noqa: E402
from lakatos.traces.record import kind_of  # noqa: E402
from lakatos.traces.step import Trace  # noqa: E402

SMALL: dict[str, Any] = {
    "question": "Which rule do people follow?",
    "domain": "multiattribute",
    "seed": 3,
    "space": {"validities": [0.9, 0.7, 0.6], "levels": [0, 1, 2]},
    "theories": {
        "seeds": ["take_the_best", "tallying"], "candidates": 2, "successors": 1, "draws": 32, "rivals": 2,
        "induction": False,
    },
    "design": {"trials": 8, "participants": 8, "candidates": 20, "power": 0.6, "refused": "cover"},
    "stop": {"cycles": 2, "least_cycles": 2},
    "memory": {"winners": False},
}  # fmt: skip
ONE_CYCLE = {"stop": {"cycles": 1, "least_cycles": 1}}
STUDIES: dict[str, dict[str, Any]] = {
    "simulated": {
        "participants": {"source": "simulated", "theory": "weighted_additive", "careless": 0.3},
        "exclusions": {"median_time_below_ms": 450.0, "replacements": 4},
    },
    "archival": {
        "domain": "risky", "space": {},
        "theories": {**SMALL["theories"], "seeds": ["expected_value", "expected_utility"]},
        "design": {"trials": 6, "power": 0.6, "refused": "cover"},
        "participants": {"source": "archival", "archive": "allais"},
        "validation": {"sealed_share": 0.2},
    },
    "web": {
        "participants": {"source": "web"},
        "page": {"access": "open", "checks": 1, "hourly_from_address": 0},
        "design": {**SMALL["design"], "participants": 4},
        "exclusions": {"median_time_below_ms": 450.0, "replacements": 2},
        **ONE_CYCLE,
    },
    "language models in roles": {
        "participants": {"source": "simulated", "program": HIDDEN},
        "models": {"writer": {"client": "actor", "price": {"input": 1.0, "output": 4.0}}},
        "roles": {
            **dict.fromkeys(("arbiter", "reviser", "advocate", "auditor", "judge"), "writer"),
            "max_tokens": 1500, "repeats": 1, "lenses": ["leap"],
        },
        "budget": {"requests": 100000},
    },
    "language model takes part": {
        "models": {"anyone": {"client": "actor"}},
        "participants": {"source": "language_model", "model": "anyone"},
        "page": {"checks": 1},
        "design": {**SMALL["design"], "trials": 4, "participants": 3},
        "budget": {"requests": 100000},
        **ONE_CYCLE,
    },
}  # fmt: skip
"""What each kind of campaign has besides `SMALL`."""
PEOPLE = [f"person-{number:02d}".ljust(43, "-") for number in range(12)]
"""Cookies of the people who come to the page, in the order in which they come."""
HASTY = PEOPLE[1]
CONCLUDED, WAITING = 0, 3


def study(kind: str) -> CampaignConfig:
    """The study of a kind of campaign."""
    return parse_study({**SMALL, "name": kind.replace(" ", "-"), **STUDIES[kind]}, "this benchmark")


_SERVED = mmap.mmap(-1, 8)
"""Shared with the processes that are killed, so that what they were answered is known all the same."""


def n_served() -> int:
    """How often language models have answered since `forget_served`, recorded or not."""
    return int.from_bytes(_SERVED[:8], "little")


def forget_served() -> None:
    """Another campaign begins."""
    _SERVED[:8] = bytes(8)


@dataclass(frozen=True)
class Actor:
    """A language model that answers by a rule, as one that is asked anew after a crash: by the request alone."""

    settings: ModelSettings

    @property
    def name(self) -> str:
        """As the study names it."""
        return self.settings.name

    @property
    def version(self) -> str:
        """Of what the study declares."""
        return self.settings.version

    async def complete(self, request: ModelRequest) -> ModelCompletion:
        """What the rule says, by the request alone."""
        digest = digest_of(request.model_dump(mode="json"))
        body = {
            "messages": [{"role": item.role, "content": item.content} for item in request.messages],
            "response_format": {"json_schema": {"schema": request.answer_schema or {}}},
        }
        _SERVED[:8] = (n_served() + 1).to_bytes(8, "little")
        act = good if self.name == "writer" else higher_sum
        content = act(body, np.random.default_rng(int(digest[:16], 16))) or ""
        return ModelCompletion(
            content=content,
            finish_reason="stop",
            model_name="actor",
            usage=TokenUsage(n_prompt_tokens=100, n_completion_tokens=9),
        )


CLIENTS["actor"] = Actor


class _StillClock(datetime):
    @classmethod
    def now(cls, tz: Any = None) -> datetime:
        return datetime(2026, 1, 5, tzinfo=UTC)


_insert = inbox._insert


def _insert_repeatably(
    connection: Any, source: str, payload: Any, batch_key: str, salt: str | None
) -> str:
    return _insert(
        connection, source, payload, batch_key, salt or digest_of({"salt": batch_key})[:32]
    )


def make_repeatable() -> None:
    """Let salts and hours of delivery be the same in every run."""
    inbox.datetime = _StillClock  # type: ignore[attr-defined, misc]
    inbox._insert = _insert_repeatably


def begin_or_go_on(kind: str, folder: Path) -> int:
    """One pass over a campaign, from wherever it stands; `CONCLUDED` or `WAITING`."""
    make_repeatable()
    folder.mkdir(parents=True, exist_ok=True)
    if kind == "web" and not (folder / KEY_FILE).exists():
        (folder / KEY_FILE).write_bytes(b"k" * 32)
    found = (
        resume_run(folder, n_workers=1)
        if has_run(folder)
        else run_study(study(kind), folder, n_workers=1)
    )
    return WAITING if isinstance(found, AnswersAwaited) else CONCLUDED


def seconds_by_answers(collection: Path) -> float:
    """A clock that goes on by a second with every answer, so that a run cut short has the times of one that was not."""
    with closing(sqlite3.connect(collection)) as sql:
        known = sql.execute("SELECT count(*) FROM sqlite_schema WHERE name = 'answer'").fetchone()[
            0
        ]
        return 1.7e9 + (sql.execute("SELECT count(*) FROM answer").fetchone()[0] if known else 0)


def answer_the_page(folder: Path) -> None:
    """Everybody comes to the page in turn and does what is left to do; one of them answers without reading."""
    make_repeatable()
    right = [
        item["right"]
        for item in texts_for("multiattribute")["en"]["domains"]["multiattribute"]["questions"]
    ]
    store = SessionStore(folder, clock=partial(seconds_by_answers, folder / COLLECTION_FILE))
    app = create_app(folder, store=store, requests_per_second=1e9, sweep_seconds=1e6)
    with TestClient(app, base_url="http://127.0.0.1") as server:
        for token in PEOPLE:
            sealed = make_token(app.state.store.key, bytes.fromhex(digest_of(token)[:32]))
            server.cookies.set("lakatos", sealed, path="/study/")

            def ask(path: str, body: Mapping[str, Any]) -> Any:
                return server.post(f"/study/api/{path}", json=body).raise_for_status().json()

            digest = server.get("/study/api/texts").raise_for_status().json()["consent"]["digest"]
            state = ask("consent", {"consent": digest, "language": "en"})
            if state["phase"] == "end":
                if state.get("reason") in ("full", "closed"):
                    return
                continue
            if state["phase"] == "instructions":
                state = ask("comprehension", {"attempt": 0, "answers": right})
            while state["phase"] == "task":
                position = state["position"]
                response = int(digest_of([token, position])[:8], 16) % 2
                time_ms = 200.0 if token == HASTY else 900.0
                body = {"position": position, "response": response, "response_time_ms": time_ms}
                state = ask("answers", body)["state"]


def progress(folder: Path) -> int:
    """Results in the journal and answers on the page: what a pass got done for good."""
    total = 0
    for name, query in (
        ("journal.sqlite", "SELECT count(*) FROM event WHERE kind <> 'intent'"),
        (COLLECTION_FILE, "SELECT (SELECT count(*) FROM answer) + (SELECT count(*) FROM session)"),
    ):
        path = folder / name
        if path.exists():
            try:
                with sqlite3.connect(f"file:{path}?mode=ro", uri=True) as sql:
                    total += sql.execute(query).fetchone()[0]
            except sqlite3.OperationalError:  # killed before its tables were made
                pass
    return total


def form(folder: Path) -> str:
    """Digest of the canonical form."""
    with Trace.open(folder, RECORD_TYPES, read_only=True) as trace:
        return canonical_digest(trace.journal.events())


def broken_promises(folder: Path, kind: str) -> list[str]:
    """What was lost or done twice in a campaign that ended; nothing where all is well."""
    wrong: list[str] = []
    with Trace.open(folder, RECORD_TYPES, read_only=True) as trace:

        def all_of(record: Any, name: Callable[[Any], Any]) -> list[Any]:
            found = [name(item.record) for item in trace.records(record)]
            twice = [value for value, n in Counter(found).items() if n > 1]
            wrong.extend(f"{record.__name__} twice: {value}" for value in twice)
            return found

        asked = all_of(PeopleRecruited, lambda item: item.experiment)
        collected = all_of(TrialsCollected, lambda item: item.experiment)
        people = all_of(AnswersArrived, lambda item: (item.experiment, item.person))
        if asked != collected:
            wrong.append(f"asked for {asked}, collected {collected}")
        wrong += _wrong_in_the_ledger(list(trace.journal.events()), n_served())
        pending = trace.inbox.pending()
        batches = [batch.json() for batch in trace.inbox.stored()]
    if pending:
        wrong.append(f"{len(pending)} batches are left in the inbox")
    if people and Counter((item["experiment"], item["person"]) for item in batches) != Counter(
        people
    ):
        wrong.append("people in the inbox and in the journal differ")
    if kind == "web":
        wrong += _wrong_on_the_page(folder, batches)
    state, trace = read_state(folder)
    trace.close()
    if state.campaign.concluded is None:
        wrong.append("there is no verdict")
    return wrong


def _wrong_in_the_ledger(events: list[Event], served: int) -> list[str]:
    """Every answer of a language model is recorded once, and every time that one was asked is charged once."""
    wrong = []
    called = Counter(event.key for event in events if event.kind == kind_of(LanguageModelCalled))
    begun = sum(
        "reserved" in event.body.get("note", {}) for event in events if event.kind == INTENT
    )
    spending = spending_of(events)
    if any(n > 1 for n in called.values()):
        wrong.append("an answer of a language model is recorded twice")
    if spending.open:
        wrong.append(f"{len(spending.open)} calls are neither settled nor recorded as cut short")
    if spending.settled.requests != begun:
        wrong.append(f"{begun} calls were begun, and {spending.settled.requests} charged")
    if not len(called) <= served <= begun:
        wrong.append(f"{len(called)} calls are recorded, {served} were answered and {begun} begun")
    return wrong


def _wrong_on_the_page(folder: Path, batches: list[Any]) -> list[str]:
    """Everybody has one session, and every answer that was given is there once, as it was given."""
    wrong = []
    with sqlite3.connect(folder / COLLECTION_FILE) as sql:
        sessions = sql.execute(
            "SELECT number, person, status FROM session ORDER BY number"
        ).fetchall()
        answers = sql.execute(
            "SELECT session, position, response FROM answer ORDER BY session, position"
        ).fetchall()
        experiments = sql.execute("SELECT count(*) FROM experiment").fetchone()[0]
    if experiments != 1 or len({person for _, person, _ in sessions}) != len(sessions):
        wrong.append(f"{experiments} experiments, {len(sessions)} sessions")
    if any(status != "completed" for _, _, status in sessions):
        wrong.append("somebody did not come to the end")
    given = Counter(number for number, _, _ in answers)
    if len(set(given.values())) != 1 or len(batches) != len(sessions):
        wrong.append(f"answers by session {dict(given)}, {len(batches)} batches")
    for place, (number, _, _) in enumerate(sessions):
        for _, position, response in (item for item in answers if item[0] == number):
            if response != int(digest_of([PEOPLE[place], position])[:8], 16) % 2:
                wrong.append(f"answer {position} of person {place} is not what was given")
    return wrong


def described(kind: str) -> dict[str, Any]:
    """The study, for the result."""
    value: dict[str, Any] = json.loads(study(kind).model_dump_json(exclude_defaults=True))
    return value
