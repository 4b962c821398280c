"""Every example of `docs/extending.md` is registered as the page says, and used."""

from __future__ import annotations

import importlib.util
import re
import sys
import tarfile
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from lakatos.domains import DOMAINS, FAMILIES
from lakatos.experiments.participants import SOURCES
from lakatos.experiments.task import Design, Trials
from lakatos.experiments.testing import DomainContract, ParticipantSourceContract, preregister
from lakatos.flows.commands.adapter import command_of
from lakatos.flows.commands.main import app
from lakatos.judges.epoch import freeze
from lakatos.judges.judge import JudgeSubmission
from lakatos.judges.rubrics import RUBRICS
from lakatos.language_models.clients import CLIENTS
from lakatos.language_models.settings import ModelSettings
from lakatos.memory.tools import TOOLS
from lakatos.theories.discovery.bench import TheoryBench
from lakatos.theories.engine.laboratory import Laboratory
from lakatos.traces.artifact import ArtifactStore
from lakatos.traces.digest import digest_of
from lakatos.traces.journal import Journal
from lakatos.traces.stores import STORES
from tests.language_models.contract import LanguageModelContract

ROOT = Path(__file__).resolve().parent.parent
PAGE = (ROOT / "docs" / "extending.md").read_text(encoding="utf-8")
EXAMPLES = dict(re.findall(r"```python\n# (\S+\.py)\n(.*?)```", PAGE, re.DOTALL))


@pytest.fixture(scope="session")
def example(tmp_path_factory):
    """Imports an example by its path, from a file of its own."""
    folder = tmp_path_factory.mktemp("examples")

    def load(path):
        name = "example_" + path.removesuffix(".py").replace("/", "_")
        if name not in sys.modules:
            file = folder / f"{name}.py"
            file.write_text(EXAMPLES[path], encoding="utf-8")
            spec = importlib.util.spec_from_file_location(name, file)
            sys.modules[name] = importlib.util.module_from_spec(spec)
            spec.loader.exec_module(sys.modules[name])
        return sys.modules[name]

    return load


@pytest.fixture
def coffee(example, monkeypatch):
    """The example's domain, listed."""
    monkeypatch.setitem(DOMAINS, "coffee", example("domains/coffee/task.py").DOMAIN)
    return DOMAINS["coffee"]


@pytest.fixture
def family(example, coffee, monkeypatch):
    """The example's family, where the domain looks for it."""
    module = example("domains/coffee/theories.py")
    monkeypatch.setitem(sys.modules, "lakatos.domains.coffee.theories", module)
    return FAMILIES["coffee"]


@pytest.fixture(scope="module")
def people_run(tmp_path_factory):
    """Folder of runs that holds one which people answered."""
    place = tmp_path_factory.mktemp("golden")
    with tarfile.open(ROOT / "tests" / "golden" / "format-1.tar.gz") as packed:
        packed.extractall(place, filter="data")
    return place / "runs"


def test_the_table_has_a_section_and_an_example_for_each_kind():
    rows = re.findall(r"\| \[.*?\]\(#(.*?)\) \| `(.*?)`", PAGE)
    titles = {line[3:].lower().replace(" ", "-") for line in PAGE.splitlines() if line[:3] == "## "}
    assert {anchor for anchor, _ in rows} == titles
    assert sorted(folder for _, folder in rows) == sorted(
        path.rpartition("/")[0] + "/" for path in EXAMPLES
    )


class TestCoffee(DomainContract):
    @pytest.fixture
    def domain(self, coffee):
        return coffee

    @pytest.fixture
    def settings(self):
        return {"minutes": (0, 2, 5, 10)}

    @pytest.fixture
    def empty_settings(self):
        return {"prices": (1,)}


class TestCoins(ParticipantSourceContract):
    @pytest.fixture
    def source(self, example, coffee, monkeypatch):
        listed = example("experiments/participants/coin.py").CoinParticipants
        monkeypatch.setitem(SOURCES, "coin", listed)
        return SOURCES["coin"](coffee, {}, seed=4)


def test_theories_of_the_family_pass_all_checks_and_predict(coffee, family):
    assert len(family.seeds) == 2
    with Laboratory(coffee, n_workers=1) as laboratory:
        stimuli = coffee.space({})
        sooner_is_b = np.diff(stimuli["minutes"])[:, 0] < 0
        for name in family.seeds:
            theory = laboratory.check(family.program(name))
            shares = laboratory.proportions(theory, stimuli, 32)
            assert np.allclose(shares.sum(axis=1), 1)
            if name == "cheapest":
                assert (shares[sooner_is_b, 0] > 0.5).all()


def test_the_judge_sits_on_a_panel_and_is_heard(example, monkeypatch):
    listed = example("judges/rubrics/caution.py").CautiousJudge
    monkeypatch.setitem(RUBRICS, "caution", listed)
    panel = freeze(1, [make() for make in RUBRICS.values()])
    clear = JudgeSubmission(digest_of("a"), digest_of("b"), 0.05, 0.01, 0, 400, 0.1)
    assert panel.judge(clear, cycle=1).opinions["caution"] == 0.7
    assert panel.opened().judges["caution"] == listed().digest


def test_the_tool_is_called_by_name(example, coffee, family, monkeypatch, tmp_path):
    verb = example("memory/tools/count.py").COUNT_ANSWERS
    monkeypatch.setitem(TOOLS, verb.name, verb)
    source = example("experiments/participants/coin.py").CoinParticipants(coffee, {}, 1)
    design = Design("first", coffee.space({}).take(range(3)), repetitions=2, n_participants=3)
    recruitment = source.recruit(preregister(design), design, digest_of("a step"))
    (batch,) = source.collect(recruitment, 3).payloads
    answers = Trials.from_json(batch)
    with Laboratory(coffee, n_workers=1) as laboratory:
        bench = TheoryBench(laboratory, {}, {"first": answers}, ArtifactStore(tmp_path), {})
        found = TOOLS["count_answers"].run(bench, {"experiment": "first"})
    assert found == {"n_people": 3, "n_answers": 18}


class TestEcho(LanguageModelContract):
    @pytest.fixture
    def language_model(self, example, monkeypatch):
        listed = example("language_models/clients/echo.py").EchoModel
        monkeypatch.setitem(CLIENTS, "echo", listed)
        settings = ModelSettings(name="advocate", client="echo")
        return CLIENTS[settings.client](settings)


def test_a_journal_lives_in_the_store(example, monkeypatch, tmp_path):
    listed = example("traces/stores/mirrored.py").MirroredStore
    monkeypatch.setitem(STORES, "mirrored", listed)
    path = tmp_path / "journal.sqlite"
    with Journal(STORES["mirrored"].create(path, {"meta": "{}"})) as journal:
        for number in (1, 2):
            event = journal.append(
                "noted", {}, key=digest_of(number), name="note", position={}, inputs=()
            )
    with Journal.open(path, read_only=True) as journal:
        assert journal.head == (2, event.hash)
    assert event.hash in path.with_suffix(".jsonl").read_text().splitlines()[1]


def test_the_export_writes_what_holds_in_a_run(example, people_run, tmp_path):
    folder = next(folder for folder in people_run.iterdir() if folder.is_dir())
    written = example("flows/export/kinds.py").write_kinds(folder, tmp_path / "kinds.csv")
    lines = written.read_text().splitlines()
    assert lines[0] == "kind,records"
    assert "campaign_started,1" in lines


def test_the_command_is_mounted_and_answers(example, people_run):
    command, told = command_of(example("flows/commands/count.py").count)
    app.command("count", help=told.help)(command)
    try:
        found = CliRunner().invoke(app, ["count", "--runs", str(people_run)])
    finally:
        app.registered_commands.pop()
    assert found.exit_code == 0, found.output
    assert re.fullmatch(r"\d+ records\n", found.output)
