"""Every reader of files from outside, on damaged copies of real files and on any bytes: a value, or a known error."""

from __future__ import annotations

import contextlib
import gzip
import os
import time
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from lakatos.experiments.adoption.describe import describe_table
from lakatos.experiments.adoption.tables import READERS, read_answers, read_cells
from lakatos.experiments.participants.prolific.plan import load_settings
from lakatos.flows.audit.bundle import unbundle
from lakatos.flows.operations.backup import restore, save
from lakatos.flows.operations.carry import read_study
from lakatos.flows.operations.known_errors import known_errors
from lakatos.flows.operations.report_page import run_name
from lakatos.flows.operations.schedule import load_schedules
from lakatos.flows.operations.tasks import examine_task
from lakatos.flows.operations.transfer import read_transfer
from lakatos.flows.run.study import load_study
from lakatos.flows.stages.judging.anchor import read_anchor
from lakatos.language_models.serving.profile import load_profile
from lakatos.theories.language.theory_file import read_theory_file
from tests.flows.small import small_study, write_study

ROOT = Path(__file__).resolve().parent.parent
SECONDS = float(os.environ.get("LAKATOS_FUZZ_SECONDS", "5"))
"""For each reader; 180 and more before a release."""
LONGEST_S = 20.0
ROWS = "subject,trial,ss_amount,ss_delay,ll_amount,ll_delay,choice\r\n" + "\n".join(
    f"s{n % 3},{n},1{n}.5,0,2{n},7,{n % 2}" for n in range(30)
)
NASTY = [
    b"\0", b"\r", b"\n", b"\xff\xfe", b"\xef\xbb\xbf", b"\xed\xa0\x80", b"\x1b[31m", b'"', b"'''", b"[[", b"{" * 40,
    b"(" * 300, b"1e999", b"NaN", b"-0", b"9" * 400, b"../", b"\x00" * 8, b"=cmd()", b"&a [*a,*a]", b"\xe2\x80\xae",
]  # fmt: skip


def plain_table() -> pd.DataFrame:
    return pd.DataFrame({"subject": ["a", "b"] * 8, "choice": [0, 1] * 8, "amount": [1.5] * 16})


def samples(folder: Path) -> dict[str, tuple[str, bytes, Callable[[Path], Any]]]:
    """By name: the end of the file's name, a real file, and the reader."""

    def described(path: Path) -> Any:
        return describe_table(read_answers(path))

    def restored(path: Path) -> Any:
        return restore(path, path.with_name(f"restored-{time.monotonic_ns()}"))

    def unpacked(path: Path) -> Any:
        return unbundle(path, path.with_name(f"unpacked-{time.monotonic_ns()}"))

    frame = plain_table()
    frame.to_parquet(folder / "a.parquet")
    parquet = (folder / "a.parquet").read_bytes()
    found: dict[str, tuple[str, bytes, Callable[[Path], Any]]] = {
        f"answers{suffix}": (suffix, ROWS.encode(), described) for suffix in READERS
    }
    found["answers.json"] = (".json", frame.to_json(orient="records").encode(), described)
    found["answers.jsonl"] = (
        ".jsonl",
        frame.to_json(orient="records", lines=True).encode(),
        described,
    )
    for suffix in (".parquet", ".pq"):
        found[f"answers{suffix}"] = (suffix, parquet, described)
    with contextlib.suppress(ImportError):  # pip install 'lakatos[formats]'
        import pyreadr
        import pyreadstat

        pyreadr.write_rds(str(folder / "a.rds"), frame)
        pyreadr.write_rdata(str(folder / "a.rdata"), frame)
        pyreadstat.write_sav(frame, str(folder / "a.sav"))
        for suffix in (".rds", ".rdata", ".sav"):
            found[f"answers{suffix}"] = (suffix, (folder / f"a{suffix}").read_bytes(), described)
    found["import.csv"] = (".csv", b"participant,trial,choice\na,0,1\nb,1,0\n", read_cells)
    found["import.parquet"] = (".parquet", parquet, read_cells)
    (folder / "runs").mkdir()
    (folder / "runs" / "schedules.json").write_text('{"version": 1, "schedules": {}}')
    save(folder / "runs", folder / "b.tar.gz")
    with zipfile.ZipFile(folder / "b.zip", "w") as archive:
        archive.writestr("manifest.json", '{"format": 1, "files": {}}')
        archive.writestr("manifest.sig", "00")
    task = (ROOT / "studies" / "tasks").glob("*.toml")
    found |= {
        "study": (".toml", write_study(folder).read_bytes(), load_study),
        "study.json": (".json", small_study().model_dump_json().encode(), read_study),
        "task": (".toml", next(iter(sorted(task))).read_bytes(), lambda path: examine_task(str(path))),
        "theory": (".py", b'"""A claim."""\nPARAMETERS = {}\n', read_theory_file),
        "plan": (".toml", b'experiment = "1.1"\ntitle = "a"\npeople = 3\nreward = "1.00"\n', load_settings),
        "anchor": (".json", b'{"parts": {"dev": []}, "hard_cases": []}', read_anchor),
        "anchor.gz": (".json.gz", gzip.compress(b'{"parts": {"dev": []}, "hard_cases": []}'), read_anchor),
        "transfer": (".json", b'{"version": 1, "theory": "a"}', read_transfer),
        "profile": (".toml", b'model = "m"\nport = 8000\n', load_profile),
        "schedules": (".json", b'{"version": 1, "schedules": {"a": {"name": "a"}}}',
                      lambda path: load_schedules(path.rename(path.with_name("schedules.json")).parent)),
        "backup": (".tar.gz", (folder / "b.tar.gz").read_bytes(), restored),
        "bundle": (".zip", (folder / "b.zip").read_bytes(), unpacked),
        "report": (".html", b'<meta name="lakatos-journal" content="1 ' + b"0" * 64 + b' a">', run_name),
    }  # fmt: skip
    return found


NAMES = sorted(
    {
        *(f"answers{suffix}" for suffix in READERS), "import.csv", "import.parquet", "study", "study.json", "task",
        "theory", "plan", "anchor", "anchor.gz", "transfer", "profile", "schedules", "backup", "bundle",
        "report",
    }
)  # fmt: skip


def damaged(data: bytes, rng: np.random.Generator) -> bytes:
    """A copy with a few changes: bytes flipped, removed, repeated, exchanged or put in."""
    if rng.random() < 0.1:
        return bytes(rng.integers(0, 256, rng.integers(0, 300), dtype=np.uint8))
    changed = bytearray(data)
    for _ in range(int(rng.integers(1, 6))):
        at, length = int(rng.integers(0, len(changed) + 1)), int(rng.integers(1, 30))
        kind = rng.integers(0, 5)
        if kind == 0 and at < len(changed):
            changed[at] = int(rng.integers(0, 256))
        if kind == 1:
            del changed[at : at + length]
        if kind == 2:
            changed[at:at] = changed[at : at + length] * int(rng.integers(1, 50))
        if kind == 3:
            changed[at:at] = NASTY[int(rng.integers(0, len(NASTY)))]
        if kind == 4:
            del changed[at:]
    if rng.random() < 0.1:
        return (
            bytes(changed)
            .decode("latin-1")
            .encode(str(rng.choice(["utf-16", "utf-16-le", "utf-32"])))
        )
    return bytes(changed)


def test_every_reader_has_a_name(tmp_path: Path) -> None:
    assert set(samples(tmp_path)) == set(NAMES)


@pytest.mark.long
@pytest.mark.parametrize("name", NAMES)
def test_any_bytes_are_read_or_refused_with_a_known_error(name: str, tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    suffix, data, reader = samples(tmp_path / "real")[name]
    real = tmp_path / f"real{suffix}"
    real.write_bytes(data)
    with contextlib.suppress(*known_errors()):
        reader(real)  # libraries are loaded before anything is timed
    rng, end, number = np.random.default_rng(hash(name) % 2**32), time.monotonic() + SECONDS, 0
    while time.monotonic() < end:
        number += 1
        place = tmp_path / "damaged"
        place.mkdir(exist_ok=True)
        path = place / f"file{number}{suffix}"
        path.write_bytes(changed := damaged(data, rng))
        begun = time.monotonic()
        try:
            reader(path)
        except known_errors():
            pass
        except Exception as error:
            kept = Path(os.environ.get("LAKATOS_FUZZ_KEEP", tmp_path)) / f"found-{name}{suffix}"
            kept.write_bytes(changed)
            raise AssertionError(f"{kept}: {type(error).__name__}: {error}") from error
        assert time.monotonic() - begun < LONGEST_S, changed[:200]
        path.unlink(missing_ok=True)
