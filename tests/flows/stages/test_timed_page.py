"""A timed task from its study file to a verdict and an export, with people who follow a theory on the page."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from lakatos.domains import DOMAINS
from lakatos.domains.attention.task import EDGES
from lakatos.experiments.design import design_from_json
from lakatos.experiments.participants.timed_answer import draw_presses
from lakatos.experiments.participants.web.store import SessionStore
from lakatos.experiments.participants.web.study import plan_of
from lakatos.flows.commands.main import app
from lakatos.flows.commands.preregister import registration_of
from lakatos.flows.errors import StudyError
from lakatos.flows.operations.people_export import export
from lakatos.flows.run.run import read_state
from lakatos.flows.run.study import load_study, parse_study
from lakatos.flows.stages.asked import AnswersAwaited
from lakatos.flows.start import resume_run, run_study
from lakatos.theories.findings.verdicts.record import CampaignConcluded
from lakatos.traces.inbox import Inbox

ROOT = Path(__file__).parents[3]
DOMAIN = DOMAINS["attention"]
N_BINS = len(EDGES) - 1
STUDY: dict[str, Any] = {
    "name": "letters",
    "question": "How does a large letter get in the way?",
    "domain": "attention",
    "seed": 2,
    "space": {"level": -1, "past": False},
    "theories": {
        "seeds": ["steady", "ex_gaussian"], "candidates": 0, "successors": 0, "draws": 32, "rivals": 2,
        "induction": False,
    },
    "design": {
        "trials": 2, "repetitions": 8, "sides": "both", "participants": 6, "random_share": 0.0, "power": 0.5,
        "refused": "cover",
    },
    "participants": {"source": "web"},
    "exclusions": {
        "one_side_above": 0.9, "fast_responses_above": 0.3, "clocks_disagree_above": 0.2,
        "missing_responses_above": 0.4,
    },
    "page": {"access": "open", "checks": 0, "fixation_ms": 400.0, "timeout_ms": 3000.0, "keys": ["f", "j"]},
    "stop": {"cycles": 1, "least_cycles": 1},
    "validation": {"comparison_models": False},
    "memory": {"winners": False},
}  # fmt: skip


def changed(**sections: Any) -> dict[str, Any]:
    """The study with single keys of its sections replaced."""
    return STUDY | {name: {**STUDY.get(name, {}), **part} for name, part in sections.items()}


@pytest.mark.parametrize("name", ["attention-page", "perception-page"])
def test_the_studies_that_come_with_the_laboratory_are_read(name: str) -> None:
    study = load_study(ROOT / "studies" / f"{name}.toml")
    assert study.page.timed.off_grid == "left_out"
    assert [rule.key for rule in study.exclusions.rules].count("clocks_disagree") == 1


@pytest.mark.parametrize(
    ("sections", "words"),
    [
        ({"space": {"past": True}}, "give `past = false`"),
        ({"design": {"sides": "random"}}, 'design.sides: give "both"'),
        ({"design": {"repetitions": 7}}, "an even number of design.repetitions"),
        ({"page": {"checks": 2}}, "page.checks is 2"),
        (
            {"confirmation": {"participants": 8, "repetitions": 3}},
            "confirmation.repetitions: give an even number",
        ),
        (
            {
                "space": {"n_answers": 3, "neutral": True},
                "page": {"keys": ["f", "g", "j"]},
                "confirmation": {"participants": 8, "trials": 4},
            },
            "confirmation.trials: give 9, all that there are",
        ),
        ({"page": {"fixation_ms": 0}}, "give at least 200"),
        ({"page": {"timeout_ms": 1500}}, "the last bin of time ends at 3000 ms"),
        ({"page": {"keys": ["f", "j", "k"]}}, "3 keys for 2 options"),
        ({"page": {"timed": {"figures": "colour_words"}}}, "cannot be drawn as colour_words"),
        ({"page": {"timed": {"off_grid": "guess"}}}, "left_out"),
        ({"space": {"keys": 3}}, "unknown settings of the attention domain: keys"),
    ],
)
def test_a_study_that_the_page_cannot_give_is_refused_when_it_is_read(
    sections: dict[str, Any], words: str
) -> None:
    with pytest.raises(StudyError, match=words):
        parse_study(changed(**sections), "a test")


def test_keys_that_came_later_are_left_out_where_they_say_nothing() -> None:
    plain = parse_study({**changed(), "exclusions": {}}, "a test").model_dump(mode="json")
    assert "timed" not in plain["page"]
    assert not {"clocks_disagree_above", "clocks_differ_ms"} & set(plain["exclusions"])
    said = parse_study(changed(page={"timed": {"feedback": "all"}}), "a test").model_dump(
        mode="json"
    )
    assert said["page"]["timed"]["feedback"] == "all"
    assert said["exclusions"]["clocks_disagree_above"] == 0.2


def take_part(
    store: SessionStore, clock: list[float], name: str, how: str, rng: np.random.Generator
) -> None:
    """Somebody answers by a rule: slower and with more errors where letters differ."""
    session = store.comprehension(store.join(name, consent="c" * 64, language="en"), 0, passed=True)
    stimuli = session.experiment.design.stimuli
    for position, step in enumerate(plan_of(session.experiment, session.place)):
        conflict = stimuli["congruence"][step.row] == -1
        bin_of = int(rng.integers(5, 9) if conflict else rng.integers(2, 6))
        outcome = bin_of + N_BINS * (rng.random() < (0.15 if conflict else 0.03))
        keys, times = draw_presses(DOMAIN, stimuli, np.array([step.row]), np.array([outcome]), rng)
        key, time_ms = int(keys[0]), float(times[0])
        if how == "one key":
            key = 1
        if how == "early":
            time_ms = 120.0
        clock[0] += 0.4
        store.report_onset(session, position)
        clock[0] += (time_ms + rng.normal(3, 1)) / 1000 if how != "made up" else 0.35
        session = store.answer(session, position, key, time_ms)[2]
    assert session.status == "completed"


@pytest.mark.slow
def test_people_who_press_keys_are_collected_excluded_compared_and_exported(tmp_path: Path) -> None:
    folder = tmp_path / "letters"
    study = parse_study(changed(exclusions={"replacements": 3}), "a test")
    assert isinstance(run_study(study, folder, n_workers=1), AnswersAwaited)
    told = json.dumps(registration_of(folder))
    for words in (
        "in one of 20 bins between 0.2, 0.3",
        "Responses faster than 0.2 s or slower than 3 s are left out",
        "from the frame in which the target was painted",
        "differs from the server's interval by more than 100 ms",
    ):
        assert words in told
    clock, rng = [1_700_000_000.0], np.random.default_rng(5)
    store = SessionStore(folder, clock=lambda: clock[0])
    ways = ["one key", "early", "made up", *["careful"] * 6]
    for number, how in enumerate(ways):
        if number == 6:
            store.deliver(Inbox(folder / "inbox.sqlite"))
            assert isinstance(resume_run(folder, n_workers=1), AnswersAwaited)
        take_part(store, clock, f"person {number}", how, rng)
    store.deliver(Inbox(folder / "inbox.sqlite"))
    store.shut()
    verdict = resume_run(folder, n_workers=1)
    assert isinstance(verdict, CampaignConcluded)
    export(folder, tmp_path / "out")
    with (tmp_path / "out" / "people.csv").open(newline="") as file:
        people = list(csv.DictReader(file))
    broken = [set(person["excluded"].split()) for person in people]
    assert broken.count(set()) == 6
    assert broken.count({"one_key"}) == 1
    (early,) = [person for person in people if "fast_answers" in person["excluded"]]
    assert (early["n_too_early"], "missing_answers" in early["excluded"]) == ("16", True)
    (made_up,) = [person for person in people if "clocks_disagree" in person["excluded"]]
    assert int(made_up["n_impossible"]) > 4
    with (tmp_path / "out" / "answers.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 9 * 16
    for row in rows:
        assert row["correct"] == str(int(row["key"] == row["right_key"]))
        if row["left_out"]:
            assert row["response"] == row["bin"] == ""
            continue
        assert (
            float(row["bin_from_s"])
            <= float(row["response_time_ms"]) / 1000
            <= float(row["bin_to_s"])
        )
        assert int(row["response"]) == int(row["bin"]) + N_BINS * (row["correct"] == "0")
    meanings = {
        line["column"]: line["meaning"]
        for line in csv.DictReader((tmp_path / "out" / "codebook.csv").open(newline=""))
    }
    assert "by the server's clock" in meanings["interval_ms"]
    assert "into bins hides" in (tmp_path / "out" / "README.md").read_text()
    export(folder, tmp_path / "psych", psych_ds=True)
    described = json.loads((tmp_path / "psych" / "dataset_description.json").read_text())
    assert {"key", "correct", "interval_ms", "bin_from_s"} <= {
        item["name"] for item in described["variableMeasured"]
    }


@pytest.mark.slow
def test_a_timed_study_is_confirmed_on_new_people_with_the_right_key_on_either_side(
    tmp_path: Path,
) -> None:
    folder = tmp_path / "letters"
    sections = changed(
        design={"participants": 4, "repetitions": 4},
        confirmation={"participants": 4, "trials": 2, "repetitions": 4},
    )
    sections["exclusions"] = {}
    assert isinstance(
        run_study(parse_study(sections, "a test"), folder, n_workers=1), AnswersAwaited
    )
    clock, rng = [1_700_000_000.0], np.random.default_rng(5)
    for part in ("first", "second"):
        store = SessionStore(folder, clock=lambda: clock[0])
        for number in range(4):
            take_part(store, clock, f"{part} {number}", "careful", rng)
        store.deliver(Inbox(folder / "inbox.sqlite"))
        store.shut()
        found = resume_run(folder, n_workers=1)
        assert isinstance(found, AnswersAwaited if part == "first" else CampaignConcluded)
    state, trace = read_state(folder)
    plan = design_from_json(
        trace.artifacts.get_json(state.experiments.designs["confirmation"].record.design)
    )
    trace.close()
    # both conditions, each with the right key on the left and on the right, twice each
    assert sorted(zip(plan.stimuli["congruence"], plan.stimuli["side"], strict=True)) == [
        (-1.0, -1.0), (-1.0, 1.0), (1.0, -1.0), (1.0, 1.0),
    ]  # fmt: skip
    assert plan.repetitions == 2
    assert state.campaign.confirmation is not None
    confirmed = state.campaign.confirmation.record
    assert confirmed.n_participants == 4
    assert confirmed.interval is not None
    assert confirmed.text in found.text


@pytest.mark.slow
def test_times_of_a_file_that_are_no_outcome_are_counted_when_they_come_in(tmp_path: Path) -> None:
    sections = changed(
        design={"participants": 2, "repetitions": 4}, participants={"source": "file"}
    )
    del sections["page"]
    sections["exclusions"] = {}
    folder = tmp_path / "letters"
    assert isinstance(
        run_study(parse_study(sections, "a test"), folder, n_workers=1), AnswersAwaited
    )
    lines = ["participant,experiment,trial,key,response_time_ms"]
    for person in ("a", "b"):
        for trial in range(4):
            times = (0, 40_000) if person == "a" and trial == 0 else (450, 500)
            lines += [f"{person},1.1,{trial},{int(trial < 2)},{ms}" for ms in times]
    (tmp_path / "answers.csv").write_text("\n".join(lines) + "\n")
    said = CliRunner().invoke(app, ["data", "import", str(folder), str(tmp_path / "answers.csv")])
    assert "experiment 1.1: 14 responses of 2 participants" in said.output
    assert (
        "2 further responses are no outcome and do not count: 1 too early, 1 too late"
        in said.output
    )
