"""The planned trials on which power is tried, and a laboratory for them."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from lakatos.domains import DOMAINS
from lakatos.experiments.task import Stimuli
from lakatos.theories.engine.laboratory import Laboratory

DOMAIN = DOMAINS["intertemporal"]
SHOWN = [
    (soon, soon * more, days)
    for soon in (5.0, 20.0)
    for more in (1.1, 1.5, 2.2)
    for days in (7.0, 90.0)
]
STIMULI = Stimuli(
    {
        "amounts": np.array([(soon, late) for soon, late, _ in SHOWN]),
        "delays_days": np.array([(0.0, days) for *_, days in SHOWN]),
    }
)


@pytest.fixture(scope="module")
def laboratory() -> Iterator[Laboratory]:
    with Laboratory(DOMAIN, 1) as opened:
        yield opened
