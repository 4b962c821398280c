"""A served model that changes under its name is another judge from then on, without a gate; what it said is erased."""

from __future__ import annotations

import json
import re
import sys
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from lakatos.flows.audit.audit import audit
from lakatos.flows.commands.main import app
from lakatos.flows.report.explain import ended_epochs, explain
from lakatos.flows.run.records import ACTS, RECORD_TYPES
from lakatos.flows.run.run import read_state
from lakatos.flows.start import resume_run, run_study
from lakatos.judges.anchor import split
from lakatos.judges.erasure import JudgeMeasured
from lakatos.judges.judge import Verdict
from lakatos.judges.rubrics.language_model import NAME, RUBRIC
from lakatos.language_models.rehearsal.app import RehearsalSettings
from lakatos.language_models.rehearsal.serve import running
from lakatos.traces.step import Trace
from lakatos.traces.validity import Validity

sys.path.insert(0, str(Path(__file__).parent))
from anchoring import settled_by_the_lead
from answering import said
from small import QUICK, form, small_study

N_DEV = 24
LARGE = RehearsalSettings(context_tokens=32768)


class Reader:
    """Reads the lead; one that turns reads it the other way round from the second time on that it is asked the same."""

    def __init__(self, turns: bool) -> None:
        self.turns = turns
        self.asked: Counter[str] = Counter()

    def __call__(self, body: Mapping[str, Any], rng: np.random.Generator) -> str:
        if "You judge pairs of explanations" in body["messages"][0]["content"]:
            return "The rubric is good as it is."  # no challenger comes of that
        text = re.sub(r"<[^>]*>", "", said(body))
        self.asked[text] += 1
        (lead,) = re.findall(r"lead_of_B_in_nats_per_choice: (\S+)", text)
        level = 2 if float(lead) > 0 else -2
        turned = self.turns and self.asked[text] > 1
        levels = {item.name: 0 for item in RUBRIC.dimensions} | {
            "advantage": -level if turned else level
        }
        return json.dumps(
            {
                name: {"level": value, "evidence": f"the lead is {lead}"}
                for name, value in levels.items()
            }
        )


def campaign(folder: Path, reader: Reader, temperature: float) -> Path:
    anchor = folder / "anchor.json"
    anchor.write_text(json.dumps(split(settled_by_the_lead(80), 1).to_json()))
    with running(LARGE, reader) as served:
        config = small_study(
            **QUICK,
            models={"reader": {"base_url": served.base_url, "model": served.model}},
            roles={"judge": "reader", "max_tokens": 800, "repeats": 1, "temperature": temperature},
            judges={"panel": "evolving", "anchor": str(anchor), "first": 1, "rubric": True},
            stop={"cycles": 4, "least_cycles": 4},
        )
        run_study(config, folder / "run", n_workers=1)
    return folder / "run"


@pytest.fixture(scope="module")
def turned(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Reader]:
    reader = Reader(turns=True)
    return campaign(tmp_path_factory.mktemp("turned"), reader, 0.7), reader


@pytest.mark.long
def test_a_model_that_changed_is_found_by_what_it_read_before_and_loses_the_seat_without_a_gate(
    turned: tuple[Path, Reader],
) -> None:
    state, trace = read_state(turned[0])
    trace.close()
    found = state.seats.asked_again[0].record
    assert (found.by_chance, found.n_items, found.n_changed, found.drifted) == (
        True,
        N_DEV,
        N_DEV,
        True,
    )
    assert found.p_value == pytest.approx(3.0**-N_DEV)
    committed = next(
        item.record for item in state.seats.committed if item.record.epoch == found.epoch
    )
    assert committed.without_gate == (NAME,)
    assert "language model" in committed.reason
    assert "without a gate" in committed.reason
    assert not [
        item
        for item in state.seats.gates
        if (item.record.slot, item.record.epoch) == (NAME, found.epoch)
    ]
    assert (
        committed.slots[NAME] == found.successor == state.seats.bred[found.successor].record.judge
    )
    assert state.seats.bred[found.successor].record.parent == found.judge


@pytest.mark.long
def test_what_it_said_before_is_erased_and_what_it_says_afterwards_is_read_anew(
    turned: tuple[Path, Reader],
) -> None:
    folder, _ = turned
    with Trace.open(folder, RECORD_TYPES, read_only=True) as trace:
        validity = Validity(trace.journal.events(), roots=trace.artifacts.has, acts=ACTS)
        measured = list(trace.records(JudgeMeasured))
        verdicts = list(trace.records(Verdict))
        ended = ended_epochs(trace)
    state, trace = read_state(folder)
    trace.close()
    found, seat = state.seats.asked_again[0].record, state.seats.held[NAME]
    assert seat.record.epoch > found.epoch
    own = [item for item in measured if item.record.seat == seat.digest]
    lost = [item for item in measured if not validity.valid(item.digest)]
    assert own
    assert lost
    assert all(item.record.epoch <= found.epoch for item in lost)
    assert [validity.valid(item.digest) for item in verdicts][-1]
    assert not validity.valid(verdicts[0].digest)
    assert "without a gate" in ended[found.epoch].reason
    # Pairs of the campaign are read by the judge that there is now, under its own edition.
    wordings = {item.record.wording for item in state.judging.readings.values()}
    assert len(wordings) == 2
    assert None in wordings


@pytest.mark.long
def test_such_a_run_is_audited_explained_and_gone_on_with(turned: tuple[Path, Reader]) -> None:
    folder, reader = turned
    assert audit(folder, n_workers=1).passed
    with Trace.open(folder, RECORD_TYPES, read_only=True) as trace:
        first = next(trace.records(Verdict))
    before = form(folder)
    assert "without a gate" in " ".join(
        link.problem for link in explain(folder, first.digest).broken
    )
    n_asked = reader.asked.total()
    resume_run(folder, n_workers=1)
    assert form(folder) == before
    assert reader.asked.total() == n_asked
    shown = CliRunner().invoke(app, ["judges", "epochs", str(folder)], env={"COLUMNS": "250"})
    assert "gate" in shown.output


@pytest.mark.long
def test_a_model_that_stays_the_same_keeps_its_seat(tmp_path: Path) -> None:
    folder = campaign(tmp_path, Reader(turns=False), 0.0)
    state, trace = read_state(folder)
    trace.close()
    (found,) = (item.record for item in state.seats.asked_again)
    assert (found.by_chance, found.n_items, found.n_changed, found.drifted) == (
        False,
        N_DEV,
        0,
        False,
    )
    assert state.seats.held[NAME].record.epoch == 0
    assert not [item for item in state.seats.committed if item.record.without_gate]
    assert audit(folder, recompute="none").passed
