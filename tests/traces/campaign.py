"""A small campaign in a process of its own, which can be made to die at any write.

Usage: campaign.py FOLDER [before|after N]    kill -9 before or after the N-th append of this process
"""

import asyncio
import sys
from pathlib import Path
from typing import Literal

from lakatos.traces.digest import Digest
from lakatos.traces.errors import JournalError
from lakatos.traces.record import Record
from lakatos.traces.step import StepContext, Trace

sys.path.insert(0, str(Path(__file__).parent))
from mortal import die_when


class Drawn(Record):
    kind: Literal["drawn"] = "drawn"
    version: Literal[1] = 1
    values: tuple[float, ...]
    arrays: Digest


TYPES = {"drawn": Drawn}
N_STEPS = 4


def draw(context: StepContext) -> Drawn:
    values = context.rng.normal(size=3)
    return Drawn(values=tuple(values), arrays=context.artifacts.put_arrays({"values": values}))


async def run(folder: Path) -> None:
    try:
        trace = Trace.open(folder, TYPES)
    except JournalError:
        trace = Trace.create(folder, seed=11, types=TYPES)
    inputs: tuple[Digest, ...] = ()
    for number in range(N_STEPS):
        recorded = await trace.step(
            "draw", draw, returns=Drawn, inputs=inputs, position={"number": number}
        )
        inputs = (recorded.digest, recorded.record.arrays)
    trace.close()


if __name__ == "__main__":
    die_when(sys.argv[2:])
    asyncio.run(run(Path(sys.argv[1])))
