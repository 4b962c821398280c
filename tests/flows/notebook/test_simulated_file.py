"""Files of other responses to the trials of a file, of every kind of task."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import lakatos
from benchmarks.forms.data_sets import KINDS, domain_of
from lakatos.experiments.task import Trials
from lakatos.flows.notebook.answers import PeoplesAnswers
from lakatos.flows.notebook.simulated_file import table_of_simulated

OWN_COLUMNS = {"two steps", "balloons"}
"""Kinds with several responses in a row, so that a file of others has columns of its own."""


def shuffled(item: Trials, rng: np.random.Generator) -> Trials:
    """The responses of an experiment, with what followed each, in another order."""
    order = rng.permutation(len(item.response))
    feedback = {name: column[order] for name, column in item.feedback.items()}
    return replace(item, response=item.response[order], feedback=feedback)


def with_sessions(name: str) -> tuple[pd.DataFrame, PeoplesAnswers]:
    """A file of a kind of task with a condition, and what is read of it."""
    plain = KINDS[name].draw(domain_of(name), np.random.default_rng(3))
    table = plain.frame.assign(session=np.where(np.arange(len(plain.frame)) % 2, "one", "two"))
    said = {**plain.said, "attributes": ["session"]}
    return table, lakatos.adopt(table, KINDS[name].domain, said)


@pytest.mark.slow
@pytest.mark.parametrize("name", list(KINDS))
def test_other_responses_stand_in_the_rows_of_the_file(name: str) -> None:
    """Where the table claims to have the file's columns, it is read as these responses."""
    table, answers = with_sessions(name)
    rng = np.random.default_rng(5)
    others = [shuffled(item, rng) for item in answers.trials]
    written = table_of_simulated(others, answers)
    assert written.is_like_the_file == (name not in OWN_COLUMNS)
    if not written.is_like_the_file:
        assert list(written.frame.participant.unique()) == list(table.subject.astype(str).unique())
        assert set(written.frame.session) == {"one", "two"}
        return
    assert list(written.frame) == list(table)
    kept = ["subject", "session"]
    assert (written.frame[kept].value_counts() == table[kept].astype(str).value_counts()).all()
    assert answers.source is not None
    again = lakatos.adopt(
        written.frame, KINDS[name].domain, answers.source.mapping.model_dump(exclude_defaults=True)
    )
    for one, other in zip(again.trials, others, strict=True):
        assert np.array_equal(one.response, other.response)


def test_published_data_have_columns_of_their_own() -> None:
    """There is no file whose rows could be written."""
    _, answers = with_sessions("money now or later")
    written = table_of_simulated(answers.trials, replace(answers, source=None))
    assert not written.is_like_the_file
    assert {"participant", "response", "option", "session", "trial"} <= set(written.frame)
    assert "count" not in written.frame
