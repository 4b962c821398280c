"""Benchmarks are found by name, results are small tables, and documents name benchmarks that are there."""

from __future__ import annotations

import csv
import re
from pathlib import Path

import pytest

from benchmarks.run import benchmarks
from benchmarks.tables import COLUMNS, RESULTS, table_of
from lakatos.experiments.interval import wilson_interval

ROOT = Path(__file__).resolve().parent.parent


def test_every_benchmark_says_in_a_sentence_what_it_measures() -> None:
    found = benchmarks()
    assert "theories/planted" in found
    assert "run" not in found
    assert all(found.values()), [name for name, what in found.items() if not what]


def test_commands_in_documents_name_benchmarks_that_are_there() -> None:
    names = benchmarks()
    gone = []
    for page in sorted((ROOT / "docs").glob("*.md")):
        for line in page.read_text(encoding="utf-8").splitlines():
            wanted = re.findall(r"python benchmarks/run\.py ([a-z_0-9/]+)", line)
            gone += [
                (page.name, name) for name in wanted if name not in names and "removed" not in line
            ]
    assert not gone


def test_results_are_tables_with_figures_and_intervals() -> None:
    paths = [
        path for path in RESULTS.rglob("*.*") if path.name not in ("mutation.csv", "structure.csv")
    ]
    assert {path.suffix for path in paths} == {".csv"}
    for path in paths:
        with path.open(newline="") as file:
            header, *rows = csv.reader(file)
        assert tuple(header) == COLUMNS, path
        assert rows, path


def test_cells_are_averaged_for_each_setting_with_intervals_over_the_others() -> None:
    cells = [
        {"domain": domain, "random_share": 0.5, "seed": seed, "experiments": value}
        for domain, values in (("risky", (2.0, 4.0)), ("games", (3.0,)))
        for seed, value in enumerate(values)
    ]
    rows = table_of("coverage", {"commit": "abc", "cells": cells})
    half = 1.96 * 2**0.5 / 2**0.5  # the standard deviation of 2 and 4 is the root of 2
    assert rows == [
        ("commit", "abc"),
        ("cells, domain games, random_share 0.5: experiments", 3.0, "", "", 1),
        (
            "cells, domain risky, random_share 0.5: experiments",
            3.0,
            pytest.approx(3 - half),
            pytest.approx(3 + half),
            2,
        ),
    ]


def test_outcomes_in_words_are_counted_and_summaries_keep_their_intervals() -> None:
    found = {
        "power": {"share": 0.8, "low": 0.7, "high": 0.9, "n_seeds": 50},
        "cells": [{"verdict": verdict} for verdict in ("right", "right", "right", "missed")],
    }
    power, missed, right = table_of("no such result", found)
    assert power == ("power", 0.8, 0.7, 0.9, 50)
    assert missed == ("cells: verdict missed", 0.25, *wilson_interval(1, 4), 4)
    assert right == ("cells: verdict right", 0.75, *wilson_interval(3, 4), 4)


def test_names_that_do_not_repeat_are_left_out() -> None:
    assert table_of("x", {"cells": [{"name": "a"}, {"name": "b"}]}) == []
