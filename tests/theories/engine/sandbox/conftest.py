import os
import shutil

import numpy as np
import pytest

from lakatos.theories.engine.sandbox.client import ProtectionLevel, Sandbox
from lakatos.theories.engine.sandbox.limits import SandboxLimits
from lakatos.theories.engine.sandbox.process import ZygoteProcess

HONEST = '''"""Difference: people follow the difference."""
def choose(parameters, trials, xp):
    return 1 / (1 + xp.exp(-parameters["slope"] * (trials["x"][:, 1] - trials["x"][:, 0])))
'''


NOBODY = 65534
AS_NOBODY = (
    "setpriv",
    f"--reuid={NOBODY}",
    f"--regid={NOBODY}",
    "--clear-groups",
    "--inh-caps=-all,+dac_read_search",
    "--ambient-caps=-all,+dac_read_search",
    "--bounding-set=-all,+dac_read_search",
)
"""Python may lie in root's own folder: the right to read it stays until a child gives up all capabilities."""


class OrdinarySandbox(Sandbox):
    """What root's tests see of the sandbox of an ordinary user."""

    def _start(self):
        zygote = ZygoteProcess(AS_NOBODY)
        with open(f"/proc/{zygote._process.pid}/status", encoding="utf-8") as file:
            (uid,) = [line.split()[1] for line in file if line.startswith("Uid:")]
        assert int(uid) == NOBODY
        hello = zygote.hello
        return zygote, ProtectionLevel(
            tuple(hello["layers"]), hello["landlock_abi"], hello["python"], hello["numpy"]
        )


@pytest.fixture(
    scope="session",
    params=[
        "embedded",
        pytest.param("bwrap", marks=pytest.mark.slow),
        pytest.param("ordinary", marks=pytest.mark.long),
    ],
)
def sandbox(request):
    """Theories' processes at each level, and where root runs the tests also as an ordinary user."""
    if request.param == "ordinary":
        if os.getuid() != 0 or not shutil.which("setpriv"):
            pytest.skip(
                "only root with setpriv can become an ordinary user; an ordinary user is one anyway"
            )
        with OrdinarySandbox(
            limits=SandboxLimits(wall_seconds=20.0, memory_bytes=512 * 2**20), bwrap=False
        ) as sandbox:
            yield sandbox
        return
    if request.param == "bwrap" and not shutil.which("bwrap"):
        pytest.skip("bubblewrap is not installed; install it to test the strict level")
    limits = SandboxLimits(wall_seconds=20.0, memory_bytes=512 * 2**20)
    with Sandbox(limits=limits, bwrap=request.param == "bwrap") as sandbox:
        if request.param == "bwrap" and "bwrap" not in sandbox.level.layers:
            pytest.skip(f"bubblewrap does not work here: {sandbox.level.notes}")
        yield sandbox


@pytest.fixture(scope="session")
def stimuli():
    return [{"x": np.arange(12.0).reshape(6, 2) ** 1.5}, {"x": np.ones((4, 2))}]


@pytest.fixture(scope="session")
def honest(stimuli):
    """Runs an honest theory and compares it with the same arithmetic here, and with what it answered first."""
    slope = np.array([0.1, 0.5, 2.0])
    expected = [
        1 / (1 + np.exp(-slope[:, None] * (arrays["x"][:, 1] - arrays["x"][:, 0])))
        for arrays in stimuli
    ]

    first = []

    def run(sandbox):
        answers = sandbox.probabilities(HONEST, {"slope": slope}, stimuli)
        first.extend(answers[len(first) :])
        return all(
            np.allclose(answer[..., 1], right, atol=1e-12) and np.array_equal(answer, before)
            for answer, right, before in zip(answers, expected, first, strict=True)
        )

    return run
