"""Linear algebra runs on one thread in every process, however the laboratory is entered."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from lakatos.theories.engine.sandbox.client import Sandbox
from lakatos.traces.threads import VARIABLES

LATER = """
import json, numpy, scipy.linalg
from threadpoolctl import threadpool_info
scipy.linalg.cholesky(numpy.eye(300) + numpy.ones((300, 300)) @ numpy.eye(300))
print(json.dumps([item["num_threads"] for item in threadpool_info() if item["user_api"] == "blas"]))
"""
PRODUCT = '''"""People choose at random."""
PARAMETERS = {}


def choose(parameters, trials, xp):
    return 0.5 + 0.0 * (xp.ones((400, 400)) @ xp.ones((400, 400)))[: trials["x"].shape[0], 0]
'''


@pytest.mark.slow
@pytest.mark.parametrize(
    "entry",
    [
        "import lakatos.flows.commands.main",  # every command
        "import lakatos.flows.start",  # scripts and notebooks
        "import lakatos.flows.campaign",  # what deployments and workers run
        "import numpy, scipy.linalg, theories.engine.scoring.score",  # a script that had loaded NumPy before
        "import lakatos.experiments.power",
    ],
)
def test_every_way_in_leaves_one_thread(entry):
    environment = {name: value for name, value in os.environ.items() if name not in VARIABLES}
    found = subprocess.run(
        [sys.executable, "-c", entry + LATER],
        cwd=Path(__file__).resolve().parents[2],
        env=environment | {"OMP_NUM_THREADS": "2"},
        capture_output=True,
        text=True,
        check=True,
    )
    counts = json.loads(found.stdout.splitlines()[-1])
    assert counts
    assert set(counts) == {1}


def test_a_theory_has_one_thread():
    with (
        Sandbox() as sandbox,
        sandbox.open_session(PRODUCT, [{"x": np.zeros(3)}], lint=False) as session,
    ):
        session.probabilities({})
        below = _descendants(os.getpid())
        assert below
        assert {
            process: len(os.listdir(f"/proc/{process}/task")) for process in below
        } == dict.fromkeys(below, 1)


def _descendants(process: int) -> list[int]:
    """Processes started from one, and from those."""
    parents = {}
    for entry in Path("/proc").glob("[0-9]*/stat"):
        try:
            parents[int(entry.parent.name)] = int(entry.read_text().rpartition(")")[2].split()[1])
        except (OSError, IndexError):  # it ended meanwhile
            continue
    found = [process]
    for one in found:
        found += [child for child, parent in parents.items() if parent == one]
    return found[1:]
