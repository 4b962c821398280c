"""A language model writes lessons in reflection; what records bear out is kept, and comes back to whoever revises."""

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
from lakatos.flows.errors import StudyError
from lakatos.flows.roles.remember import shared_library
from lakatos.flows.run.run import read_state
from lakatos.flows.start import resume_run, run_study
from lakatos.memory.item import Fact
from lakatos.memory.library import Pitfall
from lakatos.memory.record import LessonsWritten
from lakatos.theories.discovery.roles.record import RoleAnswered
from tests.rehearsal.app import RehearsalSettings
from tests.rehearsal.serve import running

sys.path.insert(0, str(Path(__file__).parent))
from answering import good, said, task_of
from small import QUICK, form, records, small_study

MISTAKE = "weighing what nobody looked at"
LARGE = RehearsalSettings(context_tokens=32768)


class Writer:
    """Revises as a good model would; as reflector it is good but for its second lesson, and unreadable once."""

    def __init__(self) -> None:
        self.shown: list[tuple[str, str]] = []
        self.n_reflected = 0

    def __call__(self, body: Mapping[str, Any], rng: np.random.Generator) -> Any:
        if "You keep the memory" not in body["messages"][1]["content"]:
            self.shown.append((task_of(body), said(body)))
            return good(body, rng)
        text = said(body)
        self.shown.append(("reflector", text))
        self.n_reflected += 1
        if self.n_reflected in (2, 3):  # the second cycle's question, and the try that mends it
            return "I learned a great deal."
        (mark,) = re.findall(r"from case file (#[0-9a-f]+)", text)
        (behind,) = re.findall(r"behind_nats_per_choice: (\S+)", text)
        (where,) = re.findall(r"where: (.+)", text)
        pitfall = {
            "trigger": f"{where}; trials, people, order, difference",
            "mistake": MISTAKE,
            "consequence": f"it fell behind by {behind}",
            "cites": [mark],
        }
        invented = {
            "subject": "errors",
            "statement": "People err in 0.7771 of their answers.",
            "cites": [mark],
        }
        fact = {
            "subject": "the theory that lost",
            "statement": f"It is behind by {behind}.",
            "cites": [mark],
        }
        return json.dumps({"pitfalls": [pitfall], "facts": [invented, fact]})


@pytest.fixture(scope="module")
def reflected(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Writer]:
    folder, writer = tmp_path_factory.mktemp("runs"), Writer()
    with running(LARGE, writer) as served:
        config = small_study(
            **QUICK,
            models={"writer": {"base_url": served.base_url, "model": served.model}},
            roles={
                "reflector": "writer",
                "reviser": "writer",
                "lenses": ["simplify"],
                "max_tokens": 900,
            },
            stop={"cycles": 3, "least_cycles": 3},
        )
        run_study(config, folder / "run", n_workers=1)
    return folder / "run", writer


@pytest.mark.long
def test_lessons_that_the_records_bear_out_are_kept_with_what_they_rest_on(
    reflected: tuple[Path, Writer],
) -> None:
    state, trace = read_state(reflected[0])
    with trace:
        written = list(trace.records(LessonsWritten))
    assert [item.record.cycle for item in written] == [1]  # after the last, nobody would read any
    for item in written:
        assert [lesson.supported for lesson in item.record.lessons] == [True, False, True]
        assert "0.7771" in " ".join(item.record.lessons[1].problems)
    lessons = dict(state.memory.library.lessons())
    own = [item for item in lessons.values() if written[0].digest in item.evidence]
    pitfall, fact = sorted(own, key=lambda item: isinstance(item, Fact))
    assert isinstance(pitfall, Pitfall)
    assert isinstance(fact, Fact)
    assert pitfall.mistake == MISTAKE
    assert state.theories.diagnoses[0].digest in pitfall.evidence
    assert fact.subject == "the theory that lost in small, seed 3"
    assert fact.confidence == 0.5


@pytest.mark.long
def test_an_answer_that_cannot_be_read_teaches_nothing_and_stops_nobody(
    reflected: tuple[Path, Writer],
) -> None:
    answers = [item for item in records(reflected[0], RoleAnswered) if item.role == "reflector"]
    assert [(item.cycle, item.outcome) for item in answers] == [
        (1, "answered"),
        (2, "not_json"),
    ]


@pytest.mark.long
def test_a_lesson_comes_back_to_whoever_writes_theories_in_a_situation_like_it(
    reflected: tuple[Path, Writer],
) -> None:
    folder, writer = reflected
    state, trace = read_state(folder)
    trace.close()
    texts = [text for task, text in writer.shown if task == "reviser"]
    assert MISTAKE not in texts[0]
    back = [item.record for item in state.memory.recalled if item.record.stage == "write"]
    assert [item.cycle for item in back] == [2]
    assert MISTAKE in " ".join(back[0].texts)
    assert any("lessons of earlier cycles" in text and MISTAKE in text for text in texts)


@pytest.mark.long
def test_what_was_asked_is_not_asked_again_and_every_number_comes_out_again(
    reflected: tuple[Path, Writer],
) -> None:
    folder, writer = reflected
    n_asked = len(writer.shown)
    before = form(folder)
    resume_run(folder, n_workers=1)  # the server is gone
    assert form(folder) == before
    assert len(writer.shown) == n_asked
    assert audit(folder, n_workers=1).passed
    assert MISTAKE.encode() in shared_library(folder.parent).to_bytes()


def test_nobody_writes_lessons_that_nobody_reads() -> None:
    with pytest.raises(StudyError, match=r"roles.reflector: .*memory.arm = 'none'"):
        small_study(
            models={"writer": {"client": "scripted"}},
            roles={"reflector": "writer"},
            memory={"arm": "none"},
        )
