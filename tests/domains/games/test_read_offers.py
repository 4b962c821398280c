"""Offers of an ultimatum game, read from a file."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from lakatos.experiments.adoption.describe import describe_table
from lakatos.experiments.adoption.recognised import accepts
from lakatos.experiments.adoption.signatures import ColumnSignature
from lakatos.experiments.adoption.tables import table_of_frame


def test_what_the_proposer_keeps_is_no_sum_that_an_offer_comes_from() -> None:
    rng = np.random.default_rng(1)
    offer = rng.integers(1, 6, 120)
    frame = pd.DataFrame(
        {
            "subj": np.repeat(np.arange(6), 20),
            "offer_to_you": offer,
            "proposer_keeps": 10 - offer,
            "pie": 10,
            "decision": np.where(rng.random(120) < offer / 6, "accept", "reject"),
        }
    )
    found = describe_table(table_of_frame("a.csv", frame))
    assert found.domain == "games"
    assert found.mapping.responses == {"accept": 1, "reject": 0}
    assert found.mapping.stimulus["other"] == [[0, 0], ["pie - offer_to_you"] * 2]


@pytest.mark.parametrize(
    "cells", [("acepta", "rechaza"), ("aceita", "recusa"), ("accetta", "rifiuta"), ("accepté", "refusé")]
)  # fmt: skip
def test_offers_are_taken_and_left_in_other_languages(cells: tuple[str, str]) -> None:
    column = ColumnSignature("respuesta", pd.Series(cells))
    assert accepts(column, cells) == {cells[0]: 1, cells[1]: 0}
