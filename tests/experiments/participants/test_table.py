from dataclasses import replace

import numpy as np
import pytest

from lakatos.domains import DOMAINS
from lakatos.experiments.design import design_to_json
from lakatos.experiments.errors import TrialsError
from lakatos.experiments.participants.answers import PersonAnswers
from lakatos.experiments.participants.table import (
    check_answers,
    get_trials,
    put_answers,
    put_table,
    trials_of_people,
)
from lakatos.experiments.task import Design
from lakatos.traces.artifact import ArtifactStore
from lakatos.traces.errors import ArtifactMissingError

DOMAIN = DOMAINS["multiattribute"]
SPACE = {"validities": [0.9, 0.7, 0.6], "levels": [0, 1]}
DESIGN = Design(
    "1.1", DOMAIN.candidates(SPACE, np.random.default_rng(1), 3), repetitions=2, n_participants=2
)
ANSWERS = PersonAnswers(
    experiment="1.1",
    person="ab" * 32,
    status="completed",
    trial=(2, 0, 1, 1, 0, 2),
    response=(0, 1, 1, 0, 1, 1),
    response_time_ms=(),
    feedback={},
    checks=(),
    comprehension_attempts=0,
    consent="",
    language="",
    source="file",
)
OTHER = replace(ANSWERS, person="cd" * 32, trial=(1, 2), response=(1, 1), status="partial")


def test_people_are_numbered_and_keep_their_order_of_trials():
    trials = trials_of_people(DESIGN, [ANSWERS, OTHER], 2)
    assert trials.participant.tolist() == [0] * 6 + [1] * 2
    assert trials.trial.tolist() == [2, 0, 1, 1, 0, 2, 1, 2]
    assert trials.response.tolist() == [0, 1, 1, 0, 1, 1, 1, 1]
    assert (trials.n_people, trials.pooled, trials.experiment) == (2, False, "1.1")


def test_a_table_is_made_of_the_answers_it_names_and_is_gone_with_them(tmp_path):
    artifacts = ArtifactStore(tmp_path)
    design = artifacts.put_json(design_to_json(DESIGN))
    own = [put_answers(artifacts, item, salt) for item, salt in ((ANSWERS, "s"), (OTHER, "t"))]
    table = put_table(artifacts, design, own, 2)
    trials = get_trials(artifacts, table)
    assert trials.to_json() == trials_of_people(DESIGN, [ANSWERS, OTHER], 2).to_json()
    artifacts.erase(own[1])
    with pytest.raises(ArtifactMissingError):
        get_trials(artifacts, table)


def test_a_whole_table_is_read_as_before(tmp_path):
    artifacts = ArtifactStore(tmp_path)
    trials = trials_of_people(DESIGN, [ANSWERS], 2)
    assert get_trials(artifacts, artifacts.put_json(trials.to_json())).to_json() == trials.to_json()


def test_equal_answers_of_two_people_have_different_digests(tmp_path):
    artifacts = ArtifactStore(tmp_path)
    assert put_answers(artifacts, ANSWERS, "one") != put_answers(artifacts, ANSWERS, "two")


def test_answers_as_asked_pass():
    check_answers(ANSWERS, DESIGN, DOMAIN)
    check_answers(OTHER, DESIGN, DOMAIN)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        (
            {"trial": (2, 0, 1, 1, 0, 3)},
            "answer 6: trial 3 was not presented; the design has 0 to 2",
        ),
        ({"response": (0, 1, 2, 0, 1, 1)}, "answer 3: trial 1 has no option 2"),
        (
            {"trial": (2, 2, 1, 1, 0, 2)},
            "answer 6: trial 2 was presented 2 times, and this is response 3",
        ),
        ({"experiment": "2.1"}, "another experiment than '1.1'"),
        ({"feedback": {"reward": (1.0,) * 6}}, "has the feedback reward; this task has none"),
    ],
)
def test_what_was_not_asked_is_refused(changes, words):
    with pytest.raises(TrialsError, match=words):
        check_answers(replace(ANSWERS, **changes), DESIGN, DOMAIN)


def test_steps_of_a_schedule_come_in_order_with_their_feedback():
    domain = DOMAINS["learning"]
    stimuli = domain.candidates({"task": "bandit", "n_steps": 20}, np.random.default_rng(1), 1)
    design = Design("1.1", stimuli, repetitions=1, n_participants=2)
    options = [int(np.flatnonzero(row)[0]) for row in stimuli["available"][:3]]
    feedback = {"reward": (0.0, 1.0, 0.0), "next_state": (0.0, 0.0, 0.0)}
    answers = replace(ANSWERS, trial=(0, 1, 2), response=tuple(options), feedback=feedback)
    check_answers(answers, design, domain)
    with pytest.raises(TrialsError, match="answer 1: steps of a schedule come in order"):
        check_answers(replace(answers, trial=(1, 0, 2)), design, domain)
    with pytest.raises(
        TrialsError, match="has the feedback none; this task has next_state, reward"
    ):
        check_answers(replace(answers, feedback={}), design, domain)
