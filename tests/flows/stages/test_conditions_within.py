"""A study whose participants go through two conditions, from its file to its report."""

from __future__ import annotations

import re
from collections import Counter
from csv import DictReader
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from lakatos.domains import DOMAINS
from lakatos.experiments.conditions import condition_of, without_condition
from lakatos.experiments.design import design_from_json
from lakatos.experiments.preregistration import Preregistration
from lakatos.experiments.record import DesignChosen
from lakatos.flows.audit.audit import audit
from lakatos.flows.operations.people_export import export
from lakatos.flows.report.report import write_report
from lakatos.flows.run.evidence import trials_in
from lakatos.flows.run.run import read_state
from lakatos.flows.run.study import parse_study
from lakatos.flows.start import run_study
from lakatos.theories.discovery.condition_search import CONDITIONS
from lakatos.theories.language.condition_change import ConditionChange, write_change
from lakatos.theories.language.family import find_family
from lakatos.theories.language.grammar import Composition
from lakatos.theories.language.rewrite import with_literal
from lakatos.theories.language.theory import TheoryProgram, read_program

CHANGE = ConditionChange("discount_rate", "hurried", 1)


def hidden_program() -> str:
    """Hyperbolic discounting at a median rate of 0.02 a day, three times as fast in a hurry."""
    family = find_family(DOMAINS["intertemporal"])
    source = family.grammar.write(Composition(family.seeds["hyperbolic"][1].slots))
    theory = read_program(TheoryProgram(source, "hidden"))
    changed = write_change(source, theory, CHANGE)
    declared = {
        name: prior.to_literal()
        for name, prior in read_program(TheoryProgram(changed, "hidden")).priors.items()
    }
    ends = {name: {key: prior[key] for key in ("low", "high")} for name, prior in declared.items()}
    people: dict[str, dict[str, Any]] = {
        "discount_rate": {"prior": "log_normal", "median": 0.02, "log_sd": 0.8},
        "sensitivity": {"prior": "log_normal", "median": 0.5, "log_sd": 0.3},
        "lapse": {"prior": "normal", "mean": 0.03, "sd": 0.02},
        CHANGE.name: {"prior": "normal", "mean": 1.1, "sd": 0.2},
    }
    return with_literal(changed, "PARAMETERS", {name: people[name] | ends[name] for name in people})


STUDY: dict[str, Any] = {
    "name": "hurry",
    "question": "Do people discount more in a hurry?",
    "domain": "intertemporal",
    "seed": 2,
    "space": {
        "amounts": [10, 20, 40],
        "ratios": [1.05, 1.1, 1.2, 1.4, 1.7, 2.0, 2.5, 3.0],
        "delays_days": [0, 7],
        "intervals_days": [7, 14, 30, 60],
    },
    "theories": {
        "seeds": ["exponential", "hyperbolic"], "candidates": 4, "successors": 1, "draws": 64, "rivals": 3,
        "induction": False,
    },
    "design": {
        "trials": 10, "repetitions": 2, "participants": 20, "candidates": 60, "power": 0.5, "refused": "cover",
        "conditions": ["calm", "hurried"], "blocks": 2,
    },
    "participants": {"source": "simulated", "program": hidden_program()},
    "confirmation": {"participants": 12, "trials": 4, "repetitions": 2},
    "stop": {"cycles": 2, "least_cycles": 2},
    "validation": {"comparison_models": False, "effects": "condition"},
    "memory": {"winners": False},
}  # fmt: skip


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("within") / "run"
    run_study(parse_study(STUDY, "hurry"), folder, n_workers=1)
    return folder


@pytest.mark.slow
def test_the_preregistration_freezes_the_conditions_their_orders_and_the_changed_theory(
    run: Path,
) -> None:
    state, trace = read_state(run)
    with trace:
        first, second, last = (item.record for item in trace.records(Preregistration))
        (design, _, confirmation) = (
            design_from_json(trace.artifacts.get_json(item.record.design))
            for item in trace.records(DesignChosen)
        )
        assert sorted(design.orders) == [(0, 1, 0, 1), (1, 0, 1, 0)]
        assert "each of the conditions calm, hurried, within participants" in first.design_summary
        assert "conditions exchanged within participants" in first.analysis
        assert "between the conditions: power" in first.analysis
        authors = {name: item.record.author for name, item in state.theories.checked.items()}
        changed = [name for name, author in authors.items() if author == CONDITIONS]
        assert changed
        assert set(changed) & set(second.rivals)
        assert not set(changed) & set(first.rivals)
        for name in state.experiments.collected:
            trials = trials_in(trace.artifacts, state, name)
            places = condition_of(trials.stimuli)[trials.trial]
            n_each = 96 if name == "confirmation" else 400
            assert [(places == place).sum() for place in (0, 1)] == [n_each] * 2
        assert sorted(confirmation.orders) == [(0, 1, 0, 1), (1, 0, 1, 0)]
        rows = [np.flatnonzero(condition_of(confirmation.stimuli) == place) for place in (0, 1)]
        calm, hurried = (without_condition(confirmation.stimuli).take(own).keys for own in rows)
        assert (calm, len(calm)) == (hurried, 4)
        assert "each of the conditions calm, hurried, within participants" in last.design_summary


@pytest.mark.slow
def test_the_verdict_finds_what_changes_with_the_condition(run: Path) -> None:
    """By the theory that states the change, by its own estimate; by every other one, as an effect of the condition."""
    state, trace = read_state(run)
    trace.close()
    found = state.theories.effects
    assert found is not None
    told = re.search(
        rf"own parameters: {CHANGE.name} \(log ratio\) ([0-9.]+) in", found.record.text
    )
    assert told is not None, found.record.text
    assert abs(float(told[1]) - 1.1) < 0.35
    changed = {
        name for name, item in state.theories.checked.items() if item.record.author == CONDITIONS
    }
    assert not changed & {item.theory for item in found.record.theories}
    rates = [
        effect
        for item in found.record.theories
        for effect in item.effects
        if effect.parameter == "discount_rate"
    ]
    for effect in rates:
        assert effect.shown
        assert effect.effect > 0.6
    assert changed & {line.theory for line in state.board().standings if line.tied}


@pytest.mark.slow
def test_the_report_shows_data_and_predictions_and_exports_name_the_condition(
    run: Path, tmp_path: Path
) -> None:
    page = write_report(run, tmp_path / "report.html").read_text(encoding="utf-8")
    text = re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", page[page.index('id="conditions"') :]))
    assert "Conditions within participants" in page
    assert re.search(r"calm 896 0\.\d+ .* hurried 896 0\.\d+", text)
    assert "counterbalanced by a Latin square" in page
    export(run, tmp_path / "exported")
    (file,) = (tmp_path / "exported").rglob("answers*.csv")
    rows = list(DictReader(file.open(encoding="utf-8")))
    assert Counter(row["condition"] for row in rows) == {"calm": 896, "hurried": 896}


@pytest.mark.slow
def test_an_audit_makes_all_of_it_again(run: Path) -> None:
    found = audit(run, n_workers=1)
    assert [item for item in found.findings if not item.passed] == []
