"""Advocates propose experiments in their own words, and what these gain is written down."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from lakatos.experiments.record import DesignChosen
from lakatos.flows.audit.audit import audit
from lakatos.flows.report.report import write_report
from lakatos.flows.run.study import CampaignConfig, parse_study
from lakatos.flows.start import run_study
from lakatos.theories.discovery.roles.record import TrialsProposed
from tests.rehearsal.app import RehearsalSettings
from tests.rehearsal.serve import running

sys.path.insert(0, str(Path(__file__).parents[1]))
from answering import said
from small import QUICK, records, small_study

pytestmark = pytest.mark.slow
BETTER = {"ratings": [[0, 0, 0], [2, 2, 2]]}
CONFLICT = {"feature": "conflict", "low": 1, "high": 1}
ONE_CYCLE = {"cycles": 1, "least_cycles": 1}


class Advocate:
    """Gives the answer of the first words that its question holds."""

    def __init__(self, answers: Mapping[str, Mapping[str, Any]]) -> None:
        self.answers, self.texts = answers, list[str]()

    def __call__(self, body: Mapping[str, Any], rng: np.random.Generator) -> str:
        text = said(body)
        self.texts.append(text)
        value = dict(next(own for words, own in self.answers.items() if words in text))
        if value.get("trials") == "shown":
            lines = [line for line in text.split("\n") if line.startswith('{"trial": {')]
            value["trials"] = [json.loads(lines[0])["trial"], BETTER]
        return json.dumps({"reason": "cues conflict", "rival": "", "where": [], **value})


def campaign(folder: Path, advocate: Advocate, study: Any) -> list[TrialsProposed]:
    """A campaign of one cycle in which both leading theories have the same advocate."""
    with running(RehearsalSettings(context_tokens=32768), advocate) as served:
        models = {"writer": {"base_url": served.base_url, "model": served.model}}
        config: CampaignConfig = study(models, {"advocate": "writer", "max_tokens": 1500})
        run_study(config, folder, n_workers=1)
    return records(folder, TrialsProposed)


def of_products(models: Any, roles: Any) -> CampaignConfig:
    return small_study(**QUICK, models=models, roles=roles, stop=ONE_CYCLE)


@pytest.fixture(scope="module")
def asked(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Advocate, list[TrialsProposed]]:
    folder = tmp_path_factory.mktemp("runs") / "asked"
    wrong = {"where": [CONFLICT | {"feature": "conflicts"}], "trials": []}
    advocate = Advocate(
        {
            "why it was refused": {"where": [CONFLICT], "trials": []},
            "advocate of Take the best": {"trials": "shown"},
            "": wrong,
        }
    )
    return folder, advocate, campaign(folder, advocate, of_products)


def test_good_trials_of_a_set_are_kept_and_the_bad_ones_named_for_one_repair(asked: Any) -> None:
    _, advocate, (first, misnamed, mended, other) = asked
    assert (first.passed, first.failed) == (False, "form")
    assert first.reason == "DesignError: 1 of 2 trials can be asked"
    assert len(first.left_out) == 1
    assert first.left_out[0].startswith("trial 2 lies outside")
    assert "did you mean 'conflict'?" in misnamed.reason
    repair = next(text for text in advocate.texts if "trials that are kept" in text)
    assert "trial 2 lies outside" in repair
    assert "your last answer" in repair
    assert (mended.passed, mended.n_found) == (True, other.n_found) == (True, 8)
    assert (
        mended.n_trials >= other.n_trials
    )  # what was kept may be among what was found in the range
    assert mended.contrast == "cues conflict"
    assert mended.where == ("conflict from 1 to 1",)


def test_what_a_proposal_adds_to_the_searchs_own_design_is_recorded_and_shown(asked: Any) -> None:
    folder = asked[0]
    (chosen,) = records(folder, DesignChosen)
    assert len(chosen.weighed) == 2
    for item in chosen.weighed:
        assert item.how in ("whole", "mixed")
        assert item.own_information == chosen.weighed[0].own_information
        assert item.gain == item.information - item.own_information
    adopted = [item for item in chosen.weighed if item.adopted]
    best = max(chosen.weighed, key=lambda item: item.information)
    assert adopted == ([best] if best.gain > best.gain_error else [])
    expected = best.information if adopted else best.own_information
    assert chosen.total_information == expected
    write_report(folder)
    shown = (folder / "report.html").read_text()
    assert "Experiments proposed by language models" in shown
    assert "cues conflict; conflict from 1 to 1" in shown


@pytest.mark.long
def test_the_audit_computes_the_weighing_anew(asked: Any) -> None:
    assert audit(asked[0], n_workers=1).passed


def test_of_an_archive_trials_are_picked_by_number(tmp_path: Path) -> None:
    def study(models: Any, roles: Any) -> CampaignConfig:
        return parse_study(
            {
                "name": "archive", "question": "Which?", "domain": "risky", "models": models, "roles": roles,
                "theories": {
                    "seeds": ["expected_value", "expected_utility"], "candidates": 2, "draws": 32, "rivals": 2,
                    "induction": False,
                },
                "design": {"trials": 4, "refused": "cover", "power": 0.05},
                "participants": {"source": "archival", "archive": "allais"},
                "validation": {"company": False}, "memory": {"winners": False}, "stop": ONE_CYCLE,
            },
            "archive",
        )  # fmt: skip

    everything = [{"feature": "ev_difference", "low": -9e9, "high": 9e9}]
    advocate = Advocate(
        {
            "advocate of Expected value": {"picked": [1, 3]},
            "": {"picked": [2], "where": everything},
        }
    )
    first, second = campaign(tmp_path / "archive", advocate, study)[:2]
    assert '"number": 1, "experiment": "kahneman_tversky_1979"' in advocate.texts[0]
    assert (first.archive, first.n_trials, first.passed) == ("kahneman_tversky_1979", 2, True)
    assert second.n_found == 8
    (chosen,) = records(tmp_path / "archive", DesignChosen)
    assert chosen.n_trials == 4
    assert [item.proposal for item in chosen.weighed]


def test_of_schedules_one_is_picked_whole(tmp_path: Path) -> None:
    def study(models: Any, roles: Any) -> CampaignConfig:
        return small_study(
            domain="learning",
            space={"task": "reversal", "n_steps": 16},
            theories={
                "seeds": ["win_stay_lose_shift", "random"], "candidates": 2, "draws": 32, "rivals": 2,
                "induction": False,
            },
            design={"participants": 8, "power": 0.1, "refused": "cover"},
            participants={"source": "simulated", "theory": "win_stay_lose_shift"},
            models=models, roles=roles, stop=ONE_CYCLE,
        )  # fmt: skip

    advocate = Advocate({"advocate of Win": {"picked": [2]}, "": {"picked": [1]}})
    found = campaign(tmp_path / "schedules", advocate, study)
    assert '"number": 2' in advocate.texts[0]
    assert [item.n_trials for item in found] == [16, 16]
    (chosen,) = records(tmp_path / "schedules", DesignChosen)
    assert {item.how for item in chosen.weighed} <= {"schedule", "the same"}
    assert len(chosen.weighed) == 2
