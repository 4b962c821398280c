import json
import sqlite3
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from fastapi.testclient import TestClient
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

sys.path.insert(0, str(Path(__file__).parents[1] / "domains" / "declared"))

from feedback_tasks import BANDIT
from taking_part import KEY, SPACES, asked, in_inbox, open_experiment

from lakatos.experiments.participants.web.address_book import COOKIE, cookie_of, visitor_of
from lakatos.experiments.participants.web.app import create_app, create_desk
from lakatos.experiments.participants.web.guard import HEADERS, LARGEST_BODY, VISITOR
from lakatos.experiments.participants.web.messages import ProlificParameters
from lakatos.experiments.participants.web.participant_routes import identifiers_of
from lakatos.experiments.participants.web.session import RecruitmentService
from lakatos.experiments.participants.web.store import SessionStore
from lakatos.experiments.participants.web.texts import texts_for
from lakatos.traces.digest import digest_of

RESEARCHER = "r" * 43


class Browser:
    """One participant's browser, without the page in it."""

    def __init__(
        self,
        client: TestClient,
        base: str = "/study/",
        who: Any = None,
        cookie: dict[str, str] | None = None,
    ) -> None:
        self.client, self.base, self.who = client, base, who
        client.cookies.clear()
        names = {"participant": "PROLIFIC_PID", "study": "STUDY_ID", "submission": "SESSION_ID"}
        query = "&".join(f"{names.get(name, name)}={value}" for name, value in (who or {}).items())
        response = client.get(f"{base}?{query}", headers=cookie)
        assert response.status_code == 200
        invitation = (who or {}).get("invitation")
        visitor = visitor_of(
            identifiers_of(
                ProlificParameters(**who) if who and not invitation else None, invitation
            )
        )
        assert f'data-visitor="{visitor}"' in response.text
        name = cookie_of(visitor)
        self.cookie = {"Cookie": f"{name}={response.cookies[name]}", VISITOR: visitor}
        client.cookies.clear()

    def get(self, path: str) -> Any:
        return self.client.get(f"{self.base}api/{path}", headers=self.cookie)

    def post(self, path: str, body: Any) -> Any:
        return self.client.post(f"{self.base}api/{path}", json=body, headers=self.cookie)

    def consent(self, language: str = "en", **also: Any) -> Any:
        texts = self.get(f"texts?language={language}").json()
        came = {"prolific": self.who} if "participant" in (self.who or {}) else self.who or {}
        return self.post(
            "consent", {"consent": texts["consent"]["digest"], "language": language, **came, **also}
        )

    def consent_as(self, digest: str) -> Any:
        return self.post("consent", {"consent": digest, "language": "en"})

    def begin(self, domain: str = "risky", **how: Any) -> Any:
        assert self.consent(**how).status_code == 200
        right = [item["right"] for item in texts_for(domain)["en"]["domains"][domain]["questions"]]
        state = self.post("comprehension", {"attempt": 0, "answers": right}).json()
        assert state["phase"] == "task"
        return state

    def answer(self, position: int, response: int = 0) -> Any:
        return self.post(
            "answers", {"position": position, "response": response, "response_time_ms": 712.5}
        )

    def finish(self, state: Any) -> Any:
        while state["phase"] == "task":
            state = self.answer(state["position"]).json()["state"]
        return state


@pytest.fixture
def client(tmp_path) -> Iterator[TestClient]:
    with asked(create_app(tmp_path, sweep_seconds=0.05, requests_per_second=1000)) as made:
        yield made


@pytest.fixture
def desk(tmp_path) -> Iterator[TestClient]:
    with asked(create_desk(tmp_path, token=RESEARCHER, requests_per_second=1000)) as made:
        yield made


@pytest.mark.parametrize("domain", SPACES)
def test_every_domain_is_taken_from_consent_to_completion_code(domain, client, tmp_path):
    design = open_experiment(
        tmp_path, domain, completion_code="C0DE", completion_url="https://x.org/?cc={code}"
    )
    browser = Browser(client)
    assert browser.get("state").json()["phase"] == "consent"
    end = browser.finish(browser.begin(domain))
    assert (end["status"], end["code"], end["finish"]) == (
        "completed",
        "C0DE",
        "https://x.org/?cc=C0DE",
    )
    (answers,) = in_inbox(tmp_path)
    assert sorted(answers.trial) == list(range(len(design.stimuli)))


def test_the_browser_is_told_nothing_before_its_time(client, tmp_path):
    open_experiment(tmp_path, "learning", space={"task": "bandit", "n_steps": 8}, n_trials=1)
    browser = Browser(client)
    state = browser.begin("learning")
    said = []
    while state["phase"] == "task":
        assert len(state["steps"]) == 1
        said.append(json.dumps(state))
        state = browser.answer(state["position"]).json()["state"]
    for word in ("payoff", "next_state", "theor", "model", "information", "seed", "right"):
        assert all(word not in text for text in said)
    texts = browser.get("texts").json()
    assert all(set(question) == {"text", "answers"} for question in texts["questions"])


def test_a_response_sent_again_gets_the_answer_it_got_before(client, tmp_path):
    open_experiment(
        tmp_path, "learning", space={"task": "bandit", "n_steps": 8}, n_trials=1, checks=0
    )
    browser = Browser(client)
    state = browser.begin("learning")
    first = browser.answer(state["position"], 1).json()
    again = browser.answer(state["position"], 0).json()
    assert (first["saved"], again["saved"]) == (True, False)
    assert first["feedback"] == again["feedback"] != ""
    assert first["state"] == again["state"]


def test_people_read_what_came_of_a_choice_in_a_declared_task_with_its_unit(client, tmp_path):
    task = tmp_path / "decks.toml"
    task.write_text(BANDIT.replace('unit = "points"', 'unit = "points"\nshows = "all"'))
    design = open_experiment(tmp_path, str(task), space={"steps": 6, "blocks": 2}, checks=0)
    browser = Browser(client)
    assert browser.consent().status_code == 200
    state = browser.post("comprehension", {"attempt": 0, "answers": [1]}).json()
    pays = design.stimuli["payoff"][:, 0]
    for step in range(6):
        assert state["steps"][0]["options"][0]["label"] == "Red"
        reply = browser.answer(state["position"], step % 2).json()
        won = (
            f"You won {pays[step, step % 2]:g} points"
            if pays[step, step % 2]
            else "You won nothing"
        )
        every = f"Red: {pays[step, 0]:g} points, Blue: {pays[step, 1]:g} points."
        assert reply["feedback"] == f"{won}. {every}"
        state = reply["state"]
        if step < 5:
            notices = state["steps"][0]["notices"]
            assert notices[0] == reply["feedback"]
            assert any("new game" in line for line in notices) == (step == 2)
    (answers,) = in_inbox(tmp_path)
    assert answers.feedback["reward"] == tuple(pays[step, step % 2] for step in range(6))


def test_answers_to_what_was_not_asked_are_refused(client, tmp_path):
    open_experiment(tmp_path)
    browser = Browser(client)
    assert browser.answer(0).status_code == 401
    browser.begin()
    assert browser.answer(1).status_code == 409
    assert browser.answer(0, response=7).status_code == 409
    assert browser.answer(0).status_code == 200


def test_consent_to_another_text_is_refused(client, tmp_path):
    open_experiment(tmp_path)
    browser = Browser(client)
    refused = browser.post("consent", {"consent": "0" * 64, "language": "en"})
    assert (refused.status_code, refused.json()["error"]) == (409, "consent")
    assert browser.get("state").json()["phase"] == "consent"


def test_consent_names_the_text_in_the_language_that_was_read(client, tmp_path):
    open_experiment(tmp_path)
    browsers = [Browser(client), Browser(client)]
    for browser, language in zip(browsers, ("en", "de"), strict=True):
        browser.begin(language=language)
        browser.post("stop", {"keep": True})
    english, german = in_inbox(tmp_path)
    assert (english.language, german.language) == ("en", "de")
    assert english.consent == Browser(client).get("texts?language=en").json()["consent"]["digest"]
    assert german.consent != english.consent


def test_wrong_answers_to_the_questions_lead_back_and_then_out(client, tmp_path):
    open_experiment(tmp_path, most_attempts=2)
    browser = Browser(client)
    browser.consent()
    first = browser.post("comprehension", {"attempt": 0, "answers": [0, 2]}).json()
    assert (first["phase"], first["attempts_left"]) == ("instructions", 1)
    last = browser.post("comprehension", {"attempt": 1, "answers": []}).json()
    assert (last["phase"], last["status"]) == ("end", "screened_out")
    assert "code" not in last


def test_nobody_comes_in_without_a_place(client, tmp_path):
    assert Browser(client).get("state").json()["status"] == "closed"
    open_experiment(tmp_path, n_participants=1)
    Browser(client).begin()
    assert Browser(client).consent().json()["status"] == "full"


def test_prolific_s_parameters_find_the_same_session_in_another_browser(client, tmp_path):
    open_experiment(tmp_path)
    who = {"participant": "5f3c9e0d1b2a4c6d8e7f9a0b", "study": "s1", "submission": "u1"}
    browser = Browser(client, who=who)
    browser.begin()
    browser.answer(0)
    state = Browser(client, who=who).consent().json()
    assert (state["phase"], state["position"]) == ("task", 1)
    thief = Browser(client, who=who | {"submission": "u2"}).consent().json()
    assert (thief["phase"], thief["status"]) == ("end", "again")
    assert SessionStore(tmp_path).status()[0]["people"] == {"active": 1}


def test_another_person_s_cookie_cannot_be_guessed_from_one_s_own(client, tmp_path):
    open_experiment(tmp_path, n_participants=5)
    anna, ben = Browser(client), Browser(client)
    anna.begin()
    ben.begin()
    anna.answer(0)
    assert (anna.get("state").json()["position"], ben.get("state").json()["position"]) == (1, 0)
    value = anna.cookie["Cookie"]
    anna.cookie = {"Cookie": value[:-1] + ("A" if value[-1] != "A" else "B")}
    assert anna.answer(1).status_code == 401


def test_the_researcher_s_pages_need_the_token(desk, tmp_path):
    open_experiment(tmp_path)
    for header in (
        {},
        {"Authorization": "Bearer "},
        {"Authorization": f"Bearer {RESEARCHER[:-1]}"},
        {"Authorization": "é"},
    ):
        coded = {name: value.encode("latin-1") for name, value in header.items()}
        assert desk.get("/researcher/api/status", headers=coded).status_code == 401
    found = desk.get("/researcher/api/status", headers={"Authorization": f"Bearer {RESEARCHER}"})
    (item,) = found.json()["experiments"]
    assert (item["name"], item["open"], item["wanted"], item["people"]) == ("1.1", True, 3, {})
    assert RESEARCHER not in desk.get("/researcher/").text


def test_the_preview_takes_the_study_without_being_counted(client, desk, tmp_path):
    open_experiment(tmp_path, n_participants=1)
    Browser(client).begin()
    link = desk.get(
        "/researcher/api/status", headers={"Authorization": f"Bearer {RESEARCHER}"}
    ).json()["preview"]
    assert desk.get("/preview/0123/").status_code == 404
    preview = Browser(desk, base=link)
    for _ in range(2):
        state = preview.finish(preview.begin())
        assert (state["status"], state["preview"]) == ("completed", True)
        assert preview.post("again", {}).json()["phase"] == "consent"
    assert in_inbox(tmp_path) == []
    study = Browser(client)
    study.cookie = preview.cookie
    assert study.answer(0).status_code == 401


def test_what_is_opened_to_participants_opens_nothing_else(client, desk, tmp_path):
    open_experiment(tmp_path)
    preview = desk.get(
        "/researcher/api/status", headers={"Authorization": f"Bearer {RESEARCHER}"}
    ).json()["preview"]
    assert desk.get(preview).status_code == 200
    assert [
        client.get(path).status_code
        for path in ("/study/", "/researcher/", "/researcher/api/status", preview)
    ] == [
        200,
        404,
        404,
        404,
    ]
    assert desk.get("/study/").status_code == 404


@pytest.mark.parametrize("make", [create_app, create_desk])
def test_a_name_that_is_not_the_server_s_own_is_not_answered(make, tmp_path):
    open_experiment(tmp_path)
    with asked(make(tmp_path, names=["study.example.org"])) as server:
        hosts = [
            "127.0.0.1:8000",
            "localhost",
            "[::1]:80",
            "Study.Example.org",
            "evil.example.org",
            "",
            "127.0.0.1.evil.org",
        ]
        found = [server.get("/page/study.js", headers={"Host": host}).status_code for host in hosts]
    assert found == [200, 200, 200, 200, 421, 421, 421]


def test_every_response_has_the_security_headers(client, desk, tmp_path):
    open_experiment(tmp_path)
    asked_for = [
        (client, path)
        for path in ("/study/", "/page/study.js", "/page/none", "/nowhere", "/study/api/state")
    ]
    for server, path in [*asked_for, (desk, "/researcher/")]:
        response = server.get(path)
        for name, value in HEADERS.items():
            assert response.headers[name] == value
    policy = HEADERS["Content-Security-Policy"]
    assert "default-src 'none'" in policy
    assert "unsafe-eval" not in policy
    assert "script-src 'self';" in policy


def test_the_cookie_is_for_the_browser_alone(client, tmp_path):
    for secure in (False, True):
        with asked(create_app(tmp_path, secure=secure)) as made:
            cookie = made.get("/study/").headers["set-cookie"]
        assert "HttpOnly" in cookie
        assert "SameSite=lax" in cookie
        assert "Path=/study/" in cookie
        assert ("Secure" in cookie) == secure


def test_large_foreign_and_shapeless_requests_are_refused(client, tmp_path):
    open_experiment(tmp_path)
    browser = Browser(client)
    large = b'{"keep": true, "x": "' + b"x" * LARGEST_BODY + b'"}'
    as_json = {**browser.cookie, "Content-Type": "application/json"}
    post = lambda body, headers: client.post("/study/api/stop", content=body, headers=headers)  # noqa: E731
    assert post(large, as_json).status_code == 413
    assert (
        post(iter([large[:5000], large[5000:]]), as_json).status_code == 413
    )  # no length given beforehand
    assert post(b'{"keep": true}', {**as_json, "Sec-Fetch-Site": "cross-site"}).status_code == 403
    assert (
        post(
            b"keep=true", {**browser.cookie, "Content-Type": "application/x-www-form-urlencoded"}
        ).status_code
        == 415
    )
    browser.begin()
    assert post(b"{", as_json).status_code == 400
    assert post(b'{"keep": NaN}', as_json).status_code in (400, 422)
    assert post(b'{"keep": 1}', as_json).status_code == 422


def test_one_session_cannot_ask_without_end(tmp_path):
    open_experiment(tmp_path)
    with asked(create_app(tmp_path, requests_per_second=1)) as client:
        browsers = [Browser(client), Browser(client)]
        found = [browsers[0].get("state").status_code for _ in range(40)]
        assert set(found) == {200, 429}
        assert browsers[1].get("state").status_code == 200  # another session is not slowed


def test_people_who_stop_answering_are_noticed_while_the_server_runs(client, tmp_path):
    open_experiment(tmp_path, idle_minutes=0.01)
    Browser(client).begin()
    for _ in range(200):
        if in_inbox(tmp_path):
            break
        time.sleep(0.05)
    assert [item.status for item in in_inbox(tmp_path)] == ["partial"]


@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    body=st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
        lambda inner: (
            st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=12), inner, max_size=4)
        ),
        max_leaves=12,
    ),
    path=st.sampled_from(["consent", "comprehension", "answers", "stop"]),
)
def test_no_body_makes_the_server_fail(client, tmp_path, body, path):
    if SessionStore(tmp_path).current() is None:
        open_experiment(tmp_path, key=KEY)
    content = json.dumps(body).encode()
    response = client.post(
        f"/study/api/{path}",
        content=content,
        headers={"Content-Type": "application/json", "Cookie": f"{COOKIE}={'t' * 43}"},
    )
    assert response.status_code in (400, 401, 409, 413, 422)


def test_who_comes_in_a_browser_that_somebody_else_used_sees_nothing_of_them(client, tmp_path):
    open_experiment(tmp_path, n_participants=3)
    first = {"participant": "anna", "study": "s", "submission": "1"}
    anna = Browser(client, who=first)
    anna.finish(anna.begin())
    assert (
        Browser(client, who=first, cookie=anna.cookie).get("state").json()["status"] == "completed"
    )
    second = {"participant": "ben", "study": "s", "submission": "2"}
    ben = Browser(client, who=second, cookie=anna.cookie)
    assert ben.get("state").json()["phase"] == "consent"
    mixed = Browser(client, who=second)
    mixed.cookie = anna.cookie  # the tab of one person asks as the other
    assert mixed.consent().status_code == 409
    ben.finish(ben.begin())
    assert len({answers.person for answers in in_inbox(tmp_path)}) == 2


def test_one_failure_does_not_end_the_looks_for_people_who_stopped(tmp_path, caplog):
    open_experiment(tmp_path, idle_minutes=0.01)
    failures = [sqlite3.OperationalError("disk I/O error")]

    class Failing(SessionStore):
        def expire(self) -> int:
            if failures:
                raise failures.pop()
            return super().expire()

    with asked(create_app(tmp_path, store=Failing(tmp_path), sweep_seconds=0.05)) as made:
        Browser(made).begin()
        deadline = time.monotonic() + 10
        while not in_inbox(tmp_path):
            assert time.monotonic() < deadline
            time.sleep(0.05)
    assert "disk I/O error" in caplog.text


def test_who_does_not_agree_is_told_the_code_for_it_and_nothing_is_stored(client, tmp_path):
    open_experiment(tmp_path)
    store = SessionStore(tmp_path)
    store.recruit_through(
        "1.1", "prolific", RecruitmentService("s", {"declined": "NOPE"}, "https://x.org/?cc={code}")
    )
    who = {"participant": "anna", "study": "s", "submission": "1"}
    end = Browser(client, who=who).post("decline", {"language": "en", "prolific": who}).json()
    assert (end["status"], end["code"], end["finish"]) == (
        "declined",
        "NOPE",
        "https://x.org/?cc=NOPE",
    )
    assert "code" not in Browser(client).post("decline", {"language": "en"}).json()
    other = who | {"study": "t"}
    assert (
        "code"
        not in Browser(client, who=other)
        .post("decline", {"language": "en", "prolific": other})
        .json()
    )
    assert store.status()[0]["people"] == {}
    store.shut()


@pytest.mark.slow
def test_people_go_on_to_the_next_experiment_only_where_it_admits_them(client, tmp_path):
    open_experiment(tmp_path, n_participants=1)
    browser = Browser(client)
    assert "next" not in browser.finish(browser.begin())
    open_experiment(tmp_path, name="2.1", key="2" * 64, returning="refuse")
    assert browser.post("next", {"language": "en"}).status_code == 409
    SessionStore(tmp_path).close("2" * 64)
    open_experiment(tmp_path, name="3.1", key="3" * 64, returning="admit")
    assert browser.get("state").json()["next"] is True
    assert browser.post("next", {"language": "en"}).json()["phase"] == "consent"
    assert "next" not in browser.finish(browser.begin())
    assert len({answers.person for answers in in_inbox(tmp_path)}) == 1
    assert [answers.experiment for answers in in_inbox(tmp_path)] == ["1.1", "3.1"]


# -- who comes in ----------------------------------------------------------------------------------------------------


def test_without_an_invitation_nobody_comes_in_unless_the_study_says_so(client, tmp_path):
    open_experiment(tmp_path, access="invited")
    stranger = Browser(client)
    assert stranger.get("state").json()["status"] == "uninvited"
    assert stranger.consent().json()["status"] == "uninvited"
    assert Browser(client, who={"invitation": "A" * 22}).consent().json()["status"] == "uninvited"
    named = {"participant": "anna", "study": "s", "submission": "1"}
    assert (
        Browser(client, who=named).consent().json()["status"] == "uninvited"
    )  # no service sends people here
    store = SessionStore(tmp_path)
    store.recruit_through("1.1", "prolific", RecruitmentService("s", {}, ""))
    assert Browser(client, who=named).consent().json()["phase"] == "instructions"
    assert (
        Browser(client, who=named | {"study": "t", "participant": "b"}).consent().json()["status"]
        == "uninvited"
    )
    assert sum(store.status()[0]["people"].values()) == 1
    store.shut()


def test_an_invitation_is_for_one_person_who_may_go_on_in_another_browser(client, tmp_path):
    open_experiment(tmp_path, access="invited", n_participants=5)
    store = SessionStore(tmp_path)
    first, second = store.invite(2)
    anna = Browser(client, who={"invitation": first})
    anna.begin()
    anna.answer(0)
    elsewhere = Browser(client, who={"invitation": first})
    assert elsewhere.consent().json()["position"] == 1
    elsewhere.finish(elsewhere.get("state").json())
    assert Browser(client, who={"invitation": first}).consent().json()["status"] == "completed"
    ben = Browser(client, who={"invitation": second})
    ben.finish(ben.begin())
    assert store.invitations() == (2, 2)
    found = in_inbox(tmp_path)
    assert len({answers.person for answers in found}) == len(found) == 2
    assert {answers.source for answers in found} == {"web"}
    with open(tmp_path / "collection.sqlite", "rb") as file:
        assert first.encode() not in file.read()
    store.erase(found[0].person)
    assert Browser(client, who={"invitation": first}).consent().json()["status"] == "again"
    store.shut()


def test_an_invitation_holds_for_later_experiments_that_admit_their_people(client, tmp_path):
    open_experiment(tmp_path, access="invited", n_participants=1)
    store = SessionStore(tmp_path)
    (link,) = store.invite(1)
    anna = Browser(client, who={"invitation": link})
    anna.finish(anna.begin())
    more = {"access": "invited", "returning": "admit"}
    open_experiment(tmp_path, name="2.1", key=digest_of("second"), n_participants=1, **more)
    assert anna.get("state").json()["next"]
    assert anna.post("next", {"language": "en"}).json()["phase"] == "consent"
    assert anna.finish(anna.begin())["status"] == "completed"
    assert [answers.experiment for answers in in_inbox(tmp_path)] == ["1.1", "2.1"]
    store.shut()


def test_a_session_s_name_in_the_browser_is_its_own_and_tells_nothing(client, tmp_path):
    open_experiment(tmp_path, access="invited", checks=0)
    store = SessionStore(tmp_path)
    invitations = store.invite(2)
    browsers = [Browser(client, who={"invitation": link}) for link in invitations]
    names = []
    for browser in browsers:
        assert "session" not in browser.get("state").json()
        begun = browser.begin(invitation=browser.who["invitation"])
        later = browser.answer(0).json()["state"]
        assert begun["session"] == later["session"] == browser.get("state").json()["session"]
        names.append(begun["session"])
    elsewhere = Browser(client, who={"invitation": invitations[0]})
    assert elsewhere.consent().json()["session"] == names[0]  # the same person in another browser
    assert names[0] != names[1]
    for browser, name in zip(browsers, names, strict=True):
        browser.finish(browser.get("state").json())
        assert len(name) == 16
        assert name not in browser.cookie["Cookie"]
    people = [item.person for item in in_inbox(tmp_path)]
    assert len(people) == 2
    assert not any(name in person for name in names for person in people)
    store.shut()


def test_few_begin_from_one_address_where_the_link_is_open(tmp_path):
    open_experiment(tmp_path, n_participants=50, hourly_from_address=3)
    with asked(create_app(tmp_path, requests_per_second=1000)) as client:
        found = [Browser(client).consent().json() for _ in range(28)]
    assert [state["phase"] for state in found[:3]] == ["instructions"] * 3
    assert {state.get("status") for state in found[3:]} == {"crowded"}


def test_only_the_server_s_own_cookies_are_taken(client, tmp_path):
    open_experiment(tmp_path)
    planted = "p" * 43
    browser = Browser(client, cookie={"Cookie": f"{COOKIE}={planted}"})
    assert planted not in browser.cookie["Cookie"]
    browser.cookie = {"Cookie": f"{COOKIE}={planted}", VISITOR: ""}
    assert browser.get("state").status_code == 401
    assert browser.consent_as("0" * 64).status_code == 401


def test_a_session_of_before_cookies_were_sealed_goes_on(client, tmp_path):
    open_experiment(tmp_path)
    store = SessionStore(tmp_path)
    store.join("o" * 43, consent="c" * 64, language="en")
    old = Browser(client, cookie={"Cookie": f"{COOKIE}={'o' * 43}"})
    assert old.get("state").json()["phase"] == "instructions"
    store.shut()


def test_an_attention_check_does_not_announce_itself_in_the_page_s_data(client, tmp_path):
    open_experiment(tmp_path, n_trials=12, checks=4)
    browser = Browser(client)
    state, seen = browser.begin(), {}
    while state["phase"] == "task":
        seen |= {step["position"]: step for step in state["steps"]}
        state = browser.answer(state["position"]).json()["state"]
    assert len(seen) == 16
    assert len({tuple(step) for step in seen.values()}) == 1
    assert len({step["question"] for step in seen.values()}) == 1
    assert all(step["picture"] and not step["notices"] for step in seen.values())
    assert "check" not in json.dumps(list(seen.values()))
    assert sum("lease choose: Option" in step["picture"] for step in seen.values()) == 4


def test_the_server_s_clock_stands_beside_the_page_s(tmp_path, store, clock):
    open_experiment(tmp_path, n_trials=4, checks=1)
    session = store.join("t" * 43, consent="c" * 64, language="en")
    clock[0] += 60.0
    session = store.comprehension(session, 0, passed=True)
    for position in range(5):
        clock[0] += 2.0
        store.answer(session, position, 0, 700.0)
    answers = store.answers_of(store.session("t" * 43))
    assert len(answers.server_time_ms) == 4
    assert sum(answers.server_time_ms) in (8000.0, 10_000.0)  # the check may be the last step
    assert set(answers.server_time_ms) == {2000.0, 4000.0} or set(answers.server_time_ms) == {
        2000.0
    }


@pytest.fixture
def without_store(tmp_path) -> TestClient:
    """A server whose store fails."""
    open_experiment(tmp_path, n_participants=1)
    app = create_app(tmp_path, requests_per_second=1000)
    app.state.store.shut()
    return TestClient(app, base_url="http://127.0.0.1:8000", raise_server_exceptions=False)


def test_health_is_reported_and_names_nothing(client, without_store, monkeypatch):
    answer = client.get("/healthz")
    assert (answer.status_code, answer.json()) == (200, {"status": "ok"})
    monkeypatch.setattr("shutil.disk_usage", lambda _: SimpleNamespace(free=1_000))
    answer = client.get("/healthz")
    assert (answer.status_code, answer.json()) == (503, {"status": "failing"})
    monkeypatch.undo()
    answer = without_store.get("/healthz")
    assert (answer.status_code, answer.json()) == (503, {"status": "failing"})


def test_a_request_that_cannot_be_stored_may_come_again(without_store):
    answer = without_store.get("/study/")
    assert (answer.status_code, answer.json()["error"]) == (503, "storage")


def test_a_clock_that_is_set_ends_no_visit(tmp_path, monkeypatch):
    store = SessionStore(tmp_path)
    before = store.clock()
    monkeypatch.setattr("time.time", lambda: before + 1e6)
    assert 0 <= store.clock() - before < 100
    store.shut()


def test_a_clock_that_is_set_forwards_and_back_ends_no_visit_that_is_under_way(
    client, tmp_path, monkeypatch
):
    open_experiment(tmp_path)
    browser, now, jump = Browser(client), time.time, [0.0]
    monkeypatch.setattr("time.time", lambda: now() + jump[0])
    state = browser.begin()
    for days in (3, -40, 400):
        jump[0] = days * 86_400.0
        time.sleep(0.2)  # while visits that are over are looked for
        state = browser.answer(state["position"]).json()["state"]
        assert state["phase"] == "task"
    assert browser.finish(state)["status"] == "completed"
    (answers,) = in_inbox(tmp_path)
    assert max(answers.server_time_ms) < 60_000
