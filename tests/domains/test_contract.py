import pytest

from lakatos.domains import DOMAINS
from lakatos.experiments.testing import DomainContract


class TestMultiattribute(DomainContract):
    @pytest.fixture
    def domain(self):
        return DOMAINS["multiattribute"]

    @pytest.fixture
    def settings(self):
        return {"validities": [0.9, 0.7, 0.6], "levels": [0, 1]}

    @pytest.fixture
    def empty_settings(self):
        return {"validities": [0.9], "levels": [0, 1]}


class TestRisky(DomainContract):
    @pytest.fixture
    def domain(self):
        return DOMAINS["risky"]

    @pytest.fixture
    def settings(self):
        return {"amounts": [0, 3, 4, 10], "probabilities": [0.1, 0.5, 0.8]}

    @pytest.fixture
    def empty_settings(self):
        return {"amounts": [5], "probabilities": [0.5]}


@pytest.mark.parametrize("name", DOMAINS)
def test_domains_are_listed_by_their_name(name):
    assert DOMAINS[name].name == name
