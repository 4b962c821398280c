from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from lakatos.domains import DOMAINS
from lakatos.experiments.design import design_from_json
from lakatos.experiments.task import Stimuli
from lakatos.flows.commands.main import app
from lakatos.flows.errors import StudyError
from lakatos.flows.operations.first_design import preview_design
from lakatos.flows.run.run import read_state
from lakatos.flows.start import run_study

sys.path.insert(0, str(Path(__file__).parent))
from small import small_study, write_study

MULTI = DOMAINS["multiattribute"]


def risky_study(**changes: Any) -> Any:
    return small_study(
        domain="risky",
        space={"amounts": [0, 5, 10, 20, 40], "probabilities": [0.1, 0.5, 0.9]},
        theories__seeds=["expected_value", "cumulative_prospect_theory"],
        participants__theory="expected_value",
        **changes,
    )


def trials(*pairs: Any) -> dict[str, Any]:
    return {
        "ratings": [list(map(list, pair)) for pair in pairs],
        "validities": [[0.9, 0.7, 0.6]] * len(pairs),
        "rating_max": [2.0] * len(pairs),
    }


@pytest.mark.slow
def test_a_preview_is_what_a_run_begins_with(tmp_path: Path) -> None:
    study = small_study(stop__cycles=1, stop__least_cycles=1, theories__candidates=0)
    found = preview_design(study, n_workers=1)
    run_study(study, tmp_path / "run", n_workers=1)
    state, trace = read_state(tmp_path / "run")
    with trace:
        first = state.experiments.designs["1.1"].record
        stimuli = design_from_json(trace.artifacts.get_json(first.design)).stimuli
    assert first == found.chosen
    assert stimuli.keys == found.design.stimuli.keys
    assert 0.3 < first.total_information <= np.log(2)


@pytest.mark.slow
def test_a_design_keeps_to_what_the_study_says_of_trials_people_and_costs() -> None:
    found = preview_design(
        small_study(
            design__participants=0,
            design__most_participants=80,
            design__sides="both",
            design__forbidden=["n_discriminating_cues < 3"],
            design__cost={
                "per_participant": 1.0,
                "features": {"level": 1.0},
                "most_per_participant": 30.0,
            },
            design__stopping={"rule": "bayes_factor", "first_look": 5, "bayes_factor": 6},
            design__power=0.9,
        ),
        n_workers=1,
    )
    stimuli, chosen = found.design.stimuli, found.chosen
    assert (MULTI.features(stimuli)["n_discriminating_cues"] == 3).all()
    n = len(stimuli) // 2
    assert MULTI.swap_sides(stimuli.take(range(n))).keys == stimuli.keys[n:]
    assert found.design.repetitions == 1
    one_person = (1 + MULTI.features(stimuli)["level"]).sum()
    assert one_person <= 30 + 1e-9
    assert chosen.cost == pytest.approx(chosen.n_participants * (1 + one_person))
    assert chosen.accepted
    assert 2 <= chosen.n_participants < 80
    assert all(min(pair.power_first, pair.power_second) >= 0.9 for pair in chosen.powers)
    assert chosen.looks[-1] == chosen.n_participants
    assert "Bayes factor of at least 6" in chosen.stopping
    assert "when Take the best is true it is named in" in chosen.stopping
    places = found.design.random_coverage
    assert [row for row in places if row < n] == [row - n for row in places if row >= n]


@pytest.mark.slow
def test_two_leaders_alone_can_be_in_question() -> None:
    three = ["take_the_best", "tallying", "weighted_additive"]
    settings = {
        "theories__seeds": three,
        "participants__theory": "exemplar",
        "design__random_share": 0.0,
    }
    every, leaders = (
        preview_design(small_study(**settings, design__focus=focus), n_workers=1).chosen
        for focus in ("rivals", "leaders")
    )
    assert len(every.rivals) == len(leaders.rivals) == 3
    assert leaders.total_information <= np.log(2)
    assert every.design != leaders.design
    assert leaders.reason.startswith("Accepted")
    assert "Weighted" not in leaders.reason


@pytest.mark.slow
def test_trials_of_ones_own_are_asked_as_they_are(tmp_path: Path) -> None:
    own = trials(([2, 0, 0], [0, 2, 2]), ([2, 0, 1], [1, 1, 2]), ([0, 2, 2], [1, 0, 1]))
    (tmp_path / "own.json").write_text(json.dumps(own))
    study = write_study(tmp_path)
    said = CliRunner().invoke(
        app, ["design", str(study), "--trials", str(tmp_path / "own.json"), "--json"]
    )
    assert said.exit_code == 0, said.output
    told = json.loads(said.stdout)
    assert told["accepted"]
    assert Stimuli.from_json(told["stimuli"]).keys == Stimuli.from_json(own).keys
    assert told["pairs"][0]["told_apart"]


@pytest.mark.slow
def test_trials_on_which_the_rivals_agree_are_refused_with_what_would_help(tmp_path: Path) -> None:
    own = trials(([2, 2, 0], [0, 0, 1]), ([0, 0, 2], [2, 1, 1]))
    (tmp_path / "own.json").write_text(json.dumps(own))
    said = CliRunner().invoke(
        app, ["design", str(write_study(tmp_path)), "--trials", str(tmp_path / "own.json")]
    )
    assert said.exit_code == 1
    text = " ".join(said.stdout.split())
    assert (
        "Refused: in simulations, responses of 30 participants separate no pair of theories with power 0.60: when"
        in text
    )
    assert "trials on which the two" in text


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        (
            {"design__forbidden": ["colour > 1"]},
            "'colour > 1' names no feature of the multiattribute domain",
        ),
        (
            {"design__forbidden": ["level"]},
            "design.forbidden: the condition 'level' is not a feature",
        ),
        ({"design__cost": {"features": {"colour": 1.0}}}, "the cost of 'colour' names no feature"),
        (
            {"design__proposed": trials(([2, 2, 2], [0, 0, 0]))},
            "proposed trial 0 .* better whatever one's taste",
        ),
        (
            {"design__proposed": {"ratings": [[[1, 0, 0], [0, 1, 1]]]}},
            "trials have the arrays .*, not ratings",
        ),
        ({"design__cost": {"per_response": 0.0}}, "design.cost.per_response: .* greater than 0"),
    ],
)
def test_settings_that_do_not_fit_the_domain_are_refused_by_name(
    changes: dict[str, Any], words: str
) -> None:
    with pytest.raises(StudyError, match=words):
        small_study(**changes)


@pytest.mark.slow
def test_a_study_that_forbids_everything_says_so(tmp_path: Path) -> None:
    study = write_study(tmp_path, design__forbidden=["n_cues > 1"])
    said = CliRunner().invoke(app, ["design", str(study)])
    assert said.exit_code == 1
    assert "forbids every trial" in str(said.exception)


@pytest.mark.long
def test_the_best_of_many_schedules_is_chosen() -> None:
    study = small_study(
        domain="learning",
        space={"task": "bandit", "n_steps": 20},
        theories__seeds=["rescorla_wagner", "win_stay_lose_shift"],
        participants__theory="rescorla_wagner",
        design={"participants": 0, "most_participants": 60, "schedules": 12, "repetitions": 1},
    )
    found = preview_design(study, n_workers=1).chosen
    few = preview_design(
        small_study(
            **{**study.model_dump(), "design": {**study.design.model_dump(), "schedules": 1}}
        ),
        n_workers=1,
    ).chosen
    assert found.n_trials == few.n_trials == 20
    error = np.hypot(found.total_information_error, few.total_information_error)
    assert found.total_information > few.total_information - 2 * error
    assert found.n_participants <= 60
