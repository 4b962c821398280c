"""One server for all studies of a laboratory: each at an address of its own, kept apart, found when it is asked for."""

from __future__ import annotations

from pathlib import Path

import pytest
from taking_part import asked, in_inbox, open_experiment
from test_app import Browser
from test_browser import answer, browser, consent, shown, understand  # noqa: F401 (a fixture)

from lakatos.experiments.participants.web.guard import LARGEST_BODY
from lakatos.experiments.participants.web.lab import create_lab, create_lab_desk
from lakatos.experiments.participants.web.overview import DeskSettings
from lakatos.flows.commands.collect import study_address
from lakatos.flows.operations.desk import page_folder
from lakatos.traces.journal import Journal
from lakatos.traces.step import JOURNAL_FILE

TOKEN = "r" * 43


def lab_of(runs: Path, names=("one", "two")):
    """The server of a folder in which these runs ask people."""

    def find(name: str) -> Path | None:
        return runs / name if (runs / name).is_dir() else None

    return create_lab(find, lambda: names, sweep_seconds=0.05, requests_per_second=1000)


def test_each_study_has_an_address_and_answers_of_its_own(tmp_path):
    open_experiment(tmp_path / "one", n_trials=2, checks=0)
    open_experiment(tmp_path / "two", "offers", n_trials=3, checks=0)
    with asked(lab_of(tmp_path)) as client:
        first, second = Browser(client, "/study/one/"), Browser(client, "/study/two/")
        assert first.cookie["Cookie"] != second.cookie["Cookie"]
        assert first.finish(first.begin("risky"))["status"] == "completed"
        assert second.finish(second.begin("offers"))["status"] == "completed"
        # A cookie of one study opens nothing in the other one.
        second.cookie = first.cookie
        assert second.get("state").status_code == 401
    assert [len(in_inbox(tmp_path / name)[0].trial) for name in ("one", "two")] == [2, 3]


def test_a_cookie_is_sent_to_its_own_study_only(tmp_path):
    open_experiment(tmp_path / "one")
    with asked(lab_of(tmp_path)) as client:
        response = client.get("/study/one/")
    assert "Path=/study/one/" in response.headers["set-cookie"]


def test_what_is_not_there_is_a_sentence_and_names_no_study(tmp_path):
    open_experiment(tmp_path / "one")
    open_experiment(tmp_path / "two")
    (tmp_path / "three").mkdir()
    with asked(lab_of(tmp_path)) as client:
        for path in ("/study/", "/study/none/", "/study/three/", "/study/..%2Fone/", "/study/%00/"):
            found = client.get(path, follow_redirects=False)
            assert found.status_code == 404, path
            assert "one" not in found.text.replace("There is no study at this address", "")
        assert client.get("/study/one", follow_redirects=False).headers["location"] == "/study/one/"


def test_an_only_study_is_found_without_its_name_so_that_old_links_work(tmp_path):
    open_experiment(tmp_path / "one")
    with asked(lab_of(tmp_path, ("one",))) as client:
        found = client.get("/study/?invitation=abc", follow_redirects=False)
    assert found.headers["location"] == "/study/one/?invitation=abc"


def test_a_study_that_opens_later_is_there_without_a_restart(tmp_path):
    with asked(lab_of(tmp_path, ())) as client:
        assert client.get("/study/late/").status_code == 404
        open_experiment(tmp_path / "late")
        assert client.get("/study/late/").status_code == 200


def test_guards_stand_before_every_study(tmp_path):
    open_experiment(tmp_path / "one")
    with asked(lab_of(tmp_path)) as client:
        assert client.get("/study/one/", headers={"Host": "evil.example.org"}).status_code == 421
        found = client.post("/study/one/api/answers", content=b"x" * (LARGEST_BODY + 1))
        assert found.status_code == 413
        assert "Content-Security-Policy" in client.get("/study/one/").headers
        assert client.get("/page/study.js").status_code == 200


def test_the_researcher_s_pages_have_one_token_and_previews_of_their_own(tmp_path):
    for name in ("one", "two"):
        open_experiment(tmp_path / name)

    def find(name: str) -> Path | None:
        return tmp_path / name if (tmp_path / name).is_dir() else None

    desk = create_lab_desk(
        find, lambda _: DeskSettings(), token=TOKEN, address="https://study.example.org"
    )
    client = asked(desk)
    keys = {name: desk.state.doors.desk(name).state.preview_key for name in ("one", "two")}
    assert keys["one"] != keys["two"]
    known = {"Authorization": f"Bearer {TOKEN}"}
    found = client.get("/studies/two/researcher/api/status", headers=known).json()
    assert found["study"] == "https://study.example.org/study/two/"
    assert client.get(f"/studies/two/preview/{keys['two']}/").status_code == 200
    assert client.get(f"/studies/two/preview/{keys['one']}/").status_code == 404
    assert client.get("/studies/one/researcher/api/status").status_code == 401
    assert client.get("/studies/one/researcher/").status_code == 200
    assert client.get("/studies/none/researcher/").status_code == 404
    open_experiment(tmp_path / "late")
    assert client.get("/studies/late/researcher/api/status", headers=known).status_code == 200


def test_a_run_is_found_by_its_name_if_people_answer_it_on_a_page(tmp_path):
    for name, source in (("a", "web"), ("b", "simulated")):
        meta = {"study": {"participants": {"source": source}}}
        Journal.create(tmp_path / name / JOURNAL_FILE, meta).close()
    assert page_folder(tmp_path, "a") == tmp_path / "a"
    assert page_folder(tmp_path, "b") is None
    assert page_folder(tmp_path, "c") is None


@pytest.mark.parametrize(
    ("given", "address"),
    [
        ("https://x.org", "https://x.org/study/"),
        ("https://x.org/", "https://x.org/study/"),
        ("https://x.org/study/risky-1", "https://x.org/study/risky-1/"),
    ],
)
def test_invitations_lead_to_one_run_or_to_one_of_several(given, address):
    assert study_address(given) == address
