"""A small campaign of calls in a process of its own, which can be made to die at any write.

Usage: campaign.py FOLDER BASE_URL [before|after N]    kill -9 before or after the N-th append of this process
"""

import asyncio
import sys
from pathlib import Path
from typing import Literal

from lakatos.language_models.call import ModelCaller
from lakatos.language_models.client import ChatMessage, ModelRequest, TokenSampling
from lakatos.language_models.ledger import Budget, BudgetLedger
from lakatos.language_models.limit import RetryPolicy
from lakatos.language_models.record import RECORDS
from lakatos.language_models.settings import ModelSettings, Price
from lakatos.traces.digest import Digest
from lakatos.traces.record import Record
from lakatos.traces.step import JOURNAL_FILE, StepContext, Trace

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "traces"))
from mortal import die_when

N_CALLS = 3


class Counted(Record):
    kind: Literal["counted"] = "counted"
    version: Literal[1] = 1
    n_tokens: int
    inside: Digest
    """A call that was made inside this step."""


TYPES = {**RECORDS, "counted": Counted}


def question(number: int) -> ModelRequest:
    said = ChatMessage(role="user", content=f"Question {number}: what do people choose?")
    return ModelRequest(messages=(said,), sampling=TokenSampling(max_tokens=20))


async def run(folder: Path, base_url: str) -> None:
    begun = (folder / JOURNAL_FILE).exists()
    trace = Trace.open(folder, TYPES) if begun else Trace.create(folder, seed=5, types=TYPES)
    settings = ModelSettings(
        name="small",
        base_url=base_url,
        model="rehearsal",
        price=Price(input=1.0, cached_input=0.1, output=4.0),
    )
    ledger = BudgetLedger.of(Budget(requests=1000), trace.journal.events())
    caller = ModelCaller.of(settings, trace, ledger, retry=RetryPolicy(first_wait_s=0.001))
    called = await asyncio.gather(
        *(
            caller.ask(question(number), role="advocate", position={"number": number})
            for number in range(N_CALLS)
        )
    )

    async def count(context: StepContext) -> Counted:
        inner = await caller.ask(question(99), role="arbiter", position={"within": context.key})
        total = sum(item.record.n_completion_tokens for item in (*called, inner))
        return Counted(n_tokens=total, inside=inner.digest)

    await trace.step("count", count, returns=Counted, inputs=[item.digest for item in called])
    trace.close()


if __name__ == "__main__":
    die_when(sys.argv[3:])
    asyncio.run(run(Path(sys.argv[1]), sys.argv[2]))
