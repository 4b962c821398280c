"""Theories on a cluster: what a `Laboratory` maps over theories or trials is spread over Dask workers.

``LAKATOS_CLUSTER`` says where: the address of a Dask scheduler (``tcp://host:8786``, ``tls://host:8786``), or
``local:N`` for N processes of this machine, which end with the run. A question goes out in chunks that each last long
enough for the cluster's own work to stay below a tenth; questions too small for that are answered here. Each worker
has a laboratory of its own, whose sandboxes run beside it. Responses come back in the order of the questions and do not
depend on the number of workers, nor on which of them died meanwhile: what a dead one had is computed again by another.

The journal never sees the cluster. A pass that loses it ends with an error; its steps are not recorded, so resuming
computes them again.
"""

from __future__ import annotations

import atexit
import functools
import os
import pickle
import platform
import threading
import time
from collections.abc import Callable, Sequence
from importlib.metadata import version
from typing import TYPE_CHECKING, Any, Final, TypeVar

from lakatos.domains import find_domain
from lakatos.experiments.conditions import full_name
from lakatos.experiments.task import Domain
from lakatos.experiments.task_file import TaskFile, task_file_of
from lakatos.flows.errors import FlowError
from lakatos.theories.engine.laboratory import Laboratory
from lakatos.theories.engine.sandbox.limits import USUAL_LIMITS
from lakatos.traces.digest import Fingerprint, digest_bytes, digest_of

if TYPE_CHECKING:
    from distributed import Client

T = TypeVar("T")
CHUNK_S: Final = 0.5
"""Least seconds that a chunk should last: fifty times what sending one costs, whatever a busy machine adds."""
LEAST_S: Final = 0.5
"""Questions expected to take less in all are answered here."""
CHUNKS_PER_WORKER: Final = 4
"""Chunks of each worker, so many that the last one is not waited for long."""
WORKERLESS_S: Final = 180.0
"""Seconds that a cluster without any worker is waited for."""


class ClusterError(FlowError):
    """The cluster cannot be reached or used, or lost what it was given."""

    exit_code = 5


def laboratory_of(
    domain: Domain,
    n_workers: int,
    cluster: str | None = None,
    *,
    seconds: float = USUAL_LIMITS.cpu_seconds,
) -> Laboratory:
    """A laboratory on the cluster that ``LAKATOS_CLUSTER`` (or ``cluster``) names; of this process where it is empty.

    Args:
        domain: Domain of all trials for which theories predict.
        n_workers: Theories that run at the same time here, for what is not sent out.
        cluster: Address of a Dask scheduler, or ``local:N``.
        seconds: Processor time of one call of a theory.

    Raises:
        ClusterError: Dask is not installed, or the cluster cannot be reached.
    """
    named = os.environ.get("LAKATOS_CLUSTER", "") if cluster is None else cluster
    if named:
        return ClusterLaboratory(domain, named, n_workers, seconds=seconds)
    return Laboratory(domain, n_workers, seconds=seconds)


class ClusterLaboratory(Laboratory):
    """A laboratory whose maps run on a Dask cluster."""

    def __init__(
        self,
        domain: Domain,
        cluster: str,
        n_workers: int = 2,
        *,
        require: frozenset[str] = frozenset(),
        seconds: float = USUAL_LIMITS.cpu_seconds,
    ) -> None:
        """Connect to the cluster; sandboxes start on the workers with their first theory.

        Raises:
            ClusterError: Dask is not installed, or the cluster cannot be reached.
        """
        self._client, self._own_cluster = _connect(cluster)
        self.cluster = cluster
        self._seconds: dict[str, float] = {}
        """Per item of each kind of question, as last measured on a worker."""
        self.inside_s = 0.0
        """Seconds that workers spent on questions so far, for measurements."""
        super().__init__(domain, n_workers, require=require, seconds=seconds)

    def __reduce__(
        self,
    ) -> tuple[Callable[..., Laboratory], tuple[str, TaskFile | None, frozenset[str], float]]:
        """Pickle the laboratory such that, on a worker, it is the worker's own."""
        own = full_name(self.domain), task_file_of(self.domain), self._require, self.seconds
        return _own_laboratory, own

    def close(self) -> None:
        """End the sandboxes here and let the cluster go; one of this run's own ends."""
        super().close()
        self._client.close()
        if self._own_cluster is not None:
            self._own_cluster.close()

    def _map(
        self,
        function: Callable[..., T],
        items: Sequence[object],
        done: Callable[[], None] | None = None,
    ) -> list[T]:
        kind = function.__qualname__
        expected = self._seconds.get(kind)
        if len(items) < 2 or (expected is not None and expected * len(items) < LEAST_S):
            return super()._map(function, items, done)
        size = chunk_size(len(items), self._n_threads(), expected)
        chunks = [list(items[start : start + size]) for start in range(0, len(items), size)]
        found: list[T] = []
        inside_s = 0.0
        for packed, seconds in self._ask_cluster(function, chunks):
            found += pickle.loads(packed)
            inside_s += seconds
        with self._guard:
            self._seconds[kind] = inside_s / len(items)
            self.inside_s += inside_s
        return found

    def _ask_cluster(
        self, function: Callable[..., Any], chunks: Sequence[list[object]]
    ) -> list[tuple[bytes, float]]:
        import cloudpickle
        from distributed import CancelledError, KilledWorker
        from distributed.comm import CommClosedError

        packed = cloudpickle.dumps(function)
        try:
            # A task, not scattered data: should the worker die that holds it, another makes it anew.
            shared = self._client.submit(bytes, packed, key=f"question-{digest_bytes(packed)}")
            code = versions()
            futures = [
                self._client.submit(_answer, shared, pickle.dumps(chunk), code, pure=False)
                for chunk in chunks
            ]
            try:
                self._wait(futures)
                # In the order of the questions, so that of several errors the same one is raised as without a cluster.
                return [future.result() for future in futures]
            finally:
                self._client.cancel([future for future in futures if not future.done()])
        except KilledWorker as error:
            raise ClusterError(
                f"workers of the cluster {self.cluster} died again and again on one chunk of questions ({error}). Look "
                "at their memory and their logs, then `lakatos resume`; unset LAKATOS_CLUSTER to go on without them."
            ) from error
        except (CommClosedError, CancelledError, OSError) as error:
            raise self._lost(str(error) or type(error).__name__) from error

    def _wait(self, futures: Sequence[Any]) -> None:
        from distributed import wait

        workerless_since: float | None = None
        while True:
            try:
                wait(futures, timeout=5)
                return
            except TimeoutError:
                if self._client.status != "running":
                    raise self._lost("its scheduler is gone") from None
                if self._n_threads(refresh=True):
                    workerless_since = None
                    continue
                workerless_since = workerless_since or time.monotonic()
                if time.monotonic() - workerless_since > WORKERLESS_S:
                    raise self._lost(f"it has had no worker for {WORKERLESS_S:.0f} s") from None

    def _lost(self, why: str) -> ClusterError:
        return ClusterError(
            f"the cluster {self.cluster} was lost ({why}). Nothing that is recorded depends on it: see to it and "
            "`lakatos resume`, or unset LAKATOS_CLUSTER to go on without it."
        )

    def _n_threads(self, *, refresh: bool = False) -> int:
        threads = self._client.nthreads() if refresh else self._client.ncores()
        return sum(threads.values())


def chunk_size(n_items: int, n_threads: int, seconds: float | None) -> int:
    """Items of one chunk: a few chunks for each thread, but none that is over in less than `CHUNK_S`.

    Args:
        n_items: Number of items in all.
        n_threads: Number of threads of the cluster.
        seconds: What one item takes; None if that is unknown.
    """
    even = -(-n_items // (CHUNKS_PER_WORKER * max(n_threads, 1)))
    if seconds is None:
        return even
    # Never fewer chunks than threads: idle workers cost more than short chunks.
    most = -(-n_items // max(n_threads, 1))
    return min(max(even, round(CHUNK_S / max(seconds, 1e-6))), most)


@functools.cache
def versions() -> Fingerprint:
    """Versions that must be equal here and on every worker, because results could differ otherwise."""
    from lakatos.flows.run.code import science

    packages = {name: version(name) for name in ("numpy", "scipy")}
    return digest_of({"science": science(), "python": platform.python_version(), **packages})


# -- on the workers --------------------------------------------------------------------------------------------------

_laboratories: dict[tuple[str, TaskFile | None, frozenset[str], float], Laboratory] = {}
_guard = threading.Lock()


def _own_laboratory(
    domain: str, file: TaskFile | None, require: frozenset[str], seconds: float
) -> Laboratory:
    """This worker's laboratory; a sandbox for each of its threads."""
    with _guard:
        key = (domain, file, require, seconds)
        if key not in _laboratories:
            task = find_domain(domain, file)
            _laboratories[key] = Laboratory(task, 1, require=require, seconds=seconds)
            atexit.register(_laboratories[key].close)
        return _laboratories[key]


def _answer(question: bytes, chunk: bytes, code: Fingerprint) -> tuple[bytes, float]:
    """Answer a question about a chunk of items; the result packed, and the seconds that it took.

    Raises:
        ClusterError: This worker runs other code than the campaign.
    """
    if code != versions():
        raise ClusterError(
            f"the worker on {platform.node()} has another version of Lakatos, Python, NumPy or SciPy than the campaign "
            f"({versions()[:8]}, not {code[:8]}), so its answers could differ. Install the same lock file there."
        )
    begun = time.perf_counter()
    function = pickle.loads(question)
    found = [function(item) for item in pickle.loads(chunk)]
    return pickle.dumps(found), time.perf_counter() - begun


# -- connecting ------------------------------------------------------------------------------------------------------


def _connect(cluster: str) -> tuple[Client, Any]:
    """A client of a scheduler and, for ``local:N``, the cluster that was started for it."""
    try:
        import dask
        from distributed import Client, LocalCluster
    except ImportError as error:
        raise ClusterError(
            f"a cluster ({cluster}) needs Dask, which is not installed: `pip install 'lakatos[scale]'`, or unset "
            "LAKATOS_CLUSTER."
        ) from error
    # Trials of a large study are sent once, whatever Dask thinks of the size of its graph.
    dask.config.set({"distributed.admin.large-graph-warning-threshold": "1 TB"})
    scheme, _, rest = cluster.partition(":")
    if scheme == "local":
        if not rest.isdecimal() or int(rest) < 1:
            raise ClusterError(
                f"LAKATOS_CLUSTER={cluster}: write local:N with a number of processes, such as local:4."
            )
        own = LocalCluster(
            n_workers=int(rest),
            threads_per_worker=1,
            processes=True,
            dashboard_address=None,
            silence_logs=50,
        )
        return Client(own), own
    try:
        client = Client(cluster, timeout=10)
        client.wait_for_workers(1, timeout=WORKERLESS_S)
    except (OSError, ValueError) as error:
        raise ClusterError(
            f"the cluster {cluster} cannot be used ({str(error) or type(error).__name__}): check that its scheduler "
            "runs at that address, has workers and lets this machine in, or unset LAKATOS_CLUSTER."
        ) from error
    return client, None
