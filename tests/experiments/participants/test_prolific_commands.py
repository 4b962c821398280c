"""The commands, from plan to payment, against the stand-in."""

import json
import tomllib

import numpy as np
import pytest
from typer.testing import CliRunner

from lakatos.domains import DOMAINS
from lakatos.experiments.participants.answers import PersonAnswers, pseudonym
from lakatos.experiments.participants.prolific.books import LEDGER_FILE
from lakatos.experiments.participants.prolific.errors import BudgetError, PlanError
from lakatos.experiments.participants.prolific.money import Money
from lakatos.experiments.participants.prolific.plan import make_plan, parse_settings
from lakatos.experiments.participants.web.session import ServiceIdentifiers
from lakatos.experiments.participants.web.settings import PageSettings
from lakatos.experiments.participants.web.source import WebParticipants
from lakatos.experiments.participants.web.store import SessionStore
from lakatos.experiments.participants.web.study import plan_of
from lakatos.experiments.task import Design
from lakatos.experiments.testing import preregister
from lakatos.flows.commands.main import app
from lakatos.flows.errors import StudyError
from lakatos.traces.digest import digest_of
from lakatos.traces.inbox import Inbox
from lakatos.traces.step import JOURNAL_FILE
from tests.rehearsal.prolific.stand_in import serve
from tests.rehearsal.prolific.stand_in_world import TOKEN, ProlificWorld

KEY = bytes(range(32))
SETTINGS = """
experiment = "pilot"
title = "Choices"
description = "You choose."
url = "https://lab.example/study/"
people = 3
minutes = 10
reward = "1.50"
most_bonus = "0.50"
completion_code = "PAGECODE"
"""


class Lab:
    """A run's folder, and the service."""

    def __init__(self, folder, stand_in, page):
        self.run, self.stand_in = folder / "runs" / "r1", stand_in
        self.run.mkdir(parents=True)
        (self.run / JOURNAL_FILE).touch()
        (self.run / "collection.key").write_bytes(KEY)
        if page is not None:
            task = DOMAINS["risky"]
            stimuli = task.candidates({}, np.random.default_rng(2), 4)
            design = Design("pilot", stimuli, repetitions=1, n_participants=page.pop("people", 3))
            settings = PageSettings(**{"completion_code": "PAGECODE", **page})
            source = WebParticipants(self.run, domain=task, settings={}, page=settings)
            source.recruit(preregister(design), design, digest_of("asked"))
        (folder / "plan.toml").write_text(SETTINGS)
        self.plan_file = str(folder / "plan.toml")

    def __call__(self, *words, **more):
        return CliRunner().invoke(app, ["prolific", *map(str, words)], **more)

    def deliver(self, participant, status="completed"):
        """What our page leaves in the inbox."""
        person = pseudonym(KEY, "prolific", participant)
        answers = PersonAnswers("pilot", person, status, (), (), (), {}, (), 1, "", "en", "web")
        Inbox(self.run / "inbox.sqlite").deliver("web", answers.to_json(), batch_key=person)
        return person


@pytest.fixture
def page():
    """Settings of the page that is open in the run; None where none is."""
    return {}


@pytest.fixture
def lab(tmp_path, monkeypatch, page):
    with serve(ProlificWorld(3, behaviours={"completes": 1.0})) as stand_in:
        monkeypatch.setenv("PROLIFIC_URL", stand_in.address)
        monkeypatch.setenv("PROLIFIC_TOKEN", TOKEN)
        yield Lab(tmp_path, stand_in, page)


@pytest.mark.parametrize(
    ("page", "words"),
    [
        (None, "no open page"),
        ({"completion_code": "OTHER"}, "'OTHER'"),
        ({"people": 2}, "places for 2"),
        ({"returning": "admit"}, "former_participants = 'exclude'"),
    ],
)
def test_nobody_is_recruited_for_a_page_that_does_not_wait_for_them(lab, words):
    lab("plan", lab.plan_file, lab.run)
    done = lab("publish", lab.run, "--limit", "50", input="pilot\n")
    assert isinstance(done.exception, StudyError)
    assert words in str(done.exception)
    assert lab.stand_in.world.asked["requests"] == 0


def test_a_plan_is_printed_as_the_service_will_get_it_and_makes_nothing(lab):
    done = lab("plan", lab.plan_file, lab.run)
    assert done.exit_code == 0, done.output
    draft = json.loads(done.stdout)
    assert draft["reward"] == 150
    assert "PAGECODE" in [entry["code"] for entry in draft["completion_codes"]]
    assert "2026-09-20" in done.stderr
    assert not lab.stand_in.world.studies


def test_nothing_is_published_without_the_name_and_a_limit_that_suffices(lab):
    lab("plan", lab.plan_file, lab.run)
    assert lab("publish", lab.run).exit_code == 2
    wrong = lab("publish", lab.run, "--limit", "50", input="yes\n")
    assert isinstance(wrong.exception, BudgetError)
    little = lab("publish", lab.run, "--limit", "1", input="pilot\n")
    assert isinstance(little.exception, BudgetError)
    other = lab("publish", lab.run, "--limit", "50", "--yes-spend", "9.99")
    assert isinstance(other.exception, BudgetError)
    assert not lab.stand_in.world.studies


@pytest.mark.slow
def test_from_plan_to_payment(lab, tmp_path):
    world = lab.stand_in.world
    lab("plan", lab.plan_file, lab.run)
    done = lab("publish", lab.run, "--limit", "50", input="pilot\n")
    assert done.exit_code == 0, done.output
    for _ in range(30):
        world.tick()
    people = [item.participant for item in world.submissions.values()]
    assert len(people) == 3
    lab("pay", lab.run)
    assert not world.transfers, "the code alone pays nobody"
    persons = [lab.deliver(person) for person in people]
    lab("pay", lab.run, "--dry-run")
    assert not world.transfers
    (tmp_path / "bonus.csv").write_text(f"person,amount\n{persons[0]},0.25\n")
    for _ in range(3):
        assert lab("pay", lab.run, "--bonus", tmp_path / "bonus.csv").exit_code == 0
        world.tick(30)
    status = lab("status", lab.run)
    assert "3 of 3 people completed" in status.stdout
    assert sorted((item.participant, item.kind, item.minor) for item in world.transfers) == sorted(
        [(person, "reward", 150) for person in people] + [(people[0], "bonus", 25)]
    )
    # Neither output nor any file but the books holds an identifier of the service.
    assert not any(person in status.output for person in people)
    for path in lab.run.rglob("*"):
        if path.is_file() and not path.name.startswith(LEDGER_FILE):
            assert not any(person.encode() in path.read_bytes() for person in people), path


@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("person;amount\n", "person,amount"),
        ("person,amount\nx,1,5\n", "line 2: give a person and an amount with a point"),
        ("person,amount\nx\n", "line 2"),
        ("person,amount\nx,1.505\n", "line 2"),
        ("person,amount\nx,1\nx,1\n", "line 3"),
    ],
)
def test_a_file_of_bonuses_that_cannot_be_used_pays_nobody(lab, tmp_path, text, words):
    lab("plan", lab.plan_file, lab.run)
    lab("publish", lab.run, "--limit", "50", input="pilot\n")
    (tmp_path / "bonus.csv").write_text(text)
    done = lab("pay", lab.run, "--bonus", tmp_path / "bonus.csv")
    assert isinstance(done.exception, StudyError)
    assert words in str(done.exception)
    assert not lab.stand_in.world.transfers


def test_without_a_token_nothing_is_asked(lab, monkeypatch):
    lab("plan", lab.plan_file, lab.run)
    monkeypatch.setenv("PROLIFIC_TOKEN", "")
    done = lab("publish", lab.run, "--limit", "50", input="pilot\n")
    assert isinstance(done.exception, PlanError)
    assert lab("status", lab.run, "--no-poll").exit_code == 0
    assert lab.stand_in.world.asked["requests"] == 0


def visit(lab, participant, study, submission, *, response_time_ms=800.0):
    """Somebody takes part on the page; gives the session at its end."""
    store = SessionStore(lab.run)
    try:
        who = ServiceIdentifiers("prolific", participant, study, submission)
        session = store.join(participant, consent="c" * 64, language="en", identifiers=who)
        session = store.comprehension(session, 0, passed=True)
        for place in range(len(plan_of(session.experiment, session.place))):
            _, _, session = store.answer(session, place, 0, response_time_ms)
        store.deliver(Inbox(lab.run / "inbox.sqlite"))
        return session
    finally:
        store.shut()


def people_in_the_inbox(lab):
    return {batch.json()["person"] for batch in Inbox(lab.run / "inbox.sqlite").pending()}


@pytest.mark.parametrize("page", [{"completion_code": ""}])
def test_the_page_shows_the_plan_s_codes_and_releases_only_people_whom_the_service_lists(lab):
    world = lab.stand_in.world
    lab("plan", lab.plan_file, lab.run)
    assert lab("publish", lab.run, "--limit", "50", input="pilot\n").exit_code == 0
    [study] = world.studies
    for _ in range(30):
        world.tick()
    item, *others = world.submissions.values()
    real = visit(lab, item.participant, study, item.id)
    assert (real.code, real.finish) == (
        "PAGECODE",
        "https://app.prolific.com/submissions/complete?cc=PAGECODE",
    )
    forged = visit(lab, "0" * 24, study, "1" * 24)
    stolen = visit(lab, others[0].participant, study, "2" * 24)
    assert people_in_the_inbox(lab) == set()
    status = lab("status", lab.run)
    assert people_in_the_inbox(lab) == {real.person}
    assert "2 people who came with identifiers that the service does not list" in status.stdout
    assert forged.person[:12] in status.stdout
    assert stolen.person[:12] in status.stdout
    lab("pay", lab.run)
    assert [item.participant for item in world.transfers] == [item.participant]


@pytest.mark.slow
def test_the_study_is_paused_and_then_stopped_when_collection_ends_early(lab):
    world = lab.stand_in.world
    lab("plan", lab.plan_file, lab.run)
    lab("publish", lab.run, "--limit", "50", input="pilot\n")
    world.tick()
    [study] = world.studies.values()
    assert study.state == "ACTIVE"
    store = SessionStore(lab.run)
    store.close(digest_of("asked"))
    store.shut()
    done = lab("pay", lab.run)
    assert study.state == "PAUSED"
    assert f"lakatos prolific pay {lab.run} --experiment pilot --stop" in done.stdout.replace(
        "\n", ""
    )
    lab("pay", lab.run)
    assert not study.stopped
    lab("pay", lab.run, "--stop-when-ended")
    assert study.stopped


@pytest.mark.slow
def test_people_in_place_of_excluded_ones_are_let_in_within_the_limit(lab):
    world = lab.stand_in.world
    lab("plan", lab.plan_file, lab.run)
    lab("publish", lab.run, "--limit", "14", input="pilot\n")
    for _ in range(30):
        world.tick()
    for item in list(world.submissions.values()):
        visit(lab, item.participant, item.study, item.id)
    for _ in range(2):
        lab("pay", lab.run)
        world.tick(30)
    assert [study.places for study in world.studies.values()] == [3]
    store = SessionStore(lab.run)
    store.want(digest_of("asked"), 8)
    store.shut()
    done = lab("pay", lab.run)
    [study] = world.studies.values()
    assert study.places == 4  # eight are wanted, and the money is enough for one more
    assert "look at limit" in done.stdout
    assert world.transferred() <= Money(1400)


def test_former_participants_are_kept_out_of_the_plan_unless_it_admits_them():
    settings = parse_settings(tomllib.loads(SETTINGS), "s")
    blocked = [{"filter_id": "previous_studies_blocklist", "selected_values": ["one", "two"]}]
    more = settings.model_copy(update={"blocked_studies": ("two",)})
    assert make_plan(more, earlier=("one",)).draft()["filters"] == blocked
    admitted = settings.model_copy(update={"former_participants": "admit"})
    assert make_plan(admitted, earlier=("one",)).draft()["filters"] == []


def test_only_a_plan_that_looks_at_checks_has_a_code_for_them():
    settings = parse_settings(tomllib.loads(SETTINGS), "s")
    assert "FAILED_ATTENTION_CHECK" not in make_plan(settings).codes
    codes = make_plan(settings.model_copy(update={"most_failed_checks": 1})).draft()[
        "completion_codes"
    ]
    (found,) = [entry for entry in codes if entry["code_type"] == "FAILED_ATTENTION_CHECK"]
    assert found["actions"] == [{"action": "MANUALLY_REVIEW"}]
