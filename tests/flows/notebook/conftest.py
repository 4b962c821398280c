"""Answers that the doors to Python are tried with."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

N_PEOPLE = 8


@pytest.fixture(scope="session")
def people() -> pd.DataFrame:
    """Answers of people who discount hyperbolically, as a laboratory would keep them."""
    rng = np.random.default_rng(5)
    shown = [(x, x * r, t) for x in (5, 20) for r in (1.1, 1.5, 2.2) for t in (7, 90)]
    rows = []
    for person in range(N_PEOPLE):
        rate = np.exp(rng.normal(-4, 0.8))
        for soon, late, wait in rng.permutation(shown).tolist():
            lead = (soon - late / (1 + rate * wait)) / (0.1 * soon)
            choice = "later" if rng.random() < 1 / (1 + np.exp(lead)) else "sooner"
            rows.append((f"p{person}", soon, late, 0, wait, choice))
    names = ["subject", "ss_amount", "ll_amount", "ss_delay", "ll_delay", "choice"]
    return pd.DataFrame(rows, columns=names)


@pytest.fixture(scope="session")
def file(people: pd.DataFrame, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same answers in a file."""
    path = tmp_path_factory.mktemp("given") / "answers.csv"
    people.to_csv(path, index=False)
    return path
