"""A description names what decided the reading of each column: an option, its values, its name, or other columns."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from reading import bandits, delays

from lakatos.experiments.adoption.describe import describe_table
from lakatos.experiments.adoption.role_reasons import BY_NAME, BY_VALUES, MADE, OPTION, role_reasons
from lakatos.experiments.adoption.tables import table_of_frame


def reasons_of(frame: pd.DataFrame, columns: dict[str, Any]) -> dict[str, str]:
    found = describe_table(table_of_frame("responses.csv", frame)).with_columns(columns)
    return role_reasons(found, columns)


def with_times() -> pd.DataFrame:
    rng = np.random.default_rng(5)
    frame = delays(rng).frame
    return frame.assign(rt=rng.integers(600, 2_000, len(frame)))


def test_a_column_of_times_without_a_unit_is_known_by_its_name_only() -> None:
    assert reasons_of(with_times(), {})["rt"] == BY_NAME


def test_a_column_is_known_by_its_values_where_another_name_changes_nothing() -> None:
    frame = with_times()
    who = frame.columns[0]
    assert reasons_of(frame, {})[who] == BY_VALUES
    assert reasons_of(frame.rename(columns={who: "anything"}), {})["anything"] == BY_VALUES


def test_a_column_that_the_user_names_is_read_because_of_the_option() -> None:
    frame = with_times()
    who = frame.columns[0]
    assert reasons_of(frame, {"participant": who})[who] == OPTION
    assert reasons_of(frame, {"recode": {"rt": {"9999": ""}}})["rt"] == BY_NAME


def test_a_column_that_is_not_read_has_no_reason() -> None:
    frame = with_times().assign(remark="none")
    assert "remark" not in reasons_of(frame, {})


def test_columns_made_of_a_wide_file_come_from_other_columns() -> None:
    frame = bandits(np.random.default_rng(5)).frame
    wide = frame.pivot(index="subject", columns="trial", values=["choice", "reward"])
    named = wide.set_axis([f"{name}_{n}" for name, n in wide.columns], axis=1).reset_index()
    reasons = reasons_of(named, {})
    assert reasons == {"subject": reasons["subject"], "trial": MADE, "choice": MADE, "reward": MADE}
    assert reasons["subject"] in (BY_NAME, BY_VALUES)
