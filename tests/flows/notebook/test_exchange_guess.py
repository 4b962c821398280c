"""The kind of task that a theory's file is about, guessed from what it reads of trials."""

from __future__ import annotations

import pytest

from lakatos.domains import FAMILIES
from lakatos.flows.notebook.exchange import guess_domain
from lakatos.theories.errors import TheoryError


@pytest.mark.parametrize("domain", list(FAMILIES))
def test_published_theories_are_of_the_kind_of_task_whose_trials_they_read(domain: str) -> None:
    for name in FAMILIES[domain].seeds:
        assert guess_domain(FAMILIES[domain].program(name).source)[0] == domain


def test_a_theory_that_reads_nothing_known_is_asked_about() -> None:
    with pytest.raises(TheoryError, match=r"reads nothing of trials.*domain=: .*learning"):
        guess_domain('"""No."""\nPARAMETERS = {}\n')
    with pytest.raises(TheoryError, match=r"reads colours of trials.*domain="):
        guess_domain('def choose(parameters, trials, xp):\n    return trials["colours"]\n')
