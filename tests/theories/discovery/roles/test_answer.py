"""Types of answers: enforceable, bounded, and turned into what the laboratory works with."""

import json

import pytest
from pydantic import ValidationError

from lakatos.language_models.structured import answer_schema
from lakatos.theories.discovery.roles.answer import (
    Audit,
    CaseReading,
    Stated,
    Steelman,
    Successor,
)
from lakatos.theories.engine.checks.prediction import PROPERTIES


@pytest.mark.parametrize("kind", [Audit, CaseReading, Steelman, Successor])
def test_every_answer_has_a_schema_that_servers_enforce(kind):
    schema = answer_schema(kind)
    assert schema["additionalProperties"] is False
    assert set(schema["required"]) == set(kind.model_fields)


def test_every_property_that_can_be_tried_can_be_stated():
    assert set(Stated.model_json_schema()["properties"]["relation"]["enum"]) == set(PROPERTIES)


def test_a_citation_is_a_mark_and_a_digest():
    for cite in ("deadbeef", "#dead", "#DEADBEEF", "#deadbeef and more"):
        with pytest.raises(ValidationError):
            Steelman.model_validate(
                {"case": [{"text": "it is so", "cites": [cite]}], "repair": "none"}
            )


@pytest.mark.parametrize(
    ("name", "of"),
    [("option 1", "first"), ("the second option", "second"), ("", ""), ("first", "first")],
)
def test_a_prediction_names_its_option_in_either_form(name, of):
    said = json.dumps({"relation": "increasing", "varied": "reward", "of": name})
    assert Stated.model_validate_json(said, strict=True).of == of


def test_a_prediction_of_an_option_that_there_is_not_is_refused():
    said = json.dumps({"relation": "increasing", "varied": "reward", "of": "option 3"})
    with pytest.raises(ValidationError, match="'first' or 'second'"):
        Stated.model_validate_json(said, strict=True)
