"""Anchors: backdating that a laboratory with its own key could do, and time stamps of a real server."""

import json
import subprocess
import threading
from datetime import UTC, date, datetime, timedelta
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

from lakatos.traces import head as heads
from lakatos.traces.anchor import anchors_folder, stamp, stamped_at, write_anchor
from lakatos.traces.errors import HeadError
from lakatos.traces.head import write_head
from lakatos.traces.verify import verify


def days_of_last_head() -> tuple[datetime, datetime]:
    """The moment at which the newest head was signed, and the same a day later; tests may run over midnight."""
    kept = (
        item for path in heads.second_place().glob("*.jsonl") for item in heads.kept_heads(path)
    )
    signed = max(datetime.fromisoformat(item.time_utc) for item in kept)
    return signed, signed + timedelta(days=1)


@pytest.fixture(autouse=True)
def place(tmp_path, monkeypatch):
    monkeypatch.setenv("LAKATOS_HOME", str(tmp_path / "home"))
    monkeypatch.delenv("LAKATOS_HEADS", raising=False)


def times_of(folder, types):
    return next(check for check in verify(folder, types).checks if check.name == "times")


def test_a_day_that_is_over_is_anchored_once_and_its_heads_pass(filled, types) -> None:
    folder = filled("run", 3)
    write_head(folder, begins=True)
    today, tomorrow = days_of_last_head()
    with pytest.raises(HeadError, match="is not over"):
        write_anchor(today.date(), now=today)
    path = write_anchor(today.date(), now=tomorrow)
    told = json.loads(path.read_text())
    assert len(told["heads"]) == 1
    assert path.name.removesuffix(".json") == told["day"]
    assert write_anchor(today.date(), now=tomorrow) == path
    assert times_of(folder, types).ok


def test_a_head_that_says_a_day_whose_anchor_does_not_name_it_was_backdated(filled, types) -> None:
    """The laboratory itself sets its clock back and makes a whole run anew, with its own key."""
    write_head(filled("honest", 3), begins=True)
    today, tomorrow = days_of_last_head()
    published = write_anchor(today.date(), now=tomorrow)
    late = filled("late", 3)
    write_head(late, begins=True)
    found = times_of(late, types)
    assert not found.ok
    assert "it was made later and backdated" in found.detail
    with pytest.raises(HeadError, match="may have been published and is left as it is"):
        write_anchor(today.date(), now=tomorrow)
    assert len(json.loads(published.read_text())["heads"]) == 1


def test_each_anchor_names_the_one_before_it(filled) -> None:
    first = write_anchor(date(2020, 1, 1))
    second = json.loads(write_anchor(date(2020, 1, 2)).read_text())
    assert second["previous"] == heads.digest_bytes(first.read_bytes())
    assert sorted(path.name for path in anchors_folder().iterdir()) == [
        "2020-01-01.json",
        "2020-01-02.json",
    ]


# --- a time stamp server of the test's own, made with openssl -------------------------------------------------------

CONFIG = """
[ req ]
distinguished_name = name
prompt = no
x509_extensions = stamping
[ name ]
CN = Clock of the tests
[ stamping ]
basicConstraints = critical,CA:FALSE
keyUsage = critical,digitalSignature
extendedKeyUsage = critical,timeStamping
[ tsa ]
default_tsa = clock
[ clock ]
serial = {place}/serial
signer_cert = {place}/clock.pem
signer_key = {place}/clock.key
signer_digest = sha256
default_policy = 1.2.3.4
digests = sha256
accuracy = secs:1
ess_cert_id_alg = sha256
"""


@pytest.fixture
def clock(tmp_path):
    """Its address, and the certificate to trust."""
    place = tmp_path / "clock"
    place.mkdir()
    (place / "config").write_text(CONFIG.format(place=place))
    (place / "serial").write_text("01\n")
    made = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "30", "-config", "config",
            "-keyout", "clock.key", "-out", "clock.pem"]  # fmt: skip
    subprocess.run(made, cwd=place, check=True, capture_output=True)

    class Answering(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            (place / "query").write_bytes(self.rfile.read(int(self.headers["Content-Length"])))
            reply = [
                "openssl",
                "ts",
                "-reply",
                "-config",
                "config",
                "-queryfile",
                "query",
                "-out",
                "reply",
            ]
            subprocess.run(reply, cwd=place, check=True, capture_output=True)
            self.send_response(200)
            self.end_headers()
            self.wfile.write((place / "reply").read_bytes())

        def log_message(self, *_: object) -> None:
            """Nothing."""

    server = HTTPServer(("127.0.0.1", 0), Answering)
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}", place / "clock.pem"
    server.shutdown()
    server.server_close()


def test_a_server_stamps_an_anchor_and_a_changed_one_does_not_verify(clock, tmp_path) -> None:
    address, trusted = clock
    path = write_anchor(date(2020, 1, 1))
    stamp(path, address)
    assert abs((stamped_at(path, trusted) - datetime.now(UTC)).total_seconds()) < 30
    path.write_text(path.read_text().replace("2020-01-01", "2019-01-01"))
    with pytest.raises(HeadError, match="openssl ts -verify fails"):
        stamped_at(path, trusted)


def test_a_stamp_of_somebody_whom_nobody_trusts_does_not_verify(clock, tmp_path) -> None:
    address, _ = clock
    path = write_anchor(date(2020, 1, 1))
    stamp(path, address)
    other = Path(tmp_path / "other.pem")
    made = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=other", "-keyout",
            str(tmp_path / "other.key"), "-out", str(other)]  # fmt: skip
    subprocess.run(made, check=True, capture_output=True)
    with pytest.raises(HeadError, match="openssl ts -verify fails"):
        stamped_at(path, other)


def test_a_server_that_is_not_there_is_named() -> None:
    path = write_anchor(date(2020, 1, 1))
    with pytest.raises(HeadError, match=r"http://127\.0\.0\.1:9 gives no answer"):
        stamp(path, "http://127.0.0.1:9")
    assert not path.with_suffix(".tsr").exists()
