from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from lakatos.domains import FAMILIES
from lakatos.theories.language.theory import read_program


@pytest.mark.long
def test_theories_are_read_by_several_threads_at_once():
    # CPython 3.11 raises SystemError when two threads parse at the same time.
    programs = [family.program(name) for family in FAMILIES.values() for name in family.seeds] * 30
    with ThreadPoolExecutor(4) as pool:
        names = list(pool.map(lambda program: read_program(program).name, programs))
    assert len(names) == len(programs)
