"""Studies of learning whose participants go through two conditions: new participants, a confirmation, and a file."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from lakatos.domains import DOMAINS
from lakatos.experiments.conditions import condition_of
from lakatos.experiments.design import design_from_json
from lakatos.experiments.preregistration import Preregistration
from lakatos.experiments.record import DesignChosen
from lakatos.flows.audit.audit import audit
from lakatos.flows.report.report import write_report
from lakatos.flows.run.evidence import trials_in
from lakatos.flows.run.run import read_state
from lakatos.flows.run.study import load_study, parse_study
from lakatos.flows.start import run_study
from lakatos.theories.discovery.condition_search import CONDITIONS
from lakatos.theories.language.condition_change import ConditionChange, write_change
from lakatos.theories.language.family import find_family
from lakatos.theories.language.grammar import Composition
from lakatos.theories.language.rewrite import with_literal
from lakatos.theories.language.theory import TheoryProgram, read_program

CHANGE = ConditionChange("rate", "drug", 1)


def hidden_program() -> str:
    """Rescorla-Wagner learners at a rate of 0.2, and of 0.65 in the second condition."""
    family = find_family(DOMAINS["learning"])
    source = family.grammar.write(Composition(family.seeds["rescorla_wagner"][1].slots))
    changed = write_change(source, read_program(TheoryProgram(source, "hidden")), CHANGE)
    priors = read_program(TheoryProgram(changed, "hidden")).priors
    people: dict[str, dict[str, Any]] = {
        "rate": {"prior": "normal", "mean": 0.2, "sd": 0.05},
        "sensitivity": {"prior": "log_normal", "median": 6.0, "log_sd": 0.3},
        CHANGE.name: {"prior": "normal", "mean": 0.45, "sd": 0.1},
    }
    ends = {name: {"low": prior.low, "high": prior.high} for name, prior in priors.items()}
    return with_literal(changed, "PARAMETERS", {name: people[name] | ends[name] for name in people})


SMALL: dict[str, Any] = {
    "name": "drug",
    "question": "Does the drug change how fast people learn?",
    "domain": "learning",
    "seed": 2,
    "theories": {
        "seeds": ["rescorla_wagner", "choice_kernel"], "candidates": 2, "successors": 1, "draws": 32, "rivals": 2,
        "induction": False,
    },
    "stop": {"cycles": 2, "least_cycles": 2},
    "validation": {"company": False, "effects": "condition"},
    "memory": {"winners": False},
}  # fmt: skip
SIMULATED: dict[str, Any] = SMALL | {
    "space": {"n_steps": 32, "n_blocks": 2},
    "design": {
        "schedules": 1, "participants": 16, "power": 0.5, "refused": "cover", "conditions": ["placebo", "drug"],
    },
    "participants": {"source": "simulated", "program": hidden_program()},
    "confirmation": {"participants": 12},
}  # fmt: skip


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("steps") / "run"
    run_study(parse_study(SIMULATED, "drug"), folder, n_workers=1)
    return folder


@pytest.mark.slow
def test_each_participant_plays_the_schedule_in_each_condition_and_so_does_a_confirmation(
    run: Path,
) -> None:
    state, trace = read_state(run)
    with trace:
        for item in trace.records(DesignChosen):
            design = design_from_json(trace.artifacts.get_json(item.record.design))
            assert design.conditions == ("placebo", "drug")
            assert sorted(design.orders) == [(0, 1), (1, 0)]
            assert condition_of(design.stimuli).tolist() == [0.0] * 32 + [1.0] * 32
        assert item.record.experiment == "confirmation"
        for name in state.experiments.collected:
            trials = trials_in(trace.artifacts, state, name)
            first = trials.sequences.trial[:, 0]
            assert sorted(np.unique(first, return_counts=True)[1]) == [len(first) / 2] * 2
        summary = [item.record.design_summary for item in trace.records(Preregistration)][-1]
        assert "Each trial is presented in each of the conditions placebo, drug" in summary


@pytest.mark.slow
def test_the_verdict_names_the_parameter_that_changes(run: Path, tmp_path: Path) -> None:
    state, trace = read_state(run)
    trace.close()
    found = state.theories.effects
    assert found is not None
    authors = {name: item.record.author for name, item in state.theories.checked.items()}
    assert CONDITIONS in authors.values()
    stated = re.search(rf"{CHANGE.name} \(share\) ([0-9.]+) in the median", found.record.text)
    assert stated is not None, found.record.text
    assert abs(float(stated[1]) - 0.45) < 0.15
    others = [
        effect
        for item in found.record.theories
        for effect in item.effects
        if effect.parameter == "sensitivity"
    ]
    assert not any(effect.shown for effect in others)
    page = write_report(run, tmp_path / "report.html").read_text(encoding="utf-8")
    assert "Conditions within participants" in page


@pytest.mark.slow
def test_an_audit_makes_a_study_with_conditions_and_a_confirmation_again(run: Path) -> None:
    found = audit(run, n_workers=1)
    assert [item for item in found.findings if not item.passed] == []


def bandit(n_people: int = 13, n_steps: int = 40, seed: int = 1) -> pd.DataFrame:
    """Sessions of a bandit with and without a drug, which raises learning rates from 0.2 to 0.65."""
    rng = np.random.default_rng(seed)
    rows = []
    for person in range(n_people):
        for session in range(2):
            drug = (person + session) % 2
            value, best = np.full(2, 0.5), rng.integers(2)
            for step in range(n_steps):
                choice = int(rng.random() < 1 / (1 + np.exp(-6 * (value[1] - value[0]))))
                reward = int(rng.random() < (0.75 if choice == best else 0.25))
                value[choice] += (0.65 if drug else 0.2) * (reward - value[choice])
                rows.append({
                    "subject": f"s{person}", "session": session, "treatment": ["placebo", "drug"][drug],
                    "trial": step, "choice": ["left", "right"][choice], "reward": reward,
                })  # fmt: skip
    return pd.DataFrame(rows)


FILE = """
name = "drug"
question = "Does the drug change how fast people learn?"
domain = "learning"
[theories]
seeds = ["rescorla_wagner", "choice_kernel"]
candidates = 2
successors = 1
draws = 32
rivals = 2
induction = false
[design]
refused = "cover"
[participants]
source = "archival"
file = "bandit.csv"
[participants.columns]
participant = "subject"
response = "choice"
order = "trial"
condition = "treatment"
responses = { left = 0, right = 1 }
feedback = { reward = "reward" }
stimulus = { options = 2, block_start = "session" }
[stop]
cycles = 1
least_cycles = 1
[validation]
company = false
effects = "condition"
sealed_share = 0.2
[memory]
winners = false
"""


@pytest.mark.slow
def test_a_file_with_conditions_is_searched_reported_and_audited(tmp_path: Path) -> None:
    bandit().to_csv(tmp_path / "bandit.csv", index=False)
    (tmp_path / "study.toml").write_text(FILE)
    config = load_study(tmp_path / "study.toml")
    assert config.conditions == ("drug", "placebo")
    run_study(config, tmp_path / "run", n_workers=1)
    state, trace = read_state(tmp_path / "run")
    with trace:
        (name,) = state.experiments.collected
        trials = trials_in(trace.artifacts, state, name)
        assert len(trials.stimuli) == 160
        assert (trials.n_choices == 80).all()
        (plan,) = (item.record for item in trace.records(Preregistration))
        assert (
            "160 distinct trials (all that remained) with 800 existing responses"
            in plan.design_summary
        )
        assert "No power for condition is stated" in plan.analysis
    found = state.theories.effects
    assert found is not None
    authors = [item.record.author for item in state.theories.checked.values()]
    assert CONDITIONS in authors
    rates = [
        effect
        for item in found.record.theories
        for effect in item.effects
        if effect.parameter == "rate"
    ]
    assert all(effect.shown for effect in rates)
    audited = audit(tmp_path / "run", n_workers=1)
    assert [item for item in audited.findings if not item.passed] == []
