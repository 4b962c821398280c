"""Forged journals: written anew by somebody who has everything but the laboratory's key and the second place of heads.

    python benchmarks/run.py traces/forge                    # 10,000 forgeries: about five minutes on one core
    python benchmarks/run.py traces/forge --forgeries 500

Each takes an honest journal whose heads were signed at its first event, on the way and at its
end, and writes it anew from a random event on (the first in a quarter of the cases), every digest
computed as the laboratory does: times moved, values changed, events dropped, inserted, exchanged,
or the tail cut off. Beside it stay no heads, all, those that still fit, one signed with the
forger's own key, or one without a signature. Found is what fails the check of heads itself; signed
is what the laboratory would sign at its next pass. As many unchanged journals must pass.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import sys
import tempfile
import time
from collections import Counter
from contextlib import suppress
from pathlib import Path
from typing import Any, Literal

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

from forging import forge  # noqa: E402

from benchmarks.provenance import provenance  # noqa: E402
from lakatos.traces.errors import HeadError  # noqa: E402
from lakatos.traces.head import HEADS_FILE, second_place, write_head  # noqa: E402
from lakatos.traces.journal import Journal  # noqa: E402
from lakatos.traces.record import Record  # noqa: E402
from lakatos.traces.step import JOURNAL_FILE, Trace  # noqa: E402
from lakatos.traces.verify import verify  # noqa: E402

N_EVENTS = 24
HEAD_EVERY = 6


class Measured(Record):
    """What the forger would rather have measured."""

    kind: Literal["measured"] = "measured"
    version: Literal[1] = 1
    value: float


TYPES: dict[str, type[Record]] = {"measured": Measured}


class HonestRun:
    """A journal with signed heads, which can be forged and put back."""

    def __init__(self, base: Path) -> None:
        self.folder = base / "run"
        with Trace.create(self.folder, seed=7, types=TYPES) as trace:
            for number in range(N_EVENTS):
                trace.record(
                    Measured(value=number / 3), name="measure", position={"number": number}
                )
                if number % HEAD_EVERY == 0:
                    write_head(self.folder)
        write_head(self.folder)
        with Journal.open(self.folder / JOURNAL_FILE, read_only=True) as journal:
            self.rows = list(journal.store.rows())
        places = (self.folder / JOURNAL_FILE, self.folder / HEADS_FILE, *second_place().iterdir())
        self.good = {path: path.read_bytes() for path in places}
        self.own_key = Ed25519PrivateKey.from_private_bytes(bytes(32))

    def restore(self) -> None:
        """As it was."""
        for suffix in ("-wal", "-shm"):
            (self.folder / (JOURNAL_FILE + suffix)).unlink(missing_ok=True)
        for path in second_place().iterdir():
            if path not in self.good:
                path.unlink()
        for path, data in self.good.items():
            path.write_bytes(data)

    def is_found(self) -> bool:
        """Whether the check of heads fails."""
        return any(check.name == "heads" for check in verify(self.folder, TYPES).failures)

    def is_signed(self) -> bool:
        """Whether the laboratory signs anything for what is there now."""
        before = self._heads()
        with suppress(HeadError):
            write_head(self.folder)
        return self._heads() != before

    def _heads(self) -> list[bytes]:
        places = [self.folder / HEADS_FILE, *sorted(second_place().glob("*.jsonl"))]
        return [path.read_bytes() for path in places if path.exists()]


def try_forgery(run: HonestRun, number: int) -> tuple[str, bool, bool]:
    """Forgery ``number``: what was done, whether it was found, and whether it would be signed."""
    try:
        done = forge(run.folder, run.rows, random.Random(number), run.own_key)
        return done, run.is_found(), run.is_signed()
    finally:
        run.restore()


def main() -> None:
    """Forge, look, and write down what came of it."""
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("--forgeries", type=int, default=10_000)
    options.add_argument(
        "--out", type=Path, default=ROOT / "benchmarks" / "raw" / "traces" / "forge.json"
    )
    chosen = options.parse_args()
    memory = Path("/dev/shm")
    base = Path(tempfile.mkdtemp(prefix="lakatos-forge-", dir=memory if memory.is_dir() else None))
    os.environ["LAKATOS_HOME"] = str(base / "home")
    os.environ.pop("LAKATOS_HEADS", None)
    counts: Counter[str] = Counter()
    missed: list[dict[str, Any]] = []
    n_signed = n_false_alarms = 0
    begun = time.perf_counter()
    try:
        run = HonestRun(base)
        for number in range(chosen.forgeries):
            done, found, signed = try_forgery(run, number)
            counts[done] += 1
            n_signed += signed
            if not found or signed:
                missed.append({"forgery": number, "what": done, "found": found, "signed": signed})
            n_false_alarms += not verify(run.folder, TYPES).ok
    finally:
        shutil.rmtree(base)
    result = {
        **provenance(),
        "n_forgeries": chosen.forgeries,
        "n_found": chosen.forgeries - sum(not item["found"] for item in missed),
        "n_signed": n_signed,
        "n_honest": chosen.forgeries,
        "n_honest_that_fail": n_false_alarms,
        "missed_at_most": 1 - 0.05 ** (1 / chosen.forgeries) if not missed else None,
        "by_kind": dict(sorted(counts.items())),
        "missed": missed[:20],
        "seconds": round(time.perf_counter() - begun, 1),
        "seeds": [0, chosen.forgeries - 1],
    }
    chosen.out.write_text(json.dumps(result, indent=1) + "\n")
    print(
        json.dumps({name: value for name, value in result.items() if name != "by_kind"}, indent=1)
    )
    sys.exit(1 if missed or n_false_alarms else 0)
