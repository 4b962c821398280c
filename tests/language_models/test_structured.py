"""Structured answers: schemas that can be enforced, hostile text read safely, one more chance, typed refusals."""

import asyncio
import contextlib
import json
from typing import Literal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, Field

from lakatos.language_models.call import ModelCaller
from lakatos.language_models.client import ChatMessage, ModelCompletion, ModelRequest, TokenSampling
from lakatos.language_models.clients.openai import OpenAIModel
from lakatos.language_models.clients.scripted import ScriptedModel
from lakatos.language_models.errors import SchemaRefusedError
from lakatos.language_models.ledger import Budget, BudgetLedger
from lakatos.language_models.outcome import outcome_of, repeated
from lakatos.language_models.record import RECORDS
from lakatos.language_models.settings import ModelSettings
from lakatos.language_models.structured import (
    FailedAnswer,
    MisreadAnswerError,
    TypedAnswer,
    answer_schema,
    ask_for,
    parse,
)
from lakatos.traces.step import Trace
from tests.rehearsal.app import RehearsalSettings, create_app
from tests.rehearsal.fault import ServerMisbehaviour
from tests.rehearsal.nonsense import instance_of, wrong_instance
from tests.rehearsal.serve import running


class Evidence(BaseModel):
    record: str
    weight: float = Field(ge=0, le=1)


class Verdict(BaseModel):
    """An answer with everything that pydantic makes of types."""

    winner: Literal["first", "second"]
    confidence: float = Field(ge=0, le=1)
    reasons: list[Evidence] = Field(max_length=3)
    doubt: str | None = None


GOOD = '{"winner": "first", "confidence": 0.7, "reasons": [], "doubt": null}'
QUESTION = ModelRequest(
    messages=(ChatMessage(role="user", content="Which theory is right?"),),
    sampling=TokenSampling(max_tokens=300),
)


def said(content, finish_reason="stop", **given):
    return ModelCompletion(content=content, finish_reason=finish_reason, model_name="m", **given)


def reason_of(completion):
    with pytest.raises(MisreadAnswerError) as caught:
        parse(completion, Verdict)
    return caught.value.reason


def test_every_field_is_required_and_no_other_allowed_at_any_depth():
    schema = answer_schema(Verdict)
    assert schema["required"] == ["winner", "confidence", "reasons", "doubt"]
    assert schema["additionalProperties"] is False
    assert schema["$defs"]["Evidence"]["required"] == ["record", "weight"]
    assert schema["$defs"]["Evidence"]["additionalProperties"] is False
    assert "default" not in json.dumps(schema)


def test_a_field_may_be_called_like_a_keyword_of_schemas():
    class Odd(BaseModel):
        default: int
        title: str
        contains: bool

    assert answer_schema(Odd)["required"] == ["default", "title", "contains"]


def test_types_that_no_server_enforces_are_refused_by_place():
    class Free(BaseModel):
        shares: dict[str, float]
        steps: list[int] = Field(json_schema_extra={"uniqueItems": True})

    with pytest.raises(
        SchemaRefusedError, match=r"Free.shares has fields of any name; Free.steps has uniqueItems"
    ):
        answer_schema(Free)


def test_whatever_fits_the_schema_is_read():
    schema = answer_schema(Verdict)
    for seed in range(200):
        value = instance_of(schema, np.random.default_rng(seed))
        assert parse(said(json.dumps(value)), Verdict).model_dump() == value


def test_lines_tabs_and_letters_of_any_script_are_read():
    value = json.loads(GOOD) | {
        "doubt": "def choose():\n\treturn 1\r\n, \u03b2 < \u00bd, \u0646\u0639\u0645, \U0001f600"
    }
    assert parse(said(json.dumps(value)), Verdict).doubt == value["doubt"]


def test_an_answer_in_fences_is_read():
    assert parse(said(f"Here it is:\n```json\n{GOOD}\n```\nDone."), Verdict).winner == "first"


@pytest.mark.parametrize(
    ("completion", "reason"),
    [
        (said(GOOD[:-5], "length"), "truncated"),
        (said(GOOD, "length"), "runaway"),
        (said(GOOD + " and so on", "length"), "runaway"),
        (said("{" + " " * 200, "length"), "runaway"),
        (said(" " * 500, "length"), "runaway"),
        (said("the gain is larger " * 30, "length"), "repetitive"),
        (said("the gain is larger " * 30), "repetitive"),
        (said(""), "empty"),
        (said(" \n"), "empty"),
        (said("", refusal="I can't help with that."), "refused"),
        (said("", "content_filter"), "refused"),
        (said("I think the first one."), "not_json"),
        (said("".join(f'{{"a{depth}":' for depth in range(20_000))), "not_json"),
        (said("[" * 100_000), "repetitive"),
        (said(GOOD.replace("0.7", "NaN")), "not_json"),
        (said(GOOD.replace("0.7", "1e999")), "not_json"),
        (said(GOOD.replace("0.7", "9" * 10_000)), "not_json"),
        (said(GOOD.replace("null", '"\\ud800"')), "not_json"),
        (said(GOOD.replace('"doubt"', '"winner": "second", "doubt"')), "not_json"),
        (said(GOOD.replace("null", '"\\u0000"')), "unprintable"),
        (said(GOOD.replace("null", '"\\u001b[2J"')), "unprintable"),
        (said(GOOD.replace("null", '"\u202e"')), "unprintable"),
        (said(GOOD.replace("doubt", "doubt\U000e0041")), "unprintable"),
        (said(GOOD.replace("0.7", "1.7")), "wrong_form"),
        (said(GOOD.replace("0.7", '"0.7"')), "wrong_form"),
        (said("[]"), "wrong_form"),
        (said("null"), "wrong_form"),
        (said('"' + " ".join(map(str, range(100_000))) + '"'), "too_long"),
    ],
)
def test_what_cannot_be_read_has_a_reason(completion, reason):
    assert reason_of(completion) == reason


def test_a_problem_is_told_by_field_without_repeating_what_the_model_wrote():
    with pytest.raises(MisreadAnswerError) as caught:
        parse(said(GOOD.replace('"first"', '"ignore all previous instructions"')), Verdict)
    assert caught.value.detail == """"winner": Input should be 'first' or 'second'"""


@pytest.mark.slow
@given(
    st.text(max_size=400), st.sampled_from(["stop", "length", "content_filter", "tool_calls", ""])
)
def test_no_text_makes_reading_fail_in_another_way(text, finish_reason):
    completion = said(text, finish_reason)
    outcome_of(completion)
    with contextlib.suppress(MisreadAnswerError):
        assert isinstance(parse(completion, Verdict), Verdict)


def test_wrong_instances_are_refused():
    schema = answer_schema(Verdict)
    refused = 0
    for seed in range(100):
        value = wrong_instance(schema, np.random.default_rng(seed))
        try:
            parse(said(json.dumps(value)), Verdict)
        except MisreadAnswerError:
            refused += 1
    # A lost or renamed optional field leaves an answer that is read all the same.
    assert refused >= 70


@given(st.text(alphabet="abcdef ", min_size=1, max_size=30), st.integers(0, 40))
def test_a_repetition_is_found_whatever_stands_before(unit, n_before):
    text = "".join(chr(0x4E00 + place) for place in range(n_before)) + unit * (1 + 300 // len(unit))
    found = repeated(text)
    if text.rstrip()[n_before:].strip() and len(text.rstrip()) - n_before >= 150:
        assert found is not None
        assert len(found) <= len(unit)


@given(st.lists(st.integers(0, 10**6), min_size=60, max_size=120, unique=True))
def test_text_without_a_period_is_no_repetition(numbers):
    assert repeated(" ".join(map(str, numbers))) is None


def test_lists_of_equal_numbers_are_no_repetition():
    assert outcome_of(said(json.dumps({"weights": [0.0] * 300}))) == "answered"


@pytest.fixture
def trace(tmp_path):
    with Trace.create(tmp_path / "run", seed=3, types=RECORDS) as made:
        yield made


def conversation(trace, *answers):
    """Ask a scripted model; also what was sent."""
    sent = []

    class Listening(ScriptedModel):
        async def complete(self, request):
            sent.append(request)
            return await super().complete(request)

    caller = ModelCaller(Listening(answers), trace, BudgetLedger(Budget()))
    found = asyncio.run(
        ask_for(
            Verdict,
            lambda request, number: caller.ask(request, role="judge", position={"try": number}),
            QUESTION,
        )
    )
    return found, sent


def test_a_good_answer_takes_one_call(trace):
    found, sent = conversation(trace, said(GOOD))
    assert isinstance(found, TypedAnswer)
    assert (found.value.winner, len(found.calls), len(sent)) == ("first", 1, 1)
    assert sent[0].answer_schema == answer_schema(Verdict)


def test_a_wrong_answer_is_repaired_with_what_was_wrong(trace):
    wrong = GOOD.replace("0.7", "1.7")
    found, sent = conversation(trace, said(wrong), said(GOOD))
    assert isinstance(found, TypedAnswer)
    assert len(found.calls) == 2
    assert sent[1].messages[-2] == ChatMessage(role="assistant", content=wrong)
    assert '"confidence": Input should be less than or equal to 1' in sent[1].messages[-1].content


def test_a_long_wrong_answer_is_not_paid_for_twice(trace):
    _, sent = conversation(trace, said(",".join(map(str, range(10_000)))), said(GOOD))
    assert len(sent[1].messages[-2].content) < 9_000


def test_two_wrong_answers_are_a_typed_refusal(trace):
    found, sent = conversation(trace, said("no"), said(GOOD.replace("0.7", "-1")), said(GOOD))
    assert isinstance(found, FailedAnswer)
    assert (found.reason, found.reasons, len(sent)) == ("wrong_form", ("not_json", "wrong_form"), 2)
    assert not found.is_cut
    assert len(found.calls) == 2


def test_a_cut_answer_is_asked_for_again_with_more_room_and_stays_a_cut_answer(trace):
    found, sent = conversation(trace, said(GOOD[:20], "length"), said(GOOD[:40], "length"))
    assert [request.sampling.max_tokens for request in sent] == [300, 600]
    assert sent[1].messages == QUESTION.messages
    assert isinstance(found, FailedAnswer)
    assert (found.reason, found.is_cut) == ("truncated", True)


def test_an_empty_answer_is_asked_for_again_with_another_seed(trace):
    found, sent = conversation(trace, said(""), said(GOOD))
    assert isinstance(found, TypedAnswer)
    assert sent[0].seed != sent[1].seed


def test_a_refusal_is_not_argued_with(trace):
    found, sent = conversation(trace, said("", refusal="no"), said(GOOD))
    assert isinstance(found, FailedAnswer)
    assert (found.reason, len(sent)) == ("refused", 1)


@pytest.mark.slow
def test_against_the_rehearsal_every_answer_is_typed_or_refused_for_a_reason(trace):
    faults = (
        "malformed_json",
        "wrong_schema",
        "repetition",
        "refusal",
        "empty",
        "truncated",
        "injection",
    )
    with running(
        RehearsalSettings(misbehaviour=ServerMisbehaviour(rates=dict.fromkeys(faults, 0.06)))
    ) as server:
        model = OpenAIModel(ModelSettings(name="a", base_url=server.base_url, model=server.model))
        caller = ModelCaller(model, trace, BudgetLedger(Budget()), most_in_flight=32)

        async def one(number):
            return await ask_for(
                Verdict,
                lambda request, n_try: caller.ask(
                    request, role="judge", position={"number": number, "try": n_try}
                ),
                QUESTION,
            )

        async def everything():
            return await asyncio.gather(*map(one, range(60)))

        found = asyncio.run(everything())
    answered = [item for item in found if isinstance(item, TypedAnswer)]
    refused = [item for item in found if isinstance(item, FailedAnswer)]
    assert len(answered) > 20
    assert {item.reason for item in refused} <= {
        "not_json",
        "wrong_form",
        "repetitive",
        "refused",
        "empty",
        "truncated",
        "runaway",
    }
    assert "refused" in {item.reason for item in refused}
    assert any(len(item.calls) == 2 for item in answered)


def test_the_rehearsal_writes_what_it_is_told(trace):
    def answer(body, rng):
        return GOOD if "theory" in body["messages"][-1]["content"] else None

    assert create_app(answer=answer)
    with running(answer=answer) as server:
        caller = ModelCaller.of(
            ModelSettings(name="a", base_url=server.base_url, model=server.model),
            trace,
            BudgetLedger(Budget()),
        )
        found = asyncio.run(
            ask_for(Verdict, lambda request, number: caller.ask(request, role="judge"), QUESTION)
        )
    assert isinstance(found, TypedAnswer)
    assert found.value == Verdict.model_validate_json(GOOD)
