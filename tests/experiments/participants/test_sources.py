import pytest

from experiments.participants import SOURCES


@pytest.mark.parametrize("name", SOURCES)
def test_every_listed_source_has_the_verbs_of_the_contract(name):
    for verb in ("offers", "recruit", "poll", "close", "mark_released"):
        assert callable(getattr(SOURCES[name], verb))
