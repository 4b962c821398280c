"""The atlas: a study for each row of its page, a campaign that is run, gone on with, and shown in its row."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.atlas import PAGE, cell, load_atlas, read_entry, row_of, run_atlas, with_rows
from lakatos.flows.run.study import parse_study

TINY = {
    "name": "one",
    "question": "What do people choose?",
    "domain": "risky",
    "seed": 1,
    "theories": {
        "seeds": ["expected_value", "expected_utility"],
        "candidates": 2,
        "successors": 1,
        "draws": 32,
        "induction": False,
    },
    "design": {"trials": 6, "refused": "cover"},
    "participants": {"source": "archival", "archive": "allais"},
    "stop": {"cycles": 1, "least_cycles": 1},
    "validation": {"sealed_share": 0.3},
}


def names_in(page: str) -> list[str]:
    rows = [line for line in page.splitlines() if line.startswith("| ")]
    return [row.split("|")[1].strip() for row in rows[2:]]


def test_the_page_has_a_row_for_each_study_and_each_study_seals_trials():
    found = load_atlas()
    assert sorted(names_in(PAGE.read_text())) == sorted(found)
    assert all(config.validation.sealed_share > 0 for config in found.values())
    assert not any(config.memory.winners for config in found.values())


def test_a_new_result_takes_the_place_of_its_row_and_leaves_the_rest():
    page = PAGE.read_text()
    again = with_rows(page, {"games": "| games | A | 1 |", "new": "| new | B | 2 |"})
    assert names_in(again) == [*names_in(page), "new"]
    changed = set(again.splitlines()) - set(page.splitlines())
    assert changed == {"| games | A | 1 |", "| new | B | 2 |"}
    assert with_rows(page, {}) == page


def test_text_of_others_is_no_markup_in_a_table():
    assert cell("a | b\n`c` <script> [d](e)") == "a \\| b 'c' &lt;script> \\[d](e)"


@pytest.mark.slow
def test_an_atlas_runs_goes_on_and_fills_its_row(tmp_path: Path):
    studies = {
        "one": parse_study(TINY, "one"),
        "none": parse_study(TINY | {"seed": 2}, "none"),
    }
    (tmp_path / "none").write_text("in the way of a folder")
    failed = run_atlas(studies, tmp_path, data=None, only=studies, n_workers=1)
    assert [text.split(":")[0] for text in failed] == ["none"]
    entry = read_entry(tmp_path, "one")
    assert entry is not None
    assert entry.company is not None
    assert entry.company.basis.startswith("sealed")
    assert entry.n_responses > 0
    assert 0 < entry.seconds < 600
    assert row_of(entry).startswith(f"| one | {cell(entry.leader)} | {entry.n_clauses} | ")
    assert row_of(entry).count(" | ") == 7
    journal = (tmp_path / "one" / "journal.sqlite").read_bytes()
    assert not run_atlas(studies, tmp_path, data=None, only=["one"], n_workers=1)
    assert (tmp_path / "one" / "journal.sqlite").read_bytes() == journal
    assert read_entry(tmp_path, "none") is None
