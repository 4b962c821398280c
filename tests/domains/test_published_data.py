import socket
import threading
from dataclasses import replace
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import unquote

import numpy as np
import pytest

from lakatos.domains import ARCHIVES
from lakatos.domains.kit.archive import ArchiveReader, ArchiveSource
from lakatos.domains.published_data import fetch_archive, load_archive
from lakatos.experiments.errors import DataDigestError, DataMissingError
from lakatos.experiments.task import Stimuli, Trials

FILES = {"part a/one.csv": b"0,1\n" * 50_000, "two.csv": b"1,0\n"}


def read(folder):
    text = (folder / "two.csv").read_text()
    response = np.array([int(value) for value in text.strip().split(",")])
    n = len(response)
    return (
        Trials(
            "small",
            Stimuli({"x": np.arange(float(n))}),
            np.zeros(n, int),
            np.arange(n),
            response,
            np.ones(n, int),
        ),
    )


SOURCE = ArchiveSource(
    repository="someone/data",
    commit="abc123",
    folder="raw files",
    licence="CC0",
    cite="Someone (2020)",
    files={name: sha256(data).hexdigest() for name, data in FILES.items()},
    remote={name: f"raw files/{name}" for name in FILES},
)
READER = ArchiveReader("small", "any", "A small data set", SOURCE, read, directory="small_2020")


class Server:
    """Serves files as the publisher would; a test can change what goes wrong."""

    def __init__(self):
        self.files = {
            f"/someone/data/abc123/raw files/{name}": data for name, data in FILES.items()
        }
        self.cut_at = None
        self.announce = True
        self.asked = []
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self):
                path = unquote(self.path)
                outer.asked.append(path)
                data = outer.files.get(path)
                if data is None:
                    self.send_error(404)
                    return
                self.send_response(200)
                if outer.announce:
                    self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data[: outer.cut_at])

            def log_message(self, *args):
                pass

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.address = f"http://127.0.0.1:{self.http.server_address[1]}"


@pytest.fixture
def server():
    server = Server()
    thread = threading.Thread(target=server.http.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    yield server
    server.http.shutdown()
    server.http.server_close()
    thread.join()


@pytest.fixture(autouse=True)
def _listed(monkeypatch):
    monkeypatch.setitem(ARCHIVES, "small", READER)
    monkeypatch.setenv("no_proxy", "127.0.0.1")


def files_in(folder):
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


def test_a_data_set_is_fetched_and_read(server, tmp_path):
    place = fetch_archive("small", tmp_path, base_address=server.address)
    assert place == tmp_path / "small_2020"
    assert files_in(place) == FILES
    (trials,) = load_archive("small", tmp_path)
    assert trials.response.tolist() == [1, 0]


def test_files_that_are_there_are_not_fetched_again(server, tmp_path):
    fetch_archive("small", tmp_path, base_address=server.address)
    (tmp_path / "small_2020" / "two.csv").write_bytes(b"changed")
    server.asked.clear()
    fetch_archive("small", tmp_path, base_address=server.address)
    assert server.asked == ["/someone/data/abc123/raw files/two.csv"]
    assert files_in(tmp_path / "small_2020") == FILES


def test_changed_content_is_refused_and_not_saved(server, tmp_path):
    server.files["/someone/data/abc123/raw files/two.csv"] = b"1,1\n"
    with pytest.raises(
        DataDigestError, match=r"two\.csv is not the published file two\.csv: its sha256 is"
    ):
        fetch_archive("small", tmp_path, base_address=server.address)
    assert list(files_in(tmp_path)) == ["small_2020/part a/one.csv"]


@pytest.mark.parametrize("cut_at", [0, 1000, 150_000])
def test_a_cut_connection_leaves_nothing_behind(server, tmp_path, cut_at):
    server.cut_at = cut_at
    with pytest.raises(DataMissingError, match=f"was cut after {cut_at} of 200000 bytes"):
        fetch_archive("small", tmp_path, base_address=server.address)
    assert files_in(tmp_path) == {}


def test_a_cut_connection_without_an_announced_length_is_noticed_by_the_digest(server, tmp_path):
    server.cut_at, server.announce = 1000, False
    with pytest.raises(DataDigestError, match="Nothing was saved"):
        fetch_archive("small", tmp_path, base_address=server.address)
    assert files_in(tmp_path) == {}


def test_a_file_that_is_too_large_is_given_up(server, tmp_path):
    with pytest.raises(DataMissingError, match="larger than 1000 bytes"):
        fetch_archive("small", tmp_path, base_address=server.address, most_bytes=1000)


def test_a_missing_page_is_named(server, tmp_path):
    server.files.clear()
    with pytest.raises(DataMissingError, match="404"):
        fetch_archive("small", tmp_path, base_address=server.address)


def test_without_a_network_the_message_says_how_to_do_it_by_hand(tmp_path):
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        address = f"http://127.0.0.1:{unused.getsockname()[1]}"
    with pytest.raises(DataMissingError) as error:
        fetch_archive("small", tmp_path, base_address=address)
    message = str(error.value)
    for part in (
        "cannot download",
        "https://github.com/someone/data/tree/abc123/raw%20files",
        "licence: CC0",
        str(tmp_path / "small_2020"),
    ):
        assert part in message


def test_a_server_that_stays_silent_is_given_up(tmp_path):
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        address = f"http://127.0.0.1:{silent.getsockname()[1]}"
        with pytest.raises(DataMissingError, match="timed out"):
            fetch_archive("small", tmp_path, base_address=address, timeout_s=0.1)


def test_a_server_that_speaks_something_else_is_given_up(tmp_path):
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()

        def talk():
            connection, _ = other.accept()
            with connection:
                connection.recv(1000)
                connection.sendall(b"220 mail ready\r\n")

        thread = threading.Thread(target=talk)
        thread.start()
        address = f"http://127.0.0.1:{other.getsockname()[1]}"
        with pytest.raises(DataMissingError, match="cannot download"):
            fetch_archive("small", tmp_path, base_address=address, timeout_s=5)
        thread.join()


def test_a_folder_that_cannot_be_written_is_named(server, tmp_path):
    (tmp_path / "small_2020").write_text("a file, not a folder")
    with pytest.raises(DataMissingError, match=r"cannot write .*Choose another folder"):
        fetch_archive("small", tmp_path, base_address=server.address)


def test_a_missing_data_set_is_one_message_that_says_it_all(tmp_path):
    with pytest.raises(DataMissingError) as error:
        load_archive("small", tmp_path)
    message = str(error.value)
    for part in (
        "'small'",
        str(tmp_path / "small_2020"),
        "2 of 2 files are missing, the first is part a/one.csv",
        "https://github.com/someone/data/tree/abc123/raw%20files",
        "licence: CC0",
        f"`lakatos data fetch small --data {tmp_path}`",
    ):
        assert part in message


def test_a_changed_file_is_named(server, tmp_path):
    place = fetch_archive("small", tmp_path, base_address=server.address)
    (place / "two.csv").write_bytes(b"1,1\n")
    with pytest.raises(DataDigestError, match=r"small_2020/two\.csv is not the published file"):
        load_archive("small", tmp_path)


def test_an_unknown_data_set_names_those_there_are(tmp_path):
    for function in (load_archive, fetch_archive):
        with pytest.raises(DataMissingError, match="no data set 'smal'; there are allais"):
            function("smal", tmp_path)


def test_facts_without_files_need_no_folder(tmp_path):
    assert fetch_archive("allais", tmp_path) == tmp_path / "allais"
    assert load_archive("allais", tmp_path)[0].pooled
    assert files_in(tmp_path) == {}


def test_a_data_set_without_a_folder_name_is_in_the_folder_of_its_name(
    server, tmp_path, monkeypatch
):
    monkeypatch.setitem(ARCHIVES, "small", replace(READER, directory=""))
    assert fetch_archive("small", tmp_path, base_address=server.address) == tmp_path / "small"


@pytest.mark.parametrize("name", ARCHIVES)
def test_archives_are_listed_by_their_name(name):
    assert ARCHIVES[name].name == name


def test_choice_problems_are_in_the_folder_of_the_estimation_set():
    assert ARCHIVES["risky_cpc18"].directory == "risky_cpc18_estimation"
