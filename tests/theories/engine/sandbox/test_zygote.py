"""What theories' processes are forked from holds what theories may import, and little else."""

import importlib
import sys

import numpy as np

from lakatos.theories.engine.sandbox.zygote import LEFT_OUT, left_out

LISTS_MODULES = """
import sys

def choose(parameters, trials, xp):
    return xp.array([[name in sys.modules for name in NAMES]] * len(parameters["p"])) * 1.0
"""


def test_a_module_that_is_left_out_is_empty_meanwhile_and_loads_afterwards(monkeypatch) -> None:  # type: ignore[no-untyped-def]
    monkeypatch.delitem(sys.modules, "wsgiref.headers", raising=False)
    with left_out(["wsgiref.headers"]):
        assert not hasattr(importlib.import_module("wsgiref.headers"), "Headers")
    assert hasattr(importlib.import_module("wsgiref.headers"), "Headers")


def test_a_module_that_is_there_already_stays() -> None:
    before = sys.modules["importlib"]
    with left_out(["importlib"]):
        assert sys.modules["importlib"] is before
    assert sys.modules["importlib"] is before


def test_theories_do_not_carry_what_none_of_them_may_import(sandbox) -> None:  # type: ignore[no-untyped-def]
    names = (*LEFT_OUT, "logging", "charset_normalizer", "scipy.special")
    source = f"NAMES = {names!r}\n{LISTS_MODULES}"
    (loaded,) = sandbox.probabilities(
        source, {"p": np.zeros(1)}, [{"x": np.zeros(len(names))}], lint=False
    )
    assert loaded[0, :, 1].tolist() == [0.0] * (len(names) - 1) + [1.0]


def test_what_was_left_out_of_numpy_is_not_missed_by_its_checks(sandbox) -> None:  # type: ignore[no-untyped-def]
    source = """
def choose(parameters, trials, xp):
    xp.testing.assert_allclose(trials.x, trials.x)
    return 0 * parameters.p * trials.x + 0.5
"""
    (answer,) = sandbox.probabilities(source, {"p": np.zeros(2)}, [{"x": np.ones(3)}])
    assert (answer == 0.5).all()
