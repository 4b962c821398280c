"""Revisers at the workbench: they look at the answers, try drafts, are told what came of them, and remember."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from lakatos.flows.audit.audit import audit
from lakatos.flows.run.run import read_state
from lakatos.flows.run.state import RunState
from lakatos.flows.start import run_study
from lakatos.theories.discovery.roles.record import (
    AnalysisMade,
    DraftsScreened,
    SuccessorsProposed,
    SuccessorTried,
)
from tests.rehearsal.app import RehearsalSettings
from tests.rehearsal.serve import running

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).parents[1]))
from answering import FOUND, HIDDEN, MISTAKEN, said, task_of
from small import QUICK, records, small_study

pytestmark = pytest.mark.slow
CANARY = "people in this hidden rule keep a canary"
LOOK = """def analyse(tables, show):
    table = tables[sorted(tables)[0]]
    odd = table["ratings"].sum(axis=-1)[table["trial"]] % 2
    show("odd chosen", (odd[range(len(odd)), table["response"]]).mean().round(2))
"""


class Worker:
    """Looks, slips, mends, and then sends the same draft again and again."""

    def __init__(self) -> None:
        self.bodies: list[dict[str, Any]] = []

    def __call__(self, body: Mapping[str, Any], rng: np.random.Generator) -> str:
        self.bodies.append(dict(body))
        text = said(body)
        value: dict[str, Any] = {"change": "odd totals", "source": FOUND, "predictions": []}
        if "your last analysis" not in text:
            value |= {"source": "", "analysis": LOOK, "note": "Sums that are odd matter."}
        elif "your drafts so far" not in text:
            value |= {"source": MISTAKEN, "analysis": LOOK, "note": "Sums that are odd matter."}
        return json.dumps(value)


@pytest.fixture(scope="module")
def worked(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Worker, RunState]:
    folder, worker = tmp_path_factory.mktemp("runs") / "bench", Worker()
    with running(RehearsalSettings(context_tokens=32768), worker) as served:
        config = small_study(
            **QUICK,
            models={"writer": {"base_url": served.base_url, "model": served.model}},
            roles={
                "reviser": "writer",
                "lenses": ["leap"],
                "max_tokens": 1500,
            },
            participants={
                "source": "simulated",
                "program": HIDDEN.replace("now and then err", f"err; {CANARY}"),
            },
            stop={"cycles": 3, "least_cycles": 3},
        )
        run_study(config, folder, n_workers=1)
    state, trace = read_state(folder)
    trace.close()
    return folder, worker, state


def test_drafts_are_tried_in_rounds_and_the_same_one_again_ends_the_work(worked: Any) -> None:
    folder, worker, _ = worked
    first = [item for item in records(folder, SuccessorTried) if item.cycle == 1]
    assert [(item.attempt, item.outcome) for item in first] == [
        (1, "refused"),
        (2, "submitted"),
        (3, "duplicate"),
        (4, "duplicate"),
    ]
    proposed = records(folder, SuccessorsProposed)[0]
    assert (proposed.n_asked, proposed.n_answered) == (5, 5)
    assert [item.source for item in proposed.submissions] == [first[1].fitted]
    told = [said(body) for body in worker.bodies]
    assert "You have 6 rounds, this one included." in told[0]
    assert "your last draft: the refusal" in told[2]
    assert "parametres" in told[2]
    assert "round 1: odd chosen 0." in told[2].partition("what your earlier analyses showed")[2]
    assert "ahead of leader" in told[3]
    assert "learned lapse: " in told[3]


def test_what_an_analysis_shows_comes_back_and_counts_nothing_that_is_sealed_or_hidden(
    worked: Any,
) -> None:
    folder, worker, _ = worked
    made = records(folder, AnalysisMade)[0]
    assert made.outcome == "returned"
    assert made.told.startswith("odd chosen 0.")
    assert [body for body in worker.bodies if made.told in said(body)]
    assert not [body for body in worker.bodies if CANARY in json.dumps(body)]


FAILS = """def analyse(tables, show):
    show("rows", len(tables["1.1"]["response"]))
    return tables["9.9"]
"""


def test_a_failed_analysis_costs_no_round_and_its_author_reads_what_it_had_shown(
    tmp_path: Path,
) -> None:
    bodies: list[Mapping[str, Any]] = []

    def answer(body: Mapping[str, Any], rng: np.random.Generator) -> str:
        bodies.append(body)
        value: dict[str, Any] = {"change": "odd totals", "source": FOUND}
        return json.dumps(value if len(bodies) > 1 else value | {"source": "", "analysis": FAILS})

    with running(RehearsalSettings(context_tokens=32768), answer) as served:
        models = {"writer": {"base_url": served.base_url, "model": served.model}}
        roles = {"reviser": "writer", "lenses": ["leap"], "max_tokens": 1500, "drafts": 1}
        people = {"source": "simulated", "program": HIDDEN}
        config = small_study(
            **QUICK, models=models, roles=roles, participants=people,
            stop={"cycles": 2, "least_cycles": 2},
        )  # fmt: skip
        run_study(config, tmp_path / "run", n_workers=1)
    (made,) = records(tmp_path / "run", AnalysisMade)
    assert (made.outcome, made.attempt) == ("refused", 0)
    first, second = map(said, bodies)
    assert 'arrays of tables["1.1"] in an analysis' in first
    assert re.search(r"KeyError at line 3: '9.9'\s+Before that it showed:\s+rows \d+", second)
    assert "This is your last round of 1." in second
    (tried,) = records(tmp_path / "run", SuccessorTried)
    assert (tried.outcome, tried.attempt) == ("submitted", 1)


def test_drafts_are_counted_among_what_was_tried(worked: Any) -> None:
    _, _, state = worked
    searched = sum(item.record.n_attempts for item in state.theories.searches)
    assert state.n_tried == searched + len(state.roles.tried) > searched


def test_later_cycles_are_told_the_standing_the_fate_of_proposals_and_ones_own_notes(
    worked: Any,
) -> None:
    _, worker, _ = worked
    (text,) = [
        said(body)
        for body in worker.bodies
        if "You have 6 rounds" in said(body) and "earlier proposals" in said(body)
    ]
    assert "cycle 1, leap, 4 drafts: Odd totals (odd totals):" in text
    assert text.count("Sums that are odd matter.") == 1  # however often it was noted
    assert "cycle 1, leap: Sums that are odd matter." in text
    assert "1. " in text[text.index("how the theories stand") :]
    assert "question: Which rule do simulated people follow?" in text
    for name in ("1.1", "2.1"):
        assert f"from experiment {name}" in text


@pytest.mark.long
def test_the_audit_computes_drafts_and_analyses_anew(worked: Any) -> None:
    assert audit(worked[0], n_workers=1).passed


WRONG = FOUND.replace("Odd totals", "Even totals").replace("0.5 + (0.5", "0.5 - (0.5")


def sends_several(body: Mapping[str, Any], rng: np.random.Generator) -> str:
    """Five drafts at once: two guess, one cannot be run, one is the opposite of the rule, the last is the rule."""
    if task_of(body) == "repair":
        return json.dumps({"change": "none", "source": "", "predictions": [], "done": True})
    guesses = [FOUND.replace("% 2", f"% 2 * {scale}") for scale in ("0.0", "0.05")]
    further = [guesses[1], MISTAKEN, WRONG, FOUND, FOUND.replace("Odd", "Too many")]
    return json.dumps(
        {"change": "odd totals", "source": guesses[0], "predictions": [], "further": further}
    )


def test_of_several_drafts_in_one_answer_the_best_fifth_is_fitted(tmp_path: Path) -> None:
    with running(RehearsalSettings(context_tokens=32768), sends_several) as served:
        config = small_study(
            **QUICK,
            models={"writer": {"base_url": served.base_url, "model": served.model}},
            roles={"reviser": "writer", "lenses": ["leap"], "max_tokens": 3000, "further": 4},
            participants={"source": "simulated", "program": HIDDEN},
        )
        run_study(config, tmp_path / "bench", n_workers=1)
    (screened,) = records(tmp_path / "bench", DraftsScreened)
    assert (len(screened.sources), screened.fitted, screened.scores[2]) == (5, (4,), None)
    assert "parametres" in screened.reasons[2]
    (tried,) = records(tmp_path / "bench", SuccessorTried)
    assert (tried.outcome, tried.source) == ("submitted", screened.sources[4])
    state, trace = read_state(tmp_path / "bench")
    trace.close()
    searched = sum(item.record.n_attempts for item in state.theories.searches)
    assert state.n_tried == searched + 5
