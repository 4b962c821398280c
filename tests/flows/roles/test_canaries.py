"""Sealed answers never reach a model: not in a prompt, a tool's result, an analysis, a notebook, a draft's report."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from lakatos.experiments.task import Stimuli
from lakatos.flows.run.run import read_state
from lakatos.flows.run.study import parse_study
from lakatos.flows.run.task import domain_of
from lakatos.flows.start import run_study
from lakatos.language_models.tool_record import ToolCalled
from lakatos.theories.discovery.roles.record import AnalysisMade, SuccessorTried
from tests.rehearsal.app import RehearsalSettings
from tests.rehearsal.serve import running

sys.path.insert(0, str(Path(__file__).parents[1]))
from answering import said, task_of
from small import records

pytestmark = pytest.mark.slow
Call = tuple[str, dict[str, Any]]
DUMP = """def analyse(tables, show):
    for name in sorted(tables):
        for key in sorted(tables[name]):
            show(name, key, tables[name][key].tolist())
"""
DRAFT = '''"""Certain amounts: people lean to the option with the larger worst amount, and at times err."""
PARAMETERS = {"lapse": {"prior": "uniform", "low": 0.0, "high": 1.0}}


def choose(parameters, trials, xp):
    worst = trials["outcomes"].min(axis=-1)
    return 0.5 + (0.5 - parameters["lapse"] / 2) * xp.sign(worst[:, 1] - worst[:, 0])
'''


class Prying:
    """Takes every role, looks at all that it can name, and asks for what it should not see."""

    def __init__(self) -> None:
        self.seen: list[str] = []

    def __call__(self, body: Mapping[str, Any], rng: np.random.Generator) -> str | Sequence[Call]:
        self.seen.append(json.dumps(body, ensure_ascii=False))
        if "response_format" not in body:
            return self.call(body)
        match task_of(body):
            case "reviser" | "repair":
                first = "your last analysis" not in said(body)
                value = {"change": "x", "source": "" if first else DRAFT, "predictions": []}
                value |= {"analysis": DUMP if first else "", "note": "n", "done": not first}
            case _:
                claims: list[Any] = []
                value = {
                    "statements": [{"text": "x", "cites": ["#00000000"], "claims": claims}],
                    "hypothesis": "x",
                    "change": "x",
                }
        return json.dumps(value)

    def call(self, body: Mapping[str, Any]) -> str | Sequence[Call]:
        if any(item["role"] == "assistant" for item in body["messages"]):
            return "Nothing."
        shown = "\n".join(item["content"] for item in body["messages"])
        names = re.findall(r"(?m)^experiments: ([^;\s]+)", shown)[:1]
        if not names:
            return "Nothing."
        own = names[0].partition(" ")[2]
        return [
            ("score", {"theories": ["Expected value"], "experiments": [name]})
            for name in (*names, own, "sealed", f"{own} sealed")
        ]


@pytest.fixture(scope="module")
def pried(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Prying]:
    folder, prying = tmp_path_factory.mktemp("runs") / "pried", Prying()
    with running(RehearsalSettings(context_tokens=32768), prying) as served:
        config = parse_study(
            {
                "name": "pried", "question": "What do the published percentages say?", "domain": "risky",
                "theories": {
                    "seeds": ["expected_value", "expected_utility"], "candidates": 2, "draws": 32, "rivals": 2,
                    "induction": False,
                },
                "design": {"trials": 4, "refused": "cover", "power": 0.05},
                "participants": {"source": "archival", "archive": "allais"},
                "validation": {"comparison_models": False, "sealed_share": 0.3}, "memory": {"winners": False},
                "stop": {"cycles": 2, "least_cycles": 2},
                "models": {"writer": {"base_url": served.base_url, "model": served.model}},
                "roles": {
                    "arbiter": "writer", "reviser": "writer", "lenses": ["leap"], "drafts": 2,
                    "max_tokens": 1500, "tools": ["score", "compare_predictions"],
                },
            },
            "pried",
        )  # fmt: skip
        run_study(config, folder, n_workers=1)
    return folder, prying


def sealed_stimuli(folder: Path) -> tuple[Any, list[Stimuli]]:
    state, trace = read_state(folder)
    with trace:
        assert state.experiments.sealed is not None
        assert state.campaign.config is not None
        tables = [trace.artifacts.get_json(item) for item in state.experiments.sealed.record.trials]
        return domain_of(state.campaign.config), [
            Stimuli.from_json(table["stimuli"]) for table in tables
        ]


def test_no_sealed_trial_is_ever_shown(pried: Any) -> None:
    folder, prying = pried
    domain, tables = sealed_stimuli(folder)
    own = [domain.describe(table, row) for table in tables for row in range(len(table))]
    turned = [
        domain.describe(domain.swap_sides(table), row)
        for table in tables
        for row in range(len(table))
    ]
    assert len(own) >= 3
    with_results = "\n".join(prying.seen)
    assert "A: " in with_results
    assert [text for text in (*own, *turned) if text in with_results] == []


def test_analyses_tools_and_reports_hold_open_trials_only(pried: Any) -> None:
    folder, _ = pried
    _, tables = sealed_stimuli(folder)
    hidden = {
        tuple(np.asarray(table["outcomes"][row], dtype=float).ravel())
        + tuple(np.asarray(table["probabilities"][row], dtype=float).ravel())
        for table in tables
        for row in range(len(table))
    }
    state, trace = read_state(folder)
    with trace:
        asked = [
            Stimuli.from_json(trace.artifacts.get_json(item.record.design)["stimuli"])
            for item in state.experiments.designs.values()
        ]
    for table in asked:
        for row in range(len(table)):
            key = tuple(np.asarray(table["outcomes"][row], dtype=float).ravel())
            key += tuple(np.asarray(table["probabilities"][row], dtype=float).ravel())
            assert key not in hidden
    assert {item.outcome for item in records(folder, AnalysisMade)} == {"returned"}
    assert "submitted" in {item.outcome for item in records(folder, SuccessorTried)}
    called = records(folder, ToolCalled)
    assert [item.outcome for item in called]
    assert any(item.outcome != "returned" for item in called)
