import json

import numpy as np
import pytest

from lakatos.domains import DOMAINS
from lakatos.experiments.registration import registration, to_markdown
from lakatos.experiments.task import Design
from lakatos.experiments.testing import preregister
from lakatos.traces.digest import digest_of

THEORY = digest_of("a theory")


def made(domain, n_options, source="web", asked=False, earlier=None, **changes):
    task = DOMAINS[domain]
    settings = (
        {"validities": [0.9, 0.7, 0.6], "levels": [0, 1]} if domain == "multiattribute" else {}
    )
    stimuli = task.candidates(settings, np.random.default_rng(1), 2)
    design = Design("2.1", stimuli, repetitions=3, n_participants=20)
    plan = preregister(design).model_copy(update={"rivals": {THEORY: "A | theory"}, **changes})
    n = task.n_options(stimuli)
    assert n == n_options
    shares = np.broadcast_to(np.array([0.5, 0.25, 0.75])[:, None, None], (3, len(stimuli), n))
    arrays = {f"{THEORY}:proportions": shares[:, :, -1], f"{THEORY}:shares": shares}
    about = {
        "record": "r" * 64,
        "study": "a study",
        "question": "Which?",
        "source": source,
        "asked": asked,
        "earlier": earlier,
    }
    return registration(plan, design, task, arrays, **about)


def test_two_options_have_one_share_a_trial():
    value = made("multiattribute", 2)
    assert value["predicted_options"] == ["B"]
    assert [trial["shares"] for trial in value["predictions"]] == [
        {"A | theory": [{"share": 0.5, "low": 0.25, "high": 0.75}]}
    ] * 2
    assert json.loads(json.dumps(value)) == value


def test_of_more_options_every_share_is_there():
    n_options = DOMAINS["offers"].n_options(
        DOMAINS["offers"].candidates({}, np.random.default_rng(1), 2)
    )
    value = made("offers", n_options)
    assert len(value["predicted_options"]) == n_options > 2
    assert all(len(trial["shares"]["A | theory"]) == n_options for trial in value["predictions"])


def test_rules_sample_and_stopping_stand_where_registries_ask_for_them():
    value = made(
        "multiattribute", 2, exclusion_rules=("Fast people are excluded.",), stopping_rule="At noon"
    )
    plan = value["osf_prereg"]
    assert plan["Analysis Plan"]["Data exclusion"] == "Fast people are excluded."
    assert plan["Sampling Plan"]["Stopping rule"] == "At noon"
    assert plan["Sampling Plan"]["Sample size"] == "20 participants with 6 responses each."
    answers = value["as_predicted"]
    assert len(answers) == 9
    assert any("Fast people" in text for text in answers.values())
    assert any("At noon" in text for text in answers.values())


@pytest.mark.parametrize(
    ("source", "words"),
    [("web", "No, no data"), ("archival", "It's complicated. Registration prior to")],
)
def test_whether_data_exist_is_said_as_it_is(source, words):
    value = made("multiattribute", 2, source)
    (first, *_) = value["as_predicted"].values()
    assert first.startswith(words)


def test_the_page_has_a_row_for_every_trial_and_bars_in_names_do_not_break_it():
    lines = to_markdown(made("multiattribute", 2)).splitlines()
    rows = [line for line in lines if line.startswith(("| 1 |", "| 2 |"))]
    assert len(rows) == 2
    assert all(row.endswith("| 0.50 (0.25 to 0.75) |") for row in rows)
    assert any(r"A \| theory" in line for line in lines)


def test_a_text_written_after_people_were_asked_does_not_say_that_there_are_no_data():
    value = made("multiattribute", 2, asked=True)
    text = to_markdown(value)
    assert "no data have been collected" not in text
    assert "There are none." not in text
    assert "no participant has taken part" not in text
    assert text.count("after data collection began") == 2
    assert text.count("None existed when this plan was frozen.") == 1


def test_trials_are_counted_from_one_as_in_the_report() -> None:
    value = made("multiattribute", 2)
    assert [trial["trial"] for trial in value["predictions"]] == [1, 2]


def test_responses_to_earlier_experiments_of_the_study_are_declared() -> None:
    """Responses to experiment 1.1 existed, and theories and parameters came from them."""
    value = made("multiattribute", 2, earlier={"1.1": "2,400 responses of 25 participants"})
    declared = (
        "Responses to earlier experiments of this study existed when this plan was frozen (1.1: 2,400 responses of 25 "
        "participants). Theories could be derived and parameters be estimated from them. No response that this plan "
        "requires was used."
    )
    new = (
        "Registration prior to creation of data: no participant has taken part in this experiment."
    )
    sampling = value["osf_prereg"]["Sampling Plan"]
    assert (sampling["Existing data"], sampling["Explanation of existing data"]) == (new, declared)
    (first, *_) = value["as_predicted"].values()
    assert first == f"It's complicated. {new} {declared}"


@pytest.mark.parametrize("source", ["simulated", "own file"])
def test_no_text_says_that_no_data_existed_after_an_earlier_experiment(source: str) -> None:
    earlier = {"1.1": "2,400 responses of 25 participants"}
    text = to_markdown(made("multiattribute", 2, source, asked=True, earlier=earlier))
    assert text.count("(1.1: 2,400 responses of 25 participants)") == 2
    assert "None existed" not in text
    assert "There are none." not in text
    assert "no data have been collected" not in text


def test_a_plan_without_people_has_no_blinding_and_states_once_whether_data_exist() -> None:
    plan = made("multiattribute", 2, source="simulated", asked=True)["osf_prereg"]
    assert plan["Design Plan"]["Blinding"].startswith(
        "Not applicable, because no person takes part."
    )
    sampling = plan["Sampling Plan"]
    assert sampling["Existing data"].startswith(
        "This text was exported after data collection began"
    )
    assert sampling["Explanation of existing data"] == "None existed when this plan was frozen."
    people = made("multiattribute", 2)["osf_prereg"]["Design Plan"]["Blinding"]
    assert people.startswith("Participants see their own trials and no theory")
