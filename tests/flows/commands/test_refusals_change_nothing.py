"""Every command, refused in every way that is known: nothing on disk differs afterwards, and no error is unknown."""

from __future__ import annotations

import hashlib
import os
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing, suppress
from itertools import chain, product
from pathlib import Path

import pytest
from typer.testing import CliRunner

from lakatos.flows.commands.adapter import FILES
from lakatos.flows.commands.lazy import LazyCommand, Noun
from lakatos.flows.commands.main import PANELS, app
from lakatos.flows.errors import UnusableError
from lakatos.flows.operations.adopt import new_study
from lakatos.flows.operations.known_errors import exit_status, known_errors
from lakatos.flows.run.places import check_output, files_of_study
from lakatos.flows.run.run import begin, create_run
from lakatos.flows.run.study import load_study
from lakatos.flows.start import run_study
from lakatos.traces.home import home
from tests.flows.arriving import ask
from tests.flows.small import SHORT, small_study, write_study

WEB = {
    **{key: value for key, value in SHORT.items() if key != "participants__careless"},
    "participants": {"source": "web"},
}
RESPONSES = Path(__file__).resolve().parents[3] / "studies" / "responses.csv"
REFUSED: dict[str, tuple[str, ...]] = {
    "demo": ("--seed x", "--engine nosuch", "--workers 0"),
    "explain": ("nosuch.csv", "pipe.csv", "study.toml", "good.csv --domain nosuch"),
    "doctor": ("--runs", "--nosuch"),
    "data describe": ("nosuch.csv", "pipe.csv", "/dev/zero", "study.toml", "good.csv --column x"),
    "data list": ("damaged", "newer", "nosuch"),
    "data fetch": ("nosuch", "''"),
    "data import": ("begun good.csv", "filed good.csv", "filed pipe.csv", "filed /dev/zero", "nosuch good.csv"),
    "data export": ("begun", "waiting", "new", "damaged", "begun --out shared --psych-ds", "new --psych-ds"),
    "data withdraw": ("begun abcdef", "filed nobody", "waiting nobody --service prolific", "nosuch x"),
    "data more": ("begun 3", "filed 0", "filed x", "filed 3 --experiment 9.9", "filed 9999999"),
    "data expire": ("nosuch", "damaged"),
    "new": ("study.toml --data good.csv", "new.toml --data nosuch.csv", "new.toml --data pipe.csv"),
    "theories": ("nosuch", "risky --source nosuch"),
    "domain new": ("study.toml", "nosuch/deep/x.py", "x.toml --data nosuch.csv", "x.toml --data good.csv"),
    "domain check": ("nosuch", "pipe.csv", "study.toml", "/dev/zero"),
    "domain list": ("nosuch",),
    "theory check": ("nosuch.py", "pipe.csv", "/dev/zero", "study.toml"),
    "theory import": ("nosuch.py", "pipe.csv", "/dev/zero", "binary.py", "binary.py --likelihood --responses good.csv"),
    "theory score": ("begun", "new", "nosuch", "good.csv nosuch", "pipe.csv", "begun --out table.csv"),
    "theory fit": (
        *("tallying begun", "nosuch good.csv", "tallying pipe.csv", "nosuch good.csv --figure f.png"),
        *("tallying begun --simulate sim.csv", "tallying nosuch --simulate sim.csv --out table.csv"),
        *("binary.py good.csv --each", "tallying begun --out table.csv"),
    ),
    "theory groups": ("begun --by age", "good.csv --by nosuch"),
    "theory effects": ("begun --by age", "good.csv"),
    "theory predict": ("nosuch", "tallying --trials nosuch"),
    "theory export": ("nosuch", "tallying --run new"),
    "theory posterior": (
        *("new tallying", "begun nosuch", "tallying --run begun --out posteriors", "good.csv"),
        *("good.csv nosuch --out posteriors", "pipe.csv tallying", "good.csv tallying --experiment nosuch"),
    ),
    "theory path": ("nosuch", "new", "damaged", "done --clauses 99", "done --clauses -1"),
    "design": ("huge.toml", "nosuch.toml", "pipe.csv", "good.csv", "study.toml --trials pipe.csv"),
    "preregister": ("new", "waiting --experiment 9.9", "waiting --format nosuch", "waiting --out notes"),
    "run": (
        *("contrary.toml", "forbidding.toml", "contrary.toml --runs new/place"),
        *("nosuch.toml", "pipe.csv", "/dev/zero", "notes", "study.toml --name ../x", "study.toml --seed -1"),
    ),
    "resume": (
        *("nosuch", "damaged", "newer", "done --enough", "begun --enough", "new --because reason"),
        *("other", "other --enough", "other --accept-code 12345678 --because so", "filed --accept-code ''"),
    ),
    "status": ("nosuch", "damaged", "newer", "newer --json"),
    "collect": ("waiting --public-url javascript:x", "begun --port 0", "nosuch", "done --all", "waiting --port 99999"),
    "invite": ("3 begun", "0 waiting", "x waiting", "3 nosuch", "3 waiting --out notes", "3 waiting --out no/x",
               "3 waiting --public-url javascript:x"),
    "prolific plan": ("nosuch.toml waiting", "pipe.csv waiting", "study.toml waiting"),
    "prolific publish": ("waiting --limit 5", "begun --limit x", "nosuch --limit 5"),
    "prolific status": ("waiting", "begun"),
    "prolific pay": ("waiting", "waiting --dry-run", "begun --bonus pipe.csv"),
    "report": ("nosuch", "damaged", "done --out /", "done --out notes", "done --out pipe.csv"),
    "why": ("begun", "done nosuch", "nosuch"),
    "transfer": ("done --to nosuch", "nosuch --to good.csv"),
    "compare-with": ("gecco notes", "hbayesdm nosuch", "autocog good.csv", "nosuch notes", "gecco pipe.csv"),
    "audit": ("nosuch", "newer", "pipe.csv", "good.csv", "notes", "done --of done", "page.html --of nosuch"),
    "export": (
        *("new --to otel", "begun --to tables", "done --to nosuch", "done --to otel --endpoint x"),
        *("new --to crate --out crate", "done --to crate --out notes", "done --to inspect --out logs"),
    ),
    "bundle": ("new", "damaged", "done --out notes", "done --out pipe.csv", "nosuch"),
    "view": ("nosuch", "--port 99999"),
    "lab up": ("--public-url javascript:x", "--people-port x", "--nosuch"),
    "lab down": ("--nosuch",),
    "lab status": ("",),
    "serve": ("nosuch", "notes"),
    "schedule": (
        *("nosuch.toml", "study.toml --cron x", "study.toml --interval 1s", "study.toml --at 2001-01-01T00:00"),
        "study.toml --interval 5h --timezone No/Where",
        *("web.toml", "nosuch --pause", "nosuch --remove", "nosuch --cancel", "study.toml --pause --remove"),
    ),
    "wake": ("nosuch", "new --study nosuch.toml", "damaged", "other"),
    "backup": ("b.tar.gz", "good.csv", "runs/x.tar.gz", "notes"),
    "restore": ("nosuch --runs r2", "good.csv --runs r2", "good.csv --runs runs", "pipe.csv --runs r2"),
    "metrics": ("--port x", "--nosuch"),
    "judges list": ("--nosuch",),
    "judges show": ("nosuch", "damaged"),
    "judges epochs": ("nosuch", "damaged"),
    "judges gate": ("nosuch", "damaged"),
    "judges vault": ("done", "begun", "nosuch"),
    "judges replay": ("abcdef --run done", "'' --run done", "x --run nosuch"),
    "judges anchor build": ("/ --items 1", "a.json --domain nosuch", "a.json --seed -1", "a.json --data nosuch"),
    "judges anchor split": ("circle a.json", "nosuch a.json", "pipe.csv a.json", "good.csv a.json", "good.csv notes"),
    "memory list": ("--kind nosuch", "--nosuch"),
    "memory show": ("nosuch", "''"),
    "memory recall": ("nosuch x",),
    "memory odds": ("nosuch",),
    "tools list": ("--nosuch",),
    "models profiles": ("--nosuch",),
    "models install": ("nosuch", "good.csv"),
    "models serve": ("nosuch", "pipe.csv", "good.csv"),
    "models check": ("", "--base-url x", "nosuch", "--base-url http://h/v1 --model m --key-variable HOME"),
    "models budget": ("nosuch", "done --requests -1", "damaged --requests 5"),
    "models change": ("nosuch writer --model m", "done writer --model m", "done writer", "damaged writer --model m"),
    "models answers": ("nosuch", "damaged"),
    "models bridge": ("good.csv", "q --port 0"),
    "evaluate": ("new", "nosuch", "damaged"),
    "rewind": (
        *("done", "done --at 99999", "done --at 1 --set config.seed", "done --at 1 --set nosuch=3"),
        *("other --at 2", "filed --at 3"),
    ),
    "anchor": ("x", "--server x", "--trusted nosuch.pem", "2999-01-01", "--server http://127.0.0.1:1"),
}  # fmt: skip
"""Arguments with which each command is refused. A new command needs a line here."""
WITH = dict.fromkeys(("explain", "run", "resume", "wake"), ("--engine", "none"))
"""Options of commands that start Prefect's server otherwise."""
NOT_REFUSALS = {0, 3, 4}
ODD = ("nosuch", "-1", "pipe.csv")
"""Values that hardly any option takes."""


def placed(noun: Noun, before: str = "") -> Iterator[tuple[str, str]]:
    """Names of all commands of a noun, with the places of their functions."""
    for name, item in noun.commands.items():
        if isinstance(item, Noun):
            yield from placed(item, f"{before}{name} ")
        else:
            yield f"{before}{name}", item


def test_every_command_has_its_refusals() -> None:
    assert set(REFUSED) == {name for noun in PANELS.values() for name, _ in placed(noun)}


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Runs in all states, among them one of other code and one that is damaged, and files of all kinds."""
    folder = tmp_path_factory.mktemp("nothing")
    runs = folder / "runs"
    create_run(small_study(), runs / "new").close()
    with create_run(small_study(), runs / "begun") as run:
        begin(run)
    run_study(small_study(**SHORT), runs / "done", n_workers=1)
    run_study(small_study(**WEB, name="web"), runs / "waiting", n_workers=1)
    filed = ask(runs / "filed")
    filed.deliver(runs / "filed", 0, 1, 2)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("lakatos.flows.run.task.science", lambda *_: "f" * 64)
        other = ask(runs / "other")
    other.deliver(runs / "other", 0, 1, 2, 3)
    for name in ("damaged", "newer"):
        shutil.copytree(runs / "done", runs / name)
    journal = runs / "damaged" / "journal.sqlite"
    journal.write_bytes(journal.read_bytes()[: journal.stat().st_size // 2])
    with closing(sqlite3.connect(runs / "newer" / "journal.sqlite")) as sql, sql:
        sql.execute("DROP TRIGGER meta_update")
        sql.execute("UPDATE meta SET value = '99' WHERE name = 'format'")
    (folder / "notes").mkdir()
    (folder / "notes" / "readme.txt").write_text("nothing of interest")
    (folder / "binary.py").write_bytes(bytes(range(256)))
    (folder / "good.csv").write_text("subject,choice\ns1,0\ns1,1\n")
    os.mkfifo(folder / "pipe.csv")
    (folder / "circle").symlink_to("circle")
    write_study(folder, **SHORT).rename(folder / "study.toml")
    program = '"""A: b."""\nPARAMETERS = {}\ndef choose(parameters, trials, xp):\n    return 5\n'
    for name, change in {
        "contrary": {"theories__programs": [program]},
        "forbidding": {"design__forbidden": ["n_cues_favouring <= 99"]},
    }.items():
        write_study(folder, **{**SHORT, **change}).rename(folder / f"{name}.toml")
    study = (folder / "study.toml").read_text()
    (folder / "huge.toml").write_text(study.replace("trials = 8", "trials = 1000000000"))
    write_study(folder, **WEB, name="web").rename(folder / "web.toml")
    return folder


def content_of(*folders: Path) -> dict[str, str]:
    """Digests of all files, and names of all folders. What locks and readers leave beside databases is left out."""
    found = {}
    for item in (item for folder in folders for item in folder.rglob("*")):
        if item.name.endswith(("-shm", ".lock", ".place")) or "audits" in item.parts:
            continue
        with suppress(OSError):
            data = item.read_bytes() if item.is_file() else b"no file"
            if data or not item.name.endswith("-wal"):
                found[str(item)] = hashlib.sha256(data).hexdigest()
    return found


@pytest.mark.parametrize("command", sorted(REFUSED))
def test_a_refusal_changes_nothing(
    command: str, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import shlex

    monkeypatch.chdir(place)
    monkeypatch.setenv("PROLIFIC_TOKEN", "none")
    before = content_of(place, home())
    for arguments in REFUSED[command]:
        words = [*command.split(), *shlex.split(arguments), *WITH.get(command, ())]
        done = CliRunner().invoke(app, words)
        error = done.exception
        assert isinstance(error, (SystemExit, *known_errors())), (arguments, done.output, error)
        status = error.code if isinstance(error, SystemExit) else exit_status(error)
        assert status not in NOT_REFUSALS, (arguments, status, done.output)
        assert content_of(place, home()) == before, arguments


@pytest.mark.slow
@pytest.mark.parametrize("command", sorted(REFUSED))
def test_a_refusal_changes_nothing_whatever_option_is_added(
    command: str, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import shlex

    monkeypatch.chdir(place)
    monkeypatch.setenv("PROLIFIC_TOKEN", "none")
    before = content_of(place, home())
    loaded = LazyCommand(command, dict(chain(*map(placed, PANELS.values())))[command]).loaded()
    refused = [shlex.split(arguments) for arguments in REFUSED[command]]
    for option in (item for item in loaded.params if item.opts[0].startswith("-")):
        added = [[option.opts[0]]] if option.is_flag else [[option.opts[0], x] for x in ODD]
        for arguments, more in product((refused[0], refused[-1]), added):
            if option.opts[0] in {*arguments, "--help", "--dry-run"}:
                continue
            done = CliRunner().invoke(
                app, [*command.split(), *arguments, *more, *WITH.get(command, ())]
            )
            error = done.exception
            assert isinstance(error, (SystemExit, *known_errors())), (arguments, more, error)
            status = error.code if isinstance(error, SystemExit) else exit_status(error)
            assert status not in NOT_REFUSALS, (arguments, more, status, done.output)
            assert content_of(place, home()) == before, (arguments, more)


TAKEN = (
    *("runs/done/journal.sqlite", "runs/done/heads.jsonl", "runs/done/apart.key", "runs/done/new.csv", "runs/done"),
    *("runs/filed/inbox.sqlite", "runs/waiting/collection.sqlite", "runs/done/artifacts/x", "runs/.lab/x"),
    *("study.toml", "linked/journal.sqlite", "good.csv", "pipe.csv", "circle"),
)  # fmt: skip
WRITING = [
    (name, parameter.name, parameter.opts[0])
    for noun in PANELS.values()
    for name, function in placed(noun)
    for parameter in LazyCommand(name, function).loaded().params
    if parameter.name in FILES
]


@pytest.mark.parametrize(("command", "parameter", "option"), WRITING)
def test_no_command_writes_over_what_a_run_or_a_user_needs(
    command: str, parameter: str, option: str, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(place)
    if not Path("linked").exists():
        Path("linked").symlink_to("runs/done")
    before = content_of(place, home())
    loaded = LazyCommand(command, dict(chain(*map(placed, PANELS.values())))[command]).loaded()
    needed = [item for item in loaded.params if item.required]
    for taken in (*TAKEN, str(home() / "x"), str(home())):
        words = [option] * option.startswith("-") + [taken]
        for item in reversed(needed):  # each is put before the others
            if item.name != parameter:
                typed = {"people": "3", "to": "tables", "peer": "gecco"}.get(item.name, "good.csv")
                words = [item.opts[0]] * item.opts[0].startswith("-") + [typed, *words]
        if taken == "good.csv" and words.count(taken) == 1:  # it is not read
            continue
        done = CliRunner().invoke(app, [*command.split(), *words])
        assert isinstance(done.exception, UnusableError), (taken, done.output, done.exception)
    assert content_of(place, home()) == before


def test_exports_have_places_of_their_own_in_a_run(place: Path) -> None:
    for name in (
        "report.html",
        "summary.html",
        "export/answers.csv",
        "exports/tables",
        "prov.json",
    ):
        check_output(place / "runs" / "done" / name)
    check_output(place / "new" / "table.csv", [place / "good.csv"])


def test_files_that_the_study_of_a_run_names_are_not_written_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    shutil.copy(RESPONSES, "responses.csv")
    new_study(Path("study.toml"), Path("responses.csv"))
    create_run(load_study(Path("study.toml")), Path("runs/one")).close()
    assert [file.resolve() for file in files_of_study(Path("runs/one"))] == [
        tmp_path / "responses.csv"
    ]
    before = content_of(tmp_path)
    for name in ("responses.csv", "."):
        done = CliRunner().invoke(app, ["theory", "score", "one", "--out", name])
        assert isinstance(done.exception, UnusableError)
    assert content_of(tmp_path) == before
