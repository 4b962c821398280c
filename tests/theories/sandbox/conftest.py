import shutil

import numpy as np
import pytest

from theories.sandbox.client import Limits, Sandbox

HONEST = '''"""Difference: people follow the difference."""
def choose(parameters, trials, xp):
    return 1 / (1 + xp.exp(-parameters["slope"] * (trials["x"][:, 1] - trials["x"][:, 0])))
'''


@pytest.fixture(scope="session", params=["embedded", "bwrap"])
def sandbox(request):
    if request.param == "bwrap" and not shutil.which("bwrap"):
        pytest.skip("bubblewrap is not installed; install it to test the strict level")
    limits = Limits(wall_seconds=20.0, memory_bytes=512 * 2**20)
    with Sandbox(limits=limits, bwrap=request.param == "bwrap") as sandbox:
        if request.param == "bwrap" and "bwrap" not in sandbox.level.layers:
            pytest.skip(f"bubblewrap does not work here: {sandbox.level.notes}")
        yield sandbox


@pytest.fixture(scope="session")
def stimuli():
    return [{"x": np.arange(12.0).reshape(6, 2) ** 1.5}, {"x": np.ones((4, 2))}]


@pytest.fixture(scope="session")
def honest(stimuli):
    """Runs an honest theory and compares it with the same arithmetic here."""
    slope = np.array([0.1, 0.5, 2.0])
    expected = [1 / (1 + np.exp(-slope[:, None] * (arrays["x"][:, 1] - arrays["x"][:, 0]))) for arrays in stimuli]

    def run(sandbox):
        answers = sandbox.probabilities(HONEST, {"slope": slope}, stimuli)
        return all(
            np.allclose(answer[..., 1], right, atol=1e-12) and np.allclose(answer.sum(-1), 1)
            for answer, right in zip(answers, expected, strict=True)
        )

    return run
