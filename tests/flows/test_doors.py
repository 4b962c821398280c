"""Names, ports, keys and modes: what a command may be told, and who may read what it leaves."""

from __future__ import annotations

import http.client
import socket
import stat
from pathlib import Path

import pytest
from typer.testing import CliRunner

from lakatos.experiments.participants.web.door import is_own_origin
from lakatos.flows.commands.main import app
from lakatos.flows.errors import FlowError
from lakatos.flows.operations.lab import LabPorts, own_secret
from lakatos.flows.operations.metrics import serve_metrics
from lakatos.flows.operations.ports import address_of, listen, listen_from
from lakatos.flows.run.places import new_folder
from lakatos.language_models.settings import ModelSettings


@pytest.mark.parametrize(
    "name", ["../out", "/tmp/out", "a/b", "", ".hidden", "a b", "..", "x" * 92, "-rf", "a\nb"]
)
def test_a_run_s_name_names_no_other_place(name: str, tmp_path: Path) -> None:
    with pytest.raises(FlowError, match="is no name of a run"):
        new_folder(tmp_path / "runs", name, numbered=False)
    assert not list(tmp_path.iterdir())


def test_the_command_refuses_a_name_outside_the_runs_folder(tmp_path: Path) -> None:
    words = ["demo", "--engine", "none", "--runs", str(tmp_path / "runs")]
    study = str(Path(__file__).parents[2] / "studies" / "demo.toml")
    result = CliRunner().invoke(app, ["run", study, *words[1:], "--name", "../escaped"])
    assert "is no name of a run" in str(result.exception)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "name", ["HOME", "PROLIFIC_TOKEN", "AWS_SECRET_ACCESS_KEY", "PREFECT_API_KEY", "x_API_KEY"]
)
def test_a_study_names_keys_of_models_only(name: str) -> None:
    with pytest.raises(ValueError, match="is not the name of a model's key"):
        ModelSettings(
            name="m", model="m", base_url="https://models.example.org/v1", key_variable=name
        )


@pytest.mark.parametrize("host", ["models.example.org", "10.0.0.7", "127.0.0.1.example.org"])
def test_no_key_travels_in_the_open_beyond_this_machine(host: str) -> None:
    settings = {"name": "m", "model": "m", "key_variable": "MODEL_API_KEY"}
    with pytest.raises(ValueError, match="without encryption"):
        ModelSettings(**settings, base_url=f"http://{host}/v1")
    assert ModelSettings(**settings, base_url=f"https://{host}/v1")
    assert ModelSettings(**settings, base_url="http://127.0.0.1:8000/v1")
    assert ModelSettings(name="m", model="m", base_url=f"http://{host}/v1")


@pytest.mark.parametrize(
    ("origin", "host", "own"),
    [
        ("http://127.0.0.1:4200", "127.0.0.1:4200", True),
        ("http://localhost:4200", "127.0.0.1:4200", True),
        ("http://127.0.0.1:8000", "127.0.0.1:4200", False),
        ("http://evil.example.org:4200", "127.0.0.1:4200", False),
        ("http://192.0.2.1:4200", "127.0.0.1:4200", False),
        ("null", "127.0.0.1:4200", False),
        ("http://127.0.0.1:99999", "127.0.0.1:4200", False),
    ],
)
def test_only_the_own_pages_may_ask(origin: str, host: str, own: bool) -> None:
    assert is_own_origin(origin, host) == own


def test_every_part_of_a_laboratory_gets_a_port_of_its_own_before_anything_starts(
    tmp_path: Path,
) -> None:
    from contextlib import ExitStack

    with socket.create_server(("127.0.0.1", 0)) as free:
        first = free.getsockname()[1]
    with ExitStack() as stack:
        ports = LabPorts(tmp_path, "127.0.0.1", "127.0.0.1", stack)
        ports.take("metrics", first)  # where the pages would go
        ports.take_pages(first)
        found = [address_of(listener) for listener in ports.taken.values()]
        assert len(found) == len(set(found)) == 3
        with pytest.raises(FlowError, match=f"cannot listen on port {first} .* for observatory"):
            ports.take("observatory", first)


def test_a_port_is_looked_for_from_the_wanted_one_on() -> None:
    with listen("127.0.0.1", 0, "one") as one:
        wanted = one.getsockname()[1]
        with listen_from("127.0.0.1", wanted, "two") as two:
            assert wanted < two.getsockname()[1] <= wanted + 100


def test_the_secret_of_a_laboratory_is_random_lasts_and_is_its_owner_s(tmp_path: Path) -> None:
    one, other = own_secret(tmp_path / "one"), own_secret(tmp_path / "other")
    assert one == own_secret(tmp_path / "one")
    assert one != other
    assert len(one) > 30
    (file,) = (tmp_path / "one").rglob("secret")
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700


def test_metrics_answer_to_no_name_but_their_own(tmp_path: Path) -> None:
    with serve_metrics(tmp_path) as port:
        found = []
        for host in ("127.0.0.1", "evil.example.org"):
            client = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
            client.request("GET", "/metrics", headers={"Host": host})
            found.append(client.getresponse().status)
            client.close()
    assert found == [200, 421]
