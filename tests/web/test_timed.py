"""Tasks whose answers are keys with their times, on the page: the store's table, the session, and what is shown."""

from __future__ import annotations

import sqlite3

import numpy as np
import pytest
from taking_part import KEY, asked, in_inbox, open_experiment

from lakatos.domains import DOMAINS
from lakatos.domains.attention.task import EDGES
from lakatos.experiments.errors import SourceError
from lakatos.experiments.participants.table import check_answers
from lakatos.experiments.participants.web.app import create_app
from lakatos.experiments.participants.web.collection import COLLECTION_FILE
from lakatos.experiments.participants.web.settings import PageSettings
from lakatos.experiments.participants.web.source import WebParticipants
from lakatos.experiments.participants.web.store import SessionStore
from lakatos.experiments.participants.web.study import plan_of
from lakatos.experiments.participants.web.view import answer_words, public_texts, state_of
from lakatos.experiments.task import Design
from lakatos.experiments.testing import preregister
from lakatos.traces.inbox import Inbox

DOMAIN = DOMAINS["attention"]
N_BINS = len(EDGES) - 1
PAGE = {"checks": 0, "fixation_ms": 400.0}
SMALL_LETTERS = {"level": -1, "past": False}


def open_letters(
    folder, *, space=SMALL_LETTERS, repetitions=3, stimuli=None, domain=DOMAIN, **page
):
    """Recruit people for all trials of a space; returns the design."""
    shown = domain.space(space) if stimuli is None else stimuli
    design = Design("1.1", shown, repetitions, 3)
    settings = PageSettings(**{"access": "open", **PAGE, **page})
    source = WebParticipants(folder, domain=domain, settings=space, seed=11, page=settings)
    source.recruit(preregister(design), design, KEY)
    return design


def begin(store, name="anna"):
    session = store.join(name, consent="c" * 64, language="en")
    return store.comprehension(session, 0, passed=True)


def right_key(session, position, domain=DOMAIN):
    experiment = session.experiment
    step = plan_of(experiment, session.place)[position]
    return int(domain.right_keys(experiment.stimuli_of(step))[step.row])


def press(store, clock, session, key, time_ms, *, seconds=None, reports=True):
    """One trial: the target appears after a cross, and a key is pressed; the clock goes on by what both take."""
    position = session.position
    clock[0] += 0.4
    if reports:
        assert store.report_onset(session, position)
    clock[0] += time_ms / 1000 if seconds is None else seconds
    return store.answer(session, position, key, time_ms)[2]


def test_a_key_its_time_and_the_servers_interval_are_stored_and_become_one_outcome(
    store, tmp_path, clock
):
    design = open_letters(tmp_path)
    session = begin(store)
    while session.status == "active":
        session = press(
            store, clock, session, right_key(session, session.position), 500.0, seconds=0.512
        )
    with sqlite3.connect(tmp_path / COLLECTION_FILE) as sql:
        rows = sql.execute("SELECT response, response_time_ms FROM answer").fetchall()
    assert {time for _, time in rows} == {500.0}
    assert {key for key, _ in rows} == {0, 1}
    store.deliver(Inbox(tmp_path / "inbox.sqlite"))
    (answers,) = in_inbox(tmp_path)
    check_answers(answers, design, DOMAIN)
    assert len(answers.trial) == 12
    assert set(answers.response) == {5}
    assert answers.key == tuple(DOMAIN.right_keys(design.stimuli)[list(answers.trial)].tolist())
    assert answers.interval_ms == pytest.approx([512.0] * 12, abs=0.2)
    assert answers.left_out == ()


def test_a_cloud_of_dots_is_shown_and_answered_by_the_key_of_a_colour(store, tmp_path, clock):
    domain = DOMAINS["perception"]
    design = open_letters(
        tmp_path, space={"strengths": [0.2, 1.0]}, repetitions=2, domain=domain, timeout_ms=5000.0
    )
    session = begin(store)
    step = state_of(session)["steps"][0]
    assert step["picture"].count("<circle") == 100
    while session.status == "active":
        key = right_key(session, session.position, domain)
        session = press(store, clock, session, key, 500.0 if key else 800.0)
    store.deliver(Inbox(tmp_path / "inbox.sqlite"))
    (answers,) = in_inbox(tmp_path)
    check_answers(answers, design, domain)
    side = design.stimuli["side"][list(answers.trial)]
    assert [domain.options[place][:15] for place in answers.response] == [
        "right after 0.5" if second else "right after 0.8" for second in side > 0
    ]


def test_what_has_no_outcome_is_left_out_with_why_and_counts_as_missed(store, tmp_path, clock):
    design = open_letters(tmp_path, repetitions=2, timeout_ms=3000.0)
    session = begin(store)
    ways = [
        (0, 150.0, None),
        (None, 3050.0, None),
        (1, 600.0, None),
        (1, 900.0, 0.05),
        (0, 450.0, None),
    ]
    for key, time_ms, seconds in ways:
        session = press(store, clock, session, key, time_ms, seconds=seconds)
    store.stop(session, keep=True)
    store.deliver(Inbox(tmp_path / "inbox.sqlite"))
    (answers,) = in_inbox(tmp_path)
    assert answers.key == (1, 0)
    assert answers.response_time_ms == (600.0, 450.0)
    assert [(item.position, item.key, item.reason) for item in answers.left_out] == [
        (1, 0, "too_early"), (2, None, "no_answer"), (4, 1, "impossible"),
    ]  # fmt: skip
    assert len(answers.missed) == 3
    check_answers(answers, design, DOMAIN)
    assert len(answers.server_time_ms) == len(answers.onset_ms or answers.trial) == 2


def test_a_slow_answer_is_in_the_last_bin_where_the_study_says_so(store, tmp_path, clock):
    open_letters(tmp_path, timed=_timed(off_grid="nearest_bin"))
    session = begin(store)
    for time_ms in (40_000.0, 0.0):
        session = press(store, clock, session, right_key(session, session.position), time_ms)
    store.stop(session, keep=True)
    store.deliver(Inbox(tmp_path / "inbox.sqlite"))
    (answers,) = in_inbox(tmp_path)
    assert answers.response == (N_BINS - 1, 0)
    assert answers.response_time_ms == (40_000.0, 0.0)


def _timed(**how):
    return PageSettings.from_json({"timed": how}).timed


def test_the_first_report_of_a_target_stands_and_others_change_nothing(store, tmp_path, clock):
    open_letters(tmp_path)
    session = begin(store)
    clock[0] += 0.4
    assert store.report_onset(session, 0)
    clock[0] += 0.2
    assert not store.report_onset(session, 0)
    assert not store.report_onset(session, 40)
    clock[0] += 0.3
    session = store.answer(session, 0, 0, 480.0)[2]
    assert not store.report_onset(session, 0)
    session = press(store, clock, session, 0, 480.0, reports=False)
    store.stop(session, keep=True)
    assert not store.report_onset(session, 2)
    (answers,) = store.ended("1.1")
    assert answers.interval_ms == (pytest.approx(500.0, abs=0.2), None)


def test_whoever_takes_answers_back_or_is_erased_leaves_no_report(store, tmp_path, clock):
    open_letters(tmp_path)
    anna, ben = begin(store, "anna"), begin(store, "ben")
    press(store, clock, anna, 0, 500.0)
    press(store, clock, ben, 0, 500.0)
    store.stop(anna, keep=False)
    store.erase(ben.person)
    with sqlite3.connect(tmp_path / COLLECTION_FILE) as sql:
        assert sql.execute("SELECT count(*) FROM onset").fetchone() == (0,)


def test_a_collection_of_an_earlier_version_has_the_table_when_it_is_opened(tmp_path, clock):
    open_letters(tmp_path)
    with sqlite3.connect(tmp_path / COLLECTION_FILE) as sql:
        sql.execute("DROP TABLE onset")
    store = SessionStore(tmp_path, clock=lambda: clock[0])
    session = press(store, clock, begin(store), 0, 500.0)
    store.stop(session, keep=True)
    assert len(store.ended("1.1")[0].key) == 1
    store.shut()


def test_every_condition_comes_equally_often_in_an_order_without_rounds(store, tmp_path):
    open_letters(tmp_path, repetitions=20)
    plans = [
        [step.row for step in plan_of(begin(store, name).experiment, place)]
        for place, name in enumerate(("anna", "ben"))
    ]
    assert plans[0] != plans[1]
    for rows in plans:
        assert np.bincount(rows).tolist() == [20] * 4
        rounds = [len(set(rows[start : start + 4])) for start in range(0, 80, 4)]
        assert min(rounds) < 4  # the last trial of four is not known beforehand


@pytest.mark.parametrize(
    ("space", "figures", "words", "drawn"),
    [
        ({"level": -1}, "", "Which are the small letters?", "<svg"),
        ({"level": 1}, "", "Which is the large letter?", "<svg"),
        ({}, "", "Which way does the middle arrow point?", "→"),
        ({}, "colour_words", "In which colour is it written?", "#c62828"),
    ],
)
def test_a_trial_is_drawn_and_asked_as_the_study_says(
    store, tmp_path, space, figures, words, drawn
):
    open_letters(tmp_path, space={"past": False, **space}, timed=_timed(figures=figures))
    session = begin(store)
    steps = state_of(session)["steps"]
    assert {step["question"] for step in steps} == {words}
    assert drawn in "".join(step["picture"] for step in steps)
    assert [len(step["options"]) for step in steps] == [2] * 5
    texts = public_texts(session.experiment, "en")
    assert texts["flow"]["timed"] is True
    assert "press a key as fast as you can" in texts["consent"]["paragraphs"][0]
    assert "no right or wrong" not in " ".join(texts["instructions"]["paragraphs"])
    german = public_texts(session.experiment, "de")
    assert "so schnell wie möglich" in german["instructions"]["paragraphs"][1]


def test_three_keys_have_three_options_and_words_are_translated(store, tmp_path):
    open_letters(
        tmp_path,
        space={"past": False, "n_answers": 3},
        timed=_timed(figures="colour_words"),
        keys=("a", "s", "d"),
    )
    session = store.join("anna", consent="c" * 64, language="de")
    session = store.comprehension(session, 0, passed=True)
    step = state_of(session)["steps"][0]
    assert [option["label"] for option in step["options"]] == ["Rot", "Grün", "Blau"]
    assert any(word in step["picture"] for word in (">ROT<", ">GRÜN<", ">BLAU<"))


@pytest.mark.parametrize(
    ("feedback", "kinds"),
    [("none", set()), ("practice", {"practice"}), ("all", {"practice", "trial"})],
)
def test_people_are_told_whether_they_were_right_where_the_study_says_so(
    store, tmp_path, feedback, kinds
):
    from lakatos.experiments.participants.web.manner import PracticeTrials

    open_letters(tmp_path, timed=_timed(feedback=feedback), practice=PracticeTrials(trials=6))
    session = begin(store)
    plan = plan_of(session.experiment, session.place)
    assert [step.kind for step in plan[:7]] == ["practice"] * 6 + ["break"]
    told = {
        step.kind: [answer_words(session, position, key) for key in (0, 1)]
        for position, step in enumerate(plan)
        if step.kind != "break"
    }
    for kind, words in told.items():
        assert sorted(map(bool, words)) == [kind in kinds] * 2
        if kind in kinds:
            assert "That is right." in words
            assert any(word.startswith("That is not right: the right answer is") for word in words)


@pytest.mark.parametrize(
    ("space", "page", "words"),
    [
        (
            SMALL_LETTERS,
            {"checks": 2},
            "page.checks is 2: a sentence to be read would spoil the times",
        ),
        (SMALL_LETTERS, {"fixation_ms": 0.0}, "needs a cross before it; give at least 200"),
        (SMALL_LETTERS, {"timeout_ms": 2000.0}, "the last bin of time ends at 3000 ms"),
        (SMALL_LETTERS, {"keys": ("f",)}, "there are 1 keys for 2 options"),
        (SMALL_LETTERS, {"slider": True}, "answers of the attention domain are no numbers"),
        ({"level": -1}, {}, "the page cannot ask for it; give `past = false`"),
        (
            SMALL_LETTERS,
            {"timed": _timed(figures="arrows")},
            "cannot be drawn as arrows; give small_letters",
        ),
    ],
)
def test_what_a_timed_task_cannot_be_given_with_is_refused(tmp_path, space, page, words):
    with pytest.raises(SourceError, match=words):
        open_letters(tmp_path, space=space, **page)


@pytest.mark.parametrize("sides", [[-1, 1], [-1, -1], [1, -1]])
def test_keys_that_tell_the_condition_are_refused(tmp_path, sides):
    from lakatos.domains.attention.task import conflict_trials

    stimuli = conflict_trials({"congruence": [-1, 1], "side": sides, "level": [-1, -1]})
    with pytest.raises(SourceError, match="so that keys reveal conditions"):
        open_letters(tmp_path, stimuli=stimuli, repetitions=4)


def test_other_tasks_have_no_such_settings(tmp_path):
    with pytest.raises(SourceError, match=r"page\.timed: answers of the risky domain are no keys"):
        open_experiment(tmp_path, "risky", timed=_timed(feedback="all"))


@pytest.mark.parametrize(
    "body",
    [
        {"position": -1}, {"position": "0"}, {}, {"position": 0, "when": 5}, {"position": 1e9}, [0],
    ],
)  # fmt: skip
def test_a_report_that_is_none_is_refused(tmp_path, body):
    open_letters(tmp_path)
    client, _ = taking_part(tmp_path)
    assert client.post("/study/api/onset", json=body).status_code == 422


@pytest.mark.parametrize("time_ms", [-1, 1e12, "soon", None])
def test_a_time_that_is_none_is_refused(tmp_path, time_ms):
    open_letters(tmp_path)
    client, _ = taking_part(tmp_path)
    body = {"position": 0, "response": 0, "response_time_ms": time_ms}
    assert client.post("/study/api/answers", json=body).status_code == 422


@pytest.mark.parametrize("key", [2, 39, 1000])
def test_a_key_that_is_not_there_is_refused(tmp_path, key):
    open_letters(tmp_path)
    client, _ = taking_part(tmp_path)
    body = {"position": 0, "response": key, "response_time_ms": 500}
    answer = client.post("/study/api/answers", json=body)
    assert (answer.status_code, answer.json()["error"]) == (409, "not_asked")


def taking_part(folder):
    """Somebody's client on the first trial, and the state that the server told."""
    client = asked(create_app(folder, sweep_seconds=60))
    client.get("/study/")
    digest = client.get("/study/api/texts").json()["consent"]["digest"]
    client.post("/study/api/consent", json={"consent": digest, "language": "en"})
    state = client.post("/study/api/comprehension", json={"attempt": 0, "answers": [0, 0]}).json()
    return client, state


def test_reports_and_answers_travel_to_the_inbox(tmp_path):
    open_letters(tmp_path, repetitions=1)
    client, state = taking_part(tmp_path)
    while state["phase"] == "task":
        position = state["position"]
        assert client.post("/study/api/onset", json={"position": position}).json() == {
            "noted": True
        }
        body = {"position": position, "response": 0, "response_time_ms": 450.0}
        state = client.post("/study/api/answers", json=body).json()["state"]
    (answers,) = in_inbox(tmp_path)
    # they came at once, so that nobody can have needed so long
    assert {item.reason for item in answers.left_out} == {"impossible"}
    assert all(item.interval_ms is not None and item.interval_ms < 400 for item in answers.left_out)


def test_the_page_study_is_read_and_its_design_shows_every_key_in_every_condition():
    from lakatos.experiments.participants.web.timed import check_timed_trials
    from lakatos.experiments.task import Stimuli

    for n_answers, n_rows in ((2, 4), (3, 12)):
        found = DOMAIN.candidates(
            {"past": False, "n_answers": n_answers}, np.random.default_rng(1), 99
        )
        both = Stimuli.concatenate([found, DOMAIN.swap_sides(found)])
        assert len(both) == n_rows
        check_timed_trials(DOMAIN, both, _timed())
