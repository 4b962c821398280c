"""The client over a real loopback connection: what it repeats, what it never repeats, and what it never tells."""

import logging
import random
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from lakatos.experiments.participants.prolific.client import (
    BONUSES_AT_ONCE,
    ProlificClient,
    StudySeen,
    SubmissionSeen,
)
from lakatos.experiments.participants.prolific.errors import (
    OutcomeUnknownError,
    PlanError,
    ProlificError,
    RefusedError,
    UnreachableError,
)
from lakatos.experiments.participants.prolific.money import Money
from lakatos.experiments.participants.prolific.plan import make_plan
from tests.rehearsal.prolific.rehearsal import EXAMPLE
from tests.rehearsal.prolific.stand_in import serve
from tests.rehearsal.prolific.stand_in_world import (
    NO_FAULTS,
    TOKEN,
    ProlificWorld,
    RequestFaults,
)

SECRET = "s3cret-t0ken"


@contextmanager
def answering(*answers):
    """A server that gives each answer ``(status, headers, body)`` once and the last one from then on."""
    asked = []

    class Handler(BaseHTTPRequestHandler):
        def answer(self):
            length = int(self.headers.get("Content-Length") or 0)
            asked.append((self.command, self.path, self.rfile.read(length), dict(self.headers)))
            status, headers, body = answers[min(len(asked), len(answers)) - 1]
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        do_GET = do_POST = do_PATCH = answer  # noqa: N815

        def log_message(self, *_):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/api/v1", asked
    finally:
        server.shutdown()
        server.server_close()


def client_of(address, slept=None, **settings):
    slept = [] if slept is None else slept
    defaults = {
        "sleep": slept.append,
        "clock": lambda: 0.0,
        "least_gap_s": 0.0,
        "jitter": random.Random(1),
    }
    return ProlificClient(SECRET, service=address, **(defaults | settings))


def test_after_too_many_requests_it_waits_as_long_as_it_is_told():
    slept = []
    with answering((429, {"Retry-After": "7"}, b"{}"), (200, {}, b"{}")) as (address, asked):
        client_of(address, slept).approve("s1")
    assert slept == [7.0]
    assert len(asked) == 2


@pytest.mark.parametrize("end", ["", "/"])
def test_the_services_address_may_end_with_a_slash(end):
    with answering((200, {}, b"{}")) as (address, asked):
        client_of(address + end).approve("s1")
    assert asked[0][1] == "/api/v1/submissions/s1/transition/"


def test_a_wait_given_as_a_date_is_understood():
    slept = []
    with answering(
        (429, {"Retry-After": "Wed, 21 Oct 2015 07:28:00 GMT"}, b"{}"), (200, {}, b"{}")
    ) as (address, _):
        client_of(address, slept).approve("s1")
    assert slept == [0.0]


def test_it_does_not_sleep_for_an_hour_but_says_when_to_come_back():
    with (
        answering((429, {"Retry-After": "3600"}, b"{}")) as (address, asked),
        pytest.raises(UnreachableError, match="3600 s"),
    ):
        client_of(address).approve("s1")
    assert len(asked) == 1


def test_waits_double_and_are_spread():
    slept = []
    with (
        answering((503, {}, b"")) as (address, asked),
        pytest.raises(UnreachableError, match="6 attempts"),
    ):
        client_of(address, slept, attempts=6, first_wait_s=1.0, longest_wait_s=5.0).get_study("x")
    assert len(asked) == 6
    assert all(0 <= wait <= most for wait, most in zip(slept, (1, 2, 4, 5, 5), strict=True))
    assert len(set(slept)) == len(slept)


def test_requests_keep_a_gap():
    slept, now = [], [0.0]

    def sleep(seconds):
        slept.append(seconds)
        now[0] += seconds

    with answering((200, {}, b"{}")) as (address, _):
        client = client_of(address, least_gap_s=0.5, sleep=sleep, clock=lambda: now[0])
        for _ in range(4):
            client.approve("s1")
    assert slept == [0.5, 0.5, 0.5]


@pytest.mark.parametrize("status", [500, 502, 503, 504])
def test_paying_bonuses_is_never_asked_twice_when_the_first_may_have_worked(status):
    with (
        answering((status, {}, b"")) as (address, asked),
        pytest.raises(OutcomeUnknownError, match="it is unknown whether"),
    ):
        client_of(address).pay_bonuses("b1")
    assert len(asked) == 1


def test_paying_bonuses_is_asked_again_after_a_refusal_for_coming_too_often():
    with answering((429, {}, b"{}"), (429, {}, b"{}"), (202, {}, b"")) as (address, asked):
        client_of(address).pay_bonuses("b1")
    assert len(asked) == 3


def test_a_connection_that_cannot_be_made_did_nothing():
    with answering((200, {}, b"{}")) as (address, _):
        pass
    with pytest.raises(UnreachableError, match="did not do"):
        client_of(address, attempts=2).pay_bonuses("b1")


def test_an_answer_that_never_comes_is_unknown_for_what_may_not_be_repeated():
    world = ProlificWorld(1, faults=RequestFaults(0, 0, 0, 0, slow_after=1.0, slow_s=1.0))
    plan = make_plan(EXAMPLE)
    with (
        serve(world) as stand_in,
        ProlificClient(TOKEN, service=stand_in.address, timeout_s=0.2) as client,
    ):
        with pytest.raises(OutcomeUnknownError):
            client.create_study(plan.draft())
        stand_in.world.faults = NO_FAULTS
        assert [study.internal_name for study in client.find_studies(plan.key)] == [
            plan.internal_name
        ]


def test_bonuses_go_out_in_pounds_and_rewards_in_pence():
    with answering((201, {}, b'{"id": "b1"}')) as (address, asked):
        client_of(address).set_up_bonuses("st", [("s1", Money(405)), ("s2", Money(5))])
    assert asked[0][2] == b'{"study_id":"st","csv_bonuses":"s1,4.05\\ns2,0.05\\n"}'


def test_a_refusal_says_what_the_service_said():
    body = b'{"error": {"status": 400, "detail": "balance too low"}}'
    with (
        answering((400, {}, body)) as (address, asked),
        pytest.raises(RefusedError, match="balance too low"),
    ):
        client_of(address).set_places("st", 5)
    assert len(asked) == 1


def test_a_list_that_ignores_the_offset_ends():
    entries = ",".join(
        f'{{"id": "s{n}", "participant_id": "p{n}", "status": "RESERVED"}}' for n in range(200)
    )
    with answering((200, {}, f'{{"results": [{entries}]}}'.encode())) as (address, asked):
        seen = {item.id for item in client_of(address).list_submissions("st")}
    assert len(seen) == 200
    assert len(asked) == 2


@pytest.mark.parametrize("token", ["", "with\nline", "schlüssel"])
def test_a_token_that_cannot_be_one_is_refused(token):
    with pytest.raises(PlanError, match="PROLIFIC_TOKEN"):
        ProlificClient(token)


def test_the_token_goes_over_no_open_line():
    with pytest.raises(PlanError, match="https"):
        ProlificClient(SECRET, service="http://api.example/api/v1")


def test_the_token_is_nowhere_but_in_its_header(caplog):
    caplog.set_level(logging.DEBUG)
    body = f'{{"error": {{"detail": "bad token {SECRET}"}}}}'.encode()
    with answering((401, {}, body)) as (address, asked):
        client = client_of(address)
        with pytest.raises(RefusedError) as refused:
            client.get_study("x")
    assert asked[0][3]["Authorization"] == f"Token {SECRET}"
    assert SECRET not in asked[0][1]
    assert all(SECRET not in text for text in (str(refused.value), repr(client), caplog.text))


def test_the_token_does_not_follow_a_redirect():
    with (
        answering((200, {}, b"{}")) as (elsewhere, stolen),
        answering((302, {"Location": elsewhere}, b"")) as (address, _),
    ):
        with pytest.raises(ProlificError, match="elsewhere"):
            client_of(address).get_study("x")
        assert not stolen


@pytest.mark.parametrize(
    "ask", [lambda client: client.approve("s"), lambda client: client.pay_bonuses("b")]
)
def test_being_sent_to_another_address_is_no_success(ask):
    with (
        answering((302, {"Location": "/login"}, b"")) as (address, asked),
        client_of(address) as client,
    ):
        with pytest.raises(ProlificError, match="elsewhere"):
            ask(client)
        assert len(asked) == 1


STUDY = (
    b'{"id": "st", "internal_name": "pilot [k1]", "status": "AWAITING_REVIEW", '
    b'"total_available_places": 5, "places_taken": 4, "reward": 150}'
)


def test_requests_are_those_that_the_service_documents():
    words = b'{"id": "b1", "total_cost": 100.2, "results": [], ' + STUDY[1:]
    with answering((200, {}, words)) as (address, asked), client_of(address) as client:
        assert client.study_cost(Money(150), 5) == Money(101)
        client.create_study({"name": "t"})
        client.get_study("st")
        client.move_study("st", "PAUSE")
        client.set_places("st", 6)
        client.list_submissions("st")
        client.approve("s1")
        client.request_return("s1", "why")
        client.find_studies("k1")
        client.find_studies("k1", project="p1")
        client.pay_bonuses("b1")
    page = "limit=200&offset=0"
    assert [(method, path.removeprefix("/api/v1"), body) for method, path, body, _ in asked] == [
        ("POST", "/study-cost-calculator/", b'{"reward":150,"total_available_places":5}'),
        ("POST", "/studies/", b'{"name":"t"}'),
        ("GET", "/studies/st/", b""),
        ("POST", "/studies/st/transition/", b'{"action":"PAUSE"}'),
        ("PATCH", "/studies/st/", b'{"total_available_places":6}'),
        ("GET", f"/studies/st/submissions/?{page}", b""),
        ("POST", "/submissions/s1/transition/", b'{"action":"APPROVE"}'),
        ("POST", "/submissions/s1/request-return/", b'{"request_return_reasons":["why"]}'),
        ("GET", f"/studies/?all=1&{page}", b""),
        ("GET", f"/projects/p1/studies/?{page}", b""),
        ("POST", "/bulk-bonus-payments/b1/pay/", b""),
    ]


def test_a_study_is_read_as_it_is_shown():
    draft = STUDY.replace(b"AWAITING_REVIEW", b"unpublished")
    with answering((200, {}, STUDY), (200, {}, draft), (200, {}, b'{"status": "GONE"}')) as (
        address,
        _,
    ):
        client = client_of(address)
        assert client.get_study("st") == StudySeen("st", "pilot [k1]", "AWAITING REVIEW", 5, 4, 150)
        # Places of a draft are not taken by anybody, whatever it shows.
        assert client.get_study("st") == StudySeen("st", "pilot [k1]", "UNPUBLISHED", 5, 0, 150)
        with pytest.raises(ProlificError, match="not documented: 'GONE'"):
            client.get_study("st")


def test_submissions_are_read_as_they_are_shown():
    entries = (
        b'{"id": "s1", "participant_id": "p1", "status": "TIMED_OUT", "study_code": "NOCODE"}',
        b'{"id": "s2", "participant": "p2", "status": "approved", "entered_code": "C", '
        b'"bonus_payments": [20, 5], "return_requested": "2026-01-01"}',
        b'{"id": "s3", "participant": "p3", "status": "RESERVED", "bonus_payments": []}',
    )
    with answering((200, {}, b'{"results": [%s]}' % b",".join(entries))) as (address, asked):
        assert client_of(address).list_submissions("st") == [
            SubmissionSeen("s1", "p1", "TIMED-OUT", "", None, False),
            SubmissionSeen("s2", "p2", "APPROVED", "C", (20, 5), True),
            SubmissionSeen("s3", "p3", "RESERVED", "", (), False),
        ]
    assert len(asked) == 1


def test_a_list_is_read_to_its_last_page():
    pages = [
        b",".join(b'{"id": "s%d", "participant": "p", "status": "RESERVED"}' % n for n in numbers)
        for numbers in (range(200), range(200, 400), range(400, 401))
    ]
    with answering(*((200, {}, b'{"results": [%s]}' % page) for page in pages)) as (address, asked):
        seen = client_of(address).list_submissions("st")
    assert [item.id for item in seen] == [f"s{n}" for n in range(401)]
    assert [path.partition("?")[2] for _, path, _, _ in asked] == [
        f"limit=200&offset={offset}" for offset in (0, 200, 400)
    ]


def test_a_bulk_payment_has_one_line_at_least_and_two_hundred_at_most():
    lines = [(f"s{n}", Money(1)) for n in range(BONUSES_AT_ONCE + 1)]
    assert len(lines) == 201
    with answering((201, {}, b'{"id": "b1"}')) as (address, asked):
        client = client_of(address)
        assert client.set_up_bonuses("st", lines[:-1]) == "b1"
        for refused in ([], lines):
            with pytest.raises(PlanError, match="1 to 200 bonuses"):
                client.set_up_bonuses("st", refused)
    assert len(asked) == 1


@pytest.mark.parametrize("given", ["soon", "-1", "", "Wed, 21 Oct 2015 07:28:00 -0000"])
def test_a_wait_that_is_no_wait_is_its_own(given):
    slept = []
    with answering((429, {"Retry-After": given}, b"{}"), (200, {}, b"{}")) as (address, asked):
        client_of(address, slept, first_wait_s=4.0).approve("s1")
    assert len(asked) == 2
    assert slept == [random.Random(1).uniform(0.0, 4.0)]


def test_a_wait_of_just_the_longest_is_waited_for():
    slept = []
    with answering((429, {"Retry-After": "120"}, b"{}"), (200, {}, b"{}")) as (address, _):
        client_of(address, slept).approve("s1")
    assert slept == [120.0]


def test_token_and_address_come_from_the_environment(monkeypatch):
    monkeypatch.setenv("PROLIFIC_TOKEN", f" {SECRET}\n")
    with answering((200, {}, STUDY)) as (address, asked):
        monkeypatch.setenv("PROLIFIC_URL", address)
        with ProlificClient.from_environment() as client:
            client.get_study("st")
    assert asked[0][3]["Authorization"] == f"Token {SECRET}"
    monkeypatch.delenv("PROLIFIC_URL")
    with ProlificClient.from_environment() as client:
        assert "https://api.prolific.com/api/v1" in repr(client)
