"""Every refusal of a wrong cell names the file, the row, the column, what was found and the option that answers it."""

from __future__ import annotations

import pytest

from benchmarks.forms.chains import plain_file
from benchmarks.forms.data_sets import KINDS, domain_of
from lakatos.experiments.adoption.adopt import adopt
from lakatos.experiments.adoption.describe import describe_table
from lakatos.experiments.adoption.mapping import leaves_of
from lakatos.experiments.adoption.tables import table_of_frame
from lakatos.experiments.errors import TrialsError

ROW = 5
CELLS = ("oops", "-700000", "inf", "5 apples")
"""Cells that no column of any kind of task holds."""


@pytest.mark.parametrize(
    "cell", [CELLS[0], *(pytest.param(cell, marks=pytest.mark.slow) for cell in CELLS[1:])]
)
@pytest.mark.parametrize("kind", KINDS)
def test_a_wrong_cell_is_refused_with_its_place_and_an_option(kind: str, cell: str) -> None:
    plain, _ = plain_file(kind, 0)
    domain = domain_of(kind)
    table = table_of_frame("answers.csv", plain.frame)
    mapping = describe_table(table, domain).with_columns(plain.said).mapping
    parts = [mapping.stimulus, mapping.feedback, mapping.response, mapping.response_time]
    named = {str(leaf) for part in parts for leaf in leaves_of(part)} & set(table.columns)
    assert named
    for name in sorted(named):
        frame = plain.frame.astype(object)
        frame.iloc[ROW, list(frame.columns).index(name)] = cell
        wrong = table_of_frame("answers.csv", frame)
        if name in domain_free_columns(kind) or (name, cell) == ("rt", "-700000"):
            continue  # times outside of the window are left out
        with pytest.raises(TrialsError) as refusal:
            adopt(wrong, mapping, domain)
        told = str(refusal.value)
        lacking = [
            what
            for what, words in {
                "file": "answers.csv",
                "row": f"row {ROW + 2}",
                "column": name,
                "cell": cell,
                "option": "--",
            }.items()
            if words not in told
        ]
        assert not lacking, (name, cell, lacking, told)


def domain_free_columns(kind: str) -> set[str]:
    """Columns whose cells may be any words: names of groups."""
    return {"group"} if kind == "gifts to a group" else set()
