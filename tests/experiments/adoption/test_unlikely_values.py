"""Values that contradict what a column is read as are refused, with the option that reads them rightly."""

from __future__ import annotations

import numpy as np
import pytest
from reading import conflicts, only, read

from lakatos.experiments.errors import TrialsError


def test_wrong_responses_at_the_longest_time_seem_to_be_missed() -> None:
    frame = conflicts(np.random.default_rng(1)).frame
    late = frame.index % 20 == 3
    frame.loc[late, ["rt", "correct"]] = [1500, 0]
    with pytest.raises(TrialsError, match=r"all 8 responses there are wrong.*missing\.rt=1500"):
        read(frame)
    assert only(read(frame, missing={"rt": ["1500"]}, bad_rows="leave_out")).n_responses == 152
    frame.loc[3, "correct"] = 1
    assert only(read(frame)).n_responses == 160  # a right response was given in time
