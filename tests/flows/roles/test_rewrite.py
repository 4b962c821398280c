"""A language model that judges rewrites its rubric from its mistakes, is screened, and answers to the gate."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from lakatos.flows.audit.audit import audit
from lakatos.flows.commands.main import app
from lakatos.flows.report.explain import explain, replay_decision
from lakatos.flows.run.records import RECORD_TYPES
from lakatos.flows.run.run import read_state
from lakatos.flows.start import resume_run, run_study
from lakatos.judges.anchor import split
from lakatos.judges.rubrics.language_model import NAME, RUBRIC, SettledRead
from lakatos.language_models.rehearsal.app import RehearsalSettings
from lakatos.language_models.rehearsal.serve import running
from lakatos.traces.journal import INTENT
from lakatos.traces.step import Trace

sys.path.insert(0, str(Path(__file__).parent))
from anchoring import settled_by_the_lead
from answering import said
from small import small_study

N = 160
LARGE = RehearsalSettings(context_tokens=32768)


def learning(body: Mapping[str, Any], rng: np.random.Generator) -> str:
    """Reads the lead the wrong way round until it has written a rubric that asks for the lead alone."""
    text = said(body)
    if "You judge pairs of explanations" in body["messages"][0]["content"]:
        new = {
            "name": "the_lead",
            "question": "Which one predicts the answers so far better?",
            "clearly": "it is ahead",
            "rather": "it is hardly ahead",
        }
        return json.dumps({"reason": "The lead was misread.", "dimensions": [new]})
    (lead,) = re.findall(r"lead_of_B_in_nats_per_choice: (\S+)", text)
    level = 2 if float(lead) > 0 else -2
    words = f"the lead is {lead}"
    if "the_lead" in text:
        return json.dumps({"the_lead": {"level": level, "evidence": words}})
    names = [item.name for item in RUBRIC.dimensions]
    levels = dict.fromkeys(names, 0) | {"advantage": -level}
    return json.dumps({name: {"level": levels[name], "evidence": words} for name in names})


@pytest.fixture(scope="module")
def evolved(tmp_path_factory: pytest.TempPathFactory):
    folder = tmp_path_factory.mktemp("runs")
    anchor = folder / "anchor.json"
    anchor.write_text(json.dumps(split(settled_by_the_lead(N), 1).to_json()))
    with running(LARGE, learning) as served:
        config = small_study(
            models={"writer": {"base_url": served.base_url, "model": served.model}},
            roles={"judge": "writer", "max_tokens": 800, "repeats": 1},
            judges={"panel": "evolving", "anchor": str(anchor), "first": 1, "rubric": True},
            stop={"cycles": 3, "least_cycles": 3},
        )
        run_study(config, folder / "run", n_workers=1)
        yield folder / "run"


@pytest.mark.long
def test_a_rubric_written_from_mistakes_is_screened_on_few_items_and_passes_the_gate(
    evolved: Path,
) -> None:
    state, trace = read_state(evolved)
    with trace:
        first = state.seats.screened[0].record
        assert first.slot == NAME
        assert 10 <= first.n_asked <= 0.4 * first.n_dev
        assert first.verdict == "better"
        decided = next(item.record for item in state.seats.gates if item.record.slot == NAME)
        assert decided.verdict == "replace"
        assert decided.n == state.seats.anchors[0].record.n_items["confirm"]
        assert decided.challenger == state.seats.held[NAME].record.judge
        rubric = trace.artifacts.get_json(state.seats.bred[decided.challenger].record.made)[
            "rubric"
        ]
    (dimension,) = rubric["dimensions"]
    assert dimension["name"] == "the_lead"
    assert dimension["weight"] > 0
    assert set(dimension["levels"]) == {"-2", "-1", "0", "1", "2"}


@pytest.mark.long
def test_the_gate_reads_all_of_confirm_by_either_rubric_in_both_orders(evolved: Path) -> None:
    with Trace.open(evolved, RECORD_TYPES, read_only=True) as trace:
        read = [item.record for item in trace.records(SettledRead)]
        kinds = [event.kind for event in trace.journal.events() if event.kind != INTENT]
    assert {item.n_readings for item in read} == {2}
    state, trace = read_state(evolved)
    trace.close()
    n_confirm = state.seats.anchors[0].record.n_items["confirm"]
    assert all(
        sum(item.wording == wording for item in read) > n_confirm
        for wording in {item.wording for item in read}
    )
    assert kinds.index("gate_decided") > kinds.index("settled_read")


@pytest.mark.long
def test_candidates_are_judged_by_the_new_rubric_and_the_run_can_be_audited(evolved: Path) -> None:
    state, trace = read_state(evolved)
    trace.close()
    assert {item.record.wording for item in state.judging.readings.values()} > {None}
    assert all(NAME in item.record.opinions for item in state.judging.verdicts.values())
    assert audit(evolved, recompute=False).passed
    decided = next(item for item in state.seats.gates if item.record.slot == NAME)
    assert replay_decision(evolved, decided.digest) == decided.record
    assert explain(evolved, next(iter(state.judging.verdicts))).broken == ()
    shown = CliRunner().invoke(app, ["judges", "show", str(evolved)], env={"COLUMNS": "200"})
    assert "the_lead: Which one predicts the answers so far better?" in shown.output
    resume_run(evolved, n_workers=1)


def test_a_rubric_is_rewritten_only_where_a_language_model_judges(tmp_path: Path) -> None:
    judges = {"panel": "evolving", "items": 40, "rubric": True}
    with pytest.raises(Exception, match="no language model judges in this study"):
        small_study(judges=judges)
    with pytest.raises(Exception, match="no rubric is rewritten"):
        small_study(judges=judges | {"panel": "frozen"})
