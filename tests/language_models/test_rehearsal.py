"""The rehearsal keeps the contract of a server, and misbehaves as asked."""

import pytest

from language_models.rehearsal.serve import running
from language_models.testing import ServedModelContract


class TestRehearsal(ServedModelContract):
    @pytest.fixture(scope="class")
    @classmethod
    def server(cls):
        with running() as served:
            yield served
