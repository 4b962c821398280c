"""Theories on a cluster of several processes: the same answers, whatever becomes of the workers."""

import asyncio
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest

from lakatos.domains import DOMAINS, FAMILIES
from lakatos.flows.audit.audit import audit
from lakatos.flows.campaign import run_campaign
from lakatos.flows.run.cluster import (
    CHUNK_S,
    ClusterError,
    ClusterLaboratory,
    chunk_size,
    laboratory_of,
)
from lakatos.flows.run.run import create_run, has_run, open_run
from lakatos.theories.engine.laboratory import Laboratory
from lakatos.theories.errors import TheoryError
from lakatos.theories.language.theory import read_program
from lakatos.traces.errors import TraceError
from lakatos.traces.journal import Journal
from lakatos.traces.step import JOURNAL_FILE
from lakatos.traces.stores.postgres import PostgresStore

sys.path.insert(0, str(Path(__file__).parent))
from small import form, small_study

pytest.importorskip("distributed", reason="Dask is not installed: pip install 'lakatos[scale]'")

ROOT = Path(__file__).resolve().parents[3]
DOMAIN, FAMILY = DOMAINS["multiattribute"], FAMILIES["multiattribute"]
SPACE = DOMAIN.space({"validities": [0.9, 0.8, 0.7, 0.6], "levels": [0, 1, 2]})
STIMULI = SPACE.take(np.random.default_rng(3).choice(len(SPACE), 16, replace=False))
THEORIES = [read_program(FAMILY.program(name)) for name in list(FAMILY.seeds)[:5]]
CANDIDATES = [(FAMILY.seeds[name][1], None) for name in list(FAMILY.seeds)[:4]]


def everything(laboratory):
    """What a campaign asks, as plain values that can be compared bit for bit."""
    (trials,) = laboratory.simulate(THEORIES[:1], STIMULI, 8, np.random.default_rng(5))
    people = laboratory.scores_of_simulated_people(
        THEORIES[:3], 32, STIMULI, np.random.default_rng(6), n_people=8
    )
    evaluated = laboratory.evaluate(FAMILY.grammar, CANDIDATES, [trials], n_draws=32)
    learned = laboratory.people_of(THEORIES, [{}] * len(THEORIES), [trials])
    fitted = [theory.with_people(people) for theory, people in zip(THEORIES, learned, strict=True)]
    scored = laboratory.scores_of(fitted, [trials], 32)
    return [
        trials.response.tobytes(),
        people.tobytes(),
        *(
            item.probabilities.tobytes()
            for own in laboratory.evidence_of(THEORIES, [trials], 32)
            for item in own
        ),
        *(
            answers.tobytes()
            for own in laboratory.answers_of(THEORIES, [STIMULI], 32)
            for answers in own
        ),
        *(
            str(item) if isinstance(item, TheoryError) else item.theory.program.source
            for item in evaluated
        ),
        *(item.left_out.log_predictive.tobytes() for own in scored for item in own),
    ]


@pytest.fixture(scope="module")
def alone():
    with Laboratory(DOMAIN, 2) as laboratory:
        return everything(laboratory)


def worker_pids(laboratory):
    return list(laboratory._client.run(os.getpid).values())


def test_chunks_last_long_enough_and_leave_no_worker_idle():
    assert chunk_size(1000, 10, None) == 25
    assert chunk_size(1000, 10, 10.0) == 25
    assert chunk_size(1000, 10, CHUNK_S / 50) == 50
    assert chunk_size(1000, 10, 0.0) == 100
    assert chunk_size(3, 8, 0.001) == 1


@pytest.mark.long
def test_answers_are_those_of_one_process_whatever_the_number_of_workers(alone):
    with ClusterLaboratory(DOMAIN, "local:1") as laboratory:
        for n_workers in (1, 2, 3):
            laboratory._own_cluster.scale(n_workers)
            laboratory._client.wait_for_workers(n_workers, timeout=120)
            assert everything(laboratory) == alone
            with laboratory._guard:
                laboratory._kept.clear()
                laboratory._seconds.clear()  # so that small questions are sent out again
        assert laboratory.inside_s > 0


@pytest.mark.long
def test_a_worker_killed_in_the_middle_changes_nothing(alone):
    with ClusterLaboratory(DOMAIN, "local:2") as laboratory:
        laboratory._client.wait_for_workers(2, timeout=120)
        victim = worker_pids(laboratory)[0]

        def kill():
            time.sleep(1.5)
            os.kill(victim, signal.SIGKILL)

        killer = threading.Thread(target=kill)
        killer.start()
        found = []
        while killer.is_alive() or not found:
            found.append(everything(laboratory))
            with laboratory._guard:
                laboratory._kept.clear()
                laboratory._seconds.clear()
        killer.join()
        assert victim not in worker_pids(laboratory)
        assert all(item == alone for item in found)


@pytest.mark.slow
def test_an_unreachable_cluster_is_refused_in_one_line():
    with pytest.raises(
        ClusterError, match=r"tcp://127.0.0.1:9 cannot be used.*LAKATOS_CLUSTER"
    ) as caught:
        laboratory_of(DOMAIN, 1, "tcp://127.0.0.1:9")
    assert "\n" not in str(caught.value)
    with pytest.raises(ClusterError, match="write local:N"):
        laboratory_of(DOMAIN, 1, "local:many")


@pytest.mark.slow
def test_no_cluster_is_the_default_and_needs_no_dask(monkeypatch):
    monkeypatch.delenv("LAKATOS_CLUSTER", raising=False)
    script = (
        "import sys\nsys.modules['distributed'] = sys.modules['dask'] = None\n"
        "from lakatos.domains import DOMAINS\n"
        "from lakatos.flows.run.cluster import ClusterError, laboratory_of\n"
        "print(type(laboratory_of(DOMAINS['multiattribute'], 1)).__name__)\n"
        "try:\n    laboratory_of(DOMAINS['multiattribute'], 1, 'local:2')\n"
        "except ClusterError as error:\n    print(error)"
    )
    result = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, cwd=ROOT
    )
    assert result.stdout.startswith("Laboratory\n")
    assert "pip install 'lakatos[scale]'" in result.stdout


# -- a whole campaign ------------------------------------------------------------------------------------------------


def carry_on(folder):
    """A pass over the run in ``folder``, begun if there is none."""
    with open_run(folder) if has_run(folder) else create_run(small_study(), folder) as run:
        asyncio.run(run_campaign(run))


def n_events(folder):
    try:
        with Journal.open(folder / JOURNAL_FILE, read_only=True) as journal:
            return journal.head[0]
    except TraceError:  # not there yet, or away
        return 0


@pytest.mark.long
def test_a_campaign_on_database_store_and_cluster_ends_as_one_in_a_folder(
    tmp_path, postgres, bucket, monkeypatch
):
    psutil = pytest.importorskip("psutil")
    carry_on(tmp_path / "plain")
    monkeypatch.setenv("LAKATOS_JOURNAL", postgres.url)
    monkeypatch.setenv("LAKATOS_ARTIFACTS", bucket)
    monkeypatch.setenv("LAKATOS_CLUSTER", "local:2")
    monkeypatch.setattr(PostgresStore, "patience_s", 2.0)
    folder, happened = tmp_path / "run", []

    def trouble():
        for n, what in ((12, "worker"), (20, "restart"), (30, "worker"), (40, "away")):
            while n_events(folder) < n:
                time.sleep(0.2)
            if what == "worker":
                children = psutil.Process().children()
                next(
                    child
                    for child in children
                    if any("spawn_main" in word for word in child.cmdline())
                ).kill()
            else:
                postgres.stop("immediate" if what == "restart" else "fast")
                time.sleep(6.0 if what == "away" else 0.0)
                postgres.start()
            happened.append(what)

    troubles = threading.Thread(target=trouble, daemon=True)
    troubles.start()
    passes = 0
    while True:
        passes += 1
        try:
            carry_on(folder)
            break
        except (
            TraceError
        ):  # the database stayed away too long: the pass ended, and the next one goes on
            assert passes < 5
            while n_events(folder) == 0:
                time.sleep(0.2)
    troubles.join(60)
    assert happened == ["worker", "restart", "worker", "away"]
    assert form(folder) == form(tmp_path / "plain")
    assert not (folder / "artifacts").exists()
    assert audit(folder).passed
