from collections.abc import Callable
from pathlib import Path
from typing import Literal

import pytest
from hypothesis import settings

from lakatos.traces.digest import Digest
from lakatos.traces.record import Record, Tombstone
from lakatos.traces.step import Trace

# A test waits for the disk, so how long an example takes says nothing about the code.
settings.register_profile("disk", deadline=None)
settings.load_profile("disk")


class Drawn(Record):
    kind: Literal["drawn"] = "drawn"
    version: Literal[1] = 1
    value: float


class Scored(Record):
    kind: Literal["scored"] = "scored"
    version: Literal[1] = 1
    table: Digest
    total: float


TYPES = {"drawn": Drawn, "scored": Scored}


@pytest.fixture
def trace(tmp_path):
    with Trace.create(tmp_path / "run", seed=7, types=TYPES) as trace:
        yield trace


@pytest.fixture
def drawn() -> type[Drawn]:
    return Drawn


@pytest.fixture
def scored() -> type[Scored]:
    return Scored


@pytest.fixture
def types():
    return TYPES


@pytest.fixture
def filled(tmp_path) -> Callable[[str, int], Path]:
    """Makes a folder with a closed trace: ``n`` draws, a score of each that cites a table, one draw erased."""

    def fill(name: str, n: int) -> Path:
        folder = tmp_path / name
        with Trace.create(folder, seed=7, types=TYPES) as trace:
            for number in range(n):
                draw = trace.record(
                    Drawn(value=number / 3), name="draw", position={"number": number}
                )
                table = trace.artifacts.put_json({"number": number, "text": "x" * 50})
                trace.record(
                    Scored(table=table, total=1.5), name="score", inputs=(draw.digest, table)
                )
            trace.record(
                Tombstone(target=draw.digest, reason="withdrawn"),
                name="erase",
                inputs=(draw.digest,),
            )
        return folder

    return fill
