"""Tool calls in the trace: made once, found again, and shown to a person where a crash leaves it open what they did."""

import asyncio
import json

import pytest

from lakatos.language_models.client import FrozenPart, ToolCall
from lakatos.language_models.errors import ToolError
from lakatos.language_models.tool import PreparedCall, Toolbox, ToolResult, as_json
from lakatos.language_models.tool_record import RECORDS, ToolCalled, TracedTools
from lakatos.traces.errors import StepInterruptedError
from lakatos.traces.step import Trace


class Number(FrozenPart):
    number: float = 1


class Double:
    name, description, arguments, effects = "double", "Doubles.", Number, frozenset({"computes"})

    def costs(self, arguments):
        return {}

    async def call(self, arguments):
        return {"doubled": 2 * arguments.number}


class Pay(Double):
    name, effects = "pay", frozenset({"spends"})


BOX = Toolbox([Double(), Pay()])


@pytest.fixture
def trace(tmp_path):
    with Trace.create(tmp_path / "run", seed=1, types=RECORDS) as found:
        yield found


def ask(trace, name="double", number=3, position=0, fails=False):
    prepared = BOX.prepare(
        ToolCall(call_id="a", name=name, arguments=json.dumps({"number": number}))
    )
    assert isinstance(prepared, PreparedCall)
    n_made = 0

    async def work():
        nonlocal n_made
        n_made += 1
        if fails:
            raise ToolError("the power went off")
        return ToolResult(
            outcome="returned", value=as_json(await prepared.tool.call(prepared.arguments))
        )

    record = TracedTools(trace, {"cycle": 1, "role": "advocate"})
    return *asyncio.run(record(position, prepared, work)), n_made


def test_the_trace_holds_exactly_what_the_tool_returned(trace):
    digest, result, n_made = ask(trace)
    assert (result, n_made) == (ToolResult(outcome="returned", value={"doubled": 6.0}), 1)
    kept = trace.get(digest, ToolCalled)
    assert trace.artifacts.get_json(kept.value) == {"doubled": 6.0}
    assert trace.artifacts.get_json(kept.arguments) == {"number": 3.0}
    assert kept.tool == "double"


def test_a_recorded_call_is_not_made_again_and_another_is(trace):
    digest, result, _ = ask(trace)
    assert ask(trace) == (digest, result, 0)
    assert [ask(trace, number=4)[2], ask(trace, position=1)[2], ask(trace, name="pay")[2]] == [
        1,
        1,
        1,
    ]


def test_a_call_that_only_computes_is_repeated_after_a_crash(trace):
    with pytest.raises(ToolError):
        ask(trace, fails=True)
    assert ask(trace)[2] == 1


def test_a_call_that_spends_is_shown_to_a_person_after_a_crash(trace):
    with pytest.raises(ToolError):
        ask(trace, name="pay", fails=True)
    with pytest.raises(StepInterruptedError, match="effects outside"):
        ask(trace, name="pay")
