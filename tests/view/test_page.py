"""What pages show of tools, memory and language models, and how charts place things."""

from __future__ import annotations

import html
import re
import shutil
from pathlib import Path

import numpy as np
import pytest
from fastapi.testclient import TestClient
from test_report import EVIL
from viewing import look_at

from lakatos.flows.report import charts, svg
from lakatos.flows.report.judging_facts import VerdictRow
from lakatos.flows.run.records import RECORD_TYPES
from lakatos.flows.view.app import create_app
from lakatos.flows.view.judge_pages import lean
from lakatos.flows.view.search import search_calls
from lakatos.flows.view.theory_pages import difference, theory
from lakatos.judges.judge import Verdict, resolve
from lakatos.language_models.client import TokenSampling
from lakatos.language_models.record import LanguageModelCalled
from lakatos.language_models.tool_record import ToolCalled
from lakatos.memory.item import Fact, PlanUsed, ToolValidated
from lakatos.memory.plan import PlanStep
from lakatos.memory.record import LessonsRecalled, LibraryTaken
from lakatos.memory.tool import ToolDraft
from lakatos.traces.digest import digest_of
from lakatos.traces.step import Trace

N_CALLS = 7


@pytest.fixture(scope="module")
def learned(finished: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run in which models were asked, tools were called, and something was learned; all in hostile words."""
    folder = tmp_path_factory.mktemp("learned") / "learned"
    shutil.copytree(finished, folder)
    with Trace.open(folder, RECORD_TYPES) as trace:
        put = trace.artifacts.put_json
        nothing = put(None)
        called = trace.record(
            ToolCalled(
                tool="score",
                arguments=put({"text": EVIL}),
                outcome="failed",
                value=nothing,
                reason=EVIL,
            ),
            name="tool",
        )
        for number in range(N_CALLS):
            words = f"call {number}: {EVIL} the needle" if number == 2 else f"call {number}"
            request = put(
                {
                    "messages": [
                        {"role": "system", "content": EVIL},
                        {"role": "user", "content": words},
                    ]
                }
            )
            completion = put(
                {"content": f"answer {number} {EVIL}", "model_name": EVIL, "finish_reason": "stop"}
            )
            trace.record(
                LanguageModelCalled(
                    role="advocate", model=EVIL, model_version=digest_of(1), model_name=EVIL, server=EVIL,
                    request=request, sampling=TokenSampling(), seed=number, completion=completion, finish_reason=EVIL,
                    outcome="answered", n_prompt_tokens=10, n_completion_tokens=5,
                ),
                name="call", position={"number": number},
            )  # fmt: skip
        draft = trace.record(
            ToolDraft(name="look", signature=digest_of(2), plan_text=EVIL, parameters=(), effects=(), dependencies=(),
                      steps=(PlanStep(tool=EVIL, arguments=(), reading=True),)),
            name="draft",
        )  # fmt: skip
        trace.record(
            ToolValidated(draft=draft.digest, name="look", passed=(EVIL,)), name="validate"
        )
        trace.record(
            PlanUsed(
                signature=digest_of(2),
                study=EVIL,
                tool="look",
                success=True,
                evidence=(called.digest,),
            ),
            name="use",
        )
        fact = Fact(
            domain="multiattribute", subject=EVIL, statement=EVIL, evidence=(called.digest,)
        )
        trace.record(fact, name="fact")
        taken = LibraryTaken(
            library=put("library"), n_lessons=3, n_tools=1, n_studies=1, problem=EVIL
        )
        trace.record(taken, name="library")
        recalled = LessonsRecalled(
            cycle=1, stage="revise", situation=EVIL, lessons=(), texts=(EVIL,), notes=(EVIL,)
        )
        trace.record(recalled, name="recall")
    return folder


def test_memory_tools_and_conversations_are_shown_as_text(learned: Path) -> None:
    look = look_at(learned)
    pages = ["memory", "cost", "trace", "trace?kind=language_model_called"]
    pages += [
        f"record/{seq}"
        for seq in look.outline.seqs("language_model_called", "tool_called", "fact", "plan_used")
    ]
    with TestClient(create_app(learned), base_url="http://127.0.0.1") as browser:
        for page in pages:
            answer = browser.get(f"/run/learned/{page}")
            assert answer.status_code == 200, page
            assert EVIL not in answer.text
            assert "<img" not in answer.text
        memory = browser.get("/run/learned/memory").text
        assert "3 lessons and 1 tool in 1 study" in memory
        assert re.search(r"<code>look</code>\s*<span class=\"chip[^\"]*\">active", memory)
        assert "Used 1 time: 1 succeeded" in memory
        call = browser.get(
            f"/run/learned/record/{look.outline.seqs('language_model_called')[2]}"
        ).text
        assert "the needle" in call
        assert "answer 2" in call
        found = browser.get("/run/learned/trace?q=THE+NEEDLE").text
        assert "<mark>the needle</mark>" in found


def test_prompts_and_answers_are_searched_until_time_is_up_and_then_further(learned: Path) -> None:
    look = look_at(learned)
    seqs = look.outline.seqs("language_model_called")
    whole = search_calls(look, "needle", None)
    assert [(hit.seq, hit.part) for hit in whole.hits] == [(seqs[2], "prompt")]
    assert (whole.n_read, whole.n_calls, whole.go_on) == (N_CALLS, N_CALLS, None)
    answers = search_calls(look, "answer", None)
    assert [hit.seq for hit in answers.hits] == seqs[::-1]
    later = search_calls(look, "needle", seqs[2])
    assert (later.hits, later.n_read) == ((), 2)


@pytest.mark.slow
def test_a_theory_is_told_as_the_verdict_tells_it(campaign: Path) -> None:
    look = look_at(campaign)
    told = {digest: theory(look, digest) for digest in look.state.theories.pool}
    for digest, page in told.items():
        assert page is not None
        assert page["claim"] == look.theory(digest).claim
    assert look.leader is not None
    verdict = look.state.campaign.concluded
    assert verdict is not None
    claim = told[look.leader]["claim"]
    assert f"Claim: {claim[:1].upper()}{claim[1:]}" in verdict.record.text
    browser = TestClient(create_app(campaign.parent), base_url="http://127.0.0.1")
    page = browser.get(f"/run/small/theory/{look.leader}")
    shown = re.search("<blockquote>(.*?)</blockquote>", page.text)
    assert shown is not None
    assert html.unescape(shown[1]).lower() == claim.lower()


def test_a_difference_shows_what_went_out_and_came_in_by_line() -> None:
    before = "\n".join(f"line {n}" for n in range(20))
    after = before.replace("line 10", "another 10").replace("line 19", "line 19\nline 20")
    lines = difference(before, after, around=1)
    assert [(line.sign, line.old, line.new, line.text) for line in lines if line.sign in "+-"] == [
        ("-", 11, None, "line 10"),
        ("+", None, 11, "another 10"),
        ("+", None, 21, "line 20"),
    ]
    assert difference(before, before) == []


def test_a_judge_that_promises_too_much_is_said_to_only_with_enough_verdicts() -> None:
    def settled(n: int) -> list[VerdictRow]:
        one = Verdict(epoch=digest_of(1), candidate=digest_of(2), incumbent=digest_of(3), cycle=1, probability=0.9,
                      opinions={"eager": 0.9})  # fmt: skip
        key = digest_of(4)
        came = [resolve(one, key, "1.1", 0.1 if place % 2 == 0 else -0.1) for place in range(n)]
        return [VerdictRow(key, one, resolved) for resolved in came]

    panel, eager = lean(settled(40))
    assert (panel.name, eager.name) == ("the whole panel", "eager")
    assert eager.excess == pytest.approx(0.4)
    assert eager.standard_error == pytest.approx(np.sqrt(0.25 * 40 / 39 / 40))
    assert eager.told
    assert not lean(settled(10))[0].told


@pytest.mark.parametrize(("low", "high"), [(0.0, 1.0), (-0.71, -0.38), (1e-6, 3e-6), (-5e4, 7e5)])
def test_ticks_are_round_lie_within_the_axis_and_are_evenly_spaced(low: float, high: float) -> None:
    found = np.array(svg.ticks(low, high))
    step = found[1] - found[0]
    assert 3 <= len(found) <= 8
    assert found[0] >= low - 1e-9 * step
    assert found[-1] <= high + 1e-9 * step
    assert np.allclose(np.diff(found), step)
    assert round(step / 10 ** np.floor(np.log10(step) + 1e-9), 6) in (1, 2, 5)


def test_distances_on_the_map_are_alike_in_both_directions() -> None:
    places = [
        charts.MapPlace(f"T{n}", "", "", x, y, 2)
        for n, (x, y) in enumerate([(0, 0), (0.3, 0), (0, 0.1)])
    ]
    for width in (svg.WIDE, svg.NARROW):
        marks = re.findall(r"translate\(([\d.]+) ([\d.]+)\)", charts.chart_map(places, width).svg)
        spots = np.array(marks, dtype=float)
        assert np.hypot(*(spots[1] - spots[0])) == pytest.approx(
            3 * np.hypot(*(spots[2] - spots[0])), rel=0.01
        )
