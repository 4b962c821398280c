"""What a study file may say of conditions within participants."""

from __future__ import annotations

from typing import Any

import pytest

from lakatos.experiments.conditions import conditions_of
from lakatos.flows.errors import StudyError
from lakatos.flows.run.study import parse_study
from lakatos.flows.run.task import domain_of

STUDY: dict[str, Any] = {
    "name": "hurry",
    "question": "Does hurry change choices?",
    "domain": "risky",
    "theories": {"seeds": ["expected_value", "expected_utility"]},
    "participants": {"source": "simulated", "theory": "prospect_theory"},
}
PAGE = {"source": "web"}
SAID = {"calm": {"instructions": ["Take your time."]}, "hurried": {"timeout_ms": 3000}}


def study(**changes: Any) -> dict[str, Any]:
    found = {**STUDY, "design": {"conditions": ["calm", "hurried"]}}
    for name, change in changes.items():
        section, _, key = name.partition("__")
        found[section] = {**found.get(section, {}), key: change} if key else change
    return found


def test_the_trials_of_a_study_have_the_conditions_that_it_names() -> None:
    config = parse_study(study(), "x")
    assert conditions_of(domain_of(config)) == ("calm", "hurried")
    page = parse_study(study(participants=PAGE, page={"conditions": SAID}), "x")
    assert page.page.conditions["hurried"].timeout_ms == 3000
    parse_study(study(validation={"effects": "condition"}), "x")


def test_a_study_without_conditions_is_the_study_that_it_was() -> None:
    plain = parse_study(STUDY, "x")
    assert not {"conditions", "blocks"} & set(plain.model_dump()["design"])
    between = parse_study({**STUDY, "participants": PAGE, "page": {"conditions": SAID}}, "x")
    written = between.model_dump()["page"]["conditions"]["calm"]
    assert set(written) == {"share", "instructions", "texts", "timeout_ms", "fixation_ms"}


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"design__conditions": ["calm"]}, "'calm' alone cannot be compared"),
        ({"design__conditions": ["calm", "calm"]}, "two conditions have one name"),
        ({"design__conditions": ["calm", "In a hurry"]}, "'In a hurry' is no name"),
        ({"design__conditions": list("abcdefghi")}, "there are 9 conditions; .* at most 8"),
        ({"design__blocks": 49}, "blocks is 49, and a condition has 48 presentations"),
        ({"design": {"blocks": 2}}, "blocks are of conditions; name these"),
        (
            {
                "domain": "learning",
                "theories": {"seeds": ["random", "rescorla_wagner"]},
                "participants": {"source": "simulated", "theory": "rescorla_wagner"},
                "design__blocks": 2,
            },
            "design.blocks: a schedule is played once in each condition",
        ),
        ({"validation": {"groups": "condition"}}, "give validation.effects = 'condition'"),
        ({"validation": {"effects": "hurry"}}, "nothing called 'hurry' is known .* condition"),
        (
            {
                "design__blocks": 5,
                "confirmation": {"participants": 20, "trials": 2, "repetitions": 2},
            },
            "design.blocks is 5, and a condition of the confirmation has 4 presentations",
        ),
        ({"participants": PAGE}, "design.conditions has 'calm', and nothing says"),
        (
            {"participants": PAGE, "page": {"conditions": {**SAID, "tired": {}}}},
            "page.conditions.tired: there is no such condition .* calm, hurried",
        ),
        (
            {"participants": PAGE, "page": {"conditions": {**SAID, "calm": {"share": 2}}}},
            "page.conditions.calm.share means nothing within",
        ),
        (
            {
                "participants": PAGE,
                "design": {},
                "page": {"conditions": {**SAID, "calm": {"label": "Calm"}}},
            },
            "page.conditions.calm.label means nothing between",
        ),
        (
            {
                "participants": PAGE,
                "page": {"conditions": {**SAID, "calm": {"label": {"de": "Ruhig"}}}},
            },
            "page.conditions.calm: there is no label in 'en'",
        ),
        (
            {"participants": {"source": "archival", "archive": "risky_spektor2024"}},
            "design.conditions means nothing where the source is 'archival'",
        ),
    ],
)
def test_what_conditions_cannot_be_is_said_in_a_sentence(changes: Any, words: str) -> None:
    with pytest.raises(StudyError, match=words):
        parse_study(study(**changes), "x")
