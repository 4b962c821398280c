"""The toolbox: what a model asks for is checked, and told what it could have asked."""

import json
from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from lakatos.language_models.client import FrozenPart, ToolCall
from lakatos.language_models.errors import ToolboxError
from lakatos.language_models.tool import (
    CallRefusal,
    PreparedCall,
    Toolbox,
    as_json,
    call_digest,
    closest,
    mention,
    shown,
)
from lakatos.traces.errors import RecordError


class Range(FrozenPart):
    lowest: float
    highest: float


class SimulateArguments(FrozenPart):
    theory: str
    n_people: int = 10
    kind: Literal["declared", "learned"] = "declared"
    probability: Range | None = None


class Simulate:
    name = "simulate"
    description = "Simulate people."
    arguments = SimulateArguments
    effects = frozenset({"computes"})

    def costs(self, arguments):
        return {}

    async def call(self, arguments):
        return {"mean": 0.25}


class Compare(Simulate):
    name = "compare"


BOX = Toolbox([Simulate(), Compare()])


def prepare(arguments, name="simulate"):
    text = arguments if isinstance(arguments, str) else json.dumps(arguments)
    return BOX.prepare(ToolCall(call_id="a", name=name, arguments=text))


def test_valid_arguments_are_completed_with_defaults():
    found = prepare({"theory": "prospect", "probability": {"lowest": 0, "highest": 1}})
    assert isinstance(found, PreparedCall)
    assert found.values == {
        "theory": "prospect",
        "n_people": 10,
        "kind": "declared",
        "probability": {"lowest": 0.0, "highest": 1.0},
    }
    assert (
        found.digest
        == prepare({"probability": {"highest": 1.0, "lowest": 0.0}, "theory": "prospect"}).digest
    )
    assert found.digest == call_digest("simulate", found.values)


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ({"theory": "a", "n_poeple": 3}, r"no argument 'n_poeple'; the closest are n_people\."),
        ({"theory": "a", "zzz": 3}, r"no argument 'zzz'; there are theory, n_people, kind, probability\."),
        (
            {"theory": "a", "probability": {"lowest": 0, "higest": 1, "highest": 1}},
            "'probability.higest'; the closest are highest",
        ),
        ({}, "theory: Field required"),
        ({"theory": "a", "n_people": "3"}, "n_people: Input should be a valid integer"),
        ({"theory": "a", "n_people": 3.5}, "n_people"),
        ({"theory": "a", "n_people": True}, "n_people"),
        ({"theory": "a", "kind": "learnt"}, r"closest to 'learnt': learned"),
        ("", "not a JSON object"),
        ("{", "not a JSON object"),
        ("[1]", "it is no object"),
        ("3", "it is no object"),
        ('{"theory": "a", "theory": "b"}', "a name is given twice"),
        ('{"theory": "a", "n_people": NaN}', "NaN is not JSON"),
        ('{"theory": "a", "probability": {"lowest": 0, "highest": 1e400}}', "Out of range"),
        ("[" * 60_000, "nested too deeply"),
        ('{"theory": "' + "a" * 100_001 + '"}', "characters"),
        ('{"theory": "\\ud800"}', "refused|not a JSON object"),
    ],
)  # fmt: skip
def test_invented_or_malformed_arguments_are_refused_with_what_would_be_valid(arguments, problem):
    found = prepare(arguments)
    assert isinstance(found, CallRefusal)
    assert found.outcome == "bad_arguments"
    with pytest.raises(AssertionError, match=problem):
        raise AssertionError(found.reason)


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("simulte", "the closest are simulate"),
        ("Simulate", "the closest are simulate"),
        ("rm", "there are simulate, compare"),
    ],
)
def test_an_unknown_tool_is_refused_with_the_closest(name, hint):
    found = prepare({}, name)
    assert isinstance(found, CallRefusal)
    assert (found.outcome, hint in found.reason) == ("unknown_tool", True)


@given(st.text(max_size=300), st.text(max_size=300))
def test_whatever_a_model_writes_is_prepared_or_refused(name, arguments):
    found = BOX.prepare(ToolCall(call_id="", name=name, arguments=arguments))
    assert isinstance(found, CallRefusal)
    again = prepare(arguments)
    assert isinstance(again, CallRefusal)
    assert len(again.reason) < 2000


def test_a_toolbox_offers_schemas_that_allow_nothing_else():
    offers = BOX.offers
    assert [offer.name for offer in offers] == ["simulate", "compare"]
    assert offers[0].parameters["additionalProperties"] is False
    assert offers[0].parameters["$defs"]["Range"]["additionalProperties"] is False


class Loose(BaseModel):
    anything: int


class Nested(FrozenPart):
    inner: Loose


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"name": "a b"}, "cannot name a tool"),
        ({"name": ""}, "cannot name a tool"),
        ({"arguments": Loose}, "Loose in the arguments of tool 'simulate' takes fields"),
        ({"arguments": Nested}, "Loose in the arguments"),
    ],
)
def test_a_tool_that_could_be_misunderstood_is_not_offered(change, problem):
    tool = type("Changed", (Simulate,), change)()
    with pytest.raises(ToolboxError, match=problem):
        Toolbox([tool])


def test_two_tools_of_one_name_are_refused():
    with pytest.raises(ToolboxError, match="two tools are called 'simulate'"):
        Toolbox([Simulate(), Simulate()])


REFERENCE = "ab12" * 16


@given(
    st.lists(st.floats(allow_nan=False, allow_infinity=False), max_size=40),
    st.integers(min_value=1, max_value=200),
)
def test_a_bounded_result_never_shows_a_number_that_is_not_there(values, limit):
    text = shown(values, REFERENCE, limit)
    whole = json.dumps(values)
    if len(whole) <= limit:
        assert text == whole
        return
    start, note = text.rsplit("\n", 1)
    assert whole.startswith(start)
    assert len(start) <= limit
    tokens = start.replace("[", " ").replace("]", " ").replace(",", " ").split()
    assert all(token in map(json.dumps, values) for token in tokens)
    assert mention(REFERENCE) in note


def test_a_short_text_is_shown_as_it_is():
    assert shown("done", REFERENCE, 10) == "done"
    assert mention(REFERENCE) == "#ab12ab12ab12"


def test_results_are_json_or_an_error():
    assert as_json(Range(lowest=0, highest=1)) == {"lowest": 0.0, "highest": 1.0}
    with pytest.raises(RecordError):
        as_json({"a": float("nan")})


def test_closest_puts_the_best_first():
    assert closest("compar", ["simulate", "compare", "company"])[0] == "compare"
    assert closest("x", ["simulate"]) == []
