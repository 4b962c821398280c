"""The atlas: a study for each data set, a campaign, its theory, which is kept, and the page that is made from it."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.atlas import (
    PAGE,
    Measures,
    NamedTheory,
    cell,
    keep,
    load_atlas,
    load_named,
    measure,
    open_and_sealed,
    page_of,
    read_named,
    row_of,
    run_campaign,
)
from lakatos.flows.run.study import CampaignConfig, parse_study

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
    "validation": {"sealed_share": 0.3, "comparison_models": False},
}


def names_in(page: str) -> list[str]:
    rows = [line for line in page.splitlines() if line.startswith("| ")]
    names = [row.split("|")[1].strip() for row in rows]
    return [name for name in names if name not in ("study", "---")]


MEASURES = Measures(
    commit="c", presented=(1.0, 0.9, 1.1), sealed=None, completeness=(0.9, 0.8, 1.0), published="B",
    published_completeness=0.8, ahead=(0.01, -0.01, 0.03), n_responses=1_000,
)  # fmt: skip


SOURCE = '''"""A: People choose at random."""
PARAMETERS = {}
def choose(parameters, trials, xp):
    return xp.full((1, 1), 0.5)
'''


def named(study: str, name: str = "A") -> NamedTheory:
    return NamedTheory(
        study=study, commit="c", name=name, n_clauses=1, source=SOURCE, author="grammar",
        people={}, doubts={}, own_centers={}, pooled=False, seconds=60.0,
        measures=MEASURES,
    )  # fmt: skip


def test_the_page_has_a_row_for_each_study_and_each_study_seals_trials() -> None:
    found = load_atlas()
    assert sorted(names_in(PAGE.read_text())) == sorted(found)
    assert all(config.validation.sealed_share > 0 for config in found.values())
    assert not any(config.memory.winners for config in found.values())


def test_the_page_is_what_the_kept_theories_make_of_it() -> None:
    page, kept = PAGE.read_text(), load_named()
    assert page_of(page, kept) == page
    for study, item in kept.items():
        assert item.study == study
        assert item.theory.name == item.name
        assert (f"**{study}.** {cell(item.claim)}" in page) == (item.measures is not None)


def test_a_kept_theory_takes_the_place_of_what_the_page_had_of_its_data_set() -> None:
    before = PAGE.read_text()
    again = page_of(before, load_named() | {"games": named("games")})
    assert sorted(names_in(again)) == sorted(names_in(before))
    assert again.count("**games.**") == 1
    assert "**games.** People choose at random." in again
    assert page_of(again, load_named() | {"games": named("games")}) == again


def test_a_row_holds_each_measure_with_its_interval() -> None:
    assert row_of(named("games")) == (
        "| games | A | 1 | 1.00 (0.90 to 1.10) | not measurable | 90% (80% to 100%) | B, 80% "
        "| +0.0100 (-0.0100 to +0.0300) | 1,000 | 1 min 00 s |"
    )


def test_text_of_others_is_no_markup_in_a_table() -> None:
    assert cell("a | b\n`c` <script> [d](e)") == "a \\| b 'c' &lt;script> \\[d](e)"


def tiny() -> CampaignConfig:
    return parse_study(TINY, "one")


def test_open_and_sealed_responses_are_all_responses_once() -> None:
    opened, sealed = open_and_sealed(tiny(), None)
    for item in opened:
        hidden = [
            key
            for other in sealed
            if other.experiment == item.experiment
            for key in other.stimuli.keys
        ]
        assert not set(hidden) & set(item.stimuli.keys)
    assert sum(len(item.stimuli) for item in opened) > sum(len(item.stimuli) for item in sealed) > 0


@pytest.mark.slow
def test_a_campaign_is_run_gone_on_with_and_its_theory_kept_and_measured(tmp_path: Path) -> None:
    run_campaign(tiny(), tmp_path, None, 1)
    found = read_named(tmp_path, "one")
    assert found is not None
    assert 0 < found.seconds < 600
    assert found.theory.name == found.name
    journal = (tmp_path / "one" / "journal.sqlite").read_bytes()
    run_campaign(tiny(), tmp_path, None, 1)
    assert (tmp_path / "one" / "journal.sqlite").read_bytes() == journal
    kept = keep(measure(found, tiny(), None), tmp_path)
    assert load_named(tmp_path) == {"one": kept}
    assert kept.measures is not None
    assert kept.measures.n_responses > 0
    assert row_of(kept).startswith(f"| one | {cell(found.name)} | {found.n_clauses} | ")
    assert row_of(kept).count(" | ") == 9
