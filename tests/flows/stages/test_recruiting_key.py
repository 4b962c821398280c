"""Under which key participants are recruited."""

from __future__ import annotations

from lakatos.experiments.participants import SOURCES
from lakatos.flows.stages.asked import recruiting_key

KEY, PLACE = "a" * 64, "b" * 64


def test_participants_who_respond_later_are_recruited_with_the_key_and_all_others_with_the_place() -> (
    None
):
    found = {name: recruiting_key(SOURCES[name].profile, KEY, PLACE) for name in SOURCES}
    assert {name for name, key in found.items() if key == KEY} == {
        name for name in SOURCES if SOURCES[name].profile.responds_later
    }
    assert found["web"] == KEY
    assert found["simulated"] == found["archival"] == PLACE
