"""The server: who may read, what it sends along, and that it only reads."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from urllib.parse import quote

import pytest
from fastapi.testclient import TestClient
from hypothesis import given, settings
from hypothesis import strategies as st
from test_report import EVIL
from viewing import all_pages, look_at

from lakatos.experiments.participants.web.door import is_loopback
from lakatos.flows.audit.audit import AuditFinding, RunAudit, keep, kept_audit
from lakatos.flows.commands.view import view
from lakatos.flows.errors import FlowError
from lakatos.flows.view.app import ViewAccess, create_app

TOKEN = "a token of some length"


def client(place: Path, access: ViewAccess | None = None, **settings: object) -> TestClient:
    return TestClient(create_app(place, access), base_url="http://127.0.0.1:8100", **settings)


@pytest.mark.parametrize("which", ["finished", pytest.param("campaign", marks=pytest.mark.long)])
def test_every_page_is_there_and_every_link_leads_somewhere(
    which: str, request: pytest.FixtureRequest
) -> None:
    folder = request.getfixturevalue(which)
    browser = client(folder)
    links: set[str] = set()
    for page in all_pages(look_at(folder), most=2):
        answer = browser.get(page)
        assert answer.status_code == 200, (page, answer.text[-500:])
        links |= set(re.findall(r'href="(/run/[^"#]*)', answer.text))
    kinds: dict[str, list[str]] = {}
    for link in sorted(links):
        kinds.setdefault(
            link.split("/")[3].split("?")[0] if link.count("/") > 2 else "", []
        ).append(link)
    for group in kinds.values():
        for link in group[:3]:
            status = browser.get(link.replace("&amp;", "&"), follow_redirects=True).status_code
            # Fingerprints name what is kept elsewhere, and answers can be erased.
            assert status == 200 or ("/ref/" in link and status == 404), link


def test_no_text_of_a_run_reaches_a_page_as_markup(finished: Path) -> None:
    browser = client(finished)
    shown = 0
    for page in all_pages(look_at(finished), most=20):
        text = browser.get(page).text
        assert EVIL not in text
        assert not re.search(r"<script(?! (type=\"module\" )?src=\"/static/)", text), page
        assert "<img" not in text, page
        assert 'onerror="' not in text, page
        shown += "&lt;script&gt;" in text
    assert shown > 10


def test_no_page_holds_a_script_or_an_address_outside(finished: Path) -> None:
    browser = client(finished)
    for page in [
        *all_pages(look_at(finished)),
        "/static/observatory.js",
        "/static/observatory.css",
        "/static/theme.js",
    ]:
        text = browser.get(page).text
        assert not re.search(r"<script>|javascript:| on\w+=\"", text), page
        assert not re.search(r"""(src|href|url\()=?["']?(https?:)?//""", text), page


def test_every_answer_carries_the_policy(finished: Path) -> None:
    browser = client(finished)
    for page in (
        "/",
        "/run/small/",
        "/run/small/version",
        "/static/observatory.js",
        "/nowhere",
        "/run/none/",
    ):
        headers = browser.get(page, follow_redirects=False).headers
        policy = headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "script-src 'self';" in policy
        assert "frame-ancestors 'none'" in policy
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["referrer-policy"] == "no-referrer"


@pytest.mark.parametrize(
    "host",
    ["evil.example", "evil.example:8100", "127.0.0.1.evil.example", "", "[evil]", "localhost.evil"],
)
def test_a_page_that_gives_its_own_name_to_this_machine_is_refused(
    host: str, finished: Path
) -> None:
    assert client(finished).get("/run/small/", headers={"host": host}).status_code == 421


@pytest.mark.parametrize(
    "host", ["127.0.0.1", "localhost:8100", "LOCALHOST", "[::1]:8100", "192.168.1.5:8100", "lab"]
)
def test_numbers_localhost_and_declared_names_are_answered(host: str, finished: Path) -> None:
    browser = client(finished, ViewAccess(names=frozenset({"lab"})))
    assert browser.get("/run/small/", headers={"host": host}).status_code == 200


def test_without_the_token_nothing_of_a_run_is_told(finished: Path) -> None:
    browser = client(finished, ViewAccess(TOKEN))
    for page in ("/", "/run/small/", "/run/small/version", "/run/small/trace?q=take", "/run/none/"):
        assert browser.get(page).status_code == 401
        asked = browser.get(page, headers={"accept": "text/html"}, follow_redirects=False)
        assert (asked.status_code, asked.headers["location"]) == (303, "/enter")
    for wrong in ("", "x", TOKEN[:-1], TOKEN + "x", "ü" * 20):
        assert (
            browser.get("/", headers={"authorization": f"Bearer {wrong}".encode()}).status_code
            == 401
        )
        assert browser.post("/enter", data={"token": wrong}).status_code == 403


def test_the_token_opens_by_header_and_by_form(finished: Path) -> None:
    browser = client(finished, ViewAccess(TOKEN))
    assert (
        browser.get("/run/small/", headers={"authorization": f"Bearer {TOKEN}"}).status_code == 200
    )
    entered = browser.post("/enter", data={"token": TOKEN}, follow_redirects=False)
    cookie = entered.headers["set-cookie"].lower()
    assert "httponly" in cookie
    assert "samesite=strict" in cookie
    assert TOKEN not in cookie
    assert browser.get("/run/small/").status_code == 200


def test_a_short_token_and_an_open_address_without_one_are_refused(finished: Path) -> None:
    with pytest.raises(FlowError, match="16 or more"):
        ViewAccess("short")
    with pytest.raises(FlowError, match="give --token"):
        view(finished, host="0.0.0.0", port=0)
    assert is_loopback("127.0.0.1")
    assert is_loopback("::1")
    assert not is_loopback("0.0.0.0")
    assert not is_loopback("lab.example")


@pytest.mark.parametrize("method", ["PUT", "DELETE", "PATCH", "OPTIONS"])
def test_the_observatory_only_reads(method: str, finished: Path) -> None:
    assert client(finished).request(method, "/run/small/").status_code == 405


@pytest.mark.parametrize("path", ["/run/small/audit", "/run/small/"])
def test_no_page_of_a_run_takes_anything(path: str, finished: Path) -> None:
    assert client(finished).post(path, data={}).status_code == 405


def test_the_audit_page_tells_what_was_skipped_and_the_last_audit_by_command(
    finished: Path,
) -> None:
    look = look_at(finished)
    browser = client(finished)
    assert "None of this run was kept" in browser.get("/run/small/audit").text
    findings = (
        AuditFinding("chain", True, "all is well"),
        AuditFinding("recomputation", True, "nothing was computed again", skipped=True),
        AuditFinding("branch", True, "carried on", counterfactual=True),
        AuditFinding("order", False, "first thing", problems=("first thing", "<second> thing")),
    )
    found = RunAudit(look.folder, findings, (look.seq, look.hash))
    keep(found, "sample")
    page = browser.get("/run/small/audit").text
    kept = page[page.index('id="kept"') :]
    assert "It did not hold" in kept
    assert "with some records computed again" in kept
    for item in findings:
        assert re.search(
            rf"<b>{item.name}</b> <span[^>]*>{item.state}</span><p>{item.detail}</p>", kept
        ), item
    assert "&lt;second&gt; thing" in kept
    again = kept_audit(look.folder)
    assert again is not None
    assert (again.audit, again.recompute) == (found, "sample")
    keep(replace(found, findings=findings[:3]), "all")
    assert "It held" in browser.get("/run/small/audit").text


def test_a_body_that_is_too_large_or_of_unknown_length_is_refused(finished: Path) -> None:
    browser = client(finished)
    assert browser.post("/enter", data={"token": "x" * 5000}).status_code == 413
    assert browser.post("/enter", content=iter([b"token=x"])).status_code == 413


@pytest.fixture(scope="module")
def browser(finished: Path) -> Iterator[TestClient]:
    with client(finished, raise_server_exceptions=True) as opened:
        yield opened


@settings(max_examples=40, deadline=None)
@given(
    st.text(min_size=1, max_size=40),
    st.sampled_from(["record", "artifact", "theory", "experiment", "ref", "diagnosis", "person"]),
)
def test_no_address_breaks_the_server(browser: TestClient, text: str, kind: str) -> None:
    path = quote(text, safe="", errors="replace")
    for address in (
        f"/run/small/{kind}/{path}",
        f"/run/{path}/",
        f"/run/small/trace?q={path}&kind={path}&before={path}",
        f"/run/small/compare?first={path}&second={path}",
        f"/run/small/curves?by={path}&theory={path}&groups={path}",
        f"/run/small/people?experiment={path}&sort={path}",
    ):
        assert browser.get(address).status_code in (200, 404), address


def test_a_run_outside_the_folder_is_never_opened(finished: Path) -> None:
    browser = client(finished)
    for name in (
        "..%2F..",
        "%2e%2e%2fsmall",
        str(finished.resolve()).replace("/", "%2F"),
        "small%00",
    ):
        assert browser.get(f"/run/{name}/").status_code == 404
