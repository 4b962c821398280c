"""Types of answers: enforceable, bounded, and turned into what the laboratory works with."""

import json

import numpy as np
import pytest
from pydantic import ValidationError

from lakatos.domains import DOMAINS
from lakatos.experiments.errors import DesignError
from lakatos.experiments.proposal import check_proposal
from lakatos.experiments.task import Stimuli
from lakatos.language_models.structured import answer_schema
from lakatos.theories.discovery.roles.answer import (
    MOST_TRIALS,
    Audit,
    CaseReading,
    Stated,
    Steelman,
    Successor,
    stimuli_of,
    trials_type,
    varied,
)
from lakatos.theories.engine.checks.prediction import PROPERTIES

SPACE = {"validities": [0.9, 0.7, 0.6], "levels": [0, 1, 2]}
DOMAIN = DOMAINS["multiattribute"]
SAMPLE = DOMAIN.candidates(SPACE, np.random.default_rng(0), 30)


@pytest.mark.parametrize("kind", [Audit, CaseReading, Steelman, Successor, trials_type(SAMPLE)])
def test_every_answer_has_a_schema_that_servers_enforce(kind):
    schema = answer_schema(kind)
    assert schema["additionalProperties"] is False
    assert set(schema["required"]) == set(kind.model_fields)


def test_every_property_that_can_be_tried_can_be_stated():
    assert set(Stated.model_json_schema()["properties"]["relation"]["enum"]) == set(PROPERTIES)


def plain(array, row: int):
    """A row as JSON has it: whole numbers without a point where all are whole."""
    whole = (array == np.round(array)).all()
    return np.asarray(array[row], dtype=int if whole else float).tolist()


def trials(rows: list[dict[str, object]]):
    return trials_type(SAMPLE).model_validate_json(
        json.dumps({"reason": "they differ", "trials": rows}), strict=True
    )


def test_trials_come_back_as_the_arrays_of_the_domain_with_what_never_varies_filled_in():
    rows = [{"ratings": np.asarray(SAMPLE["ratings"][row], dtype=int).tolist()} for row in (3, 5)]
    found = stimuli_of(trials(rows), SAMPLE)
    assert found.keys == SAMPLE.take([3, 5]).keys
    assert set(varied(SAMPLE)) == {"ratings"}
    DOMAIN.check(found)
    check_proposal(DOMAIN, SPACE, found)


@pytest.mark.parametrize("name", ["intertemporal", "offers", "multiattribute", "risky"])
def test_any_trial_of_a_domain_can_be_proposed(name):
    domain = DOMAINS[name]
    sample = domain.probes(np.random.default_rng(1))[0]
    rows = [{key: plain(array, row) for key, array in varied(sample).items()} for row in range(3)]
    kind = trials_type(sample)
    found = stimuli_of(
        kind.model_validate_json(json.dumps({"reason": "x", "trials": rows})), sample
    )
    assert found.keys == sample.take([0, 1, 2]).keys


def test_trials_of_another_shape_or_number_are_refused():
    row = {"ratings": plain(SAMPLE["ratings"], 0)}
    beyond, between = {"ratings": [[0, 1, 3], [1, 0, 0]]}, {"ratings": [[0.5, 1, 2], [2, 1, 0]]}
    for rows in (
        [row] * (MOST_TRIALS + 1),
        [{"ratings": [[0, 1], [1, 0]]}] * 2,
        [row, {}],
        [row, beyond],
        [row, between],
    ):
        with pytest.raises(ValidationError):
            trials(rows)


def test_of_what_is_listed_numbers_are_picked_and_of_schedules_exactly_one():
    said = {"reason": "x", "rival": "", "where": []}
    archive, schedules = (
        trials_type(SAMPLE, n_listed=5, sequential=sequential) for sequential in (False, True)
    )
    assert archive.model_validate({**said, "picked": [5, 1]}).numbers == (5, 1)
    assert schedules.model_validate({**said, "picked": [4]}).numbers == (4,)
    ranges = [{"feature": "conflict", "low": 0, "high": 1}]
    for kind, value in (
        (archive, {"picked": [6]}),
        (schedules, {"picked": []}),
        (schedules, {"picked": [1, 2]}),
        (schedules, {"picked": [1], "where": ranges}),
        (archive, {"picked": [1], "trials": []}),
    ):
        with pytest.raises(ValidationError):
            kind.model_validate({**said, **value})


def test_trials_that_a_search_could_not_have_chosen_are_refused():
    twice = stimuli_of(trials([{"ratings": [[0, 1, 2], [2, 1, 0]]}] * 2), SAMPLE)
    with pytest.raises(DesignError, match="is there twice"):
        check_proposal(DOMAIN, SPACE, twice)


def test_where_nothing_varies_everything_is_given():
    same = Stimuli({"amounts": np.ones((3, 2))})
    assert set(varied(same)) == {"amounts"}


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
