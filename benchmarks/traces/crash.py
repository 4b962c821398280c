"""Kill campaigns of each kind at every kind of moment, go on with them, and compare with ones that nobody interrupted.

    python benchmarks/run.py traces/crash                  # 300 kills of each kind; benchmarks/raw/traces/crash.json
    python benchmarks/run.py traces/crash --minutes 5      # for so long; goes on where it stopped when called again

Moments: before and after every append to the journal (each record boundary in turn), before, during and after a flush
to disk, in the middle of a write (half of its bytes arrive), any time, and with the disk full (a small file system in
memory; every second pass that meets the full disk is killed there, the others end by themselves). Kills are SIGKILL. A
chain is one campaign, killed again and again until it ends; then its canonical form must be that of the campaign that
nobody interrupted, its chain, artifacts and heads must verify, and no answer may be missing or there twice. Where
language models have roles or take part, each of their answers must be recorded once, and each time that one was asked
be charged once, those that a kill cut short included.

Flushes and writes are counted by a small library that is compiled (``cc``) and preloaded. The file system in memory
needs a user namespace, or root.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal

import numpy as np

from benchmarks.provenance import ROOT, RUNNER, provenance
from benchmarks.traces.campaigns import (
    CONCLUDED,
    STUDIES,
    WAITING,
    answer_the_page,
    begin_or_go_on,
    broken_promises,
    described,
    forget_served,
    form,
    progress,
)
from lakatos.flows.run.records import RECORD_TYPES
from lakatos.traces.step import JOURNAL_FILE
from lakatos.traces.stores import STORES
from lakatos.traces.stores.sqlite import SqliteStore
from lakatos.traces.stores.store import EventRow
from lakatos.traces.verify import verify

Moment = Literal[
    "before an append", "after an append", "at a flush", "in a write", "any time", "disk full"
]
SHARES: dict[Moment, float] = {
    "before an append": 0.2,
    "after an append": 0.2,
    "at a flush": 0.25,
    "in a write": 0.15,
    "any time": 0.1,
    "disk full": 0.1,
}
"""Of the kills of each kind of campaign."""
FLUSHES = (1, 2, 3)
"""Before, during and after; numbers of ``dying.c``."""
TORN = 4
FULL, BROKEN = 28, 29
"""Exit status of a pass that met a full disk, and of one that failed otherwise."""
DISK_WORDS = ("full", "space", "disk failed", "disk I/O error")
"""In errors that say that the disk is at fault."""
MOST_PASSES = 400
PASS_S = 1800.0  # of a busy machine
DISK_BYTES = 64 << 20
CLONE_NEWNS, CLONE_NEWUSER = 0x20000, 0x10000000
PR_SET_CHILD_SUBREAPER = 36
LIBC = ctypes.CDLL(None, use_errno=True)


class MortalStore(SqliteStore):
    """Kills its process around the append with a given number."""

    after, deadline, n_appended = False, 0, 0

    def append(self, row: EventRow) -> None:
        """Store the row, and die before or after if it is the one."""
        self.around(lambda: super(MortalStore, self).append(row))

    def append_all(self, rows: Sequence[EventRow]) -> None:
        """The same for several in one commit."""
        self.around(lambda: super(MortalStore, self).append_all(rows))

    def around(self, write: Callable[[], None]) -> None:
        """Count a commit, and die before or after it if it is the one."""
        MortalStore.n_appended += 1
        due = MortalStore.n_appended == MortalStore.deadline
        if due and not MortalStore.after:
            os.kill(os.getpid(), signal.SIGKILL)
        write()
        if due:
            os.kill(os.getpid(), signal.SIGKILL)


@dataclass
class Chain:
    """One campaign, killed until it ended."""

    kind: str
    moment: Moment
    number: int
    n_passes: int = 0
    n_kills: int = 0
    n_full: int = 0
    """Passes that met a full disk and ended by themselves."""
    n_left_running: int = 0
    """Processes of killed passes that were still there 5 s after the chain had ended."""
    seconds: float = 0.0
    wrong: list[str] = field(default_factory=list)


class Harness:
    """Runs chains and compares them with campaigns that were not interrupted."""

    def __init__(self, base: Path) -> None:
        self.base, self.whole = base, dict[str, str]()
        self.n_events: dict[str, int] = {}
        self.seconds: dict[str, float] = {}

    def reference(self, kind: str) -> str:
        """Canonical form of a campaign that was not interrupted."""
        if kind not in self.whole:
            folder, begun = self.base / f"whole-{kind}", time.perf_counter()
            chain = Chain(kind, "any time", -1)
            disarm()
            forget_served()
            carry(chain, folder, lambda number: None, np.random.default_rng(0))
            wrong = chain.wrong or broken_promises(folder, kind)
            assert not wrong, wrong
            self.whole[kind], self.seconds[kind] = form(folder), time.perf_counter() - begun
            self.n_events[kind] = progress(folder)
            shutil.rmtree(folder)
        return self.whole[kind]

    def chain(self, kind: str, moment: Moment, number: int, most_kills: int) -> Chain:
        """Run one chain; after ``most_kills`` it is let go on to its end."""
        expected = self.reference(kind)
        chain, begun = Chain(kind, moment, number), time.perf_counter()
        seed = [list(STUDIES).index(kind), list(SHARES).index(moment), number]
        rng, folder = np.random.default_rng(seed), self.base / "chain"
        forget_served()
        if moment == "disk full":
            chain = on_a_small_disk(self.base, chain, expected, rng, most_kills)
        else:
            arm = Arm(moment, rng, folder, most_kills, self.seconds[kind])
            carry(chain, folder, arm, rng)
            check(chain, folder, expected)
        shutil.rmtree(folder, ignore_errors=True)
        chain.n_left_running = left_running()
        chain.seconds = round(time.perf_counter() - begun, 1)
        return chain


def disarm() -> None:
    """Let passes live: what the last chain had set would be inherited by them."""
    STORES["sqlite"] = SqliteStore
    if hasattr(LIBC, "dying_arm"):
        LIBC.dying_arm(0, 0)


class Arm:
    """Says when the next pass is to die; returns seconds where the parent is to kill it.

    Boundaries are taken in turn: the next pass dies at its first append (flush, write); where nothing was recorded for
    good since the last pass, at its second, and so on.
    """

    def __init__(
        self,
        moment: Moment,
        rng: np.random.Generator,
        folder: Path,
        most_kills: int,
        seconds: float,
    ) -> None:
        self.moment, self.rng, self.folder, self.most, self.seconds = (
            moment,
            rng,
            folder,
            most_kills,
            seconds,
        )
        self.deadline, self.done, self.n_stuck = 0, -1, 0

    def __call__(self, number: int) -> float | None:
        """Before pass ``number``; called in the parent, and what it sets is inherited by the pass."""
        disarm()
        if number >= self.most:
            return None
        done = progress(self.folder)
        self.n_stuck = self.n_stuck + 1 if done == self.done else 0
        self.done = done
        if self.moment in ("before an append", "after an append"):
            STORES["sqlite"] = MortalStore
            MortalStore.after, MortalStore.n_appended = self.moment == "after an append", 0
            MortalStore.deadline = self.n_stuck + 1
        elif self.moment == "any time":
            return float(self.rng.uniform(0.02, self.seconds * (0.4 + 0.1 * self.n_stuck)))
        return None

    def in_child(self) -> None:
        """The rest, in the pass itself."""
        if self.moment == "at a flush":
            # Artifacts take two flushes each, so that a step has several; stuck passes go further.
            LIBC.dying_arm(
                int(self.rng.choice(FLUSHES)), int(self.rng.integers(1, 10 + 4 * self.n_stuck))
            )
        elif self.moment == "in a write":
            LIBC.dying_arm(TORN, int(self.rng.integers(1, 25 + 10 * self.n_stuck)))


def carry(
    chain: Chain, folder: Path, arm: Callable[[int], float | None], rng: np.random.Generator
) -> None:
    """Pass after pass, each in a process of its own, until the campaign has ended."""
    waited = False
    for _ in range(MOST_PASSES):
        kill_after_s = arm(chain.n_kills)
        armed = isinstance(arm, Arm) and chain.n_kills < arm.most
        ended = one_pass(chain.kind, folder, waited, arm if armed else None, kill_after_s, rng)  # type: ignore[arg-type]
        chain.n_passes += 1
        if ended == -signal.SIGKILL:
            chain.n_kills += 1
        elif ended == CONCLUDED and not waited:
            return
        elif ended == WAITING:
            waited = True
        elif waited and ended == CONCLUDED:
            waited = False
        else:
            chain.wrong.append(f"pass {chain.n_passes} ended with status {ended}")
            return
    chain.wrong.append(f"no end after {MOST_PASSES} passes")


def one_pass(
    kind: str,
    folder: Path,
    page: bool,
    arm: Arm | None,
    kill_after_s: float | None,
    rng: np.random.Generator,
    *,
    killed_when_full: bool = False,
) -> int:
    """A process that carries the campaign on, or in which people answer; its exit status, negative for a signal."""
    seed = int(rng.integers(2**63))
    child = os.fork()
    if child == 0:
        status = BROKEN
        try:
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            os.environ.pop("LD_PRELOAD", None)
            if arm is not None:
                arm.rng = np.random.default_rng(seed)
                arm.in_child()
            if page:
                answer_the_page(folder)
                status = CONCLUDED
            else:
                status = begin_or_go_on(kind, folder)
        except BaseException as error:
            status = FULL if any(word in repr(error) for word in DISK_WORDS) else BROKEN
            if status == BROKEN:
                traceback.print_exc()
            elif killed_when_full:
                os.kill(os.getpid(), signal.SIGKILL)  # nothing is closed
        finally:
            os._exit(status)
    deadline = time.monotonic() + (PASS_S if kill_after_s is None else kill_after_s)
    while True:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status)
        if time.monotonic() > deadline:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            return -signal.SIGKILL if kill_after_s is not None else BROKEN
        time.sleep(0.004)


def check(chain: Chain, folder: Path, expected: str) -> None:
    """What must be true of a campaign that was killed and has ended."""
    if chain.wrong:
        return
    if form(folder) != expected:
        chain.wrong.append(
            "the canonical form is not that of the campaign that was not interrupted"
        )
    chain.wrong += [f"{item.name}: {item.detail}" for item in verify(folder, RECORD_TYPES).failures]
    chain.wrong += broken_promises(folder, chain.kind)


def on_a_small_disk(
    base: Path, chain: Chain, expected: str, rng: np.random.Generator, most: int
) -> Chain:
    """A chain whose passes find little room, in a process with a file system of its own; every second is killed there.

    After each, the room is given back, and the journal must verify as far as it goes.
    """
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.close(reading)
            disk = base / "disk"
            disk.mkdir(exist_ok=True)
            mount_memory(disk)
            run_on(disk, chain, expected, rng, most)
        except BaseException:
            chain.wrong.append(traceback.format_exc(limit=3))
        finally:
            os.write(writing, json.dumps(asdict(chain)).encode())
            os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as answer:
        told = answer.read()
    os.waitpid(child, 0)
    return Chain(**json.loads(told))


def mount_memory(disk: Path) -> None:
    """Mount a file system in memory at ``disk``, for this process and its children only."""
    uid, gid = os.getuid(), os.getgid()
    flags = CLONE_NEWNS | (CLONE_NEWUSER if uid else 0)
    if LIBC.unshare(flags):
        raise OSError(ctypes.get_errno(), "no namespace for a small disk")
    if uid:
        Path("/proc/self/setgroups").write_text("deny", encoding="utf-8")
        Path("/proc/self/uid_map").write_text(f"0 {uid} 1", encoding="utf-8")
        Path("/proc/self/gid_map").write_text(f"0 {gid} 1", encoding="utf-8")
    private = 1 << 18 | 1 << 14
    if LIBC.mount(b"none", b"/", None, private, None):
        raise OSError(ctypes.get_errno(), "mounts cannot be made private")
    if LIBC.mount(b"tmpfs", str(disk).encode(), b"tmpfs", 0, f"size={DISK_BYTES}".encode()):
        raise OSError(ctypes.get_errno(), "no file system in memory")


def run_on(disk: Path, chain: Chain, expected: str, rng: np.random.Generator, most: int) -> None:
    """Pass after pass with less room than it needs, up to the end."""
    folder, ballast, waited = disk / "run", disk / "ballast", False
    n_stuck, done = 0, -1
    for _ in range(MOST_PASSES):
        now = progress(folder)
        n_stuck, done = (n_stuck + 1 if now == done else 0), now
        room = 0
        if chain.n_full + chain.n_kills < most:
            room = int(rng.integers(4, 60 + 60 * n_stuck)) * 1024
            free = os.statvfs(disk)
            with ballast.open("wb") as file:
                os.posix_fallocate(file.fileno(), 0, max(free.f_bavail * free.f_frsize - room, 1))
        killed = bool(chain.n_passes % 2)
        ended = one_pass(chain.kind, folder, waited, None, None, rng, killed_when_full=killed)
        ballast.unlink(missing_ok=True)
        chain.n_passes += 1
        if ended in (FULL, -signal.SIGKILL):
            chain.n_full += ended == FULL
            chain.n_kills += ended != FULL
            if (
                (folder / JOURNAL_FILE).exists()
                and (folder / JOURNAL_FILE).stat().st_size
                and now > 0
            ):
                chain.wrong += [
                    f"full: {item.name}: {item.detail}"
                    for item in verify(folder, RECORD_TYPES).failures
                ]
        elif ended == WAITING:
            waited = True
        elif ended == CONCLUDED and waited:
            waited = False
        elif ended == CONCLUDED:
            check(chain, folder, expected)
            return
        else:
            chain.wrong.append(
                f"pass {chain.n_passes} with {room} bytes of room ended with status {ended}"
            )
            return
        if chain.wrong:
            return
    chain.wrong.append(f"no end after {MOST_PASSES} passes")


def left_running() -> int:
    """Processes that killed passes left; they come to this one, and are waited for up to 5 s."""
    until = time.monotonic() + 5
    while time.monotonic() < until:
        try:
            if os.waitpid(-1, os.WNOHANG)[0] == 0:
                time.sleep(0.05)
        except ChildProcessError:
            return 0
    children = Path(f"/proc/self/task/{os.getpid()}/children").read_text(encoding="utf-8").split()
    for child in children:
        os.kill(int(child), signal.SIGKILL)
    return len(children)


def summary(chains: list[dict[str, Any]]) -> dict[str, Any]:
    """Kills by kind and moment, and whether all was well."""
    kinds = {}
    for kind in STUDIES:
        own = [chain for chain in chains if chain["kind"] == kind]
        if not own:
            continue
        by_moment = Counter[str]()
        for chain in own:
            by_moment[chain["moment"]] += chain["n_kills"] + chain["n_full"]
        kinds[kind] = {
            "n_kills": sum(by_moment.values()),
            "by_moment": dict(by_moment),
            "n_chains": len(own),
            "n_passes": sum(chain["n_passes"] for chain in own),
            "n_chains_with_something_wrong": sum(bool(chain["wrong"]) for chain in own),
            "n_processes_left_running": sum(chain["n_left_running"] for chain in own),
        }
    return kinds


def preloaded(base: Path) -> None:
    """Start this program anew with the library that counts flushes and writes."""
    if os.environ.get("DYING_LOADED"):
        return
    library = base / "dying.so"
    source = Path(__file__).with_name("dying.c")
    done = subprocess.run(
        ["cc", "-O2", "-shared", "-fPIC", "-o", str(library), str(source), "-ldl"], check=False
    )
    extra = {"LD_PRELOAD": str(library)} if done.returncode == 0 else {}
    os.execve(
        sys.executable,
        [sys.executable, str(RUNNER), "traces/crash", *sys.argv[1:]],
        {**os.environ, **extra, "DYING_LOADED": str(base)},
    )


def main() -> None:
    """Run the chains that are missing and write every one of them down."""
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("--kills", type=int, default=300, help="of each kind of campaign")
    options.add_argument("--minutes", type=float, default=600.0)
    options.add_argument("--kinds", nargs="*", default=list(STUDIES), choices=list(STUDIES))
    options.add_argument("--fresh", action="store_true", help="forget earlier chains")
    options.add_argument(
        "--out", type=Path, default=ROOT / "benchmarks" / "raw" / "traces" / "crash.json"
    )
    chosen = options.parse_args()
    os.environ.update(OPENBLAS_NUM_THREADS="1", OMP_NUM_THREADS="1")
    preloaded(Path(tempfile.mkdtemp(prefix="lakatos-crash-")))
    base = Path(os.environ["DYING_LOADED"])
    os.environ["LAKATOS_HOME"] = str(base / "home")
    LIBC.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    moments = [
        moment
        for moment in SHARES
        if hasattr(LIBC, "dying_arm") or moment not in ("at a flush", "in a write")
    ]
    kept = chosen.out.exists() and not chosen.fresh
    chains: list[dict[str, Any]] = json.loads(chosen.out.read_text())["chains"] if kept else []
    harness, until = Harness(base), time.monotonic() + 60 * chosen.minutes
    for moment in moments * 50:
        for kind in chosen.kinds:
            own = [chain for chain in chains if (chain["kind"], chain["moment"]) == (kind, moment)]
            missing = round(SHARES[moment] * chosen.kills) - sum(
                chain["n_kills"] + chain["n_full"] for chain in own
            )
            if missing <= 0 or time.monotonic() > until:
                continue
            chain = harness.chain(kind, moment, len(own), missing)
            chains.append(asdict(chain))
            print(json.dumps({**chains[-1], "load": os.getloadavg()[0]}), flush=True)
            write(chosen.out, chains, harness)
    shutil.rmtree(base)
    print(json.dumps(summary(chains), indent=1))
    sys.exit(1 if any(chain["wrong"] for chain in chains) else 0)


def write(out: Path, chains: list[dict[str, Any]], harness: Harness) -> None:
    """The result so far."""
    result = {
        **provenance(),
        "kinds": summary(chains),
        "n_kills": sum(chain["n_kills"] + chain["n_full"] for chain in chains),
        "all_well": not any(chain["wrong"] for chain in chains),
        "studies": {kind: described(kind) for kind in harness.whole},
        "n_results_and_answers": harness.n_events,
        "chains": chains,
    }
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
