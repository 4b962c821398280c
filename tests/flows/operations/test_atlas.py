"""An atlas: which campaigns it makes, what its pages say, and one that runs from a folder of studies."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

sys.path.insert(0, str(Path(__file__).parent))
from small import write_study

from lakatos.flows.commands.main import app
from lakatos.flows.errors import StudyError
from lakatos.flows.operations.atlas import atlas_cells, load_atlas, pairs_of, read_atlas, read_entry
from lakatos.flows.operations.atlas_page import _cell, write_atlas, write_markdown

ROOT = Path(__file__).resolve().parents[3]
TINY = """
name = "{name}"
question = "What do people choose | and `why`?"
domain = "risky"
seed = 1

[theories]
seeds = ["expected_value", "expected_utility"]
candidates = 2
successors = 1
draws = 32
induction = false

[design]
trials = 6
refused = "cover"

[participants]
source = "archival"
archive = "allais"

[stop]
cycles = 1
least_cycles = 1

[validation]
sealed_share = 0.3
"""


@pytest.fixture
def studies(tmp_path: Path) -> Path:
    folder = tmp_path / "atlas"
    folder.mkdir()
    (folder / "one.toml").write_text(TINY.format(name="one"))
    return folder


def test_the_atlas_of_the_project_has_a_study_for_each_data_set():
    found = load_atlas(ROOT / "studies" / "atlas")
    assert len(found) >= 8
    assert all(config.validation.sealed_share > 0 for config in found.values())


def test_every_file_is_a_campaign_that_takes_nothing_from_the_others(studies):
    (studies / "two.toml").write_text(TINY.format(name="two"))
    cells = atlas_cells(load_atlas(studies))
    assert [cell.name for cell in cells] == ["one", "two"]
    assert not any(cell.config.memory.winners for cell in cells)


def test_leaders_travel_to_other_data_sets_of_their_domain(studies):
    assert set(pairs_of(load_atlas(ROOT / "studies" / "atlas"))) >= {
        ("gambles-described", "lotteries-even-chances"),
        ("lotteries-even-chances", "gambles-described"),
        ("products-binary", "products-cardinal"),
    }
    assert not list(pairs_of(load_atlas(studies)))


def test_a_folder_without_studies_or_with_others_is_refused(studies, tmp_path):
    (tmp_path / "empty").mkdir()
    with pytest.raises(StudyError, match="holds no study files"):
        load_atlas(tmp_path / "empty")
    (studies / "two.toml").write_text(TINY.format(name="one"))
    with pytest.raises(StudyError, match=r"two studies .* are called 'one'"):
        load_atlas(studies)
    (studies / "two.toml").unlink()
    write_study(studies)
    with pytest.raises(StudyError, match="not about published answers"):
        load_atlas(studies)


def test_a_study_without_verdict_is_named_as_missing(studies, tmp_path):
    runs = tmp_path / "runs"
    assert read_entry(runs, "one") is None
    done = CliRunner().invoke(app, ["atlas", "show", str(studies), "--runs", str(runs)])
    assert done.exit_code == 0, done.output
    assert "0 of 1 data sets" in done.output
    assert "No verdict yet: one." in (runs / "atlas" / "atlas.html").read_text()


def test_an_unknown_study_is_refused_before_anything_is_run(studies, tmp_path):
    done = CliRunner().invoke(
        app, ["atlas", "run", str(studies), "--runs", str(tmp_path / "runs"), "--only", "three"]
    )
    assert isinstance(done.exception, StudyError)
    assert not (tmp_path / "runs").exists()


def test_text_of_others_is_no_markup_in_a_table():
    assert _cell("a | b\n`c` <script> [d](e)") == "a \\| b 'c' &lt;script&gt; \\[d](e)"


@pytest.mark.slow
def test_an_atlas_runs_goes_on_and_is_shown(studies, tmp_path):
    runs = tmp_path / "runs"
    wanted = ["atlas", "run", str(studies), "--runs", str(runs), "--workers", "1"]
    done = CliRunner().invoke(app, wanted)
    assert done.exit_code == 0, done.output
    (entry,) = read_atlas(runs / "atlas", ["one"])
    assert entry.company is not None
    assert entry.company.basis.startswith("sealed")
    assert entry.n_answers > 0
    assert 0 < entry.seconds < 300
    journal = (runs / "atlas" / "one" / "journal.sqlite").read_bytes()
    again = CliRunner().invoke(app, wanted)
    assert again.exit_code == 0, again.output
    assert (runs / "atlas" / "one" / "journal.sqlite").read_bytes() == journal
    page = write_atlas(runs / "atlas", [entry], []).read_text()
    assert entry.leader in page
    assert "<svg" in page
    assert (entry.folder / "report.html").exists()
    write_markdown(tmp_path / "atlas.md", [entry], ["two"])
    text = (tmp_path / "atlas.md").read_text()
    assert "What do people choose \\| and 'why'?" in text
    assert "No verdict yet: two." in text
    assert (tmp_path / "atlas.svg").read_text().startswith("<svg")
    # a claim of the page can be audited from its bundle alone
    kept = tmp_path / "bundles"
    shown = ["atlas", "show", str(studies), "--runs", str(runs), "--bundles", str(kept)]
    bundled = CliRunner().invoke(app, shown)
    assert bundled.exit_code == 0, bundled.output
    audited = ["audit", str(kept / "one.bundle.zip"), "--recompute", "none"]
    assert CliRunner().invoke(app, audited).exit_code == 0
